/* Exact pairs: sphere against everything, everything against a plane, capsule against capsule.
 *
 * A sphere touches a shape at the point closest to its centre; if the centre is inside, the shortest way out is used.
 * Contacts with a plane are the corners, rim points or ends near it. */
#include "collision/round.h"

#include "collision/clip.h"
#include "collision/convex.h"

/* ---- sphere ---- */

/* Centre of the ball, closest point of b in b's frame, outward direction there (used where the centre is on or in b),
 * signed distance of the centre. */
static void ball_touch(const fx_shape *a, frix_pose pose_a, frix_pose pose_b, frix_vec3 nearest, frix_vec3 outward,
                       double distance, uint64_t feature, double margin, fx_manifold *out) {
  double gap = distance - a->radius;
  if (gap > margin) return;
  fx_touch *t = fx_manifold_add(out);
  if (!t) return;
  t->feature = feature;
  t->normal = fx_rotate(pose_b.q, outward);
  t->gap = gap;
  t->point_a = fx_mad(pose_a.p, -a->radius, t->normal);
  t->point_b = fx_pose_point(pose_b, nearest);
}

/* The centre at p outside of b, whose closest point is q: direction from p - q, with a substitute on the surface. */
static void ball_outside(const fx_shape *a, frix_pose pose_a, frix_pose pose_b, frix_vec3 p, frix_vec3 q,
                         frix_vec3 substitute, double margin, fx_manifold *out) {
  frix_vec3 d = fx_sub(p, q);
  double distance = fx_norm(d);
  bool clear = distance > 1e-12 * a->radius;
  ball_touch(a, pose_a, pose_b, q, clear ? fx_scale(1.0 / distance, d) : substitute, distance, 0, margin, out);
}

void fx_sphere_sphere(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                      fx_manifold *out) {
  frix_vec3 d = fx_sub(pose_a.p, pose_b.p);
  double reach = a->radius + b->radius + margin, square = fx_norm2(d);
  if (square > reach * reach) return;
  fx_touch *t = fx_manifold_add(out);
  if (!t) return;
  double distance = sqrt(square);
  t->feature = 0;
  t->normal = distance > 1e-12 * (a->radius + b->radius) ? fx_scale(1.0 / distance, d) : fx_vec(0.0, 0.0, 1.0);
  t->gap = distance - a->radius - b->radius;
  t->point_a = fx_mad(pose_a.p, -a->radius, t->normal);
  t->point_b = fx_mad(pose_b.p, b->radius, t->normal);
}

void fx_sphere_plane(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                     fx_manifold *out) {
  (void)b;
  frix_vec3 p = fx_pose_unpoint(pose_b, pose_a.p);
  ball_touch(a, pose_a, pose_b, fx_vec(p.x, p.y, 0.0), fx_vec(0.0, 0.0, 1.0), p.z, 0, margin, out);
}

void fx_sphere_capsule(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                       fx_manifold *out) {
  frix_vec3 p = fx_pose_unpoint(pose_b, pose_a.p);
  frix_vec3 q = fx_vec(0.0, 0.0, fx_clamp(p.z, -b->half_length, b->half_length)), d = fx_sub(p, q);
  double distance = fx_norm(d);
  frix_vec3 n = distance > 1e-12 * (a->radius + b->radius) ? fx_scale(1.0 / distance, d) : fx_vec(1.0, 0.0, 0.0);
  ball_touch(a, pose_a, pose_b, fx_mad(q, b->radius, n), n, distance - b->radius, 0, margin, out);
}

void fx_sphere_box(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                   fx_manifold *out) {
  frix_vec3 p = fx_pose_unpoint(pose_b, pose_a.p), h = b->half;
  /* the nearest face, for centres inside */
  double deep[3] = {fabs(p.x) - h.x, fabs(p.y) - h.y, fabs(p.z) - h.z};
  int k = deep[0] >= deep[1] && deep[0] >= deep[2] ? 0 : deep[1] >= deep[2] ? 1 : 2;
  double sign = fx_at(p, k) < 0.0 ? -1.0 : 1.0;
  frix_vec3 n = fx_vec(k == 0 ? sign : 0.0, k == 1 ? sign : 0.0, k == 2 ? sign : 0.0);
  if (deep[k] <= 0.0) {
    ball_touch(a, pose_a, pose_b, fx_mad(p, -deep[k], n), n, deep[k], 0, margin, out);
    return;
  }
  frix_vec3 q = fx_vec(fx_clamp(p.x, -h.x, h.x), fx_clamp(p.y, -h.y, h.y), fx_clamp(p.z, -h.z, h.z));
  ball_outside(a, pose_a, pose_b, p, q, n, margin, out);
}

