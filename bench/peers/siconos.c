/* frix beside the packaged Siconos numerics on the same problems, in one run, one thread each.
 *
 *   bench_siconos [--out table.csv] [--svg profile.svg] [--limit SECONDS] [--repeat N] FILE...
 *
 * Both get the problem in reduced form (for a global file the rival's reduction is free, ours is timed). A rival's own
 * error measure is not the certificate's, so its tolerance is lowered until the certificate accepts the answer, and
 * only that last run counts. Every rival run is a process of its own with a time limit; times are CPU seconds, best of
 * N. */
#include "plot.h"

#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>

typedef struct rival {
  const char *name;
  int id, dim;
} rival;

static const rival rivals[] = {
    {"NSGS", SICONOS_FRICTION_3D_NSGS, 3},     {"NSGS-quartic", SICONOS_FRICTION_3D_NSGS, 3},
    {"PROX", SICONOS_FRICTION_3D_PROX, 3},     {"ADMM", SICONOS_FRICTION_3D_ADMM, 3},
    {"NSN_AC", SICONOS_FRICTION_3D_NSN_AC, 3}, {"NSN_FB", SICONOS_FRICTION_3D_NSN_FB, 3},
    {"NSN_NM", SICONOS_FRICTION_3D_NSN_NM, 3}, {"2D-NSGS", SICONOS_FRICTION_2D_NSGS, 2},
    {"2D-CPG", SICONOS_FRICTION_2D_CPG, 2},    {"2D-LEMKE", SICONOS_FRICTION_2D_LEMKE, 2},
};

enum { RIVALS = sizeof rivals / sizeof *rivals, TARGETS = 3, MOST = 1000 };

/* Seconds to the last target by solver (frix last) and problem, for the profile. */
static double spent[RIVALS + 1][MOST];
static int problem_count;

static const double targets[TARGETS] = {1e-4, 1e-6, 1e-8};

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct run {
  double seconds, residual;
} run;

/* In the child: one rival run from zero, judged by the certificate. */
static run rival_run(frix_context *context, const frix_problem *problem, const char *dat, const rival *who,
                     double tol) {
  frix_problem_data view;
  frix_problem_view(problem, &view);
  FrictionContactProblem *fc = frictionContact_new_from_filename(dat);
  double *r = calloc((size_t)view.row_count, sizeof *r), *u = calloc((size_t)view.row_count, sizeof *u);
  run out = {INFINITY, INFINITY};
  if (!fc || !r || !u) return out;
  SolverOptions *options = solver_options_create(who->id);
  options->dparam[SICONOS_DPARAM_TOL] = tol;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = 1000000;
  if (who->id == SICONOS_FRICTION_3D_NSGS || who->id == SICONOS_FRICTION_2D_NSGS) /* true error checks */
    options->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION_FREQUENCY] = 10;
  if (strcmp(who->name, "NSGS-quartic") == 0)
    solver_options_update_internal(options, 0, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC);
  numerics_set_verbose(0);
  double start = cpu_seconds();
  if (who->dim == 2)
    fc2d_driver(fc, r, u, options);
  else
    fc3d_driver(fc, r, u, options);
  out.seconds = cpu_seconds() - start;
  frix_certificate certificate;
  if (frix_certify(context, problem, FRIX_LAW_COULOMB, r, NULL, &certificate, NULL, NULL) == FRIX_OK)
    out.residual = certificate.residual;
  return out;
}

