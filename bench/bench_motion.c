/* Moving scenes: processor time per step beside what came of it.
 *
 *   bench_motion [OPTION...]
 *
 *   --scene NAME|FILE   a scene of bench/motion_make.h or a file of bench/motion_scene.h; may be repeated, and NAMES
 * may be joined by commas. Names are looked for as files of the folder --scenes first
 *   --scenes DIR        folder with NAME.txt (default: only generated scenes)
 *   --seed S            generated scenes: 1 (default), 2, ...
 *   --contact LAW       rigid, stiff (frix; default: as frix has it)
 *   --stiffness K       of every contact, N/m
 *   --tol T             tolerance of the certificate
 *   --steps N           instead of the scene's own number
 *   --threads N         of frix; times are the sum over threads, "wall" is what passed
 *   --budget S          seconds of processor time for each scene and engine (default 60); then the run gives up
 *   --repeat N          best of N runs (the one with the least mean)
 *   --engine NAMES      frix (default), bullet, ode, jolt, rapier, mujoco, frix-wasm, joined by commas; NAME:N with N
 * iterations. Other engines run with their defaults, never sleep and judge nothing: penetration is measured by frix.
 * Jolt, Rapier and MuJoCo are WebAssembly in node, in a process of their own
 *   --rivals            all of them, Jolt also with 100 iterations
 *   --csv FILE, --json FILE, --per-step FILE, --markdown FILE ("-": standard output)
 *   --write DIR         write the scenes as files, run nothing
 *   --parts             add a line with the parts of a step
 *   --drift             Markdown: how far bodies moved in the last tenth of the steps, and how it ended
 *   --hashes            only scene, law and hash of the last state, which are the same on every machine
 *
 * A scene that is given up is named so, with its figures up to there. */
#include "motion_engine.h"
#include "motion_make.h"
#include "motion_peers.h"
#include "motion_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SCENES = 64, MOST_ENGINES = 16 };

static const char *standard[] = {"cards4_blow3", "stack10_push", "wall200_ball", "capsules200",    "mixed200",
                                 "boxes500",     "boxes1000",    "spheres1000",  "pyramid20_mu1.0"};

static const struct {
  const char *name;
  const motion_engine *engine;
} engines[] = {{"frix", &motion_frix},
#ifdef BENCH_PEERS
               {"bullet", &motion_bullet}, {"ode", &motion_ode},
#endif
               {"jolt", &motion_jolt},     {"rapier", &motion_rapier},
               {"mujoco", &motion_mujoco}, {"frix-wasm", &motion_frix_wasm}};

typedef struct choice {
  const motion_engine *engine;
  int32_t iterations;
} choice;

typedef struct request {
  motion_options run;
  char *scene[MOST_SCENES];
  choice engine[MOST_ENGINES];
  int scene_count, engine_count;
  const char *folder, *write;
  const char *csv, *json, *per_step, *markdown;
  int64_t seed, repeat, threads;
  bool parts, drift, hashes;
} request;

/* ---- options ---- */

static bool read_number(const char *text, double least, double *out) {
  char *end;
  *out = strtod(text, &end);
  return end != text && !*end && isfinite(*out) && *out >= least;
}

static bool add_scenes(request *q, char *names) {
  for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
    if (q->scene_count == MOST_SCENES) return false;
    q->scene[q->scene_count++] = name;
  }
  return true;
}

static bool add_engines(request *q, char *names) {
  for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
    size_t k = 0, count = sizeof engines / sizeof *engines, length = strcspn(name, ":");
    while (k < count && (strlen(engines[k].name) != length || strncmp(name, engines[k].name, length) != 0)) k++;
    double iterations = 0;
    if (k == count || q->engine_count == MOST_ENGINES) return false;
    if (name[length] && !(read_number(name + length + 1, 1, &iterations) && iterations < 1e6)) return false;
    q->engine[q->engine_count++] = (choice){engines[k].engine, (int32_t)iterations};
  }
  return true;
}

