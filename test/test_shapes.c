/* Shapes: masses against closed forms and independent integrals, support points, bounding boxes, hulls, trigonometry.
 */
#include "shapes.h"

#include "base/trig.h"

#define PI 3.14159265358979323846

/* ---- mass properties ---- */

/* Solids of elliptic slices x^2/a^2 + y^2/b^2 <= 1 at height z: area pi a b, second moments pi a^3 b / 4 and pi a b^3
 * / 4. Simpson over z gives mass, ixx, izz without any of the closed forms in question. */
static void slice(const fx_shape *s, double z, double *a, double *b) {
  double r = s->radius, h = s->half_length;
  switch (s->kind) {
    case FRIX_SHAPE_SPHERE: *a = *b = sqrt(fmax(0.0, r * r - z * z)); break;
    case FRIX_SHAPE_CYLINDER: *a = *b = r; break;
    case FRIX_SHAPE_CAPSULE: {
      double d = fmax(0.0, fabs(z) - h);
      *a = *b = sqrt(fmax(0.0, r * r - d * d));
      break;
    }
    default: {
      double f = sqrt(fmax(0.0, 1.0 - z * z / (s->half.z * s->half.z)));
      *a = f * s->half.x, *b = f * s->half.y;
    }
  }
}

static void check_slices(fx_test *t, const fx_shape *s, double low, double high, double *mass, frix_sym3 *inertia) {
  enum { PANELS = 2000 };
  (void)t;
  double width = (high - low) / PANELS;
  for (int k = 0; k <= PANELS; k++) {
    double z = low + width * k, weight = width / 3.0 * (k == 0 || k == PANELS ? 1.0 : k % 2 ? 4.0 : 2.0), a, b;
    slice(s, z, &a, &b);
    double area = PI * a * b, xx = area * a * a / 4.0, yy = area * b * b / 4.0;
    *mass += weight * area;
    inertia->xx += weight * (yy + area * z * z);
    inertia->yy += weight * (xx + area * z * z);
    inertia->zz += weight * (xx + yy);
  }
}

static void masses_by_slices(fx_test *t) {
  frix_vec3 half = {0.3, 0.7, 0.5};
  fx_shape shape[4] = {
      loose_shape(FRIX_SHAPE_SPHERE, 0.8, 0, half, NULL), loose_shape(FRIX_SHAPE_CYLINDER, 0.4, 0.9, half, NULL),
      loose_shape(FRIX_SHAPE_CAPSULE, 0.4, 0.9, half, NULL), loose_shape(FRIX_SHAPE_ELLIPSOID, 0, 0, half, NULL)};
  for (int k = 0; k < 4; k++) {
    fx_mass m = fx_shape_row_of(shape[k].kind)->mass(&shape[k]);
    double h = shape[k].half_length, r = shape[k].radius, mass = 0.0;
    frix_sym3 j = {0};
    /* pieces between the kinks */
    double cut[4] = {-h - r, -h, h, h + r};
    if (shape[k].kind == FRIX_SHAPE_SPHERE) cut[0] = -r, cut[1] = cut[2] = 0.0, cut[3] = r;
    if (shape[k].kind == FRIX_SHAPE_CYLINDER) cut[0] = -h, cut[1] = cut[2] = 0.0, cut[3] = h;
    if (shape[k].kind == FRIX_SHAPE_ELLIPSOID) cut[0] = -half.z, cut[1] = cut[2] = 0.0, cut[3] = half.z;
    for (int piece = 0; piece < 3; piece++)
      if (cut[piece + 1] > cut[piece]) check_slices(t, &shape[k], cut[piece], cut[piece + 1], &mass, &j);
    CHECK_NEAR(t, m.mass, mass, 1e-9);
    CHECK_NEAR(t, m.inertia.xx, j.xx, 1e-9);
    CHECK_NEAR(t, m.inertia.yy, j.yy, 1e-9);
    CHECK_NEAR(t, m.inertia.zz, j.zz, 1e-9);
  }
}

