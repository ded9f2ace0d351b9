/* Pairs of convex shapes without a closed formula. */
#ifndef FX_COLLISION_CONVEX_H
#define FX_COLLISION_CONVEX_H

#include "collision/clip.h"
#include "collision/gjk.h"

/* The flat feature of a placed shape that lies farthest along d (unit): a face, an edge or a point. side: which of the
 * manifold's shapes it is. */
void fx_shape_face(const fx_shape *shape, frix_pose pose, frix_vec3 d, double slop, const fx_manifold *m, int side,
                   fx_face *out);

fx_narrow fx_narrow_convex; /* any two bounded convex shapes in space */
fx_narrow fx_narrow_poly;   /* boxes and hulls */
fx_narrow fx_narrow_mesh;   /* mesh or height field as b */

#endif
