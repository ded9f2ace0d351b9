/* Whether to believe an answer.
 *
 * The certificate of the step's problem decides, with one exception: where every error is below the rounding of the
 * velocities it is made of, a relative residual says nothing, and the step is certified. */
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

bool fx_certified(const frix_sim *sim, const fx_assembly *a) {
  const frix_certificate *c = &sim->report.certificate;
  if (c->residual <= sim->config.tolerance) return true;
  double worst = c->worst_velocity > c->bilateral ? c->worst_velocity : c->bilateral;
  return worst <= 1e-13 * rounding_scale(sim, a);
}
