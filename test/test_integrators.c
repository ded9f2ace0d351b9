/* Integrators: order, energy, and that each brings the same physics. */
#include "sim_world.h"

static const double g = 9.81;
static const double pi = 3.14159265358979323846;

static const char *const names[3] = {"moreau", "two_step", "variational"};

/* A particle thrown up: position errors of first order (moreau), none (the two others, gravity being constant). */
static void throws(fx_test *t) {
  for (int k = 0; k < 3; k++) {
    double error[2];
    for (int n = 0; n < 2; n++) {
      world w = world_new(t, 0.5, 0);
      w.config.integrator = names[k];
      frix_body_config b = body_at(at(0, 0, 1));
      b.velocity = vec(1, 2, 5);
      frix_body_id ball = world_body(&w, b, sphere_shape(0.1));
      REQUIRE(t, world_start(&w));
      world_run(&w, n ? 0.005 : 0.01, 0.5);
      error[n] = state_of(&w, ball).center.z - (1 + 5 * 0.5 - 0.5 * g * 0.25);
      CHECK(t, ledger_gap(w.sim) < 1e-13);
      world_end(&w);
    }
    if (k == 0)
      CHECK_NEAR(t, error[0] / error[1], 2, 1e-6);
    else
      CHECK(t, fabs(error[0]) < 1e-12);
  }
}

/* All three: a box lands and rests; a block slides to its place; nothing sinks away. */
static void rest_and_slide(fx_test *t) {
  for (int k = 0; k < 3; k++) {
    world w = rigid_world(t, 0.4, 0);
    w.config.integrator = names[k];
    world_plane(&w, turned(0, 1, 0, 0));
    frix_body_id box = world_body(&w, body_at(at(0, 0, 0.4)), box_shape(0.1, 0.1, 0.1));
    frix_body_config b = body_at(at(0, 3, 0.1));
    b.velocity = vec(2, 0, 0);
    frix_body_id block = world_body(&w, b, box_shape(0.3, 0.3, 0.1));
    REQUIRE(t, world_start(&w));
    world_run(&w, 0.005, 3);
    frix_body_state s = state_of(&w, box), d = state_of(&w, block);
    CHECK_NEAR(t, s.center.z, 0.1, 1e-6);
    CHECK_NEAR(t, s.velocity.z, 0, 1e-6);
    CHECK_NEAR(t, d.center.x, 4 / (2 * 0.4 * g), 0.012);
    CHECK_NEAR(t, d.velocity.x, 0, 1e-9);
    CHECK(t, w.unsolved == 0);
    CHECK(t, ledger_gap(w.sim) < 1e-11);
    fx_test_note(t, "%s: slides %.4f m", names[k], d.center.x);
    world_end(&w);
  }
}

/* The bouncing particle without friction, restitution 1: the variational scheme keeps its energy at every step size. */
static void particle(fx_test *t) {
  static const double h[3] = {0.1, 0.01, 0.001};
  for (int n = 0; n < 3; n++) {
    world w = world_new(t, 0, 1);
    w.config.integrator = "variational";
    w.config.restitution_speed = 0;
    world_plane(&w, turned(0, 1, 0, 0));
    frix_body_id ball = world_body(&w, body_at(at(0, 0, 1.1)), sphere_shape(0.1));
    REQUIRE(t, world_start(&w));
    frix_energy start = frix_sim_energy(w.sim);
    double rest = start.potential / 1.1 * 0.1, most = 0; /* energy above the ground */
    int bounces = 0;
    double last = 0;
    for (int k = 0; k < (int)(10 / h[n]); k++) {
      world_step(&w, h[n]);
      frix_energy e = frix_sim_energy(w.sim);
      most = fmax(most, fabs(e.kinetic + e.potential - start.start) / (start.start - rest));
      double v = state_of(&w, ball).velocity.z;
      bounces += v > 0 && last < 0;
      last = v;
    }
    CHECK(t, most < 1e-9);
    CHECK(t, bounces >= 8);
    fx_test_note(t, "h %g: energy kept to %.1e over %d bounces", h[n], most, bounces);
    world_end(&w);
  }
}

