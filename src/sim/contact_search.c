/* The contacts of a step: who may touch whom before it ends, and by which law.
 *
 * Bodies are looked for as far as their surfaces come in the step, at the poses where the integrator sees contacts. */
#include "base/threads.h"
#include "sim/coats.h"
#include "sim/hooks_internal.h"
#include "sim/softs.h"
#include "sim/step.h"

#include <math.h>
#include <string.h>

/* How far a slot's surface may come within the step: speeds now, and what gravity and applied forces add. */
static void find_reach(frix_sim *sim) {
  const fx_state *s = &sim->state;
  if (sim->tree_reach) memset(sim->tree_reach, 0, (size_t)s->count * sizeof *sim->tree_reach);
  for (int32_t k = 0; k < s->count; k++) {
    if (s->prototype[k] <= 0) continue;
    const fx_body *body = fx_slot_body(sim, k);
    int32_t m = sim->mover_of[k];
    double radius = isfinite(body->radius) ? body->radius : 0.0;
    double v = fx_norm(s->velocity[k]), w = fx_norm(s->spin[k]);
    if (m >= 0 && !fx_is_link(sim, k)) {
      frix_vec3 free, spin;
      fx_slot_motion(sim, k, FX_FREE, &free, &spin);
      v = fmax(v, fx_norm(free)), w = fmax(w, fx_norm(spin));
    }
    const fx_soft_body *soft = fx_soft_at(sim, k);
    sim->reach[k] = soft ? sim->h * fmax(v, soft->skin.fastest) : sim->h * (v + radius * w);
  }
  for (int32_t k = 0; sim->tree_reach && k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (!m->tree || m->tree->soft) continue;
    fx_tree_ways_raise(sim, m, FX_BEFORE, sim->reach, sim->tree_reach);
    fx_tree_ways_raise(sim, m, FX_FREE, sim->reach, sim->tree_reach);
  }
}

double fx_sim_margin(const frix_sim *sim) {
  return sim->config.margin >= 0.0 ? sim->config.margin : 0.005 * sim->smallest;
}

/* The link that a slot moves with, -1: none. */
static int32_t link_of(const frix_sim *sim, int32_t slot) {
  const fx_mechanism *x = sim->mechanism;
  int32_t body = slot < x->slot_count ? x->body_of_slot[slot] : -1;
  return body < 0 ? -1 : x->tree.body[body].link;
}

/* Bodies that are welded to each other cannot move apart, whatever their shapes do: no contact of theirs has a law that
 * could hold. */
static frix_status drop_welded(frix_sim *sim) {
  if (!sim->mechanism) return FRIX_OK;
  fx_contact *kept = FX_TAKE_RAW(&sim->arena, fx_contact, sim->contact_count);
  if (!kept) return FRIX_ERROR_MEMORY;
  int32_t count = 0;
  for (int32_t i = 0; i < sim->contact_count; i++) {
    int32_t a = link_of(sim, sim->contact[i].body_a);
    if (a < 0 || a != link_of(sim, sim->contact[i].body_b)) kept[count++] = sim->contact[i];
  }
  if (count < sim->contact_count) sim->contact = kept, sim->contact_count = count;
  return FRIX_OK;
}

frix_status fx_sim_find_contacts(frix_sim *sim, double margin) {
  fx_state *s = &sim->state;
  fx_placement placement = {.count = s->count,
                            .prototype = s->prototype,
                            .generation = s->generation,
                            .pose = s->pose,
                            .reach = sim->reach,
                            .tree = sim->tree_reach ? sim->mover_of : NULL,
                            .inner = sim->tree_reach,
                            .asleep = sim->config.sleep ? s->asleep : NULL,
                            .lean = {.ask = fx_rim_lean, .user = sim}};
  frix_status status = fx_collision_run(sim->collision, &placement, margin + fx_coats_thickest(sim),
                                        sim->config.thread_count, &sim->contact, &sim->contact_count);
  if (status != FRIX_OK) return fx_fail(sim->context, status, "%s", frix_error_text(sim->inner));
  if ((status = fx_coats_measure(sim, margin)) != FRIX_OK) return status;
  if ((status = drop_welded(sim)) != FRIX_OK) return status;
  if (sim->softs && (status = fx_softs_meet(sim, margin)) != FRIX_OK) return status;
  return fx_contacts_sift(sim, true);
}

