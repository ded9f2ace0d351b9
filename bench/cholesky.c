/* The block Cholesky beside CHOLMOD: refactorisation of M + H D H' in one run, one thread, residual beside time.
 *
 *   bench_cholesky [--spheres N[,N...]] [--orders]
 *
 * Analysis is done once; the time is that of a numerical factorisation with the pattern known, shortest of several, in
 * processor time of this thread. CHOLMOD (simplicial and supernodal) chooses its own ordering. --orders measures the
 * orderings of frix against each other instead. */
#include "examples/examples.h"
#include "solver/newton_linear.h"
#include "spheres.h"

#include <cholmod.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Shortest time of an action, repeated for about a second. */
typedef struct stopwatch {
  double best, spent, start;
  int count;
} stopwatch;

static bool again(stopwatch *w) {
  double now = processor_seconds();
  if (w->count++ == 0)
    w->best = INFINITY;
  else if (w->spent += now - w->start, now - w->start < w->best)
    w->best = now - w->start;
  if (w->count > 3 && (w->spent > 1 || w->count > 2000)) return false;
  w->start = processor_seconds();
  return true;
}

/* ---- the matrix ---- */

/* |K x - b| / |b| for b = K 1. */
static double residual_of(const fx_block_matrix *K, const double *b, const double *x) {
  int32_t n = K->row[K->row_blocks];
  double *rest = calloc((size_t)n, sizeof *rest), sum = 0, size = 0;
  fx_block_multiply_add(K, x, rest);
  for (int32_t k = 0; k < n; k++) {
    sum += (rest[k] - b[k]) * (rest[k] - b[k]);
    size += b[k] * b[k];
  }
  free(rest);
  return sqrt(sum / size);
}

/* ---- CHOLMOD ---- */

/* The lower half of K by columns. */
static cholmod_sparse *lower_of(const fx_block_matrix *K, cholmod_common *c) {
  int32_t n = K->row[K->row_blocks];
  cholmod_sparse *a =
      cholmod_allocate_sparse((size_t)n, (size_t)n, K->offset[K->start[K->row_blocks]], 1, 1, -1, CHOLMOD_REAL, c);
  if (!a) return NULL;
  int32_t *p = a->p, *rows = a->i, at = 0;
  double *x = a->x;
  for (int32_t j = 0; j < K->row_blocks; j++)
    for (int32_t col = 0, width = fx_block_rows(K, j); col < width; col++) {
      p[K->row[j] + col] = at;
      for (int32_t k = K->start[j]; k < K->start[j + 1]; k++) /* row j of a symmetric matrix is column j */
        for (int32_t r = 0; r < fx_block_cols(K, k); r++) {
          int32_t row = K->row[K->index[k]] + r;
          if (row < K->row[j] + col) continue;
          rows[at] = row;
          x[at++] = fx_block(K, k)[col * fx_block_cols(K, k) + r];
        }
    }
  p[n] = at;
  return a;
}

typedef struct outcome {
  double analyze, factor, residual, fill; /* fill: entries of the factor */
} outcome;

static outcome run_cholmod(const fx_block_matrix *K, const double *b, int kind) {
  cholmod_common c;
  outcome out = {0};
  cholmod_start(&c);
  c.supernodal = kind;
  c.final_ll = kind == CHOLMOD_SUPERNODAL;
  cholmod_sparse *a = lower_of(K, &c);
  double start = processor_seconds();
  cholmod_factor *factor = cholmod_analyze(a, &c);
  out.analyze = processor_seconds() - start;
  stopwatch watch = {0};
  while (again(&watch)) cholmod_factorize(a, factor, &c);
  out.factor = watch.best;
  int32_t n = K->row[K->row_blocks];
  cholmod_dense right = {.nrow = (size_t)n, .ncol = 1, .nzmax = (size_t)n, .d = (size_t)n, .x = (void *)(size_t)b};
  right.xtype = CHOLMOD_REAL;
  cholmod_dense *x = cholmod_solve(CHOLMOD_A, factor, &right, &c);
  out.residual = x ? residual_of(K, b, x->x) : INFINITY;
  out.fill = c.method[c.selected].lnz;
  cholmod_free_dense(&x, &c);
  cholmod_free_factor(&factor, &c);
  cholmod_free_sparse(&a, &c);
  cholmod_finish(&c);
  return out;
}

/* ---- frix ---- */

static outcome run_frix(frix_context *context, const fx_block_matrix *K, const double *b, bool symmetric) {
  outcome out = {.residual = INFINITY};
  fx_arena arena;
  fx_arena_init(&arena, context);
  fx_block_lu lu;
  int32_t n = K->row[K->row_blocks];
  double start = processor_seconds();
  if (fx_block_lu_analyze(&arena, K, &lu) == FRIX_OK) {
    out.analyze = processor_seconds() - start;
    stopwatch watch = {0};
    bool good = true;
    while (again(&watch)) good = good && fx_block_lu_factor(&lu, K, 0, symmetric);
    out.factor = watch.best;
    double *x = FX_TAKE(&arena, double, n);
    if (x && good) {
      memcpy(x, b, (size_t)n * sizeof *x);
      fx_block_lu_solve(&lu, x);
      out.residual = residual_of(K, b, x);
    }
    out.fill = lu.fill;
  }
  fx_arena_free(&arena);
  return out;
}

/* ---- cases ---- */

