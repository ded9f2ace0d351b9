/* Quadratic programmes: answers against their optimality conditions, recomputed here in extended precision; degenerate
 * and contradictory programmes; warm starts; and the contact method that is made of them. */
#include "method.h"

#include <frix/qp.h>

/* ---- programmes ---- */

enum { MOST = 40 };

typedef struct programme {
  int32_t n, equalities, rows; /* rows: inequalities */
  double Q[MOST * MOST], c[MOST], E[MOST * MOST], b[MOST], A[4 * MOST * MOST],
      lower[4 * MOST]; /* columns of E, A first */
  int32_t block[MOST + 1], block_count;
  double blocks[MOST * MOST]; /* Q as it is given: whole, or block after block */
} programme;

/* Q = B B' + I in blocks of `size` (0: one). */
static void random_objective(fx_test *t, programme *p, int32_t n, int32_t size) {
  p->n = n;
  p->block_count = 0;
  memset(p->Q, 0, sizeof p->Q);
  int32_t at = 0, width = size ? size : n;
  for (int32_t first = 0; first < n; first += width) {
    int32_t d = first + width < n ? width : n - first;
    double B[MOST * MOST];
    for (int32_t k = 0; k < d * d; k++) B[k] = fx_test_random(t);
    for (int32_t i = 0; i < d; i++)
      for (int32_t j = 0; j < d; j++) {
        double sum = i == j ? 0.1 : 0;
        for (int32_t k = 0; k < d; k++) sum += B[i * d + k] * B[j * d + k];
        p->Q[(first + i) * n + first + j] = sum;
        p->blocks[at++] = sum;
      }
    p->block[p->block_count++] = first;
  }
  p->block[p->block_count] = n;
  if (!size) p->block_count = 0;
  for (int32_t i = 0; i < n; i++) p->c[i] = 3 * fx_test_random(t);
}

/* Rows that a random point satisfies: feasible by construction. */
static void random_rows(fx_test *t, programme *p, int32_t equalities, int32_t rows) {
  double inside[MOST];
  p->equalities = equalities;
  p->rows = rows;
  for (int32_t i = 0; i < p->n; i++) inside[i] = fx_test_random(t);
  for (int32_t k = 0; k < equalities + rows; k++) {
    bool equality = k < equalities;
    double *matrix = equality ? p->E : p->A, value = 0;
    int32_t height = equality ? equalities : rows, row = equality ? k : k - equalities;
    for (int32_t i = 0; i < p->n; i++) {
      matrix[i * height + row] = fx_test_random(t);
      value += matrix[i * height + row] * inside[i];
    }
    if (equality)
      p->b[row] = value;
    else
      p->lower[row] = value - (fx_test_random(t) > 0 ? 0 : 0.5 * (1 + fx_test_random(t)));
  }
}

static frix_qp_data data_of(const programme *p) {
  frix_qp_data data = frix_qp_data_default();
  data.variable_count = p->n;
  data.equality_count = p->equalities;
  data.inequality_count = p->rows;
  data.Q = p->blocks;
  data.block_count = p->block_count;
  data.block = p->block;
  data.c = p->c;
  data.A_eq = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = p->equalities, .col_count = p->n, .x = p->E};
  data.b = p->b;
  data.A = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = p->rows, .col_count = p->n, .x = p->A};
  data.lower = p->lower;
  return data;
}

/* Largest breach of the optimality conditions, absolute. */
static double breach(const programme *p, const frix_qp_result *r) {
  long double worst = 0;
  for (int32_t i = 0; i < p->n; i++) {
    long double sum = p->c[i];
    for (int32_t j = 0; j < p->n; j++) sum += (long double)p->Q[i * p->n + j] * r->x[j];
    for (int32_t k = 0; k < p->equalities; k++) sum -= (long double)p->E[i * p->equalities + k] * r->nu[k];
    for (int32_t k = 0; k < p->rows; k++) sum -= (long double)p->A[i * p->rows + k] * r->lambda[k];
    worst = fmaxl(worst, fabsl(sum));
  }
  for (int32_t k = 0; k < p->equalities; k++) {
    long double sum = -p->b[k];
    for (int32_t i = 0; i < p->n; i++) sum += (long double)p->E[i * p->equalities + k] * r->x[i];
    worst = fmaxl(worst, fabsl(sum));
  }
  for (int32_t k = 0; k < p->rows; k++) {
    long double slack = -p->lower[k];
    for (int32_t i = 0; i < p->n; i++) slack += (long double)p->A[i * p->rows + k] * r->x[i];
    worst = fmaxl(worst, fmaxl(-slack, fmaxl(-(long double)r->lambda[k], fabsl(slack * r->lambda[k]))));
  }
  return (double)worst;
}

