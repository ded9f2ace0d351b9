/* Forces of actuators and rates of their activations.
 *
 *   force = gain u + bias within forcerange,   u the control within ctrlrange, or the activation
 *   gain  = g0 | g0 + g1 L + g2 dL/dt | muscle       bias = 0 | b0 + b1 L + b2 dL/dt | muscle
 *   activation:  w' = u (integrator) | (u - w) / T (filter, filterexact: its exact solution over a step) | muscle
 *   pid:  force = kp (u - L) + kv (u_v - dL/dt) + ki I + u_f,   u within h slew of the last one,   I' = u - L, but not
 *         further beyond its bound
 *
 * A force that is affine in L and dL/dt enters an implicit step by the two slopes that are given with it; its bounds
 * are rows. Bounds of a tendon scale what pulls on it, those of a joint (actuatorfrcrange) hold for the sum. */
#include <string.h>

#include "base/trig.h"
#include "tree/tree.h"

/* ---- delays ---- */

/* The control that was set a delay ago; before the first one and after the last one it does not change. Times differ by
 * rounding from multiples of the step. Cubic: Hermite's polynomial with the slopes of Catmull and Rom, those between
 * the neighbours of a sample. */
static double past_control(const frix_robot_state *s, const fx_tree_actuator *a, int32_t which) {
  const double *time = s->history + a->history_first, *value = time + (which + 1) * a->sample_count;
  double at = s->time - a->delay, slack = 1e-6 * s->tree->timestep;
  int32_t k = a->sample_count - 1;
  while (k > 0 && time[k] > at + slack) k--;
  if (!a->interp || k + 1 == a->sample_count || at <= time[k]) return value[k];
  double step = time[k + 1] - time[k], part = (at - time[k]) / step;
  if (a->interp == 1) return value[k] + (value[k + 1] - value[k]) * part;
  double slope[2] = {0.0, 0.0}; /* times the step; none at the first and the last sample */
  if (k > 0) slope[0] = step * (value[k + 1] - value[k - 1]) / (time[k + 1] - time[k - 1]);
  if (k + 2 < a->sample_count) slope[1] = step * (value[k + 2] - value[k]) / (time[k + 2] - time[k]);
  double rest = 1.0 - part;
  return rest * rest * (value[k] * (1.0 + 2.0 * part) + part * slope[0]) +
         part * part * (value[k + 1] * (3.0 - 2.0 * part) - rest * slope[1]);
}

void fx_tree_remember(frix_robot_state *s) {
  for (int32_t k = 0; k < s->tree->actuator_count; k++) {
    const fx_tree_actuator *a = &s->tree->actuator[k];
    int32_t n = a->sample_count;
    double *time = s->history + a->history_first;
    if (!n) continue;
    memmove(time, time + 1, (size_t)((a->ctrl_count + 1) * n - 1) * sizeof *time);
    time[n - 1] = s->time;
    for (int32_t i = 0; i < a->ctrl_count; i++) time[(i + 2) * n - 1] = s->ctrl[a->ctrl_first + i];
  }
}

void fx_tree_forget(frix_robot_state *s) {
  for (int32_t k = 0; k < s->tree->actuator_count; k++) {
    const fx_tree_actuator *a = &s->tree->actuator[k];
    double *time = s->history + a->history_first;
    for (int32_t i = 0; i < a->sample_count; i++) time[i] = s->time - (a->sample_count - i) * s->tree->timestep;
    for (int32_t i = 0; i < a->ctrl_count * a->sample_count; i++) time[a->sample_count + i] = 0.0;
  }
}

/* ---- forces ---- */

double fx_tree_control(const frix_robot_state *s, const fx_tree_actuator *a, int32_t which) {
  double u = a->sample_count ? past_control(s, a, which) : s->ctrl[a->ctrl_first + which];
  bool limited = a->ctrl_limited && !s->tree->no_clamp && (which == 0 || a->turn || a->motor.used);
  return limited ? fx_clamp(u, a->ctrl_range[0], a->ctrl_range[1]) : u;
}

static double control_of(const frix_robot_state *s, const fx_tree_actuator *a) { return fx_tree_control(s, a, 0); }

