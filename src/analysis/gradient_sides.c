/* One-sided derivatives at kinks.
 *
 * The natural map has directional derivatives everywhere: with dx = dz - du~,
 *
 *   dz = P'(x; dx, dmu),     du~ = du + e_N s'(u; du),   du = A dz + S dq
 *
 * where a contact at a kink has one of two linear laws, chosen by dx itself:
 *
 *   at the edge of slipping    stick  P' = I              slip  P' = I - n n',  s' = -mu t . du_T     t = r_T / |r_T|
 *   sliding, about to open     slip   P' = c c'/|c|^2     open  P' = 0          c = (1, -mu u_T / |u_T|)
 *   touching, unloaded, still  P' is the projection itself, s' the shift: both are linear along rays
 *
 * and all others the law of their mode. Laws are chosen from the free change first, then from the dx they lead to,
 * until they fit; else all choices are tried. */
#include "analysis/gradient.h"

#include "base/abi.h"
#include "problem/cone.h"
#include "problem/cone_slope.h"

#include <math.h>
#include <string.h>

#define FITS 1e-9 /* of the largest change */

enum { MOST_ROUNDS = 40, MOST_KINKS = 10 };

typedef enum edge {
  EDGE_NONE,
  EDGE_SLIP,  /* sticks or slips */
  EDGE_OPEN,  /* slides or opens */
  EDGE_BARE,  /* without friction: carries or opens */
  EDGE_POINT, /* neither force nor velocity */
} edge;

typedef struct sides {
  const frix_gradient *g;
  const frix_gradient_data *data;
  frix_gradient own; /* g with laws of its own */
  fx_arena arena;
  uint8_t *edge, *out; /* by contact; out: slips, opens */
  double *z, *u, *r;   /* of the derivative: dz, S du, dr */
  int32_t count;       /* kinks with two laws */
  int32_t at[MOST_KINKS];
} sides;

static double tangent_length(const double *x, int32_t d) {
  double sum = 0;
  for (int32_t k = 1; k < d; k++) sum += x[k] * x[k];
  return sqrt(sum);
}

static edge edge_of(const frix_gradient *g, int32_t i) {
  const frix_contact *c = &g->s.contact[i];
  const double *r = g->r + g->s.row[i], *u = g->u + g->s.row[i];
  double speed = fx_gradient_speed_unit(g, i), impulse = fx_gradient_impulse_unit(g, i);
  if (c->cone == FRIX_CONE_BILATERAL) return EDGE_NONE;
  bool round = (c->cone == FRIX_CONE_CIRCULAR || c->cone == FRIX_CONE_PLANAR) && c->mu > 0;
  bool loaded = r[0] > FX_KINK * impulse, parts = u[0] > FX_KINK * speed;
  if (parts) return EDGE_NONE;
  if (!round) return loaded ? EDGE_NONE : EDGE_BARE;
  double slip = tangent_length(u, c->dim), pull = tangent_length(r, c->dim);
  bool slides = slip > FX_KINK * speed;
  if (loaded && slides) return EDGE_NONE;
  if (loaded) return c->mu * r[0] - pull > FX_KINK * impulse ? EDGE_NONE : EDGE_SLIP;
  return slides ? EDGE_OPEN : EDGE_POINT;
}

/* ---- laws ---- */

static void put_law(sides *q, int32_t i, const double *J, const double *slope) {
  int32_t d = q->g->s.contact[i].dim;
  double *own = q->own.J + q->own.block[i], *JG = q->own.JG + q->own.block[i];
  memcpy(own, J, (size_t)(d * d) * sizeof *own);
  for (int32_t a = 0; a < d; a++)
    for (int32_t b = 0; b < d; b++) JG[a * d + b] = J[a * d + b] + J[a * d] * slope[b];
}

/* n: unit normal of the cone at r, outward. */
static void slip_normal(const sides *q, int32_t i, double *n, double *t) {
  const frix_contact *c = &q->g->s.contact[i];
  const double *r = q->g->r + q->g->s.row[i];
  double length = tangent_length(r, c->dim), size = sqrt(1 + c->mu * c->mu);
  n[0] = -c->mu / size, t[0] = 0;
  for (int32_t k = 1; k < c->dim; k++) t[k] = r[k] / length, n[k] = t[k] / size;
}

