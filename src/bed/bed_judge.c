/* The certificate of a bed: that of problem/certificate.c and problem/row_errors.c, block by block.
 *
 * Each block brings its sums; those of all blocks are added exactly (linalg/exact_sum.h), so that the verdict has the
 * same bits on any number of ranks and threads, and a message of a fixed size will do. What bodies carry (row_speeds.c;
 * clumps: bed_arms.c) is for solid spheres
 *
 *   E_v = |v_free|_M + sum of (3 / m)^1/2 (|r_N| + |r_T|),   E_s = |s_free|_M + sum of (7.5 / m)^1/2 |r_T|
 *   V_N = own + sum over both of (3 / m)^1/2 (E_v + SHARED E_s),   V_T: the same + (7.5 / m)^1/2 (E_s + SHARED E_v) */
#include "bed/bed_internal.h"
#include "linalg/exact_sum.h"
#include "problem/certificate.h"
#include "problem/row_errors.h"

#include <string.h>

enum { CHUNK = 64 };

/* ---- sums of blocks ---- */

static bool is_largest(int32_t k) { return k == FX_SUM_WORST || k == FX_SUM_DEEPEST || k == FX_SUM_FLOOR; }

/* The largest of each rank, then of all. */
static frix_status find_largest(frix_bed *bed, int32_t k) {
  int32_t ranks = fx_bed_ranks(bed);
  double most = 0.0, *all = ranks > 1 ? FX_NEW(bed->context, double, ranks) : NULL;
  if (ranks > 1 && !all) return FRIX_ERROR_MEMORY;
  for (int32_t s = 0; s < bed->own_slots; s++) most = fx_larger(bed->sums[(size_t)s * FX_SUMS + (size_t)k], most);
  if (all) all[fx_bed_rank(bed)] = most;
  frix_status status = all ? fx_bed_add_sums(bed, all, (size_t)ranks) : FRIX_OK;
  for (int32_t p = 0; all && p < ranks; p++) most = fx_larger(all[p], most);
  fx_free(bed->context, all);
  bed->total[k] = most;
  return status;
}

frix_status fx_bed_total(frix_bed *bed, int32_t first, int32_t end) {
  fx_exact_sum sum[FX_SUMS];
  size_t width = (size_t)(end - first);
  memset(sum, 0, width * sizeof *sum);
  for (int32_t s = 0; s < bed->own_slots; s++)
    for (int32_t k = first; k < end; k++)
      if (!is_largest(k)) fx_exact_add(&sum[k - first], bed->sums[(size_t)s * FX_SUMS + (size_t)k]);
  frix_status status = fx_bed_add_sums(bed, sum[0].bin, width * FX_EXACT_BINS);
  for (int32_t k = first; k < end && !status; k++) {
    if (is_largest(k))
      status = find_largest(bed, k);
    else
      bed->total[k] = fx_exact_value(&sum[k - first]);
  }
  return status;
}

/* ---- contacts as rows ---- */

typedef struct rows {
  int32_t count;
  frix_contact contact[CHUNK];
  int32_t row[CHUNK + 1];
  double r[3 * CHUNK], u[3 * CHUNK], q[3 * CHUNK], W[3 * CHUNK], R[3 * CHUNK], speed[3 * CHUNK], limit[3 * CHUNK];
} rows;

static void put_rows(frix_vec3 x, const frix_vec3 frame[3], double *out) {
  for (int a = 0; a < 3; a++) out[a] = fx_dot(x, frame[a]);
}

/* Speeds that the rows are made of. */
static void put_speed(const frix_bed *bed, int32_t i, const fx_bed_contact *c, const frix_vec3 frame[3],
                      const double *r, const double *memory, double *speed, double *limit) {
  const fx_bed_law *law = &bed->law[c->law];
  double own[2] = {fx_max(-c->w, 0.0) + law->R * fabs(r[0]),
                   law->R * (fx_max(fabs(memory[1]), fabs(memory[2])) + fx_max(fabs(r[1]), fabs(r[2])))};
  double length = 0.0;
  for (int side = 0; side < (c->other >= 0 ? 2 : 1); side++) {
    int32_t k = side ? c->other : i;
    const double *energy = bed->energy + 2 * (size_t)k;
    double root = sqrt(3.0 * bed->speed[k].inverse_mass), linear = root * (energy[0] + FX_BED_SHARED * energy[1]);
    double turn[2] = {0.0, root * sqrt(2.5)}, angular = energy[1] + FX_BED_SHARED * energy[0];
    if (bed->has_arms) {
      const fx_bed_arm *arm = &bed->arm[c - bed->contact];
      fx_bed_arm_roots(bed, k, side ? arm->b : arm->a, frame, turn);
    }
    own[0] += linear + turn[0] * angular;
    own[1] += linear + turn[1] * angular;
    length += 2.0 * bed->speed[k].radius;
  }
  speed[0] = own[0];
  speed[1] = speed[2] = own[1];
  for (int a = 0; a < 3; a++) limit[a] = length / bed->h;
}

