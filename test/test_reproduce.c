/* Painleve's rod against its closed form, and the command that makes the documents' figures again. */
#include "answer.h"
#include "examples/degrees.h"
#include "shell.h"

#include <math.h>
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
  CHECK(t, r.code == 0 && strstr(r.out, "not solved within 500 iterations") && !r.err[0]);
  shell_free(&r);
  static const int panels[] = {12, 6, 6, 6, 8, 8, 8};
  for (int k = 0; k < 7; k++) {
    char name[64];
    snprintf(name, sizeof name, "painleve-domains-6.%d.svg", k + 2);
    char *svg = read_output(t, "out", name);
    CHECK(t, !strncmp(svg, "<svg ", 5) && strstr(svg, "</svg>\n") && count_of(svg, "<image ") == panels[k]);
    CHECK(t, !strstr(svg, "nan") && !strstr(svg, "inf"));
    free(svg);
  }
  char *csv = read_output(t, "out", "painleve-domains-maps.csv"),
       *flip = read_output(t, "out", "painleve-domains-switch.csv");
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
  char *csv = read_output(t, "out", "painleve-domains-switch.csv");
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

/* The fourth field (frix) of the line of a quantity; infinite where a method failed, NAN where there is no such line.
 */
static double measured(const char *csv, const char *quantity) {
  char head[300];
  snprintf(head, sizeof head, "\"%s\",", quantity);
  const char *line = strstr(csv, head);
  if (!line) return NAN;
  line += strlen(head);
  for (int field = 1; field < 3 && line; field++) line = strchr(line, ',') ? strchr(line, ',') + 1 : NULL;
  return !line ? NAN : !strncmp(line, "fails", 5) ? INFINITY : strtod(line, NULL);
}

