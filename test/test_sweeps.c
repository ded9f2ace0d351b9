/* sweeps: agreement with nsgs and newton on piles, threads, starts, and its limits (kernels: test_sweep_kernels.c). */
#include "base/threads.h"
#include "bench/settling.h"
#include "problem/certificate.h"
#include "solver/monitor.h"
#include "solver/springs.h"
#include "solver/sweeps_base.h"
#include "solver/sweeps_blend.h"
#include "sphere_pile.h"

/* Islands of all sizes and one large one with springs: solved as one by sweeps or newton on their velocities, to the
 * answer of newton. */
static void springs_together(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 400, 1e-2, false, 25);
  CHECK(t, good);
  if (good) {
    frix_result swept = {0}, newton = {0};
    frix_solution *a = pile_solve(&p, "auto", 1e-10, &swept), *b = pile_solve(&p, "newton", 1e-10, &newton);
    CHECK(t, a && b && swept.island_count > 10 && swept.outcome == FRIX_OUTCOME_SOLVED);
    CHECK(t, a && (!strcmp(swept.finisher, "sweeps") || !strcmp(swept.finisher, "spring_newton")));
    if (a && b) CHECK(t, distance(swept.v, newton.v, swept.dof_count) < 1e-7);
    if (a && b) fx_test_note(t, "%d islands, %d sweeps", swept.island_count, (int)swept.iterations);
    frix_solution_destroy(a);
    frix_solution_destroy(b);
  }
  pile_free(&p);
}

/* A start under which closed contacts look open, and open ones closed: those left out at first come back, and the
 * answer is that of a good start, in fewer sweeps than islands one by one would be tried with. */
static void springs_misled(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 400, 1e-2, false, 45);
  double *wrong = good ? calloc(3 * (size_t)p.data.contact_count, sizeof *wrong) : NULL;
  CHECK(t, good && wrong);
  if (good && wrong) {
    frix_solve_config config = frix_solve_default();
    frix_result well = {0}, misled = {0};
    frix_solution *a = pile_solve(&p, "auto", 1e-10, &well), *b = NULL;
    for (int32_t i = 0; i < p.data.contact_count; i += 7) wrong[3 * i] = 50 * fabs(well.r ? well.r[3 * i] : 1) + 1;
    config.tolerance = 1e-10;
    config.guess_r = wrong;
    CHECK(t, frix_solve(p.context, p.problem, &config, &b) == FRIX_OK);
    frix_solution_view(b, &misled);
    CHECK(t, misled.outcome == FRIX_OUTCOME_SOLVED && misled.certificate.residual <= 1e-10);
    CHECK(t, a && (!strcmp(misled.finisher, "sweeps") || !strcmp(misled.finisher, "spring_newton")));
    if (a && b) CHECK(t, distance(well.v, misled.v, well.dof_count) < 1e-7);
    if (a && b) fx_test_note(t, "%d iterations, misled %d", (int)well.iterations, (int)misled.iterations);
    frix_solution_destroy(a);
    frix_solution_destroy(b);
  }
  free(wrong);
  pile_free(&p);
}

/* A light body between two springs that both press on it, beside a heavy one that carries most of all impulses, so that
 * the start is near the answer: it throws the light body away from one of the springs, which is left out at first and
 * must come back. */
