/* Why did it move, and what would have held it: a run that is watched, its first failure and its driver, and runs with
 * one thing changed whose verdicts are bisected. */
#include "analysis/explain_internal.h"

#include "base/abi.h"

#include <math.h>
#include <string.h>

#define HARDLY 1e-4 /* of a load: less of it is not looked for */

enum { SETTLED = 3 }; /* steps: a pair that is older was there before what happens to it */

struct frix_explanation {
  frix_context *context;
  const frix_model *model;
  const frix_sim_config *sim;
  frix_explain_config config;
  fx_arena arena;
  fx_watch watch;
  uint8_t *joined; /* by slot: the island of the body over the run */
  int32_t *tree;   /* by slot: the tree of joints it is a link of, -1: none */
  int32_t slots, key;
  frix_joint_id joint; /* of the cause; null: none */
  int32_t actuator;    /* of the cause; -1: none */
  fx_driver driver[FX_DRIVERS];
  frix_explanation_result result;
};

const char *frix_failure_name(frix_failure failure) {
  static const char *const name[] = {"none", "slip", "tip", "lift", "roll", "removed", "appear"};
  return (unsigned)failure < sizeof name / sizeof *name ? name[failure] : "unknown";
}

const char *frix_cause_name(frix_cause cause) {
  static const char *const name[] = {"none", "weight", "force", "motion", "impact", "removal", "joint", "belt"};
  return (unsigned)cause < sizeof name / sizeof *name ? name[cause] : "unknown";
}

const char *frix_remedy_kind_name(frix_remedy_kind kind) {
  static const char *const name[] = {"friction", "press", "load", "keep"};
  return (unsigned)kind < sizeof name / sizeof *name ? name[kind] : "unknown";
}

void frix_explain_init(frix_explain_config *out, size_t size) {
  frix_explain_config all = {.size = sizeof all, .step = 0.01, .distance = 1e-3, .within = 1e-3, .remedies = true};
  fx_give_struct(out, size, &all, sizeof all);
}

/* ---- the run ---- */

static double kinetic_of(const frix_sim *sim, frix_body_id id) {
  frix_body_state s = fx_state_of(sim, id);
  const fx_body *body = fx_slot_body(sim, (int32_t)id.index);
  return 0.5 * body->mass * fx_norm2(s.velocity) +
         0.5 * fx_dot(s.spin, fx_sym3_mul(fx_sym3_turn(s.pose.q, body->inertia), s.spin));
}

/* Work of the step's forces on the body, with the mean of its velocities before and after. */
static void add_work(frix_explanation *e, const frix_sim *sim, const frix_body_state *before, fx_load load) {
  frix_body_energy *w = &e->result.energy;
  frix_body_id id = e->config.body;
  frix_body_state after = fx_state_of(sim, id), middle = *before;
  const fx_body *body = fx_slot_body(sim, (int32_t)id.index);
  double h = e->config.step;
  middle.velocity = fx_scale(0.5, fx_add(before->velocity, after.velocity));
  middle.spin = fx_scale(0.5, fx_add(before->spin, after.spin));
  w->weight += h * body->mass * body->gravity_scale * fx_dot(sim->state.gravity, middle.velocity);
  w->applied += h * (fx_dot(load.force, middle.velocity) + fx_dot(load.torque, middle.spin));
  for (int32_t k = 0; k < frix_sim_contact_count(sim); k++) {
    frix_contact_report c;
    if (frix_sim_contact(sim, k, &c) != FRIX_OK || c.phase == FRIX_CONTACT_END) continue;
    double sign = fx_same_body(c.a, id) ? 1 : fx_same_body(c.b, id) ? -1 : 0;
    if (sign != 0)
      w->contacts += sign * (fx_dot(c.impulse, fx_velocity_at(&middle, c.point)) + fx_dot(c.roll, middle.spin));
  }
}

/* As they were in the last step. */
static frix_status find_trees(frix_explanation *e, const frix_sim *sim) {
  e->tree = FX_TAKE(&e->arena, int32_t, e->slots + 1);
  for (int32_t k = 0; e->tree && k < e->slots; k++) {
    int32_t m = k ? sim->mover_of[k] : -1;
    e->tree[k] = m >= 0 && sim->mover[m].tree ? m : -1;
  }
  return e->tree ? FRIX_OK : FRIX_ERROR_MEMORY;
}

