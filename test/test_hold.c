/* Inverse statics: the least effort of actuators in closed form. */
#include "shell.h"
#define WORLD_COORDINATES FRIX_COORDINATES_MAXIMAL /* rows of joints */
#include "sim_world.h"

static const double pi = 3.14159265358979323846;

static frix_equilibrium_result hold(world *w, const frix_actuator *a, int32_t count, double *value) {
  frix_equilibrium *e = NULL;
  frix_equilibrium_result r = {.size = sizeof r};
  MUST(w, frix_sim_hold(w->sim, 0.01, a, count, value, &e));
  frix_equilibrium_view(e, &r);
  r.contact = NULL, r.motion = NULL;
  frix_equilibrium_destroy(e);
  return r;
}

static void check_effort(fx_test *t, int line, frix_equilibrium_result r, double exact) {
  double size = fmax(1e-3, fabs(exact));
  bool good = r.standing == FRIX_STANDING_STANDS && r.effort >= r.effort_bound - 1e-12 * size &&
              fabs(r.effort - exact) <= 1e-7 * size && fabs(r.effort_bound - exact) <= 1e-7 * size;
  if (!good) fx_test_fail(t, __FILE__, line, "effort %.12g, bound %.12g, exact %.12g", r.effort, r.effort_bound, exact);
}

#define EFFORT(t, result, exact) check_effort((t), __LINE__, (result), (exact))

/* A block of 2 kg on a plane that is tilted about y, uphill +x; gravity 10. */
static world on_slope(fx_test *t, double angle, double mu, frix_body_id *block) {
  world w = rigid_world(t, mu, 0);
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, -10)));
  world_plane(&w, turned(-angle, 0, 1, 0));
  frix_body_config b = body_at(at(-0.1 * sin(angle), 0, 0.1 * cos(angle)));
  b.pose.q = turned(-angle, 0, 1, 0), b.mass = 2;
  *block = world_body(&w, b, box_shape(0.3, 0.3, 0.1));
  world_start(&w);
  return w;
}

static void slope(fx_test *t) {
  double a = pi / 6, mu = 0.2, s = sin(a), c = cos(a), value[3];
  frix_body_id block;
  world w = on_slope(t, a, mu, &block);
  frix_actuator along = {.body = block, .force = vec(c, 0, s), .limit = 1}, flat = along, press = along;
  flat.force = vec(1, 0, 0), press.force = vec(s, 0, -c);
  EFFORT(t, hold(&w, &along, 1, value), 20 * (s - mu * c));
  CHECK_NEAR(t, value[0], 20 * (s - mu * c), 1e-4);
  EFFORT(t, hold(&w, &flat, 1, value), 20 * (s - mu * c) / (c + mu * s));
  EFFORT(t, hold(&w, &press, 1, value), 20 * (s - mu * c) / mu); /* pressed on until friction is enough */
  CHECK_NEAR(t, value[0], 20 * (s - mu * c) / mu, 1e-3);
  /* two that share: each gives the same share of its limit; F along takes F, pressing by F takes mu F */
  frix_actuator both[2] = {along, press};
  both[0].limit = 3;
  EFFORT(t, hold(&w, both, 2, value), 20 * (s - mu * c) / (3 + mu));
  CHECK_NEAR(t, value[0] + mu * value[1], 20 * (s - mu * c), 1e-4);
  frix_actuator across = {.body = block, .force = vec(0, 1, 0), .limit = 1}; /* only uses friction up */
  frix_equilibrium_result r = hold(&w, &across, 1, value);
  CHECK(t, r.standing == FRIX_STANDING_FALLS && r.effort == INFINITY && r.effort_bound == INFINITY);
  world_end(&w);
  w = on_slope(t, a, 0.7, &block); /* holds by itself */
  along.body = block;
  EFFORT(t, hold(&w, &along, 1, value), 0);
  CHECK_NEAR(t, value[0], 0, 1e-6);
  CHECK(t, frix_sim_hold(w.sim, 0.01, NULL, 1, value, NULL) == FRIX_ERROR_INPUT);
  frix_equilibrium *e = NULL;
  along.limit = 0;
  CHECK(t, frix_sim_hold(w.sim, 0.01, &along, 1, value, &e) == FRIX_ERROR_INPUT && !e);
  along.limit = 1, along.force = vec(NAN, 0, 0);
  CHECK(t, frix_sim_hold(w.sim, 0.01, &along, 1, value, &e) == FRIX_ERROR_INPUT && !e);
  world_end(&w);
}

