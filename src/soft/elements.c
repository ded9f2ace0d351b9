/* Tetrahedra with four or ten nodes.
 *
 * With barycentric coordinates l_a of constant gradient g_a: linear N_a = l_a; quadratic N_a = l_a (2 l_a - 1) and
 * N_ab = 4 l_a l_b. The energy density is of degree 4 in the gradient of displacement, hence of degree 0 or 4 in
 * space; a rule of 14 points integrates degree 5 (Walkington, 2000). */
#include "base/sort.h"
#include "soft/fem.h"

static const int edge_end[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/* ---- nodes ---- */

static void ends(const fx_tets *t, int32_t k, int32_t *low, int32_t *high) {
  const int32_t *c = t->tet + 4 * (size_t)(k / 6);
  int32_t a = c[edge_end[k % 6][0]], b = c[edge_end[k % 6][1]];
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

static frix_status add_middles(fx_arena *arena, const fx_tets *t, fx_elements *out) {
  int32_t count = 6 * t->tet_count, node = t->vertex_count;
  int32_t *order = FX_TAKE_RAW(arena, int32_t, count), *scratch = FX_TAKE_RAW(arena, int32_t, count);
  if (!order || !scratch) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++) order[k] = k;
  fx_sort_by(order, scratch, (size_t)count, compare_edges, t);
  for (int32_t k = 0; k < count; k++) {
    int32_t low, high, l = -1, h = -1;
    ends(t, order[k], &low, &high);
    if (k) ends(t, order[k - 1], &l, &h);
    if (l != low || h != high) out->node[node++] = fx_scale(0.5, fx_add(t->vertex[low], t->vertex[high]));
    out->index[10 * (size_t)(order[k] / 6) + 4 + order[k] % 6] = node - 1;
  }
  out->node_count = node;
  return FRIX_OK;
}

frix_status fx_elements_make(fx_arena *arena, const fx_tets *t, int32_t order, fx_elements *out) {
  int32_t nodes = order == 2 ? 10 : 4;
  if (t->tet_count > INT32_MAX / 64)
    return fx_fail(arena->context, FRIX_ERROR_INPUT, "%s: %d tetrahedra are too many", t->name, (int)t->tet_count);
  size_t room = (size_t)t->vertex_count + (order == 2 ? 6 * (size_t)t->tet_count : 0);
  *out = (fx_elements){.node_count = t->vertex_count,
                       .element_count = t->tet_count,
                       .nodes = nodes,
                       .points = order == 2 ? 14 : 1,
                       .node = FX_TAKE_RAW(arena, frix_vec3, room),
                       .index = FX_TAKE_RAW(arena, int32_t, (size_t)nodes * t->tet_count)};
  if (!out->node || !out->index) return FRIX_ERROR_MEMORY;
  for (int32_t v = 0; v < t->vertex_count; v++) out->node[v] = t->vertex[v];
  for (int32_t k = 0; k < t->tet_count; k++)
    for (int c = 0; c < 4; c++) out->index[(size_t)nodes * k + c] = t->tet[4 * (size_t)k + c];
  return order == 2 ? add_middles(arena, t, out) : FRIX_OK;
}

/* The node between two corners of an element. */
static int32_t middle_of(const fx_elements *e, int32_t element, int32_t a, int32_t b) {
  const int32_t *n = e->index + 10 * (size_t)element;
  for (int k = 0; k < 6; k++) {
    int32_t p = n[edge_end[k][0]], q = n[edge_end[k][1]];
    if ((p == a && q == b) || (p == b && q == a)) return n[4 + k];
  }
  return a;
}

frix_status fx_elements_skin(fx_arena *arena, const fx_tets *t, const fx_elements *e, fx_skin *out) {
  fx_skin coarse;
  frix_status status = fx_tets_skin(arena, t, &coarse);
  if (status || e->nodes == 4) {
    *out = coarse;
    out->vertex = e->node;
    return status;
  }
  int32_t count = 4 * coarse.triangle_count;
  *out = (fx_skin){e->node_count, count, e->node, FX_TAKE_RAW(arena, int32_t, 3 * (size_t)count),
                   FX_TAKE_RAW(arena, int32_t, count)};
  if (!out->triangle || !out->tet) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < coarse.triangle_count; k++) {
    const int32_t *c = coarse.triangle + 3 * (size_t)k;
    int32_t m[3];
    for (int a = 0; a < 3; a++) m[a] = middle_of(e, coarse.tet[k], c[a], c[(a + 1) % 3]);
    const int32_t four[12] = {c[0], m[0], m[2], m[0], c[1], m[1], m[2], m[1], c[2], m[0], m[1], m[2]};
    for (int a = 0; a < 12; a++) out->triangle[12 * (size_t)k + a] = four[a];
    for (int a = 0; a < 4; a++) out->tet[4 * (size_t)k + a] = coarse.tet[k];
  }
  return FRIX_OK;
}

