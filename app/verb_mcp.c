/* frix mcp: mixed complementarity problems from the library, from files, and the SCARA grasps. */
#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const fx_column columns[] = {{"problem", 16, true},  {"unknowns", 8, false},    {"start", 5, false},
                                    {"method", 24, true},   {"iterations", 10, false}, {"time", 9, false},
                                    {"residual", 8, false}, {"objective", 9, false},   {"distance", 8, false},
                                    {"outcome", 14, true}};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

typedef struct settings {
  frix_mcp_config config;
  bool json;
  bool all_starts;
  int64_t start;
  frix_mcp_setting *setting;
  char **key; /* owned names of the settings */
  fx_column column[COLUMN_COUNT];
} settings;

typedef struct tally {
  int runs, solved, known, reached;
  double worst_residual, worst_objective, seconds;
  int64_t iterations, inner, evaluations, products;
} tally;

/* ---- settings */

static bool read_start(const fx_args *args, settings *s) {
  const char *start = fx_arg(args, "--start");
  s->all_starts = start && !strcmp(start, "all");
  return s->all_starts || fx_arg_integer(args, "--start", 0, 1000000, &s->start);
}

/* The --set values as a list; false after a message. */
static bool read_options(const fx_args *args, settings *s) {
  int cursor = 0, count = 0;
  for (const char *text; (text = fx_arg_next(args, "--set", &cursor)); count++) {
    s->setting = fx_grow(s->setting, (size_t)count + 1, sizeof *s->setting);
    s->key = fx_grow(s->key, (size_t)count + 1, sizeof *s->key);
    s->key[count] = NULL;
    s->config.setting_count = count;
    if (!fx_split_setting(text, &s->key[count], &s->setting[count].value)) return false;
    s->setting[count].name = s->key[count];
  }
  s->config.setting = s->setting;
  s->config.setting_count = count;
  return true;
}

static bool read_settings(const fx_args *args, settings *s) {
  *s = (settings){.config = frix_mcp_default(), .json = fx_arg(args, "--json") != NULL};
  memcpy(s->column, columns, sizeof columns);
  const char *method = fx_arg(args, "--method");
  if (method && fx_choose("@methods", "method", method) < 0) return false;
  if (method) s->config.method = method;
  return read_start(args, s) && fx_arg_real(args, "--tol", 1e-300, 1, &s->config.tolerance) &&
         fx_arg_integer(args, "--max-iterations", 1, INT64_C(1) << 40, &s->config.max_iterations) &&
         fx_arg_real(args, "--time-limit", 1e-9, 1e9, &s->config.time_limit) && read_options(args, s);
}

static void free_settings(settings *s) {
  for (int32_t k = 0; k < s->config.setting_count; k++) free(s->key[k]);
  free(s->key);
  free(s->setting);
}

static bool interrupted(int64_t iteration, double residual, const double *x, void *user) {
  (void)iteration;
  (void)residual;
  (void)x;
  return fx_interrupted(user);
}

/* ---- outputs */

typedef struct run {
  const char *problem;
  int64_t start;
  const double *x;
  int32_t count;
  double distance; /* to the nearest known solution, NAN when none is known */
  frix_mcp_result result;
  /* grasps only */
  const char *form, *state;
  int64_t seed;
  double force[6];
} run;

static void print_json(const run *r) {
  fx_json json = {stdout, false};
  const frix_mcp_result *q = &r->result;
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "problem", r->problem);
  fx_put_integer(&json, "start", r->start);
  fx_put_text(&json, "method", q->method);
  fx_put_text(&json, "finisher", q->finisher);
  fx_put_text(&json, "outcome", frix_outcome_name(q->outcome));
  fx_put_real(&json, "residual", q->certificate.residual);
  fx_put_real(&json, "objective", q->certificate.objective);
  fx_put_real(&json, "distance", r->distance);
  fx_put_integer(&json, "iterations", q->iterations);
  fx_put_integer(&json, "inner_iterations", q->inner_iterations);
  fx_put_integer(&json, "evaluations", q->evaluations);
  fx_put_integer(&json, "products", q->products);
  fx_put_integer(&json, "factorizations", q->factorizations);
  fx_put_integer(&json, "restarts", q->restarts);
  fx_put_real(&json, "seconds", q->seconds);
  if (r->form) {
    fx_put_text(&json, "form", r->form);
    fx_put_integer(&json, "seed", r->seed);
    fx_put_text(&json, "class", r->state);
    fx_put_open(&json, "force", '[');
    for (int k = 0; k < 6; k++) fx_put_real(&json, NULL, r->force[k]);
    fx_put_close(&json, ']');
  }
  fx_put_open(&json, "x", '[');
  for (int32_t k = 0; k < r->count; k++) fx_put_real(&json, NULL, r->x[k]);
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

