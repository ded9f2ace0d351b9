/* Joints from outside: states, axes, and motors that are given a force. */
#include "base/abi.h"
#include "sim/joints.h"
#include "sim/softs.h"

#include <math.h>
#include <string.h>

static int32_t joint_of(const frix_sim *sim, frix_joint_id id, const char *call) {
  if (id.generation == 1 && id.index > 0 && id.index <= (uint32_t)sim->state.joint_count &&
      !sim->model->joint[id.index - 1].removed)
    return (int32_t)id.index - 1;
  fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: no such joint (index %u, generation %u)", call, id.index, id.generation);
  return -1;
}

bool fx_joint_direction(const frix_sim *sim, int32_t j, const fx_joint_view *v, int32_t axis, frix_vec3 *d,
                        frix_vec3 *at_a) {
  frix_vec3 za = fx_mat3_col(v->axes[0], 2), xb = fx_mat3_col(v->axes[1], 0);
  *at_a = v->point[0];
  switch (sim->model->joint[j].config.kind) {
    case FRIX_JOINT_SLIDER: *d = za, *at_a = v->point[1]; return false;
    case FRIX_JOINT_DISTANCE: *d = v->direction; return false;
    case FRIX_JOINT_UNIVERSAL: *d = axis == 0 ? za : xb; return true;
    default: *d = za; return true;
  }
}

static void push(frix_sim *sim, int32_t slot, frix_vec3 force, frix_vec3 torque) {
  int32_t m = sim->mover_of[slot];
  if (m < 0) return;
  if (sim->mover[m].tree) {
    frix_vec3 *sum = sim->mechanism->push[slot];
    sum[0] = fx_add(sum[0], force), sum[1] = fx_add(sum[1], torque);
    return;
  }
  sim->mover[m].force = fx_add(sim->mover[m].force, force);
  sim->mover[m].torque = fx_add(sim->mover[m].torque, torque);
}

void fx_joints_push(frix_sim *sim) {
  if (sim->mechanism && sim->mechanism->push)
    memset(sim->mechanism->push, 0, (size_t)sim->mechanism->slot_count * sizeof *sim->mechanism->push);
  for (int32_t j = 0; j < sim->state.joint_count; j++)
    for (int32_t k = 0; k < frix_joint_table((int32_t)sim->model->joint[j].config.kind)->coordinate_count; k++) {
      const frix_axis_config *c = &sim->state.joint[j].axis[k];
      if (c->motor != FRIX_MOTOR_FORCE || c->target == 0.0 || !fx_joint_active(sim, j)) continue;
      fx_joint_view v = fx_joint_look(sim, j);
      frix_vec3 d, at_a, zero = {0.0, 0.0, 0.0};
      if (fx_joint_direction(sim, j, &v, k, &d, &at_a)) {
        push(sim, v.slot[1], zero, fx_scale(c->target, d));
        push(sim, v.slot[0], zero, fx_scale(-c->target, d));
      } else {
        frix_vec3 f = fx_scale(c->target, d);
        push(sim, v.slot[1], f, fx_cross(fx_sub(v.point[1], v.center[1]), f));
        push(sim, v.slot[0], fx_neg(f), fx_neg(fx_cross(fx_sub(at_a, v.center[0]), f)));
      }
    }
}

double fx_joint_rate(const frix_sim *sim, int32_t j, const fx_joint_view *v, int32_t axis) {
  const fx_state *s = &sim->state;
  frix_vec3 d, at_a;
  bool angle = fx_joint_direction(sim, j, v, axis, &d, &at_a);
  int32_t a = v->slot[0], b = v->slot[1];
  if (angle) return fx_dot(d, fx_sub(s->spin[b], s->spin[a]));
  frix_vec3 vb = fx_add(s->velocity[b], fx_cross(s->spin[b], fx_sub(v->point[1], v->center[1])));
  frix_vec3 va = fx_add(s->velocity[a], fx_cross(s->spin[a], fx_sub(at_a, v->center[0])));
  if (v->held[1] >= 0) vb = fx_add(vb, fx_soft_held_bending(sim, b, v->held[1]));
  if (v->held[0] >= 0) va = fx_add(va, fx_soft_held_bending(sim, a, v->held[0]));
  return fx_dot(d, fx_sub(vb, va));
}

