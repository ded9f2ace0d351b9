/* A sim goes on with another model of itself: compiled from a builder that holds the present one and what was changed.
 *
 * Bodies keep the frames the user gave them. Where the centre of mass moves by d within a body, its velocity becomes
 * v + w x d. Poses of shapes and frames of joints that were not changed keep their bits, and contacts of shapes that
 * were not changed their memory: a change of nothing changes no bit of what follows. */
#include "model/builder.h"
#include "sim/hooks_internal.h"
#include "sim/mechanism.h"
#include "sim/softs.h"

#include <frix/edit.h>
#include <math.h>
#include <string.h>

int32_t fx_shape_place(const frix_model *from, const frix_model *to, int32_t place) {
  int32_t id = from->shape[place].id;
  return id < to->shape_id_count ? to->shape_of_id[id] : -1;
}

/* ---- the builder */

static void take_state(const frix_sim *sim, frix_builder *b) {
  const fx_state *s = &sim->state;
  for (int32_t k = 1; k < sim->model->body_count; k++) {
    if (s->prototype[k] != k) continue;
    b->body[k].pose = fx_body_user_pose(&sim->model->body[k], s->pose[k]);
    b->body[k].velocity = s->velocity[k], b->body[k].spin = s->spin[k];
  }
  for (int32_t j = 0; j < s->joint_count; j++)
    if (!sim->model->joint[j].removed) memcpy(b->joint[j].axis, s->joint[j].axis, sizeof b->joint[j].axis);
  b->gravity = s->gravity;
}

frix_status frix_sim_begin_change(const frix_sim *sim, frix_builder **out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (sim->in_force)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_begin_change: called from the force callback");
  if (sim->softs)
    return fx_fail(sim->context, FRIX_ERROR_UNSUPPORTED, "frix_sim_begin_change: not for a world with soft bodies");
  if (sim->model->robot.robot)
    return fx_fail(sim->context, FRIX_ERROR_UNSUPPORTED,
                   "frix_sim_begin_change: not for a robot in reduced coordinates; read it in maximal ones "
                   "(--coordinates maximal)");
  frix_builder *b = NULL;
  frix_status status = fx_builder_redraft(sim->context, sim->model, &b);
  if (status != FRIX_OK) return status;
  take_state(sim, b);
  /* slots of spawned bodies are no places for new bodies of the model */
  frix_body_config filler = frix_body_default();
  filler.kind = FRIX_BODY_STATIC, filler.spawn_only = true;
  while (status == FRIX_OK && b->body_count < sim->state.count) status = frix_builder_add_body(b, &filler, NULL);
  if (status != FRIX_OK) {
    frix_builder_destroy(b);
    return status;
  }
  b->origin = sim->model;
  b->first_new = b->body_count;
  *out = b;
  return FRIX_OK;
}

/* ---- what stays as it was, to the bit */

static bool near_pose(frix_pose a, frix_pose b) {
  frix_quat d = {a.q.w - b.q.w, a.q.x - b.q.x, a.q.y - b.q.y, a.q.z - b.q.z};
  return fx_norm(fx_sub(a.p, b.p)) <= 1e-13 * (1.0 + fx_norm(a.p)) && fx_quat_norm2(d) <= 1e-26;
}

static bool same_center(const frix_model *from, const frix_model *to, int32_t body) {
  return fx_norm2(fx_sub(from->body[body].center, to->body[body].center)) == 0.0;
}

static void keep_frames(const frix_model *from, frix_model *to) {
  for (int32_t k = 0; k < from->shape_count; k++) {
    const fx_shape *old = &from->shape[k];
    int32_t place = fx_shape_place(from, to, k);
    fx_shape *s = place >= 0 ? &to->shape[place] : NULL;
    if (s && s->body == old->body && same_center(from, to, old->body) && near_pose(s->local, old->local))
      s->local = old->local, s->centred = old->centred;
  }
  for (int32_t j = 0; j < from->joint_count; j++) {
    const fx_joint *old = &from->joint[j];
    fx_joint *now = &to->joint[j];
    if (now->removed || old->removed || now->config.kind == FRIX_JOINT_COUPLING) continue;
    if (same_center(from, to, old->a) && near_pose(now->config.frame_a, old->config.frame_a))
      now->config.frame_a = old->config.frame_a;
    if (same_center(from, to, old->b) && near_pose(now->config.frame_b, old->config.frame_b))
      now->config.frame_b = old->config.frame_b;
  }
}

