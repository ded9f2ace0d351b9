/* Newton on the velocities of islands with soft bodies, straight over the rows.
 *
 * Where every row has a compliance R the impulses of a contact follow from the velocities: with a = J v + w - R r_c
 *
 *   r_N = max(0, -a_N) / R,   r_T = projection of -a_T / R on the disc of radius mu r_N
 *   F(v) = A (v - v_free) - J' r = 0,   F' = A + J' D J,   D = -dr/da
 *
 * as in spring_newton.c, but dense and without a problem in between: many contacts act on few coordinates here, and all
 * that goes with contacts is a pass over J. D of a contact stays in the matrix while it changes little, and the factor
 * while steps with it converge.
 *
 * How far along a step dv: to where F . dv = 0. Without friction, or with bounds that stay, F is the gradient of a
 * convex function and that is its least value on the line, so the method converges from anywhere; along a line a moves
 * by J dv, and each trial costs the contacts alone. Friction with the bounds of its normal force has no such function;
 * where a step does not go down, or many did not arrive, bounds are frozen for some steps. Nothing is certified here:
 * the rows are judged afterwards, and where that fails the solver goes on from the impulses found. */
#include "sim/softs.h"
#include "sim/solving.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/product.h"

enum { ROUNDS = 60, MOST = 512, TRIALS = 12 };
/* Of the sizes of what cancels in F: where it ends, under a deadline, and where no step goes down any more. */
static const double done = 1e-13, done_in_time = 1e-11, rounding = 1e-10;
static const double enough = 0.1;    /* of F . dv at the start of a line: its end */
static const double still = 1e-4;    /* of D: smaller changes stay out of the matrix */
static const double chord = 1e-2;    /* of |F|, after a step: the factor serves another one */
static const double short_way = 0.3; /* of a step: the whole of it is tried */

/* A contact of the island. */
typedef struct joined {
  int32_t group, dim;
  const double *J;
  const double *R;
  double mu, bound;         /* bound: of friction, below 0: it follows the normal force */
  double at[3], along[3];   /* a, and J dv */
  double r[3], D[9], in[9]; /* of now; in: what the matrix holds */
} joined;

