/* Worlds that are changed while they run. */
#include <frix/edit.h>
#include <frix/hooks.h>

#define WORLD_COORDINATES FRIX_COORDINATES_MAXIMAL /* rows of joints */
#include "sim_world.h"

static uint64_t hash_of(world *w) {
  uint64_t hash = 0;
  MUST(w, frix_sim_hash(w->sim, &hash));
  return hash;
}

/* Two boxes on a floor, the second on a hinge with the world. */
typedef struct stand {
  world w;
  frix_body_id box, arm;
  frix_shape_id shape;
  frix_joint_id hinge;
} stand;

static stand stand_new(fx_test *t) {
  stand s = {.w = world_new(t, 0.5, 0)};
  world *w = &s.w;
  world_plane(w, turned(0, 0, 0, 1));
  frix_body_config box = body_at(at(0, 0, 0.1));
  MUST(w, frix_builder_add_body(w->builder, &box, &s.box));
  frix_shape_config shape = box_shape(0.1, 0.1, 0.1);
  shape.material = w->material;
  MUST(w, frix_builder_add_shape(w->builder, s.box, &shape, &s.shape));
  s.arm = world_body(w, body_at(at(2, 0, 1)), box_shape(0.3, 0.05, 0.05));
  frix_joint_config hinge = frix_joint_default(FRIX_JOINT_HINGE);
  hinge.b = s.arm;
  MUST(w, frix_joint_place(w->builder, &hinge, vec(1.7, 0, 1), vec(0, 1, 0), vec(0, 0, 0), vec(0, 0, 0)));
  MUST(w, frix_builder_add_joint(w->builder, &hinge, &s.hinge));
  world_start(w);
  return s;
}

static void run(world *w, int steps) {
  for (int k = 0; k < steps; k++) CHECK(w->t, world_step(w, 0.01).certified);
}

/* A change of nothing changes no bit of what follows. */
static void nothing(fx_test *t) {
  stand a = stand_new(t), b = stand_new(t);
  run(&a.w, 20), run(&b.w, 20);
  frix_builder *builder = NULL;
  MUST(&b.w, frix_sim_begin_change(b.w.sim, &builder));
  MUST(&b.w, frix_sim_change(b.w.sim, builder));
  CHECK(t, frix_sim_change(b.w.sim, builder) == FRIX_ERROR_INPUT); /* once each */
  frix_builder_destroy(builder);
  CHECK(t, hash_of(&a.w) == hash_of(&b.w));
  run(&a.w, 30), run(&b.w, 30);
  CHECK(t, hash_of(&a.w) == hash_of(&b.w));
  CHECK(t, frix_sim_model(b.w.sim) != b.w.model && frix_sim_model(a.w.sim) == a.w.model);
  world_end(&a.w), world_end(&b.w);
}

/* A box on a slope of 0.3 (gravity turned) holds with mu 0.5, slides with 0.1 as the law says, and is held again. */
static void material(fx_test *t) {
  stand s = stand_new(t);
  world *w = &s.w;
  double slope = 0.3, g = 9.81;
  MUST(w, frix_sim_set_gravity(w->sim, vec(g * sin(slope), 0, -g * cos(slope))));
  run(w, 50);
  CHECK(t, fabs(state_of(w, s.box).velocity.x) < 1e-9);
  frix_material_config ice = frix_material_default();
  ice.mu = 0.1;
  MUST(w, frix_sim_set_material(w->sim, w->material, &ice));
  double before = state_of(w, s.box).velocity.x;
  run(w, 50);
  CHECK_NEAR(t, state_of(w, s.box).velocity.x - before, 0.5 * g * (sin(slope) - 0.1 * cos(slope)), 2e-3);
  frix_material_config read = frix_material_default();
  MUST(w, frix_model_material(frix_sim_model(w->sim), w->material, &read));
  CHECK(t, read.mu == 0.1);
  MUST(w, frix_model_material(w->model, w->material, &read));
  CHECK(t, read.mu == 0.5); /* the model itself stays */
  world_end(w);
}

