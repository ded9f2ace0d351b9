/* frix label: verdicts on many grasps or assemblies: a table of poses and parameters in, a table of verdicts with
 * margins out, row by row (docs/explain.md).
 *
 *   stands   forces within the friction cones exist that balance all weights (frix/equilibrium.h)
 *   margin   stands: the largest acceleration, over that of gravity, that can be added in any of the directions +-x,
 * +-y,
 *            +-z; falls: minus the power of the mechanism that shows it, over that of the weights at its largest speed
 *   friction stands: the least part of its friction with which it still does, to 1e-7 */
#include "subject.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_COLUMNS = 64, LINE = 16384, DIRECTIONS = 6 };

typedef struct column {
  int32_t parameter; /* of the scene, -1: of a pose, -2: only copied */
  frix_body_id body;
  int part; /* x y z rx ry rz */
} column;

typedef struct job {
  frix_context *context;
  fx_subject subject;
  frix_sim_config config;
  frix_options *options;
  frix_sim *sim;
  double h, gravity, weight;
  double friction; /* factor on mu of all contacts */
  column column[MOST_COLUMNS];
  int count;
  bool rebuilds, directions_wanted;
  int64_t part, parts;
  int64_t judged, stands, falls, undecided;
} job;

typedef struct verdict {
  frix_standing standing;
  double margin, friction;
  int direction; /* of the margin, -1: none */
  char a[64], b[64];
  double imbalance;
} verdict;

static const char *const direction_name[DIRECTIONS] = {"x", "-x", "y", "-y", "z", "-z"};
static const frix_vec3 direction_of[DIRECTIONS] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};

/* ---- the table ---- */

static int split(char *line, char **word) {
  int count = 0;
  line[strcspn(line, "\r\n")] = 0;
  for (char *p = line; p && count < MOST_COLUMNS;) {
    char *end = strchr(p, ',');
    if (end) *end = 0;
    word[count++] = p;
    p = end ? end + 1 : NULL;
  }
  return count;
}

static bool read_column(job *j, const char *name, column *out) {
  static const char *const part[] = {"x", "y", "z", "rx", "ry", "rz"};
  const char *dot = strrchr(name, '.');
  char body[128];
  out->parameter = j->subject.scene ? frix_scene_parameter_index(j->subject.scene, name) : -1;
  if (out->parameter >= 0) {
    j->rebuilds = true;
    return true;
  }
  snprintf(body, sizeof body, "%.*s", dot ? (int)(dot - name) : 0, name);
  out->body = dot ? frix_model_find_body(j->subject.model, body) : (frix_body_id){0, 0};
  out->part = -1;
  for (int k = 0; dot && k < 6; k++)
    if (!strcmp(dot + 1, part[k])) out->part = k;
  if (!strcmp(name, "name") || !strcmp(name, "row")) {
    out->parameter = -2;
    return true;
  }
  if (out->body.index && out->part >= 0) return true;
  fx_error("column '%s': neither a parameter of %s nor BODY.x, .y, .z, .rx, .ry, .rz, name or row", name,
           j->subject.word);
  return false;
}

static bool read_head(job *j, const char *path, FILE *file) {
  char line[LINE], *word[MOST_COLUMNS];
  if (!fgets(line, sizeof line, file)) {
    fx_error("%s: empty", path);
    return false;
  }
  j->count = split(line, word);
  for (int k = 0; k < j->count; k++)
    if (!read_column(j, word[k], &j->column[k])) return false;
  return true;
}

/* ---- one row ---- */

static void scale_friction(const frix_sim *sim, const frix_contact_pair *pair, frix_contact_law *law, void *user) {
  (void)sim, (void)pair;
  law->mu *= ((const job *)user)->friction;
}

static bool open_world(job *j) {
  frix_sim_destroy(j->sim);
  j->sim = NULL;
  if (!fx_subject_build(&j->subject, j->context)) return false;
  if (frix_sim_create(j->context, j->subject.model, &j->config, &j->sim) != FRIX_OK) {
    fx_error("%s: %s", j->subject.word, frix_error_text(j->context));
    return false;
  }
  frix_contact_hooks hooks = frix_contact_hooks_default();
  hooks.modify = scale_friction, hooks.user = j;
  frix_sim_set_hooks(j->sim, &hooks);
  frix_vec3 g = frix_model_gravity(j->subject.model);
  j->gravity = sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
  j->weight = 0;
  for (int32_t k = 0; k < frix_model_count(j->subject.model).body_count; k++) {
    frix_body_config body;
    if (frix_model_body(j->subject.model, frix_model_body_at(j->subject.model, k), &body) == FRIX_OK &&
        body.kind == FRIX_BODY_DYNAMIC)
      j->weight += body.mass * j->gravity;
  }
  return true;
}

