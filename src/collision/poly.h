/* Polyhedra as the narrow phase sees them: boxes and hulls alike. */
#ifndef FX_COLLISION_POLY_H
#define FX_COLLISION_POLY_H

#include "collision/clip.h"

enum {
  FX_POLY_MOST = 64,  /* vertices and faces of those that axes are tried on; larger ones go by GJK */
  FX_POLY_PAIRS = 700 /* likewise, pairs of edges */
};

typedef struct fx_poly {
  int32_t vertex_count, face_count, edge_count;
  const frix_vec3 *vertex, *face_normal;
  const double *face_offset;
  const int32_t *face_start, *face_vertex, *face_edge;
  const fx_edge *edge;
  double bound;
  frix_vec3 vertex_room[8]; /* of boxes */
  double offset_room[6];
} fx_poly;

/* Boxes and hulls; false for the rest. The view points into itself: fill it in place. */
bool fx_poly_of(const fx_shape *shape, fx_poly *out);
/* A copy in another frame, in the rooms given (FX_POLY_MOST each). */
void fx_poly_move(const fx_poly *p, frix_pose pose, frix_vec3 *vertex, frix_vec3 *normal, double *offset, fx_poly *out);
/* Whether trying all axes is cheaper than iterating. */
bool fx_poly_small(const fx_poly *a, const fx_poly *b);
void fx_poly_face(const fx_poly *p, int32_t face, fx_face *out);

/* Axes of separation, in the frame of a. Separations are negative where the axis does not separate. */
typedef struct fx_axes {
  double face_a, face_b, edge; /* largest separation over the faces of a, of b, and over pairs of edges */
  int32_t index_a, index_b, edge_a, edge_b;
  frix_vec3 edge_axis; /* unit, from a to b */
} fx_axes;

/* False as soon as some axis separates by more than margin. */
bool fx_axes_search(const fx_poly *a, const fx_poly *b, double margin, fx_axes *out);
/* The same for two boxes, b placed in the frame of a. */
bool fx_axes_boxes(frix_vec3 half_a, frix_vec3 half_b, frix_pose b_in_a, double margin, fx_axes *out);

/* Manifold of two polyhedra in the frame of a from their axes; false where only closest points of corners and edges are
 * left, which GJK finds. */
bool fx_poly_manifold(const fx_poly *a, const fx_poly *b, const fx_axes *axes, double margin, frix_pose frame,
                      fx_manifold *out);

#endif
