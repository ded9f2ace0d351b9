/* Belts, sensors, filters.
 *
 * A belt adds n x (slip x n) of its surface to the velocity of a contact: u_T = J v + slip, and its spin about n to
 * that of drilling friction: drives of the rows like those of a kinematic body, so that the ledger books what it does
 * as work. */
#include "base/abi.h"
#include "sim/hooks_internal.h"

#include <math.h>
#include <string.h>

static frix_contact_hooks default_contact_hooks(void) {
  return (frix_contact_hooks){.size = sizeof(frix_contact_hooks)};
}

void frix_contact_hooks_init(frix_contact_hooks *out, size_t size) {
  frix_contact_hooks all = default_contact_hooks();
  fx_give_struct(out, size, &all, sizeof all);
}

/* Overlaps that sensors saw, with places in another model; those of removed shapes go. */
static void move_sensed(fx_hooks *h, const frix_model *from, const frix_model *to) {
  for (int list = 0; list < 2; list++) {
    int32_t kept = 0;
    for (int32_t k = 0; k < h->sensed_count[list]; k++) {
      fx_sensed one = h->sensed[list][k];
      one.sensor = fx_shape_place(from, to, one.sensor), one.shape = fx_shape_place(from, to, one.shape);
      if (one.sensor >= 0 && one.shape >= 0) h->sensed[list][kept++] = one;
    }
    h->sensed_count[list] = kept;
  }
}

frix_status fx_hooks_move(frix_sim *sim, const frix_model *from, const frix_model *to) {
  fx_hooks *h = sim->hooks;
  if (!h) return FRIX_OK;
  fx_belt *belt = h->belt ? FX_NEW(sim->context, fx_belt, to->shape_count) : NULL;
  uint8_t *sensor = h->sensor ? FX_NEW(sim->context, uint8_t, to->shape_count) : NULL;
  if ((h->belt && !belt) || (h->sensor && !sensor)) {
    fx_free(sim->context, belt);
    fx_free(sim->context, sensor);
    return FRIX_ERROR_MEMORY;
  }
  for (int32_t k = 0; k < from->shape_count; k++) {
    int32_t place = fx_shape_place(from, to, k);
    if (place >= 0 && belt) belt[place] = h->belt[k];
    if (place >= 0 && sensor) sensor[place] = h->sensor[k];
  }
  fx_free(sim->context, h->belt);
  fx_free(sim->context, h->sensor);
  h->belt = belt, h->sensor = sensor;
  move_sensed(h, from, to);
  return FRIX_OK;
}

void fx_hooks_free(frix_sim *sim) {
  fx_hooks *h = sim->hooks;
  if (!h) return;
  void *owned[] = {h->belt, h->sensor, h->sensed[0], h->sensed[1], h};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) fx_free(sim->context, owned[k]);
}

/* Made when first needed; NULL: no memory. */
static fx_hooks *hooks_of(frix_sim *sim) {
  if (!sim->hooks && (sim->hooks = FX_NEW(sim->context, fx_hooks, 1))) sim->hooks->sensed_step = -1;
  return sim->hooks;
}

frix_status frix_sim_set_hooks(frix_sim *sim, const frix_contact_hooks *hooks) {
  if (!sim) return FRIX_ERROR_INPUT;
  if (sim->in_force) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_hooks: called from a callback");
  FX_WHOLE(frix_contact_hooks, hooks, frix_contact_hooks_default());
  if (hooks && hooks->size != sizeof *hooks)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_hooks: not from frix_contact_hooks_default()");
  fx_hooks *h = hooks_of(sim);
  if (!h) return FRIX_ERROR_MEMORY;
  h->user = hooks ? *hooks : frix_contact_hooks_default();
  return FRIX_OK;
}

