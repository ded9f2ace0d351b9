/* Statics: forces r that hold a system at rest, and velocities v that prove that none exist.
 *
 *   H r + f + t l = 0,   r_i in K_i                         an equilibrium under the load factor t
 *   u = H'v,  r . u >= 0 for all r in K,  (f + t l) . v > 0       a mechanism: no equilibrium under t
 *
 * If both held, 0 = v . (H r + f + t l) = r . u + power > 0. Both are checked here, using only H, f and K. The unknowns
 * are forces or impulses, as f is. */
#ifndef FX_PROBLEM_STATICS_H
#define FX_PROBLEM_STATICS_H

#include "problem/system.h"

typedef enum fx_statics_kind {
  FX_STATICS_OPEN,  /* carries nothing */
  FX_STATICS_CONE,  /* r in K */
  FX_STATICS_FREE,  /* any r */
  FX_STATICS_GIVEN, /* r is known: `given` */
  FX_STATICS_BOUND, /* friction alone, under a known normal force: given, or that of the contact it is tied to */
} fx_statics_kind;

typedef struct fx_statics {
  const fx_system *s;
  const uint8_t *kind; /* by contact */
  const int32_t *tied; /* by contact: whose normal force is its own, -1: none; NULL: none at all */
  const double *given; /* by row */
  const double *force; /* by degree of freedom: f */
  const double *load;  /* the same: l; NULL: none */
  const uint8_t *paid; /* by contact: actuators, friction alone whose bound is -t given, -t the effort; NULL: none */
  double *arm;         /* the same: the longest lever of its rows, what torques are divided by; fx_statics_arms */
} fx_statics;

/* Fills arm (dof_count), which the caller has taken. */
void fx_statics_arms(fx_statics *statics);

/* Contacts and movers to look at. */
typedef struct fx_statics_part {
  int32_t contact_count, mover_count;
  const int32_t *contact, *mover;
} fx_statics_part;

/* What the forces of a body miss to be in balance, torques over their arm, relative to the sum of what acts on it and a
 * millionth of the largest such sum: the largest of all movers. r is projected on K first. workspace: dof_count +
 * mover_count numbers. */
double fx_statics_imbalance(const fx_statics *statics, const fx_statics_part *part, double t, double *r,
                            double *workspace);

/* A velocity as proof. With normal forces n_i and joint forces no larger than F,
 *   r . u >= -F leak - held,   so that none of these hold where  power > F leak + held.  */
typedef struct fx_collapse {
  double power; /* f . v, with what given forces bring */
  double gain;  /* l . v */
  double held;  /* what friction under known normal forces can take */
  double leak;  /* sum over contacts of how far u_N - s(u) is below zero, and of |u| of joints */
} fx_collapse;

/* u: row_count numbers, left with H'v. */
fx_collapse fx_statics_mechanism(const fx_statics *statics, const fx_statics_part *part, const double *v, double *u);

/* Sum of all loads, torques over their arm: |f| + |t l|. */
double fx_statics_size(const fx_statics *statics, const fx_statics_part *part, double t);

#endif