/* Solves and shows; the caller destroys. NULL with the test failed where the call fails. */
static frix_qp_solution *run(fx_test *t, frix_context *context, const programme *p, const frix_qp_config *config,
                             frix_qp_result *result) {
  frix_qp_data data = data_of(p);
  frix_qp_solution *solution = NULL;
  if (frix_qp_solve(context, &data, config, &solution) != FRIX_OK)
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  else
    frix_qp_solution_view(solution, result);
  return solution;
}

/* ---- tests ---- */

static void random_programmes(fx_test *t) {
  frix_context *context = NULL;
  programme *p = malloc(sizeof *p);
  double worst = 0;
  int active = 0;
  REQUIRE(t, p && frix_context_create(NULL, &context) == FRIX_OK);
  for (int trial = 0; trial < 200; trial++) {
    int32_t n = 1 + trial % MOST, size = trial % 3 == 0 ? 0 : 1 + trial % 5;
    random_objective(t, p, n, size);
    random_rows(t, p, trial % 4 == 0 ? n / 4 : 0, trial % 7 == 0 ? 0 : 2 * n);
    double objective[2] = {0, 0};
    for (int way = 0; way < 2; way++) {
      frix_qp_config config = frix_qp_default();
      config.method = way ? FRIX_QP_PRIMAL : FRIX_QP_DUAL;
      frix_qp_result r;
      frix_qp_solution *solution = run(t, context, p, &config, &r);
      if (!solution) continue;
      double gap = breach(p, &r);
      if (r.outcome != FRIX_QP_SOLVED || !(gap < 1e-9) || !(r.residual < 1e-9))
        fx_test_fail(t, __FILE__, __LINE__, "trial %d, method %d: %s, breach %.2e, residual %.2e", trial, way,
                     frix_qp_outcome_name(r.outcome), gap, r.residual);
      worst = fmax(worst, gap);
      objective[way] = r.objective;
      active += r.active_count;
      frix_qp_solution_destroy(solution);
    }
    CHECK_NEAR(t, objective[0], objective[1], 1e-9 * (1 + fabs(objective[0])));
  }
  frix_context_destroy(context);
  free(p);
  fx_test_note(t, "200 programmes by both methods, %d rows active, largest breach %.1e", active, worst);
}

/* min |x|^2 over rows that are there many times, and cross at one vertex. */
static void degenerate(fx_test *t) {
  frix_context *context = NULL;
  programme *p = malloc(sizeof *p);
  REQUIRE(t, p && frix_context_create(NULL, &context) == FRIX_OK);
  for (int way = 0; way < 2; way++) {
    frix_qp_config config = frix_qp_default();
    config.method = way ? FRIX_QP_PRIMAL : FRIX_QP_DUAL;
    memset(p, 0, sizeof *p);
    p->n = 3;
    p->rows = 60;
    p->equalities = 4;
    for (int i = 0; i < 3; i++) p->Q[4 * i] = p->blocks[4 * i] = 1;
    /* a cone of 30 planes through (0, 0, 1), every plane twice, and x_2 = 0 four times in disguise */
    for (int k = 0; k < 60; k++) {
      double a = cos(0.2094395102393195 * (k / 2)), b = sin(0.2094395102393195 * (k / 2));
      p->A[k] = a;
      p->A[60 + k] = b;
      p->A[120 + k] = 1;
      p->lower[k] = 1;
    }
    for (int k = 0; k < 4; k++) p->E[4 + k] = k + 1;
    frix_qp_result r;
    frix_qp_solution *solution = run(t, context, p, &config, &r);
    if (!solution) continue;
    CHECK(t, r.outcome == FRIX_QP_SOLVED);
    CHECK_NEAR(t, r.x[0], 0, 1e-12);
    CHECK_NEAR(t, r.x[1], 0, 1e-12);
    CHECK_NEAR(t, r.x[2], 1, 1e-12);
    CHECK(t, breach(p, &r) < 1e-12);
    frix_qp_solution_destroy(solution);
  }
  frix_context_destroy(context);
  free(p);
}

