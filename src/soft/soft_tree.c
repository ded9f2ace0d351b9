/* A tree of spheres over the surface of a soft body that follows its deformation (James and Pai, BD-Tree, 2004).
 *
 * A node stands for some triangles; X are their corners, U_i what coordinate i moves a corner by, and of all corners c
 * is the middle, u_i the mean of U_i. Whatever the amplitudes q, the corners lie in the sphere
 *
 *   center c + sum q_i u_i,   radius max |X - c| + sum |q_i| max |U_i - u_i|
 *
 * so that a sphere costs the coordinates and no point of the surface is visited for it. Spheres, places of points and
 * normals are found where somebody asks for them, once in a step. */
#include "soft/soft_internal.h"

#include <string.h>

#include "linalg/product.h"
#include "soft/centers.h"

enum { LEAF = 6, DEEPEST = 64, BOX_DEPTH = 7, SPEED_DEPTH = 6 };

/* ---- making ---- */

typedef struct maker {
  const frix_soft_info *info;
  fx_soft_tree *tree;
  frix_vec3 *center; /* of triangles */
  int32_t *scratch;
} maker;

static frix_vec3 shape_at(const frix_soft_info *info, int32_t point, int32_t i) {
  size_t k = (size_t)info->coordinates;
  const double *U = info->shape + 3 * (size_t)point * k + i;
  return fx_vec(U[0], U[k], U[2 * k]);
}

/* Middle and radius of one vector of all corners of a node: places, or shapes of a coordinate (i >= 0). */
static frix_vec3 gather(const maker *m, const fx_soft_node *n, int32_t i, double *radius) {
  const frix_soft_info *info = m->info;
  const int32_t *list = m->tree->triangle + n->triangle;
  frix_vec3 sum = {0.0, 0.0, 0.0};
  double most = 0.0;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t t = 0; t < 3 * n->triangle_count; t++) {
      int32_t point = info->triangle[3 * (size_t)list[t / 3] + (size_t)(t % 3)];
      frix_vec3 x = i < 0 ? info->point[point] : shape_at(info, point, i);
      if (pass)
        most = fx_max(most, fx_norm(fx_sub(x, sum)));
      else
        sum = fx_add(sum, x);
    }
    if (!pass) sum = fx_scale(1.0 / (3.0 * n->triangle_count), sum);
  }
  *radius = most;
  return sum;
}

static void bound(const maker *m, int32_t at) {
  fx_soft_node *n = &m->tree->node[at];
  size_t k = (size_t)m->info->coordinates;
  double *shift = m->tree->shift + 3 * (size_t)at * k, *growth = m->tree->growth + (size_t)at * k;
  n->center = gather(m, n, -1, &n->radius);
  for (size_t i = 0; i < k; i++) {
    frix_vec3 u = gather(m, n, (int32_t)i, &growth[i]);
    shift[i] = u.x, shift[k + i] = u.y, shift[2 * k + i] = u.z;
  }
}

static void split(maker *m, int32_t at, int32_t first, int32_t count) {
  fx_soft_tree *t = m->tree;
  t->node[at] = (fx_soft_node){.child = -1, .triangle = first, .triangle_count = count};
  bound(m, at);
  if (count <= LEAF) return;
  frix_vec3 low = m->center[t->triangle[first]], high = low;
  for (int32_t k = first; k < first + count; k++) {
    frix_vec3 c = m->center[t->triangle[k]];
    low = fx_vec(fx_min(low.x, c.x), fx_min(low.y, c.y), fx_min(low.z, c.z));
    high = fx_vec(fx_max(high.x, c.x), fx_max(high.y, c.y), fx_max(high.z, c.z));
  }
  frix_vec3 side = fx_sub(high, low);
  fx_sort_centers(m->center, fx_longest_axis(side), t->triangle + first, m->scratch, (size_t)count);
  int32_t child = t->node_count;
  t->node_count += 2;
  t->node[at].child = child;
  split(m, child, first, count / 2);
  split(m, child + 1, first + count / 2, count - count / 2);
}

