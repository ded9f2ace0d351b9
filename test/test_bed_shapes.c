/* Convex grains and joints in beds: sticking and sliding, stacks, momentum, pendulums, hinges, one certificate with the
 * rest of frix, states. Bits on ranks: test_beds.c. */
#include <frix/frix.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/beds.h"
#include "test.h"

static const double pi = 3.14159265358979323846;

static frix_bed *make_bed_to(frix_context *context, const frix_bed_form *form, frix_vec3 gravity, double mu,
                             double stiffness, bool floor, double tolerance) {
  frix_bed_config c = frix_bed_default();
  frix_bed *bed = NULL;
  c.lower = (frix_vec3){-2, -2, 0}, c.upper = (frix_vec3){2, 2, 4};
  c.form = form, c.radius[0] = 0.1, c.gravity = gravity, c.mu = mu, c.stiffness = stiffness, c.tolerance = tolerance;
  c.max_sweeps = 20000;
  if (frix_bed_create(context, &c, &bed)) return NULL;
  frix_bed_wall plane = {.kind = FRIX_BED_PLANE, .normal = {0, 0, 1}, .mu = mu};
  if (floor) frix_bed_add_wall(bed, &plane, NULL);
  return bed;
}

static frix_bed *make_bed(frix_context *context, const frix_bed_form *form, frix_vec3 gravity, double mu,
                          double stiffness, bool floor) {
  return make_bed_to(context, form, gravity, mu, stiffness, floor, 1e-8);
}

static const frix_bed_form cube = {.kind = FRIX_SHAPE_BOX, .half = {0.1, 0.1, 0.1}};
static const frix_vec3 rest = {0, 0, 0};

/* ---- shapes ---- */

/* Gravity leans by tan 0.4: a box of mu 0.41 stays where it is, one of mu 0.3 slides with g (sin - mu cos). */
static void sticks_and_slides(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 4; k++) {
    double mu = k % 2 ? 0.3 : 0.41, time = 0.2;
    frix_bed *bed = make_bed(context, &cube, (frix_vec3){4, 0, -10}, mu, k < 2 ? 0.0 : 1e6, true);
    frix_bed_grain g;
    frix_bed_report report;
    REQUIRE(t, bed);
    double z = k < 2 ? 0.1 : 0.1 - 20.0 * 10.0 / 4e6; /* springs at rest */
    frix_bed_add(bed, 0, (frix_vec3){0, 0, z}, rest, NULL);
    for (int s = 0; s < 100; s++) CHECK(t, frix_bed_step(bed, 0.002, &report) == FRIX_OK && report.certified);
    CHECK(t, frix_bed_at(bed, 0, &g) == FRIX_OK && frix_bed_contact_count(bed) == 4);
    CHECK_NEAR(t, g.velocity.x, k % 2 ? (4.0 - mu * 10.0) * time : 0.0, k < 2 ? 1e-6 : 5e-3);
    if (k == 0) CHECK_NEAR(t, g.position.x, 0.0, 1e-6);
    frix_bed_destroy(bed);
  }
  frix_context_destroy(context);
}

/* What every form presses the floor with is density times volume times g. */
static void forms_weigh(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  static const frix_vec3 wedge[6] = {{0, 0, 0}, {0.2, 0, 0}, {0.2, 0.2, 0}, {0, 0.2, 0}, {0, 0, 0.1}, {0, 0.2, 0.1}};
  const frix_bed_form form[] = {{.kind = FRIX_SHAPE_CAPSULE, .radius = 0.05, .half_length = 0.1},
                                {.kind = FRIX_SHAPE_CYLINDER, .radius = 0.1, .half_length = 0.05},
                                {.kind = FRIX_SHAPE_ELLIPSOID, .half = {0.1, 0.1, 0.05}},
                                {.kind = FRIX_SHAPE_HULL, .point_count = 6, .point = wedge}};
  const double volume[] = {pi * 0.0025 * 0.2 + 4.0 / 3.0 * pi * 0.000125, pi * 0.01 * 0.1, 4.0 / 3.0 * pi * 0.0005,
                           0.002};
  const double height[] = {0.05, 0.05, 0.05, 0.1 / 3.0};
  const frix_quat lying = {sqrt(0.5), 0, sqrt(0.5), 0}, one = {1, 0, 0, 0};
  for (int k = 0; k < 4; k++) {
    frix_bed *bed = make_bed(context, &form[k], (frix_vec3){0, 0, -10}, 0.5, 0.0, true);
    if (!bed && k == 3) { /* a build without qhull */
      CHECK(t, strstr(frix_error_text(context), "qhull"));
      continue;
    }
    REQUIRE(t, bed);
    frix_bed_wall floor;
    frix_bed_report report;
    frix_bed_add_turned(bed, 0, (frix_pose){{0, 0, height[k]}, k ? one : lying}, rest, rest, NULL);
    for (int s = 0; s < 20; s++) CHECK(t, frix_bed_step(bed, 0.005, &report) == FRIX_OK && report.certified);
    CHECK(t, frix_bed_wall_at(bed, 0, &floor) == FRIX_OK);
    CHECK_NEAR(t, floor.force, 25000.0 * volume[k], 1e-5 * 25000.0 * volume[k]);
    frix_bed_destroy(bed);
  }
  frix_context_destroy(context);
}

