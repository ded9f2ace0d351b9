/* Arena: a chain of growing blocks. */
#include "base/arena.h"

#include <string.h>

enum { ALIGNMENT = 64, FIRST_BLOCK = 1 << 13, LAST_BLOCK = 1 << 18 };

struct fx_arena_block {
  fx_arena_block *next;
  size_t size, used;
  _Alignas(64) unsigned char bytes[];
};

void fx_arena_init(fx_arena *arena, frix_context *context) {
  arena->context = context;
  arena->head = NULL;
}

void fx_arena_free(fx_arena *arena) {
  for (fx_arena_block *block = arena->head; block;) {
    fx_arena_block *next = block->next;
    fx_free(arena->context, block);
    block = next;
  }
  arena->head = NULL;
}

/* Blocks double up to LAST_BLOCK, so that their number stays small and little of them is unused. What is larger has a
 * block of its own behind the head, which keeps its room: in worlds of a hundred thousand bodies a block twice as large
 * as an array before it would be most of the memory. */
static fx_arena_block *add_block(fx_arena *arena, size_t bytes) {
  fx_arena_block *head = arena->head;
  size_t wanted = !head ? FIRST_BLOCK : head->size < LAST_BLOCK / 2 ? 2 * head->size : LAST_BLOCK;
  bool own = bytes > wanted / 2 && bytes > LAST_BLOCK / 4;
  if (own || wanted < bytes) wanted = bytes;
  fx_arena_block *block = fx_alloc_raw(arena->context, 1, sizeof *block + wanted);
  if (!block) return NULL;
  *block = (fx_arena_block){.size = wanted};
  fx_arena_block **place = own && head ? &head->next : &arena->head;
  block->next = *place;
  *place = block;
  return block;
}

void *fx_arena_take_raw(fx_arena *arena, size_t count, size_t size) {
  if (size && count > (SIZE_MAX / 4) / size) {
    fx_fail(arena->context, FRIX_ERROR_MEMORY, "out of memory: %zu x %zu bytes", count, size);
    return NULL;
  }
  size_t bytes = (count * size + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1);
  fx_arena_block *head = arena->head;
  if (!head || head->size - head->used < bytes) {
    head = add_block(arena, bytes);
    if (!head) return NULL;
  }
  void *pointer = head->bytes + head->used;
  head->used += bytes;
  return pointer;
}

void *fx_arena_take(fx_arena *arena, size_t count, size_t size) {
  void *pointer = fx_arena_take_raw(arena, count, size);
  return pointer ? memset(pointer, 0, count * size) : NULL;
}
