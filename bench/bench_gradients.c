/* Cost of derivatives beside that of the step they are of, moving scenes:
 *
 *   prepare   verdict and factors, once for all adjoints of a step (frix_gradient_of_step)
 *   adjoint   frix_gradient_adjoint, one number by all data
 *
 *   bench_gradients [--steps N] [--scene NAME] [--contact stiff|rigid]
 *
 * Means of processor time of N steps that are not at rest, after the scene has run for a while; all three in turn, step
 * by step. Under valgrind --tool=callgrind --toggle-collect=bench_step (bench_prepare, bench_adjoint) instructions. */
#include <frix/analysis.h>
#include <frix/frix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/scene.h"

typedef struct moving {
  const char *scene, *set[2];
  double value[2];
  double after; /* s */
} moving;

static const moving list[] = {{"top", {NULL}, {0}, 0.02},
                              {"balls", {"n"}, {10}, 0.5},
                              {"dominoes", {"n"}, {10}, 0.05},
                              {"pile", {"n", "stiffness"}, {30, 0}, 0.3},
                              {"pile", {"n", "stiffness"}, {100, 0}, 0.4},
                              {"pile", {"n", "stiffness"}, {500, 0}, 0.5},
                              {"bunnies", {"n"}, {10}, 0.3},
                              {"cannonball", {"levels", "mu"}, {6, 0.05}, 0.2},
                              {"funnel", {"n"}, {60}, 0.3}};

typedef struct cost {
  double step, prepare, adjoint;
  int steps, smooth, refused;
} cost;

#define APART __attribute__((noinline)) /* names for callgrind */

static double seconds_now(void) { return (double)clock() / CLOCKS_PER_SEC; }

static APART frix_status bench_step(frix_sim *sim, double h, frix_step_report *report) {
  return frix_sim_step(sim, h, report);
}
static APART frix_status bench_prepare(frix_sim *sim, frix_gradient **out) {
  return frix_gradient_of_step(sim, NULL, out);
}
static APART frix_status bench_adjoint(frix_gradient *g, const double *c, const frix_gradient_parts *out) {
  return frix_gradient_adjoint(g, c, NULL, out);
}

static void differentiate(frix_sim *sim, cost *sum) {
  frix_gradient *g = NULL;
  double begin = seconds_now();
  bool good = bench_prepare(sim, &g) == FRIX_OK;
  sum->prepare += seconds_now() - begin;
  frix_gradient_result view = {.size = sizeof view};
  if (good) frix_gradient_view(g, &view);
  sum->refused += !good;
  if (good && view.verdict == FRIX_GRADIENT_SMOOTH) {
    sum->smooth++;
    size_t n = (size_t)(view.row_count + view.dof_count + view.joint_count + view.contact_count) + 1;
    double *c = calloc(6 * n, sizeof *c);
    frix_gradient_parts parts = {.size = sizeof parts, .f = c + n, .w = c + 2 * n, .mu = c + 3 * n, .b = c + 4 * n};
    for (int32_t k = 0; c && k < view.dof_count; k++) c[k] = 1 + 0.1 * (k % 7);
    begin = seconds_now();
    if (c) bench_adjoint(g, c, &parts);
    sum->adjoint += seconds_now() - begin;
    free(c);
  }
  frix_gradient_destroy(g);
}

static bool measure(const moving *m, int steps, frix_contact_kind contact, cost *sum) {
  const frix_scene *scene = frix_scene_find(m->scene);
  frix_context *context = NULL;
  frix_model *model = NULL;
  frix_sim *sim = NULL;
  double value[FRIX_SCENE_MAX_PARAMETERS];
  if (!scene || frix_context_create(NULL, &context) != FRIX_OK) return false;
  for (int32_t k = 0; k < scene->parameter_count; k++) {
    value[k] = scene->parameter[k].initial;
    for (int e = 0; e < 2; e++)
      if (m->set[e] && !strcmp(m->set[e], scene->parameter[k].name)) value[k] = m->value[e];
  }
  frix_sim_config config = frix_sim_default();
  config.contact = contact;
  bool good = frix_scene_build(scene, context, value, 0, &model) == FRIX_OK &&
              frix_sim_create(context, model, &config, &sim) == FRIX_OK;
  double h = good ? scene->step : 1;
  for (int k = 0; good && sum->steps < steps; k++) {
    frix_step_report report = {.size = sizeof report};
    good = frix_scene_drive(scene, sim, model, value, h) == FRIX_OK;
    double begin = seconds_now();
    good = good && bench_step(sim, h, &report) == FRIX_OK;
    double took = seconds_now() - begin;
    if (!good || frix_sim_time(sim) < m->after) continue;
    sum->step += took, sum->steps++;
    differentiate(sim, sum);
  }
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
  return good;
}

int main(int count, char **word) {
  int steps = 40;
  const char *only = NULL;
  frix_contact_kind contact = FRIX_CONTACT_KIND_STIFF;
  for (int k = 1; k + 1 < count; k += 2) {
    if (!strcmp(word[k], "--steps")) steps = atoi(word[k + 1]);
    if (!strcmp(word[k], "--scene")) only = word[k + 1];
    if (!strcmp(word[k], "--contact") && !strcmp(word[k + 1], "rigid")) contact = FRIX_CONTACT_KIND_RIGID;
  }
  printf("%-16s %10s %10s %10s %8s %8s %s\n", "scene", "step us", "prepare", "adjoint", "prepare", "adjoint", "smooth");
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    cost sum = {0};
    char name[64];
    snprintf(name, sizeof name, "%s %g", list[k].scene, list[k].value[0]);
    if (only && strncmp(only, name, strlen(only)) != 0) continue;
    if (!measure(&list[k], steps, contact, &sum) || sum.steps == 0) {
      printf("%-16s failed\n", name);
      continue;
    }
    double step = sum.step / sum.steps, prepare = sum.prepare / sum.steps,
           adjoint = sum.smooth ? sum.adjoint / sum.smooth : 0;
    printf("%-16s %10.1f %10.1f %10.1f %7.2fx %7.2fx %d of %d\n", name, 1e6 * step, 1e6 * prepare, 1e6 * adjoint,
           prepare / step, adjoint / step, sum.smooth, sum.steps);
  }
  return 0;
}
