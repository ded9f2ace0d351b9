/* Joints in a step: rows, sweeps, and what the certificate needs of them.
 *
 *   u = t . (v_a - v_b) + turn . w_a - turn' . w_b + e / h = 0,   r := y - W^-1 u
 *
 * e is the error of the row where the step begins; W is the block of all rows of the joint, solved at once. Rows of
 * angles are multiplied with the radius of the first grain, so that all have the units of velocities. A joint stands in
 * the block of its first grain, and the second is within one cell of it, so that colours keep blocks apart
 * (bed_blocks.c). */
#include "bed/bed_internal.h"

/* ---- the list of the step ---- */

static int32_t find_near(const frix_bed *bed, int32_t i, int64_t id) {
  int32_t at[3];
  fx_bed_runs near;
  fx_bed_cell_of(bed, bed->place[i].p, at);
  fx_bed_around(bed, at, &near);
  for (int32_t run = 0; run < near.count; run++)
    for (int32_t j = near.first[run]; j < near.end[run]; j++)
      if (bed->place[j].id == id) return j;
  return FX_LOST;
}

frix_status fx_bed_find_binds(frix_bed *bed) {
  bed->bind_count = 0;
  if (!bed->joint_count) return FRIX_OK;
  if (!fx_bed_grow(bed, &bed->bind, 0, &bed->bind_room, bed->joint_count, sizeof *bed->bind)) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < bed->own; i++) {
    int64_t first, count = fx_bed_joints_of(bed, bed->place[i].id, &first);
    for (int64_t k = first; k < first + count; k++) {
      int64_t b = bed->joint[k].b;
      bed->bind[bed->bind_count++] = (fx_bed_bind){.grain = i,
                                                   .other = b < 0 ? FX_NO_GRAIN : find_near(bed, i, b),
                                                   .joint = (int32_t)k,
                                                   .rows = bed->joint[k].rows};
    }
  }
  return FRIX_OK;
}

