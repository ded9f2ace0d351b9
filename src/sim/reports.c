/* Contacts over time: which one is which, what they carry, which of them touch, when they begin and end. */
#include "base/abi.h"
#include "base/threads.h"
#include "sim/sim_internal.h"

#include <math.h>
#include <string.h>

/* The first contact of the last step that does not stand before this one. */
static int32_t first_past(const fx_state *s, const fx_contact *c) {
  int32_t low = 0, high = s->touching_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (fx_contact_order(&s->touching[middle].contact, c) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Both lists are sorted alike: one walk finds what lasted. */
static void match_some(int32_t part, int32_t first, int32_t end, void *user) {
  frix_sim *sim = user;
  const fx_state *s = &sim->state;
  int32_t old = first < end ? first_past(s, &sim->contact[first]) : 0;
  (void)part;
  for (int32_t i = first; i < end; i++) {
    const fx_contact *c = &sim->contact[i];
    sim->past[i] = -1;
    while (old < s->touching_count && fx_contact_order(&s->touching[old].contact, c) < 0) old++;
    if (old == s->touching_count || fx_contact_order(&s->touching[old].contact, c) != 0) continue;
    const fx_touching *t = &s->touching[old];
    if (t->generation_a == s->generation[c->body_a] && t->generation_b == s->generation[c->body_b]) sim->past[i] = old;
  }
}

void fx_contacts_match(frix_sim *sim) {
  fx_parallel_range(fx_sim_threads(sim), sim->contact_count, FX_LEAST_CONTACTS, match_some, sim);
}

/* ---- after the solve ---- */

/* What became of a contact of the last step. */
enum { GONE, REMEMBERED, TOUCHES };

/* What a blow presses together is not given back: the spring of a stiff contact remembers nothing of the step in which
 * it was struck. */
static bool keeps_spring(const frix_sim *sim, const fx_group *g) {
  if (sim->rows.R[g->row] == 0.0) return false;
  return !fx_is_stiff(sim, g) || g->held || g->natural > 0.0 || !fx_is_struck(sim, g->source, sim->rows.r[g->row]);
}

static void fill(const frix_sim *sim, const fx_group *g, bool loaded, fx_touching *t) {
  const fx_assembly *a = &sim->rows;
  const fx_contact *c = &sim->contact[g->source];
  const frix_contact *law = &a->law[g - a->group];
  const double *r = a->r + g->row, *u = a->u + g->row;
  frix_vec3 zero = {0.0, 0.0, 0.0};
  *t = (fx_touching){.contact = *c,
                     .mu = law->mu,
                     .stiffness = g->keeps ? sim->surface[g->source].stiffness : 0.0,
                     .natural = r[0] > 0.0 || g->natural < 0.0 ? g->natural : 0.0,
                     .generation_a = sim->state.generation[c->body_a],
                     .generation_b = sim->state.generation[c->body_b]};
  for (int32_t k = 0; k < g->dim; k++) t->row[k] = fx_held(a, g->row + k);
  t->row[0] = fx_max(t->row[0], 0.0);
  t->impulse = fx_scale(r[0], c->normal);
  t->velocity = fx_scale(u[0], c->normal);
  t->roll = zero;
  double friction = 0.0, slip = 0.0;
  for (int32_t k = 1; k < g->dim && k < 3; k++) {
    t->impulse = fx_mad(t->impulse, r[k], c->tangent[k - 1]);
    t->velocity = fx_mad(t->velocity, u[k], c->tangent[k - 1]);
    friction += r[k] * r[k];
    slip += u[k] * u[k];
  }
  for (int32_t k = 3; k < g->dim; k++) t->roll = fx_mad(t->roll, r[k], c->tangent[k - 3]);
  double bound = law->mu * r[0];
  if (law->cone == FRIX_CONE_ELLIPTIC) { /* the impulse seen in the ellipse's axes */
    double x = law->axis[0] * r[1] + law->axis[1] * r[2], y = law->axis[0] * r[2] - law->axis[1] * r[1];
    double p = law->mu > 0.0 ? x / law->mu : 0.0, q = law->mu2 > 0.0 ? y / law->mu2 : 0.0;
    friction = p * p + q * q;
    bound = r[0];
  }
  t->margin = bound > 0.0 ? sqrt(friction) / bound : 0.0;
  /* a sliding contact stands on the cone; rounding decides nothing: it must also move */
  double noise = 1e-9 * (sim->h * (1e-3 + fx_norm(sim->state.gravity)));
  t->state = !loaded                                                           ? FRIX_CONTACT_OPEN
             : (t->margin >= 1.0 - 1e-7 || bound == 0.0) && sqrt(slip) > noise ? FRIX_CONTACT_SLIP
                                                                               : FRIX_CONTACT_STICK;
}

void fx_contact_carry(const frix_sim *sim, const fx_group *g, fx_touching *t) {
  fill(sim, g, sim->rows.r[g->row] > 0.0, t);
}

/* ---- contacts ----
 *
 * A solver leaves impulses of rounding at contacts that are far from closing. A contact touches where it acts,
 *
 *   r_N > tolerance (at least 1e-12) times what the body that carries less carries: m |v_free| + sum r_N,
 *
 * and its gap is closed at the beginning or the end of the step, up to 1e-4 of the smaller body, or it bounces in
 * between; and, without load, where it is closed at the beginning and still is at the end. */

static const double closed_part = 1e-4, rounding = 1e-12;

/* By mover: what its contacts and its free motion bring. */
static double *find_carried(frix_sim *sim) {
  const fx_assembly *a = &sim->rows;
  double *carried = FX_TAKE(&sim->arena, double, sim->mover_count);
  if (!carried) return NULL;
  for (int32_t k = 0; k < sim->mover_count; k++) carried[k] = sim->mover[k].mass * fx_norm(sim->mover[k].v_free);
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    for (int32_t b = 0; b < g->body_count && g->kind == FX_GROUP_CONTACT; b++) carried[g->mover[b]] += a->r[g->row];
  }
  return carried;
}

static bool acts(const frix_sim *sim, const fx_group *g, const double *carried) {
  double least = INFINITY;
  for (int32_t b = 0; b < g->body_count; b++) least = fx_min(least, carried[g->mover[b]]);
  return sim->rows.r[g->row] > fx_max(sim->config.tolerance, rounding) * least;
}

static bool bounces(const frix_sim *sim, const fx_group *g) {
  fx_normal n = {.gap = sim->contact[g->source].gap, .restitution = sim->surface[g->source].restitution};
  if (!(n.restitution > 0.0)) return false;
  n.before = fx_group_velocity(sim, &sim->rows, g, 0, FX_BEFORE);
  n.free = fx_group_velocity(sim, &sim->rows, g, 0, FX_FREE);
  return fx_strikes(sim, &n);
}

static bool touches(const frix_sim *sim, const fx_group *g, bool loaded) {
  const fx_contact *c = &sim->contact[g->source];
  double small = fx_min(fx_slot_body(sim, c->body_a)->radius, fx_slot_body(sim, c->body_b)->radius);
  double end = c->gap + sim->h * sim->integrator->position_time * sim->rows.u[g->row], closed = closed_part * small;
  if (!loaded) return c->gap <= 0.0 && end <= closed;
  return c->gap <= closed || end <= closed || bounces(sim, g);
}

/* Those of the last step that touched and do no longer, with their last impulse. */
static int32_t append_ended(const frix_sim *sim, const uint8_t *lasted, fx_touching *list, int32_t first) {
  const fx_state *s = &sim->state;
  int32_t count = 0;
  for (int32_t k = 0; k < s->touching_count; k++) {
    if (!s->touching[k].touches || lasted[k] == TOUCHES) continue;
    fx_touching *out = &list[first + count++];
    *out = s->touching[k];
    out->phase = FRIX_CONTACT_END;
  }
  return count;
}

/* The contacts of the step that are worth remembering: places first, then contents, in parts. */
typedef struct listing {
  frix_sim *sim;
  const double *carried;
  uint8_t *lasted;
  fx_touching *list;
  int32_t *place; /* by group, -1: none */
} listing;

static void settle_springs(frix_sim *sim, fx_group *g) {
  if (g->held && !sim->report.certified) { /* no rest was found: springs are as they were */
    g->held = false;
    if (g->kind == FX_GROUP_CONTACT) g->natural = fx_natural_gap(sim, g->source);
  }
  g->keeps = g->kind == FX_GROUP_CONTACT && keeps_spring(sim, g);
}

static void list_some(int32_t part, int32_t first, int32_t end, void *user) {
  const listing *x = user;
  frix_sim *sim = x->sim;
  const fx_state *s = &sim->state;
  (void)part;
  for (int32_t k = first; k < end; k++) {
    fx_group *g = &sim->rows.group[k];
    settle_springs(sim, g);
    if (x->place[k] < 0) continue;
    fx_touching *t = &x->list[x->place[k]];
    int32_t past = sim->past[g->source];
    bool loaded = acts(sim, g, x->carried);
    fill(sim, g, loaded, t);
    t->touches = touches(sim, g, loaded);
    t->phase = past >= 0 && s->touching[past].touches ? FRIX_CONTACT_PERSIST : FRIX_CONTACT_BEGIN;
    if (past >= 0) x->lasted[past] = t->touches ? TOUCHES : REMEMBERED;
  }
}

/* Drilling impulses belong to the contact they stand beside. */
static void add_drilling(const listing *x) {
  const frix_sim *sim = x->sim;
  const fx_assembly *a = &sim->rows;
  for (int32_t k = 1; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    if (g->kind != FX_GROUP_SPINNING || x->place[k - 1] < 0 || g[-1].source != g->source) continue;
    fx_touching *t = &x->list[x->place[k - 1]];
    t->spin_impulse = a->r[g->row + 1];
    t->roll = fx_mad(t->roll, a->r[g->row + 1], sim->contact[g->source].normal);
  }
}

/* Returns how many there are. */
static int32_t list_contacts(const listing *x) {
  frix_sim *sim = x->sim;
  const fx_assembly *a = &sim->rows;
  int32_t count = 0;
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    bool listed = g->kind == FX_GROUP_CONTACT && (a->r[g->row] > 0.0 || sim->contact[g->source].gap <= 0.0);
    x->place[k] = listed ? count++ : -1;
  }
  listing all = *x;
  fx_parallel_range((fx_threads){sim->inner, sim->config.thread_count}, a->group_count, FX_LEAST_CONTACTS, list_some,
                    &all);
  if (a->rolls) add_drilling(x);
  return count;
}

