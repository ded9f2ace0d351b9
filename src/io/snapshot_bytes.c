/* Snapshots as bytes: every field of the state in turn, checked on the way back against the model. A snapshot on its
 * own begins with a hash of its model; the checkpoint of a file does not, for its model stands in the same file. */
#include "io/trajectory_internal.h"

#include "sim/mechanism.h"
#include "sim/snapshot.h"

#include <string.h>

enum { VERSION = 4, ROBOT_VERSION = 5, ALONE_VERSION = 5 }; /* with the numbers of a robot */

/* A new field of the state is added here, to the hash (sim/snapshot.c) and to docs/formats.md. */
_Static_assert(sizeof(void *) != 8 || (sizeof(fx_state) == 304 && sizeof(fx_touching) == 384 &&
                                       sizeof(fx_joint_memory) == 616 && sizeof(fx_load) == 200),
               "the state has changed: so must its bytes");

/* Mostly there is none. */
static void pack_load(fx_pack *p, fx_load *load) {
  bool given = !fx_pack_reads(p) && memcmp(load, &(fx_load){0}, sizeof *load) != 0;
  fx_pack_bool(p, &given);
  if (!given) return;
  fx_pack_vec(p, &load->force);
  fx_pack_vec(p, &load->torque);
  fx_pack_sym(p, &load->stiffness);
  fx_pack_sym(p, &load->damping);
  fx_pack_sym(p, &load->torque_damping);
  fx_pack_bool(p, &load->slope);
}

static void pack_joint(fx_pack *p, fx_joint_memory *j) {
  for (int k = 0; k < FRIX_JOINT_AXES; k++) fx_pack_axis(p, &j->axis[k]);
  fx_pack_reals(p, j->coordinate, FRIX_JOINT_AXES);
  fx_pack_reals(p, j->rate, FRIX_JOINT_AXES);
  fx_pack_reals(p, &j->part[0][0][0], sizeof j->part / sizeof(double));
  fx_pack_reals(p, j->lambda, FRIX_MAX_DIM);
  fx_pack_vec(p, &j->force);
  fx_pack_vec(p, &j->torque);
  fx_pack_f64(p, &j->error);
}

/* Without its places on soft surfaces and its gap ahead, which belong to the step that found them. */
static void pack_contact(fx_pack *p, fx_contact *c) {
  fx_pack_u64(p, &c->id);
  fx_pack_u64(p, &c->feature);
  fx_pack_i32(p, &c->body_a);
  fx_pack_i32(p, &c->body_b);
  fx_pack_i32(p, &c->shape_a);
  fx_pack_i32(p, &c->shape_b);
  fx_pack_vec(p, &c->point_a);
  fx_pack_vec(p, &c->point_b);
  fx_pack_vec(p, &c->normal);
  fx_pack_vec(p, &c->tangent[0]);
  fx_pack_vec(p, &c->tangent[1]);
  fx_pack_f64(p, &c->gap);
  fx_pack_vec(p, &c->rim);
  fx_pack_bool(p, &c->planar);
}

static void pack_touching(fx_pack *p, fx_touching *t) {
  int phase = (int)t->phase, state = (int)t->state;
  pack_contact(p, &t->contact);
  fx_pack_vec(p, &t->impulse);
  fx_pack_vec(p, &t->roll);
  fx_pack_reals(p, t->row, sizeof t->row / sizeof *t->row);
  fx_pack_vec(p, &t->velocity);
  fx_pack_f64(p, &t->spin_impulse);
  fx_pack_f64(p, &t->mu);
  fx_pack_f64(p, &t->margin);
  fx_pack_f64(p, &t->stiffness);
  fx_pack_f64(p, &t->natural);
  fx_pack_choice(p, &phase, FRIX_CONTACT_END + 1);
  fx_pack_choice(p, &state, FRIX_CONTACT_SLIP + 1);
  t->phase = (frix_contact_phase)phase, t->state = (frix_contact_state)state;
  fx_pack_u32(p, &t->generation_a);
  fx_pack_u32(p, &t->generation_b);
  fx_pack_bool(p, &t->touches);
}

