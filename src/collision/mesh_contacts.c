/* Convex shapes against triangle meshes and height fields.
 *
 * Triangles push along their own normal, unless the closest feature is an edge or corner from which the surface
 * slopes away on all sides: only there may the normal tilt. So a box slides over a flat floor of many triangles as over
 * one plane. The mesh is a surface with an outside: penetrations deeper than the size of the shape belong to another
 * part of the mesh. */
#include "collision/convex.h"
#include "collision/round.h"

enum { STACK = 64 };

typedef struct query {
  const fx_shape *a;
  const fx_geometry *mesh;
  frix_pose a_in_mesh, frame;
  fx_convex core;
  double margin, slop;
  fx_manifold *out;
} query;

/* Whether a contact there is more than its faces' own. */
static bool feature_counts(const fx_geometry *m, int32_t t, int feature) {
  if (feature < 3) return m->convex_edge[t] >> (3 + feature) & 1;
  if (feature < 6) return m->convex_edge[t] >> (feature - 3) & 1;
  return true;
}

/* Whether direction d may be the normal at a corner or edge of triangle t: nothing around it may stand higher along d.
 */
static bool direction_free(const fx_geometry *m, int32_t t, int feature, frix_vec3 d) {
  const int32_t *v = m->triangle + 3 * t;
  if (feature < 3) {
    int32_t me = m->weld[v[feature]];
    for (int32_t k = m->around_start[me]; k < m->around_start[me + 1]; k++) {
      frix_vec3 e = fx_sub(m->vertex[m->around[k]], m->vertex[me]);
      if (fx_dot(d, e) > 1e-6 * fx_norm(e)) return false;
    }
    return true;
  }
  int edge = feature - 3;
  int32_t other = m->neighbour[3 * t + edge];
  if (other < 0) return true;
  frix_vec3 a = m->vertex[v[edge]], e = fx_unit(fx_sub(m->vertex[v[(edge + 1) % 3]], a));
  for (int k = 0; k < 3; k++) {
    frix_vec3 w = fx_sub(m->vertex[m->triangle[3 * other + k]], a), across = fx_mad(w, -fx_dot(w, e), e);
    if (fx_dot(d, across) > 1e-6 * fx_norm(w)) return false;
  }
  return true;
}

/* ---- spheres ---- */

static void sphere_triangle(const query *q, int32_t t) {
  const fx_geometry *m = q->mesh;
  const int32_t *v = m->triangle + 3 * t;
  frix_vec3 c = q->a_in_mesh.p, n = m->normal[t];
  double height = fx_dot(n, fx_sub(c, m->vertex[v[0]])), radius = q->a->radius;
  if (height > radius + q->margin || height < -radius) return;
  int feature;
  frix_vec3 p = fx_triangle_nearest(m->vertex[v[0]], m->vertex[v[1]], m->vertex[v[2]], c, &feature);
  frix_vec3 d = fx_sub(c, p);
  double distance = fx_norm(d);
  frix_vec3 axis = distance > 1e-12 * radius ? fx_scale(1.0 / distance, d) : n;
  bool free = feature < 6 && height > 0.0 && direction_free(m, t, feature, axis);
  if (!free) {
    /* beside the triangle it is a matter of the neighbour; on its border, up to rounding, of both */
    if (feature < 6 && !(height > 0.0 && fx_dot(axis, n) > 0.9999)) return;
    axis = n, distance = height;
  }
  if (distance - radius > q->margin) return;
  fx_clip_single(fx_mad(c, -radius, axis), p, fx_neg(axis), FX_FEATURE(FX_FEATURE_VERTEX, 0, FX_FEATURE_FACE, t),
                 q->frame, q->out);
}

/* ---- other shapes ---- */

static void triangle_face(const fx_geometry *m, int32_t t, fx_face *out) {
  out->count = 3;
  out->face = 6;
  out->round = false;
  out->normal = m->normal[t];
  for (int k = 0; k < 3; k++) {
    out->point[k] = m->vertex[m->triangle[3 * t + k]];
    out->vertex[k] = k;
    out->edge[k] = 3 + k;
  }
}

/* One number for an edge, whichever of its two triangles asks. */
static int32_t edge_name(const fx_geometry *m, int32_t t, int edge) {
  int32_t other = m->neighbour[3 * t + edge];
  for (int k = 0; k < 3 && other >= 0 && other < t; k++)
    if (m->neighbour[3 * other + k] == t) return 3 * other + k;
  return 3 * t + edge;
}

