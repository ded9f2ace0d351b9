/* One step: contacts -> rows -> answer -> new state.
 *
 * Each stage reads what those before it made and owns what it makes: contacts (contact_search.c), rows and answer with
 * all reasons to make them once more (retries.c, step_solve.c), the new state (here). A step that fails, or under
 * STRICT is not certified, leaves everything as it was (undo.c). */
#include "sim/step.h"
#include "base/abi.h"
#include "base/threads.h"
#include "sim/softs.h"

#include <math.h>
#include <string.h>

/* Overflow has no answer. */
static bool is_finite(const frix_sim *sim) {
  const fx_state *s = &sim->state;
  for (int32_t k = 1; k < s->count; k++) {
    if (s->prototype[k] <= 0) continue;
    frix_quat q = s->pose[k].q;
    if (!fx_finite(s->pose[k].p) || !isfinite(q.w + q.x + q.y + q.z) || !fx_finite(s->velocity[k]) ||
        !fx_finite(s->spin[k]) || !fx_finite(s->momentum[k]))
      return false;
    if (sim->mover_of[k] >= 0 && !isfinite(fx_slot_body(sim, k)->mass * fx_norm2(s->velocity[k]))) return false;
  }
  return !sim->softs || fx_softs_finite(sim);
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

/* STRICT: a step that is not certified is none. */
static frix_status accept(frix_sim *sim) {
  bool strict = sim->config.policy == FRIX_POLICY_STRICT;
  return strict && !sim->report.certified ? refuse(sim) : FRIX_OK;
}

/* A copy for the way back, and the movers. */
static frix_status begin(frix_sim *sim, double h, fx_undo *undo) {
  fx_state *s = &sim->state;
  if (sim->arena_live) fx_arena_free(&sim->arena);
  fx_arena_init(&sim->arena, sim->inner);
  sim->arena_live = true;
  sim->repeats = NULL;
  sim->problem = (frix_problem){0};
  sim->rows = (fx_assembly){0};
  sim->turned_count = 0;
  sim->ball = NULL;
  sim->h = h;
  sim->look_seconds = 0.0;
  sim->report = (frix_step_report){.size = sizeof sim->report};
  sim->pose0 = FX_TAKE(&sim->arena, frix_pose, s->count);
  if (!sim->pose0) return FRIX_ERROR_MEMORY;
  frix_status status = fx_mechanism_renew(sim);
  if (status != FRIX_OK) return status;
  if (sim->mechanism) {
    if (!fx_mechanism_finite(sim))
      return fx_fail(sim->context, FRIX_ERROR_INPUT,
                     "step %lld: a number of the robot (qpos, qvel, ctrl, act) is not finite",
                     (long long)s->step_count + 1);
    fx_mechanism_place(sim), fx_mechanism_collect(sim);
  }
  memcpy(sim->pose0, s->pose, (size_t)s->count * sizeof *s->pose);
  status = fx_undo_keep(sim, undo);
  return status == FRIX_OK ? fx_movers_collect(sim) : status;
}

/* ---- the new state ---- */

/* Contacts and springs, ledger, poses, projection, sleep. *reported: the contacts are those of the step. */
static frix_status finish(frix_sim *sim, bool *reported, fx_undo *undo) {
  frix_energy *ledger = &undo->ledger;
  frix_status status = fx_contacts_report(sim);
  if (status != FRIX_OK) return status;
  *reported = true;
  if ((status = fx_ledger_solve(sim, ledger)) != FRIX_OK) return status;
  fx_joints_keep(sim);
  if (sim->mechanism) fx_mechanism_keep(sim), fx_half_go_on(sim), fx_mechanism_forces(sim);
  sim->integrator->finish(sim);
  frix_status projected = fx_project(sim); /* on error the step is made without it, and the call returns the error */
  if (projected == FRIX_OK && (status = accept(sim)) != FRIX_OK) return status;
  if (!is_finite(sim))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "step %lld: the state would not be finite: %s",
                   (long long)sim->state.step_count,
                   sim->mechanism && sim->mechanism->singular
                       ? "the mass matrix is singular, joints of one body repeat each other"
                       : "h, a force, a speed or a mass is out of range");
  fx_joints_measure(sim, false);
  fx_mechanism_await(sim);
  sim->state.time += sim->h;
  sim->state.last_step = sim->h;
  sim->state.step_count++;
  memset(sim->state.load, 0, (size_t)sim->state.count * sizeof *sim->state.load);
  fx_ledger_close(sim, ledger);
  fx_sleep_update(sim);
  return projected;
}

