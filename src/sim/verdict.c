/* Whether to believe an answer.
 *
 * The certificate of the step's problem decides, with two exceptions. Where every error is below the rounding of the
 * velocities it is made of, a relative residual says nothing: certified. Where impulses grew until every error was
 * small beside them, it says nothing either: not certified. */
#include "problem/cone.h"
#include "sim/sim.h"

#include <math.h>

/* Largest sum of |J v| over the rows: what their velocities are rounded from. */
static double rounding_scale(const frix_sim *sim, const fx_assembly *a) {
  double most = 0.0;
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    double row[FRIX_MAX_DIM] = {0};
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_mover *m = &sim->mover[g->mover[b]];
      frix_vec3 v = m->v_free, w = m->w_free;
      double x[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
      if (m->dof == 3) x[2] = w.z;
      for (int32_t j = 0; j < g->dim; j++)
        for (int32_t c = 0; c < m->dof; c++) row[j] += fabs(J[j * m->dof + c] * x[c]);
      J += g->dim * m->dof;
    }
    for (int32_t j = 0; j < g->dim; j++) most = fmax(most, row[j] + fabs(a->w[g->row + j]));
  }
  return most;
}

double fx_free_energy(const frix_sim *sim) {
  double sum = 0.0;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    sum += 0.5 * (m->mass * fx_norm2(m->v_free) + fx_dot(m->w_free, fx_sym3_mul(m->J, m->w_free)));
  }
  return sum;
}

/* Where no answer exists, as for a body in a slot that is too narrow and pushes from both sides, a method raises the
 * impulses until every error is small beside them. Such an answer breaks the law, r . u~ = 0, by more work than the
 * motion has energy, at a tolerance of 1e-8; by as much more or less at others. Answers that exist stay below by 1e3
 * (arches and towers of 100), and by 30 where a mass stands on one a million times lighter. */
bool fx_runs_away(const frix_sim *sim, const fx_assembly *a, const frix_certificate *c) {
  double energy = fx_free_energy(sim), broken = 0.0, part = 1e8 * sim->config.tolerance;
  if (fabs(c->power) <= part * energy) return false;
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    double u[FRIX_MAX_DIM], q[FRIX_MAX_DIM], work = 0.0;
    fx_group_velocities(sim, a, g, FX_AFTER, u);
    fx_group_velocities(sim, a, g, FX_FREE, q);
    for (int32_t j = 0; j < g->dim; j++) {
      int32_t row = g->row + j;
      double weight = fx_group_weight(sim, a, g, j) + a->R[row];
      u[j] += a->w[row] - a->drive[row] + a->R[row] * (a->r[row] - a->r_c[row]);
      q[j] += a->w[row] - a->drive[row] - a->R[row] * a->r_c[row];
      if (weight > 0.0) energy += 0.5 * q[j] * q[j] / weight;
      work += a->r[row] * u[j];
    }
    if (sim->config.law == FRIX_LAW_COULOMB) work += a->r[g->row] * fx_cone_shift(&a->law[k], u);
    broken += fabs(work);
  }
  return broken > part * energy;
}

bool fx_certified(const frix_sim *sim, const fx_assembly *a) {
  const frix_certificate *c = &sim->report.certificate;
  if (c->residual <= sim->config.tolerance) return !fx_runs_away(sim, a, c);
  double worst = c->worst_velocity > c->bilateral ? c->worst_velocity : c->bilateral;
  return worst <= 1e-13 * rounding_scale(sim, a);
}
