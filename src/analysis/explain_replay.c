/* A world run again from its start with one thing changed.
 *
 *   friction   mu := value wherever the two materials meet
 *   press      forces -value n on a and value n on b, at the contact, in every step
 *   load       the cause times value: m g, applied forces, velocities of a kinematic body or of belts, the velocity
 *              before a blow, the largest force of a motor, controls of an actuator
 *   keep       removals are taken back */
#include "analysis/explain_internal.h"

#include "sim/hooks_internal.h"

#include <frix/robot.h>
#include <string.h>

frix_body_state fx_state_of(const frix_sim *sim, frix_body_id id) {
  frix_body_state state = {.pose = fx_pose_one()};
  if (id.index && frix_sim_alive(sim, id)) frix_sim_body(sim, id, &state);
  return state;
}

frix_vec3 fx_velocity_at(const frix_body_state *s, frix_vec3 point) {
  return fx_add(s->velocity, fx_cross(s->spin, fx_sub(point, s->center)));
}

static bool same_material(frix_material_id a, frix_material_id b) {
  return a.index == b.index && a.generation == b.generation;
}

/* The materials of a contact are those of the change. */
static void set_friction(const frix_sim *sim, const frix_contact_pair *pair, frix_contact_law *law, void *user) {
  const fx_change *c = user;
  frix_shape_config a, b;
  if (frix_model_shape(frix_sim_model(sim), pair->shape_a, &a, NULL) != FRIX_OK ||
      frix_model_shape(frix_sim_model(sim), pair->shape_b, &b, NULL) != FRIX_OK)
    return;
  bool straight = same_material(a.material, c->material[0]) && same_material(b.material, c->material[1]);
  bool crossed = same_material(a.material, c->material[1]) && same_material(b.material, c->material[0]);
  if (straight || crossed) law->mu = c->value;
}

frix_status fx_replay_begin(fx_replay *r, frix_context *context, const frix_model *model, const frix_sim_config *sim,
                            const frix_explain_config *config, const fx_change *change) {
  memset(r, 0, sizeof *r);
  r->config = config;
  if (change) r->change = *change;
  frix_status status = frix_sim_create(context, model, sim, &r->sim);
  if (status != FRIX_OK || !r->change.active || r->change.kind != FRIX_REMEDY_FRICTION) return status;
  frix_contact_hooks hooks;
  frix_contact_hooks_init(&hooks, sizeof hooks);
  hooks.modify = set_friction;
  hooks.user = &r->change;
  return frix_sim_set_hooks(r->sim, &hooks);
}

static frix_status press(fx_replay *r) {
  const fx_change *c = &r->change;
  frix_body_state a = fx_state_of(r->sim, c->a), b = fx_state_of(r->sim, c->b);
  frix_vec3 n = fx_scale(c->value, fx_rotate(b.pose.q, c->normal));
  frix_status status = FRIX_OK;
  if (c->a.index && frix_sim_alive(r->sim, c->a))
    status = frix_sim_add_force_at(r->sim, c->a, fx_neg(n), fx_pose_point(a.pose, c->point_a));
  if (status == FRIX_OK && c->b.index && frix_sim_alive(r->sim, c->b))
    status = frix_sim_add_force_at(r->sim, c->b, n, fx_pose_point(b.pose, c->point_b));
  return status;
}

static frix_vec3 weight_of(const frix_sim *sim, frix_body_id id) {
  const fx_body *body = fx_slot_body(sim, (int32_t)id.index);
  return fx_scale(body->mass * body->gravity_scale, sim->state.gravity);
}

/* Belts of the body; what the drive had set is kept, and comes back before the next drive. */
static frix_status slow_belts(fx_replay *r) {
  frix_sim *sim = r->sim;
  if (!sim->hooks || !sim->hooks->belt) return FRIX_OK;
  size_t count = (size_t)sim->model->shape_count;
  if (!r->told_belt) r->told_belt = fx_alloc(sim->context, count, sizeof *r->told_belt);
  if (!r->told_belt) return FRIX_ERROR_MEMORY;
  memcpy(r->told_belt, sim->hooks->belt, count * sizeof *r->told_belt);
  for (size_t k = 0; k < count; k++)
    if (&sim->model->body[sim->model->shape[k].body] == fx_slot_body(sim, (int32_t)r->change.body.index))
      sim->hooks->belt[k] = (fx_belt){fx_scale(r->change.value, sim->hooks->belt[k].flow),
                                      fx_scale(r->change.value, sim->hooks->belt[k].turn)};
  r->told = true;
  return FRIX_OK;
}

static int32_t controls_of(fx_replay *r, double **first) {
  frix_robot_actuator row;
  frix_robot_state *state = frix_sim_robot(r->sim);
  if (!state || frix_robot_get_actuator(frix_model_robot(r->sim->model), r->change.actuator, &row) != FRIX_OK) return 0;
  *first = frix_robot_data(state, FRIX_ROBOT_CTRL, NULL) + row.ctrl_first;
  return row.ctrl_count < FX_EXPLAIN_CTRL ? row.ctrl_count : FX_EXPLAIN_CTRL;
}

