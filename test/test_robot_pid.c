/* PID controllers in the step: 1 kg on a vertical slide under 10 N of gravity.
 *
 *   kp (u - x) - kv dx/dt + ki I = 10,  I' = u - x:   at rest x = u and I = 10 / ki; with I bounded by `most` the bias
 *   stays at (10 - ki most) / kp. A setpoint with a slew rate moves by h times it in each step. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "shell.h"

typedef struct world {
  frix_context *context;
  frix_model *model;
  frix_sim *sim;
  frix_robot_state *state;
} world;

static world open_text(fx_test *t, const char *text) {
  world w = {0};
  frix_mjcf *mjcf = NULL;
  frix_mjcf_config c = frix_mjcf_default();
  c.coordinates = FRIX_COORDINATES_REDUCED, c.strict = true;
  if (frix_context_create(NULL, &w.context)) return w;
  if (frix_mjcf_read_memory(w.context, "pid.xml", text, strlen(text), &c, &mjcf) == FRIX_OK)
    w.model = frix_mjcf_take_model(mjcf);
  frix_mjcf_destroy(mjcf);
  if (!w.model || frix_sim_create(w.context, w.model, NULL, &w.sim))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(w.context));
  w.state = w.sim ? frix_sim_robot(w.sim) : NULL;
  return w;
}

static world open_world(fx_test *t, const char *pid) {
  char text[600];
  snprintf(text, sizeof text,
           "<mujoco><option gravity='0 0 -10'/><worldbody><body name='b'><joint name='j' type='slide' axis='0 0 1'/>"
           "<geom size='.1' mass='1' contype='0' conaffinity='0'/></body></worldbody><actuator><motor joint='j'/>"
           "<pid name='p' joint='j' %s/></actuator></mujoco>",
           pid);
  return open_text(t, text);
}

static void close_world(world *w) {
  frix_sim_destroy(w->sim);
  frix_model_destroy(w->model);
  frix_context_destroy(w->context);
}

static void steps(fx_test *t, world *w, double h, int count) {
  for (int k = 0; w->sim && k < count; k++) {
    frix_step_report r;
    CHECK(t, frix_sim_step(w->sim, h, &r) == FRIX_OK && r.certified);
  }
}

static bool available(fx_test *t) {
  if (!frix_mjcf_available()) fx_test_skip(t, "built without expat");
  return frix_mjcf_available();
}

static void carries(fx_test *t) {
  static const char *const pid[] = {"kp='100' kv='20' ki='80' input='pos'",
                                    "kp='100' kv='20' ki='80' imax='0.1' input='pos'"};
  for (int n = 0; n < 2 && available(t); n++) {
    world w = open_world(t, pid[n]);
    REQUIRE(t, w.state);
    frix_robot_actuator row;
    CHECK(t,
          !frix_robot_get_actuator(frix_model_robot(w.model), 1, &row) && row.ctrl_first == 1 && row.ctrl_count == 1);
    frix_robot_data(w.state, FRIX_ROBOT_CTRL, NULL)[1] = 0.3;
    steps(t, &w, 2e-3, 20000);
    double x = frix_robot_data(w.state, FRIX_ROBOT_QPOS, NULL)[0],
           most = frix_robot_data(w.state, FRIX_ROBOT_ACT, NULL)[0];
    CHECK_NEAR(t, most, n ? 0.1 : 10.0 / 80, n ? 2e-3 * 0.4 : 1e-6);
    CHECK_NEAR(t, x, 0.3 - (10 - 80 * most) / 100, 1e-6);
    close_world(&w);
  }
}

static void slews(fx_test *t) {
  if (!available(t)) return;
  world w = open_world(t, "kp='1e4' kv='200' slewmax='0.5' input='pos vel ff' ffrange='-5 5'");
  REQUIRE(t, w.state);
  int32_t count;
  double *ctrl = frix_robot_data(w.state, FRIX_ROBOT_CTRL, &count);
  CHECK(t, count == 4);
  ctrl[1] = 1, ctrl[3] = 100; /* of the added force 5 N count */
  steps(t, &w, 1e-3, 1000);
  CHECK_NEAR(t, frix_robot_data(w.state, FRIX_ROBOT_ACT, NULL)[0], 0.5, 1e-12);
  CHECK_NEAR(t, frix_robot_data(w.state, FRIX_ROBOT_QVEL, NULL)[0], 0.5, 1e-6);
  steps(t, &w, 1e-3, 3000);
  CHECK_NEAR(t, frix_robot_data(w.state, FRIX_ROBOT_QPOS, NULL)[0], 1 - (10 - 5) / 1e4, 1e-9);
  close_world(&w);
}

