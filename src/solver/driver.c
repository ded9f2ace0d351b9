/* The driver: prepares the system, splits it into islands, runs a method on each, and lets the certificate judge. */
#include "base/abi.h"
#include "base/threads.h"
#include "problem/equilibrate.h"
#include "problem/round_rows.h"
#include "solver/island_solve.h"
#include "solver/proximal.h"
#include "solver/revision.h"
#include "solver/springs.h"
#include "solver/sweeps.h"

#include <math.h>
#include <string.h>

enum { HURRY = 300 };

/* Ten sweeps are worth being a little late. */
static const double grace = 30e-6;

struct frix_solution {
  frix_context *context;
  frix_result result;
  double *r, *u, *v; /* r and u over contact and joint rows; lambda is the tail of r */
  uint8_t *hint;     /* over contacts and joints */
  frix_history_row *history;
};

static frix_solve_config default_solve(void) {
  frix_solve_config config = {0};
  config.size = sizeof config;
  config.solver = "auto";
  config.tolerance = 1e-8;
  config.thread_count = 1;
  return config;
}

void frix_solve_init(frix_solve_config *out, size_t size) {
  frix_solve_config all = default_solve();
  fx_give_struct(out, size, &all, sizeof all);
}

const char *frix_law_name(frix_law law) { return law == FRIX_LAW_ASSOCIATED ? "associated" : "coulomb"; }

const char *frix_outcome_name(frix_outcome outcome) {
  static const char *const name[] = {"solved", "max_iterations", "stalled", "time_limit", "cancelled", "loose"};
  return (unsigned)outcome < sizeof name / sizeof *name ? name[outcome] : "unknown";
}

static frix_status check_request(frix_context *context, const frix_problem *problem, const frix_solve_config *config,
                                 const fx_solver *solver) {
  if (!(config->tolerance > 0) || !(config->tolerance < INFINITY))
    return fx_fail(context, FRIX_ERROR_INPUT, "tolerance must be a positive number");
  if (!(config->time_limit >= 0) || config->max_iterations < 0 || config->thread_count < 1)
    return fx_fail(context, FRIX_ERROR_INPUT, "time_limit and max_iterations must not be negative, threads at least 1");
  bool law_known = config->law == FRIX_LAW_ASSOCIATED ? solver->info.associated : solver->info.coulomb;
  if (!law_known)
    return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "solver %s does not solve the %s law", solver->info.name,
                   frix_law_name(config->law));
  uint32_t cones = problem->joint_count ? 1u << FRIX_CONE_BILATERAL : 0;
  for (int32_t i = 0; i < problem->contact_count; i++) cones |= 1u << problem->contact[i].cone;
  for (int32_t c = 0; c < FRIX_CONE_COUNT; c++)
    if (cones & ~solver->info.cones & 1u << c)
      return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "solver %s does not know %s contacts%s", solver->info.name,
                     frix_cone_table(c)->name,
                     c == FRIX_CONE_CIRCULAR && solver->info.cones & 1u << FRIX_CONE_PYRAMID
                         ? "; pyramids can stand in for them: --cone pyramid:M, frix_problem_with_pyramids"
                         : "");
  return FRIX_OK;
}

static bool is_approximate(const frix_problem *problem, const frix_solve_config *config, const fx_solver *solver) {
  bool approximate = solver->info.approximate || config->law == FRIX_LAW_ASSOCIATED;
  for (int32_t i = 0; i < problem->contact_count; i++) approximate |= problem->contact[i].cone == FRIX_CONE_PYRAMID;
  return approximate;
}

static frix_status start_from(const frix_problem *problem, const frix_solve_config *config, int32_t row_count,
                              double *r) {
  const double *guess = config->guess_r ? config->guess_r : problem->guess;
  for (int32_t k = 0; guess && k < problem->row_count; k++) {
    if (!isfinite(guess[k])) return fx_fail(problem->context, FRIX_ERROR_INPUT, "guess[%d] is not a finite number", k);
    r[k] = guess[k];
  }
  for (int32_t k = problem->row_count; config->guess_lambda && k < row_count; k++) {
    double value = config->guess_lambda[k - problem->row_count];
    if (!isfinite(value))
      return fx_fail(problem->context, FRIX_ERROR_INPUT, "guess for lambda[%d] is not a finite number",
                     k - problem->row_count);
    r[k] = value;
  }
  return FRIX_OK;
}

