/* Errors of single contacts.
 *
 * The error of a contact is the smallest e such that some (u', r') satisfies its law exactly with
 *
 *   |u' - u| <= e V,   |r' - r| <= e P         in every part: the normal row; tangents; rolling; a row of a joint
 *   V = min( limit, scale of its own bodies, row_speeds.c ),   P = max( |r|,  V n / tr(W + R) ), n rows
 *
 * and friction beyond its bound is at most e |r_T|. Two rows whose impulse must be zero are measured in every direction
 * of their plane (fx_row_stray): what bodies carry along one hides nothing along another. `limit` is one body size per
 * step in a simulation, else the driving speed of the island (row_speeds.c).
 *
 * u is a sum of terms of size V before the limit, so no method can reduce its error below ROUNDING times that. A
 * smaller error is accepted, and reported as floor, if it is at most FLOOR_LIMIT. */
#include "problem/row_errors.h"

#include "problem/cone.h"

#include <math.h>

static const double ROUNDING = 32 * 2.220446049250313e-16; /* a sum of some tens of terms */
static const double FLOOR_LIMIT = 1e-8;                    /* above, rounding hides the law */
static const double OWN_SCALE = 1e-8;                      /* impulses below this part of P count as such */

/* 0 / 0 is 0. */
static double ratio(double x, double scale) { return x == 0 ? 0 : x / scale; }

/* ---- the error of one contact ---- */

/* Scales of a part. */
typedef struct scale {
  double V, P;
} scale;

static scale scale_of(const fx_system *s, int32_t row, int32_t count, double V, const double *r) {
  double W = fx_row_sum(s->W_diag, row, row + count) + (s->R ? fx_row_sum(s->R, row, row + count) : 0);
  scale b = {V, fx_safe_norm(count, r)};
  if (W > 0) b.P = fx_larger(V * ((double)count / W), b.P);
  return b;
}

/* Rows that carry nothing and yet move: no scale makes that small. */
static bool moves_from_nothing(int32_t n, const scale *b, const double *u) {
  return !(b->V > 0) && fx_safe_norm(n, u) > 0;
}

/* Friction on a disc of this radius: natural map in units of P and V, which moves u and r by the same share. */
static double disc_error(int32_t n, const scale *b, double radius, const double *r, const double *u) {
  double x[2] = {0, 0}, e[2] = {0, 0};
  if (moves_from_nothing(n, b, u)) return INFINITY;
  for (int32_t k = 0; k < n; k++) x[k] = ratio(r[k], b->P) - ratio(u[k], b->V);
  double length = fx_safe_norm(n, x), bound = ratio(radius, b->P);
  if (!(length > bound)) return ratio(fx_safe_norm(n, u), b->V) + (isnan(length) ? length : 0);
  for (int32_t k = 0; k < n; k++) e[k] = ratio(r[k], b->P) - x[k] * (bound / length);
  return fx_safe_norm(n, e);
}

/* The same on an ellipse: a disc in the coordinates r_k / mu_k, mu_k u_k. */
static double ellipse_error(const frix_contact *c, const scale *b, double normal, const double *r, const double *u) {
  double mu[2] = {c->mu, c->mu2}, C = c->axis[0], S = c->axis[1];
  if (moves_from_nothing(2, b, u)) return INFINITY;
  double rt[2] = {C * r[0] + S * r[1], C * r[1] - S * r[0]}, ut[2] = {C * u[0] + S * u[1], C * u[1] - S * u[0]};
  if (mu[0] == 0 || mu[1] == 0) { /* a line: no impulse across it */
    int along = mu[0] == 0 ? 1 : 0;
    return fx_larger(ratio(fabs(rt[1 - along]), b->P), disc_error(1, b, mu[along] * normal, rt + along, ut + along));
  }
  double x[2], bound = ratio(normal, b->P), dr[2], du[2];
  for (int k = 0; k < 2; k++) x[k] = ratio(rt[k], b->P) / mu[k] - ratio(ut[k], b->V) / mu[1 - k];
  double length = fx_safe_norm(2, x), shrink = length > bound ? bound / length : 1;
  for (int k = 0; k < 2; k++) {
    double d = ratio(rt[k], b->P) / mu[k] - shrink * x[k];
    dr[k] = mu[k] * d;
    du[k] = mu[1 - k] * d;
  }
  return fx_larger(fx_safe_norm(2, dr), fx_safe_norm(2, du));
}

