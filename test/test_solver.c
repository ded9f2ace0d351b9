/* Solvers: every method on every real problem, known failures by name; derivatives; block LU; both forms. */
#include "examples/examples.h"
#include "linalg/block_lu.h"
#include "problem/cone.h"
#include "problem/cone_slope.h"
#include "test.h"

#include <dirent.h>
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- conformance ---- */

/* What a method does not solve to 1e-8 by its own limits. A pass that is not expected fails as well: then the list, and
 * docs/methods, are out of date. */
typedef struct expectation {
  const char *solver;
  const char *failures[8];
} expectation;

static const expectation expectations[] = {
    {"auto", {NULL}},
    {"newton", {"RockPile_tob1.dat", NULL}},
    {"continuation", {NULL}},
    {"interior_point", /* two files have islands whose speeds are rounding of 1e-19 m/s */
     {"FrictionContactProblem00237.dat", "RockPile_tob1.dat", "fc2d_granularflowonwall_00667_00000.dat",
      "fc2d_granularflowonwall_02020_00213.dat", NULL}},
    {"nsgs",
     {"Capsules-i100-1090.dat", "Capsules-i101-404.dat", "OneObject-i100000-316.hdf5.dat", "RockPile_tob1.dat",
      "fc2d_granularflowonwall_02020_00213.dat", NULL}},
    {"sweeps", /* W alone: nsgs */
     {"Capsules-i100-1090.dat", "Capsules-i101-404.dat", "OneObject-i100000-316.hdf5.dat", "RockPile_tob1.dat",
      "fc2d_granularflowonwall_02020_00213.dat", NULL}},
    {"apgd", {"Capsules-i101-404.dat", "RockPile_tob1.dat", "fc2d_granularflowonwall_02020_00213.dat", NULL}},
    {"admm",
     {"Capsules-i100-889.dat", "Capsules-i101-404.dat", "RockPile_tob1.dat", "fc2d_granularflowonwall_02020_00213.dat",
      NULL}},
};

static bool listed(const char *const *list, const char *name) {
  for (; *list; list++)
    if (strcmp(*list, name) == 0) return true;
  return false;
}

static void conform_file(fx_test *t, frix_context *context, const expectation *row, const char *folder,
                         const char *name, int *solved, int *count) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  frix_problem *problem = NULL;
  frix_solution *solution = NULL;
  if (frix_problem_read(context, path, NULL, &problem) == FRIX_ERROR_UNSUPPORTED) return; /* a build without HDF5 */
  REQUIRE(t, problem);
  frix_solve_config config = frix_solve_default();
  config.solver = row->solver;
  frix_status status = frix_solve(context, problem, &config, &solution);
  CHECK(t, status == FRIX_OK);
  if (status == FRIX_OK) {
    frix_result result;
    frix_solution_view(solution, &result);
    bool good = result.outcome == FRIX_OUTCOME_SOLVED, expected = !listed(row->failures, name);
    if (good != expected)
      fx_test_fail(t, __FILE__, __LINE__, "%s on %s: %s, residual %.2e, expected %s", row->solver, name,
                   frix_outcome_name(result.outcome), result.certificate.residual, expected ? "solved" : "a failure");
    if (good) CHECK(t, result.certificate.residual <= 1e-8);
    *solved += good;
    ++*count;
  }
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
}

static void conformance(fx_test *t) {
  static const char *const folders[] = {"problems/contact", "problems/rolling"};
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  char note[256] = "";
  for (size_t e = 0; e < sizeof expectations / sizeof *expectations; e++) {
    int solved = 0, count = 0;
    for (size_t f = 0; f < 2; f++) {
      char folder[512];
      const char *shared = fx_test_shared(t, folders[f]);
      DIR *directory = shared ? opendir(shared) : NULL;
      if (!directory) continue;
      snprintf(folder, sizeof folder, "%s", shared);
      for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
        if (entry->d_name[0] != '.') conform_file(t, context, &expectations[e], folder, entry->d_name, &solved, &count);
      closedir(directory);
    }
    snprintf(note + strlen(note), sizeof note - strlen(note), "%s %d/%d ", expectations[e].solver, solved, count);
  }
  fx_test_note(t, "%s", note);
  frix_context_destroy(context);
}

