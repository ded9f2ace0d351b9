/* Modes of contacts at an answer, their distance to other modes, and the linear system that follows.
 *
 *   open   u_N                      slip   r_N, |u_T|                 stick   room of r within the friction set
 *
 * each over what the island carries. LU with complete pivoting shows the null space of K: changes of forces that leave
 * every law as it is. Where one of them changes a velocity, or a sliding contact, whose friction then turns
 * otherwise, the derivative of the motion is not unique. */
#include "analysis/gradient.h"

#include "problem/cone.h"
#include "problem/cone_slope.h"

#include <math.h>
#include <string.h>

#define DEPENDENT 1e-10 /* pivots of K below are zero */
#define DOUBT 1e-6      /* of pivots: what the answer's error may make of them, over the distance to a kink */
#define KEPT 1e-3       /* change of K over the smallest pivot: rounds take it out of what old factors give */
#define COMPLIANT 1e-3  /* the same of sparse factors: their compliance is that much above it */
#define MOVES 1e-7      /* change of velocity by forces that should make none */

enum { MOST_ROWS = 1500, DENSE_ROWS = 48, SOLVE_ROUNDS = 4 };

/* ---- distances ---- */

double fx_gradient_speed_unit(const frix_gradient *g, int32_t i) { return g->forces->still[i] / g->forces->tolerance; }
double fx_gradient_impulse_unit(const frix_gradient *g, int32_t i) {
  double s = g->forces->scale[i];
  return fx_gradient_speed_unit(g, i) * s * s;
}

static double length_of(const double *x, int32_t n) {
  double sum = 0;
  for (int32_t k = 0; k < n; k++) sum += x[k] * x[k];
  return sqrt(sum);
}

/* Slip and room of one disc: rows first to first + count - 1, radius mu times the normal impulse. */
static double disc_distance(const frix_gradient *g, int32_t i, int32_t first, int32_t count, double mu) {
  const double *r = g->r + g->s.row[i], *u = g->u + g->s.row[i];
  if (!(mu > 0)) return INFINITY;
  double slip = length_of(u + first, count);
  if (slip > g->forces->still[i]) return slip / fx_gradient_speed_unit(g, i);
  return (mu * r[0] - length_of(r + first, count)) / fx_gradient_impulse_unit(g, i);
}

/* Without friction along one axis it is a disc of one dimension along the other. A slip is weighed as friction weighs
 * it, sqrt((mu a)^2 + (mu2 b)^2) over the larger mu: the force turns fast where the axis of little friction takes it.
 */
static double elliptic_distance(const frix_gradient *g, int32_t i) {
  const frix_contact *c = &g->s.contact[i];
  const double *r = g->r + g->s.row[i], *u = g->u + g->s.row[i], *e = c->axis;
  double least = fmin(c->mu, c->mu2), most = fmax(c->mu, c->mu2), room = INFINITY;
  double slip[2] = {e[0] * u[1] + e[1] * u[2], e[0] * u[2] - e[1] * u[1]};
  double force[2] = {e[0] * r[1] + e[1] * r[2], e[0] * r[2] - e[1] * r[1]};
  if (!(most > 0)) return INFINITY;
  slip[0] *= c->mu / most, slip[1] *= c->mu2 / most;
  double slides = length_of(slip, 2);
  if (slides > g->forces->still[i]) return slides / fx_gradient_speed_unit(g, i);
  if (least > 0) {
    force[0] /= c->mu, force[1] /= c->mu2;
    room = least * (r[0] - length_of(force, 2));
  } else {
    room = most * r[0] - fabs(c->mu > 0 ? force[0] : force[1]);
  }
  return room / fx_gradient_impulse_unit(g, i);
}

static bool opens(const frix_gradient *g, int32_t i) {
  const double *r = g->r + g->s.row[i], *u = g->u + g->s.row[i];
  return g->s.contact[i].cone != FRIX_CONE_BILATERAL && u[0] > g->forces->still[i] &&
         !(length_of(r, g->s.contact[i].dim) > 0);
}

