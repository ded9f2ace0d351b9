/* Contacts of one face ask for slips that one motion of two rigid bodies has. */
#include "sim_world.h"

/* A bar tips about one edge, which rests on the floor; the contacts of the other edge are open still, and their points
 * move at half its speed. */
static void tipping_bar(fx_test *t) {
  const double length = 0.2, half = 0.02, tilt = 0.05, spin = 1;
  world w = rigid_world(t, 0.8, 0);
  world_plane(&w, turned(0, 0, 0, 1));
  frix_body_config b = body_at(at(0, 0, length * sin(tilt) + half * cos(tilt)));
  b.pose.q = (frix_quat){cos(0.5 * tilt), 0, sin(0.5 * tilt), 0};
  frix_vec3 arm = {-length * cos(tilt) + half * sin(tilt), 0, b.pose.p.z}; /* from the edge to the centre */
  b.spin = vec(0, -spin, 0);
  b.velocity = vec(-spin * arm.z, 0, spin * arm.x);
  world_body(&w, b, box_shape(length, half, half));
  w.config.margin = 0.1; /* sees the open contacts */
  frix_problem *problem = NULL;
  if (world_start(&w)) {
    for (int k = 0; k < 2; k++) world_step(&w, 5e-3);
    CHECK(t, frix_sim_problem(w.sim, &problem) == FRIX_OK);
  }
  if (problem) {
    frix_problem_data data;
    frix_problem_view(problem, &data);
    CHECK(t, data.contact_count >= 4);
    double asked = 0;
    for (int32_t k = 0; k < data.contact_count; k++)
      for (int j = 1; j < 3; j++) {
        CHECK_NEAR(t, data.w[3 * k + j], data.w[j], 1e-12);
        asked = fmax(asked, fabs(data.w[j]));
      }
    CHECK(t, asked > 1e-6);
    fx_test_note(t, "slip %.1e m/s", asked);
  }
  frix_problem_destroy(problem);
  world_end(&w);
}

const fx_test_row test_faces[] = {{"faces/tipping_bar", tipping_bar}, {0}};
