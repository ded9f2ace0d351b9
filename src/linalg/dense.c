/* LU with partial pivoting: the largest entry of the column becomes the pivot, the first one among equals. */
#include "linalg/dense.h"

#include <math.h>

bool fx_lu_factor(int32_t n, double *a, int32_t *pivot) {
  for (int32_t k = 0; k < n; k++) {
    int32_t best = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
    pivot[k] = best;
    if (!(fabs(a[best * n + k]) > 0) || !isfinite(a[best * n + k])) return false;
    if (best != k)
      for (int32_t j = 0; j < n; j++) {
        double swap = a[k * n + j];
        a[k * n + j] = a[best * n + j];
        a[best * n + j] = swap;
      }
    double inverse = 1 / a[k * n + k];
    for (int32_t i = k + 1; i < n; i++) {
      double factor = a[i * n + k] * inverse;
      a[i * n + k] = factor;
      if (factor == 0) continue;
      for (int32_t j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return true;
}

double fx_lu_sign(int32_t n, const double *lu, const int32_t *pivot) {
  double sign = 1;
  for (int32_t k = 0; k < n; k++)
    if ((pivot[k] != k) != (lu[k * n + k] < 0)) sign = -sign;
  return sign;
}

void fx_lu_solve(int32_t n, const double *lu, const int32_t *pivot, double *b) {
  for (int32_t k = 0; k < n; k++) {
    double swap = b[k];
    b[k] = b[pivot[k]];
    b[pivot[k]] = swap;
  }
  for (int32_t i = 1; i < n; i++)
    for (int32_t j = 0; j < i; j++) b[i] -= lu[i * n + j] * b[j];
  for (int32_t i = n - 1; i >= 0; i--) {
    for (int32_t j = i + 1; j < n; j++) b[i] -= lu[i * n + j] * b[j];
    b[i] /= lu[i * n + i];
  }
}
