/* Spheres: in a cube, in a column, poured into a box, in a reactor. */
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
    [BALLS] = EX_WHOLE("n", 10, 1, MAX_BALLS, "balls; one that finds no place is made smaller"),
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
    [DROP_HEIGHT] = EX_REAL("height", 0.2, 0, 10, "of the lowest ball above the floor, m"),
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
    [PILE_STIFFNESS] = EX_REAL("stiffness", 1e6, 0, 1e12, "of a contact, N/m; 0: by the contact law (--contact)"),
    [PILE_ROLLING] = EX_REAL("rolling", 0, 0, 1, "rolling friction, m; 0: nothing brakes a sphere that rolls"),
    [PILE_SPINNING] = EX_REAL("spinning", 0, 0, 1, "drilling friction, m"),
    [PILE_ROUGH] =
        EX_WHOLE("rough", 0, 0, 1, "1: half spheres cover the floor, in whose dimples loose ones come to rest"),
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

/* ---- pebbles ----
 *
 * A reactor vessel of FACETS walls around a cylinder of radius R, with a conical bottom of 30 degrees and an outlet in
 * its middle. Fuel pebbles of 60 mm fill it about 3 R high. A pebble that has left through the outlet is put back on
 * top, where it finds a free place; until then it goes on falling. */

static const double pebble = 0.030, pebble_density = 1750.0, cone_slope = 30.0, vessel_wall = 0.20;
enum { FACETS = 24, PLACES = 64 };

enum { PEBBLES, PEBBLE_OUTLET, PEBBLE_MU, PEBBLE_STIFFNESS };

static const frix_option_info pebble_parameter[] = {
    [PEBBLES] = EX_WHOLE("n", 2000, 1, 1000000, "pebbles of 60 mm"),
    [PEBBLE_OUTLET] = EX_REAL("outlet", 5, 0, 20, "width of the outlet over the diameter of a pebble; 0: closed"),
    [PEBBLE_MU] = EX_REAL("mu", 0.4, 0, 2, "friction"),
    [PEBBLE_STIFFNESS] = EX_REAL("stiffness", 1e5, 0, 1e12, "of a contact, N/m; 0: by the contact law (--contact)"),
};

typedef struct vessel {
  double radius, outlet, height; /* outlet: its radius; height: of the cone's upper rim above the outlet */
  double top;                    /* where pebbles come back */
  double pitch;
  int32_t across; /* of the lattice that fills it */
} vessel;

/* About 0.6 of the space is filled: n 4/3 r^3 = 0.6 R^2 3 R. */
static vessel vessel_for(const double *value) {
  vessel v = {.pitch = 2.0 * looseness * pebble};
  double volume = value[PEBBLES] * (4.0 / 3.0) * pebble * pebble * pebble / 0.6 / 3.0, s, c;
  v.radius = 0.1;
  for (int k = 0; k < 80; k++) v.radius -= (v.radius * v.radius * v.radius - volume) / (3.0 * v.radius * v.radius);
  if (v.radius < 6.0 * pebble) v.radius = 6.0 * pebble;
  v.outlet = pebble * value[PEBBLE_OUTLET];
  if (v.outlet > 0.8 * v.radius) v.outlet = 0.8 * v.radius;
  ex_sincos(cone_slope, &s, &c);
  v.height = (v.radius - v.outlet) * s / c;
  v.across = (int32_t)(2.0 * v.radius / v.pitch);
  double layer = 0.7 * v.across * v.across;
  v.top = v.height + (value[PEBBLES] / layer + 3.0) * v.pitch;
  return v;
}

/* One facet: a box whose inner face stands at `distance` from the axis in the middle between the heights, leaning
 * outwards by `lean` degrees from upright. */
static void add_facet(ex_world *world, frix_body_id body, int k, frix_vec3 middle, double half_width,
                      double half_length, double lean) {
  double s, c, sl, cl;
  ex_sincos(360.0 * k / FACETS, &s, &c);
  ex_sincos(lean, &sl, &cl);
  frix_shape_config wall = ex_box(vessel_wall / 2.0, half_width, half_length);
  /* outward normal of the inner face, before it is turned about z */
  double x = middle.x + cl * vessel_wall / 2.0, z = middle.z - sl * vessel_wall / 2.0;
  frix_quat about_y = ex_turned(lean, 0.0, 1.0, 0.0), about_z = ex_turned(360.0 * k / FACETS, 0.0, 0.0, 1.0);
  wall.pose.p = ex_vec3(c * x, s * x, z);
  wall.pose.q =
      (frix_quat){about_z.w * about_y.w, -about_z.z * about_y.y, about_z.w * about_y.y, about_z.z * about_y.w};
  ex_add_shape(world, body, &wall);
}

