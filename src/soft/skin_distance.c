/* Signed distance to a closed surface of triangles: the nearest point by a tree of boxes, the sign by the
 * angle-weighted normal of the feature it lies on (Baerentzen and Aanaes, 2005), which is right wherever the surface is
 * closed and does not cross itself. */
#include "base/sort.h"
#include "base/trig.h"
#include "soft/centers.h"
#include "soft/tets.h"

enum { LEAF = 4, DEEPEST = 64 };

typedef struct node {
  frix_vec3 low, high;
  int32_t first, count; /* leaf: triangles in order; else count is 0 and the children stand at first, first + 1 */
} node;

struct fx_distance {
  const fx_skin *s;
  int32_t *order;
  node *node;
  int32_t node_count;
  frix_vec3 *face;   /* unit normals */
  frix_vec3 *edge;   /* sums of the two normals, of the edge from corner k on */
  frix_vec3 *corner; /* angle-weighted, of each vertex */
};

/* ---- the tree ---- */

typedef struct maker {
  fx_distance *d;
  int32_t *scratch;
  const frix_vec3 *center;
} maker;

static void bound(const fx_distance *d, node *n, int32_t first, int32_t count) {
  const fx_skin *s = d->s;
  n->low = n->high = s->vertex[s->triangle[3 * (size_t)d->order[first]]];
  for (int32_t k = first; k < first + count; k++) {
    for (int c = 0; c < 3; c++) {
      frix_vec3 p = s->vertex[s->triangle[3 * (size_t)d->order[k] + c]];
      n->low = fx_vec(fx_min(n->low.x, p.x), fx_min(n->low.y, p.y), fx_min(n->low.z, p.z));
      n->high = fx_vec(fx_max(n->high.x, p.x), fx_max(n->high.y, p.y), fx_max(n->high.z, p.z));
    }
  }
}

static void split(maker *m, int32_t at, int32_t first, int32_t count) {
  fx_distance *d = m->d;
  bound(d, &d->node[at], first, count);
  if (count <= LEAF) {
    d->node[at].first = first, d->node[at].count = count;
    return;
  }
  frix_vec3 side = fx_sub(d->node[at].high, d->node[at].low);
  fx_sort_centers(m->center, fx_longest_axis(side), d->order + first, m->scratch, (size_t)count);
  int32_t child = d->node_count;
  d->node_count += 2;
  d->node[at].first = child, d->node[at].count = 0;
  split(m, child, first, count / 2);
  split(m, child + 1, first + count / 2, count - count / 2);
}

/* ---- normals of faces, edges and vertices ---- */

static frix_vec3 corner_at(const fx_skin *s, int32_t triangle, int k) {
  return s->vertex[s->triangle[3 * (size_t)triangle + k % 3]];
}

static void face_normals(fx_distance *d) {
  const fx_skin *s = d->s;
  for (int32_t t = 0; t < s->triangle_count; t++) {
    frix_vec3 a = corner_at(s, t, 0), b = corner_at(s, t, 1), c = corner_at(s, t, 2);
    d->face[t] = fx_unit_or(fx_cross(fx_sub(b, a), fx_sub(c, a)), fx_vec(0.0, 0.0, 0.0));
    for (int k = 0; k < 3; k++) {
      frix_vec3 p = fx_sub(corner_at(s, t, k + 1), corner_at(s, t, k));
      frix_vec3 q = fx_sub(corner_at(s, t, k + 2), corner_at(s, t, k));
      double angle = fx_atan2(fx_norm(fx_cross(p, q)), fx_dot(p, q));
      int32_t v = s->triangle[3 * (size_t)t + k];
      d->corner[v] = fx_mad(d->corner[v], angle, d->face[t]);
    }
  }
}

static void ends(const fx_skin *s, int32_t k, int32_t *low, int32_t *high) {
  int32_t a = s->triangle[3 * (size_t)(k / 3) + k % 3], b = s->triangle[3 * (size_t)(k / 3) + (k + 1) % 3];
  *low = a < b ? a : b, *high = a < b ? b : a;
}

static int compare_edges(int32_t a, int32_t b, const void *user) {
  int32_t p, q, r, s;
  ends(user, a, &p, &q);
  ends(user, b, &r, &s);
  if (p != r) return p < r ? -1 : 1;
  if (q != s) return q < s ? -1 : 1;
  return a < b ? -1 : a > b;
}

static void edge_normals(fx_distance *d, int32_t *order, int32_t *scratch) {
  const fx_skin *s = d->s;
  int32_t count = 3 * s->triangle_count;
  for (int32_t k = 0; k < count; k++) order[k] = k;
  fx_sort_by(order, scratch, (size_t)count, compare_edges, s);
  for (int32_t k = 0, end; k < count; k = end) {
    int32_t low, high, l, h;
    ends(s, order[k], &low, &high);
    frix_vec3 sum = {0.0, 0.0, 0.0};
    for (end = k; end < count; end++) {
      ends(s, order[end], &l, &h);
      if (l != low || h != high) break;
      sum = fx_add(sum, d->face[order[end] / 3]);
    }
    for (int32_t m = k; m < end; m++) d->edge[order[m]] = sum;
  }
}

