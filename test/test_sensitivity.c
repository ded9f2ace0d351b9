/* Derivatives of runs: closed forms of what bounces, slides and sticks, and central differences of certified runs of
 * random worlds along random directions of all their data. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "test.h"

/* ---- closed forms: a ball or a block of parameters (speed, mu, e, h) ---- */

typedef struct point_world {
  bool ball;
  double height;
  frix_body_id body;
} point_world;

enum { SPEED, MU, BOUNCE, STEP, FORCE, POINT_COUNT };

static frix_status build_point(frix_context *context, const double *p, frix_model **out, void *user) {
  point_world *w = user;
  frix_builder *b = NULL;
  frix_status status = frix_builder_create(context, &b);
  if (status != FRIX_OK) return status;
  frix_material_config m = frix_material_default();
  frix_shape_config floor = frix_shape_default(), shape = frix_shape_default();
  frix_body_config body = frix_body_default();
  m.mu = p[MU], m.restitution = p[BOUNCE];
  frix_builder_add_material(b, &m, &floor.material);
  floor.kind = FRIX_SHAPE_PLANE;
  frix_builder_add_shape(b, (frix_body_id){0, 0}, &floor, NULL);
  body.name = "body", body.mass = 2;
  body.inertia = (frix_sym3){1e6, 1e6, 1e6, 0, 0, 0}; /* it does not turn: a point mass */
  body.pose.p = (frix_vec3){0, 0, 0.1 + w->height};
  body.velocity = w->ball ? (frix_vec3){0.3, 0, -p[SPEED]} : (frix_vec3){p[SPEED], 0, 0};
  shape.kind = FRIX_SHAPE_SPHERE, shape.radius = 0.1, shape.material = floor.material;
  frix_builder_add_body(b, &body, &w->body);
  frix_builder_add_shape(b, w->body, &shape, NULL);
  status = frix_builder_compile(b, out);
  frix_builder_destroy(b);
  return status;
}

static frix_status push_point(frix_sim *sim, double h, const double *p, void *user) {
  (void)h;
  return frix_sim_add_force(sim, ((point_world *)user)->body, (frix_vec3){p[FORCE], 0, 0}, (frix_vec3){0, 0, 0});
}

static frix_sensitivity *open_point(fx_test *t, frix_context *context, point_world *w, const double *p) {
  frix_sensitivity_config config = frix_sensitivity_default();
  frix_sensitivity *s = NULL;
  config.parameter_count = POINT_COUNT, config.parameter = p, config.step_parameter = STEP;
  config.build = build_point, config.drive = push_point, config.user = w;
  if (frix_sensitivity_create(context, NULL, &config, &s) != FRIX_OK)
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  return s;
}

static frix_vec3 velocity_by(const frix_sensitivity *s, const point_world *w, int parameter) {
  frix_sensitivity_motion m;
  memset(&m, 0, sizeof m);
  frix_sensitivity_body(s, w->body, parameter, &m);
  return m.velocity;
}

static frix_vec3 place_by(const frix_sensitivity *s, const point_world *w, int parameter) {
  frix_sensitivity_motion m;
  memset(&m, 0, sizeof m);
  frix_sensitivity_body(s, w->body, parameter, &m);
  return m.place;
}

/* v = v0 - mu g n h + F n h / m,  x = v0 n h - (mu g - F / m) h^2 n (n + 1) / 2 */
static void slide(fx_test *t) {
  const double p[POINT_COUNT] = {2, 0.3, 0.1, 0.01, 0.5};
  point_world w = {.height = 0};
  frix_context *context = NULL;
  frix_sensitivity_result r = {.size = sizeof r};
  enum { N = 30 };
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_sensitivity *s = open_point(t, context, &w, p);
  for (int k = 0; s && k < N; k++) CHECK(t, frix_sensitivity_step(s, &r) == FRIX_OK);
  if (s) {
    double h = 0.01, g = 9.81, sum = N * (N + 1) / 2.0;
    CHECK(t, r.run_verdict == FRIX_GRADIENT_SMOOTH && r.certified);
    CHECK_NEAR(t, velocity_by(s, &w, SPEED).x, 1, 1e-8);
    CHECK_NEAR(t, velocity_by(s, &w, MU).x, -g * N * h, 1e-7);
    CHECK_NEAR(t, place_by(s, &w, MU).x, -g * h * h * sum, 1e-7);
    CHECK_NEAR(t, place_by(s, &w, SPEED).x, N * h, 1e-8);
    CHECK_NEAR(t, velocity_by(s, &w, FORCE).x, N * h / 2, 1e-8);
    CHECK_NEAR(t, velocity_by(s, &w, STEP).x, (-0.3 * g + 0.25) * N, 1e-5);
    CHECK_NEAR(t, place_by(s, &w, STEP).x, 2.0 * N - (0.3 * g - 0.25) * 2 * h * sum, 1e-5);
  }
  frix_sensitivity_destroy(s);
  frix_context_destroy(context);
}

