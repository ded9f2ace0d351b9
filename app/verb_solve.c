/* frix solve: problems in, answers with their certificate out.
 *
 * Order matters: arguments, then outputs, then every input is checked before the first solve begins, so that a bad word
 * or file ends with one message and nothing written. */
#include "app.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
  const char *path;
  frix_problem *problem;
} job;

typedef struct settings {
  frix_solve_config config;
  const frix_solver_info *solver;
  int32_t facets; /* 0: cones as they stand */
  const char *text_kind, *guess, *out, *history;
  bool json;
} settings;

/* What a run adds up to. */
typedef struct tally {
  int solved, count, approximate;
  double worst, seconds;
  const char *worst_name;
} tally;

/* ---- arguments */

static bool read_cone(const char *text, int32_t *facets) {
  if (!text || !strcmp(text, "exact")) return true;
  char *end = NULL;
  long count = strncmp(text, "pyramid:", 8) ? 0 : strtol(text + 8, &end, 10);
  if (count >= 3 && count <= FRIX_MAX_FACETS && end && end != text + 8 && !*end) {
    *facets = (int32_t)count;
    return true;
  }
  fx_error("--cone '%s' should read exact or pyramid:M with M from 3 to %d", text, FRIX_MAX_FACETS);
  return false;
}

static bool read_options(frix_context *context, const fx_args *args, frix_options **out) {
  if (frix_options_create(context, out) != FRIX_OK) {
    fx_error("%s", frix_error_text(context));
    return false;
  }
  int cursor = 0;
  for (const char *text; (text = fx_arg_next(args, "--set", &cursor));) {
    char *key = NULL;
    const char *value = NULL;
    if (!fx_split_setting(text, &key, &value)) return false;
    frix_status status = frix_options_set(*out, key, value);
    free(key);
    if (status == FRIX_OK) continue;
    fx_error("--set %s: %s", text, frix_error_text(context));
    return false;
  }
  return true;
}

static bool has_extension(const char *path, const char *extension) {
  size_t n = strlen(path), m = strlen(extension);
  return n > m && !strcmp(path + n - m, extension);
}

/* Outputs make sense and can be written: found out before any work. */
static bool check_outputs(frix_context *context, const fx_args *args, const settings *s) {
  if (args->word_count > 1 && (s->out || s->guess)) {
    fx_error("%s belongs to one problem, and %d files were given", s->out ? "--out" : "--guess", args->word_count);
    return false;
  }
  if (s->out && !has_extension(s->out, ".json") && !has_extension(s->out, ".hdf5") && !has_extension(s->out, ".h5")) {
    fx_error("--out '%s' should end in .json, .hdf5 or .h5", s->out);
    return false;
  }
  return fx_check_outputs(context, (const char *[]){s->out, s->history}, 2);
}

static bool read_settings(frix_context *context, const fx_args *args, settings *s, frix_options **options) {
  frix_solve_config *config = &s->config;
  *config = frix_solve_default();
  int64_t threads = 1;
  if (!fx_arg_real(args, "--tol", 0, 1, &config->tolerance)) return false;
  if (!fx_arg_real(args, "--time-limit", 1e-6, HUGE_VAL, &config->time_limit)) return false;
  if (!fx_arg_integer(args, "--max-iterations", 1, INT64_MAX, &config->max_iterations)) return false;
  if (!fx_arg_integer(args, "--threads", 1, 1024, &threads)) return false;
  if (!read_cone(fx_arg(args, "--cone"), &s->facets) || !read_options(context, args, options)) return false;
  config->thread_count = (int32_t)threads;
  config->law = fx_arg_choice(args, "--law", 0) == 1 ? FRIX_LAW_ASSOCIATED : FRIX_LAW_COULOMB;
  int form = fx_arg_choice(args, "--form", -1);
  config->form = form < 0 ? FRIX_FORM_AUTO : form == 0 ? FRIX_FORM_LOCAL : FRIX_FORM_GLOBAL;
  config->options = *options;
  config->cancel = fx_interrupted;
  s->solver = fx_find_solver(fx_arg(args, "--solver") ? fx_arg(args, "--solver") : config->solver);
  if (!s->solver) return false;
  config->solver = s->solver->name;
  s->text_kind = fx_arg(args, "--text");
  s->guess = fx_arg(args, "--guess");
  s->out = fx_arg(args, "--out");
  s->history = fx_arg(args, "--history");
  s->json = fx_arg(args, "--json") != NULL;
  config->history = s->history != NULL;
  return check_outputs(context, args, s);
}