static void infeasible(fx_test *t) {
  frix_context *context = NULL;
  programme *p = malloc(sizeof *p);
  REQUIRE(t, p && frix_context_create(NULL, &context) == FRIX_OK);
  for (int which = 0; which < 4; which++)
    for (int way = 0; way < 2; way++) {
      memset(p, 0, sizeof *p);
      p->n = 2;
      p->Q[0] = p->Q[3] = p->blocks[0] = p->blocks[3] = 1;
      if (which == 0) { /* x >= 1, x <= 0 */
        p->rows = 2;
        p->A[0] = 1, p->A[1] = -1, p->lower[0] = 1;
      } else if (which == 1) { /* x + y = 1, x + y = 2 */
        p->equalities = 2;
        p->E[0] = p->E[1] = p->E[2] = p->E[3] = 1, p->b[0] = 1, p->b[1] = 2;
      } else if (which == 2) { /* 0 >= 1 */
        p->rows = 1;
        p->lower[0] = 1;
      } else { /* x = 0, y = 0, x + y >= 1e-3 */
        p->equalities = 2, p->rows = 1;
        p->E[0] = p->E[3] = 1, p->A[0] = p->A[1] = 1, p->lower[0] = 1e-3;
      }
      frix_qp_config config = frix_qp_default();
      config.method = way ? FRIX_QP_PRIMAL : FRIX_QP_DUAL;
      frix_qp_result r;
      frix_qp_solution *solution = run(t, context, p, &config, &r);
      if (solution && r.outcome != FRIX_QP_INFEASIBLE)
        fx_test_fail(t, __FILE__, __LINE__, "programme %d, method %d: %s", which, way, frix_qp_outcome_name(r.outcome));
      frix_qp_solution_destroy(solution);
    }
  frix_context_destroy(context);
  free(p);
}

/* From the multipliers of a neighbour both methods need fewer changes than from nothing. */
static void warm_start(fx_test *t) {
  frix_context *context = NULL;
  programme *p = malloc(sizeof *p);
  int64_t total[2][2] = {{0, 0}, {0, 0}};
  REQUIRE(t, p && frix_context_create(NULL, &context) == FRIX_OK);
  for (int trial = 0; trial < 20; trial++) {
    frix_qp_result before, r;
    random_objective(t, p, MOST, 0);
    random_rows(t, p, 0, 2 * MOST);
    frix_qp_solution *first = run(t, context, p, NULL, &before);
    for (int32_t i = 0; i < p->n; i++) p->c[i] += 0.01 * fx_test_random(t);
    for (int way = 0; first && way < 2; way++)
      for (int warm = 0; warm < 2; warm++) {
        frix_qp_config config = frix_qp_default();
        config.method = way ? FRIX_QP_PRIMAL : FRIX_QP_DUAL;
        if (warm) config.guess_x = before.x, config.guess_lambda = before.lambda;
        frix_qp_solution *solution = run(t, context, p, &config, &r);
        if (!solution) continue;
        CHECK(t, r.outcome == FRIX_QP_SOLVED && breach(p, &r) < 1e-9);
        total[way][warm] += r.iterations - (warm && !way ? before.active_count : 0);
        frix_qp_solution_destroy(solution);
      }
    frix_qp_solution_destroy(first);
  }
  for (int way = 0; way < 2; way++) CHECK(t, total[way][1] < total[way][0] / 2);
  fx_test_note(t, "dual %lld -> %lld, primal %lld -> %lld changes", (long long)total[0][0], (long long)total[0][1],
               (long long)total[1][0], (long long)total[1][1]);
  frix_context_destroy(context);
  free(p);
}

