/* Minimum degree with a quotient graph: eliminated nodes become elements whose member lists stand for the cliques they
 * create, and degrees are bounded as in the approximate minimum degree method (P. Amestoy, T. Davis, I. Duff, 1996).
 * Nodes may be deferred in stages; nested dissection uses this to eliminate its separators last. */
#include "linalg/block_order.h"

#include <string.h>

typedef struct quotient {
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
  int32_t *degree, *head, *next, *previous; /* degree lists of the nodes of the stage at hand */
  const int32_t *stage;
  int32_t now, lowest; /* stage; no node of it has a lower degree */
} quotient;

static bool listed(const quotient *g, int32_t i) { return !g->stage || g->stage[i] == g->now; }

static void unlink_node(quotient *g, int32_t i) {
  if (!listed(g, i)) return;
  if (g->next[i] >= 0) g->previous[g->next[i]] = g->previous[i];
  if (g->previous[i] >= 0)
    g->next[g->previous[i]] = g->next[i];
  else
    g->head[g->degree[i]] = g->next[i];
}

static void link_node(quotient *g, int32_t i, int32_t degree) {
  g->degree[i] = degree;
  if (!listed(g, i)) return;
  if (degree < g->lowest) g->lowest = degree;
  g->previous[i] = -1;
  g->next[i] = g->head[degree];
  if (g->next[i] >= 0) g->previous[g->next[i]] = i;
  g->head[degree] = i;
}

/* Every node's own copy of its neighbours, since lists shrink. */
static frix_status adjacency(fx_arena *arena, const fx_graph *source, quotient *g) {
  int32_t *near = FX_TAKE_RAW(arena, int32_t, source->start[g->n]);
  if (!near) return FRIX_ERROR_MEMORY;
  memcpy(near, source->near, (size_t)source->start[g->n] * sizeof *near);
  for (int32_t i = 0; i < g->n; i++) {
    g->near[i] = near + source->start[i];
    g->near_count[i] = source->start[i + 1] - source->start[i];
  }
  return FRIX_OK;
}

static frix_status take(fx_arena *arena, quotient *g) {
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
static frix_status form_element(fx_arena *arena, quotient *g, int32_t p, const bool *done) {
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
static frix_status clean_node(fx_arena *arena, quotient *g, int32_t i, int32_t p) {
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

static frix_status eliminate(fx_arena *arena, quotient *g, int32_t p, const bool *done, int32_t left) {
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

/* Nodes by stage, each stage in ascending order: start by stage (stages + 1) and list. */
static int32_t *nodes_by_stage(fx_arena *arena, const quotient *g, int32_t stages, int32_t **start) {
  int32_t *first = FX_TAKE(arena, int32_t, (size_t)stages + 2), *list = FX_TAKE_RAW(arena, int32_t, g->n);
  if (!first || !list) return NULL;
  for (int32_t i = 0; i < g->n; i++) first[(g->stage ? g->stage[i] : 0) + 2]++;
  for (int32_t s = 0; s < stages; s++) first[s + 2] += first[s + 1];
  for (int32_t i = 0; i < g->n; i++) list[first[(g->stage ? g->stage[i] : 0) + 1]++] = i;
  *start = first;
  return list;
}

frix_status fx_order_degree(fx_arena *arena, const fx_graph *source, const int32_t *stage, int32_t *order) {
  quotient g = {.n = source->count, .stage = stage};
  int32_t n = g.n, stages = 1, done_count = 0, *start = NULL;
  bool *done = FX_TAKE(arena, bool, n);
  for (int32_t i = 0; stage && i < n; i++)
    if (stage[i] >= stages) stages = stage[i] + 1;
  int32_t *list = nodes_by_stage(arena, &g, stages, &start);
  frix_status status = take(arena, &g);
  if (status != FRIX_OK || !done || !list) return FRIX_ERROR_MEMORY;
  if ((status = adjacency(arena, source, &g)) != FRIX_OK) return status;
  for (int32_t d = 0; d <= n; d++) g.head[d] = -1;
  for (int32_t i = 0; i < n; i++) g.degree[i] = g.near_count[i];
  for (; g.now < stages; g.now++) {
    g.lowest = n;
    for (int32_t k = start[g.now + 1] - 1; k >= start[g.now]; k--) link_node(&g, list[k], g.degree[list[k]]);
    for (int32_t left = start[g.now + 1] - start[g.now]; left > 0; left--) {
      while (g.head[g.lowest] < 0) g.lowest++;
      int32_t p = g.head[g.lowest];
      unlink_node(&g, p);
      done[p] = true;
      order[done_count++] = p;
      if ((status = eliminate(arena, &g, p, done, n - done_count)) != FRIX_OK) return status;
    }
  }
  return FRIX_OK;
}

/* ---- the choice ---- */

enum { LARGE = 200 };                        /* nodes: below it minimum degree is as good as any */
static const double dissection_pays = 150e3; /* multiplications per node of the order without it */
enum { DISSECTION_GAIN = 4 }; /* on graphs whose factors are affordable at all it saves less than this factor */

static void natural(int32_t n, int32_t *order) {
  for (int32_t k = 0; k < n; k++) order[k] = k;
}

static frix_status dissection(fx_arena *arena, const fx_graph *graph, int32_t *order) {
  int32_t *stage = FX_TAKE(arena, int32_t, graph->count);
  if (!stage) return FRIX_ERROR_MEMORY;
  frix_status status = fx_order_dissect(arena, graph, stage);
  return status == FRIX_OK ? fx_order_degree(arena, graph, stage, order) : status;
}

/* Minimum degree, and nested dissection where what it saves in some eight factorisations exceeds the time it takes. */
static frix_status own(fx_arena *arena, const fx_graph *graph, double most_cost, int32_t *order) {
  frix_status status = fx_order_degree(arena, graph, NULL, order);
  if (status != FRIX_OK || graph->count < LARGE) return status;
  fx_effort plain, dissected;
  int32_t *other = FX_TAKE(arena, int32_t, graph->count);
  if (!other) return FRIX_ERROR_MEMORY;
  if ((status = fx_symbolic_effort(arena, graph, order, &plain)) != FRIX_OK) return status;
  if (plain.cost < dissection_pays * graph->count) return FRIX_OK;
  if (2 * plain.cost > DISSECTION_GAIN * most_cost) return FRIX_OK; /* LU takes twice as many as Cholesky */
  if ((status = dissection(arena, graph, other)) != FRIX_OK) return status;
  if ((status = fx_symbolic_effort(arena, graph, other, &dissected)) != FRIX_OK) return status;
  if (dissected.cost < plain.cost) memcpy(order, other, (size_t)graph->count * sizeof *order);
  return FRIX_OK;
}

frix_status fx_graph_order(fx_arena *arena, const fx_graph *graph, fx_ordering ordering, double most_cost,
                           int32_t *order) {
  switch (ordering) {
    case FX_ORDER_NATURAL: natural(graph->count, order); return FRIX_OK;
    case FX_ORDER_DEGREE: return fx_order_degree(arena, graph, NULL, order);
    case FX_ORDER_DISSECTION: return dissection(arena, graph, order);
    default: return own(arena, graph, most_cost, order);
  }
}
