/* Energy of joints: what each integrator does to it, with projection and without; chains under tension. */
#include "linalg/vector.h"
#define WORLD_COORDINATES FRIX_COORDINATES_MAXIMAL /* rows of joints */
#include "sim_world.h"

static const double g = 9.81;
static const double pi = 3.14159265358979323846;
static const char *const integrators[3] = {"moreau", "two_step", "variational"};

static double total(const frix_sim *sim) {
  frix_energy e = frix_sim_energy(sim);
  return e.kinetic + e.potential;
}

static frix_shape_config ghost(void) {
  frix_shape_config s = sphere_shape(0.01);
  s.mask = 0;
  return s;
}

static frix_joint_id add_joint(world *w, frix_joint_config *j, frix_vec3 a, frix_vec3 axis, frix_vec3 b) {
  frix_joint_id id = {0, 0};
  MUST(w, frix_joint_place(w->builder, j, a, axis, vec(1, 0, 0), b));
  MUST(w, frix_builder_add_joint(w->builder, j, &id));
  return id;
}

/* ---- a rod of 1 kg and 1 m on a hinge at its end, let go at an angle ---- */

typedef struct swing {
  double worst; /* |E - E0| over m g d */
  double end;
  double error; /* of the joint */
} swing;

static swing swing_with(fx_test *t, const char *integrator, int projections, double angle, double thin, double h) {
  swing out = {0};
  world w = world_new(t, 0, 0);
  w.config.integrator = integrator, w.config.projections = projections;
  frix_body_config b = body_at((frix_pose){{0.5 * sin(angle), 0, -0.5 * cos(angle)}, turned(-angle, 0, 1, 0)});
  b.mass = 1, b.inertia = (frix_sym3){1.0 / 12, 1.0 / 12, thin, 0, 0, 0};
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  j.b = world_body(&w, b, ghost());
  frix_joint_id hinge = add_joint(&w, &j, vec(0, 0, 0), vec(0, 1, 0), vec(0, 0, 0));
  if (!world_start(&w)) return out;
  double start = total(w.sim);
  for (int k = 0; k < (int)(20 / h + 0.5); k++) {
    frix_joint_state s;
    world_step(&w, h);
    MUST(&w, frix_sim_joint(w.sim, hinge, &s));
    out.end = (total(w.sim) - start) / (0.5 * g);
    out.worst = fmax(out.worst, fabs(out.end));
    out.error = fmax(out.error, s.error);
  }
  CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-10);
  world_end(&w);
  return out;
}

/* moreau swings about its energy by an amount of first order, the others by one of second; none drifts away. */
static void pendulum(fx_test *t) {
  for (int i = 0; i < 3; i++)
    for (int projections = 0; projections < 2; projections++) {
      double worst[2];
      for (int n = 0; n < 2; n++) {
        double h = n ? 1e-3 : 4e-3;
        swing s = swing_with(t, integrators[i], projections, pi / 2, 1.0 / 1200, h);
        worst[n] = s.worst;
        CHECK(t, s.error < (projections && i == 0 ? 1e-12 : 10 * h * h));
      }
      bool second = worst[1] < 2e-5 && worst[0] > 10 * worst[1];
      bool first = worst[1] < 2e-3 && worst[0] > 3 * worst[1];
      if (!(i ? second : first))
        fx_test_fail(t, __FILE__, __LINE__, "%s, %d projections: energy off by %.2g and %.2g m g d", integrators[i],
                     projections, worst[0], worst[1]);
      if (projections == 0) fx_test_note(t, "%s: %.1e, %.1e m g d", integrators[i], worst[0], worst[1]);
    }
}

/* The thinner the rod, the sooner errors across it would grow. */
static void thin_rods(fx_test *t) {
  for (int i = 0; i < 3; i++)
    for (int n = 0; n < 2; n++) {
      swing s = swing_with(t, integrators[i], 0, n ? 5 * pi / 6 : pi / 9, 1.0 / 12000, 2e-3);
      CHECK(t, s.worst < (i ? 4e-4 : 8e-3));
    }
}

