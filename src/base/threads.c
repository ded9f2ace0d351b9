/* Threads: a pool that waits in the context; tasks are taken from both ends.
 *
 * The caller takes tasks from the first on, its helpers from the last on: with two threads each meets the same part of
 * the data loop after loop, and finds it in its own cache. All that a loop needs stands in one cache line, which
 * travels once to a helper and back.
 *
 * A job is offered in one atomic word: how many threads may still join it, and how many have joined and are not done.
 * Threads look at the word for a short while after a job, since loops of a step follow each other within microseconds,
 * and sleep after that. The thread that changes the word looks for sleepers afterwards, and a sleeper looks at the word
 * after it has said that it sleeps, so that none is missed. */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { MAX_THREADS = 64 };
enum { LOOKS = 1000, PATIENCE = 20 }; /* looks before others are let run, about 40 us; how often before sleeping */
enum { OPEN = 1 << 16 };              /* one that may join; the low half counts those that have */

struct fx_crew {
  /* the job */
  _Alignas(64) atomic_int offer;
  int32_t task_count;
  _Atomic uint64_t taken; /* tasks from the first on, and above bit 32 from the last on */
  void (*run)(int32_t task, void *user);
  void *user;
  atomic_int sleepers; /* threads that sleep */
  atomic_bool waits;   /* the caller sleeps */
  atomic_bool busy, stop;
  _Alignas(64) pthread_mutex_t lock;
  pthread_cond_t wake, done;
  pthread_t thread[MAX_THREADS];
  int32_t count; /* threads that exist */
};

/* True as long as it is worth looking again. */
static bool pause_briefly(int32_t *looks) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
  if (++*looks % LOOKS == 0) sched_yield();
  return *looks < LOOKS * PATIENCE;
}

/* The next task from the first or, for helpers, from the last on; -1: all are taken. */
static int32_t take(fx_crew *c, bool helps) {
  uint64_t taken = atomic_fetch_add(&c->taken, helps ? (uint64_t)1 << 32 : 1), first = (uint32_t)taken;
  uint64_t last = taken >> 32;
  if (first + last >= (uint64_t)c->task_count) return -1;
  return helps ? c->task_count - 1 - (int32_t)last : (int32_t)first;
}

static void work(fx_crew *c, bool helps) {
  for (int32_t task; (task = take(c, helps)) >= 0;) c->run(task, c->user);
}

static bool join(fx_crew *c) {
  int offer = atomic_load(&c->offer);
  while (offer >= OPEN)
    if (atomic_compare_exchange_weak(&c->offer, &offer, offer - OPEN + 1)) return true;
  return false;
}

static void leave(fx_crew *c) {
  if (atomic_fetch_sub(&c->offer, 1) % OPEN != 1 || !atomic_load(&c->waits)) return;
  pthread_mutex_lock(&c->lock);
  pthread_cond_signal(&c->done);
  pthread_mutex_unlock(&c->lock);
}

static void sleep_until_offer(fx_crew *c) {
  pthread_mutex_lock(&c->lock);
  atomic_fetch_add(&c->sleepers, 1);
  while (!atomic_load(&c->stop) && atomic_load(&c->offer) < OPEN) pthread_cond_wait(&c->wake, &c->lock);
  atomic_fetch_sub(&c->sleepers, 1);
  pthread_mutex_unlock(&c->lock);
}

static void *serve(void *argument) {
  fx_crew *c = argument;
  for (int32_t looks = 0; !atomic_load(&c->stop);) {
    if (join(c)) {
      work(c, true);
      leave(c);
      looks = 0;
    } else if (!pause_briefly(&looks)) {
      sleep_until_offer(c);
      looks = 0;
    }
  }
  return NULL;
}

fx_crew *fx_crew_create(frix_context *context) {
  fx_crew *c = FX_NEW(context, fx_crew, 1);
  if (!c) return NULL;
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->wake, NULL);
  pthread_cond_init(&c->done, NULL);
  return c;
}

static void wake_all(fx_crew *c) {
  if (atomic_load(&c->sleepers) == 0) return;
  pthread_mutex_lock(&c->lock);
  pthread_cond_broadcast(&c->wake);
  pthread_mutex_unlock(&c->lock);
}

void fx_crew_destroy(frix_context *context, fx_crew *c) {
  if (!c) return;
  atomic_store(&c->stop, true);
  wake_all(c);
  for (int32_t k = 0; k < c->count; k++) pthread_join(c->thread[k], NULL);
  pthread_cond_destroy(&c->done);
  pthread_cond_destroy(&c->wake);
  pthread_mutex_destroy(&c->lock);
  fx_free(context, c);
}

/* Takes the crew for a job with so many helpers, starting those that are missing; false where it is at work already. */
static bool engage(fx_crew *c, int32_t helpers, int32_t task_count, void (*run)(int32_t, void *), void *user) {
  if (atomic_exchange(&c->busy, true)) return false;
  c->task_count = task_count, c->run = run, c->user = user;
  atomic_store(&c->taken, 0);
  while (c->count < helpers && pthread_create(&c->thread[c->count], NULL, serve, c) == 0) c->count++;
  atomic_store(&c->offer, (helpers < c->count ? helpers : c->count) * OPEN);
  wake_all(c);
  return true;
}

static void wait_for_helpers(fx_crew *c) {
  for (int32_t looks = 0; pause_briefly(&looks);)
    if (atomic_load(&c->offer) == 0) return;
  pthread_mutex_lock(&c->lock);
  atomic_store(&c->waits, true);
  while (atomic_load(&c->offer) != 0) pthread_cond_wait(&c->done, &c->lock);
  atomic_store(&c->waits, false);
  pthread_mutex_unlock(&c->lock);
}

/* Who has not come yet is too late: every task is taken. */
static void release(fx_crew *c) {
  int offer = atomic_load(&c->offer);
  while (!atomic_compare_exchange_weak(&c->offer, &offer, offer % OPEN)) continue;
  if (offer % OPEN) wait_for_helpers(c);
  atomic_store(&c->busy, false);
}

void fx_parallel(frix_context *context, int32_t thread_count, int32_t task_count, void (*run)(int32_t task, void *user),
                 void *user) {
  int32_t wanted = thread_count < task_count ? thread_count : task_count;
  if (wanted > MAX_THREADS) wanted = MAX_THREADS;
  fx_crew *c = wanted > 1 ? fx_context_crew(context) : NULL;
  if (c && engage(c, wanted - 1, task_count, run, user)) {
    work(c, false); /* the caller is one of the crew */
    release(c);
    return;
  }
  for (int32_t task = 0; task < task_count; task++) run(task, user);
}

typedef struct range {
  int32_t count, parts;
  fx_range_work *run;
  void *user;
} range;

static int32_t start_of(const range *r, int32_t part) {
  enum { ALIGN = 8 };
  if (part == r->parts) return r->count;
  return (int32_t)((int64_t)(r->count / ALIGN) * part / r->parts) * ALIGN;
}

static void run_range(int32_t part, void *user) {
  const range *r = user;
  r->run(part, start_of(r, part), start_of(r, part + 1), r->user);
}

int32_t fx_parallel_range(fx_threads threads, int32_t count, int32_t least, fx_range_work *run, void *user) {
  int32_t parts = count / least;
  range r = {count, parts < 1 ? 1 : parts < FX_PARTS ? parts : FX_PARTS, run, user};
  fx_parallel(threads.context, threads.count, r.parts, run_range, &r);
  return r.parts;
}

double fx_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