void fx_sphere_cylinder(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                        fx_manifold *out) {
  frix_vec3 p = fx_pose_unpoint(pose_b, pose_a.p);
  double rho = sqrt(p.x * p.x + p.y * p.y);
  frix_vec3 radial = rho > 0.0 ? fx_vec(p.x / rho, p.y / rho, 0.0) : fx_vec(1.0, 0.0, 0.0);
  frix_vec3 up = fx_vec(0.0, 0.0, p.z < 0.0 ? -1.0 : 1.0);
  double side = rho - b->radius, end = fabs(p.z) - b->half_length;
  frix_vec3 n = side >= end ? radial : up;
  if (side <= 0.0 && end <= 0.0) {
    double deep = fx_max(side, end);
    ball_touch(a, pose_a, pose_b, fx_mad(p, -deep, n), n, deep, 0, margin, out);
    return;
  }
  frix_vec3 q = fx_scale(fx_min(rho, b->radius), radial);
  q.z = fx_clamp(p.z, -b->half_length, b->half_length);
  ball_outside(a, pose_a, pose_b, p, q, n, margin, out);
}

/* x_i = e_i^2 y_i / (t + e_i^2) with sum (x_i / e_i)^2 = 1: the largest root t, by Newton inside a shrinking bracket
 * (Eberly, "Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid"). */
frix_vec3 fx_ellipsoid_nearest(frix_vec3 half, frix_vec3 p) {
  double e[3] = {half.x, half.y, half.z}, y[3] = {fabs(p.x), fabs(p.y), fabs(p.z)};
  int count = half.z > 0.0 ? 3 : 2, least = 0;
  double size = 0.0;
  for (int k = 0; k < count; k++) {
    y[k] = fx_max(y[k], 1e-14 * e[k]); /* keeps off the symmetry planes, where the root may run away */
    if (e[k] < e[least]) least = k;
    size += e[k] * y[k] * e[k] * y[k];
  }
  double low = -e[least] * e[least] + e[least] * y[least], high = -e[least] * e[least] + sqrt(size);
  double t = low;
  for (int iteration = 0; iteration < 200; iteration++) {
    double f = -1.0, slope = 0.0;
    for (int k = 0; k < count; k++) {
      double ratio = e[k] * y[k] / (t + e[k] * e[k]);
      f += ratio * ratio;
      slope -= 2.0 * ratio * ratio / (t + e[k] * e[k]);
    }
    if (f > 0.0) {
      low = t;
    } else {
      high = t;
    }
    double next = slope < 0.0 ? t - f / slope : t;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (next == t || next == low || next == high) break;
    t = next;
  }
  double x[3] = {0.0, 0.0, 0.0};
  for (int k = 0; k < count; k++) x[k] = e[k] * e[k] * y[k] / (t + e[k] * e[k]);
  return fx_vec(p.x < 0.0 ? -x[0] : x[0], p.y < 0.0 ? -x[1] : x[1], p.z < 0.0 ? -x[2] : x[2]);
}

void fx_sphere_ellipsoid(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                         fx_manifold *out) {
  frix_vec3 p = fx_pose_unpoint(pose_b, pose_a.p), h = b->half, q = fx_ellipsoid_nearest(h, p);
  frix_vec3 n = fx_unit(fx_vec(q.x / (h.x * h.x), q.y / (h.y * h.y), q.z / (h.z * h.z)));
  ball_touch(a, pose_a, pose_b, q, n, fx_dot(n, fx_sub(p, q)), 0, margin, out);
}

