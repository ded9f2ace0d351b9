/* Convex against convex: closest points by GJK or EPA, then the flat features that face each other are clipped.
 *
 * The signed distance is the largest separation over all axes. An iterative axis is therefore compared with the exact
 * candidates (face normals, axes of cylinders and their cross products): if one of those separates as well or better,
 * it is used, and a cylinder standing on a box gets the box's normal to the last bit. */
#include "collision/convex.h"

#include "collision/poly.h"
#include "collision/rim.h"

/* ---- features ---- */

static void point_face(frix_vec3 p, fx_face *out) {
  out->count = 1;
  out->round = false;
  out->point[0] = p;
  out->vertex[0] = out->edge[0] = out->face = 0;
}

/* A cap, or the line of the barrel; its ends are the caps' first rim points, also by name. */
static void cylinder_face(const fx_shape *s, frix_vec3 d, double slop, const fx_manifold *m, int side, fx_face *out) {
  double flat = sqrt(d.x * d.x + d.y * d.y);
  if (fabs(d.z) > flat) {
    fx_cap_face(s, d, slop, m, side, out);
    return;
  }
  double x = s->radius * d.x / flat, y = s->radius * d.y / flat;
  fx_segment_face(fx_vec(x, y, -s->half_length), fx_vec(x, y, s->half_length), FX_CAP_BELOW, FX_CAP_ABOVE, 32, out);
}

/* The face within eight degrees of d, else the edge, else the corner. */
static void poly_feature(const fx_shape *shape, frix_vec3 d, fx_face *out) {
  fx_poly p;
  fx_poly_of(shape, &p);
  int32_t face = 0, corner = 0, edge = -1;
  for (int32_t f = 1; f < p.face_count; f++)
    if (fx_dot(p.face_normal[f], d) > fx_dot(p.face_normal[face], d)) face = f;
  if (fx_dot(p.face_normal[face], d) > 0.99) {
    fx_poly_face(&p, face, out);
    return;
  }
  for (int32_t v = 1; v < p.vertex_count; v++)
    if (fx_dot(p.vertex[v], d) > fx_dot(p.vertex[corner], d)) corner = v;
  double least = 0.1;
  for (int32_t e = 0; e < p.edge_count; e++) {
    if (p.edge[e].tail != corner && p.edge[e].head != corner) continue;
    frix_vec3 along = fx_unit(fx_sub(p.vertex[p.edge[e].head], p.vertex[p.edge[e].tail]));
    if (fabs(fx_dot(along, d)) < least) least = fabs(fx_dot(along, d)), edge = e;
  }
  if (edge < 0) {
    point_face(p.vertex[corner], out);
    out->vertex[0] = corner;
  } else {
    fx_edge e = p.edge[edge];
    fx_segment_face(p.vertex[e.tail], p.vertex[e.head], e.tail, e.head, edge, out);
  }
}

void fx_shape_face(const fx_shape *shape, frix_pose pose, frix_vec3 d, double slop, const fx_manifold *m, int side,
                   fx_face *out) {
  frix_vec3 local = fx_unrotate(pose.q, d);
  switch (shape->kind) {
    case FRIX_SHAPE_CAPSULE: {
      frix_vec3 skin = fx_scale(shape->radius, local), end = fx_vec(0.0, 0.0, shape->half_length);
      fx_segment_face(fx_sub(skin, end), fx_add(skin, end), 0, 1, 0, out);
      break;
    }
    case FRIX_SHAPE_CYLINDER: cylinder_face(shape, local, slop, m, side, out); break;
    case FRIX_SHAPE_BOX:
    case FRIX_SHAPE_HULL: poly_feature(shape, local, out); break;
    default: point_face(fx_shape_row_of(shape->kind)->support(shape, local), out);
  }
  for (int32_t k = 0; k < out->count; k++) out->point[k] = fx_pose_point(pose, out->point[k]);
  if (out->count > 2) out->normal = fx_rotate(pose.q, out->normal);
  if (out->round) out->center = fx_pose_point(pose, out->center);
}

/* ---- exact axes near an iterative one ---- */

typedef struct candidates {
  int count;
  frix_vec3 axis[64];
} candidates;

static void propose(candidates *c, frix_vec3 axis, frix_vec3 near) {
  double square = fx_norm2(axis), rough = fx_dot(axis, near);
  if (c->count == 64 || !(square > 0.0)) return;
  if (rough * rough < 0.95 * square) return; /* far from it: 0.98^2 = 0.96, no root needed */
  axis = fx_unit(axis);
  double along = fx_dot(axis, near);
  if (fabs(along) > 0.98) c->axis[c->count++] = along > 0.0 ? axis : fx_neg(axis);
}

/* Face normals of a shape; its own lines for cross products. */
static int directions(const fx_shape *s, frix_pose pose, frix_vec3 near, candidates *c, frix_vec3 line[3]) {
  fx_mat3 r = fx_quat_matrix(pose.q);
  if (s->kind == FRIX_SHAPE_BOX) {
    for (int k = 0; k < 3; k++) propose(c, line[k] = fx_mat3_col(r, k), near);
    return 3;
  }
  if (s->kind == FRIX_SHAPE_CYLINDER || s->kind == FRIX_SHAPE_CAPSULE) {
    line[0] = fx_mat3_col(r, 2);
    if (s->kind == FRIX_SHAPE_CYLINDER) propose(c, line[0], near);
    propose(c, fx_mad(near, -fx_dot(near, line[0]), line[0]), near);
    return 1;
  }
  if (s->kind == FRIX_SHAPE_HULL) {
    const fx_polyhedron *h = &s->geometry->hull;
    frix_vec3 local = fx_mat3_tmul(r, near);
    for (int32_t f = 0; f < h->face_count; f++)
      if (fabs(fx_dot(h->face_normal[f], local)) > 0.98) propose(c, fx_mat3_mul(r, h->face_normal[f]), near);
  }
  return 0;
}

