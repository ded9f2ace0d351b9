/* Joints that hold at the end of a step, not only their rows at its beginning.
 *
 *   e(q + h v1) = 0,   v1 = v_free + M^-1 (H r + G(q)' lambda)
 *
 * A row is the derivative of its equation, G v1 + e / h = 0, and over a finite turn leaves h^2/2 of the second one. The
 * step is solved again with that error asked for: G v1 + (e + e(q + h v1)) / h = 0. All impulses act along the rows of
 * the beginning, as in SHAKE, so that positions and velocities agree and energy neither drifts nor decays; moving the
 * bodies afterwards and leaving their velocities alone would brake them. q is where the integrator sees joints: for
 * two_step and variational, half a step before and after the poses they show. Reference: E. Hairer, C. Lubich, G.
 * Wanner, Geometric Numerical Integration, ch. VII.1. */
#include "sim/joints.h"
#include "sim/softs.h"
#include "sim/step.h"

#include <string.h>

/* Errors of all rows of joints where the bodies are now; couplings have none of their own. */
static void find_errors(const frix_sim *sim, const fx_assembly *a, double *error) {
  for (int32_t k = a->joint_first; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    fx_joint_row row[FRIX_MAX_DIM];
    if (g->robot) continue;
    const fx_joint *joint = &sim->model->joint[g->source];
    if (joint->config.kind == FRIX_JOINT_COUPLING) continue;
    if (fx_soft_at(sim, joint->a) || fx_soft_at(sim, joint->b)) continue; /* they hold to first order */
    fx_joint_view view = fx_joint_look(sim, g->source);
    int32_t n = fx_joint_rows(sim, g->source, &view, row);
    for (int32_t j = 0; j < n; j++) error[g->row + j] = row[j].error;
  }
}

static void move_on(frix_sim *sim) {
  fx_state *s = &sim->state;
  for (int32_t k = 1; k < s->count; k++) {
    if (s->prototype[k] <= 0) continue;
    const fx_body *body = fx_slot_body(sim, k);
    const fx_mover *m = sim->mover_of[k] >= 0 ? &sim->mover[sim->mover_of[k]] : NULL;
    if (m && m->tree) continue; /* joints of the model hold bodies */
    if (m) {
      s->pose[k] = fx_advance(body, s->pose[k], m->v1, fx_momentum_after(m), m->w1, sim->h);
    } else if (body->kind == FRIX_BODY_KINEMATIC) {
      s->pose[k] = (frix_pose){fx_mad(s->pose[k].p, sim->h, s->velocity[k]), fx_turn(s->pose[k].q, s->spin[k], sim->h)};
    }
  }
}

frix_status fx_retry_joints(frix_sim *sim, fx_round round, fx_redo *redo) {
  fx_state *s = &sim->state;
  fx_assembly *a = &sim->rows;
  if (round.count >= sim->config.projections || a->joint_first == a->group_count || sim->deadline > 0.0 ||
      !sim->report.certified)
    return FRIX_OK;
  size_t poses = (size_t)s->count * sizeof *s->pose;
  frix_pose *seen = FX_TAKE_RAW(&sim->arena, frix_pose, s->count);
  double *before = FX_TAKE(&sim->arena, double, a->row_count), *after = FX_TAKE(&sim->arena, double, a->row_count);
  if (!seen || !before || !after) return FRIX_ERROR_MEMORY;
  memcpy(seen, s->pose, poses);
  find_errors(sim, a, before);
  move_on(sim);
  find_errors(sim, a, after);
  memcpy(s->pose, seen, poses);
  for (int32_t row = a->contact_rows; row < a->row_count; row++)
    a->w[row] += (after[row] - (1.0 - sim->config.joint_stabilisation) * before[row]) / sim->h;
  memcpy(a->guess, a->r, (size_t)a->row_count * sizeof *a->guess);
  *redo = FX_REDO_SOLVE;
  return FRIX_OK;
}
