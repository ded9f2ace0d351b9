/* A warm answer judged straight from the rows, without a problem or a factorisation.
 *
 *   p = J' r,   v = v_free + M^-1 p by the movers' own 3x3 inverses,   u = J v + R (r - r_c) + w
 *
 * A world at rest needs no more than this: the impulses of the last step, certified again. */
#include "linalg/dense.h"
#include "linalg/product.h"
#include "problem/certificate.h"
#include "sim/softs.h"
#include "sim/tree_newton.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Two numbers at once: lanes never mix, so that each has the bits it would have alone. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));

/* Rows of one body's block; inlined with the sizes of the common contacts. */
INLINE void push_body(int32_t dim, int32_t dof, const double *J, const double *r, double *out) {
  double sum[6];
  for (int32_t c = 0; c < dof; c++) sum[c] = out[c];
  for (int32_t j = 0; j < dim; j++, J += dof)
    for (int32_t c = 0; c < dof; c++) sum[c] += J[c] * r[j];
  for (int32_t c = 0; c < dof; c++) out[c] = sum[c];
}

static void push_tree(int32_t dim, int32_t dof, const double *J, const double *r, double *out) {
  bool any = false;
  for (int32_t j = 0; j < dim; j++) any |= r[j] != 0.0;
  if (any) fx_add_rows(dim, dof, J, r, out);
}

/* p = J' r of all degrees of freedom. */
static void push(const frix_sim *sim, const fx_assembly *a, const double *r, double *p) {
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      int32_t dof = sim->mover[g->mover[b]].dof;
      double *out = p + sim->mover[g->mover[b]].first;
      if (sim->mover[g->mover[b]].tree)
        push_tree(g->dim, dof, J, r + g->row, out);
      else if (dof == 6 && g->dim == 3)
        push_body(3, 6, J, r + g->row, out);
      else if (dof == 3 && g->dim == 2)
        push_body(2, 3, J, r + g->row, out);
      else
        push_body(g->dim, dof, J, r + g->row, out);
      J += g->dim * dof;
    }
  }
}

