/* newton: pseudo-transient semismooth Newton on the normal map, in scaled unknowns.
 *
 *   (A P + B) dx = -G                                              see normal_map.h
 *
 * delta is the inverse of a pseudo time step: it keeps the system regular where forces are not unique, falls while the
 * linear model predicts well and grows where it does not. |G| may grow on the way: piecewise smooth maps need it.
 * Reference: C. T. Kelley, D. E. Keyes, Convergence analysis of pseudo-transient continuation, 1998. */
#include "solver/normal_map.h"
#include "solver/scaling.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

enum { PATIENCE, LINEAR };

static const frix_option_info options[] = {
    {"patience", FRIX_OPTION_INTEGER, 400, 1, 1e6, NULL, "iterations without half the residual before it gives up"},
    {"linear", FRIX_OPTION_CHOICE, 0, 0, 3, "auto|direct|krylov|jacobi",
     "its linear systems: factors, or iteration with incomplete factors or diagonal blocks"},
};

typedef struct state {
  fx_normal_map map;
  double *x, *z, *G, *dx, *trial, *trial_z, *trial_G;
  double delta;
  bool linear;     /* equations alone: P and B change with delta only */
  double factored; /* delta of the last factorisation of such a system, as it counts; 0: none */
  double drive;    /* |q| */
  int exact;       /* steps in a row after which |G| was rounding */
  int drifting;    /* steps in a row that changed |G| by less than 5 % */
  double shrink;   /* how fast delta may fall: slower after it fell too far, faster again while the model holds */
} state;

/* Relative residual of the linear systems where they are solved by iteration: steps need not be better than the model
 * they come from. */
static const double step_tolerance = 0.1;

static const double rounding = 4e-16;   /* of |G|, relative to |q| + |z| */
static const double last_digit = 1e-14; /* residual that steps do not halve any more: less than that cannot be had */
enum { EXACT_STEPS = 2 };

static bool is_linear(const fx_system *s) {
  for (int32_t i = 0; i < s->contact_count; i++)
    if (s->contact[i].cone != FRIX_CONE_BILATERAL) return false;
  return s->contact_count > 0;
}

static bool newton_step(state *t) {
  fx_normal_map *m = &t->map;
  double delta = t->linear ? fx_normal_map_delta(m, 0, t->delta) : 0;
  if (!(delta > 0 && delta == t->factored)) {
    fx_normal_map_differentiate(m, t->x, t->z, t->delta);
    m->linear->krylov.tolerance = step_tolerance;
    m->linear->krylov.limit = 400;
    t->factored = 0;
    if (!fx_newton_factor(m->linear, m->P, m->B)) return false;
    t->factored = delta;
  }
  fx_newton_solve(m->linear, m->P, m->B, t->G, t->dx);
  return true;
}

static double try_step(state *t, double length) {
  for (int32_t k = 0; k < t->map.s->row_count; k++) t->trial[k] = t->x[k] + length * t->dx[k];
  return fx_normal_map_evaluate(&t->map, t->trial, t->trial_z, t->trial_G);
}

static void accept(state *t) {
  size_t bytes = (size_t)t->map.s->row_count * sizeof(double);
  memcpy(t->x, t->trial, bytes);
  memcpy(t->z, t->trial_z, bytes);
  memcpy(t->G, t->trial_G, bytes);
}

/* Error of the linear model over a full step: |G(x + dx) + delta dx| / |G|. */
static double model_error(const state *t, double norm) {
  double sum = 0;
  for (int32_t i = 0; i < t->map.s->contact_count; i++)
    for (int32_t k = t->map.s->row[i]; k < t->map.s->row[i + 1]; k++) {
      double e = t->trial_G[k] + fx_normal_map_delta(&t->map, i, t->delta) * t->dx[k];
      sum += e * e;
    }
  return sqrt(sum) / norm;
}

