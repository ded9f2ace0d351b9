/* Two threads in step. A piece of work has a number and two parts; `state` is twice its number, plus one when the
 * second part is taken, so that a helper that comes late cannot take a part of another piece. */
#include "solver/sweeps_team.h"

#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { LOOKS = 2000 }; /* before others are let run */

struct fx_team {
  pthread_t leader;
  void (*lead)(fx_team *team, void *user);
  void *user;
  atomic_bool ended;
  atomic_llong state;
  atomic_llong done; /* number of the last piece whose second part a helper has finished */
  void (*work)(int32_t part, void *user);
  void *work_user;
};

static void pause_briefly(int32_t *looks) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
  if (++*looks < LOOKS) return;
  *looks = 0;
  sched_yield();
}

static void help(fx_team *t) {
  long long seen = 1; /* the piece before the first, taken */
  for (int32_t looks = 0; !atomic_load_explicit(&t->ended, memory_order_acquire);) {
    long long now = atomic_load_explicit(&t->state, memory_order_acquire);
    if (now % 2 == 1 || now < seen || !atomic_compare_exchange_strong(&t->state, &now, now + 1)) {
      pause_briefly(&looks);
      continue;
    }
    seen = now + 1;
    looks = 0;
    t->work(1, t->work_user);
    atomic_store_explicit(&t->done, now / 2, memory_order_release);
  }
}

void fx_team_do(fx_team *t, void (*work)(int32_t part, void *user), void *user) {
  if (!t) {
    work(0, user);
    work(1, user);
    return;
  }
  long long piece = atomic_load_explicit(&t->state, memory_order_relaxed) / 2 + 1, open = 2 * piece;
  t->work = work;
  t->work_user = user;
  atomic_store_explicit(&t->state, open, memory_order_release);
  work(0, user);
  if (atomic_compare_exchange_strong(&t->state, &open, open + 1)) {
    work(1, user);
    return;
  }
  for (int32_t looks = 0; atomic_load_explicit(&t->done, memory_order_acquire) != piece;) pause_briefly(&looks);
}

/* One of two tasks; which thread takes which is open, and the caller leads. */
static void take_part(int32_t task, void *user) {
  (void)task;
  fx_team *t = user;
  if (!pthread_equal(pthread_self(), t->leader)) {
    help(t);
    return;
  }
  if (atomic_load_explicit(&t->ended, memory_order_relaxed)) return;
  t->lead(t, t->user);
  atomic_store_explicit(&t->ended, true, memory_order_release);
}

void fx_team_run(frix_context *context, int32_t thread_count, void (*lead)(fx_team *team, void *user), void *user) {
  if (thread_count < 2) {
    lead(NULL, user);
    return;
  }
  fx_team team = {.leader = pthread_self(), .lead = lead, .user = user};
  atomic_init(&team.state, 1);
  atomic_init(&team.done, 0);
  atomic_init(&team.ended, false);
  fx_parallel(context, 2, 2, take_part, &team);
}
