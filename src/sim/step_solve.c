/* The answer of given rows: ways to it, one after the other.
 *
 * The impulses of the last step are judged first; at rest they are the answer. Otherwise the solver is asked, and what
 * it found is made to agree with what depends on it (drilling friction), made better where that pays (polish, refine,
 * settle), or asked for less where there is none (push-out). Nothing here makes other rows: that is for retries.c. */
#include "base/threads.h"
#include "sim/solving.h"
#include "sim/tree_newton.h"
#include "solver/revision.h"

#include <math.h>
#include <string.h>

static frix_status build_once(frix_sim *sim, const fx_assembly *a) {
  return sim->problem.row ? FRIX_OK : fx_rows_build(sim, a, &sim->arena, &sim->problem);
}

static bool has_tree_rows(const frix_sim *sim) {
  for (int32_t k = 0; sim->mechanism && k < sim->mover_count; k++)
    if (sim->mover[k].tree && !sim->mover[k].tree->soft && sim->mover[k].first >= 0) return true;
  return false;
}

/* Velocities of trees from the sum of the impulses, with the certificate of these. A solver adds responses M^-1 J' r
 * row by row; those of a light link are large and cancel, and their rounding moves the heavy ones it carries. Long
 * chains are the other way round: M^-1 enlarges the rounding of the sum, and the solver's velocities hold their rows
 * better. The sum counts where it is certified, and where the solver's velocities miss M v = f + J' r by more than the
 * tolerance: these are no velocities of its impulses. */
static frix_status move_trees(frix_sim *sim, fx_assembly *a) {
  double *v = FX_TAKE_RAW(&sim->arena, double, sim->problem.dof_count),
         *u = FX_TAKE_RAW(&sim->arena, double, a->row_count);
  frix_certificate sum;
  frix_status status = v && u ? fx_rows_judge(sim, a, a->r, u, v, &sum) : FRIX_ERROR_MEMORY;
  double most = fmax(sim->report.certificate.residual, sim->config.polish);
  bool lost = sim->report.certificate.motion > sim->config.tolerance;
  if (status || !(lost || sum.residual <= most)) return status;
  sim->report.certificate = sum;
  memcpy(a->u, u, (size_t)a->row_count * sizeof *u);
  fx_put_answer(sim, v);
  return FRIX_OK;
}

/* Rows without an answer cost the solver all its methods. A step asks for answers of changed rows up to some tens of
 * times; where so many had none, the next ones get this number of iterations of each method. */
enum { FAILURES = 3, SHORT_ITERATIONS = 100 };

static frix_status ask_solver(frix_sim *sim, fx_assembly *a, bool again, double best, const fx_polisher *with,
                              fx_revision *revision) {
  frix_status status = build_once(sim, a);
  if (status != FRIX_OK) return status;
  frix_solve_config config = frix_solve_default();
  config.solver = sim->config.solver;
  config.options = sim->config.options;
  config.law = sim->config.law;
  config.tolerance = sim->config.tolerance;
  config.max_iterations = sim->config.max_iterations;
  config.thread_count = sim->config.thread_count;
  if (sim->deadline > 0.0) config.time_limit = fmax(sim->solve_end - fx_seconds(), 1e-9);
  config.cancel = sim->config.cancel, config.user = sim->config.user;
  config.guess_r = again ? a->r : a->guess;
  config.guess_lambda = (again ? a->r : a->guess) + sim->problem.row_count;
  if (with) {
    config.solver = with->solver;
    config.tolerance = with->tolerance;
    config.max_iterations = with->max_iterations;
  }
  if (sim->failed_solves >= FAILURES && !(config.max_iterations > 0 && config.max_iterations < SHORT_ITERATIONS))
    config.max_iterations = SHORT_ITERATIONS;
  frix_solution *solution;
  status = fx_solve_revised(sim->inner, &sim->problem, &config, revision, &solution);
  if (status != FRIX_OK) return fx_fail(sim->context, status, "%s", frix_error_text(sim->inner));
  frix_result result;
  frix_solution_view(solution, &result);
  frix_step_report *report = &sim->report;
  report->iterations += result.iterations;
  sim->failed_solves += !with && result.outcome != FRIX_OUTCOME_SOLVED; /* others ask for more digits than needed */
  if (sim->config.cancel && result.outcome == FRIX_OUTCOME_CANCELLED) {
    frix_solution_destroy(solution);
    return fx_fail(sim->context, FRIX_ERROR_CANCELLED, "the cancel callback ended the step");
  }
  if (!(result.certificate.residual < best)) {
    /* numbers overflowed: these impulses are no answer, and what there was is of other rows, or none */
    if (!(best < INFINITY)) report->certificate = result.certificate, report->outcome = FRIX_OUTCOME_STALLED;
    frix_solution_destroy(solution);
    return FRIX_OK;
  }
  report->certificate = result.certificate;
  report->approximate = result.approximate;
  report->finisher = result.finisher;
  report->island_count = result.island_count;
  memcpy(a->r, result.r, (size_t)a->row_count * sizeof *a->r);
  fx_put_answer(sim, result.v);
  if (has_tree_rows(sim) && !result.approximate) status = move_trees(sim, a);
  bool good = report->certificate.residual <= sim->config.tolerance;
  report->outcome = good ? FRIX_OUTCOME_SOLVED : result.outcome;
  frix_solution_destroy(solution);
  return status;
}

