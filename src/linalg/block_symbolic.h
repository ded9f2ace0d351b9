/* Symbolic factorisation: from a graph and an elimination order to panels, the dense column blocks of the factor.
 *
 * Steps whose columns have the same structure, or nearly so, form a supernode; wide supernodes are cut into panels. */
#ifndef FX_LINALG_BLOCK_SYMBOLIC_H
#define FX_LINALG_BLOCK_SYMBOLIC_H

#include "base/arena.h"

/* Symmetric, without the diagonal: neighbours of node i at near[start[i]] .. near[start[i + 1] - 1]. */
typedef struct fx_graph {
  int32_t count;
  const int32_t *start, *near;
  const int32_t *weight; /* rows of each node; NULL: one */
} fx_graph;

/* The graph of A + A' from the rows of A, neighbours ascending; closed: every node counts among its own neighbours. */
frix_status fx_graph_from_pattern(fx_arena *arena, int32_t n, const int32_t *start, const int32_t *index, bool closed,
                                  fx_graph *out);

typedef struct fx_symbolic {
  int32_t count;       /* steps */
  int32_t *node;       /* eliminated at step k: the given order, with subtrees kept together */
  int32_t *step;       /* at which a node is eliminated */
  int32_t panel_count; /* panel p: steps first[p] .. first[p + 1] - 1 */
  int32_t *first, *panel_of;
  size_t *start; /* panel_count + 1 */
  int32_t *list; /* steps after panel p that it reaches, ascending, at list[start[p]] .. */
} fx_symbolic;

/* order: the nodes in the order of their elimination. */
frix_status fx_symbolic_analyze(fx_arena *arena, const fx_graph *graph, const int32_t *order, fx_symbolic *out);

/* Multiplications of a Cholesky factorisation in this order, and entries of its factor: what orders are compared by. */
typedef struct fx_effort {
  double cost, fill;
} fx_effort;

frix_status fx_symbolic_effort(fx_arena *arena, const fx_graph *graph, const int32_t *order, fx_effort *out);

#endif