/* Bands around what the quick forms measured. */
static const struct {
  const char *name, *quantity;
  double low, high;
} band[] = {
    {"grains-packing", "mu 0: packing fraction", 0.60, 0.66},
    {"grains-packing", "mu 1: packing fraction", 0.53, 0.60},
    {"grains-packing", "mu 0: coordination without rattlers", 5, 6.6},
    {"grains-packing", "mu 1: coordination without rattlers", 3.4, 4.8},
    {"grains-janssen", "mu_wall 0.5: load of the floor over the weight", 0.08, 0.25},
    {"grains-janssen", "mu_wall 0.5: K = D / (4 mu l)", 0.4, 1},
    {"grains-janssen", "mu_wall 0: load of the floor over the weight", 0.9, 1.1},
    {"grains-beverloo", "k, where W^(2/5) meets zero (published: 1 to 2)", 0.8, 2.2},
    {"grains-beverloo", "exponent of D - 1.4 d", 2.2, 2.8},
    {"grains-beverloo", "constant C (published: 0.55 to 0.65)", 0.35, 0.75},
    {"grains-collapse", "aspect 1: run-out without end", 1.2, 1.6},
    {"grains-collapse", "aspect 1: height left", 0.65, 0.95},
    {"grains-collapse", "slab of aspect 1, length of 10.5 grains: run-out", 1, 1.6},
    {"disc-table", "mu 0.1, exact, auto: certified residual", 0, 1e-8},
    {"disc-table", "mu 0.4, exact, auto: certified residual", 0, 1e-8},
    {"disc-table", "mu 0.2, LCP2, qp_active_set: normal velocity error", 0.03, 0.05},
    {"disc-table", "mu 0.8, LCP2, qp_active_set: normal velocity error", 0, 1e-9},
    {"disc-table", "mu 0.2, LCP0, lemke, 10,000 pivots: CPU time", 0, 5},
    {"disc-runs", "21 discs, LCP0 (lemke): steps certified to 1e-8, of 10", 10, 10},
    {"disc-runs", "21 discs, LCP1 (fixed_point): steps certified to 1e-8, of 10", 10, 10},
    {"disc-runs", "21 discs, exact (auto): steps certified to 1e-8, of 10", 10, 10},
    {"disc-runs", "55 discs, mu 0.2, exact: steps certified to 1e-8, of 3", 3, 3},
    {"hexapyramid", "corners 1, 3, 5 carry: violation of the complementarity problem", 0, 0},
    {"hexapyramid", "their average: violation of the complementarity problem", 0.00817, 0.00818},
    {"lemke-table", "36 bodies, mu 0.8: contacts", 92, 92},
    {"lemke-table", "36 bodies, mu 0.8, auto: CPU time", 0, 1},
    {"qp-convergence", "upright, mu 0.3, h = 0.1/2^0", 0.5, 1.5},
    {"qp-convergence", "lying, mu 0.3, h = 0.1/2^3", 0.0035, 0.0055},
    {"qp-convergence", "lying, mu 0.3: mean order", 1.5, 2.5},
    {"qp-convergence", "upright, mu 0.75, h = 0.1/2^0", 0.5, 0.8},
    {"qp-convergence", "upright, mu 0.75, h = 0.1/2^3", 0.015, 0.05},
    {"particles", "sliding, h = 0.01: highest float of the QP scheme", 0.017, 0.0187},
    {"particles", "sliding, LCP scheme: stopping distance (in the first column: closed form)", 0.66, 0.69},
    {"drift", "unstabilised: largest infeasibility in 4 s", 0.1, 0.3},
    {"drift", "stabilised, gamma = 1: largest infeasibility", 0.001, 0.06},
    {"drift", "stabilised: ratio for h and h/2 (O(h^2): 4)", 2.5, 5},
    {"ellipse", "steps certified to 1e-8, of 400", 100, 100},
    {"ellipse", "height of the centre after 4 s", 1.9, 4.1},
    {"painleve-rod", "h = 0.0001: least mu that stops the tip", 1.32, 1.334},
    {"painleve-rod", "mu 1.6, h = 0.0001: slip of the tip after one step", 0, 1e-8},
    {"segregation", "steps certified to 1e-6, of 20", 100, 100},
    {"correlation", "first peak: distance", 0.9, 1.1},
    {"pebbles", "125 pebbles: steps certified to 1e-5", 100, 100},
    {"mcp-library", "Harker, 8 models, auto: solved", 8, 8},
    {"mcp-library", "Scarf, sum of prices, box_trust_region: solved of 4", 4, 4},
    {"mcp-library", "control: worst objective", 0, 1e-10},
    {"scara", "sliding, box_trust_region: solved of 20", 100, 100},
    {"scara", "cone, box_trust_region: solved of 20", 100, 100},
    {"scara", "pyramid, box_trust_region: solved of 20", 100, 100},
    {"balls-in-cube", "cells of 12 above the document, warm start", 0, 0},
    {"balls-in-cube", "cells of 12 above the document, cold start", 0, 1},     /* of ten runs 0, of one not always */
    {"balls-in-cube", "cells of 12 above the document, sticking start", 0, 2}, /* the same */
    {"balls-in-cube", "iterations per step, mu 2, 15 balls, sticking start", 3, 6},
    {"balls-in-cube", "iterations per step, mu 2, 15 balls, cold start", 2, 5},
    {"balls-in-cube", "mean contacts, mu 0.1, 15 balls", 24, 30},
    {"ball-drop", "iterations in the step of the impact", 1, 1},
    {"bouncing-particle", "variational, h = 0.1: largest change of energy, 3 bounces", 0, 1e-12},
    {"bouncing-particle", "variational, h = 0.01: largest change of energy, 3 bounces", 0, 1e-12},
    {"bouncing-particle", "variational, h = 0.001: largest change of energy, 3 bounces", 0, 1e-12},
    {"oscillator", "frictionless plane, h = 0.001: largest change of energy", 0, 0.005},
    {"oscillator", "mu = 0.5, h = 0.001: energy left at the end", 0.4, 0.52},
    {"oscillator", "mu = 5, h = 0.001: energy left at the end", 0.4, 0.52},
    {"painleve-domains", "mu where sliding becomes harder than sticking, angle 36", 0.73, 0.89},
    {"bunny-drop", "degrees of freedom", 162, 162},
    {"bunny-drop", "coming to rest: steps certified to 0.0001, of 10", 100, 100},
    {"bunny-drop", "coming to rest: mean contacts", 15, 70},
    {"solver-comparison", "auto: solved of 3", 100, 100},
    {"solver-comparison", "staggered, accelerated: solved of 3", 100, 100},
    {"solver-comparison", "pgs (approximate): solved of 3", 0, 99},
    {"cardhouse", "four levels: largest displacement then", 0, 1e-9},
    {"cardhouse", "four levels, standing: steps certified to 1e-8, of 400", 100, 100},
    {"arch", "keystone struck: stands (1) or falls (0)", 1, 1},
    {"arch", "leg struck: stands (1) or falls (0)", 0, 0},
    {"arch", "leg struck: steps certified to 1e-8, of 300", 100, 100},
    {"stacks", "15 blocks, auto, 2 s: displacement", 0, 1e-9},
    {"stacks", "10 blocks, pgs (approximate, 100 iterations), 1 s: displacement", 1e-4, 1},
    {"staggered-tables", "card house, as published, warm: iterations", 1, 20},
    {"staggered-tables", "card house, auto, warm: solved to 1e-06 of 3", 100, 100},
    {"staggered-tables", "catenary arch, auto, warm: solved to 1e-06 of 3", 100, 100},
    {"loghouse", "auto, warm: solved of 3", 100, 100},
};

