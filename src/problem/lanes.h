/* Contacts between bodies of 6 degrees of freedom, four at once, for reading and certifying piles. */
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

/* The worst of what the certificate lists, over contacts; by lanes, the largest of which counts. */
typedef struct fx_lane_worst {
  double velocity, signorini[4], cone[4], dissipation[4];
  int32_t contact; /* where the velocity is worst, -1 at first */
} fx_lane_worst;

/* The natural map and the parts of the certificate of circular contacts under Coulomb's law, in the same way; `worst`
 * goes on from where it is but for the data in lanes. */
int32_t fx_lanes_certify(const fx_system *system, int32_t first, int32_t end, const double *r, const double *u,
                         fx_residual_sums *sums, fx_lane_worst *worst);

/* D = H' M^-1 H and q = w + H' v_free of the contacts from `first` on, in the same way: where contacts have three rows
 * and M is diagonal. */
int32_t fx_lanes_prepare(const fx_system *system, int32_t first, int32_t end, double *D, double *q);

#endif
