/* Distances and casts of convex shapes.
 *
 * The closest points of two convex sets come from their support functions (GJK, and the expanding polytope where they
 * overlap), or from the pair's own manifold if these give no direction. A cast is Newton's method on the
 * distance f(t) of a moving convex set from one at rest: f is convex, its slope is -n . way, and t := t + f(t) /
 * |slope| approaches the first root from the left without passing it (conservative advancement, Mirtich 1996). A mesh
 * is the set of its triangles. */
#include "collision/gap.h"

#include "collision/gjk.h"

enum { STACK = 128, ADVANCES = 100 };

static bool is_mesh(const fx_shape *s) { return s->kind == FRIX_SHAPE_MESH || s->kind == FRIX_SHAPE_HEIGHT_FIELD; }

static bool is_half_space(const fx_shape *s) { return s->kind == FRIX_SHAPE_PLANE || s->kind == FRIX_SHAPE_HALF_PLANE; }

static bool is_flat(const fx_shape *s) { return fx_shape_row_of(s->kind)->info.flat; }

static bool is_bounded(const fx_shape *s) { return fx_shape_row_of(s->kind)->support != NULL; }

bool fx_gap_known(const fx_shape *a, const fx_shape *b) {
  return is_flat(a) == is_flat(b) && (is_bounded(a) || is_bounded(b));
}

/* ---- distances ---- */

/* From the lowest point over the half space. */
static fx_gap from_half_space(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b) {
  frix_vec3 up = b->kind == FRIX_SHAPE_PLANE ? fx_vec(0, 0, 1) : fx_vec(0, 1, 0), n = fx_rotate(pose_b.q, up);
  frix_vec3 low = fx_shape_row_of(a->kind)->support(a, fx_unrotate(pose_a.q, fx_neg(n)));
  fx_gap gap = {.point_a = fx_pose_point(pose_a, low), .normal = n};
  gap.distance = fx_dot(n, fx_sub(gap.point_a, pose_b.p));
  gap.point_b = fx_mad(gap.point_a, -gap.distance, n);
  return gap;
}

/* The deepest contact of the pair's manifold. */
static bool from_manifold(frix_context *context, const fx_shape *a, frix_pose pose_a, const fx_shape *b,
                          frix_pose pose_b, double margin, fx_gap *out) {
  fx_manifold m = {.context = context};
  fx_narrow_pair(a, pose_a, b, pose_b, margin, &m);
  int32_t best = -1;
  for (int32_t k = 0; k < m.count; k++)
    if (best < 0 || m.touch[k].gap < m.touch[best].gap) best = k;
  if (best >= 0) *out = (fx_gap){m.touch[best].gap, m.touch[best].point_a, m.touch[best].point_b, m.touch[best].normal};
  fx_free(context, m.touch);
  return best >= 0;
}

/* By the cores; false where they are too far away, or have no distance because they overlap. */
static bool from_cores(const fx_convex *a, const fx_convex *b, double limit, fx_gap *out) {
  fx_closest c;
  frix_vec3 guess = fx_sub(fx_convex_support(b, fx_vec(1, 0, 0)), fx_convex_support(a, fx_vec(-1, 0, 0)));
  if (!fx_closest_find(a, b, guess, limit + a->round + b->round, &c)) return false;
  out->normal = fx_neg(c.axis);
  out->distance = c.distance - a->round - b->round;
  out->point_a = fx_mad(c.point_a, a->round, c.axis);
  out->point_b = fx_mad(c.point_b, -b->round, c.axis);
  return true;
}

static bool convex_gap(frix_context *context, const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b,
                       double limit, fx_gap *out) {
  if (is_flat(a)) return from_manifold(context, a, pose_a, b, pose_b, limit, out);
  fx_convex core_a = fx_convex_of_shape(a, pose_a), core_b = fx_convex_of_shape(b, pose_b);
  if (from_cores(&core_a, &core_b, limit, out)) return true;
  /* farther than the limit, or cores without a direction between them: points and segments that meet */
  fx_gap deep;
  if (!from_manifold(context, a, pose_a, b, pose_b, 0.0, &deep)) return false;
  *out = deep;
  return out->distance <= limit;
}

/* ---- triangles ---- */

typedef struct walk {
  const fx_geometry *mesh;
  frix_pose frame; /* of the mesh */
  fx_convex core;  /* of a, in the frame of the mesh */
  frix_vec3 low, high;
  frix_vec3 way; /* casts, in the frame of the mesh */
  double slop, limit;
  fx_gap best;
  bool found;
} walk;

static double between_boxes(frix_vec3 low, frix_vec3 high, const fx_tree_node *n) {
  double x = fx_max(0.0, fx_max(n->low.x - high.x, low.x - n->high.x));
  double y = fx_max(0.0, fx_max(n->low.y - high.y, low.y - n->high.y));
  double z = fx_max(0.0, fx_max(n->low.z - high.z, low.z - n->high.z));
  return sqrt(x * x + y * y + z * z);
}

/* Calls try for every triangle whose box is not farther than w->limit. */
static void for_triangles(walk *w, double (*reach)(const walk *w), void (*try)(walk *w, int32_t t)) {
  int32_t stack[STACK], depth = 0;
  if (w->mesh->node_count > 0) stack[depth++] = 0;
  while (depth > 0) {
    const fx_tree_node *node = &w->mesh->node[stack[--depth]];
    if (between_boxes(w->low, w->high, node) > reach(w)) continue;
    for (int32_t k = 0; k < node->count; k++) try(w, w->mesh->order[node->first + k]);
    if (node->count == 0 && depth + 2 <= STACK) stack[depth++] = node->first + 1, stack[depth++] = node->first;
  }
}