static void add_rivals(request *q) {
  for (size_t k = 0; k < sizeof engines / sizeof *engines; k++) {
    q->engine[q->engine_count++] = (choice){engines[k].engine, 0};
    if (engines[k].engine == &motion_jolt) q->engine[q->engine_count++] = (choice){&motion_jolt, 100};
  }
}

/* An option with a number behind it; 1: it was none of these. */
static int number_option(request *q, const char *key, const char *value) {
  const struct {
    const char *name;
    double least, *real;
    int64_t *whole;
  } rows[] = {{"--stiffness", 0, &q->run.stiffness, NULL},
              {"--tol", 0, &q->run.tolerance, NULL},
              {"--budget", 0, &q->run.budget, NULL},
              {"--steps", 1, NULL, &q->run.steps},
              {"--threads", 1, NULL, &q->threads},
              {"--seed", 0, NULL, &q->seed},
              {"--repeat", 1, NULL, &q->repeat}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    double x;
    if (strcmp(key, rows[k].name) != 0) continue;
    if (!read_number(value, rows[k].least, &x) || (rows[k].whole && !(x == floor(x) && x < 1e15))) return 2;
    if (rows[k].real) *rows[k].real = x;
    if (rows[k].whole) *rows[k].whole = (int64_t)x;
    return 0;
  }
  return 1;
}

static int text_option(request *q, const char *key, char *value) {
  const struct {
    const char *name, **text;
  } rows[] = {{"--scenes", &q->folder}, {"--write", &q->write},       {"--csv", &q->csv},
              {"--json", &q->json},     {"--per-step", &q->per_step}, {"--markdown", &q->markdown}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (!strcmp(key, rows[k].name)) return *rows[k].text = value, 0;
  if (!strcmp(key, "--scene")) return add_scenes(q, value) ? 0 : 2;
  if (!strcmp(key, "--engine")) return add_engines(q, value) ? 0 : 2;
  if (strcmp(key, "--contact") != 0) return 1;
  q->run.contact = !strcmp(value, "rigid")   ? MOTION_CONTACT_RIGID
                   : !strcmp(value, "stiff") ? MOTION_CONTACT_STIFF
                                             : MOTION_CONTACT_DEFAULT;
  return q->run.contact == MOTION_CONTACT_DEFAULT ? 2 : 0;
}

static bool read_options(request *q, int argc, char **argv) {
  for (int k = 1; k < argc; k++) {
    bool parts = !strcmp(argv[k], "--parts"), hashes = !strcmp(argv[k], "--hashes");
    bool rivals = !strcmp(argv[k], "--rivals"), drift = !strcmp(argv[k], "--drift");
    q->parts |= parts, q->hashes |= hashes, q->drift |= drift;
    if (rivals) q->engine_count = 0, add_rivals(q);
    if (parts || hashes || rivals || drift) continue;
    if (k + 1 == argc) return fprintf(stderr, "bench_motion: '%s' is no option with a value\n", argv[k]), false;
    int code = number_option(q, argv[k], argv[k + 1]);
    if (code == 1) code = text_option(q, argv[k], argv[k + 1]);
    if (code == 1) return fprintf(stderr, "bench_motion: unknown option '%s'\n", argv[k]), false;
    if (code == 2) return fprintf(stderr, "bench_motion: %s cannot be '%s'\n", argv[k], argv[k + 1]), false;
    k++;
  }
  q->run.threads = (int32_t)q->threads;
  for (size_t k = 0; q->scene_count == 0 && k < sizeof standard / sizeof *standard; k++)
    q->scene[k] = (char *)(uintptr_t)standard[k];
  if (q->scene_count == 0) q->scene_count = sizeof standard / sizeof *standard;
  if (q->engine_count == 0) q->engine[q->engine_count++] = (choice){&motion_frix, 0};
  if (q->run.contact == MOTION_CONTACT_RIGID && q->run.stiffness > 0)
    return fprintf(stderr, "bench_motion: rigid contacts have no stiffness\n"), false;
  return true;
}

/* ---- scenes ---- */

static bool open_scene(const request *q, const char *name, motion_scene *scene) {
  char path[4096];
  FILE *file = NULL;
  snprintf(path, sizeof path, "%s/%s.txt", q->folder ? q->folder : "", name);
  if (strchr(name, '/') || strstr(name, ".txt"))
    snprintf(path, sizeof path, "%s", name), file = fopen(path, "r");
  else if (q->folder && q->seed == 1)
    file = fopen(path, "r");
  else if (motion_make(scene, name, (uint64_t)q->seed))
    return true;
  if (!file && !strchr(name, '/') && motion_make(scene, name, (uint64_t)q->seed)) return true;
  if (!file)
    return fprintf(stderr, "bench_motion: no scene '%s': a file, or a name as in bench/motion_make.h\n", name), false;
  char message[4200];
  bool good = motion_scene_read(scene, file, path, message, sizeof message);
  if (!good) fprintf(stderr, "%s\n", message);
  fclose(file);
  return good;
}

static bool write_scene(const request *q, const motion_scene *scene) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.txt", q->write, scene->name);
  FILE *file = fopen(path, "w");
  bool good = file && motion_scene_write(scene, file);
  if (file) good &= fclose(file) == 0;
  if (!good) fprintf(stderr, "bench_motion: cannot write '%s': %s\n", path, strerror(errno));
  return good;
}