/* The first bind of a grain not below i. */
static int64_t first_bind(const frix_bed *bed, int32_t i) {
  int64_t low = 0, high = bed->bind_count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (bed->bind[middle].grain < i)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void fx_bed_binds_of(const frix_bed *bed, int32_t first, int32_t end, int64_t out[2]) {
  out[0] = first_bind(bed, first);
  out[1] = first_bind(bed, end);
}

static void binds_of_block(const frix_bed *bed, int32_t block, int64_t out[2]) {
  int32_t first, end;
  fx_bed_grains_of(bed, block, &first, &end);
  fx_bed_binds_of(bed, first, end, out);
}

bool fx_bed_is_joined(const frix_bed *bed, int32_t i, int64_t id) {
  for (int64_t k = first_bind(bed, i); k < bed->bind_count && bed->bind[k].grain == i; k++)
    if (bed->joint[bed->bind[k].joint].b == id) return true;
  return false;
}

/* ---- rows ---- */

typedef struct sight {
  frix_vec3 arm[2], apart; /* apart: from the origin of the second frame to that of the first */
  frix_quat q[2];
} sight;

static sight look(const frix_bed *bed, const fx_bed_bind *bind) {
  const fx_bed_joint *joint = &bed->joint[bind->joint];
  const fx_bed_place *a = &bed->place[bind->grain], *b = bind->other >= 0 ? &bed->place[bind->other] : NULL;
  sight s = {.arm = {fx_rotate(a->q, joint->frame[0].p)}, .q = {fx_quat_mul(a->q, joint->frame[0].q)}};
  if (b) s.arm[1] = fx_rotate(b->q, joint->frame[1].p);
  s.q[1] = b ? fx_quat_mul(b->q, joint->frame[1].q) : joint->frame[1].q;
  frix_vec3 from = b ? b->p : joint->frame[1].p;
  s.apart = fx_add(fx_bed_apart(bed, a->p, from), fx_sub(s.arm[0], s.arm[1]));
  return s;
}

static void put_along(fx_bed_bind *bind, int32_t k, const sight *s, frix_vec3 t, double error) {
  bind->t[k] = t;
  for (int side = 0; side < 2; side++) bind->turn[side][k] = fx_cross(s->arm[side], t);
  bind->w[k] = error;
}

static void put_angle(fx_bed_bind *bind, int32_t k, frix_vec3 axis, double length, double error) {
  bind->t[k] = fx_vec(0.0, 0.0, 0.0);
  bind->turn[0][k] = bind->turn[1][k] = fx_scale(length, axis);
  bind->w[k] = length * error;
}

static const frix_vec3 AXIS[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

/* The axes z stay together: x and y of the first frame. */
static void put_hinge(fx_bed_bind *bind, const sight *s, double length) {
  frix_vec3 turned = fx_cross(fx_rotate(s->q[1], AXIS[2]), fx_rotate(s->q[0], AXIS[2]));
  for (int k = 0; k < 2; k++) {
    frix_vec3 axis = fx_rotate(s->q[0], AXIS[k]);
    put_angle(bind, 3 + k, axis, length, fx_dot(turned, axis));
  }
}

static void put_fixed(fx_bed_bind *bind, const sight *s, double length) {
  frix_quat by = fx_quat_mul(s->q[0], fx_quat_conj(s->q[1]));
  frix_vec3 turned = fx_scale(by.w < 0.0 ? -2.0 : 2.0, fx_vec(by.x, by.y, by.z));
  for (int k = 0; k < 3; k++) put_angle(bind, 3 + k, AXIS[k], length, fx_dot(turned, AXIS[k]));
}

static void put_rows(const frix_bed *bed, fx_bed_bind *bind) {
  const fx_bed_joint *joint = &bed->joint[bind->joint];
  sight s = look(bed, bind);
  double length = bed->speed[bind->grain].radius, distance = fx_norm(s.apart);
  if (joint->kind == FRIX_JOINT_DISTANCE)
    put_along(bind, 0, &s, fx_unit_or(s.apart, AXIS[2]), distance - joint->length);
  else
    for (int k = 0; k < 3; k++) put_along(bind, k, &s, AXIS[k], fx_dot(s.apart, AXIS[k]));
  if (joint->kind == FRIX_JOINT_HINGE) put_hinge(bind, &s, length);
  if (joint->kind == FRIX_JOINT_FIXED) put_fixed(bind, &s, length);
  for (int32_t k = 0; k < bind->rows; k++) {
    bind->w[k] /= bed->h;
    bind->r[k] = bind->last[k] = joint->r[k];
  }
}

/* ---- W ---- */

static int32_t sides_of(const fx_bed_bind *bind) { return bind->other >= 0 ? 2 : 1; }
static int32_t grain_at(const fx_bed_bind *bind, int side) { return side ? bind->other : bind->grain; }

static double weight(const frix_bed *bed, const fx_bed_bind *bind, int32_t a, int32_t b) {
  double sum = 0.0;
  for (int side = 0; side < sides_of(bind); side++) {
    int32_t g = grain_at(bind, side);
    sum += bed->speed[g].inverse_mass * fx_dot(bind->t[a], bind->t[b]) +
           fx_dot(bind->turn[side][a], fx_sym3_mul(bed->turn[g], bind->turn[side][b]));
  }
  return sum;
}

/* W = L L', row by row. */
static void factor(const frix_bed *bed, fx_bed_bind *bind) {
  int32_t n = bind->rows;
  double *L = bind->factor;
  for (int32_t a = 0; a < n; a++)
    for (int32_t b = 0; b <= a; b++) {
      double x = weight(bed, bind, a, b);
      if (a == b) bind->diagonal[a] = x;
      for (int32_t k = 0; k < b; k++) x -= L[a * n + k] * L[b * n + k];
      L[a * n + b] = a == b ? sqrt(fx_max(x, 1e-300)) : x / L[b * n + b];
    }
}

/* x := W^-1 x */
static void solve(const fx_bed_bind *bind, double *x) {
  int32_t n = bind->rows;
  const double *L = bind->factor;
  for (int32_t a = 0; a < n; a++) {
    for (int32_t k = 0; k < a; k++) x[a] -= L[a * n + k] * x[k];
    x[a] /= L[a * n + a];
  }
  for (int32_t a = n - 1; a >= 0; a--) {
    for (int32_t k = a + 1; k < n; k++) x[a] -= L[k * n + a] * x[k];
    x[a] /= L[a * n + a];
  }
}

void fx_bed_bind_block(frix_bed *bed, int32_t block) {
  int64_t range[2];
  double *sum = fx_bed_sums_of(bed, block);
  binds_of_block(bed, block, range);
  for (int64_t k = range[0]; k < range[1]; k++) {
    fx_bed_bind *bind = &bed->bind[k];
    sum[FX_SUM_LOST] += bind->other == FX_LOST;
    if (bind->other == FX_LOST) continue;
    put_rows(bed, bind);
    factor(bed, bind);
    sum[FX_SUM_JOINT_ROWS] += bind->rows;
    for (int32_t row = 0; row < bind->rows; row++) sum[FX_SUM_JOINT_DIAGONAL] += bind->diagonal[row];
  }
}

/* ---- impulses and rates ---- */

static void push(frix_bed *bed, const fx_bed_bind *bind, const double *dr) {
  for (int side = 0; side < sides_of(bind); side++) {
    frix_vec3 along = {0.0, 0.0, 0.0}, turn = {0.0, 0.0, 0.0};
    fx_bed_speed *a = &bed->speed[grain_at(bind, side)];
    for (int32_t k = 0; k < bind->rows; k++) {
      along = fx_mad(along, dr[k], bind->t[k]);
      turn = fx_mad(turn, dr[k], bind->turn[side][k]);
    }
    double sign = side ? -1.0 : 1.0;
    a->v = fx_mad(a->v, sign * a->inverse_mass, along);
    a->s = fx_mad(a->s, sign * a->radius, fx_sym3_mul(bed->turn[grain_at(bind, side)], turn));
  }
}

void fx_bed_bind_rates(const frix_bed *bed, const fx_bed_bind *bind, bool free, double *u) {
  for (int32_t k = 0; k < bind->rows; k++) u[k] = bind->w[k];
  for (int side = 0; side < sides_of(bind); side++) {
    int32_t g = grain_at(bind, side);
    frix_vec3 v = free ? bed->free[g].v : bed->speed[g].v, s = free ? bed->free[g].s : bed->speed[g].s;
    double sign = side ? -1.0 : 1.0, turn = sign / bed->speed[g].radius;
    for (int32_t k = 0; k < bind->rows; k++)
      u[k] += sign * fx_dot(bind->t[k], v) + turn * fx_dot(bind->turn[side][k], s);
  }
}

/* ---- sweeps ---- */

static void sweep_one(frix_bed *bed, fx_bed_bind *bind, double *sum) {
  double x[FX_BED_ROWS] = {0.0}, dr[FX_BED_ROWS] = {0.0};
  fx_bed_bind_rates(bed, bind, false, x);
  solve(bind, x);
  for (int32_t k = 0; k < bind->rows; k++) {
    dr[k] = -bed->part * x[k];
    double was = bind->r[k], r = was + bed->momentum * (was - bind->last[k]) + dr[k];
    bind->last[k] = was;
    bind->r[k] = r;
    sum[FX_SUM_UPHILL] -= dr[k] * (r - was);
    sum[FX_SUM_STEP] += dr[k] * dr[k];
    sum[FX_SUM_SIZE] += r * r;
  }
  push(bed, bind, dr);
}

void fx_bed_bind_sweep(frix_bed *bed, int32_t block) {
  int64_t range[2];
  binds_of_block(bed, block, range);
  for (int64_t k = range[0]; k < range[1]; k++) sweep_one(bed, &bed->bind[k], fx_bed_sums_of(bed, block));
}

/* ---- the certificate: problem/row_speeds.c for bilateral rows ---- */

/* Roots of J M^-1 J' of a row by the translation and the rotation of one grain. */
static void roots(const frix_bed *bed, const fx_bed_bind *bind, int side, int32_t k, double out[2]) {
  int32_t g = grain_at(bind, side);
  frix_vec3 turn = bind->turn[side][k];
  out[0] = sqrt(bed->speed[g].inverse_mass * fx_norm2(bind->t[k]));
  out[1] = sqrt(fx_max(fx_dot(turn, fx_sym3_mul(bed->turn[g], turn)), 0.0));
}

void fx_bed_bind_push(frix_bed *bed, int32_t block) {
  int64_t range[2];
  double root[2];
  binds_of_block(bed, block, range);
  for (int64_t at = range[0]; at < range[1]; at++) {
    const fx_bed_bind *bind = &bed->bind[at];
    push(bed, bind, bind->r);
    for (int side = 0; side < sides_of(bind); side++)
      for (int32_t k = 0; k < bind->rows; k++) {
        double *energy = bed->energy + 2 * (size_t)grain_at(bind, side);
        roots(bed, bind, side, k, root);
        for (int m = 0; m < 2; m++) energy[m] += root[m] * fabs(bind->r[k]);
      }
  }
}

void fx_bed_bind_speeds(const frix_bed *bed, const fx_bed_bind *bind, double *speed) {
  double root[2];
  for (int32_t k = 0; k < bind->rows; k++) {
    speed[k] = fabs(bind->w[k]);
    for (int side = 0; side < sides_of(bind); side++) {
      const double *energy = bed->energy + 2 * (size_t)grain_at(bind, side);
      roots(bed, bind, side, k, root);
      speed[k] += root[0] * (energy[0] + FX_BED_SHARED * energy[1]) + root[1] * (energy[1] + FX_BED_SHARED * energy[0]);
    }
  }
}

/* ---- memory ---- */

void fx_bed_remember_joints(frix_bed *bed) {
  for (int64_t at = 0; at < bed->bind_count; at++) {
    const fx_bed_bind *bind = &bed->bind[at];
    fx_bed_joint *joint = &bed->joint[bind->joint];
    joint->push = fx_vec(0.0, 0.0, 0.0);
    for (int32_t k = 0; k < bind->rows; k++) {
      joint->r[k] = bind->r[k];
      joint->push = fx_mad(joint->push, bind->r[k], bind->t[k]);
    }
  }
}
