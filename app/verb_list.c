/* frix list: the tables of this build. A new row shows here, in the completion and in the suggestions by itself. */
#include "app.h"

#include <string.h>

#include "examples/scene.h"

#ifdef FRIX_HAVE_EXAMPLES
#include "examples/examples.h"
#endif

static const char *option_kind(frix_option_kind kind) {
  switch (kind) {
    case FRIX_OPTION_REAL: return "real";
    case FRIX_OPTION_INTEGER: return "integer";
    case FRIX_OPTION_BOOLEAN: return "boolean";
    case FRIX_OPTION_CHOICE: return "choice";
  }
  return "unknown";
}

/* ---- solvers */

static void option_default(const frix_option_info *o, char *out, size_t size) {
  if (o->kind == FRIX_OPTION_CHOICE) {
    fx_choice(o->choices, (int)o->initial, out, size);
  } else if (o->kind == FRIX_OPTION_BOOLEAN) {
    snprintf(out, size, "%s", o->initial != 0 ? "true" : "false");
  } else {
    snprintf(out, size, "%g", o->initial);
  }
}

/* One row "name  default  range  what it is"; no solver: a parameter of a scene. */
static void option_text(const char *solver, const frix_option_info *o) {
  char name[128], value[128], range[160];
  snprintf(name, sizeof name, "%s%s%s", solver ? solver : "", solver ? "." : "  ", o->name);
  option_default(o, value, sizeof value);
  if (o->kind == FRIX_OPTION_CHOICE) {
    snprintf(range, sizeof range, "%s", o->choices);
  } else if (o->kind == FRIX_OPTION_BOOLEAN) {
    snprintf(range, sizeof range, "true|false");
  } else {
    snprintf(range, sizeof range, "%g .. %g", o->minimum, o->maximum);
  }
  printf("  %-*s %-10s %-22s %s\n", solver ? 28 : 14, name, value, range, o->summary);
}

static void solvers_text(void) {
  fx_column column[] = {{"solver", 0, true}, {"laws", 19, true}, {"exactness", 11, true}, {"method", 0, true}};
  for (int k = 0; frix_solver_table(k); k++) {
    int width = fx_text_width(frix_solver_table(k)->name);
    if (column[0].width < width) column[0].width = width;
  }
  fx_table_header(column, 4);
  for (int k = 0; frix_solver_table(k); k++) {
    const frix_solver_info *s = frix_solver_table(k);
    fx_cell cell[4];
    fx_cell_set(&cell[0], FX_BOLD, "%s", s->name);
    fx_cell_set(&cell[1], FX_PLAIN, "%s%s%s", s->coulomb ? "coulomb" : "", s->coulomb && s->associated ? " " : "",
                s->associated ? "associated" : "");
    fx_cell_set(&cell[2], s->approximate ? FX_YELLOW : FX_PLAIN, "%s", s->approximate ? "approximate" : "exact");
    fx_cell_set(&cell[3], FX_PLAIN, "%s", s->summary);
    fx_table_row(column, cell, 4);
  }
  printf("\noptions, for --set name=value:\n");
  for (int k = 0; frix_solver_table(k); k++)
    for (int32_t o = 0; o < frix_solver_table(k)->option_count; o++)
      option_text(frix_solver_table(k)->name, &frix_solver_table(k)->option[o]);
}

static void options_json(fx_json *json, const char *key, const frix_option_info *row, int32_t count) {
  fx_put_open(json, key, '[');
  for (const frix_option_info *o = row; o < row + count; o++) {
    char value[128];
    option_default(o, value, sizeof value);
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "name", o->name);
    fx_put_text(json, "kind", option_kind(o->kind));
    fx_put_text(json, "default", value);
    fx_put_real(json, "minimum", o->minimum);
    fx_put_real(json, "maximum", o->maximum);
    if (o->choices) fx_put_text(json, "choices", o->choices);
    fx_put_text(json, "summary", o->summary);
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
}

