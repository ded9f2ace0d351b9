/* Gilbert-Johnson-Keerthi distance in double precision.
 *
 * The closest point of a - b to the origin is sought over simplices of support points. The closest point of a simplex
 * is found by regions (Ericson, Real-Time Collision Detection, 5.1), which is robust for flat simplices. If the
 * distance is below 1e-5 of the size, its direction is inaccurate, and the expanding polytope is used. */
#include "collision/gjk.h"

enum { MOST_ITERATIONS = 128 };

typedef struct simplex {
  int count;
  frix_vec3 w[4], a[4], b[4]; /* w = a - b */
  double weight[4];
} simplex;

fx_convex fx_convex_of_shape(const fx_shape *shape, frix_pose pose) {
  fx_convex c = {.shape = shape, .place = pose.p, .turn = fx_quat_matrix(pose.q), .size = shape->bound};
  if (shape->kind == FRIX_SHAPE_SPHERE || shape->kind == FRIX_SHAPE_CAPSULE) c.round = shape->radius;
  return c;
}

fx_convex fx_convex_of_points(const frix_vec3 *point, int32_t count) {
  fx_convex c = {.point = point, .point_count = count};
  c.turn = fx_quat_matrix(fx_quat_one());
  for (int32_t k = 1; k < count; k++) c.size = fx_max(c.size, fx_norm(fx_sub(point[k], point[0])));
  return c;
}

frix_vec3 fx_convex_support(const fx_convex *c, frix_vec3 d) {
  if (!c->shape) {
    int32_t best = 0;
    for (int32_t k = 1; k < c->point_count; k++)
      if (fx_dot(c->point[k], d) > fx_dot(c->point[best], d)) best = k;
    return c->point[best];
  }
  frix_vec3 local = fx_mat3_tmul(c->turn, d), p;
  switch (c->shape->kind) {
    case FRIX_SHAPE_SPHERE: return c->place;
    case FRIX_SHAPE_CAPSULE:
      p = fx_vec(0.0, 0.0, local.z >= 0.0 ? c->shape->half_length : -c->shape->half_length);
      break;
    default: p = fx_shape_row_of(c->shape->kind)->support(c->shape, local);
  }
  return fx_add(c->place, fx_mat3_mul(c->turn, p));
}

double fx_convex_separation(const fx_convex *a, const fx_convex *b, frix_vec3 axis) {
  return fx_dot(axis, fx_sub(fx_convex_support(b, fx_neg(axis)), fx_convex_support(a, axis)));
}

/* ---- closest points of simplices to the origin, as weights ---- */

static void on_segment(const frix_vec3 *w, int i, int j, double weight[4]) {
  frix_vec3 d = fx_sub(w[j], w[i]);
  double along = -fx_dot(w[i], d), length = fx_norm2(d);
  double t = along <= 0.0 || !(length > 0.0) ? 0.0 : along >= length ? 1.0 : along / length;
  weight[i] = 1.0 - t, weight[j] = t;
}

static void on_triangle(const frix_vec3 *w, int i, int j, int k, double weight[4]) {
  frix_vec3 a = w[i], ab = fx_sub(w[j], a), ac = fx_sub(w[k], a);
  double d1 = -fx_dot(ab, a), d2 = -fx_dot(ac, a);
  if (d1 <= 0.0 && d2 <= 0.0) {
    weight[i] = 1.0;
    return;
  }
  double d3 = -fx_dot(ab, w[j]), d4 = -fx_dot(ac, w[j]);
  if (d3 >= 0.0 && d4 <= d3) {
    weight[j] = 1.0;
    return;
  }
  double vc = d1 * d4 - d3 * d2;
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
    on_segment(w, i, j, weight);
    return;
  }
  double d5 = -fx_dot(ab, w[k]), d6 = -fx_dot(ac, w[k]);
  if (d6 >= 0.0 && d5 <= d6) {
    weight[k] = 1.0;
    return;
  }
  double vb = d5 * d2 - d1 * d6;
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
    on_segment(w, i, k, weight);
    return;
  }
  double va = d3 * d6 - d5 * d4;
  if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    on_segment(w, j, k, weight);
    return;
  }
  double sum = va + vb + vc;
  weight[i] = va / sum, weight[j] = vb / sum, weight[k] = vc / sum;
}

static frix_vec3 combine(const frix_vec3 *p, int count, const double *weight) {
  frix_vec3 sum = {0.0, 0.0, 0.0};
  for (int k = 0; k < count; k++) sum = fx_mad(sum, weight[k], p[k]);
  return sum;
}

