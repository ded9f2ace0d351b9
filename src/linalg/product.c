/* Products of small dense blocks: rows of c stay in registers while b streams by. Compiled once for every machine and,
 * on x86, once more for AVX2; both give the same bits, since lanes never mix and nothing is contracted. */
#include "linalg/product.h"

typedef double lanes __attribute__((vector_size(32), aligned(8)));

/* Width lanes of c: columns at .. at + 4 count - 1 of one row. */
#define ROW_BY_LANES(COUNT)                                                                   \
  do {                                                                                        \
    lanes sum[COUNT];                                                                         \
    for (int w = 0; w < (COUNT); w++) sum[w] = *(const lanes *)(c + 4 * w);                   \
    for (int32_t e = 0; e < k; e++)                                                           \
      for (int w = 0; w < (COUNT); w++) sum[w] -= a[e] * *(const lanes *)(b + e * n + 4 * w); \
    for (int w = 0; w < (COUNT); w++) *(lanes *)(c + 4 * w) = sum[w];                         \
  } while (0)

static inline __attribute__((always_inline)) void product(int32_t m, int32_t n, int32_t k, const double *restrict a,
                                                          const double *restrict b, double *restrict c) {
  const double *b0 = b;
  for (int32_t i = 0; i < m; i++, a += k) {
    int32_t left = n;
    b = b0;
    for (; left >= 12; left -= 12, b += 12, c += 12) ROW_BY_LANES(3);
    for (; left >= 4; left -= 4, b += 4, c += 4) ROW_BY_LANES(1);
    for (; left > 0; left--, b++, c++) {
      double sum = *c;
      for (int32_t e = 0; e < k; e++) sum -= a[e] * b[e * n];
      *c = sum;
    }
  }
}

static inline __attribute__((always_inline)) void dispatch(int32_t m, int32_t n, int32_t k, const double *a,
                                                           const double *b, double *c) {
  if (m == 6 && n == 6 && k == 6)
    product(6, 6, 6, a, b, c);
  else if (m == 3 && n == 3 && k == 3)
    product(3, 3, 3, a, b, c);
  else
    product(m, n, k, a, b, c);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void product_avx2(int32_t m, int32_t n, int32_t k, const double *a,
                                                         const double *b, double *c) {
  dispatch(m, n, k, a, b, c);
}

void fx_subtract_product(int32_t m, int32_t n, int32_t k, const double *a, const double *b, double *c) {
  if (__builtin_cpu_supports("avx2"))
    product_avx2(m, n, k, a, b, c);
  else
    dispatch(m, n, k, a, b, c);
}
#else
void fx_subtract_product(int32_t m, int32_t n, int32_t k, const double *a, const double *b, double *c) {
  dispatch(m, n, k, a, b, c);
}
#endif
