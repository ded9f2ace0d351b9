/* box_trust_region and semismooth: the methods for mixed complementarity problems, on contact problems. The bridge
 * states the problem, the method solves it, and the monitor judges the impulses like any other. */
#include "base/threads.h"
#include "problem/cone.h"
#include "solver/mcp_bridge.h"
#include "solver/solver.h"

#include <string.h>

enum { RESTARTS, OPTION_COUNT };

static const frix_option_info options[OPTION_COUNT] = {
    [RESTARTS] = {"restarts", FRIX_OPTION_INTEGER, 3, 0, 1000, NULL, "fresh starts after a stall"},
};

typedef struct request {
  const char *method;
  const char *setting; /* name of the method's restarts */
} request;

/* Runs the method from x until the monitor is content with the impulses, at most three times with less tolerance. */
static frix_status run(fx_call *call, const fx_system *system, const request *wanted, frix_mcp *mcp, double *x) {
  fx_monitor *monitor = call->monitor;
  const fx_limits *limits = monitor->limits;
  char restarts[16];
  int32_t count = (int32_t)call->option[RESTARTS], digits = 0;
  for (int32_t k = count; k > 9; k /= 10) digits++;
  restarts[digits + 1] = 0;
  for (int32_t k = digits; k >= 0; k--, count /= 10) restarts[k] = (char)('0' + count % 10);
  frix_mcp_setting setting = {wanted->setting, restarts};
  frix_mcp_config config = frix_mcp_default();
  config.method = wanted->method;
  config.setting = &setting;
  config.setting_count = 1;
  config.max_iterations = limits->max_iterations;
  config.cancel = limits->cancel;
  config.user = limits->user;
  config.tolerance = 0.1 * limits->tolerance;
  double *lambda = call->r + system->row[system->joint_first];
  int64_t iterations = 0;
  for (int32_t attempt = 0; attempt < 3; attempt++, config.tolerance *= 1e-2) {
    if (limits->deadline > 0) {
      config.time_limit = limits->deadline - fx_seconds();
      if (!(config.time_limit > 0)) config.time_limit = 1e-9;
    }
    frix_mcp_result result;
    frix_status status = frix_mcp_solve(call->arena->context, mcp, &config, x, &result);
    if (status != FRIX_OK) return status;
    iterations += result.iterations;
    frix_mcp_contact_impulse(mcp, x, call->r, lambda);
    /* a small r_N leaves room for a much larger r_T, since the cone enters squared */
    for (int32_t i = 0; i < system->contact_count; i++)
      fx_cone_project(&system->contact[i], call->r + system->row[i], call->r + system->row[i]);
    if (fx_monitor_check(monitor, iterations, call->r)) return FRIX_OK;
    monitor->outcome = result.outcome == FRIX_OUTCOME_MAX_ITERATIONS ? result.outcome : FRIX_OUTCOME_STALLED;
    if (result.outcome != FRIX_OUTCOME_SOLVED) return FRIX_OK;
  }
  return FRIX_OK;
}

static frix_status solve(fx_call *call, const request *wanted) {
  fx_system system = *call->system;
  frix_status status = system.has_W ? FRIX_OK : fx_system_assemble(call->arena, &system);
  frix_mcp *mcp = NULL;
  if (status == FRIX_OK) status = fx_bridge_create(call->arena->context, &system, call->law, &mcp);
  if (status != FRIX_OK) return status;
  frix_mcp_data data;
  frix_mcp_view(mcp, &data);
  double *x = FX_TAKE(call->arena, double, data.count), *u = FX_TAKE(call->arena, double, system.row_count);
  double *v = FX_TAKE(call->arena, double, system.dof_count);
  if (x && u && v) {
    fx_monitor_begin(call->monitor, 20000);
    fx_system_velocity(call->system, call->r, u, v);
    fx_bridge_start(mcp, call->r, u, x);
    status = run(call, &system, wanted, mcp, x);
  } else {
    status = FRIX_ERROR_MEMORY;
  }
  frix_mcp_destroy(mcp);
  return status;
}

static frix_status solve_box(fx_call *call) {
  return solve(call, &(request){"box_trust_region", "box_trust_region.restarts"});
}

static frix_status solve_semismooth(fx_call *call) {
  return solve(call, &(request){"semismooth", "semismooth.restarts"});
}

const fx_solver fx_solver_box_trust_region = {
    .info = {.name = "box_trust_region",
             .summary = "complementarity as bound-constrained least squares, matrix-free trust region; small problems",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = OPTION_COUNT},
    .solve = solve_box,
};

const fx_solver fx_solver_semismooth = {
    .info = {.name = "semismooth",
             .summary = "Fischer-Burmeister Newton on the complementarity form, sparse factors",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = OPTION_COUNT},
    .solve = solve_semismooth,
};
