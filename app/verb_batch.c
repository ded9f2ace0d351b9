/* frix batch: many runs of a scene with varied parameters, on several threads or machines; one row each. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch_table.h"
#include "subject.h"

enum { MOST_VARIED = 8, RUNS_PER_THREAD = 4 };

typedef struct varied {
  int32_t parameter; /* of the scene; -1: the friction of a file */
  char name[48];
  double low, high;
  bool whole;
} varied;

typedef struct sweep {
  frix_context *context;
  fx_subject subject;
  frix_sim_config config;
  frix_options *options;
  varied vary[MOST_VARIED];
  int vary_count;
  int64_t runs, shard, shards; /* runs k with k % shards == shard - 1 */
  double h, time;
  int64_t steps;
  bool quiet;
  const char *out;
  char part[4096]; /* where rows are kept until all are there */
  fx_batch_table table;
} sweep;

static const char *const measured[] = {"steps",    "certified", "residual", "penetration", "kinetic",   "potential",
                                       "friction", "impact",    "moved",    "speed",       "hash_high", "hash_low"};
enum { MEASURED = sizeof measured / sizeof *measured };

/* ---- what is varied */

/* name=low:high */
static bool read_vary(sweep *s, const char *text) {
  char *key = NULL, *end = NULL;
  const char *range = NULL;
  if (s->vary_count == MOST_VARIED) {
    fx_error("--vary: at most %d parameters", MOST_VARIED);
    return false;
  }
  if (!fx_split_setting(text, &key, &range)) return false;
  varied *v = &s->vary[s->vary_count++];
  const frix_scene *scene = s->subject.scene;
  bool good = strlen(key) < sizeof v->name;
  if (good) strcpy(v->name, key);
  v->parameter = scene ? frix_scene_parameter_index(scene, key) : -1;
  if (scene ? v->parameter < 0 : strcmp(key, "friction") != 0) {
    fx_error(scene ? "--vary %s: the scene has no such parameter: see 'frix list scenes'"
                   : "--vary %s: of a world from a file, friction can be varied",
             text);
    good = false;
  }
  free(key);
  if (!good) return false;
  v->low = v->high = strtod(range, &end);
  if (end != range && *end == ':') v->high = strtod(range = end + 1, &end);
  v->whole = scene && scene->parameter[v->parameter].kind != FRIX_OPTION_REAL;
  good = end != range && !*end && v->low <= v->high && isfinite(v->low) && isfinite(v->high) &&
         (scene ? frix_scene_allows(scene, v->parameter, v->low) && frix_scene_allows(scene, v->parameter, v->high)
                : v->low >= 0);
  if (!good) fx_error("--vary %s: NAME=LOW:HIGH within the range of the parameter is needed", text);
  return good;
}

/* A number in [0, 1) that depends on the seed, the run and the parameter alone (splitmix64, Steele et al. 2014). */
static double chance(uint64_t seed, int64_t run, int parameter) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + (uint64_t)run * 0xbf58476d1ce4e5b9u + (uint64_t)(parameter + 1);
  for (int k = 0; k < 2; k++) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
  }
  return (double)(x >> 11) * 0x1p-53;
}

static double value_of(const sweep *s, int64_t run, int k) {
  const varied *v = &s->vary[k];
  double u = chance(s->subject.seed, run, k);
  if (v->whole) return fmin(v->high, v->low + floor(u * (v->high - v->low + 1)));
  return v->low + u * (v->high - v->low);
}

/* ---- one block of runs */

typedef struct run_state {
  fx_subject subject;
  int64_t run;
  frix_tally tally;
  frix_vec3 *start; /* by body */
} run_state;

typedef struct block {
  const sweep *sweep;
  int32_t count;
  run_state *run;
  const frix_model **model;
} block;

static frix_status drive(frix_sim *sim, int32_t k, double h, void *user) {
  const block *b = user;
  const fx_subject *subject = &b->run[k].subject;
  return subject->scene ? frix_scene_drive(subject->scene, sim, subject->model, subject->value, h) : FRIX_OK;
}

