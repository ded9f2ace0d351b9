/* Sparse factors, orders, iterations: against plain loops, against each other, and against CHOLMOD where it is
 * installed. */
#include "bench/orders.h"
#include "bench/spheres.h"
#include "linalg/block_ilu.h"
#include "linalg/block_lu.h"
#include "linalg/dense.h"
#include "linalg/exact_sum.h"
#include "linalg/krylov.h"
#include "linalg/product.h"
#include "test.h"

#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef FRIX_HAVE_CHOLMOD
#include <cholmod.h>
#endif

/* ---- matrices ---- */

typedef struct grid {
  frix_context *context;
  fx_arena arena;
  fx_block_matrix a;
  int32_t n; /* rows */
  double *x, *b;
} grid;

/* Blocks of 3, 6 or 9 rows on a cubic lattice, neighbours coupled; symmetric and definite, or not symmetric. */
static bool build_grid(fx_test *t, int side, bool symmetric, grid *g) {
  *g = (grid){0};
  if (frix_context_create(NULL, &g->context) != FRIX_OK) return false;
  fx_arena_init(&g->arena, g->context);
  int32_t nodes = side * side * side, *row = FX_TAKE(&g->arena, int32_t, nodes + 1), count = 0;
  int32_t *start = FX_TAKE(&g->arena, int32_t, nodes + 1), *index = FX_TAKE(&g->arena, int32_t, 7 * nodes);
  int32_t step[7] = {-side * side, -side, -1, 0, 1, side, side * side};
  for (int32_t i = 0; i < nodes; i++) {
    row[i + 1] = row[i] + 3 * (1 + i % 3);
    int32_t at[3] = {i % side, i / side % side, i / side / side};
    bool there[7] = {at[2] > 0, at[1] > 0, at[0] > 0, true, at[0] < side - 1, at[1] < side - 1, at[2] < side - 1};
    for (int k = 0; k < 7; k++)
      if (there[k]) index[count++] = i + step[k];
    start[i + 1] = count;
  }
  if (fx_block_from_pattern(&g->arena, nodes, row, nodes, row, start, index, &g->a) != FRIX_OK) return false;
  for (int32_t i = 0; i < nodes; i++)
    for (int32_t k = g->a.start[i]; k < g->a.start[i + 1]; k++) {
      int32_t j = g->a.index[k], rows = fx_block_rows(&g->a, i), cols = fx_block_cols(&g->a, k);
      double *block = fx_block(&g->a, k);
      for (int32_t e = 0; e < rows * cols; e++) block[e] = fx_test_random(t);
      if (symmetric && j <= i)
        for (int32_t r = 0; r < rows; r++)
          for (int32_t c = 0; c < cols; c++) {
            if (j < i) block[r * cols + c] = fx_block_at(&g->a, j, i)[c * rows + r];
            if (j == i && c > r) block[r * cols + c] = block[c * cols + r] = 0.5 * block[r * cols + c];
          }
      for (int32_t e = 0; i == j && e < rows; e++) block[e * (rows + 1)] = 60;
    }
  g->n = row[nodes];
  g->x = FX_TAKE(&g->arena, double, g->n);
  g->b = FX_TAKE(&g->arena, double, g->n);
  for (int32_t k = 0; k < g->n; k++) g->x[k] = fx_test_random(t);
  fx_block_multiply_add(&g->a, g->x, g->b);
  return true;
}

static void free_grid(grid *g) {
  fx_arena_free(&g->arena);
  frix_context_destroy(g->context);
}

static double error_of(const grid *g, const double *x) {
  double worst = 0;
  for (int32_t k = 0; k < g->n; k++) worst = fmax(worst, fabs(x[k] - g->x[k]));
  return worst;
}

/* ---- the kernel ---- */

