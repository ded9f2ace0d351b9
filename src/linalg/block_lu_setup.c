/* Analysis of a block matrix for its factors: groups of nodes, their order, panels, memory. */
#include "base/sort.h"
#include "linalg/block_lu_parts.h"
#include "linalg/product.h"

#include <math.h>
#include <string.h>

/* ---- groups of nodes with the same neighbours ---- */

static bool same_list(const fx_graph *n, int32_t i, int32_t j) {
  int32_t size = n->start[i + 1] - n->start[i];
  return size == n->start[j + 1] - n->start[j] &&
         memcmp(n->near + n->start[i], n->near + n->start[j], (size_t)size * sizeof *n->near) == 0;
}

/* A node joins the group of its first neighbour with the same neighbourhood, while the group stays small enough. */
static frix_status find_groups(fx_arena *arena, const fx_block_matrix *a, const fx_graph *n, fx_block_lu *lu) {
  enum { LARGEST_GROUP = 24 }; /* rows: beyond it, blocks fall out of the nearest cache */
  int32_t count = a->row_blocks;
  int32_t *rows = FX_TAKE(arena, int32_t, count);
  lu->group_of = FX_TAKE(arena, int32_t, count);
  lu->member = FX_TAKE(arena, int32_t, count);
  lu->member_start = FX_TAKE(arena, int32_t, (size_t)count + 2);
  if (!rows || !lu->group_of || !lu->member || !lu->member_start) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < count; i++) {
    int32_t own = fx_block_rows(a, i), group = -1;
    for (int32_t k = n->start[i]; k < n->start[i + 1] && n->near[k] < i && group < 0; k++) {
      int32_t candidate = lu->group_of[n->near[k]];
      if (rows[candidate] + own <= LARGEST_GROUP && same_list(n, i, n->near[k])) group = candidate;
    }
    if (group < 0) group = lu->group_count++;
    lu->group_of[i] = group;
    rows[group] += own;
  }
  int32_t *next = lu->member_start + 1;
  for (int32_t i = 0; i < count; i++) next[lu->group_of[i] + 1]++;
  for (int32_t g = 0; g < lu->group_count; g++) next[g + 1] += next[g];
  for (int32_t i = 0; i < count; i++) lu->member[next[lu->group_of[i]]++] = i;
  return FRIX_OK;
}

/* The graph between groups: that of any member. */
static frix_status graph_of_groups(fx_arena *arena, const fx_block_matrix *a, const fx_graph *n, const fx_block_lu *lu,
                                   fx_graph *out) {
  int32_t *start = FX_TAKE(arena, int32_t, (size_t)lu->group_count + 1);
  int32_t *seen = FX_TAKE(arena, int32_t, lu->group_count), *weight = FX_TAKE(arena, int32_t, lu->group_count);
  int32_t *near = FX_TAKE_RAW(arena, int32_t, n->start[lu->node_count]);
  if (!start || !seen || !weight || !near) return FRIX_ERROR_MEMORY;
  for (int32_t g = 0; g < lu->group_count; g++) {
    int32_t node = lu->member[lu->member_start[g]], count = start[g];
    for (int32_t k = n->start[node]; k < n->start[node + 1]; k++) {
      int32_t other = lu->group_of[n->near[k]];
      if (seen[other] == g + 1 || other == g) continue;
      seen[other] = g + 1;
      near[count++] = other;
    }
    start[g + 1] = count;
    for (int32_t e = lu->member_start[g]; e < lu->member_start[g + 1]; e++)
      weight[g] += fx_block_rows(a, lu->member[e]);
  }
  *out = (fx_graph){.count = lu->group_count, .start = start, .near = near, .weight = weight};
  return FRIX_OK;
}

/* Blocks of every column of the pattern, so that a panel finds its part of A. */
static frix_status list_columns(fx_arena *arena, const fx_block_matrix *a, fx_block_lu *lu) {
  int32_t n = a->row_blocks, count = a->start[n];
  lu->above_start = FX_TAKE(arena, int32_t, (size_t)n + 2);
  lu->above = FX_TAKE_RAW(arena, int32_t, count);
  lu->above_row = FX_TAKE_RAW(arena, int32_t, count);
  if (!lu->above_start || !lu->above || !lu->above_row) return FRIX_ERROR_MEMORY;
  int32_t *next = lu->above_start + 1;
  for (int32_t k = 0; k < count; k++) next[a->index[k] + 1]++;
  for (int32_t j = 0; j < n; j++) next[j + 1] += next[j];
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
      int32_t at = next[a->index[k]]++;
      lu->above[at] = k;
      lu->above_row[at] = i;
    }
  return FRIX_OK;
}

/* ---- layout ---- */

