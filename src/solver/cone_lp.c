/* Conic linear programmes by the homogeneous self-dual embedding: one homogeneous system whose solutions are those of
 * the programme (tau > 0), or show that it has none (kappa > 0), so that no start is needed and neither end is special.
 *
 *   A'y - z = 0,   a . y + slope tau = 0,   A x + a t - b tau = 0,   kappa + slope t + b . y = 0
 *   x, z in C,   tau, kappa >= 0,   x . z + tau kappa = 0
 *
 * Primal-dual steps with Nesterov-Todd scaling (lambda = W z = W^-1 x) and Mehrotra's corrector:
 *   A'dy - dz = px,  a . dy + slope dtau = pt,  A dx + a dt - b dtau = py,  dkappa + slope dt + b . dy = ptau
 *   W dz + W^-1 dx = q = lambda \ d,   kappa dtau + tau dkappa = dk
 *   => W^-2 dx + A'dy = px + W^-1 q: two solutions of one linear system (cone_lp_linear.c), for dtau and for the rest.
 * References: Y. Ye, M. Todd, S. Mizuno 1994; L. Vandenberghe, The CVXOPT linear and quadratic cone program solvers,
 * 2010; S. Mehrotra 1992. */
#include "solver/cone_lp_steps.h"
#include "solver/conic.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

#define NEAR 1e-6     /* farther than this from every end nothing is said */
#define SHORTEST 1e-8 /* of a step that is one */
#define SHORT 0.3     /* of a step near an end: what is left is rounding of the normal equations */
#define CROWDED 0.2   /* shorter steps of the corrector: to the middle instead */
#define CENTRING 0.9  /* of the gap is left by that */

enum { MOST_STEPS = 100, PATIENCE = 15 };

/* ---- where it stands ---- */

static void start(fx_cone_lp *lp) {
  memset(lp->x, 0, (size_t)lp->variable_count * sizeof *lp->x);
  memset(lp->z, 0, (size_t)lp->variable_count * sizeof *lp->z);
  memset(lp->y, 0, (size_t)lp->row_count * sizeof *lp->y);
  FX_EACH_CONE(lp, i) lp->x[lp->first[i]] = lp->z[lp->first[i]] = 1;
  lp->t = 0;
  lp->tau = lp->kappa = 1;
  lp->steps = 0;
}

static double find_residuals(fx_cone_lp *lp) {
  fx_cone_lp_transposed(lp, lp->y, lp->rx);
  for (int32_t k = 0; k < lp->variable_count; k++) lp->rx[k] -= lp->z[k];
  fx_cone_lp_times(lp, lp->x, lp->t, lp->ry);
  for (int32_t k = 0; k < lp->row_count; k++) lp->ry[k] -= lp->b[k] * lp->tau;
  lp->rt = lp->a ? fx_dot(lp->row_count, lp->a, lp->y) + lp->slope * lp->tau : 0;
  lp->rtau = lp->kappa + lp->slope * lp->t + fx_dot(lp->row_count, lp->b, lp->y);
  return sqrt(fx_dot(lp->variable_count, lp->rx, lp->rx) + fx_dot(lp->row_count, lp->ry, lp->ry) + lp->rt * lp->rt);
}

/* x . z + tau kappa per cone */
static double mean_gap(const fx_cone_lp *lp) {
  double sum = lp->tau * lp->kappa;
  int32_t count = 1;
  FX_EACH_CONE(lp, i) {
    for (int32_t k = lp->first[i]; k < lp->first[i + 1]; k++) sum += lp->x[k] * lp->z[k];
    count++;
  }
  return sum / count;
}

/* How far it is from either end, each relative to what that end is divided by; *end is the nearer one. */
static double distance(fx_cone_lp *lp, fx_cone_lp_end *end) {
  double all = find_residuals(lp), primal = sqrt(fx_dot(lp->row_count, lp->ry, lp->ry));
  double drive = fx_dot(lp->row_count, lp->b, lp->y), gain = lp->slope * lp->t;
  double to_solution = (all + fabs(gain + drive)) / lp->tau;
  *end = FX_CONE_LP_SOLVED;
  double least = to_solution;
  if (drive < 0) { /* A'y = z, a . y = 0 beside -b . y */
    double off =
        sqrt(fx_dot(lp->variable_count, lp->rx, lp->rx)) + (lp->a ? fabs(fx_dot(lp->row_count, lp->a, lp->y)) : 0);
    if (off / -drive < least) least = off / -drive, *end = FX_CONE_LP_INFEASIBLE;
  }
  if (gain < 0) { /* A x + a t = 0 beside -slope t */
    double off = primal + lp->tau * sqrt(fx_dot(lp->row_count, lp->b, lp->b));
    if (off / -gain < least) least = off / -gain, *end = FX_CONE_LP_UNBOUNDED;
  }
  return least;
}

/* ---- directions ---- */

