/* implicit: unknowns x from which impulse and velocity follow, both lawful by construction; Gauss-Newton on the rest.
 *
 *   res(x) = (A - I) f(x) - x + q = 0,    v(x) = f(x) + x              implicit_cone.h, implicit_model.h
 *   x_N = x - (J'J + lambda I)^-1 J' res,  kept where l = |res|^2 / 2 falls by half of what the model promises;
 *   else the best point of the path x, Cauchy point, x_N, searched piece by piece between the edges it crosses; either
 *   gives way to x_N after a few sweeps where l is less there: they find out what touches and sticks where the step
 *   went over many edges at once.
 *
 * On an edge the Jacobian is J = (d2 J1 + d1 J2) / (d1 + d2) where l rises to both sides (d1, d2 its one-sided slopes),
 * and steps stay on the edge; else it is that of the side where l falls faster. Local minima that are no roots are left
 * as implicit_recover.h says. Reference: E. Todorov, Implicit nonlinear complementarity: a new approach to contact
 * dynamics, ICRA 2010, equations (10) to (29). */
#include "solver/implicit_recover.h"
#include "solver/implicit_search.h"
#include "solver/scaling.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

enum { START, DAMPING, RECOVERY, RECOVERIES };
enum { START_AUTO, START_STICKING, START_WARM, START_ZERO };
enum { SWEEPS = 20 }; /* of a start and of a Newton point: less time than the iterations they save */
enum { RECOVER_MIXED, RECOVER_EDGES, RECOVER_SWEEPS, RECOVER_SCALING };

static const frix_option_info options[] = {
    {"start", FRIX_OPTION_CHOICE, START_AUTO, 0, 3, "auto|sticking|warm|zero",
     "sticking: all contacts stick; warm: from the guess; auto: warm where there is a guess, else sticking and sweeps"},
    {"damping", FRIX_OPTION_REAL, 1e-6, 0, 1, NULL, "first lambda"},
    {"recovery", FRIX_OPTION_CHOICE, RECOVER_MIXED, 0, 3, "mixed|edges|sweeps|scaling",
     "how a local minimum is left: past edges along the residual, by sweeps, both in turn, or with rows weighed anew"},
    {"recoveries", FRIX_OPTION_INTEGER, 100, 0, 1000, NULL, "how often"},
};

static const double least_damping = 1e-14, most_damping = 1e6;

typedef struct state {
  fx_implicit m;
  fx_implicit_search search;
  double *x, *res, *newton, *cauchy, *dx, *g, *rho, *z, *trial;
  unsigned *edge, *active; /* per contact: edges x lies on, and those it may not leave */
  double merit, lambda;
  double mark;  /* merit when its progress was last found good */
  int32_t slow; /* iterations since */
} state;

/* ---- edges ---- */

/* Slope of l along direction d of contact i when its P is given. */
static double slope_along(const state *t, int32_t i, const double *P, const double *d) {
  int32_t n = t->m.contact[i].dim;
  const double *z = t->z + t->m.row[i], *rho = t->rho + t->m.row[i];
  double sum = 0;
  for (int32_t a = 0; a < n; a++) {
    double moved = 0;
    for (int32_t b = 0; b < n; b++) moved += P[a * n + b] * d[b];
    sum -= z[a] * moved + rho[a] * d[a];
  }
  return sum;
}

/* Chooses between the two sides of an edge, outer (break, slip) and inner; true: the edge is active and P their mean.
 */
static bool choose_side(const state *t, int32_t i, const double *d, const double *outer, const double *inner,
                        double *P) {
  size_t size = (size_t)(t->m.contact[i].dim * t->m.contact[i].dim);
  double out = slope_along(t, i, outer, d), in = -slope_along(t, i, inner, d);
  if (out < 0 || in < 0 || !(out + in > 0)) {
    memcpy(P, out < in ? outer : inner, size * sizeof *P);
    return false;
  }
  for (size_t e = 0; e < size; e++) P[e] = (in * outer[e] + out * inner[e]) / (out + in);
  return true;
}