/* All of them in their quick forms: listed, written, and within the bands. */
static void quick(fx_test *t) {
  if (!has_solver("staggered")) return fx_test_skip(t, "no solver staggered in this build");
  shell_result r = shell(t, "$frix reproduce --all --quick --out out"), list = shell(t, "$frix reproduce --list");
  CHECK(t, r.code == 0 && !r.err[0] && list.code == 0);
  char *index = read_output(t, "out", "index.md");
  const char *last = "";
  char *csv = NULL;
  for (size_t k = 0; k < sizeof band / sizeof *band; k++) {
    if (strcmp(last, band[k].name) != 0) {
      char name[96];
      free(csv);
      snprintf(name, sizeof name, "%s.csv", band[k].name);
      csv = read_output(t, "out", name);
      snprintf(name, sizeof name, "%s.md", band[k].name);
      char *text = read_output(t, "out", name);
      CHECK(t, strstr(text, "| document | frix |") && strstr(text, "Made by `frix reproduce") && !strstr(text, "nan"));
      CHECK(t, strstr(list.out, band[k].name) && strstr(index, name));
      free(text);
      last = band[k].name;
    }
    double value = measured(csv, band[k].quantity);
    if (!(value >= band[k].low && value <= band[k].high))
      fx_test_fail(t, __FILE__, __LINE__, "%s, %s: %g is not in [%g, %g]", band[k].name, band[k].quantity, value,
                   band[k].low, band[k].high);
  }
  free(csv);
  free(index);
  shell_free(&list);
  shell_free(&r);
}

static void refused(fx_test *t) {
  static const char *const command[][2] = {{"$frix reproduce scara painleve", "did you mean 'painleve-rod'"},
                                           {"$frix reproduce painleve-domains --solver nsg", "did you mean 'nsgs'"},
                                           {"$frix reproduce painleve-domains --size 0", "--size"},
                                           {"$frix reproduce balls-in-cube --set implicit.x=1", "implicit"},
                                           {"$frix reproduce hexapyramid --size 3", "no --size"},
                                           {"$frix reproduce --all --size 3", "are for one"},
                                           {"$frix reproduce scara --all", "either names or --all"},
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
    {"reproduce/quick", quick},       {"reproduce/refused", refused}, {0},
};
