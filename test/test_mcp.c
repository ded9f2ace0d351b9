/* Mixed complementarity problems: the certificate, what creation refuses, every method on every kind of bound, products
 * without a matrix, stops, memory, and the linear algebra below. */
#include "linalg/dense.h"
#include "linalg/sparse_lu.h"
#include "mcp/box_quadratic.h"
#include "test.h"

#include <frix/frix.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static frix_context *context_or_exit(fx_test *t) {
  frix_context *context = NULL;
  if (frix_context_create(NULL, &context) != FRIX_OK) fx_test_fail(t, __FILE__, __LINE__, "no context");
  return context;
}

/* ---- a problem with every kind of bound: F = M (x - c) with a monotone M, matrix or products */

enum { N = 6 };

typedef struct affine {
  double M[N][N], c[N];
  int released;
} affine;

static bool affine_function(const double *x, double *F, void *user) {
  const affine *a = user;
  for (int i = 0; i < N; i++) {
    F[i] = 0;
    for (int j = 0; j < N; j++) F[i] += a->M[i][j] * (x[j] - a->c[j]);
  }
  return true;
}

static bool affine_jacobian(const double *x, double *value, void *user) {
  const affine *a = user;
  (void)x;
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) value[N * j + i] = a->M[i][j];
  return true;
}

static bool affine_product(const double *x, const double *d, bool transposed, double *out, void *user) {
  const affine *a = user;
  (void)x;
  for (int i = 0; i < N; i++) {
    out[i] = 0;
    for (int j = 0; j < N; j++) out[i] += (transposed ? a->M[j][i] : a->M[i][j]) * d[j];
  }
  return true;
}

static void affine_release(void *user) { ((affine *)user)->released++; }

static void affine_fill(fx_test *t, affine *a) {
  *a = (affine){.released = 0};
  for (int i = 0; i < N; i++) {
    a->c[i] = 3 * fx_test_random(t);
    for (int j = 0; j < i; j++) {
      a->M[i][j] = fx_test_random(t);
      a->M[j][i] = -0.5 * a->M[i][j] + 0.2 * fx_test_random(t);
    }
    a->M[i][i] = 3;
  }
}

static const double low[N] = {0, -INFINITY, -1, -INFINITY, 0.5, -2},
                    high[N] = {INFINITY, INFINITY, 1, 2, 0.5, INFINITY};

static frix_mcp_data affine_data(affine *a, bool matrix) {
  static const int32_t column[N + 1] = {0, 6, 12, 18, 24, 30, 36};
  static const int32_t row[N * N] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5,
                                     0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
  frix_mcp_data data = frix_mcp_data_default();
  data.name = "affine";
  data.count = N;
  data.lower = low;
  data.upper = high;
  data.linear = true;
  data.function = affine_function;
  if (matrix) {
    data.column = column;
    data.row = row;
    data.jacobian = affine_jacobian;
  } else {
    data.product = affine_product;
  }
  data.user = a;
  data.release = affine_release;
  return data;
}

/* Solved by what the definition says, not by the certificate. */
static void check_definition(fx_test *t, const affine *a, const double *x, double tolerance) {
  double F[N];
  affine_function(x, F, (void *)(uintptr_t)a);
  for (int i = 0; i < N; i++) {
    CHECK(t, x[i] >= low[i] - tolerance && x[i] <= high[i] + tolerance);
    if (x[i] > low[i] + tolerance && !(F[i] < tolerance))
      fx_test_fail(t, __FILE__, __LINE__, "F[%d] = %g above its lower bound", i, F[i]);
    if (x[i] < high[i] - tolerance && !(F[i] > -tolerance))
      fx_test_fail(t, __FILE__, __LINE__, "F[%d] = %g below its upper bound", i, F[i]);
  }
}