/* Surface integrals with a quadrature exact to degree five: integral of x^2 dV = integral of x^3/3 n_x dA, and so on.
 */
static void masses_by_surface(fx_test *t) {
  NEED_QHULL(t);
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  /* Dunavant, seven points */
  const double w[3] = {0.225, 0.13239415278850618, 0.12593918054482715};
  const double c[3][2] = {
      {1.0 / 3, 1.0 / 3}, {0.05971587178976982, 0.47014206410511509}, {0.79742698535308732, 0.10128650732345634}};
  for (int trial = 0; trial < 20; trial++) {
    frix_vec3 p[24], at = fx_scale(5.0, random_vec(t));
    for (int k = 0; k < 24; k++) p[k] = fx_add(at, random_vec(t));
    fx_geometry *g = hull_of(context, p, 24);
    REQUIRE(t, g);
    fx_mass m = fx_mass_polyhedron(&g->hull);
    double volume = 0.0, first[3] = {0}, second[3] = {0}, xy = 0.0;
    for (int32_t k = 0; k < g->triangle_count; k++) {
      const int32_t *v = g->triangle + 3 * k;
      frix_vec3 a = g->hull.vertex[v[0]], b = g->hull.vertex[v[1]], d = g->hull.vertex[v[2]];
      frix_vec3 area = fx_scale(0.5, fx_cross(fx_sub(b, a), fx_sub(d, a)));
      for (int q = 0; q < 7; q++) {
        int group = q == 0 ? 0 : q < 4 ? 1 : 2, turn = q == 0 ? 0 : (q - 1) % 3;
        double l[3] = {c[group][1], c[group][1], c[group][1]};
        l[turn] = c[group][0];
        frix_vec3 x = fx_mad(fx_mad(fx_scale(l[0], a), l[1], b), l[2], d);
        for (int axis = 0; axis < 3; axis++) {
          double s = fx_at(x, axis), n = w[group] * fx_at(area, axis);
          volume += s * n / 3.0;
          first[axis] += s * s * n / 2.0;
          second[axis] += s * s * s * n / 3.0;
        }
        xy += w[group] * area.x * x.x * x.x * x.y / 2.0;
      }
    }
    CHECK_NEAR(t, m.mass, volume, 1e-10);
    for (int axis = 0; axis < 3; axis++) {
      CHECK_NEAR(t, fx_at(m.center, axis), first[axis] / volume, 1e-10);
      second[axis] -= first[axis] * first[axis] / volume;
    }
    CHECK_NEAR(t, m.inertia.xx, second[1] + second[2], 1e-9);
    CHECK_NEAR(t, m.inertia.zz, second[0] + second[1], 1e-9);
    CHECK_NEAR(t, m.inertia.xy, -(xy - first[0] * first[1] / volume), 1e-9);
    fx_geometry_release(context, g);
  }
  frix_context_destroy(context);
}

static void masses_in_the_plane(fx_test *t) {
  fx_shape r = loose_shape(FRIX_SHAPE_RECTANGLE, 0, 0, fx_vec(0.3, 0.5, 0), NULL);
  frix_vec3 v[4] = {{0.3, 0.5, 0}, {-0.3, 0.5, 0}, {-0.3, -0.5, 0}, {0.3, -0.5, 0}};
  fx_mass a = fx_shape_row_of(r.kind)->mass(&r), b = fx_mass_polygon(v, 4);
  CHECK_NEAR(t, a.mass, b.mass, 1e-15);
  CHECK_NEAR(t, a.inertia.zz, b.inertia.zz, 1e-15);
  /* fine polygons are the disc and the ellipse */
  enum { N = 4096 };
  static frix_vec3 fine[N];
  for (int k = 0; k < N; k++) fine[k] = fx_vec(0.3 * cos(2 * PI * k / N) + 7.0, 0.5 * sin(2 * PI * k / N), 0);
  fx_shape e = loose_shape(FRIX_SHAPE_ELLIPSE, 0, 0, fx_vec(0.3, 0.5, 0), NULL);
  a = fx_shape_row_of(e.kind)->mass(&e), b = fx_mass_polygon(fine, N);
  CHECK_NEAR(t, a.mass, b.mass, 1e-6);
  CHECK_NEAR(t, a.inertia.zz, b.inertia.zz, 1e-6);
  CHECK_NEAR(t, b.center.x, 7.0, 1e-12);
  fx_shape d = loose_shape(FRIX_SHAPE_DISC, 0.4, 0, fx_vec(0, 0, 0), NULL);
  CHECK_NEAR(t, fx_shape_row_of(d.kind)->mass(&d).inertia.zz, PI * 0.4 * 0.4 * 0.4 * 0.4 / 2, 1e-15);
}