static void pack_slot(fx_pack *p, fx_state *s, int32_t k) {
  fx_pack_i32(p, &s->prototype[k]);
  fx_pack_u32(p, &s->generation[k]);
  fx_pack_pose(p, &s->pose[k]);
  fx_pack_vec(p, &s->velocity[k]);
  fx_pack_vec(p, &s->spin[k]);
  fx_pack_vec(p, &s->momentum[k]);
  pack_load(p, &s->load[k]);
  fx_pack_u8(p, &s->asleep[k]);
  fx_pack_f64(p, &s->quiet[k]);
}

void fx_pack_energy(fx_pack *p, frix_energy *e) {
  double *part[] = {&e->start,   &e->kinetic, &e->potential, &e->work,   &e->friction, &e->impact,
                    &e->damping, &e->joint,   &e->contact,   &e->scheme, &e->error};
  for (size_t k = 0; k < sizeof part / sizeof *part; k++) fx_pack_f64(p, part[k]);
}

static void pack_head(fx_pack *p, fx_state *s) {
  fx_pack_f64(p, &s->time);
  fx_pack_f64(p, &s->last_step);
  fx_pack_i64(p, &s->step_count);
  fx_pack_i64(p, &s->polish_at);
  fx_pack_i64(p, &s->polish_wait);
  fx_pack_i64(p, &s->polish_again);
  fx_pack_vec(p, &s->gravity);
  fx_pack_energy(p, &s->energy);
  fx_pack_i32(p, &s->count);
  fx_pack_i32(p, &s->joint_count);
  fx_pack_i32(p, &s->touching_count);
  fx_pack_i32(p, &s->ended_count);
}

static void pack_lists(fx_pack *p, fx_state *s) {
  for (int32_t k = 0; k < s->count && !p->failed; k++) pack_slot(p, s, k);
  for (int32_t k = 0; k < s->joint_count && !p->failed; k++) pack_joint(p, &s->joint[k]);
  for (int32_t k = 0; k < s->touching_count + s->ended_count && !p->failed; k++) pack_touching(p, &s->touching[k]);
  if (s->robot_count && !p->failed) fx_pack_reals(p, s->robot, (size_t)s->robot_count);
}

frix_status fx_state_encode(const fx_state *state, fx_buffer *out) {
  fx_pack p = fx_pack_writer(out);
  fx_state s = *state;                           /* its arrays are only read */
  if (s.trees && (s.stale || !s.trees->first)) { /* poses and velocities say it all */
    int32_t trees = fx_layout_numbers(s.trees);
    if (trees) s.robot += trees, s.robot_count -= trees;
  }
  int32_t version = s.robot_count ? ROBOT_VERSION : VERSION;
  fx_pack_i32(&p, &version);
  pack_head(&p, &s);
  if (version == ROBOT_VERSION) fx_pack_i32(&p, &s.robot_count);
  pack_lists(&p, &s);
  return fx_buffer_status(out);
}

/* FNV-1a over the model's bytes; equal models have equal bytes. */
static frix_status model_hash(frix_context *context, const frix_model *model, uint64_t *out) {
  unsigned char *bytes = NULL;
  size_t size = 0;
  frix_status status = frix_model_encode(context, model, &bytes, &size);
  uint64_t hash = 14695981039346656037u;
  for (size_t k = 0; k < size; k++) hash = (hash ^ bytes[k]) * 1099511628211u;
  frix_bytes_free(context, bytes);
  *out = hash;
  return status;
}

/* Belts and sensors, in the order of shapes. */
static void pack_marks(fx_pack *p, fx_belt *belt, uint8_t *sensor, int32_t count) {
  for (int32_t k = 0; belt && k < count && !p->failed; k++) {
    fx_pack_vec(p, &belt[k].flow);
    fx_pack_vec(p, &belt[k].turn);
  }
  for (int32_t k = 0; sensor && k < count && !p->failed; k++) fx_pack_u8(p, &sensor[k]);
}

