/* Impulses where none may act: friction and rolling of an open contact.
 *
 * A part of two rows is measured by what its bodies carry along the stiffest direction of its plane. Where one row
 * moves a body of a gram and the other one of a ton, that is far more than what the first carries. An impulse r of an
 * open contact brings x = (W + R) r, and it is zero to e where along every direction d of the plane
 *
 *   |d . x| <= e N(d),   N(d) = |w| + R |r| + sum over motions m of (n d' J_m M_m^-1 J_m' d)^1/2 E_m,   |d| = 1
 *
 * with n = 3 for tangents and 2 for rolling, so that N is V of row_speeds.c for bodies that move alike in all
 * directions. Neither side depends on the frame of the plane. Looked at are the two rows, x, and the direction along
 * which each motion moves least: what a body carries along its own direction hides nothing there. */
#include "problem/row_errors.h"

static double square_of(const double *G, const double *d) {
  double sum = G[0] * (d[0] * d[0]) + 2 * G[1] * (d[0] * d[1]) + G[2] * (d[1] * d[1]);
  return sum > 0 ? sum : 0;
}

/* The 2 x 2 weights of translation and rotation of a block, three numbers each. */
static const double *weights_of(const fx_row_bodies *bodies, int32_t dim, int32_t i, int32_t block, int32_t k) {
  return bodies->weight + bodies->place[i] + block * fx_row_weights(dim) + 2 * dim + (k > 1 ? FX_PAIR_WEIGHTS : 0);
}

/* N(d); own: the part that does not depend on the direction. */
static double carried_along(const fx_row_measure *by, int32_t dim, int32_t i, int32_t k, double own, const double *d) {
  const fx_row_bodies *bodies = &by->bodies;
  double sum = 0;
  for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++) {
    const double *from = by->energy + 2 * (size_t)bodies->index[b];
    const double *G = weights_of(bodies, dim, i, b - bodies->start[i], k);
    sum += sqrt(square_of(G, d)) * (from[0] + FX_ROW_SHARED * from[1]);
    sum += sqrt(square_of(G + 3, d)) * (from[1] + FX_ROW_SHARED * from[0]);
  }
  return own + sqrt(k < 3 ? 3.0 : 2.0) * sum;
}

double fx_row_stray(const fx_system *s, const fx_row_measure *by, int32_t i, int32_t k, const double *r) {
  const fx_row_bodies *bodies = &by->bodies;
  int32_t dim = s->contact[i].dim, row = s->row[i] + k, motions = 2 * (bodies->start[i + 1] - bodies->start[i]);
  double x[2] = {0, 0}, worst = 0;
  if (r[0] == 0 && r[1] == 0) return 0;
  if (by->unweighed) fx_row_weigh(s, bodies, i);
  double own = fx_larger(fabs(by->shift[row]), fabs(by->shift[row + 1]));
  if (s->R) own += fx_larger(s->R[row] * fabs(r[0]), s->R[row + 1] * fabs(r[1]));
  if (bodies->free) own += sqrt(k < 3 ? 1.5 : 1.0) * fx_safe_norm(2, bodies->free + row);
  for (int32_t m = 0; m < motions; m++) {
    const double *G = weights_of(bodies, dim, i, m / 2, k) + 3 * (m % 2);
    x[0] += G[0] * r[0] + G[1] * r[1];
    x[1] += G[1] * r[0] + G[2] * r[1];
  }
  for (int32_t a = 0; s->R && a < 2; a++) x[a] += s->R[row + a] * r[a];
  for (int32_t m = -3; m < motions; m++) {
    double d[2] = {m == -3, m == -2};
    if (m == -1) d[0] = x[0], d[1] = x[1];
    if (m >= 0) {
      const double *G = weights_of(bodies, dim, i, m / 2, k) + 3 * (m % 2);
      d[0] = G[0] >= G[2] ? -G[1] : G[2], d[1] = G[0] >= G[2] ? G[0] : -G[1];
    }
    double length = fx_safe_norm(2, d);
    if (!(length > 0)) continue;
    d[0] /= length, d[1] /= length;
    double brings = fabs(d[0] * x[0] + d[1] * x[1]);
    if (brings > 0) worst = fx_larger(brings / carried_along(by, dim, i, k, own, d), worst);
  }
  return worst;
}
