/* Block-sparse matrices: block rows in compressed form, blocks dense and row-major, sizes free per block row and
 * column. */
#ifndef FX_LINALG_BLOCK_MATRIX_H
#define FX_LINALG_BLOCK_MATRIX_H

#include "base/arena.h"
#include "linalg/sparse.h"

typedef struct fx_block_matrix {
  int32_t row_blocks, col_blocks;
  const int32_t *row; /* first scalar row of each block row, row_blocks + 1 */
  const int32_t *col; /* first scalar column of each block column, col_blocks + 1 */
  int32_t *start;     /* first block of each block row, row_blocks + 1 */
  int32_t *index;     /* block column of each block, ascending within a row */
  size_t *offset;     /* where its values begin in x; one more than there are blocks */
  double *x;
} fx_block_matrix;

/* Where block k of block row i lies. */
static inline double *fx_block(const fx_block_matrix *a, int32_t k) { return a->x + a->offset[k]; }
static inline int32_t fx_block_rows(const fx_block_matrix *a, int32_t i) { return a->row[i + 1] - a->row[i]; }
static inline int32_t fx_block_cols(const fx_block_matrix *a, int32_t k) {
  return a->col[a->index[k] + 1] - a->col[a->index[k]];
}

/* The block at (i, j), NULL where it is zero. */
double *fx_block_at(const fx_block_matrix *a, int32_t i, int32_t j);

/* Cuts a scalar matrix, or its transpose, along the given partitions; blocks without a nonzero are left out. Partitions
 * are kept by reference. */
frix_status fx_block_from_sparse(fx_arena *arena, const fx_sparse *s, bool transpose, int32_t row_blocks,
                                 const int32_t *row, int32_t col_blocks, const int32_t *col, fx_block_matrix *out);

/* Allocates start/index/offset/x for a pattern given row by row; values are zero. start and index are copied. */
frix_status fx_block_from_pattern(fx_arena *arena, int32_t row_blocks, const int32_t *row, int32_t col_blocks,
                                  const int32_t *col, const int32_t *start, const int32_t *index, fx_block_matrix *out);

/* The rows in `rows` and the columns with new_col[j] >= 0, renumbered; every block of a kept row must keep its column.
 */
frix_status fx_block_extract(fx_arena *arena, const fx_block_matrix *a, int32_t row_count, const int32_t *rows,
                             const int32_t *row, int32_t col_count, const int32_t *new_col, const int32_t *col,
                             fx_block_matrix *out);

/* y += A x */
void fx_block_multiply_add(const fx_block_matrix *a, const double *x, double *y);
/* y += A' x */
void fx_block_transpose_multiply_add(const fx_block_matrix *a, const double *x, double *y);
/* The part of block rows first .. end - 1 in these. */
void fx_block_multiply_add_rows(const fx_block_matrix *a, int32_t first, int32_t end, const double *x, double *y);
void fx_block_transpose_multiply_add_rows(const fx_block_matrix *a, int32_t first, int32_t end, const double *x,
                                          double *y);
/* The same for block columns first .. end - 1 alone: in the order of all of them, so that the sums have the same bits.
 */
void fx_block_transpose_multiply_add_cols(const fx_block_matrix *a, int32_t first, int32_t end, const double *x,
                                          double *y);

/* For every block column the block rows that hold it: start (col_blocks + 1) and list. */
frix_status fx_block_columns(fx_arena *arena, const fx_block_matrix *a, int32_t **start, int32_t **list);

#endif