/* Contacts of sleeping bodies stay as they were. Returns the new length of the list. */
static int32_t keep_sleeping(const frix_sim *sim, uint8_t *lasted, fx_touching *list, int32_t count) {
  const fx_state *s = &sim->state;
  for (int32_t k = 0; k < s->touching_count && sim->config.sleep; k++) {
    const fx_contact *c = &s->touching[k].contact;
    bool resting = !lasted[k] && sim->mover_of[c->body_a] < 0 && sim->mover_of[c->body_b] < 0 &&
                   s->prototype[c->body_a] >= 0 && s->prototype[c->body_b] >= 0 &&
                   s->generation[c->body_a] == s->touching[k].generation_a &&
                   s->generation[c->body_b] == s->touching[k].generation_b;
    if (!resting) continue;
    /* kept in order: insert where it belongs */
    int32_t at = count++;
    for (; at > 0 && fx_contact_order(&list[at - 1].contact, c) > 0; at--) list[at] = list[at - 1];
    list[at] = s->touching[k];
    list[at].phase = FRIX_CONTACT_PERSIST;
    lasted[k] = TOUCHES;
  }
  return count;
}

void fx_contacts_index(frix_sim *sim) {
  const fx_state *s = &sim->state;
  sim->shown_count = 0;
  for (int32_t k = 0; k < s->touching_count + s->ended_count; k++)
    if (s->touching[k].touches) sim->shown[sim->shown_count++] = k;
}