/* A thousand steps: derivatives are those of the sums above, and cost the same from step to step. */
static void long_run(fx_test *t) {
  const double p[POINT_COUNT] = {9, 0.3, 0.1, 0.001, 0};
  point_world w = {.height = 0};
  frix_context *context = NULL;
  frix_sensitivity_result r = {.size = sizeof r};
  enum { N = 1000 };
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_sensitivity *s = open_point(t, context, &w, p);
  for (int k = 0; s && k < N; k++) CHECK(t, frix_sensitivity_step(s, &r) == FRIX_OK);
  if (s) {
    double h = 0.001, g = 9.81, sum = N * (N + 1.0) / 2.0, expected = -g * h * h * sum;
    CHECK(t, r.run_verdict == FRIX_GRADIENT_SMOOTH && r.step == N);
    CHECK_NEAR(t, place_by(s, &w, MU).x, expected, 1e-6 * fabs(expected));
    CHECK_NEAR(t, place_by(s, &w, SPEED).x, N * h, 1e-7);
    fx_test_note(t, "off by %.1e", fabs(place_by(s, &w, MU).x / expected - 1));
  }
  frix_sensitivity_destroy(s);
  frix_context_destroy(context);
}

/* Nothing moves it. */
static void stick(fx_test *t) {
  const double p[POINT_COUNT] = {0, 0.5, 0.1, 0.01, 3};
  point_world w = {.height = 0};
  frix_context *context = NULL;
  frix_sensitivity_result r = {.size = sizeof r};
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_sensitivity *s = open_point(t, context, &w, p);
  for (int k = 0; s && k < 10; k++) CHECK(t, frix_sensitivity_step(s, &r) == FRIX_OK);
  if (s) {
    CHECK(t, r.run_verdict == FRIX_GRADIENT_SMOOTH);
    CHECK(t, r.run_distance > 0.01);
    CHECK_NEAR(t, velocity_by(s, &w, MU).x, 0, 1e-9);
    CHECK_NEAR(t, velocity_by(s, &w, FORCE).x, 0, 1e-9);
    CHECK_NEAR(t, place_by(s, &w, FORCE).x, 0, 1e-9);
  }
  frix_sensitivity_destroy(s);
  frix_context_destroy(context);
}

/* Behind a bounce v = e v_before: d v / d e is the speed before it, d v / d speed is e. */
static void bounce(fx_test *t) {
  const double p[POINT_COUNT] = {2, 0.2, 0.6, 0.01, 0};
  point_world w = {.ball = true, .height = 0.05};
  frix_context *context = NULL;
  frix_sensitivity_result r = {.size = sizeof r};
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_sensitivity *s = open_point(t, context, &w, p);
  double before = 0, speed = -1;
  int flight = 0;
  for (int k = 0; s && speed < 0 && k < 30; k++, flight++) {
    frix_body_state state;
    frix_sim_body(frix_sensitivity_sim(s), w.body, &state);
    before = -state.velocity.z;
    CHECK(t, frix_sensitivity_step(s, &r) == FRIX_OK);
    frix_sim_body(frix_sensitivity_sim(s), w.body, &state);
    speed = state.velocity.z;
  }
  if (s) {
    CHECK(t, r.run_verdict == FRIX_GRADIENT_SMOOTH);
    CHECK_NEAR(t, speed, 0.6 * before, 1e-9);
    CHECK_NEAR(t, velocity_by(s, &w, BOUNCE).z, before, 1e-7);
    CHECK_NEAR(t, velocity_by(s, &w, SPEED).z, 0.6, 1e-7);
    CHECK(t, flight > 1);
  }
  frix_sensitivity_destroy(s);
  frix_context_destroy(context);
}

