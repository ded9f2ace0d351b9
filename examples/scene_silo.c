/* Grains in a silo and a column of grains that collapses. Both start as packings of spheres that rolled into place
 * (packing.h). */
#include <math.h>
#include <stdio.h>

#include "packing.h"
#include "world.h"

static const double grain = 0.05, grain_density = 2500.0;

static frix_material_id grain_material(ex_world *world, double mu, double stiffness, double rolling) {
  frix_material_config material = frix_material_default();
  material.mu = mu, material.stiffness = stiffness, material.rolling = rolling;
  return ex_add_material(world, &material);
}

/* Where the packing ends: a square of half width `half`, or (round) a circle of that radius. */
typedef struct container {
  double half;
  bool round;
} container;

static void keep_in_container(const void *where, double radius, frix_vec3 *c) {
  const container *box = where;
  double most = box->half - radius, distance = sqrt(c->x * c->x + c->y * c->y);
  if (box->round && distance > most) c->x *= most / distance, c->y *= most / distance;
  if (!box->round) {
    c->x = fmax(-most, fmin(most, c->x));
    c->y = fmax(-most, fmin(most, c->y));
  }
  if (c->z < radius) c->z = radius;
}

static void fill(ex_world *world, const container *box, int64_t count) {
  frix_shape_config ball = ex_ball(world, grain);
  ball.density = grain_density;
  double floor_area = (box->round ? 3.0 : 4.0) * box->half * box->half;
  double height = (double)count * 4.2 * grain * grain * grain / 0.5 / floor_area + 20.0 * grain;
  ex_packing *packing = ex_packing_new(count, grain, box->half, 0.0, height, keep_in_container, box);
  if (!packing) world->status = FRIX_ERROR_MEMORY;
  for (int64_t k = 0; k < count && world->status == FRIX_OK;) {
    double most = box->half - grain, x = ex_noise(world, most), y = ex_noise(world, most);
    if (box->round && x * x + y * y > most * most) continue;
    char name[32];
    frix_vec3 p = ex_packing_drop(packing, x, y);
    snprintf(name, sizeof name, "grain_%d", (int)k++);
    frix_body_config body = ex_body(name, ex_at(p.x, p.y, p.z));
    ex_put(world, &body, &ball);
  }
  ex_packing_free(packing);
}

/* ---- silo: upright walls around a square, a flat floor with a square hole in its middle ---- */

enum { SILO_N, SILO_WIDTH, SILO_OUTLET, SILO_MU, SILO_WALL, SILO_STIFFNESS, SILO_LIFT };

static const frix_option_info silo_parameter[] = {
    [SILO_N] = EX_WHOLE("n", 1500, 1, 1000000, "grains of 0.1 m"),
    [SILO_WIDTH] = EX_REAL("width", 12, 2, 1000, "width of the silo over the diameter of a grain"),
    [SILO_OUTLET] = EX_REAL("outlet", 0, 0, 1000, "side of the hole over the diameter of a grain; 0: closed"),
    [SILO_MU] = EX_REAL("mu", 0.5, 0, 2, "friction between grains"),
    [SILO_WALL] = EX_REAL("wall", 0.5, 0, 2, "friction of the walls and the floor"),
    [SILO_STIFFNESS] =
        EX_REAL("stiffness", 1e6, 0, 1e12, "stiffness of a contact, N/m; 0: by the contact law (--contact)"),
    [SILO_LIFT] = EX_REAL("lift", 0, 0, 10, "upward speed of the walls, m/s, which mobilises their friction"),
};

/* Floor plates around the hole, their upper face at z = 0. */
static void add_floor(ex_world *world, double half, double hole) {
  const double thick = 0.1;
  const frix_body_id the_world = {0, 0};
  if (hole <= 0.0) {
    ex_add_wall(world, ex_vec3(0.0, 0.0, 0.0), ex_vec3(0.0, 0.0, 1.0));
    return;
  }
  double side = (half + thick - hole) / 2.0, middle = hole + side;
  for (int k = 0; k < 4; k++) {
    double sign = k % 2 ? 1.0 : -1.0;
    frix_shape_config plate = k < 2 ? ex_box(side, half + thick, thick) : ex_box(hole, side, thick);
    plate.material = world->material;
    plate.pose.p = k < 2 ? ex_vec3(sign * middle, 0.0, -thick) : ex_vec3(0.0, sign * middle, -thick);
    ex_add_shape(world, the_world, &plate);
  }
}

