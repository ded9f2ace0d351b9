/* Cases of differentiable contact with closed forms: a ball that slides until it rolls, the stroke of billiards, and
 * the moment of an impact, which steps do not resolve. */
#include <frix/frix.h>
#include <math.h>
#include <string.h>

#include "test.h"

#define G 9.81
#define RADIUS 0.1

typedef struct table_world {
  int balls;
  bool flies; /* against a wall, without gravity and friction */
} table_world;

enum { SPEED, BOUNCE, ALONG, ASIDE, MU, COUNT };

static frix_status build(frix_context *context, const double *p, frix_model **out, void *user) {
  const table_world *w = user;
  frix_builder *b = NULL;
  frix_status status = frix_builder_create(context, &b);
  if (status != FRIX_OK) return status;
  frix_material_config m = frix_material_default();
  frix_shape_config floor = frix_shape_default();
  m.mu = p[MU], m.restitution = p[BOUNCE];
  if (w->flies) frix_builder_set_gravity(b, (frix_vec3){0, 0, 0});
  frix_builder_add_material(b, &m, &floor.material);
  floor.kind = FRIX_SHAPE_PLANE; /* a table, or a wall across x */
  if (w->flies) floor.pose.q = frix_quat_turn((frix_vec3){0, 1, 0}, 1.5707963267948966);
  if (!w->flies || w->balls == 1) frix_builder_add_shape(b, (frix_body_id){0, 0}, &floor, NULL);
  for (int k = 0; k < w->balls; k++) {
    frix_body_config body = frix_body_default();
    frix_shape_config ball = frix_shape_default();
    frix_body_id id;
    double inertia = 0.4 * RADIUS * RADIUS;
    body.name = k ? "object" : "cue", body.mass = 1;
    body.inertia = (frix_sym3){inertia, inertia, inertia, 0, 0, 0};
    body.pose.p = (frix_vec3){k ? 0.5 : p[ALONG], k ? 0 : p[ASIDE], w->flies ? 0 : RADIUS};
    body.velocity = (frix_vec3){k ? 0 : p[SPEED], 0, 0};
    ball.kind = FRIX_SHAPE_SPHERE, ball.radius = RADIUS, ball.material = floor.material;
    frix_builder_add_body(b, &body, &id);
    frix_builder_add_shape(b, id, &ball, NULL);
  }
  status = frix_builder_compile(b, out);
  frix_builder_destroy(b);
  return status;
}

static frix_sensitivity *run(fx_test *t, frix_context *context, table_world *w, const double *p, double h, double time,
                             frix_sensitivity_result *r) {
  frix_sim_config sim = frix_sim_default();
  frix_sensitivity_config config = frix_sensitivity_default();
  frix_sensitivity *s = NULL;
  sim.restitution = FRIX_RESTITUTION_NEWTON;
  if (w->flies) sim.restitution_speed = 1e-3;
  config.parameter_count = w->flies ? MU : COUNT, /* without friction there is no less of it */
      config.parameter = p, config.step = h, config.build = build, config.user = w;
  if (frix_sensitivity_create(context, &sim, &config, &s) != FRIX_OK)
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  r->size = sizeof *r;
  for (int k = 0; s && k < (int)(time / h + 0.5); k++)
    if (frix_sensitivity_step(s, r) != FRIX_OK) {
      fx_test_fail(t, __FILE__, __LINE__, "step %d: %s", k, frix_error_text(context));
      break;
    }
  return s;
}

static frix_sensitivity_motion by(const frix_sensitivity *s, const char *name, int parameter) {
  frix_sensitivity_motion m;
  const frix_sim *sim = frix_sensitivity_sim(s);
  frix_body_id id = frix_sim_body_at(sim, strcmp(name, "cue") != 0);
  memset(&m, 0, sizeof m);
  frix_sensitivity_body(s, id, parameter, &m);
  return m;
}

/* Slides for 2 v / (7 mu g), then rolls at 5/7 v whatever mu: x = 5/7 v T + v^2 (2/49) / (mu g). */
static void slide_to_roll(fx_test *t) {
  double p[COUNT] = {1, 0.1, 0, 0, 0.2}, off[2];
  table_world w = {.balls = 1};
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 2; k++) {
    frix_sensitivity_result r;
    frix_sensitivity *s = run(t, context, &w, p, k ? 5e-4 : 1e-3, 0.3, &r);
    if (!s) continue;
    double by_mu = -2.0 / 49 / (p[MU] * p[MU] * G), by_speed = 5.0 / 7 * 0.3 + 4.0 / 49 / (p[MU] * G);
    CHECK(t, r.run_verdict == FRIX_GRADIENT_SMOOTH && r.certified);
    CHECK_NEAR(t, by(s, "cue", SPEED).velocity.x, 5.0 / 7, 1e-7);
    CHECK_NEAR(t, by(s, "cue", MU).velocity.x, 0, 1e-7);
    CHECK_NEAR(t, by(s, "cue", SPEED).spin.y, 5.0 / 7 / RADIUS, 1e-6);
    CHECK_NEAR(t, by(s, "cue", SPEED).place.x, by_speed, 2e-3 / (k + 1));
    off[k] = fabs(by(s, "cue", MU).place.x / by_mu - 1);
    CHECK(t, off[k] < 0.02 / (k + 1));
    frix_sensitivity_destroy(s);
  }
  fx_test_note(t, "place by mu: off by %.1e at h = 1e-3, %.1e at half of it", off[0], off[1]);
  frix_context_destroy(context);
}