/* The best of the exact axes, where it is as good as the iterative one. */
static bool snap(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, const fx_convex *ca,
                 const fx_convex *cb, double slack, fx_closest *closest) {
  candidates c; /* 1.5 kB, of which little is used */
  c.count = 0;
  frix_vec3 line_a[3], line_b[3], near = closest->axis;
  int count_a = directions(a, pose_a, near, &c, line_a), count_b = directions(b, pose_b, near, &c, line_b);
  for (int i = 0; i < count_a; i++)
    for (int j = 0; j < count_b; j++) {
      frix_vec3 across = fx_cross(line_a[i], line_b[j]);
      if (fx_norm2(across) > 1e-8) propose(&c, across, near);
    }
  /* parallel axes of two rods: the line between them */
  frix_vec3 between = fx_sub(pose_b.p, pose_a.p);
  if (count_a == 1 && count_b == 1) propose(&c, fx_mad(between, -fx_dot(between, line_a[0]), line_a[0]), near);
  double best = closest->distance - slack;
  bool found = false;
  for (int k = 0; k < c.count; k++) {
    double separation = fx_convex_separation(ca, cb, c.axis[k]);
    if (!(separation > best)) continue;
    best = separation, found = true;
    closest->axis = c.axis[k];
  }
  if (found) closest->distance = best;
  return found;
}

/* Clips the features across the axis, which are left in `face`; false, with nothing added, where they do not hold the
 * deepest point. */
static bool clip_across(const fx_shape *a, const fx_shape *b, frix_pose b_in_a, frix_vec3 axis, double gap,
                        double margin, double slop, frix_pose frame, fx_manifold *out, fx_face face[2]) {
  double least;
  int32_t before = out->count;
  fx_shape_face(a, fx_pose_one(), axis, slop, out, 0, &face[0]);
  fx_shape_face(b, b_in_a, fx_neg(axis), slop, out, 1, &face[1]);
  fx_clip_faces(&face[0], &face[1], axis, margin, slop, frame, out, &least);
  if (least <= gap + 4.0 * slop) return true;
  out->count = before;
  return false;
}

/* What was apart across an axis most often still is: two support points tell, where the search takes ten. */
static bool still_apart(const fx_convex *a, const fx_convex *b, double limit, const frix_vec3 *axis) {
  if (!axis || fx_norm2(*axis) == 0.0) return false;
  return fx_convex_separation(a, b, *axis) > limit + 1e-9 * (limit + a->size + b->size);
}

void fx_narrow_convex(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                      fx_manifold *out) {
  frix_pose rel = fx_pose_mul(fx_pose_inverse(pose_a), pose_b), one = fx_pose_one();
  fx_convex ca = fx_convex_of_shape(a, one), cb = fx_convex_of_shape(b, rel);
  double round = ca.round + cb.round, slop = 1e-6 * fx_min(a->bound, b->bound);
  fx_closest closest, exact;
  fx_face face[2];
  if (still_apart(&ca, &cb, margin + round, out->apart)) return;
  if (!fx_closest_find(&ca, &cb, rel.p, margin + round, &closest)) {
    if (out->apart) *out->apart = closest.axis;
    return;
  }
  exact = closest;
  bool snapped = snap(a, one, b, rel, &ca, &cb, 1e-3 * slop, &exact);
  if (snapped && clip_across(a, b, rel, exact.axis, exact.distance - round, margin, slop, pose_a, out, face)) return;
  if (clip_across(a, b, rel, closest.axis, closest.distance - round, margin, slop, pose_a, out, face)) return;
  if (closest.distance - round > margin) return;
  /* one point: where a shape ends in a corner or is strictly convex, that; else the witness */
  if (face[0].count == 1) {
    closest.point_a = fx_mad(face[0].point[0], -ca.round, closest.axis);
    closest.point_b = fx_mad(closest.point_a, closest.distance, closest.axis);
  } else if (face[1].count == 1) {
    closest.point_b = fx_mad(face[1].point[0], cb.round, closest.axis);
    closest.point_a = fx_mad(closest.point_b, -closest.distance, closest.axis);
  }
  fx_clip_single(fx_mad(closest.point_a, ca.round, closest.axis), fx_mad(closest.point_b, -cb.round, closest.axis),
                 closest.axis, 0, pose_a, out);
}

/* ---- boxes and hulls ---- */

void fx_narrow_poly(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                    fx_manifold *out) {
  frix_pose rel = fx_pose_mul(fx_pose_inverse(pose_a), pose_b);
  fx_axes axes;
  bool boxes = a->kind == FRIX_SHAPE_BOX && b->kind == FRIX_SHAPE_BOX;
  if (boxes && !fx_axes_boxes(a->half, b->half, rel, margin, &axes)) return;
  fx_poly pa, pb, moved;
  frix_vec3 vertex[FX_POLY_MOST], normal[FX_POLY_MOST];
  double offset[FX_POLY_MOST];
  fx_poly_of(a, &pa);
  fx_poly_of(b, &pb);
  if (!fx_poly_small(&pa, &pb)) {
    fx_narrow_convex(a, pose_a, b, pose_b, margin, out);
    return;
  }
  fx_poly_move(&pb, rel, vertex, normal, offset, &moved);
  if (!boxes && !fx_axes_search(&pa, &moved, margin, &axes)) return;
  if (!fx_poly_manifold(&pa, &moved, &axes, margin, pose_a, out)) fx_narrow_convex(a, pose_a, b, pose_b, margin, out);
}
