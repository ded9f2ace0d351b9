/* What became of a pair of bodies, and which force drives it.
 *
 * A pair fails where its bodies left each other's place; it began to where it last moved at less than a hundredth of
 * the speed it had then. The driver is the largest supply of power to the island from then on, seen from the frame of
 * what carries the contact (a kinematic body, or the world), summed until the bodies left their place:
 *
 *   weight    m g . v          applied   F . v + T . w        inertia   -m a_frame . v
 *   motion    contact force of another kinematic body . its velocity        belt    the same . that of the surface
 *   impact    -d(kinetic energy)/dt of a body that strikes      joints    what is left of the balance
 *
 * Of joints and actuators the one whose force . rate is largest is named. */
#include "analysis/explain_internal.h"

#include <frix/robot.h>
#include <math.h>
#include <string.h>

#define MOVING 0.01 /* of the speed at which the bodies left their place */

/* ---- pairs ---- */

static frix_failure kind_of(const fx_meeting *t) {
  const fx_sample *now = &t->sample[t->failed], *before = &t->sample[t->onset > t->begin ? t->onset - 1 : t->begin];
  bool turns = now->turning >= 0.5f * now->speed;
  if (now->points == 0) return FRIX_FAILURE_LIFT;
  if (turns && now->points < before->points) return FRIX_FAILURE_TIP;
  if (now->sliding == now->points) return FRIX_FAILURE_SLIP;
  return !turns ? FRIX_FAILURE_SLIP : t->round ? FRIX_FAILURE_ROLL : FRIX_FAILURE_TIP;
}

/* Springs of stiff contacts give way slowly while they hold: what slides or lifts began to after its last step in which
 * a point stuck, or touched. */
static void sharpen(fx_meeting *t) {
  for (int32_t k = t->failed; k > t->onset; k--) {
    const fx_sample *s = &t->sample[k - 1];
    bool held = t->kind == FRIX_FAILURE_SLIP ? s->points > 0 && s->sliding < s->points
                                             : t->kind == FRIX_FAILURE_LIFT && s->points > 0;
    if (held) t->onset = k;
  }
}

void fx_meeting_judge(fx_meeting *t, int32_t done, double share) {
  int32_t end = t->removed >= 0 ? t->removed : done;
  t->kind = FRIX_FAILURE_NONE, t->onset = t->failed = -1;
  for (int32_t k = t->begin; k < end && isfinite(t->size); k++) {
    if (!(t->sample[k].distance > share * t->size)) continue;
    t->failed = t->onset = k;
    while (t->onset > t->begin && t->sample[t->onset - 1].speed >= (float)MOVING * t->sample[k].speed) t->onset--;
    t->kind = kind_of(t);
    sharpen(t);
    return;
  }
  if (t->removed < 0) return;
  t->kind = FRIX_FAILURE_REMOVED;
  t->onset = t->failed = t->removed;
}

/* ---- the driver ---- */

typedef struct frame {
  bool world;
  frix_body_id body;
  frix_body_state before, after;
} frame;

typedef struct supplies {
  double weight, applied, motion, impact, belt;
} supplies;

typedef struct balance {
  fx_replay *replay;
  const uint8_t *joined;
  int32_t slots, steps;
  frame frame;
  frix_body_state *before;
  fx_load *load;
  uint8_t *struck;
  supplies *sum;            /* by slot, power summed over the steps */
  frix_vec3 *pushed, *lost; /* by slot: forces of the first step */
  frix_vec3 *dragged;       /* by slot: force of its belts in the first step */
  double *joint, *actuator; /* power of each, summed over the steps */
  double left;              /* of the change of kinetic energy, over h: what nothing else explains */
} balance;

static double kinetic(const frix_sim *sim, int32_t slot, frix_quat q, frix_vec3 v, frix_vec3 w) {
  const fx_body *body = fx_slot_body(sim, slot);
  return 0.5 * body->mass * fx_norm2(v) + 0.5 * fx_dot(w, fx_sym3_mul(fx_sym3_turn(q, body->inertia), w));
}

static frix_vec3 mean(frix_vec3 a, frix_vec3 b) { return fx_scale(0.5, fx_add(a, b)); }

