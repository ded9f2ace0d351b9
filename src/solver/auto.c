/* auto: the default.
 *
 * A few exact sweeps finish most small problems; newton finishes most others. Where one factorisation costs as much as
 * hundreds of gradient steps (large piles), the gradient method has its turn first. What newton leaves open, admm
 * brings near enough for newton to try again, with growing budgets, each stage from the best answer so far. Budgets are
 * counted in iterations, never in time, so that the answer does not depend on the machine; --explain shows each
 * decision. */
#include "solver/newton_linear.h"
#include "solver/scaling.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 10, ROUNDS = 6, GROWTH = 4 };

static int32_t row_of(const fx_solver *solver) {
  int32_t row = 0;
  while (fx_solver_at(row) != solver) row++;
  return row;
}

/* One method with a budget of iterations; true when nothing more need be tried. */
typedef struct course {
  fx_call *call;
  const fx_limits *whole;
  fx_limits part;
  double best;
  frix_status status;
} course;

static bool run(course *c, const fx_solver *solver, int64_t budget) {
  fx_call *call = c->call;
  fx_monitor *monitor = call->monitor;
  if (call->law == FRIX_LAW_ASSOCIATED && !solver->info.associated) return false;
  int64_t used = monitor->before + monitor->iteration;
  int64_t left = c->whole->max_iterations ? c->whole->max_iterations - used : budget;
  c->part.max_iterations = budget < left ? budget : left;
  if (c->part.max_iterations < 1) return true;
  double option[FX_MAX_OPTIONS];
  fx_options_values(call->options, row_of(solver), option);
  fx_arena arena; /* every stage returns its workspace */
  fx_arena_init(&arena, call->arena->context);
  fx_call inner = *call;
  inner.option = option;
  inner.arena = &arena;
  c->status = solver->solve(&inner);
  fx_arena_free(&arena);
  if (monitor->best < c->best) {
    c->best = monitor->best;
    call->finisher = solver->info.name;
    memcpy(call->r, monitor->best_r, (size_t)call->system->row_count * sizeof *call->r);
  }
  fx_log(call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: %s, %lld iterations: residual %.2e, best %.2e%s",
         call->system->contact_count, solver->info.name, (long long)monitor->iteration, monitor->residual,
         monitor->best, monitor->finished ? ", done" : "");
  return c->status != FRIX_OK || monitor->finished;
}

/* Multiplications of one factorisation over those of one gradient step (two products with the operator). */
static frix_status factor_cost(fx_call *call, double *out) {
  const fx_system *s = call->system;
  fx_arena arena;
  fx_arena_init(&arena, call->arena->context);
  fx_newton_linear linear;
  double *S = fx_scaling(&arena, s);
  frix_status status = S ? fx_newton_linear_init(&linear, &arena, s, S) : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) {
    size_t entries =
        s->has_velocity ? 2 * s->Ht.offset[s->Ht.start[s->contact_count]] : s->W.offset[s->W.start[s->contact_count]];
    *out = linear.lu.cost / (2.0 * (double)entries + 1);
  }
  fx_arena_free(&arena);
  return status;
}

static frix_status solve(fx_call *call) {
  fx_monitor *monitor = call->monitor;
  course c = {.call = call, .whole = monitor->limits, .part = *monitor->limits, .best = monitor->best};
  monitor->limits = &c.part;
  double ratio = 0;
  if (run(&c, &fx_solver_nsgs, SWEEPS)) goto done;
  if (call->system->contact_count > 200 && (c.status = factor_cost(call, &ratio)) != FRIX_OK) goto done;
  if (ratio > 100) {
    fx_log(call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: a factorisation costs %.0f gradient steps",
           call->system->contact_count, ratio);
    if (run(&c, &fx_solver_apgd, ratio > 1000 ? 5000 : (int64_t)(5 * ratio))) goto done;
  }
  for (int64_t round = 0, growth = 1; round < ROUNDS; round++, growth *= GROWTH) {
    if (run(&c, &fx_solver_newton, 60 * growth)) break;
    if (run(&c, &fx_solver_admm, 300 * growth)) break;
  }
done:
  monitor->limits = c.whole;
  return c.status;
}

const fx_solver fx_solver_auto = {
    .info = {.name = "auto",
             .summary = "the default: exact sweeps, then newton and admm in turn until one is certified",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES},
    .prefers_velocity = true,
    .solve = solve,
};
