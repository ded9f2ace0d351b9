/* Solves one island: takes its rows out of the whole, judges its start, runs the method, and writes its rows back.
 * Under a deadline an island gets its part of the time. */
#include "solver/island_solve.h"

#include "problem/round_rows.h"
#include "solver/small_island.h"

#include <math.h>
#include <string.h>

/* Copies an island's rows from the whole vector to its own, or back. */
static void take_rows(const fx_job *j, int32_t k, const fx_system *island, const double *whole, double *own) {
  if (j->together)
    memcpy(own, whole, (size_t)island->row_count * sizeof *own);
  else
    fx_islands_gather(j->system, j->islands, k, whole, own);
}

static void give_rows(const fx_job *j, int32_t k, const fx_system *island, const double *own) {
  if (j->together)
    memcpy(j->r, own, (size_t)island->row_count * sizeof *own);
  else
    fx_islands_scatter(j->system, j->islands, k, own, j->r);
}

bool fx_impulses_are_zero(const double *x, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (x[k] != 0) return false;
  return true;
}

static frix_status keep_history(const fx_job *j, int32_t k, const fx_monitor *monitor, fx_island_result *result) {
  if (!j->history) return FRIX_OK;
  fx_free(j->context, result->history);
  result->history_count = 0;
  result->history = FX_NEW(j->context, frix_history_row, monitor->history_count);
  if (!result->history) return FRIX_ERROR_MEMORY;
  result->history_count = monitor->history_count;
  for (int32_t h = 0; h < monitor->history_count; h++) {
    result->history[h] = monitor->history[h];
    result->history[h].island = k;
  }
  return FRIX_OK;
}

/* Where the island is the whole, in the same form, the velocities of the answer are there already: those that the
 * monitor found from the impulses when it judged them last. By the numbers of spheres they are no part of a
 * certificate. */
static void keep_velocity(const fx_job *j, const fx_system *island, const fx_monitor *m, fx_island_result *result) {
  result->has_velocity = !j->unit && !island->round && island->contact_count == j->system->contact_count &&
                         island->dof_count == j->system->dof_count && island->has_velocity == j->system->has_velocity &&
                         m->finished && m->residual == m->best;
  if (!result->has_velocity) return;
  memcpy(j->u, m->u, (size_t)island->row_count * sizeof *m->u);
  if (island->has_velocity) memcpy(j->v, m->v, (size_t)island->dof_count * sizeof *m->v);
}

/* ---- time ---- */

double fx_finish_seconds(const fx_job *j, double check_cost) {
  double checks = (j->system->has_W ? 1.5 : 2.5) + (j->islands->count > 1 ? 1.5 : 0);
  return fmax(checks * check_cost, j->system->has_W ? 0 : 0.25 * j->read);
}

/* The island's part of the time that is left, by its rows; what the certificate of the whole will cost is taken off. */
static void share_time(const fx_job *j, int32_t k, const fx_monitor *m, fx_limits *limits) {
  if (!(limits->deadline > 0)) return;
  const fx_system *s = j->system;
  double rest = 0, own = m->system->row_count;
  for (int32_t c = j->together ? 0 : j->islands->start[k]; c < s->contact_count; c++)
    rest += s->contact[j->islands->contact[c]].dim;
  double share = j->thread_count * own / rest;
  limits->deadline -= fx_finish_seconds(j, m->check_cost * s->row_count / own);
  if (!(share < 1) || !limits->hurried) return;
  double now = fx_seconds();
  limits->deadline = now + share * (limits->deadline - now);
}

/* The hint of an island is that of its first contact; islands that met take the largest. */
static uint8_t read_hint(const fx_job *j, int32_t k) {
  uint8_t most = 0;
  for (int32_t c = j->together ? 0 : j->islands->start[k];
       c < (j->together ? j->system->contact_count : j->islands->start[k + 1]); c++) {
    uint8_t hint = j->hint[j->islands->contact[c]];
    if (hint > most) most = hint;
  }
  return most;
}