frix_status frix_snapshot_encode(frix_context *context, const frix_snapshot *snapshot, unsigned char **out,
                                 size_t *size) {
  if (!context || !snapshot || !out || !size) return FRIX_ERROR_INPUT;
  *out = NULL;
  *size = 0;
  uint64_t hash = 0;
  frix_status status = model_hash(context, snapshot->model, &hash);
  if (status) return status;
  fx_buffer buffer;
  fx_buffer_init(&buffer, context);
  fx_pack p = fx_pack_writer(&buffer);
  int32_t version = ALONE_VERSION;
  fx_pack_i32(&p, &version);
  fx_pack_u64(&p, &hash);
  bool marks[3] = {snapshot->marked, snapshot->belt, snapshot->sensor};
  for (int k = 0; k < 3; k++) fx_pack_bool(&p, &marks[k]);
  pack_marks(&p, snapshot->belt, snapshot->sensor, snapshot->model->shape_count);
  fx_state_encode(&snapshot->state, &buffer);
  return fx_bytes_give(&buffer, out, size);
}

/* ---- reading ---- */

/* Counts that the model allows and the bytes can hold. */
static bool good_counts(const fx_pack *p, const fx_state *s, const frix_model *m) {
  enum { SLOT = 140, JOINT = 400, TOUCHING = 315 }; /* bytes, at least */
  uint64_t left = (uint64_t)(p->end - p->at);
  if (s->robot_count < 0 || (uint64_t)s->robot_count > left / sizeof(double)) return false;
  if (s->count < m->body_count || s->joint_count != m->joint_count || s->touching_count < 0 || s->ended_count < 0)
    return false;
  uint64_t touching = (uint64_t)s->touching_count + (uint64_t)s->ended_count;
  return touching <= INT32_MAX && (uint64_t)s->count <= left / SLOT && (uint64_t)s->joint_count <= left / JOINT &&
         touching <= left / TOUCHING;
}

static bool good_head(const fx_state *s) {
  return isfinite(s->time) && s->last_step >= 0.0 && isfinite(s->last_step) && s->step_count >= 0 &&
         s->step_count < INT64_MAX / 2 && s->polish_at >= 0 && s->polish_at < INT64_MAX / 2 && s->polish_wait >= 0 &&
         s->polish_wait <= INT32_MAX && s->polish_again >= 0 && s->polish_again <= 1 && fx_finite(s->gravity);
}

static bool good_slot(const fx_state *s, const frix_model *m, int32_t k) {
  int32_t prototype = s->prototype[k];
  if (k == 0 ? prototype != 0 : prototype == 0) return false;
  if (prototype < -1 || prototype >= m->body_count || s->asleep[k] > 1) return false;
  if (prototype < 0) return true;
  const fx_load *load = &s->load[k];
  return fx_finite(s->pose[k].p) && fabs(fx_quat_norm2(s->pose[k].q) - 1.0) < 1e-6 && fx_finite(s->velocity[k]) &&
         fx_finite(s->spin[k]) && fx_finite(s->momentum[k]) && fx_finite(load->force) && fx_finite(load->torque) &&
         !isnan(s->quiet[k]);
}

static bool good_touching(const fx_state *s, const frix_model *m, const fx_touching *t) {
  const fx_contact *c = &t->contact;
  return c->body_a >= 0 && c->body_a < c->body_b && c->body_b < s->count && c->shape_a >= 0 &&
         c->shape_a < m->shape_count && c->shape_b >= 0 && c->shape_b < m->shape_count && fx_finite(t->impulse) &&
         fx_finite(t->roll) && fx_finite(c->normal) && fx_finite(c->rim);
}

