/* The kernel of the block factorisation: products of small dense blocks. */
#ifndef FX_LINALG_PRODUCT_H
#define FX_LINALG_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

/* Columns that fit the registers together; what is left of a run of columns is taken as 6, 4, 2 or 1. */
enum { FX_STRIP = 8 };

/* Width of the next strip of a run with `left` columns. */
static inline int32_t fx_strip_width(int32_t left) {
  return left >= 8 ? 8 : left >= 6 ? 6 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* Row r of c, at c + to[r] and `width` long, loses row r of a (k long, at a + r lda) times the strip b (k x width,
 * packed). Every entry is updated in the order of k, so the bits do not depend on how wide the machine's registers are.
 */
void fx_subtract_strip(int32_t rows, int32_t width, int32_t k, const double *a, size_t lda, const double *b, double *c,
                       const size_t *to);
/* The same with a by columns: row r of a is at a + r, and its numbers are lda apart. */
void fx_subtract_turned(int32_t rows, int32_t width, int32_t k, const double *a, size_t lda, const double *b, double *c,
                        const size_t *to);

/* For contacts on movers of many coordinates: g := scale D h (D m x d, h d x w), and to += h' g (h d x m, g d x w).
 * Entries are updated in the order of their rows. */
void fx_scale_rows(int32_t m, int32_t d, int32_t w, double scale, const double *D, const double *h, double *g);
/* g := scale h, of count numbers */
void fx_scale_all(int32_t count, double scale, const double *h, double *g);
void fx_add_outer(int32_t d, int32_t m, int32_t w, const double *h, const double *g, double *to, int32_t length);

/* Rows times a vector, out_k += h_k . x in four partial sums, or times two with the same bits; and a sum of rows, to +=
 * sum_k f_k h_k (h d x w). */
void fx_add_products(int32_t d, int32_t w, const double *h, const double *x, double *out);
void fx_add_pairs(int32_t d, int32_t w, const double *h, const double *x, const double *y, double *ox, double *oy);
void fx_add_rows(int32_t d, int32_t w, const double *h, const double *f, double *to);

/* out_k := h_k A^-1 h_k' (h d x n) with A = L' D L, D in the diagonal of L; each has the bits it would have alone.
 * work: 9 n numbers. */
void fx_weigh_rows(int32_t d, int32_t n, const double *L, const double *h, double *work, double *out);

#endif
