/* Input of the last run, slot by slot, so that the next run knows which slots have not changed by a bit. */
#ifndef FX_COLLISION_MEMORY_H
#define FX_COLLISION_MEMORY_H

#include "collision/collision.h"

typedef struct fx_slot_memory {
  frix_pose pose;
  double reach, inner;
  int32_t tree;
  int32_t prototype;
  uint32_t generation;
  bool asleep, same; /* same: as in the run before */
} fx_slot_memory;

typedef struct fx_placement_memory {
  fx_slot_memory *slot;
  size_t room;
  int32_t count; /* 0: nothing is known */
  double margin;
} fx_placement_memory;

/* Takes the placement in and marks the slots that are the same; returns how many are not, -1 without memory. */
int32_t fx_placement_remember(frix_context *context, fx_placement_memory *memory, const fx_placement *placement,
                              double margin);

#endif
