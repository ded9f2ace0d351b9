/* Trees in the step: against the dynamics of frix_robot_forward, against maximal coordinates, against closed forms of
 * limits, dry friction, servos and loops; snapshots, ledger, files and commands. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

typedef struct world {
  frix_context *context;
  frix_model *model;
  frix_sim *sim;
  frix_robot_state *state; /* NULL in maximal coordinates */
  const frix_robot *robot;
} world;

static world open_world(fx_test *t, const char *text, frix_coordinates coordinates, const frix_sim_config *config) {
  world w = {0};
  frix_mjcf *mjcf = NULL;
  frix_mjcf_config c = frix_mjcf_default();
  frix_sim_config plain = frix_sim_default();
  c.coordinates = plain.coordinates = coordinates;
  if (frix_context_create(NULL, &w.context)) return w;
  if (frix_mjcf_read_memory(w.context, "robot.xml", text, strlen(text), &c, &mjcf) == FRIX_OK)
    w.model = frix_mjcf_take_model(mjcf);
  frix_mjcf_destroy(mjcf);
  if (!w.model || frix_sim_create(w.context, w.model, config ? config : &plain, &w.sim))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(w.context));
  w.state = frix_sim_robot(w.sim), w.robot = frix_model_robot(w.model);
  return w;
}

static void close_world(world *w) {
  frix_sim_destroy(w->sim);
  frix_model_destroy(w->model);
  frix_context_destroy(w->context);
}

static bool available(fx_test *t) {
  if (!frix_mjcf_available()) fx_test_skip(t, "built without expat");
  return frix_mjcf_available();
}

static void steps(fx_test *t, world *w, double h, int count) {
  for (int k = 0; w->sim && k < count; k++) {
    frix_step_report r;
    if (frix_sim_step(w->sim, h, &r) == FRIX_OK && r.certified) continue;
    fx_test_fail(t, __FILE__, __LINE__, "step %d: %s, residual %g", k, frix_error_text(w->context),
                 r.certificate.residual);
    return;
  }
}

static double *data(const world *w, frix_robot_array which) { return frix_robot_data(w->state, which, NULL); }

static frix_body_state body_of(const world *w, const char *name) {
  frix_body_state state = {0};
  frix_sim_body(w->sim, frix_model_find_body(w->model, name), &state);
  return state;
}

static double gap_of(frix_vec3 a, frix_vec3 b) { return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z); }

/* What was there, came and went, and is there now. */
static double ledger_gap(const world *w) {
  frix_energy e = frix_sim_energy(w->sim);
  double now = e.start + e.work - e.friction - e.impact - e.damping + e.joint + e.contact + e.scheme + e.error;
  return fabs(now - e.kinetic - e.potential);
}

/* ---- dynamics ---- */

static const char arm[] =
    "<mujoco><option gravity='1 0 -9.81'><flag contact='disable'/></option><worldbody><body pos='0 0 1'><joint "
    "name='a' axis='0 1 0' armature='.02'/>"
    "<geom type='capsule' fromto='0 0 0 .4 0 0' size='.03'/><body pos='.4 0 0'><joint name='b' type='ball'/>"
    "<geom type='box' size='.1 .03 .02' pos='.1 0 0'/><body pos='.2 0 0' gravcomp='.3'>"
    "<joint name='c' type='slide' axis='1 0 0'/><joint name='d' axis='0 0 1'/><geom size='.05' pos='.05 0 0'/></body>"
    "</body></body><body pos='0 1 1'><freejoint/><geom type='box' size='.1 .05 .03'/><body pos='.1 0 0'>"
    "<joint name='e' axis='0 0 1'/><geom type='capsule' fromto='0 0 0 .2 0 0' size='.02'/></body></body></worldbody>"
    "<actuator><motor name='m' joint='a' gear='2'/></actuator></mujoco>";

/* Without slopes a step is v + h a, a that of the robot's own forward dynamics. */
static void accelerates(fx_test *t) {
  if (!available(t)) return;
  world w = open_world(t, arm, FRIX_COORDINATES_REDUCED, NULL);
  REQUIRE(t, w.state);
  int32_t n, nq;
  double *q = frix_robot_data(w.state, FRIX_ROBOT_QPOS, &nq), *v = frix_robot_data(w.state, FRIX_ROBOT_QVEL, &n);
  double before[64], a[64], h = 1e-3;
  for (int32_t k = 0; k < n; k++) v[k] = fx_test_random(t) - 0.5;
  frix_robot_integrate(w.robot, q, v, 0.7);
  data(&w, FRIX_ROBOT_CTRL)[0] = 0.3;
  frix_robot_state *other = NULL;
  REQUIRE(t, frix_robot_state_create(w.robot, &other) == FRIX_OK && n <= 64);
  memcpy(frix_robot_data(other, FRIX_ROBOT_QPOS, NULL), q, (size_t)nq * sizeof *q);
  memcpy(frix_robot_data(other, FRIX_ROBOT_QVEL, NULL), v, (size_t)n * sizeof *v);
  frix_robot_data(other, FRIX_ROBOT_CTRL, NULL)[0] = 0.3;
  memcpy(before, v, (size_t)n * sizeof *v);
  CHECK(t, frix_robot_forward(other) == FRIX_OK);
  memcpy(a, frix_robot_data(other, FRIX_ROBOT_ACCELERATION, NULL), (size_t)n * sizeof *a);
  frix_robot_state_destroy(other);
  steps(t, &w, h, 1);
  for (int32_t k = 0; k < n; k++) CHECK_NEAR(t, (v[k] - before[k]) / h, a[k], 1e-9 * (1 + fabs(a[k])));
  close_world(&w);
}

