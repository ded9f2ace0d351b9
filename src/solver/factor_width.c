/* The width of a contact graph. Bodies are numbered breadth first from an end of the graph; those of one level part the
 * ones before it from the ones behind. A nested dissection eliminates such a set S last, as a dense block:
 *
 *   cost >= (dofs of S)^3,   S = smallest level with a quarter of the bodies before it and a quarter behind
 *
 * A better cut may exist; half the width is assumed, an eighth of the cost. Finding the levels takes as long as a few
 * sweeps, an ordering of thousands of bodies as long as thousands. */
#include "solver/factor_width.h"

#include <string.h>

typedef struct graph {
  const fx_system *s;
  const uint8_t *among;
  int32_t *first, *list; /* contacts of each body */
  int32_t *queue, *seen; /* bodies in their order, and the walk that saw each last */
  int32_t walk;
} graph;

/* Appends the neighbours of a body that this walk has not seen. */
static int32_t visit(graph *g, int32_t body, int32_t end) {
  const fx_block_matrix *H = &g->s->Ht;
  for (int32_t e = g->first[body]; e < g->first[body + 1]; e++) {
    int32_t i = g->list[e];
    if (g->among && !g->among[i]) continue;
    for (int32_t k = H->start[i]; k < H->start[i + 1]; k++) {
      if (g->seen[H->index[k]] == g->walk) continue;
      g->seen[H->index[k]] = g->walk;
      g->queue[end++] = H->index[k];
    }
  }
  return end;
}

static int32_t begin_walk(graph *g, int32_t seed) {
  g->seen[seed] = ++g->walk;
  g->queue[0] = seed;
  return 1;
}

/* All bodies of the island of `seed`; how many. The last of them is an end of the graph. */
static int32_t reach(graph *g, int32_t seed) {
  int32_t end = begin_walk(g, seed);
  for (int32_t at = 0; at < end; at++) end = visit(g, g->queue[at], end);
  return end;
}

/* Degrees of freedom of the smallest level in the middle half of the bodies. */
static double width(graph *g, int32_t seed, int32_t bodies) {
  double best = 0;
  for (int32_t at = 0, end = begin_walk(g, seed); at < end;) {
    int32_t level = end, before = at;
    double size = 0;
    for (; at < level; at++) {
      int32_t body = g->queue[at];
      size += g->s->dof[body + 1] - g->s->dof[body];
      end = visit(g, body, end);
    }
    bool middle = 4 * before >= bodies && 4 * (bodies - level) >= bodies;
    if (middle && (best == 0 || size < best)) best = size;
  }
  return best;
}

double fx_factor_cost_guess(fx_arena *arena, const fx_system *s, const uint8_t *among) {
  graph g = {.s = s, .among = among};
  if (fx_block_columns(arena, &s->Ht, &g.first, &g.list) != FRIX_OK) return 0;
  g.queue = FX_TAKE_RAW(arena, int32_t, s->mover_count);
  g.seen = FX_TAKE(arena, int32_t, s->mover_count);
  if (!g.queue || !g.seen) return 0;
  int32_t most = 0, seed = 0;
  for (int32_t body = 0; body < s->mover_count; body++) {
    if (g.seen[body]) continue;
    int32_t count = reach(&g, body);
    if (count > most) most = count, seed = g.queue[count - 1];
  }
  double half = most ? 0.5 * width(&g, seed, most) : 0;
  return half * half * half;
}
