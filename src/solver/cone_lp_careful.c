/* The linear systems of conic linear programmes where their normal equations are lost to rounding: the whole system, in
 * the scaled unknowns x = W s,
 *
 *   s + W A'y = W rx,   A W s - delta y + a t = ry,   a . y = rt            (without a cone: A'y = rx, W = 1)
 *
 * by sparse LU with pivots. N squares the condition of A W, this does not; it costs more. delta makes dependent rows
 * harmless and is refined away. */
#include "solver/cone_lp.h"
#include "solver/conic.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

#define DELTA 1e-14
#define THRESHOLD 1e-11 /* a diagonal pivot may be so much smaller than the largest: hardly any fill */
#define LARGEST 1e-1

/* ---- structure ---- */

/* Columns: variables, rows, t. A row's column holds, unit by unit of its node, the unit's variables. */
static void list_columns(fx_cone_lp *lp, bool fill) {
  const fx_block_matrix *At = &lp->At;
  int32_t n = lp->variable_count, at = 0, *p = lp->full_p, *i = lp->full_i;
  for (int32_t u = 0; u < lp->unit_count; u++)
    for (int32_t k = lp->first[u]; k < lp->first[u + 1]; k++) {
      if (fill) i[at] = k;
      at++;
      for (int32_t b = At->start[u]; b < At->start[u + 1]; b++)
        for (int32_t r = At->col[At->index[b]]; r < At->col[At->index[b] + 1]; r++, at++)
          if (fill) i[at] = n + r;
      p[k + 1] = at;
    }
  for (int32_t m = 0; m < lp->node_count; m++)
    for (int32_t r = lp->row[m]; r < lp->row[m + 1]; r++) {
      for (int32_t e = lp->node_start[m]; e < lp->node_start[m + 1]; e++)
        for (int32_t k = lp->first[lp->node_unit[e]]; k < lp->first[lp->node_unit[e] + 1]; k++, at++)
          if (fill) i[at] = k;
      if (fill) i[at] = n + r;
      at++;
      if (lp->a && fill) i[at] = n + lp->row_count;
      if (lp->a) at++;
      p[n + r + 1] = at;
    }
  for (int32_t r = 0; lp->a && r < lp->row_count; r++, at++)
    if (fill) i[at] = n + r;
  if (lp->a) p[n + lp->row_count + 1] = at;
}

frix_status fx_cone_lp_be_careful(fx_arena *arena, fx_cone_lp *lp) {
  lp->careful = true;
  lp->threshold = THRESHOLD;
  int32_t size = lp->variable_count + lp->row_count + (lp->a ? 1 : 0);
  frix_status status = fx_block_columns(arena, &lp->At, &lp->node_start, &lp->node_unit);
  if (status != FRIX_OK) return status;
  lp->full_p = FX_TAKE(arena, int32_t, (size_t)size + 1);
  lp->full_b = FX_TAKE(arena, double, size);
  lp->B = FX_TAKE(arena, double, lp->At.offset[lp->At.start[lp->unit_count]]);
  if (!lp->full_p || !lp->full_b || !lp->B) return FRIX_ERROR_MEMORY;
  list_columns(lp, false);
  lp->full_i = FX_TAKE(arena, int32_t, lp->full_p[size]);
  lp->full_x = FX_TAKE(arena, double, lp->full_p[size]);
  if (!lp->full_i || !lp->full_x) return FRIX_ERROR_MEMORY;
  list_columns(lp, true);
  return fx_sparse_lu_analyze(arena, size, lp->full_p, lp->full_i, &lp->full);
}

bool fx_cone_lp_more_careful(fx_cone_lp *lp) {
  if (!lp->careful || lp->threshold >= LARGEST) return false;
  lp->threshold *= 1e5;
  return true;
}

void fx_cone_lp_free(fx_cone_lp *lp) { fx_sparse_lu_free(&lp->full); }

/* ---- factors ---- */

