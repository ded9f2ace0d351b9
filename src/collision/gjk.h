/* Distance and penetration of two convex sets known by their support functions. */
#ifndef FX_COLLISION_GJK_H
#define FX_COLLISION_GJK_H

#include "model/shape.h"

/* A placed convex core: a shape without its rounding, or a few points. */
typedef struct fx_convex {
  const fx_shape *shape; /* NULL: the points */
  const frix_vec3 *point;
  int32_t point_count;
  frix_vec3 place;
  fx_mat3 turn; /* local to outer */
  double round; /* radius stripped off: spheres and capsules */
  double size;  /* of the core, for tolerances */
} fx_convex;

fx_convex fx_convex_of_shape(const fx_shape *shape, frix_pose pose);
fx_convex fx_convex_of_points(const frix_vec3 *point, int32_t count);
/* Farthest point of the core along d, outer frame. */
frix_vec3 fx_convex_support(const fx_convex *c, frix_vec3 d);
/* Distance of the two planes across `axis` (unit, from a to b) that touch the cores; rounding not counted. */
double fx_convex_separation(const fx_convex *a, const fx_convex *b, frix_vec3 axis);

typedef struct fx_closest {
  double distance; /* signed, between the cores */
  frix_vec3 axis;  /* unit, from a to b */
  frix_vec3 point_a, point_b;
} fx_closest;

/* False where the cores are farther apart than `limit`; the axis then tells across which. `guess` is any vector from a
 * to b. */
bool fx_closest_find(const fx_convex *a, const fx_convex *b, frix_vec3 guess, double limit, fx_closest *out);

/* Expanding polytope: for cores that touch, overlap or are apart by little against their size. (epa.c) */
bool fx_epa(const fx_convex *a, const fx_convex *b, frix_vec3 guess, fx_closest *out);

#endif
