/* Rows and answer of a step, and the reasons to make them once more.
 *
 * The loop: solve, then look at the answer for one reason after the other. A reason that holds changes the rows or the
 * contacts and sends the step back to where these are made. The walk then starts again at the first reason, and the
 * counts of those before it at zero. A reason has a limit between two such starts; one with a phase that still holds
 * at its limit leaves a verdict, and the step is not certified. Under a deadline, or where the answer is not
 * certified, most reasons are not looked at. */
#include "sim/mechanism.h"
#include "sim/step.h"

typedef struct retry {
  const char *phase; /* of the verdict where it holds at its limit; NULL: the answer stays as it is */
  frix_status (*look)(frix_sim *sim, fx_round round, fx_redo *redo);
  int32_t limit;
  bool no_restart; /* what it changes gives no reason to look at those before it */
} retry;

static const retry retries[] = {
    /* dry friction of a ball joint acts in the plane of its spin, which the answer tells */
    {"ball friction", fx_retry_balls, 12, false},
    /* forces of an implicit step are those at the middle of its answer */
    {"forces", fx_retry_middle, 59, false},
    /* a servo reaches its bounds, or dry friction holds or slides, contrary to the assumption */
    {"joint forces", fx_retry_drives, 5, false},
    /* a blow throws a body into one it had no contact with */
    {"thrown", fx_retry_thrown, 4, false},
    /* a round face tips about a place of its rim that has no contact */
    {"rims", fx_retry_rims, 12, false},
    /* soft surfaces overlap where the answer takes them, though gaps along their velocities do not close */
    {"soft overlap", fx_retry_ahead, 8, false},
    /* joints hold at the end of the step, not only to first order */
    {NULL, fx_retry_joints, INT32_MAX, true},
    /* forces of sliding rigid contacts that the law leaves open: another answer of the same rows */
    {NULL, fx_retry_loads, 0, true},
    /* restitution: decompression, and the part of it that creates no energy */
    {NULL, fx_retry_bounces, 0, true},
    /* what bounces may be thrown, too */
    {"thrown", fx_retry_thrown, 4, false},
    {"joint forces", fx_retry_drives, 5, false},
    {"ball friction", fx_retry_balls, 0, false},
};

enum { RETRIES = sizeof retries / sizeof *retries };

frix_status fx_step_rows(frix_sim *sim) {
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
  return status == FRIX_OK ? fx_joints_assemble(sim, a) : status;
}

static frix_status redo_from(frix_sim *sim, fx_redo where) {
  frix_status status = where >= FX_REDO_CONTACTS ? fx_contacts_wake(sim) : FRIX_OK;
  if (status == FRIX_OK && where >= FX_REDO_ROWS) status = fx_step_rows(sim);
  return status == FRIX_OK ? fx_sim_solve(sim, &sim->rows) : status;
}

frix_status fx_step_answer(frix_sim *sim) {
  int32_t count[RETRIES] = {0}, k = 0;
  frix_status status = fx_sim_solve(sim, &sim->rows);
  while (status == FRIX_OK && k < RETRIES) {
    const retry *reason = &retries[k];
    fx_round round = {count[k], count[k] == reason->limit};
    fx_redo redo = FX_REDO_NOTHING;
    status = reason->look(sim, round, &redo);
    if (status != FRIX_OK) break;
    if (redo == FX_REDO_NOTHING || round.last) {
      if (redo != FX_REDO_NOTHING && reason->phase) fx_fail_phase(sim, reason->phase, FRIX_OUTCOME_MAX_ITERATIONS);
      k++;
      continue;
    }
    count[k]++;
    status = redo_from(sim, redo);
    while (!reason->no_restart && k > 0) count[--k] = 0;
  }
  return status;
}
