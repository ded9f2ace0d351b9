/* One contact, exactly.
 *
 * Slip on a disc: u_N = 0 and u_T = -alpha r_T with alpha > 0 turn the law into
 *   (S + alpha I) r_T = -b,   r_N = -(q_N + D_NT r_T) / D_NN,   |r_T| = mu r_N,     b = q_T - D_TN q_N / D_NN.
 * g(alpha) = mu r_N / |r_T| - 1 is negative where sticking failed and grows without bound as alpha does, so a root
 * exists whatever S is; Newton from the last slip factor, kept inside a bracket, finds it to round-off.
 *
 * A block that cannot feel a direction (rank-deficient D) is given a floor of 1e-13 of its scale there: the error this
 * makes in u is below round-off of the products around it. */
#include "solver/one_contact.h"

#include "linalg/dense.h"
#include "problem/cone.h"

#include <string.h>

static const double floor_ratio = 1e-13;

/* ---- disc of friction around one normal ---- */

void fx_disc3_prepare(const double *D, int32_t stride, double mu, fx_disc3 *c) {
  *c = (fx_disc3){.mu = mu};
  const double *row1 = D + stride, *row2 = D + 2 * stride;
  c->scale = (fabs(D[0]) + fabs(row1[1]) + fabs(row2[2])) / 3;
  if (!(D[0] > floor_ratio * c->scale)) return;
  c->normal_inverse = 1 / D[0];
  c->nt[0] = D[1];
  c->nt[1] = D[2];
  c->tn[0] = row1[0] * c->normal_inverse;
  c->tn[1] = row2[0] * c->normal_inverse;
  c->S[0] = row1[1] - c->tn[0] * c->nt[0];
  c->S[1] = row1[2] - c->tn[0] * c->nt[1];
  c->S[2] = row2[1] - c->tn[1] * c->nt[0];
  c->S[3] = row2[2] - c->tn[1] * c->nt[1];
  double a = c->S[0] + floor_ratio * c->scale, d = c->S[3] + floor_ratio * c->scale;
  double determinant = a * d - c->S[1] * c->S[2];
  c->can_stick = a > 0 && d > 0 && determinant > 0;
  if (!c->can_stick) return;
  c->S_inverse[0] = d / determinant;
  c->S_inverse[1] = -c->S[1] / determinant;
  c->S_inverse[2] = -c->S[2] / determinant;
  c->S_inverse[3] = a / determinant;
}

/* g and its derivative at alpha; false (alpha too small) where r_N <= 0 or S + alpha I is not positive. */
typedef struct slip_point {
  double t[2], n, length, g, slope;
} slip_point;

static bool slip_at(const fx_disc3 *c, const double *q, const double *b, double alpha, slip_point *p) {
  double a = c->S[0] + alpha, d = c->S[3] + alpha, determinant = a * d - c->S[1] * c->S[2];
  if (!(determinant > 0) || !(a + d > 0)) return false;
  double inverse = 1 / determinant;
  double s = (c->S[1] * b[1] - d * b[0]) * inverse, t = (c->S[2] * b[0] - a * b[1]) * inverse;
  p->t[0] = s;
  p->t[1] = t;
  p->n = -(q[0] + c->nt[0] * s + c->nt[1] * t) * c->normal_inverse;
  if (!(p->n > 0)) return false;
  double square = s * s + t * t;
  p->length = sqrt(square);
  double ratio = c->mu * p->n / p->length;
  p->g = ratio - 1;
  double ds = (c->S[1] * t - d * s) * inverse, dt = (c->S[2] * s - a * t) * inverse;
  double dn = -(c->nt[0] * ds + c->nt[1] * dt) * c->normal_inverse;
  p->slope = ratio * (dn / p->n - (s * ds + t * dt) / square);
  return true;
}

