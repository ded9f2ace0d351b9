/* Trees of joints of the builder that are changed by hand, and their sleep. */
#include <frix/edit.h>
#include <frix/robot.h>

#include "sim_world.h"

enum { LINKS = 4 };

/* A chain of four bars on ball joints and one hinge, from the world at (0, 0, 2) along x, or free in the air. */
typedef struct chain {
  world w;
  frix_body_id link[LINKS];
  frix_joint_id joint[LINKS];
} chain;

static chain chain_new(fx_test *t, frix_coordinates coordinates, bool hangs) {
  chain c = {.w = world_new(t, 0.5, 0)};
  world *w = &c.w;
  w->config.coordinates = coordinates;
  for (int k = 0; k < LINKS; k++)
    c.link[k] = world_body(w, body_at(at(0.1 + 0.2 * k, 0, 2)), box_shape(0.08, 0.02, 0.02));
  for (int k = hangs ? 0 : 1; k < LINKS; k++) {
    frix_joint_config j = frix_joint_default(k == 2 ? FRIX_JOINT_HINGE : FRIX_JOINT_BALL);
    if (k > 0) j.a = c.link[k - 1];
    j.b = c.link[k];
    MUST(w, frix_joint_place(w->builder, &j, vec(0.2 * k, 0, 2), vec(0, 1, 0), vec(0, 0, 0), vec(0, 0, 0)));
    MUST(w, frix_builder_add_joint(w->builder, &j, &c.joint[k]));
  }
  return c;
}

static void run(world *w, int steps, double h) {
  for (int k = 0; k < steps; k++) CHECK(w->t, world_step(w, h).certified);
}

static double open_by(world *w, frix_joint_id id) {
  frix_joint_state s = {0};
  MUST(w, frix_sim_joint(w->sim, id, &s));
  return s.error;
}

static uint64_t hash_of(world *w) {
  uint64_t hash = 0;
  MUST(w, frix_sim_hash(w->sim, &hash));
  return hash;
}

/* Whether the joints of the last step had rows. */
static int joint_rows(world *w) {
  int count = 0;
  for (int k = 0; k < frix_sim_row_count(w->sim); k++) {
    frix_row_report r;
    MUST(w, frix_sim_row(w->sim, k, &r));
    count += r.kind == FRIX_ROW_JOINT;
  }
  return count;
}

/* All links are put a metre aside, one after the other, in an order that is not that of the tree: its joints are
 * closed again, and are coordinates. One link put where its joints are open is closed by rows, then by coordinates. */
static void poses(fx_test *t) {
  chain c = chain_new(t, FRIX_COORDINATES_REDUCED, false);
  world *w = &c.w;
  MUST(w, frix_builder_set_gravity(w->builder, vec(0, 0, 0)));
  REQUIRE(t, world_start(w));
  run(w, 3, 0.01);
  static const int order[LINKS] = {2, 0, 3, 1};
  for (int k = 0; k < LINKS; k++) {
    frix_pose pose = state_of(w, c.link[order[k]]).pose;
    pose.p.y += 1;
    MUST(w, frix_sim_set_pose(w->sim, c.link[order[k]], pose));
  }
  run(w, 3, 0.01);
  CHECK(t, joint_rows(w) == 0);
  for (int k = 0; k < LINKS; k++) CHECK_NEAR(t, state_of(w, c.link[k]).center.y, 1, 1e-12);
  frix_pose pose = state_of(w, c.link[3]).pose;
  pose.p.x += 1e-4;
  MUST(w, frix_sim_set_pose(w->sim, c.link[3], pose));
  CHECK_NEAR(t, open_by(w, c.joint[3]), 1e-4, 1e-9);
  CHECK_NEAR(t, state_of(w, c.link[3]).pose.p.x, pose.p.x, 0); /* the link alone, as a body */
  run(w, 1, 0.01);
  CHECK(t, joint_rows(w) > 0);
  run(w, 200, 0.01);
  CHECK(t, joint_rows(w) == 0 && open_by(w, c.joint[3]) < 1e-9);
  world_end(w);
}