void fx_block_lu_lay_out(fx_block_lu *lu) {
  const fx_symbolic *o = &lu->order;
  for (int32_t k = 0; k < o->count; k++) {
    int32_t g = o->node[k], rows = 0;
    for (int32_t e = lu->member_start[g]; e < lu->member_start[g + 1]; e++) {
      lu->place[lu->member[e]] = rows;
      rows += lu->row[lu->member[e] + 1] - lu->row[lu->member[e]];
    }
    lu->first[k + 1] = lu->first[k] + rows;
  }
  lu->cost = lu->fill = 0;
  for (int32_t p = 0; p < o->panel_count; p++) {
    int32_t width = fx_panel_width(lu, p), rows = width;
    for (size_t e = o->start[p]; e < o->start[p + 1]; e++) {
      lu->list_row[e] = rows;
      rows += lu->first[o->list[e] + 1] - lu->first[o->list[e]];
    }
    lu->rows[p] = rows;
    lu->lower[p + 1] = lu->lower[p] + (size_t)width * (size_t)rows;
    lu->upper[p + 1] = lu->upper[p] + (size_t)width * (size_t)(rows - width);
    lu->fill += (double)width * rows;
    lu->cost += (double)width * rows * rows;
  }
}

/* Tables for the partition at hand, which may only shrink later. */
static frix_status take_tables(fx_arena *arena, fx_block_lu *lu) {
  const fx_symbolic *o = &lu->order;
  size_t panels = (size_t)o->panel_count, steps = (size_t)o->count;
  lu->first = FX_TAKE(arena, int32_t, steps + 1);
  lu->place = FX_TAKE(arena, int32_t, lu->node_count);
  lu->list_row = FX_TAKE_RAW(arena, int32_t, o->start[o->panel_count]);
  lu->rows = FX_TAKE(arena, int32_t, panels);
  lu->lower = FX_TAKE(arena, size_t, panels + 1);
  lu->upper = FX_TAKE(arena, size_t, panels + 1);
  lu->waiting = FX_TAKE_RAW(arena, int32_t, panels);
  lu->next = FX_TAKE_RAW(arena, int32_t, panels);
  lu->cursor = FX_TAKE_RAW(arena, size_t, panels);
  lu->position = FX_TAKE(arena, int32_t, steps);
  lu->x = FX_TAKE(arena, double, lu->row[lu->node_count]);
  if (!lu->first || !lu->place || !lu->list_row || !lu->rows || !lu->lower || !lu->upper || !lu->waiting || !lu->next ||
      !lu->cursor || !lu->position || !lu->x)
    return FRIX_ERROR_MEMORY;
  fx_block_lu_lay_out(lu);
  return FRIX_OK;
}

static bool take_bench(fx_arena *arena, size_t longest, size_t widest, fx_lu_bench *w) {
  w->to = FX_TAKE_RAW(arena, size_t, longest);
  w->column = FX_TAKE_RAW(arena, int32_t, widest);
  w->strip = FX_TAKE_RAW(arena, fx_strip, widest);
  w->packed = FX_TAKE_RAW(arena, double, widest *widest);
  w->tile = FX_TAKE_RAW(arena, double, FX_ROWS_AT_ONCE *FX_STRIP);
  return w->to && w->column && w->strip && w->packed && w->tile;
}

static frix_status take_factors(fx_arena *arena, fx_block_lu *lu) {
  const fx_symbolic *o = &lu->order;
  size_t widest = 1, longest = 1;
  for (int32_t p = 0; p < o->panel_count; p++) {
    if ((size_t)fx_panel_width(lu, p) > widest) widest = (size_t)fx_panel_width(lu, p);
    if ((size_t)lu->rows[p] > longest) longest = (size_t)lu->rows[p];
  }
  lu->even = FX_TAKE_RAW(arena, size_t, longest);
  lu->flat = FX_TAKE_RAW(arena, size_t, FX_ROWS_AT_ONCE);
  lu->debt = FX_TAKE_RAW(arena, fx_debt, o->panel_count);
  for (int k = 0; k < FX_LU_BENCHES; k++)
    if (!take_bench(arena, longest, widest, &lu->bench[k])) return FRIX_ERROR_MEMORY;
  lu->pivot = FX_TAKE_RAW(arena, int32_t, lu->row[lu->node_count]);
  lu->chunk = FX_TAKE_RAW(arena, double, widest *FX_STRIP);
  lu->L = FX_TAKE_RAW(arena, double, lu->lower[o->panel_count]);
  lu->U = FX_TAKE_RAW(arena, double, lu->upper[o->panel_count]);
  if (!lu->even || !lu->flat || !lu->debt || !lu->pivot || !lu->chunk || !lu->L || !lu->U) return FRIX_ERROR_MEMORY;
  for (int32_t r = 0; r < FX_ROWS_AT_ONCE; r++) lu->flat[r] = (size_t)r * FX_STRIP;
  return FRIX_OK;
}

/* ---- analysis ---- */

typedef struct ranking {
  const int32_t *rank;
} ranking;

static int by_rank(int32_t a, int32_t b, const void *user) {
  const ranking *r = user;
  return r->rank[a] != r->rank[b] ? (r->rank[a] < r->rank[b] ? -1 : 1) : (a > b) - (a < b);
}

