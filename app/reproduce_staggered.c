/* staggered-tables, solver-comparison, loghouse: methods on the same contact problems, taken from simulated scenes.
 *
 * S5: table 7.1 (time, contacts, iterations), table 7.2 (warm and cold iterations; log house with and without
 * decomposition), figure 6.9 (residual over iterations) and figure 6.10 (residual and time of Lemke, SQP and
 * staggered). Each problem is that of a step of the scene, solved by each method from the impulses of the step before
 * (warm) or from zero (cold). */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"
#include "reproduce_trial.h"

typedef struct contender {
  const char *name, *solver;
  const char *setting[4]; /* key, value, key, value */
  bool warm, pyramid;     /* pyramid: circular cones become pyramids of 8 sides, as in the document */
} contender;

typedef struct score {
  int64_t problems, solved, cut;                       /* cut: ended by the limit of processor time */
  double iterations, seconds, residual, contacts, dof; /* sums; residual: worst */
  double *step, *trace;                                /* residual of each problem */
} score;

enum { MOST_PROBLEMS = 2000, FACETS = 8 };

/* ---- one problem, one method */

/* Solves end after so much processor time: wall time would measure who else is at work. */
static bool out_of_time(void *user) { return fx_interrupted(NULL) || fx_cpu_seconds() > *(const double *)user; }

static bool solve(frix_context *context, const frix_problem *problem, const contender *c, double tolerance,
                  double limit, bool history, frix_solution **solution) {
  frix_problem *pyramids = NULL;
  frix_options *options = NULL;
  frix_problem_data data = frix_problem_data_default();
  frix_problem_view(problem, &data);
  double *zero = fx_grow(NULL, (size_t)data.row_count, sizeof *zero);
  memset(zero, 0, (size_t)data.row_count * sizeof *zero);
  frix_solve_config config = frix_solve_default();
  config.solver = c->solver;
  config.tolerance = tolerance;
  config.history = history;
  double deadline = fx_cpu_seconds() + limit;
  config.cancel = out_of_time;
  config.user = &deadline;
  if (!c->warm) config.guess_r = zero;
  bool good = frix_options_create(context, &options) == FRIX_OK &&
              (!c->setting[0] || frix_options_set(options, c->setting[0], c->setting[1]) == FRIX_OK) &&
              (!c->setting[2] || frix_options_set(options, c->setting[2], c->setting[3]) == FRIX_OK);
  config.options = options;
  if (good && c->pyramid) good = frix_problem_with_pyramids(problem, FACETS, &pyramids) == FRIX_OK;
  good = good && frix_solve(context, pyramids ? pyramids : problem, &config, solution) == FRIX_OK;
  if (!good) fx_error("%s: %s", c->solver, frix_error_text(context));
  frix_options_destroy(options);
  frix_problem_destroy(pyramids);
  free(zero);
  return good && !fx_interrupted(NULL);
}

static bool contend(const fx_trial *t, const frix_problem *problem, const contender *c, double tolerance, double limit,
                    score *s) {
  frix_solution *solution = NULL;
  double begin = fx_cpu_seconds();
  bool good = solve(t->context, problem, c, tolerance, limit, false, &solution);
  double seconds = fx_cpu_seconds() - begin;
  if (good) {
    frix_result r = {.size = sizeof r};
    frix_solution_view(solution, &r);
    if (s->step && s->problems < MOST_PROBLEMS)
      s->step[s->problems] = (double)s->problems, s->trace[s->problems] = fmax(r.certificate.residual, 1e-17);
    s->problems++;
    s->solved += r.outcome == FRIX_OUTCOME_SOLVED;
    s->cut += r.outcome == FRIX_OUTCOME_CANCELLED;
    s->iterations += (double)r.iterations;
    s->seconds += seconds;
    s->contacts += r.contact_count, s->dof = fmax(s->dof, r.dof_count);
    if (!(r.certificate.residual <= s->residual)) s->residual = r.certificate.residual;
  }
  frix_solution_destroy(solution);
  return good;
}

