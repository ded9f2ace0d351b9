/* Eigenvalues of a dense symmetric matrix: Householder reflections to tridiagonal form, A = Q T Q', then implicit QL
 * rotations with Wilkinson's shift (Golub and Van Loan, Matrix Computations, 8.3). Sums run in one fixed order. */
#include "linalg/symmetric_eigen.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"

/* One reflection: column k below the diagonal becomes a multiple of its first entry. v and w: work. The rows of Z carry
 * Q'. */
static void reflect(int32_t n, int32_t k, double *A, double *Z, double *v, double *w, double *below) {
  int32_t m = n - k - 1;
  double *corner = A + (size_t)(k + 1) * n + k + 1, tail = 0.0;
  for (int32_t i = 0; i < m; i++) v[i] = A[(size_t)(k + 1 + i) * n + k];
  for (int32_t i = 1; i < m; i++) tail += v[i] * v[i];
  *below = v[0];
  if (tail == 0.0) return;
  double length = sqrt(v[0] * v[0] + tail), alpha = v[0] > 0.0 ? -length : length;
  *below = alpha;
  v[0] -= alpha;
  double beta = 2.0 / (v[0] * v[0] + tail), half = 0.0;
  /* w = beta A v - (beta / 2)(beta v'A v) v;  A -= v w' + w v' */
  for (int32_t i = 0; i < m; i++) w[i] = beta * fx_dot_quad(m, corner + (size_t)i * n, v);
  for (int32_t i = 0; i < m; i++) half += w[i] * v[i];
  half *= 0.5 * beta;
  for (int32_t i = 0; i < m; i++) w[i] -= half * v[i];
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < m; j++) corner[(size_t)i * n + j] -= v[i] * w[j] + w[i] * v[j];
  /* Q' := H Q' on rows k + 1 .. */
  memset(w, 0, (size_t)n * sizeof *w);
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < n; j++) w[j] += v[i] * Z[(size_t)(k + 1 + i) * n + j];
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < n; j++) Z[(size_t)(k + 1 + i) * n + j] -= beta * v[i] * w[j];
}

static void turn_rows(int32_t n, double *low, double *high, double c, double s) {
  for (int32_t k = 0; k < n; k++) {
    double x = low[k], y = high[k];
    high[k] = s * x + c * y;
    low[k] = c * x - s * y;
  }
}

/* One implicit QL sweep from row m up to row l. */
static void sweep(int32_t n, int32_t l, int32_t m, double *d, double *e, double *Z) {
  double g = (d[l + 1] - d[l]) / (2.0 * e[l]), r = sqrt(g * g + 1.0), s = 1.0, c = 1.0, p = 0.0;
  g = d[m] - d[l] + e[l] / (g + (g >= 0.0 ? r : -r));
  for (int32_t i = m - 1; i >= l; i--) {
    double f = s * e[i], b = c * e[i];
    r = sqrt(f * f + g * g);
    e[i + 1] = r;
    if (r == 0.0) {
      d[i + 1] -= p;
      e[m] = 0.0;
      return;
    }
    s = f / r, c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2.0 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    turn_rows(n, Z + (size_t)i * n, Z + (size_t)(i + 1) * n, c, s);
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0.0;
}

static bool diagonalise(int32_t n, double *d, double *e, double *Z) {
  for (int32_t l = 0; l < n; l++) {
    for (int turns = 0;; turns++) {
      int32_t m = l;
      for (; m + 1 < n; m++)
        if (fabs(e[m]) <= 0x1p-53 * (fabs(d[m]) + fabs(d[m + 1]))) break;
      if (m == l) break;
      if (turns == 60) return false;
      sweep(n, l, m, d, e, Z);
    }
  }
  return true;
}

static void sort(int32_t n, double *d, double *Z, double *row) {
  for (int32_t k = 0; k < n; k++) {
    int32_t least = k;
    for (int32_t j = k + 1; j < n; j++)
      if (d[j] < d[least]) least = j;
    if (least == k) continue;
    double kept = d[k], *a = Z + (size_t)k * n, *b = Z + (size_t)least * n;
    d[k] = d[least], d[least] = kept;
    memcpy(row, a, (size_t)n * sizeof *a), memcpy(a, b, (size_t)n * sizeof *a), memcpy(b, row, (size_t)n * sizeof *a);
  }
}

bool fx_symmetric_eigen(int32_t n, double *A, double *value, double *vector, double *work) {
  double scale = 0.0, *v = work, *w = work + n, *e = work + 2 * (size_t)n;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j <= i; j++) {
      double x = A[(size_t)i * n + j];
      if (!isfinite(x)) return false;
      scale = fabs(x) > scale ? fabs(x) : scale;
    }
  }
  double down = scale > 0.0 ? 1.0 / scale : 1.0;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j <= i; j++) A[(size_t)i * n + j] *= down, A[(size_t)j * n + i] = A[(size_t)i * n + j];
  memset(vector, 0, (size_t)n * n * sizeof *vector);
  memset(e, 0, (size_t)n * sizeof *e);
  for (int32_t k = 0; k < n; k++) vector[(size_t)k * n + k] = 1.0;
  for (int32_t k = 0; k + 1 < n; k++) reflect(n, k, A, vector, v, w, &e[k]);
  for (int32_t k = 0; k < n; k++) value[k] = A[(size_t)k * n + k];
  if (!diagonalise(n, value, e, vector)) return false;
  sort(n, value, vector, v);
  for (int32_t k = 0; k < n; k++) value[k] *= scale > 0.0 ? scale : 1.0;
  return true;
}