static double distance_of(const frix_gradient *g, int32_t i) {
  const frix_contact *c = &g->s.contact[i];
  const double *r = g->r + g->s.row[i], *u = g->u + g->s.row[i];
  if (c->cone == FRIX_CONE_BILATERAL) return INFINITY;
  if (!(fx_gradient_speed_unit(g, i) > 0)) return 0;
  if (opens(g, i)) return u[0] / fx_gradient_speed_unit(g, i);
  double least = r[0] / fx_gradient_impulse_unit(g, i);
  switch (c->cone) {
    case FRIX_CONE_CIRCULAR: return fmin(least, disc_distance(g, i, 1, 2, c->mu));
    case FRIX_CONE_PLANAR: return fmin(least, disc_distance(g, i, 1, 1, c->mu));
    case FRIX_CONE_ELLIPTIC: return fmin(least, elliptic_distance(g, i));
    case FRIX_CONE_ROLLING:
      return fmin(least, fmin(disc_distance(g, i, 1, 2, c->mu), disc_distance(g, i, 3, 2, c->mu_r)));
    default: return least;
  }
}

bool fx_gradient_starts_friction(const frix_gradient *g, int32_t i) {
  const frix_contact *c = &g->s.contact[i];
  if (c->cone == FRIX_CONE_BILATERAL || c->mu > 0 || opens(g, i)) return false;
  return !(length_of(g->u + g->s.row[i] + 1, c->cone == FRIX_CONE_PLANAR ? 1 : 2) >
           FX_KINK * fx_gradient_speed_unit(g, i));
}

/* ---- slopes of one contact ---- */

/* P = n (1, mu e), n = (x_N + mu |x_T|) / (1 + mu^2). */
void fx_gradient_friction_slope(const frix_contact *c, const double *x, const double *u, const double *J, double *E) {
  int32_t tangents = c->cone == FRIX_CONE_PLANAR ? 1 : 2;
  double mu = c->mu, t = length_of(x + 1, tangents), slip = length_of(u + 1, tangents);
  double n = (x[0] + mu * t) / (1 + mu * mu), dn = (t - 2 * mu * n) / (1 + mu * mu);
  bool slides = n > 0 && t > mu * x[0];
  if (!slides) return; /* the projection is the point itself; s(u) = 0 */
  E[0] = dn - J[0] * slip;
  for (int32_t k = 1; k <= tangents; k++) E[k] = (n + mu * dn) * x[k] / t - J[k * c->dim] * slip;
}

bool fx_gradient_sticks(const frix_gradient *g, int32_t i) {
  const double *J = g->J + g->block[i];
  int32_t d = g->s.contact[i].dim;
  bool same = g->s.contact[i].cone != FRIX_CONE_BILATERAL;
  for (int32_t a = 0; a < d; a++)
    for (int32_t b = 0; b < d; b++) same = same && J[a * d + b] == (a == b);
  return same;
}

static void find_slopes(frix_gradient *g, int32_t i) {
  const frix_contact *c = &g->s.contact[i];
  int32_t d = c->dim, row = g->s.row[i];
  double S = g->forces->scale[i], z[FRIX_MAX_DIM], u[FRIX_MAX_DIM], slope[FRIX_MAX_DIM], J[FRIX_MAX_DIM * FRIX_MAX_DIM];
  double *JG = g->JG + g->block[i];
  memset(JG, 0, (size_t)(d * d) * sizeof *JG);
  memset(g->E + row, 0, (size_t)d * sizeof *g->E);
  if (c->cone == FRIX_CONE_BILATERAL) {
    for (int32_t k = 0; k < d; k++) JG[k * (d + 1)] = 1;
    return;
  }
  for (int32_t k = 0; k < d; k++) {
    u[k] = S * g->u[row + k];
    z[k] = g->r[row + k] / S - u[k];
  }
  z[0] -= fx_cone_shift(c, u);
  fx_cone_project_slope(c, z, J);
  fx_cone_shift_slope(c, u, slope);
  memcpy(g->J + g->block[i], J, (size_t)(d * d) * sizeof *J);
  if (fx_gradient_sticks(g, i)) memset(slope, 0, (size_t)d * sizeof *slope);
  for (int32_t a = 0; a < d; a++)
    for (int32_t b = 0; b < d; b++) JG[a * d + b] = J[a * d + b] + J[a * d] * slope[b];
  if (c->cone == FRIX_CONE_CIRCULAR || c->cone == FRIX_CONE_PLANAR) fx_gradient_friction_slope(c, z, u, J, g->E + row);
}

