/* Left-looking factorisation by panels. Panel J first takes its part of A, then what earlier panels K owe it,
 *
 *   L_J -= L_K (rows from J on)  U_K (columns of J)         U_J' -= U_K' (rows after J)  L_K' (columns of J)
 *
 * then is factored by chunks c of at most 8 columns: Cholesky, L_ic := A_ic T' with T = L_cc^-1, and U = L'; or LU with
 * row pivots within the chunk, L_ic := A_ic D_c^-1. T or D_c^-1 stays in place of the chunk. U is kept as its
 * transpose, so that both halves are the same loop.
 *
 * Reference: E. Ng, B. Peyton, Block sparse Cholesky algorithms on advanced uniprocessor computers, 1993. */
#include "linalg/block_lu_parts.h"
#include "linalg/dense.h"
#include "linalg/product.h"

#include <math.h>
#include <string.h>

enum { WORTH_GATHERING = 30 }; /* columns of a panel from which full strips pay even if their target is scattered */

/* ---- A's part ---- */

/* Rows of every step within panel J. */
static void place_steps(fx_block_lu *lu, int32_t J) {
  const fx_symbolic *o = &lu->order;
  for (int32_t k = o->first[J]; k < o->first[J + 1]; k++) lu->position[k] = lu->first[k] - lu->first[o->first[J]];
  for (size_t e = o->start[J]; e < o->start[J + 1]; e++) lu->position[o->list[e]] = lu->list_row[e];
}

/* Blocks of row j of A, transposed, to the rows of `panel`, whose first is row `base` of the panel J; only steps from
 * `from` on. */
static void load_row(const fx_block_lu *lu, const fx_block_matrix *a, int32_t j, int32_t column, int32_t from,
                     int32_t base, double *panel, size_t width) {
  const fx_symbolic *o = &lu->order;
  int32_t rows = fx_block_rows(a, j);
  for (int32_t k = a->start[j]; k < a->start[j + 1]; k++) {
    int32_t i = a->index[k], step = o->step[lu->group_of[i]], cols = fx_block_cols(a, k);
    if (step < from) continue;
    double *to = panel + (size_t)(lu->position[step] + lu->place[i] - base) * width + column;
    const double *block = fx_block(a, k);
    for (int32_t c = 0; c < cols; c++)
      for (int32_t r = 0; r < rows; r++) to[(size_t)c * width + (size_t)r] = block[r * cols + c];
  }
}

/* Blocks of column j of A as they are. */
static void load_column(const fx_block_lu *lu, const fx_block_matrix *a, int32_t j, int32_t column, int32_t from,
                        double *panel, size_t width) {
  const fx_symbolic *o = &lu->order;
  for (int32_t e = lu->above_start[j]; e < lu->above_start[j + 1]; e++) {
    int32_t i = lu->above_row[e], step = o->step[lu->group_of[i]], rows = fx_block_rows(a, i);
    int32_t cols = fx_block_cols(a, lu->above[e]);
    if (step < from) continue;
    double *to = panel + (size_t)(lu->position[step] + lu->place[i]) * width + column;
    const double *block = fx_block(a, lu->above[e]);
    for (int32_t r = 0; r < rows; r++) memcpy(to + (size_t)r * width, block + r * cols, (size_t)cols * sizeof *to);
  }
}

static void load_panel(fx_block_lu *lu, const fx_block_matrix *a, double shift, int32_t J) {
  const fx_symbolic *o = &lu->order;
  int32_t width = fx_panel_width(lu, J), first = o->first[J], last = o->first[J + 1];
  double *L = lu->L + lu->lower[J], *U = lu->U + lu->upper[J];
  memset(L, 0, (lu->lower[J + 1] - lu->lower[J]) * sizeof *L);
  if (!lu->symmetric) memset(U, 0, (lu->upper[J + 1] - lu->upper[J]) * sizeof *U);
  for (int32_t k = first; k < last; k++)
    for (int32_t e = lu->member_start[o->node[k]]; e < lu->member_start[o->node[k] + 1]; e++) {
      int32_t j = lu->member[e], column = lu->position[k] + lu->place[j];
      if (lu->symmetric) {
        load_row(lu, a, j, column, first, 0, L, (size_t)width);
      } else {
        load_column(lu, a, j, column, first, L, (size_t)width);
        load_row(lu, a, j, column, last, width, U, (size_t)width);
      }
    }
  for (int32_t k = 0; k < width; k++) L[k * (width + 1)] += shift;
}

/* ---- what earlier panels owe ---- */

