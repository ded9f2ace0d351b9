/* Actuators as the file has them.
 *
 *   force = gain u + bias,   gain = g0 + g1 L + g2 dL/dt,   bias = b0 + b1 L + b2 dL/dt,   or a muscle's
 *
 * All kinds (motor, position, velocity, general ...) are this law with their own numbers; defaults of any of the kinds
 * count for all, the later over the earlier. */
#include <string.h>

#include "base/trig.h"
#include "io/mjcf.h"

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
  a->ctrl_given |= fx_xml_value(item->element, "ctrlrange") != NULL;
  a->force_given |= fx_xml_value(item->element, "forcerange") != NULL;
  a->act_given |= fx_xml_value(item->element, "actrange") != NULL;
  a->length_given |= fx_xml_value(item->element, "lengthrange") != NULL;
  return FRIX_OK;
}

static frix_status read_general(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  int dynamics = a->dynamics == FX_DYN_OF_PID ? 0 : (int)a->dynamics, gain = (int)a->gain_form,
      bias = (int)a->bias_form;
  frix_status status;
  if ((status =
           fx_mjcf_word(r, item, "dyntype", "none integrator filter filterexact muscle user pid dcmotor", &dynamics)) ||
      (status = fx_mjcf_word(r, item, "gaintype", "fixed affine muscle user dcmotor", &gain)) ||
      (status = fx_mjcf_word(r, item, "biastype", "none affine muscle user dcmotor", &bias)) ||
      (status = fx_mjcf_reals(r, item, "dynprm", 0, 10, a->dyn, NULL)) ||
      (status = fx_mjcf_reals(r, item, "gainprm", 0, 10, a->gain, NULL)) ||
      (status = fx_mjcf_reals(r, item, "biasprm", 0, 10, a->bias, NULL)) ||
      (status = fx_mjcf_word(r, item, "actearly", "false true", &a->act_early)) ||
      (status = fx_mjcf_integer(r, item, "actdim", -1, 1000, &a->act_dim)))
    return status;
  a->dynamics = dynamics < FX_DYN_OF_PID ? (fx_mjcf_dynamics)dynamics : FX_DYN_OF_OTHER;
  a->pid = false;
  a->gain_form = gain < FX_FORM_OTHER ? (fx_mjcf_form)gain : FX_FORM_OTHER;
  a->bias_form = bias < FX_FORM_OTHER ? (fx_mjcf_form)bias : FX_FORM_OTHER;
  if (fx_xml_value(item->element, "biasprm")) a->damp_ratio = 0.0;
  /* a servo whose bias is positive in the rate gives the ratio of its damping */
  if (a->gain_form == FX_FORM_PLAIN && a->gain[0] == -a->bias[1] && a->bias[2] > 0.0) a->damp_ratio = a->bias[2];
  return FRIX_OK;
}

static frix_status read_servo(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a, bool integrates) {
  double kp = a->gain[0], kv = 0.0, ratio = 0.0, time = 0.0;
  frix_status status;
  if ((status = fx_mjcf_real(r, item, "kp", &kp)) || (status = fx_mjcf_real(r, item, "kv", &kv)) ||
      (status = fx_mjcf_real(r, item, "dampratio", &ratio)) || (status = fx_mjcf_real(r, item, "timeconst", &time)))
    return status;
  if (kp < 0.0 || kv < 0.0 || ratio < 0.0 || time < 0.0)
    return fx_mjcf_fail(r, item->element, "%s: kp, kv, dampratio and timeconst must not be negative",
                        item->element->name);
  if (fx_xml_value(item->element, "kv")) a->damp_ratio = 0.0, a->bias[2] = -kv;
  if (fx_xml_value(item->element, "dampratio")) a->damp_ratio = ratio, a->bias[2] = 0.0;
  if (fx_xml_value(item->element, "timeconst"))
    a->dynamics = time > 0.0 ? FX_DYN_OF_FILTER_EXACT : FX_DYN_OF_NONE, a->dyn[0] = time;
  a->inherits_act = integrates;
  if (integrates) a->dynamics = FX_DYN_OF_INTEGRATOR, a->act_limited = 1;
  a->gain_form = FX_FORM_PLAIN, a->bias_form = FX_FORM_AFFINE;
  a->gain[0] = kp, a->bias[1] = -kp;
  return FRIX_OK;
}

static frix_status read_speed(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a, bool damper) {
  double kv = damper ? 0.0 : a->gain[0];
  frix_status status = fx_mjcf_real(r, item, "kv", &kv);
  a->dynamics = FX_DYN_OF_NONE;
  a->damp_ratio = 0.0;
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
  static const double initial[9] = {0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2};
  static const char *const name[] = {"force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"};
  double time[2] = {0.01, 0.04}, smooth = 0.0;
  bool again = a->gain_form == FX_FORM_MUSCLE; /* a default that was a muscle stays */
  if (again) time[0] = a->dyn[0], time[1] = a->dyn[1], smooth = a->dyn[2];
  if (!again) memcpy(a->gain, initial, sizeof initial), a->gain[9] = 0.0;
  frix_status status = fx_mjcf_reals(r, item, "timeconst", 2, 2, time, NULL);
  if (!status) status = fx_mjcf_real(r, item, "tausmooth", &smooth);
  if (!status) status = fx_mjcf_reals(r, item, "range", 2, 2, a->gain, NULL);
  for (int k = 0; k < 7 && !status; k++) status = fx_mjcf_real(r, item, name[k], &a->gain[2 + k]);
  memcpy(a->bias, a->gain, sizeof a->bias);
  a->dyn[0] = time[0], a->dyn[1] = time[1], a->dyn[2] = smooth;
  a->dynamics = FX_DYN_OF_MUSCLE;
  a->gain_form = a->bias_form = FX_FORM_MUSCLE;
  return status;
}

