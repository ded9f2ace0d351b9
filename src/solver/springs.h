/* springs: all islands of a compliant problem as one (springs.c). A part of auto, not a method of its own. */
#ifndef FX_SOLVER_SPRINGS_H
#define FX_SOLVER_SPRINGS_H

#include "solver/solver.h"

extern const fx_solver fx_solver_springs;

#endif
