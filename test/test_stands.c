/* Structures that stand and structures that fall: stacks, cards, arches, piles of discs. Limits that statics knows are
 * rows of app/form_stand.c. */
#include "bench/worlds.h"
#include "sim_world.h"

static const double steps[2] = {0.01, 0.001};

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

static void arch_25(fx_test *t) {
  for (int j = 0; j < 2; j++) {
    CHECK(t, arch(t, 25, 0.2, 0.6, steps[j], j ? 0.5 : 3) < 1e-6);
    CHECK(t, arch(t, 25, 0.2, 0.33, steps[j], j ? 0.5 : 2) < 1e-6); /* slides apart below about 0.31 */
    CHECK(t, arch(t, 25, 0.2, 0.29, steps[j], 3) > 1e-2);
  }
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

const fx_test_row test_stands[] = {
    {"stands/stacks", stacks},   {"stands/card_house", card_house},   {"stands/arch", arch_stands},
    {"stands/arch_25", arch_25}, {"stands/cannonballs", cannonballs}, {0},
};
