/* Whole steps of a bed of grains (frix/bed.h): time, sweeps, memory, and how far a cheap answer is from a fine one.
 *
 *   bench_beds [--scene NAME] [--n N] [--settle K] [--steps K] [--tolerance E] [--threads T] [--stiffness S] [--fine E]
 *
 * Seconds are processor time of the whole program and wall time of a step, the mean over the measured ones. Memory is
 * what frix asks of its allocator, at most, over the grains. --fine E: another bed makes all steps too, and the last
 * one with tolerance E; the mean over the grains of |v - v_fine| is told over the mean of |v_fine|, and over the mean
 * change of velocity in that step. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "examples/beds.h"

typedef struct bed_wish {
  const char *scene;
  double n, settle, steps, tolerance, threads, stiffness, fine;
} bed_wish;

typedef struct bed_tally {
  size_t now, most;
} bed_tally;

static void *take(size_t bytes, void *user) {
  bed_tally *t = user;
  t->now += bytes;
  if (t->now > t->most) t->most = t->now;
  return malloc(bytes);
}

static void give(void *pointer, size_t bytes, void *user) {
  ((bed_tally *)user)->now -= bytes;
  free(pointer);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool read_wish(int argc, char **argv, bed_wish *w) {
  struct {
    const char *name;
    double *value;
  } row[] = {{"--n", &w->n},
             {"--settle", &w->settle},
             {"--steps", &w->steps},
             {"--tolerance", &w->tolerance},
             {"--threads", &w->threads},
             {"--stiffness", &w->stiffness},
             {"--fine", &w->fine}};
  for (int k = 1; k + 1 < argc; k += 2) {
    size_t at = 0, rows = sizeof row / sizeof *row;
    while (at < rows && strcmp(argv[k], row[at].name) != 0) at++;
    if (at < rows)
      *row[at].value = atof(argv[k + 1]);
    else if (!strcmp(argv[k], "--scene"))
      w->scene = argv[k + 1];
    else
      return false;
  }
  return argc % 2 == 1 && ex_bed_find(w->scene);
}

static frix_status build(frix_context *context, const bed_wish *w, double tolerance, frix_bed **out, double *value) {
  const ex_bed_scene *scene = ex_bed_find(w->scene);
  frix_bed_config config = frix_bed_default();
  ex_bed_values(scene, value);
  if (ex_bed_parameter(scene, "n") >= 0) value[ex_bed_parameter(scene, "n")] = w->n;
  if (w->stiffness >= 0.0 && ex_bed_parameter(scene, "stiffness") >= 0)
    value[ex_bed_parameter(scene, "stiffness")] = w->stiffness;
  config.tolerance = tolerance;
  config.thread_count = (int32_t)w->threads;
  return scene->build(context, &config, value, 1, out);
}

static frix_status step(const bed_wish *w, frix_bed *bed, const double *value, frix_bed_report *report) {
  const ex_bed_scene *scene = ex_bed_find(w->scene);
  frix_status status = scene->drive ? scene->drive(bed, value, scene->step) : FRIX_OK;
  return status ? status : frix_bed_step(bed, scene->step, report);
}

/* By id, three numbers a grain. */
static double *velocities(const frix_bed *bed, int64_t *count) {
  int32_t n = frix_bed_count(bed);
  double *v = calloc(3 * (size_t)n, sizeof *v);
  for (int32_t k = 0; v && k < n; k++) {
    frix_bed_grain g;
    if (frix_bed_at(bed, k, &g) || g.id >= n) continue;
    memcpy(v + 3 * g.id, &g.velocity, 3 * sizeof *v);
  }
  *count = n;
  return v;
}

static double mean_apart(const double *a, const double *b, int64_t count) {
  double sum = 0.0;
  for (int64_t k = 0; k < count; k++) {
    double square = 0.0;
    for (int d = 0; d < 3; d++) {
      double x = a[3 * k + d] - (b ? b[3 * k + d] : 0.0);
      square += x * x;
    }
    sum += sqrt(square);
  }
  return sum / (double)count;
}

