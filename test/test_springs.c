/* Springs of compliant contacts: they turn with their bodies, hold what rolls and drills, and piles with them rest. */
#include "sim_world.h"

static void soft(world *w, double mu, double rolling, double spinning, double stiffness) {
  frix_material_config m = frix_material_default();
  m.mu = mu, m.rolling = rolling, m.spinning = spinning, m.stiffness = stiffness;
  MUST(w, frix_builder_add_material(w->builder, &m, &w->material));
}

/* Towards a mark on the turntable, which turns at 1 rad/s. */
static void push_along(frix_sim *sim, double time, void *user) {
  frix_sim_add_force(sim, *(const frix_body_id *)user, vec(2 * cos(time), 2 * sin(time), 0), vec(0, 0, 0));
}

/* A block on the axis of a turntable, pushed towards a mark on it. In the frame of the table the springs hold one
 * force, so the block stays where it is; memory that kept the world's directions would let it creep by 2 pi F / k in
 * every turn. */
static void turntable(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  soft(&w, 0.5, 0, 0, 1e5);
  frix_body_config table = body_at(at(0, 0, -0.05)), b = body_at(at(0, 0, 0.05));
  table.kind = FRIX_BODY_KINEMATIC;
  table.spin = b.spin = vec(0, 0, 1);
  b.mass = 1;
  world_body(&w, table, box_shape(1, 1, 0.05));
  frix_body_id block = world_body(&w, b, box_shape(0.1, 0.1, 0.05));
  w.config.force = push_along;
  w.config.user = &block;
  REQUIRE(t, world_start(&w));
  double x[2], y[2];
  for (int k = 0; k < 2; k++) {
    world_run(&w, 0.005, k ? 6.28 : 1.5);
    frix_vec3 p = state_of(&w, block).center;
    double time = frix_sim_time(w.sim), c = cos(time), s = sin(time);
    x[k] = c * p.x + s * p.y, y[k] = c * p.y - s * p.x;
  }
  double crept = hypot(x[1] - x[0], y[1] - y[0]), unturned = 2 * acos(-1) * 2 / 2e5;
  fx_test_note(t, "crept by %.1e m in a turn; %.1e m if springs did not turn", crept, unturned);
  CHECK(t, crept < 0.01 * unturned);
  CHECK(t, w.unsolved == 0);
  world_end(&w);
}

/* A ball on a stiff floor bounces by its restitution, under both laws; it comes to rest on the spring. */
static void bounce(fx_test *t) {
  for (int law = 0; law < 2; law++)
    for (int k = 0; k < 3; k++) {
      static const double e[] = {0.2, 0.5, 0.9};
      world w = world_new(t, 0.5, 0);
      frix_material_config m = frix_material_default();
      m.mu = 0.5, m.restitution = e[k], m.stiffness = 1e6;
      MUST(&w, frix_builder_add_material(w.builder, &m, &w.material));
      w.config.restitution = law ? FRIX_RESTITUTION_POISSON : FRIX_RESTITUTION_NEWTON;
      world_plane(&w, turned(0, 0, 0, 1));
      frix_body_config b = body_at(at(0, 0, 0.3));
      b.mass = 1;
      frix_body_id ball = world_body(&w, b, sphere_shape(0.05));
      REQUIRE(t, world_start(&w));
      double before = 0, after = 0, h = 1e-3;
      for (int step = 0; step < 400 && after == 0; step++) {
        world_step(&w, h);
        double v = state_of(&w, ball).velocity.z;
        if (v > 0) after = v;
        if (v < 0) before = v;
      }
      CHECK_NEAR(t, after, -e[k] * before, 2.5 * 9.81 * h);
      CHECK(t, ledger_gap(w.sim) < 1e-12);
      if (k == 1) {
        world_run(&w, h, 2.0);
        CHECK(t, fabs(state_of(&w, ball).velocity.z) < 1e-9);
        CHECK_NEAR(t, state_of(&w, ball).center.z, 0.05 - 9.81 / 5e5, 1e-8);
      }
      CHECK(t, w.unsolved == 0);
      world_end(&w);
    }
}

