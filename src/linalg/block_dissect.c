/* Nested dissection: a small set of nodes separates the graph into two parts, each of which is separated recursively;
 * the separators are eliminated last. The fill of a pile then grows like n^(4/3) instead of n^1.5 or more.
 *
 * Separators are found on a coarse graph (repeated matching of nodes along heavy edges) and improved on every level of
 * the refinement by moving nodes out of the separator, best first, keeping the best state of a pass. References: G.
 * Karypis, V. Kumar, A fast and high quality multilevel scheme, 1998; C. Ashcraft, J. Liu, Applications of the
 * Dulmage-Mendelsohn decomposition and network flow to graph bisection improvement, 1998. */
#include "linalg/block_order.h"

#include <string.h>

enum {
  LEAF = 120,      /* nodes that are left to minimum degree */
  COARSEST = 60,   /* nodes of the coarsest graph, about */
  TRIES = 6,       /* first separators on it */
  MIDDLING = 1000, /* nodes up to which several coarsenings */
  COARSENINGS = 4, /* are tried; beyond, three */
  LARGE_COARSENINGS = 3,
  GROWN = 1, /* separators grown on the whole graph */
  PASSES = 8,
  DEPTH = 40,
  SEPARATOR = 2
};

typedef struct part {
  int32_t n, *start, *near, *link; /* link: weight of each edge */
  int32_t *weight, *label;         /* of each node; its number in the whole graph */
  int64_t total;
} part;

static frix_status take_part(fx_arena *arena, int32_t n, size_t edges, part *out) {
  *out = (part){.n = n};
  out->start = FX_TAKE_RAW(arena, int32_t, (size_t)n + 1);
  out->weight = FX_TAKE_RAW(arena, int32_t, n);
  out->label = FX_TAKE_RAW(arena, int32_t, n);
  out->near = FX_TAKE_RAW(arena, int32_t, edges);
  out->link = FX_TAKE_RAW(arena, int32_t, edges);
  if (!out->start || !out->weight || !out->label || !out->near || !out->link) return FRIX_ERROR_MEMORY;
  out->start[0] = 0;
  return FRIX_OK;
}

/* A fixed scramble of the numbers, so that matchings do not follow the numbering. */
static uint32_t scramble(uint32_t k) {
  k *= 0x9e3779b1u;
  k ^= k >> 15;
  k *= 0x85ebca77u;
  return k ^ (k >> 13);
}

/* 0 .. n - 1 in scrambled order, another for every salt. */
static void scrambled(int32_t n, uint32_t salt, int32_t *order) {
  for (int32_t k = 0; k < n; k++) order[k] = k;
  for (int32_t k = n - 1; k > 0; k--) {
    int32_t other = (int32_t)(scramble((uint32_t)k + 0x3c6ef372u * salt) % (uint32_t)(k + 1)), value = order[k];
    order[k] = order[other];
    order[other] = value;
  }
}

/* ---- coarser graphs ---- */

static int32_t degree(const part *g, int32_t i) { return g->start[i + 1] - g->start[i]; }

/* Pairs along the heaviest edge, nodes with few neighbours first among equals; map gives each node its coarse number.
 */
static int32_t match(const part *g, const int32_t *order, int32_t *map) {
  int32_t count = 0;
  int64_t heaviest = g->total / COARSEST + 1;
  for (int32_t i = 0; i < g->n; i++) map[i] = -1;
  for (int32_t k = 0; k < g->n; k++) {
    int32_t i = order[k], best = -1, best_link = 0;
    if (map[i] >= 0) continue;
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) {
      int32_t j = g->near[e];
      if (map[j] >= 0 || g->weight[i] + (int64_t)g->weight[j] > heaviest) continue;
      if (g->link[e] > best_link || (g->link[e] == best_link && degree(g, j) < degree(g, best))) {
        best = j;
        best_link = g->link[e];
      }
    }
    map[i] = count;
    if (best >= 0) map[best] = count;
    count++;
  }
  return count;
}