/* Cutting a box in two and adding the halves gives the box, wherever it stands. */
static void masses_add_up(fx_test *t) {
  fx_shape whole = loose_shape(FRIX_SHAPE_BOX, 0, 0, fx_vec(0.5, 0.3, 0.2), NULL),
           half = loose_shape(FRIX_SHAPE_BOX, 0, 0, fx_vec(0.25, 0.3, 0.2), NULL);
  frix_pose pose = {fx_scale(10, random_vec(t)), random_quat(t)};
  fx_mass one = {0}, two = {0}, w = fx_shape_row_of(whole.kind)->mass(&whole),
          h = fx_shape_row_of(half.kind)->mass(&half);
  fx_mass_add(&one, &w, 700.0, pose, false);
  for (int k = 0; k < 2; k++) {
    frix_pose part = fx_pose_mul(pose, (frix_pose){{k ? 0.25 : -0.25, 0, 0}, fx_quat_one()});
    fx_mass_add(&two, &h, 700.0, part, false);
  }
  CHECK_NEAR(t, one.mass, two.mass, 1e-11);
  CHECK(t, fx_norm(fx_sub(one.center, two.center)) < 1e-13);
  CHECK_NEAR(t, one.inertia.xx, two.inertia.xx, 1e-11);
  CHECK_NEAR(t, one.inertia.yz, two.inertia.yz, 1e-11);
}

/* ---- support points and boxes ---- */

static void boxes_hold_shapes(fx_test *t) {
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  frix_vec3 flat[6];
  for (int k = 0; k < 6; k++) flat[k] = fx_vec(cos(k), sin(k), 0);
  frix_geometry_config c = frix_geometry_default();
  c.kind = FRIX_GEOMETRY_POLYGON, c.point = flat, c.point_count = 6;
  fx_geometry *polygon = NULL, *hull = NULL;
  REQUIRE(t, fx_geometry_create(context, &c, &polygon) == FRIX_OK);
#ifdef FRIX_HAVE_QHULL
  frix_vec3 p[40];
  for (int k = 0; k < 40; k++) p[k] = random_vec(t);
  hull = hull_of(context, p, 40);
#endif
  for (int kind = 0; kind < FRIX_SHAPE_COUNT; kind++) {
    const fx_shape_row *row = fx_shape_row_of((frix_shape_kind)kind);
    if (!row->support || (kind == FRIX_SHAPE_HULL && !hull)) continue;
    fx_shape s = loose_shape((frix_shape_kind)kind, 0.4, 0.6, fx_vec(0.3, 0.5, 0.7),
                             kind == FRIX_SHAPE_POLYGON ? polygon : hull);
    for (int trial = 0; trial < 50; trial++) {
      frix_pose pose = {random_vec(t), random_quat(t)};
      if (row->info.flat)
        pose = (frix_pose){{fx_test_random(t), fx_test_random(t), 0}, quat_of(fx_vec(0, 0, 3 * fx_test_random(t)))};
      frix_vec3 low, high;
      row->box(&s, pose, &low, &high);
      for (int axis = 0; axis < 3; axis++)
        for (int sign = -1; sign <= 1; sign += 2) {
          if (row->info.flat && axis == 2) continue;
          frix_vec3 d = fx_vec(axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0);
          double far = sign * fx_at(fx_pose_point(pose, row->support(&s, fx_unrotate(pose.q, d))), axis);
          double side = sign * fx_at(sign > 0 ? high : low, axis);
          CHECK(t, far <= side + 1e-14);                              /* inside */
          if (kind != FRIX_SHAPE_HULL) CHECK(t, side <= far + 1e-12); /* and tight */
        }
      CHECK(t, fx_norm(row->support(&s, random_unit(t))) <= s.bound * (1 + 1e-14));
    }
  }
  fx_geometry_release(context, hull);
  fx_geometry_release(context, polygon);
  frix_context_destroy(context);
}

