/* Small islands where they stand: the first sweeps of auto without taking the island out of the whole.
 *
 * Islands share neither rows nor movers, so that the sweeps work on the impulses and velocities of the whole, and a
 * problem of very many islands costs no copies, no workspace and no monitor for each. The arithmetic is that of nsgs on
 * the island taken out, to the bit; what is not solved within its sweeps is left as it was, for the general way. */
#ifndef FX_SOLVER_SMALL_ISLAND_H
#define FX_SOLVER_SMALL_ISLAND_H

#include "solver/solver.h"

enum { FX_SMALL_ISLAND = 8 }; /* contacts; larger islands pay for their copies */

/* Sweeps that auto begins with, and more of them where these will finish it. */
enum { FX_FIRST_SWEEPS = 10, FX_MORE_SWEEPS = 15 };

static inline bool fx_sweeps_will_finish(double residual, double tolerance) {
  return residual * residual <= 10 * tolerance;
}

typedef struct fx_small_islands {
  const fx_system *system; /* the whole */
  const fx_islands *islands;
  double tolerance;
  const double *option;  /* of nsgs */
  fx_row_scales *scales; /* of the whole, workspace */
  double *r;             /* whole: start and answer */
  double *u, *v;         /* whole: workspace, each island its rows and movers */
} fx_small_islands;

/* Coulomb's law on island k. Memory is taken from the arena only for joints and pyramids. */
typedef struct fx_small_answer {
  bool solved;
  int64_t iterations; /* 0: nothing, or the start, was the answer */
  double residual;
} fx_small_answer;

frix_status fx_small_island_solve(const fx_small_islands *all, int32_t k, fx_arena *arena, fx_small_answer *out);

#endif
