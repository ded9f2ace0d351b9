/* Energy of impacts: no law of restitution but Newton's own creates any, under any integrator, and the ledger books
 * what Newton's creates by its name. */
#include "sim_world.h"

static const double g = 9.81;
static const char *const integrators[3] = {"moreau", "two_step", "variational"};
enum { LAWS = 3 };

static double total(const frix_sim *sim) {
  frix_energy e = frix_sim_energy(sim);
  return e.kinetic + e.potential;
}

/* ---- a rod that falls on its end: normal and tangential motion are coupled ---- */

/* Of unit mass and length 2; its lower end touches. */
typedef struct rod {
  double x, y, spin; /* velocity of the centre */
} rod;

static const rod thrown = {0.284, -1.517, 2.378};
static const double inertia = 1.0 / 3, angle = 0.7861137384; /* 45.041 degrees: Kane's paradox */

static double kinetic_of(const rod *v) { return 0.5 * (v->x * v->x + v->y * v->y + inertia * v->spin * v->spin); }

/* The answer on paper where the end sticks: it leaves with u_N = -e u_N before and u_T = 0. */
static rod strike(const rod *v, double e, double impulse[2]) {
  double x = -cos(angle), y = -sin(angle), N = v->y + v->spin * x, T = v->x - v->spin * y;
  double nn = 1 + x * x / inertia, tt = 1 + y * y / inertia, nt = -x * y / inertia, d = nn * tt - nt * nt;
  double n = -(1 + e) * N;
  impulse[0] = (tt * n + nt * T) / d;
  impulse[1] = (-nn * T - nt * n) / d;
  return (rod){v->x + impulse[1], v->y + impulse[0], v->spin + (x * impulse[0] - y * impulse[1]) / inertia};
}

/* The largest part of e that creates no energy. */
static double largest_part(double e) {
  double low = 0, high = 1, r[2];
  for (int k = 0; k < 60; k++) {
    double s = 0.5 * (low + high);
    rod v = strike(&thrown, e * s, r);
    *(kinetic_of(&v) <= kinetic_of(&thrown) ? &low : &high) = s;
  }
  return low;
}

static world rod_world(fx_test *t, frix_restitution law, double mu, double e) {
  world w = rigid_world(t, mu, e);
  w.config.restitution = law;
  world_half_plane(&w);
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  frix_body_config b = body_at((frix_pose){{0, sin(angle) + 1e-6, 0}, turned(angle, 0, 0, 1)});
  b.planar = true, b.mass = 1, b.inertia.zz = inertia;
  b.velocity = vec(thrown.x, thrown.y, 0), b.spin = vec(0, 0, thrown.spin);
  frix_shape_config end = frix_shape_default();
  end.kind = FRIX_SHAPE_DISC, end.radius = 1e-6, end.pose.p = vec(-1, 0, 0);
  world_body(&w, b, end);
  return w;
}

static void check_rod(fx_test *t, frix_restitution law, double h, double newton, double part) {
  double start = kinetic_of(&thrown), kept = 1;
  world w = rod_world(t, law, 1.5, 0.98);
  REQUIRE(t, world_start(&w));
  for (int k = 0; k < 3; k++) kept = fmin(kept, world_step(&w, h).restitution);
  frix_energy e = frix_sim_energy(w.sim);
  double ratio = e.kinetic / start;
  if (law == FRIX_RESTITUTION_NEWTON) {
    CHECK_NEAR(t, ratio, newton, 1e-4);
    CHECK_NEAR(t, e.contact, (newton - 1) * start, 1e-3 * start);
  } else {
    CHECK(t, ratio <= 1 && e.contact <= 1e-9);
  }
  if (law == FRIX_RESTITUTION_BOUNDED) {
    CHECK(t, ratio > 0.999);
    CHECK_NEAR(t, kept, part, 2e-3);
  }
  CHECK(t, w.unsolved == 0 && fabs(e.scheme) < 1e-9 && ledger_gap(w.sim) < 1e-12);
  if (h == 1e-3) fx_test_note(t, "%s: %.4f", frix_restitution_table((int32_t)law)->name, ratio);
  world_end(&w);
}

