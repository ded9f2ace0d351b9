/* Scenes of soft bodies: they stand, hang, jam, chatter, pile up and roll into arches.
 *
 * Bodies are made by the generators of frix soften, with few modes; what is alike shares one body. */
#include "world.h"

#include <math.h>

static void put_box(ex_world *world, frix_pose pose, double x, double y, double z) {
  frix_shape_config box = ex_box(x, y, z);
  box.pose = pose;
  ex_add_shape(world, (frix_body_id){0, 0}, &box);
}

/* Body k of those that are alike. */
static void put_alike(ex_world *world, const frix_soft *soft, const char *prefix, int32_t k, frix_pose pose) {
  char name[32];
  frix_body_config body = ex_named(prefix, k, pose, name);
  ex_put_soft(world, soft, &body);
}

/* A cube or blob of 0.1 m, whose faces stay flat where they are pressed. */
static frix_soft *make_cube(ex_world *world, const char *shape, int32_t cells, int32_t modes, double young) {
  frix_soft_config c = frix_soft_default();
  c.sides = ex_vec3(0.1, 0.1, 0.1), c.cells = cells, c.order = 1, c.modes = modes, c.strains = true;
  c.damping_ratio = 0.2, c.young = young;
  return ex_soft(world, shape, &c);
}

/* ---- soft-stack ---- */

enum { STACK_N, STACK_YOUNG, STACK_MU };

static const frix_option_info stack_parameter[] = {
    [STACK_N] = EX_WHOLE("n", 10, 1, 200, "cubes of 0.1 m"),
    [STACK_YOUNG] = EX_REAL("young", 1e6, 1e3, 1e11, "Young's modulus, Pa"),
    [STACK_MU] = EX_REAL("mu", 0.5, 0, 10, "friction"),
};

static frix_status build_stack(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[STACK_MU], 0.0, seed);
  frix_soft *cube = make_cube(&world, "bar", 2, 8, value[STACK_YOUNG]);
  ex_add_ground(&world);
  for (int32_t k = 0; k < (int32_t)value[STACK_N]; k++)
    put_alike(&world, cube, "cube", k, ex_scattered(&world, 1e-4, 0.1 * (k + 0.5)));
  frix_soft_destroy(cube);
  return world.status;
}

const frix_scene ex_scene_soft_stack = {
    .name = "soft-stack",
    .summary = "soft cubes stand on each other",
    EX_PARAMETERS(stack_parameter),
    .step = 0.005,
    .time = 3.0,
    .build = build_stack,
};

/* ---- cantilever ---- */

enum { BEAM_YOUNG, BEAM_MATERIAL };

static const frix_option_info beam_parameter[] = {
    [BEAM_YOUNG] =
        EX_REAL("young", 1.84e6, 1e4, 1e12, "Young's modulus, Pa; at first it sags by a fifth of its length"),
    [BEAM_MATERIAL] = EX_CHOICE("material", 1, 2, "linear|stvk", "law of elasticity: linear is for small deflections"),
};

static const double beam_half = 0.5, beam_side = 0.2, grip = 1e6;

static frix_status build_beam(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, 0.5, 0.0, seed);
  frix_soft_config c = frix_soft_default();
  c.sides = ex_vec3(2.0 * beam_half, beam_side, beam_side), c.modes = 2;
  c.young = value[BEAM_YOUNG], c.damping_mass = 2.0;
  c.material = value[BEAM_MATERIAL] == 1 ? FRIX_SOFT_STVK : FRIX_SOFT_LINEAR;
  /* of all pairs of 2 modes and 6 shapes of the held end */
  if (c.material == FRIX_SOFT_STVK) c.derivatives = 36;
  c.hold_low = ex_vec3(-beam_half, -1.0, -1.0), c.hold_high = ex_vec3(-beam_half, 1.0, 1.0);
  frix_soft *beam = ex_soft(&world, "bar", &c);
  frix_body_config body = ex_body("beam", ex_at(0.0, 0.0, 1.0));
  ex_put_soft(&world, beam, &body);
  put_box(&world, ex_at(-beam_half - 0.1, 0.0, 1.0), 0.05, 0.1, 0.1);
  ex_add_ground(&world);
  frix_soft_destroy(beam);
  return world.status;
}

