/* Actuators: what they do to joints.
 *
 *   force = gain u + bias0 + bias1 L + bias2 dL/dt,  within forcerange;   L = gear q;   the joint feels gear force
 *
 * with u the control of the keyframe, or 0, within ctrlrange. As control does not change here, that is a constant
 * force, a spring and a damper along the joint: k = -gear^2 bias1, c = -gear^2 bias2 (or 2 z sqrt(k J) for a damping
 * ratio z, J the inertia along the joint), f = gear (gain u + bias0). All kinds (motor, position, velocity, general
 * ...) are this law with their own numbers; defaults of any of the kinds count for all, the later over the earlier. A
 * force that is zero has no part in the motion, whatever it would act on. */
#include <stdio.h>
#include <string.h>

#include "io/draft.h"
#include "io/mjcf.h"

typedef enum dynamics { DYN_NONE, DYN_INTEGRATOR, DYN_FILTER, DYN_OTHER } dynamics;
typedef enum form { FORM_PLAIN, FORM_AFFINE, FORM_OTHER } form; /* plain: a constant gain; no bias */

typedef struct actuator {
  const fx_xml_element *element;
  int32_t instance;
  dynamics dynamics;
  form gain_form, bias_form;
  double gain[3], bias[3];         /* as given; gain_of and bias_of are what counts */
  double damp_ratio;               /* not 0: the damping, as a share of the critical one at the reference */
  double gear[6];                  /* joints and tendons have the first */
  int ctrl_limited, force_limited; /* 0 false, 1 true, 2 auto */
  bool ctrl_given, force_given;
  double ctrl_range[2], force_range[2], inherit;
} actuator;

/* ---- reading ---- */

static frix_status read_common(const fx_mjcf_reader *r, const fx_mjcf_item *item, actuator *a) {
  frix_status status;
  if ((status = fx_mjcf_reals(r, item, "gear", 1, 6, a->gear, NULL)) ||
      (status = fx_mjcf_word(r, item, "ctrllimited", "false true auto", &a->ctrl_limited)) ||
      (status = fx_mjcf_word(r, item, "forcelimited", "false true auto", &a->force_limited)) ||
      (status = fx_mjcf_reals(r, item, "ctrlrange", 2, 2, a->ctrl_range, NULL)) ||
      (status = fx_mjcf_reals(r, item, "forcerange", 2, 2, a->force_range, NULL)) ||
      (status = fx_mjcf_real(r, item, "inheritrange", &a->inherit)))
    return status;
  a->ctrl_given |= fx_xml_value(item->element, "ctrlrange") != NULL;
  a->force_given |= fx_xml_value(item->element, "forcerange") != NULL;
  return FRIX_OK;
}

static frix_status read_general(const fx_mjcf_reader *r, const fx_mjcf_item *item, actuator *a) {
  double gain[10] = {a->gain[0], a->gain[1], a->gain[2]}, bias[10] = {a->bias[0], a->bias[1], a->bias[2]};
  const char *dyn = fx_xml_value(item->element, "dyntype"), *gains = fx_xml_value(item->element, "gaintype"),
             *biases = fx_xml_value(item->element, "biastype");
  frix_status status;
  if ((status = fx_mjcf_reals(r, item, "gainprm", 0, 10, gain, NULL)) ||
      (status = fx_mjcf_reals(r, item, "biasprm", 0, 10, bias, NULL)))
    return status;
  memcpy(a->gain, gain, sizeof a->gain);
  memcpy(a->bias, bias, sizeof a->bias);
  if (dyn)
    a->dynamics = !strcmp(dyn, "none")         ? DYN_NONE
                  : !strcmp(dyn, "integrator") ? DYN_INTEGRATOR
                  : !strncmp(dyn, "filter", 6) ? DYN_FILTER
                                               : DYN_OTHER;
  if (gains) a->gain_form = !strcmp(gains, "fixed") ? FORM_PLAIN : !strcmp(gains, "affine") ? FORM_AFFINE : FORM_OTHER;
  if (biases)
    a->bias_form = !strcmp(biases, "none") ? FORM_PLAIN : !strcmp(biases, "affine") ? FORM_AFFINE : FORM_OTHER;
  return FRIX_OK;
}

static frix_status read_servo(const fx_mjcf_reader *r, const fx_mjcf_item *item, actuator *a, bool integrates) {
  double kp = a->gain[0], kv = -a->bias[2], ratio = 0.0, time = 0.0;
  frix_status status;
  if ((status = fx_mjcf_real(r, item, "kp", &kp)) || (status = fx_mjcf_real(r, item, "kv", &kv)) ||
      (status = fx_mjcf_real(r, item, "dampratio", &ratio)) || (status = fx_mjcf_real(r, item, "timeconst", &time)))
    return status;
  if (fx_xml_value(item->element, "kv")) a->damp_ratio = 0.0;
  if (fx_xml_value(item->element, "dampratio")) a->damp_ratio = ratio, kv = 0.0;
  if (fx_xml_value(item->element, "timeconst")) a->dynamics = time > 0.0 ? DYN_FILTER : DYN_NONE;
  if (integrates) a->dynamics = DYN_INTEGRATOR;
  a->gain_form = FORM_PLAIN, a->bias_form = FORM_AFFINE;
  a->gain[0] = kp, a->bias[0] = 0.0, a->bias[1] = -kp, a->bias[2] = -kv;
  return FRIX_OK;
}