/* A stiff contact that is struck bounces like a rigid one, with the same part of e. */
static void stiff_rod(fx_test *t) {
  world w = rod_world(t, FRIX_RESTITUTION_BOUNDED, 1.5, 0.98);
  w.config.contact = FRIX_CONTACT_KIND_STIFF;
  REQUIRE(t, world_start(&w));
  frix_step_report r = world_step(&w, 1e-5);
  double ratio = frix_sim_energy(w.sim).kinetic / kinetic_of(&thrown);
  CHECK(t, r.certified && ratio <= 1 && ratio > 0.999);
  CHECK_NEAR(t, r.restitution, largest_part(0.98), 2e-3);
  world_end(&w);
}

/* ---- motors are forces: what they might have brought excuses no contact, what they bring is no contact's ---- */

/* A flywheel on the rod's centre, far from the speed that its motor wants: its impulse is 1e-3 N m s, times what it
 * misses 5 J. */
static void motor_excuses_nothing(fx_test *t) {
  world w = rod_world(t, FRIX_RESTITUTION_BOUNDED, 1.5, 0.98);
  frix_body_config b = body_at(at(0, sin(angle) + 1e-6, 0));
  b.planar = true, b.mass = 1e-6, b.inertia.zz = 1e-2, b.velocity = vec(thrown.x, thrown.y, 0);
  frix_body_id wheel, rod_id = {1, 1};
  MUST(&w, frix_builder_add_body(w.builder, &b, &wheel));
  frix_joint_config hinge = frix_joint_default(FRIX_JOINT_HINGE);
  hinge.a = rod_id, hinge.b = wheel;
  hinge.axis[0].motor = FRIX_MOTOR_VELOCITY, hinge.axis[0].target = 5e3, hinge.axis[0].max_force = 100;
  MUST(&w, frix_builder_add_joint(w.builder, &hinge, NULL));
  REQUIRE(t, world_start(&w));
  frix_step_report r = world_step(&w, 1e-5);
  double ratio = frix_sim_energy(w.sim).kinetic / kinetic_of(&thrown);
  CHECK(t, r.certified && ratio <= 1 + 5e-3);
  CHECK_NEAR(t, r.restitution, largest_part(0.98), 1e-2);
  world_end(&w);
}

/* A cart that leaves a wall is driven back to it within a step, while a light ball bounces off the cart: the wall stops
 * what the motor drove, r (u0 + u1) / 2 > 0, and takes nothing from the ball's bounce. */
static void motor_turns(fx_test *t) {
  world w = rigid_world(t, 0, 0.5);
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  world_plane(&w, turned(acos(-1.0) / 2, 0, 1, 0));
  frix_body_config b = body_at(at(0.1, 0, 0));
  b.mass = 1, b.velocity = vec(0.5, 0, 0);
  frix_body_id cart = world_body(&w, b, sphere_shape(0.1));
  b = body_at(at(0.21, 0, 0));
  b.mass = 1e-3, b.velocity = vec(-1, 0, 0);
  frix_body_id ball = world_body(&w, b, sphere_shape(0.01));
  frix_joint_config slider = frix_joint_default(FRIX_JOINT_SLIDER);
  b = body_at(at(0, 0, 0));
  b.kind = FRIX_BODY_KINEMATIC; /* a joint to the world would keep the cart from touching the wall */
  MUST(&w, frix_builder_add_body(w.builder, &b, &slider.a));
  slider.b = cart;
  slider.frame_a = (frix_pose){{0.1, 0, 0}, turned(acos(-1.0) / 2, 0, 1, 0)}; /* z along x */
  slider.frame_b = (frix_pose){{0, 0, 0}, turned(acos(-1.0) / 2, 0, 1, 0)};
  slider.axis[0].motor = FRIX_MOTOR_VELOCITY, slider.axis[0].target = -10, slider.axis[0].max_force = 200;
  MUST(&w, frix_builder_add_joint(w.builder, &slider, NULL));
  REQUIRE(t, world_start(&w));
  frix_step_report r = world_step(&w, 1e-2);
  CHECK(t, r.certified && r.restitution == 1);
  CHECK_NEAR(t, state_of(&w, cart).velocity.x, 0, 1e-9);
  CHECK_NEAR(t, state_of(&w, ball).velocity.x, 0.5 * 1.5, 1e-9);
  world_end(&w);
}

