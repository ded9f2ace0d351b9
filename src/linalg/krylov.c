/* Preconditioned conjugate gradients and BiCGStab. References: M. Hestenes, E. Stiefel, 1952; H. van der Vorst,
 * Bi-CGSTAB, 1992, preconditioned from the right. */
#include "linalg/krylov.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

frix_status fx_krylov_take(fx_arena *arena, int32_t n, fx_krylov *out) {
  *out = (fx_krylov){.n = n, .tolerance = 1e-10, .limit = 1000};
  for (size_t k = 0; k < sizeof out->work / sizeof *out->work; k++)
    if (!(out->work[k] = FX_TAKE(arena, double, n))) return FRIX_ERROR_MEMORY;
  return FRIX_OK;
}

/* y += f x */
static void add(int32_t n, double f, const double *restrict x, double *restrict y) {
  for (int32_t k = 0; k < n; k++) y[k] += f * x[k];
}

/* The best answer so far, since residuals may grow on the way. */
typedef struct record {
  double *x, residual;
  int32_t n;
} record;

static void keep(record *best, const double *x, double residual) {
  if (!(residual < best->residual)) return;
  best->residual = residual;
  memcpy(best->x, x, (size_t)best->n * sizeof *x);
}

fx_krylov_end fx_krylov_symmetric(const fx_krylov *k, const double *b, double *x) {
  int32_t n = k->n;
  double *r = k->work[0], *z = k->work[1], *p = k->work[2], *q = k->work[3];
  double size = sqrt(fx_dot_quad(n, b, b)), rho = 0;
  record best = {k->work[4], 1, n};
  fx_krylov_end end = {0, 0};
  memset(x, 0, (size_t)n * sizeof *x);
  memset(best.x, 0, (size_t)n * sizeof *x);
  if (!(size > 0)) return end;
  memcpy(r, b, (size_t)n * sizeof *r);
  memset(p, 0, (size_t)n * sizeof *p);
  while (end.iterations < k->limit && best.residual > k->tolerance) {
    k->precondition(k->user, r, z);
    double fresh = fx_dot_quad(n, r, z), beta = rho > 0 ? fresh / rho : 0;
    for (int32_t e = 0; e < n; e++) p[e] = z[e] + beta * p[e];
    k->apply(k->user, p, q);
    double curvature = fx_dot_quad(n, p, q);
    if (!(fresh > 0) || !(curvature > 0)) break; /* not definite */
    rho = fresh;
    add(n, rho / curvature, p, x);
    add(n, -rho / curvature, q, r);
    end.iterations++;
    keep(&best, x, sqrt(fx_dot_quad(n, r, r)) / size);
  }
  memcpy(x, best.x, (size_t)n * sizeof *x);
  end.residual = best.residual;
  return end;
}

fx_krylov_end fx_krylov_general(const fx_krylov *k, const double *b, double *x) {
  int32_t n = k->n;
  double *r = k->work[0], *shadow = k->work[1], *p = k->work[2], *v = k->work[3], *t = k->work[4], *y = k->work[5];
  double *z = k->work[6], size = sqrt(fx_dot_quad(n, b, b)), rho = 1, alpha = 1, omega = 1;
  record best = {k->work[7], 1, n};
  fx_krylov_end end = {0, 0};
  memset(x, 0, (size_t)n * sizeof *x);
  memset(best.x, 0, (size_t)n * sizeof *x);
  if (!(size > 0)) return end;
  memcpy(r, b, (size_t)n * sizeof *r);
  memcpy(shadow, b, (size_t)n * sizeof *r);
  memset(p, 0, (size_t)n * sizeof *p);
  memset(v, 0, (size_t)n * sizeof *v);
  while (end.iterations < k->limit && best.residual > k->tolerance) {
    double fresh = fx_dot_quad(n, shadow, r), beta = fresh / rho * (alpha / omega);
    if (fresh == 0 || !isfinite(beta)) break;
    rho = fresh;
    for (int32_t e = 0; e < n; e++) p[e] = r[e] + beta * (p[e] - omega * v[e]);
    k->precondition(k->user, p, y);
    k->apply(k->user, y, v);
    alpha = rho / fx_dot_quad(n, shadow, v);
    if (!isfinite(alpha)) break;
    add(n, -alpha, v, r);
    k->precondition(k->user, r, z);
    k->apply(k->user, z, t);
    double length = fx_dot_quad(n, t, t);
    omega = length > 0 ? fx_dot_quad(n, t, r) / length : 0;
    add(n, alpha, y, x);
    add(n, omega, z, x);
    add(n, -omega, t, r);
    end.iterations++;
    keep(&best, x, sqrt(fx_dot_quad(n, r, r)) / size);
    if (omega == 0) break;
  }
  memcpy(x, best.x, (size_t)n * sizeof *x);
  end.residual = best.residual;
  return end;
}