static frix_status run_watched(frix_explanation *e) {
  fx_replay r;
  frix_body_id body = e->config.body;
  frix_status status = fx_replay_begin(&r, e->context, e->model, e->sim, &e->config, NULL);
  if (status == FRIX_OK && (!body.index || !frix_sim_alive(r.sim, body)))
    status = fx_fail(e->context, FRIX_ERROR_INPUT, "explain: no such body at the start");
  if (status == FRIX_OK && fx_slot_body(r.sim, (int32_t)body.index)->kind != FRIX_BODY_DYNAMIC)
    status = fx_fail(e->context, FRIX_ERROR_INPUT, "explain: the body is not dynamic");
  if (status == FRIX_OK) e->result.energy.kinetic_start = kinetic_of(r.sim, body);
  for (int32_t k = 0; status == FRIX_OK && k < e->watch.steps; k++) {
    frix_body_state before = {0};
    fx_load load = {0};
    status = fx_replay_drive(&r);
    bool there = status == FRIX_OK && frix_sim_alive(r.sim, body);
    if (there) before = fx_state_of(r.sim, body), load = r.sim->state.load[body.index];
    if (status == FRIX_OK) status = fx_replay_step(&r);
    if (status == FRIX_OK) status = fx_watch_add(&e->watch, r.sim, &r.report);
    if (status == FRIX_OK && there) {
      add_work(e, r.sim, &before, load);
      e->result.energy.kinetic_end = kinetic_of(r.sim, body);
    }
  }
  frix_body_energy *w = &e->result.energy;
  w->other = w->kinetic_end - w->kinetic_start - w->weight - w->applied - w->contacts;
  e->slots = status == FRIX_OK ? r.sim->state.count : 0;
  if (status == FRIX_OK) status = find_trees(e, r.sim);
  fx_replay_end(&r);
  return status;
}

/* ---- the island and the first failure ---- */

static bool carries(const frix_explanation *e, frix_body_id id) {
  frix_body_config config;
  return id.index && (frix_model_body(e->model, id, &config) != FRIX_OK || config.kind == FRIX_BODY_DYNAMIC);
}

static bool join(frix_explanation *e, frix_body_id a, frix_body_id b) {
  if (!carries(e, a) || !carries(e, b) || (int32_t)a.index >= e->slots || (int32_t)b.index >= e->slots) return false;
  if (e->joined[a.index] == e->joined[b.index]) return false;
  e->joined[a.index] = e->joined[b.index] = 1;
  return true;
}

/* The links of every tree that has one in the island. */
static bool join_trees(frix_explanation *e) {
  bool grew = false;
  for (int32_t k = 1; k < e->slots; k++)
    for (int32_t n = 1; e->joined[k] && e->tree[k] >= 0 && n < e->slots; n++)
      if (e->tree[n] == e->tree[k] && !e->joined[n]) e->joined[n] = 1, grew = true;
  return grew;
}

/* All bodies that touched the body, or touched one that did, or are held to one by a joint. */
static frix_status find_island(frix_explanation *e) {
  fx_watch *w = &e->watch;
  e->joined = FX_TAKE(&e->arena, uint8_t, e->slots + 1);
  if (!e->joined) return FRIX_ERROR_MEMORY;
  e->joined[e->config.body.index] = 1;
  for (bool grew = true; grew;) {
    grew = join_trees(e);
    for (int32_t k = 0; k < w->count; k++) grew |= join(e, w->touch[k].a, w->touch[k].b);
    for (int32_t k = 0; k < frix_model_count(e->model).joint_count; k++) {
      frix_joint_config joint;
      if (frix_model_joint(e->model, frix_model_joint_at(e->model, k), &joint) == FRIX_OK)
        grew |= join(e, joint.a, joint.b);
    }
  }
  for (int32_t k = 0; k < w->count; k++) {
    fx_meeting *t = &w->touch[k];
    t->relevant = (carries(e, t->a) && e->joined[t->a.index]) || (carries(e, t->b) && e->joined[t->b.index]);
    fx_meeting_judge(t, w->done, e->config.distance);
  }
  return FRIX_OK;
}

static bool has_body(const fx_meeting *t, frix_body_id id) { return fx_same_body(t->a, id) || fx_same_body(t->b, id); }
static bool is_old(const fx_meeting *t) { return t->begin < SETTLED || t->begin + SETTLED <= t->onset; }

