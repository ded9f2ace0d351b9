/* Build, solve, look: what the physics tests have in common. */
#ifndef FX_TEST_ANSWER_H
#define FX_TEST_ANSWER_H

#include "examples/examples.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A problem with its solution. */
typedef struct answer {
  frix_context *context;
  frix_problem *problem;
  frix_solution *solution;
  frix_problem_data data;
  frix_result result;
} answer;

static inline void answer_free(answer *a) {
  frix_solution_destroy(a->solution);
  frix_problem_destroy(a->problem);
  frix_context_destroy(a->context);
  *a = (answer){0};
}

/* Solves what is in a->problem; false, with the test failed, where the certificate does not reach the tolerance. */
static inline bool answer_solve(fx_test *t, answer *a, frix_law law, double tolerance) {
  frix_solve_config config = frix_solve_default();
  config.tolerance = tolerance;
  config.law = law;
  config.time_limit = 20;
  frix_problem_view(a->problem, &a->data);
  if (frix_solve(a->context, a->problem, &config, &a->solution) != FRIX_OK) {
    fx_test_fail(t, __FILE__, __LINE__, "%s: %s", a->data.title, frix_error_text(a->context));
    return false;
  }
  frix_solution_view(a->solution, &a->result);
  if (a->result.outcome == FRIX_OUTCOME_SOLVED) return true;
  fx_test_fail(t, __FILE__, __LINE__, "%s: %s after %lld iterations, residual %.3e", a->data.title,
               frix_outcome_name(a->result.outcome), (long long)a->result.iterations, a->result.certificate.residual);
  return false;
}

/* An example by name; values NULL: the initial ones. The answer is to be freed in any case. */
static inline bool answer_build(fx_test *t, answer *a, const char *name, const double *value) {
  *a = (answer){0};
  if (frix_context_create(NULL, &a->context) == FRIX_OK &&
      frix_example_build(frix_example_find(name), a->context, value, &a->problem) == FRIX_OK) {
    frix_problem_view(a->problem, &a->data);
    return true;
  }
  fx_test_fail(t, __FILE__, __LINE__, "cannot build %s", name);
  return false;
}

static inline bool answer_example(fx_test *t, answer *a, const char *name, const double *value, double tolerance) {
  return answer_build(t, a, name, value) && answer_solve(t, a, FRIX_LAW_COULOMB, tolerance);
}

/* Largest entry of v in absolute value. */
static inline double answer_speed(const answer *a) {
  double most = 0;
  for (int32_t k = 0; k < a->result.dof_count; k++) most = fmax(most, fabs(a->result.v[k]));
  return most;
}

#endif
