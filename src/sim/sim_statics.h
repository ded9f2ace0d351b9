/* The rows of a step as a static problem. */
#ifndef FX_SIM_STATICS_H
#define FX_SIM_STATICS_H

#include "problem/statics.h"
#include "sim/sim_internal.h"

#include <frix/equilibrium.h>

/* What the contacts and joints of the rows can carry where nothing moves. Forces times h: f is M v_free of the movers
 * (impulses: what the step has to stop) or h times the forces on them (at_rest: whatever their velocities are). The
 * rows are counted (fx_rows_count). system and statics live in the arena. */
frix_status fx_statics_from_rows(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, bool at_rest,
                                 fx_system *system, fx_statics *out);

/* h times the forces on a mover, by degree of freedom. */
void fx_mover_force(const frix_sim *sim, const fx_mover *mover, double *out);

/* Actuators as further contacts of system and statics, whose arrays are made anew in the arena: friction alone under
 * `limit`, paid. Their forces are the second rows of the contacts from *first on. FRIX_ERROR_INPUT after a message. */
frix_status fx_statics_add_actuators(const frix_sim *sim, const frix_actuator *actuator, int32_t count, fx_arena *arena,
                                     fx_system *system, fx_statics *statics, int32_t *first);

#endif