static void set_slip_law(sides *q, int32_t i) {
  const frix_contact *c = &q->g->s.contact[i];
  int32_t d = c->dim;
  double J[FRIX_MAX_DIM * FRIX_MAX_DIM] = {0}, slope[FRIX_MAX_DIM] = {0}, n[FRIX_MAX_DIM], t[FRIX_MAX_DIM];
  double *E = q->own.E + q->g->s.row[i], normal = q->g->r[q->g->s.row[i]] / q->g->forces->scale[i];
  slip_normal(q, i, n, t);
  for (int32_t a = 0; a < d; a++)
    for (int32_t b = 0; b < d; b++) J[a * d + b] = (a == b) - (q->out[i] ? n[a] * n[b] : 0);
  for (int32_t k = 0; k < d; k++) {
    if (q->out[i]) slope[k] = -c->mu * t[k];
    E[k] = q->out[i] ? normal * (k ? t[k] : -c->mu) / (1 + c->mu * c->mu) : 0;
  }
  put_law(q, i, J, slope);
}

static void set_open_law(sides *q, int32_t i) {
  const frix_contact *c = &q->g->s.contact[i];
  const double *u = q->g->u + q->g->s.row[i];
  int32_t d = c->dim;
  double J[FRIX_MAX_DIM * FRIX_MAX_DIM] = {0}, slope[FRIX_MAX_DIM] = {0}, ray[FRIX_MAX_DIM] = {1};
  double slip = tangent_length(u, d);
  for (int32_t k = 1; k < d; k++) ray[k] = -c->mu * u[k] / slip, slope[k] = c->mu * u[k] / slip;
  for (int32_t a = 0; a < d && !q->out[i]; a++)
    for (int32_t b = 0; b < d; b++) J[a * d + b] = ray[a] * ray[b] / (1 + c->mu * c->mu);
  memset(q->own.E + q->g->s.row[i], 0, (size_t)d * sizeof *q->own.E);
  put_law(q, i, J, slope);
}

/* x: dx and du as they are so far. */
static void set_point_law(sides *q, int32_t i, const double *x, const double *du) {
  const frix_contact *c = &q->g->s.contact[i];
  double J[FRIX_MAX_DIM * FRIX_MAX_DIM] = {0}, slope[FRIX_MAX_DIM] = {0};
  fx_cone_project_slope(c, x, J);
  fx_cone_shift_slope(c, du, slope);
  memset(q->own.E + q->g->s.row[i], 0, (size_t)c->dim * sizeof *q->own.E);
  put_law(q, i, J, slope);
}

static void set_bare_law(sides *q, int32_t i) {
  double J[FRIX_MAX_DIM * FRIX_MAX_DIM] = {0}, slope[FRIX_MAX_DIM] = {0};
  J[0] = q->out[i] ? 0 : 1;
  put_law(q, i, J, slope);
}

/* dx of contact i, and dmu there. */
static double find_dx(const sides *q, int32_t i, double *x) {
  const frix_contact *c = &q->g->s.contact[i];
  int32_t row = q->g->s.row[i];
  const double *base = q->g->u + row, *du = q->u + row;
  double shift = 0;
  if (q->edge[i] == EDGE_OPEN) {
    for (int32_t k = 1; k < c->dim; k++) shift += c->mu * base[k] * du[k] / tangent_length(base, c->dim);
  } else if (q->edge[i] != EDGE_BARE) {
    shift = fx_cone_shift(c, du);
  }
  for (int32_t k = 0; k < c->dim; k++) x[k] = q->z[row + k] - du[k];
  x[0] -= shift;
  return q->data->mu && i < q->g->forces->problem->contact_count ? q->data->mu[i] : 0;
}

/* Above zero: dx asks for slipping or opening. */
static double outward(const sides *q, int32_t i) {
  const frix_contact *c = &q->g->s.contact[i];
  int32_t row = q->g->s.row[i], d = c->dim;
  const double *u = q->g->u + row;
  double x[FRIX_MAX_DIM], n[FRIX_MAX_DIM], t[FRIX_MAX_DIM], sum = 0, dmu = find_dx(q, i, x);
  if (q->edge[i] == EDGE_BARE) return -x[0];
  if (q->edge[i] == EDGE_SLIP) {
    slip_normal(q, i, n, t);
    for (int32_t k = 0; k < d; k++) sum += n[k] * x[k];
    return sqrt(1 + c->mu * c->mu) * sum - q->g->r[row] / q->g->forces->scale[i] * dmu;
  }
  for (int32_t k = 1; k < d; k++) sum += c->mu * u[k] * x[k] / tangent_length(u, d);
  return sum - x[0];
}

