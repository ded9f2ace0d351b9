/* Sleeping bodies take part in the step that first touches them. */
#include "sim_world.h"

/* A ball flies into a box that sleeps: the momentum of both is the ball's, in every step. */
static void hit_keeps_momentum(fx_test *t) {
  world w = rigid_world(t, 0.5, 0);
  w.config.sleep = true;
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  frix_body_config b = body_at(at(0, 0, 0)), ball = body_at(at(-2.013, 0, 0)); /* the gap closes within a step */
  b.mass = 1, ball.mass = 2, ball.velocity = vec(2, 0, 0);
  frix_body_id box = world_body(&w, b, box_shape(0.1, 0.1, 0.1)), fast = world_body(&w, ball, sphere_shape(0.1));
  REQUIRE(t, world_start(&w));
  bool slept = false;
  for (int k = 0; k < 150; k++) {
    world_step(&w, 0.01);
    slept = slept || state_of(&w, box).asleep;
    CHECK_NEAR(t, 2 * state_of(&w, fast).velocity.x + state_of(&w, box).velocity.x, 4, 1e-12);
  }
  CHECK(t, slept && !state_of(&w, box).asleep);
  CHECK_NEAR(t, state_of(&w, box).velocity.x, 4.0 / 3, 1e-9);
  world_end(&w);
}

const fx_test_row test_sleep[] = {{"sleep/hit_keeps_momentum", hit_keeps_momentum}, {0}};
