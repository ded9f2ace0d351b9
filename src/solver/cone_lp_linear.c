/* The linear systems of conic linear programmes, by their normal equations:
 *
 *   X^-1 x + A'y = rx,  a . y = rt,  A x + a t = ry
 *   N y = A X rx - ry + a t,   N = sum over units of A_i X_i A_i',   x = X (rx - A'y),   t from a . y = rt
 *
 * X_i is given: the square of a Nesterov-Todd scaling, or 1 / FREE of a unit without a cone, whose X^-1 is zero. N is
 * made regular by a small multiple of its diagonal; refinement against the equations themselves takes the error of both
 * out again. Reference: S. J. Wright, Primal-dual interior-point methods, 1997, chapter 11. */
#include "base/sort.h"
#include "solver/cone_lp.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

#define FREE 1e-8         /* X^-1 of a variable without a cone, beside others of about 1 */
#define REGULAR 1e-16     /* of the diagonal of N */
#define REGULAR_ALL 1e-18 /* of the largest of it */
#define UNREACHED 1e-5    /* of b: less of it outside the range of A is none */

enum { REFINEMENTS = 12 };

/* ---- structure ---- */

/* Nodes that share a unit, and the place in N of every pair of nodes of every unit. */
static frix_status find_pattern(fx_arena *arena, fx_cone_lp *lp) {
  const fx_block_matrix *At = &lp->At;
  int32_t *first = NULL, *list = NULL, nodes = lp->node_count;
  frix_status status = fx_block_columns(arena, At, &first, &list);
  if (status != FRIX_OK) return status;
  int32_t *seen = FX_TAKE(arena, int32_t, nodes), *start = FX_TAKE(arena, int32_t, (size_t)nodes + 1), *index = NULL;
  if (!seen || !start) return FRIX_ERROR_MEMORY;
  for (int pass = 0; pass < 2; pass++) { /* count, then list */
    memset(seen, 0, (size_t)nodes * sizeof *seen);
    for (int32_t m = 0; m < nodes; m++) {
      int32_t count = 1;
      seen[m] = m + 1;
      if (pass) index[start[m]] = m;
      for (int32_t e = first[m]; e < first[m + 1]; e++)
        for (int32_t k = At->start[list[e]]; k < At->start[list[e] + 1]; k++) {
          if (seen[At->index[k]] == m + 1) continue;
          seen[At->index[k]] = m + 1;
          if (pass) index[start[m] + count] = At->index[k];
          count++;
        }
      if (pass)
        fx_sort(index + start[m], (size_t)count);
      else
        start[m + 1] = start[m] + count;
    }
    if (!pass && !(index = FX_TAKE(arena, int32_t, start[nodes]))) return FRIX_ERROR_MEMORY;
  }
  return fx_block_from_pattern(arena, nodes, lp->row, nodes, lp->row, start, index, &lp->N);
}

static frix_status find_targets(fx_arena *arena, fx_cone_lp *lp) {
  const fx_block_matrix *At = &lp->At;
  lp->target_start = FX_TAKE(arena, size_t, (size_t)lp->unit_count + 1);
  if (!lp->target_start) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < lp->unit_count; i++) {
    size_t c = (size_t)(At->start[i + 1] - At->start[i]);
    lp->target_start[i + 1] = lp->target_start[i] + c * c;
  }
  lp->target = FX_TAKE(arena, int32_t, lp->target_start[lp->unit_count]);
  if (!lp->target) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < lp->unit_count; i++) {
    int32_t *to = lp->target + lp->target_start[i];
    for (int32_t a = At->start[i]; a < At->start[i + 1]; a++)
      for (int32_t b = At->start[i]; b < At->start[i + 1]; b++) {
        int32_t k = lp->N.start[At->index[a]];
        while (lp->N.index[k] != At->index[b]) k++;
        *to++ = k;
      }
  }
  return FRIX_OK;
}

