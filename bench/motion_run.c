/* A moving scene in one engine, from its start to its end: times and what came of it. */
#include "motion_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
  const motion_engine *engine;
  const motion_scene *scene;
  void *world;
  double *ms; /* of processor time, by step */
  motion_state *now, *late;
  motion_judge *judge; /* engines that do not measure penetration themselves */
} run;

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double part(const double *sorted, int64_t count, double share) {
  int64_t k = (int64_t)ceil(share * (double)count) - 1;
  return sorted[k < 0 ? 0 : k >= count ? count - 1 : k];
}

static void look_at_all(const run *r, motion_state *out) {
  for (int32_t k = 0; k < r->scene->dynamic_count; k++) r->engine->look(r->world, k, &out[k]);
}

static double distance(const double a[3], const double b[3]) {
  return hypot(a[0] - b[0], hypot(a[1] - b[1], a[2] - b[2]));
}

/* Events of the step that begins now. */
static void act(const run *r, double time) {
  const motion_scene *s = r->scene;
  for (int32_t k = 0; k < s->put_count; k++)
    if (motion_put_now(&s->put[k], time, s->h)) r->engine->put(r->world, s->put[k].body, &s->put[k].state);
  for (int32_t k = 0; k < s->push_count; k++)
    if (motion_push_now(&s->push[k], time, s->h)) r->engine->push(r->world, s->push[k].body, s->push[k].force);
}

static double kinetic(const motion_body *b, const motion_state *s) {
  const double *q = s->q, *w = s->w;
  const double axis[3][3] = {
      {1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] + q[0] * q[3]), 2 * (q[1] * q[3] - q[0] * q[2])},
      {2 * (q[1] * q[2] - q[0] * q[3]), 1 - 2 * (q[1] * q[1] + q[3] * q[3]), 2 * (q[2] * q[3] + q[0] * q[1])},
      {2 * (q[1] * q[3] + q[0] * q[2]), 2 * (q[2] * q[3] - q[0] * q[1]), 1 - 2 * (q[1] * q[1] + q[2] * q[2])}};
  double twice = b->mass * (s->v[0] * s->v[0] + s->v[1] * s->v[1] + s->v[2] * s->v[2]);
  for (int k = 0; k < 3; k++) {
    double rate = axis[k][0] * w[0] + axis[k][1] * w[1] + axis[k][2] * w[2];
    twice += b->inertia[k] * rate * rate;
  }
  return 0.5 * twice;
}

/* What the end shows. */
static void end_figures(run *r, motion_result *out) {
  const motion_scene *s = r->scene;
  look_at_all(r, r->now);
  for (int32_t k = 0, j = 0; k < s->body_count; k++) {
    if (!s->body[k].dynamic) continue;
    out->moved = fmax(out->moved, distance(r->now[j].p, s->body[k].start.p));
    out->late = fmax(out->late, distance(r->now[j].p, r->late[j].p));
    out->kinetic += kinetic(&s->body[k], &r->now[j]);
    j++;
  }
  double sum = 0;
  int64_t n = out->steps;
  for (int64_t k = 0; k < n; k++) sum += r->ms[k];
  qsort(r->ms, (size_t)n, sizeof *r->ms, by_size);
  double each = 1 / (double)(n ? n : 1), ms = 1e3 * each;
  out->mean = sum * each, out->total = 1e-3 * sum, out->wall *= ms, out->iterations *= each;
  out->collide *= ms, out->assemble *= ms, out->solve *= ms, out->integrate *= ms;
  if (n == 0) return;
  out->p50 = part(r->ms, n, 0.5), out->p95 = part(r->ms, n, 0.95), out->p99 = part(r->ms, n, 0.99);
  out->max = r->ms[n - 1];
  if (r->engine->summary) r->engine->summary(r->world, out);
}

