/* Exact pairs in the plane z = 0.
 *
 * Polygons: the axis of largest separation is an edge normal, or leads from corner to corner; contacts are the ends of
 * the edges' overlap. Ellipses: the separation sep(n) = min_b n.x - max_a n.x of the tangents across n has its largest
 * value where n . rot(p_b - p_a) changes sign; that sign is bisected to the last bit. */
#include "collision/flat.h"

#include "collision/round.h"

/* A polygon or rectangle by its corners; placed in the frame of the other shape. */
typedef struct corners {
  int32_t count;
  const frix_vec3 *list;
  frix_vec3 room[4];
  frix_vec3 place;
  double c, s; /* rotation about z */
} corners;

static void view(const fx_shape *s, frix_pose pose, corners *out) {
  out->place = fx_vec(pose.p.x, pose.p.y, 0.0);
  out->c = pose.q.w * pose.q.w - pose.q.z * pose.q.z, out->s = 2.0 * pose.q.w * pose.q.z;
  if (s->kind == FRIX_SHAPE_POLYGON) {
    out->count = s->geometry->hull.vertex_count, out->list = s->geometry->hull.vertex;
    return;
  }
  double x = s->half.x, y = s->half.y;
  out->room[0] = fx_vec(x, y, 0.0), out->room[1] = fx_vec(-x, y, 0.0);
  out->room[2] = fx_vec(-x, -y, 0.0), out->room[3] = fx_vec(x, -y, 0.0);
  out->count = 4, out->list = out->room;
}

static frix_vec3 corner(const corners *p, int32_t k) {
  frix_vec3 v = p->list[k];
  return fx_vec(p->place.x + p->c * v.x - p->s * v.y, p->place.y + p->s * v.x + p->c * v.y, 0.0);
}

static frix_vec3 edge_normal(const corners *p, int32_t k) {
  frix_vec3 e = fx_sub(corner(p, (k + 1) % p->count), corner(p, k));
  return fx_unit(fx_vec(e.y, -e.x, 0.0));
}

static frix_pose flat_pose(frix_pose pose) {
  pose.p.z = 0.0;
  return pose;
}

/* Points in the frame; axis from a to b. */
static void add(frix_vec3 point_a, frix_vec3 point_b, frix_vec3 axis, double gap, uint64_t feature, frix_pose frame,
                fx_manifold *out) {
  fx_touch *t = fx_manifold_add(out);
  if (!t) return;
  t->feature = feature;
  t->normal = fx_neg(fx_rotate(frame.q, axis));
  t->gap = gap;
  t->point_a = fx_pose_point(frame, point_a);
  t->point_b = fx_pose_point(frame, point_b);
}

/* ---- discs ---- */

void fx_disc_disc(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                  fx_manifold *out) {
  frix_vec3 d = fx_vec(pose_b.p.x - pose_a.p.x, pose_b.p.y - pose_a.p.y, 0.0);
  double distance = fx_norm(d), gap = distance - a->radius - b->radius;
  if (gap > margin) return;
  frix_vec3 n = distance > 1e-12 * (a->radius + b->radius) ? fx_scale(1.0 / distance, d) : fx_vec(0.0, -1.0, 0.0);
  frix_pose frame = {fx_vec(pose_a.p.x, pose_a.p.y, 0.0), fx_quat_one()};
  add(fx_scale(a->radius, n), fx_mad(d, -b->radius, n), n, gap, 0, frame, out);
}

void fx_disc_half_plane(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                        fx_manifold *out) {
  (void)b;
  frix_pose frame = flat_pose(pose_b);
  frix_vec3 p = fx_pose_unpoint(frame, flat_pose(pose_a).p);
  double gap = p.y - a->radius;
  if (gap > margin) return;
  add(fx_vec(p.x, gap, 0.0), fx_vec(p.x, 0.0, 0.0), fx_vec(0.0, -1.0, 0.0), gap, 0, frame, out);
}

void fx_disc_ellipse(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                     fx_manifold *out) {
  frix_pose frame = flat_pose(pose_b);
  frix_vec3 h = fx_vec(b->half.x, b->half.y, 0.0), p = fx_pose_unpoint(frame, flat_pose(pose_a).p);
  frix_vec3 q = fx_ellipsoid_nearest(h, fx_vec(p.x, p.y, 0.0));
  frix_vec3 n = fx_unit(fx_vec(q.x / (h.x * h.x), q.y / (h.y * h.y), 0.0));
  double gap = fx_dot(n, fx_sub(p, q)) - a->radius;
  if (gap <= margin) add(fx_mad(p, -a->radius, n), q, fx_neg(n), gap, 0, frame, out);
}

