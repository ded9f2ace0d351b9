/* Spheres: in a cube, in a column, poured into a box. */
#include "world.h"

#include <math.h>
#include <stdio.h>

static frix_body_config numbered(char *name, size_t size, const char *kind, int32_t k, double x, double y, double z) {
  snprintf(name, size, "%s_%d", kind, (int)k);
  return ex_body(name, ex_at(x, y, z));
}

/* ---- balls in a cube of 1 m, radii 0.1 to 0.2 m, random positions and velocities ---- */

enum { BALLS, BALL_MU };
enum { MAX_BALLS = 200, TRIES = 1000 };

static const frix_option_info ball_parameter[] = {
    [BALLS] = EX_WHOLE("n", 10, 1, MAX_BALLS, "balls; a ball without room is made smaller"),
    [BALL_MU] = EX_REAL("mu", 0.5, 0, 5, "friction"),
};

typedef struct placed {
  frix_vec3 p;
  double radius;
} placed;

static bool overlaps(const placed *all, int32_t count, placed one) {
  for (int32_t k = 0; k < count; k++) {
    double x = all[k].p.x - one.p.x, y = all[k].p.y - one.p.y, z = all[k].p.z - one.p.z;
    double reach = all[k].radius + one.radius;
    if (x * x + y * y + z * z < reach * reach) return true;
  }
  return false;
}

static frix_status build_balls(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[BALL_MU], 0.0, seed);
  placed all[MAX_BALLS];
  ex_add_tub(&world, 0.5);
  ex_add_wall(&world, ex_vec3(0.0, 0.0, 1.0), ex_vec3(0.0, 0.0, -1.0));
  for (int32_t k = 0; k < (int32_t)value[BALLS]; k++) {
    char name[32];
    double radius = 0.15 + ex_noise(&world, 0.05);
    for (int32_t tries = 0; tries == 0 || overlaps(all, k, all[k]); tries++) {
      if (tries % TRIES == TRIES - 1) radius *= 0.9;
      double room = 0.5 - radius;
      all[k].radius = radius;
      all[k].p.x = ex_noise(&world, room), all[k].p.y = ex_noise(&world, room),
      all[k].p.z = 0.5 + ex_noise(&world, room);
    }
    frix_body_config body = numbered(name, sizeof name, "ball", k, all[k].p.x, all[k].p.y, all[k].p.z);
    body.velocity.x = ex_noise(&world, 1.0), body.velocity.y = ex_noise(&world, 1.0);
    body.velocity.z = ex_noise(&world, 1.0);
    body.spin.x = ex_noise(&world, 1.0), body.spin.y = ex_noise(&world, 1.0), body.spin.z = ex_noise(&world, 1.0);
    frix_shape_config ball = ex_ball(&world, radius);
    ex_put(&world, &body, &ball);
  }
  return world.status;
}

const frix_scene ex_scene_balls = {
    .name = "balls",
    .summary = "balls of different sizes thrown into a cube",
    EX_PARAMETERS(ball_parameter),
    .step = 0.005,
    .time = 2.0,
    .build = build_balls,
};

/* ---- five balls one on the other, touching, fall together; the shock passes in one step ---- */

enum { DROP_N, DROP_HEIGHT, DROP_MU };

static const frix_option_info drop_parameter[] = {
    [DROP_N] = EX_WHOLE("n", 5, 1, 1000, "balls of radius 0.15 m"),
    [DROP_HEIGHT] = EX_REAL("height", 0.2, 0, 10, "height of the lowest ball above the floor, m"),
    [DROP_MU] = EX_REAL("mu", 0.5, 0, 5, "friction"),
};

static frix_status build_drop5(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[DROP_MU], 0.0, seed);
  const double radius = 0.15;
  frix_shape_config ball = ex_ball(&world, radius);
  ex_add_ground(&world);
  for (int32_t k = 0; k < (int32_t)value[DROP_N]; k++) {
    char name[32];
    double x = world.perturbed ? ex_noise(&world, 1e-3) : 0.0;
    frix_body_config body = numbered(name, sizeof name, "ball", k, x, 0.0, value[DROP_HEIGHT] + (2 * k + 1) * radius);
    ex_put(&world, &body, &ball);
  }
  return world.status;
}

