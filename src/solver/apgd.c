/* apgd: accelerated projected gradient with restart.
 *
 *   g = u(y) + s(u) e_N     z' = P_K(y - t g)     y = z' + beta (z' - z)
 *
 * For the associated law this minimises 1/2 r'Wr + q'r over the cone; for Coulomb's law the shift s is refreshed with
 * every gradient, which makes it a fixed-point iteration for the exact law. The step t follows a local Lipschitz
 * estimate (backtracking, slow growth); momentum restarts when it points uphill. References: Y. Nesterov 1983; B.
 * O'Donoghue, E. Candes 2015 (restart); H. Mazhar et al., ACM TOG 2015 (contact). */
#include "solver/scaling.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

typedef struct state {
  const fx_system *s;
  frix_law law;
  const double *S;
  double *z, *next, *y, *g, *g_next, *r, *v;
  double lipschitz;
} state;

static void gradient(state *t, const double *z, double *g) {
  fx_scaled_velocity(t->s, t->S, z, t->r, t->v, g);
  if (t->law == FRIX_LAW_COULOMB) fx_shift_all(t->s, g);
}

/* next = P(y - g / L), L raised until the gradient changes by no more than L along the step. */
static void step(state *t) {
  int32_t n = t->s->row_count;
  for (int attempt = 0; attempt < 40; attempt++) {
    for (int32_t k = 0; k < n; k++) t->next[k] = t->y[k] - t->g[k] / t->lipschitz;
    fx_project_all(t->s, t->next);
    gradient(t, t->next, t->g_next);
    double moved = 0, turned = 0;
    for (int32_t k = 0; k < n; k++) {
      double dz = t->next[k] - t->y[k], dg = t->g_next[k] - t->g[k];
      moved += dz * dz;
      turned += dz * dg;
    }
    if (turned <= t->lipschitz * moved || !(moved > 0)) return;
    double wanted = 1.05 * turned / moved;
    t->lipschitz = wanted > 1.5 * t->lipschitz ? wanted : 1.5 * t->lipschitz;
  }
}

/* Largest eigenvalue of the scaled operator by a few power steps from a fixed start. */
static double estimate_lipschitz(state *t) {
  int32_t n = t->s->row_count;
  double size = 0;
  for (int32_t k = 0; k < n; k++) t->y[k] = 1 + 0.1 * (double)(k % 7);
  memset(t->next, 0, (size_t)n * sizeof *t->next);
  fx_scaled_velocity(t->s, t->S, t->next, t->r, t->v, t->g); /* u at rest, to subtract */
  for (int round = 0; round < 4; round++) {
    fx_scaled_velocity(t->s, t->S, t->y, t->r, t->v, t->g_next);
    double length = sqrt(fx_dot(n, t->y, t->y));
    for (int32_t k = 0; k < n; k++) t->g_next[k] -= t->g[k];
    double grown = sqrt(fx_dot(n, t->g_next, t->g_next));
    if (!(grown > 0)) return 1;
    size = grown / length;
    for (int32_t k = 0; k < n; k++) t->y[k] = t->g_next[k] / grown;
  }
  return size;
}

static frix_status take(state *t, fx_arena *arena) {
  double **vectors[] = {&t->z, &t->next, &t->y, &t->g, &t->g_next, &t->r};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    if (!(*vectors[k] = FX_TAKE(arena, double, t->s->row_count))) return FRIX_ERROR_MEMORY;
  t->S = fx_scaling(arena, t->s);
  t->v = FX_TAKE(arena, double, t->s->dof_count);
  return t->S && t->v ? FRIX_OK : FRIX_ERROR_MEMORY;
}

static frix_status solve(fx_call *call) {
  state t = {.s = call->system, .law = call->law};
  frix_status status = take(&t, call->arena);
  if (status != FRIX_OK) return status;
  int32_t n = t.s->row_count;
  t.lipschitz = estimate_lipschitz(&t);
  for (int32_t k = 0; k < n; k++) t.z[k] = call->r[k] / t.S[k];
  fx_project_all(t.s, t.z);
  memcpy(t.y, t.z, (size_t)n * sizeof *t.y);
  gradient(&t, t.y, t.g);

  double theta = 1;
  fx_monitor_begin(call->monitor, 50000);
  for (int64_t k = 1;; k++) {
    step(&t);
    double uphill = 0, change = 0, size = 0;
    for (int32_t e = 0; e < n; e++) {
      double dz = t.next[e] - t.z[e];
      uphill += (t.y[e] - t.next[e]) * dz;
      change += dz * dz;
      size += t.next[e] * t.next[e];
    }
    double theta_next = 0.5 * (1 + sqrt(1 + 4 * theta * theta)), beta = (theta - 1) / theta_next;
    bool restart = uphill > 0;
    if (restart) {
      theta_next = 1;
      beta = 0;
    }
    for (int32_t e = 0; e < n; e++) t.y[e] = t.next[e] + beta * (t.next[e] - t.z[e]);
    memcpy(t.z, t.next, (size_t)n * sizeof *t.z);
    theta = theta_next;
    t.lipschitz *= 0.97;
    if (fx_monitor_due(call->monitor, k, sqrt(change / (size > 0 ? size : 1)))) {
      for (int32_t e = 0; e < n; e++) call->r[e] = t.S[e] * t.z[e];
      if (fx_monitor_check(call->monitor, k, call->r)) return FRIX_OK;
    }
    if (restart)
      memcpy(t.g, t.g_next, (size_t)n * sizeof *t.g); /* y is z: its gradient is known */
    else
      gradient(&t, t.y, t.g);
  }
}

const fx_solver fx_solver_apgd = {
    .info = {.name = "apgd",
             .summary = "accelerated projected gradient with restart, shift refreshed every step",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES},
    .solve = solve,
};
