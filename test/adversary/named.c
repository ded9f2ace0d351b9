/* Defects that were found once: steps and answers that were certified and wrong. */
#include "trials.h"

#include <math.h>
#include <string.h>

static const frix_body_id WORLD = {0, 0};
static const units SI = {1, 1, 1};

static void run_fill(void (*fill)(world *w), tally *t, finding *f, FILE *log) {
  world w;
  finding one;
  world_open_with(&w, fill, SI);
  run_world(&w, t, &one, log);
  if (f->step < 0) *f = one;
  world_close(&w);
}

/* The same for a list. */
static void run_fills(void (*const *fill)(world *w), int count, tally *t, finding *f, FILE *log) {
  *f = (finding){.step = -1};
  for (int k = 0; k < count; k++) run_fill(fill[k], t, f, log);
}

#define RUN(...)                                                   \
  do {                                                             \
    static void (*const list[])(world *) = {__VA_ARGS__};          \
    run_fills(list, (int)(sizeof list / sizeof *list), t, f, log); \
  } while (0)

/* ---- joints ---- */

/* A hinge with wide limits holds a body 20 mm inside another. */
static void wide_hinge(world *w) {
  frix_material_id m = plain(w, 0.5, 0);
  w->h = 0.002;
  w->steps = 9;
  add_shape(w, WORLD, sphere(0.1), m);
  frix_body_config c = frix_body_default();
  c.mass = 5;
  c.inertia = (frix_sym3){.02, .03, .025, 0, 0, 0};
  c.pose.p = at(0, 0, 0.18);
  frix_body_id b = add_body_as(w, c);
  add_shape(w, b, sphere(0.1), m);
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  j.a = WORLD, j.b = b, j.collide = true;
  j.axis[0].damping = 1;
  j.axis[0].limited = true;
  j.axis[0].lower = -6.28, j.axis[0].upper = 6.28;
  frix_joint_place(w->builder, &j, at(0, 0, 0.1), at(0, 0, 1), at(0, 0, 0), at(0, 0, 0));
  frix_builder_add_joint(w->builder, &j, NULL);
}

static void joint_diluted(tally *t, finding *f, FILE *log) { RUN(wide_hinge); }

