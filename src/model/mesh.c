/* Triangle meshes: which triangles share an edge, which edges are convex, and a static tree of boxes.
 *
 * Neighbours are found by position, so that unconnected triangles (STL) work like an indexed mesh. An edge counts as
 * convex if the surface bends away from its outside or if it is a border: only there does a contact on the edge add to
 * those of the faces. Triangles without area are left out of the tree. */
#include "base/sort.h"
#include "model/geometry.h"

#include <string.h>

enum { LEAF = 4 };

typedef struct workspace {
  const fx_geometry *mesh;
  int32_t *weld;
  int32_t *order, *scratch;
  frix_vec3 *center; /* of triangles */
  int axis;
} workspace;

static int compare_places(int32_t a, int32_t b, const void *user) {
  const frix_vec3 *v = user, p = v[a], q = v[b];
  if (p.x != q.x) return p.x < q.x ? -1 : 1;
  if (p.y != q.y) return p.y < q.y ? -1 : 1;
  if (p.z != q.z) return p.z < q.z ? -1 : 1;
  return a < b ? -1 : a > b;
}

static void weld(workspace *w) {
  const fx_geometry *m = w->mesh;
  for (int32_t k = 0; k < m->vertex_count; k++) w->order[k] = k;
  fx_sort_by(w->order, w->scratch, (size_t)m->vertex_count, compare_places, m->vertex);
  for (int32_t k = 0; k < m->vertex_count; k++) {
    int32_t v = w->order[k], before = k ? w->order[k - 1] : v;
    frix_vec3 p = m->vertex[v], q = m->vertex[before];
    w->weld[v] = k && p.x == q.x && p.y == q.y && p.z == q.z ? w->weld[before] : v;
  }
}

/* Corner c is half edge c of triangle c / 3. */
static void ends(const workspace *w, int32_t corner, int32_t *low, int32_t *high) {
  const int32_t *t = w->mesh->triangle + 3 * (corner / 3);
  int32_t a = w->weld[t[corner % 3]], b = w->weld[t[(corner + 1) % 3]];
  *low = a < b ? a : b, *high = a < b ? b : a;
}

static int compare_edges(int32_t a, int32_t b, const void *user) {
  int32_t a0, a1, b0, b1;
  ends(user, a, &a0, &a1);
  ends(user, b, &b0, &b1);
  if (a0 != b0) return a0 < b0 ? -1 : 1;
  if (a1 != b1) return a1 < b1 ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* Edges with exactly two triangles join them; others are borders. */
static void find_neighbours(workspace *w, fx_geometry *m) {
  int32_t corner_count = 3 * m->triangle_count, used = 0;
  for (int32_t c = 0; c < corner_count; c++) {
    m->neighbour[c] = -1;
    if (fx_norm2(m->normal[c / 3]) > 0.0) w->order[used++] = c;
  }
  fx_sort_by(w->order, w->scratch, (size_t)used, compare_edges, w);
  for (int32_t k = 0; k < used;) {
    int32_t low, high, l, h, end = k + 1;
    ends(w, w->order[k], &low, &high);
    for (; end < used; end++) {
      ends(w, w->order[end], &l, &h);
      if (l != low || h != high) break;
    }
    if (end - k == 2) {
      m->neighbour[w->order[k]] = w->order[k + 1] / 3;
      m->neighbour[w->order[k + 1]] = w->order[k] / 3;
    }
    k = end;
  }
}

static double scale_of(const fx_geometry *m, const int32_t *t) {
  return fx_max(fx_norm(fx_sub(m->vertex[t[1]], m->vertex[t[0]])), fx_norm(fx_sub(m->vertex[t[2]], m->vertex[t[0]])));
}

/* How far the neighbour's free corner stands above this triangle's plane. */
static bool bends_away(const workspace *w, const fx_geometry *m, int32_t triangle, int32_t edge) {
  int32_t other = m->neighbour[3 * triangle + edge];
  if (other < 0) return true;
  const int32_t *t = m->triangle + 3 * triangle, *o = m->triangle + 3 * other;
  double height = -INFINITY;
  for (int k = 0; k < 3; k++)
    if (w->weld[o[k]] != w->weld[t[edge]] && w->weld[o[k]] != w->weld[t[(edge + 1) % 3]])
      height = fx_dot(m->normal[triangle], fx_sub(m->vertex[o[k]], m->vertex[t[edge]]));
  return height < -1e-6 * scale_of(m, o);
}

static void find_convex(workspace *w, fx_geometry *m) {
  int32_t *bent = w->scratch; /* by welded vertex: meets a convex edge */
  memset(bent, 0, (size_t)m->vertex_count * sizeof *bent);
  for (int32_t k = 0; k < m->triangle_count; k++)
    for (int e = 0; e < 3; e++) {
      const int32_t *t = m->triangle + 3 * k;
      if (!bends_away(w, m, k, e)) continue;
      m->convex_edge[k] |= (uint8_t)(1u << e);
      bent[w->weld[t[e]]] = bent[w->weld[t[(e + 1) % 3]]] = 1;
    }
  for (int32_t k = 0; k < m->triangle_count; k++)
    for (int e = 0; e < 3; e++)
      if (bent[w->weld[m->triangle[3 * k + e]]]) m->convex_edge[k] |= (uint8_t)(8u << e);
}

/* Both ends of every side, by counting. */
static void find_around(fx_geometry *m) {
  int32_t *start = m->around_start, corner_count = 3 * m->triangle_count;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t c = 0; c < corner_count; c++) {
      int32_t a = m->weld[m->triangle[c]], b = m->weld[m->triangle[c / 3 * 3 + (c + 1) % 3]];
      if (pass == 0) {
        start[a + 1]++, start[b + 1]++;
      } else {
        m->around[start[a]++] = b, m->around[start[b]++] = a;
      }
    }
    for (int32_t v = 0; pass == 0 && v < m->vertex_count; v++) start[v + 1] += start[v];
  }
  /* filling moved every start to its end */
  for (int32_t v = m->vertex_count; v > 0; v--) start[v] = start[v - 1];
  start[0] = 0;
}