/* Controls of the actuator, or the largest forces of the motors of the joint. */
static frix_status weaken(fx_replay *r) {
  double *ctrl;
  frix_status status = FRIX_OK;
  r->told = true;
  for (int32_t k = 0, n = controls_of(r, &ctrl); k < n; k++) {
    r->told_ctrl[k] = ctrl[k];
    ctrl[k] *= r->change.value;
  }
  for (int32_t k = 0; status == FRIX_OK && r->change.joint.index && k < FRIX_JOINT_AXES; k++) {
    frix_axis_config axis;
    status = frix_sim_axis(r->sim, r->change.joint, k, &axis);
    r->told_axis[k] = axis;
    axis.max_force *= r->change.value, axis.stiffness *= r->change.value;
    if (status == FRIX_OK && (axis.motor != FRIX_MOTOR_NONE || axis.stiffness > 0))
      status = frix_sim_set_axis(r->sim, r->change.joint, k, &axis);
  }
  return status;
}

/* Motions, belts, controls and motors as the drive had set them. */
static frix_status take_back(fx_replay *r) {
  const fx_change *c = &r->change;
  frix_status status = FRIX_OK;
  double *ctrl;
  if (!r->told) return FRIX_OK;
  if (c->cause == FRIX_CAUSE_BELT)
    memcpy(r->sim->hooks->belt, r->told_belt, (size_t)r->sim->model->shape_count * sizeof *r->told_belt);
  if (c->cause == FRIX_CAUSE_MOTION && frix_sim_alive(r->sim, c->body))
    return frix_sim_set_velocity(r->sim, c->body, r->told_velocity, r->told_spin);
  if (c->cause != FRIX_CAUSE_JOINT) return FRIX_OK;
  for (int32_t k = 0, n = controls_of(r, &ctrl); k < n; k++) ctrl[k] = r->told_ctrl[k];
  for (int32_t k = 0; status == FRIX_OK && c->joint.index && k < FRIX_JOINT_AXES; k++)
    if (r->told_axis[k].motor != FRIX_MOTOR_NONE || r->told_axis[k].stiffness > 0)
      status = frix_sim_set_axis(r->sim, c->joint, k, &r->told_axis[k]);
  return status;
}

/* The part of the load that is taken away. */
static frix_status lighten(fx_replay *r) {
  const fx_change *c = &r->change;
  double less = c->value - 1;
  if (c->cause == FRIX_CAUSE_BELT) return slow_belts(r);
  if (c->cause == FRIX_CAUSE_JOINT) return weaken(r);
  if (!frix_sim_alive(r->sim, c->body)) return FRIX_OK;
  const fx_load *load = &r->sim->state.load[c->body.index];
  if (c->cause == FRIX_CAUSE_WEIGHT)
    return frix_sim_add_force(r->sim, c->body, fx_scale(less, weight_of(r->sim, c->body)), fx_vec(0, 0, 0));
  if (c->cause == FRIX_CAUSE_FORCE)
    return frix_sim_add_force(r->sim, c->body, fx_scale(less, load->force), fx_scale(less, load->torque));
  frix_body_state s = fx_state_of(r->sim, c->body);
  if (c->cause == FRIX_CAUSE_MOTION) {
    r->told_velocity = s.velocity, r->told_spin = s.spin, r->told = true;
    return frix_sim_set_velocity(r->sim, c->body, fx_scale(c->value, s.velocity), fx_scale(c->value, s.spin));
  }
  if (c->cause == FRIX_CAUSE_IMPACT && frix_sim_step_count(r->sim) == c->blow_step)
    return frix_sim_set_velocity(r->sim, c->body, fx_scale(c->value, s.velocity), fx_scale(c->value, s.spin));
  return FRIX_OK;
}

static frix_status call_drive(fx_replay *r) {
  return r->config->drive ? r->config->drive(r->sim, r->config->step, r->config->user) : FRIX_OK;
}

/* The drive, unless it removes the body that is to stay. */
static frix_status drive_and_keep(fx_replay *r) {
  frix_snapshot *before = NULL;
  if (!frix_sim_alive(r->sim, r->change.body)) return call_drive(r);
  frix_status status = frix_sim_save(r->sim, &before);
  if (status == FRIX_OK) status = call_drive(r);
  if (status == FRIX_OK && !frix_sim_alive(r->sim, r->change.body)) status = frix_sim_restore(r->sim, before);
  frix_snapshot_destroy(before);
  return status;
}

frix_status fx_replay_drive(fx_replay *r) {
  const fx_change *c = &r->change;
  frix_status status = take_back(r);
  if (status == FRIX_OK) status = c->active && c->kind == FRIX_REMEDY_KEEP ? drive_and_keep(r) : call_drive(r);
  if (status == FRIX_OK && c->active && c->kind == FRIX_REMEDY_PRESS) status = press(r);
  if (status == FRIX_OK && c->active && c->kind == FRIX_REMEDY_LOAD) status = lighten(r);
  return status;
}

frix_status fx_replay_step(fx_replay *r) { return frix_sim_step(r->sim, r->config->step, &r->report); }

void fx_replay_end(fx_replay *r) {
  if (r->sim) fx_free(r->sim->context, r->told_belt);
  r->told_belt = NULL;
  frix_sim_destroy(r->sim);
  r->sim = NULL;
}