static void print_row(const fx_column *column, const run *r) {
  fx_cell cell[COLUMN_COUNT];
  const frix_mcp_result *q = &r->result;
  char seconds[32];
  bool solved = q->outcome == FRIX_OUTCOME_SOLVED, inner = strcmp(q->finisher, q->method) != 0;
  fx_format_seconds(q->seconds, seconds, sizeof seconds);
  fx_cell_set(&cell[0], FX_PLAIN, "%s", r->problem);
  fx_cell_set(&cell[1], FX_PLAIN, "%d", (int)r->count);
  fx_cell_set(&cell[2], FX_PLAIN, "%lld", (long long)r->start);
  fx_cell_set(&cell[3], FX_PLAIN, inner ? "%s: %s" : "%s", q->method, inner ? q->finisher : "");
  fx_cell_set(&cell[4], FX_PLAIN, "%lld", (long long)q->iterations);
  fx_cell_set(&cell[5], FX_PLAIN, "%s", seconds);
  fx_cell_set(&cell[6], FX_PLAIN, "%.2e", q->certificate.residual);
  fx_cell_set(&cell[7], FX_PLAIN, "%.2e", q->certificate.objective);
  fx_cell_set(&cell[8], FX_PLAIN, isnan(r->distance) ? "-" : "%.1e", r->distance);
  fx_cell_set(&cell[9], solved ? FX_GREEN : FX_RED, "%s", frix_outcome_name(q->outcome));
  fx_table_row(column, cell, COLUMN_COUNT);
}

static void count_run(const run *r, tally *t) {
  const frix_mcp_result *q = &r->result;
  t->runs++;
  t->solved += q->outcome == FRIX_OUTCOME_SOLVED;
  t->known += !isnan(r->distance);
  t->reached += r->distance < 1e-5;
  t->seconds += q->seconds;
  t->iterations += q->iterations;
  t->inner += q->inner_iterations;
  t->evaluations += q->evaluations;
  t->products += q->products;
  if (!(q->certificate.residual <= t->worst_residual)) t->worst_residual = q->certificate.residual;
  if (!(q->certificate.objective <= t->worst_objective)) t->worst_objective = q->certificate.objective;
}

static void print_verdict(const tally *t, double tolerance) {
  char seconds[32];
  fx_format_seconds(t->seconds, seconds, sizeof seconds);
  bool all = t->solved == t->runs;
  printf("\n%s%d of %d solved to %g%s, worst residual %.2e, worst objective %.2e, %s of solving\n",
         fx_colour_on(all ? FX_GREEN : FX_RED), t->solved, t->runs, tolerance, fx_colour_off(), t->worst_residual,
         t->worst_objective, seconds);
  if (t->known) printf("%d of %d reached a known solution to 1e-5\n", t->reached, t->known);
}

/* ---- runs */

/* Solves one problem from one start into r; false after a message. */
static bool solve_one(frix_context *context, const frix_mcp *mcp, const settings *s, double *x, run *r) {
  if (frix_mcp_solve(context, mcp, &s->config, x, &r->result) != FRIX_OK) {
    fx_error("%s: %s", r->problem, frix_error_text(context));
    return false;
  }
  r->x = x;
  r->distance = frix_mcp_distance(mcp, x, NULL);
  return true;
}