static void springs_left_out(fx_test *t) {
  enum { CONTACTS = 3, ROWS = 3 * CONTACTS, DOFS = 6 };
  const double mass[2] = {1e6, 1}, way[CONTACTS] = {1, 1, -1};
  const int body[CONTACTS] = {0, 1, 1};
  double M[DOFS * DOFS] = {0}, H[DOFS * ROWS] = {0}, f[DOFS] = {0}, w[ROWS] = {0}, R[ROWS], guess[ROWS] = {0};
  frix_contact contact[CONTACTS];
  for (int k = 0; k < DOFS; k++) M[DOFS * k + k] = mass[k / 3];
  for (int b = 0; b < 2; b++) f[3 * b] = -mass[b];
  for (int i = 0; i < CONTACTS; i++) {
    contact[i] = frix_contact_of_dim(3, 0.5, 0);
    for (int k = 0; k < 3; k++) {
      H[DOFS * (3 * i + k) + 3 * body[i] + k] = k ? 1 : way[i];
      R[3 * i + k] = 0.04 / mass[body[i]];
    }
  }
  w[3] = -0.2, w[6] = 0.1;               /* the light body cannot do what both ask for */
  guess[0] = 1e6 / 1.04, guess[3] = 0.5; /* it moves away from the third contact by 0.5 */
  frix_problem_data d = frix_problem_data_default();
  d.form = FRIX_FORM_GLOBAL;
  d.contact_count = CONTACTS, d.contact = contact;
  d.dof_count = DOFS;
  d.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = DOFS, .col_count = DOFS, .x = M};
  d.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = DOFS, .col_count = ROWS, .x = H};
  d.f = f, d.w = w, d.R = R;
  frix_context *context = NULL;
  frix_problem *problem = NULL;
  fx_arena arena;
  fx_system system;
  fx_monitor monitor;
  fx_limits limits = {.tolerance = 1e-8, .max_iterations = 2000};
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  fx_arena_init(&arena, context);
  bool good = frix_problem_create(context, &d, &problem) == FRIX_OK &&
              fx_system_build(&arena, problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK &&
              fx_monitor_init(&monitor, &arena, &system, FRIX_LAW_COULOMB, &limits, false) == FRIX_OK;
  CHECK(t, good);
  if (good) {
    fx_call call = {.system = &system,
                    .law = FRIX_LAW_COULOMB,
                    .arena = &arena,
                    .monitor = &monitor,
                    .r = guess,
                    .thread_count = 1};
    CHECK(t, fx_solver_springs.solve(&call) == FRIX_OK);
    CHECK(t, monitor.outcome == FRIX_OUTCOME_SOLVED);
    CHECK(t, monitor.best_r[3] > 0.1 && monitor.best_r[6] > 0.1);
    fx_test_note(t, "%d iterations", (int)(monitor.before + monitor.iteration));
  }
  fx_arena_free(&arena);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

/* ---- answers ---- */

/* Consecutive rigid steps: certified like nsgs, to the same tolerance. */
static void against_nsgs(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 80, 0, false, 50);
  CHECK(t, good);
  for (int step = 0; good && step < 10; step++) {
    frix_result sweeps = {0}, nsgs = {0};
    frix_solution *a = pile_solve(&p, "sweeps", 1e-6, &sweeps), *b = pile_solve(&p, "nsgs", 1e-6, &nsgs);
    CHECK(t, a && sweeps.outcome == FRIX_OUTCOME_SOLVED && sweeps.certificate.residual <= 1e-6);
    CHECK(t, b && nsgs.certificate.contact_residual <= 1e-6);
    if (a) spheres_advance(p.spheres, sweeps.r, sweeps.v);
    frix_solution_destroy(a);
    frix_solution_destroy(b);
    good = a && b && pile_next(&p);
  }
  pile_free(&p);
}

/* With stiffness there is one answer: newton and sweeps agree, also from nothing. */
static void against_newton(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 80, 5e-2, false, 60);
  CHECK(t, good);
  double worst = 0;
  for (int step = 0; good && step < 5; step++) {
    frix_result sweeps = {0}, newton = {0}, cold = {0};
    frix_solution *a = pile_solve(&p, "sweeps", 1e-10, &sweeps), *b = pile_solve(&p, "newton", 1e-10, &newton);
    double *zero = calloc((size_t)p.data.contact_count * 3, sizeof *zero);
    frix_solve_config config = frix_solve_default();
    config.solver = "sweeps";
    config.tolerance = 1e-10;
    config.guess_r = zero;
    frix_solution *c = NULL;
    if (frix_solve(p.context, p.problem, &config, &c) == FRIX_OK) frix_solution_view(c, &cold);
    good = a && b && c && zero;
    CHECK(t, good);
    if (good) {
      CHECK(t, sweeps.outcome == FRIX_OUTCOME_SOLVED && newton.outcome == FRIX_OUTCOME_SOLVED &&
                   cold.outcome == FRIX_OUTCOME_SOLVED);
      worst = fmax(worst, distance(sweeps.v, newton.v, sweeps.dof_count));
      worst = fmax(worst, distance(sweeps.v, cold.v, sweeps.dof_count));
      spheres_advance(p.spheres, sweeps.r, sweeps.v);
    }
    free(zero);
    frix_solution_destroy(a);
    frix_solution_destroy(b);
    frix_solution_destroy(c);
    good = good && pile_next(&p);
  }
  CHECK(t, worst < 1e-7);
  fx_test_note(t, "velocities differ by %.1e", worst);
  pile_free(&p);
}

