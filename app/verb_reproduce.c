/* frix reproduce: figures and tables of the documents frix is built from, made again. */
#include "reproduce.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

extern const fx_reproduction fx_reproduce_library, fx_reproduce_scara;
#ifdef FRIX_HAVE_EXAMPLES
extern const fx_reproduction fx_reproduce_disc_table, fx_reproduce_disc_runs, fx_reproduce_hexapyramid;
extern const fx_reproduction fx_reproduce_lemke, fx_reproduce_convergence, fx_reproduce_particles, fx_reproduce_drift;
extern const fx_reproduction fx_reproduce_ellipse, fx_reproduce_segregation, fx_reproduce_correlation;
extern const fx_reproduction fx_reproduce_pebbles, fx_reproduce_rod;
extern const fx_reproduction fx_reproduce_balls, fx_reproduce_ball_drop;
extern const fx_reproduction fx_reproduce_particle, fx_reproduce_oscillator, fx_reproduce_cardhouse, fx_reproduce_arch;
extern const fx_reproduction fx_reproduce_stacks, fx_reproduce_painleve, fx_reproduce_comparison, fx_reproduce_tables;
extern const fx_reproduction fx_reproduce_loghouse, fx_reproduce_bunnies, fx_reproduce_soft, fx_reproduce_weave;
extern const fx_reproduction fx_reproduce_soft_scenes;
extern const fx_reproduction fx_reproduce_packing, fx_reproduce_janssen, fx_reproduce_beverloo, fx_reproduce_collapse;
#endif

/* By document. */
static const fx_reproduction *const rows[] = {
#ifdef FRIX_HAVE_EXAMPLES
    &fx_reproduce_disc_table,
    &fx_reproduce_disc_runs,
    &fx_reproduce_hexapyramid,
    &fx_reproduce_lemke,
    &fx_reproduce_convergence,
    &fx_reproduce_particles,
    &fx_reproduce_drift,
    &fx_reproduce_ellipse,
    &fx_reproduce_rod,
    &fx_reproduce_segregation,
    &fx_reproduce_correlation,
    &fx_reproduce_pebbles,
#endif
    &fx_reproduce_library,
    &fx_reproduce_scara,
#ifdef FRIX_HAVE_EXAMPLES
    &fx_reproduce_balls,
    &fx_reproduce_ball_drop,
    &fx_reproduce_particle,
    &fx_reproduce_oscillator,
    &fx_reproduce_painleve,
    &fx_reproduce_comparison,
    &fx_reproduce_cardhouse,
    &fx_reproduce_arch,
    &fx_reproduce_stacks,
    &fx_reproduce_tables,
    &fx_reproduce_loghouse,
    &fx_reproduce_bunnies,
    &fx_reproduce_soft,
    &fx_reproduce_weave,
    &fx_reproduce_soft_scenes,
    &fx_reproduce_packing,
    &fx_reproduce_janssen,
    &fx_reproduce_beverloo,
    &fx_reproduce_collapse,
#endif
    NULL,
};

const fx_reproduction *fx_reproduction_table(int k) {
  return k >= 0 && k < (int)(sizeof rows / sizeof rows[0]) ? rows[k] : NULL;
}

static void time_text(double seconds, char *out, size_t size) {
  if (seconds < 90)
    snprintf(out, size, "%.3g s", seconds);
  else
    snprintf(out, size, "%.2g min", seconds / 60);
}

static void print_rows(void) {
  fx_column column[] = {{"name", 18, true},  {"document", 0, true}, {"time", 7, false},
                        {"quick", 6, false}, {"", 60, true},        {"", 0, true}};
  for (int k = 0; fx_reproduction_table(k); k++) {
    const fx_reproduction *r = fx_reproduction_table(k);
    int width = fx_text_width(r->document) + 1 + fx_text_width(r->place), name = fx_text_width(r->name);
    if (column[0].width < name) column[0].width = name;
    if (column[1].width < width) column[1].width = width;
  }
  fx_table_header(column, 6);
  for (int k = 0; fx_reproduction_table(k); k++) {
    const fx_reproduction *r = fx_reproduction_table(k);
    char full[32], quick[32];
    fx_cell cell[6];
    time_text(r->seconds, full, sizeof full);
    time_text(r->quick_seconds, quick, sizeof quick);
    fx_cell_set(&cell[0], FX_BOLD, "%s", r->name);
    fx_cell_set(&cell[1], FX_PLAIN, "%s %s", r->document, r->place);
    fx_cell_set(&cell[2], FX_PLAIN, "%s", full);
    fx_cell_set(&cell[3], FX_PLAIN, "%s", quick);
    fx_cell_set(&cell[4], FX_PLAIN, "%s", r->summary);
    fx_cell_set(&cell[5], FX_DIM, r->size ? "--size: %s" : "%s", r->size ? r->size : "");
    fx_table_row(column, cell, 6);
  }
  printf("\n");
  for (int k = 0; fx_report_document(k); k++) printf("%s\n", fx_report_document(k));
}

