/* Arrays of the state in place, states set in bulk. */
#include "sim_world.h"

#include <time.h>

/* `count` balls in a row above a plane. */
static world balls(fx_test *t, int count) {
  world w = world_new(t, 0.5, 0);
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  for (int k = 0; k < count; k++) {
    frix_body_config body = frix_body_default();
    body.pose = at(0.3 * k, 0, 0.2);
    body.velocity = vec(0.1, 0, -1);
    world_body(&w, body, sphere_shape(0.1));
  }
  CHECK(t, world_start(&w));
  return w;
}

static frix_sim_arrays view_of(world *w) {
  frix_sim_arrays a = {.size = sizeof a};
  MUST(w, frix_sim_view(w->sim, &a));
  return a;
}

static void shows_state(fx_test *t) {
  world w = balls(t, 3);
  frix_sim_arrays a = view_of(&w);
  for (int k = 0; k < 30; k++) MUST(&w, frix_sim_step(w.sim, 0.01, NULL));
  CHECK(t, a.slot_count == 4 && a.alive[0] == 0 && a.alive[3] == 3);
  for (int32_t k = 1; k < a.slot_count; k++) {
    frix_body_state s;
    MUST(&w, frix_sim_body(w.sim, (frix_body_id){(uint32_t)k, 1}, &s));
    const double *p = frix_array_at(&a.center, k), *q = frix_array_at(&a.orientation, k);
    const double *v = frix_array_at(&a.velocity, k), *o = frix_array_at(&a.spin, k);
    CHECK(t, p[0] == s.center.x && p[1] == s.center.y && p[2] == s.center.z);
    CHECK(t, q[0] == s.pose.q.w && q[1] == s.pose.q.x && q[2] == s.pose.q.y && q[3] == s.pose.q.z);
    CHECK(t, v[0] == s.velocity.x && v[2] == s.velocity.z && o[1] == s.spin.y);
  }
  CHECK(t, view_of(&w).generation == a.generation);
  world_end(&w);
}

/* A force that is written to the array acts as one that is added. */
static void takes_forces(fx_test *t) {
  world w = balls(t, 1), x = balls(t, 1);
  frix_sim_arrays a = view_of(&w);
  for (int k = 0; k < 20; k++) {
    frix_array_at(&a.force, 1)[1] = 3;
    frix_array_at(&a.torque, 1)[2] = 0.1;
    MUST(&x, frix_sim_add_force(x.sim, (frix_body_id){1, 1}, vec(0, 3, 0), vec(0, 0, 0.1)));
    MUST(&w, frix_sim_step(w.sim, 0.01, NULL));
    MUST(&x, frix_sim_step(x.sim, 0.01, NULL));
  }
  uint64_t one, two;
  frix_sim_hash(w.sim, &one);
  frix_sim_hash(x.sim, &two);
  CHECK(t, one == two);
  frix_array_at(&a.force, 1)[0] = NAN;
  CHECK(t, frix_sim_step(w.sim, 0.01, NULL) != FRIX_OK);
  world_end(&w);
  world_end(&x);
}

/* Arrays that moved stay readable, and the generation tells. */
static void survives_growth(fx_test *t) {
  world w = balls(t, 2);
  frix_sim_arrays a = view_of(&w);
  double z = frix_array_at(&a.center, 2)[2];
  for (int k = 0; k < 100; k++)
    MUST(&w, frix_sim_spawn(w.sim, (frix_body_id){1, 1}, at(k, 5, 5), vec(0, 0, 0), vec(0, 0, 0), NULL));
  frix_sim_arrays b = view_of(&w);
  CHECK(t, b.generation != a.generation && b.slot_count == 103);
  CHECK(t, frix_array_at(&a.center, 2)[2] == z && frix_array_at(&b.center, 2)[2] == z);
  world_end(&w);
}

static uint64_t hash_of(const frix_sim *sim) {
  uint64_t hash = 0;
  frix_sim_hash(sim, &hash);
  return hash;
}

