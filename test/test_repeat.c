/* A step that repeats the one before it: the same bits as if it were made anew, and not where anything was changed. */
#define WORLD_COORDINATES FRIX_COORDINATES_MAXIMAL /* rows of joints */
#include "sim_world.h"

#include <frix/edit.h>
#include <frix/equilibrium.h>
#include <frix/hooks.h>
#include <frix/view.h>

enum { BOXES = 4, SETTLED = 6 };
#define H 0.01

/* Two sims of one model: `w.sim` may repeat, `plain` is restored from its own snapshot before every step, after which
 * nothing is a repetition. */
typedef struct twins {
  world w;
  frix_sim *plain;
  frix_body_id box[BOXES], block;
  frix_joint_id rail;
} twins;

static twins twins_new(fx_test *t) {
  twins x = {.w = world_new(t, 0.5, 0.0)};
  world_plane(&x.w, (frix_quat){1, 0, 0, 0});
  for (int k = 0; k < BOXES; k++) x.box[k] = world_body(&x.w, body_at(at(0, 0, 0.5 + k)), box_shape(0.5, 0.5, 0.5));
  x.block = world_body(&x.w, body_at(at(5, 0, 0.25)), box_shape(0.25, 0.25, 0.25));
  const frix_quat across = turned(asin(1), 0, 1, 0);
  frix_joint_config rail = frix_joint_default(FRIX_JOINT_SLIDER);
  rail.b = x.block;
  rail.frame_a = (frix_pose){{5, 0, 0.25}, across};
  rail.frame_b.q = across;
  rail.axis[0].friction = 1;
  MUST(&x.w, frix_builder_add_joint(x.w.builder, &rail, &x.rail));
  if (world_start(&x.w)) MUST(&x.w, frix_sim_create(x.w.context, x.w.model, &x.w.config, &x.plain));
  return x;
}

static void twins_end(twins *x) {
  frix_sim_destroy(x->plain);
  world_end(&x->w);
}

static void step_plain(twins *x, double h, frix_step_report *report) {
  frix_snapshot *snapshot = NULL;
  MUST(&x->w, frix_sim_save(x->plain, &snapshot));
  if (snapshot) MUST(&x->w, frix_sim_restore(x->plain, snapshot));
  frix_snapshot_destroy(snapshot);
  MUST(&x->w, frix_sim_step(x->plain, h, report));
}

static bool same_bytes(const void *a, const void *b, size_t size) { return !memcmp(a, b, size); }

/* Both make a step: the same bits in state, energy, certificate and contacts. */
static frix_step_report step_both(twins *x, double h) {
  fx_test *t = x->w.t;
  uint64_t a = 0, b = 1;
  frix_step_report other = {0}, report = world_step(&x->w, h);
  step_plain(x, h, &other);
  CHECK(t, !other.repeated);
  MUST(&x->w, frix_sim_hash(x->w.sim, &a));
  MUST(&x->w, frix_sim_hash(x->plain, &b));
  CHECK(t, a == b);
  CHECK(t, frix_sim_time(x->w.sim) == frix_sim_time(x->plain));
  CHECK(t, frix_sim_step_count(x->w.sim) == frix_sim_step_count(x->plain));
  frix_energy e = frix_sim_energy(x->w.sim), f = frix_sim_energy(x->plain);
  CHECK(t, same_bytes(&e, &f, sizeof e));
  CHECK(t, report.certified == other.certified && report.certificate.residual == other.certificate.residual &&
               report.touching_count == other.touching_count && report.contact_count == other.contact_count);
  int32_t rows = frix_sim_row_count(x->w.sim);
  CHECK(t, rows == frix_sim_row_count(x->plain));
  for (int32_t k = 0; k < rows; k++) {
    frix_row_report p, q;
    MUST(&x->w, frix_sim_row(x->w.sim, k, &p));
    MUST(&x->w, frix_sim_row(x->plain, k, &q));
    CHECK(t, same_bytes(p.impulse, q.impulse, sizeof p.impulse) && same_bytes(p.memory, q.memory, sizeof p.memory));
  }
  return report;
}

