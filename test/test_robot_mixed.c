/* What unlike parts of a file make together, beside numbers of MuJoCo 3.14 (mj_forward without constraints): an
 * actuator whose class is of another kind keeps the numbers that it does not set itself; replica k is turned by k times
 * the angles; armature m of a spatial tendon adds m L'' dL/dq to the bias and pulls on the bodies; a rotor's damping
 * adds to what springdamper gives; bounded moments keep their axes; inheritrange reads ranges where limits are off. */
#include <frix/frix.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "test.h"

static const double force[] = {21.620736242541753,   0.19036910952427299, -1.2386359304520793, 3.9507679320693732,
                               2.0630973880904291,   0.36604042768362266, 1.6257196003927921,  -8.216051132341228,
                               -0.28947259841641965, 1.4445273948921153,  0.58809070100789429, -6.6498144571397138,
                               -24.141759960289491,  0.86130006657507996, -3.5713870155561036, 34.360637319081142,
                               -2.0794368565714958};
static const double acceleration[] = {683.92043082759119,   161.38957214803565,  67.781166374918826,
                                      -1470.9056542082922,  43.747170341104585,  17.367119186391893,
                                      -11.623757428647094,  -34.650672320350495, 30.52187893695481,
                                      -0.72783042041740664, 100.3215131423101};
static const double bias[] = {-1.0879490808041505,   1.1622780067470457,   5.5524379964321051,   0.0035129391822716102,
                              -0.30282390024586531,  -0.12863669007844095, 0.072230480601693334, 0.23907114681529262,
                              -0.090064187447771074, -0.32260189053118082, -0.018012837489554179};
static const double felt[] = {-14.232562128491105, 13.68069201376408,   -0.35444206085789709, 8.0351560226049017,
                              -3.7561621040735016, -2.3513821742568837, -13.245033249606294,  -12.738604355409723,
                              16.231461805890213,  -6.3123753672601115, -32.031799752189073,  83.126559876407839};
static const double rate[] = {
    -1.2979994458841293, 0, 0.95238095238095211, -9.3851700347930898, -0.9938687303636129, -1.3228979691827465,
    2.1570471702678504};

typedef struct read_robot {
  frix_context *context;
  frix_robot *robot;
  frix_robot_state *state;
} read_robot;

static void open_robot(fx_test *t, read_robot *r, const char *text) {
  if (frix_context_create(NULL, &r->context) != FRIX_OK ||
      frix_robot_read_memory(r->context, "robot.xml", text, strlen(text), NULL, &r->robot) ||
      frix_robot_state_create(r->robot, &r->state))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(r->context));
}

static void close_robot(read_robot *r) {
  frix_robot_state_destroy(r->state);
  frix_robot_destroy(r->robot);
  frix_context_destroy(r->context);
}

static bool available(fx_test *t) {
  if (!frix_mjcf_available()) fx_test_skip(t, "built without expat");
  return frix_mjcf_available();
}

static void compare(fx_test *t, const frix_robot_state *s, frix_robot_array list, const double *wanted, int32_t count,
                    double tolerance) {
  int32_t found = 0;
  const double *x = frix_robot_data((frix_robot_state *)s, list, &found);
  CHECK(t, found == count);
  for (int32_t k = 0; k < count && k < found; k++)
    CHECK_NEAR(t, x[k], wanted[k], tolerance * fmax(1.0, fabs(wanted[k])));
}

#define COUNT(list) (int32_t)(sizeof(list) / sizeof *(list))

static void numbers(fx_test *t) {
  if (!available(t)) return;
  read_robot r = {0};
  char *text = shell_read("test/robots/mixed.xml");
  REQUIRE(t, text);
  open_robot(t, &r, text);
  free(text);
  if (r.state) {
    int32_t nq = 0, nv = 0, nu = 0, na = 0;
    double *q = frix_robot_data(r.state, FRIX_ROBOT_QPOS, &nq), *v = frix_robot_data(r.state, FRIX_ROBOT_QVEL, &nv);
    double *u = frix_robot_data(r.state, FRIX_ROBOT_CTRL, &nu), *w = frix_robot_data(r.state, FRIX_ROBOT_ACT, &na);
    for (int32_t k = 0; k < nq; k++) q[k] += 0.3 * sin(k + 1.0);
    for (int32_t k = 0; k < nv; k++) v[k] = 0.8 * cos(k + 1.0);
    for (int32_t k = 0; k < nu; k++) u[k] = 2.5 * sin(2.0 * k + 1.0);
    for (int32_t k = 0; k < na; k++) w[k] = 0.4 + 0.1 * k;
    CHECK(t, frix_robot_forward(r.state) == FRIX_OK);
    compare(t, r.state, FRIX_ROBOT_ACTUATOR_FORCE, force, COUNT(force), 1e-12);
    compare(t, r.state, FRIX_ROBOT_ACT_RATE, rate, COUNT(rate), 1e-12);
    compare(t, r.state, FRIX_ROBOT_BIAS, bias, COUNT(bias), 1e-12);
    compare(t, r.state, FRIX_ROBOT_ACCELERATION, acceleration, COUNT(acceleration), 1e-11);
    compare(t, r.state, FRIX_ROBOT_SENSOR_DATA, felt, COUNT(felt), 1e-11);
  }
  close_robot(&r);
}

/* Gravity compensation that counts as an actuator's force is none where the model has no actuator. */
static void no_actuator(fx_test *t) {
  static const char *const rest[] = {"", "<actuator><motor joint='j'/></actuator>"};
  for (int k = 0; k < 2 && available(t); k++) {
    char text[400] =
        "<mujoco><worldbody><body gravcomp='1'><joint name='j' axis='0 1 0' actuatorgravcomp='true'/>"
        "<geom size='.1' pos='1 0 0'/></body></worldbody>";
    read_robot r = {0};
    strcat(strcat(text, rest[k]), "</mujoco>");
    open_robot(t, &r, text);
    if (r.state) {
      CHECK(t, frix_robot_forward(r.state) == FRIX_OK);
      double a = frix_robot_data(r.state, FRIX_ROBOT_ACCELERATION, NULL)[0];
      CHECK_NEAR(t, a, k ? 0.0 : 9.81 / (1.0 + 0.4 * 0.01), 1e-12);
    }
    close_robot(&r);
  }
}

/* The dynamics of a pid make no sense for another kind. */
static void kinds_that_clash(fx_test *t) {
  if (!available(t)) return;
  const char *text =
      "<mujoco><default><pid kp='1' ki='2'/></default><worldbody><body><joint name='j'/>"
      "<geom size='.1' pos='1 0 0'/></body></worldbody><actuator>\n<position joint='j'/></actuator></mujoco>";
  frix_context *context = NULL;
  frix_robot *robot = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  CHECK(t, frix_robot_read_memory(context, "r.xml", text, strlen(text), NULL, &robot) == FRIX_ERROR_FORMAT);
  CHECK(t, strstr(frix_error_text(context), "r.xml:2: <position> has the dynamics of a <pid>"));
  frix_robot_destroy(robot);
  frix_context_destroy(context);
}

const fx_test_row test_robot_mixed[] = {{"robot_mixed/numbers", numbers},
                                        {"robot_mixed/no_actuator", no_actuator},
                                        {"robot_mixed/kinds_that_clash", kinds_that_clash},
                                        {0}};
