/* Semismooth Newton of the conic problem: it finishes the interior point and makes use of a warm start.
 *
 *   s - P_C(s - z) = 0, J = dP_C(s - z), F = (J + delta)^-1:   (A + E' F (I - J) E) dx = -rd - E' F (s - P_C(s - z))
 *
 * Fast once the faces are right. Reference: L. Qi, J. Sun 1993. */
#include "solver/conic_steps.h"

#include <math.h>
#include <string.h>

/* F (I - J) as block B, and t = F phi, for one part; eigenvectors of J: (1, w), (1, -w), across. */
static void newton_part(fx_conic *c, const fx_conic_part *part, double delta, double *B) {
  int32_t d = part->dim, first = part->first;
  const double *phi = c->p + first;
  double y[3] = {0}, *t = c->t + first, length = 0;
  memset(B, 0, 9 * sizeof *B);
  if (part->held) {
    B[0] = FX_HELD_WEIGHT;
    t[0] = FX_HELD_WEIGHT * phi[0];
    return;
  }
  for (int32_t k = 0; k < d; k++) y[k] = c->ds[first + k] - c->z[first + k];
  for (int32_t k = 1; k < d; k++) length += y[k] * y[k];
  length = sqrt(length);
  bool inside = y[0] >= length, outside = y[0] <= -length;
  if (d == 1 || inside || outside) {
    double j = (d == 1 ? y[0] > 0 : inside) ? 1 : 0, f = 1 / (j + delta);
    for (int32_t k = 0; k < d; k++) {
      B[k * (d + 1)] = (1 - j) * f;
      t[k] = f * phi[k];
    }
    return;
  }
  double w[3] = {1, y[1] / length, d > 2 ? y[2] / length : 0}, j = 0.5 * (1 + y[0] / length);
  double f_in = 1 / (1 + delta), f_out = 1 / delta, f_across = 1 / (j + delta), b_across = (1 - j) * f_across;
  double b_out = f_out; /* (1 - 0) / delta; along (1, w) it is 0 */
  double in = phi[0], out = phi[0];
  for (int32_t k = 1; k < d; k++) {
    in += w[k] * phi[k];
    out -= w[k] * phi[k];
  }
  t[0] = 0.5 * (f_in * in + f_out * out);
  for (int32_t k = 1; k < d; k++) {
    double along = 0.5 * (in - out); /* component of phi along w */
    t[k] = 0.5 * (f_in * in - f_out * out) * w[k] + f_across * (phi[k] - along * w[k]);
  }
  for (int32_t a = 0; a < d; a++)
    for (int32_t b = 0; b < d; b++) {
      double sign = (a > 0) == (b > 0) ? 1 : -1;
      B[a * d + b] = 0.5 * b_out * sign * w[a] * w[b];
      if (a > 0 && b > 0) B[a * d + b] += b_across * ((a == b) - w[a] * w[b]);
    }
}

/* One step from the state that measure left; false when the matrix is singular. */
static bool newton_step(fx_conic *c, double delta) {
  fx_conic_clear_D(c);
  memset(c->t, 0, (size_t)c->entry_count * sizeof *c->t);
  double B[9];
  FX_EACH_PART(c, i, part) {
    newton_part(c, part, delta, B);
    fx_conic_add_block(c, i, part, B);
  }
  if (!fx_conic_factor(c, delta)) return false;
  for (int32_t e = 0; e < c->entry_count; e++) c->dz[e] = -c->t[e];
  fx_conic_solve_for(c, c->dz, 1e-12, 0);
  fx_conic_times_E(c, c->dx, c->dz);
  FX_EACH_PART(c, i, part) {
    /* dz = -F phi - F (I - J) E dx */
    double change[3];
    newton_part(c, part, delta, B);
    for (int32_t a = 0; a < part->dim; a++) {
      change[a] = -c->t[part->first + a];
      for (int32_t b = 0; b < part->dim; b++) change[a] -= B[a * part->dim + b] * c->dz[part->first + b];
    }
    for (int32_t a = 0; a < part->dim; a++) c->z[part->first + a] += change[a];
  }
  for (int32_t k = 0; k < c->row_count; k++) c->x[k] += c->dx[k];
  return true;
}

/* Newton from x and z; delta = caution merit^(3/4). Goes on while the merit halves within three steps; true with the
 * fx_conic_verdict when that ends the run, else x and z are as they were. */
bool fx_conic_newton(fx_conic *c, const fx_conic_run *run, double caution, fx_conic_verdict *out) {
  memcpy(c->x_keep, c->x, (size_t)c->row_count * sizeof *c->x);
  memcpy(c->z_keep, c->z, (size_t)c->entry_count * sizeof *c->z);
  double best = fx_conic_measure(c), first = best, mark = best;
  for (int k = 1; k <= 30; k++) {
    double delta = caution * sqrt(c->merit * sqrt(c->merit));
    if (delta > 1e-2) delta = 1e-2;
    if (delta < 1e-11) delta = 1e-11;
    if (!newton_step(c, delta)) break;
    double now = fx_conic_measure(c);
    if (!(now < INFINITY) || now > 1e4 * first) break;
    *out = fx_conic_judge(c, run);
    if (out->done) return true;
    if (now < best) best = now;
    if (k % 3 == 0) {
      if (best > 0.5 * mark) break;
      mark = best;
    }
  }
  memcpy(c->x, c->x_keep, (size_t)c->row_count * sizeof *c->x);
  memcpy(c->z, c->z_keep, (size_t)c->entry_count * sizeof *c->z);
  return false;
}
