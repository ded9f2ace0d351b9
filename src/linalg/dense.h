/* Small dense systems: LU with partial pivoting, row-major, in place. */
#ifndef FX_LINALG_DENSE_H
#define FX_LINALG_DENSE_H

#include <stdbool.h>
#include <stdint.h>

/* PA = LU; false when a pivot is zero or not finite. */
bool fx_lu_factor(int32_t n, double *a, int32_t *pivot);
/* Sign of the determinant: 1 or -1. */
double fx_lu_sign(int32_t n, const double *lu, const int32_t *pivot);
/* b := A^-1 b */
void fx_lu_solve(int32_t n, const double *lu, const int32_t *pivot, double *b);
/* The same for `count` right-hand sides of n numbers each, one after the other: the same bits, sooner. */
void fx_lu_solve_rows(int32_t n, const double *lu, const int32_t *pivot, int32_t count, double *b);

/* a . b in four partial sums, so that the order of additions is the same however wide the machine's registers are. */
static inline __attribute__((always_inline)) double fx_dot_quad(int32_t n, const double *a, const double *b) {
  typedef double lanes __attribute__((vector_size(32), aligned(8)));
  lanes s = {0, 0, 0, 0};
  int32_t k = 0;
  for (; k + 4 <= n; k += 4) s += *(const lanes *)(a + k) * *(const lanes *)(b + k);
  double s0 = s[0];
  for (; k < n; k++) s0 += a[k] * b[k];
  return (s0 + s[1]) + (s[2] + s[3]);
}

#endif
