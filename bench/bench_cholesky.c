/* The block Cholesky beside CHOLMOD: refactorisation of M + H D H' in one run, one thread, residual beside time.
 *
 *   bench_cholesky [--spheres N[,N...]] [--orders]
 *
 * Analysis is done once; the time is that of a numerical factorisation with the pattern known, shortest of several that
 * take turns, in processor time of this thread. CHOLMOD (simplicial and supernodal) chooses its own ordering. --orders
 * measures the orderings of frix against each other instead. */
#include "cases.h"
#include "orders.h"
#include "solver/newton_linear.h"
#include "spheres.h"

#include <cholmod.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

typedef struct rival {
  cholmod_common common;
  cholmod_sparse *a;
  cholmod_factor *factor;
  outcome outcome;
} rival;

static void rival_analyze(rival *r, const fx_block_matrix *K, int kind) {
  cholmod_start(&r->common);
  r->common.supernodal = kind;
  r->common.final_ll = kind == CHOLMOD_SUPERNODAL;
  r->a = lower_of(K, &r->common);
  double start = case_seconds();
  r->factor = cholmod_analyze(r->a, &r->common);
  r->outcome = (outcome){.analyze = case_seconds() - start, .factor = INFINITY};
  r->outcome.fill = r->common.method[r->common.selected].lnz;
}

static void rival_finish(rival *r, const fx_block_matrix *K, const double *b) {
  size_t n = (size_t)K->row[K->row_blocks];
  cholmod_dense right = {.nrow = n, .ncol = 1, .nzmax = n, .d = n, .x = (void *)(size_t)b, .xtype = CHOLMOD_REAL};
  cholmod_dense *x = cholmod_solve(CHOLMOD_A, r->factor, &right, &r->common);
  r->outcome.residual = x ? residual_of(K, b, x->x) : INFINITY;
  cholmod_free_dense(&x, &r->common);
  cholmod_free_factor(&r->factor, &r->common);
  cholmod_free_sparse(&r->a, &r->common);
  cholmod_finish(&r->common);
}

/* ---- all of them in turn ---- */

enum { SIMPLICIAL, SUPERNODAL, OWN, OWN_LU, METHODS };

static void own_finish(const fx_block_lu *lu, const fx_block_matrix *K, const double *b, double *x, outcome *out) {
  memcpy(x, b, (size_t)K->row[K->row_blocks] * sizeof *x);
  fx_block_lu_solve(lu, x);
  out->residual = residual_of(K, b, x);
  out->fill = lu->fill;
}

/* Turn by turn, so that a busy machine disturbs all alike; the shortest time of each counts. A method that takes more
 * than a second has two turns only. */
static bool measure(fx_arena *arena, const fx_block_matrix *K, const double *b, outcome out[METHODS]) {
  enum { TURNS = 200 };
  rival cholmod[2];
  fx_block_lu lu;
  double *x = FX_TAKE(arena, double, K->row[K->row_blocks]), start = case_seconds(), spent = 0;
  if (!x || fx_block_lu_analyze(arena, K, &lu) != FRIX_OK) return false;
  double analyze = case_seconds() - start;
  rival_analyze(&cholmod[SIMPLICIAL], K, CHOLMOD_SIMPLICIAL);
  rival_analyze(&cholmod[SUPERNODAL], K, CHOLMOD_SUPERNODAL);
  out[OWN] = out[OWN_LU] = (outcome){.analyze = analyze, .factor = INFINITY};
  out[SIMPLICIAL] = cholmod[0].outcome;
  out[SUPERNODAL] = cholmod[1].outcome;
  bool good = true;
  for (int turn = 0; good && turn < TURNS && (turn < 8 || spent < 4); turn++)
    for (int k = 0; k < METHODS; k++) {
      if (turn >= 2 && out[k].factor > 1) continue;
      start = case_seconds();
      if (k < 2)
        cholmod_factorize(cholmod[k].a, cholmod[k].factor, &cholmod[k].common);
      else
        good = good && fx_block_lu_factor(&lu, K, 0, k == OWN);
      double seconds = case_seconds() - start;
      if (seconds < out[k].factor) out[k].factor = seconds;
      spent += seconds;
      if (k >= 2 && turn == 0) own_finish(&lu, K, b, x, &out[k]);
    }
  for (int k = 0; k < 2; k++) {
    rival_finish(&cholmod[k], K, b);
    out[k].residual = cholmod[k].outcome.residual;
  }
  return good;
}

/* ---- orderings ---- */

/* Time of an analysis that keeps the order of the one before. */
static double time_again(frix_context *context, const fx_block_matrix *K) {
  fx_arena arena;
  fx_arena_init(&arena, context);
  fx_block_lu lu, next;
  double seconds = NAN;
  if (fx_block_lu_analyze(&arena, K, &lu) == FRIX_OK) {
    double start = case_seconds();
    if (fx_block_lu_analyze_again(&arena, K, &lu, INFINITY, &next, NULL) == FRIX_OK) seconds = case_seconds() - start;
  }
  fx_arena_free(&arena);
  return seconds;
}

