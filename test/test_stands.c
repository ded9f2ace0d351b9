/* What stands, what falls: stacks, cards, arches, ladders, overhangs, cylinders, a chain on a drum. */
#include "sim_world.h"

static const double steps[2] = {0.01, 0.001};
static const double g = 9.81;
static const double pi = 3.14159265358979323846;

enum { MOST = 400 };

typedef struct watched {
  int count;
  frix_body_id id[MOST];
  frix_vec3 start[MOST];
} watched;

static void watch(watched *all, frix_body_id id) { all->id[all->count++] = id; }

static void mark(world *w, watched *all) {
  for (int k = 0; k < all->count; k++) all->start[k] = state_of(w, all->id[k]).center;
}

/* The farthest a body has come since the mark. */
static double moved(world *w, const watched *all) {
  double most = 0;
  for (int k = 0; k < all->count; k++) {
    frix_vec3 c = state_of(w, all->id[k]).center;
    double d = hypot(c.x - all->start[k].x, hypot(c.y - all->start[k].y, c.z - all->start[k].z));
    if (!(d <= most)) most = d;
  }
  return most;
}

/* What rests is certified at 1e-8 by the impulses of the step before: no iteration, no factorisation. The simulator
 * polishes such answers further now and then, so the problem of every step is judged by itself. */
static void rests_warm(fx_test *t, world *w, double h) {
  enum { STEPS = 20 };
  int warm = 0;
  for (int k = 0; k < STEPS; k++) {
    frix_problem *problem = NULL;
    frix_solution *solution = NULL;
    frix_solve_config config = frix_solve_default();
    frix_result result;
    world_step(w, h);
    MUST(w, frix_sim_problem(w->sim, &problem));
    if (problem && frix_solve(w->context, problem, &config, &solution) == FRIX_OK) {
      frix_solution_view(solution, &result);
      warm += result.outcome == FRIX_OUTCOME_SOLVED && result.iterations == 0;
    }
    frix_solution_destroy(solution);
    frix_problem_destroy(problem);
  }
  if (warm != STEPS) fx_test_fail(t, __FILE__, __LINE__, "%d of %d steps were right from the start", warm, STEPS);
}

/* ---- stacks ---- */

static void stack(fx_test *t, int count, double h, double time, double perturbation) {
  world w = world_new(t, 0.5, 0);
  watched all = {0};
  double half = 0.25;
  world_plane(&w, turned(0, 1, 0, 0));
  for (int k = 0; k < count; k++) {
    double dx = perturbation * fx_test_random(t), dy = perturbation * fx_test_random(t);
    frix_body_config b = body_at(at(dx, dy, (2 * k + 1) * half));
    b.mass = 1;
    watch(&all, world_body(&w, b, box_shape(half, half, half)));
  }
  REQUIRE(t, world_start(&w));
  mark(&w, &all);
  world_run(&w, h, 20 * h);
  w.seconds = 0, w.steps = 0;
  world_run(&w, h, time);
  double drift = moved(&w, &all);
  CHECK(t, drift < 1e-9);
  CHECK(t, w.unsolved == 0);
  CHECK(t, ledger_gap(w.sim) < 1e-11);
  rests_warm(t, &w, h);
  fx_test_note(t, "h %g: drift %.1e m, %.1f us per step, residual %.0e", h, drift, 1e6 * w.seconds / (double)w.steps,
               w.worst);
  world_end(&w);
}

static void stack_10(fx_test *t) {
  for (int k = 0; k < 2; k++) stack(t, 10, steps[k], k ? 0.5 : 5, 1e-3);
}

static void stack_30(fx_test *t) {
  for (int k = 0; k < 2; k++) stack(t, 30, steps[k], k ? 0.2 : 2, 1e-3);
}

/* ---- card house ---- */

