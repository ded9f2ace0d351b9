/* Twenty-three scripted failures: frix_explain names the contact, the cause and remedies, and each remedy, applied to
 * the world by other means than the library's, makes it hold. */
#include <frix/frix.h>
#include <math.h>
#include <string.h>

#include "shell.h"
#include "test.h"

/* What is changed of a world: friction of the named surface, the load, a force that presses. */
typedef struct world {
  double mu, load, press;
  const struct failure *failure;
  frix_body_id body[8];
  frix_event first; /* where to press */
  bool keep;
} world;

typedef struct failure {
  const char *name;
  void (*build)(frix_builder *b, world *w);
  frix_status (*drive)(frix_sim *sim, double h, void *user);
  double mu, time;
  const char *body, *other; /* of the contact; NULL: the world */
  frix_failure kind;
  frix_cause cause;
  const char *by; /* the body of the cause */
  bool remedy[FRIX_REMEDY_COUNT];
} failure;

static frix_vec3 vec(double x, double y, double z) { return (frix_vec3){x, y, z}; }

/* ---- parts ---- */

static frix_material_id material(frix_builder *b, double mu) {
  frix_material_config m = frix_material_default();
  frix_material_id id;
  m.mu = mu;
  frix_builder_add_material(b, &m, &id);
  return id;
}

static void floor_of(frix_builder *b, double mu) {
  frix_shape_config s = frix_shape_default();
  s.kind = FRIX_SHAPE_PLANE;
  s.material = material(b, mu);
  frix_builder_add_shape(b, (frix_body_id){0, 0}, &s, NULL);
}

/* A box with its middle at p; mass 0: kinematic, -1: static. */
static frix_body_id box_of(frix_builder *b, const char *name, frix_vec3 p, frix_vec3 half, double mass,
                           frix_material_id surface) {
  frix_body_config c = frix_body_default();
  frix_shape_config s = frix_shape_default();
  frix_body_id id;
  c.name = name;
  c.pose.p = p;
  c.kind = mass > 0 ? FRIX_BODY_DYNAMIC : mass < 0 ? FRIX_BODY_STATIC : FRIX_BODY_KINEMATIC;
  c.mass = fmax(mass, 0);
  s.kind = FRIX_SHAPE_BOX, s.half = half;
  s.material = surface;
  frix_builder_add_body(b, &c, &id);
  frix_builder_add_shape(b, id, &s, NULL);
  return id;
}

static frix_body_id box(frix_builder *b, const char *name, frix_vec3 p, frix_vec3 half, double mass, double mu) {
  return box_of(b, name, p, half, mass, material(b, mu));
}

static frix_body_id ball(frix_builder *b, const char *name, frix_vec3 p, double radius, double mass,
                         frix_vec3 velocity) {
  frix_body_config c = frix_body_default();
  frix_shape_config s = frix_shape_default();
  frix_body_id id;
  c.name = name, c.pose.p = p, c.mass = mass, c.velocity = velocity;
  s.kind = FRIX_SHAPE_SPHERE, s.radius = radius;
  s.material = material(b, 0.3);
  frix_builder_add_body(b, &c, &id);
  frix_builder_add_shape(b, id, &s, NULL);
  return id;
}

static void push(frix_sim *sim, frix_body_id id, frix_vec3 force, frix_vec3 local) {
  frix_body_state s;
  if (frix_sim_body(sim, id, &s) != FRIX_OK) return;
  frix_vec3 at = vec(s.center.x + local.x, s.center.y + local.y, s.center.z + local.z);
  frix_sim_add_force_at(sim, id, force, at);
}

/* ---- the worlds ---- */

static void build_grip(frix_builder *b, world *w) {
  frix_material_id rubber = material(b, w->mu);
  w->body[0] = box(b, "cup", vec(0, 0, 0.5), vec(0.05, 0.05, 0.05), 1, w->mu);
  for (int k = 0; k < 2; k++) {
    double side = k ? 1 : -1;
    w->body[1 + k] = box_of(b, k ? "right" : "left", vec(side * 0.07, 0, 0.5), vec(0.02, 0.05, 0.05), 0.2, rubber);
    frix_joint_config j = frix_joint_default(FRIX_JOINT_SLIDER);
    j.b = w->body[1 + k];
    frix_joint_place(b, &j, vec(side * 0.07, 0, 0.5), vec(1, 0, 0), vec(0, 0, 0), vec(0, 0, 0));
    frix_builder_add_joint(b, &j, NULL);
  }
}

