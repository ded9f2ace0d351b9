/* The answer on the central path, and the same linear system for its derivative.
 *
 *   x = D^-1 z - D u~,   z = D P_k(x),   D = diag(1, mu, mu),   u~ = u + e_N mu (sqrt(|u_T|^2 + k^2) - k)
 *   P_k = sum over both eigenvalues l of x of (l + sqrt(l^2 + 4 k^2)) / 2 times its idempotent
 *
 * whose zeros are those of (D^-1 z) o (D u~) = k^2 e (Chen, Harker, Kanzow, Smale; Fukushima, Luo, Tseng 2002 for
 * cones). With J = D P_k' D^-1 and J G = D P_k' D (I + e_N s'): K dz = -J G S dq + E dmu as everywhere. Newton from
 * large k to the k that is asked for. */
#include "analysis/gradient.h"

#include <math.h>
#include <string.h>

#define EXACT 1e-11 /* of what an island carries */
#define WIDE 0.3    /* the k to begin with */
#define NUDGE 1e-6  /* of mu */

enum { MOST_STEPS = 60 };

/* ---- one contact ---- */

typedef struct cone {
  int32_t dim; /* rows that have a law: 1 without friction */
  double mu, k;
} cone;

static cone cone_of(const frix_contact *c, double k) {
  bool round = (c->cone == FRIX_CONE_CIRCULAR || c->cone == FRIX_CONE_PLANAR) && c->mu > 0;
  return (cone){round ? c->dim : 1, c->mu, k};
}

static double lift(double x, double k) {
  double root = sqrt(x * x + 4 * k * k);
  return x > 0 ? 0.5 * (x + root) : 2 * k * k / (root - x);
}

static double lift_slope(double x, double k) { return 0.5 * (1 + x / sqrt(x * x + 4 * k * k)); }

/* P_k and its derivative (may be NULL) at x. */
static void project(const cone *c, const double *x, double *P, double *J) {
  int32_t d = c->dim;
  double t = 0, e[FRIX_MAX_DIM] = {0};
  for (int32_t a = 1; a < d; a++) t += x[a] * x[a];
  t = sqrt(t);
  for (int32_t a = 1; a < d; a++) e[a] = t > 0 ? x[a] / t : 0;
  double high = lift(x[0] + t, c->k), low = lift(x[0] - t, c->k);
  P[0] = 0.5 * (high + low);
  for (int32_t a = 1; a < d; a++) P[a] = 0.5 * (high - low) * e[a];
  if (!J) return;
  double up = lift_slope(x[0] + t, c->k), down = lift_slope(x[0] - t, c->k);
  double middle = 0.5 * (up + down), half = 0.5 * (up - down), across = t > 1e-12 * c->k ? (high - low) / (2 * t) : up;
  J[0] = middle;
  for (int32_t a = 1; a < d; a++) {
    J[a] = J[a * d] = half * e[a];
    for (int32_t b = 1; b < d; b++) J[a * d + b] = (a == b ? across : 0) + (middle - across) * e[a] * e[b];
  }
}

/* D P_k(D^-1 z - D u~) with J and J G (each may be NULL); z, u of the rows that have a law. */
static void law(const cone *c, const double *z, const double *u, double *out, double *J, double *JG) {
  int32_t d = c->dim;
  double t = 0, x[FRIX_MAX_DIM], P[FRIX_MAX_DIM], slope[FRIX_MAX_DIM] = {0}, own[FRIX_MAX_DIM * FRIX_MAX_DIM];
  for (int32_t a = 1; a < d; a++) t += u[a] * u[a];
  double root = sqrt(t + c->k * c->k);
  x[0] = z[0] - u[0] - (d > 1 ? c->mu * (root - c->k) : 0);
  for (int32_t a = 1; a < d; a++) x[a] = z[a] / c->mu - c->mu * u[a], slope[a] = c->mu * u[a] / root;
  project(c, x, P, own);
  for (int32_t a = 0; a < d; a++) {
    double left = a ? c->mu : 1;
    out[a] = left * P[a];
    for (int32_t b = 0; J && b < d; b++) {
      J[a * d + b] = left * own[a * d + b] / (b ? c->mu : 1);
      JG[a * d + b] = left * (own[a * d + b] * (b ? c->mu : 1) + own[a * d] * slope[b]);
    }
  }
}

/* ---- all of them ---- */

typedef struct path {
  frix_gradient *g;
  fx_arena arena;
  double *z, *miss, *tried, *unit; /* unit: by contact, of z and S u */
} path;

static double k_of(const path *p, int32_t i, double kappa) { return kappa * p->unit[i]; }

