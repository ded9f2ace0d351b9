/* Bodies of a sim: ids, queries, applied forces, changes of the state. */
#include "base/abi.h"
#include "base/trig.h"
#include "model/builder.h"
#include "sim/mechanism.h"
#include "sim/sim_internal.h"
#include "sim/softs.h"

#include <math.h>

static bool finite_pose(frix_pose p) {
  double n = fx_quat_norm2(p.q);
  return fx_finite(p.p) && isfinite(n) && n > 1e-12;
}

int32_t fx_slot_of(const frix_sim *sim, frix_body_id id, bool allow_world, const char *call) {
  const fx_state *s = &sim->state;
  if (id.index == 0 && id.generation == 0 && allow_world) return 0;
  if (id.index > 0 && id.index < (uint32_t)s->count && s->prototype[id.index] > 0 &&
      s->generation[id.index] == id.generation)
    return (int32_t)id.index;
  fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: no such body (index %u, generation %u)", call, id.index, id.generation);
  return -1;
}

int32_t frix_sim_body_count(const frix_sim *sim) {
  int32_t count = 0;
  for (int32_t k = 1; sim && k < sim->state.count; k++) count += sim->state.prototype[k] > 0;
  return count;
}

frix_body_id frix_sim_body_at(const frix_sim *sim, int32_t k) {
  if (!sim || k < 0) return (frix_body_id){0, 0};
  const fx_state *s = &sim->state;
  for (int32_t at = 1; at < s->count; at++)
    if (s->prototype[at] > 0 && k-- == 0) return (frix_body_id){(uint32_t)at, s->generation[at]};
  return (frix_body_id){0, 0};
}

frix_body_id frix_sim_body_next(const frix_sim *sim, frix_body_id id) {
  const fx_state *s = sim ? &sim->state : NULL;
  for (int64_t at = (int64_t)id.index + 1; s && at < s->count; at++)
    if (s->prototype[at] > 0) return (frix_body_id){(uint32_t)at, s->generation[at]};
  return (frix_body_id){0, 0};
}

bool frix_sim_alive(const frix_sim *sim, frix_body_id id) {
  if (!sim) return false;
  const fx_state *s = &sim->state;
  return id.index > 0 && id.index < (uint32_t)s->count && s->prototype[id.index] > 0 &&
         s->generation[id.index] == id.generation;
}

static frix_status body_state(const frix_sim *sim, frix_body_id id, frix_body_state *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  int32_t k = fx_slot_of(sim, id, true, "frix_sim_body");
  if (k < 0) return FRIX_ERROR_INPUT;
  const fx_state *s = &sim->state;
  *out = (frix_body_state){.pose = fx_body_user_pose(fx_slot_body(sim, k), s->pose[k]),
                           .center = s->pose[k].p,
                           .velocity = s->velocity[k],
                           .spin = s->spin[k],
                           .asleep = s->asleep[k]};
  return FRIX_OK;
}

frix_status frix_sim_body_sized(const frix_sim *sim, frix_body_id id, frix_body_state *out, size_t size) {
  FX_OUTPUT(frix_body_state, out, size);
  frix_status status = body_state(sim, id, out_all);
  FX_GIVE(out, size);
  return status;
}

frix_status frix_sim_pattern(const frix_sim *sim, frix_body_id id, frix_body_id *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  int32_t k = fx_slot_of(sim, id, false, "frix_sim_pattern");
  if (k < 0) return FRIX_ERROR_INPUT;
  *out = (frix_body_id){(uint32_t)sim->state.prototype[k], 1};
  return FRIX_OK;
}

/* ---- coming and going ---- */

frix_status frix_sim_spawn(frix_sim *sim, frix_body_id pattern, frix_pose pose, frix_vec3 velocity, frix_vec3 spin,
                           frix_body_id *out) {
  if (!sim) return FRIX_ERROR_INPUT;
  if (out) *out = (frix_body_id){0, 0};
  if (sim->in_force) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_spawn: called from the force callback");
  if (pattern.generation != 1 || pattern.index == 0 || pattern.index >= (uint32_t)sim->model->body_count)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_spawn: the pattern is not a body of the model");
  const fx_body *body = &sim->model->body[pattern.index];
  if (fx_soft_at(sim, (int32_t)pattern.index))
    return fx_fail(sim->context, FRIX_ERROR_UNSUPPORTED, "frix_sim_spawn: soft bodies are there from the start");
  if (!finite_pose(pose) || !fx_finite(velocity) || !fx_finite(spin))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_spawn: pose or velocity is not finite");
  pose.q = fx_quat_unit(pose.q);
  if (body->planar) {
    if (!fx_flatten_pose(&pose))
      return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_spawn: a planar body must stand in z = 0");
    velocity.z = spin.x = spin.y = 0.0;
  }
  fx_state *s = &sim->state;
  int32_t k = 1; /* the first free slot; the model's own slots stay reserved for ids of the model that wait */
  while (k < s->count && !(s->prototype[k] < 0 && (k >= sim->model->body_count || s->generation[k] > 1))) k++;
  if (k == s->count) {
    frix_status status = fx_sim_reserve(sim, s->count + 1);
    if (status != FRIX_OK) return status;
    s->count++;
    s->generation[k] = 1;
  }
  s->prototype[k] = (int32_t)pattern.index;
  s->pose[k] = fx_body_central_pose(body, pose);
  s->velocity[k] = velocity;
  s->spin[k] = spin;
  if (body->kind == FRIX_BODY_STATIC) s->velocity[k] = s->spin[k] = fx_vec(0.0, 0.0, 0.0);
  s->load[k] = (fx_load){0};
  s->asleep[k] = 0;
  s->quiet[k] = 0.0;
  sim->stamp++;
  fx_set_momentum(sim, k);
  s->energy.work += fx_body_energy(sim, k);
  s->energy.kinetic = fx_kinetic(sim);
  s->energy.potential = fx_potential(sim);
  if (out) *out = (frix_body_id){(uint32_t)k, s->generation[k]};
  return FRIX_OK;
}