/* Ten cubes on top of each other, each half over a corner of a cell; the lowest carries all. */
static void stack_stands(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed *bed = make_bed(context, &cube, (frix_vec3){0, 0, -10}, 0.5, 0.0, true);
  frix_bed_report report;
  frix_bed_grain g;
  frix_bed_wall floor;
  REQUIRE(t, bed);
  for (int k = 0; k < 10; k++) frix_bed_add(bed, 0, (frix_vec3){0.01 * (k % 2), 0, 0.1 + 0.2 * k}, rest, NULL);
  for (int s = 0; s < 60; s++) CHECK(t, frix_bed_step(bed, 0.01, &report) == FRIX_OK && report.certified);
  CHECK(t, frix_bed_wall_at(bed, 0, &floor) == FRIX_OK);
  CHECK_NEAR(t, floor.force, 10 * 200.0, 1e-3);
  for (int32_t k = 0; k < 10 && frix_bed_at(bed, k, &g) == FRIX_OK; k++)
    CHECK_NEAR(t, g.position.z, 0.1 + 0.2 * (double)g.id, 1e-5);
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

/* ---- momentum ---- */

typedef struct momentum {
  double linear[3], angular[3];
} momentum;

/* Of cubes of 20 kg with I = m (2 a)^2 / 6, or spheres. */
static momentum momentum_of(const frix_bed *bed, double mass, double inertia) {
  momentum m = {{0}, {0}};
  frix_bed_grain g;
  for (int32_t k = 0; k < frix_bed_count(bed) && frix_bed_at(bed, k, &g) == FRIX_OK; k++) {
    frix_vec3 p = g.position, v = g.velocity;
    double l[3] = {p.y * v.z - p.z * v.y, p.z * v.x - p.x * v.z, p.x * v.y - p.y * v.x};
    const double *w = &g.spin.x, *u = &v.x;
    for (int a = 0; a < 3; a++) m.linear[a] += mass * u[a], m.angular[a] += mass * l[a] + inertia * w[a];
  }
  return m;
}

/* A cube strikes three others off centre; a chain of cubes turns: without outer forces nothing changes in total. */
static void keeps_momentum(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int joined = 0; joined < 2; joined++) {
    frix_bed *bed = make_bed_to(context, &cube, rest, 0.5, 0.0, false, 1e-4);
    frix_bed_report report;
    int64_t met = 0;
    REQUIRE(t, bed);
    for (int k = 0; k < 4; k++) {
      frix_vec3 p = {0.205 * k, 0.03 * k, 2.0 + 0.02 * k}, v = {k ? 0.0 : 1.0, 0.1 * k, 0.2};
      frix_pose pose = {p, {1, joined ? 0 : 0.05 * k, 0, joined ? 0 : 0.1}};
      frix_bed_add_turned(bed, 0, pose, v, (frix_vec3){0.5, -0.2 * k, 1.0}, NULL);
      frix_bed_joint joint = {.kind = FRIX_JOINT_BALL, .a = k, .b = k - 1, .frame_a.q.w = 1, .frame_b.q.w = 1};
      joint.frame_a.p = (frix_vec3){-0.1025, -0.015, -0.01}, joint.frame_b.p = (frix_vec3){0.1025, 0.015, 0.01};
      if (joined && k > 0) CHECK(t, frix_bed_add_joint(bed, &joint) == FRIX_OK);
    }
    momentum before = momentum_of(bed, 20.0, 20.0 * 0.04 / 6.0);
    for (int s = 0; s < 200; s++) {
      CHECK(t, frix_bed_step(bed, 0.001, &report) == FRIX_OK && report.certified);
      met += report.touching_count;
    }
    momentum after = momentum_of(bed, 20.0, 20.0 * 0.04 / 6.0);
    CHECK(t, joined || met > 3);
    for (int a = 0; a < 3; a++) {
      CHECK_NEAR(t, after.linear[a], before.linear[a], 1e-9);
      CHECK_NEAR(t, after.angular[a], before.angular[a], joined ? 0.02 : 0.05); /* to first order in the step */
    }
    frix_bed_destroy(bed);
  }
  frix_context_destroy(context);
}

