/* Physics with closed forms: what is known on paper, at h = .01 and .001. */
#include "sim_world.h"

static const double steps[2] = {0.01, 0.001};
static const double g = 9.81;
static const double pi = 3.14159265358979323846;

/* A sphere falls, lands and rests. */
static void falls(fx_test *t) {
  for (int k = 0; k < 2; k++) {
    world w = world_new(t, 0.5, 0);
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

/* tan 26 degrees < 0.5: rests, without creep. */
static void slope_rests(fx_test *t) {
  double creep = 0;
  for (int k = 0; k < 2; k++) {
    world w = world_new(t, 0.5, 0);
    double angle = 26.0 * pi / 180;
    frix_quat q = turned(angle, 0, 1, 0);
    world_plane(&w, q);
    double d = 0.05;
    frix_body_config b = body_at((frix_pose){{d * sin(angle), 0, d * cos(angle)}, q});
    frix_body_id box = world_body(&w, b, box_shape(0.1, 0.1, 0.05));
    REQUIRE(t, world_start(&w));
    world_run(&w, steps[k], 0.2);
    frix_body_state before = state_of(&w, box);
    double time = k ? 1 : 10;
    world_run(&w, steps[k], time);
    frix_body_state after = state_of(&w, box);
    double drift = hypot(after.center.x - before.center.x,
                         hypot(after.center.y - before.center.y, after.center.z - before.center.z));
    creep = fmax(creep, drift / time);
    CHECK(t, drift / time < 1e-12);
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }
  fx_test_note(t, "creep %.1e m/s", creep);
}

/* A block on a slope, mu 0.3 at 26 degrees: a = g (sin t - mu cos t), exactly (all of it in the first order of h). */
static void slope_slides(fx_test *t) {
  for (int k = 0; k < 2; k++) {
    double angle = 26.0 * pi / 180, mu = 0.3, h = steps[k], time = 0.5, d = 0.05;
    world w = world_new(t, mu, 0);
    frix_quat q = turned(angle, 0, 1, 0);
    world_plane(&w, q);
    frix_body_config b = body_at((frix_pose){{d * sin(angle), 0, d * cos(angle)}, q});
    frix_body_id box = world_body(&w, b, box_shape(0.2, 0.2, 0.05));
    REQUIRE(t, world_start(&w));
    world_run(&w, h, time);
    frix_vec3 v = state_of(&w, box).velocity;
    double a = g * (sin(angle) - mu * cos(angle));
    CHECK_NEAR(t, v.x * cos(angle) - v.z * sin(angle), a * time, 1e-9);
    CHECK_NEAR(t, v.x * sin(angle) + v.z * cos(angle), 0, 1e-10); /* no lift */
    CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-12);
    world_end(&w);
  }
}

/* A sled on three feet: stops after v^2 / (2 mu g) in a straight line, the same in all directions. */
static void puck(fx_test *t) {
  double mu = 0.4, speed = 2, exact = speed * speed / (2 * mu * g), error[2], apart = 0, lift = 0;
  for (int k = 0; k < 2; k++) {
    double first = 0;
    for (int n = 0; n < 7; n++) {
      double angle = 0.3 + 0.9 * n, h = steps[k];
      world w = world_new(t, mu, 0);
      world_plane(&w, turned(0, 1, 0, 0));
      frix_body_config b = body_at(at(0, 0, 0.02));
      b.mass = 1, b.inertia = (frix_sym3){0.01, 0.01, 0.02, 0, 0, 0};
      b.velocity = vec(speed * cos(angle), speed * sin(angle), 0);
      frix_body_id sled = {0, 0};
      MUST(&w, frix_builder_add_body(w.builder, &b, &sled));
      for (int f = 0; f < 3; f++) {
        frix_shape_config foot = sphere_shape(0.02);
        foot.pose.p = vec(0.2 * cos(2 * pi * f / 3), 0.2 * sin(2 * pi * f / 3), 0);
        foot.material = w.material;
        MUST(&w, frix_builder_add_shape(w.builder, sled, &foot, NULL));
      }
      REQUIRE(t, world_start(&w));
      double top = 0;
      for (int64_t s = 0; s < (int64_t)(0.7 / h); s++) {
        world_step(&w, h);
        top = fmax(top, fabs(state_of(&w, sled).center.z - 0.02));
      }
      frix_body_state s = state_of(&w, sled);
      double distance = hypot(s.center.x, s.center.y);
      if (n == 0) first = distance;
      apart = fmax(apart, fabs(distance - first));
      lift = fmax(lift, top);
      CHECK_NEAR(t, distance, first, 1e-10);
      CHECK_NEAR(t, s.center.y * cos(angle) - s.center.x * sin(angle), 0, 1e-10);
      CHECK_NEAR(t, hypot(s.velocity.x, s.velocity.y), 0, 1e-12);
      CHECK(t, top < 1e-12 && w.unsolved == 0);
      CHECK_NEAR(t, frix_sim_energy(w.sim).friction, 0.5 * speed * speed, 1e-10);
      world_end(&w);
    }
    error[k] = first - exact;
    CHECK_NEAR(t, error[k], -0.5 * speed * steps[k], 0.1 * speed * steps[k]); /* the first-order term of the scheme */
  }
  fx_test_note(t, "distance errors %.2e %.2e, directions apart %.0e, lift %.0e", error[0], error[1], apart, lift);
}

/* Skids, then rolls: sphere, cylinder, hoop. */
static void skids_then_rolls(fx_test *t) {
  static const struct {
    double inertia, speed, time;
  } rows[] = {{0.4, 5.0 / 7, 2.0 / 7}, {0.5, 2.0 / 3, 1.0 / 3}, {1, 0.5, 0.5}};
  double mu = 0.3, v0 = 2, r = 0.1;
  for (int n = 0; n < 3; n++)
    for (int k = 0; k < 2; k++) {
      world w = world_new(t, mu, 0);
      world_plane(&w, turned(0, 1, 0, 0));
      frix_body_config b = body_at(at(0, 0, r));
      double j = rows[n].inertia * r * r;
      b.mass = 1, b.inertia = (frix_sym3){j, j, j, 0, 0, 0}, b.velocity = vec(v0, 0, 0);
      frix_body_id ball = world_body(&w, b, sphere_shape(r));
      REQUIRE(t, world_start(&w));
      double time = rows[n].time * v0 / (mu * g), h = steps[k], x = 0;
      for (double now = 0; now < 1; now += h) {
        world_step(&w, h);
        if (frix_sim_time(w.sim) <= time)
          x = state_of(&w, ball).center.x + (time - frix_sim_time(w.sim)) * rows[n].speed * v0;
      }
      CHECK_NEAR(t, state_of(&w, ball).velocity.x, rows[n].speed * v0, 1e-9);
      CHECK_NEAR(t, state_of(&w, ball).spin.y, rows[n].speed * v0 / r, 1e-8);
      CHECK_NEAR(t, x, v0 * time - 0.5 * mu * g * time * time, v0 * h);
      CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-12);
      world_end(&w);
    }
}

