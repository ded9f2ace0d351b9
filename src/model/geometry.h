/* Geometries: point sets that shapes share. Hulls and polygons have faces, edges and neighbours; meshes and height
 * fields a tree of boxes over their triangles. */
#ifndef FX_MODEL_GEOMETRY_H
#define FX_MODEL_GEOMETRY_H

#include "model/model_internal.h"

#include <stdatomic.h>

typedef struct fx_edge {
  int32_t tail, head;  /* vertices */
  int32_t left, right; /* faces: left has tail -> head in its own (counter-clockwise) order */
} fx_edge;

/* Convex polyhedron: coplanar triangles are merged, so that a box given as points has six faces of four corners. */
typedef struct fx_polyhedron {
  int32_t vertex_count, face_count, edge_count;
  frix_vec3 *vertex;
  int32_t *face_start;    /* face_count + 1, into face_vertex and face_edge */
  int32_t *face_vertex;   /* counter-clockwise seen from outside */
  int32_t *face_edge;     /* edge from face_vertex[k] to the next */
  frix_vec3 *face_normal; /* unit, outward */
  double *face_offset;    /* normal . x <= offset inside */
  fx_edge *edge;
  int32_t *neighbour_start; /* vertex_count + 1 */
  int32_t *neighbour;       /* vertices that share an edge */
} fx_polyhedron;

/* Node of a static tree of boxes: children stand next to each other; leaves hold triangles. */
typedef struct fx_tree_node {
  frix_vec3 low, high;
  int32_t first; /* inner: left child, right is first + 1; leaf: first entry of fx_geometry.order */
  int32_t count; /* 0: inner; leaf: triangles */
} fx_tree_node;

struct fx_geometry {
  atomic_int reference_count; /* the builder and its models share it */
  frix_geometry_kind kind;
  int32_t number;      /* in its builder, from 1 */
  frix_vec3 low, high; /* bounding box */
  double bound;        /* largest distance from the origin */
  fx_polyhedron hull;  /* hull; polygon: vertices counter-clockwise in the plane, edge k from k to k + 1, no faces */
  /* mesh and height field */
  int32_t vertex_count, triangle_count;
  frix_vec3 *vertex;
  int32_t *triangle;              /* 3 each */
  int32_t *neighbour;             /* 3 each: triangle across edge k -> k + 1, -1 at a border */
  frix_vec3 *normal;              /* unit; zero-area triangles are kept out of the tree */
  uint8_t *convex_edge;           /* bit k: edge k is convex or a border; bit 3 + k: corner k meets such an edge */
  int32_t *weld;                  /* vertex -> first vertex at the same place */
  int32_t *around_start, *around; /* by welded vertex: the vertices its edges lead to */
  int32_t node_count, *order;
  fx_tree_node *node;
  int32_t row_count, column_count;
  double width, depth, *height;
  void *soft; /* mesh: the soft body (src/soft) whose surface it is, undeformed; NULL: it is rigid */
  void (*soft_release)(void *soft);
  char *name;
  void *user;
};

static inline bool fx_shape_is_soft(const fx_shape *shape) { return shape->geometry && shape->geometry->soft; }

/* Faces of a hull that was built before; a polygon needs none but its corners in order. */
typedef struct fx_faces {
  int32_t count;
  const int32_t *start, *vertex; /* as in fx_polyhedron */
} fx_faces;

frix_status fx_geometry_create(frix_context *context, const frix_geometry_config *config, fx_geometry **out);
/* faces: how a hull or polygon of these corners was built before, so that it comes out the same; NULL: as create. */
frix_status fx_geometry_restore(frix_context *context, const frix_geometry_config *config, const fx_faces *faces,
                                fx_geometry **out);
/* Gives one reference back; the last one frees. */
void fx_geometry_release(frix_context *context, fx_geometry *geometry);
/* Neighbours, edge kinds and the tree of boxes over the triangles of a mesh whose vertices and triangles are set. */
frix_status fx_mesh_finish(frix_context *context, fx_geometry *mesh);

/* Convex hull of points as merged polyhedron; the file behind it is the only one that knows qhull.
 * FRIX_ERROR_UNSUPPORTED in a build without it. */
frix_status fx_hull_build(frix_context *context, const frix_vec3 *point, int32_t count, fx_polyhedron *out);
/* Index of the farthest vertex along d, climbing from `start` over neighbours when there are many. */
int32_t fx_polyhedron_support(const fx_polyhedron *p, frix_vec3 d, int32_t start);
/* From vertex, face_start, face_vertex: normals, offsets, edges, neighbours. Fails where faces do not close. */
frix_status fx_polyhedron_finish(frix_context *context, fx_polyhedron *p);
void fx_polyhedron_free(frix_context *context, fx_polyhedron *p);
/* Counter-clockwise convex polygon of points in the plane. */
frix_status fx_polygon_build(frix_context *context, const frix_vec3 *point, int32_t count, fx_polyhedron *out);
/* From corners and faces that were built before. Refused unless they are closed and convex. */
frix_status fx_polyhedron_restore(frix_context *context, const frix_vec3 *point, int32_t count, const fx_faces *faces,
                                  fx_polyhedron *out);
frix_status fx_polygon_restore(frix_context *context, const frix_vec3 *point, int32_t count, fx_polyhedron *out);

#endif
