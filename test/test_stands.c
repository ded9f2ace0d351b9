/* What stands, what falls: stacks, cards, arches, ladders, overhangs, cylinders, a chain on a drum. */
#include "bench/worlds.h"
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

/* ---- stacks, card houses, arches: shaken a little at the start ---- */

/* Settles, then stands for a time: what came of it. */
typedef struct outcome {
  double drift, worst, micros;
  int64_t missed, solved; /* solved: steps that needed more than the impulses of the last one */
} outcome;

static outcome stand(fx_test *t, standing *w, double h, double settle, double time) {
  frix_step_report report = {0};
  bool good = true;
  for (int64_t k = 0; good && k < (int64_t)(settle / h + 0.5); k++) good = standing_step(w, h, &report);
  standing_mark(w);
  w->seconds = 0, w->steps = w->warm = 0;
  for (int64_t k = 0; good && k < (int64_t)(time / h + 0.5); k++) good = standing_step(w, h, &report);
  CHECK(t, good);
  return (outcome){standing_moved(w), w->worst, 1e6 * w->seconds / (double)w->steps, w->uncertified,
                   w->steps - w->warm};
}

/* After it has settled every step keeps every bit, and no step needs a solver. */
static void check_stand(fx_test *t, const char *name, standing *w, double h) {
  outcome o = stand(t, w, h, h < 0.01 ? 0.3 : 0.6, 200 * h);
  CHECK(t, o.drift == 0);
  CHECK(t, o.missed == 0);
  CHECK(t, o.solved == 0);
  CHECK(t, o.worst <= 1e-8);
  CHECK(t, ledger_gap(w->sim) < 1e-11);
  fx_test_note(t, "%s h %g: drift %.1e m, %.1f us per step, residual %.0e", name, h, o.drift, o.micros, o.worst);
  standing_end(w);
}

static uint64_t seed_of(fx_test *t) { return (uint64_t)(1e9 * (1 + fx_test_random(t))); }

static void stacks(fx_test *t) {
  for (int k = 0; k < 2; k++)
    for (int tall = 0; tall < 2; tall++) {
      standing w;
      REQUIRE(t, standing_stack(&w, NULL, tall ? 30 : 10, 1e-3, seed_of(t)));
      check_stand(t, tall ? "30 cubes" : "10 cubes", &w, steps[k]);
    }
}

static void card_house(fx_test *t) {
  for (int k = 0; k < 2; k++)
    for (int tall = 0; tall < 2; tall++) {
      standing w;
      REQUIRE(t, standing_cards(&w, NULL, tall ? 4 : 2, 1e-6, 1 + (uint64_t)k));
      check_stand(t, tall ? "4 levels" : "2 levels", &w, steps[k]);
    }
}

static void arch_stands(fx_test *t) {
  for (int k = 0; k < 2; k++) {
    standing w;
    REQUIRE(t, standing_arch(&w, NULL, 25, 0.2, 0.6, 1e-6, seed_of(t)));
    check_stand(t, "25 voussoirs", &w, steps[k]);
  }
}

/* How far an arch comes. */
static double arch(fx_test *t, int n, double thick, double mu, double h, double time) {
  standing w;
  if (!standing_arch(&w, NULL, n, thick, mu, 0, 1)) return NAN;
  bool good = true;
  double drift = 0;
  for (int k = 0; good && k < (int)(time / h + 0.5) && drift < 0.05; k++) {
    good = standing_step(&w, h, NULL);
    drift = standing_moved(&w);
  }
  CHECK(t, good && w.uncertified == 0);
  fx_test_note(t, "n %d t/R %.4f mu %g: %.1e m, residual %.0e", n, thick, mu, drift, w.worst);
  standing_end(&w);
  return drift;
}

static void arch_thickness(fx_test *t) {
  static const struct {
    int n;
    double least;
  } rows[] = {{7, 0.09570}, {11, 0.10459}, {21, 0.10669}, {101, 0.10745}};
  for (int k = 0; k < 4; k++)
    for (int j = 0; j < 2; j++) {
      CHECK(t, arch(t, rows[k].n, 1.02 * rows[k].least, 0.7, steps[j], j ? 0.5 : 3) < 1e-6);
      CHECK(t, arch(t, rows[k].n, 0.98 * rows[k].least, 0.7, steps[j], 4) > 1e-3);
    }
}

static void arch_25(fx_test *t) {
  for (int j = 0; j < 2; j++) {
    CHECK(t, arch(t, 25, 0.2, 0.6, steps[j], j ? 0.5 : 3) < 1e-6);
    CHECK(t, arch(t, 25, 0.2, 0.33, steps[j], j ? 0.5 : 2) < 1e-6); /* slides apart below about 0.31 */
    CHECK(t, arch(t, 25, 0.2, 0.29, steps[j], 3) > 1e-2);
  }
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
  for (int run = 0; run < 4; run++) {
    bool over = run % 2;
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
    world_run(&w, steps[run / 2], 1.5);
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
    for (int k = 0; k < 2; k++) {
      CHECK(t, chain_slip(t, n, mu, (1 - 1e-4) * limit, steps[k]) < 1e-7);
      CHECK(t, chain_slip(t, n, mu, (1 + 1e-4) * limit, steps[k]) > 1e-5);
    }
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
  CHECK(t, triangle(t, 20, 0.2, 0.05, 0.1) > 1e-2);
}

/* ---- grip: a capsule between two pads that press, in gravity ---- */

static void grip(fx_test *t) {
  for (int run = 0; run < 4; run++) {
    double force = run % 2 ? 60 : 12, r = 0.004, h = steps[run / 2];
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
    fx_test_note(t, "%g N, h %g: creep %.1e m/s, %.0f us per step", force, h, creep, 1e6 * w.seconds / (double)w.steps);
    world_end(&w);
  }
}

const fx_test_row test_stands[] = {
    {"stands/stacks", stacks},
    {"stands/card_house", card_house},
    {"stands/arch", arch_stands},
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
