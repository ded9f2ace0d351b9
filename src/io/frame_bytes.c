/* Frames as bytes: numbers of the step, then columns over bodies and contacts (columns pack better than rows).
 *
 * Poses and velocities keep every bit; contacts are written in single precision, for they are looked at, not gone on
 * with. */
#include "io/trajectory_internal.h"

#include "sim/mechanism.h"
#include "sim/softs.h"

#include <string.h>

/* ---- the step ---- */

static void pack_report(fx_pack *p, frix_step_report *r) {
  int outcome = (int)r->outcome;
  frix_certificate *c = &r->certificate;
  fx_pack_choice(p, &outcome, 256); /* later versions may know more; frix_outcome_name takes any */
  r->outcome = (frix_outcome)outcome;
  fx_pack_bool(p, &r->certified);
  int flags = r->approximate | r->overlaps_left << 1;
  fx_pack_choice(p, &flags, 4);
  r->approximate = flags & 1, r->overlaps_left = flags >> 1;
  double *part[] = {&c->residual,
                    &c->contact_residual,
                    &c->joint_residual,
                    &c->rho,
                    &c->worst_velocity,
                    &c->signorini,
                    &c->cone,
                    &c->dissipation,
                    &c->bilateral,
                    &c->motion,
                    &c->power,
                    &r->penetration,
                    &r->seconds,
                    &r->collide_seconds,
                    &r->assemble_seconds,
                    &r->solve_seconds,
                    &r->integrate_seconds,
                    &r->restitution};
  for (size_t k = 0; k < sizeof part / sizeof *part; k++) fx_pack_f64(p, part[k]);
  int32_t *count[] = {&c->worst_contact, &r->contact_count, &r->touching_count, &r->row_count,
                      &r->dof_count,     &r->joint_count,   &r->island_count,   &r->awake_count};
  for (size_t k = 0; k < sizeof count / sizeof *count; k++) fx_pack_i32(p, count[k]);
  fx_pack_i64(p, &r->iterations);
  fx_pack_text(p, &r->finisher);
}

static void pack_head(fx_pack *p, frix_frame *f) {
  fx_pack_i64(p, &f->step);
  fx_pack_f64(p, &f->time);
  fx_pack_f64(p, &f->h);
  fx_pack_u64(p, &f->hash);
  fx_pack_energy(p, &f->energy);
  pack_report(p, &f->report);
  fx_pack_i32(p, &f->body_count);
  fx_pack_i32(p, &f->contact_count);
  fx_pack_i32(p, &f->gone_count);
}

/* ---- columns ---- */

/* body k -> its central pose stands in center and pose.q */
static void pack_bodies(fx_pack *p, frix_frame_body *body, int32_t count) {
  for (int32_t k = 0; k < count; k++) fx_pack_u32(p, &body[k].id.index);
  for (int32_t k = 0; k < count; k++) fx_pack_u32(p, &body[k].id.generation);
  for (int32_t k = 0; k < count; k++) fx_pack_u32(p, &body[k].pattern.index);
  for (int32_t k = 0; k < count; k++) fx_pack_bool(p, &body[k].state.asleep);
#define COLUMN(field) \
  for (int32_t k = 0; k < count; k++) fx_pack_f64(p, &body[k].state.field)
  COLUMN(center.x);
  COLUMN(center.y);
  COLUMN(center.z);
  COLUMN(pose.q.w);
  COLUMN(pose.q.x);
  COLUMN(pose.q.y);
  COLUMN(pose.q.z);
  COLUMN(velocity.x);
  COLUMN(velocity.y);
  COLUMN(velocity.z);
  COLUMN(spin.x);
  COLUMN(spin.y);
  COLUMN(spin.z);
#undef COLUMN
}