/* Points of the held end are pulled to where they were made. */
static frix_status hold_beam(frix_sim *sim, const frix_model *model, const double *value, double h) {
  frix_body_id id = frix_model_find_body(model, "beam");
  const frix_soft *soft = frix_model_soft(model, id);
  (void)value, (void)h;
  if (!soft) return FRIX_ERROR_INPUT;
  frix_soft_info info = frix_soft_view(soft);
  for (int32_t k = 0; k < info.point_count; k++) {
    frix_vec3 p = {info.point[k].x + info.center.x, info.point[k].y + info.center.y, info.point[k].z + info.center.z};
    if (p.x > -beam_half + 1e-9) continue;
    frix_soft_pull pull = {.point = k, .place = {p.x, p.y, p.z + 1.0}, .stiffness = grip, .damping = 1e2};
    frix_status status = frix_sim_pull(sim, id, &pull);
    if (status != FRIX_OK) return status;
  }
  return FRIX_OK;
}

const frix_scene ex_scene_cantilever = {
    .name = "cantilever",
    .summary = "a soft beam, held at one end, sags under its weight",
    EX_PARAMETERS(beam_parameter),
    .step = 0.02,
    .time = 5.0,
    .build = build_beam,
    .drive = hold_beam,
};

/* ---- jam ---- */

enum { JAM_N, JAM_MU, JAM_WIDTH, JAM_YOUNG };

static const frix_option_info jam_parameter[] = {
    [JAM_N] = EX_WHOLE("n", 3, 1, 50, "blobs of 0.1 m"),
    [JAM_MU] = EX_REAL("mu", 0.6, 0, 2, "friction"),
    [JAM_WIDTH] = EX_REAL("width", 0.094, 0.05, 0.2, "width of the slot, m"),
    [JAM_YOUNG] = EX_REAL("young", 5e4, 1e3, 1e11, "Young's modulus, Pa"),
};

static frix_status build_jam(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[JAM_MU], 0.0, seed);
  frix_soft *blob = make_cube(&world, "blob", 5, 9, value[JAM_YOUNG]);
  double half = value[JAM_WIDTH] / 2.0, high = 0.2;
  ex_add_ground(&world);
  for (int side = -1; side <= 1; side += 2) {
    put_box(&world, ex_at(side * (half + 0.1), 0.0, 0.6), 0.1, 0.15, high);
    /* a funnel above, steep enough that what slides at mu reaches the slot */
    frix_pose lip = ex_at(side * (half + 0.1616), 0.0, 0.88);
    lip.q = ex_turned(side * 30.0, 0.0, 1.0, 0.0);
    put_box(&world, lip, 0.1, 0.15, 0.15);
    put_box(&world, ex_at(0.0, side * 0.16, 0.75), 0.3, 0.1, 0.35);
  }
  for (int32_t k = 0; k < (int32_t)value[JAM_N]; k++)
    put_alike(&world, blob, "blob", k, ex_scattered(&world, 1e-3, 0.92 + 0.11 * k));
  frix_soft_destroy(blob);
  return world.status;
}

const frix_scene ex_scene_jam = {
    .name = "jam",
    .summary = "soft blobs dropped into a tight slot: they jam, or slide through, by mu",
    EX_PARAMETERS(jam_parameter),
    .step = 0.002,
    .time = 3.0,
    .build = build_jam,
};

/* ---- chairs ---- */

enum { CHAIRS_N, CHAIRS_MU, CHAIRS_RATE, CHAIRS_CELLS, CHAIRS_STOP };

static const frix_option_info chairs_parameter[] = {
    [CHAIRS_N] = EX_WHOLE("n", 4, 1, 400, "chairs"),
    [CHAIRS_MU] = EX_REAL("mu", 0.4, 0, 2, "friction"),
    [CHAIRS_RATE] = EX_REAL("rate", 10, 0, 90, "tilting speed of the floor, degrees per second"),
    [CHAIRS_CELLS] = EX_WHOLE("cells", 1, 1, 5, "cells across a leg, which give the contacts of a foot"),
    [CHAIRS_STOP] = EX_REAL("stop", 30, 0, 60, "inclination at which the floor is tilted back, degrees"),
};

