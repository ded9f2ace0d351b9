/* Forces of a rigid problem with several force solutions follow one rule: equal, vanishing compliance. */
#include "sim_world.h"

enum { FEET = 100, STEPS = 60 };

static const double MU = 0.3, RADIUS = 0.1, FOOT = 0.002, SPIN = 0.8, STEP = 2e-4;

/* Feet over a disc, each with its opposite: the mean distance from the axis is left in *mean. */
static frix_vec3 foot_of(int k, double *mean) {
  double distance = RADIUS * sqrt((0.5 + k / 2) / (FEET / 2)), angle = 2.39996322972865332 * (k / 2), s, c;
  frix_sincos(angle, &s, &c);
  if (mean) *mean += distance / FEET;
  return k % 2 ? vec(-distance * c, -distance * s, 0) : vec(distance * c, distance * s, 0);
}

static frix_body_id add_disc(world *w, frix_vec3 velocity, double spin, double *mean) {
  frix_body_config b = body_at(at(0, 0, FOOT));
  frix_body_id disc;
  b.mass = 2;
  b.inertia = (frix_sym3){
      0.25 * b.mass * RADIUS * RADIUS, 0.25 * b.mass * RADIUS * RADIUS, 0.5 * b.mass * RADIUS * RADIUS, 0, 0, 0};
  b.velocity = velocity;
  b.spin = vec(0, 0, spin);
  MUST(w, frix_builder_add_body(w->builder, &b, &disc));
  for (int k = 0; k < FEET; k++) {
    frix_shape_config foot = sphere_shape(FOOT);
    foot.pose.p = foot_of(k, mean);
    foot.material = w->material;
    MUST(w, frix_builder_add_shape(w->builder, disc, &foot, NULL));
  }
  return disc;
}

/* Motion of the disc after some steps. */
typedef struct run {
  double spin, speed, mean;
  bool certified;
} run;

static run run_disc(fx_test *t, const char *solver, frix_vec3 velocity) {
  world w = rigid_world(t, MU, 0);
  run out = {0};
  world_plane(&w, turned(0, 0, 0, 1));
  frix_body_id disc = add_disc(&w, velocity, SPIN, &out.mean);
  w.config.solver = solver;
  if (world_start(&w)) {
    for (int k = 0; k < STEPS; k++) world_step(&w, STEP);
    frix_body_state s = state_of(&w, disc);
    out.spin = s.spin.z, out.speed = hypot(s.velocity.x, s.velocity.y), out.certified = w.unsolved == 0;
  }
  world_end(&w);
  return out;
}

static const char *const solver[] = {"auto",         "nsgs",        "newton", "interior_point",
                                     "continuation", "fixed_point", "sweeps"};

enum { SOLVERS = sizeof solver / sizeof *solver };

/* Stops after the time that equal pressure gives, whatever solved its steps. */
static void spinning_disc(fx_test *t) {
  double expected = 0, stop = 0;
  for (int k = 0; k < SOLVERS; k++) {
    run r = run_disc(t, solver[k], vec(0, 0, 0));
    stop = SPIN * STEPS * STEP / (SPIN - r.spin), expected = SPIN * 0.5 * RADIUS * RADIUS / (MU * 9.81 * r.mean);
    if (!r.certified || !(fabs(stop - expected) <= 1e-6 * expected))
      fx_test_fail(t, __FILE__, __LINE__, "%s: stops after %.9g s, equal pressure %.9g s", solver[k], stop, expected);
  }
  fx_test_note(t, "%d solvers, %.8f s; equal pressure %.8f s", SOLVERS, stop, expected);
}

/* It also slides, and friction tips the pressure: still one motion. */
static void sliding_disc(fx_test *t) {
  run first = run_disc(t, "auto", vec(0.06, 0.02, 0));
  CHECK(t, first.certified && first.speed > 0.01 && first.spin > 0.1);
  for (int k = 1; k < SOLVERS; k++) {
    run r = run_disc(t, solver[k], vec(0.06, 0.02, 0));
    bool same = fabs(r.spin - first.spin) <= 1e-6 * SPIN && fabs(r.speed - first.speed) <= 1e-6 * first.speed;
    if (!r.certified || !same)
      fx_test_fail(t, __FILE__, __LINE__, "%s: %.9g rad/s, %.9g m/s; auto: %.9g rad/s, %.9g m/s", solver[k], r.spin,
                   r.speed, first.spin, first.speed);
  }
}

/* A ball that skids does not change the loads of a table elsewhere. */
static void islands(fx_test *t) {
  int64_t iterations[2];
  for (int table = 0; table < 2; table++) {
    world w = rigid_world(t, MU, 0);
    world_plane(&w, turned(0, 0, 0, 1));
    frix_body_config b = body_at(at(0, 0, 0.1));
    b.velocity = vec(3, 0, 0);
    world_body(&w, b, sphere_shape(0.1));
    if (table) world_body(&w, body_at(at(0, 2, 0.1)), box_shape(0.1, 0.1, 0.1));
    if (world_start(&w)) {
      for (int k = 0; k < 20; k++) world_step(&w, 1e-3);
      CHECK(t, w.unsolved == 0);
    }
    iterations[table] = w.iterations;
    world_end(&w);
  }
  CHECK(t, iterations[1] <= iterations[0] + 20);
  fx_test_note(t, "%lld iterations, %lld beside a table", (long long)iterations[0], (long long)iterations[1]);
}

/* Iterations of a plate that slides with so many cubes on it. */
static int64_t slide(fx_test *t, int count) {
  world w = rigid_world(t, 0.3, 0);
  world_plane(&w, turned(0, 0, 0, 1));
  for (int k = 0; k <= count; k++) {
    bool plate = k == count;
    frix_body_config b = body_at(plate ? at(0, 0, 0.1) : at(0.5 * (k % 5 - 2), 0.5 * (k / 5 - 2), 0.3));
    b.velocity = vec(1, 0, 0);
    world_body(&w, b, plate ? box_shape(1.5, 1.5, 0.1) : box_shape(0.1, 0.1, 0.1));
  }
  if (world_start(&w)) {
    for (int k = 0; k < 20; k++) world_step(&w, 1e-3);
    CHECK(t, w.unsolved == 0);
  }
  int64_t iterations = w.iterations;
  world_end(&w);
  return iterations;
}

/* Islands of more bodies than have an answer are not asked for one. */
static void large(fx_test *t) {
  int64_t few = slide(t, 23), many = slide(t, 24);
  CHECK(t, many < 0.7 * few);
  fx_test_note(t, "24 bodies %lld iterations, 25 bodies %lld", (long long)few, (long long)many);
}

const fx_test_row test_load_share[] = {
    {"load_share/spinning_disc", spinning_disc},
    {"load_share/sliding_disc", sliding_disc},
    {"load_share/islands", islands},
    {"load_share/large", large},
    {0},
};