void fx_disc3_slip(fx_disc3 *c, const double q[3], const double b[2], double r[3]) {
  double frictionless = -q[0] * c->normal_inverse;
  r[0] = frictionless;
  r[1] = r[2] = 0;
  if (c->mu == 0 || (b[0] == 0 && b[1] == 0)) return;
  double low = 0, high = INFINITY, alpha = c->alpha > 0 ? c->alpha : 0.5 * c->scale;
  slip_point p = {{0, 0}, frictionless, 0, 0, 0};
  for (int step = 0; step < 100; step++) {
    bool valid = slip_at(c, q, b, alpha, &p);
    if (valid && fabs(p.g) <= 4e-16) break;
    if (!valid || p.g < 0)
      low = alpha;
    else
      high = alpha;
    double next = valid && p.slope > 0 ? alpha - p.g / p.slope : INFINITY;
    if (valid && fabs(next - alpha) <= 1e-15 * alpha) break;
    if (!(next > low && next < high)) next = high < INFINITY ? 0.5 * (low + high) : 4 * (alpha + 0.01 * c->scale);
    if (high < INFINITY && high - low <= 1e-16 * high) break;
    alpha = next;
  }
  c->alpha = alpha;
  if (!(p.length > 0) || !(p.n > 0)) return;
  double bound = c->mu * p.n / p.length;
  r[0] = p.n;
  r[1] = bound * p.t[0];
  r[2] = bound * p.t[1];
}

/* ---- elliptic: unit friction in scaled axes ---- */

static void prepare_elliptic(fx_one_contact *one) {
  const frix_contact *contact = one->contact;
  double c = contact->axis[0], s = contact->axis[1];
  double turn[4] = {c * contact->mu, -s * contact->mu2, s * contact->mu, c * contact->mu2};
  memcpy(one->turn, turn, sizeof turn);
  /* D' = T' D T with T = diag(1, turn) */
  double T[9] = {1, 0, 0, 0, turn[0], turn[1], 0, turn[2], turn[3]}, left[9], D[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      left[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) left[3 * i + j] += one->D[3 * i + k] * T[3 * k + j];
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      D[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) D[3 * i + j] += T[3 * k + i] * left[3 * k + j];
    }
  fx_disc3_prepare(D, 3, 1, &one->disc);
}

static void solve_elliptic(fx_one_contact *one, const double *q, double *r) {
  const double *t = one->turn;
  double scaled[3] = {q[0], t[0] * q[1] + t[2] * q[2], t[1] * q[1] + t[3] * q[2]}, z[3];
  fx_disc3_solve(&one->disc, scaled, z);
  r[0] = z[0];
  r[1] = t[0] * z[1] + t[1] * z[2];
  r[2] = t[2] * z[1] + t[3] * z[2];
}

/* ---- planar ---- */

/* One tangent: normal_inverse 0 where the contact cannot be moved, tn[0] = D_TN / D_NN, S[0] with its floor. */
static void prepare_planar(const double *D, fx_disc3 *c) {
  c->scale = 0.5 * (fabs(D[0]) + fabs(D[3]));
  c->normal_inverse = 0;
  if (!(D[0] > floor_ratio * c->scale)) return;
  c->normal_inverse = 1 / D[0];
  c->tn[0] = D[2] / D[0];
  c->S[0] = D[3] - D[2] * D[1] / D[0] + floor_ratio * c->scale;
}

static void solve_planar(fx_one_contact *one, const double *q, double *r) {
  const double *D = one->D;
  double mu = one->contact->mu;
  r[0] = r[1] = 0;
  if (q[0] >= 0 || one->disc.normal_inverse == 0) return;
  double s = one->disc.S[0], b = q[1] - one->disc.tn[0] * q[0];
  double t = s > 0 ? -b / s : 0, n = -(q[0] + D[1] * t) / D[0];
  if (s > 0 && n >= 0 && fabs(t) <= mu * n) {
    r[0] = n;
    r[1] = t;
    return;
  }
  /* Slip to one side or the other; friction must oppose it. */
  double side = b > 0 ? -1 : 1;
  for (int attempt = 0; attempt < 2; attempt++, side = -side) {
    double down = D[0] + side * mu * D[1];
    if (!(down > 0)) continue;
    n = -q[0] / down;
    double slip = q[1] + (D[2] + side * mu * D[3]) * n;
    if (side * slip > 0 && attempt == 0) continue;
    r[0] = n;
    r[1] = side * mu * n;
    return;
  }
}

/* ---- pyramid: one corner or one facet slips ---- */

/* Corner k: r_T = r_N c_k. Facet k: r_T = r_N c_k + s (c_k+1 - c_k), slip along the facet is zero. True when
 * consistent. */
