/* The examples: that they build to the same bits everywhere, and that their answers are those of mechanics. */
#include "answer.h"

#include "examples/degrees.h"

static const double g = FRIX_EXAMPLE_GRAVITY, h = 0.01; /* the step of all examples but pile (0.005) and discs (0.05) */
static const double degree = EX_PI / 180;

/* ---- setup ---- */

static void trig(fx_test *t) {
  double worst = 0;
  for (int k = -7200; k <= 7200; k++) {
    double s, c, angle = k / 10.0;
    ex_sincos(angle, &s, &c);
    /* the argument of libm's functions is rounded: allow for it */
    worst =
        fmax(worst, fmax(fabs(s - sin(angle * degree)), fabs(c - cos(angle * degree))) / (1 + fabs(angle * degree)));
    CHECK(t, k % 900 != 0 || s * s == (double)(k / 900 % 2 != 0));
  }
  CHECK(t, worst < 4e-16);
  fx_test_note(t, "worst %.1e", worst);
}

static uint64_t hashed(uint64_t hash, const void *bytes, size_t count) {
  for (size_t k = 0; k < count; k++) hash = (hash ^ ((const unsigned char *)bytes)[k]) * 0x100000001b3u;
  return hash;
}

static uint64_t problem_hash(const frix_problem_data *d) {
  uint64_t hash = 0xcbf29ce484222325u;
  const frix_matrix *matrix[3] = {&d->M, &d->H, &d->G};
  for (int k = 0; k < 3; k++) {
    size_t count = (size_t)matrix[k]->nonzero_count;
    if (matrix[k]->format == FRIX_MATRIX_NONE) continue;
    hash = hashed(hash, matrix[k]->p, ((size_t)matrix[k]->col_count + 1) * sizeof(int32_t));
    hash = hashed(hash, matrix[k]->i, count * sizeof(int32_t));
    hash = hashed(hash, matrix[k]->x, count * sizeof(double));
  }
  hash = hashed(hash, d->f, (size_t)d->dof_count * sizeof(double));
  return hashed(hash, d->w, (size_t)d->row_count * sizeof(double));
}

/* Bits recorded once; another compiler, optimisation level or machine must find the same (IEEE, little endian). */
static void same_bits(fx_test *t) {
  static const struct {
    const char *name;
    uint64_t hash;
  } golden[] = {
      {"slope", 0xd5c919dcb7b03963},       {"slide", 0x646e7bcd8674423a},   {"anisotropic", 0xd5c919dcb7b03963},
      {"hexapyramid", 0xae67ce4612fb89d3}, {"rolling", 0x9cc4a2e33c910391}, {"cardhouse", 0xb46d38c8add27b2a},
      {"stack", 0x719541914f4e891c},       {"arch", 0x8340b2916db10400},    {"wall", 0xfac2ced2faee902f},
      {"pile", 0x82e7359b18df3ebd},        {"discs", 0x17069c7c2fd8f63c},   {"chain", 0x601c7a44896625b1},
      {"bridge", 0x4cabd678bf8c4506},      {"limit", 0x91455c3b5d69e38b},   {"drop", 0xe18ea37faa1ab028},
      {"painleve", 0x029b8af0ada6dc2f},
  };
  const frix_example *row;
  for (int32_t k = 0; (row = frix_example_table(k)); k++) {
    answer a;
    if (answer_build(t, &a, row->name, NULL)) {
      uint64_t hash = problem_hash(&a.data), expected = 0;
      for (size_t j = 0; j < sizeof golden / sizeof *golden; j++)
        if (strcmp(golden[j].name, row->name) == 0) expected = golden[j].hash;
      if (hash != expected)
        fx_test_fail(t, __FILE__, __LINE__, "%s: 0x%016llx, expected 0x%016llx", row->name, (unsigned long long)hash,
                     (unsigned long long)expected);
    }
    answer_free(&a);
  }
}

/* Every row as it stands. */
static void all_solve(fx_test *t) {
  const frix_example *row;
  for (int32_t k = 0; (row = frix_example_table(k)); k++) {
    answer a;
    answer_example(t, &a, row->name, NULL, 1e-8);
    CHECK(t, a.data.form == FRIX_FORM_GLOBAL && a.data.contact_count > 0);
    answer_free(&a);
  }
}

