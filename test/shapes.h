/* Shapes, poses and worlds for tests of model and collision. */
#ifndef FX_TEST_SHAPES_H
#define FX_TEST_SHAPES_H

#include <math.h>
#include <string.h>

#include "collision/collision.h"
#include "collision/narrow.h"
#include "model/builder.h"
#include "test.h"

static inline frix_vec3 random_vec(fx_test *t) {
  double x = fx_test_random(t), y = fx_test_random(t), z = fx_test_random(t);
  return fx_vec(x, y, z);
}

static inline frix_vec3 random_unit(fx_test *t) {
  for (;;) {
    frix_vec3 v = random_vec(t);
    double n = fx_norm(v);
    if (n > 0.1 && n <= 1.0) return fx_scale(1.0 / n, v);
  }
}

static inline frix_quat random_quat(fx_test *t) {
  for (;;) {
    frix_vec3 v = random_vec(t);
    frix_quat q = {fx_test_random(t), v.x, v.y, v.z};
    double n = fx_quat_norm2(q);
    if (n > 0.1 && n <= 1.0) return fx_quat_unit(q);
  }
}

/* A small rotation vector as a quaternion. */
static inline frix_quat quat_of(frix_vec3 w) {
  double a = fx_norm(w), s = a > 0.0 ? sin(0.5 * a) / a : 0.5;
  return fx_quat_unit((frix_quat){cos(0.5 * a), s * w.x, s * w.y, s * w.z});
}

static inline double between(fx_test *t, double low, double high) {
  return low + (high - low) * 0.5 * (1.0 + fx_test_random(t));
}

/* A shape that stands alone. */
static inline fx_shape loose_shape(frix_shape_kind kind, double radius, double half_length, frix_vec3 half,
                                   const fx_geometry *geometry) {
  fx_shape s = {.kind = kind,
                .radius = radius,
                .half_length = half_length,
                .half = half,
                .geometry = geometry,
                .group = 1,
                .mask = UINT32_MAX,
                .local = fx_pose_one()};
  s.bound = fx_shape_bound(&s);
  return s;
}

/* A level height field of 9 x 9 points over 8 m x 8 m; NULL when it fails. */
static inline fx_geometry *level_field(frix_context *context) {
  enum { N = 9 };
  static const double height[N * N];
  frix_geometry_config c = frix_geometry_default();
  c.kind = FRIX_GEOMETRY_HEIGHT_FIELD;
  c.row_count = c.column_count = N, c.width = c.depth = 8.0, c.height = height;
  fx_geometry *g = NULL;
  return fx_geometry_create(context, &c, &g) ? NULL : g;
}

static inline fx_geometry *hull_of(frix_context *context, const frix_vec3 *point, int32_t count) {
  frix_geometry_config c = frix_geometry_default();
  c.kind = FRIX_GEOMETRY_HULL;
  c.point = point, c.point_count = count;
  fx_geometry *g = NULL;
  return fx_geometry_create(context, &c, &g) ? NULL : g;
}

static inline fx_geometry *box_hull(frix_context *context, frix_vec3 half) {
  frix_vec3 p[8];
  for (int k = 0; k < 8; k++)
    p[k] = fx_vec(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
  return hull_of(context, p, 8);
}

static inline frix_context *new_context(fx_test *t) {
  frix_context *context = NULL;
  if (frix_context_create(NULL, &context)) fx_test_fail(t, __FILE__, __LINE__, "no context");
  return context;
}

/* ---- random shapes ---- */

enum { BOUNDED = 6 };
static const frix_shape_kind bounded[BOUNDED] = {FRIX_SHAPE_SPHERE,   FRIX_SHAPE_CAPSULE,   FRIX_SHAPE_BOX,
                                                 FRIX_SHAPE_CYLINDER, FRIX_SHAPE_ELLIPSOID, FRIX_SHAPE_HULL};

typedef struct stock {
  frix_context *context;
  fx_geometry *hull[4];
} stock;

static inline bool stock_new(fx_test *t, stock *s) {
  memset(s, 0, sizeof *s);
  s->context = new_context(t);
  if (!s->context) return false;
#ifdef FRIX_HAVE_QHULL
  frix_vec3 p[40];
  for (int k = 0; k < 4; k++) {
    int count = 6 + 9 * k;
    for (int i = 0; i < count; i++) p[i] = fx_scale(between(t, 0.5, 1.0), random_unit(t));
    s->hull[k] = hull_of(s->context, p, count);
  }
#endif
  return true;
}

static inline void stock_free(stock *s) {
  for (int k = 0; k < 4; k++) fx_geometry_release(s->context, s->hull[k]);
  frix_context_destroy(s->context);
}

static inline fx_shape random_shape(fx_test *t, const stock *s, frix_shape_kind kind) {
  double radius = between(t, 0.2, 1.0), length = between(t, 0.2, 1.0);
  frix_vec3 half = fx_vec(between(t, 0.2, 1.0), between(t, 0.2, 1.0), between(t, 0.2, 1.0));
  int which = (int)(2.0 * (1.0 + fx_test_random(t)));
  return loose_shape(kind, radius, length, half, s->hull[which & 3]);
}

static inline const fx_touch *deepest(const fx_manifold *m) {
  const fx_touch *best = NULL;
  for (int32_t k = 0; k < m->count; k++)
    if (!best || m->touch[k].gap < best->gap) best = &m->touch[k];
  return best;
}

static inline int contacts_of(const fx_shape *a, frix_pose pa, const fx_shape *b, frix_pose pb, double margin,
                              fx_manifold *m) {
  m->count = 0;
  fx_narrow_pair(a, pa, b, pb, margin, m);
  return m->count;
}

#ifdef FRIX_HAVE_QHULL
#define NEED_QHULL(t)
#else
#define NEED_QHULL(t)                         \
  do {                                        \
    fx_test_skip((t), "built without qhull"); \
    return;                                   \
  } while (0)
#endif

#endif
