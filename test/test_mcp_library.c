/* The problem library: coded as stated (norms at the start, derivatives), every problem from every start by every
 * method, costs of the control and transport problems, the 70,000 unknowns, and the 3 x 200 grasps. */
#include "test.h"

#include <frix/frix.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static frix_context *open_context(fx_test *t) {
  frix_context *context = NULL;
  if (frix_context_create(NULL, &context) != FRIX_OK) fx_test_fail(t, __FILE__, __LINE__, "no context");
  return context;
}

static frix_mcp *open_named(fx_test *t, frix_context *context, const char *name, frix_mcp_data *data) {
  frix_mcp *mcp = NULL;
  if (frix_mcp_create_named(context, name, &mcp) != FRIX_OK)
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  else
    frix_mcp_view(mcp, data);
  return mcp;
}

/* ---- the statement */

/* Euclidean norm of F at the first start, as published with the data. */
static void norms(fx_test *t) {
  static const struct {
    const char *name;
    double norm;
  } row[] = {{"harker1_cspe2", 70.4858858212},  {"harker1_monop1", 70.4868086950}, {"harker1_monop2", 70.4868086950},
             {"harker1_oligop", 74.0895410972}, {"harker2_cspe2", 70.0232825566},  {"harker2_monop1", 70.0242115272},
             {"harker2_monop2", 70.0242115272}, {"harker2_oligop", 72.7616664185}, {"scarf_anum", 22.4928331490},
             {"scarf_asum", 20.6157582328},     {"scarf_mcp", 26.9112703949},      {"nash10", 451.9086646700},
             {"oligomcp", 102.5598349357},      {"colvnlp", 136.5265633494},       {"colvdual", 120.96660222}};
  frix_context *context = open_context(t);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    frix_mcp_data data;
    frix_mcp *mcp = open_named(t, context, row[k].name, &data);
    REQUIRE(t, mcp);
    double x[128], F[128], sum = 0;
    REQUIRE(t, data.count <= 128 && frix_mcp_start(mcp, 0, x));
    CHECK(t, data.function(x, F, data.user));
    for (int i = 0; i < data.count; i++) sum += F[i] * F[i];
    if (!(fabs(sqrt(sum) - row[k].norm) < 2e-8))
      fx_test_fail(t, __FILE__, __LINE__, "%s: |F(x0)| is %.10f, expected %.10f", row[k].name, sqrt(sum), row[k].norm);
    frix_mcp_destroy(mcp);
  }
  frix_context_destroy(context);
}

/* Largest difference between the Jacobian and central differences, relative to the size of the row. */
static double slope_error(fx_test *t, const frix_mcp_data *data, double *x) {
  int32_t n = data->count;
  double *value = calloc((size_t)data->column[n] + 1, sizeof *value), *up = calloc((size_t)n, sizeof *up);
  double *down = calloc((size_t)n, sizeof *down), *slope = calloc((size_t)n, sizeof *slope), worst = 0;
  CHECK(t, data->jacobian(x, value, data->user));
  for (int32_t j = 0; j < n; j++) {
    double at = x[j], h = 1e-5 * (1 + fabs(at));
    x[j] = at + h;
    CHECK(t, data->function(x, up, data->user));
    x[j] = at - h;
    CHECK(t, data->function(x, down, data->user));
    x[j] = at;
    for (int32_t i = 0; i < n; i++) slope[i] = (up[i] - down[i]) / (2 * h);
    for (int32_t k = data->column[j]; k < data->column[j + 1]; k++) slope[data->row[k]] -= value[k];
    for (int32_t i = 0; i < n; i++) worst = fmax(worst, fabs(slope[i]) / (1 + fabs(up[i])));
  }
  free(value);
  free(up);
  free(down);
  free(slope);
  return worst;
}

