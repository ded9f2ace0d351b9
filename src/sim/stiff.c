/* The stiff law of contact: springs so stiff that their sag lies below the error of the time step.
 *
 *   k = KAPPA m / h^2,   m the larger mass of the two bodies
 *   u_N = v_N + (gap - natural) / t + R r_N,   u_T = v_T + R (r_T - r_T of the last step),   R = 1 / (k h t)
 *
 * A body of mass m that rests on one contact sags by g h^2 / KAPPA: second order in h, as the error of the step is. The
 * problem is strongly monotone (R / W is about 1 / KAPPA), so forces are unique, equal feet carry equal loads and
 * methods converge at a rate that does not depend on how many bodies there are.
 *
 * The natural gap is the memory of the normal spring. It is 0 where a contact closes in flight. A contact that is found
 * with an overlap starts without force, and its natural gap returns to 0 as rigid contacts push overlaps out, by the
 * stabilisation in each step. Where a rigid step would leave bodies at rest, springs are set to carry what holds them
 * (fx_hold_contact): structures stand without sag, and what comes to rest stays to the bit. */
#include "sim/sim.h"

#include <math.h>

#define KAPPA 25.0

static const frix_contact_law_info table[] = {
    {"stiff", "springs of 100 m / h^2, m the larger mass: forces are unique, the sag is second order in h"},
    {"rigid", "no overlap: forces may have several solutions, and moving heaps cost more"},
};

const frix_contact_law_info *frix_contact_law_table(int32_t k) {
  return k >= 0 && k < (int32_t)(sizeof table / sizeof *table) ? &table[k] : NULL;
}

static double mass_of(const frix_sim *sim, int32_t slot) {
  int32_t m = sim->mover_of[slot];
  return m >= 0 ? sim->mover[m].mass : 0.0;
}

double fx_rule_stiffness(const frix_sim *sim, const fx_contact *c) {
  double a = mass_of(sim, c->body_a), b = mass_of(sim, c->body_b), mass = a > 0.0 && b > 0.0 ? sqrt(a * b) : a + b;
  return KAPPA * mass / (sim->h * sim->h);
}

double fx_natural_gap(const frix_sim *sim, int32_t i) {
  const fx_surface *f = &sim->surface[i];
  const fx_touching *past = sim->past[i] >= 0 ? &sim->state.touching[sim->past[i]] : NULL;
  double gap = sim->contact[i].gap, natural = 0.0;
  if (past && past->stiffness == f->stiffness)
    natural = past->natural;
  else if (past && past->stiffness > 0.0) /* the step has another length: the force stays */
    natural = past->row[0] > 0.0 ? gap + past->row[0] / (sim->state.last_step * f->stiffness) : past->natural;
  else if (f->by_rule)
    natural = gap < 0.0 ? gap : 0.0;
  bool rests = past && past->contact.gap == gap; /* what is at rest stays so */
  if (!(natural < 0.0) || !f->by_rule || rests) return natural;
  natural *= 1.0 - sim->config.stabilisation;
  return natural < -0.1 * sim->gap_noise ? natural : 0.0;
}

bool fx_is_stiff(const frix_sim *sim, const fx_group *g) {
  return (g->kind == FX_GROUP_CONTACT || g->kind == FX_GROUP_SPINNING) && sim->surface[g->source].by_rule;
}

void fx_hold_contact(const frix_sim *sim, fx_assembly *a, fx_group *g, const double *r) {
  double time = sim->h * sim->integrator->position_time, gap = sim->contact[g->source].gap;
  if (g->kind == FX_GROUP_CONTACT && r[0] > 0.0) {
    g->natural = gap + a->R[g->row] * r[0] * time;
    a->w[g->row] = a->drive[g->row] + (gap - g->natural) / time;
  }
  for (int32_t k = g->kind == FX_GROUP_CONTACT; k < g->dim; k++) a->r_c[g->row + k] = r[k];
}

void fx_make_rigid(const frix_sim *sim, fx_assembly *a) {
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    if (!fx_is_stiff(sim, g)) continue;
    bool contact = g->kind == FX_GROUP_CONTACT;
    for (int32_t j = contact ? 0 : 1; j < g->dim; j++) a->R[g->row + j] = a->r_c[g->row + j] = 0.0;
    if (contact) a->w[g->row] = a->drive[g->row] + fx_rigid_shift(sim, a, g);
  }
}