/* Rows of b as columns of a strip. */
static void pack_rows(int32_t width, int32_t k, const double *b, size_t ldb, double *to) {
  for (int32_t c = 0; c < width; c++)
    for (int32_t e = 0; e < k; e++) to[e * width + c] = b[(size_t)c * ldb + (size_t)e];
}

/* Strips for the first `own` rows of B, which go to the columns lu->column; returns their number. Columns that are not
 * neighbours share a strip only where that pays. */
static int32_t pack_strips(fx_block_lu *lu, int32_t own, int32_t n, const double *B) {
  int32_t count = 0;
  size_t at = 0;
  for (int32_t row = 0, width; row < own; row += width) {
    int32_t run = 1, left = own - row;
    while (run < left && lu->column[row + run] == lu->column[row] + run) run++;
    width = fx_strip_width(run < FX_STRIP && n >= WORTH_GATHERING ? left : run);
    lu->strip[count++] = (fx_strip){row, width, width > run, at};
    pack_rows(width, n, B + (size_t)row * (size_t)n, (size_t)n, lu->packed + at);
    at += (size_t)(width * n);
  }
  return count;
}

/* A strip whose columns lie apart goes by way of a tile. */
static void subtract_apart(const fx_block_lu *lu, const fx_strip *s, int32_t rows, int32_t n, const double *A,
                           const size_t *to, double *C) {
  const int32_t *column = lu->column + s->row;
  memset(lu->tile, 0, (size_t)(rows * FX_STRIP) * sizeof *lu->tile);
  fx_subtract_strip(rows, s->width, n, A, (size_t)n, lu->packed + s->at, lu->tile, lu->flat);
  for (int32_t r = 0; r < rows; r++)
    for (int32_t c = 0; c < s->width; c++) C[to[r] + (size_t)column[c]] += lu->tile[r * FX_STRIP + c];
}

/* C -= A B over `rows` rows; below_diagonal: a strip needs only the rows from its own on. */
static void subtract_strips(const fx_block_lu *lu, int32_t count, int32_t rows, int32_t n, const double *A,
                            const size_t *to, double *C, bool below_diagonal) {
  for (int32_t block = 0; block < rows; block += FX_ROWS_AT_ONCE) {
    int32_t end = block + FX_ROWS_AT_ONCE < rows ? block + FX_ROWS_AT_ONCE : rows;
    for (int32_t k = 0; k < count; k++) {
      const fx_strip *s = &lu->strip[k];
      int32_t from = below_diagonal && s->row > block ? s->row : block;
      if (from >= end) break;
      const double *rows_of_A = A + (size_t)from * (size_t)n;
      if (s->apart)
        subtract_apart(lu, s, end - from, n, rows_of_A, to + from, C);
      else
        fx_subtract_strip(end - from, s->width, n, rows_of_A, (size_t)n, lu->packed + s->at, C + lu->column[s->row],
                          to + from);
    }
  }
}

/* Panel K's part in panel J: the entries p .. q - 1 of its list are steps of J. */
static void update_panel(fx_block_lu *lu, int32_t J, int32_t K, size_t p, size_t q) {
  const fx_symbolic *o = &lu->order;
  int32_t n = fx_panel_width(lu, K), rows = 0, own = 0;
  size_t width = (size_t)fx_panel_width(lu, J);
  for (size_t e = p; e < o->start[K + 1]; e++) {
    int32_t size = lu->first[o->list[e] + 1] - lu->first[o->list[e]], row = lu->position[o->list[e]];
    for (int32_t r = 0; r < size; r++) lu->to[rows++] = (size_t)(row + r) * width;
    for (int32_t r = 0; r < size && e < q; r++) lu->column[own++] = row + r;
  }
  const double *L_K = lu->L + lu->lower[K] + (size_t)lu->list_row[p] * (size_t)n;
  const double *U_K = lu->U + lu->upper[K] + (size_t)(lu->list_row[p] - n) * (size_t)n;
  int32_t count = pack_strips(lu, own, n, lu->symmetric ? L_K : U_K);
  subtract_strips(lu, count, rows, n, L_K, lu->to, lu->L + lu->lower[J], lu->symmetric);
  if (lu->symmetric || rows == own) return;
  count = pack_strips(lu, own, n, L_K);
  for (int32_t r = own; r < rows; r++) lu->to[r] -= width * width;
  subtract_strips(lu, count, rows - own, n, U_K + (size_t)own * (size_t)n, lu->to + own, lu->U + lu->upper[J], false);
}

