/* frix selftest: every closed form that frix claims, measured at three step sizes. */
#include "form.h"
#include "selftest.h"

#include <stdlib.h>
#include <string.h>

/* ---- text */

void fx_selftest_order(const fx_measured *m, char *out, size_t size) {
  if (isnan(m->order))
    snprintf(out, size, "%s", m->passed ? "exact" : "-");
  else
    snprintf(out, size, "%.1f", m->order);
}

static const fx_column columns[] = {
    {"closed form", 22, true}, {"exact", 12, false}, {"10 ms", 12, false}, {"4 ms", 12, false},
    {"1 ms", 12, false},       {"order", 5, false},  {"", 6, true},        {"", 0, true}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void print_row(const fx_measured *m) {
  fx_cell cell[COLUMNS];
  char order[32];
  fx_selftest_order(m, order, sizeof order);
  fx_cell_set(&cell[0], FX_BOLD, "%s", m->form->name);
  fx_cell_set(&cell[1], FX_PLAIN, "%.7g", m->exact);
  for (int k = 0; k < FX_FORM_STEPS; k++) fx_cell_set(&cell[2 + k], FX_PLAIN, "%.7g", m->value[k]);
  fx_cell_set(&cell[5], FX_PLAIN, "%s", order);
  fx_cell_set(&cell[6], m->passed ? FX_GREEN : FX_RED, "%s", m->passed ? "passed" : "FAILED");
  fx_cell_set(&cell[7], m->passed ? FX_DIM : FX_RED, "%s", m->passed ? m->form->formula : m->reason);
  fx_table_row(columns, cell, COLUMNS);
}

/* ---- JSON */

static void put_row(fx_json *json, const fx_measured *m) {
  fx_put_open(json, NULL, '{');
  fx_put_text(json, "name", m->form->name);
  fx_put_text(json, "about", m->form->about);
  fx_put_text(json, "formula", m->form->formula);
  fx_put_text(json, "unit", m->form->unit);
  fx_put_real(json, "exact", m->exact);
  fx_put_open(json, "steps", '[');
  for (int k = 0; k < FX_FORM_STEPS; k++) {
    fx_put_open(json, NULL, '{');
    fx_put_real(json, "h", fx_form_step[k]);
    fx_put_real(json, "value", m->value[k]);
    fx_put_real(json, "error", m->error[k]);
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
  fx_put_real(json, "order", m->order);
  fx_put_real(json, "solver_error", m->solver);
  fx_put_integer(json, "steps_taken", m->tally.steps);
  fx_put_integer(json, "not_certified", m->tally.uncertified);
  fx_put_real(json, "worst_residual", m->tally.residual);
  fx_put_real(json, "ledger_gap", m->tally.ledger);
  fx_put_real(json, "cpu_seconds", m->seconds);
  fx_put_boolean(json, "passed", m->passed);
  fx_put_text(json, "reason", m->reason);
  fx_put_close(json, '}');
}

static void put_all(const fx_measured *all, const char *law, int count, int failed) {
  fx_json json = {.file = stdout};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "version", frix_version());
  fx_put_text(&json, "contact", law);
  fx_put_integer(&json, "count", count);
  fx_put_integer(&json, "failed", failed);
  fx_put_open(&json, "forms", '[');
  for (int k = 0; k < count; k++) put_row(&json, &all[k]);
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

/* ---- the verb */

/* Whether a row was asked for: by its name or the beginning of it, by its group, or with all. */
static bool chosen(const fx_args *args, const fx_form_group *group, const fx_form *form) {
  for (int w = 0; w < args->word_count; w++)
    if (!strcmp(args->word[w], group->name) || !strncmp(args->word[w], form->name, strlen(args->word[w]))) return true;
  return args->word_count == 0;
}

/* Words that name nothing; false after a message. */
static bool check_words(const fx_args *args) {
  for (int w = 0; w < args->word_count; w++) {
    const fx_args one = {.word = args->word + w, .word_count = 1};
    bool found = false;
    for (int g = 0; fx_form_group_table(g); g++)
      for (int k = 0; k < fx_form_group_table(g)->count; k++)
        found = found || chosen(&one, fx_form_group_table(g), &fx_form_group_table(g)->row[k]);
    if (!found) fx_choose("@forms", "closed form", args->word[w]);
    if (!found) return false;
  }
  return true;
}

static int measure_chosen(const fx_args *args, bool print, fx_measured *out, int *failed) {
  const char *law = fx_arg(args, "--contact");
  int count = 0;
  for (int g = 0; fx_form_group_table(g); g++)
    for (int k = 0; k < fx_form_group_table(g)->count && !fx_interrupted(NULL); k++) {
      const fx_form *form = &fx_form_group_table(g)->row[k];
      if (!chosen(args, fx_form_group_table(g), form)) continue;
      fx_progress("%s", form->name);
      fx_form under = *form;
      under.stiff = law && !strcmp(law, "stiff");
      out[count] = fx_form_measure(&under);
      out[count].form = form;
      fx_progress_clear();
      if (print) print_row(&out[count]);
      *failed += !out[count++].passed;
    }
  return count;
}

static int run_selftest(const fx_args *args) {
  const char *page = fx_arg(args, "--markdown"), *law = fx_arg(args, "--contact");
  bool json = fx_arg(args, "--json") != NULL;
  int rows = 0, failed = 0;
  frix_context *context = NULL;
  if (!check_words(args) || frix_context_create(NULL, &context) != FRIX_OK) return FX_EXIT_USAGE;
  if (!fx_check_output(context, page)) {
    frix_context_destroy(context);
    return FX_EXIT_USAGE;
  }
  while (fx_form_table(rows)) rows++;
  fx_measured *all = fx_grow(NULL, (size_t)rows, sizeof *all);
  fx_column head[COLUMNS];
  memcpy(head, columns, sizeof head);
  if (!json) fx_table_header(head, COLUMNS);
  fx_catch_interrupt();
  int count = measure_chosen(args, !json, all, &failed);
  int64_t steps = 0;
  double seconds = 0;
  for (int k = 0; k < count; k++) steps += all[k].tally.steps, seconds += all[k].seconds;
  if (json)
    put_all(all, law ? law : "rigid", count, failed);
  else
    printf("%d of %d closed forms passed, %s contact; %lld steps, %.1f s of processor time\n", count - failed, count,
           law ? law : "rigid", (long long)steps, seconds);
  bool good = !fx_interrupted(NULL);
  if (!good) fx_error("interrupted");
  bool written = !page || !good || fx_selftest_page(context, page, all, count);
  frix_context_destroy(context);
  free(all);
  return !written ? FX_EXIT_USAGE : failed || !good ? FX_EXIT_UNSOLVED : FX_EXIT_SOLVED;
}

static const fx_flag flags[] = {
    {"--contact", "LAW", "@contacts", "law of contact, rigid (default) or stiff"},
    {"--json", NULL, NULL, "print one JSON object"},
    {"--markdown", "FILE", NULL, "write the report as a page with charts of the errors (docs/physics.md)"},
    {0},
};

const fx_verb fx_verb_selftest = {
    .name = "selftest",
    .arguments = "[NAME...]",
    .summary = "compare simulations with closed-form solutions at three step sizes",
    .detail =
        "Simulates each closed-form solution with steps of 10, 4 and 1 ms and compares it with the exact value. A row "
        "passes\n"
        "if every step is certified, the energy ledger closes, and the errors stay below the bound of the row: exact "
        "at any\n"
        "step size, or decreasing with the step at the order of the method. The bounds hold for rigid contact; stiff "
        "contact\n"
        "sags by g h^2 / 25 and exceeds several of them (--contact stiff shows by how much). NAME is a row, the "
        "beginning of a\n"
        "name, or a group (slide, roll, impact, stand, motion). Exit code 0 if all pass, 1 if one fails.",
    .example =
        "  frix selftest\n"
        "  frix selftest puck slope-limit\n"
        "  frix selftest --contact stiff slide\n"
        "  frix selftest --json stand\n"
        "  frix selftest --markdown physics.md",
    .flag = flags,
    .words = "@forms",
    .max_words = 1 << 10,
    .run = run_selftest,
};
