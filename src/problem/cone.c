/* The cone table.
 *
 * Projections are Euclidean. With n = r_N and the distance to a disc of radius a n, every cone of discs is the problem
 *   min over n >= 0 of (n - n0)^2 + sum_k max(0, |t_k| - a_k n)^2,
 * convex and piecewise quadratic in n, so its minimiser is found by checking which discs are active. */
#include "problem/cone.h"

#include "base/trig.h"

#include <math.h>
#include <string.h>

/* ---- parts ---- */

static double norm2(const double *t) { return sqrt(t[0] * t[0] + t[1] * t[1]); }

/* Pulls t back to length a n where it is longer. */
static void clip(const double *t, double length, double bound, double *out) {
  double scale = length > bound ? bound / length : 1;
  out[0] = scale * t[0];
  out[1] = scale * t[1];
}

/* The n with n - n0 - a max(0, t - a n) - b max(0, s - b n) = 0. The left side is the least of four increasing lines,
 * one for each set of active bounds, so its root is the largest of their roots: nothing for rounding to decide wrongly.
 */
static double wider(double n0, double a, double t, double b, double s) {
  double n = n0,
         root[3] = {(n0 + a * t) / (1 + a * a), (n0 + b * s) / (1 + b * b), (n0 + a * t + b * s) / (1 + a * a + b * b)};
  for (int k = 0; k < 3; k++)
    if (root[k] > n) n = root[k];
  return n;
}

static const char *check_mu(double mu, const char *message) { return isfinite(mu) && mu >= 0 ? NULL : message; }

static double no_shift(const frix_contact *contact, const double *u) {
  (void)contact;
  (void)u;
  return 0;
}

static const char *check_nothing(frix_contact *contact) {
  (void)contact;
  return NULL;
}

/* ---- frictionless and limit ---- */

static void project_normal(const frix_contact *contact, const double *x, double *out) {
  out[0] = x[0] > 0 ? x[0] : 0;
  for (int32_t k = 1; k < contact->dim; k++) out[k] = 0;
}

/* ---- circular ---- */

static void project_circular(const frix_contact *contact, const double *x, double *out) {
  fx_circular_project(contact->mu, x, out);
}

static double shift_circular(const frix_contact *contact, const double *u) { return fx_circular_shift(contact->mu, u); }

static const char *check_circular(frix_contact *contact) {
  return check_mu(contact->mu, "mu is negative or not finite");
}

/* ---- elliptic: principal axes a (mu) and its normal (mu2) ---- */

static void to_axes(const frix_contact *contact, const double *t, double *out) {
  double c = contact->axis[0], s = contact->axis[1], t0 = t[0], t1 = t[1];
  out[0] = c * t0 + s * t1;
  out[1] = c * t1 - s * t0;
}

static void from_axes(const frix_contact *contact, const double *t, double *out) {
  double c = contact->axis[0], s = contact->axis[1], t0 = t[0], t1 = t[1];
  out[0] = c * t0 - s * t1;
  out[1] = s * t0 + c * t1;
}

/* The projection on the boundary is x - lambda grad g(r), g(r) = ((t1/m1)^2 + (t2/m2)^2 - n^2) / 2, so
 *   n = n0 / (1 - lambda),  t_k = t0_k m_k^2 / (m_k^2 + lambda),
 * and lambda > 0 solves phi(lambda) = n^2 - sum (t_k / m_k)^2 = 0: lambda < 1 for n0 > 0, lambda > 1 for n0 < 0. */
static double elliptic_gap(const double m[2], double n0, const double t0[2], double lambda) {
  double n = n0 / (1 - lambda);
  double a = t0[0] * m[0] / (m[0] * m[0] + lambda), b = t0[1] * m[1] / (m[1] * m[1] + lambda);
  return fabs(n) - sqrt(a * a + b * b);
}

