/* Variants of moving scenes: other seeds, friction, masses and steps. Every step is certified, none takes many times
 * the iterations of the others, and two threads reach the same state. */
#include "bench/motion_engine.h"
#include "bench/motion_make.h"
#include "test.h"

#include <math.h>
#include <string.h>

/* Iterations of the slowest step: most are vectorised sweeps, of which a step of these scenes needs 20 to 250. */
enum { MOST_ITERATIONS = 3000 };

typedef struct variant {
  const char *scene;
  int64_t seed;
  double mu, decades; /* friction; masses are multiplied by 10^x, x in -decades .. decades */
  double step;        /* times the step of the scene */
  int64_t steps;
} variant;

static const variant variants[] = {
    {"cards4_blow1", 2, 0.5, 0.0, 0.5, 160}, {"cards3_blow2", 3, 0.9, 0.3, 1.0, 120},
    {"stack8_push", 2, 0.3, 0.5, 2.0, 80},   {"wall40_ball", 5, 0.6, 0.3, 0.5, 120},
    {"capsules60", 2, 0.1, 0.5, 1.0, 100},   {"capsules40", 3, 0.8, 0.0, 0.5, 160},
    {"mixed60", 2, 0.2, 1.0, 1.0, 100},      {"mixed40", 3, 1.0, 0.5, 1.0, 100},
    {"mixed50", 4, 0.5, 0.0, 2.0, 80},       {"boxes60", 2, 0.1, 0.5, 1.0, 100},
    {"boxes40", 3, 0.9, 0.0, 0.5, 160},      {"boxes50", 6, 0.6, 1.0, 1.0, 100},
    {"spheres125", 2, 0.2, 0.5, 2.0, 100},   {"spheres125", 4, 0.9, 0.0, 1.0, 120},
    {"spheres64", 5, 0.5, 1.0, 0.5, 200},
};

/* Numbers in -1 .. 1. */
static double next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

/* 10^x to two digits, from additions and products alone: the same masses on every machine. */
static double power_of_ten(double x) {
  double sum = 1.0, part = x * 2.302585092994046;
  for (int k = 24; k >= 1; k--) sum = 1.0 + part / (double)k * sum;
  return floor(100.0 * sum + 0.5) / 100.0;
}

static void change(motion_scene *s, const variant *v) {
  uint64_t state = (uint64_t)v->seed;
  s->mu = v->mu;
  s->h *= v->step;
  for (int32_t k = 0; k < s->body_count; k++) {
    double factor = power_of_ten(v->decades * next(&state));
    if (!s->body[k].dynamic) continue;
    s->body[k].mass *= factor;
    for (int axis = 0; axis < 3; axis++) s->body[k].inertia[axis] *= factor;
  }
}

static void certified(fx_test *t) {
  double slowest = 0.0;
  for (size_t k = 0; k < sizeof variants / sizeof *variants; k++) {
    const variant *v = &variants[k];
    motion_scene s;
    motion_result one, two;
    motion_options options = {.steps = v->steps, .budget = 1e9, .threads = 1};
    REQUIRE(t, motion_make(&s, v->scene, v->seed));
    change(&s, v);
    bool good = motion_run(&motion_frix, &s, &options, NULL, &one);
    options.threads = 2;
    good = motion_run(&motion_frix, &s, &options, NULL, &two) && good;
    motion_scene_end(&s);
    if (!good || one.failed || one.certified != v->steps)
      fx_test_fail(t, __FILE__, __LINE__, "%s, seed %lld: %lld of %lld steps certified", v->scene, (long long)v->seed,
                   (long long)one.certified, (long long)v->steps);
    if (one.most_iterations > MOST_ITERATIONS)
      fx_test_fail(t, __FILE__, __LINE__, "%s, seed %lld: a step of %g iterations", v->scene, (long long)v->seed,
                   one.most_iterations);
    CHECK(t, one.hash == two.hash);
    slowest = fmax(slowest, one.most_iterations);
  }
  fx_test_note(t, "at most %g iterations in a step", slowest);
}

/* Friction that jams leaves newton at a turning point. Continuation goes round it; without it one step of each of these
 * scenes is left to the interior point. */
static void jams(fx_test *t) {
  static const uint64_t seeds[] = {9, 10};
  for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++) {
    motion_scene s;
    motion_result r;
    motion_options options = {.steps = 100, .budget = 1e9};
    char line[1024];
    int64_t interior = 0;
    FILE *steps = tmpfile();
    REQUIRE(t, steps && motion_make(&s, "mixed100", seeds[k]));
    s.mu = 1.2;
    CHECK(t, motion_run(&motion_frix, &s, &options, steps, &r) && r.certified == 100);
    rewind(steps);
    while (fgets(line, sizeof line, steps)) interior += strstr(line, "interior_point") != NULL;
    fclose(steps);
    motion_scene_end(&s);
    if (interior > 0)
      fx_test_fail(t, __FILE__, __LINE__, "seed %d: %lld steps end by the interior point", (int)seeds[k],
                   (long long)interior);
  }
}

const fx_test_row test_motion_variants[] = {
    {"motion_variants/certified", certified}, {"motion_variants/jams", jams}, {0}};
