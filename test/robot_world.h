/* Robots of tests: a world read from text, steps that must be certified, sensors compared by name. */
#ifndef FX_TEST_ROBOT_WORLD_H
#define FX_TEST_ROBOT_WORLD_H

#include <frix/frix.h>
#include <math.h>
#include <string.h>

#include "test.h"

typedef struct world {
  frix_context *context;
  frix_model *model;
  frix_sim *sim;
  const frix_robot *robot;
} world;

static inline void close_world(world *w) {
  frix_sim_destroy(w->sim);
  frix_model_destroy(w->model);
  frix_context_destroy(w->context);
}

static inline bool open_world(fx_test *t, const char *text, world *w) {
  frix_mjcf *mjcf = NULL;
  frix_mjcf_config c = frix_mjcf_default();
  *w = (world){0};
  if (!frix_mjcf_available()) fx_test_skip(t, "built without expat");
  if (!frix_mjcf_available() || frix_context_create(NULL, &w->context)) return false;
  c.coordinates = FRIX_COORDINATES_REDUCED;
  if (frix_mjcf_read_memory(w->context, "robot.xml", text, strlen(text), &c, &mjcf) == FRIX_OK)
    w->model = frix_mjcf_take_model(mjcf);
  frix_mjcf_destroy(mjcf);
  if (!w->model || frix_sim_create(w->context, w->model, NULL, &w->sim))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(w->context));
  w->robot = frix_model_robot(w->model);
  return w->sim != NULL;
}

static inline void steps(fx_test *t, world *w, int count) {
  for (int k = 0; k < count; k++) {
    frix_step_report r;
    CHECK(t, frix_sim_step(w->sim, 0.002, &r) == FRIX_OK && r.certified);
  }
}

static inline void expect(fx_test *t, world *w, const char *name, int count, const double *wanted) {
  frix_robot_sensor s;
  int32_t k = frix_robot_find(w->robot, FRIX_ROBOT_SENSOR, name);
  if (frix_robot_get_sensor(w->robot, k, &s) || s.count != count) {
    fx_test_fail(t, __FILE__, __LINE__, "sensor %s: %d numbers", name, k < 0 ? -1 : (int)s.count);
    return;
  }
  const double *felt = frix_robot_data(frix_sim_robot(w->sim), FRIX_ROBOT_SENSOR_DATA, NULL) + s.first;
  for (int n = 0; n < count; n++)
    if (!(fabs(felt[n] - wanted[n]) <= 2e-6 * fmax(1.0, fabs(wanted[n]))))
      fx_test_fail(t, __FILE__, __LINE__, "sensor %s, number %d: %.9g, not %.9g", name, n, felt[n], wanted[n]);
}
#define EXPECT(t, w, name, ...)                                 \
  do {                                                          \
    const double wanted[] = {__VA_ARGS__};                      \
    expect(t, w, name, sizeof wanted / sizeof *wanted, wanted); \
  } while (0)

#endif