static void put(const frix_bed *bed, int32_t i, const fx_bed_contact *c, rows *to) {
  static const fx_bed_speed still;
  static const fx_bed_motion rest;
  const fx_bed_law *law = &bed->law[c->law];
  const fx_bed_speed *a = &bed->speed[i], *b = c->other >= 0 ? &bed->speed[c->other] : &still;
  const fx_bed_motion *f = &bed->free[i], *g = c->other >= 0 ? &bed->free[c->other] : &rest;
  frix_vec3 frame[3] = {c->n, fx_across(c->n)};
  frame[2] = fx_cross(frame[0], frame[1]);
  double memory[3];
  size_t at = (size_t)to->row[to->count];
  double *r = to->r + at, *u = to->u + at, *q = to->q + at;
  put_rows(fx_bed_load_of(bed, c)->r, frame, r);
  put_rows(c->c, frame, memory);
  memory[0] = 0.0;
  put_rows(fx_bed_slip(bed, c, &a->v, &a->s, &b->v, &b->s), frame, u);
  put_rows(fx_bed_slip(bed, c, &f->v, &f->s, &g->v, &g->s), frame, q);
  u[0] += c->w, q[0] += c->w;
  fx_bed_diagonal(bed, c - bed->contact, to->W + at);
  for (int k = 0; k < 3; k++) {
    u[k] += law->R * (r[k] - memory[k]);
    q[k] -= law->R * memory[k];
    to->R[at + (size_t)k] = law->R;
  }
  put_speed(bed, i, c, frame, r, memory, to->speed + at, to->limit + at);
  to->contact[to->count++] = (frix_contact){.cone = FRIX_CONE_CIRCULAR, .dim = 3, .mu = law->mu};
  to->row[to->count] = (int32_t)at + 3;
}

static void put_bind(const frix_bed *bed, const fx_bed_bind *bind, rows *to) {
  size_t at = (size_t)to->row[to->count];
  double length = 2.0 * bed->speed[bind->grain].radius;
  if (bind->other >= 0) length += 2.0 * bed->speed[bind->other].radius;
  fx_bed_bind_rates(bed, bind, false, to->u + at);
  fx_bed_bind_rates(bed, bind, true, to->q + at);
  fx_bed_bind_speeds(bed, bind, to->speed + at);
  for (int32_t k = 0; k < bind->rows; k++) {
    size_t row = at + (size_t)k;
    to->r[row] = bind->r[k], to->W[row] = bind->diagonal[k], to->R[row] = 0.0, to->limit[row] = length / bed->h;
  }
  to->contact[to->count++] = (frix_contact){.cone = FRIX_CONE_BILATERAL, .dim = bind->rows};
  to->row[to->count] = (int32_t)at + bind->rows;
}

static bool is_full(const rows *of) { return of->count == CHUNK || of->row[of->count] + FX_BED_ROWS > 3 * CHUNK; }

/* ---- the judgement ---- */

static fx_system system_of(const frix_bed *bed, rows *of) {
  double diagonal = bed->total[FX_SUM_DIAGONAL], joints = bed->total[FX_SUM_JOINT_DIAGONAL];
  return (fx_system){.contact_count = of->count,
                     .row_count = of->row[of->count],
                     .joint_first = of->count,
                     .contact = of->contact,
                     .row = of->row,
                     .q = of->q,
                     .W_diag = of->W,
                     .R = bed->config.stiffness > 0.0 ? of->R : NULL,
                     .carried = sqrt(bed->total[FX_SUM_CARRIED]),
                     .rho = diagonal > 0.0 ? 3.0 * bed->total[FX_SUM_CONTACTS] / diagonal : 1.0,
                     .rho_joint = joints > 0.0 ? bed->total[FX_SUM_JOINT_ROWS] / joints : 1.0};
}