static void write_hint(const fx_job *j, int32_t k, uint8_t hint) {
  for (int32_t c = j->together ? 0 : j->islands->start[k];
       c < (j->together ? j->system->contact_count : j->islands->start[k + 1]); c++)
    j->hint[j->islands->contact[c]] = hint;
}

/* To take an island out of the whole and to judge its start, as a part of what the same took for all of them. */
static double extract_seconds(const fx_job *j, int32_t k) {
  double part = (double)(j->islands->start[k + 1] - j->islands->start[k]) / j->system->contact_count;
  return part * (0.5 * j->read + 4 * j->check);
}

/* A pile in motion hardly ever starts from its answer: that is seen before all of the start is judged. Where somebody
 * watches the time or the residual, all of it is. */
static bool judges_briefly(const fx_job *j, const fx_system *island) {
  return j->attempt == 0 && j->solver->takes_islands && island->has_velocity && !(j->limits.deadline > 0) &&
         !j->history && !j->limits.progress;
}

/* However little the time, a sweep is made: a start that is nothing lets bodies fall through each other. */
static bool sweeps_anyway(const fx_job *j) {
  return j->law == FRIX_LAW_COULOMB && (j->solver == &fx_solver_auto || j->solver == &fx_solver_nsgs);
}

static frix_status solve_island(const fx_job *j, int32_t k, fx_arena *arena, fx_island_result *result) {
  if (j->finish > 0 && fx_seconds() + j->finish + extract_seconds(j, k) >= j->limits.deadline) {
    result->outcome = FRIX_OUTCOME_TIME_LIMIT; /* swept before, and no time for more */
    return FRIX_OK;
  }
  /* A problem of one piece needs no copy, only the form the method uses. */
  fx_system island = *j->system;
  frix_status status = FRIX_OK;
  bool idle = island.has_velocity && j->islands->mover_start[1] < island.mover_count; /* movers without contact */
  if (!j->together && (j->islands->count > 1 || idle))
    status = fx_system_extract(arena, j->system, j->islands, k, &island);
  else if (island.has_W)
    island.has_velocity = false;
  if (status != FRIX_OK) return status;

  fx_monitor monitor;
  double *r = FX_TAKE_RAW(arena, double, island.row_count), *start = FX_TAKE_RAW(arena, double, island.row_count);
  fx_limits limits = j->limits;
  status = fx_monitor_init(&monitor, arena, &island, j->law, &limits, j->history);
  if (!r || !start || status != FRIX_OK) return FRIX_ERROR_MEMORY;
  if (island.has_velocity && island.Ht.x == j->given->Ht.x) { /* rows weigh what they do in the whole */
    monitor.scales = *j->scales;
    monitor.scales.of = &island;
  }
  take_rows(j, k, &island, j->r, r);
  take_rows(j, k, &island, j->start, start);
  fx_call call = {.system = &island,
                  .law = j->law,
                  .option = j->option,
                  .options = j->options,
                  .arena = arena,
                  .monitor = &monitor,
                  .r = r,
                  .start = start,
                  .finisher = j->solver->info.name,
                  .thread_count = j->thread_count,
                  .of_many = j->of_many,
                  .revised = j->revised,
                  .hint = read_hint(j, k)};

  /* Nothing may be the answer, also where the start is not nothing: bodies that graze each other after an impact. Short
   * of the tolerance it is no answer, whatever its residual. Else the start itself may be: a warm start then costs one
   * certificate. */
  fx_monitor_begin(&monitor, INT64_MAX);
  bool brief = judges_briefly(j, &island), zero = fx_impulses_are_zero(r, island.row_count);
  bool far = brief && fx_nothing_is_far(&island, j->law, limits.tolerance);
  bool stop = !far && fx_monitor_check_nothing(&monitor);
  brief = brief && !stop && !zero;
  if (brief) {
    stop = fx_monitor_check_start(&monitor, r);
    brief = monitor.best == INFINITY;
  } else if (!stop && (limits.deadline > 0 || !zero)) {
    stop = fx_monitor_check(&monitor, 0, r); /* under a deadline also to learn what a check costs */
    if (zero) monitor.best = INFINITY;
    share_time(j, k, &monitor, &limits);
    if (monitor.outcome == FRIX_OUTCOME_TIME_LIMIT && sweeps_anyway(j)) stop = monitor.finished = false;
  }
  if (!stop) status = j->solver->solve(&call);
  if (status != FRIX_OK) return status;
  if (brief && monitor.outcome != FRIX_OUTCOME_SOLVED) fx_monitor_compare(&monitor, start);
  give_rows(j, k, &island, monitor.best < INFINITY ? monitor.best_r : r);
  keep_velocity(j, &island, &monitor, result);
  result->outcome = monitor.outcome;
  result->iterations = monitor.before + monitor.iteration;
  result->finisher = call.finisher;
  result->left_off = call.left_off;
  result->residual = monitor.best;
  result->check_cost = monitor.check_cost;
  result->velocity_error = monitor.velocity_error;
  write_hint(j, k, stop ? 0 : call.hint);
  return keep_history(j, k, &monitor, result);
}