/* B := B (I - e e'), e = the part of d that B keeps, so that several normals can be taken out. */
static void forbid(int32_t n, double *B, const double *d) {
  double e[FRIX_MAX_DIM] = {0}, size = 0;
  for (int32_t a = 0; a < n; a++) {
    for (int32_t b = 0; b < n; b++) e[a] += B[a * n + b] * d[b];
    size += e[a] * e[a];
  }
  if (!(size > 1e-20)) return;
  for (int32_t a = 0; a < n; a++)
    for (int32_t b = 0; b < n; b++) B[a * n + b] -= e[a] * e[b] / size;
}

/* P and B of contact i, and which of its edges are active. */
static void classify(state *t, int32_t i) {
  const fx_implicit_contact *c = &t->m.contact[i];
  const double *x = t->x + t->m.row[i];
  double *P = t->m.P + t->m.diagonal[i], *B = t->m.B + t->m.diagonal[i], d[FRIX_MAX_DIM];
  double outer[FRIX_MAX_DIM * FRIX_MAX_DIM], inner[FRIX_MAX_DIM * FRIX_MAX_DIM];
  fx_implicit_region region = fx_implicit_region_at(c, x), other;
  fx_implicit_slope(c, region, x, P);
  memset(B, 0, (size_t)(c->dim * c->dim) * sizeof *B);
  for (int32_t a = 0; a < c->dim; a++) B[a * c->dim + a] = 1;
  t->active[i] = 0;
  if (t->edge[i] & FX_EDGE_PLANE) {
    region.touch = true;
    fx_implicit_slope(c, region, x, inner);
    memset(outer, 0, sizeof outer);
    fx_implicit_normal(c, FX_EDGE_PLANE, x, d);
    if (choose_side(t, i, d, outer, inner, P)) {
      t->active[i] |= FX_EDGE_PLANE;
      forbid(c->dim, B, d);
    }
    return;
  }
  for (int32_t k = 0; k < c->disc_count && region.touch; k++) {
    if (!(t->edge[i] & FX_EDGE_CONE(k))) continue;
    other = region;
    region.stick[k] = true;
    other.stick[k] = false;
    fx_implicit_slope(c, region, x, inner);
    fx_implicit_slope(c, other, x, outer);
    fx_implicit_normal(c, FX_EDGE_CONE(k), x, d);
    if (choose_side(t, i, d, outer, inner, P)) {
      t->active[i] |= FX_EDGE_CONE(k);
      forbid(c->dim, B, d);
    } else {
      region.stick[k] = !memcmp(P, inner, (size_t)(c->dim * c->dim) * sizeof *P);
    }
  }
}

/* ---- steps ---- */

/* Model at x: slopes, active edges, Jacobian, gradient on the edges' tangent space. */
static void linearize(state *t) {
  fx_implicit_weigh(&t->m, t->res, t->rho, t->z);
  for (int32_t i = 0; i < t->m.contact_count; i++) classify(t, i);
  fx_implicit_jacobian(&t->m);
  for (int32_t i = 0; i < t->m.contact_count; i++)
    for (int32_t k = t->m.row[i]; k < t->m.row[i + 1]; k++) t->trial[k] = t->m.weight[i] * t->res[k];
  memset(t->g, 0, (size_t)t->m.row_count * sizeof *t->g);
  fx_block_transpose_multiply_add(&t->m.J, t->trial, t->g);
}

/* |J d|^2 */
static double curvature(state *t, const double *d) {
  memset(t->trial, 0, (size_t)t->m.row_count * sizeof *t->trial);
  fx_block_multiply_add(&t->m.J, d, t->trial);
  return fx_dot(t->m.row_count, t->trial, t->trial);
}

/* x + s d, back on the active edges. */
static void step_to(const state *t, double s, const double *d, double *out) {
  for (int32_t k = 0; k < t->m.row_count; k++) out[k] = t->x[k] + s * d[k];
  fx_implicit_keep_edges(&t->m, t->active, out);
}

