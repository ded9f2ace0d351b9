/* Linear systems of the convex methods: (A + D) x = b with A = S (W + R) S and D block diagonal.
 *
 *   contact space    LU of A + D + reg                                       as many unknowns as rows
 *   velocity space   x = P (b - H' v),  (M + H P H') v = H P b,  P = (R + D + reg)^-1      as many as bodies have
 *
 * The second, by Woodbury's identity, stays regular under redundant contacts. reg keeps both regular where D vanishes
 * (joints, sticking contacts); the solution is then refined against the matrix without it. */
#include "linalg/dense.h"
#include "solver/conic.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

/* ---- structure ---- */

/* Movers that share a contact, and the diagonal: the pattern of M + H P H'. */
static frix_status mover_pattern(fx_arena *arena, const fx_system *s, fx_block_matrix *K) {
  int32_t *first, *list, n = s->mover_count;
  frix_status status = fx_block_columns(arena, &s->Ht, &first, &list);
  if (status != FRIX_OK) return status;
  int32_t *seen = FX_TAKE(arena, int32_t, n), *start = FX_TAKE(arena, int32_t, (size_t)n + 1), *index = NULL;
  if (!seen || !start) return FRIX_ERROR_MEMORY;
  for (int pass = 0; pass < 2; pass++) {
    int64_t at = 0;
    for (int32_t a = 0; a < n; a++) {
      int32_t stamp = 1 + a + pass * n, begin = (int32_t)at;
      seen[a] = stamp;
      if (pass) index[at] = a;
      at++;
      for (int32_t c = first[a]; c < first[a + 1]; c++)
        for (int32_t k = s->Ht.start[list[c]]; k < s->Ht.start[list[c] + 1]; k++) {
          int32_t b = s->Ht.index[k], to;
          if (seen[b] == stamp) continue;
          seen[b] = stamp;
          for (to = (int32_t)at; pass && to > begin && index[to - 1] > b; to--) index[to] = index[to - 1];
          if (pass) index[to] = b;
          at++;
        }
      if (at > INT32_MAX / 2) return fx_fail(arena->context, FRIX_ERROR_UNSUPPORTED, "too many pairs of bodies");
      start[a + 1] = (int32_t)at;
    }
    if (!pass && !(index = FX_TAKE(arena, int32_t, at))) return FRIX_ERROR_MEMORY;
  }
  return fx_block_from_pattern(arena, n, s->dof, n, s->dof, start, index, K);
}

/* Not many more unknowns of bodies than there are rows. */
static bool velocity_is_smaller(const fx_system *s) { return s->has_velocity && s->dof_count <= 2 * s->row_count; }

static int32_t largest_mover(const fx_system *s) {
  int32_t most = 0;
  for (int32_t m = 0; m < s->mover_count; m++)
    if (s->dof[m + 1] - s->dof[m] > most) most = s->dof[m + 1] - s->dof[m];
  return most;
}

/* Symmetric up to rounding; what is left of asymmetry goes with the refinement. */
static bool nearly_symmetric(const fx_block_matrix *A) {
  double largest = 0, gap = 0;
  for (int32_t i = 0; i < A->row_blocks; i++)
    for (int32_t k = A->start[i]; k < A->start[i + 1]; k++) {
      int32_t j = A->index[k], m = fx_block_rows(A, i), n = fx_block_cols(A, k);
      const double *a = fx_block(A, k), *b = fx_block_at(A, j, i);
      for (int32_t r = 0; r < m; r++)
        for (int32_t c = 0; c < n; c++) {
          double x = a[r * n + c], difference = fabs(x - (b ? b[c * m + r] : 0));
          if (fabs(x) > largest) largest = fabs(x);
          if (difference > gap) gap = difference;
        }
    }
  return gap <= 1e-13 * largest;
}

static bool mass_is_symmetric(const fx_system *s) {
  for (int32_t m = 0; m < s->mover_count; m++) {
    int32_t n = s->dof[m + 1] - s->dof[m];
    const double *M = s->M + s->M_offset[m];
    for (int32_t r = 0; r < n; r++)
      for (int32_t c = 0; c < r; c++)
        if (M[r * n + c] != M[c * n + r]) return false;
  }
  return true;
}

