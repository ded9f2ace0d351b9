/* Sweeps in single precision to the digits of double: impulses relative to a base.
 *
 *   z = z0 + dz,   u = u0 + Hh' Hh dz + C dz,   u0 = u(z0) found in double precision
 *
 * Single precision then rounds dz, not z: every base gains about four digits, at half the cost of sweeps in double
 * precision. All of it is swept in a unit near the size of dz, a power of two, so that nothing comes near the smallest
 * numbers of single precision. The cone is handled without cancellation (sweeps_kernel.h), for which the first tangent
 * of a contact is turned along z0_T. Compliant contacts with one disc of friction, equally stiff in both tangents. */
#ifndef FX_SOLVER_SWEEPS_BASE_H
#define FX_SOLVER_SWEEPS_BASE_H

#include "solver/sweeps.h"

typedef struct fx_base_contact {
  double z0[3];    /* in the tangents of the system */
  double frame[2]; /* first tangent in those of the system */
} fx_base_contact;

typedef struct fx_base {
  float *number; /* FX_BASE per slot, as the kernel reads it */
  fx_base_contact *contact;
  double unit; /* what is swept is dz / unit */
  double size; /* |z0 / unit| squared */
} fx_base;

bool fx_base_fits(const fx_pile *pile);
frix_status fx_base_take(fx_arena *arena, const fx_pile *pile, fx_base *out);
/* Moves the base to r, whose velocities are u and whose relative residual is given; z and d of the pile are then zero.
 */
void fx_base_move(fx_base *base, fx_pile *pile, double residual, const double *r, const double *u);
/* r from the base and z, on the cone. */
void fx_base_store(fx_base *base, const fx_pile *pile, double *r);

#endif
