/* Sharp edges of the surface of a soft body, and where two of them cross.
 *
 * An edge is sharp where its two triangles, undeformed, turn by more than 18 degrees and the body is on the inner side;
 * elsewhere points of the surface are contacts enough. Two edges touch along n = u x v where all four triangles leave
 * the common plane to their own sides: n lies in the normal cones of both edges. */
#include "soft/soft_internal.h"

#include <string.h>

static const double flat = 0.95;     /* cosine between normals of triangles that meet in no edge to speak of */
static const double parallel = 0.01; /* squared sine between edges that cross nowhere in particular */
static const double near_end = 0.01; /* of an edge: there its points are contacts, but of what overlaps more deeply */
static const double slack = 0.1;     /* of lengths: how far a triangle may reach over the common plane */

/* ---- making ---- */

static int32_t corner_of(const frix_soft_info *info, int32_t triangle, int32_t k) {
  return info->triangle[3 * (size_t)triangle + (size_t)(k % 3)];
}

static frix_vec3 flat_normal(const frix_soft_info *info, int32_t t) {
  frix_vec3 a = info->point[corner_of(info, t, 0)], b = info->point[corner_of(info, t, 1)];
  return fx_unit(fx_cross(fx_sub(b, a), fx_sub(info->point[corner_of(info, t, 2)], a)));
}

/* The other triangle at the edge from corner k of t, and the corner that edge begins with there; -1: none. */
static int32_t mate_of(const frix_soft_info *info, const fx_soft_tree *t, int32_t triangle, int32_t k, int32_t *at) {
  int32_t p = corner_of(info, triangle, k), q = corner_of(info, triangle, k + 1);
  for (int32_t i = t->around_start[p]; i < t->around_start[p + 1]; i++)
    for (*at = 0; *at < 3; ++*at)
      if (corner_of(info, t->around[i], *at) == q && corner_of(info, t->around[i], *at + 1) == p) return t->around[i];
  return -1;
}

static bool is_sharp(const frix_soft_info *info, int32_t one, int32_t two, int32_t across) {
  frix_vec3 n = flat_normal(info, one), off = fx_sub(info->point[across], info->point[corner_of(info, one, 0)]);
  return fx_dot(n, flat_normal(info, two)) < flat && fx_dot(off, n) < 0.0;
}

/* Each edge belongs to the first leaf that has it. */
frix_status fx_soft_edges_make(frix_soft *soft) {
  const frix_soft_info *info = &soft->info;
  fx_soft_tree *t = &soft->tree;
  size_t sides = 3 * (size_t)info->triangle_count;
  bool *given = FX_TAKE(&soft->arena, bool, sides + 1);
  t->edge = FX_TAKE(&soft->arena, fx_soft_edge, sides / 2 + 1);
  if (!given || !t->edge) return FRIX_ERROR_MEMORY;
  t->edge_count = 0;
  for (int32_t k = 0; k < t->node_count; k++) {
    fx_soft_node *n = &t->node[k];
    n->edge = t->edge_count;
    for (int32_t c = 0; n->child < 0 && c < 3 * n->triangle_count; c++) {
      int32_t one = t->triangle[n->triangle + c / 3], side = c % 3, at, two = mate_of(info, t, one, side, &at);
      if (given[3 * one + side] || two < 0) continue;
      given[3 * one + side] = given[3 * two + at] = true;
      fx_soft_edge e = {{corner_of(info, one, side), corner_of(info, one, side + 1)},
                        {one, two},
                        {corner_of(info, one, side + 2), corner_of(info, two, at + 2)}};
      if (is_sharp(info, one, two, e.across[1])) t->edge[t->edge_count++] = e;
    }
    n->edge_count = t->edge_count - n->edge;
  }
  return FRIX_OK;
}

/* ---- in a step ---- */

/* How many edges lie in leaves that reach into a region; they stand in skin->edges. */
int32_t fx_soft_edges_near(fx_soft_skin *skin, const fx_soft_region *region) {
  enum { DEEPEST = 64 };
  const fx_soft_tree *t = &skin->state->soft->tree;
  int32_t stack[DEEPEST], depth = 0, count = 0;
  stack[depth++] = 0;
  while (depth && t->edge_count) {
    int32_t at = stack[--depth];
    const fx_soft_node *n = &t->node[at];
    const fx_soft_sphere *s = fx_soft_skin_sphere(skin, at);
    frix_vec3 c = s->center;
    double x = fx_max(region->low.x - c.x, c.x - region->high.x), y = fx_max(region->low.y - c.y, c.y - region->high.y);
    if (fx_max(fx_max(x, y), fx_max(region->low.z - c.z, c.z - region->high.z)) > region->reach + s->radius) continue;
    if (n->child >= 0) stack[depth++] = n->child + 1, stack[depth++] = n->child;
    for (int32_t k = n->edge; k < n->edge + n->edge_count; k++) skin->edges[count++] = k;
  }
  return count;
}

/* What lies beside an edge is on the side of n with that sign, seen from a point of the edge. */
static bool lies_behind(const fx_edge_line *e, frix_vec3 p, frix_vec3 n, double sign) {
  for (int k = 0; k < 2; k++) {
    frix_vec3 off = fx_sub(e->across[k], p);
    if (sign * fx_dot(off, n) > slack * fx_norm(off)) return false;
  }
  return true;
}

fx_edge_line fx_soft_edge_line(fx_soft_skin *skin, int32_t edge) {
  const fx_soft_edge *e = &skin->state->soft->tree.edge[edge];
  return (fx_edge_line){{fx_soft_skin_place(skin, e->point[0]), fx_soft_skin_place(skin, e->point[1])},
                        {fx_soft_skin_place(skin, e->across[0]), fx_soft_skin_place(skin, e->across[1])},
                        fx_add(fx_soft_skin_normal(skin, e->triangle[0]), fx_soft_skin_normal(skin, e->triangle[1]))};
}

bool fx_edges_cross(const fx_edge_line *e, const fx_edge_line *f, fx_soft_crossing *out) {
  frix_vec3 p = e->end[0], q = f->end[0], u = fx_sub(e->end[1], p), v = fx_sub(f->end[1], q);
  frix_vec3 w = fx_sub(p, q), n = fx_cross(u, v);
  double A = fx_norm2(u), B = fx_dot(u, v), C = fx_norm2(v), D = fx_dot(u, w), E = fx_dot(v, w), det = fx_norm2(n);
  if (!(det > parallel * A * C)) return false;
  double s = (B * E - C * D) / det, t = (A * E - B * D) / det;
  if (!(fx_min(s, t) >= 0.0 && fx_max(s, t) <= 1.0)) return false;
  n = fx_scale((fx_dot(n, f->outward) < 0.0 ? -1.0 : 1.0) / sqrt(det), n);
  frix_vec3 x = fx_mad(p, s, u), y = fx_mad(q, t, v);
  double gap = fx_dot(fx_sub(x, y), n), length = sqrt(fx_min(A, C));
  bool at_end = !(fx_min(s, t) > near_end && fx_max(s, t) < 1.0 - near_end);
  if ((at_end && gap > -near_end * length) || !lies_behind(f, y, n, 1.0) || !lies_behind(e, x, n, -1.0)) return false;
  *out = (fx_soft_crossing){x, y, n, s, t, gap, length};
  return true;
}