static void bad_input(fx_test *t) {
  frix_context *context = NULL;
  frix_qp_solution *solution = NULL;
  programme *p = malloc(sizeof *p);
  REQUIRE(t, p && frix_context_create(NULL, &context) == FRIX_OK);
  random_objective(t, p, 4, 0);
  random_rows(t, p, 1, 3);
  frix_qp_data data = data_of(p);
  p->blocks[5] = -1;
  CHECK(t, frix_qp_solve(context, &data, NULL, &solution) == FRIX_ERROR_INPUT);
  CHECK(t, strstr(frix_error_text(context), "positive definite") != NULL);
  p->blocks[5] = NAN;
  CHECK(t, frix_qp_solve(context, &data, NULL, &solution) == FRIX_ERROR_INPUT);
  random_objective(t, p, 4, 0);
  p->A[2] = INFINITY;
  CHECK(t, frix_qp_solve(context, &data, NULL, &solution) == FRIX_ERROR_INPUT);
  p->A[2] = 0;
  data.A.col_count = 3;
  CHECK(t, frix_qp_solve(context, &data, NULL, &solution) == FRIX_ERROR_INPUT);
  data = data_of(p);
  data.c = NULL;
  CHECK(t, frix_qp_solve(context, &data, NULL, &solution) == FRIX_ERROR_INPUT);
  data = data_of(p);
  data.block_count = 2;
  data.block = (int32_t[]){0, 2, 3};
  CHECK(t, frix_qp_solve(context, &data, NULL, &solution) == FRIX_ERROR_INPUT);
  data = data_of(p);
  data.size = 0;
  CHECK(t, frix_qp_solve(context, &data, NULL, &solution) == FRIX_ERROR_INPUT);
  CHECK(t, solution == NULL);
  frix_context_destroy(context);
  free(p);
}

/* ---- memory ---- */

typedef struct purse {
  int64_t calls, fail_at, blocks;
} purse;

static void *purse_allocate(size_t bytes, void *user) {
  purse *u = user;
  void *block = u->calls++ == u->fail_at ? NULL : malloc(bytes);
  u->blocks += block != NULL;
  return block;
}

static void purse_release(void *block, size_t bytes, void *user) {
  (void)bytes;
  ((purse *)user)->blocks--;
  free(block);
}

static void memory(fx_test *t) {
  programme *p = malloc(sizeof *p);
  REQUIRE(t, p != NULL);
  random_objective(t, p, 12, 4);
  random_rows(t, p, 2, 20);
  frix_qp_data data = data_of(p);
  for (int way = 0; way < 2; way++) {
    frix_status status = FRIX_ERROR_MEMORY;
    for (int64_t k = 0; status != FRIX_OK && k < 1000; k++) {
      purse u = {.fail_at = k};
      frix_context_config config = frix_context_default();
      frix_qp_config chosen = frix_qp_default();
      frix_context *context = NULL;
      frix_qp_solution *solution = NULL;
      config.allocate = purse_allocate;
      config.release = purse_release;
      config.user = &u;
      chosen.method = way ? FRIX_QP_PRIMAL : FRIX_QP_DUAL;
      status = frix_context_create(&config, &context);
      if (status == FRIX_OK) status = frix_qp_solve(context, &data, &chosen, &solution);
      CHECK(t, status == FRIX_OK || status == FRIX_ERROR_MEMORY);
      frix_qp_solution_destroy(solution);
      frix_context_destroy(context);
      CHECK(t, u.blocks == 0);
    }
    CHECK(t, status == FRIX_OK);
  }
  free(p);
}

/* ---- the contact method ---- */

/* 210 discs, first step: the certificate of the associated law, and the time beside it. */
static void discs(fx_test *t) {
  static const double mu[] = {0.05, 0.1, 0.2, 0.4, 0.6, 0.8};
  char note[512] = "";
  for (size_t k = 0; k < sizeof mu / sizeof *mu; k++) {
    answer a;
    const method m = {.solver = "qp_active_set", .law = FRIX_LAW_ASSOCIATED};
    if (method_example(t, &a, "discs", (double[]){20, mu[k]}, &m)) {
      CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED && a.result.certificate.residual < 1e-12);
      snprintf(note + strlen(note), sizeof note - strlen(note), "%s%g: %.0f ms, %lld", k ? "; " : "", mu[k],
               1e3 * a.result.seconds, (long long)a.result.iterations);
    }
    answer_free(&a);
  }
  fx_test_note(t, "mu, time, changes: %s", note);
}

static bool with_pyramids(answer *a, int32_t facets) {
  frix_problem *pyramids = NULL;
  if (frix_problem_with_pyramids(a->problem, facets, &pyramids) != FRIX_OK) return false;
  frix_problem_destroy(a->problem);
  a->problem = pyramids;
  frix_problem_view(a->problem, &a->data);
  return true;
}

