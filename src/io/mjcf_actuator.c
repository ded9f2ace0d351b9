/* Actuators: what they do to joints.
 *
 *   force = gain u + bias0 + bias1 L + bias2 dL/dt,  within forcerange;   L = gear q;   the joint feels gear force
 *
 * with u the control of the keyframe, or 0, within ctrlrange. As control does not change here, that is a constant
 * force, a spring and a damper along the joint: k = -gear^2 bias1, c = -gear^2 bias2 (or 2 z sqrt(k J) for a damping
 * ratio z, J the inertia along the joint), f = gear (gain u + bias0). A force that is zero has no part in the motion,
 * whatever it would act on. */
#include <stdio.h>
#include <string.h>

#include "io/draft.h"
#include "io/mjcf_internal.h"

/* Of 1, of the length, of its rate; u has no say in the bias. */
static double slope_of(const fx_mjcf_actuator *a, int k, double u) {
  double gain = k == 0 || a->gain_form == FX_FORM_AFFINE ? a->gain[k] : 0.0;
  double bias = a->bias_form == FX_FORM_AFFINE ? a->bias[k] : 0.0;
  return gain * u + bias;
}

/* ---- control ---- */

/* A servo may take its range from its joint's, about its middle. */
static void inherit_range(const fx_mjcf_joint *j, fx_mjcf_actuator *a) {
  if (!(a->inherit > 0.0) || !j || !j->limited) return;
  double middle = 0.5 * (j->range[0] + j->range[1]), half = 0.5 * (j->range[1] - j->range[0]) * a->inherit;
  a->ctrl_range[0] = middle - half, a->ctrl_range[1] = middle + half, a->ctrl_given = true;
}

/* What the control comes to; false where it would change with time. */
static bool control_of(const fx_mjcf_reader *r, const fx_mjcf_actuator *a, int32_t number, double *u) {
  double ctrl = r->start.ctrl ? r->start.ctrl[number] : 0.0;
  if (fx_mjcf_holds(a, a->ctrl_limited, a->ctrl_given) && !r->no_clamp)
    ctrl = fx_clamp(ctrl, a->ctrl_range[0], a->ctrl_range[1]);
  *u = ctrl;
  if (a->dynamics == FX_DYN_OF_NONE) return true;
  if (r->start.act) return false; /* whose activation is which is not told apart here */
  *u = 0.0;
  return ctrl == 0.0 && a->dynamics < FX_DYN_OF_MUSCLE;
}

/* ---- onto joints ---- */

static frix_status missing(fx_mjcf_reader *r, const fx_mjcf_actuator *a, const char *what, const char *text) {
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
static double constant_force(const fx_mjcf_actuator *a, double u) {
  double force = slope_of(a, 0, u);
  return fx_mjcf_holds(a, a->force_limited, a->force_given) ? fx_clamp(force, a->force_range[0], a->force_range[1])
                                                            : force;
}

static bool is_constant(const fx_mjcf_actuator *a, double u) {
  return slope_of(a, 1, u) == 0.0 && slope_of(a, 2, u) == 0.0;
}

/* The law of one actuator along one joint. */
static frix_status drive_joint(fx_mjcf_reader *r, const fx_mjcf_actuator *a, double u, fx_mjcf_joint *j) {
  double gear = a->gear[0], k = -gear * gear * slope_of(a, 1, u), c = -gear * gear * slope_of(a, 2, u);
  if (j->type != FX_JOINT_SLIDE && j->type != FX_JOINT_HINGE) return missing(r, a, "at a ball or free joint", NULL);
  if (is_constant(a, u)) {
    add_drive(&j->free, gear * constant_force(a, u), 0.0, 0.0);
    return FRIX_OK;
  }
  if (k < 0.0 || c < 0.0) return missing(r, a, "with a negative gain", NULL);
  if (a->damp_ratio != 0.0) c = 2.0 * a->damp_ratio * sqrt(k * j->inertia);
  if (!fx_mjcf_holds(a, a->force_limited, a->force_given)) {
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
static frix_status drive_tendon(fx_mjcf_reader *r, const fx_mjcf_actuator *a, double u, const fx_mjcf_tendon *t) {
  if (!is_constant(a, u) || !t->fixed) return missing(r, a, "at a tendon", NULL);
  for (int32_t k = 0; k < t->term_count; k++)
    add_drive(&r->joint[t->term[k].joint].free, constant_force(a, u) * a->gear[0] * t->term[k].coef, 0.0, 0.0);
  return FRIX_OK;
}

/* Whether it does nothing at this control, whatever it acts on. */
static bool is_idle(const fx_mjcf_actuator *a, double u) { return is_constant(a, u) && constant_force(a, u) == 0.0; }

/* Actuators at joints and tendons of every replica, or at what frix does not drive. */
static frix_status apply(fx_mjcf_reader *r, fx_mjcf_actuator *a, int32_t number) {
  const fx_xml_element *e = a->element;
  const char *joint = fx_xml_value(e, "joint"), *tendon = fx_xml_value(e, "tendon");
  fx_mjcf_found found = {NULL, 0};
  fx_mjcf_named kind = joint ? FX_NAMED_JOINT : FX_NAMED_TENDON;
  frix_status status = FRIX_OK;
  double u = 0.0;
  if (joint || tendon) status = fx_mjcf_find(r, a->instance, e, kind, joint ? "joint" : "tendon", &found);
  if (status) return status;
  if (a->pid || a->gain_form >= FX_FORM_MUSCLE || a->bias_form >= FX_FORM_MUSCLE) return missing(r, a, "", NULL);
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
    fx_mjcf_actuator a = {.element = e, .instance = instance};
    status = fx_mjcf_actuator_read(r, e, &a);
    if (!status && !r->no_actuation) status = apply(r, &a, number);
  }
  return status;
}