frix_status fx_cone_lp_take_linear(fx_arena *arena, double most_cost, fx_cone_lp *lp, bool *affordable) {
  int32_t widest = 1, units = lp->unit_count;
  for (int32_t m = 0; m < lp->node_count; m++)
    if (lp->row[m + 1] - lp->row[m] > widest) widest = lp->row[m + 1] - lp->row[m];
  lp->square = FX_TAKE(arena, size_t, (size_t)units + 1);
  if (!lp->square) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < units; i++) {
    size_t d = (size_t)(lp->first[i + 1] - lp->first[i]);
    lp->square[i + 1] = lp->square[i] + d * d;
  }
  lp->X = FX_TAKE(arena, double, lp->square[units]);
  lp->product = FX_TAKE(arena, double, 6 * (size_t)widest);
  lp->reach = FX_TAKE(arena, double, lp->row_count);
  lp->sum = FX_TAKE(arena, double, lp->variable_count);
  lp->ex = FX_TAKE(arena, double, lp->variable_count);
  lp->e = FX_TAKE(arena, double, lp->row_count);
  lp->y_keep = FX_TAKE(arena, double, lp->row_count);
  lp->x_keep = FX_TAKE(arena, double, lp->variable_count);
  bool good = lp->X && lp->product && lp->reach && lp->sum && lp->ex && lp->e && lp->x_keep && lp->y_keep;
  if (!good) return FRIX_ERROR_MEMORY;
  frix_status status = find_pattern(arena, lp);
  if (status == FRIX_OK) status = find_targets(arena, lp);
  if (status == FRIX_OK) status = fx_block_lu_analyze_within(arena, &lp->N, FX_ORDER_OWN, most_cost, &lp->lu);
  *affordable = status == FRIX_OK && lp->lu.L;
  return status;
}

/* ---- products ---- */

void fx_cone_lp_times(const fx_cone_lp *lp, const double *x, double t, double *out) {
  for (int32_t k = 0; k < lp->row_count; k++) out[k] = lp->a ? lp->a[k] * t : 0;
  fx_block_transpose_multiply_add(&lp->At, x, out);
}

void fx_cone_lp_transposed(const fx_cone_lp *lp, const double *y, double *out) {
  memset(out, 0, (size_t)lp->variable_count * sizeof *out);
  fx_block_multiply_add(&lp->At, y, out);
}

/* out = X x of every unit; x and out differ */
static void times_X(const fx_cone_lp *lp, const double *x, double *out) {
  for (int32_t i = 0; i < lp->unit_count; i++) {
    int32_t d = lp->first[i + 1] - lp->first[i];
    const double *X = lp->X + lp->square[i], *from = x + lp->first[i];
    double *to = out + lp->first[i];
    for (int32_t r = 0; r < d; r++) {
      to[r] = 0;
      for (int32_t c = 0; c < d; c++) to[r] += X[r * d + c] * from[c];
    }
  }
}

/* ---- factors ---- */

#define INLINE static inline __attribute__((always_inline))

/* product = X h; inlined with the sizes of contacts of rigid bodies. */
INLINE void take_product(int32_t d, int32_t width, const double *X, const double *h, double *restrict product) {
  for (int32_t r = 0; r < d; r++)
    for (int32_t c = 0; c < width; c++) {
      double sum = 0;
      for (int32_t e = 0; e < d; e++) sum += X[r * d + e] * h[e * width + c];
      product[r * width + c] = sum;
    }
}

/* to += g' product */
INLINE void add_product(int32_t d, int32_t height, int32_t width, const double *g, const double *product,
                        double *restrict to) {
  for (int32_t r = 0; r < height; r++)
    for (int32_t c = 0; c < width; c++) {
      double sum = to[r * width + c];
      for (int32_t e = 0; e < d; e++) sum += g[e * height + r] * product[e * width + c];
      to[r * width + c] = sum;
    }
}

static void add_unit(fx_cone_lp *lp, int32_t i) {
  const fx_block_matrix *At = &lp->At;
  int32_t d = lp->first[i + 1] - lp->first[i], first = At->start[i], count = At->start[i + 1] - first;
  const double *X = lp->X + lp->square[i];
  for (int32_t b = 0; b < count; b++) {
    const double *h = fx_block(At, first + b);
    int32_t width = fx_block_cols(At, first + b);
    bool rigid = d == 3 && width == 6;
    if (rigid)
      take_product(3, 6, X, h, lp->product);
    else
      take_product(d, width, X, h, lp->product);
    for (int32_t a = 0; a < count; a++) {
      double *to = fx_block(&lp->N, lp->target[lp->target_start[i] + (size_t)(a * count + b)]);
      const double *g = fx_block(At, first + a);
      int32_t height = fx_block_cols(At, first + a);
      if (rigid && height == 6)
        add_product(3, 6, 6, g, lp->product, to);
      else
        add_product(d, height, width, g, lp->product, to);
    }
  }
}