/* Links of a robot of the model follow its coordinates; those of trees of joints are bodies to the user. */
static bool is_held(const frix_sim *sim, int32_t slot) { return fx_is_link(sim, slot) && !sim->mechanism->own; }

static frix_status refuse_link(const frix_sim *sim, const char *call) {
  return fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: the body is a link of the robot: set its coordinates instead",
                 call);
}

frix_status frix_sim_remove(frix_sim *sim, frix_body_id id) {
  if (!sim) return FRIX_ERROR_INPUT;
  if (sim->in_force) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_remove: called from the force callback");
  int32_t k = fx_slot_of(sim, id, false, "frix_sim_remove");
  if (k < 0) return FRIX_ERROR_INPUT;
  if (is_held(sim, k)) return refuse_link(sim, "frix_sim_remove");
  fx_state *s = &sim->state;
  /* neighbours lose what held them */
  for (int32_t c = 0; c < s->touching_count; c++) {
    const fx_contact *contact = &s->touching[c].contact;
    if (contact->body_a == k) fx_wake(sim, contact->body_b);
    if (contact->body_b == k) fx_wake(sim, contact->body_a);
  }
  for (int32_t j = 0; j < s->joint_count; j++) {
    const fx_joint *joint = &sim->model->joint[j];
    if (joint->a == k) fx_wake(sim, joint->b);
    if (joint->b == k) fx_wake(sim, joint->a);
  }
  double before = s->energy.kinetic + s->energy.potential;
  fx_mechanism_touch(sim, k);
  s->prototype[k] = -1;
  s->generation[k]++;
  s->asleep[k] = 0;
  sim->stamp++;
  fx_joints_measure(sim, false);
  s->energy.kinetic = fx_kinetic(sim);
  s->energy.potential = fx_potential(sim);
  s->energy.work += s->energy.kinetic + s->energy.potential - before;
  return FRIX_OK;
}

/* ---- applied forces, changes of the state ---- */

/* After a change by hand: the ledger books it as work. */
static void book(frix_sim *sim, int32_t slot) {
  frix_energy *e = &sim->state.energy;
  double before = e->kinetic + e->potential;
  sim->stamp++;
  fx_set_momentum(sim, slot);
  fx_wake(sim, slot);
  e->kinetic = fx_kinetic(sim);
  e->potential = fx_potential(sim);
  e->work += e->kinetic + e->potential - before;
}

/* Bodies that touch one which the user moved are woken. */
static void wake_neighbours(frix_sim *sim, int32_t k) {
  fx_state *s = &sim->state;
  for (int32_t c = 0; c < s->touching_count; c++) {
    const fx_contact *contact = &s->touching[c].contact;
    if (contact->body_a == k) fx_wake(sim, contact->body_b);
    if (contact->body_b == k) fx_wake(sim, contact->body_a);
  }
}

frix_status frix_sim_set_pose(frix_sim *sim, frix_body_id id, frix_pose pose) {
  if (!sim) return FRIX_ERROR_INPUT;
  int32_t k = fx_slot_of(sim, id, false, "frix_sim_set_pose");
  if (k < 0) return FRIX_ERROR_INPUT;
  if (sim->in_force || !finite_pose(pose))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_pose: not finite, or called from the force callback");
  if (is_held(sim, k)) return refuse_link(sim, "frix_sim_set_pose");
  pose.q = fx_quat_unit(pose.q);
  const fx_body *body = fx_slot_body(sim, k);
  if (body->planar && !fx_flatten_pose(&pose))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_pose: a planar body must stand in z = 0");
  fx_mechanism_touch(sim, k);
  sim->state.pose[k] = fx_body_central_pose(body, pose);
  wake_neighbours(sim, k);
  fx_joints_measure(sim, false);
  book(sim, k);
  return FRIX_OK;
}

