/* Contact problems, LCP and MLCP files as complementarity problems, and the mcp verb. */
#include "answer.h"
#include "instances.h"
#include "shell.h"

#include <stdio.h>

/* ---- the bridge: every cone, both laws */

static frix_contact random_contact(fx_test *t, frix_cone cone) {
  frix_contact c = {.cone = cone, .dim = frix_cone_table((int32_t)cone)->max_dim};
  c.mu = 0.5 + 0.3 * fx_test_random(t);
  c.mu2 = 0.5 + 0.3 * fx_test_random(t);
  c.mu_r = 0.3 + 0.2 * fx_test_random(t);
  c.facets = 3 + (int32_t)(6 * fabs(fx_test_random(t)));
  c.axis[0] = fx_test_random(t);
  c.axis[1] = 1;
  return c;
}

/* Two contacts of this kind on a random positive definite W. */
static frix_problem *random_problem(fx_test *t, frix_context *context, frix_cone cone) {
  enum { MOST = 2 * FRIX_MAX_DIM };
  frix_contact contact[2] = {random_contact(t, cone), random_contact(t, cone)};
  int n = contact[0].dim + contact[1].dim;
  double root[MOST * MOST], W[MOST * MOST] = {0}, q[MOST];
  for (int k = 0; k < n * n; k++) root[k] = fx_test_random(t);
  for (int i = 0; i < n; i++) {
    q[i] = fx_test_random(t) - (i == 0 || i == contact[0].dim ? 1.2 : 0); /* both press */
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) W[j * n + i] += root[k * n + i] * root[k * n + j] / n;
    W[i * n + i] += 1;
  }
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_LOCAL;
  data.contact_count = 2;
  data.contact = contact;
  data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = n, .col_count = n, .x = W};
  data.q = q;
  frix_problem *problem = NULL;
  if (frix_problem_create(context, &data, &problem) != FRIX_OK)
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  return problem;
}

/* The Jacobian of the bridge by differences. */
static void check_slopes(fx_test *t, const frix_mcp_data *data) {
  enum { MOST = 256 };
  double x[MOST], up[MOST], down[MOST], worst = 0,
                                        *value = calloc((size_t)data->column[data->count] + 1, sizeof *value);
  if (data->count > MOST || !value) return;
  for (int i = 0; i < data->count; i++) x[i] = fx_test_random(t);
  CHECK(t, data->jacobian(x, value, data->user));
  for (int j = 0; j < data->count; j++) {
    double at = x[j];
    x[j] = at + 1e-5;
    data->function(x, up, data->user);
    x[j] = at - 1e-5;
    data->function(x, down, data->user);
    x[j] = at;
    for (int i = 0; i < data->count; i++) up[i] = (up[i] - down[i]) / 2e-5;
    for (int k = data->column[j]; k < data->column[j + 1]; k++) up[data->row[k]] -= value[k];
    for (int i = 0; i < data->count; i++) worst = fmax(worst, fabs(up[i]));
  }
  CHECK(t, worst < 1e-8);
  free(value);
}

/* Solved through the door by `method`, judged by the contact certificate; how many of both laws. The associated law is
 * open to linear problems only. */
static int solve_through(fx_test *t, frix_context *context, const frix_problem *problem, const char *method) {
  int good = 0;
  bool linear = true;
  for (int law = 0; law < 2; law++) {
    frix_mcp *mcp = NULL;
    frix_mcp_data data;
    frix_mcp_result result;
    frix_certificate judged;
    frix_status status = frix_mcp_create_contact(problem, (frix_law)law, &mcp);
    if (law && !linear) {
      CHECK(t, status == FRIX_ERROR_UNSUPPORTED && !mcp);
      return good + 1;
    }
    if (status != FRIX_OK) {
      fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
      return good;
    }
    frix_mcp_view(mcp, &data);
    linear = data.linear;
    check_slopes(t, &data);
    double x[256], r[2 * FRIX_MAX_DIM] = {0};
    frix_mcp_config config = frix_mcp_default();
    config.method = method;
    config.tolerance = 1e-12;
    CHECK(t, frix_mcp_start(mcp, 0, x));
    CHECK(t, frix_mcp_solve(context, mcp, &config, x, &result) == FRIX_OK);
    frix_mcp_contact_impulse(mcp, x, r, NULL);
    CHECK(t, frix_certify(context, problem, (frix_law)law, r, NULL, &judged, NULL, NULL) == FRIX_OK);
    good += judged.residual < 1e-6; /* a separating contact enters squared: half the digits */
    frix_mcp_destroy(mcp);
  }
  return good;
}

