/* Worlds whose state hashes must be the same from every compiler, optimisation level and thread count. */
#ifndef BENCH_HASHES_H
#define BENCH_HASHES_H

#include "worlds.h"

enum { HASH_WORLDS = 8 };

const char *hash_world_name(int32_t k);
/* false: not in this build (no qhull), or it failed with a line on stderr. */
bool hash_world_build(standing *w, int32_t k, int32_t threads);
double hash_world_step(int32_t k);

/* State hash after so many steps; 0 where a step failed. */
uint64_t hash_world_run(int32_t k, int32_t threads, int32_t steps);
/* The same, saved and restored into a fresh sim at so many random steps on the way. */
uint64_t hash_world_resume(int32_t k, int32_t threads, int32_t steps, int32_t times, uint64_t seed);

#endif
