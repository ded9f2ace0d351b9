/* M, its inverse, and the motion that impulses cause. */
#ifndef FX_PROBLEM_MASS_H
#define FX_PROBLEM_MASS_H

#include "problem/system.h"

/* Factors of M. A diagonal block is its own factor. */
typedef struct fx_mass {
  const fx_system *system;
  double *lu;
  int32_t *pivot;
} fx_mass;

/* Blocks of M and their inverses, where they are diagonal, go to the system. An error where M is singular. */
frix_status fx_mass_build(fx_arena *arena, const frix_problem *problem, fx_system *system, fx_mass *out);

/* M = L'DL of n x n numbers, L unit lower triangular, from the last row to the first: L below the diagonal of out, 1 /
 * D on it. False where M is not symmetric or not positive. */
bool fx_factor_symmetric(int32_t n, const double *M, double *out);

/* y = M^-1 x for rows of mover m; x and y may be the same. */
void fx_mass_solve(const fx_mass *mass, int32_t m, int32_t rows, const double *x, double *y);

/* The same where M is diagonal, as all of this does then: by the inverse, for Y and what is made of it. */
void fx_mass_scale(const fx_system *system, int32_t m, int32_t rows, const double *x, double *y);

/* A response of the pattern of H: values when it is first asked for, where M is diagonal, else now, from these factors
 * (NULL: left to the caller). */
frix_status fx_response_build(fx_arena *arena, const fx_mass *mass, fx_system *system);

#endif
