/* Elimination orders of others, to measure the own ones against: SuiteSparse's AMD and METIS, where they are installed.
 */
#ifndef BENCH_ORDERS_H
#define BENCH_ORDERS_H

#include "linalg/block_order.h"

typedef enum package_order { PACKAGE_AMD, PACKAGE_METIS, PACKAGE_COUNT } package_order;

/* Nodes in the order of their elimination; FRIX_ERROR_UNSUPPORTED where this build lacks the package. */
frix_status package_graph_order(fx_arena *arena, const fx_graph *graph, package_order package, int32_t *order);

#endif
