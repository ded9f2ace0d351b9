/* Slopes of contacts between primitives.
 *
 * Round parts. Each surface is known near its witness by the map from normals to points, whose slope S holds the radii
 * of curvature: 0 at a corner, the radius of a ball, without bound along an edge and on a face. With n from b to a,
 * d the way of a's witness with its body and w the turn of a,
 *
 *   p_a' = d - S_a (n' - w x n),   p_b' = S_b n',   (p_a - p_b)' = (gap n)'
 *   so  (gap + S_a + S_b) n' = P d + S_a (w x n),   gap' = n . d           P: across n
 *
 * where S has no bound along e, e . n' is that of its body instead.
 *
 * Corners of the overlap of two faces (collision/clip.c). The normal belongs to the reference face; a corner is a
 * vertex of the other face, the crossing of one of its edges with a side of the reference prism, or the other face
 * above a reference vertex. Seen from the reference its point q moves by
 *
 *   vertex  d        crossing  d - e (m . d) / (m . e)        above a vertex  n (f . d) / (f . n)
 *
 * e the edge, m the normal of the side, f that of the other face. */
#include "analysis/contact_slope.h"

#include "collision/poly.h"

#include <math.h>
#include <string.h>

#define ALONG 1e-9 /* sine of the angle to a face's normal below which it is the contact's */
#define NEAR 1e-9  /* of a size: on a corner, edge or end */

/* Twist k of a about the contact's point: the way of the material at `arm` from it, and the turn. */
static frix_vec3 unit(int k) { return fx_vec(k == 0, k == 1, k == 2); }
static frix_vec3 way(int k, frix_vec3 arm) { return k < 3 ? unit(k) : fx_cross(unit(k - 3), arm); }
static frix_vec3 turn(int k) { return k < 3 ? fx_vec(0, 0, 0) : unit(k - 3); }

static frix_vec3 middle(const fx_contact *c) { return fx_scale(0.5, fx_add(c->point_a, c->point_b)); }

/* ---- one surface near its witness ---- */

typedef enum bent { BENT, STRAIGHT, FLAT, UNKNOWN } bent;

typedef struct surface {
  bent kind;
  double xx, xy, yy; /* BENT: S in the contact's tangents; STRAIGHT: xx is that across the line */
  frix_vec3 line;    /* STRAIGHT, unit */
} surface;

static surface ball(double radius) { return (surface){.kind = BENT, .xx = radius, .yy = radius}; }
static surface line(double radius, frix_vec3 along) { return (surface){STRAIGHT, radius, 0, 0, along}; }

/* S = (A^2 - (A^2 m)(A^2 m)' / |A m|^2) / |A m|, A the half axes, m the outward normal. */
static surface ellipsoid(const fx_shape *s, frix_pose at, frix_vec3 outward, const fx_contact *c) {
  frix_vec3 m = fx_unrotate(at.q, outward), x = fx_unrotate(at.q, c->tangent[0]), y = fx_unrotate(at.q, c->tangent[1]);
  frix_vec3 h = s->half, square = fx_vec(h.x * h.x, h.y * h.y, h.z * h.z);
  frix_vec3 am = fx_vec(square.x * m.x, square.y * m.y, square.z * m.z);
  frix_vec3 ax = fx_vec(square.x * x.x, square.y * x.y, square.z * x.z);
  frix_vec3 ay = fx_vec(square.x * y.x, square.y * y.y, square.z * y.z);
  double f = sqrt(fx_dot(m, am)), mx = fx_dot(am, x), my = fx_dot(am, y), ff = f * f;
  return (surface){.kind = BENT,
                   .xx = (fx_dot(x, ax) - mx * mx / ff) / f,
                   .xy = (fx_dot(x, ay) - mx * my / ff) / f,
                   .yy = (fx_dot(y, ay) - my * my / ff) / f};
}