/* A force that is exactly what friction holds: no derivative, and it is said. */
static void kink(fx_test *t) {
  const double p[POINT_COUNT] = {0, 0.5, 0.1, 0.01, 0.5 * 2 * 9.81};
  point_world w = {.height = 0};
  frix_context *context = NULL;
  frix_sensitivity_result r = {.size = sizeof r};
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_sensitivity *s = open_point(t, context, &w, p);
  if (s) {
    CHECK(t, frix_sensitivity_step(s, &r) == FRIX_OK);
    CHECK(t, r.run_verdict == FRIX_GRADIENT_KINK && r.kinks == 1 && r.first_kink == 1);
  }
  frix_sensitivity_destroy(s);
  frix_context_destroy(context);
}

/* ---- random worlds ---- */

enum { BODIES = 5, DIRECTIONS = 10, PER_BODY = 16, WORLD_DATA = 6 };

typedef struct random_world {
  int bodies;
  double base[BODIES * PER_BODY + WORLD_DATA];
  double along[DIRECTIONS][BODIES * PER_BODY + WORLD_DATA];
  double shift[DIRECTIONS];
  int kind[BODIES], used; /* directions that are parameters */
  frix_body_id id[BODIES];
} random_world;

static void make_world_of(fx_test *t, random_world *w, int seed, int kinds) {
  memset(w, 0, sizeof *w);
  for (int k = 0; k < 7 * seed; k++) fx_test_random(t);
  w->bodies = 1 + seed % BODIES;
  for (int k = 0; k < w->bodies; k++) {
    double *b = w->base + k * PER_BODY;
    w->kind[k] = (seed + k) % kinds;
    b[0] = 0.26 * k, b[1] = 0.1 * fx_test_random(t), b[2] = 0.11 + 0.03 * fabs(fx_test_random(t));
    for (int e = 3; e < 6; e++) b[e] = fx_test_random(t);
    for (int e = 6; e < 12; e++) b[e] = fx_test_random(t) * (e < 9 ? 1 : 3);
    b[8] = -0.4 - 0.2 * fabs(b[8]); /* they fall on the floor */
    b[12] = 0.1 + 0.01 * fx_test_random(t), b[13] = 0.07 + 0.01 * fx_test_random(t);
    b[14] = 1 + 0.5 * fx_test_random(t), b[15] = 1 + 0.1 * fx_test_random(t);
  }
  double *world = w->base + BODIES * PER_BODY;
  world[0] = 0.4 + 0.2 * fx_test_random(t), world[1] = 0.3 + 0.2 * fx_test_random(t);
  world[2] = 0.5 * fx_test_random(t), world[3] = 0.5 * fx_test_random(t), world[4] = -9.81;
  for (int d = 0; d < DIRECTIONS; d++)
    for (int k = 0; k < BODIES * PER_BODY + WORLD_DATA; k++) w->along[d][k] = fx_test_random(t);
}

static void make_world(fx_test *t, random_world *w, int seed) { make_world_of(t, w, seed, 3); }