static void refuses(fx_test *t) {
  const frix_example *row;
  frix_context *context;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int32_t k = 0; (row = frix_example_table(k)); k++)
    for (int32_t j = 0; j < row->parameter_count; j++) {
      double value[FRIX_EXAMPLE_MAX_PARAMETERS];
      CHECK(t, row->parameter_count <= FRIX_EXAMPLE_MAX_PARAMETERS);
      for (int32_t i = 0; i < row->parameter_count; i++) value[i] = row->parameter[i].initial;
      frix_problem *problem = NULL;
      value[j] = row->parameter[j].minimum - 1;
      CHECK(t, frix_example_build(row, context, value, &problem) == FRIX_ERROR_INPUT && !problem);
      value[j] = NAN;
      CHECK(t, frix_example_build(row, context, value, &problem) == FRIX_ERROR_INPUT && !problem);
      CHECK(t, frix_example_parameter_index(row, row->parameter[j].name) == j);
    }
  CHECK(t, frix_example_find("no such example") == NULL);
  frix_context_destroy(context);
}

/* ---- one block ---- */

/* Rests up to mu = tan(angle), and slides by the closed form beyond it, however little. Within 1e-9 of the limit four
 * contacts that creep in slightly different directions are nearly a solution: there a residual of 1e-12 allows 1e-9
 * m/s. */
static void slope(fx_test *t) {
  static const double excess[] = {-0.5, -1e-2, -1e-6, 0.1, 1e-9};
  double worst = 0, limit_case = 0;
  for (int angle = 5; angle <= 60; angle += 11)
    for (int k = 0; k < 5; k++) {
      double s, c;
      ex_sincos(angle, &s, &c);
      double mu = s / c * (1 + excess[k]);
      double gain = excess[k] < 0 ? h * g * (s - mu * c) : 0;
      answer a;
      if (answer_example(t, &a, "slope", (double[]){mu, angle}, 1e-12)) {
        const double *v = a.result.v;
        double expected[6] = {gain * c, 0, -gain * s, 0, 0, 0};
        double *error = k == 4 ? &limit_case : &worst;
        for (int i = 0; i < 6; i++) *error = fmax(*error, fabs(v[i] - expected[i]));
      }
      answer_free(&a);
    }
  CHECK(t, worst < 1e-11 && limit_case < 1e-8);
  fx_test_note(t, "v to %.1e m/s, at the limit to %.1e", worst, limit_case);
}

/* The same loss of speed in every direction, and no turning: the exact cone has no corners. */
static void slide(fx_test *t) {
  double worst = 0, v0 = 1, mu = 0.5;
  for (int direction = 0; direction < 360; direction += 30) {
    double s, c;
    ex_sincos(direction + 7, &s, &c);
    answer a;
    if (answer_example(t, &a, "slide", (double[]){mu, v0, direction + 7}, 1e-13)) {
      double speed = v0 - mu * g * h, expected[6] = {speed * c, speed * s, 0, 0, 0, 0};
      for (int i = 0; i < 6; i++) worst = fmax(worst, fabs(a.result.v[i] - expected[i]));
    }
    answer_free(&a);
  }
  CHECK(t, worst < 1e-10);
  answer a; /* slower than mu g h: it stops within the step */
  if (answer_example(t, &a, "slide", (double[]){mu, 0.9 * mu * g * h, 123}, 1e-12)) CHECK(t, answer_speed(&a) < 1e-12);
  answer_free(&a);
  fx_test_note(t, "12 directions to %.1e m/s", worst);
}

/* Sliding by maximum dissipation: in the axes of the ellipse v_i = d_i l / (l + c mu_i^2) with the drive d = h g sin t
 * (downhill), c = h g cos t, and l = |(mu_1 v_1, mu_2 v_2)| the root of sum (mu_i d_i / (l + c mu_i^2))^2 = 1. */
static void anisotropic(fx_test *t) {
  const double mu[2] = {0.3, 0.5};
  double s, c, worst = 0;
  ex_sincos(35, &s, &c);
  for (int axis = -90; axis <= 90; axis += 15) {
    double sine, cosine, low = 0, high = 1, v[2];
    ex_sincos(axis, &sine, &cosine);
    const double drive[2] = {h * g * s * cosine, -h * g * s * sine}, press = h * g * c;
    while (low < (low + high) / 2 && (low + high) / 2 < high) {
      double l = (low + high) / 2, sum = 0;
      for (int i = 0; i < 2; i++) sum += pow(mu[i] * drive[i] / (l + press * mu[i] * mu[i]), 2);
      *(sum > 1 ? &low : &high) = l;
    }
    for (int i = 0; i < 2; i++) v[i] = drive[i] * high / (high + press * mu[i] * mu[i]);
    double down = cosine * v[0] - sine * v[1], level = sine * v[0] + cosine * v[1];
    const double expected[6] = {down * c, level, -down * s, 0, 0, 0};
    answer a;
    if (answer_example(t, &a, "anisotropic", (double[]){mu[0], mu[1], axis, 35}, 1e-13))
      for (int i = 0; i < 6; i++) worst = fmax(worst, fabs(a.result.v[i] - expected[i]));
    answer_free(&a);
  }
  CHECK(t, worst < 1e-11);
  fx_test_note(t, "v to %.1e m/s", worst);
}

