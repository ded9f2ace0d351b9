/* Rows that lose or gain multiples of others, in short loops: four numbers at a time, each with the bits it has alone.
 * Compiled where they are used, for the registers there. */
#ifndef FX_LINALG_SCALED_ROW_H
#define FX_LINALG_SCALED_ROW_H

#include <stdint.h>

typedef double fx_two __attribute__((vector_size(2 * sizeof(double)), aligned(8)));
typedef double fx_four __attribute__((vector_size(4 * sizeof(double)), aligned(8)));

/* to -= factor from */
static inline __attribute__((always_inline)) void fx_subtract_scaled(int32_t n, double factor,
                                                                     const double *restrict from, double *restrict to) {
  int32_t k = 0;
  for (; k + 4 <= n; k += 4) *(fx_four *)(to + k) -= factor * *(const fx_four *)(from + k);
  if (n & 2) *(fx_two *)(to + k) -= factor * *(const fx_two *)(from + k);
  if (n & 1) to[n - 1] -= factor * from[n - 1];
}

/* to += factor[0] from[0] + ..., in turn, of so many rows */
static inline __attribute__((always_inline)) void fx_add_scaled(int32_t n, int32_t rows, const double *factor,
                                                                const double *const *from, double *restrict to) {
  int32_t k = 0;
  for (; k + 4 <= n; k += 4) {
    fx_four sum = *(const fx_four *)(to + k);
    for (int32_t i = 0; i < rows; i++) sum += factor[i] * *(const fx_four *)(from[i] + k);
    *(fx_four *)(to + k) = sum;
  }
  for (int32_t i = 0; i < rows && n & 2; i++) *(fx_two *)(to + k) += factor[i] * *(const fx_two *)(from[i] + k);
  for (int32_t i = 0; i < rows && n & 1; i++) to[n - 1] += factor[i] * from[i][n - 1];
}

#endif