static double polygon_error(const frix_contact *c, const scale *b, double normal, const double *r, const double *u) {
  if (moves_from_nothing(2, b, u)) return INFINITY;
  double x[3] = {0, ratio(r[0], b->P) - ratio(u[0], b->V), ratio(r[1], b->P) - ratio(u[1], b->V)};
  double mid[2], width[2], a = fx_pyramid_sector(c, x, mid, width), bound = ratio(normal, b->P);
  if (!(a > width[0] * bound)) return ratio(fx_safe_norm(2, u), b->V);
  double along = mid[0] * x[2] - mid[1] * x[1], most = width[1] * bound;
  a = width[0] * bound;
  along = along > most ? most : along < -most ? -most : along;
  double e[2] = {ratio(r[0], b->P) - (mid[0] * a - mid[1] * along), ratio(r[1], b->P) - (mid[1] * a + mid[0] * along)};
  return fx_safe_norm(2, e);
}

static inline int32_t part_of(int32_t k) { return k == 0 ? 0 : k < 3 ? 1 : 2; }

/* Scales of equal products V P, the least of the three parts: in units of them the dual cones stay dual. False: one is
 * zero or too far from one. */
static bool match_scales(int32_t parts, scale *b) {
  double least = INFINITY;
  for (int32_t k = 0; k < parts; k++) least = fmin(least, b[k].V * b[k].P);
  if (!(least > 1e-280 && least < 1e280)) return false;
  for (int32_t k = 0; k < parts; k++) b[k].P = least / b[k].V;
  return true;
}

/* The convex relaxation couples all rows: natural map of the whole cone in units of V and P of each part, which moves
 * u and r of the part by the same share. */
static double associated_error(frix_contact c, const scale *b, const double *r, const double *u) {
  double x[FRIX_MAX_DIM], out[FRIX_MAX_DIM], own[FRIX_MAX_DIM] = {0};
  c.mu *= b[0].P / b[1].P, c.mu2 *= b[0].P / b[1].P;
  if (c.dim > 3) c.mu_r *= b[0].P / b[2].P;
  for (int32_t k = 0; k < c.dim; k++) {
    own[k] = r[k] / b[part_of(k)].P;
    x[k] = own[k] - u[k] / b[part_of(k)].V;
  }
  fx_cone_project(&c, x, out);
  for (int32_t k = 0; k < c.dim; k++) out[k] = own[k] - out[k];
  return fx_safe_norm(c.dim, out);
}

/* Where some part has no scale of its own: those of all rows. */
static double associated_alike(const frix_contact *c, const scale *all, const double *r, const double *u) {
  scale b[3] = {*all, *all, *all};
  for (int k = 0; k < 3; k++) {
    if (!(b[k].V > 0)) b[k].V = 1;
    if (!(b[k].P > 0)) b[k].P = 1;
  }
  double error = associated_error(*c, b, r, u);
  return error > 0 && !(all->V > 0) ? INFINITY : error;
}

/* Friction beyond its bound is measured by the impulse itself, which a method can keep within the bound exactly. */
static double excess(int32_t n, const scale *b, double radius, const double *r) {
  double size = fx_safe_norm(n, r);
  if (!(size > radius)) return isnan(size) ? size : 0;
  return ratio(size - radius, fx_larger(size, OWN_SCALE * b->P));
}

static double friction_error(const frix_contact *c, const scale *t, const scale *roll, double normal, const double *r,
                             const double *u) {
  if (c->cone == FRIX_CONE_ELLIPTIC) return ellipse_error(c, t, normal, r + 1, u + 1);
  if (c->cone == FRIX_CONE_PYRAMID) return polygon_error(c, t, normal, r + 1, u + 1);
  if (c->cone == FRIX_CONE_FRICTIONLESS || c->cone == FRIX_CONE_LIMIT)
    return ratio(fx_safe_norm(c->dim - 1, r + 1), t->P);
  int32_t n = c->cone == FRIX_CONE_PLANAR ? 1 : 2;
  double e = fx_larger(excess(n, t, c->mu * normal, r + 1), disc_error(n, t, c->mu * normal, r + 1, u + 1));
  if (c->cone != FRIX_CONE_ROLLING) return e;
  e = fx_larger(excess(2, roll, c->mu_r * normal, r + 3), e);
  return fx_larger(disc_error(2, roll, c->mu_r * normal, r + 3, u + 3), e);
}

/* Friction and rolling of a contact on which none may act. */
static double stray_error(const fx_system *s, const fx_row_measure *by, int32_t i, const double *ri) {
  int32_t d = s->contact[i].dim;
  double e = 0;
  if (!by->bodies.start) return 0;
  if (d >= 3) e = fx_row_stray(s, by, i, 1, ri + 1);
  return d >= 5 ? fx_larger(fx_row_stray(s, by, i, 3, ri + 3), e) : e;
}