static void assemble(fx_cone_lp *lp) {
  memset(lp->N.x, 0, lp->N.offset[lp->N.start[lp->node_count]] * sizeof *lp->N.x);
  for (int32_t i = 0; i < lp->unit_count; i++) {
    int32_t d = lp->first[i + 1] - lp->first[i];
    double *X = lp->X + lp->square[i];
    for (int32_t k = 0; lp->free[i] && !lp->definite && k < d * d; k++) X[k] = k % (d + 1) == 0 ? 1 / FREE : 0;
    add_unit(lp, i);
  }
}

static double largest_diagonal(const fx_cone_lp *lp) {
  double most = 0;
  for (int32_t m = 0; m < lp->node_count; m++) {
    int32_t n = lp->row[m + 1] - lp->row[m];
    const double *block = fx_block_at(&lp->N, m, m);
    for (int32_t k = 0; k < n; k++) most = fmax(most, block[k * (n + 1)]);
  }
  return most;
}

/* Rows that no unit reaches keep y = 0. */
static void regularise(fx_cone_lp *lp, double factor) {
  double most = largest_diagonal(lp);
  for (int32_t m = 0; m < lp->node_count; m++) {
    int32_t n = lp->row[m + 1] - lp->row[m];
    double *block = fx_block_at(&lp->N, m, m);
    for (int32_t k = 0; k < n; k++) {
      double *d = &block[k * (n + 1)];
      *d += *d > 0 ? factor * (REGULAR * *d + REGULAR_ALL * most) : 1;
    }
  }
}

bool fx_cone_lp_factor(fx_cone_lp *lp) {
  if (lp->careful) return fx_cone_lp_factor_careful(lp);
  bool good = false;
  for (double factor = 1; !good && factor < 1e7; factor *= 100) {
    assemble(lp);
    regularise(lp, factor);
    good = fx_block_lu_factor(&lp->lu, &lp->N, 0, true);
  }
  if (!good || !lp->a) return good;
  memcpy(lp->reach, lp->a, (size_t)lp->row_count * sizeof *lp->a);
  fx_block_lu_solve(&lp->lu, lp->reach);
  lp->reach_a = fx_dot(lp->row_count, lp->a, lp->reach);
  return lp->reach_a > 0 && isfinite(lp->reach_a);
}

/* ---- what nothing reaches ---- */

/* v := v - A (A'A + shift)^-1 ..., until what is left is not in the range of A. */
static void take_out_range(fx_cone_lp *lp, double *v) {
  enum { ROUNDS = 8 };
  for (int round = 0; round < ROUNDS; round++) {
    memcpy(lp->e, v, (size_t)lp->row_count * sizeof *v);
    fx_block_lu_solve(&lp->lu, lp->e);
    fx_cone_lp_transposed(lp, lp->e, lp->sum);
    memset(lp->e, 0, (size_t)lp->row_count * sizeof *v);
    fx_block_transpose_multiply_add(&lp->At, lp->sum, lp->e);
    for (int32_t k = 0; k < lp->row_count; k++) v[k] -= lp->e[k];
  }
}

bool fx_cone_lp_unreached(fx_cone_lp *lp) {
  int32_t m = lp->row_count;
  double *a = lp->y_keep, square = fx_dot(m, lp->b, lp->b);
  for (int32_t i = 0; i < lp->unit_count; i++) {
    int32_t d = lp->first[i + 1] - lp->first[i];
    for (int32_t k = 0; k < d * d; k++) lp->X[lp->square[i] + (size_t)k] = k % (d + 1) == 0;
  }
  lp->definite = true;
  assemble(lp);
  lp->definite = false;
  if (!fx_block_lu_factor(&lp->lu, &lp->N, UNREACHED * UNREACHED * largest_diagonal(lp), true)) return false;
  memcpy(lp->y, lp->b, (size_t)m * sizeof *lp->y);
  take_out_range(lp, lp->y);
  if (lp->a) { /* t reaches along a */
    memcpy(a, lp->a, (size_t)m * sizeof *a);
    take_out_range(lp, a);
    double length = fx_dot(m, a, a), part = fx_dot(m, a, lp->y);
    for (int32_t k = 0; k < m && length > UNREACHED * UNREACHED * fx_dot(m, lp->a, lp->a); k++)
      lp->y[k] -= part / length * a[k];
  }
  for (int32_t k = 0; k < m; k++) lp->y[k] = -lp->y[k];
  return fx_dot(m, lp->y, lp->y) > UNREACHED * UNREACHED * square;
}