/* True where the origin is inside. */
static bool on_tetrahedron(const frix_vec3 *w, double weight[4]) {
  static const int face[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
  double best = INFINITY;
  bool inside = true;
  for (int f = 0; f < 4; f++) {
    const int *v = face[f];
    frix_vec3 n = fx_cross(fx_sub(w[v[1]], w[v[0]]), fx_sub(w[v[2]], w[v[0]]));
    double origin = -fx_dot(n, w[v[0]]), other = fx_dot(n, fx_sub(w[v[3]], w[v[0]]));
    if (origin * other > 0.0) continue; /* the origin is on the side of the fourth corner */
    inside = false;
    double trial[4] = {0.0, 0.0, 0.0, 0.0};
    on_triangle(w, v[0], v[1], v[2], trial);
    double distance = fx_norm2(combine(w, 4, trial));
    if (!(distance < best)) continue;
    best = distance;
    for (int k = 0; k < 4; k++) weight[k] = trial[k];
  }
  return inside;
}

/* Weights of the closest point, and the simplex cut down to the corners that carry it. True: the origin is inside. */
static bool reduce(simplex *s) {
  double weight[4] = {0.0, 0.0, 0.0, 0.0};
  if (s->count == 1) weight[0] = 1.0;
  if (s->count == 2) on_segment(s->w, 0, 1, weight);
  if (s->count == 3) on_triangle(s->w, 0, 1, 2, weight);
  if (s->count == 4 && on_tetrahedron(s->w, weight)) return true;
  int kept = 0;
  for (int k = 0; k < s->count; k++) {
    if (!(weight[k] > 0.0)) continue;
    s->w[kept] = s->w[k], s->a[kept] = s->a[k], s->b[kept] = s->b[k], s->weight[kept] = weight[k];
    kept++;
  }
  s->count = kept;
  return false;
}

static bool known(const simplex *s, frix_vec3 w) {
  for (int k = 0; k < s->count; k++)
    if (s->w[k].x == w.x && s->w[k].y == w.y && s->w[k].z == w.z) return true;
  return false;
}

static void add_support(simplex *s, const fx_convex *a, const fx_convex *b, frix_vec3 d) {
  s->a[s->count] = fx_convex_support(a, d);
  s->b[s->count] = fx_convex_support(b, fx_neg(d));
  s->w[s->count] = fx_sub(s->a[s->count], s->b[s->count]);
  s->count++;
}

/* EPA's answer where its axis separates more than `reached`, which GJK's axis does. */
static bool improve(const fx_convex *a, const fx_convex *b, frix_vec3 guess, double reached, fx_closest *out) {
  fx_closest trial;
  if (!fx_epa(a, b, guess, &trial) || !(trial.distance > reached)) return false;
  *out = trial;
  return true;
}

bool fx_closest_find(const fx_convex *a, const fx_convex *b, frix_vec3 guess, double limit, fx_closest *out) {
  double size = fx_max(a->size, b->size), near = 1e-5 * size;
  simplex s, best;
  s.count = 0;
  add_support(&s, a, b, fx_unit(guess));
  s.weight[0] = 1.0;
  best = s;
  double square = fx_norm2(s.w[0]), reached = -INFINITY; /* the largest separation across an axis tried */
  for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
    frix_vec3 v = combine(s.w, s.count, s.weight);
    if (square <= near * near) return fx_epa(a, b, guess, out);
    add_support(&s, a, b, fx_neg(v));
    frix_vec3 w = s.w[s.count - 1];
    double along = fx_dot(v, w);
    if (along > 0.0 && along * along > limit * limit * square) {
      out->axis = fx_unit(fx_neg(v));
      return false;
    }
    reached = along / sqrt(square);
    best = s, best.count--;
    /* no closer support plane, up to rounding */
    if (square - along <= 1e-15 * square || known(&best, w)) break;
    if (reduce(&s)) return fx_epa(a, b, guess, out);
    double next = fx_norm2(combine(s.w, s.count, s.weight));
    if (!(next < square)) break;
    square = next;
  }
  frix_vec3 v = combine(best.w, best.count, best.weight);
  out->distance = fx_norm(v);
  out->axis = fx_unit(fx_neg(v)); /* w = a - b, so that -w leads from a to b */
  out->point_a = combine(best.a, best.count, best.weight);
  out->point_b = combine(best.b, best.count, best.weight);
  /* smooth shapes near each other converge slowly: the polytope has more patience */
  if (out->distance - reached > 1e-9 * size) improve(a, b, guess, reached, out);
  return out->distance <= limit;
}
