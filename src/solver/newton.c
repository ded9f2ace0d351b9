/* newton: pseudo-transient semismooth Newton on the normal map, in scaled unknowns.
 *
 *   z = P_K(x),   y = z - x,   G(x) = u(z) + s(y) e_N - y          zero iff z obeys the law, and then y = u~
 *   dz = P dx,    B = (I - P) - e_N s'(y) (I - P) + delta I,       P = dP_K(x)
 *   (A P + B) dx = -G                                              A = W + R, scaled; see newton_linear.h
 *
 * delta is the inverse of a pseudo time step: it keeps the system regular where forces are not unique, falls while the
 * linear model predicts well and grows where it does not. |G| may grow on the way: piecewise smooth maps need it.
 * Reference: C. T. Kelley, D. E. Keyes, Convergence analysis of pseudo-transient continuation, 1998. */
#include "problem/cone_slope.h"
#include "solver/newton_linear.h"
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
  const fx_system *s;
  frix_law law;
  const double *S;
  fx_newton_linear *linear;
  double *q, *x, *z, *G, *dx, *trial, *trial_z, *trial_G;
  double *P, *B; /* per contact, at the offsets of s->diagonal */
  double delta;
  int drifting;  /* steps in a row that changed |G| by less than 5 % */
  double shrink; /* how fast delta may fall: slower after it fell too far, faster again while the model holds */
} state;

/* z and G at x; returns |G|. */
static double evaluate(state *t, const double *x, double *z, double *G) {
  const fx_system *s = t->s;
  memcpy(z, x, (size_t)s->row_count * sizeof *z);
  fx_project_all(s, z);
  fx_newton_apply(t->linear, z, G);
  double sum = 0;
  for (int32_t i = 0; i < s->contact_count; i++) {
    double y[FRIX_MAX_DIM];
    int32_t row = s->row[i], d = s->contact[i].dim;
    for (int32_t k = 0; k < d; k++) y[k] = z[row + k] - x[row + k];
    if (t->law == FRIX_LAW_COULOMB) G[row] += fx_cone_shift(&s->contact[i], y);
    for (int32_t k = 0; k < d; k++) {
      G[row + k] += t->q[row + k] - y[k];
      sum += G[row + k] * G[row + k];
    }
  }
  return sqrt(sum);
}

static double delta_of(const state *t, int32_t i) {
  return t->s->contact[i].cone == FRIX_CONE_BILATERAL && t->delta > 1e-6 ? 1e-6 : t->delta;
}

/* P and B of every contact at x. */
static void differentiate(state *t) {
  const fx_system *s = t->s;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t row = s->row[i], d = s->contact[i].dim;
    double *P = t->P + s->diagonal[i], *B = t->B + s->diagonal[i], y[FRIX_MAX_DIM], g[FRIX_MAX_DIM];
    fx_cone_project_slope(&s->contact[i], t->x + row, P);
    for (int32_t k = 0; k < d * d; k++) B[k] = -P[k];
    for (int32_t k = 0; k < d; k++) B[k * (d + 1)] += 1;
    if (t->law == FRIX_LAW_COULOMB) {
      for (int32_t k = 0; k < d; k++) y[k] = t->z[row + k] - t->x[row + k];
      fx_cone_shift_slope(&s->contact[i], y, g);
      for (int32_t a = 1; a < d; a++) /* dy = -(I - P) dx, so the shift enters with a minus */
        for (int32_t b = 0; b < d; b++) B[b] -= g[a] * B[a * d + b];
    }
    for (int32_t k = 0; k < d; k++) B[k * (d + 1)] += delta_of(t, i);
  }
}

/* Relative residual of the linear systems where they are solved by iteration: steps need not be better than the model
 * they come from. */
static const double step_tolerance = 0.1;

static bool newton_step(state *t) {
  differentiate(t);
  t->linear->krylov.tolerance = step_tolerance;
  t->linear->krylov.limit = 400;
  if (!fx_newton_factor(t->linear, t->P, t->B)) return false;
  fx_newton_solve(t->linear, t->P, t->B, t->G, t->dx);
  return true;
}

