/* Patches: a few contacts that are wrong are put right on their own, under the impulses of all the others. */
#include "bench/spheres.h"
#include "method.h"

#include "solver/patches.h"

enum { SPHERES = 300 };

typedef struct pile {
  answer a;
  fx_arena arena;
  fx_system system;
  fx_monitor monitor;
  fx_limits limits;
  double *r, *u, *v, option[FX_MAX_OPTIONS];
  fx_call call;
} pile;

/* A pile with its answer as the start. */
static bool build(fx_test *t, pile *p) {
  static const double value[] = {SPHERES, 0.5, 0.5, 1, 0, 0};
  *p = (pile){0};
  method m = {.solver = "auto", .law = FRIX_LAW_COULOMB, .tolerance = 1e-10};
  if (!method_example(t, &p->a, "pile", value, &m)) return false;
  CHECK(t, p->a.result.outcome == FRIX_OUTCOME_SOLVED);
  fx_arena_init(&p->arena, p->a.context);
  if (fx_system_build(&p->arena, p->a.problem, FRIX_FORM_GLOBAL, &p->system) != FRIX_OK) return false;
  p->limits = (fx_limits){.tolerance = 1e-8};
  fx_monitor_init(&p->monitor, &p->arena, &p->system, FRIX_LAW_COULOMB, &p->limits, false);
  p->r = FX_TAKE(&p->arena, double, p->system.row_count);
  p->u = FX_TAKE(&p->arena, double, p->system.row_count);
  p->v = FX_TAKE(&p->arena, double, p->system.dof_count);
  fx_options_values(NULL, fx_solver_row(&fx_solver_auto), p->option);
  if (!p->r || !p->u || !p->v) return false;
  memcpy(p->r, p->a.result.r, (size_t)p->system.row_count * sizeof *p->r);
  p->call = (fx_call){.system = &p->system,
                      .law = FRIX_LAW_COULOMB,
                      .option = p->option,
                      .arena = &p->arena,
                      .monitor = &p->monitor,
                      .r = p->r,
                      .start = p->r};
  return true;
}

static void destroy(pile *p) {
  fx_arena_free(&p->arena);
  answer_free(&p->a);
}

static double residual(pile *p) { return fx_residual_of(&p->system, FRIX_LAW_COULOMB, p->r, p->u, p->v); }

static void scale(pile *p, int32_t i, double factor) {
  for (int32_t k = p->system.row[i]; k < p->system.row[i + 1]; k++) p->r[k] *= factor;
}

/* The most loaded contact, and the most loaded one among those that are more than STEPS bodies away from it. */
enum { STEPS = 5 };

static int32_t most_loaded(const pile *p, const uint8_t *out) {
  int32_t most = -1;
  for (int32_t i = 0; i < p->system.contact_count; i++)
    if (!out[i] && (most < 0 || p->r[p->system.row[i]] > p->r[p->system.row[most]])) most = i;
  return most;
}

static void choose_two(pile *p, int32_t two[2]) {
  const fx_block_matrix *H = &p->system.Ht;
  uint8_t *near = FX_TAKE(&p->arena, uint8_t, p->system.contact_count);
  uint8_t *body = FX_TAKE(&p->arena, uint8_t, p->system.mover_count);
  two[0] = most_loaded(p, near);
  near[two[0]] = 1;
  for (int step = 0; step < STEPS; step++) {
    for (int32_t i = 0; i < p->system.contact_count; i++)
      for (int32_t k = H->start[i]; k < H->start[i + 1] && near[i]; k++) body[H->index[k]] = 1;
    for (int32_t i = 0; i < p->system.contact_count; i++)
      for (int32_t k = H->start[i]; k < H->start[i + 1]; k++) near[i] |= body[H->index[k]];
  }
  two[1] = most_loaded(p, near);
}

static void few(fx_test *t) {
  pile p;
  int32_t two[2], patches;
  REQUIRE(t, build(t, &p));
  choose_two(&p, two);
  REQUIRE(t, two[0] >= 0 && two[1] >= 0);
  scale(&p, two[0], 1.2), scale(&p, two[1], 0.8);
  double before = residual(&p);
  CHECK(t, fx_patches_solve(&p.call, &fx_solver_auto, 1, &patches) == FRIX_OK);
  double after = residual(&p);
  fx_test_note(t, "%d contacts: residual %.1e, after %d patches %.1e", p.system.contact_count, before, patches, after);
  CHECK(t, patches == 2);
  CHECK(t, before > 1e-4 && after <= 1e-8);
  destroy(&p);
}

/* A step of 2,800 rigid spheres at which 3,000 sweeps bring the whole to 2e-5 and leave single contacts at 1.02e-4: the
 * sum over all does not tell which these are. */
static void single_contacts(fx_test *t) {
  frix_context *context = NULL;
  frix_result result;
  frix_solution *solution = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_problem *problem = spheres_settled(context, 2800);
  frix_solve_config config = frix_solve_default();
  config.tolerance = 1e-4;
  CHECK(t, problem && frix_solve(context, problem, &config, &solution) == FRIX_OK);
  if (solution) {
    frix_solution_view(solution, &result);
    fx_test_note(t, "contacts %.2e, single ones %.2e, %lld iterations", result.certificate.contact_residual,
                 result.certificate.row_residual, (long long)result.iterations);
    CHECK(t, result.outcome == FRIX_OUTCOME_SOLVED && result.certificate.residual <= 1e-4);
  }
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

/* What is wrong everywhere is no work for patches, and stays as it was. */
static void spread(fx_test *t) {
  pile p;
  int32_t patches;
  REQUIRE(t, build(t, &p));
  for (int32_t i = 0; i < p.system.contact_count; i++) p.r[p.system.row[i]] += 1e-3;
  double before = residual(&p);
  CHECK(t, fx_patches_solve(&p.call, &fx_solver_auto, 1, &patches) == FRIX_OK);
  CHECK(t, patches == 0 && residual(&p) == before);
  destroy(&p);
}

const fx_test_row test_patches[] = {
    {"patches/few", few}, {"patches/single_contacts", single_contacts}, {"patches/spread", spread}, {0}};