/* ---- inputs */

static bool read_job(frix_context *context, const settings *s, job *j) {
  j->problem = fx_read_problem(context, j->path, s->text_kind);
  if (j->problem && s->facets) {
    frix_problem *pyramids = NULL;
    frix_status status = frix_problem_with_pyramids(j->problem, s->facets, &pyramids);
    frix_problem_destroy(j->problem);
    j->problem = pyramids;
    if (status != FRIX_OK) fx_error("%s: %s", j->path, frix_error_text(context));
  }
  return j->problem && fx_supported(j->path, j->problem, s->solver, s->config.law, false) &&
         (!s->out || fx_check_format(context, j->problem, s->out));
}

static bool read_guess(frix_context *context, const settings *s, const job *j, double **out) {
  if (!s->guess) return true;
  frix_problem_data data = frix_problem_data_default();
  frix_problem_view(j->problem, &data);
  *out = fx_grow(NULL, (size_t)data.row_count, sizeof **out);
  if (frix_guess_read(context, j->problem, s->guess, *out) == FRIX_OK) return true;
  fx_error("%s", frix_error_text(context));
  return false;
}

/* ---- progress: called from any worker thread, shows at most ten lines a second */

typedef struct progress {
  atomic_flag busy;
  const char *name;
  int index, count;
  double next;
} progress;

static void show_progress(int64_t iteration, double residual, double seconds, void *user) {
  progress *p = user;
  if (atomic_flag_test_and_set(&p->busy)) return;
  if (seconds >= p->next) {
    p->next = seconds + 0.1;
    fx_progress("[%d/%d] %s: iteration %lld, residual %.2e, %.1f s", p->index + 1, p->count, p->name,
                (long long)iteration, residual, seconds);
  }
  atomic_flag_clear(&p->busy);
}

/* ---- outputs */

static void print_json(const job *j, const settings *s, const frix_result *r, const char *approximation) {
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "file", j->path);
  fx_put_integer(&json, "contacts", r->contact_count);
  fx_put_integer(&json, "dof", r->dof_count);
  fx_put_integer(&json, "joints", r->joint_count);
  fx_put_integer(&json, "islands", r->island_count);
  fx_put_text(&json, "solver", r->solver);
  fx_put_text(&json, "finisher", r->finisher);
  fx_put_text(&json, "law", frix_law_name(s->config.law));
  fx_put_boolean(&json, "approximate", r->approximate || approximation[0]);
  if (approximation[0]) fx_put_text(&json, "approximation", approximation);
  fx_put_text(&json, "outcome", frix_outcome_name(r->outcome));
  fx_put_real(&json, "tolerance", s->config.tolerance);
  fx_put_integer(&json, "iterations", r->iterations);
  fx_put_real(&json, "seconds", r->seconds);
  fx_put_integer(&json, "threads", s->config.thread_count);
  fx_put_real(&json, "residual", r->certificate.residual);
  if (r->velocity_error > 0) fx_put_real(&json, "velocity_error", r->velocity_error);
  fx_put_certificate(&json, "certificate", &r->certificate);
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

static fx_column columns[] = {{"problem", 0, true},  {"contacts", 8, false}, {"dof", 6, false},
                              {"islands", 7, false}, {"solver", 0, true},    {"iterations", 10, false},
                              {"time", 9, false},    {"residual", 8, false}, {"outcome", 14, true},
                              {"", 0, true}};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

static void print_header(const job *jobs, int count) {
  for (int k = 0; k < count; k++) {
    int width = fx_text_width(fx_base_name(jobs[k].path));
    if (columns[0].width < width) columns[0].width = width > 48 ? 48 : width;
  }
  for (int k = 0; frix_solver_table(k); k++) {
    int width = (int)strlen(frix_solver_table(k)->name) + 6; /* "auto: nsgs" */
    if (columns[4].width < width) columns[4].width = width;
  }
  fx_table_header(columns, COLUMN_COUNT);
}

