/* Convex hulls by qhull (the only file that uses it), in canonical form: corners in the order of the given
 * points, every face starting at its smallest corner, faces sorted. So the result does not depend on how qhull computes
 * it.
 *
 * Facets whose centra are coplanar within 1e-9 of the size are merged: a box given as points, as triangles or as a
 * single-precision STL comes out with six faces. */
#include "base/sort.h"
#include "model/geometry.h"

#ifdef FRIX_HAVE_QHULL
#include <libqhull_r/qhull_ra.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is read from qhull before its memory goes. */
typedef struct raw_hull {
  int32_t face_count, corner_count, point_count;
  int32_t *start, *corner, *order;
} raw_hull;

static void raw_free(frix_context *context, raw_hull *raw) {
  fx_free(context, raw->start);
  fx_free(context, raw->corner);
  fx_free(context, raw->order);
}

/* The facets as loops of point numbers, counter-clockwise seen from outside. */
static frix_status read_facets(frix_context *context, qhT *qh, raw_hull *raw) {
  facetT *facet;
  vertexT *vertex, **vertexp;
  int32_t corner_room = 0, face = 0, corner = 0;
  FORALLfacets { corner_room += qh_setsize(qh, facet->vertices), face++; }
  raw->start = FX_NEW(context, int32_t, face + 1);
  raw->corner = FX_NEW(context, int32_t, corner_room);
  raw->order = FX_NEW(context, int32_t, 2 * (size_t)face);
  if (!raw->start || !raw->corner || !raw->order) return FRIX_ERROR_MEMORY;
  face = 0;
  FORALLfacets {
    setT *loop = qh_facet3vertex(qh, facet);
    raw->start[face++] = corner;
    FOREACHvertex_(loop) {
      if (corner < corner_room) raw->corner[corner++] = qh_pointid(qh, vertex->point);
    }
    qh_settempfree(qh, &loop);
  }
  raw->start[face] = corner;
  raw->face_count = face, raw->corner_count = corner;
  return FRIX_OK;
}

/* Corners met by fewer than three faces lie inside an edge or a face. Degenerate faces go with them. */
static frix_status drop_idle_corners(frix_context *context, raw_hull *raw) {
  int32_t *meets = FX_NEW(context, int32_t, raw->point_count);
  if (!meets) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < raw->corner_count; k++) meets[raw->corner[k]]++;
  int32_t kept = 0, faces = 0;
  for (int32_t f = 0, k = 0; f < raw->face_count; f++) {
    int32_t first = kept, end = raw->start[f + 1];
    raw->start[faces] = first;
    for (; k < end; k++)
      if (meets[raw->corner[k]] >= 3) raw->corner[kept++] = raw->corner[k];
    if (kept - first >= 3) {
      faces++;
    } else {
      kept = first;
    }
  }
  raw->start[faces] = kept;
  raw->face_count = faces, raw->corner_count = kept;
  fx_free(context, meets);
  return FRIX_OK;
}

static void rotate_face(int32_t *corner, int32_t count) {
  int32_t least = 0;
  for (int32_t k = 1; k < count; k++)
    if (corner[k] < corner[least]) least = k;
  for (; least > 0; least--) {
    int32_t first = corner[0];
    memmove(corner, corner + 1, (size_t)(count - 1) * sizeof *corner);
    corner[count - 1] = first;
  }
}

static int compare_faces(int32_t a, int32_t b, const void *user) {
  const raw_hull *raw = user;
  int32_t na = raw->start[a + 1] - raw->start[a], nb = raw->start[b + 1] - raw->start[b];
  for (int32_t k = 0; k < na && k < nb; k++) {
    int32_t x = raw->corner[raw->start[a] + k], y = raw->corner[raw->start[b] + k];
    if (x != y) return x < y ? -1 : 1;
  }
  return na < nb ? -1 : na > nb;
}

/* Canonical order, and corners renumbered to those in use. */
static frix_status canonical(frix_context *context, raw_hull *raw, const frix_vec3 *point, fx_polyhedron *out) {
  int32_t *number = FX_NEW(context, int32_t, raw->point_count);
  out->vertex = FX_NEW(context, frix_vec3, raw->corner_count);
  out->face_start = FX_NEW(context, int32_t, raw->face_count + 1);
  out->face_vertex = FX_NEW(context, int32_t, raw->corner_count);
  frix_status status = FRIX_ERROR_MEMORY;
  if (!number || !out->vertex || !out->face_start || !out->face_vertex) goto cleanup;
  for (int32_t k = 0; k < raw->corner_count; k++) number[raw->corner[k]] = 1;
  for (int32_t k = 0; k < raw->point_count; k++)
    if (number[k]) out->vertex[out->vertex_count] = point[k], number[k] = out->vertex_count++;
  for (int32_t f = 0; f < raw->face_count; f++) {
    rotate_face(raw->corner + raw->start[f], raw->start[f + 1] - raw->start[f]);
    raw->order[f] = f;
  }
  fx_sort_by(raw->order, raw->order + raw->face_count, (size_t)raw->face_count, compare_faces, raw);
  int32_t at = 0;
  for (int32_t f = 0; f < raw->face_count; f++) {
    int32_t from = raw->order[f];
    for (int32_t k = raw->start[from]; k < raw->start[from + 1]; k++) out->face_vertex[at++] = number[raw->corner[k]];
    out->face_start[f + 1] = at;
  }
  out->face_count = raw->face_count;
  status = fx_polyhedron_finish(context, out);
cleanup:
  fx_free(context, number);
  return status;
}

