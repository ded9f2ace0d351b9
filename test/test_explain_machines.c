/* Failures of doors, grippers, ladders, shelves, wedges, belts, dominoes, kerbs, chains and a robot's foot: contact,
 * cause and remedy as frix_explain names them, the belt against closed forms; force intervals of a robot's grip. */
#include "explain_case.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the worlds ---- */

static frix_body_id turned_box(frix_builder *b, const char *name, frix_pose pose, frix_vec3 half, double mass,
                               double mu) {
  frix_body_config c = frix_body_default();
  frix_shape_config s = frix_shape_default();
  frix_body_id id;
  c.name = name, c.mass = mass, c.pose = pose;
  s.kind = FRIX_SHAPE_BOX, s.half = half, s.material = material(b, mu);
  frix_builder_add_body(b, &c, &id);
  frix_builder_add_shape(b, id, &s, NULL);
  return id;
}

/* A door on a hinge, a chock behind it; a ball strikes the door. */
static void build_door(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  frix_body_id door = box(b, "door", vec(0.4, 0, 0.55), vec(0.4, 0.02, 0.5), 5, 0.1);
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  j.b = door, j.name = "hinge";
  frix_joint_place(b, &j, vec(0, 0, 0.55), vec(0, 0, 1), vec(0, 0, 0), vec(0, 0, 0));
  frix_builder_add_joint(b, &j, NULL);
  w->body[0] = box(b, "chock", vec(0.7, 0.0701, 0.06), vec(0.05, 0.05, 0.06), 2, w->mu);
  w->body[1] = ball(b, "ball", vec(0.6, -0.35, 0.5), 0.06, 1, vec(0, 2 * w->load, 0.7));
}

/* Two fingers of which one is smooth: pulled down, the cup slides along both once both are at their limit. */
static void build_uneven_grip(frix_builder *b, world *w) {
  w->body[0] = box(b, "cup", vec(0, 0, 0.5), vec(0.05, 0.05, 0.05), 1, w->mu);
  for (int k = 0; k < 2; k++) {
    double side = k ? 1 : -1;
    w->body[1 + k] = box_of(b, k ? "right" : "left", vec(side * 0.07, 0, 0.5), vec(0.02, 0.05, 0.05), 0.2,
                            material(b, k ? 0.04 / w->mu : 0.64 / w->mu)); /* pairs of 0.2 and 0.8 */
    frix_joint_config j = frix_joint_default(FRIX_JOINT_SLIDER);
    j.b = w->body[1 + k];
    frix_joint_place(b, &j, vec(side * 0.07, 0, 0.5), vec(1, 0, 0), vec(0, 0, 0), vec(0, 0, 0));
    frix_builder_add_joint(b, &j, NULL);
  }
}

static frix_status drive_uneven_grip(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[1], vec(30, 0, 0), vec(0, 0, 0));
  push(sim, w->body[2], vec(-30, 0, 0), vec(0, 0, 0));
  push(sim, w->body[0], vec(0, 0, -40 * w->load * frix_sim_time(sim)), vec(0, 0, 0));
  return FRIX_OK;
}

/* A painter climbs a ladder on a wall with little friction. */
static void build_climb(frix_builder *b, world *w) {
  w->body[1] = box(b, "ground", vec(0, 0, -0.1), vec(2, 1, 0.1), -1, w->mu);
  w->body[2] = box(b, "wall", vec(1.1, 0, 1.5), vec(0.1, 1, 1.5), -1, 0.04);
  double sine, cosine;
  frix_sincos(0.45, &sine, &cosine);
  frix_pose pose = {vec(1.0 - sine - cosine * 0.02, 0, cosine + sine * 0.02), frix_quat_turn(vec(0, 1, 0), 0.45)};
  w->body[0] = turned_box(b, "ladder", pose, vec(0.02, 0.2, 1.0), 8, w->mu);
}

static frix_status drive_climb(frix_sim *sim, double h, void *user) {
  world *w = user;
  double sine, cosine, t = frix_sim_time(sim), along = -0.9 + 1.2 * fmax(0, t - 0.2);
  (void)h;
  frix_sincos(0.45, &sine, &cosine);
  push(sim, w->body[0], vec(0, 0, -300 * w->load * fmin(1, 5 * t)), vec(along * sine, 0, along * cosine));
  return FRIX_OK;
}

