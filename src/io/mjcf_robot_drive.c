/* Tendons and actuators of a tree. */
#include <stdio.h>
#include <string.h>

#include "io/mjcf_robot.h"

/* ---- tendons ---- */

static frix_status missing(fx_robot_maker *m, const fx_xml_element *e, const char *what, const char *text) {
  char name[96];
  snprintf(name, sizeof name, "%s%s%s", e->name, *what ? " " : "", what);
  return fx_mjcf_missing(m->r, e, name, text);
}

static frix_status tendon_numbers(fx_robot_maker *m, const fx_mjcf_item *item, fx_tree_tendon *t) {
  fx_mjcf_reader *r = m->r;
  int32_t given = 0;
  t->spring[0] = t->spring[1] = -1.0;
  frix_status status;
  if ((status = fx_mjcf_limited(r, item, "limited", "range", &t->limited)) ||
      (status = fx_mjcf_limited(r, item, "actuatorfrclimited", "actuatorfrcrange", &t->force_limited)) ||
      (status = fx_mjcf_reals(r, item, "range", 2, 2, t->range, NULL)) ||
      (status = fx_mjcf_reals(r, item, "actuatorfrcrange", 2, 2, t->force_range, NULL)) ||
      (status = fx_mjcf_real(r, item, "margin", &t->margin)) ||
      (status = fx_mjcf_real(r, item, "frictionloss", &t->friction)) ||
      (status = fx_mjcf_real(r, item, "armature", &t->armature)) ||
      (status = fx_mjcf_reals(r, item, "stiffness", 1, 3, t->stiffness, NULL)) ||
      (status = fx_mjcf_reals(r, item, "damping", 1, 3, t->damping, NULL)) ||
      (status = fx_mjcf_reals(r, item, "springlength", 1, 2, t->spring, &given)))
    return status;
  if (given == 1) t->spring[1] = t->spring[0];
  if (t->limited && !(t->range[0] < t->range[1]))
    return fx_mjcf_fail(r, item->element, "tendon range: %g is not below %g", t->range[0], t->range[1]);
  if (t->spring[0] > t->spring[1])
    return fx_mjcf_fail(r, item->element, "tendon springlength: %g is above %g", t->spring[0], t->spring[1]);
  return FRIX_OK;
}

/* One element of the path; *copies is how many replicas of the tendon it asks for. */
static frix_status read_wrap(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, int32_t copy,
                             fx_tree_wrap *w, fx_robot_reference *x) {
  fx_mjcf_item item = {e, NULL};
  fx_robot_reference side = {0};
  *w = (fx_tree_wrap){.object = -1, .side = -1, .value = 1.0};
  *x = (fx_robot_reference){0};
  frix_status status = FRIX_OK;
  if (!strcmp(e->name, "joint")) {
    w->kind = FX_WRAP_JOINT;
    status = fx_robot_refer(m, instance, e, FX_NAMED_JOINT, "joint", x);
    if (!status) status = fx_mjcf_real(m->r, &item, "coef", &w->value);
  } else if (!strcmp(e->name, "pulley")) {
    w->kind = FX_WRAP_PULLEY;
    status = fx_mjcf_real(m->r, &item, "divisor", &w->value);
    if (!status && !(w->value > 0.0)) status = fx_mjcf_fail(m->r, e, "pulley divisor: %g is not positive", w->value);
    return status;
  } else if (!strcmp(e->name, "site")) {
    w->kind = FX_WRAP_SITE;
    status = fx_robot_refer(m, instance, e, FX_NAMED_SITE, "site", x);
  } else {
    w->kind = FX_WRAP_SPHERE;
    status = fx_robot_refer(m, instance, e, FX_NAMED_GEOM, "geom", x);
    if (!status) status = fx_robot_refer(m, instance, e, FX_NAMED_SITE, "sidesite", &side);
  }
  if (status) return status;
  w->object = fx_robot_thing(m, x, copy), w->side = fx_robot_thing(m, &side, copy);
  if (w->kind != FX_WRAP_SPHERE || w->object < 0) return FRIX_OK;
  fx_tree_geom_kind kind = m->tree->geom[w->object].kind;
  if (kind == FX_TREE_GEOM_OTHER) return fx_mjcf_fail(m->r, e, "a tendon wraps spheres and cylinders only");
  if (kind == FX_TREE_GEOM_CYLINDER) w->kind = FX_WRAP_CYLINDER;
  return FRIX_OK;
}