static void print_row(const job *j, const frix_result *r, const char *approximation) {
  fx_cell cell[COLUMN_COUNT];
  bool solved = r->outcome == FRIX_OUTCOME_SOLVED;
  bool inner = r->finisher && strcmp(r->finisher, r->solver);
  char seconds[32];
  fx_format_seconds(r->seconds, seconds, sizeof seconds);
  fx_cell_set(&cell[0], FX_PLAIN, "%s", fx_base_name(j->path));
  fx_cell_set(&cell[1], FX_PLAIN, "%d", (int)r->contact_count);
  fx_cell_set(&cell[2], FX_PLAIN, "%d", (int)r->dof_count);
  fx_cell_set(&cell[3], FX_PLAIN, "%d", (int)r->island_count);
  fx_cell_set(&cell[4], FX_PLAIN, inner ? "%s: %s" : "%s", r->solver, inner ? r->finisher : "");
  fx_cell_set(&cell[5], FX_PLAIN, "%lld", (long long)r->iterations);
  fx_cell_set(&cell[6], FX_PLAIN, "%s", seconds);
  fx_cell_set(&cell[7], FX_PLAIN, "%.2e", r->certificate.residual);
  fx_cell_set(&cell[8], solved ? FX_GREEN : FX_RED, "%s", frix_outcome_name(r->outcome));
  fx_cell_set(&cell[9], FX_YELLOW, approximation[0] ? "approximate: %s" : "%s", approximation);
  fx_table_row(columns, cell, COLUMN_COUNT);
}

static void print_verdict(const tally *t, const settings *s) {
  char seconds[32];
  fx_format_seconds(t->seconds, seconds, sizeof seconds);
  bool all = t->solved == t->count;
  printf("\n%s%d of %d solved to %g%s, worst residual %.2e (%s), %s of solving\n",
         fx_colour_on(all ? FX_GREEN : FX_RED), t->solved, t->count, s->config.tolerance, fx_colour_off(), t->worst,
         t->worst_name ? t->worst_name : "-", seconds);
  if (t->approximate)
    printf("%sapproximate:%s %d of %d answers come from an approximate method, law or cone, as asked for by name\n",
           fx_colour_on(FX_YELLOW), fx_colour_off(), t->approximate, t->count);
}

static void write_history(FILE *file, const job *j, const frix_result *r) {
  for (int64_t k = 0; k < r->history_count; k++) {
    const frix_history_row *row = &r->history[k];
    fx_csv_text(file, j->path);
    fprintf(file, ",%d,%lld,%.9g,%.17g\n", (int)row->island, (long long)row->iteration, row->seconds, row->residual);
  }
}

/* ---- the run */

/* Solves, reports and writes one job; false after a message. */
static bool run_job(frix_context *context, const job *j, settings *s, fx_output *history, tally *t) {
  frix_solution *solution = NULL;
  if (frix_solve(context, j->problem, &s->config, &solution) != FRIX_OK) {
    fx_error("%s: %s", j->path, frix_error_text(context));
    return false;
  }
  fx_progress_clear();
  frix_result r = {.size = sizeof r};
  frix_solution_view(solution, &r);
  char approximation[128];
  fx_approximation(j->problem, s->solver, s->config.law, approximation, sizeof approximation);
  if (s->json) {
    print_json(j, s, &r, approximation);
  } else {
    print_row(j, &r, approximation);
  }
  fx_output_alive(NULL);
  t->solved += r.outcome == FRIX_OUTCOME_SOLVED;
  t->approximate += r.approximate || approximation[0];
  t->seconds += r.seconds;
  if (!(r.certificate.residual <= t->worst)) {
    t->worst = r.certificate.residual;
    t->worst_name = fx_base_name(j->path);
  }
  bool written = true;
  if (history) write_history(history->file, j, &r);
  if (s->out && frix_solution_write(j->problem, solution, s->out) != FRIX_OK) {
    fx_error("%s", frix_error_text(context));
    written = false;
  }
  frix_solution_destroy(solution);
  return written;
}

