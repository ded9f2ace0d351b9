/* Example problems by name, which benchmarks of the linear algebra share. */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include <frix/frix.h>

typedef struct case_value {
  const char *name; /* of a parameter; NULL ends a list */
  double value;
} case_value;

/* NULL with the context's error text set. */
frix_problem *case_example(frix_context *context, const char *example, const case_value *set);

/* Processor time of this thread, so that a busy machine disturbs less. */
double case_seconds(void);

#endif
