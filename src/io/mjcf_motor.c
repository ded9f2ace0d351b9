/* <dcmotor> and <orientation>: actuators with several numbers or axes of their own. The lists gain, bias and dyn have
 * the places of MuJoCo's, since classes of other kinds inherit them:
 *
 *   dcmotor      gain: R, K, slope and reference of heat, kp, ki, kd, most voltage;   bias: cogging (3), friction (3);
 *                dyn: electrical time, most rate of the current, thermal resistance, capacity, ambient, stiffness and
 *                damping of bristles, slew rate, most integral
 *   orientation  gain: kp;   bias: constant, -kp, -kv */
#include <string.h>

#include "base/trig.h"
#include "io/mjcf_robot.h"

/* ---- reading ---- */

/* Of two constants the geometric mean, where one is missing the other. */
static double mean_constant(double torque, double voltage) {
  if (torque > 0.0 && voltage > 0.0) return sqrt(torque * voltage);
  return torque > 0.0 ? torque : voltage;
}

/* The constant by which a voltage makes a free motor run at a speed: V - K w = R b w / K, b its own damping; without
 * damping where that has no answer, as in MuJoCo. */
static double free_running(const double nominal[3], double resistance, double damping) {
  double V = nominal[0], w = nominal[2], square = V * V - 4.0 * w * w * fx_max(0.0, damping * resistance);
  return square > 0.0 ? (V + sqrt(square)) / (2.0 * w) : V / w;
}

static frix_status read_circuit(const fx_mjcf_reader *r, const fx_mjcf_item *item, bool same, fx_mjcf_actuator *a) {
  double constant[2] = {same ? a->gain[1] : 0.0, 0.0}, resistance = same ? a->gain[0] : 0.0;
  double nominal[3] = {0}, most[3] = {0.0, 0.0, same ? a->dyn[1] : 0.0}, inductance[2] = {0.0, same ? a->dyn[0] : 0.0};
  frix_status status;
  if ((status = fx_mjcf_reals(r, item, "motorconst", 1, 2, constant, NULL)) ||
      (status = fx_mjcf_real(r, item, "resistance", &resistance)) ||
      (status = fx_mjcf_reals(r, item, "nominal", 1, 3, nominal, NULL)) ||
      (status = fx_mjcf_reals(r, item, "saturation", 1, 3, most, NULL)) ||
      (status = fx_mjcf_reals(r, item, "inductance", 1, 2, inductance, NULL)))
    return status;
  bool runs = nominal[0] > 0.0 && nominal[2] > 0.0, stalls = nominal[0] > 0.0 && nominal[1] > 0.0;
  if (!(constant[1] > 0.0) && runs) constant[1] = free_running(nominal, resistance, a->damping[0]);
  double K = mean_constant(constant[0], constant[1]);
  if (!(K > 0.0)) return fx_mjcf_fail(r, item->element, "dcmotor: needs motorconst, or nominal voltage and speed");
  if (!(resistance > 0.0) && stalls) resistance = K * nominal[0] / nominal[1];
  if (!(resistance > 0.0))
    return fx_mjcf_fail(r, item->element, "dcmotor: needs a resistance, or nominal voltage and torque");
  for (int k = 0; k < 3; k++)
    if (most[k] < 0.0 || (k < 2 && inductance[k] < 0.0))
      return fx_mjcf_fail(r, item->element, "dcmotor: saturation and inductance must not be negative");
  a->gain[0] = resistance, a->gain[1] = K;
  a->dyn[0] = inductance[0] > 0.0 ? inductance[0] / resistance : inductance[1], a->dyn[1] = most[2];
  double torque = most[0] > 0.0 ? most[0] : K * most[1];
  if (torque > 0.0)
    a->force_range[0] = -torque, a->force_range[1] = torque, a->force_limited = 1; /* without autolimits too */
  return FRIX_OK;
}

static frix_status read_heat(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  double heat[6] = {a->dyn[2], a->dyn[3], 0.0, a->gain[2], a->gain[3], a->dyn[4]};
  frix_status status = fx_mjcf_reals(r, item, "thermal", 1, 6, heat, NULL);
  if (status) return status;
  if (!(heat[0] > 0.0) && heat[1] > 0.0) heat[0] = heat[2] / heat[1];
  if (!(heat[1] > 0.0) && heat[0] > 0.0) heat[1] = heat[2] / heat[0];
  bool some = heat[0] != 0.0 || heat[1] != 0.0 || heat[2] != 0.0;
  if (some && !(heat[0] > 0.0 && heat[1] > 0.0))
    return fx_mjcf_fail(r, item->element, "dcmotor thermal: wants two of resistance, capacitance and time constant");
  a->dyn[2] = heat[0], a->dyn[3] = heat[1], a->dyn[4] = heat[5];
  a->gain[2] = heat[3], a->gain[3] = heat[4];
  return FRIX_OK;
}

/* The controller and what stands beside the torque. */
static frix_status read_rest(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  double own[6] = {a->gain[4], a->gain[5], a->gain[6], a->dyn[7], a->dyn[8], a->gain[7]};
  double lugre[5] = {a->dyn[5], a->dyn[6], a->bias[3], a->bias[4], a->bias[5]};
  frix_status status;
  if ((status = fx_mjcf_reals(r, item, "controller", 1, 6, own, NULL)) ||
      (status = fx_mjcf_reals(r, item, "cogging", 1, 3, a->bias, NULL)) ||
      (status = fx_mjcf_reals(r, item, "lugre", 1, 5, lugre, NULL)))
    return status;
  for (int k = 0; k < 6; k++)
    if (own[k] < 0.0 || (k < 5 && lugre[k] < 0.0))
      return fx_mjcf_fail(r, item->element, "dcmotor: numbers of controller and lugre must not be negative");
  a->gain[4] = own[0], a->gain[5] = own[1], a->gain[6] = own[2], a->gain[7] = own[5];
  a->dyn[7] = own[3], a->dyn[8] = own[4];
  a->dyn[5] = lugre[0], a->dyn[6] = lugre[1], a->bias[3] = lugre[2], a->bias[4] = lugre[3], a->bias[5] = lugre[4];
  return FRIX_OK;
}

