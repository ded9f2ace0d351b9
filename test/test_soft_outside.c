/* What is inside a soft surface: points of the world against the winding number of the deformed surface, the solid
 * angle of its triangles (van Oosterom and Strackee 1983), which needs no ray. */
#include "soft_tools.h"

typedef struct lump {
  lab l;
  frix_soft *soft;
  frix_soft_state *state;
  fx_soft_skin skin;
  uint64_t dice;
} lump;

static double uniform(lump *o, double low, double high) {
  o->dice = o->dice * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(o->dice >> 11) * 0x1p-53;
}

static int32_t below(lump *o, int32_t count) {
  int32_t k = (int32_t)uniform(o, 0, count);
  return k < count ? k : count - 1;
}

/* bend: of the largest way a point goes, in sizes of the body. */
static bool make(fx_test *t, const char *shape, int32_t cells, double bend, uint64_t seed, lump *o) {
  *o = (lump){.dice = seed};
  frix_soft_config c = frix_soft_default();
  c.cells = cells, c.modes = 6, c.order = 1;
  double *q = NULL;
  if (!lab_open(&o->l)) return false;
  bool good = !frix_soft_make(o->l.context, shape, &c, &o->soft) && !frix_soft_state_create(o->soft, &o->state) &&
              !fx_soft_skin_take(o->soft, &o->l.arena, &o->skin);
  if (good) {
    frix_soft_info info = frix_soft_view(o->soft);
    q = calloc((size_t)info.coordinates + 1, sizeof *q);
    double most = 0, size = 0;
    for (int32_t k = 0; k < info.coordinates; k++) q[k] = uniform(o, -1, 1) / (1 + k);
    for (int32_t p = 0; p < info.point_count; p++) {
      frix_vec3 u = {0, 0, 0};
      for (int32_t k = 0; k < info.coordinates; k++) {
        const double *U = info.shape + 3 * (size_t)p * info.coordinates;
        u = fx_mad(u, q[k], fx_vec(U[k], U[info.coordinates + k], U[2 * (size_t)info.coordinates + k]));
      }
      most = fmax(most, fx_norm(u)), size = fmax(size, fx_norm(info.point[p]));
    }
    for (int32_t k = 0; k < info.coordinates; k++) q[k] *= most > 0 ? bend * size / most : 0;
    good = !frix_soft_set(o->state, q, NULL);
    fx_soft_skin_find(o->state, &o->skin);
  }
  free(q);
  if (!good) fx_test_fail(t, __FILE__, __LINE__, "%s: %s", shape, frix_error_text(o->l.context));
  return good;
}

static void drop(lump *o) {
  frix_soft_state_destroy(o->state);
  frix_soft_destroy(o->soft);
  lab_close(&o->l);
}

/* The winding number; *off: the distance from the surface. */
static double winding(lump *o, frix_vec3 p, double *off) {
  const frix_soft_info *info = &o->soft->info;
  double sum = 0;
  *off = INFINITY;
  for (int32_t k = 0; k < info->triangle_count; k++) {
    frix_vec3 v[3];
    double w[3], n[3];
    for (int c = 0; c < 3; c++) {
      v[c] = fx_sub(fx_soft_skin_place(&o->skin, info->triangle[3 * (size_t)k + (size_t)c]), p);
      n[c] = fx_norm(v[c]);
    }
    fx_nearest_weights(fx_vec(0, 0, 0), v[0], v[1], v[2], w);
    *off = fmin(*off, fx_norm(fx_mad(fx_mad(fx_scale(w[0], v[0]), w[1], v[1]), w[2], v[2])));
    double top = fx_dot(v[0], fx_cross(v[1], v[2]));
    double bottom =
        n[0] * n[1] * n[2] + fx_dot(v[0], v[1]) * n[2] + fx_dot(v[1], v[2]) * n[0] + fx_dot(v[2], v[0]) * n[1];
    sum += 2 * atan2(top, bottom);
  }
  return sum / (4 * 3.14159265358979323846);
}

