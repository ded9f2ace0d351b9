/* Geometries: checked copies of the given points, with the data that collision needs. */
#include "model/geometry.h"
#include "base/abi.h"

#include <string.h>

enum { MOST_POINTS = 1 << 29 };

static frix_geometry_config default_geometry(void) {
  frix_geometry_config config = {0};
  config.size = sizeof config;
  return config;
}

void frix_geometry_init(frix_geometry_config *out, size_t size) {
  frix_geometry_config all = default_geometry();
  fx_give_struct(out, size, &all, sizeof all);
}

static frix_status check_points(frix_context *context, const frix_geometry_config *c) {
  if (c->point_count < 1 || c->point_count > MOST_POINTS || !c->point)
    return fx_fail(context, FRIX_ERROR_INPUT, "geometry '%s': has no points", c->name ? c->name : "");
  for (int32_t k = 0; k < c->point_count; k++)
    if (!fx_finite(c->point[k]))
      return fx_fail(context, FRIX_ERROR_INPUT, "geometry '%s': point %d is not finite", c->name ? c->name : "", k);
  return FRIX_OK;
}

static frix_status read_mesh(frix_context *context, const frix_geometry_config *c, fx_geometry *g) {
  if (c->triangle_count < 1 || c->triangle_count > MOST_POINTS || !c->triangle)
    return fx_fail(context, FRIX_ERROR_INPUT, "mesh '%s': has no triangles", c->name ? c->name : "");
  for (int64_t k = 0; k < 3 * (int64_t)c->triangle_count; k++)
    if (c->triangle[k] < 0 || c->triangle[k] >= c->point_count)
      return fx_fail(context, FRIX_ERROR_INPUT, "mesh '%s': triangle %d names point %d of %d", c->name ? c->name : "",
                     (int)(k / 3), c->triangle[k], c->point_count);
  g->vertex_count = c->point_count, g->triangle_count = c->triangle_count;
  g->vertex = FX_NEW(context, frix_vec3, c->point_count);
  g->triangle = FX_NEW(context, int32_t, 3 * (size_t)c->triangle_count);
  if (!g->vertex || !g->triangle) return FRIX_ERROR_MEMORY;
  memcpy(g->vertex, c->point, (size_t)c->point_count * sizeof *g->vertex);
  memcpy(g->triangle, c->triangle, 3 * (size_t)c->triangle_count * sizeof *g->triangle);
  return fx_mesh_finish(context, g);
}

static frix_status check_heights(frix_context *context, const frix_geometry_config *c) {
  const char *name = c->name ? c->name : "";
  if (c->row_count < 2 || c->column_count < 2 || (int64_t)c->row_count * c->column_count > MOST_POINTS || !c->height)
    return fx_fail(context, FRIX_ERROR_INPUT, "height field '%s': needs at least 2 x 2 heights", name);
  if (!(c->width > 0.0) || !(c->depth > 0.0) || !isfinite(c->width) || !isfinite(c->depth))
    return fx_fail(context, FRIX_ERROR_INPUT, "height field '%s': width %g and depth %g must be positive", name,
                   c->width, c->depth);
  for (int64_t k = 0; k < (int64_t)c->row_count * c->column_count; k++)
    if (!isfinite(c->height[k]))
      return fx_fail(context, FRIX_ERROR_INPUT, "height field '%s': height %d is not finite", name, (int)k);
  return FRIX_OK;
}

/* Two triangles per cell, with the diagonal from its lowest x, y to its highest. */
static frix_status read_heights(frix_context *context, const frix_geometry_config *c, fx_geometry *g) {
  frix_status status = check_heights(context, c);
  if (status) return status;
  int32_t rows = c->row_count, columns = c->column_count;
  g->row_count = rows, g->column_count = columns;
  g->width = c->width, g->depth = c->depth;
  g->vertex_count = rows * columns, g->triangle_count = 2 * (rows - 1) * (columns - 1);
  g->vertex = FX_NEW(context, frix_vec3, g->vertex_count);
  g->triangle = FX_NEW(context, int32_t, 3 * (size_t)g->triangle_count);
  g->height = FX_NEW(context, double, g->vertex_count);
  if (!g->vertex || !g->triangle || !g->height) return FRIX_ERROR_MEMORY;
  memcpy(g->height, c->height, (size_t)g->vertex_count * sizeof *g->height);
  for (int32_t i = 0; i < rows; i++)
    for (int32_t j = 0; j < columns; j++)
      g->vertex[i * columns + j] = fx_vec(c->width * ((double)j / (columns - 1) - 0.5),
                                          c->depth * ((double)i / (rows - 1) - 0.5), c->height[i * columns + j]);
  int32_t *t = g->triangle;
  for (int32_t i = 0; i + 1 < rows; i++)
    for (int32_t j = 0; j + 1 < columns; j++, t += 6) {
      int32_t a = i * columns + j, b = a + 1, d = a + columns, e = d + 1;
      t[0] = a, t[1] = b, t[2] = e, t[3] = a, t[4] = e, t[5] = d;
    }
  return fx_mesh_finish(context, g);
}

