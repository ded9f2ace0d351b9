/* Minimum degree with a quotient graph: eliminated nodes become elements whose member lists stand for the cliques they
 * create, and degrees are bounded as in the approximate minimum degree method (P. Amestoy, T. Davis, I. Duff, 1996).
 * The member list of an element is the structure of its row of U, so the symbolic factorisation comes for free. */
#include "linalg/block_order.h"

#include "base/sort.h"

#include <string.h>

typedef struct graph {
  int32_t n;
  int32_t **near; /* uneliminated neighbours by original edges */
  int32_t *near_count;
  int32_t **element; /* elements a node belongs to */
  int32_t *element_count, *element_capacity;
  int32_t **member; /* of an element, all uneliminated as long as it is not absorbed */
  int32_t *member_count;
  int32_t *absorbed; /* nonzero: a later element covers this one */
  int32_t *mark, stamp;
  int32_t *outside, *outside_stamp;         /* |L_e \ L_p| for the pivot at hand */
  int32_t *degree, *head, *next, *previous; /* degree lists */
} graph;

static void unlink_node(graph *g, int32_t i) {
  if (g->next[i] >= 0) g->previous[g->next[i]] = g->previous[i];
  if (g->previous[i] >= 0)
    g->next[g->previous[i]] = g->next[i];
  else
    g->head[g->degree[i]] = g->next[i];
}

static void link_node(graph *g, int32_t i, int32_t degree) {
  g->degree[i] = degree;
  g->previous[i] = -1;
  g->next[i] = g->head[degree];
  if (g->next[i] >= 0) g->previous[g->next[i]] = i;
  g->head[degree] = i;
}

/* Neighbours of A + A' without the diagonal, each once. */
static frix_status adjacency(fx_arena *arena, const fx_block_matrix *a, graph *g) {
  int32_t *first = NULL, *list = NULL, n = g->n;
  frix_status status = fx_block_columns(arena, a, &first, &list);
  if (status != FRIX_OK) return status;
  for (int32_t i = 0; i < n; i++) {
    int32_t bound = a->start[i + 1] - a->start[i] + first[i + 1] - first[i], count = 0;
    int32_t *near = FX_TAKE(arena, int32_t, bound);
    if (!near) return FRIX_ERROR_MEMORY;
    g->stamp++;
    g->mark[i] = g->stamp;
    for (int32_t side = 0; side < 2; side++) {
      const int32_t *from = side ? list + first[i] : a->index + a->start[i];
      int32_t size = side ? first[i + 1] - first[i] : a->start[i + 1] - a->start[i];
      for (int32_t k = 0; k < size; k++)
        if (g->mark[from[k]] != g->stamp) {
          g->mark[from[k]] = g->stamp;
          near[count++] = from[k];
        }
    }
    g->near[i] = near;
    g->near_count[i] = count;
  }
  return FRIX_OK;
}