static double rate_of(const fx_tree_actuator *a, double control, double activation) {
  switch (a->dynamics) {
    case FX_DYN_NONE:
    case FX_DYN_MOTOR:
    case FX_DYN_PID: return 0.0;
    case FX_DYN_INTEGRATOR: return control;
    case FX_DYN_FILTER:
    case FX_DYN_FILTER_EXACT: return (control - activation) / fx_max(1e-15, a->dyn[0]);
    case FX_DYN_MUSCLE: return fx_muscle_rate(control, activation, a->dyn);
  }
  return 0.0;
}

/* The activation at the end of a step. One that follows its control does not pass it, where its time constant is below
 * the step. */
static double next_activation(const fx_tree *t, const fx_tree_actuator *a, double control, double activation) {
  double rate = rate_of(a, control, activation), next = activation + t->timestep * rate;
  bool follows = a->dynamics == FX_DYN_FILTER || a->dynamics == FX_DYN_MUSCLE;
  double wanted = a->dynamics == FX_DYN_MUSCLE ? fx_clamp(control, 0.0, 1.0) : control;
  if (follows && (next - wanted) * (activation - wanted) < 0.0) next = wanted;
  if (a->dynamics == FX_DYN_FILTER_EXACT) {
    double time = fx_max(1e-15, a->dyn[0]);
    next = activation + rate * time * (1.0 - fx_tree_exp(-t->timestep / time));
  }
  return a->act_limited ? fx_clamp(next, a->act_range[0], a->act_range[1]) : next;
}

/* ---- PID controllers ---- */

static double pid_control(const frix_robot_state *s, const fx_tree_actuator *a, int which) {
  const fx_tree_pid *p = &a->pid;
  if (p->at[which] < 0) return 0.0;
  double u = a->sample_count ? past_control(s, a, p->at[which]) : s->ctrl[a->ctrl_first + p->at[which]];
  return p->limited[which] && !s->tree->no_clamp ? fx_clamp(u, p->range[which][0], p->range[which][1]) : u;
}

/* Where the setpoint and the integral stand among its activations. */
static int32_t setpoint_at(const fx_tree_actuator *a) { return a->act_first + (a->pid.plugin && a->pid.ki > 0.0); }
static int32_t integral_at(const fx_tree_actuator *a) { return a->act_first + (!a->pid.plugin && a->pid.slew > 0.0); }

static double pid_setpoint(const frix_robot_state *s, const fx_tree_actuator *a) {
  double u = pid_control(s, a, 0), most = a->pid.slew * s->tree->timestep;
  if (!(a->pid.slew > 0.0) || (a->pid.plugin && !(s->time > 0.0))) return u;
  double last = s->act[setpoint_at(a)];
  return fx_clamp(u, last - most, last + most);
}

/* A servo that turns a ball joint, or a site against another, goes the short way round: its length is taken within half
 * a turn of its control. */
static double length_for(const frix_robot_state *s, const fx_tree_actuator *a, double control, double length) {
  bool joint = a->transmission == FRIX_ROBOT_AT_JOINT || a->transmission == FRIX_ROBOT_AT_JOINT_IN_PARENT;
  bool ball = joint && s->tree->joint[a->object].kind == FRIX_ROBOT_BALL;
  bool site = a->transmission == FRIX_ROBOT_AT_SITE && a->object2 >= 0;
  site = site && a->gear[0] == 0.0 && a->gear[1] == 0.0 && a->gear[2] == 0.0;
  if (!ball && !site) return length;
  const double *gear = a->gear + (site ? 3 : 0);
  if (a->gain_kind != FX_GAIN_FIXED || a->bias_kind != FX_BIAS_AFFINE || a->gain[0] != -a->bias[1]) return length;
  double turn = 2.0 * FX_PI * fx_norm(fx_vec(gear[0], gear[1], gear[2]));
  return turn > 0.0 ? length + turn * floor((control - length) / turn + 0.5) : length;
}

/* The integral at the end of the step. */
static double next_integral(const frix_robot_state *s, int32_t k) {
  const fx_tree_actuator *a = &s->tree->actuator[k];
  double now = s->act[integral_at(a)], most = a->pid.most, u = pid_setpoint(s, a);
  double error = u - length_for(s, a, u, s->actuator_length[k]);
  double next = now + s->tree->timestep * error;
  if (a->pid.plugin) return most > 0.0 ? fx_clamp(next, -most, most) : next;
  bool beyond = most > 0.0 && ((now >= most && error > 0.0) || (now <= -most && error < 0.0));
  return beyond ? now : next;
}