/* ---- joints ---- */

/* A sphere hangs 0.3 m below a point; the joint is `kind`. Its period is 2 pi sqrt(L (1 + 0.4 (r/L)^2) / g) where it
 * turns with the rod, 2 pi sqrt(L / g) where it does not. */
static void pendulum(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  const frix_joint_kind kind[] = {FRIX_JOINT_BALL, FRIX_JOINT_DISTANCE, FRIX_JOINT_HINGE};
  for (int k = 0; k < 3; k++) {
    frix_bed *bed = make_bed(context, NULL, (frix_vec3){0, 0, -9.81}, 0.5, 0.0, false);
    frix_bed_grain g;
    frix_bed_joint joint = {.kind = kind[k], .a = 0, .b = -1, .length = 0.3, .frame_a.q.w = 1, .frame_b.q.w = 1};
    double L = 0.3, tilt = 0.05, h = 5e-4, crossed = 0.0, before = tilt, far = 0.0;
    const frix_quat about_y = {sqrt(0.5), -sqrt(0.5), 0, 0}; /* z of the frames becomes y */
    REQUIRE(t, bed);
    frix_bed_add(bed, 0, (frix_vec3){L * sin(tilt), 0, 1.0 - L * cos(tilt)}, rest, NULL);
    joint.frame_b.p = (frix_vec3){0, 0, 1.0};
    if (k != 1) joint.frame_a.p = (frix_vec3){-L * sin(tilt), 0, L * cos(tilt)};
    if (k == 2) joint.frame_a.q = about_y, joint.frame_b.q = about_y;
    CHECK(t, frix_bed_add_joint(bed, &joint) == FRIX_OK);
    for (int s = 0; s < 1200 && crossed == 0.0; s++) {
      CHECK(t, frix_bed_step(bed, h, NULL) == FRIX_OK && frix_bed_at(bed, 0, &g) == FRIX_OK);
      double x = g.position.x, z = 1.0 - g.position.z;
      far = fmax(far, fabs(sqrt(x * x + g.position.y * g.position.y + z * z) - L));
      if (x < 0.0) crossed = frix_bed_time(bed) - h * x / (x - before);
      before = x;
    }
    double swing = k == 1 ? L : L * (1.0 + 0.4 * 0.01 / (L * L));
    CHECK_NEAR(t, crossed, 0.5 * pi * sqrt(swing / 9.81), 0.01 * crossed);
    CHECK(t, far < 1e-4);
    CHECK(t, frix_bed_joint_count(bed) == 1 && frix_bed_joint_at(bed, 0, &joint) == FRIX_OK);
    CHECK(t, joint.row_count == (k == 0 ? 3 : k == 1 ? 1 : 5));
    double weight = 2500.0 * 4.0 / 3.0 * pi * 0.001 * 9.81;
    CHECK_NEAR(t, joint.force.z, weight, 0.01 * weight);
    frix_bed_destroy(bed);
  }
  frix_context_destroy(context);
}