static void every_cone(fx_test *t) {
  enum { TRIALS = 25 };
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int cone = 0; cone < FRIX_CONE_COUNT; cone++)
    for (int method = 0; method < 2; method++) {
      const char *name = method ? "box_trust_region" : "semismooth";
      int good = 0;
      for (int trial = 0; trial < TRIALS; trial++) {
        frix_problem *problem = random_problem(t, context, (frix_cone)cone);
        REQUIRE(t, problem);
        good += solve_through(t, context, problem, name);
        frix_problem_destroy(problem);
      }
      if (good != 2 * TRIALS)
        fx_test_fail(t, __FILE__, __LINE__, "%s, %s: %d of %d", frix_cone_table(cone)->name, name, good, 2 * TRIALS);
    }
  frix_context_destroy(context);
}

/* Rows of the solver table on examples with joints, limits, compliance, islands. */
static void solver_rows(fx_test *t) {
  static const char *const name[] = {"slope", "slide", "limit", "chain", "springs", "anisotropic", "rolling"};
  static const char *const solver[] = {"semismooth", "box_trust_region"};
  for (size_t k = 0; k < sizeof name / sizeof *name; k++)
    for (size_t s = 0; s < 2; s++) {
      answer a;
      if (!frix_example_find(name[k])) continue;
      if (answer_build(t, &a, name[k], NULL)) {
        frix_solve_config config = frix_solve_default();
        config.solver = solver[s];
        CHECK(t, frix_solve(a.context, a.problem, &config, &a.solution) == FRIX_OK);
        if (a.solution) frix_solution_view(a.solution, &a.result);
        if (a.result.outcome != FRIX_OUTCOME_SOLVED)
          fx_test_fail(t, __FILE__, __LINE__, "%s by %s: %s, %.1e", name[k], solver[s],
                       frix_outcome_name(a.result.outcome), a.result.certificate.residual);
      }
      answer_free(&a);
    }
}

/* ---- files */

static void solve_file(fx_test *t, frix_context *context, const char *name, const frix_problem *problem, void *user) {
  static const char *const solver[] = {"auto", "semismooth", "box_trust_region"};
  int *count = user;
  for (int s = 0; s < 3; s++) {
    frix_solution *solution = NULL;
    frix_result result;
    frix_solve_config config = frix_solve_default();
    config.solver = solver[s];
    CHECK(t, frix_solve(context, problem, &config, &solution) == FRIX_OK);
    if (!solution) continue;
    frix_solution_view(solution, &result);
    if (result.outcome != FRIX_OUTCOME_SOLVED)
      fx_test_fail(t, __FILE__, __LINE__, "%s by %s: residual %.1e", name, solver[s], result.certificate.residual);
    frix_solution_destroy(solution);
    ++*count;
  }
}

static void files(fx_test *t) {
  int count = 0, read = instances_visit(t, "problems/lcp", solve_file, &count);
  if (read) read += instances_visit(t, "problems/mlcp", solve_file, &count);
  if (read) fx_test_note(t, "%d files, %d solves", read, count);
}

/* u - 2 v_1 = 1, v >= 0 _|_ w = B v + b: known by hand. */
#define HEAD "1 1 1 2\n0 1 3\n0 1\n"
#define WHOLE "0 3 3 3 3\n1 0 0 2 1 0 0 1.3333 1\n-1 1 -3\n"
#define PARTS "1\n1 1.3333 0 1\n2 0\n0 0\n-1\n1 -3\n"

static frix_status read_text(frix_context *context, const char *text, frix_problem **out) {
  return frix_problem_read_memory(context, "x.dat", text, strlen(text), NULL, out);
}

static void mlcp_reader(fx_test *t) {
  static const char *const good[] = {HEAD WHOLE PARTS, HEAD WHOLE PARTS "remarks follow", "1 0 1 2\n0 1 3\n0 1\n" WHOLE,
                                     "0 1 1 2\n" PARTS};
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
    frix_problem *problem = NULL;
    frix_solution *solution = NULL;
    frix_problem_data data;
    frix_result result;
    frix_solve_config config = frix_solve_default();
    config.solver = "semismooth";
    config.tolerance = 1e-12;
    if (read_text(context, good[k], &problem) != FRIX_OK)
      fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
    REQUIRE(t, problem);
    frix_problem_view(problem, &data);
    CHECK(t, data.contact_count == 3 && data.contact[0].cone == FRIX_CONE_BILATERAL);
    CHECK(t, data.contact[1].cone == FRIX_CONE_LIMIT && data.contact[2].cone == FRIX_CONE_LIMIT);
    CHECK(t, frix_solve(context, problem, &config, &solution) == FRIX_OK);
    frix_solution_view(solution, &result);
    CHECK(t, result.outcome == FRIX_OUTCOME_SOLVED);
    CHECK_NEAR(t, result.r[0], 1, 1e-9);
    CHECK_NEAR(t, result.r[1], 0, 1e-9);
    CHECK_NEAR(t, result.r[2], 3, 1e-9);
    CHECK_NEAR(t, result.u[1], 1 + 1.3333 * 3, 1e-9);
    frix_solution_destroy(solution);
    frix_problem_destroy(problem);
  }
  frix_context_destroy(context);
}

