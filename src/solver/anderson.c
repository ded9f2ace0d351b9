/* Anderson acceleration. Least squares by modified Gram-Schmidt, newest difference first, so that what falls away as
 * dependent is old. */
#include "solver/anderson.h"

#include "solver/scaling.h"

#include <math.h>
#include <string.h>

frix_status fx_anderson_init(fx_arena *arena, int32_t size, int32_t memory, fx_anderson *a) {
  if (memory > FX_ANDERSON_LARGEST) memory = FX_ANDERSON_LARGEST;
  size_t n = (size_t)size, room = n * (size_t)memory;
  *a = (fx_anderson){.size = size, .memory = memory, .count = -1};
  a->df = FX_TAKE(arena, double, room);
  a->dg = FX_TAKE(arena, double, room);
  a->Q = FX_TAKE(arena, double, room);
  a->f = FX_TAKE(arena, double, n);
  a->g = FX_TAKE(arena, double, n);
  return a->df && a->dg && a->Q && a->f && a->g ? FRIX_OK : FRIX_ERROR_MEMORY;
}

void fx_anderson_reset(fx_anderson *a) { a->count = -1; }

/* Stores the differences to the last step in place of the oldest ones. */
static void remember(fx_anderson *a, const double *x, const double *image) {
  int32_t n = a->size;
  if (a->count >= 0 && a->memory > 0) {
    a->newest = a->count == 0 ? 0 : (a->newest + 1) % a->memory;
    if (a->count < a->memory) a->count++;
    double *df = a->df + (size_t)a->newest * (size_t)n, *dg = a->dg + (size_t)a->newest * (size_t)n;
    for (int32_t k = 0; k < n; k++) {
      df[k] = image[k] - x[k] - a->f[k];
      dg[k] = image[k] - a->g[k];
    }
  } else {
    a->count = 0;
  }
  for (int32_t k = 0; k < n; k++) {
    a->f[k] = image[k] - x[k];
    a->g[k] = image[k];
  }
}

double fx_anderson_step(fx_anderson *a, const double *x, const double *image, double *next) {
  int32_t n = a->size, rank = 0, column[FX_ANDERSON_LARGEST];
  double R[FX_ANDERSON_LARGEST][FX_ANDERSON_LARGEST], c[FX_ANDERSON_LARGEST];
  remember(a, x, image);

  /* QR of the differences, newest first. */
  for (int32_t j = 0; j < a->count; j++) {
    int32_t from = (a->newest - j + a->memory) % a->memory;
    double *q = a->Q + (size_t)rank * (size_t)n;
    memcpy(q, a->df + (size_t)from * (size_t)n, (size_t)n * sizeof *q);
    double size = fx_dot(n, q, q);
    for (int32_t i = 0; i < rank; i++) {
      const double *p = a->Q + (size_t)i * (size_t)n;
      R[i][rank] = fx_dot(n, p, q);
      for (int32_t k = 0; k < n; k++) q[k] -= R[i][rank] * p[k];
    }
    double rest = fx_dot(n, q, q);
    if (!(rest > 1e-16 * size)) continue;
    R[rank][rank] = sqrt(rest);
    for (int32_t k = 0; k < n; k++) q[k] /= R[rank][rank];
    column[rank++] = from;
  }

  /* gamma = R^-1 Q' f, then the step. */
  for (int32_t i = 0; i < rank; i++) c[i] = fx_dot(n, a->Q + (size_t)i * (size_t)n, a->f);
  for (int32_t i = rank - 1; i >= 0; i--) {
    for (int32_t j = i + 1; j < rank; j++) c[i] -= R[i][j] * c[j];
    c[i] /= R[i][i];
  }
  memmove(next, a->g, (size_t)n * sizeof *next);
  for (int32_t i = 0; i < rank; i++) {
    const double *dg = a->dg + (size_t)column[i] * (size_t)n;
    for (int32_t k = 0; k < n; k++) next[k] -= c[i] * dg[k];
  }
  return sqrt(fx_dot(n, a->f, a->f));
}
