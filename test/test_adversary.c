/* The adversary in the suite: defects that were found once, worlds that were kept, and a few random ones of each class.
 *
 * No certified step may break a law. What is known to do so stands in a list by name; what is on it and does not any
 * more fails too, so that the list only shrinks. */
#include "adversary/properties.h"
#include "adversary/trials.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const known_named[] = {NULL};

static bool is_listed(const char *const *list, const char *name) {
  for (; *list; list++)
    if (!strcmp(*list, name)) return true;
  return false;
}

static void run_named(fx_test *t) {
  int wrong = 0, count = 0;
  for (int k = 0; named_case_at(k); k++, count++) {
    const named_case *c = named_case_at(k);
    tally sum = {0};
    finding f;
    c->run(&sum, &f, NULL);
    CHECK(t, sum.steps > 0);
    bool known = is_listed(known_named, c->name);
    if (sum.wrong && !known) fx_test_fail(t, __FILE__, __LINE__, "%s: certified and wrong: %s", c->name, f.text);
    if (!sum.wrong && known) fx_test_fail(t, __FILE__, __LINE__, "%s is right now: take it off the list", c->name);
    wrong += sum.wrong > 0;
  }
  fx_test_note(t, "%d cases, %d certified and wrong", count, wrong);
}

/* A solver and the step move a tree alike, also where its root is light: all steps are certified. */
static void light_root(fx_test *t) {
  for (int k = 0; named_case_at(k); k++) {
    tally sum = {0};
    finding f;
    if (strcmp(named_case_at(k)->name, "light_root") != 0) continue;
    named_case_at(k)->run(&sum, &f, NULL);
    CHECK(t, sum.steps == 18 && sum.certified == sum.steps && sum.wrong == 0);
  }
}

/* Under both laws of contact. */
static void named(fx_test *t) {
  for (int k = 0; k < 2; k++) {
    world_contact = k ? FRIX_CONTACT_KIND_STIFF : FRIX_CONTACT_KIND_RIGID;
    run_named(t);
  }
  world_contact = FRIX_CONTACT_KIND_RIGID;
}

/* ---- kept worlds ---- */

/* Worlds of a file, a line each: class, seed, index, law. known: each still breaks this law; else none breaks any. */
static void run_kept(fx_test *t, const char *file, bool known) {
  char line[200], name[64], which[32];
  unsigned long long seed, index;
  int count = 0;
  FILE *in = fopen(file, "r");
  REQUIRE(t, in != NULL);
  while (fgets(line, sizeof line, in)) {
    if (line[0] == '#' || line[0] == '\n') continue;
    tally sum = {0};
    finding f;
    const world_class *c = NULL;
    bool good = sscanf(line, "%63s %llu %llu %31s", name, &seed, &index, which) == 4 && (c = world_class_find(name));
    if (!good) fx_test_fail(t, __FILE__, __LINE__, "%s: cannot read '%s'", file, line);
    if (!good) continue;
    run_case(c, seed, index, &sum, &f, NULL);
    count++;
    bool broken = false;
    for (int k = 0; k < LAW_COUNT; k++) broken |= sum.law[k] > 0 && (!known || !strcmp(which, law_name((law)k)));
    if (broken && !known) fx_test_fail(t, __FILE__, __LINE__, "%s %llu %llu: %s", name, seed, index, f.text);
    if (!broken && known)
      fx_test_fail(t, __FILE__, __LINE__, "%s %llu %llu keeps its law (%s) now: move it to fixed.txt", name, seed,
                   index, which);
  }
  fclose(in);
  CHECK(t, known || count > 0);
  fx_test_note(t, "%d worlds", count);
}

/* Whether a world stands in known.txt with this law. */
static bool is_known(const char *name, uint64_t seed, uint64_t index, law broken) {
  char line[200], wanted[120];
  bool found = false;
  FILE *in = fopen(FRIX_SOURCE_DIR "/test/adversary/kept/known.txt", "r");
  snprintf(wanted, sizeof wanted, "%s %llu %llu %s\n", name, (unsigned long long)seed, (unsigned long long)index,
           law_name(broken));
  while (in && !found && fgets(line, sizeof line, in)) found = !strcmp(line, wanted);
  if (in) fclose(in);
  return found;
}

static void kept_fixed(fx_test *t) { run_kept(t, FRIX_SOURCE_DIR "/test/adversary/kept/fixed.txt", false); }
static void kept_known(fx_test *t) { run_kept(t, FRIX_SOURCE_DIR "/test/adversary/kept/known.txt", true); }

/* ---- random worlds ---- */

static void random_worlds(fx_test *t) {
  enum { STEPS = 120 };
  tally all = {0};
  for (int c = 0; world_class_at(c); c++) {
    tally sum = {0};
    for (uint64_t index = 0; sum.steps < STEPS && sum.worlds < 4 * STEPS; index++) {
      tally one = {0};
      finding f;
      run_case(world_class_at(c), 7, index, &one, &f, NULL);
      for (int k = 0; k < LAW_COUNT; k++)
        if (one.law[k] && !is_known(world_class_at(c)->name, 7, index, (law)k))
          fx_test_fail(t, __FILE__, __LINE__, "%s 7 %llu: certified, and breaks a law: %s", world_class_at(c)->name,
                       (unsigned long long)index, law_name((law)k));
      tally_add(&sum, &one);
    }
    CHECK(t, sum.certified > STEPS / 4);
    tally_add(&all, &sum);
  }
  fx_test_note(t, "%lld steps, %lld certified", (long long)all.steps, (long long)all.certified);
}