static void squeeze(frix_sim *sim, world *w, double force) {
  push(sim, w->body[1], vec(force, 0, 0), vec(0, 0, 0));
  push(sim, w->body[2], vec(-force, 0, 0), vec(0, 0, 0));
}

static frix_status drive_weak_grip(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  squeeze(sim, w, 20 - 20 * frix_sim_time(sim));
  push(sim, w->body[0], vec(0, 0, (1 - w->load) * 9.81), vec(0, 0, 0));
  return FRIX_OK;
}

static frix_status drive_pulled_cup(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  squeeze(sim, w, 30);
  push(sim, w->body[0], vec(0, 0, -40 * w->load * frix_sim_time(sim)), vec(0, 0, 0));
  return FRIX_OK;
}

static void build_foot(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[0] = box(b, "foot", vec(0, 0, 0.1), vec(0.15, 0.05, 0.1), 2, w->mu);
}

static frix_status drive_foot(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[0], vec(6 * w->load * frix_sim_time(sim), 0, 0), vec(0, 0, -0.08));
  return FRIX_OK;
}

static void build_tower(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[0] = box(b, "tower", vec(0, 0, 0.5), vec(0.1, 0.1, 0.5), 10, w->mu);
}

static frix_status drive_tower(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[0], vec(30 * w->load * frix_sim_time(sim), 0, 0), vec(0, 0, 0.5));
  return FRIX_OK;
}

static frix_status drive_wind(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  frix_sim_add_force(sim, w->body[0], vec(0, 0, 0), vec(0, 25 * w->load * frix_sim_time(sim), 0));
  return FRIX_OK;
}

static void build_wall(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[0] = box(b, "wall", vec(0, 0, 0.2), vec(0.1, 0.4, 0.2), 20, w->mu);
  w->body[1] = box(b, "pusher", vec(-0.3, 0, 0.1), vec(0.1, 0.1, 0.05), 0, 0.3);
}

static frix_status drive_pusher(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  return frix_sim_set_velocity(sim, w->body[1], vec(0.4 * w->load, 0, 0), vec(0, 0, 0));
}

static void build_incline(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[0] = box(b, "block", vec(0, 0, 0.05), vec(0.2, 0.2, 0.05), 3, w->mu);
}

static frix_status drive_incline(frix_sim *sim, double h, void *user) {
  double s, c;
  (void)h, (void)user;
  frix_sincos(0.6 * frix_sim_time(sim), &s, &c);
  return frix_sim_set_gravity(sim, vec(9.81 * s, 0, -9.81 * c));
}

static void build_tray(frix_builder *b, world *w) {
  w->body[1] = box(b, "tray", vec(0, 0, 0), vec(0.6, 0.6, 0.02), 0, w->mu);
  w->body[0] = box(b, "cup", vec(0, 0, 0.07), vec(0.05, 0.05, 0.05), 0.5, w->mu);
}

static frix_status drive_tray(frix_sim *sim, double h, void *user) {
  world *w = user;
  double t = frix_sim_time(sim) + h;
  return frix_sim_set_velocity(sim, w->body[1], vec(w->load * 2.5 * t * t, 0, 0), vec(0, 0, 0));
}

static frix_status drive_truck(frix_sim *sim, double h, void *user) {
  world *w = user;
  double t = frix_sim_time(sim) + h;
  return frix_sim_set_velocity(sim, w->body[1], vec(w->load * (t < 0.3 ? 0 : -4 * (t - 0.3)), 0, 0), vec(0, 0, 0));
}

static frix_status drive_shaker(frix_sim *sim, double h, void *user) {
  world *w = user;
  double s, c;
  frix_sincos(12 * (frix_sim_time(sim) + h), &s, &c);
  return frix_sim_set_velocity(sim, w->body[1], vec(0, 0, w->load * s), vec(0, 0, 0));
}

