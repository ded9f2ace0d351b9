/* frix example: write a generated contact problem to a file. */
#include "app.h"

#include <stdlib.h>
#include <string.h>

#ifdef FRIX_HAVE_EXAMPLES
#include "examples/examples.h"

/* One --set name=value into its place among the values; false after a message. */
static bool set_parameter(const frix_example *e, const char *setting, double *value) {
  char *key = NULL;
  const char *text = NULL;
  if (!fx_split_setting(setting, &key, &text)) return false;
  char all[1024] = "";
  for (int32_t p = 0; p < e->parameter_count; p++) {
    size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s", used ? "|" : "", e->parameter[p].name);
  }
  int k = fx_choose(all[0] ? all : NULL, "parameter", key);
  free(key);
  if (k < 0) return false;
  const frix_example_parameter *row = &e->parameter[k];
  char *end = NULL;
  double number = strtod(text, &end);
  if (end == text || *end || !(number >= row->minimum && number <= row->maximum)) {
    fx_error("%s '%s' is not a number between %g and %g", row->name, text, row->minimum, row->maximum);
    return false;
  }
  value[k] = number;
  return true;
}

static int write_example(const frix_example *e, const double *value, const char *out) {
  frix_context *context = fx_context(false);
  frix_problem *problem = NULL;
  bool good = fx_check_output(context, out), written = false;
  if (good)
    written = e->build(context, value, &problem) == FRIX_OK && frix_problem_write(problem, out, NULL) == FRIX_OK;
  if (good && !written) fx_error("%s", frix_error_text(context));
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  return written ? FX_EXIT_SOLVED : FX_EXIT_USAGE;
}

static int run_example(const fx_args *args) {
  const char *out = fx_arg(args, "--out");
  int k = fx_choose("@examples", "example", args->word[0]);
  if (k < 0) return FX_EXIT_USAGE;
  if (!out) {
    fx_error("example needs --out FILE (.json, .dat, .hdf5)");
    return FX_EXIT_USAGE;
  }
  const frix_example *e = frix_example_table(k);
  double *value = fx_grow(NULL, (size_t)e->parameter_count, sizeof *value);
  for (int32_t p = 0; p < e->parameter_count; p++) value[p] = e->parameter[p].initial;
  bool good = true;
  int cursor = 0;
  for (const char *setting; good && (setting = fx_arg_next(args, "--set", &cursor));)
    good = set_parameter(e, setting, value);
  int code = good ? write_example(e, value, out) : FX_EXIT_USAGE;
  free(value);
  return code;
}
#else
static int run_example(const fx_args *args) {
  fx_error("example '%s': this build has no examples", args->word[0]);
  return FX_EXIT_USAGE;
}
#endif

static const fx_flag flags[] = {
    {"--set", "k=v", NULL, "set a parameter of the example (see frix list examples); may be repeated"},
    {"--out", "FILE", NULL, "file to write; the extension chooses the format"},
    {0},
};

const fx_verb fx_verb_example = {
    .name = "example",
    .arguments = "NAME --out FILE",
    .summary = "write a generated contact problem",
    .detail = "'frix list examples' shows the names, the parameters and their ranges.",
    .example =
        "  frix example slope --set angle=20 --out slope.json\n"
        "  frix example cardhouse --set levels=3 --out cards.hdf5",
    .flag = flags,
    .words = "@examples",
    .min_words = 1,
    .max_words = 1,
    .run = run_example,
};
