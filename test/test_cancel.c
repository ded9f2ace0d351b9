/* A step that is cancelled while it is solved is taken back, and the run goes on as if nothing had been. */
#include <stdatomic.h>

#include "sim_world.h"

typedef struct patience {
  atomic_int left; /* questions before it says yes; negative: never */
} patience;

static bool enough(void *user) {
  patience *p = user;
  if (atomic_load(&p->left) < 0) return false;
  return atomic_fetch_sub(&p->left, 1) <= 1;
}

static void heap(world *w) {
  world_plane(w, turned(0, 0, 0, 1));
  for (int k = 0; k < 40; k++) {
    frix_pose pose = {{0.21 * (k % 3), 0.21 * (k / 3 % 3), 0.15 + 0.25 * (k / 9)}, turned(0.1 * k, 0.6, 0.8, 0)};
    world_body(w, body_at(pose), box_shape(0.1, 0.1, 0.1));
  }
}

static void taken_back(fx_test *t) {
  patience p;
  atomic_init(&p.left, -1);
  world w = world_new(t, 0.5, 0), twin = world_new(t, 0.5, 0);
  w.config.solver = twin.config.solver = "nsgs";
  w.config.cancel = enough, w.config.user = &p;
  heap(&w), heap(&twin);
  REQUIRE(t, world_start(&w) && world_start(&twin));
  int cancelled = 0;
  for (int k = 0; k < 40; k++) {
    uint64_t before = 0, after = 0, other = 0;
    frix_step_report report;
    MUST(&w, frix_sim_hash(w.sim, &before));
    atomic_store(&p.left, 1 + k % 3);
    frix_status status = frix_sim_step(w.sim, 0.005, &report);
    CHECK(t, status == FRIX_OK || status == FRIX_ERROR_CANCELLED);
    atomic_store(&p.left, -1);
    if (status == FRIX_ERROR_CANCELLED) {
      cancelled++;
      MUST(&w, frix_sim_hash(w.sim, &after));
      CHECK(t, after == before);
      MUST(&w, frix_sim_step(w.sim, 0.005, &report));
    }
    MUST(&twin, frix_sim_step(twin.sim, 0.005, NULL));
    MUST(&w, frix_sim_hash(w.sim, &after));
    MUST(&twin, frix_sim_hash(twin.sim, &other));
    CHECK(t, after == other);
  }
  CHECK(t, cancelled > 5);
  fx_test_note(t, "%d of 40 steps cancelled", cancelled);
  world_end(&w), world_end(&twin);
}

const fx_test_row test_cancel[] = {{"cancel/taken_back", taken_back}, {0}};