static frix_status coarsen(fx_arena *arena, const part *g, const int32_t *map, int32_t count, part *out) {
  if (take_part(arena, count, (size_t)g->start[g->n], out) != FRIX_OK) return FRIX_ERROR_MEMORY;
  int32_t *one = FX_TAKE_RAW(arena, int32_t, count), *two = FX_TAKE_RAW(arena, int32_t, count);
  int32_t *place = FX_TAKE_RAW(arena, int32_t, count);
  if (!one || !two || !place) return FRIX_ERROR_MEMORY;
  for (int32_t c = 0; c < count; c++) one[c] = two[c] = place[c] = -1;
  for (int32_t i = 0; i < g->n; i++) {
    if (one[map[i]] < 0)
      one[map[i]] = i;
    else
      two[map[i]] = i;
  }
  int32_t at = 0;
  out->total = g->total;
  for (int32_t c = 0; c < count; c++) {
    int32_t begin = at;
    out->weight[c] = g->weight[one[c]] + (two[c] < 0 ? 0 : g->weight[two[c]]);
    for (int side = 0; side < 2; side++) {
      int32_t i = side ? two[c] : one[c];
      if (i < 0) continue;
      for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) {
        int32_t j = map[g->near[e]];
        if (j == c) continue;
        if (place[j] < begin) {
          place[j] = at;
          out->near[at] = j;
          out->link[at++] = 0;
        }
        out->link[place[j]] += g->link[e];
      }
    }
    out->start[c + 1] = at;
  }
  return FRIX_OK;
}

/* ---- separators ---- */

typedef struct move {
  int64_t gain;
  int32_t node, side;
} move;

typedef struct cut {
  const part *g;
  int8_t *side; /* 0, 1, SEPARATOR */
  int64_t weight[3];
  bool *locked;
  int64_t *gain[2]; /* of moving a separator's node to either side */
  /* Moves waiting, best first, with some that are out of date; moves done in this pass. */
  move *heap;
  int32_t heap_count, heap_capacity;
  int32_t *changed, changed_count;
  int8_t *before;
} cut;

static bool better(const move *a, const move *b) {
  if (a->gain != b->gain) return a->gain > b->gain;
  return a->node != b->node ? a->node < b->node : a->side < b->side;
}

static void push(cut *c, int32_t node, int32_t side) {
  if (c->heap_count == c->heap_capacity) return; /* it will be met in the next pass */
  int32_t at = c->heap_count++;
  move fresh = {c->gain[side][node], node, side};
  for (; at > 0 && better(&fresh, &c->heap[(at - 1) / 2]); at = (at - 1) / 2) c->heap[at] = c->heap[(at - 1) / 2];
  c->heap[at] = fresh;
}

static move pop(cut *c) {
  move top = c->heap[0], last = c->heap[--c->heap_count];
  int32_t at = 0;
  for (;;) {
    int32_t child = 2 * at + 1;
    if (child >= c->heap_count) break;
    if (child + 1 < c->heap_count && better(&c->heap[child + 1], &c->heap[child])) child++;
    if (!better(&c->heap[child], &last)) break;
    c->heap[at] = c->heap[child];
    at = child;
  }
  c->heap[at] = last;
  return top;
}

/* What the separator loses when the node leaves it for a side: its weight, less that of what it drags in. */
static void find_gains(cut *c, int32_t node) {
  const part *g = c->g;
  c->gain[0][node] = c->gain[1][node] = g->weight[node];
  for (int32_t e = g->start[node]; e < g->start[node + 1]; e++) {
    int32_t side = c->side[g->near[e]];
    if (side != SEPARATOR) c->gain[1 - side][node] -= g->weight[g->near[e]];
  }
}

static void set_side(cut *c, int32_t node, int32_t side) {
  c->weight[c->side[node]] -= c->g->weight[node];
  c->weight[side] += c->g->weight[node];
  c->before[c->changed_count] = c->side[node];
  c->changed[c->changed_count++] = node;
  c->side[node] = (int8_t)side;
}

/* Moves a node out of the separator; its neighbours across come in. */
static void apply(cut *c, int32_t node, int32_t side) {
  const part *g = c->g;
  set_side(c, node, side);
  c->locked[node] = true;
  for (int32_t e = g->start[node]; e < g->start[node + 1]; e++) {
    int32_t j = g->near[e];
    if (c->side[j] == SEPARATOR) {
      c->gain[1 - side][j] -= g->weight[node];
      if (!c->locked[j]) push(c, j, 1 - side);
    } else if (c->side[j] == 1 - side) {
      set_side(c, j, SEPARATOR);
      find_gains(c, j);
      for (int32_t f = g->start[j]; f < g->start[j + 1]; f++) {
        int32_t x = g->near[f];
        if (c->side[x] != SEPARATOR || x == node) continue;
        c->gain[side][x] += g->weight[j];
        if (!c->locked[x]) push(c, x, side);
      }
      if (c->locked[j]) continue;
      push(c, j, 0);
      push(c, j, 1);
    }
  }
}