/* A copy of a list by shape; NULL stays NULL. False: no memory. */
static bool copy_list(const frix_sim *sim, const void *from, size_t size, void *out) {
  void *copy = from ? fx_alloc(sim->context, (size_t)sim->model->shape_count, size) : NULL;
  if (copy) memcpy(copy, from, (size_t)sim->model->shape_count * size);
  *(void **)out = copy;
  return copy || !from;
}

frix_status fx_hooks_save(const frix_sim *sim, fx_belt **belt, uint8_t **sensor) {
  const fx_hooks *h = sim->hooks;
  bool good = copy_list(sim, h ? h->belt : NULL, sizeof **belt, belt);
  good = copy_list(sim, h ? h->sensor : NULL, sizeof **sensor, sensor) && good;
  return good ? FRIX_OK : FRIX_ERROR_MEMORY;
}

frix_status fx_hooks_restore(frix_sim *sim, const fx_belt *belt, const uint8_t *sensor) {
  fx_belt *own_belt;
  uint8_t *own_sensor;
  if (!sim->hooks && !belt && !sensor) return FRIX_OK;
  fx_hooks *h = hooks_of(sim);
  bool good = copy_list(sim, belt, sizeof *belt, &own_belt);
  good = copy_list(sim, sensor, sizeof *sensor, &own_sensor) && good && h;
  if (good) {
    fx_free(sim->context, h->belt);
    fx_free(sim->context, h->sensor);
    h->belt = own_belt, h->sensor = own_sensor;
    return FRIX_OK;
  }
  fx_free(sim->context, own_belt);
  fx_free(sim->context, own_sensor);
  return FRIX_ERROR_MEMORY;
}

/* Place of a shape in the model, -1 with the error text set. */
static int32_t shape_of(const frix_sim *sim, frix_shape_id id, const char *call) {
  const frix_model *m = sim->model;
  if (!sim->in_force && id.generation == 1 && id.index > 0 && id.index <= (uint32_t)m->shape_id_count &&
      m->shape_of_id[id.index - 1] >= 0)
    return sim->model->shape_of_id[id.index - 1];
  fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: no such shape, or called from a callback", call);
  return -1;
}

static void wake_all(frix_sim *sim) {
  for (int32_t k = 1; k < sim->state.count; k++) fx_wake(sim, k);
}

frix_status frix_sim_set_belt(frix_sim *sim, frix_shape_id shape, frix_vec3 velocity) {
  if (!sim) return FRIX_ERROR_INPUT;
  int32_t k = shape_of(sim, shape, "frix_sim_set_belt");
  if (k < 0) return FRIX_ERROR_INPUT;
  if (!fx_finite(velocity)) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_set_belt: not finite");
  fx_hooks *h = hooks_of(sim);
  if (!h || (!h->belt && !(h->belt = FX_NEW(sim->context, fx_belt, sim->model->shape_count)))) return FRIX_ERROR_MEMORY;
  h->belt[k] = (fx_belt){velocity, {0.0, 0.0, 0.0}};
  wake_all(sim);
  return FRIX_OK;
}

frix_status fx_hooks_begin(frix_sim *sim) {
  const frix_model *m = sim->model;
  bool any = false;
  for (int32_t k = 0; m->robot.coat && k < m->shape_count; k++) {
    const fx_coat *c = &m->robot.coat[m->shape[k].id];
    any |= !fx_is_zero(c->flow) || !fx_is_zero(c->turn);
  }
  if (!any) return FRIX_OK;
  fx_hooks *h = hooks_of(sim);
  if (!h || !(h->belt = FX_NEW(sim->context, fx_belt, m->shape_count))) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < m->shape_count; k++) {
    const fx_coat *c = &m->robot.coat[m->shape[k].id];
    h->belt[k] = (fx_belt){c->flow, c->turn};
  }
  return FRIX_OK;
}