/* From q, the part `rest` of the residuals, and dk: dx, dz and y2 := dy. */
static fx_cone_lp_direction find_direction(fx_cone_lp *lp, double rest, double dk, double t1) {
  double t2, *dy = lp->y2;
  for (int32_t k = 0; k < lp->row_count; k++) lp->py[k] = -rest * lp->ry[k];
  for (int32_t i = 0; i < lp->unit_count; i++) {
    int32_t at = lp->first[i], d = fx_cone_lp_dim(lp, i);
    if (!lp->free[i]) fx_soc_unapply(d, lp->w + at, lp->eta[i], lp->q + at, lp->px + at);
    for (int32_t k = at; k < at + d; k++) lp->px[k] = (lp->free[i] ? 0 : lp->px[k]) - rest * lp->rx[k];
  }
  fx_cone_lp_kkt(lp, lp->px, -rest * lp->rt, lp->py, lp->x2, &t2, dy);
  double above = -rest * lp->rtau - dk / lp->tau - lp->slope * t2 - fx_dot(lp->row_count, lp->b, dy);
  double below = lp->slope * t1 + fx_dot(lp->row_count, lp->b, lp->y1) - lp->kappa / lp->tau;
  fx_cone_lp_direction out = {.tau = above / below};
  out.t = t2 + out.tau * t1;
  out.kappa = (dk - lp->kappa * out.tau) / lp->tau;
  for (int32_t k = 0; k < lp->variable_count; k++) lp->dx[k] = lp->x2[k] + out.tau * lp->x1[k];
  for (int32_t k = 0; k < lp->row_count; k++) dy[k] += out.tau * lp->y1[k];
  fx_cone_lp_transposed(lp, dy, lp->dz);
  FX_EACH_CONE(lp, i) {
    for (int32_t k = lp->first[i]; k < lp->first[i + 1]; k++) lp->dz[k] += rest * lp->rx[k];
  }
  return out;
}

/* Towards the centre of gap sigma times the present one; its length. correct: with the predictor's second order. */
static double aim_at(fx_cone_lp *lp, double sigma, double gap, bool correct, double t1, fx_cone_lp_direction *by) {
  double second = correct ? by->tau * by->kappa : 0;
  fx_cone_lp_aim(lp, sigma * gap, correct);
  *by = find_direction(lp, 1 - sigma, sigma * gap - lp->tau * lp->kappa - second, t1);
  fx_cone_lp_scaled(lp);
  return fmin(0.99 * fx_cone_lp_longest(lp, by), 1);
}

/* Predictor and corrector; the step's length, 0 where it failed. Iterates that came too near to the faces of some cones
 * for the others are taken back to the middle first. The residuals are fresh. */
static double take_step(fx_cone_lp *lp) {
  double t1, gap = mean_gap(lp);
  if (!fx_cone_lp_scale(lp) || !fx_cone_lp_factor(lp)) return 0;
  fx_cone_lp_kkt(lp, NULL, -lp->slope, lp->b, lp->x1, &t1, lp->y1);
  fx_cone_lp_aim(lp, 0, false);
  fx_cone_lp_direction by = find_direction(lp, 1, -lp->tau * lp->kappa, t1);
  fx_cone_lp_scaled(lp);
  double affine = fmin(fx_cone_lp_longest(lp, &by), 1), sigma = (1 - affine) * (1 - affine) * (1 - affine);
  double step = aim_at(lp, sigma, gap, true, t1, &by);
  if (step < CROWDED) step = aim_at(lp, CENTRING, gap, false, t1, &by);
  if (!(step > 0) || !isfinite(by.t + by.tau + by.kappa)) return 0;
  fx_cone_lp_advance(lp, step, &by);
  return step;
}

/* ---- the run ---- */

/* Steps while they gain. */
static fx_cone_lp_end run(fx_cone_lp *lp, double goal) {
  fx_cone_lp_end end, best_end = FX_CONE_LP_LOST;
  double best = INFINITY;
  int32_t since = 0, most = lp->steps + MOST_STEPS;
  for (;; lp->steps++) {
    double now = distance(lp, &end);
    since = now < 0.5 * best ? 0 : since + 1;
    if (now < best) {
      best = now;
      best_end = end;
      fx_cone_lp_keep(lp, &lp->best);
    }
    if (best <= goal || since > PATIENCE || lp->steps >= most) break;
    double step = take_step(lp);
    if (!lp->careful && step < SHORT && now < NEAR) break;
    if (!(step > SHORTEST) && !fx_cone_lp_more_careful(lp)) break;
    if (!(step > SHORTEST)) fx_cone_lp_go_back(lp, &lp->best);
  }
  return best <= NEAR ? best_end : FX_CONE_LP_LOST;
}

fx_cone_lp_end fx_cone_lp_solve(fx_cone_lp *lp, double goal) {
  lp->careful = false;
  start(lp);
  return run(lp, goal);
}

fx_cone_lp_end fx_cone_lp_go_on(fx_cone_lp *lp, double goal) {
  fx_cone_lp_go_back(lp, &lp->best);
  return run(lp, goal);
}
