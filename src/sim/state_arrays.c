/* The state as arrays in place, and states of many bodies set at once.
 *
 * A body that is set alone costs one pass over all bodies, joints and contacts (energy of the ledger, coordinates of
 * joints, neighbours that wake). In bulk these passes are made once. */
#include "base/abi.h"
#include "model/builder.h"
#include "sim/sim_internal.h"

#include <frix/view.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- views ---- */

static frix_array array_of(void *data, int32_t count, int32_t width, size_t stride, size_t step) {
  return (frix_array){.data = data, .count = count, .width = width, .stride = (int32_t)stride, .step = (int32_t)step};
}

static void fill(frix_sim *sim, frix_sim_arrays *out) {
  fx_state *s = &sim->state;
  fx_joint_memory *j = s->joint;
  int32_t n = s->count, m = s->joint_count;
  size_t number = sizeof(double), pose = sizeof *s->pose, vec = sizeof *s->spin, load = sizeof *s->load;
  out->slot_count = n;
  out->joint_count = m;
  out->generation = sim->arrays_moved;
  out->alive = s->prototype;
  out->asleep = s->asleep;
  out->center = array_of(&s->pose->p, n, 3, pose, number);
  out->orientation = array_of(&s->pose->q, n, 4, pose, number);
  out->velocity = array_of(s->velocity, n, 3, vec, number);
  out->spin = array_of(s->spin, n, 3, vec, number);
  out->force = array_of(&s->load->force, n, 3, load, number);
  out->torque = array_of(&s->load->torque, n, 3, load, number);
  out->coordinate = array_of(m ? j->coordinate : NULL, m, FRIX_JOINT_AXES, sizeof *j, number);
  out->rate = array_of(m ? j->rate : NULL, m, FRIX_JOINT_AXES, sizeof *j, number);
  out->target = array_of(m ? &j->axis[0].target : NULL, m, FRIX_JOINT_AXES, sizeof *j, sizeof *j->axis);
  out->target_rate = array_of(m ? &j->axis[0].target_rate : NULL, m, FRIX_JOINT_AXES, sizeof *j, sizeof *j->axis);
}

frix_status frix_sim_view(frix_sim *sim, frix_sim_arrays *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  uint32_t size = out->size;
  if (size < offsetof(frix_sim_arrays, alive))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_view: size is not set to sizeof(frix_sim_arrays)");
  frix_sim_arrays all = {.size = size};
  sim->keep_arrays = true;
  fill(sim, &all);
  memcpy(out, &all, size < sizeof all ? size : sizeof all);
  return FRIX_OK;
}

/* ---- bulk ---- */

static frix_bulk default_bulk(void) { return (frix_bulk){.size = sizeof(frix_bulk)}; }

void frix_bulk_init(frix_bulk *out, size_t size) {
  frix_bulk all = default_bulk();
  fx_give_struct(out, size, &all, sizeof all);
}

/* Slot of body k of the list, 0 where it is to be passed over, -1 with the error text set. */
static int32_t slot_at(const frix_sim *sim, const frix_bulk *bulk, int32_t k) {
  if (bulk->id) return fx_slot_of(sim, bulk->id[k], false, "frix_sim_set_bodies");
  return sim->state.prototype[k + 1] > 0 ? k + 1 : 0;
}

static frix_vec3 vec_at(const double *x, int32_t k) { return fx_vec(x[3 * k], x[3 * k + 1], x[3 * k + 2]); }

