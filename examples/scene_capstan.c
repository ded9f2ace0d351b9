/* A strand over a drum: links joined by hinges, a weight at each end.
 *
 *   it slides where the heavier weight is more than exp(mu phi) times the other (Euler and Eytelwein), phi = pi here;
 *   a polygon of n links over the drum has T_{k+1} / T_k = (1 + mu tan(d/2)) / (1 - mu tan(d/2)),  d = pi / n. */
#include "world.h"

#include <math.h>
#include <stdio.h>

enum { LINKS, STRAND_MU, RATIO };

static const frix_option_info parameter[] = {
    [LINKS] = EX_WHOLE("links", 100, 8, 400, "links over the drum, each a contact"),
    [STRAND_MU] = EX_REAL("mu", 0.3, 0, 1, "friction of strand and drum"),
    [RATIO] = EX_REAL("ratio", 2.0, 1, 30, "ratio of the weights"),
};

/* Drum of radius 1; links of half the thickness `skin` touch it with their middle. */
static const double skin = 0.002, lighter = 1.0, hanging = 0.3;

static frix_body_id put_link(ex_world *world, int32_t k, frix_pose pose, double half) {
  char name[32];
  snprintf(name, sizeof name, "link_%d", (int)k);
  frix_body_config body = ex_body(name, pose);
  frix_shape_config box = ex_box(half, skin, 0.0);
  body.planar = true;
  body.mass = 1e-3 * lighter, body.gravity_scale = 0.0;
  box.half = ex_vec3(0.8 * half, skin, 0.0);
  return ex_put(world, &body, &box);
}

static void join(ex_world *world, frix_body_id a, frix_body_id b, frix_vec3 at) {
  frix_joint_config joint = frix_joint_default(FRIX_JOINT_HINGE);
  joint.a = a, joint.b = b;
  if (world->status == FRIX_OK)
    world->status = frix_joint_place(world->builder, &joint, at, ex_vec3(0.0, 0.0, 1.0), ex_vec3(0.0, 0.0, 0.0), at);
  if (world->status == FRIX_OK) world->status = frix_builder_add_joint(world->builder, &joint, NULL);
}

static frix_body_id put_weight(ex_world *world, const char *name, double x, double mass) {
  frix_body_config body = ex_body(name, ex_at(x, -hanging - 0.1, 0.0));
  frix_shape_config box = ex_box(0.1, 0.1, 0.0);
  body.planar = true, body.mass = mass;
  box.mask = 0;
  return ex_put(world, &body, &box);
}

static frix_status build(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, true, value[STRAND_MU], 0.0, seed);
  int32_t n = (int32_t)value[LINKS];
  double s, c, reach = 1.0 + skin;
  frix_shape_config drum = ex_ball(&world, 1.0);
  ex_add_shape(&world, (frix_body_id){0, 0}, &drum);
  /* corners of the polygon whose sides touch the circle of the middles */
  ex_sincos(90.0 / n, &s, &c);
  double corner = reach / c, half = reach * s / c;
  frix_body_id before = {0, 0}, first = {0, 0};
  for (int32_t k = 0; k < n; k++) {
    ex_sincos(180.0 * (k + 0.5) / n, &s, &c);
    frix_pose pose = ex_at(reach * c, reach * s, 0.0);
    pose.q = ex_turned(180.0 * (k + 0.5) / n + 90.0, 0.0, 0.0, 1.0);
    frix_body_id link = put_link(&world, k, pose, half);
    ex_sincos(180.0 * k / n, &s, &c);
    if (k)
      join(&world, before, link, ex_vec3(corner * c, corner * s, 0.0));
    else
      first = link;
    before = link;
  }
  /* the ends hang on rods, hinged at both ends */
  double mass[2] = {value[RATIO] * lighter, lighter};
  for (int side = 0; side < 2; side++) {
    double x = side ? -corner : corner;
    frix_body_config rod = ex_body(side ? "rod_left" : "rod_right", ex_at(x, -hanging / 2.0, 0.0));
    frix_shape_config bar = ex_box(skin, hanging / 2.0, 0.0);
    rod.planar = true, rod.mass = 1e-3 * lighter, rod.gravity_scale = 0.0;
    bar.mask = 0;
    frix_body_id id = ex_put(&world, &rod, &bar), weight = put_weight(&world, side ? "light" : "heavy", x, mass[side]);
    join(&world, side ? before : first, id, ex_vec3(x, 0.0, 0.0));
    join(&world, id, weight, ex_vec3(x, -hanging, 0.0));
  }
  return world.status;
}

const frix_scene ex_scene_capstan = {
    .name = "capstan",
    .summary = "a strand over a drum with a weight at each end slides from a ratio of exp(mu phi) on",
    EX_PARAMETERS(parameter),
    .step = 0.002,
    .time = 1.0,
    .build = build,
};