/* ---- trees ---- */

/* Whether a soft body (soft), or else a tree, is faster than that. */
static bool has_faster(const frix_sim *sim, bool soft, double speed) {
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->tree && !m->tree->soft == !soft && m->first >= 0 && fx_norm(m->v0) > speed) return true;
  }
  return false;
}

/* More than a thousandth of what one step of gravity would make it. */
static double moving_speed(const frix_sim *sim) { return 1e-3 * sim->h * fx_norm(sim->state.gravity); }

static bool has_moving_tree(const frix_sim *sim) { return sim->mechanism && has_faster(sim, false, moving_speed(sim)); }

static bool allows_tree_newton(const frix_sim *sim) {
  return sim->mechanism && sim->config.law == FRIX_LAW_COULOMB && !(sim->deadline > 0.0) &&
         !strcmp(sim->config.solver, "auto");
}

/* Judges a->r, and takes it where it is better than `best` and good enough. */
static frix_status take_trees(frix_sim *sim, fx_assembly *a, double best, bool *taken) {
  frix_certificate certificate;
  double *v = FX_TAKE_RAW(&sim->arena, double, sim->problem.dof_count);
  if (!v) return FRIX_ERROR_MEMORY;
  frix_status status = fx_rows_judge(sim, a, a->r, a->u, v, &certificate);
  double goal = fmin(sim->config.tolerance, fx_goal_of_springs(sim, a));
  *taken = status == FRIX_OK && certificate.residual <= goal && certificate.residual < best;
  if (!*taken) return status;
  fx_put_answer(sim, v);
  sim->report.certificate = certificate;
  sim->report.finisher = "tree newton";
  sim->report.outcome = FRIX_OUTCOME_SOLVED;
  return FRIX_OK;
}

/* The rows as they are; where newton does not find their answer a->r is as it was. */
static frix_status solve_trees(frix_sim *sim, fx_assembly *a, bool again, double best, bool *taken) {
  fx_tree_newton newton;
  size_t bytes = (size_t)a->row_count * sizeof *a->r;
  double *before = FX_TAKE_RAW(&sim->arena, double, a->row_count);
  if (!before) return FRIX_ERROR_MEMORY;
  memcpy(before, a->r, bytes);
  if (!again) memcpy(a->r, a->guess, bytes);
  frix_status status = fx_tree_newton_begin(sim, a, &sim->arena, &newton);
  bool good = status == FRIX_OK && fx_tree_newton_run(sim, a, &newton, !has_moving_tree(sim), &sim->report.iterations);
  if (good) status = take_trees(sim, a, best, taken);
  if (!*taken) memcpy(a->r, before, bytes);
  return status;
}

frix_status fx_solve_once(frix_sim *sim, fx_assembly *a, bool again, double best, const fx_polisher *with) {
  bool taken = false;
  frix_status status = !with && allows_tree_newton(sim) ? solve_trees(sim, a, again, best, &taken) : FRIX_OK;
  return status == FRIX_OK && !taken ? ask_solver(sim, a, again, best, with, NULL) : status;
}

/* ---- the ways ---- */

