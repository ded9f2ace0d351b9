/* Ways out of a local minimum: sweeps and scaling. */
#include "solver/implicit_recover.h"

#include <math.h>
#include <string.h>

/* u_i = (A f + q)_i; returns A_ii. */
static const double *velocity_of(const fx_implicit *m, int32_t i, double *u) {
  int32_t d = m->contact[i].dim;
  const double *own = NULL;
  memcpy(u, m->q + m->row[i], (size_t)d * sizeof *u);
  for (int32_t k = m->A.start[i]; k < m->A.start[i + 1]; k++) {
    int32_t j = m->A.index[k], n = m->contact[j].dim;
    const double *a = fx_block(&m->A, k), *f = m->f + m->row[j];
    for (int32_t r = 0; r < d; r++)
      for (int32_t c = 0; c < n; c++) u[r] += a[r * n + c] * f[c];
    if (i == j) own = a;
  }
  return own;
}

/* Rows first .. first + size - 1 of a contact take the impulse that stops them, within a ball of radius `bound`, and u
 * follows. */
static void settle(const double *A, int32_t dim, int32_t first, int32_t size, double bound, double *f, double *u) {
  double most = 0, want[FRIX_MAX_DIM], length = 0;
  for (int32_t r = first; r < first + size; r++) {
    double sum = 0;
    for (int32_t c = first; c < first + size; c++) sum += fabs(A[r * dim + c]);
    if (sum > most) most = sum;
  }
  if (!(most > 0)) return;
  for (int32_t a = first; a < first + size; a++) {
    want[a] = f[a] - u[a] / most;
    length += want[a] * want[a];
  }
  length = sqrt(length);
  double share = !(bound > 0) ? 0 : length > bound ? bound / length : 1;
  for (int32_t c = first; c < first + size; c++) {
    double moved = share * want[c] - f[c];
    f[c] += moved;
    for (int32_t r = 0; r < dim; r++) u[r] += A[r * dim + c] * moved;
  }
}

void fx_implicit_sweeps(fx_implicit *m, int32_t count, double *x) {
  for (int32_t i = 0; i < m->contact_count; i++) fx_implicit_force(&m->contact[i], x + m->row[i], m->f + m->row[i]);
  for (int32_t k = 1; k <= count; k++)
    for (int32_t i = 0; i < m->contact_count; i++) {
      const fx_implicit_contact *c = &m->contact[i];
      double u[FRIX_MAX_DIM], *f = m->f + m->row[i];
      const double *A = velocity_of(m, i, u);
      if (!c->unilateral)
        settle(A, c->dim, 0, c->dim, INFINITY, f, u);
      else
        settle(A, c->dim, 0, 1, f[0] - u[0] / A[0] > 0 ? INFINITY : 0, f, u);
      for (int32_t e = 0; e < c->disc_count; e++)
        settle(A, c->dim, c->disc[e].first, c->disc[e].size, c->disc[e].mu * f[0], f, u);
      for (int32_t a = 0; k == count && a < c->dim; a++) x[m->row[i] + a] = u[a] - f[a];
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