/* Poses of the row; the columns of a body stand beside or apart, what is not named stays as the scene has it. */
static bool set_poses(job *j, const double *value) {
  for (int k = 0; k < j->count; k++) {
    frix_body_config body;
    double at[6] = {0};
    bool given[6] = {false}, seen = false;
    if (j->column[k].parameter != -1) continue;
    for (int n = 0; n < k; n++)
      seen |= j->column[n].parameter == -1 && j->column[n].body.index == j->column[k].body.index;
    if (seen || frix_model_body(j->subject.model, j->column[k].body, &body) != FRIX_OK) continue;
    for (int n = k; n < j->count; n++)
      if (j->column[n].parameter == -1 && j->column[n].body.index == j->column[k].body.index)
        at[j->column[n].part] = value[n], given[j->column[n].part] = true;
    frix_pose pose = body.pose;
    if (given[0]) pose.p.x = at[0];
    if (given[1]) pose.p.y = at[1];
    if (given[2]) pose.p.z = at[2];
    frix_vec3 turn = {at[3], at[4], at[5]};
    double angle = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    if (given[3] || given[4] || given[5]) pose.q = frix_quat_turn(turn, angle);
    if (frix_sim_set_pose(j->sim, j->column[k].body, pose) != FRIX_OK) {
      fx_error("%s", frix_error_text(j->context));
      return false;
    }
  }
  return true;
}

/* The contact that uses most of its friction. */
static void note_weakest(const job *j, const frix_equilibrium_result *r, verdict *v) {
  double most = -1;
  for (int32_t k = 0; k < r->contact_count; k++) {
    if (!(r->contact[k].margin > most + 1e-9)) continue;
    most = r->contact[k].margin;
    fx_body_name(j->sim, j->subject.model, r->contact[k].a, v->a, sizeof v->a);
    fx_body_name(j->sim, j->subject.model, r->contact[k].b, v->b, sizeof v->b);
  }
}

static bool ask(job *j, const frix_load_config *load, frix_equilibrium **e, frix_equilibrium_result *r) {
  *e = NULL;
  if (frix_sim_equilibrium(j->sim, j->h, load, e) != FRIX_OK) {
    fx_error("%s: %s", j->subject.word, frix_error_text(j->context));
    return false;
  }
  frix_equilibrium_view(*e, r);
  return true;
}

static bool find_margin(job *j, verdict *v) {
  v->margin = INFINITY;
  for (int d = 0; d < DIRECTIONS; d++) {
    frix_equilibrium *e;
    frix_equilibrium_result r = {.size = sizeof r};
    frix_load_config load = frix_load_default();
    load.gravity = direction_of[d];
    load.gravity.x *= j->gravity, load.gravity.y *= j->gravity, load.gravity.z *= j->gravity;
    if (!ask(j, &load, &e, &r)) return false;
    double most = r.standing == FRIX_STANDING_STANDS ? fmax(r.stands, 0) : 0;
    if (most < v->margin) v->margin = most, v->direction = d;
    frix_equilibrium_destroy(e);
  }
  return true;
}

/* More friction never takes an equilibrium away: bisected. The weakest contact is that of the last one that stands. */
static bool find_friction(job *j, verdict *v) {
  double low = 0, high = 1;
  bool good = true;
  for (int k = 0; good && (k == 0 || high - low > 1e-7); k++) {
    frix_equilibrium *e;
    frix_equilibrium_result r = {.size = sizeof r};
    double at = k == 0 ? 0 : 0.5 * (low + high);
    j->friction = at;
    good = ask(j, NULL, &e, &r);
    if (good && r.standing == FRIX_STANDING_STANDS) {
      high = at;
      note_weakest(j, &r, v);
    } else {
      low = at;
    }
    frix_equilibrium_destroy(e);
    if (high == 0) break;
  }
  j->friction = 1;
  v->friction = high;
  return good;
}

