/* Ways out of a local minimum: sweeps and scaling. */
#include "solver/implicit_recover.h"

#include <math.h>
#include <string.h>

/* u_i = (A f + q)_i; returns the largest row sum of |A_ii|. */
static double velocity_of(const fx_implicit *m, int32_t i, double *u) {
  int32_t d = m->contact[i].dim;
  double most = 0;
  memcpy(u, m->q + m->row[i], (size_t)d * sizeof *u);
  for (int32_t k = m->A.start[i]; k < m->A.start[i + 1]; k++) {
    int32_t j = m->A.index[k], n = m->contact[j].dim;
    const double *a = fx_block(&m->A, k), *f = m->f + m->row[j];
    for (int32_t r = 0; r < d; r++) {
      double sum = 0;
      for (int32_t c = 0; c < n; c++) {
        u[r] += a[r * n + c] * f[c];
        sum += fabs(a[r * n + c]);
      }
      if (i == j && sum > most) most = sum;
    }
  }
  return most;
}

void fx_implicit_sweeps(fx_implicit *m, int32_t count, double *x) {
  for (int32_t i = 0; i < m->contact_count; i++) fx_implicit_force(&m->contact[i], x + m->row[i], m->f + m->row[i]);
  for (int32_t k = 1; k <= count; k++)
    for (int32_t i = 0; i < m->contact_count; i++) {
      double u[FRIX_MAX_DIM], point[FRIX_MAX_DIM], *f = m->f + m->row[i], size = velocity_of(m, i, u);
      if (!(size > 0)) continue;
      for (int32_t a = 0; a < m->contact[i].dim; a++) point[a] = u[a] / size - f[a];
      fx_implicit_force(&m->contact[i], point, f);
      for (int32_t a = 0; k == count && a < m->contact[i].dim; a++) x[m->row[i] + a] = u[a] - f[a];
    }
}

void fx_implicit_shake(const fx_implicit *m, uint32_t round, double *x) {
  for (int32_t i = 0; i < m->contact_count; i++) {
    uint32_t hash = (uint32_t)i * 2654435761u ^ round * 2246822519u;
    hash = (hash ^ hash >> 15) * 2654435761u;
    double factor = 0.5 + (double)(hash >> 16) / 65536.0;
    for (int32_t k = m->row[i]; k < m->row[i + 1]; k++) x[k] *= factor;
  }
}

void fx_implicit_reweigh(fx_implicit *m, bool by_residual, const double *res) {
  double most = 0;
  for (int32_t i = 0; i < m->contact_count; i++) {
    double own = 0;
    for (int32_t k = m->row[i]; k < m->row[i + 1]; k++) own += res[k] * res[k];
    m->weight[i] = sqrt(own);
    if (m->weight[i] > most) most = m->weight[i];
  }
  for (int32_t i = 0; i < m->contact_count; i++)
    m->weight[i] = by_residual && most > 0 ? 1 + 3 * (m->weight[i] / most) : 1;
}