/* The very bits of a plain loop, for every width and every number of rows. */
static void kernel(fx_test *t) {
  enum { K = 11, ROWS = 17 };
  static const int32_t widths[] = {8, 6, 4, 2, 1};
  double a[ROWS * K], turned[K * ROWS], b[K * FX_STRIP], c[ROWS * 10], start[ROWS * 10], expected[ROWS * 10];
  size_t to[ROWS];
  for (int e = 0; e < ROWS * K; e++) a[e] = turned[(e % K) * ROWS + e / K] = fx_test_random(t);
  for (int w = 0; w < 5; w++)
    for (int32_t rows = 0; rows <= ROWS; rows++) {
      for (int e = 0; e < K * widths[w]; e++) b[e] = fx_test_random(t);
      for (int e = 0; e < ROWS * 10; e++) c[e] = start[e] = expected[e] = fx_test_random(t);
      for (int32_t r = 0; r < rows; r++) {
        to[r] = (size_t)(10 * ((5 * r) % ROWS));
        for (int32_t j = 0; j < widths[w]; j++)
          for (int32_t k = 0; k < K; k++) expected[to[r] + (size_t)j] -= a[r * K + k] * b[k * widths[w] + j];
      }
      fx_subtract_strip(rows, widths[w], K, a, K, b, c, to);
      CHECK(t, memcmp(c, expected, sizeof c) == 0);
      fx_subtract_turned(rows, widths[w], K, turned, ROWS, b, start, to);
      CHECK(t, memcmp(start, expected, sizeof start) == 0);
    }
}

/* ---- factors ---- */

/* Cholesky and LU, panels of every kind: the lattice has separators of hundreds of rows. */
static void factors(fx_test *t) {
  double worst[2] = {0};
  for (int symmetric = 0; symmetric < 2; symmetric++)
    for (int side = 1; side <= 9; side += 4) {
      grid g;
      fx_block_lu lu;
      REQUIRE(t, build_grid(t, side, symmetric, &g));
      REQUIRE(t, fx_block_lu_analyze(&g.arena, &g.a, &lu) == FRIX_OK);
      for (int again = 0; again < 2; again++) { /* factors are reused */
        double *x = FX_TAKE(&g.arena, double, g.n);
        memcpy(x, g.b, (size_t)g.n * sizeof *x);
        REQUIRE(t, fx_block_lu_factor(&lu, &g.a, 0, symmetric));
        CHECK(t, lu.symmetric == (symmetric != 0));
        fx_block_lu_solve(&lu, x);
        worst[symmetric] = fmax(worst[symmetric], error_of(&g, x));
      }
      free_grid(&g);
    }
  CHECK(t, worst[0] < 1e-13 && worst[1] < 1e-13);
  fx_test_note(t, "LU %.1e, Cholesky %.1e", worst[0], worst[1]);
}

/* 1, 2 and 4 threads make the same factors. */
static void factor_threads(fx_test *t) {
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    grid g;
    fx_block_lu lu[3];
    REQUIRE(t, build_grid(t, 10, symmetric, &g));
    for (int k = 0; k < 3; k++) {
      REQUIRE(t, fx_block_lu_analyze(&g.arena, &g.a, &lu[k]) == FRIX_OK);
      lu[k].threads = (fx_threads){g.context, 1 << k};
      REQUIRE(t, fx_block_lu_factor(&lu[k], &g.a, 0, symmetric));
      size_t lower = lu[k].lower[lu[k].order.panel_count], upper = lu[k].upper[lu[k].order.panel_count];
      CHECK(t, memcmp(lu[k].L, lu[0].L, lower * sizeof *lu[k].L) == 0);
      CHECK(t, symmetric || memcmp(lu[k].U, lu[0].U, upper * sizeof *lu[k].U) == 0);
    }
    free_grid(&g);
  }
}

/* A symmetric matrix that is not definite falls back to LU; one with an empty row and column has no factors. */
static void indefinite(fx_test *t) {
  grid g;
  fx_block_lu lu;
  REQUIRE(t, build_grid(t, 4, true, &g));
  for (int32_t i = 0; i < g.a.row_blocks; i += 5) {
    double *block = fx_block_at(&g.a, i, i);
    for (int32_t e = 0, n = fx_block_rows(&g.a, i); e < n; e++) block[e * (n + 1)] = -60;
  }
  memset(g.b, 0, (size_t)g.n * sizeof *g.b);
  fx_block_multiply_add(&g.a, g.x, g.b);
  REQUIRE(t, fx_block_lu_analyze(&g.arena, &g.a, &lu) == FRIX_OK);
  REQUIRE(t, fx_block_lu_factor(&lu, &g.a, 0, true));
  CHECK(t, !lu.symmetric);
  fx_block_lu_solve(&lu, g.b);
  CHECK_NEAR(t, error_of(&g, g.b), 0, 1e-12);
  memset(g.a.x, 0, g.a.offset[g.a.start[g.a.row_blocks]] * sizeof *g.a.x);
  CHECK(t, !fx_block_lu_factor(&lu, &g.a, 0, true));
  CHECK(t, !fx_block_lu_factor(&lu, &g.a, 0, false));
  CHECK(t, fx_block_lu_factor(&lu, &g.a, 2, true));
  free_grid(&g);
}