frix_status fx_kkt_setup(fx_arena *arena, const fx_system *s, const double *S, fx_kkt *t) {
  *t = (fx_kkt){.s = s, .S = S, .by_velocity = velocity_is_smaller(s)};
  frix_status status = FRIX_OK;
  if (t->by_velocity) {
    status = mover_pattern(arena, s, &t->K);
    t->symmetric = mass_is_symmetric(s);
  } else {
    t->assembled = *s;
    if (!s->has_W) status = fx_system_assemble(arena, &t->assembled);
    if (status == FRIX_OK) status = fx_scaled_operator(arena, &t->assembled, S, &t->A);
    if (status == FRIX_OK)
      status = fx_block_from_pattern(arena, t->A.row_blocks, t->A.row, t->A.col_blocks, t->A.col, t->A.start,
                                     t->A.index, &t->K);
  }
  if (status == FRIX_OK) status = fx_block_lu_analyze(arena, &t->K, &t->lu);
  if (status != FRIX_OK) return status;
  if (!t->by_velocity) t->symmetric = nearly_symmetric(&t->A);
  size_t blocks = s->diagonal[s->contact_count];
  double **vectors[] = {&t->b, &t->e, &t->y};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    if (!(*vectors[k] = FX_TAKE(arena, double, s->row_count))) return FRIX_ERROR_MEMORY;
  t->v = FX_TAKE(arena, double, s->dof_count);
  t->D = FX_TAKE(arena, double, blocks);
  t->inverse = FX_TAKE(arena, double, blocks);
  t->reg = FX_TAKE(arena, double, s->contact_count);
  t->PH = FX_TAKE(arena, double, t->by_velocity ? FRIX_MAX_DIM *largest_mover(s) : 0);
  if (!t->v || !t->D || !t->inverse || !t->reg || !t->PH) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < s->contact_count; i++) t->reg[i] = t->by_velocity ? 1e-8 : 1e-10;
  return FRIX_OK;
}

/* ---- factors ---- */

static bool factor_contacts(fx_kkt *t) {
  const fx_system *s = t->s;
  memcpy(t->K.x, t->A.x, t->A.offset[t->A.start[t->A.row_blocks]] * sizeof *t->K.x);
  for (int32_t i = 0; i < s->contact_count; i++) {
    double *block = fx_block_at(&t->K, i, i);
    const double *D = t->D + s->diagonal[i];
    int32_t d = s->contact[i].dim;
    for (int32_t e = 0; e < d * d; e++) block[e] += D[e];
    for (int32_t e = 0; e < d; e++) block[e * (d + 1)] += t->reg[i];
  }
  return fx_block_lu_factor(&t->lu, &t->K, 0, t->symmetric && !t->skew);
}

/* P_i = S^2 (S^2 R + D + reg)^-1 */
static bool invert_block(fx_kkt *t, int32_t i) {
  const fx_system *s = t->s;
  int32_t d = s->contact[i].dim, pivot[FRIX_MAX_DIM];
  double lu[FRIX_MAX_DIM * FRIX_MAX_DIM], column[FRIX_MAX_DIM], S2 = t->S[s->row[i]] * t->S[s->row[i]];
  memcpy(lu, t->D + s->diagonal[i], (size_t)(d * d) * sizeof *lu);
  for (int32_t e = 0; e < d; e++) lu[e * (d + 1)] += t->reg[i] + (s->R ? S2 * s->R[s->row[i] + e] : 0);
  if (!fx_lu_factor(d, lu, pivot)) return false;
  for (int32_t c = 0; c < d; c++) {
    for (int32_t r = 0; r < d; r++) column[r] = r == c ? S2 : 0;
    fx_lu_solve(d, lu, pivot, column);
    for (int32_t r = 0; r < d; r++) t->inverse[s->diagonal[i] + (size_t)(r * d + c)] = column[r];
  }
  double *P = t->inverse + s->diagonal[i]; /* symmetric, also in the last bit */
  for (int32_t r = 0; r < d && !t->skew; r++)
    for (int32_t c = 0; c < r; c++) P[r * d + c] = P[c * d + r] = 0.5 * (P[r * d + c] + P[c * d + r]);
  return true;
}

static bool factor_movers(fx_kkt *t) {
  const fx_system *s = t->s;
  memset(t->K.x, 0, t->K.offset[t->K.start[s->mover_count]] * sizeof *t->K.x);
  for (int32_t m = 0; m < s->mover_count; m++) {
    size_t size = s->M_offset[m + 1] - s->M_offset[m];
    memcpy(fx_block_at(&t->K, m, m), s->M + s->M_offset[m], size * sizeof *s->M);
  }
  for (int32_t i = 0; i < s->contact_count; i++) {
    if (!invert_block(t, i)) return false;
    const double *P = t->inverse + s->diagonal[i];
    int32_t d = s->contact[i].dim;
    for (int32_t kb = s->Ht.start[i]; kb < s->Ht.start[i + 1]; kb++) {
      int32_t b = s->Ht.index[kb], nb = fx_block_cols(&s->Ht, kb);
      const double *H = fx_block(&s->Ht, kb);
      double *PH = t->PH;
      memset(PH, 0, (size_t)(d * nb) * sizeof *PH);
      for (int32_t r = 0; r < d; r++)
        for (int32_t e = 0; e < d; e++)
          for (int32_t c = 0; c < nb; c++) PH[r * nb + c] += P[r * d + e] * H[e * nb + c];
      for (int32_t ka = s->Ht.start[i]; ka < s->Ht.start[i + 1]; ka++) {
        int32_t na = fx_block_cols(&s->Ht, ka);
        const double *G = fx_block(&s->Ht, ka);
        double *to = fx_block_at(&t->K, s->Ht.index[ka], b);
        for (int32_t e = 0; e < d; e++)
          for (int32_t r = 0; r < na; r++)
            for (int32_t c = 0; c < nb; c++) to[r * nb + c] += G[e * na + r] * PH[e * nb + c];
      }
    }
  }
  return fx_block_lu_factor(&t->lu, &t->K, 0, t->symmetric && !t->skew);
}