static frix_status read_speed(const fx_mjcf_reader *r, const fx_mjcf_item *item, actuator *a, bool damper) {
  double kv = damper ? 0.0 : a->gain[0];
  frix_status status = fx_mjcf_real(r, item, "kv", &kv);
  a->dynamics = DYN_NONE;
  a->gain_form = damper ? FORM_AFFINE : FORM_PLAIN, a->bias_form = damper ? FORM_PLAIN : FORM_AFFINE;
  a->gain[0] = damper ? 0.0 : kv, a->gain[1] = 0.0, a->gain[2] = -kv;
  a->bias[0] = a->bias[1] = 0.0, a->bias[2] = -kv;
  return status;
}

/* One element's word over what came before: a default, or the actuator itself. */
static frix_status read_layer(const fx_mjcf_reader *r, const fx_xml_element *e, actuator *a) {
  fx_mjcf_item item = {e, NULL};
  frix_status status = read_common(r, &item, a);
  if (status) return status;
  if (!strcmp(e->name, "general")) return read_general(r, &item, a);
  if (!strcmp(e->name, "position") || !strcmp(e->name, "intvelocity")) return read_servo(r, &item, a, *e->name == 'i');
  if (!strcmp(e->name, "velocity") || !strcmp(e->name, "damper")) return read_speed(r, &item, a, *e->name == 'd');
  a->dynamics = DYN_NONE;
  a->gain_form = a->bias_form = strcmp(e->name, "motor") ? FORM_OTHER : FORM_PLAIN;
  a->gain[0] = 1.0, a->bias[0] = a->bias[1] = a->bias[2] = 0.0;
  return FRIX_OK;
}

static frix_status read_class(const fx_mjcf_reader *r, const fx_mjcf_class *c, actuator *a) {
  frix_status status = c && c->parent ? read_class(r, c->parent, a) : FRIX_OK;
  for (const fx_xml_element *e = c ? c->element->first : NULL; e && !status; e = e->next)
    if (fx_mjcf_is_actuator(e->name)) status = read_layer(r, e, a);
  return status;
}

static frix_status read_actuator(const fx_mjcf_reader *r, const fx_xml_element *e, actuator *a) {
  fx_mjcf_item item;
  a->gear[0] = a->gain[0] = 1.0, a->ctrl_limited = a->force_limited = 2;
  frix_status status = fx_mjcf_item_of(r, e, fx_mjcf_source_of(e)->classes, &item);
  if (!status) status = read_class(r, item.class, a);
  return status ? status : read_layer(r, e, a);
}

/* Of 1, of the length, of its rate; u has no say in the bias. */
static double slope_of(const actuator *a, int k, double u) {
  double gain = k == 0 || a->gain_form == FORM_AFFINE ? a->gain[k] : 0.0;
  double bias = a->bias_form == FORM_AFFINE ? a->bias[k] : 0.0;
  return gain * u + bias;
}

/* ---- control ---- */

static bool holds(const actuator *a, int limited, bool given) {
  return limited == 1 || (limited == 2 && given && fx_mjcf_source_of(a->element)->auto_limits);
}

/* A servo may take its range from its joint's, about its middle. */
static void inherit_range(const fx_mjcf_joint *j, actuator *a) {
  if (!(a->inherit > 0.0) || !j || !j->limited) return;
  double middle = 0.5 * (j->range[0] + j->range[1]), half = 0.5 * (j->range[1] - j->range[0]) * a->inherit;
  a->ctrl_range[0] = middle - half, a->ctrl_range[1] = middle + half, a->ctrl_given = true;
}

/* What the control comes to; false where it would change with time. */
static bool control_of(const fx_mjcf_reader *r, const actuator *a, int32_t number, double *u) {
  double ctrl = r->start.ctrl ? r->start.ctrl[number] : 0.0;
  if (holds(a, a->ctrl_limited, a->ctrl_given) && !r->no_clamp)
    ctrl = fx_clamp(ctrl, a->ctrl_range[0], a->ctrl_range[1]);
  *u = ctrl;
  if (a->dynamics == DYN_NONE) return true;
  if (r->start.act) return false; /* whose activation is which is not told apart here */
  *u = 0.0;
  return ctrl == 0.0 && a->dynamics != DYN_OTHER;
}

/* ---- onto joints ---- */

