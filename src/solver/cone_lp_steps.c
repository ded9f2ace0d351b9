/* Steps within products of second-order cones: scaling, directions, lengths, and the way back. */
#include "solver/cone_lp_steps.h"

#include "solver/conic.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

frix_status fx_cone_lp_take(fx_arena *arena, double most_cost, fx_cone_lp *lp, bool *affordable) {
  double **variables[] = {&lp->x,  &lp->z,      &lp->w,      &lp->lambda,  &lp->rx,     &lp->q,
                          &lp->x1, &lp->x2,     &lp->px,     &lp->dx,      &lp->dz,     &lp->sx,
                          &lp->sz, &lp->best.x, &lp->best.z, &lp->tried.x, &lp->tried.z};
  double **rows[] = {&lp->y, &lp->ry, &lp->y1, &lp->y2, &lp->best.y, &lp->tried.y, &lp->py};
  for (size_t k = 0; k < sizeof variables / sizeof *variables; k++)
    if (!(*variables[k] = FX_TAKE(arena, double, lp->variable_count))) return FRIX_ERROR_MEMORY;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (!(*rows[k] = FX_TAKE(arena, double, lp->row_count))) return FRIX_ERROR_MEMORY;
  if (!(lp->eta = FX_TAKE(arena, double, lp->unit_count))) return FRIX_ERROR_MEMORY;
  return fx_cone_lp_take_linear(arena, most_cost, lp, affordable);
}

/* ---- scaling ---- */

bool fx_cone_lp_scale(fx_cone_lp *lp) {
  FX_EACH_CONE(lp, i) {
    int32_t at = lp->first[i], d = fx_cone_lp_dim(lp, i);
    const double *w = lp->w + at;
    double *X = lp->X + lp->square[i];
    if (!fx_soc_scale(d, lp->x + at, lp->z + at, lp->w + at, &lp->eta[i], lp->lambda + at)) return false;
    double square = lp->eta[i] * lp->eta[i];
    for (int32_t r = 0; r < d; r++)
      for (int32_t c = 0; c < d; c++) X[r * d + c] = square * (2 * w[r] * w[c] - (r != c ? 0 : r == 0 ? 1 : -1));
  }
  return true;
}

/* ---- directions ---- */

void fx_cone_lp_scaled(fx_cone_lp *lp) {
  FX_EACH_CONE(lp, i) {
    int32_t at = lp->first[i], d = fx_cone_lp_dim(lp, i);
    fx_soc_unapply(d, lp->w + at, lp->eta[i], lp->dx + at, lp->sx + at);
    fx_soc_apply(d, lp->w + at, lp->eta[i], lp->dz + at, lp->sz + at);
  }
}

double fx_cone_lp_longest(const fx_cone_lp *lp, const fx_cone_lp_direction *by) {
  double step = INFINITY;
  if (by->tau < 0) step = fmin(step, -lp->tau / by->tau);
  if (by->kappa < 0) step = fmin(step, -lp->kappa / by->kappa);
  FX_EACH_CONE(lp, i) {
    int32_t at = lp->first[i], d = fx_cone_lp_dim(lp, i);
    step = fmin(step, fx_soc_step(d, lp->lambda + at, lp->sx + at));
    step = fmin(step, fx_soc_step(d, lp->lambda + at, lp->sz + at));
  }
  return step;
}

void fx_cone_lp_aim(fx_cone_lp *lp, double target, bool correct) {
  FX_EACH_CONE(lp, i) {
    int32_t at = lp->first[i], d = fx_cone_lp_dim(lp, i);
    double rhs[3], product[3] = {0};
    fx_soc_product(d, lp->lambda + at, lp->lambda + at, rhs);
    if (correct) fx_soc_product(d, lp->sx + at, lp->sz + at, product);
    for (int32_t k = 0; k < d; k++) rhs[k] = (k == 0 ? target : 0) - rhs[k] - product[k];
    fx_soc_divide(d, lp->lambda + at, rhs, lp->q + at);
  }
}

void fx_cone_lp_advance(fx_cone_lp *lp, double step, const fx_cone_lp_direction *by) {
  for (int32_t k = 0; k < lp->variable_count; k++) lp->x[k] += step * lp->dx[k];
  FX_EACH_CONE(lp, i) {
    for (int32_t k = lp->first[i]; k < lp->first[i + 1]; k++) lp->z[k] += step * lp->dz[k];
  }
  for (int32_t k = 0; k < lp->row_count; k++) lp->y[k] += step * lp->y2[k];
  lp->t += step * by->t;
  lp->tau += step * by->tau;
  lp->kappa += step * by->kappa;
}

/* ---- places ---- */

void fx_cone_lp_keep(const fx_cone_lp *lp, fx_cone_lp_place *at) {
  memcpy(at->x, lp->x, (size_t)lp->variable_count * sizeof *lp->x);
  memcpy(at->z, lp->z, (size_t)lp->variable_count * sizeof *lp->z);
  memcpy(at->y, lp->y, (size_t)lp->row_count * sizeof *lp->y);
  at->t = lp->t, at->tau = lp->tau, at->kappa = lp->kappa;
}

void fx_cone_lp_go_back(fx_cone_lp *lp, const fx_cone_lp_place *at) {
  memcpy(lp->x, at->x, (size_t)lp->variable_count * sizeof *lp->x);
  memcpy(lp->z, at->z, (size_t)lp->variable_count * sizeof *lp->z);
  memcpy(lp->y, at->y, (size_t)lp->row_count * sizeof *lp->y);
  lp->t = at->t, lp->tau = at->tau, lp->kappa = at->kappa;
}