typedef struct verdict {
  fx_residual_sums sums;
  fx_row_errors errors;
  double friction, touching;
} verdict;

static void judge_rows(const frix_bed *bed, rows *of, verdict *v) {
  fx_system system = system_of(bed, of);
  fx_row_set all = {.count = of->count};
  for (int32_t k = 0; k < of->count; k++) {
    const double *r = of->r + of->row[k], *u = of->u + of->row[k];
    fx_residual_add(&system, FRIX_LAW_COULOMB, k, r, u, &v->sums);
    if (of->contact[k].cone == FRIX_CONE_BILATERAL) continue;
    v->friction -= r[1] * u[1] + r[2] * u[2];
    v->touching += r[0] > 0.0;
  }
  fx_row_measure by = {.speed = of->speed, .limit = of->limit};
  fx_row_errors_find(&system, &all, FRIX_LAW_COULOMB, &by, of->r, of->u, &v->errors);
  of->count = 0;
}

static void judge_block(frix_bed *bed, int32_t block) {
  int32_t first, end;
  rows chunk = {.count = 0};
  verdict v = {.errors = {.where = -1}};
  double kinetic = 0.0;
  fx_bed_grains_of(bed, block, &first, &end);
  for (int32_t i = first; i < end; i++) {
    kinetic +=
        0.5 * (fx_norm2(bed->speed[i].v) / bed->speed[i].inverse_mass + fx_bed_spin_energy(bed, i, bed->speed[i].s));
    for (int64_t k = bed->contact_start[i]; k < bed->contact_start[i + 1]; k++) {
      put(bed, i, &bed->contact[k], &chunk);
      if (is_full(&chunk)) judge_rows(bed, &chunk, &v);
    }
  }
  int64_t range[2] = {0, 0};
  if (bed->bind_count) fx_bed_binds_of(bed, first, end, range);
  for (int64_t k = range[0]; k < range[1]; k++) {
    put_bind(bed, &bed->bind[k], &chunk);
    if (is_full(&chunk)) judge_rows(bed, &chunk, &v);
  }
  judge_rows(bed, &chunk, &v);
  double *sum = fx_bed_sums_of(bed, block);
  sum[FX_SUM_MAP] = v.sums.map[0], sum[FX_SUM_R] = v.sums.r[0], sum[FX_SUM_Q] = v.sums.q[0];
  sum[FX_SUM_JOINT_MAP] = v.sums.map[1], sum[FX_SUM_JOINT_R] = v.sums.r[1], sum[FX_SUM_JOINT_Q] = v.sums.q[1];
  sum[FX_SUM_WORST] = v.errors.worst, sum[FX_SUM_FLOOR] = v.errors.floor;
  sum[FX_SUM_KINETIC] = kinetic, sum[FX_SUM_FRICTION] = v.friction, sum[FX_SUM_TOUCHING] = v.touching;
}

frix_status fx_bed_judge(frix_bed *bed, frix_certificate *out) {
  frix_status status = fx_bed_refresh(bed);
  if (!status) fx_bed_for_all(bed, judge_block);
  if (!status) status = fx_bed_total(bed, FX_SUM_MAP, FX_SUMS);
  if (status) return status;
  rows none = {.count = 0};
  fx_system whole = system_of(bed, &none);
  const double *total = bed->total;
  fx_residual_sums contacts = {.map = {total[FX_SUM_MAP], 0.0},
                               .r = {total[FX_SUM_R], total[FX_SUM_JOINT_R]},
                               .q = {total[FX_SUM_Q], total[FX_SUM_JOINT_Q]}};
  fx_residual_sums joints = contacts;
  joints.map[0] = 0.0, joints.map[1] = total[FX_SUM_JOINT_MAP];
  *out = (frix_certificate){.worst_contact = -1, .worst_row = -1, .rho = whole.rho};
  out->contact_residual = fx_residual_end(&whole, &contacts);
  out->joint_residual = fx_residual_end(&whole, &joints);
  out->row_residual = bed->total[FX_SUM_WORST];
  out->floor = bed->total[FX_SUM_FLOOR];
  out->residual = fx_larger(fx_larger(out->row_residual, out->contact_residual), out->joint_residual);
  return FRIX_OK;
}
