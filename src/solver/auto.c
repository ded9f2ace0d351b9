/* auto: the default. A few exact sweeps finish most small problems; newton finishes most others; where it does not, admm
 * brings the answer near enough for newton to try again, with growing budgets, each stage from the best answer so far.
 * Budgets are counted in iterations, never in time, so that the answer does not depend on the machine. */
#include "solver/solver.h"

#include <string.h>

typedef struct stage {
  const fx_solver *solver;
  int64_t budget; /* iterations in the first round */
} stage;

static const stage stages[] = {{&fx_solver_nsgs, 10}, {&fx_solver_newton, 60}, {&fx_solver_admm, 300}};

enum { STAGES = sizeof stages / sizeof *stages, ROUNDS = 6, GROWTH = 4 };

static int32_t row_of(const fx_solver *solver) {
  int32_t row = 0;
  while (fx_solver_at(row) != solver) row++;
  return row;
}

static frix_status solve(fx_call *call) {
  fx_monitor *monitor = call->monitor;
  const fx_limits *whole = monitor->limits;
  fx_limits part = *whole;
  monitor->limits = &part;
  frix_status status = FRIX_OK;
  double best = monitor->best;
  for (int32_t round = 0, growth = 1; round < ROUNDS && status == FRIX_OK; round++, growth *= GROWTH)
    for (int32_t k = 0; k < STAGES && status == FRIX_OK; k++) {
      const fx_solver *solver = stages[k].solver;
      if (call->law == FRIX_LAW_ASSOCIATED && !solver->info.associated) continue;
      part.max_iterations = stages[k].budget * growth;
      int64_t left = whole->max_iterations ? whole->max_iterations - monitor->before - monitor->iteration : INT64_MAX;
      if (part.max_iterations > left) part.max_iterations = left;
      if (part.max_iterations < 1) goto done;
      double option[FX_MAX_OPTIONS];
      fx_options_values(call->options, row_of(solver), option);
      fx_arena arena; /* every stage returns its workspace */
      fx_arena_init(&arena, call->arena->context);
      fx_call inner = *call;
      inner.option = option;
      inner.arena = &arena;
      status = solver->solve(&inner);
      fx_arena_free(&arena);
      if (monitor->best < best) {
        best = monitor->best;
        call->finisher = solver->info.name;
        memcpy(call->r, monitor->best_r, (size_t)call->system->row_count * sizeof *call->r);
      }
      if (monitor->finished) goto done;
    }
done:
  monitor->limits = whole;
  return status;
}

const fx_solver fx_solver_auto = {
    .info = {.name = "auto",
             .summary = "the default: exact sweeps, then newton and admm in turn until one is certified",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES},
    .solve = solve,
};