frix_status frix_sim_set_sensor(frix_sim *sim, frix_shape_id shape, bool sensor) {
  if (!sim) return FRIX_ERROR_INPUT;
  int32_t k = shape_of(sim, shape, "frix_sim_set_sensor");
  if (k < 0) return FRIX_ERROR_INPUT;
  fx_hooks *h = hooks_of(sim);
  if (!h || (!h->sensor && !(h->sensor = FX_NEW(sim->context, uint8_t, sim->model->shape_count))))
    return FRIX_ERROR_MEMORY;
  h->sensor[k] = sensor;
  wake_all(sim);
  return FRIX_OK;
}

/* ---- sensors ---- */

static bool same_pair(const fx_sensed *a, const fx_sensed *b) {
  return a->sensor_slot == b->sensor_slot && a->slot == b->slot && a->sensor == b->sensor && a->shape == b->shape &&
         a->sensor_generation == b->sensor_generation && a->generation == b->generation;
}

static bool is_listed(const fx_sensed *list, int32_t count, const fx_sensed *one) {
  for (int32_t k = 0; k < count; k++)
    if (same_pair(&list[k], one)) return true;
  return false;
}

static frix_status note_sensed(frix_sim *sim, fx_sensed one) {
  fx_hooks *h = sim->hooks;
  int at = h->now;
  if (is_listed(h->sensed[at], h->sensed_count[at], &one)) return FRIX_OK;
  if (h->sensed_count[at] == h->sensed_room[at]) {
    int32_t room = h->sensed_room[at] ? 2 * h->sensed_room[at] : 16;
    fx_sensed *grown = fx_realloc(sim->context, h->sensed[at], (size_t)h->sensed_count[at], (size_t)room, sizeof one);
    if (!grown) return FRIX_ERROR_MEMORY;
    h->sensed[at] = grown, h->sensed_room[at] = room;
  }
  h->sensed[at][h->sensed_count[at]++] = one;
  return FRIX_OK;
}

/* The lists change places once a step, however often its contacts are looked for. */
static void begin_notes(frix_sim *sim) {
  fx_hooks *h = sim->hooks;
  if (h->sensed_step != sim->state.step_count) h->now = 1 - h->now;
  h->sensed_step = sim->state.step_count;
  h->sensed_count[h->now] = 0;
}

static frix_status note_contact(frix_sim *sim, const fx_contact *c) {
  const fx_hooks *h = sim->hooks;
  const uint32_t *g = sim->state.generation;
  frix_status status = FRIX_OK;
  if (h->sensor[c->shape_a])
    status = note_sensed(sim, (fx_sensed){c->body_a, c->body_b, c->shape_a, c->shape_b, g[c->body_a], g[c->body_b]});
  if (h->sensor[c->shape_b] && status == FRIX_OK)
    status = note_sensed(sim, (fx_sensed){c->body_b, c->body_a, c->shape_b, c->shape_a, g[c->body_b], g[c->body_a]});
  return status;
}

int32_t frix_sim_sensor_event_count(const frix_sim *sim) {
  const fx_hooks *h = sim ? sim->hooks : NULL;
  if (!h || !h->sensor) return 0;
  int32_t count = h->sensed_count[h->now];
  for (int32_t k = 0; k < h->sensed_count[1 - h->now]; k++)
    count += !is_listed(h->sensed[h->now], h->sensed_count[h->now], &h->sensed[1 - h->now][k]);
  return count;
}

frix_status frix_sim_sensor_event(const frix_sim *sim, int32_t k, frix_sensor_event *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  if (k < 0 || k >= frix_sim_sensor_event_count(sim))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_sensor_event: there is no event %d", (int)k);
  const fx_hooks *h = sim->hooks;
  const fx_sensed *now = h->sensed[h->now], *before = h->sensed[1 - h->now], *one = NULL;
  int32_t count = h->sensed_count[h->now], old = h->sensed_count[1 - h->now];
  frix_contact_phase phase = FRIX_CONTACT_END;
  if (k < count) {
    one = &now[k];
    phase = is_listed(before, old, one) ? FRIX_CONTACT_PERSIST : FRIX_CONTACT_BEGIN;
  }
  for (int32_t j = 0, left = k - count; !one && j < old; j++)
    if (!is_listed(now, count, &before[j]) && left-- == 0) one = &before[j];
  const fx_shape *sensor = &sim->model->shape[one->sensor], *shape = &sim->model->shape[one->shape];
  *out = (frix_sensor_event){.phase = phase,
                             .sensor = {(uint32_t)sensor->id + 1, 1},
                             .shape = {(uint32_t)shape->id + 1, 1},
                             .sensor_user = sensor->user,
                             .user = shape->user};
  if (one->sensor_slot) out->sensor_body = (frix_body_id){(uint32_t)one->sensor_slot, one->sensor_generation};
  if (one->slot) out->body = (frix_body_id){(uint32_t)one->slot, one->generation};
  return FRIX_OK;
}