static bool judge(job *j, const double *value, verdict *v) {
  frix_equilibrium *e;
  frix_equilibrium_result r = {.size = sizeof r};
  *v = (verdict){.direction = -1, .margin = NAN, .friction = NAN};
  for (int k = 0; k < j->count; k++)
    if (j->column[k].parameter >= 0) {
      if (!frix_scene_allows(j->subject.scene, j->column[k].parameter, value[k])) return true; /* undecided */
      j->subject.value[j->column[k].parameter] = value[k];
    }
  if (j->rebuilds && !open_world(j)) return false;
  if (!set_poses(j, value) || !ask(j, NULL, &e, &r)) return false;
  v->standing = r.standing;
  v->imbalance = r.imbalance;
  if (r.standing == FRIX_STANDING_FALLS) v->margin = -r.power / j->weight;
  if (r.standing == FRIX_STANDING_FALLS && r.motion_count > 0)
    fx_body_name(j->sim, j->subject.model, r.motion[0].body, v->a, sizeof v->a);
  if (r.standing == FRIX_STANDING_STANDS) note_weakest(j, &r, v);
  frix_equilibrium_destroy(e);
  if (r.standing != FRIX_STANDING_STANDS || !j->directions_wanted) return true;
  return find_margin(j, v) && find_friction(j, v);
}

static void put_verdict(FILE *out, int64_t row, const verdict *v) {
  fprintf(out, "%lld,%s,%.12g,%.8f,%s,", (long long)row, frix_standing_name(v->standing), v->margin, v->friction,
          v->direction >= 0 ? direction_name[v->direction] : "");
  fx_csv_text(out, v->a);
  putc(',', out);
  fx_csv_text(out, v->b);
  fprintf(out, ",%.3g\n", v->imbalance);
}

/* ---- all rows ---- */

static const char head_line[] = "row,verdict,margin,friction,direction,weakest_a,weakest_b,imbalance\n";

/* What an output that goes on must begin with. */
static void title(const job *j, const char *table, char *out, size_t size) {
  snprintf(out, size, "# frix label %s %s %lld/%lld\n", fx_base_name(table), j->subject.word, (long long)j->part,
           (long long)j->parts);
}

/* Opens the output behind its last whole line; *done: rows that it holds. */
static FILE *open_output(const job *j, const char *table, const char *path, int64_t *done) {
  char line[LINE], wanted[512];
  title(j, table, wanted, sizeof wanted);
  *done = 0;
  FILE *file = fopen(path, "r+");
  if (!file) {
    if ((file = fopen(path, "w"))) fprintf(file, "%s%s", wanted, head_line);
    if (!file) fx_error("%s: %s", path, strerror(errno));
    return file;
  }
  long whole = 0;
  bool good = fgets(line, sizeof line, file) && !strcmp(line, wanted) && fgets(line, sizeof line, file) &&
              !strcmp(line, head_line);
  if (good) whole = ftell(file);
  while (good && fgets(line, sizeof line, file) && strchr(line, '\n')) whole = ftell(file), ++*done;
  if (good && fseek(file, whole, SEEK_SET) == 0) return file;
  fx_error("%s exists and is not the output of this table and scene", path);
  fclose(file);
  return NULL;
}

static bool read_row(const job *j, char *line, double *value) {
  char *word[MOST_COLUMNS], *end;
  if (split(line, word) != j->count) return false;
  for (int k = 0; k < j->count; k++) {
    if (j->column[k].parameter == -2) continue;
    value[k] = strtod(word[k], &end);
    if (end == word[k] || *end || !isfinite(value[k])) return false;
  }
  return true;
}

static bool judge_all(job *j, const char *path, FILE *table, FILE *out, int64_t done) {
  char line[LINE];
  double value[MOST_COLUMNS] = {0};
  int64_t row = 0, own = 0;
  while (fgets(line, sizeof line, table)) {
    if (line[0] == '\n' || line[0] == '#') continue;
    row++;
    if ((row - 1) % j->parts != j->part - 1 || own++ < done) continue;
    verdict v;
    if (!read_row(j, line, value)) {
      fx_error("%s, row %lld: not %d numbers", path, (long long)row, j->count);
      return false;
    }
    if (!judge(j, value, &v)) return false;
    put_verdict(out, row, &v);
    j->judged++;
    j->stands += v.standing == FRIX_STANDING_STANDS, j->falls += v.standing == FRIX_STANDING_FALLS;
    j->undecided += v.standing == FRIX_STANDING_UNDECIDED;
    if (j->judged % 64 == 0) fflush(out), fx_progress("label: row %lld", (long long)row);
    if (fx_interrupted(NULL)) break;
  }
  fx_progress_clear();
  return true;
}