/* ---- the state */

static bool same_mass(const fx_body *a, const fx_body *b) {
  frix_sym3 i = a->inertia, j = b->inertia;
  return a->kind == b->kind && a->mass == b->mass && fx_norm2(fx_sub(a->center, b->center)) == 0.0 && i.xx == j.xx &&
         i.yy == j.yy && i.zz == j.zz && i.xy == j.xy && i.xz == j.xz && i.yz == j.yz;
}

/* A body of one pattern goes on as one of another. */
static void carry_body(frix_sim *sim, int32_t slot, const fx_body *old, const fx_body *now) {
  fx_state *s = &sim->state;
  frix_vec3 shift = fx_sub(now->center, old->center);
  if (fx_norm2(shift) > 0.0) {
    frix_vec3 way = fx_rotate(s->pose[slot].q, shift);
    s->pose[slot] = fx_body_central_pose(now, fx_body_user_pose(old, s->pose[slot]));
    s->velocity[slot] = fx_add(s->velocity[slot], fx_cross(s->spin[slot], way));
  }
  if (now->kind == FRIX_BODY_STATIC) s->velocity[slot] = s->spin[slot] = fx_vec(0.0, 0.0, 0.0);
  s->prototype[slot] = (int32_t)(now - sim->model->body);
  if (!same_mass(old, now)) fx_set_momentum(sim, slot);
}

/* Whether the law and the memory of a contact with this shape still make sense. */
static bool same_shape(const frix_model *from, const frix_model *to, int32_t place) {
  int32_t now = fx_shape_place(from, to, place);
  if (now < 0) return false;
  const fx_shape *a = &from->shape[place], *b = &to->shape[now];
  return a->kind == b->kind && a->geometry == b->geometry && a->radius == b->radius &&
         a->half_length == b->half_length && fx_norm2(fx_sub(a->half, b->half)) == 0.0;
}

static void carry_contacts(frix_sim *sim, const frix_model *from, const frix_model *to) {
  fx_state *s = &sim->state;
  int32_t all = s->touching_count + s->ended_count, kept = 0, ended = 0;
  for (int32_t k = 0; k < all; k++) {
    fx_touching t = s->touching[k];
    fx_contact *c = &t.contact;
    bool same = same_shape(from, to, c->shape_a) && same_shape(from, to, c->shape_b);
    int32_t a = fx_shape_place(from, to, c->shape_a), b = fx_shape_place(from, to, c->shape_b);
    if (a < 0 || b < 0 || !(same || sim->of_state)) continue; /* derivatives by sizes keep the springs */
    c->shape_a = a, c->shape_b = b;
    c->id = fx_contact_name(c, s->generation[c->body_a], s->generation[c->body_b]);
    ended += k >= s->touching_count;
    s->touching[kept++] = t;
  }
  s->touching_count = kept - ended, s->ended_count = ended;
  fx_contacts_index(sim);
}

static void place_new(frix_sim *sim, const frix_model *m, int32_t first) {
  fx_state *s = &sim->state;
  for (int32_t k = first; k < m->body_count; k++) {
    if (k < s->count) continue; /* a filler, whose slot is taken */
    s->count = k + 1;
    s->prototype[k] = m->body[k].spawn_only ? -1 : k;
    s->generation[k] = 1;
    s->pose[k] = m->body[k].start;
    s->velocity[k] = m->body[k].velocity, s->spin[k] = m->body[k].spin;
    if (m->body[k].kind == FRIX_BODY_STATIC) s->velocity[k] = s->spin[k] = fx_vec(0.0, 0.0, 0.0);
    s->momentum[k] = fx_vec(0.0, 0.0, 0.0);
    s->load[k] = (fx_load){0};
    s->asleep[k] = 0, s->quiet[k] = 0.0;
  }
}