/* A hinge goes: its body falls freely; a weld comes where it is then, and holds it. */
static void joints(fx_test *t) {
  stand s = stand_new(t);
  world *w = &s.w;
  run(w, 10);
  MUST(w, frix_sim_remove_joint(w->sim, s.hinge));
  frix_joint_state state;
  CHECK(t, frix_sim_joint(w->sim, s.hinge, &state) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_remove_joint(w->sim, s.hinge) == FRIX_ERROR_INPUT);
  double z = state_of(w, s.arm).velocity.z;
  run(w, 10);
  CHECK_NEAR(t, state_of(w, s.arm).velocity.z, z - 0.981, 1e-9);
  frix_builder *b = NULL;
  MUST(w, frix_sim_begin_change(w->sim, &b));
  frix_joint_config weld = frix_joint_default(FRIX_JOINT_FIXED);
  weld.b = s.arm;
  frix_vec3 here = state_of(w, s.arm).center;
  MUST(w, frix_joint_place(b, &weld, here, vec(0, 0, 1), vec(0, 0, 0), vec(0, 0, 0)));
  frix_joint_id id;
  MUST(w, frix_builder_add_joint(b, &weld, &id));
  MUST(w, frix_sim_change(w->sim, b));
  frix_builder_destroy(b);
  CHECK(t, id.index == s.hinge.index + 1);
  run(w, 50);
  CHECK_NEAR(t, state_of(w, s.arm).center.z, here.z, 1e-9);
  MUST(w, frix_sim_joint(w->sim, id, &state));
  frix_body_config arm;
  MUST(w, frix_model_body(w->model, s.arm, &arm));
  CHECK_NEAR(t, state.force.z, arm.mass * 9.81, 1e-6);
  world_end(w);
}

/* Two wheels that a coupling holds together: their joints stay as long as it does; without it each turns alone. */
static void coupling(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  frix_body_id wheel[2];
  frix_joint_id hinge[2];
  for (int k = 0; k < 2; k++) {
    wheel[k] = world_body(&w, body_at(at(k, 0, 0)), sphere_shape(0.2));
    frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
    j.b = wheel[k];
    MUST(&w, frix_joint_place(w.builder, &j, vec(k, 0, 0), vec(0, 0, 1), vec(0, 0, 0), vec(0, 0, 0)));
    MUST(&w, frix_builder_add_joint(w.builder, &j, &hinge[k]));
  }
  frix_joint_config c = frix_joint_default(FRIX_JOINT_COUPLING);
  c.first = hinge[0], c.second = hinge[1], c.ratio = 1;
  frix_joint_id id;
  MUST(&w, frix_builder_add_joint(w.builder, &c, &id));
  REQUIRE(t, world_start(&w));
  run(&w, 2);
  CHECK(t, frix_sim_remove_joint(w.sim, hinge[0]) == FRIX_ERROR_INPUT);
  MUST(&w, frix_sim_remove_joint(w.sim, id));
  MUST(&w, frix_sim_remove_joint(w.sim, hinge[0]));
  MUST(&w, frix_sim_set_velocity(w.sim, wheel[1], vec(0, 0, 0), vec(0, 0, 2)));
  run(&w, 10);
  CHECK_NEAR(t, state_of(&w, wheel[1]).spin.z, 2, 1e-9);
  CHECK_NEAR(t, state_of(&w, wheel[0]).spin.z, 0, 1e-9);
  world_end(&w);
}

/* A foot is added under a box and lifts it; the box is taken away from around it, and it falls. */
static void shapes(fx_test *t) {
  stand s = stand_new(t);
  world *w = &s.w;
  run(w, 20);
  frix_shape_config foot = sphere_shape(0.05);
  foot.pose = at(0, 0, -0.1);
  foot.material = w->material;
  frix_shape_id id;
  MUST(w, frix_sim_add_shape(w->sim, s.box, &foot, &id));
  frix_model_counts count = frix_model_count(frix_sim_model(w->sim));
  CHECK(t, count.shape_count == 4);
  run(w, 5);
  MUST(w, frix_sim_remove_shape(w->sim, s.shape));
  CHECK(t, frix_sim_set_belt(w->sim, s.shape, vec(1, 0, 0)) == FRIX_ERROR_INPUT);
  CHECK(t, frix_model_count(frix_sim_model(w->sim)).shape_count == 3);
  frix_shape_config read;
  CHECK(t, frix_model_shape(frix_sim_model(w->sim), s.shape, &read, NULL) == FRIX_ERROR_INPUT);
  MUST(w, frix_model_shape(frix_sim_model(w->sim), id, &read, NULL));
  CHECK(t, read.kind == FRIX_SHAPE_SPHERE && read.radius == 0.05);
  for (int k = 0; k < frix_sim_contact_count(w->sim); k++) {
    frix_contact_report c;
    MUST(w, frix_sim_contact(w->sim, k, &c));
    CHECK(t, c.shape_a.index != s.shape.index && c.shape_b.index != s.shape.index);
  }
  run(w, 200);
  CHECK(t, state_of(w, s.box).center.z < 0.16);
  /* a filter that meets nothing: it falls through the floor */
  frix_shape_config air = read;
  air.mask = 0;
  MUST(w, frix_sim_set_shape(w->sim, id, &air));
  run(w, 50);
  CHECK(t, state_of(w, s.box).center.z < -0.5);
  world_end(w);
}