static void build_shelf(frix_builder *b, world *w) { build_tray(b, w); }

static frix_status drive_shelf(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  return frix_sim_set_velocity(sim, w->body[1], vec(0, 0, 0), vec(0, 2 * w->load * frix_sim_time(sim), 0));
}

static void build_hit(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[0] = box(b, "block", vec(0, 0, 0.1), vec(0.1, 0.1, 0.1), 2, w->mu);
  w->body[1] = ball(b, "ball", vec(-0.4, 0, 0.06), 0.05, 0.05, vec(2 * w->load, 0, 0.73));
}

static void build_ladder(frix_builder *b, world *w) {
  w->body[1] = box(b, "ground", vec(0, 0, -0.1), vec(2, 1, 0.1), -1, w->mu);
  w->body[2] = box(b, "house", vec(1.1, 0, 1.5), vec(0.1, 1, 1.5), -1, 0.04);
  frix_body_config c = frix_body_default();
  frix_shape_config s = frix_shape_default();
  c.name = "ladder", c.mass = 8;
  c.pose.q = frix_quat_turn(vec(0, 1, 0), 0.45);
  double sine, cosine;
  frix_sincos(0.45, &sine, &cosine);
  /* its corners just touch the ground and the house */
  c.pose.p = vec(1.0 - sine * 1.0 - cosine * 0.02, 0, cosine * 1.0 + sine * 0.02);
  s.kind = FRIX_SHAPE_BOX, s.half = vec(0.02, 0.2, 1.0), s.material = material(b, w->mu);
  frix_builder_add_body(b, &c, &w->body[0]);
  frix_builder_add_shape(b, w->body[0], &s, NULL);
}

static void build_plank(frix_builder *b, world *w) {
  box(b, "table", vec(0, 0, -0.1), vec(0.5, 0.5, 0.1), -1, w->mu);
  w->body[0] = box(b, "plank", vec(0.35, 0, 0.02), vec(0.5, 0.1, 0.02), 4, w->mu);
}

static frix_status drive_plank(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[0], vec(0, 0, -50 * w->load * frix_sim_time(sim)), vec(0.48, 0, 0.02));
  return FRIX_OK;
}

static void build_two(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[1] = box(b, "lower", vec(0, 0, 0.1), vec(0.2, 0.2, 0.1), 5, w->mu);
  w->body[0] = box(b, "upper", vec(0, 0, 0.3), vec(0.2, 0.2, 0.1), 5, 2 * w->mu);
}

static frix_status drive_lower(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[1], vec(60 * w->load * frix_sim_time(sim), 0, 0), vec(0, 0, -0.05));
  return FRIX_OK;
}

static frix_status drive_upper(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[0], vec(40 * w->load * frix_sim_time(sim), 0, 0), vec(0, 0, -0.05));
  return FRIX_OK;
}

static void build_slippery_top(frix_builder *b, world *w) {
  floor_of(b, 0.8);
  w->body[1] = box(b, "lower", vec(0, 0, 0.1), vec(0.2, 0.2, 0.1), 5, 0.8);
  w->body[0] = box(b, "upper", vec(0, 0, 0.3), vec(0.2, 0.2, 0.1), 5, w->mu * w->mu / 0.8);
}

static void build_crate(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[0] = box(b, "crate", vec(0, 0, 0.2), vec(0.2, 0.2, 0.2), 5, w->mu);
}

static frix_status drive_crane(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[0], vec(0, 0, 80 * w->load * frix_sim_time(sim)), vec(0, 0, 0.2));
  return FRIX_OK;
}

static void build_domino(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  w->body[0] = box(b, "domino", vec(0, 0, 0.25), vec(0.04, 0.1, 0.25), 0.8, w->mu);
  w->body[1] = box(b, "pusher", vec(-0.2, 0, 0.45), vec(0.05, 0.05, 0.03), 0, 0.1);
}

static frix_status drive_slow_pusher(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  return frix_sim_set_velocity(sim, w->body[1], vec(0.3 * w->load, 0, 0), vec(0, 0, 0));
}

