/* Sparse LU of a square block matrix with (made) symmetric pattern, without pivoting between blocks: meant for matrices
 * that are positive on the diagonal, such as W + kappa I or M + H D H', symmetric or not.
 *
 * Nodes with the same neighbours (the contacts between the same two bodies, say) are eliminated together as one group.
 */
#ifndef FX_LINALG_BLOCK_LU_H
#define FX_LINALG_BLOCK_LU_H

#include "linalg/block_order.h"

typedef struct fx_block_lu {
  int32_t node_count, group_count;
  int32_t *member_start, *member; /* nodes of each group */
  int32_t *group_of;              /* group of each node */
  fx_elimination order;           /* of the groups */
  const int32_t *row;             /* partition of the matrix factored last, by node */
  int32_t *first;                 /* first row of each elimination step in elimination order, group_count + 1 */
  int32_t *place;                 /* row of each node within its group */
  size_t *diagonal;               /* offset of pivot block k */
  size_t *upper;                  /* offset of each block of row k of U (and of column k of L) */
  double *D, *U, *L; /* D holds inverses once factored; L blocks are n_later x n_k, U blocks n_k x n_later, row-major */
  double cost;       /* multiplications of one nonsymmetric factorisation */
  double fill;       /* entries of one triangular factor, the diagonal blocks whole */
  int32_t *position;
  double *work; /* one block and one row of the largest size */
  int32_t *pivot;
  double *x; /* right-hand side in elimination order */
} fx_block_lu;

frix_status fx_block_lu_analyze(fx_arena *arena, const fx_block_matrix *a, fx_block_lu *out);

/* Factors A + shift I; false when a pivot block is singular. A has the block pattern that was analysed; its blocks may
 * be smaller than they were then, or empty. Where the caller knows A to be symmetric the work is halved. */
bool fx_block_lu_factor(fx_block_lu *lu, const fx_block_matrix *a, double shift, bool symmetric);

/* x := (A + shift I)^-1 x */
void fx_block_lu_solve(const fx_block_lu *lu, double *x);

#endif
