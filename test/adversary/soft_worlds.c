/* Worlds with soft bodies: bars and blobs of few coordinates that fall on a floor, on rigid bodies and on each other.
 */
#include "random_world.h"

#include <frix/soft.h>

/* A body of random stiffness and shape at p. */
static void add_soft(world *w, frix_vec3 p, frix_material_id m) {
  const units *u = &w->unit;
  frix_soft_config c = frix_soft_default();
  frix_body_config body = frix_body_default();
  frix_shape_config shape = frix_shape_default();
  frix_soft *soft = NULL;
  frix_body_id id = {0, 0};
  frix_vec3 v = direction(w), spin = direction(w);
  double speed = uniform(w, 0, 3) * u->length / u->time, turn = uniform(w, 0, 5) / u->time, l = u->length;
  c.young = magnitude(w, 1e4, 1e9) * u->mass / (u->length * u->time * u->time);
  c.density *= u->mass / (u->length * u->length * u->length);
  c.sides = at(uniform(w, 0.1, 0.4) * l, uniform(w, 0.1, 0.2) * l, uniform(w, 0.05, 0.2) * l);
  c.cells = 1 + dice(w, 2), c.order = 1, c.modes = 4 + dice(w, 4), c.damping_ratio = uniform(w, 0, 0.1);
  c.strains = chance(w, 0.3);
  if (chance(w, 0.3)) c.material = FRIX_SOFT_STVK;
  body.pose = (frix_pose){at(p.x * l, p.y * l, p.z * l), chance(w, 0.4) ? UPRIGHT : rotation(w)};
  body.velocity = at(speed * v.x, speed * v.y, speed * v.z);
  body.spin = at(turn * spin.x, turn * spin.y, turn * spin.z);
  shape.material = m;
  if (frix_soft_make(frix_builder_context(w->builder), "bar", &c, &soft) != FRIX_OK ||
      frix_builder_add_soft(w->builder, soft, &body, &shape, &id) != FRIX_OK)
    w->failed = true;
  frix_soft_destroy(soft);
}

static void fill_soft(world *w) {
  w->h = magnitude(w, 5e-4, 5e-3);
  w->steps = 4 + dice(w, 12);
  if (chance(w, 0.1)) w->config.tolerance = chance(w, 0.5) ? 1e-4 : 1e-10;
  limit_iterations(w);
  frix_material_id m = plain(w, chance(w, 0.1) ? 0 : uniform(w, 0.05, 1.2), 0);
  add_floor(w, m);
  int softs = 1 + dice(w, 2), rigid = dice(w, 3);
  double z = uniform(w, 0.05, 0.15);
  for (int k = 0; k < softs + rigid; k++, z += uniform(w, 0.15, 0.3)) {
    frix_vec3 p = at(uniform(w, -0.05, 0.05), uniform(w, -0.05, 0.05), z), v = direction(w);
    if (k < softs ? chance(w, 0.8) : chance(w, 0.2)) {
      add_soft(w, p, m);
      continue;
    }
    frix_body_id b = add_body(w, magnitude(w, 0.3, 30), p, rotation(w), v, at(0, 0, 0));
    double size = uniform(w, 0.03, 0.1);
    add_shape(w, b, chance(w, 0.5) ? sphere(size) : box(size, size, uniform(w, 0.5, 1) * size), m);
  }
}

const world_class soft_classes[] = {
    {"soft", "soft bodies among rigid ones, rigid contacts", false, fill_soft, NULL, NULL, FRIX_CONTACT_KIND_RIGID},
    {"soft_stiff", "soft bodies among rigid ones", false, fill_soft, NULL, NULL, FRIX_CONTACT_KIND_STIFF},
    {0},
};