static void add_step(run *r, const motion_step *s, motion_result *out) {
  r->ms[out->steps++] = 1e3 * s->seconds;
  out->judged += s->judged, out->certified += s->certified;
  out->wall += s->wall, out->collide += s->collide, out->assemble += s->assemble;
  out->solve += s->solve, out->integrate += s->integrate;
  out->iterations += (double)s->iterations;
  out->most_iterations = fmax(out->most_iterations, (double)s->iterations);
  if (s->judged && !(s->residual <= out->residual)) out->residual = s->residual;
  if (s->contacts > out->contacts) out->contacts = s->contacts;
}

void motion_run_header(FILE *per_step) {
  fprintf(per_step,
          "scene,engine,step,time,cpu_ms,wall_ms,certified,residual,penetration,iterations,contacts,touching,"
          "finisher,collide_ms,assemble_ms,solve_ms,integrate_ms\n");
}

static void write_step(FILE *file, const run *r, int64_t k, const motion_step *s) {
  fprintf(file, "%s,%s,%lld,%.9g,%.6f,%.6f,%d,%.3e,%.3e,%lld,%d,%d,%s,%.6f,%.6f,%.6f,%.6f\n", r->scene->name,
          r->engine->name, (long long)k, (double)k * r->scene->h, 1e3 * s->seconds, 1e3 * s->wall, s->certified,
          s->residual, s->penetration, (long long)s->iterations, s->contacts, s->touching,
          s->finisher ? s->finisher : "", 1e3 * s->collide, 1e3 * s->assemble, 1e3 * s->solve, 1e3 * s->integrate);
  fflush(file); /* steps of large scenes take seconds */
}

/* Penetration after this step where the engine does not tell it: every step of small scenes, every tenth of others. */
static void judge_step(run *r, int64_t k, motion_step *s) {
  int64_t every = r->scene->dynamic_count <= 300 ? 1 : 10;
  if (s->penetration >= 0 || !r->judge || (k + 1) % every != 0) return;
  look_at_all(r, r->now);
  s->penetration = motion_judge_depth(r->judge, r->now);
}

static bool all_steps(run *r, const motion_options *options, FILE *per_step, motion_result *out) {
  int64_t last_tenth = out->wanted_steps - out->wanted_steps / 10;
  double used = 0;
  look_at_all(r, r->late);
  for (int64_t k = 0; k < out->wanted_steps && used < options->budget; k++) {
    motion_step s = {0};
    if (k == last_tenth) look_at_all(r, r->late);
    act(r, (double)k * r->scene->h);
    if (!r->engine->step(r->world, &s)) return false;
    judge_step(r, k, &s);
    add_step(r, &s, out);
    if (!(s.penetration <= out->penetration)) out->penetration = s.penetration;
    if (per_step) write_step(per_step, r, k, &s);
    used += s.seconds;
  }
  return true;
}

bool motion_run(const motion_engine *engine, const motion_scene *scene, const motion_options *options, FILE *per_step,
                motion_result *out) {
  size_t bodies = (size_t)scene->dynamic_count + 1;
  *out = (motion_result){.wanted_steps = options->steps > 0 ? options->steps : motion_step_count(scene)};
  snprintf(out->engine, sizeof out->engine, options->iterations ? "%s %d" : "%s", engine->name, options->iterations);
  run r = {.engine = engine, .scene = scene};
  r.ms = calloc((size_t)out->wanted_steps + 1, sizeof *r.ms);
  r.now = calloc(bodies, sizeof *r.now), r.late = calloc(bodies, sizeof *r.late);
  bool good = r.ms && r.now && r.late && (r.world = engine->create(scene, options)) != NULL;
  if (good && engine != &motion_frix) good = (r.judge = motion_judge_new(scene)) != NULL;
  if (good) {
    out->failed = !all_steps(&r, options, per_step, out);
    end_figures(&r, out);
    engine->destroy(r.world);
  }
  motion_judge_end(r.judge);
  free(r.ms), free(r.now), free(r.late);
  return good;
}
