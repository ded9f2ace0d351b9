/* box_trust_region and semismooth: the methods for mixed complementarity problems, on contact problems. The bridge
 * states the problem, the method solves it, and the monitor judges the impulses of every iterate like any other. Both
 * are meant for small problems: the unknowns are twice as many as the rows, and products or factors with them
 * expensive. */
#include "base/threads.h"
#include "problem/cone.h"
#include "solver/mcp_bridge.h"
#include "solver/solver.h"

#include <stdio.h>

enum { RESTARTS, LARGEST, OPTION_COUNT };

static const frix_option_info options[OPTION_COUNT] = {
    [RESTARTS] = {"restarts", FRIX_OPTION_INTEGER, 3, 0, 1000, NULL, "fresh starts after a stall"},
    [LARGEST] = {"largest", FRIX_OPTION_INTEGER, 600, 1, 1e9, NULL,
                 "unknowns of an island beyond which it is not tried"},
};

typedef struct watch {
  fx_call *call;
  const frix_mcp *mcp;
  double *u, *v;
} watch;

/* Impulses of an iterate, and none where a contact separates. The cone enters squared, so that an r_N near zero leaves
 * room for a much larger r_T; and what is nearly nothing is no answer to a relative certificate. */
static void settle(const watch *w, const double *x, double *r) {
  const fx_system *system = w->call->system;
  frix_mcp_contact_impulse(w->mcp, x, r, r + system->row[system->joint_first]);
  for (int32_t i = 0; i < system->contact_count; i++)
    fx_cone_project(&system->contact[i], r + system->row[i], r + system->row[i]);
  fx_system_velocity(system, r, w->u, w->v);
  for (int32_t i = 0; i < system->contact_count; i++) {
    const frix_contact *contact = &system->contact[i];
    double *ri = r + system->row[i], *ui = w->u + system->row[i], y[FRIX_MAX_DIM], left = 0;
    if (contact->cone == FRIX_CONE_BILATERAL) continue;
    for (int32_t k = 0; k < contact->dim; k++) y[k] = ri[k] - system->rho * ui[k];
    y[0] -= system->rho * fx_cone_shift(contact, ui);
    fx_cone_project(contact, y, y);
    for (int32_t k = 0; k < contact->dim; k++) left += y[k] * y[k];
    for (int32_t k = 0; k < contact->dim && left == 0; k++) ri[k] = 0;
  }
}

/* Gives the impulses of an iterate to the monitor. */
static bool judge(int64_t iteration, double residual, const double *x, void *user) {
  const watch *w = user;
  (void)residual;
  settle(w, x, w->call->r);
  return fx_monitor_check(w->call->monitor, iteration, w->call->r);
}

static frix_status run(fx_call *call, const char *method, watch *w, double *x) {
  const fx_limits *limits = call->monitor->limits;
  char name[64], restarts[16];
  snprintf(name, sizeof name, "%s.restarts", method);
  snprintf(restarts, sizeof restarts, "%d", (int)call->option[RESTARTS]);
  frix_mcp_setting setting = {name, restarts};
  frix_mcp_config config = frix_mcp_default();
  config.method = method;
  config.setting = &setting;
  config.setting_count = 1;
  config.max_iterations = limits->max_iterations;
  config.tolerance = 1e-300; /* the monitor decides */
  config.cancel = judge;
  config.user = w;
  frix_mcp_result result;
  frix_status status = frix_mcp_solve(call->arena->context, w->mcp, &config, x, &result);
  if (status == FRIX_OK && !call->monitor->finished)
    call->monitor->outcome =
        result.outcome == FRIX_OUTCOME_MAX_ITERATIONS ? FRIX_OUTCOME_MAX_ITERATIONS : FRIX_OUTCOME_STALLED;
  return status;
}

static frix_status solve(fx_call *call, const char *method) {
  fx_system system = *call->system;
  frix_mcp *mcp = NULL;
  fx_monitor_begin(call->monitor, 20000);
  int64_t count = fx_bridge_count(&system);
  if ((double)count > call->option[LARGEST]) {
    fx_log(call->arena->context, FRIX_LOG_INFO, "%s: an island has %lld unknowns, %s.largest is %d", method,
           (long long)count, method, (int)call->option[LARGEST]);
    call->monitor->outcome = FRIX_OUTCOME_STALLED;
    return FRIX_OK;
  }
  frix_status status = system.has_W ? FRIX_OK : fx_system_assemble(call->arena, &system);
  if (status == FRIX_OK) status = fx_bridge_create(call->arena->context, &system, call->law, &mcp);
  if (status != FRIX_OK) return status;
  frix_mcp_data data;
  frix_mcp_view(mcp, &data);
  double *x = FX_TAKE(call->arena, double, data.count), *u = FX_TAKE(call->arena, double, system.row_count);
  double *v = FX_TAKE(call->arena, double, system.dof_count);
  if (!x || !u || !v) {
    status = FRIX_ERROR_MEMORY;
  } else {
    bool cold = true;
    for (int32_t k = 0; k < system.row_count; k++) cold &= call->r[k] == 0;
    fx_system_velocity(call->system, call->r, u, v);
    if (cold)
      frix_mcp_start(mcp, 0, x);
    else
      fx_bridge_start(mcp, call->r, u, x);
    status = run(call, method, &(watch){call, mcp, u, v}, x);
  }
  frix_mcp_destroy(mcp);
  return status;
}

static frix_status solve_box(fx_call *call) { return solve(call, "box_trust_region"); }
static frix_status solve_semismooth(fx_call *call) { return solve(call, "semismooth"); }

const fx_solver fx_solver_box_trust_region = {
    .info = {.name = "box_trust_region",
             .summary = "complementarity as bound-constrained least squares, matrix-free trust region; small problems",
             .coulomb = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = OPTION_COUNT},
    .solve = solve_box,
};

const fx_solver fx_solver_semismooth = {
    .info = {.name = "semismooth",
             .summary = "Fischer-Burmeister Newton on the complementarity form, sparse factors; small problems",
             .coulomb = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = OPTION_COUNT},
    .solve = solve_semismooth,
};
