/* Derivatives of projections and shifts.
 *
 * All cones of discs share one form. With n the normal part of the projection and the set A of active discs,
 *   n = (n0 + sum_A a_k t_k) / (1 + sum_A a_k^2),   dn = (1, a_k e_k') / (1 + sum_A a_k^2),   e_k = t_k / |t_k|,
 *   active disc:   d(a n e) = a e dn + a n / |t| (I - e e'),     inactive disc: identity.
 * A "disc" of one dimension is an interval. */
#include "problem/cone_slope.h"

#include "linalg/dense.h"
#include "problem/cone.h"

#include <math.h>
#include <string.h>

/* Up to two discs, rows first[k] .. first[k] + size[k] - 1, radius a[k] times n. */
typedef struct discs {
  int count, first[2], size[2];
  double a[2];
} discs;

static double length_of(const double *t, int size) { return size == 1 ? fabs(t[0]) : sqrt(t[0] * t[0] + t[1] * t[1]); }

static void slope_of_discs(const discs *c, int dim, const double *x, const double *projected, double *J) {
  double n = projected[0], denominator = 1, dn[FRIX_MAX_DIM] = {1};
  bool active[2] = {false, false};
  memset(J, 0, (size_t)(dim * dim) * sizeof *J);
  if (!(n > 0)) return; /* the apex */
  for (int k = 0; k < c->count; k++) {
    double t = length_of(x + c->first[k], c->size[k]);
    active[k] = t > c->a[k] * n;
    if (!active[k]) continue;
    denominator += c->a[k] * c->a[k];
    for (int e = 0; e < c->size[k]; e++) dn[c->first[k] + e] = c->a[k] * x[c->first[k] + e] / t;
  }
  for (int e = 0; e < dim; e++) J[e] = dn[e] /= denominator;
  for (int k = 0; k < c->count; k++) {
    int first = c->first[k], size = c->size[k];
    double t = length_of(x + first, size);
    for (int i = 0; i < size; i++) {
      double *row = J + (first + i) * dim;
      if (!active[k]) {
        row[first + i] = c->a[k] > 0; /* without friction the cone is a line, on which t stays 0 */
        continue;
      }
      double e = x[first + i] / t, ratio = c->a[k] * n / t;
      for (int j = 0; j < dim; j++) row[j] = c->a[k] * e * dn[j];
      row[first + i] += ratio;
      for (int j = 0; j < size; j++) row[first + j] -= ratio * e * x[first + j] / t;
    }
  }
}

/* In the sector of x_T the pyramid is a box: half-widths mu cos(pi/m) n towards the edge, mu sin(pi/m) n along it. */
static void slope_of_pyramid(const frix_contact *contact, const double *x, double *J) {
  double mid[2], width[2], best = fx_pyramid_sector(contact, x, mid, width);
  double turned[3] = {x[0], best, mid[0] * x[2] - mid[1] * x[1]}, p[3], projected[3], T[9], K[9];
  fx_cone_project(contact, x, p);
  projected[0] = p[0];
  projected[1] = projected[2] = 0;
  discs box = {2, {1, 2}, {1, 1}, {width[0], width[1]}};
  slope_of_discs(&box, 3, turned, projected, K);
  /* Back: J = Q K Q' with Q = diag(1, [mid, mid rotated]) */
  double Q[9] = {1, 0, 0, 0, mid[0], -mid[1], 0, mid[1], mid[0]};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      T[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) T[3 * i + j] += Q[3 * i + k] * K[3 * k + j];
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      J[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) J[3 * i + j] += T[3 * i + k] * Q[3 * j + k];
    }
}

/* On the boundary g(r) = ((t1/m1)^2 + (t2/m2)^2 - n^2) / 2 = 0 the projection solves r - x + lambda grad g = 0, so
 *   [ I + lambda Hess g   grad g ] [ dr      ]   [ dx ]
 *   [ grad g'             0      ] [ dlambda ] = [ 0  ].   */
