/* Caps of cylinders: eight points of the true rim, and their overlap with other faces.
 *
 * The gap between two flat faces is linear, so that over the overlap of a disc and a polygon it is least at a corner of
 * the polygon, where a side crosses the rim, or at the rim point
 *
 *   p = c + R t / |t|,   t the part of the direction to the other face that lies in the cap.
 *
 * On a tilted cap that point is the first of the eight, for any rotation about the axis. On a flat cap all rim points
 * are equally deep; what matters is how far the resultant of the contact forces can move. The first point is placed
 * where the resultant leaves the disc, so that the tipping limit is that of the disc, not of an octagon. Only the
 * simulator knows the load (fx_lean). */
#include "collision/rim.h"

#define HALF_ROOT 0.70710678118654752440
const double fx_eighth[FX_RIM_POINTS][2] = {
    {1.0, 0.0},  {HALF_ROOT, HALF_ROOT},   {0.0, 1.0},  {-HALF_ROOT, HALF_ROOT},
    {-1.0, 0.0}, {-HALF_ROOT, -HALF_ROOT}, {0.0, -1.0}, {HALF_ROOT, -HALF_ROOT}};

/* ---- the face ---- */

fx_round_face fx_cap_of(const fx_shape *shape, frix_pose pose, bool top, int side) {
  frix_vec3 outward = fx_rotate(pose.q, fx_vec(0.0, 0.0, top ? 1.0 : -1.0));
  return (fx_round_face){side, fx_mad(pose.p, shape->half_length, outward), outward, shape->radius};
}

frix_vec3 fx_cap_anchor(const fx_shape *shape, bool top, const fx_manifold *m, int side) {
  fx_round_face face = fx_cap_of(shape, m->pose[side], top, m->turned ? 1 - side : side);
  if (m->lean) {
    frix_vec3 anchor = m->lean->ask(m->lean->user, m->lean, &face);
    /* cppcheck-suppress returnDanglingLifetime */
    if (fx_norm2(anchor) > 0.0) return anchor;
  }
  return fx_across(face.outward);
}

void fx_cap_face(const fx_shape *s, frix_vec3 d, double slop, const fx_manifold *m, int side, fx_face *out) {
  bool top = d.z > 0.0;
  double flat = sqrt(d.x * d.x + d.y * d.y), level = top ? s->half_length : -s->half_length, r = s->radius;
  /* below, the lowest of eight rim points is the lowest of all up to the slop: 1 - cos(22.5 degrees) = 0.076 */
  bool tilted = r * flat > 10.0 * fx_min(slop, 1e-6 * r);
  frix_vec3 u = d;
  out->count = FX_RIM_POINTS;
  out->face = top ? FX_CAP_ABOVE : FX_CAP_BELOW;
  out->round = true, out->radius = r, out->rim = fx_vec(0.0, 0.0, 0.0);
  if (!tilted) {
    out->rim = fx_cap_anchor(s, top, m, side);
    u = fx_unrotate(m->pose[side].q, out->rim);
  }
  u = fx_unit_or(fx_vec(u.x, u.y, 0.0), fx_vec(1.0, 0.0, 0.0));
  out->center = fx_vec(0.0, 0.0, level);
  out->normal = fx_vec(0.0, 0.0, top ? 1.0 : -1.0);
  for (int k = 0; k < FX_RIM_POINTS; k++) {
    int at = top ? k : (FX_RIM_POINTS - k) % FX_RIM_POINTS; /* counter-clockwise seen from outside */
    double c = fx_eighth[at][0], sine = fx_eighth[at][1];
    out->point[k] = fx_vec(r * (c * u.x - sine * u.y), r * (sine * u.x + c * u.y), level);
    out->vertex[k] = out->edge[k] = out->face + at;
  }
}

/* ---- overlap ---- */

/* A place of the overlap: the points of both faces there, and what they are of. */
typedef struct place {
  frix_vec3 a, b;
  int kind_a, kind_b; /* FX_FEATURE_ */
  int32_t number_a, number_b;
  frix_vec3 rim;
} place;

enum { MOST = 2 * FX_RIM_POINTS + 3 * FX_FACE_MOST };

