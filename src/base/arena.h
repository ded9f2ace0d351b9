/* Arena: many allocations, one free. Solvers allocate all their workspace here before they start to iterate. */
#ifndef FX_BASE_ARENA_H
#define FX_BASE_ARENA_H

#include "base/context.h"

typedef struct fx_arena_block fx_arena_block;

typedef struct fx_arena {
  frix_context *context;
  fx_arena_block *head;
} fx_arena;

void fx_arena_init(fx_arena *arena, frix_context *context);
void fx_arena_free(fx_arena *arena);
/* Zeroed, aligned to 64 bytes; NULL with the error text set when memory runs out. A zero count gives a valid pointer.
 */
void *fx_arena_take(fx_arena *arena, size_t count, size_t size);

/* The same, with whatever the memory holds: for large arrays that are filled at once. */
void *fx_arena_take_raw(fx_arena *arena, size_t count, size_t size);

#define FX_TAKE_RAW(arena, type, count) ((type *)fx_arena_take_raw((arena), (size_t)(count), sizeof(type)))
#define FX_TAKE(arena, type, count) ((type *)fx_arena_take((arena), (size_t)(count), sizeof(type)))

#endif