/* Whether p is named before q: pairs that were there before, earlier ones, removals, those of the body, removals of
 * what carried a body, those that went farther. */
static bool before(const frix_explanation *e, const fx_meeting *p, const fx_meeting *q) {
  if (is_old(p) != is_old(q)) return is_old(p);
  if (p->onset != q->onset) return p->onset < q->onset;
  bool gone = p->kind == FRIX_FAILURE_REMOVED;
  if (gone != (q->kind == FRIX_FAILURE_REMOVED)) return gone;
  if (has_body(p, e->config.body) != has_body(q, e->config.body)) return has_body(p, e->config.body);
  if (p->kind != q->kind) return p->kind < q->kind;
  bool held = carries(e, p->a) && carries(e, p->b);
  if (gone && held != (carries(e, q->a) && carries(e, q->b))) return held;
  return p->sample[p->failed].distance / p->size > q->sample[q->failed].distance / q->size;
}

static int32_t find_key(const frix_explanation *e) {
  const fx_watch *w = &e->watch;
  int32_t key = -1;
  bool moved = false;
  for (int32_t k = 0; k < w->count; k++) {
    const fx_meeting *t = &w->touch[k];
    if (!t->relevant || t->kind == FRIX_FAILURE_NONE) continue;
    moved |= has_body(t, e->config.body);
    if (key < 0 || before(e, t, &w->touch[key])) key = k;
  }
  return moved ? key : -1;
}

/* The contact of the body that is nearest to slipping at the end, -1: none. */
static int32_t nearest(const frix_explanation *e) {
  const fx_watch *w = &e->watch;
  int32_t best = -1;
  double most = -1;
  for (int32_t k = 0; k < w->count && w->done > 0; k++) {
    const fx_sample *s = &w->touch[k].sample[w->done - 1];
    double margin = s->mu * s->normal > 0 ? s->tangent / (s->mu * s->normal) : 0;
    if (has_body(&w->touch[k], e->config.body) && s->points && margin > most) most = margin, best = k;
  }
  return best;
}

/* ---- events and history ---- */

static double margin_of(const fx_sample *s) {
  double most = (double)s->mu * s->normal;
  return most > 0 ? s->tangent / most : 0;
}

static frix_event event_of(const frix_explanation *e, const fx_meeting *t, frix_failure kind, int32_t step) {
  const fx_sample *s = &t->sample[step > t->begin ? step - 1 : t->begin], *last = &t->sample[e->watch.done - 1];
  bool swap = fx_same_body(t->b, e->config.body) || !carries(e, t->a);
  frix_event out = {.kind = kind, .step = step, .time = step * e->config.step};
  out.a = swap ? t->b : t->a, out.b = swap ? t->a : t->b;
  out.normal = swap ? fx_neg(t->normal) : t->normal;
  out.point = t->point_b;
  out.normal_force = s->normal, out.tangent_force = s->tangent, out.mu = s->mu;
  out.margin = margin_of(s);
  out.distance = last->distance;
  return out;
}

/* Points and normals of events are in the frame of b: the run to their steps tells where that was. */
static void place_events(const frix_sim *sim, const frix_explanation *e, frix_event *event, int32_t count) {
  for (int32_t k = 0; k < count; k++) {
    if (event[k].step != frix_sim_step_count(sim)) continue;
    for (int32_t n = 0; n < e->watch.count; n++) {
      const fx_meeting *t = &e->watch.touch[n];
      bool straight = fx_same_body(t->a, event[k].a) && fx_same_body(t->b, event[k].b);
      if (!straight && !(fx_same_body(t->b, event[k].a) && fx_same_body(t->a, event[k].b))) continue;
      frix_body_state b = fx_state_of(sim, t->b);
      event[k].point = fx_pose_point(b.pose, t->point_b);
      event[k].normal = fx_rotate(b.pose.q, straight ? t->normal : fx_neg(t->normal));
    }
  }
}

static void sort_events(frix_event *event, int32_t count) {
  for (int32_t k = 1; k < count; k++)
    for (int32_t n = k; n > 0; n--) {
      bool swap = event[n].step < event[n - 1].step ||
                  (event[n].step == event[n - 1].step && event[n].kind == FRIX_FAILURE_APPEAR &&
                   event[n - 1].kind != FRIX_FAILURE_APPEAR);
      if (!swap) break;
      frix_event kept = event[n];
      event[n] = event[n - 1], event[n - 1] = kept;
    }
}

