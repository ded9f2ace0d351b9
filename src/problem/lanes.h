/* Circular contacts between bodies of 6 degrees of freedom, four at once: velocity and natural map. Most of what it
 * takes to judge a pile. */
#ifndef FX_PROBLEM_LANES_H
#define FX_PROBLEM_LANES_H

#include "problem/system.h"

/* Sums of squares: the natural map, r and q; contacts at 0, joints at 1. */
typedef struct fx_residual_sums {
  double map[2], r[2], q[2];
} fx_residual_sums;

/* u = H' v + w + R r and the natural map under Coulomb's law of the contacts from `first` on, four at a time, up to
 * `end` or to four of which one is of another kind; returns where it stopped. The same bits as contact by contact. */
int32_t fx_lanes_judge(const fx_system *system, int32_t first, int32_t end, const double *r, const double *v, double *u,
                       fx_residual_sums *sums);

#endif
