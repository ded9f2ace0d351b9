/* The shape table: the functions of every shape, in the shape's own frame. */
#ifndef FX_MODEL_SHAPE_H
#define FX_MODEL_SHAPE_H

#include "model/geometry.h"

/* Mass, centre and inertia about the centre, for density 1. Flat shapes: area, centre, inertia.zz. */
typedef struct fx_mass {
  double mass;
  frix_vec3 center;
  frix_sym3 inertia;
} fx_mass;

typedef struct fx_shape_row {
  frix_shape_info info;
  /* Sizes make sense; the error text says what is wrong. */
  frix_status (*check)(frix_context *context, const frix_shape_config *config, const fx_geometry *geometry);
  /* Farthest point along a direction (any length, not zero); NULL where the shape is not convex and bounded. */
  frix_vec3 (*support)(const fx_shape *shape, frix_vec3 direction);
  /* Bounding box in the frame `pose` places the shape in. */
  void (*box)(const fx_shape *shape, frix_pose pose, frix_vec3 *low, frix_vec3 *high);
  fx_mass (*mass)(const fx_shape *shape); /* NULL where the shape has no volume */
} fx_shape_row;

const fx_shape_row *fx_shape_row_of(frix_shape_kind kind);
/* Radius about the shape's own origin. */
double fx_shape_bound(const fx_shape *shape);

/* ---- mass properties (model/shape_mass.c) ---- */
/* Exact, by integrals over the tetrahedra from the origin to the triangles of the faces (Tonon; Eberly). */
fx_mass fx_mass_polyhedron(const fx_polyhedron *p);
fx_mass fx_mass_triangles(const frix_vec3 *vertex, const int32_t *triangle, int32_t triangle_count);
fx_mass fx_mass_polygon(const frix_vec3 *vertex, int32_t count);
/* Of a whole body: masses placed by pose and added; inertia about the common centre. */
void fx_mass_add(fx_mass *sum, const fx_mass *part, double density, frix_pose pose, bool flat);

#endif
