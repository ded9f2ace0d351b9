/* Fill-reducing elimination order of a block graph, with the exact structure of its factor. */
#ifndef FX_LINALG_BLOCK_ORDER_H
#define FX_LINALG_BLOCK_ORDER_H

#include "linalg/block_matrix.h"

typedef struct fx_elimination {
  int32_t count;
  int32_t *node;  /* node eliminated at step k */
  int32_t *step;  /* step at which a node is eliminated */
  size_t *start;  /* count + 1 */
  int32_t *later; /* steps after k that step k reaches, ascending: rows of column k of L, columns of row k of U */
} fx_elimination;

/* Minimum degree on the graph of A + A' (A square in blocks). */
frix_status fx_block_order(fx_arena *arena, const fx_block_matrix *a, fx_elimination *out);

#endif