/* A falling box becomes static in the air, kinematic, and dynamic again; its mass comes back from its shapes. */
static void kinds(fx_test *t) {
  stand s = stand_new(t);
  world *w = &s.w;
  MUST(w, frix_sim_set_pose(w->sim, s.box, at(0, 0, 2)));
  run(w, 10);
  frix_body_state before = state_of(w, s.box);
  MUST(w, frix_sim_set_kind(w->sim, s.box, FRIX_BODY_STATIC));
  run(w, 10);
  CHECK(t, state_of(w, s.box).center.z == before.center.z && state_of(w, s.box).velocity.z == 0);
  CHECK(t, frix_sim_set_velocity(w->sim, s.box, vec(0, 0, 1), vec(0, 0, 0)) == FRIX_ERROR_INPUT);
  MUST(w, frix_sim_set_kind(w->sim, s.box, FRIX_BODY_KINEMATIC));
  MUST(w, frix_sim_set_velocity(w->sim, s.box, vec(1, 0, 0), vec(0, 0, 0)));
  run(w, 10);
  CHECK_NEAR(t, state_of(w, s.box).center.x, 0.1, 1e-12);
  MUST(w, frix_sim_set_kind(w->sim, s.box, FRIX_BODY_DYNAMIC));
  frix_body_config config;
  MUST(w, frix_model_body(frix_sim_model(w->sim), s.box, &config));
  CHECK_NEAR(t, config.mass, 8, 1e-12); /* 0.2^3 of water */
  run(w, 10);
  CHECK_NEAR(t, state_of(w, s.box).velocity.x, 1, 1e-9);
  CHECK_NEAR(t, state_of(w, s.box).velocity.z, -0.981, 1e-9);
  /* heavier, with its centre elsewhere: what it stands as stays, the point that was its centre moves on as it did */
  frix_body_state pose = state_of(w, s.box);
  config.pose = pose.pose, config.velocity = pose.velocity, config.spin = pose.spin;
  config.mass = 16, config.center = vec(0.05, 0, 0), config.inertia = (frix_sym3){1, 1, 1, 0, 0, 0};
  MUST(w, frix_sim_set_body(w->sim, s.box, &config));
  frix_body_state after = state_of(w, s.box);
  CHECK_NEAR(t, after.pose.p.x, pose.pose.p.x, 1e-12);
  CHECK_NEAR(t, after.center.x, pose.pose.p.x + 0.05, 1e-12);
  frix_energy e = frix_sim_energy(w->sim);
  double gap = e.kinetic + e.potential -
               (e.start + e.work - e.friction - e.impact - e.damping + e.joint + e.contact + e.scheme + e.error);
  CHECK_NEAR(t, gap, 0, 1e-9 * (1 + fabs(e.potential)));
  world_end(w);
}

/* Snapshots from before and after a change take the sim to their model; so does one in another sim of the same model.
 */
static void snapshots(fx_test *t) {
  stand s = stand_new(t), other = stand_new(t);
  world *w = &s.w;
  frix_snapshot *before = NULL, *after = NULL;
  run(w, 10);
  MUST(w, frix_sim_save(w->sim, &before));
  uint64_t old = hash_of(w);
  MUST(w, frix_sim_remove_joint(w->sim, s.hinge));
  MUST(w, frix_sim_remove_shape(w->sim, s.shape));
  run(w, 10);
  MUST(w, frix_sim_save(w->sim, &after));
  run(w, 20);
  uint64_t end = hash_of(w);
  MUST(w, frix_sim_restore(w->sim, before));
  CHECK(t, hash_of(w) == old && frix_sim_model(w->sim) == w->model);
  frix_joint_state joint;
  CHECK(t, frix_sim_joint(w->sim, s.hinge, &joint) == FRIX_OK && joint.active);
  run(w, 5);
  MUST(w, frix_sim_restore(w->sim, after));
  run(w, 20);
  CHECK(t, hash_of(w) == end);
  CHECK(t, frix_sim_restore(other.w.sim, after) == FRIX_ERROR_INPUT); /* of another model */
  frix_sim *twin = NULL;
  MUST(w, frix_sim_create(w->context, w->model, &w->config, &twin));
  MUST(w, frix_sim_restore(twin, after));
  for (int k = 0; k < 20; k++) MUST(w, frix_sim_step(twin, 0.01, NULL));
  uint64_t hash = 0;
  MUST(w, frix_sim_hash(twin, &hash));
  CHECK(t, hash == end);
  frix_sim_destroy(twin);
  frix_snapshot_destroy(before);
  frix_sim_destroy(w->sim);
  w->sim = NULL;
  frix_snapshot_destroy(after); /* the last holder of the changed model */
  world_end(w);
  world_end(&other.w);
}