static frix_status build_chairs(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[CHAIRS_MU], 0.0, seed);
  frix_soft_config c = frix_soft_default();
  c.cells = (int32_t)value[CHAIRS_CELLS], c.order = 1, c.modes = 20, c.young = 1e9, c.damping_stiffness = 1e-4;
  frix_soft *chair = ex_soft(&world, "chair", &c);
  frix_soft_info info = frix_soft_view(chair);
  int32_t n = (int32_t)value[CHAIRS_N], side = 1;
  double foot = 0.0;
  for (int32_t k = 0; k < info.point_count; k++) foot = fmin(foot, info.point[k].z + info.center.z);
  while (side * side < n) side++;
  ex_add_ground(&world);
  for (int32_t k = 0; k < n; k++) {
    frix_pose pose = ex_at(k % side - 0.5 * side, k / side - 0.5 * side, -foot);
    pose.q = ex_turned(ex_noise(&world, 180.0), 0.0, 0.0, 1.0);
    put_alike(&world, chair, "chair", k, pose);
  }
  frix_soft_destroy(chair);
  return world.status;
}

/* The floor stays where it is; gravity turns about y, to the inclination where it stops, and back. */
static frix_status incline(frix_sim *sim, const frix_model *model, const double *value, double h) {
  double s, c, angle = value[CHAIRS_RATE] * (frix_sim_time(sim) + h), stop = value[CHAIRS_STOP];
  (void)model;
  ex_sincos(angle < stop ? angle : fmax(2.0 * stop - angle, 0.0), &s, &c);
  return frix_sim_set_gravity(sim, ex_vec3(9.81 * s, 0.0, -9.81 * c));
}

const frix_scene ex_scene_chairs = {
    .name = "chairs",
    .summary = "plastic chairs on a floor that is slowly inclined and tilted back: legs stick, slip and chatter",
    EX_PARAMETERS(chairs_parameter),
    .step = 0.005,
    .time = 3.0,
    .build = build_chairs,
    .drive = incline,
};

/* ---- dinosaurs ---- */

enum { DINOSAURS_N, DINOSAURS_MU, DINOSAURS_YOUNG, DINOSAURS_CELLS };

static const frix_option_info dinosaurs_parameter[] = {
    [DINOSAURS_N] = EX_WHOLE("n", 4, 1, 100, "dinosaurs, 0.64 m long"),
    [DINOSAURS_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
    [DINOSAURS_YOUNG] = EX_REAL("young", 3e5, 1e4, 1e11, "Young's modulus, Pa"),
    [DINOSAURS_CELLS] = EX_WHOLE("cells", 1, 1, 4, "across a tail: contacts"),
};

static frix_status build_dinosaurs(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[DINOSAURS_MU], 0.0, seed);
  frix_soft_config c = frix_soft_default();
  c.material = FRIX_SOFT_STVK, c.order = 1, c.modes = 8, c.derivatives = 8, c.young = value[DINOSAURS_YOUNG];
  c.density = 500.0, c.damping_ratio = 0.1, c.cells = (int32_t)value[DINOSAURS_CELLS];
  frix_soft *dinosaur = ex_soft(&world, "dinosaur", &c);
  ex_add_ground(&world);
  for (int32_t k = 0; k < (int32_t)value[DINOSAURS_N]; k++) {
    frix_pose pose = ex_scattered(&world, 0.05, 0.25 + 0.45 * k);
    pose.q = ex_turned(75.0 * k, 0.0, 0.0, 1.0);
    put_alike(&world, dinosaur, "dinosaur", k, pose);
  }
  frix_soft_destroy(dinosaur);
  return world.status;
}

const frix_scene ex_scene_dinosaurs = {
    .name = "dinosaurs",
    .summary = "soft creatures of St.Venant-Kirchhoff material are dropped on each other",
    EX_PARAMETERS(dinosaurs_parameter),
    .step = 0.005,
    .time = 3.0,
    .build = build_dinosaurs,
};

/* ---- bunnies-arch ---- */

enum { ROLLING_N, ROLLING_MU, ARCH_MU, ROLLING_SLOPE };

static const frix_option_info rolling_parameter[] = {
    [ROLLING_N] = EX_WHOLE("n", 4, 1, 60, "soft bunnies, 0.14 m long"),
    [ROLLING_MU] = EX_REAL("mu", 0.4, 0, 2, "friction of the bunnies"),
    [ARCH_MU] = EX_REAL("arch-mu", 0.5, 0, 2, "friction between the stones of the arch"),
    [ROLLING_SLOPE] = EX_REAL("slope", 30, 5, 60, "slope of the ramp, degrees"),
};

enum { STONES = 9 };

/* A stone of the arch: a wedge of a semicircular ring of mean radius 0.3 m, 0.12 thick and 0.2 deep, in the plane y z.
 */