static int64_t larger_side(const cut *c) { return c->weight[0] > c->weight[1] ? c->weight[0] : c->weight[1]; }

/* A separator's worth: its weight, more where the sides are uneven. */
static double worth(const cut *c, int64_t limit) {
  double side = (double)larger_side(c), over = side > (double)limit ? side - (double)limit : 0;
  return (double)c->weight[SEPARATOR] * (1 + (side / (double)(c->g->total + 1) - 0.5)) + 4 * over;
}

/* One pass; true when it found something better. */
static bool improve_once(cut *c, int64_t limit) {
  const part *g = c->g;
  memset(c->locked, 0, (size_t)g->n * sizeof *c->locked);
  c->heap_count = c->changed_count = 0;
  for (int32_t i = 0; i < g->n; i++) {
    if (c->side[i] != SEPARATOR) continue;
    find_gains(c, i);
    push(c, i, 0);
    push(c, i, 1);
  }
  double start = worth(c, limit), best = start;
  int32_t best_count = 0, since = 0;
  while (c->heap_count > 0 && since < 60 + g->n / 20) {
    move m = pop(c);
    if (c->locked[m.node] || c->side[m.node] != SEPARATOR || c->gain[m.side][m.node] != m.gain) continue;
    int64_t after = c->weight[m.side] + g->weight[m.node];
    if (after > limit && c->weight[m.side] >= c->weight[1 - m.side]) continue;
    if (c->changed_count + g->start[m.node + 1] - g->start[m.node] + 1 > 4 * g->n) break;
    apply(c, m.node, m.side);
    since++;
    if (worth(c, limit) >= best) continue;
    best = worth(c, limit);
    best_count = c->changed_count;
    since = 0;
  }
  /* Back to the best state. */
  while (c->changed_count > best_count) {
    int32_t node = c->changed[--c->changed_count];
    c->weight[c->side[node]] -= g->weight[node];
    c->side[node] = c->before[c->changed_count];
    c->weight[c->side[node]] += g->weight[node];
  }
  return best < start;
}

static double improve(cut *c) {
  int64_t limit = c->g->total * 3 / 5;
  for (int pass = 0; pass < PASSES && improve_once(c, limit); pass++) continue;
  return worth(c, limit);
}

static frix_status take_cut(fx_arena *arena, const part *g, cut *out) {
  size_t n = (size_t)g->n;
  *out = (cut){.g = g, .heap_capacity = 8 * (g->n + 16)};
  out->side = FX_TAKE_RAW(arena, int8_t, n);
  out->locked = FX_TAKE_RAW(arena, bool, n);
  out->gain[0] = FX_TAKE_RAW(arena, int64_t, n);
  out->gain[1] = FX_TAKE_RAW(arena, int64_t, n);
  out->heap = FX_TAKE_RAW(arena, move, out->heap_capacity);
  out->changed = FX_TAKE_RAW(arena, int32_t, 4 * n);
  out->before = FX_TAKE_RAW(arena, int8_t, 4 * n);
  return out->side && out->locked && out->gain[0] && out->gain[1] && out->heap && out->changed && out->before
             ? FRIX_OK
             : FRIX_ERROR_MEMORY;
}

static void weigh(cut *c) {
  memset(c->weight, 0, sizeof c->weight);
  for (int32_t i = 0; i < c->g->n; i++) c->weight[c->side[i]] += c->g->weight[i];
}