/* v of a mover, and what M (v - v_free) - p misses; squares of the error, p and f are added to sum. */
static void move(const fx_mover *m, const double *p, double *v, double sum[3]) {
  bool flat = m->dof == 3;
  frix_vec3 zero = {0.0, 0.0, 0.0};
  frix_vec3 P = {p[0], p[1], flat ? 0.0 : p[2]}, L = flat ? zero : fx_vec(p[3], p[4], p[5]);
  if (flat) L.z = p[2];
  frix_vec3 dv = fx_sym3_mul(m->A_inverse, P);
  frix_vec3 dw = fx_spin_change(m, L);
  frix_vec3 lin = fx_add(m->v_free, dv), ang = fx_add(m->w_free, dw);
  double all[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
  if (flat) all[2] = ang.z;
  memcpy(v, all, (size_t)m->dof * sizeof *v);
  frix_vec3 force = fx_sym3_mul(m->A, m->v_free), torque = fx_sym3_mul(m->B, m->w_free);
  frix_vec3 miss = fx_sub(fx_sub(fx_sym3_mul(m->A, lin), P), force);
  frix_vec3 turn = fx_sub(fx_sub(fx_sym3_mul(m->B, ang), L), torque);
  if (flat) miss.z = 0.0, turn.x = turn.y = 0.0;
  sum[0] += fx_norm2(miss) + fx_norm2(turn);
  sum[1] += fx_norm2(P) + fx_norm2(L);
  sum[2] += fx_norm2(force) + fx_norm2(torque);
}

/* energy: v' M~ v of the free motion. */
static void move_tree(const fx_mover *m, const double *p, double *v, double sum[3], double *energy) {
  fx_twin both[FX_TREE_MOST], product[FX_TREE_MOST];
  const double *free = m->tree->v_free;
  double whole = 0.0;
  fx_tree_respond(m, p, v);
  for (int32_t i = 0; i < m->dof; i++) v[i] += free[i], both[i] = (fx_twin){v[i], free[i]};
  fx_tree_multiply_pair(m, both, product);
  for (int32_t i = 0; i < m->dof; i++) {
    double miss = product[i][0] - p[i] - product[i][1];
    sum[0] += miss * miss, sum[1] += p[i] * p[i], sum[2] += product[i][1] * product[i][1];
    whole += free[i] * product[i][1];
  }
  *energy = fx_max(whole, 0.0);
}

/* energy: of the free motion of a tree. */
static inline void move_any(const fx_mover *m, const double *p, double *v, double sum[3], double *energy) {
  if (m->tree)
    move_tree(m, p, v, sum, energy);
  else
    move(m, p, v, sum);
}

/* J M^-1 J' of one row and one body, by translation and rotation; both: the same with the row before, NULL: none. */
INLINE void weigh(const fx_mover *m, int32_t dof, const double *J, double *out, double *both) {
  const double *before = J - dof;
  frix_vec3 lin = {J[0], J[1], dof == 3 ? 0.0 : J[2]}, moved = fx_sym3_mul(m->A_inverse, lin);
  out[0] = fx_dot(lin, moved);
  if (both) both[1] = fx_dot(fx_vec(before[0], before[1], dof == 3 ? 0.0 : before[2]), moved);
  if (dof == 3) {
    out[1] = J[2] * J[2] * m->B_inverse.zz;
    if (both) both[4] = before[2] * J[2] * m->B_inverse.zz;
  } else {
    frix_vec3 ang = {J[3], J[4], J[5]}, turned = fx_sym3_mul(m->B_inverse, ang);
    out[1] = fx_dot(ang, turned);
    if (both) both[4] = fx_dot(fx_vec(before[3], before[4], before[5]), turned);
  }
}

/* One body's share in its rows: velocities x with impulses and without, and weights. */
INLINE void look_at(const fx_mover *m, int32_t dim, int32_t dof, const double *J, const double *x, double *u, double *q,
                    double *weight, double *own) {
  const double free[6] = {m->v_free.x, m->v_free.y, dof == 3 ? m->w_free.z : m->v_free.z,
                          m->w_free.x, m->w_free.y, m->w_free.z};
  pair both[6];
  for (int32_t c = 0; c < dof; c++) both[c] = (pair){x[c], free[c]};
  for (int32_t j = 0; j < dim; j++, J += dof) {
    pair sum = {0.0, 0.0};
    for (int32_t c = 0; c < dof; c++) sum += J[c] * both[c];
    u[j] += sum[0];
    q[j] += sum[1];
    bool pairs = j == 2 || j == 4;
    weigh(m, dof, J, own + 2 * j, pairs ? own + 2 * dim + (j == 4 ? FX_PAIR_WEIGHTS : 0) : NULL);
    weight[j] += own[2 * j] + own[2 * j + 1];
  }
}

/* Two rows of a tree count alike: what both do together is not asked. */
static void level(int32_t dim, int32_t first, double *own, double *both) {
  if (dim < first + 2) return;
  own[2 * first] = own[2 * first + 2] = 0.5 * (own[2 * first] + own[2 * first + 2]);
  both[1] = both[4] = 0.0;
}

static void level_pairs(int32_t dim, double *own) {
  level(dim, 1, own, own + 2 * dim);
  level(dim, 3, own, own + 2 * dim + FX_PAIR_WEIGHTS);
}

/* known: weights of the rows; NULL: they are not. */
static void look_at_tree(const fx_mover *m, int32_t dim, const double *J, const double *x, double *u, double *q,
                         double *weight, double *own, const double *known) {
  for (int32_t j = 0; j < dim; j++, J += m->dof) {
    u[j] += fx_dot_quad(m->dof, J, x);
    q[j] += fx_dot_quad(m->dof, J, m->tree->v_free);
    own[2 * j] = known ? known[j] : fx_tree_weight(m, J), own[2 * j + 1] = 0.0;
    weight[j] += own[2 * j];
  }
  level_pairs(dim, own);
}

/* kept: its weights; NULL: they are not known. */
static void look_at_soft(const fx_mover *m, int32_t dim, const double *J, const double *x, double *u, double *q,
                         double *weight, double *own, const double *kept) {
  double fresh[FRIX_MAX_DIM];
  if (!kept) fx_soft_weights(m, dim, J, fresh);
  fx_add_pairs(dim, m->dof, J, x, m->tree->v_free, u, q);
  for (int32_t j = 0; j < dim; j++) {
    own[2 * j] = kept ? kept[2 * j] : fresh[j], own[2 * j + 1] = 0.0;
    weight[j] += own[2 * j];
  }
  level_pairs(dim, own);
}

/* All of that in one pass. own: the weights by group and body, as fx_row_bodies has them; seen: by mover, rows of
 * trees. */
static void look(const frix_sim *sim, const fx_assembly *a, const double *v, double *u, double *q, double *weight,
                 double *own, int32_t *seen) {
  const double *kept = sim->softs ? fx_softs_weights(sim, a) : NULL;
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_mover *m = &sim->mover[g->mover[b]];
      const double *x = v + m->first;
      if (m->tree && m->tree->soft) {
        look_at_soft(m, g->dim, J, x, u + g->row, q + g->row, weight + g->row, own, kept);
      } else if (m->tree) {
        const fx_tree_products *p = a->products ? &a->products[g->mover[b]] : NULL;
        const double *known = p && p->Y ? p->weight + seen[g->mover[b]] : NULL;
        look_at_tree(m, g->dim, J, x, u + g->row, q + g->row, weight + g->row, own, known);
        seen[g->mover[b]] += g->dim;
      } else if (m->dof == 6 && g->dim == 3)
        look_at(m, 3, 6, J, x, u + g->row, q + g->row, weight + g->row, own);
      else if (m->dof == 3 && g->dim == 2)
        look_at(m, 2, 3, J, x, u + g->row, q + g->row, weight + g->row, own);
      else
        look_at(m, g->dim, m->dof, J, x, u + g->row, q + g->row, weight + g->row, own);
      J += g->dim * m->dof;
      own += fx_row_weights(g->dim);
      if (kept) kept += 2 * g->dim;
    }
  }
}