static frix_status check_path(fx_robot_maker *m, const fx_xml_element *e, const fx_tree_tendon *t) {
  const fx_tree_wrap *w = m->tree->wrap + t->wrap_first;
  int32_t sites = 0;
  if (!t->wrap_count) return fx_mjcf_fail(m->r, e, "a tendon without a path");
  for (int32_t k = 0; k < t->wrap_count; k++) {
    bool geom = w[k].kind == FX_WRAP_SPHERE || w[k].kind == FX_WRAP_CYLINDER;
    if (geom && (k == 0 || k + 1 == t->wrap_count || w[k - 1].kind != FX_WRAP_SITE || w[k + 1].kind != FX_WRAP_SITE))
      return fx_mjcf_fail(m->r, e, "a geom of a tendon's path stands between two sites");
    if (w[k].kind == FX_WRAP_JOINT && fx_joint_v_size(m->tree->joint[w[k].object].kind) != 1)
      return fx_mjcf_fail(m->r, e, "a fixed tendon takes hinges and slides only");
    sites += w[k].kind == FX_WRAP_SITE;
  }
  if (t->spatial && sites < 2) return fx_mjcf_fail(m->r, e, "a spatial tendon wants two sites");
  return FRIX_OK;
}

/* A copy of a tendon; *copies: as many as its references ask for, and *named is the one that does; *lost: they are not
 * in the model. */
static frix_status read_copy(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, int32_t copy,
                             int32_t *copies, fx_robot_reference *named, bool *lost, fx_tree_tendon *t) {
  fx_mjcf_item item;
  fx_robot_reference x;
  *t = (fx_tree_tendon){.wrap_first = m->tree->wrap_count, .spatial = !strcmp(e->name, "spatial")};
  *lost = false, *copies = 1, *named = (fx_robot_reference){0};
  frix_status status = fx_mjcf_item_of(m->r, e, fx_mjcf_source_of(e)->classes, &item);
  if (!status) status = tendon_numbers(m, &item, t);
  for (const fx_xml_element *c = e->first; c && !status; c = c->next) {
    if (!FX_ROBOT_ROOM(m, wrap)) return FRIX_ERROR_MEMORY;
    fx_tree_wrap *w = &m->tree->wrap[m->tree->wrap_count];
    status = read_wrap(m, instance, c, copy, w, &x);
    if (status) return status;
    if (w->object < 0 && w->kind != FX_WRAP_PULLEY) *lost = true;
    if (x.found.count > *copies) *copies = x.found.count, *named = x;
    m->tree->wrap_count++, t->wrap_count++;
  }
  if (status || *lost) return status;
  t->name = fx_robot_name_of(m, instance, e, named, copy);
  return check_path(m, e, t);
}

static frix_status read_tendon(fx_robot_maker *m, int32_t instance, const fx_xml_element *e) {
  int32_t copies, first, end, wraps = m->tree->wrap_count;
  fx_tree_tendon t;
  fx_robot_reference named;
  bool lost;
  const char *name;
  frix_status status = read_copy(m, instance, e, m->only < 0 ? 0 : m->only, &copies, &named, &lost, &t);
  if (status || lost) return status;
  status = fx_robot_copies(m, instance, e, &named, copies, &first, &end);
  if (status || first >= end) {
    m->tree->wrap_count = wraps;
    return status;
  }
  if (!FX_ROBOT_ROOM(m, tendon)) return FRIX_ERROR_MEMORY;
  const fx_mjcf_at at = fx_robot_at(m, instance, &named, first);
  status = fx_mjcf_name_add(m->r, FX_NAMED_TENDON, m->tree->tendon_count, e, &at, &name);
  m->tree->tendon[m->tree->tendon_count++] = t;
  return status;
}

frix_status fx_robot_tendons(fx_robot_maker *m) {
  frix_status status = fx_robot_read_all(m, "tendon", read_tendon);
  return status ? status : fx_mjcf_names_sort(m->r, FX_NAMED_TENDON);
}