static frix_status list_events(frix_explanation *e) {
  fx_watch *w = &e->watch;
  frix_event *event = FX_TAKE(&e->arena, frix_event, 2 * w->count + 1);
  frix_margin *history = FX_TAKE(&e->arena, frix_margin, w->done + 1);
  if (!event || !history) return FRIX_ERROR_MEMORY;
  int32_t count = 0, last = e->key >= 0 ? w->touch[e->key].onset : w->done;
  for (int32_t k = 0; k < w->count; k++) {
    const fx_meeting *t = &w->touch[k];
    if (!t->relevant) continue;
    if (t->begin >= SETTLED && t->begin <= last) event[count++] = event_of(e, t, FRIX_FAILURE_APPEAR, t->begin);
    if (t->kind != FRIX_FAILURE_NONE && e->key >= 0) event[count++] = event_of(e, t, t->kind, t->onset);
  }
  sort_events(event, count);
  e->result.event = event, e->result.event_count = count;
  int32_t shown = e->key >= 0 ? e->key : nearest(e);
  e->result.history = history;
  if (shown < 0) return FRIX_OK;
  const fx_meeting *t = &w->touch[shown];
  bool pushed = e->key >= 0 && t->begin == 0 && t->overlap > e->config.distance * t->size;
  e->result.overlap = pushed ? t->overlap : 0;
  e->result.first = event_of(e, t, e->key >= 0 ? t->kind : FRIX_FAILURE_NONE, e->key >= 0 ? t->onset : w->done);
  for (int32_t k = t->begin; k < w->done; k++) {
    const fx_sample *s = &t->sample[k];
    history[e->result.history_count++] = (frix_margin){
        (k + 1) * e->config.step, margin_of(s), s->normal, s->tangent, s->points, s->sliding, s->distance};
  }
  return FRIX_OK;
}

static void name_cause(frix_explanation *e, const fx_driver *driver) {
  frix_explanation_result *out = &e->result;
  out->cause = driver->cause, out->cause_body = driver->body;
  out->cause_force = driver->force, out->cause_power = driver->power;
  out->cause_name = driver->name;
  e->joint = driver->joint, e->actuator = driver->cause == FRIX_CAUSE_JOINT ? driver->actuator : -1;
}

/* The world up to the first failure once more: where events happen, and what drives it. */
static frix_status find_cause(frix_explanation *e) {
  frix_explanation_result *out = &e->result;
  const fx_meeting *key = &e->watch.touch[e->key];
  fx_replay r;
  frix_status status = fx_replay_begin(&r, e->context, e->model, e->sim, &e->config, NULL);
  for (int32_t k = 0; status == FRIX_OK && k < key->onset; k++) {
    place_events(r.sim, e, (frix_event *)out->event, out->event_count);
    status = fx_replay_drive(&r);
    if (status == FRIX_OK) status = fx_replay_step(&r);
  }
  fx_driver *driver = e->driver;
  driver[0] = (fx_driver){.actuator = -1};
  if (status == FRIX_OK) {
    place_events(r.sim, e, (frix_event *)out->event, out->event_count);
    place_events(r.sim, e, &out->first, 1);
    status = fx_find_drivers(&r, e->joined, e->slots, key, driver);
  }
  /* a body that was there is not any more */
  for (int32_t k = 0; k < e->watch.count; k++) {
    const fx_meeting *t = &e->watch.touch[k];
    if (t->removed < 0 || t->removed > key->onset || t->removed + SETTLED < key->onset || !t->relevant) continue;
    bool first = status == FRIX_OK && t->a.index && !frix_sim_alive(r.sim, t->a);
    driver[0] = (fx_driver){.cause = FRIX_CAUSE_REMOVAL, .body = first ? t->a : t->b};
  }
  fx_replay_end(&r);
  name_cause(e, &driver[0]);
  return status;
}

/* ---- remedies ---- */

/* The pairs that are to hold: the one that failed first, and those of the body that were there before. */
static bool must_hold(const frix_explanation *e, const fx_meeting *t) {
  for (int32_t k = 0; k < e->watch.count; k++) {
    const fx_meeting *own = &e->watch.touch[k];
    if (!fx_same_body(own->a, t->a) || !fx_same_body(own->b, t->b)) continue;
    if (own->kind == FRIX_FAILURE_NONE || own->kind == FRIX_FAILURE_REMOVED) return false;
    return k == e->key || (is_old(own) && has_body(own, e->config.body));
  }
  return false;
}