/* What z misses of its law, over its unit, the worst; fills J, J G and E where `slopes`. */
static double look(path *p, const double *z, double kappa, bool slopes) {
  frix_gradient *g = p->g;
  double worst = 0;
  for (int32_t i = 0; i < g->s.contact_count; i++)
    for (int32_t a = g->s.row[i]; a < g->s.row[i + 1]; a++) g->r[a] = z[a] * g->forces->scale[i];
  fx_system_velocity(&g->forces->s, g->r, g->u, g->v);
  for (int32_t i = 0; i < g->s.contact_count; i++) {
    const frix_contact *contact = &g->s.contact[i];
    int32_t row = g->s.row[i], d = contact->dim;
    double S = g->forces->scale[i], u[FRIX_MAX_DIM], out[FRIX_MAX_DIM] = {0}, J[FRIX_MAX_DIM * FRIX_MAX_DIM];
    double JG[FRIX_MAX_DIM * FRIX_MAX_DIM], *to = g->J + g->block[i], *to_JG = g->JG + g->block[i];
    bool joint = contact->cone == FRIX_CONE_BILATERAL;
    cone c = cone_of(contact, k_of(p, i, kappa));
    for (int32_t a = 0; a < d; a++) u[a] = S * g->u[row + a];
    if (!joint) law(&c, z + row, u, out, J, JG);
    for (int32_t a = 0; a < d; a++) {
      p->miss[row + a] = joint ? u[a] : z[row + a] - out[a];
      worst = fmax(worst, fabs(p->miss[row + a]) / p->unit[i]);
    }
    if (!slopes) continue;
    memset(to, 0, (size_t)(d * d) * sizeof *to), memset(to_JG, 0, (size_t)(d * d) * sizeof *to);
    for (int32_t a = 0; a < d && joint; a++) to_JG[a * (d + 1)] = 1;
    for (int32_t a = 0; a < c.dim && !joint; a++)
      for (int32_t b = 0; b < c.dim; b++) to[a * d + b] = J[a * c.dim + b], to_JG[a * d + b] = JG[a * c.dim + b];
    memset(g->E + row, 0, (size_t)d * sizeof *g->E);
    for (int side = -1; side <= 1 && c.dim > 1; side += 2) {
      cone beside = c;
      beside.mu += side * NUDGE * c.mu;
      law(&beside, z + row, u, out, NULL, NULL);
      for (int32_t a = 0; a < d; a++) g->E[row + a] += side * out[a] / (2 * NUDGE * c.mu);
    }
  }
  return worst;
}

/* Newton at one k; *done: it came to rest. */
static frix_status settle(path *p, double kappa, bool *done) {
  frix_gradient *g = p->g;
  size_t rows = (size_t)g->s.row_count;
  frix_status status = FRIX_OK;
  *done = false;
  for (int step = 0; step < MOST_STEPS && status == FRIX_OK && !*done; step++) {
    double worst = look(p, p->z, kappa, true), share = 1, next = INFINITY;
    *done = worst <= EXACT;
    if (*done) break;
    fx_arena keep = g->arena, own;
    fx_arena_init(&own, g->context);
    g->arena = own;
    status = fx_gradient_factor_all(g);
    if (status == FRIX_OK) status = fx_gradient_solve_all(g, &g->arena, false, p->miss);
    fx_arena_free(&g->arena);
    g->arena = keep;
    if (status != FRIX_OK) break;
    double *step_of = p->unit + g->s.contact_count; /* the step, while miss is used again */
    memcpy(step_of, p->miss, rows * sizeof *step_of);
    for (; share > 1e-6 && !(next <= (1 - 1e-4 * share) * worst); share *= 0.5) {
      for (size_t k = 0; k < rows; k++) p->tried[k] = p->z[k] - share * step_of[k];
      next = look(p, p->tried, kappa, false);
    }
    if (!(next < worst)) {
      *done = worst <= 1e3 * EXACT; /* as near as rounding lets it come */
      break;
    }
    memcpy(p->z, p->tried, rows * sizeof *p->z);
  }
  return status;
}

static frix_status check_cones(const frix_gradient *g) {
  for (int32_t i = 0; i < g->s.contact_count; i++) {
    frix_cone kind = g->s.contact[i].cone;
    if (kind == FRIX_CONE_ELLIPTIC || kind == FRIX_CONE_ROLLING || kind == FRIX_CONE_PYRAMID)
      return fx_fail(g->context, FRIX_ERROR_UNSUPPORTED, "contact %d: no smoothed gradient of this cone", i);
  }
  return FRIX_OK;
}

static frix_status follow(path *p, double kappa) {
  frix_gradient *g = p->g;
  size_t rows = (size_t)g->s.row_count, contacts = (size_t)g->s.contact_count;
  bool done = false;
  p->z = FX_TAKE(&p->arena, double, rows), p->miss = FX_TAKE(&p->arena, double, rows);
  p->tried = FX_TAKE(&p->arena, double, rows), p->unit = FX_TAKE(&p->arena, double, contacts + rows);
  if (!p->z || !p->miss || !p->tried || !p->unit) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < g->s.contact_count; i++) {
    p->unit[i] = fx_gradient_speed_unit(g, i) * g->forces->scale[i];
    if (!(p->unit[i] > 0)) p->unit[i] = 1; /* nothing acts there */
    g->among[i] = 1;
    for (int32_t a = g->s.row[i]; a < g->s.row[i + 1]; a++) p->z[a] = g->r[a] / g->forces->scale[i];
    if (g->s.contact[i].cone != FRIX_CONE_BILATERAL) p->z[g->s.row[i]] += fmax(WIDE, kappa) * p->unit[i];
  }
  frix_status status = FRIX_OK;
  for (double k = fmax(WIDE, kappa);; k = fmax(kappa, 0.3 * k)) {
    status = settle(p, k, &done);
    if (status != FRIX_OK || !done || k == kappa) break;
  }
  if (status == FRIX_OK && !done)
    status = fx_fail(g->context, FRIX_ERROR_UNSUPPORTED, "the central path is lost before kappa = %g", kappa);
  if (status != FRIX_OK) return status;
  look(p, p->z, kappa, true);
  return fx_gradient_factor_all(g);
}

frix_status fx_gradient_smooth(frix_gradient *g, double kappa) {
  path p = {.g = g};
  frix_status status = check_cones(g);
  if (status != FRIX_OK) return status;
  fx_arena_init(&p.arena, g->context);
  status = follow(&p, kappa);
  fx_arena_free(&p.arena);
  if (status == FRIX_OK && g->verdict == FRIX_GRADIENT_NOT_UNIQUE)
    return fx_fail(g->context, FRIX_ERROR_UNSUPPORTED, "smoothed: the linear system is singular");
  g->verdict = FRIX_GRADIENT_SMOOTHED;
  g->distance = kappa;
  g->contact = -1;
  return status;
}