static void every_bound(fx_test *t) {
  frix_context *context = context_or_exit(t);
  for (int trial = 0; trial < 50; trial++) {
    affine a;
    affine_fill(t, &a);
    for (int32_t k = 0; frix_mcp_method_table(k); k++)
      for (int matrix = 0; matrix < 2; matrix++) {
        frix_mcp_data data = affine_data(&a, matrix);
        frix_mcp *mcp = NULL;
        frix_mcp_result result;
        double x[N];
        REQUIRE(t, frix_mcp_create(context, &data, &mcp) == FRIX_OK);
        CHECK(t, frix_mcp_start(mcp, 0, x) && !frix_mcp_start(mcp, 1, x) && isnan(frix_mcp_distance(mcp, x, NULL)));
        frix_mcp_config config = frix_mcp_default();
        config.method = frix_mcp_method_table(k)->name;
        frix_status status = frix_mcp_solve(context, mcp, &config, x, &result);
        if (!matrix && !frix_mcp_method_table(k)->matrix_free) {
          CHECK(t, status == FRIX_ERROR_UNSUPPORTED && strstr(frix_error_text(context), config.method));
        } else {
          CHECK(t, status == FRIX_OK && result.outcome == FRIX_OUTCOME_SOLVED);
          CHECK(t, result.certificate.residual <= 1e-8 && result.certificate.objective < 1e-10);
          check_definition(t, &a, x, 1e-7);
        }
        frix_mcp_destroy(mcp);
      }
  }
  frix_context_destroy(context);
}

/* ---- the certificate, by hand */

static bool given(const double *x, double *F, void *user) {
  (void)x;
  if (!user) return false;
  memcpy(F, user, 5 * sizeof *F);
  return true;
}

static bool no_product(const double *x, const double *d, bool transposed, double *out, void *user) {
  (void)x, (void)d, (void)transposed, (void)out, (void)user;
  return false;
}

static void certificate(fx_test *t) {
  /* lower, free, both, upper, fixed */
  static const double l[5] = {0, -INFINITY, -1, -INFINITY, 2}, h[5] = {INFINITY, INFINITY, 1, 3, 2};
  static const struct {
    double x[5], F[5], residual, objective;
    int32_t worst;
  } row[] = {
      {{0, 5, 1, 3, 2}, {4, 0, -7, -2, 100}, 0, 0, 0},                            /* a solution */
      {{0, 5, 1, 3, 2}, {-0.25, 0, -7, -2, 0}, 0.25, 0.5 * 0.0625, 0},            /* f negative at the lower bound */
      {{0, 5, 1, 3, 2}, {4, 0.5, -7, -2, 0}, 0.5, 0.125, 1},                      /* g not zero */
      {{0.5, 5, 1, 3, 2}, {4, 0, -7, -2, 0}, 0.5, 0.5 * 4, 0},                    /* off the bound: u'z = 2 */
      {{0, 5, 1, 2, 2}, {4, 0, -7, -2, 0}, 1, 0.5 * 4, 3},                        /* off the upper bound: u'z = 2 */
      {{-0.5, 5, 1, 3, 2}, {4, 0, -7, -2, 0}, 0.5, 0.125, 0},                     /* outside */
      {{0, 5, 0.5, 3, 2}, {4, 0, 0.125, -2, 0}, 0.125, 0.5 * 0.1875 * 0.1875, 2}, /* between, F positive */
  };
  frix_context *context = context_or_exit(t);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    frix_mcp_data data = frix_mcp_data_default();
    data.count = 5;
    data.lower = l;
    data.upper = h;
    data.function = given;
    data.product = no_product;
    data.user = (void *)(uintptr_t)row[k].F;
    frix_mcp *mcp = NULL;
    frix_mcp_certificate c;
    REQUIRE(t, frix_mcp_create(context, &data, &mcp) == FRIX_OK);
    CHECK(t, frix_mcp_certify(context, mcp, row[k].x, &c) == FRIX_OK);
    CHECK_NEAR(t, c.residual, row[k].residual, 1e-15);
    CHECK_NEAR(t, c.objective, row[k].objective, 1e-15);
    if (row[k].residual > 0) CHECK(t, c.worst == row[k].worst);
    frix_mcp_destroy(mcp);
  }
  /* where F is undefined nothing is solved */
  frix_mcp_data data = frix_mcp_data_default();
  data.count = 1;
  data.function = given;
  data.product = no_product;
  frix_mcp *mcp = NULL;
  frix_mcp_certificate c;
  frix_mcp_result result;
  double x = 1;
  REQUIRE(t, frix_mcp_create(context, &data, &mcp) == FRIX_OK);
  CHECK(t, frix_mcp_certify(context, mcp, &x, &c) == FRIX_OK && c.residual == INFINITY && c.objective == INFINITY);
  CHECK(t, frix_mcp_solve(context, mcp, NULL, &x, &result) == FRIX_OK && result.outcome == FRIX_OUTCOME_STALLED);
  frix_mcp_destroy(mcp);
  frix_context_destroy(context);
}