void fx_disc_polygon(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                     fx_manifold *out) {
  corners p;
  frix_pose frame = flat_pose(pose_b);
  view(b, fx_pose_one(), &p);
  frix_vec3 c = fx_pose_unpoint(frame, flat_pose(pose_a).p);
  double most = -INFINITY;
  int32_t side = 0;
  for (int32_t k = 0; k < p.count; k++) {
    double height = fx_dot(edge_normal(&p, k), fx_sub(c, corner(&p, k)));
    if (height > most) most = height, side = k;
  }
  if (most - a->radius > margin) return;
  frix_vec3 v = corner(&p, side), n = edge_normal(&p, side), e = fx_sub(corner(&p, (side + 1) % p.count), v);
  frix_vec3 q = fx_mad(c, -most, n);
  double distance = most;
  if (most > 0.0) { /* outside: the nearest point of the whole outline, which may be a corner */
    double least = INFINITY;
    for (int32_t k = 0; k < p.count; k++) {
      v = corner(&p, k), e = fx_sub(corner(&p, (k + 1) % p.count), v);
      double t = fx_clamp(fx_dot(e, fx_sub(c, v)) / fx_norm2(e), 0.0, 1.0);
      frix_vec3 trial = fx_mad(v, t, e);
      double square = fx_norm2(fx_sub(c, trial));
      if (square < least) least = square, q = trial;
    }
    distance = sqrt(least);
    if (distance > 1e-12 * a->radius) n = fx_scale(1.0 / distance, fx_sub(c, q));
  }
  if (distance - a->radius > margin) return;
  add(fx_mad(c, -a->radius, n), q, fx_neg(n), distance - a->radius, 0, frame, out);
}

/* ---- half planes ---- */

void fx_polygon_half_plane(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                           fx_manifold *out) {
  (void)b;
  corners p;
  frix_pose frame = flat_pose(pose_b);
  view(a, fx_pose_mul(fx_pose_inverse(frame), flat_pose(pose_a)), &p);
  for (int32_t k = 0; k < p.count; k++) {
    frix_vec3 v = corner(&p, k);
    if (v.y <= margin)
      add(v, fx_vec(v.x, 0.0, 0.0), fx_vec(0.0, -1.0, 0.0), v.y, FX_FEATURE(FX_FEATURE_VERTEX, k, FX_FEATURE_FACE, 0),
          frame, out);
  }
}

void fx_ellipse_half_plane(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                           fx_manifold *out) {
  (void)b;
  frix_pose frame = flat_pose(pose_b), rel = fx_pose_mul(fx_pose_inverse(frame), flat_pose(pose_a));
  frix_vec3 down = fx_unrotate(rel.q, fx_vec(0.0, -1.0, 0.0));
  frix_vec3 v = fx_pose_point(rel, fx_shape_row_of(a->kind)->support(a, down));
  if (v.y <= margin) add(v, fx_vec(v.x, 0.0, 0.0), fx_vec(0.0, -1.0, 0.0), v.y, 0, frame, out);
}

/* ---- polygons ---- */

static double best_edge(const corners *a, const corners *b, int32_t *edge, frix_vec3 *normal) {
  double best = -INFINITY;
  for (int32_t k = 0; k < a->count; k++) {
    frix_vec3 n = edge_normal(a, k), v = corner(a, k);
    double least = INFINITY;
    for (int32_t j = 0; j < b->count; j++) least = fx_min(least, fx_dot(n, fx_sub(corner(b, j), v)));
    if (least > best) best = least, *edge = k, *normal = n;
  }
  return best;
}

/* Ends of the overlap of b's edge against edge `edge` of a, whose outward normal is n. `turned`: the roles of the two
 * shapes are exchanged in the output. Returns the least gap over the reference edge. */