/* Its end sticks for every e up to .98, and for .98 Newton's law creates half of the energy there was. */
static void rod_on_paper(fx_test *t) {
  double r[2], part = largest_part(0.98);
  rod plain = strike(&thrown, 0.98, r);
  double newton = kinetic_of(&plain) / kinetic_of(&thrown);
  CHECK(t, fabs(r[1]) < 1.5 * r[0] && newton > 1.4 && part > 0.3 && part < 0.9);
  strike(&thrown, 0.98 * part, r);
  CHECK(t, fabs(r[1]) < 1.5 * r[0]);
  for (int law = 0; law < LAWS; law++)
    for (double h = 1e-3; h > 1e-8; h /= 100) check_rod(t, (frix_restitution)law, h, newton, part);
}

/* ---- where Newton's law creates nothing, the bound changes no bit ---- */

static uint64_t fly(fx_test *t, frix_restitution law, int kind) {
  uint64_t hash = 0;
  world w = world_new(t, kind == 1 ? 0 : 0.4, kind == 0 ? 0.6 : 1);
  w.config.restitution = law;
  world_plane(&w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(0, 0, 0.5));
  b.velocity = vec(1.2, 1.6, -1);
  world_body(&w, b, sphere_shape(0.1));
  for (int k = 0; kind == 2 && k < 4; k++) world_body(&w, body_at(at(0.11 + 0.21 * k, 3, 0.1)), sphere_shape(0.1));
  b = body_at(at(-0.4, 3, 0.1));
  b.velocity = vec(2, 0, 0);
  if (kind == 2) world_body(&w, b, sphere_shape(0.1));
  if (!world_start(&w)) return 0;
  world_run(&w, 2e-3, 1.5);
  MUST(&w, frix_sim_hash(w.sim, &hash));
  CHECK(t, w.unsolved == 0);
  world_end(&w);
  return hash;
}

static void same_bits(fx_test *t) {
  for (int kind = 0; kind < 3; kind++)
    CHECK(t, fly(t, FRIX_RESTITUTION_NEWTON, kind) == fly(t, FRIX_RESTITUTION_BOUNDED, kind));
}

/* ---- head-on: e times the speed for every law and integrator, wherever in a step the balls meet ---- */

static void head_on(fx_test *t) {
  for (int i = 0; i < 3; i++)
    for (int law = 0; law < LAWS; law++) {
      double worst = 0;
      for (int k = 0; k < 20; k++) {
        double e = k % 2 ? 0.5 : 1;
        world w = world_new(t, 0, e);
        w.config.integrator = integrators[i], w.config.restitution = (frix_restitution)law;
        MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
        frix_body_config b = body_at(at(-0.01 - 0.00037 * k, 0, 0));
        b.mass = 1, b.velocity = vec(1, 0, 0);
        world_body(&w, b, sphere_shape(0.05));
        b = body_at(at(0.1, 0, 0));
        b.mass = 1;
        world_body(&w, b, sphere_shape(0.05));
        REQUIRE(t, world_start(&w));
        world_run(&w, 1e-3, 0.1);
        worst = fmax(worst, fabs(frix_sim_energy(w.sim).kinetic / (0.25 * (1 + e * e)) - 1));
        world_end(&w);
      }
      if (!(worst < 1e-9))
        fx_test_fail(t, __FILE__, __LINE__, "%s, %s: kinetic energy off by %.2g", integrators[i],
                     frix_restitution_table(law)->name, worst);
    }
}

/* ---- hundreds of throws ---- */

typedef struct throws {
  double above;   /* most that a throw has above its start, over that */
  double contact; /* most that a throw books as brought by contacts */
  double off;     /* most that a step gains beyond what it books there */
  int64_t reduced, unsolved;
} throws;

/* In 0 .. 1, the same for every law and integrator. */
static double part(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 9007199254740992.0;
}

