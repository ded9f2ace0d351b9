/* balls-in-cube: iterations per step while balls fall together in a cube.
 *
 * E. Todorov, Implicit nonlinear complementarity, ICRA 2010, table 1: 5, 10 and 15 balls of different radii, mu 0.1,
 * 0.5, 1 and 2, ten runs of 200 steps of 5 ms each; the median over the steps of a run, averaged over the runs.
 *   sticking  every contact is taken to stick, as there
 *   cold      what the method does of its own without a guess
 *   warm      from the impulses of the step before */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/balls.h"
#include "reproduce.h"

enum { COUNTS = 3, FRICTIONS = 4, RUNS = 10, STEPS = 200 };
enum { STICKING, COLD, WARM, STARTS };

static const char *const start_name[STARTS] = {"sticking", "cold", "warm"};

static const int32_t ball_count[COUNTS] = {5, 10, 15};
static const double friction[FRICTIONS] = {0.1, 0.5, 1.0, 2.0};
/* What the document reports, from the sticking start; its tolerance is not stated. */
static const double document[FRICTIONS][COUNTS] = {
    {3.8, 4.8, 6.5}, {2.6, 5.3, 7.5}, {2.8, 4.9, 10.2}, {2.9, 4.6, 16.2}};
static const double contact_count[COUNTS] = {7, 16, 27};

typedef struct tally {
  double contacts, median; /* means over the runs */
  int64_t unsolved, steps;
} tally;

static int by_size(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* One step: problem, answer, motion; false after a message. */
static bool step(ex_balls *balls, frix_context *context, frix_solve_config *config, bool warm, frix_result *result) {
  frix_problem *problem = NULL;
  frix_solution *solution = NULL;
  bool good = ex_balls_problem(balls, context, &problem) == FRIX_OK;
  config->guess_r = warm ? ex_balls_guess(balls) : NULL;
  good = good && frix_solve(context, problem, config, &solution) == FRIX_OK;
  if (good) {
    frix_solution_view(solution, result);
    ex_balls_advance(balls, result);
  } else {
    fx_error("balls-in-cube: %s", frix_error_text(context));
  }
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
  return good && !fx_interrupted(NULL);
}

/* Steps without a contact have nothing to solve and do not count. */
static bool run_once(frix_solve_config *config, int32_t balls, double mu, int start, int64_t seed, FILE *csv,
                     tally *t) {
  frix_context *context = fx_context(false);
  ex_balls *b = ex_balls_in_cube(balls, mu, 0.005, (uint64_t)seed);
  int64_t iterations[STEPS], solved_steps = 0, contacts = 0, unsolved = 0;
  bool good = b != NULL;
  for (int k = 0; k < STEPS && good; k++) {
    frix_result r = {.size = sizeof r};
    good = step(b, context, config, start == WARM, &r);
    if (!good || r.contact_count == 0) continue;
    contacts += r.contact_count;
    unsolved += r.outcome != FRIX_OUTCOME_SOLVED;
    iterations[solved_steps++] = r.iterations;
  }
  if (good && solved_steps) {
    qsort(iterations, (size_t)solved_steps, sizeof *iterations, by_size);
    double median = 0.5 * (double)(iterations[(solved_steps - 1) / 2] + iterations[solved_steps / 2]);
    fprintf(csv, "%d,%g,%s,%lld,%.2f,%.1f,%lld,%lld\n", balls, mu, start_name[start], (long long)seed,
            (double)contacts / STEPS, median, (long long)iterations[solved_steps - 1], (long long)unsolved);
    t->contacts += (double)contacts / STEPS;
    t->median += median;
    t->unsolved += unsolved;
    t->steps += solved_steps;
  }
  ex_balls_free(b);
  frix_context_destroy(context);
  return good;
}

/* A line for each cell and start; the index shows some of them. */
static void compare(fx_report *report, const tally t[FRICTIONS][COUNTS][STARTS], int first, int64_t runs) {
  int above[STARTS] = {0};
  int64_t solved[STARTS] = {0}, steps[STARTS] = {0};
  for (int start = first; start < STARTS; start++)
    for (int m = 0; m < FRICTIONS; m++)
      for (int n = 0; n < COUNTS; n++) {
        const tally *cell = &t[m][n][start];
        double median = cell->median / (double)runs;
        fx_compared value = {document[m][n], median, "", (m == 0 || m == 2) && n > 0 && start != WARM};
        fx_report_compare(report, value, "iterations per step, mu %g, %d balls, %s start", friction[m], ball_count[n],
                          start_name[start]);
        above[start] += median > document[m][n];
        solved[start] += cell->steps - cell->unsolved;
        steps[start] += cell->steps;
      }
  for (int n = 0; n < COUNTS; n++)
    fx_report_compare(report, (fx_compared){contact_count[n], t[0][n][COLD].contacts / (double)runs, "", false},
                      "mean contacts, mu 0.1, %d balls", ball_count[n]);
  for (int start = first; start < STARTS; start++) {
    fx_report_compare(report, (fx_compared){NAN, above[start], "", true}, "cells of 12 above the document, %s start",
                      start_name[start]);
    fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)solved[start] / (double)steps[start], "%", true},
                      "steps solved, %s start: %lld of %lld", start_name[start], (long long)solved[start],
                      (long long)steps[start]);
  }
}