/* Rolls down a slope without slip iff tan t <= 7/2 mu (sphere), 3 mu (cylinder), 2 mu (hoop). */
static void rolls_down(fx_test *t) {
  static const struct { double inertia, part, limit; } rows[] = {{0.4, 5.0 / 7, 3.5}, {0.5, 2.0 / 3, 3}, {1, 0.5, 2}};
  double r = 0.1, mu = 0.2;
  for (int n = 0; n < 3; n++)
    for (int side = 0; side < 2; side++)
      for (int k = 0; k < 2; k++) {
        double angle = atan(rows[n].limit * mu * (side ? 1.02 : 0.98)), h = steps[k], time = 0.4;
        world w = world_new(t, mu, 0);
        world_plane(&w, turned(angle, 0, 1, 0));
        frix_body_config b = body_at(at(r * sin(angle), 0, r * cos(angle)));
        double j = rows[n].inertia * r * r;
        b.mass = 1, b.inertia = (frix_sym3){j, j, j, 0, 0, 0};
        frix_body_id ball = world_body(&w, b, sphere_shape(r));
        REQUIRE(t, world_start(&w));
        world_run(&w, h, time);
        frix_body_state s = state_of(&w, ball);
        double v = s.velocity.x * cos(angle) - s.velocity.z * sin(angle);
        double slides = g * (sin(angle) - mu * cos(angle)), rolls = rows[n].part * g * sin(angle);
        CHECK_NEAR(t, v, (side ? slides : rolls) * time, 1e-8);
        if (side)
          CHECK(t, v - r * s.spin.y > 1e-4);
        else
          CHECK_NEAR(t, v - r * s.spin.y, 0, 1e-9);
        CHECK(t, w.unsolved == 0);
        world_end(&w);
      }
}

