/* One block of 1 kg pushed onto the floor while it slides: the smallest complete use of frix from C. */
#include <frix/frix.h>
#include <stdio.h>

int main(void) {
  const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1, 2, 0};
  frix_contact contact = frix_contact_of_dim(3, 0.5, 0);
  frix_context *context = NULL;
  frix_problem *problem = NULL;
  frix_solution *solution = NULL;
  frix_status status = frix_context_create(NULL, &context);

  /* the problem, from arrays */
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_LOCAL;
  data.contact_count = 1;
  data.contact = &contact;
  data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 3, .col_count = 3, .x = W};
  data.q = q;
  if (status == FRIX_OK) status = frix_problem_create(context, &data, &problem);

  /* the answer, and what it is worth */
  frix_solve_config config = frix_solve_default();
  if (status == FRIX_OK) status = frix_solve(context, problem, &config, &solution);
  frix_result result = {.size = sizeof result};
  if (status == FRIX_OK) {
    frix_solution_view(solution, &result);
    printf("frix %s: %s, r = %g %g %g, residual %.1e\n", frix_version(), frix_outcome_name(result.outcome), result.r[0],
           result.r[1], result.r[2], result.certificate.residual);
  } else {
    fprintf(stderr, "%s\n", frix_error_text(context));
  }
  int code = status == FRIX_OK && result.outcome == FRIX_OUTCOME_SOLVED ? 0 : 1;
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  return code;
}