static void derivatives(fx_test *t) {
  frix_context *context = open_context(t);
  double worst = 0;
  int problems = 0;
  for (int32_t k = 0; frix_mcp_library(k); k++) {
    const frix_mcp_entry *entry = frix_mcp_library(k);
    frix_mcp_data data;
    frix_mcp *mcp = open_named(t, context, entry->name, &data);
    REQUIRE(t, mcp);
    CHECK(t, data.count == entry->count && data.linear == entry->linear);
    CHECK(t, (data.start_count ? data.start_count : 1) == entry->start_count);
    double x[128];
    for (int trial = 0; trial < 3; trial++) { /* inside the box, away from the edges of the domain */
      frix_mcp_start(mcp, 0, x);
      for (int i = 0; i < data.count; i++) x[i] = fmax(x[i], 0.2) * (1 + 0.5 * fx_test_random(t));
      double error = slope_error(t, &data, x);
      if (!(error < 1e-6)) fx_test_fail(t, __FILE__, __LINE__, "%s: slopes differ by %.1e", entry->name, error);
      worst = fmax(worst, error);
    }
    problems++;
    frix_mcp_destroy(mcp);
  }
  for (int form = 0; form < FRIX_SCARA_COUNT; form++) {
    frix_mcp *mcp = NULL;
    frix_mcp_data data;
    double x[12];
    REQUIRE(t, frix_mcp_create_scara(context, (frix_scara_form)form, 5, &mcp) == FRIX_OK);
    frix_mcp_view(mcp, &data);
    for (int i = 0; i < data.count; i++) x[i] = 2 + fx_test_random(t);
    CHECK(t, slope_error(t, &data, x) < 1e-8);
    frix_mcp_destroy(mcp);
  }
  fx_test_note(t, "%d problems, %.1e", problems, worst);
  frix_context_destroy(context);
}

static void names(fx_test *t) {
  frix_context *context = open_context(t);
  frix_mcp *mcp = NULL;
  frix_mcp_data data;
  CHECK(t, frix_mcp_create_named(context, "kojshim", &mcp) == FRIX_ERROR_INPUT && !mcp);
  CHECK(t, strstr(frix_error_text(context), "did you mean 'kojshin'") != NULL);
  static const char *const bad[] = {"control-1", "control-0", "control-99999999", "murty-0"};
  static const char *const unknown[] = {"control-", "control-x", "kojshin-4", "control-20x", "-20", ""};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    CHECK(t, frix_mcp_create_named(context, bad[k], &mcp) == FRIX_ERROR_INPUT && !mcp);
    CHECK(t, strstr(frix_error_text(context), "size") != NULL);
  }
  for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++) {
    CHECK(t, frix_mcp_create_named(context, unknown[k], &mcp) == FRIX_ERROR_INPUT && !mcp);
    CHECK(t, strstr(frix_error_text(context), "did you mean") != NULL);
  }
  mcp = open_named(t, context, "control-7", &data);
  CHECK(t, mcp && data.count == 35);
  frix_mcp_destroy(mcp);
  frix_context_destroy(context);
}

/* ---- every problem, every start, every method */

static void solved_by(fx_test *t, const char *method) {
  frix_context *context = open_context(t);
  int runs = 0;
  double worst = 0;
  for (int32_t k = 0; frix_mcp_library(k); k++) {
    const frix_mcp_entry *entry = frix_mcp_library(k);
    if (!strcmp(method, "lemke") && !entry->linear) continue;
    frix_mcp_data data;
    frix_mcp *mcp = open_named(t, context, entry->name, &data);
    REQUIRE(t, mcp);
    double x[128];
    for (int32_t s = 0; frix_mcp_start(mcp, s, x); s++) {
      frix_mcp_result result;
      frix_mcp_config config = frix_mcp_default();
      config.method = method;
      config.tolerance = 1e-9;
      CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_OK);
      double distance = frix_mcp_distance(mcp, x, NULL);
      if (result.outcome != FRIX_OUTCOME_SOLVED || !(result.certificate.objective < 1e-10) || !(distance < 1e-5))
        fx_test_fail(t, __FILE__, __LINE__, "%s from start %d by %s: %s, residual %.1e, objective %.1e, off by %.1e",
                     entry->name, (int)s, method, frix_outcome_name(result.outcome), result.certificate.residual,
                     result.certificate.objective, distance);
      worst = fmax(worst, result.certificate.objective);
      runs++;
    }
    frix_mcp_destroy(mcp);
  }
  fx_test_note(t, "%d runs, worst objective %.1e", runs, worst);
  frix_context_destroy(context);
}

static void by_auto(fx_test *t) { solved_by(t, "auto"); }
static void by_semismooth(fx_test *t) { solved_by(t, "semismooth"); }
static void by_lemke(fx_test *t) { solved_by(t, "lemke"); }
static void by_box_trust_region(fx_test *t) { solved_by(t, "box_trust_region"); }

/* The three equilibria of Kehoe's economy all come up. */
static void equilibria(fx_test *t) {
  frix_context *context = open_context(t);
  frix_mcp_data data;
  frix_mcp *mcp = open_named(t, context, "kehoe", &data);
  REQUIRE(t, mcp);
  bool found[3] = {false, false, false};
  for (int32_t s = 0; s < data.start_count; s++) {
    double x[9];
    int32_t which = 0;
    frix_mcp_result result;
    frix_mcp_start(mcp, s, x);
    CHECK(t, frix_mcp_solve(context, mcp, NULL, x, &result) == FRIX_OK && result.outcome == FRIX_OUTCOME_SOLVED);
    CHECK(t, frix_mcp_distance(mcp, x, &which) < 1e-5);
    found[which] = true;
  }
  CHECK(t, found[1] && found[2]);
  frix_mcp_destroy(mcp);
  frix_context_destroy(context);
}

