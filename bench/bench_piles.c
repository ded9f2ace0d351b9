/* Piles of spheres, poured into a box: time beside accuracy over consecutive steps of true trajectories.
 *
 *   bench_piles [--spheres N[,N...]] [--steps N] [--phase NAME] [--kernel] [--out FILE.csv]
 *
 * Every step is solved from its warm start to each tolerance, three times, and the shortest time counts; the median
 * over the steps of a phase is printed. Times are those of the processor in this thread, so that a busy machine
 * disturbs them less. "method" is the time of sweeps itself (packing, sweeping, its checks), "solve" that of frix_solve
 * with everything it does; as there, the method begins with judging the start. The trajectory goes on with the answer
 * to the advance tolerance. */
#include "problem/system.h"
#include "solver/solver.h"
#include "solver/sweeps.h"
#include "spheres.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 3, MOST_STEPS = 1000, MOST_TOLERANCES = 3 };

typedef struct law {
  const char *name;
  double compliance, advance;
  double tolerance[MOST_TOLERANCES];
} law;

static const law laws[] = {
    {"rigid", 0, 1e-5, {1e-3, 1e-4, 0}},
    {"compliant", 1e-2, 1e-7, {1e-4, 1e-6, 1e-8}},
};

/* Steps after which a phase begins, for h = 5 ms. */
typedef struct phase {
  const char *name;
  int32_t first;
} phase;

static const phase phases[] = {{"pouring", 40}, {"settling", 120}, {"rest", 400}};

typedef struct sample {
  double method, solve, residual, sweeps;
} sample;

typedef struct bench {
  frix_context *context;
  FILE *csv;
  int32_t steps;
  const char *only; /* the phase to measure; NULL: all */
  sample sample[MOST_TOLERANCES][MOST_STEPS];
} bench;

/* ---- one solve ---- */

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The method alone on a system that is there already. */
static double time_method(const frix_problem *problem, const fx_system *system, double tolerance, int64_t sweeps) {
  frix_problem_data data;
  frix_problem_view(problem, &data);
  fx_arena arena;
  fx_arena_init(&arena, problem->context);
  fx_limits limits = {.tolerance = tolerance, .max_iterations = sweeps};
  fx_monitor monitor;
  double option[FX_MAX_OPTIONS], *r = FX_TAKE(&arena, double, system->row_count), seconds = INFINITY;
  if (r && fx_monitor_init(&monitor, &arena, system, FRIX_LAW_COULOMB, &limits, false) == FRIX_OK) {
    memcpy(r, data.guess, (size_t)system->row_count * sizeof *r);
    for (int32_t o = 0; o < fx_solver_sweeps.info.option_count; o++)
      option[o] = fx_solver_sweeps.info.option[o].initial;
    fx_call call = {
        .system = system, .law = FRIX_LAW_COULOMB, .option = option, .arena = &arena, .monitor = &monitor, .r = r};
    double start = processor_seconds();
    fx_monitor_begin(&monitor, INT64_MAX);
    if (fx_monitor_check_start(&monitor, r) || fx_solver_sweeps.solve(&call) == FRIX_OK)
      seconds = processor_seconds() - start;
  }
  fx_arena_free(&arena);
  return seconds;
}

static double smaller(double a, double b) { return a < b ? a : b; }

