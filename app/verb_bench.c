/* frix bench: every solver on every problem of a folder; accuracy beside time in CSV, Markdown and two profiles. */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- which files */

typedef struct file_list {
  char **path;
  int count;
} file_list;

/* Whether the name ends in an extension of the format table. */
static bool known_extension(const char *name) {
  for (int k = 0; frix_format_table(k); k++) {
    if (!frix_format_table(k)->available) continue;
    for (const char *e = frix_format_table(k)->extension; *e;) {
      size_t length = strcspn(e, " "), n = strlen(name);
      if (length && n > length && !strncmp(name + n - length, e, length)) return true;
      e += length + (e[length] == ' ');
    }
  }
  return false;
}

static bool collect(const char *folder, file_list *files) {
  DIR *directory = opendir(folder);
  if (!directory) {
    fx_error("%s: cannot read the directory: %s", folder, strerror(errno));
    return false;
  }
  bool good = true;
  for (struct dirent *entry; good && (entry = readdir(directory));) {
    if (entry->d_name[0] == '.') continue;
    char *slash = fx_join(folder, "/"), *path = fx_join(slash, entry->d_name);
    struct stat status;
    bool kept = false;
    free(slash);
    if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
      good = collect(path, files);
    } else if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && known_extension(entry->d_name)) {
      files->path = fx_grow(files->path, (size_t)files->count + 1, sizeof *files->path);
      files->path[files->count++] = path;
      kept = true;
    }
    if (!kept) free(path);
  }
  closedir(directory);
  return good;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* ---- which solvers */

static bool add_solver(bench *b, const frix_solver_info *solver) {
  for (int k = 0; k < b->solver_count; k++)
    if (b->solver[k] == solver) return true;
  b->solver = fx_grow(b->solver, (size_t)b->solver_count + 1, sizeof *b->solver);
  b->solver[b->solver_count++] = solver;
  return true;
}

static bool choose_solvers(const char *list, bench *b) {
  if (!list) {
    for (int k = 0; frix_solver_table(k); k++) {
      const frix_solver_info *s = frix_solver_table(k);
      if (b->config.law == FRIX_LAW_COULOMB ? s->coulomb : s->associated) add_solver(b, s);
    }
    return true;
  }
  bool good = true;
  while (good && *list) {
    char name[128];
    size_t length = strcspn(list, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, list);
    const frix_solver_info *solver = fx_find_solver(name);
    good = solver && add_solver(b, solver);
    list += length + (list[length] == ',');
  }
  return good && b->solver_count > 0;
}

/* ---- running */

/* Short solves are repeated and the shortest time counts; the answer is the same bits every time. */
static bool measure(frix_context *context, bench *b, const frix_problem *problem, bench_run *run) {
  enum { MOST_REPEATS = 20 };
  double spent = 0;
  for (int k = 0; k < MOST_REPEATS && (k == 0 || (spent < 0.05 && !fx_interrupted(NULL))); k++) {
    frix_solution *solution = NULL;
    if (frix_solve(context, problem, &b->config, &solution) != FRIX_OK) return false;
    frix_result r = {.size = sizeof r};
    frix_solution_view(solution, &r);
    spent += r.seconds;
    if (k == 0 || r.seconds < run->seconds) run->seconds = r.seconds;
    run->outcome = frix_outcome_name(r.outcome);
    run->solved = r.outcome == FRIX_OUTCOME_SOLVED;
    run->iterations = r.iterations;
    run->certificate = r.certificate;
    run->approximate = run->approximate || r.approximate;
    frix_solution_destroy(solution);
  }
  return true;
}

static void run_problem(frix_context *context, bench *b, int p) {
  bench_problem *row = &b->problem[p];
  frix_problem *problem = fx_read_problem(context, row->path, NULL);
  if (!problem) return; /* the message names it; the tables list it as unreadable */
  frix_problem_data data = frix_problem_data_default();
  frix_problem_view(problem, &data);
  row->readable = true;
  row->contacts = data.contact_count;
  row->dof = data.dof_count;
  for (int s = 0; s < b->solver_count && !fx_interrupted(NULL); s++) {
    bench_run *run = &row->run[s];
    char approximation[128];
    fx_progress("[%d/%d] %s: %s", p + 1, b->problem_count, fx_base_name(row->path), b->solver[s]->name);
    run->outcome = "unsupported";
    if (!fx_supported(row->path, problem, b->solver[s], b->config.law, true)) continue;
    fx_approximation(problem, b->solver[s], b->config.law, approximation, sizeof approximation);
    run->approximate = approximation[0] != 0;
    b->config.solver = b->solver[s]->name;
    run->supported = measure(context, b, problem, run);
    if (run->supported) continue;
    run->outcome = "error";
    fx_error("%s: %s: %s", row->path, b->solver[s]->name, frix_error_text(context));
  }
  frix_problem_destroy(problem);
}

/* ---- the summary a person sees */

static void print_summary(const bench *b) {
  fx_column column[] = {
      {"solver", 12, true}, {"solved", 9, false}, {"time", 9, false}, {"median residual", 15, false}, {"", 0, true}};
  fx_table_header(column, 5);
  for (int s = 0; s < b->solver_count; s++) {
    bench_summary sum = fx_bench_summary(b, s);
    fx_cell cell[5];
    char seconds[32];
    fx_format_seconds(sum.seconds, seconds, sizeof seconds);
    fx_cell_set(&cell[0], FX_BOLD, "%s", b->solver[s]->name);
    fx_cell_set(&cell[1], sum.solved == sum.count ? FX_GREEN : FX_PLAIN, "%d of %d", sum.solved, sum.count);
    fx_cell_set(&cell[2], FX_PLAIN, "%s", seconds);
    fx_cell_set(&cell[3], FX_PLAIN, "%.2e", sum.median_residual);
    fx_cell_set(&cell[4], FX_YELLOW, "%s", sum.approximate ? "approximate" : "");
    fx_table_row(column, cell, 5);
  }
  int all = fx_bench_solved_by_any(b), readable = 0;
  for (int p = 0; p < b->problem_count; p++) readable += b->problem[p].readable;
  printf("\n%s%d of %d problems solved to %g by some solver%s\n", fx_colour_on(all == readable ? FX_GREEN : FX_RED),
         all, readable, b->config.tolerance, fx_colour_off());
  if (readable < b->problem_count) printf("%d files could not be read\n", b->problem_count - readable);
}