/* ---- refusals */

static void refusals(fx_test *t) {
  frix_context *context = context_or_exit(t);
  affine a;
  affine_fill(t, &a);
  frix_mcp *mcp = NULL;
  frix_mcp_data good = affine_data(&a, true), bad;
#define REFUSED(text, change)                                                                 \
  do {                                                                                        \
    int before = a.released;                                                                  \
    bad = good;                                                                               \
    change;                                                                                   \
    CHECK(t, frix_mcp_create(context, &bad, &mcp) == FRIX_ERROR_INPUT && !mcp);               \
    if (!strstr(frix_error_text(context), text))                                              \
      fx_test_fail(t, __FILE__, __LINE__, "'%s' lacks '%s'", frix_error_text(context), text); \
    CHECK(t, a.released == before + (bad.size == sizeof bad));                                \
  } while (0)
  static const double crossed[N] = {3, 0, 0, 0, 0, 0}, ends[N] = {2, 0, 0, 0, 0, 0}, undefined[N] = {NAN};
  static const int32_t falling[N + 1] = {0, 6, 5, 18, 24, 30, 36}, twice[N * N] = {0, 0, 1, 2, 3, 4};
  REFUSED("default", bad.size = 0);
  REFUSED("negative", bad.count = -1);
  REFUSED("no function", bad.function = NULL);
  REFUSED("needs a Jacobian", bad.jacobian = NULL);
  REFUSED("pattern", bad.row = NULL);
  REFUSED("column[2]", bad.column = falling);
  REFUSED("ascending", bad.row = twice);
  REFUSED("bounds", bad.lower = crossed; bad.upper = ends);
  REFUSED("bounds", bad.lower = undefined; bad.upper = NULL);
  REFUSED("start", bad.start = undefined; bad.start_count = 1);
  REFUSED("starts", bad.start_count = 1);
#undef REFUSED
  int before = a.released;
  REQUIRE(t, frix_mcp_create(context, &good, &mcp) == FRIX_OK);
  double x[N] = {0};
  frix_mcp_result result;
  frix_mcp_config config = frix_mcp_default();
  config.method = "semismoth";
  CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_ERROR_INPUT);
  CHECK(t, strstr(frix_error_text(context), "did you mean 'semismooth'") != NULL);
  config = frix_mcp_default();
  config.tolerance = -1;
  CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_ERROR_INPUT);
  config = frix_mcp_default();
  frix_mcp_setting setting = {"semismooth.restart", "3"};
  config.setting = &setting;
  config.setting_count = 1;
  CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_ERROR_INPUT);
  CHECK(t, strstr(frix_error_text(context), "did you mean 'semismooth.restarts'") != NULL);
  setting = (frix_mcp_setting){"semismooth.restarts", "many"};
  CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_ERROR_INPUT);
  x[2] = NAN;
  CHECK(t, frix_mcp_solve(context, mcp, NULL, x, &result) == FRIX_ERROR_INPUT);
  frix_mcp_destroy(mcp);
  CHECK(t, a.released == before + 1);
  frix_context_destroy(context);
}

