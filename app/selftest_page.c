/* The page of frix selftest, docs/physics.md: a table per group, remade by the command. It holds no times, so that the
 * same build writes the same page. */
#include "selftest.h"

#include <errno.h>
#include <string.h>

static const char head[] =
    "# Physics report card\n"
    "\n"
    "This page compares frix with closed-form solutions of mechanics, simulated with steps of 10, 4 and 1 ms. It is "
    "made by\n"
    "\n"
    "```sh\n"
    "./dev build\n"
    "build/frix selftest --markdown docs/physics.md\n"
    "```\n"
    "\n"
    "A row passes if every step is certified, the energy ledger closes, and the error stays below the bound of the row "
    "at every\n"
    "step size. `exact` rows hold at any step size, to rounding or to the width of a bisection. The errors of the "
    "other rows decrease\n"
    "with the step at the order shown, which is observed between 10 and 1 ms. If the recurrence of the time integrator "
    "has a known\n"
    "solution (marked *), the simulation must also agree with it to 1e-9, so that only the error of the time "
    "discretisation is left.\n"
    "The bar shows the number of correct digits at 1 ms, up to 12.\n";

/* Digits of the value at the smallest step that are correct; of a figure that should vanish, its digits behind the
 * point. */
static int digits_of(const fx_measured *m) {
  double scale = m->exact != 0 ? fabs(m->exact) : 1, error = m->error[FX_FORM_STEPS - 1] / scale;
  int digits = error > 0 ? (int)floor(-log10(error)) : 12;
  return digits < 0 ? 0 : digits > 12 ? 12 : digits;
}

/* A figure that should vanish is shown by its size alone: its digits are rounding. */
static void put_value(FILE *file, const fx_measured *m, double value) {
  if (m->exact != 0)
    fprintf(file, " %.7g |", value);
  else if (fabs(value) < 1e-15)
    fprintf(file, " 0 |");
  else
    fprintf(file, " %.0e |", value);
}

static void put_row(FILE *file, const fx_measured *m) {
  char order[32];
  fx_selftest_order(m, order, sizeof order);
  fprintf(file, "| `%s`%s | %s | `%s` | %.7g%s%s |", m->form->name, m->form->scheme ? " *" : "", m->form->about,
          m->form->formula, m->exact, m->form->unit[0] ? " " : "", m->form->unit);
  for (int k = 0; k < FX_FORM_STEPS; k++) put_value(file, m, m->value[k]);
  fprintf(file, " %s | ", order);
  for (int k = digits_of(m); k > 0; k--) fprintf(file, "▮");
  fprintf(file, " | %s |\n", m->passed ? "passed" : m->reason);
}

static void put_page(FILE *file, const fx_measured *all, int count) {
  int failed = 0;
  int64_t steps = 0;
  double residual = 0, ledger = 0;
  for (int k = 0; k < count; k++) {
    failed += !all[k].passed, steps += all[k].tally.steps;
    residual = fmax(residual, all[k].tally.residual), ledger = fmax(ledger, all[k].tally.ledger);
  }
  fprintf(file, "%s\n**%d of %d passed.** %lld steps; largest residual %.0e; the energy ledgers close to %.0e.\n", head,
          count - failed, count, (long long)steps, residual, ledger);
  int k = 0;
  for (int g = 0; fx_form_group_table(g); g++) {
    const fx_form_group *group = fx_form_group_table(g);
    for (bool first = true; k < count && all[k].form >= group->row && all[k].form < group->row + group->count; k++) {
      if (first)
        fprintf(file,
                "\n## %s\n\n| form | what is measured | formula | exact | 10 ms | 4 ms | 1 ms | order | digits | |\n"
                "|---|---|---|---|---|---|---|---|---|---|\n",
                group->name);
      first = false;
      put_row(file, &all[k]);
    }
  }
}

bool fx_selftest_page(frix_context *context, const char *path, const fx_measured *all, int count) {
  fx_output *output = fx_output_open(context, path);
  if (!output) return false;
  put_page(output->file, all, count);
  return fx_output_close(output, true);
}
