/* Does an equilibrium exist, and up to which load? Static problems (problem/statics.h) as conic programmes, island by
 * island. */
#ifndef FX_SOLVER_EQUILIBRIUM_H
#define FX_SOLVER_EQUILIBRIUM_H

#include "problem/statics.h"

#include <frix/equilibrium.h>

typedef enum fx_equilibrium_goal {
  FX_EQUILIBRIUM_VERDICT, /* under f alone */
  FX_EQUILIBRIUM_LARGEST, /* the largest t */
} fx_equilibrium_goal;

typedef struct fx_equilibrium {
  frix_standing standing; /* verdict: of the whole; largest: whether any t was found at which everything stands */
  double stands, falls;   /* largest: t that is certified to stand, t beyond which it is certified to fall */
  double imbalance;       /* of r */
  fx_collapse mechanism;  /* of v */
  double force;           /* normal forces up to here are excluded by v */
  double *r;              /* rows; verdict: only of islands that stand */
  double *v;              /* degrees of freedom; zero but in the island that falls first */
  uint8_t *island;        /* verdict: frix_standing by contact */
  int64_t steps;
} fx_equilibrium;

/* A body that nothing holds stands where f + t l = 0 alone: INFINITY for any t, -INFINITY for none. l may be NULL. */
double fx_equilibrium_loose(int32_t dof, const double *f, const double *l);

/* tolerance: of the imbalance; most_cost: multiplications of one of some twenty factorisations, islands beyond are left
 * undecided. Memory from the arena. */
frix_status fx_equilibrium_find(fx_arena *arena, const fx_statics *statics, fx_equilibrium_goal goal, double tolerance,
                                double most_cost, fx_equilibrium *out);

#endif
