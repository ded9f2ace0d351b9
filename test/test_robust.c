/* What must hold whatever the problem: no leak when memory runs out, the same bits for any number of threads, no
 * allocation while a method iterates, and stops that stop: cancellation, time limit, warm start. */
#include "answer.h"
#include "base/context.h"
#include "instances.h"

/* ---- an allocator that counts, and fails when told ---- */

typedef struct ledger {
  int64_t calls, fail_at; /* the call that fails; -1: none */
  bool fail_after;        /* and all later ones */
  int64_t blocks, bytes;  /* not given back */
} ledger;

static void *ledger_allocate(size_t bytes, void *user) {
  ledger *l = user;
  int64_t call = l->calls++;
  if (call == l->fail_at || (l->fail_after && l->fail_at >= 0 && call > l->fail_at)) return NULL;
  void *block = malloc(bytes);
  if (block) l->blocks++, l->bytes += (int64_t)bytes;
  return block;
}

static void ledger_release(void *block, size_t bytes, void *user) {
  ledger *l = user;
  l->blocks--;
  l->bytes -= (int64_t)bytes;
  free(block);
}

static frix_status ledger_context(ledger *l, frix_context **out) {
  frix_context_config config = frix_context_default();
  config.allocate = ledger_allocate;
  config.release = ledger_release;
  config.user = l;
  return frix_context_create(&config, out);
}

/* Whether a solver takes this problem under this law. */
static bool accepts(const frix_solver_info *solver, const frix_problem_data *data, frix_law law) {
  uint32_t cones = data->joint_count ? 1u << FRIX_CONE_BILATERAL : 0;
  for (int32_t i = 0; i < data->contact_count; i++) cones |= 1u << data->contact[i].cone;
  return !(cones & ~solver->cones) && (law == FRIX_LAW_COULOMB ? solver->coulomb : solver->associated);
}

/* ---- memory ---- */

typedef struct trial {
  const frix_problem_data *data;
  const char *solver;
  int32_t threads;
} trial;

/* Everything that is ever created, once; the first failure ends it. */
static frix_status lifetime(ledger *l, const trial *what) {
  frix_context *context = NULL;
  frix_problem *problem = NULL, *reduced = NULL, *pyramids = NULL;
  frix_options *options = NULL;
  frix_solution *solution = NULL;
  int32_t islands;
  frix_status status = ledger_context(l, &context);
  if (status == FRIX_OK) status = frix_problem_create(context, what->data, &problem);
  if (status == FRIX_OK) status = frix_problem_reduce(problem, &reduced);
  if (status == FRIX_OK) status = frix_problem_with_pyramids(problem, 5, &pyramids);
  if (status == FRIX_OK) status = frix_problem_island_count(problem, &islands);
  if (status == FRIX_OK) status = frix_options_create(context, &options);
  if (status == FRIX_OK) {
    frix_solve_config config = frix_solve_default();
    config.solver = what->solver;
    config.max_iterations = 1000;
    config.thread_count = what->threads;
    config.options = options;
    config.history = true;
    status = frix_solve(context, problem, &config, &solution);
  }
  if (status == FRIX_OK) {
    frix_result result;
    frix_certificate certificate;
    frix_solution_view(solution, &result);
    status = frix_certify(context, problem, FRIX_LAW_COULOMB, result.r, result.lambda, &certificate, NULL, NULL);
  }
  frix_solution_destroy(solution);
  frix_options_destroy(options);
  frix_problem_destroy(pyramids);
  frix_problem_destroy(reduced);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  return status;
}

/* Fails call 0, 1, 2, ... until nothing fails any more. Only threads are done without: one failure may be survived. */
static int64_t walk(fx_test *t, const trial *what, bool fail_after) {
  enum { MOST = 100000 };
  int spare = what->threads > 1;
  for (int64_t k = 0; k < MOST; k++) {
    ledger l = {.fail_at = k, .fail_after = fail_after};
    frix_status status = lifetime(&l, what);
    bool failed = l.calls > k, alone = failed && status == FRIX_OK && spare-- > 0;
    if (l.blocks || l.bytes || (!alone && status != (failed ? FRIX_ERROR_MEMORY : FRIX_OK))) {
      fx_test_fail(t, __FILE__, __LINE__, "%s on %s, failure at call %lld: %s, %lld blocks lost", what->solver,
                   what->data->title, (long long)k, frix_status_name(status), (long long)l.blocks);
      return k;
    }
    if (!failed) return k;
  }
  fx_test_fail(t, __FILE__, __LINE__, "%s: no end of allocations", what->solver);
  return MOST;
}

