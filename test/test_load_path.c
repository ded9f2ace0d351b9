/* Forces found by following loads down: large walls and stacks start exactly at rest. */
#include "examples/examples.h"
#include "sim_world.h"

#include <string.h>

/* Courses of boxes of 1 m, each shifted by half a box and shorter by one than the course below. */
static void build_pyramid(world *w, int base, frix_body_id *first) {
  for (int level = 0; level < base; level++)
    for (int k = 0; k < base - level; k++) {
      frix_body_id id =
          world_body(w, body_at(at(k - 0.5 * (base - level - 1), 0, 0.5 + level)), box_shape(0.5, 0.5, 0.5));
      if (level == 0 && k == 0) *first = id;
    }
}

/* At rest from the first step on, to the bit, and the floor carries the weight. */
static void pyramid(fx_test *t, frix_contact_kind kind, int base) {
  world w = world_new(t, 0.6, 0.0);
  w.config.contact = kind;
  frix_body_id first;
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  build_pyramid(&w, base, &first);
  if (world_start(&w)) {
    double weight = 0, carried = 0;
    frix_body_state before = state_of(&w, first);
    for (int k = 0; k < 10; k++) {
      frix_step_report report = world_step(&w, 0.01);
      CHECK(t, report.certified && report.certificate.residual < 1e-14 && report.iterations == 0);
      CHECK(t, frix_sim_energy(w.sim).kinetic == 0);
    }
    frix_body_state after = state_of(&w, first);
    CHECK(t, !memcmp(&before.pose, &after.pose, sizeof before.pose));
    for (int32_t k = 0; k < frix_sim_contact_count(w.sim); k++) {
      frix_contact_report c;
      MUST(&w, frix_sim_contact(w.sim, k, &c));
      if (!c.b.index || !c.a.index) carried += fabs(c.force.z);
    }
    frix_body_config body;
    MUST(&w, frix_model_body(w.model, first, &body));
    weight = 0.5 * base * (base + 1) * body.mass * 9.81;
    CHECK_NEAR(t, carried / weight, 1, 1e-12);
  }
  world_end(&w);
}

/* 2,850 boxes: too many for an interior point method within a step. */
static void pyramid_stiff(fx_test *t) { pyramid(t, FRIX_CONTACT_KIND_STIFF, 75); }
static void pyramid_rigid(fx_test *t) { pyramid(t, FRIX_CONTACT_KIND_RIGID, 25); }

/* Equal feet carry equal shares, all the way down a tower. */
static void tower(fx_test *t) {
  enum { COUNT = 300 };
  world w = world_new(t, 0.5, 0.0);
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  for (int k = 0; k < COUNT; k++) world_body(&w, body_at(at(0, 0, 0.5 + k)), box_shape(0.5, 0.5, 0.5));
  if (world_start(&w)) {
    frix_step_report report = world_step(&w, 0.01);
    CHECK(t, report.certified && report.iterations == 0 && frix_sim_energy(w.sim).kinetic == 0);
    for (int32_t k = 0; k < frix_sim_contact_count(w.sim); k++) {
      frix_contact_report c, other;
      MUST(&w, frix_sim_contact(w.sim, k, &c));
      MUST(&w, frix_sim_contact(w.sim, k - k % 4, &other));
      CHECK_NEAR(t, c.impulse.z / other.impulse.z, 1, 1e-12);
    }
  }
  world_end(&w);
}

/* A tower that leans too far has no path that carries it: it falls, and no step says it stands. */
static void leaning(fx_test *t) {
  enum { COUNT = 300 };
  world w = world_new(t, 0.5, 0.0);
  frix_body_id top = {0, 0};
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  for (int k = 0; k < COUNT; k++) top = world_body(&w, body_at(at(0.01 * k, 0, 0.5 + k)), box_shape(0.5, 0.5, 0.5));
  if (world_start(&w)) {
    for (int k = 0; k < 3; k++) CHECK(t, world_step(&w, 0.01).certified);
    CHECK(t, state_of(&w, top).velocity.z < 0);
  }
  world_end(&w);
}

/* Solves an example to 1e-8 with the default solver. */
static frix_result solved(fx_test *t, const char *name, const double *value) {
  frix_context *context;
  frix_problem *problem = NULL;
  frix_solution *solution = NULL;
  frix_result result = {.size = sizeof result};
  frix_solve_config config = frix_solve_default();
  config.tolerance = 1e-8;
  CHECK(t, frix_context_create(NULL, &context) == FRIX_OK);
  CHECK(t, frix_example_build(frix_example_find(name), context, value, &problem) == FRIX_OK);
  CHECK(t, frix_solve(context, problem, &config, &solution) == FRIX_OK);
  frix_solution_view(solution, &result);
  CHECK(t, result.outcome == FRIX_OUTCOME_SOLVED);
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  return result;
}

/* A contact problem by itself: loads of a pushed wall are followed down as well, and a brick that is pushed out of it
 * leaves the answer to others. */
static void wall_problem(fx_test *t) {
  const struct {
    double push;
    bool stands;
  } row[] = {{0, true}, {1, true}, {40, false}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    const double value[] = {16, 24, 0.6, row[k].push};
    frix_result result = solved(t, "wall", value);
    CHECK(t, (result.iterations == 0) == row[k].stands);
    if (row[k].stands) CHECK(t, result.certificate.residual < 1e-13);
  }
}

/* A brick that what is below it does not hold: the loads of all others are followed, and newton needs a few iterations
 * from there. All methods from nothing took 154. */
static void pushed_wall(fx_test *t) {
  const double value[] = {40, 40, 0.6, 30};
  int64_t iterations = solved(t, "wall", value).iterations;
  if (iterations > 45) fx_test_fail(t, __FILE__, __LINE__, "%lld iterations", (long long)iterations);
}

/* From nothing a chain of 1,000 or 3,000 rods, of which a part is dragged, takes no more iterations than a short one.
 * newton takes 11 for 1,000. */
static void long_chain(fx_test *t) {
  const frix_example *chain = frix_example_find("chain");
  const double count[] = {1000, 3000};
  for (size_t c = 0; c < sizeof count / sizeof *count; c++) {
    double value[16];
    for (int32_t k = 0; k < chain->parameter_count; k++)
      value[k] = strcmp(chain->parameter[k].name, "count") ? chain->parameter[k].initial : count[c];
    int64_t iterations = solved(t, "chain", value).iterations;
    if (iterations > 9) fx_test_fail(t, __FILE__, __LINE__, "%g rods: %lld", count[c], (long long)iterations);
  }
}

const fx_test_row test_load_path[] = {{"load_path/pyramid", pyramid_stiff},
                                      {"load_path/pyramid_rigid", pyramid_rigid},
                                      {"load_path/tower", tower},
                                      {"load_path/leaning", leaning},
                                      {"load_path/wall_problem", wall_problem},
                                      {"load_path/pushed_wall", pushed_wall},
                                      {"load_path/long_chain", long_chain},
                                      {0}};
