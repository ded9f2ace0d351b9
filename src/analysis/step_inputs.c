/* Names of what a step depends on and of what follows from it, and how a sim at its beginning is changed.
 *
 *   h, mu, mu:A, mu:A|B, force:A.x, torque:A.x, ctrl:ACTUATOR, act:ACTUATOR, applied:JOINT, qpos:JOINT, qvel:JOINT,
 *   A.x, A.turn.x, A.velocity.x, A.spin.x, gravity.z, and the numbers of a model: A.mass, A.inertia.x, A.size.x ... */
#include "analysis/step_inputs.h"

#include "analysis/sensitivity_internal.h"
#include "model/builder.h"
#include "sim/mechanism.h"

#include <frix/edit.h>
#include <frix/robot.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 128 };

/* ---- names ---- */

static frix_body_id find_body(const frix_sim *sim, const char *name, size_t length) {
  char own[WORD];
  if (length == 0 || length >= sizeof own) return (frix_body_id){0, 0};
  memcpy(own, name, length), own[length] = 0;
  if (own[0] == '#') { /* its number, where it has no name */
    long k = strtol(own + 1, NULL, 10);
    bool good = k > 0 && k < sim->state.count && sim->state.prototype[k] > 0;
    return good ? fx_slot_id(sim, (int32_t)k) : (frix_body_id){0, 0};
  }
  return frix_model_find_body(sim->model, own);
}

static int axis_of(char c) { return c >= 'x' && c <= 'z' ? c - 'x' : -1; }

/* "A.velocity.x": a body, a word between, an axis; the word is the longest of the table that fits. */
static bool read_axis(const frix_sim *sim, const char *name, const char *const *word, int count, frix_body_id *body,
                      int *which, int *axis) {
  size_t n = strlen(name);
  for (int k = 0; k < count; k++) {
    size_t m = strlen(word[k]);
    if (n < m + 3 || (*axis = axis_of(name[n - 1])) < 0 || name[n - 2 - m] != '.') continue;
    if (strncmp(name + n - 1 - m, word[k], m)) continue;
    *body = find_body(sim, name, n - 2 - m), *which = k;
    if (body->index) return true;
  }
  return false;
}

/* "A" or "A|B". */
static bool read_pair(const frix_sim *sim, const char *text, size_t length, frix_body_id *a, frix_body_id *b,
                      bool *world) {
  const char *bar = memchr(text, '|', length);
  size_t first = bar ? (size_t)(bar - text) : length;
  *a = find_body(sim, text, first), *b = (frix_body_id){0, 0};
  *world = false;
  if (!bar) return a->index != 0;
  size_t second = length - first - 1;
  *world = second == 5 && !memcmp(bar + 1, "world", 5);
  *b = find_body(sim, bar + 1, second);
  return a->index && (b->index || *world);
}

/* "qpos:hip", "qpos:root.2", "ctrl:3": an entry of the arrays of a robot. */
static frix_status read_entry(frix_sim *sim, const char *name, frix_robot_part part, bool velocities, int32_t *index) {
  frix_robot_state *state = frix_sim_robot(sim);
  const frix_robot *robot = frix_model_robot(sim->model);
  const char *colon = strchr(name, ':') + 1, *dot = strrchr(colon, '.');
  char own[WORD], *end;
  long number = strtol(colon, &end, 10), offset = 0;
  if (!state)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "'%s': the world has no robot in reduced coordinates", name);
  snprintf(own, sizeof own, "%s", colon);
  int32_t k = robot ? frix_robot_find(robot, part, own) : -1;
  if (k < 0 && robot && dot && (size_t)(dot - colon) < sizeof own) {
    own[dot - colon] = 0;
    offset = strtol(dot + 1, NULL, 10);
    k = frix_robot_find(robot, part, own);
  }
  *index = -1;
  if (k < 0 && end != colon && !*end) *index = (int32_t)number;
  if (k >= 0 && part == FRIX_ROBOT_JOINT) {
    frix_robot_joint joint;
    frix_status status = frix_robot_get_joint(robot, k, &joint);
    if (status != FRIX_OK) return status;
    *index = joint.v + (int32_t)offset;
  } else if (k >= 0) {
    frix_robot_actuator actuator;
    frix_status status = frix_robot_get_actuator(robot, k, &actuator);
    if (status != FRIX_OK) return status;
    *index = (velocities ? actuator.act_first : actuator.ctrl_first) + (int32_t)offset;
  }
  return FRIX_OK;
}