static frix_status holds(const frix_explanation *e, const fx_change *change, frix_remedy *remedy, bool *out) {
  fx_replay r;
  fx_arena arena;
  fx_arena_init(&arena, e->context);
  fx_watch w = {.arena = &arena, .steps = e->watch.steps, .step = e->config.step};
  frix_status status = fx_replay_begin(&r, e->context, e->model, e->sim, &e->config, change);
  *out = true;
  for (int32_t k = 0; status == FRIX_OK && *out && k < w.steps; k++) {
    status = fx_replay_drive(&r);
    if (status == FRIX_OK) status = fx_replay_step(&r);
    if (status == FRIX_OK) status = fx_watch_add(&w, r.sim, &r.report);
    for (int32_t n = 0; status == FRIX_OK && n < w.count; n++) {
      const fx_meeting *t = &w.touch[n];
      if (t->removed < 0 && t->sample[k].distance > e->config.distance * t->size && must_hold(e, t)) *out = false;
    }
  }
  if (w.certified < w.done) remedy->certified = false;
  remedy->runs++;
  fx_watch_free(&w, e->context);
  fx_replay_end(&r);
  fx_arena_free(&arena);
  return status;
}

/* Between both ends of the bracket. */
static frix_status narrow(const frix_explanation *e, fx_change *c, frix_remedy *m) {
  enum { MOST = 60 };
  double least = c->kind == FRIX_REMEDY_LOAD ? HARDLY : 0;
  for (int k = 0; k < MOST && fabs(m->holds - m->fails) > e->config.within * fx_max(m->holds, m->fails); k++) {
    if (m->fails < least) break;
    bool middle;
    c->value = 0.5 * (m->holds + m->fails);
    frix_status status = holds(e, c, m, &middle);
    if (status != FRIX_OK) return status;
    *(middle ? &m->holds : &m->fails) = c->value;
  }
  return FRIX_OK;
}

/* From a value that fails to one that holds, in steps that grow. */
static frix_status grow(const frix_explanation *e, fx_change *c, double first, double most, frix_remedy *m) {
  for (double value = first; !m->found && value <= most; value *= 4) {
    c->value = value;
    frix_status status = holds(e, c, m, &m->found);
    if (status != FRIX_OK) return status;
    *(m->found ? &m->holds : &m->fails) = value;
  }
  return m->found ? narrow(e, c, m) : FRIX_OK;
}

static fx_change change_of(const frix_explanation *e, frix_remedy_kind kind) {
  const fx_meeting *t = &e->watch.touch[e->key];
  fx_change c = {.kind = kind, .active = true, .a = t->a, .b = t->b, .normal = t->normal};
  c.material[0] = t->material[0], c.material[1] = t->material[1];
  c.point_a = t->point_a, c.point_b = t->point_b;
  c.cause = e->result.cause, c.body = e->result.cause_body;
  c.joint = e->joint, c.actuator = e->actuator;
  c.blow_step = t->onset;
  return c;
}

static frix_status try_remedy(frix_explanation *e, frix_remedy_kind kind) {
  frix_remedy *m = &e->result.remedy[kind];
  const frix_event *first = &e->result.first;
  fx_change c = change_of(e, kind);
  *m = (frix_remedy){.tried = true, .certified = true, .fails = NAN, .holds = NAN};
  if (kind == FRIX_REMEDY_KEEP) return holds(e, &c, m, &m->found);
  if (kind == FRIX_REMEDY_FRICTION) {
    m->fails = first->mu;
    return grow(e, &c, fx_max(2 * first->mu, 0.1), 10, m);
  }
  if (kind == FRIX_REMEDY_PRESS) {
    double force = 1e-3;
    for (int32_t k = 0; k < e->result.history_count; k++) force = fx_max(force, e->result.history[k].normal_force);
    m->fails = 0;
    return grow(e, &c, force, 1e4 * force, m);
  }
  m->fails = 1;
  c.value = 0;
  frix_status status = holds(e, &c, m, &m->found);
  if (status != FRIX_OK || !m->found) return status;
  m->holds = 0;
  return narrow(e, &c, m);
}

static bool is_load(const frix_explanation *e) {
  return (e->result.cause >= FRIX_CAUSE_WEIGHT && e->result.cause <= FRIX_CAUSE_IMPACT) ||
         e->result.cause == FRIX_CAUSE_BELT || e->joint.index || e->actuator >= 0;
}