/* The groups in the order of an earlier analysis; new nodes just before the first of their neighbours. */
static frix_status earlier_order(fx_arena *arena, const fx_graph *graph, const fx_block_lu *before,
                                 const fx_block_lu *lu, int32_t *order) {
  int32_t *rank = FX_TAKE_RAW(arena, int32_t, graph->count), *scratch = FX_TAKE_RAW(arena, int32_t, graph->count);
  if (!rank || !scratch) return FRIX_ERROR_MEMORY;
  for (int32_t g = 0; g < graph->count; g++) {
    rank[g] = INT32_MAX;
    order[g] = g;
    for (int32_t e = lu->member_start[g]; e < lu->member_start[g + 1]; e++) {
      int32_t node = lu->member[e];
      if (node >= before->node_count) continue;
      int32_t own = 2 * before->order.step[before->group_of[node]] + 1; /* odd: room before each */
      if (own < rank[g]) rank[g] = own;
    }
  }
  for (int32_t g = 0; g < graph->count; g++) {
    if (rank[g] < INT32_MAX) continue;
    for (int32_t e = graph->start[g]; e < graph->start[g + 1]; e++) {
      int32_t other = rank[graph->near[e]];
      if (other % 2 == 1 && other < INT32_MAX && other - 1 < rank[g]) rank[g] = other - 1;
    }
  }
  fx_sort_by(order, scratch, (size_t)graph->count, by_rank, &(ranking){rank});
  return FRIX_OK;
}

/* Keeps the earlier order where the factors cost at most a quarter more for their size. */
static frix_status repair_order(fx_arena *arena, const fx_graph *graph, const fx_block_lu *before,
                                const fx_block_lu *lu, double most_cost, int32_t *order, bool *kept) {
  fx_effort now;
  frix_status status = earlier_order(arena, graph, before, lu, order);
  if (status == FRIX_OK) status = fx_symbolic_effort(arena, graph, order, &now);
  if (status != FRIX_OK) return status;
  double grown = (double)graph->count / (double)(before->group_count > 0 ? before->group_count : 1);
  *kept = now.cost <= 1.25 * before->effort * (grown > 1 ? grown * grown : 1);
  return *kept ? FRIX_OK : fx_graph_order(arena, graph, FX_ORDER_OWN, most_cost, order);
}

/* Order and panels, in the given ordering or like an earlier one. */
static frix_status analyze(fx_arena *arena, fx_arena *scratch, const fx_block_matrix *a, fx_ordering ordering,
                           const fx_block_lu *before, double most_cost, fx_block_lu *lu, bool *kept) {
  fx_graph near, graph;
  fx_effort effort;
  int32_t *order = FX_TAKE_RAW(scratch, int32_t, a->row_blocks);
  if (!order) return FRIX_ERROR_MEMORY;
  frix_status status = fx_graph_from_pattern(scratch, a->row_blocks, a->start, a->index, true, &near);
  if (status == FRIX_OK) status = find_groups(arena, a, &near, lu);
  if (status == FRIX_OK) status = graph_of_groups(scratch, a, &near, lu, &graph);
  if (status != FRIX_OK) return status;
  status = before ? repair_order(scratch, &graph, before, lu, most_cost, order, kept)
                  : fx_graph_order(scratch, &graph, ordering, most_cost, order);
  if (status == FRIX_OK) status = fx_symbolic_effort(scratch, &graph, order, &effort);
  if (status != FRIX_OK) return status;
  lu->effort = effort.cost;
  return fx_symbolic_analyze(arena, &graph, order, &lu->order);
}

static frix_status set_up(fx_arena *arena, const fx_block_matrix *a, fx_ordering ordering, const fx_block_lu *before,
                          double most_cost, fx_block_lu *lu, bool *kept) {
  *lu = (fx_block_lu){.node_count = a->row_blocks, .row = a->row};
  fx_arena scratch; /* what only the analysis needs */
  fx_arena_init(&scratch, arena->context);
  frix_status status = analyze(arena, &scratch, a, ordering, before, most_cost, lu, kept);
  fx_arena_free(&scratch);
  if (status == FRIX_OK) status = list_columns(arena, a, lu);
  if (status == FRIX_OK) status = take_tables(arena, lu);
  if (status == FRIX_OK && lu->cost <= most_cost) status = take_factors(arena, lu);
  return status;
}

frix_status fx_block_lu_analyze_within(fx_arena *arena, const fx_block_matrix *a, fx_ordering ordering,
                                       double most_cost, fx_block_lu *out) {
  return set_up(arena, a, ordering, NULL, most_cost, out, NULL);
}

frix_status fx_block_lu_analyze(fx_arena *arena, const fx_block_matrix *a, fx_block_lu *out) {
  return set_up(arena, a, FX_ORDER_OWN, NULL, INFINITY, out, NULL);
}

frix_status fx_block_lu_analyze_again(fx_arena *arena, const fx_block_matrix *a, const fx_block_lu *before,
                                      double most_cost, fx_block_lu *out, bool *kept) {
  bool unasked;
  return set_up(arena, a, FX_ORDER_OWN, before, most_cost, out, kept ? kept : &unasked);
}