/* ---- filter and law ---- */

static frix_contact_pair pair_of(const frix_sim *sim, const fx_contact *c) {
  const fx_shape *a = &sim->model->shape[c->shape_a], *b = &sim->model->shape[c->shape_b];
  return (frix_contact_pair){.a = fx_slot_id(sim, c->body_a),
                             .b = fx_slot_id(sim, c->body_b),
                             .shape_a = {(uint32_t)a->id + 1, 1},
                             .shape_b = {(uint32_t)b->id + 1, 1},
                             .user_a = a->user,
                             .user_b = b->user,
                             .point = fx_scale(0.5, fx_add(c->point_a, c->point_b)),
                             .normal = c->normal,
                             .gap = c->gap};
}

frix_status fx_contacts_sift(frix_sim *sim, bool notes) {
  fx_hooks *h = sim->hooks;
  if (!h || (!h->sensor && !h->user.filter)) return FRIX_OK;
  if (notes) begin_notes(sim);
  fx_contact *kept = FX_TAKE_RAW(&sim->arena, fx_contact, sim->contact_count);
  if (!kept) return FRIX_ERROR_MEMORY;
  int32_t count = 0;
  for (int32_t i = 0; i < sim->contact_count; i++) {
    const fx_contact *c = &sim->contact[i];
    if (h->sensor && (h->sensor[c->shape_a] || h->sensor[c->shape_b])) {
      if (notes && c->gap <= 0.0 && note_contact(sim, c) != FRIX_OK) return FRIX_ERROR_MEMORY;
      continue;
    }
    if (h->user.filter) {
      frix_contact_pair pair = pair_of(sim, c);
      if (!h->user.filter(sim, &pair, h->user.user)) continue;
    }
    kept[count++] = *c;
  }
  sim->contact = kept;
  sim->contact_count = count;
  return FRIX_OK;
}

/* A vector of a belt in world axes. */
static frix_vec3 from_shape(const frix_sim *sim, int32_t shape, int32_t slot, frix_vec3 v) {
  return fx_rotate(sim->state.pose[slot].q, fx_rotate(sim->model->shape[shape].local.q, v));
}

static frix_vec3 belt_spin(const frix_sim *sim, int32_t shape, int32_t slot) {
  const fx_hooks *h = sim->hooks;
  if (!h || !h->belt || fx_is_zero(h->belt[shape].turn)) return fx_vec(0.0, 0.0, 0.0);
  return from_shape(sim, shape, slot, h->belt[shape].turn);
}

frix_vec3 fx_belt_velocity(const frix_sim *sim, int32_t shape, int32_t slot, frix_vec3 point) {
  const fx_hooks *h = sim->hooks;
  const frix_vec3 none = {0.0, 0.0, 0.0};
  if (!h || !h->belt) return none;
  const fx_belt *belt = &h->belt[shape];
  frix_vec3 flow = fx_is_zero(belt->flow) ? none : from_shape(sim, shape, slot, belt->flow);
  if (fx_is_zero(belt->turn)) return flow;
  frix_vec3 origin = fx_pose_point(sim->state.pose[slot], sim->model->shape[shape].local.p);
  return fx_add(flow, fx_cross(belt_spin(sim, shape, slot), fx_sub(point, origin)));
}

