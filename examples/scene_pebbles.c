/* Fuel pebbles in a reactor vessel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "packing.h"
#include "world.h"

/* ---- pebbles ----
 *
 * A reactor vessel of FACETS walls around a cylinder of radius R, with a conical bottom of 30 degrees and an outlet in
 * its middle. Fuel pebbles of 60 mm fill it about 3 R high, from a loose lattice above the cone or from a packing of
 * spheres that rolled into place one by one (packing.h), which settles by a small part of a diameter. A pebble that has
 * left through the outlet is put back on top, where it finds a free place; until then it goes on falling. */

static const double pebble = 0.030, pebble_density = 1750.0, cone_slope = 30.0, vessel_wall = 0.20;
static const double looseness = 1.1;
enum { FACETS = 24, PLACES = 64 };

enum { PEBBLES, PEBBLE_OUTLET, PEBBLE_MU, PEBBLE_STIFFNESS, PEBBLE_START };
enum { LOOSE, PACKED };

static const frix_option_info pebble_parameter[] = {
    [PEBBLES] = EX_WHOLE("n", 2000, 1, 1000000, "pebbles of 60 mm"),
    [PEBBLE_OUTLET] = EX_REAL("outlet", 5, 0, 20, "width of the outlet over the diameter of a pebble; 0: closed"),
    [PEBBLE_MU] = EX_REAL("mu", 0.4, 0, 2, "friction"),
    [PEBBLE_STIFFNESS] =
        EX_REAL("stiffness", 1e5, 0, 1e12, "stiffness of a contact, N/m; 0: by the contact law (--contact)"),
    [PEBBLE_START] = EX_CHOICE("start", LOOSE, 2, "loose|packed", "a loose lattice that falls, or a random packing"),
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
  /* packed: at least 0.5 of the space above the cone is filled */
  if (value[PEBBLE_START] == PACKED)
    v.top = v.height + value[PEBBLES] * 8.0 / 3.0 * pebble * pebble * pebble / (v.radius * v.radius) + 6.0 * v.pitch;
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

static void put_pebble(ex_world *world, const frix_shape_config *ball, int64_t k, frix_vec3 p) {
  char name[32];
  snprintf(name, sizeof name, "pebble_%d", (int)k);
  frix_body_config body = ex_body(name, ex_at(p.x, p.y, p.z));
  ex_put(world, &body, ball);
}

static void fill_loosely(ex_world *world, const vessel *v, const frix_shape_config *ball, int64_t count) {
  double free = 0.9 * (looseness - 1.0) * pebble, inside = v->radius - 2.0 * pebble;
  for (int64_t cell = 0, k = 0; k < count && world->status == FRIX_OK; cell++) {
    int64_t per_layer = (int64_t)v->across * v->across;
    double x = ((double)(cell % v->across) - 0.5 * (v->across - 1)) * v->pitch;
    double y = ((double)(cell / v->across % v->across) - 0.5 * (v->across - 1)) * v->pitch;
    double z = v->height + ((double)(cell / per_layer) + 0.5) * v->pitch;
    if (x * x + y * y > inside * inside) continue;
    /* one statement each: compilers take the arguments of a call in different orders */
    z += ex_noise(world, free);
    y += ex_noise(world, free);
    x += ex_noise(world, free);
    put_pebble(world, ball, k++, ex_vec3(x, y, z));
  }
}

/* Within the cylinder, and above the cone: c.z - r / cos(slope) >= (distance from the axis - outlet) tan(slope). Over
 * the outlet a floor lies at its height, so that a packed vessel starts full. */
static void keep_in_vessel(const void *where, double radius, frix_vec3 *c) {
  const vessel *v = where;
  double sine, cosine, distance = sqrt(c->x * c->x + c->y * c->y), most = v->radius - radius;
  ex_sincos(cone_slope, &sine, &cosine);
  double lift = (distance - v->outlet) * sine + radius - c->z * cosine; /* how deep it is in the cone */
  if (lift > 0.0 && distance > 0.0) {
    c->z += lift * cosine;
    c->x -= lift * sine * c->x / distance;
    c->y -= lift * sine * c->y / distance;
    distance = sqrt(c->x * c->x + c->y * c->y);
  }
  if (distance > most) c->x *= most / distance, c->y *= most / distance;
  if (c->z < radius) c->z = radius;
}

static void fill_packed(ex_world *world, const vessel *v, const frix_shape_config *ball, int64_t count) {
  ex_packing *packing = ex_packing_new(count, pebble, v->radius, 0.0, v->top + 1.0, keep_in_vessel, v);
  if (!packing) world->status = FRIX_ERROR_MEMORY;
  for (int64_t k = 0; k < count && world->status == FRIX_OK;) {
    double half = v->radius - pebble, x = ex_noise(world, half), y = ex_noise(world, half);
    if (x * x + y * y <= half * half) put_pebble(world, ball, k++, ex_packing_drop(packing, x, y));
  }
  ex_packing_free(packing);
}

static frix_status build_pebbles(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[PEBBLE_MU], 0.0, seed);
  world.material = ex_material(&world, value[PEBBLE_MU], 0.0, value[PEBBLE_STIFFNESS]);
  vessel v = vessel_for(value);
  add_vessel(&world, &v);
  frix_shape_config ball = ex_ball(&world, pebble);
  ball.density = pebble_density;
  (value[PEBBLE_START] == PACKED ? fill_packed : fill_loosely)(&world, &v, &ball, (int64_t)value[PEBBLES]);
  return world.status;
}

