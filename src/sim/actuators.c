/* Actuators in statics: a wrench w on one body, and the opposite one on another, of any size and sign up to a limit.
 *
 *   row 0   moves nothing, its force is the bound     row 1   u = w . v,   |r| <= bound
 *
 * the law of friction under a known normal force, with mu = 1. */
#include "sim/sim_statics.h"

#include <math.h>
#include <string.h>

typedef struct wrench {
  const fx_mover *mover; /* NULL: what it acts on does not move */
  int32_t place;         /* of the mover in the system */
  frix_vec3 force, torque;
} wrench;

static wrench wrench_on(const frix_sim *sim, const fx_system *s, frix_body_id body, frix_vec3 force, frix_vec3 torque) {
  wrench out = {.force = force, .torque = torque};
  for (int32_t k = 0; body.index && k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->slot != (int32_t)body.index || m->first < 0) continue;
    for (int32_t e = 0; e < s->mover_count; e++)
      if (s->dof[e] == m->first) out.mover = m, out.place = e;
  }
  return out;
}

/* On both bodies; the second gets the opposite at the centre of the first. */
static void find_wrenches(const frix_sim *sim, const fx_system *s, const frix_actuator *a, wrench out[2]) {
  frix_vec3 zero = {0, 0, 0}, lever = zero;
  if (a->on.index) lever = fx_sub(sim->state.pose[a->body.index].p, sim->state.pose[a->on.index].p);
  out[0] = wrench_on(sim, s, a->body, a->force, a->torque);
  out[1] = wrench_on(sim, s, a->on, fx_sub(zero, a->force), fx_sub(zero, fx_add(a->torque, fx_cross(lever, a->force))));
  if (out[0].mover && out[1].mover && out[1].place < out[0].place) {
    wrench keep = out[0];
    out[0] = out[1], out[1] = keep;
  }
}

static frix_status check(const frix_sim *sim, const frix_actuator *actuator, int32_t count) {
  for (int32_t k = 0; k < count; k++) {
    const frix_actuator *a = &actuator[k];
    if (fx_slot_of(sim, a->body, false, "frix_sim_hold") < 0) return FRIX_ERROR_INPUT;
    if (a->on.index && fx_slot_of(sim, a->on, false, "frix_sim_hold") < 0) return FRIX_ERROR_INPUT;
    bool good = fx_finite(a->force) && fx_finite(a->torque) && a->limit > 0 && isfinite(a->limit) &&
                fx_norm2(a->force) + fx_norm2(a->torque) > 0 && a->body.index != a->on.index;
    if (!good)
      return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_hold: actuator %d needs a direction and a limit", k);
  }
  return FRIX_OK;
}

static void put_block(const wrench *w, double *x) {
  double all[6] = {w->force.x, w->force.y, w->force.z, w->torque.x, w->torque.y, w->torque.z};
  int32_t dof = w->mover->dof;
  if (dof == 3) all[2] = w->torque.z;
  memset(x, 0, (size_t)(2 * dof) * sizeof *x);
  memcpy(x + dof, all, (size_t)dof * sizeof *x);
}

typedef struct arrays {
  frix_contact *contact;
  int32_t *row, *start, *index, *tied;
  size_t *offset;
  double *x, *given;
  uint8_t *kind, *paid;
} arrays;

static bool take(fx_arena *arena, const fx_system *s, int32_t count, arrays *n) {
  size_t contacts = (size_t)s->contact_count + (size_t)count, rows = (size_t)s->row_count + 2 * (size_t)count;
  size_t blocks = (size_t)s->Ht.start[s->contact_count] + 2 * (size_t)count, values = 0;
  for (int32_t k = 0; k < s->Ht.start[s->contact_count]; k++)
    if (s->Ht.offset[k + 1] > values) values = s->Ht.offset[k + 1];
  n->contact = FX_TAKE(arena, frix_contact, contacts), n->row = FX_TAKE(arena, int32_t, contacts + 1);
  n->start = FX_TAKE(arena, int32_t, contacts + 1), n->index = FX_TAKE(arena, int32_t, blocks);
  n->tied = FX_TAKE(arena, int32_t, contacts), n->offset = FX_TAKE(arena, size_t, blocks + 1);
  n->x = FX_TAKE(arena, double, values + 24 * (size_t)count), n->given = FX_TAKE(arena, double, rows);
  n->kind = FX_TAKE(arena, uint8_t, contacts), n->paid = FX_TAKE(arena, uint8_t, contacts);
  if (!n->contact || !n->row || !n->start || !n->index || !n->tied || !n->offset || !n->x || !n->given || !n->kind ||
      !n->paid)
    return false;
  memcpy(n->contact, s->contact, (size_t)s->contact_count * sizeof *n->contact);
  memcpy(n->row, s->row, ((size_t)s->contact_count + 1) * sizeof *n->row);
  memcpy(n->start, s->Ht.start, ((size_t)s->contact_count + 1) * sizeof *n->start);
  memcpy(n->index, s->Ht.index, (size_t)s->Ht.start[s->contact_count] * sizeof *n->index);
  memcpy(n->offset, s->Ht.offset, ((size_t)s->Ht.start[s->contact_count] + 1) * sizeof *n->offset);
  if (values) memcpy(n->x, s->Ht.x, values * sizeof *n->x);
  return true;
}

frix_status fx_statics_add_actuators(const frix_sim *sim, const frix_actuator *actuator, int32_t count, fx_arena *arena,
                                     fx_system *s, fx_statics *t, int32_t *first) {
  arrays n;
  frix_status status = check(sim, actuator, count);
  if (status != FRIX_OK) return status;
  if (!take(arena, s, count, &n)) return FRIX_ERROR_MEMORY;
  *first = s->contact_count;
  memcpy(n.kind, t->kind, (size_t)s->contact_count), memcpy(n.tied, t->tied, (size_t)s->contact_count * sizeof *n.tied);
  memcpy(n.given, t->given, (size_t)s->row_count * sizeof *n.given);
  int32_t at = n.start[s->contact_count];
  size_t value = n.offset[at];
  for (int32_t k = 0; k < count; k++) {
    int32_t i = s->contact_count + k, row = n.row[i];
    wrench w[2];
    find_wrenches(sim, s, &actuator[k], w);
    n.contact[i] = (frix_contact){.cone = FRIX_CONE_PLANAR, .dim = 2, .mu = 1};
    for (int e = 0; e < 2; e++) {
      if (!w[e].mover) continue;
      put_block(&w[e], n.x + value);
      n.index[at] = w[e].place, n.offset[at++] = value;
      value += (size_t)(2 * w[e].mover->dof);
    }
    n.offset[at] = value, n.start[i + 1] = at, n.row[i + 1] = row + 2;
    n.kind[i] = at > n.start[i] ? FX_STATICS_BOUND : FX_STATICS_OPEN;
    n.tied[i] = -1, n.paid[i] = n.kind[i] == FX_STATICS_BOUND, n.given[row] = sim->h * actuator[k].limit;
  }
  s->contact_count += count, s->row_count += 2 * count;
  s->contact = n.contact, s->row = n.row;
  s->Ht.row_blocks = s->contact_count, s->Ht.start = n.start, s->Ht.index = n.index, s->Ht.offset = n.offset;
  s->Ht.x = n.x, s->Ht.row = n.row;
  t->kind = n.kind, t->tied = n.tied, t->given = n.given, t->paid = n.paid;
  fx_statics_arms(t);
  return FRIX_OK;
}