/* Of many islands those of few contacts, where auto would begin with sweeps and no callback watches. A deadline that is
 * far away need not be watched for some sweeps over some contacts. */
static bool is_small(const fx_job *j, int32_t k) {
  const fx_limits *l = &j->limits;
  bool watched = j->history || l->hurried || l->progress || l->max_iterations;
  int32_t first = j->islands->start[k], count = j->islands->start[k + 1] - first;
  bool jointed = false; /* newton's from the start; heaps
                         * of spheres that begin there are taken for piles at rest, which nothing brings further */
  for (int32_t c = first; c < first + count && count <= FX_SMALL_ISLAND && count > 1; c++)
    jointed |= j->islands->contact[c] >= j->system->joint_first;
  return j->islands->count > 1 && !j->together && !watched && !jointed && j->solver == &fx_solver_auto &&
         j->law == FRIX_LAW_COULOMB && count <= FX_SMALL_ISLAND && !(l->cancel && l->cancel(l->user));
}

static frix_status solve_small(const fx_job *j, int32_t k, fx_arena *arena, fx_island_result *result, bool *solved) {
  fx_small_islands all = {.system = j->system,
                          .islands = j->islands,
                          .tolerance = j->limits.tolerance,
                          .option = j->sweep_option,
                          .scales = j->scales,
                          .r = j->r,
                          .u = j->u,
                          .v = j->v};
  fx_small_answer answer;
  frix_status status = fx_small_island_solve(&all, k, arena, &answer);
  *solved = answer.solved;
  if (status != FRIX_OK || !answer.solved) return status;
  *result = (fx_island_result){.outcome = FRIX_OUTCOME_SOLVED,
                               .iterations = answer.iterations,
                               .finisher = (answer.iterations ? &fx_solver_nsgs : j->solver)->info.name,
                               .residual = answer.residual};
  write_hint(j, k, answer.iterations ? FX_NEEDED_SWEEPS : FX_NEEDED_UNKNOWN);
  fx_log(j->context, FRIX_LOG_INFO, "auto: %d contacts: a small island, %lld sweeps in place: residual %.2e, done",
         j->islands->start[k + 1] - j->islands->start[k], (long long)answer.iterations, answer.residual);
  return FRIX_OK;
}

void fx_run_island(int32_t k, void *user) {
  fx_job *j = user;
  fx_island_result *result = &j->result[k];
  bool solved = false;
  fx_arena arena;
  fx_arena_init(&arena, j->context);
  result->status = is_small(j, k) ? solve_small(j, k, &arena, result, &solved) : FRIX_OK;
  if (result->status == FRIX_OK && !solved) result->status = solve_island(j, k, &arena, result);
  fx_arena_free(&arena);
}