/* ---- hulls ---- */

static void hulls_are_canonical(fx_test *t) {
  NEED_QHULL(t);
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  /* a cube with points on its faces, edges and inside, in single precision: eight corners, six faces, twelve edges */
  frix_vec3 p[200];
  int count = 0;
  for (int k = 0; k < 8; k++) p[count++] = fx_vec(k & 1 ? 0.1f : -0.1f, k & 2 ? 0.1f : -0.1f, k & 4 ? 0.1f : -0.1f);
  for (int k = 0; k < 150; k++) {
    frix_vec3 v = fx_scale(0.1f, random_vec(t));
    int axis = k % 3;
    if (axis == 0) v.x = 0.1f;
    if (axis == 1) v.y = -0.1f;
    if (k % 7 == 0) v.z = 0.1f;
    p[count++] = v;
  }
  fx_geometry *g = hull_of(context, p, count);
  REQUIRE(t, g);
  CHECK(t, g->hull.vertex_count == 8 && g->hull.face_count == 6 && g->hull.edge_count == 12);
  fx_geometry_release(context, g);
  /* random hulls close, and hold all their points */
  for (int trial = 0; trial < 50; trial++) {
    int n = 4 + trial;
    for (int k = 0; k < n; k++) p[k] = fx_scale(pow(10.0, trial % 9 - 4), random_vec(t));
    g = hull_of(context, p, n);
    REQUIRE(t, g);
    const fx_polyhedron *h = &g->hull;
    CHECK(t, h->vertex_count - h->edge_count + h->face_count == 2);
    for (int k = 0; k < n; k++)
      for (int f = 0; f < h->face_count; f++)
        CHECK(t, fx_dot(h->face_normal[f], p[k]) <= h->face_offset[f] + 1e-8 * g->bound);
    for (int k = 0; k < 20; k++) { /* climbing finds what looking at all finds */
      frix_vec3 d = random_unit(t);
      double best = -INFINITY;
      for (int v = 0; v < h->vertex_count; v++) best = fmax(best, fx_dot(d, h->vertex[v]));
      CHECK(t, fx_dot(d, h->vertex[fx_polyhedron_support(h, d, 0)]) == best);
    }
    fx_geometry_release(context, g);
  }
  frix_context_destroy(context);
}

static void hulls_refuse_nonsense(fx_test *t) {
  NEED_QHULL(t);
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  frix_vec3 flat[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.3, 0.4, 0}},
            same[5] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  frix_vec3 bad[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, NAN}};
  CHECK(t, !hull_of(context, flat, 5));
  CHECK(t, strstr(frix_error_text(context), "flat"));
  CHECK(t, !hull_of(context, same, 5));
  CHECK(t, strstr(frix_error_text(context), "one place"));
  CHECK(t, !hull_of(context, bad, 4));
  CHECK(t, strstr(frix_error_text(context), "point 3"));
  CHECK(t, !hull_of(context, flat, 3));
  /* needles and slabs are thin, not flat */
  frix_vec3 needle[8];
  for (int k = 0; k < 8; k++) needle[k] = fx_vec(k & 1 ? 1e-5 : -1e-5, k & 2 ? 1e-5 : -1e-5, k & 4 ? 1 : -1);
  fx_geometry *g = hull_of(context, needle, 8);
  CHECK(t, g && g->hull.face_count == 6);
  fx_geometry_release(context, g);
  frix_context_destroy(context);
}