static walk walk_of(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b) {
  walk w = {.mesh = b->geometry, .frame = pose_b, .slop = 1e-9 * a->bound};
  frix_pose local = fx_pose_mul(fx_pose_inverse(pose_b), pose_a);
  w.core = fx_convex_of_shape(a, local);
  fx_shape_row_of(a->kind)->box(a, local, &w.low, &w.high);
  return w;
}

/* Distance of the core, moved by `at`, from triangle t; below zero they overlap. */
static bool triangle_gap(const walk *w, int32_t t, frix_vec3 at, double limit, fx_gap *out) {
  const int32_t *v = w->mesh->triangle + 3 * (size_t)t;
  frix_vec3 corner[3] = {fx_sub(w->mesh->vertex[v[0]], at), fx_sub(w->mesh->vertex[v[1]], at),
                         fx_sub(w->mesh->vertex[v[2]], at)};
  fx_convex triangle = fx_convex_of_points(corner, 3);
  if (!from_cores(&w->core, &triangle, limit, out)) return false;
  out->point_a = fx_add(out->point_a, at);
  out->point_b = fx_add(out->point_b, at);
  return true;
}

static void to_world(const walk *w, fx_gap *gap) {
  gap->point_a = fx_pose_point(w->frame, gap->point_a);
  gap->point_b = fx_pose_point(w->frame, gap->point_b);
  gap->normal = fx_rotate(w->frame.q, gap->normal);
}

static double reach_of_gap(const walk *w) { return w->limit > 0.0 ? w->limit : 0.0; }

static void try_gap(walk *w, int32_t t) {
  fx_gap gap;
  if (!triangle_gap(w, t, fx_vec(0, 0, 0), w->limit, &gap) || (w->found && gap.distance >= w->best.distance)) return;
  w->best = gap;
  w->limit = gap.distance;
  w->found = true;
}

bool fx_gap_find(frix_context *context, const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b,
                 double limit, fx_gap *out) {
  if (is_half_space(b)) {
    *out = from_half_space(a, pose_a, b, pose_b);
    return out->distance <= limit;
  }
  if (!is_mesh(b)) return convex_gap(context, a, pose_a, b, pose_b, limit, out);
  walk w = walk_of(a, pose_a, b, pose_b);
  w.limit = limit;
  for_triangles(&w, reach_of_gap, try_gap);
  *out = w.best;
  if (w.found) to_world(&w, out);
  return w.found;
}

/* ---- casts ---- */

/* What is moved: the distance after a part t of the way. */
typedef struct mover {
  frix_context *context;
  const fx_shape *a, *b;
  frix_pose pose_a, pose_b;
  const walk *walk; /* a triangle instead of b */
  int32_t triangle;
} mover;

static bool gap_at(const mover *m, frix_vec3 moved, fx_gap *out) {
  if (m->walk) return triangle_gap(m->walk, m->triangle, moved, INFINITY, out);
  frix_pose pose = {fx_add(m->pose_a.p, moved), m->pose_a.q};
  if (is_half_space(m->b)) return fx_gap_find(m->context, m->a, pose, m->b, m->pose_b, INFINITY, out);
  return convex_gap(m->context, m->a, pose, m->b, m->pose_b, INFINITY, out);
}

static bool advance(const mover *m, frix_vec3 way, double slop, double limit, double *fraction, fx_gap *out) {
  double t = 0.0, length = fx_norm(way);
  for (int k = 0; k < ADVANCES; k++) {
    if (!gap_at(m, fx_scale(t, way), out)) return false;
    double closing = -fx_dot(out->normal, way);
    /* close enough, as seen along the way: a graze would creep */
    if (out->distance <= slop * fx_max(closing / (length > 0.0 ? length : 1.0), 1e-3)) break;
    if (!(closing > 0.0)) return false;
    t += out->distance / closing;
    if (!(t <= limit)) return false;
  }
  *fraction = t;
  return true;
}

static double reach_of_cast(const walk *w) {
  (void)w;
  return 0.0;
}

static void try_cast(walk *w, int32_t t) {
  mover m = {.walk = w, .triangle = t};
  double fraction;
  fx_gap gap;
  if (!advance(&m, w->way, w->slop, w->limit, &fraction, &gap) || (w->found && fraction >= w->limit)) return;
  w->found = true;
  w->limit = fraction;
  w->best = gap;
}

/* The box of a along its whole way. */
static void sweep(walk *w) {
  frix_vec3 d = w->way;
  w->low = fx_vec(w->low.x + fx_min(d.x, 0.0), w->low.y + fx_min(d.y, 0.0), w->low.z + fx_min(d.z, 0.0));
  w->high = fx_vec(w->high.x + fx_max(d.x, 0.0), w->high.y + fx_max(d.y, 0.0), w->high.z + fx_max(d.z, 0.0));
}

bool fx_gap_cast(frix_context *context, const fx_shape *a, frix_pose pose_a, frix_vec3 way, const fx_shape *b,
                 frix_pose pose_b, double limit, double *fraction, fx_gap *out) {
  if (!is_mesh(b)) {
    mover m = {.context = context, .a = a, .b = b, .pose_a = pose_a, .pose_b = pose_b};
    return advance(&m, way, 1e-9 * a->bound, limit, fraction, out);
  }
  walk w = walk_of(a, pose_a, b, pose_b);
  w.way = fx_unrotate(pose_b.q, way);
  w.limit = limit;
  sweep(&w);
  for_triangles(&w, reach_of_cast, try_cast);
  if (!w.found) return false;
  *fraction = w.limit;
  *out = w.best;
  to_world(&w, out);
  return true;
}