static void cards(fx_test *t, int levels, double h, double time) {
  world w = world_new(t, 0.8, 0);
  watched all = {0};
  double length = 0.090, width = 0.060, thick = 0.002, lean = 25 * pi / 180, z = 0;
  double pitch = length + 0.001, ax = -thick * cos(lean), az = thick * sin(lean), dx = length * sin(lean),
         dz = length * cos(lean);
  world_plane(&w, turned(0, 1, 0, 0));
  for (int level = 0; level < levels; level++) {
    double first = level * pitch / 2;
    for (int k = 0; k < levels - level; k++)
      for (int side = 0; side < 2; side++) {
        double sign = side ? -1 : 1, apex = first + k * pitch, foot = apex - sign * dx;
        frix_body_config b =
            body_at((frix_pose){{foot + sign * 0.5 * (ax + dx), 0, z + 0.5 * (az + dz)}, turned(sign * lean, 0, 1, 0)});
        frix_shape_config s = box_shape(thick / 2, width / 2, length / 2);
        s.density = 700;
        watch(&all, world_body(&w, b, s));
      }
    z += az + dz;
    for (int k = 0; k + 1 < levels - level; k++) {
      frix_shape_config s = box_shape(length / 2, width / 2, thick / 2);
      s.density = 700;
      watch(&all, world_body(&w, body_at(at(first + (k + 0.5) * pitch, 0, z + thick / 2)), s));
    }
    z += thick;
  }
  REQUIRE(t, world_start(&w));
  mark(&w, &all);
  world_run(&w, h, 20 * h);
  w.seconds = 0, w.steps = 0;
  frix_step_report last = {0};
  for (int k = 0; k < (int)(time / h + 0.5); k++) last = world_step(&w, h);
  double drift = moved(&w, &all);
  CHECK(t, drift < 1e-6);
  CHECK(t, w.unsolved == 0);
  rests_warm(t, &w, h);
  fx_test_note(t, "%d levels, h %g: drift %.1e m, %.1f us per step, residual %.0e, %d contacts", levels, h, drift,
               1e6 * w.seconds / (double)w.steps, w.worst, last.touching_count);
  world_end(&w);
}

static void card_house(fx_test *t) {
  cards(t, 2, 0.005, 2);
  cards(t, 4, 0.005, 2);
}

/* ---- arches of flat polygons ---- */

/* Half a ring of n voussoirs between two springers that stand on the ground; false: not certified. */
static double arch(fx_test *t, int n, double radius, double thick, double mu, double h, double time, bool stops) {
  world w = world_new(t, mu, 0);
  watched all = {0};
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, -g, 0)));
  world_half_plane(&w);
  double inner = radius - thick / 2, outer = radius + thick / 2;
  for (int k = 0; k < n; k++) {
    double a = pi * k / n, b = pi * (k + 1) / n;
    frix_vec3 corner[4] = {{inner * cos(a), inner * sin(a), 0},
                           {outer * cos(a), outer * sin(a), 0},
                           {outer * cos(b), outer * sin(b), 0},
                           {inner * cos(b), inner * sin(b), 0}};
    frix_geometry_config shape = frix_geometry_default();
    shape.kind = FRIX_GEOMETRY_POLYGON, shape.point_count = 4, shape.point = corner;
    frix_geometry_id polygon;
    MUST(&w, frix_builder_add_geometry(w.builder, &shape, &polygon));
    frix_shape_config s = frix_shape_default();
    s.kind = FRIX_SHAPE_POLYGON, s.geometry = polygon;
    frix_body_config body = frix_body_default();
    body.planar = true;
    watch(&all, world_body(&w, body, s));
  }
  if (!world_start(&w)) return NAN;
  mark(&w, &all);
  double drift = 0;
  w.steps = 0;
  for (int k = 0; k < (int)(time / h + 0.5); k++) {
    world_step(&w, h);
    drift = moved(&w, &all);
    if (stops && drift > 0.05 * radius) break;
  }
  CHECK(t, w.unsolved == 0);
  if (drift < 1e-6) rests_warm(t, &w, h);
  fx_test_note(t, "n %d t/R %.4f mu %g: %.1e m, %.0f us per step, residual %.0e", n, thick / radius, mu, drift,
               1e6 * w.seconds / (double)w.steps, w.worst);
  world_end(&w);
  return drift;
}

static void arch_thickness(fx_test *t) {
  static const struct {
    int n;
    double least;
  } rows[] = {{7, 0.09570}, {11, 0.10459}};
  for (int k = 0; k < 2; k++) {
    CHECK(t, arch(t, rows[k].n, 1, 1.02 * rows[k].least, 0.7, 0.01, 3, true) < 1e-6);
    CHECK(t, arch(t, rows[k].n, 1, 0.98 * rows[k].least, 0.7, 0.01, 4, true) > 1e-3);
  }
}

static void arch_25(fx_test *t) {
  CHECK(t, arch(t, 25, 1, 0.2, 0.6, 0.01, 3, true) < 1e-6);
  CHECK(t, arch(t, 25, 1, 0.2, 0.6, 0.001, 0.3, true) < 1e-6);
  CHECK(t, arch(t, 25, 1, 0.2, 0.33, 0.01, 2, true) < 1e-6); /* slides apart below about 0.31 */
  CHECK(t, arch(t, 25, 1, 0.2, 0.29, 0.01, 3, true) > 1e-2);
}

