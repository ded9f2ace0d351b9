/* DC motors: a circuit, a controller on board, cogging, friction of bristles.
 *
 *   torque = K i,   i' = ((V - K w) / R - i) / T, or i = (V - K w) / R without inductance;   w the rate of the length L
 *   V = R / K (kp (u - L) + kd (u_w - w) + ki I + u_t) + K w within the most voltage, + u_V:   the controller asks for
 * a torque, and without bounds has it;   u within a slew rate,   I' = u - L within its bound R = R0 (1 + a (heat +
 * ambient - reference)),   C heat' = R i^2 - heat / R_heat beside the torque, and not held by its bounds: amplitude
 * sin(poles L + phase) - s0 z - s1 z', z' = w - s0 |w| z / g(w),   g = sliding + (sticking - sliding) exp(-(w /
 * slow)^2)   (LuGre)
 *
 * The current and the bristles are found exactly over a step in which the rest is held. */
#include "base/trig.h"
#include "tree/tree.h"

#define LEAST 1e-15

double fx_tree_exp(double x) { return fx_pow(2.71828182845904523536, x); }

/* What follows from the state. */
typedef struct circuit {
  double setpoint; /* the first control, within the slew rate */
  double resistance, voltage, current;
  bool clipped; /* the controller's voltage */
} circuit;

static double state_of(const frix_robot_state *s, const fx_tree_actuator *a, int32_t at) {
  return at < 0 ? 0.0 : s->act[a->act_first + at];
}

static double control_of(const frix_robot_state *s, const fx_tree_actuator *a, const circuit *c, int which) {
  int32_t at = a->motor.at[which];
  return at < 0 ? 0.0 : at == 0 ? c->setpoint : fx_tree_control(s, a, at);
}

static circuit circuit_of(const frix_robot_state *s, int32_t k) {
  const fx_tree_actuator *a = &s->tree->actuator[k];
  const fx_tree_motor *m = &a->motor;
  double L = s->actuator_length[k], w = s->actuator_velocity[k], volts = 0.0;
  circuit c = {.setpoint = a->ctrl_count ? fx_tree_control(s, a, 0) : 0.0, .resistance = m->resistance};
  if (m->setpoint_at >= 0) {
    double last = state_of(s, a, m->setpoint_at), most = m->slew * s->tree->timestep;
    c.setpoint = fx_clamp(c.setpoint, last - most, last + most);
  }
  if (m->heat_at >= 0)
    c.resistance *= 1.0 + m->heat_slope * (state_of(s, a, m->heat_at) + m->heat_ambient - m->heat_reference);
  c.resistance = fx_max(LEAST, c.resistance);
  if (m->at[0] >= 0 || m->at[1] >= 0 || m->at[2] >= 0) {
    double torque = m->kp * (control_of(s, a, &c, 0) - L) + m->kd * (control_of(s, a, &c, 1) - w) +
                    m->ki * state_of(s, a, m->integral_at) + control_of(s, a, &c, 2);
    volts = torque * m->resistance / m->constant + m->constant * w;
    c.clipped = m->most_voltage > 0.0 && fabs(volts) > m->most_voltage;
    if (c.clipped) volts = copysign(m->most_voltage, volts);
  }
  c.voltage = volts + control_of(s, a, &c, 3);
  c.current = m->current_at >= 0 ? state_of(s, a, m->current_at) : (c.voltage - m->constant * w) / c.resistance;
  return c;
}

/* The share of the way to its end that the current goes in a step. */
static double current_share(const frix_robot_state *s, const fx_tree_motor *m) {
  return 1.0 - fx_tree_exp(-s->tree->timestep / m->time);
}

static double current_rate(const frix_robot_state *s, int32_t k, const circuit *c, bool *bounded) {
  const fx_tree_motor *m = &s->tree->actuator[k].motor;
  double rate = ((c->voltage - m->constant * s->actuator_velocity[k]) / c->resistance - c->current) / m->time;
  *bounded = m->most_rate > 0.0 && fabs(rate) > m->most_rate;
  return *bounded ? copysign(m->most_rate, rate) : rate;
}

/* s0 |w| / g: how fast the bristles forget. */
static double forgetting(const fx_tree_motor *m, double w) {
  double ratio = w / fx_max(LEAST, m->slow);
  double g = m->sliding + (m->sticking - m->sliding) * fx_tree_exp(-ratio * ratio);
  return m->stiffness * fabs(w) / fx_max(LEAST, g);
}