/* Loose is next to solved; the others stand in the order of their names. */
static int badness(frix_outcome outcome) {
  return outcome == FRIX_OUTCOME_SOLVED ? 0 : outcome == FRIX_OUTCOME_LOOSE ? 1 : 1 + (int)outcome;
}

/* Outcome, iterations and finisher of the whole: the worst outcome and the island that worked longest. */
static frix_status merge(const fx_job *j, frix_result *result) {
  for (int32_t k = 0; k < j->count; k++) {
    const fx_island_result *one = &j->result[k];
    if (one->status != FRIX_OK) return one->status;
    if (k == 0 || one->iterations > result->iterations) {
      result->iterations = one->iterations;
      result->finisher = one->finisher;
    }
    if (one->velocity_error > result->velocity_error) result->velocity_error = one->velocity_error;
    if (badness(one->outcome) > badness(result->outcome)) result->outcome = one->outcome;
  }
  return FRIX_OK;
}

static frix_status merge_history(const fx_job *j, frix_solution *solution) {
  int64_t count = 0;
  for (int32_t k = 0; k < j->count; k++) count += j->result[k].history_count;
  solution->history = FX_NEW(j->context, frix_history_row, count);
  if (!solution->history) return FRIX_ERROR_MEMORY;
  count = 0;
  for (int32_t k = 0; k < j->count; k++)
    for (int32_t h = 0; h < j->result[k].history_count; h++) solution->history[count++] = j->result[k].history[h];
  solution->result.history = solution->history;
  solution->result.history_count = count;
  return FRIX_OK;
}

/* Taking a pile apart means to copy nearly all of it, where nearly all of it hangs together. */
static bool solve_together(const fx_solver *solver, const fx_islands *islands) {
  int32_t largest = 0, all = islands->start[islands->count];
  for (int32_t k = 0; k < islands->count; k++)
    if (islands->start[k + 1] - islands->start[k] > largest) largest = islands->start[k + 1] - islands->start[k];
  return solver->takes_islands && islands->count > 0 && largest > 0.8 * all;
}

/* The errors of single contacts, as part of the certificate. */
static void judge_rows(const fx_system *system, const fx_islands *islands, frix_law law, const double *r,
                       const double *u, fx_row_scales *scales, frix_certificate *certificate) {
  fx_row_errors errors;
  fx_row_errors_of_islands(system, islands, law, scales, r, u, &errors);
  fx_certificate_add_rows(&errors, certificate);
}

/* Normal impulses that are given; no velocity depends on them. */
static void put_given(const fx_system *s, double *r, double *u) {
  for (int32_t i = 0; s->has_bounds && i < s->contact_count; i++) {
    int32_t row = s->row[i];
    if (!fx_is_bound(s, i)) continue;
    r[row] = fx_bound_of(s, i);
    u[row] = s->q[row] + s->R[row] * r[row];
  }
}

/* Better island by island need not be better: where the whole was swept before, that may be the answer. */
static void judge(const fx_job *j, const frix_problem *problem, const double *swept, double swept_residual,
                  double *workspace, frix_solution *solution) {
  double *r = solution->r, *u = solution->u, *v = solution->v;
  bool worse = swept && fx_residual_of(j->system, j->law, r, u, v) > swept_residual;
  bool known = swept ? !worse && !j->system->round : j->count == 1 && j->result[0].has_velocity;
  if (worse) memcpy(r, swept, (size_t)j->system->row_count * sizeof *r);
  if (!known) fx_system_velocity(j->given, r, u, v);
  put_given(j->given, r, u);
  frix_certificate *certificate = &solution->result.certificate;
  fx_certificate_compute(problem, j->given, j->law, r, u, v, workspace, certificate);
  judge_rows(j->given, j->islands, j->law, r, u, j->scales, certificate);
}

/* Many islands under a deadline: ten sweeps over all of them as one come first, so that none is left with nothing while
 * another takes its time. */
static frix_status sweep_first(fx_job *j, double *residual) {
  enum { SWEEPS = 10 };
  fx_job all = *j;
  all.together = true;
  all.count = 1;
  all.solver = &fx_solver_nsgs;
  all.option = j->sweep_option;
  all.history = false;
  all.limits.grace = grace;
  if (!all.limits.max_iterations || all.limits.max_iterations > SWEEPS) all.limits.max_iterations = SWEEPS;
  fx_run_island(0, &all);
  *residual = j->result[0].residual;
  j->check = j->result[0].check_cost;
  j->finish = fx_finish_seconds(j, j->check);
  return j->result[0].status;
}