typedef struct solving {
  frix_sim *sim;
  fx_assembly *a;
  double begun; /* under a deadline: when */
  bool sought;  /* forces that hold it at rest were looked for */
  bool known;   /* the guess, the last impulses or what newton found, is certified */
  bool found;   /* newton on the rows of trees found it */
} solving;

static double hardest_blow(const fx_assembly *a) {
  double most = 0.0;
  for (int32_t k = 0; k < a->joint_first; k++) most = fmax(most, a->group[k].blow);
  return most;
}

static bool always(const solving *x) { return x->a != NULL; }
static bool is_coulomb(const solving *x) { return x->sim->config.law == FRIX_LAW_COULOMB; }
static bool is_timed(const solving *x) { return x->sim->deadline > 0.0; }
static bool is_new(const solving *x) { return !x->known && !x->found; }

/* A heap of which many bodies move never repeats its impulses; judging the last ones costs as much as twenty sweeps. */
static bool heap_moves(const frix_sim *sim) {
  enum { HEAP = 100, MANY = 10 }; /* contacts; one of so many bodies */
  int32_t moving = 0, count = 0;
  double least = moving_speed(sim);
  for (int32_t k = 0; k < sim->mover_count && sim->problem.contact_count >= HEAP; k++) {
    if (sim->mover[k].first < 0) continue;
    count++;
    moving += fx_norm(sim->mover[k].v0) > least;
  }
  return MANY * moving > count;
}

static const double surely_new = 1e-6; /* of that speed: impulses on soft bodies change by more than of_rounding */

/* The last impulses are not tried after an impact, nor where a tree moves: its rows have turned, and newton is
 * nearer. */
static bool may_reuse(const solving *x) {
  bool stirs = allows_tree_newton(x->sim) && has_faster(x->sim, false, 0.0);
  bool bends = x->sim->softs && has_faster(x->sim, true, surely_new * moving_speed(x->sim)); /* newton is next */
  return is_coulomb(x) && !(hardest_blow(x->a) > 0.0) && !stirs && !bends && !heap_moves(x->sim);
}

static bool may_rest(const solving *x) { return fx_may_rest(x->sim, x->a); }

static frix_status seek_rest(solving *x) {
  x->sought = true;
  frix_status status = fx_attempt_keep_unset(x->sim, x->a);
  return status == FRIX_OK ? fx_seek_rest(x->sim, x->a, true) : status;
}

static frix_status try_within(solving *x, double most) {
  frix_sim *sim = x->sim;
  fx_assembly *a = x->a;
  frix_certificate certificate;
  double *v = FX_TAKE_RAW(&sim->arena, double, sim->problem.dof_count);
  if (!v) return FRIX_ERROR_MEMORY;
  frix_status status = fx_rows_judge(sim, a, a->guess, a->u, v, &certificate);
  if (status != FRIX_OK) return status;
  double goal = fmin(most, fx_goal_of_springs(sim, a));
  if (!(certificate.residual <= goal) || fx_needs_polish(sim, certificate.residual)) return FRIX_OK;
  memcpy(a->r, a->guess, (size_t)a->row_count * sizeof *a->r);
  fx_put_answer(sim, v);
  sim->report.certificate = certificate;
  sim->report.finisher = "warm start";
  sim->state.polish_again = 0;
  x->known = true;
  return FRIX_OK;
}

static frix_status try_guess(solving *x) { return try_within(x, x->sim->config.tolerance); }

/* Newton over the coordinates of soft bodies finds rounding in a step or two. What is less would keep them trembling at
 * the tolerance, and no step would repeat the one before. */
static const double of_rounding = 1e-11;

static bool has_soft(const solving *x) { return !x->known && x->sim->softs && is_coulomb(x) && x->a->compliant; }

static frix_status try_last(solving *x) { return has_soft(x) ? try_within(x, of_rounding) : try_guess(x); }

enum { DRILLINGS = 12 }; /* rounds in which bounds of drilling friction follow */

#define ROUGH 1e-2   /* residual of an answer that tells impulses of blows */
#define DOUBTED 1e-3 /* and of one that tells whether they come */

typedef struct blows {
  fx_revision revision;
  const frix_sim *sim;
  fx_assembly *a;
  int rounds; /* in which they are still to be expected */
} blows;

/* Blows are expected as by the solver (revise_blows), where every island is Newton's; else the rows are as they were.
 */
