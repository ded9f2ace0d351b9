/* One solve as the driver hands it to the islands: what they read and the rows and results each of them writes.
 * Islands write disjoint rows, so that they may run on several threads (island_solve.c). */
#ifndef FX_SOLVER_ISLAND_SOLVE_H
#define FX_SOLVER_ISLAND_SOLVE_H

#include "solver/revision.h"
#include "solver/solver.h"

typedef struct fx_island_result {
  frix_status status;
  frix_outcome outcome;
  int64_t iterations;
  const char *finisher;
  double velocity_error, residual, check_cost;
  bool left_off;             /* near the tolerance */
  bool has_velocity;         /* u and v of the whole are found */
  frix_history_row *history; /* NULL unless asked for */
  int32_t history_count;
} fx_island_result;

typedef struct fx_job {
  frix_context *context;
  const fx_system *system;
  const fx_islands *islands;
  const fx_solver *solver;
  const frix_options *options;
  const double *option;
  frix_law law;
  fx_limits limits;
  bool history;
  bool together; /* all islands as one */
  bool of_many;  /* islands may leave off near the tolerance, since the whole is judged relative to all impulses */
  int attempt;   /* at all islands */
  int32_t count; /* islands, or 1 */
  double *r;     /* whole: start and answer; islands write disjoint rows */
  double *start;
  double *u, *v; /* whole: velocities of the answer, where one island is the whole */
  uint8_t *hint; /* whole: of the last time, and of this one */
  int32_t thread_count;
  double read;          /* seconds it took to read the problem into blocks */
  double check, finish; /* under a deadline, once known: seconds of a check and of the certificate of the whole */
  double sweep_option[FX_MAX_OPTIONS]; /* of nsgs */
  fx_island_result *result;
  fx_row_scales *scales;  /* of the whole */
  const fx_system *given; /* the system as the problem gives it, which the certificate is of */
  const double *unit;     /* by row: how `system` scales it (problem/equilibrate.h); NULL: not at all */
  fx_revised *revised;    /* rows depend on the answer; or NULL */
} fx_job;

bool fx_impulses_are_zero(const double *x, int32_t count);

/* Seconds that the certificate of the whole will take: so many checks of the whole, as measured; where bodies are many
 * and contacts few, rather a part of what it took to read the problem. */
double fx_finish_seconds(const fx_job *j, double check_cost);

/* Solves island k of an fx_job. */
void fx_run_island(int32_t k, void *job);

#endif
