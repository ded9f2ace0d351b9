/* State hashes of scenes along their first steps, for comparison with other builds: bench_scene_hashes STEPS [SCENE...]
 * A line for each scene: its name, then "step:hash" at STEPS / 5, 2 STEPS / 5, ... STEPS, then CPU milliseconds a step.
 */
#include <examples/scene.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool run(const frix_scene *scene, int64_t steps) {
  frix_context *context = NULL;
  frix_model *model = NULL;
  frix_sim *sim = NULL;
  double value[FRIX_SCENE_MAX_PARAMETERS];
  for (int32_t k = 0; k < scene->parameter_count; k++) value[k] = scene->parameter[k].initial;
  bool good = frix_context_create(NULL, &context) == FRIX_OK &&
              frix_scene_build(scene, context, NULL, 0, &model) == FRIX_OK &&
              frix_sim_create(context, model, NULL, &sim) == FRIX_OK;
  clock_t start = clock();
  printf("%s", scene->name);
  for (int64_t k = 1; good && k <= steps; k++) {
    uint64_t hash = 0;
    good = frix_scene_drive(scene, sim, model, value, scene->step) == FRIX_OK &&
           frix_sim_step(sim, scene->step, NULL) == FRIX_OK && frix_sim_hash(sim, &hash) == FRIX_OK;
    if (good && (k % (steps / 5 ? steps / 5 : 1) == 0 || k == steps)) printf(" %" PRId64 ":%016" PRIx64, k, hash);
  }
  printf(" %.3f\n", 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC / (double)steps);
  fflush(stdout);
  if (!good) fprintf(stderr, "%s: %s\n", scene->name, context ? frix_error_text(context) : "out of memory");
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
  return good;
}

int main(int argc, char **argv) {
  int64_t steps = argc > 1 ? atoll(argv[1]) : 500;
  bool good = steps > 0;
  const frix_scene *scene;
  for (int32_t k = 0; argc <= 2 && (scene = frix_scene_table(k)); k++) good = run(scene, steps) && good;
  for (int k = 2; k < argc; k++) good = (scene = frix_scene_find(argv[k])) && run(scene, steps) && good;
  return good ? 0 : 1;
}
