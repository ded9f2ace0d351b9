/* Thin bodies that move far in a step: they stop each other, on the side they come from. */
#include "linalg/vector.h"
#include "sim_world.h"

static const double half = 0.001, h = 0.005; /* cards of 2 mm */

static frix_shape_config card(void) { return box_shape(0.045, 0.03, half); }

/* The deepest overlap over some steps; a report has that of its beginning. */
static double deepest(world *w, int steps) {
  double most = 0;
  for (int k = 0; k < steps; k++) most = fmax(most, world_step(w, h).penetration);
  return most;
}

/* Cards at rest, one before the other, and a ball that strikes the first one in the middle or near a corner. The blow
 * makes it fast within the step: it knew nothing of the second one, and would go right through. Turns of a quarter of a
 * radian per step are as much as straight ways can stand for. */
static void thrown(fx_test *t) {
  static const double off[][2] = {{0, 0}, {0.03, 0}, {0.02, 0.02}}, speed[] = {4, 2, 2};
  double worst = 0;
  for (int k = 0; k < 3; k++) {
    world w = world_new(t, 0.3, 0);
    MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
    frix_body_config ball = body_at(at(off[k][0], off[k][1], -0.03));
    ball.velocity = vec(0, 0, speed[k]);
    ball.mass = 0.1;
    frix_body_id striking = world_body(&w, ball, sphere_shape(0.02)), id[3];
    for (int c = 0; c < 3; c++) {
      frix_body_config b = body_at(at(0, 0, 0.004 * c));
      b.mass = 0.008;
      id[c] = world_body(&w, b, card());
    }
    REQUIRE(t, world_start(&w));
    worst = fmax(worst, deepest(&w, 12));
    for (int c = 0; c < 2 && k == 0; c++) /* the others tumble */
      CHECK(t, state_of(&w, id[c]).center.z < state_of(&w, id[c + 1]).center.z);
    CHECK(t, state_of(&w, striking).center.z > 0 && w.unsolved == 0);
    world_end(&w);
  }
  fx_test_note(t, "overlap of %.2f mm at most", 1e3 * worst);
  CHECK(t, worst < half);
}

/* An edge comes down across a fixed card and turns: it touches where it enters the face and where it leaves it. */
static void across(fx_test *t) {
  double worst = 0;
  for (int k = 0; k < 60; k++) {
    world w = world_new(t, 0.3, 0);
    MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
    frix_body_config fixed = body_at(at(0, 0, -half)), b = frix_body_default();
    fixed.kind = FRIX_BODY_STATIC;
    world_body(&w, fixed, card());
    /* stands on its long edge, leans over, is turned about the vertical, and one end is a little lower */
    frix_quat lean = turned(0.3 + 0.9 * fabs(fx_test_random(t)), 1, 0, 0),
              yaw = turned(1.5 * fx_test_random(t), 0, 0, 1);
    frix_quat pitch = turned(2e-3 * fx_test_random(t), 0, 1, 0);
    frix_quat q = fx_quat_mul(yaw, fx_quat_mul(pitch, lean));
    frix_vec3 corner[2] = {fx_rotate(q, vec(0.045, -0.03, -half)), fx_rotate(q, vec(-0.045, -0.03, -half))};
    double low = fmin(corner[0].z, corner[1].z);
    b.pose = (frix_pose){vec(0.01 * fx_test_random(t), 0.01 * fx_test_random(t), 1e-5 - low), q};
    b.mass = 0.008;
    b.velocity = vec(0, 0, -0.5);
    b.spin = fx_rotate(yaw, vec(0, 20 * fx_test_random(t), 0));
    world_body(&w, b, card());
    REQUIRE(t, world_start(&w));
    worst = fmax(worst, deepest(&w, 4));
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }
  fx_test_note(t, "overlap of %.2f mm at most", 1e3 * worst);
  CHECK(t, worst < half);
}

const fx_test_row test_thin[] = {{"thin/thrown", thrown}, {"thin/across", across}, {0}};
