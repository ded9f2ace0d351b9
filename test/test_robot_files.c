/* Files of robots against numbers of MuJoCo 3.14: frames of other files, controls between samples. */
#include <frix/mjcf.h>
#include <frix/robot.h>

#include "sim_world.h"

static bool available(fx_test *t) {
  if (!frix_mjcf_available()) fx_test_skip(t, "built without expat");
  return frix_mjcf_available();
}

static void copy_file(fx_test *t, const char *from, const char *name) {
  char text[4000];
  FILE *in = fopen(from, "rb"), *out = fopen(fx_test_scratch(t, name), "wb");
  REQUIRE(t, in && out);
  size_t count = fread(text, 1, sizeof text, in);
  CHECK(t, count < sizeof text && fwrite(text, 1, count, out) == count);
  fclose(in), fclose(out);
}

/* A frame of another file keeps its own pose, not those of the frames and bodies around it; what refers to things that
 * it does not hold stays behind (test/robots/parts/frames_part.xml). */
static void frames(fx_test *t) {
  static const struct {
    const char *name;
    frix_vec3 last; /* body */
    int actuators, equalities;
  } rows[] = {
      {"inner", {16, 3, 3}, 2, 1}, {"outer", {8, 6, 3}, 2, 1}, {"deep", {16, 1, 0}, 1, 0}, {"none", {0, 0, 0}, 0, 0}};
  if (!available(t)) return;
  copy_file(t, FRIX_SOURCE_DIR "/test/robots/parts/frames_part.xml", "part.xml");
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const char *path = fx_test_scratch(t, "whole.xml");
    frix_context *context = NULL;
    frix_robot *robot = NULL;
    frix_robot_state *state = NULL;
    FILE *out = fopen(path, "wb");
    REQUIRE(t, out && frix_context_create(NULL, &context) == FRIX_OK);
    fprintf(out,
            "<mujoco><asset><model name='sub' file='part.xml'/></asset><worldbody><body pos='10 0 0'> <freejoint/>"
            "<geom size='.2' mass='1'/> <attach model='sub' frame='%s' prefix='x_'/> </body></worldbody></mujoco>",
            rows[k].name);
    fclose(out);
    frix_status status = frix_robot_read(context, path, NULL, &robot);
    if (!strcmp(rows[k].name, "none")) {
      CHECK(t, status == FRIX_ERROR_FORMAT && strstr(frix_error_text(context), "no frame 'none'"));
    } else if (status == FRIX_OK && frix_robot_state_create(robot, &state) == FRIX_OK) {
      frix_robot_info info = frix_robot_view(robot);
      CHECK(t, info.actuator_count == rows[k].actuators && info.equality_count == rows[k].equalities);
      CHECK(t, info.note_count == 0);
      CHECK(t, frix_robot_reset(state, -1) == FRIX_OK && frix_robot_forward(state) == FRIX_OK);
      frix_vec3 p = frix_robot_body_pose(state, frix_robot_find(robot, FRIX_ROBOT_BODY, "x_b2")).p;
      CHECK_NEAR(t, p.x, rows[k].last.x, 1e-12);
      CHECK_NEAR(t, p.y, rows[k].last.y, 1e-12);
      CHECK_NEAR(t, p.z, rows[k].last.z, 1e-12);
    } else {
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s", rows[k].name, frix_error_text(context));
    }
    frix_robot_state_destroy(state), frix_robot_destroy(robot), frix_context_destroy(context);
  }
}

/* Controls k^2 that act between two samples, at the newest and at the oldest ones too (test/robots/cubic.xml). */
static void cubic_delays(fx_test *t) {
  static const double wanted[] = {87.4225, 190.463, 148.9735};
  if (!available(t)) return;
  frix_context *context = NULL;
  frix_mjcf *scene = NULL;
  frix_sim *sim = NULL;
  frix_mjcf_config config = frix_mjcf_default();
  config.coordinates = FRIX_COORDINATES_REDUCED;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  REQUIRE(t, frix_mjcf_read(context, FRIX_SOURCE_DIR "/test/robots/cubic.xml", &config, &scene) == FRIX_OK);
  REQUIRE(t, frix_sim_create(context, frix_mjcf_view(scene).model, NULL, &sim) == FRIX_OK);
  for (int k = 1; k <= 14; k++) {
    for (int i = 0; i < 3; i++) frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_CTRL, NULL)[i] = k * k;
    CHECK(t, frix_sim_step(sim, 0.002, NULL) == FRIX_OK);
  }
  CHECK(t, frix_sim_robot_sense(sim) == FRIX_OK);
  const double *felt = frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_SENSOR_DATA, NULL);
  for (int i = 0; i < 3; i++) CHECK_NEAR(t, felt[i], wanted[i], 1e-10);
  frix_sim_destroy(sim), frix_mjcf_destroy(scene), frix_context_destroy(context);
}

const fx_test_row test_robot_files[] = {
    {"robot_files/frames", frames}, {"robot_files/cubic_delays", cubic_delays}, {0}};
