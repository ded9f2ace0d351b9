/* interior_point: the associated law as a second-order cone programme, or a quadratic one where all cones are
 * polyhedral.
 *
 *   min 1/2 r'(W + R) r + q'r   over r in K          law associated: the convex relaxation, one solve per step
 *
 * Primal-dual with Nesterov-Todd scaling and Mehrotra's corrector, finished by semismooth Newton (conic.c). W may be
 * slightly nonsymmetric or indefinite, as files have it: it is used as it is, so that what is certified is the law for
 * the very W that was given. */
#include "solver/conic.h"
#include "solver/scaling.h"
#include "solver/solver.h"

static bool is_zero(const double *x, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (x[k] != 0) return false;
  return true;
}

static bool check(fx_conic *c, void *user) {
  fx_call *call = user;
  for (int32_t k = 0; k < c->row_count; k++) call->r[k] = c->S[k] * c->x[k];
  fx_project_all(c->s, call->r);
  return fx_monitor_check(call->monitor, c->steps, call->r);
}

static frix_status solve(fx_call *call) {
  fx_conic conic;
  frix_status status = fx_conic_setup(call->arena, call->system, NULL, &conic);
  if (status != FRIX_OK) return status;
  conic.exact = call->law == FRIX_LAW_COULOMB;
  fx_monitor_begin(call->monitor, 200);
  fx_conic_run run = {.max_steps = 1000, .stop = check, .user = call};
  run.warm = !conic.exact && !is_zero(call->r, conic.row_count);
  if (run.warm) {
    fx_project_all(conic.s, call->r);
    for (int32_t k = 0; k < conic.row_count; k++) conic.x[k] = call->r[k] / conic.S[k];
    fx_conic_warm(&conic);
  }
  if (fx_conic_solve(&conic, &run) != FX_CONIC_STOPPED) call->monitor->outcome = FRIX_OUTCOME_STALLED;
  return FRIX_OK;
}

const fx_solver fx_solver_interior_point = {
    .info = {.name = "interior_point",
             .summary = "primal-dual interior point with a Newton finish; the convex relaxation of the law",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES},
    .solve = solve,
};