/* Signs of determinants, beside those of the same matrix as one dense one; about half of them negative. */
static void signs(fx_test *t) {
  int negative = 0;
  for (int k = 0; k < 24; k++) {
    grid g;
    fx_block_lu lu;
    REQUIRE(t, build_grid(t, 2, false, &g));
    for (int32_t i = 0; i < g.a.row_blocks; i++) {
      double *block = fx_block_at(&g.a, i, i);
      for (int32_t e = 0, n = fx_block_rows(&g.a, i); e < n; e++) block[e * (n + 1)] *= fx_test_random(t) / 30;
    }
    double *full = FX_TAKE(&g.arena, double, (size_t)g.n *(size_t)g.n);
    int32_t *pivot = FX_TAKE(&g.arena, int32_t, g.n);
    REQUIRE(t, full && pivot && fx_block_lu_analyze(&g.arena, &g.a, &lu) == FRIX_OK);
    for (int32_t i = 0; i < g.a.row_blocks; i++)
      for (int32_t e = g.a.start[i]; e < g.a.start[i + 1]; e++)
        for (int32_t r = 0, rows = fx_block_rows(&g.a, i), cols = fx_block_cols(&g.a, e); r < rows; r++)
          memcpy(full + (size_t)(g.a.row[i] + r) * (size_t)g.n + g.a.col[g.a.index[e]], fx_block(&g.a, e) + r * cols,
                 (size_t)cols * sizeof *full);
    REQUIRE(t, fx_lu_factor(g.n, full, pivot) && fx_block_lu_factor(&lu, &g.a, 0, false));
    double sign = fx_lu_sign(g.n, full, pivot);
    CHECK(t, fx_block_lu_sign(&lu) == sign);
    negative += sign < 0;
    free_grid(&g);
  }
  CHECK(t, negative > 4 && negative < 20);
}

/* Dense systems with an empty diagonal. */
static void dense(fx_test *t) {
  for (int32_t n = 2; n <= 7; n++) {
    double a[49], lu[49], x[7], b[7] = {0};
    int32_t pivot[7];
    for (int32_t k = 0; k < n * n; k++) a[k] = k / n == k % n ? 0 : fx_test_random(t);
    for (int32_t i = 0; i < n; i++) a[i * n + (i + 1) % n] = 5;
    for (int32_t k = 0; k < n; k++) x[k] = fx_test_random(t);
    for (int32_t i = 0; i < n; i++)
      for (int32_t k = 0; k < n; k++) b[i] += a[i * n + k] * x[k];
    memcpy(lu, a, sizeof a);
    CHECK(t, fx_lu_factor(n, lu, pivot));
    fx_lu_solve(n, lu, pivot, b);
    for (int32_t k = 0; k < n; k++) CHECK_NEAR(t, b[k], x[k], 1e-13);
  }
}

/* A diagonal block without a diagonal needs row pivots inside it. */
static void pivots(fx_test *t) {
  grid g;
  fx_block_lu lu;
  REQUIRE(t, build_grid(t, 2, false, &g));
  for (int32_t i = 0; i < g.a.row_blocks; i++)
    for (int32_t k = g.a.start[i], n = fx_block_rows(&g.a, i); k < g.a.start[i + 1]; k++)
      for (int32_t r = 0; g.a.index[k] == i && r < n; r++) { /* the heavy entries one column to the right */
        fx_block(&g.a, k)[r * n + r] = 0;
        fx_block(&g.a, k)[r * n + (r + 1) % n] = 60;
      }
  memset(g.b, 0, (size_t)g.n * sizeof *g.b);
  fx_block_multiply_add(&g.a, g.x, g.b);
  REQUIRE(t, fx_block_lu_analyze(&g.arena, &g.a, &lu) == FRIX_OK);
  CHECK(t, fx_block_lu_factor(&lu, &g.a, 0, false));
  fx_block_lu_solve(&lu, g.b);
  double worst = 0;
  for (int32_t k = 0; k < g.n; k++) worst = fmax(worst, fabs(g.b[k] - g.x[k]));
  CHECK(t, worst < 1e-12);
  free_grid(&g);
}

