/* One step: collide, assemble, solve, integrate. */
#include "base/threads.h"
#include "sim/hooks.h"
#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

enum { MIDDLE_ROUNDS = 60, CATCH_ROUNDS = 5 };

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
    if (m >= 0) {
      frix_vec3 free, spin;
      fx_slot_motion(sim, k, FX_FREE, &free, &spin);
      v = fmax(v, fx_norm(free)), w = fmax(w, fx_norm(spin));
    }
    sim->reach[k] = sim->h * (v + radius * w);
  }
}

double fx_sim_margin(const frix_sim *sim) {
  return sim->config.margin >= 0.0 ? sim->config.margin : 0.005 * sim->smallest;
}

frix_status fx_sim_find_contacts(frix_sim *sim, double margin) {
  fx_state *s = &sim->state;
  fx_placement placement = {.count = s->count,
                            .prototype = s->prototype,
                            .generation = s->generation,
                            .pose = s->pose,
                            .reach = sim->reach,
                            .asleep = sim->config.sleep ? s->asleep : NULL,
                            .lean = {.ask = fx_rim_lean, .user = sim}};
  frix_status status = fx_collision_run(sim->collision, &placement, margin, sim->config.thread_count, &sim->contact,
                                        &sim->contact_count);
  if (status != FRIX_OK) return fx_fail(sim->context, status, "%s", frix_error_text(sim->inner));
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

frix_status fx_sim_describe_contacts(frix_sim *sim) {
  sim->surface = FX_TAKE_RAW(&sim->arena, fx_surface, sim->contact_count);
  sim->past = FX_TAKE_RAW(&sim->arena, int32_t, sim->contact_count);
  if (!sim->surface || !sim->past) return FRIX_ERROR_MEMORY;
  sim->report.penetration = 0.0;
  fx_surface mixed = {0};
  int32_t before[2] = {-1, -1}; /* materials of the contact before, which most often are the same */
  for (int32_t i = 0; i < sim->contact_count; i++) {
    const fx_contact *c = &sim->contact[i];
    int32_t a = sim->model->shape[c->shape_a].material, b = sim->model->shape[c->shape_b].material;
    if (a != before[0] || b != before[1]) mixed = fx_model_surface(sim->model, a, b);
    before[0] = a, before[1] = b;
    sim->surface[i] = mixed;
    set_stiffness(sim, c, &sim->surface[i]);
    sim->report.penetration = fmax(sim->report.penetration, -c->gap);
  }
  fx_contacts_match(sim);
  return fx_contacts_modify(sim);
}

static frix_status collide(frix_sim *sim) {
  find_reach(sim);
  frix_status status = fx_sim_find_contacts(sim, fx_sim_margin(sim));
  return status == FRIX_OK ? fx_sim_describe_contacts(sim) : status;
}

/* ---- assemble ---- */

static frix_status assemble(frix_sim *sim) {
  fx_assembly *a = &sim->rows;
  int32_t groups, rows;
  size_t values;
  fx_joints_room(sim, &groups, &rows, &values);
  if (sim->mechanism) fx_mechanism_room(sim, &groups, &rows, &values);
  size_t row_values = fx_row_values(sim, 2);
  for (int32_t i = 0; i < sim->contact_count; i++) {
    const fx_surface *f = &sim->surface[i];
    int32_t dim = (f->rolling > 0.0 ? 5 : 3) + (f->spinning > 0.0 ? 2 : 0);
    groups += f->spinning > 0.0 ? 2 : 1;
    rows += dim;
    values += (size_t)dim * row_values;
  }
  frix_status status = fx_assembly_begin(sim, a, groups, rows, values);
  a->pushes_out = true;
  sim->report.overlaps_left = false;
  if (status == FRIX_OK) status = fx_contacts_assemble(sim, a);
  if (status == FRIX_OK) status = fx_joints_assemble(sim, a);
  return status;
}

/* ---- forces at the middle of an implicit step ---- */

static frix_status load_at_middle(frix_sim *sim) {
  fx_state *s = &sim->state;
  frix_pose *seen = FX_TAKE(&sim->arena, frix_pose, sim->mover_count);
  if (!seen) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    frix_vec3 v = fx_scale(0.5, fx_add(m->v0, m->v1)), w = fx_scale(0.5, fx_add(m->w0, m->w1));
    seen[k] = s->pose[m->slot];
    if (m->tree) continue; /* forces on trees are those of the place of contacts */
    s->pose[m->slot] = fx_advance(fx_slot_body(sim, m->slot), m->pose0, v,
                                  fx_add(m->L0, fx_sym3_mul(m->J, fx_sub(w, m->w0))), w, 0.5 * sim->h);
  }
  frix_status status = fx_movers_load(sim);
  for (int32_t k = 0; k < sim->mover_count; k++) s->pose[sim->mover[k].slot] = seen[k];
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
  double change = INFINITY;
  for (int round = 0; status == FRIX_OK && change > 1e-13 && round < MIDDLE_ROUNDS; round++) {
    if ((status = load_at_middle(sim)) != FRIX_OK) break;
    if ((status = assemble(sim)) != FRIX_OK) break;
    status = fx_solve_with_balls(sim, assemble);
    change = sim->config.force ? change_of(sim, old) : 0.0;
  }
  /* forces and answer do not agree: the problem may be solved, the step is not */
  if (status == FRIX_OK && change > sim->config.tolerance) fx_fail_phase(sim, "forces", FRIX_OUTCOME_MAX_ITERATIONS);
  return status;
}