typedef struct overlap {
  const fx_face *a, *b;
  frix_vec3 axis;
  double slop;
  int32_t count;
  place place[MOST];
} overlap;

/* A rim's crossings stand after its points: where the walk around the other face enters the disc, and leaves it. */
enum { ENTERS = FX_RIM_POINTS, LEAVES };

/* p moved along the axis into the plane of a face. */
static frix_vec3 moved_to(const fx_face *face, frix_vec3 axis, frix_vec3 p) {
  frix_vec3 on = face->round ? face->center : face->point[0];
  double along = fx_dot(face->normal, fx_sub(on, p)) / fx_dot(face->normal, axis);
  return fx_mad(p, along, axis);
}

/* Whether a face may be projected on along the axis. */
static bool faces_axis(const fx_face *face, frix_vec3 axis) {
  return face->count > 2 && fabs(fx_dot(face->normal, axis)) > 0.1;
}

/* How far p lies outside of the face's prism along the axis, negative inside. */
static double outside(const fx_face *face, frix_vec3 axis, frix_vec3 p) {
  if (face->round) return fx_norm(fx_sub(moved_to(face, axis, p), face->center)) - face->radius;
  frix_vec3 up = fx_dot(face->normal, axis) > 0.0 ? axis : fx_neg(axis);
  double most = -INFINITY;
  for (int32_t k = 0; k < face->count; k++) {
    frix_vec3 v = face->point[k], edge = fx_sub(face->point[(k + 1) % face->count], v);
    most = fx_max(most, fx_dot(fx_unit(fx_cross(edge, up)), fx_sub(p, v)));
  }
  return most;
}

/* A corner, rim point or crossing p of face `of` (a where of_a) with point q of the other. */
static void add_place(overlap *o, bool of_a, frix_vec3 p, frix_vec3 q, int kind, int32_t number, int other_kind,
                      int32_t other, frix_vec3 rim) {
  for (int32_t k = 0; k < o->count; k++) {
    place *known = &o->place[k];
    frix_vec3 d = fx_sub(of_a ? known->a : known->b, p);
    if (fx_norm2(fx_mad(d, -fx_dot(d, o->axis), o->axis)) <= 4.0 * o->slop * o->slop) return;
  }
  if (o->count == MOST) return;
  place *x = &o->place[o->count++];
  *x = of_a ? (place){p, q, kind, other_kind, number, other, rim} : (place){q, p, other_kind, kind, other, number, rim};
}

/* Corners or rim points of one face over the other. */
static void add_points(overlap *o, bool of_a) {
  const fx_face *face = of_a ? o->a : o->b, *other = of_a ? o->b : o->a;
  frix_vec3 none = {0.0, 0.0, 0.0};
  if (!faces_axis(other, o->axis)) return;
  for (int32_t k = 0; k < face->count; k++) {
    frix_vec3 p = face->point[k];
    if (outside(other, o->axis, p) > o->slop) continue;
    add_place(o, of_a, p, moved_to(other, o->axis, p), FX_FEATURE_VERTEX, face->vertex[k], FX_FEATURE_FACE, other->face,
              face->round ? face->rim : none);
  }
}

/* Where the sides of a polygon, or a segment, cross the rim: |p + t e - c| = R in the plane of the disc. */
static void add_crossings(overlap *o, bool disc_is_a) {
  const fx_face *disc = disc_is_a ? o->a : o->b, *other = disc_is_a ? o->b : o->a;
  frix_vec3 none = {0.0, 0.0, 0.0};
  for (int32_t k = 0; k < (other->count == 2 ? 1 : other->count); k++) {
    frix_vec3 p = other->point[k], q = other->point[(k + 1) % other->count];
    frix_vec3 d = fx_sub(moved_to(disc, o->axis, p), disc->center),
              e = fx_sub(moved_to(disc, o->axis, q), disc->center);
    e = fx_sub(e, d);
    double ee = fx_norm2(e), de = fx_dot(d, e);
    if (!(ee > 0.0)) continue;
    frix_vec3 foot = fx_mad(d, -de / ee, e); /* of the centre */
    double rest = disc->radius * disc->radius - fx_norm2(foot);
    if (!(rest > 0.0)) continue;
    double half = sqrt(rest / ee);
    for (int side = 0; side < 2; side++) {
      double t = -de / ee + (side ? half : -half);
      if (!(t > 0.0 && t < 1.0)) continue;
      frix_vec3 x = fx_mad(p, t, fx_sub(q, p));
      add_place(o, !disc_is_a, x, moved_to(disc, o->axis, x), FX_FEATURE_EDGE, other->edge[k], FX_FEATURE_EDGE,
                disc->face + (side ? LEAVES : ENTERS), none);
    }
  }
}