frix_status fx_gradient_modes(frix_gradient *g) {
  g->distance = INFINITY;
  g->contact = -1;
  for (int32_t i = 0; i < g->s.contact_count; i++) {
    if (g->s.contact[i].cone == FRIX_CONE_PYRAMID)
      return fx_fail(g->context, FRIX_ERROR_UNSUPPORTED, "contact %d: gradients need a round cone, not a pyramid", i);
    double distance = distance_of(g, i);
    if (distance < g->distance) g->distance = distance, g->contact = i;
    g->among[i] = !opens(g, i);
    find_slopes(g, i);
  }
  g->verdict = g->distance > FX_KINK ? FRIX_GRADIENT_SMOOTH : FRIX_GRADIENT_KINK;
  return FRIX_OK;
}

/* ---- K ---- */

/* A = S (W + R) S and K of the island. */
static void fill(const frix_gradient *g, int32_t k, const fx_gradient_island *is, const int32_t *place, double *A,
                 double *K) {
  const fx_system *s = &g->s;
  const double *scale = g->forces->scale;
  size_t n = (size_t)is->n;
  for (int32_t e = g->islands.start[k]; e < g->islands.start[k + 1]; e++) {
    int32_t i = g->islands.contact[e], d = s->contact[i].dim, at = place[i];
    for (int32_t b = s->W.start[i]; b < s->W.start[i + 1]; b++) {
      int32_t j = s->W.index[b], width = fx_block_cols(&s->W, b), to = place[j];
      const double *w = fx_block(&s->W, b);
      for (int32_t r = 0; to >= 0 && r < d; r++)
        for (int32_t c = 0; c < width; c++)
          A[(size_t)(at + r) * n + (size_t)(to + c)] = scale[i] * w[r * width + c] * scale[j];
    }
    for (int32_t r = 0; s->R && r < d; r++)
      A[(size_t)(at + r) * n + (size_t)(at + r)] += scale[i] * s->R[s->row[i] + r] * scale[i];
    const double *JG = g->JG + g->block[i], *J = g->J + g->block[i];
    bool joint = s->contact[i].cone == FRIX_CONE_BILATERAL;
    for (int32_t r = 0; r < d; r++) {
      double *row = K + (size_t)(at + r) * n;
      for (int32_t c = 0; c < d; c++) {
        const double *from = A + (size_t)(at + c) * n;
        for (size_t col = 0; JG[r * d + c] != 0 && col < n; col++) row[col] += JG[r * d + c] * from[col];
        if (!joint) row[at + c] += (r == c) - J[r * d + c];
      }
    }
  }
}

/* In place, P K Q = L U. */
static void factor(fx_gradient_island *is) {
  int32_t n = is->n;
  double *a = is->lu;
  for (int32_t k = 0; k < n; k++) is->at[k] = is->from[k] = k;
  for (is->rank = 0; is->rank < n; is->rank++) {
    int32_t k = is->rank, row = k, column = k;
    double most = 0;
    for (int32_t r = k; r < n; r++)
      for (int32_t c = k; c < n; c++)
        if (fabs(a[(size_t)r * (size_t)n + (size_t)c]) > most)
          most = fabs(a[(size_t)r * (size_t)n + (size_t)c]), row = r, column = c;
    if (!(most > DEPENDENT)) break;
    for (int32_t c = 0; row != k && c < n; c++) {
      double keep = a[(size_t)row * (size_t)n + (size_t)c];
      a[(size_t)row * (size_t)n + (size_t)c] = a[(size_t)k * (size_t)n + (size_t)c];
      a[(size_t)k * (size_t)n + (size_t)c] = keep;
    }
    for (int32_t r = 0; column != k && r < n; r++) {
      double keep = a[(size_t)r * (size_t)n + (size_t)column];
      a[(size_t)r * (size_t)n + (size_t)column] = a[(size_t)r * (size_t)n + (size_t)k];
      a[(size_t)r * (size_t)n + (size_t)k] = keep;
    }
    int32_t old = is->at[k];
    is->at[k] = is->at[row], is->at[row] = old;
    old = is->from[k];
    is->from[k] = is->from[column], is->from[column] = old;
    const double *pivot = a + (size_t)k * (size_t)n;
    for (int32_t r = k + 1; r < n; r++) {
      double *other = a + (size_t)r * (size_t)n, ratio = other[k] / pivot[k];
      other[k] = ratio;
      for (int32_t c = k + 1; ratio != 0 && c < n; c++) other[c] -= ratio * pivot[c];
    }
  }
}