static frix_status build_random(frix_context *context, const double *p, frix_model **out, void *user) {
  random_world *w = user;
  double x[BODIES * PER_BODY + WORLD_DATA];
  memcpy(x, w->base, sizeof x);
  for (int d = 0; d < DIRECTIONS; d++)
    for (int k = 0; k < BODIES * PER_BODY + WORLD_DATA; k++)
      x[k] +=
          (w->shift[d] + (d < w->used ? p[d] : 0)) * w->along[d][k] * (w->base[k] != 0 ? fmin(fabs(w->base[k]), 1) : 0);
  const double *world = x + BODIES * PER_BODY;
  frix_builder *b = NULL;
  frix_status status = frix_builder_create(context, &b);
  if (status != FRIX_OK) return status;
  frix_material_config m = frix_material_default();
  frix_shape_config floor = frix_shape_default();
  m.mu = world[0], m.restitution = world[1];
  frix_builder_add_material(b, &m, &floor.material);
  frix_builder_set_gravity(b, (frix_vec3){world[2], world[3], world[4]});
  floor.kind = FRIX_SHAPE_PLANE;
  frix_builder_add_shape(b, (frix_body_id){0, 0}, &floor, NULL);
  for (int k = 0; k < w->bodies; k++) {
    const double *d = x + k * PER_BODY;
    frix_body_config body = frix_body_default();
    frix_shape_config shape = frix_shape_default();
    double turn = sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5]);
    body.pose.p = (frix_vec3){d[0], d[1], d[2]};
    body.pose.q = frix_quat_turn((frix_vec3){d[3], d[4], d[5]}, turn);
    body.velocity = (frix_vec3){d[6], d[7], d[8]}, body.spin = (frix_vec3){d[9], d[10], d[11]};
    body.mass = d[14];
    body.inertia = (frix_sym3){0.004 * d[15], 0.005 * d[15], 0.006, 0, 0, 0};
    shape.material = floor.material;
    static const frix_shape_kind kinds[5] = {FRIX_SHAPE_SPHERE, FRIX_SHAPE_ELLIPSOID, FRIX_SHAPE_CAPSULE,
                                             FRIX_SHAPE_BOX, FRIX_SHAPE_CYLINDER};
    shape.kind = kinds[w->kind[k]];
    shape.radius = w->kind[k] == 2 ? 0.6 * d[12] : d[12], shape.half_length = 0.5 * d[13];
    shape.half = (frix_vec3){d[12], d[13], 0.09};
    frix_builder_add_body(b, &body, &w->id[k]);
    frix_builder_add_shape(b, w->id[k], &shape, NULL);
  }
  status = frix_builder_compile(b, out);
  frix_builder_destroy(b);
  return status;
}

static frix_sensitivity *open_world_as(frix_context *context, random_world *w, double h, bool backward) {
  static const double p[DIRECTIONS] = {0};
  static const double increment[DIRECTIONS] = {1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6};
  frix_sensitivity_config config = frix_sensitivity_default();
  frix_sim_config sim = frix_sim_default();
  frix_sensitivity *s = NULL;
  sim.tolerance = 1e-12, sim.restitution = FRIX_RESTITUTION_NEWTON;
  config.parameter_count = w->used, config.parameter = p, config.increment = increment, config.step = h;
  config.build = build_random, config.user = w, config.backward = backward, config.apart = 5;
  return frix_sensitivity_create(context, &sim, &config, &s) == FRIX_OK ? s : NULL;
}

static frix_sensitivity *open_world(frix_context *context, random_world *w, double h) {
  return open_world_as(context, w, h, false);
}

/* Places and velocities at the end of a run that is solved to 1e-12; false where it is not certified. */
static bool run_to(frix_context *context, random_world *w, int steps, double h, double *out) {
  w->used = 1; /* the least that can be asked for: here the run itself is wanted */
  frix_sensitivity *s = open_world(context, w, h);
  frix_sensitivity_result r = {.size = sizeof r};
  bool good = s != NULL;
  for (int k = 0; good && k < steps; k++) good = frix_sensitivity_step(s, &r) == FRIX_OK && r.certified;
  for (int k = 0; good && k < w->bodies; k++) {
    frix_body_state at;
    frix_sim_body(frix_sensitivity_sim(s), w->id[k], &at);
    const double all[9] = {at.center.x,   at.center.y, at.center.z, at.velocity.x, at.velocity.y,
                           at.velocity.z, at.spin.x,   at.spin.y,   at.spin.z};
    memcpy(out + 9 * k, all, sizeof all);
  }
  frix_sensitivity_destroy(s);
  return good;
}

/* The derivative along direction d by central differences, extrapolated from two widths; *apart: by how much these
 * differ, INFINITY where they lead over a kink. */