static void solver_json(fx_json *json, const frix_solver_info *s) {
  fx_put_open(json, NULL, '{');
  fx_put_text(json, "name", s->name);
  fx_put_text(json, "summary", s->summary);
  fx_put_boolean(json, "approximate", s->approximate);
  fx_put_open(json, "laws", '[');
  if (s->coulomb) fx_put_text(json, NULL, "coulomb");
  if (s->associated) fx_put_text(json, NULL, "associated");
  fx_put_close(json, ']');
  fx_put_open(json, "cones", '[');
  for (int32_t c = 0; frix_cone_table(c); c++)
    if (s->cones >> c & 1) fx_put_text(json, NULL, frix_cone_table(c)->name);
  fx_put_close(json, ']');
  options_json(json, "options", s->option, s->option_count);
  fx_put_close(json, '}');
}

/* ---- cones, formats, examples: (name, note, summary) */

static void three_column(const char *title, const char *second,
                         const char *(*row)(int k, char *note, size_t size, const char **summary)) {
  fx_column column[] = {{title, 14, true}, {second, 16, true}, {"what it is", 0, true}};
  char note[128];
  const char *summary = NULL, *name;
  fx_table_header(column, 3);
  for (int k = 0; (name = row(k, note, sizeof note, &summary)); k++) {
    fx_cell cell[3];
    fx_cell_set(&cell[0], FX_BOLD, "%s", name);
    fx_cell_set(&cell[1], FX_PLAIN, "%s", note);
    fx_cell_set(&cell[2], FX_PLAIN, "%s", summary);
    fx_table_row(column, cell, 3);
  }
}

static const char *cone_row(int k, char *note, size_t size, const char **summary) {
  const frix_cone_info *cone = frix_cone_table(k);
  if (!cone) return NULL;
  int used = snprintf(note, size, "%d", (int)cone->min_dim);
  if (cone->max_dim != cone->min_dim) snprintf(note + used, size - (size_t)used, "..%d", (int)cone->max_dim);
  *summary = cone->summary;
  return cone->name;
}

static const char *format_row(int k, char *note, size_t size, const char **summary) {
  const frix_format_info *format = frix_format_table(k);
  if (!format) return NULL;
  snprintf(note, size, "%s%s", format->extension, format->available ? "" : " (off)");
  *summary = format->summary;
  return format->name;
}

static void cones_json(fx_json *json) {
  for (int32_t k = 0; frix_cone_table(k); k++) {
    const frix_cone_info *cone = frix_cone_table(k);
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "name", cone->name);
    fx_put_text(json, "summary", cone->summary);
    fx_put_integer(json, "min_dim", cone->min_dim);
    fx_put_integer(json, "max_dim", cone->max_dim);
    fx_put_close(json, '}');
  }
}

static void formats_json(fx_json *json) {
  for (int k = 0; frix_format_table(k); k++) {
    const frix_format_info *format = frix_format_table(k);
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "name", format->name);
    fx_put_text(json, "summary", format->summary);
    fx_put_text(json, "extension", format->extension);
    fx_put_boolean(json, "available", format->available);
    fx_put_close(json, '}');
  }
}

static void solvers_json(fx_json *json) {
  for (int k = 0; frix_solver_table(k); k++) solver_json(json, frix_solver_table(k));
}

#ifdef FRIX_HAVE_EXAMPLES
static void examples_text(void) {
  for (int k = 0; frix_example_table(k); k++) {
    const frix_example *e = frix_example_table(k);
    printf("%s%s%s: %s\n", fx_colour_on(FX_BOLD), e->name, fx_colour_off(), e->summary);
    for (int32_t p = 0; p < e->parameter_count; p++)
      printf("    %-14s %-8g %g .. %g   %s\n", e->parameter[p].name, e->parameter[p].initial, e->parameter[p].minimum,
             e->parameter[p].maximum, e->parameter[p].summary);
  }
}

