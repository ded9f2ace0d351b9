/* Problems that benchmarks share. */
#include "cases.h"

#include "examples/examples.h"
#include "spheres.h"

#include <time.h>

double case_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

frix_problem *case_example(frix_context *context, const char *name, const case_value *set) {
  const frix_example *example = frix_example_find(name);
  double value[FRIX_EXAMPLE_MAX_PARAMETERS];
  frix_problem *problem = NULL;
  for (int32_t k = 0; k < example->parameter_count; k++) value[k] = example->parameter[k].initial;
  for (; set->name; set++) value[frix_example_parameter_index(example, set->name)] = set->value;
  return frix_example_build(example, context, value, &problem) == FRIX_OK ? problem : NULL;
}

/* One step with sweeps to 1e-3. */
static bool advance(frix_context *context, spheres *s, const frix_problem *problem) {
  frix_solve_config config = frix_solve_default();
  frix_solution *solution = NULL;
  frix_result result;
  config.solver = "sweeps";
  config.tolerance = 1e-3;
  config.max_iterations = 500;
  if (frix_solve(context, problem, &config, &solution) != FRIX_OK) return false;
  frix_solution_view(solution, &result);
  spheres_advance(s, result.r, result.v);
  frix_solution_destroy(solution);
  return true;
}

frix_problem *case_pile(frix_context *context, int32_t count) {
  enum { STEPS = 110 }; /* poured and settling */
  spheres_config config = spheres_default(count);
  spheres *s = spheres_create(&config);
  frix_problem *problem = NULL;
  bool good = s != NULL;
  for (int32_t step = 0; good && step <= STEPS; step++) {
    frix_problem_data data;
    frix_problem_destroy(problem);
    problem = NULL;
    good = spheres_problem(s, &data) && frix_problem_create(context, &data, &problem) == FRIX_OK;
    if (step < STEPS) good = good && advance(context, s, problem);
  }
  spheres_destroy(s);
  if (good) return problem;
  frix_problem_destroy(problem);
  return NULL;
}