/* Every order is a permutation; the own one fills less than the natural, and dissection less than minimum degree. */
static void orders(fx_test *t) {
  grid g;
  fx_graph graph;
  enum { ALL = FX_ORDER_COUNT + PACKAGE_COUNT }; /* the own ones, then those of packages where they are installed */
  fx_effort effort[ALL] = {{0}};
  REQUIRE(t, build_grid(t, 14, true, &g));
  REQUIRE(t, fx_graph_from_pattern(&g.arena, g.a.row_blocks, g.a.start, g.a.index, false, &graph) == FRIX_OK);
  int32_t *order = FX_TAKE(&g.arena, int32_t, graph.count), *weight = FX_TAKE(&g.arena, int32_t, graph.count);
  for (int32_t i = 0; i < graph.count; i++) weight[i] = 6;
  graph.weight = weight;
  bool *seen = FX_TAKE(&g.arena, bool, graph.count);
  for (int k = 0; k < ALL; k++) {
    bool own = k < FX_ORDER_COUNT;
    frix_status status = own ? fx_graph_order(&g.arena, &graph, (fx_ordering)k, INFINITY, order)
                             : package_graph_order(&g.arena, &graph, (package_order)(k - FX_ORDER_COUNT), order);
    CHECK(t, status == FRIX_OK || (!own && status == FRIX_ERROR_UNSUPPORTED));
    if (status != FRIX_OK) continue;
    memset(seen, 0, (size_t)graph.count * sizeof *seen);
    for (int32_t i = 0; i < graph.count; i++) {
      REQUIRE(t, order[i] >= 0 && order[i] < graph.count && !seen[order[i]]);
      seen[order[i]] = true;
    }
    REQUIRE(t, fx_symbolic_effort(&g.arena, &graph, order, &effort[k]) == FRIX_OK);
  }
  CHECK(t, effort[FX_ORDER_OWN].cost < 0.5 * effort[FX_ORDER_NATURAL].cost);
  CHECK(t, effort[FX_ORDER_DISSECTION].cost < effort[FX_ORDER_DEGREE].cost);
  CHECK(t, effort[FX_ORDER_OWN].cost <= effort[FX_ORDER_DISSECTION].cost);
  for (int k = FX_ORDER_COUNT; k < ALL; k++)
    if (effort[k].cost > 0) CHECK(t, effort[FX_ORDER_OWN].cost < 1.15 * effort[k].cost);
  fx_test_note(t, "million multiplications: own %.1f, degree %.1f, AMD %.1f, METIS %.1f", 1e-6 * effort[0].cost,
               1e-6 * effort[FX_ORDER_DEGREE].cost, 1e-6 * effort[FX_ORDER_COUNT + PACKAGE_AMD].cost,
               1e-6 * effort[FX_ORDER_COUNT + PACKAGE_METIS].cost);
  free_grid(&g);
}

/* Without one edge, and with nodes added, the earlier order is kept; for another graph it is not. */
static void repair(fx_test *t) {
  grid large, small;
  fx_block_lu lu, next;
  bool kept = false;
  REQUIRE(t, build_grid(t, 9, true, &large) && build_grid(t, 9, true, &small));
  REQUIRE(t, fx_block_lu_analyze(&large.arena, &large.a, &lu) == FRIX_OK);
  REQUIRE(t, fx_block_lu_analyze_again(&large.arena, &large.a, &lu, INFINITY, &next, &kept) == FRIX_OK);
  CHECK(t, kept && next.cost == lu.cost);
  CHECK(t, memcmp(next.order.node, lu.order.node, (size_t)lu.order.count * sizeof *lu.order.node) == 0);
  /* The lattice without its last ten nodes first, then whole. */
  fx_block_matrix part = small.a;
  int32_t *start = FX_TAKE(&small.arena, int32_t, part.row_blocks + 1), count = 0;
  int32_t *index = FX_TAKE(&small.arena, int32_t, part.start[part.row_blocks]);
  part.row_blocks = part.col_blocks = part.row_blocks - 10;
  for (int32_t i = 0; i < part.row_blocks; i++) {
    for (int32_t k = part.start[i]; k < part.start[i + 1]; k++)
      if (part.index[k] < part.row_blocks && k % 50 != 1) index[count++] = part.index[k];
    start[i + 1] = count;
  }
  fx_block_matrix pruned;
  REQUIRE(t, fx_block_from_pattern(&small.arena, part.row_blocks, part.row, part.row_blocks, part.row, start, index,
                                   &pruned) == FRIX_OK);
  REQUIRE(t, fx_block_lu_analyze(&small.arena, &pruned, &lu) == FRIX_OK);
  REQUIRE(t, fx_block_lu_analyze_again(&small.arena, &small.a, &lu, INFINITY, &next, &kept) == FRIX_OK);
  CHECK(t, kept);
  REQUIRE(t, fx_block_lu_factor(&next, &small.a, 0, true));
  fx_block_lu_solve(&next, small.b);
  CHECK_NEAR(t, error_of(&small, small.b), 0, 1e-13);
  /* An order that has become bad is replaced. */
  REQUIRE(t, fx_block_lu_analyze_within(&large.arena, &large.a, FX_ORDER_NATURAL, INFINITY, &lu) == FRIX_OK);
  lu.effort *= 0.1;
  REQUIRE(t, fx_block_lu_analyze_again(&large.arena, &large.a, &lu, INFINITY, &next, &kept) == FRIX_OK);
  CHECK(t, !kept && next.effort < 0.5 * 10 * lu.effort);
  free_grid(&large);
  free_grid(&small);
}