typedef struct island {
  const frix_sim *sim;
  fx_assembly *a;
  int32_t n, count, mover_count;
  int32_t *group, *mover; /* of the assembly */
  int32_t *first;         /* by mover of the step: its first coordinate here */
  joined *contact;
  double *K, *LU, *g;
  double *v, *dv, *off, *Aoff, *Adv, *F, *scale;
  int32_t *pivot;
  double carried; /* A v_free, squared in the mass */
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

/* r and, where it is wanted, D at a; row-major D of three rows. */
static void respond(const joined *c, const double *a, double *r, double *D) {
  double inverse = 1.0 / c->R[0];
  if (D) memset(D, 0, 9 * sizeof *D);
  r[0] = a[0] < 0.0 ? -a[0] * inverse : 0.0;
  r[1] = r[2] = 0.0;
  if (D && r[0] > 0.0) D[0] = inverse;
  bool frozen = c->bound >= 0.0; /* frozen bounds also hold where the contact opens */
  double bound = frozen ? c->bound : c->mu * r[0];
  if (c->dim == 1 || !(bound > 0.0)) return;
  inverse = 1.0 / c->R[1];
  double x = -a[1] * inverse, y = -a[2] * inverse, square = x * x + y * y;
  if (square <= bound * bound) {
    r[1] = x, r[2] = y;
    if (D) D[4] = D[8] = inverse;
    return;
  }
  double size = sqrt(square), part = bound / size, ex = x / size, ey = y / size;
  r[1] = part * x, r[2] = part * y;
  if (!D) return;
  double slope = frozen ? 0.0 : c->mu * D[0];
  D[3] = slope * ex, D[6] = slope * ey;
  D[4] = part * inverse * (1.0 - ex * ex), D[8] = part * inverse * (1.0 - ey * ey);
  D[5] = D[7] = -part * inverse * ex * ey;
}

/* ---- the whole ---- */

/* A of a mover times x. */
static void multiply(const fx_mover *m, const double *x, double *out) {
  if (m->tree) {
    memset(out, 0, (size_t)m->dof * sizeof *out);
    fx_add_products(m->dof, m->dof, m->tree->part->dense, x, out);
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

/* out := A x of all movers. */
static void multiply_all(const island *t, const double *x, double *out) {
  for (int32_t k = 0; k < t->mover_count; k++) {
    int32_t at = t->first[t->mover[k]];
    multiply(&t->sim->mover[t->mover[k]], x + at, out + at);
  }
}

/* out += J x of a contact. */
static void read_rows(const island *t, const joined *c, const double *x, double *out) {
  const fx_group *g = &t->a->group[c->group];
  const double *J = c->J;
  for (int32_t b = 0; b < g->body_count; b++) {
    int32_t dof = t->sim->mover[g->mover[b]].dof;
    fx_add_products(c->dim, dof, J, x + t->first[g->mover[b]], out);
    J += c->dim * dof;
  }
}

static void push_rows(const island *t, const joined *c, double *F) {
  const fx_group *g = &t->a->group[c->group];
  const double *J = c->J;
  double less[3] = {-c->r[0], -c->r[1], -c->r[2]};
  for (int32_t b = 0; b < g->body_count; b++) {
    int32_t dof = t->sim->mover[g->mover[b]].dof;
    fx_add_rows(c->dim, dof, J, less, F + t->first[g->mover[b]]);
    J += c->dim * dof;
  }
}

/* Impulses, slopes and F of where it is; |F| in the mass. */
static double evaluate(island *t) {
  memcpy(t->F, t->Aoff, (size_t)t->n * sizeof *t->F);
  for (int32_t k = 0; k < t->count; k++) {
    joined *c = &t->contact[k];
    respond(c, c->at, c->r, c->D);
    if (c->r[0] != 0.0 || c->r[1] != 0.0 || c->r[2] != 0.0) push_rows(t, c, t->F);
  }
  double sum = 0.0;
  for (int32_t i = 0; i < t->n; i++) sum += t->F[i] * t->F[i] * t->scale[i];
  return sqrt(sum);
}

/* The matrix takes slopes that changed. */
static void refresh(island *t) {
  for (int32_t k = 0; k < t->count; k++) {
    joined *c = &t->contact[k];
    double change[9], most = 0.0, size = 0.0;
    for (int e = 0; e < 9; e++) {
      change[e] = c->D[e] - c->in[e];
      most = fx_max(most, fabs(change[e])), size = fx_max(size, fabs(c->D[e]));
    }
    if (!(most > still * size)) continue;
    memcpy(c->in, c->D, sizeof c->in);
    add_change(t, &t->a->group[c->group], change);
  }
}

static bool factor(island *t) {
  refresh(t);
  memcpy(t->LU, t->K, (size_t)t->n * (size_t)t->n * sizeof *t->K);
  return fx_lu_factor(t->n, t->LU, t->pivot);
}

/* ---- along a line ---- */

typedef struct line {
  double start, slope; /* of A (v - v_free) . dv */
} line;

static double climb(const island *t, const line *l, double way) {
  double sum = l->start + way * l->slope;
  for (int32_t k = 0; k < t->count; k++) {
    const joined *c = &t->contact[k];
    double a[3], r[3];
    for (int j = 0; j < 3; j++) a[j] = c->at[j] + way * c->along[j];
    respond(c, a, r, NULL);
    sum -= r[0] * c->along[0] + r[1] * c->along[1] + r[2] * c->along[2];
  }
  return sum;
}

/* How far: F . dv = 0 between 0 and 1 by regula falsi with halved ends (Illinois). 0: dv does not go down. */
static double find_way(const island *t, const line *l) {
  double low = 0.0, high = 1.0, at_low = climb(t, l, 0.0), at_high = climb(t, l, 1.0), goal = enough * fabs(at_low);
  if (!(at_low < 0.0)) return 0.0;
  if (at_high <= goal) return 1.0;
  int side = 0;
  double way = 1.0;
  for (int k = 0; k < TRIALS; k++) {
    way = low - at_low * (high - low) / (at_high - at_low);
    double value = climb(t, l, way);
    if (fabs(value) <= goal) break;
    if (value > 0.0) {
      high = way, at_high = value;
      if (side > 0) at_low *= 0.5;
      side = 1;
    } else {
      low = way, at_low = value;
      if (side < 0) at_high *= 0.5;
      side = -1;
    }
  }
  return way;
}

/* dv, and what goes with it. */
static line aim(island *t) {
  line l = {0.0, 0.0};
  for (int32_t i = 0; i < t->n; i++) t->dv[i] = -t->F[i];
  fx_lu_solve(t->n, t->LU, t->pivot, t->dv);
  multiply_all(t, t->dv, t->Adv);
  for (int32_t i = 0; i < t->n; i++) l.start += t->Aoff[i] * t->dv[i], l.slope += t->Adv[i] * t->dv[i];
  for (int32_t k = 0; k < t->count; k++) {
    joined *c = &t->contact[k];
    memset(c->along, 0, sizeof c->along);
    read_rows(t, c, t->dv, c->along);
  }
  return l;
}

static void go(island *t, double way) {
  for (int32_t i = 0; i < t->n; i++) t->v[i] += way * t->dv[i], t->Aoff[i] += way * t->Adv[i];
  for (int32_t k = 0; k < t->count; k++)
    for (int j = 0; j < 3; j++) t->contact[k].at[j] += way * t->contact[k].along[j];
}

static void freeze(island *t, bool frozen) {
  for (int32_t k = 0; k < t->count; k++) t->contact[k].bound = frozen ? t->contact[k].mu * t->contact[k].r[0] : -1.0;
}

/* The size of what F is a sum of: A v_free, and normal impulses of contacts. */
static double size_of(const island *t) {
  double sum = t->carried;
  for (int32_t k = 0; k < t->count; k++) {
    const joined *c = &t->contact[k];
    int32_t at = t->first[t->a->group[c->group].mover[0]];
    for (int32_t i = 0; i < 3; i++) {
      double push = c->J[i] * c->r[0];
      sum += push * push * t->scale[at + i];
    }
  }
  return sqrt(sum);
}

/* From velocities v on. */
static void begin_at(island *t) {
  for (int32_t k = 0; k < t->mover_count; k++) {
    int32_t at = t->first[t->mover[k]];
    const fx_mover *m = &t->sim->mover[t->mover[k]];
    free_of(m, t->off + at);
    for (int32_t i = 0; i < m->dof; i++) t->off[at + i] = t->v[at + i] - t->off[at + i];
  }
  multiply_all(t, t->off, t->Aoff);
  for (int32_t k = 0; k < t->count; k++) {
    joined *c = &t->contact[k];
    const fx_group *g = &t->a->group[c->group];
    for (int32_t j = 0; j < g->dim; j++) c->at[j] = t->a->w[g->row + j] - t->a->R[g->row + j] * t->a->r_c[g->row + j];
    read_rows(t, c, t->v, c->at);
  }
}

/* The matrix without contacts, and the velocities before the step. */
static void start(island *t) {
  t->carried = 0.0;
  for (int32_t k = 0; k < t->mover_count; k++) {
    const fx_mover *m = &t->sim->mover[t->mover[k]];
    int32_t at = t->first[t->mover[k]];
    const double before[6] = {m->v0.x, m->v0.y, m->v0.z, m->w0.x, m->w0.y, m->w0.z};
    const double mass[6] = {m->A.xx, m->A.yy, m->A.zz, m->B.xx, m->B.yy, m->B.zz};
    put_mass(t, m, at);
    free_of(m, t->v + at);
    multiply(m, t->v + at, t->off + at);
    for (int32_t i = 0; i < m->dof; i++) {
      t->scale[at + i] = 1.0 / (m->tree ? m->tree->part->dense[(size_t)i * m->dof + i] : mass[i]);
      t->carried += t->off[at + i] * t->off[at + i] * t->scale[at + i];
    }
    memcpy(t->v + at, m->tree ? m->tree->v0 : before, (size_t)m->dof * sizeof *t->v);
  }
  begin_at(t);
}

/* A step with frozen bounds, whose direction always goes down; false: it does not, by rounding. */
static bool step_frozen(island *t) {
  freeze(t, true);
  evaluate(t);
  bool good = factor(t);
  line l = good ? aim(t) : (line){0.0, 0.0};
  double way = good ? find_way(t, &l) : 0.0;
  go(t, way);
  freeze(t, false);
  return way > 0.0;
}

/* A step along the line; the whole of it where that lowers |F| although friction makes F . dv rise before. */
static double move(island *t, double way, double norm) {
  if (way < short_way) {
    go(t, 1.0);
    double whole = evaluate(t);
    if (whole < 0.9 * norm) return whole;
    way -= 1.0;
  }
  go(t, way);
  return evaluate(t);
}

static bool solve(island *t, int64_t *iterations) {
  start(t);
  double norm = evaluate(t), size = size_of(t), goal = t->sim->deadline > 0.0 ? done_in_time : done;
  bool again = false; /* the factor serves another step */
  for (int k = 0; k < ROUNDS && norm > goal * size; k++) {
    ++*iterations;
    if (!again && !factor(t)) return false;
    line l = aim(t);
    double way = find_way(t, &l), before = norm;
    if (way > 0.0) {
      norm = move(t, way, norm);
    } else {
      if (norm <= rounding * size) return true;
      if (!again && !step_frozen(t)) return false;
      norm = evaluate(t);
    }
    size = size_of(t);
    again = way > 0.0 && norm <= chord * before;
  }
  return norm <= rounding * size;
}

/* ---- all islands ---- */

static bool take(island *t, fx_arena *arena) {
  size_t n = (size_t)t->n;
  double **list[] = {&t->v, &t->dv, &t->off, &t->Aoff, &t->Adv, &t->F, &t->scale};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    if (!(*list[k] = FX_TAKE_RAW(arena, double, n))) return false;
  t->K = FX_TAKE(arena, double, n *n), t->LU = FX_TAKE_RAW(arena, double, n *n);
  t->contact = FX_TAKE(arena, joined, t->count);
  t->g = FX_TAKE_RAW(arena, double, 3 * n), t->pivot = FX_TAKE_RAW(arena, int32_t, n);
  if (!t->K || !t->LU || !t->contact || !t->g || !t->pivot) return false;
  for (int32_t k = 0; k < t->count; k++) {
    const fx_group *g = &t->a->group[t->group[k]];
    t->contact[k] = (joined){.group = t->group[k],
                             .dim = g->dim,
                             .J = t->a->J + g->value,
                             .R = t->a->R + g->row,
                             .mu = t->a->law[t->group[k]].mu,
                             .bound = -1.0};
  }
  return true;
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
  return soft && t->count > 0;
}

static bool solve_island(island *t, int64_t *iterations) {
  fx_arena arena;
  fx_arena_init(&arena, t->sim->inner);
  bool good = take(t, &arena) && solve(t, iterations);
  for (int32_t k = 0; good && k < t->count; k++) {
    const fx_group *g = &t->a->group[t->group[k]];
    memcpy(t->a->r + g->row, t->contact[k].r, (size_t)g->dim * sizeof *t->a->r);
  }
  fx_arena_free(&arena);
  return good;
}

frix_status fx_soft_newton(frix_sim *sim, fx_assembly *a, fx_found *found) {
  int32_t n = sim->mover_count;
  island t = {.sim = sim, .a = a, .group = FX_TAKE_RAW(&sim->arena, int32_t, a->group_count)};
  int32_t *parent = FX_TAKE_RAW(&sim->arena, int32_t, n);
  t.mover = FX_TAKE_RAW(&sim->arena, int32_t, n), t.first = FX_TAKE_RAW(&sim->arena, int32_t, n);
  if (!t.group || !parent || !t.mover || !t.first) return FRIX_ERROR_MEMORY;
  int32_t solved = 0, all = 0;
  for (int32_t k = 0; k < n; k++) parent[k] = k;
  for (int32_t k = 0; k < a->group_count; k++) {
    all += a->group[k].body_count > 0;
    for (int32_t b = 1; b < a->group[k].body_count; b++) {
      int32_t i = root_of(parent, a->group[k].mover[0]), j = root_of(parent, a->group[k].mover[b]);
      parent[i > j ? i : j] = i > j ? j : i;
    }
  }
  for (int32_t k = 0; k < n; k++) parent[k] = root_of(parent, k);
  memcpy(a->r, a->guess, (size_t)a->row_count * sizeof *a->r);
  for (int32_t k = 0; k < n; k++)
    if (parent[k] == k && gather(&t, parent, k) && solve_island(&t, &sim->report.iterations)) solved += t.count;
  *found = solved == 0 ? FX_FOUND_NONE : solved < all ? FX_FOUND_SOME : FX_FOUND_ALL;
  return FRIX_OK;
}
