/* Left-looking factorisation by panels. Panel J first gets its part of A, then the updates of earlier panels K,
 *
 *   L_J -= L_K (rows from J on)  U_K (columns of J)         U_J' -= U_K' (rows after J)  L_K' (columns of J)
 *
 * then is factored by chunks c of at most 8 columns: Cholesky, L_ic := A_ic T' with T = L_cc^-1, and U = L'; or LU with
 * row pivots within the chunk, L_ic := A_ic D_c^-1. T or D_c^-1 stays in place of the chunk. U is kept as its
 * transpose, so that both halves are the same loop.
 *
 * Reference: E. Ng, B. Peyton, Block sparse Cholesky algorithms on advanced uniprocessor computers, 1993. */
#include "linalg/block_lu_parts.h"
#include "linalg/product.h"

#include <math.h>
#include <string.h>

enum { WORTH_A_PART = 1 << 16 }; /* multiplications, some microseconds */
enum { WORTH_GATHERING = 30 };   /* columns of a panel from which full strips pay even if their target is scattered */

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

/* Strips for the first `own` rows of B, which go to the columns w->column; returns their number. Columns that are not
 * neighbours share a strip only where that pays. */
static int32_t pack_strips(fx_lu_bench *w, int32_t own, int32_t n, const double *B) {
  int32_t count = 0;
  size_t at = 0;
  for (int32_t row = 0, width; row < own; row += width) {
    int32_t run = 1, left = own - row;
    while (run < left && w->column[row + run] == w->column[row] + run) run++;
    width = fx_strip_width(run < FX_STRIP && n >= WORTH_GATHERING ? left : run);
    w->strip[count++] = (fx_strip){row, width, width > run, at};
    pack_rows(width, n, B + (size_t)row * (size_t)n, (size_t)n, w->packed + at);
    at += (size_t)(width * n);
  }
  return count;
}

/* A strip whose columns lie apart goes by way of a tile. */
static void subtract_apart(const fx_block_lu *lu, const fx_lu_bench *w, const fx_strip *s, int32_t rows, int32_t n,
                           const double *A, const size_t *to, double *C) {
  const int32_t *column = w->column + s->row;
  memset(w->tile, 0, (size_t)(rows * FX_STRIP) * sizeof *w->tile);
  fx_subtract_strip(rows, s->width, n, A, (size_t)n, w->packed + s->at, w->tile, lu->flat);
  for (int32_t r = 0; r < rows; r++)
    for (int32_t c = 0; c < s->width; c++) C[to[r] + (size_t)column[c]] += w->tile[r * FX_STRIP + c];
}

/* C -= A B over the rows first .. last - 1; below_diagonal: a strip needs only the rows from its own on. */
static void subtract_strips(const fx_block_lu *lu, const fx_lu_bench *w, int32_t count, int32_t first, int32_t last,
                            int32_t n, const double *A, const size_t *to, double *C, bool below_diagonal) {
  for (int32_t block = first; block < last; block += FX_ROWS_AT_ONCE) {
    int32_t end = block + FX_ROWS_AT_ONCE < last ? block + FX_ROWS_AT_ONCE : last;
    for (int32_t k = 0; k < count; k++) {
      const fx_strip *s = &w->strip[k];
      int32_t from = below_diagonal && s->row > block ? s->row : block;
      if (from >= end) break;
      const double *rows_of_A = A + (size_t)from * (size_t)n;
      if (s->apart)
        subtract_apart(lu, w, s, end - from, n, rows_of_A, to + from, C);
      else
        fx_subtract_strip(end - from, s->width, n, rows_of_A, (size_t)n, w->packed + s->at, C + w->column[s->row],
                          to + from);
    }
  }
}

