/* Further failures, of kinds that test_explain.c has not: rolling, spinning tables, cloths, blows on columns, motors,
 * chocks, leaning and loaded structures; and a robot's grip from a file, by the command. */
#include "explain_case.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the worlds ---- */

static void build_marble(frix_builder *b, world *w) {
  w->body[1] = box(b, "plate", vec(0, 0, 0), vec(0.6, 0.6, 0.02), 0, w->mu);
  w->body[0] = ball(b, "marble", vec(0, 0, 0.07), 0.05, 0.3, vec(0, 0, 0));
}

/* The whole is tilted: gravity turns. */
static frix_status drive_tilt(frix_sim *sim, double h, void *user) {
  double s, c;
  (void)h, (void)user;
  frix_sincos(0.3 * frix_sim_time(sim), &s, &c);
  return frix_sim_set_gravity(sim, vec(9.81 * s, 0, -9.81 * c));
}

static void build_turntable(frix_builder *b, world *w) {
  w->body[1] = box(b, "table", vec(0, 0, 0), vec(0.8, 0.8, 0.02), 0, w->mu);
  w->body[0] = box(b, "cup", vec(0.5, 0, 0.07), vec(0.05, 0.05, 0.05), 0.5, w->mu);
}

static frix_status drive_turntable(frix_sim *sim, double h, void *user) {
  world *w = user;
  double t = frix_sim_time(sim) + h;
  return frix_sim_set_velocity(sim, w->body[1], vec(0, 0, 0), vec(0, 0, 3 * w->load * t));
}

static void build_cloth(frix_builder *b, world *w) {
  floor_of(b, 0.5);
  w->body[1] = box(b, "cloth", vec(0, 0, 0.01), vec(0.5, 0.5, 0.01), 0, w->mu);
  w->body[0] = box(b, "glass", vec(0, 0, 0.07), vec(0.04, 0.04, 0.05), 0.3, w->mu);
}

static frix_status drive_cloth(frix_sim *sim, double h, void *user) {
  world *w = user;
  double t = frix_sim_time(sim) + h;
  return frix_sim_set_velocity(sim, w->body[1], vec(0, 5 * w->load * t, 0), vec(0, 0, 0));
}

static void build_column(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[0] = box(b, "column", vec(0, 0, 0.5), vec(0.06, 0.06, 0.5), 3, w->mu);
  w->body[1] = ball(b, "ball", vec(-0.5, 0, 0.85), 0.05, 0.6, vec(4 * w->load, 0, 0.5));
}

static void build_motor(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[0] = box(b, "block", vec(0.2, 0, 0.1), vec(0.1, 0.1, 0.1), 2, w->mu);
  w->body[1] = box(b, "ram", vec(0, 0, 0.1), vec(0.1, 0.05, 0.05), 1, w->mu);
  frix_joint_config j = frix_joint_default(FRIX_JOINT_SLIDER);
  j.b = w->body[1];
  j.axis[0].motor = FRIX_MOTOR_VELOCITY, j.axis[0].target = 0.2 * w->load, j.axis[0].max_force = 50;
  frix_joint_place(b, &j, vec(0, 0, 0.1), vec(1, 0, 0), vec(0, 0, 0), vec(0, 0, 0));
  frix_builder_add_joint(b, &j, NULL);
}

/* A wheel on a slope, held by a chock that is taken away. */
static void build_chock(frix_builder *b, world *w) {
  frix_builder_set_gravity(b, vec(2, 0, -9.6));
  floor_of(b, w->mu);
  w->body[0] = ball(b, "wheel", vec(0, 0, 0.2), 0.2, 4, vec(0, 0, 0));
  w->body[1] = box(b, "chock", vec(0.25, 0, 0.1), vec(0.05, 0.1, 0.1), 20, 0.9);
}

static frix_status drive_chock(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  bool due = frix_sim_time(sim) > 0.195 && frix_sim_alive(sim, w->body[1]) && !w->keep;
  return due ? frix_sim_remove(sim, w->body[1]) : FRIX_OK;
}

/* A block that overhangs its table by more than half. */
static void build_overhang(frix_builder *b, world *w) {
  box(b, "table", vec(0, 0, -0.1), vec(0.5, 0.5, 0.1), -1, w->mu);
  w->body[0] = box(b, "block", vec(0.53, 0, 0.05), vec(0.2, 0.1, 0.05), 2, w->mu);
}

/* A sled that a rope pulls upward and forward. */
static void build_sled(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[0] = box(b, "sled", vec(0, 0, 0.1), vec(0.4, 0.2, 0.1), 10, w->mu);
}

static frix_status drive_rope(frix_sim *sim, double h, void *user) {
  world *w = user;
  double t = frix_sim_time(sim);
  (void)h;
  push(sim, w->body[0], vec(60 * w->load * t, 0, 20 * w->load * t), vec(0, 0, -0.05));
  return FRIX_OK;
}

/* A book between two others, pulled out. It does not touch them: wedged between two heavy ones it may stay, which
 * Coulomb's law allows. */