/* Rotors: A rate^2 / 2. */
double fx_joints_kinetic(const frix_sim *sim) {
  double sum = 0.0;
  for (int32_t j = 0; j < sim->state.joint_count; j++) {
    const frix_axis_config *axis = sim->state.joint[j].axis;
    frix_joint_kind kind = sim->model->joint[j].config.kind;
    if (!(axis[0].armature + axis[1].armature > 0.0) || !fx_joint_active(sim, j)) continue;
    fx_joint_view v = fx_joint_look(sim, j);
    if (kind == FRIX_JOINT_BALL)
      sum += 0.5 * axis[0].armature * fx_norm2(fx_sub(sim->state.spin[v.slot[1]], sim->state.spin[v.slot[0]]));
    for (int32_t k = 0; k < frix_joint_table((int32_t)kind)->coordinate_count; k++) {
      double rate = fx_joint_rate(sim, j, &v, k);
      sum += 0.5 * axis[k].armature * rate * rate;
    }
  }
  return sum;
}

static frix_status joint_report(const frix_sim *sim, frix_joint_id id, frix_joint_state *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  int32_t j = joint_of(sim, id, "frix_sim_joint");
  if (j < 0) return FRIX_ERROR_INPUT;
  const fx_joint_memory *m = &sim->state.joint[j];
  double h = sim->state.last_step > 0.0 ? sim->state.last_step : 1.0;
  *out =
      (frix_joint_state){.active = fx_joint_active(sim, j), .error = m->error, .force = m->force, .torque = m->torque};
  frix_joint_kind kind = sim->model->joint[j].config.kind;
  if (!out->active || kind == FRIX_JOINT_COUPLING) return FRIX_OK;
  fx_joint_view v = fx_joint_look(sim, j);
  for (int32_t k = 0; k < frix_joint_table((int32_t)kind)->coordinate_count; k++) {
    out->coordinate[k] = m->coordinate[k];
    out->rate[k] = fx_joint_rate(sim, j, &v, k);
    const frix_axis_config *c = &m->axis[k];
    bool bounded = isfinite(c->max_force);
    double sum = m->part[k][FX_AXIS_LOWER][0] - m->part[k][FX_AXIS_UPPER][0] + m->part[k][FX_AXIS_FRICTION][1] +
                 m->part[k][FX_AXIS_MOTOR][bounded ? 1 : 0] + m->part[k][FX_AXIS_SPRING][0];
    out->axis_force[k] = sum / h + (c->motor == FRIX_MOTOR_FORCE ? c->target : 0.0);
  }
  return FRIX_OK;
}

frix_status frix_sim_joint_sized(const frix_sim *sim, frix_joint_id id, frix_joint_state *out, size_t size) {
  FX_OUTPUT(frix_joint_state, out, size);
  frix_status status = joint_report(sim, id, out_all);
  FX_GIVE(out, size);
  return status;
}

frix_status frix_sim_axis(const frix_sim *sim, frix_joint_id id, int32_t axis, frix_axis_config *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  int32_t j = joint_of(sim, id, "frix_sim_axis");
  if (j < 0) return FRIX_ERROR_INPUT;
  if (axis < 0 || axis >= FRIX_JOINT_AXES)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_axis: axis %d", axis);
  *out = sim->state.joint[j].axis[axis];
  return FRIX_OK;
}

frix_status frix_sim_set_axis(frix_sim *sim, frix_joint_id id, int32_t axis, const frix_axis_config *c) {
  if (!sim || !c) return FRIX_ERROR_INPUT;
  int32_t j = joint_of(sim, id, "frix_sim_set_axis");
  if (j < 0) return FRIX_ERROR_INPUT;
  if (axis < 0 || axis >= FRIX_JOINT_AXES)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_axis: axis %d", axis);
  bool good = c->friction >= 0.0 && isfinite(c->friction) && c->stiffness >= 0.0 && isfinite(c->stiffness) &&
              c->damping >= 0.0 && isfinite(c->damping) && isfinite(c->rest) && isfinite(c->target) &&
              c->max_speed >= 0.0 && c->max_force >= 0.0 && (int)c->motor >= 0 && c->motor < FRIX_MOTOR_COUNT &&
              c->gain >= 0.0 && isfinite(c->gain) && c->rate_gain >= 0.0 && isfinite(c->rate_gain) &&
              isfinite(c->target_rate) && c->armature >= 0.0 && isfinite(c->armature) &&
              (!c->limited || (c->lower <= c->upper && isfinite(c->lower) && isfinite(c->upper)));
  if (!good) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_axis: a number is out of range");
  sim->state.joint[j].axis[axis] = *c;
  fx_wake(sim, sim->model->joint[j].a);
  fx_wake(sim, sim->model->joint[j].b);
  frix_energy *e = &sim->state.energy;
  double potential = fx_potential(sim), kinetic = fx_kinetic(sim);
  e->work += potential - e->potential + kinetic - e->kinetic; /* a spring or a rotor set by hand */
  e->potential = potential, e->kinetic = kinetic;
  return FRIX_OK;
}
