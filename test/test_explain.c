/* Twenty-three scripted failures: frix_explain names the contact, the cause and remedies, and each remedy, applied to
 * the world by other means than the library's, makes it hold. */
#include "explain_case.h"
#include "shell.h"

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

/* Every fourth failure, from `first` on: tests run beside each other. */
static void scripted(fx_test *t, size_t first) {
  explain_scripted(t, failures, sizeof failures / sizeof *failures, first, 4);
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