static bool difference(frix_context *context, random_world *w, int d, int steps, double h, double *out, double *apart) {
  double part[2][2][9 * BODIES], here[9 * BODIES], bend[2] = {0};
  const double width[2] = {2e-6, 4e-6};
  if (!run_to(context, w, steps, h, here)) return false;
  for (int e = 0; e < 2; e++)
    for (int side = 0; side < 2; side++) {
      w->shift[d] = side ? width[e] : -width[e];
      bool good = run_to(context, w, steps, h, part[e][side]);
      w->shift[d] = 0;
      if (!good) return false;
    }
  for (int k = 0; k < 9 * w->bodies; k++) {
    double fine = (part[0][1][k] - part[0][0][k]) / (2 * width[0]);
    double coarse = (part[1][1][k] - part[1][0][k]) / (2 * width[1]);
    out[k] = fine + (fine - coarse) / 3;
    *apart = fmax(*apart, fabs(fine - coarse));
    for (int e = 0; e < 2; e++) bend[e] = fmax(bend[e], fabs(part[e][1][k] + part[e][0][k] - 2 * here[k]));
  }
  /* a kink nearer than both widths: the bend grows as the width, that of a smooth run as its square */
  if (bend[0] > 0.35 * bend[1] && bend[0] > 4e-12) *apart = INFINITY;
  return true;
}

typedef struct tally {
  int worlds, smooth, directions, closed, steps;
  double worst;
} tally;

static void try_world(fx_test *t, frix_context *context, int seed, tally *sum) {
  random_world w;
  make_world(t, &w, seed);
  const double h = 0.005;
  const int steps = 24;
  frix_sensitivity_result r = {.size = sizeof r};
  w.used = DIRECTIONS;
  frix_sensitivity *s = open_world(context, &w, h);
  REQUIRE(t, s != NULL);
  bool good = true;
  for (int k = 0; good && k < steps; k++) good = frix_sensitivity_step(s, &r) == FRIX_OK;
  if (!good) fx_test_fail(t, __FILE__, __LINE__, "world %d: %s", seed, frix_error_text(context));
  sum->worlds++;
  if (good && r.run_verdict == FRIX_GRADIENT_SMOOTH && r.run_distance > 1e-4) {
    sum->smooth++;
    for (int d = 0; d < DIRECTIONS; d++) {
      double expected[9 * BODIES], scale = 1, off = 0, apart = 0;
      if (!difference(context, &w, d, steps, h, expected, &apart)) continue;
      for (int k = 0; k < 9 * w.bodies; k++) scale = fmax(scale, fabs(expected[k]));
      for (int k = 0; k < w.bodies; k++) {
        frix_sensitivity_motion m;
        frix_sensitivity_body(s, w.id[k], d, &m);
        const double found[9] = {m.place.x,    m.place.y, m.place.z, m.velocity.x, m.velocity.y,
                                 m.velocity.z, m.spin.x,  m.spin.y,  m.spin.z};
        for (int e = 0; e < 9; e++) off = fmax(off, fabs(found[e] - expected[9 * k + e]) / scale);
      }
      sum->directions++;
      sum->worst = fmax(sum->worst, off);
      if (!(off < 1e-6)) fx_test_fail(t, __FILE__, __LINE__, "world %d, direction %d: %g", seed, d, off);
    }
  }
  frix_sensitivity_destroy(s);
}

static void random_worlds(fx_test *t) {
  frix_context *context = NULL;
  tally sum = {0};
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int seed = 0; seed < 36 && sum.smooth < 30; seed++) try_world(t, context, seed, &sum);
  fx_test_note(t, "%d worlds, %d smooth, %d directions, largest difference %.1e", sum.worlds, sum.smooth,
               sum.directions, sum.worst);
  CHECK(t, sum.smooth >= 25);
  frix_context_destroy(context);
}

/* Boxes and cylinders too: their edges make kinks, which must be told. Differences that do not agree with each other
 * lead over one. */
