/* Actuators as the file has them.
 *
 *   force = gain u + bias,   gain = g0 + g1 L + g2 dL/dt,   bias = b0 + b1 L + b2 dL/dt,   or a muscle's
 *
 * All kinds (motor, position, velocity, general ...) are this law with their own numbers; defaults of any of the kinds
 * count for all, the later over the earlier: every kind sets some numbers of one list and keeps the others. While they
 * are read, a damping ratio stands as a positive b2 of a servo, and the gain of a pid is its ki. */
#include <math.h>
#include <string.h>

#include "base/trig.h"
#include "io/mjcf_internal.h"

#define MOST_GEAR 1e100

static frix_status read_common(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  frix_status status;
  if ((status = fx_mjcf_reals(r, item, "gear", 1, 6, a->gear, NULL)) ||
      (status = fx_mjcf_word(r, item, "ctrllimited", "false true auto", &a->ctrl_limited)) ||
      (status = fx_mjcf_word(r, item, "forcelimited", "false true auto", &a->force_limited)) ||
      (status = fx_mjcf_word(r, item, "actlimited", "false true auto", &a->act_limited)) ||
      (status = fx_mjcf_reals(r, item, "ctrlrange", 2, 2, a->ctrl_range, NULL)) ||
      (status = fx_mjcf_reals(r, item, "forcerange", 2, 2, a->force_range, NULL)) ||
      (status = fx_mjcf_reals(r, item, "actrange", 2, 2, a->act_range, NULL)) ||
      (status = fx_mjcf_reals(r, item, "lengthrange", 2, 2, a->length_range, NULL)) ||
      (status = fx_mjcf_real(r, item, "cranklength", &a->crank_length)) ||
      (status = fx_mjcf_reals(r, item, "damping", 1, 3, a->damping, NULL)) ||
      (status = fx_mjcf_real(r, item, "armature", &a->armature)) ||
      (status = fx_mjcf_real(r, item, "delay", &a->delay)) ||
      (status = fx_mjcf_integer(r, item, "nsample", 0, 100000, &a->sample_count)) ||
      (status = fx_mjcf_word(r, item, "interp", "zoh linear cubic", &a->interp)) ||
      (status = fx_mjcf_integer(r, item, "group", INT32_MIN, INT32_MAX, &a->group)) ||
      (status = fx_mjcf_real(r, item, "inheritrange", &a->inherit)))
    return status;
  for (int k = 0; k < 6; k++) /* its square counts */
    if (fabs(a->gear[k]) > MOST_GEAR)
      return fx_mjcf_fail(r, item->element, "gear: at most %g, not %g", MOST_GEAR, a->gear[k]);
  a->ctrl_given |= fx_xml_value(item->element, "ctrlrange") != NULL;
  a->force_given |= fx_xml_value(item->element, "forcerange") != NULL;
  a->act_given |= fx_xml_value(item->element, "actrange") != NULL;
  a->length_given |= fx_xml_value(item->element, "lengthrange") != NULL;
  return FRIX_OK;
}

/* Another kind than pid: what is remembered of one is gone. */
static void leave_pid(fx_mjcf_actuator *a) {
  a->pid = a->plugin = false;
  a->most = a->slew = 0.0;
}

/* Words of a general actuator and what they mean here. */
static const char dynamics_words[] = "none integrator filter filterexact muscle user dcmotor pid",
                  gain_words[] = "fixed affine muscle user dcmotor pid so3",
                  bias_words[] = "none affine muscle user dcmotor so3";
static const fx_mjcf_dynamics dynamics_of[] = {FX_DYN_OF_NONE,         FX_DYN_OF_INTEGRATOR, FX_DYN_OF_FILTER,
                                               FX_DYN_OF_FILTER_EXACT, FX_DYN_OF_MUSCLE,     FX_DYN_OF_OTHER,
                                               FX_DYN_OF_MOTOR,        FX_DYN_OF_OTHER};
static const fx_mjcf_form gain_of[] = {FX_FORM_PLAIN, FX_FORM_AFFINE, FX_FORM_MUSCLE, FX_FORM_OTHER,
                                       FX_FORM_MOTOR, FX_FORM_OTHER,  FX_FORM_TURN},
                          bias_of[] = {FX_FORM_PLAIN, FX_FORM_AFFINE, FX_FORM_MUSCLE,
                                       FX_FORM_OTHER, FX_FORM_MOTOR,  FX_FORM_TURN};