static surface capsule(const fx_shape *s, frix_pose at, frix_vec3 witness) {
  double z = fx_pose_unpoint(at, witness).z, end = s->half_length;
  if (fabs(fabs(z) - end) <= NEAR * end) return ball(s->radius); /* which of the two decides nothing, or a kink */
  return fabs(z) < end ? line(s->radius, fx_rotate(at.q, fx_vec(0, 0, 1))) : ball(s->radius);
}

/* A ball touches it: face, edge or corner. */
static surface box(const fx_shape *s, frix_pose at, frix_vec3 witness) {
  frix_vec3 p = fx_pose_unpoint(at, witness);
  int sides = 0, inner = 0;
  for (int k = 0; k < 3; k++) {
    bool on = fabs(p.x * (k == 0) + p.y * (k == 1) + p.z * (k == 2)) >= fx_at(s->half, k) * (1 - NEAR);
    sides += on;
    if (!on) inner = k;
  }
  if (sides == 1) return (surface){.kind = FLAT};
  return sides == 2 ? line(0, fx_rotate(at.q, unit(inner))) : ball(0);
}

static surface cylinder(const fx_shape *s, frix_pose at, frix_vec3 witness) {
  frix_vec3 p = fx_pose_unpoint(at, witness);
  double rho = sqrt(p.x * p.x + p.y * p.y);
  bool side = rho >= s->radius * (1 - NEAR), cap = fabs(p.z) >= s->half_length * (1 - NEAR);
  if (side == cap) return (surface){.kind = UNKNOWN};
  return side ? line(s->radius, fx_rotate(at.q, fx_vec(0, 0, 1))) : (surface){.kind = FLAT};
}

static bool is_plane(const fx_shape *s) { return s->kind == FRIX_SHAPE_PLANE || s->kind == FRIX_SHAPE_HALF_PLANE; }
static bool is_ball(const fx_shape *s) { return s->kind == FRIX_SHAPE_SPHERE || s->kind == FRIX_SHAPE_DISC; }

static surface surface_of(const fx_contact *c, const fx_shape *s, const fx_shape *other, frix_pose at, int side) {
  frix_vec3 witness = side ? c->point_b : c->point_a;
  uint64_t kind = side ? c->feature >> 60 & 3 : c->feature >> 62;
  if (is_plane(s)) return (surface){.kind = FLAT};
  if (is_ball(s)) return ball(s->radius);
  if (s->kind == FRIX_SHAPE_ELLIPSOID) return ellipsoid(s, at, side ? c->normal : fx_neg(c->normal), c);
  if (s->kind == FRIX_SHAPE_CAPSULE && is_plane(other)) return ball(s->radius);
  if (s->kind == FRIX_SHAPE_CAPSULE && is_ball(other)) return capsule(s, at, witness);
  if (s->kind == FRIX_SHAPE_BOX && is_ball(other)) return box(s, at, witness);
  if (s->kind == FRIX_SHAPE_CYLINDER && is_ball(other)) return cylinder(s, at, witness);
  bool corners = s->kind == FRIX_SHAPE_BOX || s->kind == FRIX_SHAPE_HULL || s->kind == FRIX_SHAPE_RECTANGLE ||
                 s->kind == FRIX_SHAPE_POLYGON;
  if (corners && is_plane(other) && kind == FX_FEATURE_VERTEX) return ball(0);
  return (surface){.kind = UNKNOWN};
}

/* ---- round parts ---- */

/* a x = b for two unknowns; false where it has no sure answer. */
static bool solve2(const double a[4], const double b[2], double x[2]) {
  double det = a[0] * a[3] - a[1] * a[2];
  double size = fx_max(fx_max(fabs(a[0]), fabs(a[1])), fx_max(fabs(a[2]), fabs(a[3])));
  if (!(fabs(det) > 1e-9 * size * size)) return false;
  x[0] = (b[0] * a[3] - a[1] * b[1]) / det, x[1] = (a[0] * b[1] - a[2] * b[0]) / det;
  return true;
}

