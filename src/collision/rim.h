/* Round faces: the caps of cylinders. */
#ifndef FX_COLLISION_RIM_H
#define FX_COLLISION_RIM_H

#include "collision/clip.h"

/* Numbers of the rim points from FX_CAP_ABOVE (the cap at + z) and FX_CAP_BELOW. */
enum { FX_RIM_POINTS = 8, FX_CAP_ABOVE = 0, FX_CAP_BELOW = 16 };
/* cos and sin of k * 45 degrees */
extern const double fx_eighth[FX_RIM_POINTS][2];

/* The cap of a cylinder that faces d (unit, in the shape's frame), in the shape's frame. side: which of the manifold's
 * shapes it is. */
void fx_cap_face(const fx_shape *shape, frix_vec3 d, double slop, const fx_manifold *m, int side, fx_face *out);

/* The cap of a placed cylinder, as one of the two sides of a pair. */
fx_round_face fx_cap_of(const fx_shape *shape, frix_pose pose, bool top, int side);
/* Where the first rim point of a flat cap of the manifold's shape `side` is to stand, seen from its centre; world
 * frame, any length but zero. */
frix_vec3 fx_cap_anchor(const fx_shape *shape, bool top, const fx_manifold *m, int side);
/* Of a contact with `rim`: whose rim point it is, and on which cap. */
static inline int fx_rim_side(uint64_t feature) { return feature >> 62 == FX_FEATURE_VERTEX ? 0 : 1; }
static inline bool fx_rim_top(uint64_t feature) {
  return (fx_rim_side(feature) ? feature & 0x3fffffff : feature >> 30 & 0x3fffffff) < FX_CAP_BELOW;
}

/* As fx_clip_faces, where at least one of the faces is round. */
void fx_clip_round(const fx_face *a, const fx_face *b, frix_vec3 axis, double margin, double slop, frix_pose frame,
                   fx_manifold *out, double *least);

#endif
