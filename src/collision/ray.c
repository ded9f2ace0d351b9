/* Rays against shapes.
 *
 * A convex shape is the intersection of half spaces n . x <= c and of round sets |S x| <= 1 (S diagonal); the ray
 * o + t d is cut by one after the other. Of the round ones the point of closest approach p is taken first, so that
 *   t = t_p -+ sqrt(1 - |S p|^2) / |S d|
 * keeps its digits for origins far away. Triangles by Moeller and Trumbore (1997). */
#include "collision/ray.h"

/* The part of a ray that is left, and what cut off its beginning. */
typedef struct span {
  double enter, leave;
  frix_vec3 normal; /* of the half space, or of the round set: S^2 (o + t d) */
  bool round;
  frix_vec3 scale; /* of the round set */
} span;

/* Keeps height + t rate <= 0. */
static bool cut_plane(span *s, double height, double rate, frix_vec3 normal) {
  if (rate == 0.0) return height <= 0.0;
  double t = -height / rate;
  if (rate > 0.0) {
    if (t < s->leave) s->leave = t;
  } else if (t > s->enter) {
    s->enter = t, s->normal = normal, s->round = false;
  }
  return s->enter <= s->leave;
}

/* Keeps |S x| <= 1. */
static bool cut_round(span *s, const fx_ray *ray, frix_vec3 scale) {
  frix_vec3 o = fx_vec(ray->origin.x * scale.x, ray->origin.y * scale.y, ray->origin.z * scale.z);
  frix_vec3 d = fx_vec(ray->direction.x * scale.x, ray->direction.y * scale.y, ray->direction.z * scale.z);
  double speed = fx_norm2(d);
  if (speed == 0.0) return fx_norm2(o) <= 1.0;
  double middle = -fx_dot(o, d) / speed, rest = 1.0 - fx_norm2(fx_mad(o, middle, d));
  if (!(rest >= 0.0)) return false;
  double half = sqrt(rest / speed);
  if (middle - half > s->enter) s->enter = middle - half, s->round = true, s->scale = scale;
  if (middle + half < s->leave) s->leave = middle + half;
  return s->enter <= s->leave;
}

static bool cut_slab(span *s, double place, double rate, double half, frix_vec3 axis) {
  return cut_plane(s, place - half, rate, axis) && cut_plane(s, -place - half, -rate, fx_neg(axis));
}

static bool cut_box(span *s, const fx_ray *ray, frix_vec3 half, bool flat) {
  return cut_slab(s, ray->origin.x, ray->direction.x, half.x, fx_vec(1, 0, 0)) &&
         cut_slab(s, ray->origin.y, ray->direction.y, half.y, fx_vec(0, 1, 0)) &&
         (flat || cut_slab(s, ray->origin.z, ray->direction.z, half.z, fx_vec(0, 0, 1)));
}

static bool cut_hull(span *s, const fx_ray *ray, const fx_polyhedron *p) {
  for (int32_t k = 0; k < p->face_count; k++) {
    frix_vec3 n = p->face_normal[k];
    if (!cut_plane(s, fx_dot(n, ray->origin) - p->face_offset[k], fx_dot(n, ray->direction), n)) return false;
  }
  return true;
}

static bool cut_polygon(span *s, const fx_ray *ray, const fx_polyhedron *p) {
  for (int32_t k = 0; k < p->vertex_count; k++) {
    frix_vec3 a = p->vertex[k], e = fx_sub(p->vertex[(k + 1) % p->vertex_count], a);
    frix_vec3 n = fx_unit(fx_vec(e.y, -e.x, 0.0));
    if (!cut_plane(s, fx_dot(n, fx_sub(ray->origin, a)), fx_dot(n, ray->direction), n)) return false;
  }
  return true;
}

static bool cut_convex(span *s, const fx_shape *shape, const fx_ray *ray) {
  double across = 1.0 / shape->radius;
  frix_vec3 h = shape->half;
  switch (shape->kind) {
    case FRIX_SHAPE_SPHERE: return cut_round(s, ray, fx_vec(across, across, across));
    case FRIX_SHAPE_BOX: return cut_box(s, ray, h, false);
    case FRIX_SHAPE_CYLINDER:
      return cut_slab(s, ray->origin.z, ray->direction.z, shape->half_length, fx_vec(0, 0, 1)) &&
             cut_round(s, ray, fx_vec(across, across, 0));
    case FRIX_SHAPE_ELLIPSOID: return cut_round(s, ray, fx_vec(1.0 / h.x, 1.0 / h.y, 1.0 / h.z));
    case FRIX_SHAPE_PLANE: return cut_plane(s, ray->origin.z, ray->direction.z, fx_vec(0, 0, 1));
    case FRIX_SHAPE_HULL: return cut_hull(s, ray, &shape->geometry->hull);
    case FRIX_SHAPE_DISC: return cut_round(s, ray, fx_vec(across, across, 0));
    case FRIX_SHAPE_RECTANGLE: return cut_box(s, ray, h, true);
    case FRIX_SHAPE_ELLIPSE: return cut_round(s, ray, fx_vec(1.0 / h.x, 1.0 / h.y, 0));
    case FRIX_SHAPE_POLYGON: return cut_polygon(s, ray, &shape->geometry->hull);
    case FRIX_SHAPE_HALF_PLANE: return cut_plane(s, ray->origin.y, ray->direction.y, fx_vec(0, 1, 0));
    default: return false;
  }
}