/* ---- ladder ---- */

static bool ladder_stands(fx_test *t, double mu, bool smooth, double angle, double h) {
  world w = world_new(t, mu, 0);
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, -g, 0)));
  world_half_plane(&w);
  frix_material_config slick = frix_material_default();
  slick.mu = smooth ? 0 : mu;
  frix_material_id wall;
  MUST(&w, frix_builder_add_material(w.builder, &slick, &wall));
  frix_shape_config s = frix_shape_default();
  s.kind = FRIX_SHAPE_HALF_PLANE, s.pose.q = turned(pi / 2, 0, 0, 1); /* solid where x > 0 */
  s.material = wall;
  MUST(&w, frix_builder_add_shape(w.builder, (frix_body_id){0, 0}, &s, NULL));
  /* a rod with round tips, so that the contacts are where the paper has them: ends at r from floor and wall */
  double half = 0.5, r = 1e-4;
  frix_body_config b = body_at((frix_pose){{-r - half * cos(angle), r + half * sin(angle), 0}, turned(angle, 0, 0, 1)});
  b.planar = true, b.mass = 1, b.inertia.zz = half * half / 3;
  frix_body_id rod = {0, 0};
  MUST(&w, frix_builder_add_body(w.builder, &b, &rod));
  for (int side = 0; side < 2; side++) {
    frix_shape_config tip = frix_shape_default();
    tip.kind = FRIX_SHAPE_DISC, tip.radius = r, tip.pose.p = vec(side ? half : -half, 0, 0), tip.material = w.material;
    MUST(&w, frix_builder_add_shape(w.builder, rod, &tip, NULL));
  }
  if (!world_start(&w)) return false;
  double x = state_of(&w, rod).center.x;
  world_run(&w, h, 1);
  double drift = fabs(state_of(&w, rod).center.x - x);
  CHECK(t, w.unsolved == 0);
  world_end(&w);
  return drift < 1e-6;
}

static void ladder(fx_test *t) {
  double mu = 0.4;
  for (int k = 0; k < 2; k++)
    for (int smooth = 0; smooth < 2; smooth++) {
      double least = atan(smooth ? 1 / (2 * mu) : (1 - mu * mu) / (2 * mu));
      CHECK(t, ladder_stands(t, mu, smooth, least + 0.01, steps[k]));
      CHECK(t, !ladder_stands(t, mu, smooth, least - 0.01, steps[k]));
    }
}

/* ---- tilt table: gravity turns instead of the table ---- */

static void tilt(fx_test *t) {
  for (int k = 0; k < 2; k++)
    for (int topples = 0; topples < 2; topples++)
      for (int over = 0; over < 2; over++) {
        double mu = 0.4, wide = topples ? 0.3 : 0.5, high = 1,
               angle = atan(topples ? wide / high : mu) + (over ? 0.01 : -0.01);
        if (topples && wide / high >= mu) continue;
        world w = world_new(t, mu, 0);
        world_plane(&w, turned(0, 1, 0, 0));
        MUST(&w, frix_builder_set_gravity(w.builder, vec(g * sin(angle), 0, -g * cos(angle))));
        frix_body_id box = world_body(&w, body_at(at(0, 0, high / 2)), box_shape(wide / 2, 0.2, high / 2));
        REQUIRE(t, world_start(&w));
        world_run(&w, steps[k], 1);
        frix_body_state s = state_of(&w, box);
        bool slid = s.center.x > 1e-3 && fabs(s.pose.q.y)<1e-6, fell = fabs(s.pose.q.y)> 1e-3;
        if (!over) CHECK(t, !slid && !fell && fabs(s.center.x) < 1e-9);
        if (over) CHECK(t, topples ? fell : slid);
        CHECK(t, w.unsolved == 0);
        world_end(&w);
      }
}

/* ---- overhang of bricks: 1/2 (1 + 1/2 + ... + 1/n) of a brick ---- */

static void overhang(fx_test *t) {
  for (int over = 0; over < 2; over++) {
    enum { BRICKS = 5 };
    double length = 0.2, high = 0.05, part = over ? 1.02 : 0.98, x = 0;
    world w = world_new(t, 0.5, 0);
    watched all = {0};
    /* the table ends at x = 0 */
    frix_body_config table = body_at(at(-0.5, 0, -0.1));
    table.kind = FRIX_BODY_STATIC;
    world_body(&w, table, box_shape(0.5, 0.2, 0.1));
    /* brick j from the bottom reaches length / (2 (n - j)) over the one below */
    for (int j = 0; j < BRICKS; j++) {
      x += part * length / (2 * (BRICKS - j));
      watch(&all,
            world_body(&w, body_at(at(x - length / 2, 0, (j + 0.5) * high)), box_shape(length / 2, 0.05, high / 2)));
    }
    REQUIRE(t, world_start(&w));
    mark(&w, &all);
    world_run(&w, 0.01, 1.5);
    double drift = moved(&w, &all);
    CHECK(t, over ? drift > 1e-3 : drift < 1e-9);
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }
}

