/* interior_point: a second-order cone programme, or a quadratic one where all cones are polyhedral; and the exact law
 * by the same steps.
 *
 *   min 1/2 r'(W + R) r + q'r   over r in K          law associated: the convex relaxation, one solve per step
 *
 * Primal-dual with Nesterov-Todd scaling and Mehrotra's corrector, finished by semismooth Newton (conic.c). W may be
 * slightly nonsymmetric or indefinite, as files have it: it is used as it is, so that what is certified is the law for
 * the very W that was given. Under the exact law (conic_interior.c) nothing is sure any more, but most problems take no
 * longer than their relaxation; where it stalls, it starts again and stays nearer to the centre. */
#include "solver/conic.h"
#include "solver/scaling.h"
#include "solver/solver.h"

static bool is_zero(const double *x, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (x[k] != 0) return false;
  return true;
}

typedef struct progress {
  fx_call *call;
  int64_t before; /* steps of earlier runs */
} progress;

static bool check(fx_conic *c, void *user) {
  const progress *p = user;
  double *r = p->call->r;
  for (int32_t k = 0; k < c->row_count; k++) r[k] = c->S[k] * c->x[k];
  fx_project_all(c->s, r);
  return fx_monitor_check(p->call->monitor, p->before + c->steps, r);
}

static frix_status solve(fx_call *call) {
  fx_conic conic;
  frix_status status = fx_conic_setup(call->arena, call->system, NULL, call->linear, &conic);
  if (status != FRIX_OK) return status;
  conic.exact = call->law == FRIX_LAW_COULOMB;
  fx_monitor_begin(call->monitor, 200);
  progress seen = {call, 0};
  fx_conic_run run = {.max_steps = 1000, .stop = check, .user = &seen};
  run.warm = !conic.exact && !is_zero(call->r, conic.row_count);
  if (run.warm) {
    fx_project_all(conic.s, call->r);
    for (int32_t k = 0; k < conic.row_count; k++) conic.x[k] = call->r[k] / conic.S[k];
    fx_conic_warm(&conic);
  }
  fx_conic_end end = fx_conic_solve(&conic, &run);
  if (conic.exact && end != FX_CONIC_STOPPED) {
    seen.before = conic.steps;
    run.careful = true;
    end = fx_conic_solve(&conic, &run);
  }
  if (end != FX_CONIC_STOPPED) call->monitor->outcome = FRIX_OUTCOME_STALLED;
  return FRIX_OK;
}

const fx_solver fx_solver_interior_point = {
    .info = {.name = "interior_point",
             .summary = "primal-dual interior point, for the convex relaxation of the law and for the law itself",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES},
    .solve = solve,
};