static void attack(fx_test *t) {
  const char *more = getenv("FRIX_ATTACK"), *from = getenv("FRIX_ATTACK_FROM"); /* worlds, where it is run for long */
  enum { STEPS = 16 };
  frix_context *context = NULL;
  int worlds = more ? atoi(more) : 25, smooth = 0, kinks = 0, refused = 0, directions = 0, near = 0;
  double worst = 0;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int seed = 0; seed < worlds; seed++) {
    random_world w;
    frix_sensitivity_result r = {.size = sizeof r};
    make_world_of(t, &w, seed, 5);
    if (from && seed < atoi(from)) continue;
    for (int k = 0; k < w.bodies; k++) w.base[k * PER_BODY + 2] += 0.05;
    w.used = 4;
    frix_sensitivity *s = open_world(context, &w, 0.01);
    bool good = s != NULL;
    for (int k = 0; good && k < STEPS; k++) good = frix_sensitivity_step(s, &r) == FRIX_OK;
    refused += !good, kinks += good && r.run_verdict != FRIX_GRADIENT_SMOOTH;
    if (good && r.run_verdict == FRIX_GRADIENT_SMOOTH) {
      smooth++;
      for (int d = 0; d < 4; d++) {
        double expected[9 * BODIES], scale = 1, off = 0, apart = 0;
        if (!difference(context, &w, d, STEPS, 0.01, expected, &apart)) continue;
        for (int k = 0; k < 9 * w.bodies; k++) scale = fmax(scale, fabs(expected[k]));
        if (apart > 1e-6 * scale) {
          near++;
          continue;
        }
        for (int k = 0; k < w.bodies; k++) {
          frix_sensitivity_motion m;
          frix_sensitivity_body(s, w.id[k], d, &m);
          const double found[9] = {m.place.x,    m.place.y, m.place.z, m.velocity.x, m.velocity.y,
                                   m.velocity.z, m.spin.x,  m.spin.y,  m.spin.z};
          for (int e = 0; e < 9; e++) off = fmax(off, fabs(found[e] - expected[9 * k + e]) / scale);
        }
        directions++, worst = fmax(worst, off);
        if (!(off < 2e-6))
          fx_test_fail(t, __FILE__, __LINE__, "world %d, direction %d: %g (differences %g apart, distance %g)", seed, d,
                       off, apart / scale, r.run_distance);
      }
    }
    frix_sensitivity_destroy(s);
  }
  fx_test_note(t, "%d worlds: %d smooth, %d kinks, %d refused; %d directions to %.1e, %d over a kink", worlds, smooth,
               kinks, refused, directions, worst, near);
  CHECK(t, smooth > 0);
  frix_context_destroy(context);
}

/* ---- backward ---- */

static double weighed(const frix_sensitivity_motion *a, const frix_sensitivity_motion *b) {
  const double *x = (const double *)a, *y = (const double *)b;
  double sum = 0;
  for (int k = 0; k < 12; k++) sum += x[k] * y[k];
  return sum;
}

/* A random number of the end (and of a step on the way) of random worlds: backward against forward. */
static void try_backward(fx_test *t, frix_context *context, int seed, int kinds, tally *sum) {
  enum { STEPS = 24, MIDDLE = 11 };
  random_world w;
  make_world_of(t, &w, seed, kinds);
  w.used = DIRECTIONS;
  frix_sensitivity_result r = {.size = sizeof r}, q = r;
  frix_sensitivity *s = open_world(context, &w, 0.005), *b = open_world_as(context, &w, 0.005, true);
  REQUIRE(t, s && b);
  frix_sensitivity_weight weight[2 * BODIES];
  double forward[DIRECTIONS] = {0}, backward[DIRECTIONS], scale = 1, off = 0;
  for (int k = 0; k < 2 * w.bodies; k++) {
    double *x = (double *)&weight[k].weight;
    weight[k].body = w.id[k / 2], weight[k].step = k % 2 ? MIDDLE : 0;
    for (int e = 0; e < 12; e++) x[e] = fx_test_random(t);
  }
  bool good = true;
  for (int step = 1; good && step <= STEPS; step++) {
    good = frix_sensitivity_step(s, &r) == FRIX_OK && frix_sensitivity_step(b, &q) == FRIX_OK;
    for (int k = 0; k < 2 * w.bodies; k++) {
      if (step != (weight[k].step ? MIDDLE : STEPS)) continue;
      for (int d = 0; d < DIRECTIONS; d++) {
        frix_sensitivity_motion m;
        frix_sensitivity_body(s, weight[k].body, d, &m);
        forward[d] += weighed(&weight[k].weight, &m);
      }
    }
  }
  CHECK(t, good);
  /* the way forward meets edges of shapes along its tangents, the way back at any time */
  if (kinds <= 3) CHECK(t, r.run_verdict == q.run_verdict && r.run_distance == q.run_distance);
  sum->worlds++, sum->closed += (int)q.closed, sum->steps += STEPS;
  frix_sensitivity_adjoint_config config = {
      .size = sizeof config, .weight_count = 2 * w.bodies, .weight = weight, .parameter = backward};
  frix_status status = frix_sensitivity_adjoint(b, &config);
  if (r.run_verdict != FRIX_GRADIENT_SMOOTH || q.run_verdict != FRIX_GRADIENT_SMOOTH) {
    CHECK(t, status == FRIX_ERROR_UNSUPPORTED || (kinds > 3 && q.run_verdict == FRIX_GRADIENT_SMOOTH));
  } else {
    if (status != FRIX_OK) fx_test_fail(t, __FILE__, __LINE__, "world %d: %s", seed, frix_error_text(context));
    for (int d = 0; d < DIRECTIONS; d++) scale = fmax(scale, fabs(forward[d]));
    for (int d = 0; d < DIRECTIONS; d++) off = fmax(off, fabs(forward[d] - backward[d]) / scale);
    sum->smooth++, sum->worst = fmax(sum->worst, off);
    if (!(off < 1e-6)) fx_test_fail(t, __FILE__, __LINE__, "world %d: %g", seed, off);
  }
  frix_sensitivity_destroy(s);
  frix_sensitivity_destroy(b);
}