/* The last step again, from the same state, with a fine tolerance. */
static frix_status compare(frix_context *context, const bed_wish *w, frix_bed *bed, const double *value) {
  unsigned char *bytes = NULL;
  size_t size = 0;
  int64_t count;
  double again[EX_BED_PARAMETERS];
  frix_bed *other = NULL;
  frix_bed_report cheap, fine;
  double *v0 = velocities(bed, &count), *v1 = NULL, *v2 = NULL;
  frix_status status = frix_bed_save(bed, &bytes, &size);
  if (!status) status = step(w, bed, value, &cheap);
  if (!status) v1 = velocities(bed, &count), status = build(context, w, w->fine, &other, again);
  if (!status) status = frix_bed_load(other, bytes, size, true);
  if (!status) status = step(w, other, value, &fine);
  if (!status) {
    v2 = velocities(other, &count);
    double apart = mean_apart(v1, v2, count);
    printf(
        "error: residual %.1e (%lld sweeps) beside %.1e (%lld%s): mean |dv| %.2e m/s, %.3f %% of the mean speed %.2e "
        "m/s, "
        "%.3f %% of the mean change in the step\n",
        cheap.certificate.residual, (long long)cheap.sweeps, fine.certificate.residual, (long long)fine.sweeps,
        fine.certified ? "" : ", not certified", apart, 100.0 * apart / mean_apart(v2, NULL, count),
        mean_apart(v2, NULL, count), 100.0 * apart / mean_apart(v2, v0, count));
  }
  frix_bed_bytes_free(bed, bytes);
  frix_bed_destroy(other);
  free(v0), free(v1), free(v2);
  return status;
}

int main(int argc, char **argv) {
  bed_wish w = {
      .scene = "pebbles", .n = 20000, .settle = 12, .steps = 5, .tolerance = 1e-3, .threads = 1, .stiffness = -1.0};
  if (!read_wish(argc, argv, &w)) {
    fprintf(stderr, "bench_beds: options are pairs of a name and a value, see the head of bench/bench_beds.c\n");
    return 2;
  }
  bed_tally memory = {0};
  frix_context_config own = frix_context_default();
  own.allocate = take, own.release = give, own.user = &memory;
  frix_context *context = NULL;
  frix_bed *bed = NULL;
  double value[EX_BED_PARAMETERS], begin = cpu_seconds(), cpu = 0.0, wall = 0.0, sweeps = 0.0, sort = 0.0,
                                   contacts = 0.0, solve = 0.0;
  frix_status status = frix_context_create(&own, &context);
  if (!status) status = build(context, &w, w.tolerance, &bed, value);
  if (!status)
    printf("%s: %d grains, tolerance %g, %g threads: built in %.2f s\n", w.scene, frix_bed_count(bed), w.tolerance,
           w.threads, cpu_seconds() - begin);
  for (int k = 0; k < (int)(w.settle + w.steps) && !status; k++) {
    frix_bed_report r = {0};
    double from = cpu_seconds();
    status = step(&w, bed, value, &r);
    double spent = cpu_seconds() - from;
    printf(
        "%5lld cpu %7.3f wall %7.3f sort %6.3f contacts %6.3f solve %7.3f | %lld contacts %lld touching %lld sweeps "
        "%.1e%s\n",
        (long long)frix_bed_step_count(bed), spent, r.seconds, r.sort_seconds, r.contact_seconds, r.solve_seconds,
        (long long)r.contact_count, (long long)r.touching_count, (long long)r.sweeps, r.certificate.residual,
        r.certified ? "" : " not certified");
    fflush(stdout);
    if (k < (int)w.settle) continue;
    cpu += spent, wall += r.seconds, sweeps += (double)r.sweeps, sort += r.sort_seconds, contacts += r.contact_seconds,
        solve += r.solve_seconds;
  }
  if (!status && w.steps > 0.0)
    printf("mean of %g steps: cpu %.4f s, wall %.4f s (sort %.4f, contacts %.4f, solve %.4f), %.1f sweeps\n", w.steps,
           cpu / w.steps, wall / w.steps, sort / w.steps, contacts / w.steps, solve / w.steps, sweeps / w.steps);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  int32_t n = frix_bed_count(bed);
  printf("memory: %.0f bytes per grain at most, of them %.0f in the bed; resident %.0f with the packing\n",
         (double)memory.most / n, (double)frix_bed_bytes(bed) / n, 1024.0 * (double)usage.ru_maxrss / n);
  if (!status && w.fine > 0.0) status = compare(context, &w, bed, value);
  if (status) fprintf(stderr, "bench_beds: %s\n", frix_error_text(context));
  frix_bed_destroy(bed);
  frix_context_destroy(context);
  return status ? 1 : 0;
}
