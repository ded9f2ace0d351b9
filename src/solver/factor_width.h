/* How wide a contact graph is, and what factors of it cost at least: known before an ordering is. */
#ifndef FX_SOLVER_FACTOR_WIDTH_H
#define FX_SOLVER_FACTOR_WIDTH_H

#include "problem/system.h"

/* Multiplications that the factors of M + H D H' of these contacts (NULL: all) take by estimate, at least: those of the
 * set of bodies that parts the largest island, by half the width that is found. 0: small, or not known. Needs the
 * velocity form. */
double fx_factor_cost_guess(fx_arena *arena, const fx_system *system, const uint8_t *among);

#endif
