/* Belts, sensors, filters, changed laws, blows. */
#include "sim_world.h"

/* A box on a plane; the plane is shape 1. */
static world box_on_plane(fx_test *t, double height, frix_body_id *box) {
  world w = world_new(t, 0.5, 0);
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  *box = world_body(&w, body_at(at(0, 0, height)), box_shape(0.1, 0.1, 0.1));
  CHECK(t, world_start(&w));
  return w;
}

/* A box on a belt speeds up at mu g until it runs with it; the ledger balances, and friction takes as much as it gives:
 * work of the belt = kinetic energy + what friction turns to heat, each m v^2 / 2. */
static void belt(fx_test *t) {
  frix_body_id box;
  world w = box_on_plane(t, 0.1, &box);
  MUST(&w, frix_sim_set_belt(w.sim, (frix_shape_id){1, 1}, vec(1, 0, 0)));
  world_run(&w, 0.001, 0.1);
  CHECK_NEAR(t, state_of(&w, box).velocity.x, 0.5 * 9.81 * 0.1, 1e-6);
  world_run(&w, 0.001, 0.4);
  CHECK_NEAR(t, state_of(&w, box).velocity.x, 1, 1e-9);
  CHECK_NEAR(t, state_of(&w, box).center.z, 0.1, 1e-6);
  frix_energy e = frix_sim_energy(w.sim);
  double kinetic = e.kinetic, mass = 2 * kinetic;
  CHECK_NEAR(t, e.friction, 0.5 * mass, 0.01 * mass);
  CHECK_NEAR(t, e.work, mass, 0.01 * mass);
  CHECK_NEAR(t, ledger_gap(w.sim), 0, 1e-9 * mass);
  CHECK(t, w.unsolved == 0);
  MUST(&w, frix_sim_set_belt(w.sim, (frix_shape_id){1, 1}, vec(0, 0, 0)));
  world_run(&w, 0.001, 0.5);
  CHECK_NEAR(t, state_of(&w, box).velocity.x, 0, 1e-9);
  CHECK(t, frix_sim_set_belt(w.sim, (frix_shape_id){9, 1}, vec(0, 0, 0)) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_set_belt(w.sim, (frix_shape_id){1, 1}, vec(NAN, 0, 0)) == FRIX_ERROR_INPUT);
  world_end(&w);
}

/* Snapshots hold belts and sensors, in memory and as bytes. */
static void in_snapshots(fx_test *t) {
  frix_body_id box;
  world w = box_on_plane(t, 0.1, &box);
  frix_snapshot *plain = NULL, *running = NULL, *read = NULL;
  unsigned char *bytes = NULL;
  size_t size = 0;
  MUST(&w, frix_sim_save(w.sim, &plain));
  MUST(&w, frix_sim_set_belt(w.sim, (frix_shape_id){1, 1}, vec(1, 0, 0)));
  MUST(&w, frix_sim_set_sensor(w.sim, (frix_shape_id){2, 1}, false));
  MUST(&w, frix_sim_save(w.sim, &running));
  MUST(&w, frix_snapshot_encode(w.context, running, &bytes, &size));
  MUST(&w, frix_snapshot_decode(w.context, w.model, bytes, size, &read));
  frix_snapshot *list[] = {plain, running, read};
  for (int k = 0; k < 3; k++) {
    MUST(&w, frix_sim_restore(w.sim, list[k]));
    world_run(&w, 0.001, 0.1);
    CHECK_NEAR(t, state_of(&w, box).velocity.x, k ? 0.5 * 9.81 * 0.1 : 0, 1e-6);
  }
  for (size_t cut = 0; cut < size; cut += 7) { /* cut bytes are refused */
    frix_snapshot *none = NULL;
    CHECK(t, frix_snapshot_decode(w.context, w.model, bytes, cut, &none) != FRIX_OK && !none);
  }
  for (int k = 0; k < 3; k++) frix_snapshot_destroy(list[k]);
  frix_bytes_free(w.context, bytes);
  world_end(&w);
}

/* A ball falls through a sensor: it begins, lasts, ends, and nothing touches the ball. */
static void sensor(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  int mark = 7;
  frix_body_config gate = frix_body_default();
  gate.kind = FRIX_BODY_STATIC;
  frix_shape_config wide = box_shape(1, 1, 0.1);
  wide.user = &mark;
  world_body(&w, gate, wide);
  frix_body_id ball = world_body(&w, body_at(at(0, 0, 0.5)), sphere_shape(0.1));
  CHECK(t, world_start(&w));
  MUST(&w, frix_sim_set_sensor(w.sim, (frix_shape_id){1, 1}, true));
  int began = 0, lasted = 0, ended = 0;
  for (int k = 0; k < 60; k++) {
    world_step(&w, 0.01);
    CHECK(t, frix_sim_contact_count(w.sim) == 0);
    for (int32_t j = 0; j < frix_sim_sensor_event_count(w.sim); j++) {
      frix_sensor_event event;
      MUST(&w, frix_sim_sensor_event(w.sim, j, &event));
      CHECK(t, event.body.index == ball.index && event.sensor.index == 1 && event.sensor_user == &mark);
      began += event.phase == FRIX_CONTACT_BEGIN, lasted += event.phase == FRIX_CONTACT_PERSIST;
      ended += event.phase == FRIX_CONTACT_END;
    }
  }
  CHECK(t, began == 1 && ended == 1 && lasted > 3);
  CHECK_NEAR(t, state_of(&w, ball).velocity.z, -9.81 * 0.6, 1e-9);
  frix_sensor_event event;
  CHECK(t, frix_sim_sensor_event(w.sim, 99, &event) == FRIX_ERROR_INPUT);
  world_end(&w);
}