/* Tangent 2 is normal x tangent 1; forces are impulses over h. */
static void pack_contacts(fx_pack *p, frix_contact_report *contact, int32_t count) {
#define COLUMN(type, field) \
  for (int32_t k = 0; k < count; k++) fx_pack_##type(p, &contact[k].field)
#define VECTOR(field)      \
  COLUMN(single, field.x); \
  COLUMN(single, field.y); \
  COLUMN(single, field.z)
  COLUMN(u64, id);
  COLUMN(u32, a.index);
  COLUMN(u32, a.generation);
  COLUMN(u32, b.index);
  COLUMN(u32, b.generation);
  COLUMN(u32, shape_a.index);
  COLUMN(u32, shape_b.index);
  for (int32_t k = 0; k < count; k++) {
    int phase = (int)contact[k].phase;
    fx_pack_choice(p, &phase, FRIX_CONTACT_END + 1);
    contact[k].phase = (frix_contact_phase)phase;
  }
  for (int32_t k = 0; k < count; k++) {
    int state = (int)contact[k].state;
    fx_pack_choice(p, &state, FRIX_CONTACT_SLIP + 1);
    contact[k].state = (frix_contact_state)state;
  }
  VECTOR(point);
  VECTOR(normal);
  VECTOR(tangent[0]);
  VECTOR(impulse);
  VECTOR(roll);
  VECTOR(velocity);
  COLUMN(single, gap);
  COLUMN(single, mu);
  COLUMN(single, margin);
#undef VECTOR
#undef COLUMN
}

static void pack_gone(fx_pack *p, frix_body_id *gone, int32_t count) {
  for (int32_t k = 0; k < count; k++) fx_pack_u32(p, &gone[k].index);
}

/* Single precision: they are looked at, not gone on with. */
static void pack_amplitudes(fx_pack *p, double *amplitude, int32_t count) {
  for (int32_t k = 0; k < count; k++) fx_pack_single(p, &amplitude[k]);
}

/* ---- writing ---- */

static void write_amplitudes(fx_pack *p, const frix_sim *sim) {
  for (int32_t k = 0; sim->softs && k < sim->softs->count; k++) {
    const fx_soft_body *b = &sim->softs->body[k];
    for (int32_t j = 0; j < b->soft->info.coordinates; j++) {
      double copy = sim->state.robot[b->at + j];
      fx_pack_single(p, &copy);
    }
  }
}

static bool same_bits(const frix_pose *a, const frix_pose *b) { return memcmp(a, b, sizeof *a) == 0; }

/* A static body that stands as the model has it. */
static bool unmoved(const frix_sim *sim, int32_t slot) {
  const fx_state *s = &sim->state;
  return fx_slot_body(sim, slot)->kind == FRIX_BODY_STATIC && s->prototype[slot] == slot && s->generation[slot] == 1 &&
         same_bits(&s->pose[slot], &fx_slot_body(sim, slot)->start);
}

/* A static body of the model whose place is empty or taken by another. */
static bool removed(const frix_sim *sim, int32_t k) {
  const fx_body *body = &sim->model->body[k];
  return body->kind == FRIX_BODY_STATIC && !body->spawn_only && sim->state.generation[k] > 1;
}

static bool grow(frix_context *context, void *list, int32_t *room, int32_t wanted, size_t size) {
  void **pointer = list;
  if (wanted <= *room) return true;
  fx_free(context, *pointer);
  *pointer = fx_alloc(context, (size_t)wanted, size);
  *room = *pointer ? wanted : 0;
  return *pointer;
}

/* ---- the robot ---- */

static bool is_line(const fx_tree_joint *j) { return j->kind == FRIX_ROBOT_HINGE || j->kind == FRIX_ROBOT_SLIDE; }

/* Their number stands before them; a run without a robot has neither. */
static void write_robot(fx_pack *p, const frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  if (!sim->model->robot.robot || !x || frix_robot_forward(x->state)) return;
  const fx_tree *t = &x->tree;
  const frix_robot_state *s = x->state;
  int32_t count = t->actuator_count;
  for (int32_t k = 0; k < t->joint_count; k++) count += is_line(&t->joint[k]) ? 3 : 0;
  fx_pack_i32(p, &count);
  for (int32_t k = 0; k < t->joint_count; k++) {
    const fx_tree_joint *j = &t->joint[k];
    double value[3] = {s->qpos[j->q], s->qvel[j->v], s->actuator_torque[j->v]};
    for (int n = 0; n < 3 && is_line(j); n++) fx_pack_single(p, &value[n]);
  }
  for (int32_t k = 0; k < t->actuator_count; k++) {
    double force = s->actuator_force[k];
    fx_pack_single(p, &force);
  }
}

