/* lemke: complementary pivoting on the linear complementarity problem of the friction pyramid.
 *
 *   contact   u_N >= 0                 _|_  c >= 0          r_N = c
 *             d_k . u_T + lambda >= 0  _|_  beta_k >= 0     r_T = sum beta_k d_k
 *             mu c - sum beta_k >= 0   _|_  lambda >= 0     lambda: slip speed
 *   joint     u = 0, r free
 *
 * with u = W r + q: velocities are eliminated, so the matrix is
 *   [ W_nn   W_nd   0 ]      law associated: -mu instead of 0 in the corner (c, lambda), which makes the matrix
 * monotone [ W_dn   W_dd   E ]      and the problem a quadratic programme. [ mu    -E'     0 ] The matrix is
 * copositive; with W symmetric and positive semidefinite the path ends in a solution where q allows one. References: D.
 * Stewart, J. Trinkle 1996; M. Anitescu, F. Potra 1997; M. Anitescu, G. Hart 2004, (6)-(7), their LCP0. */
#include "linalg/lemke_pivots.h"
#include "problem/cone.h"
#include "solver/scaling.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

enum { PIVOTS, JOINTS, START, RESTARTS };
enum { ELIMINATE, KEEP };
enum { COLD, GUESS };

static const frix_option_info options[] = {
    {"pivots", FRIX_OPTION_INTEGER, 0, 0, 1e9, NULL, "pivot limit unless max_iterations is given; 0: 20 n + 1000"},
    {"joints", FRIX_OPTION_CHOICE, ELIMINATE, 0, 1, "eliminate|keep",
     "solve joint rows for their impulses first, or keep each as two inequalities"},
    {"start", FRIX_OPTION_CHOICE, GUESS, 0, 1, "cold|guess", "Lemke's own start, or the basis the start r suggests"},
    {"restarts", FRIX_OPTION_INTEGER, 8, 0, 1000, NULL, "after a ray, paths from other bases to try"},
};

/* One contact in the complementarity problem: `force` impulse variables, then lambda where there is friction. */
typedef struct part {
  int32_t first, force;
  bool friction;
} part;

typedef struct state {
  const fx_system *s;
  const double *S;
  part *part;
  int32_t n;
  double *generator; /* of each impulse variable: the r it stands for, FRIX_MAX_DIM each */
  fx_call *call;
  int64_t spent; /* pivots of earlier paths */
} state;

/* ---- variables ---- */

static part describe(const frix_contact *c, bool keep) {
  bool friction = (c->cone == FRIX_CONE_PLANAR || c->cone == FRIX_CONE_PYRAMID) && c->mu > 0;
  part p = {.friction = friction, .force = 1};
  if (friction) p.force += c->cone == FRIX_CONE_PLANAR ? 2 : c->facets;
  if (c->cone == FRIX_CONE_BILATERAL) p.force = keep ? 2 * c->dim : c->dim;
  return p;
}

/* The r that variable a of a contact stands for. */
static void generate(const frix_contact *c, int32_t a, double *r) {
  if (c->cone == FRIX_CONE_BILATERAL) {
    r[a % c->dim] = a < c->dim ? 1 : -1;
  } else if (a == 0) {
    r[0] = 1;
  } else if (c->cone == FRIX_CONE_PLANAR) {
    r[1] = a == 1 ? 1 : -1;
  } else {
    fx_polygon_corner(a - 1, c->facets, r + 1);
  }
}

static frix_status list_variables(fx_arena *arena, state *t, bool keep) {
  const fx_system *s = t->s;
  t->part = FX_TAKE(arena, part, s->contact_count);
  if (!t->part) return FRIX_ERROR_MEMORY;
  int64_t total = 0;
  for (int32_t i = 0; i < s->contact_count; i++) {
    t->part[i] = describe(&s->contact[i], keep);
    t->part[i].first = (int32_t)total;
    total += t->part[i].force + t->part[i].friction;
    if (total > 100000) return fx_fail(arena->context, FRIX_ERROR_UNSUPPORTED, "too large for lemke's dense tableau");
  }
  t->n = (int32_t)total;
  t->generator = FX_TAKE(arena, double, (size_t)t->n *FRIX_MAX_DIM);
  if (!t->generator) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t a = 0; a < t->part[i].force; a++)
      generate(&s->contact[i], a, t->generator + (size_t)(t->part[i].first + a) * FRIX_MAX_DIM);
  return FRIX_OK;
}

