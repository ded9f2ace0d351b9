/* Lemke's method.
 *
 *   w = M z + q + d z0,  d > 0: for z0 large all of w is positive. Lower z0 until a w_i is zero, let its partner z_i
 *   enter, and so on: always the partner of what left the basis enters. The path ends when z0 leaves (solution) or when
 *   nothing blocks (ray).
 *
 * The tableau is a dictionary, basic = T nonbasic + rhs, of n rows and n + 1 columns beside rhs. Ties in the ratio test
 * are broken by the lexicographic rule: rhs + B^-1 (e, e^2, ...) decides, and the columns of B^-1 stand in the dictionary
 * as those of the nonbasic w. Rounding is watched through w - M z - q - d z0 = 0; when it has grown, the tableau is
 * made anew from M for the same basis. The last basis is solved once more by LU with refinement.
 *
 * References: C. E. Lemke 1965; R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, 1992, ch. 4. */
#include "linalg/lemke.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { CHECK_EVERY = 64 };
static const double zero_pivot = 1e-10;  /* relative to the largest entry of its column */
static const double tie = 1e-11;         /* of values, relative to the largest |q| */
static const double lost_digits = 1e-9;  /* error of the basic values, relative, at which the tableau is made anew */

const char *fx_lemke_end_name(fx_lemke_end end) {
  static const char *const name[] = {"solved", "secondary ray", "pivot limit", "stopped", "singular free rows"};
  return (unsigned)end < sizeof name / sizeof *name ? name[end] : "unknown";
}