/* Each point belongs to the first leaf that has it. */
static void give_points(maker *m) {
  fx_soft_tree *t = m->tree;
  int32_t count = 0;
  bool *given = (bool *)m->scratch;
  memset(given, 0, (size_t)m->info->point_count * sizeof *given);
  for (int32_t k = 0; k < t->node_count; k++) {
    fx_soft_node *n = &t->node[k];
    n->point = count;
    if (n->child >= 0) continue;
    for (int32_t c = 0; c < 3 * n->triangle_count; c++) {
      int32_t p = m->info->triangle[3 * (size_t)t->triangle[n->triangle + c / 3] + (size_t)(c % 3)];
      if (given[p]) continue;
      given[p] = true;
      t->point[count++] = p;
    }
    n->point_count = count - n->point;
  }
}

/* Triangles around points, in ascending order. */
static void find_around(const frix_soft_info *info, fx_soft_tree *t) {
  int32_t corners = 3 * info->triangle_count;
  for (int32_t c = 0; c < corners; c++) t->around_start[info->triangle[c] + 1]++;
  for (int32_t p = 0; p < info->point_count; p++) t->around_start[p + 1] += t->around_start[p];
  for (int32_t c = corners; c-- > 0;) t->around[--t->around_start[info->triangle[c] + 1]] = c / 3;
  for (int32_t p = 0; p < info->point_count; p++) t->around_start[p] = t->around_start[p + 1];
  t->around_start[info->point_count] = corners;
}

frix_status fx_soft_tree_make(frix_soft *soft) {
  const frix_soft_info *info = &soft->info;
  fx_soft_tree *t = &soft->tree;
  fx_arena *arena = &soft->arena;
  size_t triangles = (size_t)info->triangle_count, points = (size_t)info->point_count, k = (size_t)info->coordinates;
  size_t nodes = triangles / (LEAF / 4) + 1; /* a leaf has more than LEAF / 2 triangles, or is alone */
  maker m = {.info = info, .tree = t};
  *t = (fx_soft_tree){.node_count = 1, .node = FX_TAKE(arena, fx_soft_node, nodes)};
  t->triangle = FX_TAKE(arena, int32_t, triangles), t->point = FX_TAKE(arena, int32_t, points);
  t->shift = FX_TAKE(arena, double, 3 * nodes * k + 1), t->growth = FX_TAKE(arena, double, nodes *k + 1);
  t->around_start = FX_TAKE(arena, int32_t, points + 1), t->around = FX_TAKE(arena, int32_t, 3 * triangles);
  m.center = FX_TAKE(arena, frix_vec3, triangles);
  m.scratch = FX_TAKE(arena, int32_t, triangles > points ? triangles : points);
  if (!t->node || !t->triangle || !t->point || !t->shift || !t->growth || !t->around_start || !t->around || !m.center ||
      !m.scratch)
    return FRIX_ERROR_MEMORY;
  for (int32_t c = 0; c < info->triangle_count; c++) {
    const int32_t *corner = info->triangle + 3 * (size_t)c;
    t->triangle[c] = c;
    m.center[c] =
        fx_scale(1.0 / 3.0, fx_add(fx_add(info->point[corner[0]], info->point[corner[1]]), info->point[corner[2]]));
  }
  find_around(info, t);
  if (info->triangle_count) split(&m, 0, 0, info->triangle_count);
  give_points(&m);
  return fx_soft_edges_make(soft);
}

/* ---- what is where, in a step ---- */

frix_status fx_soft_skin_take(const frix_soft *soft, fx_arena *arena, fx_soft_skin *out) {
  int32_t n = soft->info.point_count, triangles = soft->info.triangle_count;
  *out = (fx_soft_skin){.place = FX_TAKE_RAW(arena, frix_vec3, n),
                        .outward = FX_TAKE_RAW(arena, frix_vec3, n),
                        .normal = FX_TAKE_RAW(arena, frix_vec3, triangles),
                        .sphere = FX_TAKE_RAW(arena, fx_soft_sphere, soft->tree.node_count),
                        .list = FX_TAKE_RAW(arena, int32_t, n),
                        .edges = FX_TAKE_RAW(arena, int32_t, soft->tree.edge_count + 1),
                        .placed = FX_TAKE(arena, uint32_t, n),
                        .faced = FX_TAKE(arena, uint32_t, n),
                        .turned = FX_TAKE(arena, uint32_t, triangles),
                        .bounded = FX_TAKE(arena, uint32_t, soft->tree.node_count)};
  bool good = out->place && out->outward && out->normal && out->sphere && out->list && out->edges && out->placed &&
              out->faced && out->turned && out->bounded;
  return good ? FRIX_OK : FRIX_ERROR_MEMORY;
}