/* One Newton step with its control of delta; returns the new |G|. */
static double advance(state *t, double norm) {
  if (!newton_step(t)) {
    t->delta *= 10;
    return norm;
  }
  double fresh = try_step(t, 1);
  if (fresh <= 20 * norm) {
    double error = model_error(t, norm);
    accept(t);
    if (error < 0.05) {
      t->delta *= t->shrink;
      t->shrink = fmax(0.03, 0.6 * t->shrink);
    } else if (error < 0.3) {
      t->delta *= fmax(0.3, t->shrink);
    } else if (error < 0.8) {
      /* |G| neither falls nor grows while x drifts along a direction the law hardly feels: hold x tighter. */
      t->drifting = fabs(fresh - norm) < 0.05 * norm ? t->drifting + 1 : 0;
      if (t->drifting > 3) t->delta *= 2;
    } else {
      t->delta *= 2;
      t->shrink = fmin(0.8, sqrt(t->shrink));
    }
    if (t->delta < 1e-9) t->delta = 1e-9;
    return fresh;
  }
  t->delta *= 4;
  t->shrink = fmin(0.8, sqrt(t->shrink));
  static const double shorter[] = {0.5, 0.2};
  for (int k = 0; k < 2; k++) {
    fresh = try_step(t, shorter[k]);
    if (fresh > 0.98 * norm || isnan(fresh)) continue;
    accept(t);
    return fresh;
  }
  return norm;
}

static frix_status take(state *t, fx_arena *arena, fx_newton_linear *shared, fx_linear_choice choice) {
  frix_status status = fx_normal_map_take(&t->map, arena, shared, choice);
  double **vectors[] = {&t->x, &t->z, &t->G, &t->dx, &t->trial, &t->trial_z, &t->trial_G};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors && status == FRIX_OK; k++)
    if (!(*vectors[k] = FX_TAKE(arena, double, t->map.s->row_count))) status = FRIX_ERROR_MEMORY;
  return status;
}

/* x = z - u~ at the start r, and delta by how far it is from the law. */
static double start(state *t, const double *r) {
  int32_t n = t->map.s->row_count;
  bool warm = false;
  for (int32_t k = 0; k < n; k++) warm |= r[k] != 0;
  double norm = fx_normal_map_start(&t->map, r, t->x, t->z, t->G), drive = sqrt(fx_dot(n, t->map.q, t->map.q));
  t->linear = is_linear(t->map.s);
  t->drive = drive;
  t->delta = 0.1;
  t->shrink = 0.03;
  if (warm) t->delta = norm > drive ? 1 : norm < 1e-8 * drive ? 1e-8 : norm / drive;
  return norm;
}

/* |G| of a jointed island is rounding of its own terms, and stayed so: what the certificate still sees is rounding of
 * the velocities the impulses are added to, and no method comes nearer. Impulses without end are no such answer. */
static bool is_exact(state *t, double norm) {
  int32_t n = t->map.s->row_count;
  if (t->map.s->joint_first == t->map.s->contact_count) return false;
  double size = sqrt(fx_dot(n, t->z, t->z));
  bool small = size <= 1e3 * t->drive && norm <= rounding * (t->drive + size);
  t->exact = small ? t->exact + 1 : 0;
  return t->exact >= EXACT_STEPS;
}

static frix_status solve(fx_call *call) {
  state t = {.map = {.s = call->system, .law = call->law}};
  frix_status status = take(&t, call->arena, call->linear, (fx_linear_choice)call->option[LINEAR]);
  if (status != FRIX_OK) return status;
  double norm = start(&t, call->r), mark = INFINITY;
  int64_t marked = 0;
  fx_monitor_begin(call->monitor, 2000);
  for (int64_t k = 1;; k++) {
    norm = advance(&t, norm);
    for (int32_t e = 0; e < t.map.s->row_count; e++) call->r[e] = t.map.S[e] * t.z[e];
    if (fx_monitor_check(call->monitor, k, call->r)) return FRIX_OK;
    if (call->monitor->residual < 0.5 * mark) {
      mark = call->monitor->residual;
      marked = k;
    }
    call->monitor->exact = is_exact(&t, norm);
    bool rounded = call->monitor->best <= last_digit && k - marked >= EXACT_STEPS;
    if (call->monitor->exact || rounded || !(t.delta < 1e8) || isnan(norm) ||
        k - marked > (int64_t)call->option[PATIENCE]) {
      call->monitor->outcome = FRIX_OUTCOME_STALLED;
      return FRIX_OK;
    }
  }
}

const fx_solver fx_solver_newton = {
    .info = {.name = "newton",
             .summary = "pseudo-transient semismooth Newton on the normal map",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .prefers_velocity = true,
    .solve = solve,
};
