/* springs: all islands of a compliant problem as one, by vectorised sweeps and newton on the velocities.
 *
 * A stage takes the contacts that may be closed out of the whole and solves them to its goal:
 *
 *   closed = {i: u_N - (W_NN + R_N) r_N <= margin},   goals 1e-3, 2e-4, 2e-5, the tolerance
 *
 * (one visit of a sweep would leave r_N > 0 there, but for the margin). The certificate judges the whole after each
 * stage, and its velocities say which contacts are closed in the next one: a contact left out that the answer closes
 * comes back. About half of the contacts of a heap in motion are open: bodies that may come near each other within the
 * step, and do not. Islands of closed contacts that hold their law already are left as they are. The last stage is
 * newton's (spring_newton.c) where the sweeps of the stages before foretell that more of them would cost more. */
#include "solver/springs.h"

#include "solver/newton_linear.h"
#include "solver/sweeps.h"

#include <math.h>
#include <string.h>

/* Margins of the first stage and of those after it, as parts of the mean approach of contacts without impulses. Wider
 * ones sweep more contacts, narrower ones find some of them late: 0.1 to 0.3 and 0.02 to 0.1 cost the same within a
 * tenth on heaps and walls. */
static const double first_margin = 0.3, later_margin = 0.1;

/* Residuals at which contacts are looked at again. From 2e-5 newton converges in two or three iterations on heaps and
 * walls, from 1e-4 not always. A stage is left out where the whole is within `slack` of its goal. */
static const double goal[] = {1e-3, 2e-4, 2e-5}, slack = 4;
enum { GOALS = sizeof goal / sizeof *goal, ROUNDS = 12 };

/* In vectorised sweeps over the same contacts, processor time measured on heaps of boxes and capsules and on a wall:
 * an analysis of newton and, for each iteration, its share that goes with contacts; multiplications of the
 * factorisation, per contact, that take as long as a sweep. */
static const double analysis_cost = 30, iteration_cost = 30, factor_rate = 60;
enum { NEWTON_STEPS = 6, USUAL_STEPS = 3 };

/* Sweeps foretold, from which an analysis is worth its time whatever the graph; the last digits cost more than those
 * before (1.3 to 2.4 times, measured). Where bodies have few neighbours factors cost little. */
static const double worth_analysis = 300, slower_end = 1.7, few_pairs = 1.25, cheap = 250;

typedef struct state {
  fx_call *call;
  uint8_t *closed;     /* by contact */
  uint8_t *unsolved;   /* by contact: closed, and its island does not hold its law yet */
  double approach;     /* mean of the velocities at which contacts close without impulses */
  int64_t spent, most; /* iterations */
  double per_digit;    /* sweeps: most of the stages so far */
  bool newton_failed;
  double velocity_error; /* as the last stage estimates it */
} state;

/* ---- which contacts ---- */

static double mean_approach(const fx_system *s) {
  double sum = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < s->contact_count; i++) {
    double q = s->q[s->row[i]];
    if (!(q < 0)) continue;
    sum -= q;
    count++;
  }
  return count ? sum / count : 0;
}

/* |r| as a velocity. */
static double velocity_size(const fx_system *s, const double *r) {
  double sum = 0;
  for (int32_t k = 0; k < s->row_count; k++) sum += r[k] * r[k];
  return sqrt(sum) / s->rho;
}

/* Marks contacts that carry something or open by less than the margin; those of before stay marked where `kept`. True
 * where one is new. */
static bool mark_closed(state *t, double margin, bool kept) {
  const fx_system *s = t->call->system;
  double *r = t->call->r, *u = t->call->monitor->u;
  bool any = false, dropped = false;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t row = s->row[i];
    double weight = s->W_diag[row] + (s->R ? s->R[row] : 0);
    bool closed = !(u[row] - weight * r[row] > margin);
    any |= closed && !t->closed[i];
    t->closed[i] = closed || (kept && t->closed[i]);
    dropped |= !t->closed[i] && r[row] != 0;
    for (int32_t k = row; k < s->row[i + 1] && !t->closed[i]; k++) r[k] = 0;
  }
  if (dropped) fx_system_velocity(s, r, u, t->call->monitor->v);
  return any;
}