static frix_vec3 normal_of(const span *s, const fx_ray *ray) {
  if (s->enter == 0.0) return fx_neg(ray->direction); /* inside from the beginning */
  if (!s->round) return s->normal;
  frix_vec3 p = fx_mad(ray->origin, s->enter, ray->direction), k = s->scale;
  return fx_unit(fx_vec(p.x * k.x * k.x, p.y * k.y * k.y, p.z * k.z * k.z));
}

/* The cylinder between its ends and the two balls: a convex union, entered where the first of them is. */
static bool hit_capsule(const fx_shape *shape, const fx_ray *ray, double limit, double *distance, frix_vec3 *normal) {
  double across = 1.0 / shape->radius, best = limit;
  bool hit = false;
  for (int part = 0; part < 3; part++) {
    fx_ray seen = *ray;
    span s = {.leave = limit};
    if (part) seen.origin.z += part == 1 ? shape->half_length : -shape->half_length;
    bool meets = part ? cut_round(&s, &seen, fx_vec(across, across, across))
                      : cut_slab(&s, ray->origin.z, ray->direction.z, shape->half_length, fx_vec(0, 0, 1)) &&
                            cut_round(&s, ray, fx_vec(across, across, 0));
    if (!meets || s.enter > best || (hit && s.enter == best)) continue;
    hit = true, best = s.enter;
    *distance = s.enter;
    *normal = normal_of(&s, &seen);
  }
  return hit;
}

/* ---- meshes and height fields ---- */

static bool hit_triangle(const fx_geometry *m, int32_t t, const fx_ray *ray, double limit, double *distance) {
  const int32_t *v = m->triangle + 3 * (size_t)t;
  frix_vec3 a = m->vertex[v[0]], e = fx_sub(m->vertex[v[1]], a), g = fx_sub(m->vertex[v[2]], a);
  frix_vec3 p = fx_cross(ray->direction, g), s = fx_sub(ray->origin, a);
  double det = fx_dot(e, p);
  if (det == 0.0) return false;
  double x = fx_dot(s, p) / det;
  if (!(x >= 0.0 && x <= 1.0)) return false;
  frix_vec3 q = fx_cross(s, e);
  double y = fx_dot(ray->direction, q) / det;
  if (!(y >= 0.0 && x + y <= 1.0)) return false;
  double t0 = fx_dot(g, q) / det;
  if (!(t0 >= 0.0 && t0 <= limit)) return false;
  *distance = t0;
  return true;
}

static bool hit_mesh(const fx_geometry *m, const fx_ray *ray, double limit, double *distance, frix_vec3 *normal) {
  enum { STACK = 128 };
  int32_t stack[STACK], depth = 0, best = -1;
  frix_vec3 inverse = fx_ray_inverse(ray->direction);
  if (m->node_count > 0) stack[depth++] = 0;
  while (depth > 0) {
    const fx_tree_node *node = &m->node[stack[--depth]];
    double enter;
    if (!fx_ray_box(ray->origin, inverse, node->low, node->high, limit, &enter)) continue;
    if (node->count == 0) {
      if (depth + 2 <= STACK) stack[depth++] = node->first, stack[depth++] = node->first + 1;
      continue;
    }
    for (int32_t k = 0; k < node->count; k++) {
      int32_t t = m->order[node->first + k];
      double at;
      if (!hit_triangle(m, t, ray, limit, &at) || (at == limit && best >= 0 && t > best)) continue;
      limit = at, best = t;
    }
  }
  if (best < 0) return false;
  *distance = limit;
  *normal = fx_dot(m->normal[best], ray->direction) > 0.0 ? fx_neg(m->normal[best]) : m->normal[best];
  return true;
}

bool fx_ray_shape(const fx_shape *shape, const fx_ray *ray, double limit, double *distance, frix_vec3 *normal) {
  switch (shape->kind) {
    case FRIX_SHAPE_CAPSULE: return hit_capsule(shape, ray, limit, distance, normal);
    case FRIX_SHAPE_MESH:
    case FRIX_SHAPE_HEIGHT_FIELD: return hit_mesh(shape->geometry, ray, limit, distance, normal);
    default: break;
  }
  span s = {.leave = limit};
  if (!cut_convex(&s, shape, ray)) return false;
  *distance = s.enter;
  *normal = normal_of(&s, ray);
  return true;
}
