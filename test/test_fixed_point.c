/* fixed_point: the document's disc piles (it converges where friction is small and says how fast, it fails where
 * friction is larger), its convex methods, its limit case, and every shared instance. */
#include "method.h"

#include <stdio.h>

/* Keeps the last line the method writes to the log. */
static void keep_line(frix_log_level level, const char *text, void *user) {
  if (level == FRIX_LOG_INFO && strstr(text, "fixed_point:")) snprintf(user, 512, "%s", text);
}

static double number_after(const char *line, const char *word) {
  const char *at = strstr(line, word);
  return at ? strtod(at + strlen(word), NULL) : -1;
}

/* Plain iteration on a pile of discs; the contraction it reports in *rate. */
static bool run_discs(fx_test *t, answer *a, double levels, double mu, const method *m, double *rate) {
  char line[512] = "";
  frix_context_config config = frix_context_default();
  config.log = keep_line;
  config.user = line;
  *a = (answer){0};
  bool good =
      frix_context_create(&config, &a->context) == FRIX_OK &&
      frix_example_build(frix_example_find("discs"), a->context, (double[]){levels, mu}, &a->problem) == FRIX_OK &&
      method_run(t, a, m);
  CHECK(t, good);
  *rate = number_after(line, "contraction ");
  return good;
}

/* 21 discs, mu 0.05: linear convergence to the document's 1e-5 and on to 1e-12, at a rate that grows with friction. */
static void small_friction(fx_test *t) {
  static const double mu[] = {0.02, 0.05, 0.1};
  double last = 0;
  for (size_t k = 0; k < sizeof mu / sizeof *mu; k++) {
    answer a;
    double rate;
    method m = {
        .solver = "fixed_point", .tolerance = 1e-12, .option = {{"fixed_point.anderson", "0"}}, .history = true};
    if (run_discs(t, &a, 6, mu[k], &m, &rate)) {
      int64_t to_document = 0;
      CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED);
      for (int64_t h = a.result.history_count - 1; h >= 0 && a.result.history[h].residual <= 1e-5; h--)
        to_document = a.result.history[h].iteration;
      CHECK(t, rate > last && rate < 0.5);
      last = rate;
      fx_test_note(t, "mu %g: %lld convex problems to 1e-5, %lld to 1e-12, contraction %.3f", mu[k],
                   (long long)to_document, (long long)a.result.iterations, rate);
    }
    answer_free(&a);
  }
}

/* 136 discs, mu 0.2: the document's iteration reached its limit there, and so does this one; contraction says why. */
static void larger_friction(fx_test *t) {
  answer a;
  double rate;
  method m = {.solver = "fixed_point", .max_iterations = 40, .option = {{"fixed_point.anderson", "0"}}};
  if (run_discs(t, &a, 16, 0.2, &m, &rate)) {
    CHECK(t, a.result.outcome != FRIX_OUTCOME_SOLVED && a.result.certificate.residual > 1e-6);
    CHECK(t, rate > 0.8);
    fx_test_note(t, "136 discs, mu 0.2: residual %.1e after %lld, contraction %.3f", a.result.certificate.residual,
                 (long long)a.result.iterations, rate);
  }
  answer_free(&a);
  /* 210 discs at mu 0.6 and 0.8 do not slip: the first convex problem is the exact answer. */
  for (int k = 0; k < 2; k++) {
    m = (method){.solver = "fixed_point"};
    if (run_discs(t, &a, 20, k ? 0.8 : 0.6, &m, &rate)) {
      CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED && a.result.iterations == 1);
      fx_test_note(t, "210 discs, mu %g: exact in %.0f ms", k ? 0.8 : 0.6, 1e3 * a.result.seconds);
    }
    answer_free(&a);
  }
}