/* The corner of the shape's face at this contact, -1 where there is none. */
static int32_t corner_at(const query *q, const fx_face *face, const fx_touch *touch) {
  for (int32_t k = 0; k < face->count; k++)
    if (fx_norm(fx_sub(fx_pose_point(q->frame, face->point[k]), touch->point_a)) <= 2.0 * q->slop)
      return face->vertex[k];
  return -1;
}

/* Names in the whole mesh for the parts of one triangle; false for contacts that its neighbours make superfluous: where
 * a side of the shape crosses an edge on which the surface is flat. A corner of the shape exactly over such an edge or
 * its end is a contact all the same, of that corner with the surface. */
static bool name_parts(const query *q, int32_t t, const fx_face *face, fx_touch *touch) {
  const fx_geometry *m = q->mesh;
  int kind_a = (int)(touch->feature >> 62), kind_b = (int)(touch->feature >> 60 & 3);
  int32_t a = (int32_t)(touch->feature >> 30 & 0x3fffffff), b = (int32_t)(touch->feature & 0x3fffffff);
  if (kind_b == FX_FEATURE_FACE) {
    touch->feature = FX_FEATURE(kind_a, a, FX_FEATURE_FACE, 0);
    return true;
  }
  if (kind_b == FX_FEATURE_NONE) return true;
  if (b < 6 && !feature_counts(m, t, b)) {
    int32_t corner = corner_at(q, face, touch);
    if (corner < 0) return false;
    touch->feature = FX_FEATURE(FX_FEATURE_VERTEX, corner, FX_FEATURE_FACE, 0);
    return true;
  }
  if (kind_b == FX_FEATURE_VERTEX) b = m->triangle[3 * t + b];
  if (kind_b == FX_FEATURE_EDGE) {
    b = edge_name(m, t, b - 3);
  }
  touch->feature = FX_FEATURE(kind_a, a, kind_b, b);
  return true;
}

/* Contacts along an axis (unit, from a to the mesh). Returns whether the triangle holds the deepest point. */
static bool clip_triangle(const query *q, int32_t t, frix_vec3 axis, double gap) {
  fx_face face_a, face_b;
  double least;
  int32_t first = q->out->count;
  fx_shape_face(q->a, q->a_in_mesh, axis, q->slop, q->out, 0, &face_a);
  triangle_face(q->mesh, t, &face_b);
  if (face_a.count == 1) return false;
  fx_clip_faces(&face_a, &face_b, axis, q->margin, q->slop, q->frame, q->out, &least);
  int32_t kept = first;
  for (int32_t k = first; k < q->out->count; k++) {
    fx_touch touch = q->out->touch[k];
    if (name_parts(q, t, &face_a, &touch)) q->out->touch[kept++] = touch;
  }
  q->out->count = kept;
  return least <= gap + 4.0 * q->slop;
}

/* Which part of the triangle a point on it belongs to, as in fx_triangle_nearest, edges and corners a little wide. */
static int part_of(const fx_geometry *m, int32_t t, frix_vec3 p, double slop) {
  const int32_t *v = m->triangle + 3 * t;
  for (int k = 0; k < 3; k++)
    if (fx_norm(fx_sub(p, m->vertex[v[k]])) <= slop) return k;
  for (int k = 0; k < 3; k++) {
    frix_vec3 a = m->vertex[v[k]], e = fx_sub(m->vertex[v[(k + 1) % 3]], a);
    frix_vec3 inward = fx_cross(m->normal[t], e);
    if (fx_dot(inward, fx_sub(p, a)) <= slop * fx_norm(e)) return 3 + k;
  }
  return 6;
}

