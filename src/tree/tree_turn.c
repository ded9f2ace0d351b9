/* Orientation servos: what turns a ball joint, or a site against another, the short way to a target.
 *
 *   torque = kp e - kv w + b,   e = log(q^-1 target), the turn that is missing, in the moving axes
 *
 * Three actuators in a row, one for each axis; the first has the controls, a rotation vector or a quaternion, and the
 * activations where the target is the integral of its control. The bound is one of the torque's size; a servo that
 * reaches it gives its force of the beginning of the step. */
#include "tree/tree.h"

static frix_vec3 control_of(const frix_robot_state *s, const fx_tree_actuator *a) {
  return fx_vec(fx_tree_control(s, a, 0), fx_tree_control(s, a, 1), fx_tree_control(s, a, 2));
}

static frix_vec3 target_now(const frix_robot_state *s, const fx_tree_actuator *a) {
  const double *act = s->act + a->act_first;
  return fx_vec(act[0], act[1], act[2]);
}

frix_vec3 fx_turn_next(const frix_robot_state *s, int32_t k) {
  const fx_tree_actuator *a = &s->tree->actuator[k];
  frix_vec3 next = fx_mad(target_now(s, a), s->tree->timestep, control_of(s, a));
  if (!a->act_limited) return next;
  double low = a->act_range[0], high = a->act_range[1];
  return fx_vec(fx_clamp(next.x, low, high), fx_clamp(next.y, low, high), fx_clamp(next.z, low, high));
}

static frix_quat target_of(const frix_robot_state *s, int32_t first) {
  const fx_tree_actuator *a = &s->tree->actuator[first];
  if (a->act_count) return fx_quat_exp(a->act_early ? fx_turn_next(s, first) : target_now(s, a));
  if (!a->quaternion) return fx_quat_exp(control_of(s, a));
  double q[4];
  for (int k = 0; k < 4; k++) q[k] = fx_tree_control(s, a, k);
  frix_quat target = {q[0], q[1], q[2], q[3]};
  return fx_quat_norm2(target) > 1e-30 ? fx_quat_unit(target) : (frix_quat){1.0, 0.0, 0.0, 0.0};
}

fx_tree_drive fx_turn_drive(const frix_robot_state *s, int32_t k) {
  const fx_tree_actuator *a = &s->tree->actuator[k];
  int32_t first = k - (a->turn - 1);
  const double *L = s->actuator_length + first, *w = s->actuator_velocity + first;
  frix_quat now = fx_quat_exp(fx_vec(L[0], L[1], L[2]));
  frix_vec3 error = fx_quat_log(fx_quat_mul(fx_quat_conj(now), target_of(s, first)));
  frix_vec3 force = fx_vec(a->gain[0] * error.x + a->bias[0] + a->bias[2] * w[0],
                           a->gain[0] * error.y + a->bias[0] + a->bias[2] * w[1],
                           a->gain[0] * error.z + a->bias[0] + a->bias[2] * w[2]);
  double size = fx_norm(force);
  if (a->force_limited && size >= a->force_range[1])
    return (fx_tree_drive){size > 0.0 ? fx_at(force, a->turn - 1) * (a->force_range[1] / size) : 0.0, 0.0, 0.0, 0.0};
  return (fx_tree_drive){fx_at(force, a->turn - 1), -a->gain[0], a->bias[2], 0.0};
}
