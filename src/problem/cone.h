/* Cones K of contact impulses, each a row of one table.
 *
 *   K = { r : r_N >= 0, r_T in r_N C },  C the friction set;  s(u) = max_{t in C} -t . u_T   (De Saxce's shift)
 *   Coulomb's law:    r in K,  u + s(u) e_N in K*,  orthogonal
 *   associated law:   r in K,  u in K*,             orthogonal
 */
#ifndef FX_PROBLEM_CONE_H
#define FX_PROBLEM_CONE_H

#include "base/context.h"

#include <frix/problem.h>

#include <math.h>

typedef struct fx_cone {
  frix_cone_info info;
  /* Euclidean projection of x on K; x and out may be the same. */
  void (*project)(const frix_contact *contact, const double *x, double *out);
  /* s(u) >= 0 */
  double (*shift)(const frix_contact *contact, const double *u);
  /* Row of the contact data is valid: NULL, or what is wrong. Also normalises (unit axis). */
  const char *(*check)(frix_contact *contact);
} fx_cone;

extern const fx_cone fx_cone_table[FRIX_CONE_COUNT];

frix_status fx_cone_check(frix_context *context, int32_t i, frix_contact *contact);

/* ---- the circular cone, which most contacts have: also without a call ---- */

static inline double fx_circular_shift(double mu, const double *u) { return mu * sqrt(u[1] * u[1] + u[2] * u[2]); }

static inline void fx_circular_project(double mu, const double *x, double *out) {
  double n = x[0], t = sqrt(x[1] * x[1] + x[2] * x[2]), scale = 1;
  if (!(n >= 0 && t <= mu * n)) { /* n >= 0: mu and t may both be 0 */
    n = (n + mu * t) / (1 + mu * mu);
    if (!(n > 0)) n = 0; /* x in the polar cone */
    if (t > mu * n) scale = mu * n / t;
  }
  out[0] = n;
  out[1] = scale * x[1];
  out[2] = scale * x[2];
}

/* ---- the planar cone |t| <= mu n ---- */

static inline void fx_planar_project(double mu, double n0, double t0, double *n, double *t) {
  *n = n0;
  *t = t0;
  if (n0 >= 0 && fabs(t0) <= mu * n0) return;
  double normal = (n0 + mu * fabs(t0)) / (1 + mu * mu);
  *n = normal > 0 ? normal : 0;
  *t = t0 > 0 ? mu * *n : -mu * *n;
}

/* ---- any cone ---- */

static inline void fx_cone_project(const frix_contact *contact, const double *x, double *out) {
  if (contact->cone == FRIX_CONE_CIRCULAR)
    fx_circular_project(contact->mu, x, out);
  else if (contact->cone == FRIX_CONE_PLANAR)
    fx_planar_project(contact->mu, x[0], x[1], &out[0], &out[1]);
  else
    fx_cone_table[contact->cone].project(contact, x, out);
}

static inline double fx_cone_shift(const frix_contact *contact, const double *u) {
  if (contact->cone == FRIX_CONE_CIRCULAR) return fx_circular_shift(contact->mu, u);
  return fx_cone_table[contact->cone].shift(contact, u);
}

/* Corner k of the unit polygon with m corners: angle 2 pi k / m, the same bits on every machine. */
void fx_polygon_corner(int32_t k, int32_t m, double corner[2]);

/* The sector of a pyramid that holds x_T: mid points to the middle of its edge, and the cone there is a box of
 * half-widths width[0] n towards the edge and width[1] n along it. Returns the component of x_T towards the edge. */
double fx_pyramid_sector(const frix_contact *contact, const double *x, double mid[2], double width[2]);

#endif