#define PLUGIN(config) \
  "<extension><plugin plugin='mujoco.pid'><instance name='i'>" config "</instance></plugin></extension>"
#define KEY(key, value) "<config key='" key "' value='" value "'/>"

static world open_plugin(fx_test *t, const char *extension, const char *actuator) {
  char text[900];
  snprintf(text, sizeof text,
           "<mujoco><option gravity='0 0 -10' timestep='0.002'/>%s<worldbody><body name='b'><joint name='j' "
           "type='slide' axis='0 0 1'/><geom size='.1' mass='1' contype='0' conaffinity='0'/></body></worldbody>"
           "<actuator>%s</actuator><keyframe><key name='k' ctrl='1' act='0 0'/></keyframe></mujoco>",
           extension, actuator);
  return open_text(t, text);
}

/* The plugin mujoco.pid: at rest ki I = 10 N, or imax; the first setpoint is taken at once, later ones follow at
 * slewmax; the integral stands before the setpoint. */
/* Every input acts after the delay: in the ninth step those of the sixth, or what lies between two. MuJoCo's numbers.
 */
static void delays(fx_test *t) {
  if (!available(t)) return;
  world w = open_text(
      t,
      "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='a' type='slide' axis='1 0 0'/><geom size='.1' "
      "mass='1e6'/></body></worldbody><actuator><pid joint='a' kp='2' kv='3' input='pos vel ff' delay='0.006' "
      "nsample='5'/><pid joint='a' kp='2' input='pos' slewmax='100' delay='0.005' nsample='5' interp='linear'/>"
      "</actuator></mujoco>");
  REQUIRE(t, w.state);
  double *ctrl = frix_robot_data(w.state, FRIX_ROBOT_CTRL, NULL);
  for (int k = 0; k < 8; k++) {
    ctrl[0] = ctrl[3] = 1 + k, ctrl[1] = 10 * (1 + k), ctrl[2] = 100 * (1 + k);
    steps(t, &w, 2e-3, 1);
  }
  CHECK(t, frix_sim_robot_sense(w.sim) == FRIX_OK && frix_robot_forward(w.state) == FRIX_OK);
  const double *force = frix_robot_data(w.state, FRIX_ROBOT_ACTUATOR_FORCE, NULL);
  CHECK_NEAR(t, force[0], 791.999988, 1e-5);
  CHECK_NEAR(t, force[1], 2.8, 1e-6);
  close_world(&w);
}

static void plugin(fx_test *t) {
  static const char *const extension[] = {
      PLUGIN(KEY("kp", "100") KEY("kd", "20") KEY("ki", "80") KEY("slewmax", "0.5")),
      PLUGIN(KEY("kp", "100") KEY("kd", "20") KEY("ki", "80") KEY("imax", "4") KEY("slewmax", "0.5"))};
  for (int n = 0; n < 2 && available(t); n++) {
    world w = open_plugin(t, extension[n],
                          "<plugin name='p' joint='j' plugin='mujoco.pid' instance='i' actdim='2' dyntype='none'/>");
    REQUIRE(t, w.state);
    double *ctrl = frix_robot_data(w.state, FRIX_ROBOT_CTRL, NULL),
           *act = frix_robot_data(w.state, FRIX_ROBOT_ACT, NULL);
    ctrl[0] = 0.3;
    steps(t, &w, 2e-3, 1);
    CHECK_NEAR(t, act[1], 0.3, 0);
    CHECK_NEAR(t, act[0], 0.3 * 2e-3, 1e-15);
    ctrl[0] = 0.5;
    steps(t, &w, 2e-3, 1);
    CHECK_NEAR(t, act[1], 0.3 + 2e-3 * 0.5, 1e-15);
    steps(t, &w, 2e-3, 20000);
    double pull = n ? 4 : 10;
    CHECK_NEAR(t, act[0], pull / 80, 1e-9);
    CHECK_NEAR(t, frix_robot_data(w.state, FRIX_ROBOT_QPOS, NULL)[0], 0.5 - (10 - pull) / 100, 1e-8);
    close_world(&w);
  }
}

