/* Surfaces of MJCF files: margins, adhesion, surfaces that move, and tactile sensors, beside closed forms. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "robot_world.h"

/* World and sensors of a row, gravity 10. */
static bool open_row(fx_test *t, const char *bodies, const char *rest, world *w) {
  char text[4096];
  snprintf(text, sizeof text, "<mujoco><option gravity='0 0 -10'/><worldbody>%s</worldbody>%s</mujoco>", bodies, rest);
  return open_world(t, text, w);
}

static const double *data(world *w, frix_robot_array array) {
  return frix_robot_data(frix_sim_robot(w->sim), array, NULL);
}

static double open_by(const world *w) {
  frix_energy e = frix_sim_energy(w->sim);
  double now = e.start + e.work - e.friction - e.impact - e.damping + e.joint + e.contact + e.scheme + e.error;
  return now - e.kinetic - e.potential;
}

/* Margins add, gaps are no part of where contacts act, and an explicit pair has its own. */
static void margins(fx_test *t) {
  static const struct {
    const char *floor, *ball, *pair;
    double height;
  } row[] = {{"margin='.1' gap='.03'", "margin='.02' gap='.1'", "", 0.32},
             {"", "gap='.1'", "", 0.2},
             {"margin='.1' priority='1'", "margin='.02'", "", 0.32},
             {"margin='.1'", "margin='.02'", "<contact><pair geom1='f' geom2='b' margin='.01'/></contact>", 0.21},
             {"margin='.1'", "margin='.02'", "<contact><pair geom1='b' geom2='f'/></contact>", 0.2}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    char bodies[512];
    snprintf(bodies, sizeof bodies,
             "<geom name='f' type='plane' size='1 1 1' %s/><body pos='0 0 .2'>"
             "<joint type='slide' axis='0 0 1'/><geom name='b' size='.2' %s/></body>",
             row[k].floor, row[k].ball);
    world w = {0};
    if (!open_row(t, bodies, row[k].pair, &w)) return;
    frix_robot_data(frix_sim_robot(w.sim), FRIX_ROBOT_QPOS, NULL)[0] = row[k].height - 0.2 + 1e-3;
    steps(t, &w, 300);
    CHECK_NEAR(t, data(&w, FRIX_ROBOT_QPOS)[0], row[k].height - 0.2, 2e-5);
    close_world(&w);
  }
}

/* A ball under a ceiling is held by the sum of both adhesions, by that of the higher priority, or by that of the pair:
 * it stays where they exceed its weight of 10 N, and falls where they do not. Contacts that are open are pulled shut
 * within the gap. */
static void holds(fx_test *t) {
  static const struct {
    const char *ceiling, *ball, *pair;
    double start;
    bool stays;
  } row[] = {{"adhesion='6'", "adhesion='5'", "", 0, true},
             {"adhesion='6'", "adhesion='3.9'", "", 0, false},
             {"adhesion='6' priority='1'", "adhesion='5'", "", 0, false},
             {"adhesion='6'", "adhesion='11' priority='1'", "", 0, true},
             {"", "", "<contact><pair geom1='c' geom2='b' adhesion='10.5'/></contact>", 0, true},
             {"adhesion='6'", "adhesion='6'", "<contact><pair geom1='c' geom2='b'/></contact>", 0, false},
             {"adhesion='20' gap='.02'", "gap='.02'", "", 0.03, true},
             {"adhesion='20' gap='.02'", "", "", 0.03, false}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    char bodies[512];
    snprintf(bodies, sizeof bodies,
             "<geom name='c' type='box' size='1 1 .1' pos='0 0 1.1' %s/><body pos='0 0 %.17g'>"
             "<joint type='slide' axis='0 0 1'/><geom name='b' size='.2' mass='1' %s/></body>",
             row[k].ceiling, 0.8 - row[k].start, row[k].ball);
    world w = {0};
    if (!open_row(t, bodies, row[k].pair, &w)) return;
    steps(t, &w, 250);
    double z = 0.8 - row[k].start + data(&w, FRIX_ROBOT_QPOS)[0];
    CHECK(t, row[k].stays ? fabs(z - 0.8) < 1e-4 : z < 0.7 - row[k].start);
    if (row[k].stays) CHECK(t, fabs(data(&w, FRIX_ROBOT_QVEL)[0]) < 1e-9);
    CHECK(t, fabs(open_by(&w)) < 1e-9);
    close_world(&w);
  }
}

