/* Sparse LU of a square unsymmetric matrix with threshold pivoting, P A Q = L U. */
#ifndef FX_LINALG_SPARSE_LU_H
#define FX_LINALG_SPARSE_LU_H

#include "base/arena.h"

typedef struct fx_sparse_lu {
  frix_context *context;
  int32_t n;
  const int32_t *p, *i; /* pattern of A in compressed columns, by reference */
  int32_t *order;       /* column eliminated at step k */
  int32_t *step_of_row; /* step at which a row was pivot; -1: not yet */
  int64_t *L_start, *U_start;
  int32_t *L_row, *U_row; /* L by rows of A, U by steps; the diagonal of U comes last */
  double *L_x, *U_x;
  int64_t L_capacity, U_capacity;
  double *work;
  int32_t *stack, *pattern, *mark, stamp;
  int64_t *cursor;
} fx_sparse_lu;

/* Fill-reducing column order (minimum degree of A + A') and memory; p and i must outlive the factors. What grows while
 * factoring is freed with fx_sparse_lu_free, the rest belongs to the arena. */
frix_status fx_sparse_lu_analyze(fx_arena *arena, int32_t n, const int32_t *p, const int32_t *i, fx_sparse_lu *out);
void fx_sparse_lu_free(fx_sparse_lu *lu);

/* Factors the matrix with entries x. A diagonal pivot is taken where it is at least threshold times the largest of its
 * column. *singular is set where no usable pivot is left; that is no error. */
frix_status fx_sparse_lu_factor(fx_sparse_lu *lu, const double *x, double threshold, bool *singular);

/* b := A^-1 b */
void fx_sparse_lu_solve(fx_sparse_lu *lu, double *b);

#endif
