/* Moving scenes of any size and seed, by name:
 *
 *   cards<L>_blow<B>   a card house of L levels, struck by B blocks that fall on it one after the other
 *   stack<N>_push      N cubes, the middle one pushed until they topple
 *   wall<N>_ball       N bricks in rows of 20, hit by a heavy ball
 *   boxes<N>           boxes of all turns fall on the floor
 *   capsules<N>, mixed<N>, spheres<N>   poured into a container
 *   pyramid<L>_mu<F>   spheres on a square of L x L, must stand where F is large enough
 *   boxpyramid<B>      cubes in one plane, B at the bottom, must stand */
#ifndef FRIX_BENCH_MOTION_MAKE_H
#define FRIX_BENCH_MOTION_MAKE_H

#include "motion_scene.h"

/* False: a name that is none of these, or no memory. */
bool motion_make(motion_scene *scene, const char *name, uint64_t seed);

#endif