/* Steps the trial to `time`; from `from` on, the problem of every `every`-th step is given to all contenders. */
static bool sample(fx_trial *t, double from, double time, int every, const contender *c, int count, double tolerance,
                   double limit, score *s) {
  int64_t steps = (int64_t)(time / t->h + 0.5), first = (int64_t)(from / t->h + 0.5);
  bool good = true;
  for (int64_t k = 0; k < steps && good; k++) {
    fx_progress("%s: %.3f s of %g s", t->scene->name, frix_sim_time(t->sim), time);
    good = fx_trial_step(t);
    if (!good || k < first || (k - first) % every || t->last.contact_count == 0) continue;
    frix_problem *problem = NULL;
    good = frix_sim_problem(t->sim, &problem) == FRIX_OK;
    if (!good) fx_error("%s: %s", t->scene->name, frix_error_text(t->context));
    for (int m = 0; m < count && good; m++) good = contend(t, problem, &c[m], tolerance, limit, &s[m]);
    frix_problem_destroy(problem);
  }
  return good;
}

static double mean(double sum, const score *s) { return s->problems ? sum / (double)s->problems : NAN; }

/* The mark behind a mean over solves some of which were cut off; "" where none was. */
typedef struct remark {
  char text[64];
} remark;

static remark cut_off(const score *s) {
  remark r = {""};
  if (s->cut)
    snprintf(r.text, sizeof r.text, " (lower bound: %lld of %lld cut off)", (long long)s->cut, (long long)s->problems);
  return r;
}

/* ---- tables 7.1 and 7.2 */

#define AS_PUBLISHED \
  { "staggered.anderson", "0", "staggered.friction_error", "1e-4" }
static const contender staggered[] = {
    {"as published, warm", "staggered", AS_PUBLISHED, true, false},
    {"as published, cold", "staggered", AS_PUBLISHED, false, false},
    {"accelerated, warm", "staggered", {NULL}, true, false},
    {"accelerated, cold", "staggered", {NULL}, false, false},
    {"auto, warm", "auto", {NULL}, true, false},
};
enum { STAGGERED = 5 };

typedef struct scene_row {
  const char *text;
  double seconds, contacts, iterations, cold, dof; /* the document's */
  double from, time;
  int every;
} scene_row;

static bool staggered_row(fx_report *report, fx_trial *t, const scene_row *d, double tolerance, double limit) {
  score s[STAGGERED] = {{0}};
  if (!sample(t, d->from, d->time, d->every, staggered, STAGGERED, tolerance, limit, s)) return false;
  const char *text = d->text;
  fx_report_compare(report, (fx_compared){d->contacts, mean(s[0].contacts, &s[0]), "", false}, "%s: contacts", text);
  fx_report_compare(report, (fx_compared){d->dof, s[0].dof, "", false}, "%s: degrees of freedom", text);
  for (int m = 0; m < STAGGERED; m++) {
    bool warm = staggered[m].warm, is_auto = m == 4;
    fx_report_compare(report, (fx_compared){d->seconds, mean(s[m].seconds, &s[m]), "s", warm && m != 2},
                      "%s, %s: CPU time a solve%s", text, staggered[m].name, cut_off(&s[m]).text);
    fx_report_compare(report,
                      (fx_compared){is_auto ? NAN
                                    : warm  ? d->iterations
                                            : d->cold,
                                    mean(s[m].iterations, &s[m]), "", m < 2},
                      "%s, %s: iterations%s", text, staggered[m].name, cut_off(&s[m]).text);
    fx_report_compare(report, (fx_compared){NAN, s[m].residual, "", false}, "%s, %s: worst residual", text,
                      staggered[m].name);
    if (m >= 2)
      fx_report_compare(report, (fx_compared){100, 100.0 * (double)s[m].solved / (double)s[m].problems, "%", false},
                        "%s, %s: solved to %g of %lld", text, staggered[m].name, tolerance, (long long)s[m].problems);
  }
  return true;
}

