/* Closed forms: the table of `frix selftest`, row by row, and that a row which is wrong fails. */
#include "app/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

static void measure(fx_test *t, const char *name) {
  double seconds = 0, solver = 0;
  int rows = 0;
  for (int g = 0; fx_form_group_table(g); g++) {
    const fx_form_group *group = fx_form_group_table(g);
    for (int k = 0; !strcmp(group->name, name) && k < group->count; k++, rows++) {
      fx_measured m = fx_form_measure(&group->row[k]);
      if (!m.passed) fx_test_fail(t, __FILE__, __LINE__, "%s: %s", m.form->name, m.reason);
      seconds += m.seconds, solver = fmax(solver, m.solver);
    }
  }
  CHECK(t, rows >= 14);
  fx_test_note(t, "%d rows, %.1f s, at most %.0e from the scheme on paper", rows, seconds, solver);
}

static void slide(fx_test *t) { measure(t, "slide"); }
static void roll(fx_test *t) { measure(t, "roll"); }
static void impact(fx_test *t) { measure(t, "impact"); }
static void stand(fx_test *t) { measure(t, "stand"); }
static void motion(fx_test *t) { measure(t, "motion"); }

/* ---- a row that is wrong in any way fails and says why ---- */

static const fx_form *row_of(const char *name) {
  for (int k = 0; fx_form_table(k); k++)
    if (!strcmp(fx_form_table(k)->name, name)) return fx_form_table(k);
  return NULL;
}

static double nothing(const fx_form *form, double h, fx_tally *tally) {
  (void)form, (void)h, (void)tally;
  return NAN;
}

static double exact_but_loose(const fx_form *form, double h, fx_tally *tally) {
  (void)h;
  tally->steps = 10, tally->uncertified = 1;
  return form->exact(form);
}

static double exact_but_open(const fx_form *form, double h, fx_tally *tally) {
  (void)h;
  tally->ledger = NAN;
  return form->exact(form);
}

static double exact_but_broken(const fx_form *form, double h, fx_tally *tally) {
  (void)h;
  snprintf(tally->failure, sizeof tally->failure, "it fell over");
  return form->exact(form);
}

/* Off by a part of 1e-3 of the step, at every step size. */
static double too_coarse(const fx_form *form, double h, fx_tally *tally) {
  (void)tally;
  return form->exact(form) + 1e-3 * h;
}

static double off_by_little(const fx_form *form, double h) {
  return form->scheme == NULL ? h : form->exact(form) + 1e-6;
}

static void check_wrong(fx_test *t, fx_form form, const char *reason) {
  fx_measured m = fx_form_measure(&form);
  CHECK(t, !m.passed);
  if (!strstr(m.reason, reason)) fx_test_fail(t, __FILE__, __LINE__, "'%s' is not in '%s'", reason, m.reason);
}

static void wrong_rows(fx_test *t) {
  const fx_form *row = row_of("skid-sphere");
  REQUIRE(t, row && !row->scheme && row->slope == 0);
  fx_form form = *row;
  form.run = nothing;
  check_wrong(t, form, "off by");
  form.run = exact_but_loose;
  check_wrong(t, form, "1 of 10 steps not certified");
  form.run = exact_but_open;
  check_wrong(t, form, "ledger");
  form.run = exact_but_broken;
  check_wrong(t, form, "it fell over");
  form.run = too_coarse;
  check_wrong(t, form, "off by");
  form.order = 1, form.slope = 2e-3; /* now the bound allows it */
  CHECK(t, fx_form_measure(&form).passed);
  CHECK_NEAR(t, fx_form_measure(&form).order, 1, 1e-6);
  form = *row, form.scheme = off_by_little;
  check_wrong(t, form, "on paper");
  form = *row, form.part = 0.41; /* both sides of the comparison follow it */
  CHECK(t, fx_form_measure(&form).passed);
}

static void names_differ(fx_test *t) {
  int count = 0;
  for (; fx_form_table(count); count++)
    for (int k = 0; k < count; k++) CHECK(t, strcmp(fx_form_table(k)->name, fx_form_table(count)->name) != 0);
  CHECK(t, count >= 75);
  CHECK(t, !fx_form_table(-1) && !fx_form_table(count));
}

/* ---- the command ---- */

static void command(fx_test *t) {
  shell_result r = shell(t, "$frix selftest slope-creep throw --json --markdown page.md");
  CHECK(t, r.code == 0 && shell_json(r.out));
  CHECK(t, strstr(r.out, "\"throw-variational\"") && strstr(r.out, "\"failed\": 0") && !strstr(r.out, "\"puck-time\""));
  shell_free(&r);
  r = shell(t, "cat page.md");
  CHECK(t, strstr(r.out, "**4 of 4 passed.**") && strstr(r.out, "| `throw` * |"));
  shell_free(&r);
  r = shell(t, "$frix selftest slope-crep");
  CHECK(t, r.code == 2 && strstr(r.err, "did you mean 'slope-creep'"));
  shell_free(&r);
  r = shell(t, "$frix selftest slope-creep --markdown nowhere/page.md");
  CHECK(t, r.code == 2 && !r.out[0]);
  shell_free(&r);
}

/* docs/physics.md is remade by hand: at least it must know every row. */
static void page(fx_test *t) {
  char *text = shell_read(FRIX_SOURCE_DIR "/docs/physics.md");
  int passed = 0;
  for (int k = 0; fx_form_table(k); k++) {
    char cell[64];
    snprintf(cell, sizeof cell, "| `%s`", fx_form_table(k)->name);
    if (!strstr(text, cell))
      fx_test_fail(t, __FILE__, __LINE__, "docs/physics.md has no %s: frix selftest --markdown docs/physics.md",
                   fx_form_table(k)->name);
  }
  for (const char *p = text; (p = strstr(p, "| passed |")); p++) passed++;
  int count = 0;
  while (fx_form_table(count)) count++;
  CHECK(t, passed == count);
  free(text);
}

const fx_test_row test_closed_forms[] = {
    {"closed_forms/slide", slide},
    {"closed_forms/roll", roll},
    {"closed_forms/impact", impact},
    {"closed_forms/stand", stand},
    {"closed_forms/motion", motion},
    {"closed_forms/wrong_rows", wrong_rows},
    {"closed_forms/names_differ", names_differ},
    {"closed_forms/command", command},
    {"closed_forms/page", page},
    {0},
};