static void settle(twins *x) {
  frix_step_report report = {0};
  for (int k = 0; k < SETTLED; k++) report = step_both(x, H);
  CHECK(x->w.t, report.repeated && report.certified);
}

static void at_rest(fx_test *t) {
  twins x = twins_new(t);
  for (int k = 0; x.plain && k < 20; k++) {
    frix_step_report report = step_both(&x, H);
    CHECK(t, report.repeated == (k >= 3));
    frix_problem *problem = NULL;
    MUST(&x.w, frix_sim_problem(x.w.sim, &problem));
    frix_problem_destroy(problem);
  }
  twins_end(&x);
}

/* ---- what ends it ---- */

typedef void (*edit)(twins *x, frix_sim *sim);

static void push(twins *x, frix_sim *sim) {
  MUST(&x->w, frix_sim_add_force(sim, x->box[3], vec(2, 0, 0), vec(0, 0, 0)));
}
static void push_view(twins *x, frix_sim *sim) {
  frix_sim_arrays a = {.size = sizeof a};
  MUST(&x->w, frix_sim_view(sim, &a));
  frix_array_at(&a.force, (int32_t)x->box[2].index)[1] = 1;
}
static void strike(twins *x, frix_sim *sim) {
  MUST(&x->w, frix_sim_set_velocity(sim, x->box[3], vec(1, 0, 0), vec(0, 0, 0)));
}
static void lift(twins *x, frix_sim *sim) { MUST(&x->w, frix_sim_set_pose(sim, x->box[3], at(0, 0, 3.75))); }
static void tilt(twins *x, frix_sim *sim) { MUST(&x->w, frix_sim_set_gravity(sim, vec(3, 0, -9))); }
static void pull_out(twins *x, frix_sim *sim) { MUST(&x->w, frix_sim_remove(sim, x->box[1])); }
static void drop(twins *x, frix_sim *sim) {
  MUST(&x->w, frix_sim_spawn(sim, x->box[0], at(0, 3, 4), vec(0, 0, 0), vec(0, 0, 0), NULL));
}
static void free_rail(twins *x, frix_sim *sim) {
  frix_axis_config axis;
  MUST(&x->w, frix_sim_axis(sim, x->rail, 0, &axis));
  axis.motor = FRIX_MOTOR_VELOCITY, axis.target = 0.5, axis.max_force = 1e4;
  MUST(&x->w, frix_sim_set_axis(sim, x->rail, 0, &axis));
}
static void oil(twins *x, frix_sim *sim) {
  frix_material_config material = frix_material_default();
  material.mu = 0.1;
  MUST(&x->w, frix_sim_set_material(sim, x->w.material, &material));
}
static void look_for_rest(twins *x, frix_sim *sim) {
  frix_equilibrium *e = NULL;
  MUST(&x->w, frix_sim_equilibrium(sim, H, NULL, &e));
  frix_equilibrium_destroy(e);
}
static void drive_belt(twins *x, frix_sim *sim) {
  MUST(&x->w, frix_sim_set_belt(sim, frix_model_shape_at(x->w.model, 0), vec(1, 0, 0)));
}

static void edits(fx_test *t) {
  static const struct {
    const char *name;
    edit make;
    double h;
    bool moves;
  } rows[] = {{"force", push, H, false},     {"force in a view", push_view, H, false},
              {"velocity", strike, H, true}, {"pose", lift, H, true},
              {"gravity", tilt, H, true},    {"remove", pull_out, H, true},
              {"material", oil, H, false},   {"spawn", drop, H, true},
              {"motor", free_rail, H, true}, {"look", look_for_rest, H, false},
              {"belt", drive_belt, H, true}, {"another step", NULL, 0.5 * H, false}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    twins x = twins_new(t);
    if (x.plain) {
      settle(&x);
      if (rows[k].make) rows[k].make(&x, x.w.sim), rows[k].make(&x, x.plain);
      frix_step_report first = step_both(&x, rows[k].h);
      if (first.repeated) fx_test_fail(t, __FILE__, __LINE__, "%s: the step was a repetition", rows[k].name);
      for (int n = 0; n < 5; n++) CHECK(t, !(step_both(&x, rows[k].h).repeated && rows[k].moves));
    }
    twins_end(&x);
  }
}