static bool run_tables(fx_report *report) {
  const fx_reproduce_settings *settings = fx_report_settings(report);
  double tolerance = settings->tolerance > 0 ? settings->tolerance : 1e-6, limit = settings->quick ? 1 : 2;
  bool quick = settings->quick;
  int every = (int)fx_report_size(report, 20, 20);
  scene_row cards = {"card house", 4.7, 528, 3.2, 57.1, 348, quick ? 1.0 : 0.9, quick ? 1.3 : 2.5, every},
            arch = {"catenary arch", 1.2, 2042, 5.6, 133.7, 162, 0.4, quick ? 1.0 : 3, every};
  fx_report_text(
      report,
      "Problems of every %dth step while blocks strike. As published: plain alternation until friction changes "
      "by less than 1e-4 (equation 5.21), which leaves the residual shown; the others end at a certified "
      "residual of %g. Accelerated adds Anderson's method. A card house of six levels and one block has the "
      "document's 348 degrees of freedom, with fewer contact points; the arch is planar here. A solve ends "
      "after %g s of processor time at the latest; means over solves that were cut off say so.",
      every, tolerance, limit);
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("cardhouse")) && fx_trial_set(&t, "levels", quick ? 2 : 6) &&
              fx_trial_set(&t, "blow", 1) && fx_trial_start(&t) && staggered_row(report, &t, &cards, tolerance, limit);
  fx_trial_end(&t);
  good = good && fx_trial_new(&t, frix_scene_find("arch")) && fx_trial_set(&t, "shape", 1) &&
         fx_trial_set(&t, "blow", 2) && fx_trial_start(&t) && staggered_row(report, &t, &arch, tolerance, limit);
  if (good) fx_trial_end(&t);
  return good;
}

const fx_reproduction fx_reproduce_tables = {
    .name = "staggered-tables",
    .document = "S5",
    .place = "tables 7.1 and 7.2",
    .summary = "staggered projections on struck structures: time, warm and cold iterations",
    .size = "steps from one problem to the next",
    .seconds = 60,
    .quick_seconds = 1,
    .run = run_tables,
};

/* ---- figures 6.9 and 6.10 */

static const contender rivals[] = {
    {"staggered, plain", "staggered", {"staggered.anderson", "0"}, false, false},
    {"staggered, accelerated", "staggered", {NULL}, false, false},
    {"lemke, 8-sided pyramids", "lemke", {NULL}, false, true},
    {"pgs (approximate)", "pgs", {NULL}, false, false},
    {"auto", "auto", {NULL}, false, false},
    {"sqp", "sqp", {NULL}, false, false}, /* last: only in builds with NLopt */
};
enum { RIVALS = 6 };

static int rivals_here(void) {
  for (int k = 0; frix_solver_table(k); k++)
    if (!strcmp(frix_solver_table(k)->name, rivals[RIVALS - 1].solver)) return RIVALS;
  return RIVALS - 1;
}

/* Residual over iterations of the first steps, with their own histories. */
static bool histories(fx_report *report, double levels, double tolerance) {
  enum { STEPS = 4, POINTS = 600 };
  double *x[STEPS], *y[STEPS];
  fx_curve curve[STEPS];
  char name[STEPS][32];
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("cardhouse")) && fx_trial_set(&t, "levels", levels);
  t.h = 0.001;
  t.seed = 1;
  good = good && fx_trial_start(&t);
  for (int k = 0; k < STEPS; k++) {
    frix_problem *problem = NULL;
    frix_solution *solution = NULL;
    x[k] = fx_grow(NULL, POINTS, sizeof(double)), y[k] = fx_grow(NULL, POINTS, sizeof(double));
    snprintf(name[k], sizeof name[k], "step %d", k + 1);
    curve[k] = (fx_curve){name[k], x[k], y[k], 0, FX_CURVE_LINE};
    good = good && fx_trial_step(&t) && frix_sim_problem(t.sim, &problem) == FRIX_OK &&
           solve(t.context, problem, &rivals[0], tolerance, 5, true, &solution);
    if (good) {
      frix_result r = {.size = sizeof r};
      frix_solution_view(solution, &r);
      for (int64_t i = 0; i < r.history_count && curve[k].count < POINTS; i++, curve[k].count++)
        x[k][i] = (double)r.history[i].iteration, y[k][i] = r.history[i].residual;
      fx_report_compare(report, (fx_compared){NAN, (double)r.iterations, "", false},
                        "step %d, plain staggered from zero: iterations to %g%s", k + 1, tolerance,
                        r.outcome == FRIX_OUTCOME_SOLVED ? "" : " (not reached)");
    }
    frix_solution_destroy(solution);
    frix_problem_destroy(problem);
  }
  fx_trial_end(&t);
  fx_chart chart = {.title = "Staggered projections, the first four steps of a card house",
                    .subtitle = "certified residual over iterations, from zero, without acceleration",
                    .x_label = "iteration",
                    .y_label = "relative residual",
                    .log_y = true,
                    .curve = curve,
                    .curve_count = STEPS};
  good = good && fx_report_chart(report, "-6.9.svg", &chart);
  for (int k = 0; k < STEPS; k++) free(x[k]), free(y[k]);
  return good;
}