static bool solve_problem(frix_context *context, const char *name, const frix_mcp *mcp, settings *s, tally *t) {
  frix_mcp_data data = frix_mcp_data_default();
  frix_mcp_view(mcp, &data);
  double *x = fx_grow(NULL, (size_t)data.count, sizeof *x);
  int32_t count = data.start_count ? data.start_count : 1;
  bool good = true;
  for (int32_t k = 0; good && k < count && !fx_interrupted(NULL); k++) {
    if (!s->all_starts && k != s->start) continue;
    frix_mcp_start(mcp, k, x);
    run r = {.problem = name, .start = k, .count = data.count};
    good = solve_one(context, mcp, s, x, &r);
    if (!good) break;
    count_run(&r, t);
    if (s->json) {
      print_json(&r);
    } else {
      if (t->runs == 1) fx_table_header(s->column, COLUMN_COUNT); /* not before something worked */
      print_row(s->column, &r);
    }
    fflush(stdout);
  }
  free(x);
  return good;
}

static bool has_start(const char *name, const frix_mcp *mcp, const settings *s) {
  frix_mcp_data data = frix_mcp_data_default();
  frix_mcp_view(mcp, &data);
  int32_t count = data.start_count ? data.start_count : 1;
  if (s->all_starts || s->start < count) return true;
  fx_error("%s has the starts 0 to %d", name, (int)count - 1);
  return false;
}

/* A name with a dot or a slash is a file: LCP, MLCP or any contact problem. */
static frix_mcp *open_problem(frix_context *context, const char *name, const char *text_kind) {
  frix_mcp *mcp = NULL;
  if (!strpbrk(name, "./")) {
    if (frix_mcp_create_named(context, name, &mcp) != FRIX_OK) fx_error("%s", frix_error_text(context));
    return mcp;
  }
  frix_problem *problem = fx_read_problem(context, name, text_kind);
  if (!problem) return NULL;
  if (frix_mcp_create_contact(problem, FRIX_LAW_COULOMB, &mcp) != FRIX_OK)
    fx_error("%s: %s", name, frix_error_text(context));
  frix_problem_destroy(problem);
  return mcp;
}

typedef struct job {
  const char *name;
  frix_mcp *mcp;
} job;

/* Opens every problem before the first one is solved; false after a message. */
static bool open_jobs(frix_context *context, const fx_args *args, const settings *s, job **jobs, int *count) {
  for (int k = 0; k < args->word_count; k++) {
    bool all = !strcmp(args->word[k], "all");
    for (int32_t e = 0; all ? frix_mcp_library(e) != NULL : e == 0; e++) {
      const char *name = all ? frix_mcp_library(e)->name : args->word[k];
      *jobs = fx_grow(*jobs, (size_t)*count + 1, sizeof **jobs);
      (*jobs)[*count] = (job){fx_base_name(name), open_problem(context, name, fx_arg(args, "--text"))};
      const frix_mcp *mcp = (*jobs)[(*count)++].mcp;
      if (!mcp || !has_start(name, mcp, s)) return false;
    }
  }
  return true;
}

static int run_problems(frix_context *context, const fx_args *args, settings *s) {
  tally t = {0};
  job *jobs = NULL;
  int count = 0;
  bool good = open_jobs(context, args, s, &jobs, &count);
  for (int k = 0; k < count; k++) {
    int width = fx_text_width(jobs[k].name);
    if (s->column[0].width < width) s->column[0].width = width > 48 ? 48 : width;
  }
  for (int k = 0; good && k < count && !fx_interrupted(NULL); k++)
    good = solve_problem(context, jobs[k].name, jobs[k].mcp, s, &t);
  for (int k = 0; k < count; k++) frix_mcp_destroy(jobs[k].mcp);
  free(jobs);
  if (!good) return FX_EXIT_USAGE;
  if (!s->json) print_verdict(&t, s->config.tolerance);
  return t.solved == t.runs && !fx_interrupted(NULL) ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
}

/* ---- grasps */

/* "1:200" or "7"; false after a message. */
static bool read_seeds(const char *text, int64_t *first, int64_t *last) {
  char *end = NULL;
  *first = *last = strtoll(text, &end, 10);
  bool good = end != text && *first >= 0;
  if (good && *end == ':') {
    const char *second = end + 1;
    *last = strtoll(second, &end, 10);
    good = end != second;
  }
  if (good && *end == 0 && *last >= *first && *last < INT64_C(1) << 40) return true;
  fx_error("--seeds '%s': expected A:B with 0 <= A <= B, or one number", text);
  return false;
}

/* How often each of RR, RS, ... came up. */
typedef struct classes {
  char name[16][3];
  int count[16], used;
} classes;

