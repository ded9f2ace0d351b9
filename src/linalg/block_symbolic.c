/* Symbolic factorisation by the elimination tree.
 *
 * parent(j) is the first row below the diagonal of column j of L. Row i of L is the subtree of the tree spanned by the
 * nonzeros of row i of A; walking these subtrees counts every column. References: J. Liu, The role of elimination trees
 * in sparse factorization, 1990; C. Ashcraft, R. Grimes, The influence of relaxed supernode partitions, 1989. */
#include "linalg/block_symbolic.h"

#include "base/sort.h"

#include <string.h>

typedef struct tree {
  const fx_graph *graph;
  int32_t n, *node, *step, *parent;
  int32_t *reached; /* steps below the diagonal of each column */
  int32_t *rows;    /* their rows */
} tree;

static int32_t weight_of(const fx_graph *g, int32_t node) { return g->weight ? g->weight[node] : 1; }

/* Rows of the transposed pattern: filled by rows, so ascending. */
static frix_status transpose(fx_arena *arena, int32_t n, const int32_t *start, const int32_t *index, int32_t **first,
                             int32_t **rows) {
  *first = FX_TAKE(arena, int32_t, (size_t)n + 2);
  *rows = FX_TAKE_RAW(arena, int32_t, start[n]);
  if (!*first || !*rows) return FRIX_ERROR_MEMORY;
  int32_t *next = *first + 1;
  for (int32_t k = 0; k < start[n]; k++) next[index[k] + 1]++;
  for (int32_t j = 0; j < n; j++) next[j + 1] += next[j];
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = start[i]; k < start[i + 1]; k++) (*rows)[next[index[k]]++] = i;
  return FRIX_OK;
}

frix_status fx_graph_from_pattern(fx_arena *arena, int32_t n, const int32_t *start, const int32_t *index, bool closed,
                                  fx_graph *out) {
  int32_t *first, *rows, *seen = FX_TAKE(arena, int32_t, n), *begin = FX_TAKE(arena, int32_t, (size_t)n + 1);
  int32_t *near = FX_TAKE_RAW(arena, int32_t, 2 * (size_t)start[n] + (size_t)n);
  if (!seen || !begin || !near) return FRIX_ERROR_MEMORY;
  frix_status status = transpose(arena, n, start, index, &first, &rows);
  if (status != FRIX_OK) return status;
  for (int32_t i = 0; i < n; i++) {
    int32_t *to = near + begin[i], count = 0;
    seen[i] = i + 1;
    if (closed) to[count++] = i;
    for (int side = 0; side < 2; side++) {
      const int32_t *from = side ? rows + first[i] : index + start[i];
      int32_t size = side ? first[i + 1] - first[i] : start[i + 1] - start[i];
      for (int32_t k = 0; k < size; k++)
        if (seen[from[k]] != i + 1) {
          seen[from[k]] = i + 1;
          to[count++] = from[k];
        }
    }
    fx_sort(to, (size_t)count);
    begin[i + 1] = begin[i] + count;
  }
  *out = (fx_graph){.count = n, .start = begin, .near = near};
  return FRIX_OK;
}

/* ---- elimination tree ---- */

/* Parents, in the numbering of t->step. Paths are shortened on the way. */
static void find_parents(tree *t, int32_t *ancestor) {
  for (int32_t i = 0; i < t->n; i++) {
    int32_t node = t->node[i];
    t->parent[i] = ancestor[i] = -1;
    for (int32_t e = t->graph->start[node]; e < t->graph->start[node + 1]; e++)
      for (int32_t k = t->step[t->graph->near[e]], next; k >= 0 && k < i; k = next) {
        next = ancestor[k];
        ancestor[k] = i;
        if (next < 0) t->parent[k] = i;
        if (next == i) break;
      }
  }
}

/* Renumbers the steps so that every subtree is contiguous; fill does not change. */
static void postorder(tree *t, int32_t *head, int32_t *next, int32_t *stack, int32_t *fresh) {
  int32_t n = t->n, count = 0;
  for (int32_t k = 0; k <= n; k++) head[k] = -1;
  for (int32_t k = n - 1; k >= 0; k--) { /* head[n]: the roots */
    int32_t parent = t->parent[k] < 0 ? n : t->parent[k];
    next[k] = head[parent];
    head[parent] = k;
  }
  int32_t depth = 0;
  for (int32_t root = head[n]; root >= 0; root = next[root]) {
    stack[depth++] = root;
    while (depth > 0) {
      int32_t k = stack[depth - 1], child = head[k];
      if (child >= 0) {
        head[k] = next[child];
        stack[depth++] = child;
      } else {
        fresh[k] = count++;
        depth--;
      }
    }
  }
  memcpy(stack, t->node, (size_t)n * sizeof *stack);
  memcpy(next, t->parent, (size_t)n * sizeof *next);
  for (int32_t k = 0; k < n; k++) {
    t->node[fresh[k]] = stack[k];
    t->step[stack[k]] = fresh[k];
    t->parent[fresh[k]] = next[k] < 0 ? -1 : fresh[next[k]];
  }
}