/* What is left of the frame. */
static bool read_robot(frix_context *context, fx_pack *p, fx_frame_store *s) {
  int32_t *count = &s->frame.robot_count;
  if (p->failed || p->at == p->end) return true;
  fx_pack_i32(p, count);
  if (*count < 0 || !fx_pack_room(p, (uint64_t)*count, 4)) p->failed = true;
  if (p->failed) return true;
  if (!grow(context, &s->robot, &s->robot_room, *count, sizeof *s->robot)) return false;
  for (int32_t k = 0; k < *count; k++) {
    fx_pack_single(p, &s->robot[k]);
    p->failed |= !isfinite(s->robot[k]);
  }
  s->frame.robot = s->robot;
  return true;
}

static frix_frame_body frame_body(const frix_sim *sim, int32_t k) {
  const fx_state *s = &sim->state;
  frix_frame_body b = {.id = {(uint32_t)k, s->generation[k]}, .pattern = {(uint32_t)s->prototype[k], 1}};
  b.state = (frix_body_state){.center = s->pose[k].p, .velocity = s->velocity[k], .spin = s->spin[k]};
  b.state.pose.q = s->pose[k].q;
  b.state.asleep = s->asleep[k];
  return b;
}

void fx_frame_put(fx_buffer *out, frix_frame *f, frix_frame_body *body, frix_contact_report *contact) {
  fx_pack p = fx_pack_writer(out);
  pack_head(&p, f);
  pack_bodies(&p, body, f->body_count);
  pack_contacts(&p, contact, f->contact_count);
}

void fx_frame_write(fx_buffer *out, const frix_sim *sim, const frix_step_report *report) {
  frix_context *context = out->context;
  const fx_state *s = &sim->state;
  fx_pack p = fx_pack_writer(out);
  frix_frame f = {.step = s->step_count, .time = s->time, .h = s->last_step, .energy = s->energy};
  if (report) f.report = *report;
  f.contact_count = frix_sim_contact_count(sim);
  frix_frame_body *body = FX_NEW(context, frix_frame_body, s->count);
  frix_body_id *gone = FX_NEW(context, frix_body_id, sim->model->body_count);
  frix_contact_report *contact = FX_NEW(context, frix_contact_report, f.contact_count);
  if (body && gone && contact) {
    frix_sim_hash(sim, &f.hash);
    for (int32_t k = 1; k < s->count; k++)
      if (s->prototype[k] > 0 && !unmoved(sim, k)) body[f.body_count++] = frame_body(sim, k);
    for (int32_t k = 1; k < sim->model->body_count; k++)
      if (removed(sim, k)) gone[f.gone_count++].index = (uint32_t)k;
    for (int32_t k = 0; k < f.contact_count; k++) frix_sim_contact(sim, k, &contact[k]);
    fx_frame_put(out, &f, body, contact);
    pack_gone(&p, gone, f.gone_count);
    write_amplitudes(&p, sim);
    write_robot(&p, sim);
  } else {
    out->failed = true;
  }
  fx_free(context, body);
  fx_free(context, gone);
  fx_free(context, contact);
}

/* ---- reading ---- */

static bool finish_body(const frix_model *m, frix_frame_body *b) {
  frix_body_state *s = &b->state;
  if (b->pattern.index == 0 || b->pattern.index >= (uint32_t)m->body_count || b->id.index == 0) return false;
  if (!fx_finite(s->center) || !(fabs(fx_quat_norm2(s->pose.q) - 1.0) < 1e-6) || !fx_finite(s->velocity) ||
      !fx_finite(s->spin))
    return false;
  b->pattern.generation = 1;
  s->pose = fx_body_user_pose(&m->body[b->pattern.index], (frix_pose){s->center, s->pose.q});
  return true;
}

