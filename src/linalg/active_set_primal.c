/* The primal active-set method, and the elastic programme that lets it start anywhere.
 *
 *   x* = x0 + Y_A' B_AA^-1 (lower_A - A_A x0), the minimiser under the active rows; x moves towards it until a row
 * blocks, which then enters; at the minimiser the row with the most negative multiplier leaves.
 *
 *   elastic:  min 1/2 |x - x0|_Q^2 + C sum s_g + sum s_g^2 / (2 give_g)    a_k . x + s_g(k) >= lower_k,   s >= 0
 *
 * For C at least as large as the sum of multipliers of every group, s = 0 and x is the answer of the hard programme;
 * the quadratic term, which vanishes at s = 0, keeps the programme strictly convex. References: R. Fletcher,
 * Practical Methods of Optimization, 1987, ch. 10; M. Anitescu, Optimization-based simulation of nonsmooth rigid
 * multibody dynamics, 2006 (the penalty slack). */
#include "linalg/active_set.h"

#include <math.h>
#include <string.h>

static double dot_row(const fx_rows *rows, int32_t k, const double *x) {
  double sum = 0;
  for (int32_t e = rows->start[k]; e < rows->start[k + 1]; e++) sum += rows->value[e] * x[rows->index[e]];
  return sum;
}

static void add_row(const fx_rows *rows, int32_t k, double factor, double *x) {
  for (int32_t e = rows->start[k]; e < rows->start[k + 1]; e++) x[rows->index[e]] += factor * rows->value[e];
}

/* ---- the primal method ---- */

/* Equalities, then the rows of the guess that hold. */
static fx_qp_end first_working_set(fx_active_set *s) {
  for (int32_t k = 0; k < s->m; k++) {
    bool equality = k < s->equality_count;
    if (s->ignored[k] || (!equality && !(s->lambda[k] > 0))) continue;
    if (fabs(fx_active_set_slack(s, k)) > 1e-9 * s->scale * s->norm[k]) {
      if (equality) return FX_QP_INFEASIBLE;
      continue;
    }
    double length = fx_active_set_direction(s, k);
    if (fx_active_set_dependent(s, k, length)) continue;
    if (s->count >= s->capacity) return FX_QP_FULL;
    fx_active_set_add(s, k, length);
  }
  return FX_QP_SOLVED;
}

/* r = multipliers and y = x* of the working set, with two steps of refinement. */
static void minimise(fx_active_set *s) {
  memcpy(s->y, s->x0, (size_t)s->n * sizeof *s->y);
  memset(s->r, 0, (size_t)s->count * sizeof *s->r);
  for (int pass = 0; pass < 3; pass++) {
    for (int32_t j = 0; j < s->count; j++) s->e[j] = s->lower[s->active[j]] - dot_row(&s->A, s->active[j], s->y);
    fx_active_set_solve(s, s->e);
    for (int32_t j = 0; j < s->count; j++) {
      s->r[j] += s->e[j];
      add_row(&s->Y, s->active[j], s->e[j], s->y);
    }
  }
}

/* The row that blocks the way by z, and how far it lets x go. */
static int32_t blocking_row(const fx_active_set *s, double *step) {
  int32_t blocking = -1;
  double best = 0;
  *step = 1;
  for (int32_t k = s->equality_count; k < s->m; k++) {
    if (s->position[k] >= 0 || s->ignored[k]) continue;
    double speed = dot_row(&s->A, k, s->z), slack = fx_active_set_slack(s, k);
    if (!(speed < -1e-13 * s->scale * s->norm[k])) continue;
    double t = slack > 0 ? slack / -speed : 0;
    /* of rows that block alike the one hit most squarely: it is the furthest from dependence */
    if (t < *step - 1e-12 || (t <= *step && blocking >= 0 && speed / s->norm[k] < best)) {
      *step = t;
      best = speed / s->norm[k];
      blocking = k;
    }
  }
  return blocking;
}

/* The most negative multiplier, or, after long standstill, the first; -1: none. */
static int32_t leaving_row(const fx_active_set *s, bool first) {
  int32_t leaving = -1;
  double least = 0;
  for (int32_t j = 0; j < s->count; j++) {
    int32_t k = s->active[j];
    double value = s->r[j] * s->norm[k];
    if (k < s->equality_count || !(value < -1e-12 * s->scale)) continue;
    if (first ? leaving < 0 || k < s->active[leaving] : value < least) {
      least = value;
      leaving = j;
    }
  }
  return leaving;
}

