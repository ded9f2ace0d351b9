/* Segments of a pile that two threads sweep side by side.
 *
 * Bodies are cut in two halves, 1 .. cut - 1 and the rest. Contacts within one half touch none of the other: segments 0
 * and 1. Those across the cut are cut once more, over the bodies they join, into segments 2 and 3, and few are left for
 * segment 4. Segments are always swept in this order as far as the result goes, so that it does not depend on the
 * number of threads. */
#ifndef FX_SOLVER_SWEEPS_CUT_H
#define FX_SOLVER_SWEEPS_CUT_H

#include "base/arena.h"

enum { FX_SEGMENTS = 5 };

/* Bodies of each contact, two numbers below body_count, 0: none; `segment` of each contact and the cut. */
frix_status fx_pile_cut(fx_arena *arena, int32_t contact_count, const int32_t *pairs, int32_t body_count,
                        uint8_t *segment, int32_t *cut);

#endif
