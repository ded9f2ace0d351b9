/* Trajectories: what is written comes back bit by bit, runs go on where they stopped, broken files are told. */
#define WORLD_COORDINATES FRIX_COORDINATES_MAXIMAL /* rows of joints */
#include "sim_world.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/model_internal.h"

/* ---- a world with a bit of everything ---- */

static frix_geometry_id add_hull(world *w) {
  /* points that are no corners are among them, the first one too */
  frix_vec3 point[] = {vec(0, 0, 0),          vec(0.2, 0.1, -0.1),   vec(-0.2, 0.13, -0.1), vec(0.17, -0.2, -0.1),
                       vec(-0.2, -0.1, -0.1), vec(0.03, 0.02, 0.25), vec(0.1, 0.1, 0.12),   vec(0.05, 0, 0)};
  frix_geometry_config g = frix_geometry_default();
  g.kind = FRIX_GEOMETRY_HULL, g.name = "stone";
  g.point = point, g.point_count = sizeof point / sizeof *point;
  frix_geometry_id id = {0, 0};
  MUST(w, frix_builder_add_geometry(w->builder, &g, &id));
  return id;
}

static void add_ground(world *w) {
  double height[9] = {0.1, 0, 0.1, 0, -0.02, 0, 0.1, 0.01, 0.1};
  frix_geometry_config g = frix_geometry_default();
  g.kind = FRIX_GEOMETRY_HEIGHT_FIELD;
  g.row_count = g.column_count = 3, g.width = g.depth = 6, g.height = height;
  frix_shape_config s = frix_shape_default();
  MUST(w, frix_builder_add_geometry(w->builder, &g, &s.geometry));
  s.kind = FRIX_SHAPE_HEIGHT_FIELD;
  s.material = w->material;
  MUST(w, frix_builder_add_shape(w->builder, (frix_body_id){0, 0}, &s, NULL));
  frix_vec3 corner[] = {vec(1, 1, 0), vec(2, 1, 0), vec(1, 2, 0), vec(1, 1, 0.7)};
  int32_t triangle[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
  g = frix_geometry_default();
  g.kind = FRIX_GEOMETRY_MESH;
  g.point = corner, g.point_count = 4, g.triangle = triangle, g.triangle_count = 4;
  s = frix_shape_default();
  MUST(w, frix_builder_add_geometry(w->builder, &g, &s.geometry));
  s.kind = FRIX_SHAPE_MESH;
  frix_body_config b = body_at(at(0.1, 0.2, 0));
  b.kind = FRIX_BODY_STATIC, b.name = "rock";
  frix_body_id rock;
  MUST(w, frix_builder_add_body(w->builder, &b, &rock));
  MUST(w, frix_builder_add_shape(w->builder, rock, &s, NULL));
}

static frix_body_id add_shape_body(world *w, frix_body_config b, frix_shape_config s, const char *name) {
  frix_body_id id = {0, 0};
  b.name = name;
  s.material = w->material;
  MUST(w, frix_builder_add_body(w->builder, &b, &id));
  MUST(w, frix_builder_add_shape(w->builder, id, &s, NULL));
  return id;
}

/* Off-centre shapes, so that central frames round. */
static frix_body_id add_club(world *w) {
  frix_body_config b = body_at((frix_pose){{-0.6, 0.3, 0.4}, {0.3, 0.7, -0.2, 0.61}});
  b.velocity = vec(0.3, 0.1, 0);
  frix_body_id club = add_shape_body(w, b, sphere_shape(0.1), "club");
  frix_shape_config s = kind_shape(FRIX_SHAPE_CAPSULE, 0.04, 0.17);
  s.pose = (frix_pose){{0.03, 0.11, 0.23}, {0.9, 0.1, 0.3, -0.2}};
  s.material = w->material;
  MUST(w, frix_builder_add_shape(w->builder, club, &s, NULL));
  return club;
}

static void add_joints(world *w, frix_body_id a, frix_body_id b) {
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  j.a = a, j.b = b, j.name = "elbow";
  j.axis[0].friction = 0.01, j.axis[0].limited = true, j.axis[0].lower = -1, j.axis[0].upper = 1.2;
  frix_joint_id hinge, slider;
  MUST(w, frix_joint_place(w->builder, &j, vec(0.7, 0.1, 0.9), vec(0.1, 1, 0.2), vec(0, 0, 0), vec(0, 0, 0)));
  MUST(w, frix_builder_add_joint(w->builder, &j, &hinge));
  j = frix_joint_default(FRIX_JOINT_HINGE);
  j.b = a;
  j.axis[0].motor = FRIX_MOTOR_VELOCITY, j.axis[0].target = 1.5, j.axis[0].max_force = 2;
  MUST(w, frix_joint_place(w->builder, &j, vec(0.7, 0, 1.2), vec(0, 1, 0), vec(0, 0, 0), vec(0, 0, 0)));
  MUST(w, frix_builder_add_joint(w->builder, &j, &slider));
  j = frix_joint_default(FRIX_JOINT_COUPLING);
  j.first = hinge, j.second = slider, j.ratio = 0.3, j.name = "gear";
  MUST(w, frix_builder_add_joint(w->builder, &j, NULL));
}

static world full_world(fx_test *t) {
  world w = world_new(t, 0.6, 0.2);
  frix_material_config m = frix_material_default();
  m.name = "ice", m.mu = 0.1, m.mu2 = 0.3, m.axis = vec(1, 0.2, 0);
  frix_material_id ice;
  MUST(&w, frix_builder_add_material(w.builder, &m, &ice));
  MUST(&w, frix_builder_set_pair(w.builder, w.material, ice, &m));
  add_ground(&w);
  frix_shape_config hull = frix_shape_default();
  hull.kind = FRIX_SHAPE_HULL;
  hull.geometry = add_hull(&w);
  frix_body_id stone = add_shape_body(&w, body_at((frix_pose){{0, 0, 0.4}, {0.8, 0.1, 0.2, 0.3}}), hull, "stone");
  add_club(&w);
  frix_body_id a = add_shape_body(&w, body_at(at(0.7, 0, 1.1)), box_shape(0.1, 0.05, 0.15), "arm");
  frix_body_id b = add_shape_body(&w, body_at(at(0.75, 0.2, 0.7)), box_shape(0.05, 0.05, 0.15), "hand");
  add_joints(&w, a, b);
  frix_body_config pattern = frix_body_default();
  pattern.spawn_only = true;
  add_shape_body(&w, pattern, kind_shape(FRIX_SHAPE_CYLINDER, 0.1, 0.07), "seed");
  frix_body_config paddle = body_at(at(-1, -1, 0.3));
  paddle.kind = FRIX_BODY_KINEMATIC, paddle.spin = vec(0, 0, 1);
  add_shape_body(&w, paddle, box_shape(0.3, 0.05, 0.2), "paddle");
  MUST(&w, frix_builder_exclude(w.builder, stone, a));
  w.config.solver = "nsgs";
  return w;
}

/* What the scene does by hand: a function of the step alone. */
static void act(world *w, frix_sim *sim) {
  int64_t step = frix_sim_step_count(sim);
  frix_body_id seed = frix_model_find_body(w->model, "seed");
  if (step % 10 == 4)
    MUST(w, frix_sim_spawn(sim, seed, at(0.02 * (double)step, 0.1, 0.8), vec(0, 0, -1), vec(1, 0, 0), NULL));
  if (step == 27) MUST(w, frix_sim_remove(sim, frix_model_find_body(w->model, "club")));
  if (step == 31) MUST(w, frix_sim_remove(sim, frix_model_find_body(w->model, "rock")));
  if (step == 20) MUST(w, frix_sim_add_force(sim, frix_model_find_body(w->model, "stone"), vec(3, 0, 5), vec(0, 1, 0)));
}

enum { STEPS = 40 };
static const double H = 0.01;

/* Steps to STEPS; frames every other step, checkpoints every 8, the 20th between hand and step. */
static void go_on(world *w, frix_sim *sim, frix_recorder *recorder) {
  while (frix_sim_step_count(sim) < STEPS) {
    int64_t step = frix_sim_step_count(sim);
    bool resumed = step == 20 && recorder && w->steps == -20;
    if (!resumed) act(w, sim);
    if (recorder && step == 20 && !resumed) MUST(w, frix_recorder_checkpoint(recorder, sim));
    frix_step_report report = {0};
    MUST(w, frix_sim_step(sim, H, &report));
    step = frix_sim_step_count(sim);
    if (recorder && step % 2 == 0) MUST(w, frix_recorder_add(recorder, sim, &report));
    if (recorder && step % 8 == 0) MUST(w, frix_recorder_checkpoint(recorder, sim));
  }
}

/* A run of 40 steps in a file; its hash. */
static uint64_t record(world *w, const char *path) {
  frix_recorder *recorder = NULL;
  MUST(w, frix_recorder_create(w->context, path, w->model, "{\"scene\":\"test\"}", &recorder));
  if (!recorder) return 0;
  MUST(w, frix_recorder_add(recorder, w->sim, NULL));
  go_on(w, w->sim, recorder);
  MUST(w, frix_recorder_close(recorder));
  uint64_t hash = 0;
  MUST(w, frix_sim_hash(w->sim, &hash));
  return hash;
}

/* ---- bytes of files ---- */

static unsigned char *file_bytes(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  struct stat info;
  if (!file || fstat(fileno(file), &info) != 0) return NULL;
  unsigned char *bytes = malloc((size_t)info.st_size + 1);
  *size = fread(bytes, 1, (size_t)info.st_size, file);
  fclose(file);
  return bytes;
}

static void put_byte(const char *path, size_t at, unsigned char byte) {
  FILE *file = fopen(path, "r+b");
  if (!file) return;
  fseek(file, (long)at, SEEK_SET);
  fputc(byte, file);
  fclose(file);
}

/* Reads everything; the number of frames and checkpoints that could be read, -1: does not open. */
static int read_all(frix_context *context, const char *path, bool *clean) {
  frix_trajectory *t = NULL;
  *clean = false;
  if (frix_trajectory_open(context, path, &t)) return -1;
  int good = 0;
  *clean = !frix_trajectory_truncated(t);
  for (int32_t k = 0; k < frix_trajectory_frame_count(t); k++) {
    frix_frame frame;
    if (frix_trajectory_frame(t, k, &frame) == FRIX_OK) {
      good++;
    } else {
      *clean = false;
    }
  }
  for (int32_t k = 0; k < frix_trajectory_checkpoint_count(t); k++) {
    frix_snapshot *snapshot = NULL;
    if (frix_trajectory_checkpoint(t, k, NULL, NULL, &snapshot) == FRIX_OK) {
      good++;
    } else {
      *clean = false;
    }
    frix_snapshot_destroy(snapshot);
  }
  frix_trajectory_close(t);
  return good;
}

/* ---- tests ---- */

/* The decoded model encodes to the same bytes and steps to the same hash. */
static void model_returns(fx_test *t) {
  world w = full_world(t);
  REQUIRE(t, world_start(&w));
  unsigned char *bytes = NULL, *again = NULL;
  size_t size = 0, again_size = 0;
  frix_model *copy = NULL;
  MUST(&w, frix_model_encode(w.context, w.model, &bytes, &size));
  MUST(&w, frix_model_decode(w.context, bytes, size, &copy));
  REQUIRE(t, copy);
  MUST(&w, frix_model_encode(w.context, copy, &again, &again_size));
  CHECK(t, size == again_size && memcmp(bytes, again, size) == 0);
  CHECK(t, copy->pair_count == 1 && copy->excluded_count == w.model->excluded_count);
  frix_sim *sim = NULL;
  MUST(&w, frix_sim_create(w.context, copy, &w.config, &sim));
  uint64_t hash[2] = {0, 1};
  go_on(&w, w.sim, NULL);
  frix_model *mine = w.model;
  w.model = copy;
  go_on(&w, sim, NULL);
  w.model = mine;
  MUST(&w, frix_sim_hash(w.sim, &hash[0]));
  MUST(&w, frix_sim_hash(sim, &hash[1]));
  CHECK(t, hash[0] == hash[1]);
  /* no shorter piece of it is a model, and none crashes */
  for (size_t cut = 0; cut < size; cut++) {
    frix_model *part = NULL;
    CHECK(t, frix_model_decode(w.context, bytes, cut, &part) == FRIX_ERROR_FORMAT && !part);
  }
  fx_test_note(t, "%zu bytes", size);
  frix_sim_destroy(sim);
  frix_model_destroy(copy);
  frix_bytes_free(w.context, bytes);
  frix_bytes_free(w.context, again);
  world_end(&w);
}

static void planar_model_returns(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  world_half_plane(&w);
  frix_vec3 point[] = {vec(0, 0, 0), vec(0.31, 0.02, 0), vec(0.2, 0.3, 0), vec(0.1, 0.1, 0), vec(-0.05, 0.2, 0)};
  frix_geometry_config g = frix_geometry_default();
  g.kind = FRIX_GEOMETRY_POLYGON, g.point = point, g.point_count = 5;
  frix_shape_config s = frix_shape_default();
  s.kind = FRIX_SHAPE_POLYGON;
  MUST(&w, frix_builder_add_geometry(w.builder, &g, &s.geometry));
  for (int k = 0; k < 7; k++) {
    double angle = 0.37 * k;
    frix_body_config b = body_at((frix_pose){{0.1 * k, 0.2 + 0.4 * k, 0}, turned(angle, 0, 0, 1)});
    b.planar = true;
    add_shape_body(&w, b, s, NULL);
  }
  REQUIRE(t, world_start(&w));
  unsigned char *bytes = NULL;
  size_t size = 0;
  frix_model *copy = NULL;
  frix_sim *sim = NULL;
  MUST(&w, frix_model_encode(w.context, w.model, &bytes, &size));
  MUST(&w, frix_model_decode(w.context, bytes, size, &copy));
  REQUIRE(t, copy);
  MUST(&w, frix_sim_create(w.context, copy, &w.config, &sim));
  for (int k = 0; k < 30; k++) {
    MUST(&w, frix_sim_step(w.sim, 0.01, NULL));
    MUST(&w, frix_sim_step(sim, 0.01, NULL));
  }
  uint64_t hash[2] = {0, 1};
  MUST(&w, frix_sim_hash(w.sim, &hash[0]));
  MUST(&w, frix_sim_hash(sim, &hash[1]));
  CHECK(t, hash[0] == hash[1]);
  frix_sim_destroy(sim);
  frix_model_destroy(copy);
  frix_bytes_free(w.context, bytes);
  world_end(&w);
}

static bool same_state(const frix_body_state *a, const frix_body_state *b) {
  return memcmp(&a->pose, &b->pose, sizeof a->pose) == 0 && memcmp(&a->center, &b->center, sizeof a->center) == 0 &&
         memcmp(&a->velocity, &b->velocity, sizeof a->velocity) == 0 &&
         memcmp(&a->spin, &b->spin, sizeof a->spin) == 0 && a->asleep == b->asleep;
}

/* Every frame against a second run of the same world. */
static void frames_return(fx_test *t) {
  world w = full_world(t), x = full_world(t);
  REQUIRE(t, world_start(&w) && world_start(&x));
  const char *path = fx_test_scratch(t, "frames.frx");
  record(&w, path);
  frix_trajectory *file = NULL;
  MUST(&x, frix_trajectory_open(x.context, path, &file));
  REQUIRE(t, file);
  CHECK(t, !frix_trajectory_truncated(file) && strcmp(frix_trajectory_meta(file), "{\"scene\":\"test\"}") == 0);
  CHECK(t, frix_trajectory_frame_count(file) == 21 && frix_trajectory_checkpoint_count(file) == 6);
  frix_sim_config config;
  MUST(&x, frix_trajectory_config(file, &config));
  CHECK(t, strcmp(config.solver, "nsgs") == 0 && config.tolerance == w.config.tolerance);
  for (int32_t k = 0; k < frix_trajectory_frame_count(file); k++) {
    frix_frame frame;
    frix_step_report report = {0};
    MUST(&x, frix_trajectory_frame(file, k, &frame));
    while (frix_sim_step_count(x.sim) < frame.step) {
      act(&x, x.sim);
      MUST(&x, frix_sim_step(x.sim, H, &report));
    }
    uint64_t hash = 0;
    MUST(&x, frix_sim_hash(x.sim, &hash));
    CHECK(t, hash == frame.hash && frame.time == frix_sim_time(x.sim) && frame.h == (k ? H : 0));
    CHECK(t, frame.report.certificate.residual == report.certificate.residual &&
                 frame.report.iterations == report.iterations && frame.report.certified == report.certified);
    CHECK(t, k == 0 || strcmp(frame.report.finisher, report.finisher) == 0);
    frix_energy e = frix_sim_energy(x.sim);
    CHECK(t, memcmp(&e, &frame.energy, sizeof e) == 0);
    int32_t living = frix_sim_body_count(x.sim) - (frame.step > 31 ? 0 : 1); /* the rock stands where it stood */
    CHECK(t, frame.body_count == living && frame.gone_count == (frame.step > 31));
    for (int32_t i = 0; i < frame.body_count; i++) {
      frix_body_state state;
      frix_body_id pattern;
      MUST(&x, frix_sim_body(x.sim, frame.body[i].id, &state));
      MUST(&x, frix_sim_pattern(x.sim, frame.body[i].id, &pattern));
      CHECK(t, same_state(&state, &frame.body[i].state) && pattern.index == frame.body[i].pattern.index);
    }
    CHECK(t, frame.contact_count == frix_sim_contact_count(x.sim));
    for (int32_t i = 0; i < frame.contact_count; i++) {
      frix_contact_report c;
      MUST(&x, frix_sim_contact(x.sim, i, &c));
      const frix_contact_report *f = &frame.contact[i];
      CHECK(t, f->id == c.id && f->state == c.state && f->phase == c.phase && f->a.index == c.a.index);
      CHECK_NEAR(t, f->force.z, c.force.z, 1e-6 * (1 + fabs(c.force.z)));
      CHECK_NEAR(t, f->tangent[1].x, c.tangent[1].x, 1e-6);
    }
  }
  frix_trajectory_close(file);
  world_end(&w);
  world_end(&x);
}

/* From each checkpoint to the end: the same hash, and the file again has all frames. */
static void resumes(fx_test *t) {
  world w = full_world(t);
  REQUIRE(t, world_start(&w));
  const char *path = fx_test_scratch(t, "resume.frx");
  uint64_t hash = record(&w, path), end = 0;
  for (int32_t k = 5; k >= 0; k--) {
    frix_trajectory *file = NULL;
    frix_snapshot *snapshot = NULL;
    frix_sim *sim = NULL;
    frix_recorder *recorder = NULL;
    frix_sim_config config;
    int64_t step = 0;
    MUST(&w, frix_trajectory_open(w.context, path, &file));
    REQUIRE(t, file);
    MUST(&w, frix_trajectory_config(file, &config));
    /* half of them with the model of the file, half with one's own */
    const frix_model *model = k % 2 ? w.model : frix_trajectory_model(file);
    MUST(&w, frix_trajectory_checkpoint(file, k, model, &step, &snapshot));
    MUST(&w, frix_sim_create(w.context, model, &config, &sim));
    REQUIRE(t, snapshot && sim);
    MUST(&w, frix_sim_restore(sim, snapshot));
    CHECK(t, frix_sim_step_count(sim) == step);
    MUST(&w, frix_recorder_append(w.context, path, k, &recorder));
    REQUIRE(t, recorder);
    w.steps = -step; /* tells go_on that the hand of this step is in the snapshot already */
    go_on(&w, sim, recorder);
    MUST(&w, frix_recorder_close(recorder));
    MUST(&w, frix_sim_hash(sim, &end));
    CHECK(t, end == hash);
    frix_snapshot_destroy(snapshot);
    frix_sim_destroy(sim);
    frix_trajectory_close(file);
  }
  bool clean;
  int found = read_all(w.context, path, &clean);
  CHECK(t, clean && found == 21 + 6);
  world_end(&w);
}

/* Whatever a step reports can be read again. */
static void any_report_returns(fx_test *t) {
  world w = full_world(t);
  REQUIRE(t, world_start(&w));
  const char *path = fx_test_scratch(t, "report.frx");
  frix_recorder *recorder = NULL;
  MUST(&w, frix_recorder_create(w.context, path, w.model, NULL, &recorder));
  REQUIRE(t, recorder);
  int outcomes = 0;
  for (; strcmp(frix_outcome_name((frix_outcome)outcomes), "unknown") != 0; outcomes++) {
    frix_step_report report = {.outcome = (frix_outcome)outcomes, .finisher = outcomes % 2 ? "nsgs" : NULL};
    report.certificate.residual = INFINITY;
    MUST(&w, frix_recorder_add(recorder, w.sim, &report));
  }
  MUST(&w, frix_recorder_close(recorder));
  frix_trajectory *file = NULL;
  MUST(&w, frix_trajectory_open(w.context, path, &file));
  for (int32_t k = 0; k < outcomes; k++) {
    frix_frame frame;
    MUST(&w, frix_trajectory_frame(file, k, &frame));
    CHECK(t, (int)frame.report.outcome == k && frame.report.certificate.residual == INFINITY);
  }
  CHECK(t, outcomes >= 5);
  frix_trajectory_close(file);
  world_end(&w);
}

/* A snapshot of one model is not for another. */
static void other_model_refused(fx_test *t) {
  world w = full_world(t), x = world_new(t, 0.5, 0);
  world_plane(&x, (frix_quat){1, 0, 0, 0});
  add_shape_body(&x, body_at(at(0, 0, 1)), sphere_shape(0.1), "ball");
  REQUIRE(t, world_start(&w) && world_start(&x));
  const char *path = fx_test_scratch(t, "other.frx");
  record(&w, path);
  frix_trajectory *file = NULL;
  frix_snapshot *snapshot = NULL;
  MUST(&w, frix_trajectory_open(w.context, path, &file));
  REQUIRE(t, file);
  CHECK(t, frix_trajectory_checkpoint(file, 0, x.model, NULL, &snapshot) == FRIX_ERROR_INPUT && !snapshot);
  CHECK(t, strstr(frix_error_text(w.context), "another model"));
  CHECK(t, frix_trajectory_checkpoint(file, 6, NULL, NULL, &snapshot) == FRIX_ERROR_INPUT);
  frix_frame frame;
  CHECK(t, frix_trajectory_frame(file, 21, &frame) == FRIX_ERROR_INPUT);
  CHECK(t, strstr(frix_error_text(w.context), "only 0 to 20"));
  frix_trajectory_close(file);
  world_end(&w);
  world_end(&x);
}

/* A small run: a ball on a plane, three steps. */
static unsigned char *small_run(world *w, const char *path, size_t *size) {
  world_plane(w, (frix_quat){1, 0, 0, 0});
  add_shape_body(w, body_at(at(0, 0, 0.1)), sphere_shape(0.1), "ball");
  if (!world_start(w)) return NULL;
  frix_recorder *recorder = NULL;
  MUST(w, frix_recorder_create(w->context, path, w->model, NULL, &recorder));
  for (int k = 0; recorder && k < 3; k++) {
    frix_step_report report;
    MUST(w, frix_sim_step(w->sim, 0.01, &report));
    MUST(w, frix_recorder_add(recorder, w->sim, &report));
    MUST(w, frix_recorder_checkpoint(recorder, w->sim));
  }
  MUST(w, frix_recorder_close(recorder));
  return file_bytes(path, size);
}

static void every_cut_opens_or_tells(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  size_t size = 0;
  const char *path = fx_test_scratch(t, "cut.frx");
  unsigned char *bytes = small_run(&w, path, &size);
  REQUIRE(t, bytes);
  int before = 6;
  for (size_t cut = size + 1; cut-- > 0;) {
    CHECK(t, truncate(path, (off_t)cut) == 0);
    bool clean;
    int good = read_all(w.context, path, &clean);
    CHECK(t, good >= -1 && good <= before && (cut < size || (clean && good == 6)));
    CHECK(t, good >= 0 || strstr(frix_error_text(w.context), path));
    before = good;
  }
  CHECK(t, before == -1);
  free(bytes);
  world_end(&w);
}

static void every_flip_is_seen(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  size_t size = 0;
  const char *path = fx_test_scratch(t, "flip.frx");
  unsigned char *bytes = small_run(&w, path, &size);
  REQUIRE(t, bytes);
  for (size_t k = 0; k < size; k++) {
    put_byte(path, k, bytes[k] ^ (unsigned char)(1u << k % 8));
    bool clean;
    read_all(w.context, path, &clean);
    CHECK(t, !clean);
    put_byte(path, k, bytes[k]);
  }
  free(bytes);
  world_end(&w);
}

static void crc_is_known(fx_test *t) {
  CHECK(t, frix_crc32(0, "123456789", 9) == 0xcbf43926);
  unsigned char *bytes = malloc(100000);
  REQUIRE(t, bytes);
  for (int k = 0; k < 100000; k++) bytes[k] = (unsigned char)((unsigned)k * (unsigned)k >> 3);
  uint32_t whole = frix_crc32(0, bytes, 100000), parts = 0;
  for (int k = 0; k < 100000; k += 1000) parts = frix_crc32(parts, bytes + k, 1000);
  CHECK(t, whole == parts);
  free(bytes);
}

/* ---- what the world does to a recorder ---- */

/* A file that may not grow: the error is told, what was whole stays whole, later calls tell the same. */
static void full_disk(fx_test *t) {
  world w = full_world(t);
  REQUIRE(t, world_start(&w));
  const char *path = fx_test_scratch(t, "full.frx");
  struct rlimit old, limit;
  getrlimit(RLIMIT_FSIZE, &old);
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  limit = old;
  limit.rlim_cur = 20000;
  setrlimit(RLIMIT_FSIZE, &limit);
  frix_recorder *recorder = NULL;
  frix_status status = frix_recorder_create(w.context, path, w.model, NULL, &recorder);
  int added = 0;
  for (; !status && added < 1000; added++) {
    MUST(&w, frix_sim_step(w.sim, H, NULL));
    status = frix_recorder_add(recorder, w.sim, NULL);
    if (status) break;
  }
  CHECK(t, status == FRIX_ERROR_FILE && strstr(frix_error_text(w.context), "File too large"));
  CHECK(t, frix_recorder_checkpoint(recorder, w.sim) == FRIX_ERROR_FILE);
  CHECK(t, frix_recorder_close(recorder) == FRIX_ERROR_FILE);
  CHECK(t, strstr(frix_error_text(w.context), path) && strstr(frix_error_text(w.context), "File too large"));
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  bool clean;
  int good = read_all(w.context, path, &clean);
  CHECK(t, clean && good == added && added > 2);
  CHECK(t, frix_recorder_create(w.context, "/dev/full", w.model, NULL, &recorder) == FRIX_ERROR_FILE);
  CHECK(t, strstr(frix_error_text(w.context), "/dev/full: cannot write: No space left"));
  CHECK(t, frix_recorder_create(w.context, "/nowhere/x.frx", w.model, NULL, &recorder) == FRIX_ERROR_FILE);
  world_end(&w);
}

/* A child that records as fast as it can is killed at some moment; what it left opens and goes on to the same end. */
static void killed_runs_go_on(fx_test *t) {
  world w = full_world(t), x = full_world(t);
  REQUIRE(t, world_start(&w) && world_start(&x));
  const char *path = fx_test_scratch(t, "killed.frx");
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  uint64_t hash = record(&x, path), end;
  clock_gettime(CLOCK_MONOTONIC, &to);
  double whole = 1e9 * (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec);
  int resumed = 0;
  for (int round = 0; round < 8; round++) {
    unlink(path);
    pid_t child = fork();
    if (child == 0) {
      record(&w, path);
      _exit(0);
    }
    double moment = fmin(9e8, (0.55 + 0.4 * fx_test_random(t)) * whole);
    struct timespec pause = {0, (long)moment};
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    frix_trajectory *file = NULL;
    frix_snapshot *snapshot = NULL;
    frix_recorder *recorder = NULL;
    frix_sim *sim = NULL;
    if (frix_trajectory_open(x.context, path, &file)) {
      const char *text = frix_error_text(x.context); /* killed before the model stood in it */
      CHECK(t, strstr(text, "holds no model") || strstr(text, "ends in") || strstr(text, "No such file"));
      continue;
    }
    if (frix_trajectory_checkpoint_count(file) > 0) {
      frix_sim_config config;
      int64_t step = 0;
      MUST(&x, frix_trajectory_config(file, &config));
      MUST(&x, frix_sim_create(x.context, frix_trajectory_model(file), &config, &sim));
      MUST(&x, frix_trajectory_checkpoint(file, -1, NULL, &step, &snapshot));
      MUST(&x, frix_sim_restore(sim, snapshot));
      MUST(&x, frix_recorder_append(x.context, path, -1, &recorder));
      x.steps = -step;
      go_on(&x, sim, recorder);
      MUST(&x, frix_sim_hash(sim, &end));
      MUST(&x, frix_recorder_close(recorder));
      CHECK(t, end == hash);
      resumed++;
    }
    frix_snapshot_destroy(snapshot);
    frix_sim_destroy(sim);
    frix_trajectory_close(file);
    bool clean;
    CHECK(t, read_all(x.context, path, &clean) >= 0 && (clean || !recorder));
  }
  fx_test_note(t, "%d of 8 resumed", resumed);
  world_end(&w);
  world_end(&x);
}

/* One file, one writer. */
static void two_writers_refused(fx_test *t) {
  world w = full_world(t);
  REQUIRE(t, world_start(&w));
  const char *path = fx_test_scratch(t, "lock.frx");
  frix_recorder *recorder = NULL;
  MUST(&w, frix_recorder_create(w.context, path, w.model, NULL, &recorder));
  pid_t child = fork(); /* locks belong to processes */
  if (child == 0) {
    frix_recorder *other = NULL;
    bool refused = frix_recorder_create(w.context, path, w.model, NULL, &other) == FRIX_ERROR_FILE &&
                   strstr(frix_error_text(w.context), "another run");
    _exit(refused ? 0 : 1);
  }
  int code = -1;
  waitpid(child, &code, 0);
  CHECK(t, code == 0);
  MUST(&w, frix_recorder_add(recorder, w.sim, NULL));
  MUST(&w, frix_recorder_close(recorder));
  world_end(&w);
}

static void resumes_in_trees(fx_test *t) { world_in_trees(t, resumes); }

const fx_test_row test_trajectory[] = {{"trajectory/model_returns", model_returns},
                                       {"trajectory/planar_model_returns", planar_model_returns},
                                       {"trajectory/frames_return", frames_return},
                                       {"trajectory/resumes", resumes},
                                       {"trajectory/resumes_in_trees", resumes_in_trees},

                                       {"trajectory/any_report_returns", any_report_returns},
                                       {"trajectory/other_model_refused", other_model_refused},
                                       {"trajectory/every_cut_opens_or_tells", every_cut_opens_or_tells},
                                       {"trajectory/every_flip_is_seen", every_flip_is_seen},
                                       {"trajectory/crc_is_known", crc_is_known},
                                       {"trajectory/full_disk", full_disk},
                                       {"trajectory/killed_runs_go_on", killed_runs_go_on},
                                       {"trajectory/two_writers_refused", two_writers_refused},
                                       {0}};