/* The best of several runs. */
static bool run_scene(const request *q, choice with, const motion_scene *scene, FILE *per_step, motion_result *best) {
  motion_options options = q->run;
  options.iterations = with.iterations;
  for (int64_t k = 0; k < q->repeat; k++) {
    motion_result result;
    if (!motion_run(with.engine, scene, &options, k == 0 ? per_step : NULL, &result)) return false;
    if (k == 0 || result.mean < best->mean) *best = result;
  }
  return true;
}

/* ---- output ---- */

static bool open_output(const char *path, FILE **out) {
  *out = !path ? NULL : !strcmp(path, "-") ? stdout : fopen(path, "w");
  if (path && !*out) fprintf(stderr, "bench_motion: cannot write '%s': %s\n", path, strerror(errno));
  return !path || *out;
}

static bool close_output(FILE *file, const char *path) {
  if (!file) return true;
  bool good = fflush(file) == 0 && !ferror(file);
  if (file != stdout) good &= fclose(file) == 0;
  if (!good) fprintf(stderr, "bench_motion: cannot write '%s'\n", path);
  return good;
}

/* Every scene in every engine; 1: a row is missing, 2: a scene cannot be opened. */
static int run_all(const request *q, motion_table *table, FILE *per_step) {
  if (per_step) motion_run_header(per_step);
  if (!q->write) motion_table_begin(table);
  int missing = 0;
  for (int k = 0; k < q->scene_count; k++) {
    motion_scene scene;
    if (!open_scene(q, q->scene[k], &scene)) return 2;
    if (q->write && !write_scene(q, &scene)) missing++;
    for (int e = 0; e < q->engine_count && !q->write; e++) {
      motion_result result;
      if (run_scene(q, q->engine[e], &scene, per_step, &result))
        motion_table_row(table, &scene, &result);
      else
        missing++;
    }
    motion_scene_end(&scene);
  }
  if (!q->write) motion_table_end(table);
  if (missing) fprintf(stderr, "bench_motion: %d rows are missing, for the reasons above\n", missing);
  return missing ? 1 : 0;
}

int main(int argc, char **argv) {
  request q = {.run = {.budget = 60}, .seed = 1, .repeat = 1, .threads = 1};
  if (!read_options(&q, argc, argv)) return 2;
  motion_table table = {.parts = q.parts, .drift = q.drift, .hashes = q.hashes};
  FILE *per_step = NULL;
  if (!open_output(q.csv, &table.csv) || !open_output(q.json, &table.json) || !open_output(q.per_step, &per_step) ||
      !open_output(q.markdown, &table.markdown))
    return 1;
  int code = run_all(&q, &table, per_step);
  bool good = close_output(table.csv, q.csv);
  good = close_output(table.json, q.json) && good;
  good = close_output(table.markdown, q.markdown) && good;
  good = close_output(per_step, q.per_step) && good;
  return code ? code : good ? 0 : 1;
}
