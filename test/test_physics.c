/* Physics that holds in every world: conservation, rest, and energy that does not grow. Closed forms are rows of
 * app/form_*.c, tested in test_closed_forms.c. */
#include "sim_world.h"

static const double steps[2] = {0.01, 0.001};
static const double g = 9.81;
static const double pi = 3.14159265358979323846;

/* A sphere falls, lands and rests. */
static void falls(fx_test *t) {
  for (int k = 0; k < 2; k++) {
    world w = rigid_world(t, 0.5, 0);
    world_plane(&w, turned(0, 1, 0, 0));
    frix_body_id ball = world_body(&w, body_at(at(0, 0, 1)), sphere_shape(0.1));
    frix_body_id box = world_body(&w, body_at(at(1, 0, 1)), box_shape(0.1, 0.2, 0.3));
    REQUIRE(t, world_start(&w));
    world_run(&w, steps[k], 0.3);
    CHECK_NEAR(t, state_of(&w, ball).center.z, 1 - 0.5 * g * 0.09, 0.5 * g * 0.3 * steps[k] + 1e-12);
    world_run(&w, steps[k], 1);
    CHECK_NEAR(t, state_of(&w, ball).center.z, 0.1, 1e-12);
    CHECK_NEAR(t, state_of(&w, box).center.z, 0.3, 1e-12);
    frix_body_state s = state_of(&w, box);
    CHECK_NEAR(t, s.velocity.z, 0, 1e-12);
    CHECK_NEAR(t, s.spin.x, 0, 1e-12);
    CHECK(t, w.unsolved == 0);
    CHECK(t, ledger_gap(w.sim) < 1e-12);
    world_end(&w);
  }
}

/* Bodies that collide keep the momentum of the whole; friction and impact take energy out and never bring any. */
static void collisions_conserve(fx_test *t) {
  for (int k = 0; k < 6; k++) {
    int kind = k % 3;
    world w = k < 3 ? world_new(t, 0.4, kind ? 0.5 : 0) : rigid_world(t, 0.4, kind ? 0.5 : 0);
    w.config.restitution = kind == 2 ? FRIX_RESTITUTION_POISSON : FRIX_RESTITUTION_NEWTON;
    MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
    enum { N = 12 };
    frix_body_id id[N];
    for (int n = 0; n < N; n++) {
      double a = 2 * pi * n / N;
      frix_body_config b = body_at(at(cos(a), sin(a), 0.05 * fx_test_random(t)));
      b.velocity = vec(-cos(a), -sin(a), 0), b.spin = vec(fx_test_random(t), fx_test_random(t), fx_test_random(t));
      id[n] = world_body(&w, b, n % 2 ? sphere_shape(0.1) : box_shape(0.1, 0.08, 0.06));
    }
    REQUIRE(t, world_start(&w));
    double mass[N];
    frix_vec3 before = {0, 0, 0}, after = {0, 0, 0};
    for (int n = 0; n < N; n++) {
      frix_body_config c;
      MUST(&w, frix_model_body(w.model, id[n], &c));
      mass[n] = c.mass;
      frix_vec3 v = state_of(&w, id[n]).velocity;
      before = vec(before.x + mass[n] * v.x, before.y + mass[n] * v.y, before.z + mass[n] * v.z);
    }
    double last = frix_sim_energy(w.sim).kinetic, gain = 0;
    for (int s = 0; s < 250; s++) {
      world_step(&w, 0.01);
      double now = frix_sim_energy(w.sim).kinetic;
      gain = fmax(gain, (now - last) / now);
      last = now;
    }
    for (int n = 0; n < N; n++) {
      frix_vec3 v = state_of(&w, id[n]).velocity;
      after = vec(after.x + mass[n] * v.x, after.y + mass[n] * v.y, after.z + mass[n] * v.z);
    }
    CHECK_NEAR(t, hypot(after.x - before.x, hypot(after.y - before.y, after.z - before.z)), 0, 1e-9);
    CHECK(t, frix_sim_energy(w.sim).friction > 0 && frix_sim_energy(w.sim).impact > 0);
    CHECK(t, w.unsolved == 0);
    CHECK(t, ledger_gap(w.sim) < 1e-11);
    fx_test_note(t, "largest gain of a step %.1e, %d not certified, ledger open by %.1e", gain, (int)w.unsolved,
                 ledger_gap(w.sim));
    CHECK(t, gain < 2e-3); /* the push out of penetrations and the turning of inertia */
    world_end(&w);
  }
}

/* Painleve's rod: the impulse exists where sliding is inconsistent, and energy does not grow. */
static void painleve(fx_test *t) {
  for (int n = 0; n < 6; n++) {
    double angle = atan(2.0), mu = n < 3 ? 1.2 : 1.6 + 0.4 * (n - 3), h = steps[n % 2], half = 0.5;
    world w = world_new(t, mu, 0);
    world_plane(&w, turned(0, 1, 0, 0));
    /* a thin rod, its lower end on the plane, sliding towards the side it leans from */
    frix_body_config b = body_at((frix_pose){{half * cos(angle), 0, half * sin(angle)}, turned(-angle, 0, 1, 0)});
    b.velocity = vec(n % 3 == 1 ? 1 : -1, 0, 0);
    frix_body_config rod = b;
    rod.mass = 1, rod.inertia = (frix_sym3){1e-4, half * half / 3, half * half / 3, 0, 0, 0};
    frix_body_id id = {0, 0};
    MUST(&w, frix_builder_add_body(w.builder, &rod, &id));
    for (int side = 0; side < 2; side++) {
      frix_shape_config tip = sphere_shape(1e-3);
      tip.pose.p = vec(side ? half : -half, 0, 0);
      tip.material = w.material;
      MUST(&w, frix_builder_add_shape(w.builder, id, &tip, NULL));
    }
    REQUIRE(t, world_start(&w));
    frix_pose lifted = b.pose;
    lifted.p.z += 1e-3;
    MUST(&w, frix_sim_set_pose(w.sim, id, lifted));
    frix_sim_reset_ledger(w.sim);
    double start = frix_sim_energy(w.sim).start;
    for (int s = 0; s < (int)(0.5 / h); s++) {
      world_step(&w, h);
      frix_energy e = frix_sim_energy(w.sim);
      CHECK(t, e.kinetic + e.potential <= start + 0.02 * start);
    }
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }
}

const fx_test_row test_physics[] = {
    {"physics/falls", falls},
    {"physics/collisions_conserve", collisions_conserve},
    {"physics/painleve", painleve},
    {0},
};