static void accept(state *t, const double *x, const unsigned *edge) {
  memcpy(t->x, x, (size_t)t->m.row_count * sizeof *x);
  memcpy(t->edge, edge, (size_t)t->m.contact_count * sizeof *edge);
  t->merit = fx_implicit_residual(&t->m, t->x, t->res);
}

/* The Newton point after sweeps, where l is less than `value`. */
static bool accept_swept(state *t, double value) {
  fx_implicit_sweeps(&t->m, SWEEPS, t->newton);
  if (!(fx_implicit_residual(&t->m, t->newton, t->trial) < value)) return false;
  memset(t->search.best_edge, 0, (size_t)t->m.contact_count * sizeof *t->search.best_edge);
  accept(t, t->newton, t->search.best_edge);
  return true;
}

/* One iteration; false at a local minimum. */
static bool iterate(state *t) {
  int32_t n = t->m.row_count;
  linearize(t);
  double slope = fx_dot(n, t->g, t->g);
  if (!(slope > 0)) return false;

  /* Newton point. */
  bool good = fx_implicit_step(&t->m, t->lambda, t->res, t->dx);
  if (good) {
    step_to(t, 1, t->dx, t->newton);
    double promised = -fx_dot(n, t->g, t->dx) - 0.5 * (curvature(t, t->dx) + t->lambda * fx_dot(n, t->dx, t->dx));
    double reached = fx_implicit_residual(&t->m, t->newton, t->trial);
    if (t->merit - reached >= 0.5 * promised && reached < t->merit) {
      t->lambda = t->lambda * 0.1 > least_damping ? t->lambda * 0.1 : least_damping;
      accept(t, t->newton, t->active);
      accept_swept(t, reached);
      return true;
    }
  }

  /* Dogleg through the Cauchy point, piece by piece. */
  double length = slope / (curvature(t, t->g) + t->lambda * slope);
  t->lambda = t->lambda * 4 < most_damping ? t->lambda * 4 : most_damping;
  step_to(t, -length, t->g, t->cauchy);
  fx_implicit_search_begin(&t->search, t->merit * (1 - 1e-12), t->active);
  fx_implicit_search_segment(&t->search, &t->m, t->x, t->cauchy);
  if (good) fx_implicit_search_segment(&t->search, &t->m, t->cauchy, t->newton);
  if (good && accept_swept(t, t->search.value)) return true;
  if (!t->search.found) return false;
  accept(t, t->search.best, t->search.best_edge);
  return true;
}

/* ---- leaving a local minimum ---- */

/* l fell by less than a third in five iterations: near a minimum that is no root, where J is nearly singular. */
static bool crawls(state *t) {
  if (t->merit < 0.7 * t->mark) {
    t->mark = t->merit;
    t->slow = 0;
  }
  return ++t->slow > 5;
}

/* The longer it takes, the farther the jump; shaken now and then, so that two minima do not lead to each other for
 * ever.
 */
static void leave(state *t, int way, int64_t round) {
  int doubled = (int)(round / 4 < 16 ? round / 4 : 16);
  if (round % 4 == 0) fx_implicit_shake(&t->m, (uint32_t)round, t->x);
  if (way == RECOVER_MIXED) way = round % 2 ? RECOVER_EDGES : RECOVER_SWEEPS;
  if (way == RECOVER_EDGES)
    fx_implicit_search_ray(&t->search, &t->m, 1 << doubled, t->res, t->x);
  else if (way == RECOVER_SWEEPS)
    fx_implicit_sweeps(&t->m, 100 << (doubled < 6 ? doubled : 6), t->x);
  else
    fx_implicit_reweigh(&t->m, round % 2 != 0, t->res);
  memset(t->edge, 0, (size_t)t->m.contact_count * sizeof *t->edge);
  t->lambda = 1e-4;
  t->merit = t->mark = fx_implicit_residual(&t->m, t->x, t->res);
  t->slow = 0;
}

/* ---- start and loop ---- */