/* The nonlinear oscillator V = |q|^2 (|q|^2 - 1)^2 above the plane, frictionless and with friction. */
typedef struct well {
  frix_body_id body;
} well;

static void fall_in(frix_sim *sim, double time, void *user) {
  (void)time;
  frix_body_state s;
  frix_sim_body(sim, ((well *)user)->body, &s);
  double x = s.center.x, z = s.center.z - 0.1, q = x * x + z * z,
         slope = 2 * (q - 1) * (3 * q - 1); /* dV/dq = slope q */
  frix_sim_add_force(sim, ((well *)user)->body, vec(-slope * x, 0, -slope * z), vec(0, 0, 0));
}

static double energy_of(const frix_body_state *s) {
  double x = s->center.x, z = s->center.z - 0.1, q = x * x + z * z;
  return 0.5 * (s->velocity.x * s->velocity.x + s->velocity.z * s->velocity.z) + q * (q - 1) * (q - 1);
}

/* What chapter 4 of Kaufman's thesis shows: without friction the energy swings about its start and does not drift, at
 * every step size; with friction it falls while the particle slides on the plane, and the fall does not depend on the
 * step size. */
typedef struct swing {
  double most, drift,
      end;         /* largest deviation, mean deviation over the last second, energy at the end: over the start */
  double friction; /* lost, over the start */
} swing;

static swing swing_with(fx_test *t, double mu, double h) {
  swing out = {0};
  well user;
  world w = rigid_world(t, mu, 1);
  w.config.integrator = "variational";
  w.config.restitution_speed = 0;
  w.config.force = fall_in;
  w.config.user = &user;
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  world_plane(&w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(1.2, 0, 1.3));
  b.mass = 1, b.inertia = (frix_sym3){1e6, 1e6, 1e6, 0, 0, 0}; /* a particle: it does not turn */
  user.body = world_body(&w, b, sphere_shape(0.1));
  if (!world_start(&w)) return out;
  frix_body_state s = state_of(&w, user.body);
  double start = energy_of(&s), last = start;
  int steps = (int)(5 / h + 0.5);
  for (int k = 0; k < steps; k++) {
    world_step(&w, h);
    s = state_of(&w, user.body);
    last = energy_of(&s);
    out.most = fmax(out.most, fabs(last / start - 1));
    if ((k + 1) * h > 4) out.drift += (last / start - 1) * h;
  }
  out.end = last / start;
  out.friction = frix_sim_energy(w.sim).friction / start;
  CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-11);
  world_end(&w);
  return out;
}

static void oscillator(fx_test *t) {
  static const double mu[3] = {0, 0.5, 5}, h[3] = {0.1, 0.01, 0.001};
  for (int m = 0; m < 3; m++)
    for (int n = 0; n < 3; n++) {
      swing s = swing_with(t, mu[m], h[n]);
      /* from rest it falls straight to the origin, hits the plane at 45 degrees, and mu (1 + e) >= 1 stops its slip
       * there: half of the energy goes, once */
      double left = mu[m] > 0 ? 0.5 : 1, scheme = 20 * h[n] * h[n];
      if (mu[m] == 0) CHECK(t, s.most < scheme && s.friction == 0);
      CHECK_NEAR(t, s.drift, left - 1, scheme + 1e-6);
      CHECK_NEAR(t, s.end, left, scheme + 1e-6);
      if (mu[m] > 0) CHECK_NEAR(t, s.friction, 0.5, 0.5 * scheme + 1e-6);
      if (m < 2)
        fx_test_note(t, "mu %g h %g: ends with %.6f, off by %.1e at most", mu[m], h[n], s.end,
                     m ? fabs(s.end - left) : s.most);
    }
}