/* Without friction the object ball leaves along the line of centres: with the offset y, sin a = y / 2 r, it gets
 * v (1 + e) / 2 cos a (cos a, -sin a), the cue ball what is left. By speed and restitution derivatives are those of the
 * limit h -> 0. By the offset they are those of the steps: the step of the impact begins at the same x whatever y, so
 * that d sin a / d y is cos^2 a / 2 r there and not 1 / 2 r (docs/explain.md). */
static void billiards(fx_test *t) {
  double off[2], y = 0.08, e = 0.9, v = 2;
  table_world w = {.balls = 2, .flies = true};
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 2; k++) {
    double p[COUNT] = {v, e, 0, y, 0}, h = k ? 1e-5 : 1e-4;
    frix_sensitivity_result r;
    double sine = y / (2 * RADIUS), cosine = sqrt(1 - sine * sine), half = (1 + e) / 2;
    double start = 0.5 - 2 * RADIUS * cosine - 20.5 * h * v; /* it strikes in the step 21 */
    p[ALONG] = start;
    frix_sensitivity *s = run(t, context, &w, p, h, 25 * h, &r);
    if (!s) continue;
    CHECK(t, r.run_verdict == FRIX_GRADIENT_SMOOTH && r.certified);
    double along = v * half * cosine * cosine, aside = -v * half * cosine * sine;
    double by_y = -v * half * (cosine - sine * sine / cosine) * cosine * cosine / (2 * RADIUS);
    double allowed = 20 * h * v / RADIUS;
    CHECK_NEAR(t, by(s, "object", SPEED).velocity.x, along / v, allowed);
    CHECK_NEAR(t, by(s, "object", BOUNCE).velocity.x, along / (1 + e), v * allowed);
    CHECK_NEAR(t, by(s, "object", SPEED).velocity.y, aside / v, allowed);
    CHECK_NEAR(t, by(s, "object", ASIDE).velocity.x + by(s, "cue", ASIDE).velocity.x, 0, 1e-6);
    off[k] = fabs(by(s, "object", ASIDE).velocity.y / by_y - 1);
    frix_sensitivity_destroy(s);
  }
  fx_test_note(t, "aside by the offset: off by %.1e at h = 1e-4, %.1e at 1e-5", off[0], off[1]);
  CHECK(t, off[0] < 0.02 && off[1] < 0.002);
  frix_context_destroy(context);
}

/* A ball against a wall. Velocities behind the impact are those of the limit h -> 0. Its place is not: the impact comes
 * with the step in which the wall would be crossed, whatever part of it is left, so that d place / d start is 1 and not
 * -e (docs/explain.md). The same as differences of runs of so many steps. */
static void moment_of_impact(fx_test *t) {
  double p[COUNT] = {-1, 0.8, 0.4535, 0, 0}, h = 1e-2, place[2];
  table_world w = {.balls = 1, .flies = true};
  frix_context *context = NULL;
  frix_sensitivity_result r;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_sensitivity *s = run(t, context, &w, p, h, 0.5, &r);
  if (s) {
    CHECK(t, r.run_verdict == FRIX_GRADIENT_SMOOTH && r.certified);
    CHECK_NEAR(t, by(s, "cue", SPEED).velocity.x, -0.8, 1e-7);
    CHECK_NEAR(t, by(s, "cue", BOUNCE).velocity.x, 1, 1e-7);
    CHECK_NEAR(t, by(s, "cue", ALONG).velocity.x, 0, 1e-7);
    CHECK_NEAR(t, by(s, "cue", ALONG).place.x, 1, 1e-7);
  }
  for (int k = 0; s && k < 2; k++) {
    double q[COUNT];
    frix_body_state state;
    memcpy(q, p, sizeof q), q[ALONG] += k ? 1e-4 : -1e-4;
    frix_sensitivity *beside = run(t, context, &w, q, h, 0.5, &r);
    frix_sim_body(frix_sensitivity_sim(beside), frix_sim_body_at(frix_sensitivity_sim(beside), 0), &state);
    place[k] = state.pose.p.x;
    frix_sensitivity_destroy(beside);
  }
  if (s) CHECK_NEAR(t, (place[1] - place[0]) / 2e-4, 1, 1e-7);
  frix_sensitivity_destroy(s);
  frix_context_destroy(context);
}

const fx_test_row test_contact_cases[] = {{"contact_cases/slide_to_roll", slide_to_roll},
                                          {"contact_cases/billiards", billiards},
                                          {"contact_cases/moment_of_impact", moment_of_impact},
                                          {0}};