/* ---- actuators ---- */

enum { MOST_HISTORY = 100000000 };

typedef struct at_what {
  const char *key;
  frix_robot_transmission transmission;
  fx_mjcf_named kind;
} at_what;

static const at_what targets[] = {
    {"joint", FRIX_ROBOT_AT_JOINT, FX_NAMED_JOINT},    {"jointinparent", FRIX_ROBOT_AT_JOINT_IN_PARENT, FX_NAMED_JOINT},
    {"tendon", FRIX_ROBOT_AT_TENDON, FX_NAMED_TENDON}, {"cranksite", FRIX_ROBOT_AT_CRANK, FX_NAMED_SITE},
    {"site", FRIX_ROBOT_AT_SITE, FX_NAMED_SITE},       {"body", FRIX_ROBOT_AT_BODY, FX_NAMED_BODY}};

/* A servo may take its range from what it acts on, about its middle. */
static void inherit_range(const fx_tree *t, const fx_tree_actuator *to, fx_mjcf_actuator *a) {
  const double *range = NULL;
  if (!(a->inherit > 0.0)) return;
  if (to->transmission == FRIX_ROBOT_AT_JOINT) range = t->joint[to->object].range;
  if (to->transmission == FRIX_ROBOT_AT_TENDON) range = t->tendon[to->object].range;
  if (!range || !(range[0] < range[1])) return;
  double middle = 0.5 * (range[0] + range[1]), half = 0.5 * (range[1] - range[0]) * a->inherit;
  double *out = a->inherits_act ? a->act_range : a->ctrl_range;
  out[0] = middle - half, out[1] = middle + half;
  if (a->inherits_act)
    a->act_given = true;
  else
    a->ctrl_given = true;
}

static frix_status check_ranges(const fx_mjcf_reader *r, const fx_tree_actuator *a, const fx_xml_element *e) {
  const struct {
    const char *name;
    bool holds;
    const double *range;
  } row[] = {{"ctrlrange", a->ctrl_limited, a->ctrl_range},
             {"forcerange", a->force_limited, a->force_range},
             {"actrange", a->act_limited, a->act_range},
             {"velrange", a->pid.limited[1], a->pid.range[1]},
             {"ffrange", a->pid.limited[2], a->pid.range[2]}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++)
    if (row[k].holds && !(row[k].range[0] < row[k].range[1]))
      return fx_mjcf_fail(r, e, "actuator %s: %g is not below %g", row[k].name, row[k].range[0], row[k].range[1]);
  return FRIX_OK;
}

/* Controls and activations of a PID controller; others have one control. */
static void copy_pid(const fx_mjcf_actuator *a, fx_tree_actuator *out) {
  fx_tree_pid *p = &out->pid;
  out->ctrl_count = 1;
  if (!a->pid) return;
  *p = (fx_tree_pid){.used = true, .plugin = a->plugin, .ki = a->ki, .most = a->most, .slew = a->slew};
  out->ctrl_count = 0;
  for (int k = 0; k < 3; k++) {
    p->at[k] = a->inputs[k] ? out->ctrl_count++ : -1;
    p->limited[k] = k ? a->more_given[k - 1] : out->ctrl_limited;
    memcpy(p->range[k], k ? a->more_range[k - 1] : out->ctrl_range, sizeof p->range[k]);
  }
  out->dynamics = FX_DYN_PID;
  out->act_count = (a->slew > 0.0) + (a->ki > 0.0);
}

