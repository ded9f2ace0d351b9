/* Parts of cones and their algebra.
 *
 *   circular  (mu r_N, r_T)                 planar  mu r_N - r_T, mu r_N + r_T
 *   elliptic  (r_N, t_1/mu, t_2/mu2)        pyramid mu cos(pi/m) r_N - d_k . r_T,  d_k the middle of edge k
 *   rolling   (mu r_N, r_T), (mu_r r_N, r_R)    without friction  r_N, tangents held;   bilateral: none
 *
 * Second-order cones follow L. Vandenberghe, The CVXOPT linear and quadratic cone program solvers, 2010. */
#include "problem/cone.h"
#include "solver/conic.h"

#include <math.h>
#include <string.h>

/* ---- what cones are made of ---- */

typedef struct builder {
  fx_conic_part *part;
  double *E;
  int32_t dim, count, entries;
} builder;

static double *add_part(builder *b, int32_t dim, bool held) {
  double *E = b->E + b->entries * b->dim;
  b->part[b->count++] = (fx_conic_part){.first = b->entries, .dim = dim, .held = held};
  b->entries += dim;
  memset(E, 0, (size_t)(dim * b->dim) * sizeof *E);
  return E;
}

static void add_line(builder *b, double normal, double t0, double t1) {
  double *E = add_part(b, 1, false);
  E[0] = normal;
  if (b->dim > 1) E[1] = t0;
  if (b->dim > 2) E[2] = t1;
}

static void hold(builder *b, int32_t column) { add_part(b, 1, true)[column] = 1; }

/* (mu r_N, r_a, r_b) for the pair of rows at column; held where there is no friction. */
static void add_disc(builder *b, double mu, int32_t column) {
  if (!(mu > 0)) {
    hold(b, column);
    hold(b, column + 1);
    return;
  }
  double *E = add_part(b, 3, false);
  E[0] = mu;
  E[b->dim + column] = 1;
  E[2 * b->dim + column + 1] = 1;
}

static void add_elliptic(builder *b, const frix_contact *c) {
  double axis[2][2] = {{c->axis[0], c->axis[1]}, {-c->axis[1], c->axis[0]}}, mu[2] = {c->mu, c->mu2};
  int32_t live = (mu[0] > 0) + (mu[1] > 0);
  double larger = mu[0] > mu[1] ? mu[0] : mu[1];
  if (live) {
    /* scaled by the larger half axis, so that s keeps the size of r */
    double *E = add_part(b, 1 + live, false);
    E[0] = larger;
    for (int32_t k = 0, at = 3; k < 2; k++) {
      if (!(mu[k] > 0)) continue;
      E[at + 1] = axis[k][0] * larger / mu[k];
      E[at + 2] = axis[k][1] * larger / mu[k];
      at += 3;
    }
  }
  for (int32_t k = 0; k < 2; k++) {
    if (mu[k] > 0) continue;
    double *E = add_part(b, 1, true);
    E[1] = axis[k][0];
    E[2] = axis[k][1];
  }
}

static void add_pyramid(builder *b, const frix_contact *c) {
  double half[2], d[2];
  fx_polygon_corner(1, 2 * c->facets, half);
  for (int32_t k = 0; k < c->facets; k++) {
    fx_polygon_corner(2 * k + 1, 2 * c->facets, d);
    add_line(b, c->mu * half[0], -d[0], -d[1]);
  }
}

int32_t fx_conic_parts(const frix_contact *c, fx_conic_part part[FX_CONIC_ENTRIES],
                       double E[FX_CONIC_ENTRIES * FRIX_MAX_DIM], int32_t *entry_count) {
  builder b = {.part = part, .E = E, .dim = c->dim};
  bool slippery =
      !(c->mu > 0) && !(c->cone == FRIX_CONE_ELLIPTIC && c->mu2 > 0) && !(c->cone == FRIX_CONE_ROLLING && c->mu_r > 0);
  if (c->cone == FRIX_CONE_BILATERAL) {
    /* free */
  } else if (c->cone == FRIX_CONE_FRICTIONLESS || c->cone == FRIX_CONE_LIMIT || slippery) {
    add_line(&b, 1, 0, 0);
    for (int32_t k = 1; k < c->dim; k++) hold(&b, k);
  } else if (c->cone == FRIX_CONE_CIRCULAR) {
    add_disc(&b, c->mu, 1);
  } else if (c->cone == FRIX_CONE_ELLIPTIC) {
    add_elliptic(&b, c);
  } else if (c->cone == FRIX_CONE_PYRAMID) {
    add_pyramid(&b, c);
  } else if (c->cone == FRIX_CONE_PLANAR) {
    add_line(&b, c->mu, -1, 0);
    add_line(&b, c->mu, 1, 0);
  } else {
    add_disc(&b, c->mu, 1);
    add_disc(&b, c->mu_r, 3);
  }
  *entry_count = b.entries;
  return b.count;
}