static bool build_run(block *b, int32_t k, int64_t run) {
  const sweep *s = b->sweep;
  run_state *r = &b->run[k];
  r->run = run;
  r->subject = s->subject;
  r->subject.own = NULL, r->subject.model = NULL, r->subject.missing = (fx_missing){0};
  if (r->subject.seed) r->subject.seed += (uint64_t)run;
  for (int j = 0; j < s->vary_count; j++)
    *(s->vary[j].parameter < 0 ? &r->subject.friction : &r->subject.value[s->vary[j].parameter]) = value_of(s, run, j);
  if (!fx_subject_build(&r->subject, s->context)) return false;
  r->tally = frix_tally_default();
  b->model[k] = r->subject.model;
  return true;
}

static void note_start(run_state *r, const frix_sim *sim) {
  int32_t at = 0;
  r->start = calloc((size_t)frix_sim_body_count(sim) + 1, sizeof *r->start);
  for (frix_body_id id = frix_sim_body_next(sim, (frix_body_id){0, 0}); r->start && id.index;
       id = frix_sim_body_next(sim, id)) {
    frix_body_state state;
    if (frix_sim_body(sim, id, &state) == FRIX_OK) r->start[at++] = state.center;
  }
}

/* Farthest way of a body that was there at the start, and the largest speed. */
static void measure(const run_state *r, const frix_sim *sim, double *moved, double *speed) {
  int32_t at = 0;
  *moved = *speed = 0;
  for (frix_body_id id = frix_sim_body_next(sim, (frix_body_id){0, 0}); r->start && id.index;
       id = frix_sim_body_next(sim, id)) {
    frix_body_state s;
    if (id.generation != 1 || frix_sim_body(sim, id, &s) != FRIX_OK) continue;
    if (at >= frix_model_count(r->subject.model).body_count) break;
    frix_vec3 d = {s.center.x - r->start[at].x, s.center.y - r->start[at].y, s.center.z - r->start[at].z};
    at++;
    *moved = fmax(*moved, sqrt(d.x * d.x + d.y * d.y + d.z * d.z));
    *speed =
        fmax(*speed, sqrt(s.velocity.x * s.velocity.x + s.velocity.y * s.velocity.y + s.velocity.z * s.velocity.z));
  }
}

static bool add_row(sweep *s, const run_state *r, const frix_sim *sim) {
  double *cell = fx_batch_table_add(&s->table);
  if (!cell) return false;
  frix_energy e = frix_sim_energy(sim);
  uint64_t hash = 0;
  frix_sim_hash(sim, &hash);
  *cell++ = (double)r->run;
  for (int k = 0; k < s->vary_count; k++) *cell++ = value_of(s, r->run, k);
  double moved, speed;
  measure(r, sim, &moved, &speed);
  const double value[MEASURED] = {(double)r->tally.steps,
                                  (double)r->tally.certified,
                                  r->tally.residual_max,
                                  r->tally.penetration_max,
                                  e.kinetic,
                                  e.potential,
                                  e.friction,
                                  e.impact,
                                  moved,
                                  speed,
                                  (double)(hash >> 32),
                                  (double)(hash & 0xffffffffu)};
  memcpy(cell, value, sizeof value);
  return true;
}

/* Steps of all runs of a block; one step of all at a time where each report counts. */
static bool step_block(const sweep *s, block *b, frix_batch *batch, frix_step_report *report) {
  for (int64_t n = 0; n < s->steps; n++) {
    if (frix_batch_step(batch, s->h, 1, report) != FRIX_OK) {
      fx_error("%s", frix_error_text(s->context));
      return false;
    }
    for (int32_t k = 0; k < b->count; k++) frix_tally_add(&b->run[k].tally, &report[k], n + 1, s->config.tolerance);
  }
  return true;
}