static frix_status expect_soft_blows(solving *x, int rounds, fx_found *found) {
  fx_assembly *a = x->a;
  fx_attempt before;
  frix_status status = fx_attempt_begin(x->sim, a, &before);
  if (status != FRIX_OK) return status;
  if (!a->expected && !(a->expected = FX_TAKE(a->arena, double, a->row_count))) return FRIX_ERROR_MEMORY;
  for (; rounds > 0 && status == FRIX_OK && *found == FX_FOUND_ALL && fx_expect_blows(x->sim, a); rounds--)
    status = fx_soft_newton(x->sim, a, true, found);
  while (status == FRIX_OK && *found == FX_FOUND_ALL && fx_drop_false_blows(x->sim, a))
    status = fx_soft_newton(x->sim, a, true, found);
  if (*found != FX_FOUND_ALL) fx_attempt_restore_rows(a, &before);
  return status;
}

/* Certified as they are, or where the solver starts. Under a deadline there is no time for blows. */
static frix_status try_soft(solving *x) {
  fx_found found;
  int rounds = is_timed(x) ? 0 : fx_blow_rounds(hardest_blow(x->a));
  frix_status status = fx_soft_newton(x->sim, x->a, false, &found);
  if (status == FRIX_OK && rounds > 0) {
    if (found != FX_FOUND_ALL) return FRIX_OK;
    status = expect_soft_blows(x, rounds, &found);
    if (found != FX_FOUND_ALL) return status;
  }
  if (status != FRIX_OK) return status;
  if (found == FX_FOUND_NONE) return may_reuse(x) ? try_guess(x) : FRIX_OK;
  memcpy(x->a->guess, x->a->r, (size_t)x->a->row_count * sizeof *x->a->r);
  status = try_guess(x);
  if (x->known) x->sim->report.finisher = "soft newton";
  return status;
}

/* Springs would leave a part R / (W + R) of a blow as velocity. A rough answer tells its impulses; springs that are set
 * to carry them (u = v + R (r - r_c), r_c those impulses) leave only the square of that part. What expects more of a
 * blow than there is would be thrown apart, and expects nothing any more. */
static bool revise_blows(fx_revision *revision, double residual, const double *r) {
  blows *b = (blows *)revision;
  if (!(residual <= (b->rounds > 0 ? ROUGH : DOUBTED))) return false;
  memcpy(b->a->r, r, (size_t)b->a->row_count * sizeof *r);
  if (b->rounds == 0) return fx_drop_false_blows(b->sim, b->a);
  if (--b->rounds == 0) revision->rough = 0.0;
  return fx_expect_blows(b->sim, b->a);
}

static frix_status expect_blows(solving *x, int rounds) {
  fx_assembly *a = x->a;
  blows b = {{ROUGH, revise_blows}, x->sim, a, rounds};
  if (!a->expected && !(a->expected = FX_TAKE(a->arena, double, a->row_count))) return FRIX_ERROR_MEMORY;
  return ask_solver(x->sim, a, false, INFINITY, NULL, &b.revision);
}

static bool may_try_trees(const solving *x) { return !x->known && allows_tree_newton(x->sim); }

/* To the bit: what is expected on the way may be so large that memories are lost beside it. */
static void forget_blows(fx_assembly *a, const double *memory) {
  for (int32_t k = 0; k < a->row_count; k++)
    if (a->expected[k] != 0.0) a->r_c[k] = memory[k], a->expected[k] = 0.0;
}

/* Impulses that agree with what depends on them: blows that are expected, bounds of drilling friction. */
static frix_status find_impulses(solving *x, bool *good) {
  frix_sim *sim = x->sim;
  fx_assembly *a = x->a;
  fx_tree_newton newton;
  int64_t *iterations = &sim->report.iterations;
  frix_status status = fx_tree_newton_begin(sim, a, &sim->arena, &newton);
  int rounds = fx_blow_rounds(hardest_blow(a));
  bool fine = !has_moving_tree(sim);
  *good = false;
  if (status != FRIX_OK || newton.count == 0) return status;
  if (rounds > 0 && !a->expected && !(a->expected = FX_TAKE(a->arena, double, a->row_count))) return FRIX_ERROR_MEMORY;
  memcpy(a->r, a->guess, (size_t)a->row_count * sizeof *a->r);
  *good = fx_tree_newton_run(sim, a, &newton, fine, iterations);
  for (; *good && rounds > 0 && fx_expect_blows(sim, a); rounds--)
    *good = fx_tree_newton_run(sim, a, &newton, fine, iterations);
  while (*good && a->expected && fx_drop_false_blows(x->sim, a))
    *good = fx_tree_newton_run(sim, a, &newton, fine, iterations);
  for (int k = 0; *good && k < DRILLINGS && fx_drilling_update(a); k++)
    *good = fx_tree_newton_run(sim, a, &newton, fine, iterations);
  return FRIX_OK;
}