frix_vec3 fx_triangle_nearest(frix_vec3 a, frix_vec3 b, frix_vec3 c, frix_vec3 p, int *feature) {
  frix_vec3 ab = fx_sub(b, a), ac = fx_sub(c, a), ap = fx_sub(p, a), bp = fx_sub(p, b), cp = fx_sub(p, c);
  double d1 = fx_dot(ab, ap), d2 = fx_dot(ac, ap), d3 = fx_dot(ab, bp), d4 = fx_dot(ac, bp), d5 = fx_dot(ab, cp),
         d6 = fx_dot(ac, cp);
  double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
  if (d1 <= 0.0 && d2 <= 0.0) return *feature = 0, a;
  if (d3 >= 0.0 && d4 <= d3) return *feature = 1, b;
  if (d6 >= 0.0 && d5 <= d6) return *feature = 2, c;
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return *feature = 3, fx_mad(a, d1 / (d1 - d3), ab);
  if (va <= 0.0 && d4 >= d3 && d5 >= d6)
    return *feature = 4, fx_mad(b, (d4 - d3) / ((d4 - d3) + (d5 - d6)), fx_sub(c, b));
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return *feature = 5, fx_mad(a, d2 / (d2 - d6), ac);
  double sum = va + vb + vc;
  return *feature = 6, fx_mad(fx_mad(a, vb / sum, ab), vc / sum, ac);
}

void fx_sphere_hull(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                    fx_manifold *out) {
  const fx_polyhedron *h = &b->geometry->hull;
  frix_vec3 p = fx_pose_unpoint(pose_b, pose_a.p), nearest = {0.0, 0.0, 0.0};
  double most = -INFINITY, least = INFINITY;
  int32_t top = 0;
  for (int32_t f = 0; f < h->face_count; f++) {
    double height = fx_dot(h->face_normal[f], p) - h->face_offset[f];
    if (height > most) most = height, top = f;
    if (height > a->radius + margin) return;
  }
  if (most <= 1e-12 * a->radius) {
    frix_vec3 n = h->face_normal[top];
    ball_touch(a, pose_a, pose_b, fx_mad(p, -most, n), n, most, 0, margin, out);
    return;
  }
  /* the closest point lies on a face that sees the centre */
  for (int32_t f = 0; f < h->face_count; f++) {
    if (!(fx_dot(h->face_normal[f], p) > h->face_offset[f])) continue;
    const int32_t *v = h->face_vertex + h->face_start[f];
    for (int32_t k = 1; k + 1 < h->face_start[f + 1] - h->face_start[f]; k++) {
      int feature;
      frix_vec3 q = fx_triangle_nearest(h->vertex[v[0]], h->vertex[v[k]], h->vertex[v[k + 1]], p, &feature);
      double square = fx_norm2(fx_sub(p, q));
      if (square < least) least = square, nearest = q;
    }
  }
  ball_outside(a, pose_a, pose_b, p, nearest, h->face_normal[top], margin, out);
}

/* ---- planes ---- */

/* A point of a (in a's frame), near the plane? */
static void plane_touch(frix_pose pose_a, frix_pose pose_b, frix_vec3 point, int kind, int32_t number, double margin,
                        fx_manifold *out) {
  frix_vec3 world = fx_pose_point(pose_a, point);
  double gap = fx_pose_unpoint(pose_b, world).z;
  if (gap > margin) return;
  fx_touch *t = fx_manifold_add(out);
  if (!t) return;
  t->normal = fx_rotate(pose_b.q, fx_vec(0.0, 0.0, 1.0));
  t->gap = gap;
  t->point_a = world;
  t->point_b = fx_mad(world, -gap, t->normal);
  t->feature = FX_FEATURE(kind, number, FX_FEATURE_FACE, 0);
}

/* Direction into the plane, in a's frame. */
static frix_vec3 downward(frix_pose pose_a, frix_pose pose_b) {
  return fx_unrotate(pose_a.q, fx_rotate(pose_b.q, fx_vec(0.0, 0.0, -1.0)));
}

void fx_box_plane(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                  fx_manifold *out) {
  (void)b;
  frix_vec3 h = a->half;
  for (int k = 0; k < 8; k++)
    plane_touch(pose_a, pose_b, fx_vec(k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z), FX_FEATURE_VERTEX,
                k, margin, out);
}

/* ---- many corners over a plane ---- */

enum { CORNERS = 16, TILTS = 4, FASTER = 4 };