/* Two books lean on a bookend that is taken away; asked of the one that did not touch it. */
static void build_shelf(frix_builder *b, world *w) {
  frix_builder_set_gravity(b, vec(2.5, 0, -9.5));
  floor_of(b, w->mu);
  box(b, "book_a", vec(-0.04, 0, 0.15), vec(0.02, 0.1, 0.15), 1, w->mu);
  w->body[0] = box(b, "book_b", vec(0, 0, 0.15), vec(0.02, 0.1, 0.15), 1, w->mu);
  w->body[1] = box(b, "bookend", vec(0.07, 0, 0.15), vec(0.05, 0.1, 0.15), 20, w->mu);
}

static frix_status drive_shelf(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  bool due = frix_sim_time(sim) > 0.195 && frix_sim_alive(sim, w->body[1]) && !w->keep;
  return due ? frix_sim_remove(sim, w->body[1]) : FRIX_OK;
}

/* A beam on its edge is pressed between a heavy block and a light one. */
static void build_wedge(frix_builder *b, world *w) {
  floor_of(b, 0.5);
  box(b, "heavy", vec(-0.2, 0, 0.1), vec(0.15, 0.2, 0.1), 60, 0.5);
  w->body[0] = box(b, "light", vec(0.15, 0, 0.1), vec(0.1, 0.2, 0.1), 5, w->mu * w->mu / 0.5);
  /* its lower edge is 0.05 m below the upper edges of the blocks, which are 0.1 m apart */
  frix_pose pose = {vec(0, 0, 0.2 + 0.08 * sqrt(2) - 0.05), frix_quat_turn(vec(0, 1, 0), 0.78539816339744831)};
  w->body[1] = turned_box(b, "wedge", pose, vec(0.08, 0.1, 0.08), 1, 0);
}

static frix_status drive_wedge(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[1], vec(0, 0, -200 * w->load * frix_sim_time(sim)), vec(0, 0, 0));
  return FRIX_OK;
}

/* Three dominoes before a pusher; asked of the last. */
static void build_dominoes(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  for (int k = 0; k < 3; k++) {
    char name[24];
    snprintf(name, sizeof name, "tile_%d", k);
    w->body[k] = box(b, name, vec(0.06 * k, 0, 0.06), vec(0.01, 0.03, 0.06), 0.1, w->mu);
  }
  w->body[3] = box(b, "pusher", vec(-0.05, 0, 0.1), vec(0.02, 0.02, 0.01), 0, 0.1);
}

static frix_status drive_dominoes(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  return frix_sim_set_velocity(sim, w->body[3], vec(0.2, 0, 0), vec(0, 0, 0));
}

/* A wheel pulled over a kerb: F (r - k) > m g sqrt(r^2 - (r - k)^2). */
static void build_kerb(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[0] = ball(b, "wheel", vec(0, 0, 0.2), 0.2, 4, vec(0, 0, 0));
  box(b, "kerb", vec(0.16 + 0.5, 0, 0.04), vec(0.5, 0.5, 0.04), -1, 0.9);
}

static frix_status drive_kerb(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[0], vec(100 * w->load * frix_sim_time(sim), 0, 0), vec(0, 0, 0));
  return FRIX_OK;
}

/* A chain of four on a table, pulled at its end; asked of the other end. */
static void build_chain(frix_builder *b, world *w) {
  w->pulled_by_joints = true;
  box(b, "table", vec(-0.5, 0, -0.1), vec(0.5, 0.5, 0.1), -1, w->mu);
  for (int k = 0; k < 4; k++) {
    char name[24];
    snprintf(name, sizeof name, "link_%d", k);
    w->body[k] = box(b, name, vec(-0.6 + 0.2 * k, 0, 0.02), vec(0.09, 0.03, 0.02), 0.5, w->mu);
  }
  for (int k = 0; k < 3; k++) {
    frix_joint_config j = frix_joint_default(FRIX_JOINT_BALL);
    j.a = w->body[k], j.b = w->body[k + 1];
    frix_joint_place(b, &j, vec(-0.5 + 0.2 * k, 0, 0.02), vec(0, 1, 0), vec(0, 0, 0), vec(0, 0, 0));
    frix_builder_add_joint(b, &j, NULL);
  }
}