/* Bodies that are no spheres, planar bodies, and what the kernels do not know: nsgs then. */
static void other_contacts(fx_test *t) {
  static const struct {
    const char *name;
    bool kernel;
  } row[] = {{"cardhouse", true}, {"wall", true},         {"discs", true},   {"slope", true},
             {"chain", false},    {"anisotropic", false}, {"rolling", true}, {"limit", false}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    answer a;
    if (answer_build(t, &a, row[k].name, NULL)) {
      frix_solve_config config = frix_solve_default();
      config.solver = "sweeps";
      config.tolerance = 1e-4;
      CHECK(t, frix_solve(a.context, a.problem, &config, &a.solution) == FRIX_OK);
      if (a.solution) frix_solution_view(a.solution, &a.result);
      if (a.result.outcome != FRIX_OUTCOME_SOLVED)
        fx_test_fail(t, __FILE__, __LINE__, "%s: %s, residual %.1e", row[k].name, frix_outcome_name(a.result.outcome),
                     a.result.certificate.residual);
      if (a.result.iterations > 0 && !strcmp(a.result.finisher, "sweeps") != row[k].kernel)
        fx_test_fail(t, __FILE__, __LINE__, "%s: solved by %s", row[k].name, a.result.finisher);
    }
    answer_free(&a);
  }
}

/* Rolling friction, and drilling friction beside it: the answer of newton. */
static void rolling(fx_test *t) {
  settling s;
  REQUIRE(t, settling_new(
                 &s, (settling_config){.spheres = 80, .stiffness = 1e6, .rolling = 1e-3, .spinning = 1e-3, .seed = 3}));
  answer a = {.context = s.context};
  frix_solution *other = NULL;
  bool good = settling_run(&s, 0.5) && frix_sim_problem(s.sim, &a.problem) == FRIX_OK;
  CHECK(t, good);
  if (good) {
    frix_solve_config config = frix_solve_default();
    frix_result newton = {0};
    config.tolerance = 1e-10;
    config.solver = "newton";
    CHECK(t, frix_solve(s.context, a.problem, &config, &other) == FRIX_OK);
    config.solver = "sweeps";
    CHECK(t, frix_solve(s.context, a.problem, &config, &a.solution) == FRIX_OK);
    frix_solution_view(other, &newton);
    frix_solution_view(a.solution, &a.result);
    CHECK(t, newton.outcome == FRIX_OUTCOME_SOLVED && a.result.outcome == FRIX_OUTCOME_SOLVED);
    CHECK(t, a.result.row_count > 300 && !strcmp(a.result.finisher, "sweeps"));
    double apart = distance(newton.v, a.result.v, newton.dof_count);
    CHECK(t, apart < 1e-6);
    fx_test_note(t, "%d rows, velocities differ by %.1e", a.result.row_count, apart);
  }
  frix_solution_destroy(other);
  frix_solution_destroy(a.solution);
  frix_problem_destroy(a.problem);
  settling_end(&s);
}

/* 1, 2 and 4 threads on many islands and on one. */
static void threads(fx_test *t) {
  pile p;
  for (int32_t steps = 20; steps <= 80; steps += 60) {
    if (!pile_make(&p, 400, 0, false, steps)) CHECK(t, false);
    frix_result result[3];
    frix_solution *solution[3] = {NULL, NULL, NULL};
    for (int k = 0; k < 3; k++) {
      frix_solve_config config = frix_solve_default();
      config.solver = "sweeps";
      config.tolerance = 1e-5;
      config.max_iterations = 200;
      config.thread_count = 1 << k;
      CHECK(t, frix_solve(p.context, p.problem, &config, &solution[k]) == FRIX_OK);
      if (solution[k]) frix_solution_view(solution[k], &result[k]);
    }
    for (int k = 1; k < 3 && solution[0] && solution[k]; k++)
      CHECK(t, memcmp(result[0].r, result[k].r, (size_t)result[0].row_count * sizeof(double)) == 0);
    for (int k = 0; k < 3; k++) frix_solution_destroy(solution[k]);
    pile_free(&p);
  }
}

