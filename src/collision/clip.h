/* Face against face: the corners of the overlap of two flat features are the contacts. */
#ifndef FX_COLLISION_CLIP_H
#define FX_COLLISION_CLIP_H

#include "collision/narrow.h"

enum { FX_FACE_MOST = 64 }; /* corners of the largest face; longer ones are thinned to it */

/* A convex polygon, a segment (count 2) or a point (count 1), with the numbers of its parts for feature ids. */
typedef struct fx_face {
  int32_t count;
  frix_vec3 point[FX_FACE_MOST]; /* counter-clockwise seen from outside */
  int32_t vertex[FX_FACE_MOST];  /* number of the corner in its shape */
  int32_t edge[FX_FACE_MOST];    /* number of the side from this corner to the next */
  int32_t face;                  /* number of the face */
  frix_vec3 normal;              /* outward, of a polygon */
  bool round;                    /* a disc: the points are some of its rim, the first one where it matters most */
  frix_vec3 center;              /* of a disc */
  double radius;
  frix_vec3 rim; /* of a disc that lies flat: as in fx_contact */
} fx_face;

/* A segment with the numbers of its ends and of its edge. */
void fx_segment_face(frix_vec3 p, frix_vec3 q, int32_t first, int32_t second, int32_t edge, fx_face *out);

/* Adds the contacts of two faces along `axis` (unit, from a to b, all in one frame): overlap corners whose gap along
 * the axis is at most margin. Corners that miss the other face by less than slop count as inside. *least becomes the
 * smallest gap found, INFINITY when there is no overlap. Points go through `frame` to the world. */
void fx_clip_faces(const fx_face *a, const fx_face *b, frix_vec3 axis, double margin, double slop, frix_pose frame,
                   fx_manifold *out, double *least);

/* One contact from points in the frame; the axis points from a to b. */
void fx_clip_single(frix_vec3 point_a, frix_vec3 point_b, frix_vec3 axis, uint64_t feature, frix_pose frame,
                    fx_manifold *out);

#endif