/* The part of debt d in the rows low .. high - 1 of panel J: the entries p .. q - 1 of its list are steps of J. */
static void update_panel(const fx_block_lu *lu, fx_lu_bench *w, int32_t J, const fx_debt *d, int32_t low,
                         int32_t high) {
  const fx_symbolic *o = &lu->order;
  int32_t K = d->panel, n = fx_panel_width(lu, K), rows = 0, own = 0, first = 0, last = 0;
  size_t width = (size_t)fx_panel_width(lu, J);
  for (size_t e = d->p; e < o->start[K + 1]; e++) {
    int32_t size = lu->first[o->list[e] + 1] - lu->first[o->list[e]], row = lu->position[o->list[e]];
    for (int32_t r = 0; r < size; r++, rows++) {
      w->to[rows] = (size_t)(row + r) * width;
      first += row + r < low;
      last += row + r < high;
      if (e < d->q) w->column[own++] = row + r;
    }
    if (e >= d->q && row >= high) break;
  }
  if (first == last) return;
  const double *L_K = lu->L + lu->lower[K] + (size_t)lu->list_row[d->p] * (size_t)n;
  const double *U_K = lu->U + lu->upper[K] + (size_t)(lu->list_row[d->p] - n) * (size_t)n;
  int32_t count = pack_strips(w, own, n, lu->symmetric ? L_K : U_K);
  subtract_strips(lu, w, count, first, last, n, L_K, w->to, lu->L + lu->lower[J], lu->symmetric);
  if (lu->symmetric || last <= own) return;
  if (first < own) first = own;
  count = pack_strips(w, own, n, L_K);
  for (int32_t r = first; r < last; r++) w->to[r] -= width * width;
  subtract_strips(lu, w, count, first, last, n, U_K, w->to, lu->U + lu->upper[J], false);
}

/* Panel K waits for the panel that holds the entry at its cursor. */
static void wait(fx_block_lu *lu, int32_t K) {
  const fx_symbolic *o = &lu->order;
  if (lu->cursor[K] == o->start[K + 1] || fx_panel_width(lu, K) == 0) return;
  int32_t J = o->panel_of[o->list[lu->cursor[K]]];
  lu->next[K] = lu->waiting[J];
  lu->waiting[J] = K;
}

/* Debts of earlier panels to panel J, in the order they are paid in; returns how many, and multiplications of all. */
static int32_t list_debts(fx_block_lu *lu, int32_t J, double *cost) {
  const fx_symbolic *o = &lu->order;
  int32_t count = 0;
  *cost = 0;
  for (int32_t K = lu->waiting[J], next; K >= 0; K = next) {
    size_t p = lu->cursor[K], q = p;
    next = lu->next[K];
    while (q < o->start[K + 1] && o->list[q] < o->first[J + 1]) q++;
    if (q > p) {
      double columns = lu->first[o->list[q - 1] + 1] - lu->first[o->list[p]];
      *cost += columns * fx_panel_width(lu, K) * (lu->rows[K] - lu->list_row[p]);
    }
    lu->debt[count++] = (fx_debt){K, p, q};
    lu->cursor[K] = q;
    wait(lu, K);
  }
  return count;
}

/* Rows of a panel, whose sums are their own, in parts that threads take: each pays all debts in their order. */
typedef struct paying {
  fx_block_lu *lu;
  int32_t panel, debts, parts;
} paying;

static void pay_some(int32_t part, void *user) {
  const paying *t = user;
  int64_t rows = t->lu->rows[t->panel];
  int32_t low = (int32_t)(rows * part / t->parts), high = (int32_t)(rows * (part + 1) / t->parts);
  for (int32_t k = 0; k < t->debts; k++) update_panel(t->lu, &t->lu->bench[part], t->panel, &t->lu->debt[k], low, high);
}

