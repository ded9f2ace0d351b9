/* Dry friction of coordinates, |r| <= b with b = h F, without a row of the contact problem where it does as expected.
 *
 *   stuck    r = r_c - v / R, r_c of the last step and R = SOFT / M_ii: part of M~;   expected: |r| <= b
 *   slides   r = -b sign of the motion: a force;                                      expected: v keeps its sign
 *
 * What it did in the last step is tried first. An expectation that fails in the answer is replaced by another one, at
 * last by the exact row (mechanism_rows.c), and the step is made again. A row stays for some steps, for twice as many
 * each time it is needed again: where friction and loops share a load, stuck friction would share it otherwise. Stuck
 * friction gives way by SOFT of a change of load, once: what is at rest stays so. */
#include "sim/mechanism.h"

#include <math.h>

#define SOFT 1e-8
#define SLACK 1e-7 /* of the bound */
#define SLOW 1e-10 /* of the bound: a momentum that is none */

enum { LONGEST = 64 }; /* steps that a row stays */

void fx_holds_begin(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t i = 0; i < x->tree.dof_count; i++) {
    double F = x->tree.joint[x->tree.dof[i].joint].friction, past = sim->state.robot[x->at.friction + i];
    fx_hold *h = &x->hold[i];
    *h = (fx_hold){.bound = sim->h * F};
    if (!(F > 0.0) || x->tree.no_friction || x->part_of_dof[i] < 0 || fx_part_sleeps(sim, x->part_of_dof[i])) continue;
    double v = x->state->qvel[i];
    bool moves = fabs(v) * x->state->m[x->tree.dof[i].row] > SLOW * h->bound; /* or is held at the bound */
    bool slid = moves && v * past < 0.0 && fabs(past) >= (1.0 - SLACK) * h->bound, fresh = moves && past == 0.0;
    h->mode = slid || fresh ? FX_HOLD_SLIDES : FX_HOLD_STUCK;
    h->impulse = fresh  ? (v > 0.0 ? -h->bound : h->bound)
                 : slid ? (past > 0.0 ? h->bound : -h->bound)
                        : fx_clamp(past, -h->bound, h->bound);
    if (sim->state.robot[x->at.row_left + i] > 0.0) h->mode = FX_HOLD_ROW;
  }
}

void fx_holds_keep(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  double *left = sim->state.robot + x->at.row_left, *wait = sim->state.robot + x->at.row_wait;
  for (int32_t i = 0; i < x->tree.dof_count; i++) {
    if (x->hold[i].mode == FX_HOLD_NONE || x->mover[x->part_of_dof[i]] < 0) continue;
    if (sim->mover[x->mover[x->part_of_dof[i]]].tree->stands) continue; /* at rest */
    if (left[i] > 0.0) {
      left[i] -= 1.0;
    } else if (x->hold[i].mode == FX_HOLD_ROW) {
      wait[i] = fx_min(2.0 * wait[i] + 1.0, LONGEST);
      left[i] = wait[i];
    } else {
      wait[i] = 0.0;
    }
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

bool fx_holds_check(frix_sim *sim, bool rows) {
  const fx_mechanism *x = sim->mechanism;
  bool any = false;
  for (int32_t i = 0; i < x->tree.dof_count; i++) {
    fx_hold *h = &x->hold[i];
    if (h->mode != FX_HOLD_STUCK && h->mode != FX_HOLD_SLIDES) continue;
    const fx_tree_mover *t = sim->mover[x->mover[x->part_of_dof[i]]].tree;
    double v = t->v1[i - t->first], r = h->impulse - h->slope * v;
    bool stuck = h->mode == FX_HOLD_STUCK;
    if (stuck ? fabs(r) <= (1.0 + SLACK) * h->bound : v * h->impulse <= 0.0) continue;
    h->mode = rows || !stuck ? FX_HOLD_ROW : FX_HOLD_SLIDES;
    h->impulse = r > 0.0 ? h->bound : -h->bound;
    any = true;
  }
  return any;
}
