/* Newton on the rows of islands with trees: dense, and without a problem in between.
 *
 *   u = W r + q,   W = J M~^-1 J' + R,   q = J v_free + w - R r_c
 *   normal      r_N = max(0, x_N),   x_N = r_N - u_N / W_NN
 *   friction    r_T = projection of x_T on the disc of radius mu r_N,   x_T = r_T - u_T / W_TT
 *   rolling     the same with mu_r
 *   equation    u = 0
 *
 * (P. Alart, A. Curnier, A mixed formulation for frictional contact problems prone to Newton like solution methods,
 * 1991.) A robot has tens of rows over tens of coordinates: all of them act on each other, so that sweeps are slow,
 * and the impulses of the last step tell which contacts stick. From there one or two factorisations are enough. M~ =
 * L'DL gives W = Y D^-1 Y' from half a solve for each row, Y = J L^-1.
 *
 * Nothing is certified here: the rows are judged afterwards, and where that fails the solver starts afresh. */
#include "sim/tree_newton.h"
#include "sim/softs.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/scaled_row.h"

enum { ROUNDS = 24, MOST = 160, PATIENCE = 6 };
static const double done = 1e-13;  /* of the sizes of the terms that cancel in the error: for trees that move */
static const double enough = 1e-9; /* of the same: where steps do not halve it any more */

/* What a group does: nothing, or it acts, and its friction sticks but for discs whose bit is set. */
enum { OPEN = 0, ACTS = 1, SLIPS = 2 };

/* Friction that is bounded together: rows first .. first + size - 1 of a group, by mu r_N. */
typedef struct disc {
  int32_t first, size, slips;
  double mu;
} disc;

struct fx_tree_island {
  int32_t n, count, mover_count;
  int32_t *group, *first; /* groups of the assembly, their first rows here */
  int32_t *mover;
  double *weight; /* of the rows, without R */
  double *W, *q, *r, *u, *best;
  double *A, *b; /* of one step */
  int32_t *active, *pivot;
  uint8_t *state; /* by group */
};

/* ---- which islands ---- */

