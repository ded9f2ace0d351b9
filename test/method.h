/* One method on one problem, with its options and its log; and on all shared instances, known failures by name. */
#ifndef FX_TEST_METHOD_H
#define FX_TEST_METHOD_H

#include "answer.h"
#include "instances.h"

typedef struct method {
  const char *solver;
  frix_law law;
  double tolerance, time_limit; /* 0: 1e-8, none */
  int64_t max_iterations;
  frix_form form;
  const char *option[4][2]; /* name and value, NULL ends */
  const double *guess;
  bool history;
} method;

/* Solves a->problem anew; false with the test failed where the call itself fails. */
static inline bool method_run(fx_test *t, answer *a, const method *m) {
  frix_solve_config config = frix_solve_default();
  frix_options *options = NULL;
  bool good = frix_options_create(a->context, &options) == FRIX_OK;
  for (int k = 0; good && k < 4 && m->option[k][0]; k++)
    good = frix_options_set(options, m->option[k][0], m->option[k][1]) == FRIX_OK;
  config.solver = m->solver;
  config.law = m->law;
  if (m->tolerance > 0) config.tolerance = m->tolerance;
  config.time_limit = m->time_limit;
  config.max_iterations = m->max_iterations;
  config.form = m->form;
  config.options = options;
  config.guess_r = m->guess;
  config.history = m->history;
  frix_solution_destroy(a->solution);
  a->solution = NULL;
  frix_problem_view(a->problem, &a->data);
  good = good && frix_solve(a->context, a->problem, &config, &a->solution) == FRIX_OK;
  if (good)
    frix_solution_view(a->solution, &a->result);
  else
    fx_test_fail(t, __FILE__, __LINE__, "%s: %s", m->solver, frix_error_text(a->context));
  frix_options_destroy(options);
  return good;
}

/* The same on an example; the answer is to be freed in any case. */
static inline bool method_example(fx_test *t, answer *a, const char *name, const double *value, const method *m) {
  return answer_build(t, a, name, value) && method_run(t, a, m);
}

typedef struct method_tally {
  const method *what;
  const char *const *failures; /* NULL ends; a pass of a listed one is a failure too */
  int solved[3], count;        /* to 1e-4, 1e-6, the tolerance */
  int64_t most_iterations, total_iterations;
  double seconds;
} method_tally;

static inline void method_visit(fx_test *t, frix_context *context, const char *name, const frix_problem *problem,
                                void *user) {
  method_tally *tally = user;
  answer a = {.context = context, .problem = (frix_problem *)problem};
  bool expected = true;
  for (const char *const *f = tally->failures; *f; f++) expected = expected && strcmp(*f, name) != 0;
  method what = *tally->what;
  if (!expected) what.time_limit = 2; /* what fails need not take long */
  if (method_run(t, &a, &what)) {
    bool good = a.result.outcome == FRIX_OUTCOME_SOLVED;
    if (good != expected)
      fx_test_fail(t, __FILE__, __LINE__, "%s on %s: %s, residual %.2e, expected %s", tally->what->solver, name,
                   frix_outcome_name(a.result.outcome), a.result.certificate.residual,
                   expected ? "solved" : "a failure");
    tally->count++;
    tally->solved[0] += a.result.certificate.residual <= 1e-4;
    tally->solved[1] += a.result.certificate.residual <= 1e-6;
    tally->solved[2] += good;
    tally->seconds += a.result.seconds;
    tally->total_iterations += a.result.iterations;
    if (good && a.result.iterations > tally->most_iterations) tally->most_iterations = a.result.iterations;
  }
  frix_solution_destroy(a.solution);
}

/* All of contact and rolling; false where they are absent. */
static inline bool method_instances(fx_test *t, method_tally *tally) {
  if (!instances_visit(t, "problems/contact", method_visit, tally)) return false;
  instances_visit(t, "problems/rolling", method_visit, tally);
  fx_test_note(t, "%d / %d / %d of %d to 1e-4 / 1e-6 / %g, at most %lld iterations, %.2f s", tally->solved[0],
               tally->solved[1], tally->solved[2], tally->count,
               tally->what->tolerance > 0 ? tally->what->tolerance : 1e-8, (long long)tally->most_iterations,
               tally->seconds);
  return true;
}

#endif