static bool slip_corner(const fx_one_contact *one, int32_t k, const double *q, double *r) {
  const double *D = one->D, *c = one->corner + 2 * k;
  int32_t m = one->contact->facets;
  const double *before = one->corner + 2 * ((k + m - 1) % m), *after = one->corner + 2 * ((k + 1) % m);
  double down = D[0] + D[1] * c[0] + D[2] * c[1];
  if (!(down > 0)) return false;
  double n = -q[0] / down;
  r[0] = n;
  r[1] = n * c[0];
  r[2] = n * c[1];
  double u1 = q[1] + D[3] * r[0] + D[4] * r[1] + D[5] * r[2], u2 = q[2] + D[6] * r[0] + D[7] * r[1] + D[8] * r[2];
  return (c[0] - before[0]) * u1 + (c[1] - before[1]) * u2 <= 0 && (c[0] - after[0]) * u1 + (c[1] - after[1]) * u2 <= 0;
}

static bool slip_facet(const fx_one_contact *one, int32_t k, const double *q, double *r) {
  const double *D = one->D, *c = one->corner + 2 * k, *next = one->corner + 2 * ((k + 1) % one->contact->facets);
  double e[2] = {next[0] - c[0], next[1] - c[1]};
  /* u_N = 0 and e . u_T = 0 in (n, s): r = n (1, c) + s (0, e) */
  double a00 = D[0] + D[1] * c[0] + D[2] * c[1], a01 = D[1] * e[0] + D[2] * e[1];
  double tc[2] = {D[3] + D[4] * c[0] + D[5] * c[1], D[6] + D[7] * c[0] + D[8] * c[1]};
  double te[2] = {D[4] * e[0] + D[5] * e[1], D[7] * e[0] + D[8] * e[1]};
  double a10 = e[0] * tc[0] + e[1] * tc[1], a11 = e[0] * te[0] + e[1] * te[1];
  double b0 = -q[0], b1 = -(e[0] * q[1] + e[1] * q[2]), determinant = a00 * a11 - a01 * a10;
  if (!(fabs(determinant) > 0)) return false;
  double n = (b0 * a11 - a01 * b1) / determinant, s = (a00 * b1 - a10 * b0) / determinant;
  if (!(n >= 0) || !(s >= 0) || !(s <= n)) return false;
  r[0] = n;
  r[1] = n * c[0] + s * e[0];
  r[2] = n * c[1] + s * e[1];
  double u1 = q[1] + tc[0] * n + te[0] * s, u2 = q[2] + tc[1] * n + te[1] * s;
  return (c[0] + next[0]) * u1 + (c[1] + next[1]) * u2 <= 0;
}

/* | r - P_K(r - rho u~) | of one contact: to choose where no candidate is consistent. */
static double local_residual(const fx_one_contact *one, const double *q, const double *r) {
  int32_t d = one->contact->dim;
  double u[FRIX_MAX_DIM], x[FRIX_MAX_DIM], trace = 0, sum = 0;
  for (int32_t i = 0; i < d; i++) {
    u[i] = q[i];
    for (int32_t j = 0; j < d; j++) u[i] += one->D[i * d + j] * r[j];
    trace += one->D[i * d + i];
  }
  double rho = trace > 0 ? d / trace : 1;
  u[0] += fx_cone_shift(one->contact, u);
  for (int32_t i = 0; i < d; i++) x[i] = r[i] - rho * u[i];
  fx_cone_project(one->contact, x, x);
  for (int32_t i = 0; i < d; i++) sum += (r[i] - x[i]) * (r[i] - x[i]);
  return sum;
}

static bool inside_polygon(const fx_one_contact *one, const double *r) {
  int32_t m = one->contact->facets;
  for (int32_t k = 0; k < m; k++) {
    const double *c = one->corner + 2 * k, *d = one->corner + 2 * ((k + 1) % m);
    double a = r[1] - r[0] * c[0], b = r[2] - r[0] * c[1];
    if ((d[0] - c[0]) * b - (d[1] - c[1]) * a < 0) return false;
  }
  return true;
}