/* Panel K waits for the panel that holds the entry at its cursor. */
static void wait(fx_block_lu *lu, int32_t K) {
  const fx_symbolic *o = &lu->order;
  if (lu->cursor[K] == o->start[K + 1] || fx_panel_width(lu, K) == 0) return;
  int32_t J = o->panel_of[o->list[lu->cursor[K]]];
  lu->next[K] = lu->waiting[J];
  lu->waiting[J] = K;
}

static void collect_updates(fx_block_lu *lu, int32_t J) {
  const fx_symbolic *o = &lu->order;
  for (int32_t K = lu->waiting[J], next; K >= 0; K = next) {
    size_t p = lu->cursor[K], q = p;
    next = lu->next[K];
    while (q < o->start[K + 1] && o->list[q] < o->first[J + 1]) q++;
    if (fx_panel_width(lu, J) > 0) update_panel(lu, J, K, p, q);
    lu->cursor[K] = q;
    wait(lu, K);
  }
}

/* ---- one panel ---- */

/* Rows of a chunk times the packed b: row := row b. */
static void multiply_rows(int32_t rows, int32_t width, const double *b, double *c, const size_t *even) {
  double old[12 * FX_STRIP];
  for (int32_t at = 0; at < rows; at += 12) {
    int32_t count = rows - at < 12 ? rows - at : 12;
    for (int32_t r = 0; r < count; r++) {
      double *row = c + even[at + r];
      for (int32_t e = 0; e < width; e++) old[r * width + e] = -row[e];
      memset(row, 0, (size_t)width * sizeof *row);
    }
    fx_subtract_strip(count, width, width, old, (size_t)width, b, c, even + at);
  }
}

/* A chunk's Cholesky factor, then its inverse T in the same place, zero above; transposed to b as well. */
static bool invert_definite(int32_t n, double *chunk, size_t ld, double *b) {
  double l[FX_STRIP][FX_STRIP];
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = j; i < n; i++) {
      double sum = chunk[(size_t)i * ld + (size_t)j];
      for (int32_t k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
      if (i == j && !(sum > 0 && sum < INFINITY)) return false;
      l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
    }
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = 0; i < n; i++) {
      double sum = i == j;
      for (int32_t k = j; k < i; k++) sum -= l[i][k] * b[j * n + k];
      b[j * n + i] = chunk[(size_t)i * ld + (size_t)j] = i < j ? 0 : sum / l[i][i];
    }
  return true;
}

/* `rows` rows, chunk by chunk: lose the part of the chunks before, then times the inverse. The strips of all
 * chunks are kept, so that the rows below the diagonal block can be finished a cacheful at a time. */
static void finish_rows(const fx_block_lu *lu, int32_t n, int32_t rows, double *row) {
  for (int32_t c = 0, w; c < n; c += w) {
    w = fx_strip_width(n - c);
    if (c > 0) fx_subtract_strip(rows, w, c, row, (size_t)n, lu->packed + (size_t)c * (size_t)n, row + c, lu->even);
    multiply_rows(rows, w, lu->chunk + c * FX_STRIP, row + c, lu->even);
  }
}

static void finish_below(const fx_block_lu *lu, int32_t n, int32_t rows, double *below) {
  for (int32_t r = 0; r < rows; r += FX_ROWS_AT_ONCE)
    finish_rows(lu, n, rows - r < FX_ROWS_AT_ONCE ? rows - r : FX_ROWS_AT_ONCE, below + (size_t)r * (size_t)n);
}

static bool factor_symmetric(fx_block_lu *lu, int32_t J) {
  int32_t n = fx_panel_width(lu, J);
  size_t ld = (size_t)n;
  double *L = lu->L + lu->lower[J];
  for (int32_t c = 0, w; c < n; c += w) {
    double *own = L + (size_t)c * ld, *strip = lu->packed + (size_t)c * ld, *b = lu->chunk + c * FX_STRIP;
    w = fx_strip_width(n - c);
    pack_rows(w, c, own, ld, strip);
    if (c > 0) fx_subtract_strip(n - c, w, c, own, ld, strip, own + c, lu->even);
    if (!invert_definite(w, own + c, ld, b)) return false;
    multiply_rows(n - c - w, w, b, own + (size_t)w * ld + c, lu->even);
  }
  finish_below(lu, n, lu->rows[J] - n, L + ld * ld);
  return true;
}

