/* Inverse dynamics of the robot of a simulation, contacts included.
 *
 *   tau = M a + c - passive - actuators - J' r / h
 *
 * r are the certified impulses of the last step: contacts with their rolling part, limits, dry friction, equalities. In
 * static equilibrium tau is zero to the tolerance of the step. Contacts count with the adhesion of their surfaces; what
 * actuators of adhesion pull is no part of it. */
#include <string.h>

#include "sim/coats.h"
#include "sim/mechanism.h"

static void add_contacts(const frix_sim *sim, double rate, double *out) {
  const frix_robot_state *s = sim->mechanism->state;
  for (int32_t k = 0; k < sim->state.touching_count; k++) {
    const fx_touching *t = &sim->state.touching[k];
    const int32_t slot[2] = {t->contact.body_a, t->contact.body_b};
    for (int side = 0; side < 2; side++) {
      if (slot[side] >= sim->mechanism->slot_count) continue; /* spawned */
      int32_t body = sim->mechanism->body_of_slot[slot[side]];
      frix_vec3 point = fx_scale(0.5, fx_add(t->contact.point_a, t->contact.point_b));
      if (body < 0) continue;
      fx_tree_add_jacobian(s, body, point, fx_scale(side ? -rate : rate, fx_coats_impulse(sim, t)), out);
      fx_tree_add_turn(s, body, fx_scale(side ? -rate : rate, t->roll), out);
    }
  }
}

static void add_joints(const frix_sim *sim, double rate, double *out) {
  const fx_mechanism *x = sim->mechanism;
  const double *r = sim->state.robot;
  for (int32_t i = 0; i < x->tree.dof_count; i++) {
    const fx_tree_joint *j = &x->tree.joint[x->tree.dof[i].joint];
    out[i] += rate * r[x->at.friction + i];
    if (j->kind != FRIX_ROBOT_BALL) out[i] += rate * (r[x->at.lower + i] - r[x->at.upper + i]);
    if (j->kind != FRIX_ROBOT_BALL || i != j->v) continue;
    frix_vec3 turn = fx_quat_log(fx_quat_at(x->state->qpos + j->q)), axis = fx_unit_or(turn, fx_vec(1.0, 0.0, 0.0));
    for (int n = 0; n < 3; n++) out[i + n] -= rate * r[x->at.upper + i] * fx_at(axis, n);
  }
}

static void add_tendons(const frix_sim *sim, double rate, double *out) {
  const fx_mechanism *x = sim->mechanism;
  const double *r = sim->state.robot;
  for (int32_t k = 0; k < x->tree.tendon_count; k++) {
    double along = r[x->at.tendon_lower + k] - r[x->at.tendon_upper + k] + r[x->at.tendon_friction + k];
    fx_tree_span span = x->tree.tendon[k].dofs;
    for (int32_t n = span.first; n < span.first + span.count; n++)
      out[x->tree.list[n]] += rate * along * x->state->tendon_moment[n];
  }
}

static void add_equalities(const frix_sim *sim, double rate, double *out) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t e = 0; e < x->tree.equality_count; e++) {
    const double *r = sim->state.robot + x->at.equality + FRIX_MAX_DIM * e;
    double error[FRIX_MAX_DIM];
    int32_t rows = frix_robot_equality_rows(x->state, e, FRIX_MAX_DIM, error, x->jacobian);
    for (int32_t k = 0; k < rows; k++)
      for (int32_t i = 0; i < x->tree.dof_count; i++)
        out[i] += rate * r[k] * x->jacobian[(int64_t)k * x->tree.dof_count + i];
  }
}

frix_status frix_sim_robot_held(frix_sim *sim, double *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  if (!sim->mechanism || sim->in_force)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_robot_held: no robot, or called from the force callback");
  memset(out, 0, (size_t)sim->mechanism->tree.dof_count * sizeof *out);
  if (sim->state.step_count == 0) return FRIX_OK;
  double rate = 1.0 / sim->state.last_step;
  add_contacts(sim, rate, out);
  add_joints(sim, rate, out);
  add_tendons(sim, rate, out);
  add_equalities(sim, rate, out);
  return FRIX_OK;
}

frix_status frix_sim_robot_inverse(frix_sim *sim, const double *acceleration, double *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  const fx_mechanism *x = sim->mechanism;
  if (!x || sim->in_force || !fx_mechanism_finite(sim))
    return fx_fail(sim->context, FRIX_ERROR_INPUT,
                   "frix_sim_robot_inverse: no robot, a number that is not finite, or called from the force callback");
  frix_status status = frix_robot_forward(x->state);
  double *held = x->state->row2;
  if (!status) status = frix_sim_robot_held(sim, held);
  if (!status) status = frix_robot_inverse(x->state, acceleration ? acceleration : x->acceleration, out);
  for (int32_t i = 0; i < x->tree.dof_count && !status; i++) out[i] -= held[i];
  return status;
}