/* Length of every column, by the subtrees of the rows. */
static void count_columns(tree *t, int32_t *mark) {
  memset(t->reached, 0, (size_t)t->n * sizeof *t->reached);
  memset(t->rows, 0, (size_t)t->n * sizeof *t->rows);
  for (int32_t i = 0; i < t->n; i++) {
    int32_t node = t->node[i], rows = weight_of(t->graph, node);
    mark[i] = i;
    for (int32_t e = t->graph->start[node]; e < t->graph->start[node + 1]; e++)
      for (int32_t k = t->step[t->graph->near[e]]; k < i && mark[k] != i; k = t->parent[k]) {
        mark[k] = i;
        t->reached[k]++;
        t->rows[k] += rows;
      }
  }
}

/* The tree of an order, postordered, with its columns counted. */
static frix_status grow_tree(fx_arena *arena, const fx_graph *graph, const int32_t *order, tree *t) {
  size_t n = (size_t)graph->count;
  int32_t *work[4];
  *t = (tree){.graph = graph, .n = graph->count};
  int32_t **numbers[] = {&t->node, &t->step, &t->parent, &t->reached, &t->rows, &work[0], &work[1], &work[2], &work[3]};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    if (!(*numbers[k] = FX_TAKE_RAW(arena, int32_t, n + 1))) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < t->n; k++) {
    t->node[k] = order[k];
    t->step[order[k]] = k;
  }
  find_parents(t, work[0]);
  postorder(t, work[0], work[1], work[2], work[3]);
  for (int32_t k = 0; k < t->n; k++) work[0][k] = -1;
  count_columns(t, work[0]);
  return FRIX_OK;
}

frix_status fx_symbolic_effort(fx_arena *arena, const fx_graph *graph, const int32_t *order, fx_effort *out) {
  tree t;
  frix_status status = grow_tree(arena, graph, order, &t);
  if (status != FRIX_OK) return status;
  *out = (fx_effort){0};
  for (int32_t k = 0; k < t.n; k++) {
    double n = weight_of(graph, t.node[k]), below = t.rows[k];
    out->cost += n * (n * n / 6 + n * below / 2 + below * below / 2);
    out->fill += n * (n / 2 + below);
  }
  return FRIX_OK;
}

/* ---- supernodes ---- */

typedef struct supernode {
  int32_t first, last; /* steps */
  double rows, below;  /* of its steps; of what they reach */
  double zeros;        /* entries stored for nothing */
} supernode;

/* Whether a supernode may join its parent: a few stored zeros are cheaper than short loops. */
static bool merge(const supernode *child, supernode *parent) {
  double width = child->rows + parent->rows;
  double zeros = child->zeros + parent->zeros + child->rows * (parent->rows + parent->below - child->below);
  double share = zeros / (width * (0.5 * width + parent->below));
  if (share > (width <= 12 ? 0.4 : width <= 24 ? 0.2 : width <= 48 ? 0.1 : 0.05)) return false;
  *parent = (supernode){child->first, parent->last, width, parent->below, zeros};
  return true;
}

/* Steps become supernodes: chains with the same structure, then children that join their parents. Returns how many. */
static int32_t find_supernodes(const tree *t, supernode *list) {
  int32_t count = 0;
  for (int32_t k = 0; k < t->n; k++) {
    supernode own = {k, k, weight_of(t->graph, t->node[k]), t->rows[k], 0};
    while (count > 0 && t->parent[list[count - 1].last] >= own.first && t->parent[list[count - 1].last] <= own.last &&
           merge(&list[count - 1], &own))
      count--;
    list[count++] = own;
  }
  return count;
}

/* What supernode s reaches: neighbours of its steps and what its children reach, beyond its last step. */
static int32_t structure_of(const tree *t, const supernode *own, int32_t s, const int32_t *child, const int32_t *next,
                            const size_t *start, const int32_t *const *structure, int32_t *mark, int32_t *to) {
  int32_t count = 0;
  for (int32_t k = own->first; k <= own->last; k++)
    for (int32_t e = t->graph->start[t->node[k]]; e < t->graph->start[t->node[k] + 1]; e++) {
      int32_t i = t->step[t->graph->near[e]];
      if (i <= own->last || mark[i] == s) continue;
      mark[i] = s;
      to[count++] = i;
    }
  for (int32_t c = child[s]; c >= 0; c = next[c])
    for (size_t e = 0; e < start[c]; e++) {
      int32_t i = structure[c][e];
      if (i <= own->last || mark[i] == s) continue;
      mark[i] = s;
      to[count++] = i;
    }
  fx_sort(to, (size_t)count);
  return count;
}