/* ---- derivatives of the cones ---- */

static frix_contact sample_contact(fx_test *t, frix_cone cone) {
  frix_contact c = {.cone = cone, .dim = frix_cone_table((int32_t)cone)->max_dim};
  c.mu = 0.6 + 0.5 * fx_test_random(t);
  c.mu2 = 0.6 + 0.5 * fx_test_random(t);
  c.mu_r = 0.4 + 0.3 * fx_test_random(t);
  c.facets = 3 + (int32_t)(8 * fabs(fx_test_random(t)));
  c.axis[0] = fx_test_random(t);
  c.axis[1] = 1;
  return c;
}

/* Central differences at random points; points within h of a kink give a one-sided mixture and are few: allow 1 in 50.
 */
static void slopes(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  const double h = 1e-6;
  for (int cone = 0; cone < FRIX_CONE_COUNT; cone++) {
    int bad = 0, total = 2000;
    for (int trial = 0; trial < total; trial++) {
      frix_contact c = sample_contact(t, (frix_cone)cone);
      REQUIRE(t, fx_cone_check(context, 0, &c) == FRIX_OK);
      double x[FRIX_MAX_DIM], J[FRIX_MAX_DIM * FRIX_MAX_DIM], g[FRIX_MAX_DIM], worst = 0;
      for (int k = 0; k < c.dim; k++) x[k] = fx_test_random(t);
      fx_cone_project_slope(&c, x, J);
      fx_cone_shift_slope(&c, x, g);
      for (int j = 0; j < c.dim; j++) {
        double up[FRIX_MAX_DIM], down[FRIX_MAX_DIM], p[FRIX_MAX_DIM], m[FRIX_MAX_DIM];
        memcpy(up, x, sizeof up);
        memcpy(down, x, sizeof down);
        up[j] += h;
        down[j] -= h;
        double shift = (fx_cone_shift(&c, up) - fx_cone_shift(&c, down)) / (2 * h);
        worst = fmax(worst, fabs(shift - g[j]));
        fx_cone_project(&c, up, p);
        fx_cone_project(&c, down, m);
        for (int i = 0; i < c.dim; i++) worst = fmax(worst, fabs((p[i] - m[i]) / (2 * h) - J[i * c.dim + j]));
      }
      bad += !(worst < 2e-5);
    }
    if (bad > total / 50)
      fx_test_fail(t, __FILE__, __LINE__, "cone %s: %d of %d slopes differ from differences",
                   frix_cone_table(cone)->name, bad, total);
  }
  frix_context_destroy(context);
}

/* ---- block LU ---- */

/* A random sparse nonsymmetric matrix with mixed block sizes, dominant diagonal: LU solve against A x. */
static void block_lu(fx_test *t) {
  enum { BLOCKS = 60 };
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  fx_arena arena;
  fx_arena_init(&arena, context);
  int32_t row[BLOCKS + 1] = {0}, start[BLOCKS + 1] = {0}, *index = FX_TAKE(&arena, int32_t, BLOCKS * BLOCKS);
  for (int i = 0; i < BLOCKS; i++) {
    row[i + 1] = row[i] + 1 + (int)(6 * fabs(fx_test_random(t)));
    start[i + 1] = start[i];
    for (int j = 0; j < BLOCKS; j++)
      if (i == j || fabs(fx_test_random(t)) < 0.06) index[start[i + 1]++] = j;
  }
  fx_block_matrix a;
  fx_block_lu lu;
  REQUIRE(t, fx_block_from_pattern(&arena, BLOCKS, row, BLOCKS, row, start, index, &a) == FRIX_OK);
  for (size_t k = 0; k < a.offset[start[BLOCKS]]; k++) a.x[k] = fx_test_random(t);
  REQUIRE(t, fx_block_lu_analyze(&arena, &a, &lu) == FRIX_OK);
  REQUIRE(t, fx_block_lu_factor(&lu, &a, 40, false));
  double *x = FX_TAKE(&arena, double, row[BLOCKS]), *b = FX_TAKE(&arena, double, row[BLOCKS]), worst = 0;
  for (int k = 0; k < row[BLOCKS]; k++) x[k] = fx_test_random(t);
  for (int k = 0; k < row[BLOCKS]; k++) b[k] = 40 * x[k];
  fx_block_multiply_add(&a, x, b);
  fx_block_lu_solve(&lu, b);
  for (int k = 0; k < row[BLOCKS]; k++) worst = fmax(worst, fabs(b[k] - x[k]));
  CHECK(t, worst < 1e-13);
  fx_test_note(t, "%d rows, error %.1e", row[BLOCKS], worst);
  fx_arena_free(&arena);
  frix_context_destroy(context);
}