static frix_status missing(fx_mjcf_reader *r, const actuator *a, const char *what, const char *text) {
  char name[96];
  snprintf(name, sizeof name, "actuator %s%s%s", fx_word_of(a->element->name, strlen(a->element->name)).text,
           *what ? " " : "", what);
  return fx_mjcf_missing(r, a->element, name, text);
}

static void add_drive(fx_mjcf_drive *to, double force, double stiffness, double damping) {
  to->count++;
  to->force += force, to->stiffness += stiffness, to->damping += damping;
}

/* The part that does not change, within its bounds. */
static double constant_force(const actuator *a, double u) {
  double force = slope_of(a, 0, u);
  return holds(a, a->force_limited, a->force_given) ? fx_clamp(force, a->force_range[0], a->force_range[1]) : force;
}

static bool is_constant(const actuator *a, double u) { return slope_of(a, 1, u) == 0.0 && slope_of(a, 2, u) == 0.0; }

/* The law of one actuator along one joint. */
static frix_status drive_joint(fx_mjcf_reader *r, const actuator *a, double u, fx_mjcf_joint *j) {
  double gear = a->gear[0], k = -gear * gear * slope_of(a, 1, u), c = -gear * gear * slope_of(a, 2, u);
  if (j->type != FX_JOINT_SLIDE && j->type != FX_JOINT_HINGE) return missing(r, a, "at a ball or free joint", NULL);
  if (is_constant(a, u)) {
    add_drive(&j->free, gear * constant_force(a, u), 0.0, 0.0);
    return FRIX_OK;
  }
  if (k < 0.0 || c < 0.0) return missing(r, a, "with a negative gain", NULL);
  if (a->damp_ratio != 0.0) c = 2.0 * a->damp_ratio * sqrt(k * j->inertia);
  if (!holds(a, a->force_limited, a->force_given)) {
    add_drive(&j->free, gear * slope_of(a, 0, u), k, c);
    return FRIX_OK;
  }
  double bound = a->force_range[1];
  if (-a->force_range[0] != bound || !(bound > 0.0) || j->bounded.count)
    return missing(r, a, "forcerange", "left out: not supported where it is not symmetric or of two servos at a joint");
  add_drive(&j->bounded, gear * slope_of(a, 0, u), k, c);
  j->bound = fabs(gear) * bound;
  return FRIX_OK;
}

/* A constant pull spreads over the joints of a fixed tendon by their coefficients. */
static frix_status drive_tendon(fx_mjcf_reader *r, const actuator *a, double u, const fx_mjcf_tendon *t) {
  if (!is_constant(a, u) || !t->fixed) return missing(r, a, "at a tendon", NULL);
  for (int32_t k = 0; k < t->term_count; k++)
    add_drive(&r->joint[t->term[k].joint].free, constant_force(a, u) * a->gear[0] * t->term[k].coef, 0.0, 0.0);
  return FRIX_OK;
}

/* Whether it does nothing at this control, whatever it acts on. */
static bool is_idle(const actuator *a, double u) { return is_constant(a, u) && constant_force(a, u) == 0.0; }

/* Actuators at joints and tendons of every replica, or at what frix does not drive. */
static frix_status apply(fx_mjcf_reader *r, actuator *a, int32_t number) {
  const fx_xml_element *e = a->element;
  const char *joint = fx_xml_value(e, "joint"), *tendon = fx_xml_value(e, "tendon");
  fx_mjcf_found found = {NULL, 0};
  fx_mjcf_named kind = joint ? FX_NAMED_JOINT : FX_NAMED_TENDON;
  frix_status status = FRIX_OK;
  double u = 0.0;
  if (joint || tendon) status = fx_mjcf_find(r, a->instance, e, kind, joint ? "joint" : "tendon", &found);
  if (status) return status;
  if (a->gain_form == FORM_OTHER || a->bias_form == FORM_OTHER) return missing(r, a, "", NULL);
  if (found.count && joint) inherit_range(&r->joint[fx_mjcf_thing(r, kind, &found, 0)], a);
  if (found.count > 1 && r->start.ctrl) return missing(r, a, "of replicas with key ctrl", NULL);
  if (!control_of(r, a, number, &u)) return missing(r, a, "with activation", NULL);
  if (is_idle(a, u)) return FRIX_OK;
  if (!joint && !tendon) return missing(r, a, "without a joint", NULL);
  for (int32_t k = 0; k < found.count && !status; k++) {
    int32_t thing = fx_mjcf_thing(r, kind, &found, k);
    status = joint ? drive_joint(r, a, u, &r->joint[thing]) : drive_tendon(r, a, u, &r->tendon[thing]);
  }
  return status;
}

frix_status fx_mjcf_actuators(fx_mjcf_reader *r) {
  int32_t instance = -1, number = 0;
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next_of_all(r, "actuator", &instance, e)); number++) {
    actuator a = {.element = e, .instance = instance};
    status = read_actuator(r, e, &a);
    if (!status && !r->no_actuation) status = apply(r, &a, number);
  }
  return status;
}