static void count_class(classes *c, const char *name) {
  int k = 0;
  while (k < c->used && strcmp(c->name[k], name)) k++;
  if (k == 16) return;
  if (k == c->used) memcpy(c->name[c->used++], name, 3);
  c->count[k]++;
}

static void print_grasps(frix_scara_form form, const tally *t, const classes *c) {
  double n = t->runs ? t->runs : 1;
  printf("scara %s: %d of %d solved; per run %.1f iterations, %.1f evaluations, %.1f inner iterations, %.1f products\n",
         frix_scara_form_name(form), t->solved, t->runs, (double)t->iterations / n, (double)t->evaluations / n,
         (double)t->inner / n, (double)t->products / n);
  printf("contact 1, contact 2 (R roll, S slide, D detach):");
  for (int k = 0; k < c->used; k++) printf(" %s %d", c->name[k], c->count[k]);
  printf("\n");
}

static bool solve_grasp(frix_context *context, const settings *s, frix_scara_form form, int64_t seed, tally *t,
                        classes *c) {
  enum { MOST = 12 };
  frix_mcp *mcp = NULL;
  double x[MOST];
  char name[64], state[3];
  if (frix_mcp_create_scara(context, form, (uint64_t)seed, &mcp) != FRIX_OK) {
    fx_error("%s", frix_error_text(context));
    return false;
  }
  frix_mcp_data data = frix_mcp_data_default();
  frix_mcp_view(mcp, &data);
  snprintf(name, sizeof name, "%s", data.name);
  run r = {.problem = name, .count = data.count, .form = frix_scara_form_name(form), .state = state, .seed = seed};
  bool good = frix_mcp_start(mcp, 0, x) && solve_one(context, mcp, s, x, &r);
  if (good) {
    frix_mcp_scara_class(mcp, x, state);
    frix_mcp_scara_force(mcp, x, r.force);
    count_run(&r, t);
    count_class(c, state);
    if (s->json) print_json(&r);
  }
  frix_mcp_destroy(mcp);
  return good;
}

static int run_grasps(frix_context *context, const fx_args *args, const settings *s) {
  const char *seeds = fx_arg(args, "--seeds");
  int64_t first = 1, last = 200;
  int form = fx_arg_choice(args, "--form", FRIX_SCARA_CONE);
  if (seeds && !read_seeds(seeds, &first, &last)) return FX_EXIT_USAGE;
  tally t = {0};
  classes c = {.used = 0};
  bool good = true;
  for (int64_t seed = first; good && seed <= last && !fx_interrupted(NULL); seed++)
    good = solve_grasp(context, s, (frix_scara_form)form, seed, &t, &c);
  if (!good) return FX_EXIT_USAGE;
  if (!s->json) {
    print_grasps((frix_scara_form)form, &t, &c);
    print_verdict(&t, s->config.tolerance);
  }
  return t.solved == t.runs && !fx_interrupted(NULL) ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
}

/* ---- lists */

static void list_text(void) {
  fx_column column[] = {
      {"problem", 16, true}, {"unknowns", 8, false}, {"starts", 6, false}, {"", 9, true}, {"", 0, true}};
  fx_table_header(column, 5);
  for (int32_t k = 0; frix_mcp_library(k); k++) {
    const frix_mcp_entry *e = frix_mcp_library(k);
    fx_cell cell[5];
    fx_cell_set(&cell[0], FX_BOLD, "%s%s", e->name, e->sized ? "-N" : "");
    fx_cell_set(&cell[1], FX_PLAIN, "%d", (int)e->count);
    fx_cell_set(&cell[2], FX_PLAIN, "%d", (int)e->start_count);
    fx_cell_set(&cell[3], FX_PLAIN, "%s", e->linear ? "linear" : "");
    fx_cell_set(&cell[4], FX_PLAIN, e->sized ? "%s; N = %d by default, %d to %d" : "%s", e->summary, (int)e->size,
                (int)e->minimum, (int)e->maximum);
    fx_table_row(column, cell, 5);
  }
  printf("scara: two arms grasp a cube; --form sliding, cone or pyramid, --seeds A:B\n\nmethods:\n");
  for (int32_t k = 0; frix_mcp_method_table(k); k++) {
    const frix_mcp_method_info *m = frix_mcp_method_table(k);
    printf("  %-18s %s\n", m->name, m->summary);
    for (int32_t o = 0; o < m->option_count; o++)
      printf("      --set %s.%s=%g   %s\n", m->name, m->option[o].name, m->option[o].initial, m->option[o].summary);
  }
}