static frix_status drive_chain(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[3], vec(20 * w->load * frix_sim_time(sim), 0, 0), vec(0, 0, 0));
  return FRIX_OK;
}

static const failure failures[] = {
    {.name = "door_struck",
     .build = build_door,
     .mu = 0.4,
     .time = 0.5,
     .body = "chock",
     .kind = FRIX_FAILURE_SLIP,
     .cause = FRIX_CAUSE_IMPACT,
     .by = "ball",
     .remedy = {0, 0, 1, 0}},
    {.name = "uneven_grip",
     .build = build_uneven_grip,
     .drive = drive_uneven_grip,
     .mu = 0.4,
     .time = 0.8,
     .body = "cup",
     .other = "right",
     .kind = FRIX_FAILURE_SLIP,
     .cause = FRIX_CAUSE_FORCE,
     .by = "cup",
     .remedy = {0, 1, 1, 0}},
    {.name = "ladder_climbed",
     .build = build_climb,
     .drive = drive_climb,
     .mu = 0.3,
     .time = 1.8,
     .body = "ladder",
     .other = "ground",
     .kind = FRIX_FAILURE_SLIP,
     .cause = FRIX_CAUSE_FORCE,
     .by = "ladder",
     .remedy = {0, 1, 1, 0}},
    {.name = "bookend_removed",
     .build = build_shelf,
     .drive = drive_shelf,
     .mu = 0.5,
     .time = 0.5,
     .body = "book_b<book_a",
     .other = "bookend",
     .kind = FRIX_FAILURE_REMOVED,
     .cause = FRIX_CAUSE_REMOVAL,
     .by = "bookend",
     .remedy = {0, 0, 0, 1}},
    {.name = "wedge_driven",
     .build = build_wedge,
     .drive = drive_wedge,
     .mu = 0.4,
     .time = 1,
     .body = "light",
     .kind = FRIX_FAILURE_SLIP,
     .cause = FRIX_CAUSE_FORCE,
     .by = "wedge",
     .remedy = {1, 1, 1, 0}},
    {.name = "dominoes_pushed",
     .build = build_dominoes,
     .drive = drive_dominoes,
     .mu = 0.6,
     .time = 0.6,
     .body = "tile_0<tile_2",
     .kind = FRIX_FAILURE_TIP,
     .cause = FRIX_CAUSE_MOTION,
     .by = "pusher",
     .remedy = {0, 0, 0, 0}},
    {.name = "wheel_at_kerb",
     .build = build_kerb,
     .drive = drive_kerb,
     .mu = 0.6,
     .time = 0.7,
     .body = "wheel",
     .kind = FRIX_FAILURE_LIFT,
     .cause = FRIX_CAUSE_FORCE,
     .by = "wheel",
     .remedy = {0, 1, 1, 0}},
    {.name = "chain_pulled",
     .build = build_chain,
     .drive = drive_chain,
     .mu = 0.6,
     .time = 0.8,
     .body = "link_0",
     .other = "table",
     .kind = FRIX_FAILURE_SLIP,
     .cause = FRIX_CAUSE_FORCE,
     .by = "link_3",
     .remedy = {0, 0, 1, 0}},
};

static void scripted(fx_test *t, size_t first) {
  explain_scripted(t, failures, sizeof failures / sizeof *failures, first, 2);
}

static void scripted_0(fx_test *t) { scripted(t, 0); }
static void scripted_1(fx_test *t) { scripted(t, 1); }

/* ---- a parcel on a belt that speeds up: it goes with the belt, v = c t^2, until 2 c t > mu g ---- */

enum { SPEED_UP = 2 };

static frix_status drive_belt(frix_sim *sim, double h, void *user) {
  const world *w = user;
  double t = frix_sim_time(sim) + h;
  return frix_sim_set_belt(sim, w->shape, vec(SPEED_UP * t * t, 0, 0));
}

