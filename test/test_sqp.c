/* sqp: solves small problems exactly, and where it comes to rest elsewhere the certificate says so. Skipped, visibly,
 * in builds without NLopt. */
#include "method.h"

static bool present(fx_test *t) {
  const frix_solver_info *row;
  for (int32_t k = 0; (row = frix_solver_table(k)); k++)
    if (strcmp(row->name, "sqp") == 0) return true;
#ifdef FRIX_HAVE_NLOPT
  fx_test_fail(t, __FILE__, __LINE__, "the row is missing though this build has NLopt");
#else
  fx_test_skip(t, "this build has no NLopt");
#endif
  return false;
}

static void small(fx_test *t) {
  static const char *const name[] = {"slope", "hexapyramid", "anisotropic", "rolling", "limit", "stack"};
  if (!present(t)) return;
  for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
    answer a;
    method m = {.solver = "sqp", .tolerance = 1e-6, .time_limit = 20};
    if (method_example(t, &a, name[k], NULL, &m)) {
      CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED || a.result.outcome == FRIX_OUTCOME_STALLED);
      CHECK(t, (a.result.outcome == FRIX_OUTCOME_SOLVED) == (a.result.certificate.residual <= 1e-6));
      fx_test_note(t, "%s %s, %lld evaluations", name[k], frix_outcome_name(a.result.outcome),
                   (long long)a.result.iterations);
    }
    answer_free(&a);
  }
}

/* Six discs, mu 0.3: descent comes to rest at a point whose value is not 0, and the certificate names it; other methods
 * solve the same problem. */
static void no_solution(fx_test *t) {
  if (!present(t)) return;
  answer a;
  method m = {.solver = "sqp", .time_limit = 20};
  const double pile[] = {3, 0.3};
  if (method_example(t, &a, "discs", pile, &m)) {
    CHECK(t, a.result.outcome == FRIX_OUTCOME_STALLED && a.result.certificate.residual > 1e-4);
    fx_test_note(t, "sqp rests at residual %.1e", a.result.certificate.residual);
  }
  answer_free(&a);
  m.solver = "fixed_point";
  if (method_example(t, &a, "discs", pile, &m)) CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED);
  answer_free(&a);
}

/* Too large for a dense method: left alone, and named. */
static void large(fx_test *t) {
  if (!present(t)) return;
  answer a;
  method m = {.solver = "sqp"};
  if (method_example(t, &a, "wall", NULL, &m)) CHECK(t, a.result.outcome == FRIX_OUTCOME_STALLED);
  answer_free(&a);
}

const fx_test_row test_sqp[] = {{"sqp/small", small}, {"sqp/no_solution", no_solution}, {"sqp/large", large}, {0}};