static const char chain[] =
    "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body name='p' pos='0 0 .45'><joint axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.03'/><body name='q' pos='.3 0 0'><joint axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.03'/><body name='r' pos='.3 0 0'>"
    "<joint axis='0 1 0' damping='.02'/><geom type='capsule' fromto='0 0 0 .2 0 0' size='.03'/></body></body></body>"
    "</worldbody></mujoco>";

static double coordinates_differ(fx_test *t, const char *text, const char *name, double h, double time) {
  world r = open_world(t, text, FRIX_COORDINATES_REDUCED, NULL);
  world m = open_world(t, text, FRIX_COORDINATES_MAXIMAL, NULL);
  CHECK(t, r.state && !m.state);
  steps(t, &r, h, (int)(time / h + 0.5));
  steps(t, &m, h, (int)(time / h + 0.5));
  double gap = gap_of(body_of(&r, name).center, body_of(&m, name).center);
  CHECK(t, ledger_gap(&r) < 1e-11);
  close_world(&r);
  close_world(&m);
  return gap;
}

/* Both are of first order; they meet where h goes to zero. */
static void agrees_with_maximal(fx_test *t) {
  if (!available(t)) return;
  double coarse = coordinates_differ(t, chain, "r", 1e-3, 0.2), fine = coordinates_differ(t, chain, "r", 2.5e-4, 0.2);
  CHECK(t, coarse < 2e-3);
  CHECK(t, fine < 0.4 * coarse);
  fx_test_note(t, "free: %.2e, %.2e m", coarse, fine);
  /* after it struck the floor and lies there */
  coarse = coordinates_differ(t, chain, "r", 1e-3, 2.0);
  CHECK(t, coarse < 2e-2);
  fx_test_note(t, "on the floor: %.2e m", coarse);
}

/* Joints of a model as they come from the builder: hinge, ball, slide, universal, a base that floats and a loop. */
static const char builder[] =
    "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body name='p' pos='0 0 .6'><joint axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 .2 0 0' size='.03'/><body name='q' pos='.2 0 0'>"
    "<joint type='ball' damping='.01'/><geom type='box' size='.1 .03 .02' pos='.1 0 0'/><body name='r' pos='.2 0 0'>"
    "<joint axis='0 1 0'/><joint axis='0 0 1'/><geom type='box' size='.08 .02 .03' pos='.1 0 0'/>"
    "<body name='s' pos='.2 0 0'><joint name='j' type='slide' axis='1 0 0' range='-.05 .05' limited='true'/>"
    "<geom size='.05'/></body></body></body></body><body name='f' pos='0 1 .3'><freejoint/>"
    "<geom type='box' size='.1 .05 .03'/><body name='g' pos='.15 0 0'><joint name='k' axis='0 1 0' frictionloss='.01'/>"
    "<geom type='capsule' fromto='.05 0 0 .2 0 0' size='.02'/></body></body></worldbody><actuator>"
    "<position joint='j' kp='100' kv='5' ctrlrange='.02 .02' ctrllimited='true'/><motor joint='k' "
    "gear='.1'/></actuator>"
    "</mujoco>";

static frix_vec3 end_of(fx_test *t, const char *text, frix_coordinates read, frix_coordinates coordinates,
                        const char *name, double h, double time) {
  frix_sim_config config = frix_sim_default();
  config.coordinates = coordinates;
  world w = open_world(t, text, read, &config);
  CHECK(t, !w.state == (read == FRIX_COORDINATES_MAXIMAL && coordinates == FRIX_COORDINATES_MAXIMAL));
  steps(t, &w, h, (int)(time / h + 0.5));
  CHECK(t, ledger_gap(&w) < 1e-10);
  frix_vec3 end = body_of(&w, name).center;
  close_world(&w);
  return end;
}

static void trees_of_the_builder(fx_test *t) {
  if (!available(t)) return;
  static const char *const name[] = {"s", "g"};
  for (int k = 0; k < 2; k++) {
    double gap[2];
    for (int fine = 0; fine < 2; fine++) {
      double h = fine ? 2.5e-4 : 1e-3;
      gap[fine] = gap_of(end_of(t, builder, FRIX_COORDINATES_MAXIMAL, FRIX_COORDINATES_REDUCED, name[k], h, 0.15),
                         end_of(t, builder, FRIX_COORDINATES_MAXIMAL, FRIX_COORDINATES_MAXIMAL, name[k], h, 0.15));
    }
    CHECK(t, gap[0] < 2e-3 && gap[1] < 0.4 * gap[0] + 1e-8);
    fx_test_note(t, "%s: %.1e, %.1e m", name[k], gap[0], gap[1]);
  }
  /* the robot of the file and the trees of its model are the same mechanism */
  double gap = gap_of(end_of(t, chain, FRIX_COORDINATES_MAXIMAL, FRIX_COORDINATES_REDUCED, "r", 1e-3, 0.2),
                      end_of(t, chain, FRIX_COORDINATES_REDUCED, FRIX_COORDINATES_MAXIMAL, "r", 1e-3, 0.2));
  CHECK(t, gap < 1e-9);
}

/* ---- laws along coordinates ---- */

