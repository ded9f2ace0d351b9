/* proximal: all islands of a rigid problem as one (proximal.c). A part of auto, not a method of its own. */
#ifndef FX_SOLVER_PROXIMAL_H
#define FX_SOLVER_PROXIMAL_H

#include "solver/solver.h"

extern const fx_solver fx_solver_proximal;

/* Whether every contact is rigid and of a kind that vectorised sweeps know, and there are enough of them. */
bool fx_proximal_fits(const fx_system *system);

#endif
