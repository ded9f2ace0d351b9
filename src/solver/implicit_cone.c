/* One contact of the implicit method: forces, slopes, edges. */
#include "solver/implicit_cone.h"

#include <math.h>
#include <string.h>

static double length_of(const fx_implicit_disc *disc, const double *x) {
  double a = x[disc->first], b = disc->size > 1 ? x[disc->first + 1] : 0;
  return disc->size > 1 ? sqrt(a * a + b * b) : fabs(a);
}

fx_implicit_region fx_implicit_region_at(const fx_implicit_contact *c, const double *x) {
  fx_implicit_region region = {.touch = !c->unilateral || x[0] < 0};
  for (int32_t k = 0; k < c->disc_count; k++)
    region.stick[k] = c->disc[k].mu > 0 && length_of(&c->disc[k], x) <= -c->disc[k].mu * x[0];
  return region;
}

void fx_implicit_force(const fx_implicit_contact *c, const double *x, double *f) {
  if (!c->unilateral) {
    for (int32_t a = 0; a < c->dim; a++) f[a] = -x[a];
    return;
  }
  f[0] = x[0] < 0 ? -x[0] : 0;
  for (int32_t k = 0; k < c->disc_count; k++) {
    const fx_implicit_disc *disc = &c->disc[k];
    double bound = disc->mu * f[0], length = length_of(disc, x), s = length > bound ? bound / length : 1;
    for (int32_t a = disc->first; a < disc->first + disc->size; a++) f[a] = -s * x[a];
  }
}

/* Rows of P that belong to a slipping disc: f_T = mu x_N t, t = x_T / |x_T|. */
static void slip_rows(const fx_implicit_contact *c, const fx_implicit_disc *disc, const double *x, double *P) {
  double length = length_of(disc, x);
  if (!(length > 0)) return;
  double ratio = x[0] < 0 ? -disc->mu * x[0] / length : 0;
  for (int32_t a = disc->first; a < disc->first + disc->size; a++) {
    double t = x[a] / length;
    P[a * c->dim] = -disc->mu * t;
    for (int32_t b = disc->first; b < disc->first + disc->size; b++)
      P[a * c->dim + b] = ratio * ((a == b) - t * (x[b] / length));
  }
}

void fx_implicit_slope(const fx_implicit_contact *c, fx_implicit_region region, const double *x, double *P) {
  memset(P, 0, (size_t)(c->dim * c->dim) * sizeof *P);
  if (!region.touch) return;
  if (!c->unilateral) {
    for (int32_t a = 0; a < c->dim; a++) P[a * c->dim + a] = 1;
    return;
  }
  P[0] = 1;
  for (int32_t k = 0; k < c->disc_count; k++) {
    const fx_implicit_disc *disc = &c->disc[k];
    if (!region.stick[k])
      slip_rows(c, disc, x, P);
    else
      for (int32_t a = disc->first; a < disc->first + disc->size; a++) P[a * c->dim + a] = 1;
  }
}

/* The disc of a cone edge. */
static const fx_implicit_disc *disc_of(const fx_implicit_contact *c, unsigned edge) {
  return edge == FX_EDGE_CONE(0) ? &c->disc[0] : &c->disc[1];
}

void fx_implicit_normal(const fx_implicit_contact *c, unsigned edge, const double *x, double *d) {
  memset(d, 0, (size_t)c->dim * sizeof *d);
  if (edge == FX_EDGE_PLANE) {
    d[0] = 1;
    return;
  }
  const fx_implicit_disc *disc = disc_of(c, edge);
  double length = length_of(disc, x), unit = 1 / sqrt(1 + disc->mu * disc->mu);
  d[0] = disc->mu * unit;
  for (int32_t a = disc->first; a < disc->first + disc->size; a++) d[a] = length > 0 ? unit * (x[a] / length) : 0;
}

/* The point of the ray (-1, mu) nearest to (x_N, |x_T|): -c (1, -mu), c >= 0. */
void fx_implicit_snap(const fx_implicit_contact *c, unsigned edge, double *x) {
  if (edge == FX_EDGE_PLANE) {
    x[0] = 0;
    return;
  }
  const fx_implicit_disc *disc = disc_of(c, edge);
  double length = length_of(disc, x), along = (disc->mu * length - x[0]) / (1 + disc->mu * disc->mu);
  if (!(along > 0)) along = 0;
  double factor = length > 0 ? disc->mu * along / length : 0;
  x[0] = -along;
  for (int32_t a = disc->first; a < disc->first + disc->size; a++) x[a] *= factor;
}

/* Roots in (0, 1) of mu^2 t_N^2 = |t_T|^2 along t = a + alpha (b - a) with t_N <= 0. */
static int32_t cone_crossings(const fx_implicit_disc *disc, const double *a, const double *b, double *at) {
  double mu2 = disc->mu * disc->mu, s = b[0] - a[0];
  double c2 = mu2 * s * s, c1 = mu2 * s * a[0], c0 = mu2 * a[0] * a[0];
  for (int32_t k = disc->first; k < disc->first + disc->size; k++) {
    double d = b[k] - a[k];
    c2 -= d * d;
    c1 -= d * a[k];
    c0 -= a[k] * a[k];
  }
  /* c2 alpha^2 + 2 c1 alpha + c0 = 0, in the form that does not cancel */
  double disc2 = c1 * c1 - c2 * c0;
  if (!(disc2 >= 0)) return 0;
  double w = -(c1 + (c1 >= 0 ? sqrt(disc2) : -sqrt(disc2)));
  double root[2] = {c2 != 0 ? w / c2 : -1, w != 0 ? c0 / w : -1};
  int32_t count = 0;
  for (int k = 0; k < 2; k++)
    if (root[k] > 0 && root[k] < 1 && a[0] + root[k] * s <= 0) at[count++] = root[k];
  return count;
}

int32_t fx_implicit_crossings(const fx_implicit_contact *c, unsigned skip, const double *a, const double *b, double *at,
                              unsigned *edge) {
  int32_t count = 0;
  if (!c->unilateral) return 0;
  if (!(skip & FX_EDGE_PLANE) && ((a[0] < 0 && b[0] > 0) || (a[0] > 0 && b[0] < 0))) {
    edge[count] = FX_EDGE_PLANE;
    at[count++] = a[0] / (a[0] - b[0]);
  }
  for (int32_t k = 0; k < c->disc_count; k++) {
    if ((skip & FX_EDGE_CONE(k)) || !(c->disc[k].mu > 0)) continue;
    int32_t found = cone_crossings(&c->disc[k], a, b, at + count);
    for (int32_t e = 0; e < found; e++) edge[count++] = FX_EDGE_CONE(k);
  }
  return count;
}
