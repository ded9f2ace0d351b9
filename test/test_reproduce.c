/* Painleve's rod against its closed form, and the command that makes the documents' figures again. */
#include "answer.h"
#include "examples/trig.h"
#include "shell.h"

#include <stdio.h>

static bool has_solver(const char *name) {
  for (int k = 0; frix_solver_table(k); k++)
    if (!strcmp(frix_solver_table(k)->name, name)) return true;
  return false;
}

/* W = [1 c; c 1], q = -(p_y, p_x s + p_y c); opens where p_y <= 0, else sticks iff p lies in the friction cone. Where
 * the cone reaches below p_y = 0 (mu |c| > 1) sticking would be a second answer: nothing is tried first. */
static void painleve(fx_test *t) {
  double worst = 0;
  for (int angle = 10; angle <= 170; angle += 20)
    for (int k = 0; k < 24; k++) {
      double s, c, direction[2], mu = 0.3 + 0.4 * (k % 4);
      ex_sincos(angle, &s, &c);
      ex_sincos(15.0 * k + 7, &direction[1], &direction[0]);
      double value[4] = {angle, mu, direction[0], direction[1]};
      answer a;
      if (!answer_example(t, &a, "painleve", value, 1e-10)) return answer_free(&a);
      frix_problem *reduced = NULL;
      frix_problem_data d;
      REQUIRE(t, frix_problem_reduce(a.problem, &reduced) == FRIX_OK);
      frix_problem_view(reduced, &d);
      double q[2] = {-direction[1], -(direction[0] * s + direction[1] * c)}, W[4] = {1, c, c, 1};
      for (int e = 0; e < 4 && d.W.p[2] == 4; e++) worst = fmax(worst, fabs(d.W.x[e] - W[e]));
      for (int e = 0; e < 2; e++) worst = fmax(worst, fabs(d.q[e] - q[e]));
      double tangential = direction[0] / s, normal = direction[1] - c * tangential;
      bool sticks = direction[1] > 0 && fabs(tangential) < mu * normal;
      if (direction[1] < 0) CHECK(t, a.result.r[0] == 0);
      if (sticks) CHECK_NEAR(t, fabs(a.result.u[0]) + fabs(a.result.u[1]), 0, 1e-9);
      if (!sticks && direction[1] > 0) CHECK(t, fabs(a.result.u[1]) > 1e-9);
      frix_problem_destroy(reduced);
      answer_free(&a);
    }
  CHECK(t, worst < 1e-13);
}

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (; (text = strstr(text, part)); text += strlen(part)) count++;
  return count;
}

static char *read_output(fx_test *t, const char *folder, const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return shell_read(fx_test_scratch(t, path));
}

static void domains(fx_test *t) {
  shell_result r = shell(t, "$frix reproduce painleve-domains --size 9 --solver implicit --out out");
  CHECK(t, r.code == 0 && strstr(r.out, " 0 not solved") && !r.err[0]);
  shell_free(&r);
  static const int panels[] = {12, 6, 6, 6, 8, 8, 8};
  for (int k = 0; k < 7; k++) {
    char name[64];
    snprintf(name, sizeof name, "painleve-6.%d.svg", k + 2);
    char *svg = read_output(t, "out", name);
    CHECK(t, !strncmp(svg, "<svg ", 5) && strstr(svg, "</svg>\n") && count_of(svg, "<image ") == panels[k]);
    CHECK(t, !strstr(svg, "nan") && !strstr(svg, "inf"));
    free(svg);
  }
  char *csv = read_output(t, "out", "painleve.csv"), *flip = read_output(t, "out", "painleve-switch.csv");
  CHECK(t, shell_lines(csv) == 1 + (12 + 18 + 12) * 9 * 6);
  CHECK(t, shell_lines(flip) == 1 + 4 * 48);
  free(csv);
  free(flip);
}

/* Plain staggered projections: inside the cone harder than outside below mu = |cos(angle)|, easier above; the sticking
 * region converges for every mu, the sliding one no longer when mu |cos(angle)| > 1. */
static void domain_switch(fx_test *t) {
  if (!has_solver("staggered")) return fx_test_skip(t, "no solver staggered in this build");
  shell_result r = shell(t, "$frix reproduce painleve-domains --size 3 --out out");
  CHECK(t, r.code == 0);
  shell_free(&r);
  char *csv = read_output(t, "out", "painleve-switch.csv");
  int rows = 0;
  for (char *line = strtok(csv, "\n"); line; line = strtok(NULL, "\n")) {
    double angle, cosine, mu, inside, outside;
    if (sscanf(line, "%lf,%lf,%lf,%lf,%lf", &angle, &cosine, &mu, &inside, &outside) != 5) continue;
    rows++;
    cosine = fabs(cosine);
    CHECK(t, !(inside > 200));
    if (mu < 0.8 * cosine) CHECK(t, !(inside <= outside));
    if (mu > 1.2 * cosine) CHECK(t, !(inside >= outside));
    if (mu * cosine > 1.1) CHECK(t, outside > 300);
  }
  CHECK(t, rows == 4 * 48);
  free(csv);
}

static void balls(fx_test *t) {
  shell_result r = shell(t, "$frix reproduce balls-in-cube --size 1 --tol 1e-6 --out out && $frix reproduce");
  CHECK(t, r.code == 0 && strstr(r.out, "warm") && strstr(r.out, "painleve-domains"));
  char *csv = read_output(t, "out", "balls.csv");
  CHECK(t, shell_lines(csv) == 1 + 24);
  free(csv);
  shell_free(&r);
}

static void refused(fx_test *t) {
  static const char *const command[][2] = {{"$frix reproduce painleve", "did you mean 'painleve-domains'"},
                                           {"$frix reproduce painleve-domains --solver nsg", "did you mean 'nsgs'"},
                                           {"$frix reproduce painleve-domains --size 0", "--size"},
                                           {"$frix reproduce balls-in-cube --set implicit.x=1", "implicit"},
                                           {"touch file && $frix reproduce balls-in-cube --out file", "file"}};
  for (size_t k = 0; k < sizeof command / sizeof *command; k++) {
    shell_result r = shell(t, "%s", command[k][0]);
    if (r.code != 2 || !strstr(r.err, command[k][1]) || shell_lines(r.err) != 1)
      fx_test_fail(t, __FILE__, __LINE__, "%s: exit code %d, %s", command[k][0], r.code, r.err);
    shell_free(&r);
  }
}

const fx_test_row test_reproduce[] = {
    {"reproduce/painleve", painleve}, {"reproduce/domains", domains}, {"reproduce/domain_switch", domain_switch},
    {"reproduce/balls", balls},       {"reproduce/refused", refused}, {0},
};
