/* Compressed-column matrices of scalars, in which problems store their input. */
#ifndef FX_LINALG_SPARSE_H
#define FX_LINALG_SPARSE_H

#include "base/context.h"

typedef struct fx_sparse {
  int32_t row_count, col_count;
  int32_t *p; /* col_count + 1 */
  int32_t *i; /* rows, ascending within a column, no duplicates */
  double *x;
} fx_sparse;

/* Entry k of a list: (row, col, value). Duplicates add, in the order of the list. */
typedef struct fx_triplets {
  int64_t count;
  const int32_t *row, *col;
  const double *x;
} fx_triplets;

frix_status fx_sparse_from_triplets(frix_context *context, int32_t row_count, int32_t col_count, fx_triplets entries,
                                    fx_sparse *out);
void fx_sparse_free(frix_context *context, fx_sparse *matrix);

#endif