/* Whether an island of closed contacts holds its law already, as a whole and contact by contact. */
static bool is_solved(const state *t, const int32_t *contact, int32_t count) {
  const fx_call *call = t->call;
  const fx_system *s = call->system;
  const double *r = call->r, *u = call->monitor->u;
  double tolerance = call->monitor->limits->tolerance;
  fx_residual_sums sums = {{0, 0}, {0, 0}, {0, 0}};
  for (int32_t c = 0; c < count; c++)
    fx_residual_add(s, call->law, contact[c], r + s->row[contact[c]], u + s->row[contact[c]], &sums);
  fx_row_set own = {contact, count};
  return fx_residual_end(s, &sums) <= tolerance &&
         fx_row_error(s, &own, call->law, &call->monitor->scales, r, u) <= tolerance;
}

/* Closed contacts of islands that are not solved; false where there is none. u belongs to r. */
static frix_status find_unsolved(state *t, fx_arena *arena, bool *any) {
  fx_islands islands;
  frix_status status = fx_islands_find(arena, t->call->system, t->closed, &islands);
  *any = false;
  if (status != FRIX_OK) return status;
  memset(t->unsolved, 0, (size_t)t->call->system->contact_count);
  for (int32_t k = 0; k < islands.count; k++) {
    const int32_t *contact = islands.contact + islands.start[k];
    int32_t count = islands.start[k + 1] - islands.start[k];
    if (is_solved(t, contact, count)) continue;
    for (int32_t c = 0; c < count; c++) t->unsolved[contact[c]] = 1;
    *any = true;
  }
  return FRIX_OK;
}

/* ---- one stage ---- */

static frix_status run(state *t, const fx_solver *solver, fx_call *part, int64_t budget) {
  double option[FX_MAX_OPTIONS];
  fx_options_values(part->options, fx_solver_row(solver), option);
  fx_monitor *monitor = part->monitor;
  fx_limits limits = *monitor->limits;
  const fx_limits *given = monitor->limits;
  limits.max_iterations = budget < t->most - t->spent ? budget : t->most - t->spent;
  if (limits.max_iterations < 1) return FRIX_OK;
  monitor->limits = &limits;
  part->option = option;
  frix_status status = solver->solve(part);
  monitor->limits = given;
  t->spent += monitor->iteration;
  t->call->finisher = solver->info.name;
  fx_log(part->arena->context, FRIX_LOG_INFO, "springs: %d of %d contacts: %s, %lld iterations: residual %.2e",
         part->system->contact_count, t->call->system->contact_count, solver->info.name, (long long)monitor->iteration,
         monitor->best);
  return status;
}

/* Vectorised sweeps that newton costs. */
static double newton_cost(const fx_newton_linear *linear) {
  return analysis_cost + USUAL_STEPS * (iteration_cost + linear->lu.cost / (factor_rate * linear->s->contact_count));
}

/* Pairs of bodies in contact: contacts of a pair stand side by side, most often. */
static int32_t pairs_of(const fx_system *s) {
  int32_t pairs = 0, last[2] = {-1, -1};
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t k = s->Ht.start[i], end = s->Ht.start[i + 1];
    if (end - k != 2 || (s->Ht.index[k] == last[0] && s->Ht.index[k + 1] == last[1])) continue;
    last[0] = s->Ht.index[k];
    last[1] = s->Ht.index[k + 1];
    pairs++;
  }
  return pairs;
}

/* Newton where it is cheaper than what the sweeps of the stage before foretell. */
static frix_status try_newton(state *t, fx_call *part, double sweeps_left) {
  frix_status status = FRIX_OK;
  if (t->newton_failed || !fx_spring_newton_fits(part->system)) return FRIX_OK;
  if (sweeps_left < worth_analysis && pairs_of(part->system) > few_pairs * part->system->mover_count) return FRIX_OK;
  part->linear = fx_newton_linear_create(part->arena, part->system, &status);
  if (!part->linear) return status;
  double cost = newton_cost(part->linear);
  fx_log(part->arena->context, FRIX_LOG_INFO, "springs: %d contacts: %.0f sweeps foretold, newton costs %.0f",
         part->system->contact_count, sweeps_left, cost);
  if (cost > fmax(sweeps_left, cheap)) return FRIX_OK;
  status = run(t, &fx_solver_spring_newton, part, NEWTON_STEPS);
  t->newton_failed = part->monitor->outcome != FRIX_OUTCOME_SOLVED;
  if (t->newton_failed && part->monitor->best < INFINITY)
    memcpy(part->r, part->monitor->best_r, (size_t)part->system->row_count * sizeof *part->r);
  return status;
}