/* ---- the step ---- */

static frix_status find_contacts(frix_sim *sim) {
  frix_status status = fx_contacts_find(sim);
  return status == FRIX_OK ? fx_contacts_wake(sim) : status;
}

static frix_status make_rows(frix_sim *sim) {
  frix_status status = sim->integrator->implicit ? fx_middle_begin(sim) : FRIX_OK;
  return status == FRIX_OK ? fx_step_rows(sim) : status;
}

static frix_status find_answer(frix_sim *sim) {
  frix_status status = fx_step_answer(sim);
  if (status == FRIX_OK) status = fx_tension_judge(sim);
  if (status == FRIX_OK) fx_flight_judge(sim);
  return status == FRIX_OK ? accept(sim) : status;
}

static frix_status repeat(frix_sim *sim, double start) {
  frix_step_report *report = &sim->report;
  report->collide_seconds = report->assemble_seconds = report->solve_seconds = 0.0;
  report->seconds = report->integrate_seconds = fx_seconds() - start;
  return FRIX_OK;
}

static frix_status advance(frix_sim *sim, double h) {
  fx_undo undo = {0};
  bool reported = false;
  int64_t steps = sim->state.step_count;
  double start = fx_seconds(), collided = start, assembled = start, solved = start;
  if (fx_repeat_step(sim, h)) return repeat(sim, start);
  frix_status status = begin(sim, h, &undo);
  if (status != FRIX_OK) return status;
  if ((status = find_contacts(sim)) == FRIX_OK) collided = fx_seconds(), status = make_rows(sim);
  if (status == FRIX_OK) assembled = fx_seconds(), status = find_answer(sim);
  if (status == FRIX_OK) solved = fx_seconds(), status = finish(sim, &reported, &undo);
  if (sim->state.step_count == steps) fx_undo_take_back(sim, &undo, reported);
  if (status == FRIX_OK) fx_repeat_note(sim, &undo);
  double end = fx_seconds();
  sim->report.awake_count = sim->mover_count;
  sim->report.collide_seconds = collided - start + sim->look_seconds;
  sim->report.assemble_seconds = assembled - collided;
  sim->report.solve_seconds = solved - assembled - sim->look_seconds;
  sim->report.integrate_seconds = end - solved;
  sim->report.seconds = end - start;
  return status;
}

frix_status fx_sim_look(frix_sim *sim, double h) {
  fx_undo undo;
  frix_status status = begin(sim, h, &undo);
  if (status != FRIX_OK) return status;
  status = fx_contacts_find(sim);
  if (status == FRIX_OK) status = fx_step_rows(sim);
  fx_undo_take_back(sim, &undo, false);
  return status;
}

static frix_status step(frix_sim *sim, double h, double seconds, frix_step_report *report) {
  if (!sim) return FRIX_ERROR_INPUT;
  if (sim->in_force) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_step: called from the force callback");
  if (!(h > 0.0) || !isfinite(h))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_step: h must be a positive number");
  sim->deadline = seconds;
  sim->solve_end = 0.0;
  sim->failed_solves = 0;
  frix_status status = advance(sim, h);
  if (status == FRIX_ERROR_MEMORY) fx_fail(sim->context, status, "out of memory");
  if (report) *report = sim->report;
  return status;
}

static frix_status step_sized(frix_sim *sim, double h, double limit, frix_step_report *report, size_t size) {
  FX_OUTPUT(frix_step_report, report, size);
  frix_status status = step(sim, h, limit, report_all);
  FX_GIVE(report, size);
  return status;
}

frix_status frix_sim_step_sized(frix_sim *sim, double h, frix_step_report *report, size_t size) {
  return step_sized(sim, h, 0.0, report, size);
}

frix_status frix_sim_step_within_sized(frix_sim *sim, double h, double microseconds, frix_step_report *report,
                                       size_t size) {
  if (!sim) return FRIX_ERROR_INPUT;
  if (!(microseconds > 0.0) || !isfinite(microseconds))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_step_within: the time must be a positive number");
  return step_sized(sim, h, 1e-6 * microseconds, report, size);
}