/* Two bars hang on each other in free flight and one is given a velocity: what it brings is shared by the joint. */
static void velocities(fx_test *t) {
  for (int scheme = 0; frix_integrator_table(scheme); scheme++) {
    chain c = chain_new(t, FRIX_COORDINATES_REDUCED, false);
    world *w = &c.w;
    w->config.integrator = frix_integrator_table(scheme)->name;
    MUST(w, frix_builder_set_gravity(w->builder, vec(0, 0, 0)));
    REQUIRE(t, world_start(w));
    run(w, 2, 1e-3);
    frix_body_config config;
    MUST(w, frix_model_body(w->model, c.link[0], &config));
    double mass = config.mass;
    MUST(w, frix_sim_set_velocity(w->sim, c.link[1], vec(0, 2, 1), vec(0, 0, 0)));
    MUST(w, frix_sim_set_velocity(w->sim, c.link[3], vec(0, 0, 3), vec(0, 0, 0)));
    CHECK_NEAR(t, state_of(w, c.link[1]).velocity.y, 2, 0); /* until the next step */
    double before = frix_sim_energy(w->sim).kinetic, y = 0, z = 0, energy = 0;
    CHECK_NEAR(t, before, 0.5 * mass * (5 + 9), 1e-9);
    run(w, 1, 1e-3);
    for (int k = 0; k < LINKS; k++) {
      frix_body_state s = state_of(w, c.link[k]);
      y += mass * s.velocity.y, z += mass * s.velocity.z;
    }
    energy = frix_sim_energy(w->sim).kinetic;
    CHECK_NEAR(t, y, 2 * mass, 2e-2 * mass);
    CHECK_NEAR(t, z, 4 * mass, 2e-2 * mass);
    CHECK(t, energy < 0.9 * before); /* the joints took the rest */
    CHECK(t, ledger_gap(w->sim) < 1e-9);
    world_end(w);
  }
}

/* A world that is changed while it runs goes the same way in both coordinates: a chain swings, its third joint goes, a
 * joint holds the loose end to the world, a body of the middle is taken away. */
static void change(chain *c, int when) {
  world *w = &c->w;
  if (when == 0) MUST(w, frix_sim_remove_joint(w->sim, c->joint[2]));
  if (when == 1) {
    frix_builder *b = NULL;
    frix_joint_config ball = frix_joint_default(FRIX_JOINT_BALL);
    ball.b = c->link[3];
    frix_vec3 here = state_of(w, c->link[3]).center;
    MUST(w, frix_sim_begin_change(w->sim, &b));
    MUST(w, frix_joint_place(b, &ball, vec(here.x + 0.1, here.y, here.z), vec(0, 0, 1), vec(0, 0, 0), vec(0, 0, 0)));
    MUST(w, frix_builder_add_joint(b, &ball, NULL));
    MUST(w, frix_sim_change(w->sim, b));
    frix_builder_destroy(b);
  }
  if (when == 2) MUST(w, frix_sim_remove(w->sim, c->link[1]));
}

static double apart(fx_test *t, double h) {
  chain c[2];
  double most = 0;
  for (int k = 0; k < 2; k++) {
    c[k] = chain_new(t, k ? FRIX_COORDINATES_REDUCED : FRIX_COORDINATES_MAXIMAL, true);
    if (!world_start(&c[k].w)) return INFINITY;
    for (int n = 0; n < 4; n++) {
      run(&c[k].w, (int)lround(0.1 / h), h);
      if (n < 3) change(&c[k], n);
    }
    CHECK(t, ledger_gap(c[k].w.sim) < 1e-8);
  }
  for (int n = 0; n < LINKS; n++) {
    if (n == 1) continue;
    frix_vec3 p = state_of(&c[0].w, c[0].link[n]).center, q = state_of(&c[1].w, c[1].link[n]).center;
    most = fmax(most, hypot(hypot(p.x - q.x, p.y - q.y), p.z - q.z));
  }
  world_end(&c[0].w), world_end(&c[1].w);
  return most;
}

static void changes(fx_test *t) {
  double coarse = apart(t, 2e-3), fine = apart(t, 5e-4);
  CHECK(t, coarse < 5e-3 && fine < 0.4 * coarse);
  fx_test_note(t, "%.1e m at 2 ms, %.1e at 0.5 ms", coarse, fine);
}