static void project_elliptic(const frix_contact *contact, const double *x, double *out) {
  double m[2] = {contact->mu, contact->mu2}, n0 = x[0], t0[2];
  to_axes(contact, x + 1, t0);

  /* Without friction along one axis the cone is a wedge in the plane of the other. */
  if (m[0] == 0 || m[1] == 0) {
    int flat = m[0] == 0 ? 0 : 1;
    double flattened[2] = {0, 0};
    fx_planar_project(m[1 - flat], n0, t0[1 - flat], &out[0], &flattened[1 - flat]);
    from_axes(contact, flattened, out + 1);
    return;
  }

  /* Inside K, or in its polar cone { n <= -sqrt(m1^2 t1^2 + m2^2 t2^2) }. */
  double a = m[0] * t0[0], b = m[1] * t0[1];
  if (n0 <= 0 && n0 * n0 >= a * a + b * b) {
    out[0] = out[1] = out[2] = 0;
    return;
  }
  double e0 = t0[0] / m[0], e1 = t0[1] / m[1];
  if (n0 >= 0 && n0 * n0 >= e0 * e0 + e1 * e1) {
    memmove(out, x, 3 * sizeof *x);
    return;
  }

  /* Bisection on lambda in (0, 1) or (1, far), to the last bit: slow, sure and independent of scale. */
  double n = 0, t[2];
  if (n0 == 0) {
    /* lambda = 1: the normal component is what the tangential part leaves. */
    t[0] = t0[0] * m[0] * m[0] / (m[0] * m[0] + 1);
    t[1] = t0[1] * m[1] * m[1] / (m[1] * m[1] + 1);
    double p = t[0] / m[0], q = t[1] / m[1];
    n = sqrt(p * p + q * q);
  } else {
    /* The gap is negative at the tangential end (lambda near 0 for n0 > 0, far for n0 < 0) and grows towards lambda
     * = 1. */
    double low = n0 > 0 ? 0 : 1, high = n0 > 0 ? 1 : 2;
    if (n0 < 0)
      while (elliptic_gap(m, n0, t0, high) > 0 && high < 1e300) high *= 2;
    for (int step = 0; step < 2000; step++) {
      double middle = low + 0.5 * (high - low);
      if (middle <= low || middle >= high) break;
      bool positive = elliptic_gap(m, n0, t0, middle) > 0;
      if (positive == (n0 > 0))
        high = middle;
      else
        low = middle;
    }
    double lambda = low + 0.5 * (high - low);
    t[0] = t0[0] * m[0] * m[0] / (m[0] * m[0] + lambda);
    t[1] = t0[1] * m[1] * m[1] / (m[1] * m[1] + lambda);
    double p = t[0] / m[0], q = t[1] / m[1];
    n = sqrt(p * p + q * q);
    if (n == 0) n = n0 > 0 ? n0 : 0;
  }
  out[0] = n;
  from_axes(contact, t, out + 1);
}

static double shift_elliptic(const frix_contact *contact, const double *u) {
  double t[2];
  to_axes(contact, u + 1, t);
  double a = contact->mu * t[0], b = contact->mu2 * t[1];
  return sqrt(a * a + b * b);
}

static const char *check_elliptic(frix_contact *contact) {
  const char *bad = check_mu(contact->mu, "mu is negative or not finite");
  if (!bad) bad = check_mu(contact->mu2, "mu2 is negative or not finite");
  double length = norm2(contact->axis);
  if (!bad && !(isfinite(length) && length > 0)) bad = "axis has no direction";
  if (bad || fabs(length - 1) <= 1e-15) return bad; /* a unit axis stays as it is, to the bit */
  contact->axis[0] /= length;
  contact->axis[1] /= length;
  return NULL;
}

/* ---- pyramid ---- */