/* ---- costs */

/* 1/2 sum x'Qx + R u^2 of a trajectory. */
static double control_cost(const double *z, int32_t stages) {
  double sum = 2 * 15 * 15 + 5 * 5;
  for (int32_t k = 0; k < stages; k++)
    sum += 6 * z[5 * k] * z[5 * k] + 2 * z[5 * k + 1] * z[5 * k + 1] + z[5 * k + 2] * z[5 * k + 2];
  return 0.5 * sum;
}

static void control(fx_test *t) {
  static const struct {
    const char *name;
    int32_t stages, low, high;
    double cost;
  } row[] = {{"control-20", 20, 3, 10, 4320.41203684}, {"control-1000", 1000, 331, 559, 137223.92708027}};
  frix_context *context = open_context(t);
  for (size_t k = 0; k < 2; k++) {
    frix_mcp_data data;
    frix_mcp *mcp = open_named(t, context, row[k].name, &data);
    REQUIRE(t, mcp);
    double *x = calloc((size_t)data.count, sizeof *x);
    frix_mcp_result result;
    frix_mcp_start(mcp, 0, x);
    CHECK(t, frix_mcp_solve(context, mcp, NULL, x, &result) == FRIX_OK && result.outcome == FRIX_OUTCOME_SOLVED);
    CHECK_NEAR(t, control_cost(x, row[k].stages), row[k].cost, 1e-7);
    CHECK(t, frix_mcp_distance(mcp, x, NULL) < 1e-7);
    int32_t low = 0, high = 0;
    for (int32_t s = 0; s < row[k].stages; s++) {
      low += x[5 * s] < -1 + 1e-9;
      high += x[5 * s] > 1 - 1e-9;
    }
    CHECK(t, low == row[k].low && high == row[k].high);
    free(x);
    frix_mcp_destroy(mcp);
  }
  frix_context_destroy(context);
}

/* 70,000 unknowns within ten seconds, from all four starts to the same answer. */
static void seventy_thousand(fx_test *t) {
  frix_context *context = open_context(t);
  frix_mcp_data data;
  frix_mcp *mcp = open_named(t, context, "control-14000", &data);
  REQUIRE(t, mcp && data.count == 70000);
  double *x = calloc(70000, sizeof *x), *first = calloc(70000, sizeof *first), longest = 0, apart = 0;
  for (int32_t s = 0; s < data.start_count; s++) {
    frix_mcp_result result;
    frix_mcp_start(mcp, s, x);
    CHECK(t, frix_mcp_solve(context, mcp, NULL, x, &result) == FRIX_OK);
    CHECK(t, result.outcome == FRIX_OUTCOME_SOLVED && result.certificate.objective < 1e-10);
    longest = fmax(longest, result.seconds);
    for (int32_t i = 0; i < 70000; i += 5) apart = s ? fmax(apart, fabs(x[i] - first[i])) : 0;
    if (s == 0) memcpy(first, x, 70000 * sizeof *x);
  }
  CHECK(t, longest < 10 && apart < 1e-7);
  fx_test_note(t, "longest %.2f s", longest);
  free(x);
  free(first);
  frix_mcp_destroy(mcp);
  frix_context_destroy(context);
}

/* Dantzig's transport: the flows are not unique, their cost is. */
static void transport(fx_test *t) {
  static const double cost[6] = {.09 * 2.5, .09 * 1.7, .09 * 1.8, .09 * 2.5, .09 * 1.8, .09 * 1.4};
  frix_context *context = open_context(t);
  for (int32_t m = 0; frix_mcp_method_table(m); m++) {
    frix_mcp_data data;
    frix_mcp *mcp = open_named(t, context, "transmcp", &data);
    REQUIRE(t, mcp);
    double x[11], sum = 0;
    frix_mcp_result result;
    frix_mcp_config config = frix_mcp_default();
    config.method = frix_mcp_method_table(m)->name;
    frix_mcp_start(mcp, 0, x);
    CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_OK && result.outcome == FRIX_OUTCOME_SOLVED);
    for (int k = 0; k < 6; k++) sum += cost[k] * x[5 + k];
    CHECK_NEAR(t, sum, 153.675, 1e-5);
    frix_mcp_destroy(mcp);
  }
  frix_context_destroy(context);
}