/* The velocity of the convex programme is unique: both methods, both forms and a first-order method find it. */
static void same_motion(fx_test *t) {
  static const method other[] = {
      {.solver = "qp_active_set", .law = FRIX_LAW_ASSOCIATED, .form = FRIX_FORM_LOCAL},
      {.solver = "qp_active_set", .law = FRIX_LAW_ASSOCIATED, .option = {{"qp_active_set.method", "primal"}}},
      {.solver = "qp_active_set", .law = FRIX_LAW_ASSOCIATED, .option = {{"qp_active_set.sweeps", "0"}}},
      {.solver = "lemke", .law = FRIX_LAW_ASSOCIATED},
      {.solver = "apgd", .law = FRIX_LAW_ASSOCIATED, .tolerance = 1e-9},
  };
  static const struct {
    const char *name;
    double value[5];
  } scene[] = {{"discs", {6, 0.2}}, {"discs", {6, 0.8}}, {"hexapyramid", {0.5, 1, 6}}, {"chain", {4, 0.5, 0.6, 0, 1}}};
  for (size_t s = 0; s < sizeof scene / sizeof *scene; s++) {
    answer a;
    const method first = {.solver = "qp_active_set", .law = FRIX_LAW_ASSOCIATED};
    if (answer_build(t, &a, scene[s].name, scene[s].value) && with_pyramids(&a, 6) && method_run(t, &a, &first)) {
      double *v = malloc(sizeof *v * (size_t)a.result.dof_count);
      REQUIRE(t, v != NULL);
      memcpy(v, a.result.v, sizeof *v * (size_t)a.result.dof_count);
      CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED);
      for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
        if (!method_run(t, &a, &other[k])) continue;
        double apart = 0;
        for (int32_t i = 0; i < a.result.dof_count; i++) apart = fmax(apart, fabs(v[i] - a.result.v[i]));
        if (a.result.outcome != FRIX_OUTCOME_SOLVED || apart > 1e-6)
          fx_test_fail(t, __FILE__, __LINE__, "%s, %s (%zu): %s, %.2e apart", scene[s].name, other[k].solver, k,
                       frix_outcome_name(a.result.outcome), apart);
      }
      free(v);
    }
    answer_free(&a);
  }
}

/* ---- files ---- */

typedef struct tally {
  int solved[3], count;
  double seconds;
} tally;

/* Every file, circular cones as pyramids of 8: rank-deficient, nonsymmetric and rounded W included. */
static void visit(fx_test *t, frix_context *context, const char *name, const frix_problem *problem, void *user) {
  tally *sum = user;
  frix_problem *pyramids = NULL;
  REQUIRE(t, frix_problem_with_pyramids(problem, 8, &pyramids) == FRIX_OK);
  answer a = {.context = context, .problem = pyramids};
  const method m = {.solver = "qp_active_set", .law = FRIX_LAW_ASSOCIATED, .time_limit = 20};
  if (method_run(t, &a, &m)) {
    double residual = a.result.certificate.residual;
    if (a.result.outcome != FRIX_OUTCOME_SOLVED)
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s, residual %.2e", name, frix_outcome_name(a.result.outcome), residual);
    sum->count++;
    sum->seconds += a.result.seconds;
    for (int k = 0; k < 3; k++) sum->solved[k] += residual <= (double[]){1e-4, 1e-6, 1e-8}[k];
  }
  frix_solution_destroy(a.solution);
  frix_problem_destroy(pyramids);
}

static void files(fx_test *t) {
  tally sum = {0};
  if (!instances_visit(t, "problems/contact", visit, &sum)) return;
  fx_test_note(t, "%d / %d / %d of %d to 1e-4 / 1e-6 / 1e-8, %.2f s", sum.solved[0], sum.solved[1], sum.solved[2],
               sum.count, sum.seconds);
}

const fx_test_row test_qp[] = {
    {"qp/random", random_programmes},
    {"qp/degenerate", degenerate},
    {"qp/infeasible", infeasible},
    {"qp/warm_start", warm_start},
    {"qp/bad_input", bad_input},
    {"qp/memory", memory},
    {"qp/discs", discs},
    {"qp/same_motion", same_motion},
    {"qp/files", files},
    {0},
};
