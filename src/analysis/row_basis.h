/* A basis of the rows of a matrix, by elimination. */
#ifndef FX_ANALYSIS_ROW_BASIS_H
#define FX_ANALYSIS_ROW_BASIS_H

#include "base/arena.h"

/* a: rows x (cols + 1), row-major, the last column a right-hand side, which gives no pivot. The first *rank rows of the
 * result (in place, their owners likewise) span what is above `tolerance` of the largest entry of the rows; each is
 * divided by its pivot. */
frix_status fx_row_basis(fx_arena *arena, int32_t rows, int32_t cols, double tolerance, double *a, int32_t *owner,
                         int32_t *rank);

/* The same of a symmetric, positive semidefinite matrix a (n x (n + 1), the last column as above) by pivots of its
 * diagonal: the first *rank rows are L' of a = L L', whose condition is the root of that of a. *definite is false where
 * a pivot is negative beyond the tolerance: a is lost then. */
frix_status fx_symmetric_basis(fx_arena *arena, int32_t n, double tolerance, double *a, int32_t *owner, int32_t *rank,
                               bool *definite);

#endif