/* ---- CHOLMOD as the judge ---- */

#ifdef FRIX_HAVE_CHOLMOD
static void oracle(fx_test *t) {
  grid g;
  fx_block_lu lu;
  cholmod_common c;
  REQUIRE(t, build_grid(t, 6, true, &g));
  cholmod_start(&c);
  size_t n = (size_t)g.n, most = g.a.offset[g.a.start[g.a.row_blocks]];
  cholmod_triplet *list = cholmod_allocate_triplet(n, n, most, -1, CHOLMOD_REAL, &c);
  REQUIRE(t, list);
  for (int32_t i = 0; i < g.a.row_blocks; i++)
    for (int32_t k = g.a.start[i]; k < g.a.start[i + 1]; k++)
      for (int32_t r = 0; r < fx_block_rows(&g.a, i); r++)
        for (int32_t e = 0; e < fx_block_cols(&g.a, k); e++) {
          int32_t row = g.a.row[i] + r, col = g.a.col[g.a.index[k]] + e;
          if (row < col) continue;
          ((int32_t *)list->i)[list->nnz] = row;
          ((int32_t *)list->j)[list->nnz] = col;
          ((double *)list->x)[list->nnz++] = fx_block(&g.a, k)[r * fx_block_cols(&g.a, k) + e];
        }
  cholmod_sparse *a = cholmod_triplet_to_sparse(list, 0, &c);
  cholmod_factor *factor = cholmod_analyze(a, &c);
  cholmod_factorize(a, factor, &c);
  cholmod_dense right = {.nrow = n, .ncol = 1, .nzmax = n, .d = n, .x = g.b, .xtype = CHOLMOD_REAL};
  cholmod_dense *x = cholmod_solve(CHOLMOD_A, factor, &right, &c);
  REQUIRE(t, x);
  REQUIRE(t, fx_block_lu_analyze(&g.arena, &g.a, &lu) == FRIX_OK && fx_block_lu_factor(&lu, &g.a, 0, true));
  fx_block_lu_solve(&lu, g.b);
  double worst = 0;
  for (int32_t k = 0; k < g.n; k++) worst = fmax(worst, fabs(g.b[k] - ((double *)x->x)[k]));
  CHECK(t, worst < 1e-14);
  fx_test_note(t, "%d rows, apart by %.1e", g.n, worst);
  cholmod_free_dense(&x, &c);
  cholmod_free_factor(&factor, &c);
  cholmod_free_sparse(&a, &c);
  cholmod_free_triplet(&list, &c);
  cholmod_finish(&c);
  free_grid(&g);
}
#else
static void oracle(fx_test *t) { fx_test_skip(t, "built without CHOLMOD (libsuitesparse-dev)"); }
#endif

/* ---- iterations ---- */

typedef struct iteration {
  const grid *g;
  fx_block_ilu ilu;
} iteration;

static void apply(void *user, const double *x, double *y) {
  const iteration *s = user;
  memset(y, 0, (size_t)s->g->n * sizeof *y);
  fx_block_multiply_add(&s->g->a, x, y);
}

static void precondition(void *user, const double *x, double *y) {
  fx_block_ilu_solve(&((iteration *)user)->ilu, x, y);
}