frix_status fx_contacts_modify(frix_sim *sim) {
  fx_hooks *h = sim->hooks;
  if (!h) return FRIX_OK;
  h->slip = NULL;
  if (!h->belt && !h->user.modify) return FRIX_OK;
  if (!(h->slip = FX_TAKE_RAW(&sim->arena, fx_slip, sim->contact_count))) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < sim->contact_count; i++) {
    const fx_contact *c = &sim->contact[i];
    fx_surface *f = &sim->surface[i];
    frix_contact_law law = {.mu = f->mu, .restitution = f->restitution};
    frix_vec3 at = fx_scale(0.5, fx_add(c->point_a, c->point_b));
    law.slip =
        fx_sub(fx_belt_velocity(sim, c->shape_a, c->body_a, at), fx_belt_velocity(sim, c->shape_b, c->body_b, at));
    frix_vec3 spin = fx_sub(belt_spin(sim, c->shape_a, c->body_a), belt_spin(sim, c->shape_b, c->body_b));
    if (h->user.modify) {
      frix_contact_pair pair = pair_of(sim, c);
      h->user.modify(sim, &pair, &law, h->user.user);
    }
    bool good =
        law.mu >= 0.0 && isfinite(law.mu) && law.restitution >= 0.0 && law.restitution <= 1.0 && fx_finite(law.slip);
    if (!good) return fx_fail(sim->context, FRIX_ERROR_INPUT, "the modify callback gave a law that is out of range");
    f->mu2 = f->mu > 0.0 ? f->mu2 * (law.mu / f->mu) : law.mu;
    if (!f->anisotropic) f->mu2 = law.mu;
    f->mu = law.mu;
    f->restitution = law.restitution;
    h->slip[i] = (fx_slip){law.slip, fx_dot(spin, c->normal)};
  }
  return FRIX_OK;
}

void fx_belts_drive(const frix_sim *sim, const fx_group *g, double *drive) {
  const fx_contact *c = &sim->contact[g->source];
  const fx_slip *slip = &sim->hooks->slip[g->source];
  for (int32_t k = 1; k < 3 && k < g->dim; k++) drive[k] += fx_dot(c->tangent[k - 1], slip->velocity);
}

/* ---- small changes and questions ---- */

frix_status frix_sim_add_impulse(frix_sim *sim, frix_body_id id, frix_vec3 impulse, frix_vec3 point) {
  if (!sim) return FRIX_ERROR_INPUT;
  int32_t k = fx_slot_of(sim, id, false, "frix_sim_add_impulse");
  if (k < 0) return FRIX_ERROR_INPUT;
  const fx_body *body = fx_slot_body(sim, k);
  if (!body->dof || !fx_finite(impulse) || !fx_finite(point))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_add_impulse: needs a dynamic body and finite numbers");
  const fx_state *s = &sim->state;
  frix_vec3 twist = fx_cross(fx_sub(point, s->pose[k].p), impulse), spin = s->spin[k];
  if (body->planar)
    spin.z += twist.z / body->inertia.zz;
  else
    spin = fx_add(spin, fx_sym3_mul(fx_sym3_inverse(fx_world_inertia(body, s->pose[k])), twist));
  return frix_sim_set_velocity(sim, id, fx_mad(s->velocity[k], 1.0 / body->mass, impulse), spin);
}

static frix_status last_report(const frix_sim *sim, frix_step_report *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  if (!sim->state.step_count) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_last_report: no step yet");
  *out = sim->report;
  return FRIX_OK;
}

frix_status frix_sim_last_report_sized(const frix_sim *sim, frix_step_report *out, size_t size) {
  FX_OUTPUT(frix_step_report, out, size);
  frix_status status = last_report(sim, out_all);
  FX_GIVE(out, size);
  return status;
}

const frix_model *frix_sim_model(const frix_sim *sim) { return sim ? sim->model : NULL; }