/* ---- the matrix ---- */

typedef struct triplets {
  int64_t count;
  int32_t *row, *col;
  double *x;
} triplets;

static void push(triplets *t, int32_t row, int32_t col, double x) {
  if (x == 0) return;
  t->row[t->count] = row;
  t->col[t->count] = col;
  t->x[t->count++] = x;
}

/* Generators of contact i, times a block of W + R, times generators of contact j. */
static void push_block(const state *t, int32_t i, int32_t j, const double *block, triplets *out) {
  int32_t di = t->s->contact[i].dim, dj = t->s->contact[j].dim;
  double scale = t->S[t->s->row[i]] * t->S[t->s->row[j]];
  for (int32_t b = 0; b < t->part[j].force; b++) {
    const double *g = t->generator + (size_t)(t->part[j].first + b) * FRIX_MAX_DIM;
    double column[FRIX_MAX_DIM] = {0};
    for (int32_t x = 0; x < di; x++)
      for (int32_t y = 0; y < dj; y++) column[x] += block[x * dj + y] * g[y];
    for (int32_t a = 0; a < t->part[i].force; a++) {
      const double *h = t->generator + (size_t)(t->part[i].first + a) * FRIX_MAX_DIM;
      double sum = 0;
      for (int32_t x = 0; x < di; x++) sum += h[x] * column[x];
      push(out, t->part[i].first + a, t->part[j].first + b, scale * sum);
    }
  }
}

static void push_friction(const state *t, int32_t i, frix_law law, triplets *out) {
  const part *p = &t->part[i];
  if (!p->friction) return;
  int32_t lambda = p->first + p->force;
  double mu = t->s->contact[i].mu;
  push(out, lambda, p->first, mu);
  if (law == FRIX_LAW_ASSOCIATED) push(out, p->first, lambda, -mu);
  for (int32_t b = 1; b < p->force; b++) {
    push(out, p->first + b, lambda, 1);
    push(out, lambda, p->first + b, -1);
  }
}

static frix_status build_matrix(fx_arena *arena, const state *t, frix_law law, fx_sparse *M) {
  const fx_system *s = t->s;
  int64_t capacity = 0;
  for (int32_t i = 0; i < s->contact_count; i++) {
    capacity += 2 * t->part[i].force + 2 + t->part[i].force * t->part[i].force;
    for (int32_t k = s->W.start[i]; k < s->W.start[i + 1]; k++)
      capacity += t->part[i].force * t->part[s->W.index[k]].force;
  }
  triplets list = {.row = FX_TAKE(arena, int32_t, capacity),
                   .col = FX_TAKE(arena, int32_t, capacity),
                   .x = FX_TAKE(arena, double, capacity)};
  if (!list.row || !list.col || !list.x) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < s->contact_count; i++) {
    push_block(t, i, i, s->D + s->diagonal[i], &list);
    for (int32_t k = s->W.start[i]; k < s->W.start[i + 1]; k++)
      if (s->W.index[k] != i) push_block(t, i, s->W.index[k], fx_block(&s->W, k), &list);
    push_friction(t, i, law, &list);
  }
  fx_triplets entries = {.count = list.count, .row = list.row, .col = list.col, .x = list.x};
  return fx_sparse_from_triplets(arena->context, t->n, t->n, entries, M);
}

/* q and the free rows. */
static void fill_sides(const state *t, bool keep, double *q, bool *free_row) {
  for (int32_t i = 0; i < t->s->contact_count; i++)
    for (int32_t a = 0; a < t->part[i].force; a++) {
      int32_t row = t->part[i].first + a;
      const double *g = t->generator + (size_t)row * FRIX_MAX_DIM;
      for (int32_t x = 0; x < t->s->contact[i].dim; x++) q[row] += g[x] * t->s->q[t->s->row[i] + x];
      q[row] *= t->S[t->s->row[i]];
      free_row[row] = t->s->contact[i].cone == FRIX_CONE_BILATERAL && !keep;
    }
}