static bool run_comparison(fx_report *report) {
  static const double document[RIVALS] = {0.8, 0.8, 57, NAN, NAN, 123};
  int count = rivals_here();
  const fx_reproduce_settings *settings = fx_report_settings(report);
  double tolerance = settings->tolerance > 0 ? settings->tolerance : 1e-6, limit = settings->quick ? 0.5 : 5;
  int64_t problems = fx_report_size(report, 3, 5);
  double levels = settings->quick ? 2 : 4;
  score s[RIVALS] = {{0}};
  fx_curve curve[RIVALS];
  fx_report_text(
      report,
      "A card house of %g levels, laid down to a tenth of a millimetre and struck by a block, steps of 1 ms; "
      "%lld problems, all methods from zero, relative residual %g, at most %g s of processor time each. The document's "
      "figures "
      "are means over 500 steps of a standing house. Lemke's method works on pyramids and is judged by them; "
      "SQP is NLopt's%s.",
      levels, (long long)problems, tolerance, limit, count < RIVALS ? ", which this build is without" : "");
  for (int m = 0; m < RIVALS; m++) {
    s[m].step = fx_grow(NULL, MOST_PROBLEMS, sizeof(double)), s[m].trace = fx_grow(NULL, MOST_PROBLEMS, sizeof(double));
  }
  bool good = histories(report, levels, tolerance);
  fx_trial t;
  good = good && fx_trial_new(&t, frix_scene_find("cardhouse"));
  if (good) {
    good = fx_trial_set(&t, "levels", levels) && fx_trial_set(&t, "blow", 1);
    t.h = 0.001;
    t.seed = 1;
    double from = 1.13, apart = 0.004 * (double)problems; /* the block arrives after 1.13 s */
    good = good && fx_trial_start(&t) && sample(&t, from, from + apart, 4, rivals, count, tolerance, limit, s);
    fx_trial_end(&t);
  }
  for (int m = 0; m < count && good; m++) {
    fx_report_compare(report, (fx_compared){document[m], mean(s[m].seconds, &s[m]), "s", m != 1},
                      "%s: CPU time a solve%s", rivals[m].name, cut_off(&s[m]).text);
    fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)s[m].solved / (double)s[m].problems, "%", m != 1},
                      "%s: solved of %lld", rivals[m].name, (long long)s[m].problems);
    fx_report_compare(report, (fx_compared){m < 2 ? 1e-6 : NAN, s[m].residual, "", false}, "%s: worst residual",
                      rivals[m].name);
    curve[m] = (fx_curve){rivals[m].name, s[m].step, s[m].trace, (int)s[m].problems, FX_CURVE_BOTH};
  }
  fx_chart chart = {.title = "A struck card house: residual of each problem",
                    .subtitle = "certified, all methods from zero on the same problems",
                    .x_label = "problem",
                    .y_label = "relative residual",
                    .log_y = true,
                    .mark = tolerance,
                    .mark_text = "asked for",
                    .curve = curve,
                    .curve_count = count};
  good = good && fx_report_chart(report, "-6.10.svg", &chart);
  for (int m = 0; m < RIVALS; m++) free(s[m].step), free(s[m].trace);
  return good;
}

