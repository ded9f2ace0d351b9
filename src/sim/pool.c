/* Pool: free lists of blocks by size, four sizes per power of two. Blocks of LARGE bytes and more are not kept here:
 * the contexts on both sides keep as many as were in use at once, and their sizes change with the number of contacts,
 * so that lists of every size would add up to several times what a step needs. */
#include "sim/pool.h"

enum { CLASSES = 256, LARGE = 1 << 20 };

typedef struct block {
  struct block *next;
} block;

struct fx_pool {
  frix_context *outer;
  block *list[CLASSES];
  int64_t misses;
};

/* The class of a size, and the size all blocks of that class have: 2^k (1 + j/4). */
static int class_of(size_t bytes, size_t *rounded) {
  size_t power = 64;
  int k = 0;
  while (power <= SIZE_MAX / 4 && 2 * power <= bytes) power *= 2, k++;
  for (int j = 0; j < 4; j++)
    if (bytes <= power + power / 4 * (size_t)j) {
      *rounded = power + power / 4 * (size_t)j;
      return 4 * k + j;
    }
  *rounded = 2 * power;
  return 4 * (k + 1);
}

/* The inner context holds its lock around both calls. */
static void *take(size_t bytes, void *user) {
  fx_pool *pool = user;
  size_t rounded;
  int k = class_of(bytes, &rounded);
  if (rounded < bytes) return NULL;
  if (bytes >= LARGE) {
    pool->misses++;
    return fx_alloc_raw(pool->outer, 1, bytes);
  }
  block *b = pool->list[k];
  if (b) {
    pool->list[k] = b->next;
    return b;
  }
  pool->misses++;
  return fx_alloc_raw(pool->outer, 1, rounded);
}

static void give(void *pointer, size_t bytes, void *user) {
  fx_pool *pool = user;
  size_t rounded;
  int k = class_of(bytes, &rounded);
  if (bytes >= LARGE) {
    fx_free(pool->outer, pointer);
    return;
  }
  block *b = pointer;
  b->next = pool->list[k];
  pool->list[k] = b;
}

static void pass_on(frix_log_level level, const char *text, void *user) {
  fx_pool *pool = user;
  fx_log(pool->outer, level, "%s", text);
}

frix_status fx_pool_create(frix_context *outer, fx_pool **pool, frix_context **inner) {
  *inner = NULL;
  *pool = FX_NEW(outer, fx_pool, 1);
  if (!*pool) return FRIX_ERROR_MEMORY;
  (*pool)->outer = outer;
  frix_context_config config = frix_context_default();
  config.allocate = take;
  config.release = give;
  config.log = pass_on;
  config.user = *pool;
  frix_status status = frix_context_create(&config, inner);
  if (status != FRIX_OK) {
    fx_free(outer, *pool);
    *pool = NULL;
    fx_fail(outer, status, "out of memory");
  }
  return status;
}

void fx_pool_destroy(fx_pool *pool, frix_context *inner) {
  frix_context_destroy(inner);
  if (!pool) return;
  for (int k = 0; k < CLASSES; k++)
    for (block *b = pool->list[k]; b;) {
      block *next = b->next;
      fx_free(pool->outer, b);
      b = next;
    }
  fx_free(pool->outer, pool);
}

int64_t fx_pool_misses(const fx_pool *pool) { return pool->misses; }