static void set_laws(sides *q) {
  for (int32_t i = 0; i < q->g->s.contact_count; i++) {
    double x[FRIX_MAX_DIM];
    if (q->edge[i] == EDGE_SLIP) set_slip_law(q, i);
    if (q->edge[i] == EDGE_OPEN) set_open_law(q, i);
    if (q->edge[i] == EDGE_BARE) set_bare_law(q, i);
    if (q->edge[i] != EDGE_POINT) continue;
    find_dx(q, i, x);
    set_point_law(q, i, x, q->u + q->g->s.row[i]);
  }
}

/* ---- one choice ---- */

/* The derivative with the laws as they are set; *found: there is one. */
static frix_status try_laws(sides *q, bool *found) {
  const fx_system *s = &q->g->s;
  fx_arena arena;
  fx_arena_init(&arena, q->g->context);
  q->own.arena = arena, q->own.verdict = FRIX_GRADIENT_SMOOTH;
  frix_status status = fx_gradient_factor_all(&q->own);
  if (status == FRIX_OK) status = fx_gradient_along(&q->own, &q->own.arena, q->data, NULL, q->u, q->r);
  *found = status == FRIX_OK && q->own.verdict == FRIX_GRADIENT_SMOOTH;
  fx_arena_free(&q->own.arena);
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) {
      q->z[k] = q->r[k] / q->g->forces->scale[i];
      q->u[k] *= q->g->forces->scale[i];
    }
  return status == FRIX_ERROR_MEMORY ? status : FRIX_OK;
}

/* Whether the laws that were set are those that dx asks for; a contact that stays at its kink fits either. */
static bool laws_fit(const sides *q) {
  double size = 0;
  for (int32_t k = 0; k < q->g->s.row_count; k++) size = fmax(size, fmax(fabs(q->z[k]), fabs(q->u[k])));
  for (int32_t i = 0; i < q->g->s.contact_count; i++) {
    double x[FRIX_MAX_DIM], P[FRIX_MAX_DIM];
    if (q->edge[i] == EDGE_NONE) continue;
    if (q->edge[i] != EDGE_POINT) {
      double far = outward(q, i);
      if ((far > 0) != (q->out[i] != 0) && fabs(far) > FITS * size) return false;
      continue;
    }
    find_dx(q, i, x);
    fx_cone_project(&q->g->s.contact[i], x, P);
    for (int32_t k = 0; k < q->g->s.contact[i].dim; k++)
      if (!(fabs(P[k] - q->z[q->g->s.row[i] + k]) <= FITS * size)) return false;
  }
  return true;
}

/* From the laws at hand, each round with those that the round before asked for. */
static frix_status settle(sides *q, bool *fits) {
  frix_status status = FRIX_OK;
  *fits = false;
  for (int round = 0; round < MOST_ROUNDS && status == FRIX_OK && !*fits; round++) {
    bool found;
    set_laws(q);
    status = try_laws(q, &found);
    if (status != FRIX_OK || !found) break;
    *fits = laws_fit(q);
    for (int32_t i = 0; i < q->g->s.contact_count && !*fits; i++)
      if (q->edge[i] != EDGE_NONE && q->edge[i] != EDGE_POINT) q->out[i] = outward(q, i) > 0;
  }
  return status;
}

/* Every choice of laws at the first kinks. */
static frix_status try_all(sides *q, bool *fits) {
  frix_status status = FRIX_OK;
  *fits = false;
  for (uint32_t choice = 0; choice < (1u << q->count) && status == FRIX_OK && !*fits; choice++) {
    bool found;
    for (int32_t k = 0; k < q->count; k++) q->out[q->at[k]] = choice >> k & 1;
    memset(q->z, 0, (size_t)q->g->s.row_count * sizeof *q->z);
    memset(q->u, 0, (size_t)q->g->s.row_count * sizeof *q->u);
    set_laws(q);
    status = try_laws(q, &found);
    *fits = status == FRIX_OK && found && laws_fit(q);
  }
  return status;
}

/* ---- begin and end ---- */