static void solve_pyramid(fx_one_contact *one, const double *q, double *r) {
  if (q[0] >= 0 || one->disc.normal_inverse == 0 || one->contact->mu == 0) {
    r[0] = q[0] < 0 ? -q[0] * one->disc.normal_inverse : 0;
    r[1] = r[2] = 0;
    return;
  }
  const fx_disc3 *c = &one->disc;
  if (c->can_stick) {
    fx_disc3_stick(c, q, (double[2]){q[1] - c->tn[0] * q[0], q[2] - c->tn[1] * q[0]}, r);
    if (r[0] >= 0 && inside_polygon(one, r)) return;
  }
  /* Slipping: candidates are corners and facets, the last right one first. */
  int32_t count = 2 * one->contact->facets;
  double best[3] = {0, 0, 0}, best_residual = INFINITY;
  for (int32_t step = 0; step < count; step++) {
    int32_t candidate = (one->last + step) % count;
    bool consistent = candidate & 1 ? slip_facet(one, candidate / 2, q, r) : slip_corner(one, candidate / 2, q, r);
    if (consistent) {
      one->last = candidate;
      return;
    }
    if (candidate & 1) continue;
    /* Round-off can leave every candidate just inconsistent: then the corner nearest to the law. */
    fx_cone_project(one->contact, r, r);
    double residual = local_residual(one, q, r);
    if (residual < best_residual) {
      best_residual = residual;
      memcpy(best, r, sizeof best);
    }
  }
  memcpy(r, best, sizeof best);
}

/* ---- rolling: sliding disc and rolling disc ---- */

/* For a given slip factor alpha eliminate the sliding rows; what is left is a disc around the same normal. */
static double rolling_at(fx_one_contact *one, const double *q, double alpha, double *r) {
  const double *D = one->D;
  static const int keep[3] = {0, 3, 4};
  double a = D[6] + alpha, d = D[12] + alpha, b = D[7], c = D[11], determinant = a * d - b * c;
  if (!(determinant > 0)) return -INFINITY;
  double i00 = d / determinant, i01 = -b / determinant, i10 = -c / determinant, i11 = a / determinant;
  /* z = A^-1 [q_T | D_TX] */
  double z0[4], z1[4], x0[4] = {q[1], D[5], D[8], D[9]}, x1[4] = {q[2], D[10], D[13], D[14]};
  for (int k = 0; k < 4; k++) {
    z0[k] = i00 * x0[k] + i01 * x1[k];
    z1[k] = i10 * x0[k] + i11 * x1[k];
  }
  double block[9], rest[3], x[3];
  for (int i = 0; i < 3; i++) {
    const double *row = D + 5 * keep[i];
    rest[i] = q[keep[i]] - row[1] * z0[0] - row[2] * z1[0];
    for (int j = 0; j < 3; j++) block[3 * i + j] = row[keep[j]] - row[1] * z0[j + 1] - row[2] * z1[j + 1];
  }
  double last = one->disc.alpha;
  fx_disc3_prepare(block, 3, one->contact->mu_r, &one->disc);
  one->disc.alpha = last;
  fx_disc3_solve(&one->disc, rest, x);
  r[0] = x[0];
  r[3] = x[1];
  r[4] = x[2];
  r[1] = -(z0[0] + z0[1] * x[0] + z0[2] * x[1] + z0[3] * x[2]);
  r[2] = -(z1[0] + z1[1] * x[0] + z1[2] * x[1] + z1[3] * x[2]);
  return one->contact->mu * r[0] - sqrt(r[1] * r[1] + r[2] * r[2]);
}

/* Root of mu r_N - |r_T| in alpha: Illinois (bracketed secant) on the variable alpha / (alpha + scale) in (0, 1). */
static void solve_rolling(fx_one_contact *one, const double *q, double *r) {
  memset(r, 0, 5 * sizeof *r);
  if (q[0] >= 0) return;
  const double *D = one->D;
  double scale = 0.5 * (fabs(D[6]) + fabs(D[12]));
  if (rolling_at(one, q, floor_ratio * scale, r) >= 0) return;
  double low = 0, high = 1, low_gap = -1, high_gap = 1;
  bool bounded = false; /* a finite value at the high end is known */
  for (int step = 0; step < 200 && high - low > 1e-16; step++) {
    double middle =
        bounded && low_gap > -INFINITY ? low + (high - low) * (low_gap / (low_gap - high_gap)) : 0.5 * (low + high);
    if (!(middle > low && middle < high)) middle = 0.5 * (low + high);
    if (!(middle > low && middle < high)) break;
    double gap = rolling_at(one, q, scale * middle / (1 - middle), r);
    if (fabs(gap) <= 1e-16 * fabs(r[0])) break;
    if (gap < 0) {
      low = middle;
      low_gap = gap;
      if (bounded) high_gap *= 0.5;
    } else {
      high = middle;
      high_gap = gap;
      if (bounded) low_gap *= 0.5;
      bounded = true;
    }
  }
  fx_cone_project(one->contact, r, r);
}