/* Joints that are new, or not what they were, begin anew. */
static void carry_joints(frix_sim *sim, const frix_model *from, const frix_model *to, fx_joint_memory *memory) {
  for (int32_t j = 0; j < to->joint_count; j++) {
    const fx_joint *now = &to->joint[j];
    bool known = j < from->joint_count && !from->joint[j].removed;
    if (known) memory[j] = sim->state.joint[j];
    if (now->removed) memory[j] = (fx_joint_memory){0};
    memcpy(memory[j].axis, now->config.axis, sizeof memory[j].axis);
  }
}

/* Angles of joints that went on keep their turns. */
static void measure_joints(frix_sim *sim, int32_t old_count) {
  fx_joint_memory *memory = sim->state.joint;
  fx_joints_measure(sim, false);
  for (int32_t j = old_count; j < sim->state.joint_count; j++)
    memset(memory[j].coordinate, 0, sizeof memory[j].coordinate);
  fx_joints_measure(sim, false);
}

/* ---- the model */

frix_status fx_sim_take_model(frix_sim *sim, const frix_model *model, fx_joint_memory *memory) {
  fx_collision *collision = NULL;
  frix_status status = fx_collision_create(sim->inner, model, &collision);
  if (status != FRIX_OK) return fx_fail(sim->context, status, "%s", frix_error_text(sim->inner));
  if ((status = fx_hooks_move(sim, sim->model, model)) != FRIX_OK) {
    fx_collision_destroy(collision);
    return status;
  }
  fx_collision_destroy(sim->collision);
  sim->collision = collision;
  fx_sim_swap_joints(sim, memory, model->joint_count);
  if (model != sim->root) fx_model_hold(model);
  if (sim->model != sim->root) frix_model_destroy((frix_model *)sim->model);
  sim->model = model;
  fx_sim_measure_model(sim);
  sim->problem = (frix_problem){0}; /* the last step is another's */
  sim->rows.group_count = 0;
  sim->contact = NULL, sim->contact_count = 0;
  sim->stamp++;
  return FRIX_OK;
}

static frix_status check_change(const frix_sim *sim, const frix_builder *b) {
  if (sim->in_force) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_change: called from the force callback");
  if (b->origin != sim->model)
    return fx_fail(
        sim->context, FRIX_ERROR_INPUT,
        "frix_sim_change: the builder is not from frix_sim_begin_change of this sim, or it was changed since");
  if (b->body_count > b->first_new && sim->state.count > b->first_new)
    return fx_fail(sim->context, FRIX_ERROR_INPUT,
                   "frix_sim_change: bodies were spawned since frix_sim_begin_change, where the change adds bodies");
  return FRIX_OK;
}

/* Everything is there: the state follows the model, which takes the place of the old one. */
static frix_status go_on(frix_sim *sim, frix_model *model, fx_joint_memory *memory) {
  fx_state *s = &sim->state;
  const frix_model *old = sim->root == sim->model ? sim->model : fx_model_hold(sim->model);
  int32_t old_bodies = old->body_count, old_joints = old->joint_count;
  double before = s->energy.kinetic + s->energy.potential;
  fx_mechanism_touch(sim, 0);
  carry_joints(sim, old, model, memory);
  frix_status status = fx_sim_take_model(sim, model, memory);
  if (status == FRIX_OK) {
    for (int32_t k = 1; k < s->count; k++)
      if (s->prototype[k] > 0) carry_body(sim, k, &old->body[s->prototype[k]], &model->body[s->prototype[k]]);
    carry_contacts(sim, old, model);
    place_new(sim, model, old_bodies);
    for (int32_t k = 1; k < s->count; k++) {
      if (s->prototype[k] >= old_bodies) fx_set_momentum(sim, k);
      fx_wake(sim, k);
    }
    s->gravity = model->gravity;
    measure_joints(sim, old_joints);
    fx_mechanism_touch(sim, 0); /* its first joints */
    s->energy.kinetic = fx_kinetic(sim), s->energy.potential = fx_potential(sim);
    s->energy.work += s->energy.kinetic + s->energy.potential - before;
  }
  if (old != sim->root) frix_model_destroy((frix_model *)old);
  return status;
}

