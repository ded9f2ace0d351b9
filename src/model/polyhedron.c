/* Convex polyhedra and polygons: edges, neighbours, support points. */
#include "base/sort.h"
#include "model/geometry.h"

#include <string.h>

void fx_polyhedron_free(frix_context *context, fx_polyhedron *p) {
  fx_free(context, p->vertex);
  fx_free(context, p->face_start);
  fx_free(context, p->face_vertex);
  fx_free(context, p->face_edge);
  fx_free(context, p->face_normal);
  fx_free(context, p->face_offset);
  fx_free(context, p->edge);
  fx_free(context, p->neighbour_start);
  fx_free(context, p->neighbour);
  memset(p, 0, sizeof *p);
}

int32_t fx_polyhedron_support(const fx_polyhedron *p, frix_vec3 d, int32_t start) {
  int32_t best = start;
  double most = fx_dot(p->vertex[best], d);
  if (p->vertex_count <= 24 || !p->neighbour) {
    for (int32_t k = 0; k < p->vertex_count; k++) {
      double along = fx_dot(p->vertex[k], d);
      if (along > most) most = along, best = k;
    }
    return best;
  }
  /* A local maximum over the neighbours is a global one, by convexity. */
  for (int32_t from = -1; from != best;) {
    from = best;
    for (int32_t k = p->neighbour_start[from]; k < p->neighbour_start[from + 1]; k++) {
      double along = fx_dot(p->vertex[p->neighbour[k]], d);
      if (along > most) most = along, best = p->neighbour[k];
    }
  }
  return best;
}

/* Newell's normal, and the plane that all corners of the face lie in or below. */
static void face_planes(fx_polyhedron *p) {
  for (int32_t f = 0; f < p->face_count; f++) {
    const int32_t *v = p->face_vertex + p->face_start[f];
    int32_t count = p->face_start[f + 1] - p->face_start[f];
    frix_vec3 sum = {0.0, 0.0, 0.0}, o = p->vertex[v[0]];
    for (int32_t k = 1; k + 1 < count; k++)
      sum = fx_add(sum, fx_cross(fx_sub(p->vertex[v[k]], o), fx_sub(p->vertex[v[k + 1]], o)));
    p->face_normal[f] = fx_unit(sum);
    p->face_offset[f] = -INFINITY;
    for (int32_t k = 0; k < count; k++)
      p->face_offset[f] = fx_max(p->face_offset[f], fx_dot(p->face_normal[f], p->vertex[v[k]]));
  }
}

typedef struct corners {
  const int32_t *tail, *head;
} corners;

/* Half edges by their two ends, whatever the direction. */
static int compare_corners(int32_t a, int32_t b, const void *user) {
  const corners *c = user;
  int32_t a0 = c->tail[a] < c->head[a] ? c->tail[a] : c->head[a], a1 = c->tail[a] ^ c->head[a] ^ a0;
  int32_t b0 = c->tail[b] < c->head[b] ? c->tail[b] : c->head[b], b1 = c->tail[b] ^ c->head[b] ^ b0;
  if (a0 != b0) return a0 < b0 ? -1 : 1;
  return a1 < b1 ? -1 : a1 > b1;
}

/* Pairs of half edges become edges; work holds 5 lists of corner_count. */
static bool pair_edges(fx_polyhedron *p, int32_t corner_count, int32_t *work) {
  int32_t *tail = work, *head = work + corner_count, *face = work + 2 * corner_count, *order = work + 3 * corner_count;
  for (int32_t f = 0; f < p->face_count; f++) {
    int32_t first = p->face_start[f], count = p->face_start[f + 1] - first;
    for (int32_t k = 0; k < count; k++) {
      tail[first + k] = p->face_vertex[first + k];
      head[first + k] = p->face_vertex[first + (k + 1) % count];
      face[first + k] = f;
      order[first + k] = first + k;
    }
  }
  corners c = {tail, head};
  fx_sort_by(order, work + 4 * corner_count, (size_t)corner_count, compare_corners, &c);
  for (int32_t k = 0; k < corner_count; k += 2) {
    int32_t x = order[k], y = order[k + 1];
    if (tail[x] != head[y] || head[x] != tail[y]) return false;
    p->edge[k / 2] = (fx_edge){tail[x], head[x], face[x], face[y]};
    p->face_edge[x] = p->face_edge[y] = k / 2;
  }
  return true;
}