/* ---- the start ---- */

/* The variables that a contact with this r and u has in its basis. */
static void suggest_friction(const frix_contact *c, const part *p, const double *generator, const double *r,
                             const double *u, bool *start) {
  /* Corners by how much of r_T they carry; a sliding contact uses the one that dissipates most. */
  int32_t directions = p->force - 1, along = 1, across = 1, slip = 1;
  double most[2] = {-INFINITY, -INFINITY}, power = -INFINITY, size = 0, need = 0;
  for (int32_t b = 1; b <= directions; b++) {
    const double *g = generator + (size_t)b * FRIX_MAX_DIM;
    double carried = 0, spent = 0;
    for (int32_t x = 1; x < c->dim; x++) {
      carried += g[x] * r[x];
      spent -= g[x] * u[x];
    }
    if (carried > most[0]) {
      most[1] = most[0];
      across = along;
      most[0] = carried;
      along = b;
    } else if (carried > most[1]) {
      most[1] = carried;
      across = b;
    }
    if (spent > power) {
      power = spent;
      slip = b;
    }
  }
  for (int32_t x = 1; x < c->dim; x++) size += r[x] * r[x];
  /* r_T in units of its two corners; for a planar contact of one. */
  if (c->cone == FRIX_CONE_PLANAR) {
    need = most[0] > 0 ? most[0] : 0;
  } else {
    const double *g = generator + (size_t)along * FRIX_MAX_DIM, *h = generator + (size_t)across * FRIX_MAX_DIM;
    double det = g[1] * h[2] - g[2] * h[1];
    need = ((r[1] * h[2] - r[2] * h[1]) + (g[1] * r[2] - g[2] * r[1])) / det;
  }
  bool slides = !(r[0] > 0) || need >= (1 - 1e-6) * c->mu * r[0];
  if (slides) {
    start[slip] = start[p->force] = power > 0;
  } else if (size > 0) {
    start[along] = true;
    if (c->cone == FRIX_CONE_PYRAMID) start[across] = true;
  }
}

static void suggest(const state *t, const double *r, const double *u, bool *start) {
  for (int32_t i = 0; i < t->s->contact_count; i++) {
    const frix_contact *c = &t->s->contact[i];
    const part *p = &t->part[i];
    const double *own = r + t->s->row[i];
    if (c->cone == FRIX_CONE_BILATERAL) {
      for (int32_t a = 0; a < p->force; a++) start[p->first + a] = (a < c->dim) == (own[a % c->dim] > 0);
      continue;
    }
    start[p->first] = own[0] > 0;
    if (p->friction)
      suggest_friction(c, p, t->generator + (size_t)p->first * FRIX_MAX_DIM, own, u + t->s->row[i], start + p->first);
  }
}

static bool is_zero(const double *x, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (x[k] != 0) return false;
  return true;
}

/* Variable k and the one it works against most: a basis from which other paths set out. */
static void suggest_pair(const fx_sparse *M, int32_t k, bool *start) {
  int32_t best = k;
  double size = 0;
  memset(start, 0, (size_t)M->col_count * sizeof *start);
  for (int32_t a = M->p[k]; a < M->p[k + 1]; a++) {
    int32_t j = M->i[a];
    for (int32_t b = M->p[j]; b < M->p[j + 1]; b++)
      if (M->i[b] == k && fabs(M->x[a] * M->x[b]) > size) {
        size = fabs(M->x[a] * M->x[b]);
        best = j;
      }
  }
  start[k] = start[best] = true;
}

/* ---- the run ---- */

static void read_impulses(const state *t, const double *z, double *r) {
  memset(r, 0, (size_t)t->s->row_count * sizeof *r);
  for (int32_t i = 0; i < t->s->contact_count; i++)
    for (int32_t a = 0; a < t->part[i].force; a++) {
      int32_t row = t->s->row[i], v = t->part[i].first + a;
      const double *g = t->generator + (size_t)v * FRIX_MAX_DIM;
      for (int32_t x = 0; x < t->s->contact[i].dim; x++) r[row + x] += t->S[row] * z[v] * g[x];
    }
}