/* One body fixed to two places 0.1 m apart. */
static void held_twice(world *w) {
  w->steps = 20;
  frix_body_id b = add_body(w, 1, at(0, 0, 1), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
  add_shape(w, b, sphere(0.1), plain(w, 0.5, 0));
  for (int k = 0; k < 2; k++) {
    frix_joint_config j = frix_joint_default(FRIX_JOINT_FIXED);
    j.a = WORLD, j.b = b;
    j.frame_a.p = at(0.1 * k, 0, 1);
    frix_builder_add_joint(w->builder, &j, NULL);
  }
}

static void fixed_twice(tally *t, finding *f, FILE *log) { RUN(held_twice); }

/* Dry friction of 10 N m in a ball joint holds 1 N m about any axis. */
static void ball_about(world *w, frix_vec3 torque) {
  set_gravity(w, at(0, 0, 0));
  w->steps = 2;
  frix_body_id b = add_body(w, 1, at(0, 0, 0), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
  add_shape(w, b, sphere(0.1), plain(w, 0.5, 0));
  add_joint(w, FRIX_JOINT_BALL, WORLD, b, at(0, 0, 0), at(0, 0, 1), at(0, 0, 0),
            (frix_axis_config[2]){{.friction = 10}, {0}});
  add_push(w, b, at(0, 0, 0), torque);
}
static void ball_about_x(world *w) { ball_about(w, at(1, 0, 0)); }
static void ball_about_y(world *w) { ball_about(w, at(0, 1, 0)); }
static void ball_about_z(world *w) { ball_about(w, at(0, 0, 1)); }

static void ball_friction(tally *t, finding *f, FILE *log) { RUN(ball_about_x, ball_about_y, ball_about_z); }

/* Friction of 20 N m holds 10 N m on a body of 1e-7 kg m^2. Friction in a plane leaves 5 mrad/s out of it. */
static void ball_of_a_gram(world *w) {
  set_gravity(w, at(0, 0, 0));
  w->h = 0.01;
  w->steps = 2;
  frix_body_config c = frix_body_default();
  c.mass = 1e-3;
  c.inertia = (frix_sym3){1e-7, 1e-7, 1e-7, 0, 0, 0};
  frix_body_id b = add_body_as(w, c);
  add_shape(w, b, sphere(1e-3), plain(w, 0.5, 0));
  add_joint(w, FRIX_JOINT_BALL, WORLD, b, at(0, 0, 0), at(0, 0, 1), at(0, 0, 0),
            (frix_axis_config[2]){{.friction = 20}, {0}});
  add_push(w, b, at(0, 0, 0), at(10, 5e-8, 5e-8));
}

static void light_ball(tally *t, finding *f, FILE *log) { RUN(ball_of_a_gram); }

/* ---- mass ratios ---- */

static void plate(world *w, double mass, double force) {
  frix_material_id m = plain(w, 0.5, 0);
  w->h = 1e-3;
  w->steps = 30;
  add_floor(w, m);
  frix_body_id p = add_body(w, mass, at(0, 0, 0.01), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
  add_shape(w, p, box(0.3, 0.3, 0.01), m);
  frix_body_id c = add_body(w, 10, at(0, 0, 0.12), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
  add_shape(w, c, box(0.1, 0.1, 0.1), m);
  add_push(w, p, at(force, 0, 0), at(0, 0, 0));
}
static void plate_1e7(world *w) { plate(w, 1e-7, 20); }
static void plate_1e9(world *w) { plate(w, 1e-9, 20); }
static void plate_1e9_slides(world *w) { plate(w, 1e-9, 90); }
static void plate_1e12(world *w) { plate(w, 1e-12, 20); }

static void mass_ratio(tally *t, finding *f, FILE *log) { RUN(plate_1e7, plate_1e9, plate_1e9_slides, plate_1e12); }

/* A tree: two tons fall with 0.1 g that lie on the floor and turn. */
static void light_root_of(world *w, double mass, const char *solver) {
  frix_material_id m = plain(w, 0.5, 0);
  w->h = 0.012;
  w->steps = 6;
  w->config.coordinates = FRIX_COORDINATES_REDUCED;
  w->config.solver = solver;
  add_floor(w, m);
  frix_body_id root = add_body(w, mass, at(0, 0, 0.04), UPRIGHT, at(0.01, 0, 0), at(0.1, 0.8, 0.3));
  add_shape(w, root, box(0.05, 0.04, 0.04), m);
  frix_body_id link = add_body(w, 2000, at(0.4, 0.2, 0.3), UPRIGHT, at(0, 0.02, 0), at(0, 0, 0));
  add_shape(w, link, sphere(0.06), m);
  add_joint(w, FRIX_JOINT_BALL, root, link, at(0.38, 0.16, 0.28), at(0, 0, 1), at(0, 0, 0),
            (frix_axis_config[2]){{0}, {0}});
}
static void light_root_newton(world *w) { light_root_of(w, 1e-4, "newton"); }
static void light_root_auto(world *w) { light_root_of(w, 1e-4, "auto"); }
static void lighter_root_newton(world *w) { light_root_of(w, 1e-6, "newton"); }

static void light_root(tally *t, finding *f, FILE *log) {
  RUN(light_root_newton, light_root_auto, lighter_root_newton);
}

/* A million tons on a gram. */
static void heavy(world *w) {
  frix_material_id m = plain(w, 1, 0);
  w->h = 0.002;
  w->steps = 20;
  add_floor(w, m);
  for (int k = 0; k < 2; k++) {
    frix_body_id b = add_body(w, k ? 1e9 : 1e-3, at(0.01 * k, 0, 0.1 + 0.2 * k), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
    add_shape(w, b, box(0.1, 0.1, 0.1), m);
  }
}

/* A block of 2 km on a cube of 2 mm. */
static void mountain(world *w) {
  frix_material_id m = plain(w, 0.5, 0);
  w->h = 0.002;
  w->steps = 10;
  add_floor(w, m);
  frix_body_id a = add_body(w, 0, at(0, 0, 0.001), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
  add_shape(w, a, box(0.001, 0.001, 0.001), m);
  frix_body_id b = add_body(w, 0, at(0, 0, 1000.002), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
  add_shape(w, b, box(1000, 1000, 1000), m);
}

static void heavy_on_light(tally *t, finding *f, FILE *log) { RUN(heavy, mountain); }

/* ---- bounds that mean "no bound" ---- */

static void beside_boxes(world *w, frix_axis_config axis) {
  frix_material_id m = plain(w, 0.5, 0);
  w->steps = 60;
  add_floor(w, m);
  frix_body_id b = add_body(w, 1, at(20, 0, 1), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
  add_shape(w, b, box(0.1, 0.1, 0.1), m);
  add_joint(w, FRIX_JOINT_SLIDER, WORLD, b, at(20, 0, 1), at(0, 0, 1), at(0, 0, 0), (frix_axis_config[2]){axis, {0}});
  for (int k = 0; k < 20; k++) {
    frix_body_id c = add_body(w, 1, at(0.5 * k, 0, 0.3), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
    add_shape(w, c, box(0.1, 0.1, 0.1), m);
  }
}
static void servo_of(world *w, double force) {
  beside_boxes(
      w, (frix_axis_config){.motor = FRIX_MOTOR_POSITION, .target = 0.2, .max_speed = HUGE_VAL, .max_force = force});
}
static void servo_1e9(world *w) { servo_of(w, 1e9); }
static void servo_1e12(world *w) { servo_of(w, 1e12); }
static void dry_1e12(world *w) { beside_boxes(w, (frix_axis_config){.friction = 1e12, .max_force = HUGE_VAL}); }

static void servo_bound(tally *t, finding *f, FILE *log) { RUN(servo_1e9, servo_1e12); }
static void friction_bound(tally *t, finding *f, FILE *log) { RUN(dry_1e12); }

/* A velocity motor pushes a box into a wall. */
static void into_wall(world *w, double force) {
  frix_material_id m = plain(w, 0.5, 0);
  w->steps = 40;
  frix_shape_config wall = box(0.5, 1, 1);
  wall.pose.p = at(0.65, 0, 0);
  add_shape(w, WORLD, wall, m);
  frix_body_id b = add_body(w, 1, at(0, 0, 0), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
  add_shape(w, b, box(0.1, 0.1, 0.1), m);
  frix_joint_config j = frix_joint_default(FRIX_JOINT_SLIDER);
  j.a = WORLD, j.b = b, j.collide = true;
  j.axis[0].motor = FRIX_MOTOR_VELOCITY, j.axis[0].target = 1, j.axis[0].max_force = force;
  j.axis[0].max_speed = HUGE_VAL;
  frix_joint_place(w->builder, &j, at(0, 0, 0), at(1, 0, 0), at(0, 0, 0), at(0, 0, 0));
  frix_builder_add_joint(w->builder, &j, NULL);
}
static void wall_1e9(world *w) { into_wall(w, 1e9); }
static void wall_1e12(world *w) { into_wall(w, 1e12); }

static void motor_into_wall(tally *t, finding *f, FILE *log) { RUN(wall_1e9, wall_1e12); }

/* ---- friction ---- */

static void rough_blocks(world *w) {
  frix_material_id m = plain(w, 1e10, 0);
  w->h = 0.005;
  w->steps = 60;
  add_floor(w, m);
  frix_body_id a = add_body(w, 0, at(0, 0, 0.2), UPRIGHT, at(1, 0.5, 0), at(0, 0, 0));
  add_shape(w, a, box(0.1, 0.1, 0.1), m);
  frix_body_id b = add_body(w, 0, at(1, 0, 0.3), UPRIGHT, at(1, 0, 0), at(0, 3, 0));
  add_shape(w, b, sphere(0.1), m);
}

static void huge_mu(tally *t, finding *f, FILE *log) { RUN(rough_blocks); }

/* Grains of 10 um with rolling and drilling friction: rows in 1/J beside rows in 1/kg. */
static void grains(world *w) {
  const double R = 1e-5;
  frix_material_config c = frix_material_default();
  c.mu = 0.5;
  c.rolling = c.spinning = 0.05 * R;
  frix_material_id m = material(w, c);
  w->h = 3.16227766e-05;
  w->steps = 60;
  add_floor(w, m);
  for (int k = 0; k < 100; k++) {
    int layer = k / 25, row = k / 5 % 5, column = k % 5;
    frix_vec3 p = at((2.1 * column + 0.3 * (layer % 2)) * R, 2.1 * row * R, (1.3 + 2.2 * layer) * R);
    frix_body_id b = add_body(w, 0, p, UPRIGHT, at(0.3 * (k % 3 - 1), 0.2, -0.1), at(0, 0, 0));
    add_shape(w, b, sphere(R), m);
  }
}

static void length_units(tally *t, finding *f, FILE *log) { RUN(grains); }

static void spinning_pile(world *w, double spinning) {
  frix_material_config c = frix_material_default();
  c.mu = 0.5;
  c.spinning = spinning;
  frix_material_id m = material(w, c);
  w->steps = 60;
  add_floor(w, m);
  for (int k = 0; k < 14; k++) {
    frix_vec3 p = at(0.17 * (k % 2) + 0.03 * (k / 4), 0.16 * (k / 2 % 2) + 0.02 * (k / 4), 0.12 + 0.19 * (k / 4));
    frix_body_id b = add_body(w, 0, p, UPRIGHT, at(0, 0, 0), at(3.0 * (k % 3 - 1), 2, 20.0 * (k % 2 ? 1 : -1)));
    add_shape(w, b, k % 3 ? sphere(0.1) : box(0.08, 0.09, 0.07), m);
  }
}
static void spinning_1(world *w) { spinning_pile(w, 1e-3); }
static void spinning_2(world *w) { spinning_pile(w, 0.02); }
static void spinning_3(world *w) { spinning_pile(w, 0.1); }
static void spinning_4(world *w) { spinning_pile(w, 0.5); }

static void drilling_bound(tally *t, finding *f, FILE *log) { RUN(spinning_1, spinning_2, spinning_3, spinning_4); }

/* ---- restitution ---- */

/* Three balls in a row and one sweep only: the compression is not solved. */
static void one_sweep(world *w) {
  frix_material_id m = plain(w, 0, 1);
  set_gravity(w, at(0, 0, 0));
  w->steps = 1;
  w->config.restitution = FRIX_RESTITUTION_POISSON;
  w->config.solver = "nsgs";
  w->config.max_iterations = 1;
  w->config.seek_rest = false;
  for (int k = 0; k < 3; k++) {
    frix_body_id b = add_body(w, 1, at(0.2 * k, 0, 0), UPRIGHT, at(k == 0, 0, 0), at(0, 0, 0));
    add_shape(w, b, sphere(0.1), m);
  }
}

static void poisson_compression(tally *t, finding *f, FILE *log) { RUN(one_sweep); }

/* A force that is another one whenever it is asked for never agrees with the answer of an implicit step. */
static void restless(frix_sim *sim, double time, void *user) {
  int *calls = user;
  (void)time;
  frix_sim_add_force(sim, frix_sim_body_at(sim, 0), at(++*calls & 1 ? 50 : -50, 0, 0), at(0, 0, 0));
}

static int restless_calls;

static void struck_under_force(world *w) {
  frix_material_id m = plain(w, 0.1, 0.5);
  w->config.restitution = FRIX_RESTITUTION_POISSON;
  w->config.integrator = "variational";
  w->config.force = restless;
  w->config.user = &restless_calls;
  add_floor(w, m);
  frix_body_id b = add_body(w, 0, at(0, 0, 0.1), UPRIGHT, at(0, 0, -3), at(0, 0, 0));
  add_shape(w, b, sphere(0.1), m);
}

static void poisson_forces(tally *t, finding *f, FILE *log) {
  world w;
  frix_step_report r = {.size = sizeof r};
  *f = (finding){.step = -1};
  t->worlds++;
  restless_calls = 0;
  if (world_open_with(&w, struck_under_force, SI) && frix_sim_step(w.sim, w.h, &r) == FRIX_OK) {
    t->steps++;
    t->certified += r.certified;
    t->open += !r.certified;
    t->wrong += r.certified; /* no answer can agree with this force */
    if (r.certified) *f = (finding){.step = 0, .law = LAW_MOMENTUM, .text = "forces that never agree with the answer"};
    if (log) fprintf(log, "  step 0: %s, residual %.2e\n", r.certified ? "certified" : "not", r.certificate.residual);
  }
  world_close(&w);
}

/* Kane's rod: strikes with its lower end, kinetic energy times 1.48. */
static void rod(world *w) {
  frix_material_id m = plain(w, 1.5, 0.98);
  set_gravity(w, at(0, 0, 0));
  w->h = 1e-3;
  w->steps = 3;
  frix_shape_config ground = frix_shape_default(), tip = round_shape(FRIX_SHAPE_DISC, 1e-6, 0);
  ground.kind = FRIX_SHAPE_HALF_PLANE;
  add_shape(w, WORLD, ground, m);
  frix_body_config b = frix_body_default();
  double angle = 45.041 * 3.14159265358979323846 / 180, s, c;
  frix_sincos(angle, &s, &c);
  b.planar = true;
  b.mass = 1;
  b.inertia.zz = 1. / 3;
  b.pose.p = at(0, s + 1e-6, 0);
  b.pose.q = frix_quat_turn(at(0, 0, 1), angle);
  b.velocity = at(.284, -1.517, 0);
  b.spin = at(0, 0, 2.378);
  tip.pose.p = at(-1, 0, 0);
  add_shape(w, add_body_as(w, b), tip, m);
}

static void newton_energy(tally *t, finding *f, FILE *log) { RUN(rod); }

/* ---- springs set for a rest that is none ---- */

/* Six cubes in a stack, the two lowest on one hinge, which contacts could press against with any force. The fifth, of
 * 1e-11 kg, is pushed away: beside its 2e7 m/s the 200 m/s of others passed for rest, and springs were set to press the
 * hinge with a thousand times all weights. */
static void light_one_leaves(world *w, double second) {
  static const double half[] = {0.0592088, 0.130549, 0.0825132, 0.074868, 0.111699, 0.140545},
                      x[] = {-0.02672, -0.020375, -0.01271, -0.0372085, -0.0193361, -0.0331413},
                      force[] = {0, 7.37316e-07, 4.96367e-07, 0, 1.83244, 0.179398};
  const double mass[] = {1426, second, 1.155, 6.48e-8, 1.217e-11, 6.641e-7};
  frix_material_id m = plain(w, 1.18617, 0);
  frix_body_id b[6];
  double z = 0;
  w->h = 0.000131239;
  w->steps = 2;
  add_floor(w, m);
  for (int k = 0; k < 6; k++) {
    b[k] = add_body(w, mass[k], at(x[k], 0, z + half[k]), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
    add_shape(w, b[k], box(half[k], half[k], half[k]), m);
    add_push(w, b[k], at(force[k], 0, 0), at(0, 0, 0));
    z += 2 * half[k];
  }
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  j.a = b[0], j.b = b[1], j.collide = true;
  frix_joint_place(w->builder, &j, at(0, 0, 2 * half[0]), at(0, 1, 0), at(0, 0, 0), at(0, 0, 0));
  frix_builder_add_joint(w->builder, &j, NULL);
}
static void leaves_as_found(world *w) { light_one_leaves(w, 1.128); }
static void leaves_others_still(world *w) { light_one_leaves(w, 11.28); }

/* No contact carries more than ten times all weights: springs leave no choice, rigid contacts do. */
static void judge_stress(tally *t, finding *f) {
  world w;
  frix_step_report report = {.size = sizeof report};
  world_open_with(&w, leaves_others_still, SI);
  for (int k = 0; k < w.push_count; k++) frix_sim_add_force(w.sim, w.push[k].body, w.push[k].force, w.push[k].torque);
  t->failed += frix_sim_step(w.sim, w.h, &report) != FRIX_OK;
  for (int k = 0; report.certified && k < frix_sim_row_count(w.sim); k++) {
    frix_row_report row;
    frix_sim_row(w.sim, k, &row);
    if (row.kind != FRIX_ROW_CONTACT || row.impulse[0] <= 10 * 1440 * 9.81 * w.h) continue;
    t->wrong++;
    *f = (finding){.step = 0, .law = LAW_DEMAND};
    snprintf(f->text, sizeof f->text, "a contact at rest carries %g N s", row.impulse[0]);
  }
  world_close(&w);
}

static void false_rest(tally *t, finding *f, FILE *log) {
  RUN(leaves_as_found, leaves_others_still);
  if (f->step < 0 && world_contact == FRIX_CONTACT_KIND_STIFF) judge_stress(t, f);
}

/* ---- impulses that absorb every error ---- */

/* A box in a slot 20 mm too narrow, rough walls: no answer exists, impulses grow until r - rho u rounds to r. */
static void slot(world *w) {
  frix_material_id m = plain(w, 20, 0);
  frix_shape_config wall = box(1, 1, 1);
  for (int side = 0; side < 2; side++) {
    wall.pose.p = at(side ? 1.09 : -1.09, 0, 0);
    add_shape(w, WORLD, wall, m);
  }
  for (int k = 0; k < 3; k++) {
    frix_body_id b = add_body(w, 1 + 10 * k, at(0, 0, 0.19 * k), UPRIGHT, at(0, 0, -1), at(0.3, 0, 0));
    add_shape(w, b, k ? sphere(0.1) : box(0.1, 0.1, 0.1), m);
  }
}

/* Two bodies in each other, held together by a joint while the contact pushes them apart. */
static void pushed_apart(world *w, frix_joint_kind kind, double mu, bool flat) {
  frix_material_id m = plain(w, mu, 0);
  frix_body_id last = WORLD;
  set_gravity(w, flat ? at(0, -9.81, 0) : at(0, 0, -9.81));
  for (int k = 0; k < 3; k++) {
    frix_body_config c = frix_body_default();
    c.planar = flat;
    c.mass = 1 + 9 * k;
    c.pose.p = flat ? at(0.02 * k, 0.12 * k, 0) : at(0.02 * k, 0, 0.12 * k);
    frix_body_id b = add_body_as(w, c);
    frix_shape_config rectangle = box(0.1, 0.07, 0);
    rectangle.kind = FRIX_SHAPE_RECTANGLE;
    add_shape(w, b, flat ? rectangle : sphere(0.1), m);
    frix_joint_config j = frix_joint_default(kind);
    j.a = last, j.b = b, j.collide = true;
    if (kind == FRIX_JOINT_HINGE) {
      j.axis[0].limited = true, j.axis[0].lower = -6.28, j.axis[0].upper = 6.28;
      j.axis[0].motor = FRIX_MOTOR_VELOCITY, j.axis[0].target = 1, j.axis[0].max_force = 1e3;
    }
    frix_joint_place(w->builder, &j, c.pose.p, flat ? at(0, 0, 1) : at(0, 1, 0), at(1, 0, 0), at(0, 0, 0));
    if (k > 0) frix_builder_add_joint(w->builder, &j, NULL);
    last = b;
  }
}
static void hinged_apart(world *w) { pushed_apart(w, FRIX_JOINT_HINGE, 0.5, false); }
static void balls_apart(world *w) { pushed_apart(w, FRIX_JOINT_BALL, 20, false); }
static void fixed_apart(world *w) { pushed_apart(w, FRIX_JOINT_FIXED, 3, false); }
static void flat_apart(world *w) { pushed_apart(w, FRIX_JOINT_HINGE, 0.3, true); }

static void absorption(tally *t, finding *f, FILE *log) {
  RUN(slot, hinged_apart, balls_apart, fixed_apart, flat_apart);
}

/* ---- contact problems ---- */

typedef struct small {
  int contacts, dofs, joints;
  frix_contact contact[2];
  double W[36], q[6], M[4], H[2], G[4], f[2], b[2];
} small;

static frix_problem *problem_of(frix_context *context, const small *s) {
  frix_problem_data d = frix_problem_data_default();
  frix_problem *out = NULL;
  int rows = 0;
  for (int k = 0; k < s->contacts; k++) rows += s->contact[k].dim;
  d.contact_count = s->contacts;
  d.contact = s->contact;
  if (s->dofs) {
    d.form = FRIX_FORM_GLOBAL;
    d.dof_count = s->dofs;
    d.joint_count = s->joints;
    d.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = s->dofs, .col_count = s->dofs, .x = s->M};
    d.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = s->dofs, .col_count = rows, .x = s->H};
    d.G = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = s->dofs, .col_count = s->joints, .x = s->G};
    d.f = s->f, d.w = s->q, d.b = s->b;
  } else {
    d.form = FRIX_FORM_LOCAL;
    d.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = rows, .col_count = rows, .x = s->W};
    d.q = s->q;
  }
  frix_problem_create(context, &d, &out);
  return out;
}

static void solve_small(const small *s, tally *t, finding *f, FILE *log) {
  frix_context *context;
  *f = (finding){.step = -1};
  if (frix_context_create(NULL, &context) != FRIX_OK) return;
  run_problem(context, problem_of(context, s), NULL, t, f, log);
  frix_context_destroy(context);
}

/* v = 0 and v = -1. */
static void joints_conflict(tally *t, finding *f, FILE *log) {
  small s = {.contacts = 1,
             .dofs = 2,
             .joints = 2,
             .contact = {{.cone = FRIX_CONE_LIMIT, .dim = 1}},
             .M = {1, 0, 0, 1},
             .H = {0, 1},
             .G = {1, 0, 1, 0},
             .f = {0, 0.1},
             .b = {0, 1}};
  solve_small(&s, t, f, log);
}

/* 9 mm/s at one contact beside 1,000 m/s at another. */
static void far_contact(tally *t, finding *f, FILE *log) {
  small s = {.contacts = 2,
             .contact = {frix_contact_of_dim(3, 0.5, 0), frix_contact_of_dim(3, 0.5, 0)},
             .q = {-1000, 0, 0, -0.009, 0, 0}};
  const double answer[6] = {1e9, 0, 0, 0, 0, 0};
  frix_context *context;
  for (int k = 0; k < 6; k++) s.W[7 * k] = k < 3 ? 1e-6 : 1;
  *f = (finding){.step = -1};
  if (frix_context_create(NULL, &context) != FRIX_OK) return;
  run_answer(context, problem_of(context, &s), answer, t, f, log);
  frix_context_destroy(context);
}

/* A body of 1 kg with the inertia of a point is touched 1 m beside its centre: it comes at 1 m/s and goes on at 9 um/s.
 * Its tangents weigh 1e12 times as much as its normal. */
static void lever(tally *t, finding *f, FILE *log) {
  double M[36] = {0}, H[18] = {0}, force[6] = {-1, 0, 0, 0, 0, 0}, w[3] = {0, 0, 0};
  const double answer[3] = {1 - 9e-6, 0, 0};
  frix_contact contact = frix_contact_of_dim(3, 0.5, 0);
  frix_problem_data d = frix_problem_data_default();
  frix_context *context;
  frix_problem *problem = NULL;
  for (int k = 0; k < 6; k++) M[7 * k] = k < 3 ? 1 : 1e-12;
  H[0] = 1, H[6 + 1] = 1, H[6 + 5] = 1, H[12 + 2] = 1, H[12 + 4] = -1;
  d.form = FRIX_FORM_GLOBAL;
  d.contact_count = 1, d.contact = &contact;
  d.dof_count = 6;
  d.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 6, .col_count = 6, .x = M};
  d.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 6, .col_count = 3, .x = H};
  d.f = force, d.w = w;
  *f = (finding){.step = -1};
  if (frix_context_create(NULL, &context) != FRIX_OK) return;
  frix_problem_create(context, &d, &problem);
  run_answer(context, problem, answer, t, f, log);
  frix_context_destroy(context);
}

static void one_contact(double w0, double w1, double q0, double q1, tally *t, finding *f, FILE *log) {
  small s = {.contacts = 1, .contact = {frix_contact_of_dim(3, 0.5, 0)}, .q = {q0, q1, 0}};
  s.W[0] = w0, s.W[4] = s.W[8] = w1;
  solve_small(&s, t, f, log);
}

static void overflow_W(tally *t, finding *f, FILE *log) { one_contact(1e308, 0.5, -0.5, 0.1, t, f, log); }
static void overflow_q(tally *t, finding *f, FILE *log) { one_contact(1, 1, -1e308, 1e308, t, f, log); }
static void underflow_q(tally *t, finding *f, FILE *log) { one_contact(1, 1, -1e-170, 0, t, f, log); }

static const named_case table[] = {
    {"joint_diluted", "a hinge with wide limits and an overlap of 20 mm", joint_diluted},
    {"fixed_twice", "a body fixed to two places 0.1 m apart", fixed_twice},
    {"ball_friction", "dry friction of a ball joint about three axes", ball_friction},
    {"light_ball", "dry friction of a ball joint that could turn a body at 1e6 rad/s", light_ball},
    {"mass_ratio", "10 kg on a plate of 1e-7 to 1e-12 kg that is pulled", mass_ratio},
    {"light_root", "a tree of two tons on a root of 0.1 g", light_root},
    {"heavy_on_light", "1e9 kg on 1 g, a block of 2 km on a cube of 2 mm", heavy_on_light},
    {"servo_bound", "a servo bounded by 1e9 and 1e12 N beside 20 boxes", servo_bound},
    {"friction_bound", "dry friction of 1e12 N beside 20 boxes", friction_bound},
    {"motor_into_wall", "a velocity motor of 1e9 and 1e12 N pushes a box into a wall", motor_into_wall},
    {"huge_mu", "blocks on a floor with mu = 1e10", huge_mu},
    {"length_units", "grains of 10 um with rolling and drilling friction", length_units},
    {"drilling_bound", "drilling impulses above their bound", drilling_bound},
    {"poisson_compression", "compression that one sweep did not solve", poisson_compression},
    {"poisson_forces", "forces of an implicit step that do not settle", poisson_forces},
    {"newton_energy", "a rod whose energy grows by half when it strikes", newton_energy},
    {"false_rest", "springs set for rest while a light body leaves", false_rest},
    {"absorption", "bodies wedged where no answer exists", absorption},
    {"joints_conflict", "two joint rows that contradict each other", joints_conflict},
    {"far_contact", "an error of 9 mm/s beside a contact at 1,000 m/s", far_contact},
    {"lever", "a normal judged by the weight of its tangents", lever},
    {"overflow_W", "a weight whose square overflows", overflow_W},
    {"overflow_q", "velocities whose squares overflow", overflow_q},
    {"underflow_q", "velocities whose squares underflow", underflow_q},
};

const named_case *named_case_at(int k) { return k >= 0 && k < (int)(sizeof table / sizeof *table) ? &table[k] : NULL; }