/* ---- chains ---- */

/* A link of 50 g between two points. */
static frix_body_id add_link(world *w, frix_vec3 a, frix_vec3 b) {
  double x = b.x - a.x, z = b.z - a.z, length = sqrt(x * x + z * z), m = 0.05, j = m * length * length / 12;
  frix_body_config c = body_at((frix_pose){{0.5 * (a.x + b.x), 0, 0.5 * (a.z + b.z)}, turned(atan2(x, z), 0, 1, 0)});
  c.mass = m, c.inertia = (frix_sym3){j, j, 0.1 * j, 0, 0, 0};
  return world_body(w, c, ghost());
}

enum { LINKS = 50 };

/* The horizontal force of a chain of links over 0.6 of its length, and its corners in equilibrium. */
static void hang(frix_vec3 p[LINKS + 1]) {
  double low = 1e-6, high = 1e6, weight = 0.05 * g, H = 1;
  for (int k = 0; k < 200; k++) {
    double span = 0;
    H = sqrt(low * high);
    for (int i = 0; i < LINKS; i++) span += 0.1 / hypot(1, (0.5 * LINKS - i - 0.5) * weight / H);
    *(span < 0.06 * LINKS ? &low : &high) = H;
  }
  p[0] = vec(0, 0, 0);
  for (int i = 0; i < LINKS; i++) {
    double slope = (0.5 * LINKS - i - 0.5) * weight / H, c = 0.1 / hypot(1, slope);
    p[i + 1] = vec(p[i].x + c, 0, p[i].z - c * slope);
  }
}

static void build_chain(world *w, const frix_vec3 *p, bool both_ends, double damping, frix_body_id link[LINKS]) {
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  j.axis[0].damping = damping;
  for (int i = 0; i < LINKS; i++) {
    j.a = i ? link[i - 1] : (frix_body_id){0, 0};
    j.b = link[i] = add_link(w, p[i], p[i + 1]);
    add_joint(w, &j, p[i], vec(0, 1, 0), vec(0, 0, 0));
  }
  j.a = link[LINKS - 1], j.b = (frix_body_id){0, 0};
  if (both_ends) add_joint(w, &j, p[LINKS], vec(0, 1, 0), vec(0, 0, 0));
}

/* In equilibrium, straight down and between two pegs, with steps up to seven times those that could follow the fastest
 * swing of a link. */
static void stand_still(fx_test *t, frix_coordinates coordinates) {
  double worst = 0;
  for (int i = 0; i < 3; i++)
    for (int n = 0; n < 6; n++) {
      frix_vec3 p[LINKS + 1];
      frix_body_id link[LINKS];
      double h = n < 2 ? 0.007 : n < 4 ? 0.02 : 0.05;
      world w = world_new(t, 0, 0);
      w.config.integrator = integrators[i], w.config.coordinates = coordinates;
      hang(p);
      for (int k = 0; n % 2 && k <= LINKS; k++) p[k] = vec(0, 0, -0.1 * k);
      build_chain(&w, p, n % 2 == 0, 0, link);
      REQUIRE(t, world_start(&w));
      world_run(&w, h, 4);
      for (int k = 0; k < LINKS; k++) {
        frix_vec3 c = state_of(&w, link[k]).center;
        worst = fmax(worst, hypot(c.x - 0.5 * (p[k].x + p[k + 1].x), c.z - 0.5 * (p[k].z + p[k + 1].z)));
      }
      CHECK(t, w.unsolved == 0);
      world_end(&w);
    }
  CHECK(t, worst < 1e-5);
  fx_test_note(t, "moved by %.1e m", worst);
}

static void equilibrium(fx_test *t) { stand_still(t, FRIX_COORDINATES_MAXIMAL); }
static void equilibrium_of_trees(fx_test *t) { stand_still(t, FRIX_COORDINATES_REDUCED); }