static void stops_at_limits(fx_test *t) {
  if (!available(t)) return;
  static const char text[] =
      "<mujoco><compiler angle='radian'/><worldbody><body pos='0 0 1'>"
      "<joint name='j' type='slide' axis='0 0 1' range='-.1 .1' limited='true'/><geom size='.1' mass='2'/></body>"
      "</worldbody></mujoco>";
  world w = open_world(t, text, FRIX_COORDINATES_REDUCED, NULL);
  REQUIRE(t, w.state);
  steps(t, &w, 1e-3, 500);
  CHECK_NEAR(t, data(&w, FRIX_ROBOT_QPOS)[0], -0.1, 1e-12);
  CHECK(t, data(&w, FRIX_ROBOT_QVEL)[0] == 0);
  frix_robot_part part;
  frix_row_report row;
  REQUIRE(t, frix_sim_row_count(w.sim) == 1 && frix_sim_robot_row(w.sim, 0, &part) == 0);
  CHECK(t, part == FRIX_ROBOT_JOINT);
  CHECK(t, frix_sim_row(w.sim, 0, &row) == FRIX_OK && row.kind == FRIX_ROW_LIMIT);
  CHECK_NEAR(t, row.impulse[0] / 1e-3, 2 * 9.81, 1e-9);
  CHECK(t, ledger_gap(&w) < 1e-12);
  close_world(&w);
}

static void dry_friction(fx_test *t) {
  if (!available(t)) return;
  static const char text[] =
      "<mujoco><option gravity='0 0 0'/><worldbody><body><joint type='slide' axis='1 0 0' frictionloss='3'/>"
      "<geom size='.1' mass='2'/></body></worldbody></mujoco>";
  world w = open_world(t, text, FRIX_COORDINATES_REDUCED, NULL);
  REQUIRE(t, w.state);
  data(&w, FRIX_ROBOT_APPLIED)[0] = 2.999;
  steps(t, &w, 1e-3, 50);
  CHECK_NEAR(t, data(&w, FRIX_ROBOT_QPOS)[0], 0, 1e-13);
  data(&w, FRIX_ROBOT_APPLIED)[0] = 5;
  steps(t, &w, 1e-3, 100);
  CHECK_NEAR(t, data(&w, FRIX_ROBOT_QVEL)[0], 0.1 * (5 - 3) / 2, 1e-9);
  double way = data(&w, FRIX_ROBOT_QPOS)[0];
  CHECK_NEAR(t, frix_sim_energy(w.sim).friction, 3 * way, 0.02 * 3 * way);
  CHECK(t, ledger_gap(&w) < 1e-12);
  close_world(&w);
}

/* A stiff spring under implicit steps: x1 = (x0 + h v0) / (1 + h^2 k / m), v1 = (x1 - x0) / h. */
static void springs(fx_test *t) {
  if (!available(t)) return;
  static const char text[] =
      "<mujoco><option gravity='0 0 0'/><worldbody><body><joint type='slide' axis='1 0 0' stiffness='5000'/>"
      "<geom size='.1' mass='2'/></body></worldbody></mujoco>";
  world w = open_world(t, text, FRIX_COORDINATES_REDUCED, NULL);
  REQUIRE(t, w.state);
  double x = 0.1, v = 3, h = 0.01;
  data(&w, FRIX_ROBOT_QPOS)[0] = x, data(&w, FRIX_ROBOT_QVEL)[0] = v;
  for (int k = 0; k < 20; k++) {
    double next = (x + h * v) / (1 + h * h * 5000 / 2);
    v = (next - x) / h, x = next;
    steps(t, &w, h, 1);
    CHECK_NEAR(t, data(&w, FRIX_ROBOT_QPOS)[0], x, 1e-12);
  }
  CHECK(t, ledger_gap(&w) < 1e-10);
  close_world(&w);
}

/* A servo that cannot reach its target pushes with its limit, exactly; a stiff one within it is stable. */
static void servo_bounds(fx_test *t) {
  if (!available(t)) return;
  static const char named[] =
      "<mujoco><option gravity='0 0 0'/><worldbody><geom type='box' size='.1 1 1' pos='.3 0 0'/>"
      "<body><joint name='x' type='slide' axis='1 0 0'/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
      "<body pos='0 3 0'><joint name='y' type='slide' axis='1 0 0'/><geom size='.01' mass='.001'/></body></worldbody>"
      "<actuator><position name='press' joint='x' kp='1000' kv='50' forcerange='-7 4'/>"
      "<position name='stiff' joint='y' kp='1e6' kv='10' forcerange='-500 500'/></actuator></mujoco>";
  world w = open_world(t, named, FRIX_COORDINATES_REDUCED, NULL);
  REQUIRE(t, w.state);
  data(&w, FRIX_ROBOT_CTRL)[0] = 1.0, data(&w, FRIX_ROBOT_CTRL)[1] = 0.2;
  steps(t, &w, 0.01, 300);
  double force = 0;
  for (int32_t k = 0; k < frix_sim_contact_count(w.sim); k++) {
    frix_contact_report c;
    if (frix_sim_contact(w.sim, k, &c) == FRIX_OK) force += fabs(c.impulse.x) / 0.01;
  }
  CHECK_NEAR(t, force, 4, 1e-7);
  CHECK_NEAR(t, data(&w, FRIX_ROBOT_QPOS)[1], 0.2, 1e-9);
  bool named_row = false;
  for (int32_t k = 0; k < frix_sim_row_count(w.sim); k++) {
    frix_robot_part part;
    named_row |= frix_sim_robot_row(w.sim, k, &part) == 0 && part == FRIX_ROBOT_ACTUATOR;
  }
  CHECK(t, named_row);
  CHECK(t, ledger_gap(&w) < 1e-9);
  close_world(&w);
}

