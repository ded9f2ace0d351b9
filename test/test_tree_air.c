/* Air acts on bodies that are free, also where a file has no other joints: a ball of 1 kg and radius r in a viscous
 * fluid, which MJCF takes for a cube of width d = sqrt(2.4) r, falls at m g / (3 pi d viscosity) in the end. */
#include <frix/frix.h>
#include <math.h>
#include <string.h>

#include "shell.h"

static void free_bodies(fx_test *t) {
  static const char text[] =
      "<mujoco><option viscosity='2' gravity='0 0 -10'/><worldbody><body name='ball'><freejoint/>"
      "<geom size='0.1' mass='1'/></body></worldbody></mujoco>";
  const double pi = 3.14159265358979323846, slowing = 3 * pi * sqrt(2.4) * 0.1 * 2, h = 1e-3;
  frix_context *context = NULL;
  frix_mjcf *mjcf = NULL;
  frix_model *model = NULL;
  frix_sim *sim = NULL;
  frix_mjcf_config c = frix_mjcf_default();
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "built without expat");
    return;
  }
  c.coordinates = FRIX_COORDINATES_REDUCED, c.strict = true;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  if (frix_mjcf_read_memory(context, "air.xml", text, strlen(text), &c, &mjcf) == FRIX_OK)
    model = frix_mjcf_take_model(mjcf);
  frix_mjcf_destroy(mjcf);
  if (!model || frix_sim_create(context, model, NULL, &sim))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  frix_body_state ball = {0};
  for (int k = 0; sim && k < 10000; k++) {
    frix_step_report r;
    CHECK(t, frix_sim_step(sim, h, &r) == FRIX_OK && r.certified);
    if (k + 1 != 500 || frix_sim_body(sim, frix_model_find_body(model, "ball"), &ball)) continue;
    CHECK_NEAR(t, ball.velocity.z, -10 / slowing * (1 - exp(-0.5 * slowing)), 2 * h * 10 / slowing);
  }
  if (sim) frix_sim_body(sim, frix_model_find_body(model, "ball"), &ball);
  CHECK_NEAR(t, ball.velocity.z, -10 / slowing, 1e-9);
  if (sim) CHECK(t, frix_sim_energy(sim).damping > 0);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

const fx_test_row test_tree_air[] = {{"tree_air/free_bodies", free_bodies}, {0}};