/* The point of disc a's rim in direction u (in its plane, unit). */
static frix_vec3 rim_point(const fx_face *disc, frix_vec3 u) { return fx_mad(disc->center, disc->radius, u); }

/* Two rims. The crossings of the circles seen along the axis, then Newton on a's rim for the tilt between the caps:
 * f(u) = |m(u) - c_b| - R_b, m(u) the rim point in b's plane. */
static void add_rim_crossings(overlap *o) {
  const fx_face *a = o->a, *b = o->b;
  frix_vec3 none = {0.0, 0.0, 0.0}, d = fx_sub(moved_to(a, o->axis, b->center), a->center);
  double distance = fx_norm(d), ra = a->radius, rb = b->radius;
  if (!(distance > o->slop) || distance >= ra + rb || distance <= fabs(ra - rb)) return;
  frix_vec3 along = fx_scale(1.0 / distance, d), across = fx_cross(a->normal, along);
  double x = 0.5 * (distance + (ra - rb) * (ra + rb) / distance) / ra, y = sqrt(fx_max(0.0, 1.0 - x * x));
  for (int side = 0; side < 2; side++) {
    frix_vec3 u = fx_mad(fx_scale(x, along), side ? y : -y, across), p = rim_point(a, u), q;
    double off = INFINITY;
    for (int round = 0; round < 6; round++) {
      q = moved_to(b, o->axis, p);
      frix_vec3 out = fx_sub(q, b->center), turn = fx_cross(a->normal, u);
      off = fx_norm(out) - rb;
      double slope =
          fx_dot(fx_unit(out), fx_sub(moved_to(b, o->axis, fx_mad(p, ra, turn)), q)); /* over a turn of one radian */
      if (!(fabs(slope) > 1e-6 * ra) || fabs(off) <= 1e-15 * rb) break;
      u = fx_unit(fx_mad(u, fx_clamp(-off / slope, -0.2, 0.2), turn));
      p = rim_point(a, u);
    }
    q = moved_to(b, o->axis, p);
    if (fabs(off) <= o->slop)
      add_place(o, true, p, q, FX_FEATURE_EDGE, a->face + (side ? LEAVES : ENTERS), FX_FEATURE_EDGE, b->face + ENTERS,
                none);
  }
}

/* Two caps of one radius on one axis: one rim will do. */
static bool same_disc(const overlap *o) {
  if (!o->a->round || !o->b->round || fabs(o->a->radius - o->b->radius) > o->slop) return false;
  return fx_norm(fx_sub(moved_to(o->a, o->axis, o->b->center), o->a->center)) <= o->slop;
}

void fx_clip_round(const fx_face *a, const fx_face *b, frix_vec3 axis, double margin, double slop, frix_pose frame,
                   fx_manifold *out, double *least) {
  *least = INFINITY;
  const fx_face *disc = a->round ? a : b;
  if (a->count < 2 || b->count < 2 || !faces_axis(disc, axis)) return;
  overlap o = {.a = a, .b = b, .axis = axis, .slop = slop};
  add_points(&o, true);
  if (!same_disc(&o)) add_points(&o, false);
  if (!a->round || !b->round) {
    add_crossings(&o, a->round);
  } else if (faces_axis(b, axis)) {
    add_rim_crossings(&o);
  }
  for (int32_t k = 0; k < o.count; k++) {
    const place *x = &o.place[k];
    double gap = fx_dot(axis, fx_sub(x->b, x->a));
    *least = fx_min(*least, gap);
    if (gap > margin) continue;
    fx_clip_single(x->a, x->b, axis, FX_FEATURE(x->kind_a, x->number_a, x->kind_b, x->number_b), frame, out);
    if (!out->failed) out->touch[out->count - 1].rim = x->rim;
  }
}