static void build_books(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  box(b, "left", vec(-0.062, 0, 0.15), vec(0.03, 0.1, 0.15), 20, 0.9);
  w->body[0] = box(b, "book", vec(0, 0, 0.15), vec(0.03, 0.1, 0.15), 1, w->mu);
  box(b, "right", vec(0.062, 0, 0.15), vec(0.03, 0.1, 0.15), 20, 0.9);
}

static frix_status drive_book(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[0], vec(0, 15 * w->load * frix_sim_time(sim), 0), vec(0, 0, -0.1));
  return FRIX_OK;
}

/* A crate in a lift that starts down too fast. */
static frix_status drive_lift(frix_sim *sim, double h, void *user) {
  world *w = user;
  double t = frix_sim_time(sim) + h;
  return frix_sim_set_velocity(sim, w->body[1], vec(0, 0, -40 * w->load * t * t), vec(0, 0, 0));
}

static const failure failures[] = {
    {"marble_rolls",
     build_marble,
     drive_tilt,
     0.5,
     0.4,
     "marble",
     "plate",
     FRIX_FAILURE_ROLL,
     FRIX_CAUSE_WEIGHT,
     "marble",
     {0, 0, 0, 0}},
    {"turntable",
     build_turntable,
     drive_turntable,
     0.3,
     1.2,
     "cup",
     "table",
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_MOTION,
     "table",
     {1, 1, 1, 0}},
    {"cloth_pulled",
     build_cloth,
     drive_cloth,
     0.2,
     0.3,
     "glass",
     "cloth",
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_MOTION,
     "cloth",
     {1, 1, 1, 0}},
    {"column_struck",
     build_column,
     NULL,
     0.9,
     0.5,
     "column",
     NULL,
     FRIX_FAILURE_TIP,
     FRIX_CAUSE_IMPACT,
     "ball",
     {0, 0, 1, 0}},
    {"ram", build_motor, NULL, 0.4, 0.4, "block", NULL, FRIX_FAILURE_SLIP, FRIX_CAUSE_JOINT, NULL, {0, 0, 0, 0}},
    {"chock_removed",
     build_chock,
     drive_chock,
     0.6,
     0.4,
     "wheel",
     "chock",
     FRIX_FAILURE_REMOVED,
     FRIX_CAUSE_REMOVAL,
     "chock",
     {0, 0, 0, 1}},
    {"overhang",
     build_overhang,
     NULL,
     0.6,
     0.3,
     "block",
     "table",
     FRIX_FAILURE_TIP,
     FRIX_CAUSE_WEIGHT,
     "block",
     {0, 0, 0, 0}},
    {"sled_pulled",
     build_sled,
     drive_rope,
     0.2,
     0.8,
     "sled",
     NULL,
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_FORCE,
     "sled",
     {1, 1, 1, 0}},
    {"book_pulled",
     build_books,
     drive_book,
     0.3,
     0.8,
     "book",
     NULL,
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_FORCE,
     "book",
     {1, 1, 1, 0}},
    {"lift_falls",
     build_turntable,
     drive_lift,
     0.3,
     0.3,
     "cup",
     "table",
     FRIX_FAILURE_LIFT,
     FRIX_CAUSE_MOTION,
     "table",
     {0, 1, 1, 0}},
};

static void scripted(fx_test *t, size_t first) {
  explain_scripted(t, failures, sizeof failures / sizeof *failures, first, 2);
}

static void scripted_0(fx_test *t) { scripted(t, 0); }
static void scripted_1(fx_test *t) { scripted(t, 1); }

/* A gripper of a file, whose fingers press with 8 N each on a box of 1.5 kg with mu 0.6: 2 x 0.6 x 8 = 9.6 N hold less
 * than 14.7 N. More friction, or the force that is missing, holds it. */
static void grip_of_file(fx_test *t) {
  static const char *const model =
      "<mujoco><option timestep='0.005'/><worldbody>"
      "<body name='palm' pos='0 0 0.6'><geom type='box' size='0.12 0.03 0.02' contype='0' conaffinity='0'/>"
      "<body name='left' pos='-0.07 0 -0.1'><joint name='jl' type='slide' axis='1 0 0'/>"
      "<geom type='box' size='0.02 0.04 0.06' mass='0.2' friction='%.2f'/></body>"
      "<body name='right' pos='0.07 0 -0.1'><joint name='jr' type='slide' axis='-1 0 0'/>"
      "<geom type='box' size='0.02 0.04 0.06' mass='0.2' friction='%.2f'/></body></body>"
      "<body name='cup' pos='0 0 0.5'><freejoint/><geom type='box' size='0.05 0.05 0.05' mass='1.5' "
      "friction='%.2f'/></body>"
      "</worldbody><actuator><motor name='ml' joint='jl' ctrlrange='-50 50'/><motor name='mr' joint='jr' "
      "ctrlrange='-50 50'/></actuator>"
      "<keyframe><key name='grip' qpos='0 0 0 0 0.5 1 0 0 0' ctrl='8 8'/></keyframe></mujoco>";
  const char *file = fx_test_scratch(t, "hand.xml"), *better = fx_test_scratch(t, "better.xml");
  for (int k = 0; k < 2; k++) {
    FILE *out = fopen(k ? better : file, "w");
    REQUIRE(t, out != NULL);
    fprintf(out, model, k ? 0.93 : 0.6, k ? 0.93 : 0.6, k ? 0.93 : 0.6);
    fclose(out);
  }
  shell_result r = shell(t, "$frix explain %s --key grip --body cup --at 0.3 --json", file);
  CHECK(t, r.code == 0 && shell_json(r.out) && strstr(r.out, "\"verdict\": \"slip\""));
  CHECK(t, strstr(r.out, "\"a\": \"cup\"") && strstr(r.out, "\"kind\": \"weight\""));
  static const char key[] = "\"friction\": {\"found\": true, \"holds\": ";
  const char *holds = strstr(r.out, key);
  CHECK(t, holds != NULL);
  if (holds) CHECK_NEAR(t, strtod(holds + sizeof key - 1, NULL), 1.5 * 9.81 / 16, 2e-3);
  shell_free(&r);
  r = shell(t, "$frix explain %s --key grip --body cup --at 0.3 --json", better);
  CHECK(t, strstr(r.out, "\"verdict\": \"held\"") != NULL);
  shell_free(&r);
}