frix_status fx_contacts_report(frix_sim *sim) {
  fx_state *s = &sim->state;
  uint8_t *lasted = FX_TAKE(&sim->arena, uint8_t, s->touching_count);
  const double *carried = find_carried(sim);
  frix_status status = fx_sim_reserve_touching(sim, sim->contact_count + s->touching_count);
  if (status != FRIX_OK || !lasted || !carried) return FRIX_ERROR_MEMORY;
  fx_touching *list = sim->touching_next;
  listing x = {sim, carried, lasted, list, FX_TAKE_RAW(&sim->arena, int32_t, sim->rows.group_count)};
  if (!x.place) return FRIX_ERROR_MEMORY;
  int32_t count = list_contacts(&x);
  count = keep_sleeping(sim, lasted, list, count);
  s->ended_count = append_ended(sim, lasted, list, count);
  s->touching_count = count;
  sim->touching_next = s->touching;
  s->touching = list;
  fx_contacts_index(sim);
  sim->report.touching_count = sim->shown_count - s->ended_count;
  return FRIX_OK;
}

/* ---- queries ---- */

int32_t frix_sim_contact_count(const frix_sim *sim) { return sim ? sim->shown_count : 0; }

static frix_body_id body_id(const fx_touching *t, int side) {
  int32_t slot = side ? t->contact.body_b : t->contact.body_a;
  uint32_t generation = side ? t->generation_b : t->generation_a;
  return slot ? (frix_body_id){(uint32_t)slot, generation} : (frix_body_id){0, 0};
}