static bool stop(int64_t pivots, const double *z, void *user) {
  state *t = user;
  fx_monitor *monitor = t->call->monitor;
  pivots += t->spent;
  monitor->mark_iteration = pivots; /* a path need not come nearer all the time: no standstill */
  read_impulses(t, z, t->call->r);
  return fx_monitor_check(monitor, pivots, t->call->r);
}

static void report(const state *t, const fx_lemke *lemke, fx_lemke_end end) {
  fx_log(t->call->arena->context, FRIX_LOG_INFO,
         "lemke: %s after %lld pivots, n = %d, artificial variable %.3g, growth %.3g, %d rebuilds",
         fx_lemke_end_name(end), (long long)lemke->pivots, t->n, lemke->artificial, lemke->growth, lemke->rebuilds);
}

/* The path; after a ray, or an end that the certificate does not accept, others. */
static void run(state *t, fx_lemke *lemke, bool *start) {
  const fx_call *call = t->call;
  if (call->option[START] == GUESS && !is_zero(call->r, t->s->row_count)) {
    suggest(t, call->r, call->monitor->u, start);
    lemke->start = start;
  }
  int64_t whole = lemke->pivot_limit;
  for (int32_t k = 0;; k++) {
    lemke->pivot_limit = whole - t->spent;
    fx_lemke_end end = fx_lemke_run(lemke);
    report(t, lemke, end);
    if (end == FX_LEMKE_STOPPED || stop(lemke->pivots, lemke->z, t)) return;
    t->spent += lemke->pivots;
    call->monitor->outcome = end == FX_LEMKE_LIMIT ? FRIX_OUTCOME_MAX_ITERATIONS : FRIX_OUTCOME_STALLED;
    if ((end != FX_LEMKE_RAY && end != FX_LEMKE_SOLVED) || k >= t->n || k >= call->option[RESTARTS]) return;
    suggest_pair(lemke->M, k, start);
    lemke->start = start;
  }
}

static frix_status solve(fx_call *call) {
  fx_system system = *call->system;
  frix_status status = system.has_W ? FRIX_OK : fx_system_assemble(call->arena, &system);
  if (status != FRIX_OK) return status;
  state t = {.s = &system, .call = call, .S = fx_scaling(call->arena, &system)};
  bool keep = call->option[JOINTS] == KEEP;
  if (!t.S) return FRIX_ERROR_MEMORY;
  if ((status = list_variables(call->arena, &t, keep)) != FRIX_OK) return status;
  fx_lemke lemke;
  if ((status = fx_lemke_take(call->arena, t.n, &lemke)) != FRIX_OK) return status;
  double *q = FX_TAKE(call->arena, double, t.n);
  bool *free_row = FX_TAKE(call->arena, bool, t.n), *start = FX_TAKE(call->arena, bool, t.n);
  fx_sparse M;
  if (!q || !free_row || !start) return FRIX_ERROR_MEMORY;
  if ((status = build_matrix(call->arena, &t, call->law, &M)) != FRIX_OK) return status;
  fill_sides(&t, keep, q, free_row);

  lemke.M = &M;
  lemke.q = q;
  lemke.free_row = free_row;
  lemke.stop = stop;
  lemke.user = &t;
  fx_monitor_begin(call->monitor, call->option[PIVOTS] > 0 ? (int64_t)call->option[PIVOTS] : 20 * (int64_t)t.n + 1000);
  lemke.pivot_limit = call->monitor->stage_limit;
  run(&t, &lemke, start);
  fx_sparse_free(call->arena->context, &M);
  return FRIX_OK;
}

const fx_solver fx_solver_lemke = {
    .info = {.name = "lemke",
             .summary = "Lemke's complementary pivoting on the friction pyramid's linear complementarity problem",
             .coulomb = true,
             .associated = true,
             .cones = 1u << FRIX_CONE_FRICTIONLESS | 1u << FRIX_CONE_PYRAMID | 1u << FRIX_CONE_PLANAR |
                      1u << FRIX_CONE_LIMIT | 1u << FRIX_CONE_BILATERAL,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .solve = solve,
};
