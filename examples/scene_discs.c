/* Discs in the plane: a cannonball pile, a funnel that jams, a shaken box where large ones rise. */
#include "world.h"

#include <math.h>
#include <stdio.h>

static frix_body_config numbered(char *name, size_t size, const char *kind, int32_t k, double x, double y) {
  snprintf(name, size, "%s_%d", kind, (int)k);
  return ex_body(name, ex_at(x, y, 0.0));
}

/* ---- cannonballs: a triangle of discs of diameter 3 m, the lowest row on the ground ---- */

enum { LEVELS, PILE_MU };

static const frix_option_info pile_parameter[] = {
    [LEVELS] = EX_WHOLE("levels", 6, 1, 200, "rows; 6, 16, 20 are 21, 136, 210 discs"),
    [PILE_MU] = EX_REAL("mu", 0.8, 0, 2, "friction"),
};

static frix_status build_cannonball(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, true, value[PILE_MU], 0.0, seed);
  const double r = 1.5;
  int32_t levels = (int32_t)value[LEVELS], number = 0;
  frix_shape_config disc = ex_ball(&world, r);
  disc.density = 1.0;
  ex_add_ground(&world);
  for (int32_t row = 0; row < levels; row++)
    for (int32_t k = 0; k < levels - row; k++) {
      char name[32];
      double x = r * (2 * k + row - levels + 1), y = r * (1.0 + sqrt(3.0) * row);
      if (world.perturbed) x += ex_noise(&world, 1e-4), y += 1e-4 + ex_noise(&world, 1e-4);
      frix_body_config body = numbered(name, sizeof name, "ball", number++, x, y);
      ex_put(&world, &body, &disc);
    }
  return world.status;
}

const frix_scene ex_scene_cannonball = {
    .name = "cannonball",
    .summary = "a triangle of discs: stands with enough friction, runs apart without",
    EX_PARAMETERS(pile_parameter),
    .step = 0.05,
    .time = 5.0,
    .stands = true,
    .build = build_cannonball,
};

/* ---- funnel: discs of 20 mm +- 10 % in a hopper over a narrow outlet; they jam when an arch forms ---- */

static const double grain = 0.010, grain_spread = 0.1;

enum { GRAINS, OUTLET, SLOPE, FUNNEL_MU };

static const frix_option_info funnel_parameter[] = {
    [GRAINS] = EX_WHOLE("n", 150, 1, 20000, "discs"),
    [OUTLET] = EX_REAL("outlet", 2.2, 0, 20, "width of the outlet over the mean diameter"),
    [SLOPE] = EX_REAL("slope", 50, 5, 85, "angle of the walls to the horizontal, degrees"),
    [FUNNEL_MU] = EX_REAL("mu", 0.6, 0, 2, "friction"),
};

/* The two walls with their upright continuations; they end at half the outlet, or at the width. */
static void add_hopper(ex_world *world, double outlet, double width, double slope, double height) {
  double s, c, thick = 4.0 * grain;
  ex_sincos(slope, &s, &c);
  double run = (width - outlet) / 2.0, rise = run * s / c;
  for (int side = -1; side <= 1; side += 2) {
    double x0 = side * outlet / 2.0, x1 = side * width / 2.0;
    /* outward normal of the wall: (side s, -c) */
    frix_vec3 wall[4] = {{x0, 0, 0},
                         {x1, rise, 0},
                         {x1 + side * s * thick, rise - c * thick, 0},
                         {x0 + side * s * thick, -c * thick, 0}};
    frix_vec3 shaft[4] = {
        {x1, rise, 0}, {x1, rise + height, 0}, {x1 + side * thick, rise + height, 0}, {x1 + side * thick, rise, 0}};
    frix_shape_config lower = ex_polygon(world, wall, 4), upper = ex_polygon(world, shaft, 4);
    ex_add_shape(world, (frix_body_id){0, 0}, &lower);
    ex_add_shape(world, (frix_body_id){0, 0}, &upper);
  }
}

static frix_status build_funnel(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, true, value[FUNNEL_MU], 0.0, seed);
  int32_t n = (int32_t)value[GRAINS], columns = 4;
  while (columns * columns < n) columns++;
  double pitch = 2.3 * grain * (1.0 + grain_spread), width = columns * pitch, outlet = 2.0 * grain * value[OUTLET], s,
         c;
  if (outlet > 0.9 * width) width = outlet / 0.9;
  ex_sincos(value[SLOPE], &s, &c);
  double rise = (width - outlet) / 2.0 * s / c, floor = -0.3, height = (n / columns + 3) * pitch;
  add_hopper(&world, outlet, width, value[SLOPE], height);
  ex_add_wall(&world, ex_vec3(0.0, floor, 0.0), ex_vec3(0.0, 1.0, 0.0));
  for (int32_t k = 0; k < n; k++) {
    char name[32];
    double radius = grain * (1.0 + ex_noise(&world, grain_spread)), free = 0.1 * grain;
    double x = (k % columns + 0.5) * pitch - columns * pitch / 2.0 + ex_noise(&world, free);
    double y = rise + (k / columns + 0.5) * pitch + ex_noise(&world, free);
    frix_body_config body = numbered(name, sizeof name, "disc", k, x, y);
    frix_shape_config disc = ex_ball(&world, radius);
    ex_put(&world, &body, &disc);
  }
  return world.status;
}