/* Friction is bounded by mu (N + adhesion), and sensors tell the force between the bodies, N. */
static void friction(fx_test *t) {
  static const char bodies[] =
      "<geom type='plane' size='5 5 1' friction='.5' adhesion='4'/>"
      "<body pos='0 0 .1'><joint name='x' type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
      "<geom name='b' size='.1' mass='1' friction='.5'/><site name='s' size='.2'/></body>";
  static const char rest[] =
      "<actuator><motor joint='x'/></actuator>"
      "<sensor><touch name='touch' site='s'/><contact name='contact' geom1='b' data='force'/></sensor>";
  for (int k = 0; k < 2; k++) {
    world w = {0};
    double force = k ? 7.1 : 6.9, tau[2], none[2] = {0}; /* mu (10 + 4) = 7 */
    if (!open_row(t, bodies, rest, &w)) return;
    frix_robot_data(frix_sim_robot(w.sim), FRIX_ROBOT_CTRL, NULL)[0] = force;
    steps(t, &w, 500);
    CHECK_NEAR(t, data(&w, FRIX_ROBOT_QVEL)[0], k ? 0.1 : 0.0, 1e-4);
    CHECK(t, frix_sim_robot_sense(w.sim) == FRIX_OK);
    EXPECT(t, &w, "touch", 10);
    if (k == 0) EXPECT(t, &w, "contact", 10, force, 0);
    CHECK(t, frix_sim_robot_inverse(w.sim, none, tau) == FRIX_OK);
    if (k == 0) CHECK(t, fabs(tau[0]) < 1e-5 && fabs(tau[1]) < 1e-5);
    close_world(&w);
  }
}

/* A box rides on a turntable that also translates: the velocity of its contacts becomes that of the surface, flow +
 * turn x r, so its spin is that of the turning and its centre goes round the point where the two cancel. A box that
 * hangs on a hinge is turned by condim 4 through one point. */
static void turns(fx_test *t) {
  static const char bodies[] =
      "<geom type='cylinder' size='2 .1' pos='0 0 -.1' surfacevel='.3 0 0 0 0 2'/>"
      "<body pos='.1 .2 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
      "<geom type='box' size='.5 .5 .1' pos='5 0 -.1' surfacevel='0 0 0 0 0 -3' condim='4' friction='1 .05 0'/>"
      "<body pos='5 0 .1'><joint type='slide' axis='0 0 1'/><joint axis='0 0 1'/><geom size='.1' mass='1'/></body>";
  world w = {0};
  if (!open_row(t, bodies, "", &w)) return;
  steps(t, &w, 1000);
  const double *q = data(&w, FRIX_ROBOT_QPOS), *v = data(&w, FRIX_ROBOT_QVEL);
  CHECK_NEAR(t, v[0], 0.3 - 2 * q[1], 1e-2);
  CHECK_NEAR(t, v[1], 2 * q[0], 1e-2);
  CHECK_NEAR(t, v[5], 2, 1e-3);
  CHECK_NEAR(t, v[7], -3, 1e-6);
  CHECK(t, fabs(open_by(&w)) < 1e-9);
  close_world(&w);
}

/* A plate that stands upright in a ball on a frictionless floor, its lowest points L below: they are L - height deep,
 * and slip with the velocity they have, along tangents that turn with the ball. MuJoCo gives the same at the same
 * state, to its single precision. Points of a ball that nothing touches read nothing. */
static void feels(fx_test *t) {
  static const char bodies[] =
      "<geom type='plane' size='2 2 1' friction='0 0 0'/>"
      "<body pos='0 0 .1'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
      "<joint axis='0 0 1'/><geom name='g' size='.1' mass='1' friction='0 0 0'/></body>"
      "<body pos='0 0 2'><joint axis='0 0 1'/><geom name='free' size='.1' mass='1'/></body>";
  static const char rest[] =
      "<asset><mesh name='p' builtin='plate' params='3 2' scale='.2 .2 .2'/></asset><sensor>"
      "<tactile name='p' mesh='p' geom='g'/><tactile name='cut' mesh='p' geom='g' cutoff='.02'/>"
      "<tactile name='none' mesh='p' geom='free'/></sensor>";
  world w = {0};
  if (!open_row(t, bodies, rest, &w)) return;
  double *v = frix_robot_data(frix_sim_robot(w.sim), FRIX_ROBOT_QVEL, NULL);
  v[0] = 0.3, v[2] = 2;
  steps(t, &w, 200);
  CHECK(t, frix_sim_robot_sense(w.sim) == FRIX_OK);
  const double *felt = data(&w, FRIX_ROBOT_SENSOR_DATA), *q = data(&w, FRIX_ROBOT_QPOS);
  double angle = q[2], across = 0.3 * sin(angle), along = 0.3 * cos(angle);
  CHECK_NEAR(t, angle, 0.8, 1e-9);
  for (int k = 0; k < 6; k++) { /* two at each of three heights, at y = .1 and -.1 */
    bool low = k < 2;
    CHECK_NEAR(t, felt[k], low ? 0.4 / 3 - 0.1 - q[1] : 0, 1e-8);
    CHECK_NEAR(t, felt[6 + k], low ? fabs(across) : 0, 1e-8);
    CHECK_NEAR(t, felt[12 + k], low ? fabs(along + (k ? 0.2 : -0.2)) : 0, 2e-8);
    CHECK_NEAR(t, felt[18 + k], low ? 0.02 : 0, 1e-15);
    for (int n = 0; n < 3; n++) CHECK(t, felt[36 + 6 * n + k] == 0);
  }
  close_world(&w);
}

const fx_test_row test_coats[] = {{"coats/margins", margins}, {"coats/holds", holds}, {"coats/friction", friction},
                                  {"coats/turns", turns},     {"coats/feels", feels}, {0}};
