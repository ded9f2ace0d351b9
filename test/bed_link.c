/* Ranks in one process. Messages are copied between two barriers: while all wait, everybody's buffers stand still. */
#include "bed_link.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct meeting_room {
  pthread_mutex_t lock;
  pthread_cond_t all_there;
  int32_t count, waiting;
  uint64_t round;
  const void *const *out[FX_TEST_RANKS];
  const size_t *out_size[FX_TEST_RANKS];
  double *sum[FX_TEST_RANKS];
} meeting_room;

typedef struct seat {
  meeting_room *room;
  frix_bed_link link;
  void (*run)(const frix_bed_link *link, void *user);
  void *user;
} seat;

static void wait_for_all(meeting_room *room) {
  pthread_mutex_lock(&room->lock);
  uint64_t round = room->round;
  if (++room->waiting == room->count) {
    room->waiting = 0;
    room->round++;
    pthread_cond_broadcast(&room->all_there);
  }
  while (round == room->round) pthread_cond_wait(&room->all_there, &room->lock);
  pthread_mutex_unlock(&room->lock);
}

static bool exchange(void *user, const void *const *out, const size_t *out_size, void *const *in,
                     const size_t *in_size) {
  seat *s = user;
  meeting_room *room = s->room;
  bool good = true;
  room->out[s->link.rank] = out, room->out_size[s->link.rank] = out_size;
  wait_for_all(room);
  for (int32_t p = 0; p < room->count; p++) {
    good = good && room->out_size[p][s->link.rank] == in_size[p];
    if (good && in_size[p]) memcpy(in[p], room->out[p][s->link.rank], in_size[p]);
  }
  wait_for_all(room);
  return good;
}

static bool sum(void *user, double *x, size_t count) {
  seat *s = user;
  meeting_room *room = s->room;
  double *all = calloc(count + 1, sizeof *all);
  room->sum[s->link.rank] = x;
  wait_for_all(room);
  for (int32_t p = 0; all && p < room->count; p++)
    for (size_t k = 0; k < count; k++) all[k] += room->sum[p][k];
  wait_for_all(room);
  if (all) memcpy(x, all, count * sizeof *x);
  free(all);
  return all;
}

static void *sit(void *user) {
  seat *s = user;
  s->run(&s->link, s->user);
  return NULL;
}

bool fx_test_ranks(int32_t count, void (*run)(const frix_bed_link *link, void *user), void *user) {
  meeting_room room = {.count = count};
  seat at[FX_TEST_RANKS];
  pthread_t thread[FX_TEST_RANKS];
  pthread_mutex_init(&room.lock, NULL);
  pthread_cond_init(&room.all_there, NULL);
  for (int32_t k = 0; k < count; k++) {
    at[k] = (seat){&room, {.rank = k, .rank_count = count, .exchange = exchange, .sum = sum}, run, user};
    at[k].link.user = &at[k];
    if (pthread_create(&thread[k], NULL, sit, &at[k]) != 0) abort(); /* the others would wait for it */
  }
  for (int32_t k = 0; k < count; k++) pthread_join(thread[k], NULL);
  pthread_cond_destroy(&room.all_there);
  pthread_mutex_destroy(&room.lock);
  return true;
}