/* A pull so stiff that the explicit step explodes: linearly implicit it is stable. */
static void stiff(frix_sim *sim, double time, void *user) {
  (void)time;
  double k = 1e8;
  frix_body_id id = ((well *)user)->body;
  frix_body_state s;
  frix_sim_body(sim, id, &s);
  frix_sim_add_force(sim, id, vec(-k * s.center.x, -k * s.center.y, -k * s.center.z), vec(0, 0, 0));
  frix_sim_add_slope(sim, id, (frix_sym3){k, k, k, 0, 0, 0}, (frix_sym3){0}, (frix_sym3){0});
}

static void stiff_forces(fx_test *t) {
  for (int k = 0; k < 2; k++) {
    well user;
    world w = world_new(t, 0.5, 0);
    w.config.integrator = names[k];
    w.config.force = stiff;
    w.config.user = &user;
    user.body = world_body(&w, body_at(at(0.1, 0, 0)), sphere_shape(0.1));
    REQUIRE(t, world_start(&w));
    world_run(&w, 0.01, 2);
    frix_body_state s = state_of(&w, user.body);
    frix_body_config c;
    MUST(&w, frix_model_body(w.model, user.body, &c));
    CHECK(t, fabs(s.center.x) < (k ? 0.2 : 1e-6));
    if (k == 0) CHECK_NEAR(t, s.center.z, -c.mass * g / 1e8, 1e-9);
    CHECK(t, ledger_gap(w.sim) < 1e-11);
    world_end(&w);
  }
}

/* Stabilised and not: a ball pressed into a corner by a fast start sinks in once; only gamma brings it out. */
static void stabilisation(fx_test *t) {
  double depth[3];
  for (int k = 0; k < 3; k++) {
    world w = rigid_world(t, 0.3, 0);
    w.config.stabilisation = k == 0 ? 0 : 0.2;
    w.config.projections = k == 2 ? 1 : 0;
    world_plane(&w, turned(0, 1, 0, 0));
    frix_body_id ball = world_body(&w, body_at(at(0, 0, 0.09)), sphere_shape(0.1)); /* starts 1 cm deep */
    REQUIRE(t, world_start(&w));
    world_run(&w, 0.01, k == 2 ? 0.01 : 1);
    depth[k] = 0.1 - state_of(&w, ball).center.z;
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }
  CHECK_NEAR(t, depth[0], 0.01, 1e-9);
  CHECK(t, depth[1] < 1e-9 && depth[1] > -1e-9);
  CHECK(t, fabs(depth[2]) < 1e-9);
}

/* A spinning brick: the midpoint turn keeps energy and is of second order. */
static void turn_order(fx_test *t) {
  double angle[3];
  for (int n = 0; n < 3; n++) {
    double h = 0.02 / (1 << n);
    world w = world_new(t, 0.3, 0);
    MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
    frix_body_config b = body_at(at(0, 0, 0));
    b.spin = vec(1, 2, 3);
    frix_body_id brick = world_body(&w, b, box_shape(0.1, 0.2, 0.3));
    REQUIRE(t, world_start(&w));
    world_run(&w, h, 2);
    angle[n] = state_of(&w, brick).pose.q.x;
    world_end(&w);
  }
  CHECK_NEAR(t, (angle[0] - angle[1]) / (angle[1] - angle[2]), 4, 0.3);
  (void)pi;
}

static void table(fx_test *t) {
  for (int k = 0; k < 3; k++) {
    REQUIRE(t, frix_integrator_table(k));
    CHECK(t, !strcmp(frix_integrator_table(k)->name, names[k]));
  }
  CHECK(t, !frix_integrator_table(3) && !frix_integrator_table(-1));
}

const fx_test_row test_integrators[] = {
    {"integrators/table", table},
    {"integrators/throws", throws},
    {"integrators/rest_and_slide", rest_and_slide},
    {"integrators/particle", particle},
    {"integrators/oscillator", oscillator},
    {"integrators/stiff_forces", stiff_forces},
    {"integrators/stabilisation", stabilisation},
    {"integrators/turn_order", turn_order},
    {0},
};
