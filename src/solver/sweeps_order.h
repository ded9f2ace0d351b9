/* Order and batches of a pile: fills batch_count, body_count, slot_contact, slot_body and body_mover. */
#ifndef FX_SOLVER_SWEEPS_ORDER_H
#define FX_SOLVER_SWEEPS_ORDER_H

#include "solver/sweeps.h"

frix_status fx_pile_order(fx_arena *arena, const fx_system *system, fx_pile *pile);

#endif
