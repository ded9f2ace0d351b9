/* Lemke's method.
 *
 *   w = M z + q + d z0,  d > 0: for z0 large all of w is positive. Lower z0 until a w_i is zero, let its partner z_i
 *   enter, and so on: the partner of the variable that left the basis always enters. The path ends when z0 leaves
 * (solution) or when nothing blocks (ray).
 *
 * The tableau is a dictionary, basic = T nonbasic + rhs, of n rows and n + 1 columns. A pivot changes it by a product
 * of one column and one row; LATE of them are collected as U V and applied to T together, so that arithmetic and not
 * memory limits the speed. Ties in the ratio test are broken by the lexicographic rule: rhs + B^-1 (e, e^2, ...)
 * decides, and the dictionary contains the columns of B^-1 as those of the initially basic variables. Rounding is
 * monitored through w - M z - q - d z0 = 0: when it has grown, the tableau is recomputed from M for the same basis. In
 * exact arithmetic no basis recurs; if one does, rounding has decided ties. The path then restarts with a q perturbed
 * by small pseudorandom numbers, which are the same in every run, and its final basis starts a last path for the true
 * q. The last basis is solved again by LU with refinement.
 *
 * References: C. E. Lemke 1965; R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, 1992, ch. 4.
 */
#include "linalg/lemke_pivots.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { LATE = 32, PANEL = 128, CHECK_EVERY = 64, SEEN = 1 << 14 };
static const double zero_pivot = 1e-9, zero_in_column = 1e-11; /* relative to M, to the largest of the column */
static const double tie = 1e-10;                         /* values this near, relative to the largest, are equal */
static const double perturbation[] = {1e-9, 1e-8, 1e-7}; /* relative to the largest |q|, one after the other */
static const double lost_digits = 1e-9;                  /* relative error at which the tableau is made anew */

const char *fx_lemke_end_name(fx_lemke_end end) {
  static const char *const name[] = {"solved",  "secondary ray",      "pivot limit",
                                     "stopped", "singular free rows", "cycle by rounding"};
  return (unsigned)end < sizeof name / sizeof *name ? name[end] : "unknown";
}

