/* The rows of a step as a static problem. */
#ifndef FX_SIM_STATICS_H
#define FX_SIM_STATICS_H

#include "problem/statics.h"
#include "sim/sim.h"

/* What the contacts and joints of the rows can carry where nothing moves. Forces times h: f is M v_free of the movers
 * (impulses: what the step has to stop) or h times the forces on them (at_rest: whatever their velocities are). The
 * rows are counted (fx_rows_count). system and statics live in the arena. */
frix_status fx_statics_from_rows(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, bool at_rest,
                                 fx_system *system, fx_statics *out);

/* h times the forces on a mover, by degree of freedom. */
void fx_mover_force(const frix_sim *sim, const fx_mover *mover, double *out);

#endif
