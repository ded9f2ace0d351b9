/* Anderson mixing: from the last rounds x_j -> g_j with f_j = g_j - x_j,
 *
 *   next x = P_K(sum alpha_j g_j),   alpha = argmin | sum alpha_j f_j |,   sum alpha_j = 1
 *
 * by the Gram matrix of the f_j, of which a round changes one row. Reference: H. Walker, P. Ni, Anderson acceleration
 * for fixed-point iterations, 2011. */
#include "solver/sweeps_mix.h"

#include <math.h>
#include <string.h>

#define EACH_PRECISION(full, run_single, run_full) \
  do {                                             \
    if (full)                                      \
      run_full;                                    \
    else                                           \
      run_single;                                  \
  } while (0)

/* ---- vectors in either precision; sums in fixed order, eight at a time ---- */

#define DEFINE_VECTORS(REAL, name)                                                                  \
  static double dot_##name(size_t n, const REAL *a, const REAL *b) {                                \
    double total = 0;                                                                               \
    for (size_t first = 0; first < n; first += 1536) {                                              \
      REAL sum[24] = {0};                                                                           \
      size_t last = n - first < 1536 ? n : first + 1536;                                            \
      for (size_t k = first; k < last; k += 24)                                                     \
        for (size_t e = 0; e < 24; e++) sum[e] += a[k + e] * b[k + e];                              \
      for (size_t e = 0; e < 24; e++) total += (double)sum[e];                                      \
    }                                                                                               \
    return total;                                                                                   \
  }                                                                                                 \
  static void add_##name(size_t n, REAL factor, const REAL *restrict a, REAL *restrict out) {       \
    for (size_t k = 0; k < n; k++) out[k] += factor * a[k];                                         \
  }                                                                                                 \
  static void scale_##name(size_t n, REAL factor, const REAL *restrict a, REAL *restrict out) {     \
    for (size_t k = 0; k < n; k++) out[k] = factor * a[k];                                          \
  }                                                                                                 \
  static void minus_##name(size_t n, const REAL *restrict a, const REAL *restrict b, REAL *restrict out) { \
    for (size_t k = 0; k < n; k++) out[k] = a[k] - b[k];                                            \
  }

DEFINE_VECTORS(float, single)
DEFINE_VECTORS(double, full)

static size_t bytes(const fx_mix *m, bool full) { return m->length * (full ? sizeof(double) : sizeof(float)); }
static const fx_pile_data *data(const fx_pile *p, bool full) { return full ? &p->full : &p->single; }

frix_status fx_mix_init(fx_arena *arena, const fx_pile *p, bool full, int32_t depth, fx_mix *m) {
  *m = (fx_mix){.depth = depth, .newest = -1, .length = (size_t)p->batch_count * FX_BATCH * 3};
  if (depth == 0) return FRIX_OK;
  if (!(m->start = fx_arena_take(arena, bytes(m, full), 1))) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < depth; k++) {
    m->f[k] = fx_arena_take(arena, bytes(m, full), 1);
    m->g[k] = fx_arena_take(arena, bytes(m, full), 1);
    if (!m->f[k] || !m->g[k]) return FRIX_ERROR_MEMORY;
  }
  return FRIX_OK;
}

void fx_mix_forget(fx_mix *m) {
  m->count = 0;
  m->newest = -1;
}

void fx_mix_begin(fx_mix *m, const fx_pile *p, bool full) { memcpy(m->start, data(p, full)->z, bytes(m, full)); }

double fx_mix_end(fx_mix *m, const fx_pile *p, bool full) {
  int32_t k = m->newest = (m->newest + 1) % m->depth;
  if (m->count < m->depth) m->count++;
  const void *z = data(p, full)->z;
  memcpy(m->g[k], z, bytes(m, full));
  EACH_PRECISION(full, minus_single(m->length, z, m->start, m->f[k]), minus_full(m->length, z, m->start, m->f[k]));
  for (int32_t j = 0; j < m->count; j++) {
    double *a = &m->gram[k * FX_MIX_MOST + j];
    EACH_PRECISION(full, *a = dot_single(m->length, m->f[k], m->f[j]), *a = dot_full(m->length, m->f[k], m->f[j]));
    m->gram[j * FX_MIX_MOST + k] = *a;
  }
  return m->gram[k * FX_MIX_MOST + k];
}