/* The inverse of a chunk, with row pivots, in its place and in b. */
static bool invert_chunk(int32_t n, double *chunk, size_t ld, double *b) {
  double d[FX_STRIP * FX_STRIP], column[FX_STRIP];
  int32_t pivot[FX_STRIP];
  for (int32_t r = 0; r < n; r++) memcpy(d + r * n, chunk + (size_t)r * ld, (size_t)n * sizeof *d);
  if (!fx_lu_factor(n, d, pivot)) return false;
  for (int32_t c = 0; c < n; c++) {
    for (int32_t r = 0; r < n; r++) column[r] = r == c;
    fx_lu_solve(n, d, pivot, column);
    for (int32_t r = 0; r < n; r++) b[r * n + c] = chunk[(size_t)r * ld + (size_t)c] = column[r];
  }
  return true;
}

/* Columns c .. c + w - 1 of the first `rows` rows at `from`, as a strip. */
static void pack_columns(int32_t rows, int32_t w, const double *from, size_t ld, double *to) {
  for (int32_t e = 0; e < rows; e++) memcpy(to + e * w, from + (size_t)e * ld, (size_t)w * sizeof *to);
}

/* The diagonal block: columns of each chunk, then what is right of it. */
static bool factor_diagonal(fx_block_lu *lu, int32_t n, double *L) {
  size_t ld = (size_t)n;
  for (int32_t c = 0, w; c < n; c += w) {
    double *own = L + (size_t)c * ld, *strip = lu->packed + (size_t)c * ld, *b = lu->chunk + c * FX_STRIP;
    w = fx_strip_width(n - c);
    for (int32_t j = c + w, v; j < n && c > 0; j += v) {
      v = fx_strip_width(n - j);
      pack_columns(c, v, L + j, ld, strip);
      fx_subtract_strip(w, v, c, own, ld, strip, own + j, lu->even);
    }
    pack_columns(c, w, L + c, ld, strip);
    if (c > 0) fx_subtract_strip(n - c, w, c, own, ld, strip, own + c, lu->even);
    if (!invert_chunk(w, own + c, ld, b)) return false;
    multiply_rows(n - c - w, w, b, own + (size_t)w * ld + c, lu->even);
  }
  return true;
}

static bool factor_general(fx_block_lu *lu, int32_t J) {
  int32_t n = fx_panel_width(lu, J), below = lu->rows[J] - n;
  size_t ld = (size_t)n;
  double *L = lu->L + lu->lower[J], *U = lu->U + lu->upper[J];
  if (!factor_diagonal(lu, n, L)) return false;
  finish_below(lu, n, below, L + ld * ld);
  /* U': its strips are rows of L; nothing is scaled. */
  for (int32_t c = 0, w; c < n; c += w) {
    w = fx_strip_width(n - c);
    pack_rows(w, c, L + (size_t)c * ld, ld, lu->packed + (size_t)c * ld);
  }
  for (int32_t r = 0; r < below; r += FX_ROWS_AT_ONCE) {
    int32_t rows = below - r < FX_ROWS_AT_ONCE ? below - r : FX_ROWS_AT_ONCE;
    double *row = U + (size_t)r * ld;
    for (int32_t c = fx_strip_width(n), w; c < n; c += w) {
      w = fx_strip_width(n - c);
      fx_subtract_strip(rows, w, c, row, ld, lu->packed + (size_t)c * ld, row + c, lu->even);
    }
  }
  return true;
}

/* ---- all panels ---- */

static bool factor(fx_block_lu *lu, const fx_block_matrix *a, double shift) {
  const fx_symbolic *o = &lu->order;
  for (int32_t p = 0; p < o->panel_count; p++) lu->waiting[p] = -1;
  for (int32_t J = 0; J < o->panel_count; J++) {
    size_t width = (size_t)fx_panel_width(lu, J);
    place_steps(lu, J);
    load_panel(lu, a, shift, J);
    collect_updates(lu, J);
    for (int32_t r = 0; r < lu->rows[J]; r++) lu->even[r] = (size_t)r * width;
    if (width > 0 && !(lu->symmetric ? factor_symmetric(lu, J) : factor_general(lu, J))) return false;
    lu->cursor[J] = o->start[J];
    wait(lu, J);
  }
  return true;
}

bool fx_block_lu_factor(fx_block_lu *lu, const fx_block_matrix *a, double shift, bool symmetric) {
  lu->row = a->row;
  fx_block_lu_lay_out(lu);
  lu->symmetric = symmetric;
  if (factor(lu, a, shift)) return true;
  if (!symmetric) return false;
  lu->symmetric = false; /* not definite: LU may still do */
  return factor(lu, a, shift);
}