static double overlap(const corners *a, int32_t edge, frix_vec3 n, const corners *b, bool turned, double margin,
                      double slop, frix_pose frame, fx_manifold *out) {
  frix_vec3 v = corner(a, edge), w = corner(a, (edge + 1) % a->count);
  frix_vec3 along = fx_unit(fx_sub(w, v));
  double length = fx_norm(fx_sub(w, v)), most = -INFINITY, least = INFINITY;
  /* the edge of b that faces, among the two at its deepest corner */
  int32_t deepest = 0, other = 0;
  for (int32_t k = 1; k < b->count; k++)
    if (fx_dot(n, corner(b, k)) < fx_dot(n, corner(b, deepest))) deepest = k;
  for (int side = 0; side < 2; side++) {
    int32_t k = (deepest + (side ? b->count - 1 : 0)) % b->count;
    double against = -fx_dot(n, edge_normal(b, k));
    if (against > most + 1e-9) most = against, other = k;
  }
  frix_vec3 p = corner(b, other), q = corner(b, (other + 1) % b->count);
  double s[2] = {fx_dot(along, fx_sub(p, v)), fx_dot(along, fx_sub(q, v))};
  double g[2] = {fx_dot(n, fx_sub(p, v)), fx_dot(n, fx_sub(q, v))};
  for (int end = 0; end < 2; end++) {
    double at = fx_clamp(s[end], -slop, length + slop), gap = g[end];
    int kind_b = FX_FEATURE_VERTEX, kind_a = FX_FEATURE_EDGE;
    int32_t number_b = end ? (other + 1) % b->count : other, number_a = edge;
    if (at != s[end]) { /* cut off at a corner of a */
      at = fx_clamp(s[end], 0.0, length);
      double t = (at - s[end]) / (s[1 - end] - s[end]);
      if (!(t >= 0.0 && t <= 1.0)) continue; /* b's edge is all beside a's */
      gap = g[end] + t * (g[1 - end] - g[end]);
      kind_a = FX_FEATURE_VERTEX, number_a = at == 0.0 ? edge : (edge + 1) % a->count;
      kind_b = FX_FEATURE_EDGE, number_b = other;
    }
    if (gap < least) least = gap;
    if (gap > margin) continue;
    frix_vec3 on_a = fx_mad(v, at, along), on_b = fx_mad(on_a, gap, n);
    if (turned) {
      add(on_b, on_a, fx_neg(n), gap, FX_FEATURE(kind_b, number_b, kind_a, number_a), frame, out);
    } else {
      add(on_a, on_b, n, gap, FX_FEATURE(kind_a, number_a, kind_b, number_b), frame, out);
    }
  }
  return least;
}

/* The pair of corners that are nearest to each other. */
static void corner_to_corner(const corners *a, const corners *b, double margin, frix_pose frame, fx_manifold *out) {
  double least = INFINITY;
  int32_t i = 0, j = 0;
  for (int32_t k = 0; k < a->count; k++)
    for (int32_t m = 0; m < b->count; m++) {
      double square = fx_norm2(fx_sub(corner(b, m), corner(a, k)));
      if (square < least) least = square, i = k, j = m;
    }
  double gap = sqrt(least);
  if (gap > margin || !(gap > 0.0)) return;
  add(corner(a, i), corner(b, j), fx_scale(1.0 / gap, fx_sub(corner(b, j), corner(a, i))), gap,
      FX_FEATURE(FX_FEATURE_VERTEX, i, FX_FEATURE_VERTEX, j), frame, out);
}

static int32_t far_corner(const corners *p, frix_vec3 axis) {
  int32_t best = 0;
  for (int32_t k = 1; k < p->count; k++)
    if (fx_dot(axis, corner(p, k)) > fx_dot(axis, corner(p, best))) best = k;
  return best;
}

/* Corner on corner, where an edge of either polygon separates as well: the normal in the middle looks alike from both
 * sides and in a mirror. False where the corners are not the same place seen along it. */
static bool tied_corners(const corners *a, frix_vec3 from_a, const corners *b, frix_vec3 from_b, double margin,
                         double slop, frix_pose frame, fx_manifold *out) {
  double along = fx_dot(from_a, from_b);
  if (along > 0.9 || along < 0.0) return false;
  frix_vec3 axis = fx_unit(fx_add(from_a, from_b));
  int32_t i = far_corner(a, axis), j = far_corner(b, fx_neg(axis));
  frix_vec3 p = corner(a, i), q = corner(b, j), across = fx_sub(q, p);
  double gap = fx_dot(axis, across);
  if (gap > margin || fx_norm(fx_mad(across, -gap, axis)) > 4.0 * slop) return false;
  frix_vec3 middle = fx_scale(0.5, fx_add(p, q));
  add(fx_mad(middle, -0.5 * gap, axis), fx_mad(middle, 0.5 * gap, axis), axis, gap,
      FX_FEATURE(FX_FEATURE_VERTEX, i, FX_FEATURE_VERTEX, j), frame, out);
  return true;
}