const fx_reproduction fx_reproduce_comparison = {
    .name = "solver-comparison",
    .document = "S5",
    .place = "figures 6.9 and 6.10",
    .summary = "staggered, Lemke, SQP, projected Gauss-Seidel and auto on the problems of a card house",
    .size = "problems",
    .seconds = 150,
    .quick_seconds = 2,
    .run = run_comparison,
};

/* ---- the log house */

static bool run_loghouse(fx_report *report) {
  static const contender method[] = {
      {"staggered, plain, cold", "staggered", {"staggered.anderson", "0"}, false, false},
      {"staggered, warm", "staggered", {NULL}, true, false},
      {"nsgs, warm", "nsgs", {NULL}, true, false},
      {"auto, warm", "auto", {NULL}, true, false},
  };
  enum { METHODS = 4 };
  const fx_reproduce_settings *settings = fx_report_settings(report);
  double tolerance = settings->tolerance > 0 ? settings->tolerance : 1e-6, limit = settings->quick ? 0.5 : 2;
  double levels = settings->quick ? 3 : 17;
  score s[METHODS] = {{0}};
  fx_trial t;
  fx_report_text(
      report,
      "Four walls of %g notched logs, sliding over the ground at 2 m/s until they rest (the document's house "
      "also jumps a ramp). frix solves independent islands apart; this house is one island, and there is no "
      "second decomposition inside it: the rows below compare whole solves with the document's two times, "
      "4.9 s without and 0.061 s with decomposition.",
      levels);
  bool good = fx_trial_new(&t, frix_scene_find("loghouse")) && fx_trial_set(&t, "levels", levels);
  t.seed = 1;
  good = good && fx_trial_start(&t);
  for (int32_t k = 0; good && k < frix_sim_body_count(t.sim); k++)
    good = frix_sim_set_velocity(t.sim, frix_sim_body_at(t.sim, k), (frix_vec3){2, 0.5, 0}, (frix_vec3){0, 0, 0}) ==
           FRIX_OK;
  good = good &&
         sample(&t, 0, settings->quick ? 0.06 : 0.6, settings->quick ? 2 : 6, method, METHODS, tolerance, limit, s);
  if (good) {
    fx_report_compare(report, (fx_compared){414, s[0].dof, "", false}, "degrees of freedom");
    fx_report_compare(report, (fx_compared){NAN, mean(s[0].contacts, &s[0]), "", false}, "contacts");
  }
  for (int m = 0; m < METHODS && good; m++) {
    fx_report_compare(report, (fx_compared){m == 0 ? 4.9 : 0.061, mean(s[m].seconds, &s[m]), "s", m == 0 || m >= 3},
                      "%s: CPU time a solve (document: %s decomposition)%s", method[m].name, m ? "with" : "without",
                      cut_off(&s[m]).text);
    fx_report_compare(report, (fx_compared){NAN, mean(s[m].iterations, &s[m]), "", false}, "%s: iterations",
                      method[m].name);
    fx_report_compare(report, (fx_compared){100, 100.0 * (double)s[m].solved / (double)s[m].problems, "%", m >= 3},
                      "%s: solved of %lld", method[m].name, (long long)s[m].problems);
    fx_report_compare(report, (fx_compared){NAN, s[m].residual, "", m >= 3}, "%s: worst residual", method[m].name);
  }
  if (good)
    fx_report_compare(report, (fx_compared){0.061, t.seconds / (double)t.steps, "s", true},
                      "simulation, whole steps: CPU time a step, %.0f %% of them certified to 1e-8",
                      100.0 * (double)t.certified / (double)t.steps);
  fx_trial_end(&t);
  return good;
}

const fx_reproduction fx_reproduce_loghouse = {
    .name = "loghouse",
    .document = "S5",
    .place = "table 7.2, right",
    .summary = "a sliding log house: whole solves beside the document's decomposed ones",
    .seconds = 60,
    .quick_seconds = 1,
    .run = run_loghouse,
};
#endif