fx_qp_end fx_active_set_primal(fx_active_set *s) {
  fx_active_set_measure(s);
  fx_qp_end end = first_working_set(s);
  if (end != FX_QP_SOLVED) return end;
  int64_t next_check = s->iterations + 64, still = 0;
  for (;;) {
    minimise(s);
    double moved = 0, step;
    for (int32_t i = 0; i < s->n; i++) {
      s->z[i] = s->y[i] - s->x[i];
      moved += fabs(s->z[i]);
    }
    int32_t p = moved > 0 ? blocking_row(s, &step) : -1;
    if (p < 0) {
      memcpy(s->x, s->y, (size_t)s->n * sizeof *s->x);
      int32_t c = leaving_row(s, still > s->m);
      if (c < 0) break;
      fx_active_set_drop(s, c);
    } else {
      still = step > 1e-12 ? 0 : still + 1;
      for (int32_t i = 0; i < s->n; i++) s->x[i] += step * s->z[i];
      double length = fx_active_set_direction(s, p);
      if (fx_active_set_dependent(s, p, length)) {
        s->ignored[p] = true; /* what blocks by rounding only */
        continue;
      }
      if (s->count >= s->capacity) return FX_QP_FULL;
      fx_active_set_add(s, p, length);
    }
    if (s->iterations >= s->limit) return FX_QP_LIMIT;
    if (s->iterations < next_check) continue;
    next_check = s->iterations + 64;
    for (int32_t k = 0; k < s->m; k++) s->lambda[k] = s->position[k] >= 0 ? s->r[s->position[k]] : 0;
    if (s->stop && s->stop(s->iterations, s->lambda, s->user)) return FX_QP_STOPPED;
  }
  for (int32_t k = 0; k < s->m; k++) {
    double value = s->position[k] >= 0 ? s->r[s->position[k]] : 0;
    s->lambda[k] = value > 0 || k < s->equality_count ? value : 0;
  }
  return FX_QP_SOLVED;
}

/* ---- the elastic programme ---- */

/* Rows of the base with their slack as one more entry, then the rows s_g >= 0. give NULL: entries are 1 (A). */
static frix_status extend(fx_arena *arena, const fx_active_set *base, const fx_elastic *e, const fx_rows *from,
                          const double *give, fx_rows *out) {
  int32_t m = base->m + e->group_count, at = 0;
  size_t entries = (size_t)from->start[base->m] + (size_t)m;
  int32_t *start = FX_TAKE(arena, int32_t, (size_t)m + 1), *index = FX_TAKE(arena, int32_t, entries);
  double *value = FX_TAKE(arena, double, entries);
  if (!start || !index || !value) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < m; k++) {
    for (int32_t x = k < base->m ? from->start[k] : 0; k < base->m && x < from->start[k + 1]; x++, at++) {
      index[at] = from->index[x];
      value[at] = from->value[x];
    }
    if (k >= base->equality_count) {
      int32_t g = k < base->m ? e->group[k] : k - base->m;
      index[at] = base->n + g;
      value[at++] = give ? give[g] : 1;
    }
    start[k + 1] = at;
  }
  *out = (fx_rows){start, index, value};
  return FRIX_OK;
}

frix_status fx_elastic_take(fx_arena *arena, const fx_active_set *base, int32_t group_count, const int32_t *group,
                            fx_elastic *e) {
  int32_t n = base->n + group_count, m = base->m + group_count;
  *e = (fx_elastic){.group_count = group_count, .group = group};
  frix_status status = fx_active_set_take(arena, n, m, n + 1, &e->set);
  e->x0 = FX_TAKE(arena, double, n);
  e->lower = FX_TAKE(arena, double, m);
  e->give = FX_TAKE(arena, double, group_count);
  double *y = FX_TAKE(arena, double, base->n);
  if (status != FRIX_OK || !e->x0 || !e->lower || !e->give || !y) return FRIX_ERROR_MEMORY;
  /* A slack gives way as easily as the rows of its group do. */
  for (int32_t k = base->equality_count; k < base->m; k++) {
    add_row(&base->Y, k, 1, y);
    double diagonal = dot_row(&base->A, k, y);
    for (int32_t x = base->Y.start[k]; x < base->Y.start[k + 1]; x++) y[base->Y.index[x]] = 0;
    if (diagonal > e->give[group[k]]) e->give[group[k]] = diagonal;
  }
  for (int32_t g = 0; g < group_count; g++)
    if (!(e->give[g] > 0)) e->give[g] = 1;
  e->set.equality_count = base->equality_count;
  status = extend(arena, base, e, &base->A, NULL, &e->set.A);
  if (status == FRIX_OK) status = extend(arena, base, e, &base->Y, e->give, &e->set.Y);
  return status;
}

