/* What the user hangs on a body of a sim: a pointer for each instance, with the generation of the body it was given to.
 * It is no part of the state: snapshots, hashes and records do not know it. */
#include <frix/hooks.h>

#include "sim/sim_internal.h"

frix_status frix_sim_set_user(frix_sim *sim, frix_body_id id, void *user) {
  if (!sim) return FRIX_ERROR_INPUT;
  int32_t k = fx_slot_of(sim, id, false, "frix_sim_set_user");
  if (k < 0) return FRIX_ERROR_INPUT;
  if (k >= sim->tag_count) {
    int32_t wanted = sim->state.count > 2 * sim->tag_count ? sim->state.count : 2 * sim->tag_count;
    fx_tag *grown = fx_realloc(sim->context, sim->tag, (size_t)sim->tag_count, (size_t)wanted, sizeof *grown);
    if (!grown) return FRIX_ERROR_MEMORY;
    for (int32_t n = sim->tag_count; n < wanted; n++) grown[n] = (fx_tag){0};
    sim->tag = grown;
    sim->tag_count = wanted;
  }
  sim->tag[k] = (fx_tag){user, id.generation};
  return FRIX_OK;
}

void *frix_sim_user(const frix_sim *sim, frix_body_id id) {
  if (!frix_sim_alive(sim, id)) return NULL;
  bool own = id.index < (uint32_t)sim->tag_count && sim->tag[id.index].generation == id.generation;
  return own ? sim->tag[id.index].user : fx_slot_body(sim, (int32_t)id.index)->user;
}