static frix_status take(fx_arena *arena, graph *g) {
  size_t n = (size_t)g->n;
  int32_t **numbers[] = {&g->near_count, &g->element_count, &g->element_capacity, &g->member_count, &g->absorbed,
                         &g->mark,       &g->outside,       &g->outside_stamp,    &g->degree,       &g->head,
                         &g->next,       &g->previous};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    if (!(*numbers[k] = FX_TAKE(arena, int32_t, n + 1))) return FRIX_ERROR_MEMORY;
  g->near = FX_TAKE(arena, int32_t *, n);
  g->element = FX_TAKE(arena, int32_t *, n);
  g->member = FX_TAKE(arena, int32_t *, n);
  return g->near && g->element && g->member ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* Members of the new element p: everything reachable from p. Elements it covers are absorbed. */
static frix_status form_element(fx_arena *arena, graph *g, int32_t p, const bool *done) {
  int32_t bound = g->near_count[p];
  for (int32_t k = 0; k < g->element_count[p]; k++)
    if (!g->absorbed[g->element[p][k]]) bound += g->member_count[g->element[p][k]];
  int32_t *member = FX_TAKE(arena, int32_t, bound), count = 0;
  if (!member) return FRIX_ERROR_MEMORY;
  g->stamp++;
  g->mark[p] = g->stamp;
  for (int32_t k = -1; k < g->element_count[p]; k++) {
    const int32_t *list = k < 0 ? g->near[p] : g->member[g->element[p][k]];
    int32_t size = k < 0 ? g->near_count[p] : g->member_count[g->element[p][k]];
    if (k >= 0 && g->absorbed[g->element[p][k]]) continue;
    for (int32_t e = 0; e < size; e++)
      if (!done[list[e]] && g->mark[list[e]] != g->stamp) {
        g->mark[list[e]] = g->stamp;
        member[count++] = list[e];
      }
    if (k >= 0) g->absorbed[g->element[p][k]] = 1;
  }
  g->member[p] = member;
  g->member_count[p] = count;
  return FRIX_OK;
}

/* Drops from node i what the element p covers (marked with the stamp) and adds p to its elements. */
static frix_status clean_node(fx_arena *arena, graph *g, int32_t i, int32_t p) {
  int32_t kept = 0;
  for (int32_t k = 0; k < g->near_count[i]; k++)
    if (g->mark[g->near[i][k]] != g->stamp) g->near[i][kept++] = g->near[i][k];
  g->near_count[i] = kept;
  kept = 0;
  for (int32_t k = 0; k < g->element_count[i]; k++)
    if (!g->absorbed[g->element[i][k]]) g->element[i][kept++] = g->element[i][k];
  if (kept == g->element_capacity[i]) {
    int32_t capacity = 2 * kept + 4, *grown = FX_TAKE(arena, int32_t, capacity);
    if (!grown) return FRIX_ERROR_MEMORY;
    memcpy(grown, g->element[i] ? g->element[i] : grown, (size_t)kept * sizeof *grown);
    g->element[i] = grown;
    g->element_capacity[i] = capacity;
  }
  g->element[i][kept] = p;
  g->element_count[i] = kept + 1;
  return FRIX_OK;
}

static frix_status eliminate(fx_arena *arena, graph *g, int32_t p, const bool *done, int32_t left) {
  frix_status status = form_element(arena, g, p, done);
  if (status != FRIX_OK) return status;
  const int32_t *member = g->member[p];
  int32_t size = g->member_count[p];
  for (int32_t k = 0; k < size; k++) {
    unlink_node(g, member[k]);
    if ((status = clean_node(arena, g, member[k], p)) != FRIX_OK) return status;
  }
  /* |L_e \ L_p| of every element next to L_p: its living members less those met here. */
  for (int32_t k = 0; k < size; k++)
    for (int32_t e = 0; e < g->element_count[member[k]]; e++) {
      int32_t element = g->element[member[k]][e];
      if (g->outside_stamp[element] != g->stamp) {
        g->outside_stamp[element] = g->stamp;
        g->outside[element] = g->member_count[element];
      }
      g->outside[element]--;
    }
  for (int32_t k = 0; k < size; k++) {
    int32_t i = member[k];
    int64_t degree = g->near_count[i] + size - 1;
    for (int32_t e = 0; e < g->element_count[i]; e++)
      if (g->element[i][e] != p) degree += g->outside[g->element[i][e]];
    link_node(g, i, degree < left ? (int32_t)degree : left);
  }
  return FRIX_OK;
}

/* Member lists, in elimination numbers and sorted, are the structure of the factor. */
static frix_status collect(fx_arena *arena, const graph *g, fx_elimination *out) {
  out->start = FX_TAKE(arena, size_t, (size_t)g->n + 1);
  if (!out->start) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < g->n; k++) out->start[k + 1] = out->start[k] + (size_t)g->member_count[out->node[k]];
  out->later = FX_TAKE(arena, int32_t, out->start[g->n]);
  if (!out->later) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < g->n; k++) {
    int32_t p = out->node[k], *to = out->later + out->start[k];
    for (int32_t e = 0; e < g->member_count[p]; e++) to[e] = out->step[g->member[p][e]];
    fx_sort(to, (size_t)g->member_count[p]);
  }
  return FRIX_OK;
}

frix_status fx_block_order(fx_arena *arena, const fx_block_matrix *a, fx_elimination *out) {
  graph g = {.n = a->row_blocks};
  int32_t n = g.n;
  bool *done = FX_TAKE(arena, bool, n);
  *out = (fx_elimination){.count = n, .node = FX_TAKE(arena, int32_t, n), .step = FX_TAKE(arena, int32_t, n)};
  frix_status status = take(arena, &g);
  if (status != FRIX_OK || !done || !out->node || !out->step) return FRIX_ERROR_MEMORY;
  if ((status = adjacency(arena, a, &g)) != FRIX_OK) return status;
  for (int32_t d = 0; d <= n; d++) g.head[d] = -1;
  for (int32_t i = n - 1; i >= 0; i--) link_node(&g, i, g.near_count[i]);
  int32_t lowest = 0;
  for (int32_t k = 0; k < n; k++) {
    lowest = 0;
    while (g.head[lowest] < 0) lowest++;
    int32_t p = g.head[lowest];
    unlink_node(&g, p);
    done[p] = true;
    out->node[k] = p;
    out->step[p] = k;
    if ((status = eliminate(arena, &g, p, done, n - k - 1)) != FRIX_OK) return status;
  }
  return collect(arena, &g, out);
}