/* The stiffness of a contact in this step, 0 where it is rigid. */
static void set_stiffness(const frix_sim *sim, const fx_contact *c, fx_surface *f) {
  if (f->stiffness == 0.0) {
    f->by_rule = sim->config.contact == FRIX_CONTACT_KIND_STIFF;
    f->stiffness = f->by_rule ? fx_rule_stiffness(sim, c) : 0.0;
  } else if (isinf(f->stiffness)) {
    f->stiffness = 0.0;
  }
}

/* Surfaces of contacts that threads describe, and the deepest of each part. */
typedef struct describing {
  frix_sim *sim;
  double deepest[FX_PARTS];
} describing;

static void describe_some(int32_t part, int32_t first, int32_t end, void *user) {
  describing *t = user;
  frix_sim *sim = t->sim;
  fx_surface mixed = {0};
  int32_t before[2] = {-1, -1}; /* materials of the contact before, which most often are the same */
  for (int32_t i = first; i < end; i++) {
    const fx_contact *c = &sim->contact[i];
    int32_t a = sim->model->shape[c->shape_a].material, b = sim->model->shape[c->shape_b].material;
    if (a != before[0] || b != before[1]) mixed = fx_model_surface(sim->model, a, b);
    before[0] = a, before[1] = b;
    sim->surface[i] = mixed;
    set_stiffness(sim, c, &sim->surface[i]);
    t->deepest[part] = fmax(t->deepest[part], -c->gap);
  }
}

frix_status fx_sim_describe_contacts(frix_sim *sim) {
  describing t = {.sim = sim};
  fx_threads threads = fx_sim_threads(sim);
  sim->surface = FX_TAKE_RAW(&sim->arena, fx_surface, sim->contact_count);
  sim->past = FX_TAKE_RAW(&sim->arena, int32_t, sim->contact_count);
  if (!sim->surface || !sim->past) return FRIX_ERROR_MEMORY;
  sim->report.penetration = 0.0;
  int32_t parts = fx_parallel_range(threads, sim->contact_count, FX_LEAST_CONTACTS, describe_some, &t);
  for (int32_t k = 0; k < parts; k++) sim->report.penetration = fmax(sim->report.penetration, t.deepest[k]);
  fx_contacts_match(sim);
  return fx_contacts_modify(sim);
}

/* What sticks is pulled by the contacts that are there; free motion is then known anew. */
frix_status fx_contacts_find(frix_sim *sim) {
  sim->integrator->begin(sim);
  sim->pull_count = 0;
  frix_status status = fx_movers_load(sim);
  if (status != FRIX_OK) return status;
  find_reach(sim);
  status = fx_sim_find_contacts(sim, fx_sim_margin(sim));
  if (status == FRIX_OK) status = fx_coats_stick(sim);
  if (status == FRIX_OK && sim->pull_count > 0) status = fx_movers_load(sim);
  return status == FRIX_OK ? fx_sim_describe_contacts(sim) : status;
}

/* Bodies that are woken take part from the start of the step. */
frix_status fx_contacts_wake(frix_sim *sim) {
  frix_status status = FRIX_OK;
  while (status == FRIX_OK && fx_sleep_wake_touched(sim)) {
    memcpy(sim->state.pose, sim->pose0, (size_t)sim->state.count * sizeof *sim->state.pose);
    if ((status = fx_movers_collect(sim)) == FRIX_OK) status = fx_contacts_find(sim);
  }
  return status;
}