static frix_vec3 any_way(lump *o) { return fx_unit(fx_vec(uniform(o, -1, 1), uniform(o, -1, 1), uniform(o, -1, 1))); }

/* Anywhere about the body, at coordinates of its points, or a little beside one of them. */
static frix_vec3 any_point(lump *o) {
  const frix_soft_info *info = &o->soft->info;
  frix_vec3 low = o->skin.low, high = o->skin.high;
  frix_vec3 free = {uniform(o, low.x, high.x), uniform(o, low.y, high.y), uniform(o, low.z, high.z)};
  double kind = uniform(o, 0, 1), size = fx_norm(fx_sub(high, low));
  if (kind < 0.3) return free;
  frix_vec3 a = fx_soft_skin_place(&o->skin, below(o, info->point_count));
  frix_vec3 b = fx_soft_skin_place(&o->skin, below(o, info->point_count));
  frix_vec3 c = fx_soft_skin_place(&o->skin, below(o, info->point_count));
  if (kind < 0.5) return fx_vec(a.x, b.y, c.z);
  if (kind < 0.6) return fx_vec(a.x, a.y, free.z);
  if (kind < 0.7) return fx_vec(free.x, a.y, a.z);
  double way = size * pow(10, uniform(o, -4, -1));
  return fx_mad(a, way, any_way(o));
}

typedef struct wrongs {
  int points, ray, near;
} wrongs;

static void ask_ray(lump *o, int count, wrongs *out) {
  double size = fx_norm(fx_sub(o->skin.high, o->skin.low));
  for (int n = 0; n < count; n++) {
    double off;
    frix_vec3 p = any_point(o);
    double turns = winding(o, p, &off);
    if (off < 1e-9 * size) continue;
    out->points++;
    out->ray += fx_soft_outside(&o->skin, p) == (fabs(turns) > 0.5);
  }
}

/* Points before the surface, with normals of any direction and all overlaps in reach. */
static void ask_contacts(lump *o, int count, wrongs *out) {
  double size = fx_norm(fx_sub(o->skin.high, o->skin.low));
  for (int n = 0; n < count; n++) {
    int32_t at = below(o, o->soft->info.point_count);
    frix_vec3 outward = fx_unit(fx_soft_skin_outward(&o->skin, at)), way = any_way(o);
    if (fx_dot(way, outward) < 0.2) continue;
    double off, far = size * pow(10, uniform(o, -2.5, -0.7));
    frix_vec3 p = fx_mad(fx_soft_skin_place(&o->skin, at), far, way);
    fx_soft_near near;
    if (!fx_soft_nearest(&o->skin, p, any_way(o), 0.01 * size, size, &near) || !near.under) continue;
    out->near += fabs(winding(o, p, &off)) < 0.5 && off > 1e-9 * size;
  }
}

static void as_winding(fx_test *t) {
  static const struct {
    const char *shape;
    int32_t cells;
  } row[] = {{"chair", 1}, {"dinosaur", 1}, {"bunny", 1}, {"bar", 2}, {"strand", 1}, {"blob", 3}};
  static const double bend[] = {0, 0.05, 0.3, 0.8};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++)
    for (int b = 0; b < 4; b++) {
      lump o;
      wrongs w = {0};
      if (make(t, row[k].shape, row[k].cells, bend[b], 7 + 100 * k + (uint64_t)b, &o)) {
        ask_ray(&o, 1000, &w), ask_contacts(&o, 8000, &w);
        if (w.points < 600 || w.ray || w.near)
          fx_test_fail(t, __FILE__, __LINE__, "%s, bent by %g: of %d points the ray has %d wrong, contacts %d",
                       row[k].shape, bend[b], w.points, w.ray, w.near);
      }
      drop(&o);
    }
}

const fx_test_row test_soft_outside[] = {{"soft_outside/as_winding", as_winding}, {0}};
