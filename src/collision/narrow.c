/* The table of shape pairs with closed formulas. Other pairs of convex shapes use their support functions. */
#include "collision/narrow.h"

#include "collision/convex.h"
#include "collision/flat.h"
#include "collision/round.h"

enum {
  SPHERE = FRIX_SHAPE_SPHERE,
  CAPSULE = FRIX_SHAPE_CAPSULE,
  BOX = FRIX_SHAPE_BOX,
  CYLINDER = FRIX_SHAPE_CYLINDER,
  ELLIPSOID = FRIX_SHAPE_ELLIPSOID,
  PLANE = FRIX_SHAPE_PLANE,
  HULL = FRIX_SHAPE_HULL,
  MESH = FRIX_SHAPE_MESH,
  HEIGHTS = FRIX_SHAPE_HEIGHT_FIELD,
  DISC = FRIX_SHAPE_DISC,
  RECTANGLE = FRIX_SHAPE_RECTANGLE,
  ELLIPSE = FRIX_SHAPE_ELLIPSE,
  POLYGON = FRIX_SHAPE_POLYGON,
  HALF_PLANE = FRIX_SHAPE_HALF_PLANE,
  COUNT = FRIX_SHAPE_COUNT
};

/* Either order will do. */
static fx_narrow *const table[COUNT][COUNT] = {
    [SPHERE] = {[SPHERE] = fx_sphere_sphere,
                [CAPSULE] = fx_sphere_capsule,
                [BOX] = fx_sphere_box,
                [CYLINDER] = fx_sphere_cylinder,
                [ELLIPSOID] = fx_sphere_ellipsoid,
                [PLANE] = fx_sphere_plane,
                [HULL] = fx_sphere_hull,
                [MESH] = fx_narrow_mesh,
                [HEIGHTS] = fx_narrow_mesh},
    [CAPSULE] = {[PLANE] = fx_capsule_plane, [MESH] = fx_narrow_mesh, [HEIGHTS] = fx_narrow_mesh},
    [BOX] = {[BOX] = fx_narrow_poly,
             [PLANE] = fx_box_plane,
             [HULL] = fx_narrow_poly,
             [MESH] = fx_narrow_mesh,
             [HEIGHTS] = fx_narrow_mesh},
    [CYLINDER] = {[PLANE] = fx_cylinder_plane, [MESH] = fx_narrow_mesh, [HEIGHTS] = fx_narrow_mesh},
    [ELLIPSOID] = {[PLANE] = fx_ellipsoid_plane, [MESH] = fx_narrow_mesh, [HEIGHTS] = fx_narrow_mesh},
    [HULL] = {[PLANE] = fx_hull_plane, [HULL] = fx_narrow_poly, [MESH] = fx_narrow_mesh, [HEIGHTS] = fx_narrow_mesh},
    [DISC] = {[DISC] = fx_disc_disc,
              [RECTANGLE] = fx_disc_polygon,
              [ELLIPSE] = fx_disc_ellipse,
              [POLYGON] = fx_disc_polygon,
              [HALF_PLANE] = fx_disc_half_plane},
    [RECTANGLE] = {[RECTANGLE] = fx_polygon_polygon,
                   [ELLIPSE] = fx_flat_smooth,
                   [POLYGON] = fx_polygon_polygon,
                   [HALF_PLANE] = fx_polygon_half_plane},
    [ELLIPSE] = {[ELLIPSE] = fx_flat_smooth, [POLYGON] = fx_flat_smooth, [HALF_PLANE] = fx_ellipse_half_plane},
    [POLYGON] = {[POLYGON] = fx_polygon_polygon, [HALF_PLANE] = fx_polygon_half_plane},
};

fx_touch *fx_manifold_add(fx_manifold *m) {
  if (m->failed) return NULL;
  if (m->count == m->capacity) {
    int32_t wanted = m->capacity ? 2 * m->capacity : 64;
    fx_touch *grown = fx_realloc(m->context, m->touch, (size_t)m->count, (size_t)wanted, sizeof *grown);
    if (!grown) {
      m->failed = true;
      return NULL;
    }
    m->touch = grown;
    m->capacity = wanted;
  }
  m->touch[m->count].rim = fx_vec(0.0, 0.0, 0.0);
  return &m->touch[m->count++];
}

/* The same contact seen from the other side. */
static void turn_round(fx_touch *t) {
  frix_vec3 p = t->point_a;
  t->point_a = t->point_b, t->point_b = p;
  t->normal = fx_neg(t->normal);
  uint64_t kind_a = t->feature >> 62, kind_b = t->feature >> 60 & 3, a = t->feature >> 30 & 0x3fffffff,
           b = t->feature & 0x3fffffff;
  t->feature = FX_FEATURE(kind_b, b, kind_a, a);
}

static fx_narrow *any_convex(const fx_shape *a, const fx_shape *b) {
  const fx_shape_row *x = fx_shape_row_of(a->kind), *y = fx_shape_row_of(b->kind);
  if (!x->support || !y->support || x->info.flat != y->info.flat) return NULL;
  return x->info.flat ? fx_flat_smooth : fx_narrow_convex;
}

void fx_narrow_pair(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                    fx_manifold *out) {
  fx_narrow *named = table[a->kind][b->kind], *turned = table[b->kind][a->kind];
  if (!named && !turned) named = any_convex(a, b);
  out->turned = !named;
  out->pose[0] = named ? pose_a : pose_b, out->pose[1] = named ? pose_b : pose_a;
  if (named) {
    named(a, pose_a, b, pose_b, margin, out);
  } else if (turned) {
    int32_t first = out->count;
    turned(b, pose_b, a, pose_a, margin, out);
    for (int32_t k = first; k < out->count; k++) turn_round(&out->touch[k]);
  }
}
