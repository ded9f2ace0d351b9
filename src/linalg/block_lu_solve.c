/* Solution with the panels of a block factorisation: L y = x forward, L' x = y or U x = y backward; under LU the rows
 * of a panel change places first, as its pivots did. Transposed: U' y = x forward, L' x = y backward, then the rows.
 * Compiled once for every machine and, on x86, once more for AVX2; both give the same bits, since lanes never mix and
 * nothing is contracted. */
#include "linalg/block_lu_parts.h"
#include "linalg/dense.h"

#include <string.h>

/* Copies x to elimination order, or back. */
static void permute(const fx_block_lu *lu, double *x, bool back) {
  for (int32_t i = 0; i < lu->node_count; i++) {
    double *own = lu->x + lu->first[lu->order.step[lu->group_of[i]]] + lu->place[i];
    size_t bytes = (size_t)(lu->row[i + 1] - lu->row[i]) * sizeof *x;
    if (back)
      memcpy(x + lu->row[i], own, bytes);
    else
      memcpy(own, x + lu->row[i], bytes);
  }
}

/* ---- kernels: four numbers at once, with the bits of fx_dot_quad and of one row after the other ---- */

#define INLINE static inline __attribute__((always_inline))

typedef double lanes __attribute__((vector_size(32), aligned(8)));

/* x[i] -= row i . y, for the rows of a panel that follow one another. */
INLINE void subtract_dots(int32_t n, int32_t count, const double *row, const double *y, double *x) {
  int32_t i = 0;
  for (; i + 2 <= count; i += 2, row += 2 * n) {
    lanes s = {0, 0, 0, 0}, t = {0, 0, 0, 0};
    const double *next = row + n;
    int32_t k = 0;
    for (; k + 4 <= n; k += 4) {
      lanes part = *(const lanes *)(y + k);
      s += *(const lanes *)(row + k) * part;
      t += *(const lanes *)(next + k) * part;
    }
    for (; k < n; k++) {
      s[0] += row[k] * y[k];
      t[0] += next[k] * y[k];
    }
    x[i] -= (s[0] + s[1]) + (s[2] + s[3]);
    x[i + 1] -= (t[0] + t[1]) + (t[2] + t[3]);
  }
  if (i < count) x[i] -= fx_dot_quad(n, row, y);
}

/* y -= x[i] row i, for the same. */
INLINE void subtract_rows(int32_t n, int32_t count, const double *restrict row, const double *x, double *restrict y) {
  int32_t i = 0;
  for (; i + 3 <= count; i += 3, row += 3 * n) {
    const double *second = row + n, *third = row + 2 * n;
    int32_t k = 0;
    for (; k + 4 <= n; k += 4) {
      lanes part = *(const lanes *)(y + k);
      part -= x[i] * *(const lanes *)(row + k);
      part -= x[i + 1] * *(const lanes *)(second + k);
      part -= x[i + 2] * *(const lanes *)(third + k);
      *(lanes *)(y + k) = part;
    }
    for (; k < n; k++) y[k] = ((y[k] - x[i] * row[k]) - x[i + 1] * second[k]) - x[i + 2] * third[k];
  }
  for (; i < count; i++, row += n)
    for (int32_t k = 0; k < n; k++) y[k] -= x[i] * row[k];
}

/* ---- panels ---- */

/* The triangle of the panel's own steps, forward: L y = y. */
INLINE void forward_own(const fx_block_lu *lu, int32_t n, const double *L, const int32_t *pivot, double *y) {
  size_t ld = (size_t)n;
  for (int32_t r = 0; r < n && !lu->symmetric; r++) {
    double value = y[r];
    y[r] = y[pivot[r]];
    y[pivot[r]] = value;
  }
  for (int32_t r = 0; r < n; r++) {
    y[r] -= fx_dot_quad(r, L + (size_t)r * ld, y);
    if (lu->symmetric) y[r] /= L[(size_t)r * ld + (size_t)r];
  }
}

/* Backward: L' y = y, or U y = y. */
INLINE void backward_own(const fx_block_lu *lu, int32_t n, const double *L, double *y) {
  size_t ld = (size_t)n;
  for (int32_t r = n - 1; r >= 0; r--) {
    const double *row = L + (size_t)r * ld;
    if (!lu->symmetric) y[r] -= fx_dot_quad(n - r - 1, row + r + 1, y + r + 1);
    y[r] /= row[r];
    if (lu->symmetric) subtract_rows(r, 1, row, y + r, y);
  }
}

INLINE void forward(const fx_block_lu *lu, int32_t J) {
  const fx_symbolic *o = &lu->order;
  int32_t n = fx_panel_width(lu, J), own = lu->first[o->first[J]];
  const double *L = lu->L + lu->lower[J], *row = L + (size_t)n * (size_t)n;
  double *y = lu->x + own;
  forward_own(lu, n, L, lu->pivot + own, y);
  for (size_t e = o->start[J]; e < o->start[J + 1]; e++) {
    int32_t first = lu->first[o->list[e]], count = lu->first[o->list[e] + 1] - first;
    subtract_dots(n, count, row, y, lu->x + first);
    row += (size_t)count * (size_t)n;
  }
}

