/* Whole steps of a pebble-bed reactor: time by phase, memory, and how far a cheap answer is from a fine one.
 *
 *   bench_reactor [--pebbles N] [--settle K] [--steps K] [--tolerance E] [--threads T] [--stiffness S] [--outlet D]
 *                 [--refine 1] [--fine E]
 *
 * The vessel starts packed (examples/packing.h) and settles for some steps that are not measured; then steps of 5 ms
 * are. A line per step. Seconds are processor time of the whole program (all threads) and wall time. Memory is what
 * frix asks of its allocator, model and sim together, at most; with the resident size of the process.
 *
 * --fine E: the next step is made by the measured sim and, from the same state, by another one with tolerance E; the
 * mean over the pebbles of |v - v_fine| is told over the mean of |v_fine|, and over the mean change of velocity in the
 * step. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "examples/scene.h"

typedef struct wanted {
  double pebbles, settle, steps, tolerance, threads, stiffness, outlet, refine, fine;
} wanted;

typedef struct tally {
  size_t now, most;
} tally;

static void *take(size_t bytes, void *user) {
  tally *t = user;
  t->now += bytes;
  if (t->now > t->most) t->most = t->now;
  return malloc(bytes);
}

static void give(void *pointer, size_t bytes, void *user) {
  ((tally *)user)->now -= bytes;
  free(pointer);
}

static double clock_of(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double resident(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * (double)usage.ru_maxrss;
}

/* ---- one reactor */

typedef struct reactor {
  const frix_scene *scene;
  double value[FRIX_SCENE_MAX_PARAMETERS];
  frix_context *context;
  frix_model *model;
  frix_sim *sim;
  frix_sim_config config;
} reactor;

static void set(reactor *r, const char *name, double value) {
  r->value[frix_scene_parameter_index(r->scene, name)] = value;
}

static bool start(reactor *r, const wanted *w, tally *memory) {
  *r = (reactor){.scene = frix_scene_find("pebbles"), .config = frix_sim_default()};
  frix_context_config context = frix_context_default();
  context.allocate = take, context.release = give, context.user = memory;
  for (int32_t k = 0; k < r->scene->parameter_count; k++) r->value[k] = r->scene->parameter[k].initial;
  set(r, "n", w->pebbles);
  set(r, "start", 1);
  set(r, "outlet", w->outlet);
  set(r, "stiffness", w->stiffness);
  r->config.tolerance = w->tolerance;
  r->config.thread_count = (int32_t)w->threads;
  r->config.seek_rest = false;
  if (w->refine == 0) r->config.polish = 0; /* one answer a step, to the tolerance */
  return frix_context_create(&context, &r->context) == FRIX_OK &&
         frix_scene_build(r->scene, r->context, r->value, 1, &r->model) == FRIX_OK &&
         frix_sim_create(r->context, r->model, &r->config, &r->sim) == FRIX_OK;
}

static void end(reactor *r) {
  frix_sim_destroy(r->sim);
  frix_model_destroy(r->model);
  frix_context_destroy(r->context);
}

typedef struct costs {
  double cpu, wall, drive, collide, assemble, solve, integrate, contacts, iterations, certified, steps;
} costs;

static bool step(reactor *r, costs *sum) {
  frix_step_report report = {0};
  double cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID), wall = clock_of(CLOCK_MONOTONIC);
  bool good = frix_scene_drive(r->scene, r->sim, r->model, r->value, r->scene->step) == FRIX_OK;
  double driven = clock_of(CLOCK_MONOTONIC) - wall;
  good = good && frix_sim_step(r->sim, r->scene->step, &report) == FRIX_OK;
  cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu, wall = clock_of(CLOCK_MONOTONIC) - wall;
  printf("%6lld %9.3f %9.3f %8.3f %8.3f %8.3f %8.3f %9d %9d %6lld %9.1e %s\n", (long long)frix_sim_step_count(r->sim),
         cpu, wall, report.collide_seconds, report.assemble_seconds, report.solve_seconds, report.integrate_seconds,
         report.contact_count, report.touching_count, (long long)report.iterations, report.certificate.residual,
         report.certified ? "" : "not certified");
  fflush(stdout);
  sum->cpu += cpu, sum->wall += wall, sum->drive += driven, sum->collide += report.collide_seconds;
  sum->assemble += report.assemble_seconds, sum->solve += report.solve_seconds;
  sum->integrate += report.integrate_seconds, sum->contacts += report.touching_count;
  sum->iterations += (double)report.iterations, sum->certified += report.certified, sum->steps++;
  return good;
}

static bool run(reactor *r, int steps, costs *sum) {
  printf("%6s %9s %9s %8s %8s %8s %8s %9s %9s %6s %9s\n", "step", "cpu_s", "wall_s", "collide", "assemble", "solve",
         "integr", "contacts", "touching", "iter", "residual");
  bool good = true;
  for (int k = 0; k < steps && good; k++) good = step(r, sum);
  return good;
}

/* ---- a fine answer of the same step */

static frix_vec3 *velocities(frix_sim *sim, int32_t *count) {
  frix_sim_arrays all = {.size = sizeof all};
  if (frix_sim_view(sim, &all) != FRIX_OK) return NULL;
  frix_vec3 *out = malloc((size_t)all.slot_count * sizeof *out);
  *count = all.slot_count;
  for (int32_t k = 0; out && k < all.slot_count; k++) {
    const double *v = frix_array_at(&all.velocity, k);
    out[k] = (frix_vec3){v[0], v[1], v[2]};
  }
  return out;
}