/* Rests at (g_1/mu)^2 + (g_2/mu2)^2 <= g_N^2: between the two coefficients, only if the strong axis points downhill. */
static void anisotropic_rest(fx_test *t) {
  answer a;
  if (answer_example(t, &a, "anisotropic", (double[]){0.3, 0.9, 90, 35}, 1e-12)) CHECK(t, answer_speed(&a) < 1e-12);
  answer_free(&a);
  if (answer_example(t, &a, "anisotropic", (double[]){0.3, 0.9, 0, 35}, 1e-12)) CHECK(t, answer_speed(&a) > 1e-2);
  answer_free(&a);
}

/* ---- rolling ---- */

/* A sphere that rolls keeps rolling: v' = v + 5/7 h (g sin t - mu_r g cos t / R), and stops where that is negative. */
static void rolling(fx_test *t) {
  static const double row[][4] = {{0.5, 0.01, 0, 1}, {0.5, 0, 0, 1}, {0.5, 0.02, 20, 1}, {0.8, 0.05, 0, 0.01}};
  double worst = 0, radius = 0.1;
  for (int k = 0; k < 4; k++) {
    double s, c;
    ex_sincos(row[k][2], &s, &c);
    double speed = fmax(0, row[k][3] + 5.0 / 7 * h * (g * s - row[k][1] * g * c / radius));
    const double expected[6] = {speed * c, 0, -speed * s, 0, speed / radius, 0};
    answer a;
    if (answer_example(t, &a, "rolling", (double[]){row[k][0], row[k][1], row[k][2], row[k][3], 1}, 1e-13))
      for (int i = 0; i < 6; i++) worst = fmax(worst, fabs(a.result.v[i] - expected[i]));
    answer_free(&a);
  }
  CHECK(t, worst < 1e-10);
  fx_test_note(t, "v to %.1e", worst);
}

static void islands(fx_test *t) {
  answer a;
  int32_t count = 0;
  if (answer_example(t, &a, "rolling", (double[]){0.5, 0.01, 10, 1, 30}, 1e-12)) {
    CHECK(t, frix_problem_island_count(a.problem, &count) == FRIX_OK && count == 30);
    CHECK(t, a.result.island_count == 30);
    for (int32_t k = 6; k < a.result.dof_count; k++) CHECK(t, a.result.v[k] == a.result.v[k % 6]);
  }
  answer_free(&a);
}

/* ---- hexapyramid: many forces, one motion ---- */

/* Normal impulses (1 + s) h m g / 6 on the odd and (1 - s) on the even corners carry the weight for any s; s = 1 and
 * s = -1 are the two solutions of Anitescu and Hart. All with |s| <= 1 are solutions in (v, r), so their average is one
 * too; it is only together with the slack lambda of the linear complementarity problem (lambda = 1 where c_n = 0) that
 * the average fails, since mu c_n lambda > 0: that is checked here by hand, as lambda is no part of the exact law. */
static void hexapyramid(fx_test *t) {
  static const double facets[] = {0, 8};
  for (int k = 0; k < 2; k++) {
    answer a;
    double mu = 0.5;
    if (answer_example(t, &a, "hexapyramid", (double[]){mu, 1, facets[k]}, 1e-12)) CHECK(t, answer_speed(&a) < 1e-12);
    static const double share[] = {1, -1, 0, 0.5, -0.25};
    for (int j = 0; j < 5 && a.problem; j++) {
      double r[18] = {0}, v[6];
      for (int i = 0; i < 6; i++) r[3 * i] = (1 + (i % 2 ? -share[j] : share[j])) * h * g / 6;
      frix_certificate c;
      CHECK(t, frix_certify(a.context, a.problem, FRIX_LAW_COULOMB, r, NULL, &c, NULL, v) == FRIX_OK);
      CHECK(t, c.residual < 1e-15);
      for (int i = 0; i < 6; i++) CHECK_NEAR(t, v[i], 0, 1e-16);
      /* mu c_n >= 0 _|_ lambda >= 0 with the lambda of the first, the second and the averaged solution */
      double lambda[2] = {(1 - share[j]) / 2, (1 + share[j]) / 2}, product = 0;
      for (int i = 0; i < 6; i++) product = fmax(product, mu * r[3 * i] * lambda[i % 2]);
      CHECK(t, fabs(share[j]) == 1 ? product == 0 : product > 1e-3);
    }
    /* what is no solution: pulling corners, too much, too little */
    static const double wrong[][2] = {{1.5, -0.5}, {1.1, 1.1}, {0.9, 0.9}};
    for (int j = 0; j < 3 && a.problem; j++) {
      double r[18] = {0};
      for (int i = 0; i < 6; i++) r[3 * i] = wrong[j][i % 2] * h * g / 6;
      frix_certificate c;
      CHECK(t, frix_certify(a.context, a.problem, FRIX_LAW_COULOMB, r, NULL, &c, NULL, NULL) == FRIX_OK);
      CHECK(t, c.residual > 1e-2);
    }
    answer_free(&a);
  }
}

