/* Patches: where the residual of a pile sits at few contacts, these and their neighbours are solved on their own, under
 * the impulses of all the others as they are. */
#ifndef FX_SOLVER_PATCHES_H
#define FX_SOLVER_PATCHES_H

#include "solver/solver.h"

/* One round over the worst contacts of r and those within `depth` bodies of them, each patch by the given method; r is
 * the answer, which is not judged yet. patch_count 0: the residual is spread too far, and r as it was. Velocity
 * form. */
frix_status fx_patches_solve(fx_call *call, const fx_solver *solver, int32_t depth, int32_t *patch_count);

#endif
