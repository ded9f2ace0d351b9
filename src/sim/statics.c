/* Rows to statics: which contacts touch, which joints hold, and with how much.
 *
 *   contact    closed: r in K; open: none          drilling   |r| <= spinning r_N of its contact
 *   limit      reached: r >= 0                     friction, motor at its target   |r| <= h F
 *   spring     r of its present length             motor off its target            r = h F towards it
 *   joint, motor without a bound: any r */
#include "sim/statics.h"

#include <math.h>
#include <string.h>

#define REACHED 1e-12 /* of a coordinate at its limit, of a motor at its target */

typedef struct filling {
  const frix_sim *sim;
  const fx_assembly *a;
  uint8_t *kind;
  int32_t *tied;
  double *given;
} filling;

static void fill_axis(filling *f, int32_t k) {
  const fx_assembly *a = f->a;
  const fx_group *g = &a->group[k];
  const double *w = a->w + g->row, *drive = a->drive + g->row;
  if (a->law[k].cone == FRIX_CONE_LIMIT) {
    f->kind[k] = (w[0] - drive[0]) * f->sim->h <= REACHED ? FX_STATICS_CONE : FX_STATICS_OPEN;
  } else if (a->law[k].cone != FRIX_CONE_BILATERAL) {
    double off = w[1] - drive[1], bound = a->r_c[g->row]; /* no motor, or one axis */
    bool pulls = fabs(off) * f->sim->h > REACHED;
    f->kind[k] = pulls ? FX_STATICS_GIVEN : FX_STATICS_BOUND;
    f->given[g->row] = bound;
    if (pulls) f->given[g->row + 1] = off > 0.0 ? -bound : bound;
  } else if (a->compliant && a->R[g->row] > 0.0) {
    f->kind[k] = FX_STATICS_GIVEN;
    for (int32_t j = g->row; j < g->row + g->dim; j++) f->given[j] = a->r_c[j] - (a->w[j] - a->drive[j]) / a->R[j];
  } else {
    f->kind[k] = FX_STATICS_FREE;
  }
}

static void fill_kinds(filling *f) {
  const fx_assembly *a = f->a;
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    f->tied[k] = -1;
    if (g->kind == FX_GROUP_CONTACT) {
      bool closed = fx_contact_closed(f->sim, g->source) || fx_stiff_closed(f->sim, g);
      f->kind[k] = closed ? FX_STATICS_CONE : FX_STATICS_OPEN;
    } else if (g->kind == FX_GROUP_SPINNING) { /* its contact stands just before */
      f->kind[k] = f->kind[k - 1] == FX_STATICS_CONE ? FX_STATICS_BOUND : FX_STATICS_OPEN;
      f->tied[k] = k - 1;
    } else {
      fill_axis(f, k);
    }
  }
}

void fx_mover_force(const frix_sim *sim, const fx_mover *m, double *out) {
  double all[6] = {m->force.x, m->force.y, m->force.z, m->torque.x, m->torque.y, m->torque.z};
  if (m->dof == 3) all[2] = m->torque.z;
  for (int32_t c = 0; c < m->dof; c++) out[c] = sim->h * all[c];
}

frix_status fx_statics_from_rows(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, bool at_rest,
                                 fx_system *system, fx_statics *out) {
  frix_problem problem = sim->problem;
  frix_status status = problem.row ? FRIX_OK : fx_rows_build(sim, a, arena, &problem);
  if (status == FRIX_OK) status = fx_system_build(arena, &problem, FRIX_FORM_GLOBAL, system);
  if (status != FRIX_OK) return status;
  filling f = {.sim = sim, .a = a};
  f.kind = FX_TAKE(arena, uint8_t, system->contact_count);
  f.tied = FX_TAKE(arena, int32_t, system->contact_count);
  f.given = FX_TAKE(arena, double, system->row_count);
  double *force = FX_TAKE(arena, double, system->dof_count);
  *out = (fx_statics){.s = system, .kind = f.kind, .tied = f.tied, .given = f.given, .force = force};
  out->arm = FX_TAKE(arena, double, system->dof_count);
  if (!f.kind || !f.tied || !f.given || !force || !out->arm) return FRIX_ERROR_MEMORY;
  fill_kinds(&f);
  for (int32_t i = a->joint_first; i < system->contact_count; i++) {
    f.kind[i] = FX_STATICS_FREE;
    f.tied[i] = -1;
  }
  memcpy(force, problem.f, (size_t)system->dof_count * sizeof *force);
  for (int32_t k = 0; at_rest && k < sim->mover_count; k++)
    if (sim->mover[k].first >= 0) fx_mover_force(sim, &sim->mover[k], force + sim->mover[k].first);
  fx_statics_arms(out);
  return FRIX_OK;
}