/* Pure rolling slips nowhere, so friction takes nothing from it, nor do springs or the steps: a ball that spins about
 * the normal too keeps its way and its speed. Rolling friction alone stops it. */
static void rolls_on(fx_test *t) {
  static const double rolling[] = {0, 1e-4};
  double speed[2][2], across = 0; /* after 1 s, when the spring of friction is at rest, and 20 s later */
  for (int k = 0; k < 2; k++) {
    world w = world_new(t, 0.5, 0);
    soft(&w, 0.5, rolling[k], 0, 1e6);
    world_plane(&w, turned(0, 0, 0, 1));
    frix_body_config b = body_at(at(0, 0, 0.05 - 9.81e-6));
    b.mass = 1;
    b.velocity = vec(0.01, 0, 0), b.spin = vec(0, 0.2, 3);
    frix_body_id ball = world_body(&w, b, sphere_shape(0.05));
    REQUIRE(t, world_start(&w));
    for (int later = 0; later < 2; later++) {
      world_run(&w, 0.005, later ? 20 : 1);
      frix_vec3 v = state_of(&w, ball).velocity;
      speed[k][later] = v.x;
      across = fmax(across, fabs(v.y));
    }
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }
  fx_test_note(t, "%.12f of the speed after 20 s; %.1e m/s with 0.1 mm of rolling friction", speed[0][1] / speed[0][0],
               speed[1][1]);
  CHECK(t, speed[0][0] > 0.009 && across < 1e-9);
  CHECK_NEAR(t, speed[0][1] / speed[0][0], 1, 1e-9);
  CHECK(t, fabs(speed[1][1]) < 1e-9);
}

/* A ball that two fixed ones squeeze, its centre 10 mm below the line between theirs, rolls to and fro about that line.
 * Friction holds it at its distance; springs that missed where the contacts went within a step would let it creep out.
 */
static void swings(fx_test *t) {
  const double radius = 0.05, below = 0.01, pressed = 1e-4, angle = 0.3;
  world w = world_new(t, 0.5, 0);
  soft(&w, 0.5, 0, 0, 1e6);
  double aside = sqrt((2 * radius - pressed) * (2 * radius - pressed) - below * below), far[2] = {0, 0}, most[2];
  for (int side = -1; side <= 1; side += 2) {
    frix_body_config fixed = body_at(at(side * aside, 0, 0));
    fixed.kind = FRIX_BODY_STATIC;
    world_body(&w, fixed, sphere_shape(radius));
  }
  frix_body_config b = body_at(at(0, below * sin(angle), -below * cos(angle)));
  b.mass = 1;
  frix_body_id ball = world_body(&w, b, sphere_shape(radius));
  REQUIRE(t, world_start(&w));
  for (int later = 0; later < 2; later++) {
    if (later) world_run(&w, 0.005, 30);
    most[later] = 0;
    for (int k = 0; k < 1000; k++) {
      world_step(&w, 0.005);
      frix_body_state s = state_of(&w, ball);
      far[later] += hypot(s.center.y, s.center.z) / 1000;
      most[later] = fmax(most[later], hypot(s.velocity.y, s.velocity.z));
    }
  }
  fx_test_note(t, "%.2e m further away after 30 s, %.4f of the speed", far[1] - far[0], most[1] / most[0]);
  CHECK(t, fabs(far[1] - far[0]) < 1e-6);
  CHECK(t, most[1] < most[0] && most[1] > 0.98 * most[0]);
  CHECK(t, w.unsolved == 0);
  world_end(&w);
}

const fx_test_row test_springs[] = {{"springs/turntable", turntable},
                                    {"springs/bounce", bounce},
                                    {"springs/rolls_on", rolls_on},
                                    {"springs/swings", swings},
                                    {0}};