/* Both methods with both preconditioners; incomplete factors need fewer iterations. */
static void krylov(fx_test *t) {
  int32_t count[2][2];
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    grid g;
    iteration s = {.g = &g};
    fx_krylov k;
    REQUIRE(t, build_grid(t, 8, symmetric, &g));
    /* Less dominant, so that there is something to do. */
    for (int32_t i = 0; i < g.a.row_blocks; i++)
      for (int32_t e = 0, n = fx_block_rows(&g.a, i); e < n; e++) fx_block_at(&g.a, i, i)[e * (n + 1)] -= 38;
    memset(g.b, 0, (size_t)g.n * sizeof *g.b);
    fx_block_multiply_add(&g.a, g.x, g.b);
    REQUIRE(t, fx_block_ilu_take(&g.arena, &g.a, &s.ilu) == FRIX_OK && fx_krylov_take(&g.arena, g.n, &k) == FRIX_OK);
    k.apply = apply;
    k.precondition = precondition;
    k.user = &s;
    k.tolerance = 1e-12;
    double *x = FX_TAKE(&g.arena, double, g.n);
    for (int jacobi = 0; jacobi < 2; jacobi++) {
      REQUIRE(t, fx_block_ilu_factor(&s.ilu, jacobi));
      CHECK(t, s.ilu.diagonal_only == (jacobi != 0));
      fx_krylov_end end = symmetric ? fx_krylov_symmetric(&k, g.b, x) : fx_krylov_general(&k, g.b, x);
      CHECK(t, end.residual <= 1e-12);
      CHECK_NEAR(t, error_of(&g, x), 0, 1e-9);
      count[symmetric][jacobi] = end.iterations;
    }
    /* A limit ends it with the best there was; nothing to solve is solved at once. */
    k.limit = 2;
    fx_krylov_end end = symmetric ? fx_krylov_symmetric(&k, g.b, x) : fx_krylov_general(&k, g.b, x);
    CHECK(t, end.iterations == 2 && end.residual < 1);
    memset(g.b, 0, (size_t)g.n * sizeof *g.b);
    end = symmetric ? fx_krylov_symmetric(&k, g.b, x) : fx_krylov_general(&k, g.b, x);
    CHECK(t, end.iterations == 0 && x[0] == 0);
    free_grid(&g);
  }
  CHECK(t, count[0][0] < count[0][1] && count[1][0] < count[1][1]);
  fx_test_note(t, "iterations: BiCGStab %d (diagonal %d), CG %d (diagonal %d)", count[0][0], count[0][1], count[1][0],
               count[1][1]);
}

/* ---- newton with either ---- */

static frix_problem *falling_pile(frix_context *context, int32_t count, int32_t steps) {
  spheres_config config = spheres_default(count);
  config.compliance = 0.01; /* one solution only, so that answers can be compared */
  spheres *s = spheres_create(&config);
  frix_problem *problem = NULL;
  for (int32_t k = 0; s && k <= steps; k++) {
    frix_problem_data data;
    frix_solution *solution = NULL;
    frix_result result;
    frix_solve_config solve = frix_solve_default();
    solve.solver = "sweeps";
    solve.tolerance = 1e-4;
    frix_problem_destroy(problem);
    problem = NULL;
    if (!spheres_problem(s, &data) || frix_problem_create(context, &data, &problem) != FRIX_OK) break;
    if (k == steps || frix_solve(context, problem, &solve, &solution) != FRIX_OK) break;
    frix_solution_view(solution, &result);
    spheres_advance(s, result.r, result.v);
    frix_solution_destroy(solution);
  }
  spheres_destroy(s);
  return problem;
}