/* Work and fill of every order on the graph of bodies, and the time it takes to find. */
static bool compare_orders(frix_context *context, const char *name, const fx_block_matrix *K) {
  enum { ALL = FX_ORDER_COUNT + PACKAGE_COUNT };
  static const char *const names[ALL] = {"own", "natural", "degree", "dissection", "AMD", "METIS"};
  bool good = true;
  for (int k = 0; good && k < ALL; k++) {
    fx_arena arena;
    fx_arena_init(&arena, context);
    int32_t *order = FX_TAKE(&arena, int32_t, K->row_blocks), *weight = FX_TAKE(&arena, int32_t, K->row_blocks);
    fx_graph graph;
    fx_effort effort;
    good =
        order && weight && fx_graph_from_pattern(&arena, K->row_blocks, K->start, K->index, false, &graph) == FRIX_OK;
    for (int32_t i = 0; good && i < K->row_blocks; i++) weight[i] = fx_block_rows(K, i);
    graph.weight = weight;
    double start = case_seconds();
    frix_status status = !good ? FRIX_ERROR_MEMORY
                         : k < FX_ORDER_COUNT
                             ? fx_graph_order(&arena, &graph, (fx_ordering)k, INFINITY, order)
                             : package_graph_order(&arena, &graph, (package_order)(k - FX_ORDER_COUNT), order);
    double seconds = case_seconds() - start;
    if (status != FRIX_ERROR_UNSUPPORTED) {
      good = status == FRIX_OK && fx_symbolic_effort(&arena, &graph, order, &effort) == FRIX_OK;
      printf("%-12s %-12s %12.1f %10.3f %10.2f\n", name, names[k], 1e-6 * effort.cost, 1e-6 * effort.fill,
             1e3 * seconds);
      fflush(stdout);
    }
    fx_arena_free(&arena);
  }
  printf("%-12s whole analysis with the order of the one before: %.2f ms\n", name, 1e3 * time_again(context, K));
  return good;
}

/* ---- cases ---- */

static bool compare_factors(frix_context *context, const char *name, const fx_system *s, const fx_block_matrix *K,
                            const double *b) {
  fx_arena arena;
  fx_arena_init(&arena, context);
  outcome out[METHODS];
  bool good = measure(&arena, K, b, out);
  double faster = out[SIMPLICIAL].factor < out[SUPERNODAL].factor ? out[SIMPLICIAL].factor : out[SUPERNODAL].factor;
  if (good)
    printf("%-12s %6d %7d %9.3f %9.3f %9.3f %9.3f %6.2f  %8.1e %8.1e %8.1e  %8.2f %8.2f  %8.2f %8.2f\n", name,
           s->mover_count, s->contact_count, 1e3 * out[OWN].factor, 1e3 * out[SIMPLICIAL].factor,
           1e3 * out[SUPERNODAL].factor, 1e3 * out[OWN_LU].factor, out[OWN].factor / faster, out[OWN].residual,
           out[SIMPLICIAL].residual, out[SUPERNODAL].residual, 1e3 * out[OWN].analyze, 1e3 * out[SUPERNODAL].analyze,
           1e-6 * out[OWN].fill, 1e-6 * out[SUPERNODAL].fill);
  fflush(stdout);
  fx_arena_free(&arena);
  return good;
}

/* Assembles M + H S D S H' with every contact sticking, kappa = 0.1, and compares. */
static bool compare(frix_context *context, const char *name, frix_problem *problem, bool orders) {
  if (!problem) return false;
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
    if (orders)
      compare_orders(context, name, &linear->K);
    else
      compare_factors(context, name, &s, &linear->K, b);
  }
  fx_arena_free(&arena);
  frix_problem_destroy(problem);
  return linear != NULL;
}
int main(int argc, char **argv) {
  const char *list = "100,1000,10000";
  bool orders = false, known = true;
  for (int k = 1; k < argc && known; k++) {
    if (!strcmp(argv[k], "--orders"))
      orders = true;
    else if (!strcmp(argv[k], "--spheres") && k + 1 < argc)
      list = argv[++k];
    else
      known = false;
  }
  if (!known) {
    fprintf(stderr, "usage: bench_cholesky [--spheres N[,N...]] [--orders]\n");
    return 2;
  }
  frix_context *context = NULL;
  if (frix_context_create(NULL, &context) != FRIX_OK) return 1;
  if (orders) {
    printf("million multiplications and entries of the factor, ms to find the order\n");
    printf("%-12s %-12s %12s %10s %10s\n", "case", "order", "work", "fill", "time");
  } else {
    printf("refactorisation in ms; ratio: frix over the faster CHOLMOD; fill: million entries of the factor\n");
    printf("%-12s %6s %7s %9s %9s %9s %9s %6s  %8s %8s %8s  %8s %8s  %8s %8s\n", "case", "bodies", "contact", "frix",
           "simpl.", "supern.", "frix LU", "ratio", "residual", "simpl.", "supern.", "analysis", "CHOLMOD", "fill",
           "CHOLMOD");
  }
  bool good =
      compare(context, "cards 8", case_example(context, "cardhouse", (case_value[]){{"levels", 8}, {0}}), orders);
  for (int side = 10; good && side <= 30; side += 20) {
    char name[32];
    snprintf(name, sizeof name, "wall %d", side);
    case_value set[] = {{"columns", side}, {"courses", side}, {0}};
    good = compare(context, name, case_example(context, "wall", set), orders);
  }
  for (const char *c = list; good && *c; c += strcspn(c, ","), c += *c == ',') {
    char name[32];
    snprintf(name, sizeof name, "pile %d", atoi(c));
    good = atoi(c) > 0 && compare(context, name, spheres_settled(context, atoi(c)), orders);
  }
  if (!good) fprintf(stderr, "bench_cholesky: %s\n", frix_error_text(context));
  frix_context_destroy(context);
  return good ? 0 : 1;
}