static bool finish_contact(const frix_model *m, double h, frix_contact_report *c) {
  if (c->shape_a.index == 0 || c->shape_a.index > (uint32_t)m->shape_count || c->shape_b.index == 0 ||
      c->shape_b.index > (uint32_t)m->shape_count)
    return false;
  if (!fx_finite(c->point) || !fx_finite(c->normal) || !fx_finite(c->tangent[0]) || !fx_finite(c->impulse) ||
      !fx_finite(c->velocity) || !fx_finite(c->roll) || !isfinite(c->gap) || !isfinite(c->mu) || !isfinite(c->margin))
    return false;
  c->shape_a.generation = c->shape_b.generation = 1;
  c->tangent[1] = fx_cross(c->normal, c->tangent[0]);
  c->force = h > 0.0 ? fx_scale(1.0 / h, c->impulse) : c->impulse;
  return true;
}

static bool finish(const frix_model *m, fx_frame_store *s) {
  for (int32_t k = 0; k < s->frame.body_count; k++)
    if (!finish_body(m, &s->body[k])) return false;
  for (int32_t k = 0; k < s->frame.contact_count; k++)
    if (!finish_contact(m, s->frame.h, &s->contact[k])) return false;
  for (int32_t k = 0; k < s->frame.amplitude_count; k++)
    if (!isfinite(s->amplitude[k])) return false;
  for (int32_t k = 0; k < s->frame.gone_count; k++) {
    if (s->gone[k].index == 0 || s->gone[k].index >= (uint32_t)m->body_count) return false;
    s->gone[k].generation = 1;
  }
  return true;
}

frix_status fx_frame_read(frix_context *context, const frix_model *model, const unsigned char *bytes, size_t size,
                          fx_frame_store *s) {
  fx_pack p = fx_pack_reader(context, bytes, size);
  frix_frame *f = &s->frame;
  fx_free(context, (void *)s->finisher);
  *f = (frix_frame){.size = sizeof *f, .report = {.size = sizeof f->report}};
  pack_head(&p, f);
  s->finisher = f->report.finisher;
  f->amplitude_count = fx_softs_room(model) / 3;
  enum { BODY = 117, CONTACT = 118, GONE = 4 };
  if (f->body_count < 0 || f->contact_count < 0 || f->gone_count < 0 ||
      !fx_pack_room(&p, (uint64_t)f->body_count, BODY) || !fx_pack_room(&p, (uint64_t)f->contact_count, CONTACT) ||
      !fx_pack_room(&p, (uint64_t)f->gone_count, GONE) || !fx_pack_room(&p, (uint64_t)f->amplitude_count, 4))
    p.failed = true;
  if (!p.failed && (!grow(context, &s->body, &s->body_room, f->body_count, sizeof *s->body) ||
                    !grow(context, &s->contact, &s->contact_room, f->contact_count, sizeof *s->contact) ||
                    !grow(context, &s->gone, &s->gone_room, f->gone_count, sizeof *s->gone) ||
                    !grow(context, &s->amplitude, &s->amplitude_room, f->amplitude_count, sizeof *s->amplitude)))
    return FRIX_ERROR_MEMORY;
  if (!p.failed) {
    pack_bodies(&p, s->body, f->body_count);
    pack_contacts(&p, s->contact, f->contact_count);
    pack_gone(&p, s->gone, f->gone_count);
    pack_amplitudes(&p, s->amplitude, f->amplitude_count);
  }
  if (!read_robot(context, &p, s)) return FRIX_ERROR_MEMORY;
  bool good = !p.failed && p.at == p.end && isfinite(f->time) && isfinite(f->h) && finish(model, s);
  frix_status status = fx_pack_status(&p, good, "its numbers make no sense");
  if (status) return status;
  f->body = s->body, f->contact = s->contact, f->gone = s->gone, f->amplitude = s->amplitude;
  return FRIX_OK;
}

void fx_frame_free(frix_context *context, fx_frame_store *s) {
  void *owned[] = {s->body, s->contact, s->gone, s->amplitude, s->robot, (void *)s->finisher};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) fx_free(context, owned[k]);
  *s = (fx_frame_store){0};
}
