/* How many digits the mass matrix of a problem loses. */
#ifndef FX_PROBLEM_MASS_LOSS_H
#define FX_PROBLEM_MASS_LOSS_H

#include "problem/system.h"

/* The largest M_ii / D_i over all movers, M = L'DL; 1 where M is diagonal. In an arena; 0: no memory. */
double fx_mass_loss(fx_arena *arena, const fx_system *s);

#endif