static void convex_triangle(const query *q, int32_t t) {
  const fx_geometry *m = q->mesh;
  frix_vec3 corner[3], n = m->normal[t], down = fx_neg(n);
  for (int k = 0; k < 3; k++) corner[k] = m->vertex[m->triangle[3 * t + k]];
  frix_vec3 lowest = fx_mad(fx_convex_support(&q->core, down), -q->core.round, n);
  double depth = fx_dot(n, fx_sub(lowest, corner[0]));
  if (depth > q->margin || depth < -2.0 * q->a->bound) return;
  fx_convex triangle = fx_convex_of_points(corner, 3);
  frix_vec3 middle = fx_scale(1.0 / 3.0, fx_add(fx_add(corner[0], corner[1]), corner[2]));
  fx_closest closest;
  double round = q->core.round;
  if (!fx_closest_find(&q->core, &triangle, fx_sub(middle, q->a_in_mesh.p), q->margin + round, &closest)) return;
  double cosine = -fx_dot(closest.axis, n);
  int part = part_of(m, t, closest.point_b, q->slop);
  bool tilted = cosine > 0.0 && cosine < 1.0 - 1e-12 && part < 6 && closest.distance > 0.0 &&
                direction_free(m, t, part, fx_neg(closest.axis));
  if (!tilted) {
    /* along the triangle's own normal: contacts are where the lowest feature of a lies over the triangle */
    if (clip_triangle(q, t, down, depth)) return;
    int feature;
    frix_vec3 foot = fx_mad(lowest, -depth, n);
    frix_vec3 near = fx_triangle_nearest(corner[0], corner[1], corner[2], foot, &feature);
    if (fx_norm(fx_sub(near, foot)) <= q->slop)
      fx_clip_single(lowest, foot, down, FX_FEATURE(FX_FEATURE_NONE, 0, FX_FEATURE_FACE, t), q->frame, q->out);
    return;
  }
  double gap = closest.distance - round;
  if (gap > q->margin || clip_triangle(q, t, closest.axis, gap)) return;
  fx_clip_single(fx_mad(closest.point_a, round, closest.axis), closest.point_b, closest.axis,
                 FX_FEATURE(FX_FEATURE_NONE, 0, FX_FEATURE_EDGE, m->triangle[3 * t + part % 3]), q->frame, q->out);
}

/* ---- the walk ---- */

static bool apart(frix_vec3 low, frix_vec3 high, const fx_tree_node *n) {
  return low.x > n->high.x || high.x < n->low.x || low.y > n->high.y || high.y < n->low.y || low.z > n->high.z ||
         high.z < n->low.z;
}

/* Neighbouring triangles give the same contact twice: keep the deeper one, first come first. */
static void drop_doubles(fx_manifold *out, int32_t first, double distance) {
  int32_t kept = first;
  for (int32_t k = first; k < out->count; k++) {
    fx_touch touch = out->touch[k];
    int32_t other = first;
    for (; other < kept; other++) {
      const fx_touch *o = &out->touch[other];
      bool same_name = o->feature == touch.feature && fx_dot(o->normal, touch.normal) > 0.99;
      bool same_place =
          fx_norm(fx_sub(o->point_a, touch.point_a)) <= distance && fx_dot(o->normal, touch.normal) > 0.999;
      if (same_name || same_place) break;
    }
    if (other == kept) {
      out->touch[kept++] = touch;
    } else if (touch.gap < out->touch[other].gap) {
      out->touch[other] = touch;
    }
  }
  out->count = kept;
}

void fx_narrow_mesh(const fx_shape *a, frix_pose pose_a, const fx_shape *b, frix_pose pose_b, double margin,
                    fx_manifold *out) {
  const fx_geometry *m = b->geometry;
  query q = {.a = a, .mesh = m, .frame = pose_b, .margin = margin, .slop = 1e-6 * a->bound, .out = out};
  q.a_in_mesh = fx_pose_mul(fx_pose_inverse(pose_b), pose_a);
  q.core = fx_convex_of_shape(a, q.a_in_mesh);
  frix_vec3 low, high, wide = {margin, margin, margin};
  fx_shape_row_of(a->kind)->box(a, q.a_in_mesh, &low, &high);
  low = fx_sub(low, wide), high = fx_add(high, wide);
  int32_t stack[STACK], depth = 0, first = out->count;
  stack[depth++] = 0;
  while (depth > 0) {
    const fx_tree_node *n = &m->node[stack[--depth]];
    if (apart(low, high, n)) continue;
    if (n->count == 0) {
      stack[depth++] = n->first + 1;
      stack[depth++] = n->first;
      continue;
    }
    for (int32_t k = n->first; k < n->first + n->count; k++) {
      if (a->kind == FRIX_SHAPE_SPHERE) {
        sphere_triangle(&q, m->order[k]);
      } else {
        convex_triangle(&q, m->order[k]);
      }
    }
  }
  drop_doubles(out, first, 2.0 * q.slop);
}