/* ---- what the bodies carry, for the errors of single contacts (problem/row_errors.h) ---- */

/* v' M v */
static double energy_of(frix_sym3 M, frix_vec3 v) {
  double energy = fx_dot(v, fx_sym3_mul(M, v));
  return energy > 0.0 ? energy : 0.0;
}

static bool is_tree(const fx_mover *m) { return m->tree && !m->tree->soft; }

/* Numbers of movers as bodies: a tree has one for itself and one for each link (problem/row_links.c). */
static frix_status number_bodies(const frix_sim *sim, const fx_assembly *a, int32_t **first, fx_row_bodies *out) {
  int32_t *number = *first = FX_TAKE(a->arena, int32_t, (size_t)sim->mover_count + 1);
  if (!number) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    number[k + 1] = number[k] + 1 + (is_tree(m) ? fx_tree_motion_of(m, m->dof - 1) + 1 : 0);
  }
  if (!sim->mechanism) return FRIX_OK;
  int32_t *tree = FX_TAKE_RAW(a->arena, int32_t, number[sim->mover_count]);
  if (!tree) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++)
    for (int32_t i = number[k]; i < number[k + 1]; i++) tree[i] = i > number[k] ? number[k] : -1;
  out->tree = tree;
  return FRIX_OK;
}

/* The link that dim rows of a tree act on. */
static int32_t link_of(const fx_mover *m, int32_t dim, const double *J) {
  for (int32_t i = m->dof - 1; i > 0; i--)
    for (int32_t j = 0; j < dim; j++)
      if (J[j * m->dof + i] != 0.0) return fx_tree_motion_of(m, i);
  return 0;
}

/* The bodies of each group, as blocks. */
static void list_bodies(const frix_sim *sim, const fx_assembly *a, const int32_t *first, int32_t *start, int32_t *index,
                        int32_t *place) {
  int32_t count = 0, at = 0;
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    start[k] = count;
    place[k] = at;
    at += g->body_count * fx_row_weights(g->dim);
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_mover *m = &sim->mover[g->mover[b]];
      index[count++] = first[g->mover[b]] + (is_tree(m) ? 1 + link_of(m, g->dim, J) : 0);
      J += g->dim * m->dof;
    }
  }
  start[a->group_count] = count;
}

/* What the free motion of trees brings to the rows; NULL: there are no trees. */
static frix_status find_carried(const frix_sim *sim, const fx_assembly *a, const double **out) {
  *out = NULL;
  if (!sim->mechanism) return FRIX_OK;
  double *carried = FX_TAKE(a->arena, double, a->row_count),
         *own = FX_TAKE_RAW(a->arena, double, 2 * (size_t)a->row_count);
  if (!carried || !own) return FRIX_ERROR_MEMORY;
  *out = carried;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_tree_products *p = a->products ? &a->products[k] : NULL;
    if (!is_tree(&sim->mover[k]) || !p || !p->Y) continue;
    fx_tree_rows_carry(&sim->mover[k], p->count, p->Y, p->Z, own + p->count, own);
    for (int32_t j = 0; j < p->count; j++) carried[p->row[j]] += own[j];
  }
  for (int32_t k = 0; k < a->group_count; k++) { /* rows that are answered one by one */
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_mover *m = &sim->mover[g->mover[b]];
      double y[FX_TREE_MOST], z[FX_TREE_MOST], room, sum;
      bool known = !is_tree(m) || (a->products && a->products[g->mover[b]].Y);
      for (int32_t j = 0; j < g->dim && !known; j++) {
        fx_tree_half_respond(m, J + j * m->dof, y, z);
        fx_tree_rows_carry(m, 1, y, z, &room, &sum);
        carried[g->row + j] += sum;
      }
      J += g->dim * m->dof;
    }
  }
  return FRIX_OK;
}

static size_t weight_count(const fx_assembly *a) {
  size_t count = 0;
  for (int32_t k = 0; k < a->group_count; k++)
    count += (size_t)(a->group[k].body_count * fx_row_weights(a->group[k].dim));
  return count;
}