static void build_shore(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  box(b, "pier", vec(-0.4, 0, 0.2), vec(0.1, 0.2, 0.2), 10, w->mu);
  w->body[1] = box(b, "shore", vec(0.4, 0, 0.2), vec(0.05, 0.05, 0.2), 1, w->mu);
  w->body[0] = box(b, "beam", vec(0, 0, 0.45), vec(0.6, 0.1, 0.05), 6, w->mu);
}

static frix_status drive_remove(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  bool due = frix_sim_time(sim) > 0.195 && frix_sim_alive(sim, w->body[1]) && !w->keep;
  return due ? frix_sim_remove(sim, w->body[1]) : FRIX_OK;
}

/* A plank over a gap between two walls, of three pieces that lean: the middle one is the keystone. */
static void build_keystone(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  frix_vec3 left[8], middle[8], right[8];
  int n = 0;
  for (int z = 0; z < 2; z++)
    for (int y = 0; y < 2; y++)
      for (int x = 0; x < 2; x++, n++) {
        double side = y ? 0.1 : -0.1, height = z ? 0.4 : 0, lean = z ? 0.05 : 0;
        left[n] = vec(x ? -0.1 - lean : -0.5, side, height);
        right[n] = vec(x ? 0.5 : 0.1 + lean, side, height);
        middle[n] = vec(x ? 0.1 + lean : -0.1 - lean, side, height);
      }
  const frix_vec3 *points[3] = {left, right, middle};
  const char *name[3] = {"springer", "other", "keystone"};
  for (int k = 0; k < 3; k++) {
    frix_geometry_config g = frix_geometry_default();
    frix_body_config c = frix_body_default();
    frix_shape_config s = frix_shape_default();
    g.kind = FRIX_GEOMETRY_HULL, g.point = points[k], g.point_count = 8;
    frix_builder_add_geometry(b, &g, &s.geometry);
    c.name = name[k], c.pose.p = vec(0, 0, k == 2 ? 0.2 : 0);
    s.kind = FRIX_SHAPE_HULL, s.material = material(b, w->mu);
    if (k < 2) c.kind = FRIX_BODY_STATIC;
    frix_body_id id;
    frix_builder_add_body(b, &c, &id);
    frix_builder_add_shape(b, id, &s, NULL);
    if (k == 2) w->body[1] = id;
  }
  w->body[0] = box(b, "load", vec(0, 0, 0.7), vec(0.1, 0.1, 0.1), 3, w->mu);
}

static void build_picture(frix_builder *b, world *w) {
  box(b, "wall", vec(0.1, 0, 1), vec(0.1, 1, 1), -1, w->mu);
  w->body[0] = box(b, "picture", vec(-0.02, 0, 1), vec(0.02, 0.2, 0.2), 1.5, w->mu);
}

static frix_status drive_picture(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  push(sim, w->body[0], vec(60 - 40 * frix_sim_time(sim), 0, (1 - w->load) * 1.5 * 9.81), vec(0, 0, 0));
  return FRIX_OK;
}

static void build_dam(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  for (int k = 0; k < 3; k++)
    w->body[k] = box(b,
                     k == 0   ? "base"
                     : k == 1 ? "middle"
                              : "crown",
                     vec(0, 0, 0.2 + 0.4 * k), vec(0.4, 0.5, 0.2), 100, k == 0 ? w->mu : 2 * w->mu);
}

/* Water rises: pressure on each course. */
static frix_status drive_dam(frix_sim *sim, double h, void *user) {
  world *w = user;
  (void)h;
  for (int k = 0; k < 3; k++)
    push(sim, w->body[k], vec((3 - k) * 250 * (k == 0 ? w->load : 1) * frix_sim_time(sim), 0, 0), vec(0, 0, -0.1));
  return FRIX_OK;
}

