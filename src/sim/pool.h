/* Pool: an allocator that keeps what is released and uses it again, so that steps of like size ask the user's
 * allocator for nothing once they have run a few times. */
#ifndef FX_SIM_POOL_H
#define FX_SIM_POOL_H

#include "base/context.h"

typedef struct fx_pool fx_pool;

/* The pool and a context that allocates from it; log lines go on to the outer context. */
frix_status fx_pool_create(frix_context *outer, fx_pool **pool, frix_context **inner);
/* After everything taken from the inner context was released. */
void fx_pool_destroy(fx_pool *pool, frix_context *inner);
/* How often the outer allocator was asked so far. */
int64_t fx_pool_misses(const fx_pool *pool);

#endif