/* ---- grasps */

typedef struct tally {
  const char *name;
  int cone, pyramid;
} tally;

/* Forces of the first instances, and what the contacts do over all 200. */
static void grasps_by(fx_test *t, const char *method) {
  static const double forces[2][4][6] = {
      {{10, 10, 0, 0, 2.4525, -2.4525},
       {10.36449148, 7.57553804, -.44714574, -1.18189087, 2.48157568, -1.94116560},
       {14.30247672, 11.73747509, -.79078032, -.11688251, 3.95860463, -3.51930212},
       {12.10192936, 10.74502477, -1.68727452, -.98531931, .23458046, -3.06922564}},
      {{10, 10, 0, 0, 2.4525, -2.4525},
       {10.40833348, 7.62399892, -.56371367, -1.86468938, 2.52002391, -2.28719968},
       {14.30472909, 11.73996475, -.79676895, -.15196104, 3.95890322, -3.52198942},
       {12.11399703, 10.75836381, -1.71936028, -1.17326214, .25216751, -3.22750914}}};
  static const tally expected[] = {{"RR", 70, 77}, {"RS", 31, 32}, {"SR", 36, 39}, {"SS", 56, 45},
                                   {"SD", 4, 4},   {"DS", 2, 2},   {"DD", 1, 1}};
  enum { CLASSES = sizeof expected / sizeof *expected };
  frix_context *context = open_context(t);
  for (int form = 0; form < FRIX_SCARA_COUNT; form++) {
    int solved = 0, count[CLASSES] = {0}, restarts = 0;
    int64_t iterations = 0, products = 0;
    for (uint64_t seed = 0; seed <= 200; seed++) {
      frix_mcp *mcp = NULL;
      double x[12], force[6];
      char state[3];
      frix_mcp_result result;
      frix_mcp_config config = frix_mcp_default();
      config.method = method;
      REQUIRE(t, frix_mcp_create_scara(context, (frix_scara_form)form, seed, &mcp) == FRIX_OK);
      frix_mcp_start(mcp, 0, x);
      CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_OK);
      bool good = result.outcome == FRIX_OUTCOME_SOLVED && result.certificate.objective < 1e-10;
      if (!good) fx_test_fail(t, __FILE__, __LINE__, "form %d, seed %d: not solved", form, (int)seed);
      frix_mcp_scara_class(mcp, x, state);
      frix_mcp_scara_force(mcp, x, force);
      for (int k = 0; k < 6 && seed < 4 && form != FRIX_SCARA_SLIDING; k++)
        CHECK_NEAR(t, force[k], forces[form - 1][seed][k], 1e-6);
      frix_mcp_destroy(mcp);
      if (seed == 0) continue;
      solved += good;
      restarts += result.restarts;
      iterations += result.iterations;
      products += result.products;
      for (int k = 0; k < CLASSES; k++) count[k] += !strcmp(state, expected[k].name);
    }
    CHECK(t, solved == 200);
    for (int k = 0; k < CLASSES && form != FRIX_SCARA_SLIDING; k++)
      if (count[k] != (form == FRIX_SCARA_CONE ? expected[k].cone : expected[k].pyramid))
        fx_test_fail(t, __FILE__, __LINE__, "form %d: %d times %s", form, count[k], expected[k].name);
    fx_test_note(t, "%s %d/200, %.1f iterations, %.1f products, %d restarts",
                 frix_scara_form_name((frix_scara_form)form), solved, (double)iterations / 200, (double)products / 200,
                 restarts);
  }
  frix_context_destroy(context);
}

static void grasps_box(fx_test *t) { grasps_by(t, "box_trust_region"); }
static void grasps_semismooth(fx_test *t) { grasps_by(t, "semismooth"); }

const fx_test_row test_mcp_library[] = {
    {"mcp/library/norms", norms},
    {"mcp/library/derivatives", derivatives},
    {"mcp/library/names", names},
    {"mcp/library/auto", by_auto},
    {"mcp/library/semismooth", by_semismooth},
    {"mcp/library/box_trust_region", by_box_trust_region},
    {"mcp/library/lemke", by_lemke},
    {"mcp/library/equilibria", equilibria},
    {"mcp/library/control", control},
    {"mcp/library/seventy_thousand", seventy_thousand},
    {"mcp/library/transport", transport},
    {"mcp/scara/box_trust_region", grasps_box},
    {"mcp/scara/semismooth", grasps_semismooth},
    {0},
};