/* S x of a bent or straight surface (of the latter what is across its line), in the tangents. */
static void times(const surface *s, const double e[2], const double x[2], double out[2]) {
  if (s->kind == BENT) {
    out[0] = s->xx * x[0] + s->xy * x[1], out[1] = s->xy * x[0] + s->yy * x[1];
  } else {
    double across = -e[1] * x[0] + e[0] * x[1];
    out[0] = -e[1] * s->xx * across, out[1] = e[0] * s->xx * across;
  }
}

typedef struct meeting {
  const fx_contact *c;
  surface s[2];
  double e[2][2]; /* of straight surfaces: their lines in the tangents */
} meeting;

/* n' in the tangents, from the way d of a's witness and the turn t = w x n. */
static bool normal_slope(const meeting *m, const double d[2], const double t[2], double out[2]) {
  const surface *a = &m->s[0], *b = &m->s[1];
  double A[4], rhs[2], turned[2], matrix[2][2], gap = m->c->gap;
  if (a->kind == FLAT || b->kind == FLAT) {
    for (int k = 0; k < 2; k++) out[k] = a->kind == FLAT ? t[k] : 0;
    return true;
  }
  times(a, m->e[0], t, turned);
  for (int k = 0; k < 2; k++) { /* columns of gap + S_a + S_b */
    double x[2] = {k == 0, k == 1}, of_a[2], of_b[2];
    times(a, m->e[0], x, of_a), times(b, m->e[1], x, of_b);
    for (int r = 0; r < 2; r++) matrix[r][k] = gap * (r == k) + of_a[r] + of_b[r];
  }
  int rows = 0;
  for (int side = 0; side < 2; side++) { /* a line keeps its angle to the normal */
    const double *e = m->e[side];
    if (m->s[side].kind != STRAIGHT) continue;
    A[2 * rows] = e[0], A[2 * rows + 1] = e[1];
    rhs[rows++] = side ? 0 : e[0] * t[0] + e[1] * t[1];
  }
  if (rows == 1) { /* and across it */
    const double *e = m->e[a->kind == STRAIGHT ? 0 : 1], f[2] = {-e[1], e[0]};
    for (int k = 0; k < 2; k++) A[2 + k] = f[0] * matrix[0][k] + f[1] * matrix[1][k];
    rhs[1] = f[0] * (d[0] + turned[0]) + f[1] * (d[1] + turned[1]);
  }
  for (int k = 0; rows == 0 && k < 2; k++) {
    A[2 * k] = matrix[k][0], A[2 * k + 1] = matrix[k][1];
    rhs[k] = d[k] + turned[k];
  }
  return solve2(A, rhs, out);
}

/* The way of one witness across n: of the surface that is bent, or where two lines cross. which: 0 is a's. */
static bool point_slope(const meeting *m, const double d[2], const double t[2], const double n[2], int *which,
                        double out[2]) {
  double relative[2] = {n[0] - t[0], n[1] - t[1]}, of[2];
  *which = m->s[0].kind == BENT ? 0 : 1;
  if (m->s[*which].kind == BENT) {
    times(&m->s[*which], m->e[*which], *which ? n : relative, of);
    for (int k = 0; k < 2; k++) out[k] = *which ? of[k] : d[k] - of[k];
    return true;
  }
  if (m->s[0].kind != STRAIGHT || m->s[1].kind != STRAIGHT) return false;
  /* d - S_a (n' - t) + x e_a = S_b n' + y e_b + gap n' */
  double of_b[2], x[2], rhs[2], A[4] = {m->e[0][0], -m->e[1][0], m->e[0][1], -m->e[1][1]};
  times(&m->s[0], m->e[0], relative, of), times(&m->s[1], m->e[1], n, of_b);
  for (int k = 0; k < 2; k++) rhs[k] = of_b[k] + m->c->gap * n[k] - d[k] + of[k];
  if (!solve2(A, rhs, x)) return false;
  *which = 1;
  for (int k = 0; k < 2; k++) out[k] = of_b[k] + x[1] * m->e[1][k];
  return true;
}