/* Certified as they are; else the solver starts as if nothing had been tried. */
static frix_status try_trees(solving *x) {
  bool good;
  fx_assembly *a = x->a;
  double *memory = FX_TAKE_RAW(&x->sim->arena, double, a->row_count);
  if (!memory) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < a->row_count; k++) memory[k] = a->r_c[k] - (a->expected ? a->expected[k] : 0.0);
  frix_status status = find_impulses(x, &good);
  if (status == FRIX_OK && good) status = take_trees(x->sim, a, INFINITY, &x->found);
  if (!x->found && a->expected) forget_blows(a, memory);
  return status;
}

static frix_status solve(solving *x) {
  if (is_coulomb(x) && is_timed(x)) return fx_solve_in_time(x->sim, x->a, x->begun);
  int rounds = fx_blow_rounds(hardest_blow(x->a));
  if (rounds > 0) return expect_blows(x, rounds);
  return ask_solver(x->sim, x->a, false, INFINITY, NULL, NULL); /* newton on the rows of trees had its turn */
}

static bool leaves_rest(const solving *x) { return !x->known && !x->sought && fx_leaves_rest(x->sim, x->a); }

/* Where forces exist that hold it, it stays. Springs that were set for a rest that is none have changed the rows: the
 * answer and its certificate must be those of the rows as they are. */
static frix_status stay(solving *x) {
  frix_status status = fx_attempt_keep_unset(x->sim, x->a);
  if (status == FRIX_OK) status = fx_seek_rest(x->sim, x->a, false);
  if (status == FRIX_OK) status = try_guess(x);
  return status == FRIX_OK && !x->known && x->a->compliant ? fx_solve_once(x->sim, x->a, false, INFINITY, NULL)
                                                           : status;
}

static bool set_springs(const solving *x) { return x->a->unset != NULL; }

/* A body that stands by itself may be struck by another in the same step: then no rest was found for it. */
static frix_status release(solving *x) {
  frix_status status = FRIX_OK;
  while (status == FRIX_OK && fx_release_moving(x->sim, x->a)) {
    x->known = false;
    status = fx_solve_once(x->sim, x->a, true, INFINITY, NULL);
  }
  return status;
}

static bool expects(const solving *x) { return x->a->expected != NULL; }

/* What expects more of a blow than there is would be thrown apart. */
static frix_status doubt(solving *x) {
  frix_status status = FRIX_OK;
  while (status == FRIX_OK && fx_drop_false_blows(x->sim, x->a)) {
    x->known = false;
    status = fx_solve_once(x->sim, x->a, true, INFINITY, NULL);
  }
  return status;
}

/* Nor may an island gain by it. */
static frix_status doubt_all(solving *x) {
  bool any = true;
  frix_status status = doubt(x);
  while (status == FRIX_OK && any) {
    status = fx_drop_gains(x->sim, x->a, &any);
    if (status != FRIX_OK || !any) break;
    x->known = false;
    status = fx_solve_once(x->sim, x->a, true, INFINITY, NULL);
    if (status == FRIX_OK) status = doubt(x);
  }
  return status;
}

/* What stopped may move where less of a blow is expected, or in another solve of the same rows; what is released may
 * strike others. */
static frix_status release_all(solving *x) {
  frix_status status = FRIX_OK;
  while (status == FRIX_OK && fx_release_moving(x->sim, x->a)) {
    x->known = false;
    status = fx_solve_once(x->sim, x->a, true, INFINITY, NULL);
    if (status == FRIX_OK && expects(x)) status = doubt_all(x);
  }
  return status;
}

static bool has_springs(const solving *x) { return x->a->compliant && x->a == &x->sim->rows; }