/* The same certified answer from factors, incomplete factors and diagonal blocks, and the same bits every time. */
static void newton_iterates(fx_test *t) {
  static const char *const choices[] = {"direct", "krylov", "jacobi", "krylov"};
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_problem *problem = falling_pile(context, 200, 60);
  frix_solution *solution[4] = {NULL};
  frix_result result[4];
  REQUIRE(t, problem);
  double worst = 0;
  for (int k = 0; k < 4; k++) {
    frix_options *options = NULL;
    frix_solve_config config = frix_solve_default();
    REQUIRE(t, frix_options_create(context, &options) == FRIX_OK);
    REQUIRE(t, frix_options_set(options, "newton.linear", choices[k]) == FRIX_OK);
    config.solver = "newton";
    config.options = options;
    config.tolerance = 1e-10;
    REQUIRE(t, frix_solve(context, problem, &config, &solution[k]) == FRIX_OK);
    frix_solution_view(solution[k], &result[k]);
    CHECK(t, result[k].outcome == FRIX_OUTCOME_SOLVED);
    for (int32_t e = 0; e < result[k].dof_count; e++) worst = fmax(worst, fabs(result[k].v[e] - result[0].v[e]));
    frix_options_destroy(options);
  }
  CHECK(t, memcmp(result[1].r, result[3].r, (size_t)result[1].row_count * sizeof(double)) == 0);
  CHECK(t, worst < 1e-7);
  fx_test_note(t, "%d, %d, %d iterations, velocities to %.1e m/s", (int)result[0].iterations, (int)result[1].iterations,
               (int)result[2].iterations, worst);
  for (int k = 0; k < 4; k++) frix_solution_destroy(solution[k]);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

/* newton alone, on a point that slides on the ground (closed form: u_N = 0, friction mu r_N against the motion), and on
 * small coupled problems, where it must also be fast: a wrong derivative still creeps to the answer. */
static void newton_laws(fx_test *t) {
  enum { CONTACTS = 4, ROWS = 3 * CONTACTS };
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  int64_t most = 0;
  for (int trial = 0; trial < 40; trial++) {
    frix_contact contact[CONTACTS];
    double W[ROWS * ROWS], q[ROWS], half[ROWS * ROWS];
    int32_t count = trial == 0 ? 1 : CONTACTS, rows = 3 * count;
    for (int32_t i = 0; i < count; i++) contact[i] = frix_contact_of_dim(3, 0.3, 0);
    for (int32_t e = 0; e < rows * rows; e++) half[e] = 0.3 * fx_test_random(t);
    for (int32_t i = 0; i < rows; i++)
      for (int32_t j = 0; j < rows; j++) {
        W[i * rows + j] = i == j;
        for (int32_t e = 0; e < rows && trial > 0; e++) W[i * rows + j] += half[i * rows + e] * half[j * rows + e];
      }
    for (int32_t i = 0; i < rows; i++) q[i] = i % 3 == 0 ? -1 : i % 3 == 1 ? 1 : 0.3 * fx_test_random(t);
    if (trial == 0) q[2] = 0;
    frix_problem_data data = frix_problem_data_default();
    data.form = FRIX_FORM_LOCAL;
    data.contact_count = count;
    data.contact = contact;
    data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = rows, .col_count = rows, .x = W};
    data.q = q;
    frix_problem *problem = NULL;
    frix_solution *solution = NULL;
    frix_result result;
    frix_solve_config config = frix_solve_default();
    config.solver = "newton";
    config.tolerance = 1e-10;
    REQUIRE(t, frix_problem_create(context, &data, &problem) == FRIX_OK);
    REQUIRE(t, frix_solve(context, problem, &config, &solution) == FRIX_OK);
    frix_solution_view(solution, &result);
    CHECK(t, result.outcome == FRIX_OUTCOME_SOLVED);
    if (result.iterations > most) most = result.iterations;
    if (trial == 0) {
      CHECK_NEAR(t, result.r[0], 1, 1e-9);
      CHECK_NEAR(t, result.r[1], -0.3, 1e-9);
      CHECK_NEAR(t, result.u[0], 0, 1e-9);
      CHECK_NEAR(t, result.u[1], 0.7, 1e-9);
    }
    frix_solution_destroy(solution);
    frix_problem_destroy(problem);
  }
  CHECK(t, most <= 10);
  fx_test_note(t, "at most %d iterations", (int)most);
  frix_context_destroy(context);
}

/* Factors by panels have the bits of elimination column by column. */
static void panels(fx_test *t) {
  static double a[100 * 100], b[100 * 100];
  int32_t pivot[100];
  uint64_t seed = 7;
  for (int32_t n = 32; n < 100; n += 9) {
    for (int32_t k = 0; k < n * n; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      a[k] = b[k] = (double)(seed >> 11) * 0x1p-53 - 0.5;
    }
    CHECK(t, fx_lu_factor(n, a, pivot));
    for (int32_t k = 0; k < n; k++) {
      int32_t best = k;
      for (int32_t i = k + 1; i < n; i++)
        if (fabs(b[i * n + k]) > fabs(b[best * n + k])) best = i;
      CHECK(t, pivot[k] == best);
      for (int32_t j = 0; j < n && best != k; j++) {
        double swap = b[k * n + j];
        b[k * n + j] = b[best * n + j], b[best * n + j] = swap;
      }
      double inverse = 1 / b[k * n + k];
      for (int32_t i = k + 1; i < n; i++) {
        b[i * n + k] *= inverse;
        for (int32_t j = k + 1; j < n; j++) b[i * n + j] -= b[i * n + k] * b[k * n + j];
      }
    }
    CHECK(t, !memcmp(a, b, (size_t)(n * n) * sizeof *a));
  }
}