/* Cogging and friction, with their slopes: bristles that stick are a spring, those that slide are none. */
static void add_beside(const frix_robot_state *s, int32_t k, fx_tree_drive *d) {
  const fx_tree_actuator *a = &s->tree->actuator[k];
  const fx_tree_motor *m = &a->motor;
  double w = s->actuator_velocity[k], sine, cosine;
  if (m->cogging[0] != 0.0) {
    fx_sincos(m->cogging[1] * s->actuator_length[k] + m->cogging[2], &sine, &cosine);
    d->beside += m->cogging[0] * sine;
    d->by_length += m->cogging[0] * m->cogging[1] * cosine;
  }
  if (m->bristle_at >= 0) {
    double z = state_of(s, a, m->bristle_at), forget = forgetting(m, w);
    d->beside -= m->stiffness * z + m->damping * (w - forget * z);
    double sticks = fx_clamp(w == 0.0 ? 1.0 : 1.0 - forget * z / w, 0.0, 1.0); /* 0: all bristles slide */
    d->by_length -= m->stiffness * sticks * fx_tree_exp(-forget * s->tree->timestep);
    d->by_velocity -= m->damping * sticks;
  }
  d->force += d->beside;
}

fx_tree_drive fx_motor_drive(const frix_robot_state *s, int32_t k) {
  const fx_tree_motor *m = &s->tree->actuator[k].motor;
  circuit c = circuit_of(s, k);
  fx_tree_drive d = {0.0, 0.0, 0.0, 0.0};
  double share = 1.0, current = c.current;
  bool controlled = (m->at[0] >= 0 || m->at[1] >= 0 || m->at[2] >= 0) && !c.clipped, bounded = false;
  if (m->current_at >= 0) {
    share = current_share(s, m);
    current += current_rate(s, k, &c, &bounded) * m->time * share;
  }
  d.force = m->constant * current;
  if (!bounded) { /* a controller within its voltage makes up for K w */
    double torque = share * m->constant / c.resistance;
    if (controlled) d.by_length -= torque * m->kp * m->resistance / m->constant;
    d.by_velocity -= controlled ? torque * m->kd * m->resistance / m->constant : torque * m->constant;
  }
  add_beside(s, k, &d);
  return d;
}

void fx_motor_activation(const frix_robot_state *s, int32_t k, double rate[FX_MOTOR_STATES],
                         double next[FX_MOTOR_STATES]) {
  const fx_tree_actuator *a = &s->tree->actuator[k];
  const fx_tree_motor *m = &a->motor;
  circuit c = circuit_of(s, k);
  double h = s->tree->timestep, w = s->actuator_velocity[k];
  if (m->setpoint_at >= 0) {
    rate[m->setpoint_at] = (c.setpoint - state_of(s, a, m->setpoint_at)) / h;
    next[m->setpoint_at] = c.setpoint;
  }
  if (m->integral_at >= 0) {
    double now = state_of(s, a, m->integral_at), most = m->most_integral;
    double error = control_of(s, a, &c, 0) - s->actuator_length[k];
    if (most > 0.0 && now >= most) error = fx_min(error, 0.0);
    if (most > 0.0 && now <= -most) error = fx_max(error, 0.0);
    rate[m->integral_at] = error;
    next[m->integral_at] = most > 0.0 ? fx_clamp(now + h * error, -most, most) : now + h * error;
  }
  if (m->heat_at >= 0) {
    double now = state_of(s, a, m->heat_at);
    rate[m->heat_at] = (c.resistance * c.current * c.current - now / m->heat_resistance) / m->heat_capacity;
    next[m->heat_at] = now + h * rate[m->heat_at];
  }
  if (m->bristle_at >= 0) {
    double now = state_of(s, a, m->bristle_at), forget = forgetting(m, w), left = fx_tree_exp(-forget * h);
    rate[m->bristle_at] = w - forget * now;
    next[m->bristle_at] = left * now + (forget > LEAST ? (1.0 - left) / forget : h) * w;
  }
  if (m->current_at >= 0) {
    bool bounded;
    rate[m->current_at] = current_rate(s, k, &c, &bounded);
    next[m->current_at] = c.current + rate[m->current_at] * m->time * current_share(s, m);
  }
}
