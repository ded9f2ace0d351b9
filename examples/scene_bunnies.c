/* Bunnies: a torso, a head and two ears, dropped into a tub from a loose lattice. */
#include "world.h"

#include <math.h>
#include <stdio.h>

enum { BUNNIES, BUNNY_MU, BUNNY_STIFFNESS };

static const frix_option_info parameter[] = {
    [BUNNIES] = EX_WHOLE("n", 125, 1, 100000, "bunnies, 0.13 m long"),
    [BUNNY_MU] = EX_REAL("mu", 0.4, 0, 2, "friction"),
    [BUNNY_STIFFNESS] =
        EX_REAL("stiffness", 0, 0, 1e12, "stiffness of a contact, N/m; 0: by the contact law (--contact)"),
};

static const double density = 400.0, pitch = 0.21;

static frix_shape_config part(frix_shape_kind kind, double x, double y, double z) {
  frix_shape_config shape = frix_shape_default();
  shape.kind = kind;
  shape.pose.p = ex_vec3(x, y, z);
  shape.density = density;
  return shape;
}

/* It looks along x; the ears lean back and apart. */
static void add_bunny(ex_world *world, const frix_body_config *body) {
  frix_shape_config torso = part(FRIX_SHAPE_ELLIPSOID, -0.02, 0.0, -0.03),
                    head = part(FRIX_SHAPE_SPHERE, 0.03, 0.0, 0.015);
  torso.half = ex_vec3(0.065, 0.045, 0.05);
  head.radius = 0.032;
  frix_body_id id = ex_put(world, body, &torso);
  ex_add_shape(world, id, &head);
  for (int side = -1; side <= 1; side += 2) {
    frix_shape_config ear = part(FRIX_SHAPE_CAPSULE, 0.015, 0.02 * side, 0.06);
    frix_quat back = ex_turned(-25.0, 0.0, 1.0, 0.0), apart = ex_turned(-15.0 * side, 1.0, 0.0, 0.0);
    ear.radius = 0.01;
    ear.half_length = 0.028;
    ear.pose.q = (frix_quat){back.w * apart.w, back.w * apart.x, back.y * apart.w, -back.y * apart.x};
    ex_add_shape(world, id, &ear);
  }
}

/* Any orientation: four numbers, taken where they lie in the unit ball. */
static frix_quat any_quat(ex_world *world) {
  for (;;) {
    frix_quat q = {ex_noise(world, 1.0), ex_noise(world, 1.0), ex_noise(world, 1.0), ex_noise(world, 1.0)};
    double size = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (size > 1.0 || size < 0.01) continue;
    double length = sqrt(size);
    return (frix_quat){q.w / length, q.x / length, q.y / length, q.z / length};
  }
}

static frix_status build(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[BUNNY_MU], 0.0, seed);
  world.material = ex_material(&world, value[BUNNY_MU], 0.0, value[BUNNY_STIFFNESS]);
  int32_t n = (int32_t)value[BUNNIES], side = 1;
  while (side * side * side < n) side++;
  double half = side * pitch / 2.0;
  ex_add_tub(&world, half);
  for (int32_t k = 0; k < n && world.status == FRIX_OK; k++) {
    char name[32];
    snprintf(name, sizeof name, "bunny_%d", (int)k);
    frix_body_config body = ex_body(name, ex_at((k % side + 0.5) * pitch - half, (k / side % side + 0.5) * pitch - half,
                                                (k / (side * side) + 0.5) * pitch));
    body.pose.q = any_quat(&world);
    add_bunny(&world, &body);
  }
  return world.status;
}

const frix_scene ex_scene_bunnies = {
    .name = "bunnies",
    .summary = "bunnies of a torso, a head and two ears fall into a tub",
    EX_PARAMETERS(parameter),
    .step = 0.01,
    .time = 1.0,
    .build = build,
};