bool fx_kkt_factor(fx_kkt *t) { return t->by_velocity ? factor_movers(t) : factor_contacts(t); }

/* ---- solves ---- */

void fx_kkt_multiply(fx_kkt *t, const double *x, double *y) {
  const fx_system *s = t->s;
  memset(y, 0, (size_t)s->row_count * sizeof *y);
  if (!t->by_velocity) {
    fx_block_multiply_add(&t->A, x, y);
    return;
  }
  for (int32_t k = 0; k < s->row_count; k++) t->b[k] = t->S[k] * x[k];
  memset(t->v, 0, (size_t)s->dof_count * sizeof *t->v);
  fx_block_transpose_multiply_add(&s->Yt, t->b, t->v);
  fx_block_multiply_add(&s->Ht, t->v, y);
  for (int32_t k = 0; k < s->row_count; k++) y[k] = t->S[k] * (y[k] + (s->R ? s->R[k] * t->b[k] : 0));
}

/* y = block x over contacts */
static void multiply_blocks(const fx_system *s, const double *blocks, const double *x, double *y) {
  for (int32_t i = 0; i < s->contact_count; i++) {
    const double *B = blocks + s->diagonal[i], *from = x + s->row[i];
    int32_t d = s->contact[i].dim;
    for (int32_t r = 0; r < d; r++) {
      double sum = 0;
      for (int32_t c = 0; c < d; c++) sum += B[r * d + c] * from[c];
      y[s->row[i] + r] = sum;
    }
  }
}

/* x := (A + D + reg)^-1 x by the factors alone. */
static void solve_once(fx_kkt *t, double *x) {
  const fx_system *s = t->s;
  if (!t->by_velocity) {
    fx_block_lu_solve(&t->lu, x);
    return;
  }
  /* b and x are scaled: with b' = b / S, x' = S x the identity holds for P = S^2 (..)^-1 */
  for (int32_t k = 0; k < s->row_count; k++) t->b[k] = x[k] / t->S[k];
  multiply_blocks(s, t->inverse, t->b, t->y);
  memset(t->v, 0, (size_t)s->dof_count * sizeof *t->v);
  fx_block_transpose_multiply_add(&s->Ht, t->y, t->v);
  fx_block_lu_solve(&t->lu, t->v);
  for (int32_t k = 0; k < s->row_count; k++) t->y[k] = 0;
  fx_block_multiply_add(&s->Ht, t->v, t->y);
  for (int32_t k = 0; k < s->row_count; k++) t->b[k] -= t->y[k];
  multiply_blocks(s, t->inverse, t->b, t->y);
  for (int32_t k = 0; k < s->row_count; k++) x[k] = t->y[k] / t->S[k];
}

/* e = b - (A + D) x; returns |e|^2 */
static double misfit(fx_kkt *t, const double *b, const double *x) {
  int32_t n = t->s->row_count;
  double sum = 0;
  fx_kkt_multiply(t, x, t->e);
  multiply_blocks(t->s, t->D, x, t->y);
  for (int32_t k = 0; k < n; k++) {
    t->e[k] = b[k] - t->e[k] - t->y[k];
    sum += t->e[k] * t->e[k];
  }
  return sum;
}

void fx_kkt_solve(fx_kkt *t, const double *b, double accuracy, double *x) {
  int32_t n = t->s->row_count;
  memcpy(x, b, (size_t)n * sizeof *x);
  solve_once(t, x);
  double size = fx_dot(n, b, b), error = misfit(t, b, x);
  for (int round = 0; round < 40 && error > accuracy * accuracy * size; round++) {
    solve_once(t, t->e);
    for (int32_t k = 0; k < n; k++) x[k] += t->e[k];
    double fresh = misfit(t, b, x);
    if (!(fresh < 0.95 * error)) break; /* what it added was rounding, of the size of what is left */
    error = fresh;
  }
}