static frix_status read_general(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  int dynamics = -1, gain = -1, bias = -1, chart = a->quaternion;
  frix_status status;
  if ((status = fx_mjcf_word(r, item, "dyntype", dynamics_words, &dynamics)) ||
      (status = fx_mjcf_word(r, item, "gaintype", gain_words, &gain)) ||
      (status = fx_mjcf_word(r, item, "biastype", bias_words, &bias)) ||
      (status = fx_mjcf_reals(r, item, "dynprm", 0, 10, a->dyn, NULL)) ||
      (status = fx_mjcf_reals(r, item, "gainprm", 0, 10, a->gain, NULL)) ||
      (status = fx_mjcf_reals(r, item, "biasprm", 0, 10, a->bias, NULL)) ||
      (status = fx_mjcf_word(r, item, "actearly", "false true", &a->act_early)) ||
      (status = fx_mjcf_integer(r, item, "actdim", -1, 1000, &a->act_dim)))
    return status;
  if (dynamics >= 0) a->dynamics = dynamics_of[dynamics];
  if (gain >= 0) leave_pid(a);
  if (fx_xml_value(item->element, "dynprm") && a->pid) a->most = a->dyn[0], a->slew = a->dyn[1];
  if (gain >= 0) a->gain_form = gain_of[gain];
  if (bias >= 0) a->bias_form = bias_of[bias];
  if (a->gain_form == FX_FORM_TURN) status = fx_mjcf_word(r, item, "input", "expmap quat", &chart);
  a->quaternion = chart == 1;
  return status;
}

static frix_status read_servo(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a, bool integrates) {
  double kp = a->gain[0], kv = 0.0, ratio = 0.0, time = 0.0;
  frix_status status;
  if ((status = fx_mjcf_real(r, item, "kp", &kp)) || (status = fx_mjcf_real(r, item, "kv", &kv)) ||
      (status = fx_mjcf_real(r, item, "dampratio", &ratio)) || (status = fx_mjcf_real(r, item, "timeconst", &time)))
    return status;
  if ((kp < 0.0 && fx_xml_value(item->element, "kp")) || kv < 0.0 || ratio < 0.0 || time < 0.0)
    return fx_mjcf_fail(r, item->element, "%s: kp, kv, dampratio and timeconst must not be negative",
                        item->element->name);
  if (fx_xml_value(item->element, "kv")) a->bias[2] = -kv;
  if (fx_xml_value(item->element, "dampratio")) a->bias[2] = ratio;
  if (fx_xml_value(item->element, "timeconst"))
    a->dynamics = time > 0.0 ? FX_DYN_OF_FILTER_EXACT : FX_DYN_OF_NONE, a->dyn[0] = time;
  if (integrates) a->dynamics = FX_DYN_OF_INTEGRATOR, a->act_limited = 1;
  a->gain_form = FX_FORM_PLAIN, a->bias_form = FX_FORM_AFFINE;
  a->gain[0] = kp, a->bias[1] = -kp;
  return FRIX_OK;
}

static frix_status read_speed(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a, bool damper) {
  double kv = !damper ? a->gain[0] : a->gain_form == FX_FORM_AFFINE ? -a->gain[2] : 0.0;
  frix_status status = fx_mjcf_real(r, item, "kv", &kv);
  if (!status && damper && kv < 0.0) status = fx_mjcf_fail(r, item->element, "damper: kv %g is negative", kv);
  a->dynamics = FX_DYN_OF_NONE;
  if (damper) {
    memset(a->gain, 0, sizeof a->gain);
    a->gain[2] = -kv;
    a->ctrl_limited = 1;
    a->gain_form = FX_FORM_AFFINE, a->bias_form = FX_FORM_PLAIN;
  } else {
    memset(a->bias, 0, sizeof a->bias);
    a->gain[0] = kv, a->bias[2] = -kv;
    a->gain_form = FX_FORM_PLAIN, a->bias_form = FX_FORM_AFFINE;
  }
  return status;
}

static frix_status read_cylinder(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  double diameter = -1.0;
  frix_status status;
  if ((status = fx_mjcf_real(r, item, "timeconst", &a->dyn[0])) ||
      (status = fx_mjcf_real(r, item, "area", &a->gain[0])) ||
      (status = fx_mjcf_real(r, item, "diameter", &diameter)) ||
      (status = fx_mjcf_reals(r, item, "bias", 3, 3, a->bias, NULL)))
    return status;
  if (diameter >= 0.0) a->gain[0] = FX_PI / 4.0 * diameter * diameter;
  a->dynamics = FX_DYN_OF_FILTER;
  a->gain_form = FX_FORM_PLAIN, a->bias_form = FX_FORM_AFFINE;
  return FRIX_OK;
}

