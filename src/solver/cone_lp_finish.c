/* What is made of the best iterate of a conic programme: equations to rounding, within the cones.
 *
 *   min |W^-1 dx|   A (x + dx) + a (t + dt) = b tau            min |W (A'(y + dy) - z)|   a . dy = 0
 *
 * In these metrics x and z are about as far from the faces of their cones as 1: a small change stays inside. Both are
 * solutions of the linear system of a step. */
#include "solver/cone_lp_steps.h"
#include "solver/conic.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 5 };

void fx_cone_lp_balance(fx_cone_lp *lp) {
  double before = INFINITY;
  fx_cone_lp_go_back(lp, &lp->best);
  if (!(fx_cone_lp_scale(lp) && fx_cone_lp_factor(lp))) return;
  for (int round = 0; round < ROUNDS; round++) {
    fx_cone_lp_times(lp, lp->x, lp->t, lp->py);
    for (int32_t k = 0; k < lp->row_count; k++) lp->py[k] = lp->tau * lp->b[k] - lp->py[k];
    double error = sqrt(fx_dot(lp->row_count, lp->py, lp->py));
    if (!(error < before)) {
      fx_cone_lp_go_back(lp, &lp->tried);
      return;
    }
    before = error;
    fx_cone_lp_keep(lp, &lp->tried);
    fx_cone_lp_direction by = {0};
    fx_cone_lp_kkt(lp, NULL, 0, lp->py, lp->dx, &by.t, lp->y2);
    memset(lp->dz, 0, (size_t)lp->variable_count * sizeof *lp->dz);
    memset(lp->y2, 0, (size_t)lp->row_count * sizeof *lp->y2);
    fx_cone_lp_scaled(lp);
    fx_cone_lp_advance(lp, fmin(0.9 * fx_cone_lp_longest(lp, &by), 1), &by);
  }
}

/* | W (z - A'y) |, and where nothing is large or small |A'y| of units without a cone; rx is left with z - A'y. */
static double dual_error(fx_cone_lp *lp) {
  double sum = 0;
  fx_cone_lp_transposed(lp, lp->y, lp->rx);
  for (int32_t k = 0; k < lp->variable_count; k++) lp->rx[k] = lp->z[k] - lp->rx[k];
  for (int32_t i = 0; i < lp->unit_count; i++) {
    int32_t at = lp->first[i], d = fx_cone_lp_dim(lp, i);
    double scaled[3];
    if (!lp->free[i]) fx_soc_apply(d, lp->w + at, lp->eta[i], lp->rx + at, scaled);
    sum += lp->free[i] ? fx_dot(d, lp->rx + at, lp->rx + at) : fx_dot(d, scaled, scaled);
  }
  return sqrt(sum);
}

void fx_cone_lp_balance_dual(fx_cone_lp *lp) {
  fx_cone_lp_go_back(lp, &lp->best);
  if (!(fx_cone_lp_scale(lp) && fx_cone_lp_factor(lp))) return;
  double before = dual_error(lp), none;
  memset(lp->py, 0, (size_t)lp->row_count * sizeof *lp->py);
  for (int round = 0; round < ROUNDS; round++) {
    fx_cone_lp_keep(lp, &lp->tried);
    fx_cone_lp_kkt(lp, lp->rx, 0, lp->py, lp->dx, &none, lp->y2);
    for (int32_t k = 0; k < lp->row_count; k++) lp->y[k] += lp->y2[k];
    double error = dual_error(lp);
    if (!(error < before)) {
      fx_cone_lp_go_back(lp, &lp->tried);
      return;
    }
    before = error;
  }
}