/* In bulk as one by one, to the bit, and all or nothing. */
static void sets_in_bulk(fx_test *t) {
  enum { N = 5 };
  world w = balls(t, N), x = balls(t, N);
  double center[3 * N], turn[4 * N], velocity[3 * N], spin[3 * N];
  for (int k = 0; k < N; k++) {
    frix_pose pose = {{fx_test_random(t), fx_test_random(t), 1 + k}, {1, 0.3 * k, 0.1, 0}};
    frix_vec3 v = vec(fx_test_random(t), 0.5, 0), o = vec(0, 0, fx_test_random(t));
    memcpy(center + 3 * k, &pose.p, sizeof pose.p);
    memcpy(turn + 4 * k, &pose.q, sizeof pose.q);
    memcpy(velocity + 3 * k, &v, sizeof v);
    memcpy(spin + 3 * k, &o, sizeof o);
    MUST(&x, frix_sim_set_pose(x.sim, (frix_body_id){(uint32_t)k + 1, 1}, pose));
    MUST(&x, frix_sim_set_velocity(x.sim, (frix_body_id){(uint32_t)k + 1, 1}, v, o));
  }
  frix_bulk bulk = frix_bulk_default();
  bulk.count = N, bulk.center = center, bulk.orientation = turn, bulk.velocity = velocity, bulk.spin = spin;
  uint64_t before = hash_of(w.sim);
  velocity[3 * N - 1] = INFINITY;
  CHECK(t, frix_sim_set_bodies(w.sim, &bulk) == FRIX_ERROR_INPUT && hash_of(w.sim) == before);
  velocity[3 * N - 1] = 0;
  MUST(&w, frix_sim_set_bodies(w.sim, &bulk));
  CHECK(t, hash_of(w.sim) == hash_of(x.sim));
  frix_energy e = frix_sim_energy(w.sim), other = frix_sim_energy(x.sim);
  CHECK_NEAR(t, e.kinetic + e.potential, e.start + e.work, 1e-12 * (fabs(e.work) + fabs(e.start)));
  CHECK(t, e.kinetic == other.kinetic && e.potential == other.potential);
  bulk.count = N + 1;
  CHECK(t, frix_sim_set_bodies(w.sim, &bulk) == FRIX_ERROR_INPUT);
  const frix_body_id id[2] = {{3, 1}, {9, 1}};
  bulk.count = 2, bulk.id = id;
  CHECK(t, frix_sim_set_bodies(w.sim, &bulk) == FRIX_ERROR_INPUT);
  bulk.count = 1;
  MUST(&w, frix_sim_set_bodies(w.sim, &bulk));
  frix_sim_arrays a = view_of(&w);
  CHECK(t, frix_array_at(&a.center, 3)[0] == center[0]);
  world_end(&w);
  world_end(&x);
}

static double seconds_of(int count, fx_test *t) {
  world w = balls(t, count);
  frix_sim_arrays a = view_of(&w);
  double *velocity = calloc((size_t)count * 3, sizeof *velocity), best = INFINITY;
  frix_bulk bulk = frix_bulk_default();
  bulk.count = a.slot_count - 1, bulk.velocity = velocity;
  for (int k = 0; k < 7; k++) {
    clock_t begun = clock();
    for (int repeat = 0; repeat < 20; repeat++) MUST(&w, frix_sim_set_bodies(w.sim, &bulk));
    best = fmin(best, (double)(clock() - begun) / CLOCKS_PER_SEC);
  }
  free(velocity);
  world_end(&w);
  return best / 20;
}

static void costs_little(fx_test *t) {
  double few = seconds_of(1000, t), many = seconds_of(8000, t);
  fx_test_note(t, "%.0f ns a body", 1e9 * many / 8000);
  CHECK(t, many < 20 * few);
}

/* What an older client knows is all that is written. */
static void keeps_to_size(fx_test *t) {
  world w = balls(t, 1);
  frix_sim_arrays a;
  memset(&a, 0x5a, sizeof a);
  a.size = offsetof(frix_sim_arrays, velocity);
  MUST(&w, frix_sim_view(w.sim, &a));
  const unsigned char *behind = (const unsigned char *)&a.velocity;
  CHECK(t, a.slot_count == 2 && a.center.width == 3 && behind[0] == 0x5a && behind[sizeof a.velocity - 1] == 0x5a);
  a.size = 0;
  CHECK(t, frix_sim_view(w.sim, &a) == FRIX_ERROR_INPUT);
  world_end(&w);
}

const fx_test_row test_view[] = {{"view/shows_state", shows_state},
                                 {"view/takes_forces", takes_forces},
                                 {"view/survives_growth", survives_growth},
                                 {"view/sets_in_bulk", sets_in_bulk},
                                 {"view/costs_little", costs_little},
                                 {"view/keeps_to_size", keeps_to_size},
                                 {0}};