/* Steps solved to 1e-3 only, judged by 1e-8: the judge must see it in every class of worlds. */
static void notices(fx_test *t) {
  int64_t wrong = 0, certified = 0;
  world_tolerance = 1e-3;
  for (int c = 0; world_class_at(c); c++) {
    tally sum = {0};
    bool stepped = world_class_at(c)->fill && !world_class_at(c)->run;
    for (uint64_t index = 0; stepped && sum.wrong == 0 && index < 400; index++) {
      finding f;
      run_case(world_class_at(c), 11, index, &sum, &f, NULL);
    }
    if (stepped && !sum.wrong)
      fx_test_fail(t, __FILE__, __LINE__, "%s: nothing wrong in %lld steps", world_class_at(c)->name,
                   (long long)sum.certified);
    wrong += sum.wrong, certified += sum.certified;
  }
  world_tolerance = 0;
  fx_test_note(t, "%lld of %lld steps found wrong", (long long)wrong, (long long)certified);
}

/* ---- units ---- */

static void compare_class(fx_test *t, const world_class *c, units other, int worlds, int *steps) {
  for (int k = 0; k < worlds; k++) {
    comparison d;
    compare_units(c, 1, (uint64_t)k, other, &d);
    *steps += d.steps;
    if (d.step >= 0)
      fx_test_fail(t, __FILE__, __LINE__, "%s 1 %d in units 2^%d kg, 2^%d m, 2^%d s: step %d, residuals %.3g and %.3g",
                   c->name, k, ilogb(other.mass), ilogb(other.length), ilogb(other.time), d.step, d.residual[0],
                   d.residual[1]);
  }
}

static void unit_free(fx_test *t) {
  static const units other[] = {{0x1p20, 1, 1}, {1, 1, 0x1p-10}, {0x1p-30, 1, 0x1p7}, {1, 0x1p-17, 1}, {1, 0x1p10, 1}};
  int steps = 0;
  for (int k = 0; world_class_at(k); k++)
    for (int u = 0; u < 5 && !world_class_at(k)->extreme && world_class_at(k)->fill; u++) {
      world_patient = other[u].length != 1; /* methods weigh angles by lengths and take other ways */
      compare_class(t, world_class_at(k), other[u], world_patient ? 1 : 5, &steps);
    }
  world_patient = false;
  fx_test_note(t, "%d steps compared", steps);
}

/* ---- the last word of a step, on worlds of trees ---- */

/* The error of the worst row as frix_certify finds it in the problem of the step; -1: there is none. */
static double row_error_of(const world *w) {
  frix_problem *problem = NULL;
  frix_problem_data d;
  frix_certificate c = {.row_residual = -1};
  if (frix_sim_row_count(w->sim) == 0 || frix_sim_problem(w->sim, &problem) != FRIX_OK) return -1;
  frix_problem_view(problem, &d);
  double *r = calloc((size_t)(d.row_count + d.joint_count) + 1, sizeof *r);
  for (int k = 0, row = 0; k < frix_sim_row_count(w->sim); k++) {
    frix_row_report report;
    frix_sim_row(w->sim, k, &report);
    for (int i = 0; i < report.law.dim; i++) r[row++] = report.impulse[i];
  }
  if (frix_certify(w->context, problem, FRIX_LAW_COULOMB, r, r + d.row_count, &c, NULL, NULL) != FRIX_OK)
    c.row_residual = -1;
  frix_problem_destroy(problem);
  free(r);
  return c.row_residual;
}

/* A step judges its rows by itself, without a problem, as frix_certify does. */
static void last_word(fx_test *t) {
  int compared = 0;
  world_tolerance = 1e-3;
  for (uint64_t index = 0; index < 300; index++) {
    world w;
    world_open(&w, world_class_find(index % 2 ? "tree" : "tree_ratio"), 5, index, (units){1, 1, 1});
    for (int k = 0; w.sim && k < 3; k++) {
      frix_step_report r = {.size = sizeof r};
      if (frix_sim_step(w.sim, w.h, &r) != FRIX_OK) break;
      double error = row_error_of(&w), own = r.certificate.row_residual;
      if (!r.certified || strcmp(r.phase, "contacts") != 0 || w.config.restitution == FRIX_RESTITUTION_POISSON)
        continue;
      if (error < 1e-5 && own < 1e-5) continue;       /* impulses that are rounding are not reported */
      CHECK(t, own > 0.5 * error && own < 2 * error); /* both tangents of a tree count alike in a step */
      compared++;
    }
    world_close(&w);
  }
  world_tolerance = 0;
  CHECK(t, compared > 20);
  fx_test_note(t, "%d steps compared", compared);
}

const fx_test_row test_adversary[] = {
    {"adversary/named", named},      {"adversary/light_root", light_root}, {"adversary/kept", kept_fixed},
    {"adversary/known", kept_known}, {"adversary/random", random_worlds},  {"adversary/notices", notices},
    {"adversary/units", unit_free},  {"adversary/last_word", last_word},   {0},
};