frix_status fx_lemke_take(fx_arena *arena, int32_t n, fx_lemke *l) {
  memset(l, 0, sizeof *l);
  l->n = n;
  l->stride = ((size_t)n + 1 + 3) & ~(size_t)3;
  size_t rows = ((size_t)n + 3) & ~(size_t)3; /* the update goes by fours */
  l->T = FX_TAKE(arena, double, l->stride *rows);
  l->U = FX_TAKE(arena, double, LATE *rows);
  l->V = FX_TAKE(arena, double, LATE * l->stride);
  double **vectors[] = {&l->rhs, &l->side, &l->d, &l->column, &l->z, &l->w, &l->rest, &l->best};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    if (!(*vectors[k] = FX_TAKE(arena, double, n))) return FRIX_ERROR_MEMORY;
  l->basic = FX_TAKE(arena, int32_t, n);
  l->first = FX_TAKE(arena, int32_t, n);
  l->nonbasic = FX_TAKE(arena, int32_t, (size_t)n + 1);
  l->place = FX_TAKE(arena, int32_t, 2 * (size_t)n + 1);
  l->list = FX_TAKE(arena, int32_t, n);
  l->tied = FX_TAKE(arena, int32_t, n);
  l->end = FX_TAKE(arena, bool, n);
  l->seen = FX_TAKE(arena, uint64_t, SEEN);
  bool all = l->T && l->U && l->V && l->basic && l->first && l->nonbasic && l->place && l->list && l->tied && l->end &&
             l->seen;
  return all ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* ---- the tableau ---- */

static double *row_of(const fx_lemke *l, int32_t i) { return l->T + l->stride * (size_t)i; }
static double *late_of(const fx_lemke *l, int32_t i) { return l->U + (size_t)LATE * (size_t)i; }
static bool is_free(const fx_lemke *l, int32_t i) { return l->free_row && l->free_row[i]; }
static int32_t partner(const fx_lemke *l, int32_t variable) {
  return variable < l->n ? variable + l->n : variable - l->n;
}

/* All w basic: T = [M d], rhs = q. */
static void reset(fx_lemke *l) {
  int32_t n = l->n;
  memset(l->T, 0, l->stride * (size_t)n * sizeof *l->T);
  l->scale = l->size = 0;
  l->late = 0;
  for (int32_t c = 0; c < n; c++)
    for (int32_t k = l->M->p[c]; k < l->M->p[c + 1]; k++) {
      row_of(l, l->M->i[k])[c] = l->M->x[k];
      if (fabs(l->M->x[k]) > l->size) l->size = fabs(l->M->x[k]);
    }
  for (int32_t i = 0; i < n; i++) {
    row_of(l, i)[n] = l->d[i];
    l->rhs[i] = l->side[i];
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

typedef double four __attribute__((vector_size(32)));

/* T += U V for four rows and the columns of one panel, sums in registers, in the order of the pivots. */
static void carry_rows(fx_lemke *l, int32_t i, size_t first, size_t last) {
  const double *u = late_of(l, i);
  double *t = row_of(l, i);
  for (size_t j = first; j < last; j += 4) {
    four sum[4], v;
    for (size_t r = 0; r < 4; r++) memcpy(&sum[r], t + r * l->stride + j, sizeof v);
    for (int32_t k = 0; k < l->late; k++) {
      memcpy(&v, l->V + l->stride * (size_t)k + j, sizeof v);
      for (size_t r = 0; r < 4; r++) sum[r] += u[r * LATE + (size_t)k] * v;
    }
    for (size_t r = 0; r < 4; r++) memcpy(t + r * l->stride + j, &sum[r], sizeof v);
  }
}

static void carry(fx_lemke *l) {
  for (size_t j = 0; j < l->stride && l->late; j += PANEL)
    for (int32_t i = 0; i < l->n; i += 4) carry_rows(l, i, j, j + PANEL < l->stride ? j + PANEL : l->stride);
  l->late = 0;
}

static double entry(const fx_lemke *l, int32_t i, int32_t j) {
  double sum = row_of(l, i)[j];
  const double *u = late_of(l, i);
  for (int32_t k = 0; k < l->late; k++) sum += u[k] * l->V[l->stride * (size_t)k + (size_t)j];
  return sum;
}

static void read_column(fx_lemke *l, int32_t e) {
  double v[LATE] = {0};
  for (int32_t k = 0; k < l->late; k++) v[k] = l->V[l->stride * (size_t)k + (size_t)e];
  for (int32_t i = 0; i < l->n; i++) {
    const double *u = late_of(l, i);
    double sum = row_of(l, i)[e];
    for (int32_t k = 0; k < l->late; k++) sum += u[k] * v[k];
    l->column[i] = sum;
  }
}

static void read_row(const fx_lemke *l, int32_t p, double *out) {
  memcpy(out, row_of(l, p), l->stride * sizeof *out);
  for (int32_t k = 0; k < l->late; k++) {
    double u = late_of(l, p)[k];
    const double *v = l->V + l->stride * (size_t)k;
    for (size_t j = 0; j < l->stride; j++) out[j] += u * v[j];
  }
}

static uint64_t key_of(int32_t variable) { /* splitmix64 */
  uint64_t x = ((uint64_t)variable + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* The variable of row p leaves the basis, that of column e enters; l->column holds column e. */
static void exchange(fx_lemke *l, int32_t p, int32_t e) {
  int32_t n = l->n, k = l->late;
  double *v = l->V + l->stride * (size_t)k, pivot = l->column[p], inverse = 1 / pivot;
  if (fabs(pivot) > l->growth * l->size) l->growth = fabs(pivot) / l->size;
  /* The new row and the new column are written down as they are; everything else changes by U V. */
  read_row(l, p, v);
  for (size_t j = 0; j < l->stride; j++) v[j] *= -inverse;
  v[e] = inverse;
  memcpy(row_of(l, p), v, l->stride * sizeof *v);
  v[e] = 0;
  for (int32_t i = 0; i < n; i++)
    if (i != p) row_of(l, i)[e] = l->column[i] * inverse;
  for (int32_t t = 0; t < k; t++) {
    late_of(l, p)[t] = 0;
    l->V[l->stride * (size_t)t + (size_t)e] = 0;
  }
  double step = -l->rhs[p] * inverse;
  for (int32_t i = 0; i < n; i++) {
    late_of(l, i)[k] = i == p ? 0 : l->column[i];
    if (i != p) l->rhs[i] += l->column[i] * step;
  }
  l->rhs[p] = step;
  if (++l->late == LATE) carry(l);

  int32_t out = l->basic[p], in = l->nonbasic[e];
  l->basic[p] = in;
  l->nonbasic[e] = out;
  l->place[in] = p;
  l->place[out] = -1 - e;
  l->basis ^= key_of(in) ^ key_of(out);
}

/* ---- free rows ---- */

/* The largest entry in a free row whose w is basic and a column of a free z; false where all are zero. */
static bool free_pivot(const fx_lemke *l, int32_t *row, int32_t *column) {
  double best = 1e-11 * l->size;
  *row = -1;
  for (int32_t i = 0; i < l->n; i++) {
    if (!is_free(l, i) || l->place[i] < 0) continue;
    for (int32_t j = 0; j < l->n; j++) {
      if (!is_free(l, j) || l->place[l->n + j] >= 0) continue;
      double size = fabs(entry(l, l->place[i], -1 - l->place[l->n + j]));
      if (size > best) {
        best = size;
        *row = l->place[i];
        *column = -1 - l->place[l->n + j];
      }
    }
  }
  return *row >= 0;
}

static void clear_column(fx_lemke *l, int32_t e) {
  for (int32_t i = 0; i < l->n; i++) row_of(l, i)[e] = 0;
}

/* Solves the free rows for the free variables; what is then left of a free row must be zero. */
static bool eliminate_free(fx_lemke *l) {
  int32_t n = l->n, row, column;
  while (free_pivot(l, &row, &column)) {
    read_column(l, column);
    exchange(l, row, column);
  }
  carry(l);
  for (int32_t i = 0; i < n; i++) {
    if (!is_free(l, i)) continue;
    if (l->place[i] >= 0) { /* a redundant row: nothing may be left of it but rounding */
      double *left = row_of(l, l->place[i]);
      for (int32_t j = 0; j <= n; j++)
        if (l->nonbasic[j] >= n && fabs(left[j]) > 1e-8 * l->size) return false;
      if (fabs(l->rhs[l->place[i]]) > 1e-8 * (l->scale > 0 ? l->scale : 1)) return false;
      memset(left, 0, l->stride * sizeof *left);
      l->rhs[l->place[i]] = 0;
    } else {
      clear_column(l, -1 - l->place[i]); /* w stays at zero from now on */
    }
    if (l->place[n + i] < 0) clear_column(l, -1 - l->place[n + i]); /* an undetermined multiplier is zero */
  }
  return true;
}

/* ---- the ratio test ---- */

static bool bounded(const fx_lemke *l, int32_t row) {
  int32_t variable = l->basic[row];
  return variable == 2 * l->n || !is_free(l, variable < l->n ? variable : variable - l->n);
}

/* Entry j of row i of B^-1, divided by the entry of the entering column. */
static double inverse_entry(const fx_lemke *l, int32_t i, int32_t j) {
  int32_t place = l->place[l->first[j]];
  return (place >= 0 ? place == i : -entry(l, i, -1 - place)) / -l->column[i];
}

/* Keeps the rows of l->tied that are least in entry j of B^-1. */
static int32_t keep_least(fx_lemke *l, int32_t count, int32_t j) {
  double least = INFINITY, largest = 1, *value = l->rest;
  for (int32_t k = 0; k < count; k++) {
    value[k] = inverse_entry(l, l->tied[k], j);
    if (value[k] < least) least = value[k];
    if (fabs(value[k]) > largest) largest = fabs(value[k]);
  }
  int32_t kept = 0;
  for (int32_t k = 0; k < count; k++)
    if (value[k] <= least + 1e-9 * largest) l->tied[kept++] = l->tied[k];
  return kept;
}

/* The row that blocks the growth of the entering variable first, -1 where none does; l->column is its column. */
static int32_t blocking_row(fx_lemke *l) {
  int32_t n = l->n, count = 0;
  double largest = 0, step = INFINITY, size = l->scale;
  for (int32_t i = 0; i < n; i++) {
    if (fabs(l->column[i]) > largest) largest = fabs(l->column[i]);
    if (fabs(l->rhs[i]) > size) size = fabs(l->rhs[i]);
  }
  double least = zero_pivot * l->size + zero_in_column * largest;
  for (int32_t i = 0; i < n; i++) {
    if (!(-l->column[i] > least) || !bounded(l, i)) continue;
    l->list[count++] = i;
    double value = l->rhs[i] > 0 ? l->rhs[i] : 0;
    if (value < step * -l->column[i]) step = value / -l->column[i];
  }
  int32_t tied = 0;
  for (int32_t k = 0; k < count; k++) {
    int32_t i = l->list[k];
    double left = (l->rhs[i] > 0 ? l->rhs[i] : 0) + step * l->column[i];
    if (left > l->tie * size) continue;
    if (l->basic[i] == 2 * n && left > 1e-13 * size) continue; /* what is left of z0 is error in the answer */
    if (l->basic[i] == 2 * n) return i;                        /* z0 may leave: done */
    l->tied[tied++] = i;
  }
  for (int32_t j = 0; j < n && tied > 1; j++) tied = keep_least(l, tied, j);
  return tied ? l->tied[0] : -1;
}

/* ---- accuracy ---- */

/* z from the tableau; z0 is returned. */
static double read_point(fx_lemke *l) {
  for (int32_t i = 0; i < l->n; i++) l->z[i] = l->place[l->n + i] >= 0 ? l->rhs[l->place[l->n + i]] : 0;
  return l->place[2 * l->n] >= 0 ? l->rhs[l->place[2 * l->n]] : 0;
}

/* out = M z + q + d z0 */
static void apply(const fx_lemke *l, const double *q, const double *z, double z0, double *out) {
  for (int32_t i = 0; i < l->n; i++) out[i] = q[i] + l->d[i] * z0;
  for (int32_t c = 0; c < l->n; c++)
    for (int32_t k = l->M->p[c]; k < l->M->p[c + 1]; k++) out[l->M->i[k]] += l->M->x[k] * z[c];
}

/* Largest difference between w in the tableau and w computed from its z, relative to the terms. */
static double rounding(fx_lemke *l) {
  double z0 = read_point(l), worst = 0, size = l->scale;
  apply(l, l->side, l->z, z0, l->w);
  for (int32_t i = 0; i < l->n; i++)
    if (fabs(l->z[i]) * l->size > size) size = fabs(l->z[i]) * l->size;
  for (int32_t i = 0; i < l->n; i++) {
    double value = l->place[i] >= 0 ? l->rhs[l->place[i]] : 0;
    if (fabs(l->w[i] - value) > worst) worst = fabs(l->w[i] - value);
  }
  return size > 0 ? worst / size : 0;
}

/* The same basis, from M: every z (or z0) of the basis is brought in again on the largest pivot at hand. */
static bool rebuild(fx_lemke *l) {
  int32_t n = l->n, count = 0;
  uint64_t basis = l->basis;
  for (int32_t v = n; v <= 2 * n; v++)
    if (l->place[v] >= 0) l->tied[count++] = v;
  for (int32_t i = 0; i < n; i++) l->list[i] = l->place[i] < 0; /* the w that are to leave */
  reset(l);
  for (int32_t k = 0; k < count; k++) {
    int32_t e = -1 - l->place[l->tied[k]], row = -1;
    double best = 1e-13 * l->size;
    read_column(l, e);
    for (int32_t i = 0; i < n; i++)
      if (l->basic[i] < n && l->list[l->basic[i]] && fabs(l->column[i]) > best) {
        best = fabs(l->column[i]);
        row = i;
      }
    if (row < 0) return false;
    exchange(l, row, e);
  }
  l->basis = basis;
  l->rebuilds++;
  return !l->free_row || eliminate_free(l);
}

/* Largest |min(z, w)|, |w| in free rows: how far z is from a solution. */
static double distance(fx_lemke *l) {
  double worst = 0;
  apply(l, l->q, l->z, 0, l->w);
  for (int32_t i = 0; i < l->n; i++) {
    double gap = fabs(is_free(l, i) || l->w[i] < l->z[i] ? l->w[i] : l->z[i]);
    if (gap > worst || isnan(gap)) worst = gap;
  }
  return worst;
}

/* The last basis once more: M_aa z_a = -q_a, a the basic z, by LU and refinement, while that brings z nearer to a
 * solution. The tableau is spent: the LU takes its place. */
static void refine(fx_lemke *l) {
  int32_t n = l->n, count = 0, *position = l->tied, *pivot = l->basic;
  double *lu = l->T;
  for (int32_t i = 0; i < n; i++) {
    position[i] = -1;
    if (l->place[n + i] < 0 || l->place[i] >= 0) continue;
    position[i] = count;
    l->list[count++] = i;
  }
  memset(lu, 0, (size_t)count * (size_t)count * sizeof *lu);
  for (int32_t c = 0; c < count; c++)
    for (int32_t k = l->M->p[l->list[c]]; k < l->M->p[l->list[c] + 1]; k++) {
      int32_t r = position[l->M->i[k]];
      if (r >= 0) lu[(size_t)r * (size_t)count + (size_t)c] = l->M->x[k];
    }
  if (!fx_lu_factor(count, lu, pivot)) return;
  double before = distance(l);
  for (int step = 0; step < 4 && before > 0; step++) {
    memcpy(l->column, l->z, (size_t)n * sizeof *l->z);
    for (int32_t k = 0; k < count; k++) l->rest[k] = -l->w[l->list[k]];
    fx_lu_solve(count, lu, pivot, l->rest);
    for (int32_t k = 0; k < count; k++) {
      double value = l->z[l->list[k]] + l->rest[k];
      l->z[l->list[k]] = value > 0 || is_free(l, l->list[k]) ? value : 0;
    }
    double now = distance(l);
    if (!(now < before)) {
      memcpy(l->z, l->column, (size_t)n * sizeof *l->z);
      return;
    }
    before = now;
  }
}

/* ---- the start ---- */

/* The largest |T_ij T_ji| over i for a wanted z_j, which decides between a pivot on j alone and on i and j together. */
static int32_t companion(const fx_lemke *l, const bool *start, int32_t j) {
  int32_t n = l->n, best = -1;
  double size = 1e-10 * l->size * l->size;
  double own = entry(l, l->place[j], -1 - l->place[n + j]);
  if (own * own > size) {
    size = 4 * own * own; /* alone, unless a pair is much better */
    best = j;
  }
  for (int32_t i = 0; i < n; i++) {
    if (i == j || !start[i] || is_free(l, i) || l->place[i] < 0) continue;
    double across = entry(l, l->place[i], -1 - l->place[n + j]), back = entry(l, l->place[j], -1 - l->place[n + i]);
    if (fabs(across * back) > size) {
      size = fabs(across * back);
      best = i;
    }
  }
  return best;
}

static void swap_in(fx_lemke *l, int32_t w, int32_t z) {
  int32_t e = -1 - l->place[l->n + z];
  read_column(l, e);
  exchange(l, l->place[w], e);
}

/* Principal pivots, alone or in pairs, bring the wanted z into the basis; those that would make it singular stay out.
 * The artificial variable then lifts every basic variable alike: d is the column that does so. */
static void advance(fx_lemke *l, const bool *start) {
  int32_t n = l->n;
  for (bool moved = true; moved;) {
    moved = false;
    for (int32_t j = 0; j < n; j++) {
      if (!start[j] || is_free(l, j) || l->place[j] < 0) continue;
      int32_t i = companion(l, start, j);
      if (i < 0) continue;
      if (i != j) {
        swap_in(l, i, j);
        /* the pair is singular after all: undo */
        if (!(fabs(entry(l, l->place[j], -1 - l->place[n + i])) > 1e-10 * l->size)) {
          int32_t e = -1 - l->place[i];
          read_column(l, e);
          exchange(l, l->place[n + j], e);
          continue;
        }
        swap_in(l, j, i);
      } else {
        swap_in(l, j, j);
      }
      moved = true;
    }
  }
  carry(l);
  for (int32_t i = 0; i < n; i++) l->z[i] = !is_free(l, i) && l->place[n + i] >= 0;
  for (int32_t i = 0; i < n; i++) l->d[i] = !is_free(l, i) && l->place[i] >= 0;
  for (int32_t c = 0; c < n; c++)
    for (int32_t k = l->M->p[c]; k < l->M->p[c + 1]; k++) l->d[l->M->i[k]] -= l->M->x[k] * l->z[c];
  for (int32_t i = 0; i < n; i++) row_of(l, i)[n] = l->basic[i] == 2 * n || !bounded(l, i) ? 0 : 1;
}

/* ---- the path ---- */

/* The row of the most negative value in units of d (of equals the last, as the lexicographic rule wants); -1: none. */
static int32_t first_row(const fx_lemke *l) {
  double least = 0;
  int32_t row = -1;
  for (int32_t i = 0; i < l->n; i++) {
    if (!bounded(l, i) || !(l->column[i] > 0) || !(l->rhs[i] < 0)) continue;
    double ratio = l->rhs[i] / l->column[i];
    if (ratio <= least) {
      least = ratio;
      row = i;
    }
  }
  return row;
}

static bool met_before(fx_lemke *l) {
  uint64_t *slot = &l->seen[l->basis % SEEN];
  bool met = *slot == l->basis;
  *slot = l->basis;
  return met;
}

static fx_lemke_end follow(fx_lemke *l, int32_t entering) {
  int64_t next_check = l->pivots + CHECK_EVERY;
  for (;;) {
    if (l->pivots >= l->pivot_limit) return FX_LEMKE_LIMIT;
    if (l->pivots >= next_check) {
      next_check = l->pivots + CHECK_EVERY;
      if (rounding(l) > lost_digits && !rebuild(l)) return FX_LEMKE_CYCLE;
      if (l->stop && l->stop(l->pivots, l->z, l->user)) return FX_LEMKE_STOPPED;
    }
    if (met_before(l)) return FX_LEMKE_CYCLE;
    int32_t e = -1 - l->place[entering];
    read_column(l, e);
    int32_t row = blocking_row(l);
    if (row < 0) return FX_LEMKE_RAY;
    int32_t leaving = l->basic[row];
    exchange(l, row, e);
    l->pivots++;
    if (leaving == 2 * l->n) return FX_LEMKE_SOLVED;
    entering = partner(l, leaving);
  }
}

/* One path, from `start` or from all w. */
static fx_lemke_end walk(fx_lemke *l, const bool *start) {
  memset(l->seen, 0, SEEN * sizeof *l->seen);
  memset(l->z, 0, (size_t)l->n * sizeof *l->z);
  for (int32_t i = 0; i < l->n; i++) l->d[i] = !is_free(l, i);
  l->basis = 0;
  reset(l);
  if (l->free_row && !eliminate_free(l)) return FX_LEMKE_SINGULAR;
  if (start) advance(l, start);
  memcpy(l->first, l->basic, (size_t)l->n * sizeof *l->first);
  read_column(l, l->n);
  int32_t row = first_row(l);
  fx_lemke_end end = FX_LEMKE_SOLVED;
  if (row >= 0) {
    int32_t leaving = l->basic[row];
    exchange(l, row, l->n);
    l->pivots++;
    end = follow(l, partner(l, leaving));
  }
  l->artificial = read_point(l);
  if (end == FX_LEMKE_RAY && l->artificial <= 1e-13 * l->scale) end = FX_LEMKE_SOLVED; /* z0 is basic, at zero */
  if (end != FX_LEMKE_SOLVED) return end;
  for (int32_t i = 0; i < l->n; i++) l->end[i] = l->place[l->n + i] >= 0;
  refine(l);
  return end;
}

/* The path of a perturbed q. */
static fx_lemke_end detour(fx_lemke *l, double size) {
  for (int32_t i = 0; i < l->n; i++)
    if (!is_free(l, i)) l->side[i] = l->q[i] + size * l->scale * (0.5 + (double)(key_of(i) >> 40) / (double)(1 << 25));
  l->tie = 1e-15;
  fx_lemke_end end = walk(l, l->start);
  memcpy(l->side, l->q, (size_t)l->n * sizeof *l->q);
  l->tie = tie;
  return end;
}

fx_lemke_end fx_lemke_run(fx_lemke *l) {
  l->pivots = l->rebuilds = 0;
  l->growth = 0;
  l->tie = tie;
  memcpy(l->side, l->q, (size_t)l->n * sizeof *l->q);
  fx_lemke_end end = walk(l, l->start);
  for (size_t k = 0; k < sizeof perturbation / sizeof *perturbation && end == FX_LEMKE_CYCLE; k++)
    end = detour(l, perturbation[k]);
  /* The end of a perturbed path, or of one that lost its digits, is a start nearby. */
  double gap = end == FX_LEMKE_SOLVED ? distance(l) : 0;
  for (int again = 0; again < 3 && gap > 1e-11 * l->scale; again++) {
    memcpy(l->best, l->z, (size_t)l->n * sizeof *l->z);
    double now = walk(l, l->end) == FX_LEMKE_SOLVED ? distance(l) : INFINITY;
    if (!(now < gap)) {
      memcpy(l->z, l->best, (size_t)l->n * sizeof *l->z);
      break;
    }
    gap = now;
  }
  return end;
}