static void build_cards(frix_builder *b, world *w) {
  floor_of(b, w->mu);
  frix_material_id paper = material(b, w->mu);
  double sine, cosine;
  frix_sincos(0.4, &sine, &cosine);
  for (int k = 0; k < 2; k++) {
    double side = k ? 1 : -1;
    frix_body_config c = frix_body_default();
    frix_shape_config s = frix_shape_default();
    c.name = k ? "right" : "left", c.mass = 0.1;
    c.pose.q = frix_quat_turn(vec(0, 1, 0), -side * 0.4);
    c.pose.p = vec(side * (sine * 0.2 + cosine * 0.01), 0, cosine * 0.2 + sine * 0.01);
    s.kind = FRIX_SHAPE_BOX, s.half = vec(0.01, 0.1, 0.2), s.material = paper;
    frix_builder_add_body(b, &c, &w->body[k]);
    frix_builder_add_shape(b, w->body[k], &s, NULL);
  }
}

static const failure failures[] = {
    {"grip_too_weak",
     build_grip,
     drive_weak_grip,
     0.5,
     0.9,
     "cup",
     "left|right",
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_WEIGHT,
     "cup",
     {1, 1, 1, 0}},
    {"cup_pulled_out",
     build_grip,
     drive_pulled_cup,
     0.5,
     0.9,
     "cup",
     "left|right",
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_FORCE,
     "cup",
     {1, 1, 1, 0}},
    {"foot_on_ice",
     build_foot,
     drive_foot,
     0.1,
     0.8,
     "foot",
     NULL,
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_FORCE,
     "foot",
     {1, 1, 1, 0}},
    {"tower_tipped",
     build_tower,
     drive_tower,
     0.9,
     1.0,
     "tower",
     NULL,
     FRIX_FAILURE_TIP,
     FRIX_CAUSE_FORCE,
     "tower",
     {0, 1, 1, 0}},
    {"wind_on_tower",
     build_tower,
     drive_wind,
     0.9,
     1.0,
     "tower",
     NULL,
     FRIX_FAILURE_TIP,
     FRIX_CAUSE_FORCE,
     "tower",
     {0, 1, 1, 0}},
    {"wall_pushed",
     build_wall,
     drive_pusher,
     0.4,
     0.5,
     "wall",
     NULL,
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_MOTION,
     "pusher",
     {0, 0, 1, 0}},
    {"incline",
     build_incline,
     drive_incline,
     0.4,
     0.8,
     "block",
     NULL,
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_WEIGHT,
     "block",
     {1, 1, 0, 0}},
    {"tray_jerked",
     build_tray,
     drive_tray,
     0.3,
     1.0,
     "cup",
     "tray",
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_MOTION,
     "tray",
     {1, 1, 1, 0}},
    {"truck_brakes",
     build_tray,
     drive_truck,
     0.25,
     0.6,
     "cup",
     "tray",
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_MOTION,
     "tray",
     {1, 1, 1, 0}},
    {"shaken_table",
     build_tray,
     drive_shaker,
     0.3,
     0.4,
     "cup",
     "tray",
     FRIX_FAILURE_LIFT,
     FRIX_CAUSE_MOTION,
     "tray",
     {0, 1, 1, 0}},
    {"shelf_tilts",
     build_shelf,
     drive_shelf,
     0.3,
     0.6,
     "cup",
     "tray",
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_WEIGHT,
     "cup",
     {1, 1, 0, 0}},
    {"block_hit", build_hit, NULL, 0.3, 0.5, "block", NULL, FRIX_FAILURE_SLIP, FRIX_CAUSE_IMPACT, "ball", {1, 0, 1, 0}},
    {"ladder",
     build_ladder,
     NULL,
     0.1,
     0.2,
     "ladder",
     "ground|house",
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_WEIGHT,
     "ladder",
     {1, 0, 0, 0}},
    {"plank_overloaded",
     build_plank,
     drive_plank,
     0.6,
     0.8,
     "plank",
     "table",
     FRIX_FAILURE_TIP,
     FRIX_CAUSE_FORCE,
     "plank",
     {0, 1, 1, 0}},
    {"lower_block_pulled",
     build_two,
     drive_lower,
     0.3,
     0.8,
     "lower",
     NULL,
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_FORCE,
     "lower",
     {1, 1, 1, 0}},
    {"upper_block_pushed",
     build_slippery_top,
     drive_upper,
     0.3,
     0.8,
     "upper",
     "lower",
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_FORCE,
     "upper",
     {1, 1, 1, 0}},
    {"crate_lifted",
     build_crate,
     drive_crane,
     0.5,
     0.8,
     "crate",
     NULL,
     FRIX_FAILURE_LIFT,
     FRIX_CAUSE_FORCE,
     "crate",
     {0, 1, 1, 0}},
    {"domino_pushed",
     build_domino,
     drive_slow_pusher,
     0.9,
     0.8,
     "domino",
     NULL,
     FRIX_FAILURE_TIP,
     FRIX_CAUSE_MOTION,
     "pusher",
     {0, 0, 1, 0}},
    {"shore_removed",
     build_shore,
     drive_remove,
     0.5,
     0.5,
     "beam",
     "shore",
     FRIX_FAILURE_REMOVED,
     FRIX_CAUSE_REMOVAL,
     "shore",
     {0, 0, 0, 1}},
    {"keystone_removed",
     build_keystone,
     drive_remove,
     0.5,
     0.5,
     "load",
     "keystone",
     FRIX_FAILURE_REMOVED,
     FRIX_CAUSE_REMOVAL,
     "keystone",
     {0, 0, 0, 1}},
    {"picture_on_wall",
     build_picture,
     drive_picture,
     0.4,
     1.0,
     "picture",
     "wall",
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_WEIGHT,
     "picture",
     {1, 1, 1, 0}},
    {"dam_slides",
     build_dam,
     drive_dam,
     0.4,
     1.2,
     "base",
     NULL,
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_FORCE,
     "base",
     {1, 1, 1, 0}},
    {"cards_slide_apart",
     build_cards,
     NULL,
     0.1,
     0.2,
     "left",
     NULL,
     FRIX_FAILURE_SLIP,
     FRIX_CAUSE_WEIGHT,
     "left|right",
     {1, 0, 0, 0}},
};