/* A disc on many equal springs spins down: t = J w / (mu m g mean |p|), near 3 R w / (4 mu g). */
static void disc_spins_down(fx_test *t) {
  double mu = 0.3, R = 0.2, spin = 10, mean = 0;
  enum { FEET = 40 };
  world w = world_new(t, mu, 0);
  frix_material_config m = frix_material_default();
  frix_material_id soft;
  m.mu = mu, m.stiffness = 1e5;
  MUST(&w, frix_builder_add_material(w.builder, &m, &soft));
  w.material = soft;
  world_plane(&w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(0, 0, 0.01));
  b.mass = 1, b.inertia = (frix_sym3){0.25 * R * R, 0.25 * R * R, 0.5 * R * R, 0, 0, 0}, b.spin = vec(0, 0, spin);
  frix_body_id disc = {0, 0};
  MUST(&w, frix_builder_add_body(w.builder, &b, &disc));
  for (int f = 0; f < FEET; f++) { /* in pairs, so that the centre of the feet is the centre */
    double a = 2.39996322972865332 * (f / 2) + pi * (f % 2), p = R * sqrt((f / 2 + 0.5) / (FEET / 2));
    frix_shape_config foot = sphere_shape(0.01);
    foot.pose.p = vec(p * cos(a), p * sin(a), 0);
    foot.material = soft;
    mean += p / FEET;
    MUST(&w, frix_builder_add_shape(w.builder, disc, &foot, NULL));
  }
  REQUIRE(t, world_start(&w));
  double h = 0.005, exact = 0.5 * R * R * spin / (mu * g * mean), stop = 0;
  for (int k = 0; k < 400 && stop == 0; k++) {
    world_step(&w, h);
    if (state_of(&w, disc).spin.z < 1e-6) stop = frix_sim_time(w.sim);
  }
  CHECK_NEAR(t, stop, exact, 3 * h);
  CHECK_NEAR(t, exact, 3 * R * spin / (4 * mu * g), 0.02 * exact);
  CHECK(t, w.unsolved == 0);
  fx_test_note(t, "stops at %.4f s, %.4f expected, residual %.0e", stop, exact, w.worst);
  world_end(&w);
}

/* A mass on a spring with dry friction. */
static void spring_with_friction(fx_test *t) {
  for (int k = 0; k < 2; k++) {
    double mu = 0.1, h = steps[k], stiffness = 100, drop = 2 * mu * g / stiffness, x0 = 0.15;
    spring s = {.k = stiffness};
    world w = world_new(t, mu, 0);
    w.config.force = spring_force;
    w.config.user = &s;
    world_plane(&w, turned(0, 1, 0, 0));
    frix_body_config b = body_at(at(x0, 0, 0.02));
    b.mass = 1;
    s.body = world_body(&w, b, box_shape(0.2, 0.2, 0.02));
    REQUIRE(t, world_start(&w));
    double turn = x0, last = 0;
    int turns = 0;
    for (int n = 0; n < (int)(4 / h); n++) {
      world_step(&w, h);
      frix_body_state now = state_of(&w, s.body);
      if (fabs(now.velocity.x) < 1e-6) continue; /* stands for a moment at the turn */
      if (now.velocity.x * last < 0 && fabs(turn) > 2 * drop) {
        CHECK_NEAR(t, fabs(now.center.x), fabs(turn) - drop, 0.06 * drop + 0.5 * h * h * stiffness * x0);
        turn = now.center.x;
        turns++;
      }
      last = now.velocity.x;
    }
    CHECK(t, turns >= 2);
    CHECK(t, fabs(state_of(&w, s.body).center.x) <= mu * g / stiffness + 1e-9);
    CHECK_NEAR(t, state_of(&w, s.body).velocity.x, 0, 1e-12);
    CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-11);
    world_end(&w);
  }
}

