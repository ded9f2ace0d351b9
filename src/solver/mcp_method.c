/* box_trust_region and semismooth: the methods for mixed complementarity problems, on contact problems. The bridge
 * states the problem, the method solves it, and the monitor judges the impulses of every iterate like any other. Both
 * are meant for small problems: the unknowns are twice as many as the rows, and products or factors with them dear. */
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
} watch;

/* Hands the impulses of an iterate to the monitor. */
static bool judge(int64_t iteration, double residual, const double *x, void *user) {
  const watch *w = user;
  const fx_system *system = w->call->system;
  double *r = w->call->r;
  (void)residual;
  frix_mcp_contact_impulse(w->mcp, x, r, r + system->row[system->joint_first]);
  /* a small r_N leaves room for a much larger r_T, since the cone enters squared */
  for (int32_t i = 0; i < system->contact_count; i++)
    fx_cone_project(&system->contact[i], r + system->row[i], r + system->row[i]);
  return fx_monitor_check(w->call->monitor, iteration, r);
}

static frix_status run(fx_call *call, const char *method, frix_mcp *mcp, double *x) {
  const fx_limits *limits = call->monitor->limits;
  char name[64], restarts[16];
  snprintf(name, sizeof name, "%s.restarts", method);
  snprintf(restarts, sizeof restarts, "%d", (int)call->option[RESTARTS]);
  frix_mcp_setting setting = {name, restarts};
  watch w = {call, mcp};
  frix_mcp_config config = frix_mcp_default();
  config.method = method;
  config.setting = &setting;
  config.setting_count = 1;
  config.max_iterations = limits->max_iterations;
  config.tolerance = 1e-300; /* the monitor decides */
  config.cancel = judge;
  config.user = &w;
  frix_mcp_result result;
  frix_status status = frix_mcp_solve(call->arena->context, mcp, &config, x, &result);
  if (status == FRIX_OK && !call->monitor->finished)
    call->monitor->outcome =
        result.outcome == FRIX_OUTCOME_MAX_ITERATIONS ? FRIX_OUTCOME_MAX_ITERATIONS : FRIX_OUTCOME_STALLED;
  return status;
}

static frix_status solve(fx_call *call, const char *method) {
  fx_system system = *call->system;
  frix_status status = system.has_W ? FRIX_OK : fx_system_assemble(call->arena, &system);
  frix_mcp *mcp = NULL;
  fx_monitor_begin(call->monitor, 20000);
  if (status == FRIX_OK) status = fx_bridge_create(call->arena->context, &system, call->law, &mcp);
  if (status != FRIX_OK) return status;
  frix_mcp_data data;
  frix_mcp_view(mcp, &data);
  double *x = FX_TAKE(call->arena, double, data.count), *u = FX_TAKE(call->arena, double, system.row_count);
  double *v = FX_TAKE(call->arena, double, system.dof_count);
  if (!x || !u || !v) {
    status = FRIX_ERROR_MEMORY;
  } else if (data.count > call->option[LARGEST]) {
    fx_log(call->arena->context, FRIX_LOG_INFO, "%s: an island has %d unknowns, %s.largest is %d", method,
           (int)data.count, method, (int)call->option[LARGEST]);
    call->monitor->outcome = FRIX_OUTCOME_STALLED;
  } else {
    fx_system_velocity(call->system, call->r, u, v);
    fx_bridge_start(mcp, call->r, u, x);
    status = run(call, method, mcp, x);
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
             .associated = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = OPTION_COUNT},
    .solve = solve_box,
};

const fx_solver fx_solver_semismooth = {
    .info = {.name = "semismooth",
             .summary = "Fischer-Burmeister Newton on the complementarity form, sparse factors; small problems",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = OPTION_COUNT},
    .solve = solve_semismooth,
};