/* 210 discs, first step, exact Coulomb, which the document could not have: each mu by one of two methods. */
static void exact_discs(fx_test *t) {
  static const double mu[] = {0.1, 0.2, 0.4, 0.6, 0.8};
  for (size_t k = 0; k < sizeof mu / sizeof *mu; k++) {
    bool solved = false;
    for (int e = 0; e < 2 && !solved; e++) {
      answer a;
      method m = {.solver = e ? "newton" : "fixed_point", .time_limit = 10, .max_iterations = e ? 0 : 1};
      if (method_example(t, &a, "discs", (double[]){20, mu[k]}, &m) && a.result.outcome == FRIX_OUTCOME_SOLVED) {
        solved = true;
        fx_test_note(t, "mu %g: %s, %.0f ms", mu[k], m.solver, 1e3 * a.result.seconds);
      }
      answer_free(&a);
    }
    CHECK(t, solved);
  }
}

/* Anderson's method does no worse than the plain iteration where both converge, and solves where the plain one is lost.
 */
static void acceleration(fx_test *t) {
  double rate;
  int64_t count[2] = {0, 0};
  for (int k = 0; k < 2; k++) {
    answer a;
    method m = {.solver = "fixed_point", .option = {{"fixed_point.anderson", k ? "10" : "0"}}};
    if (run_discs(t, &a, 6, 0.2, &m, &rate)) {
      CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED);
      count[k] = a.result.iterations;
    }
    answer_free(&a);
  }
  CHECK(t, count[1] < count[0]);
  fx_test_note(t, "21 discs, mu 0.2: %lld plain, %lld accelerated", (long long)count[0], (long long)count[1]);
}

/* Every convex method inside leads to the same velocities. */
static void inner(fx_test *t) {
  static const char *const name[] = {"interior_point", "apgd", "admm"};
  answer a[3];
  for (int k = 0; k < 3; k++) {
    method m = {.solver = "fixed_point", .time_limit = 20, .option = {{"fixed_point.inner", name[k]}}};
    CHECK(t, method_example(t, &a[k], "discs", (double[]){4, 0.1}, &m) && a[k].result.outcome == FRIX_OUTCOME_SOLVED);
  }
  for (int k = 1; k < 3; k++)
    for (int32_t e = 0; e < a[0].result.dof_count; e++) CHECK_NEAR(t, a[k].result.v[e], a[0].result.v[e], 1e-7);
  for (int k = 0; k < 3; k++) answer_free(&a[k]);
}

/* Under the associated law one convex problem is all: bit for bit what the inner method gives. */
static void one_problem(fx_test *t) {
  answer a, b;
  method m = {.solver = "fixed_point", .law = FRIX_LAW_ASSOCIATED};
  bool good = method_example(t, &a, "discs", NULL, &m);
  m.solver = "interior_point";
  good = method_example(t, &b, "discs", NULL, &m) && good;
  if (good) CHECK(t, memcmp(a.result.r, b.result.r, (size_t)a.result.row_count * sizeof *a.result.r) == 0);
  answer_free(&a);
  answer_free(&b);
}

/* The hexagonal pyramid rests. */
static void pyramid_rests(fx_test *t) {
  answer a;
  method m = {.solver = "fixed_point"};
  if (method_example(t, &a, "hexapyramid", NULL, &m)) {
    CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED);
    CHECK(t, answer_speed(&a) < 1e-7);
  }
  answer_free(&a);
}

static void problems(fx_test *t) {
  /* no contraction: the first two; the last comes from a W that rounding has made indefinite */
  static const char *const failures[] = {"RockPile_tob1.dat", "fc2d_granularflowonwall_02020_00213.dat", NULL};
  method m = {.solver = "fixed_point", .time_limit = 60};
  method_tally tally = {.what = &m, .failures = failures};
  method_instances(t, &tally);
}

const fx_test_row test_fixed_point[] = {
    {"fixed_point/small_friction", small_friction},
    {"fixed_point/larger_friction", larger_friction},
    {"fixed_point/exact_discs", exact_discs},
    {"fixed_point/acceleration", acceleration},
    {"fixed_point/inner", inner},
    {"fixed_point/one_problem", one_problem},
    {"fixed_point/pyramid_rests", pyramid_rests},
    {"fixed_point/problems", problems},
    {0},
};
