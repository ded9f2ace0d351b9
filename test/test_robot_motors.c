/* DC motors, orientation servos and built-in meshes: numbers of MuJoCo 3.14 for test/robots/motors.xml, closed forms of
 * the motion. tools/check_robots compares everything where MuJoCo is installed. */
#include <frix/mjcf.h>
#include <frix/robot.h>
#include <math.h>
#include <stdlib.h>

#include "sim_world.h"

static bool available(fx_test *t) {
  if (!frix_mjcf_available()) fx_test_skip(t, "built without expat");
  return frix_mjcf_available();
}

static void numbers(fx_test *t) {
  static const double
      force[] = {-4.658624345546087,  -3.367806339362234, -4.216557192549019,
                 0.825725213792599,   0.554463839293013,  0.10367122177161049,
                 2.1912886871630644,  2.0373931619701566, -0.6773105977194264,
                 0.11522915650493935, 0.5323511241391105, -0.19853801477334945,
                 0.04396780460041329, -65.97513261273537, 10.46,
                 -90.81106692149719},
      rate[] = {1.3, 1.4, 1.5, 10, 0.22, 0.17973505576266077, -139.575876934566, 500, 1.8, -191.87933078502823},
      sensor[] = {-4.658624345546087,
                  -3.367806339362234,
                  -4.216557192549019,
                  0.440079097525669,
                  -0.6601186462885033,
                  0.8801581950513377,
                  -0.5,
                  0.6,
                  -0.7,
                  -65.97513261273537},
      q[] = {0.3, 0.5, 0.5, 0.5, 0.5, 0.8, 0.2, -0.3, 0.4};
  if (!available(t)) return;
  frix_context *context = NULL;
  frix_robot *robot = NULL;
  frix_robot_state *state = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  REQUIRE(t, frix_robot_read(context, FRIX_SOURCE_DIR "/test/robots/motors.xml", NULL, &robot) == FRIX_OK);
  REQUIRE(t, frix_robot_state_create(robot, &state) == FRIX_OK);
  frix_robot_info info = frix_robot_view(robot);
  REQUIRE(t, info.actuator_count == 16 && info.act_count == 10 && info.sensor_size == 10 && info.note_count == 0);
  frix_robot_reset(state, -1);
  int32_t controls = 0;
  double *ctrl = frix_robot_data(state, FRIX_ROBOT_CTRL, &controls), *out;
  CHECK(t, controls == 20);
  for (int i = 0; i < 9; i++) frix_robot_data(state, FRIX_ROBOT_QPOS, NULL)[i] = q[i];
  for (int i = 0; i < 7; i++) frix_robot_data(state, FRIX_ROBOT_QVEL, NULL)[i] = 0.1 * (i + 1) * (i % 2 ? 1 : -1);
  for (int i = 0; i < controls; i++) ctrl[i] = 0.3 + 0.1 * i;
  for (int i = 0; i < 10; i++) frix_robot_data(state, FRIX_ROBOT_ACT, NULL)[i] = 0.2 + 0.1 * i;
  CHECK(t, frix_robot_forward(state) == FRIX_OK);
  out = frix_robot_data(state, FRIX_ROBOT_ACTUATOR_FORCE, NULL);
  for (int i = 0; i < 16; i++) CHECK_NEAR(t, out[i], force[i], 1e-11);
  out = frix_robot_data(state, FRIX_ROBOT_ACT_RATE, NULL);
  for (int i = 0; i < 10; i++) CHECK_NEAR(t, out[i], rate[i], 1e-9);
  out = frix_robot_data(state, FRIX_ROBOT_SENSOR_DATA, NULL);
  for (int i = 0; i < 10; i++) CHECK_NEAR(t, out[i], sensor[i], 1e-11);
  frix_robot_state_destroy(state), frix_robot_destroy(robot), frix_context_destroy(context);
}

typedef struct motion {
  frix_context *context;
  frix_mjcf *scene;
  frix_sim *sim;
  frix_robot_state *state;
} motion;

static motion start(fx_test *t, const char *text) {
  motion m = {NULL, NULL, NULL, NULL};
  frix_mjcf_config config = frix_mjcf_default();
  config.coordinates = FRIX_COORDINATES_REDUCED;
  if (frix_context_create(NULL, &m.context)) return m;
  if (frix_mjcf_read_memory(m.context, "m.xml", text, strlen(text), &config, &m.scene))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(m.context));
  if (!m.scene || frix_sim_create(m.context, frix_mjcf_view(m.scene).model, NULL, &m.sim)) return m;
  m.state = frix_sim_robot(m.sim);
  return m;
}

