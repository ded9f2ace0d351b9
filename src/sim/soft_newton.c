/* Newton on the velocities of islands with soft bodies, straight over the rows.
 *
 * Where every row has a compliance R the impulses of a contact follow from the velocities: with a = J v + w - R r_c
 *
 *   r_N = max(0, -a_N) / R,   r_T = projection of -a_T / R on the disc of radius mu r_N
 *   F(v) = A (v - v_free) - J' r = 0,   F' = A + J' D J,   D = -dr/da
 *
 * as in spring_newton.c, but dense and without a problem in between: many contacts act on few coordinates here, and all
 * that goes with contacts is a pass over J. D of a contact changes only where it opens, closes, sticks or slides on;
 * others stay in the matrix from one iteration to the next. Nothing is certified here: the rows are judged afterwards,
 * and where that fails the solver goes on from the impulses found. */
#include "sim/softs.h"
#include "sim/solving.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "linalg/dense.h"
#include "linalg/product.h"

enum { ROUNDS = 40, HALVINGS = 5, MOST = 256, FEWEST = 4 };
static const double done = 1e-13; /* of the sizes of what cancels in F */
static const double growth = 2.0; /* of |F| that a step of the convex problem may bring */

typedef struct island {
  const frix_sim *sim;
  fx_assembly *a;
  int32_t n, count, mover_count;
  int32_t *group, *mover; /* of the assembly */
  int32_t *first;         /* by mover of the step: its first coordinate here */
  double *K, *LU, *D, *g; /* D: 9 numbers by contact */
  double *v, *trial, *dv, *F, *scale, *r;
  int32_t *pivot;
  bool fresh;  /* K holds nothing yet */
  bool convex; /* K is that of friction under the bounds of now: symmetric, and its step goes down */
} island;

/* ---- which islands ---- */

