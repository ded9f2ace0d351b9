/* A small stepper for spheres in a box: true, warm-started trajectories as sequences of contact problems.
 *
 *   M v = M v0 + h M g + H r      u = H' v + w      gap + h u_N >= 0      x := x + h v          (Moreau's time
 * stepping) rigid      w_N = gap / h where the gap is open, 0.05 gap / h where bodies overlap compliant  w_N = gap / h,
 * R = 1 / (k h^2), r_c = the last tangential impulse (a spring with memory in every row)
 *
 * Uses the public interface only. Contacts are matched with those of the last step by the pair of bodies, and impulses
 * carried over as vectors in space. */
#ifndef BENCH_SPHERES_H
#define BENCH_SPHERES_H

#include <frix/frix.h>

typedef struct spheres_config {
  int32_t count;
  double radius, spread; /* metres; radii are uniform in radius (1 +- spread) */
  double mu, step;
  double compliance; /* eps = 3 R / tr W_ii of two mean spheres; 0: rigid */
  bool shuffle;      /* number the bodies at random, to test what relies on their order */
  uint64_t seed;
} spheres_config;

spheres_config spheres_default(int32_t count);

typedef struct spheres spheres;

/* Spheres on a loose lattice in a box about 1.5 times as high as wide, at rest, about to fall. NULL without memory. */
spheres *spheres_create(const spheres_config *config);
/* Copies of a box side by side, without the walls between them: a large pile that need not settle by itself. */
spheres *spheres_tile(const spheres *s, int32_t along, int32_t across);
void spheres_destroy(spheres *s);

/* Finds the contacts and shows the problem of the next step; guess is the warm start. Pointers hold until the next call
 * with s. False without memory. */
bool spheres_problem(spheres *s, frix_problem_data *out);
/* Moves on with the solution of that problem. */
void spheres_advance(spheres *s, const double *r, const double *v);

double spheres_time(const spheres *s);
/* Root mean square of the speeds, and the largest overlap in radii. */
double spheres_speed(const spheres *s);
double spheres_overlap(const spheres *s);

/* The rigid problem of a pile that has fallen for 110 steps, each solved by sweeps to 1e-3; NULL where that fails. */
frix_problem *spheres_settled(frix_context *context, int32_t count);

#endif
