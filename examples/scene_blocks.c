/* Blocks on blocks: a stack, a brick wall, a log house; a hexagonal pyramid on a table. */
#include "world.h"

#include <math.h>
#include <stdio.h>

/* ---- stack: cubes of 0.5 m and 1 kg ---- */

enum { STACK_N, STACK_MU };

static const frix_option_info stack_parameter[] = {
    [STACK_N] = EX_WHOLE("n", 10, 1, 10000, "cubes"),
    [STACK_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
};

static frix_status build_stack(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[STACK_MU], 0.0, seed);
  const double half = 0.25;
  frix_shape_config cube = ex_box(half, half, half);
  ex_add_ground(&world);
  for (int32_t k = 0; k < (int32_t)value[STACK_N]; k++) {
    char name[32];
    snprintf(name, sizeof name, "cube_%d", (int)k);
    double x = world.perturbed ? ex_noise(&world, 1e-3) : 0.0, y = world.perturbed ? ex_noise(&world, 1e-3) : 0.0;
    frix_body_config body = ex_body(name, ex_at(x, y, (2 * k + 1) * half));
    body.mass = 1.0;
    ex_put(&world, &body, &cube);
  }
  return world.status;
}

const frix_scene ex_scene_stack = {
    .name = "stack",
    .summary = "a tower of cubes",
    EX_PARAMETERS(stack_parameter),
    .step = 0.01,
    .time = 5.0,
    .stands = true,
    .build = build_stack,
};

/* ---- wall: running bond, odd courses begin and end with half a brick ---- */

static const double brick_length = 0.20, brick_width = 0.10, brick_height = 0.06, brick_density = 1800.0;

enum { COLUMNS, COURSES, WALL_MU };

static const frix_option_info wall_parameter[] = {
    [COLUMNS] = EX_WHOLE("columns", 6, 1, 500, "bricks in an even course"),
    [COURSES] = EX_WHOLE("courses", 8, 1, 500, "layers"),
    [WALL_MU] = EX_REAL("mu", 0.6, 0, 2, "friction"),
};

static frix_status build_wall(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[WALL_MU], 0.0, seed);
  int32_t columns = (int32_t)value[COLUMNS], number = 0;
  double half = brick_length / 2.0;
  ex_add_ground(&world);
  for (int32_t course = 0; course < (int32_t)value[COURSES]; course++)
    for (int32_t start = 0, end; start < 2 * columns; start = end) { /* in half bricks */
      end = start + (course % 2 && start == 0 ? 1 : 2);
      if (end > 2 * columns) end = 2 * columns;
      char name[32];
      snprintf(name, sizeof name, "brick_%d", (int)number++);
      double y = world.perturbed ? ex_noise(&world, 1e-3) : 0.0;
      frix_body_config body =
          ex_body(name, ex_at((start + end - 2 * columns) / 2.0 * half, y, (course + 0.5) * brick_height));
      frix_shape_config brick = ex_box((end - start) * half / 2.0, brick_width / 2.0, brick_height / 2.0);
      brick.density = brick_density;
      ex_put(&world, &body, &brick);
    }
  return world.status;
}

const frix_scene ex_scene_wall = {
    .name = "wall",
    .summary = "a brick wall in running bond, without mortar",
    EX_PARAMETERS(wall_parameter),
    .step = 0.01,
    .time = 5.0,
    .stands = true,
    .build = build_wall,
};

/* ---- log house ----
 *
 * Squared logs of side d: those along x lie at heights k d, those along y half a log higher, crossing at the corners.
 * Every log is notched from below by d/2 at its two crossings, where it rides on the log below; between and outside
 * the crossings it has its full height less a clearance, so that it carries load there alone. */

static const double log_side = 0.20, log_span = 3.0, log_overhang = 0.30, log_clearance = 0.02, log_density = 500.0;

enum { LOG_LEVELS, LOG_MU };