/* What was compared with what. */
static void explain(fx_report *report, const frix_solve_config *config, int64_t runs) {
  fx_report_text(
      report,
      "Method %s, relative residual %g; the median over the steps of a run, averaged over %lld runs of %d steps of "
      "5 ms; steps without a contact do not count. The document's table is made from the sticking start; it says that "
      "warm starts were better still, without numbers. It does not state the tolerance, nor the radii and the size of "
      "the cube: they are chosen here (0.1 to 0.2 m in 1 m) such that the mean number of contacts is the document's.",
      config->solver, config->tolerance, (long long)runs, STEPS);
  fx_report_text(
      report,
      "An iteration is the solution of one linear system. The sticking start is one and counts, since the document "
      "counts one iteration for its five dropped balls, which that start solves. Every Newton point gets 20 sweeps of "
      "block Gauss-Seidel after it, kept where they lower the residual; cold: the start gets them too. A sweep "
      "multiplies by A once and factorises nothing, and is not counted.");
}

static bool run(fx_report *report) {
  const fx_reproduce_settings *settings = fx_report_settings(report);
  frix_solve_config config = frix_solve_default();
  config.solver = settings->solver ? settings->solver : "implicit";
  if (settings->tolerance > 0) config.tolerance = settings->tolerance;
  int64_t runs = fx_report_size(report, 1, RUNS);
  bool implicit = !strcmp(config.solver, "implicit");
  int first = implicit ? STICKING : COLD;
  tally t[FRICTIONS][COUNTS][STARTS];
  memset(t, 0, sizeof t);
  frix_context *context = fx_context(false);
  frix_options *options[2] = {NULL, NULL}; /* as asked for, and with the document's start */
  bool good = fx_report_options(report, context, &options[0]) && fx_report_options(report, context, &options[1]) &&
              frix_options_set(options[1], "implicit.start", "sticking") == FRIX_OK;
  FILE *csv = good ? fx_report_open(report, "-runs.csv") : NULL;
  good = csv != NULL;
  if (good) fprintf(csv, "balls,mu,start,run,mean_contacts,median_iterations,most_iterations,unsolved_steps\n");
  for (int m = 0; m < FRICTIONS; m++)
    for (int n = 0; n < COUNTS; n++)
      for (int start = first; start < STARTS; start++)
        for (int64_t k = 1; k <= runs && good; k++) {
          fx_progress("balls-in-cube: mu %g, %d balls, %s, run %lld", friction[m], ball_count[n], start_name[start],
                      (long long)k);
          config.options = options[start == STICKING];
          good = run_once(&config, ball_count[n], friction[m], start, k, csv, &t[m][n][start]);
        }
  if (csv) good = fx_report_close(report, csv) && good;
  for (int k = 0; k < 2; k++) frix_options_destroy(options[k]);
  frix_context_destroy(context);
  if (!good) return false;
  explain(report, &config, runs);
  compare(report, t, first, runs);
  return true;
}

const fx_reproduction fx_reproduce_balls = {
    .name = "balls-in-cube",
    .document = "S4",
    .place = "table 1",
    .summary = "iterations per step for balls falling in a cube, from sticking, cold and warm starts",
    .size = "runs per condition",
    .seconds = 20,
    .quick_seconds = 2,
    .run = run,
};
#endif
