/* The answer of a gradient, corrected until only rounding is left of the law.
 *
 *   F = z - P(z - u~_z),   K dz = -F
 *
 * An answer with the error e turns the friction of a slip |u_T| by e / |u_T|, and the derivative with it: a residual of
 * 1e-9 is enough for the motion, but not for its derivative near a change of mode. One step of Newton with the factors
 * at hand leaves e^2 / distance, and the last of them tells the error that is left. Where it moved anything, modes and
 * factors are made again. */
#include "analysis/gradient.h"

#include "problem/cone.h"
#include "problem/mass_loss.h"

#include <math.h>
#include <string.h>

#define SHIFT 1e-12 /* of an answer, over the distance to a kink: K is as before below it */
#define ROUNDING 1e-16
#define DIGITS 1e-6 /* of responses: masses that leave fewer say nothing of derivatives */
enum { MOST_ROUNDS = 4 };

/* F by row, scaled; the largest over what its island carries. */
static double find_error(const frix_gradient *g, const double *r, const double *u, double *F) {
  double most = 0;
  for (int32_t i = 0; i < g->s.contact_count; i++) {
    const frix_contact *c = &g->s.contact[i];
    int32_t row = g->s.row[i], d = c->dim;
    double S = g->forces->scale[i], speed[FRIX_MAX_DIM], x[FRIX_MAX_DIM], carried = fx_gradient_speed_unit(g, i) * S;
    for (int32_t k = 0; k < d; k++) {
      speed[k] = S * u[row + k];
      x[k] = r[row + k] / S - speed[k];
    }
    if (c->cone == FRIX_CONE_BILATERAL) {
      memcpy(F + row, speed, (size_t)d * sizeof *F);
    } else {
      if (!fx_gradient_sticks(g, i)) x[0] -= fx_cone_shift(c, speed);
      fx_cone_project(c, x, x);
      for (int32_t k = 0; k < d; k++) F[row + k] = r[row + k] / S - x[k];
    }
    for (int32_t k = 0; k < d; k++)
      if (fabs(F[row + k]) > most * carried) most = carried > 0 ? fabs(F[row + k]) / carried : INFINITY;
  }
  return most;
}

/* r - S dz, and how far that is over what the islands carry. */
static double correct(const frix_gradient *g, const double *dz, double *r) {
  double most = 0;
  for (int32_t i = 0; i < g->s.contact_count; i++) {
    double S = g->forces->scale[i], carried = fx_gradient_speed_unit(g, i) * S;
    for (int32_t k = g->s.row[i]; k < g->s.row[i + 1]; k++) {
      r[k] = g->r[k] - S * dz[k];
      if (carried > 0) most = fmax(most, fabs(dz[k]) / carried);
    }
  }
  return most;
}

/* How far speeds moved, in the same units. */
static double moved(const frix_gradient *g, const double *u) {
  double most = 0;
  for (int32_t i = 0; i < g->s.contact_count; i++) {
    double carried = fx_gradient_speed_unit(g, i);
    for (int32_t k = g->s.row[i]; k < g->s.row[i + 1]; k++)
      if (carried > 0) most = fmax(most, fabs(u[k] - g->u[k]) / carried);
  }
  return most;
}

/* Modes and factors at the corrected answer. Where no contact opened or closed, factors are made again only where those
 * at hand are too far off: half of what a verdict costs. */
static frix_status look_again(frix_gradient *g, fx_arena *own) {
  size_t blocks = 0, contacts = (size_t)g->s.contact_count;
  for (size_t i = 0; i < contacts; i++) blocks += (size_t)(g->s.contact[i].dim * g->s.contact[i].dim);
  double *J = FX_TAKE_RAW(own, double, blocks), *JG = FX_TAKE_RAW(own, double, blocks), change = 0;
  uint8_t *among = FX_TAKE_RAW(own, uint8_t, contacts);
  if (!J || !JG || !among) return FRIX_ERROR_MEMORY;
  memcpy(J, g->J, blocks * sizeof *J), memcpy(JG, g->JG, blocks * sizeof *JG);
  memcpy(among, g->among, contacts * sizeof *among);
  frix_status status = fx_gradient_modes(g);
  if (status != FRIX_OK) return status;
  if (contacts && memcmp(among, g->among, contacts * sizeof *among)) return fx_gradient_factor_all(g);
  for (size_t i = 0; i < contacts; i++) { /* what opens has slopes of before, which count for nothing */
    int32_t d = g->s.contact[i].dim;
    for (size_t k = g->block[i]; g->among[i] && k < g->block[i] + (size_t)(d * d); k++)
      change = fmax(change, fmax(fabs(J[k] - g->J[k]), fabs(JG[k] - g->JG[k])));
  }
  return fx_gradient_renew(g, change);
}

/* One step; *by: how far it went, the error of the answer before it. *done: it brought nothing. */
static frix_status improve(frix_gradient *g, fx_arena *own, double *F, double *by, bool *done) {
  size_t rows = (size_t)g->s.row_count;
  double *r = FX_TAKE(own, double, rows), *u = FX_TAKE(own, double, rows), *v = FX_TAKE(own, double, g->s.dof_count);
  if (!r || !u || !v) return FRIX_ERROR_MEMORY;
  double before = find_error(g, g->r, g->u, F);
  *done = true;
  if (!(before > 0)) *by = 0;
  if (!(before > 0) || fx_gradient_solve_all(g, own, false, F) != FRIX_OK) return FRIX_OK; /* not in these modes */
  *by = correct(g, F, r);
  fx_system_velocity(&g->s, r, u, v);
  *by = fmax(*by, moved(g, u));
  if (!(find_error(g, r, u, F) < 0.5 * before)) return FRIX_OK;
  memcpy(g->r, r, rows * sizeof *r), memcpy(g->u, u, rows * sizeof *u);
  memcpy(g->v, v, (size_t)g->s.dof_count * sizeof *v);
  *done = *by <= SHIFT * fmin(1, g->distance);
  if (*done) return FRIX_OK;
  return look_again(g, own);
}

frix_status fx_gradient_polish(frix_gradient *g) {
  fx_arena own;
  fx_arena_init(&own, g->context);
  double *F = FX_TAKE(&own, double, g->s.row_count);
  frix_status status = F ? FRIX_OK : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) g->noise = find_error(g, g->r, g->u, F);
  bool done = false;
  for (int round = 0; status == FRIX_OK && round < MOST_ROUNDS && !done; round++) {
    if (g->verdict != FRIX_GRADIENT_SMOOTH) break;
    status = improve(g, &own, F, &g->noise, &done);
  }
  double loss = status == FRIX_OK && g->verdict == FRIX_GRADIENT_SMOOTH ? fx_mass_loss(&own, &g->s) : 1;
  if (!(loss > 0)) status = FRIX_ERROR_MEMORY;
  if (status == FRIX_OK && ROUNDING * loss > DIGITS && !g->known) g->verdict = FRIX_GRADIENT_NOT_UNIQUE;
  fx_arena_free(&own);
  if (status == FRIX_OK) fx_gradient_doubt(g);
  return status;
}