/* What it adds to kp (u - L) - kv dL/dt. */
static void add_pid(const frix_robot_state *s, int32_t k, fx_tree_drive *d) {
  const fx_tree_actuator *a = &s->tree->actuator[k];
  const fx_tree_pid *p = &a->pid;
  d->force += pid_control(s, a, 2) - a->bias[2] * pid_control(s, a, 1);
  if (!(p->ki > 0.0)) return;
  double now = s->act[integral_at(a)], integral = p->plugin || a->act_early ? next_integral(s, k) : now;
  bool follows = p->plugin ? !(p->most > 0.0 && fabs(integral) >= p->most) : integral != now;
  d->force += p->ki * integral;
  if (follows) d->by_length -= p->ki * s->tree->timestep;
}

static void pid_next(const frix_robot_state *s, int32_t k, double next[2]) {
  const fx_tree_actuator *a = &s->tree->actuator[k];
  if (a->pid.slew > 0.0) next[setpoint_at(a) - a->act_first] = pid_setpoint(s, a);
  if (a->pid.ki > 0.0) next[integral_at(a) - a->act_first] = next_integral(s, k);
}

/* ---- all ---- */

/* What the gain multiplies. */
static double input_of(const frix_robot_state *s, int32_t k) {
  const fx_tree_actuator *a = &s->tree->actuator[k];
  if (a->pid.used) return pid_setpoint(s, a);
  if (!a->act_count) return control_of(s, a);
  int32_t last = a->act_first + a->act_count - 1;
  if (!a->act_early) return s->act[last];
  double control = control_of(s, a);
  return next_activation(s->tree, a, control, s->act[last]);
}

fx_tree_drive fx_tree_drive_of(const frix_robot_state *s, int32_t k) {
  const fx_tree_actuator *a = &s->tree->actuator[k];
  if (a->motor.used) return fx_motor_drive(s, k);
  if (a->turn) return fx_turn_drive(s, k);
  double u = input_of(s, k), L = length_for(s, a, u, s->actuator_length[k]), V = s->actuator_velocity[k],
         gain = a->gain[0], bias = 0.0;
  fx_tree_drive d = {0.0, 0.0, 0.0, 0.0};
  if (a->gain_kind == FX_GAIN_AFFINE) {
    gain += a->gain[1] * L + a->gain[2] * V;
    d.by_length += a->gain[1] * u, d.by_velocity += a->gain[2] * u;
  }
  if (a->bias_kind == FX_BIAS_AFFINE) {
    bias = a->bias[0] + a->bias[1] * L + a->bias[2] * V;
    d.by_length += a->bias[1], d.by_velocity += a->bias[2];
  }
  if (a->gain_kind == FX_GAIN_MUSCLE || a->bias_kind == FX_BIAS_MUSCLE) {
    /* central differences: the pieces are quadratic, so that they are exact but at their seams */
    double h = 1e-6 * fx_max(1e-6, a->length_range[1] - a->length_range[0]), e = 1e-6 * fx_max(1.0, fabs(V));
    if (a->gain_kind == FX_GAIN_MUSCLE) {
      gain = fx_muscle_gain(a, L, V);
      d.by_length += u * (fx_muscle_gain(a, L + h, V) - fx_muscle_gain(a, L - h, V)) / (2.0 * h);
      d.by_velocity += u * (fx_muscle_gain(a, L, V + e) - fx_muscle_gain(a, L, V - e)) / (2.0 * e);
    }
    if (a->bias_kind == FX_BIAS_MUSCLE) {
      bias = fx_muscle_bias(a, L);
      d.by_length += (fx_muscle_bias(a, L + h) - fx_muscle_bias(a, L - h)) / (2.0 * h);
    }
  }
  d.force = gain * u + bias;
  if (a->pid.used) add_pid(s, k, &d);
  return d;
}

/* Rates of its activations, and these at the end of the step; which of them is the first. Of several without a meaning
 * of their own the last one counts. */