static frix_status read_muscle(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  /* those of a muscle stand where the numbers are still those of an actuator without any */
  static const double initial[9] = {0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2};
  static const char *const name[] = {"force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"};
  double time[2] = {a->dyn[0] == 1.0 ? 0.01 : a->dyn[0], a->dyn[1] == 0.0 ? 0.04 : a->dyn[1]}, smooth = a->dyn[2];
  for (int k = 0; k < 9; k++)
    if (a->gain[k] == (k ? 0.0 : 1.0)) a->gain[k] = initial[k];
  frix_status status = fx_mjcf_reals(r, item, "timeconst", 2, 2, time, NULL);
  if (!status) status = fx_mjcf_real(r, item, "tausmooth", &smooth);
  if (!status) status = fx_mjcf_reals(r, item, "range", 2, 2, a->gain, NULL);
  for (int k = 0; k < 7 && !status; k++) status = fx_mjcf_real(r, item, name[k], &a->gain[2 + k]);
  memcpy(a->bias, a->gain, sizeof initial);
  if (!status && !(a->gain[0] < a->gain[1]))
    status = fx_mjcf_fail(r, item->element, "muscle range: %g is not below %g", a->gain[0], a->gain[1]);
  a->dyn[0] = time[0], a->dyn[1] = time[1], a->dyn[2] = smooth;
  a->dynamics = FX_DYN_OF_MUSCLE;
  a->gain_form = a->bias_form = FX_FORM_MUSCLE;
  return status;
}

/* Some of "pos", "vel", "ff" and, of a motor, "voltage", in this order; "none" of a motor. */
frix_status fx_mjcf_read_inputs(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  static const char *const name[] = {"pos", "vel", "ff", "voltage"};
  bool motor = a->gain_form == FX_FORM_MOTOR;
  const char *text = fx_mjcf_text(item, "input", NULL);
  if (!text) return FRIX_OK;
  int next = 0, most = motor ? 4 : 3;
  for (int k = 0; k < 4; k++) a->inputs[k] = false;
  if (motor && !strcmp(text, "none")) return FRIX_OK;
  while (*(text += strspn(text, " \t\r\n"))) {
    size_t size = strcspn(text, " \t\r\n");
    while (next < most && (strlen(name[next]) != size || strncmp(text, name[next], size))) next++;
    if (next == most)
      return fx_mjcf_fail(r, item->element, "%s input: wants some of pos, vel, ff%s, in this order",
                          item->element->name, motor ? ", voltage" : "");
    a->inputs[next++] = true;
    text += size;
  }
  return next ? FRIX_OK
              : fx_mjcf_fail(r, item->element, "%s input: wants at least one of pos, vel, ff", item->element->name);
}

/* force = kp (u_pos - L) + kv (u_vel - dL/dt) + ki integral + u_ff */
static frix_status read_pid(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  double kp = -a->bias[1], kv = 0.0, ratio = 0.0, ki = a->pid ? a->gain[0] : 0.0;
  if (!a->pid) leave_pid(a), a->inputs[0] = a->inputs[1] = true, a->inputs[2] = a->inputs[3] = false;
  frix_status status;
  if ((status = fx_mjcf_real(r, item, "kp", &kp)) || (status = fx_mjcf_real(r, item, "kv", &kv)) ||
      (status = fx_mjcf_real(r, item, "dampratio", &ratio)) || (status = fx_mjcf_real(r, item, "ki", &ki)) ||
      (status = fx_mjcf_real(r, item, "imax", &a->most)) || (status = fx_mjcf_real(r, item, "slewmax", &a->slew)) ||
      (status = fx_mjcf_reals(r, item, "posrange", 2, 2, a->ctrl_range, NULL)) ||
      (status = fx_mjcf_reals(r, item, "velrange", 2, 2, a->more_range[0], NULL)) ||
      (status = fx_mjcf_reals(r, item, "ffrange", 2, 2, a->more_range[1], NULL)) ||
      (status = fx_mjcf_read_inputs(r, item, a)))
    return status;
  if (kp < 0.0 || kv < 0.0 || ratio < 0.0 || ki < 0.0 || a->most < 0.0 || a->slew < 0.0)
    return fx_mjcf_fail(r, item->element, "pid: kp, kv, ki, dampratio, imax and slewmax must not be negative");
  if ((ki > 0.0 || a->slew > 0.0) && !a->inputs[0])
    return fx_mjcf_fail(r, item->element, "pid: ki and slewmax need the input pos");
  a->ctrl_given |= fx_xml_value(item->element, "posrange") != NULL;
  a->more_given[0] |= fx_xml_value(item->element, "velrange") != NULL;
  a->more_given[1] |= fx_xml_value(item->element, "ffrange") != NULL;
  if (fx_xml_value(item->element, "kv")) a->bias[2] = -kv;
  if (fx_xml_value(item->element, "dampratio")) a->bias[2] = ratio;
  a->gain[0] = ki, a->bias[1] = -kp;
  a->gain_form = FX_FORM_PLAIN, a->bias_form = FX_FORM_AFFINE;
  a->dynamics = ki > 0.0 || a->slew > 0.0 ? FX_DYN_OF_PID : FX_DYN_OF_NONE;
  if (a->dynamics == FX_DYN_OF_PID) a->dyn[0] = a->most, a->dyn[1] = a->slew; /* for kinds that inherit them */
  a->pid = true;
  return FRIX_OK;
}