static double side(uint64_t *seed) { return 2 * part(seed) - 1; }

static frix_vec3 any_vector(uint64_t *seed, double size) {
  double x = side(seed), y = side(seed);
  return vec(size * x, size * y, size * side(seed));
}

static frix_quat any_turn(uint64_t *seed) {
  double q[4], n = 0;
  for (int k = 0; k < 4; k++) q[k] = side(seed), n += q[k] * q[k];
  n = sqrt(n);
  return (frix_quat){q[0] / n, q[1] / n, q[2] / n, q[3] / n};
}

static frix_shape_config any_shape(uint64_t *seed, double s) {
  int kind = (int)(4 * part(seed));
  if (kind == 0) return box_shape(s, s, s);
  if (kind == 1) return kind_shape(FRIX_SHAPE_CAPSULE, 0.2 * s, s);
  frix_shape_config shape = box_shape(s, 0.5 * s, 0.2 * s);
  if (kind == 3) shape.kind = FRIX_SHAPE_ELLIPSOID, shape.half = vec(s, 0.7 * s, 0.5 * s);
  return shape;
}

/* Dice, bricks, rods and pebbles of unlike friction and restitution, one above the other. */
static int build_throw(world *w, int n, frix_body_id body[3]) {
  uint64_t seed = 1234 + 7919 * (uint64_t)n;
  part(&seed);
  int count = 1 + (int)(3 * part(&seed));
  double z = 0.3;
  world_plane(w, turned(0, 1, 0, 0));
  for (int k = 0; k < count; k++) {
    frix_material_config m = frix_material_default();
    m.mu = 1.5 * part(&seed), m.restitution = n % 3 == 0 ? 0.9 : part(&seed);
    MUST(w, frix_builder_add_material(w->builder, &m, &w->material));
    double s = 0.05 + 0.1 * part(&seed);
    z += 4 * s;
    frix_body_config b = body_at((frix_pose){{0.1 * side(&seed), 0.1 * side(&seed), z}, any_turn(&seed)});
    b.mass = 0.2 + part(&seed);
    b.velocity = any_vector(&seed, 2), b.velocity.z -= 3;
    b.spin = any_vector(&seed, 20);
    body[k] = world_body(w, b, any_shape(&seed, s));
    z += 2 * s;
  }
  return count;
}

/* Energy that moreau keeps in flight: that of the place half a step before, where its mean velocities lead. */
static double lag(world *w, const frix_body_id *body, int count, double h) {
  double sum = 0;
  for (int k = 0; k < count && !strcmp(w->config.integrator, "moreau"); k++) {
    frix_body_config c;
    MUST(w, frix_model_body(w->model, body[k], &c));
    sum += 0.5 * h * c.mass * g * state_of(w, body[k]).velocity.z;
  }
  return sum;
}

static void throw_once(fx_test *t, int i, frix_restitution law, int n, double h, throws *out) {
  frix_body_id body[3];
  world w = world_new(t, 0.3, n % 3 == 0 ? 0.9 : 0);
  w.config.integrator = integrators[i], w.config.restitution = law;
  int count = build_throw(&w, n, body);
  if (!world_start(&w)) return;
  double start = total(w.sim), first = start - lag(&w, body, count, h), last = first, booked = 0;
  for (int k = 0; k < (int)(0.6 / h + 0.5); k++) {
    out->reduced += world_step(&w, h).restitution < 1;
    double now = total(w.sim) - lag(&w, body, count, h), contact = frix_sim_energy(w.sim).contact;
    out->off = fmax(out->off, (now - last - contact + booked) / start);
    out->above = fmax(out->above, (now - first) / start);
    last = now, booked = contact;
  }
  out->contact = fmax(out->contact, booked / start);
  out->unsolved += w.unsolved;
  CHECK(t, ledger_gap(w.sim) < 1e-10);
  world_end(&w);
}

static throws throw_all(fx_test *t, int i, frix_restitution law, double h) {
  throws out = {0};
  for (int n = 0; n < 30; n++) throw_once(t, i, law, n, h, &out);
  CHECK(t, out.unsolved == 0);
  return out;
}

