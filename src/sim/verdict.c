/* Whether to believe a step.
 *
 * A step has several phases: contacts and joints, Poisson's compression and decompression, the agreement of forces with
 * an implicit answer, the search for contacts of thrown bodies, projection. Each brings its own verdict. The step is
 * certified where all of them are; the report holds the worst with its name, and no phase overwrites another. */
#include "sim/sim_internal.h"

#include <math.h>

bool fx_certified(const frix_sim *sim) { return sim->report.certificate.residual <= sim->config.tolerance; }

const char *frix_row_kind_name(frix_row_kind kind) {
  static const char *const name[] = {"",       "contact", "drilling friction", "limit", "joint friction", "motor",
                                     "spring", "joint"};
  return (unsigned)kind < sizeof name / sizeof *name ? name[kind] : "";
}

void fx_name_worst_row(frix_sim *sim, const fx_assembly *a) {
  frix_step_report *report = &sim->report;
  int32_t row = report->certificate.worst_row;
  report->worst_kind = FRIX_ROW_NONE;
  report->worst_a = report->worst_b = (frix_body_id){0, 0};
  report->worst_joint = (frix_joint_id){0, 0};
  for (int32_t k = 0; row >= 0 && k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    if (row < g->row || row >= g->row + g->dim) continue;
    report->worst_kind = fx_row_kind_of(g);
    if (g->robot) { /* frix_sim_row tells which part of the robot */
      report->worst_b = fx_slot_id(sim, sim->mover[g->mover[0]].slot);
      return;
    }
    bool joint = fx_group_of_joint(g);
    const fx_joint *of = joint ? &sim->model->joint[g->source] : NULL;
    report->worst_a = fx_slot_id(sim, joint ? of->a : sim->contact[g->source].body_a);
    report->worst_b = fx_slot_id(sim, joint ? of->b : sim->contact[g->source].body_b);
    if (joint) report->worst_joint = (frix_joint_id){(uint32_t)g->source + 1, 1};
    return;
  }
}

/* Whether phase a is worse than phase b. */
static bool is_worse(const frix_step_report *a, const frix_step_report *b) {
  if (a->certified != b->certified) return !a->certified;
  double x = a->certificate.residual, y = b->certificate.residual;
  return x > y || (isnan(x) && !isnan(y));
}

void fx_take_verdict(frix_step_report *to, const frix_step_report *from) {
  to->outcome = from->outcome;
  to->certificate = from->certificate;
  to->certified = from->certified;
  to->phase = from->phase;
  to->worst_kind = from->worst_kind;
  to->worst_a = from->worst_a;
  to->worst_b = from->worst_b;
  to->worst_joint = from->worst_joint;
}

void fx_join_verdict(frix_sim *sim, const frix_step_report *before, const char *phase) {
  frix_step_report *now = &sim->report;
  now->phase = phase;
  now->approximate |= before->approximate;
  now->overlaps_left |= before->overlaps_left;
  if (is_worse(before, now)) fx_take_verdict(now, before);
}

void fx_fail_phase(frix_sim *sim, const char *phase, frix_outcome outcome) {
  frix_step_report *report = &sim->report;
  if (report->certified) report->phase = phase, report->outcome = outcome;
  report->certified = false;
}