static bool good_state(const fx_state *s, const frix_model *m) {
  for (int32_t k = 0; k < s->count; k++)
    if (!good_slot(s, m, k)) return false;
  for (int32_t k = 0; k < s->robot_count; k++)
    if (!isfinite(s->robot[k])) return false;
  for (int32_t k = 0; k < s->joint_count; k++)
    for (int axis = 0; axis < FRIX_JOINT_AXES; axis++)
      if (!isfinite(s->joint[k].coordinate[axis]) || !isfinite(s->joint[k].rate[axis])) return false;
  for (int32_t k = 0; k < s->touching_count + s->ended_count; k++)
    if (!good_touching(s, m, &s->touching[k])) return false;
  return true;
}

frix_status frix_snapshot_decode(frix_context *context, const frix_model *model, const unsigned char *bytes,
                                 size_t size, frix_snapshot **out) {
  if (!context || !model || (!bytes && size) || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  fx_pack p = fx_pack_reader(context, bytes, size);
  int32_t version = 0;
  uint64_t told = 0, hash = 0;
  fx_pack_i32(&p, &version);
  fx_pack_u64(&p, &told);
  if (p.failed || version != ALONE_VERSION)
    return fx_fail(context, FRIX_ERROR_FORMAT, "snapshot: its bytes are damaged, or of another version");
  frix_status status = model_hash(context, model, &hash);
  if (status) return status;
  if (hash != told) return fx_fail(context, FRIX_ERROR_INPUT, "snapshot: was taken with another model");
  bool marks[3] = {0};
  for (int k = 0; k < 3; k++) fx_pack_bool(&p, &marks[k]);
  fx_belt *belt = marks[1] ? FX_NEW(context, fx_belt, model->shape_count) : NULL;
  uint8_t *sensor = marks[2] ? FX_NEW(context, uint8_t, model->shape_count) : NULL;
  bool room = (belt || !marks[1]) && (sensor || !marks[2]);
  if (room) pack_marks(&p, belt, sensor, model->shape_count);
  for (int32_t k = 0; belt && k < model->shape_count; k++)
    p.failed |= !fx_finite(belt[k].flow) || !fx_finite(belt[k].turn);
  status = !room      ? FRIX_ERROR_MEMORY
           : p.failed ? fx_fail(context, FRIX_ERROR_FORMAT, "snapshot: its bytes are damaged")
                      : fx_state_decode(context, model, p.at, (size_t)(p.end - p.at), out);
  if (status == FRIX_OK) {
    (*out)->marked = marks[0], (*out)->belt = belt, (*out)->sensor = sensor;
    return FRIX_OK;
  }
  fx_free(context, belt);
  fx_free(context, sensor);
  return status;
}

frix_status fx_state_decode(frix_context *context, const frix_model *model, const unsigned char *bytes, size_t size,
                            frix_snapshot **out) {
  *out = NULL;
  fx_pack p = fx_pack_reader(context, bytes, size);
  fx_state s = {0};
  int32_t version = 0;
  fx_pack_i32(&p, &version);
  pack_head(&p, &s);
  if (version == ROBOT_VERSION) fx_pack_i32(&p, &s.robot_count);
  if (!p.failed && version > 0 && version < VERSION)
    return fx_fail(context, FRIX_ERROR_FORMAT, "snapshot: version %d, of an older frix; this one reads %d",
                   (int)version, (int)VERSION);
  if (p.failed || (version != VERSION && version != ROBOT_VERSION) || !good_head(&s))
    return fx_fail(context, FRIX_ERROR_FORMAT, "snapshot: its bytes are damaged");
  if (!good_counts(&p, &s, model)) return fx_fail(context, FRIX_ERROR_FORMAT, "snapshot: damaged, or of another model");
  frix_snapshot *snapshot = fx_snapshot_new(context, model, &s);
  if (!snapshot) return FRIX_ERROR_MEMORY;
  pack_lists(&p, &snapshot->state);
  if (p.failed || p.at != p.end || !good_state(&snapshot->state, model)) {
    frix_snapshot_destroy(snapshot);
    return fx_fail(context, FRIX_ERROR_FORMAT, "snapshot: damaged, or of another model");
  }
  *out = snapshot;
  return FRIX_OK;
}
