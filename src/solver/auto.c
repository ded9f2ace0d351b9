/* auto: the default.
 *
 * Exact sweeps finish most small problems and go on as long as they will be done sooner than newton; newton finishes
 * most others. Piles begin with vectorised sweeps. Where a newton iteration costs hundreds of sweeps, a first-order
 * method has its turn before it. What newton leaves open, admm brings near enough for newton to try again, with growing
 * budgets, each stage from the best answer so far. Budgets are counted in iterations, never in time, so that the answer
 * does not depend on the machine; --explain shows each decision. */
#include "solver/newton_linear.h"
#include "solver/solver.h"
#include "solver/sweeps.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 10, ROUNDS = 5, GROWTH = 4, GRAINS = 60, BODIES = 2000, PILE_SWEEPS = 300 };

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

static bool run(course *c, const fx_solver *solver, frix_law law, int64_t budget) {
  fx_call *call = c->call;
  fx_monitor *monitor = call->monitor;
  if (law == FRIX_LAW_ASSOCIATED && !solver->info.associated) return false;
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
  inner.law = law;
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

/* Multiplications of one Newton iteration over those of one sweep. Assembly and products
 * count as 10 sweeps, and a multiplication of the factorisation as a quarter of one of a sweep (measured). */
static double iteration_cost(const fx_system *s, const fx_newton_linear *linear) {
  size_t entries =
      s->has_velocity ? 2 * s->Ht.offset[s->Ht.start[s->contact_count]] : s->W.offset[s->W.start[s->contact_count]];
  return 10 + 0.25 * linear->lu.cost / ((double)entries + 1);
}

/* Would the sweeps get there within the budget, at the rate of the last ten? */
static bool sweeps_pay(double before, double now, double tolerance, double budget) {
  double rate = now / before;
  for (double sweep = SWEEPS; sweep <= budget && rate < 1; sweep += SWEEPS) {
    now *= rate;
    if (now <= tolerance) return true;
  }
  return false;
}

/* Grains, or very many contacts of the common kind: a vectorised sweep costs a fifth, and momentum makes it worth ten.
 * Masonry is better off with newton. */
static bool is_pile(const fx_call *call) {
  const fx_system *s = call->system;
  if (call->law != FRIX_LAW_COULOMB || s->contact_count < GRAINS || !fx_pile_fits(s)) return false;
  return s->contact_count >= BODIES || fx_pile_looks_round(s);
}

/* Sweeps until they stop paying against newton: it needs about eight iterations, and sweeps slow down as they go on, so
 * they must promise to be done within the cost of three. */
static bool sweep(course *c) {
  fx_monitor *monitor = c->call->monitor;
  bool pile = is_pile(c->call);
  if (pile && run(c, &fx_solver_sweeps, c->call->law, PILE_SWEEPS)) return true;
  if (run(c, &fx_solver_nsgs, c->call->law, SWEEPS)) return true;
  frix_status status;
  c->call->linear = fx_newton_linear_create(c->call->arena, c->call->system, &status);
  if (!c->call->linear) {
    c->status = status;
    return true;
  }
  double cost = iteration_cost(c->call->system, c->call->linear), spent = 0, before = monitor->residual;
  fx_log(c->call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: a newton iteration costs about %.0f sweeps",
         c->call->system->contact_count, cost);
  do {
    before = monitor->residual;
    if (run(c, &fx_solver_nsgs, c->call->law, SWEEPS)) return true;
    spent += SWEEPS;
  } while (sweeps_pay(before, monitor->residual, c->whole->tolerance, 3 * cost - spent));
  /* Where one factorisation costs hundreds of sweeps, first-order methods have their turn first. */
  if (cost > 200 && pile) return run(c, &fx_solver_sweeps, c->call->law, cost > 2000 ? 20000 : (int64_t)(10 * cost));
  if (cost > 200) return run(c, &fx_solver_apgd, c->call->law, cost > 2000 ? 5000 : (int64_t)(2.5 * cost));
  return false;
}

/* A mixed linear complementarity problem: equations and signs, no friction. W may then be anything. */
static bool is_mlcp(const fx_system *s) {
  bool plain = true;
  for (int32_t i = 0; i < s->contact_count; i++)
    plain &= s->contact[i].cone == FRIX_CONE_LIMIT || s->contact[i].cone == FRIX_CONE_BILATERAL;
  return plain;
}

/* newton briefly from where the sweeps ended; then the convex relaxation, since a structure that can rest is at rest
 * under both laws and the relaxation is the easier one; then newton from there, from nothing, and from what admm makes
 * of the best answer: starts that differ, since a method that failed from one start will fail from it again. */
static void struggle(course *c) {
  fx_call *call = c->call;
  size_t bytes = (size_t)call->system->row_count * sizeof *call->r;
  if (run(c, &fx_solver_newton, call->law, 60)) return;
  if (call->law == FRIX_LAW_COULOMB && is_mlcp(call->system)) {
    memset(call->r, 0, bytes);
    if (run(c, &fx_solver_semismooth, call->law, 500)) return;
  }
  if (run(c, &fx_solver_interior_point, FRIX_LAW_ASSOCIATED, 50)) return;
  if (run(c, &fx_solver_newton, call->law, 2000)) return;
  memset(call->r, 0, bytes);
  if (run(c, &fx_solver_newton, call->law, 2000)) return;
  for (int64_t round = 0, growth = 1; round < ROUNDS; round++, growth *= GROWTH) {
    memcpy(call->r, call->monitor->best_r, bytes);
    if (run(c, &fx_solver_admm, call->law, 300 * growth)) return;
    if (run(c, &fx_solver_newton, call->law, 2000)) return;
  }
}

static frix_status solve(fx_call *call) {
  fx_monitor *monitor = call->monitor;
  course c = {.call = call, .whole = monitor->limits, .part = *monitor->limits, .best = monitor->best};
  monitor->limits = &c.part;
  if (!sweep(&c)) struggle(&c);
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