static void find_neighbours(fx_polyhedron *p) {
  for (int32_t e = 0; e < p->edge_count; e++) {
    p->neighbour_start[p->edge[e].tail + 1]++;
    p->neighbour_start[p->edge[e].head + 1]++;
  }
  for (int32_t v = 0; v < p->vertex_count; v++) p->neighbour_start[v + 1] += p->neighbour_start[v];
  /* fill from the front, then move the starts back by one */
  for (int32_t e = 0; e < p->edge_count; e++) {
    p->neighbour[p->neighbour_start[p->edge[e].tail]++] = p->edge[e].head;
    p->neighbour[p->neighbour_start[p->edge[e].head]++] = p->edge[e].tail;
  }
  for (int32_t v = p->vertex_count; v > 0; v--) p->neighbour_start[v] = p->neighbour_start[v - 1];
  p->neighbour_start[0] = 0;
}

frix_status fx_polyhedron_finish(frix_context *context, fx_polyhedron *p) {
  int32_t corner_count = p->face_start[p->face_count];
  if (corner_count % 2) return fx_fail(context, FRIX_ERROR_INPUT, "hull: its faces do not close");
  p->edge_count = corner_count / 2;
  p->face_normal = FX_NEW(context, frix_vec3, p->face_count);
  p->face_offset = FX_NEW(context, double, p->face_count);
  p->face_edge = FX_NEW(context, int32_t, corner_count);
  p->edge = FX_NEW(context, fx_edge, p->edge_count);
  p->neighbour_start = FX_NEW(context, int32_t, p->vertex_count + 1);
  p->neighbour = FX_NEW(context, int32_t, corner_count);
  int32_t *work = FX_NEW(context, int32_t, 5 * (size_t)corner_count);
  frix_status status = FRIX_OK;
  if (!p->face_normal || !p->face_offset || !p->face_edge || !p->edge || !p->neighbour_start || !p->neighbour ||
      !work) {
    status = FRIX_ERROR_MEMORY;
  } else if (!pair_edges(p, corner_count, work)) {
    status = fx_fail(context, FRIX_ERROR_INPUT, "hull: its faces do not close");
  } else {
    face_planes(p);
    find_neighbours(p);
  }
  fx_free(context, work);
  return status;
}

/* ---- polygons ---- */

static int compare_xy(int32_t a, int32_t b, const void *user) {
  const frix_vec3 *v = user;
  if (v[a].x != v[b].x) return v[a].x < v[b].x ? -1 : 1;
  return v[a].y < v[b].y ? -1 : v[a].y > v[b].y;
}

static double turn(frix_vec3 a, frix_vec3 b, frix_vec3 c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* Andrew's monotone chain; corners that turn by less than `slack` are dropped. Returns the number of corners. */
static int32_t chain(const frix_vec3 *v, const int32_t *order, int32_t count, double slack, int32_t *out) {
  int32_t n = 0;
  for (int pass = 0; pass < 2; pass++) {
    int32_t base = pass ? n - 1 : 0; /* the chain of this pass begins here */
    for (int32_t k = pass; k < count; k++) {
      int32_t next = order[pass ? count - 1 - k : k];
      while (n - base >= 2 && turn(v[out[n - 2]], v[out[n - 1]], v[next]) <= slack) n--;
      out[n++] = next;
    }
  }
  return n - 1; /* the first corner came back as the last */
}

frix_status fx_polygon_build(frix_context *context, const frix_vec3 *point, int32_t count, fx_polyhedron *out) {
  memset(out, 0, sizeof *out);
  int32_t *order = FX_NEW(context, int32_t, 4 * (size_t)count + 4), *corner = order ? order + count : NULL;
  if (!order) return FRIX_ERROR_MEMORY;
  frix_status status = FRIX_OK;
  double size = 0.0;
  for (int32_t k = 0; k < count; k++) {
    order[k] = k;
    size = fx_max(size, fx_max(fabs(point[k].x - point[0].x), fabs(point[k].y - point[0].y)));
  }
  fx_sort_by(order, order + 3 * count, (size_t)count, compare_xy, point);
  int32_t n = count >= 3 ? chain(point, order, count, 1e-12 * size * size, corner) : 0;
  if (n < 3) {
    status = fx_fail(context, FRIX_ERROR_INPUT, "polygon: its %d points span no area", count);
  } else if (!(out->vertex = FX_NEW(context, frix_vec3, n)) || !(out->edge = FX_NEW(context, fx_edge, n))) {
    status = FRIX_ERROR_MEMORY;
  } else {
    out->vertex_count = out->edge_count = n;
    for (int32_t k = 0; k < n; k++) {
      out->vertex[k] = fx_vec(point[corner[k]].x, point[corner[k]].y, 0.0);
      out->edge[k] = (fx_edge){k, (k + 1) % n, k, k};
    }
  }
  if (status) fx_polyhedron_free(context, out);
  fx_free(context, order);
  return status;
}
