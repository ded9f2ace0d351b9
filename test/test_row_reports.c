/* Rows of a step as the user sees them. */
#include "sim_world.h"

/* Impulses of a body at rest carry its weight. */
static void carry_weight(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  frix_body_config body = frix_body_default();
  body.mass = 3;
  body.pose = at(0, 0, 0.1);
  frix_body_id id = world_body(&w, body, box_shape(0.1, 0.1, 0.1));
  world_start(&w);
  CHECK(t, frix_sim_row_count(w.sim) == 0);
  world_step(&w, 0.01);
  double sum = 0;
  for (int32_t k = 0; k < frix_sim_row_count(w.sim); k++) {
    frix_row_report r;
    REQUIRE(t, frix_sim_row(w.sim, k, &r) == FRIX_OK);
    CHECK(t, r.kind == FRIX_ROW_CONTACT && r.law.dim == 3 && r.a.index + r.b.index == id.index);
    double up = r.direction[0].z * (r.a.index == id.index ? 1 : -1);
    CHECK_NEAR(t, up, 1, 1e-12);
    CHECK(t, !r.angular[0] && r.compression[0] == r.impulse[0]);
    sum += r.impulse[0];
  }
  CHECK_NEAR(t, sum, 3 * 9.81 * 0.01, 1e-12);
  world_end(&w);
}

static void refuse_nonsense(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  frix_row_report r;
  frix_body_config body = frix_body_default();
  world_body(&w, body, box_shape(0.1, 0.1, 0.1));
  world_start(&w);
  world_step(&w, 0.01);
  CHECK(t, frix_sim_row_count(w.sim) == 0); /* it flies */
  CHECK(t, frix_sim_row(w.sim, 0, &r) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_row(w.sim, -1, &r) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_row(w.sim, 0, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_row(NULL, 0, &r) == FRIX_ERROR_INPUT && frix_sim_row_count(NULL) == 0);
  world_end(&w);
}

/* Poisson's compression stops the ball, both phases together throw it back. */
static void show_compression(fx_test *t) {
  world w = world_new(t, 0, 0.5);
  w.config.restitution = FRIX_RESTITUTION_POISSON;
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  frix_body_config body = frix_body_default();
  body.mass = 2;
  body.pose = at(0, 0, 0.1);
  body.velocity = vec(0, 0, -3);
  world_body(&w, body, sphere_shape(0.1));
  world_start(&w);
  world_step(&w, 0.01);
  frix_row_report r;
  REQUIRE(t, frix_sim_row_count(w.sim) == 1 && frix_sim_row(w.sim, 0, &r) == FRIX_OK);
  CHECK_NEAR(t, r.compression[0], 6, 1e-12);
  CHECK_NEAR(t, r.impulse[0], 9, 1e-12);
  world_end(&w);
}

const fx_test_row test_row_reports[] = {
    {"rows/weight", carry_weight},
    {"rows/refuse", refuse_nonsense},
    {"rows/compression", show_compression},
    {0},
};