/* Let go from a V, with dampers: it loses what they take, at every tolerance alike, and comes to the same place. */
static void let_go(fx_test *t, frix_coordinates coordinates) {
  double speed[2], sunk[2];
  for (int n = 0; n < 2; n++) {
    frix_vec3 p[LINKS + 1] = {{0, 0, 0}};
    frix_body_id link[LINKS];
    world w = world_new(t, 0, 0);
    w.config.tolerance = n ? 1e-8 : 1e-4, w.config.coordinates = coordinates;
    for (int i = 0; i < LINKS; i++) p[i + 1] = vec(p[i].x + 0.06, 0, p[i].z + (i < LINKS / 2 ? -0.08 : 0.08));
    build_chain(&w, p, true, 0.3, link);
    REQUIRE(t, world_start(&w));
    double start = total(w.sim), above = 0;
    speed[n] = 0;
    for (int k = 0; k < 500; k++) {
      world_step(&w, 2e-3);
      above = fmax(above, total(w.sim) - start);
    }
    frix_energy e = frix_sim_energy(w.sim);
    for (int k = 0; k < LINKS; k++) speed[n] = fmax(speed[n], fabs(state_of(&w, link[k]).velocity.z));
    sunk[n] = state_of(&w, link[LINKS / 2]).center.z;
    CHECK(t, above < 1e-3 && fabs(e.joint) < 1e-3 * e.damping && w.unsolved == 0);
    world_end(&w);
  }
  CHECK_NEAR(t, speed[0], speed[1], 1e-6);
  CHECK_NEAR(t, sunk[0], sunk[1], 1e-6);
  fx_test_note(t, "%.3g m/s left", speed[0]);
}

static void tolerances(fx_test *t) { let_go(t, FRIX_COORDINATES_MAXIMAL); }
static void tolerances_of_trees(fx_test *t) { let_go(t, FRIX_COORDINATES_REDUCED); }

/* A double pendulum that turns fast: velocity products bring no energy at steps of half a radian, and joints that are
 * coordinates report the forces of joints that are rows. */
static void fast_with(fx_test *t, const char *integrator) {
  frix_joint_state state[2][2];
  for (int n = 0; n < 4; n++) { /* both coordinates at 0.5 ms, trees at 2 and 20 ms */
    world w = world_new(t, 0, 0);
    w.config.integrator = integrator;
    double h = n < 2 ? 5e-4 : n == 2 ? 2e-3 : 2e-2, above = -1;
    w.config.coordinates = n == 0 ? FRIX_COORDINATES_MAXIMAL : FRIX_COORDINATES_REDUCED;
    if (n >= 2) MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
    frix_joint_config j = frix_joint_default(FRIX_JOINT_BALL);
    frix_joint_id id[2];
    frix_body_id body = {0, 0};
    for (int k = 0; k < 2; k++) {
      frix_body_config b = body_at(at(0.1 + 0.2 * k, 0, 0));
      b.mass = 1, b.inertia = (frix_sym3){1e-3, 4e-3, 4e-3, 0, 0, 0};
      b.velocity = vec(0, n < 2 ? 0 : k ? 2 : 1, k ? 0.5 : 0);
      b.spin = vec(0, k ? -5 : 0, n < 2 ? 0 : k ? 0 : 10);
      j.a = body, j.b = body = world_body(&w, b, ghost());
      id[k] = add_joint(&w, &j, vec(0.2 * k, 0, 0), vec(0, 1, 0), vec(0, 0, 0));
    }
    REQUIRE(t, world_start(&w));
    double start = total(w.sim);
    for (int k = 0; k < (n < 2 ? 200 : 1000); k++) {
      world_step(&w, h);
      above = fmax(above, total(w.sim) / start - 1);
    }
    for (int k = 0; k < 2 && n < 2; k++) MUST(&w, frix_sim_joint(w.sim, id[k], &state[n][k]));
    if (n >= 2) CHECK(t, above < 1e-3);
    CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-10);
    world_end(&w);
  }
  for (int k = 0; k < 2; k++) {
    frix_vec3 a = state[0][k].force, b = state[1][k].force;
    CHECK(t, hypot(b.x, b.z) > 3 && hypot(a.x - b.x, hypot(a.y - b.y, a.z - b.z)) < 0.02 * hypot(b.x, b.z));
  }
}

