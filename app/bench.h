/* A benchmark's rows, between the run (verb_bench.c) and its files (bench_write.c). */
#ifndef FX_APP_BENCH_H
#define FX_APP_BENCH_H

#include "app.h"

typedef struct bench_run {
  const char *outcome; /* of the solve, or "unsupported", "error", "not run" */
  bool supported, solved, approximate;
  int64_t iterations;
  double seconds;
  frix_certificate certificate;
} bench_run;

typedef struct bench_problem {
  char *path;
  bool readable;
  int32_t contacts, dof;
  bench_run *run; /* one per solver */
} bench_problem;

typedef struct bench {
  const char *folder, *out;
  frix_solve_config config;
  const frix_solver_info **solver;
  int solver_count;
  bench_problem *problem;
  int problem_count;
} bench;

typedef struct bench_summary {
  int solved, count;
  double seconds; /* over all runs */
  double median_residual;
  bool approximate;
} bench_summary;

bench_summary fx_bench_summary(const bench *b, int solver);
/* Problems that some solver solved. */
int fx_bench_solved_by_any(const bench *b);
/* Writes the four files; false after a message. */
bool fx_bench_write(frix_context *context, const bench *b);

#endif