/* Against the frame, at the middle of the step. */
static frix_vec3 seen(const balance *b, const frix_body_state *s, frix_vec3 at, bool after) {
  frix_vec3 own = fx_velocity_at(s, at);
  return b->frame.world ? own : fx_sub(own, fx_velocity_at(after ? &b->frame.after : &b->frame.before, at));
}

static void add_body(balance *b, frix_body_id id) {
  const frix_sim *sim = b->replay->sim;
  int32_t slot = (int32_t)id.index;
  const fx_body *body = fx_slot_body(sim, slot);
  frix_body_state *s0 = &b->before[slot], s1 = fx_state_of(sim, id);
  double h = b->replay->config->step;
  frix_vec3 v0 = seen(b, s0, s0->center, false), v1 = seen(b, &s1, s0->center, true), v = mean(v0, v1);
  frix_vec3 w0 = s0->spin, w1 = s1.spin, weight = fx_scale(body->mass * body->gravity_scale, sim->state.gravity);
  if (!b->frame.world) w0 = fx_sub(w0, b->frame.before.spin), w1 = fx_sub(w1, b->frame.after.spin);
  double change = (kinetic(sim, slot, s0->pose.q, v1, w1) - kinetic(sim, slot, s0->pose.q, v0, w0)) / h;
  b->left += change;
  const fx_load *load = &b->load[slot];
  double falls = fx_dot(weight, v), applied = fx_dot(load->force, v) + fx_dot(load->torque, mean(w0, w1));
  b->sum[slot].weight += falls;
  b->sum[slot].applied += applied;
  b->sum[slot].impact -= change;
  b->left -= falls + applied;
  if (b->steps == 0) b->lost[slot] = fx_scale(body->mass / h, fx_sub(s0->velocity, s1.velocity));
  if (b->frame.world) return;
  frix_vec3 turn = fx_sub(fx_velocity_at(&b->frame.after, s0->center), fx_velocity_at(&b->frame.before, s0->center));
  frix_vec3 inertia = fx_scale(-body->mass / h, turn);
  b->sum[b->frame.body.index].motion += fx_dot(inertia, v);
  b->left -= fx_dot(inertia, v);
  if (b->steps == 0) b->pushed[b->frame.body.index] = fx_add(b->pushed[b->frame.body.index], inertia);
}

static bool is_kinematic(const frix_sim *sim, frix_body_id id) {
  return id.index && frix_sim_alive(sim, id) && fx_slot_body(sim, (int32_t)id.index)->kind == FRIX_BODY_KINEMATIC;
}

/* Work of a contact on both sides; that of a kinematic body is a supply. */
static void add_contact(balance *b, const frix_contact_report *c) {
  const frix_sim *sim = b->replay->sim;
  frix_body_id side[2] = {c->a, c->b};
  for (int k = 0; k < 2; k++) {
    frix_vec3 force = k ? fx_neg(c->force) : c->force; /* on this side */
    frix_vec3 belt = fx_belt_of(sim, k ? c->shape_b : c->shape_a, side[k], c->point);
    if (!fx_is_zero(belt)) {
      b->sum[side[k].index].belt -= fx_dot(force, belt);
      if (b->steps == 0) b->dragged[side[k].index] = fx_sub(b->dragged[side[k].index], force);
    }
    if (!side[k].index || !frix_sim_alive(sim, side[k])) continue;
    frix_body_state s1 = fx_state_of(sim, side[k]);
    bool dynamic = fx_slot_body(sim, (int32_t)side[k].index)->kind == FRIX_BODY_DYNAMIC;
    frix_vec3 v0 = dynamic ? seen(b, &b->before[side[k].index], c->point, false) : seen(b, &s1, c->point, true);
    double power = fx_dot(force, mean(v0, seen(b, &s1, c->point, true)));
    if (dynamic && b->joined[side[k].index]) b->left -= power;
    if (!is_kinematic(sim, side[k])) continue;
    b->sum[side[k].index].motion -= power;
    if (b->steps == 0) b->pushed[side[k].index] = fx_sub(b->pushed[side[k].index], force);
  }
}

