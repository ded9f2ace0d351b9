/* Threads: independent tasks on a few pthreads that live as long as the context. */
#ifndef FX_BASE_THREADS_H
#define FX_BASE_THREADS_H

#include "base/context.h"

/* Calls run(task, user) once for every task in 0..task_count-1, on at most thread_count threads, and waits. Which
 * thread takes which task is open, so tasks must not share what they write: the answer is then the same for any count.
 * The threads belong to the context and wait there for the next call. Falls back to fewer threads when the system gives
 * none, and to the caller alone while the context's threads are at work for somebody else. */
void fx_parallel(frix_context *context, int32_t thread_count, int32_t task_count, void (*run)(int32_t task, void *user),
                 void *user);

/* For the context, which owns them. */
fx_crew *fx_crew_create(frix_context *context);
void fx_crew_destroy(frix_context *context, fx_crew *crew);

/* Seconds on a monotonic clock. */
double fx_seconds(void);

#endif
