/* Exact pairs with spheres, capsules and planes. */
#ifndef FX_COLLISION_ROUND_H
#define FX_COLLISION_ROUND_H

#include "collision/narrow.h"

fx_narrow fx_sphere_sphere, fx_sphere_capsule, fx_sphere_box, fx_sphere_cylinder, fx_sphere_ellipsoid, fx_sphere_hull;
fx_narrow fx_sphere_plane, fx_capsule_plane, fx_box_plane, fx_cylinder_plane, fx_ellipsoid_plane, fx_hull_plane;

/* Closest point of a solid ellipsoid's (ellipse's, half.z = 0) surface to p, both in its frame. */
frix_vec3 fx_ellipsoid_nearest(frix_vec3 half, frix_vec3 p);
/* Closest point of the triangle to p. *feature: 0..2 corner, 3..5 side from corner k - 3, 6 the inside. */
frix_vec3 fx_triangle_nearest(frix_vec3 a, frix_vec3 b, frix_vec3 c, frix_vec3 p, int *feature);

#endif
