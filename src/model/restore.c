/* Convex geometries from stored corners and faces (in a file): the same bits, without qhull.
 *
 * A closed surface that is convex across every edge and has Euler's V - E + F = 2 is the boundary of a convex body, so
 * checking it takes linear time. */
#include "model/geometry.h"

#include <string.h>

#define FAIL(...) return fx_fail(context, FRIX_ERROR_INPUT, __VA_ARGS__)

static frix_status check_faces(frix_context *context, int32_t count, const fx_faces *faces) {
  if (count < 4 || faces->count < 4 || faces->start[0] != 0) FAIL("hull: too few corners or faces");
  for (int32_t f = 0; f < faces->count; f++) {
    if (faces->start[f + 1] < faces->start[f] || faces->start[f + 1] - faces->start[f] < 3)
      FAIL("hull: face %d has no three corners", f);
    for (int32_t k = faces->start[f]; k < faces->start[f + 1]; k++)
      if (faces->vertex[k] < 0 || faces->vertex[k] >= count) FAIL("hull: face %d names corner %d", f, faces->vertex[k]);
  }
  return FRIX_OK;
}

static frix_status check_convex(frix_context *context, const fx_polyhedron *p) {
  if ((int64_t)p->vertex_count - p->edge_count + p->face_count != 2) FAIL("hull: its faces do not close");
  double size = 0.0;
  for (int32_t k = 0; k < p->vertex_count; k++) {
    if (p->neighbour_start[k + 1] - p->neighbour_start[k] < 3) FAIL("hull: corner %d meets too few faces", k);
    size = fx_max(size, fx_norm(fx_sub(p->vertex[k], p->vertex[0])));
  }
  for (int32_t e = 0; e < p->edge_count; e++) {
    int32_t left = p->edge[e].left, right = p->edge[e].right;
    for (int32_t k = p->face_start[right]; k < p->face_start[right + 1]; k++)
      if (!(fx_dot(p->face_normal[left], p->vertex[p->face_vertex[k]]) <= p->face_offset[left] + 1e-6 * size))
        FAIL("hull: is not convex at edge %d", e);
  }
  return FRIX_OK;
}

frix_status fx_polyhedron_restore(frix_context *context, const frix_vec3 *point, int32_t count, const fx_faces *faces,
                                  fx_polyhedron *out) {
  memset(out, 0, sizeof *out);
  frix_status status = check_faces(context, count, faces);
  if (status) return status;
  int32_t corner_count = faces->start[faces->count];
  out->vertex_count = count, out->face_count = faces->count;
  out->vertex = FX_NEW(context, frix_vec3, count);
  out->face_start = FX_NEW(context, int32_t, (size_t)faces->count + 1);
  out->face_vertex = FX_NEW(context, int32_t, corner_count);
  status = FRIX_ERROR_MEMORY;
  if (out->vertex && out->face_start && out->face_vertex) {
    memcpy(out->vertex, point, (size_t)count * sizeof *point);
    memcpy(out->face_start, faces->start, ((size_t)faces->count + 1) * sizeof *faces->start);
    memcpy(out->face_vertex, faces->vertex, (size_t)corner_count * sizeof *faces->vertex);
    status = fx_polyhedron_finish(context, out);
    if (!status) status = check_convex(context, out);
  }
  if (status) fx_polyhedron_free(context, out);
  return status;
}

/* Corners come from the lowest x (then y) along the lower side to the highest and back along the upper one, always
 * turning left: such a polygon is convex. */
static bool is_chain(const frix_vec3 *v, int32_t count) {
  bool back = false;
  double size = 0.0;
  for (int32_t k = 0; k < count; k++) size = fx_max(size, fx_max(fabs(v[k].x - v[0].x), fabs(v[k].y - v[0].y)));
  for (int32_t k = 0; k < count; k++) {
    frix_vec3 a = v[k], b = v[(k + 1) % count], c = v[(k + 2) % count];
    bool rises = a.x < b.x || (a.x == b.x && a.y < b.y);
    if (rises && back) return false;
    back = !rises;
    if (!((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > -1e-12 * size * size) || a.z != 0.0) return false;
  }
  return count >= 3;
}

frix_status fx_polygon_restore(frix_context *context, const frix_vec3 *point, int32_t count, fx_polyhedron *out) {
  memset(out, 0, sizeof *out);
  if (!is_chain(point, count)) FAIL("polygon: its corners are not in convex order");
  out->vertex = FX_NEW(context, frix_vec3, count);
  out->edge = FX_NEW(context, fx_edge, count);
  if (!out->vertex || !out->edge) {
    fx_polyhedron_free(context, out);
    return FRIX_ERROR_MEMORY;
  }
  out->vertex_count = out->edge_count = count;
  memcpy(out->vertex, point, (size_t)count * sizeof *point);
  for (int32_t k = 0; k < count; k++) out->edge[k] = (fx_edge){k, (k + 1) % count, k, k};
  return FRIX_OK;
}
