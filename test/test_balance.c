/* Large worlds that nearly rest: impulses are changed by the little that brings them to rest to the bit. */
#include "sim_world.h"

/* A square pyramid of spheres, which friction alone holds together. */
static void build_pyramid(world *w, int levels) {
  const double r = 0.1;
  for (int level = 0; level < levels; level++) {
    int side = levels - level;
    for (int k = 0; k < side * side; k++) {
      frix_pose pose =
          at(r * (2 * (k / side) - (side - 1)), r * (2 * (k % side) - (side - 1)), r + level * r * sqrt(2.0));
      world_body(w, body_at(pose), sphere_shape(r));
    }
  }
}

static void pyramid(fx_test *t, frix_contact_kind kind) {
  world w = world_new(t, 1.0, 0.0);
  w.config.contact = kind;
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  build_pyramid(&w, 20); /* 2870 spheres: too many for an interior point method within a step */
  if (world_start(&w)) {
    int repeated = 0;
    for (int k = 0; k < 6; k++) {
      frix_step_report report = world_step(&w, 0.005);
      CHECK(t, report.certified);
      CHECK(t, frix_sim_energy(w.sim).kinetic == 0);
      repeated += report.repeated;
    }
    CHECK(t, repeated == 3);
  }
  world_end(&w);
}

static void pyramid_stiff(fx_test *t) { pyramid(t, FRIX_CONTACT_KIND_STIFF); }
static void pyramid_rigid(fx_test *t) { pyramid(t, FRIX_CONTACT_KIND_RIGID); }

/* With too little friction it spreads: no forces hold it, and none are made up. */
static void slippery(fx_test *t) {
  world w = world_new(t, 0.2, 0.0);
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  build_pyramid(&w, 10);
  if (world_start(&w)) {
    for (int k = 0; k < 4; k++) CHECK(t, world_step(&w, 0.005).certified);
    CHECK(t, frix_sim_energy(w.sim).kinetic > 0);
  }
  world_end(&w);
}

const fx_test_row test_balance[] = {
    {"balance/pyramid", pyramid_stiff}, {"balance/pyramid_rigid", pyramid_rigid}, {"balance/slippery", slippery}, {0}};