static bool run_block(sweep *s, const int64_t *number, int32_t count) {
  block b = {.sweep = s, .count = count};
  frix_batch *batch = NULL;
  b.run = calloc((size_t)count, sizeof *b.run);
  b.model = calloc((size_t)count, sizeof *b.model);
  frix_step_report *report = calloc((size_t)count, sizeof *report);
  bool good = b.run && b.model && report;
  for (int32_t k = 0; good && k < count; k++) good = build_run(&b, k, number[k]);
  frix_batch_config config = frix_batch_default();
  config.count = count, config.thread_count = s->config.thread_count, config.sim = &s->config, config.each = b.model;
  config.before = drive, config.user = &b;
  if (good && frix_batch_create(s->context, NULL, &config, &batch) != FRIX_OK) {
    fx_error("%s", frix_error_text(s->context));
    good = false;
  }
  for (int32_t k = 0; good && k < count; k++) note_start(&b.run[k], frix_batch_sim(batch, k));
  good = good && step_block(s, &b, batch, report);
  for (int32_t k = 0; good && k < count; k++) good = add_row(s, &b.run[k], frix_batch_sim(batch, k));
  frix_batch_destroy(batch);
  for (int32_t k = 0; b.run && k < count; k++) {
    frix_model_destroy(b.run[k].subject.own);
    fx_missing_free(&b.run[k].subject.missing);
    free(b.run[k].start);
  }
  free(b.run), free(b.model), free(report);
  return good;
}

/* ---- all of them */

static bool is_done(const sweep *s, int64_t known, int64_t run) {
  for (int64_t k = 0; k < known; k++)
    if (s->table.cell[k * s->table.column_count] == (double)run) return true;
  return false;
}

static bool run_all(sweep *s, FILE *part) {
  int64_t known = s->table.row_count, of = 0, number[1024];
  int32_t most = s->config.thread_count * RUNS_PER_THREAD, waiting = 0;
  if (most > 1024) most = 1024;
  for (int64_t run = s->shard - 1; run < s->runs; run += s->shards) of++;
  for (int64_t run = s->shard - 1; run < s->runs + s->shards; run += s->shards) {
    bool end = run >= s->runs;
    if (!end && !is_done(s, known, run)) number[waiting++] = run;
    if (!waiting || (!end && waiting < most)) continue;
    int64_t first = s->table.row_count;
    if (!run_block(s, number, waiting)) return false;
    fx_batch_table_print(part, &s->table, first);
    if (fflush(part)) {
      fx_error("%s: cannot be written", s->part);
      return false;
    }
    waiting = 0;
    if (!s->quiet) fx_progress("%" PRId64 " of %" PRId64 " runs", s->table.row_count, of);
  }
  fx_progress_clear();
  return true;
}

static void name_columns(sweep *s) {
  fx_batch_table *t = &s->table;
  strcpy(t->name[t->column_count++], "run");
  for (int k = 0; k < s->vary_count; k++) strcpy(t->name[t->column_count++], s->vary[k].name);
  for (int k = 0; k < MEASURED; k++) strcpy(t->name[t->column_count++], measured[k]);
}

/* All that the rows depend on, in a line. */
static void describe(sweep *s) {
  char *out = s->table.settings;
  size_t size = sizeof s->table.settings, used = 0;
  used += (size_t)snprintf(out, size, "# frix batch %s runs=%" PRId64 " seed=%" PRIu64 " dt=%.17g time=%.17g tol=%.17g",
                           s->subject.word, s->runs, s->subject.seed, s->h, s->time, s->config.tolerance);
  for (int32_t k = 0; s->subject.scene && k < s->subject.scene->parameter_count && used < size; k++)
    used += (size_t)snprintf(out + used, size - used, " %s=%.17g", s->subject.scene->parameter[k].name,
                             s->subject.value[k]);
  for (int k = 0; k < s->vary_count && used < size; k++)
    used += (size_t)snprintf(out + used, size - used, " vary:%s=%.17g:%.17g", s->vary[k].name, s->vary[k].low,
                             s->vary[k].high);
}

/* Rows that an interrupted call left; false after a message. */
static bool take_up(sweep *s) {
  fx_batch_table found;
  if (access(s->part, F_OK) != 0) return true;
  if (!fx_batch_table_read(s->part, &found)) return false;
  if (strcmp(found.settings, s->table.settings) != 0 || found.column_count != s->table.column_count) {
    fx_error("%s: is of another batch: %s", s->part, found.settings);
    fx_batch_table_free(&found);
    return false;
  }
  s->table = found;
  return true;
}