/* What body k of the list becomes, from what it is; false where that makes no sense. */
static bool wanted(const fx_body *body, const frix_bulk *bulk, int32_t k, frix_pose *pose, frix_vec3 *velocity,
                   frix_vec3 *spin) {
  if (bulk->center) pose->p = vec_at(bulk->center, k);
  if (bulk->orientation) {
    const double *q = bulk->orientation + 4 * (size_t)k;
    pose->q = (frix_quat){q[0], q[1], q[2], q[3]};
    double n = fx_quat_norm2(pose->q);
    if (!isfinite(n) || !(n > 1e-12)) return false;
    if (n != 1.0) pose->q = fx_quat_unit(pose->q);
  }
  if (bulk->velocity) *velocity = vec_at(bulk->velocity, k);
  if (bulk->spin) *spin = vec_at(bulk->spin, k);
  if (!fx_finite(pose->p) || !fx_finite(*velocity) || !fx_finite(*spin)) return false;
  if (body->kind == FRIX_BODY_STATIC && (!fx_is_zero(*velocity) || !fx_is_zero(*spin))) return false;
  if (!body->planar) return true;
  velocity->z = spin->x = spin->y = 0.0;
  frix_pose user = fx_body_user_pose(body, *pose);
  if (!fx_flatten_pose(&user)) return false;
  *pose = fx_body_central_pose(body, user);
  return true;
}

static frix_status check(const frix_sim *sim, const frix_bulk *bulk) {
  const fx_state *s = &sim->state;
  if (sim->in_force)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_bodies: called from the force callback");
  if (bulk->count < 0 || (!bulk->id && bulk->count > s->count - 1))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_bodies: %d bodies, but the sim has %d slots",
                   (int)bulk->count, (int)s->count - 1);
  for (int32_t k = 0; k < bulk->count; k++) {
    int32_t slot = slot_at(sim, bulk, k);
    if (slot < 0) return FRIX_ERROR_INPUT;
    if (slot == 0) continue;
    frix_pose pose = s->pose[slot];
    frix_vec3 velocity = s->velocity[slot], spin = s->spin[slot];
    if (!wanted(fx_slot_body(sim, slot), bulk, k, &pose, &velocity, &spin))
      return fx_fail(
          sim->context, FRIX_ERROR_INPUT,
          "frix_sim_set_bodies: the state of body %d of the list is not finite, a velocity of a static body, "
          "or out of the plane of a planar one",
          (int)k);
  }
  return FRIX_OK;
}

/* Sleepers that lean on a body that was set (quiet < 0 marks those) wake. */
static void wake_touched(frix_sim *sim) {
  fx_state *s = &sim->state;
  for (int32_t c = 0; c < s->touching_count; c++) {
    int32_t a = s->touching[c].contact.body_a, b = s->touching[c].contact.body_b;
    bool set_a = s->quiet[a] < 0.0, set_b = s->quiet[b] < 0.0;
    if (set_a && !set_b && s->asleep[b]) fx_wake(sim, b);
    if (set_b && !set_a && s->asleep[a]) fx_wake(sim, a);
  }
}

frix_status frix_sim_set_bodies(frix_sim *sim, const frix_bulk *bulk) {
  if (!sim || !bulk) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_bulk, bulk, frix_bulk_default());
  if (bulk->size != sizeof *bulk)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_bodies: bulk does not come from frix_bulk_default()");
  frix_status status = check(sim, bulk);
  if (status != FRIX_OK) return status;
  fx_state *s = &sim->state;
  double before = s->energy.kinetic + s->energy.potential;
  for (int32_t k = 0; k < bulk->count; k++) {
    int32_t slot = slot_at(sim, bulk, k);
    if (slot == 0) continue;
    wanted(fx_slot_body(sim, slot), bulk, k, &s->pose[slot], &s->velocity[slot], &s->spin[slot]);
    fx_set_momentum(sim, slot);
    s->asleep[slot] = 0;
    s->quiet[slot] = -1.0;
  }
  if (sim->config.sleep) wake_touched(sim);
  for (int32_t k = 0; k < s->count; k++)
    if (s->quiet[k] < 0.0) s->quiet[k] = 0.0;
  fx_joints_measure(sim, false);
  sim->stamp++;
  s->energy.kinetic = fx_kinetic(sim);
  s->energy.potential = fx_potential(sim);
  s->energy.work += s->energy.kinetic + s->energy.potential - before;
  return FRIX_OK;
}