/* ---- stops, and the same bits twice */

static bool count_and_stop(int64_t iteration, double residual, const double *x, void *user) {
  (void)iteration, (void)residual, (void)x;
  return ++*(int *)user >= 3;
}

static void stops(fx_test *t) {
  frix_context *context = context_or_exit(t);
  frix_mcp *mcp = NULL;
  REQUIRE(t, frix_mcp_create_named(context, "scarf_anum", &mcp) == FRIX_OK);
  for (int32_t k = 0; frix_mcp_method_table(k); k++) {
    double x[13], y[13];
    int polls = 0;
    frix_mcp_result result;
    frix_mcp_config config = frix_mcp_default();
    config.method = frix_mcp_method_table(k)->name;
    if (frix_mcp_method_table(k)->linear_only) {
      CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_ERROR_UNSUPPORTED);
      continue;
    }
    config.cancel = count_and_stop;
    config.user = &polls;
    frix_mcp_start(mcp, 0, x);
    CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_OK);
    CHECK(t, result.outcome == FRIX_OUTCOME_CANCELLED && polls == 3 && result.certificate.residual < INFINITY);
    config.cancel = NULL;
    config.max_iterations = 2;
    frix_mcp_start(mcp, 0, x);
    CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_OK);
    CHECK(t, result.outcome == FRIX_OUTCOME_MAX_ITERATIONS || result.outcome == FRIX_OUTCOME_STALLED);
    config.max_iterations = 0;
    config.time_limit = 1e-9;
    frix_mcp_start(mcp, 0, x);
    CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_OK);
    CHECK(t, result.outcome == FRIX_OUTCOME_TIME_LIMIT);
    config.time_limit = 0;
    frix_mcp_start(mcp, 2, x);
    frix_mcp_start(mcp, 2, y);
    CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_OK);
    CHECK(t, frix_mcp_solve(context, mcp, &config, y, &result) == FRIX_OK);
    CHECK(t, memcmp(x, y, sizeof x) == 0);
  }
  frix_mcp_destroy(mcp);
  frix_context_destroy(context);
}

/* ---- memory that fails at every call */

typedef struct ledger {
  int64_t calls, fail_at, blocks;
} ledger;

static void *ledger_allocate(size_t bytes, void *user) {
  ledger *l = user;
  if (l->calls++ == l->fail_at) return NULL;
  void *block = malloc(bytes);
  l->blocks += block != NULL;
  return block;
}

static void ledger_release(void *block, size_t bytes, void *user) {
  (void)bytes;
  ((ledger *)user)->blocks--;
  free(block);
}

static frix_status lifetime(ledger *l, const char *problem, const char *method) {
  frix_context_config config = frix_context_default();
  config.allocate = ledger_allocate;
  config.release = ledger_release;
  config.user = l;
  frix_context *context = NULL;
  frix_mcp *mcp = NULL;
  frix_mcp_result result;
  double x[128];
  frix_status status = frix_context_create(&config, &context);
  if (status == FRIX_OK)
    status = strcmp(problem, "scara") ? frix_mcp_create_named(context, problem, &mcp)
                                      : frix_mcp_create_scara(context, FRIX_SCARA_CONE, 7, &mcp);
  if (status == FRIX_OK) {
    frix_mcp_config solve = frix_mcp_default();
    solve.method = method;
    frix_mcp_start(mcp, 0, x);
    status = frix_mcp_solve(context, mcp, &solve, x, &result);
  }
  frix_mcp_destroy(mcp);
  frix_context_destroy(context);
  return status;
}

