/* frix: queries at the present poses of a sim: rays, shape casts, overlaps, distances.
 *
 *   frix_ray ray = {.origin = {0, 0, 10}, .direction = {0, 0, -1}, .length = 100};
 *   frix_ray_hit hit;
 *   frix_sim_cast_ray(sim, &ray, NULL, &hit);
 *   if (hit.shape.index) printf("%g m away\n", hit.distance);
 *
 * The first query after bodies moved builds a tree of their boxes, which costs about as much as a contact search; later
 * queries reuse it. Results depend only on the poses and come in a fixed order. Flat shapes act as infinite prisms
 * along z: rays hit them by their x and y. Queries may also be made from the force callback. */
#ifndef FRIX_QUERY_H
#define FRIX_QUERY_H

#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Selects shapes. */
typedef struct frix_query_filter {
  uint32_t size;       /* set by frix_query_filter_default */
  uint32_t mask;       /* shapes whose group has a bit in it; default all */
  frix_body_id ignore; /* excludes shapes of this body; null: none */
  bool ignore_world;   /* excludes shapes of the world */
  bool (*accept)(frix_body_id body, frix_shape_id shape,
                 void *user); /* may be NULL; batched rays call it from threads */
  void *user;
} frix_query_filter;

FRIX_API void frix_query_filter_init(frix_query_filter *out, size_t size);
static inline frix_query_filter frix_query_filter_default(void) {
  frix_query_filter out;
  frix_query_filter_init(&out, sizeof out);
  return out;
}

/* ---- rays ---- */
typedef struct frix_ray {
  frix_vec3 origin, direction; /* direction: of any nonzero length */
  double length;               /* in metres; may be INFINITY */
} frix_ray;

typedef struct frix_ray_hit {
  frix_body_id body;   /* null: the world */
  frix_shape_id shape; /* null: nothing was hit */
  double distance;     /* from the origin; 0 if it lies inside a solid */
  frix_vec3 point;
  frix_vec3 normal; /* outward; against the ray if the origin lies inside; on meshes towards the origin */
} frix_ray_hit;

/* The closest hit; ties go to the body, then to the shape, that was added first. filter may be NULL. */
FRIX_API frix_status frix_sim_cast_ray(frix_sim *sim, const frix_ray *ray, const frix_query_filter *filter,
                                       frix_ray_hit *out);
/* All shapes that are hit, once each, sorted by distance: the first `capacity` of them in out; *count is the total
 * number.
 */
FRIX_API frix_status frix_sim_cast_ray_all(frix_sim *sim, const frix_ray *ray, const frix_query_filter *filter,
                                           frix_ray_hit *out, int32_t capacity, int32_t *count);
/* The closest hits of many rays, on the sim's threads. */
FRIX_API frix_status frix_sim_cast_rays(frix_sim *sim, const frix_ray *ray, int32_t count,
                                        const frix_query_filter *filter, frix_ray_hit *out);

/* ---- shapes ----
 *
 * A convex shape given by the caller with a pose (the pose of its config is applied first): sphere, capsule, box,
 * cylinder, ellipsoid, hull (a geometry of the model), or a flat one, which hits flat ones only. Its material, group
 * and mask are ignored. */
typedef struct frix_cast_hit {
  frix_body_id body;
  frix_shape_id shape; /* null: no hit */
  double fraction;     /* free fraction of the way; 0 if it touches at the start */
  frix_vec3 point;     /* where they touch */
  frix_vec3 normal;    /* from the hit shape to the cast shape */
} frix_cast_hit;

/* Moves a shape by `way`, without rotation, until it touches something. The remaining gap is below 1e-7 of their sizes.
 */
FRIX_API frix_status frix_sim_cast_shape(frix_sim *sim, const frix_shape_config *shape, frix_pose pose, frix_vec3 way,
                                         const frix_query_filter *filter, frix_cast_hit *out);

typedef struct frix_overlap {
  frix_body_id body;
  frix_shape_id shape;
  double depth; /* depth of the overlap, at least 0; on meshes: depth through a triangle */
} frix_overlap;

/* Shapes that a shape overlaps, in the order of bodies and shapes, the first `capacity` in out; *count is the total
 * number. A pose is free of contact if that is 0. */
FRIX_API frix_status frix_sim_overlap(frix_sim *sim, const frix_shape_config *shape, frix_pose pose,
                                      const frix_query_filter *filter, frix_overlap *out, int32_t capacity,
                                      int32_t *count);

typedef struct frix_distance {
  double distance; /* signed, negative for overlaps; INFINITY: nothing found */
  frix_body_id body_a, body_b;
  frix_shape_id shape_a, shape_b; /* the closest ones; shape_a is null if it is the caller's */
  frix_vec3 point_a, point_b;     /* on their surfaces */
  frix_vec3 normal;               /* from b to a */
} frix_distance;

/* Between the closest shapes of two bodies; null: the world. Meshes and height fields have a distance only to convex
 * shapes: for bodies without such a pair it is INFINITY. */
FRIX_API frix_status frix_sim_distance(frix_sim *sim, frix_body_id a, frix_body_id b, frix_distance *out);
/* From a shape of the caller's to the closest one of the sim that is not farther than `limit`. */
FRIX_API frix_status frix_sim_shape_distance(frix_sim *sim, const frix_shape_config *shape, frix_pose pose,
                                             double limit, const frix_query_filter *filter, frix_distance *out);

#ifdef __cplusplus
}
#endif
#endif
