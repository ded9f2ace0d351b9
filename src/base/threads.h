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

/* Threads that a piece of work may use; count 0 or 1: the caller alone. */
typedef struct fx_threads {
  frix_context *context;
  int32_t count;
} fx_threads;

/* Calls run(part, first, end, user) for parts of 0..count-1. The cut depends on count and `least`, the smallest part,
 * alone, so that sums over parts, added in their order, have the same bits for any number of threads. Parts begin at
 * multiples of eight. Returns how many there are. */
enum {
  FX_PARTS = 8,
  FX_LEAST_CONTACTS = 512 /* as `least`: contacts that are worth a part of their own */
};
typedef void fx_range_work(int32_t part, int32_t first, int32_t end, void *user);
int32_t fx_parallel_range(fx_threads threads, int32_t count, int32_t least, fx_range_work *run, void *user);

/* For the context, which owns them. */
fx_crew *fx_crew_create(frix_context *context);
void fx_crew_destroy(frix_context *context, fx_crew *crew);

/* Seconds on a monotonic clock. */
double fx_seconds(void);

#endif
