#include "settling.h"

#include "examples/scene.h"

#include <math.h>
#include <stdlib.h>

bool settling_new(settling *s, settling_config wanted) {
  *s = (settling){.config = frix_sim_default()};
  const frix_scene *scene = frix_scene_find("pile");
  double value[FRIX_SCENE_MAX_PARAMETERS];
  for (int32_t k = 0; k < scene->parameter_count; k++) value[k] = scene->parameter[k].initial;
  value[frix_scene_parameter_index(scene, "n")] = wanted.spheres;
  value[frix_scene_parameter_index(scene, "stiffness")] = wanted.stiffness;
  value[frix_scene_parameter_index(scene, "rolling")] = wanted.rolling;
  value[frix_scene_parameter_index(scene, "spinning")] = wanted.spinning;
  s->h = scene->step;
  return frix_context_create(NULL, &s->context) == FRIX_OK &&
         frix_scene_build(scene, s->context, value, wanted.seed, &s->model) == FRIX_OK &&
         frix_sim_create(s->context, s->model, &s->config, &s->sim) == FRIX_OK;
}

void settling_end(settling *s) {
  frix_sim_destroy(s->sim);
  frix_model_destroy(s->model);
  frix_context_destroy(s->context);
  *s = (settling){0};
}

bool settling_run(settling *s, double time) {
  for (int64_t k = 0; k < (int64_t)(time / s->h + 0.5); k++) {
    frix_step_report r;
    if (frix_sim_step(s->sim, s->h, &r) != FRIX_OK) return false;
    s->steps++;
    s->uncertified += !r.certified;
    s->seconds += r.seconds;
  }
  return true;
}

static double length(frix_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

double settling_speed(const settling *s, int32_t *loose) {
  double most = 0;
  const frix_body_id none = {0, 0};
  int32_t slots = 1, contacts = frix_sim_contact_count(s->sim);
  for (frix_body_id id = frix_sim_body_next(s->sim, none); id.index; id = frix_sim_body_next(s->sim, id))
    slots = (int32_t)id.index + 1;
  int32_t *held = calloc((size_t)slots, sizeof *held);
  *loose = 0;
  if (!held) return NAN;
  for (int32_t k = 0; k < contacts; k++) {
    frix_contact_report c;
    if (frix_sim_contact(s->sim, k, &c) != FRIX_OK || c.phase == FRIX_CONTACT_END || length(c.force) == 0) continue;
    held[c.a.index]++, held[c.b.index]++;
  }
  for (frix_body_id id = frix_sim_body_next(s->sim, none); id.index; id = frix_sim_body_next(s->sim, id)) {
    frix_body_state b;
    frix_body_config config;
    if (frix_model_body(s->model, id, &config) != FRIX_OK || config.kind != FRIX_BODY_DYNAMIC) continue;
    if (held[id.index] < 3)
      (*loose)++;
    else if (frix_sim_body(s->sim, id, &b) == FRIX_OK)
      most = fmax(most, length(b.velocity));
  }
  free(held);
  return most;
}

int32_t settling_moving(const settling *s, double speed) {
  int32_t count = 0;
  const frix_body_id none = {0, 0};
  for (frix_body_id id = frix_sim_body_next(s->sim, none); id.index; id = frix_sim_body_next(s->sim, id)) {
    frix_body_state b;
    count += frix_sim_body(s->sim, id, &b) == FRIX_OK && !(length(b.velocity) <= speed);
  }
  return count;
}

/* A sim from here on under another tolerance. */
static frix_sim *branch(const settling *s, const frix_snapshot *from, double tolerance, int32_t steps) {
  frix_sim_config config = s->config;
  frix_sim *sim = NULL;
  config.tolerance = tolerance;
  frix_status status = frix_sim_create(s->context, s->model, &config, &sim);
  if (status == FRIX_OK) status = frix_sim_restore(sim, from);
  for (int32_t k = 0; k < steps && status == FRIX_OK; k++) status = frix_sim_step(sim, s->h, NULL);
  if (status == FRIX_OK) return sim;
  frix_sim_destroy(sim);
  return NULL;
}

double settling_apart(const settling *s, double tolerance, double other, int32_t steps) {
  frix_snapshot *snapshot = NULL;
  if (frix_sim_save(s->sim, &snapshot) != FRIX_OK) return NAN;
  frix_sim *a = branch(s, snapshot, tolerance, steps), *b = branch(s, snapshot, other, steps);
  double most = a && b ? 0 : NAN;
  const frix_body_id none = {0, 0};
  for (frix_body_id id = frix_sim_body_next(s->sim, none); a && b && id.index; id = frix_sim_body_next(s->sim, id)) {
    frix_body_state p = {0}, q = {0};
    frix_sim_body(a, id, &p), frix_sim_body(b, id, &q);
    double d = length((frix_vec3){p.center.x - q.center.x, p.center.y - q.center.y, p.center.z - q.center.z});
    if (!(d <= most)) most = d;
  }
  frix_sim_destroy(a);
  frix_sim_destroy(b);
  frix_snapshot_destroy(snapshot);
  return most;
}