/* ---- tree ---- */

static int compare_centers(int32_t a, int32_t b, const void *user) {
  const workspace *w = user;
  double x = fx_at(w->center[a], w->axis), y = fx_at(w->center[b], w->axis);
  if (x != y) return x < y ? -1 : 1;
  return a < b ? -1 : a > b;
}

static void grow(frix_vec3 *low, frix_vec3 *high, frix_vec3 p) {
  *low = fx_vec(fx_min(low->x, p.x), fx_min(low->y, p.y), fx_min(low->z, p.z));
  *high = fx_vec(fx_max(high->x, p.x), fx_max(high->y, p.y), fx_max(high->z, p.z));
}

static void fill_node(workspace *w, fx_geometry *m, int32_t at, int32_t first, int32_t count) {
  frix_vec3 none = {INFINITY, INFINITY, INFINITY}, low = none, high = fx_neg(none), c_low = none, c_high = fx_neg(none);
  for (int32_t k = first; k < first + count; k++) {
    for (int e = 0; e < 3; e++) grow(&low, &high, m->vertex[m->triangle[3 * m->order[k] + e]]);
    grow(&c_low, &c_high, w->center[m->order[k]]);
  }
  m->node[at].low = low, m->node[at].high = high;
  if (count <= LEAF) {
    m->node[at].first = first, m->node[at].count = count;
    return;
  }
  /* halves along the longest side of the centres */
  frix_vec3 side = fx_sub(c_high, c_low);
  w->axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
  fx_sort_by(m->order + first, w->scratch, (size_t)count, compare_centers, w);
  int32_t child = m->node_count;
  m->node_count += 2;
  m->node[at].first = child, m->node[at].count = 0;
  fill_node(w, m, child, first, count / 2);
  fill_node(w, m, child + 1, first + count / 2, count - count / 2);
}

static void find_normals(workspace *w, fx_geometry *m) {
  for (int32_t k = 0; k < m->triangle_count; k++) {
    const int32_t *t = m->triangle + 3 * k;
    frix_vec3 a = m->vertex[t[0]], b = m->vertex[t[1]], c = m->vertex[t[2]];
    frix_vec3 n = fx_cross(fx_sub(b, a), fx_sub(c, a));
    double size = scale_of(m, t);
    bool flat = !(fx_norm(n) > 1e-14 * size * size);
    m->normal[k] = flat ? fx_vec(0.0, 0.0, 0.0) : fx_unit(n);
    w->center[k] = fx_scale(1.0 / 3.0, fx_add(fx_add(a, b), c));
  }
}

frix_status fx_mesh_finish(frix_context *context, fx_geometry *m) {
  size_t corners = 3 * (size_t)m->triangle_count, vertices = (size_t)m->vertex_count;
  size_t most = corners > vertices ? corners : vertices;
  workspace w = {.mesh = m};
  frix_status status = FRIX_ERROR_MEMORY;
  w.weld = m->weld = FX_NEW(context, int32_t, vertices);
  m->around_start = FX_NEW(context, int32_t, vertices + 1);
  m->around = FX_NEW(context, int32_t, 2 * corners);
  w.order = FX_NEW(context, int32_t, most);
  w.scratch = FX_NEW(context, int32_t, most);
  w.center = FX_NEW(context, frix_vec3, m->triangle_count);
  m->neighbour = FX_NEW(context, int32_t, corners);
  m->normal = FX_NEW(context, frix_vec3, m->triangle_count);
  m->convex_edge = FX_NEW(context, uint8_t, m->triangle_count);
  m->order = FX_NEW(context, int32_t, m->triangle_count);
  m->node = FX_NEW(context, fx_tree_node, 2 * (size_t)m->triangle_count);
  if (!m->around_start || !m->around || !w.weld || !w.order || !w.scratch || !w.center || !m->neighbour || !m->normal ||
      !m->convex_edge || !m->order || !m->node)
    goto cleanup;

  weld(&w);
  find_normals(&w, m);
  find_neighbours(&w, m);
  find_convex(&w, m);
  find_around(m);
  int32_t used = 0;
  for (int32_t k = 0; k < m->triangle_count; k++)
    if (fx_norm2(m->normal[k]) > 0.0) m->order[used++] = k;
  if (!used) {
    status = fx_fail(context, FRIX_ERROR_INPUT, "mesh: none of its %d triangles has an area", m->triangle_count);
    goto cleanup;
  }
  m->node_count = 1;
  fill_node(&w, m, 0, 0, used);
  status = FRIX_OK;

cleanup:
  fx_free(context, w.order);
  fx_free(context, w.scratch);
  fx_free(context, w.center);
  return status;
}