INLINE void backward(const fx_block_lu *lu, int32_t J) {
  const fx_symbolic *o = &lu->order;
  int32_t n = fx_panel_width(lu, J);
  const double *L = lu->L + lu->lower[J];
  const double *row = lu->symmetric ? L + (size_t)n * (size_t)n : lu->U + lu->upper[J];
  double *y = lu->x + lu->first[o->first[J]];
  for (size_t e = o->start[J]; e < o->start[J + 1]; e++) {
    int32_t first = lu->first[o->list[e]], count = lu->first[o->list[e] + 1] - first;
    subtract_rows(n, count, row, lu->x + first, y);
    row += (size_t)count * (size_t)n;
  }
  backward_own(lu, n, L, y);
}

/* Small panels come and go faster than the hardware sees a pattern, above all backward. */
INLINE void fetch(const double *from, size_t count) {
  enum { LINE = 8, MOST = 128 };
  for (size_t k = 0; k < count && k < MOST; k += LINE) __builtin_prefetch(from + k);
}

INLINE void fetch_panel(const fx_block_lu *lu, int32_t J, bool back) {
  if (J < 0 || J >= lu->order.panel_count) return;
  fetch(lu->L + lu->lower[J], lu->lower[J + 1] - lu->lower[J]);
  if (back && !lu->symmetric) fetch(lu->U + lu->upper[J], lu->upper[J + 1] - lu->upper[J]);
}

enum { AHEAD = 4 }; /* panels */

INLINE void solve(const fx_block_lu *lu) {
  for (int32_t p = 0; p < lu->order.panel_count; p++) {
    fetch_panel(lu, p + AHEAD, false);
    forward(lu, p);
  }
  for (int32_t p = lu->order.panel_count - 1; p >= 0; p--) {
    fetch_panel(lu, p - AHEAD, true);
    backward(lu, p);
  }
}

/* ---- transposed, of LU ---- */

/* U' y = y of the panel's own steps, then what its rows reach. */
INLINE void forward_transposed(const fx_block_lu *lu, int32_t J) {
  const fx_symbolic *o = &lu->order;
  int32_t n = fx_panel_width(lu, J);
  const double *L = lu->L + lu->lower[J], *row = lu->U + lu->upper[J];
  double *y = lu->x + lu->first[o->first[J]];
  for (int32_t r = 0; r < n; r++) {
    const double *own = L + (size_t)r * (size_t)n;
    y[r] /= own[r];
    subtract_rows(n - r - 1, 1, own + r + 1, y + r, y + r + 1);
  }
  for (size_t e = o->start[J]; e < o->start[J + 1]; e++) {
    int32_t first = lu->first[o->list[e]], count = lu->first[o->list[e] + 1] - first;
    subtract_dots(n, count, row, y, lu->x + first);
    row += (size_t)count * (size_t)n;
  }
}

INLINE void backward_transposed(const fx_block_lu *lu, int32_t J) {
  const fx_symbolic *o = &lu->order;
  int32_t n = fx_panel_width(lu, J), own = lu->first[o->first[J]];
  const double *L = lu->L + lu->lower[J], *row = L + (size_t)n * (size_t)n;
  double *y = lu->x + own;
  for (size_t e = o->start[J]; e < o->start[J + 1]; e++) {
    int32_t first = lu->first[o->list[e]], count = lu->first[o->list[e] + 1] - first;
    subtract_rows(n, count, row, lu->x + first, y);
    row += (size_t)count * (size_t)n;
  }
  for (int32_t r = n - 1; r > 0; r--) subtract_rows(r, 1, L + (size_t)r * (size_t)n, y + r, y);
  for (int32_t r = n - 1; r >= 0; r--) {
    double value = y[r];
    y[r] = y[lu->pivot[own + r]];
    y[lu->pivot[own + r]] = value;
  }
}

INLINE void solve_transposed(const fx_block_lu *lu) {
  for (int32_t p = 0; p < lu->order.panel_count; p++) forward_transposed(lu, p);
  for (int32_t p = lu->order.panel_count - 1; p >= 0; p--) backward_transposed(lu, p);
}

/* ---- entry ---- */

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void solve_avx2(const fx_block_lu *lu, bool transposed) {
  if (transposed)
    solve_transposed(lu);
  else
    solve(lu);
}
#endif

static void solve_any(const fx_block_lu *lu, bool transposed) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2")) {
    solve_avx2(lu, transposed);
    return;
  }
#endif
  if (transposed)
    solve_transposed(lu);
  else
    solve(lu);
}

void fx_block_lu_solve(const fx_block_lu *lu, double *x) {
  permute(lu, x, false);
  solve_any(lu, false);
  permute(lu, x, true);
}

void fx_block_lu_solve_transposed(const fx_block_lu *lu, double *x) {
  permute(lu, x, false);
  solve_any(lu, !lu->symmetric);
  permute(lu, x, true);
}