/* Structures of all supernodes; length and structure by supernode. */
static frix_status find_structures(fx_arena *arena, const tree *t, const supernode *list, int32_t count, size_t *length,
                                   int32_t **structure) {
  int32_t *child = FX_TAKE_RAW(arena, int32_t, count), *next = FX_TAKE_RAW(arena, int32_t, count);
  int32_t *mark = FX_TAKE_RAW(arena, int32_t, t->n), *found = FX_TAKE_RAW(arena, int32_t, t->n);
  int32_t *owner = FX_TAKE_RAW(arena, int32_t, t->n);
  if (!child || !next || !mark || !found || !owner) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < t->n; k++) mark[k] = -1;
  for (int32_t s = 0; s < count; s++) {
    child[s] = next[s] = -1;
    for (int32_t k = list[s].first; k <= list[s].last; k++) owner[k] = s;
  }
  for (int32_t s = 0; s < count; s++) {
    int32_t size = structure_of(t, &list[s], s, child, next, length, (const int32_t *const *)structure, mark, found);
    length[s] = (size_t)size;
    if (!(structure[s] = FX_TAKE_RAW(arena, int32_t, size))) return FRIX_ERROR_MEMORY;
    memcpy(structure[s], found, (size_t)size * sizeof *found);
    if (size == 0) continue;
    int32_t parent = owner[found[0]];
    next[s] = child[parent];
    child[parent] = s;
  }
  return FRIX_OK;
}

/* ---- panels ---- */

enum { WIDEST_PANEL = 192 }; /* rows: a panel's part of a product stays in the nearest caches */

/* End of the panel that begins at step k of a supernode. */
static int32_t panel_end(const tree *t, const supernode *s, int32_t k) {
  int32_t width = 0, end = k;
  while (end <= s->last && (end == k || width + weight_of(t->graph, t->node[end]) <= WIDEST_PANEL))
    width += weight_of(t->graph, t->node[end++]);
  return end;
}

static frix_status cut_panels(fx_arena *arena, const tree *t, const supernode *list, int32_t count,
                              const size_t *length, int32_t *const *structure, fx_symbolic *out) {
  size_t total = 0;
  for (int32_t s = 0; s < count; s++)
    for (int32_t k = list[s].first; k <= list[s].last; k = panel_end(t, &list[s], k)) {
      total += (size_t)(list[s].last + 1 - panel_end(t, &list[s], k)) + length[s];
      out->panel_count++;
    }
  out->first = FX_TAKE_RAW(arena, int32_t, (size_t)out->panel_count + 1);
  out->panel_of = FX_TAKE_RAW(arena, int32_t, t->n);
  out->start = FX_TAKE_RAW(arena, size_t, (size_t)out->panel_count + 1);
  out->list = FX_TAKE_RAW(arena, int32_t, total);
  if (!out->first || !out->panel_of || !out->start || !out->list) return FRIX_ERROR_MEMORY;
  int32_t p = 0;
  size_t at = 0;
  for (int32_t s = 0; s < count; s++)
    for (int32_t k = list[s].first, end; k <= list[s].last; k = end, p++) {
      end = panel_end(t, &list[s], k);
      out->first[p] = k;
      out->start[p] = at;
      for (int32_t i = k; i < end; i++) out->panel_of[i] = p;
      for (int32_t i = end; i <= list[s].last; i++) out->list[at++] = i;
      memcpy(out->list + at, structure[s], length[s] * sizeof *out->list);
      at += length[s];
    }
  out->first[p] = t->n;
  out->start[p] = at;
  return FRIX_OK;
}

frix_status fx_symbolic_analyze(fx_arena *arena, const fx_graph *graph, const int32_t *order, fx_symbolic *out) {
  tree t;
  *out = (fx_symbolic){.count = graph->count};
  frix_status status = grow_tree(arena, graph, order, &t);
  if (status != FRIX_OK) return status;
  out->node = t.node;
  out->step = t.step;
  supernode *list = FX_TAKE_RAW(arena, supernode, t.n);
  if (!list) return FRIX_ERROR_MEMORY;
  int32_t count = find_supernodes(&t, list);
  size_t *length = FX_TAKE(arena, size_t, count);
  int32_t **structure = FX_TAKE(arena, int32_t *, count);
  if (!length || !structure) return FRIX_ERROR_MEMORY;
  status = find_structures(arena, &t, list, count, length, structure);
  return status == FRIX_OK ? cut_panels(arena, &t, list, count, length, structure, out) : status;
}