static int32_t root_of(int32_t *parent, int32_t k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

static bool group_fits(const fx_assembly *a, int32_t k) {
  const fx_group *g = &a->group[k];
  const frix_contact *law = &a->law[k];
  bool cone = (law->cone == FRIX_CONE_CIRCULAR && g->dim == 3) || (law->cone == FRIX_CONE_FRICTIONLESS && g->dim == 1);
  if (g->kind != FX_GROUP_CONTACT || !cone) return false;
  for (int32_t j = 0; j < g->dim; j++)
    if (!(a->R[g->row + j] > 0.0) || a->R[g->row + j] != a->R[g->row + (j ? 1 : 0)]) return false;
  return true;
}

/* ---- one contact ---- */

/* r and D from a; row-major D with d rows. */
static void respond(const frix_contact *law, int32_t d, const double *at, const double *R, bool convex, double *r,
                    double *D) {
  memset(D, 0, 9 * sizeof *D);
  r[0] = at[0] < 0.0 ? -at[0] / R[0] : 0.0;
  for (int32_t k = 1; k < d; k++) r[k] = 0.0;
  if (!(r[0] > 0.0)) return;
  D[0] = 1.0 / R[0];
  if (d == 1 || !(law->mu > 0.0)) return;
  double x = -at[1] / R[1], y = -at[2] / R[1], size = sqrt(x * x + y * y), bound = law->mu * r[0];
  if (size <= bound) {
    r[1] = x, r[2] = y;
    D[4] = D[8] = 1.0 / R[1];
    return;
  }
  double part = bound / size, ex = x / size, ey = y / size, slope = convex ? 0.0 : law->mu * D[0];
  r[1] = part * x, r[2] = part * y;
  D[3] = slope * ex, D[6] = slope * ey;
  D[4] = part / R[1] * (1.0 - ex * ex), D[8] = part / R[1] * (1.0 - ey * ey);
  D[5] = D[7] = -part / R[1] * ex * ey;
}

/* ---- the whole ---- */

/* A of a mover times x. */
static void multiply(const fx_mover *m, const double *x, double *out) {
  if (m->tree) {
    for (int32_t i = 0; i < m->dof; i++) out[i] = fx_dot_quad(m->dof, m->tree->part->dense + (size_t)i * m->dof, x);
    return;
  }
  frix_vec3 lin = fx_sym3_mul(m->A, fx_vec(x[0], x[1], x[2])), ang = fx_sym3_mul(m->B, fx_vec(x[3], x[4], x[5]));
  const double all[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
  memcpy(out, all, sizeof all);
}

static void free_of(const fx_mover *m, double *out) {
  if (m->tree) {
    memcpy(out, m->tree->v_free, (size_t)m->dof * sizeof *out);
    return;
  }
  const double all[6] = {m->v_free.x, m->v_free.y, m->v_free.z, m->w_free.x, m->w_free.y, m->w_free.z};
  memcpy(out, all, sizeof all);
}

static void put_mass(const island *t, const fx_mover *m, int32_t at) {
  double column[MOST], unit[MOST];
  memset(unit, 0, (size_t)m->dof * sizeof *unit);
  for (int32_t j = 0; j < m->dof; j++) {
    if (m->tree) {
      memcpy(t->K + (size_t)(at + j) * t->n + at, m->tree->part->dense + (size_t)j * m->dof,
             (size_t)m->dof * sizeof *column);
      continue;
    }
    unit[j] = 1.0;
    multiply(m, unit, column);
    unit[j] = 0.0;
    memcpy(t->K + (size_t)(at + j) * t->n + at, column, (size_t)m->dof * sizeof *column);
  }
}

/* K += J' change J of a contact. */
static void add_change(const island *t, const fx_group *g, const double *change) {
  const double *Jb = t->a->J + g->value;
  double packed[9];
  for (int32_t r = 0; r < g->dim; r++)
    for (int32_t c = 0; c < g->dim; c++) packed[r * g->dim + c] = change[r * 3 + c];
  for (int32_t b = 0; b < g->body_count; b++) {
    int32_t w = t->sim->mover[g->mover[b]].dof, column = t->first[g->mover[b]];
    const double *Ja = t->a->J + g->value;
    fx_scale_rows(g->dim, w, 1.0, packed, Jb, t->g);
    for (int32_t a = 0; a < g->body_count; a++) {
      int32_t m = t->sim->mover[g->mover[a]].dof;
      fx_add_outer(g->dim, m, w, Ja, t->g, t->K + (size_t)t->first[g->mover[a]] * t->n + column, t->n);
      Ja += g->dim * m;
    }
    Jb += g->dim * w;
  }
}

/* F at v, r, and where `slopes` K with the D of now; returns |F| over the sizes of what cancels in it. */
static double evaluate(island *t, const double *v, bool slopes) {
  const frix_sim *sim = t->sim;
  const fx_assembly *a = t->a;
  for (int32_t k = 0; k < t->mover_count; k++) {
    const fx_mover *m = &sim->mover[t->mover[k]];
    double off[MOST], free[MOST];
    int32_t at = t->first[t->mover[k]];
    free_of(m, free);
    for (int32_t i = 0; i < m->dof; i++) off[i] = v[at + i] - free[i];
    multiply(m, off, t->F + at);
    if (slopes && t->fresh) put_mass(t, m, at);
  }
  for (int32_t k = 0; k < t->count; k++) {
    const fx_group *g = &a->group[t->group[k]];
    double at[3] = {0.0, 0.0, 0.0}, D[9], *r = t->r + 3 * (size_t)k, *old = t->D + 9 * (size_t)k;
    const double *J = a->J + g->value, *R = a->R + g->row;
    for (int32_t j = 0; j < g->dim; j++) at[j] = a->w[g->row + j] - R[j] * a->r_c[g->row + j];
    for (int32_t b = 0; b < g->body_count; b++) {
      int32_t dof = sim->mover[g->mover[b]].dof;
      for (int32_t j = 0; j < g->dim; j++, J += dof) at[j] += fx_dot_quad(dof, J, v + t->first[g->mover[b]]);
    }
    respond(&a->law[t->group[k]], g->dim, at, R, t->convex, r, D);
    J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count && r[0] > 0.0; b++) {
      int32_t dof = sim->mover[g->mover[b]].dof;
      double *F = t->F + t->first[g->mover[b]];
      for (int32_t j = 0; j < g->dim; j++, J += dof)
        for (int32_t i = 0; i < dof; i++) F[i] -= r[j] * J[i];
    }
    if (!slopes || !memcmp(D, old, sizeof D)) continue;
    double change[9];
    for (int e = 0; e < 9; e++) change[e] = D[e] - old[e];
    memcpy(old, D, sizeof D);
    add_change(t, g, change);
  }
  double sum = 0.0;
  for (int32_t i = 0; i < t->n; i++) sum += t->F[i] * t->F[i] * t->scale[i];
  if (slopes) t->fresh = false;
  return sqrt(sum);
}

/* The step, or the part of it that lowers |F|, or the best part where it rises by no more than `most`; false where none
 * does. */
static bool step(island *t, double most, double *norm) {
  size_t bytes = (size_t)t->n * sizeof *t->v;
  double best = INFINITY, chosen = 0.0, length = 1.0;
  memcpy(t->LU, t->K, (size_t)t->n * bytes);
  if (!fx_lu_factor(t->n, t->LU, t->pivot)) return false;
  for (int32_t i = 0; i < t->n; i++) t->dv[i] = -t->F[i];
  fx_lu_solve(t->n, t->LU, t->pivot, t->dv);
  for (int k = 0; k < HALVINGS; k++, length *= 0.5) {
    for (int32_t i = 0; i < t->n; i++) t->trial[i] = t->v[i] + length * t->dv[i];
    double fresh = evaluate(t, t->trial, false);
    if (fresh < best) best = fresh, chosen = length;
    if (fresh <= (1.0 - 0.1 * length) * *norm) break;
  }
  if (!(best <= most * *norm)) return false;
  for (int32_t i = 0; i < t->n; i++) t->v[i] += chosen * t->dv[i];
  *norm = evaluate(t, t->v, true);
  return true;
}

/* The size of what F is a sum of. */
static double size_of(island *t) {
  double sum = 0.0;
  for (int32_t k = 0; k < t->mover_count; k++) {
    const fx_mover *m = &t->sim->mover[t->mover[k]];
    double free[MOST], moved[MOST];
    free_of(m, free);
    multiply(m, free, moved);
    for (int32_t i = 0; i < m->dof; i++) sum += moved[i] * moved[i] * t->scale[t->first[t->mover[k]] + i];
  }
  for (int32_t k = 0; k < t->count; k++) {
    const fx_group *g = &t->a->group[t->group[k]];
    const double *J = t->a->J + g->value;
    int32_t at = t->first[g->mover[0]];
    for (int32_t i = 0; i < 3; i++) {
      double push = J[i] * t->r[3 * (size_t)k];
      sum += push * push * t->scale[at + i];
    }
  }
  return sqrt(sum);
}

static bool solve(island *t, int64_t *iterations) {
  for (int32_t k = 0; k < t->mover_count; k++) {
    const fx_mover *m = &t->sim->mover[t->mover[k]];
    int32_t at = t->first[t->mover[k]];
    const double before[6] = {m->v0.x, m->v0.y, m->v0.z, m->w0.x, m->w0.y, m->w0.z};
    memcpy(t->v + at, m->tree ? m->tree->v0 : before, (size_t)m->dof * sizeof *t->v);
    const double mass[6] = {m->A.xx, m->A.yy, m->A.zz, m->B.xx, m->B.yy, m->B.zz};
    for (int32_t i = 0; i < m->dof; i++)
      t->scale[at + i] = 1.0 / (m->tree ? m->tree->part->dense[(size_t)i * m->dof + i] : mass[i]);
  }
  double norm = evaluate(t, t->v, true);
  for (int k = 0; k < ROUNDS; k++) {
    if (norm <= done * size_of(t)) return true;
    ++*iterations;
    if (step(t, 1.0, &norm)) continue;
    if (norm <= 1e3 * done * size_of(t)) return true; /* rounding */
    t->convex = true;
    evaluate(t, t->v, true);
    bool good = step(t, growth, &norm);
    t->convex = false;
    norm = evaluate(t, t->v, true);
    if (!good) return false;
  }
  return false;
}

/* ---- all islands ---- */

static bool take(island *t, fx_arena *arena) {
  size_t n = (size_t)t->n;
  double **list[] = {&t->v, &t->trial, &t->dv, &t->F, &t->scale};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    if (!(*list[k] = FX_TAKE_RAW(arena, double, n))) return false;
  t->K = FX_TAKE(arena, double, n *n), t->LU = FX_TAKE_RAW(arena, double, n *n);
  t->D = FX_TAKE(arena, double, 9 * (size_t)t->count), t->r = FX_TAKE_RAW(arena, double, 3 * (size_t)t->count);
  t->g = FX_TAKE_RAW(arena, double, 3 * n), t->pivot = FX_TAKE_RAW(arena, int32_t, n);
  t->fresh = true;
  return t->K && t->LU && t->D && t->r && t->g && t->pivot;
}

/* Movers and contacts of one root, in t; false: it is none for this method. */
static bool gather(island *t, const int32_t *root_of_mover, int32_t root) {
  const frix_sim *sim = t->sim;
  bool soft = false;
  t->n = t->count = t->mover_count = 0;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (root_of_mover[k] != root || m->first < 0) continue;
    if (m->dof < 6 || (m->tree && !m->tree->soft) || t->n + m->dof > MOST) return false;
    soft |= m->tree != NULL;
    t->first[k] = t->n;
    t->n += m->dof;
    t->mover[t->mover_count++] = k;
  }
  for (int32_t k = 0; k < t->a->group_count && soft; k++) {
    const fx_group *g = &t->a->group[k];
    if (!g->body_count || root_of_mover[g->mover[0]] != root) continue;
    if (!group_fits(t->a, k)) return false;
    t->group[t->count++] = k;
  }
  return soft && t->count >= FEWEST;
}