static bool has_bounds(const fx_assembly *a, const double *weight) {
  for (int32_t k = 0; a->compliant && k < a->joint_first; k++)
    if (a->group[k].dim > 1 && weight[a->group[k].row] == 0.0 && a->R[a->group[k].row] > 0.0) return true;
  return false;
}

static double mean_inverse(const double *weight, int32_t first, int32_t end) {
  double sum = 0.0;
  for (int32_t k = first; k < end; k++) sum += weight[k];
  return sum > 0.0 ? (double)(end - first) / sum : 1.0;
}

frix_status fx_rows_judge(frix_sim *sim, fx_assembly *a, const double *r, double *u, double *v, frix_certificate *out) {
  fx_arena *arena = &sim->arena;
  int32_t rows = a->row_count, contact_rows = a->contact_rows;
  double *p = FX_TAKE(arena, double, sim->problem.dof_count);
  double *weight = FX_TAKE(arena, double, rows), *q = FX_TAKE_RAW(arena, double, rows);
  double *shift = FX_TAKE_RAW(arena, double, rows);
  int32_t *row = FX_TAKE_RAW(arena, int32_t, (size_t)a->group_count + 1);
  int32_t *start = FX_TAKE_RAW(arena, int32_t, (size_t)a->group_count + 1);
  int32_t *place = FX_TAKE_RAW(arena, int32_t, a->group_count);
  int32_t *index = FX_TAKE_RAW(arena, int32_t, 4 * (size_t)a->group_count); /* a group has at most four bodies */
  double *speed = FX_TAKE_RAW(arena, double, rows);
  double *own = FX_TAKE_RAW(arena, double, weight_count(a));
  int32_t *seen = FX_TAKE(arena, int32_t, sim->mover_count);
  if (!p || !weight || !q || !shift || !row || !start || !place || !index || !speed || !own || !seen)
    return FRIX_ERROR_MEMORY;
  fx_row_bodies bodies = {start, index, place, own, NULL, NULL};
  int32_t *first;
  frix_status status = number_bodies(sim, a, &first, &bodies);
  double *energy = status ? NULL : FX_TAKE(arena, double, 2 * (size_t)first[sim->mover_count]);
  if (status == FRIX_OK) status = energy ? fx_tree_products_find(sim, a) : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) status = find_carried(sim, a, &bodies.free);
  if (status != FRIX_OK) return status;
  double sum[3] = {0.0, 0.0, 0.0};
  push(sim, a, r, p);
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].first >= 0)
      move_any(&sim->mover[k], p + sim->mover[k].first, v + sim->mover[k].first, sum, &energy[2 * first[k]]);
  for (int32_t k = 0; k < rows; k++) {
    u[k] = a->compliant ? a->w[k] + a->R[k] * (r[k] - a->r_c[k]) : a->w[k];
    shift[k] = q[k] = a->compliant ? a->w[k] - a->R[k] * a->r_c[k] : a->w[k];
  }
  look(sim, a, v, u, q, weight, own, seen);
  for (int32_t k = 0; k < a->group_count; k++) row[k] = a->group[k].row;
  row[a->group_count] = rows;
  fx_system system = {.contact_count = a->group_count,
                      .row_count = rows,
                      .joint_first = a->joint_first,
                      .contact = a->law,
                      .row = row,
                      .q = q,
                      .W_diag = weight,
                      .R = a->compliant ? a->R : NULL,
                      .has_bounds = has_bounds(a, weight),
                      .rho = mean_inverse(weight, 0, contact_rows),
                      .rho_joint = mean_inverse(weight, contact_rows, rows)};
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    double linear = energy_of(m->A, m->v_free), angular = energy_of(m->B, m->w_free);
    if (m->tree) linear = m->first >= 0 ? energy[2 * first[k]] : fx_tree_energy_of(m, m->tree->v_free), angular = 0.0;
    energy[2 * first[k]] = sqrt(linear);
    energy[2 * first[k] + 1] = sqrt(angular);
    if (m->first >= 0) system.carried += linear + angular;
  }
  system.carried = sqrt(system.carried);
  fx_certificate_compute(NULL, &system, sim->config.law, r, u, v, NULL, out);
  fx_row_errors errors = {.where = -1};
  fx_row_set all = {.count = a->group_count};
  list_bodies(sim, a, first, start, index, place);
  fx_row_roots(&system, &bodies, &all);
  fx_row_speeds(&system, &bodies, &all, shift, r, energy, speed);
  fx_row_measure by = {speed, a->limit, bodies, energy, shift, false};
  fx_row_errors_find(&system, &all, sim->config.law, &by, r, u, &errors);
  fx_certificate_add_rows(&errors, out);
  double scale = sqrt(sum[1]) + sqrt(sum[2]), miss = sqrt(sum[0]);
  out->motion = miss == 0.0 ? 0.0 : scale > 0.0 ? miss / scale : INFINITY;
  return FRIX_OK;
}
