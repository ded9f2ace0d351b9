/* interior_point: its cones against the cone table, its algebra, closed forms, both spaces, the discs of the documents,
 * and every shared instance to 1e-10. */
#include "method.h"

#include "problem/cone.h"
#include "solver/conic.h"

/* One contact of every kind, with numbers from the test's random stream. */
static frix_contact random_contact(fx_test *t, int32_t kind) {
  frix_contact c = {.mu = 0.5 + 0.45 * fx_test_random(t), .mu2 = 0.5 + 0.45 * fx_test_random(t), .mu_r = 0.2};
  c.axis[0] = 0.6, c.axis[1] = 0.8;
  c.facets = 3 + kind % 7;
  static const frix_cone cone[] = {FRIX_CONE_CIRCULAR, FRIX_CONE_ELLIPTIC,     FRIX_CONE_PYRAMID, FRIX_CONE_PLANAR,
                                   FRIX_CONE_ROLLING,  FRIX_CONE_FRICTIONLESS, FRIX_CONE_LIMIT};
  static const int32_t dim[] = {3, 3, 3, 2, 5, 3, 1};
  c.cone = cone[kind % 7];
  c.dim = dim[kind % 7];
  if (kind % 11 == 0) c.mu = 0;
  if (kind % 13 == 0) c.mu2 = 0;
  if (kind % 17 == 0) c.mu_r = 0;
  return c;
}

/* Smallest of s_0 - |s_1| over the parts, and the largest held entry. */
static double depth(const frix_contact *c, const double *x, double *held) {
  fx_conic_part part[FX_CONIC_ENTRIES];
  double E[FX_CONIC_ENTRIES * FRIX_MAX_DIM], least = INFINITY;
  int32_t entries, count = fx_conic_parts(c, part, E, &entries);
  *held = 0;
  for (int32_t k = 0; k < count; k++) {
    double s[3] = {0};
    for (int32_t a = 0; a < part[k].dim; a++)
      for (int32_t e = 0; e < c->dim; e++) s[a] += E[(part[k].first + a) * c->dim + e] * x[e];
    if (part[k].held)
      *held = fmax(*held, fabs(s[0]));
    else
      least = fmin(least, s[0] - sqrt(s[1] * s[1] + s[2] * s[2]));
  }
  return least;
}

/* The parts describe the cone of the table: projections lie in them, and what lies deep inside is its own projection.
 */
static void parts(fx_test *t) {
  for (int32_t k = 0; k < 2000; k++) {
    frix_contact c = random_contact(t, k);
    double x[FRIX_MAX_DIM], p[FRIX_MAX_DIM], held, moved = 0;
    for (int e = 0; e < c.dim; e++) x[e] = fx_test_random(t);
    fx_cone_project(&c, x, p);
    CHECK(t, depth(&c, p, &held) > -1e-14 && held < 1e-15);
    for (int e = 0; e < c.dim; e++) moved += fabs(x[e] - p[e]);
    if (moved > 1e-12) CHECK(t, depth(&c, x, &held) < 0 || held > 0);
    if (depth(&c, x, &held) > 1e-12 && held == 0) CHECK(t, moved < 1e-14);
  }
}

/* Scaling points, Jordan products and steps, checked by what defines them. */
static void algebra(fx_test *t) {
  for (int32_t round = 0; round < 600; round++) {
    int32_t d = 1 + round % 3;
    double s[3] = {0}, z[3] = {0}, w[3], eta, lambda[3], a[3] = {0}, b[3], c[3];
    for (int32_t k = 0; k < d; k++) s[k] = fx_test_random(t), z[k] = fx_test_random(t), a[k] = fx_test_random(t);
    s[0] = 0.01 + sqrt(s[1] * s[1] + s[2] * s[2]), z[0] = 0.01 + sqrt(z[1] * z[1] + z[2] * z[2]);
    REQUIRE(t, fx_soc_scale(d, s, z, w, &eta, lambda));
    fx_soc_unapply(d, w, eta, s, b); /* W^-1 s = W z */
    for (int32_t k = 0; k < d; k++) CHECK_NEAR(t, b[k], lambda[k], 1e-11);
    fx_soc_apply(d, w, eta, b, c);
    for (int32_t k = 0; k < d; k++) CHECK_NEAR(t, c[k], s[k], 1e-11);
    fx_soc_divide(d, lambda, a, b);
    fx_soc_product(d, lambda, b, c);
    for (int32_t k = 0; k < d; k++) CHECK_NEAR(t, c[k], a[k], 1e-9);
    double step = fx_soc_step(d, lambda, a);
    if (step < 1e6) {
      for (int32_t k = 0; k < d; k++) b[k] = lambda[k] + step * a[k];
      double tail = d == 1 ? 0 : sqrt(b[1] * b[1] + (d > 2 ? b[2] * b[2] : 0));
      CHECK_NEAR(t, b[0] - tail, 0, 1e-9 * (1 + step));
    }
  }
}

