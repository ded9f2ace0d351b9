/* Solution with the panels of a block factorisation.
 *
 *   Cholesky   y_c = T_c (x_c - L_c. y),        x_c = T_c' (y_c - L_.c' x)
 *   LU         y_c = x_c - L_c. y,              x_c = D_c^-1 (y_c - U_c. x)              chunk by chunk */
#include "linalg/block_lu_parts.h"
#include "linalg/product.h"

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

/* Four partial sums, so that the order of additions is the same however wide the machine's registers are. */
static double dot(int32_t n, const double *a, const double *b) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int32_t k = 0;
  for (; k + 4 <= n; k += 4) {
    s0 += a[k] * b[k];
    s1 += a[k + 1] * b[k + 1];
    s2 += a[k + 2] * b[k + 2];
    s3 += a[k + 3] * b[k + 3];
  }
  for (; k < n; k++) s0 += a[k] * b[k];
  return (s0 + s1) + (s2 + s3);
}

/* y -= factor a */
static void subtract_row(int32_t n, double factor, const double *restrict a, double *restrict y) {
  for (int32_t k = 0; k < n; k++) y[k] -= factor * a[k];
}

/* y := chunk y, or chunk' y */
static void apply_chunk(int32_t n, const double *chunk, size_t ld, bool transposed, double *y) {
  double old[FX_STRIP];
  memcpy(old, y, (size_t)n * sizeof *y);
  for (int32_t r = 0; r < n; r++) {
    y[r] = 0;
    for (int32_t c = 0; c < n; c++)
      y[r] += chunk[transposed ? (size_t)c * ld + (size_t)r : (size_t)r * ld + (size_t)c] * old[c];
  }
}

static void forward(const fx_block_lu *lu, int32_t J) {
  const fx_symbolic *o = &lu->order;
  int32_t n = fx_panel_width(lu, J);
  size_t ld = (size_t)n;
  const double *L = lu->L + lu->lower[J];
  double *y = lu->x + lu->first[o->first[J]];
  for (int32_t c = 0, w; c < n; c += w) {
    w = fx_strip_width(n - c);
    for (int32_t r = c; r < c + w; r++) y[r] -= dot(c, L + (size_t)r * ld, y);
    if (lu->symmetric) apply_chunk(w, L + (size_t)c * ld + c, ld, false, y + c);
  }
  const double *row = L + ld * ld;
  for (size_t e = o->start[J]; e < o->start[J + 1]; e++)
    for (int32_t r = lu->first[o->list[e]]; r < lu->first[o->list[e] + 1]; r++, row += n) lu->x[r] -= dot(n, row, y);
}

static void backward(const fx_block_lu *lu, int32_t J) {
  const fx_symbolic *o = &lu->order;
  int32_t n = fx_panel_width(lu, J), width[FX_STRIP] = {0};
  size_t ld = (size_t)n;
  const double *L = lu->L + lu->lower[J], *row = lu->symmetric ? L + ld * ld : lu->U + lu->upper[J];
  double *y = lu->x + lu->first[o->first[J]];
  for (size_t e = o->start[J]; e < o->start[J + 1]; e++)
    for (int32_t r = lu->first[o->list[e]]; r < lu->first[o->list[e] + 1]; r++, row += n)
      subtract_row(n, lu->x[r], row, y);
  /* Chunks from the last to the first: all are 8 wide but a few at the end. */
  int32_t full = n / FX_STRIP * FX_STRIP, tail = 0;
  for (int32_t c = full; c < n; c += width[tail++]) width[tail] = fx_strip_width(n - c);
  for (int32_t c = n; c > 0;) {
    int32_t w = c > full ? width[--tail] : FX_STRIP;
    c -= w;
    if (lu->symmetric) {
      for (int32_t r = c + w; r < n; r++) subtract_row(w, y[r], L + (size_t)r * ld + c, y + c);
    } else {
      for (int32_t r = c; r < c + w; r++) y[r] -= dot(n - c - w, L + (size_t)r * ld + c + w, y + c + w);
    }
    apply_chunk(w, L + (size_t)c * ld + c, ld, lu->symmetric, y + c);
  }
}

void fx_block_lu_solve(const fx_block_lu *lu, double *x) {
  permute(lu, x, false);
  for (int32_t p = 0; p < lu->order.panel_count; p++) forward(lu, p);
  for (int32_t p = lu->order.panel_count - 1; p >= 0; p--) backward(lu, p);
  permute(lu, x, true);
}