static void backward(fx_test *t) {
  frix_context *context = NULL;
  tally sum = {0};
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int seed = 0; seed < 15; seed++) try_backward(t, context, seed, 3, &sum);
  fx_test_note(t, "%d worlds, %d smooth, %d of %d steps in closed form, largest difference %.1e", sum.worlds,
               sum.smooth, sum.closed, sum.steps, sum.worst);
  CHECK(t, sum.smooth >= 10 && 10 * sum.closed >= 8 * sum.steps);
  frix_context_destroy(context);
}

static void backward_boxes(fx_test *t) {
  frix_context *context = NULL;
  tally sum = {0};
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int seed = 15; seed < 30; seed++) try_backward(t, context, seed, 4, &sum);
  fx_test_note(t, "%d worlds, %d smooth, %d of %d steps in closed form, largest difference %.1e", sum.worlds,
               sum.smooth, sum.closed, sum.steps, sum.worst);
  CHECK(t, sum.smooth >= 8 && 10 * sum.closed >= 7 * sum.steps);
  frix_context_destroy(context);
}

/* x of a slide behind n steps: by mu and by the speed in closed form, by a force in step k h^2 (n - k) / m. */
static void backward_slide(fx_test *t) {
  const double p[POINT_COUNT] = {9, 0.3, 0.1, 0.001, 0};
  point_world w = {.height = 0};
  frix_context *context = NULL;
  frix_sensitivity_config config = frix_sensitivity_default();
  frix_sensitivity_result r = {.size = sizeof r};
  frix_sensitivity *s = NULL;
  enum { N = 1000 };
  static frix_vec3 force[N], torque[N];
  double by[POINT_COUNT], h = 0.001, g = 9.81, expected = -g * h * h * N * (N + 1.0) / 2;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  config.parameter_count = POINT_COUNT, config.parameter = p, config.step_parameter = STEP, config.backward = true;
  config.build = build_point, config.drive = push_point, config.user = &w, config.apart = 33;
  REQUIRE(t, frix_sensitivity_create(context, NULL, &config, &s) == FRIX_OK);
  frix_sensitivity_weight weight = {.body = {0, 0}};
  frix_sensitivity_adjoint_config wanted = {
      .size = sizeof wanted, .weight_count = 1, .weight = &weight, .parameter = by, .force = force, .torque = torque};
  weight.weight.place.x = 1, weight.body = wanted.pushed = w.body;
  CHECK(t, frix_sensitivity_adjoint(s, &wanted) == FRIX_ERROR_INPUT); /* no step yet */
  for (int k = 0; k < N; k++) CHECK(t, frix_sensitivity_step(s, &r) == FRIX_OK);
  CHECK(t, frix_sensitivity_body(s, w.body, 0, &weight.weight) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sensitivity_adjoint(s, &wanted) == FRIX_OK);
  CHECK_NEAR(t, by[MU], expected, 1e-6 * fabs(expected));
  CHECK_NEAR(t, by[SPEED], N * h, 1e-7);
  CHECK_NEAR(t, by[FORCE], h * h * N * (N + 1.0) / 4, 1e-7);
  CHECK_NEAR(t, by[STEP], 9.0 * N - 0.3 * g * h * N * (N + 1.0), 1e-3);
  for (int k = 0; k < N; k += 111) CHECK_NEAR(t, force[k].x, h * h * (N - k) / 2, 1e-9);
  CHECK_NEAR(t, force[0].y, 0, 1e-9);
  CHECK(t, frix_sensitivity_step(s, &r) == FRIX_OK && r.step == N + 1); /* it goes on */
  fx_test_note(t, "off by %.1e", fabs(by[MU] / expected - 1));
  frix_sensitivity_destroy(s);
  frix_context_destroy(context);
}