/* ---- solutions ---- */

/* The solution for ex, et and e, once, by the normal equations: dx in sum, dy in e. */
static double solve_once(fx_cone_lp *lp, double *ex, double et, double *e) {
  int32_t n = lp->variable_count, m = lp->row_count;
  double dt = 0;
  times_X(lp, ex, lp->sum);
  for (int32_t k = 0; k < m; k++) e[k] = -e[k];
  fx_block_transpose_multiply_add(&lp->At, lp->sum, e);
  fx_block_lu_solve(&lp->lu, e);
  if (lp->a) {
    dt = (et - fx_dot(m, lp->a, e)) / lp->reach_a;
    for (int32_t k = 0; k < m; k++) e[k] += dt * lp->reach[k];
  }
  fx_cone_lp_transposed(lp, e, lp->sum);
  for (int32_t k = 0; k < n; k++) ex[k] -= lp->sum[k];
  times_X(lp, ex, lp->sum);
  return dt;
}

/* x, t, y += the solution for ex, et and e; both vectors are lost. */
static void add_solution(fx_cone_lp *lp, double *ex, double et, double *e, double *x, double *t, double *y) {
  double dt;
  if (lp->careful)
    fx_cone_lp_solve_careful(lp, ex, et, e, lp->sum, &dt, e);
  else
    dt = solve_once(lp, ex, et, e);
  for (int32_t k = 0; k < lp->variable_count; k++) x[k] += lp->sum[k];
  for (int32_t k = 0; k < lp->row_count; k++) y[k] += e[k];
  *t += dt;
}

/* What x, t, y miss: e = ry - A x - a t, *et = rt - a . y, ex = rx - A'y of units without a cone. X^-1 x is not looked
 * at elsewhere: x changes by X g, whatever the rounding of g. Returns the sum of squares. */
static double misfit(fx_cone_lp *lp, const double *rx, double rt, const double *ry, const double *x, double t,
                     const double *y, double *ex, double *et, double *e) {
  double sum = 0;
  fx_cone_lp_times(lp, x, t, e);
  for (int32_t k = 0; k < lp->row_count; k++) e[k] = ry[k] - e[k];
  *et = lp->a ? rt - fx_dot(lp->row_count, lp->a, y) : 0;
  fx_cone_lp_transposed(lp, y, lp->sum);
  for (int32_t i = 0; i < lp->unit_count; i++)
    for (int32_t k = lp->first[i]; k < lp->first[i + 1]; k++) {
      ex[k] = lp->free[i] && !lp->definite ? (rx ? rx[k] : 0) - lp->sum[k] : 0;
      sum += ex[k] * ex[k];
    }
  return sum + *et * *et + fx_dot(lp->row_count, e, e);
}

void fx_cone_lp_kkt(fx_cone_lp *lp, const double *rx, double rt, const double *ry, double *x, double *t, double *y) {
  size_t n = (size_t)lp->variable_count * sizeof *x, m = (size_t)lp->row_count * sizeof *y;
  double et = rt, best = INFINITY, t_keep = 0;
  memset(x, 0, n);
  memset(y, 0, m);
  *t = 0;
  memset(lp->ex, 0, n);
  if (rx) memcpy(lp->ex, rx, n);
  memcpy(lp->e, ry, m);
  for (int round = 0; round < REFINEMENTS; round++) {
    memcpy(lp->x_keep, x, n);
    memcpy(lp->y_keep, y, m);
    t_keep = *t;
    add_solution(lp, lp->ex, et, lp->e, x, t, y);
    double error = misfit(lp, rx, rt, ry, x, *t, y, lp->ex, &et, lp->e);
    if (!(error < best)) { /* what it added was rounding */
      memcpy(x, lp->x_keep, n);
      memcpy(y, lp->y_keep, m);
      *t = t_keep;
      break;
    }
    bool done = error > 0.25 * best;
    best = error;
    if (done || error == 0) break;
  }
}
