/* Many sims at once: the bits of single runs, for any number of threads. */
#include "sim_world.h"

enum { SIMS = 24, STEPS = 40 };

/* A cart on a rail with dry friction, a pole on it, and boxes that fall. */
static world cart(fx_test *t) {
  world w = world_new(t, 0.5, 0.2);
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  frix_body_id body = world_body(&w, body_at(at(0, 0, 2)), box_shape(0.2, 0.1, 0.05));
  frix_body_id pole = world_body(&w, body_at(at(0, 0, 2.6)), box_shape(0.01, 0.01, 0.5));
  frix_joint_config rail = frix_joint_default(FRIX_JOINT_SLIDER), hinge = frix_joint_default(FRIX_JOINT_HINGE);
  rail.b = body, hinge.a = body, hinge.b = pole;
  rail.axis[0].friction = 0.5, rail.axis[0].motor = FRIX_MOTOR_FORCE;
  MUST(&w, frix_joint_place(w.builder, &rail, vec(0, 0, 2), vec(1, 0, 0), vec(0, 0, 0), vec(0, 0, 2)));
  MUST(&w, frix_joint_place(w.builder, &hinge, vec(0, 0, 2.05), vec(0, 1, 0), vec(0, 0, 0), vec(0, 0, 2.05)));
  MUST(&w, frix_builder_add_joint(w.builder, &rail, NULL));
  MUST(&w, frix_builder_add_joint(w.builder, &hinge, NULL));
  for (int k = 0; k < 3; k++) world_body(&w, body_at(at(0.3 * k, 3, 0.2 + 0.3 * k)), box_shape(0.1, 0.1, 0.1));
  CHECK(t, world_start(&w));
  return w;
}

static frix_batch *batch_of(world *w, int32_t threads) {
  frix_batch_config config = frix_batch_default();
  frix_batch *batch = NULL;
  config.count = SIMS, config.thread_count = threads;
  MUST(w, frix_batch_create(w->context, w->model, &config, &batch));
  return batch;
}

static double control_of(int sim, int step) { return 3.0 * ((sim * 7 + step * 3) % 11 - 5); }

/* The hash of sim k after its rollout, and what was watched, one sim at a time. */
static uint64_t alone(world *w, int k, double *watched) {
  frix_sim *sim = NULL;
  MUST(w, frix_sim_create(w->context, w->model, NULL, &sim));
  for (int n = 0; n < STEPS; n++) {
    frix_axis_config axis;
    MUST(w, frix_sim_axis(sim, (frix_joint_id){1, 1}, 0, &axis));
    axis.target = control_of(k, n);
    MUST(w, frix_sim_set_axis(sim, (frix_joint_id){1, 1}, 0, &axis));
    MUST(w, frix_sim_add_force(sim, (frix_body_id){3, 1}, vec(0, 0.1 * k, 0), vec(0, 0, 0)));
    MUST(w, frix_sim_step(sim, 0.01, NULL));
    frix_joint_state joint;
    frix_body_state body;
    MUST(w, frix_sim_joint(sim, (frix_joint_id){2, 1}, &joint));
    MUST(w, frix_sim_body(sim, (frix_body_id){3, 1}, &body));
    watched[2 * n] = joint.coordinate[0], watched[2 * n + 1] = body.center.y;
  }
  uint64_t hash = 0;
  frix_sim_hash(sim, &hash);
  frix_sim_destroy(sim);
  return hash;
}