static void collect_updates(fx_block_lu *lu, int32_t J) {
  double cost;
  paying t = {lu, J, list_debts(lu, J, &cost), 1};
  if (fx_panel_width(lu, J) == 0) return;
  int32_t most = lu->threads.count < FX_LU_BENCHES ? lu->threads.count : FX_LU_BENCHES;
  while (t.parts < most && cost >= (double)(t.parts + 1) * WORTH_A_PART) t.parts++;
  fx_parallel(lu->threads.context, t.parts, t.parts, pay_some, &t);
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

/* `rows` rows, chunk by chunk: lose the part of the chunks before, then times the inverse. The strips of all chunks
 * were packed before, so that the rows below a diagonal block can be finished a cacheful at a time. */
static void finish_rows(const fx_block_lu *lu, int32_t n, int32_t rows, double *row) {
  for (int32_t c = 0, w; c < n; c += w) {
    w = fx_strip_width(n - c);
    if (c > 0)
      fx_subtract_strip(rows, w, c, row, (size_t)n, lu->bench[0].packed + (size_t)c * (size_t)n, row + c, lu->even);
    multiply_rows(rows, w, lu->chunk + c * FX_STRIP, row + c, lu->even);
  }
}

/* Rows that are worth a part of their own where each takes so many multiplications. */
static int32_t least_rows(int32_t n) {
  int32_t least = WORTH_A_PART / (n * n + 1);
  return least > FX_ROWS_AT_ONCE ? least : FX_ROWS_AT_ONCE;
}

typedef struct finishing {
  const fx_block_lu *lu;
  int32_t n;
  double *below;
} finishing;

static void finish_some(int32_t part, int32_t first, int32_t end, void *user) {
  const finishing *f = user;
  (void)part;
  for (int32_t r = first; r < end; r += FX_ROWS_AT_ONCE)
    finish_rows(f->lu, f->n, end - r < FX_ROWS_AT_ONCE ? end - r : FX_ROWS_AT_ONCE,
                f->below + (size_t)r * (size_t)f->n);
}

static void finish_below(const fx_block_lu *lu, int32_t n, int32_t rows, double *below) {
  finishing f = {lu, n, below};
  fx_parallel_range(lu->threads, rows, least_rows(n), finish_some, &f);
}

/* b := (l^-1)' for a lower triangle; unit: its diagonal counts as ones. */
static void invert_lower(int32_t n, const double *l, size_t ld, bool unit, double *b) {
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = 0; i < n; i++) {
      double sum = i == j;
      for (int32_t k = j; k < i; k++) sum -= l[(size_t)i * ld + (size_t)k] * b[j * n + k];
      b[j * n + i] = i < j ? 0 : unit ? sum : sum / l[(size_t)i * ld + (size_t)i];
    }
}

/* ---- Cholesky ---- */

static bool factor_chunk(int32_t n, double *chunk, size_t ld) {
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = j; i < n; i++) {
      double *to = chunk + (size_t)i * ld + j, sum = *to, pivot = chunk[(size_t)j * ld + (size_t)j];
      for (int32_t k = 0; k < j; k++) sum -= chunk[(size_t)i * ld + (size_t)k] * chunk[(size_t)j * ld + (size_t)k];
      if (i == j && !(sum > 0 && sum < INFINITY)) return false;
      *to = i == j ? sqrt(sum) : sum / pivot;
    }
  return true;
}

static bool factor_symmetric(fx_block_lu *lu, int32_t J) {
  int32_t n = fx_panel_width(lu, J);
  size_t ld = (size_t)n;
  double *L = lu->L + lu->lower[J];
  for (int32_t c = 0, w; c < n; c += w) {
    double *own = L + (size_t)c * ld, *strip = lu->bench[0].packed + (size_t)c * ld, *b = lu->chunk + c * FX_STRIP;
    w = fx_strip_width(n - c);
    pack_rows(w, c, own, ld, strip);
    if (c > 0) fx_subtract_strip(n - c, w, c, own, ld, strip, own + c, lu->even);
    if (!factor_chunk(w, own + c, ld)) return false;
    invert_lower(w, own + c, ld, false, b);
    multiply_rows(n - c - w, w, b, own + (size_t)w * ld + c, lu->even);
  }
  finish_below(lu, n, lu->rows[J] - n, L + ld * ld);
  return true;
}

/* ---- LU ---- */

static void swap_rows(int32_t n, double *a, double *b) {
  for (int32_t k = 0; k < n; k++) {
    double value = a[k];
    a[k] = b[k];
    b[k] = value;
  }
}

/* Columns c .. c + w - 1 of the diagonal block, with row pivots; whole rows change places. */
static bool pivot_columns(int32_t n, int32_t c, int32_t w, double *D, int32_t *pivot) {
  size_t ld = (size_t)n;
  for (int32_t j = c; j < c + w; j++) {
    int32_t best = j;
    for (int32_t i = j + 1; i < n; i++)
      if (fabs(D[(size_t)i * ld + (size_t)j]) > fabs(D[(size_t)best * ld + (size_t)j])) best = i;
    double *own = D + (size_t)j * ld, value = fabs(D[(size_t)best * ld + (size_t)j]);
    if (!(value > 0 && value < INFINITY)) return false;
    pivot[j] = best;
    if (best != j) swap_rows(n, own, D + (size_t)best * ld);
    for (int32_t i = j + 1; i < n; i++) {
      double *row = D + (size_t)i * ld, factor = row[j] / own[j];
      row[j] = factor;
      for (int32_t k = j + 1; k < c + w; k++) row[k] -= factor * own[k];
    }
  }
  return true;
}