/* With W = 1 the answer is the projection of -q; with W = B B' + skew it is certified all the same. */
static void closed_form(fx_test *t) {
  double worst = 0;
  for (int32_t k = 0; k < 300; k++) {
    answer a = {0};
    REQUIRE(t, frix_context_create(NULL, &a.context) == FRIX_OK);
    frix_contact c = random_contact(t, k);
    double W[FRIX_MAX_DIM * FRIX_MAX_DIM] = {0}, q[FRIX_MAX_DIM], minus[FRIX_MAX_DIM], r[FRIX_MAX_DIM];
    for (int e = 0; e < c.dim; e++) {
      W[e * (c.dim + 1)] = 1;
      q[e] = fx_test_random(t);
      minus[e] = -q[e];
    }
    bool skew = k >= 200;
    for (int i = 0; skew && i < c.dim; i++)
      for (int j = 0; j < i; j++) {
        double x = 0.5 * fx_test_random(t);
        W[i * c.dim + j] = x;
        W[j * c.dim + i] = -x;
      }
    frix_problem_data data = frix_problem_data_default();
    data.form = FRIX_FORM_LOCAL;
    data.contact_count = 1;
    data.contact = &c;
    data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = c.dim, .col_count = c.dim, .x = W};
    data.q = q;
    CHECK(t, frix_problem_create(a.context, &data, &a.problem) == FRIX_OK);
    method m = {.solver = "interior_point", .law = FRIX_LAW_ASSOCIATED, .tolerance = 1e-11};
    if (a.problem && method_run(t, &a, &m)) {
      CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED);
      fx_cone_project(&c, minus, r);
      for (int e = 0; !skew && e < c.dim; e++) worst = fmax(worst, fabs(r[e] - a.result.r[e]));
    }
    answer_free(&a);
  }
  CHECK(t, worst < 1e-9);
  fx_test_note(t, "r to %.1e", worst);
}

/* 1/2 r'(W + R) r + q'r, W r from the velocities of r and of nothing. */
static double energy(const answer *a, const double *r) {
  frix_certificate c;
  double sum = 0, *u = calloc((size_t)a->data.row_count + 1, sizeof *u),
         *q = calloc((size_t)a->data.row_count + 1, sizeof *q);
  double *zero = calloc((size_t)a->data.row_count + 1, sizeof *zero);
  frix_certify(a->context, a->problem, FRIX_LAW_ASSOCIATED, r, NULL, &c, u, NULL);
  frix_certify(a->context, a->problem, FRIX_LAW_ASSOCIATED, zero, NULL, &c, q, NULL);
  for (int32_t k = 0; k < a->data.row_count; k++) sum += 0.5 * r[k] * (u[k] + q[k]);
  free(u);
  free(q);
  free(zero);
  return sum;
}

/* No other method finds less energy, and velocity space and contact space give the same velocities. */
static void spaces(fx_test *t) {
  static const char *const name[] = {"cardhouse", "arch", "stack", "wall", "discs", "limit", "anisotropic", "rolling"};
  double worst = 0;
  for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
    answer a, b, c;
    method m = {.solver = "interior_point", .law = FRIX_LAW_ASSOCIATED, .tolerance = 1e-11, .form = FRIX_FORM_LOCAL};
    bool first = method_example(t, &a, name[k], NULL, &m);
    m.form = FRIX_FORM_GLOBAL;
    bool second = method_example(t, &b, name[k], NULL, &m);
    m.solver = "apgd";
    m.tolerance = 1e-8;
    m.time_limit = 5;
    bool third = method_example(t, &c, name[k], NULL, &m);
    if (first && second && third) {
      CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED && b.result.outcome == FRIX_OUTCOME_SOLVED);
      double size = 0, gap = 0, scale = fabs(energy(&a, a.result.r));
      for (int32_t e = 0; e < a.result.row_count; e++) {
        size = fmax(size, fabs(a.result.u[e]));
        gap = fmax(gap, fabs(a.result.u[e] - b.result.u[e]));
      }
      worst = fmax(worst, gap / (size > 1e-3 ? size : 1e-3));
      CHECK(t, energy(&a, a.result.r) <= energy(&c, c.result.r) + 1e-10 * scale);
      CHECK_NEAR(t, energy(&a, a.result.r), energy(&b, b.result.r), 1e-9 * scale);
    }
    answer_free(&a);
    answer_free(&b);
    answer_free(&c);
  }
  CHECK(t, worst < 1e-6);
  fx_test_note(t, "velocities of the two spaces agree to %.1e", worst);
}

