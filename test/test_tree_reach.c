/* How far links of one tree are looked for: a fall brings no two of them nearer, a swing does. */
#include <frix/frix.h>
#include <string.h>

#include "test.h"

/* A body with two arms on it, 0.2 m apart; the second swings towards the first. */
static const char text[] =
    "<mujoco><worldbody><body name='base' pos='0 0 9'><freejoint/><geom type='box' size='.1 .1 .1' mass='50'/>"
    "<body pos='.2 0 0'><joint axis='0 1 0' armature='100'/><geom type='box' size='.02 .02 .3' pos='0 0 .45' mass='1'/>"
    "</body><body pos='-.2 0 0'><joint axis='0 1 0'/><geom type='box' size='.02 .02 .3' pos='0 0 .45' mass='1'/>"
    "</body></body></worldbody></mujoco>";

static frix_sim *open_sim(frix_context *context, frix_model **model) {
  frix_mjcf *mjcf = NULL;
  frix_sim *sim = NULL;
  frix_mjcf_config config = frix_mjcf_default();
  config.coordinates = FRIX_COORDINATES_REDUCED;
  if (frix_mjcf_read_memory(context, "arms.xml", text, strlen(text), &config, &mjcf) == FRIX_OK)
    *model = frix_mjcf_take_model(mjcf);
  frix_mjcf_destroy(mjcf);
  if (*model) frix_sim_create(context, *model, NULL, &sim);
  return sim;
}

static void within_a_tree(fx_test *t) {
  frix_context *context = NULL;
  frix_model *model = NULL;
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "built without expat");
    return;
  }
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_sim *sim = open_sim(context, &model);
  if (sim) {
    frix_step_report r;
    double *v = frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_QVEL, NULL);
    double *q = frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_QPOS, NULL);
    v[2] = -100.0, v[4] = 20.0; /* it falls and turns: in a step of 5 ms by half a metre */
    CHECK(t, frix_sim_step(sim, 0.005, &r) == FRIX_OK && r.certified && r.contact_count == 0);
    /* 200 rad/s: in a step the tip passes by a metre, to the other side of the first arm */
    v[2] = v[4] = 0.0, v[7] = 200.0;
    for (int k = 0; k < 20; k++) {
      CHECK(t, frix_sim_step(sim, 0.005, &r) == FRIX_OK && r.certified);
      CHECK(t, q[8] - q[7] < 0.6 && r.penetration < 0.01);
    }
  } else {
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  }
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

const fx_test_row test_tree_reach[] = {{"tree_reach/within_a_tree", within_a_tree}, {0}};
