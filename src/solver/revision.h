/* Rows that depend on the answer: their owner revises r_c of the problem while it is being solved.
 *
 * What a stiff contact expects of a blow is known when a rough answer is. Only the free velocities change with it,
 *
 *   w' = w - R r_c,   q = H' v_free + w',
 *
 * so blocks, islands and what the methods have built stay, and a solve goes on from where it is. */
#ifndef FX_SOLVER_REVISION_H
#define FX_SOLVER_REVISION_H

#include "problem/system.h"

#include <frix/solve.h>

/* Of the owner of the problem. */
typedef struct fx_revision {
  double rough; /* residual of a rough answer that it waits for; 0: none */
  /* Asked with the impulses so far and their residual; true: r_c of the problem has changed. */
  bool (*revise)(struct fx_revision *owner, double residual, const double *r);
} fx_revision;

/* The same with the systems of a solve. */
typedef struct fx_revised {
  fx_revision *owner;
  const frix_problem *problem;
  fx_system *given, *alike; /* as the problem gives it, and in the units of the methods: r' = r / unit; or NULL */
  const double *unit;
  double *r; /* workspace */
} fx_revised;

/* True: q and w of the systems have changed. `unit`: by row, of r; NULL: r is in those of the problem. */
bool fx_revise(fx_revised *x, double residual, const double *r, const double *unit);

/* frix_solve for rows that depend on the answer. */
frix_status fx_solve_revised(frix_context *context, const frix_problem *problem, const frix_solve_config *config,
                             fx_revision *owner, frix_solution **out);

#endif