/* Forces act in one step only: the same ones in every step are a repetition, others or none are not. */
static void wind(fx_test *t) {
  twins x = twins_new(t);
  for (int k = 0; x.plain && k < 30; k++) {
    bool blows = k < 10 || (k >= 15 && k < 25);
    if (blows) push(&x, x.w.sim), push(&x, x.plain);
    frix_step_report report = step_both(&x, H);
    CHECK(t, !(report.repeated && (k == 10 || k == 15 || k == 25)));
    CHECK(t, report.repeated || !(k == 9 || k == 14 || k == 24 || k == 29));
  }
  twins_end(&x);
}

/* Callbacks may do what they like: they are asked in every step. */
static int asked;
static void count_force(frix_sim *sim, double time, void *user) {
  (void)sim, (void)time, (void)user;
  asked++;
}

static void callbacks(fx_test *t) {
  world w = world_new(t, 0.5, 0.0);
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  world_body(&w, body_at(at(0, 0, 0.5)), box_shape(0.5, 0.5, 0.5));
  w.config.force = count_force;
  asked = 0;
  if (world_start(&w))
    for (int k = 0; k < 10; k++) CHECK(t, !world_step(&w, H).repeated);
  CHECK(t, asked >= 10);
  world_end(&w);
}

/* A snapshot of another time is another state. */
static void snapshots(fx_test *t) {
  twins x = twins_new(t);
  frix_snapshot *early = NULL;
  if (x.plain) {
    step_both(&x, H);
    strike(&x, x.w.sim), strike(&x, x.plain);
    MUST(&x.w, frix_sim_save(x.w.sim, &early));
    for (int k = 0; k < 200; k++) step_both(&x, H);
    MUST(&x.w, frix_sim_restore(x.w.sim, early));
    MUST(&x.w, frix_sim_restore(x.plain, early));
    CHECK(t, !step_both(&x, H).repeated);
  }
  frix_snapshot_destroy(early);
  twins_end(&x);
}

/* Pairs of cards that are hinged at the top stand, with cards on them: their quaternions keep all bits. */
static void hinged_cards(fx_test *t) {
  const double lean = 0.4, length = 0.1;
  world w = world_new(t, 0.5, 0);
  w.config.coordinates = FRIX_COORDINATES_REDUCED;
  world_plane(&w, turned(0, 1, 0, 0));
  for (int k = 0; k < 5; k++) {
    frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
    for (int side = -1; side < 2; side += 2) {
      frix_pose pose = {{0.2 * k + side * length / 2 * sin(lean), 0, length / 2 * cos(lean) + 6e-4},
                        turned(-side * lean, 0, 1, 0)};
      frix_body_config card = body_at(pose);
      card.mass = 0.02;
      *(side < 0 ? &j.a : &j.b) = world_body(&w, card, box_shape(1e-3, 0.03, length / 2));
    }
    MUST(&w, frix_joint_place(w.builder, &j, vec(0.2 * k, 0, length * cos(lean) + 6e-4), vec(0, 1, 0), vec(0, 0, 0),
                              vec(0, 0, 0)));
    MUST(&w, frix_builder_add_joint(w.builder, &j, NULL));
  }
  for (int k = 0; k < 4; k++) {
    frix_body_config card = body_at(at(0.2 * k + 0.1, 0, length * cos(lean) + 3e-3));
    card.mass = 0.02;
    world_body(&w, card, box_shape(0.1, 0.03, 1e-3));
  }
  REQUIRE(t, world_start(&w));
  world_run(&w, 2e-3, 0.2);
  for (int k = 0; k < 5; k++) CHECK(t, world_step(&w, 2e-3).repeated);
  CHECK(t, w.unsolved == 0);
  world_end(&w);
}

