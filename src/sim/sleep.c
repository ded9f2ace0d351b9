/* Sleeping: bodies that have been slow for long are left out, island by island; whatever touches them wakes them. */
#include "sim/sim.h"

void fx_wake(frix_sim *sim, int32_t slot) {
  fx_state *s = &sim->state;
  if (slot <= 0 || slot >= s->count) return;
  s->asleep[slot] = 0;
  s->quiet[slot] = 0.0;
}

void fx_sleep_update(frix_sim *sim) { (void)sim; }
