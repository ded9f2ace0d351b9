/* The least forces of all that balance:
 *
 *   min 1/2 x'Qx    A x = b,  x in C           Q = diag(weight);   Q x + A'y = z,  z in C,  x . z = 0
 *
 * from the interior point that the linear programme left. Primal-dual steps as in cone_lp.c, without embedding: the
 * programme is known to have points inside, and Q gives its dual some. Where Q > 0 the answer is unique: what springs
 * of equal stiffness in all contacts would carry in the limit of rigid ones. */
#include "linalg/dense.h"
#include "solver/cone_lp_steps.h"
#include "solver/conic.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

#define GOAL 1e-12  /* of the gap, relative to x'Qx */
#define DUAL 1e-9   /* of Q x + A'y - z, relative to Q x */
#define PRIMAL 1e-9 /* of A x - b; farther off x is not kept */

/* Of the largest normal force, and of what the unit's own force makes of its dual: both below, a unit touches without
 * load. */
#define IDLE 1e-5
#define IDLE_DUAL 1e-2
#define NEGLIGIBLE 1e-12 /* of X: what an idle unit may move */

enum { MOST_STEPS = 50, BALANCE_ROUNDS = 4 };

/* x := x / tau and z := gap x^-1, so that all products are the same; y = 0. */
static bool start(fx_cone_lp *lp, const double *weight) {
  double sum = 0;
  int32_t count = 0;
  for (int32_t k = 0; k < lp->variable_count; k++) {
    lp->x[k] /= lp->tau;
    sum += weight[k] * lp->x[k] * lp->x[k];
  }
  lp->tau = 1, lp->kappa = 0;
  memset(lp->y, 0, (size_t)lp->row_count * sizeof *lp->y);
  FX_EACH_CONE(lp, i) count++;
  double gap = count ? sum / count : 0;
  FX_EACH_CONE(lp, i) {
    int32_t at = lp->first[i], d = fx_cone_lp_dim(lp, i);
    double det = fx_soc_det(d, lp->x + at);
    if (d == 1) det = lp->x[at] * lp->x[at];
    if (!(det > 0)) return false;
    for (int32_t k = 0; k < d; k++) lp->z[at + k] = (k ? -gap : gap) * lp->x[at + k] / det;
  }
  return gap > 0;
}

/* rx = Q x + A'y - z, ry = A x - b; the gap per cone. */
static double find_residuals(fx_cone_lp *lp, const double *weight, double *gap) {
  double sum = 0, all = 0;
  int32_t count = 0;
  fx_cone_lp_transposed(lp, lp->y, lp->rx);
  for (int32_t k = 0; k < lp->variable_count; k++) {
    lp->rx[k] += weight[k] * lp->x[k] - lp->z[k];
    sum += lp->x[k] * lp->z[k];
    all += weight[k] * lp->x[k] * lp->x[k];
  }
  fx_cone_lp_times(lp, lp->x, 0, lp->ry);
  for (int32_t k = 0; k < lp->row_count; k++) lp->ry[k] -= lp->b[k];
  FX_EACH_CONE(lp, i) count++;
  *gap = count ? sum / count : 0;
  return all > 0 ? sum / all : 0;
}

/* X = (Q + W^-2)^-1, W^-2 = (2 (Jw)(Jw)' - J) / eta^2 */
static bool fill_metric(fx_cone_lp *lp, const double *weight) {
  if (!fx_cone_lp_scale(lp)) return false;
  for (int32_t i = 0; i < lp->unit_count; i++) {
    int32_t at = lp->first[i], d = fx_cone_lp_dim(lp, i), pivot[6];
    const double *w = lp->w + at;
    double D[36], *X = lp->X + lp->square[i];
    double factor = lp->free[i] ? 0 : 1 / (lp->eta[i] * lp->eta[i]);
    for (int32_t r = 0; r < d; r++)
      for (int32_t c = 0; c < d; c++) {
        double sign = (r > 0) == (c > 0) ? 2 : -2, unit = r != c ? 0 : r == 0 ? -1 : 1;
        D[r * d + c] = (factor > 0 ? factor * (sign * w[r] * w[c] + unit) : 0) + (r == c ? weight[at + r] : 0);
        X[r * d + c] = r == c;
      }
    if (!fx_lu_factor(d, D, pivot)) return false;
    fx_lu_solve_rows(d, D, pivot, d, X);
    for (int32_t r = 0; r < d; r++)
      for (int32_t c = 0; c < r; c++) X[r * d + c] = X[c * d + r] = 0.5 * (X[r * d + c] + X[c * d + r]);
  }
  return true;
}