static void add_vessel(ex_world *world, const vessel *v) {
  double s, c, sl, cl, upright = v->top - v->height + 0.5, run = v->radius - v->outlet;
  frix_body_config body = ex_body("vessel", ex_at(0.0, 0.0, 0.0));
  body.kind = FRIX_BODY_STATIC;
  frix_body_id id = ex_put(world, &body, NULL);
  ex_sincos(180.0 / FACETS, &s, &c);
  ex_sincos(cone_slope, &sl, &cl);
  double half_width = (v->radius + vessel_wall) * s / c;
  for (int k = 0; k < FACETS; k++) {
    add_facet(world, id, k, ex_vec3(v->radius, 0.0, v->height + upright / 2.0), half_width, upright / 2.0, 0.0);
    add_facet(world, id, k, ex_vec3(v->radius - run / 2.0, 0.0, v->height / 2.0), half_width, run / cl / 2.0,
              90.0 - cone_slope);
  }
}

static frix_status build_pebbles(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[PEBBLE_MU], 0.0, seed);
  world.material = ex_material(&world, value[PEBBLE_MU], 0.0, value[PEBBLE_STIFFNESS]);
  vessel v = vessel_for(value);
  add_vessel(&world, &v);
  frix_shape_config ball = ex_ball(&world, pebble);
  ball.density = pebble_density;
  double free = 0.9 * (looseness - 1.0) * pebble, inside = v.radius - 2.0 * pebble;
  for (int64_t cell = 0, k = 0; k < (int64_t)value[PEBBLES] && world.status == FRIX_OK; cell++) {
    char name[32];
    int64_t per_layer = (int64_t)v.across * v.across;
    double x = ((double)(cell % v.across) - 0.5 * (v.across - 1)) * v.pitch;
    double y = ((double)(cell / v.across % v.across) - 0.5 * (v.across - 1)) * v.pitch;
    double z = v.height + ((double)(cell / per_layer) + 0.5) * v.pitch;
    if (x * x + y * y > inside * inside) continue;
    /* one statement each: compilers take the arguments of a call in different orders */
    z += ex_noise(&world, free);
    y += ex_noise(&world, free);
    x += ex_noise(&world, free);
    frix_body_config body = numbered(name, sizeof name, "pebble", (int32_t)k++, x, y, z);
    ex_put(&world, &body, &ball);
  }
  return world.status;
}

/* A place on top where no pebble is, beginning the search where the step count says. */
static bool free_place(const frix_sim *sim, const vessel *v, frix_vec3 *out) {
  uint64_t random = (uint64_t)frix_sim_step_count(sim);
  const frix_body_id none = {0, 0};
  for (int k = 0; k < PLACES; k++) {
    double half = 0.7 * (v->radius - 2.0 * pebble), clear = 4.0 * pebble * pebble * 1.1;
    double x = half * ex_random(&random), y = half * ex_random(&random);
    *out = ex_vec3(x, y, v->top);
    bool good = true;
    for (frix_body_id id = frix_sim_body_next(sim, none); id.index && good; id = frix_sim_body_next(sim, id)) {
      frix_body_state state;
      if (frix_sim_body(sim, id, &state) != FRIX_OK) return false;
      double dx = state.pose.p.x - x, dy = state.pose.p.y - y, dz = state.pose.p.z - v->top;
      good = dx * dx + dy * dy + dz * dz > clear;
    }
    if (good) return true;
  }
  return false;
}

static frix_status drive_pebbles(frix_sim *sim, const frix_model *model, const double *value, double h) {
  (void)model, (void)h;
  vessel v = vessel_for(value);
  const frix_body_id none = {0, 0};
  for (frix_body_id id = frix_sim_body_next(sim, none); id.index; id = frix_sim_body_next(sim, id)) {
    frix_body_state state;
    frix_vec3 place;
    frix_status status = frix_sim_body(sim, id, &state);
    if (status != FRIX_OK) return status;
    if (state.pose.p.z > -0.5 || !free_place(sim, &v, &place)) continue;
    state.pose.p = place;
    status = frix_sim_set_pose(sim, id, state.pose);
    if (status == FRIX_OK) status = frix_sim_set_velocity(sim, id, ex_vec3(0.0, 0.0, -1.0), ex_vec3(0.0, 0.0, 0.0));
    if (status != FRIX_OK) return status;
  }
  return FRIX_OK;
}

const frix_scene ex_scene_pebbles = {
    .name = "pebbles",
    .summary = "a pebble-bed reactor: fuel flows through the vessel and comes back on top",
    EX_PARAMETERS(pebble_parameter),
    .step = 0.005,
    .time = 5.0,
    .build = build_pebbles,
    .drive = drive_pebbles,
};