/* A cube that sticks to the ceiling by 10 N of adhesion, and falls without. */
static void adheres(fx_test *t) {
  if (!available(t)) return;
  static const char text[] =
      "<mujoco><worldbody><geom type='box' size='1 1 .1' pos='0 0 .5'/><body name='b' pos='0 0 .3'><freejoint/>"
      "<geom type='box' size='.1 .1 .1' mass='.5'/></body><body pos='3 0 0'><joint axis='0 1 0'/><geom size='.1'/>"
      "</body></worldbody><actuator><adhesion name='a' body='b' ctrlrange='0 1' gain='10'/></actuator></mujoco>";
  world w = open_world(t, text, FRIX_COORDINATES_REDUCED, NULL);
  REQUIRE(t, w.state);
  data(&w, FRIX_ROBOT_CTRL)[0] = 1;
  frix_sim_set_gravity(w.sim, (frix_vec3){0, 0, 2}); /* it comes to touch */
  steps(t, &w, 2e-3, 20);
  frix_sim_set_gravity(w.sim, (frix_vec3){0, 0, -9.81});
  steps(t, &w, 2e-3, 500);
  CHECK_NEAR(t, body_of(&w, "b").center.z, 0.3, 1e-4);
  data(&w, FRIX_ROBOT_CTRL)[0] = 0.4; /* 4 N against 4.9 N */
  steps(t, &w, 2e-3, 100);
  CHECK(t, body_of(&w, "b").center.z < 0.2);
  close_world(&w);
}

/* A flat four-bar closed by a connect: rows across it move nothing. */
static void closes_loops(fx_test *t) {
  if (!available(t)) return;
  static const char text[] =
      "<mujoco><worldbody><body name='crank' pos='0 0 1'><joint axis='0 1 0'/>"
      "<geom type='capsule' fromto='0 0 0 0 0 .2' size='.02'/><body name='coupler' pos='0 0 .2'><joint axis='0 1 0'/>"
      "<geom type='capsule' fromto='0 0 0 .5 0 0' size='.02'/></body></body><body name='rocker' pos='.5 0 1'>"
      "<joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 .2' size='.02'/></body></worldbody><equality>"
      "<connect body1='coupler' body2='rocker' anchor='.5 0 0'/></equality>"
      "<contact><exclude body1='coupler' body2='rocker'/></contact></mujoco>";
  world w = open_world(t, text, FRIX_COORDINATES_REDUCED, NULL);
  REQUIRE(t, w.state);
  data(&w, FRIX_ROBOT_QVEL)[0] = data(&w, FRIX_ROBOT_QVEL)[2] = 0.4, data(&w, FRIX_ROBOT_QVEL)[1] = -0.4;
  double worst = 0, error[6], jacobian[18];
  for (int k = 0; k < 1000; k++) {
    steps(t, &w, 1e-3, 1);
    frix_robot_equality_rows(w.state, 0, 6, error, jacobian);
    worst = fmax(worst, fmax(fabs(error[0]), fmax(fabs(error[1]), fabs(error[2]))));
  }
  CHECK(t, worst < 1e-4);
  CHECK(t, ledger_gap(&w) < 1e-9);
  fx_test_note(t, "open by at most %.1e m", worst);
  close_world(&w);
}

/* ---- state ---- */

static const char gripper[] =
    "<mujoco><compiler angle='radian'/><worldbody><body name='palm' pos='0 0 .5'>"
    "<joint name='lift' type='slide' axis='0 0 1' damping='20'/><geom type='box' size='.1 .05 .02' mass='1'/>"
    "<body name='left' pos='-.06 0 -.08'><joint name='l' type='slide' axis='1 0 0' range='-.05 .06' armature='.1'/>"
    "<geom type='box' size='.01 .03 .05' mass='.1' friction='.5'/></body><body name='right' pos='.06 0 -.08'>"
    "<joint name='r' type='slide' axis='-1 0 0' range='-.05 .06' armature='.1'/>"
    "<geom type='box' size='.01 .03 .05' mass='.1' friction='.5'/></body></body><body name='cube' pos='0 0 .4'>"
    "<freejoint/><geom type='box' size='.03 .03 .03' mass='.5' friction='.5'/></body></worldbody><actuator>"
    "<position name='up' joint='lift' kp='4000' forcerange='-100 100'/>"
    "<position name='gl' joint='l' kp='1000' kv='20' forcerange='-15 15'/>"
    "<position name='gr' joint='r' kp='1000' kv='20' forcerange='-15 15'/></actuator>"
    "<equality><joint joint1='l' joint2='r'/></equality></mujoco>";

static void close_gripper(const world *w) {
  double *ctrl = data(w, FRIX_ROBOT_CTRL);
  ctrl[1] = ctrl[2] = 0.06;
}

/* A cube of 0.5 kg between two saturated fingers, mu 0.5: 15 N of friction against 4.9 N of weight, and nothing creeps.
 */
static void holds_without_creep(fx_test *t) {
  if (!available(t)) return;
  world w = open_world(t, gripper, FRIX_COORDINATES_REDUCED, NULL);
  REQUIRE(t, w.state);
  close_gripper(&w);
  steps(t, &w, 2e-3, 1500);
  frix_body_state before = body_of(&w, "cube"), palm = body_of(&w, "palm");
  CHECK(t, before.center.z > 0.2);
  steps(t, &w, 2e-3, 3000);
  frix_vec3 way = {body_of(&w, "cube").center.x - body_of(&w, "palm").center.x,
                   body_of(&w, "cube").center.y - body_of(&w, "palm").center.y,
                   body_of(&w, "cube").center.z - body_of(&w, "palm").center.z};
  frix_vec3 was = {before.center.x - palm.center.x, before.center.y - palm.center.y, before.center.z - palm.center.z};
  double creep = gap_of(way, was);
  CHECK(t, creep < 1e-9);
  fx_test_note(t, "creep in 6 s: %.1e m", creep);
  close_world(&w);
}

