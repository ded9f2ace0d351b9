/* Input of the last run. */
#include "collision/memory.h"

#include "collision/broad.h"

#include <string.h>

static bool equal(const fx_slot_memory *a, const fx_slot_memory *b) {
  return memcmp(&a->pose, &b->pose, sizeof a->pose) == 0 && memcmp(&a->reach, &b->reach, sizeof a->reach) == 0 &&
         memcmp(&a->inner, &b->inner, sizeof a->inner) == 0 && a->tree == b->tree && a->prototype == b->prototype &&
         a->generation == b->generation && a->asleep == b->asleep;
}

int32_t fx_placement_remember(frix_context *context, fx_placement_memory *m, const fx_placement *p, double margin) {
  int32_t known = m->margin == margin ? m->count : 0, changed = p->count > m->count ? 0 : m->count - p->count;
  if ((size_t)p->count > m->room) known = 0; /* what was known is lost */
  m->count = 0;
  if (!fx_make_room(context, (void **)&m->slot, &m->room, (size_t)p->count, sizeof *m->slot)) return -1;
  for (int32_t k = 0; k < p->count; k++) {
    fx_slot_memory now = {.pose = p->pose[k],
                          .reach = p->reach ? p->reach[k] : 0.0,
                          .inner = p->tree ? p->inner[k] : 0.0,
                          .tree = p->tree ? p->tree[k] : -1,
                          .prototype = p->prototype[k],
                          .generation = p->generation ? p->generation[k] : 1,
                          .asleep = p->asleep && p->asleep[k]};
    now.same = k < known && equal(&now, &m->slot[k]);
    changed += !now.same;
    m->slot[k] = now;
  }
  m->count = p->count;
  m->margin = margin;
  return changed;
}
