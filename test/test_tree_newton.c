/* Newton on the rows of trees: it finds what the general method finds, and it is what answers most steps of robots. */
#include <frix/frix.h>
#include <math.h>
#include <string.h>

#include "test.h"

/* A walker that is thrown over the floor into a box: feet of boxes, drilling friction, limits, dry friction, a loop. */
static const char walker[] =
    "<mujoco><option timestep='.004'/><worldbody><geom type='plane' size='5 5 .1' friction='.6 .01 .001'/>"
    "<body pos='0 0 .62'><freejoint/><geom type='box' size='.1 .15 .1' mass='4'/>"
    "<body pos='0 .1 -.1'><joint axis='0 1 0' range='-40 40' frictionloss='.3'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.03'/><body name='left' pos='0 0 -.24'>"
    "<joint name='knee' axis='0 1 0' range='-5 90' damping='.2' stiffness='30'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.15' size='.03'/><geom type='box' size='.08 .04 .02' pos='.02 0 -.22' "
    "condim='4'/></body></body>"
    "<body pos='0 -.1 -.1'><joint axis='0 1 0' range='-40 40' frictionloss='.3'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.03'/><body pos='0 0 -.24'>"
    "<joint name='other' axis='0 1 0' range='-5 90' damping='.2' stiffness='30'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.15' size='.03'/><geom type='box' size='.08 .04 .02' pos='.02 0 -.22'/>"
    "</body></body></body>"
    "<body pos='.5 0 .1'><freejoint/><geom type='box' size='.1 .2 .1' mass='1'/></body></worldbody>"
    "<equality><joint joint1='knee' joint2='other' solref='.01 1'/></equality></mujoco>";

static frix_model *load(frix_context *context) {
  frix_mjcf *mjcf = NULL;
  frix_mjcf_config config = frix_mjcf_default();
  config.coordinates = FRIX_COORDINATES_REDUCED;
  frix_model *model = NULL;
  if (frix_mjcf_read_memory(context, "walker.xml", walker, strlen(walker), &config, &mjcf) == FRIX_OK)
    model = frix_mjcf_take_model(mjcf);
  frix_mjcf_destroy(mjcf);
  return model;
}

/* The same step by the general method; the largest difference of velocities, -1 where it is not certified. */
static double difference(frix_sim *other, const frix_snapshot *before, double h, const double *v, int32_t n) {
  frix_step_report r;
  if (frix_sim_restore(other, before) || frix_sim_step(other, h, &r) || !r.certified) return -1.0;
  const double *own = frix_robot_data(frix_sim_robot(other), FRIX_ROBOT_QVEL, NULL);
  double most = 0.0;
  for (int32_t k = 0; k < n; k++) most = fmax(most, fabs(own[k] - v[k]));
  return most;
}

static void agrees(fx_test *t) {
  frix_context *context = NULL;
  frix_sim *sim = NULL, *other = NULL;
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "built without expat");
    return;
  }
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_model *model = load(context);
  frix_sim_config config = frix_sim_default();
  config.solver = "newton";
  if (model && frix_sim_create(context, model, NULL, &sim) == FRIX_OK &&
      frix_sim_create(context, model, &config, &other) == FRIX_OK) {
    int32_t n = 0, fast = 0, same = 0, steps = 400;
    double h = 0.004, *v = frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_QVEL, &n);
    v[0] = 1.5, v[5] = 2.0;
    for (int32_t k = 0; k < steps; k++) {
      frix_snapshot *before = NULL;
      frix_step_report r;
      CHECK(t, frix_sim_save(sim, &before) == FRIX_OK);
      CHECK(t, frix_sim_step(sim, h, &r) == FRIX_OK && r.certified);
      fast += r.row_count == 0 || !strcmp(r.finisher, "tree newton") || !strcmp(r.finisher, "warm start");
      double off = difference(other, before, h, v, n);
      if (off >= 0.0 && off < 1e-6) same++;
      frix_snapshot_destroy(before);
    }
    /* in a blow springs expect what an answer on the way tells, which each method takes from its own */
    CHECK(t, fast >= 0.95 * steps && same >= 0.9 * steps);
    fx_test_note(t, "%d of %d steps, %d with the velocities of newton", fast, steps, same);
  } else {
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  }
  frix_sim_destroy(other);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

const fx_test_row test_tree_newton[] = {{"tree_newton/agrees", agrees}, {0}};
