/* Polyhedron against polyhedron: axes of separation, then faces clipped or edges crossed.
 *
 * The signed distance of two convex polyhedra along a direction is largest over the face normals of either and the
 * cross products of their edges, wherever they overlap or where the closest features include a face or two edges
 * (Gottschalk's theorem; Gregorius, "The Separating Axis Test", 2013). The remaining case, corners near corners, is
 * left to GJK. Near ties between a face and an edge go to the face: the choice must be stable from
 * step to step. Near ties between the faces of the two shapes use the mean direction: the order of the shapes must not
 * matter. */
#include "collision/poly.h"

/* Cosine: a face looks along the axis of contact. */
static const double facing_along = 0.7;

/* ---- views ---- */

/* Corner k of a box: bit 0 is the sign of x, bit 1 of y, bit 2 of z. Faces +x -x +y -y +z -z, counter-clockwise. */
static const int32_t box_face_start[7] = {0, 4, 8, 12, 16, 20, 24};
static const int32_t box_face_vertex[24] = {1, 3, 7, 5, 0, 4, 6, 2, 2, 6, 7, 3, 0, 1, 5, 4, 4, 5, 7, 6, 0, 2, 3, 1};
static const frix_vec3 box_face_normal[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
/* Edges along x, then y, then z; edge 4 d + s has the signs s in the other two directions, the lower one first. left is
 * the face in which tail -> head is counter-clockwise. */
static const fx_edge box_edge[12] = {{0, 1, 3, 5}, {2, 3, 5, 2}, {4, 5, 4, 3}, {6, 7, 2, 4},
                                     {0, 2, 5, 1}, {1, 3, 0, 5}, {4, 6, 1, 4}, {5, 7, 4, 0},
                                     {0, 4, 1, 3}, {1, 5, 3, 0}, {2, 6, 2, 1}, {3, 7, 0, 2}};
/* Edge from corner k of a face to the next, in the order of box_face_vertex. */
static const int32_t box_face_edge[24] = {5, 11, 7, 9, 8, 6, 10, 4, 10, 3, 11, 1, 0, 9, 2, 8, 2, 7, 3, 6, 4, 1, 5, 0};

static void view_box(frix_vec3 half, fx_poly *out) {
  for (int k = 0; k < 8; k++)
    out->vertex_room[k] = fx_vec(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
  for (int k = 0; k < 6; k++) out->offset_room[k] = fx_at(half, k / 2);
  out->vertex_count = 8, out->face_count = 6, out->edge_count = 12;
  out->vertex = out->vertex_room, out->face_normal = box_face_normal, out->face_offset = out->offset_room;
  out->face_start = box_face_start, out->face_vertex = box_face_vertex, out->face_edge = box_face_edge;
  out->edge = box_edge;
}

bool fx_poly_of(const fx_shape *shape, fx_poly *out) {
  out->bound = shape->bound;
  if (shape->kind == FRIX_SHAPE_BOX) {
    view_box(shape->half, out);
    return true;
  }
  if (shape->kind != FRIX_SHAPE_HULL) return false;
  const fx_polyhedron *h = &shape->geometry->hull;
  out->vertex_count = h->vertex_count, out->face_count = h->face_count, out->edge_count = h->edge_count;
  out->vertex = h->vertex, out->face_normal = h->face_normal, out->face_offset = h->face_offset;
  out->face_start = h->face_start, out->face_vertex = h->face_vertex, out->face_edge = h->face_edge;
  out->edge = h->edge;
  return true;
}

bool fx_poly_small(const fx_poly *a, const fx_poly *b) {
  return a->vertex_count <= FX_POLY_MOST && a->face_count <= FX_POLY_MOST && b->vertex_count <= FX_POLY_MOST &&
         b->face_count <= FX_POLY_MOST && (int64_t)a->edge_count * b->edge_count <= FX_POLY_PAIRS;
}

void fx_poly_move(const fx_poly *p, frix_pose pose, frix_vec3 *vertex, frix_vec3 *normal, double *offset,
                  fx_poly *out) {
  fx_mat3 r = fx_quat_matrix(pose.q);
  *out = *p;
  for (int32_t k = 0; k < p->vertex_count; k++) vertex[k] = fx_add(pose.p, fx_mat3_mul(r, p->vertex[k]));
  for (int32_t k = 0; k < p->face_count; k++) {
    normal[k] = fx_mat3_mul(r, p->face_normal[k]);
    offset[k] = fx_dot(normal[k], pose.p) + p->face_offset[k];
  }
  out->vertex = vertex, out->face_normal = normal, out->face_offset = offset;
}

void fx_poly_face(const fx_poly *p, int32_t face, fx_face *out) {
  int32_t first = p->face_start[face], count = p->face_start[face + 1] - first;
  int32_t stride = (count + FX_FACE_MOST - 1) / FX_FACE_MOST;
  out->count = 0;
  for (int32_t k = 0; k < count; k += stride, out->count++) {
    out->vertex[out->count] = p->face_vertex[first + k];
    out->edge[out->count] = p->face_edge[first + k];
    out->point[out->count] = p->vertex[p->face_vertex[first + k]];
  }
  out->face = face;
  out->normal = p->face_normal[face];
  out->round = false;
}

static void edge_face(const fx_poly *p, int32_t e, fx_face *out) {
  int32_t tail = p->edge[e].tail, head = p->edge[e].head;
  fx_segment_face(p->vertex[tail], p->vertex[head], tail, head, e, out);
}

/* ---- axes ---- */

/* Deepest corner of b below each face of a. */
static bool search_faces(const fx_poly *a, const fx_poly *b, double margin, double *best, int32_t *index) {
  *best = -INFINITY;
  for (int32_t f = 0; f < a->face_count; f++) {
    double least = INFINITY;
    for (int32_t v = 0; v < b->vertex_count; v++) least = fx_min(least, fx_dot(a->face_normal[f], b->vertex[v]));
    double separation = least - a->face_offset[f];
    if (separation > margin) return false;
    if (separation > *best) *best = separation, *index = f;
  }
  return true;
}

/* Whether the arcs of two edges on the sphere of normals cross, so that they make a face of the Minkowski difference.
 */
static bool arcs_cross(frix_vec3 a, frix_vec3 b, frix_vec3 ba, frix_vec3 c, frix_vec3 d, frix_vec3 dc) {
  double cba = fx_dot(c, ba), dba = fx_dot(d, ba), adc = fx_dot(a, dc), bdc = fx_dot(b, dc);
  return cba * dba < 0.0 && adc * bdc < 0.0 && cba * bdc > 0.0;
}

bool fx_axes_search(const fx_poly *a, const fx_poly *b, double margin, fx_axes *out) {
  if (!search_faces(a, b, margin, &out->face_a, &out->index_a)) return false;
  if (!search_faces(b, a, margin, &out->face_b, &out->index_b)) return false;
  out->edge = -INFINITY;
  for (int32_t i = 0; i < a->edge_count; i++) {
    fx_edge x = a->edge[i];
    frix_vec3 p = a->vertex[x.tail], e = fx_sub(a->vertex[x.head], p);
    frix_vec3 left = a->face_normal[x.left], right = a->face_normal[x.right];
    for (int32_t j = 0; j < b->edge_count; j++) {
      fx_edge y = b->edge[j];
      frix_vec3 q = b->vertex[y.tail], g = fx_sub(b->vertex[y.head], q);
      frix_vec3 b_left = fx_neg(b->face_normal[y.left]), b_right = fx_neg(b->face_normal[y.right]);
      if (!arcs_cross(left, right, e, b_left, b_right, g)) continue;
      frix_vec3 axis = fx_cross(e, g);
      if (fx_norm2(axis) < 1e-10 * fx_norm2(e) * fx_norm2(g)) continue;
      axis = fx_unit(axis);
      /* outward of a: between its two face normals */
      if (fx_dot(axis, fx_add(left, right)) < 0.0) axis = fx_neg(axis);
      double separation = fx_dot(axis, fx_sub(q, p));
      if (separation > margin) return false;
      if (separation > out->edge) out->edge = separation, out->edge_a = i, out->edge_b = j, out->edge_axis = axis;
    }
  }
  return true;
}

/* Signs of the corner of a box farthest along d, as corner bits. */
static int corner_along(frix_vec3 d) { return (d.x >= 0.0) | (d.y >= 0.0) << 1 | (d.z >= 0.0) << 2; }

/* The edge along direction k through a corner. */
static int32_t box_edge_at(int k, int corner) {
  int low = k == 0 ? 1 : 0, high = k == 2 ? 1 : 2;
  return 4 * k + ((corner >> low) & 1) + 2 * ((corner >> high) & 1);
}

/* The axis across direction i of the first box and j of the second, and the edges along them that meet there. behind:
 * the axis points to the first box. */
static void name_box_edges(const fx_mat3 *m, int i, int j, bool behind, fx_axes *out) {
  const double r[3][3] = {{m->x.x, m->x.y, m->x.z}, {m->y.x, m->y.y, m->y.z}, {m->z.x, m->z.y, m->z.z}};
  int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
  double axis[3];
  axis[i] = 0.0, axis[i1] = -r[i2][j], axis[i2] = r[i1][j];
  frix_vec3 n = fx_unit(fx_vec(axis[0], axis[1], axis[2]));
  if (behind) n = fx_neg(n);
  out->edge_axis = n;
  out->edge_a = box_edge_at(i, corner_along(n));
  out->edge_b = box_edge_at(j, corner_along(fx_neg(fx_mat3_tmul(*m, n))));
}

bool fx_axes_boxes(frix_vec3 half_a, frix_vec3 half_b, frix_pose b_in_a, double margin, fx_axes *out) {
  fx_mat3 m = fx_quat_matrix(b_in_a.q);
  const double r[3][3] = {{m.x.x, m.x.y, m.x.z}, {m.y.x, m.y.y, m.y.z}, {m.z.x, m.z.y, m.z.z}};
  const double t[3] = {b_in_a.p.x, b_in_a.p.y, b_in_a.p.z}, a[3] = {half_a.x, half_a.y, half_a.z},
               b[3] = {half_b.x, half_b.y, half_b.z};
  double q[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) q[i][j] = fabs(r[i][j]);
  int best_i = -1, best_j = -1;
  bool behind = false;
  out->face_a = out->face_b = out->edge = -INFINITY;
  for (int i = 0; i < 3; i++) {
    double separation = fabs(t[i]) - (a[i] + b[0] * q[i][0] + b[1] * q[i][1] + b[2] * q[i][2]);
    if (separation > margin) return false;
    if (separation > out->face_a) out->face_a = separation, out->index_a = 2 * i + (t[i] < 0.0);
  }
  for (int j = 0; j < 3; j++) {
    double along = t[0] * r[0][j] + t[1] * r[1][j] + t[2] * r[2][j];
    double separation = fabs(along) - (b[j] + a[0] * q[0][j] + a[1] * q[1][j] + a[2] * q[2][j]);
    if (separation > margin) return false;
    if (separation > out->face_b) out->face_b = separation, out->index_b = 2 * j + (along > 0.0);
  }
  for (int i = 0; i < 3; i++) {
    int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int j = 0; j < 3; j++) {
      int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      double square = r[i1][j] * r[i1][j] + r[i2][j] * r[i2][j]; /* |e_i x b_j|^2 */
      if (square < 1e-10) continue;
      double along = t[i2] * r[i1][j] - t[i1] * r[i2][j];
      double reach = a[i1] * q[i2][j] + a[i2] * q[i1][j] + b[j1] * q[i][j2] + b[j2] * q[i][j1];
      double separation = (fabs(along) - reach) / sqrt(square);
      if (separation > margin) return false;
      if (!(separation > out->edge)) continue;
      out->edge = separation, best_i = i, best_j = j, behind = along < 0.0;
    }
  }
  if (best_i >= 0) name_box_edges(&m, best_i, best_j, behind, out);
  return true;
}

/* ---- manifolds ---- */

/* The face of p most against `axis` among those at its farthest corner: it holds the deepest point. */
static int32_t facing(const fx_poly *p, frix_vec3 axis) {
  int32_t deepest = 0, best = 0;
  double least = INFINITY, most = -INFINITY;
  for (int32_t v = 0; v < p->vertex_count; v++) {
    double along = fx_dot(axis, p->vertex[v]);
    if (along < least) least = along, deepest = v;
  }
  for (int32_t f = 0; f < p->face_count; f++) {
    double against = -fx_dot(axis, p->face_normal[f]);
    if (!(against > most)) continue;
    for (int32_t k = p->face_start[f]; k < p->face_start[f + 1]; k++)
      if (p->face_vertex[k] == deepest) most = against, best = f;
  }
  return best;
}

static double face_contacts(const fx_poly *a, const fx_poly *b, const fx_axes *axes, bool a_leads, double margin,
                            double slop, frix_pose frame, fx_manifold *out) {
  fx_face face_a, face_b;
  double least;
  frix_vec3 axis = a_leads ? a->face_normal[axes->index_a] : fx_neg(b->face_normal[axes->index_b]);
  fx_poly_face(a, a_leads ? axes->index_a : facing(a, fx_neg(axis)), &face_a);
  fx_poly_face(b, a_leads ? facing(b, axis) : axes->index_b, &face_b);
  fx_clip_faces(&face_a, &face_b, axis, margin, slop, frame, out, &least);
  return least;
}

/* Crossing edges of faces that nearly lie on each other, a stack's overhanging corner say: the whole overlap counts,
 * not the crossing alone. Returns the least gap found. */
static double edge_face_contacts(const fx_poly *a, const fx_poly *b, const fx_axes *axes, double margin, double slop,
                                 frix_pose frame, fx_manifold *out) {
  fx_face face_a, face_b;
  double least;
  frix_vec3 axis = axes->edge_axis;
  int32_t index_a = facing(a, fx_neg(axis)), index_b = facing(b, axis);
  if (fx_dot(a->face_normal[index_a], axis) < 0.9 || fx_dot(b->face_normal[index_b], axis) > -0.9) return INFINITY;
  fx_poly_face(a, index_a, &face_a);
  fx_poly_face(b, index_b, &face_b);
  fx_clip_faces(&face_a, &face_b, axis, margin, slop, frame, out, &least);
  return least;
}

/* An edge that runs over a face of the other shape touches it where it enters and where it leaves, not only where it
 * crosses the edge it was paired with. e: the edge, of a where a_runs; f: a face beside the other edge. Both edges lie
 * across the axis and the face falls away from its own, so that none of these contacts is deeper than the crossing. */
static void run_contacts(const fx_poly *a, const fx_poly *b, bool a_runs, int32_t e, int32_t f, frix_vec3 axis,
                         double margin, double slop, frix_pose frame, fx_manifold *out) {
  const fx_poly *p = a_runs ? a : b, *o = a_runs ? b : a;
  fx_face face, segment;
  edge_face(p, e, &segment);
  fx_poly_face(o, f, &face);
  int32_t kept = out->count;
  double least;
  fx_clip_faces(a_runs ? &segment : &face, a_runs ? &face : &segment, axis, margin, slop, frame, out, &least);
  for (int32_t k = kept; k < out->count; k++) {
    bool known = false;
    for (int32_t i = 0; i < kept; i++) known |= out->touch[i].feature == out->touch[k].feature;
    if (!known) out->touch[kept++] = out->touch[k];
  }
  out->count = kept;
}

/* Closest points of the two edges' lines; false where they lie outside the edges. Bodies would turn about this one
 * point: where one edge runs over a face beside the other, there are more. */
static bool edge_contact(const fx_poly *a, const fx_poly *b, const fx_axes *axes, double margin, double slop,
                         frix_pose frame, fx_manifold *out) {
  fx_edge x = a->edge[axes->edge_a], y = b->edge[axes->edge_b];
  frix_vec3 p = a->vertex[x.tail], d = fx_sub(a->vertex[x.head], p);
  frix_vec3 q = b->vertex[y.tail], e = fx_sub(b->vertex[y.head], q), r = fx_sub(p, q);
  double dd = fx_norm2(d), ee = fx_norm2(e), de = fx_dot(d, e), dr = fx_dot(d, r), er = fx_dot(e, r);
  double determinant = dd * ee - de * de;
  if (!(determinant > 1e-12 * dd * ee)) return false;
  double s = (de * er - ee * dr) / determinant, t = (dd * er - de * dr) / determinant;
  double slack_s = slop / sqrt(dd), slack_t = slop / sqrt(ee);
  if (s < -slack_s || s > 1.0 + slack_s || t < -slack_t || t > 1.0 + slack_t) return false;
  frix_vec3 on_a = fx_mad(p, fx_clamp(s, 0.0, 1.0), d);
  fx_clip_single(on_a, fx_mad(on_a, axes->edge, axes->edge_axis), axes->edge_axis,
                 FX_FEATURE(FX_FEATURE_EDGE, axes->edge_a, FX_FEATURE_EDGE, axes->edge_b), frame, out);
  const int32_t face_a[2] = {x.left, x.right}, face_b[2] = {y.left, y.right};
  for (int k = 0; k < 2; k++) {
    if (fx_dot(b->face_normal[face_b[k]], axes->edge_axis) < -facing_along)
      run_contacts(a, b, true, axes->edge_a, face_b[k], axes->edge_axis, margin, slop, frame, out);
    if (fx_dot(a->face_normal[face_a[k]], axes->edge_axis) > facing_along)
      run_contacts(a, b, false, axes->edge_b, face_a[k], axes->edge_axis, margin, slop, frame, out);
  }
  return true;
}

/* The edge of p farthest along `axis`, as a segment; false where none is within the slop of the farthest corner. */
static bool far_edge(const fx_poly *p, frix_vec3 axis, double slop, fx_face *out) {
  double most = -INFINITY, best = -INFINITY;
  int32_t farthest = -1;
  for (int32_t v = 0; v < p->vertex_count; v++) most = fx_max(most, fx_dot(axis, p->vertex[v]));
  for (int32_t e = 0; e < p->edge_count; e++) {
    fx_edge edge = p->edge[e];
    double low = fx_min(fx_dot(axis, p->vertex[edge.tail]), fx_dot(axis, p->vertex[edge.head]));
    if (low < most - slop || !(low > best)) continue;
    best = low, farthest = e;
  }
  if (farthest >= 0) edge_face(p, farthest, out);
  return farthest >= 0;
}

/* A face of either shape separates as well as one of the other: two ridges edge to edge, say, as at the top of a card
 * house. Every normal between the two would do; the one in the middle looks alike from both sides, in a mirror too.
 * False where the two are as good as one. */
static bool tied_contacts(const fx_poly *a, const fx_poly *b, const fx_axes *axes, double margin, double slop,
                          frix_pose frame, fx_manifold *out) {
  frix_vec3 from_a = a->face_normal[axes->index_a], from_b = fx_neg(b->face_normal[axes->index_b]);
  double along = fx_dot(from_a, from_b), least;
  if (fabs(axes->face_a - axes->face_b) > slop || along > 1.0 - 1e-10 || along < 0.0) return false;
  frix_vec3 axis = fx_unit(fx_add(from_a, from_b));
  fx_face face_a, face_b;
  if (along > 0.9) {
    fx_poly_face(a, axes->index_a, &face_a);
    fx_poly_face(b, axes->index_b, &face_b);
  } else if (!far_edge(a, axis, slop, &face_a) || !far_edge(b, fx_neg(axis), slop, &face_b)) {
    return false;
  }
  int32_t before = out->count;
  fx_clip_faces(&face_a, &face_b, axis, margin, slop, frame, out, &least);
  if (least <= axes->face_a + 2.0 * slop) return true;
  out->count = before;
  return false;
}

/* The deepest corner against the face's plane: the last resort where clipping found nothing though bodies overlap. */
static void corner_contact(const fx_poly *a, const fx_poly *b, const fx_axes *axes, bool a_leads, frix_pose frame,
                           fx_manifold *out) {
  const fx_poly *deep = a_leads ? b : a;
  frix_vec3 n = a_leads ? a->face_normal[axes->index_a] : b->face_normal[axes->index_b];
  int32_t best = 0;
  for (int32_t v = 1; v < deep->vertex_count; v++)
    if (fx_dot(n, deep->vertex[v]) < fx_dot(n, deep->vertex[best])) best = v;
  double gap = a_leads ? axes->face_a : axes->face_b;
  frix_vec3 corner = deep->vertex[best], on_face = fx_mad(corner, -gap, n);
  if (a_leads) {
    fx_clip_single(on_face, corner, n, FX_FEATURE(FX_FEATURE_FACE, axes->index_a, FX_FEATURE_VERTEX, best), frame, out);
  } else {
    fx_clip_single(corner, on_face, fx_neg(n), FX_FEATURE(FX_FEATURE_VERTEX, best, FX_FEATURE_FACE, axes->index_b),
                   frame, out);
  }
}

bool fx_poly_manifold(const fx_poly *a, const fx_poly *b, const fx_axes *axes, double margin, frix_pose frame,
                      fx_manifold *out) {
  double slop = 1e-6 * fx_min(a->bound, b->bound);
  bool a_leads = axes->face_a >= axes->face_b - slop;
  double face = a_leads ? axes->face_a : axes->face_b;
  double best = fx_max(fx_max(axes->face_a, axes->face_b), axes->edge);
  bool apart = best > slop;
  int32_t before = out->count;
  if (axes->edge > face + slop) {
    if (edge_face_contacts(a, b, axes, margin, slop, frame, out) <= axes->edge + slop) return true;
    out->count = before;
    if (edge_contact(a, b, axes, margin, slop, frame, out)) return true;
  }
  if (tied_contacts(a, b, axes, margin, slop, frame, out)) return true;
  double least = face_contacts(a, b, axes, a_leads, margin, slop, frame, out);
  if (least <= fx_max(face, best) + slop) return true;
  /* the deepest corner is not over the face: closest points are elsewhere */
  if (apart) {
    out->count = before;
    return false;
  }
  if (out->count == before) corner_contact(a, b, axes, a_leads, frame, out);
  return true;
}