static void plugin_refused(fx_test *t) {
  static const struct {
    const char *extension, *actuator, *says;
  } row[] = {{"", "<plugin joint='j' plugin='mujoco.pid' actdim='1'><config key='kp' value='1'/></plugin>", "actdim"},
             {"", "<plugin joint='j' plugin='mujoco.pid'><config key='kq' value='1'/></plugin>", "kq"},
             {"", "<plugin joint='j' plugin='mujoco.pid'><config key='imax' value='-1'/></plugin>", "negative"},
             {PLUGIN(KEY("kp", "x")), "<plugin joint='j' plugin='mujoco.pid' instance='i'/>", "'x'"},
             {"", "<plugin joint='j' plugin='mujoco.pid' instance='none'/>", "plugin actuator"},
             {"", "<plugin joint='j' plugin='other.one'/>", "plugin actuator"},
             {"", "<plugin joint='j' plugin='mujoco.pid' dyntype='filter'><config key='kp' value='1'/></plugin>",
              "plugin actuator"}};
  for (size_t k = 0; k < sizeof row / sizeof *row && available(t); k++) {
    char text[700];
    frix_context *context = NULL;
    frix_mjcf *mjcf = NULL;
    frix_mjcf_config c = frix_mjcf_default();
    c.coordinates = FRIX_COORDINATES_REDUCED, c.strict = true;
    snprintf(text, sizeof text,
             "<mujoco>%s<worldbody><body><joint name='j'/><geom size='.1' pos='.2 0 0'/></body></worldbody><actuator>%s"
             "</actuator></mujoco>",
             row[k].extension, row[k].actuator);
    REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
    CHECK(t, frix_mjcf_read_memory(context, "x.xml", text, strlen(text), &c, &mjcf) != FRIX_OK);
    if (!strstr(frix_error_text(context), row[k].says))
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s", row[k].actuator, frix_error_text(context));
    frix_mjcf_destroy(mjcf);
    frix_context_destroy(context);
  }
}

/* A file with actuators that are left out is read, keyframes and all. */
static void left_out(fx_test *t) {
  static const char text[] =
      "<mujoco><worldbody><body><joint name='j'/><geom size='.1' pos='.2 0 0'/></body></worldbody><actuator>"
      "<general joint='j' dyntype='user'/><motor name='m' joint='j'/></actuator>"
      "<keyframe><key name='home' qpos='.3' ctrl='1 2' act='3'/></keyframe></mujoco>";
  frix_context *context = NULL;
  frix_robot *robot = NULL;
  frix_robot_state *state = NULL;
  if (!available(t)) return;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  if (frix_robot_read_memory(context, "x.xml", text, strlen(text), NULL, &robot) ||
      frix_robot_state_create(robot, &state))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  if (state) {
    frix_robot_reset(state, 0);
    CHECK_NEAR(t, frix_robot_data(state, FRIX_ROBOT_QPOS, NULL)[0], 0.3, 0);
    CHECK_NEAR(t, frix_robot_data(state, FRIX_ROBOT_CTRL, NULL)[0], 0, 0);
    CHECK(t, frix_robot_view(robot).note_count > 0);
  }
  frix_robot_state_destroy(state);
  frix_robot_destroy(robot);
  frix_context_destroy(context);
}

const fx_test_row test_robot_pid[] = {
    {"robot_pid/delays", delays},

    {"robot_pid/carries", carries},   {"robot_pid/slews", slews},
    {"robot_pid/plugin", plugin},     {"robot_pid/plugin_refused", plugin_refused},
    {"robot_pid/left_out", left_out}, {0},
};