const fx_soft_sphere *fx_soft_skin_sphere(fx_soft_skin *skin, int32_t node) {
  fx_soft_sphere *s = &skin->sphere[node];
  if (skin->bounded[node] == skin->now) return s;
  const frix_soft_state *x = skin->state;
  const fx_soft_tree *t = &x->soft->tree;
  int32_t k = x->soft->info.coordinates;
  const double *growth = t->growth + (size_t)node * (size_t)k;
  double moved[3] = {0.0, 0.0, 0.0}, radius = t->node[node].radius;
  fx_add_products(3, k, t->shift + 3 * (size_t)node * (size_t)k, x->amplitude, moved);
  for (int32_t i = 0; i < k; i++) radius += fabs(x->amplitude[i]) * growth[i];
  s->center = fx_pose_point(x->pose, fx_add(t->node[node].center, fx_vec(moved[0], moved[1], moved[2])));
  s->radius = radius * (1.0 + 1e-12); /* rounding */
  skin->bounded[node] = skin->now;
  return s;
}

frix_vec3 fx_soft_skin_place(fx_soft_skin *skin, int32_t point) {
  if (skin->placed[point] == skin->now) return skin->place[point];
  frix_vec3 none = {0.0, 0.0, 0.0};
  skin->placed[point] = skin->now;
  return skin->place[point] = fx_soft_place(skin->state, point, none, NULL);
}

frix_vec3 fx_soft_skin_normal(fx_soft_skin *skin, int32_t triangle) {
  if (skin->turned[triangle] == skin->now) return skin->normal[triangle];
  const int32_t *t = skin->state->soft->info.triangle + 3 * (size_t)triangle;
  frix_vec3 a = fx_soft_skin_place(skin, t[0]), b = fx_soft_skin_place(skin, t[1]), c = fx_soft_skin_place(skin, t[2]);
  skin->turned[triangle] = skin->now;
  return skin->normal[triangle] = fx_unit(fx_cross(fx_sub(b, a), fx_sub(c, a)));
}

frix_vec3 fx_soft_skin_outward(fx_soft_skin *skin, int32_t point) {
  if (skin->faced[point] == skin->now) return skin->outward[point];
  const fx_soft_tree *t = &skin->state->soft->tree;
  frix_vec3 sum = {0.0, 0.0, 0.0};
  for (int32_t k = t->around_start[point]; k < t->around_start[point + 1]; k++)
    sum = fx_add(sum, fx_soft_skin_normal(skin, t->around[k]));
  skin->faced[point] = skin->now;
  return skin->outward[point] = sum;
}

static void widen(fx_soft_skin *skin, frix_vec3 c, double r) {
  frix_vec3 low = skin->low, high = skin->high;
  skin->low = fx_vec(fx_min(low.x, c.x - r), fx_min(low.y, c.y - r), fx_min(low.z, c.z - r));
  skin->high = fx_vec(fx_max(high.x, c.x + r), fx_max(high.y, c.y + r), fx_max(high.z, c.z + r));
}

/* A box of all points: of the points themselves in small surfaces, of spheres where the tree goes deeper. What lies
 * within the box found already is passed by. */
static void find_box(fx_soft_skin *skin, int32_t node, int depth) {
  const fx_soft_tree *t = &skin->state->soft->tree;
  const fx_soft_node *n = &t->node[node];
  const fx_soft_sphere *s = fx_soft_skin_sphere(skin, node);
  frix_vec3 c = s->center, low = skin->low, high = skin->high;
  double r = s->radius;
  if (c.x - r >= low.x && c.y - r >= low.y && c.z - r >= low.z && c.x + r <= high.x && c.y + r <= high.y &&
      c.z + r <= high.z)
    return;
  if (n->child >= 0 && depth == BOX_DEPTH) {
    widen(skin, c, r);
  } else if (n->child >= 0) {
    find_box(skin, n->child, depth + 1);
    find_box(skin, n->child + 1, depth + 1);
  } else {
    for (int32_t k = n->point; k < n->point + n->point_count; k++)
      widen(skin, fx_soft_skin_place(skin, t->point[k]), 0.0);
  }
}