const frix_scene ex_scene_funnel = {
    .name = "funnel",
    .summary = "discs in a hopper: they jam over a narrow outlet, run out of a wide one",
    EX_PARAMETERS(funnel_parameter),
    .step = 0.002,
    .time = 2.0,
    .build = build_funnel,
};

/* ---- segregation: a box shaken up and down, y = A (1 - cos 2 pi f t)/2 ---- */

static const double small = 0.5, box_wall = 2.0;

enum { BODIES, RATIO, AMPLITUDE, FREQUENCY, SEGREGATION_MU, SEGREGATION_STIFFNESS };

static const frix_option_info segregation_parameter[] = {
    [BODIES] = EX_WHOLE("n", 270, 1, 20000, "discs, one in nine of them large"),
    [RATIO] = EX_REAL("ratio", 2, 1, 6, "radius of the large ones over that of the small ones"),
    [AMPLITUDE] = EX_REAL("amplitude", 3, 0, 20, "stroke of the box from lowest to highest position, m"),
    [FREQUENCY] =
        EX_REAL("frequency", 1, 0, 20, "frequency, Hz; at 6 g the large discs rise, at 2 g the bed moves as one"),
    [SEGREGATION_MU] = EX_REAL("mu", 0.6, 0, 2, "friction"),
    [SEGREGATION_STIFFNESS] =
        EX_REAL("stiffness", 1e8, 0, 1e12, "stiffness of a contact, N/m; 0: by the contact law (--contact)"),
};

/* A row of up to `across` discs, the first of them disc `number`, in cells of this size. */
static int32_t add_row(ex_world *world, const char *kind, int32_t number, int32_t across, double radius, double spread,
                       double cell, double y) {
  for (int32_t k = 0; k < across; k++) {
    char name[32];
    double r = radius * (1.0 + ex_noise(world, spread));
    double x = (k - 0.5 * (across - 1)) * cell + ex_noise(world, 0.02 * small);
    frix_body_config body =
        numbered(name, sizeof name, kind, number + k, x, y + 0.5 * cell + ex_noise(world, 0.02 * small));
    frix_shape_config disc = ex_ball(world, r);
    ex_put(world, &body, &disc);
  }
  return across;
}

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

/* Rows of large discs lie evenly among the rows of small ones. Returns how high it is. */
static double add_discs(ex_world *world, int32_t n, int32_t columns, double large, double half) {
  int32_t large_count = n / 9, large_columns = (int32_t)(half / (1.05 * large));
  if (large_columns < 1) large_columns = 1;
  int32_t large_rows = (large_count + large_columns - 1) / large_columns;
  int32_t small_rows = (n - large_count + columns - 1) / columns;
  double y = 0.0;
  for (int32_t l = 0, s = 0, i = 0, j = 0; l < large_rows || s < small_rows;) {
    if (l < large_rows && (s == small_rows || (2 * l + 1) * small_rows <= (2 * s + 1) * large_rows)) {
      i += add_row(world, "large", i, least(large_columns, large_count - i), large, 0.0, 2.1 * large, y);
      y += 2.1 * large, l++;
    } else {
      int32_t number = large_count + j;
      j += add_row(world, "small", number, least(columns, n - number), small, 0.05, 2.15 * small, y);
      y += 2.15 * small, s++;
    }
  }
  return y;
}

static frix_status build_segregation(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, true, value[SEGREGATION_MU], 0.0, seed);
  world.material = ex_material(&world, value[SEGREGATION_MU], 0.0, value[SEGREGATION_STIFFNESS]);
  int32_t n = (int32_t)value[BODIES], columns = 4;
  while (columns * columns < n) columns++;
  double large = small * value[RATIO], half = columns * 2.15 * small / 2.0;
  if (half < 1.05 * large) half = 1.05 * large;
  double high = add_discs(&world, n, columns, large, half) + 2.0 * value[AMPLITUDE] + 20.0 * small;
  frix_body_config box = ex_body("box", ex_at(0.0, 0.0, 0.0));
  box.kind = FRIX_BODY_KINEMATIC;
  frix_shape_config floor = ex_box(half + box_wall, box_wall, 0.0), wall = ex_box(box_wall, high / 2.0, 0.0);
  floor.pose = ex_at(0.0, -box_wall, 0.0);
  frix_body_id id = ex_put(&world, &box, &floor);
  for (int side = -1; side <= 1; side += 2) {
    wall.pose = ex_at(side * (half + box_wall), high / 2.0, 0.0);
    ex_add_shape(&world, id, &wall);
  }
  return world.status;
}

static frix_status drive_segregation(frix_sim *sim, const frix_model *model, const double *value, double h) {
  double s, c, turns = value[FREQUENCY] * (frix_sim_time(sim) + h);
  ex_sincos(360.0 * (turns - floor(turns)), &s, &c);
  frix_pose pose = ex_at(0.0, value[AMPLITUDE] * (1.0 - c) / 2.0, 0.0);
  return frix_sim_move_to(sim, frix_model_find_body(model, "box"), pose, h);
}

const frix_scene ex_scene_segregation = {
    .name = "segregation",
    .summary = "discs of two sizes in a shaken box: the large ones rise",
    EX_PARAMETERS(segregation_parameter),
    .step = 0.1,
    .time = 50.0,
    .build = build_segregation,
    .drive = drive_segregation,
};