/* qh_facet3vertex promises an orientation; the volume's sign decides whether the promise was kept. */
static void orient(raw_hull *raw, const frix_vec3 *point) {
  frix_vec3 middle = {0.0, 0.0, 0.0};
  for (int32_t k = 0; k < raw->corner_count; k++)
    middle = fx_mad(middle, 1.0 / (double)raw->corner_count, point[raw->corner[k]]);
  for (int32_t f = 0; f < raw->face_count; f++) {
    int32_t *v = raw->corner + raw->start[f], count = raw->start[f + 1] - raw->start[f];
    frix_vec3 o = point[v[0]], sum = {0.0, 0.0, 0.0};
    for (int32_t k = 1; k + 1 < count; k++)
      sum = fx_add(sum, fx_cross(fx_sub(point[v[k]], o), fx_sub(point[v[k + 1]], o)));
    if (fx_dot(sum, fx_sub(o, middle)) >= 0.0) continue;
    for (int32_t i = 0, j = count - 1; i < j; i++, j--) {
      int32_t swap = v[i];
      v[i] = v[j], v[j] = swap;
    }
  }
}

/* The first line of what qhull had to say. */
static frix_status complain(frix_context *context, int code, char *text) {
  if (code == qh_ERRmem) return fx_fail(context, FRIX_ERROR_MEMORY, "hull: out of memory");
  if (code == qh_ERRsingular)
    return fx_fail(context, FRIX_ERROR_INPUT, "hull: its points are flat: a hull needs four that are not in one plane");
  if (text) text[strcspn(text, "\n")] = '\0';
  return fx_fail(context, FRIX_ERROR_INPUT, "hull: %s", text && *text ? text : "qhull failed");
}

frix_status fx_hull_build(frix_context *context, const frix_vec3 *point, int32_t count, fx_polyhedron *out) {
  memset(out, 0, sizeof *out);
  if (count < 4) return fx_fail(context, FRIX_ERROR_INPUT, "hull: %d points, needs at least 4", count);
  frix_status status = FRIX_ERROR_MEMORY;
  raw_hull raw = {.point_count = count};
  char *text = NULL;
  size_t text_size = 0;
  FILE *sink = open_memstream(&text, &text_size);
  double *copy = FX_NEW(context, double, 3 * (size_t)count), size = 0.0;
  qhT qhull, *qh = &qhull;
  bool started = false;
  if (!sink || !copy) goto cleanup;

  /* qhull wants its own copy, here moved to the first point and scaled to size 1 so that its tolerances fit */
  for (int32_t k = 0; k < count; k++) {
    frix_vec3 d = fx_sub(point[k], point[0]);
    size = fx_max(size, fx_max(fabs(d.x), fx_max(fabs(d.y), fabs(d.z))));
  }
  if (!(size > 0.0)) {
    status = fx_fail(context, FRIX_ERROR_INPUT, "hull: all its points are in one place");
    goto cleanup;
  }
  for (int32_t k = 0; k < count; k++) {
    frix_vec3 d = fx_scale(1.0 / size, fx_sub(point[k], point[0]));
    copy[3 * k] = d.x, copy[3 * k + 1] = d.y, copy[3 * k + 2] = d.z;
  }
  char command[] = "qhull Pp C1e-9";
  qh_zero(qh, sink);
  started = true;
  int code = qh_new_qhull(qh, 3, count, copy, False, command, NULL, sink);
  fflush(sink);
  status = code ? complain(context, code, text) : read_facets(context, qh, &raw);
  if (!status) status = drop_idle_corners(context, &raw);
  if (!status && raw.face_count < 4) status = fx_fail(context, FRIX_ERROR_INPUT, "hull: its points are nearly flat");
  if (!status) {
    orient(&raw, point);
    status = canonical(context, &raw, point, out);
  }

cleanup:
  if (started) {
    int left, bytes;
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &left, &bytes);
  }
  if (sink) fclose(sink);
  free(text);
  fx_free(context, copy);
  raw_free(context, &raw);
  if (status) fx_polyhedron_free(context, out);
  return status;
}

#else

frix_status fx_hull_build(frix_context *context, const frix_vec3 *point, int32_t count, fx_polyhedron *out) {
  (void)point, (void)count, (void)out;
  return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "hull: this build of frix has no qhull (package libqhull-dev)");
}

#endif