/* The same in a process of its own, ended at the limit; what it prints is thrown away. */
static run guarded(frix_context *context, const frix_problem *problem, const char *dat, const rival *who, double tol,
                   unsigned limit) {
  run out = {INFINITY, INFINITY};
  int ends[2];
  if (pipe(ends)) return out;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
    alarm(limit);
    run result = rival_run(context, problem, dat, who, tol);
    _exit(write(ends[1], &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
  }
  close(ends[1]);
  run result;
  if (child > 0 && read(ends[0], &result, sizeof result) == (ssize_t)sizeof result) out = result;
  close(ends[0]);
  int status;
  if (child > 0) waitpid(child, &status, 0);
  return out;
}

/* Best time of a rival that the certificate accepts at target; INFINITY where none is. */
static run rival_best(frix_context *context, const frix_problem *problem, const char *dat, const rival *who,
                      double target, unsigned limit, int repeat) {
  run best = {INFINITY, INFINITY};
  for (double tol = target; tol >= target * 1e-5; tol *= 0.1) {
    run one = guarded(context, problem, dat, who, tol, limit);
    if (!(one.seconds < INFINITY)) return best; /* ran out of time: a lower tolerance will not be faster */
    if (!(one.residual <= target)) continue;
    best = one;
    for (int k = 1; k < repeat; k++) {
      run again = guarded(context, problem, dat, who, tol, limit);
      if (again.seconds < best.seconds) best = again;
    }
    return best;
  }
  return best;
}

static run our_best(frix_context *context, const frix_problem *problem, double target, unsigned limit, int repeat) {
  run best = {INFINITY, INFINITY};
  frix_solve_config config = frix_solve_default();
  config.tolerance = target;
  config.time_limit = limit;
  for (int k = 0; k < repeat; k++) {
    frix_solution *solution = NULL;
    double start = cpu_seconds();
    if (frix_solve(context, problem, &config, &solution) != FRIX_OK) return best;
    double seconds = cpu_seconds() - start;
    frix_result result;
    frix_solution_view(solution, &result);
    if (result.outcome == FRIX_OUTCOME_SOLVED && seconds < best.seconds)
      best = (run){seconds, result.certificate.residual};
    frix_solution_destroy(solution);
    if (!(best.seconds < INFINITY)) return best;
  }
  return best;
}

static void print_time(double seconds) {
  if (seconds < INFINITY)
    printf(" %9.3f ms", 1e3 * seconds);
  else
    printf(" %12s", "-");
}

/* One instance; adds log ratios at the last target where both solved. */
typedef struct tally {
  double log_sum;
  int both, ours_only, theirs_only, slower;
  double worst;
} tally;

/* Times as multiples of the fastest on the same problem. Problems in the plane and in space are drawn together: a
 * solver counts as failed on those that are not its own. */
static void draw(FILE *file) {
  static double ratio[RIVALS + 1][MOST];
  fx_series series[RIVALS + 1];
  double largest = 10;
  for (int p = 0; p < problem_count; p++) {
    double best = INFINITY;
    for (int k = 0; k <= RIVALS; k++) best = fmin(best, spent[k][p]);
    for (int k = 0; k <= RIVALS; k++) {
      ratio[k][p] = spent[k][p] < INFINITY ? spent[k][p] / best : INFINITY;
      if (ratio[k][p] < INFINITY) largest = fmax(largest, ratio[k][p]);
    }
  }
  series[0] = (fx_series){"frix auto", ratio[RIVALS], false};
  for (int k = 0; k < RIVALS; k++) series[k + 1] = (fx_series){rivals[k].name, ratio[k], false};
  char subtitle[100];
  snprintf(subtitle, sizeof subtitle, "%d problems, certified to %g, one thread; all but frix: Siconos numerics",
           problem_count, targets[TARGETS - 1]);
  fx_plot plot = {.title = "Time to a certified answer",
                  .subtitle = subtitle,
                  .x_label = "processor time, as a multiple of the fastest solver on the same problem",
                  .high = (int)fmin(6, ceil(log10(largest))),
                  .ratio = true,
                  .series = series,
                  .series_count = RIVALS + 1,
                  .value_count = problem_count};
  fx_plot_write(file, &plot);
}

static void compare(frix_context *context, const char *path, FILE *csv, unsigned limit, int repeat, tally *sum) {
  frix_problem *problem = NULL, *reduced = NULL;
  const char *dat = "build/siconos.tmp.dat", *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  frix_problem_data view;
  if (frix_problem_read(context, path, NULL, &problem) || frix_problem_reduce(problem, &reduced)) goto failed;
  frix_problem_view(reduced, &view);
  int dim = view.contact_count ? view.contact[0].dim : 0;
  if ((dim != 2 && dim != 3) || frix_problem_write(reduced, dat, "text")) goto failed;
  printf("%-34.34s %5d", name, view.contact_count);
  for (int t = 0; t < TARGETS; t++) {
    run ours = our_best(context, problem, targets[t], limit, repeat), theirs = {INFINITY, INFINITY};
    const char *winner = "-";
    spent[RIVALS][problem_count] = ours.seconds;
    for (int k = 0; k < RIVALS; k++) {
      spent[k][problem_count] = INFINITY;
      if (rivals[k].dim != dim) continue;
      run one = rival_best(context, reduced, dat, &rivals[k], targets[t], limit, repeat);
      spent[k][problem_count] = one.seconds;
      if (one.seconds < theirs.seconds) {
        theirs = one;
        winner = rivals[k].name;
      }
      if (csv)
        fprintf(csv, "%s,%d,%g,siconos %s,%g,%g\n", name, view.contact_count, targets[t], rivals[k].name, one.seconds,
                one.residual);
    }
    if (csv)
      fprintf(csv, "%s,%d,%g,frix auto,%g,%g\n", name, view.contact_count, targets[t], ours.seconds, ours.residual);
    print_time(ours.seconds);
    print_time(theirs.seconds);
    if (t < TARGETS - 1) continue;
    printf("  %-12s", winner);
    double ratio = theirs.seconds / ours.seconds;
    if (ours.seconds < INFINITY && theirs.seconds < INFINITY) printf(" %7.2f", ratio);
    if (view.contact_count >= 20) {
      if (ours.seconds < INFINITY && theirs.seconds < INFINITY) {
        sum->both++;
        sum->log_sum += log(ratio);
        if (ratio < sum->worst) sum->worst = ratio;
        sum->slower += ratio < 1;
      } else {
        sum->ours_only += ours.seconds < INFINITY;
        sum->theirs_only += theirs.seconds < INFINITY;
      }
    }
  }
  printf("\n");
  fflush(stdout);
  if (problem_count < MOST - 1) problem_count++;
  unlink(dat);
  goto cleanup;
failed:
  fprintf(stderr, "bench_siconos: %s: skipped: %s\n", path, frix_error_text(context));
cleanup:
  frix_problem_destroy(problem);
  frix_problem_destroy(reduced);
}

int main(int count, char **argument) {
  frix_context *context = NULL;
  FILE *csv = NULL, *svg = NULL;
  unsigned limit = 10;
  int repeat = 3, first = 1;
  for (; first + 1 < count && argument[first][0] == '-'; first += 2) {
    if (strcmp(argument[first], "--out") == 0) csv = fopen(argument[first + 1], "w");
    if (strcmp(argument[first], "--svg") == 0) svg = fopen(argument[first + 1], "w");
    if (strcmp(argument[first], "--limit") == 0) limit = (unsigned)atoi(argument[first + 1]);
    if (strcmp(argument[first], "--repeat") == 0) repeat = atoi(argument[first + 1]);
  }
  if (first >= count || limit < 1 || repeat < 1 || frix_context_create(NULL, &context) != FRIX_OK) {
    fprintf(stderr,
            "usage: bench_siconos [--out table.csv] [--svg profile.svg] [--limit SECONDS] [--repeat N] FILE...\n");
    return 2;
  }
  if (csv) fprintf(csv, "problem,contacts,target,solver,cpu_seconds,residual\n");
  printf("%-34s %5s %12s %12s %12s %12s %12s %12s  %-12s %7s\n", "certified to", "", "1e-4: frix", "best rival",
         "1e-6: frix", "best rival", "1e-8: frix", "best rival", "which", "ratio");
  tally sum = {.worst = INFINITY};
  for (int k = first; k < count; k++) compare(context, argument[k], csv, limit, repeat, &sum);
  printf(
      "\n20 or more contacts, 1e-8: frix is %.2f times as fast (geometric mean over %d problems both solve; worst "
      "%.2f, "
      "slower on %d); only frix solves %d, only the rival %d\n",
      sum.both ? exp(sum.log_sum / sum.both) : 0, sum.both, sum.worst, sum.slower, sum.ours_only, sum.theirs_only);
  if (csv) fclose(csv);
  if (svg) {
    draw(svg);
    fclose(svg);
  }
  frix_context_destroy(context);
  return 0;
}
