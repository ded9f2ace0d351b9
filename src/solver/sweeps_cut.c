/* Segments of a pile: a balanced cut of the bodies in their order, and one of the bodies that the first cut parted. */
#include "solver/sweeps_cut.h"

#include <string.h>

enum { ACROSS = 2, REST = 4 };

static int32_t low_of(const int32_t *pair) {
  if (!pair[0] || !pair[1]) return pair[0] + pair[1];
  return pair[0] < pair[1] ? pair[0] : pair[1];
}

static int32_t high_of(const int32_t *pair) { return pair[0] > pair[1] ? pair[0] : pair[1]; }

/* The number at which as many contacts lie below as from there on; below and above: workspace, zero. */
static int32_t balance(int32_t count, const int32_t *pairs, const uint8_t *segment, int32_t bodies, int32_t *below,
                       int32_t *above) {
  int32_t total = 0, before = 0, started = 0, best = 1, least = INT32_MAX;
  for (int32_t k = 0; k < count; k++) {
    if (segment[k] != ACROSS) continue;
    below[high_of(pairs + 2 * k)]++; /* wholly below every cut beyond its higher body */
    above[low_of(pairs + 2 * k)]++;
    total++;
  }
  for (int32_t cut = 1; cut < bodies; cut++) {
    before += below[cut - 1];
    started += above[cut - 1];
    int32_t apart = before > total - started ? before - (total - started) : total - started - before;
    if (apart >= least) continue;
    least = apart;
    best = cut;
  }
  return best;
}

/* Contacts across so far go to `first` where below the cut, to the next segment where above. */
static void part(int32_t count, const int32_t *pairs, uint8_t *segment, int32_t cut, uint8_t first, uint8_t rest) {
  for (int32_t k = 0; k < count; k++) {
    if (segment[k] != ACROSS) continue;
    bool low = high_of(pairs + 2 * k) < cut, high = low_of(pairs + 2 * k) >= cut;
    segment[k] = low ? first : high ? first + 1 : rest;
  }
}

/* The contacts across as a graph: start and list of those of each body. */
typedef struct graph {
  int32_t *start, *list;
} graph;

static frix_status list_across(fx_arena *arena, int32_t count, const int32_t *pairs, const uint8_t *segment,
                               int32_t bodies, graph *g) {
  g->start = FX_TAKE(arena, int32_t, (size_t)bodies + 2);
  g->list = FX_TAKE_RAW(arena, int32_t, 2 * (size_t)count);
  if (!g->start || !g->list) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++)
    for (int side = 0; side < 2 && segment[k] == ACROSS; side++) g->start[pairs[2 * k + side] + 2]++;
  for (int32_t b = 0; b < bodies; b++) g->start[b + 2] += g->start[b + 1];
  for (int32_t k = 0; k < count; k++)
    for (int side = 0; side < 2 && segment[k] == ACROSS; side++) g->list[g->start[pairs[2 * k + side] + 1]++] = k;
  return FRIX_OK;
}

/* Numbers the bodies of contacts across breadth first, from 1. */
static void walk_across(const graph *g, const int32_t *pairs, int32_t bodies, int32_t *number, int32_t *queue) {
  int32_t count = 0, head = 0;
  for (int32_t seed = 1; seed < bodies; seed++) {
    if (number[seed] || g->start[seed] == g->start[seed + 1]) continue;
    queue[count++] = seed;
    number[seed] = count;
    for (; head < count; head++)
      for (int32_t e = g->start[queue[head]]; e < g->start[queue[head] + 1]; e++)
        for (int side = 0; side < 2; side++) {
          int32_t other = pairs[2 * g->list[e] + side];
          if (number[other]) continue;
          queue[count++] = other;
          number[other] = count;
        }
  }
}

frix_status fx_pile_cut(fx_arena *arena, int32_t n, const int32_t *pairs, int32_t bodies, uint8_t *segment,
                        int32_t *cut) {
  size_t room = (size_t)bodies + 1;
  int32_t *work = FX_TAKE(arena, int32_t, 4 * room), *number = FX_TAKE(arena, int32_t, 2 * room);
  int32_t *renamed = FX_TAKE_RAW(arena, int32_t, 2 * (size_t)n);
  graph g;
  if (!work || !number || !renamed) return FRIX_ERROR_MEMORY;
  memset(segment, ACROSS, (size_t)n);
  *cut = balance(n, pairs, segment, bodies, work, work + room);
  part(n, pairs, segment, *cut, 0, ACROSS);
  frix_status status = list_across(arena, n, pairs, segment, bodies, &g);
  if (status != FRIX_OK) return status;
  walk_across(&g, pairs, bodies, number, number + room);
  for (int32_t k = 0; k < 2 * n; k++) renamed[k] = number[pairs[k]];
  part(n, renamed, segment, balance(n, renamed, segment, bodies + 1, work + 2 * room, work + 3 * room), ACROSS, REST);
  return FRIX_OK;
}