/* At rest at sqrt(2 H / g) (1 + e) / (1 - e), after a path H (1 + e^2) / (1 - e^2). */
static void bounces(fx_test *t) {
  double e = 0.6, H = 1, r = 0.1, error[2][2];
  for (int kind = 0; kind < 2; kind++)
    for (int k = 0; k < 2; k++) {
      double h = steps[k], path = 0, rest = 0, last = H;
      world w = world_new(t, 0.3, e);
      w.config.restitution = kind ? FRIX_RESTITUTION_POISSON : FRIX_RESTITUTION_NEWTON;
      world_plane(&w, turned(0, 1, 0, 0));
      frix_body_id ball = world_body(&w, body_at(at(0, 0, H + r)), sphere_shape(r));
      REQUIRE(t, world_start(&w));
      for (int n = 0; n < (int)(3 / h); n++) {
        world_step(&w, h);
        frix_body_state s = state_of(&w, ball);
        path += fabs(s.center.z - r - last);
        last = s.center.z - r;
        if (fabs(s.velocity.z) > 1e-9) rest = frix_sim_time(w.sim);
      }
      double exact = sqrt(2 * H / g) * (1 + e) / (1 - e);
      error[kind][k] = rest / exact - 1;
      CHECK_NEAR(t, rest, exact, 20 * h);
      CHECK_NEAR(t, path, H * (1 + e * e) / (1 - e * e), 12 * h);
      CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-11);
      frix_energy ledger = frix_sim_energy(w.sim);
      CHECK(t, ledger.impact > 0 && ledger.friction >= -1e-12);
      world_end(&w);
    }
  fx_test_note(t, "rest time off by %.1e %.1e (Newton), %.1e %.1e (Poisson)", error[0][0], error[0][1], error[1][0],
               error[1][1]);
}

/* A sphere hits a wall at an angle: sticks iff mu (1 + e) v_n >= 2/7 v_t. */
static void oblique(fx_test *t) {
  for (int kind = 0; kind < 2; kind++)
    for (int n = 0; n < 5; n++) {
      double e = 0.5, mu = 0.1 + 0.1 * n, vn = 2, vt = 3, r = 0.1;
      world w = world_new(t, mu, e);
      w.config.restitution = kind ? FRIX_RESTITUTION_POISSON : FRIX_RESTITUTION_NEWTON;
      MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
      world_plane(&w, turned(0, 1, 0, 0));
      frix_body_config b = body_at(at(0, 0, r + 0.1));
      b.velocity = vec(vt * 0.6, vt * 0.8, -vn);
      frix_body_id ball = world_body(&w, b, sphere_shape(r));
      REQUIRE(t, world_start(&w));
      world_run(&w, 0.01, 0.2);
      bool sticks = mu * (1 + e) * vn >= 2.0 / 7 * vt;
      double expected = sticks ? 5.0 / 7 * vt : vt - mu * (1 + e) * vn;
      frix_vec3 v = state_of(&w, ball).velocity;
      CHECK_NEAR(t, v.z, e * vn, 1e-10);
      CHECK_NEAR(t, hypot(v.x, v.y), expected, 1e-9);
      CHECK_NEAR(t, v.x * 0.8 - v.y * 0.6, 0, 1e-10);
      CHECK(t, w.unsolved == 0);
      world_end(&w);
    }
}

/* Jellett: L . (from the contact to the centre of mass) stays, whatever the friction. */
static void jellett(fx_test *t) {
  double drift[2];
  for (int k = 0; k < 2; k++) {
    double h = steps[k], r = 0.05, off = 0.01;
    world w = world_new(t, 0.3, 0);
    world_plane(&w, turned(0, 1, 0, 0));
    frix_body_config b = body_at((frix_pose){{0, 0, r}, turned(0.2, 0, 1, 0)});
    b.mass = 0.1, b.center = vec(0, 0, -off), b.inertia = (frix_sym3){8e-5, 8e-5, 1e-4, 0, 0, 0};
    b.spin = vec(100 * sin(0.2), 0, 100 * cos(0.2));
    frix_body_id top = world_body(&w, b, sphere_shape(r));
    REQUIRE(t, world_start(&w));
    double first = 0, last = 0, worst = 0;
    for (int n = 0; n <= (int)(0.5 / h + 0.5); n++) {
      frix_body_state s = state_of(&w, top);
      frix_vec3 arm = vec(s.center.x - s.pose.p.x, s.center.y - s.pose.p.y, s.center.z - s.pose.p.z + r);
      /* L = J w in the body's axes, seen along the arm */
      double zx = 2 * (s.pose.q.x * s.pose.q.z + s.pose.q.w * s.pose.q.y),
             zy = 2 * (s.pose.q.y * s.pose.q.z - s.pose.q.w * s.pose.q.x),
             zz = 1 - 2 * (s.pose.q.x * s.pose.q.x + s.pose.q.y * s.pose.q.y);
      double along = s.spin.x * zx + s.spin.y * zy + s.spin.z * zz;
      frix_vec3 L = vec(8e-5 * s.spin.x + 2e-5 * along * zx, 8e-5 * s.spin.y + 2e-5 * along * zy,
                        8e-5 * s.spin.z + 2e-5 * along * zz);
      last = L.x * arm.x + L.y * arm.y + L.z * arm.z;
      if (n == 0) first = last;
      worst = fmax(worst, fabs(last / first - 1));
      world_step(&w, h);
    }
    drift[k] = worst;
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }
  CHECK(t, drift[0] < 1e-6 && drift[1] < 1e-7);
  fx_test_note(t, "drift %.1e at h = .01, %.1e at .001", drift[0], drift[1]);
}