/* A puck that slides: dx/dmu = -g h^2 n (n + 1) / 2, dx/dspeed = n h. */
static void command_with(fx_test *t, const char *line) {
  shell_result r = shell(t, "%s", line);
  const char *mu = strstr(r.out, "\"wrt\": \"mu\", \"value\": "),
             *speed = strstr(r.out, "\"wrt\": \"speed\", \"value\": ");
  CHECK(t, r.code == 0 && shell_json(r.out) && mu && speed);
  if (mu) CHECK_NEAR(t, strtod(mu + 22, NULL), -9.81 * 0.005 * 0.005 * 60 * 61 / 2, 1e-6);
  if (speed) CHECK_NEAR(t, strtod(speed + 25, NULL), 0.3, 1e-6);
  shell_free(&r);
}

static void command(fx_test *t) {
  command_with(t, "$frix gradient puck --run --set direction=0 --wrt mu,speed --of puck.x --at 0.3 --json");
  command_with(t, "$frix gradient puck --run --backward --set direction=0 --wrt mu,speed --of puck.x --at 0.3 --json");
  /* x = v t - mu g h^2 n (n + 1) / 2: by names of the model */
  for (int back = 0; back < 2; back++) {
    static const char *const name[5] = {"world.mu", "puck.velocity.x", "gravity.z", "puck.mass", "mu"};
    shell_result n = shell(t,
                           "$frix gradient puck --run %s --set direction=0 --set mu=0.3 --wrt "
                           "mu,world.mu,puck.velocity.x,gravity.z,puck.mass --of puck.x --at 0.3 --json",
                           back ? "--backward" : "");
    double way = 0.005 * 0.005 * 60 * 61 / 2, value[5] = {-9.81 * way, 0.3, 0.3 * way, 0, -9.81 * way};
    CHECK(t, n.code == 0);
    for (int k = 0; k < 5; k++) {
      char key[64];
      snprintf(key, sizeof key, "\"wrt\": \"%s\", \"value\": ", name[k]);
      const char *at = strstr(n.out, key);
      CHECK(t, at != NULL);
      if (at) CHECK_NEAR(t, strtod(at + strlen(key), NULL), value[k], 1e-6);
    }
    shell_free(&n);
  }
  shell_result stiff = shell(t, "$frix gradient puck --run --contact stiff --wrt mu --of puck.x --at 0.3");
  CHECK(t, stiff.code == 2 && strstr(stiff.err, "rigid contacts")); /* another law than asked for is no answer */
  shell_free(&stiff);
  shell_result l = shell(t, "$frix gradient puck --list");
  CHECK(t, l.code == 0 && strstr(l.out, "puck.mass") && strstr(l.out, "world.mu") && strstr(l.out, "puck.force.x"));
  shell_free(&l);
  shell_result r = shell(t, "$frix gradient puck --run --wrt charm --of puck.x");
  CHECK(t, r.code == 2 && strstr(r.err, "charm"));
  shell_free(&r);
}

const fx_test_row test_sensitivity[] = {{"sensitivity/slide", slide},
                                        {"sensitivity/long_run", long_run},
                                        {"sensitivity/stick", stick},
                                        {"sensitivity/bounce", bounce},
                                        {"sensitivity/kink", kink},
                                        {"sensitivity/random_worlds", random_worlds},
                                        {"sensitivity/attack", attack},
                                        {"sensitivity/backward", backward},
                                        {"sensitivity/backward_boxes", backward_boxes},
                                        {"sensitivity/backward_slide", backward_slide},
                                        {"sensitivity/command", command},
                                        {0}};