frix_status fx_lemke_take(fx_arena *arena, int32_t n, fx_lemke *l) {
  memset(l, 0, sizeof *l);
  l->n = n;
  l->stride = ((size_t)n + 2 + 3) & ~(size_t)3;
  l->T = FX_TAKE(arena, double, l->stride * (size_t)n);
  l->basic = FX_TAKE(arena, int32_t, n);
  l->nonbasic = FX_TAKE(arena, int32_t, (size_t)n + 1);
  l->place = FX_TAKE(arena, int32_t, 2 * (size_t)n + 1);
  l->list = FX_TAKE(arena, int32_t, (size_t)n + 2);
  l->tied = FX_TAKE(arena, int32_t, n);
  l->pivot = FX_TAKE(arena, int32_t, n);
  l->z = FX_TAKE(arena, double, n);
  l->w = FX_TAKE(arena, double, n);
  l->rest = FX_TAKE(arena, double, n);
  bool all = l->T && l->basic && l->nonbasic && l->place && l->list && l->tied && l->pivot && l->z && l->w;
  return all && l->rest ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* ---- the tableau ---- */

static double *row_of(const fx_lemke *l, int32_t i) { return l->T + l->stride * (size_t)i; }
static bool is_free(const fx_lemke *l, int32_t i) { return l->free_row && l->free_row[i]; }
static double cover_of(const fx_lemke *l, int32_t i) { return is_free(l, i) ? 0 : l->cover ? l->cover[i] : 1; }
static int32_t partner(const fx_lemke *l, int32_t variable) {
  return variable < l->n ? variable + l->n : variable - l->n;
}

/* All w basic: T = [M d | q]. */
static void reset(fx_lemke *l) {
  int32_t n = l->n;
  memset(l->T, 0, l->stride * (size_t)n * sizeof *l->T);
  l->scale = l->size = 0;
  for (int32_t c = 0; c < n; c++)
    for (int32_t k = l->M->p[c]; k < l->M->p[c + 1]; k++) {
      row_of(l, l->M->i[k])[c] = l->M->x[k];
      if (fabs(l->M->x[k]) > l->size) l->size = fabs(l->M->x[k]);
    }
  for (int32_t i = 0; i < n; i++) {
    row_of(l, i)[n] = cover_of(l, i);
    row_of(l, i)[n + 1] = l->q[i];
    if (fabs(l->q[i]) > l->scale) l->scale = fabs(l->q[i]);
    l->basic[i] = i;
    l->place[i] = i;
    l->nonbasic[i] = n + i;
    l->place[n + i] = -1 - i;
  }
  l->nonbasic[n] = 2 * n;
  l->place[2 * n] = -1 - n;
  if (!(l->size > 0)) l->size = 1;
}

typedef double pair __attribute__((vector_size(32), aligned(8)));

/* y += a x; both rows are a multiple of four long */
static void add_row(size_t count, double a, const double *restrict x, double *restrict y) {
  for (size_t k = 0; k < count; k += 4) {
    pair u, v;
    memcpy(&u, x + k, sizeof u);
    memcpy(&v, y + k, sizeof v);
    v += a * u;
    memcpy(y + k, &v, sizeof v);
  }
}

/* The variable of row p leaves the basis, that of column e enters. */
static void exchange(fx_lemke *l, int32_t p, int32_t e) {
  int32_t n = l->n, count = 0;
  double *pivot_row = row_of(l, p), inverse = 1 / pivot_row[e];
  if (fabs(pivot_row[e]) > l->growth * l->size) l->growth = fabs(pivot_row[e]) / l->size;
  pivot_row[e] = -1;
  for (int32_t j = 0; j < n + 2; j++)
    if (pivot_row[j] != 0) {
      pivot_row[j] *= -inverse;
      l->list[count++] = j;
    }
  bool thin = count < n / 4; /* a row with few entries is added entry by entry */
  for (int32_t i = 0; i < n; i++) {
    double *row = row_of(l, i), factor = row[e];
    if (i == p || factor == 0) continue;
    row[e] = 0;
    if (thin)
      for (int32_t k = 0; k < count; k++) row[l->list[k]] += factor * pivot_row[l->list[k]];
    else
      add_row(l->stride, factor, pivot_row, row);
  }
  int32_t out = l->basic[p], in = l->nonbasic[e];
  l->basic[p] = in;
  l->nonbasic[e] = out;
  l->place[in] = p;
  l->place[out] = -1 - e;
}

/* Solves the free rows for the free variables, largest pivot first; what is then left of a free row must be zero. */
static bool eliminate_free(fx_lemke *l) {
  int32_t n = l->n;
  for (;;) {
    double best = 1e-11 * l->size;
    int32_t row = -1, column = -1;
    for (int32_t i = 0; i < n; i++) {
      if (!is_free(l, i) || l->place[i] < 0) continue;
      for (int32_t j = 0; j < n; j++)
        if (is_free(l, j) && l->place[n + j] < 0) {
          double size = fabs(row_of(l, l->place[i])[-1 - l->place[n + j]]);
          if (size > best) {
            best = size;
            row = l->place[i];
            column = -1 - l->place[n + j];
          }
        }
    }
    if (row < 0) break;
    exchange(l, row, column);
  }
  for (int32_t i = 0; i < n; i++) {
    if (!is_free(l, i)) continue;
    if (l->place[i] >= 0) {
      /* A redundant row: nothing may be left of it but rounding. */
      const double *row = row_of(l, l->place[i]);
      for (int32_t j = 0; j <= n; j++)
        if (l->nonbasic[j] >= n && fabs(row[j]) > 1e-8 * l->size) return false;
      if (fabs(row[n + 1]) > 1e-8 * (l->scale > 0 ? l->scale : 1)) return false;
      memset(row_of(l, l->place[i]), 0, l->stride * sizeof(double));
    } else { /* w stays at zero for good */
      for (int32_t r = 0; r < n; r++) row_of(l, r)[-1 - l->place[i]] = 0;
    }
    if (l->place[n + i] < 0) /* an undetermined multiplier is zero */
      for (int32_t r = 0; r < n; r++) row_of(l, r)[-1 - l->place[n + i]] = 0;
  }
  return true;
}

/* ---- the ratio test ---- */

static bool bounded(const fx_lemke *l, int32_t row) {
  int32_t variable = l->basic[row];
  return variable == 2 * l->n || !is_free(l, variable < l->n ? variable : variable - l->n);
}

/* Entry j of row i of B^-1, divided by a. */
static double inverse_entry(const fx_lemke *l, int32_t i, int32_t j, double a) {
  int32_t place = l->place[j];
  return (place >= 0 ? place == i : -row_of(l, i)[-1 - place]) / a;
}

/* Keeps the rows of l->tied that are least in entry j of B^-1 / a. */
static int32_t keep_least(fx_lemke *l, int32_t count, int32_t j, int32_t e) {
  double least = INFINITY, largest = 0;
  for (int32_t k = 0; k < count; k++) {
    double value = inverse_entry(l, l->tied[k], j, -row_of(l, l->tied[k])[e]);
    if (value < least) least = value;
    if (fabs(value) > largest) largest = fabs(value);
  }
  int32_t kept = 0;
  for (int32_t k = 0; k < count; k++)
    if (inverse_entry(l, l->tied[k], j, -row_of(l, l->tied[k])[e]) <= least + 1e-10 * largest)
      l->tied[kept++] = l->tied[k];
  return kept;
}

/* The row that blocks the growth of column e first, -1 where none does. */
static int32_t blocking_row(fx_lemke *l, int32_t e) {
  int32_t n = l->n, count = 0;
  double largest = 0, step = INFINITY;
  for (int32_t i = 0; i < n; i++)
    if (fabs(row_of(l, i)[e]) > largest) largest = fabs(row_of(l, i)[e]);
  double least = zero_pivot * largest;
  for (int32_t i = 0; i < n; i++) {
    const double *row = row_of(l, i);
    if (!(-row[e] > least) || !bounded(l, i)) continue;
    double value = row[n + 1] > 0 ? row[n + 1] : 0;
    if (value < step * -row[e]) step = value / -row[e];
  }
  if (step == INFINITY) return -1;
  for (int32_t i = 0; i < n; i++) {
    const double *row = row_of(l, i);
    if (!(-row[e] > least) || !bounded(l, i)) continue;
    double value = row[n + 1] > 0 ? row[n + 1] : 0;
    if (value - step * -row[e] > tie * l->scale) continue;
    if (l->basic[i] == 2 * n) return i; /* z0 may leave: done */
    l->tied[count++] = i;
  }
  for (int32_t j = 0; j < n && count > 1; j++) count = keep_least(l, count, j, e);
  return l->tied[0];
}

/* ---- accuracy ---- */

/* z from the tableau; z0 is returned. */
static double read_point(fx_lemke *l) {
  for (int32_t i = 0; i < l->n; i++) {
    int32_t place = l->place[l->n + i];
    l->z[i] = place >= 0 ? row_of(l, place)[l->n + 1] : 0;
  }
  return l->place[2 * l->n] >= 0 ? row_of(l, l->place[2 * l->n])[l->n + 1] : 0;
}

/* out = M z + q + d z0 */
static void apply(const fx_lemke *l, const double *z, double z0, double *out) {
  for (int32_t i = 0; i < l->n; i++) out[i] = l->q[i] + cover_of(l, i) * z0;
  for (int32_t c = 0; c < l->n; c++)
    for (int32_t k = l->M->p[c]; k < l->M->p[c + 1]; k++) out[l->M->i[k]] += l->M->x[k] * z[c];
}

/* Largest difference between w in the tableau and w computed from its z, relative to the terms. */
static double rounding(fx_lemke *l) {
  double z0 = read_point(l), worst = 0, size = l->scale;
  apply(l, l->z, z0, l->w);
  for (int32_t i = 0; i < l->n; i++)
    if (fabs(l->z[i]) * l->size > size) size = fabs(l->z[i]) * l->size;
  for (int32_t i = 0; i < l->n; i++) {
    double value = l->place[i] >= 0 ? row_of(l, l->place[i])[l->n + 1] : 0;
    if (fabs(l->w[i] - value) > worst) worst = fabs(l->w[i] - value);
  }
  return size > 0 ? worst / size : 0;
}

/* The same basis, from M: every z (or z0) of the basis is brought in again on the largest pivot at hand. */
static bool rebuild(fx_lemke *l) {
  int32_t n = l->n, count = 0;
  for (int32_t v = n; v <= 2 * n; v++)
    if (l->place[v] >= 0) l->tied[count++] = v;
  int32_t *leaves = l->pivot; /* workspace: the w that shall leave the basis */
  for (int32_t i = 0; i < n; i++) leaves[i] = l->place[i] < 0;
  reset(l);
  for (int32_t k = 0; k < count; k++) {
    int32_t e = -1 - l->place[l->tied[k]], row = -1;
    double best = 1e-13 * l->size;
    for (int32_t i = 0; i < n; i++)
      if (l->basic[i] < n && leaves[l->basic[i]] && fabs(row_of(l, i)[e]) > best) {
        best = fabs(row_of(l, i)[e]);
        row = i;
      }
    if (row < 0) return false;
    exchange(l, row, e);
  }
  l->rebuilds++;
  return !l->free_row || eliminate_free(l);
}

/* The last basis once more: M_aa z_a = -q_a, a the basic z, by LU and refinement. The tableau is spent: the LU takes its
 * place. */
static void refine(fx_lemke *l) {
  int32_t n = l->n, count = 0;
  double *lu = l->T;
  for (int32_t i = 0; i < n; i++)
    if (l->place[n + i] >= 0 && l->place[i] < 0) l->list[count++] = i;
  memset(lu, 0, (size_t)count * (size_t)count * sizeof *lu);
  for (int32_t i = 0; i < n; i++) l->tied[i] = -1;
  for (int32_t k = 0; k < count; k++) l->tied[l->list[k]] = k;
  for (int32_t c = 0; c < count; c++)
    for (int32_t k = l->M->p[l->list[c]]; k < l->M->p[l->list[c] + 1]; k++) {
      int32_t r = l->tied[l->M->i[k]];
      if (r >= 0) lu[(size_t)r * (size_t)count + (size_t)c] = l->M->x[k];
    }
  if (!fx_lu_factor(count, lu, l->pivot)) return;
  double before = INFINITY;
  for (int step = 0; step < 4; step++) {
    double worst = 0;
    apply(l, l->z, 0, l->w);
    for (int32_t k = 0; k < count; k++) {
      l->rest[k] = -l->w[l->list[k]];
      if (fabs(l->rest[k]) > worst) worst = fabs(l->rest[k]);
    }
    if (!(worst < before) || worst == 0) return;
    before = worst;
    fx_lu_solve(count, lu, l->pivot, l->rest);
    for (int32_t k = 0; k < count; k++) l->z[l->list[k]] += l->rest[k];
    for (int32_t k = 0; k < count; k++) /* rounding below zero is zero */
      if (l->z[l->list[k]] < 0 && !is_free(l, l->list[k])) l->z[l->list[k]] = 0;
  }
}

/* ---- the path ---- */

/* Lets z0 in on the most negative value (of equals the last, as the lexicographic rule wants); false: nothing to do. */
static bool start(fx_lemke *l, int32_t *row) {
  double least = 0;
  *row = -1;
  for (int32_t i = 0; i < l->n; i++) {
    const double *t = row_of(l, i);
    if (!bounded(l, i) || !(t[l->n] > 0) || !(t[l->n + 1] < 0)) continue;
    double ratio = t[l->n + 1] / t[l->n];
    if (ratio <= least) {
      least = ratio;
      *row = i;
    }
  }
  return *row >= 0;
}

static fx_lemke_end follow(fx_lemke *l, int32_t entering) {
  int64_t next_check = l->pivots + CHECK_EVERY;
  for (;;) {
    if (l->pivots >= l->pivot_limit) return FX_LEMKE_LIMIT;
    if (l->pivots >= next_check) {
      next_check = l->pivots + CHECK_EVERY;
      if (rounding(l) > lost_digits && !rebuild(l)) return FX_LEMKE_RAY;
      if (l->stop && l->stop(l->pivots, l->z, l->user)) return FX_LEMKE_STOPPED;
    }
    int32_t e = -1 - l->place[entering], row = blocking_row(l, e);
    if (row < 0) return FX_LEMKE_RAY;
    int32_t leaving = l->basic[row];
    exchange(l, row, e);
    l->pivots++;
    if (leaving == 2 * l->n) return FX_LEMKE_SOLVED;
    entering = partner(l, leaving);
  }
}

fx_lemke_end fx_lemke_run(fx_lemke *l) {
  l->pivots = 0;
  l->rebuilds = 0;
  l->growth = 0;
  l->artificial = 0;
  memset(l->z, 0, (size_t)l->n * sizeof *l->z);
  reset(l);
  if (l->free_row && !eliminate_free(l)) return FX_LEMKE_SINGULAR;
  int32_t row;
  fx_lemke_end end = FX_LEMKE_SOLVED;
  if (start(l, &row)) {
    int32_t leaving = l->basic[row];
    exchange(l, row, l->n);
    l->pivots = 1;
    end = follow(l, partner(l, leaving));
  }
  l->artificial = read_point(l);
  if (end == FX_LEMKE_SOLVED) refine(l);
  return end;
}