static double solve_once(const fx_gradient_island *is, bool transposed, double *b, double *y) {
  int32_t n = is->n, rank = is->rank;
  const double *a = is->lu;
  double size = 0, off = 0;
  for (int32_t k = 0; k < n; k++) {
    y[k] = b[transposed ? is->from[k] : is->at[k]];
    size = fmax(size, fabs(y[k]));
  }
  if (!transposed) {
    for (int32_t r = 1; r < n; r++)
      for (int32_t c = 0; c < r && c < rank; c++) y[r] -= a[(size_t)r * (size_t)n + (size_t)c] * y[c];
    for (int32_t r = rank; r < n; r++) off = fmax(off, fabs(y[r])), y[r] = 0;
    for (int32_t r = rank - 1; r >= 0; r--) {
      for (int32_t c = r + 1; c < rank; c++) y[r] -= a[(size_t)r * (size_t)n + (size_t)c] * y[c];
      y[r] /= a[(size_t)r * (size_t)n + (size_t)r];
    }
  } else { /* U'L' */
    for (int32_t r = 0; r < rank; r++) {
      y[r] /= a[(size_t)r * (size_t)n + (size_t)r];
      for (int32_t c = r + 1; c < n; c++) y[c] -= a[(size_t)r * (size_t)n + (size_t)c] * y[r];
    }
    for (int32_t r = rank; r < n; r++) off = fmax(off, fabs(y[r])), y[r] = 0;
    for (int32_t r = rank - 1; r >= 0; r--)
      for (int32_t c = 0; c < r; c++) y[c] -= a[(size_t)r * (size_t)n + (size_t)c] * y[r];
  }
  for (int32_t k = 0; k < n; k++) b[transposed ? is->at[k] : is->from[k]] = y[k];
  return size > 0 ? off / size : 0;
}

/* The factors alone leave an error of the largest entries in the smallest, of light bodies in heavy ones: rounds on
 * what is left of b. */
double fx_gradient_solve(const fx_gradient_island *is, bool transposed, double *b, double *y) {
  size_t n = (size_t)is->n;
  double *left = y + n, *z = left + n, before = INFINITY;
  memcpy(left, b, n * sizeof *left);
  double off = solve_once(is, transposed, b, y);
  for (int round = 0; round < SOLVE_ROUNDS; round++) {
    const double *by = round ? z : b; /* the last correction */
    double most = 0, size = 0;
    for (size_t r = 0; r < n; r++) {
      const double *row = is->K + r * n;
      double sum = 0;
      if (transposed)
        for (size_t c = 0; c < n; c++) left[c] -= row[c] * by[r];
      else
        for (size_t c = 0; c < n; c++) sum += row[c] * by[c];
      left[r] -= sum;
    }
    memcpy(z, left, n * sizeof *z);
    solve_once(is, transposed, z, y);
    for (size_t k = 0; k < n; k++) {
      b[k] += z[k];
      most = fmax(most, fabs(z[k])), size = fmax(size, fabs(b[k]));
    }
    if (most <= 1e-12 * size || !(most < 0.1 * before)) break;
    before = most;
  }
  return off;
}

/* Whether z, a change of forces that keeps every law, moves something (u = A z) or turns the friction of what slides.
 */
static bool matters(const frix_gradient *g, int32_t k, const int32_t *place, const double *z, const double *u,
                    int32_t n) {
  double most = 0, change = 0, turned = 0;
  for (int32_t r = 0; r < n; r++) most = fmax(most, fabs(z[r])), change = fmax(change, fabs(u[r]));
  for (int32_t e = g->islands.start[k]; e < g->islands.start[k + 1]; e++) {
    int32_t i = g->islands.contact[e], d = g->s.contact[i].dim;
    bool slides = g->s.contact[i].cone != FRIX_CONE_BILATERAL && d > 2 && g->s.contact[i].mu > 0 &&
                  length_of(g->u + g->s.row[i] + 1, d - 1) > g->forces->still[i];
    for (int32_t a = 0; slides && a < d; a++) turned = fmax(turned, fabs(z[place[i] + a]));
  }
  return change > MOVES * most || turned > MOVES * most;
}

