/* Solution with the panels of a block factorisation: L y = x forward, L' x = y or U x = y backward; under LU the rows
 * of a panel change places first, as its pivots did. */
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

/* y -= factor a */
static void subtract_row(int32_t n, double factor, const double *restrict a, double *restrict y) {
  for (int32_t k = 0; k < n; k++) y[k] -= factor * a[k];
}

/* The triangle of the panel's own steps, forward: L y = y. */
static void forward_own(const fx_block_lu *lu, int32_t n, const double *L, const int32_t *pivot, double *y) {
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
static void backward_own(const fx_block_lu *lu, int32_t n, const double *L, double *y) {
  size_t ld = (size_t)n;
  for (int32_t r = n - 1; r >= 0; r--) {
    const double *row = L + (size_t)r * ld;
    if (!lu->symmetric) y[r] -= fx_dot_quad(n - r - 1, row + r + 1, y + r + 1);
    y[r] /= row[r];
    if (lu->symmetric) subtract_row(r, y[r], row, y);
  }
}

static void forward(const fx_block_lu *lu, int32_t J) {
  const fx_symbolic *o = &lu->order;
  int32_t n = fx_panel_width(lu, J), own = lu->first[o->first[J]];
  const double *L = lu->L + lu->lower[J], *row = L + (size_t)n * (size_t)n;
  double *y = lu->x + own;
  forward_own(lu, n, L, lu->pivot + own, y);
  for (size_t e = o->start[J]; e < o->start[J + 1]; e++)
    for (int32_t r = lu->first[o->list[e]]; r < lu->first[o->list[e] + 1]; r++, row += n)
      lu->x[r] -= fx_dot_quad(n, row, y);
}

static void backward(const fx_block_lu *lu, int32_t J) {
  const fx_symbolic *o = &lu->order;
  int32_t n = fx_panel_width(lu, J);
  const double *L = lu->L + lu->lower[J];
  const double *row = lu->symmetric ? L + (size_t)n * (size_t)n : lu->U + lu->upper[J];
  double *y = lu->x + lu->first[o->first[J]];
  for (size_t e = o->start[J]; e < o->start[J + 1]; e++)
    for (int32_t r = lu->first[o->list[e]]; r < lu->first[o->list[e] + 1]; r++, row += n)
      subtract_row(n, lu->x[r], row, y);
  backward_own(lu, n, L, y);
}

void fx_block_lu_solve(const fx_block_lu *lu, double *x) {
  permute(lu, x, false);
  for (int32_t p = 0; p < lu->order.panel_count; p++) forward(lu, p);
  for (int32_t p = lu->order.panel_count - 1; p >= 0; p--) backward(lu, p);
  permute(lu, x, true);
}