static void list_json(void) {
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '[');
  for (int32_t k = 0; frix_mcp_library(k); k++) {
    const frix_mcp_entry *e = frix_mcp_library(k);
    fx_put_open(&json, NULL, '{');
    fx_put_text(&json, "name", e->name);
    fx_put_text(&json, "family", e->family);
    fx_put_text(&json, "summary", e->summary);
    fx_put_integer(&json, "unknowns", e->count);
    fx_put_integer(&json, "starts", e->start_count);
    fx_put_boolean(&json, "linear", e->linear);
    fx_put_boolean(&json, "sized", e->sized);
    if (e->sized) {
      fx_put_integer(&json, "size", e->size);
      fx_put_integer(&json, "minimum", e->minimum);
      fx_put_integer(&json, "maximum", e->maximum);
    }
    fx_put_close(&json, '}');
  }
  fx_put_close(&json, ']');
  fx_put_end_line(&json);
}

/* ---- the verb */

static int run_mcp(const fx_args *args) {
  settings s = {0};
  bool grasp = args->word_count == 1 && !strcmp(args->word[0], "scara");
  if (fx_arg(args, "--list")) {
    if (fx_arg(args, "--json")) {
      list_json();
    } else {
      list_text();
    }
    return FX_EXIT_SOLVED;
  }
  if (args->word_count == 0) {
    fx_error("usage: frix mcp NAME..., frix mcp scara, or frix mcp --list");
    return FX_EXIT_USAGE;
  }
  if (!grasp && (fx_arg(args, "--form") || fx_arg(args, "--seeds"))) {
    fx_error("--form and --seeds belong to 'frix mcp scara'");
    return FX_EXIT_USAGE;
  }
  frix_context *context = fx_context(fx_arg(args, "--explain") != NULL);
  fx_catch_interrupt();
  int code = FX_EXIT_USAGE;
  if (read_settings(args, &s)) {
    s.config.cancel = interrupted;
    code = grasp ? run_grasps(context, args, &s) : run_problems(context, args, &s);
  }
  free_settings(&s);
  frix_context_destroy(context);
  return code;
}

static const fx_flag flags[] = {
    {"--list", NULL, NULL, "list the problems and the methods"},
    {"--method", "M", "@methods", "method; default auto"},
    {"--start", "K", NULL, "starting point K (0, 1, ...), or all; default 0"},
    {"--form", "FORM", "sliding|cone|pyramid",
     "scara: both contacts slide (sliding), or roll, with the cone or the pyramid"},
    {"--seeds", "A:B", NULL, "scara: instances A to B; default 1:200; 0 is the undisturbed grasp"},
    {"--tol", "X", NULL, "residual to reach; default 1e-8"},
    {"--max-iterations", "N", NULL, "largest number of iterations per method; default: the method's own"},
    {"--time-limit", "S", NULL, "time limit per run in s; default: none"},
    {"--set", "k=v", NULL, "set an option of a method (semismooth.restarts=5); may be repeated"},
    {"--text", "KIND", "local|global|lcp|mlcp", "kind of problem in a .dat file, if the file does not say"},
    {"--explain", NULL, NULL, "print what the methods do to stderr"},
    {"--json", NULL, NULL, "print one JSON object per run, one per line"},
    {0},
};

const fx_verb fx_verb_mcp = {
    .name = "mcp",
    .arguments = "NAME...",
    .summary = "solve mixed complementarity problems",
    .detail =
        "NAME is a problem of the library (NAME-N where its size is free), 'all', 'scara', or a file with an LCP, an "
        "MLCP or a\n"
        "contact problem. Every answer is checked by its natural residual.",
    .example =
        "  frix mcp --list\n"
        "  frix mcp kojshin --start all --method box_trust_region\n"
        "  frix mcp control-14000                          # 70,000 unknowns\n"
        "  frix mcp scara --form cone --seeds 1:200 --json",
    .flag = flags,
    .words = "@problems",
    .max_words = 1 << 30,
    .run = run_mcp,
};