static bool read_shard(sweep *s, const char *text) {
  char *end = NULL;
  s->shard = s->shards = 1;
  if (!text) return true;
  s->shard = strtoll(text, &end, 10);
  if (end != text && *end == '/') s->shards = strtoll(text = end + 1, &end, 10);
  if (end != text && !*end && s->shard >= 1 && s->shard <= s->shards && s->shards <= 1000000) return true;
  fx_error("--shard: K/N with 1 <= K <= N is needed");
  return false;
}

static bool read_flags(sweep *s, const fx_args *args) {
  s->out = fx_arg(args, "--out");
  s->quiet = fx_arg(args, "--quiet") != NULL;
  s->runs = 1;
  if (!s->out) {
    fx_error("batch needs --out FILE.csv or FILE.npz");
    return false;
  }
  if (!fx_subject_read(args, args->word[0], &s->subject) || !fx_arg_integer(args, "--runs", 1, 100000000, &s->runs) ||
      !read_shard(s, fx_arg(args, "--shard")) || !fx_sim_settings(s->context, args, &s->config, &s->options))
    return false;
  int cursor = 0;
  for (const char *text; (text = fx_arg_next(args, "--vary", &cursor));)
    if (!read_vary(s, text)) return false;
  if (!fx_subject_build(&s->subject, s->context)) return false; /* a file tells its step */
  s->h = s->subject.step, s->time = s->subject.time;
  if (!fx_arg_real(args, "--dt", 1e-9, 1e3, &s->h) || !fx_arg_real(args, "--time", 0, 1e9, &s->time)) return false;
  s->steps = (int64_t)floor(s->time / s->h + 0.5);
  if ((size_t)snprintf(s->part, sizeof s->part, "%s.part", s->out) >= sizeof s->part) return false;
  return fx_check_output(s->context, s->out);
}

static int finish(sweep *s) {
  int64_t uncertified = 0;
  fx_batch_table_sort(&s->table);
  if (!fx_batch_table_write(s->context, s->out, &s->table)) return FX_EXIT_USAGE;
  unlink(s->part);
  int steps = 1 + s->vary_count;
  for (int64_t k = 0; k < s->table.row_count; k++) {
    const double *cell = s->table.cell + k * s->table.column_count + steps;
    uncertified += cell[1] != cell[0];
  }
  if (!s->quiet)
    printf("%" PRId64 " runs of %" PRId64 " steps, %" PRId64 " with steps that are not certified: %s\n",
           s->table.row_count, s->steps, uncertified, s->out);
  return uncertified ? FX_EXIT_UNSOLVED : FX_EXIT_SOLVED;
}

static int run_sweep(sweep *s, const fx_args *args) {
  if (!read_flags(s, args)) return FX_EXIT_USAGE;
  name_columns(s);
  describe(s);
  if (fx_arg(args, "--resume") && !take_up(s)) return FX_EXIT_USAGE;
  FILE *part = fopen(s->part, "w");
  if (!part) {
    fx_error("%s: cannot be written", s->part);
    return FX_EXIT_USAGE;
  }
  if (s->table.row_count) fx_batch_table_print(part, &s->table, 0);
  bool good = run_all(s, part);
  good = !fclose(part) && good;
  return good ? finish(s) : FX_EXIT_USAGE;
}

/* ---- shards become one table */