/* What cannot be is refused, and the sim goes on as before. */
static void refused(fx_test *t) {
  stand s = stand_new(t);
  world *w = &s.w;
  run(w, 5);
  uint64_t before = hash_of(w);
  frix_body_config config;
  MUST(w, frix_model_body(w->model, s.box, &config));
  config.planar = true;
  CHECK(t, frix_sim_set_body(w->sim, s.box, &config) == FRIX_ERROR_INPUT);
  frix_shape_config flat = frix_shape_default();
  flat.kind = FRIX_SHAPE_DISC, flat.radius = 1;
  CHECK(t, frix_sim_add_shape(w->sim, s.box, &flat, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_set_kind(w->sim, (frix_body_id){99, 1}, FRIX_BODY_STATIC) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_set_material(w->sim, (frix_material_id){0, 0}, &(frix_material_config){0}) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_change(w->sim, w->builder) == FRIX_ERROR_INPUT); /* not of this sim */
  CHECK(t, hash_of(w) == before);
  /* a recorder that began before the change */
  frix_recorder *recorder = NULL;
  const char *path = fx_test_scratch(t, "changed.frx");
  MUST(w, frix_recorder_create(w->context, path, w->model, NULL, &recorder));
  MUST(w, frix_recorder_add(recorder, w->sim, NULL));
  MUST(w, frix_sim_remove_joint(w->sim, s.hinge));
  CHECK(t, frix_recorder_add(recorder, w->sim, NULL) == FRIX_ERROR_UNSUPPORTED);
  frix_recorder_close(recorder);
  unsigned char *bytes = NULL;
  size_t size = 0;
  CHECK(t, frix_model_encode(w->context, frix_sim_model(w->sim), &bytes, &size) == FRIX_ERROR_UNSUPPORTED);
  world_end(w);
}

/* One of two spawned balls becomes an instance of a static pattern; new bodies find room behind the spawned ones. */
static void patterns(fx_test *t) {
  stand s = stand_new(t);
  world *w = &s.w;
  frix_body_id one, two;
  MUST(w, frix_sim_spawn(w->sim, s.box, at(5, 0, 3), vec(0, 0, 0), vec(0, 0, 0), &one));
  MUST(w, frix_sim_spawn(w->sim, s.box, at(6, 0, 3), vec(0, 0, 0), vec(0, 0, 0), &two));
  frix_builder *b = NULL;
  MUST(w, frix_sim_begin_change(w->sim, &b));
  frix_body_config still = body_at(at(0, 0, 0)), block = body_at(at(6, 0, 1));
  still.kind = block.kind = FRIX_BODY_STATIC, still.spawn_only = true;
  frix_body_id pattern, new_block;
  frix_shape_config shape = box_shape(0.1, 0.1, 0.1);
  MUST(w, frix_builder_add_body(b, &still, &pattern));
  MUST(w, frix_builder_add_shape(b, pattern, &shape, NULL));
  MUST(w, frix_builder_add_body(b, &block, &new_block));
  MUST(w, frix_builder_add_shape(b, new_block, &shape, NULL));
  MUST(w, frix_sim_change(w->sim, b));
  frix_builder_destroy(b);
  CHECK(t, frix_sim_alive(w->sim, one) && frix_sim_alive(w->sim, two) && frix_sim_alive(w->sim, new_block));
  CHECK(t, new_block.index > two.index);
  MUST(w, frix_sim_set_pattern(w->sim, one, pattern));
  run(w, 150);
  CHECK(t, state_of(w, one).center.z == 3);
  CHECK_NEAR(t, state_of(w, two).center.z, 1.2, 2e-3); /* on the new block */
  world_end(w);
}

/* Shapes that were given no material slide by the default one, which changes as any other. */
static void default_material(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  w.material = (frix_material_id){0, 0};
  world_plane(&w, turned(0, 0, 0, 1));
  frix_body_id box = world_body(&w, body_at(at(0, 0, 0.1)), box_shape(0.1, 0.1, 0.1));
  REQUIRE(t, world_start(&w));
  MUST(&w, frix_sim_set_gravity(w.sim, vec(3, 0, -9)));
  frix_material_config ice = frix_material_default();
  ice.mu = 0.1;
  MUST(&w, frix_sim_set_material(w.sim, w.material, &ice));
  run(&w, 50);
  CHECK_NEAR(t, state_of(&w, box).velocity.x, 0.5 * (3 - 0.1 * 9), 2e-3);
  unsigned char *bytes = NULL;
  size_t size = 0;
  CHECK(t, frix_model_encode(w.context, frix_sim_model(w.sim), &bytes, &size) == FRIX_ERROR_UNSUPPORTED);
  world_end(&w);
}

/* A spawned box is made one of the model in its flight, then hung from the world as a pendulum. */
static void own(fx_test *t) {
  stand s = stand_new(t);
  world *w = &s.w;
  frix_body_id spawned, mine, again;
  MUST(w, frix_sim_spawn(w->sim, s.box, at(5, 0, 3), vec(1, 0, 0), vec(0, 2, 0), &spawned));
  run(w, 10);
  frix_body_state before = state_of(w, spawned);
  frix_energy energy = frix_sim_energy(w->sim);
  MUST(w, frix_sim_own(w->sim, spawned, &mine));
  CHECK(t, !frix_sim_alive(w->sim, spawned) && frix_sim_alive(w->sim, mine));
  frix_body_state now = state_of(w, mine);
  CHECK(t, now.pose.p.z == before.pose.p.z && now.velocity.z == before.velocity.z && now.spin.y == before.spin.y);
  CHECK_NEAR(t, frix_sim_energy(w->sim).kinetic, energy.kinetic, 1e-12 * energy.kinetic);
  MUST(w, frix_sim_own(w->sim, mine, &again));
  CHECK(t, again.index == mine.index && again.generation == mine.generation);
  frix_builder *b = NULL;
  frix_joint_config ball = frix_joint_default(FRIX_JOINT_BALL);
  frix_vec3 hook = vec(now.center.x, 0, now.center.z + 0.5);
  ball.b = mine;
  MUST(w, frix_sim_begin_change(w->sim, &b));
  MUST(w, frix_joint_place(b, &ball, hook, vec(0, 0, 1), vec(0, 0, 0), vec(0, 0, 0)));
  MUST(w, frix_builder_add_joint(b, &ball, NULL));
  MUST(w, frix_sim_change(w->sim, b));
  frix_builder_destroy(b);
  run(w, 100);
  now = state_of(w, mine);
  CHECK_NEAR(t, hypot(hypot(now.center.x - hook.x, now.center.y), now.center.z - hook.z), 0.5, 1e-3);
  CHECK(t, frix_sim_own(w->sim, spawned, &again) == FRIX_ERROR_INPUT);
  world_end(w);
}

static void nothing_in_trees(fx_test *t) { world_in_trees(t, nothing); }
static void joints_in_trees(fx_test *t) { world_in_trees(t, joints); }
static void coupling_in_trees(fx_test *t) { world_in_trees(t, coupling); }
static void kinds_in_trees(fx_test *t) { world_in_trees(t, kinds); }
static void snapshots_in_trees(fx_test *t) { world_in_trees(t, snapshots); }
static void refused_in_trees(fx_test *t) { world_in_trees(t, refused); }
static void patterns_in_trees(fx_test *t) { world_in_trees(t, patterns); }
static void own_in_trees(fx_test *t) { world_in_trees(t, own); }

const fx_test_row test_edit[] = {{"edit/nothing", nothing},
                                 {"edit/material", material},
                                 {"edit/joints", joints},
                                 {"edit/coupling", coupling},
                                 {"edit/shapes", shapes},
                                 {"edit/kinds", kinds},
                                 {"edit/snapshots", snapshots},
                                 {"edit/refused", refused},
                                 {"edit/patterns", patterns},
                                 {"edit/default_material", default_material},
                                 {"edit/own", own},
                                 {"edit/nothing_in_trees", nothing_in_trees},
                                 {"edit/joints_in_trees", joints_in_trees},
                                 {"edit/coupling_in_trees", coupling_in_trees},
                                 {"edit/kinds_in_trees", kinds_in_trees},
                                 {"edit/snapshots_in_trees", snapshots_in_trees},
                                 {"edit/refused_in_trees", refused_in_trees},
                                 {"edit/patterns_in_trees", patterns_in_trees},
                                 {"edit/own_in_trees", own_in_trees},
                                 {0}};
