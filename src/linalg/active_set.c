/* The working set of an active-set method, and the dual method on it.
 *
 * The factor is that of B_AA = A_A Q^-1 A_A' (plus softness), R'R, one column per active row; adding a row appends
 * a column, removing one rotates it out. Directions are corrected once through the rows themselves (corrected
 * semi-normal equations), so that dependent rows are detected almost as well as by an orthogonal factorisation while
 * sparse rows stay sparse. Columns begin at their first nonzero: rows in the order of a chain or a pile give a narrow
 * profile.
 *
 * Dual method: x is the minimiser under the active rows, lambda >= 0 throughout; the most violated row p enters along
 *   z = y_p - Y_A' r,  r = B_AA^-1 B_Ap:   x += t z,  lambda_A -= t r,  lambda_p += t,
 * t until p is satisfied, or until a lambda is zero, whose row then leaves.
 *
 * References: D. Goldfarb, A. Idnani, Math. Programming 27, 1983; C. Hildreth 1957 (the sweeps); A. Bjorck, Numerical
 * Methods for Least Squares Problems, 1996, sec. 6.6 (semi-normal equations). */
#include "linalg/active_set.h"

#include "base/sort.h"

#include <math.h>
#include <string.h>

enum { REFRESH = 32 };                    /* changes of the working set between two fresh factors */
static const double dependent = 1e-12;    /* squared length, relative to the terms it is made of: a row adds nothing */
static const double rounding_only = 1e-9; /* contradictions below this, relative to scale, are rounding */

const char *fx_qp_end_name(fx_qp_end end) {
  static const char *const name[] = {"solved",  "infeasible",           "iteration limit",
                                     "stopped", "too many active rows", "stalled"};
  return (unsigned)end < sizeof name / sizeof *name ? name[end] : "unknown";
}