/* A step with a deadline is no step to repeat: what was known of the one before it is gone. */
static void deadlines(fx_test *t) {
  world w = world_new(t, 0.5, 0.0);
  frix_step_report r = {.size = sizeof r};
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  world_body(&w, body_at(at(0, 0, 0.5)), box_shape(0.5, 0.5, 0.5));
  REQUIRE(t, world_start(&w));
  world_run(&w, H, 0.3);
  CHECK(t, world_step(&w, H).repeated);
  MUST(&w, frix_sim_step_within(w.sim, H, 1e9, &r));
  CHECK(t, !r.repeated);
  CHECK(t, !world_step(&w, H).repeated);
  CHECK(t, world_step(&w, H).repeated);
  world_end(&w);
}

static void wind_in_trees(fx_test *t) { world_in_trees(t, wind); }
static void at_rest_in_trees(fx_test *t) { world_in_trees(t, at_rest); }
static void edits_in_trees(fx_test *t) { world_in_trees(t, edits); }

static void *allocate_dirt(size_t bytes, void *user) {
  unsigned *seed = user;
  unsigned char *block = malloc(bytes);
  for (size_t k = 0; block && k < bytes; k++) block[k] = (unsigned char)(*seed = 1664525u * *seed + 1013904223u);
  return block;
}

static void release_dirt(void *block, size_t bytes, void *user) {
  (void)bytes;
  (void)user;
  free(block);
}

/* Steps repeat whatever stands in new memory: states are compared with the bytes between their members. */
static void dirty_memory(fx_test *t) {
  unsigned seed = 1;
  frix_context_config config = frix_context_default();
  frix_context *context = NULL;
  frix_builder *builder = NULL;
  frix_model *model = NULL;
  frix_sim *sim = NULL;
  config.allocate = allocate_dirt, config.release = release_dirt, config.user = &seed;
  REQUIRE(t, frix_context_create(&config, &context) == FRIX_OK);
  REQUIRE(t, frix_builder_create(context, &builder) == FRIX_OK);
  frix_shape_config ground = frix_shape_default();
  ground.kind = FRIX_SHAPE_PLANE;
  CHECK(t, !frix_builder_add_shape(builder, (frix_body_id){0, 0}, &ground, NULL));
  for (int k = 0; k < BOXES; k++) {
    frix_shape_config cube = box_shape(0.5, 0.5, 0.5);
    frix_body_config body = body_at(at(0, 0, 0.5 + k));
    frix_body_id id;
    CHECK(t, !frix_builder_add_body(builder, &body, &id) && !frix_builder_add_shape(builder, id, &cube, NULL));
  }
  if (!frix_builder_compile(builder, &model) && !frix_sim_create(context, model, NULL, &sim)) {
    frix_step_report report = {.size = sizeof report};
    for (int k = 0; k < SETTLED; k++) CHECK(t, !frix_sim_step(sim, H, &report));
    CHECK(t, report.repeated && report.certified);
  }
  CHECK(t, sim);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_builder_destroy(builder);
  frix_context_destroy(context);
}

const fx_test_row test_repeat[] = {{"repeat/at_rest", at_rest},
                                   {"repeat/edits", edits},
                                   {"repeat/wind", wind},
                                   {"repeat/wind_in_trees", wind_in_trees},
                                   {"repeat/at_rest_in_trees", at_rest_in_trees},
                                   {"repeat/hinged_cards", hinged_cards},
                                   {"repeat/edits_in_trees", edits_in_trees},
                                   {"repeat/callbacks", callbacks},
                                   {"repeat/snapshots", snapshots},
                                   {"repeat/deadlines", deadlines},
                                   {"repeat/dirty_memory", dirty_memory},
                                   {0}};