/* P D = L U in place, chunk after chunk. */
static bool factor_diagonal(fx_block_lu *lu, int32_t n, double *D, int32_t *pivot) {
  size_t ld = (size_t)n;
  for (int32_t c = 0, w; c < n; c += w) {
    double *own = D + (size_t)c * ld;
    w = fx_strip_width(n - c);
    if (!pivot_columns(n, c, w, D, pivot)) return false;
    /* Rows of U right of the chunk, then what is left of the block. */
    for (int32_t r = 1; r < w; r++)
      for (int32_t k = 0; k < r; k++)
        for (int32_t j = c + w; j < n; j++)
          own[(size_t)r * ld + j] -= own[(size_t)r * ld + c + k] * own[(size_t)k * ld + j];
    for (int32_t j = c + w, v; j < n; j += v) {
      v = fx_strip_width(n - j);
      for (int32_t e = 0; e < w; e++)
        memcpy(lu->bench[0].packed + e * v, own + (size_t)e * ld + j, (size_t)v * sizeof *own);
      fx_subtract_strip(n - c - w, v, w, own + (size_t)w * ld + c, ld, lu->bench[0].packed, own + (size_t)w * ld + j,
                        lu->even);
    }
  }
  return true;
}

/* X U = A below the block: strips are columns of U. */
static void pack_upper(fx_block_lu *lu, int32_t n, const double *D) {
  size_t ld = (size_t)n;
  for (int32_t c = 0, w; c < n; c += w) {
    double corner[FX_STRIP * FX_STRIP], *strip = lu->bench[0].packed + (size_t)c * ld, *b = lu->chunk + c * FX_STRIP;
    w = fx_strip_width(n - c);
    for (int32_t e = 0; e < c; e++) memcpy(strip + e * w, D + (size_t)e * ld + c, (size_t)w * sizeof *strip);
    for (int32_t r = 0; r < w; r++)
      for (int32_t e = 0; e < w; e++) corner[e * w + r] = D[(size_t)(c + r) * ld + (size_t)(c + e)];
    invert_lower(w, corner, (size_t)w, false, b); /* ((U_cc')^-1)' */
  }
}

/* X L' = A' right of the block: strips are rows of L. */
static void pack_lower(fx_block_lu *lu, int32_t n, const double *D) {
  size_t ld = (size_t)n;
  for (int32_t c = 0, w; c < n; c += w) {
    const double *own = D + (size_t)c * ld;
    w = fx_strip_width(n - c);
    pack_rows(w, c, own, ld, lu->bench[0].packed + (size_t)c * ld);
    invert_lower(w, own + c, ld, true, lu->chunk + c * FX_STRIP);
  }
}

static bool factor_general(fx_block_lu *lu, int32_t J) {
  int32_t n = fx_panel_width(lu, J), below = lu->rows[J] - n, *pivot = lu->pivot + lu->first[lu->order.first[J]];
  double *L = lu->L + lu->lower[J], *U = lu->U + lu->upper[J];
  if (!factor_diagonal(lu, n, L, pivot)) return false;
  pack_upper(lu, n, L);
  finish_below(lu, n, below, L + (size_t)n * (size_t)n);
  for (int32_t r = 0; r < below; r++)
    for (int32_t j = 0; j < n; j++) {
      double *row = U + (size_t)r * (size_t)n, value = row[j];
      row[j] = row[pivot[j]];
      row[pivot[j]] = value;
    }
  pack_lower(lu, n, L);
  finish_below(lu, n, below, U);
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

double fx_block_lu_sign(const fx_block_lu *lu) {
  double sign = 1;
  for (int32_t J = 0; J < lu->order.panel_count && !lu->symmetric; J++) {
    int32_t n = fx_panel_width(lu, J);
    const int32_t *pivot = lu->pivot + lu->first[lu->order.first[J]];
    for (int32_t j = 0; j < n; j++)
      if ((pivot[j] != j) != (lu->L[lu->lower[J] + (size_t)j * (size_t)(n + 1)] < 0)) sign = -sign;
  }
  return sign;
}
