/* Heaps of rigid contacts in motion are answered by rounds of compliant ones (src/solver/proximal.c): every step is
 * certified, and none needs an interior point or a solution path. */
#include "bench/motion_engine.h"
#include "bench/motion_make.h"
#include "bench/spheres.h"
#include "test.h"

#include <string.h>

typedef struct counts {
  int64_t certified, proximal, slow;
} counts;

static bool run(const char *name, int64_t first, int64_t end, counts *out) {
  motion_scene scene;
  motion_options options = {.contact = MOTION_CONTACT_RIGID};
  bool good = motion_make(&scene, name, 1);
  if (!good) return false;
  void *world = motion_frix.create(&scene, &options);
  good = world != NULL;
  *out = (counts){0, 0, 0};
  for (int64_t k = 0; good && k < end; k++) {
    motion_step step = {0};
    good = motion_frix.step(world, &step);
    out->certified += step.certified;
    if (k < first || !step.finisher) continue;
    out->proximal += !strcmp(step.finisher, "proximal");
    out->slow += !strcmp(step.finisher, "interior_point") || !strcmp(step.finisher, "continuation");
  }
  if (world) motion_frix.destroy(world);
  motion_scene_end(&scene);
  return good;
}

static void heap(fx_test *t, const char *name) {
  enum { FIRST = 20, END = 70 };
  counts c;
  REQUIRE(t, run(name, FIRST, END, &c));
  fx_test_note(t, "%d of %d steps by rounds, %d by others that are slow", (int)c.proximal, END - FIRST, (int)c.slow);
  CHECK(t, c.certified == END);
  CHECK(t, c.proximal >= (END - FIRST) / 2);
  CHECK(t, c.slow <= (END - FIRST) / 20);
}

static void boxes(fx_test *t) { heap(t, "boxes60"); }
static void capsules(fx_test *t) { heap(t, "capsules60"); }
static void mixed(fx_test *t) { heap(t, "mixed60"); }

/* Newton costs hundreds of sweeps there: what a few contacts hold up is solved at these. */
static void balls(fx_test *t) {
  enum { FIRST = 70, END = 110 };
  counts c;
  REQUIRE(t, run("spheres700", FIRST, END, &c));
  fx_test_note(t, "%d of %d steps by rounds, %d by others that are slow", (int)c.proximal, END - FIRST, (int)c.slow);
  CHECK(t, c.certified == END);
  CHECK(t, c.proximal >= (END - FIRST) * 5 / 6);
}

/* Sweeps reach a coarse tolerance sooner: rounds need some 700 to 3,700 iterations there. A fine one is that of rounds,
 * after few sweeps: 3,500 to 6,300 iterations for 280 to 330 spheres. */
static void coarse(fx_test *t) {
  static const struct {
    int32_t spheres;
    double tolerance;
    int64_t most;
    bool rounds;
  } row[] = {{300, 1e-3, 150, false}, {300, 1e-4, 600, false}, {1000, 1e-4, 1200, false}, {300, 1e-8, 7000, true}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    frix_context *context = NULL;
    frix_solution *solution = NULL;
    frix_solve_config config = frix_solve_default();
    REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
    frix_problem *problem = spheres_settled(context, row[k].spheres);
    config.tolerance = row[k].tolerance;
    CHECK(t, problem && frix_solve(context, problem, &config, &solution) == FRIX_OK);
    if (solution) {
      frix_result result = {.size = sizeof result};
      frix_solution_view(solution, &result);
      fx_test_note(t, "%d spheres to %.0e: %d iterations, %s", row[k].spheres, row[k].tolerance, (int)result.iterations,
                   result.finisher);
      CHECK(t, result.outcome == FRIX_OUTCOME_SOLVED && result.iterations <= row[k].most);
      CHECK(t, !strcmp(result.finisher, "proximal") == row[k].rounds);
    }
    frix_solution_destroy(solution);
    frix_problem_destroy(problem);
    frix_context_destroy(context);
  }
}

const fx_test_row test_proximal[] = {{"proximal/boxes", boxes},   {"proximal/capsules", capsules},
                                     {"proximal/mixed", mixed},   {"proximal/spheres", balls},
                                     {"proximal/coarse", coarse}, {0}};
