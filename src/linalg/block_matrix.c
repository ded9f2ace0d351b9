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

/* Takes everything but the values. */
static frix_status take_pattern(fx_arena *arena, int32_t row_blocks, const int32_t *row, int32_t col_blocks,
                                const int32_t *col, int32_t count, fx_block_matrix *out) {
  *out = (fx_block_matrix){.row_blocks = row_blocks, .col_blocks = col_blocks, .row = row, .col = col};
  out->start = FX_TAKE(arena, int32_t, row_blocks + 1);
  out->index = FX_TAKE_RAW(arena, int32_t, count);
  out->offset = FX_TAKE_RAW(arena, size_t, (size_t)count + 1);
  if (!out->start || !out->index || !out->offset) return FRIX_ERROR_MEMORY;
  out->offset[0] = 0;
  return FRIX_OK;
}

static void find_offsets(fx_block_matrix *a) {
  for (int32_t i = 0; i < a->row_blocks; i++)
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++)
      a->offset[k + 1] = a->offset[k] + (size_t)fx_block_rows(a, i) * (size_t)fx_block_cols(a, k);
}

frix_status fx_block_from_pattern(fx_arena *arena, int32_t row_blocks, const int32_t *row, int32_t col_blocks,
                                  const int32_t *col, const int32_t *start, const int32_t *index,
                                  fx_block_matrix *out) {
  int32_t count = start[row_blocks];
  if (take_pattern(arena, row_blocks, row, col_blocks, col, count, out) != FRIX_OK) return FRIX_ERROR_MEMORY;
  memcpy(out->start, start, ((size_t)row_blocks + 1) * sizeof *start);
  memcpy(out->index, index, (size_t)count * sizeof *index);
  find_offsets(out);
  out->x = FX_TAKE(arena, double, out->offset[count]);
  return out->x ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* Which block of the partition each scalar belongs to. */
static int32_t *owners(fx_arena *arena, int32_t blocks, const int32_t *first) {
  int32_t *owner = FX_TAKE_RAW(arena, int32_t, first[blocks]);
  if (!owner) return NULL;
  for (int32_t b = 0; b < blocks; b++)
    for (int32_t k = first[b]; k < first[b + 1]; k++) owner[k] = b;
  return owner;
}

/* Block columns of block row b of the transpose, each once, to `list` as long as there is room; returns how many there
 * are. seen[j] is b + 1 where block column j was met; rows of a column are sorted, so that most entries repeat the
 * block before them. */
static int32_t blocks_of(const fx_sparse *s, int32_t b, const int32_t *row, const int32_t *owner, int32_t *seen,
                         int32_t *list, int32_t room) {
  int32_t count = 0, last = -1;
  for (int32_t k = s->p[row[b]]; k < s->p[row[b + 1]]; k++) {
    int32_t j = owner[s->i[k]];
    if (j == last || s->x[k] == 0) continue;
    last = j;
    if (seen[j] == b + 1) continue;
    seen[j] = b + 1;
    if (count < room) list[count] = j;
    count++;
  }
  return count;
}

/* Values of block row b of the transpose; where[j]: its block in block column j. */
static void fill_row(const fx_sparse *s, int32_t b, const int32_t *owner, int32_t *where, fx_block_matrix *out) {
  const int32_t *row = out->row, *col = out->col;
  for (int32_t k = out->start[b]; k < out->start[b + 1]; k++) where[out->index[k]] = k;
  memset(out->x + out->offset[out->start[b]], 0,
         (out->offset[out->start[b + 1]] - out->offset[out->start[b]]) * sizeof *out->x);
  for (int32_t c = row[b]; c < row[b + 1]; c++) {
    double *to = NULL; /* where scalar row 0 would go */
    for (int32_t k = s->p[c], last = -1; k < s->p[c + 1]; k++) {
      if (s->x[k] == 0) continue;
      int32_t j = owner[s->i[k]];
      if (j != last) to = fx_block(out, where[j]) + (c - row[b]) * (col[j + 1] - col[j]);
      last = j;
      to[s->i[k] - col[j]] = s->x[k];
    }
  }
}

/* ---- rows of rigid bodies: one or two blocks of six columns ---- */

typedef double pair __attribute__((vector_size(16), aligned(8)));
typedef int64_t pair_bits __attribute__((vector_size(16)));

/* A row of six values, of which the last may be zero; a negative zero becomes one. seen gathers their bits. */
static inline void put_two(pair x, double *to, pair_bits *seen) {
  x += 0.0;
  *(pair *)to = x;
  *seen |= (pair_bits)x;
}

static inline void put_six(const double *from, double *to, pair_bits *seen) {
  for (int k = 0; k < 6; k += 2) put_two(*(const pair *)(from + k), to + k, seen);
}

static inline void put_three(const double *from, double *to, pair_bits *seen) {
  put_two(*(const pair *)from, to, seen);
  put_two((pair){from[2], 0}, to + 2, seen);
  put_two((pair){0, 0}, to + 4, seen);
}

/* Column c, whatever it holds of the two bodies; false where it holds more. */
static bool put_any(const fx_sparse *s, int32_t c, const int32_t base[2], double *const to[2], pair_bits seen[2]) {
  for (int side = 0; side < 2; side++) memset(to[side], 0, 6 * sizeof(double));
  for (int32_t k = s->p[c]; k < s->p[c + 1]; k++) {
    int side = s->i[k] >= base[1];
    int32_t place = s->i[k] - base[side];
    if (s->x[k] == 0) continue;
    if (place < 0 || place >= 6) return false;
    to[side][place] = s->x[k];
    seen[side] |= 1;
  }
  return true;
}

static inline bool is_run(const int32_t *i, int32_t from, int32_t count) {
  return i[0] == from && i[count - 1] == from + count - 1; /* rows ascend */
}

/* Lists and fills block row b where its blocks are those of one or two rigid bodies, as its first column shows, with
 * all of their columns or those of the translation. Returns the number of blocks, 0 where they are others. */
static int32_t fill_bodies(const fx_sparse *s, int32_t b, const int32_t *owner, fx_block_matrix *out) {
  const int32_t *col = out->col;
  int32_t first = out->row[b], rows = out->row[b + 1] - first, at = out->start[b];
  if (rows == 0 || s->p[first] == s->p[first + 1]) return 0;
  int32_t low = owner[s->i[s->p[first]]], high = owner[s->i[s->p[first + 1] - 1]], count = low == high ? 1 : 2;
  if (col[low + 1] - col[low] != 6 || col[high + 1] - col[high] != 6) return 0;
  int32_t base[2] = {col[low], count == 2 ? col[high] : INT32_MAX};
  double *block = out->x + out->offset[at], unused[6] = {0};
  pair_bits seen[2] = {{0, 0}, {0, 0}};
  for (int32_t r = 0; r < rows; r++) {
    int32_t k = s->p[first + r], length = s->p[first + r + 1] - k;
    double *to[2] = {block + 6 * r, count == 2 ? block + 6 * (rows + r) : unused};
    if (length == 6 * count && is_run(s->i + k, base[0], 6) && (count == 1 || is_run(s->i + k + 6, base[1], 6))) {
      put_six(s->x + k, to[0], &seen[0]);
      if (count == 2) put_six(s->x + k + 6, to[1], &seen[1]);
    } else if (length == 3 * count && is_run(s->i + k, base[0], 3) &&
               (count == 1 || is_run(s->i + k + 3, base[1], 3))) {
      put_three(s->x + k, to[0], &seen[0]);
      if (count == 2) put_three(s->x + k + 3, to[1], &seen[1]);
    } else if (!put_any(s, first + r, base, to, seen)) {
      return 0;
    }
  }
  for (int side = 0; side < count; side++)
    if (!(seen[side][0] | seen[side][1])) return 0;
  out->index[at] = low;
  if (count == 2) out->index[at + 1] = high;
  for (int32_t k = at; k < at + count; k++) out->offset[k + 1] = out->offset[k] + (size_t)(6 * rows);
  return count;
}

/* ---- any rows ---- */

/* Lists and fills one block row after the other, as long as there is room; returns the number of blocks. */
static int32_t fill_rows(const fx_sparse *s, const int32_t *owner, int32_t *seen, int32_t *where, int32_t room,
                         size_t value_room, fx_block_matrix *out) {
  memset(seen, 0, (size_t)out->col_blocks * sizeof *seen);
  for (int32_t b = 0; b < out->row_blocks; b++) {
    int32_t at = out->start[b], left = at < room ? room - at : 0, count = 0;
    if (left >= 2 && out->offset[at] + 12 * (size_t)fx_block_rows(out, b) <= value_room &&
        (count = fill_bodies(s, b, owner, out))) {
      out->start[b + 1] = at + count;
      continue;
    }
    count = blocks_of(s, b, out->row, owner, seen, out->index + (left ? at : 0), left);
    out->start[b + 1] = at + count;
    if (count > left) continue;
    if (count > 1) fx_sort(out->index + at, (size_t)count);
    for (int32_t k = at; k < at + count; k++)
      out->offset[k + 1] = out->offset[k] + (size_t)fx_block_rows(out, b) * (size_t)fx_block_cols(out, k);
    if (out->offset[at + count] <= value_room) fill_row(s, b, owner, where, out);
  }
  return out->start[out->row_blocks];
}

/* The transpose of a scalar matrix: block row b holds the columns row[b] .. of s, so that each block row is finished
 * before the next begins. Room for two blocks per row of the width of the first is enough for contacts of equal bodies;
 * where it is not, all is done again. */
static frix_status from_transpose(fx_arena *arena, const fx_sparse *s, int32_t row_blocks, const int32_t *row,
                                  int32_t col_blocks, const int32_t *col, fx_block_matrix *out) {
  int32_t *owner = owners(arena, col_blocks, col), *seen = FX_TAKE_RAW(arena, int32_t, col_blocks);
  int32_t *where = FX_TAKE_RAW(arena, int32_t, col_blocks);
  int32_t room = row_blocks < INT32_MAX / 2 ? 2 * row_blocks : row_blocks;
  size_t width = col_blocks ? (size_t)(col[1] - col[0]) : 0;
  size_t value_room = width > 6 ? 0 : 2 * width * (size_t)row[row_blocks];
  if (!owner || !seen || !where) return FRIX_ERROR_MEMORY;
  if (take_pattern(arena, row_blocks, row, col_blocks, col, room, out) != FRIX_OK) return FRIX_ERROR_MEMORY;
  if (!(out->x = FX_TAKE_RAW(arena, double, value_room))) return FRIX_ERROR_MEMORY;
  int32_t count = fill_rows(s, owner, seen, where, room, value_room, out);
  if (count <= room && out->offset[count] <= value_room) return FRIX_OK;

  if (count > room) {
    if (take_pattern(arena, row_blocks, row, col_blocks, col, count, out) != FRIX_OK) return FRIX_ERROR_MEMORY;
    fill_rows(s, owner, seen, where, count, 0, out);
  }
  value_room = out->offset[count];
  if (!(out->x = FX_TAKE_RAW(arena, double, value_room))) return FRIX_ERROR_MEMORY;
  for (int32_t b = 0; b < row_blocks; b++) fill_row(s, b, owner, where, out);
  return FRIX_OK;
}

/* Where the next block of each block row goes while blocks are listed: its number, and its values. */
typedef struct cursor {
  int32_t block, seen; /* seen: the last block column + 1 that has a block here */
  size_t value;
  double *at; /* that block */
} cursor;

/* How many blocks each block row has, and values: those that hold a nonzero. Block columns follow the stored columns,
 * so that each block row is met within one block column at a time. */
static void count_blocks(const fx_sparse *s, const int32_t *owner, int32_t col_blocks, const int32_t *row,
                         const int32_t *col, cursor *to) {
  for (int32_t b = 0; b < col_blocks; b++)
    for (int32_t k = s->p[col[b]], last = -1; k < s->p[col[b + 1]]; k++) {
      int32_t i = owner[s->i[k]];
      if (i == last || s->x[k] == 0) continue;
      last = i;
      if (to[i].seen == b + 1) continue;
      to[i].seen = b + 1;
      to[i].block++;
      to[i].value += (size_t)(row[i + 1] - row[i]) * (size_t)(col[b + 1] - col[b]);
    }
}

/* The next block of its block row, in block column b. */
static void begin_block(fx_block_matrix *out, int32_t i, int32_t b, cursor *to) {
  out->index[to->block] = b;
  out->offset[to->block] = to->value;
  to->at = out->x + to->value;
  to->seen = b + 1;
  to->block++;
  to->value += (size_t)fx_block_rows(out, i) * (size_t)(out->col[b + 1] - out->col[b]);
}

/* Lists the blocks and fills them, one block column after the other. */
static void fill_blocks(const fx_sparse *s, const int32_t *owner, cursor *to, fx_block_matrix *out) {
  const int32_t *row = out->row, *col = out->col;
  for (int32_t b = 0; b < out->col_blocks; b++)
    for (int32_t c = col[b]; c < col[b + 1]; c++)
      for (int32_t k = s->p[c]; k < s->p[c + 1]; k++) {
        int32_t i = owner[s->i[k]];
        if (s->x[k] == 0) continue;
        if (to[i].seen != b + 1) begin_block(out, i, b, &to[i]);
        to[i].at[(s->i[k] - row[i]) * (col[b + 1] - col[b]) + (c - col[b])] = s->x[k];
      }
}

frix_status fx_block_from_sparse(fx_arena *arena, const fx_sparse *s, bool transpose, int32_t row_blocks,
                                 const int32_t *row, int32_t col_blocks, const int32_t *col, fx_block_matrix *out) {
  if (transpose) return from_transpose(arena, s, row_blocks, row, col_blocks, col, out);
  int32_t *owner = owners(arena, row_blocks, row), count = 0;
  cursor *to = FX_TAKE(arena, cursor, row_blocks);
  if (!owner || !to) return FRIX_ERROR_MEMORY;
  count_blocks(s, owner, col_blocks, row, col, to);
  for (int32_t i = 0; i < row_blocks; i++) count += to[i].block;
  if (take_pattern(arena, row_blocks, row, col_blocks, col, count, out) != FRIX_OK) return FRIX_ERROR_MEMORY;

  /* Counts become places. */
  size_t values = 0;
  count = 0;
  for (int32_t i = 0; i < row_blocks; i++) {
    cursor first = {.block = count, .value = values};
    count += to[i].block;
    values += to[i].value;
    out->start[i + 1] = count;
    to[i] = first;
  }
  out->offset[count] = values;
  if (!(out->x = FX_TAKE(arena, double, values))) return FRIX_ERROR_MEMORY;
  fill_blocks(s, owner, to, out);
  return FRIX_OK;
}

frix_status fx_block_extract(fx_arena *arena, const fx_block_matrix *a, int32_t row_count, const int32_t *rows,
                             const int32_t *row, int32_t col_count, const int32_t *new_col, const int32_t *col,
                             fx_block_matrix *out) {
  int32_t count = 0;
  for (int32_t i = 0; i < row_count; i++) count += a->start[rows[i] + 1] - a->start[rows[i]];
  if (take_pattern(arena, row_count, row, col_count, col, count, out) != FRIX_OK) return FRIX_ERROR_MEMORY;
  count = 0;
  for (int32_t i = 0; i < row_count; i++) {
    for (int32_t k = a->start[rows[i]]; k < a->start[rows[i] + 1]; k++) out->index[count++] = new_col[a->index[k]];
    out->start[i + 1] = count;
  }
  find_offsets(out);
  if (!(out->x = FX_TAKE_RAW(arena, double, out->offset[count]))) return FRIX_ERROR_MEMORY;

  /* Renumbering keeps the order within a row, so values copy row by row. */
  for (int32_t i = 0; i < row_count; i++) {
    int32_t from = a->start[rows[i]], to = a->start[rows[i] + 1];
    memcpy(fx_block(out, out->start[i]), fx_block(a, from), (a->offset[to] - a->offset[from]) * sizeof(double));
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

static inline bool is_zero(int32_t n, const double *x) {
  for (int32_t k = 0; k < n; k++)
    if (x[k] != 0) return false;
  return true;
}

static inline void transpose_sized(int32_t m, int32_t n, const double *block, const double *x, double *restrict y) {
  for (int32_t r = 0; r < m; r++)
    for (int32_t c = 0; c < n; c++) y[c] += block[r * n + c] * x[r];
}

/* A product passes over its blocks once: some blocks of rigid bodies ahead, so that they are there when their turn
 * comes.
 */
static inline void fetch_ahead(const double *block) {
  enum { BLOCK = 18, AHEAD = 24 * BLOCK, LINE = 8 };
  for (int e = 0; e < BLOCK; e += LINE) __builtin_prefetch(block + AHEAD + e);
}

void fx_block_multiply_add_rows(const fx_block_matrix *a, int32_t first, int32_t end, const double *x, double *y) {
  for (int32_t i = first; i < end; i++) {
    int32_t m = fx_block_rows(a, i);
    double *yi = y + a->row[i];
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
      const double *block = fx_block(a, k), *xj = x + a->col[a->index[k]];
      fetch_ahead(block);
      int32_t n = fx_block_cols(a, k);
      if (m == 3 && n == 3)
        multiply_sized(3, 3, block, xj, yi);
      else if (m == 3 && n == 6)
        multiply_sized(3, 6, block, xj, yi);
      else if (m == 2 && n == 3)
        multiply_sized(2, 3, block, xj, yi);
      else if (m == 2 && n == 2)
        multiply_sized(2, 2, block, xj, yi);
      else
        multiply_sized(m, n, block, xj, yi);
    }
  }
}

/* The same of a rigid body's three rows: sums stay in registers. */
static inline void transpose_rigid(const double *block, const double *x, double *y) {
  pair sum[3];
  for (int c = 0; c < 3; c++) sum[c] = *(const pair *)(y + 2 * c);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) sum[c] += *(const pair *)(block + 6 * r + 2 * c) * x[r];
  for (int c = 0; c < 3; c++) *(pair *)(y + 2 * c) = sum[c];
}

static inline void transpose_block(const fx_block_matrix *a, int32_t k, int32_t m, const double *x, double *y) {
  const double *block = fx_block(a, k);
  fetch_ahead(block);
  double *yj = y + a->col[a->index[k]];
  int32_t n = fx_block_cols(a, k);
  if (m == 3 && n == 6)
    transpose_rigid(block, x, yj);
  else if (m == 2 && n == 3)
    transpose_sized(2, 3, block, x, yj);
  else
    transpose_sized(m, n, block, x, yj);
}

void fx_block_transpose_multiply_add_rows(const fx_block_matrix *a, int32_t first, int32_t end, const double *x,
                                          double *y) {
  for (int32_t i = first; i < end; i++) {
    const double *xi = x + a->row[i];
    if (is_zero(fx_block_rows(a, i), xi)) continue; /* about half of the contacts of a heap in motion are open */
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) transpose_block(a, k, fx_block_rows(a, i), xi, y);
  }
}

void fx_block_transpose_multiply_add_cols(const fx_block_matrix *a, int32_t first, int32_t end, const double *x,
                                          double *y) {
  for (int32_t i = 0; i < a->row_blocks; i++) {
    const double *xi = x + a->row[i];
    if (is_zero(fx_block_rows(a, i), xi)) continue;
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++)
      if (a->index[k] >= first && a->index[k] < end) transpose_block(a, k, fx_block_rows(a, i), xi, y);
  }
}

void fx_block_multiply_add(const fx_block_matrix *a, const double *x, double *y) {
  fx_block_multiply_add_rows(a, 0, a->row_blocks, x, y);
}

void fx_block_transpose_multiply_add(const fx_block_matrix *a, const double *x, double *y) {
  fx_block_transpose_multiply_add_rows(a, 0, a->row_blocks, x, y);
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
