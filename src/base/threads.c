/* Threads: one shared counter hands out tasks. */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { MAX_THREADS = 64 };

typedef struct crew {
  atomic_int next;
  int32_t task_count;
  void (*run)(int32_t task, void *user);
  void *user;
} crew;

static void *work(void *argument) {
  crew *c = argument;
  for (;;) {
    int32_t task = atomic_fetch_add(&c->next, 1);
    if (task >= c->task_count) return NULL;
    c->run(task, c->user);
  }
}

void fx_parallel(int32_t thread_count, int32_t task_count, void (*run)(int32_t task, void *user), void *user) {
  crew c = {.task_count = task_count, .run = run, .user = user};
  atomic_init(&c.next, 0);
  pthread_t thread[MAX_THREADS];
  int32_t wanted = thread_count < task_count ? thread_count : task_count;
  if (wanted > MAX_THREADS) wanted = MAX_THREADS;
  int32_t started = 0;
  while (started < wanted - 1 && pthread_create(&thread[started], NULL, work, &c) == 0) started++;
  work(&c); /* the caller is one of the crew */
  for (int32_t k = 0; k < started; k++) pthread_join(thread[k], NULL);
}

double fx_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