/* Where the time is limited, the largest island comes last: it may take all of it, and the others need little. */
static void run_islands(fx_job *j, int32_t thread_count) {
  if (j->count == 1 || thread_count > 1 || !(j->limits.deadline > 0) || j->limits.hurried) {
    fx_parallel(j->context, thread_count, j->count, fx_run_island, j);
    return;
  }
  int32_t largest = 0;
  for (int32_t k = 1; k < j->count; k++)
    if (j->islands->start[k + 1] - j->islands->start[k] > j->islands->start[largest + 1] - j->islands->start[largest])
      largest = k;
  for (int32_t k = 0; k < j->count; k++)
    if (k != largest) fx_run_island(k, j);
  fx_run_island(largest, j);
}

/* Impulses into the units that the methods work in, or back. */
static void change_units(const fx_job *j, bool back) {
  for (int32_t k = 0; j->unit && k < j->system->row_count; k++) {
    j->r[k] = back ? j->r[k] * j->unit[k] : j->r[k] / j->unit[k];
    j->start[k] = back ? j->start[k] * j->unit[k] : j->start[k] / j->unit[k];
  }
}

/* Whether the start is certified as the problem is given: in the units and in the form that the methods work in, what
 * errors are measured by may be something else. */
static bool start_is_good(const fx_job *j, const frix_problem *problem, double *workspace, frix_solution *solution) {
  frix_certificate *certificate = &solution->result.certificate;
  bool same = !j->unit && !(j->given->has_W && j->given->has_velocity);
  if (same || j->limits.hurried || fx_impulses_are_zero(j->r, j->system->row_count)) return false;
  fx_system_velocity(j->given, j->r, j->u, j->v);
  fx_certificate_compute(problem, j->given, j->law, j->r, j->u, j->v, workspace, certificate);
  judge_rows(j->given, j->islands, j->law, j->r, j->u, j->scales, certificate);
  return certificate->residual <= j->limits.tolerance;
}

/* Whether the rows have changed with the answer, which is none any more. */
static bool is_revised(const fx_job *j, const frix_result *result) {
  return j->revised && fx_revise(j->revised, result->certificate.residual, j->r, NULL);
}

/* Rigid contacts with a start that is something: from nothing, structures at rest have ways of their own. A pile that
 * is left early, and one whose iterations are counted, are those of auto itself. */
static bool is_proximal(const fx_job *j) {
  double loose = j->option[FX_AUTO_PILE_TOLERANCE];
  return fx_proximal_fits(j->system) && !fx_impulses_are_zero(j->r, j->system->row_count) &&
         !(loose > j->limits.tolerance) && !j->limits.max_iterations;
}

static const double near_rounds = 1e-6; /* residual of rounds from whose answer the islands go on */

/* Where every contact is compliant, or every one is rigid, all islands as one (springs.c, proximal.c). True in *done
 * where the answer is certified; else the islands go on from it, rigid ones from the start. */
static frix_status solve_springs(fx_job *j, const frix_problem *problem, double *workspace, frix_solution *solution,
                                 bool *done) {
  *done = false;
  if (j->solver != &fx_solver_auto || j->law != FRIX_LAW_COULOMB || j->limits.hurried) return FRIX_OK;
  bool rigid = is_proximal(j);
  if (!rigid && fx_pile_spring_sweeps(j->system) == 0) return FRIX_OK;
  fx_job all = *j;
  all.together = true;
  all.count = 1;
  all.solver = rigid ? &fx_solver_proximal : &fx_solver_springs;
  all.limits.rows_later = !rigid; /* by the certificate, right after */
  do {
    change_units(&all, false);
    fx_run_island(0, &all);
    change_units(&all, true);
    frix_status status = merge(&all, &solution->result);
    if (status != FRIX_OK) return status;
    judge(&all, problem, NULL, INFINITY, workspace, solution);
    *done = solution->result.certificate.residual <= j->limits.tolerance;
  } while (*done && is_revised(j, &solution->result));
  if (*done) j->count = 1;
  bool near = j->result[0].residual <= near_rounds;
  /* from 4e-6, where the rounds ended, a struck wall took 17,415 iterations in vain; from its start 2,251 certify it;
   * struck card houses at 4e-8 need 3,000 and half the time from there, 7,000 to 14,000 from the start; heaps
   * of spheres that begin there are taken for piles at rest, which nothing brings further */
  if (rigid && !*done && !(near && !fx_round_sample(j->system)))
    memcpy(j->r, j->start, (size_t)j->system->row_count * sizeof *j->r);
  return FRIX_OK;
}

