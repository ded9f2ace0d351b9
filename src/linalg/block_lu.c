/* Right-looking block LU: pivot k scales its column of L and updates the pairs (i, j) it reaches.
 *
 *   L_ik = A_ik D_k^-1,   A_ij -= L_ik U_kj   for all i, j that step k reaches
 *
 * U row i and L column i share one list of later steps, so one scatter of that list serves both updates. */
#include "linalg/block_lu.h"

#include "linalg/dense.h"

#include <string.h>

static int32_t size_of(const fx_block_lu *lu, int32_t step) {
  int32_t node = lu->order.node[step];
  return lu->row[node + 1] - lu->row[node];
}

/* Offsets of all blocks for the partition at hand. */
static void lay_out(fx_block_lu *lu) {
  const fx_elimination *o = &lu->order;
  lu->cost = 0;
  for (int32_t k = 0; k < o->count; k++) {
    size_t n = (size_t)size_of(lu, k), reached = 0;
    lu->diagonal[k + 1] = lu->diagonal[k] + n * n;
    for (size_t e = o->start[k]; e < o->start[k + 1]; e++) {
      size_t m = (size_t)size_of(lu, o->later[e]);
      lu->upper[e + 1] = lu->upper[e] + n * m;
      reached += m;
    }
    lu->cost += (double)n * (double)((reached + n) * (reached + n));
  }
}

frix_status fx_block_lu_analyze(fx_arena *arena, const fx_block_matrix *a, fx_block_lu *lu) {
  *lu = (fx_block_lu){.row = a->row};
  frix_status status = fx_block_order(arena, a, &lu->order);
  if (status != FRIX_OK) return status;
  const fx_elimination *o = &lu->order;
  size_t largest = 0;
  for (int32_t k = 0; k < o->count; k++)
    if ((size_t)size_of(lu, k) > largest) largest = (size_t)size_of(lu, k);
  lu->diagonal = FX_TAKE(arena, size_t, (size_t)o->count + 1);
  lu->upper = FX_TAKE(arena, size_t, o->start[o->count] + 1);
  lu->position = FX_TAKE(arena, int32_t, o->count);
  lu->work = FX_TAKE(arena, double, largest *largest + largest);
  lu->pivot = FX_TAKE(arena, int32_t, largest);
  if (!lu->diagonal || !lu->upper || !lu->position || !lu->work || !lu->pivot) return FRIX_ERROR_MEMORY;
  lay_out(lu);
  lu->D = FX_TAKE(arena, double, lu->diagonal[o->count]);
  lu->U = FX_TAKE(arena, double, lu->upper[o->start[o->count]]);
  lu->L = FX_TAKE(arena, double, lu->upper[o->start[o->count]]);
  return lu->D && lu->U && lu->L ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* Copies A + shift I into D, U and L. */
static void load(fx_block_lu *lu, const fx_block_matrix *a, double shift) {
  const fx_elimination *o = &lu->order;
  memset(lu->D, 0, lu->diagonal[o->count] * sizeof *lu->D);
  memset(lu->U, 0, lu->upper[o->start[o->count]] * sizeof *lu->U);
  memset(lu->L, 0, lu->upper[o->start[o->count]] * sizeof *lu->L);
  /* A row of A feeds U of its own step and, block by block, L of earlier steps: find each by bisection. */
  for (int32_t i = 0; i < a->row_blocks; i++) {
    int32_t si = o->step[i];
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
      int32_t sj = o->step[a->index[k]], low = si < sj ? si : sj, high = si < sj ? sj : si;
      size_t bytes = (size_t)(fx_block_rows(a, i) * fx_block_cols(a, k)) * sizeof(double);
      if (si == sj) {
        memcpy(lu->D + lu->diagonal[si], fx_block(a, k), bytes);
        continue;
      }
      size_t first = o->start[low], last = o->start[low + 1];
      while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (o->later[middle] < high)
          first = middle + 1;
        else
          last = middle;
      }
      memcpy((si < sj ? lu->U : lu->L) + lu->upper[first], fx_block(a, k), bytes);
    }
  }
  for (int32_t k = 0; k < o->count; k++) {
    int32_t n = size_of(lu, k);
    for (int32_t e = 0; e < n; e++) lu->D[lu->diagonal[k] + (size_t)(e * (n + 1))] += shift;
  }
}

/* c -= a b, row-major, a m x k, b k x n; inlined with constant sizes for the common blocks. */
static inline void subtract_sized(int32_t m, int32_t n, int32_t k, const double *restrict a, const double *restrict b,
                                  double *restrict c) {
  for (int32_t i = 0; i < m; i++)
    for (int32_t e = 0; e < k; e++) {
      double factor = a[i * k + e];
      for (int32_t j = 0; j < n; j++) c[i * n + j] -= factor * b[e * n + j];
    }
}

static void subtract_product(int32_t m, int32_t n, int32_t k, const double *a, const double *b, double *c) {
  if (m == 3 && n == 3 && k == 3)
    subtract_sized(3, 3, 3, a, b, c);
  else if (m == 6 && n == 6 && k == 6)
    subtract_sized(6, 6, 6, a, b, c);
  else
    subtract_sized(m, n, k, a, b, c);
}