static void find_frame(balance *b, const fx_meeting *t) {
  const frix_sim *sim = b->replay->sim;
  bool a = is_kinematic(sim, t->a), other = is_kinematic(sim, t->b);
  b->frame.world = !a && !other;
  b->frame.body = a ? t->a : t->b;
}

static double power_of(const frix_joint_state *s) {
  double sum = 0;
  for (int32_t k = 0; k < FRIX_JOINT_AXES; k++) sum += s->axis_force[k] * s->rate[k];
  return sum;
}

static void add_joints(balance *b) {
  frix_sim *sim = b->replay->sim;
  frix_robot_state *state = frix_sim_robot(sim);
  for (int32_t k = 0; k < frix_model_count(sim->model).joint_count; k++) {
    frix_joint_state s;
    if (frix_sim_joint(sim, frix_model_joint_at(sim->model, k), &s) == FRIX_OK && s.active) b->joint[k] += power_of(&s);
  }
  if (!state) return;
  int32_t count;
  const double *force = frix_robot_data(state, FRIX_ROBOT_ACTUATOR_FORCE, &count);
  const double *rate = frix_robot_data(state, FRIX_ROBOT_ACTUATOR_VELOCITY, NULL);
  for (int32_t k = 0; k < count; k++) b->actuator[k] += force[k] * rate[k];
}

/* One step: states before it, the step, and what each body got from whom. */
static frix_status add_step(balance *b) {
  fx_replay *r = b->replay;
  frix_body_id id = {0, 0};
  if (!b->frame.world) b->frame.before = fx_state_of(r->sim, b->frame.body);
  frix_status status = fx_replay_drive(r);
  while (status == FRIX_OK && (id = frix_sim_body_next(r->sim, id)).index) {
    if ((int32_t)id.index >= b->slots) continue;
    b->before[id.index] = fx_state_of(r->sim, id);
    b->load[id.index] = r->sim->state.load[id.index];
  }
  if (status == FRIX_OK) status = fx_replay_step(r);
  if (status != FRIX_OK) return status;
  if (!b->frame.world) b->frame.after = fx_state_of(r->sim, b->frame.body);
  for (int32_t k = 0; k < frix_sim_contact_count(r->sim); k++) {
    frix_contact_report c;
    if (frix_sim_contact(r->sim, k, &c) != FRIX_OK || c.phase == FRIX_CONTACT_END) continue;
    if ((int32_t)c.a.index >= b->slots || (int32_t)c.b.index >= b->slots) continue;
    if (c.phase == FRIX_CONTACT_BEGIN) b->struck[c.a.index] = b->struck[c.b.index] = 1;
    add_contact(b, &c);
  }
  while ((id = frix_sim_body_next(r->sim, id)).index)
    if ((int32_t)id.index < b->slots && b->joined[id.index] &&
        fx_slot_body(r->sim, (int32_t)id.index)->kind == FRIX_BODY_DYNAMIC)
      add_body(b, id);
  add_joints(b);
  b->steps++;
  return FRIX_OK;
}

static void name_joint(const balance *b, fx_driver *out) {
  const frix_model *model = b->replay->sim->model;
  const frix_robot *robot = frix_model_robot(model);
  double most = 0;
  frix_joint_config joint;
  frix_robot_actuator row;
  for (int32_t k = 0; k < frix_model_count(model).joint_count; k++) {
    if (!(b->joint[k] > most) || frix_model_joint(model, frix_model_joint_at(model, k), &joint) != FRIX_OK) continue;
    most = b->joint[k], out->joint = frix_model_joint_at(model, k), out->name = joint.name;
  }
  for (int32_t k = 0; robot && k < frix_robot_view(robot).actuator_count; k++) {
    if (!(b->actuator[k] > most) || frix_robot_get_actuator(robot, k, &row) != FRIX_OK) continue;
    most = b->actuator[k], out->joint = (frix_joint_id){0, 0}, out->actuator = k, out->name = row.name;
  }
}

/* Into its place among the largest. */
static void rank(fx_driver list[FX_DRIVERS], fx_driver one) {
  for (int k = 0; k < FX_DRIVERS; k++) {
    fx_driver other = list[k];
    if (!(one.power > other.power)) continue;
    list[k] = one, one = other;
  }
}

