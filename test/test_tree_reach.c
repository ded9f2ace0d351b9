/* How far links of one tree are looked for: a fall brings no two of them nearer, a swing does. */
#include <frix/frix.h>
#include <string.h>

#include "test.h"

/* A body with two arms on it, 0.2 m apart; the second swings towards the first. */
static const char arms[] =
    "<mujoco><worldbody><body name='base' pos='0 0 9'><freejoint/><geom type='box' size='.1 .1 .1' mass='50'/>"
    "<body pos='.2 0 0'><joint axis='0 1 0' armature='100'/><geom type='box' size='.02 .02 .3' pos='0 0 .45' mass='1'/>"
    "</body><body pos='-.2 0 0'><joint axis='0 1 0'/><geom type='box' size='.02 .02 .3' pos='0 0 .45' mass='1'/>"
    "</body></body></worldbody></mujoco>";

/* A wheel with a ball on its rim, and on its axle a hub that holds another ball, 0.3 rad ahead of it. */
static const char wheel[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><body name='wheel' pos='0 0 9'><freejoint/>"
    "<geom type='sphere' size='.05' mass='5' contype='0' conaffinity='0'/>"
    "<geom type='sphere' size='.05' pos='.5 0 0' mass='1'/>"
    "<body><joint axis='0 0 1'/><geom type='sphere' size='.05' mass='1' contype='0' conaffinity='0'/>"
    "<body><joint axis='0 0 1'/><geom type='sphere' size='.05' pos='.477668 .147760 0' mass='1'/>"
    "</body></body></body></worldbody></mujoco>";

static frix_sim *open_sim(frix_context *context, const char *text, frix_model **model) {
  frix_mjcf *mjcf = NULL;
  frix_sim *sim = NULL;
  frix_mjcf_config config = frix_mjcf_default();
  config.coordinates = FRIX_COORDINATES_REDUCED;
  if (frix_mjcf_read_memory(context, "tree.xml", text, strlen(text), &config, &mjcf) == FRIX_OK)
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
  frix_sim *sim = open_sim(context, arms, &model);
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

/* The wheel turns by 0.2 rad in a step, the other ball stands still in the world: it moves against the root, and the
 * root's own ball does not. Boxes that took the smaller part of each one missed that they meet. */
static void still_in_the_world(fx_test *t) {
  frix_context *context = NULL;
  frix_model *model = NULL;
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "built without expat");
    return;
  }
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_sim *sim = open_sim(context, wheel, &model);
  if (sim) {
    frix_step_report r;
    double *v = frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_QVEL, NULL);
    double *q = frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_QPOS, NULL);
    v[5] = 40.0, v[6] = -40.0;
    for (int k = 0; k < 5; k++) {
      CHECK(t, frix_sim_step(sim, 0.005, &r) == FRIX_OK && r.certified && r.penetration < 0.005);
      CHECK(t, r.contact_count > 0 && q[7] + q[8] > -0.11); /* balls touch at 2 asin(0.1) - 0.3 */
    }
  } else {
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  }
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

const fx_test_row test_tree_reach[] = {
    {"tree_reach/within_a_tree", within_a_tree}, {"tree_reach/still_in_the_world", still_in_the_world}, {0}};
