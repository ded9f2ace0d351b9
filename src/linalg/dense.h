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

/* a . b in four partial sums, so that the order of additions is the same however wide the machine's registers are. */
static inline double fx_dot_quad(int32_t n, const double *a, const double *b) {
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

#endif