/* Free flight keeps both momenta to round-off, and the energy of the spin does not drift. */
static void free_flight(fx_test *t) {
  world w = world_new(t, 0.3, 0);
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  frix_body_config b = body_at((frix_pose){{1, 2, 3}, turned(0.7, 0.6, 0.8, 0)});
  b.velocity = vec(0.1, -0.2, 0.3), b.spin = vec(0.1, 5, 0.2); /* about the middle axis: tumbles */
  frix_body_id brick = world_body(&w, b, box_shape(0.1, 0.2, 0.3));
  REQUIRE(t, world_start(&w));
  double start = frix_sim_energy(w.sim).kinetic, worst = 0;
  frix_body_config weight;
  MUST(&w, frix_model_body(w.model, brick, &weight));
  frix_vec3 L0 = {0, 0, 0}, v0 = state_of(&w, brick).velocity;
  double off = 0;
  for (int n = 0; n < 5000; n++) {
    frix_body_state s = state_of(&w, brick);
    frix_quat q = s.pose.q, c = {q.w, -q.x, -q.y, -q.z};
    /* to the body's axes, times the inertia, and back */
    frix_vec3 p = s.spin, u = {c.x, c.y, c.z};
    for (int turn = 0; turn < 2; turn++) {
      frix_vec3 a = vec(2 * (u.y * p.z - u.z * p.y), 2 * (u.z * p.x - u.x * p.z), 2 * (u.x * p.y - u.y * p.x));
      p = vec(p.x + c.w * a.x + u.y * a.z - u.z * a.y, p.y + c.w * a.y + u.z * a.x - u.x * a.z,
              p.z + c.w * a.z + u.x * a.y - u.y * a.x);
      if (turn == 0) p = vec(weight.inertia.xx * p.x, weight.inertia.yy * p.y, weight.inertia.zz * p.z);
      u = vec(q.x, q.y, q.z);
    }
    if (n == 0) L0 = p;
    off = fmax(off, hypot(p.x - L0.x, hypot(p.y - L0.y, p.z - L0.z)) / hypot(L0.x, hypot(L0.y, L0.z)));
    worst = fmax(worst, fabs(frix_sim_energy(w.sim).kinetic / start - 1));
    double norm = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    CHECK_NEAR(t, norm, 1, 1e-14);
    world_step(&w, 0.01);
  }
  frix_vec3 v = state_of(&w, brick).velocity;
  CHECK(t, v.x == v0.x && v.y == v0.y && v.z == v0.z);
  CHECK(t, off < 1e-12);
  CHECK(t, worst < 2e-3);
  fx_test_note(t, "angular momentum %.0e, energy %.0e", off, worst);
  world_end(&w);
}

/* Bodies that collide keep the momentum of the whole; friction and impact take energy out and never bring any. */
static void collisions_conserve(fx_test *t) {
  for (int kind = 0; kind < 3; kind++) {
    world w = world_new(t, 0.4, kind ? 0.5 : 0);
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
    CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-11);
    fx_test_note(t, "largest gain of a step %.1e", gain);
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
    {"physics/slope_rests", slope_rests},
    {"physics/slope_slides", slope_slides},
    {"physics/puck", puck},
    {"physics/skids_then_rolls", skids_then_rolls},
    {"physics/rolls_down", rolls_down},
    {"physics/disc_spins_down", disc_spins_down},
    {"physics/spring_with_friction", spring_with_friction},
    {"physics/bounces", bounces},
    {"physics/oblique", oblique},
    {"physics/jellett", jellett},
    {"physics/free_flight", free_flight},
    {"physics/collisions_conserve", collisions_conserve},
    {"physics/painleve", painleve},
    {0},
};