static void examples_json(fx_json *json) {
  for (int k = 0; frix_example_table(k); k++) {
    const frix_example *e = frix_example_table(k);
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "name", e->name);
    fx_put_text(json, "summary", e->summary);
    fx_put_open(json, "parameters", '[');
    for (int32_t p = 0; p < e->parameter_count; p++) {
      fx_put_open(json, NULL, '{');
      fx_put_text(json, "name", e->parameter[p].name);
      fx_put_text(json, "summary", e->parameter[p].summary);
      fx_put_real(json, "default", e->parameter[p].initial);
      fx_put_real(json, "minimum", e->parameter[p].minimum);
      fx_put_real(json, "maximum", e->parameter[p].maximum);
      fx_put_close(json, '}');
    }
    fx_put_close(json, ']');
    fx_put_close(json, '}');
  }
}
#else
static void examples_text(void) { printf("no examples in this build\n"); }
static void examples_json(fx_json *json) { (void)json; }
#endif

/* ---- scenes */

static void scenes_text(void) {
  for (int k = 0; frix_scene_table(k); k++) {
    const frix_scene *s = frix_scene_table(k);
    printf("%s%s%s: %s (%g s in steps of %g s)\n", fx_colour_on(FX_BOLD), s->name, fx_colour_off(), s->summary, s->time,
           s->step);
    for (int32_t p = 0; p < s->parameter_count; p++) option_text(NULL, &s->parameter[p]);
  }
}

static void scenes_json(fx_json *json) {
  for (int k = 0; frix_scene_table(k); k++) {
    const frix_scene *s = frix_scene_table(k);
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "name", s->name);
    fx_put_text(json, "summary", s->summary);
    fx_put_real(json, "time", s->time);
    fx_put_real(json, "dt", s->step);
    fx_put_boolean(json, "stands", s->stands);
    options_json(json, "parameters", s->parameter, s->parameter_count);
    fx_put_close(json, '}');
  }
}

static void cones_text(void) { three_column("cone", "rows", cone_row); }
static void formats_text(void) { three_column("format", "extension", format_row); }

/* ---- the verb */

#define LISTS "solvers|cones|formats|examples|scenes"

static bool solves(int32_t row, const char *law) {
  const frix_solver_info *info = frix_solver_table(row);
  return strcmp(law, frix_law_name(FRIX_LAW_ASSOCIATED)) == 0 ? info->associated : info->coulomb;
}

static int run_list(const fx_args *args) {
  static const struct {
    void (*text)(void);
    void (*json)(fx_json *json);
  } lists[] = {{solvers_text, solvers_json},
               {cones_text, cones_json},
               {formats_text, formats_json},
               {examples_text, examples_json},
               {scenes_text, scenes_json}};
  int k = fx_choose(LISTS, "list", args->word[0]);
  if (k < 0) return FX_EXIT_USAGE;
  if (fx_arg(args, "--names")) {
    static const char *const table[] = {"@solvers", "@cones", "@formats", "@examples", "@scenes"};
    char name[128];
    const char *law = fx_arg(args, "--law");
    for (int n = 0; fx_choice(table[k], n, name, sizeof name); n++)
      if (!law || k != 0 || solves(n, law)) printf("%s\n", name);
    return FX_EXIT_SOLVED;
  }
  if (!fx_arg(args, "--json")) {
    lists[k].text();
    return FX_EXIT_SOLVED;
  }
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '[');
  lists[k].json(&json);
  fx_put_close(&json, ']');
  fx_put_end_line(&json);
  return FX_EXIT_SOLVED;
}

static const fx_flag flags[] = {{"--json", NULL, NULL, "print one JSON array"},
                                {"--names", NULL, NULL, "print only the names, one per line"},
                                {"--law", "LAW", "coulomb|associated", "with --names: only solvers for this law"},
                                {0}};

const fx_verb fx_verb_list = {
    .name = "list",
    .arguments = LISTS,
    .summary = "list the solvers, cones, formats, examples or scenes of this build",
    .detail = "Solvers are listed with their laws, whether they are approximate, and their options for --set.",
    .example =
        "  frix list solvers\n"
        "  frix list scenes\n"
        "  frix list formats --json",
    .flag = flags,
    .words = LISTS,
    .min_words = 1,
    .max_words = 1,
    .run = run_list,
};