void fx_polygon_corner(int32_t k, int32_t m, double corner[2]) {
  int32_t octant = (8 * k) / m, rest = 8 * k - octant * m; /* angle = (octant + rest / m) * pi / 4 */
  bool mirrored = octant & 1;                              /* measure from the nearer axis */
  double c, s;
  fx_sincos((mirrored ? (double)(m - rest) : (double)rest) / m * (FX_PI / 4), &s, &c);
  if (mirrored) {
    double swap = c;
    c = s;
    s = swap;
  }
  static const double turn[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  const double *a = turn[(octant / 2) & 3];
  corner[0] = a[0] * c - a[1] * s;
  corner[1] = a[1] * c + a[0] * s;
}

double fx_pyramid_sector(const frix_contact *contact, const double *x, double mid[2], double width[2]) {
  int32_t m = contact->facets;
  double towards_edge = -INFINITY;
  mid[0] = 1;
  mid[1] = 0;
  for (int32_t k = 0; k < m; k++) {
    double d[2];
    fx_polygon_corner(2 * k + 1, 2 * m, d);
    double towards = d[0] * x[1] + d[1] * x[2];
    if (towards > towards_edge) {
      towards_edge = towards;
      memcpy(mid, d, 2 * sizeof *mid);
    }
  }
  fx_polygon_corner(1, 2 * m, width);
  width[0] *= contact->mu;
  width[1] *= contact->mu;
  return towards_edge;
}

/* By symmetry the answer lies in the sector of x_T. There, with a towards the middle of the edge and b along it, the
 * cone is a <= mu cos(pi/m) n, |b| <= mu sin(pi/m) n: the same problem as for the two discs of the rolling cone. */
static void project_pyramid(const frix_contact *contact, const double *x, double *out) {
  double mid[2], width[2], a = fx_pyramid_sector(contact, x, mid, width);
  double p = width[0], q = width[1], b = mid[0] * x[2] - mid[1] * x[1];
  double n = wider(x[0], p, a, q, fabs(b));
  if (n >= 0 && n == x[0] && a <= p * n && fabs(b) <= q * n) {
    memmove(out, x, 3 * sizeof *x);
    return;
  }
  if (!(n > 0)) n = 0;
  if (a > p * n) a = p * n;
  if (fabs(b) > q * n) b = b > 0 ? q * n : -q * n;
  out[0] = n;
  out[1] = mid[0] * a - mid[1] * b;
  out[2] = mid[1] * a + mid[0] * b;
}

static double shift_pyramid(const frix_contact *contact, const double *u) {
  double most = 0, d[2];
  for (int32_t k = 0; k < contact->facets; k++) {
    fx_polygon_corner(k, contact->facets, d);
    double power = -(d[0] * u[1] + d[1] * u[2]);
    if (power > most) most = power;
  }
  return contact->mu * most;
}

static const char *check_pyramid(frix_contact *contact) {
  if (contact->facets < 3 || contact->facets > FRIX_MAX_FACETS) return "a pyramid has 3 to 64 facets";
  return check_circular(contact);
}

/* ---- planar ---- */

static void project_planar(const frix_contact *contact, const double *x, double *out) {
  fx_planar_project(contact->mu, x[0], x[1], &out[0], &out[1]);
}

static double shift_planar(const frix_contact *contact, const double *u) { return contact->mu * fabs(u[1]); }

/* ---- rolling: two discs ---- */

static void project_rolling(const frix_contact *contact, const double *x, double *out) {
  double a = contact->mu, b = contact->mu_r, n0 = x[0], t = norm2(x + 1), s = norm2(x + 3);
  double n = wider(n0, a, t, b, s);
  if (!(n > 0)) n = 0;
  out[0] = n;
  clip(x + 1, t, a * n, out + 1);
  clip(x + 3, s, b * n, out + 3);
}

static double shift_rolling(const frix_contact *contact, const double *u) {
  return contact->mu * norm2(u + 1) + contact->mu_r * norm2(u + 3);
}

static const char *check_rolling(frix_contact *contact) {
  const char *bad = check_circular(contact);
  return bad ? bad : check_mu(contact->mu_r, "mu_r is negative or not finite");
}

/* ---- bilateral ---- */

static void project_bilateral(const frix_contact *contact, const double *x, double *out) {
  memmove(out, x, (size_t)contact->dim * sizeof *x);
}

/* ---- the table ---- */

const fx_cone fx_cone_table[FRIX_CONE_COUNT] = {
    [FRIX_CONE_FRICTIONLESS] = {{"frictionless", "r_N >= 0, no friction", 1, 3},
                                project_normal,
                                no_shift,
                                check_nothing},
    [FRIX_CONE_CIRCULAR] = {{"circular", "Coulomb's exact cone |r_T| <= mu r_N", 3, 3},
                            project_circular,
                            shift_circular,
                            check_circular},
    [FRIX_CONE_ELLIPTIC] = {{"elliptic", "anisotropic: mu along an axis, mu2 across it", 3, 3},
                            project_elliptic,
                            shift_elliptic,
                            check_elliptic},
    [FRIX_CONE_PYRAMID] = {{"pyramid", "polygon with 3 to 64 corners on Coulomb's circle (approximate)", 3, 3},
                           project_pyramid,
                           shift_pyramid,
                           check_pyramid},
    [FRIX_CONE_PLANAR] = {{"planar", "two-dimensional contact |r_T| <= mu r_N", 2, 2},
                          project_planar,
                          shift_planar,
                          check_circular},
    [FRIX_CONE_ROLLING] = {{"rolling", "sliding and rolling friction, |r_T| <= mu r_N and |r_R| <= mu_r r_N", 5, 5},
                           project_rolling,
                           shift_rolling,
                           check_rolling},
    [FRIX_CONE_LIMIT] = {{"limit", "joint limit, r >= 0", 1, 1}, project_normal, no_shift, check_nothing},
    [FRIX_CONE_BILATERAL] = {{"bilateral", "joint, r free and u = 0", 1, FRIX_MAX_DIM},
                             project_bilateral,
                             no_shift,
                             check_nothing},
};

const frix_cone_info *frix_cone_table(int32_t k) {
  return k >= 0 && k < FRIX_CONE_COUNT ? &fx_cone_table[k].info : NULL;
}

frix_status fx_cone_check(frix_context *context, int32_t i, frix_contact *contact) {
  if ((int)contact->cone < 0 || contact->cone >= FRIX_CONE_COUNT)
    return fx_fail(context, FRIX_ERROR_INPUT, "contact %d: unknown cone %d", i, (int)contact->cone);
  const frix_cone_info *info = &fx_cone_table[contact->cone].info;
  if (contact->dim < info->min_dim || contact->dim > info->max_dim)
    return fx_fail(context, FRIX_ERROR_INPUT, "contact %d: a %s cone cannot have %d rows", i, info->name, contact->dim);
  const char *bad = fx_cone_table[contact->cone].check(contact);
  return bad ? fx_fail(context, FRIX_ERROR_INPUT, "contact %d: %s", i, bad) : FRIX_OK;
}
