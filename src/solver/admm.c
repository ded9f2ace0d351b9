/* admm: proximal alternating directions with De Saxce's shift, in scaled unknowns.
 *
 *   x  = (A + (rho + eta) I)^-1 (rho (z - y) + eta x - q - s e_N)      A = W + R, scaled
 *   z  = P_K(a x + (1 - a) z + y)                                       a over-relaxation
 *   y += a x + (1 - a) z_old - z                                        so u~ = -rho y at the solution
 *   s  = shift of the velocity u~ = -rho y
 *
 * The penalty rho starts between the extreme eigenvalues of A and follows the ratio of primal to dual residual; each
 * change costs one factorisation. References: D. Gabay 1983; J. Carpentier, Q. Le Lidec, L. Montaut, RSS 2024. */
#include "solver/newton_linear.h"
#include "solver/scaling.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

enum { RELAXATION, PENALTY, PROXIMAL };

static const frix_option_info options[] = {
    {"relaxation", FRIX_OPTION_REAL, 1.6, 1, 1.95, NULL, "over-relaxation of x"},
    {"penalty", FRIX_OPTION_REAL, 0, 0, 1e6, NULL, "first penalty in units of the scaled operator; 0: spectral"},
    {"proximal", FRIX_OPTION_REAL, 1e-6, 0, 1, NULL, "proximal term that keeps the linear system regular"},
};

typedef struct state {
  const fx_system *s;
  frix_law law;
  const double *S;
  fx_newton_linear *linear;
  double *B; /* (rho + eta) I, per contact */
  double rho, eta;
  double *q, *x, *z, *y, *z_old, *b, *u;
} state;

/* Largest eigenvalue by power steps from a fixed start. */
static double largest_eigenvalue(state *t) {
  int32_t n = t->s->row_count;
  double size = 1;
  for (int32_t k = 0; k < n; k++) t->x[k] = 1 + 0.1 * (double)(k % 7);
  for (int round = 0; round < 10; round++) {
    double length = sqrt(fx_dot(n, t->x, t->x));
    fx_newton_apply(t->linear, t->x, t->b);
    double grown = sqrt(fx_dot(n, t->b, t->b));
    if (!(grown > 0)) return 1;
    size = grown / length;
    for (int32_t k = 0; k < n; k++) t->x[k] = t->b[k] / grown;
  }
  return size;
}

static frix_status take(state *t, fx_arena *arena, fx_newton_linear *shared) {
  frix_status status = FRIX_OK;
  t->linear = shared ? shared : fx_newton_linear_create(arena, t->s, &status);
  if (!t->linear) return status;
  t->linear->krylov.tolerance = 1e-11; /* its fixed point is that of exact systems */
  t->linear->krylov.limit = 2000;
  t->S = t->linear->S;
  double **vectors[] = {&t->q, &t->x, &t->z, &t->y, &t->z_old, &t->b, &t->u};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    if (!(*vectors[k] = FX_TAKE(arena, double, t->s->row_count))) return FRIX_ERROR_MEMORY;
  t->B = FX_TAKE(arena, double, t->s->diagonal[t->s->contact_count]);
  if (!t->B) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < t->s->row_count; k++) t->q[k] = t->S[k] * t->s->q[k];
  return FRIX_OK;
}

/* Factors A + (rho + eta) I. */
static bool factor(state *t) {
  for (int32_t i = 0; i < t->s->contact_count; i++)
    for (int32_t k = 0, d = t->s->contact[i].dim; k < d; k++) {
      size_t at = t->s->diagonal[i] + (size_t)(k * (d + 1));
      t->B[at] = t->rho + t->eta;
    }
  return fx_newton_factor(t->linear, NULL, t->B);
}

/* Starts from r: z = r / S, and the dual that belongs to its velocity; from nothing, y = 0. */
static void start(state *t, const double *r) {
  int32_t n = t->s->row_count;
  double size = 0;
  for (int32_t k = 0; k < n; k++) t->z[k] = r[k] / t->S[k];
  fx_project_all(t->s, t->z);
  memcpy(t->x, t->z, (size_t)n * sizeof *t->x);
  for (int32_t k = 0; k < n; k++) size += t->z[k] * t->z[k];
  if (!(size > 0)) return;
  fx_newton_apply(t->linear, t->z, t->u);
  for (int32_t k = 0; k < n; k++) t->u[k] += t->q[k];
  if (t->law == FRIX_LAW_COULOMB) fx_shift_all(t->s, t->u);
  for (int32_t k = 0; k < n; k++) t->y[k] = -t->u[k] / t->rho;
}

