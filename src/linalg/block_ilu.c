/* Block preconditioners. */
#include "linalg/block_ilu.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

frix_status fx_block_ilu_take(fx_arena *arena, const fx_block_matrix *a, fx_block_ilu *out) {
  *out = (fx_block_ilu){.a = a, .at = FX_TAKE(arena, size_t, (size_t)a->row_blocks + 1)};
  if (!out->at) return FRIX_ERROR_MEMORY;
  size_t widest = 1;
  for (int32_t i = 0; i < a->row_blocks; i++) {
    size_t n = (size_t)fx_block_rows(a, i);
    out->at[i + 1] = out->at[i] + n * n;
    if (n > widest) widest = n;
  }
  out->inverse = FX_TAKE_RAW(arena, double, out->at[a->row_blocks]);
  out->half = widest * widest;
  out->work = FX_TAKE_RAW(arena, double, 2 * out->half);
  out->pivot = FX_TAKE_RAW(arena, int32_t, widest);
  return out->inverse && out->work && out->pivot ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* The inverse of the n x n block d, which is lost. */
static bool invert(fx_block_ilu *ilu, int32_t n, double *d, double *inverse) {
  double *column = ilu->work;
  if (!fx_lu_factor(n, d, ilu->pivot)) return false;
  for (int32_t c = 0; c < n; c++) {
    for (int32_t r = 0; r < n; r++) column[r] = r == c;
    fx_lu_solve(n, d, ilu->pivot, column);
    for (int32_t r = 0; r < n; r++) inverse[r * n + c] = column[r];
  }
  return true;
}

/* d -= A_ik D_k^-1 A_ki */
static void subtract_triple(fx_block_ilu *ilu, int32_t n, int32_t m, const double *aik, const double *dk,
                            const double *aki, double *d) {
  double *product = ilu->work; /* A_ik D_k^-1, n x m; d lies behind it */
  for (int32_t r = 0; r < n; r++)
    for (int32_t c = 0; c < m; c++) {
      double sum = 0;
      for (int32_t e = 0; e < m; e++) sum += aik[r * m + e] * dk[e * m + c];
      product[r * m + c] = sum;
    }
  for (int32_t r = 0; r < n; r++)
    for (int32_t e = 0; e < m; e++)
      for (int32_t c = 0; c < n; c++) d[r * n + c] -= product[r * m + e] * aki[e * n + c];
}

/* Whether the diagonal of a block stays positive: what a preconditioner of a positive matrix must keep. */
static bool positive(int32_t n, const double *d, const double *original) {
  for (int32_t k = 0; k < n; k++)
    if (!(d[k * (n + 1)] > 1e-3 * original[k * (n + 1)])) return false;
  return true;
}

static bool factor(fx_block_ilu *ilu, bool diagonal_only) {
  const fx_block_matrix *a = ilu->a;
  ilu->diagonal_only = diagonal_only;
  for (int32_t i = 0; i < a->row_blocks; i++) {
    int32_t n = fx_block_rows(a, i);
    double *d = ilu->work + ilu->half;
    const double *own = fx_block_at(a, i, i);
    if (!own) return false;
    memcpy(d, own, (size_t)(n * n) * sizeof *d);
    for (int32_t k = a->start[i]; k < a->start[i + 1] && a->index[k] < i && !diagonal_only; k++) {
      const double *mirror = fx_block_at(a, a->index[k], i);
      if (mirror)
        subtract_triple(ilu, n, fx_block_cols(a, k), fx_block(a, k), ilu->inverse + ilu->at[a->index[k]], mirror, d);
    }
    if (!positive(n, d, own) && !diagonal_only) return false;
    if (!invert(ilu, n, d, ilu->inverse + ilu->at[i])) return false;
  }
  return true;
}

bool fx_block_ilu_factor(fx_block_ilu *ilu, bool diagonal_only) {
  if (factor(ilu, diagonal_only)) return true;
  return !diagonal_only && factor(ilu, true);
}

/* y := D_i^-1 x for one block. */
static inline void apply_inverse(int32_t n, const double *inverse, const double *x, double *y) {
  for (int32_t r = 0; r < n; r++) {
    double sum = 0;
    for (int32_t c = 0; c < n; c++) sum += inverse[r * n + c] * x[c];
    y[r] = sum;
  }
}

/* rest -= A_ik y_k */
static inline void subtract_block(int32_t m, int32_t n, const double *block, const double *y, double *rest) {
  for (int32_t r = 0; r < m; r++) {
    double sum = 0;
    for (int32_t c = 0; c < n; c++) sum += block[r * n + c] * y[c];
    rest[r] -= sum;
  }
}

/* Row i of the sweep: what the blocks of one side contribute. Rigid bodies have loops of constant length. */
static void gather(const fx_block_matrix *a, int32_t i, bool before, const double *y, double *rest) {
  int32_t m = fx_block_rows(a, i);
  for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
    int32_t j = a->index[k], n = fx_block_cols(a, k);
    if (before ? j >= i : j <= i) continue;
    if (m == 6 && n == 6)
      subtract_block(6, 6, fx_block(a, k), y + a->col[j], rest);
    else
      subtract_block(m, n, fx_block(a, k), y + a->col[j], rest);
  }
}

void fx_block_ilu_solve(const fx_block_ilu *ilu, const double *x, double *y) {
  const fx_block_matrix *a = ilu->a;
  double *rest = ilu->work;
  for (int32_t i = 0; i < a->row_blocks; i++) {
    int32_t n = fx_block_rows(a, i);
    memcpy(rest, x + a->row[i], (size_t)n * sizeof *rest);
    if (!ilu->diagonal_only) gather(a, i, true, y, rest);
    apply_inverse(n, ilu->inverse + ilu->at[i], rest, y + a->row[i]);
  }
  if (ilu->diagonal_only) return;
  /* x = y - D^-1 U x */
  for (int32_t i = a->row_blocks - 1; i >= 0; i--) {
    int32_t n = fx_block_rows(a, i);
    double *move = rest + n;
    memset(rest, 0, (size_t)n * sizeof *rest);
    gather(a, i, false, y, rest);
    apply_inverse(n, ilu->inverse + ilu->at[i], rest, move);
    for (int32_t r = 0; r < n; r++) y[a->row[i] + r] += move[r];
  }
}
