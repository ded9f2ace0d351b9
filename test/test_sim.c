/* The simulator from outside: ids, hands, events, snapshots, threads, memory, failures. */
#include "sim_world.h"

static const double g = 9.81;

/* Spheres and boxes thrown together, some hinged. */
static bool heap(world *w, int count, int threads) {
  w->config.thread_count = threads;
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_id last = {0, 0};
  for (int k = 0; k < count; k++) {
    frix_body_config b = body_at(at(0.25 * (k % 4), 0.25 * (k / 4 % 4), 0.2 + 0.3 * (k / 16)));
    b.velocity = vec(fx_test_random(w->t), fx_test_random(w->t), 0);
    b.spin = vec(3 * fx_test_random(w->t), 3 * fx_test_random(w->t), 0);
    frix_body_id id = world_body(w, b, k % 3 ? sphere_shape(0.1) : box_shape(0.1, 0.08, 0.06));
    if (k % 8 == 5) {
      frix_joint_config j = frix_joint_default(FRIX_JOINT_BALL);
      j.a = last, j.b = id;
      MUST(w, frix_joint_place(w->builder, &j, vec(0.25 * (k % 4) - 0.125, 0.25 * (k / 4 % 4), 0.2 + 0.3 * (k / 16)),
                               vec(0, 0, 1), vec(0, 0, 0), vec(0, 0, 0)));
      MUST(w, frix_builder_add_joint(w->builder, &j, NULL));
    }
    last = id;
  }
  frix_body_config pattern = body_at(at(0, 0, 0));
  pattern.spawn_only = true;
  pattern.name = "pattern";
  world_body(w, pattern, sphere_shape(0.1));
  return world_start(w);
}

static uint64_t hash_of(world *w) {
  uint64_t hash = 0;
  MUST(w, frix_sim_hash(w->sim, &hash));
  return hash;
}

static void ids(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  REQUIRE(t, heap(&w, 8, 1));
  frix_body_id pattern = frix_model_find_body(w.model, "pattern"), first, second;
  CHECK(t, frix_sim_body_count(w.sim) == 8);
  CHECK(t, !frix_sim_alive(w.sim, pattern));
  frix_body_state s;
  CHECK(t, frix_sim_body(w.sim, pattern, &s) == FRIX_ERROR_INPUT);
  MUST(&w, frix_sim_spawn(w.sim, pattern, at(0, 0, 3), vec(0, 0, 0), vec(0, 0, 0), &first));
  CHECK(t, frix_sim_alive(w.sim, first) && frix_sim_body_count(w.sim) == 9);
  world_run(&w, 0.01, 0.1);
  MUST(&w, frix_sim_body(w.sim, first, &s));
  CHECK(t, s.center.z < 3);
  MUST(&w, frix_sim_remove(w.sim, first));
  CHECK(t, frix_sim_remove(w.sim, first) == FRIX_ERROR_INPUT);
  CHECK(t, strstr(frix_error_text(w.context), "no such body"));
  MUST(&w, frix_sim_spawn(w.sim, pattern, at(0, 0, 4), vec(0, 0, 0), vec(0, 0, 0), &second));
  CHECK(t, first.index == second.index && first.generation != second.generation);
  CHECK(t, frix_sim_body(w.sim, first, &s) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_add_force(w.sim, first, vec(1, 0, 0), vec(0, 0, 0)) == FRIX_ERROR_INPUT);
  /* a jointed body goes, its joint with it */
  frix_body_id jointed = frix_model_body_at(w.model, 5);
  frix_joint_state j;
  MUST(&w, frix_sim_joint(w.sim, frix_model_joint_at(w.model, 0), &j));
  CHECK(t, j.active);
  MUST(&w, frix_sim_remove(w.sim, jointed));
  world_run(&w, 0.01, 0.2);
  MUST(&w, frix_sim_joint(w.sim, frix_model_joint_at(w.model, 0), &j));
  CHECK(t, !j.active);
  CHECK(t, ledger_gap(w.sim) < 1e-11);
  world_end(&w);
}