static int32_t activation(const frix_robot_state *s, int32_t k, double rate[FX_MOTOR_STATES],
                          double next[FX_MOTOR_STATES]) {
  const fx_tree_actuator *a = &s->tree->actuator[k];
  const double *now = s->act + a->act_first;
  int32_t last = a->act_count - 1;
  if (a->motor.used) {
    fx_motor_activation(s, k, rate, next);
    return 0;
  }
  if (a->turn) {
    frix_vec3 there = fx_quat_log(fx_quat_exp(fx_turn_next(s, k))); /* within half a turn */
    for (int n = 0; n < 3; n++) rate[n] = fx_tree_control(s, a, n), next[n] = fx_at(there, n);
    return 0;
  }
  if (a->pid.used) {
    pid_next(s, k, next);
    for (int32_t n = 0; n < a->act_count; n++) rate[n] = (next[n] - now[n]) / s->tree->timestep;
    return 0;
  }
  double control = control_of(s, a);
  rate[0] = rate_of(a, control, now[last]), next[0] = next_activation(s->tree, a, control, now[last]);
  return last;
}

/* Into act, or their rates into act_rate. */
static void activate(frix_robot_state *s, bool rates) {
  const fx_tree *t = s->tree;
  for (int32_t k = 0; k < t->actuator_count; k++) {
    const fx_tree_actuator *a = &t->actuator[k];
    double rate[FX_MOTOR_STATES] = {0}, next[FX_MOTOR_STATES] = {0};
    if (!a->act_count || a->off) continue;
    int32_t first = activation(s, k, rate, next), count = a->act_count - first;
    double *out = (rates ? s->act_rate : s->act) + a->act_first + first;
    memcpy(out, rates ? rate : next, (size_t)count * sizeof *out);
  }
}

void fx_tree_activate(frix_robot_state *s) { activate(s, false); }

/* What pulls on a tendon with bounds is scaled so that the sum keeps them. */
static void bound_tendons(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  memset(s->tendon_force, 0, (size_t)t->tendon_count * sizeof *s->tendon_force);
  for (int32_t k = 0; k < t->actuator_count; k++)
    if (t->actuator[k].transmission == FRIX_ROBOT_AT_TENDON && t->tendon[t->actuator[k].object].force_limited)
      s->tendon_force[t->actuator[k].object] += s->actuator_force[k];
  for (int32_t k = 0; k < t->actuator_count; k++) {
    if (t->actuator[k].transmission != FRIX_ROBOT_AT_TENDON) continue;
    const fx_tree_tendon *x = &t->tendon[t->actuator[k].object];
    double sum = s->tendon_force[t->actuator[k].object];
    if (!x->force_limited || sum == 0.0) continue;
    if (sum < x->force_range[0]) s->actuator_force[k] *= x->force_range[0] / sum;
    if (sum > x->force_range[1]) s->actuator_force[k] *= x->force_range[1] / sum;
  }
}

void fx_tree_actuators(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  memset(s->actuator_torque, 0, (size_t)t->dof_count * sizeof *s->actuator_torque);
  memset(s->actuator_force, 0, (size_t)t->actuator_count * sizeof *s->actuator_force);
  memset(s->act_rate, 0, (size_t)t->act_count * sizeof *s->act_rate);
  if (t->no_actuation) return;
  activate(s, true);
  for (int32_t k = 0; k < t->actuator_count; k++) {
    const fx_tree_actuator *a = &t->actuator[k];
    fx_tree_drive d = {0};
    if (!a->off) d = fx_tree_drive_of(s, k);
    s->actuator_force[k] = d.force - d.beside, s->actuator_beside[k] = d.beside;
  }
  bound_tendons(s);
  for (int32_t k = 0; k < t->actuator_count; k++) {
    const fx_tree_actuator *a = &t->actuator[k];
    if (a->force_limited && !a->turn)
      s->actuator_force[k] = fx_clamp(s->actuator_force[k], a->force_range[0], a->force_range[1]);
    s->actuator_force[k] += s->actuator_beside[k];
    for (int32_t n = a->dofs.first; n < a->dofs.first + a->dofs.count; n++)
      s->actuator_torque[t->list[n]] += s->actuator_force[k] * s->actuator_moment[n];
  }
  for (int32_t i = 0; i < t->dof_count; i++) {
    const fx_tree_joint *j = &t->joint[t->dof[i].joint];
    if (j->carries_gravcomp) s->actuator_torque[i] += s->gravcomp[i];
    if (j->force_limited) s->actuator_torque[i] = fx_clamp(s->actuator_torque[i], j->force_range[0], j->force_range[1]);
  }
}