frix_status frix_sim_set_velocity(frix_sim *sim, frix_body_id id, frix_vec3 velocity, frix_vec3 spin) {
  if (!sim) return FRIX_ERROR_INPUT;
  int32_t k = fx_slot_of(sim, id, false, "frix_sim_set_velocity");
  if (k < 0) return FRIX_ERROR_INPUT;
  if (sim->in_force || !fx_finite(velocity) || !fx_finite(spin))
    return fx_fail(sim->context, FRIX_ERROR_INPUT,
                   "frix_sim_set_velocity: not finite, or called from the force callback");
  if (is_held(sim, k)) return refuse_link(sim, "frix_sim_set_velocity");
  const fx_body *body = fx_slot_body(sim, k);
  if (body->kind == FRIX_BODY_STATIC)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_velocity: the body is static");
  if (body->planar) velocity.z = spin.x = spin.y = 0.0;
  sim->state.velocity[k] = velocity;
  sim->state.spin[k] = spin;
  if (fx_is_link(sim, k)) fx_mechanism_set_motion(sim, k);
  wake_neighbours(sim, k);
  fx_joints_measure(sim, false);
  book(sim, k);
  return FRIX_OK;
}

frix_status frix_sim_move_to(frix_sim *sim, frix_body_id id, frix_pose pose, double h) {
  if (!sim) return FRIX_ERROR_INPUT;
  int32_t k = fx_slot_of(sim, id, false, "frix_sim_move_to");
  if (k < 0) return FRIX_ERROR_INPUT;
  if (fx_slot_body(sim, k)->kind != FRIX_BODY_KINEMATIC || !finite_pose(pose) || !(h > 0.0) || !isfinite(h))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_move_to: needs a kinematic body, a finite pose and h > 0");
  frix_pose from = sim->state.pose[k];
  /* the turn from here to there: angle 2 atan2(|vector|, scalar) about the vector */
  frix_quat turn = fx_quat_mul(fx_quat_unit(pose.q), fx_quat_conj(from.q));
  if (turn.w < 0.0) turn = (frix_quat){-turn.w, -turn.x, -turn.y, -turn.z};
  frix_vec3 vector = {turn.x, turn.y, turn.z};
  double sine = fx_norm(vector), angle = 2.0 * fx_atan2(sine, turn.w);
  frix_vec3 spin = sine > 0.0 ? fx_scale(angle / (sine * h), vector) : fx_vec(0.0, 0.0, 0.0);
  return frix_sim_set_velocity(sim, id, fx_scale(1.0 / h, fx_sub(pose.p, from.p)), spin);
}

static fx_load *load_of(frix_sim *sim, frix_body_id id, const char *call, bool finite) {
  int32_t k = fx_slot_of(sim, id, false, call);
  if (k < 0) return NULL;
  if (!finite) {
    fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: not finite", call);
    return NULL;
  }
  if (!sim->in_force) fx_wake(sim, k);
  return &sim->state.load[k];
}

frix_status frix_sim_add_force(frix_sim *sim, frix_body_id id, frix_vec3 force, frix_vec3 torque) {
  if (!sim) return FRIX_ERROR_INPUT;
  fx_load *load = load_of(sim, id, "frix_sim_add_force", fx_finite(force) && fx_finite(torque));
  if (!load) return FRIX_ERROR_INPUT;
  load->force = fx_add(load->force, force);
  load->torque = fx_add(load->torque, torque);
  return FRIX_OK;
}

frix_status frix_sim_add_force_at(frix_sim *sim, frix_body_id id, frix_vec3 force, frix_vec3 point) {
  if (!sim) return FRIX_ERROR_INPUT;
  if (!frix_sim_alive(sim, id)) return frix_sim_add_force(sim, id, force, point);
  return frix_sim_add_force(sim, id, force, fx_cross(fx_sub(point, sim->state.pose[id.index].p), force));
}

static bool finite_sym(frix_sym3 s) {
  return isfinite(s.xx) && isfinite(s.yy) && isfinite(s.zz) && isfinite(s.xy) && isfinite(s.xz) && isfinite(s.yz);
}

static frix_sym3 sum(frix_sym3 a, frix_sym3 b) {
  return (frix_sym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}

/* Positive semidefinite: no principal minor below zero (but for rounding). */
static bool psd(frix_sym3 s) {
  double value[3];
  fx_sym3_eigen(s, value, NULL);
  return value[0] >= -1e-12 * fabs(value[2]);
}

frix_status frix_sim_add_slope(frix_sim *sim, frix_body_id id, frix_sym3 stiffness, frix_sym3 damping,
                               frix_sym3 torque_damping) {
  if (!sim) return FRIX_ERROR_INPUT;
  bool good = finite_sym(stiffness) && finite_sym(damping) && finite_sym(torque_damping) && psd(stiffness) &&
              psd(damping) && psd(torque_damping);
  fx_load *load = load_of(sim, id, "frix_sim_add_slope (positive semidefinite)", good);
  if (!load) return FRIX_ERROR_INPUT;
  load->stiffness = sum(load->stiffness, stiffness);
  load->damping = sum(load->damping, damping);
  load->torque_damping = sum(load->torque_damping, torque_damping);
  load->slope = true;
  return FRIX_OK;
}