/* Beyond what pushes overlaps out, which the column `contact` says, a step gains nothing but what turning bodies and
 * slips bring over a finite step, of second order in h; under Newton's law that and what it creates, in that column. */
static void all_throws(fx_test *t) {
  static const double h[2] = {4e-3, 1e-3}, most[2] = {2.4e-4, 1.5e-5};
  for (int i = 0; i < 3; i++)
    for (int law = 0; law < LAWS; law++)
      for (int k = 0; k < 2; k++) {
        throws a = throw_all(t, i, (frix_restitution)law, h[k]);
        const char *name = frix_restitution_table(law)->name;
        if (law == FRIX_RESTITUTION_NEWTON)
          CHECK(t, a.above > 0.02 && a.contact > 0.02 && a.reduced == 0);
        else if (!(a.above < most[k] && a.contact < 0.25 * h[k]))
          fx_test_fail(t, __FILE__, __LINE__, "%s, %s, h %g: a throw gains %.2g, contacts bring %.2g", integrators[i],
                       name, h[k], a.above, a.contact);
        if (!(a.off < most[k]))
          fx_test_fail(t, __FILE__, __LINE__, "%s, %s, h %g: a step gains %.2g", integrators[i], name, h[k], a.off);
        if (law == FRIX_RESTITUTION_BOUNDED) CHECK(t, a.reduced > 0);
        if (k) fx_test_note(t, "%s %s: a throw gains %.0e", integrators[i], name, a.above);
      }
}

/* ---- a racket works on the ball: that is work, not creation ---- */

static void racket(fx_test *t) {
  for (int law = 0; law < LAWS; law++) {
    world w = world_new(t, 0.5, 0.8);
    w.config.restitution = (frix_restitution)law;
    MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
    frix_body_config b = body_at(at(0.3, 0, 0));
    b.mass = 1, b.velocity = vec(-2, 0, 0);
    frix_body_id ball = world_body(&w, b, sphere_shape(0.1));
    b = body_at(at(-0.2, 0, 0));
    b.kind = FRIX_BODY_KINEMATIC, b.velocity = vec(3, 0, 0);
    world_body(&w, b, box_shape(0.05, 0.5, 0.5));
    REQUIRE(t, world_start(&w));
    world_run(&w, 1e-3, 0.15);
    frix_energy e = frix_sim_energy(w.sim);
    CHECK_NEAR(t, state_of(&w, ball).velocity.x, 3 + 0.8 * 5, 1e-9);
    CHECK_NEAR(t, e.work - e.impact, 0.5 * (7 * 7 - 2 * 2), 1e-9);
    CHECK_NEAR(t, e.impact, 0.5 * (1 - 0.8 * 0.8) * 25, 1e-9);
    CHECK(t, e.contact < 1e-12 && w.unsolved == 0);
    world_end(&w);
  }
}

static void table(fx_test *t) {
  static const char *const name[LAWS] = {"newton", "poisson", "bounded"};
  for (int k = 0; k < LAWS; k++) CHECK(t, !strcmp(frix_restitution_table(k)->name, name[k]));
  CHECK(t, !frix_restitution_table(LAWS) && !frix_restitution_table(-1));
  CHECK(t, frix_sim_default().restitution == FRIX_RESTITUTION_BOUNDED);
  world w = world_new(t, 0, 0);
  w.config.restitution = (frix_restitution)LAWS;
  MUST(&w, frix_builder_compile(w.builder, &w.model));
  CHECK(t, frix_sim_create(w.context, w.model, &w.config, &w.sim) == FRIX_ERROR_INPUT);
  world_end(&w);
}

const fx_test_row test_energy_laws[] = {
    {"energy_laws/table", table},
    {"energy_laws/rod_on_paper", rod_on_paper},
    {"energy_laws/stiff_rod", stiff_rod},
    {"energy_laws/motor_excuses_nothing", motor_excuses_nothing},
    {"energy_laws/motor_turns", motor_turns},
    {"energy_laws/same_bits", same_bits},
    {"energy_laws/head_on", head_on},
    {"energy_laws/throws", all_throws},
    {"energy_laws/racket", racket},
    {0},
};