/* ---- bodies on bodies ---- */

/* Speeds of the order of h g (0.1 m/s) are a fall; a structure that stands moves by at most 1e-6 of that. */
static double speed_of(fx_test *t, const char *name, const double *value) {
  answer a;
  double speed = answer_example(t, &a, name, value, 1e-10) ? answer_speed(&a) : NAN;
  answer_free(&a);
  return speed;
}

static void stands(fx_test *t, const char *name, const double *value) {
  double speed = speed_of(t, name, value);
  if (!(speed < 1e-7))
    fx_test_fail(t, __FILE__, __LINE__, "%s (%g, %g) moves by %.3g", name, value[0], value[1], speed);
}

static void falls(fx_test *t, const char *name, const double *value) {
  double speed = speed_of(t, name, value);
  if (!(speed > 1e-4)) fx_test_fail(t, __FILE__, __LINE__, "%s (%g, %g) stands, %.3g", name, value[0], value[1], speed);
}

static void cardhouse(fx_test *t) {
  for (int levels = 1; levels <= 4; levels++) stands(t, "cardhouse", (double[]){levels, 0.8, 0});
  falls(t, "cardhouse", (double[]){1, 0.15, 0});
  falls(t, "cardhouse", (double[]){3, 0.15, 0});
  falls(t, "cardhouse", (double[]){3, 0.8, 50});
}

/* Least thickness over mean radius of a semicircular arch of n flat-faced voussoirs under its own weight. */
static void arch(fx_test *t) {
  static const double least[][2] = {{7, 0.09570}, {11, 0.10459}, {21, 0.10669}};
  for (int k = 0; k < 3; k++) {
    stands(t, "arch", (double[]){least[k][0], 1.02 * least[k][1], 0.7});
    falls(t, "arch", (double[]){least[k][0], 0.98 * least[k][1], 0.7});
  }
}

static void wall(fx_test *t) {
  stands(t, "wall", (double[]){4, 4, 0.6, 0});
  falls(t, "wall", (double[]){4, 4, 0.6, 100});
}

/* Every joint carries the weight above it; a heavy cube on top of light ones included. */
static void stack(fx_test *t) {
  static const double ratio[] = {1, 1e3, 1e-3};
  for (int k = 0; k < 3; k++) {
    answer a;
    if (answer_example(t, &a, "stack", (double[]){6, 0.5, ratio[k], 0, 0}, 1e-12)) {
      for (int joint = 0; joint < 6; joint++) {
        double sum = 0, weight = (5 - joint + ratio[k]) * g * h;
        for (int i = 0; i < 4; i++) sum += a.result.r[12 * joint + 3 * i];
        CHECK_NEAR(t, sum, weight, 1e-8 * weight);
      }
      CHECK(t, answer_speed(&a) < 1e-8);
    }
    answer_free(&a);
  }
}

/* One cube on four springs: v = -R r and m v = 4 r - m g h. */
static void springs(fx_test *t) {
  double stiffness = 1e5, R = 1 / (stiffness * h * h);
  answer a;
  if (answer_example(t, &a, "stack", (double[]){1, 0.5, 1, stiffness, 0}, 1e-13)) {
    double r = g * h / (4 + R);
    for (int i = 0; i < 4; i++) CHECK_NEAR(t, a.result.r[3 * i], r, 1e-12);
    CHECK_NEAR(t, a.result.v[2], -R * r, 1e-12);
  }
  answer_free(&a);
}

/* ---- grains ---- */