static sample measure(bench *b, const frix_problem *problem, double tolerance) {
  sample s = {INFINITY, INFINITY, 0, 0};
  fx_arena arena;
  fx_arena_init(&arena, b->context);
  fx_system system;
  if (fx_system_build(&arena, problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK)
    for (int k = 0; k < REPEATS; k++) s.method = smaller(s.method, time_method(problem, &system, tolerance, 20000));
  fx_arena_free(&arena);
  for (int k = 0; k < REPEATS; k++) {
    frix_solve_config config = frix_solve_default();
    frix_solution *solution = NULL;
    frix_result result;
    config.solver = "sweeps";
    config.tolerance = tolerance;
    config.max_iterations = 20000;
    double start = processor_seconds();
    if (frix_solve(b->context, problem, &config, &solution) != FRIX_OK) continue;
    s.solve = smaller(s.solve, processor_seconds() - start);
    frix_solution_view(solution, &result);
    s.residual = result.certificate.residual;
    s.sweeps = (double)result.iterations;
    frix_solution_destroy(solution);
  }
  return s;
}

/* ---- a trajectory ---- */

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The k-th field of the samples: median or largest. */
static double summary(const sample *s, int32_t count, int k, bool median) {
  static double list[MOST_STEPS];
  for (int32_t i = 0; i < count; i++) list[i] = (&s[i].method)[k];
  qsort(list, (size_t)count, sizeof *list, by_value);
  return list[median ? count / 2 : count - 1];
}

static void report(bench *b, int32_t count, const law *l, const phase *p, int32_t contacts) {
  for (int t = 0; t < MOST_TOLERANCES && l->tolerance[t] > 0; t++) {
    const sample *s = b->sample[t];
    double method = 1e3 * summary(s, b->steps, 0, true), solve = 1e3 * summary(s, b->steps, 1, true);
    double residual = summary(s, b->steps, 2, false);
    double sweeps = summary(s, b->steps, 3, true), most = summary(s, b->steps, 3, false);
    printf("%8d %9d  %-10s %-9s %7.0e %9.2f %9.2f %7.0f %7.0f %10.1e%s\n", count, contacts, l->name, p->name,
           l->tolerance[t], method, solve, sweeps, most, residual, residual > l->tolerance[t] ? "  not reached" : "");
    fflush(stdout);
    for (int32_t k = 0; b->csv && k < b->steps; k++)
      fprintf(b->csv, "%d,%s,%s,%d,%g,%.9g,%.9g,%.0f,%.9g\n", count, l->name, p->name, p->first + k, l->tolerance[t],
              s[k].method, s[k].solve, s[k].sweeps, s[k].residual);
  }
}

static bool advance(bench *b, spheres *s, const frix_problem *problem, double tolerance) {
  frix_solve_config config = frix_solve_default();
  frix_solution *solution = NULL;
  frix_result result;
  config.solver = "sweeps";
  config.tolerance = tolerance;
  config.max_iterations = 3000;
  if (frix_solve(b->context, problem, &config, &solution) != FRIX_OK) return false;
  frix_solution_view(solution, &result);
  spheres_advance(s, result.r, result.v);
  frix_solution_destroy(solution);
  return true;
}

static bool run(bench *b, int32_t count, const law *l) {
  enum { PHASES = sizeof phases / sizeof *phases };
  spheres_config config = spheres_default(count);
  config.compliance = l->compliance;
  spheres *s = spheres_create(&config);
  bool good = s != NULL;
  int32_t last = phases[PHASES - 1].first + b->steps;
  for (int32_t step = 0, p = 0; good && step < last; step++) {
    while (p + 1 < PHASES && step >= phases[p + 1].first) p++;
    frix_problem_data data;
    frix_problem *problem = NULL;
    good = spheres_problem(s, &data) && frix_problem_create(b->context, &data, &problem) == FRIX_OK;
    int32_t k = step - phases[p].first;
    bool wanted = !b->only || !strcmp(b->only, phases[p].name);
    bool measured = good && wanted && k >= 0 && k < b->steps;
    if (b->only && wanted) last = phases[p].first + b->steps;
    for (int t = 0; measured && t < MOST_TOLERANCES && l->tolerance[t] > 0; t++)
      b->sample[t][k] = measure(b, problem, l->tolerance[t]);
    if (measured && k == b->steps - 1) report(b, count, l, &phases[p], data.contact_count);
    good = good && advance(b, s, problem, measured ? l->advance : 10 * l->advance);
    frix_problem_destroy(problem);
  }
  spheres_destroy(s);
  return good;
}

/* ---- the kernel ---- */

/* Nanoseconds per contact and sweep: the shortest of many runs of four sweeps. */
static double time_sweeps(fx_pile *pile, bool full, fx_sweep_target target, double momentum) {
  double best = INFINITY;
  int runs = pile->system->contact_count > 100000 ? 10 : 300;
  for (int run = 0; run < runs; run++) {
    double start = processor_seconds();
    for (int k = 0; k < 4; k++) fx_sweep(pile, full, target, momentum);
    best = smaller(best, processor_seconds() - start);
  }
  return 1e9 * best / 4 / pile->system->contact_count;
}

static void print_kernels(const frix_problem *problem, const fx_system *system, fx_pile *pile, int32_t count) {
  printf("%8d %9d", count, system->contact_count);
  for (int full = 0; full < 2; full++)
    for (int target = FX_SWEEP_SCALAR; target <= (int)fx_sweep_best_target(); target++)
      printf(" %9.2f", time_sweeps(pile, full, (fx_sweep_target)target, 0.5));
  double twenty = INFINITY;
  for (int k = 0; k < REPEATS; k++) twenty = smaller(twenty, time_method(problem, system, 1e-300, 20));
  printf(" %9.2f\n", 1e3 * twenty);
  fflush(stdout);
}

/* The next problem of a trajectory, without solving it. */
static bool measure_kernels(bench *b, spheres *s, int32_t count) {
  frix_problem_data data;
  frix_problem *problem = NULL;
  fx_arena arena;
  fx_system system;
  fx_pile pile;
  fx_arena_init(&arena, b->context);
  bool good = spheres_problem(s, &data) && frix_problem_create(b->context, &data, &problem) == FRIX_OK &&
              fx_system_build(&arena, problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK &&
              fx_pile_build(&arena, &system, NULL, true, &pile) == FRIX_OK;
  if (good) {
    fx_pile_pack_full(&pile);
    for (int full = 0; full < 2; full++) {
      fx_pile_load(&pile, full, data.guess);
      fx_sweep_refresh(&pile, full, fx_sweep_best_target());
      fx_sweep(&pile, full, fx_sweep_best_target(), 0);
    }
    print_kernels(problem, &system, &pile, count);
  }
  fx_arena_free(&arena);
  frix_problem_destroy(problem);
  return good;
}

static bool step_on(bench *b, spheres *s, int32_t steps) {
  bool good = true;
  for (int32_t step = 0; good && step < steps; step++) {
    frix_problem_data data;
    frix_problem *problem = NULL;
    good = spheres_problem(s, &data) && frix_problem_create(b->context, &data, &problem) == FRIX_OK &&
           advance(b, s, problem, 1e-3);
    frix_problem_destroy(problem);
  }
  return good;
}

/* A settling pile; large ones are copies of one of 8,000 side by side, which go on together for a few steps. */
static bool time_kernels(bench *b, int32_t count) {
  enum { TILE = 8000, SETTLE = 130, AFTER = 3 };
  spheres_config config = spheres_default(count > TILE ? TILE : count);
  spheres *s = spheres_create(&config);
  bool good = s && step_on(b, s, SETTLE);
  if (good && count > TILE) {
    int32_t copies = count / TILE, across = 1;
    for (int32_t k = 2; k * k <= copies; k++)
      if (copies % k == 0) across = k;
    spheres *all = spheres_tile(s, copies / across, across);
    spheres_destroy(s);
    s = all;
    count = copies * TILE;
    good = s && step_on(b, s, AFTER);
  }
  good = good && measure_kernels(b, s, count);
  spheres_destroy(s);
  return good;
}

/* ---- the program ---- */

int main(int argc, char **argv) {
  const char *list = NULL, *out = NULL;
  static bench b;
  bool kernel = false, good = true;
  b.steps = 60;
  for (int k = 1; k < argc && good; k++) {
    const char *value = k + 1 < argc ? argv[k + 1] : NULL;
    if (!strcmp(argv[k], "--kernel"))
      kernel = true;
    else if (!strcmp(argv[k], "--spheres") && value)
      list = argv[++k];
    else if (!strcmp(argv[k], "--steps") && value)
      b.steps = atoi(argv[++k]);
    else if (!strcmp(argv[k], "--phase") && value)
      b.only = argv[++k];
    else if (!strcmp(argv[k], "--out") && value)
      out = argv[++k];
    else
      good = false;
  }
  if (!good || b.steps < 1 || b.steps > MOST_STEPS) {
    fprintf(stderr, "usage: bench_piles [--spheres N[,N...]] [--steps N] [--phase NAME] [--kernel] [--out FILE.csv]\n");
    return 2;
  }
  if (frix_context_create(NULL, &b.context) != FRIX_OK) return 1;
  if (out && !(b.csv = fopen(out, "w"))) {
    perror(out);
    return 1;
  }
  if (b.csv) fprintf(b.csv, "spheres,law,phase,step,tolerance,method_seconds,solve_seconds,sweeps,residual\n");
  if (!list) list = kernel ? "1000,8000,48000,400000" : "100,1000,8000";
  if (kernel)
    printf(
        "ns per contact and sweep, shortest of many; ms of the whole method with 20 sweeps\n"
        "%8s %9s %9s %9s %9s %9s %9s %9s %9s\n",
        "spheres", "contacts", "scalar", "plain", "avx2", "scalar64", "plain64", "avx2 64", "20 sweeps");
  else
    printf("%8s %9s  %-10s %-9s %7s %9s %9s %7s %7s %10s\n", "spheres", "contacts", "law", "phase", "tol", "method ms",
           "solve ms", "sweeps", "most", "residual");
  for (const char *c = list; good && *c; c += strcspn(c, ","), c += *c == ',') {
    int32_t count = atoi(c);
    if (kernel)
      good = count > 0 && time_kernels(&b, count);
    else
      for (size_t k = 0; good && k < sizeof laws / sizeof *laws; k++) good = count > 0 && run(&b, count, &laws[k]);
  }
  if (!good) fprintf(stderr, "bench_piles: %s\n", frix_error_text(b.context));
  if (b.csv) fclose(b.csv);
  frix_context_destroy(b.context);
  return good ? 0 : 1;
}