/* The documents' 210 discs, first step: the convex answer, its residual as they measure it (the normal velocity at
 * contacts that carry an impulse), and as the certificate of the exact law sees it. */
static void discs(fx_test *t) {
  static const double mu[] = {0.1, 0.2, 0.4, 0.6, 0.8}, document[] = {0.06, 0.12, 0.07, 1e-8, 8e-11};
  for (size_t k = 0; k < sizeof mu / sizeof *mu; k++) {
    answer a;
    method m = {.solver = "interior_point", .law = FRIX_LAW_ASSOCIATED, .tolerance = 1e-12};
    if (method_example(t, &a, "discs", (double[]){20, mu[k]}, &m)) {
      CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED && a.result.iterations <= 40);
      double error = 0;
      for (int32_t i = 0; i < a.data.contact_count; i++)
        if (a.result.r[2 * i] > 1e-9) error = fmax(error, fabs(a.result.u[2 * i]));
      CHECK(t, error <= document[k]);
      fx_test_note(t, "mu %g: %lld its, %.0f ms, error %.1e", mu[k], (long long)a.result.iterations,
                   1e3 * a.result.seconds, error);
    }
    answer_free(&a);
  }
}

static void problems(fx_test *t) {
  static const char *const failures[] = {"fc2d_granularflowonwall_02020_00213.dat", NULL}; /* speeds of 1e-19 m/s */
  method m = {.solver = "interior_point", .law = FRIX_LAW_ASSOCIATED, .tolerance = 1e-10};
  method_tally tally = {.what = &m, .failures = failures};
  if (method_instances(t, &tally)) CHECK(t, tally.most_iterations <= 40);
}

/* Pyramids and joints too. */
static void kinds(fx_test *t) {
  answer a;
  method m = {.solver = "interior_point", .law = FRIX_LAW_ASSOCIATED, .tolerance = 1e-10};
  if (method_example(t, &a, "chain", NULL, &m)) CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED);
  answer_free(&a);
  for (int32_t facets = 3; facets <= 64; facets += 13) {
    frix_problem *pyramids = NULL;
    if (answer_build(t, &a, "cardhouse", NULL) && frix_problem_with_pyramids(a.problem, facets, &pyramids) == FRIX_OK) {
      frix_problem_destroy(a.problem);
      a.problem = pyramids;
      if (method_run(t, &a, &m)) CHECK(t, a.result.outcome == FRIX_OUTCOME_SOLVED);
    }
    answer_free(&a);
  }
}

/* The exact law, by the same steps and hardly more of them: every cone, joints, and walls whose pushed bricks slide,
 * which take seconds of other methods. */
static void exact(fx_test *t) {
  static const double wall[] = {10, 10, 0.6, 50};
  static const struct {
    const char *name;
    const double *value;
    int64_t most; /* iterations */
  } rows[] = {{"slope", NULL, 15},   {"slide", NULL, 15}, {"anisotropic", NULL, 15},
              {"rolling", NULL, 15}, {"chain", NULL, 15}, {"cardhouse", NULL, 20},
              {"arch", NULL, 30},    {"discs", NULL, 40}, {"wall", wall, 20}};
  method m = {.solver = "interior_point", .law = FRIX_LAW_COULOMB};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    answer a;
    if (method_example(t, &a, rows[k].name, rows[k].value, &m) &&
        (a.result.outcome != FRIX_OUTCOME_SOLVED || a.result.iterations > rows[k].most || a.result.approximate))
      fx_test_fail(t, __FILE__, __LINE__, "%s: %lld iterations, residual %.2e", rows[k].name,
                   (long long)a.result.iterations, a.result.certificate.residual);
    answer_free(&a);
  }
}

const fx_test_row test_interior_point[] = {
    {"interior_point/parts", parts},
    {"interior_point/algebra", algebra},
    {"interior_point/closed_form", closed_form},
    {"interior_point/spaces", spaces},
    {"interior_point/kinds", kinds},
    {"interior_point/exact", exact},
    {"interior_point/discs", discs},
    {"interior_point/problems", problems},
    {0},
};