/* Assembles M + H S D S H' with every contact sticking, kappa = 0.1, and compares. */
static bool compare(frix_context *context, const char *name, const frix_problem *problem) {
  fx_arena arena;
  fx_arena_init(&arena, context);
  fx_system s;
  frix_status status = fx_system_build(&arena, problem, FRIX_FORM_GLOBAL, &s);
  fx_newton_linear *linear = status == FRIX_OK ? fx_newton_linear_create(&arena, &s, &status) : NULL;
  if (linear) {
    double *P = FX_TAKE(&arena, double, s.diagonal[s.contact_count]);
    double *B = FX_TAKE(&arena, double, s.diagonal[s.contact_count]);
    double *b = FX_TAKE(&arena, double, s.dof_count), *one = FX_TAKE(&arena, double, s.dof_count);
    for (int32_t i = 0; i < s.contact_count; i++)
      for (int32_t k = 0, d = s.contact[i].dim; k < d; k++) {
        P[s.diagonal[i] + (size_t)(k * (d + 1))] = 1;
        B[s.diagonal[i] + (size_t)(k * (d + 1))] = 0.1;
      }
    fx_newton_factor(linear, P, B);
    for (int32_t k = 0; k < s.dof_count; k++) one[k] = 1 + 0.1 * (k % 7);
    fx_block_multiply_add(&linear->K, one, b);
    outcome simple = run_cholmod(&linear->K, b, CHOLMOD_SIMPLICIAL);
    outcome super = run_cholmod(&linear->K, b, CHOLMOD_SUPERNODAL);
    outcome own = run_frix(context, &linear->K, b, true), lu = run_frix(context, &linear->K, b, false);
    double rival = simple.factor < super.factor ? simple.factor : super.factor;
    printf("%-12s %6d %7d %9.3f %9.3f %9.3f %9.3f %6.2f  %8.1e %8.1e %8.1e  %8.2f %8.2f  %8.2f %8.2f\n", name,
           s.mover_count, s.contact_count, 1e3 * own.factor, 1e3 * simple.factor, 1e3 * super.factor, 1e3 * lu.factor,
           own.factor / rival, own.residual, simple.residual, super.residual, 1e3 * own.analyze, 1e3 * super.analyze,
           1e-6 * own.fill, 1e-6 * super.fill);
    fflush(stdout);
  }
  fx_arena_free(&arena);
  return linear != NULL;
}

static bool compare_example(frix_context *context, const char *name, const char *example_name, const char *const *set,
                            const double *to) {
  const frix_example *example = frix_example_find(example_name);
  double value[FRIX_EXAMPLE_MAX_PARAMETERS];
  frix_problem *problem = NULL;
  for (int32_t k = 0; k < example->parameter_count; k++) value[k] = example->parameter[k].initial;
  for (int k = 0; set[k]; k++) value[frix_example_parameter_index(example, set[k])] = to[k];
  bool good = frix_example_build(example, context, value, &problem) == FRIX_OK && compare(context, name, problem);
  frix_problem_destroy(problem);
  return good;
}

/* A pile that has settled for a while. */
static bool compare_pile(frix_context *context, int32_t count) {
  spheres_config config = spheres_default(count);
  spheres *s = spheres_create(&config);
  bool good = s != NULL;
  char name[32];
  snprintf(name, sizeof name, "pile %d", count);
  for (int32_t step = 0; good && step <= 110; step++) {
    frix_problem_data data;
    frix_problem *problem = NULL;
    frix_solution *solution = NULL;
    frix_result result;
    frix_solve_config solve = frix_solve_default();
    solve.solver = "sweeps";
    solve.tolerance = 1e-3;
    solve.max_iterations = 500;
    good = spheres_problem(s, &data) && frix_problem_create(context, &data, &problem) == FRIX_OK;
    if (good && step == 110) good = compare(context, name, problem);
    good = good && frix_solve(context, problem, &solve, &solution) == FRIX_OK;
    if (good) {
      frix_solution_view(solution, &result);
      spheres_advance(s, result.r, result.v);
    }
    frix_solution_destroy(solution);
    frix_problem_destroy(problem);
  }
  spheres_destroy(s);
  return good;
}

int main(int argc, char **argv) {
  const char *list = argc == 3 && !strcmp(argv[1], "--spheres") ? argv[2] : argc == 1 ? "100,1000,10000" : NULL;
  if (!list) {
    fprintf(stderr, "usage: bench_cholesky [--spheres N[,N...]]\n");
    return 2;
  }
  frix_context *context = NULL;
  if (frix_context_create(NULL, &context) != FRIX_OK) return 1;
  printf("refactorisation in ms; ratio: frix over the faster CHOLMOD; fill: million entries of the factor\n");
  printf("%-12s %6s %7s %9s %9s %9s %9s %6s  %8s %8s %8s  %8s %8s  %8s %8s\n", "case", "bodies", "contact", "frix",
         "simpl.", "supern.", "frix LU", "ratio", "residual", "simpl.", "supern.", "analysis", "CHOLMOD", "fill", "CHOLMOD");
  bool good = compare_example(context, "cards 8", "cardhouse", (const char *[]){"levels", NULL}, (double[]){8});
  for (int side = 10; good && side <= 30; side += 20) {
    char name[32];
    snprintf(name, sizeof name, "wall %d", side);
    good = compare_example(context, name, "wall", (const char *[]){"columns", "courses", NULL}, (double[]){side, side});
  }
  for (const char *c = list; good && *c; c += strcspn(c, ","), c += *c == ',') good = compare_pile(context, atoi(c));
  if (!good) fprintf(stderr, "bench_cholesky: %s\n", frix_error_text(context));
  frix_context_destroy(context);
  return good ? 0 : 1;
}