static int solve_jobs(frix_context *context, const job *jobs, int count, settings *s) {
  /* once more: now it is known what was read */
  if (!fx_check_outputs(context, (const char *[]){s->out, s->history}, 2)) return FX_EXIT_USAGE;
  fx_output *history = s->history ? fx_output_open(context, s->history) : NULL;
  if (s->history && !history) return FX_EXIT_USAGE;
  if (history) fprintf(history->file, "file,island,iteration,seconds,residual\n");
  progress p = {.busy = ATOMIC_FLAG_INIT, .count = count};
  if (fx_progress_wanted()) {
    s->config.progress = show_progress;
    s->config.user = &p;
  }
  if (!s->json) print_header(jobs, count);
  tally t = {.count = count, .worst = 0};
  bool good = true;
  for (int k = 0; k < count && good && !fx_interrupted(NULL); k++) {
    p.name = fx_base_name(jobs[k].path);
    p.index = k;
    p.next = 0.3;
    good = run_job(context, &jobs[k], s, history, &t);
    if (!fx_output_alive(NULL) && !s->out && !history) break; /* the reader is gone */
  }
  if (!fx_output_close(history, good)) good = false;
  if (!good) return FX_EXIT_USAGE;
  if (!s->json) print_verdict(&t, s);
  return t.solved == count ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
}

static int run_solve(const fx_args *args) {
  int code = FX_EXIT_USAGE, count = args->word_count;
  frix_context *context = fx_context(fx_arg(args, "--explain") != NULL);
  frix_options *options = NULL;
  settings s = {0};
  double *guess = NULL;
  job *jobs = fx_grow(NULL, (size_t)count, sizeof *jobs);
  memset(jobs, 0, (size_t)count * sizeof *jobs);
  bool good = read_settings(context, args, &s, &options);
  for (int k = 0; k < count && good; k++) {
    jobs[k].path = args->word[k];
    good = read_job(context, &s, &jobs[k]);
  }
  if (good && read_guess(context, &s, &jobs[0], &guess)) {
    s.config.guess_r = guess;
    fx_catch_interrupt();
    code = solve_jobs(context, jobs, count, &s);
  }
  for (int k = 0; k < count; k++) frix_problem_destroy(jobs[k].problem);
  free(jobs);
  free(guess);
  frix_options_destroy(options);
  frix_context_destroy(context);
  return code;
}

static const fx_flag flags[] = {
    {"--solver", "NAME", "@solvers", "solver; default auto"},
    {"--tol", "X", NULL, "relative residual to reach; default 1e-8"},
    {"--max-iterations", "N", NULL, "largest number of iterations per island and solver; default: the solver's own"},
    {"--time-limit", "S", NULL, "time limit per problem in s; default: none"},
    {"--law", "LAW", "coulomb|associated", "coulomb (exact, default) or associated (its convex relaxation)"},
    {"--cone", "CONE", NULL, "exact (default) or pyramid:M, which replaces circular cones by pyramids with M facets"},
    {"--form", "FORM", "local|global", "local: work on W, q; global: on M, H, f, w; default: the cheaper one"},
    {"--set", "k=v", NULL, "set an option of a solver, nsgs.relaxation=1.1 (see frix list solvers); may be repeated"},
    {"--threads", "N", NULL, "number of threads, default 1; answers have the same bits for any N"},
    {"--guess", "FILE", NULL, "start from the r of a .json or .hdf5 solution"},
    {"--out", "FILE", NULL, "write r, u, v: .json, or .hdf5 with the problem"},
    {"--json", NULL, NULL, "print one JSON object per problem, one per line"},
    {"--history", "FILE.csv", NULL, "write the residual over iterations and time"},
    {"--explain", NULL, NULL, "print what the solvers do to stderr"},
    {"--text", "KIND", "local|global|lcp|mlcp", "kind of problem in a .dat file, if the file does not say"},
    {0},
};

const fx_verb fx_verb_solve = {
    .name = "solve",
    .arguments = "FILE...",
    .summary = "solve contact problems and certify the answers",
    .detail =
        "Solves every FILE (fclib HDF5, text .dat, JSON) and certifies each answer independently of the solver. Exit "
        "code 0:\n"
        "all solved to the tolerance; 1: some not; 2: bad usage or input, nothing was written. Ctrl-C stops the "
        "current solve\n"
        "at the best answer so far.",
    .example =
        "  frix solve wall.hdf5                            # the exact law to 1e-8\n"
        "  frix solve *.dat --tol 1e-4 --time-limit 20     # a table and a verdict\n"
        "  frix solve box.json --solver nsgs --set nsgs.relaxation=1.1 --out answer.json\n"
        "  frix solve box.json --cone pyramid:8 --json     # an approximation, chosen by name",
    .flag = flags,
    .min_words = 1,
    .max_words = 1 << 30,
    .run = run_solve,
};