static frix_status take(fx_arena *arena, const fx_system *s, state *t) {
  double **vectors[] = {&t->x, &t->res, &t->newton, &t->cauchy, &t->dx, &t->g, &t->rho, &t->z, &t->trial};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    if (!(*vectors[k] = FX_TAKE(arena, double, s->row_count))) return FRIX_ERROR_MEMORY;
  t->edge = FX_TAKE(arena, unsigned, s->contact_count);
  t->active = FX_TAKE(arena, unsigned, s->contact_count);
  if (!t->edge || !t->active) return FRIX_ERROR_MEMORY;
  frix_status status = fx_implicit_build(arena, s, &t->m);
  return status == FRIX_OK ? fx_implicit_search_take(arena, &t->m, &t->search) : status;
}

/* v = 0: A f = -q in the least-squares sense, x = -f: the step from x = 0 with every contact sticking. */
static void start_sticking(state *t) {
  const fx_implicit *m = &t->m;
  for (int32_t i = 0; i < m->contact_count; i++) {
    int32_t d = m->contact[i].dim;
    for (int32_t a = 0; a < d; a++)
      for (int32_t b = 0; b < d; b++)
        m->B[m->diagonal[i] + (size_t)(a * d + b)] = m->P[m->diagonal[i] + (size_t)(a * d + b)] = a == b;
  }
  fx_implicit_jacobian(&t->m);
  if (!fx_implicit_step(&t->m, 1e-12, m->q, t->x)) memset(t->x, 0, (size_t)m->row_count * sizeof *t->x);
}

static bool any(const double *r, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (r[k] != 0) return true;
  return false;
}

/* Returns the iterations it took. */
static int64_t start(state *t, fx_call *call) {
  int choice = (int)call->option[START];
  bool cold = choice == START_AUTO && !any(call->r, t->m.row_count);
  if (choice == START_AUTO) choice = cold ? START_STICKING : START_WARM;
  if (choice == START_STICKING) {
    start_sticking(t);
    if (cold) fx_implicit_sweeps(&t->m, SWEEPS, t->x);
  } else if (choice == START_WARM) {
    fx_system_velocity(call->system, call->r, call->monitor->u, call->monitor->v);
    fx_implicit_warm(&t->m, call->r, call->monitor->u, t->x);
  } else {
    memcpy(t->x, t->m.q, (size_t)t->m.row_count * sizeof *t->x);
  }
  t->merit = t->mark = fx_implicit_residual(&t->m, t->x, t->res);
  return choice == START_STICKING;
}

static frix_status solve(fx_call *call) {
  fx_system system = *call->system;
  if (!system.has_W) {
    frix_status status = fx_system_assemble(call->arena, &system);
    if (status != FRIX_OK) return status;
  }
  state t = {.lambda = call->option[DAMPING] > least_damping ? call->option[DAMPING] : least_damping};
  frix_status status = take(call->arena, &system, &t);
  if (status != FRIX_OK) return status;

  fx_monitor_begin(call->monitor, 1000);
  int64_t recovery = 0;
  for (int64_t k = start(&t, call);; k++) {
    fx_implicit_impulse(&t.m, t.x, 0, call->r);
    if (fx_monitor_check(call->monitor, k, call->r)) return FRIX_OK;
    if (t.merit <= 1e-28 * (t.m.size * t.m.size)) {
      /* Solved up to rounding: what the certificate still sees are impulses that are nothing but rounding. */
      fx_implicit_impulse(&t.m, t.x, 1e-12, call->r);
      if (!fx_monitor_check(call->monitor, k, call->r)) call->monitor->outcome = FRIX_OUTCOME_STALLED;
      return FRIX_OK;
    }
    if (iterate(&t) && !crawls(&t)) continue;
    if (recovery++ >= (int64_t)call->option[RECOVERIES]) {
      call->monitor->outcome = FRIX_OUTCOME_STALLED; /* a local minimum of l */
      return FRIX_OK;
    }
    leave(&t, (int)call->option[RECOVERY], recovery);
  }
}

const fx_solver fx_solver_implicit = {
    .info = {.name = "implicit",
             .summary = "Gauss-Newton on unknowns that satisfy the law by construction (implicit complementarity)",
             .coulomb = true,
             .cones = FX_ALL_CONES & ~(1u << FRIX_CONE_PYRAMID),
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .solve = solve,
};