/* One run over the islands, and its judgement. */
static frix_status run_once(fx_job *j, const frix_problem *problem, const double *swept, double swept_residual,
                            double *workspace, frix_solution *solution) {
  change_units(j, false);
  run_islands(j, j->thread_count);
  change_units(j, true);
  solution->result.outcome = FRIX_OUTCOME_SOLVED;
  frix_status status = merge(j, &solution->result);
  if (status == FRIX_OK) judge(j, problem, swept, swept_residual, workspace, solution);
  return status;
}

/* A rough answer, or several, for rows that wait for it. */
static frix_status run_roughly(fx_job *j, const frix_problem *problem, double *workspace, frix_solution *solution) {
  fx_revision *owner = j->revised ? j->revised->owner : NULL;
  double tolerance = j->limits.tolerance;
  frix_status status = FRIX_OK;
  while (owner && owner->rough > tolerance && status == FRIX_OK) {
    j->limits.tolerance = owner->rough;
    status = run_once(j, problem, NULL, INFINITY, workspace, solution);
    bool rough = status == FRIX_OK && solution->result.certificate.residual <= owner->rough;
    if (!rough || !is_revised(j, &solution->result)) owner->rough = 0;
  }
  j->limits.tolerance = tolerance;
  return status;
}

/* Runs the islands and judges the whole. Islands that are nearly solved may be enough, since the certificate is
 * relative to all impulses; where they are not, they go on. Islands that are solved one by one are solved together up
 * to the sums in the certificate; where these miss by a little, the islands go on with a tighter tolerance. */
static frix_status run(fx_arena *arena, fx_job *j, const frix_problem *problem, const frix_solve_config *config,
                       double *workspace, frix_solution *solution) {
  frix_result *result = &solution->result;
  double *swept = NULL, swept_residual = INFINITY;
  if (j->limits.hurried && j->count > 1 && j->solver == &fx_solver_auto && j->law == FRIX_LAW_COULOMB) {
    size_t rows = (size_t)j->system->row_count;
    frix_status status = sweep_first(j, &swept_residual);
    if (status != FRIX_OK) return status;
    if (!(swept = FX_TAKE_RAW(arena, double, rows))) return FRIX_ERROR_MEMORY;
    memcpy(swept, solution->r, rows * sizeof *swept);
  }
  if (start_is_good(j, problem, workspace, solution) && !is_revised(j, result)) {
    result->outcome = FRIX_OUTCOME_SOLVED;
    return FRIX_OK;
  }
  bool done;
  frix_status status = solve_springs(j, problem, workspace, solution, &done);
  if (status != FRIX_OK || done) return status;
  if ((status = run_roughly(j, problem, workspace, solution)) != FRIX_OK) return status;
  for (; j->attempt < 4; j->attempt++) {
    status = run_once(j, problem, swept, swept_residual, workspace, solution);
    if (status != FRIX_OK) return status;
    bool good = result->certificate.residual <= config->tolerance;
    if (good && is_revised(j, result)) {
      j->attempt = -1;
      j->limits.tolerance = config->tolerance;
      continue;
    }
    bool ended = result->outcome != FRIX_OUTCOME_SOLVED, again = false;
    for (int32_t k = 0; k < j->count; k++) again |= j->result[k].left_off;
    j->of_many = false;
    if (good) result->outcome = FRIX_OUTCOME_SOLVED;
    if (good || (ended && !again)) return FRIX_OK;
    if (ended) continue; /* from where they are, and thoroughly */
    result->outcome = FRIX_OUTCOME_STALLED;
    j->limits.tolerance *= 0.1;
  }
  return FRIX_OK;
}

/* A flexible body or a mechanism with few contacts has more degrees of freedom than rows: it is better off without M.
 */
static bool velocity_is_smaller(const fx_system *s) {
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++)
      if (fx_block_cols(&s->Ht, k) > 6 && fx_block_cols(&s->Ht, k) > s->row_count) return false;
  return true;
}