/* A bound of the speeds of all points: mean and spread of the shapes hold for rates as they do for amplitudes. A node
 * whose own bound is no more than one that was found needs no look at its children. */
static double fastest_of(fx_soft_skin *skin, int32_t node, int depth, double found) {
  const frix_soft_state *x = skin->state;
  const fx_soft_tree *t = &x->soft->tree;
  const fx_soft_sphere *s = fx_soft_skin_sphere(skin, node);
  int32_t k = x->soft->info.coordinates, child = t->node[node].child;
  const double *growth = t->growth + (size_t)node * (size_t)k;
  double moved[3] = {0.0, 0.0, 0.0}, spread = fx_norm(skin->spin) * s->radius;
  fx_add_products(3, k, t->shift + 3 * (size_t)node * (size_t)k, x->rate, moved);
  for (int32_t i = 0; i < k; i++) spread += fabs(x->rate[i]) * growth[i];
  frix_vec3 turn = fx_cross(fx_rotate(x->pose.q, skin->spin), fx_sub(s->center, x->pose.p));
  frix_vec3 bend = fx_rotate(x->pose.q, fx_vec(moved[0], moved[1], moved[2]));
  double own = fx_norm(fx_add(x->velocity, fx_add(turn, bend))) + spread;
  if (own <= found) return found;
  if (child < 0 || depth == SPEED_DEPTH) return own;
  found = fastest_of(skin, child, depth + 1, found);
  found = fastest_of(skin, child + 1, depth + 1, found);
  return fx_min(own, found);
}

/* By the sphere of the whole surface alone. */
double fx_soft_fastest(const frix_soft_state *x, frix_vec3 v, frix_vec3 spin, const double *rate) {
  const fx_soft_tree *t = &x->soft->tree;
  int32_t k = x->soft->info.coordinates;
  double moved[3] = {0.0, 0.0, 0.0}, center[3] = {0.0, 0.0, 0.0}, spread = t->node[0].radius, rates = 0.0;
  fx_add_products(3, k, t->shift, x->amplitude, center);
  fx_add_products(3, k, t->shift, rate, moved);
  for (int32_t i = 0; i < k; i++) spread += fabs(x->amplitude[i]) * t->growth[i], rates += fabs(rate[i]) * t->growth[i];
  frix_vec3 c = fx_add(t->node[0].center, fx_vec(center[0], center[1], center[2]));
  return fx_norm(v) + fx_norm(spin) * (fx_norm(c) + spread) + fx_norm(fx_vec(moved[0], moved[1], moved[2])) + rates;
}

void fx_soft_skin_find(const frix_soft_state *x, fx_soft_skin *out) {
  out->state = x, out->spin = fx_soft_spin(x);
  out->now++;
  out->low = fx_vec(INFINITY, INFINITY, INFINITY), out->high = fx_vec(-INFINITY, -INFINITY, -INFINITY);
  if (x->soft->info.triangle_count) find_box(out, 0, 0);
  out->fastest = fastest_of(out, 0, 0, 0.0) * (1.0 + 1e-12); /* rounding */
}

/* ---- points of a region ---- */

static double off_region(const fx_soft_region *r, frix_vec3 p) {
  if (!r->bounded) return fx_dot(r->normal, fx_sub(p, r->low));
  double x = fx_max(r->low.x - p.x, p.x - r->high.x), y = fx_max(r->low.y - p.y, p.y - r->high.y);
  return fx_max(fx_max(x, y), fx_max(r->low.z - p.z, p.z - r->high.z));
}

int32_t fx_soft_points_near(fx_soft_skin *skin, const fx_soft_region *region) {
  const fx_soft_tree *t = &skin->state->soft->tree;
  int32_t stack[DEEPEST], depth = 0, count = 0;
  stack[depth++] = 0;
  while (depth) {
    int32_t at = stack[--depth];
    const fx_soft_node *n = &t->node[at];
    const fx_soft_sphere *s = fx_soft_skin_sphere(skin, at);
    if (off_region(region, s->center) > region->reach + s->radius) continue;
    if (n->child >= 0) {
      stack[depth++] = n->child + 1, stack[depth++] = n->child;
      continue;
    }
    for (int32_t k = n->point; k < n->point + n->point_count; k++)
      if (off_region(region, fx_soft_skin_place(skin, t->point[k])) <= region->reach) skin->list[count++] = t->point[k];
  }
  return count;
}