static void slope_of_ellipse(const frix_contact *contact, const double *x, double *J) {
  double r[3], c = contact->axis[0], s = contact->axis[1], m1 = contact->mu, m2 = contact->mu2;
  fx_cone_project(contact, x, r);
  memset(J, 0, 9 * sizeof *J);
  bool inside = r[0] == x[0] && r[1] == x[1] && r[2] == x[2];
  bool flat = m1 == 0 || m2 == 0;
  if (inside && !flat) J[0] = J[4] = J[8] = 1;
  if (!(r[0] > 0) || (inside && !flat)) return;
  if (m1 == 0 && m2 == 0) {
    J[0] = 1;
    return;
  }
  if (flat) { /* a wedge: the frictionless direction drops out */
    double e[2] = {m1 > 0 ? c : -s, m1 > 0 ? s : c}, mu = m1 > 0 ? m1 : m2, t = e[0] * x[1] + e[1] * x[2];
    double side = fabs(t) <= mu * x[0] ? 0 : t > 0 ? 1 : -1, d = 1 + side * side * mu * mu;
    double dn[3] = {1 / d, side * mu * e[0] / d, side * mu * e[1] / d};
    for (int j = 0; j < 3; j++) {
      double dt = side != 0 ? side * mu * dn[j] : j > 0 ? e[j - 1] : 0;
      J[j] = dn[j];
      J[3 + j] = e[0] * dt;
      J[6 + j] = e[1] * dt;
    }
    return;
  }
  /* Hess g in world axes, and lambda from the normal row (1 - lambda) n = n0, or from the tangents where n0 is small.
   */
  double a = 1 / (m1 * m1), b = 1 / (m2 * m2);
  double h11 = a * c * c + b * s * s, h12 = (a - b) * c * s, h22 = a * s * s + b * c * c;
  double grad[3] = {-r[0], h11 * r[1] + h12 * r[2], h12 * r[1] + h22 * r[2]};
  double lambda = 0, square = 0;
  for (int k = 0; k < 3; k++) {
    lambda += grad[k] * (x[k] - r[k]);
    square += grad[k] * grad[k];
  }
  lambda /= square;
  double A[16] = {1 - lambda,
                  0,
                  0,
                  grad[0],
                  0,
                  1 + lambda * h11,
                  lambda * h12,
                  grad[1],
                  0,
                  lambda * h12,
                  1 + lambda * h22,
                  grad[2],
                  grad[0],
                  grad[1],
                  grad[2],
                  0};
  int32_t pivot[4];
  if (!fx_lu_factor(4, A, pivot)) return;
  for (int j = 0; j < 3; j++) {
    double column[4] = {j == 0, j == 1, j == 2, 0};
    fx_lu_solve(4, A, pivot, column);
    for (int i = 0; i < 3; i++) J[3 * i + j] = column[i];
  }
}

void fx_cone_project_slope(const frix_contact *contact, const double *x, double *J) {
  double p[FRIX_MAX_DIM];
  int dim = contact->dim;
  discs none = {0}, one = {1, {1, 0}, {dim - 1, 0}, {contact->mu, 0}};
  discs two = {2, {1, 3}, {2, 2}, {contact->mu, contact->mu_r}};
  switch (contact->cone) {
    case FRIX_CONE_ELLIPTIC: slope_of_ellipse(contact, x, J); return;
    case FRIX_CONE_PYRAMID: slope_of_pyramid(contact, x, J); return;
    case FRIX_CONE_BILATERAL:
      memset(J, 0, (size_t)(dim * dim) * sizeof *J);
      for (int k = 0; k < dim; k++) J[k * (dim + 1)] = 1;
      return;
    default: break;
  }
  fx_cone_project(contact, x, p);
  const discs *c = contact->cone == FRIX_CONE_ROLLING                                         ? &two
                   : contact->cone == FRIX_CONE_CIRCULAR || contact->cone == FRIX_CONE_PLANAR ? &one
                                                                                              : &none;
  slope_of_discs(c, dim, x, p, J);
}

static void slope_of_length(const double *t, double mu, double *g) {
  double length = length_of(t, 2);
  if (length > 0) {
    g[0] = mu * t[0] / length;
    g[1] = mu * t[1] / length;
  }
}

void fx_cone_shift_slope(const frix_contact *contact, const double *u, double *g) {
  memset(g, 0, (size_t)contact->dim * sizeof *g);
  switch (contact->cone) {
    case FRIX_CONE_CIRCULAR: slope_of_length(u + 1, contact->mu, g + 1); break;
    case FRIX_CONE_ROLLING:
      slope_of_length(u + 1, contact->mu, g + 1);
      slope_of_length(u + 3, contact->mu_r, g + 3);
      break;
    case FRIX_CONE_PLANAR: g[1] = u[1] > 0 ? contact->mu : u[1] < 0 ? -contact->mu : 0; break;
    case FRIX_CONE_ELLIPTIC: {
      double c = contact->axis[0], s = contact->axis[1], p = contact->mu * contact->mu, q = contact->mu2 * contact->mu2;
      double a = c * u[1] + s * u[2], b = c * u[2] - s * u[1], length = sqrt(p * a * a + q * b * b);
      if (length > 0) {
        g[1] = (c * p * a - s * q * b) / length;
        g[2] = (s * p * a + c * q * b) / length;
      }
      break;
    }
    case FRIX_CONE_PYRAMID: {
      double most = 0;
      for (int32_t k = 0; k < contact->facets; k++) {
        double d[2];
        fx_polygon_corner(k, contact->facets, d);
        double power = -(d[0] * u[1] + d[1] * u[2]);
        if (power <= most) continue;
        most = power;
        g[1] = -contact->mu * d[0];
        g[2] = -contact->mu * d[1];
      }
      break;
    }
    default: break;
  }
}