/* A block between two fingers that press towards each other, the right one held by the left: 2 mu F = m g. */
static void grip(fx_test *t) {
  world w = rigid_world(t, 0.5, 0);
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, -10)));
  frix_body_config b = body_at(at(0, 0, 0));
  frix_body_id block, finger[2];
  b.mass = 2;
  block = world_body(&w, b, box_shape(0.1, 0.1, 0.1));
  for (int k = 0; k < 2; k++) {
    frix_body_config f = body_at(at(k ? 0.15 : -0.15, 0, 0));
    f.mass = 1, f.gravity_scale = 0;
    finger[k] = world_body(&w, f, box_shape(0.05, 0.05, 0.05));
    frix_joint_config slider = frix_joint_default(FRIX_JOINT_SLIDER);
    slider.b = finger[k];
    MUST(&w, frix_joint_place(w.builder, &slider, f.pose.p, vec(1, 0, 0), vec(0, 0, 0), f.pose.p));
    MUST(&w, frix_builder_add_joint(w.builder, &slider, NULL));
  }
  world_start(&w);
  (void)block;
  double value[2];
  frix_actuator a = {.body = finger[0], .on = finger[1], .force = vec(1, 0, 0), .limit = 10};
  EFFORT(t, hold(&w, &a, 1, value), 2);
  CHECK_NEAR(t, value[0], 20, 1e-3);
  frix_actuator two[2] = {{.body = finger[0], .force = vec(1, 0, 0), .limit = 1},
                          {.body = finger[1], .force = vec(1, 0, 0), .limit = 1}};
  EFFORT(t, hold(&w, two, 2, value), 20);
  CHECK_NEAR(t, value[0], 20, 1e-3);
  CHECK_NEAR(t, value[1], -20, 1e-3);
  world_end(&w);
}

/* An arm of 3 kg, its centre 0.4 m from the hinge, level: 12 N m. */
static void arm(fx_test *t) {
  world w = rigid_world(t, 0.5, 0);
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, -10)));
  frix_body_config b = body_at(at(0.4, 0, 1));
  b.mass = 3;
  frix_body_id id = world_body(&w, b, box_shape(0.3, 0.05, 0.05));
  frix_joint_config hinge = frix_joint_default(FRIX_JOINT_HINGE);
  hinge.b = id;
  MUST(&w, frix_joint_place(w.builder, &hinge, vec(0, 0, 1), vec(0, 1, 0), vec(0, 0, 0), vec(0, 0, 1)));
  MUST(&w, frix_builder_add_joint(w.builder, &hinge, NULL));
  world_start(&w);
  double value;
  frix_actuator motor = {.body = id, .torque = vec(0, 1, 0), .limit = 24};
  EFFORT(t, hold(&w, &motor, 1, &value), 0.5);
  CHECK_NEAR(t, value, -12, 1e-3);
  world_end(&w);
}

static void command(fx_test *t) {
  shell_result r = shell(t, "$frix hold incline --set angle=30 --set mu=0.2 --by block.x --json");
  const char *effort = strstr(r.out, "\"effort\": ");
  CHECK(t, r.code == 0 && shell_json(r.out) && effort && strstr(r.out, "\"standing\": \"stands\""));
  shell_free(&r);
  r = shell(t, "$frix hold incline --set angle=30 --set mu=0.2 --by block.sideways");
  CHECK(t, r.code == 2 && strstr(r.err, "block.sideways"));
  shell_free(&r);
  r = shell(t, "$frix hold incline --set angle=30 --set mu=0.2 --by block.y");
  CHECK(t, r.code == 1 && strstr(r.out, "no effort holds it"));
  shell_free(&r);
}

static void grip_in_trees(fx_test *t) { world_in_trees(t, grip); }
static void arm_in_trees(fx_test *t) { world_in_trees(t, arm); }

const fx_test_row test_hold[] = {{"hold/slope", slope},
                                 {"hold/grip", grip},
                                 {"hold/arm", arm},
                                 {"hold/grip_in_trees", grip_in_trees},
                                 {"hold/arm_in_trees", arm_in_trees},
                                 {"hold/command", command},
                                 {0}};