/* B_i = W_i A_i' of a unit */
static void scale_unit(fx_cone_lp *lp, int32_t u) {
  const fx_block_matrix *At = &lp->At;
  int32_t d = lp->first[u + 1] - lp->first[u];
  for (int32_t b = At->start[u]; b < At->start[u + 1]; b++) {
    int32_t width = fx_block_cols(At, b);
    const double *from = fx_block(At, b);
    double *to = lp->B + At->offset[b];
    for (int32_t c = 0; c < width; c++) {
      double column[6], out[6];
      for (int32_t k = 0; k < d; k++) column[k] = out[k] = from[k * width + c];
      if (!lp->free[u]) fx_soc_apply(d, lp->w + lp->first[u], lp->eta[u], column, out);
      for (int32_t k = 0; k < d; k++) to[k * width + c] = out[k];
    }
  }
}

static void fill_values(fx_cone_lp *lp) {
  const fx_block_matrix *At = &lp->At;
  double *x = lp->full_x;
  for (int32_t u = 0; u < lp->unit_count; u++)
    for (int32_t k = 0; k < lp->first[u + 1] - lp->first[u]; k++) {
      *x++ = lp->free[u] ? 0 : 1;
      for (int32_t b = At->start[u]; b < At->start[u + 1]; b++) {
        int32_t width = fx_block_cols(At, b);
        for (int32_t c = 0; c < width; c++) *x++ = lp->B[At->offset[b] + (size_t)(k * width + c)];
      }
    }
  for (int32_t m = 0; m < lp->node_count; m++) {
    int32_t width = lp->row[m + 1] - lp->row[m];
    for (int32_t c = 0; c < width; c++) {
      for (int32_t e = lp->node_start[m]; e < lp->node_start[m + 1]; e++) {
        int32_t u = lp->node_unit[e], b = At->start[u];
        while (At->index[b] != m) b++;
        for (int32_t k = 0; k < lp->first[u + 1] - lp->first[u]; k++)
          *x++ = lp->B[At->offset[b] + (size_t)(k * width + c)];
      }
      *x++ = -DELTA;
      if (lp->a) *x++ = lp->a[lp->row[m] + c];
    }
  }
  for (int32_t r = 0; lp->a && r < lp->row_count; r++) *x++ = lp->a[r];
}

bool fx_cone_lp_factor_careful(fx_cone_lp *lp) {
  bool singular = false;
  for (int32_t u = 0; u < lp->unit_count; u++) scale_unit(lp, u);
  fill_values(lp);
  return fx_sparse_lu_factor(&lp->full, lp->full_x, lp->threshold, &singular) == FRIX_OK && !singular;
}

/* ---- solutions ---- */

/* a := W a of every unit */
static void times_W(const fx_cone_lp *lp, double *a) {
  for (int32_t u = 0; u < lp->unit_count; u++) {
    int32_t d = lp->first[u + 1] - lp->first[u], at = lp->first[u];
    double out[3];
    if (lp->free[u]) continue;
    fx_soc_apply(d, lp->w + at, lp->eta[u], a + at, out);
    memcpy(a + at, out, (size_t)d * sizeof *out);
  }
}

void fx_cone_lp_solve_careful(fx_cone_lp *lp, const double *rx, double rt, const double *ry, double *x, double *t,
                              double *y) {
  int32_t n = lp->variable_count, m = lp->row_count;
  double *z = lp->full_b;
  memcpy(z, rx, (size_t)n * sizeof *z);
  times_W(lp, z);
  memcpy(z + n, ry, (size_t)m * sizeof *z);
  if (lp->a) z[n + m] = rt;
  fx_sparse_lu_solve(&lp->full, z);
  memcpy(x, z, (size_t)n * sizeof *x);
  times_W(lp, x);
  memcpy(y, z + n, (size_t)m * sizeof *y);
  *t = lp->a ? z[n + m] : 0;
}
