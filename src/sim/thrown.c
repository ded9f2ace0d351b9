/* What an impact throws within the step.
 *
 * Contacts are looked for as far as bodies come at the speeds they have before the answer is known. A blow may make
 * them faster: where the answer takes a body so much further that it could pass into a thin one, contacts are looked
 * for again as far as it goes. If one of the new ones would be overlapped, the step is solved again with all of them.
 */
#include "base/threads.h"
#include "model/shape.h"
#include "sim/step.h"

#include <math.h>
#include <string.h>

static const double part_of_thickness = 0.1;

double fx_shape_thickness(const fx_shape *shape) {
  if (!isfinite(shape->bound)) return INFINITY;
  frix_vec3 low, high;
  frix_pose own = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
  fx_shape_row_of(shape->kind)->box(shape, own, &low, &high);
  double x = high.x - low.x, y = high.y - low.y, z = high.z - low.z;
  if (fx_shape_row_of(shape->kind)->info.flat) z = INFINITY;
  return 0.5 * fmin(x, fmin(y, z));
}

double fx_model_thinnest(const frix_model *model) {
  double least = INFINITY;
  for (int32_t k = 0; k < model->shape_count; k++) least = fmin(least, fx_shape_thickness(&model->shape[k]));
  return least;
}

/* *far where a body goes so much further than contacts were looked for that it could pass into another: then the reach
 * is raised to where they go. */
static frix_status raise_reach(frix_sim *sim, double margin, bool *far) {
  size_t count = (size_t)sim->state.count;
  double most = 0.5 * margin + part_of_thickness * sim->thinnest;
  double *way = FX_TAKE(&sim->arena, double, count), *inner = FX_TAKE(&sim->arena, double, count);
  if (!way || !inner) return FRIX_ERROR_MEMORY;
  fx_ways_raise(sim, FX_AFTER, way, inner);
  *far = false;
  for (size_t k = 0; k < count && !*far; k++)
    *far = way[k] > sim->reach[k] + most || (sim->tree_reach && inner[k] > sim->tree_reach[k] + most);
  for (size_t k = 0; k < count && *far; k++) {
    sim->reach[k] = fmax(sim->reach[k], way[k]);
    if (sim->tree_reach) sim->tree_reach[k] = fmax(sim->tree_reach[k], inner[k]);
  }
  return FRIX_OK;
}

/* Velocity of a slot's material point after the step. */
static frix_vec3 velocity_at(const frix_sim *sim, int32_t slot, frix_vec3 p) {
  const fx_state *s = &sim->state;
  frix_vec3 v, w;
  fx_slot_motion(sim, slot, FX_AFTER, &v, &w);
  return fx_add(v, fx_cross(w, fx_sub(p, s->pose[slot].p)));
}

static bool would_overlap(const frix_sim *sim, const fx_contact *c) {
  const fx_shape *shape = sim->model->shape;
  frix_vec3 p = fx_scale(0.5, fx_add(c->point_a, c->point_b));
  double closing = fx_dot(c->normal, fx_sub(velocity_at(sim, c->body_a, p), velocity_at(sim, c->body_b, p)));
  double after = c->gap + sim->h * closing;
  double thin = fmin(fx_shape_thickness(&shape[c->shape_a]), fx_shape_thickness(&shape[c->shape_b]));
  return c->gap >= 0.0 && after < -part_of_thickness * thin;
}

/* Both lists are sorted alike. */
static bool misses_one(const frix_sim *sim, const fx_contact *old, int32_t old_count) {
  int32_t at = 0;
  for (int32_t i = 0; i < sim->contact_count; i++) {
    const fx_contact *c = &sim->contact[i];
    while (at < old_count && fx_contact_order(&old[at], c) < 0) at++;
    bool known = at < old_count && fx_contact_order(&old[at], c) == 0;
    if (!known && would_overlap(sim, c)) return true;
  }
  return false;
}

frix_status fx_retry_thrown(frix_sim *sim, fx_round round, fx_redo *redo) {
  double margin = fx_sim_margin(sim);
  bool far = false;
  if (sim->integrator->implicit || sim->deadline > 0.0 || !sim->report.certified) return FRIX_OK;
  frix_status status = raise_reach(sim, margin, &far);
  if (status != FRIX_OK || !far) return status;
  int32_t count = sim->contact_count;
  fx_contact *old = FX_TAKE_RAW(&sim->arena, fx_contact, count);
  if (!old) return FRIX_ERROR_MEMORY;
  if (count) memcpy(old, sim->contact, (size_t)count * sizeof *old);
  double begun = fx_seconds();
  status = fx_sim_find_contacts(sim, margin);
  sim->look_seconds += fx_seconds() - begun;
  if (status != FRIX_OK) return status;
  if (misses_one(sim, old, count)) *redo = FX_REDO_CONTACTS;
  if (*redo != FX_REDO_NOTHING && !round.last) return fx_sim_describe_contacts(sim);
  sim->contact = old; /* as the answer knows them */
  sim->contact_count = count;
  return FRIX_OK;
}
