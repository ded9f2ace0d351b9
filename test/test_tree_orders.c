/* Trees beside maximal coordinates in ten models, and beside closed forms: double pendulum and chain against the
 * classical Runge-Kutta rule on frix_robot_forward, a parallelogram of bars, a top, a disc that rolls. Moreau's step is
 * of first order: half the step, half the error. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "shell.h"

#define WORLD(inside) "<mujoco><compiler angle='radian'/><worldbody>" inside "</worldbody></mujoco>"
#define ROD(x) "<geom type='capsule' fromto='0 0 0 " x " 0 0' size='.02' contype='0' conaffinity='0'/>"
#define LINK "<body pos='.2 0 0'><joint axis='0 1 0'/>" ROD(".2")

typedef struct world {
  frix_context *context;
  frix_model *model;
  frix_sim *sim;
  frix_robot_state *state; /* NULL in maximal coordinates */
} world;

static world open_with(fx_test *t, const char *text, frix_coordinates coordinates, const char *integrator) {
  world w = {0};
  frix_sim_config sim = frix_sim_default();
  sim.integrator = integrator, sim.coordinates = coordinates;
  frix_mjcf *mjcf = NULL;
  frix_mjcf_config c = frix_mjcf_default();
  c.coordinates = coordinates;
  if (frix_context_create(NULL, &w.context)) return w;
  if (frix_mjcf_read_memory(w.context, "orders.xml", text, strlen(text), &c, &mjcf) == FRIX_OK)
    w.model = frix_mjcf_take_model(mjcf);
  frix_mjcf_destroy(mjcf);
  if (!w.model || frix_sim_create(w.context, w.model, &sim, &w.sim))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(w.context));
  w.state = w.sim ? frix_sim_robot(w.sim) : NULL;
  return w;
}

static world open_world(fx_test *t, const char *text, frix_coordinates coordinates) {
  return open_with(t, text, coordinates, "moreau");
}

static void close_world(world *w) {
  frix_sim_destroy(w->sim);
  frix_model_destroy(w->model);
  frix_context_destroy(w->context);
}

static void steps(fx_test *t, world *w, double h, double time) {
  int count = (int)(time / h + 0.5), bad = 0;
  for (int k = 0; w->sim && k < count; k++) {
    frix_step_report r;
    bad += frix_sim_step(w->sim, h, &r) != FRIX_OK || !r.certified;
  }
  CHECK(t, w->sim && bad == 0);
}

static bool available(fx_test *t) {
  if (!frix_mjcf_available()) fx_test_skip(t, "built without expat");
  return frix_mjcf_available();
}

/* ---- ten models ---- */

static frix_vec3 end_of(fx_test *t, const char *text, frix_coordinates coordinates, double h) {
  world w = open_world(t, text, coordinates);
  steps(t, &w, h, 1.0);
  frix_body_state state = {0};
  if (w.sim) frix_sim_body(w.sim, frix_model_find_body(w.model, "end"), &state);
  close_world(&w);
  return state.center;
}

