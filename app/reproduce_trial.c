/* A scene that is simulated and watched. */
#ifdef FRIX_HAVE_EXAMPLES
#include "reproduce_trial.h"

#include <math.h>
#include <stdlib.h>

#include "reproduce.h"

static bool failed(const fx_trial *t) {
  fx_error("%s: %s", t->scene->name, frix_error_text(t->context));
  return false;
}

bool fx_trial_new(fx_trial *t, const frix_scene *scene) {
  *t = (fx_trial){.scene = scene, .h = scene->step, .context = fx_context(false), .config = frix_sim_default()};
  t->config.contact = FRIX_CONTACT_KIND_RIGID; /* as in the documents */
  for (int32_t k = 0; k < scene->parameter_count; k++) t->value[k] = scene->parameter[k].initial;
  return true;
}

bool fx_trial_set(fx_trial *t, const char *name, double value) {
  int32_t k = frix_scene_parameter_index(t->scene, name);
  if (k >= 0 && frix_scene_allows(t->scene, k, value)) {
    t->value[k] = value;
    return true;
  }
  fx_error("%s: no parameter %s, or not %g", t->scene->name, name, value);
  return false;
}

bool fx_trial_start(fx_trial *t) {
  if (frix_scene_build(t->scene, t->context, t->value, t->seed, &t->model) != FRIX_OK ||
      frix_sim_create(t->context, t->model, &t->config, &t->sim) != FRIX_OK)
    return failed(t);
  int32_t count = frix_model_count(t->model).body_count;
  t->home = fx_grow(NULL, (size_t)count, sizeof *t->home);
  for (int32_t k = 0; k < count; k++) t->home[k] = fx_trial_body(t, k).center;
  return true;
}

bool fx_trial_step(fx_trial *t) {
  t->last = (frix_step_report){.size = sizeof t->last};
  double begin = fx_cpu_seconds();
  if (frix_scene_drive(t->scene, t->sim, t->model, t->value, t->h) != FRIX_OK ||
      frix_sim_step(t->sim, t->h, &t->last) != FRIX_OK)
    return failed(t);
  double cpu = fx_cpu_seconds() - begin, solve = t->last.assemble_seconds + t->last.solve_seconds;
  t->seconds += cpu;
  if (t->last.seconds > 0) t->solving += cpu * solve / t->last.seconds; /* stages are timed by the clock */
  t->steps++;
  t->certified += t->last.certified;
  t->contacts += t->last.touching_count;
  t->iterations += t->last.iterations;
  t->groups += t->last.contact_count;
  /* a residual above the tolerance may still be certified, where the impulses themselves are rounding */
  double residual =
      t->last.certified ? fmin(t->last.certificate.residual, t->config.tolerance) : t->last.certificate.residual;
  if (!(residual <= t->residual)) t->residual = residual;
  if (!(t->last.penetration <= t->penetration)) t->penetration = t->last.penetration;
  return !fx_interrupted(NULL);
}

bool fx_trial_run(fx_trial *t, double time) {
  int64_t count = (int64_t)(time / t->h + 0.5);
  for (int64_t k = 0; k < count; k++) {
    if (k % 100 == 0) fx_progress("%s: %.2f s of %.2f s", t->scene->name, (double)k * t->h, time);
    if (!fx_trial_step(t)) return false;
  }
  return true;
}

void fx_trial_reset(fx_trial *t) {
  t->steps = t->certified = t->contacts = t->groups = t->iterations = 0;
  t->seconds = t->solving = t->residual = t->penetration = 0;
}

void fx_trial_end(fx_trial *t) {
  frix_sim_destroy(t->sim);
  frix_model_destroy(t->model);
  frix_context_destroy(t->context);
  free(t->home);
  *t = (fx_trial){0};
}

frix_body_state fx_trial_body(const fx_trial *t, int32_t k) {
  frix_body_state state = {0};
  frix_body_id id = frix_model_body_at(t->model, k);
  if (frix_sim_alive(t->sim, id)) frix_sim_body(t->sim, id, &state);
  return state;
}

/* Whether model body k is there and moves by itself. */
static bool counts(const fx_trial *t, int32_t k) {
  frix_body_config body = {.size = sizeof body};
  frix_body_id id = frix_model_body_at(t->model, k);
  return frix_sim_alive(t->sim, id) && frix_model_body(t->model, id, &body) == FRIX_OK &&
         body.kind == FRIX_BODY_DYNAMIC;
}

static double length(frix_vec3 a, frix_vec3 b) { return hypot(a.x - b.x, hypot(a.y - b.y, a.z - b.z)); }

double fx_trial_moved(const fx_trial *t) {
  double most = 0;
  for (int32_t k = 0; k < frix_model_count(t->model).body_count; k++)
    if (counts(t, k)) most = fmax(most, length(fx_trial_body(t, k).center, t->home[k]));
  return most;
}

int32_t fx_trial_moved_count(const fx_trial *t, double distance) {
  int32_t count = 0;
  for (int32_t k = 0; k < frix_model_count(t->model).body_count; k++)
    count += counts(t, k) && length(fx_trial_body(t, k).center, t->home[k]) > distance;
  return count;
}

double fx_trial_speed(const fx_trial *t) {
  double most = 0;
  for (int32_t k = 0; k < frix_sim_body_count(t->sim); k++) {
    frix_body_state state = {0};
    frix_sim_body(t->sim, frix_sim_body_at(t->sim, k), &state);
    most = fmax(most, length(state.velocity, (frix_vec3){0, 0, 0}));
  }
  return most;
}
#endif
