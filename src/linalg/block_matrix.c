/* Block-sparse matrices. */
#include "linalg/block_matrix.h"

#include "base/sort.h"

#include <string.h>

double *fx_block_at(const fx_block_matrix *a, int32_t i, int32_t j) {
  int32_t low = a->start[i], high = a->start[i + 1];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (a->index[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < a->start[i + 1] && a->index[low] == j ? fx_block(a, low) : NULL;
}

frix_status fx_block_from_pattern(fx_arena *arena, int32_t row_blocks, const int32_t *row, int32_t col_blocks,
                                  const int32_t *col, const int32_t *start, const int32_t *index,
                                  fx_block_matrix *out) {
  int32_t count = start[row_blocks];
  *out = (fx_block_matrix){.row_blocks = row_blocks, .col_blocks = col_blocks, .row = row, .col = col};
  out->start = FX_TAKE(arena, int32_t, row_blocks + 1);
  out->index = FX_TAKE(arena, int32_t, count);
  out->offset = FX_TAKE(arena, size_t, (size_t)count + 1);
  if (!out->start || !out->index || !out->offset) return FRIX_ERROR_MEMORY;
  memcpy(out->start, start, ((size_t)row_blocks + 1) * sizeof *start);
  memcpy(out->index, index, (size_t)count * sizeof *index);
  for (int32_t i = 0; i < row_blocks; i++)
    for (int32_t k = start[i]; k < start[i + 1]; k++)
      out->offset[k + 1] = out->offset[k] + (size_t)fx_block_rows(out, i) * (size_t)fx_block_cols(out, k);
  out->x = FX_TAKE(arena, double, out->offset[count]);
  return out->x ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* Which block of the partition each scalar belongs to. */
static int32_t *owners(fx_arena *arena, int32_t blocks, const int32_t *first) {
  int32_t *owner = FX_TAKE(arena, int32_t, first[blocks]);
  if (!owner) return NULL;
  for (int32_t b = 0; b < blocks; b++)
    for (int32_t k = first[b]; k < first[b + 1]; k++) owner[k] = b;
  return owner;
}

/* Visits every (block row, block column) pair that holds a nonzero once: counts them, or lists them where index is
 * given. */
static void mark_pattern(const fx_sparse *s, bool transpose, const int32_t *row_owner, const int32_t *col_owner,
                         int32_t outer_blocks, const int32_t *outer, int32_t *seen, int32_t *count, int32_t *index) {
  /* Outer blocks follow the stored columns of s, so each inner block is met within one outer block at a time. */
  for (int32_t b = 0; b < outer_blocks; b++) {
    for (int32_t c = outer[b]; c < outer[b + 1]; c++) {
      for (int32_t k = s->p[c]; k < s->p[c + 1]; k++) {
        if (s->x[k] == 0) continue;
        int32_t inner = transpose ? col_owner[s->i[k]] : row_owner[s->i[k]];
        if (seen[inner] == b + 1) continue;
        seen[inner] = b + 1;
        int32_t target_row = transpose ? b : inner, target_col = transpose ? inner : b;
        if (index)
          index[count[target_row]++] = target_col;
        else
          count[target_row + 1]++;
      }
    }
  }
}

frix_status fx_block_from_sparse(fx_arena *arena, const fx_sparse *s, bool transpose, int32_t row_blocks,
                                 const int32_t *row, int32_t col_blocks, const int32_t *col, fx_block_matrix *out) {
  int32_t outer_blocks = transpose ? row_blocks : col_blocks, inner_blocks = transpose ? col_blocks : row_blocks;
  const int32_t *outer = transpose ? row : col;
  int32_t *row_owner = owners(arena, row_blocks, row);
  int32_t *col_owner = owners(arena, col_blocks, col);
  int32_t *seen = FX_TAKE(arena, int32_t, inner_blocks);
  int32_t *start = FX_TAKE(arena, int32_t, row_blocks + 1);
  int32_t *fill = FX_TAKE(arena, int32_t, row_blocks + 1);
  if (!row_owner || !col_owner || !seen || !start || !fill) return FRIX_ERROR_MEMORY;

  /* Count, then list, the blocks that hold a nonzero. */
  mark_pattern(s, transpose, row_owner, col_owner, outer_blocks, outer, seen, start, NULL);
  for (int32_t i = 0; i < row_blocks; i++) start[i + 1] += start[i];
  int32_t *index = FX_TAKE(arena, int32_t, start[row_blocks]);
  if (!index) return FRIX_ERROR_MEMORY;
  memcpy(fill, start, ((size_t)row_blocks + 1) * sizeof *fill);
  memset(seen, 0, (size_t)inner_blocks * sizeof *seen);
  mark_pattern(s, transpose, row_owner, col_owner, outer_blocks, outer, seen, fill, index);
  for (int32_t i = 0; i < row_blocks; i++) fx_sort(index + start[i], (size_t)(start[i + 1] - start[i]));

  frix_status status = fx_block_from_pattern(arena, row_blocks, row, col_blocks, col, start, index, out);
  if (status != FRIX_OK) return status;

  /* Scatter the values. */
  for (int32_t c = 0; c < s->col_count; c++) {
    for (int32_t k = s->p[c]; k < s->p[c + 1]; k++) {
      if (s->x[k] == 0) continue;
      int32_t sr = transpose ? c : s->i[k], sc = transpose ? s->i[k] : c;
      int32_t i = row_owner[sr], j = col_owner[sc];
      double *block = fx_block_at(out, i, j);
      block[(sr - row[i]) * (col[j + 1] - col[j]) + (sc - col[j])] = s->x[k];
    }
  }
  return FRIX_OK;
}

frix_status fx_block_extract(fx_arena *arena, const fx_block_matrix *a, int32_t row_count, const int32_t *rows,
                             const int32_t *row, int32_t col_count, const int32_t *new_col, const int32_t *col,
                             fx_block_matrix *out) {
  int32_t *start = FX_TAKE(arena, int32_t, row_count + 1);
  if (!start) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < row_count; i++) start[i + 1] = start[i] + a->start[rows[i] + 1] - a->start[rows[i]];
  int32_t *index = FX_TAKE(arena, int32_t, start[row_count]);
  if (!index) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < row_count; i++)
    for (int32_t k = 0; k < start[i + 1] - start[i]; k++)
      index[start[i] + k] = new_col[a->index[a->start[rows[i]] + k]];
  frix_status status = fx_block_from_pattern(arena, row_count, row, col_count, col, start, index, out);
  if (status != FRIX_OK) return status;

  /* Renumbering keeps the order within a row, so values copy row by row. */
  for (int32_t i = 0; i < row_count; i++) {
    int32_t from = a->start[rows[i]], to = a->start[rows[i] + 1];
    memcpy(fx_block(out, start[i]), fx_block(a, from), (a->offset[to] - a->offset[from]) * sizeof(double));
  }
  return FRIX_OK;
}

/* y += B x and y += B' x for one block; inlined with constant sizes for contacts on rigid bodies and in W. */
static inline void multiply_sized(int32_t m, int32_t n, const double *block, const double *x, double *y) {
  for (int32_t r = 0; r < m; r++) {
    double sum = 0;
    for (int32_t c = 0; c < n; c++) sum += block[r * n + c] * x[c];
    y[r] += sum;
  }
}

static inline void transpose_sized(int32_t m, int32_t n, const double *block, const double *x, double *restrict y) {
  for (int32_t r = 0; r < m; r++)
    for (int32_t c = 0; c < n; c++) y[c] += block[r * n + c] * x[r];
}

void fx_block_multiply_add(const fx_block_matrix *a, const double *x, double *y) {
  for (int32_t i = 0; i < a->row_blocks; i++) {
    int32_t m = fx_block_rows(a, i);
    double *yi = y + a->row[i];
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
      const double *block = fx_block(a, k), *xj = x + a->col[a->index[k]];
      int32_t n = fx_block_cols(a, k);
      if (m == 3 && n == 3)
        multiply_sized(3, 3, block, xj, yi);
      else if (m == 3 && n == 6)
        multiply_sized(3, 6, block, xj, yi);
      else
        multiply_sized(m, n, block, xj, yi);
    }
  }
}

void fx_block_transpose_multiply_add(const fx_block_matrix *a, const double *x, double *y) {
  for (int32_t i = 0; i < a->row_blocks; i++) {
    int32_t m = fx_block_rows(a, i);
    const double *xi = x + a->row[i];
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
      const double *block = fx_block(a, k);
      double *yj = y + a->col[a->index[k]];
      int32_t n = fx_block_cols(a, k);
      if (m == 3 && n == 6)
        transpose_sized(3, 6, block, xi, yj);
      else
        transpose_sized(m, n, block, xi, yj);
    }
  }
}

frix_status fx_block_columns(fx_arena *arena, const fx_block_matrix *a, int32_t **start, int32_t **list) {
  int32_t count = a->start[a->row_blocks];
  int32_t *first = FX_TAKE(arena, int32_t, a->col_blocks + 2);
  int32_t *rows = FX_TAKE(arena, int32_t, count);
  if (!first || !rows) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++) first[a->index[k] + 2]++;
  for (int32_t j = 0; j < a->col_blocks; j++) first[j + 2] += first[j + 1];
  for (int32_t i = 0; i < a->row_blocks; i++)
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) rows[first[a->index[k] + 1]++] = i;
  *start = first;
  *list = rows;
  return FRIX_OK;
}
