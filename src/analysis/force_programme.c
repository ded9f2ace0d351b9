/* Ends of an interval: min c . x,  A x = b,  x in its cones, as a programme of solver/cone_lp.h with t = c . x:
 *
 *   min t     A x = b,   c . x - t = 0,   x_i in C_i                     (rows y, and 1 for the measure)
 *   bound     z = A'y + c,   c . x = z . x - b . y >= -b . y - sum_i leak_i x_i0,    leak_i = max(0, |z_i1| - z_i0)
 *
 * The bound is made here from y alone and holds for every x whose x_i0 are no larger than `total`. That is itself a
 * bound of this kind, of max sum_i x_i0 = T: T <= -b . y + (1 + leak) T shows T <= -b . y / (1 - leak). Where impulses
 * can grow without end (bodies that jam), and for joints, it is FAR times those of the answer. */
#include "analysis/force_programme.h"

#include "solver/cone_lp_steps.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

#define COARSE 1e-9
#define FINE 1e-14
#define GOOD 1e-10  /* gap that is not looked at again */
#define ENOUGH 1e-9 /* gap that linear systems of higher cost are not worth */
#define FAR 1e3
#define RAY 1e-9 /* what a direction without end may miss to A x = 0 */
#define ALL_COST 1e12

enum { MOST_CAREFUL = 30000 };

/* ---- the programme ---- */

static frix_status build_matrix(fx_arena *arena, const fx_force_island *is, const double *c, fx_cone_lp *lp) {
  size_t width = (size_t)is->variable_count + 1;
  int32_t units = is->unit_count, nodes = is->node_count + (c != NULL), count = 0;
  int32_t *start = FX_TAKE(arena, int32_t, (size_t)units + 1), *row = FX_TAKE(arena, int32_t, (size_t)nodes + 1);
  int32_t *index = FX_TAKE(arena, int32_t, is->start[units] + units);
  if (!start || !row || !index) return FRIX_ERROR_MEMORY;
  memcpy(row, is->node, ((size_t)is->node_count + 1) * sizeof *row);
  if (c) row[nodes] = row[nodes - 1] + 1;
  for (int32_t n = 0; n < units; n++) {
    bool measured = false;
    for (int32_t e = is->start[n]; e < is->start[n + 1]; e++) index[count++] = is->at[e];
    for (int32_t k = is->first[n]; c && k < is->first[n + 1]; k++) measured = measured || c[k] != 0;
    if (measured) index[count++] = nodes - 1;
    start[n + 1] = count;
  }
  lp->node_count = nodes;
  lp->row_count = row[nodes];
  lp->row = row;
  frix_status status = fx_block_from_pattern(arena, units, is->first, nodes, row, start, index, &lp->At);
  for (int32_t n = 0; status == FRIX_OK && n < units; n++)
    for (int32_t e = start[n]; e < start[n + 1]; e++) {
      double *block = fx_block(&lp->At, e);
      int32_t m = index[e], columns = row[m + 1] - row[m];
      for (int32_t k = is->first[n]; k < is->first[n + 1]; k++)
        for (int32_t r = 0; r < columns; r++)
          block[(k - is->first[n]) * columns + r] =
              m == is->node_count ? c[k] : is->basis[(size_t)(row[m] + r) * width + (size_t)k];
    }
  return status;
}

frix_status fx_force_programme(fx_arena *arena, const frix_forces *f, int32_t k, const double *c, fx_cone_lp *lp) {
  const fx_force_island *is = &f->island[k];
  size_t width = (size_t)is->variable_count + 1;
  bool affordable, *free = FX_TAKE(arena, bool, is->unit_count);
  double *b = FX_TAKE(arena, double, (size_t)is->row_count + 1), *a = FX_TAKE(arena, double, (size_t)is->row_count + 1);
  if (!free || !b || !a) return FRIX_ERROR_MEMORY;
  *lp = (fx_cone_lp){.unit_count = is->unit_count, .variable_count = is->variable_count, .first = is->first};
  for (int32_t n = 0; n < is->unit_count; n++) free[n] = f->unit[is->first_unit + n].free;
  for (int32_t r = 0; r < is->row_count; r++) b[r] = is->basis[(size_t)r * width + width - 1];
  a[is->row_count] = -1;
  lp->free = free;
  lp->b = b;
  lp->a = c ? a : NULL;
  lp->slope = c ? 1 : 0;
  frix_status status = build_matrix(arena, is, c, lp);
  return status == FRIX_OK ? fx_cone_lp_take(arena, ALL_COST, lp, &affordable) : status;
}