static void memory(fx_test *t) {
  static const char *const problem[] = {"harker1_cspe2", "control-10", "colvdual", "path4", "scara", "tri-10", "kehoe"};
  int64_t points = 0;
  for (size_t p = 0; p < sizeof problem / sizeof *problem; p++)
    for (int32_t m = 0; frix_mcp_method_table(m); m++) {
      bool linear = !strcmp(problem[p], "control-10") || !strcmp(problem[p], "path4") || !strcmp(problem[p], "tri-10");
      if (frix_mcp_method_table(m)->linear_only && !linear) continue;
      for (int64_t k = 0; k < 100000; k++) {
        ledger l = {.fail_at = k};
        frix_status status = lifetime(&l, problem[p], frix_mcp_method_table(m)->name);
        bool failed = l.calls > k;
        if (l.blocks || status != (failed ? FRIX_ERROR_MEMORY : FRIX_OK))
          fx_test_fail(t, __FILE__, __LINE__, "%s, %s, call %lld: %s, %lld blocks lost", problem[p],
                       frix_mcp_method_table(m)->name, (long long)k, frix_status_name(status), (long long)l.blocks);
        points++;
        if (!failed) break;
      }
    }
  fx_test_note(t, "%lld failures survived", (long long)points);
}

/* ---- sparse LU against dense LU, with holes on the diagonal */

static void sparse_lu(fx_test *t) {
  enum { SIZE = 60 };
  frix_context *context = context_or_exit(t);
  double worst = 0;
  for (int trial = 0; trial < 20; trial++) {
    fx_arena arena;
    fx_arena_init(&arena, context);
    int32_t p[SIZE + 1] = {0}, *i = FX_TAKE(&arena, int32_t, SIZE * SIZE), pivot[SIZE], used = 0;
    double *x = FX_TAKE(&arena, double, SIZE *SIZE), *dense = FX_TAKE(&arena, double, SIZE *SIZE), b[SIZE], c[SIZE];
    for (int col = 0; col < SIZE; col++) {
      for (int row = 0; row < SIZE; row++) {
        bool there = (row + 7) % SIZE == col || fabs(fx_test_random(t)) < 0.06;
        if (!there || (row == col && trial % 2)) continue;
        i[used] = row;
        x[used] = fx_test_random(t) + ((row + 7) % SIZE == col ? 3 : 0);
        dense[row * SIZE + col] = x[used++];
      }
      p[col + 1] = used;
      b[col] = c[col] = fx_test_random(t);
    }
    fx_sparse_lu lu;
    bool singular = true;
    REQUIRE(t, fx_sparse_lu_analyze(&arena, SIZE, p, i, &lu) == FRIX_OK);
    CHECK(t, fx_sparse_lu_factor(&lu, x, 0.1, &singular) == FRIX_OK && !singular);
    CHECK(t, fx_lu_factor(SIZE, dense, pivot));
    fx_sparse_lu_solve(&lu, b);
    fx_lu_solve(SIZE, dense, pivot, c);
    for (int k = 0; k < SIZE; k++) worst = fmax(worst, fabs(b[k] - c[k]));
    /* the same pattern again with a zero column: singular, and good afterwards */
    double kept = x[p[5]];
    for (int k = p[5]; k < p[6]; k++) x[k] = 0;
    CHECK(t, fx_sparse_lu_factor(&lu, x, 0.1, &singular) == FRIX_OK && singular);
    x[p[5]] = kept != 0 ? kept : 1;
    fx_sparse_lu_free(&lu);
    fx_arena_free(&arena);
  }
  CHECK(t, worst < 1e-11);
  fx_test_note(t, "error %.1e", worst);
  frix_context_destroy(context);
}

/* ---- the quadratic over a box, against every face */

typedef struct quadratic {
  double B[4][4];
} quadratic;

static bool quadratic_product(const double *d, double *out, void *user) {
  const quadratic *q = user;
  for (int i = 0; i < 4; i++) {
    out[i] = 0;
    for (int j = 0; j < 4; j++) out[i] += q->B[i][j] * d[j];
  }
  return true;
}

static double value_at(const quadratic *q, const double *g, const double *s) {
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    sum += g[i] * s[i];
    for (int j = 0; j < 4; j++) sum += 0.5 * s[i] * q->B[i][j] * s[j];
  }
  return sum;
}