/* ---- shape functions ---- */

/* Barycentric coordinates and weight (share of the volume) of a point of the rule. */
static double rule(int32_t point, double l[4]) {
  static const double near[2] = {0.09273525031089122640, 0.31088591926330060980}, middle = 0.04550370412564964949;
  static const double weight[3] = {6.0 * 0.01224884051939365826, 6.0 * 0.01878132095300264180,
                                   6.0 * 0.00709100346284691107};
  if (point < 8) {
    double a = near[point / 4];
    for (int k = 0; k < 4; k++) l[k] = k == point % 4 ? 1.0 - 3.0 * a : a;
    return weight[point / 4];
  }
  for (int k = 0; k < 4; k++) {
    bool end = k == edge_end[point - 8][0] || k == edge_end[point - 8][1];
    l[k] = end ? middle : 0.5 - middle;
  }
  return weight[2];
}

/* Gradients of the barycentric coordinates; returns the volume. */
static double corner_gradients(const fx_elements *e, int32_t element, frix_vec3 g[4]) {
  const int32_t *n = e->index + (size_t)e->nodes * element;
  frix_vec3 a = e->node[n[0]], b = fx_sub(e->node[n[1]], a), c = fx_sub(e->node[n[2]], a), d = fx_sub(e->node[n[3]], a);
  double six = fx_dot(fx_cross(b, c), d), over = 1.0 / six;
  g[1] = fx_scale(over, fx_cross(c, d));
  g[2] = fx_scale(over, fx_cross(d, b));
  g[3] = fx_scale(over, fx_cross(b, c));
  g[0] = fx_neg(fx_add(fx_add(g[1], g[2]), g[3]));
  return six / 6.0;
}

double fx_element_gradients(const fx_elements *e, int32_t element, int32_t point, frix_vec3 *gradient) {
  frix_vec3 g[4];
  double volume = corner_gradients(e, element, g), l[4];
  if (e->nodes == 4) {
    for (int a = 0; a < 4; a++) gradient[a] = g[a];
    return volume;
  }
  double weight = rule(point, l);
  for (int a = 0; a < 4; a++) gradient[a] = fx_scale(4.0 * l[a] - 1.0, g[a]);
  for (int k = 0; k < 6; k++) {
    int a = edge_end[k][0], b = edge_end[k][1];
    gradient[4 + k] = fx_add(fx_scale(4.0 * l[a], g[b]), fx_scale(4.0 * l[b], g[a]));
  }
  return weight * volume;
}

double fx_element_mass(const fx_elements *e, int32_t element, double mass[FX_MOST_NODES * FX_MOST_NODES]) {
  frix_vec3 g[4];
  double volume = corner_gradients(e, element, g);
  int n = e->nodes;
  for (int k = 0; k < n * n; k++) mass[k] = 0.0;
  if (n == 4) {
    for (int a = 0; a < 4; a++)
      for (int b = 0; b < 4; b++) mass[4 * a + b] = volume * (a == b ? 0.1 : 0.05);
    return volume;
  }
  for (int32_t point = 0; point < e->points; point++) {
    double l[4], shape[10], weight = volume * rule(point, l);
    for (int a = 0; a < 4; a++) shape[a] = l[a] * (2.0 * l[a] - 1.0);
    for (int k = 0; k < 6; k++) shape[4 + k] = 4.0 * l[edge_end[k][0]] * l[edge_end[k][1]];
    for (int a = 0; a < 10; a++)
      for (int b = 0; b < 10; b++) mass[10 * a + b] += weight * shape[a] * shape[b];
  }
  return volume;
}
