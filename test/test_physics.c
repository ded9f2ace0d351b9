/* Physics with closed forms: what is known on paper, at h = .01 and .001. */
#include "sim_world.h"

static const double steps[2] = {0.01, 0.001};
static const double g = 9.81;
static const double pi = 3.14159265358979323846;

/* A sphere falls, lands and rests. */
static void falls(fx_test *t) {
  for (int k = 0; k < 2; k++) {
    world w = world_new(t, 0.5, 0);
    world_plane(&w, turned(0, 1, 0, 0));
    frix_body_id ball = world_body(&w, body_at(at(0, 0, 1)), sphere_shape(0.1));
    frix_body_id box = world_body(&w, body_at(at(1, 0, 1)), box_shape(0.1, 0.2, 0.3));
    REQUIRE(t, world_start(&w));
    world_run(&w, steps[k], 0.3);
    CHECK_NEAR(t, state_of(&w, ball).center.z, 1 - 0.5 * g * 0.09, 0.5 * g * 0.3 * steps[k] + 1e-12);
    world_run(&w, steps[k], 1);
    CHECK_NEAR(t, state_of(&w, ball).center.z, 0.1, 1e-12);
    CHECK_NEAR(t, state_of(&w, box).center.z, 0.3, 1e-12);
    frix_body_state s = state_of(&w, box);
    CHECK_NEAR(t, s.velocity.z, 0, 1e-12);
    CHECK_NEAR(t, s.spin.x, 0, 1e-12);
    CHECK(t, w.unsolved == 0);
    CHECK(t, ledger_gap(w.sim) < 1e-12);
    world_end(&w);
  }
}

/* tan 26 degrees < 0.5: rests, without creep. */
static void slope_rests(fx_test *t) {
  double creep = 0;
  for (int k = 0; k < 2; k++) {
    world w = world_new(t, 0.5, 0);
    double angle = 26.0 * pi / 180;
    frix_quat q = turned(angle, 0, 1, 0);
    world_plane(&w, q);
    double d = 0.05;
    frix_body_config b = body_at((frix_pose){{d * sin(angle), 0, d * cos(angle)}, q});
    frix_body_id box = world_body(&w, b, box_shape(0.1, 0.1, 0.05));
    REQUIRE(t, world_start(&w));
    world_run(&w, steps[k], 0.2);
    frix_body_state before = state_of(&w, box);
    double time = k ? 1 : 10;
    world_run(&w, steps[k], time);
    frix_body_state after = state_of(&w, box);
    double drift = hypot(after.center.x - before.center.x, hypot(after.center.y - before.center.y, after.center.z - before.center.z));
    creep = fmax(creep, drift / time);
    CHECK(t, drift / time < 1e-12);
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }
  fx_test_note(t, "creep %.1e m/s", creep);
}

const fx_test_row test_physics[] = {
    {"physics/falls", falls},
    {"physics/slope_rests", slope_rests},
    {0},
};