/* x of the base, moved onto the equalities; slacks as large as they must be. */
static fx_qp_end set_out(fx_elastic *e, const fx_active_set *base) {
  fx_active_set *s = &e->set;
  memcpy(s->x, base->x, (size_t)base->n * sizeof *s->x);
  memset(s->x + base->n, 0, (size_t)e->group_count * sizeof *s->x);
  memset(s->lambda, 0, (size_t)s->m * sizeof *s->lambda);
  memcpy(s->lambda, base->lambda, (size_t)base->m * sizeof *s->lambda);
  fx_active_set_measure(s);
  for (int32_t k = 0; k < s->equality_count; k++) {
    if (s->ignored[k]) continue;
    double length = fx_active_set_direction(s, k), slack = fx_active_set_slack(s, k);
    if (fx_active_set_dependent(s, k, length)) {
      if (fabs(slack) > 1e-9 * s->scale * s->norm[k]) return FX_QP_INFEASIBLE;
      continue;
    }
    for (int32_t i = 0; i < s->n; i++) s->x[i] -= slack / length * s->z[i];
    fx_active_set_add(s, k, length);
  }
  for (int32_t k = base->equality_count; k < base->m; k++) {
    double short_of = base->lower[k] - dot_row(&base->A, k, s->x), *slack = &s->x[base->n + e->group[k]];
    if (short_of > *slack) *slack = short_of;
  }
  for (int32_t g = 0; g < e->group_count; g++) s->lambda[base->m + g] = s->x[base->n + g] == 0;
  for (int32_t k = base->equality_count; k < base->m; k++) /* the row that sets a slack holds with equality */
    if (s->x[base->n + e->group[k]] > 0 && fx_active_set_slack(s, k) <= 0) s->lambda[k] = 1;
  return FX_QP_SOLVED;
}

fx_qp_end fx_elastic_run(fx_elastic *e, fx_active_set *base, double price) {
  fx_active_set *s = &e->set;
  fx_qp_end end = FX_QP_SOLVED;
  int64_t spent = 0;
  fx_active_set_measure(base); /* its scale knows nothing of the price */
  s->x0 = e->x0;
  s->lower = e->lower;
  s->stop = base->stop;
  s->user = base->user;
  memcpy(e->x0, base->x0, (size_t)base->n * sizeof *e->x0);
  memcpy(e->lower, base->lower, (size_t)base->m * sizeof *e->lower);
  for (int rise = 0; rise < 6; rise++, price *= 10) {
    double worst = 0;
    for (int32_t g = 0; g < e->group_count; g++) e->x0[base->n + g] = -price * e->give[g];
    s->limit = base->limit - spent;
    end = set_out(e, base);
    if (end == FX_QP_SOLVED) end = fx_active_set_primal(s);
    spent += s->iterations;
    memcpy(base->x, s->x, (size_t)base->n * sizeof *base->x);
    memcpy(base->lambda, s->lambda, (size_t)base->m * sizeof *base->lambda);
    for (int32_t g = 0; g < e->group_count; g++) worst = fmax(worst, s->x[base->n + g] / sqrt(e->give[g]));
    if (end != FX_QP_SOLVED || worst <= 1e-9 * base->scale) break;
    end = FX_QP_INFEASIBLE; /* unless a higher price helps */
  }
  base->iterations = spent;
  base->count = 0;
  for (int32_t j = 0; j < s->count; j++)
    if (s->active[j] < base->m && base->count < base->capacity) base->active[base->count++] = s->active[j];
  return end;
}
