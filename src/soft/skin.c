/* Closed surfaces of triangles: welding, orientation, open edges, self-intersection.
 *
 * Two triangles cross where an edge of one passes through the inside of the other (signs of five volumes). Pairs are
 * found by a sweep over boxes along the longest side. */
#include "base/sort.h"
#include "soft/tets.h"

#include <string.h>

#define FAIL(...) return fx_fail(arena->context, FRIX_ERROR_FORMAT, __VA_ARGS__)

/* ---- welding ---- */

static int compare_places(int32_t a, int32_t b, const void *user) {
  const frix_vec3 *v = user, p = v[a], q = v[b];
  if (p.x != q.x) return p.x < q.x ? -1 : 1;
  if (p.y != q.y) return p.y < q.y ? -1 : 1;
  if (p.z != q.z) return p.z < q.z ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* Vertices that triangles use, each place once; triangles without three different ones go. */
static frix_status weld(fx_arena *arena, fx_skin *s) {
  int32_t n = s->vertex_count, kept = 0, triangles = 0;
  int32_t *order = FX_TAKE_RAW(arena, int32_t, n), *scratch = FX_TAKE_RAW(arena, int32_t, n);
  int32_t *number = FX_TAKE_RAW(arena, int32_t, n);
  frix_vec3 *vertex = FX_TAKE_RAW(arena, frix_vec3, n);
  bool *used = FX_TAKE(arena, bool, n);
  if (!order || !scratch || !number || !vertex || !used) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < 3 * s->triangle_count; k++) used[s->triangle[k]] = true;
  for (int32_t k = 0; k < n; k++) order[k] = k;
  fx_sort_by(order, scratch, (size_t)n, compare_places, s->vertex);
  for (int32_t k = 0; k < n; k++) {
    int32_t v = order[k];
    if (!used[v]) continue;
    frix_vec3 p = s->vertex[v], *last = kept ? &vertex[kept - 1] : NULL;
    if (!last || p.x != last->x || p.y != last->y || p.z != last->z) vertex[kept++] = p;
    number[v] = kept - 1;
  }
  for (int32_t k = 0; k < s->triangle_count; k++) {
    int32_t *t = s->triangle + 3 * (size_t)k;
    int32_t a = number[t[0]], b = number[t[1]], c = number[t[2]];
    if (a == b || b == c || c == a) continue;
    t = s->triangle + 3 * (size_t)triangles++;
    t[0] = a, t[1] = b, t[2] = c;
  }
  s->vertex = vertex, s->vertex_count = kept, s->triangle_count = triangles;
  return FRIX_OK;
}

/* ---- edges ---- */

static void half_edge(const fx_skin *s, int32_t k, int32_t *from, int32_t *to) {
  const int32_t *t = s->triangle + 3 * (size_t)(k / 3);
  *from = t[k % 3], *to = t[(k + 1) % 3];
}

static int compare_edges(int32_t a, int32_t b, const void *user) {
  int32_t p, q, r, s;
  half_edge(user, a, &p, &q);
  half_edge(user, b, &r, &s);
  int32_t p0 = p < q ? p : q, p1 = p < q ? q : p, r0 = r < s ? r : s, r1 = r < s ? s : r;
  if (p0 != r0) return p0 < r0 ? -1 : 1;
  if (p1 != r1) return p1 < r1 ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* Every edge lies between two triangles that run along it in opposite directions. */
static frix_status check_edges(fx_arena *arena, const char *name, const fx_skin *s) {
  int32_t count = 3 * s->triangle_count;
  int32_t *order = FX_TAKE_RAW(arena, int32_t, count), *scratch = FX_TAKE_RAW(arena, int32_t, count);
  if (!order || !scratch) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++) order[k] = k;
  fx_sort_by(order, scratch, (size_t)count, compare_edges, s);
  for (int32_t k = 0, end; k < count; k = end) {
    int32_t from, to, a, b, along = 0;
    half_edge(s, order[k], &from, &to);
    for (end = k; end < count; end++) {
      half_edge(s, order[end], &a, &b);
      if (!((a == from && b == to) || (a == to && b == from))) break;
      along += a == from ? 1 : -1;
    }
    frix_vec3 p = s->vertex[from], q = s->vertex[to];
    if (end - k == 1)
      FAIL("%s: the surface is open at the edge from (%g %g %g) to (%g %g %g)", name, p.x, p.y, p.z, q.x, q.y, q.z);
    if (along)
      FAIL("%s: the triangles at the edge from (%g %g %g) to (%g %g %g) are turned against each other", name, p.x, p.y,
           p.z, q.x, q.y, q.z);
  }
  return FRIX_OK;
}

static double skin_volume(const fx_skin *s) {
  double sum = 0.0;
  frix_vec3 o = s->vertex[0];
  for (int32_t k = 0; k < s->triangle_count; k++) {
    const int32_t *t = s->triangle + 3 * (size_t)k;
    sum -= fx_volume6(s->vertex[t[0]], s->vertex[t[1]], s->vertex[t[2]], o) / 6.0;
  }
  return sum;
}

/* ---- crossings ---- */

typedef struct sweep {
  const fx_skin *s;
  const double *low; /* of each triangle along the axis */
} sweep;