static void goes_on_from_snapshots(fx_test *t) {
  if (!available(t)) return;
  world w = open_world(t, gripper, FRIX_COORDINATES_REDUCED, NULL);
  REQUIRE(t, w.state);
  close_gripper(&w);
  steps(t, &w, 2e-3, 60);
  frix_snapshot *snapshot = NULL, *read = NULL;
  unsigned char *bytes = NULL;
  size_t size = 0;
  uint64_t hash[2];
  REQUIRE(t, frix_sim_save(w.sim, &snapshot) == FRIX_OK);
  steps(t, &w, 2e-3, 40);
  frix_sim_hash(w.sim, &hash[0]);
  REQUIRE(t, frix_snapshot_encode(w.context, snapshot, &bytes, &size) == FRIX_OK);
  REQUIRE(t, frix_snapshot_decode(w.context, w.model, bytes, size, &read) == FRIX_OK);
  for (int k = 0; k < 2; k++) {
    REQUIRE(t, frix_sim_restore(w.sim, k ? read : snapshot) == FRIX_OK);
    steps(t, &w, 2e-3, 40);
    frix_sim_hash(w.sim, &hash[1]);
    CHECK(t, hash[0] == hash[1]);
  }
  frix_bytes_free(w.context, bytes);
  frix_snapshot_destroy(snapshot);
  frix_snapshot_destroy(read);
  close_world(&w);
}

/* A step that fails leaves everything as it was. */
static void takes_back(fx_test *t) {
  if (!available(t)) return;
  world w = open_world(t, gripper, FRIX_COORDINATES_REDUCED, NULL);
  REQUIRE(t, w.state);
  steps(t, &w, 2e-3, 10);
  uint64_t hash[2];
  frix_sim_hash(w.sim, &hash[0]);
  data(&w, FRIX_ROBOT_CTRL)[0] = NAN;
  CHECK(t, frix_sim_step(w.sim, 2e-3, NULL) == FRIX_ERROR_INPUT);
  data(&w, FRIX_ROBOT_CTRL)[0] = 0;
  frix_sim_hash(w.sim, &hash[1]);
  CHECK(t, hash[0] == hash[1]);
  frix_body_id link = frix_model_find_body(w.model, "left");
  CHECK(t, frix_sim_set_pose(w.sim, link, (frix_pose){{0, 0, 0}, {1, 0, 0, 0}}) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_set_velocity(w.sim, link, (frix_vec3){0, 0, 0}, (frix_vec3){0, 0, 0}) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_remove(w.sim, link) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_robot_reset(w.sim, 0) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_robot_reset(w.sim, -1) == FRIX_OK && data(&w, FRIX_ROBOT_QPOS)[0] == 0);
  /* the cube is a body of its own: by the array or by hand */
  data(&w, FRIX_ROBOT_QPOS)[5] = 2.0;
  CHECK(t, frix_sim_robot_place(w.sim) == FRIX_OK);
  CHECK_NEAR(t, body_of(&w, "cube").pose.p.z, 2.0, 1e-15);
  frix_body_id cube = frix_model_find_body(w.model, "cube");
  CHECK(t, frix_sim_set_pose(w.sim, cube, (frix_pose){{0, 0, 3}, {1, 0, 0, 0}}) == FRIX_OK);
  steps(t, &w, 2e-3, 1);
  CHECK_NEAR(t, data(&w, FRIX_ROBOT_QPOS)[5], 3.0, 1e-4);
  CHECK(t, ledger_gap(&w) < 1e-9);
  close_world(&w);
}

/* A file of free bodies needs no tree. */
static void keeps_free_bodies(fx_test *t) {
  if (!available(t)) return;
  static const char text[] =
      "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body pos='0 0 .2'><freejoint/>"
      "<geom type='box' size='.1 .05 .03'/></body></worldbody></mujoco>";
  uint64_t hash[2] = {0, 1};
  for (int k = 0; k < 2; k++) {
    world w = open_world(t, text, k ? FRIX_COORDINATES_REDUCED : FRIX_COORDINATES_MAXIMAL, NULL);
    CHECK(t, !w.state);
    steps(t, &w, 2e-3, 200);
    frix_sim_hash(w.sim, &hash[k]);
    close_world(&w);
  }
  CHECK(t, hash[0] == hash[1]);
}

static void integrators(fx_test *t) {
  if (!available(t)) return;
  static const char *const name[] = {"moreau", "two_step", "variational"};
  for (int k = 0; k < 3; k++) {
    frix_sim_config config = frix_sim_default();
    config.integrator = name[k];
    world w = open_world(t, chain, FRIX_COORDINATES_REDUCED, &config);
    steps(t, &w, 1e-3, 600);
    CHECK(t, ledger_gap(&w) < 1e-10);
    close_world(&w);
  }
}

/* ---- files ---- */

static void runs_models(fx_test *t) {
  static const char *const file[] = {
      "menagerie/agility_cassie/scene.xml",    "menagerie/robotiq_2f85/scene.xml",
      "menagerie/shadow_hand/scene_right.xml", "menagerie/wonik_allegro/scene_left.xml",
      "menagerie/trs_so_arm100/scene.xml",     "menagerie/google_barkour_vb/scene_mjx.xml",
      "menagerie/umi_gripper/scene.xml",       "mjcf/humanoid/humanoid.xml"};
  for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
    char path[256];
    snprintf(path, sizeof path, "models/%s", file[k]);
    const char *found = fx_test_shared(t, path);
    if (!found) return;
    shell_result r = shell(t, "\"$frix\" run '%s' --time 0.05 --quiet --allow-missing --strict", found);
    if (r.code) fx_test_fail(t, __FILE__, __LINE__, "%s: %s", file[k], r.err);
    shell_free(&r);
  }
}

/* ---- sensors of contacts ---- */

