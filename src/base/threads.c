/* Threads: a pool that waits in the context; one shared counter distributes the tasks. */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { MAX_THREADS = 64 };

struct fx_crew {
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  pthread_t thread[MAX_THREADS];
  int32_t count;   /* threads that exist */
  int32_t open;    /* how many may still join the job */
  int32_t working; /* how many have joined and are not done */
  bool busy, stop;
  /* the job */
  atomic_int next;
  int32_t task_count;
  void (*run)(int32_t task, void *user);
  void *user;
};

static void work(fx_crew *c) {
  for (int32_t task; (task = atomic_fetch_add(&c->next, 1)) < c->task_count;) c->run(task, c->user);
}

static void *serve(void *argument) {
  fx_crew *c = argument;
  pthread_mutex_lock(&c->lock);
  for (;;) {
    while (!c->stop && c->open == 0) pthread_cond_wait(&c->wake, &c->lock);
    if (c->stop) break;
    c->open--;
    c->working++;
    pthread_mutex_unlock(&c->lock);
    work(c);
    pthread_mutex_lock(&c->lock);
    if (--c->working == 0) pthread_cond_signal(&c->done);
  }
  pthread_mutex_unlock(&c->lock);
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

void fx_crew_destroy(frix_context *context, fx_crew *c) {
  if (!c) return;
  pthread_mutex_lock(&c->lock);
  c->stop = true;
  pthread_cond_broadcast(&c->wake);
  pthread_mutex_unlock(&c->lock);
  for (int32_t k = 0; k < c->count; k++) pthread_join(c->thread[k], NULL);
  pthread_cond_destroy(&c->done);
  pthread_cond_destroy(&c->wake);
  pthread_mutex_destroy(&c->lock);
  fx_free(context, c);
}

/* Takes the crew for a job with so many helpers, starting those that are missing; false where it is at work already. */
static bool engage(fx_crew *c, int32_t helpers, int32_t task_count, void (*run)(int32_t, void *), void *user) {
  pthread_mutex_lock(&c->lock);
  bool free = !c->busy;
  if (free) {
    c->busy = true;
    c->task_count = task_count, c->run = run, c->user = user;
    atomic_store(&c->next, 0);
    while (c->count < helpers && pthread_create(&c->thread[c->count], NULL, serve, c) == 0) c->count++;
    c->open = helpers < c->count ? helpers : c->count;
    pthread_cond_broadcast(&c->wake);
  }
  pthread_mutex_unlock(&c->lock);
  return free;
}

static void release(fx_crew *c) {
  pthread_mutex_lock(&c->lock);
  c->open = 0; /* who has not come yet is too late: every task is taken */
  while (c->working > 0) pthread_cond_wait(&c->done, &c->lock);
  c->busy = false;
  pthread_mutex_unlock(&c->lock);
}

void fx_parallel(frix_context *context, int32_t thread_count, int32_t task_count, void (*run)(int32_t task, void *user),
                 void *user) {
  int32_t wanted = thread_count < task_count ? thread_count : task_count;
  if (wanted > MAX_THREADS) wanted = MAX_THREADS;
  fx_crew *c = wanted > 1 ? fx_context_crew(context) : NULL;
  if (c && engage(c, wanted - 1, task_count, run, user)) {
    work(c); /* the caller is one of the crew */
    release(c);
    return;
  }
  for (int32_t task = 0; task < task_count; task++) run(task, user);
}

double fx_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