frix_status fx_active_set_take(fx_arena *arena, int32_t n, int32_t m, int32_t capacity, fx_active_set *s) {
  memset(s, 0, sizeof *s);
  s->n = n;
  s->m = m;
  s->capacity = capacity = capacity < m ? capacity : m;
  s->tolerance = 1e-12;
  s->limit = INT64_MAX;
  double **of_rows[] = {&s->lambda, &s->norm, &s->diagonal, &s->slack};
  double **of_active[] = {&s->r, &s->t, &s->e};
  double **of_unknowns[] = {&s->x, &s->z, &s->y};
  for (size_t k = 0; k < 4; k++)
    if (!(*of_rows[k] = FX_TAKE(arena, double, m))) return FRIX_ERROR_MEMORY;
  for (size_t k = 0; k < 3; k++)
    if (!(*of_active[k] = FX_TAKE(arena, double, (size_t)capacity + 1))) return FRIX_ERROR_MEMORY;
  for (size_t k = 0; k < 3; k++)
    if (!(*of_unknowns[k] = FX_TAKE(arena, double, n))) return FRIX_ERROR_MEMORY;
  s->active = FX_TAKE(arena, int32_t, (size_t)capacity + 1);
  s->top = FX_TAKE(arena, int32_t, (size_t)capacity + 1);
  s->position = FX_TAKE(arena, int32_t, m);
  s->ignored = FX_TAKE(arena, bool, m);
  s->R = FX_TAKE(arena, double, ((size_t)capacity + 1) * ((size_t)capacity + 2) / 2);
  return s->active && s->top && s->position && s->ignored && s->R ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* ---- rows ---- */

static double dot_row(const fx_rows *rows, int32_t k, const double *x) {
  double sum = 0;
  for (int32_t e = rows->start[k]; e < rows->start[k + 1]; e++) sum += rows->value[e] * x[rows->index[e]];
  return sum;
}

static void add_row(const fx_rows *rows, int32_t k, double factor, double *x) {
  for (int32_t e = rows->start[k]; e < rows->start[k + 1]; e++) x[rows->index[e]] += factor * rows->value[e];
}

static double soft_of(const fx_active_set *s, int32_t k) { return s->soft ? s->soft[k] : 0; }
static bool is_equality(const fx_active_set *s, int32_t k) { return k < s->equality_count; }

double fx_active_set_slack(const fx_active_set *s, int32_t k) {
  double value = dot_row(&s->A, k, s->x) - s->lower[k];
  if (s->soft) value += s->soft[k] * (s->lambda[k] - (s->center ? s->center[k] : 0));
  return value;
}

void fx_active_set_measure(fx_active_set *s) {
  memset(s->y, 0, (size_t)s->n * sizeof *s->y);
  s->scale = 0;
  s->count = 0;
  s->iterations = 0;
  for (int32_t k = 0; k < s->m; k++) {
    add_row(&s->Y, k, 1, s->y);
    s->diagonal[k] = dot_row(&s->A, k, s->y) + soft_of(s, k);
    for (int32_t e = s->Y.start[k]; e < s->Y.start[k + 1]; e++) s->y[s->Y.index[e]] = 0;
    s->norm[k] = s->diagonal[k] > 0 ? sqrt(s->diagonal[k]) : 0;
    s->position[k] = -1;
    s->ignored[k] = !(s->diagonal[k] > 0); /* nothing moves this row: no force can help it */
    if (s->ignored[k]) s->lambda[k] = 0;
    double gap = s->ignored[k] ? 0 : fabs(dot_row(&s->A, k, s->x0) - s->lower[k]) / s->norm[k];
    if (gap > s->scale) s->scale = gap;
  }
}

/* x of the lambda at hand. */
static void begin(fx_active_set *s) {
  fx_active_set_measure(s);
  memcpy(s->x, s->x0, (size_t)s->n * sizeof *s->x);
  for (int32_t k = 0; k < s->m; k++)
    if (s->lambda[k] != 0) add_row(&s->Y, k, s->lambda[k], s->x);
}

void fx_active_set_sweep(fx_active_set *s, int32_t sweeps, double relaxation) {
  begin(s);
  for (int32_t sweep = 0; sweep < sweeps; sweep++)
    for (int32_t k = 0; k < s->m; k++) {
      if (s->ignored[k]) continue;
      double fresh = s->lambda[k] - relaxation * fx_active_set_slack(s, k) / s->diagonal[k];
      if (fresh < 0 && !is_equality(s, k)) fresh = 0;
      if (fresh == s->lambda[k]) continue;
      add_row(&s->Y, k, fresh - s->lambda[k], s->x);
      s->lambda[k] = fresh;
    }
}

/* ---- the factor ---- */

static double *column_of(const fx_active_set *s, int32_t j) { return s->R + (size_t)j * ((size_t)j + 1) / 2; }

typedef double four __attribute__((vector_size(32)));

/* Sums of four strands: the same on every machine, and four times as fast as one. */
static double dot(int32_t count, const double *a, const double *b) {
  four sum = {0, 0, 0, 0}, u, v;
  int32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    memcpy(&u, a + i, sizeof u);
    memcpy(&v, b + i, sizeof v);
    sum += u * v;
  }
  double rest = 0;
  for (; i < count; i++) rest += a[i] * b[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

/* y -= f x */
static void subtract(int32_t count, double f, const double *x, double *y) {
  four u, v;
  int32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    memcpy(&u, x + i, sizeof u);
    memcpy(&v, y + i, sizeof v);
    v -= f * u;
    memcpy(y + i, &v, sizeof v);
  }
  for (; i < count; i++) y[i] -= f * x[i];
}

/* e := R'^-1 e */
static void forward(const fx_active_set *s, double *e) {
  int32_t first = 0;
  while (first < s->count && e[first] == 0) first++;
  for (int32_t j = first; j < s->count; j++) {
    const double *c = column_of(s, j);
    int32_t from = s->top[j] > first ? s->top[j] : first;
    e[j] = (e[j] - dot(j - from, c + from, e + from)) / c[j];
  }
}

/* e := R^-1 e */
static void backward(const fx_active_set *s, double *e) {
  for (int32_t j = s->count - 1; j >= 0; j--) {
    const double *c = column_of(s, j);
    if (e[j] == 0) continue;
    e[j] /= c[j];
    subtract(j - s->top[j], e[j], c + s->top[j], e + s->top[j]);
  }
}

void fx_active_set_solve(const fx_active_set *s, double *e) {
  forward(s, e);
  backward(s, e);
}

void fx_active_set_move(fx_active_set *s, double t, const double *e) {
  for (int32_t j = 0; j < s->count; j++)
    if (e[j] != 0) add_row(&s->Y, s->active[j], t * e[j], s->x);
}

double fx_active_set_direction(fx_active_set *s, int32_t p) {
  memset(s->z, 0, (size_t)s->n * sizeof *s->z);
  add_row(&s->Y, p, 1, s->z);
  memset(s->r, 0, (size_t)s->count * sizeof *s->r);
  memset(s->t, 0, (size_t)s->count * sizeof *s->t);
  /* e is what the active rows still see of z; twice is enough. */
  for (int pass = 0; pass < 3; pass++) {
    double worst = 0;
    for (int32_t j = 0; j < s->count; j++) {
      int32_t k = s->active[j];
      s->e[j] = dot_row(&s->A, k, s->z) - soft_of(s, k) * s->r[j];
      if (fabs(s->e[j]) > worst * s->norm[k]) worst = fabs(s->e[j]) / s->norm[k];
    }
    if (worst <= 1e-15 * s->norm[p]) break;
    forward(s, s->e);
    for (int32_t j = 0; j < s->count; j++) s->t[j] += s->e[j];
    backward(s, s->e);
    for (int32_t j = 0; j < s->count; j++) {
      s->r[j] += s->e[j];
      if (s->e[j] != 0) add_row(&s->Y, s->active[j], -s->e[j], s->z);
    }
    if (worst <= 1e-12 * s->norm[p]) break;
  }
  s->reach = s->norm[p];
  for (int32_t j = 0; j < s->count; j++) s->reach += fabs(s->r[j]) * s->norm[s->active[j]];
  return dot_row(&s->A, p, s->z) + soft_of(s, p);
}

bool fx_active_set_dependent(const fx_active_set *s, int32_t p, double length) {
  return !(length > dependent * s->norm[p] * s->reach);
}

void fx_active_set_add(fx_active_set *s, int32_t p, double length) {
  int32_t j = s->count;
  double *c = column_of(s, j);
  memcpy(c, s->t, (size_t)j * sizeof *c);
  c[j] = sqrt(length);
  s->top[j] = 0;
  while (s->top[j] < j && c[s->top[j]] == 0) s->top[j]++;
  s->active[j] = p;
  s->position[p] = j;
  s->count++;
  s->iterations++;
}

/* Columns after c move one place forward; rotations of neighbouring rows make them triangular again. */
void fx_active_set_drop(fx_active_set *s, int32_t c) {
  double *cosine = s->t, *sine = s->e;
  s->position[s->active[c]] = -1;
  for (int32_t j = c + 1; j < s->count; j++) {
    double *from = column_of(s, j), *to = column_of(s, j - 1);
    int32_t top = s->top[j], first = top - 1 > c ? top - 1 : c;
    if (top > c) from[top - 1] = 0;
    for (int32_t i = first; i < j - 1; i++) {
      double a = from[i], b = from[i + 1];
      from[i] = cosine[i] * a + sine[i] * b;
      from[i + 1] = cosine[i] * b - sine[i] * a;
    }
    double a = from[j - 1], b = from[j], length = sqrt(a * a + b * b);
    cosine[j - 1] = a / length;
    sine[j - 1] = b / length;
    from[j - 1] = length;
    if (top > c) top--;
    memmove(to + top, from + top, (size_t)(j - top) * sizeof *to);
    s->top[j - 1] = top;
    s->active[j - 1] = s->active[j];
    s->position[s->active[j - 1]] = j - 1;
  }
  s->count--;
  s->iterations++;
}

/* t = R'^-1 B_Ap, and from it the squared length of what p adds: cheaper than a direction, and less exact. */
static double quick_length(fx_active_set *s, int32_t p) {
  memset(s->z, 0, (size_t)s->n * sizeof *s->z);
  add_row(&s->Y, p, 1, s->z);
  for (int32_t j = 0; j < s->count; j++) s->t[j] = dot_row(&s->A, s->active[j], s->z);
  forward(s, s->t);
  return s->diagonal[p] - dot(s->count, s->t, s->t);
}

/* The factor anew, rows in ascending order: rounding goes, and a narrow profile comes back. */
static void refactor(fx_active_set *s) {
  int32_t count = s->count;
  fx_sort(s->active, (size_t)count);
  s->count = 0;
  for (int32_t j = 0; j < count; j++) {
    int32_t p = s->active[j];
    double length = quick_length(s, p);
    if (!(length > 1e-4 * s->diagonal[p])) length = fx_active_set_direction(s, p);
    if (length > 0) {
      fx_active_set_add(s, p, length);
    } else { /* only rounding kept it */
      s->position[p] = -1;
      add_row(&s->Y, p, -s->lambda[p], s->x);
      s->lambda[p] = 0;
    }
    s->iterations--;
  }
}

/* ---- the start: from a lambda to the minimiser under its active rows ---- */

/* Takes the weight off a row that depends on the active ones, or puts it in the place of one of them. */
static bool admit(fx_active_set *s, int32_t p) {
  double weight = s->lambda[p];
  s->lambda[p] = 0;
  for (;;) {
    double length = quick_length(s, p);
    bool clear = length > 1e-4 * s->diagonal[p];
    if (!clear) length = fx_active_set_direction(s, p);
    if (clear || !fx_active_set_dependent(s, p, length)) {
      if (s->count >= s->capacity) return false;
      fx_active_set_add(s, p, length);
      s->lambda[p] = weight;
      return true;
    }
    double shift = weight;
    int32_t blocking = -1;
    for (int32_t j = 0; j < s->count; j++) {
      int32_t k = s->active[j];
      if (is_equality(s, k) || !(s->lambda[k] + shift * s->r[j] < 0)) continue;
      shift = -s->lambda[k] / s->r[j];
      blocking = j;
    }
    for (int32_t j = 0; j < s->count; j++) s->lambda[s->active[j]] += shift * s->r[j];
    weight -= shift;
    if (blocking < 0) return true;
    s->lambda[s->active[blocking]] = 0;
    fx_active_set_drop(s, blocking);
  }
}

/* Moves lambda to the minimiser under the active rows; a row whose lambda would turn negative goes. */
static void settle(fx_active_set *s) {
  double before = INFINITY;
  for (int32_t pass = 0; pass < 2 * s->m + 10; pass++) {
    double worst = 0, step = 1;
    int32_t blocking = -1;
    for (int32_t j = 0; j < s->count; j++) {
      s->r[j] = -fx_active_set_slack(s, s->active[j]);
      if (fabs(s->r[j]) > worst * s->norm[s->active[j]]) worst = fabs(s->r[j]) / s->norm[s->active[j]];
    }
    if (worst <= 1e-16 * s->scale || !(worst < before)) return;
    fx_active_set_solve(s, s->r);
    for (int32_t j = 0; j < s->count; j++) {
      int32_t k = s->active[j];
      if (is_equality(s, k) || !(s->lambda[k] + step * s->r[j] < 0)) continue;
      step = -s->lambda[k] / s->r[j];
      blocking = j;
    }
    fx_active_set_move(s, step, s->r);
    for (int32_t j = 0; j < s->count; j++) s->lambda[s->active[j]] += step * s->r[j];
    before = blocking < 0 ? 0.5 * worst : INFINITY;
    if (blocking < 0) continue;
    add_row(&s->Y, s->active[blocking], -s->lambda[s->active[blocking]], s->x);
    s->lambda[s->active[blocking]] = 0;
    fx_active_set_drop(s, blocking);
  }
}

static bool warm_start(fx_active_set *s) {
  for (int32_t k = s->equality_count; k < s->m; k++) {
    if (s->ignored[k]) continue;
    if (s->lambda[k] < 0) {
      add_row(&s->Y, k, -s->lambda[k], s->x);
      s->lambda[k] = 0;
    }
    if (s->lambda[k] > 0 && !admit(s, k)) return false;
  }
  settle(s);
  return true;
}

/* Equalities are in from the beginning and never go; a redundant one carries nothing. */
static fx_qp_end add_equalities(fx_active_set *s) {
  for (int32_t k = 0; k < s->equality_count; k++) {
    if (s->ignored[k]) continue;
    double length = fx_active_set_direction(s, k), slack = fx_active_set_slack(s, k);
    if (fx_active_set_dependent(s, k, length)) {
      if (fabs(slack) > rounding_only * s->scale * s->norm[k]) return FX_QP_INFEASIBLE;
      s->ignored[k] = true;
      continue;
    }
    if (s->count >= s->capacity) return FX_QP_FULL;
    double t = -slack / length;
    for (int32_t i = 0; i < s->n; i++) s->x[i] += t * s->z[i];
    for (int32_t j = 0; j < s->count; j++) s->lambda[s->active[j]] -= t * s->r[j];
    fx_active_set_add(s, k, length);
    s->lambda[k] += t;
  }
  return FX_QP_SOLVED;
}

/* ---- the dual method ---- */

static int32_t most_violated(const fx_active_set *s) {
  int32_t worst = -1;
  double least = -s->tolerance * s->scale;
  for (int32_t k = s->equality_count; k < s->m; k++) {
    if (s->position[k] >= 0 || s->ignored[k]) continue;
    double slack = fx_active_set_slack(s, k) / s->norm[k];
    if (slack < least) {
      least = slack;
      worst = k;
    }
  }
  return worst;
}

/* Brings row p in. */
static fx_qp_end satisfy(fx_active_set *s, int32_t p) {
  for (;;) {
    double length = fx_active_set_direction(s, p), slack = fx_active_set_slack(s, p), t = INFINITY;
    bool free_way = !fx_active_set_dependent(s, p, length);
    int32_t blocking = -1;
    if (slack > 0) slack = 0;
    if (free_way) t = -slack / length;
    for (int32_t j = 0; j < s->count; j++) {
      int32_t k = s->active[j];
      if (is_equality(s, k) || !(s->r[j] > 1e-14) || !(s->lambda[k] < t * s->r[j])) continue;
      t = s->lambda[k] / s->r[j];
      blocking = j;
    }
    if (t == INFINITY) {
      if (-slack > rounding_only * s->scale * s->norm[p]) return FX_QP_INFEASIBLE;
      add_row(&s->Y, p, -s->lambda[p], s->x);
      s->lambda[p] = 0;
      s->ignored[p] = true;
      return FX_QP_SOLVED;
    }
    if (blocking < 0 && s->count >= s->capacity) return FX_QP_FULL;
    for (int32_t i = 0; i < s->n; i++) s->x[i] += t * s->z[i];
    for (int32_t j = 0; j < s->count; j++) s->lambda[s->active[j]] -= t * s->r[j];
    s->lambda[p] += t;
    if (blocking < 0) {
      fx_active_set_add(s, p, length);
      return FX_QP_SOLVED;
    }
    s->lambda[s->active[blocking]] = 0;
    fx_active_set_drop(s, blocking);
  }
}

/* The factor anew, and x from lambda. */
static void refresh(fx_active_set *s) {
  refactor(s);
  memcpy(s->x, s->x0, (size_t)s->n * sizeof *s->x);
  for (int32_t j = 0; j < s->count; j++)
    if (s->lambda[s->active[j]] != 0) add_row(&s->Y, s->active[j], s->lambda[s->active[j]], s->x);
  settle(s);
}

fx_qp_end fx_active_set_dual(fx_active_set *s) {
  begin(s);
  for (int32_t k = 0; k < s->equality_count; k++) { /* their multipliers follow from the rest */
    if (s->lambda[k] != 0) add_row(&s->Y, k, -s->lambda[k], s->x);
    s->lambda[k] = 0;
  }
  fx_qp_end end = add_equalities(s);
  if (end == FX_QP_SOLVED && !warm_start(s)) end = FX_QP_FULL;
  int64_t next_check = s->iterations + REFRESH;
  int64_t refreshed = -1;
  while (end == FX_QP_SOLVED) {
    int32_t p = most_violated(s);
    if (p < 0 || s->iterations >= next_check) {
      if (p < 0 && refreshed == s->iterations) break;
      refresh(s);
      if (p < 0) refreshed = s->iterations;
      next_check = s->iterations + REFRESH;
      if (s->stop && s->stop(s->iterations, s->lambda, s->user)) return FX_QP_STOPPED;
      continue;
    }
    if (s->iterations >= s->limit) return FX_QP_LIMIT;
    end = satisfy(s, p);
  }
  return end;
}