/* Numbers of the last row of a table, in the order of the file's sensors; the first is the time. */
static int last_row(const char *text, double *out, int most) {
  const char *line = text, *next;
  while ((next = strchr(line, '\n')) && next[1]) line = next + 1;
  int count = 0;
  for (char *end; count < most; line = end + 1) {
    out[count++] = strtod(line, &end);
    if (*end != ',') break;
  }
  return count;
}

/* A leg of three bodies on the floor, the last one welded to the one above it, that stands on its limit; a bar on a
 * hinge and a connect; a ball on a slide whose geom has a margin. Weights are known. */
static void feels_contacts(fx_test *t) {
  if (!available(t)) return;
  const char *path = fx_test_scratch(t, "feels.xml");
  FILE *file = fopen(path, "w");
  REQUIRE(t, file);
  fputs(
      "<mujoco><option gravity='0 0 -10'/><worldbody><geom type='plane' size='1 1 1'/>"
      "<body pos='0 0 .5'><joint type='slide' axis='0 0 1'/><geom type='box' size='.1 .1 .05' mass='2'/>"
      "<body pos='.05 0 -.1'><joint name='s' type='slide' axis='0 0 1' range='-.05 .02'/>"
      "<geom type='box' size='.02 .02 .1' mass='.5'/><site name='knee' pos='0 0 .1'/>"
      "<body pos='.01 0 -.15'><geom type='sphere' size='.03' mass='.3'/><site name='foot' type='box' size='.04 .04 "
      ".04'/>"
      "<site name='other' pos='0 0 .2' size='.01'/></body></body></body>"
      "<body name='bar' pos='1 0 .3'><joint axis='0 1 0' damping='.5'/>"
      "<geom type='capsule' size='.02' fromto='0 0 0 .4 0 0' mass='1'/><site name='p' pos='.1 0 0'/></body>"
      "<body name='ball' pos='0 2 .2'><joint type='slide' axis='0 0 1'/><joint type='slide' axis='1 0 0' damping='1'/>"
      "<geom size='.1' margin='.015' gap='.005'/></body></worldbody>"
      "<equality><connect body1='bar' anchor='.4 0 0'/></equality>"
      "<sensor><touch site='foot'/><touch site='other'/><force site='knee'/><torque site='knee'/><force site='foot'/>"
      "<jointlimitfrc joint='s'/><force site='p'/><torque site='p'/><framepos objtype='body' objname='ball'/></sensor>"
      "</mujoco>",
      file);
  fclose(file);
  shell_result r = shell(t, "\"$frix\" run '%s' --time 2 --quiet --strict --sensors felt.csv", path);
  CHECK(t, r.code == 0);
  shell_free(&r);
  char *text = shell_read(fx_test_scratch(t, "felt.csv"));
  double felt[32] = {0};
  static const double wanted[] = {2, 28, 0, 0, 0, -20, 0, .25, 0, 0, 0, -25, 20, 0, 0, 5, 0, .5, 0, 0, 2, .115};
  CHECK(t, last_row(text, felt, 32) == (int)(sizeof wanted / sizeof *wanted));
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) CHECK_NEAR(t, felt[k], wanted[k], 1e-5);
  free(text);
}

/* A control acts when its delay has passed (test/robots/delays.xml): numbers of MuJoCo. A snapshot keeps what is under
 * way. */
static void delays(fx_test *t) {
  if (!available(t)) return;
  char *text = shell_read("test/robots/delays.xml");
  REQUIRE(t, text);
  world w = open_world(t, text, FRIX_COORDINATES_REDUCED, NULL);
  frix_snapshot *half = NULL;
  for (int k = 0; w.state && k < 14; k++) {
    for (int i = 0; i < 4; i++) data(&w, FRIX_ROBOT_CTRL)[i] = 1 + k;
    steps(t, &w, 0.002, 1);
    if (k == 6) CHECK(t, frix_sim_save(w.sim, &half) == FRIX_OK);
    if (k == 13 && half) { /* once more from the middle */
      CHECK(t, frix_sim_restore(w.sim, half) == FRIX_OK);
      frix_snapshot_destroy(half);
      half = NULL, k = 6;
    }
  }
  CHECK(t, w.state && frix_sim_robot_sense(w.sim) == FRIX_OK);
  static const double wanted[] = {10, 9.35, 12, .156, .00066, .000543, .001144, 8.008e-6};
  for (int k = 0; w.state && k < 8; k++)
    CHECK_NEAR(t, data(&w, FRIX_ROBOT_SENSOR_DATA)[k], wanted[k], 1e-12 * fmax(1, wanted[k]));
  close_world(&w);
  free(text);
}

/* A robot that flies without gravity: its momenta stay, to rounding, in the schemes of second order, and its centre of
 * mass goes straight on; in Moreau's they drift with the first order of the step. */
#define FLYER                                                                                                         \
  "<mujoco><option gravity='0 0 0'/><default><geom contype='0' conaffinity='0'/></default><worldbody>"                \
  "<body name='r' pos='0 0 1'><freejoint/><geom type='box' size='.2 .1 .05'/><body pos='.2 .1 0'>"                    \
  "<joint axis='0 1 0'/><geom type='capsule' size='.03' fromto='0 0 0 .3 0 .1'/><body pos='.3 0 .1'>"                 \
  "<joint axis='1 0 0'/><geom type='capsule' size='.03' fromto='0 0 0 .3 .1 0'/></body></body>"                       \
  "<body pos='-.2 -.1 0'><joint axis='0 0 1'/><geom type='capsule' size='.03' fromto='0 0 0 0 .3 .1'/></body></body>" \
  "</worldbody><sensor><subtreelinvel body='r'/><subtreeangmom body='r'/><subtreecom body='r'/></sensor></mujoco>"