static void mlcp_broken(fx_test *t) {
  static const struct {
    const char *text, *fragment;
  } row[] = {
      {"0 0 1 2\n0 1 3\n0 1\n" WHOLE, "neither"},
      {"1 1 1 2\n1 3\n0 1\n" WHOLE, "first end"},
      {"1 1 1 2\n0 3\n7\n" WHOLE PARTS, "kind of a block"},
      {"1 1 1 2\n0 1 1 3\n0 1\n" WHOLE, "end of a block"},
      {"1 1 1 2\n0 1 4\n0 1\n" WHOLE, "end of a block"},
      {"1 1 1 2\n0 1 3\n1 1\n" WHOLE PARTS, "equations"},
      {"1 1 1 2\n0 1 3\n0 2\n" WHOLE, "kind of a block"},
      {HEAD "0 3 3 3 3\n1 0 0 2 1 0 0 1.3333 x\n-1 1 -3\n" PARTS, "M"},
      {HEAD "0 2 2 2 2\n1 0 0 2\n-1 1 -3\n" PARTS, "expected 3 x 3"},
      {HEAD WHOLE "1\n1 1.3333 0 1\n2 0\n", "D"},
      {HEAD WHOLE "1\n1 1.3333 0 7\n2 0\n0 0\n-1\n1 -3\n", "differs between the two"},
      {HEAD WHOLE "1\n1 1.3333 0 1\n2 0\n0 0\n-1\n1 -4\n", "differs between the two"},
      {"1 1 2000000000 2000000000\n0 1\n", "number of equations"},
      {"1 1 1000000000 1000000000\n0 1\n", "q needs"},
      {"1 1 20 12\n0 20 32\n", "q needs"},
  };
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    frix_problem *problem = NULL;
    frix_status status = read_text(context, row[k].text, &problem);
    if (status != FRIX_ERROR_FORMAT || problem || !strstr(frix_error_text(context), row[k].fragment) ||
        strncmp(frix_error_text(context), "x.dat:", 6))
      fx_test_fail(t, __FILE__, __LINE__, "row %d: %s: '%s' lacks '%s'", (int)k, frix_status_name(status),
                   frix_error_text(context), row[k].fragment);
    frix_problem_destroy(problem);
  }
  frix_context_destroy(context);
}

/* ---- the verb */

/* One line of JSON with everything a run promises. */
static void check_line(fx_test *t, const char *line) {
  static const char *const key[] = {
      "\"problem\": ",   "\"start\": ",      "\"method\": ",  "\"outcome\": ", "\"residual\": ",
      "\"objective\": ", "\"iterations\": ", "\"seconds\": ", "\"x\": ["};
  if (!shell_json(line)) fx_test_fail(t, __FILE__, __LINE__, "not JSON: %.200s", line);
  for (size_t k = 0; k < sizeof key / sizeof *key; k++)
    if (!strstr(line, key[k])) fx_test_fail(t, __FILE__, __LINE__, "%s is not in %.200s", key[k], line);
}

static void check_lines(fx_test *t, shell_result r, int code, int lines, const char *part) {
  if (r.code != code) fx_test_fail(t, __FILE__, __LINE__, "exit code %d, stderr: %s", r.code, r.err);
  if (shell_lines(r.out) != lines)
    fx_test_fail(t, __FILE__, __LINE__, "%d lines, expected %d", shell_lines(r.out), lines);
  for (char *line = r.out, *end; *line; line = end) {
    end = strchr(line, '\n') ? strchr(line, '\n') + 1 : line + strlen(line);
    char kept = *end;
    *end = 0;
    check_line(t, line);
    if (!strstr(line, part)) fx_test_fail(t, __FILE__, __LINE__, "%s is not in %.200s", part, line);
    *end = kept;
  }
  shell_free(&r);
}