static bool round_slope(const meeting *m, fx_contact_slope *out) {
  const fx_contact *c = m->c;
  frix_vec3 arm = fx_sub(c->point_a, middle(c));
  for (int k = 0; k < 6; k++) {
    frix_vec3 d = way(k, arm), w = fx_cross(turn(k), c->normal);
    double across[2], turned[2], n[2], p[2];
    int which;
    for (int e = 0; e < 2; e++) across[e] = fx_dot(c->tangent[e], d), turned[e] = fx_dot(c->tangent[e], w);
    if (!normal_slope(m, across, turned, n) || !point_slope(m, across, turned, n, &which, p)) return false;
    double gap = fx_dot(c->normal, d), side = which ? 0.5 : -0.5;
    frix_vec3 dn = fx_mad(fx_scale(n[0], c->tangent[0]), n[1], c->tangent[1]);
    frix_vec3 dp = fx_mad(fx_scale(p[0], c->tangent[0]), p[1], c->tangent[1]);
    if (!which) dp = fx_mad(dp, gap, c->normal);
    out->normal[k] = dn, out->gap[k] = gap;
    out->point[k] = fx_mad(fx_mad(dp, side * gap, c->normal), side * c->gap, dn);
  }
  return true;
}

/* ---- corners of an overlap of faces ---- */

typedef struct overlap {
  const fx_contact *c;
  fx_poly poly[2];
  frix_pose at[2];
  int lead;     /* whose face is the reference */
  frix_vec3 up; /* its outward normal */
  int kind[2];  /* features */
  int32_t number[2];
} overlap;

static bool faces_along(const overlap *o, int side, frix_vec3 outward) {
  frix_vec3 n = fx_unrotate(o->at[side].q, outward);
  for (int32_t f = 0; f < o->poly[side].face_count; f++)
    if (fx_dot(o->poly[side].face_normal[f], n) > 0 && fx_norm(fx_cross(o->poly[side].face_normal[f], n)) <= ALONG)
      return true;
  return false;
}

static frix_vec3 edge_of(const overlap *o, int side, int32_t number) {
  const fx_poly *p = &o->poly[side];
  frix_vec3 d = fx_sub(p->vertex[p->edge[number].head], p->vertex[p->edge[number].tail]);
  return fx_unit(fx_rotate(o->at[side].q, d));
}

/* The way of the corner, seen from the reference, where the material of the other shape goes by d there. */
static bool corner_way(const overlap *o, frix_vec3 d, frix_vec3 *out) {
  int lead = o->lead, other = 1 - lead;
  if (o->kind[other] == FX_FEATURE_VERTEX && o->kind[lead] == FX_FEATURE_FACE) {
    *out = d;
    return true;
  }
  if (o->kind[other] == FX_FEATURE_FACE && o->kind[lead] == FX_FEATURE_VERTEX) {
    if (o->number[other] >= o->poly[other].face_count) return false;
    frix_vec3 f = fx_rotate(o->at[other].q, o->poly[other].face_normal[o->number[other]]);
    double along = fx_dot(f, o->up);
    if (!(fabs(along) > 0.1)) return false;
    *out = fx_scale(fx_dot(f, d) / along, o->up);
    return true;
  }
  if (o->kind[0] != FX_FEATURE_EDGE || o->kind[1] != FX_FEATURE_EDGE) return false;
  if (o->number[0] >= o->poly[0].edge_count || o->number[1] >= o->poly[1].edge_count) return false;
  frix_vec3 e = edge_of(o, other, o->number[other]), m = fx_cross(edge_of(o, lead, o->number[lead]), o->up);
  double along = fx_dot(m, e);
  if (!(fabs(along) > 1e-6)) return false;
  *out = fx_mad(d, -fx_dot(m, d) / along, e);
  return true;
}