static const frix_option_info log_parameter[] = {
    [LOG_LEVELS] = EX_WHOLE("levels", 12, 1, 200, "logs in each of the four walls"),
    [LOG_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
};

/* A part of a log from a to b along it, between heights z0 and z1 above its underside. */
static void add_part(ex_world *world, frix_body_id log, bool along_x, double a, double b, double z0, double z1) {
  double along = (b - a) / 2.0, across = log_side / 2.0;
  frix_shape_config part = along_x ? ex_box(along, across, (z1 - z0) / 2.0) : ex_box(across, along, (z1 - z0) / 2.0);
  part.pose = along_x ? ex_at((a + b) / 2.0, 0.0, (z0 + z1) / 2.0) : ex_at(0.0, (a + b) / 2.0, (z0 + z1) / 2.0);
  part.density = log_density;
  ex_add_shape(world, log, &part);
}

static void add_log(ex_world *world, const char *name, bool along_x, bool lowest, double across, double z) {
  frix_body_config body = ex_body(name, along_x ? ex_at(0.0, across, z) : ex_at(across, 0.0, z));
  frix_body_id log = ex_put(world, &body, NULL);
  double corner = log_span / 2.0, notch = log_side / 2.0 + log_clearance, end = corner + notch + log_overhang;
  double under = lowest ? 0.0 : log_clearance; /* the lowest ones lie on the ground */
  add_part(world, log, along_x, -corner + notch, corner - notch, under, log_side);
  for (int side = -1; side <= 1; side += 2) {
    double inner = side * (corner - notch), outer = side * (corner + notch), tip = side * end;
    bool right = side > 0;
    add_part(world, log, along_x, right ? inner : outer, right ? outer : inner, lowest ? 0.0 : log_side / 2.0,
             log_side);
    add_part(world, log, along_x, right ? outer : tip, right ? tip : outer, under, log_side);
  }
}

static frix_status build_loghouse(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[LOG_MU], 0.0, seed);
  ex_add_ground(&world);
  for (int32_t k = 0; k < (int32_t)value[LOG_LEVELS]; k++)
    for (int wall = 0; wall < 4; wall++) {
      bool along_x = wall < 2;
      char name[32];
      snprintf(name, sizeof name, "log_%d_%d", (int)k, wall);
      double across = (wall % 2 ? 0.5 : -0.5) * log_span + (world.perturbed ? ex_noise(&world, 1e-3) : 0.0);
      add_log(&world, name, along_x, along_x && k == 0, across, (k + (along_x ? 0.0 : 0.5)) * log_side);
    }
  return world.status;
}

const frix_scene ex_scene_loghouse = {
    .name = "loghouse",
    .summary = "four walls of notched logs",
    EX_PARAMETERS(log_parameter),
    .step = 0.01,
    .time = 2.0,
    .stands = true,
    .build = build_loghouse,
};

/* ---- hexagonal pyramid: base a regular hexagon of radius 1 m, height 1 m; many force solutions, one motion ---- */

enum { PYRAMID_MU, PYRAMID_MASS };

static const frix_option_info pyramid_parameter[] = {
    [PYRAMID_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
    [PYRAMID_MASS] = EX_REAL("mass", 1, 1e-3, 1e3, "kg"),
};

static frix_status build_hexapyramid(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[PYRAMID_MU], 0.0, seed);
  const double tall = sqrt(3.0) / 2.0;
  const frix_vec3 corner[7] = {{1, 0, 0},        {0.5, tall, 0},  {-0.5, tall, 0}, {-1, 0, 0},
                               {-0.5, -tall, 0}, {0.5, -tall, 0}, {0, 0, 1}};
  frix_geometry_config geometry = frix_geometry_default();
  frix_shape_config hull = frix_shape_default();
  geometry.kind = FRIX_GEOMETRY_HULL, geometry.point_count = 7, geometry.point = corner;
  hull.kind = FRIX_SHAPE_HULL;
  ex_add_ground(&world);
  if (world.status == FRIX_OK) world.status = frix_builder_add_geometry(builder, &geometry, &hull.geometry);
  frix_body_config body = ex_body("pyramid", ex_at(0.0, 0.0, 0.0));
  body.mass = value[PYRAMID_MASS];
  ex_put(&world, &body, &hull);
  return world.status;
}

const frix_scene ex_scene_hexapyramid = {
    .name = "hexapyramid",
    .summary = "a hexagonal pyramid on a table: many force solutions, one motion",
    EX_PARAMETERS(pyramid_parameter),
    .step = 0.01,
    .time = 1.0,
    .stands = true,
    .build = build_hexapyramid,
};