static frix_status check_entry(frix_sim *sim, const char *name, frix_robot_array which, int32_t index) {
  int32_t count = 0;
  frix_robot_data(frix_sim_robot(sim), which, &count);
  if (index >= 0 && index < count) return FRIX_OK;
  return fx_fail(sim->context, FRIX_ERROR_INPUT, "'%s': the robot has no such number", name);
}

static frix_status read_robot(frix_sim *sim, const char *name, fx_step_input *out, bool *found) {
  static const struct {
    const char *word;
    frix_robot_part part;
    frix_robot_array array;
  } table[] = {
      {"ctrl:", FRIX_ROBOT_ACTUATOR, FRIX_ROBOT_CTRL},    {"act:", FRIX_ROBOT_ACTUATOR, FRIX_ROBOT_ACT},
      {"applied:", FRIX_ROBOT_JOINT, FRIX_ROBOT_APPLIED}, {"qvel:", FRIX_ROBOT_JOINT, FRIX_ROBOT_QVEL},
      {"qpos:", FRIX_ROBOT_JOINT, FRIX_ROBOT_QVEL},
  };
  *found = false;
  for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
    if (strncmp(name, table[k].word, strlen(table[k].word))) continue;
    *found = true;
    frix_status status = read_entry(sim, name, table[k].part, table[k].array == FRIX_ROBOT_ACT, &out->index);
    if (status != FRIX_OK) return status;
    out->array = table[k].array, out->width = FX_INPUT_NARROW;
    out->kind = name[1] == 'p' && name[0] == 'q' ? FX_INPUT_COORDINATE : FX_INPUT_ROBOT;
    return check_entry(sim, name, table[k].array, out->index);
  }
  return FRIX_OK;
}

static bool read_friction(const frix_sim *sim, const char *name, fx_step_input *out) {
  bool world = false;
  if (strncmp(name, "mu", 2) || (name[2] && name[2] != ':')) return false;
  out->kind = FX_INPUT_FRICTION;
  if (!name[2]) return true;
  bool good = read_pair(sim, name + 3, strlen(name + 3), &out->body, &out->other, &world);
  if (world) out->other = (frix_body_id){0, 1};
  return good;
}

/* "force:A.x" or "A.force.x". */
static bool read_push(const frix_sim *sim, const char *name, fx_step_input *out) {
  static const char *const words[] = {"force.", "torque."}, *const none[] = {""};
  char own[WORD];
  int which;
  bool first = !strncmp(name, "force:", 6), second = !strncmp(name, "torque:", 7);
  out->kind = FX_INPUT_FORCE;
  if (first || second) {
    size_t n = strlen(name);
    if (n < 3 || (out->axis = axis_of(name[n - 1])) < 0 || name[n - 2] != '.') return false;
    snprintf(own, sizeof own, "%s", name + (first ? 6 : 7));
    if (!read_axis(sim, own, none, 1, &out->body, &which, &out->axis)) return false;
    out->axis += first ? 0 : 3;
    return true;
  }
  if (!read_axis(sim, name, words, 2, &out->body, &which, &out->axis)) return false;
  out->axis += 3 * which;
  return true;
}

static bool read_state(const frix_sim *sim, const char *name, fx_step_input *out) {
  static const char *const words[] = {"velocity.", "spin.", "turn.", ""};
  static const fx_input_kind kind[] = {FX_INPUT_VELOCITY, FX_INPUT_SPIN, FX_INPUT_TURN, FX_INPUT_PLACE};
  int which;
  if (!read_axis(sim, name, words, 4, &out->body, &which, &out->axis)) return false;
  out->kind = kind[which], out->width = FX_INPUT_NARROW;
  return true;
}

