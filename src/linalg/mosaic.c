/* LU without pivoting of a matrix of dense blocks, many of them zero, as for bodies with few neighbours.
 *
 * A matrix whose symmetric part is positive definite needs no exchange of rows; if a pivot cancels nearly all of its
 * diagonal entry, the factorisation fails and the caller uses fx_lu_factor. Panels of a few columns lie within one
 * block; they update the rows and columns of blocks that share an entry with the panel's block. */
#include "linalg/mosaic.h"

#include <math.h>
#include <stddef.h>

#include "linalg/dense.h"
#include "linalg/product.h"

enum { PANEL = FX_STRIP, MOST = 1024 };
static const double kept = 1e-7; /* of a diagonal entry: the least pivot */

void fx_mosaic_fill(const fx_mosaic *m) {
  int32_t count = m->block_count;
  for (int32_t k = 0; k < count; k++)
    for (int32_t i = k + 1; i < count; i++)
      for (int32_t j = k + 1; j < count && m->filled[i * count + k]; j++)
        if (m->filled[k * count + j]) m->filled[i * count + j] = true;
}

#define INLINE static inline __attribute__((always_inline))

typedef double lanes4 __attribute__((vector_size(32), aligned(8)));
typedef struct lanes8 {
  lanes4 low, high;
} lanes8;

INLINE lanes8 load8(const double *x) { return (lanes8){*(const lanes4 *)x, *(const lanes4 *)(x + 4)}; }

INLINE void store8(lanes8 v, double *x) { *(lanes4 *)x = v.low, *(lanes4 *)(x + 4) = v.high; }

/* y -= factor a */
INLINE void subtract_row(int32_t n, double factor, const double *restrict a, double *restrict y) {
  for (int32_t k = 0; k < n; k++) y[k] -= factor * a[k];
}

/* The square on the diagonal; inverse: of its pivots. */
INLINE bool factor_corner(int32_t n, int32_t k, int32_t width, double *a, const double *diagonal, double *inverse) {
  for (int32_t p = 0; p < width; p++) {
    double *own = a + (size_t)(k + p) * n + k;
    if (!(fabs(own[p]) > kept * diagonal[k + p])) return false;
    inverse[p] = 1.0 / own[p];
    for (int32_t i = p + 1; i < width; i++) {
      double *row = a + (size_t)(k + i) * n + k;
      row[p] *= inverse[p];
      subtract_row(width - p - 1, row[p], own + p + 1, row + p + 1);
    }
  }
  return true;
}

/* U^-1 of a corner, eight wide. */
INLINE void invert_corner(int32_t n, const double *U, const double *inverse, double *x) {
  for (int32_t p = PANEL - 1; p >= 0; p--) {
    x[p * PANEL + p] = inverse[p];
    for (int32_t j = p + 1; j < PANEL; j++) {
      double sum = 0.0;
      for (int32_t e = p + 1; e <= j; e++) sum += U[(size_t)p * n + e] * x[e * PANEL + j];
      x[p * PANEL + j] = -sum * inverse[p];
    }
  }
}

/* Rows below: x U = a. */
INLINE void factor_rows(int32_t n, int32_t rows, int32_t width, const double *corner, const double *inverse,
                        const double *U, double *a) {
  lanes8 column[PANEL];
  for (int32_t p = 0; p < PANEL; p++) column[p] = load8(U + p * PANEL);
  for (int32_t r = 0; r < rows; r++, a += n) {
    if (width == PANEL) {
      lanes8 x = {a[0] * column[0].low, a[0] * column[0].high};
      for (int32_t p = 1; p < PANEL; p++) x.low += a[p] * column[p].low, x.high += a[p] * column[p].high;
      store8(x, a);
      continue;
    }
    for (int32_t p = 0; p < width; p++) {
      a[p] *= inverse[p];
      subtract_row(width - p - 1, a[p], corner + (size_t)p * n + p + 1, a + p + 1);
    }
  }
}

/* The panel's own rows of one strip of columns: L x = a, and x packed. */
INLINE void factor_strip(int32_t n, int32_t width, int32_t wide, const double *corner, double *a, double *strip) {
  for (int32_t i = 0; i < width; i++, a += n) {
    const double *L = corner + (size_t)i * n;
    if (wide == FX_STRIP) {
      lanes8 x = load8(a);
      for (int32_t j = 0; j < i; j++) {
        lanes8 y = load8(strip + j * FX_STRIP);
        x.low -= L[j] * y.low, x.high -= L[j] * y.high;
      }
      store8(x, a), store8(x, strip + i * FX_STRIP);
      continue;
    }
    for (int32_t j = 0; j < i; j++) subtract_row(wide, L[j], strip + j * wide, a);
    for (int32_t e = 0; e < wide; e++) strip[i * wide + e] = a[e];
  }
}