/* ---- the stepper, and speed ---- */

/* Loaded contacts of each sphere. */
static void count_loads(const frix_problem_data *data, const double *r, int32_t *loads) {
  for (int32_t i = 0; i < data->contact_count; i++)
    for (int32_t k = data->H.p[3 * i], last = -1; r[3 * i] > 0 && k < data->H.p[3 * i + 1]; k++) {
      int32_t body = data->H.i[k] / 6;
      if (body != last) loads[body]++;
      last = body;
    }
}

/* With stiffness and memory a pile comes to rest: no sphere that three contacts hold moves. Those on top, which fewer
 * hold, may roll on for long. */
static void comes_to_rest(fx_test *t) {
  enum { SPHERES = 60 };
  pile p;
  frix_result result;
  CHECK(t, pile_make(&p, SPHERES, 1e-2, false, 700));
  frix_solution *solution = pile_solve(&p, "sweeps", 1e-4, &result);
  CHECK(t, solution != NULL);
  int32_t loads[SPHERES] = {0}, held = 0;
  double fastest = 0;
  if (solution) count_loads(&p.data, result.r, loads);
  for (int32_t b = 0; solution && b < SPHERES; b++) {
    const double *v = result.v + 6 * b;
    if (loads[b] < 3) continue;
    held++;
    fastest = fmax(fastest, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
  }
  CHECK(t, held > 0.8 * SPHERES && fastest < 1e-3);
  fx_test_note(t, "%d held, the fastest %.1e m/s after %.1f s, overlap %.2f %% of the radius", held, fastest,
               spheres_time(p.spheres), 100 * spheres_overlap(p.spheres));
  frix_solution_destroy(solution);
  pile_free(&p);
}

/* Figures, not a verdict: machines differ and are busy. */
static void speed(fx_test *t) {
  pile p;
  fx_arena arena;
  fx_system system;
  fx_pile packed;
  CHECK(t, pile_make(&p, 1000, 0, false, 70));
  fx_arena_init(&arena, p.context);
  if (fx_system_build(&arena, p.problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK &&
      fx_pile_build(&arena, &system, NULL, false, &packed) == FRIX_OK) {
    double best[2] = {1, 1};
    fx_pile_load(&packed, false, p.data.guess);
    for (int k = 0; k < 40; k++)
      for (int scalar = 0; scalar < 2; scalar++) {
        double start = fx_seconds();
        fx_sweep(&packed, false, scalar ? FX_SWEEP_SCALAR : fx_sweep_best_target(), 0);
        best[scalar] = fmin(best[scalar], fx_seconds() - start);
      }
    fx_test_note(t, "%.1f ns per contact and sweep, scalar %.1f", 1e9 * best[0] / system.contact_count,
                 1e9 * best[1] / system.contact_count);
  }
  fx_arena_free(&arena);
  pile_free(&p);
}

/* ---- the start ---- */

/* Judged up to a limit, the residual of the start is the same to the bit, or known to lie above the limit. */
static void start_judged_briefly(fx_test *t) {
  for (int compliant = 0; compliant < 2; compliant++)
    for (int shuffle = 0; shuffle < 2; shuffle++) {
      pile p;
      fx_arena arena;
      fx_system s;
      bool good = pile_make(&p, 400, compliant ? 1e-2 : 0, shuffle, 80);
      CHECK(t, good);
      if (good) {
        fx_arena_init(&arena, p.context);
        CHECK(t, fx_system_build(&arena, p.problem, FRIX_FORM_GLOBAL, &s) == FRIX_OK);
        double *u = FX_TAKE(&arena, double, s.row_count), *v = FX_TAKE(&arena, double, s.dof_count);
        double *u_brief = FX_TAKE(&arena, double, s.row_count), *v_brief = FX_TAKE(&arena, double, s.dof_count);
        int32_t *last = FX_TAKE(&arena, int32_t, s.mover_count);
        fx_system_velocity(&s, p.data.guess, u, v);
        double exact = fx_residual(&s, FRIX_LAW_COULOMB, p.data.guess, u);
        double whole = fx_residual_of(&s, FRIX_LAW_COULOMB, p.data.guess, u, v);
        CHECK(t, s.round != NULL);
        CHECK_NEAR(t, whole, exact, 1e-12 * exact);
        static const double factor[] = {1e-3, 0.5, 0.999, 1.001, 10, INFINITY};
        for (size_t k = 0; k < sizeof factor / sizeof *factor; k++) {
          double most = factor[k] * whole;
          double brief = fx_residual_up_to(&s, FRIX_LAW_COULOMB, most, p.data.guess, u_brief, v_brief, last);
          CHECK(t, factor[k] < 1 ? brief == INFINITY : brief == whole);
        }
        CHECK(t, memcmp(u, u_brief, (size_t)s.row_count * sizeof *u) == 0);
        CHECK(t, memcmp(v, v_brief, (size_t)s.dof_count * sizeof *v) == 0);
        fx_arena_free(&arena);
      }
      pile_free(&p);
    }
}

/* A start that was not judged in full is still returned where the sweeps do not better it. */
static void start_is_kept(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 300, 1e-2, false, 80);
  CHECK(t, good);
  frix_result best;
  frix_solution *solution = good ? pile_solve(&p, "sweeps", 1e-11, &best) : NULL;
  CHECK(t, solution != NULL);
  if (solution) {
    frix_solve_config config = frix_solve_default();
    frix_solution *other = NULL;
    frix_result result;
    config.solver = "sweeps";
    config.tolerance = 1e-15;
    config.max_iterations = 2; /* in single precision */
    config.guess_r = best.r;
    CHECK(t, frix_solve(p.context, p.problem, &config, &other) == FRIX_OK);
    frix_solution_view(other, &result);
    CHECK(t, result.outcome == FRIX_OUTCOME_MAX_ITERATIONS);
    CHECK(t, result.certificate.residual == best.certificate.residual);
    CHECK(t, memcmp(result.r, best.r, (size_t)result.row_count * sizeof *best.r) == 0);
    frix_solution_destroy(other);
  }
  frix_solution_destroy(solution);
  pile_free(&p);
}

/* 335 contacts of a heap of capsules in which friction jams: some direction of error grows with every sweep until
 * contacts change their state, and mixing alone leads back to where it began to grow, for thousands of sweeps. */
static void jam(fx_test *t) {
  frix_context *context = NULL;
  frix_problem *problem = NULL;
  bool good = frix_context_create(NULL, &context) == FRIX_OK &&
              frix_problem_read(context, FRIX_SOURCE_DIR "/test/problems/jam.json", NULL, &problem) == FRIX_OK;
  CHECK(t, good);
  if (good) {
    frix_solve_config config = frix_solve_default();
    frix_solution *solution = NULL;
    frix_result result = {0};
    config.solver = "sweeps";
    config.max_iterations = 600;
    CHECK(t, frix_solve(context, problem, &config, &solution) == FRIX_OK);
    frix_solution_view(solution, &result);
    CHECK(t, result.outcome == FRIX_OUTCOME_SOLVED);
    fx_test_note(t, "%d sweeps", (int)result.iterations);
    frix_solution_destroy(solution);
  }
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

const fx_test_row test_sweeps[] = {
    {"sweeps/jam", jam},
    {"sweeps/springs_together", springs_together},
    {"sweeps/springs_misled", springs_misled},
    {"sweeps/springs_left_out", springs_left_out},
    {"sweeps/against_nsgs", against_nsgs},
    {"sweeps/against_newton", against_newton},
    {"sweeps/other_contacts", other_contacts},
    {"sweeps/rolling", rolling},
    {"sweeps/threads", threads},
    {"sweeps/comes_to_rest", comes_to_rest},
    {"sweeps/speed", speed},
    {"sweeps/start_judged_briefly", start_judged_briefly},
    {"sweeps/start_is_kept", start_is_kept},
    {0},
};