static double mean_distance(const frix_vec3 *a, const frix_vec3 *b, int32_t count) {
  double sum = 0;
  for (int32_t k = 1; k < count; k++) {
    frix_vec3 o = b ? b[k] : (frix_vec3){0, 0, 0};
    sum += sqrt((a[k].x - o.x) * (a[k].x - o.x) + (a[k].y - o.y) * (a[k].y - o.y) + (a[k].z - o.z) * (a[k].z - o.z));
  }
  return sum / (count - 1);
}

static bool compare(reactor *r, double fine) {
  frix_snapshot *snapshot = NULL;
  frix_sim *other = NULL;
  frix_step_report cheap = {0}, exact = {0};
  int32_t count = 0;
  frix_sim_config config = r->config;
  config.tolerance = fine;
  frix_vec3 *v0 = velocities(r->sim, &count), *v1 = NULL, *v2 = NULL;
  bool good = v0 && frix_sim_save(r->sim, &snapshot) == FRIX_OK &&
              frix_sim_step(r->sim, r->scene->step, &cheap) == FRIX_OK && (v1 = velocities(r->sim, &count)) &&
              frix_sim_create(r->context, r->model, &config, &other) == FRIX_OK &&
              frix_sim_restore(other, snapshot) == FRIX_OK && frix_sim_step(other, r->scene->step, &exact) == FRIX_OK &&
              (v2 = velocities(other, &count));
  if (good) {
    double apart = mean_distance(v1, v2, count);
    printf(
        "error: residual %.1e (%lld sweeps) beside %.1e (%lld, %s): mean |dv| %.2e m/s, %.3f %% of the mean speed "
        "%.2e m/s, %.3f %% of the mean change in the step\n",
        cheap.certificate.residual, (long long)cheap.iterations, exact.certificate.residual,
        (long long)exact.iterations, exact.certified ? "certified" : "not certified", apart,
        100 * apart / mean_distance(v2, NULL, count), mean_distance(v2, NULL, count),
        100 * apart / mean_distance(v2, v0, count));
  }
  frix_sim_destroy(other);
  frix_snapshot_destroy(snapshot);
  free(v0), free(v1), free(v2);
  return good;
}

static bool read_options(int argc, char **argv, wanted *w) {
  struct {
    const char *name;
    double *value;
  } row[] = {{"--pebbles", &w->pebbles},     {"--settle", &w->settle},   {"--steps", &w->steps},
             {"--tolerance", &w->tolerance}, {"--threads", &w->threads}, {"--stiffness", &w->stiffness},
             {"--outlet", &w->outlet},       {"--refine", &w->refine},   {"--fine", &w->fine}};
  for (int k = 1; k < argc; k += 2) {
    size_t at = 0, rows = sizeof row / sizeof *row;
    while (at < rows && strcmp(argv[k], row[at].name) != 0) at++;
    if (at == rows || k + 1 == argc) {
      fprintf(stderr, "bench_reactor: '%s' is no option with a value\n", argv[k]);
      return false;
    }
    *row[at].value = atof(argv[k + 1]);
  }
  return true;
}

int main(int argc, char **argv) {
  wanted w = {.pebbles = 20000, .settle = 20, .steps = 10, .tolerance = 1e-3, .threads = 1, .stiffness = 1e5};
  if (!read_options(argc, argv, &w)) return 2;
  tally memory = {0};
  reactor r;
  costs unmeasured = {0}, sum = {0};
  double begin = clock_of(CLOCK_PROCESS_CPUTIME_ID), before = resident();
  bool good = start(&r, &w, &memory);
  printf("%g pebbles, tolerance %g, %g threads, %g N/m: built in %.2f s, %.0f bytes per pebble\n", w.pebbles,
         w.tolerance, w.threads, w.stiffness, clock_of(CLOCK_PROCESS_CPUTIME_ID) - begin,
         (double)memory.now / w.pebbles);
  good = good && run(&r, (int)w.settle, &unmeasured) && run(&r, (int)w.steps, &sum);
  if (good && sum.steps > 0)
    printf(
        "mean of %g steps: cpu %.4f s, wall %.4f s (drive %.4f, collide %.4f, assemble %.4f, solve %.4f, integrate "
        "%.4f), %.0f touching, %.1f iterations, %.0f %% certified\n",
        sum.steps, sum.cpu / sum.steps, sum.wall / sum.steps, sum.drive / sum.steps, sum.collide / sum.steps,
        sum.assemble / sum.steps, sum.solve / sum.steps, sum.integrate / sum.steps, sum.contacts / sum.steps,
        sum.iterations / sum.steps, 100 * sum.certified / sum.steps);
  printf("memory: %.0f bytes per pebble at most, resident %.0f bytes per pebble\n", (double)memory.most / w.pebbles,
         (resident() - before) / w.pebbles);
  if (good && w.fine > 0) good = compare(&r, w.fine);
  if (!good) fprintf(stderr, "bench_reactor: %s\n", frix_error_text(r.context));
  end(&r);
  return good ? 0 : 1;
}