static void take(fx_driver list[FX_DRIVERS], frix_cause cause, frix_body_id body, frix_vec3 force, double power) {
  rank(list, (fx_driver){.cause = cause, .body = body, .force = force, .power = power, .actuator = -1});
}

static bool has_joints(const balance *b) {
  const frix_model *model = frix_sim_model(b->replay->sim);
  if (frix_model_robot(model)) return true;
  for (int32_t k = 0; k < frix_model_count(model).joint_count; k++) {
    frix_joint_config joint;
    if (frix_model_joint(model, frix_model_joint_at(model, k), &joint) != FRIX_OK) continue;
    if (((int32_t)joint.a.index < b->slots && b->joined[joint.a.index]) ||
        ((int32_t)joint.b.index < b->slots && b->joined[joint.b.index]))
      return true;
  }
  return false;
}

static void find_largest(const balance *b, fx_driver list[FX_DRIVERS]) {
  const frix_sim *sim = b->replay->sim;
  frix_body_id id = {0, 0};
  for (int k = 0; k < FX_DRIVERS; k++) list[k] = (fx_driver){.actuator = -1};
  take(list, FRIX_CAUSE_BELT, id, b->dragged[0], b->sum[0].belt);
  while ((id = frix_sim_body_next(sim, id)).index) {
    if ((int32_t)id.index >= b->slots) continue;
    const supplies *s = &b->sum[id.index];
    const fx_body *body = fx_slot_body(sim, (int32_t)id.index);
    frix_vec3 weight = fx_scale(body->mass * body->gravity_scale, sim->state.gravity);
    take(list, FRIX_CAUSE_WEIGHT, id, weight, s->weight);
    take(list, FRIX_CAUSE_FORCE, id, b->load[id.index].force, s->applied);
    take(list, FRIX_CAUSE_MOTION, id, b->pushed[id.index], s->motion);
    take(list, FRIX_CAUSE_BELT, id, b->dragged[id.index], s->belt);
    if (b->struck[id.index]) take(list, FRIX_CAUSE_IMPACT, id, b->lost[id.index], s->impact);
  }
  if (has_joints(b) && b->left > 0) {
    fx_driver joint = {.cause = FRIX_CAUSE_JOINT, .power = b->left, .actuator = -1};
    name_joint(b, &joint);
    rank(list, joint);
  }
  for (int k = 0; k < FX_DRIVERS && b->steps > 0; k++) list[k].power /= b->steps;
}

frix_status fx_find_drivers(fx_replay *r, const uint8_t *joined, int32_t slots, const fx_meeting *touch,
                            fx_driver out[FX_DRIVERS]) {
  enum { MOST = 500 };
  fx_arena arena;
  fx_arena_init(&arena, r->sim->context);
  balance b = {.replay = r, .joined = joined, .slots = slots};
  b.before = FX_TAKE(&arena, frix_body_state, slots);
  b.load = FX_TAKE(&arena, fx_load, slots);
  b.struck = FX_TAKE(&arena, uint8_t, slots);
  b.sum = FX_TAKE(&arena, supplies, slots);
  b.pushed = FX_TAKE(&arena, frix_vec3, slots);
  b.lost = FX_TAKE(&arena, frix_vec3, slots);
  b.dragged = FX_TAKE(&arena, frix_vec3, slots);
  const frix_robot *robot = frix_model_robot(r->sim->model);
  b.joint = FX_TAKE(&arena, double, (size_t)frix_model_count(r->sim->model).joint_count + 1);
  b.actuator = FX_TAKE(&arena, double, robot ? (size_t)frix_robot_view(robot).actuator_count + 1 : 1);
  bool room = b.before && b.load && b.struck && b.sum && b.pushed && b.lost && b.dragged && b.joint && b.actuator;
  frix_status status = room ? FRIX_OK : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) find_frame(&b, touch);
  for (int32_t k = touch->onset; status == FRIX_OK && k <= touch->failed && b.steps < MOST; k++) status = add_step(&b);
  if (status == FRIX_OK) find_largest(&b, out);
  fx_arena_free(&arena);
  return status;
}