frix_status frix_sim_change(frix_sim *sim, frix_builder *builder) {
  if (!sim || !builder) return FRIX_ERROR_INPUT;
  frix_status status = check_change(sim, builder);
  if (status != FRIX_OK) return status;
  frix_model *model = NULL;
  if ((status = frix_builder_compile(builder, &model)) != FRIX_OK) return status;
  keep_frames(sim->model, model);
  fx_joint_memory *memory = FX_NEW(sim->context, fx_joint_memory, model->joint_count);
  status = memory ? fx_sim_reserve(sim, model->body_count) : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) status = go_on(sim, model, memory);
  if (status != FRIX_OK) fx_free(sim->context, memory);
  if (status == FRIX_OK) builder->origin = NULL;
  frix_model_destroy(model); /* the sim holds it now */
  return status;
}

frix_status frix_sim_keep_model(const frix_sim *sim, frix_model **out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  *out = (frix_model *)fx_model_hold(sim->model);
  return FRIX_OK;
}

/* ---- one change */

/* What the call says, and all that goes with it. */
#define ONE_CHANGE(call)                                          \
  frix_builder *b = NULL;                                         \
  frix_status status = sim ? FRIX_OK : FRIX_ERROR_INPUT;          \
  if (status == FRIX_OK) status = frix_sim_begin_change(sim, &b); \
  if (status == FRIX_OK) status = (call);                         \
  if (status == FRIX_OK) status = frix_sim_change(sim, b);        \
  frix_builder_destroy(b);                                        \
  return status

/* Bodies that are told to stand elsewhere, or to move otherwise, do. */
static frix_status set_motion(frix_sim *sim, frix_body_id id, const frix_body_config *config) {
  if (!frix_sim_alive(sim, id)) return FRIX_OK;
  frix_status status = frix_sim_set_pose(sim, id, config->pose);
  if (status == FRIX_OK && config->kind != FRIX_BODY_STATIC)
    status = frix_sim_set_velocity(sim, id, config->velocity, config->spin);
  return status;
}

static frix_status change_body(frix_sim *sim, frix_body_id id, const frix_body_config *config) {
  ONE_CHANGE(frix_builder_set_body(b, id, config));
}

frix_status frix_sim_set_body(frix_sim *sim, frix_body_id id, const frix_body_config *config) {
  if (!sim || !config) return FRIX_ERROR_INPUT;
  frix_status status = change_body(sim, id, config);
  return status == FRIX_OK ? set_motion(sim, id, config) : status;
}

static frix_status set_kind(frix_builder *b, frix_body_id id, frix_body_kind kind) {
  if (id.generation != 1 || id.index == 0 || id.index >= (uint32_t)b->body_count)
    return fx_fail(b->context, FRIX_ERROR_INPUT, "frix_sim_set_kind: no body of the model");
  frix_body_config config = b->body[id.index];
  config.kind = kind;
  if (kind == FRIX_BODY_STATIC) config.velocity = config.spin = fx_vec(0.0, 0.0, 0.0);
  return frix_builder_set_body(b, id, &config);
}

frix_status frix_sim_set_kind(frix_sim *sim, frix_body_id id, frix_body_kind kind) {
  ONE_CHANGE(set_kind(b, id, kind));
}
frix_status frix_sim_set_shape(frix_sim *sim, frix_shape_id id, const frix_shape_config *config) {
  ONE_CHANGE(frix_builder_set_shape(b, id, config));
}
frix_status frix_sim_set_material(frix_sim *sim, frix_material_id id, const frix_material_config *config) {
  ONE_CHANGE(frix_builder_set_material(b, id, config));
}
frix_status frix_sim_add_shape(frix_sim *sim, frix_body_id body, const frix_shape_config *config, frix_shape_id *out) {
  ONE_CHANGE(frix_builder_add_shape(b, body, config, out));
}
frix_status frix_sim_remove_shape(frix_sim *sim, frix_shape_id id) { ONE_CHANGE(frix_builder_remove_shape(b, id)); }
frix_status frix_sim_add_joint(frix_sim *sim, const frix_joint_config *config, frix_joint_id *out) {
  ONE_CHANGE(frix_builder_add_joint(b, config, out));
}
frix_status frix_sim_remove_joint(frix_sim *sim, frix_joint_id id) { ONE_CHANGE(frix_builder_remove_joint(b, id)); }