static frix_status prepare_and_run(frix_context *context, fx_arena *arena, const frix_problem *problem,
                                   const frix_solve_config *config, int32_t row, fx_revision *owner,
                                   frix_solution *solution) {
  double start = fx_seconds(), option[FX_MAX_OPTIONS];
  const fx_solver *solver = fx_solver_at(row);
  fx_options_values(config->options, row, option);
  fx_system system;
  fx_islands islands;
  bool velocity = config->form == FRIX_FORM_AUTO && problem->form == FRIX_FORM_GLOBAL && solver->prefers_velocity;
  frix_status status = fx_system_build(arena, problem, velocity ? FRIX_FORM_GLOBAL : config->form, &system);
  system.threads = (fx_threads){context, config->thread_count};
  if (status == FRIX_OK && velocity && !velocity_is_smaller(&system)) status = fx_system_assemble(arena, &system);
  if (status == FRIX_OK) status = fx_islands_find(arena, &system, NULL, &islands);
  if (status != FRIX_OK) return status;

  solution->r = FX_NEW(context, double, system.row_count);
  solution->u = fx_alloc_raw(context, (size_t)system.row_count, sizeof *solution->u);
  solution->v = fx_alloc_raw(context, (size_t)system.dof_count, sizeof *solution->v);
  solution->hint = FX_NEW(context, uint8_t, system.contact_count);
  double *workspace = FX_TAKE_RAW(arena, double, 2 * (size_t)system.dof_count);
  fx_job j = {.context = context,
              .system = &system,
              .islands = &islands,
              .solver = solver,
              .options = config->options,
              .option = option,
              .law = config->law,
              .limits = {.tolerance = config->tolerance,
                         .max_iterations = config->max_iterations,
                         .start = start,
                         .deadline = config->time_limit > 0 ? start + config->time_limit : 0,
                         .cancel = config->cancel,
                         .progress = config->progress,
                         .user = config->user},
              .history = config->history,
              .together = solve_together(solver, &islands),
              .of_many = islands.count > 1,
              .count = islands.count,
              .r = solution->r,
              .u = solution->u,
              .v = solution->v,
              .hint = solution->hint,
              .thread_count = config->thread_count,
              .result = FX_TAKE(arena, fx_island_result, islands.count)};
  fx_row_scales row_scales;
  j.scales = &row_scales;
  if (!solution->r || !solution->u || !solution->v || !solution->hint || !workspace || !j.result ||
      fx_row_scales_take(arena, &system, &row_scales) != FRIX_OK)
    return FRIX_ERROR_MEMORY;
  if (j.together) j.count = 1;
  fx_options_values(config->options, fx_solver_row(&fx_solver_nsgs), j.sweep_option);
  double read = fx_seconds() - start; /* a solve of many iterations takes some hundred times as long */
  j.limits.hurried = config->time_limit > 0 && config->time_limit - read < HURRY * read;
  j.read = read;
  if (j.limits.hurried && j.count == 1) j.limits.grace = grace;
  j.of_many = j.of_many && !j.limits.hurried;
  fx_system alike;
  j.given = &system;
  if (!j.limits.hurried) status = fx_system_equilibrate(arena, &system, &alike, &j.unit);
  if (status != FRIX_OK) return status;
  if (j.unit) j.system = &alike;
  fx_revised revised = {owner, problem, &system, j.unit ? &alike : NULL, j.unit, NULL};
  if (owner) {
    j.revised = &revised;
    if (!(revised.r = FX_TAKE_RAW(arena, double, system.row_count))) return FRIX_ERROR_MEMORY;
  }
  if (config->guess_hint) memcpy(j.hint, config->guess_hint, (size_t)problem->contact_count);
  double *start_r = FX_TAKE_RAW(arena, double, system.row_count);
  if (!start_r) return FRIX_ERROR_MEMORY;
  status = start_from(problem, config, system.row_count, solution->r);
  j.start = memcpy(start_r, solution->r, (size_t)system.row_count * sizeof *start_r);
  if (status == FRIX_OK) status = run(arena, &j, problem, config, workspace, solution);
  if (status == FRIX_OK && config->history) status = merge_history(&j, solution);
  for (int32_t k = 0; k < islands.count; k++) fx_free(context, j.result[k].history);
  if (status != FRIX_OK) return status;

  frix_result *result = &solution->result;
  result->solver = solver->info.name;
  if (!result->finisher) result->finisher = solver->info.name;
  result->approximate = is_approximate(problem, config, solver);
  result->island_count = islands.count;
  result->seconds = fx_seconds() - start;
  return FRIX_OK;
}

frix_status frix_solve(frix_context *context, const frix_problem *problem, const frix_solve_config *config,
                       frix_solution **out) {
  return fx_solve_revised(context, problem, config, NULL, out);
}

