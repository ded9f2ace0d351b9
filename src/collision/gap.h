/* Signed distance of two placed shapes, and the distance one can move before they touch. */
#ifndef FX_COLLISION_GAP_H
#define FX_COLLISION_GAP_H

#include "collision/narrow.h"

typedef struct fx_gap {
  double distance; /* signed; on meshes below zero where a triangle reaches into the shape */
  frix_vec3 point_a, point_b;
  frix_vec3 normal; /* unit, from b to a */
} fx_gap;

/* Whether a distance of these two is known: one of them is convex and bounded, and both or none are flat. */
bool fx_gap_known(const fx_shape *a, const fx_shape *b);
/* a must be bounded and convex. False where they are farther apart than limit. */
bool fx_gap_find(frix_context *context, const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b,
                 double limit, fx_gap *out);
/* The part of `way` that a may go before it touches b, not above `limit` (at most 1); false where it gets so far. */
bool fx_gap_cast(frix_context *context, const fx_shape *a, frix_pose pose_a, frix_vec3 way, const fx_shape *b,
                 frix_pose pose_b, double limit, double *fraction, fx_gap *out);

#endif