static void belt(fx_test *t) {
  frix_context *context = NULL;
  frix_builder *b = NULL;
  frix_model *model = NULL;
  frix_explanation *e = NULL;
  world w = {.mu = 0.3, .load = 1};
  frix_body_config c = frix_body_default();
  frix_shape_config s = frix_shape_default();
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK && frix_builder_create(context, &b) == FRIX_OK);
  c.name = "belt", c.kind = FRIX_BODY_STATIC, c.pose.p = vec(0, 0, -0.1);
  s.kind = FRIX_SHAPE_BOX, s.half = vec(5, 0.5, 0.1), s.material = material(b, w.mu);
  frix_builder_add_body(b, &c, &w.body[1]);
  frix_builder_add_shape(b, w.body[1], &s, &w.shape);
  w.body[0] = box(b, "parcel", vec(0, 0, 0.05), vec(0.1, 0.1, 0.05), 2, w.mu);
  REQUIRE(t, frix_builder_compile(b, &model) == FRIX_OK);
  frix_explain_config config = frix_explain_default();
  config.body = w.body[0], config.time = 1, config.step = 0.005;
  config.drive = drive_belt, config.user = &w;
  CHECK(t, frix_explain(context, model, NULL, &config, &e) == FRIX_OK);
  if (e) {
    frix_explanation_result v;
    frix_explanation_view(e, &v);
    CHECK(t, v.first.kind == FRIX_FAILURE_SLIP && named(model, v.first.a, "parcel") && named(model, v.first.b, "belt"));
    CHECK(t, v.cause == FRIX_CAUSE_BELT && named(model, v.cause_body, "belt") && v.cause_force.x > 0);
    CHECK_NEAR(t, v.first.time, w.mu * 9.81 / (2 * SPEED_UP), 0.015);
    /* it may slip by d = 1e-3 of its radius, c (T - t)^3 / 3: friction has to do until this t */
    double rate = SPEED_UP, way = 3 * config.distance * 0.15, needed = 2 * rate * (config.time - cbrt(way / rate));
    double load = v.remedy[FRIX_REMEDY_LOAD].holds, held = 2 * load * rate * (config.time - cbrt(way / (load * rate)));
    CHECK_NEAR(t, v.remedy[FRIX_REMEDY_FRICTION].holds, needed / 9.81, 0.005);
    CHECK_NEAR(t, held, w.mu * 9.81, 0.05);
    CHECK_NEAR(t, v.remedy[FRIX_REMEDY_PRESS].holds, 2 * (needed / w.mu - 9.81), 0.2);
    for (int k = 0; k < FRIX_REMEDY_KEEP; k++) CHECK(t, v.remedy[k].found && v.remedy[k].certified);
    fx_test_note(t, "slips at %g s; mu %g, load %g, press %g N", v.first.time, v.remedy[FRIX_REMEDY_FRICTION].holds,
                 v.remedy[FRIX_REMEDY_LOAD].holds, v.remedy[FRIX_REMEDY_PRESS].holds);
  }
  frix_explanation_destroy(e);
  frix_model_destroy(model);
  frix_builder_destroy(b);
  frix_context_destroy(context);
}

/* ---- a robot's foot on the ground: its hip swings a weight, from a table of controls ---- */

