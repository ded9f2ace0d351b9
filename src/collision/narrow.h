/* Narrow phase: two placed shapes in, a manifold out. */
#ifndef FX_COLLISION_NARROW_H
#define FX_COLLISION_NARROW_H

#include "model/shape.h"

/* A contact between two placed shapes; the normal points from b to a. */
typedef struct fx_touch {
  uint64_t feature;
  frix_vec3 point_a, point_b, normal;
  double gap;
  frix_vec3 rim; /* as in fx_contact */
} fx_touch;

/* A round face that lies flat on another, world frame. side: 0 is that of the pair's first shape. */
typedef struct fx_round_face {
  int side;
  frix_vec3 center, outward;
  double radius;
} fx_round_face;

/* Who knows the load on the round faces of a pair: which way from its centre it presses, zero where that is unknown. */
typedef struct fx_lean {
  frix_vec3 (*ask)(const void *user, const struct fx_lean *pair, const fx_round_face *face);
  const void *user;
  int32_t slot[2], shape[2];
} fx_lean;

/* A growing list; `failed` is set when memory ran out, and nothing is added after that. */
typedef struct fx_manifold {
  frix_context *context;
  fx_touch *touch;
  int32_t count, capacity;
  bool failed;
  frix_pose pose[2];   /* of the shapes, in the order in which the function of the pair has them */
  bool turned;         /* which is not that of the pair */
  const fx_lean *lean; /* NULL: not known */
  frix_vec3 *apart;    /* frame of the first: an axis that kept the pair apart before, 0: none; NULL: it is not kept */
} fx_manifold;

/* Room for one more, NULL when memory ran out. */
fx_touch *fx_manifold_add(fx_manifold *m);

typedef void fx_narrow(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                       fx_manifold *out);

/* Contacts with gap <= margin, for any two shapes that may meet, in either order. */
void fx_narrow_pair(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                    fx_manifold *out);

/* Feature ids: kinds of the two features and their numbers. */
enum { FX_FEATURE_NONE, FX_FEATURE_VERTEX, FX_FEATURE_EDGE, FX_FEATURE_FACE };
#define FX_FEATURE(kind_a, a, kind_b, b)                                                               \
  ((uint64_t)(kind_a) << 62 | (uint64_t)(kind_b) << 60 | ((uint64_t)(uint32_t)(a)&0x3fffffffu) << 30 | \
   ((uint64_t)(uint32_t)(b)&0x3fffffffu))

#endif