/* Least value over all 81 faces of a strictly convex quadratic: solve on the face, keep what is feasible. */
static double least_value(const quadratic *q, const double *g, const double *lower, const double *upper) {
  double best = 0;
  for (int face = 0; face < 81; face++) {
    int place[4] = {face % 3, face / 3 % 3, face / 9 % 3, face / 27}, free_list[4], count = 0, pivot[4];
    double s[4], A[16], b[4];
    for (int i = 0; i < 4; i++) {
      s[i] = place[i] == 0 ? lower[i] : upper[i];
      if (place[i] == 2) free_list[count++] = i;
    }
    for (int r = 0; r < count; r++) {
      b[r] = -g[free_list[r]];
      for (int j = 0; j < 4; j++)
        if (place[j] != 2) b[r] -= q->B[free_list[r]][j] * s[j];
      for (int c = 0; c < count; c++) A[r * count + c] = q->B[free_list[r]][free_list[c]];
    }
    if (count && !fx_lu_factor(count, A, pivot)) continue;
    if (count) fx_lu_solve(count, A, pivot, b);
    bool feasible = true;
    for (int r = 0; r < count; r++) {
      s[free_list[r]] = b[r];
      feasible &= b[r] >= lower[free_list[r]] && b[r] <= upper[free_list[r]];
    }
    if (feasible) best = fmin(best, value_at(q, g, s));
  }
  return best;
}

static void box_quadratic(fx_test *t) {
  frix_context *context = context_or_exit(t);
  fx_arena arena;
  fx_arena_init(&arena, context);
  fx_box_quadratic box = {.product = quadratic_product};
  REQUIRE(t, fx_box_quadratic_take(&arena, 4, &box) == FRIX_OK);
  double worst = 0;
  for (int trial = 0; trial < 400; trial++) {
    quadratic q = {{{0}}};
    double root[4][4], g[4], lower[4], upper[4], diagonal[4];
    bool convex = trial % 2;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) root[i][j] = fx_test_random(t);
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < 4; j++) {
        for (int k = 0; k < 4; k++) q.B[i][j] += root[k][i] * root[k][j];
        if (!convex) q.B[i][j] = root[i][j] + root[j][i];
      }
      if (convex) q.B[i][i] += 0.05;
      g[i] = fx_test_random(t);
      lower[i] = -fabs(fx_test_random(t));
      upper[i] = fabs(fx_test_random(t));
      diagonal[i] = 1 + fabs(q.B[i][i]);
    }
    box.gradient = g;
    box.low = lower;
    box.high = upper;
    box.diagonal = diagonal;
    box.user = &q;
    int64_t steps = 0;
    double change = fx_box_quadratic_solve(&box, 1e-9, 1000, &steps);
    CHECK_NEAR(t, change, value_at(&q, g, box.s), 1e-12);
    CHECK(t, change <= 0 && steps < 1000);
    for (int i = 0; i < 4; i++) CHECK(t, box.s[i] >= lower[i] && box.s[i] <= upper[i]);
    if (convex) worst = fmax(worst, change - least_value(&q, g, lower, upper));
    /* stationary on the box, convex or not */
    for (int i = 0; i < 4; i++) {
      double step = fmin(fmax(box.s[i] - box.g[i], lower[i]), upper[i]) - box.s[i];
      CHECK(t, fabs(step) < 1e-6);
    }
  }
  CHECK(t, worst < 1e-12);
  fx_arena_free(&arena);
  frix_context_destroy(context);
}

const fx_test_row test_mcp[] = {
    {"mcp/certificate", certificate},
    {"mcp/refusals", refusals},
    {"mcp/every_bound", every_bound},
    {"mcp/stops", stops},
    {"mcp/memory", memory},
    {"mcp/sparse_lu", sparse_lu},
    {"mcp/box_quadratic", box_quadratic},
    {0},
};
