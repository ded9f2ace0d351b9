/* Sleeping: islands that have been slow for long are left out of steps; whatever moves at them wakes them first.
 *
 * A sleeping body has velocity zero and keeps its contacts' impulses, so that it goes on exactly where it stopped.
 * Before a step every sleeping body that a moving one comes near to is woken, with its whole island. */
#include "sim/mechanism.h"

#include <math.h>

void fx_wake(frix_sim *sim, int32_t slot) {
  fx_state *s = &sim->state;
  if (slot <= 0 || slot >= s->count) return;
  s->asleep[slot] = 0;
  s->quiet[slot] = 0.0;
}

/* ---- islands of the last step's contacts and of joints ---- */

static int32_t root(int32_t *parent, int32_t k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

static bool dynamic(const frix_sim *sim, int32_t k) {
  return k > 0 && sim->state.prototype[k] > 0 && fx_slot_body(sim, k)->dof > 0;
}

static void join(const frix_sim *sim, int32_t *parent, int32_t a, int32_t b) {
  if (!dynamic(sim, a) || !dynamic(sim, b)) return;
  a = root(parent, a), b = root(parent, b);
  parent[a > b ? a : b] = a > b ? b : a;
}

static int32_t *islands(frix_sim *sim) {
  const fx_state *s = &sim->state;
  int32_t *parent = FX_TAKE(&sim->arena, int32_t, s->count);
  if (!parent) return NULL;
  for (int32_t k = 0; k < s->count; k++) parent[k] = k;
  for (int32_t c = 0; c < s->touching_count; c++)
    join(sim, parent, s->touching[c].contact.body_a, s->touching[c].contact.body_b);
  for (int32_t j = 0; j < s->joint_count; j++) {
    const fx_joint *joint = &sim->model->joint[j];
    if (joint->config.kind != FRIX_JOINT_COUPLING) join(sim, parent, joint->a, joint->b);
  }
  for (int32_t k = 1; sim->mechanism && k < sim->mechanism->slot_count; k++) {
    int32_t island = fx_mechanism_island(sim, k);
    if (island > 0) join(sim, parent, island, k);
  }
  return parent;
}

/* ---- falling asleep ---- */

void fx_sleep_update(frix_sim *sim) {
  fx_state *s = &sim->state;
  if (!sim->config.sleep) return;
  int32_t *parent = islands(sim);
  double *least = FX_TAKE(&sim->arena, double, s->count);
  if (!parent || !least) return; /* no body sleeps this time */
  for (int32_t k = 1; k < s->count; k++) {
    if (!dynamic(sim, k) || s->asleep[k]) continue;
    double radius = fx_slot_body(sim, k)->radius;
    double speed = fx_norm(s->velocity[k]) + (isfinite(radius) ? radius : 0.0) * fx_norm(s->spin[k]);
    bool calm = speed < sim->config.sleep_speed && fx_slot_body(sim, k)->can_sleep && fx_mechanism_rests(sim, k);
    s->quiet[k] = calm ? s->quiet[k] + sim->h : 0.0;
  }
  for (int32_t k = 0; k < s->count; k++) least[k] = INFINITY;
  for (int32_t k = 1; k < s->count; k++)
    if (dynamic(sim, k)) least[root(parent, k)] = fmin(least[root(parent, k)], s->quiet[k]);
  /* a moving kinematic body keeps awake what it touches */
  for (int32_t c = 0; c < s->touching_count; c++)
    for (int side = 0; side < 2; side++) {
      int32_t a = side ? s->touching[c].contact.body_b : s->touching[c].contact.body_a;
      int32_t b = side ? s->touching[c].contact.body_a : s->touching[c].contact.body_b;
      bool driven = a > 0 && !dynamic(sim, a) && (!fx_is_zero(s->velocity[a]) || !fx_is_zero(s->spin[a]));
      if (driven && dynamic(sim, b)) least[root(parent, b)] = 0.0;
    }
  double before = s->energy.kinetic;
  bool any = false;
  for (int32_t k = 1; k < s->count; k++) {
    if (!dynamic(sim, k) || s->asleep[k] || least[root(parent, k)] < sim->config.sleep_time) continue;
    s->asleep[k] = 1;
    s->velocity[k] = s->spin[k] = s->momentum[k] = fx_vec(0.0, 0.0, 0.0);
    any = true;
  }
  if (!any) return;
  fx_mechanism_stop(sim);
  s->energy.kinetic = fx_kinetic(sim);
  s->energy.scheme += s->energy.kinetic - before;
}

/* ---- waking ---- */

bool fx_sleep_wake_touched(frix_sim *sim) {
  fx_state *s = &sim->state;
  if (!sim->config.sleep) return false;
  int32_t *parent = islands(sim);
  uint8_t *ring = FX_TAKE(&sim->arena, uint8_t, s->count);
  if (!parent || !ring) return false;
  bool any = false;
  for (int32_t k = 1; k < s->count; k++) /* woken by hand: the island with it */
    if (dynamic(sim, k) && !s->asleep[k]) ring[root(parent, k)] = 1;
  for (int32_t c = 0; c < sim->contact_count; c++) {
    int32_t a = sim->contact[c].body_a, b = sim->contact[c].body_b;
    for (int side = 0; side < 2; side++) {
      int32_t sleeper = side ? b : a, other = side ? a : b;
      if (!dynamic(sim, sleeper) || !s->asleep[sleeper]) continue;
      bool driven =
          other > 0 && !dynamic(sim, other) && (!fx_is_zero(s->velocity[other]) || !fx_is_zero(s->spin[other]));
      if (driven || (dynamic(sim, other) && !s->asleep[other])) ring[root(parent, sleeper)] = 1;
    }
  }
  for (int32_t k = 1; k < s->count; k++)
    if (dynamic(sim, k) && s->asleep[k] && ring[root(parent, k)]) {
      fx_wake(sim, k);
      any = true;
    }
  return any;
}

frix_status frix_sim_wake(frix_sim *sim, frix_body_id id) {
  if (!sim) return FRIX_ERROR_INPUT;
  int32_t k = fx_slot_of(sim, id, false, "frix_sim_wake");
  if (k < 0) return FRIX_ERROR_INPUT;
  fx_wake(sim, k);
  return FRIX_OK;
}