frix_status fx_mjcf_read_motor(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  bool same = a->gain_form == FX_FORM_MOTOR;
  if (!same) {
    memset(a->inputs, 0, sizeof a->inputs);
    a->inputs[3] = true;
    memset(a->gain, 0, sizeof a->gain), memset(a->bias, 0, sizeof a->bias), memset(a->dyn, 0, sizeof a->dyn);
  }
  a->dynamics = FX_DYN_OF_MOTOR, a->gain_form = a->bias_form = FX_FORM_MOTOR;
  frix_status status = read_circuit(r, item, same, a);
  if (!status) status = read_heat(r, item, a);
  if (!status) status = read_rest(r, item, a);
  return status ? status : fx_mjcf_read_inputs(r, item, a);
}

frix_status fx_mjcf_read_orientation(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  double kp = a->gain[0], kv = 0.0, ratio = 0.0;
  int chart = a->quaternion;
  frix_status status;
  if ((status = fx_mjcf_real(r, item, "kp", &kp)) || (status = fx_mjcf_real(r, item, "kv", &kv)) ||
      (status = fx_mjcf_real(r, item, "dampratio", &ratio)) ||
      (status = fx_mjcf_word(r, item, "input", "expmap quat", &chart)))
    return status;
  if (kp < 0.0 || kv < 0.0 || ratio < 0.0)
    return fx_mjcf_fail(r, item->element, "orientation: kp, kv and dampratio must not be negative");
  if (fx_xml_value(item->element, "kv")) a->bias[2] = -kv;
  if (fx_xml_value(item->element, "dampratio")) a->bias[2] = ratio;
  a->gain[0] = kp, a->bias[1] = -kp;
  a->quaternion = chart == 1;
  a->dynamics = FX_DYN_OF_NONE, a->gain_form = a->bias_form = FX_FORM_TURN;
  return FRIX_OK;
}

/* ---- into the tree ---- */

void fx_robot_copy_motor(const fx_mjcf_actuator *a, fx_tree_actuator *out) {
  const double *g = a->gain, *b = a->bias, *d = a->dyn;
  int32_t next = 0;
  fx_tree_motor *m = &out->motor;
  *m = (fx_tree_motor){.used = true,
                       .setpoint_at = d[7] > 0.0 ? next++ : -1,
                       .resistance = g[0],
                       .constant = g[1],
                       .time = d[0],
                       .most_rate = d[1],
                       .kp = g[4],
                       .ki = g[5],
                       .kd = g[6],
                       .slew = d[7],
                       .most_integral = d[8],
                       .most_voltage = g[7],
                       .heat_slope = g[2],
                       .heat_reference = g[3],
                       .heat_ambient = d[4],
                       .heat_resistance = d[2],
                       .heat_capacity = d[3],
                       .cogging = {b[0], b[1], b[2]},
                       .stiffness = d[5],
                       .damping = d[6],
                       .sliding = b[3],
                       .sticking = b[4],
                       .slow = b[5]};
  m->integral_at = g[5] > 0.0 ? next++ : -1;
  m->heat_at = d[2] > 0.0 ? next++ : -1;
  m->bristle_at = d[5] > 0.0 ? next++ : -1;
  m->current_at = d[0] > 0.0 ? next++ : -1;
  out->ctrl_count = 0;
  for (int k = 0; k < 4; k++) m->at[k] = a->inputs[k] ? out->ctrl_count++ : -1;
  out->act_count = next;
}

frix_status fx_robot_check_motor(const fx_mjcf_reader *r, const fx_mjcf_actuator *a) {
  if (a->gain_form != FX_FORM_MOTOR) return FRIX_OK;
  bool controlled = a->inputs[0] || a->inputs[1] || a->inputs[2];
  if (a->gain[5] > 0.0 && !a->inputs[0])
    return fx_mjcf_fail(r, a->element, "dcmotor: an integral gain needs the input pos");
  if (!controlled && (a->gain[4] > 0.0 || a->gain[6] > 0.0 || a->dyn[7] > 0.0))
    return fx_mjcf_fail(r, a->element, "dcmotor: gains and slew rate of the controller need an input pos, vel or ff");
  return FRIX_OK;
}

frix_status fx_robot_check_turn(const fx_robot_maker *m, const fx_mjcf_actuator *a, const fx_tree_actuator *out) {
  if (a->gain_form != FX_FORM_TURN) return FRIX_OK;
  bool ball = out->transmission == FRIX_ROBOT_AT_JOINT && m->tree->joint[out->object].kind == FRIX_ROBOT_BALL;
  bool sites = out->transmission == FRIX_ROBOT_AT_SITE && out->object2 >= 0;
  if (!ball && !sites)
    return fx_mjcf_fail(m->r, a->element, "<%s>: an orientation is that of a ball joint, or of a site and a refsite",
                        a->element->name);
  if (out->force_limited && out->force_range[0] != 0.0)
    return fx_mjcf_fail(m->r, a->element, "<%s> forcerange: the lower bound of the torque's size is 0",
                        a->element->name);
  if (a->quaternion && a->dynamics != FX_DYN_OF_NONE)
    return fx_mjcf_fail(m->r, a->element, "<%s>: a quaternion has no integrator", a->element->name);
  return FRIX_OK;
}