frix_status fx_step_input_read(frix_sim *sim, const char *name, fx_step_input *out) {
  bool found;
  double value;
  *out = (fx_step_input){.name = name, .width = FX_INPUT_NARROW};
  if (!strcmp(name, "h")) {
    out->kind = FX_INPUT_STEP, out->width = 0;
    return FRIX_OK;
  }
  if (read_friction(sim, name, out)) return FRIX_OK;
  frix_status status = read_robot(sim, name, out, &found);
  if (found || status != FRIX_OK) return status;
  if (read_push(sim, name, out)) {
    double mass = fx_slot_body(sim, (int32_t)out->body.index)->mass; /* a small part of what it weighs */
    out->width =
        mass > 0 && isfinite(mass) ? FX_INPUT_NARROW * mass * (1 + fx_norm(sim->state.gravity)) : FX_INPUT_NARROW;
    return FRIX_OK;
  }
  if (read_state(sim, name, out)) return FRIX_OK;
  if (!strncmp(name, "gravity.", 8) && axis_of(name[8]) >= 0 && !name[9]) {
    out->kind = FX_INPUT_GRAVITY, out->axis = axis_of(name[8]), out->width = 1e2 * FX_INPUT_NARROW;
    return FRIX_OK;
  }
  const char *colon = strchr(name, ':'); /* "mass:A" is "A.mass" */
  if (colon)
    snprintf(out->quantity, sizeof out->quantity, "%s.%.*s", colon + 1, (int)(colon - name), name);
  else
    snprintf(out->quantity, sizeof out->quantity, "%s", name);
  out->kind = FX_INPUT_MODEL;
  if (frix_model_quantity(sim->context, sim->model, out->quantity, &value) == FRIX_OK) {
    out->width = value != 0 ? FX_INPUT_RELATIVE * fabs(value) : FX_INPUT_NARROW;
    return FRIX_OK;
  }
  return fx_fail(sim->context, FRIX_ERROR_INPUT,
                 "no number '%s': h, mu, mu:A, mu:A|B, force:A.x, torque:A.x, ctrl:NAME, act:NAME, applied:JOINT, "
                 "qpos:JOINT, qvel:JOINT, A.x, A.turn.x, A.velocity.x, A.spin.x, gravity.z, A.mass, A.inertia.x, A.mu, "
                 "A.restitution, A.stiffness, A.rolling, A.size.x, A.radius, A.length",
                 name);
}

frix_status fx_step_output_read(frix_sim *sim, const char *name, fx_step_output *out) {
  static const char *const words[] = {"velocity.", "spin.", "turn.", "v", "w", ""};
  static const fx_output_kind kind[] = {FX_OUTPUT_VELOCITY, FX_OUTPUT_SPIN, FX_OUTPUT_TURN,
                                        FX_OUTPUT_VELOCITY, FX_OUTPUT_SPIN, FX_OUTPUT_PLACE};
  size_t n = strlen(name);
  int which;
  bool world = false, position = !strncmp(name, "qpos:", 5);
  *out = (fx_step_output){.kind = FX_OUTPUT_PLACE};
  if (position || !strncmp(name, "qvel:", 5)) {
    frix_status status = read_entry(sim, name, FRIX_ROBOT_JOINT, true, &out->index);
    if (status != FRIX_OK) return status;
    out->kind = position ? FX_OUTPUT_QPOS : FX_OUTPUT_QVEL;
    return check_entry(sim, name, FRIX_ROBOT_QVEL, out->index);
  }
  if (n > 2 && !strcmp(name + n - 2, ".n") && read_pair(sim, name, n - 2, &out->body, &out->other, &world)) {
    if (world) out->other = (frix_body_id){0, 1};
    out->kind = FX_OUTPUT_PRESS;
    return FRIX_OK;
  }
  if (read_axis(sim, name, words, 6, &out->body, &which, &out->axis)) {
    out->kind = kind[which];
    return FRIX_OK;
  }
  return fx_fail(sim->context, FRIX_ERROR_INPUT,
                 "no number '%s': A.x, A.turn.x, A.vx or A.velocity.x, A.wx or A.spin.x, qpos:JOINT, qvel:JOINT, A|B.n",
                 name);
}

bool fx_pair_meant(frix_body_id a, frix_body_id b, uint32_t slot_a, uint32_t slot_b) {
  if (!a.index) return true;
  for (int side = 0; side < 2; side++) {
    uint32_t first = side ? slot_b : slot_a, second = side ? slot_a : slot_b;
    if (first == a.index && ((!b.index && !b.generation) || second == b.index)) return true;
  }
  return false;
}

/* ---- changes ---- */

static frix_vec3 along(int axis, double amount) {
  return (frix_vec3){axis == 0 ? amount : 0, axis == 1 ? amount : 0, axis == 2 ? amount : 0};
}