static void copy_law(const fx_mjcf_reader *r, const fx_mjcf_actuator *a, fx_tree_actuator *out) {
  out->dynamics = (fx_tree_dynamics)a->dynamics;
  bool own = a->gain_form == FX_FORM_MOTOR || a->gain_form == FX_FORM_TURN; /* laws of their own */
  out->gain_kind = own ? FX_GAIN_FIXED : (fx_tree_gain)a->gain_form;
  out->bias_kind = own ? FX_BIAS_NONE : (fx_tree_bias)a->bias_form;
  memcpy(out->dyn, a->dyn, sizeof out->dyn);
  memcpy(out->gain, a->gain, sizeof out->gain);
  memcpy(out->bias, a->bias, sizeof out->bias);
  memcpy(out->gear, a->gear, sizeof out->gear);
  memcpy(out->ctrl_range, a->ctrl_range, sizeof out->ctrl_range);
  memcpy(out->force_range, a->force_range, sizeof out->force_range);
  memcpy(out->act_range, a->act_range, sizeof out->act_range);
  memcpy(out->length_range, a->length_range, sizeof out->length_range);
  out->damp_ratio = a->damp_ratio, out->crank_length = a->crank_length;
  memcpy(out->damping, a->damping, sizeof out->damping);
  out->armature = a->armature;
  out->delay = a->delay, out->interp = a->interp, out->sample_count = a->delay > 0.0 ? a->sample_count : 0;
  out->ctrl_limited = fx_mjcf_holds(a, a->ctrl_limited, a->ctrl_given);
  out->force_limited = fx_mjcf_holds(a, a->force_limited, a->force_given);
  out->act_limited = fx_mjcf_holds(a, a->act_limited, a->act_given);
  out->act_early = a->act_early;
  out->off = a->group >= 0 && a->group <= 30 && (r->actuator_groups_off >> a->group & 1u);
  out->act_count = a->act_dim >= 0 ? a->act_dim : a->dynamics != FX_DYN_OF_NONE;
  copy_pid(a, out);
  if (a->gain_form == FX_FORM_MOTOR) fx_robot_copy_motor(a, out);
}

/* Muscles measure their length by the range of what they act on. */
static frix_status set_length_range(fx_robot_maker *m, const fx_mjcf_actuator *a, fx_tree_actuator *out) {
  bool muscle = out->gain_kind == FX_GAIN_MUSCLE || out->bias_kind == FX_BIAS_MUSCLE;
  if (!muscle || a->length_given) return FRIX_OK;
  const double *range = NULL;
  if (out->transmission == FRIX_ROBOT_AT_JOINT && m->tree->joint[out->object].limited)
    range = m->tree->joint[out->object].range;
  if (out->transmission == FRIX_ROBOT_AT_TENDON && m->tree->tendon[out->object].limited)
    range = m->tree->tendon[out->object].range;
  out->wants_range = !range && out->transmission == FRIX_ROBOT_AT_TENDON;
  if (out->wants_range) return FRIX_OK;
  if (!range) {
    out->off = true;
    return missing(m, a->element, "without lengthrange", "left out: give it a lengthrange, or what it acts on a range");
  }
  double one = range[0] * a->gear[0], two = range[1] * a->gear[0];
  out->length_range[0] = fx_min(one, two), out->length_range[1] = fx_max(one, two);
  return FRIX_OK;
}

static frix_status add_actuator(fx_robot_maker *m, fx_mjcf_actuator *a, const at_what *what,
                                const fx_robot_reference x[2], int32_t copy) {
  fx_tree *t = m->tree;
  if (!FX_ROBOT_ROOM(m, actuator)) return FRIX_ERROR_MEMORY;
  fx_tree_actuator *out = &t->actuator[t->actuator_count];
  *out = (fx_tree_actuator){.transmission = what->transmission, .object2 = -1};
  out->object = fx_robot_thing(m, &x[0], copy), out->object2 = fx_robot_thing(m, &x[1], copy);
  out->name = fx_robot_name_of(m, a->instance, a->element, &x[0], copy);
  inherit_range(t, out, a);
  copy_law(m->r, a, out);
  frix_status status = check_ranges(m->r, out, a->element);
  if (!status) status = set_length_range(m, a, out);
  if (!status) status = fx_robot_check_turn(m, a, out);
  if (status) return status;
  bool turn = a->gain_form == FX_FORM_TURN;
  if (turn) {
    out->turn = 1, out->quaternion = a->quaternion;
    out->ctrl_count = a->quaternion ? 4 : 3, out->act_count = a->dynamics != FX_DYN_OF_NONE ? 3 : 0;
  }
  out->act_first = t->act_count, out->ctrl_first = t->ctrl_count;
  t->act_count += out->act_count, t->ctrl_count += out->ctrl_count;
  if (t->history_count > MOST_HISTORY)
    return fx_mjcf_fail(m->r, a->element, "delays of all actuators remember more than %d numbers", MOST_HISTORY);
  out->history_first = t->history_count;
  t->history_count += (1 + out->ctrl_count) * out->sample_count;
  const fx_mjcf_at at = fx_robot_at(m, a->instance, &x[0], copy);
  const char *name;
  status = fx_mjcf_name_add(m->r, FX_NAMED_ACTUATOR, t->actuator_count, a->element, &at, &name);
  t->actuator_count++;
  for (int axis = 2; turn && axis <= 3 && !status; axis++) {
    if (!FX_ROBOT_ROOM(m, actuator)) return FRIX_ERROR_MEMORY;
    out = &t->actuator[t->actuator_count++];
    *out = out[-1];
    out->name = NULL, out->turn = axis;
    out->ctrl_first += out->ctrl_count, out->act_first += out->act_count;
    out->ctrl_count = out->act_count = 0, out->sample_count = 0;
  }
  return status;
}