/* Whether row k was asked for: by name, or with all of them. */
static bool chosen(const fx_args *args, int k) {
  if (fx_arg(args, "--all")) return true;
  for (int w = 0; w < args->word_count; w++)
    if (!strcmp(args->word[w], fx_reproduction_table(k)->name)) return true;
  return false;
}

/* Runs what was asked for; the index is written after each, so that a run that ends early has one too. */
static bool run_rows(const fx_reproduce_settings *settings) {
  bool good = true;
  for (int k = 0, count = 0; fx_reproduction_table(k) && good; k++) {
    if (!chosen(settings->args, k)) continue;
    if (count++) printf("\n");
    good = fx_report_run(fx_reproduction_table(k), settings) && fx_report_index(settings);
  }
  return good;
}

/* Names and flags that do not go together; false after a message. */
static bool check_words(const fx_args *args) {
  bool all = fx_arg(args, "--all") != NULL;
  if (all && args->word_count) {
    fx_error("either names or --all");
    return false;
  }
  for (int w = 0; w < args->word_count; w++) {
    int k = fx_choose("@reproductions", "reproduction", args->word[w]);
    if (k < 0) return false;
    if (fx_arg(args, "--size") && !fx_reproduction_table(k)->size) {
      fx_error("%s has no --size", args->word[w]);
      return false;
    }
  }
  if ((all || args->word_count > 1) &&
      (fx_arg(args, "--solver") || fx_arg(args, "--set") || fx_arg(args, "--size") || fx_arg(args, "--tol"))) {
    fx_error("--solver, --set, --tol and --size are for one reproduction");
    return false;
  }
  return true;
}

static int run_reproduce(const fx_args *args) {
  bool all = fx_arg(args, "--all") != NULL;
  if (fx_arg(args, "--list") || (args->word_count == 0 && !all)) {
    print_rows();
    return FX_EXIT_SOLVED;
  }
  fx_reproduce_settings settings = {.args = args,
                                    .out = fx_arg(args, "--out"),
                                    .solver = fx_arg(args, "--solver"),
                                    .quick = fx_arg(args, "--quick") != NULL};
  if (!check_words(args) || (settings.solver && !fx_find_solver(settings.solver))) return FX_EXIT_USAGE;
  if (!fx_arg_real(args, "--tol", 1e-300, 1, &settings.tolerance)) return FX_EXIT_USAGE;
  if (!fx_arg_integer(args, "--size", 1, 1000000, &settings.size)) return FX_EXIT_USAGE;
  if (!settings.out) settings.out = ".";
  struct stat status;
  if (mkdir(settings.out, 0777) != 0 && (stat(settings.out, &status) != 0 || !S_ISDIR(status.st_mode))) {
    fx_error("%s: cannot create the directory: %s", settings.out, strerror(errno));
    return FX_EXIT_USAGE;
  }
  fx_catch_interrupt();
  return run_rows(&settings) ? FX_EXIT_SOLVED : FX_EXIT_USAGE;
}

static const fx_flag flags[] = {
    {"--list", NULL, NULL, "list the reproductions with the time they take"},
    {"--all", NULL, NULL, "make all of them"},
    {"--quick", NULL, NULL, "make smaller versions: fewer, shorter runs"},
    {"--out", "DIR", NULL, "output folder; default: the current one"},
    {"--solver", "NAME", "@solvers", "solver; default: the document's"},
    {"--set", "k=v", NULL, "set an option of the solver (see frix list solvers); may be repeated"},
    {"--tol", "X", NULL, "relative residual to reach; default: the document's"},
    {"--size", "N", NULL, "amount of work, see --list; default: the document's"},
    {0},
};

const fx_verb fx_verb_reproduce = {
    .name = "reproduce",
    .arguments = "[NAME...]",
    .summary = "remake figures and tables of the literature",
    .detail =
        "Each reproduction writes NAME.md and NAME.csv with the value of the document, the measured value and their "
        "ratio, and\n"
        "SVG pictures. index.md summarises all reproductions in the folder. Exit code 0 if everything was measured; a "
        "method\n"
        "that fails where its document says so counts as a result.",
    .example =
        "  frix reproduce --list\n"
        "  frix reproduce balls-in-cube --out balls\n"
        "  frix reproduce painleve-domains --solver nsgs --size 41 --out painleve-nsgs\n"
        "  frix reproduce --all --quick --out reproduced",
    .flag = flags,
    .words = "@reproductions",
    .max_words = 1 << 10,
    .run = run_reproduce,
};