static void memory(fx_test *t) {
  static const struct {
    const char *name;
    double value[5];
    int32_t threads;
  } row[] = {
      {"slope", {0.6, 30}, 1},
      {"hexapyramid", {0.5, 1, 6}, 1},
      {"anisotropic", {0.3, 0.9, 20, 30}, 1},
      {"limit", {0.5, 0.5, 0}, 1},
      {"discs", {3, 0.2}, 1},
      {"chain", {2, 0.4, 0.6, 0, 1}, 1},
      {"rolling", {0.5, 0.01, 0, 1, 3}, 1},
      {"rolling", {0.5, 0.01, 0, 1, 3}, 2},
  };
  int64_t points = 0;
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    answer a;
    const frix_solver_info *solver;
    if (answer_build(t, &a, row[k].name, row[k].value))
      for (int32_t s = 0; (solver = frix_solver_table(s)); s++) {
        trial what = {&a.data, solver->name, row[k].threads};
        if (!accepts(solver, &a.data, FRIX_LAW_COULOMB)) continue;
        points += walk(t, &what, false) + walk(t, &what, true);
      }
    answer_free(&a);
  }
  fx_test_note(t, "%lld failures survived", (long long)points);
}

/* Spheres in a box, or discs for a method that does not know circular cones. */
static bool build_pile(fx_test *t, answer *a, const frix_solver_info *solver, double count) {
  if (solver->cones & 1u << FRIX_CONE_CIRCULAR) return answer_build(t, a, "pile", (double[]){count, 0.5, 0.5, 1, 0, 0});
  return answer_build(t, a, "discs", (double[]){count / 15, 0.2});
}

/* A method asks for memory before it iterates and never after: ten times the iterations, not one allocation more. */
static void no_allocation(fx_test *t) {
  const frix_solver_info *solver;
  for (int32_t s = 0; (solver = frix_solver_table(s)); s++) {
    /* these prepare one method after the other */
    if (strcmp(solver->name, "auto") == 0 || strcmp(solver->name, "fixed_point") == 0) continue;
    answer a;
    if (build_pile(t, &a, solver, 60)) {
      int64_t calls[2] = {0, 0};
      for (int round = 0; round < 2; round++) {
        ledger l = {.fail_at = -1};
        frix_context *context = NULL;
        frix_problem *problem = NULL;
        frix_solution *solution = NULL;
        frix_solve_config config = frix_solve_default();
        config.solver = solver->name;
        config.law = solver->coulomb ? FRIX_LAW_COULOMB : FRIX_LAW_ASSOCIATED;
        config.tolerance = 1e-15;
        config.max_iterations = round ? 300 : 30;
        CHECK(t, ledger_context(&l, &context) == FRIX_OK);
        CHECK(t, frix_problem_create(context, &a.data, &problem) == FRIX_OK);
        CHECK(t, frix_solve(context, problem, &config, &solution) == FRIX_OK);
        calls[round] = l.calls;
        frix_solution_destroy(solution);
        frix_problem_destroy(problem);
        frix_context_destroy(context);
      }
      if (calls[0] != calls[1])
        fx_test_fail(t, __FILE__, __LINE__, "%s: %lld allocations for 30 iterations, %lld for 300", solver->name,
                     (long long)calls[0], (long long)calls[1]);
    }
    answer_free(&a);
  }
}

/* Memory that nobody wants any more gives way to what every step takes and gives back; never more waits than was in use
 * at once, or than 256 MB. Nothing of it is touched. */
static void waiting_memory(fx_test *t) {
  enum { BLOCKS = 8, SMALL = 32 << 20, LARGE = 200 << 20 };
  ledger l = {.fail_at = -1};
  frix_context *context = NULL;
  void *block[BLOCKS];
  REQUIRE(t, ledger_context(&l, &context) == FRIX_OK);
  for (int k = 0; k < BLOCKS; k++) block[k] = fx_alloc_raw(context, SMALL, 1);
  for (int k = 0; k < BLOCKS; k++) fx_free(context, block[k]);
  int64_t calls = l.calls;
  for (int step = 0; step < 3; step++) fx_free(context, fx_alloc_raw(context, LARGE, 1));
  CHECK(t, l.calls == calls + 1);
  CHECK(t, l.bytes < (BLOCKS + 1) * (int64_t)SMALL);
  frix_context_destroy(context);
  CHECK(t, l.blocks == 0 && l.bytes == 0);
}