/* ---- applying a remedy ---- */

static frix_model *compile(frix_context *context, world *w) {
  frix_builder *b = NULL;
  frix_model *model = NULL;
  if (frix_builder_create(context, &b) != FRIX_OK) return NULL;
  w->failure->build(b, w);
  frix_builder_compile(b, &model);
  frix_builder_destroy(b);
  return model;
}

static frix_vec3 turned(frix_quat q, frix_vec3 v) {
  frix_vec3 t = {2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z), 2 * (q.x * v.y - q.y * v.x)};
  return vec(v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
             v.z + q.w * t.z + q.x * t.y - q.y * t.x);
}

static void state_of(const frix_sim *sim, frix_body_id id, frix_body_state *out) {
  memset(out, 0, sizeof *out);
  out->pose.q.w = 1;
  if (id.index && frix_sim_alive(sim, id)) frix_sim_body(sim, id, out);
}

/* The distance of the two bodies' frames, in that of b: it stays where the contact holds. */
static double apart(const frix_sim *sim, const world *w, frix_vec3 *place) {
  frix_body_state a, b;
  state_of(sim, w->first.a, &a), state_of(sim, w->first.b, &b);
  frix_quat back = {b.pose.q.w, -b.pose.q.x, -b.pose.q.y, -b.pose.q.z};
  frix_vec3 d = turned(back, vec(a.pose.p.x - b.pose.p.x, a.pose.p.y - b.pose.p.y, a.pose.p.z - b.pose.p.z));
  double x = d.x - place->x, y = d.y - place->y, z = d.z - place->z;
  *place = d;
  return sqrt(x * x + y * y + z * z);
}

/* Where b was when the contact began to fail, without any remedy. */
static frix_body_state onset_state(frix_context *context, const world *w) {
  world plain = *w;
  frix_body_state b;
  frix_sim *sim = NULL;
  plain.mu = w->failure->mu, plain.load = 1, plain.press = 0;
  frix_model *model = compile(context, &plain);
  frix_sim_create(context, model, NULL, &sim);
  for (int64_t k = 0; k < w->first.step; k++) {
    if (w->failure->drive) w->failure->drive(sim, 0.005, &plain);
    frix_sim_step(sim, 0.005, NULL);
  }
  state_of(sim, w->first.b, &b);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  return b;
}