/* Fans over the faces, for those who draw. */
static frix_status fan_faces(frix_context *context, fx_geometry *g) {
  const fx_polyhedron *p = &g->hull;
  int32_t most = p->face_start[p->face_count];
  g->triangle = FX_NEW(context, int32_t, 3 * (size_t)most);
  if (!g->triangle) return FRIX_ERROR_MEMORY;
  for (int32_t f = 0; f < p->face_count; f++)
    for (int32_t k = p->face_start[f] + 1; k + 1 < p->face_start[f + 1]; k++) {
      int32_t *t = g->triangle + 3 * g->triangle_count++;
      t[0] = p->face_vertex[p->face_start[f]], t[1] = p->face_vertex[k], t[2] = p->face_vertex[k + 1];
    }
  return FRIX_OK;
}

/* Faces as a file kept them; what they must be is checked. */
static frix_status restore_convex(frix_context *context, const frix_geometry_config *c, const fx_faces *faces,
                                  fx_geometry *g) {
  frix_status status = check_points(context, c);
  if (status) return status;
  if (c->kind == FRIX_GEOMETRY_POLYGON) return fx_polygon_restore(context, c->point, c->point_count, &g->hull);
  status = fx_polyhedron_restore(context, c->point, c->point_count, faces, &g->hull);
  return status ? status : fan_faces(context, g);
}

static frix_status read_hull(frix_context *context, const frix_geometry_config *c, fx_geometry *g) {
  frix_status status = fx_hull_build(context, c->point, c->point_count, &g->hull);
  return status ? status : fan_faces(context, g);
}

static void find_bounds(fx_geometry *g) {
  bool convex = g->kind == FRIX_GEOMETRY_HULL || g->kind == FRIX_GEOMETRY_POLYGON;
  const frix_vec3 *v = convex ? g->hull.vertex : g->vertex;
  int32_t count = convex ? g->hull.vertex_count : g->vertex_count;
  g->low = g->high = v[0];
  for (int32_t k = 0; k < count; k++) {
    g->low = fx_vec(fx_min(g->low.x, v[k].x), fx_min(g->low.y, v[k].y), fx_min(g->low.z, v[k].z));
    g->high = fx_vec(fx_max(g->high.x, v[k].x), fx_max(g->high.y, v[k].y), fx_max(g->high.z, v[k].z));
    g->bound = fx_max(g->bound, fx_norm(v[k]));
  }
}

static frix_status read_kind(frix_context *context, const frix_geometry_config *c, fx_geometry *g) {
  frix_status status = c->kind == FRIX_GEOMETRY_HEIGHT_FIELD ? FRIX_OK : check_points(context, c);
  if (status) return status;
  switch (c->kind) {
    case FRIX_GEOMETRY_HULL: return read_hull(context, c, g);
    case FRIX_GEOMETRY_POLYGON: return fx_polygon_build(context, c->point, c->point_count, &g->hull);
    case FRIX_GEOMETRY_MESH: return read_mesh(context, c, g);
    case FRIX_GEOMETRY_HEIGHT_FIELD: return read_heights(context, c, g);
  }
  return fx_fail(context, FRIX_ERROR_INPUT, "geometry: unknown kind %d", (int)c->kind);
}

frix_status fx_geometry_create(frix_context *context, const frix_geometry_config *config, fx_geometry **out) {
  return fx_geometry_restore(context, config, NULL, out);
}

frix_status fx_geometry_restore(frix_context *context, const frix_geometry_config *config, const fx_faces *faces,
                                fx_geometry **out) {
  fx_geometry *g = FX_NEW(context, fx_geometry, 1);
  if (!g) return FRIX_ERROR_MEMORY;
  atomic_init(&g->reference_count, 1);
  g->kind = config->kind;
  g->user = config->user;
  frix_status status = faces ? restore_convex(context, config, faces, g) : read_kind(context, config, g);
  if (!status && config->name && !(g->name = fx_copy_text(context, config->name))) status = FRIX_ERROR_MEMORY;
  if (status) {
    fx_geometry_release(context, g);
    return status;
  }
  find_bounds(g);
  *out = g;
  return FRIX_OK;
}

void fx_geometry_release(frix_context *context, fx_geometry *g) {
  if (!g || atomic_fetch_sub(&g->reference_count, 1) > 1) return;
  fx_polyhedron_free(context, &g->hull);
  fx_free(context, g->vertex);
  fx_free(context, g->triangle);
  fx_free(context, g->neighbour);
  fx_free(context, g->normal);
  fx_free(context, g->convex_edge);
  fx_free(context, g->weld);
  fx_free(context, g->around_start);
  fx_free(context, g->around);
  fx_free(context, g->order);
  fx_free(context, g->node);
  fx_free(context, g->height);
  if (g->soft_release) g->soft_release(g->soft);
  fx_free(context, g->name);
  fx_free(context, g);
}