frix_status fx_distance_create(fx_arena *arena, const fx_skin *s, fx_distance **out) {
  int32_t n = s->triangle_count;
  fx_distance *d = FX_TAKE(arena, fx_distance, 1);
  int32_t *order = FX_TAKE_RAW(arena, int32_t, 3 * (size_t)n), *scratch = FX_TAKE_RAW(arena, int32_t, 3 * (size_t)n);
  frix_vec3 *center = FX_TAKE_RAW(arena, frix_vec3, n);
  if (!d || !order || !scratch || !center) return FRIX_ERROR_MEMORY;
  *d = (fx_distance){.s = s,
                     .order = FX_TAKE_RAW(arena, int32_t, n),
                     .node = FX_TAKE_RAW(arena, node, 2 * (size_t)n),
                     .node_count = 1,
                     .face = FX_TAKE_RAW(arena, frix_vec3, n),
                     .edge = FX_TAKE_RAW(arena, frix_vec3, 3 * (size_t)n),
                     .corner = FX_TAKE(arena, frix_vec3, s->vertex_count)};
  if (!d->order || !d->node || !d->face || !d->edge || !d->corner) return FRIX_ERROR_MEMORY;
  for (int32_t t = 0; t < n; t++) {
    d->order[t] = t;
    center[t] = fx_scale(1.0 / 3.0, fx_add(fx_add(corner_at(s, t, 0), corner_at(s, t, 1)), corner_at(s, t, 2)));
  }
  face_normals(d);
  edge_normals(d, order, scratch);
  maker m = {d, scratch, center};
  split(&m, 0, 0, n);
  *out = d;
  return FRIX_OK;
}

/* ---- the nearest point ---- */

typedef struct nearest {
  double square;
  frix_vec3 point, normal; /* of the feature */
} nearest;

/* The nearest point of a triangle, by the region of its plane that p projects to (Ericson, Real-Time Collision
 * Detection, 5.1.5), and the normal of the vertex, edge or face it lies on. */
static void try_triangle(const fx_distance *d, int32_t t, frix_vec3 p, nearest *best) {
  const fx_skin *s = d->s;
  const int32_t *v = s->triangle + 3 * (size_t)t;
  frix_vec3 a = s->vertex[v[0]], b = s->vertex[v[1]], c = s->vertex[v[2]];
  frix_vec3 ab = fx_sub(b, a), ac = fx_sub(c, a), ap = fx_sub(p, a), bp = fx_sub(p, b), cp = fx_sub(p, c);
  double d1 = fx_dot(ab, ap), d2 = fx_dot(ac, ap), d3 = fx_dot(ab, bp), d4 = fx_dot(ac, bp);
  double d5 = fx_dot(ab, cp), d6 = fx_dot(ac, cp);
  double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  frix_vec3 point, normal;
  if (d1 <= 0.0 && d2 <= 0.0) {
    point = a, normal = d->corner[v[0]];
  } else if (d3 >= 0.0 && d4 <= d3) {
    point = b, normal = d->corner[v[1]];
  } else if (d6 >= 0.0 && d5 <= d6) {
    point = c, normal = d->corner[v[2]];
  } else if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
    point = fx_mad(a, d1 / (d1 - d3), ab), normal = d->edge[3 * (size_t)t];
  } else if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    point = fx_mad(b, (d4 - d3) / ((d4 - d3) + (d5 - d6)), fx_sub(c, b)), normal = d->edge[3 * (size_t)t + 1];
  } else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
    point = fx_mad(a, d2 / (d2 - d6), ac), normal = d->edge[3 * (size_t)t + 2];
  } else {
    double scale = 1.0 / (va + vb + vc);
    point = fx_mad(fx_mad(a, vb * scale, ab), vc * scale, ac), normal = d->face[t];
  }
  double square = fx_norm2(fx_sub(p, point));
  if (square < best->square) *best = (nearest){square, point, normal};
}

static double outside_by(const node *n, frix_vec3 p) {
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    double x = fx_at(p, k), gap = fx_max(fx_max(fx_at(n->low, k) - x, x - fx_at(n->high, k)), 0.0);
    sum += gap * gap;
  }
  return sum;
}

double fx_distance_at(const fx_distance *d, frix_vec3 p) {
  nearest best = {INFINITY, p, {0.0, 0.0, 0.0}};
  int32_t stack[DEEPEST], depth = 0;
  stack[depth++] = 0;
  while (depth) {
    const node *n = &d->node[stack[--depth]];
    if (outside_by(n, p) >= best.square) continue;
    for (int32_t k = 0; k < n->count; k++) try_triangle(d, d->order[n->first + k], p, &best);
    if (n->count) continue;
    bool left = outside_by(&d->node[n->first], p) <= outside_by(&d->node[n->first + 1], p);
    stack[depth++] = left ? n->first + 1 : n->first;
    stack[depth++] = left ? n->first : n->first + 1;
  }
  double length = sqrt(best.square);
  return fx_dot(fx_sub(p, best.point), best.normal) < 0.0 ? -length : length;
}
