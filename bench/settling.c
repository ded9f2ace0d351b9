#include "settling.h"

#include "examples/scene.h"

#include <math.h>
#include <stdlib.h>

#define DRAG 1e12 /* N s/m, and N m s: nothing in a pile moves a sphere against it by 1e-9 m/s */

enum { HELD = 3 }; /* loaded contacts that hold a sphere; two leave it a turn about the line between them */

bool settling_new(settling *s, settling_config wanted) {
  *s = (settling){.config = frix_sim_default()};
  s->config.contact = FRIX_CONTACT_KIND_RIGID;
  const frix_scene *scene = frix_scene_find("pile");
  double value[FRIX_SCENE_MAX_PARAMETERS];
  for (int32_t k = 0; k < scene->parameter_count; k++) value[k] = scene->parameter[k].initial;
  value[frix_scene_parameter_index(scene, "n")] = wanted.spheres;
  value[frix_scene_parameter_index(scene, "stiffness")] = wanted.stiffness;
  value[frix_scene_parameter_index(scene, "rolling")] = wanted.rolling;
  value[frix_scene_parameter_index(scene, "spinning")] = wanted.spinning;
  value[frix_scene_parameter_index(scene, "rough")] = wanted.rough;
  s->h = scene->step;
  if (wanted.tolerance > 0) s->config.tolerance = wanted.tolerance;
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

/* Loaded contacts by the index of their body; NULL without memory. The caller frees it. */
static int32_t *count_loads(const settling *s) {
  const frix_body_id none = {0, 0};
  int32_t slots = 1, contacts = frix_sim_contact_count(s->sim);
  for (frix_body_id id = frix_sim_body_next(s->sim, none); id.index; id = frix_sim_body_next(s->sim, id))
    slots = (int32_t)id.index + 1;
  int32_t *loads = calloc((size_t)slots, sizeof *loads);
  for (int32_t k = 0; loads && k < contacts; k++) {
    frix_contact_report c;
    if (frix_sim_contact(s->sim, k, &c) != FRIX_OK || c.phase == FRIX_CONTACT_END || length(c.force) == 0) continue;
    loads[c.a.index]++, loads[c.b.index]++;
  }
  return loads;
}

double settling_speed(const settling *s, int32_t *loose) {
  double most = 0;
  const frix_body_id none = {0, 0};
  int32_t *loads = count_loads(s);
  *loose = 0;
  if (!loads) return NAN;
  for (frix_body_id id = frix_sim_body_next(s->sim, none); id.index; id = frix_sim_body_next(s->sim, id)) {
    frix_body_state b;
    if (loads[id.index] < HELD)
      (*loose)++;
    else if (frix_sim_body(s->sim, id, &b) == FRIX_OK)
      most = fmax(most, length(b.velocity));
  }
  free(loads);
  return most;
}

/* Marks what is loose now, and stops and drags all that is marked for the next step. */
static bool drag_loose(settling *s, bool *marked) {
  const frix_body_id none = {0, 0};
  const frix_vec3 still = {0, 0, 0};
  const frix_sym3 zero = {0}, drag = {.xx = DRAG, .yy = DRAG, .zz = DRAG};
  int32_t *loads = count_loads(s);
  bool good = loads != NULL;
  for (frix_body_id id = frix_sim_body_next(s->sim, none); good && id.index; id = frix_sim_body_next(s->sim, id)) {
    marked[id.index] |= loads[id.index] < HELD;
    if (!marked[id.index]) continue;
    good = frix_sim_set_velocity(s->sim, id, still, still) == FRIX_OK &&
           frix_sim_add_slope(s->sim, id, zero, drag, drag) == FRIX_OK;
  }
  free(loads);
  return good;
}

bool settling_hold_loose(settling *s, double time) {
  bool *marked = calloc((size_t)frix_sim_body_count(s->sim) + 1, sizeof *marked), good = marked != NULL;
  for (int64_t k = 0; good && k < (int64_t)(time / s->h + 0.5); k++)
    good = drag_loose(s, marked) && settling_run(s, s->h);
  free(marked);
  return good;
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
