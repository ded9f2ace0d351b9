/* Snapshots: the state, bit by bit, and its hash.
 *
 * The hash (FNV-1a over 64-bit words) walks the same fields one by one, so padding never counts. */
#include "sim/snapshot.h"

#include "sim/hooks_internal.h"
#include "sim/mechanism.h"

#include <string.h>

/* The arrays of a state, with their element sizes and counts. */
typedef struct field {
  void **array;
  size_t size, count;
} field;

enum { FIELDS = 12 };

static void list_fields(fx_state *s, field out[FIELDS]) {
  size_t n = (size_t)s->count;
  const field fields[FIELDS] = {
      {(void **)&s->prototype, sizeof *s->prototype, n},
      {(void **)&s->generation, sizeof *s->generation, n},
      {(void **)&s->pose, sizeof *s->pose, n},
      {(void **)&s->velocity, sizeof *s->velocity, n},
      {(void **)&s->spin, sizeof *s->spin, n},
      {(void **)&s->momentum, sizeof *s->momentum, n},
      {(void **)&s->load, sizeof *s->load, n},
      {(void **)&s->asleep, sizeof *s->asleep, n},
      {(void **)&s->quiet, sizeof *s->quiet, n},
      {(void **)&s->joint, sizeof *s->joint, (size_t)s->joint_count},
      {(void **)&s->touching, sizeof *s->touching, (size_t)(s->touching_count + s->ended_count)},
      {(void **)&s->robot, sizeof *s->robot, (size_t)s->robot_count},
  };
  memcpy(out, fields, sizeof fields);
}

void frix_snapshot_destroy(frix_snapshot *snapshot) {
  if (!snapshot) return;
  field fields[FIELDS];
  list_fields(&snapshot->state, fields);
  for (int k = 0; k < FIELDS; k++) fx_free(snapshot->context, *fields[k].array);
  fx_layout_release(snapshot->state.trees);
  fx_free(snapshot->context, snapshot->belt);
  fx_free(snapshot->context, snapshot->sensor);
  if (snapshot->model != snapshot->root) frix_model_destroy((frix_model *)snapshot->model);
  fx_free(snapshot->context, snapshot);
}

frix_snapshot *fx_snapshot_new(frix_context *context, const frix_model *model, const fx_state *like) {
  frix_snapshot *snapshot = FX_NEW(context, frix_snapshot, 1);
  if (!snapshot) return NULL;
  snapshot->context = context;
  snapshot->model = snapshot->root = model;
  snapshot->state = *like;
  fx_layout_hold(snapshot->state.trees);
  field to[FIELDS];
  list_fields(&snapshot->state, to);
  bool failed = false;
  for (int k = 0; k < FIELDS; k++) {
    *to[k].array = failed ? NULL : fx_alloc(context, to[k].count, to[k].size);
    failed |= !*to[k].array;
  }
  if (!failed) return snapshot;
  frix_snapshot_destroy(snapshot);
  return NULL;
}

frix_status frix_sim_save(const frix_sim *sim, frix_snapshot **out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (sim->in_force) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_save: called from the force callback");
  frix_snapshot *snapshot = fx_snapshot_new(sim->context, sim->model, &sim->state);
  if (!snapshot) return FRIX_ERROR_MEMORY;
  snapshot->root = sim->root;
  snapshot->marked = true;
  if (fx_hooks_save(sim, &snapshot->belt, &snapshot->sensor) != FRIX_OK) {
    snapshot->root = snapshot->model;
    frix_snapshot_destroy(snapshot);
    return FRIX_ERROR_MEMORY;
  }
  if (sim->model != sim->root) fx_model_hold(sim->model);
  fx_state state = sim->state;
  field to[FIELDS], from[FIELDS];
  list_fields(&snapshot->state, to);
  list_fields(&state, from);
  for (int k = 0; k < FIELDS; k++)
    if (to[k].count) memcpy(*to[k].array, *from[k].array, to[k].count * to[k].size);
  *out = snapshot;
  return FRIX_OK;
}

/* The sim was changed since, or the snapshot was taken after a change. */
static frix_status take_model_of(frix_sim *sim, const frix_snapshot *snapshot) {
  fx_joint_memory *memory = FX_NEW(sim->context, fx_joint_memory, snapshot->state.joint_count);
  frix_status status = memory ? fx_sim_take_model(sim, snapshot->model, memory) : FRIX_ERROR_MEMORY;
  if (status != FRIX_OK) fx_free(sim->context, memory);
  return status;
}