/* Rows of contacts on movers of many coordinates, against plain loops. */
static void rows(fx_test *t) {
  enum { N = 27, D = 11 };
  double h[D * N], work[9 * N], x[N], f[D], L[N * N], out[D] = {0}, to[N] = {0}, weight[D];
  for (int k = 0; k < D * N; k++) h[k] = sin(1.7 * k);
  for (int k = 0; k < N; k++) x[k] = cos(2.3 * k);
  for (int k = 0; k < D; k++) f[k] = sin(0.9 * k + 1);
  for (int k = 0; k < N * N; k++) L[k] = k % (N + 1) ? 0.2 * sin(3.1 * k) : 1.5 + k % 3;
  for (int k = 12 * N + 6; k < 12 * N + 12; k++) L[k] = 0.0; /* a row that ends early */
  fx_add_products(D, N, h, x, out);
  fx_add_rows(D, N, h, f, to);
  fx_weigh_rows(D, N, L, h, work, weight);
  for (int r = 0; r < D; r++) {
    double sum = 0, y[N], square = 0;
    for (int k = 0; k < N; k++) sum += h[r * N + k] * x[k], y[k] = h[r * N + k];
    CHECK_NEAR(t, out[r], sum, 1e-14);
    for (int k = N - 1; k >= 0; k--) {
      square += y[k] * y[k] / L[k * N + k];
      for (int j = 0; j < k; j++) y[j] -= L[k * N + j] * y[k];
    }
    CHECK_NEAR(t, weight[r], square, 0);
  }
  for (int k = 0; k < N; k++) {
    double sum = 0;
    for (int r = 0; r < D; r++) sum += f[r] * h[r * N + k];
    CHECK_NEAR(t, to[k], sum, 1e-14);
  }
}

/* ---- sums that do not depend on the order ---- */

static void exact_sums(fx_test *t) {
  enum { COUNT = 4000 };
  static double x[COUNT];
  uint64_t random = 7;
  fx_exact_sum part[3] = {{{0}}}, forth = {{0}};
  for (int k = 0; k < COUNT; k++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    x[k] = ldexp((double)(int64_t)random, (int)(random >> 58) - 90 - 40 * (k % 3));
    if (k % 2) x[k] = -x[k - 1] + ldexp(x[k], -60); /* most of it cancels */
  }
  for (int k = 0; k < COUNT; k++) fx_exact_add(&part[k % 3], x[k]), fx_exact_add(&forth, x[COUNT - 1 - k]);
  for (int k = 0; k < FX_EXACT_BINS; k++) part[0].bin[k] += part[1].bin[k] + part[2].bin[k];
  CHECK(t, fx_exact_value(&part[0]) == fx_exact_value(&forth));
  const double few[] = {1e300, 1.0, -1e300, 4.9e-324, 1e-30, -1.0, 1e17};
  fx_exact_sum sum = {{0}};
  for (size_t k = 0; k < sizeof few / sizeof *few; k++) fx_exact_add(&sum, few[k]);
  CHECK(t, fx_exact_value(&sum) == 1e17);
  fx_exact_add(&sum, -1e17);
  CHECK(t, fx_exact_value(&sum) == 1e-30);
  fx_exact_add(&sum, -1e-30);
  CHECK(t, fx_exact_value(&sum) == 4.9e-324);
  fx_exact_add(&sum, INFINITY);
  CHECK(t, isnan(fx_exact_value(&sum)));
}

const fx_test_row test_linalg[] = {
    {"linalg/panels", panels},
    {"linalg/rows", rows},
    {"linalg/kernel", kernel},
    {"linalg/factors", factors},
    {"linalg/factor_threads", factor_threads},
    {"linalg/indefinite", indefinite},
    {"linalg/signs", signs},
    {"linalg/dense", dense},
    {"linalg/pivots", pivots},
    {"linalg/orders", orders},
    {"linalg/repair", repair},
    {"linalg/cholmod", oracle},
    {"linalg/krylov", krylov},
    {"linalg/newton_iterates", newton_iterates},
    {"linalg/newton_laws", newton_laws},
    {"linalg/exact sums", exact_sums},
    {0},
};