/* ---- trigonometry ---- */

static void trig_is_accurate(fx_test *t) {
  double worst = 0.0, worst_atan = 0.0;
  for (int k = 0; k < 20000; k++) {
    double x = fx_test_random(t) * (k % 3 == 0 ? 1e6 : k % 3 == 1 ? 7.0 : 1e-3), s, c;
    fx_sincos(x, &s, &c);
    worst = fmax(worst, fmax(fabs(s - sin(x)), fabs(c - cos(x))));
    double y = fx_test_random(t), z = fx_test_random(t);
    worst_atan = fmax(worst_atan, fabs(fx_atan2(y, z) - atan2(y, z)));
  }
  CHECK(t, worst < 4e-16);
  CHECK(t, worst_atan < 2e-15);
  double worst_power = 0.0;
  for (int k = 0; k < 20000; k++) {
    double x = fabs(fx_test_random(t)) * (k % 3 == 0 ? 1e6 : k % 3 == 1 ? 2.0 : 1e-6), y = 3 * fx_test_random(t);
    double exact = pow(x, y);
    worst_power = fmax(worst_power, fabs(fx_pow(x, y) - exact) / (exact * (1 + fabs(y * log(x)))));
  }
  CHECK(t, worst_power < 1e-15);
  CHECK(t, fx_pow(0, 2) == 0 && fx_pow(0, -1) == INFINITY && fx_pow(3, 0) == 1 && isnan(fx_pow(-1, 0.5)));
  CHECK(t, fx_pow(2, 10) == 1024 && fx_pow(1e300, 2) == INFINITY && fx_pow(1e-300, 2) == 0);
  CHECK_NEAR(t, fx_atan2(0.0, -1.0), PI, 0.0);
  CHECK_NEAR(t, fx_atan2(-1.0, 0.0), -PI / 2, 0.0);
  double s, c;
  fx_sincos(0.0, &s, &c);
  CHECK(t, s == 0.0 && c == 1.0);
  fx_test_note(t, "sin, cos within %.1e, atan2 within %.1e, powers within %.1e", worst, worst_atan, worst_power);
}

static void eigenvalues(fx_test *t) {
  for (int k = 0; k < 200; k++) {
    double d[3] = {between(t, 0.1, 1), between(t, 1, 2), between(t, 2, 3)}, value[3];
    frix_vec3 axis[3];
    frix_sym3 s = fx_sym3_turn(random_quat(t), (frix_sym3){d[0], d[1], d[2], 0, 0, 0});
    fx_sym3_eigen(s, value, axis);
    for (int i = 0; i < 3; i++) {
      CHECK_NEAR(t, value[i], d[i], 1e-14);
      CHECK(t, fx_norm(fx_sub(fx_sym3_mul(s, axis[i]), fx_scale(value[i], axis[i]))) < 1e-14);
    }
    frix_quat q = random_quat(t), r;
    fx_mat3 m = fx_quat_matrix(q);
    r = fx_quat_of_axes(fx_mat3_col(m, 0), fx_mat3_col(m, 1), fx_mat3_col(m, 2));
    CHECK_NEAR(t, fabs(q.w * r.w + q.x * r.x + q.y * r.y + q.z * r.z), 1.0, 1e-14);
  }
}

const fx_test_row test_shapes[] = {
    {"shapes/mass/slices", masses_by_slices},
    {"shapes/mass/surface", masses_by_surface},
    {"shapes/mass/flat", masses_in_the_plane},
    {"shapes/mass/sums", masses_add_up},
    {"shapes/bounding-boxes", boxes_hold_shapes},
    {"shapes/hull/canonical", hulls_are_canonical},
    {"shapes/hull/degenerate", hulls_refuse_nonsense},
    {"shapes/trigonometry", trig_is_accurate},
    {"shapes/eigenvalues", eigenvalues},
    {0},
};