static void run(fx_test *t, motion *m, double h, int steps) {
  for (int k = 0; k < steps; k++) {
    frix_step_report report = {.size = sizeof report};
    CHECK(t, frix_sim_step(m->sim, h, &report) == FRIX_OK && report.certified);
  }
}

static void end(motion *m) { frix_sim_destroy(m->sim), frix_mjcf_destroy(m->scene), frix_context_destroy(m->context); }

#define WHEEL "<joint name='h' axis='0 0 1' armature='.01' limited='false'/> <geom size='.01' mass='1e-6'/>"
#define WORLD(actuators, body)                                                                        \
  "<mujoco><option gravity='0 0 0'/><worldbody><body>" body "</body></worldbody><actuator>" actuators \
  "</actuator>"                                                                                       \
  "</mujoco>"

/* K w = V at the end, on the way as exp(-K^2 t / (R J)); a stiff motor with a step of 10 ms stays stable. */
static void spins(fx_test *t) {
  if (!available(t)) return;
  motion m = start(t, WORLD("<dcmotor joint='h' motorconst='.5' resistance='2'/>", WHEEL));
  if (m.state) {
    frix_robot_data(m.state, FRIX_ROBOT_CTRL, NULL)[0] = 6;
    run(t, &m, 1e-4, 1000);
    CHECK_NEAR(t, frix_robot_data(m.state, FRIX_ROBOT_QVEL, NULL)[0], 12 * (1 - exp(-0.25 / 0.02 * 0.1)), 2e-2);
    run(t, &m, 1e-2, 200);
    CHECK_NEAR(t, frix_robot_data(m.state, FRIX_ROBOT_QVEL, NULL)[0], 12, 1e-9);
  }
  end(&m);
  m = start(
      t, WORLD("<dcmotor joint='h' motorconst='20' resistance='.1' inductance='.02' lugre='1e4 10 .1 .2 .1'/>", WHEEL));
  if (m.state) { /* 4000 / J in 1 / s; friction of .1 asks for .1 R / K volts more */
    frix_robot_data(m.state, FRIX_ROBOT_CTRL, NULL)[0] = 6;
    run(t, &m, 1e-2, 500);
    CHECK_NEAR(t, frix_robot_data(m.state, FRIX_ROBOT_QVEL, NULL)[0], (6 - 0.1 * 0.1 / 20) / 20, 1e-4);
  }
  end(&m);
}

/* Static friction of the bristles holds a load that sliding friction would not; above it the load slides. */
static void sticks(fx_test *t) {
  static const double load[] = {0.19, 0.21};
  for (int k = 0; k < 2 && available(t); k++) {
    motion m = start(
        t, WORLD("<dcmotor joint='h' motorconst='.1' resistance='1' input='none' lugre='1e4 10 .1 .2 .1'/>", WHEEL));
    if (m.state) {
      frix_robot_data(m.state, FRIX_ROBOT_APPLIED, NULL)[0] = load[k];
      run(t, &m, 2e-3, 1000);
      double q = fabs(frix_robot_data(m.state, FRIX_ROBOT_QPOS, NULL)[0]);
      if (!(k ? q > 1 : q < 1e-2)) fx_test_fail(t, __FILE__, __LINE__, "load %g: %g rad", load[k], q);
    }
    end(&m);
  }
}

/* From upside down to a quaternion by the short way; a bound on the torque slows it, and it arrives. */
static void turns(fx_test *t) {
  static const char *const servo[] = {"<orientation joint='b' kp='50' dampratio='1' input='quat'/>",
                                      "<orientation joint='b' kp='50' dampratio='1' input='quat' forcerange='0 .2'/>"};
  const double target[] = {0.5, 0.5, -0.5, 0.5};
  for (int k = 0; k < 2 && available(t); k++) {
    char text[600];
    snprintf(text, sizeof text,
             WORLD("%s", "<joint name='b' type='ball' armature='.01'/> <geom type='box' size='.1 .15 .2' mass='1'/>"),
             servo[k]);
    motion m = start(t, text);
    if (m.state) {
      memcpy(frix_robot_data(m.state, FRIX_ROBOT_CTRL, NULL), target, sizeof target);
      run(t, &m, 5e-3, 3000);
      for (int i = 0; i < 4; i++) CHECK_NEAR(t, frix_robot_data(m.state, FRIX_ROBOT_QPOS, NULL)[i], target[i], 1e-9);
    }
    end(&m);
  }
}

