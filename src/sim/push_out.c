/* Without push-out.
 *
 * Overlaps of a hyperstatic structure ask for push-out velocities that contradict each other a little, and forces that
 * decide between them may be beyond reach. Then this step leaves overlaps as they are, and says so. */
#include "sim/solving.h"

#include <math.h>

/* True where some were asked out: of rigid contacts, and of stiff ones that are rigid in this step
 * (fx_make_pressed_rigid). */
static bool drop_push_out(const frix_sim *sim, fx_assembly *a) {
  bool any = false;
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    bool rigid = g->kind == FX_GROUP_CONTACT && !(a->compliant && a->R[g->row] > 0.0);
    if (!rigid || sim->contact[g->source].gap >= 0.0) continue;
    double w = a->drive[g->row] + fx_contact_shift(sim, a, g, 0.0); /* what bounces still does */
    any |= a->w[g->row] != w;
    a->w[g->row] = w;
  }
  return any;
}

frix_status fx_solve_without_push_out(frix_sim *sim, fx_assembly *a) {
  fx_attempt before;
  frix_status status = fx_attempt_begin(sim, a, &before);
  if (status != FRIX_OK || !drop_push_out(sim, a)) return status;
  sim->failed_solves = 0; /* these rows ask for less */
  status = fx_solve_once(sim, a, false, INFINITY, NULL);
  if (status != FRIX_OK) return status;
  if (fx_certified(sim)) {
    sim->report.overlaps_left = a->leaves_overlaps = true;
    return FRIX_OK;
  }
  fx_attempt_restore_rows(a, &before);
  fx_attempt_restore_answer(sim, a, &before);
  return FRIX_OK;
}