/* Null vectors: U_11 x_1 = -U_12 e_j. */
static void check_null(frix_gradient *g, int32_t k, const fx_gradient_island *is, const int32_t *place, const double *A,
                       double *x, double *z, double *u) {
  int32_t n = is->n;
  for (int32_t j = is->rank; j < n && g->verdict != FRIX_GRADIENT_NOT_UNIQUE; j++) {
    memset(x, 0, (size_t)n * sizeof *x);
    x[j] = 1;
    for (int32_t r = is->rank - 1; r >= 0; r--) {
      double sum = -is->lu[(size_t)r * (size_t)n + (size_t)j];
      for (int32_t c = r + 1; c < is->rank; c++) sum -= is->lu[(size_t)r * (size_t)n + (size_t)c] * x[c];
      x[r] = sum / is->lu[(size_t)r * (size_t)n + (size_t)r];
    }
    for (int32_t c = 0; c < n; c++) z[is->from[c]] = x[c];
    for (int32_t r = 0; r < n; r++) {
      u[r] = 0;
      for (int32_t c = 0; c < n; c++) u[r] += A[(size_t)r * (size_t)n + (size_t)c] * z[c];
    }
    if (matters(g, k, place, z, u, n)) g->verdict = FRIX_GRADIENT_NOT_UNIQUE;
  }
}

/* Entries of K are those of the answer to residual / distance: a slip of 1e-4 turns by 1e-8 with an error of 1e-12. A
 * pivot that is not far above that may be zero: four sliding feet, whose forces the law leaves open. */
static double noise_of(const frix_gradient *g) { return fmax(g->noise, 1e-16) / fmin(1, g->distance); }

/* Parts of K that may be zero count as such: below what the compliance of the factors hides. */
static bool factor_sparse(frix_gradient *g, int32_t k, fx_gradient_island *is, const int32_t *place, double *z,
                          double *u) {
  double compliance = fmin(1e-3, fmax(1e-6, noise_of(g) / COMPLIANT));
  if (is->n <= DENSE_ROWS || !fx_gradient_sparse_open(g, k, is->n, compliance, &is->sparse)) return false;
  if (g->known || !fx_gradient_sparse_null(g, is->sparse, z)) return true;
  is->null = true;
  g->forces_unique = false;
  fx_gradient_sparse_speeds(g, is->sparse, z, u);
  if (matters(g, k, place, z, u, is->n)) g->verdict = FRIX_GRADIENT_NOT_UNIQUE;
  return true;
}

/* A and K of an island that is dense. */
static frix_status fill_dense(frix_gradient *g, int32_t k, fx_gradient_island *is, const int32_t *place, double *A) {
  /* W outlives g->arena, which another takes the place of on the central path */
  frix_status status = g->s.has_W ? FRIX_OK : fx_system_assemble(&g->forces->arena, &g->s);
  if (status != FRIX_OK) return status;
  g->s.has_W = true;
  memset(is->K, 0, (size_t)is->n * (size_t)is->n * sizeof *is->K);
  fill(g, k, is, place, A, is->K);
  return FRIX_OK;
}

static frix_status factor_dense(frix_gradient *g, int32_t k, fx_gradient_island *is, const int32_t *place,
                                fx_arena *own) {
  size_t n = (size_t)is->n;
  if (is->n > MOST_ROWS)
    return fx_fail(g->context, FRIX_ERROR_UNSUPPORTED, "gradient: an island of %d rows, at most %d are done", is->n,
                   MOST_ROWS);
  is->at = FX_TAKE(&g->arena, int32_t, n);
  is->from = FX_TAKE(&g->arena, int32_t, n);
  is->lu = FX_TAKE(&g->arena, double, n *n), is->K = FX_TAKE(&g->arena, double, n *n);
  double *A = FX_TAKE(own, double, n *n), *x = FX_TAKE(own, double, 3 * n);
  if (!is->at || !is->from || !is->lu || !is->K || !A || !x) return FRIX_ERROR_MEMORY;
  frix_status status = fill_dense(g, k, is, place, A);
  if (status != FRIX_OK) return status;
  memcpy(is->lu, is->K, n * n * sizeof *is->K);
  factor(is);
  if (is->rank < is->n) g->forces_unique = false;
  if (g->known) return FRIX_OK;
  check_null(g, k, is, place, A, x, x + n, x + 2 * n);
  return FRIX_OK;
}