/* inverse of a factored block, column by column */
static void invert(int32_t n, const double *lu, const int32_t *pivot, double *column, double *inverse) {
  for (int32_t c = 0; c < n; c++) {
    for (int32_t r = 0; r < n; r++) column[r] = r == c;
    fx_lu_solve(n, lu, pivot, column);
    for (int32_t r = 0; r < n; r++) inverse[r * n + c] = column[r];
  }
}

static void update_from(fx_block_lu *lu, int32_t k, bool symmetric) {
  const fx_elimination *o = &lu->order;
  int32_t n = size_of(lu, k);
  for (size_t e = o->start[k]; e < o->start[k + 1]; e++) {
    int32_t i = o->later[e], m = size_of(lu, i);
    if (m == 0) continue;
    const double *L_ik = lu->L + lu->upper[e], *U_ki = lu->U + lu->upper[e];
    subtract_product(m, m, n, L_ik, U_ki, lu->D + lu->diagonal[i]);
    for (size_t f = o->start[i]; f < o->start[i + 1]; f++) lu->position[o->later[f]] = (int32_t)(f - o->start[i]);
    for (size_t f = e + 1; f < o->start[k + 1]; f++) {
      int32_t j = o->later[f], p = size_of(lu, j);
      size_t target = lu->upper[o->start[i] + (size_t)lu->position[j]];
      subtract_product(m, p, n, L_ik, lu->U + lu->upper[f], lu->U + target);
      if (!symmetric) subtract_product(p, m, n, lu->L + lu->upper[f], U_ki, lu->L + target);
    }
  }
}

/* L_ik := A_ik D_k^-1, with A_ik = U_ki' where A is symmetric. */
static void scale_column(fx_block_lu *lu, int32_t k, bool symmetric, double *row) {
  const fx_elimination *o = &lu->order;
  int32_t n = size_of(lu, k);
  const double *D = lu->D + lu->diagonal[k];
  for (size_t e = o->start[k]; e < o->start[k + 1]; e++) {
    double *block = lu->L + lu->upper[e];
    const double *mirror = lu->U + lu->upper[e];
    int32_t m = size_of(lu, o->later[e]);
    for (int32_t i = 0; i < m; i++) {
      for (int32_t c = 0; c < n; c++) row[c] = symmetric ? mirror[c * m + i] : block[i * n + c];
      for (int32_t j = 0; j < n; j++) {
        double sum = 0;
        for (int32_t c = 0; c < n; c++) sum += row[c] * D[c * n + j];
        block[i * n + j] = sum;
      }
    }
  }
}

bool fx_block_lu_factor(fx_block_lu *lu, const fx_block_matrix *a, double shift, bool symmetric) {
  const fx_elimination *o = &lu->order;
  lu->row = a->row;
  lay_out(lu);
  load(lu, a, shift);
  for (int32_t k = 0; k < o->count; k++) {
    int32_t n = size_of(lu, k);
    if (n == 0) continue;
    double *D = lu->D + lu->diagonal[k], *inverse = lu->work, *row = lu->work + n * n;
    if (!fx_lu_factor(n, D, lu->pivot)) return false;
    invert(n, D, lu->pivot, row, inverse);
    memcpy(D, inverse, (size_t)(n * n) * sizeof *D); /* from here on D holds D_k^-1 */
    scale_column(lu, k, symmetric, row);
    update_from(lu, k, symmetric);
  }
  return true;
}

void fx_block_lu_solve(const fx_block_lu *lu, double *x) {
  const fx_elimination *o = &lu->order;
  /* Forward: L y = x, by columns. */
  for (int32_t k = 0; k < o->count; k++) {
    const double *y = x + lu->row[o->node[k]];
    int32_t n = size_of(lu, k);
    for (size_t e = o->start[k]; e < o->start[k + 1]; e++) {
      double *to = x + lu->row[o->node[o->later[e]]];
      const double *block = lu->L + lu->upper[e];
      for (int32_t i = 0; i < size_of(lu, o->later[e]); i++)
        for (int32_t j = 0; j < n; j++) to[i] -= block[i * n + j] * y[j];
    }
  }
  /* Backward: D U x = y, by rows. */
  for (int32_t k = o->count - 1; k >= 0; k--) {
    double *y = x + lu->row[o->node[k]], *rest = lu->work;
    int32_t n = size_of(lu, k);
    memcpy(rest, y, (size_t)n * sizeof *rest);
    for (size_t e = o->start[k]; e < o->start[k + 1]; e++) {
      const double *from = x + lu->row[o->node[o->later[e]]], *block = lu->U + lu->upper[e];
      int32_t m = size_of(lu, o->later[e]);
      for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < m; j++) rest[i] -= block[i * m + j] * from[j];
    }
    for (int32_t i = 0; i < n; i++) {
      y[i] = 0;
      for (int32_t j = 0; j < n; j++) y[i] += lu->D[lu->diagonal[k] + (size_t)(i * n + j)] * rest[j];
    }
  }
}
