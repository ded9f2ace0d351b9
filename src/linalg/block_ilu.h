/* Preconditioners from the blocks of a matrix: its diagonal blocks alone (block Jacobi), or incomplete factors on the
 * pattern of the matrix itself,
 *
 *   A ~ (L + D) D^-1 (D + U),   L and U those of A,   D_i = A_ii - sum_k A_ik D_k^-1 A_ki       (k before i)
 *
 * which is incomplete block Cholesky where A is symmetric. Only the diagonal is changed, so A itself serves for L and
 * U. Reference: C. Pommerell, Solution of large unsymmetric systems, 1992 (D-ILU). */
#ifndef FX_LINALG_BLOCK_ILU_H
#define FX_LINALG_BLOCK_ILU_H

#include "linalg/block_matrix.h"

typedef struct fx_block_ilu {
  const fx_block_matrix *a; /* square, diagonal blocks present, pattern symmetric */
  bool diagonal_only;       /* block Jacobi: asked for, or the incomplete factors did not exist */
  size_t *at;               /* of each inverse diagonal block */
  double *inverse, *work;
  size_t half; /* of work: one block of the largest size */
  int32_t *pivot;
} fx_block_ilu;

frix_status fx_block_ilu_take(fx_arena *arena, const fx_block_matrix *a, fx_block_ilu *out);

/* From the values a has now. False where even a diagonal block is singular. */
bool fx_block_ilu_factor(fx_block_ilu *ilu, bool diagonal_only);

/* y := about A^-1 x; x and y differ. */
void fx_block_ilu_solve(const fx_block_ilu *ilu, const double *x, double *y);

#endif