/* ---- joints, limits, frictionless ---- */

static void solve_bilateral(fx_one_contact *one, const double *q, double *r) {
  for (int32_t k = 0; k < one->contact->dim; k++) r[k] = -q[k];
  fx_lu_solve(one->contact->dim, one->lu, one->pivot, r);
}

static void solve_normal(fx_one_contact *one, const double *q, double *r) {
  for (int32_t k = 0; k < one->contact->dim; k++) r[k] = 0;
  if (q[0] < 0 && one->D[0] > 0) r[0] = -q[0] / one->D[0];
}

static frix_status prepare_bilateral(fx_arena *arena, fx_one_contact *one) {
  int32_t d = one->contact->dim;
  one->lu = FX_TAKE(arena, double, d *d);
  if (!one->lu) return FRIX_ERROR_MEMORY;
  double trace = 0;
  for (int32_t k = 0; k < d; k++) trace += fabs(one->D[k * d + k]);
  double regular = trace > 0 ? floor_ratio * trace / d : 1; /* nothing moves: any impulse is as good as none */
  memcpy(one->lu, one->D, (size_t)(d * d) * sizeof *one->lu);
  for (int32_t k = 0; k < d; k++) one->lu[k * d + k] += regular;
  if (!fx_lu_factor(d, one->lu, one->pivot)) {
    memset(one->lu, 0, (size_t)(d * d) * sizeof *one->lu);
    for (int32_t k = 0; k < d; k++) one->lu[k * d + k] = trace > 0 && trace < INFINITY ? trace : 1;
    fx_lu_factor(d, one->lu, one->pivot);
  }
  return FRIX_OK;
}

static frix_status prepare_pyramid(fx_arena *arena, fx_one_contact *one) {
  int32_t m = one->contact->facets;
  one->corner = FX_TAKE(arena, double, 2 * m);
  if (!one->corner) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < m; k++) {
    fx_polygon_corner(k, m, one->corner + 2 * k);
    one->corner[2 * k] *= one->contact->mu;
    one->corner[2 * k + 1] *= one->contact->mu;
  }
  fx_disc3_prepare(one->D, 3, one->contact->mu, &one->disc);
  return FRIX_OK;
}

/* ---- dispatch ---- */

frix_status fx_one_contact_prepare(fx_arena *arena, const frix_contact *contact, const double *D, fx_one_contact *one) {
  one->contact = contact;
  one->D = D;
  one->disc.alpha = 0;
  one->last = 0;
  switch (contact->cone) {
    case FRIX_CONE_CIRCULAR: fx_disc3_prepare(D, 3, contact->mu, &one->disc); break;
    case FRIX_CONE_ELLIPTIC: prepare_elliptic(one); break;
    case FRIX_CONE_PLANAR: prepare_planar(D, &one->disc); break;
    case FRIX_CONE_PYRAMID: return prepare_pyramid(arena, one);
    case FRIX_CONE_BILATERAL: return prepare_bilateral(arena, one);
    default: break;
  }
  return FRIX_OK;
}

void fx_one_contact_solve(fx_one_contact *one, const double *q, double *r) {
  switch (one->contact->cone) {
    case FRIX_CONE_CIRCULAR: fx_disc3_solve(&one->disc, q, r); break;
    case FRIX_CONE_ELLIPTIC: solve_elliptic(one, q, r); break;
    case FRIX_CONE_PYRAMID: solve_pyramid(one, q, r); break;
    case FRIX_CONE_PLANAR: solve_planar(one, q, r); break;
    case FRIX_CONE_ROLLING: solve_rolling(one, q, r); break;
    case FRIX_CONE_BILATERAL: solve_bilateral(one, q, r); break;
    default: solve_normal(one, q, r); break;
  }
}