/* ---- three cylinders, two below touching, one on top ---- */

static double three(fx_test *t, double mu_cylinder, double mu_ground, double h) {
  world w = world_new(t, mu_ground, 0);
  watched all = {0};
  world_half_plane(&w);
  frix_material_config m = frix_material_default();
  frix_material_id wood;
  m.mu = mu_cylinder;
  MUST(&w, frix_builder_add_material(w.builder, &m, &wood));
  m.mu = mu_ground;
  MUST(&w, frix_builder_set_pair(w.builder, wood, w.material, &m));
  double r = 0.1, x[3] = {-r, r, 0}, y[3] = {r, r, r + sqrt(3.0) * r};
  for (int k = 0; k < 3; k++) {
    frix_shape_config s = kind_shape(FRIX_SHAPE_DISC, r, 0);
    s.material = wood;
    frix_body_config b = body_at(at(x[k], y[k], 0));
    b.planar = true;
    watch(&all, world_body(&w, b, s));
  }
  if (!world_start(&w)) return NAN;
  mark(&w, &all);
  world_run(&w, h, 1);
  double drift = moved(&w, &all);
  CHECK(t, w.unsolved == 0);
  world_end(&w);
  return drift;
}

static void three_cylinders(fx_test *t) {
  double c = tan(pi / 12), ground = c / 3;
  for (int k = 0; k < 2; k++) {
    CHECK(t, three(t, 1.03 * c, 1.03 * ground, steps[k]) < 1e-9);
    CHECK(t, three(t, 0.97 * c, 2 * ground, steps[k]) > 1e-3);
    CHECK(t, three(t, 2 * c, 0.97 * ground, steps[k]) > 1e-3);
  }
}

/* ---- a chain of n beads over a drum, pulled with T2 against T1: slips where T2 / T1 passes a product ---- */

static double chain_slip(fx_test *t, int n, double mu, double ratio, double h) {
  world w = world_new(t, mu, 0);
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  double drum = 0.5, r = 0.01, arc = pi / 2, wrap = drum + r;
  frix_shape_config d = kind_shape(FRIX_SHAPE_DISC, drum, 0);
  d.material = w.material;
  MUST(&w, frix_builder_add_shape(w.builder, (frix_body_id){0, 0}, &d, NULL));
  frix_body_id bead[64];
  double a[64];
  for (int k = 0; k < n; k++) { /* beads in the middle of equal parts of the arc */
    a[k] = arc * (k + 0.5) / n;
    frix_body_config b = body_at(at(wrap * cos(a[k]), wrap * sin(a[k]), 0));
    b.planar = true, b.mass = 0.01, b.inertia.zz = 1e3; /* beads do not roll */
    bead[k] = world_body(&w, b, kind_shape(FRIX_SHAPE_DISC, r, 0));
    if (k == 0) continue;
    frix_joint_config j = frix_joint_default(FRIX_JOINT_DISTANCE);
    j.a = bead[k - 1], j.b = bead[k];
    MUST(&w, frix_builder_add_joint(w.builder, &j, NULL));
  }
  if (!world_start(&w)) return NAN;
  double T = 10, half = arc / (2 * n);
  for (int k = 0; k < 20; k++) {
    /* the free ends leave along the chords' directions, half a part away from the tangent */
    double s = a[0] - half, e = a[n - 1] + half;
    MUST(&w, frix_sim_add_force(w.sim, bead[0], vec(T * sin(s), -T * cos(s), 0), vec(0, 0, 0)));
    MUST(&w, frix_sim_add_force(w.sim, bead[n - 1], vec(-T * ratio * sin(e), T * ratio * cos(e), 0), vec(0, 0, 0)));
    world_step(&w, h);
  }
  frix_vec3 v = state_of(&w, bead[0]).velocity;
  CHECK(t, w.unsolved == 0);
  world_end(&w);
  return hypot(v.x, v.y);
}