/* ---- algebra ---- */

static double tail(int32_t d, const double *a) {
  return d == 1 ? 0 : d == 2 ? fabs(a[1]) : sqrt(a[1] * a[1] + a[2] * a[2]);
}

static double dot(int32_t d, const double *a, const double *b) {
  double sum = a[0] * b[0];
  for (int32_t k = 1; k < d; k++) sum += a[k] * b[k];
  return sum;
}

double fx_soc_det(int32_t d, const double *a) {
  double t = tail(d, a);
  return (a[0] - t) * (a[0] + t);
}

void fx_soc_project(int32_t d, const double *a, double *out) {
  double t = tail(d, a), scale = 1, head = a[0];
  if (a[0] < t) {
    head = 0.5 * (a[0] + t);
    if (!(head > 0)) head = 0;
    scale = t > 0 ? head / t : 0;
  }
  out[0] = head;
  for (int32_t k = 1; k < d; k++) out[k] = scale * a[k];
}

bool fx_soc_scale(int32_t d, const double *s, const double *z, double *w, double *eta, double *lambda) {
  double ds = fx_soc_det(d, s), dz = fx_soc_det(d, z);
  if (!(s[0] > 0 && z[0] > 0 && ds > 0 && dz > 0)) return false;
  double rs = sqrt(ds), rz = sqrt(dz), gamma = sqrt(0.5 * (1 + dot(d, s, z) / (rs * rz)));
  w[0] = 0.5 * (s[0] / rs + z[0] / rz) / gamma;
  double square = 0;
  for (int32_t k = 1; k < d; k++) {
    w[k] = 0.5 * (s[k] / rs - z[k] / rz) / gamma;
    square += w[k] * w[k];
  }
  w[0] = sqrt(1 + square); /* det w = 1 to the last bit that matters */
  *eta = sqrt(rs / rz);
  fx_soc_apply(d, w, *eta, z, lambda);
  return *eta > 0 && *eta < INFINITY;
}

/* W = eta [w_0, w_1'; w_1, I + w_1 w_1' / (1 + w_0)], W^-1 the same with -w_1 and 1/eta. */
static inline void scale_sized(int32_t d, const double *w, double sign, double eta, const double *a, double *out) {
  double inner = 0, head;
  for (int32_t k = 1; k < d; k++) inner += sign * w[k] * a[k];
  head = w[0] * a[0] + inner;
  double factor = sign * (a[0] + inner / (1 + w[0]));
  for (int32_t k = 1; k < d; k++) out[k] = eta * (a[k] + factor * w[k]);
  out[0] = eta * head;
}

/* Inlined with the size of a round cone. */
static inline void scale_by(int32_t d, const double *w, double sign, double eta, const double *a, double *out) {
  if (d == 3)
    scale_sized(3, w, sign, eta, a, out);
  else
    scale_sized(d, w, sign, eta, a, out);
}

void fx_soc_apply(int32_t d, const double *w, double eta, const double *a, double *out) {
  scale_by(d, w, 1, eta, a, out);
}

void fx_soc_unapply(int32_t d, const double *w, double eta, const double *a, double *out) {
  scale_by(d, w, -1, 1 / eta, a, out);
}

void fx_soc_product(int32_t d, const double *a, const double *b, double *out) {
  double head = dot(d, a, b);
  for (int32_t k = 1; k < d; k++) out[k] = a[0] * b[k] + b[0] * a[k];
  out[0] = head;
}

void fx_soc_divide(int32_t d, const double *a, const double *b, double *out) {
  double det = fx_soc_det(d, a), head = a[0] * b[0];
  for (int32_t k = 1; k < d; k++) head -= a[k] * b[k];
  head /= det;
  for (int32_t k = 1; k < d; k++) out[k] = (b[k] - head * a[k]) / a[0];
  out[0] = d == 1 ? b[0] / a[0] : head;
}

double fx_soc_step(int32_t d, const double *lambda, const double *a) {
  double root = sqrt(fx_soc_det(d, lambda)), head = lambda[0] * a[0] / root;
  for (int32_t k = 1; k < d; k++) head -= lambda[k] * a[k] / root;
  double factor = (head + a[0]) / (lambda[0] / root + 1), square = 0;
  for (int32_t k = 1; k < d; k++) {
    double e = (a[k] - factor * lambda[k] / root) / root;
    square += e * e;
  }
  double inward = sqrt(square) - head / root;
  return inward > 0 ? 1 / inward : INFINITY;
}