frix_status frix_sim_restore(frix_sim *sim, const frix_snapshot *snapshot) {
  if (!sim || !snapshot) return FRIX_ERROR_INPUT;
  if (sim->in_force || (snapshot->model != sim->model && snapshot->root != sim->root))
    return fx_fail(sim->context, FRIX_ERROR_INPUT,
                   "frix_sim_restore: a snapshot of another model, or called from the force callback");
  frix_status status = fx_sim_reserve(sim, snapshot->state.count);
  if (status == FRIX_OK)
    status = fx_sim_reserve_touching(sim, snapshot->state.touching_count + snapshot->state.ended_count);
  if (status == FRIX_OK && snapshot->model != sim->model) status = take_model_of(sim, snapshot);
  bool stale = sim->state.stale;
  if (status == FRIX_OK) status = fx_mechanism_take(sim, &snapshot->state);
  stale = status == FRIX_OK ? snapshot->state.stale || sim->state.stale : stale;
  if (status == FRIX_OK && snapshot->marked) status = fx_hooks_restore(sim, snapshot->belt, snapshot->sensor);
  if (status != FRIX_OK) return status;
  fx_state kept = sim->state, given = snapshot->state;
  sim->state = given;
  sim->state.prototype = kept.prototype, sim->state.generation = kept.generation, sim->state.pose = kept.pose;
  sim->state.momentum = kept.momentum, sim->state.velocity = kept.velocity, sim->state.spin = kept.spin,
  sim->state.load = kept.load;
  sim->state.asleep = kept.asleep, sim->state.quiet = kept.quiet, sim->state.joint = kept.joint;
  sim->state.touching = kept.touching;
  sim->state.robot = kept.robot, sim->state.robot_count = kept.robot_count;
  sim->state.trees = kept.trees, sim->state.stale = stale;
  field to[FIELDS], from[FIELDS];
  list_fields(&sim->state, to);
  list_fields(&given, from);
  for (int k = 0; k < FIELDS; k++)
    if (to[k].count) memcpy(*to[k].array, *from[k].array, to[k].count * to[k].size);
  if (sim->mechanism) fx_mechanism_evaluate(sim);
  sim->problem = (frix_problem){0}; /* the last step is another's */
  sim->stamp++;
  fx_contacts_index(sim);
  return FRIX_OK;
}

/* ---- hash ---- */

static void mix(uint64_t *hash, uint64_t word) {
  for (int k = 0; k < 8; k++, word >>= 8) *hash = (*hash ^ (word & 0xff)) * 1099511628211u;
}

static void mix_real(uint64_t *hash, double x) {
  uint64_t word;
  memcpy(&word, &x, sizeof word);
  mix(hash, word);
}

static void mix_reals(uint64_t *hash, const double *x, size_t count) {
  for (size_t k = 0; k < count; k++) mix_real(hash, x[k]);
}

static void mix_vec(uint64_t *hash, frix_vec3 v) {
  double x[3] = {v.x, v.y, v.z};
  mix_reals(hash, x, 3);
}

static void mix_slot(uint64_t *hash, const fx_state *s, int32_t k) {
  mix(hash, (uint64_t)(uint32_t)s->prototype[k] << 32 | s->generation[k]);
  if (s->prototype[k] < 0) return;
  const frix_quat q = s->pose[k].q;
  double turn[4] = {q.w, q.x, q.y, q.z};
  mix_vec(hash, s->pose[k].p);
  mix_reals(hash, turn, 4);
  mix_vec(hash, s->velocity[k]);
  mix_vec(hash, s->spin[k]);
  mix_vec(hash, s->momentum[k]);
  mix_vec(hash, s->load[k].force);
  mix_vec(hash, s->load[k].torque);
  mix(hash, s->asleep[k]);
  mix_real(hash, s->quiet[k]);
}

frix_status frix_sim_hash(const frix_sim *sim, uint64_t *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  const fx_state *s = &sim->state;
  uint64_t hash = 14695981039346656037u;
  mix_real(&hash, s->time);
  mix_real(&hash, s->last_step);
  mix(&hash, (uint64_t)s->step_count);
  mix(&hash, (uint64_t)(s->polish_at ^ s->polish_again << 32 ^ s->polish_wait << 40));
  mix_vec(&hash, s->gravity);
  for (int32_t k = 1; k < s->count; k++) mix_slot(&hash, s, k);
  for (int32_t k = 0; k < s->joint_count; k++) {
    mix_reals(&hash, s->joint[k].coordinate, FRIX_JOINT_AXES);
    mix_reals(&hash, s->joint[k].lambda, FRIX_MAX_DIM);
  }
  for (int32_t k = 0; k < s->touching_count; k++) {
    mix(&hash, s->touching[k].contact.id);
    if (fx_norm2(s->touching[k].contact.rim) > 0.0) mix_vec(&hash, s->touching[k].contact.rim);
    mix_vec(&hash, s->touching[k].impulse);
    mix_vec(&hash, s->touching[k].roll);
    mix_reals(&hash, s->touching[k].row, 5);
    mix_real(&hash, s->touching[k].spin_impulse);
    if (s->touching[k].stiffness > 0.0) mix_real(&hash, s->touching[k].natural);
  }
  mix_reals(&hash, s->robot, (size_t)s->robot_count);
  *out = hash;
  return FRIX_OK;
}