/* Symmetric positive system of a few unknowns by Cholesky; unknowns whose pivot vanishes are left at zero. */
static void solve_small(int32_t n, double *a, double *x) {
  bool dead[FX_MIX_MOST] = {false};
  for (int32_t j = 0; j < n; j++) {
    double pivot = a[j * FX_MIX_MOST + j], start = pivot;
    for (int32_t k = 0; k < j; k++) pivot -= a[j * FX_MIX_MOST + k] * a[j * FX_MIX_MOST + k];
    dead[j] = !(pivot > 1e-12 * start);
    double diagonal = dead[j] ? 1 : sqrt(pivot);
    for (int32_t i = j; i < n; i++) {
      double sum = a[i * FX_MIX_MOST + j];
      for (int32_t k = 0; k < j; k++) sum -= a[i * FX_MIX_MOST + k] * a[j * FX_MIX_MOST + k];
      a[i * FX_MIX_MOST + j] = dead[j] ? 0 : i == j ? diagonal : sum / diagonal;
    }
  }
  for (int32_t i = 0; i < n; i++) {
    for (int32_t k = 0; k < i; k++) x[i] -= a[i * FX_MIX_MOST + k] * x[k];
    x[i] = dead[i] ? 0 : x[i] / a[i * FX_MIX_MOST + i];
  }
  for (int32_t i = n - 1; i >= 0; i--) {
    for (int32_t k = i + 1; k < n; k++) x[i] -= a[k * FX_MIX_MOST + i] * x[k];
    x[i] = dead[i] ? 0 : x[i] / a[i * FX_MIX_MOST + i];
  }
}

/* alpha of all rounds but the newest; the newest has the rest of 1. */
static void weights(const fx_mix *m, int32_t *round, double *alpha) {
  int32_t n = 0, last = m->newest;
  double a[FX_MIX_MOST * FX_MIX_MOST];
  for (int32_t j = 0; j < m->count; j++)
    if (j != last) round[n++] = j;
#define GRAM(i, j) m->gram[(i)*FX_MIX_MOST + (j)]
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++)
      a[i * FX_MIX_MOST + j] =
          GRAM(round[i], round[j]) - GRAM(round[i], last) - GRAM(last, round[j]) + GRAM(last, last);
    a[i * FX_MIX_MOST + i] *= 1 + 1e-10;
    alpha[i] = GRAM(last, last) - GRAM(round[i], last);
  }
#undef GRAM
  solve_small(n, a, alpha);
}

#define DEFINE_PROJECT(REAL, ROOT, LANES, name)                                                          \
  static void project_##name(const fx_pile *p, REAL *z, const REAL *field) {                             \
    const REAL *mu = field + FX_MU * LANES;                                                              \
    int32_t groups = p->batch_count * (FX_BATCH / LANES);                                                \
    for (int32_t g = 0; g < groups; g++, z += 3 * LANES, mu += (size_t)p->field_count * LANES)           \
      for (int e = 0; e < LANES; e++) {                                                                  \
        REAL n = z[e] > 0 ? z[e] : 0, s = z[e + LANES], t = z[e + 2 * LANES], radius = mu[e] * n;        \
        REAL length = ROOT(s * s + t * t), factor = length > radius ? radius / length : 1;               \
        z[e] = n;                                                                                        \
        z[e + LANES] = s * factor;                                                                       \
        z[e + 2 * LANES] = t * factor;                                                                   \
      }                                                                                                  \
  }

DEFINE_PROJECT(float, sqrtf, 8, single)
DEFINE_PROJECT(double, sqrt, 4, full)

void fx_mix_apply(fx_mix *m, const fx_pile *p, bool full) {
  int32_t round[FX_MIX_MOST];
  double alpha[FX_MIX_MOST], rest = 1;
  weights(m, round, alpha);
  for (int32_t j = 0; j < m->count - 1; j++) rest -= alpha[j];
  void *z = data(p, full)->z;
  EACH_PRECISION(full, scale_single(m->length, (float)rest, m->g[m->newest], z),
                 scale_full(m->length, rest, m->g[m->newest], z));
  for (int32_t j = 0; j < m->count - 1; j++)
    EACH_PRECISION(full, add_single(m->length, (float)alpha[j], m->g[round[j]], z),
                   add_full(m->length, alpha[j], m->g[round[j]], z));
  EACH_PRECISION(full, project_single(p, z, p->single.field), project_full(p, z, p->full.field));
  memcpy(data(p, full)->y, z, bytes(m, full));
}

void fx_mix_revert(const fx_mix *m, const fx_pile *p, bool full) {
  memcpy(data(p, full)->z, m->g[m->newest], bytes(m, full));
  memcpy(data(p, full)->y, m->g[m->newest], bytes(m, full));
}