/* Which controls it has, of "pos", "vel" and "ff" in this order; the first two unless told. */
static frix_status read_inputs(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  static const char *const name[] = {"pos", "vel", "ff"};
  const char *text = fx_mjcf_text(item, "input", NULL);
  if (!text) return FRIX_OK;
  int next = 0;
  for (int k = 0; k < 3; k++) a->inputs[k] = false;
  while (*(text += strspn(text, " \t\r\n"))) {
    size_t size = strcspn(text, " \t\r\n");
    while (next < 3 && (strlen(name[next]) != size || strncmp(text, name[next], size))) next++;
    if (next == 3) return fx_mjcf_fail(r, item->element, "pid input: wants some of pos, vel, ff, in this order");
    a->inputs[next++] = true;
    text += size;
  }
  return next ? FRIX_OK : fx_mjcf_fail(r, item->element, "pid input: wants at least one of pos, vel, ff");
}

/* force = kp (u_pos - L) + kv (u_vel - dL/dt) + ki integral + u_ff */
static frix_status read_pid(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  bool again = a->pid; /* a default that was one stays */
  double kp = again ? a->gain[0] : 0.0, kv = again ? -a->bias[2] : 0.0, ratio = again ? a->damp_ratio : 0.0;
  if (!again) memset(a->bias, 0, sizeof a->bias), a->inputs[0] = a->inputs[1] = true, a->inputs[2] = false;
  frix_status status;
  if ((status = fx_mjcf_real(r, item, "kp", &kp)) || (status = fx_mjcf_real(r, item, "kv", &kv)) ||
      (status = fx_mjcf_real(r, item, "dampratio", &ratio)) || (status = fx_mjcf_real(r, item, "ki", &a->ki)) ||
      (status = fx_mjcf_real(r, item, "imax", &a->most)) || (status = fx_mjcf_real(r, item, "slewmax", &a->slew)) ||
      (status = fx_mjcf_reals(r, item, "posrange", 2, 2, a->ctrl_range, NULL)) ||
      (status = fx_mjcf_reals(r, item, "velrange", 2, 2, a->more_range[0], NULL)) ||
      (status = fx_mjcf_reals(r, item, "ffrange", 2, 2, a->more_range[1], NULL)) || (status = read_inputs(r, item, a)))
    return status;
  if (kp < 0.0 || kv < 0.0 || ratio < 0.0 || a->ki < 0.0 || a->most < 0.0 || a->slew < 0.0)
    return fx_mjcf_fail(r, item->element, "pid: kp, kv, ki, dampratio, imax and slewmax must not be negative");
  if ((a->ki > 0.0 || a->slew > 0.0) && !a->inputs[0])
    return fx_mjcf_fail(r, item->element, "pid: ki and slewmax need the input pos");
  a->ctrl_given |= fx_xml_value(item->element, "posrange") != NULL;
  a->more_given[0] |= fx_xml_value(item->element, "velrange") != NULL;
  a->more_given[1] |= fx_xml_value(item->element, "ffrange") != NULL;
  bool by_ratio = fx_xml_value(item->element, "dampratio") || (ratio > 0.0 && !fx_xml_value(item->element, "kv"));
  a->damp_ratio = by_ratio ? ratio : 0.0, a->bias[2] = by_ratio ? 0.0 : -kv;
  a->gain[0] = kp, a->bias[1] = -kp;
  a->gain_form = FX_FORM_PLAIN, a->bias_form = FX_FORM_AFFINE, a->dynamics = FX_DYN_OF_PID;
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
  if (a->pid) a->pid = false, a->gain[0] = 1.0, memset(a->bias, 0, sizeof a->bias);
  if (!strcmp(name, "position") || !strcmp(name, "intvelocity")) return read_servo(r, &item, a, *name == 'i');
  if (!strcmp(name, "velocity") || !strcmp(name, "damper")) return read_speed(r, &item, a, *name == 'd');
  if (!strcmp(name, "cylinder")) return read_cylinder(r, &item, a);
  if (!strcmp(name, "muscle")) return read_muscle(r, &item, a);
  if (!strcmp(name, "motor") || !strcmp(name, "adhesion")) return read_plain(r, &item, a, *name == 'a');
  a->dynamics = FX_DYN_OF_OTHER, a->gain_form = a->bias_form = FX_FORM_OTHER;
  return FRIX_OK;
}

static frix_status read_class(const fx_mjcf_reader *r, const fx_mjcf_class *c, fx_mjcf_actuator *a) {
  frix_status status = c && c->parent ? read_class(r, c->parent, a) : FRIX_OK;
  for (const fx_xml_element *e = c ? c->element->first : NULL; e && !status; e = e->next)
    if (fx_mjcf_is_actuator(e->name)) status = read_layer(r, e, a);
  return status;
}

frix_status fx_mjcf_actuator_read(const fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_actuator *a) {
  fx_mjcf_item item;
  a->gear[0] = a->gain[0] = a->dyn[0] = 1.0;
  a->ctrl_limited = a->force_limited = a->act_limited = 2;
  a->act_dim = -1;
  frix_status status = fx_mjcf_item_of(r, e, fx_mjcf_source_of(e)->classes, &item);
  if (!status) status = read_class(r, item.class, a);
  return status ? status : read_layer(r, e, a);
}