static frix_status stop_pressed(solving *x) {
  frix_status status = FRIX_OK;
  while (status == FRIX_OK && fx_certified(x->sim) && fx_make_pressed_rigid(x->sim, x->a)) {
    x->known = false;
    status = fx_solve_once(x->sim, x->a, true, INFINITY, NULL);
    if (status == FRIX_OK && set_springs(x)) status = release(x);
    if (status == FRIX_OK && expects(x)) status = doubt_all(x);
    if (status == FRIX_OK) status = fx_drilling_agree(x->sim, x->a);
    if (status == FRIX_OK) status = fx_drilling_judge(x->sim, x->a);
  }
  return status;
}

static frix_status agree(solving *x) { return fx_drilling_agree(x->sim, x->a); }
static bool worth_polishing(const solving *x) { return fx_worth_polishing(x->sim); }
static frix_status polish(solving *x) { return fx_polish(x->sim, x->a); }
static frix_status refine(solving *x) { return fx_refine(x->sim, x->a); }

/* The last impulses may be certified and still not balance the weight of what has just stopped, which would then move
 * on: such worlds settle too. */
static bool may_settle(const solving *x) { return !x->known || fx_stirs(x->sim); }
static frix_status settle(solving *x) { return fx_settle(x->sim, x->a); }

static bool may_drop(const solving *x) { return x->a->pushes_out && !is_timed(x) && !fx_certified(x->sim); }
static frix_status drop(solving *x) { return fx_solve_without_push_out(x->sim, x->a); }
static frix_status judge(solving *x) { return fx_drilling_judge(x->sim, x->a); }

static const struct way {
  bool (*applies)(const solving *x);
  frix_status (*go)(solving *x);
} ways[] = {
    {may_rest, seek_rest},       /* it begins at rest: the forces that hold it are the guess */
    {may_reuse, try_last},       /* the impulses of the last step, judged as they are */
    {has_soft, try_soft},        /* newton over the coordinates of soft bodies */
    {may_try_trees, try_trees},  /* newton on the rows of trees */
    {is_new, solve},             /* the solver */
    {leaves_rest, stay},         /* it stood still, and the answer moves it: is there one that does not? */
    {set_springs, release},      /* springs set for a rest that is none are as they were */
    {always, agree},             /* bounds of drilling friction follow the normal impulses */
    {worth_polishing, polish},   /* joints and rigid worlds near rest: to rounding */
    {always, refine},            /* piles on springs: every contact to the tolerance */
    {has_springs, stop_pressed}, /* a load that would press a spring through a thin body meets a rigid contact */
    {may_settle, settle},        /* stiff contacts: what a rigid step would stop, stops */
    {may_drop, drop},            /* no answer: overlaps stay */
    {expects, doubt_all},        /* blows that did not come, or bring energy, are not expected */
    {set_springs, release_all},  /* a body that moves without springs is not held either */
    {always, judge},             /* friction within its bounds, and the last word of the certificate */
    {has_springs, stop_pressed}, /* what the last ways pressed */
};

enum { WAYS = sizeof ways / sizeof *ways };

static void begin_report(frix_sim *sim) {
  frix_step_report *report = &sim->report;
  report->row_count = sim->problem.row_count;
  report->joint_count = sim->problem.joint_count;
  report->dof_count = sim->problem.dof_count;
  report->contact_count = sim->problem.contact_count;
  report->outcome = FRIX_OUTCOME_SOLVED;
  report->certificate = (frix_certificate){.worst_contact = -1, .worst_row = -1};
  report->finisher = "";
  report->certified = true;
  report->phase = "contacts";
}

frix_status fx_sim_solve(frix_sim *sim, fx_assembly *a) {
  frix_status status = fx_rows_count(sim, a);
  if (status != FRIX_OK) return status;
  begin_report(sim);
  if (a->row_count == 0) {
    fx_put_answer(sim, NULL);
    return FRIX_OK;
  }
  solving x = {.sim = sim, .a = a, .begun = sim->deadline > 0.0 ? fx_seconds() : 0.0};
  if (sim->deadline > 0.0 && sim->solve_end == 0.0) sim->solve_end = x.begun + sim->deadline;
  for (int k = 0; status == FRIX_OK && k < WAYS; k++)
    if (ways[k].applies(&x)) status = ways[k].go(&x);
  return status == FRIX_OK ? fx_finish_answer(sim, a) : status;
}