/* ---- recirculation */

/* What is near the top: the pebbles that a place there could meet. */
typedef struct crowd {
  frix_vec3 *center;
  int32_t count, room;
} crowd;

static bool join(crowd *all, frix_vec3 p) {
  if (all->count == all->room) {
    int32_t room = 2 * all->room + 64;
    frix_vec3 *grown = realloc(all->center, (size_t)room * sizeof *grown);
    if (!grown) return false;
    all->center = grown, all->room = room;
  }
  all->center[all->count++] = p;
  return true;
}

/* A place on top where no pebble is, beginning the search where the step count says. */
static bool free_place(const frix_sim *sim, const vessel *v, const crowd *near, frix_vec3 *out) {
  uint64_t random = (uint64_t)frix_sim_step_count(sim);
  for (int k = 0; k < PLACES; k++) {
    double half = 0.7 * (v->radius - 2.0 * pebble), clear = 4.0 * pebble * pebble * 1.1;
    double x = half * ex_random(&random), y = half * ex_random(&random);
    *out = ex_vec3(x, y, v->top);
    bool good = true;
    for (int32_t n = 0; n < near->count && good; n++) {
      double dx = near->center[n].x - x, dy = near->center[n].y - y, dz = near->center[n].z - v->top;
      good = dx * dx + dy * dy + dz * dz > clear;
    }
    if (good) return true;
  }
  return false;
}

/* One pass over the pebbles finds those that have left and those near the top. */
static frix_status drive_pebbles(frix_sim *sim, const frix_model *model, const double *value, double h) {
  (void)model, (void)h;
  vessel v = vessel_for(value);
  crowd near = {0};
  frix_status status = FRIX_OK;
  bool left = false;
  frix_sim_arrays all = {.size = sizeof all};
  status = frix_sim_view(sim, &all);
  for (int32_t k = 1; k < all.slot_count && status == FRIX_OK; k++) {
    const double *p = frix_array_at(&all.center, k);
    if (all.alive[k] < 0) continue;
    left = left || p[2] <= -0.5;
    if (p[2] > v.top - 4.0 * pebble && !join(&near, ex_vec3(p[0], p[1], p[2]))) status = FRIX_ERROR_MEMORY;
  }
  const frix_body_id none = {0, 0};
  for (frix_body_id id = left ? frix_sim_body_next(sim, none) : none; id.index && status == FRIX_OK;
       id = frix_sim_body_next(sim, id)) {
    frix_body_state state;
    frix_vec3 place;
    status = frix_sim_body(sim, id, &state);
    if (status != FRIX_OK || state.pose.p.z > -0.5 || !free_place(sim, &v, &near, &place)) continue;
    state.pose.p = place;
    status = frix_sim_set_pose(sim, id, state.pose);
    if (status == FRIX_OK) status = frix_sim_set_velocity(sim, id, ex_vec3(0.0, 0.0, -1.0), ex_vec3(0.0, 0.0, 0.0));
    if (status == FRIX_OK && !join(&near, place)) status = FRIX_ERROR_MEMORY;
  }
  free(near.center);
  return status;
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
