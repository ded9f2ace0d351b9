/* Intersection of a ray with a shape, in the shape's own frame. */
#ifndef FX_COLLISION_RAY_H
#define FX_COLLISION_RAY_H

#include "model/shape.h"

typedef struct fx_ray {
  frix_vec3 origin, direction; /* unit */
} fx_ray;

/* 1 / direction, finite components only where they matter: for boxes. */
static inline frix_vec3 fx_ray_inverse(frix_vec3 d) { return fx_vec(1.0 / d.x, 1.0 / d.y, 1.0 / d.z); }

/* Whether the ray meets the box before `limit`; *enter is where, at least 0. inverse: 1 / direction. */
static inline bool fx_ray_box(frix_vec3 origin, frix_vec3 inverse, frix_vec3 low, frix_vec3 high, double limit,
                              double *enter) {
  double x0 = (low.x - origin.x) * inverse.x, x1 = (high.x - origin.x) * inverse.x;
  double y0 = (low.y - origin.y) * inverse.y, y1 = (high.y - origin.y) * inverse.y;
  double z0 = (low.z - origin.z) * inverse.z, z1 = (high.z - origin.z) * inverse.z;
  /* 0 * infinity, on the border of a slab the ray is parallel to, is no bound: comparisons with NaN are false */
  double first = 0.0, last = limit;
  double a = x0 < x1 ? x0 : x1, b = x0 < x1 ? x1 : x0;
  if (a > first) first = a;
  if (b < last) last = b;
  a = y0 < y1 ? y0 : y1, b = y0 < y1 ? y1 : y0;
  if (a > first) first = a;
  if (b < last) last = b;
  a = z0 < z1 ? z0 : z1, b = z0 < z1 ? z1 : z0;
  if (a > first) first = a;
  if (b < last) last = b;
  *enter = first;
  return first <= last;
}

/* The first place not beyond `limit`; 0 with the normal against the ray where the origin is inside. Flat shapes are
 * prisms along z. */
bool fx_ray_shape(const fx_shape *shape, const fx_ray *ray, double limit, double *distance, frix_vec3 *normal);

#endif