static void put_stone(ex_world *world, int32_t k, double x) {
  frix_vec3 corner[8];
  for (int c = 0; c < 8; c++) {
    double s, q, radius = c & 1 ? 0.36 : 0.24;
    ex_sincos(180.0 * (k + (c >> 1 & 1)) / STONES, &s, &q);
    corner[c] = ex_vec3(x + (c & 4 ? 0.1 : -0.1), radius * q, radius * s);
  }
  frix_geometry_config g = frix_geometry_default();
  frix_shape_config shape = frix_shape_default();
  g.kind = FRIX_GEOMETRY_HULL, g.point = corner, g.point_count = 8;
  if (world->status == FRIX_OK) world->status = frix_builder_add_geometry(world->builder, &g, &shape.geometry);
  shape.kind = FRIX_SHAPE_HULL, shape.material = world->material, shape.density = 1000.0;
  char name[32];
  frix_body_config body = ex_named("stone", k, ex_at(0.0, 0.0, 0.0), name);
  ex_put(world, &body, &shape);
}

static frix_status build_rolling(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[ROLLING_MU], 0.0, seed);
  frix_material_id fur = world.material;
  frix_soft_config c = frix_soft_default();
  c.order = 1, c.modes = 10, c.young = 1e5, c.density = 400.0, c.damping_ratio = 0.2;
  frix_soft *bunny = ex_soft(&world, "bunny", &c);
  world.material = ex_material(&world, value[ARCH_MU], 0.0, 0.0);
  ex_add_ground(&world);
  for (int32_t k = 0; k < STONES; k++) put_stone(&world, k, 1.2);
  double s, q;
  ex_sincos(value[ROLLING_SLOPE], &s, &q);
  frix_pose ramp = ex_at(-0.8 * q - 0.02 * s, 0.0, 0.8 * s - 0.02 * q);
  ramp.q = ex_turned(value[ROLLING_SLOPE], 0.0, 1.0, 0.0);
  world.material = fur;
  put_box(&world, ramp, 0.8, 0.5, 0.02);
  for (int32_t k = 0; k < (int32_t)value[ROLLING_N]; k++) {
    double up = 1.3 + 0.25 * (k / 3), across = 0.22 * (k % 3 - 1);
    frix_pose pose = ex_at(-up * q + 0.14 * s, across + ex_noise(&world, 0.02), up * s + 0.14 * q + 0.03);
    pose.q = ex_turned(90.0, 0.0, 1.0, 0.0);
    put_alike(&world, bunny, "bunny", k, pose);
  }
  frix_soft_destroy(bunny);
  return world.status;
}

const frix_scene ex_scene_bunnies_arch = {
    .name = "bunnies-arch",
    .summary = "soft bunnies roll down a ramp into an arch of rigid stones",
    EX_PARAMETERS(rolling_parameter),
    .step = 0.0025,
    .time = 3.0,
    .build = build_rolling,
};

/* ---- touch ---- */

enum { TOUCH_YOUNG, TOUCH_MU, TOUCH_CELLS };

static const frix_option_info touch_parameter[] = {
    [TOUCH_YOUNG] = EX_REAL("young", 2e5, 1e3, 1e11, "Young's modulus, Pa"),
    [TOUCH_MU] = EX_REAL("mu", 0.5, 0, 10, "friction"),
    [TOUCH_CELLS] = EX_WHOLE("cells", 5, 2, 8, "cells along a side, which give the contacts"),
};

/* 33 coordinates of each cube and 6 of the hand: 72. */
static frix_status build_touch(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[TOUCH_MU], 0.0, seed);
  frix_soft *cube = make_cube(&world, "bar", (int32_t)value[TOUCH_CELLS], 21, value[TOUCH_YOUNG]);
  ex_add_ground(&world);
  for (int32_t k = 0; k < 2; k++) put_alike(&world, cube, "cube", k, ex_at(0.0, 0.0, 0.1 * k + 0.05));
  frix_body_config hand = ex_body("hand", ex_at(0.0, 0.0, 0.226));
  frix_shape_config ball = ex_ball(&world, 0.025);
  hand.mass = 0.1, hand.gravity_scale = 0.0;
  ex_put(&world, &hand, &ball);
  frix_soft_destroy(cube);
  return world.status;
}

const frix_scene ex_scene_touch = {
    .name = "touch",
    .summary = "two soft cubes on each other, and a ball above them for frix haptic to hold",
    EX_PARAMETERS(touch_parameter),
    .step = 0.001,
    .time = 1.0,
    .build = build_touch,
};