/* ---- what comes of it ---- */

typedef struct search {
  const frix_forces *f;
  const fx_force_island *is;
  fx_cone_lp lp;
  const double *c; /* of the programme, its largest entry 1 */
  double *x, *z;   /* workspace: by variable */
  double *best;    /* x of the best value */
  bool total;      /* c is minus the sum of all x_0 */
  fx_force_end end;
} search;

static double tail_of(int32_t d, const double *x) {
  return d == 1 ? 0 : d == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
}

/* x / scale of the programme, in its cones; what A x misses to b (ray: to zero) beside the largest entry. */
static double take_x(search *q, double scale, bool ray) {
  const fx_cone_lp *lp = &q->lp;
  double most = 0, off = 0;
  for (int32_t n = 0; n < lp->unit_count; n++) {
    int32_t at = lp->first[n], d = lp->first[n + 1] - at;
    for (int32_t k = at; k < at + d; k++) q->x[k] = lp->x[k] / scale;
    if (!lp->free[n]) fx_soc_project(d, q->x + at, q->x + at);
    for (int32_t k = at; k < at + d; k++) most = fmax(most, fabs(q->x[k]));
  }
  fx_cone_lp_times(lp, q->x, 0, lp->py);
  for (int32_t k = 0; k < q->is->row_count; k++) off = fmax(off, fabs(lp->py[k] - (ray ? 0 : lp->b[k])));
  return most > 0 ? off / most : INFINITY;
}

static void judge_value(search *q) {
  fx_cone_lp_balance(&q->lp);
  if (!(q->lp.tau > 0) || !(take_x(q, q->lp.tau, false) <= RAY)) return;
  double value = fx_dot(q->lp.variable_count, q->c, q->x);
  if (q->end.found && !(value < q->end.value)) return;
  q->end.found = true;
  q->end.value = value;
  memcpy(q->best, q->x, (size_t)q->lp.variable_count * sizeof *q->best);
}

static void judge_bound(search *q) {
  fx_cone_lp *lp = &q->lp;
  fx_cone_lp_balance_dual(lp);
  double weight = lp->y[q->is->row_count], sum = 0, worst = 0, bound = 0;
  if (!(weight > 0)) return;
  for (int32_t k = 0; k < lp->row_count; k++) lp->y[k] /= weight;
  fx_cone_lp_transposed(lp, lp->y, q->z);
  double drive = 0;
  for (int32_t k = 0; k < q->is->row_count; k++) drive += lp->b[k] * lp->y[k];
  for (int32_t n = 0; n < lp->unit_count; n++) {
    const double *z = q->z + lp->first[n];
    int32_t d = lp->first[n + 1] - lp->first[n];
    double leak = lp->free[n] ? fabs(z[0]) : fmax(0, tail_of(d, z) - z[0]);
    if (lp->free[n])
      sum += leak * FAR;
    else
      worst = fmax(worst, leak);
  }
  bound = -drive - sum - worst * (q->is->bounded ? q->is->total : FAR * q->is->unit_count);
  if (q->total) bound = worst < 1 ? (-drive - sum) / (1 - worst) : -INFINITY;
  if (bound > q->end.bound) q->end.bound = bound;
}