static frix_status read_plain(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a, bool adhesion) {
  /* adhesion keeps the gain and the dynamics of its defaults */
  if (!adhesion) a->gain[0] = 1.0, a->dynamics = FX_DYN_OF_NONE;
  a->gain_form = a->bias_form = FX_FORM_PLAIN;
  if (adhesion) a->ctrl_limited = 1;
  return adhesion ? fx_mjcf_real(r, item, "gain", &a->gain[0]) : FRIX_OK;
}

/* One element's word over what came before: a default, or the actuator itself. */
static frix_status read_layer(const fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_actuator *a) {
  fx_mjcf_item item = {e, NULL};
  const char *name = e->name;
  frix_status status = read_common(r, &item, a);
  if (status) return status;
  if (!strcmp(name, "pid")) return read_pid(r, &item, a);
  if (!strcmp(name, "general")) return read_general(r, &item, a);
  if (!strcmp(name, "plugin")) return fx_mjcf_read_plugin(r, &item, a);
  leave_pid(a);
  if (!strcmp(name, "position") || !strcmp(name, "intvelocity")) return read_servo(r, &item, a, *name == 'i');
  if (!strcmp(name, "velocity") || !strcmp(name, "damper")) return read_speed(r, &item, a, *name == 'd');
  if (!strcmp(name, "cylinder")) return read_cylinder(r, &item, a);
  if (!strcmp(name, "muscle")) return read_muscle(r, &item, a);
  if (!strcmp(name, "motor") || !strcmp(name, "adhesion")) return read_plain(r, &item, a, *name == 'a');
  return !strcmp(name, "dcmotor") ? fx_mjcf_read_motor(r, &item, a) : fx_mjcf_read_orientation(r, &item, a);
}

static frix_status read_class(const fx_mjcf_reader *r, const fx_mjcf_class *c, fx_mjcf_actuator *a) {
  frix_status status = c && c->parent ? read_class(r, c->parent, a) : FRIX_OK;
  for (const fx_xml_element *e = c ? c->element->first : NULL; e && !status; e = e->next)
    if (fx_mjcf_is_actuator(e->name)) status = read_layer(r, e, a);
  return status;
}

/* What the numbers mean. */
static frix_status settle(const fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_actuator *a) {
  if (a->pid && !a->plugin) {
    a->ki = a->gain[0], a->gain[0] = -a->bias[1];
    a->dynamics = FX_DYN_OF_PID;
  } else if (a->dynamics == FX_DYN_OF_PID && !a->pid) {
    return fx_mjcf_fail(r, e, "<%s> has the dynamics of a <pid> by its class", e->name);
  }
  /* another kind of a class of motors: without states of these it has no dynamics */
  bool none = a->dyn[0] == 0.0 && a->dyn[2] == 0.0 && a->dyn[5] == 0.0 && a->dyn[7] == 0.0 && a->gain[5] == 0.0;
  if (a->dynamics == FX_DYN_OF_MOTOR && a->gain_form < FX_FORM_MOTOR && a->bias_form < FX_FORM_MOTOR && none)
    a->dynamics = FX_DYN_OF_NONE;
  bool affine = a->gain_form <= FX_FORM_AFFINE && a->bias_form == FX_FORM_AFFINE;
  bool turn = a->gain_form == FX_FORM_TURN && a->bias_form == FX_FORM_TURN;
  bool servo = (affine || turn) && a->gain[0] == -a->bias[1];
  if (servo && a->bias[2] > 0.0) a->damp_ratio = a->bias[2], a->bias[2] = 0.0;
  a->inherits_act = a->dynamics == FX_DYN_OF_INTEGRATOR;
  if (a->damp_ratio > 0.0 && a->gain[0] < 0.0)
    return fx_mjcf_fail(r, e, "%s: a damping ratio needs a kp that is not negative: %g", e->name, a->gain[0]);
  return FRIX_OK;
}

frix_status fx_mjcf_actuator_read(const fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_actuator *a) {
  fx_mjcf_item item;
  a->gear[0] = a->gain[0] = a->dyn[0] = 1.0;
  a->ctrl_limited = a->force_limited = a->act_limited = 2;
  a->act_dim = -1;
  frix_status status = fx_mjcf_item_of(r, e, fx_mjcf_source_of(e)->classes, &item);
  if (!status) status = read_class(r, item.class, a);
  if (!status) status = read_layer(r, e, a);
  return status ? status : settle(r, e, a);
}
