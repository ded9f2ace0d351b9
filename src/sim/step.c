/* One step: collide, assemble, solve, integrate. */
#include "base/threads.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

enum { MIDDLE_ROUNDS = 60 };

/* ---- collide ---- */

/* How far a slot's surface may come within the step: speeds now, and what gravity and hands add. */
static void find_reach(frix_sim *sim) {
  const fx_state *s = &sim->state;
  for (int32_t k = 0; k < s->count; k++) {
    if (s->prototype[k] <= 0) continue;
    const fx_body *body = fx_slot_body(sim, k);
    int32_t m = sim->mover_of[k];
    double radius = isfinite(body->radius) ? body->radius : 0.0;
    double v = fx_norm(s->velocity[k]), w = fx_norm(s->spin[k]);
    if (m >= 0) v = fmax(v, fx_norm(sim->mover[m].v_free)), w = fmax(w, fx_norm(sim->mover[m].w_free));
    sim->reach[k] = sim->h * (v + radius * w);
  }
}

static double margin_of(const frix_sim *sim) {
  return sim->config.margin >= 0.0 ? sim->config.margin : 0.005 * sim->smallest;
}

static frix_status collide(frix_sim *sim) {
  fx_state *s = &sim->state;
  find_reach(sim);
  fx_placement placement = {.count = s->count,
                            .prototype = s->prototype,
                            .generation = s->generation,
                            .pose = s->pose,
                            .reach = sim->reach,
                            .asleep = sim->config.sleep ? s->asleep : NULL};
  frix_status status = fx_collision_run(sim->collision, &placement, margin_of(sim), sim->config.thread_count,
                                        &sim->contact, &sim->contact_count);
  if (status != FRIX_OK) return fx_fail(sim->context, status, "%s", frix_error_text(sim->inner));
  sim->surface = FX_TAKE(&sim->arena, fx_surface, sim->contact_count);
  sim->past = FX_TAKE(&sim->arena, int32_t, sim->contact_count);
  if (!sim->surface || !sim->past) return FRIX_ERROR_MEMORY;
  sim->report.penetration = 0.0;
  for (int32_t i = 0; i < sim->contact_count; i++) {
    const fx_contact *c = &sim->contact[i];
    sim->surface[i] =
        fx_model_surface(sim->model, sim->model->shape[c->shape_a].material, sim->model->shape[c->shape_b].material);
    sim->report.penetration = fmax(sim->report.penetration, -c->gap);
  }
  fx_contacts_match(sim);
  return FRIX_OK;
}

/* ---- assemble ---- */

static frix_status assemble(frix_sim *sim) {
  fx_assembly *a = &sim->rows;
  int32_t groups, rows;
  size_t values;
  fx_joints_room(sim, &groups, &rows, &values);
  for (int32_t i = 0; i < sim->contact_count; i++) {
    const fx_surface *f = &sim->surface[i];
    int32_t dim = (f->rolling > 0.0 ? 5 : 3) + (f->spinning > 0.0 ? 2 : 0);
    groups += f->spinning > 0.0 ? 2 : 1;
    rows += dim;
    values += (size_t)(12 * dim);
  }
  frix_status status = fx_assembly_begin(sim, a, groups, rows, values);
  if (status == FRIX_OK) status = fx_contacts_assemble(sim, a);
  if (status == FRIX_OK) status = fx_joints_assemble(sim, a);
  return status;
}

/* ---- forces at the middle of an implicit step ---- */

static frix_status load_at_middle(frix_sim *sim) {
  fx_state *s = &sim->state;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    frix_vec3 v = fx_scale(0.5, fx_add(m->v0, m->v1)), w = fx_scale(0.5, fx_add(m->w0, m->w1));
    s->pose[m->slot] = fx_advance(fx_slot_body(sim, m->slot), m->pose0, v,
                                  fx_add(m->L0, fx_sym3_mul(m->J, fx_sub(w, m->w0))), w, 0.5 * sim->h);
  }
  frix_status status = fx_movers_load(sim);
  for (int32_t k = 0; k < sim->mover_count; k++) s->pose[sim->mover[k].slot] = sim->mover[k].pose0;
  return status;
}

/* |v1 - old| relative to |v1|, and v1 into old. */
static double change_of(const frix_sim *sim, frix_vec3 *old) {
  double change = 0.0, size = 0.0;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    change += fx_norm2(fx_sub(m->v1, old[2 * k])) + fx_norm2(fx_sub(m->w1, old[2 * k + 1]));
    size += fx_norm2(m->v1) + fx_norm2(m->w1);
    old[2 * k] = m->v1;
    old[2 * k + 1] = m->w1;
  }
  return size > 0.0 ? sqrt(change / size) : sqrt(change);
}