static bool read_part(const fx_args *args, job *j) {
  const char *text = fx_arg(args, "--part");
  char *end = NULL;
  j->part = j->parts = 1;
  if (!text) return true;
  j->part = strtoll(text, &end, 10);
  if (*end == '/') j->parts = strtoll(end + 1, &end, 10);
  if (!*end && j->part >= 1 && j->part <= j->parts && j->parts <= 100000) return true;
  fx_error("--part %s: should read K/N, 1/2 for the first of two parts", text);
  return false;
}

static bool open_job(job *j, const fx_args *args) {
  if (!read_part(args, j) || !fx_subject_read(args, args->word[1], &j->subject)) return false;
  if (!fx_sim_settings(j->context, args, &j->config, &j->options) || !open_world(j)) return false;
  j->h = j->subject.step;
  j->directions_wanted = !fx_arg(args, "--no-margins");
  return true;
}

static void tell(const job *j, bool json, double seconds) {
  double rate = seconds > 0 ? (double)j->judged / seconds : 0;
  if (!json) {
    fprintf(stderr, "%lld rows: %lld stand, %lld fall, %lld undecided; %.0f rows a second of CPU time\n",
            (long long)j->judged, (long long)j->stands, (long long)j->falls, (long long)j->undecided, rate);
    return;
  }
  fx_json out = {stdout, false};
  fx_put_open(&out, NULL, '{');
  fx_put_integer(&out, "rows", j->judged);
  fx_put_integer(&out, "stand", j->stands);
  fx_put_integer(&out, "fall", j->falls);
  fx_put_integer(&out, "undecided", j->undecided);
  fx_put_real(&out, "rate", rate);
  fx_put_close(&out, '}');
  fx_put_end_line(&out);
}

static int run_label(const fx_args *args) {
  job j = {.context = fx_context(false), .friction = 1};
  const char *path = args->word[0], *to = fx_arg(args, "--out");
  int64_t done = 0;
  FILE *out = NULL, *table = NULL;
  fx_catch_interrupt();
  bool good = to != NULL;
  if (!good) fx_error("label needs --out FILE.csv");
  if (good && !(table = fopen(path, "r"))) fx_error("%s: %s", path, strerror(errno));
  good = good && table && open_job(&j, args) && read_head(&j, path, table);
  if (good) out = open_output(&j, path, to, &done);
  clock_t start = clock();
  good = out && judge_all(&j, path, table, out, done);
  if (table) fclose(table);
  if (out && fclose(out) != 0) {
    fx_error("%s: %s", to, strerror(errno));
    good = false;
  }
  if (good) tell(&j, fx_arg(args, "--json"), (double)(clock() - start) / CLOCKS_PER_SEC);
  int code = !good ? FX_EXIT_USAGE : j.undecided || fx_interrupted(NULL) ? FX_EXIT_UNSOLVED : FX_EXIT_SOLVED;
  frix_sim_destroy(j.sim);
  frix_options_destroy(j.options);
  fx_subject_free(&j.subject);
  frix_context_destroy(j.context);
  return code;
}

static const fx_flag flags[] = {
    {"--out", "FILE", NULL, "write the verdicts as CSV; if the file exists, add the missing rows"},
    {"--part", "K/N", NULL, "judge every N-th row from row K on, so that N processes share a table"},
    {"--no-margins", NULL, NULL, "verdicts only: one conic programme per row instead of about thirty"},
    {"--json", NULL, NULL, "print the counts as one JSON object"},
    {"--set", "k=v", NULL, "set a parameter of the scene or an option of a solver; may be repeated"},
    {"--seed", "N", NULL, "seed of the random parts of the scene"},
    FX_SIM_FLAGS,
    {0},
};

const fx_verb fx_verb_label = {
    .name = "label",
    .arguments = "TABLE.csv SCENE --out FILE",
    .summary = "decide which grasps or assemblies of a table hold: verdict, margin, weakest contact",
    .detail =
        "Each row of the table is a world. Columns are parameters of the scene or poses of bodies (BODY.x, .y, .z in "
        "m; .rx,\n"
        ".ry, .rz a rotation vector); the columns 'name' and 'row' are ignored. Results per row: verdict, whether "
        "forces exist\n"
        "that hold it (certified, or a mechanism proves that none exist); margin, the additional acceleration in units "
        "of\n"
        "gravity that it holds in any of six directions, negative if it falls; friction, the smallest fraction of its\n"
        "friction with which it still holds. An existing output file is continued. Exit code 1 if rows are undecided.",
    .example = "  frix label grasps.csv hand.xml --out verdicts.csv --part 1/2",
    .flag = flags,
    .min_words = 2,
    .max_words = 2,
    .run = run_label,
};