static double try_step(state *t, double length) {
  for (int32_t k = 0; k < t->s->row_count; k++) t->trial[k] = t->x[k] + length * t->dx[k];
  return evaluate(t, t->trial, t->trial_z, t->trial_G);
}

static void accept(state *t) {
  size_t bytes = (size_t)t->s->row_count * sizeof(double);
  memcpy(t->x, t->trial, bytes);
  memcpy(t->z, t->trial_z, bytes);
  memcpy(t->G, t->trial_G, bytes);
}

/* Error of the linear model over a full step: |G(x + dx) + delta dx| / |G|. */
static double model_error(const state *t, double norm) {
  double sum = 0;
  for (int32_t i = 0; i < t->s->contact_count; i++)
    for (int32_t k = t->s->row[i]; k < t->s->row[i + 1]; k++) {
      double e = t->trial_G[k] + delta_of(t, i) * t->dx[k];
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
  frix_status status = FRIX_OK;
  t->linear = shared && choice == FX_LINEAR_AUTO ? shared : fx_newton_linear_create_as(arena, t->s, choice, &status);
  if (!t->linear) return status;
  t->S = t->linear->S;
  double **vectors[] = {&t->q, &t->x, &t->z, &t->G, &t->dx, &t->trial, &t->trial_z, &t->trial_G};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    if (!(*vectors[k] = FX_TAKE(arena, double, t->s->row_count))) return FRIX_ERROR_MEMORY;
  t->P = FX_TAKE(arena, double, t->s->diagonal[t->s->contact_count]);
  t->B = FX_TAKE(arena, double, t->s->diagonal[t->s->contact_count]);
  if (!t->P || !t->B) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < t->s->row_count; k++) t->q[k] = t->S[k] * t->s->q[k];
  return FRIX_OK;
}

/* x = z - u~ at the start r, and delta by how far it is from the law. */
static double start(state *t, const double *r) {
  int32_t n = t->s->row_count;
  bool warm = false;
  for (int32_t k = 0; k < n; k++) {
    t->z[k] = r[k] / t->S[k];
    warm |= r[k] != 0;
  }
  fx_project_all(t->s, t->z);
  fx_newton_apply(t->linear, t->z, t->G);
  for (int32_t k = 0; k < n; k++) t->G[k] += t->q[k];
  if (t->law == FRIX_LAW_COULOMB) fx_shift_all(t->s, t->G);
  for (int32_t i = 0; i < t->s->contact_count; i++)
    for (int32_t k = t->s->row[i]; k < t->s->row[i + 1]; k++)
      t->x[k] = t->s->contact[i].cone == FRIX_CONE_BILATERAL ? t->z[k] : t->z[k] - t->G[k];
  double norm = evaluate(t, t->x, t->z, t->G), drive = sqrt(fx_dot(n, t->q, t->q));
  t->delta = 0.1;
  t->shrink = 0.03;
  if (warm) t->delta = norm > drive ? 1 : norm < 1e-8 * drive ? 1e-8 : norm / drive;
  return norm;
}

static frix_status solve(fx_call *call) {
  state t = {.s = call->system, .law = call->law};
  frix_status status = take(&t, call->arena, call->linear, (fx_linear_choice)call->option[LINEAR]);
  if (status != FRIX_OK) return status;
  double norm = start(&t, call->r), mark = INFINITY;
  int64_t marked = 0;
  fx_monitor_begin(call->monitor, 2000);
  for (int64_t k = 1;; k++) {
    norm = advance(&t, norm);
    for (int32_t e = 0; e < t.s->row_count; e++) call->r[e] = t.S[e] * t.z[e];
    if (fx_monitor_check(call->monitor, k, call->r)) return FRIX_OK;
    if (call->monitor->residual < 0.5 * mark) {
      mark = call->monitor->residual;
      marked = k;
    }
    if (!(t.delta < 1e8) || isnan(norm) || k - marked > (int64_t)call->option[PATIENCE]) {
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
