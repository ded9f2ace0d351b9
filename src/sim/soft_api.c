/* Soft bodies of a simulation from outside. */
#include "sim/softs.h"

#include <math.h>
#include <string.h>

/* The soft body of an id; NULL with the error text set. */
static fx_soft_body *find(const frix_sim *sim, frix_body_id id, const char *call) {
  int32_t slot = fx_slot_of(sim, id, false, call);
  fx_soft_body *b = slot >= 0 ? fx_soft_at(sim, slot) : NULL;
  if (slot >= 0 && !b) fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: the body is rigid", call);
  return b;
}

const frix_soft *frix_sim_soft(const frix_sim *sim, frix_body_id id) {
  if (!sim || !frix_sim_alive(sim, id)) return NULL;
  const fx_soft_body *b = fx_soft_at(sim, (int32_t)id.index);
  return b ? b->soft : NULL;
}

const double *frix_sim_amplitude(const frix_sim *sim, frix_body_id id) {
  if (!sim || !frix_sim_soft(sim, id)) return NULL;
  return sim->state.robot + fx_soft_at(sim, (int32_t)id.index)->at;
}

const double *frix_sim_rate(const frix_sim *sim, frix_body_id id) {
  const double *amplitude = frix_sim_amplitude(sim, id);
  return amplitude ? amplitude + frix_sim_soft(sim, id)->info.coordinates : NULL;
}

static bool all_finite(const double *x, int32_t count) {
  for (int32_t k = 0; x && k < count; k++)
    if (!isfinite(x[k])) return false;
  return true;
}

frix_status frix_sim_set_amplitude(frix_sim *sim, frix_body_id id, const double *amplitude, const double *rate) {
  if (!sim) return FRIX_ERROR_INPUT;
  const fx_soft_body *b = find(sim, id, "frix_sim_set_amplitude");
  if (!b) return FRIX_ERROR_INPUT;
  int32_t k = b->soft->info.coordinates;
  if (sim->in_force || !all_finite(amplitude, k) || !all_finite(rate, k))
    return fx_fail(sim->context, FRIX_ERROR_INPUT,
                   "frix_sim_set_amplitude: not finite, or called from the force callback");
  frix_energy *e = &sim->state.energy;
  double before = e->kinetic + e->potential;
  size_t bytes = (size_t)k * sizeof *amplitude;
  if (amplitude && k) memmove(sim->state.robot + b->at, amplitude, bytes);
  if (rate && k) memmove(sim->state.robot + b->at + k, rate, bytes);
  sim->stamp++;
  fx_set_momentum(sim, b->slot);
  e->kinetic = fx_kinetic(sim), e->potential = fx_potential(sim);
  e->work += e->kinetic + e->potential - before;
  return FRIX_OK;
}

frix_status frix_sim_surface(const frix_sim *sim, frix_body_id id, frix_vec3 *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  const fx_soft_body *b = find(sim, id, "frix_sim_surface");
  if (!b) return FRIX_ERROR_INPUT;
  frix_soft_deform(b->soft, sim->state.pose[b->slot], sim->state.robot + b->at, out);
  return FRIX_OK;
}

frix_status frix_sim_pull(frix_sim *sim, frix_body_id id, const frix_soft_pull *pull) {
  if (!sim) return FRIX_ERROR_INPUT;
  const fx_soft_body *b = find(sim, id, "frix_sim_pull");
  if (!b) return FRIX_ERROR_INPUT;
  fx_softs *s = sim->softs;
  if (!pull || pull->point < 0 || pull->point >= b->soft->info.point_count || !fx_finite(pull->place) ||
      !fx_finite(pull->velocity) || !(pull->stiffness >= 0.0 && pull->damping >= 0.0) ||
      !isfinite(pull->stiffness + pull->damping) || sim->in_force)
    return fx_fail(sim->context, FRIX_ERROR_INPUT,
                   "frix_sim_pull: needs a point of the surface, a finite place and no negative number");
  if (s->pull_count == s->pull_room) {
    int32_t room = s->pull_room ? 2 * s->pull_room : 16;
    fx_pull *grown = FX_TAKE(&s->arena, fx_pull, room);
    if (!grown) return FRIX_ERROR_MEMORY;
    if (s->pull_count) memcpy(grown, s->pull, (size_t)s->pull_count * sizeof *grown);
    s->pull = grown, s->pull_room = room;
  }
  s->pull[s->pull_count++] =
      (fx_pull){b->slot, pull->point, pull->place, pull->velocity, pull->stiffness, pull->damping};
  return FRIX_OK;
}