static bool gather(const fx_args *args, fx_batch_table *all) {
  for (int k = 0; k < args->word_count; k++) {
    fx_batch_table one;
    if (!fx_batch_table_read(args->word[k], &one)) return false;
    bool same = k == 0 || (!strcmp(one.settings, all->settings) && one.column_count == all->column_count);
    if (!same) fx_error("%s and %s are of different batches", args->word[0], args->word[k]);
    if (k == 0)
      *all = one;
    else
      for (int64_t row = 0; same && row < one.row_count; row++) {
        double *cell = fx_batch_table_add(all);
        if (!cell) return false;
        memcpy(cell, one.cell + row * one.column_count, (size_t)one.column_count * sizeof *cell);
      }
    if (k > 0) fx_batch_table_free(&one);
    if (!same) return false;
  }
  fx_batch_table_sort(all);
  const char *runs = strstr(all->settings, " runs=");
  int64_t wanted = runs ? strtoll(runs + 6, NULL, 10) : 0;
  for (int64_t row = 0; row < all->row_count; row++) {
    if (all->cell[row * all->column_count] == (double)row) continue;
    fx_error("run %" PRId64 " is missing, or there twice", row);
    return false;
  }
  if (all->row_count != wanted) fx_error("%" PRId64 " of %" PRId64 " runs are there", all->row_count, wanted);
  return all->row_count == wanted;
}

static int run_merge(frix_context *context, const fx_args *args) {
  const char *out = fx_arg(args, "--out");
  fx_batch_table all = {.row_count = 0};
  if (!out) fx_error("batch --merge needs --out FILE.csv or FILE.npz");
  bool good = out && fx_check_output(context, out) && gather(args, &all) && fx_batch_table_write(context, out, &all);
  fx_batch_table_free(&all);
  return good ? FX_EXIT_SOLVED : FX_EXIT_USAGE;
}

static int run_batch(const fx_args *args) {
  sweep s = {.context = fx_context(false)};
  int code = FX_EXIT_USAGE;
  if (fx_arg(args, "--merge")) {
    code = run_merge(s.context, args);
  } else if (args->word_count > 1) {
    fx_error("batch takes one scene; several tables with --merge");
  } else {
    code = run_sweep(&s, args);
  }
  fx_batch_table_free(&s.table);
  fx_subject_free(&s.subject);
  frix_options_destroy(s.options);
  frix_context_destroy(s.context);
  return code;
}

static const fx_flag flags[] = {
    {"--runs", "N", NULL, "number of runs, default 1"},
    {"--vary", "k=a:b", NULL, "vary a scene parameter (files: friction) uniformly between a and b; may be repeated"},
    {"--set", "k=v", NULL, "set a parameter of the scene (levels=4) or an option of a solver; may be repeated"},
    {"--seed", "N", NULL, "seed of the varied values; if not 0, run k uses scene seed N + k"},
    {"--time", "T", NULL, "simulated time in s; default: the scene's"},
    {"--dt", "H", NULL, "time step in s; default: the scene's"},
    FX_SIM_FLAGS,
    {"--out", "FILE", NULL, "write the table of runs, .csv or .npz, when all runs are done"},
    {"--resume", NULL, NULL, "continue an interrupted call from FILE.part"},
    {"--shard", "K/N", NULL, "do only the runs K-1, K-1+N, K-1+2N, ...: for N machines"},
    {"--merge", NULL, NULL, "join the tables of all shards (.csv) given as arguments"},
    {"--quiet", NULL, NULL, "print no progress line and no summary"},
    {0},
};

const fx_verb fx_verb_batch = {
    .name = "batch",
    .arguments = "SCENE|FILE --out FILE",
    .summary = "run a scene many times with varied parameters, one table row each",
    .detail =
        "Each row holds the run number, the varied values, the number of steps and of certified steps, the largest\n"
        "residual and penetration, the energies at the end, the largest displacement and speed of a body, and the "
        "hash\n"
        "of the final state (two halves of 32 bits). A row depends only on the seed and the run number, not on "
        "threads,\n"
        "shards or interruptions. Exit code 0: every step of every run is certified; 1: some are not; 2: bad input.",
    .example =
        "  frix batch cardhouse --runs 100 --vary mu=0.3:1 --seed 5 --threads 4 --out runs.csv\n"
        "  frix batch stack --runs 1000 --vary mu=0.1:1 --shard $SLURM_ARRAY_TASK_ID/10 --out "
        "part_$SLURM_ARRAY_TASK_ID.csv\n"
        "  frix batch --merge part_*.csv --out runs.npz",
    .flag = flags,
    .words = "@scenes",
    .min_words = 1,
    .max_words = 100000,
    .run = run_batch,
};