void fx_polygon_polygon(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                        fx_manifold *out) {
  frix_pose frame = flat_pose(pose_a);
  corners p, q;
  view(a, fx_pose_one(), &p);
  view(b, fx_pose_mul(fx_pose_inverse(frame), flat_pose(pose_b)), &q);
  double slop = 1e-6 * fx_min(a->bound, b->bound);
  int32_t edge_a = 0, edge_b = 0, before = out->count;
  frix_vec3 normal_a = {0.0, 1.0, 0.0}, normal_b = normal_a;
  double from_a = best_edge(&p, &q, &edge_a, &normal_a), from_b = best_edge(&q, &p, &edge_b, &normal_b);
  if (from_a > margin || from_b > margin) return;
  if (fabs(from_a - from_b) <= slop && tied_corners(&p, normal_a, &q, fx_neg(normal_b), margin, slop, frame, out))
    return;
  bool a_leads = from_a >= from_b - slop;
  double least = a_leads ? overlap(&p, edge_a, normal_a, &q, false, margin, slop, frame, out)
                         : overlap(&q, edge_b, normal_b, &p, true, margin, slop, frame, out);
  double best = fx_max(from_a, from_b);
  if (least <= best + slop || best <= slop) return;
  out->count = before;
  corner_to_corner(&p, &q, margin, frame, out);
}

/* ---- ellipses ---- */

static frix_vec3 support(const fx_shape *s, frix_pose pose, frix_vec3 d) {
  return fx_pose_point(pose, fx_shape_row_of(s->kind)->support(s, fx_unrotate(pose.q, d)));
}

typedef struct trial {
  frix_vec3 n, point_a, point_b;
  double separation, turn; /* turn > 0: a counter-clockwise turn of n separates more */
} trial;

static trial try_axis(const fx_shape *a, const fx_shape *b, frix_pose rel, frix_vec3 n) {
  trial t = {.n = n};
  t.point_a = support(a, fx_pose_one(), n);
  t.point_b = support(b, rel, fx_neg(n));
  frix_vec3 d = fx_sub(t.point_b, t.point_a);
  t.separation = fx_dot(n, d);
  t.turn = n.x * d.y - n.y * d.x;
  return t;
}

/* The edge normals of a polygon, where one of them separates more: deep overlap has several local maxima. */
static trial try_edges(const fx_shape *a, const fx_shape *b, frix_pose rel, trial best) {
  bool first = a->kind != FRIX_SHAPE_ELLIPSE;
  if (!first && b->kind == FRIX_SHAPE_ELLIPSE) return best;
  corners p;
  view(first ? a : b, first ? fx_pose_one() : rel, &p);
  for (int32_t k = 0; k < p.count; k++) {
    frix_vec3 n = edge_normal(&p, k);
    trial t = try_axis(a, b, rel, first ? n : fx_neg(n));
    if (t.separation > best.separation) best = t;
  }
  return best;
}

enum { RAYS = 32 };

void fx_flat_smooth(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                    fx_manifold *out) {
  /* turning by 360 / RAYS degrees: cos and sin of pi / 16 */
  const double c = 0.98078528040323044913, s = 0.19509032201612826785;
  frix_pose frame = flat_pose(pose_a), rel = fx_pose_mul(fx_pose_inverse(frame), flat_pose(pose_b));
  frix_vec3 n = {1.0, 0.0, 0.0}, best_n = n;
  double best = -INFINITY;
  for (int k = 0; k < RAYS; k++) {
    trial t = try_axis(a, b, rel, n);
    if (t.separation > margin) return;
    if (t.separation > best) best = t.separation, best_n = n;
    n = fx_vec(c * n.x - s * n.y, s * n.x + c * n.y, 0.0);
  }
  /* the sign of turn changes between the neighbours of the best ray */
  frix_vec3 low = fx_vec(c * best_n.x + s * best_n.y, -s * best_n.x + c * best_n.y, 0.0);
  frix_vec3 high = fx_vec(c * best_n.x - s * best_n.y, s * best_n.x + c * best_n.y, 0.0);
  trial t = try_axis(a, b, rel, best_n), below = t, above = t;
  for (int k = 0; k < 60; k++) {
    if (t.turn > 0.0) {
      low = t.n, below = t;
    } else {
      high = t.n, above = t;
    }
    frix_vec3 middle = fx_unit(fx_add(low, high));
    if ((middle.x == low.x && middle.y == low.y) || (middle.x == high.x && middle.y == high.y)) break;
    t = try_axis(a, b, rel, middle);
  }
  trial last = below.separation >= above.separation ? below : above;
  last = try_edges(a, b, rel, last);
  double gap = last.separation;
  if (gap > margin) return;
  /* The smooth side's tangent point is the contact; a polygon's may jump between the ends of an edge. */
  frix_vec3 smooth = a->kind == FRIX_SHAPE_ELLIPSE ? last.point_a : fx_mad(last.point_b, -gap, last.n);
  add(smooth, fx_mad(smooth, gap, last.n), last.n, gap, 0, frame, out);
}