/* Grows side 0 from a seed until it weighs half; its edge becomes the separator. */
static void grow(cut *c, int32_t seed, int32_t *queue) {
  const part *g = c->g;
  int32_t head = 0, tail = 0, other = 0;
  int64_t grown = 0;
  memset(c->side, 1, (size_t)g->n);
  memset(c->locked, 0, (size_t)g->n * sizeof *c->locked);
  queue[tail++] = seed;
  c->locked[seed] = true;
  while (2 * grown < g->total) {
    if (head == tail) { /* another component */
      while (other < g->n && c->locked[other]) other++;
      if (other == g->n) break;
      c->locked[other] = true;
      queue[tail++] = other;
    }
    int32_t i = queue[head++];
    c->side[i] = 0;
    grown += g->weight[i];
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
      if (!c->locked[g->near[e]]) {
        c->locked[g->near[e]] = true;
        queue[tail++] = g->near[e];
      }
  }
  for (int32_t k = 0; k < head; k++)
    for (int32_t i = queue[k], e = g->start[i]; e < g->start[i + 1] && c->side[i] == 0; e++)
      if (c->side[g->near[e]] == 1) c->side[i] = SEPARATOR;
  weigh(c);
}

/* The last node that a walk over the graph meets: far from where it began. */
static int32_t far_from(cut *c, int32_t seed, int32_t *queue) {
  const part *g = c->g;
  int32_t tail = 0;
  memset(c->locked, 0, (size_t)g->n * sizeof *c->locked);
  queue[tail++] = seed;
  c->locked[seed] = true;
  for (int32_t head = 0; head < tail; head++)
    for (int32_t e = g->start[queue[head]]; e < g->start[queue[head] + 1]; e++)
      if (!c->locked[g->near[e]]) {
        c->locked[g->near[e]] = true;
        queue[tail++] = g->near[e];
      }
  return queue[tail - 1];
}

/* The best of some separators without coarsening: on the coarsest graph, and on the whole one, where it finds the
 * slanted planes of lattices that matching hides. */
static frix_status first_cut(fx_arena *arena, const part *g, int32_t tries, uint32_t salt, int8_t *side,
                             double *worth_found) {
  cut c;
  int32_t *queue = FX_TAKE_RAW(arena, int32_t, g->n);
  if (!queue || take_cut(arena, g, &c) != FRIX_OK) return FRIX_ERROR_MEMORY;
  double best = -1;
  for (int32_t k = 0; k < tries; k++) {
    int32_t seed = (int32_t)(scramble((uint32_t)k + 0x3c6ef372u * salt) % (uint32_t)g->n);
    grow(&c, k % 2 ? seed : far_from(&c, far_from(&c, seed, queue), queue), queue);
    double found = improve(&c);
    if (best >= 0 && found >= best) continue;
    best = found;
    memcpy(side, c.side, (size_t)g->n);
  }
  *worth_found = best;
  return FRIX_OK;
}

static frix_status separate(fx_arena *arena, const part *g, uint32_t salt, bool tried, int8_t *side, double *found);

/* A separator of g by way of a coarser graph. */
static frix_status separate_once(fx_arena *arena, const part *g, uint32_t salt, bool tried, int8_t *side,
                                 double *found) {
  int32_t *order = FX_TAKE_RAW(arena, int32_t, g->n), *map = FX_TAKE_RAW(arena, int32_t, g->n);
  if (!order || !map) return FRIX_ERROR_MEMORY;
  scrambled(g->n, salt, order);
  int32_t count = match(g, order, map);
  if (count > g->n - g->n / 20) return first_cut(arena, g, TRIES, salt, side, found);
  part coarse;
  int8_t *coarse_side = FX_TAKE_RAW(arena, int8_t, count);
  if (!coarse_side || coarsen(arena, g, map, count, &coarse) != FRIX_OK) return FRIX_ERROR_MEMORY;
  frix_status status = separate(arena, &coarse, salt, tried, coarse_side, found);
  cut c;
  if (status != FRIX_OK || (status = take_cut(arena, g, &c)) != FRIX_OK) return status;
  for (int32_t i = 0; i < g->n; i++) c.side[i] = coarse_side[map[i]];
  weigh(&c);
  *found = improve(&c);
  memcpy(side, c.side, (size_t)g->n);
  return FRIX_OK;
}

/* A separator of g, side of every node and its worth: the best of several coarsenings where the graph is of middling
 * size, and of a few where it is large. tried: a finer graph has been through this already. */