static frix_status read_actuator(fx_robot_maker *m, int32_t instance, const fx_xml_element *e) {
  fx_mjcf_actuator a = {.element = e, .instance = instance};
  const at_what *what = NULL;
  fx_robot_reference x[2] = {{0}};
  frix_status status = fx_mjcf_actuator_read(m->r, e, &a);
  if (status) return status;
  for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
    if (!fx_xml_value(e, targets[k].key)) continue;
    if (what)
      return fx_mjcf_fail(m->r, e, "<%s> acts at a %s and at a %s: one of them", e->name, what->key, targets[k].key);
    what = &targets[k];
  }
  bool motors = a.gain_form == FX_FORM_MOTOR && a.bias_form == FX_FORM_MOTOR && a.dynamics == FX_DYN_OF_MOTOR;
  bool turns = a.gain_form == FX_FORM_TURN && a.bias_form == FX_FORM_TURN && a.dynamics <= FX_DYN_OF_INTEGRATOR;
  bool own = a.gain_form == FX_FORM_MOTOR || a.gain_form == FX_FORM_TURN || a.dynamics == FX_DYN_OF_MOTOR ||
             a.bias_form == FX_FORM_MOTOR || a.bias_form == FX_FORM_TURN;
  if (a.gain_form == FX_FORM_OTHER || a.bias_form == FX_FORM_OTHER || a.dynamics == FX_DYN_OF_OTHER ||
      (own && !motors && !turns)) {
    m->tree->left_out = true;
    return missing(m, e, "actuator", NULL);
  }
  if (!what) return fx_mjcf_fail(m->r, e, "<%s> needs a joint, tendon, site, cranksite or body", e->name);
  if ((status = fx_robot_check_motor(m->r, &a))) return status;
  if (!(a.delay >= 0.0) || (a.delay > 0.0 && !a.sample_count))
    return fx_mjcf_fail(m->r, e, a.delay > 0.0 ? "a delay of %g s needs nsample" : "delay: %g is negative", a.delay);
  status = fx_robot_refer(m, instance, e, what->kind, what->key, &x[0]);
  if (!status && what->transmission == FRIX_ROBOT_AT_SITE)
    status = fx_robot_refer(m, instance, e, FX_NAMED_SITE, "refsite", &x[1]);
  if (!status && what->transmission == FRIX_ROBOT_AT_CRANK)
    status = fx_robot_refer(m, instance, e, FX_NAMED_SITE, "slidersite", &x[1]);
  if (!status && what->transmission == FRIX_ROBOT_AT_CRANK && (!x[1].found.count || !(a.crank_length > 0.0)))
    status = fx_mjcf_fail(m->r, e, "a slider-crank needs slidersite and a positive cranklength");
  if (!status && what->transmission == FRIX_ROBOT_AT_BODY)
    status = missing(m, e, "actuator at a body", "acts through contacts, which the tree by itself does not have");
  int32_t k = 0, end = 0;
  if (!status) status = fx_robot_copies(m, instance, e, &x[0], x[0].found.count, &k, &end);
  for (; k < end && !status; k++) status = add_actuator(m, &a, what, x, k);
  return status;
}

frix_status fx_robot_actuators(fx_robot_maker *m) {
  frix_status status = fx_robot_read_all(m, "actuator", read_actuator);
  return status ? status : fx_mjcf_names_sort(m->r, FX_NAMED_ACTUATOR);
}