static void fast_trees(fx_test *t) {
  for (int i = 0; i < 3; i++) fast_with(t, integrators[i]);
}

/* Three bars that float or hang, in the schemes of the half step: what is resolved keeps its energy, what turns by more
 * than a radian per step gains none. */
static double keep_energy(fx_test *t, const char *integrator, double spin, double h, double *lost) {
  world w = world_new(t, 0, 0);
  w.config.integrator = integrator, w.config.coordinates = FRIX_COORDINATES_REDUCED;
  if (spin > 0) MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  for (int k = 0; k < 3; k++) {
    frix_body_config b = body_at(at(0.1 + 0.2 * k, 0, 0));
    b.spin = vec(spin * (k + 1), 0.3 * spin, 0.5 * spin * k);
    frix_shape_config shape = box_shape(0.08, 0.03, 0.02);
    shape.mask = 0;
    j.a = j.b, j.b = world_body(&w, b, shape);
    j.kind = k == 1 ? FRIX_JOINT_BALL : FRIX_JOINT_HINGE;
    if (k > 0 || !(spin > 0)) add_joint(&w, &j, vec(0.2 * k, 0, 0), vec(0, 1, k == 2 ? 1 : 0), vec(0, 0, 0));
  }
  if (!world_start(&w)) return INFINITY;
  double start = total(w.sim), scale = spin > 0 ? start : 20, above = 0;
  *lost = 0;
  for (int k = 0; k < 4000; k++) {
    world_step(&w, h);
    above = fmax(above, (total(w.sim) - start) / scale), *lost = fmax(*lost, (start - total(w.sim)) / scale);
  }
  CHECK(t, w.unsolved == 0);
  world_end(&w);
  return above;
}

static void half_step_of_trees(fx_test *t) {
  double lost;
  for (int i = 1; i < 3; i++) {
    double hangs = keep_energy(t, integrators[i], 0, 1e-3, &lost);
    CHECK(t, hangs < 1e-3 && lost < 1e-3);
    fx_test_note(t, "%s hangs: %.0e above, %.0e below", integrators[i], hangs, lost);
    double floats = keep_energy(t, integrators[i], 5, 1e-3, &lost);
    CHECK(t, floats < 1e-4 && lost < 1e-4);
    CHECK(t, keep_energy(t, integrators[i], 60, 1e-2, &lost) < 1e-12);
  }
}

/* Rods and ropes between weights, pushed aside: they swing, and gain nothing. */
static void rods_and_ropes(fx_test *t) {
  for (int n = 0; n < 4; n++) {
    frix_body_id weight[LINKS];
    world w = world_new(t, 0, 0);
    frix_joint_config j = frix_joint_default(FRIX_JOINT_DISTANCE);
    j.axis[0].limited = n % 2, j.axis[0].lower = 0, j.axis[0].upper = 0.1;
    for (int i = 0; i < LINKS; i++) {
      frix_body_config b = body_at(at(0, 0, -0.1 * (i + 1)));
      b.mass = 0.05, b.inertia = (frix_sym3){2e-5, 2e-5, 2e-5, 0, 0, 0};
      b.velocity = vec(i % 2 ? 1e-3 : -1e-3, 0, 0);
      j.a = i ? weight[i - 1] : (frix_body_id){0, 0};
      j.b = weight[i] = world_body(&w, b, ghost());
      add_joint(&w, &j, vec(0, 0, -0.1 * i), vec(0, 0, 1), vec(0, 0, -0.1 * (i + 1)));
    }
    REQUIRE(t, world_start(&w));
    double start = total(w.sim), above = 0, far = 0;
    for (int k = 0; k < 100; k++) {
      world_step(&w, n < 2 ? 0.02 : 0.03);
      above = fmax(above, total(w.sim) - start);
    }
    for (int i = 0; i < LINKS; i++) far = fmax(far, fabs(state_of(&w, weight[i]).center.x));
    CHECK(t, above < 1e-6 && far < 1e-3 && w.unsolved == 0);
    world_end(&w);
  }
}

