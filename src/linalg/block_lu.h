/* Sparse LU of a square block matrix with (made) symmetric pattern, without pivoting between blocks: meant for matrices
 * that are positive on the diagonal, such as W + kappa I, symmetric or not. */
#ifndef FX_LINALG_BLOCK_LU_H
#define FX_LINALG_BLOCK_LU_H

#include "linalg/block_order.h"

typedef struct fx_block_lu {
  fx_elimination order;
  const int32_t *row; /* partition of the matrix, by node */
  size_t *diagonal;   /* offset of pivot block k */
  size_t *upper;      /* offset of the first block of row k of U (and of column k of L) */
  double *D, *U,
      *L; /* D holds inverses once factored; L blocks are stored n_later x n_k, U blocks n_k x n_later, row-major */
  double cost; /* multiplications of one factorisation */
  int32_t *position;
  double *work; /* one block and one row of the largest size */
  int32_t *pivot;
} fx_block_lu;

frix_status fx_block_lu_analyze(fx_arena *arena, const fx_block_matrix *a, fx_block_lu *out);

/* Factors A + shift I; false when a pivot block is singular. A has the block pattern that was analysed; its blocks may
 * be smaller than they were then, or empty. Where the caller knows A to be symmetric only its upper half is read and
 * the work is halved. */
bool fx_block_lu_factor(fx_block_lu *lu, const fx_block_matrix *a, double shift, bool symmetric);

/* x := (A + shift I)^-1 x */
void fx_block_lu_solve(const fx_block_lu *lu, double *x);

#endif
