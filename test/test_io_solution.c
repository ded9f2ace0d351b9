/* Solutions and guesses in files, and what the fclib reader makes of half a mass matrix. */
#include "io_tools.h"

/* A solved problem, its solution written and found again. */
static void solutions(fx_test *t) {
  char log[512];
  frix_context *context = make_context(log);
  frix_problem *problem = read_text(t, context, "joined.json", joined, FRIX_TEXT_DETECT);
  frix_solution *solution = NULL;
  REQUIRE(t, problem != NULL);
  REQUIRE(t, frix_solve(context, problem, NULL, &solution) == FRIX_OK);
  frix_result result;
  frix_solution_view(solution, &result);
  const char *const names[] = {
      "solution.json",
#ifdef FRIX_HAVE_HDF5
      "solution.hdf5",
#endif
  };
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *path = fx_test_scratch(t, names[k]);
    double r[3] = {0};
    if (frix_solution_write(problem, solution, path) || frix_guess_read(context, problem, path, r))
      fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
    CHECK(t, same_reals(r, result.r, 3));
  }
  CHECK(t, frix_solution_write(problem, solution, fx_test_scratch(t, "s.dat")) == FRIX_ERROR_UNSUPPORTED);
#ifdef FRIX_HAVE_HDF5
  /* The HDF5 file holds the problem as well. */
  frix_problem *again = NULL;
  CHECK(t, frix_problem_read(context, fx_test_scratch(t, "solution.hdf5"), NULL, &again) == FRIX_OK);
  if (again) CHECK(t, difference(problem, again, true) == NULL);
  frix_problem_destroy(again);
#endif
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

static void guess_fails(fx_test *t, frix_context *context, const frix_problem *problem, const char *path,
                        const char *text, const char *fragment) {
  FILE *file = fopen(path, "w");
  REQUIRE(t, file != NULL);
  fputs(text, file);
  fclose(file);
  double r[3];
  CHECK(t, frix_guess_read(context, problem, path, r) != FRIX_OK);
  if (!strstr(frix_error_text(context), fragment))
    fx_test_fail(t, __FILE__, __LINE__, "'%s' lacks '%s'", frix_error_text(context), fragment);
}

static void guesses(fx_test *t) {
  char log[512];
  frix_context *context = make_context(log);
  frix_problem *problem = read_text(t, context, "joined.json", joined, FRIX_TEXT_DETECT);
  REQUIRE(t, problem != NULL);
  const char *path = fx_test_scratch(t, "guess.json");
  guess_fails(t, context, problem, path, "{\"r\": [1, 2]}", ":1: r has 2 values, expected 3");
  guess_fails(t, context, problem, path, "{\"u\": [1, 2, 3]}", "'r' is missing");
  guess_fails(t, context, problem, path, "{\"r\": [1, 2, \"x\"]}", "expected a number");
  guess_fails(t, context, problem, path, "", "is empty");
  guess_fails(t, context, problem, fx_test_scratch(t, "guess.dat"), "1 2 3", "holds no solution");
  FILE *file = fopen(path, "w");
  REQUIRE(t, file != NULL);
  fputs("{\"note\": {\"r\": [9]}, \"guess\": [7, 8, 9], \"r\": [1, 2, 3]}", file);
  fclose(file);
  double r[3] = {0};
  CHECK(t, frix_guess_read(context, problem, path, r) == FRIX_OK && r[0] == 1 && r[1] == 2 && r[2] == 3);
#ifdef FRIX_HAVE_HDF5
  /* A solution of zeros is a placeholder: the guess counts. */
  static const double zero[] = {0, 0, 0}, start[] = {4, 5, 6};
  fclib_file f = fclib_file_begin();
  fclib_file_reals(&f, "/solution/r", 3, zero);
  fclib_file_reals(&f, "/guesses/1/r", 3, start);
  size_t count = 0;
  char *bytes = fclib_file_end(&f, &count);
  file = fopen(fx_test_scratch(t, "guess.hdf5"), "wb");
  REQUIRE(t, bytes && file);
  CHECK(t, fwrite(bytes, 1, count, file) == count);
  fclose(file);
  free(bytes);
  CHECK(t, frix_guess_read(context, problem, fx_test_scratch(t, "guess.hdf5"), r) == FRIX_OK && r[0] == 4 && r[2] == 6);
#endif
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

#ifdef FRIX_HAVE_HDF5
/* One triangle of M in rows, columns and triplets gives the whole of it, with a warning. */
static void one_triangle(fx_test *t) {
  static const int32_t p[] = {0, 2, 3}, i[] = {0, 1, 1}, row[] = {0, 0, 1}, col[] = {0, 1, 1};
  static const double x[] = {2, 0.5, 3}, h[] = {1, 1}, f3[] = {0, -1}, w[] = {0, 0}, mu[] = {0.3};
  char log[512];
  frix_context *context = make_context(log);
  for (int k = 0; k < 3; k++) {
    fclib_file f = fclib_file_begin();
    fclib_file_integer(&f, "/fclib_global/spacedim", 2);
    const char *const names[] = {"M", "H"};
    for (int m = 0; m < 2; m++) {
      char path[64];
      int nz = m ? 2 : k == 0 ? -1 : k == 1 ? -2 : 3;
      const char *const fields[] = {"m", "n", "nz"};
      const int values[] = {2, 2, nz};
      for (int e = 0; e < 3; e++) {
        snprintf(path, sizeof path, "/fclib_global/%s/%s", names[m], fields[e]);
        fclib_file_integer(&f, path, values[e]);
      }
    }
    fclib_file_integers(&f, "/fclib_global/M/p", 3, k == 2 ? col : p);
    fclib_file_integers(&f, "/fclib_global/M/i", 3, k == 2 ? row : i);
    fclib_file_reals(&f, "/fclib_global/M/x", 3, x);
    fclib_file_integers(&f, "/fclib_global/H/p", 2, i);
    fclib_file_integers(&f, "/fclib_global/H/i", 2, i);
    fclib_file_reals(&f, "/fclib_global/H/x", 2, h);
    fclib_file_reals(&f, "/fclib_global/vectors/f", 2, f3);
    fclib_file_reals(&f, "/fclib_global/vectors/w", 2, w);
    fclib_file_reals(&f, "/fclib_global/vectors/mu", 1, mu);
    size_t count = 0;
    char *bytes = fclib_file_end(&f, &count);
    frix_problem *problem = NULL;
    if (frix_problem_read_memory(context, "half.hdf5", bytes, count, NULL, &problem))
      fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
    free(bytes);
    if (!problem) continue;
    frix_problem_data data;
    frix_problem_view(problem, &data);
    CHECK(t, data.M.nonzero_count == 4 && data.M.x[1] == 0.5 && data.M.x[2] == 0.5 && data.M.x[3] == 3);
    CHECK(t, strstr(log, k == 0 ? "lower" : "upper") != NULL);
    frix_problem_destroy(problem);
  }
  frix_context_destroy(context);
}
#endif

const fx_test_row test_io_solution[] = {
    {"io/solutions", solutions},
    {"io/guesses", guesses},
#ifdef FRIX_HAVE_HDF5
    {"io/one_triangle", one_triangle},
#endif
    {0},
};
