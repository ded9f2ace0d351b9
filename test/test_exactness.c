/* How exact contacts are. The signed distance of two convex shapes is the largest separation over all directions,
 *
 *   sep(n) = min over b of n . x - max over a of n . x,
 *
 * so the gap of the deepest contact is compared with sep climbed up from its normal in long double, with support
 * functions of its own. The bounds are those of docs/model.md, for shapes of 0.3 to 1 m. */
#include "shapes.h"

typedef long double real;
typedef struct v3 {
  real x, y, z;
} v3;

static v3 wide(frix_vec3 a) { return (v3){a.x, a.y, a.z}; }
static real dot(v3 a, v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static v3 mad(v3 a, real s, v3 b) { return (v3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
static v3 cross(v3 a, v3 b) { return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
static v3 unit(v3 a) {
  real n = sqrtl(dot(a, a));
  return (v3){a.x / n, a.y / n, a.z / n};
}

static v3 into(frix_quat q, v3 v) {
  v3 u = {-q.x, -q.y, -q.z}, t = cross(u, v);
  t = (v3){2 * t.x, 2 * t.y, 2 * t.z};
  return mad(mad(v, q.w, t), 1, cross(u, t));
}

static real support(const fx_shape *s, frix_pose pose, v3 n) {
  v3 l = into(pose.q, n);
  real most = -INFINITY, x = l.x * s->half.x, y = l.y * s->half.y, z = l.z * s->half.z;
  switch (s->kind) {
    case FRIX_SHAPE_SPHERE: most = s->radius; break;
    case FRIX_SHAPE_CAPSULE: most = s->radius + s->half_length * fabsl(l.z); break;
    case FRIX_SHAPE_BOX: most = fabsl(x) + fabsl(y) + fabsl(z); break;
    case FRIX_SHAPE_CYLINDER: most = s->radius * sqrtl(l.x * l.x + l.y * l.y) + s->half_length * fabsl(l.z); break;
    case FRIX_SHAPE_ELLIPSOID: most = sqrtl(x * x + y * y + z * z); break;
    default:
      for (int32_t k = 0; k < s->geometry->hull.vertex_count; k++)
        most = fmaxl(most, dot(wide(s->geometry->hull.vertex[k]), l));
  }
  return most + dot(n, wide(pose.p));
}

static real separation(const fx_shape *s, const frix_pose *pose, v3 n) {
  return -support(&s[1], pose[1], (v3){-n.x, -n.y, -n.z}) - support(&s[0], pose[0], n);
}

static real climb(const fx_shape *s, const frix_pose *pose, v3 n) {
  real best = separation(s, pose, n);
  for (real step = 1e-3L; step > 1e-12L;) {
    v3 u = unit(fabsl(n.x) < 0.7L ? cross(n, (v3){1, 0, 0}) : cross(n, (v3){0, 1, 0})), w = cross(n, u);
    bool higher = false;
    for (int k = 0; k < 12 && !higher; k++) {
      v3 trial = unit(mad(mad(n, step * cosl(0.5235987755982989L * k), u), step * sinl(0.5235987755982989L * k), w));
      real value = separation(s, pose, trial);
      if (value > best) best = value, n = trial, higher = true;
    }
    if (!higher) step *= 0.5L;
  }
  return best;
}

/* In the order of `bounded`: sphere, capsule, box, cylinder, ellipsoid, hull; the same above the diagonal. */
static const double bound[BOUNDED][BOUNDED] = {
    {1e-14, 1e-14, 1e-14, 1e-14, 1e-14, 1e-14},
    {0, 1e-13, 1e-13, 1e-10, 1e-10, 1e-13},
    {0, 0, 1e-14, 4e-6, 1e-8, 1e-10},
    {0, 0, 0, 4e-6, 1e-8, 4e-6},
    {0, 0, 0, 0, 1e-12, 1e-8},
    {0, 0, 0, 0, 0, 4e-6},
};

static void every_pair(fx_test *t) {
  NEED_QHULL(t);
  stock hulls;
  REQUIRE(t, stock_new(t, &hulls));
  fx_manifold m = {.context = hulls.context};
  int compared = 0;
  for (int trial = 0; trial < 3600; trial++) {
    int i = trial % BOUNDED, j = trial / BOUNDED % BOUNDED;
    fx_shape s[2] = {random_shape(t, &hulls, bounded[i]), random_shape(t, &hulls, bounded[j])};
    frix_pose pose[2] = {{{0, 0, 0}, random_quat(t)}, {{0, 0, 0}, random_quat(t)}};
    frix_vec3 way = random_unit(t);
    double low = 0, high = 4, wanted = between(t, -0.01, 0.003);
    for (int k = 0; k < 14; k++) { /* moved apart until the gap is about that */
      pose[1].p = fx_scale(0.5 * (low + high), way);
      contacts_of(&s[0], pose[0], &s[1], pose[1], 0.1, &m);
      const fx_touch *deep = deepest(&m);
      *(deep && deep->gap < wanted ? &low : &high) = 0.5 * (low + high);
    }
    const fx_touch *deep = deepest(&m);
    if (!deep || fabs(deep->gap - wanted) > 1e-3) continue; /* where the least way out changes sides the gap jumps */
    double exact = (double)climb(s, pose, unit(wide(fx_neg(deep->normal)))), off = fabs(deep->gap - exact);
    double allowed = i < j ? bound[i][j] : bound[j][i];
    compared++;
    if (!(off <= allowed))
      fx_test_fail(t, __FILE__, __LINE__, "%s and %s: gap %.17g, exactly %.17g, off by %.1e",
                   frix_shape_table((int32_t)bounded[i])->name, frix_shape_table((int32_t)bounded[j])->name, deep->gap,
                   exact, off);
  }
  CHECK(t, compared > 3000);
  fx_test_note(t, "%d contacts", compared);
  fx_free(hulls.context, m.touch);
  stock_free(&hulls);
}

const fx_test_row test_exactness[] = {{"collision/exactness", every_pair}, {0}};
