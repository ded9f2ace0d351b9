/* Ways out of a local minimum of l that is no root: J' w res = 0 with res != 0, so J is singular.
 *
 *   edges     fx_implicit_search_ray: where redundant contacts stick, l does not change along x + tau res until an edge
 *             is met, and pushing against the velocity that is left is what contact and friction do
 *   sweeps    block Gauss-Seidel: the normal of each contact, then each of its discs, takes the impulse that stops it
 *   scaling   l is measured with rows weighed by their share of the residual, and plainly again the next time
 *   shaking   every contact's x times a number of its own between 1/2 and 3/2, the same ones on every machine */
#ifndef FX_SOLVER_IMPLICIT_RECOVER_H
#define FX_SOLVER_IMPLICIT_RECOVER_H

#include "solver/implicit_model.h"

void fx_implicit_sweeps(fx_implicit *m, int32_t count, double *x);
void fx_implicit_shake(const fx_implicit *m, uint32_t round, double *x);
void fx_implicit_reweigh(fx_implicit *m, bool by_residual, const double *res);

#endif