/* Three cubes in a row, welded to each other and to the world: a cantilever that stays, and carries its weight. */
static void weld_holds(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed *bed = make_bed(context, &cube, (frix_vec3){0, 0, -10}, 0.5, 0.0, false);
  frix_bed_report report;
  frix_bed_grain g;
  frix_bed_joint joint = {.kind = FRIX_JOINT_FIXED, .frame_a.q.w = 1, .frame_b.q.w = 1};
  REQUIRE(t, bed);
  for (int k = 0; k < 3; k++) {
    frix_bed_add(bed, 0, (frix_vec3){0.2 * k, 0, 1.0}, rest, NULL);
    joint.a = k, joint.b = k - 1;
    joint.frame_a.p = (frix_vec3){-0.1, 0, 0}, joint.frame_b.p = (frix_vec3){k ? 0.1 : -0.1, 0, k ? 0 : 1.0};
    CHECK(t, frix_bed_add_joint(bed, &joint) == FRIX_OK);
  }
  for (int s = 0; s < 50; s++) CHECK(t, frix_bed_step(bed, 0.01, &report) == FRIX_OK && report.certified);
  for (int32_t k = 0; k < 3 && frix_bed_at(bed, k, &g) == FRIX_OK; k++) {
    CHECK_NEAR(t, g.position.z, 1.0, 1e-6);
    CHECK_NEAR(t, g.turn.w * g.turn.w, 1.0, 1e-10);
  }
  for (int32_t k = 0; k < 3 && frix_bed_joint_at(bed, k, &joint) == FRIX_OK; k++) /* on a: from the side of the wall */
    CHECK_NEAR(t, fabs(joint.force.z), joint.b < 0 ? 600.0 : 200.0 * (2.0 - (double)joint.a), 0.01);
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

/* ---- the certificate is that of all other problems ---- */

static void check_certificate(fx_test *t, const char *scene, const char *option, double value, double stiffness,
                              int steps) {
  frix_context *context = NULL;
  frix_bed *bed = NULL;
  frix_bed_report report;
  frix_problem *problem = NULL;
  frix_certificate judged;
  const ex_bed_scene *of = ex_bed_find(scene);
  double set[EX_BED_PARAMETERS], *lambda = NULL;
  frix_bed_config config = frix_bed_default();
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  ex_bed_values(of, set);
  set[ex_bed_parameter(of, option)] = value, set[ex_bed_parameter(of, "stiffness")] = stiffness;
  set[ex_bed_parameter(of, "n")] = strcmp(scene, "chains") ? 200 : 40;
  config.tolerance = stiffness > 0.0 ? 1e-5 : 1e-2, config.max_sweeps = 20000;
  CHECK(t, of->build(context, &config, set, 1, &bed) == FRIX_OK);
  for (int s = 0; s < steps && bed; s++) CHECK(t, frix_bed_step(bed, of->step, &report) == FRIX_OK && report.certified);
  CHECK(t, report.touching_count > 50 && frix_bed_problem(bed, &problem) == FRIX_OK);
  frix_problem_data data;
  frix_problem_view(problem, &data);
  CHECK(t, data.contact_count == report.contact_count);
  lambda = calloc((size_t)data.joint_count + 1, sizeof *lambda);
  frix_bed_joint joint;
  for (int32_t k = 0, at = 0; k < frix_bed_joint_count(bed) && frix_bed_joint_at(bed, k, &joint) == FRIX_OK; k++)
    for (int32_t row = 0; row < joint.row_count && at < data.joint_count; row++) lambda[at++] = joint.impulse[row];
  CHECK(t, frix_certify(context, problem, FRIX_LAW_COULOMB, data.guess, lambda, &judged, NULL, NULL) == FRIX_OK);
  CHECK_NEAR(t, judged.contact_residual, report.certificate.contact_residual, 1e-6 * judged.contact_residual);
  CHECK_NEAR(t, judged.joint_residual, report.certificate.joint_residual, 1e-6 * judged.joint_residual + 1e-14);
  CHECK_NEAR(t, judged.row_residual, report.certificate.row_residual, 1e-6 * judged.row_residual);
  CHECK_NEAR(t, judged.rho, report.certificate.rho, 1e-9 * judged.rho);
  CHECK(t, (data.joint_count > 0) == (judged.joint_residual > 0.0));
  free(lambda);
  frix_problem_destroy(problem);
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

static void same_for_bricks(fx_test *t) {
  check_certificate(t, "bricks", "form", 0, 1e5, 180);
  check_certificate(t, "bricks", "form", 5, 1e5, 180);
  check_certificate(t, "bricks", "form", 0, 0.0, 180);
}

static void same_for_chains(fx_test *t) {
  check_certificate(t, "chains", "capsules", 0, 1e5, 80);
  check_certificate(t, "chains", "capsules", 1, 1e5, 80);
}

/* ---- files and bad input ---- */

static void files(fx_test *t) {
  frix_context *context = NULL;
  frix_model *model = NULL;
  frix_model_counts count;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed *bed = make_bed(context, &cube, rest, 0.5, 0.0, true);
  CHECK(t, bed && frix_bed_model(bed, &model) == FRIX_OK);
  count = frix_model_count(model);
  CHECK(t, count.body_count == 2 && count.shape_count == 2);
  frix_shape_config shape;
  CHECK(t, frix_model_shape(model, frix_model_shape_at(model, 1), &shape, NULL) == FRIX_OK);
  CHECK(t, shape.kind == FRIX_SHAPE_BOX && shape.half.x == 0.1);
  frix_model_destroy(model);
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

static void refuses(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed_config c = frix_bed_default();
  frix_bed *bed = NULL;
  c.lower = (frix_vec3){-1, -1, 0}, c.upper = (frix_vec3){1, 1, 1};
  const frix_bed_form bad[] = {{.kind = FRIX_SHAPE_BOX},
                               {.kind = FRIX_SHAPE_BOX, .half = {0.1, NAN, 0.1}},
                               {.kind = FRIX_SHAPE_CAPSULE, .radius = 0.1},
                               {.kind = FRIX_SHAPE_PLANE},
                               {.kind = FRIX_SHAPE_DISC, .radius = 0.1},
                               {.kind = FRIX_SHAPE_HULL},
                               {.kind = (frix_shape_kind)99}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    c.form = &bad[k];
    CHECK(t, frix_bed_create(context, &c, &bed) == FRIX_ERROR_INPUT && !bed);
  }
  c.form = &cube;
  CHECK(t, frix_bed_create(context, &c, &bed) == FRIX_OK);
  frix_bed_wall ring = {.kind = FRIX_BED_TURNED, .a = {1, 0}, .b = {1, 1}};
  CHECK(t, frix_bed_add_wall(bed, &ring, NULL) == FRIX_ERROR_UNSUPPORTED);
  for (int k = 0; k < 2; k++) frix_bed_add(bed, 0, (frix_vec3){0.9 * k, 0, 0.5}, rest, NULL);
  frix_bed_joint good = {.kind = FRIX_JOINT_BALL, .a = 0, .b = 1, .frame_a.q.w = 1, .frame_b.q.w = 1}, joint = good;
  joint.b = 2;
  CHECK(t, frix_bed_add_joint(bed, &joint) == FRIX_ERROR_INPUT);
  joint = good, joint.kind = FRIX_JOINT_SLIDER;
  CHECK(t, frix_bed_add_joint(bed, &joint) == FRIX_ERROR_INPUT);
  joint = good, joint.kind = FRIX_JOINT_DISTANCE;
  CHECK(t, frix_bed_add_joint(bed, &joint) == FRIX_ERROR_INPUT);
  joint = good, joint.frame_a.q.w = 0;
  CHECK(t, frix_bed_add_joint(bed, &joint) == FRIX_ERROR_INPUT);
  CHECK(t, frix_bed_add_joint(bed, &good) == FRIX_OK);
  frix_bed_flow flow = frix_bed_flow_default();
  flow.outlet = 0.0;
  CHECK(t, frix_bed_set_flow(bed, &flow) == FRIX_ERROR_UNSUPPORTED);
  CHECK(t, frix_bed_step(bed, 0.01, NULL) == FRIX_ERROR_INPUT); /* they are more than a cell apart */
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

const fx_test_row test_bed_shapes[] = {{"bed_shapes/sticks and slides", sticks_and_slides},
                                       {"bed_shapes/forms weigh", forms_weigh},
                                       {"bed_shapes/stack stands", stack_stands},
                                       {"bed_shapes/keeps momentum", keeps_momentum},
                                       {"bed_shapes/pendulum", pendulum},
                                       {"bed_shapes/weld holds", weld_holds},
                                       {"bed_shapes/same certificate for bricks", same_for_bricks},
                                       {"bed_shapes/same certificate for chains", same_for_chains},
                                       {"bed_shapes/files", files},
                                       {"bed_shapes/refuses", refuses},
                                       {0}};
