/* Scaled unknowns z = r / S, one positive number per contact, so that light and heavy contacts weigh the same:
 *   S_i = (tr D_ii / dim)^(-1/2);   cones are invariant under it;   u_z = S u. */
#ifndef FX_SOLVER_SCALING_H
#define FX_SOLVER_SCALING_H

#include "problem/cone.h"
#include "problem/system.h"

/* S per row; NULL when memory runs out. */
double *fx_scaling(fx_arena *arena, const fx_system *system);

/* P_K on all contacts: z := P_K(z). */
void fx_project_all(const fx_system *system, double *z);

/* De Saxce's shift of scaled velocities: adds s(u_z) to normal rows; homogeneous, so scaling does not matter. */
void fx_shift_all(const fx_system *system, double *u);

/* out = u_z at z: out = S (A (S z) + q); r and v are workspace. */
void fx_scaled_velocity(const fx_system *system, const double *S, const double *z, double *r, double *v, double *out);

/* A_ij = S_i (W + R)_ij S_j, on the pattern of W with a full diagonal; needs W. */
frix_status fx_scaled_operator(fx_arena *arena, const fx_system *system, const double *S, fx_block_matrix *out);

double fx_dot(int32_t n, const double *a, const double *b);

#endif