/* Volumes of polyhedra: an icosahedron, octahedron's half, pyramid, prism of a triangle; a ball in the limit. */
static void meshes(fx_test *t) {
  static const struct {
    const char *mesh;
    double volume, tolerance;
  } rows[] = {{"builtin='sphere' params='0'", 2.5361507101204095, 1e-6},
              {"builtin='sphere' params='4'", 4.1887902047863905, 0.02},
              {"builtin='hemisphere' params='0'", 2.0 / 3, 1e-6},
              {"builtin='cone' params='4 0'", 4.0 / 3, 1e-6},
              {"builtin='cone' params='3 1'", 2.598076211353316, 1e-6},
              {"builtin='supersphere' params='4 1 1'", 2.2761423749153966, 1e-6},
              {"builtin='supertorus' params='40 .3 1 1'", 2 * 9.869604401089358 * 0.09, 0.02},
              {"builtin='wedge' params='3 2 60 30 .5'", 0, 2}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows && available(t); k++) {
    char text[400];
    frix_context *context = NULL;
    frix_robot *robot = NULL;
    frix_robot_body b = {0};
    snprintf(text, sizeof text,
             "<mujoco><asset><mesh name='m' inertia='exact' %s/></asset><worldbody><body><freejoint/>"
             "<geom type='mesh' mesh='m' density='1'/></body></worldbody></mujoco>",
             rows[k].mesh);
    REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
    if (frix_robot_read_memory(context, "m.xml", text, strlen(text), NULL, &robot))
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s", rows[k].mesh, frix_error_text(context));
    CHECK(t, robot && !frix_robot_get_body(robot, 1, &b));
    CHECK_NEAR(t, b.mass, rows[k].volume, rows[k].tolerance);
    frix_robot_destroy(robot), frix_context_destroy(context);
  }
}

/* Between two ends a box is as wide as it is thick, whatever its second size says: where a site feels. */
static void wide_sites(fx_test *t) {
  static const char text[] =
      "<mujoco><worldbody><site name='s' type='box' size='.2 .01 .1' fromto='0 0 0 0 0 1'/>"
      "<body name='b' pos='0 .15 .5'><geom size='.1'/></body></worldbody>"
      "<sensor><insidesite site='s' objtype='body' objname='b'/></sensor></mujoco>";
  frix_context *context = NULL;
  frix_robot *robot = NULL;
  frix_robot_state *state = NULL;
  if (!available(t)) return;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  if (!frix_robot_read_memory(context, "x.xml", text, strlen(text), NULL, &robot) &&
      !frix_robot_state_create(robot, &state)) {
    CHECK(t, frix_robot_reset(state, -1) == FRIX_OK && frix_robot_forward(state) == FRIX_OK);
    CHECK_NEAR(t, frix_robot_data(state, FRIX_ROBOT_SENSOR_DATA, NULL)[0], 1, 0);
  } else {
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  }
  frix_robot_state_destroy(state), frix_robot_destroy(robot), frix_context_destroy(context);
}

/* What cannot be a motor, a servo or a mesh is an error. */
static void refuses(fx_test *t) {
  static const char *const rows[][2] = {
      {"<dcmotor joint='h' resistance='2'/>", "needs motorconst"},
      {"<dcmotor joint='h' motorconst='.1'/>", "needs a resistance"},
      {"<dcmotor joint='h' motorconst='.1' resistance='1' thermal='0 0 4'/>", "thermal"},
      {"<dcmotor joint='h' motorconst='.1' resistance='1' controller='1'/>", "need an input"},
      {"<dcmotor joint='h' motorconst='.1' resistance='1' controller='1 1' input='vel'/>", "input pos"},
      {"<dcmotor joint='h' motorconst='.1' resistance='1' input='vel pos'/>", "in this order"},
      {"<orientation joint='h'/>", "ball joint"},
      {"<orientation joint='h' kp='-1'/>", "must not be negative"},
      {"<general joint='h' gaintype='so3' biastype='so3' dyntype='integrator' input='quat'/>", "ball joint"}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows && available(t); k++) {
    char text[600];
    frix_context *context = NULL;
    frix_robot *robot = NULL;
    snprintf(text, sizeof text, WORLD("%s", WHEEL), rows[k][0]);
    REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
    CHECK(t, frix_robot_read_memory(context, "m.xml", text, strlen(text), NULL, &robot) == FRIX_ERROR_FORMAT);
    if (!strstr(frix_error_text(context), rows[k][1]))
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s", rows[k][0], frix_error_text(context));
    frix_robot_destroy(robot), frix_context_destroy(context);
  }
}

const fx_test_row test_robot_motors[] = {{"robot_motors/numbers", numbers},       {"robot_motors/spins", spins},
                                         {"robot_motors/sticks", sticks},         {"robot_motors/turns", turns},
                                         {"robot_motors/meshes", meshes},         {"robot_motors/refuses", refuses},
                                         {"robot_motors/wide_sites", wide_sites}, {0}};