/* dx, dz and y2 from q and the part `rest` of the residuals. */
static void find_direction(fx_cone_lp *lp, const double *weight, double rest) {
  double none;
  for (int32_t k = 0; k < lp->row_count; k++) lp->py[k] = -rest * lp->ry[k];
  for (int32_t i = 0; i < lp->unit_count; i++) {
    int32_t at = lp->first[i], d = fx_cone_lp_dim(lp, i);
    if (!lp->free[i]) fx_soc_unapply(d, lp->w + at, lp->eta[i], lp->q + at, lp->px + at);
    for (int32_t k = at; k < at + d; k++) lp->px[k] = (lp->free[i] ? 0 : lp->px[k]) - rest * lp->rx[k];
  }
  fx_cone_lp_kkt(lp, lp->px, 0, lp->py, lp->dx, &none, lp->y2);
  fx_cone_lp_transposed(lp, lp->y2, lp->dz);
  for (int32_t k = 0; k < lp->variable_count; k++) lp->dz[k] += weight[k] * lp->dx[k] + rest * lp->rx[k];
  fx_cone_lp_scaled(lp);
}

static double take_step(fx_cone_lp *lp, const double *weight, double gap) {
  const fx_cone_lp_direction none = {0};
  if (!fill_metric(lp, weight) || !fx_cone_lp_factor(lp)) return 0;
  fx_cone_lp_aim(lp, 0, false);
  find_direction(lp, weight, 1);
  double affine = fmin(fx_cone_lp_longest(lp, &none), 1), sigma = (1 - affine) * (1 - affine) * (1 - affine);
  fx_cone_lp_aim(lp, sigma * gap, true);
  find_direction(lp, weight, 1);
  double step = fmin(0.99 * fx_cone_lp_longest(lp, &none), 1);
  if (!(step > 0)) return 0;
  fx_cone_lp_advance(lp, step, &none);
  return step;
}

bool fx_cone_qp_least(fx_cone_lp *lp, const double *weight) {
  bool good = false, careful = lp->careful;
  double gap, lowest = INFINITY;
  if (!start(lp, weight)) return false;
  lp->careful = false;
  lp->definite = true;
  fx_cone_lp_keep(lp, &lp->best);
  for (int32_t k = 0; k < MOST_STEPS; k++, lp->steps++) {
    double relative = find_residuals(lp, weight, &gap);
    double primal = sqrt(fx_dot(lp->row_count, lp->ry, lp->ry)), dual = 0, size = 0;
    for (int32_t e = 0; e < lp->variable_count; e++) {
      dual += lp->rx[e] * lp->rx[e];
      size += weight[e] * lp->x[e] * (weight[e] * lp->x[e]);
    }
    double distance = relative + sqrt(dual / size);
    if (primal <= PRIMAL && distance < lowest) {
      lowest = distance;
      fx_cone_lp_keep(lp, &lp->best);
    }
    good = relative <= GOAL && sqrt(dual / size) <= DUAL && primal <= PRIMAL;
    if (good || !(take_step(lp, weight, gap) > 1e-6)) break;
  }
  lp->careful = careful;
  lp->definite = false;
  return good;
}

/* ---- contacts without load ----
 *
 * Where x_i and z_i both vanish (boxes side by side), the iteration leaves roots of the gap in both. These units get
 * x_i = 0, and the others what then misses to b. */

static double largest_normal(const fx_cone_lp *lp) {
  double most = 0;
  FX_EACH_CONE(lp, i) most = fmax(most, lp->x[lp->first[i]]);
  return most;
}

static bool is_idle(const fx_cone_lp *lp, const double *weight, int32_t i, double most) {
  int32_t at = lp->first[i], d = fx_cone_lp_dim(lp, i);
  double most_weight = 0;
  if (lp->free[i]) return false;
  for (int32_t k = 0; k < d; k++) most_weight = fmax(most_weight, weight[at + k]);
  return lp->x[at] <= IDLE * most && lp->z[at] >= IDLE_DUAL * most_weight * lp->x[at];
}

bool fx_cone_qp_drop_idle(fx_cone_lp *lp, const double *weight, bool *idle) {
  bool any = false, careful = lp->careful;
  fx_cone_lp_go_back(lp, &lp->best);
  double most = largest_normal(lp);
  if (!fill_metric(lp, weight)) return false;
  for (int32_t i = 0; i < lp->unit_count; i++) {
    int32_t at = lp->first[i], d = fx_cone_lp_dim(lp, i);
    if (!(idle[i] = is_idle(lp, weight, i, most))) continue;
    any = true;
    for (int32_t k = 0; k < d * d; k++) lp->X[lp->square[i] + (size_t)k] *= NEGLIGIBLE;
    memset(lp->x + at, 0, (size_t)d * sizeof *lp->x);
  }
  lp->careful = false;
  lp->definite = true;
  any = any && fx_cone_lp_factor(lp);
  for (int round = 0; any && round < BALANCE_ROUNDS; round++) {
    double none;
    fx_cone_lp_times(lp, lp->x, 0, lp->py);
    for (int32_t k = 0; k < lp->row_count; k++) lp->py[k] = lp->b[k] - lp->py[k];
    fx_cone_lp_kkt(lp, NULL, 0, lp->py, lp->dx, &none, lp->y2);
    for (int32_t i = 0; i < lp->unit_count; i++)
      for (int32_t k = lp->first[i]; k < lp->first[i + 1] && !idle[i]; k++) lp->x[k] += lp->dx[k];
  }
  lp->careful = careful;
  lp->definite = false;
  return any;
}
