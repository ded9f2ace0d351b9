/* frix reproduce: figures and tables of the documents frix is built from, made again. */
#include "reproduce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef FRIX_HAVE_EXAMPLES
extern const fx_reproduction fx_reproduce_painleve, fx_reproduce_balls;
#endif

static const fx_reproduction *const rows[] = {
#ifdef FRIX_HAVE_EXAMPLES
    &fx_reproduce_painleve,
    &fx_reproduce_balls,
#endif
    NULL,
};

const fx_reproduction *fx_reproduction_table(int k) {
  return k >= 0 && k < (int)(sizeof rows / sizeof rows[0]) ? rows[k] : NULL;
}

bool fx_reproduce_options(const fx_reproduce_settings *settings, frix_context *context, frix_options **out) {
  bool good = frix_options_create(context, out) == FRIX_OK;
  int cursor = 0;
  for (const char *text; good && (text = fx_arg_next(settings->args, "--set", &cursor));) {
    char *key = NULL;
    const char *value = NULL;
    if (!fx_split_setting(text, &key, &value)) return false;
    good = frix_options_set(*out, key, value) == FRIX_OK;
    free(key);
  }
  if (!good) fx_error("%s", frix_error_text(context));
  return good;
}

FILE *fx_reproduce_open(const fx_reproduce_settings *settings, const char *name) {
  char *folder = fx_join(settings->out, "/"), *path = fx_join(folder, name);
  FILE *file = fopen(path, "w");
  if (!file) fx_error("%s: cannot write: %s", path, strerror(errno));
  free(folder);
  free(path);
  return file;
}

bool fx_reproduce_close(FILE *file, const char *name) {
  bool good = !ferror(file);
  if (fclose(file) == 0 && good) return true;
  fx_error("%s: cannot write: %s", name, strerror(errno));
  return false;
}

static void print_rows(void) {
  fx_column column[] = {{"name", 18, true}, {"", 0, true}};
  fx_table_header(column, 2);
  for (int k = 0; fx_reproduction_table(k); k++) {
    fx_cell cell[2];
    fx_cell_set(&cell[0], FX_BOLD, "%s", fx_reproduction_table(k)->name);
    fx_cell_set(&cell[1], FX_PLAIN, "%s; --size: %s", fx_reproduction_table(k)->summary,
                fx_reproduction_table(k)->size);
    fx_table_row(column, cell, 2);
  }
}

static int run_reproduce(const fx_args *args) {
  if (args->word_count == 0) {
    print_rows();
    return FX_EXIT_SOLVED;
  }
  fx_reproduce_settings settings = {.args = args, .out = fx_arg(args, "--out"), .solver = fx_arg(args, "--solver")};
  int k = fx_choose("@reproductions", "reproduction", args->word[0]);
  if (k < 0 || (settings.solver && !fx_find_solver(settings.solver))) return FX_EXIT_USAGE;
  if (!fx_arg_real(args, "--tol", 1e-300, 1, &settings.tolerance)) return FX_EXIT_USAGE;
  if (!fx_arg_integer(args, "--size", 1, 2000, &settings.size)) return FX_EXIT_USAGE;
  if (!settings.out) settings.out = ".";
  struct stat status;
  if (mkdir(settings.out, 0777) != 0 && (stat(settings.out, &status) != 0 || !S_ISDIR(status.st_mode))) {
    fx_error("%s: cannot create the directory: %s", settings.out, strerror(errno));
    return FX_EXIT_USAGE;
  }
  fx_catch_interrupt();
  return fx_reproduction_table(k)->run(&settings);
}

static const fx_flag flags[] = {
    {"--out", "DIR", NULL, "directory for the files; default: this one"},
    {"--solver", "NAME", "@solvers", "the method; default: the document's"},
    {"--set", "k=v", NULL, "an option of the method; see frix list solvers; may be repeated"},
    {"--tol", "X", NULL, "relative residual to reach; default: the document's"},
    {"--size", "N", NULL, "grid points along an edge, or runs per condition; default: the document's"},
    {0},
};

const fx_verb fx_verb_reproduce = {
    .name = "reproduce",
    .arguments = "[NAME]",
    .summary = "make figures and tables of the documents again",
    .detail =
        "Without a name the reproductions are listed. Each writes CSV files with everything it measured and, where\n"
        "there is something to see, SVG pictures. Exit code 0 when everything was measured: that a method fails\n"
        "where its document says so is a result.",
    .example =
        "  frix reproduce painleve-domains --out painleve\n"
        "  frix reproduce painleve-domains --solver nsgs --size 41 --out painleve-nsgs\n"
        "  frix reproduce balls-in-cube --out balls",
    .flag = flags,
    .words = "@reproductions",
    .max_words = 1,
    .run = run_reproduce,
};