/* The largest change of linear and angular momentum in a second; *way: how far the centre is off its line. */
static double momentum_drift(fx_test *t, const char *integrator, double h, double *way) {
  static const double qvel[] = {.1, .2, .3, 1, 2, -1, 5, -7, 4};
  frix_sim_config config = frix_sim_default();
  config.integrator = integrator;
  world w = open_world(t, FLYER, FRIX_COORDINATES_REDUCED, &config);
  double first[9] = {0}, most = 0.0;
  if (!w.state) return NAN;
  memcpy(data(&w, FRIX_ROBOT_QVEL), qvel, sizeof qvel);
  frix_sim_robot_place(w.sim);
  int count = (int)floor(1.0 / h + 0.5);
  for (int k = 0; k <= count; k++) {
    frix_sim_robot_sense(w.sim);
    const double *now = data(&w, FRIX_ROBOT_SENSOR_DATA);
    if (k == 0) memcpy(first, now, sizeof first);
    for (int n = 0; n < 6; n++) most = fmax(most, fabs(now[n] - first[n]));
    *way = 0.0;
    for (int n = 0; n < 3; n++) *way = fmax(*way, fabs(now[6 + n] - first[6 + n] - k * h * first[n]));
    if (k < count) steps(t, &w, h, 1);
  }
  close_world(&w);
  return most;
}

static void keeps_momentum(fx_test *t) {
  if (!available(t)) return;
  static const char *const integrator[] = {"two_step", "variational"};
  double way;
  for (int k = 0; k < 2; k++) {
    double drift = momentum_drift(t, integrator[k], 0.002, &way);
    CHECK(t, drift < 1e-12);
    CHECK(t, way < 1e-12);
  }
  double coarse = momentum_drift(t, "moreau", 0.002, &way), fine = momentum_drift(t, "moreau", 0.001, &way);
  CHECK(t, coarse > 1e-6 && coarse < 0.5 && fine > 0.3 * coarse && fine < 0.7 * coarse);
  fx_test_note(t, "moreau drifts by %.2g and %.2g", coarse, fine);
}

/* A number of the report. */
static double number_of(const char *json, const char *name) {
  char word[64];
  snprintf(word, sizeof word, "\"%s\": ", name);
  const char *at = strstr(json, word);
  return at ? strtod(at + strlen(word), NULL) : NAN;
}

/* Files that start beyond limits which their loops do not let them return to, at a dead point, or in the floor, must
 * not explode: joints bring in next to no energy. */
static void starts_gently(fx_test *t) {
  if (!available(t)) return;
  const char *path = fx_test_scratch(t, "contradict.xml");
  FILE *file = fopen(path, "w");
  REQUIRE(t, file);
  fputs(
      "<mujoco><option gravity='0 0 0'/><worldbody>"
      "<body><joint name='j' range='30 60' axis='0 1 0'/><geom size='.05' pos='.3 0 0' mass='1'/></body>"
      "<body pos='0 1 0'><joint name='k' range='30 60' axis='0 1 0'/><geom size='.05' pos='.3 0 0' mass='1'/></body>"
      "</worldbody><equality><joint joint1='j' joint2='k' polycoef='0 -1 0 0 0'/></equality></mujoco>",
      file);
  fclose(file);
  shell_result r = shell(t, "\"$frix\" run '%s' --time 1 --quiet --strict --json", path);
  CHECK(t, r.code == 0);
  CHECK(t, number_of(r.out, "kinetic") < 1e-6);
  CHECK(t, number_of(r.out, "joint_error_max") < 1e-8);
  shell_free(&r);
  const char *biped = fx_test_shared(t, "models/menagerie/agility_cassie/scene.xml");
  if (!biped) return;
  r = shell(t, "\"$frix\" run '%s' --time 0.1 --quiet --strict --allow-missing --json", biped);
  CHECK(t, r.code == 0);
  CHECK(t, number_of(r.out, "kinetic") < 20);
  CHECK(t, fabs(number_of(r.out, "joint")) < 1);
  CHECK(t, number_of(r.out, "joint_error_max") < 1e-6);
  shell_free(&r);
}

/* A run of a robot that is resumed from its file has the bits of one that was not interrupted; another robot is
 * refused. */
static void resumes(fx_test *t) {
  if (!available(t)) return;
  const char *path = fx_test_scratch(t, "resumes.xml");
  FILE *file = fopen(path, "w");
  REQUIRE(t, file);
  fputs(
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .25'><joint name='j' axis='0 1 0' "
      "frictionloss='.1'/>"
      "<geom type='capsule' size='.05' fromto='0 0 0 .4 0 0'/><body pos='.4 0 0'><joint name='k' axis='0 1 0'/>"
      "<geom type='capsule' size='.05' fromto='0 0 0 .4 0 0'/></body></body></worldbody>"
      "<actuator><position name='m' joint='j' kp='10' timeconst='.1'/><motor name='n' joint='k'/></actuator>"
      "<keyframe><key name='up' qpos='-.5 .2' ctrl='.1 0'/></keyframe></mujoco>",
      file);
  fclose(file);
  const char *flags = "--key up --ctrl n=.2 --ctrl-file c.csv --quiet";
  shell_result whole =
      shell(t, "printf 'time,m\n0,.1\n.1,.3\n.3,-.2\n' >c.csv; \"$frix\" run resumes.xml --time .5 %s --json", flags);
  shell_result first = shell(t, "\"$frix\" run resumes.xml --time .2 %s --out r.frx && cp r.frx s.frx", flags);
  CHECK(t, whole.code == 0 && first.code == 0);
  shell_result second = shell(t, "\"$frix\" run --resume r.frx --time .5 --quiet --json");
  CHECK(t, second.code == 0);
  const char *a = strstr(whole.out, "\"final_hash\""), *b = strstr(second.out, "\"final_hash\"");
  CHECK(t, a && b && !strncmp(a, b, 34));
  shell_result other = shell(t, "sed -i 's/10/11/' resumes.xml; \"$frix\" run --resume s.frx --time .5 --quiet");
  CHECK(t, other.code == 2 && strstr(other.err, "does not hold the robot"));
  shell_free(&whole), shell_free(&first), shell_free(&second), shell_free(&other);
}

