/* Answers under a deadline: how good they are, and how late.
 *
 *   bench_deadline [--repeat N] [--out FILE.csv] FILE...
 *
 * Every problem is solved by auto from nothing with budgets of 0.1, 1 and 10 ms, N times each, and the residual is set
 * beside that of ten plain sweeps (nsgs) where these, with all that frix_solve does around them, fit in the budget. To
 * read a problem into blocks and to certify an answer takes time that no method can save: the floor, measured as a
 * solve that stops after the first sweep. Lateness is counted over runs whose floor is within the budget. How fast a
 * shared machine is changes from one moment to the next: ten sweeps and the floor are timed just before and just after
 * every run, and both times have to fit. Times are wall time; runs during which the machine took the processor away
 * (wall time beyond processor time) do not count and are made again. */
#include <frix/frix.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUDGETS = 3, MOST = 100000 };

static const double budgets[BUDGETS] = {1e-4, 1e-3, 1e-2};

typedef struct tally {
  int problems, worse, below_floor;
  double late[MOST];
  int late_count;
} tally;

static double seconds_now(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Wall time of one solve, the residual it ends with, and whether the processor was taken away meanwhile. */
static double solve(frix_context *context, const frix_problem *problem, const frix_solve_config *config,
                    double *residual, bool *disturbed) {
  frix_solution *solution = NULL;
  frix_result result;
  double start = seconds_now(CLOCK_MONOTONIC), busy = seconds_now(CLOCK_THREAD_CPUTIME_ID);
  if (frix_solve(context, problem, config, &solution) != FRIX_OK) return INFINITY;
  busy = seconds_now(CLOCK_THREAD_CPUTIME_ID) - busy;
  double seconds = seconds_now(CLOCK_MONOTONIC) - start;
  *disturbed = seconds - busy > 10e-6;
  frix_solution_view(solution, &result);
  *residual = result.certificate.residual;
  frix_solution_destroy(solution);
  return seconds;
}

typedef struct rival {
  const char *solver;
  int64_t iterations;
  double shortest, residual;
} rival;

/* One solve with so many iterations of a method. */
static double time_rival(frix_context *context, const frix_problem *problem, rival *r, bool *disturbed) {
  frix_solve_config config = frix_solve_default();
  config.solver = r->solver;
  config.max_iterations = r->iterations;
  double seconds = solve(context, problem, &config, &r->residual, disturbed);
  r->shortest = fmin(r->shortest, seconds);
  return seconds;
}

typedef struct run {
  double seconds, residual, floor, sweeps; /* the latter: the longer of before and after */
} run;

/* One run between two of the floor and of ten sweeps; false where the machine took the processor away. */
static bool run_once(frix_context *context, const frix_problem *problem, double budget, rival *floor, rival *sweeps,
                     run *out) {
  bool away[5] = {false, false, false, false, false};
  frix_solve_config config = frix_solve_default();
  config.time_limit = budget;
  *out = (run){0};
  out->floor = time_rival(context, problem, floor, &away[0]);
  out->sweeps = time_rival(context, problem, sweeps, &away[1]);
  out->seconds = solve(context, problem, &config, &out->residual, &away[2]);
  out->sweeps = fmax(out->sweeps, time_rival(context, problem, sweeps, &away[3]));
  out->floor = fmax(out->floor, time_rival(context, problem, floor, &away[4]));
  return !(away[0] || away[1] || away[2] || away[3] || away[4]);
}

static void measure(frix_context *context, const char *path, int repeat, FILE *csv, tally *all) {
  frix_problem *problem = NULL;
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  if (frix_problem_read(context, path, NULL, &problem) != FRIX_OK) {
    fprintf(stderr, "bench_deadline: %s: skipped: %s\n", path, frix_error_text(context));
    return;
  }
  rival floor = {"auto", 1, INFINITY, 0}, sweeps = {"nsgs", 10, INFINITY, 0};
  double worst[BUDGETS] = {0}, latest[BUDGETS];
  bool worse[BUDGETS] = {false}, comparable[BUDGETS] = {false}, within[BUDGETS] = {false};
  for (int b = 0; b < BUDGETS; b++) {
    tally *t = &all[b];
    latest[b] = -INFINITY;
    for (int k = 0, attempt = 0; k < repeat && attempt < 20 * repeat; attempt++) {
      run r;
      if (!run_once(context, problem, budgets[b], &floor, &sweeps, &r)) continue;
      k++;
      bool fits = r.sweeps <= budgets[b], counts = r.floor <= budgets[b];
      double late = r.seconds - budgets[b];
      worst[b] = fmax(worst[b], r.residual);
      comparable[b] |= fits;
      within[b] |= counts;
      worse[b] |= fits && r.residual > sweeps.residual * (1 + 1e-9);
      if (counts) latest[b] = fmax(latest[b], late);
      if (counts && t->late_count < MOST) t->late[t->late_count++] = late;
      if (csv)
        fprintf(csv, "%s,%g,%.9g,%.9g,%.9g,%.9g,%.9g\n", name, budgets[b], r.seconds, r.residual, r.floor, r.sweeps,
                sweeps.residual);
    }
    t->problems += comparable[b];
    t->worse += worse[b];
    t->below_floor += !within[b];
  }
  printf("%-40.40s %9.0f %9.0f %9.1e", name, 1e6 * floor.shortest, 1e6 * sweeps.shortest, sweeps.residual);
  for (int b = 0; b < BUDGETS; b++)
    printf("  %9.1e%c %+7.0f%c", worst[b],
           worse[b]        ? '!'
           : comparable[b] ? ' '
                           : '-',
           1e6 * latest[b], within[b] ? ' ' : '-');
  printf("\n");
  fflush(stdout);
  frix_problem_destroy(problem);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int count, char **argument) {
  static tally all[BUDGETS];
  frix_context *context = NULL;
  FILE *csv = NULL;
  int repeat = 20, first = 1;
  for (; first + 1 < count && argument[first][0] == '-'; first += 2) {
    if (strcmp(argument[first], "--out") == 0) csv = fopen(argument[first + 1], "w");
    if (strcmp(argument[first], "--repeat") == 0) repeat = atoi(argument[first + 1]);
  }
  if (first >= count || repeat < 1 || frix_context_create(NULL, &context) != FRIX_OK) {
    fprintf(stderr, "usage: bench_deadline [--repeat N] [--out FILE.csv] FILE...\n");
    return 2;
  }
  if (csv) fprintf(csv, "problem,budget,seconds,residual,floor_seconds,ten_sweeps_seconds,ten_sweeps_residual\n");
  printf("times in us; worst residual and latest end of %d runs; -: ten sweeps, or the floor, do not fit\n", repeat);
  printf("%-40s %9s %9s %9s  %10s %8s  %10s %8s  %10s %8s\n", "problem", "floor", "10 sweeps", "residual", "0.1 ms",
         "late", "1 ms", "late", "10 ms", "late");
  for (int k = first; k < count; k++) measure(context, argument[k], repeat, csv, all);
  bool good = true;
  for (int b = 0; b < BUDGETS; b++) {
    tally *t = &all[b];
    qsort(t->late, (size_t)t->late_count, sizeof *t->late, by_value);
    double p50 = t->late_count ? t->late[t->late_count / 2] : 0,
           p99 = t->late_count ? t->late[(int)(0.99 * (t->late_count - 1))] : 0;
    printf(
        "%5.1f ms: worse than ten plain sweeps on %d of %d; late by %.0f us in the median, %.0f us at the 99th "
        "percentile of %d runs; %d problems need more to be read and certified\n",
        1e3 * budgets[b], t->worse, t->problems, 1e6 * p50, 1e6 * p99, t->late_count, t->below_floor);
    good &= t->worse == 0;
  }
  if (csv) fclose(csv);
  frix_context_destroy(context);
  return good ? 0 : 1;
}