frix_status frix_sim_set_pattern(frix_sim *sim, frix_body_id id, frix_body_id pattern) {
  if (!sim) return FRIX_ERROR_INPUT;
  int32_t k = fx_slot_of(sim, id, false, "frix_sim_set_pattern");
  if (k < 0) return FRIX_ERROR_INPUT;
  const frix_model *m = sim->model;
  if (sim->in_force || pattern.generation != 1 || pattern.index == 0 || pattern.index >= (uint32_t)m->body_count)
    return fx_fail(sim->context, FRIX_ERROR_INPUT,
                   "frix_sim_set_pattern: no body of the model, or called from a callback");
  const fx_body *old = fx_slot_body(sim, k), *now = &m->body[pattern.index];
  if (old->planar != now->planar)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_pattern: planar cannot be changed");
  fx_state *s = &sim->state;
  double before = s->energy.kinetic + s->energy.potential;
  fx_mechanism_touch(sim, 0);
  carry_body(sim, k, old, now);
  /* its contacts are those of other shapes */
  int32_t all = s->touching_count + s->ended_count, kept = 0, ended = 0;
  for (int32_t c = 0; c < all; c++) {
    const fx_contact *contact = &s->touching[c].contact;
    fx_wake(sim, contact->body_a == k ? contact->body_b : contact->body_b == k ? contact->body_a : -1);
    if (contact->body_a == k || contact->body_b == k) continue;
    ended += c >= s->touching_count;
    s->touching[kept++] = s->touching[c];
  }
  s->touching_count = kept - ended, s->ended_count = ended;
  fx_contacts_index(sim);
  sim->stamp++;
  fx_wake(sim, k);
  fx_joints_measure(sim, false);
  s->energy.kinetic = fx_kinetic(sim), s->energy.potential = fx_potential(sim);
  s->energy.work += s->energy.kinetic + s->energy.potential - before;
  return FRIX_OK;
}

/* ---- spawned bodies of their own */

static frix_status copy_shapes(const frix_model *m, int32_t pattern, frix_builder *b, frix_body_id to) {
  for (int32_t k = m->body[pattern].shape_start; k < m->body[pattern].shape_start + m->body[pattern].shape_count; k++) {
    frix_shape_config shape;
    frix_status status = frix_model_shape(m, (frix_shape_id){(uint32_t)m->shape[k].id + 1, 1}, &shape, NULL);
    shape.name = NULL; /* those of the pattern keep theirs */
    if (status == FRIX_OK) status = frix_builder_add_shape(b, to, &shape, NULL);
    if (status != FRIX_OK) return status;
  }
  return FRIX_OK;
}

static frix_status add_copy(frix_sim *sim, int32_t slot, frix_builder *b, frix_body_id *out) {
  int32_t pattern = sim->state.prototype[slot];
  frix_body_config body;
  frix_status status = frix_model_body(sim->model, (frix_body_id){(uint32_t)pattern, 1}, &body);
  if (status != FRIX_OK) return status;
  body.name = NULL, body.spawn_only = false;
  body.pose = fx_body_user_pose(&sim->model->body[pattern], sim->state.pose[slot]);
  body.velocity = sim->state.velocity[slot], body.spin = sim->state.spin[slot];
  status = frix_builder_add_body(b, &body, out);
  return status == FRIX_OK ? copy_shapes(sim->model, pattern, b, *out) : status;
}

static frix_status own_copy(frix_sim *sim, int32_t slot, frix_body_id *out) { ONE_CHANGE(add_copy(sim, slot, b, out)); }

frix_status frix_sim_own(frix_sim *sim, frix_body_id id, frix_body_id *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  int32_t k = fx_slot_of(sim, id, false, "frix_sim_own");
  if (k < 0) return FRIX_ERROR_INPUT;
  *out = id;
  if (sim->state.prototype[k] == k) return FRIX_OK;
  frix_body_id made;
  frix_status status = own_copy(sim, k, &made);
  if (status == FRIX_OK) status = frix_sim_remove(sim, id);
  if (status == FRIX_OK) *out = made;
  return status;
}