static void rollout_bits(fx_test *t) {
  world w = cart(t);
  static double value[SIMS][STEPS][2], out[SIMS][STEPS][2], single[STEPS][2], residual[SIMS][STEPS];
  static uint8_t certified[SIMS][STEPS];
  uint64_t hash[SIMS];
  for (int k = 0; k < SIMS; k++)
    for (int n = 0; n < STEPS; n++) value[k][n][0] = control_of(k, n), value[k][n][1] = 0.1 * k;
  const frix_channel control[2] = {{.kind = FRIX_CHANNEL_TARGET, .joint = {1, 1}},
                                   {.kind = FRIX_CHANNEL_FORCE, .body = {3, 1}, .axis = 1}};
  const frix_channel watch[2] = {{.kind = FRIX_CHANNEL_COORDINATE, .joint = {2, 1}},
                                 {.kind = FRIX_CHANNEL_CENTER, .body = {3, 1}, .axis = 1}};
  for (int32_t threads = 1; threads <= 8; threads *= 2) {
    frix_batch *batch = batch_of(&w, threads);
    frix_rollout r = frix_rollout_default();
    r.step_count = STEPS, r.control_count = r.watch_count = 2;
    r.control = control, r.value = &value[0][0][0], r.watch = watch, r.out = &out[0][0][0];
    r.residual = &residual[0][0], r.certified = &certified[0][0];
    MUST(&w, frix_batch_rollout(batch, &r));
    for (int k = 0; k < SIMS; k++) {
      uint64_t now = 0;
      frix_sim_hash(frix_batch_sim(batch, k), &now);
      if (threads == 1) {
        hash[k] = alone(&w, k, &single[0][0]);
        CHECK(t, memcmp(single, out[k], sizeof single) == 0);
        for (int n = 0; n < STEPS; n++) CHECK(t, certified[k][n] && residual[k][n] <= 1e-8);
      }
      CHECK(t, now == hash[k]);
    }
    CHECK(t, hash[0] != hash[1]);
    frix_batch_destroy(batch);
  }
  world_end(&w);
}

/* Controls of a robot in reduced coordinates, its coordinates and sensors watched: any number of threads gives the bits
 * of sims that are driven one by one. */
static void rollout_robots(fx_test *t) {
  static const char text[] =
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .2'><joint name='j' axis='0 1 0' "
      "frictionloss='.2'/>"
      "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.03'/></body></worldbody><actuator><motor "
      "joint='j'/></actuator>"
      "<sensor><jointpos joint='j'/></sensor></mujoco>";
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "built without expat");
    return;
  }
  static double value[SIMS][STEPS], out[SIMS][STEPS][3];
  for (int k = 0; k < SIMS; k++)
    for (int n = 0; n < STEPS; n++) value[k][n] = control_of(k, n);
  frix_context *context = NULL;
  frix_mjcf *file = NULL;
  frix_mjcf_config reading = frix_mjcf_default();
  reading.coordinates = FRIX_COORDINATES_REDUCED;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  REQUIRE(t, frix_mjcf_read_memory(context, "arm.xml", text, sizeof text - 1, &reading, &file) == FRIX_OK);
  const frix_model *model = frix_mjcf_view(file).model;
  const frix_channel control = {.kind = FRIX_CHANNEL_CTRL};
  const frix_channel watch[3] = {
      {.kind = FRIX_CHANNEL_QPOS}, {.kind = FRIX_CHANNEL_QVEL}, {.kind = FRIX_CHANNEL_SENSOR}};
  for (int32_t threads = 1; threads <= 8; threads *= 2) {
    frix_batch_config config = frix_batch_default();
    frix_batch *batch = NULL;
    config.count = SIMS, config.thread_count = threads;
    REQUIRE(t, frix_batch_create(context, model, &config, &batch) == FRIX_OK);
    frix_rollout r = frix_rollout_default();
    r.h = 0.01, r.step_count = STEPS, r.control_count = 1, r.watch_count = 3;
    r.control = &control, r.value = &value[0][0], r.watch = watch, r.out = &out[0][0][0];
    CHECK(t, frix_batch_rollout(batch, &r) == FRIX_OK);
    for (int k = 0; k < SIMS; k++) {
      frix_sim *sim = NULL;
      REQUIRE(t, frix_sim_create(context, model, NULL, &sim) == FRIX_OK);
      for (int n = 0; n < STEPS; n++) {
        frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_CTRL, NULL)[0] = value[k][n];
        CHECK(t, frix_sim_step(sim, 0.01, NULL) == FRIX_OK);
        double q = frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_QPOS, NULL)[0];
        CHECK(t, out[k][n][0] == q && out[k][n][2] == q);
        CHECK(t, out[k][n][1] == frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_QVEL, NULL)[0]);
      }
      frix_sim_destroy(sim);
    }
    const frix_channel wrong = {.kind = FRIX_CHANNEL_CTRL, .axis = 1};
    r.control = &wrong;
    CHECK(t, frix_batch_rollout(batch, &r) == FRIX_ERROR_INPUT);
    frix_batch_destroy(batch);
  }
  frix_mjcf_destroy(file);
  frix_context_destroy(context);
}