const frix_scene ex_scene_drop5 = {
    .name = "drop5",
    .summary = "a column of balls is dropped: the shock passes through all of them in one step",
    EX_PARAMETERS(drop_parameter),
    .step = 0.005,
    .time = 1.0,
    .build = build_drop5,
};

/* ---- pile: spheres poured into a box as wide as high, from a loose lattice ---- */

static const double sphere = 0.05, sphere_spread = 0.1, sphere_density = 2500.0, looseness = 1.1;

enum { PILE_N, PILE_MU, PILE_STIFFNESS, PILE_ROLLING, PILE_SPINNING, PILE_ROUGH };

static const frix_option_info pile_parameter[] = {
    [PILE_N] = EX_WHOLE("n", 1000, 1, 1000000, "spheres of 0.1 m +- 10 %"),
    [PILE_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
    [PILE_STIFFNESS] =
        EX_REAL("stiffness", 1e6, 0, 1e12, "stiffness of a contact, N/m; 0: by the contact law (--contact)"),
    [PILE_ROLLING] = EX_REAL("rolling", 0, 0, 1, "rolling friction, m; 0: rolling spheres are not braked"),
    [PILE_SPINNING] = EX_REAL("spinning", 0, 0, 1, "drilling friction, m"),
    [PILE_ROUGH] =
        EX_WHOLE("rough", 0, 0, 1, "1: half spheres cover the floor, and loose spheres come to rest between them"),
};

/* Half spheres on the floor, one under each column of the lattice: so large that the smallest sphere between four of
 * them does not reach the floor. */
static void add_bumps(ex_world *world, int64_t side, double pitch, double radius) {
  const frix_body_id the_world = {0, 0};
  double first = -0.5 * (double)(side - 1) * pitch;
  frix_shape_config bump = ex_ball(world, radius);
  for (int64_t k = 0; k < side * side && world->status == FRIX_OK; k++) {
    bump.pose.p = ex_vec3(first + (double)(k % side) * pitch, first + (double)(k / side) * pitch, 0.0);
    ex_add_shape(world, the_world, &bump);
  }
}

static frix_status build_pile(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[PILE_MU], 0.0, seed);
  frix_material_config material = frix_material_default();
  material.mu = value[PILE_MU], material.stiffness = value[PILE_STIFFNESS];
  material.rolling = value[PILE_ROLLING], material.spinning = value[PILE_SPINNING];
  world.material = ex_add_material(&world, &material);
  int64_t n = (int64_t)value[PILE_N], side = 1;
  while (3 * side * side * side < 2 * n) side++;
  double largest = sphere * (1.0 + sphere_spread), pitch = 2.0 * looseness * largest,
         free = (looseness - 1.0) * largest;
  double half = (double)side * pitch / 2.0;
  double bottom = value[PILE_ROUGH] > 0.0 ? largest : 0.0;
  ex_add_tub(&world, half);
  if (bottom > 0.0) add_bumps(&world, side, pitch, largest);
  for (int64_t k = 0; k < n && world.status == FRIX_OK; k++) {
    char name[32];
    double x = ((double)(k % side) + 0.5) * pitch - half + ex_noise(&world, free);
    double y = ((double)(k / side % side) + 0.5) * pitch - half + ex_noise(&world, free);
    double z = bottom + ((double)(k / (side * side)) + 0.5) * pitch + ex_noise(&world, free);
    frix_body_config body = numbered(name, sizeof name, "sphere", (int32_t)k, x, y, z);
    frix_shape_config ball = ex_ball(&world, sphere * (1.0 + ex_noise(&world, sphere_spread)));
    ball.density = sphere_density;
    ex_put(&world, &body, &ball);
  }
  return world.status;
}

const frix_scene ex_scene_pile = {
    .name = "pile",
    .summary = "spheres poured into a box",
    EX_PARAMETERS(pile_parameter),
    .step = 0.005,
    .time = 2.0,
    .build = build_pile,
};