/* V by row, r and u of contact i. */
static double contact_error(const fx_system *s, frix_law law, int32_t i, const double *V, const fx_row_measure *by,
                            const double *ri, const double *ui) {
  const frix_contact *c = &s->contact[i];
  int32_t row = s->row[i], near = c->dim > 3 ? 3 : c->dim; /* normal and tangents */
  double worst = 0;
  if (c->cone == FRIX_CONE_BILATERAL) {
    for (int32_t k = 0; k < c->dim; k++) worst = fx_larger(ratio(fabs(ui[k]), V[k]), worst);
    return worst;
  }
  double pushing = ri[0] > 0 ? ri[0] : 0, pulling = ri[0] < 0 ? -ri[0] : 0, into = ui[0] < 0 ? -ui[0] : 0;
  scale roll = {0, 0};
  if (c->dim > 3) roll = scale_of(s, row + 3, c->dim - 3, V[3], ri + 3);
  if (s->has_bounds && fx_is_bound(s, i)) {
    scale t = scale_of(s, row + 1, near - 1, V[1], ri + 1);
    return friction_error(c, &t, &roll, fx_bound_of(s, i), ri, ui);
  }
  if (law == FRIX_LAW_ASSOCIATED && c->dim > 1 && c->cone != FRIX_CONE_FRICTIONLESS) {
    scale all = scale_of(s, row, near, fx_larger(V[0], V[1]), ri);
    scale part[3] = {scale_of(s, row, 1, V[0], ri), scale_of(s, row + 1, near - 1, V[1], ri + 1), roll};
    return match_scales(c->dim > 3 ? 3 : 2, part) ? associated_error(*c, part, ri, ui)
                                                  : associated_alike(c, &all, ri, ui);
  }
  scale normal = scale_of(s, row, 1, V[0], ri), tangent = {0, 0};
  double closed = fx_larger(ratio(fabs(ui[0]), normal.V), ratio(pulling, normal.P));
  double open = fx_larger(ratio(into, normal.V), ratio(fabs(ri[0]), normal.P));
  if (c->dim > 1) {
    tangent = scale_of(s, row + 1, near - 1, V[1], ri + 1);
    closed = fx_larger(friction_error(c, &tangent, &roll, pushing, ri, ui), closed);
    open = fx_larger(ratio(fx_safe_norm(near - 1, ri + 1), tangent.P), open);
  }
  if (c->dim > 3) open = fx_larger(ratio(fx_safe_norm(c->dim - 3, ri + 3), roll.P), open);
  if (c->cone == FRIX_CONE_FRICTIONLESS || c->cone == FRIX_CONE_LIMIT) {
    double stray = stray_error(s, by, i, ri);
    open = fx_larger(stray, open), closed = fx_larger(stray, closed);
  } else if (open < closed) {
    open = fx_larger(stray_error(s, by, i, ri), open);
  }
  return open < closed || isnan(open) ? open : closed;
}

/* ---- all of them ---- */

/* Whether the error of a circular contact is certainly at most e: open without impulse, or sticking inside the cone. */
static bool is_below(const frix_contact *c, double e, const double V[2], const double *r, const double *u) {
  if (c->cone != FRIX_CONE_CIRCULAR) return false;
  if (r[0] == 0 && r[1] == 0 && r[2] == 0) return u[0] >= 0;
  double most = e * V[1];
  return fabs(u[0]) <= e * V[0] && u[1] * u[1] + u[2] * u[2] <= most * most && r[0] > 0 &&
         r[1] * r[1] + r[2] * r[2] <= c->mu * c->mu * (r[0] * r[0]);
}

/* Rounding of u relative to the scale of its rows. */
static double rounding_of(const fx_system *s, int32_t i, const double *speed, const double *V) {
  double most = 0;
  for (int32_t k = 0; k < s->contact[i].dim; k++)
    if (V[k] > 0) most = fx_larger(speed[s->row[i] + k] / V[k], most);
  return ROUNDING * most;
}