/* Snapshots before and after changes, as bytes too. */
static void snapshots(fx_test *t) {
  chain c = chain_new(t, FRIX_COORDINATES_REDUCED, true);
  world *w = &c.w;
  REQUIRE(t, world_start(w));
  run(w, 20, 0.01);
  frix_snapshot *before = NULL, *open = NULL, *read = NULL;
  MUST(w, frix_sim_save(w->sim, &before));
  run(w, 20, 0.01);
  uint64_t far = hash_of(w);
  frix_pose pose = state_of(w, c.link[3]).pose;
  pose.p.z += 0.3;
  MUST(w, frix_sim_set_pose(w->sim, c.link[3], pose));
  MUST(w, frix_sim_save(w->sim, &open)); /* its trees are not made anew yet */
  run(w, 20, 0.01);
  uint64_t end = hash_of(w);
  frix_vec3 place = state_of(w, c.link[2]).center;
  MUST(w, frix_sim_restore(w->sim, before));
  run(w, 20, 0.01);
  CHECK(t, hash_of(w) == far);
  MUST(w, frix_sim_restore(w->sim, open));
  run(w, 20, 0.01);
  CHECK(t, hash_of(w) == end);
  unsigned char *bytes = NULL;
  size_t size = 0;
  MUST(w, frix_snapshot_encode(w->context, open, &bytes, &size));
  MUST(w, frix_snapshot_decode(w->context, w->model, bytes, size, &read));
  MUST(w, frix_sim_restore(w->sim, before));
  MUST(w, frix_sim_restore(w->sim, read)); /* poses and velocities tell the trees */
  run(w, 20, 0.01);
  CHECK_NEAR(t, state_of(w, c.link[2]).center.z, place.z, 1e-3);
  frix_bytes_free(w->context, bytes);
  frix_snapshot_destroy(before), frix_snapshot_destroy(open), frix_snapshot_destroy(read);
  world_end(w);
}

/* A chain comes to rest on the floor beside a damped pendulum: both sleep, and keep every bit; a ball wakes the chain.
 */
static void sleeping(fx_test *t) {
  chain c = chain_new(t, FRIX_COORDINATES_REDUCED, false);
  world *w = &c.w;
  w->config.sleep = true;
  world_plane(w, turned(0, 0, 0, 1));
  frix_body_id arm = world_body(w, body_at(at(5, 0, 1)), box_shape(0.1, 0.02, 0.02));
  frix_joint_config hinge = frix_joint_default(FRIX_JOINT_HINGE);
  hinge.b = arm;
  hinge.axis[0].damping = 0.05;
  frix_joint_id axle;
  MUST(w, frix_joint_place(w->builder, &hinge, vec(4.9, 0, 1), vec(0, 1, 0), vec(0, 0, 0), vec(0, 0, 0)));
  MUST(w, frix_builder_add_joint(w->builder, &hinge, &axle));
  frix_body_id ball = world_body(w, body_at(at(0.3, 0, 40)), sphere_shape(0.05));
  REQUIRE(t, world_start(w));
  run(w, 250, 0.01);
  for (int k = 0; k < LINKS; k++) CHECK(t, state_of(w, c.link[k]).asleep);
  CHECK(t, state_of(w, arm).asleep && !state_of(w, ball).asleep);
  frix_vec3 there = state_of(w, c.link[1]).center;
  frix_joint_state held;
  MUST(w, frix_sim_joint(w->sim, axle, &held));
  CHECK(t, held.force.z > 0); /* it still carries the arm */
  frix_step_report r = world_step(w, 0.01);
  CHECK(t, r.awake_count == 1);
  frix_vec3 here = state_of(w, c.link[1]).center;
  CHECK(t, !memcmp(&here, &there, sizeof here));
  for (int k = 0; k < 60; k++) world_step(w, 0.01); /* the ball falls on it */
  CHECK(t, !state_of(w, c.link[0]).asleep && !state_of(w, c.link[3]).asleep && state_of(w, arm).asleep);
  MUST(w, frix_sim_remove_joint(w->sim, axle));
  run(w, 10, 0.01);
  CHECK(t, state_of(w, arm).velocity.z < -0.5);
  CHECK(t, ledger_gap(w->sim) < 1e-8);
  world_end(w);
}

const fx_test_row test_tree_edits[] = {{"tree_edits/poses", poses},       {"tree_edits/velocities", velocities},
                                       {"tree_edits/changes", changes},   {"tree_edits/snapshots", snapshots},
                                       {"tree_edits/sleeping", sleeping}, {0}};