/* ---- a body pulled by its joint, 1e6 times as stiff as its inertia: the spin about the line of the pull stays ---- */

static void twist(fx_test *t) {
  frix_shape_config large = sphere_shape(1);
  large.mask = 0;
  const double pull = 3e4, spin = 1e-4;
  for (int i = 0; i < 3; i++)
    for (int n = 0; n < 8; n++) {
      world w = world_new(t, 0, 0);
      w.config.integrator = integrators[i];
      MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
      frix_vec3 d = fx_unit(vec(1 + n, 2, 3 - n)), across = fx_unit(fx_cross(d, vec(0, 1, 0)));
      frix_body_config b = body_at(at(0.2 * d.x, 0.2 * d.y, 0.2 * d.z));
      b.mass = 0.5, b.inertia = (frix_sym3){2e-3, 2e-3, 2e-3, 0, 0, 0};
      frix_joint_config j = frix_joint_default(FRIX_JOINT_BALL);
      j.b = world_body(&w, b, large);
      add_joint(&w, &j, vec(0, 0, 0), vec(0, 0, 1), vec(0, 0, 0));
      REQUIRE(t, world_start(&w));
      for (int k = 0; k < 4; k++) {
        frix_vec3 turn = fx_scale(spin, fx_add(d, across));
        if (k == 1) MUST(&w, frix_sim_set_velocity(w.sim, j.b, fx_cross(turn, fx_scale(0.2, d)), turn));
        MUST(&w, frix_sim_add_force(w.sim, j.b, fx_scale(pull, d), vec(0, 0, 0)));
        world_step(&w, 1.0);
      }
      frix_body_state s;
      MUST(&w, frix_sim_body(w.sim, j.b, &s));
      CHECK(t, w.unsolved == 0);
      CHECK_NEAR(t, fx_dot(s.spin, d), spin, 1e-5 * spin);
      world_end(&w);
    }
}

/* ---- a free body that turns far in a step keeps its energy ---- */

static void fast_turns(fx_test *t) {
  for (int i = 0; i < 3; i++) {
    world w = world_new(t, 0, 0);
    w.config.integrator = integrators[i];
    MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
    frix_body_config b = body_at(at(0, 0, 0));
    b.spin = vec(60, 50, 90);
    world_body(&w, b, box_shape(0.1, 0.05, 0.02));
    REQUIRE(t, world_start(&w));
    double start = total(w.sim), off = 0;
    for (int k = 0; k < 500; k++) {
      world_step(&w, 0.01);
      off = fmax(off, fabs(total(w.sim) / start - 1));
    }
    CHECK(t, off < 4e-3);
    world_end(&w);
  }
}

/* ---- two bricks on a ball joint, thrown: restitution sees joints too ---- */

typedef struct gain {
  double above, contact; /* most above the start and most brought by contacts, over the energy at the start */
} gain;

