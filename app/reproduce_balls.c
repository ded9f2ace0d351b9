/* balls-in-cube: iterations per step while balls fall together in a cube.
 *
 * E. Todorov, Implicit nonlinear complementarity, ICRA 2010, table 1: 5, 10 and 15 balls of different radii, mu 0.1,
 * 0.5, 1 and 2, ten runs of 200 steps of 5 ms each; the median over the steps of a run, averaged over the runs. Cold:
 * every contact is taken to stick, as there. Warm: from the impulses of the step before. */
#ifdef FRIX_HAVE_EXAMPLES
#include <stdlib.h>
#include <string.h>

#include "examples/balls.h"
#include "reproduce.h"

enum { COUNTS = 3, FRICTIONS = 4, RUNS = 10, STEPS = 200, STARTS = 2 };

static const int32_t ball_count[COUNTS] = {5, 10, 15};
static const double friction[FRICTIONS] = {0.1, 0.5, 1.0, 2.0};
/* What the document reports, cold; its tolerance is not stated. */
static const double document[FRICTIONS][COUNTS] = {
    {3.8, 4.8, 6.5}, {2.6, 5.3, 7.5}, {2.8, 4.9, 10.2}, {2.9, 4.6, 16.2}};

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
static bool run_once(frix_solve_config *config, int32_t balls, double mu, bool warm, int64_t seed, FILE *csv,
                     tally *t) {
  frix_context *context = fx_context(false);
  ex_balls *b = ex_balls_in_cube(balls, mu, 0.005, (uint64_t)seed);
  int64_t iterations[STEPS], solved_steps = 0, contacts = 0, unsolved = 0;
  bool good = b != NULL;
  for (int k = 0; k < STEPS && good; k++) {
    frix_result r = {.size = sizeof r};
    good = step(b, context, config, warm, &r);
    if (!good || r.contact_count == 0) continue;
    contacts += r.contact_count;
    unsolved += r.outcome != FRIX_OUTCOME_SOLVED;
    iterations[solved_steps++] = r.iterations;
  }
  if (good && solved_steps) {
    qsort(iterations, (size_t)solved_steps, sizeof *iterations, by_size);
    double median = 0.5 * (double)(iterations[(solved_steps - 1) / 2] + iterations[solved_steps / 2]);
    fprintf(csv, "%d,%g,%s,%lld,%.2f,%.1f,%lld,%lld\n", balls, mu, warm ? "warm" : "cold", (long long)seed,
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

static void print_table(const tally t[FRICTIONS][COUNTS][STARTS], const char *solver, int64_t runs) {
  fx_column column[] = {{"mu", 5, false},   {"balls", 5, false}, {"contacts", 8, false},       {"document", 8, false},
                        {"cold", 6, false}, {"warm", 6, false},  {"unsolved steps", 14, false}};
  printf("%s, median iterations per step, mean of %lld runs\n\n", solver, (long long)runs);
  fx_table_header(column, 7);
  for (int m = 0; m < FRICTIONS; m++)
    for (int n = 0; n < COUNTS; n++) {
      const tally *cold = &t[m][n][0], *warm = &t[m][n][1];
      fx_cell cell[7];
      fx_cell_set(&cell[0], FX_PLAIN, "%g", friction[m]);
      fx_cell_set(&cell[1], FX_PLAIN, "%d", ball_count[n]);
      fx_cell_set(&cell[2], FX_PLAIN, "%.1f", cold->contacts / (double)runs);
      fx_cell_set(&cell[3], FX_DIM, "%.1f", document[m][n]);
      fx_cell_set(&cell[4], FX_BOLD, "%.1f", cold->median / (double)runs);
      fx_cell_set(&cell[5], FX_BOLD, "%.1f", warm->median / (double)runs);
      fx_cell_set(&cell[6], cold->unsolved + warm->unsolved ? FX_RED : FX_GREEN, "%lld of %lld",
                  (long long)(cold->unsolved + warm->unsolved), (long long)(cold->steps + warm->steps));
      fx_table_row(column, cell, 7);
    }
}

static int run(const fx_reproduce_settings *settings) {
  frix_solve_config config = frix_solve_default();
  config.solver = settings->solver ? settings->solver : "implicit";
  if (settings->tolerance > 0) config.tolerance = settings->tolerance;
  int64_t runs = settings->size ? settings->size : RUNS;
  tally t[FRICTIONS][COUNTS][STARTS];
  memset(t, 0, sizeof t);
  frix_context *context = fx_context(false);
  frix_options *options = NULL;
  FILE *csv = fx_reproduce_options(settings, context, &options) ? fx_reproduce_open(settings, "balls.csv") : NULL;
  bool good = csv != NULL;
  config.options = options;
  if (good) fprintf(csv, "balls,mu,start,run,mean_contacts,median_iterations,most_iterations,unsolved_steps\n");
  for (int m = 0; m < FRICTIONS; m++)
    for (int n = 0; n < COUNTS; n++)
      for (int start = 0; start < STARTS; start++)
        for (int64_t k = 1; k <= runs && good; k++) {
          fx_progress("balls-in-cube: mu %g, %d balls, %s, run %lld", friction[m], ball_count[n],
                      start ? "warm" : "cold", (long long)k);
          good = run_once(&config, ball_count[n], friction[m], start == 1, k, csv, &t[m][n][start]);
        }
  if (csv) good = fx_reproduce_close(csv, "balls.csv") && good;
  frix_options_destroy(options);
  frix_context_destroy(context);
  fx_progress_clear();
  if (!good) return FX_EXIT_USAGE;
  print_table(t, config.solver, runs);
  printf("\nwrote %s/balls.csv\n", settings->out);
  return FX_EXIT_SOLVED;
}

const fx_reproduction fx_reproduce_balls = {
    .name = "balls-in-cube",
    .summary = "iterations per step for balls falling in a cube, cold and warm (Todorov 2010, table 1)",
    .size = "runs per condition, 10",
    .run = run,
};
#endif
