/* Anderson acceleration of a fixed-point iteration x := G(x), type II.
 *
 *   f = G(x) - x;   gamma = argmin | f_k - sum_j gamma_j df_j |;   x_{k+1} = G(x_k) - sum_j gamma_j dG_j
 *
 * over the last `memory` differences. Reference: H. Walker, P. Ni, Anderson acceleration for fixed-point iterations,
 * 2011. */
#ifndef FX_SOLVER_ANDERSON_H
#define FX_SOLVER_ANDERSON_H

#include "base/arena.h"

enum { FX_ANDERSON_LARGEST = 20 };

typedef struct fx_anderson {
  int32_t size, memory;
  int32_t count;               /* differences held, at most memory; -1 before the first step */
  int32_t newest;              /* column of the last difference */
  double *df, *dg, *f, *g, *Q; /* memory columns of size each; previous f and G(x); orthonormal columns */
} fx_anderson;

frix_status fx_anderson_init(fx_arena *arena, int32_t size, int32_t memory, fx_anderson *out);
/* Forgets all differences. */
void fx_anderson_reset(fx_anderson *anderson);
/* next from x and image = G(x); next may be x or image. With memory 0 it is the image. Returns |G(x) - x|. */
double fx_anderson_step(fx_anderson *anderson, const double *x, const double *image, double *next);

#endif