/* x alone, without b: a direction in which c falls and nothing else changes. */
static bool has_no_end(search *q) {
  double size = 0;
  fx_cone_lp_go_back(&q->lp, &q->lp.best);
  for (int32_t k = 0; k < q->lp.variable_count; k++) size = fmax(size, fabs(q->lp.x[k]));
  if (!(size > 0) || !(take_x(q, size, true) <= RAY)) return false;
  return fx_dot(q->lp.variable_count, q->c, q->x) < -1e-6;
}

static bool is_within(const search *q, double gap) {
  return q->end.unbounded || (q->end.found && q->end.value - q->end.bound <= gap * fmax(1, fabs(q->end.value)));
}

static frix_status run(fx_arena *arena, search *q) {
  fx_cone_lp_end end = fx_cone_lp_solve(&q->lp, COARSE);
  for (int round = 0; round < 3; round++) {
    if (end == FX_CONE_LP_UNBOUNDED && has_no_end(q)) q->end.unbounded = true;
    if (!q->end.unbounded) {
      judge_value(q);
      judge_bound(q);
    }
    if (is_within(q, round == 0 ? GOOD : ENOUGH) || round == 2) break;
    if (round == 1) {
      if (q->lp.variable_count + q->lp.row_count > MOST_CAREFUL) break;
      frix_status status = fx_cone_lp_be_careful(arena, &q->lp);
      if (status != FRIX_OK) return status;
    }
    end = fx_cone_lp_go_on(&q->lp, FINE);
  }
  q->end.steps = q->lp.steps;
  return FRIX_OK;
}

/* With c of any size; value and bound are in its units. */
static frix_status minimise(frix_forces *f, int32_t k, const double *c, bool total, double *x, fx_force_end *out) {
  const fx_force_island *is = &f->island[k];
  fx_arena arena;
  fx_arena_init(&arena, f->context);
  search q = {.f = f, .is = is, .total = total, .end = {.value = INFINITY, .bound = -INFINITY}};
  double *own = FX_TAKE(&arena, double, is->variable_count), most = 0;
  q.x = FX_TAKE(&arena, double, is->variable_count);
  q.z = FX_TAKE(&arena, double, is->variable_count);
  q.best = FX_TAKE(&arena, double, is->variable_count);
  frix_status status = own && q.x && q.z && q.best ? FRIX_OK : FRIX_ERROR_MEMORY;
  for (int32_t e = 0; e < is->variable_count; e++) most = fmax(most, fabs(c[e]));
  if (status == FRIX_OK && most > 0) {
    for (int32_t e = 0; e < is->variable_count; e++) own[e] = c[e] / most;
    q.c = own;
    status = fx_force_programme(&arena, f, k, own, &q.lp);
    if (status == FRIX_OK) status = run(&arena, &q);
    fx_cone_lp_free(&q.lp);
  } else {
    q.end.value = q.end.bound = 0;
  }
  if (status == FRIX_OK && x && q.end.found) memcpy(x, q.best, (size_t)is->variable_count * sizeof *x);
  q.end.value *= most > 0 ? most : 1;
  q.end.bound *= most > 0 ? most : 1;
  *out = q.end;
  fx_arena_free(&arena);
  return status;
}

frix_status fx_force_total(frix_forces *f, int32_t k) {
  fx_force_island *is = &f->island[k];
  fx_force_end end;
  if (is->total > 0) return FRIX_OK;
  double *c = FX_TAKE(&f->arena, double, is->variable_count);
  if (!c) return FRIX_ERROR_MEMORY;
  for (int32_t n = 0; n < is->unit_count; n++)
    if (!f->unit[is->first_unit + n].free) c[is->first[n]] = -1;
  frix_status status = minimise(f, k, c, true, NULL, &end);
  is->bounded = status == FRIX_OK && !end.unbounded && isfinite(end.bound);
  is->total = is->bounded ? fmax(-end.bound, 1e-300) : FAR * is->unit_count;
  return status;
}

frix_status fx_force_minimum(frix_forces *f, int32_t k, const double *c, double *x, fx_force_end *out) {
  frix_status status = fx_force_total(f, k);
  return status == FRIX_OK ? minimise(f, k, c, false, x, out) : status;
}