static gain throw_pair(fx_test *t, frix_coordinates coordinates, int i, int law, int n, double h) {
  world w = rigid_world(t, 0.8, 0.95);
  w.config.coordinates = coordinates;
  w.config.integrator = integrators[i], w.config.restitution = (frix_restitution)law;
  world_plane(&w, turned(0, 1, 0, 0));
  frix_vec3 spin = vec(3 * cos(n), 8 * sin(2.0 * n), 5 * cos(3.0 * n));
  frix_joint_config j = frix_joint_default(FRIX_JOINT_BALL);
  frix_quat q = turned(0.7 * n, 0.6, 0, 0.8);
  for (int k = 0; k < 2; k++) { /* turning as one about the joint */
    double along = k ? 0.15 : -0.15;
    frix_vec3 arm = vec(along * (1 - 2 * q.z * q.z), along * 2 * q.w * q.z, along * 2 * q.x * q.z);
    frix_body_config b = body_at((frix_pose){{arm.x, arm.y, 0.6 + arm.z}, q});
    b.mass = 1 + k, b.spin = spin;
    b.velocity =
        vec(1 + spin.y * arm.z - spin.z * arm.y, spin.z * arm.x - spin.x * arm.z, spin.x * arm.y - spin.y * arm.x - 2);
    *(k ? &j.b : &j.a) = world_body(&w, b, box_shape(0.12, 0.06, 0.04));
  }
  add_joint(&w, &j, vec(0, 0, 0.6), vec(0, 0, 1), vec(0, 0, 0));
  gain out = {0};
  if (!world_start(&w)) return out;
  double start = total(w.sim);
  for (int k = 0; k < (int)(1 / h + 0.5); k++) {
    world_step(&w, h);
    out.above = fmax(out.above, total(w.sim) / start - 1);
  }
  out.contact = frix_sim_energy(w.sim).contact / start;
  CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-10);
  world_end(&w);
  return out;
}

static void throw_all(fx_test *t, frix_coordinates coordinates, int schemes) {
  for (int i = 0; i < schemes; i++)
    for (int law = 0; frix_restitution_table(law); law++) {
      gain most = {0};
      for (int n = 0; n < 20; n++) {
        gain one = throw_pair(t, coordinates, i, law, n, 1e-3);
        most.above = fmax(most.above, one.above), most.contact = fmax(most.contact, one.contact);
      }
      const char *name = frix_restitution_table(law)->name;
      if (law == FRIX_RESTITUTION_NEWTON)
        CHECK(t, most.contact > 0.02);
      else if (!(most.above < 2e-3 && most.contact < 2e-3))
        fx_test_fail(t, __FILE__, __LINE__, "%s, %s: %.2g above the start, contacts bring %.2g", integrators[i], name,
                     most.above, most.contact);
      fx_test_note(t, "%s %s: %.0e", integrators[i], name, most.contact);
    }
}

static void linked(fx_test *t) { throw_all(t, FRIX_COORDINATES_MAXIMAL, 3); }
static void linked_of_trees(fx_test *t) { throw_all(t, FRIX_COORDINATES_REDUCED, 3); }

/* ---- a floating pair of bars that turn against each other: its centre of mass goes as that of a body does ---- */

static void center_of_trees(fx_test *t) {
  world w = world_new(t, 0, 0);
  w.config.coordinates = FRIX_COORDINATES_REDUCED;
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  frix_body_id id[2];
  for (int k = 0; k < 2; k++) {
    frix_body_config b = body_at(at(k ? 0.15 : -0.15, 0, 0));
    b.mass = 1 + k, b.spin = vec(0, 0, k ? 6 : -4), b.velocity = vec(1, k ? 0.9 : 0.6, 0);
    *(k ? &j.b : &j.a) = id[k] = world_body(&w, b, box_shape(0.12, 0.06, 0.04));
  }
  add_joint(&w, &j, vec(0, 0, 0), vec(0, 0, 1), vec(0, 0, 0));
  REQUIRE(t, world_start(&w));
  double start = total(w.sim), above = 0;
  for (int k = 0; k < 1000; k++) {
    world_step(&w, 1e-3);
    above = fmax(above, total(w.sim) / start - 1);
  }
  frix_vec3 a = state_of(&w, id[0]).center, b = state_of(&w, id[1]).center;
  CHECK_NEAR(t, (a.x + 2 * b.x) / 3, 0.05 + 1, 1e-12);
  CHECK_NEAR(t, (a.y + 2 * b.y) / 3, 0.8, 1e-12);
  CHECK(t, above < 1e-9);
  fx_test_note(t, "%.1e above the start, end %.4f", above, total(w.sim) / start - 1);
  world_end(&w);
}

/* ---- two bars that fly and turn by more than a tenth of a radian per step ---- */

