/* Problems that benchmarks share. */
#include "cases.h"

#include "examples/examples.h"

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