/* Keyframes without a name are called by their number; '*' is all actuators. */
static void numbers_keys(fx_test *t) {
  if (!available(t)) return;
  const char *path = fx_test_scratch(t, "keys.xml");
  FILE *file = fopen(path, "w");
  REQUIRE(t, file);
  fputs(
      "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='j' axis='0 1 0'/><geom size='.1' pos='1 0 "
      "0'/></body>"
      "</worldbody><actuator><motor name='m' joint='j'/></actuator>"
      "<keyframe><key qpos='.1' ctrl='1'/><key qpos='.2' ctrl='1'/></keyframe></mujoco>",
      file);
  fclose(file);
  shell_result r = shell(t, "\"$frix\" robot '%s' --key 1 --json", path);
  CHECK(t, r.code == 0);
  CHECK(t, strstr(r.out, "\"qpos\": [0.2"));
  shell_free(&r);
  r = shell(t, "\"$frix\" run '%s' --key 0 --time 0.1 --quiet --json --ctrl '*=0'", path);
  CHECK(t, r.code == 0);
  CHECK_NEAR(t, number_of(r.out, "work"), 0, 0);
  shell_free(&r);
  r = shell(t, "\"$frix\" run '%s' --key 0 --time 0.1 --quiet --json", path);
  CHECK(t, number_of(r.out, "work") > 0);
  shell_free(&r);
}

/* Joints of models are coordinates unless something else is asked for, and a run says what they are. */
static void by_default(fx_test *t) {
  CHECK(t, frix_sim_default().coordinates == FRIX_COORDINATES_REDUCED);
  static const char *const row[][2] = {{"", "\"coordinates\": \"reduced\""},
                                       {"--coordinates maximal", "\"coordinates\": \"maximal\""}};
  for (int k = 0; k < 2; k++) {
    shell_result r = shell(t, "\"$frix\" run stack --time 0.02 --quiet --json %s", row[k][0]);
    CHECK(t, r.code == 0 && strstr(r.out, row[k][1]));
    shell_free(&r);
  }
}

static void commands(fx_test *t) {
  if (!available(t)) return;
  const char *path = fx_test_scratch(t, "gripper.xml");
  FILE *file = fopen(path, "w");
  REQUIRE(t, file);
  fputs(gripper, file);
  fclose(file);
  static const struct {
    const char *before, *flags;
    int code;
    const char *says;
  } row[] = {
      {":", "--ctrl gl=.06 --ctrl gr=.06", 0, ""},
      {":", "--ctrl nobody=1", 2, "no actuator 'nobody'"},
      {":", "--ctrl gl=nan", 2, "not a finite number"},
      {"printf 'time,gl,gr\\n0,.01,.01\\n.01,.06,.06\\n' >c.csv", "--ctrl-file c.csv --sensors s.csv", 0, ""},
      {"printf 'time,gl\\n0,1,2\\n' >c.csv", "--ctrl-file c.csv", 2, "row 1 has 3 numbers"},
      {"printf 'time,gl\\n1,1\\n0,1\\n' >c.csv", "--ctrl-file c.csv", 2, "do not ascend"},
      {"printf 'gl\\n1\\n' >c.csv", "--ctrl-file c.csv", 2, "first column is 'time'"},
      {":", "--coordinates maximal", 0, ""},
      {":", "--coordinates maximal --ctrl gl=.06", 2, "reduced coordinates"},
      {":", "--coordinates minimal", 2, "minimal"},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    shell_result r =
        shell(t, "%s && \"$frix\" run '%s' --time 0.02 --quiet --allow-missing %s", row[k].before, path, row[k].flags);
    if (r.code != row[k].code || !strstr(r.err, row[k].says))
      fx_test_fail(t, __FILE__, __LINE__, "%s: exit %d, '%s'", row[k].flags, r.code, r.err);
    shell_free(&r);
  }
}

const fx_test_row test_trees[] = {{"trees/accelerates", accelerates},
                                  {"trees/agrees_with_maximal", agrees_with_maximal},
                                  {"trees/of_the_builder", trees_of_the_builder},
                                  {"trees/stops_at_limits", stops_at_limits},
                                  {"trees/dry_friction", dry_friction},
                                  {"trees/springs", springs},
                                  {"trees/servo_bounds", servo_bounds},
                                  {"trees/adheres", adheres},
                                  {"trees/closes_loops", closes_loops},
                                  {"trees/holds_without_creep", holds_without_creep},
                                  {"trees/goes_on_from_snapshots", goes_on_from_snapshots},
                                  {"trees/takes_back", takes_back},
                                  {"trees/keeps_free_bodies", keeps_free_bodies},
                                  {"trees/integrators", integrators},
                                  {"trees/runs_models", runs_models},
                                  {"trees/delays", delays},
                                  {"trees/keeps_momentum", keeps_momentum},
                                  {"trees/feels_contacts", feels_contacts},
                                  {"trees/starts_gently", starts_gently},
                                  {"trees/resumes", resumes},
                                  {"trees/numbers_keys", numbers_keys},
                                  {"trees/by_default", by_default},
                                  {"trees/commands", commands},
                                  {0}};