frix_status fx_solve_revised(frix_context *context, const frix_problem *problem, const frix_solve_config *config,
                             fx_revision *owner, frix_solution **out) {
  if (!context || !problem || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  frix_solve_config chosen = frix_solve_default();
  FX_WHOLE(frix_solve_config, config, frix_solve_default());
  if (config && config->size != sizeof chosen)
    return fx_fail(context, FRIX_ERROR_INPUT, "solve config does not come from frix_solve_default()");
  if (config) chosen = *config;
  int32_t row = fx_solver_find(context, chosen.solver ? chosen.solver : "auto");
  if (row < 0) return FRIX_ERROR_INPUT;
  frix_status status = check_request(context, problem, &chosen, fx_solver_at(row));
  if (status != FRIX_OK) return status;

  frix_solution *solution = FX_NEW(context, frix_solution, 1);
  if (!solution) return FRIX_ERROR_MEMORY;
  solution->context = context;
  fx_arena arena;
  fx_arena_init(&arena, context);
  status = prepare_and_run(context, &arena, problem, &chosen, row, owner, solution);
  fx_arena_free(&arena);
  if (status != FRIX_OK) {
    frix_solution_destroy(solution);
    return status;
  }
  frix_result *result = &solution->result;
  bool global = problem->form == FRIX_FORM_GLOBAL;
  result->size = sizeof *result;
  result->contact_count = problem->contact_count;
  result->row_count = problem->row_count;
  result->dof_count = problem->dof_count;
  result->joint_count = problem->joint_count;
  result->r = solution->r;
  result->u = solution->u;
  result->hint = solution->hint;
  result->v = global ? solution->v : NULL;
  result->lambda = global ? solution->r + problem->row_count : NULL;
  *out = solution;
  return FRIX_OK;
}

void frix_solution_destroy(frix_solution *solution) {
  if (!solution) return;
  frix_context *context = solution->context;
  fx_free(context, solution->r);
  fx_free(context, solution->u);
  fx_free(context, solution->v);
  fx_free(context, solution->hint);
  fx_free(context, solution->history);
  fx_free(context, solution);
}

void frix_solution_view_sized(const frix_solution *solution, frix_result *out, size_t size) {
  frix_result none = {0};
  fx_give_struct(out, size, solution ? &solution->result : &none, sizeof none);
}

frix_status fx_certify_system(fx_arena *arena, const frix_problem *problem, const fx_system *system, frix_law law,
                              const double *r, const double *u, const double *v, frix_certificate *out) {
  fx_islands islands;
  fx_row_scales scales;
  double *workspace = FX_TAKE(arena, double, 2 * (size_t)system->dof_count);
  frix_status status = workspace ? fx_islands_find(arena, system, NULL, &islands) : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) status = fx_row_scales_take(arena, system, &scales);
  if (status != FRIX_OK) return status;
  fx_certificate_compute(problem, system, law, r, u, v, workspace, out);
  judge_rows(system, &islands, law, r, u, &scales, out);
  return FRIX_OK;
}

frix_status frix_certify(frix_context *context, const frix_problem *problem, frix_law law, const double *r,
                         const double *lambda, frix_certificate *out, double *u, double *v) {
  if (!context || !problem || !r || !out) return FRIX_ERROR_INPUT;
  fx_arena arena;
  fx_arena_init(&arena, context);
  fx_system system;
  frix_status status = fx_system_build(&arena, problem, problem->form, &system);
  if (status == FRIX_OK) {
    double *all = FX_TAKE(&arena, double, system.row_count), *velocity = FX_TAKE(&arena, double, system.row_count);
    double *motion = FX_TAKE(&arena, double, system.dof_count);
    if (all && velocity && motion) {
      memcpy(all, r, (size_t)problem->row_count * sizeof *all);
      if (lambda) memcpy(all + problem->row_count, lambda, (size_t)problem->joint_count * sizeof *all);
      fx_system_velocity(&system, all, velocity, motion);
      status = fx_certify_system(&arena, problem, &system, law, all, velocity, motion, out);
      if (u) memcpy(u, velocity, (size_t)problem->row_count * sizeof *u);
      if (v && problem->form == FRIX_FORM_GLOBAL) memcpy(v, motion, (size_t)problem->dof_count * sizeof *v);
    } else {
      status = FRIX_ERROR_MEMORY;
    }
  }
  fx_arena_free(&arena);
  return status;
}
