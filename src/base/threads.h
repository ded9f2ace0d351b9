/* Threads: run independent tasks on a few pthreads. */
#ifndef FX_BASE_THREADS_H
#define FX_BASE_THREADS_H

#include "base/context.h"

/* Calls run(task, user) once for every task in 0..task_count-1, on at most thread_count threads, and waits. Which
 * thread takes which task is open, so tasks must not share what they write: the answer is then the same for any count.
 * Falls back to fewer threads when the system gives none. */
void fx_parallel(int32_t thread_count, int32_t task_count, void (*run)(int32_t task, void *user), void *user);

/* Seconds on a monotonic clock. */
double fx_seconds(void);

#endif
