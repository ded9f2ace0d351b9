/* A cantilever that bends by a fifth of its length: the reduced St.Venant-Kirchhoff body against all nodes of its mesh.
 */
#include "linalg/dense.h"
#include "soft_tools.h"

static const double length = 1, thick = 0.2, density = 1000, gravity = 9.81;

typedef struct clamped {
  fx_fem fem;
  int32_t count, *free; /* numbers that move */
  double *load;
} clamped;

static bool clamp(lab *l, fx_test *t, double young, clamped *c) {
  fx_tets tets;
  fx_elements elements;
  if (!lab_shape(l, t, "bar", (frix_vec3){length, thick, thick}, 1, &tets)) return false;
  if (fx_elements_make(&l->arena, &tets, 2, &elements) ||
      fx_fem_make(&l->arena, &elements, young, 0.3, density, &c->fem))
    return false;
  int32_t n = fx_fem_size(&c->fem);
  double *down = FX_TAKE(&l->arena, double, n);
  c->load = FX_TAKE(&l->arena, double, n), c->free = FX_TAKE(&l->arena, int32_t, n), c->count = 0;
  for (int32_t i = 0; i < n; i++) {
    if (i % 3 == 2) down[i] = -gravity;
    if (c->fem.e.node[i / 3].x > -0.5 * length + 1e-9) c->free[c->count++] = i;
  }
  fx_fem_mass(&c->fem, down, c->load);
  return true;
}

/* load - force on the numbers that move; returns its length. */
static double missing(const clamped *c, double share, const double *u, double *f, double *r) {
  double square = 0;
  lab_stvk(&c->fem, u, f);
  for (int32_t i = 0; i < c->count; i++) {
    r[i] = share * c->load[c->free[i]] - f[c->free[i]];
    square += r[i] * r[i];
  }
  return sqrt(square);
}

/* Newton's method with a tangent by differences, in steps of the load; what is missing at the end. */
static double solve_whole(const clamped *c, double *u) {
  int32_t n = fx_fem_size(&c->fem), m = c->count;
  double *f = calloc((size_t)n, sizeof *f), *g = calloc((size_t)n, sizeof *g), *K = calloc((size_t)m * m, sizeof *K);
  double *r = calloc((size_t)m, sizeof *r), *x = calloc((size_t)n, sizeof *x), size = 0;
  int32_t *pivot = calloc((size_t)m, sizeof *pivot);
  for (int part = 1; part <= 5; part++) {
    double share = 0.2 * part;
    for (int again = 0; again < 15; again++) {
      size = missing(c, share, u, f, r);
      if (size < 1e-8) break;
      for (int32_t j = 0; j < m; j++) {
        double kept = u[c->free[j]];
        u[c->free[j]] += 1e-7;
        lab_stvk(&c->fem, u, g);
        u[c->free[j]] = kept;
        for (int32_t i = 0; i < m; i++) K[i * m + j] = (g[c->free[i]] - f[c->free[i]]) / 1e-7;
      }
      if (!fx_lu_factor(m, K, pivot)) break;
      fx_lu_solve(m, K, pivot, r);
      memcpy(x, u, (size_t)n * sizeof *x);
      memcpy(g, r, (size_t)m * sizeof *g);
      for (double s = 1; s > 1e-3; s *= 0.5) { /* the part of the step that helps */
        for (int32_t i = 0; i < m; i++) u[c->free[i]] = x[c->free[i]] + s * g[i];
        if (missing(c, share, u, f, r) < size) break;
      }
    }
  }
  free(f), free(g), free(K), free(r), free(x), free(pivot);
  return size;
}

/* The tip of the reduced body, held by handles at the nodes of its end. */
static double solve_reduced(fx_test *t, double young, frix_soft_material material) {
  frix_context *context = NULL;
  frix_soft *soft = NULL;
  frix_soft_world *world = NULL;
  frix_soft_config c = frix_soft_default();
  c.material = material, c.modes = 2, c.young = young, c.density = density;
  c.sides = (frix_vec3){length, thick, thick};
  if (material == FRIX_SOFT_STVK) c.derivatives = 36; /* of all pairs of 2 modes and 6 shapes of the held end */
  c.hold_low = (frix_vec3){-0.5 * length, -1, -1}, c.hold_high = (frix_vec3){-0.5 * length, 1, 1};
  double tip = 0;
  if (!frix_context_create(NULL, &context) && !frix_soft_make(context, "bar", &c, &soft) &&
      !frix_soft_world_create(context, &world) && !frix_soft_world_add(world, soft, NULL)) {
    frix_soft_info info = frix_soft_view(soft);
    int32_t last = 0;
    for (int32_t k = 0; k < info.point_count; k++) {
      frix_soft_handle hold = {0, k, info.point[k], 1e6, 1e2};
      frix_vec3 q = info.point[k];
      if (q.x < -0.5 * length + 1e-9) CHECK(t, !frix_soft_world_handle(world, &hold));
      if (q.x > 0.5 * length - 1e-9 && fabs(q.y) < 1e-9 && fabs(q.z) < 1e-9) last = k;
    }
    for (int n = 0; n < 80; n++) CHECK(t, !frix_soft_world_step(world, 0.2, (frix_vec3){0, 0, -gravity}, NULL));
    tip = -frix_soft_point(frix_soft_world_state(world, 0), last, NULL).z;
  }
  if (context && !world) fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  frix_soft_world_destroy(world);
  frix_soft_destroy(soft);
  frix_context_destroy(context);
  return tip;
}

static void bends_far(fx_test *t) {
  /* w = 3/2 rho g L^4 / (E t^2) of linear beam theory is a fifth of the length */
  double young = 1.5 * density * gravity * length * length * length * length / (0.2 * length * thick * thick);
  lab l;
  clamped c;
  REQUIRE(t, lab_open(&l));
  if (clamp(&l, t, young, &c)) {
    double *u = calloc((size_t)fx_fem_size(&c.fem), sizeof *u), whole = 0;
    CHECK(t, solve_whole(&c, u) < 1e-6);
    for (int32_t k = 0; k < c.fem.e.node_count; k++) {
      frix_vec3 q = c.fem.e.node[k];
      if (q.x > 0.5 * length - 1e-9 && fabs(q.y) < 1e-9 && fabs(q.z) < 1e-9) whole = -u[3 * k + 2];
    }
    double few = solve_reduced(t, young, FRIX_SOFT_STVK), linear = solve_reduced(t, young, FRIX_SOFT_LINEAR);
    fx_test_note(t, "tip %.4f m of all nodes; reduced StVK %.4f, linear %.4f", whole, few, linear);
    CHECK(t, whole > 0.15 && whole < 0.2);
    CHECK_NEAR(t, few / whole, 1, 0.02);
    free(u);
  }
  lab_close(&l);
}

const fx_test_row test_soft_cantilever[] = {{"soft_cantilever/bends_far", bends_far}, {0}};