/* One row of discs: each carries itself. Two over one: stands with margin, falls below tan 15 deg. */
static void discs(fx_test *t) {
  answer a;
  if (answer_example(t, &a, "discs", (double[]){1, 0.2}, 1e-12)) CHECK_NEAR(t, a.result.r[0], g * 0.05, 1e-12);
  answer_free(&a);
  stands(t, "discs", (double[]){2, 1.05 * 0.26794919243112270});
  falls(t, "discs", (double[]){2, 0.99 * 0.26794919243112270});
  if (answer_build(t, &a, "discs", (double[]){20, 0.2})) CHECK(t, a.data.dof_count == 3 * 210);
  answer_free(&a);
}

/* Sizes, and impulses that balance the momentum the floor takes. */
static void pile(fx_test *t) {
  answer a;
  if (answer_build(t, &a, "pile", (double[]){4000, 0.5, 0.5, 1, 0, 0})) {
    CHECK(t, a.data.contact_count > 8000 && a.data.contact_count < 24000);
    fx_test_note(t, "4000 spheres, %d contacts", a.data.contact_count);
    for (int32_t k = 0; k < a.data.row_count; k++) CHECK(t, a.data.w[k] >= 0);
  }
  answer_free(&a);
  if (answer_example(t, &a, "pile", (double[]){27, 0.3, 0.5, 2, 0, 0}, 1e-8))
    CHECK(t, a.result.certificate.power <= 1e-12 && a.result.certificate.dissipation < 1e-6);
  answer_free(&a);
}

/* ---- joints and limits ---- */

/* Hanging: the joint above rod k carries the rods below it. Dragged: all rods gain h g (pull - mu). */
static void chain(fx_test *t) {
  enum { COUNT = 5 };
  const double mass = 0.3;
  answer a;
  if (answer_example(t, &a, "chain", (double[]){COUNT, 0.4, 0, 1, 1}, 1e-12)) {
    CHECK(t, answer_speed(&a) < 1e-12);
    for (int k = 0; k < COUNT; k++) {
      CHECK_NEAR(t, a.result.lambda[3 * k], 0, 1e-12);
      CHECK_NEAR(t, a.result.lambda[3 * k + 2], (COUNT - k) * mass * g * h, 1e-11);
    }
    for (int k = 0; k < 3; k++) CHECK(t, a.result.r[k] == 0);
  }
  answer_free(&a);
  if (answer_example(t, &a, "chain", (double[]){COUNT, 0.4, 0.6, 0, 1}, 1e-12)) {
    double normal = 0, friction = 0, weight = COUNT * mass * g * h;
    for (int32_t i = 0; i < a.data.contact_count; i++) normal += a.result.r[3 * i], friction += a.result.r[3 * i + 1];
    CHECK_NEAR(t, normal, weight, 1e-9);
    CHECK_NEAR(t, friction, -0.4 * weight, 1e-9);
    for (int k = 0; k < COUNT; k++) CHECK_NEAR(t, a.result.v[6 * k], h * g * 0.2, 1e-9);
  }
  answer_free(&a);
  if (answer_example(t, &a, "chain", (double[]){COUNT, 0.4, 0.39, 0, 1}, 1e-12)) CHECK(t, answer_speed(&a) < 1e-9);
  answer_free(&a);
}

/* The stop carries the moment of plank and block about the hinge; further from the stop it carries nothing. */
static void limit(fx_test *t) {
  answer a;
  double block = 0.5, plank = 2;
  if (answer_example(t, &a, "limit", (double[]){0.5, block, 0}, 1e-12)) {
    CHECK(t, answer_speed(&a) < 1e-10);
    CHECK_NEAR(t, a.result.r[0], h * g * (plank * 0.5 + block * 0.8), 1e-10);
  }
  answer_free(&a);
  if (answer_example(t, &a, "limit", (double[]){0.5, block, 0.1}, 1e-10)) {
    CHECK(t, a.result.r[0] == 0 && a.result.u[0] > 0);
    CHECK(t, a.result.v[4] > 0); /* the right end falls: positive spin about y */
  }
  answer_free(&a);
}

const fx_test_row test_examples[] = {
    {"examples/trig", trig},
    {"examples/same_bits", same_bits},
    {"examples/refuses", refuses},
    {"examples/all_solve", all_solve},
    {"examples/slope", slope},
    {"examples/slide", slide},
    {"examples/anisotropic", anisotropic},
    {"examples/anisotropic_rest", anisotropic_rest},
    {"examples/rolling", rolling},
    {"examples/islands", islands},
    {"examples/hexapyramid", hexapyramid},
    {"examples/cardhouse", cardhouse},
    {"examples/arch", arch},
    {"examples/wall", wall},
    {"examples/stack", stack},
    {"examples/springs", springs},
    {"examples/discs", discs},
    {"examples/pile", pile},
    {"examples/chain", chain},
    {"examples/limit", limit},
    {0},
};
