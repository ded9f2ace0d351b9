/* What bench/bench_python.py does from Python, in C: processor time of a step of one falling ball, and of a rollout of
 * many cart-poles; one line of JSON, the best of some attempts.
 *
 *   bench_python CART_POLE.xml WORLDS STEPS */
#include <frix/frix.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BALL_STEPS = 100000, ATTEMPTS = 5 };

static double seconds_now(void) { return (double)clock() / CLOCKS_PER_SEC; }

static double least(double a, double b) { return a < b ? a : b; }

static frix_model *ball(frix_context *context) {
  frix_builder *builder = NULL;
  frix_model *model = NULL;
  frix_body_config body = frix_body_default();
  frix_shape_config shape = frix_shape_default();
  frix_body_id id;
  body.mass = 1;
  shape.kind = FRIX_SHAPE_SPHERE;
  shape.radius = 0.1;
  if (frix_builder_create(context, &builder)) return NULL;
  if (!frix_builder_add_body(builder, &body, &id) && !frix_builder_add_shape(builder, id, &shape, NULL))
    frix_builder_compile(builder, &model);
  frix_builder_destroy(builder);
  return model;
}

static double time_steps(frix_context *context) {
  frix_model *model = ball(context);
  double best = 1e300;
  for (int n = 0; n < ATTEMPTS && model; n++) {
    frix_sim *sim = NULL;
    frix_step_report report;
    if (frix_sim_create(context, model, NULL, &sim)) break;
    double begun = seconds_now();
    for (int k = 0; k < BALL_STEPS; k++)
      if (frix_sim_step(sim, 0.001, &report)) break;
    best = least(best, (seconds_now() - begun) / BALL_STEPS);
    frix_sim_destroy(sim);
  }
  frix_model_destroy(model);
  return best;
}

static double time_rollout(frix_context *context, const char *path, int32_t worlds, int32_t steps) {
  frix_mjcf *file = NULL;
  frix_mjcf_config config = frix_mjcf_default();
  double best = 1e300;
  config.coordinates = FRIX_COORDINATES_REDUCED;
  if (frix_mjcf_read(context, path, &config, &file)) return best;
  const frix_channel watch = {.kind = FRIX_CHANNEL_QPOS, .axis = 1};
  size_t count = (size_t)worlds * (size_t)steps;
  for (int n = 0; n < ATTEMPTS; n++) {
    frix_batch *batch = NULL;
    frix_batch_config many = frix_batch_default();
    many.count = worlds;
    if (frix_batch_create(context, frix_mjcf_view(file).model, &many, &batch)) break;
    double begun = seconds_now();
    double *out = malloc(count * sizeof *out), *residual = malloc(count * sizeof *residual);
    uint8_t *certified = malloc(count);
    frix_rollout r = frix_rollout_default();
    r.h = 0.01, r.step_count = steps, r.watch_count = 1, r.watch = &watch;
    r.out = out, r.residual = residual, r.certified = certified;
    frix_status status = out && residual && certified ? frix_batch_rollout(batch, &r) : FRIX_ERROR_MEMORY;
    if (status == FRIX_OK) best = least(best, seconds_now() - begun);
    free(out), free(residual), free(certified);
    frix_batch_destroy(batch);
  }
  frix_mjcf_destroy(file);
  return best;
}

int main(int count, char **word) {
  frix_context *context = NULL;
  if (count != 4 || frix_context_create(NULL, &context)) return 2;
  double step = time_steps(context);
  double rollout = time_rollout(context, word[1], atoi(word[2]), atoi(word[3]));
  printf("{\"step_us\": %.4f, \"rollout_s\": %.6f}\n", 1e6 * step, rollout);
  frix_context_destroy(context);
  return 0;
}