/* Brings the touch with the least gap after the plane has risen by a slope to place `kept`, unless it stands before. */
static int32_t keep_lowest(fx_manifold *m, int32_t first, int32_t kept, frix_vec3 slope) {
  int32_t lowest = first;
  double least = INFINITY;
  for (int32_t k = first; k < m->count; k++) {
    double gap = m->touch[k].gap - fx_dot(slope, m->touch[k].point_b);
    if (gap < least) least = gap, lowest = k;
  }
  if (lowest < kept) return kept;
  fx_touch swap = m->touch[kept];
  m->touch[kept] = m->touch[lowest];
  m->touch[lowest] = swap;
  return kept + 1;
}

/* Of very many corners within the margin of a plane, those matter that are nearest, and those that would touch first if
 * the body tilted: by up to FASTER times the angle at which its surface passes the margin, which is as far as it comes
 * in the step. The others are kept away by these, up to a small part of the margin. */
static void thin(fx_manifold *m, int32_t first, frix_pose plane, double margin, double size) {
  static const double way[8][2] = {{1, 0},  {0.7, 0.7},   {0, 1},  {-0.7, 0.7},
                                   {-1, 0}, {-0.7, -0.7}, {0, -1}, {0.7, -0.7}};
  static const double part[TILTS] = {0.1, 0.25, 0.5, 1};
  double most = fx_min(1.0, FASTER * margin / size);
  int32_t kept = keep_lowest(m, first, first, fx_vec(0.0, 0.0, 0.0));
  double near = fx_max(m->touch[first].gap, 0.0) + 0.02 * margin;
  for (int32_t k = kept; k < m->count; k++) {
    if (m->touch[k].gap > near) continue;
    fx_touch swap = m->touch[kept];
    m->touch[kept++] = m->touch[k];
    m->touch[k] = swap;
  }
  for (int s = 0; s < TILTS; s++)
    for (int d = 0; d < 8; d++) {
      frix_vec3 uphill = fx_rotate(plane.q, fx_vec(way[d][0], way[d][1], 0.0));
      kept = keep_lowest(m, first, kept, fx_scale(most * part[s], uphill));
    }
  m->count = kept;
}

void fx_hull_plane(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                   fx_manifold *out) {
  (void)b;
  const fx_polyhedron *h = &a->geometry->hull;
  frix_vec3 down = downward(pose_a, pose_b);
  double level = fx_pose_unpoint(pose_b, pose_a.p).z;
  int32_t first = out->count;
  for (int32_t k = 0; k < h->vertex_count; k++)
    if (level - fx_dot(down, h->vertex[k]) <= margin + 1e-12 * a->bound)
      plane_touch(pose_a, pose_b, h->vertex[k], FX_FEATURE_VERTEX, k, margin, out);
  if (out->count - first > CORNERS) thin(out, first, pose_b, margin, a->bound);
}

void fx_capsule_plane(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                      fx_manifold *out) {
  (void)b;
  frix_vec3 skin = fx_scale(a->radius, downward(pose_a, pose_b));
  for (int k = 0; k < 2; k++)
    plane_touch(pose_a, pose_b, fx_add(skin, fx_vec(0.0, 0.0, k ? a->half_length : -a->half_length)), FX_FEATURE_VERTEX,
                k, margin, out);
}

void fx_ellipsoid_plane(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                        fx_manifold *out) {
  (void)b;
  frix_vec3 lowest = fx_shape_row_of(a->kind)->support(a, downward(pose_a, pose_b));
  plane_touch(pose_a, pose_b, lowest, FX_FEATURE_VERTEX, 0, margin, out);
}

/* Standing: points of its rim; lying: the ends of its lowest line. At any tilt the lowest rim point is among them. */
void fx_cylinder_plane(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                       fx_manifold *out) {
  (void)b;
  fx_face face;
  frix_vec3 down = downward(pose_a, pose_b);
  int32_t first = out->count;
  fx_shape_face(a, fx_pose_one(), down, 1e-6 * a->bound, out, 0, &face);
  for (int32_t k = 0; k < face.count; k++)
    plane_touch(pose_a, pose_b, face.point[k], FX_FEATURE_VERTEX, face.vertex[k], margin, out);
  for (int32_t k = first; k < out->count && face.round; k++) out->touch[k].rim = face.rim;
}
