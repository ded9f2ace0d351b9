/* The analytic centre of the admissible impulses,
 *
 *   max  sum_i log det x_i,   A x = b        det x = x_0^2 - |x_1|^2
 *
 * over the cones whose impulses have room: those that every admissible answer has at zero or on the boundary are left
 * there (a sliding contact is a cone of dimension one). They show in the answer of the programme without a measure,
 * which ends strictly complementary: an eigenvalue of x is forced to zero where its counterpart of z is larger.
 * Newton's method: X^-1 dx + A'y = 2 x^-1,  A dx = b - A x,  X = (2 x x' - det x J) / 2 the inverse Hessian. */
#include "analysis/force_programme.h"

#include "solver/cone_lp_steps.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

#define GOAL 1e-12
#define DONE 1e-11 /* Newton decrement */
#define INSIDE 0.9 /* of the way to the nearest boundary */

enum { STEPS = 80 };

typedef enum room { NOTHING, RAY, CONE } room;

typedef struct centring {
  fx_cone_lp lp;
  room *room;
  double *x, *g; /* by variable: point, 2 x^-1 */
} centring;

static double tail_of(int32_t d, const double *x) {
  double sum = 0;
  for (int32_t k = 1; k < d; k++) sum += x[k] * x[k];
  return sqrt(sum);
}

static void find_room(centring *q) {
  const fx_cone_lp *lp = &q->lp;
  for (int32_t n = 0; n < lp->unit_count; n++) {
    int32_t at = lp->first[n], d = lp->first[n + 1] - at;
    double x1 = tail_of(d, lp->x + at), z1 = tail_of(d, lp->z + at), x0 = lp->x[at], z0 = lp->z[at];
    q->room[n] = lp->free[n] || x0 - x1 > z0 + z1 ? CONE : x0 + x1 > z0 - z1 ? RAY : NOTHING;
    if (d == 1 && !lp->free[n]) q->room[n] = x0 > z0 ? CONE : NOTHING;
    for (int32_t k = at; k < at + d; k++) q->x[k] = q->room[n] == NOTHING ? 0 : lp->x[k] / lp->tau;
  }
}

/* X and 2 x^-1 of a unit; a ray is a cone of dimension one along x. */
static void set_metric(centring *q, int32_t n) {
  fx_cone_lp *lp = &q->lp;
  int32_t at = lp->first[n], d = lp->first[n + 1] - at;
  const double *x = q->x + at;
  double *X = lp->X + lp->square[n], det = fx_soc_det(d, x), size = fx_dot(d, x, x);
  memset(X, 0, (size_t)(d * d) * sizeof *X);
  memset(q->g + at, 0, (size_t)d * sizeof *q->g);
  if (lp->free[n] || q->room[n] == NOTHING) return;
  for (int32_t r = 0; r < d; r++) {
    q->g[at + r] = q->room[n] == RAY ? 2 * x[r] / size : (r ? -2 : 2) * x[r] / det;
    for (int32_t c = 0; c < d; c++)
      X[r * d + c] = q->room[n] == RAY ? 0.5 * x[r] * x[c] : x[r] * x[c] - (r != c ? 0 : r == 0 ? 0.5 : -0.5) * det;
  }
}

/* Largest step along dx that stays inside. */
static double longest(const centring *q) {
  const fx_cone_lp *lp = &q->lp;
  double step = INFINITY;
  for (int32_t n = 0; n < lp->unit_count; n++) {
    int32_t at = lp->first[n], d = lp->first[n + 1] - at;
    if (lp->free[n] || q->room[n] == NOTHING) continue;
    if (q->room[n] == CONE) {
      step = fmin(step, fx_soc_step(d, q->x + at, lp->dx + at));
    } else {
      double along = fx_dot(d, q->x + at, lp->dx + at) / fx_dot(d, q->x + at, q->x + at);
      if (along < 0) step = fmin(step, -1 / along);
    }
  }
  return step;
}

/* The gain of a Newton step, g . dx, is the square of its decrement where A dx = 0. */
static bool centre(centring *q) {
  fx_cone_lp *lp = &q->lp;
  for (int step = 0; step < STEPS; step++) {
    double none, before = 0;
    for (int32_t n = 0; n < lp->unit_count; n++) set_metric(q, n);
    fx_cone_lp_times(lp, q->x, 0, lp->py);
    for (int32_t k = 0; k < lp->row_count; k++) lp->py[k] = lp->b[k] - lp->py[k];
    if (!fx_cone_lp_factor(lp)) return false;
    fx_cone_lp_kkt(lp, q->g, 0, lp->py, lp->dx, &none, lp->y2);
    fx_cone_lp_transposed(lp, lp->y2, lp->px); /* dx . X^-1 dx = dx . (g - A'y) */
    for (int32_t k = 0; k < lp->variable_count; k++) before += lp->dx[k] * (q->g[k] - lp->px[k]);
    double decrement = sqrt(fmax(before, 0)), length = fmin(1, INSIDE * longest(q));
    if (decrement > 0.25) length = fmin(length, fmax(1 / (1 + decrement), 0.5 * length));
    for (int32_t k = 0; k < lp->variable_count; k++) q->x[k] += length * lp->dx[k];
    if (!isfinite(decrement)) return false;
    if (decrement <= DONE) return true;
  }
  return false;
}

static frix_status centre_island(frix_forces *f, int32_t k, double *r, bool *found) {
  const fx_force_island *is = &f->island[k];
  fx_arena arena;
  centring q = {0};
  fx_arena_init(&arena, f->context);
  q.room = FX_TAKE(&arena, room, is->unit_count);
  q.x = FX_TAKE(&arena, double, is->variable_count);
  q.g = FX_TAKE(&arena, double, is->variable_count);
  frix_status status = q.room && q.x && q.g ? FRIX_OK : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) status = fx_force_programme(&arena, f, k, NULL, &q.lp);
  if (status == FRIX_OK && fx_cone_lp_solve(&q.lp, GOAL) == FX_CONE_LP_SOLVED) {
    fx_cone_lp_go_back(&q.lp, &q.lp.best);
    find_room(&q);
    *found = centre(&q);
    if (*found) fx_force_impulses(f, k, q.x, r);
  }
  fx_arena_free(&arena);
  return status;
}

frix_status frix_forces_centre(frix_forces *f, double *r, double *lambda, bool *all) {
  if (!f || !r) return FRIX_ERROR_INPUT;
  fx_arena own;
  fx_arena_init(&own, f->context);
  double *whole = FX_TAKE(&own, double, f->s.row_count);
  frix_status status = whole ? FRIX_OK : FRIX_ERROR_MEMORY;
  bool every = true;
  if (whole) memcpy(whole, f->r, (size_t)f->s.row_count * sizeof *whole);
  for (int32_t k = 0; status == FRIX_OK && k < f->islands.count; k++) {
    bool found = false;
    const fx_force_island *is = &f->island[k];
    if (is->affordable && is->rank == is->variable_count) continue;
    if (is->affordable) status = fx_force_total(f, k);
    if (status == FRIX_OK && is->affordable && is->bounded) status = centre_island(f, k, whole, &found);
    every = every && found;
  }
  if (status == FRIX_OK) {
    memcpy(r, whole, (size_t)f->problem->row_count * sizeof *r);
    if (lambda) memcpy(lambda, whole + f->problem->row_count, (size_t)f->problem->joint_count * sizeof *lambda);
    if (all) *all = every;
  }
  fx_arena_free(&own);
  return status;
}