/* Four planes on a body that moves up; a plane that moves along itself stays where it is. */
static void add_sides(ex_world *world, double half, double speed) {
  frix_body_config body = ex_body("walls", ex_at(0.0, 0.0, 0.0));
  body.kind = FRIX_BODY_KINEMATIC;
  body.velocity = ex_vec3(0.0, 0.0, speed);
  frix_body_id id = ex_put(world, &body, NULL);
  for (int k = 0; k < 4; k++) {
    /* z of the plane's frame points inwards: a quarter turn about y or x */
    double sign = k % 2 ? 1.0 : -1.0;
    frix_shape_config side = frix_shape_default();
    side.kind = FRIX_SHAPE_PLANE;
    side.pose.p = k < 2 ? ex_vec3(sign * half, 0.0, 0.0) : ex_vec3(0.0, sign * half, 0.0);
    side.pose.q = k < 2 ? ex_turned(-90.0 * sign, 0.0, 1.0, 0.0) : ex_turned(90.0 * sign, 1.0, 0.0, 0.0);
    ex_add_shape(world, id, &side);
  }
}

static frix_status build_silo(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[SILO_MU], 0.0, seed);
  container box = {value[SILO_WIDTH] * grain, false};
  double hole = fmin(value[SILO_OUTLET] * grain, box.half - grain);
  frix_material_id walls = grain_material(&world, value[SILO_WALL], value[SILO_STIFFNESS], 0.0);
  frix_material_id grains = grain_material(&world, value[SILO_MU], value[SILO_STIFFNESS], 0.0);
  frix_material_config meet = frix_material_default(); /* springs in series, as by the mixing rule */
  meet.mu = value[SILO_WALL], meet.stiffness = value[SILO_STIFFNESS] / 2.0;
  if (world.status == FRIX_OK) world.status = frix_builder_set_pair(builder, grains, walls, &meet);
  world.material = walls;
  add_floor(&world, box.half, hole);
  add_sides(&world, box.half, value[SILO_LIFT]);
  world.material = grains;
  fill(&world, &box, (int64_t)value[SILO_N]);
  return world.status;
}

const frix_scene ex_scene_silo = {
    .name = "silo",
    .summary = "grains in a square silo, at rest or running out of a hole in its floor",
    EX_PARAMETERS(silo_parameter),
    .step = 0.005,
    .time = 1.0,
    .build = build_silo,
};

/* ---- collapse: a cylinder of grains without a wall, on a flat floor ---- */

enum { COLLAPSE_N, COLLAPSE_ASPECT, COLLAPSE_MU, COLLAPSE_ROLLING, COLLAPSE_STIFFNESS };

static const frix_option_info collapse_parameter[] = {
    [COLLAPSE_N] = EX_WHOLE("n", 1500, 1, 1000000, "grains of 0.1 m"),
    [COLLAPSE_ASPECT] = EX_REAL("aspect", 1, 0.1, 50, "height of the column over its radius"),
    [COLLAPSE_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
    [COLLAPSE_ROLLING] = EX_REAL("rolling", 0.001, 0, 1, "rolling friction, m"),
    [COLLAPSE_STIFFNESS] =
        EX_REAL("stiffness", 0, 0, 1e12, "stiffness of a contact, N/m; 0: by the contact law (--contact)"),
};

/* n 4/3 r^3 = 0.57 R^2 (aspect R) */
static double column_radius(const double *value) {
  double volume = value[COLLAPSE_N] * (4.0 / 3.0) * grain * grain * grain / 0.57 / value[COLLAPSE_ASPECT], radius = 1.0;
  for (int k = 0; k < 80; k++) radius -= (radius * radius * radius - volume) / (3.0 * radius * radius);
  return fmax(radius, 2.0 * grain);
}

static frix_status build_collapse(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[COLLAPSE_MU], 0.0, seed);
  container column = {column_radius(value), true};
  world.material = grain_material(&world, value[COLLAPSE_MU], value[COLLAPSE_STIFFNESS], value[COLLAPSE_ROLLING]);
  ex_add_ground(&world);
  fill(&world, &column, (int64_t)value[COLLAPSE_N]);
  return world.status;
}

const frix_scene ex_scene_collapse = {
    .name = "collapse",
    .summary = "a column of grains falls apart and runs out",
    EX_PARAMETERS(collapse_parameter),
    .step = 0.005,
    .time = 2.0,
    .build = build_collapse,
};