static bool upward_only(const frix_sim *sim, const frix_contact_pair *pair, void *user) {
  frix_body_state s;
  (void)user;
  frix_body_id body = pair->a.index ? pair->a : pair->b;
  return frix_sim_body(sim, body, &s) == FRIX_OK && s.center.x > 0;
}

static void make_ice(const frix_sim *sim, const frix_contact_pair *pair, frix_contact_law *law, void *user) {
  (void)sim, (void)pair;
  law->mu = *(const double *)user;
}

/* Contacts that the filter refuses are not there. */
static void filter(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  frix_body_id falls = world_body(&w, body_at(at(-1, 0, 0.1)), box_shape(0.1, 0.1, 0.1));
  frix_body_id stays = world_body(&w, body_at(at(1, 0, 0.1)), box_shape(0.1, 0.1, 0.1));
  w.config.projections = 1;
  CHECK(t, world_start(&w));
  frix_contact_hooks hooks = frix_contact_hooks_default();
  hooks.filter = upward_only;
  MUST(&w, frix_sim_set_hooks(w.sim, &hooks));
  world_run(&w, 0.01, 0.5);
  CHECK_NEAR(t, state_of(&w, falls).velocity.z, -9.81 * 0.5, 1e-9);
  CHECK_NEAR(t, state_of(&w, stays).center.z, 0.1, 1e-6);
  MUST(&w, frix_sim_set_hooks(w.sim, NULL));
  world_end(&w);
}

/* Friction of a sliding box follows the callback; a law out of range fails the step. */
static void modify(fx_test *t) {
  frix_body_id box;
  world w = box_on_plane(t, 0.1, &box);
  double mu = 0.2;
  frix_contact_hooks hooks = frix_contact_hooks_default();
  hooks.modify = make_ice, hooks.user = &mu;
  MUST(&w, frix_sim_set_hooks(w.sim, &hooks));
  MUST(&w, frix_sim_set_velocity(w.sim, box, vec(2, 0, 0), vec(0, 0, 0)));
  world_run(&w, 0.001, 0.1);
  CHECK_NEAR(t, state_of(&w, box).velocity.x, 2 - 0.2 * 9.81 * 0.1, 1e-6);
  mu = 0;
  double before = state_of(&w, box).velocity.x;
  world_run(&w, 0.001, 0.1);
  CHECK_NEAR(t, state_of(&w, box).velocity.x, before, 1e-9);
  mu = -1;
  CHECK(t, frix_sim_step(w.sim, 0.001, NULL) == FRIX_ERROR_INPUT);
  world_end(&w);
}

/* A blow beside the centre: m dv = J, and the change of angular momentum is its moment. */
static void impulse(fx_test *t) {
  frix_body_id box;
  world w = box_on_plane(t, 5, &box);
  frix_body_config body;
  MUST(&w, frix_model_body(w.model, box, &body));
  CHECK(t, frix_sim_model(w.sim) == w.model);
  frix_step_report report;
  CHECK(t, frix_sim_last_report(w.sim, &report) == FRIX_ERROR_INPUT);
  MUST(&w, frix_sim_add_impulse(w.sim, box, vec(0, 2, 0), vec(0.1, 0, 5)));
  frix_body_state s = state_of(&w, box);
  CHECK_NEAR(t, s.velocity.y, 2 / body.mass, 1e-12);
  CHECK_NEAR(t, s.spin.z, 0.2 / body.inertia.zz, 1e-12);
  world_step(&w, 0.01);
  MUST(&w, frix_sim_last_report(w.sim, &report));
  CHECK(t, report.certified);
  world_end(&w);
}

/* User data belongs to one instance: not to its siblings, not to what comes into its slot later. */
static void user_data(fx_test *t) {
  frix_body_id box, other, third;
  world w = box_on_plane(t, 5, &box);
  int mine = 1, its = 2;
  uint64_t before, after;
  frix_pose pose = {vec(2, 0, 5), {1, 0, 0, 0}};
  MUST(&w, frix_sim_spawn(w.sim, box, pose, vec(0, 0, 0), vec(0, 0, 0), &other));
  MUST(&w, frix_sim_hash(w.sim, &before));
  CHECK(t, frix_sim_user(w.sim, box) == NULL);
  MUST(&w, frix_sim_set_user(w.sim, other, &its));
  MUST(&w, frix_sim_set_user(w.sim, box, &mine));
  MUST(&w, frix_sim_hash(w.sim, &after));
  CHECK(t, frix_sim_user(w.sim, box) == &mine && frix_sim_user(w.sim, other) == &its && before == after);
  MUST(&w, frix_sim_remove(w.sim, other));
  CHECK(t, frix_sim_user(w.sim, other) == NULL && frix_sim_set_user(w.sim, other, &its) == FRIX_ERROR_INPUT);
  MUST(&w, frix_sim_spawn(w.sim, box, pose, vec(0, 0, 0), vec(0, 0, 0), &third));
  CHECK(t, third.index == other.index && frix_sim_user(w.sim, third) == NULL);
  for (int k = 0; k < 20; k++) MUST(&w, frix_sim_spawn(w.sim, box, pose, vec(0, 0, 0), vec(0, 0, 0), &third));
  MUST(&w, frix_sim_set_user(w.sim, third, &its));
  CHECK(t, frix_sim_user(w.sim, third) == &its && frix_sim_user(w.sim, box) == &mine);
  world_end(&w);
}

const fx_test_row test_hooks[] = {{"hooks/belt", belt},           {"hooks/in_snapshots", in_snapshots},
                                  {"hooks/sensor", sensor},       {"hooks/filter", filter},
                                  {"hooks/modify", modify},       {"hooks/impulse", impulse},
                                  {"hooks/user_data", user_data}, {0}};
