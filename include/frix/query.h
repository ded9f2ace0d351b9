/* frix: questions about where things are: rays, casts, overlaps, distances, at the present poses of a sim.
 *
 *   frix_ray ray = {.origin = {0, 0, 10}, .direction = {0, 0, -1}, .length = 100};
 *   frix_ray_hit hit;
 *   frix_sim_cast_ray(sim, &ray, NULL, &hit);
 *   if (hit.shape.index) printf("%g m away\n", hit.distance);
 *
 * The first question after bodies moved sorts their boxes into a tree, which costs about as much as finding contacts;
 * the others use it. Answers are functions of the poses alone and come in a fixed order. Flat shapes stand for prisms
 * without end along z: rays meet them by their x and y. Questions may be asked from the force callback too. */
#ifndef FRIX_QUERY_H
#define FRIX_QUERY_H

#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which shapes count. */
typedef struct frix_query_filter {
  uint32_t size;       /* set by frix_query_filter_default */
  uint32_t mask;       /* those whose group has a bit in it; default all */
  frix_body_id ignore; /* all but those of this body; null: of none */
  bool ignore_world;   /* shapes of the world do not count */
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
  frix_vec3 origin, direction; /* direction: of any length but zero */
  double length;               /* how far it reaches, in metres; may be INFINITY */
} frix_ray;

typedef struct frix_ray_hit {
  frix_body_id body;   /* null: the world */
  frix_shape_id shape; /* null: nothing was hit */
  double distance;     /* from the origin; 0 where it lies inside a solid */
  frix_vec3 point;
  frix_vec3 normal; /* outward; against the ray where the origin lies inside, and on meshes towards the origin */
} frix_ray_hit;

/* The closest hit; of equal ones that of the body, then of the shape, that was added first. filter may be NULL. */
FRIX_API frix_status frix_sim_cast_ray(frix_sim *sim, const frix_ray *ray, const frix_query_filter *filter,
                                       frix_ray_hit *out);
/* Every shape that is hit, once each, by distance: the first `capacity` of them into out; *count is the number of all.
 */
FRIX_API frix_status frix_sim_cast_ray_all(frix_sim *sim, const frix_ray *ray, const frix_query_filter *filter,
                                           frix_ray_hit *out, int32_t capacity, int32_t *count);
/* The closest hits of many rays, on the sim's threads. */
FRIX_API frix_status frix_sim_cast_rays(frix_sim *sim, const frix_ray *ray, int32_t count,
                                        const frix_query_filter *filter, frix_ray_hit *out);

/* ---- shapes ----
 *
 * A convex shape of the caller's, placed by its own pose (that of its config is applied first): sphere, capsule, box,
 * cylinder, ellipsoid, hull (a geometry of the model), or a flat one, which meets flat ones only. Its material, group
 * and mask do not count. */
typedef struct frix_cast_hit {
  frix_body_id body;
  frix_shape_id shape; /* null: nothing is in the way */
  double fraction;     /* of the way that is free; 0 where it touches at the start */
  frix_vec3 point;     /* where they touch */
  frix_vec3 normal;    /* from what was hit to the shape */
} frix_cast_hit;

/* Moves a shape by `way`, without turning, until it touches something. What is left between them then is
 * below 1e-7 of their sizes. */
FRIX_API frix_status frix_sim_cast_shape(frix_sim *sim, const frix_shape_config *shape, frix_pose pose, frix_vec3 way,
                                         const frix_query_filter *filter, frix_cast_hit *out);

typedef struct frix_overlap {
  frix_body_id body;
  frix_shape_id shape;
  double depth; /* how far they overlap, at least 0; on meshes: how far they reach through a triangle */
} frix_overlap;

/* What a shape overlaps: in the order of bodies and shapes, the first `capacity` into out; *count is the number of all.
 * A pose is free of contact where that is 0. */
FRIX_API frix_status frix_sim_overlap(frix_sim *sim, const frix_shape_config *shape, frix_pose pose,
                                      const frix_query_filter *filter, frix_overlap *out, int32_t capacity,
                                      int32_t *count);

typedef struct frix_distance {
  double distance; /* signed: below zero they overlap; INFINITY: nothing there */
  frix_body_id body_a, body_b;
  frix_shape_id shape_a, shape_b; /* the closest ones; shape_a is null where it is the caller's */
  frix_vec3 point_a, point_b;     /* on their surfaces */
  frix_vec3 normal;               /* from b to a */
} frix_distance;

/* Between the closest shapes of two bodies; null: the world. Meshes and height fields have a distance from convex
 * shapes only: bodies without such a pair are at INFINITY. */
FRIX_API frix_status frix_sim_distance(frix_sim *sim, frix_body_id a, frix_body_id b, frix_distance *out);
/* From a shape of the caller's to the closest one of the sim that is not farther than `limit`. */
FRIX_API frix_status frix_sim_shape_distance(frix_sim *sim, const frix_shape_config *shape, frix_pose pose,
                                             double limit, const frix_query_filter *filter, frix_distance *out);

#ifdef __cplusplus
}
#endif
#endif