static double gap_of(fx_test *t, const char *text, double h) {
  frix_vec3 a = end_of(t, text, FRIX_COORDINATES_REDUCED, h), b = end_of(t, text, FRIX_COORDINATES_MAXIMAL, h);
  return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

static void ten_models(fx_test *t) {
  static const struct {
    const char *name, *text;
  } model[] = {
      {"pendulum", WORLD("<body name='end'><joint axis='0 1 0'/>" ROD(".4") "</body>")},
      {"two links", WORLD("<body><joint axis='0 1 0'/>" ROD(".2") "<body name='end' pos='.2 0 0'><joint axis='0 1 0' "
                                                                  "damping='.01'/>" ROD(".2") "</body></body>")},
      {"five links", WORLD("<body><joint axis='0 1 0' damping='.05'/>" ROD(".2") LINK LINK LINK
                           "<body name='end' pos='.2 0 0'><joint axis='0 1 0' damping='.05'/>" ROD(
                               ".2") "</body></body></body></body></body>")},
      {"ball",
       WORLD("<body name='end'><joint type='ball' damping='.02'/><geom type='box' size='.2 .03 .02' pos='.2 .02 "
             "0' contype='0' conaffinity='0'/></body>")},
      {"slide and hinge",
       WORLD("<body><joint type='slide' axis='1 0 0'/><geom type='box' size='.1 .05 .05' "
             "contype='0' conaffinity='0'/><body name='end'><joint axis='0 1 0'/>" ROD(".3") "</body></body>")},
      {"crossed hinges", WORLD("<body name='end'><joint axis='0 1 0'/><joint axis='0 0 1' damping='.02'/><geom "
                               "type='box' size='.15 .02 .04' pos='.15 .03 0' contype='0' conaffinity='0'/></body>")},
      {"spring", WORLD("<body name='end'><joint axis='0 1 0' stiffness='3' springref='.3' damping='.05' "
                       "armature='.01'/>" ROD(".3") "</body>")},
      {"two that float", WORLD("<body name='end'><freejoint/><geom type='box' size='.1 .05 .03' contype='0' "
                               "conaffinity='0'/><body pos='.1 0 0'><joint axis='0 1 0' stiffness='.5' springref='1' "
                               "damping='.01'/><geom type='box' size='.1 .03 .02' pos='.1 0 0' contype='0' "
                               "conaffinity='0'/></body></body>")},
      {"branches", WORLD("<body><joint axis='0 1 0' damping='.05'/>" ROD(
                       ".2") "<body name='end' pos='.2 0 0'><joint "
                             "axis='0 1 0' damping='.02'/>" ROD(".1") "</body><body pos='.2 0 0'><joint axis='0 0 1' "
                                                                      "damping='.02' stiffness='.1'/>" ROD(
                                                                          ".15") "</body></body>")},
      {"limit and floor", WORLD("<geom type='plane' size='2 2 .1' pos='0 0 -.35'/><body name='end'><joint axis='0 1 0' "
                                "range='-2 2' damping='.05'/><geom type='capsule' fromto='0 0 0 .4 0 0' "
                                "size='.02'/></body>")},
  };
  double worst = 0, slowest = 9;
  for (size_t k = 0; k < sizeof model / sizeof *model && available(t); k++) {
    double coarse = gap_of(t, model[k].text, 2e-3), fine = gap_of(t, model[k].text, 5e-4);
    worst = fmax(worst, coarse);
    if (coarse > 1e-6) slowest = fmin(slowest, coarse / fine);
    if (!(coarse < 2e-2 && (coarse < 1e-6 || fine < 0.45 * coarse)))
      fx_test_fail(t, __FILE__, __LINE__, "%s: %.2e m apart, %.2e with a quarter of the step", model[k].name, coarse,
                   fine);
  }
  fx_test_note(t, "%.1e m apart at most, a quarter of the step brings it to 1/%.1f", worst, slowest);
}

/* ---- against the classical Runge-Kutta rule ---- */

enum { MOST = 8 };

static void slope(frix_robot_state *s, const double *q, const double *v, int n, double *a) {
  memcpy(frix_robot_data(s, FRIX_ROBOT_QPOS, NULL), q, (size_t)n * sizeof *q);
  memcpy(frix_robot_data(s, FRIX_ROBOT_QVEL, NULL), v, (size_t)n * sizeof *v);
  frix_robot_forward(s);
  memcpy(a, frix_robot_data(s, FRIX_ROBOT_ACCELERATION, NULL), (size_t)n * sizeof *a);
}

/* Hinges alone: qpos is a list of n numbers. */
static void reference(frix_robot_state *s, int n, double h, int count, double *q) {
  double v[MOST] = {0}, a[4][MOST], u[4][MOST], x[MOST];
  static const double part[4] = {0, 0.5, 0.5, 1};
  for (int k = 0; k < count; k++) {
    for (int stage = 0; stage < 4; stage++) {
      for (int i = 0; i < n; i++) {
        x[i] = q[i] + (stage ? part[stage] * h * u[stage - 1][i] : 0);
        u[stage][i] = v[i] + (stage ? part[stage] * h * a[stage - 1][i] : 0);
      }
      slope(s, x, u[stage], n, a[stage]);
    }
    for (int i = 0; i < n; i++) {
      q[i] += h / 6 * (u[0][i] + 2 * u[1][i] + 2 * u[2][i] + u[3][i]);
      v[i] += h / 6 * (a[0][i] + 2 * a[1][i] + 2 * a[2][i] + a[3][i]);
    }
  }
}

static double error_of(fx_test *t, const char *text, int n, const double *wanted, const char *integrator, double h) {
  world w = open_with(t, text, FRIX_COORDINATES_REDUCED, integrator);
  double error = 0;
  steps(t, &w, h, 0.5);
  for (int i = 0; w.state && i < n; i++)
    error = fmax(error, fabs(frix_robot_data(w.state, FRIX_ROBOT_QPOS, NULL)[i] - wanted[i]));
  close_world(&w);
  return error;
}

static void chains(fx_test *t) {
  static const char *const text[2] = {
      WORLD("<body><joint axis='0 1 0'/>" ROD(".2") "<body pos='.2 0 0'><joint axis='0 1 0'/>" ROD(
          ".2") "</body></body>"),
      WORLD("<body><joint axis='0 1 0'/>" ROD(".2") LINK LINK LINK LINK "</body></body></body></body></body>")};
  for (int k = 0; k < 2 && available(t); k++) {
    frix_context *context = NULL;
    frix_robot *robot = NULL;
    frix_robot_state *state = NULL;
    double q[MOST] = {0};
    int n = k ? 5 : 2;
    REQUIRE(t, !frix_context_create(NULL, &context));
    if (!frix_robot_read_memory(context, "x.xml", text[k], strlen(text[k]), NULL, &robot))
      frix_robot_state_create(robot, &state);
    CHECK(t, state && frix_robot_view(robot).v_count == n);
    if (state) reference(state, n, 2.5e-4, 2000, q);
    frix_robot_state_destroy(state);
    frix_robot_destroy(robot);
    frix_context_destroy(context);
    double one = error_of(t, text[k], n, q, "moreau", 1e-3), half = error_of(t, text[k], n, q, "moreau", 5e-4);
    CHECK(t, one < 0.05 && half < 0.6 * one);
    fx_test_note(t, "%d links: %.1e, %.1e rad, order %.2f", n, one, half, log2(one / half));
    for (int i = 0; i < 2; i++) {
      const char *scheme = i ? "variational" : "two_step";
      one = error_of(t, text[k], n, q, scheme, 2e-3), half = error_of(t, text[k], n, q, scheme, 1e-3);
      CHECK(t, one < 1e-3 && log2(one / half) > 1.9);
      fx_test_note(t, "%s: %.1e, %.1e rad, order %.2f", scheme, one, half, log2(one / half));
    }
  }
}

/* ---- closed forms ---- */

/* Two bars of length L = 0.5 and mass 0.3 carry one of 1 kg that does not turn: (m + 2/3 M) L q'' = (m + M) g cos q
 * from the horizontal, with g = 10 and M the mass of one bar, its centre at L/2. */
static void parallelogram(fx_test *t) {
  static const char text[] =
      "<mujoco><compiler angle='radian'/><option gravity='0 0 -10'/><worldbody>"
      "<body><joint axis='0 1 0'/><inertial pos='.25 0 0' mass='.3' diaginertia='1e-5 .00625 .00625'/>"
      "<body pos='.5 0 0'><joint axis='0 1 0'/><inertial pos='.2 0 0' mass='1' diaginertia='.01 .01 .01'/>"
      "<site name='a' pos='.4 0 0'/></body></body>"
      "<body pos='.4 0 0'><joint axis='0 1 0'/><inertial pos='.25 0 0' mass='.3' diaginertia='1e-5 .00625 .00625'/>"
      "<site name='b' pos='.5 0 0'/></body></worldbody><equality><connect site1='a' site2='b'/></equality></mujoco>";
  const double m = 1, M = 0.3, L = 0.5, g = 10, h = 1e-5;
  double error[2], q = 0, v = 0;
  if (!available(t)) return;
  for (int k = 0; k < 30000; k++) { /* midpoint rule, 0.3 s */
    double a = (m + M) * g * cos(q + 0.5 * h * v) / ((m + 2.0 / 3 * M) * L);
    q += h * v + 0.5 * h * h * a, v += h * a;
  }
  for (int i = 0; i < 2; i++) {
    for (int n = 0; n < 2; n++) {
      world w = open_with(t, text, FRIX_COORDINATES_REDUCED, i ? "two_step" : "moreau");
      steps(t, &w, n ? 5e-4 : 1e-3, 0.3);
      const double *x = w.state ? frix_robot_data(w.state, FRIX_ROBOT_QPOS, NULL) : NULL;
      error[n] = x ? fabs(x[0] - q) : 1;
      if (x) CHECK_NEAR(t, x[1], -x[0], 1e-6); /* the third bar keeps its direction */
      close_world(&w);
    }
    double order = log2(error[0] / error[1]);
    CHECK(t, error[0] < (i ? 1e-4 : 2e-2) && order > (i ? 1.9 : 0.74));
    fx_test_note(t, "%.1e, %.1e rad, order %.2f", error[0], error[1], order);
  }
}

/* A symmetric top on a ball joint that precesses at W without nodding: (C n - A W cos T) W = m g l, with A about the
 * joint and n the spin about its axis; its tilt T stays. */
static void top(fx_test *t) {
  static const char text[] =
      "<mujoco><compiler angle='radian'/><option gravity='0 0 -10'/><worldbody><body name='top'><joint type='ball'/>"
      "<inertial pos='0 0 .2' mass='1' diaginertia='.01 .01 .02'/></body></worldbody></mujoco>";
  const double tilt = 0.5, A = 0.01 + 0.04, C = 0.02, W = 2, n = (1 * 10 * 0.2 / W + A * W * cos(tilt)) / C;
  double error[2];
  for (int k = 0; k < 2 && available(t); k++) {
    world w = open_world(t, text, FRIX_COORDINATES_REDUCED);
    REQUIRE(t, w.state);
    double *q = frix_robot_data(w.state, FRIX_ROBOT_QPOS, NULL), *v = frix_robot_data(w.state, FRIX_ROBOT_QVEL, NULL);
    q[0] = cos(0.5 * tilt), q[1] = 0, q[2] = sin(0.5 * tilt), q[3] = 0;
    v[0] = -W * sin(tilt), v[1] = 0, v[2] = n; /* in its own axes */
    steps(t, &w, k ? 1e-4 : 2e-4, 1.0);
    q = frix_robot_data(w.state, FRIX_ROBOT_QPOS, NULL);
    error[k] = fabs(acos(1 - 2 * (q[1] * q[1] + q[2] * q[2])) - tilt);
    close_world(&w);
  }
  CHECK(t, error[0] < 0.1 && error[1] < 0.6 * error[0]);
  fx_test_note(t, "nods by %.1e, %.1e rad", error[0], error[1]);
}

/* A disc on two slides and a hinge rolls down a slope: 2/3 g sin(slope) along it, and its rim does not slip. */
static void disc(fx_test *t) {
  static const char text[] =
      "<mujoco><compiler angle='radian'/><option gravity='3 0 -9'/><worldbody><geom type='plane' size='50 1 .1' "
      "friction='1'/><body pos='0 0 .1'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
      "<joint axis='0 1 0'/><geom type='cylinder' size='.1 .02' euler='1.5707963267948966 0 0' mass='2' friction='1'/>"
      "</body></worldbody></mujoco>";
  if (!available(t)) return;
  world w = open_world(t, text, FRIX_COORDINATES_REDUCED);
  steps(t, &w, 1e-3, 1.0);
  if (w.state) {
    const double *v = frix_robot_data(w.state, FRIX_ROBOT_QVEL, NULL);
    CHECK_NEAR(t, v[0], 2.0, 2e-5);
    CHECK_NEAR(t, v[2] * 0.1, v[0], 2e-5);
    fx_test_note(t, "%.1e m/s off, slips at %.1e m/s", v[0] - 2, v[2] * 0.1 - v[0]);
  }
  close_world(&w);
}

/* 1000 kg at the end of two links of 1 g, and a link of 1 g under a servo of 1e6 N m: they come to rest at h = 0.01. */
static void stiff_and_unequal(fx_test *t) {
  static const char text[] =
      "<mujoco><worldbody><body><joint name='a' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.01' "
      "mass='.001'/><body pos='.3 0 0'><joint name='b' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 .3 0 0' "
      "size='.01' mass='.001'/><body pos='.3 0 0'><joint name='c' axis='0 1 0'/><geom type='box' size='.1 .1 .1' "
      "mass='1000' contype='0' conaffinity='0'/></body></body></body><body pos='2 0 0'><joint name='d' axis='0 1 0'/>"
      "<geom type='capsule' fromto='0 0 0 .1 0 0' size='.005' mass='.001'/></body></worldbody><actuator>"
      "<position joint='a' kp='1e6' kv='1e4'/><position joint='b' kp='1e6' kv='1e4'/><position joint='c' kp='1e5' "
      "kv='1e3'/><position joint='d' kp='1e6'/></actuator></mujoco>";
  if (!available(t)) return;
  world w = open_world(t, text, FRIX_COORDINATES_REDUCED);
  REQUIRE(t, w.state);
  frix_robot_data(w.state, FRIX_ROBOT_CTRL, NULL)[3] = 1;
  steps(t, &w, 0.01, 20.0);
  const double *q = frix_robot_data(w.state, FRIX_ROBOT_QPOS, NULL),
               *v = frix_robot_data(w.state, FRIX_ROBOT_QVEL, NULL);
  CHECK_NEAR(t, q[3], 1.0, 1e-8);
  CHECK_NEAR(t, q[0], 9.81 * 1000 * 0.6 / 1e6, 1e-4); /* what the load turns it by */
  for (int k = 0; k < 4; k++) CHECK_NEAR(t, v[k], 0.0, 1e-9);
  close_world(&w);
}

/* A slide that dry friction holds stays where it is while its arm turns, in the schemes of the half step too. */
static void stuck_in_motion(fx_test *t) {
  static const char text[] =
      "<mujoco><compiler angle='radian'/><option gravity='0 0 0'/><worldbody><body><joint axis='0 0 1'/>"
      "<geom type='capsule' fromto='0 0 0 .4 0 0' size='.02' contype='0' conaffinity='0'/>"
      "<body pos='.4 0 0'><joint type='slide' axis='1 0 0' frictionloss='100'/>"
      "<geom type='box' size='.05 .05 .05' mass='1' contype='0' conaffinity='0'/></body></body></worldbody></mujoco>";
  for (int i = 0; i < 2 && available(t); i++) {
    world w = open_with(t, text, FRIX_COORDINATES_REDUCED, i ? "two_step" : "moreau");
    REQUIRE(t, w.state);
    frix_robot_data(w.state, FRIX_ROBOT_QVEL, NULL)[0] = 3;
    steps(t, &w, 2e-3, 2.0);
    double q = frix_robot_data(w.state, FRIX_ROBOT_QPOS, NULL)[1];
    CHECK(t, fabs(q) < 1e-6);
    fx_test_note(t, "%.1e m", q);
    close_world(&w);
  }
}

const fx_test_row test_tree_orders[] = {
    {"tree_orders/ten_models", ten_models},
    {"tree_orders/chains", chains},
    {"tree_orders/parallelogram", parallelogram},
    {"tree_orders/top", top},
    {"tree_orders/disc", disc},
    {"tree_orders/stiff_and_unequal", stiff_and_unequal},
    {"tree_orders/stuck_in_motion", stuck_in_motion},
    {0},
};