void fx_contact_view(const frix_sim *sim, const fx_touching *t, double h, frix_contact_report *out) {
  const fx_contact *c = &t->contact;
  *out = (frix_contact_report){.id = c->id,
                               .a = body_id(t, 0),
                               .b = body_id(t, 1),
                               .shape_a = {(uint32_t)sim->model->shape[c->shape_a].id + 1, 1},
                               .shape_b = {(uint32_t)sim->model->shape[c->shape_b].id + 1, 1},
                               .phase = t->phase,
                               .state = t->state,
                               .point = fx_scale(0.5, fx_add(c->point_a, c->point_b)),
                               .normal = c->normal,
                               .tangent = {c->tangent[0], c->tangent[1]},
                               .gap = c->gap,
                               .mu = t->mu,
                               .margin = t->margin,
                               .impulse = t->impulse,
                               .force = h > 0.0 ? fx_scale(1.0 / h, t->impulse) : t->impulse,
                               .roll = t->roll,
                               .velocity = t->velocity,
                               .user_a = sim->model->shape[c->shape_a].user,
                               .user_b = sim->model->shape[c->shape_b].user};
}

static frix_status contact_report(const frix_sim *sim, int32_t k, frix_contact_report *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  if (k < 0 || k >= frix_sim_contact_count(sim))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_contact: there is no contact %d", k);
  fx_contact_view(sim, &sim->state.touching[sim->shown[k]], sim->state.last_step, out);
  return FRIX_OK;
}

frix_status frix_sim_contact_sized(const frix_sim *sim, int32_t k, frix_contact_report *out, size_t size) {
  FX_OUTPUT(frix_contact_report, out, size);
  frix_status status = contact_report(sim, k, out_all);
  FX_GIVE(out, size);
  return status;
}

frix_status frix_sim_pair_force(const frix_sim *sim, frix_body_id a, frix_body_id b, frix_vec3 *force,
                                frix_vec3 *torque) {
  if (!sim || !force) return FRIX_ERROR_INPUT;
  int32_t p = fx_slot_of(sim, a, true, "frix_sim_pair_force"), q = fx_slot_of(sim, b, true, "frix_sim_pair_force");
  if (p < 0 || q < 0) return FRIX_ERROR_INPUT;
  const fx_state *s = &sim->state;
  frix_vec3 f = {0.0, 0.0, 0.0}, m = {0.0, 0.0, 0.0};
  for (int32_t k = 0; k < s->touching_count; k++) {
    const fx_touching *t = &s->touching[k];
    bool forward = t->contact.body_a == p && t->contact.body_b == q;
    bool backward = t->contact.body_a == q && t->contact.body_b == p;
    if (!forward && !backward) continue;
    double sign = (forward ? 1.0 : -1.0) / (s->last_step > 0.0 ? s->last_step : 1.0);
    frix_vec3 arm = fx_sub(fx_scale(0.5, fx_add(t->contact.point_a, t->contact.point_b)), s->pose[p].p);
    f = fx_mad(f, sign, t->impulse);
    m = fx_mad(m, sign, fx_add(fx_cross(arm, t->impulse), t->roll));
  }
  *force = f;
  if (torque) *torque = m;
  return FRIX_OK;
}