/* ---- masonry ---- */

typedef struct hard_case {
  const char *example;
  const char *set[3];
  double value[3];
} hard_case;

static frix_problem *build_case(fx_test *t, frix_context *context, const hard_case *c) {
  double value[16] = {0};
  const frix_example *example = frix_example_find(c->example);
  frix_problem *problem = NULL;
  if (!example) return NULL;
  for (int32_t k = 0; k < example->parameter_count; k++) value[k] = example->parameter[k].initial;
  for (int k = 0; k < 3 && c->set[k]; k++) {
    int32_t at = frix_example_parameter_index(example, c->set[k]);
    CHECK(t, at >= 0);
    if (at >= 0) value[at] = c->value[k];
  }
  CHECK(t, frix_example_build(example, context, value, &problem) == FRIX_OK);
  return problem;
}

/* auto certifies 1e-8, and the two forms move the bodies alike. */
static void masonry(fx_test *t) {
  static const hard_case cases[] = {
      {"arch", {"count", "mu"}, {41, 0.6}},
      {"cardhouse", {"levels", "mu"}, {6, 0.8}},
      {"stack", {"count", "ratio"}, {40, 100}},
      {"wall", {"columns", "courses", "push"}, {6, 6, 5}},
      {"chain", {"count"}, {60}},
  };
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  double worst = 0;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    frix_problem *problem = build_case(t, context, &cases[c]);
    frix_solution *solution[2] = {NULL, NULL};
    REQUIRE(t, problem);
    for (int form = 0; form < 2; form++) {
      frix_solve_config config = frix_solve_default();
      config.form = form ? FRIX_FORM_GLOBAL : FRIX_FORM_LOCAL;
      config.tolerance = 1e-11;
      REQUIRE(t, frix_solve(context, problem, &config, &solution[form]) == FRIX_OK);
      frix_result result;
      frix_solution_view(solution[form], &result);
      if (!(result.certificate.residual <= 1e-8))
        fx_test_fail(t, __FILE__, __LINE__, "%s, form %d: residual %.2e", cases[c].example, form,
                     result.certificate.residual);
    }
    frix_result a, b;
    frix_solution_view(solution[0], &a);
    frix_solution_view(solution[1], &b);
    for (int32_t k = 0; k < a.dof_count && cases[c].example[0] != 'w'; k++) /* a pushed wall can move in several ways */
      worst = fmax(worst, fabs(a.v[k] - b.v[k]));
    frix_solution_destroy(solution[0]);
    frix_solution_destroy(solution[1]);
    frix_problem_destroy(problem);
  }
  CHECK(t, worst < 1e-8);
  fx_test_note(t, "velocities of the two forms to %.1e m/s", worst);
  frix_context_destroy(context);
}

const fx_test_row test_solver[] = {{"solver/masonry", masonry},

                                   {"solver/slopes", slopes},
                                   {"solver/block_lu", block_lu},
                                   {"solver/conformance", conformance},
                                   {0}};
