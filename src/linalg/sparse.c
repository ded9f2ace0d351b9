/* Compressed-column matrices: built from triplets by two stable counting sorts (rows, then columns). */
#include "linalg/sparse.h"

/* Orders `order` by key[order[k]] in 0..bound-1, stably; start has bound + 1 entries. */
static void counting_sort(int64_t count, const int32_t *key, int32_t bound, int64_t *start, const int32_t *order,
                          int32_t *sorted) {
  for (int32_t b = 0; b <= bound; b++) start[b] = 0;
  for (int64_t k = 0; k < count; k++) start[key[k] + 1]++;
  for (int32_t b = 0; b < bound; b++) start[b + 1] += start[b];
  for (int64_t k = 0; k < count; k++) {
    int32_t entry = order ? order[k] : (int32_t)k;
    sorted[start[key[entry]]++] = entry;
  }
}

frix_status fx_sparse_from_triplets(frix_context *context, int32_t row_count, int32_t col_count, fx_triplets entries,
                                    fx_sparse *out) {
  *out = (fx_sparse){.row_count = row_count, .col_count = col_count};
  if (entries.count > INT32_MAX)
    return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "a matrix with more than %d entries", INT32_MAX);
  frix_status status = FRIX_ERROR_MEMORY;
  int32_t bound = row_count > col_count ? row_count : col_count;
  int64_t *start = FX_NEW(context, int64_t, (int64_t)bound + 1);
  int32_t *by_row = FX_NEW(context, int32_t, entries.count);
  int32_t *by_col = FX_NEW(context, int32_t, entries.count);
  out->p = FX_NEW(context, int32_t, (int64_t)col_count + 1);
  out->i = FX_NEW(context, int32_t, entries.count);
  out->x = FX_NEW(context, double, entries.count);
  if (!start || !by_row || !by_col || !out->p || !out->i || !out->x) goto cleanup;

  counting_sort(entries.count, entries.row, row_count, start, NULL, by_row);
  counting_sort(entries.count, entries.col, col_count, start, by_row, by_col);

  /* Equal neighbours are duplicates: add them up. */
  int32_t used = 0, col = 0;
  for (int64_t k = 0; k < entries.count; k++) {
    int32_t e = by_col[k];
    while (col < entries.col[e]) out->p[++col] = used;
    if (used > out->p[col] && out->i[used - 1] == entries.row[e]) {
      out->x[used - 1] += entries.x[e];
    } else {
      out->i[used] = entries.row[e];
      out->x[used++] = entries.x[e];
    }
  }
  while (col < col_count) out->p[++col] = used;
  status = FRIX_OK;

cleanup:
  fx_free(context, start);
  fx_free(context, by_row);
  fx_free(context, by_col);
  if (status != FRIX_OK) fx_sparse_free(context, out);
  return status;
}

void fx_sparse_free(frix_context *context, fx_sparse *matrix) {
  fx_free(context, matrix->p);
  fx_free(context, matrix->i);
  fx_free(context, matrix->x);
  *matrix = (fx_sparse){0};
}