/* Nothing of this may crash or change the state. */
static void misuse(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  REQUIRE(t, heap(&w, 4, 1));
  frix_body_id body = frix_model_body_at(w.model, 0), stale = {99, 7}, world_id = {0, 0};
  frix_sim *sim = w.sim;
  uint64_t before = hash_of(&w);
  frix_body_state s;
  frix_vec3 v, nan3 = vec(NAN, 0, 0), inf3 = vec(0, INFINITY, 0), zero = vec(0, 0, 0);
  frix_contact_report c;
  frix_joint_state j;
  frix_axis_config axis = {0};
  frix_problem *problem;
  frix_snapshot *snapshot;
  CHECK(t, frix_sim_step(NULL, 0.01, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_step(sim, 0, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_step(sim, -1, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_step(sim, NAN, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_step_within(sim, 0.01, NAN, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_body(sim, stale, &s) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_body(sim, body, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_body(sim, world_id, &s) == FRIX_OK);
  CHECK(t, frix_sim_remove(sim, world_id) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_add_force(sim, body, nan3, zero) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_add_force(sim, body, zero, inf3) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_add_force_at(sim, body, zero, nan3) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_add_force_at(sim, stale, zero, zero) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_add_slope(sim, body, (frix_sym3){-1, 1, 1, 0, 0, 0}, (frix_sym3){0}, (frix_sym3){0}) ==
               FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_set_velocity(sim, body, nan3, zero) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_set_pose(sim, body, (frix_pose){{0, 0, 0}, {0, 0, 0, 0}}) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_move_to(sim, body, at(0, 0, 0), 0.01) == FRIX_ERROR_INPUT); /* not kinematic */
  CHECK(t, frix_sim_spawn(sim, stale, at(0, 0, 0), zero, zero, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_spawn(sim, body, at(NAN, 0, 0), zero, zero, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_set_gravity(sim, nan3) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_contact(sim, 0, &c) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_contact(sim, -1, &c) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_pair_force(sim, stale, body, &v, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_joint(sim, (frix_joint_id){5, 1}, &j) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_set_axis(sim, (frix_joint_id){1, 1}, 7, &axis) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_problem(sim, &problem) == FRIX_ERROR_INPUT); /* no step yet */
  CHECK(t, frix_sim_save(NULL, &snapshot) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_restore(sim, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, hash_of(&w) == before);
  frix_sim_destroy(NULL);
  frix_snapshot_destroy(NULL);
  CHECK(t, frix_sim_time(NULL) == 0 && frix_sim_body_count(NULL) == 0 && !frix_sim_alive(NULL, body));

  frix_sim *other;
  frix_sim_config config = frix_sim_default();
  config.integrator = "morau";
  CHECK(t, frix_sim_create(w.context, w.model, &config, &other) == FRIX_ERROR_INPUT);
  CHECK(t, strstr(frix_error_text(w.context), "moreau"));
  config = frix_sim_default();
  config.tolerance = 0;
  CHECK(t, frix_sim_create(w.context, w.model, &config, &other) == FRIX_ERROR_INPUT);
  config = frix_sim_default();
  config.size = 3;
  CHECK(t, frix_sim_create(w.context, w.model, &config, &other) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_create(w.context, NULL, NULL, &other) == FRIX_ERROR_INPUT);
  world_end(&w);
}

/* Events: a ball lands, stays and is taken away; forces add up to its weight. */
static void events(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  world_plane(&w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(0, 0, 0.15));
  b.mass = 2;
  frix_body_id ball = world_body(&w, b, sphere_shape(0.1)),
               box = world_body(&w, body_at(at(3, 0, 0.1)), box_shape(0.1, 0.1, 0.1));
  REQUIRE(t, world_start(&w));
  int begins = 0, persists = 0, ends = 0;
  uint64_t id = 0;
  for (int k = 0; k < 100; k++) {
    world_step(&w, 0.01);
    for (int n = 0; n < frix_sim_contact_count(w.sim); n++) {
      frix_contact_report c;
      MUST(&w, frix_sim_contact(w.sim, n, &c));
      bool ours = c.b.index == ball.index || c.a.index == ball.index;
      if (!ours) continue;
      if (c.phase == FRIX_CONTACT_BEGIN) id = c.id;
      begins += c.phase == FRIX_CONTACT_BEGIN, persists += c.phase == FRIX_CONTACT_PERSIST,
          ends += c.phase == FRIX_CONTACT_END;
      CHECK(t, c.id == id);
      if (k == 60) {
        CHECK_NEAR(t, fabs(c.force.z), 2 * g, 1e-9);
        CHECK_NEAR(t, fabs(c.normal.z), 1, 1e-15);
        CHECK(t, c.state == FRIX_CONTACT_STICK && c.margin < 1e-6);
      }
    }
    if (k == 60) {
      frix_vec3 force, torque;
      MUST(&w, frix_sim_pair_force(w.sim, ball, (frix_body_id){0, 0}, &force, &torque));
      CHECK_NEAR(t, force.z, 2 * g, 1e-9);
      MUST(&w, frix_sim_pair_force(w.sim, (frix_body_id){0, 0}, ball, &force, NULL));
      CHECK_NEAR(t, force.z, -2 * g, 1e-9);
      MUST(&w, frix_sim_pair_force(w.sim, ball, box, &force, NULL));
      CHECK(t, force.z == 0);
    }
    if (k == 80) MUST(&w, frix_sim_set_pose(w.sim, ball, at(0, 0, 5)));
  }
  CHECK(t, begins == 1 && ends == 1 && persists > 50);
  /* a pushed box slips, and its margin says so */
  for (int k = 0; k < 5; k++) {
    MUST(&w, frix_sim_add_force(w.sim, box, vec(8 * 0.7 * g, 0, 0), vec(0, 0, 0)));
    world_step(&w, 0.01);
  }
  int slips = 0;
  for (int n = 0; n < frix_sim_contact_count(w.sim); n++) {
    frix_contact_report c;
    MUST(&w, frix_sim_contact(w.sim, n, &c));
    if (c.b.index == box.index || c.a.index == box.index)
      slips += c.state == FRIX_CONTACT_SLIP && fabs(c.margin - 1) < 1e-6;
  }
  CHECK(t, slips >= 2);
  world_end(&w);
}

/* Snapshots at random steps, and going on from each: the same bits. */
static void snapshots(fx_test *t) {
  world w = world_new(t, 0.5, 0.3);
  REQUIRE(t, heap(&w, 24, 1));
  frix_snapshot *kept[4] = {0};
  int taken[4] = {7, 31, 60, 90};
  for (int k = 0; k < 120; k++) {
    for (int n = 0; n < 4; n++)
      if (k == taken[n]) MUST(&w, frix_sim_save(w.sim, &kept[n]));
    world_step(&w, 0.01);
  }
  uint64_t end = hash_of(&w);
  frix_sim *other = NULL;
  MUST(&w, frix_sim_create(w.context, w.model, &w.config, &other));
  for (int n = 0; n < 4; n++) {
    frix_sim *sim = n % 2 ? other : w.sim;
    MUST(&w, frix_sim_restore(sim, kept[n]));
    CHECK(t, frix_sim_step_count(sim) == taken[n]);
    for (int k = taken[n]; k < 120; k++) MUST(&w, frix_sim_step(sim, 0.01, NULL));
    uint64_t hash = 0;
    MUST(&w, frix_sim_hash(sim, &hash));
    CHECK(t, hash == end);
    frix_snapshot_destroy(kept[n]);
  }
  frix_sim_destroy(other);
  world_end(&w);
}

static void threads(fx_test *t) {
  uint64_t first = 0;
  for (int count = 1; count <= 4; count *= 2) {
    world w = world_new(t, 0.5, 0);
    /* the random numbers of a test go on: take the same ones each time */
    world_plane(&w, turned(0, 1, 0, 0));
    for (int k = 0; k < 30; k++) {
      frix_body_config b = body_at(at(0.21 * (k % 4), 0.21 * (k / 4 % 4), 0.15 + 0.21 * (k / 16)));
      b.velocity = vec(0.1 * (k % 3), 0.1 * (k % 7), 0);
      world_body(&w, b, k % 3 ? sphere_shape(0.1) : box_shape(0.1, 0.08, 0.06));
    }
    w.config.thread_count = count;
    REQUIRE(t, world_start(&w));
    world_run(&w, 0.01, 0.5);
    uint64_t hash = hash_of(&w);
    if (count == 1) first = hash;
    CHECK(t, hash == first);
    if (count == 4) fx_test_note(t, "hash %016llx", (unsigned long long)hash);
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }
}

/* Enough contacts that every loop of a step is divided: blocks that touch on all sides, pushed against each other. */
static void threads_crowd(fx_test *t) {
  enum { SIDE = 5, LAYERS = 6, STEPS = 2, MANY = 2000 };
  uint64_t first = 0;
  for (int count = 1; count <= 2; count++) {
    world w = world_new(t, 0.5, 0);
    world_plane(&w, turned(0, 1, 0, 0));
    for (int k = 0; k < SIDE * SIDE * LAYERS; k++) {
      frix_body_config b = body_at(at(0.2 * (k % SIDE), 0.2 * (k / SIDE % SIDE), 0.1 + 0.2 * (k / SIDE / SIDE)));
      b.velocity = vec(0.1 * (3 - k % 7), 0.1 * (k % 5 - 2), 0.05 * (k % 3));
      world_body(&w, b, box_shape(0.1, 0.1, 0.1));
    }
    w.config.thread_count = count;
    REQUIRE(t, world_start(&w));
    int32_t contacts = 0;
    for (int step = 0; step < STEPS; step++) {
      world_run(&w, 0.01, 0.01);
      if (frix_sim_contact_count(w.sim) > contacts) contacts = frix_sim_contact_count(w.sim);
    }
    uint64_t hash = hash_of(&w);
    if (count == 1) first = hash;
    CHECK(t, hash == first);
    CHECK(t, contacts > MANY);
    CHECK(t, w.unsolved == 0);
    if (count == 2) fx_test_note(t, "%d contacts", contacts);
    world_end(&w);
  }
}

/* A context that counts: steps at rest ask for no memory. */
static void *count_allocate(size_t bytes, void *user) {
  ++*(int64_t *)user;
  return malloc(bytes);
}

static void count_release(void *pointer, size_t bytes, void *user) {
  (void)bytes;
  (void)user;
  free(pointer);
}

static frix_status build(frix_context *context, frix_model **model) {
  frix_builder *builder = NULL;
  frix_status status = frix_builder_create(context, &builder);
  frix_shape_config plane = frix_shape_default();
  plane.kind = FRIX_SHAPE_PLANE;
  if (!status) status = frix_builder_add_shape(builder, (frix_body_id){0, 0}, &plane, NULL);
  for (int k = 0; k < 6 && !status; k++) {
    frix_body_config b = body_at(at(0.01 * k, 0, 0.1 + 0.2 * k));
    frix_body_id id;
    frix_shape_config s = box_shape(0.1, 0.1, 0.1);
    status = frix_builder_add_body(builder, &b, &id);
    if (!status) status = frix_builder_add_shape(builder, id, &s, NULL);
  }
  if (!status) status = frix_builder_compile(builder, model);
  frix_builder_destroy(builder);
  return status;
}

static void memory(fx_test *t) {
  int64_t calls = 0;
  frix_context_config config = frix_context_default();
  config.allocate = count_allocate, config.release = count_release, config.user = &calls;
  frix_context *context;
  REQUIRE(t, frix_context_create(&config, &context) == FRIX_OK);
  frix_model *model = NULL;
  frix_sim *sim = NULL;
  REQUIRE(t, build(context, &model) == FRIX_OK);
  REQUIRE(t, frix_sim_create(context, model, NULL, &sim) == FRIX_OK);
  for (int k = 0; k < 100; k++) CHECK(t, frix_sim_step(sim, 0.01, NULL) == FRIX_OK);
  int64_t before = calls;
  for (int k = 0; k < 200; k++) CHECK(t, frix_sim_step(sim, 0.01, NULL) == FRIX_OK);
  CHECK(t, calls == before);
  fx_test_note(t, "%d allocations to warm up, %d in 200 steps after", (int)before, (int)(calls - before));
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

/* Asleep, and exactly awake: touched by a falling ball, pulled, or left without support. */
static void sleeping(fx_test *t) {
  world w = rigid_world(t, 0.5, 0);
  w.config.sleep = true;
  world_plane(&w, turned(0, 1, 0, 0));
  frix_body_id tower[3];
  for (int k = 0; k < 3; k++) tower[k] = world_body(&w, body_at(at(0, 0, 0.1 + 0.2 * k)), box_shape(0.1, 0.1, 0.1));
  frix_body_id far = world_body(&w, body_at(at(5, 0, 0.1)), box_shape(0.1, 0.1, 0.1));
  frix_body_id ball = world_body(&w, body_at(at(0.02, 0, 8)), sphere_shape(0.1));
  REQUIRE(t, world_start(&w));
  frix_step_report r = {0};
  for (int k = 0; k < 100; k++) r = world_step(&w, 0.01);
  CHECK(t, state_of(&w, tower[0]).asleep && state_of(&w, tower[2]).asleep && state_of(&w, far).asleep);
  CHECK(t, r.awake_count == 1);
  for (int k = 0; k < 40; k++) world_step(&w, 0.01); /* the ball lands */
  CHECK(t, !state_of(&w, tower[0]).asleep && !state_of(&w, tower[2]).asleep && state_of(&w, far).asleep);
  CHECK(t, state_of(&w, ball).center.z < 1);
  for (int k = 0; k < 400; k++) world_step(&w, 0.01);
  CHECK(t, state_of(&w, tower[0]).asleep);
  MUST(&w, frix_sim_remove(w.sim, tower[0]));
  for (int k = 0; k < 60; k++) world_step(&w, 0.01);
  CHECK(t, state_of(&w, tower[1]).center.z < 0.11);
  CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-9);
  MUST(&w, frix_sim_add_force(w.sim, far, vec(100, 0, 0), vec(0, 0, 0)));
  world_step(&w, 0.01);
  CHECK(t, state_of(&w, far).velocity.x > 0);
  world_end(&w);
}

/* Policies and deadlines. */
static void policies(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  w.config.policy = FRIX_POLICY_STRICT;
  w.config.max_iterations = 1;
  w.config.solver = "nsgs";
  w.config.seek_rest = false;
  w.config.polish = 0;
  world_plane(&w, turned(0, 1, 0, 0));
  for (int k = 0; k < 8; k++) world_body(&w, body_at(at(0.02 * k, 0, 0.1 + 0.2 * k)), box_shape(0.1, 0.1, 0.1));
  REQUIRE(t, world_start(&w));
  uint64_t before = hash_of(&w);
  frix_step_report r;
  CHECK(t, frix_sim_step(w.sim, 0.01, &r) == FRIX_ERROR_CERTIFICATE);
  CHECK(t, hash_of(&w) == before && !r.certified && frix_sim_step_count(w.sim) == 0);
  CHECK(t, strstr(frix_error_text(w.context), "residual") && strstr(frix_error_text(w.context), "tolerance"));
  frix_sim_destroy(w.sim);
  w.config.policy = FRIX_POLICY_REPORT;
  MUST(&w, frix_sim_create(w.context, w.model, &w.config, &w.sim));
  double start = frix_sim_energy(w.sim).start;
  for (int k = 0; k < 200; k++) {
    MUST(&w, frix_sim_step(w.sim, 0.01, &r));
    frix_energy e = frix_sim_energy(w.sim);
    CHECK(t, e.kinetic + e.potential < start * 1.01);
  }
  frix_sim_destroy(w.sim);
  w.config = frix_sim_default();
  MUST(&w, frix_sim_create(w.context, w.model, &w.config, &w.sim));
  for (int k = 0; k < 50; k++) MUST(&w, frix_sim_step_within(w.sim, 0.01, 20, &r)); /* far too little, and yet */
  frix_energy e = frix_sim_energy(w.sim);
  CHECK(t, e.kinetic + e.potential < start * 1.01);
  world_end(&w);
}

/* Strict in the middle of a run, with joints, sleepers, contacts and forces underway: a step that fails changes
 * nothing, however often it is tried, and the world goes on from there once its cause is gone. */
static void strict_run(fx_test *t) {
  world w = world_new(t, 0.5, 0.3);
  w.config.policy = FRIX_POLICY_STRICT;
  w.config.solver = "nsgs";
  w.config.max_iterations = 40;
  w.config.seek_rest = false;
  w.config.polish = 0;
  w.config.sleep = true;
  REQUIRE(t, heap(&w, 12, 1));
  frix_body_id thrown = frix_model_body_at(w.model, 3);
  frix_status status = FRIX_OK;
  frix_step_report r = {0};
  frix_energy energy = {0};
  frix_contact_report contact = {0}, again = {0};
  uint64_t before = 0;
  for (int k = 0; k < 400 && status == FRIX_OK; k++) {
    MUST(&w, frix_sim_add_force(w.sim, thrown, vec(0.1, 0, 0), vec(0, 0, 0.01)));
    before = hash_of(&w), energy = frix_sim_energy(w.sim), contact = (frix_contact_report){0};
    if (frix_sim_contact_count(w.sim)) MUST(&w, frix_sim_contact(w.sim, 0, &contact));
    status = frix_sim_step(w.sim, 0.01, &r);
  }
  CHECK(t, status == FRIX_ERROR_CERTIFICATE && !r.certified && frix_sim_step_count(w.sim) > 5);
  CHECK(t, hash_of(&w) == before);
  CHECK(t, frix_sim_step(w.sim, 0.01, &r) == FRIX_ERROR_CERTIFICATE && hash_of(&w) == before);
  frix_energy now = frix_sim_energy(w.sim);
  CHECK(t, !memcmp(&now, &energy, sizeof now));
  if (frix_sim_contact_count(w.sim)) MUST(&w, frix_sim_contact(w.sim, 0, &again));
  CHECK(t, again.id == contact.id && again.force.z == contact.force.z);
  frix_snapshot *snapshot = NULL;
  MUST(&w, frix_sim_save(w.sim, &snapshot));
  frix_sim_destroy(w.sim);
  w.config.solver = NULL, w.config.max_iterations = 0;
  MUST(&w, frix_sim_create(w.context, w.model, &w.config, &w.sim));
  MUST(&w, frix_sim_restore(w.sim, snapshot));
  CHECK(t, hash_of(&w) == before);
  MUST(&w, frix_sim_step(w.sim, 0.01, &r));
  CHECK(t, r.certified && hash_of(&w) != before);
  frix_snapshot_destroy(snapshot);
  world_end(&w);
}

/* A kinematic plate carries, a conveyor drags; their work is booked. */
static void kinematic(fx_test *t) {
  world w = rigid_world(t, 0.5, 0);
  frix_body_config plate = body_at(at(0, 0, -0.1));
  plate.kind = FRIX_BODY_KINEMATIC;
  frix_body_id lift = world_body(&w, plate, box_shape(1, 1, 0.1));
  frix_body_config b = body_at(at(0, 0, 0.1));
  b.mass = 1;
  frix_body_id box = world_body(&w, b, box_shape(0.1, 0.1, 0.1));
  REQUIRE(t, world_start(&w));
  MUST(&w, frix_sim_set_velocity(w.sim, lift, vec(0, 0, 0.5), vec(0, 0, 0)));
  world_run(&w, 0.01, 1);
  CHECK_NEAR(t, state_of(&w, box).center.z, 0.6, 1e-9);
  /* weight, and the jerk at the start: m v^2, of which half is lost in the impact */
  CHECK_NEAR(t, frix_sim_energy(w.sim).work, g * 0.5 + 0.25, 1e-9);
  CHECK_NEAR(t, frix_sim_energy(w.sim).impact, 0.125 + 0.5 * g * 0.01 * 0.5,
             1e-9); /* and the weight of that one step */
  MUST(&w, frix_sim_set_velocity(w.sim, lift, vec(0.3, 0, 0), vec(0, 0, 0)));
  world_run(&w, 0.01, 1);
  CHECK_NEAR(t, state_of(&w, box).velocity.x, 0.3, 1e-9);
  MUST(&w, frix_sim_move_to(w.sim, lift, (frix_pose){{0.5, 0, 0.4}, turned(0.1, 0, 0, 1)}, 0.5));
  world_run(&w, 0.01, 0.5);
  CHECK_NEAR(t, state_of(&w, lift).pose.p.x, 0.5, 1e-12);
  CHECK_NEAR(t, state_of(&w, lift).pose.q.z, sin(0.05), 1e-12);
  CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-11);
  world_end(&w);
}

/* What holds a box on a slope is friction, and the report says so. */
static void holds_on_slope(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  MUST(&w, frix_builder_set_gravity(w.builder, vec(3, 0, -9)));
  world_plane(&w, turned(0, 1, 0, 0));
  frix_body_config c = body_at(at(0, 0, 0.1));
  c.mass = 2;
  frix_body_id box = world_body(&w, c, box_shape(0.1, 0.1, 0.1));
  REQUIRE(t, world_start(&w));
  for (int k = 0; k < 5; k++) world_step(&w, 0.01);
  frix_vec3 force, torque;
  MUST(&w, frix_sim_pair_force(w.sim, box, (frix_body_id){0, 0}, &force, &torque));
  CHECK_NEAR(t, force.x, -6, 1e-6);
  CHECK_NEAR(t, force.z, 18, 1e-6);
  CHECK_NEAR(t, torque.y, 0, 1e-6);
  world_end(&w);
}

/* Anisotropic, rolling and spinning friction. */
static void surfaces(fx_test *t) {
  /* slippery along x (0.1), rough along y (0.6) */
  for (int side = 0; side < 2; side++) {
    world w = world_new(t, 0.5, 0);
    frix_material_config m = frix_material_default(), plain = m;
    m.mu = 0.1, m.mu2 = 0.6, m.axis = vec(1, 0, 0);
    frix_material_id rough, ice;
    MUST(&w, frix_builder_add_material(w.builder, &m, &ice));
    MUST(&w, frix_builder_add_material(w.builder, &plain, &rough));
    MUST(&w, frix_builder_set_pair(w.builder, ice, rough, &m));
    w.material = ice;
    world_plane(&w, turned(0, 1, 0, 0));
    frix_body_config b = body_at(at(0, 0, 0.05));
    b.velocity = side ? vec(0, 1, 0) : vec(1, 0, 0);
    frix_shape_config s = box_shape(0.2, 0.2, 0.05);
    s.material = rough;
    frix_body_id box = world_body(&w, b, s);
    REQUIRE(t, world_start(&w));
    world_run(&w, 0.001, 1.5);
    frix_vec3 c = state_of(&w, box).center;
    double mu = side ? 0.6 : 0.1;
    CHECK_NEAR(t, side ? c.y : c.x, 1 / (2 * mu * g), 2e-3);
    CHECK_NEAR(t, side ? c.x : c.y, 0, 1e-9);
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }
  /* a ball with rolling friction d stops after 7/10 v^2 / (g d / r); a spinning one after 2/5 r^2 w / (g d) */
  world w = rigid_world(t, 0.5, 0);
  frix_material_config m = frix_material_default();
  m.rolling = 0.002, m.spinning = 0.001;
  MUST(&w, frix_builder_add_material(w.builder, &m, &w.material));
  world_plane(&w, turned(0, 1, 0, 0));
  double r = 0.1, v = 0.5, spin = 5;
  frix_body_config b = body_at(at(0, 0, r));
  b.velocity = vec(v, 0, 0), b.spin = vec(0, v / r, 0);
  frix_body_id roller = world_body(&w, b, sphere_shape(r));
  b = body_at(at(0, 3, r));
  b.spin = vec(0, 0, spin);
  frix_body_id top = world_body(&w, b, sphere_shape(r));
  REQUIRE(t, world_start(&w));
  double stop = 0;
  for (int k = 0; k < 4000; k++) {
    world_step(&w, 0.001);
    if (state_of(&w, top).spin.z > 1e-9) stop = frix_sim_time(w.sim);
  }
  CHECK_NEAR(t, state_of(&w, roller).center.x, 0.7 * v * v / (g * 0.002 / r), 3e-3);
  CHECK_NEAR(t, state_of(&w, roller).velocity.x, 0, 1e-9);
  CHECK_NEAR(t, stop, 0.4 * r * r * spin / (g * 0.001), 5e-3);
  CHECK(t, w.unsolved == 0);
  world_end(&w);
}

/* A compliant block on a slope: springs with memory hold it without creep. */
static void compliance(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  frix_material_config m = frix_material_default();
  m.mu = 0.5, m.stiffness = 1e6;
  MUST(&w, frix_builder_add_material(w.builder, &m, &w.material));
  double angle = 0.4;
  frix_quat q = turned(angle, 0, 1, 0);
  world_plane(&w, q);
  frix_body_config b = body_at((frix_pose){{0.05 * sin(angle), 0, 0.05 * cos(angle)}, q});
  b.mass = 10;
  frix_body_id box = world_body(&w, b, box_shape(0.1, 0.1, 0.05));
  REQUIRE(t, world_start(&w));
  world_run(&w, 0.005, 3);
  frix_vec3 x = state_of(&w, box).center;
  world_run(&w, 0.005, 3);
  frix_vec3 y = state_of(&w, box).center;
  double creep = hypot(y.x - x.x, y.z - x.z) / 3;
  CHECK(t, creep < 1e-10);
  /* sinks by m g cos a / (4 k), the two materials' springs in series */
  double depth = 0.05 - (y.x * sin(angle) + y.z * cos(angle));
  CHECK_NEAR(t, depth, 10 * g * cos(angle) / 2e6, 1e-8);
  CHECK(t, w.unsolved == 0);
  fx_test_note(t, "creep %.1e m/s", creep);
  world_end(&w);
}

/* Random calls with living, stale and invented ids: each answers, none crashes, the state stays finite. */
static void random_calls(fx_test *t) {
  world w = world_new(t, 0.5, 0.2);
  w.config.sleep = true;
  w.config.seek_rest = false;
  w.config.max_iterations = 200;
  REQUIRE(t, heap(&w, 6, 1));
  frix_body_id known[64];
  frix_snapshot *snapshot = NULL;
  int count = 0, alive = 0;
  for (int k = 0; k < 6; k++) known[count++] = frix_model_body_at(w.model, k);
  for (int k = 0; k < 4000; k++) {
    frix_body_id id = known[(int)(fabs(fx_test_random(t)) * count) % count];
    if (fx_test_random(t) > 0.95) id.generation += 1;
    frix_vec3 v = vec(3 * fx_test_random(t), 3 * fx_test_random(t), 3 * fx_test_random(t));
    if (fx_test_random(t) > 0.98) v.x = NAN;
    frix_pose pose = {{v.x, v.y, 1 + fabs(v.z)}, {1, 0.3 * v.x, 0, 0}};
    frix_body_state s;
    frix_contact_report c;
    frix_joint_state j;
    switch ((int)(fabs(fx_test_random(t)) * 14)) {
      case 0:
        if (frix_sim_spawn(w.sim, frix_model_body_at(w.model, k % 7), pose, v, v, &id) == FRIX_OK) {
          if (count < 64)
            known[count++] = id;
          else
            CHECK(t, frix_sim_remove(w.sim, id) == FRIX_OK);
        }
        break;
      case 1:
        if (frix_sim_body_count(w.sim) > 4) (void)frix_sim_remove(w.sim, id);
        break;
      case 2: (void)frix_sim_set_pose(w.sim, id, pose); break;
      case 3: (void)frix_sim_set_velocity(w.sim, id, v, v); break;
      case 4: (void)frix_sim_add_force(w.sim, id, v, v); break;
      case 5: (void)frix_sim_add_force_at(w.sim, id, v, v); break;
      case 6: (void)frix_sim_contact(w.sim, (int)(10 * v.y), &c); break;
      case 7: (void)frix_sim_joint(w.sim, (frix_joint_id){(uint32_t)(k % 3), 1}, &j); break;
      case 8:
        if (!snapshot) (void)frix_sim_save(w.sim, &snapshot);
        break;
      case 9:
        if (snapshot && k % 5 == 0) {
          CHECK(t, frix_sim_restore(w.sim, snapshot) == FRIX_OK);
          frix_snapshot_destroy(snapshot);
          snapshot = NULL;
        }
        break;
      default: CHECK(t, frix_sim_step(w.sim, 0.01, NULL) == FRIX_OK); break;
    }
    if (frix_sim_body(w.sim, id, &s) != FRIX_OK) continue;
    alive++;
    CHECK(t, isfinite(s.center.x + s.center.y + s.center.z + s.velocity.x + s.velocity.y + s.velocity.z + s.spin.x));
  }
  CHECK(t, alive > 100);
  frix_snapshot_destroy(snapshot);
  world_end(&w);
}

/* The problem of a step can be taken out and judged again. */
static void problem(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  REQUIRE(t, heap(&w, 12, 1));
  frix_step_report r = {0};
  for (int k = 0; k < 40; k++) r = world_step(&w, 0.01);
  frix_problem *p = NULL;
  frix_solution *s = NULL;
  MUST(&w, frix_sim_problem(w.sim, &p));
  frix_problem_data view;
  REQUIRE(t, p);
  frix_problem_view(p, &view);
  CHECK(t, view.contact_count == r.contact_count && view.joint_count == r.joint_count);
  MUST(&w, frix_solve(w.context, p, NULL, &s));
  frix_solution_destroy(s);
  frix_problem_destroy(p);
  world_end(&w);
}

const fx_test_row test_sim[] = {
    {"sim/ids", ids},
    {"sim/misuse", misuse},
    {"sim/events", events},
    {"sim/snapshots", snapshots},
    {"sim/threads", threads},
    {"sim/threads_crowd", threads_crowd},
    {"sim/memory", memory},
    {"sim/sleeping", sleeping},
    {"sim/policies", policies},
    {"sim/strict_run", strict_run},
    {"sim/kinematic", kinematic},
    {"sim/holds_on_slope", holds_on_slope},
    {"sim/surfaces", surfaces},
    {"sim/compliance", compliance},
    {"sim/problem", problem},
    {"sim/random_calls", random_calls},
    {0},
};