/* One iteration; returns primal and dual residuals and the change of z relative to z. */
typedef struct progress {
  double primal, dual, change;
} progress;

static progress iterate(state *t, double relaxation) {
  int32_t n = t->s->row_count;
  for (int32_t k = 0; k < n; k++) t->u[k] = -t->rho * t->y[k];
  for (int32_t k = 0; k < n; k++) t->b[k] = t->q[k] - t->rho * (t->z[k] - t->y[k]) - t->eta * t->x[k];
  if (t->law == FRIX_LAW_COULOMB)
    for (int32_t i = 0; i < t->s->contact_count; i++)
      t->b[t->s->row[i]] += fx_cone_shift(&t->s->contact[i], t->u + t->s->row[i]);
  fx_newton_solve_once(t->linear, NULL, t->B, t->b, t->x);
  memcpy(t->z_old, t->z, (size_t)n * sizeof *t->z);
  for (int32_t k = 0; k < n; k++) {
    t->y[k] += relaxation * t->x[k] + (1 - relaxation) * t->z_old[k];
    t->z[k] = t->y[k];
  }
  fx_project_all(t->s, t->z);
  double primal = 0, dual = 0, size = 0;
  for (int32_t k = 0; k < n; k++) {
    t->y[k] -= t->z[k];
    double gap = t->x[k] - t->z[k], moved = t->z[k] - t->z_old[k];
    primal += gap * gap;
    dual += moved * moved;
    size += t->z[k] * t->z[k];
  }
  return (progress){sqrt(primal), t->rho * sqrt(dual), sqrt((dual + primal) / (size > 0 ? size : 1))};
}

/* Follows the ratio of residuals; true when the penalty changed. */
static bool adapt(state *t, progress p) {
  int32_t n = t->s->row_count;
  double impulse = sqrt(fx_dot(n, t->z, t->z)), velocity = t->rho * sqrt(fx_dot(n, t->y, t->y));
  if (!(impulse > 0) || !(velocity > 0) || !(p.primal > 0) || !(p.dual > 0)) return false;
  double ratio = sqrt(p.primal / p.dual * velocity / impulse);
  if (ratio < 3 && ratio > 1.0 / 3) return false;
  if (ratio > 10) ratio = 10;
  if (ratio < 0.1) ratio = 0.1;
  double fresh = t->rho * ratio;
  if (fresh < 1e-6) fresh = 1e-6;
  if (fresh > 1e6) fresh = 1e6;
  if (fresh == t->rho) return false;
  for (int32_t k = 0; k < n; k++) t->y[k] *= t->rho / fresh;
  t->rho = fresh;
  return true;
}

static frix_status solve(fx_call *call) {
  state t = {.s = call->system, .law = call->law, .eta = call->option[PROXIMAL]};
  frix_status status = take(&t, call->arena, call->linear);
  if (status != FRIX_OK) return status;
  t.rho = call->option[PENALTY] > 0 ? call->option[PENALTY] : 0.01 * sqrt(largest_eigenvalue(&t));
  start(&t, call->r);
  bool fresh = true;
  int64_t next_adapt = 10;
  fx_monitor_begin(call->monitor, 20000);
  for (int64_t k = 1;; k++) {
    if (fresh && !factor(&t)) {
      call->monitor->outcome = FRIX_OUTCOME_STALLED; /* an indefinite W can make the system singular */
      return FRIX_OK;
    }
    fresh = false;
    progress p = iterate(&t, call->option[RELAXATION]);
    if (fx_monitor_due(call->monitor, k, p.change)) {
      for (int32_t e = 0; e < t.s->row_count; e++) call->r[e] = t.S[e] * t.z[e];
      if (fx_monitor_check(call->monitor, k, call->r)) return FRIX_OK;
    }
    if (k >= next_adapt) {
      next_adapt = k + 10 + k / 4;
      fresh = adapt(&t, p);
    }
  }
}

const fx_solver fx_solver_admm = {
    .info = {.name = "admm",
             .summary = "proximal alternating directions with De Saxce's shift and adaptive penalty",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .prefers_velocity = true,
    .solve = solve,
};