/* From snapshots, and back again: the same once more. */
static void rollout_starts(fx_test *t) {
  world w = cart(t);
  frix_batch *batch = batch_of(&w, 2);
  const frix_snapshot *start[SIMS];
  frix_snapshot *first = NULL;
  MUST(&w, frix_sim_step(w.sim, 0.01, NULL));
  MUST(&w, frix_sim_save(w.sim, &first));
  for (int k = 0; k < SIMS; k++) start[k] = first;
  const frix_channel watch = {.kind = FRIX_CHANNEL_CENTER, .body = {1, 1}, .axis = 2};
  double out[2][SIMS][STEPS];
  frix_rollout r = frix_rollout_default();
  r.step_count = STEPS, r.watch_count = 1, r.watch = &watch, r.start = start;
  for (int again = 0; again < 2; again++) {
    r.out = &out[again][0][0];
    MUST(&w, frix_batch_rollout(batch, &r));
  }
  CHECK(t, memcmp(out[0], out[1], sizeof out[0]) == 0);
  CHECK(t, memcmp(out[0][0], out[0][SIMS - 1], sizeof out[0][0]) == 0);
  frix_snapshot_destroy(first);
  frix_batch_destroy(batch);
  world_end(&w);
}

static frix_status fail_some(frix_sim *sim, int32_t k, double h, void *user) {
  (void)h;
  ((int *)user)[k]++;
  return k % 5 == 3 && frix_sim_step_count(sim) == 4 ? FRIX_ERROR_INPUT : FRIX_OK;
}

/* A failing sim stops alone; the error names the first. */
static void failures(fx_test *t) {
  world w = cart(t);
  int calls[SIMS] = {0};
  frix_batch_config config = frix_batch_default();
  config.count = SIMS, config.thread_count = 2, config.before = fail_some, config.user = calls;
  frix_batch *batch = NULL;
  MUST(&w, frix_batch_create(w.context, w.model, &config, &batch));
  frix_step_report report[SIMS];
  CHECK(t, frix_batch_step(batch, 0.01, 10, report) == FRIX_ERROR_INPUT);
  CHECK(t, strstr(frix_error_text(w.context), "sim 3") != NULL);
  for (int k = 0; k < SIMS; k++) {
    CHECK(t, calls[k] == (k % 5 == 3 ? 5 : 10));
    CHECK(t, frix_sim_step_count(frix_batch_sim(batch, k)) == (k % 5 == 3 ? 4 : 10));
    CHECK(t, report[k].certified);
  }
  CHECK(t, frix_batch_sim(batch, SIMS) == NULL && frix_batch_count(batch) == SIMS);
  CHECK(t, frix_batch_step(batch, -1, 1, NULL) == FRIX_ERROR_INPUT);
  frix_rollout r = frix_rollout_default();
  frix_channel wrong = {.kind = FRIX_CHANNEL_CENTER, .body = {99, 1}};
  double out[SIMS];
  r.step_count = 1, r.watch_count = 1, r.watch = &wrong, r.out = out;
  CHECK(t, frix_batch_rollout(batch, &r) == FRIX_ERROR_INPUT);
  frix_batch_destroy(batch);
  world_end(&w);
}

const fx_test_row test_batch[] = {{"batch/rollout_bits", rollout_bits},
                                  {"batch/rollout_starts", rollout_starts},
                                  {"batch/failures", failures},
                                  {"batch/rollout_robots", rollout_robots},
                                  {0}};