static int32_t root_of(int32_t *parent, int32_t k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

static bool group_fits(const frix_sim *sim, const fx_assembly *a, int32_t k) {
  const fx_group *g = &a->group[k];
  frix_cone cone = a->law[k].cone;
  for (int32_t b = 0; b < g->body_count; b++) {
    const fx_tree_mover *t = sim->mover[g->mover[b]].tree;
    if (t && t->soft) return false;
  }
  return cone == FRIX_CONE_LIMIT || cone == FRIX_CONE_BILATERAL || cone == FRIX_CONE_PLANAR ||
         cone == FRIX_CONE_CIRCULAR || cone == FRIX_CONE_ROLLING || (cone == FRIX_CONE_FRICTIONLESS && g->dim == 1);
}

/* ---- W ---- */

/* y := J M^-1 of a body. */
static void respond(const fx_mover *m, const double *J, double *y) {
  if (m->dof == 3) {
    frix_vec3 lin = fx_sym3_mul(m->A_inverse, fx_vec(J[0], J[1], 0.0));
    y[0] = lin.x, y[1] = lin.y, y[2] = m->B_inverse.zz * J[2];
    return;
  }
  frix_vec3 lin = fx_sym3_mul(m->A_inverse, fx_vec(J[0], J[1], J[2]));
  frix_vec3 ang = fx_sym3_mul(m->B_inverse, fx_vec(J[3], J[4], J[5]));
  const double all[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
  memcpy(y, all, sizeof all);
}

/* Rows of J that move a mover, and where they stand in W. */
static int32_t rows_of(const frix_sim *sim, const fx_assembly *a, const fx_tree_island *t, int32_t mover,
                       const double **J, int32_t *at) {
  int32_t count = 0;
  for (int32_t k = 0; k < t->count; k++) {
    const fx_group *g = &a->group[t->group[k]];
    const double *block = a->J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      int32_t dof = sim->mover[g->mover[b]].dof;
      for (int32_t j = 0; j < g->dim && g->mover[b] == mover; j++)
        J[count] = block + (size_t)(j * dof), at[count++] = t->first[k] + j;
      block += g->dim * dof;
    }
  }
  return count;
}

#define INLINE static inline __attribute__((always_inline))

/* Whether the rows of an island with one tree are those that move it, in its order. */
static bool is_alone(const fx_tree_island *t, const fx_tree_products *p, const int32_t *place) {
  bool alone = p->count == t->n;
  for (int32_t k = 0; k < p->count && alone; k++) alone = place[p->row[k]] == k;
  return alone;
}

/* W += Y' Z of the columns that are rows of the island: all that move the tree. place is NULL where it is alone: W is
 * this product, and what stands there does not count. */
INLINE void add_columns(const fx_tree_island *t, const fx_tree_products *p, const int32_t *place, int32_t dof,
                        double *room) {
  size_t n = (size_t)p->count;
  for (int32_t k = 0; k < p->count; k++) {
    double *W = t->W + (size_t)(place ? place[p->row[k]] : k) * (size_t)t->n, *row = place ? room : W, y[4];
    const double *z[4];
    int32_t some = 0;
    memset(row, 0, n * sizeof *row);
    for (int32_t i = 0; i < dof; i++) {
      y[some] = p->Y[(size_t)i * n + (size_t)k], z[some] = p->Z + (size_t)i * n;
      if (y[some] == 0.0 || ++some < 4) continue;
      fx_add_scaled(p->count, 4, y, z, row);
      some = 0;
    }
    fx_add_scaled(p->count, some, y, z, row);
    for (int32_t j = 0; j < p->count && place; j++) W[place[p->row[j]]] += row[j];
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void add_avx2(const fx_tree_island *t, const fx_tree_products *p,
                                                     const int32_t *place, int32_t dof, double *row) {
  add_columns(t, p, place, dof, row);
}

/* Number by number: the bits do not depend on how wide the machine's registers are. */
static void add_tree(const fx_tree_island *t, const fx_tree_products *p, const int32_t *place, int32_t dof,
                     double *row) {
  if (__builtin_cpu_supports("avx2"))
    add_avx2(t, p, place, dof, row);
  else
    add_columns(t, p, place, dof, row);
}
#else
static void add_tree(const fx_tree_island *t, const fx_tree_products *p, const int32_t *place, int32_t dof,
                     double *row) {
  add_columns(t, p, place, dof, row);
}
#endif

static void add_body(const frix_sim *sim, const fx_assembly *a, const fx_tree_island *t, int32_t mover) {
  const fx_mover *m = &sim->mover[mover];
  const double *J[MOST];
  int32_t at[MOST], count = rows_of(sim, a, t, mover, J, at);
  for (int32_t k = 0; k < count; k++) {
    double y[6];
    respond(m, J[k], y);
    for (int32_t j = 0; j < count; j++) t->W[at[k] * t->n + at[j]] += fx_dot_quad(m->dof, J[j], y);
  }
}

static bool make_matrix(const frix_sim *sim, const fx_assembly *a, fx_tree_island *t, const int32_t *place,
                        double *row) {
  const fx_tree_products *first = t->mover_count == 1 ? &a->products[t->mover[0]] : NULL;
  if (first && first->Y && is_alone(t, first, place))
    place = NULL;
  else
    memset(t->W, 0, (size_t)t->n * (size_t)t->n * sizeof *t->W);
  for (int32_t k = 0; k < t->mover_count; k++) {
    int32_t mover = t->mover[k];
    if (!sim->mover[mover].tree)
      add_body(sim, a, t, mover);
    else if (a->products[mover].Y)
      add_tree(t, &a->products[mover], place, sim->mover[mover].dof, row);
    else
      return false;
  }
  for (int32_t k = 0; k < t->n; k++) t->weight[k] = t->W[k * (t->n + 1)];
  return true;
}

/* The diagonal with R, and q: what may change while W stays. */
static void load_rows(const frix_sim *sim, const fx_assembly *a, const fx_tree_island *t) {
  for (int32_t k = 0; k < t->count; k++) {
    const fx_group *g = &a->group[t->group[k]];
    double free[FRIX_MAX_DIM] = {0.0};
    const double *J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_mover *m = &sim->mover[g->mover[b]];
      const double body[6] = {m->v_free.x, m->v_free.y, m->dof == 3 ? m->w_free.z : m->v_free.z,
                              m->w_free.x, m->w_free.y, m->w_free.z};
      for (int32_t j = 0; j < g->dim; j++, J += m->dof)
        free[j] += fx_dot_quad(m->dof, J, m->tree ? m->tree->v_free : body);
    }
    for (int32_t j = 0; j < g->dim; j++) {
      double R = a->compliant ? a->R[g->row + j] : 0.0;
      t->q[t->first[k] + j] = free[j] + a->w[g->row + j] - (a->compliant ? R * a->r_c[g->row + j] : 0.0);
      t->r[t->first[k] + j] = a->r[g->row + j];
      t->W[(t->first[k] + j) * (t->n + 1)] = t->weight[t->first[k] + j] + R;
    }
  }
}

/* ---- the law ---- */

static int32_t discs_of(const frix_contact *law, disc out[2]) {
  if (law->cone == FRIX_CONE_BILATERAL || law->dim == 1) return 0;
  out[0] = (disc){1, law->dim == 2 ? 1 : 2, SLIPS, law->mu};
  out[1] = (disc){3, 2, 2 * SLIPS, law->mu_r};
  return law->dim == 5 ? 2 : 1;
}

/* 1 / W of a disc. */
static double rate_of(const fx_tree_island *t, int32_t row, const disc *d) {
  double sum = 0.0;
  for (int32_t j = 0; j < d->size; j++) sum += t->W[(row + d->first + j) * (t->n + 1)];
  return d->size / sum;
}

/* x of a disc, its length, and x_N where it is not below 0. */
static double reach_of(const fx_tree_island *t, int32_t row, const disc *d, double x[2], double *normal) {
  double rate = rate_of(t, row, d);
  const double *r = t->r + row + d->first, *u = t->u + row + d->first;
  x[1] = 0.0;
  for (int32_t j = 0; j < d->size; j++) x[j] = r[j] - rate * u[j];
  *normal = fx_max(t->r[row] - t->u[row] / t->W[row * (t->n + 1)], 0.0);
  return sqrt(x[0] * x[0] + x[1] * x[1]);
}

static double find_disc(fx_tree_island *t, int32_t k, const disc *d) {
  double x[2], normal, error = 0.0, rate = rate_of(t, t->first[k], d);
  double length = reach_of(t, t->first[k], d, x, &normal), bound = d->mu * normal;
  double part = length > bound ? bound / length : 1.0;
  if (normal > 0.0 && length > bound) t->state[k] |= (uint8_t)d->slips;
  for (int32_t j = 0; j < d->size; j++) {
    double F = t->r[t->first[k] + d->first + j] - part * x[j];
    error += F * F / rate;
  }
  return error;
}

/* u, and what each group does; how far r is from the law as an energy, and in `size` that of the terms. */
static double evaluate(const fx_assembly *a, fx_tree_island *t, double *size) {
  double error = 0.0, whole = 0.0;
  for (int32_t k = 0; k < t->n; k++) {
    double w = t->W[(size_t)k * (size_t)(t->n + 1)];
    t->u[k] = t->q[k] + fx_dot_quad(t->n, t->W + (size_t)k * (size_t)t->n, t->r);
    whole += t->q[k] * t->q[k] / w + t->r[k] * t->r[k] * w;
  }
  for (int32_t k = 0; k < t->count; k++) {
    const frix_contact *law = &a->law[t->group[k]];
    const double *u = t->u + t->first[k], *r = t->r + t->first[k];
    double w = t->W[t->first[k] * (t->n + 1)], x = r[0] - u[0] / w, off = r[0] - fx_max(x, 0.0);
    bool equation = law->cone == FRIX_CONE_BILATERAL;
    disc d[2];
    t->state[k] = equation || x > 0.0 ? ACTS : OPEN;
    for (int32_t j = 0; equation && j < law->dim; j++) error += u[j] * u[j] / t->W[(t->first[k] + j) * (t->n + 1)];
    if (!equation) error += w * off * off;
    for (int32_t j = discs_of(law, d); j-- > 0;) error += find_disc(t, k, &d[j]);
  }
  *size = whole;
  return error;
}

/* ---- one step ---- */

/* A row of the step: W dr = -u at the impulses with those of open contacts taken off. */
static void put_row(const fx_tree_island *t, int32_t m, int32_t at, int32_t row) {
  const double *W = t->W + (size_t)row * (size_t)t->n;
  double *A = t->A + (size_t)at * (size_t)m;
  for (int32_t k = 0; k < m; k++) A[k] = W[t->active[k]];
  t->b[at] = -t->u[row];
}

/* r_T - mu r_N e(x_T) = 0 of a disc that slides, e the direction of x_T. Its rows hold (W dr)_T; normal: row of the
 * normal in the step. */
static void put_slip(const fx_tree_island *t, int32_t m, int32_t normal, int32_t row, const disc *d) {
  double e[2], most, turn[2][2] = {{0.0}}, rate = rate_of(t, row, d), length = reach_of(t, row, d, e, &most);
  double part = length > 0.0 ? fx_min(1.0, d->mu * most / length) : 0.0;
  const double *r = t->r + row + d->first;
  int32_t at = normal + d->first;
  double *A = t->A + (size_t)at * (size_t)m;
  for (int32_t j = 0; j < 2; j++) e[j] = length > 0.0 ? e[j] / length : 0.0;
  for (int32_t j = 0; j < 2 && d->size > 1; j++)
    for (int32_t i = 0; i < 2; i++) turn[j][i] = part * ((i == j) - e[i] * e[j]);
  for (int32_t k = 0; k < m; k++) {
    double w[2] = {A[k], d->size > 1 ? A[m + k] : 0.0};
    for (int32_t j = 0; j < d->size; j++) A[j * m + k] = rate * (turn[j][0] * w[0] + turn[j][1] * w[1]);
  }
  for (int32_t j = 0; j < d->size; j++) {
    for (int32_t i = 0; i < d->size; i++) A[j * m + at + i] += (i == j) - turn[j][i];
    A[j * m + normal] -= d->mu * e[j];
    t->b[at + j] = -(r[j] - d->mu * t->r[row] * e[j]);
  }
}

/* Open contacts carry nothing, others follow their law to first order; false where that has no answer. */
static bool step(const fx_assembly *a, fx_tree_island *t) {
  int32_t m = 0, at = 0;
  for (int32_t k = 0; k < t->count; k++) {
    int32_t row = t->first[k], dim = a->group[t->group[k]].dim;
    for (int32_t j = 0; j < dim && t->state[k] != OPEN; j++) t->active[m++] = row + j;
    for (int32_t j = 0; j < dim && t->state[k] == OPEN; j++) {
      double off = t->r[row + j];
      for (int32_t i = 0; off != 0.0 && i < t->n; i++) t->u[i] -= t->W[(row + j) * t->n + i] * off;
      t->r[row + j] = 0.0;
    }
  }
  for (int32_t k = 0; k < t->count; k++) {
    int32_t row = t->first[k], dim = a->group[t->group[k]].dim;
    disc d[2];
    if (t->state[k] == OPEN) continue;
    for (int32_t j = 0; j < dim; j++) put_row(t, m, at + j, row + j);
    for (int32_t j = discs_of(&a->law[t->group[k]], d); j-- > 0;)
      if (t->state[k] & d[j].slips) put_slip(t, m, at, row, &d[j]);
    at += dim;
  }
  if (!fx_lu_factor(m, t->A, t->pivot)) return false;
  fx_lu_solve(m, t->A, t->pivot, t->b);
  for (int32_t k = 0; k < m; k++) t->r[t->active[k]] += t->b[k];
  return true;
}

static bool iterate(const fx_assembly *a, fx_tree_island *t, bool fine, int64_t *iterations) {
  double size, least = INFINITY;
  int since = 0;
  for (int round = 0; round < ROUNDS; round++) {
    double error = evaluate(a, t, &size);
    if (!(error >= 0.0) || !isfinite(error)) return false;
    if (error < least) memcpy(t->best, t->r, (size_t)t->n * sizeof *t->r);
    if (error == 0.0 || (!fine && error <= done * done * size)) return true;
    bool better = error < 0.25 * least;
    least = fx_min(least, error);
    since = better ? 0 : since + 1;
    if (!better && least <= enough * enough * size) break;
    if (since > PATIENCE || !step(a, t)) break;
    ++*iterations;
  }
  memcpy(t->r, t->best, (size_t)t->n * sizeof *t->r);
  return least <= enough * enough * size;
}

/* ---- all islands ---- */

static bool take(fx_tree_island *t, fx_arena *arena) {
  size_t n = (size_t)t->n;
  double **list[] = {&t->weight, &t->q, &t->r, &t->u, &t->best, &t->b};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    if (!(*list[k] = FX_TAKE_RAW(arena, double, n))) return false;
  t->W = FX_TAKE_RAW(arena, double, n *n), t->A = FX_TAKE_RAW(arena, double, n *n);
  t->active = FX_TAKE_RAW(arena, int32_t, n), t->pivot = FX_TAKE_RAW(arena, int32_t, n);
  t->state = FX_TAKE_RAW(arena, uint8_t, t->count);
  return t->W && t->A && t->active && t->pivot && t->state;
}

/* Groups and movers by island, in `of` the island of each mover; 0 where some do not fit. */
static frix_status gather(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, fx_tree_newton *out) {
  int32_t movers = sim->mover_count, *parent = FX_TAKE_RAW(arena, int32_t, movers);
  int32_t *of = FX_TAKE_RAW(arena, int32_t, movers), *place = FX_TAKE_RAW(arena, int32_t, 2 * (size_t)a->group_count);
  int32_t *list = FX_TAKE_RAW(arena, int32_t, movers);
  out->island = FX_TAKE(arena, fx_tree_island, movers);
  if (!parent || !of || !place || !list || !out->island) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < movers; k++) parent[k] = k, of[k] = -1;
  for (int32_t k = 0; k < a->group_count; k++) {
    if (a->group[k].body_count == 0 || !group_fits(sim, a, k)) return FRIX_OK;
    for (int32_t b = 1; b < a->group[k].body_count; b++) {
      int32_t i = root_of(parent, a->group[k].mover[0]), j = root_of(parent, a->group[k].mover[b]);
      parent[i > j ? i : j] = i > j ? j : i;
    }
  }
  int32_t count = 0;
  for (int32_t k = 0; k < a->group_count; k++) {
    int32_t root = root_of(parent, a->group[k].mover[0]);
    if (of[root] < 0) of[root] = count++;
    fx_tree_island *t = &out->island[of[root]];
    t->count++, t->n += a->group[k].dim;
    if (t->n > MOST) return FRIX_OK;
  }
  for (int32_t k = 0; k < movers; k++)
    if (sim->mover[k].first >= 0) out->island[of[root_of(parent, k)]].mover_count++;
  for (int32_t k = 0, g = 0, m = 0; k < count; k++) {
    fx_tree_island *t = &out->island[k];
    t->group = place + 2 * g, t->first = t->group + t->count, t->mover = list + m;
    g += t->count, m += t->mover_count;
    t->count = t->mover_count = t->n = 0;
  }
  for (int32_t k = 0; k < a->group_count; k++) {
    fx_tree_island *t = &out->island[of[root_of(parent, a->group[k].mover[0])]];
    t->group[t->count] = k, t->first[t->count++] = t->n;
    t->n += a->group[k].dim;
  }
  for (int32_t k = 0; k < movers; k++) {
    if (sim->mover[k].first < 0) continue;
    fx_tree_island *t = &out->island[of[root_of(parent, k)]];
    t->mover[t->mover_count++] = k;
  }
  out->count = count;
  return FRIX_OK;
}

/* Rows without weight are for the solver. */
static bool is_regular(const fx_tree_island *t) {
  for (int32_t k = 0; k < t->n; k++)
    if (!(t->W[k * (t->n + 1)] > 0.0)) return false;
  return true;
}

frix_status fx_tree_newton_begin(const frix_sim *sim, fx_assembly *a, fx_arena *arena, fx_tree_newton *out) {
  *out = (fx_tree_newton){0};
  frix_status status = fx_tree_products_find(sim, a);
  if (status == FRIX_OK) status = gather(sim, a, arena, out);
  int32_t *place = FX_TAKE_RAW(arena, int32_t, a->row_count);
  if (!place) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; status == FRIX_OK && k < out->count; k++) {
    fx_tree_island *t = &out->island[k];
    if (!take(t, arena)) return FRIX_ERROR_MEMORY;
    for (int32_t i = 0; i < t->count; i++)
      for (int32_t j = 0; j < a->group[t->group[i]].dim; j++) place[a->group[t->group[i]].row + j] = t->first[i] + j;
    if (!make_matrix(sim, a, t, place, t->b)) out->count = 0;
  }
  return status;
}

bool fx_tree_newton_run(const frix_sim *sim, fx_assembly *a, const fx_tree_newton *newton, bool fine,
                        int64_t *iterations) {
  bool good = newton->count > 0;
  for (int32_t i = 0; i < newton->count && good; i++) {
    fx_tree_island *t = &newton->island[i];
    load_rows(sim, a, t);
    good = is_regular(t) && iterate(a, t, fine, iterations);
    for (int32_t k = 0; good && k < t->count; k++) {
      const fx_group *g = &a->group[t->group[k]];
      memcpy(a->r + g->row, t->r + t->first[k], (size_t)g->dim * sizeof *a->r);
    }
  }
  return good;
}