static void verb_json(fx_test *t) {
  check_lines(t, shell(t, "$frix mcp kojshin --json"), 0, 1, "\"start\": 0");
  check_lines(t, shell(t, "$frix mcp kojshin --start all --json --method box_trust_region"), 0, 8,
              "\"outcome\": \"solved\"");
  check_lines(t, shell(t, "$frix mcp josephy --start 3 --json --method semismooth"), 0, 1, "\"start\": 3");
  check_lines(t, shell(t, "$frix mcp scara --form cone --seeds 1:5 --json"), 0, 5, "\"form\": \"cone\"");
  check_lines(t, shell(t, "$frix mcp scara --form pyramid --seeds 7 --json"), 0, 1, "\"problem\": \"scara-pyramid-7\"");
  check_lines(t, shell(t, "$frix mcp scara --form sliding --seeds 0:2 --json"), 0, 3, "\"class\": ");
  check_lines(t, shell(t, "$frix mcp control-1000 --json"), 0, 1, "\"outcome\": \"solved\"");
  check_lines(t, shell(t, "$frix mcp billups --json --method semismooth --set semismooth.restarts=0"), 1, 1,
              "\"stalled\"");
  check_lines(t, shell(t, "printf '%s' >m.dat && $frix mcp m.dat --json", HEAD WHOLE PARTS), 0, 1, "\"solved\"");
  shell_result r = shell(t, "$frix mcp --list --json");
  CHECK(t, r.code == 0 && shell_json(r.out) && strstr(r.out, "\"harker2_oligop\"") && strstr(r.out, "\"colvdual\""));
  shell_free(&r);
  r = shell(t, "$frix mcp --list");
  CHECK(t, r.code == 0 && strstr(r.out, "scara") && strstr(r.out, "box_trust_region"));
  shell_free(&r);
  r = shell(t, "$frix mcp scara --form cone --method box_trust_region");
  CHECK(t, r.code == 0 && strstr(r.out, "200 of 200 solved") && strstr(r.out, "RR 70"));
  shell_free(&r);
  r = shell(t, "printf '%s' >m.dat && $frix solve m.dat --solver box_trust_region --json", HEAD WHOLE PARTS);
  CHECK(t, r.code == 0 && strstr(r.out, "\"outcome\": \"solved\""));
  shell_free(&r);
}

static void verb_refusals(fx_test *t) {
  static const struct {
    const char *command, *part;
  } row[] = {{"$frix mcp kojshim", "did you mean 'kojshin'"},
             {"$frix mcp", "usage"},
             {"$frix mcp kojshin --method semismoot", "did you mean 'semismooth'"},
             {"$frix mcp kojshin --start 8", "0 to 7"},
             {"$frix mcp kojshin --start none", "--start"},
             {"$frix mcp kojshin --tol 0", "--tol"},
             {"$frix mcp kojshin --set semismooth.restart=1", "did you mean 'semismooth.restarts'"},
             {"$frix mcp kojshin --form cone", "scara"},
             {"$frix mcp control-1", "between"},
             {"$frix mcp nothing.dat", "nothing.dat"},
             {"$frix mcp scara --form cones", "did you mean 'cone'"},
             {"$frix mcp scara --seeds 5:2", "--seeds"},
             {"$frix mcp scara --seeds 1:", "--seeds"},
             {"$frix mcp scara --seeds x", "--seeds"}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    shell_result r = shell(t, "%s", row[k].command);
    if (r.code != 2 || shell_lines(r.err) != 1 || r.out[0] || !strstr(r.err, row[k].part))
      fx_test_fail(t, __FILE__, __LINE__, "%s: code %d, stdout '%.80s', stderr '%s'", row[k].command, r.code, r.out,
                   r.err);
    shell_free(&r);
  }
}

/* The program of docs/mcp.md compiles and finds what it says. */
static void page_example(fx_test *t) {
  shell_result r = shell(t,
                         "awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' '%s/docs/mcp.md' >page.c && ${CC:-cc} "
                         "-std=c17 -Wall -Wextra -Werror -I'%s/include' page.c -L'%s' -lfrix -lm -o page && "
                         "LD_LIBRARY_PATH='%s' ./page",
                         FRIX_SOURCE_DIR, FRIX_SOURCE_DIR, FRIX_BINARY_DIR, FRIX_BINARY_DIR);
  if (strstr(r.err, "san")) {
    fx_test_skip(t, "a sanitized library needs a sanitized program");
  } else if (r.code != 0 || !strstr(r.out, "p = 9, y = 3")) {
    fx_test_fail(t, __FILE__, __LINE__, "exit code %d: %s%s", r.code, r.out, r.err);
  }
  shell_free(&r);
}

const fx_test_row test_mcp_contact[] = {
    {"mcp/contact/every_cone", every_cone}, {"mcp/contact/solver_rows", solver_rows}, {"mcp/contact/files", files},
    {"mcp/mlcp/reader", mlcp_reader},       {"mcp/mlcp/broken", mlcp_broken},         {"mcp/verb/json", verb_json},
    {"mcp/verb/refusals", verb_refusals},   {"mcp/page_example", page_example},       {0},
};
