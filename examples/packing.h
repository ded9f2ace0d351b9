/* Equal spheres put one after the other where they would roll to: a random packing in a vessel, without simulation.
 *
 * A sphere begins above the surface and descends in small steps; what it then overlaps pushes it aside. Where it finds
 * no lower place it stays, and never moves again [after Visscher and Bolsterli, Nature 239 (1972) 504]. The cost is
 * that of the number of spheres. Uses + - * / sqrt alone, so that a packing has the same bits everywhere. */
#ifndef EX_PACKING_H
#define EX_PACKING_H

#include <frix/frix.h>

typedef struct ex_packing ex_packing;

/* keep: moves a centre to where a sphere of this radius touches the vessel at most. Spheres lie within the square of
 * half width `half` about the z axis, above `bottom`. NULL where there is no memory. */
ex_packing *ex_packing_new(int64_t count, double radius, double half, double bottom, double height,
                           void (*keep)(const void *vessel, double radius, frix_vec3 *center), const void *vessel);
void ex_packing_free(ex_packing *packing);
/* Lets the next sphere fall at (x, y); where it comes to rest. */
frix_vec3 ex_packing_drop(ex_packing *packing, double x, double y);

#endif
