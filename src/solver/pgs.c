/* pgs: projected Gauss-Seidel with box friction, the method of game engines. APPROXIMATE.
 *
 *   normal row:   r_N := max(0, r_N - u_N / W_NN)
 *   each tangent: r_k := clamp(r_k - u_k / W_kk, -mu r_N, +mu r_N)
 *
 * The friction disc becomes a square along the given tangents, so friction depends on direction by up to sqrt(2), and
 * its fixed point is not Coulomb's law: the certificate shows by how much. */
#include "solver/solver.h"

#include <math.h>
#include <string.h>

static double bound_of(const frix_contact *contact, int32_t k, double normal) {
  double mu = k >= 3 ? contact->mu_r : contact->mu;
  return contact->cone == FRIX_CONE_FRICTIONLESS ? 0 : mu * normal;
}

/* One scalar row: returns the new value. */
static double project_row(const frix_contact *contact, int32_t k, const double *r, double velocity, double diagonal) {
  if (!(diagonal > 0)) return r[k];
  double value = r[k] - velocity / diagonal;
  if (contact->cone == FRIX_CONE_BILATERAL) return value;
  if (k == 0) return value > 0 ? value : 0;
  double bound = bound_of(contact, k, r[0]);
  return value > bound ? bound : value < -bound ? -bound : value;
}

/* Velocity of one row, from W or from v. */
static double row_velocity(const fx_system *s, int32_t i, int32_t a, const double *r, const double *v) {
  int32_t row = s->row[i] + a;
  double u = (s->has_velocity ? s->w[row] : s->q[row]) + (s->R ? s->R[row] * r[row] : 0);
  const fx_block_matrix *m = s->has_velocity ? &s->Ht : &s->W;
  const double *x = s->has_velocity ? v : r;
  for (int32_t k = m->start[i]; k < m->start[i + 1]; k++) {
    int32_t n = fx_block_cols(m, k);
    const double *block = fx_block(m, k) + a * n, *y = x + m->col[m->index[k]];
    for (int32_t c = 0; c < n; c++) u += block[c] * y[c];
  }
  return u;
}

static void move_row(const fx_block_matrix *Y, int32_t i, int32_t a, double change, double *v) {
  for (int32_t k = Y->start[i]; k < Y->start[i + 1]; k++) {
    int32_t n = fx_block_cols(Y, k);
    const double *y = fx_block(Y, k) + a * n;
    for (int32_t c = 0; c < n; c++) v[Y->col[Y->index[k]] + c] += y[c] * change;
  }
}

static frix_status solve(fx_call *call) {
  const fx_system *s = call->system;
  double *v = FX_TAKE(call->arena, double, s->dof_count), *r = call->r;
  const fx_block_matrix *Y = s->has_velocity ? fx_system_response(s) : NULL;
  if (!v || (s->has_velocity && !Y)) return FRIX_ERROR_MEMORY;
  if (s->has_velocity) fx_system_motion(s, r, v);
  fx_monitor_begin(call->monitor, 10000);
  for (int64_t k = 1;; k++) {
    double change = 0, size = 0;
    for (int32_t i = 0; i < s->contact_count; i++) {
      int32_t d = s->contact[i].dim;
      double *ri = r + s->row[i];
      const double *D = s->D + s->diagonal[i];
      for (int32_t a = 0; a < d; a++) {
        double fresh = project_row(&s->contact[i], a, ri, row_velocity(s, i, a, r, v), D[a * d + a]);
        double step = fresh - ri[a];
        ri[a] = fresh;
        change += step * step;
        size += fresh * fresh;
        if (s->has_velocity) move_row(Y, i, a, step, v);
      }
    }
    if (!fx_monitor_due(call->monitor, k, sqrt(change / (size > 0 ? size : 1)))) continue;
    if (fx_monitor_check(call->monitor, k, r)) return FRIX_OK;
    if (change == 0) { /* its own fixed point: more sweeps change nothing */
      call->monitor->outcome = FRIX_OUTCOME_STALLED;
      return FRIX_OK;
    }
    if (s->has_velocity) memcpy(v, call->monitor->v, (size_t)s->dof_count * sizeof *v);
  }
}

const fx_solver fx_solver_pgs = {
    .info = {.name = "pgs",
             .summary = "projected Gauss-Seidel with box friction, as in game engines (approximate)",
             .approximate = true,
             .coulomb = true,
             .cones = FX_ALL_CONES & ~(1u << FRIX_CONE_ELLIPTIC)},
    .solve = solve,
};
