/* LU with partial pivoting: the largest entry of the column becomes the pivot, the first one among equals. */
#include "linalg/dense.h"

#include <math.h>

#include "linalg/product.h"
#include "linalg/scaled_row.h"

#define INLINE static inline __attribute__((always_inline))

enum { TOGETHER = 3, WIDE = 12 }; /* rows of a contact; rows from which wide registers pay */
enum { FX_LU_MOST = 1024 };

INLINE bool factor(int32_t n, double *a, int32_t *pivot) {
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
      fx_subtract_scaled(n - k - 1, factor, a + k * n + k + 1, a + i * n + k + 1);
    }
  }
  return true;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static bool factor_avx2(int32_t n, double *a, int32_t *pivot) {
  return factor(n, a, pivot);
}

static bool factor_wide(int32_t n, double *a, int32_t *pivot) {
  return __builtin_cpu_supports("avx2") ? factor_avx2(n, a, pivot) : factor(n, a, pivot);
}
#else
static bool factor_wide(int32_t n, double *a, int32_t *pivot) { return factor(n, a, pivot); }
#endif

/* ---- large ones by panels ---- */

enum { PANEL = 8, BLOCKED = 32 }; /* columns of a panel; the smallest matrix that is factored by panels */

/* The panel of columns k to end, with its pivots; whole rows are swapped. */
static bool factor_panel(int32_t n, int32_t k, int32_t end, double *a, int32_t *pivot) {
  for (; k < end; k++) {
    int32_t best = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabs(a[(size_t)i * n + k]) > fabs(a[(size_t)best * n + k])) best = i;
    pivot[k] = best;
    double *own = a + (size_t)k * n, *other = a + (size_t)best * n;
    if (!(fabs(other[k]) > 0) || !isfinite(other[k])) return false;
    for (int32_t j = 0; j < n && best != k; j++) {
      double swap = own[j];
      own[j] = other[j], other[j] = swap;
    }
    double inverse = 1 / own[k];
    for (int32_t i = k + 1; i < n; i++) {
      double *row = a + (size_t)i * n, factor = row[k] * inverse;
      row[k] = factor;
      if (factor != 0) fx_subtract_scaled(end - k - 1, factor, own + k + 1, row + k + 1);
    }
  }
  return true;
}

/* Every entry is updated in the order of the pivots, as in factor(): the same bits. */
static bool factor_panels(int32_t n, double *a, int32_t *pivot) {
  size_t to[FX_LU_MOST];
  double strip[PANEL * FX_STRIP];
  for (int32_t i = 0; i < n; i++) to[i] = (size_t)i * n;
  for (int32_t k = 0; k < n; k += PANEL) {
    int32_t end = k + PANEL < n ? k + PANEL : n;
    if (!factor_panel(n, k, end, a, pivot)) return false;
    for (int32_t i = k + 1; i < end; i++)
      for (int32_t j = k; j < i; j++)
        fx_subtract_scaled(n - end, a[(size_t)i * n + j], a + (size_t)j * n + end, a + (size_t)i * n + end);
    for (int32_t c = end, width; c < n; c += width) {
      width = fx_strip_width(n - c);
      for (int32_t j = k; j < end; j++)
        for (int32_t e = 0; e < width; e++) strip[(j - k) * width + e] = a[(size_t)j * n + c + e];
      fx_subtract_strip(n - end, width, end - k, a + (size_t)end * n + k, (size_t)n, strip, a + c, to + end);
    }
  }
  return true;
}

/* The common block of a contact has a size the compiler knows. Rows are updated number by number: the bits depend
 * neither on how wide the machine's registers are nor on panels. */
bool fx_lu_factor(int32_t n, double *a, int32_t *pivot) {
  if (n == 3) return factor(3, a, pivot);
  if (n >= BLOCKED && n <= FX_LU_MOST) return factor_panels(n, a, pivot);
  return n < WIDE ? factor(n, a, pivot) : factor_wide(n, a, pivot);
}

double fx_lu_sign(int32_t n, const double *lu, const int32_t *pivot) {
  double sign = 1;
  for (int32_t k = 0; k < n; k++)
    if ((pivot[k] != k) != (lu[k * n + k] < 0)) sign = -sign;
  return sign;
}

/* Several right-hand sides at once: each has the order of additions it would have alone, and their chains overlap. */
INLINE void solve_rows(int32_t n, int32_t count, const double *lu, const int32_t *pivot, double *b) {
  double x[TOGETHER];
  for (int32_t k = 0; k < n; k++)
    for (int32_t r = 0; r < count; r++) {
      double swap = b[r * n + k];
      b[r * n + k] = b[r * n + pivot[k]];
      b[r * n + pivot[k]] = swap;
    }
  for (int32_t i = 1; i < n; i++) {
    for (int32_t r = 0; r < count; r++) x[r] = b[r * n + i];
    for (int32_t j = 0; j < i; j++)
      for (int32_t r = 0; r < count; r++) x[r] -= lu[i * n + j] * b[r * n + j];
    for (int32_t r = 0; r < count; r++) b[r * n + i] = x[r];
  }
  for (int32_t i = n - 1; i >= 0; i--) {
    for (int32_t r = 0; r < count; r++) x[r] = b[r * n + i];
    for (int32_t j = i + 1; j < n; j++)
      for (int32_t r = 0; r < count; r++) x[r] -= lu[i * n + j] * b[r * n + j];
    for (int32_t r = 0; r < count; r++) b[r * n + i] = x[r] / lu[i * n + i];
  }
}

void fx_lu_solve(int32_t n, const double *lu, const int32_t *pivot, double *b) { solve_rows(n, 1, lu, pivot, b); }

void fx_lu_solve_rows(int32_t n, const double *lu, const int32_t *pivot, int32_t count, double *b) {
  for (; count >= TOGETHER; count -= TOGETHER, b += TOGETHER * n) {
    if (n == 6)
      solve_rows(6, TOGETHER, lu, pivot, b);
    else if (n == 3)
      solve_rows(3, TOGETHER, lu, pivot, b);
    else
      solve_rows(n, TOGETHER, lu, pivot, b);
  }
  for (; count > 0; count--, b += n) solve_rows(n, 1, lu, pivot, b);
}