/* Change of velocities where no impulse changes: what the first laws are chosen by. */
static frix_status free_change(sides *q) {
  const frix_gradient *g = q->g;
  bool found;
  memset(q->own.among, 0, (size_t)g->s.contact_count);
  frix_status status = try_laws(q, &found);
  for (int32_t i = 0; i < g->s.contact_count; i++) {
    q->own.among[i] = g->among[i] || q->edge[i] != EDGE_NONE;
    if (status == FRIX_OK && q->edge[i] != EDGE_NONE && q->edge[i] != EDGE_POINT) q->out[i] = outward(q, i) > 0;
  }
  return status;
}

static frix_status open_sides(sides *q) {
  const frix_gradient *g = q->g;
  size_t rows = (size_t)g->s.row_count, contacts = (size_t)g->s.contact_count;
  size_t squares = rows * FRIX_MAX_DIM;
  q->own = *g;
  q->own.J = FX_TAKE(&q->arena, double, squares), q->own.JG = FX_TAKE(&q->arena, double, squares);
  q->own.E = FX_TAKE(&q->arena, double, rows), q->own.among = FX_TAKE(&q->arena, uint8_t, contacts);
  q->edge = FX_TAKE(&q->arena, uint8_t, contacts), q->out = FX_TAKE(&q->arena, uint8_t, contacts);
  q->z = FX_TAKE(&q->arena, double, rows), q->u = FX_TAKE(&q->arena, double, rows);
  q->r = FX_TAKE(&q->arena, double, rows);
  bool room = q->own.J && q->own.JG && q->own.E && q->own.among && q->edge && q->out && q->z && q->u && q->r;
  if (!room) return FRIX_ERROR_MEMORY;
  memcpy(q->own.J, g->J, squares * sizeof *q->own.J), memcpy(q->own.JG, g->JG, squares * sizeof *q->own.JG);
  memcpy(q->own.E, g->E, rows * sizeof *q->own.E);
  for (int32_t i = 0; i < g->s.contact_count; i++) {
    frix_cone cone = g->s.contact[i].cone;
    q->edge[i] = (uint8_t)edge_of(g, i);
    bool round = cone != FRIX_CONE_ELLIPTIC && cone != FRIX_CONE_ROLLING;
    if (q->edge[i] == EDGE_NONE) continue;
    if (!round)
      return fx_fail(g->context, FRIX_ERROR_UNSUPPORTED, "contact %d: no one-sided derivative of this cone", i);
    if (q->edge[i] != EDGE_POINT && q->count < MOST_KINKS) q->at[q->count++] = i;
  }
  return FRIX_OK;
}

static frix_status find(sides *q, double *v, double *u, double *r) {
  bool fits = false;
  frix_status status = open_sides(q);
  if (status == FRIX_OK) status = free_change(q);
  if (status == FRIX_OK) status = settle(q, &fits);
  if (status == FRIX_OK && !fits) status = try_all(q, &fits);
  if (status != FRIX_OK) return status;
  if (!fits) return fx_fail(q->g->context, FRIX_ERROR_UNSUPPORTED, "no one-sided derivative: no modes fit this change");
  fx_arena_init(&q->own.arena, q->g->context);
  q->own.forces_unique = true;
  status = fx_gradient_factor_all(&q->own);
  if (status == FRIX_OK && r && !q->own.forces_unique)
    status = fx_fail(q->g->context, FRIX_ERROR_UNSUPPORTED, "forces are not unique: they have no derivative");
  if (status == FRIX_OK) status = fx_gradient_along(&q->own, &q->own.arena, q->data, v, u, r);
  fx_arena_free(&q->own.arena);
  return status;
}

frix_status frix_gradient_one_sided(const frix_gradient *g, const frix_gradient_data *data, double *v, double *u,
                                    double *r) {
  if (!g || !data) return FRIX_ERROR_INPUT;
  if (g->verdict != FRIX_GRADIENT_KINK) return frix_gradient_forward(g, data, v, u, r);
  frix_gradient_data none = {.size = sizeof none};
  FX_WHOLE(frix_gradient_data, data, none);
  if (data != &data_whole) return fx_fail(g->context, FRIX_ERROR_INPUT, "frix_gradient_data: its size is not known");
  sides q = {.g = g, .data = data};
  fx_arena_init(&q.arena, g->context);
  frix_status status = find(&q, v, u, r);
  fx_arena_free(&q.arena);
  return status;
}
