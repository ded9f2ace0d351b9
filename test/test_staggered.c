/* staggered: every answer ends with a contact projection, orthogonal problems take one round, a warm start takes none,
 * all cones, and every shared instance. */
#include "method.h"

#include <frix/frix.h>

/* However early it is cut off, normal impulses push and no contact is penetrated where it carries one. */
static void graceful(fx_test *t) {
  static const char *const name[] = {"arch", "cardhouse", "pile", "discs"};
  double worst = 0;
  for (size_t k = 0; k < sizeof name / sizeof *name; k++)
    for (int64_t limit = 1; limit <= 16; limit *= 2) {
      answer a;
      method m = {.solver = "staggered", .tolerance = 1e-12, .max_iterations = limit};
      if (method_example(t, &a, name[k], NULL, &m)) {
        double scale = 0;
        for (int32_t e = 0; e < a.result.row_count; e++) scale = fmax(scale, fabs(a.result.u[e]));
        scale = fmax(scale, 1e-2); /* free speeds of these scenes are 0.05 and more */
        worst = fmax(worst, a.result.certificate.signorini / scale);
      }
      answer_free(&a);
    }
  CHECK(t, worst < 1e-8);
  fx_test_note(t, "Signorini's condition to %.1e after 1 to 16 rounds", worst);
}

/* A deadline that is over at once still gives an answer to go on with. */
static void deadline(fx_test *t) {
  answer a;
  method m = {.solver = "staggered", .tolerance = 1e-15, .time_limit = 2e-3};
  if (method_example(t, &a, "pile", NULL, &m)) {
    CHECK(t, a.result.outcome == FRIX_OUTCOME_TIME_LIMIT || a.result.outcome == FRIX_OUTCOME_STALLED);
    CHECK(t, isfinite(a.result.certificate.residual));
    fx_test_note(t, "2 ms asked, %.1f ms taken, residual %.1e", 1e3 * a.result.seconds, a.result.certificate.residual);
  }
  answer_free(&a);
}

/* W_NT = 0: friction does not disturb contact, so one round of projections is exact; the second confirms it. */
static void orthogonal(fx_test *t) {
  answer a = {0};
  REQUIRE(t, frix_context_create(NULL, &a.context) == FRIX_OK);
  enum { COUNT = 5, ROWS = 3 * COUNT };
  static double W[ROWS * ROWS], q[ROWS];
  frix_contact contact[COUNT];
  for (int i = 0; i < COUNT; i++) {
    contact[i] = frix_contact_of_dim(3, 0.2 + 0.2 * i, 0);
    for (int k = 0; k < 3; k++) {
      W[(3 * i + k) * (ROWS + 1)] = 2;
      q[3 * i + k] = k ? 0.5 * fx_test_random(t) : -1;
      if (i > 0) W[(3 * i + k) * ROWS + 3 * i + k - 3] = W[(3 * i + k - 3) * ROWS + 3 * i + k] = 0.3 + 0.1 * k;
    }
  }
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_LOCAL;
  data.contact_count = COUNT;
  data.contact = contact;
  data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = ROWS, .col_count = ROWS, .x = W};
  data.q = q;
  CHECK(t, frix_problem_create(a.context, &data, &a.problem) == FRIX_OK);
  method m = {.solver = "staggered", .tolerance = 1e-10, .option = {{"staggered.anderson", "0"}}};
  if (a.problem && method_run(t, &a, &m)) {
    CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED);
    CHECK(t, a.result.iterations <= 3);
    fx_test_note(t, "%lld rounds", (long long)a.result.iterations);
  }
  answer_free(&a);
}

/* From the answer itself one round is enough; friction alone, normal impulses from nowhere, saves most of the way (not
 * all: normal impulses of a redundant support are not unique). */
static void warm_friction(fx_test *t) {
  answer a;
  method m = {.solver = "staggered"};
  if (answer_example(t, &a, "arch", NULL, 1e-11)) {
    double *guess = calloc((size_t)a.data.row_count, sizeof *guess);
    REQUIRE(t, guess);
    int64_t rounds[3] = {0, 0, 0};
    memcpy(guess, a.result.r, (size_t)a.data.row_count * sizeof *guess);
    for (int k = 0; k < 3; k++) { /* cold, all but one normal impulse, friction alone */
      m.guess = k ? guess : NULL;
      if (k == 1) guess[0] = 0;
      for (int32_t i = 0, row = 0; k == 2 && i < a.data.contact_count; row += a.data.contact[i++].dim) guess[row] = 0;
      if (!method_run(t, &a, &m)) break;
      CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED);
      rounds[k] = a.result.iterations;
    }
    CHECK(t, rounds[1] <= 2 && rounds[2] < rounds[0]);
    fx_test_note(t, "%lld rounds cold, %lld from the answer, %lld from its friction", (long long)rounds[0],
                 (long long)rounds[1], (long long)rounds[2]);
    free(guess);
  }
  answer_free(&a);
}

/* Each kind of friction set, exact and polyhedral, joints and limits. */
static void kinds(fx_test *t) {
  static const char *const name[] = {"slope", "slide", "anisotropic", "hexapyramid", "rolling", "cardhouse",
                                     "stack", "arch",  "wall",        "discs",       "chain",   "limit"};
  int64_t most = 0;
  for (size_t k = 0; k < sizeof name / sizeof *name; k++)
    for (int32_t facets = 0; facets <= 8; facets += 8) {
      answer a;
      frix_problem *pyramids = NULL;
      method m = {.solver = "staggered"};
      if (answer_build(t, &a, name[k], NULL)) {
        if (facets && frix_problem_with_pyramids(a.problem, facets, &pyramids) == FRIX_OK) {
          frix_problem_destroy(a.problem);
          a.problem = pyramids;
        }
        if (method_run(t, &a, &m) && a.result.outcome != FRIX_OUTCOME_SOLVED)
          fx_test_fail(t, __FILE__, __LINE__, "%s, %d facets: residual %.1e", name[k], facets,
                       a.result.certificate.residual);
        if (a.result.iterations > most) most = a.result.iterations;
      }
      answer_free(&a);
    }
  fx_test_note(t, "at most %lld rounds", (long long)most);
}

static void problems(fx_test *t) {
  /* both fc2d files have islands whose speeds are rounding of 1e-19 m/s */
  static const char *const failures[] = {"RockPile_tob1.dat", "fc2d_granularflowonwall_00667_00000.dat",
                                         "fc2d_granularflowonwall_02020_00213.dat", NULL};
  method m = {.solver = "staggered", .time_limit = 60};
  method_tally tally = {.what = &m, .failures = failures};
  method_instances(t, &tally);
}

const fx_test_row test_staggered[] = {
    {"staggered/graceful", graceful},
    {"staggered/deadline", deadline},
    {"staggered/orthogonal", orthogonal},
    {"staggered/warm_friction", warm_friction},
    {"staggered/kinds", kinds},
    {"staggered/problems", problems},
    {0},
};
