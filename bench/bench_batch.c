/* Many worlds of one file: processor time of a step of one world within a batch, one thread, and whether 1, 2, 4 and 8
 * threads give the same bits.
 *
 *   bench_batch [--worlds N] [--steps N] [--repeat N] FILE.xml...
 *
 * Worlds differ by the velocity that their first coordinate, or their first body, starts with: 0.01 k. One line of JSON
 * for each file; bench/rivals/batch.mjs does the same with MuJoCo and sets both side by side. */
#include <frix/frix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct setting {
  int worlds, steps, repeat;
} setting;

typedef struct outcome {
  double seconds;
  int certified; /* worlds whose steps all are */
  uint64_t hash; /* of all worlds */
} outcome;

static double seconds_now(void) { return (double)clock() / CLOCKS_PER_SEC; }

static int start(frix_sim *sim, int k) {
  frix_robot_state *robot = frix_sim_robot(sim);
  if (robot) {
    int32_t count = 0;
    double *v = frix_robot_data(robot, FRIX_ROBOT_QVEL, &count);
    if (count) v[0] = 0.01 * k;
    return frix_sim_robot_place(sim);
  }
  return frix_sim_set_velocity(sim, frix_sim_body_at(sim, 0), (frix_vec3){0.01 * k, 0, 0}, (frix_vec3){0, 0, 0});
}

static int run(frix_context *context, frix_mjcf_info info, setting s, int32_t threads, outcome *out) {
  frix_batch_config config = frix_batch_default();
  frix_batch *batch = NULL;
  frix_step_report *report = calloc((size_t)s.worlds, sizeof *report);
  config.count = s.worlds, config.thread_count = threads;
  int bad = !report || frix_batch_create(context, info.model, &config, &batch);
  for (int k = 0; k < s.worlds && !bad; k++) bad = start(frix_batch_sim(batch, k), k);
  double begun = seconds_now();
  if (!bad) bad = frix_batch_step(batch, info.timestep, s.steps, report);
  *out = (outcome){.seconds = seconds_now() - begun, .hash = 14695981039346656037u};
  for (int k = 0; k < s.worlds && !bad; k++) {
    uint64_t hash = 0;
    bad = frix_sim_hash(frix_batch_sim(batch, k), &hash);
    out->hash = (out->hash ^ hash) * 1099511628211u;
    out->certified += report[k].certified;
  }
  frix_batch_destroy(batch);
  free(report);
  return bad;
}

static int bench(frix_context *context, const char *path, setting s) {
  frix_mjcf_config config = frix_mjcf_default();
  frix_mjcf *file = NULL;
  config.coordinates = FRIX_COORDINATES_REDUCED, config.allow_outside = true;
  int bad = frix_mjcf_read(context, path, &config, &file);
  outcome best = {.seconds = 1e300}, now;
  bool same = true;
  for (int k = 0; k < s.repeat && !bad; k++) {
    bad = run(context, frix_mjcf_view(file), s, 1, &now);
    if (now.seconds < best.seconds) best = now;
  }
  for (int32_t threads = 2; threads <= 8 && !bad; threads *= 2) {
    bad = run(context, frix_mjcf_view(file), s, threads, &now);
    same = same && now.hash == best.hash;
  }
  if (bad)
    fprintf(stderr, "bench_batch: %s: %s\n", path, frix_error_text(context));
  else
    printf("{\"file\": \"%s\", \"us\": %.4f, \"certified\": %.4f, \"same\": %s}\n", path,
           1e6 * best.seconds / s.worlds / s.steps, (double)best.certified / s.worlds, same ? "true" : "false");
  fflush(stdout);
  frix_mjcf_destroy(file);
  return bad;
}

int main(int count, char **word) {
  setting s = {.worlds = 64, .steps = 500, .repeat = 3};
  frix_context *context = NULL;
  int k = 1, code = 0;
  for (; k + 1 < count && word[k][0] == '-'; k += 2) {
    if (!strcmp(word[k], "--worlds")) s.worlds = atoi(word[k + 1]);
    if (!strcmp(word[k], "--steps")) s.steps = atoi(word[k + 1]);
    if (!strcmp(word[k], "--repeat")) s.repeat = atoi(word[k + 1]);
  }
  if (s.worlds < 1 || s.steps < 1 || s.repeat < 1 || frix_context_create(NULL, &context)) return 2;
  for (; k < count; k++) code |= bench(context, word[k], s);
  frix_context_destroy(context);
  return code ? 1 : 0;
}
