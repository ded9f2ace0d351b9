/* Engines that node runs: bench/rivals/run.mjs steps the scene, this end reads times and states from a pipe. */
#include "motion_peers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct world {
  FILE *pipe;
  char path[64]; /* of the scene, for the other process */
  const motion_scene *scene;
  const char *engine;
  motion_state *state; /* the last that came */
  double next[2];      /* of the step that comes next: seconds (negative: the end), whether its state is known */
} world;

static const char *folder = "bench/rivals";

void motion_node_folder(const char *name) { folder = name; }

static bool read_states(world *w, motion_state *out) {
  for (int32_t k = 0; k < w->scene->dynamic_count; k++) {
    double x[13];
    if (fread(x, sizeof *x, 13, w->pipe) != 13) return false;
    memcpy(out[k].p, x, sizeof out[k].p), memcpy(out[k].q, x + 3, sizeof out[k].q);
    memcpy(out[k].v, x + 7, sizeof out[k].v), memcpy(out[k].w, x + 10, sizeof out[k].w);
  }
  return true;
}

/* The record of a step holds the state before it, so one is always read ahead. */
static bool read_record(world *w) {
  if (fread(w->next, sizeof *w->next, 2, w->pipe) != 2) return false;
  return w->next[1] == 0 || read_states(w, w->state);
}

static void destroy(void *data) {
  world *w = data;
  if (!w) return;
  if (w->pipe) pclose(w->pipe);
  if (*w->path) unlink(w->path);
  free(w->state);
  free(w);
}

static bool write_scene(world *w) {
  snprintf(w->path, sizeof w->path, "/tmp/frix-scene-XXXXXX");
  int handle = mkstemp(w->path);
  FILE *file = handle >= 0 ? fdopen(handle, "w") : NULL;
  bool good = file && motion_scene_write(w->scene, file);
  if (!file) *w->path = 0;
  return file && fclose(file) == 0 && good;
}

static void *create(const char *engine, const motion_scene *scene, const motion_options *options) {
  char command[8192];
  world *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->scene = scene, w->engine = engine;
  w->state = calloc((size_t)scene->dynamic_count + 1, sizeof *w->state);
  long long steps = options->steps > 0 ? options->steps : motion_step_count(scene);
  if (w->state && write_scene(w)) {
    snprintf(command, sizeof command,
             "exec node --no-liftoff --no-wasm-lazy-compilation '%s/run.mjs' %s %s %lld %d %.9g", folder, engine,
             w->path, steps, options->iterations, options->budget);
    w->pipe = popen(command, "r");
  }
  if (w->pipe && read_record(w)) return w;
  fprintf(stderr, "%s: %s did not start\n", scene->name, engine);
  destroy(w);
  return NULL;
}

static bool step(void *data, motion_step *out) {
  world *w = data;
  *out = (motion_step){.seconds = w->next[0], .wall = w->next[0], .penetration = -1};
  if (w->next[0] >= 0 && read_record(w)) return true;
  fprintf(stderr, "%s: %s ended early\n", w->scene->name, w->engine);
  return false;
}

/* The other process reads events itself. */
static void put(void *data, int32_t k, const motion_state *state) { (void)data, (void)k, (void)state; }
static void push(void *data, int32_t k, const double force[3]) { (void)data, (void)k, (void)force; }

static void look(void *data, int32_t k, motion_state *out) { *out = ((world *)data)->state[k]; }

static void *create_jolt(const motion_scene *s, const motion_options *o) { return create("jolt", s, o); }
static void *create_rapier(const motion_scene *s, const motion_options *o) { return create("rapier", s, o); }
static void *create_wasm(const motion_scene *s, const motion_options *o) { return create("frix-wasm", s, o); }
static void *create_mujoco(const motion_scene *s, const motion_options *o) { return create("mujoco", s, o); }

const motion_engine motion_jolt = {"Jolt (WASM)", create_jolt, step, put, push, look, NULL, destroy};
const motion_engine motion_rapier = {"Rapier (WASM)", create_rapier, step, put, push, look, NULL, destroy};
const motion_engine motion_mujoco = {"MuJoCo (WASM)", create_mujoco, step, put, push, look, NULL, destroy};
const motion_engine motion_frix_wasm = {"frix (WASM)", create_wasm, step, put, push, look, NULL, destroy};
