/* Fill-reducing elimination orders of a graph. */
#ifndef FX_LINALG_BLOCK_ORDER_H
#define FX_LINALG_BLOCK_ORDER_H

#include "linalg/block_symbolic.h"

/* The same on every machine; bench/orders.c has those of packages, to be measured against. */
typedef enum fx_ordering {
  FX_ORDER_OWN,        /* minimum degree; nested dissection as well where the graph is large, and the better one */
  FX_ORDER_NATURAL,    /* as the nodes come */
  FX_ORDER_DEGREE,     /* approximate minimum degree */
  FX_ORDER_DISSECTION, /* nested dissection, minimum degree within the parts */
  FX_ORDER_COUNT,
} fx_ordering;

/* Nodes in the order of their elimination. No effort is spent on an order that would still cost more than most_cost
 * multiplications. */
frix_status fx_graph_order(fx_arena *arena, const fx_graph *graph, fx_ordering ordering, double most_cost,
                           int32_t *order);

/* Minimum degree; stage (NULL: none) says which nodes must wait until all of lower stages are gone. */
frix_status fx_order_degree(fx_arena *arena, const fx_graph *graph, const int32_t *stage, int32_t *order);

/* Stage of every node by nested dissection: 0 in the parts, then the separators, smallest parts first. */
frix_status fx_order_dissect(fx_arena *arena, const fx_graph *graph, int32_t *stage);

#endif
