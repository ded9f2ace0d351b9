/* Robots written in the way of well-known collections (test/robots/idioms): each starts at each of its keyframes, with
 * its controls, and every step is certified. tools/check_robots compares them with MuJoCo, tools/check_robot_runs runs
 * them longer. */
#include <frix/mjcf.h>
#include <frix/robot.h>

#include "sim_world.h"

static bool available(fx_test *t) {
  if (!frix_mjcf_available()) fx_test_skip(t, "built without expat");
  return frix_mjcf_available();
}

/* What the file asks for and the dynamics leave out. */
static void check_notes(fx_test *t, const char *name, const frix_mjcf *scene) {
  frix_mjcf_info info = frix_mjcf_view(scene);
  for (int32_t k = 0; k < info.note_count; k++)
    if (info.note[k].kind == FRIX_MJCF_UNSUPPORTED)
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s is left out", name, info.note[k].name);
}

static void run_key(fx_test *t, const char *name, frix_context *context, const frix_mjcf *scene, int32_t key) {
  enum { STEPS = 60 };
  frix_sim *sim = NULL;
  frix_mjcf_info info = frix_mjcf_view(scene);
  REQUIRE(t, frix_sim_create(context, info.model, NULL, &sim) == FRIX_OK);
  CHECK(t, frix_sim_robot_reset(sim, key) == FRIX_OK);
  for (int k = 0; k < STEPS; k++) {
    frix_step_report report = {.size = sizeof report};
    CHECK(t, frix_sim_step(sim, info.timestep, &report) == FRIX_OK);
    if (report.certified) continue;
    fx_test_fail(t, __FILE__, __LINE__, "%s, key %d: step %d is not certified", name, (int)key, k);
    break;
  }
  frix_sim_destroy(sim);
}

static void run(fx_test *t) {
  static const char *const names[] = {
      "arm_cartesian_servo", "arm_gripper_tendon", "hand_positions", "humanoid_motors", "insect",
      "linkage_gripper",     "mobile_manipulator", "multirotor",     "muscles",         "omni_wheels",
      "planar_base_arm",     "quadruped_foot",     "two_arms",       "conveyor"};
  if (!available(t)) return;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char path[512];
    frix_context *context = NULL;
    frix_mjcf *scene = NULL;
    frix_mjcf_config config = frix_mjcf_default();
    config.coordinates = FRIX_COORDINATES_REDUCED;
    snprintf(path, sizeof path, FRIX_SOURCE_DIR "/test/robots/idioms/%s.xml", names[k]);
    REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
    if (frix_mjcf_read(context, path, &config, &scene)) {
      fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
    } else {
      frix_robot_info info = frix_robot_view(frix_model_robot(frix_mjcf_view(scene).model));
      check_notes(t, names[k], scene);
      for (int32_t key = 0; key < info.key_count; key++) run_key(t, names[k], context, scene, key);
    }
    frix_mjcf_destroy(scene), frix_context_destroy(context);
  }
}

/* A face of four corners that is not flat is cut along its shorter diagonal: moments of MuJoCo 3.14. */
static void quads(fx_test *t) {
  if (!available(t)) return;
  frix_context *context = NULL;
  frix_robot *robot = NULL;
  frix_robot_body b = {0};
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  if (frix_robot_read(context, FRIX_SOURCE_DIR "/test/robots/idioms/humanoid_motors.xml", NULL, &robot))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  CHECK(t, robot && !frix_robot_get_body(robot, frix_robot_find(robot, FRIX_ROBOT_BODY, "pelvis"), &b));
  double trace = b.inertia.xx + b.inertia.yy + b.inertia.zz;
  CHECK_NEAR(t, trace, 0.11640230318272808 + 0.11629874016109605 + 0.04785334833790364, 1e-12);
  frix_robot_destroy(robot), frix_context_destroy(context);
}

const fx_test_row test_robot_idioms[] = {{"robot_idioms/run", run}, {"robot_idioms/quads", quads}, {0}};