static frix_status change_state(frix_sim *sim, const fx_step_input *in, double amount) {
  uint32_t slot = in->body.index;
  const frix_body_id id = in->body;
  if (in->kind == FX_INPUT_VELOCITY || in->kind == FX_INPUT_SPIN) {
    bool turns = in->kind == FX_INPUT_SPIN;
    frix_vec3 v = sim->state.velocity[slot], w = sim->state.spin[slot];
    return frix_sim_set_velocity(sim, id, turns ? v : fx_add(v, along(in->axis, amount)),
                                 turns ? fx_add(w, along(in->axis, amount)) : w);
  }
  const fx_body *body = fx_slot_body(sim, (int32_t)slot);
  frix_pose pose = sim->state.pose[slot];
  frix_vec3 v = sim->state.velocity[slot], w = sim->state.spin[slot];
  if (in->kind == FX_INPUT_TURN)
    pose.q = fx_quat_unit(fx_quat_mul(frix_quat_turn(along(in->axis, 1), amount), pose.q));
  else
    pose.p = fx_add(pose.p, along(in->axis, amount));
  pose.p = fx_sub(pose.p, fx_rotate(pose.q, body->center));
  frix_status status = frix_sim_set_pose(sim, id, pose);
  return status == FRIX_OK ? frix_sim_set_velocity(sim, id, v, w) : status; /* of a body that stands otherwise */
}

static frix_status change_robot(frix_sim *sim, const fx_step_input *in, double amount) {
  frix_robot_state *state = frix_sim_robot(sim);
  int32_t count = 0;
  double *x = state ? frix_robot_data(state, (frix_robot_array)in->array, &count) : NULL;
  if (!x || in->index >= count) return fx_fail(sim->context, FRIX_ERROR_INPUT, "'%s': no such number", in->name);
  if (in->kind == FX_INPUT_ROBOT) {
    x[in->index] += amount;
    return FRIX_OK;
  }
  double *way = FX_NEW(sim->context, double, count); /* qpos, along a velocity */
  if (!way) return FRIX_ERROR_MEMORY;
  way[in->index] = amount;
  fx_tree_integrate(&sim->mechanism->tree, frix_robot_data(state, FRIX_ROBOT_QPOS, NULL), way, 1);
  fx_free(sim->context, way);
  return FRIX_OK;
}

static frix_status change_model(frix_sim *sim, const fx_step_input *in, double amount) {
  frix_builder *b = NULL;
  double value;
  frix_status status = frix_sim_begin_change(sim, &b);
  if (status != FRIX_OK) return status;
  if (!fx_builder_quantity(b, in->quantity, amount, &value))
    status = fx_fail(sim->context, FRIX_ERROR_INPUT, "the model has no number '%s'", in->quantity);
  if (status == FRIX_OK) status = frix_sim_change(sim, b);
  frix_builder_destroy(b);
  return status;
}

frix_status fx_step_input_change(frix_sim *sim, const fx_step_input *in, double amount) {
  frix_vec3 none = {0, 0, 0}, push = along(in->axis % 3, amount);
  switch (in->kind) {
    case FX_INPUT_FORCE:
      return frix_sim_add_force(sim, in->body, in->axis < 3 ? push : none, in->axis < 3 ? none : push);
    case FX_INPUT_PLACE:
    case FX_INPUT_TURN:
    case FX_INPUT_VELOCITY:
    case FX_INPUT_SPIN: return change_state(sim, in, amount);
    case FX_INPUT_ROBOT:
    case FX_INPUT_COORDINATE: return change_robot(sim, in, amount);
    case FX_INPUT_GRAVITY: return frix_sim_set_gravity(sim, fx_add(sim->state.gravity, push));
    case FX_INPUT_MODEL: return change_model(sim, in, amount);
    default: return FRIX_OK;
  }
}

/* ---- outputs ---- */

static double part(frix_vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

double fx_step_output_value(frix_sim *sim, frix_sim *from, const fx_step_output *o, double *scratch) {
  const fx_state *s = &sim->state, *t = &from->state;
  uint32_t k = o->body.index;
  switch (o->kind) {
    case FX_OUTPUT_PLACE: return part(fx_sub(s->pose[k].p, t->pose[k].p), o->axis);
    case FX_OUTPUT_VELOCITY: return part(s->velocity[k], o->axis);
    case FX_OUTPUT_SPIN: return part(s->spin[k], o->axis);
    case FX_OUTPUT_TURN: {
      fx_place a = {.pose = s->pose[k]}, b = {.pose = t->pose[k]};
      frix_sensitivity_motion turn[2];
      fx_places_differ((fx_place[2]){a, a}, (fx_place[2]){b, b}, 1, 2, turn);
      return part(turn[1].turn, o->axis);
    }
    case FX_OUTPUT_QPOS:
      fx_tree_differentiate(&sim->mechanism->tree, frix_robot_data(frix_sim_robot(from), FRIX_ROBOT_QPOS, NULL),
                            frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_QPOS, NULL), 1, scratch);
      return scratch[o->index];
    case FX_OUTPUT_QVEL: return frix_robot_data(frix_sim_robot(sim), FRIX_ROBOT_QVEL, NULL)[o->index];
    default: return 0;
  }
}