/* Newton, or sweeps, on a part of the whole; before: residual of the whole. */
static frix_status run_part(state *t, fx_call *part, double before, bool last) {
  frix_status status = FRIX_OK;
  fx_monitor *monitor = part->monitor;
  int64_t spent = t->spent;
  if (last) status = try_newton(t, part, slower_end * t->per_digit * log10(before / monitor->limits->tolerance));
  if (status == FRIX_OK && monitor->outcome != FRIX_OUTCOME_SOLVED) status = run(t, &fx_solver_sweeps, part, INT64_MAX);
  double digits = log10(before / monitor->best);
  if (digits > 0.5) t->per_digit = fmax(t->per_digit, (double)(t->spent - spent) / digits);
  return status;
}

/* Contacts that are closed and not solved, as a system of their own, to a tolerance. */
static frix_status solve_part(state *t, fx_arena *arena, double tolerance, bool last) {
  fx_call *call = t->call;
  const fx_system *whole = call->system;
  fx_islands one;
  fx_system system;
  bool any;
  frix_status status = find_unsolved(t, arena, &any);
  if (status != FRIX_OK || !any) return status;
  status = fx_islands_as_one(arena, whole, t->unsolved, &one);
  if (status == FRIX_OK) status = fx_system_extract(arena, whole, &one, 0, &system);
  if (status != FRIX_OK) return status;
  fx_monitor monitor;
  fx_limits limits = *call->monitor->limits;
  limits.tolerance = tolerance;
  limits.sum_alone = !last;
  limits.progress = NULL;
  double *r = FX_TAKE_RAW(arena, double, system.row_count);
  if (!r || fx_monitor_init(&monitor, arena, &system, call->law, &limits, false) != FRIX_OK) return FRIX_ERROR_MEMORY;
  fx_islands_gather(whole, &one, 0, call->r, r);
  fx_call part = *call;
  part.system = &system;
  part.arena = arena;
  part.monitor = &monitor;
  part.r = r;
  part.linear = NULL;
  status = run_part(t, &part, call->monitor->residual, last);
  if (status != FRIX_OK) return status;
  if (monitor.best < INFINITY) fx_islands_scatter(whole, &one, 0, monitor.best_r, call->r);
  t->velocity_error = monitor.velocity_error;
  return FRIX_OK;
}

/* ---- the method ---- */

/* How far open contacts must be from closing, when velocities are known to the residual of the whole. */
static double margin_of(const state *t) {
  const fx_call *call = t->call;
  double error = call->monitor->residual * velocity_size(call->system, call->r);
  return fmin(fmax(error, later_margin * t->approach), first_margin * t->approach);
}

static frix_status solve(fx_call *call) {
  const fx_system *s = call->system;
  fx_monitor *monitor = call->monitor;
  double tolerance = monitor->limits->tolerance;
  state t = {.call = call, .approach = mean_approach(s)};
  t.closed = FX_TAKE(call->arena, uint8_t, s->contact_count);
  t.unsolved = FX_TAKE(call->arena, uint8_t, s->contact_count);
  if (!t.closed || !t.unsolved) return FRIX_ERROR_MEMORY;
  fx_monitor_begin(monitor, fx_pile_spring_sweeps(s));
  t.most = monitor->stage_limit;
  if (fx_monitor_check(monitor, 0, call->r)) return FRIX_OK;
  if (!(monitor->residual < INFINITY)) { /* impulses so wrong that their squares are no numbers */
    memset(call->r, 0, (size_t)s->row_count * sizeof *call->r);
    if (fx_monitor_check(monitor, 0, call->r)) return FRIX_OK;
  }
  mark_closed(&t, first_margin * t.approach, false);
  for (int round = 0, stage = 0; round < ROUNDS; round++) {
    while (stage < GOALS && (monitor->residual <= slack * goal[stage] || goal[stage] <= tolerance)) stage++;
    bool last = stage == GOALS;
    fx_arena arena;
    fx_arena_init(&arena, call->arena->context);
    frix_status status = solve_part(&t, &arena, last ? tolerance : goal[stage], last);
    fx_arena_free(&arena);
    if (status != FRIX_OK) return status;
    bool stop = fx_monitor_check(monitor, t.spent, call->r);
    if (monitor->residual == monitor->best) monitor->velocity_error = t.velocity_error;
    if (stop) return FRIX_OK;
    if (!mark_closed(&t, last ? 0 : margin_of(&t), stage > 0) && last) break;
    if (stage + 1 < GOALS) stage++;
  }
  monitor->outcome = FRIX_OUTCOME_STALLED;
  return FRIX_OK;
}

const fx_solver fx_solver_springs = {
    .info = {.name = "springs",
             .summary = "stages of sweeps and newton over closed contacts, for contacts with compliance",
             .coulomb = true,
             .cones = FX_ALL_CONES},
    .prefers_velocity = true,
    .takes_islands = true,
    .solve = solve,
};
