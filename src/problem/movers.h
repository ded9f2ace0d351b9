/* Movers: the blocks of degrees of freedom over which M is block diagonal. */
#ifndef FX_PROBLEM_MOVERS_H
#define FX_PROBLEM_MOVERS_H

#include "base/arena.h"
#include "problem/problem_internal.h"

/* mover_of: dof_count; dof: first degree of freedom of each mover, *count + 1. Movers are runs of consecutive degrees
 * of freedom that hold the connected components of M. A diagonal M leaves them open: then bodies of 6 (planar: 3) are
 * taken where the sizes allow it, since that is how rigid-body codes number them. */
frix_status fx_movers_find(fx_arena *arena, const frix_problem *problem, int32_t **mover_of, const int32_t **dof,
                           int32_t *count);

#endif