static bool solve_island(island *t, int64_t *iterations) {
  fx_arena arena;
  fx_arena_init(&arena, t->sim->inner);
  bool good = take(t, &arena) && solve(t, iterations);
  for (int32_t k = 0; good && k < t->count; k++) {
    const fx_group *g = &t->a->group[t->group[k]];
    memcpy(t->a->r + g->row, t->r + 3 * (size_t)k, (size_t)g->dim * sizeof *t->r);
  }
  fx_arena_free(&arena);
  return good;
}

frix_status fx_soft_newton(frix_sim *sim, fx_assembly *a, bool *any) {
  int32_t n = sim->mover_count;
  island t = {.sim = sim, .a = a, .group = FX_TAKE_RAW(&sim->arena, int32_t, a->group_count)};
  int32_t *parent = FX_TAKE_RAW(&sim->arena, int32_t, n);
  t.mover = FX_TAKE_RAW(&sim->arena, int32_t, n), t.first = FX_TAKE_RAW(&sim->arena, int32_t, n);
  if (!t.group || !parent || !t.mover || !t.first) return FRIX_ERROR_MEMORY;
  *any = false;
  for (int32_t k = 0; k < n; k++) parent[k] = k;
  for (int32_t k = 0; k < a->group_count; k++)
    for (int32_t b = 1; b < a->group[k].body_count; b++) {
      int32_t i = root_of(parent, a->group[k].mover[0]), j = root_of(parent, a->group[k].mover[b]);
      parent[i > j ? i : j] = i > j ? j : i;
    }
  for (int32_t k = 0; k < n; k++) parent[k] = root_of(parent, k);
  memcpy(a->r, a->guess, (size_t)a->row_count * sizeof *a->r);
  for (int32_t k = 0; k < n; k++)
    if (parent[k] == k && gather(&t, parent, k)) *any |= solve_island(&t, &sim->report.iterations);
  return FRIX_OK;
}