/* How far the bodies of the contact went from each other in a run with what `w` says. */
static double wander(frix_context *context, world *w) {
  frix_sim *sim = NULL;
  frix_model *model = compile(context, w);
  frix_vec3 start = {0, 0, 0}, place;
  frix_body_state a, b0, b;
  if (!model || frix_sim_create(context, model, NULL, &sim) != FRIX_OK) return INFINITY;
  apart(sim, w, &start);
  b0 = onset_state(context, w);
  double farthest = 0;
  for (int k = 0; k < (int)(w->failure->time / 0.005 + 0.5); k++) {
    if (w->failure->drive && w->failure->drive(sim, 0.005, w) != FRIX_OK) break;
    if (w->press > 0) {
      frix_vec3 n = w->first.normal, p = w->first.point;
      state_of(sim, w->first.a, &a), state_of(sim, w->first.b, &b);
      p = vec(p.x + b.pose.p.x - b0.pose.p.x, p.y + b.pose.p.y - b0.pose.p.y, p.z + b.pose.p.z - b0.pose.p.z);
      n = vec(w->press * n.x, w->press * n.y, w->press * n.z);
      frix_sim_add_force_at(sim, w->first.a, vec(-n.x, -n.y, -n.z), p);
      if (w->first.b.index) frix_sim_add_force_at(sim, w->first.b, n, p);
    }
    if (frix_sim_step(sim, 0.005, NULL) != FRIX_OK) break;
    place = start;
    farthest = fmax(farthest, apart(sim, w, &place));
  }
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  return farthest;
}

static bool named(const frix_model *model, frix_body_id id, const char *names) {
  frix_body_config c;
  if (!names) return !id.index;
  if (!id.index || frix_model_body(model, id, &c) != FRIX_OK || !c.name) return false;
  const char *at = strstr(names, c.name);
  size_t n = strlen(c.name);
  return at && (at[n] == 0 || at[n] == '|') && (at == names || at[-1] == '|');
}

static void check_remedies(fx_test *t, frix_context *context, const failure *f, world *w,
                           const frix_explanation_result *v) {
  const double allowed = 2e-3; /* m: sizes are tenths of a metre, of which a thousandth counts as leaving */
  for (int k = 0; k < FRIX_REMEDY_COUNT; k++) {
    const frix_remedy *r = &v->remedy[k];
    if (f->remedy[k] && !r->found) fx_test_fail(t, __FILE__, __LINE__, "%s: no remedy %d", f->name, k);
    if (!r->found) continue;
    world changed = *w;
    changed.first = v->first;
    if (k == FRIX_REMEDY_FRICTION) changed.mu = r->holds;
    if (k == FRIX_REMEDY_LOAD) changed.load = r->holds;
    if (k == FRIX_REMEDY_PRESS) changed.press = r->holds;
    if (k == FRIX_REMEDY_KEEP) changed.keep = true;
    /* what carries the load is not always what the test can scale */
    if (k == FRIX_REMEDY_LOAD && !f->remedy[k]) continue;
    if (k == FRIX_REMEDY_FRICTION && !f->remedy[k]) continue;
    double far = wander(context, &changed);
    if (!(far < allowed)) fx_test_fail(t, __FILE__, __LINE__, "%s: remedy %d leaves %g m", f->name, k, far);
    if (!r->certified) fx_test_fail(t, __FILE__, __LINE__, "%s: remedy %d is not certified", f->name, k);
    if (k != FRIX_REMEDY_KEEP && !(fabs(r->holds - r->fails) <= 1e-2 * fmax(r->holds, r->fails)))
      fx_test_fail(t, __FILE__, __LINE__, "%s: remedy %d in [%g, %g]", f->name, k, r->fails, r->holds);
  }
}

