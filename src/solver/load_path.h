/* Forces that hold an island at rest, found by following its loads down. */
#ifndef FX_SOLVER_LOAD_PATH_H
#define FX_SOLVER_LOAD_PATH_H

#include "problem/statics.h"

/* r of the contacts of the part; *left: how many bodies are not balanced by what is below them, at most most_left, or
 * -1 where there are more or loads go round in a circle. That says nothing of the island: forces that hold it may need
 * more than its loads alone (arches, cards that lean on each other). Cost and memory are proportional to the number of
 * contacts. */
frix_status fx_load_path_find(fx_arena *arena, const fx_statics *statics, const fx_statics_part *part,
                              int32_t most_left, double *r, int32_t *left);

/* Islands of so many bodies are looked at this way first: smaller ones are solved as soon. */
enum { FX_LOAD_PATH_BODIES = 250 };

struct fx_call;

/* The answer of a rigid problem whose bodies come to rest, in call->r: H r + M v_free = 0 with contacts that w leaves
 * open at zero. 0: found; the monitor has not judged it. Positive: all but so many bodies of it, few of all, are
 * balanced; a start. -1: r is zero. */
int32_t fx_load_path_rest(struct fx_call *call, frix_status *status);

#endif