static int compare_lows(int32_t a, int32_t b, const void *user) {
  const sweep *w = user;
  if (w->low[a] != w->low[b]) return w->low[a] < w->low[b] ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* Whether the segment passes through the inside of the triangle. */
static bool pierces(frix_vec3 p, frix_vec3 q, frix_vec3 a, frix_vec3 b, frix_vec3 c) {
  double over = fx_volume6(a, b, c, p), under = fx_volume6(a, b, c, q);
  if (!((over > 0.0 && under < 0.0) || (over < 0.0 && under > 0.0))) return false;
  double u = fx_volume6(p, q, a, b), v = fx_volume6(p, q, b, c), w = fx_volume6(p, q, c, a);
  return (u > 0.0 && v > 0.0 && w > 0.0) || (u < 0.0 && v < 0.0 && w < 0.0);
}

static bool has_corner(const int32_t t[3], int32_t v) { return t[0] == v || t[1] == v || t[2] == v; }

static bool edges_pierce(const fx_skin *s, const int32_t *t, const int32_t *o) {
  const frix_vec3 *v = s->vertex;
  for (int k = 0; k < 3; k++) {
    int32_t p = t[k], q = t[(k + 1) % 3];
    if (!has_corner(o, p) && !has_corner(o, q) && pierces(v[p], v[q], v[o[0]], v[o[1]], v[o[2]])) return true;
  }
  return false;
}

static bool cross(const fx_skin *s, int32_t a, int32_t b) {
  const int32_t *t = s->triangle + 3 * (size_t)a, *o = s->triangle + 3 * (size_t)b;
  return edges_pierce(s, t, o) || edges_pierce(s, o, t);
}

typedef struct box {
  frix_vec3 low, high;
} box;

static box box_of(const fx_skin *s, int32_t k) {
  const int32_t *t = s->triangle + 3 * (size_t)k;
  box b = {s->vertex[t[0]], s->vertex[t[0]]};
  for (int c = 1; c < 3; c++) {
    frix_vec3 p = s->vertex[t[c]];
    b.low = fx_vec(fx_min(b.low.x, p.x), fx_min(b.low.y, p.y), fx_min(b.low.z, p.z));
    b.high = fx_vec(fx_max(b.high.x, p.x), fx_max(b.high.y, p.y), fx_max(b.high.z, p.z));
  }
  return b;
}

static bool meet(const box *a, const box *b) {
  return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
         a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static int longest_axis(const box *list, int32_t count) {
  box all = list[0];
  for (int32_t k = 1; k < count; k++) {
    frix_vec3 l = list[k].low, h = list[k].high;
    all.low = fx_vec(fx_min(all.low.x, l.x), fx_min(all.low.y, l.y), fx_min(all.low.z, l.z));
    all.high = fx_vec(fx_max(all.high.x, h.x), fx_max(all.high.y, h.y), fx_max(all.high.z, h.z));
  }
  frix_vec3 side = fx_sub(all.high, all.low);
  return side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
}

frix_status fx_skin_crossing(fx_arena *arena, const fx_skin *s, int32_t pair[2]) {
  int32_t n = s->triangle_count;
  pair[0] = pair[1] = -1;
  box *list = FX_TAKE_RAW(arena, box, n);
  double *low = FX_TAKE_RAW(arena, double, n);
  int32_t *order = FX_TAKE_RAW(arena, int32_t, n), *scratch = FX_TAKE_RAW(arena, int32_t, n);
  if (!list || !low || !order || !scratch) return FRIX_ERROR_MEMORY;
  if (!n) return FRIX_OK;
  for (int32_t k = 0; k < n; k++) list[k] = box_of(s, k), order[k] = k;
  int axis = longest_axis(list, n);
  for (int32_t k = 0; k < n; k++) low[k] = fx_at(list[k].low, axis);
  sweep w = {s, low};
  fx_sort_by(order, scratch, (size_t)n, compare_lows, &w);
  for (int32_t k = 0; k < n; k++) {
    int32_t a = order[k];
    double high = fx_at(list[a].high, axis);
    for (int32_t m = k + 1; m < n && low[order[m]] <= high; m++) {
      int32_t b = order[m];
      if (!meet(&list[a], &list[b]) || !cross(s, a, b)) continue;
      pair[0] = a, pair[1] = b;
      return FRIX_OK;
    }
  }
  return FRIX_OK;
}

frix_status fx_skin_check(fx_arena *arena, const char *name, fx_skin *s) {
  frix_status status = weld(arena, s);
  if (status) return status;
  if (s->triangle_count < 4) FAIL("%s: %d triangles enclose nothing", name, (int)s->triangle_count);
  status = check_edges(arena, name, s);
  int32_t pair[2] = {-1, -1};
  if (!status) status = fx_skin_crossing(arena, s, pair);
  if (status) return status;
  if (pair[0] >= 0) {
    frix_vec3 p = s->vertex[s->triangle[3 * (size_t)pair[0]]];
    FAIL("%s: the surface intersects itself: triangle %d, at (%g %g %g), and triangle %d", name, (int)pair[0], p.x, p.y,
         p.z, (int)pair[1]);
  }
  double volume = skin_volume(s);
  if (!(fabs(volume) > 0.0)) FAIL("%s: the surface encloses no volume", name);
  for (int32_t k = 0; volume < 0.0 && k < s->triangle_count; k++) {
    int32_t *t = s->triangle + 3 * (size_t)k, kept = t[1];
    t[1] = t[2], t[2] = kept;
  }
  return FRIX_OK;
}