static void capstan(fx_test *t) {
  double mu = 0.4, last = 0;
  for (int n = 4; n <= 16; n *= 2) {
    /* each bead turns the chain by arc / n: T' (cos b - mu sin b) = T (cos b + mu sin b), b half of it */
    double b = pi / 4 / n, one = (cos(b) + mu * sin(b)) / (cos(b) - mu * sin(b)), limit = pow(one, n);
    CHECK(t, chain_slip(t, n, mu, 0.98 * limit, 0.001) < 1e-7);
    CHECK(t, chain_slip(t, n, mu, 1.02 * limit, 0.001) > 1e-5);
    last = limit;
  }
  CHECK_NEAR(t, last, exp(mu * pi / 2), 2e-3);
}

/* ---- cannonball triangle of discs ---- */

static double triangle(fx_test *t, int levels, double mu, double h, double time) {
  world w = world_new(t, mu, 0);
  watched all = {0};
  world_half_plane(&w);
  double r = 1.5;
  for (int row = 0; row < levels; row++)
    for (int k = 0; k < levels - row; k++) {
      frix_body_config b = body_at(at(r * (2 * k + row), r * (1 + sqrt(3.0) * row), 0));
      b.planar = true;
      frix_shape_config s = kind_shape(FRIX_SHAPE_DISC, r, 0);
      s.density = 1;
      watch(&all, world_body(&w, b, s));
    }
  if (!world_start(&w)) return NAN;
  mark(&w, &all);
  world_run(&w, h, time);
  double drift = moved(&w, &all);
  CHECK(t, w.unsolved == 0);
  fx_test_note(t, "%d levels mu %g: %.1e m, %.2f ms per step, residual %.0e", levels, mu, drift,
               1e3 * w.seconds / (double)w.steps, w.worst);
  world_end(&w);
  return drift;
}

static void cannonballs(fx_test *t) {
  CHECK(t, triangle(t, 6, 0.8, 0.05, 2) < 1e-6);
  CHECK(t, triangle(t, 6, 0.2, 0.05, 2) > 1e-2);
  CHECK(t, triangle(t, 20, 0.8, 0.05, 1) < 1e-6);
}

/* ---- grip: a capsule between two pads that press, in gravity ---- */

static void grip(fx_test *t) {
  for (int k = 0; k < 2; k++) {
    double force = k ? 60 : 12, r = 0.004, h = 0.002;
    world w = world_new(t, 0.7, 0);
    frix_body_id pad[2];
    frix_joint_id rail[2];
    for (int side = 0; side < 2; side++) {
      double sign = side ? -1 : 1;
      frix_body_config b = body_at(at(sign * (r + 0.01), 0, 0));
      b.mass = 0.1;
      pad[side] = world_body(&w, b, box_shape(0.01, 0.02, 0.02));
      frix_joint_config j = frix_joint_default(FRIX_JOINT_SLIDER);
      j.b = pad[side];
      j.axis[0].motor = FRIX_MOTOR_FORCE, j.axis[0].target = -sign * force;
      MUST(&w, frix_joint_place(w.builder, &j, vec(sign * (r + 0.01), 0, 0), vec(1, 0, 0), vec(0, 0, 0), vec(0, 0, 0)));
      MUST(&w, frix_builder_add_joint(w.builder, &j, &rail[side]));
    }
    frix_body_config b = body_at(at(0, 0, 0));
    b.mass = 0.045;
    frix_body_id held = world_body(&w, b, kind_shape(FRIX_SHAPE_CAPSULE, r, 0.01));
    REQUIRE(t, world_start(&w));
    world_run(&w, h, 0.1);
    double z = state_of(&w, held).center.z, time = 5;
    world_run(&w, h, time);
    double creep = fabs(state_of(&w, held).center.z - z) / time;
    /* both pads may drift along x together: nothing but round-off holds them there */
    CHECK(t, creep < 1e-12);
    CHECK(t, w.unsolved == 0);
    fx_test_note(t, "%g N: creep %.1e m/s, %.0f us per step", force, creep, 1e6 * w.seconds / (double)w.steps);
    world_end(&w);
  }
}

const fx_test_row test_stands[] = {
    {"stands/stack_10", stack_10},
    {"stands/stack_30", stack_30},
    {"stands/card_house", card_house},
    {"stands/arch_thickness", arch_thickness},
    {"stands/arch_25", arch_25},
    {"stands/ladder", ladder},
    {"stands/tilt", tilt},
    {"stands/overhang", overhang},
    {"stands/three_cylinders", three_cylinders},
    {"stands/capstan", capstan},
    {"stands/cannonballs", cannonballs},
    {"stands/grip", grip},
    {0},
};
