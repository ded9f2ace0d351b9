/* Shorthand for building scenes. */
#include "world.h"

#include <stdio.h>

#include <math.h>

static const frix_body_id the_world = {0, 0};

frix_vec3 ex_vec3(double x, double y, double z) { return (frix_vec3){x, y, z}; }
frix_pose ex_at(double x, double y, double z) { return (frix_pose){{x, y, z}, {1.0, 0.0, 0.0, 0.0}}; }

frix_quat ex_turned(double degrees, double x, double y, double z) {
  double s, c;
  ex_sincos(degrees / 2.0, &s, &c);
  return (frix_quat){c, x * s, y * s, z * s};
}

double ex_noise(ex_world *world, double scale) { return scale * ex_random(&world->random); }

frix_pose ex_scattered(ex_world *world, double scale, double z) {
  double y = ex_noise(world, scale), x = ex_noise(world, scale);
  return ex_at(x, y, z);
}

static void keep(ex_world *world, frix_status status) {
  if (world->status == FRIX_OK) world->status = status;
}

frix_material_id ex_add_material(ex_world *world, const frix_material_config *config) {
  frix_material_id id = {0, 0};
  if (world->status == FRIX_OK) keep(world, frix_builder_add_material(world->builder, config, &id));
  return id;
}

frix_material_id ex_material(ex_world *world, double mu, double restitution, double stiffness) {
  frix_material_config config = frix_material_default();
  config.mu = mu, config.restitution = restitution, config.stiffness = stiffness;
  return ex_add_material(world, &config);
}

ex_world ex_world_new(frix_builder *builder, bool planar, double mu, double restitution, uint64_t seed) {
  ex_world world = {.builder = builder, .planar = planar, .random = seed * 1000003u + 1u, .perturbed = seed != 0};
  double g = 9.81;
  keep(&world, frix_builder_set_gravity(builder, planar ? ex_vec3(0.0, -g, 0.0) : ex_vec3(0.0, 0.0, -g)));
  world.material = ex_material(&world, mu, restitution, 0.0);
  return world;
}

/* ---- shapes and bodies ---- */

static frix_shape_config shape_of(frix_shape_kind kind) {
  frix_shape_config shape = frix_shape_default();
  shape.kind = kind;
  return shape;
}

frix_shape_config ex_box(double x, double y, double z) {
  frix_shape_config shape = shape_of(z > 0.0 ? FRIX_SHAPE_BOX : FRIX_SHAPE_RECTANGLE);
  shape.half = ex_vec3(x, y, z);
  return shape;
}

frix_shape_config ex_ball(const ex_world *world, double radius) {
  frix_shape_config shape = shape_of(world->planar ? FRIX_SHAPE_DISC : FRIX_SHAPE_SPHERE);
  shape.radius = radius;
  return shape;
}

frix_body_config ex_body(const char *name, frix_pose pose) {
  frix_body_config body = frix_body_default();
  body.name = name;
  body.pose = pose;
  return body;
}

void ex_add_shape(ex_world *world, frix_body_id body, const frix_shape_config *shape) {
  frix_shape_config config = *shape;
  if (!config.material.index) config.material = world->material;
  if (world->status == FRIX_OK) keep(world, frix_builder_add_shape(world->builder, body, &config, NULL));
}

frix_body_id ex_put(ex_world *world, const frix_body_config *body, const frix_shape_config *shape) {
  frix_body_config config = *body;
  frix_body_id id = {0, 0};
  config.planar = world->planar;
  if (world->status == FRIX_OK) keep(world, frix_builder_add_body(world->builder, &config, &id));
  if (shape && world->status == FRIX_OK) ex_add_shape(world, id, shape);
  return id;
}

void ex_add_ground(ex_world *world) {
  frix_shape_config shape = shape_of(world->planar ? FRIX_SHAPE_HALF_PLANE : FRIX_SHAPE_PLANE);
  ex_add_shape(world, the_world, &shape);
}

/* The rotation that takes from to to, both unit vectors and not opposite: (1 + a.b, a x b) normalised. */
static frix_quat rotation_between(frix_vec3 a, frix_vec3 b) {
  double w = 1.0 + a.x * b.x + a.y * b.y + a.z * b.z;
  frix_vec3 v = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  double length = sqrt(w * w + v.x * v.x + v.y * v.y + v.z * v.z);
  return (frix_quat){w / length, v.x / length, v.y / length, v.z / length};
}

void ex_add_wall(ex_world *world, frix_vec3 point, frix_vec3 normal) {
  frix_shape_config shape = shape_of(world->planar ? FRIX_SHAPE_HALF_PLANE : FRIX_SHAPE_PLANE);
  frix_vec3 up = world->planar ? ex_vec3(0.0, 1.0, 0.0) : ex_vec3(0.0, 0.0, 1.0);
  bool opposite = up.x * normal.x + up.y * normal.y + up.z * normal.z < -0.999;
  shape.pose.p = point;
  shape.pose.q = opposite ? (world->planar ? ex_turned(180.0, 0.0, 0.0, 1.0) : ex_turned(180.0, 1.0, 0.0, 0.0))
                          : rotation_between(up, normal);
  ex_add_shape(world, the_world, &shape);
}

void ex_add_tub(ex_world *world, double half) {
  ex_add_ground(world);
  for (int side = -1; side <= 1; side += 2) {
    ex_add_wall(world, ex_vec3(side * half, 0.0, 0.0), ex_vec3(-side, 0.0, 0.0));
    ex_add_wall(world, ex_vec3(0.0, side * half, 0.0), ex_vec3(0.0, -side, 0.0));
  }
}

frix_shape_config ex_polygon(ex_world *world, const frix_vec3 *corner, int32_t count) {
  frix_shape_config shape = shape_of(FRIX_SHAPE_POLYGON);
  frix_geometry_config geometry = frix_geometry_default();
  geometry.kind = FRIX_GEOMETRY_POLYGON, geometry.point_count = count, geometry.point = corner;
  if (world->status == FRIX_OK) keep(world, frix_builder_add_geometry(world->builder, &geometry, &shape.geometry));
  return shape;
}

frix_soft *ex_soft(ex_world *world, const char *shape, const frix_soft_config *config) {
  frix_soft *soft = NULL;
  if (world->status == FRIX_OK) keep(world, frix_soft_make(frix_builder_context(world->builder), shape, config, &soft));
  return soft;
}

frix_body_id ex_put_soft(ex_world *world, const frix_soft *soft, const frix_body_config *body) {
  frix_shape_config skin = frix_shape_default();
  frix_body_id id = {0, 0};
  skin.material = world->material;
  if (world->status == FRIX_OK) keep(world, frix_builder_add_soft(world->builder, soft, body, &skin, &id));
  return id;
}

frix_body_config ex_named(const char *kind, int32_t k, frix_pose pose, char name[32]) {
  snprintf(name, 32, "%s_%d", kind, (int)k);
  return ex_body(name, pose);
}

bool ex_due(const frix_sim *sim, double moment, double h) {
  double now = frix_sim_time(sim);
  return moment >= now && moment < now + h;
}
