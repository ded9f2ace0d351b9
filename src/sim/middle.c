/* Forces at the middle of an implicit step: the middle depends on the answer, the answer on the forces there. The step
 * is solved again with the forces of the last answer's middle until it does not change. */
#include "sim/step.h"

#include <math.h>

#define SAME 1e-13 /* of the velocities: the answer does not change any more */

static frix_status load(frix_sim *sim) {
  fx_state *s = &sim->state;
  frix_pose *seen = FX_TAKE(&sim->arena, frix_pose, sim->mover_count);
  if (!seen) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    frix_vec3 v = fx_scale(0.5, fx_add(m->v0, m->v1)), w = fx_scale(0.5, fx_add(m->w0, m->w1));
    seen[k] = s->pose[m->slot];
    if (m->tree) continue; /* forces on trees are those of the place of contacts */
    s->pose[m->slot] = fx_advance(fx_slot_body(sim, m->slot), m->pose0, v,
                                  fx_add(m->L0, fx_sym3_mul(m->J, fx_sub(w, m->w0))), w, 0.5 * sim->h);
  }
  frix_status status = fx_movers_load(sim);
  for (int32_t k = 0; k < sim->mover_count; k++) s->pose[sim->mover[k].slot] = seen[k];
  return status;
}

/* |v1 - old| relative to |v1|, and v1 into old. */
static double change_of(const frix_sim *sim, frix_vec3 *old) {
  double change = 0.0, size = 0.0;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    change += fx_norm2(fx_sub(m->v1, old[2 * k])) + fx_norm2(fx_sub(m->w1, old[2 * k + 1]));
    size += fx_norm2(m->v1) + fx_norm2(m->w1);
    old[2 * k] = m->v1;
    old[2 * k + 1] = m->w1;
  }
  return size > 0.0 ? sqrt(change / size) : sqrt(change);
}

frix_status fx_middle_begin(frix_sim *sim) {
  sim->middle = FX_TAKE(&sim->arena, frix_vec3, 2 * (size_t)sim->mover_count);
  if (!sim->middle) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++)
    sim->mover[k].v1 = sim->mover[k].v0, sim->mover[k].w1 = sim->mover[k].w0;
  return load(sim);
}

frix_status fx_retry_middle(frix_sim *sim, fx_round round, fx_redo *redo) {
  if (!sim->integrator->implicit || !sim->config.force) return FRIX_OK; /* gravity is the same everywhere */
  double change = change_of(sim, sim->middle);
  if (!(change > SAME) || (round.last && change <= sim->config.tolerance)) return FRIX_OK;
  *redo = FX_REDO_ROWS;
  return round.last ? FRIX_OK : load(sim);
}