static int explain_one(fx_test *t, frix_context *context, const failure *f) {
  world w = {.mu = f->mu, .load = 1, .failure = f};
  frix_model *model = compile(context, &w);
  frix_explanation *e = NULL;
  if (!model) {
    fx_test_fail(t, __FILE__, __LINE__, "%s: %s", f->name, frix_error_text(context));
    return 0;
  }
  frix_explain_config config = frix_explain_default();
  config.body = frix_model_find_body(model, f->body);
  config.time = f->time, config.step = 0.005;
  config.within = 1e-2;
  config.drive = f->drive, config.user = &w;
  int runs = 0;
  if (frix_explain(context, model, NULL, &config, &e) != FRIX_OK) {
    fx_test_fail(t, __FILE__, __LINE__, "%s: %s", f->name, frix_error_text(context));
  } else {
    frix_explanation_result v;
    frix_explanation_view(e, &v);
    if (v.first.kind != f->kind || v.cause != f->cause || !named(model, v.first.a, f->body) ||
        !named(model, v.first.b, f->other) || !named(model, v.cause_body, f->by))
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s of %u on %u at %g by %s of %u", f->name,
                   frix_failure_name(v.first.kind), v.first.a.index, v.first.b.index, v.first.time,
                   frix_cause_name(v.cause), v.cause_body.index);
    CHECK(t, v.certified_steps == v.steps);
    const frix_body_energy *q = &v.energy;
    CHECK(t, fabs(q->other) <= 0.05 * (fabs(q->weight) + fabs(q->applied) + fabs(q->contacts)) + 1e-6);
    check_remedies(t, context, f, &w, &v);
    for (int k = 0; k < FRIX_REMEDY_COUNT; k++) runs += v.remedy[k].runs;
  }
  frix_explanation_destroy(e);
  frix_model_destroy(model);
  return runs;
}

/* Every fourth failure, from `first` on: tests run beside each other. */
static void scripted(fx_test *t, size_t first) {
  frix_context *context = NULL;
  int runs = 0, count = 0;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (size_t k = first; k < sizeof failures / sizeof *failures; k += 4, count++)
    runs += explain_one(t, context, &failures[k]);
  fx_test_note(t, "%d failures, %d runs for remedies", count, runs);
  frix_context_destroy(context);
}

static void scripted_0(fx_test *t) { scripted(t, 0); }
static void scripted_1(fx_test *t) { scripted(t, 1); }
static void scripted_2(fx_test *t) { scripted(t, 2); }
static void scripted_3(fx_test *t) { scripted(t, 3); }

/* What holds is told as such, with the contact that is nearest to slipping. */
static void held(fx_test *t) {
  static const failure quiet = {"quiet",           build_foot,      NULL, 0.5,         0.1, "foot", NULL,
                                FRIX_FAILURE_NONE, FRIX_CAUSE_NONE, NULL, {0, 0, 0, 0}};
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  explain_one(t, context, &quiet);
  frix_context_destroy(context);
}

static void command(fx_test *t) {
  shell_result r = shell(t,
                         "$frix run dominoes --set n=3 --time 0.2 --out tiles.frx --quiet && "
                         "$frix explain tiles.frx --body tile_1 --no-remedies --json");
  CHECK(t, r.code == 0 && shell_json(r.out) && strstr(r.out, "\"verdict\": \"tip\""));
  CHECK(t, strstr(r.out, "\"a\": \"tile_0\"") && strstr(r.out, "\"kind\": \"impact\""));
  shell_free(&r);
  r = shell(t, "$frix explain dominoes --set n=3 --body tile_1 --at 0.2 --within 0.05");
  CHECK(t, r.code == 0 && strstr(r.out, "At 0 s tile_0 begins to tip on the world") && strstr(r.out, "is held"));
  shell_free(&r);
  r = shell(t, "$frix explain dominoes --at 0.2");
  CHECK(t, r.code == 2 && strstr(r.err, "--body"));
  shell_free(&r);
  r = shell(t, "$frix explain dominoes --body nobody --at 0.2");
  CHECK(t, r.code == 2 && strstr(r.err, "nobody"));
  shell_free(&r);
}

const fx_test_row test_explain[] = {{"explain/scripted_failures_0", scripted_0},
                                    {"explain/scripted_failures_1", scripted_1},
                                    {"explain/scripted_failures_2", scripted_2},
                                    {"explain/scripted_failures_3", scripted_3},
                                    {"explain/held", held},
                                    {"explain/command", command},
                                    {0}};