static frix_status solve_at_middle(frix_sim *sim) {
  frix_vec3 *old = FX_TAKE(&sim->arena, frix_vec3, 2 * (size_t)sim->mover_count);
  if (!old) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++)
    sim->mover[k].v1 = sim->mover[k].v0, sim->mover[k].w1 = sim->mover[k].w0;
  frix_status status = FRIX_OK;
  for (int round = 0; status == FRIX_OK && round < MIDDLE_ROUNDS; round++) {
    if ((status = load_at_middle(sim)) != FRIX_OK) break;
    if ((status = assemble(sim)) != FRIX_OK) break;
    status = fx_sim_solve(sim, &sim->rows);
    if (!sim->config.force || change_of(sim, old) <= 1e-13) break;
  }
  return status;
}

/* ---- the step ---- */

static frix_status begin(frix_sim *sim, double h) {
  fx_state *s = &sim->state;
  if (sim->arena_live) fx_arena_free(&sim->arena);
  fx_arena_init(&sim->arena, sim->inner);
  sim->arena_live = true;
  sim->problem = (frix_problem){0};
  sim->h = h;
  sim->report = (frix_step_report){.size = sizeof sim->report};
  sim->pose0 = FX_TAKE(&sim->arena, frix_pose, s->count);
  if (!sim->pose0) return FRIX_ERROR_MEMORY;
  memcpy(sim->pose0, s->pose, (size_t)s->count * sizeof *s->pose);
  return fx_movers_collect(sim);
}

static frix_status find_contacts(frix_sim *sim) {
  sim->integrator->begin(sim);
  frix_status status = fx_movers_load(sim);
  return status == FRIX_OK ? collide(sim) : status;
}

static frix_status advance(frix_sim *sim, double h) {
  double start = fx_seconds();
  frix_energy ledger = {0};
  frix_status status = begin(sim, h);
  if (status == FRIX_OK) status = find_contacts(sim);
  while (status == FRIX_OK && fx_sleep_wake_touched(sim)) { /* who was woken takes part from the start */
    memcpy(sim->state.pose, sim->pose0, (size_t)sim->state.count * sizeof *sim->state.pose);
    if ((status = fx_movers_collect(sim)) == FRIX_OK) status = find_contacts(sim);
  }
  double collided = fx_seconds();
  if (status == FRIX_OK && !sim->integrator->implicit) status = assemble(sim);
  double assembled = fx_seconds();
  if (status == FRIX_OK) status = sim->integrator->implicit ? solve_at_middle(sim) : fx_sim_solve(sim, &sim->rows);
  if (status == FRIX_OK) status = fx_poisson(sim);
  if (status == FRIX_OK && sim->config.policy == FRIX_POLICY_STRICT && !sim->report.certified)
    status = fx_fail(sim->context, FRIX_ERROR_CERTIFICATE, "step %lld: residual %.3g is above the tolerance %.3g",
                     (long long)sim->state.step_count, sim->report.certificate.residual, sim->config.tolerance);
  if (status == FRIX_OK) status = fx_contacts_report(sim);
  double solved = fx_seconds();
  if (status != FRIX_OK) { /* as if nothing had been asked */
    if (sim->pose0) memcpy(sim->state.pose, sim->pose0, (size_t)sim->state.count * sizeof *sim->state.pose);
    return status;
  }
  fx_ledger_solve(sim, &ledger);
  fx_joints_keep(sim);
  sim->integrator->finish(sim);
  status = fx_project(sim); /* where it fails, the step is made without it, and says so */
  fx_joints_measure(sim, false);
  sim->state.time += h;
  sim->state.last_step = h;
  sim->state.step_count++;
  memset(sim->state.load, 0, (size_t)sim->state.count * sizeof *sim->state.load);
  fx_ledger_close(sim, &ledger);
  fx_sleep_update(sim);
  frix_step_report *r = &sim->report;
  double end = fx_seconds();
  r->awake_count = sim->mover_count;
  r->collide_seconds = collided - start;
  r->assemble_seconds = assembled - collided;
  r->solve_seconds = solved - assembled;
  r->integrate_seconds = end - solved;
  r->seconds = end - start;
  return status;
}

static frix_status step(frix_sim *sim, double h, double seconds, frix_step_report *report) {
  if (!sim) return FRIX_ERROR_INPUT;
  if (sim->in_force) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_step: called from the force callback");
  if (!(h > 0.0) || !isfinite(h))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_step: h must be a positive number");
  sim->deadline = seconds;
  frix_status status = advance(sim, h);
  if (status == FRIX_ERROR_MEMORY) fx_fail(sim->context, status, "out of memory");
  if (report) *report = sim->report;
  return status;
}

frix_status frix_sim_step(frix_sim *sim, double h, frix_step_report *report) { return step(sim, h, 0.0, report); }

frix_status frix_sim_step_within(frix_sim *sim, double h, double microseconds, frix_step_report *report) {
  if (!sim) return FRIX_ERROR_INPUT;
  if (!(microseconds > 0.0) || !isfinite(microseconds))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_step_within: the time must be a positive number");
  return step(sim, h, 1e-6 * microseconds, report);
}