/* ---- the verb */

static bool prepare_folder(frix_context *context, const char *out) {
  struct stat status;
  if (mkdir(out, 0777) != 0 && errno != EEXIST) {
    fx_error("%s: cannot create the directory: %s", out, strerror(errno));
    return false;
  }
  if (stat(out, &status) != 0 || !S_ISDIR(status.st_mode)) {
    fx_error("%s: not a directory", out);
    return false;
  }
  char *probe = fx_join(out, "/results.csv");
  bool good = fx_check_output(context, probe);
  free(probe);
  return good;
}

static bool read_settings(const fx_args *args, bench *b) {
  b->config = frix_solve_default();
  b->config.time_limit = 20;
  b->config.cancel = fx_interrupted;
  b->folder = args->word[1];
  b->out = fx_arg(args, "--out");
  int64_t threads = 1;
  if (fx_choose("problems", "benchmark", args->word[0]) < 0) return false;
  if (!b->out) {
    fx_error("bench needs --out OUTDIR");
    return false;
  }
  if (!fx_arg_real(args, "--tol", 0, 1, &b->config.tolerance)) return false;
  if (!fx_arg_real(args, "--time-limit", 1e-6, HUGE_VAL, &b->config.time_limit)) return false;
  if (!fx_arg_integer(args, "--threads", 1, 1024, &threads)) return false;
  b->config.thread_count = (int32_t)threads;
  b->config.law = fx_arg_choice(args, "--law", 0) == 1 ? FRIX_LAW_ASSOCIATED : FRIX_LAW_COULOMB;
  return choose_solvers(fx_arg(args, "--solvers"), b);
}

static bool list_problems(bench *b) {
  file_list files = {0};
  bool good = collect(b->folder, &files);
  if (files.count) qsort(files.path, (size_t)files.count, sizeof *files.path, by_name);
  b->problem = fx_grow(NULL, (size_t)files.count, sizeof *b->problem);
  b->problem_count = files.count;
  for (int p = 0; p < files.count; p++) {
    b->problem[p] = (bench_problem){.path = files.path[p]};
    b->problem[p].run = fx_grow(NULL, (size_t)b->solver_count, sizeof *b->problem[p].run);
    for (int s = 0; s < b->solver_count; s++) b->problem[p].run[s] = (bench_run){.outcome = "not run"};
  }
  free(files.path);
  if (good && files.count == 0) {
    fx_error("%s: no problem files in this directory", b->folder);
    good = false;
  }
  return good;
}

static void free_bench(bench *b) {
  for (int p = 0; p < b->problem_count; p++) {
    free(b->problem[p].path);
    free(b->problem[p].run);
  }
  free(b->problem);
  free(b->solver);
}

static int run_bench(const fx_args *args) {
  bench b = {0};
  int code = FX_EXIT_USAGE;
  frix_context *context = fx_context(false);
  if (read_settings(args, &b) && list_problems(&b) && prepare_folder(context, b.out)) {
    fx_catch_interrupt();
    int readable = 0;
    for (int p = 0; p < b.problem_count && !fx_interrupted(NULL); p++) {
      run_problem(context, &b, p);
      readable += b.problem[p].readable;
    }
    fx_progress_clear();
    if (readable == 0) {
      fx_error("%s: no readable problem in this directory", b.folder);
    } else if (fx_bench_write(context, &b)) {
      print_summary(&b);
      printf("wrote %s/results.csv, table.md, time.svg, residual.svg\n", b.out);
      code = fx_bench_solved_by_any(&b) == readable ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
    }
  }
  frix_context_destroy(context);
  free_bench(&b);
  return code;
}

static const fx_flag flags[] = {
    {"--solvers", "a,b", "@solvers", "solvers to compare; default: all"},
    {"--tol", "X", NULL, "relative residual to reach; default 1e-8"},
    {"--time-limit", "S", NULL, "seconds per problem and solver; default 20"},
    {"--law", "LAW", "coulomb|associated", "coulomb (exact, default) or associated (its convex relaxation)"},
    {"--threads", "N", NULL, "number of threads; default 1"},
    {"--out", "OUTDIR", NULL, "directory for results.csv, table.md, time.svg, residual.svg"},
    {0},
};

const fx_verb fx_verb_bench = {
    .name = "bench",
    .arguments = "problems DIR --out OUTDIR",
    .summary = "compare solvers on the problem files of a directory",
    .detail =
        "Runs every solver on every problem file below DIR and reports time together with the certified residual. "
        "Solves\n"
        "shorter than 50 ms are repeated, and the shortest time counts. Exit code 0: every problem was solved by some\n"
        "solver; 1: not; 2: bad usage, or no file could be read.",
    .example =
        "  frix bench problems instances --out profile\n"
        "  frix bench problems instances --solvers nsgs,admm --tol 1e-4 --time-limit 5 --out profile",
    .flag = flags,
    .words = "problems",
    .min_words = 2,
    .max_words = 2,
    .run = run_bench,
};