/* ---- the step ---- */

/* ---- the way back ---- */

/* All that a step changes before it is sure of its answer. Contacts of the last step wait in touching_next. */
typedef struct fx_kept {
  fx_state state; /* its numbers; its arrays below */
  frix_vec3 *velocity, *spin, *momentum;
  uint8_t *asleep;
  double *quiet, *robot;
  fx_joint_memory *joint;
} fx_kept;

static void *copied(frix_sim *sim, const void *from, int32_t count, size_t size) {
  void *copy = fx_arena_take_raw(&sim->arena, (size_t)count, size);
  return copy && count ? memcpy(copy, from, (size_t)count * size) : copy;
}

static frix_status keep(frix_sim *sim, fx_kept *k) {
  const fx_state *s = &sim->state;
  k->state = *s;
  k->velocity = copied(sim, s->velocity, s->count, sizeof *s->velocity);
  k->spin = copied(sim, s->spin, s->count, sizeof *s->spin);
  k->momentum = copied(sim, s->momentum, s->count, sizeof *s->momentum);
  k->asleep = copied(sim, s->asleep, s->count, sizeof *s->asleep);
  k->quiet = copied(sim, s->quiet, s->count, sizeof *s->quiet);
  k->joint = copied(sim, s->joint, s->joint_count, sizeof *s->joint);
  k->robot = copied(sim, s->robot, s->robot_count, sizeof *s->robot);
  bool good = k->velocity && k->spin && k->momentum && k->asleep && k->quiet && k->joint && k->robot;
  return good ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* As if nothing had been asked. */
static void take_back(frix_sim *sim, const fx_kept *k, bool reported) {
  fx_state *s = &sim->state;
  size_t n = (size_t)s->count;
  memcpy(s->pose, sim->pose0, n * sizeof *s->pose);
  memcpy(s->velocity, k->velocity, n * sizeof *s->velocity);
  memcpy(s->spin, k->spin, n * sizeof *s->spin);
  memcpy(s->momentum, k->momentum, n * sizeof *s->momentum);
  memcpy(s->asleep, k->asleep, n * sizeof *s->asleep);
  memcpy(s->quiet, k->quiet, n * sizeof *s->quiet);
  if (s->joint_count) memcpy(s->joint, k->joint, (size_t)s->joint_count * sizeof *s->joint);
  if (s->robot_count) memcpy(s->robot, k->robot, (size_t)s->robot_count * sizeof *s->robot);
  if (reported) {
    fx_touching *list = s->touching;
    s->touching = sim->touching_next;
    sim->touching_next = list;
  }
  s->touching_count = k->state.touching_count;
  s->ended_count = k->state.ended_count;
  fx_contacts_index(sim);
  s->polish_at = k->state.polish_at;
  s->polish_wait = k->state.polish_wait;
  s->polish_again = k->state.polish_again;
}

/* Overflow has no answer. */
static bool is_finite(const frix_sim *sim) {
  const fx_state *s = &sim->state;
  for (int32_t k = 1; k < s->count; k++) {
    if (s->prototype[k] <= 0) continue;
    frix_quat q = s->pose[k].q;
    if (!fx_finite(s->pose[k].p) || !isfinite(q.w + q.x + q.y + q.z) || !fx_finite(s->velocity[k]) ||
        !fx_finite(s->spin[k]) || !fx_finite(s->momentum[k]))
      return false;
  }
  return true;
}

static frix_status begin(frix_sim *sim, double h, fx_kept *kept) {
  fx_state *s = &sim->state;
  if (sim->arena_live) fx_arena_free(&sim->arena);
  fx_arena_init(&sim->arena, sim->inner);
  sim->arena_live = true;
  sim->problem = (frix_problem){0};
  sim->rows = (fx_assembly){0};
  sim->turned_count = 0;
  sim->ball = NULL;
  sim->h = h;
  sim->report = (frix_step_report){.size = sizeof sim->report};
  sim->pose0 = FX_TAKE(&sim->arena, frix_pose, s->count);
  if (!sim->pose0) return FRIX_ERROR_MEMORY;
  if (sim->mechanism) fx_mechanism_place(sim), fx_mechanism_collect(sim);
  memcpy(sim->pose0, s->pose, (size_t)s->count * sizeof *s->pose);
  frix_status status = keep(sim, kept);
  return status == FRIX_OK ? fx_movers_collect(sim) : status;
}

static frix_status find_contacts(frix_sim *sim) {
  sim->integrator->begin(sim);
  frix_status status = fx_movers_load(sim);
  return status == FRIX_OK ? collide(sim) : status;
}

/* Who is woken takes part from the start. */
static frix_status wake_touched(frix_sim *sim) {
  frix_status status = FRIX_OK;
  while (status == FRIX_OK && fx_sleep_wake_touched(sim)) {
    memcpy(sim->state.pose, sim->pose0, (size_t)sim->state.count * sizeof *sim->state.pose);
    if ((status = fx_movers_collect(sim)) == FRIX_OK) status = find_contacts(sim);
  }
  return status;
}

static frix_status refuse(frix_sim *sim) {
  double residual = sim->report.certificate.residual, tolerance = sim->config.tolerance;
  long long step = (long long)sim->state.step_count + 1;
  if (!(residual <= tolerance))
    return fx_fail(sim->context, FRIX_ERROR_CERTIFICATE,
                   "step %lld is not certified (%s): residual %.3g is above the tolerance %.3g", step,
                   sim->report.phase, residual, tolerance);
  return fx_fail(sim->context, FRIX_ERROR_CERTIFICATE, "step %lld is not certified: phase '%s' did not converge", step,
                 sim->report.phase);
}

/* Solves, and again where a blow threw a body so far that it would pass into one it had no contact with, or where a
 * round face tips about a place of its rim that has no contact yet. */
static frix_status solve_and_catch(frix_sim *sim) {
  bool again = true;
  frix_status status = FRIX_OK;
  for (int round = 0; status == FRIX_OK && again && round < CATCH_ROUNDS; round++) {
    if (round > 0) status = wake_touched(sim);
    if (round > 0 && status == FRIX_OK) status = assemble(sim);
    if (status == FRIX_OK) status = fx_solve_with_balls(sim, assemble);
    bool last = round + 1 == CATCH_ROUNDS;
    if (status == FRIX_OK) status = fx_catch_thrown(sim, last, &again);
    if (status == FRIX_OK && !again && !last) status = fx_catch_rims(sim, &again);
  }
  if (status == FRIX_OK && again) fx_fail_phase(sim, "thrown", FRIX_OUTCOME_MAX_ITERATIONS);
  return status;
}

/* The same with restitution, which may throw a body further. */
static frix_status solve_and_bounce(frix_sim *sim) {
  bool again = true, implicit = sim->integrator->implicit;
  frix_status status = FRIX_OK;
  for (int round = 0; status == FRIX_OK && again && round < CATCH_ROUNDS; round++) {
    again = false;
    if (round > 0) status = wake_touched(sim);
    if (round > 0 && status == FRIX_OK) status = assemble(sim);
    if (status == FRIX_OK) status = implicit ? solve_at_middle(sim) : solve_and_catch(sim);
    if (status == FRIX_OK) status = fx_joints_reach(sim);
    if (status == FRIX_OK) status = fx_share_load(sim);
    if (status == FRIX_OK) status = fx_restitution(sim);
    if (status == FRIX_OK) status = fx_catch_thrown(sim, round + 1 == CATCH_ROUNDS, &again);
  }
  if (status == FRIX_OK && again) fx_fail_phase(sim, "thrown", FRIX_OUTCOME_MAX_ITERATIONS);
  if (status == FRIX_OK) fx_judge_balls(sim);
  return status;
}

/* Collide, assemble, solve, report: the answer of the step, with the poses still where the contacts were found. */
static frix_status answer(frix_sim *sim) {
  double start = fx_seconds();
  frix_step_report *r = &sim->report;
  frix_status status = find_contacts(sim);
  if (status == FRIX_OK) status = wake_touched(sim);
  double collided = fx_seconds();
  if (status == FRIX_OK && !sim->integrator->implicit) status = assemble(sim);
  double assembled = fx_seconds();
  if (status == FRIX_OK) status = solve_and_bounce(sim);
  if (status == FRIX_OK && sim->config.policy == FRIX_POLICY_STRICT && !r->certified) status = refuse(sim);
  r->collide_seconds = collided - start;
  r->assemble_seconds = assembled - collided;
  r->solve_seconds = fx_seconds() - assembled;
  return status;
}

/* The answer becomes the new state. */
static frix_status settle(frix_sim *sim, double h, bool *reported) {
  frix_energy ledger = {0};
  frix_status status = fx_contacts_report(sim);
  if (status != FRIX_OK) return status;
  *reported = true;
  if ((status = fx_ledger_solve(sim, &ledger)) != FRIX_OK) return status;
  fx_joints_keep(sim);
  if (sim->mechanism) fx_mechanism_keep(sim);
  sim->integrator->finish(sim);
  frix_status projected = fx_project(sim); /* where it fails, the step is made without it, and says so */
  if (!is_finite(sim))
    return fx_fail(sim->context, FRIX_ERROR_INPUT,
                   "step %lld: the state would not be finite: h, a force, a speed or a mass is out of all measure",
                   (long long)sim->state.step_count);
  fx_joints_measure(sim, false);
  sim->state.time += h;
  sim->state.last_step = h;
  sim->state.step_count++;
  memset(sim->state.load, 0, (size_t)sim->state.count * sizeof *sim->state.load);
  fx_ledger_close(sim, &ledger);
  fx_sleep_update(sim);
  return projected;
}

frix_status fx_sim_look(frix_sim *sim, double h) {
  fx_kept kept;
  frix_status status = begin(sim, h, &kept);
  if (status != FRIX_OK) return status;
  status = find_contacts(sim);
  if (status == FRIX_OK) status = assemble(sim);
  take_back(sim, &kept, false);
  return status;
}

static frix_status advance(frix_sim *sim, double h) {
  double start = fx_seconds();
  bool reported = false;
  fx_kept kept;
  int64_t steps = sim->state.step_count;
  frix_status status = begin(sim, h, &kept);
  if (status != FRIX_OK) return status;
  status = answer(sim);
  double solved = fx_seconds();
  if (status == FRIX_OK) status = settle(sim, h, &reported);
  if (sim->state.step_count == steps) take_back(sim, &kept, reported);
  sim->report.awake_count = sim->mover_count;
  sim->report.seconds = fx_seconds() - start;
  sim->report.integrate_seconds = fx_seconds() - solved;
  return status;
}

static frix_status step(frix_sim *sim, double h, double seconds, frix_step_report *report) {
  if (!sim) return FRIX_ERROR_INPUT;
  if (sim->in_force) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_step: called from the force callback");
  if (!(h > 0.0) || !isfinite(h))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_step: h must be a positive number");
  sim->deadline = seconds;
  sim->solve_end = 0.0;
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