/* Contacts first .. end - 1 of a set. */
static void find_some(const fx_system *s, const fx_row_set *set, int32_t first, int32_t end, frix_law law,
                      const fx_row_measure *by, const double *r, const double *u, fx_row_errors *out) {
  const double *speed = by->speed, *limit = by->limit;
  double capped[FRIX_MAX_DIM];
  for (int32_t c = first; c < end; c++) {
    int32_t i = fx_row_at(set, c), row = s->row[i], d = s->contact[i].dim;
    bool simple = law == FRIX_LAW_COULOMB && d == 3 && !(s->has_bounds && fx_is_bound(s, i));
    if (simple) {
      double V[2];
      bool sure = true; /* else rounding hides the law, whatever u says */
      for (int32_t k = 0; k < 2; k++) {
        V[k] = speed[row + k] < limit[row + k] ? speed[row + k] : limit[row + k];
        sure &= ROUNDING * speed[row + k] <= FLOOR_LIMIT * V[k] && V[k] < INFINITY;
      }
      if (sure && is_below(&s->contact[i], fx_larger(out->worst, ROUNDING), V, r + row, u + row)) continue;
    }
    for (int32_t k = 0; k < d; k++) capped[k] = speed[row + k] < limit[row + k] ? speed[row + k] : limit[row + k];
    bool beyond = false; /* all measure: nothing can be said of numbers that overflow */
    for (int32_t k = 0; k < d; k++) beyond |= !(capped[k] < INFINITY);
    double e = beyond ? INFINITY : contact_error(s, law, i, capped, by, r + row, u + row);
    double floor = rounding_of(s, i, speed, capped);
    if (floor > FLOOR_LIMIT && floor > e) e = floor;
    if (e <= out->worst) continue;
    if (e <= floor && floor <= FLOOR_LIMIT) {
      if (floor > ROUNDING) out->floor = fx_larger(floor, out->floor);
      continue;
    }
    out->worst = e;
    out->where = row;
    out->contact = i;
    if (isnan(e)) return;
  }
}

typedef struct search {
  const fx_system *s;
  const fx_row_set *set;
  frix_law law;
  const fx_row_measure *by;
  const double *r, *u;
  fx_row_errors part[FX_PARTS];
} search;

static void find_part(int32_t part, int32_t first, int32_t end, void *user) {
  search *t = user;
  find_some(t->s, t->set, first, end, t->law, t->by, t->r, t->u, &t->part[part]);
}

void fx_row_errors_find(const fx_system *s, const fx_row_set *set, frix_law law, const fx_row_measure *by,
                        const double *r, const double *u, fx_row_errors *out) {
  search t = {.s = s, .set = set, .law = law, .by = by, .r = r, .u = u};
  for (int k = 0; k < FX_PARTS; k++) t.part[k] = *out;
  int32_t parts = fx_parallel_range(s->threads, set->count, FX_LEAST_CONTACTS, find_part, &t);
  *out = t.part[0];
  for (int32_t k = 1; k < parts; k++) {
    const fx_row_errors *one = &t.part[k];
    double floor = fx_larger(one->floor, out->floor);
    if (!isnan(out->worst) && !(one->worst <= out->worst)) *out = *one;
    out->floor = floor;
  }
}

double fx_row_error(const fx_system *s, const fx_row_set *set, frix_law law, fx_row_scales *t, const double *r,
                    const double *u) {
  fx_row_errors errors = {.where = -1};
  fx_row_scales_find(s, set, r, t);
  if (!s->limit) fx_row_limits(s, set, r, t->limit);
  fx_row_measure by = fx_row_measure_of(s, t);
  fx_row_errors_find(s, set, law, &by, r, u, &errors);
  if (!set->list) t->worst = errors.where >= 0 ? errors.contact : -1;
  return errors.worst;
}

double fx_row_error_of_worst(const fx_system *s, frix_law law, const fx_row_scales *t, const double *r,
                             const double *u) {
  if (t->worst < 0) return 0;
  fx_row_errors errors = {.where = -1};
  fx_row_set one = {&t->worst, 1};
  fx_row_measure by = fx_row_measure_of(s, t);
  fx_row_errors_find(s, &one, law, &by, r, u, &errors);
  return errors.worst;
}

void fx_row_errors_of_islands(const fx_system *s, const fx_islands *islands, frix_law law, fx_row_scales *t,
                              const double *r, const double *u, fx_row_errors *out) {
  fx_row_set all = {.count = s->contact_count};
  *out = (fx_row_errors){.where = -1};
  fx_row_scales_find(s, &all, r, t);
  for (int32_t k = 0; !s->limit && k < islands->count; k++) {
    fx_row_set one = {islands->contact + islands->start[k], islands->start[k + 1] - islands->start[k]};
    fx_row_limits(s, &one, r, t->limit);
  }
  fx_row_measure by = fx_row_measure_of(s, t);
  fx_row_errors_find(s, &all, law, &by, r, u, out);
}