static void foot_of_file(fx_test *t) {
  static const char *const model =
      "<mujoco><option timestep='0.005'/><worldbody><geom type='plane' size='5 5 1' friction='0.4'/>"
      "<body name='foot' pos='0 0 0.05'><freejoint/><geom type='box' size='0.2 0.1 0.05' mass='4' friction='0.4'/>"
      "<body name='leg' pos='0 0 0.05'><joint name='hip' type='hinge' axis='0 1 0' damping='0.1'/>"
      "<geom type='capsule' fromto='0 0 0.05 0 0 0.3' size='0.03' mass='2' contype='0' conaffinity='0'/></body>"
      "</body></worldbody><actuator><motor name='swing' joint='hip'/></actuator></mujoco>";
  const char *file = fx_test_scratch(t, "leg.xml"), *table = fx_test_scratch(t, "swing.csv");
  FILE *out = fopen(file, "w");
  REQUIRE(t, out != NULL);
  fputs(model, out);
  fclose(out);
  REQUIRE(t, (out = fopen(table, "w")) != NULL);
  fputs("time,swing\n0,0\n0.1,4\n0.15,14\n", out);
  fclose(out);
  shell_result r = shell(t, "$frix explain %s --body foot --at 0.25 --ctrl-file %s --json", file, table);
  CHECK(t, r.code == 0 && shell_json(r.out) && strstr(r.out, "\"a\": \"foot\""));
  CHECK(t, strstr(r.out, "\"verdict\": \"held\"") == NULL);
  CHECK(t, strstr(r.out, "\"kind\": \"joint\"") && strstr(r.out, "\"name\": \"swing\""));
  static const char key[] = "\"load\": {\"found\": true, \"holds\": ";
  const char *holds = strstr(r.out, key);
  CHECK(t, holds != NULL);
  double share = holds ? strtod(holds + sizeof key - 1, NULL) : 0;
  shell_free(&r);
  for (int k = 0; k < 2; k++) { /* what is said to hold does, 2 % more does not */
    REQUIRE(t, (out = fopen(table, "w")) != NULL);
    double part = k ? 1.02 * share : share;
    fprintf(out, "time,swing\n0,0\n0.1,%.17g\n0.15,%.17g\n", 4 * part, 14 * part);
    fclose(out);
    r = shell(t, "$frix explain %s --body foot --at 0.25 --ctrl-file %s --no-remedies --json", file, table);
    CHECK(t, (strstr(r.out, "\"verdict\": \"held\"") != NULL) == (k == 0));
    shell_free(&r);
  }
  r = shell(t, "$frix explain %s --body foot --at 0.25 --ctrl swing=0.5 --json", file);
  CHECK(t, r.code == 0 && strstr(r.out, "\"verdict\": \"held\"") != NULL);
  shell_free(&r);
  r = shell(t, "$frix explain %s --body foot --at 0.25 --ctrl swong=0.5", file);
  CHECK(t, r.code == 2 && strstr(r.err, "swong") != NULL);
  shell_free(&r);
}

/* ---- forces of a robot whose controls are given ---- */

/* Two fingers of a robot press with 8 N each on a cup of 0.5 kg with mu 0.6: each carries between
 * 4.905 - 4.8 and 4.8 N of its weight. */
static void grip_forces(fx_test *t) {
  static const char *const model =
      "<mujoco><option timestep='0.005'/><default><geom friction='0.6'/></default><worldbody>"
      "<body name='left' pos='-0.07 0 0.5'><joint name='jl' type='slide' axis='1 0 0'/>"
      "<geom type='box' size='0.02 0.04 0.06' mass='0.2'/></body>"
      "<body name='right' pos='0.07 0 0.5'><joint name='jr' type='slide' axis='-1 0 0'/>"
      "<geom type='box' size='0.02 0.04 0.06' mass='0.2'/></body>"
      "<body name='cup' pos='0 0 0.5'><freejoint/><geom type='box' size='0.05 0.05 0.05' mass='0.5'/></body>"
      "</worldbody><actuator><motor name='ml' joint='jl'/><motor name='mr' joint='jr'/></actuator></mujoco>";
  const char *file = fx_test_scratch(t, "grip.xml");
  FILE *out = fopen(file, "w");
  REQUIRE(t, out != NULL);
  fputs(model, out);
  fclose(out);
  static const struct {
    const char *of;
    double least, most;
  } want[] = {{"cup,left.z", 4.905 - 4.8, 4.8}, {"cup,left.n", 8, 8}, {"left,cup.n", 8, 8}, {"cup,left.x", 8, 8}};
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    shell_result r = shell(t, "$frix forces %s --ctrl ml=8 --ctrl mr=8 --at 0.1 --of %s --json", file, want[k].of);
    const char *least = strstr(r.out, "\"least\": "), *most = strstr(r.out, "\"most\": ");
    CHECK(t, r.code == 0 && least && most);
    if (least) CHECK_NEAR(t, strtod(least + 9, NULL), want[k].least, 1e-6);
    if (most) CHECK_NEAR(t, strtod(most + 8, NULL), want[k].most, 1e-6);
    shell_free(&r);
  }
}

const fx_test_row test_explain_machines[] = {{"explain_machines/scripted_0", scripted_0},
                                             {"explain_machines/scripted_1", scripted_1},
                                             {"explain_machines/belt", belt},
                                             {"explain_machines/foot_of_file", foot_of_file},
                                             {"explain_machines/grip_forces", grip_forces},
                                             {0}};