/* ---- threads ---- */

static bool same(const double *a, const double *b, int32_t count) {
  return !a == !b && (!a || memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

/* Every solver with 1, 2 and 4 threads: not one bit may differ. */
static void check_threads(fx_test *t, frix_context *context, const char *name, const frix_problem *problem,
                          void *user) {
  static const int32_t threads[] = {1, 2, 4};
  const frix_solver_info *solver;
  frix_problem_data data;
  frix_problem_view(problem, &data);
  int *islands = user;
  for (int32_t s = 0; (solver = frix_solver_table(s)); s++) {
    frix_solution *solution[3] = {NULL, NULL, NULL};
    frix_result result[3];
    if (!accepts(solver, &data, FRIX_LAW_COULOMB)) continue;
    for (int k = 0; k < 3; k++) {
      frix_solve_config config = frix_solve_default();
      config.solver = solver->name;
      config.max_iterations = 10;
      config.thread_count = threads[k];
      if (frix_solve(context, problem, &config, &solution[k]) == FRIX_OK)
        frix_solution_view(solution[k], &result[k]);
      else
        fx_test_fail(t, __FILE__, __LINE__, "%s, %s: %s", name, solver->name, frix_error_text(context));
    }
    for (int k = 1; k < 3 && solution[0] && solution[k]; k++) {
      bool equal = same(result[0].r, result[k].r, data.row_count) && same(result[0].u, result[k].u, data.row_count) &&
                   same(result[0].v, result[k].v, data.dof_count) &&
                   same(result[0].lambda, result[k].lambda, data.joint_count) &&
                   memcmp(&result[0].certificate.residual, &result[k].certificate.residual, sizeof(double)) == 0 &&
                   result[0].outcome == result[k].outcome && result[0].iterations == result[k].iterations;
      if (!equal)
        fx_test_fail(t, __FILE__, __LINE__, "%s, %s: another answer with %d threads", name, solver->name, threads[k]);
    }
    if (solution[0] && result[0].island_count > *islands) *islands = result[0].island_count;
    for (int k = 0; k < 3; k++) frix_solution_destroy(solution[k]);
  }
}

static void threads_on_examples(fx_test *t) {
  const frix_example *row;
  int islands = 0;
  for (int32_t k = 0; (row = frix_example_table(k)); k++) {
    answer a;
    if (answer_build(t, &a, row->name, NULL)) check_threads(t, a.context, row->name, a.problem, &islands);
    answer_free(&a);
  }
  answer a;
  if (answer_build(t, &a, "rolling", (double[]){0.1, 0.01, 40, 1, 100}))
    check_threads(t, a.context, "rolling", a.problem, &islands);
  answer_free(&a);
  CHECK(t, islands == 100);
}

static void threads_on_files(fx_test *t) {
  int islands = 0, count = instances_visit(t, "problems/contact", check_threads, &islands);
  if (count) count += instances_visit(t, "problems/rolling", check_threads, &islands);
  if (count) fx_test_note(t, "%d files, up to %d islands", count, islands);
}

/* ---- stops ---- */

/* A problem no method ends at once, since nothing reaches the tolerance. */
static bool build_endless(fx_test *t, answer *a, frix_solve_config *config, const frix_solver_info *solver) {
  *config = frix_solve_default();
  config->solver = solver->name;
  config->law = solver->coulomb ? FRIX_LAW_COULOMB : FRIX_LAW_ASSOCIATED;
  config->tolerance = 1e-300;
  config->max_iterations = INT64_C(1) << 40;
  return build_pile(t, a, solver, 200);
}

static bool cancel_later(void *user) { return ++*(int *)user >= 5; }

static void cancel(fx_test *t) {
  const frix_solver_info *solver;
  for (int32_t s = 0; (solver = frix_solver_table(s)); s++) {
    answer a;
    frix_solve_config config;
    int polls = 0;
    if (strcmp(solver->name, "sqp") == 0) continue; /* leaves problems of this size alone */
    if (build_endless(t, &a, &config, solver)) {
      config.cancel = cancel_later;
      config.user = &polls;
      CHECK(t, frix_solve(a.context, a.problem, &config, &a.solution) == FRIX_OK);
      if (a.solution) frix_solution_view(a.solution, &a.result);
      CHECK(t, a.result.outcome == FRIX_OUTCOME_CANCELLED && polls >= 5);
      CHECK(t, isfinite(a.result.certificate.residual));
    }
    answer_free(&a);
  }
}

static void time_limit(fx_test *t) {
  const frix_solver_info *solver;
  double longest = 0, allowed = 0.03;
  for (int32_t s = 0; (solver = frix_solver_table(s)); s++) {
    answer a;
    frix_solve_config config;
    if (build_endless(t, &a, &config, solver)) {
      config.time_limit = allowed;
      CHECK(t, frix_solve(a.context, a.problem, &config, &a.solution) == FRIX_OK);
      if (a.solution) frix_solution_view(a.solution, &a.result);
      CHECK(t, a.result.outcome == FRIX_OUTCOME_TIME_LIMIT || a.result.outcome == FRIX_OUTCOME_STALLED);
      CHECK(t, isfinite(a.result.certificate.residual));
      longest = fmax(longest, a.result.seconds);
    }
    answer_free(&a);
  }
  CHECK(t, longest < allowed + 2); /* generous: sanitizers, busy machines */
  fx_test_note(t, "limit %.0f ms, longest %.0f ms", 1e3 * allowed, 1e3 * longest);
}

/* From its own answer every exact method is done at once, and changes nothing. */
static void warm_start(fx_test *t) {
  static const char *const name[] = {"slope", "cardhouse", "rolling", "discs", "chain", "limit", "anisotropic", "wall"};
  for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
    answer a;
    const frix_solver_info *solver;
    bool solved = answer_example(t, &a, name[k], NULL, 1e-9);
    for (int32_t s = 0; solved && (solver = frix_solver_table(s)); s++) {
      if (!accepts(solver, &a.data, FRIX_LAW_COULOMB)) continue;
      frix_solve_config config = frix_solve_default();
      frix_solution *again = NULL;
      frix_result result = {0};
      config.solver = solver->name;
      config.tolerance = 1.001e-9; /* the sums of the whole and of its islands may differ in the last bit */
      config.guess_r = a.result.r;
      config.guess_lambda = a.result.lambda;
      CHECK(t, frix_solve(a.context, a.problem, &config, &again) == FRIX_OK);
      if (again) frix_solution_view(again, &result);
      if (!again || result.outcome != FRIX_OUTCOME_SOLVED || result.iterations != 0 ||
          !same(result.r, a.result.r, a.data.row_count))
        fx_test_fail(t, __FILE__, __LINE__, "%s, %s: %lld iterations from the answer", name[k], solver->name,
                     (long long)result.iterations);
      frix_solution_destroy(again);
    }
    answer_free(&a);
  }
}

/* Sums that overflow: any outcome but a crash. */
static void overflow(fx_test *t) {
  static const double W[9] = {1.5e308, 0, 0, 0, 1.5e308, 0, 0, 0, 1.5e308}, q[3] = {-1, 1, 2};
  static const frix_cone cone[] = {FRIX_CONE_BILATERAL, FRIX_CONE_CIRCULAR, FRIX_CONE_FRICTIONLESS};
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (size_t k = 0; k < sizeof cone / sizeof *cone; k++) {
    frix_contact contact = frix_contact_of_dim(3, 0.5, 0);
    contact.cone = cone[k];
    if (cone[k] != FRIX_CONE_CIRCULAR) contact.mu = 0;
    frix_problem_data data = frix_problem_data_default();
    data.form = FRIX_FORM_LOCAL;
    data.contact_count = 1;
    data.contact = &contact;
    data.W = (frix_matrix){FRIX_MATRIX_DENSE, 3, 3, 0, NULL, NULL, W};
    data.q = q;
    frix_problem *problem = NULL;
    CHECK(t, frix_problem_create(context, &data, &problem) == FRIX_OK);
    for (int32_t row = 0; problem && frix_solver_table(row); row++) {
      frix_solve_config config = frix_solve_default();
      frix_solution *solution = NULL;
      config.solver = frix_solver_table(row)->name;
      config.max_iterations = 20;
      frix_solve(context, problem, &config, &solution);
      frix_solution_destroy(solution);
    }
    frix_problem_destroy(problem);
  }
  frix_context_destroy(context);
}

const fx_test_row test_robust[] = {
    {"robust/overflow", overflow},
    {"robust/memory", memory},
    {"robust/no_allocation", no_allocation},
    {"robust/waiting_memory", waiting_memory},
    {"robust/threads_on_examples", threads_on_examples},
    {"robust/threads_on_files", threads_on_files},
    {"robust/cancel", cancel},
    {"robust/time_limit", time_limit},
    {"robust/warm_start", warm_start},
    {0},
};
