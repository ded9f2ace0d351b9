/* Dry friction of coordinates, |r| <= b with b = h F, without a row of the contact problem where it does as expected.
 *
 *   stuck    r = r_c - v / R, r_c of the last step and R = SOFT / M_ii: part of M~;   expected: |r| <= b
 *   slides   r = -b sign of the motion: a force;                                      expected: v keeps its sign
 *
 * What it did in the last step is tried first. An expectation that fails, in the free motion or in the answer, is
 * replaced by another one, at last by the exact row (mechanism_rows.c), and the step is made again. Stuck friction
 * gives way by SOFT of a change of load, once: what is at rest stays so. */
#include "sim/mechanism.h"

#include <math.h>

#define SOFT 1e-8
#define SLACK 1e-7 /* of the bound */

void fx_holds_begin(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t i = 0; i < x->tree.dof_count; i++) {
    double F = x->tree.joint[x->tree.dof[i].joint].friction, past = sim->state.robot[x->at.friction + i];
    fx_hold *h = &x->hold[i];
    *h = (fx_hold){.bound = sim->h * F};
    if (!(F > 0.0) || x->tree.no_friction || x->part_of_dof[i] < 0) continue;
    double v = x->state->qvel[i];
    bool slid = fabs(past) >= (1.0 - SLACK) * h->bound, fresh = past == 0.0 && v != 0.0;
    h->mode = slid || fresh ? FX_HOLD_SLIDES : FX_HOLD_STUCK;
    h->impulse = fresh ? (v > 0.0 ? -h->bound : h->bound) : slid ? (past > 0.0 ? h->bound : -h->bound) : past;
  }
}

void fx_holds_load(const frix_sim *sim, double *smooth) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t i = 0; i < x->tree.dof_count; i++) {
    fx_hold *h = &x->hold[i];
    if (h->mode != FX_HOLD_STUCK && h->mode != FX_HOLD_SLIDES) continue;
    double *diagonal = &x->implicit[x->tree.dof[i].row];
    h->slope = h->mode == FX_HOLD_STUCK ? *diagonal / SOFT : 0.0;
    *diagonal += h->slope;
    smooth[i] += h->impulse - h->slope * x->state->qvel[i]; /* as a change from v0 */
  }
}

bool fx_holds_check(frix_sim *sim, fx_when when, bool rows) {
  const fx_mechanism *x = sim->mechanism;
  bool any = false;
  for (int32_t i = 0; i < x->tree.dof_count; i++) {
    fx_hold *h = &x->hold[i];
    if (h->mode != FX_HOLD_STUCK && h->mode != FX_HOLD_SLIDES) continue;
    const fx_tree_mover *t = sim->mover[x->mover[x->part_of_dof[i]]].tree;
    double v = (when == FX_FREE ? t->v_free : t->v1)[i - t->first], r = h->impulse - h->slope * v;
    bool stuck = h->mode == FX_HOLD_STUCK;
    if (stuck ? fabs(r) <= (1.0 + SLACK) * h->bound : v * h->impulse <= 0.0) continue;
    h->mode = rows || !stuck ? FX_HOLD_ROW : FX_HOLD_SLIDES;
    h->impulse = r > 0.0 ? h->bound : -h->bound;
    any = true;
  }
  return any;
}