/* First row of every contact of the island in K; -1 elsewhere. */
static void find_places(const frix_gradient *g, int32_t k, int32_t *place) {
  for (int32_t i = 0; i < g->s.contact_count; i++) place[i] = -1;
  for (int32_t e = g->islands.start[k], at = 0; e < g->islands.start[k + 1]; e++) {
    int32_t i = g->islands.contact[e];
    place[i] = at, at += g->s.contact[i].dim;
  }
}

frix_status fx_gradient_factor(frix_gradient *g, int32_t k) {
  fx_gradient_island *is = &g->island[k];
  const fx_system *s = &g->s;
  int32_t first = g->islands.start[k], end = g->islands.start[k + 1], at = 0;
  for (int32_t e = first; e < end; e++) is->n += s->contact[g->islands.contact[e]].dim;
  fx_arena own;
  fx_arena_init(&own, g->context);
  is->row = FX_TAKE(&g->arena, int32_t, is->n);
  double *z = FX_TAKE(&own, double, 2 * (size_t)is->n);
  int32_t *place = FX_TAKE(&own, int32_t, s->contact_count);
  frix_status status = is->row && z && place ? FRIX_OK : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) {
    find_places(g, k, place);
    for (int32_t e = first; e < end; e++) {
      int32_t i = g->islands.contact[e];
      for (int32_t a = 0; a < s->contact[i].dim; a++) is->row[at++] = s->row[i] + a;
    }
    if (!factor_sparse(g, k, is, place, z, z + is->n)) status = factor_dense(g, k, is, place, &own);
  }
  fx_arena_free(&own);
  return status;
}

/* What J changed is then at most a thousandth of what K leaves of anything: each round takes three digits of it. */
static bool keeps(const fx_gradient_island *is, double change) {
  double least = INFINITY;
  if (is->sparse) return !is->null && fx_gradient_sparse_keeps(is->sparse, change);
  for (int32_t k = 0; k < is->rank; k++) least = fmin(least, fabs(is->lu[(size_t)k * (size_t)is->n + (size_t)k]));
  return is->rank == is->n && change * is->n <= KEPT * least;
}

static frix_status fill_again(frix_gradient *g, int32_t k) {
  fx_arena own;
  fx_arena_init(&own, g->context);
  size_t n = (size_t)g->island[k].n;
  double *A = FX_TAKE(&own, double, n *n);
  int32_t *place = FX_TAKE(&own, int32_t, g->s.contact_count);
  frix_status status = A && place ? FRIX_OK : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) {
    find_places(g, k, place);
    status = fill_dense(g, k, &g->island[k], place, A);
  }
  fx_arena_free(&own);
  return status;
}

frix_status fx_gradient_renew(frix_gradient *g, double change) {
  frix_status status = FRIX_OK;
  for (int32_t k = 0; status == FRIX_OK && k < g->islands.count; k++) {
    fx_gradient_island *is = &g->island[k];
    if (keeps(is, change)) {
      status = is->sparse || change == 0 ? FRIX_OK : fill_again(g, k);
      continue;
    }
    *is = (fx_gradient_island){0};
    status = fx_gradient_factor(g, k);
  }
  return status;
}

void fx_gradient_doubt(frix_gradient *g) {
  double noise = noise_of(g);
  if (g->verdict != FRIX_GRADIENT_SMOOTH || g->known) return;
  for (int32_t i = 0; i < g->islands.count; i++) {
    const fx_gradient_island *is = &g->island[i];
    if (is->sparse && noise * fx_gradient_sparse_gain(g, is->sparse) > DOUBT) g->verdict = FRIX_GRADIENT_NOT_UNIQUE;
    double most = !is->sparse && is->rank ? fmax(1, fabs(is->lu[0])) : 1;
    for (int32_t e = g->islands.start[i]; e < g->islands.start[i + 1]; e++) /* the shift mu |u_T| of an error of u_T */
      most = fmax(most, g->s.contact[g->islands.contact[e]].mu);
    for (int32_t k = 0; !is->sparse && k < is->rank; k++)
      if (noise * most > DOUBT * fabs(is->lu[(size_t)k * (size_t)is->n + (size_t)k]))
        g->verdict = FRIX_GRADIENT_NOT_UNIQUE;
  }
}