static frix_status separate(fx_arena *arena, const part *g, uint32_t salt, bool tried, int8_t *side, double *found) {
  if (g->n <= COARSEST) return first_cut(arena, g, TRIES, salt, side, found);
  bool middling = g->n <= MIDDLING;
  uint32_t tries = middling ? (tried ? 1 : COARSENINGS) : salt == 0 ? LARGE_COARSENINGS : 1;
  int8_t *other = FX_TAKE_RAW(arena, int8_t, g->n);
  if (!other) return FRIX_ERROR_MEMORY;
  for (uint32_t k = 0; k < tries; k++) {
    double worth_k;
    frix_status status = separate_once(arena, g, 4 * salt + k + 1, tried || middling, other, &worth_k);
    if (status != FRIX_OK) return status;
    if (k > 0 && worth_k >= *found) continue;
    *found = worth_k;
    memcpy(side, other, (size_t)g->n);
  }
  if (salt > 0) return FRIX_OK;
  double worth_grown;
  frix_status status = first_cut(arena, g, GROWN, 0, other, &worth_grown);
  if (status == FRIX_OK && worth_grown < *found) memcpy(side, other, (size_t)g->n);
  return status;
}

/* ---- recursion ---- */

/* The nodes on one side as a graph of their own; edges into the separator fall away. */
static frix_status extract(fx_arena *arena, const part *g, const int8_t *side, int8_t wanted, part *out) {
  int32_t count = 0, *fresh = FX_TAKE_RAW(arena, int32_t, g->n);
  size_t edges = 0;
  if (!fresh) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < g->n; i++)
    if (side[i] == wanted) {
      fresh[i] = count++;
      edges += (size_t)(g->start[i + 1] - g->start[i]);
    }
  if (take_part(arena, count, edges, out) != FRIX_OK) return FRIX_ERROR_MEMORY;
  int32_t at = 0;
  for (int32_t i = 0; i < g->n; i++) {
    if (side[i] != wanted) continue;
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
      if (side[g->near[e]] == wanted) {
        out->near[at] = fresh[g->near[e]];
        out->link[at++] = g->link[e];
      }
    out->start[fresh[i] + 1] = at;
    out->weight[fresh[i]] = g->weight[i];
    out->label[fresh[i]] = g->label[i];
    out->total += g->weight[i];
  }
  return FRIX_OK;
}

static frix_status dissect(frix_context *context, const part *g, int32_t *stage, int32_t *stages, int depth) {
  if (g->n <= LEAF || depth == DEPTH) return FRIX_OK;
  fx_arena arena;
  fx_arena_init(&arena, context);
  int8_t *side = FX_TAKE_RAW(&arena, int8_t, g->n);
  double found;
  frix_status status = side ? separate(&arena, g, 0, false, side, &found) : FRIX_ERROR_MEMORY;
  int32_t count[3] = {0};
  for (int32_t i = 0; status == FRIX_OK && i < g->n; i++) count[side[i]]++;
  bool useful = count[0] > 0 && count[1] > 0 && count[SEPARATOR] < g->n / 2;
  for (int8_t s = 0; status == FRIX_OK && useful && s < 2; s++) {
    part half;
    status = extract(&arena, g, side, s, &half);
    if (status == FRIX_OK) status = dissect(context, &half, stage, stages, depth + 1);
  }
  if (status == FRIX_OK && useful && count[SEPARATOR] > 0) {
    ++*stages;
    for (int32_t i = 0; i < g->n; i++)
      if (side[i] == SEPARATOR) stage[g->label[i]] = *stages;
  }
  fx_arena_free(&arena);
  return status;
}

frix_status fx_order_dissect(fx_arena *arena, const fx_graph *graph, int32_t *stage) {
  part whole;
  int32_t n = graph->count, stages = 0;
  if (take_part(arena, n, (size_t)graph->start[n], &whole) != FRIX_OK) return FRIX_ERROR_MEMORY;
  memcpy(whole.start, graph->start, ((size_t)n + 1) * sizeof *whole.start);
  memcpy(whole.near, graph->near, (size_t)graph->start[n] * sizeof *whole.near);
  for (int32_t e = 0; e < graph->start[n]; e++) whole.link[e] = 1;
  for (int32_t i = 0; i < n; i++) {
    whole.weight[i] = graph->weight && graph->weight[i] > 0 ? graph->weight[i] : 1;
    whole.label[i] = i;
    whole.total += whole.weight[i];
    stage[i] = 0;
  }
  return dissect(arena->context, &whole, stage, &stages, 0);
}