/* What moves without the largest supply of power is not driven by it: the next one is the cause, if nothing moves
 * without that. */
static frix_status try_loads(frix_explanation *e) {
  frix_remedy *m = &e->result.remedy[FRIX_REMEDY_LOAD], first = {0};
  for (int k = 0; k < FX_DRIVERS && e->driver[k].cause != FRIX_CAUSE_NONE; k++) {
    name_cause(e, &e->driver[k]);
    if (k > 0 && !is_load(e)) continue;
    frix_status status = try_remedy(e, FRIX_REMEDY_LOAD);
    if (status != FRIX_OK || m->found) return status;
    if (k == 0) first = *m;
  }
  name_cause(e, &e->driver[0]);
  *m = first;
  return FRIX_OK;
}

static frix_status find_remedies(frix_explanation *e) {
  bool removed = e->result.cause == FRIX_CAUSE_REMOVAL;
  bool slips = e->result.first.kind == FRIX_FAILURE_SLIP || e->result.first.kind == FRIX_FAILURE_LIFT;
  frix_status status = FRIX_OK;
  if (removed) status = try_remedy(e, FRIX_REMEDY_KEEP);
  if (status == FRIX_OK && slips) status = try_remedy(e, FRIX_REMEDY_FRICTION);
  if (status == FRIX_OK && e->result.first.kind != FRIX_FAILURE_REMOVED) status = try_remedy(e, FRIX_REMEDY_PRESS);
  if (status == FRIX_OK && is_load(e)) status = try_loads(e);
  return status;
}

/* ---- the call ---- */

static frix_status check(frix_context *context, const frix_explain_config *c) {
  bool good = isfinite(c->time) && isfinite(c->step) && c->step > 0 && c->time >= c->step && c->time / c->step <= 1e8 &&
              c->distance > 0 && isfinite(c->distance) && c->within > 0 && c->within < 1;
  if (!good)
    return fx_fail(context, FRIX_ERROR_INPUT,
                   "explain: time of at least one step, step > 0, distance > 0 and 0 < within < 1 are needed");
  return FRIX_OK;
}

static frix_status explain(frix_explanation *e) {
  frix_status status = check(e->context, &e->config);
  e->watch =
      (fx_watch){.arena = &e->arena, .steps = (int32_t)(e->config.time / e->config.step + 0.5), .step = e->config.step};
  e->key = e->actuator = -1;
  if (status == FRIX_OK) status = run_watched(e);
  if (status == FRIX_OK) status = find_island(e);
  if (status != FRIX_OK) return status;
  e->key = find_key(e);
  e->result.size = sizeof e->result;
  e->result.steps = e->watch.done, e->result.certified_steps = e->watch.certified;
  e->result.residual = e->watch.residual;
  status = list_events(e);
  if (status == FRIX_OK && e->key >= 0) status = find_cause(e);
  if (status == FRIX_OK && e->key >= 0 && e->config.remedies) status = find_remedies(e);
  return status;
}

frix_status frix_explain(frix_context *context, const frix_model *model, const frix_sim_config *sim,
                         const frix_explain_config *config, frix_explanation **out) {
  if (out) *out = NULL;
  if (!context || !model || !config || !out) return FRIX_ERROR_INPUT;
  frix_explain_config own;
  frix_explain_init(&own, sizeof own);
  if (!fx_take_struct(&own, sizeof own, config))
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_explain: the config has a wrong size");
  frix_explanation *e = FX_NEW(context, frix_explanation, 1);
  if (!e) return FRIX_ERROR_MEMORY;
  *e = (frix_explanation){.context = context, .model = model, .sim = sim, .config = own};
  fx_arena_init(&e->arena, context);
  frix_status status = explain(e);
  if (status != FRIX_OK) {
    frix_explanation_destroy(e);
    return status;
  }
  *out = e;
  return FRIX_OK;
}

void frix_explanation_destroy(frix_explanation *e) {
  if (!e) return;
  fx_watch_free(&e->watch, e->context);
  fx_arena_free(&e->arena);
  fx_free(e->context, e);
}

void frix_explanation_view_sized(const frix_explanation *e, frix_explanation_result *out, size_t size) {
  if (e && out) fx_give_struct(out, size, &e->result, sizeof e->result);
}