/* Oblique fingers that close on a falling cup with 3 N each: while it slips motors supply more power than its weight,
 * but it slips without them too. 2 x 0.3 x 3 N hold 0.61 of its weight; the fall before they touch costs a little. */
static void weak_grip(fx_test *t) {
  static const char model[] =
      "<mujoco><option timestep='0.005'/><worldbody><geom type='plane' size='2 2 .1'/><body name='palm' pos='0 0 0.5'>"
      "<body name='left' pos='-0.035 0 0'><joint name='jl' type='slide' axis='1 0 0' damping='2'/>"
      "<geom type='box' size='.01 .02 .04' euler='0 8 0' pos='-0.012 0 0' mass='.2' friction='0.3'/></body>"
      "<body name='right' pos='0.035 0 0'><joint name='jr' type='slide' axis='-1 0 0' damping='2'/>"
      "<geom type='box' size='.01 .02 .04' euler='0 -8 0' pos='0.012 0 0' mass='.2' friction='0.3'/></body></body>"
      "<body name='cup' pos='0 0 0.5'><freejoint/><geom type='box' size='.03 .03 .05' mass='0.3' "
      "friction='0.3'/></body>"
      "</worldbody><actuator><motor name='ml' joint='jl'/><motor name='mr' joint='jr'/></actuator></mujoco>";
  const char *file = fx_test_scratch(t, "oblique.xml");
  FILE *out = fopen(file, "w");
  REQUIRE(t, out != NULL);
  fputs(model, out);
  fclose(out);
  shell_result r = shell(t, "$frix explain %s --body cup --at 0.5 --ctrl ml=3 --ctrl mr=3 --json", file);
  CHECK(t, r.code == 0 && shell_json(r.out) && strstr(r.out, "\"verdict\": \"slip\""));
  CHECK(t, strstr(r.out, "\"kind\": \"weight\"") != NULL);
  static const char key[] = "\"load\": {\"found\": true, \"holds\": ";
  const char *holds = strstr(r.out, key);
  CHECK(t, holds != NULL);
  if (holds) CHECK_NEAR(t, strtod(holds + sizeof key - 1, NULL), 0.61, 0.03);
  shell_free(&r);
}

/* Rafters that are set too deep into two posts: what moves them is told. */
static void overlap(fx_test *t) {
  static const char model[] =
      "<mujoco><option timestep='0.005'/><worldbody><geom type='plane' size='9 9 .1' friction='.4'/>"
      "<body name='pl' pos='-.3 0 .25'><freejoint/><geom type='box' size='.1 .1 .25' mass='20' friction='.4'/></body>"
      "<body name='pr' pos='.3 0 .25'><freejoint/><geom type='box' size='.1 .1 .25' mass='20' friction='.4'/></body>"
      "<body name='rl' pos='-.17 0 .62' euler='0 40 0'><freejoint/>"
      "<geom type='box' size='.03 .1 .25' mass='5' friction='.4'/></body>"
      "<body name='rr' pos='.17 0 .62' euler='0 -40 0'><freejoint/>"
      "<geom type='box' size='.03 .1 .25' mass='5' friction='.4'/></body></worldbody></mujoco>";
  const char *file = fx_test_scratch(t, "overlap.xml");
  FILE *out = fopen(file, "w");
  REQUIRE(t, out != NULL);
  fputs(model, out);
  fclose(out);
  shell_result r = shell(t, "$frix explain %s --body rl --at 0.3 --no-remedies", file);
  CHECK(t, r.code == 0);
  CHECK(t, strstr(r.out, "They overlap by 0.0908 m at the start: contacts push them apart.") != NULL);
  shell_free(&r);
}

const fx_test_row test_explain_more[] = {
    {"explain_more/scripted_0", scripted_0},     {"explain_more/scripted_1", scripted_1},
    {"explain_more/grip_of_file", grip_of_file}, {"explain_more/weak_grip", weak_grip},
    {"explain_more/overlap", overlap},           {0}};