static bool overlap_slope(const overlap *o, fx_contact_slope *out) {
  const fx_contact *c = o->c;
  frix_vec3 p = middle(c), q = o->lead ? c->point_a : c->point_b, arm = fx_sub(q, p);
  for (int k = 0; k < 6; k++) {
    frix_vec3 dq;
    if (!corner_way(o, way(k, arm), &dq)) return false;
    double gap = fx_dot(o->up, dq);
    frix_vec3 dp = fx_mad(dq, -0.5 * gap, o->up), zero = {0, 0, 0};
    if (o->lead == 1) { /* a moves against the reference b */
      out->point[k] = dp, out->gap[k] = gap, out->normal[k] = zero;
    } else { /* b moved: what a does is a move of both less that */
      out->point[k] = fx_sub(k < 3 ? unit(k) : zero, dp), out->gap[k] = -gap;
      out->normal[k] = fx_cross(turn(k), c->normal);
    }
  }
  return true;
}

/* Boxes and hulls: a face of one of them, or two edges. */
static bool poly_slope(const fx_contact *c, const fx_shape *const shape[2], const frix_pose placed[2],
                       fx_contact_slope *out) {
  overlap o = {.c = c, .at = {placed[0], placed[1]}};
  for (int side = 0; side < 2; side++) {
    if (!fx_poly_of(shape[side], &o.poly[side])) return false;
    o.kind[side] = (int)((side ? c->feature >> 60 : c->feature >> 62) & 3);
    o.number[side] = (int32_t)((side ? c->feature : c->feature >> 30) & 0x3fffffff);
  }
  bool turned = shape[0]->kind == FRIX_SHAPE_HULL && shape[1]->kind == FRIX_SHAPE_BOX; /* collision/narrow.c */
  for (int trial = 0; trial < 2; trial++) {
    o.lead = trial != turned;
    o.up = o.lead ? c->normal : fx_neg(c->normal);
    if (faces_along(&o, o.lead, o.up)) return overlap_slope(&o, out);
  }
  if (o.kind[0] != FX_FEATURE_EDGE || o.kind[1] != FX_FEATURE_EDGE) return false;
  meeting m = {.c = c};
  for (int side = 0; side < 2; side++) {
    if (o.number[side] >= o.poly[side].edge_count) return false;
    m.s[side] = line(0, edge_of(&o, side, o.number[side]));
    if (fabs(fx_dot(m.s[side].line, c->normal)) > ALONG) return false;
    for (int k = 0; k < 2; k++) m.e[side][k] = fx_dot(c->tangent[k], m.s[side].line);
  }
  return round_slope(&m, out);
}

bool fx_contact_slope_find(const fx_contact *c, const fx_shape *const shape[2], const frix_pose placed[2],
                           fx_contact_slope *out) {
  bool edged[2];
  for (int k = 0; k < 2; k++) edged[k] = shape[k]->kind == FRIX_SHAPE_BOX || shape[k]->kind == FRIX_SHAPE_HULL;
  if (edged[0] && edged[1]) return poly_slope(c, shape, placed, out);
  meeting m = {.c = c};
  for (int side = 0; side < 2; side++) {
    m.s[side] = surface_of(c, shape[side], shape[1 - side], placed[side], side);
    if (m.s[side].kind == UNKNOWN) return false;
    if (m.s[side].kind != STRAIGHT) continue;
    double x = fx_dot(c->tangent[0], m.s[side].line), y = fx_dot(c->tangent[1], m.s[side].line),
           l = sqrt(x * x + y * y);
    if (!(l > 0.5)) return false;
    m.e[side][0] = x / l, m.e[side][1] = y / l;
  }
  if (m.s[0].kind != BENT && m.s[1].kind != BENT) return false;
  return round_slope(&m, out);
}