/* Columns from `from` to `end` of the panel's rows, and of all rows below that the panel touches. */
INLINE void update_columns(const fx_mosaic *m, int32_t block, int32_t k, int32_t width, int32_t from, int32_t end,
                           const size_t *to, double *a) {
  int32_t n = m->n, last = k + width;
  double strip[PANEL * FX_STRIP];
  for (int32_t c = from, wide; c < end; c += wide) {
    wide = fx_strip_width(end - c);
    factor_strip(n, width, wide, a + (size_t)k * n + k, a + (size_t)k * n + c, strip);
    for (int32_t i = block; i < m->block_count; i++) {
      int32_t first = i == block ? last : m->start[i], rows = m->start[i + 1] - first;
      if (rows <= 0 || (i > block && !m->filled[i * m->block_count + block])) continue;
      fx_subtract_strip(rows, wide, width, a + (size_t)first * n + k, (size_t)n, strip, a + c, to + first);
    }
  }
}

INLINE bool factor_panel(const fx_mosaic *m, int32_t block, int32_t k, int32_t width, const size_t *to,
                         const double *diagonal, double *a) {
  int32_t n = m->n, count = m->block_count, last = k + width;
  double inverse[PANEL], *corner = a + (size_t)k * n + k;
  double U[PANEL * PANEL] = {0.0};
  if (!factor_corner(n, k, width, a, diagonal, inverse)) return false;
  if (width == PANEL) invert_corner(n, corner, inverse, U);
  for (int32_t i = block; i < count; i++) {
    int32_t first = i == block ? last : m->start[i];
    if (i == block || m->filled[i * count + block])
      factor_rows(n, m->start[i + 1] - first, width, corner, inverse, U, a + (size_t)first * n + k);
  }
  for (int32_t j = block; j < count; j++) {
    int32_t from = j == block ? last : m->start[j];
    if (from < m->start[j + 1] && (j == block || m->filled[block * count + j]))
      update_columns(m, block, k, width, from, m->start[j + 1], to, a);
  }
  return true;
}

INLINE bool factor(const fx_mosaic *m, double *a) {
  size_t to[MOST];
  double diagonal[MOST];
  if (m->n > MOST) return false;
  for (int32_t i = 0; i < m->n; i++) to[i] = (size_t)i * m->n, diagonal[i] = fabs(a[to[i] + i]);
  for (int32_t b = 0; b < m->block_count; b++)
    for (int32_t k = m->start[b], end = m->start[b + 1]; k < end; k += PANEL)
      if (!factor_panel(m, b, k, end - k < PANEL ? end - k : PANEL, to, diagonal, a)) return false;
  return true;
}

INLINE void solve(const fx_mosaic *m, const double *lu, double *b) {
  int32_t n = m->n, count = m->block_count;
  for (int32_t i = 0; i < count; i++)
    for (int32_t r = m->start[i]; r < m->start[i + 1]; r++) {
      const double *row = lu + (size_t)r * n;
      double sum = fx_dot_quad(r - m->start[i], row + m->start[i], b + m->start[i]);
      for (int32_t j = 0; j < i; j++)
        if (m->filled[i * count + j])
          sum += fx_dot_quad(m->start[j + 1] - m->start[j], row + m->start[j], b + m->start[j]);
      b[r] -= sum;
    }
  for (int32_t i = count - 1; i >= 0; i--)
    for (int32_t r = m->start[i + 1] - 1; r >= m->start[i]; r--) {
      const double *row = lu + (size_t)r * n;
      double sum = fx_dot_quad(m->start[i + 1] - r - 1, row + r + 1, b + r + 1);
      for (int32_t j = i + 1; j < count; j++)
        if (m->filled[i * count + j])
          sum += fx_dot_quad(m->start[j + 1] - m->start[j], row + m->start[j], b + m->start[j]);
      b[r] = (b[r] - sum) / row[r];
    }
}

/* Lanes never mix and nothing is contracted: the same bits either way. */
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static bool factor_avx2(const fx_mosaic *m, double *a) { return factor(m, a); }
__attribute__((target("avx2"))) static void solve_avx2(const fx_mosaic *m, const double *lu, double *b) {
  solve(m, lu, b);
}

bool fx_mosaic_factor(const fx_mosaic *m, double *a) {
  return __builtin_cpu_supports("avx2") ? factor_avx2(m, a) : factor(m, a);
}

void fx_mosaic_solve(const fx_mosaic *m, const double *lu, double *b) {
  if (__builtin_cpu_supports("avx2"))
    solve_avx2(m, lu, b);
  else
    solve(m, lu, b);
}
#else
bool fx_mosaic_factor(const fx_mosaic *m, double *a) { return factor(m, a); }

void fx_mosaic_solve(const fx_mosaic *m, const double *lu, double *b) { solve(m, lu, b); }
#endif