/* Angular momentum about the origin, without linear momentum. */
static frix_vec3 turning(world *w, const frix_body_id *id) {
  frix_vec3 sum = vec(0, 0, 0);
  for (int k = 0; k < 2; k++) {
    frix_body_state s = state_of(w, id[k]);
    frix_sym3 J = fx_sym3_turn(s.pose.q, (frix_sym3){1e-2, 4e-2, 5e-2, 0, 0, 0});
    sum = fx_add(sum, fx_add(fx_cross(s.center, s.velocity), fx_sym3_mul(J, s.spin)));
  }
  return sum;
}

/* The largest change of angular momentum in a certified step; how many steps had the verdict `turn`. No joint is under
 * tension enough to take any. */
static double loss_in_flight(fx_test *t, frix_joint_kind kind, const char *integrator, double spin, int *turns) {
  world w = world_new(t, 0, 0);
  w.config.integrator = integrator, w.config.coordinates = FRIX_COORDINATES_REDUCED;
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  frix_joint_config j = frix_joint_default(kind);
  frix_body_id id[2];
  for (int k = 0; k < 2; k++) {
    frix_body_config b = body_at(at(k ? 0.15 : -0.15, 0, 0));
    b.mass = 1, b.inertia = (frix_sym3){1e-2, 4e-2, 5e-2, 0, 0, 0};
    b.spin = vec(0.3 * spin, spin, 0.1 * spin);
    b.velocity = fx_cross(b.spin, b.pose.p);
    if (kind == FRIX_JOINT_HINGE) b.spin.z = k ? -spin : spin, b.velocity.y = -0.15 * spin;
    *(k ? &j.b : &j.a) = id[k] = world_body(&w, b, ghost());
  }
  add_joint(&w, &j, vec(0, 0, 0), vec(0, 0, 1), vec(0, 0, 0));
  if (!world_start(&w)) return INFINITY;
  double most = 0;
  *turns = 0;
  for (int k = 0; k < 500; k++) {
    frix_vec3 before = turning(&w, id);
    frix_step_report r = world_step(&w, 4e-3);
    *turns += !r.certified && !strcmp(r.phase, "turn");
    double lost = fx_norm(fx_sub(turning(&w, id), before)) / fx_norm(before);
    if (r.certified) most = fmax(most, lost);
  }
  world_end(&w);
  return most;
}

/* The energy of a free spin goes up and down while a body turns; that of a tree was held down by its spin. */
static void spin_of_trees(fx_test *t) {
  for (int i = 1; i < 3; i++) {
    int turns, all = 0;
    CHECK(t, loss_in_flight(t, FRIX_JOINT_FIXED, integrators[i], 60, &turns) < 1e-12 && turns == 0);
    for (int n = 0; n < 8; n++) {
      double spin = 30 + 15 * n, lost = loss_in_flight(t, FRIX_JOINT_HINGE, integrators[i], spin, &turns);
      if (!(lost < 2e-8)) fx_test_fail(t, __FILE__, __LINE__, "%s, %g rad/s: %.1e", integrators[i], spin, lost);
      all += turns;
    }
    fx_test_note(t, "%d steps with verdict turn", all);
    CHECK(t, all > 0);
  }
}

const fx_test_row test_energy_joints[] = {
    {"energy_joints/pendulum", pendulum},
    {"energy_joints/thin_rods", thin_rods},
    {"energy_joints/equilibrium", equilibrium},
    {"energy_joints/tolerances", tolerances},
    {"energy_joints/equilibrium_of_trees", equilibrium_of_trees},
    {"energy_joints/tolerances_of_trees", tolerances_of_trees},
    {"energy_joints/fast_trees", fast_trees},
    {"energy_joints/half_step_of_trees", half_step_of_trees},
    {"energy_joints/rods_and_ropes", rods_and_ropes},
    {"energy_joints/twist", twist},
    {"energy_joints/fast_turns", fast_turns},
    {"energy_joints/linked", linked},
    {"energy_joints/linked_of_trees", linked_of_trees},
    {"energy_joints/center_of_trees", center_of_trees},
    {"energy_joints/spin_of_trees", spin_of_trees},
    {0},
};
