/* Trees in the scales of rows (row_speeds.c).
 *
 *   M = L'DL, from the last coordinate to the first:   v' M v = sum over coordinates k of D_k (L v)_k^2
 *   J M^-1 J' = sum over k of y_k^2 / D_k,             y = L'^-1 J'
 *
 * A coordinate moves with the joints beyond it free: D_k is its articulated inertia, (L v)_k what it moves beside what
 * the coordinates before it make of it. The sums have no terms between different k, so the free motion counts for a row
 * motion by motion,
 *
 *   sum over motions of ( sum over k of y_k^2 / D_k )^1/2 ( sum over k of D_k (L v_free)_k^2 )^1/2
 *
 * where the coordinates of one joint are one motion, whatever their axes: what a light link carries does not loosen the
 * rows of a heavy one. The last joint that a contact's rows move tells its link. Links are bodies as far as impulses
 * are concerned: a load that passes through the root does not loosen what the hand touches. */
#include "problem/mass.h"
#include "problem/row_errors.h"

#include <math.h>
#include <string.h>

static int32_t motions_of(const fx_system *s, int32_t m) {
  return s->motion[s->dof[m + 1] - 1] - s->motion[s->dof[m]] + 1;
}

/* The last motion that block k moves, d rows; 0 where it moves nothing. */
static int32_t last_motion(const fx_system *s, int32_t k, int32_t d) {
  int32_t m = s->Ht.index[k], n = fx_block_cols(&s->Ht, k);
  const double *h = fx_block(&s->Ht, k);
  for (int32_t i = n - 1; i > 0; i--)
    for (int32_t a = 0; a < d; a++)
      if (h[a * n + i] != 0) return s->motion[s->dof[m] + i] - s->motion[s->dof[m]];
  return 0;
}

frix_status fx_row_links_take(fx_arena *arena, const fx_system *s, fx_row_scales *t) {
  t->first = FX_TAKE(arena, int32_t, (size_t)s->mover_count + 1);
  t->index = FX_TAKE_RAW(arena, int32_t, (size_t)s->Ht.start[s->contact_count]);
  if (!t->first || !t->index) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < s->mover_count; m++)
    t->first[m + 1] = t->first[m] + 1 + (fx_row_is_tree(s, m) ? motions_of(s, m) : 0);
  if (!(t->tree = FX_TAKE_RAW(arena, int32_t, t->first[s->mover_count]))) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < s->mover_count; m++)
    for (int32_t k = t->first[m]; k < t->first[m + 1]; k++) t->tree[k] = k > t->first[m] ? t->first[m] : -1;
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
      int32_t m = s->Ht.index[k];
      t->index[k] = t->first[m] + (fx_row_is_tree(s, m) ? 1 + last_motion(s, k, s->contact[i].dim) : 0);
    }
  return FRIX_OK;
}

/* L and 1 / D of mover m; false where M is not symmetric or not positive. */
static bool factor(const fx_system *s, int32_t m, double *L) {
  int32_t n = s->dof[m + 1] - s->dof[m];
  if (s->M && s->inverse_mass[s->dof[m]] == 0) return fx_factor_symmetric(n, s->M + s->M_offset[m], L);
  memset(L, 0, (size_t)n * (size_t)n * sizeof *L);
  for (int32_t k = 0; k < n; k++) L[k * n + k] = s->inverse_mass[s->dof[m] + k];
  return true;
}

/* sqrt(D) L v */
static void carry(const fx_system *s, int32_t m, const double *L, double *out) {
  int32_t n = s->dof[m + 1] - s->dof[m];
  const double *v = s->v_free + s->dof[m];
  for (int32_t i = 0; i < n; i++) {
    out[i] = v[i];
    for (int32_t j = 0; j < i; j++) out[i] += L[i * n + j] * v[j];
    out[i] /= sqrt(L[i * n + i]);
  }
}

/* What one row h gets; y: room. */
static double brought(int32_t n, const int32_t *motion, const double *L, const double *carried, const double *h,
                      double *y) {
  double sum = 0;
  memcpy(y, h, (size_t)n * sizeof *y);
  for (int32_t i = n - 1; i >= 0; i--) {
    for (int32_t j = 0; y[i] != 0 && j < i; j++) y[j] -= L[i * n + j] * y[i];
    y[i] *= sqrt(L[i * n + i]);
  }
  for (int32_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && motion[end] == motion[i]; end++) continue;
    sum += fx_safe_norm(end - i, y + i) * fx_safe_norm(end - i, carried + i);
  }
  return sum;
}

frix_status fx_row_links_free(fx_arena *arena, const fx_system *s, fx_row_scales *t) {
  double *factors = FX_TAKE_RAW(arena, double, s->M_offset[s->mover_count]);
  double *carried = FX_TAKE_RAW(arena, double, s->dof_count), *room = FX_TAKE_RAW(arena, double, s->dof_count);
  uint8_t *good = FX_TAKE(arena, uint8_t, s->mover_count);
  t->carried = FX_TAKE(arena, double, s->row_count);
  if (!factors || !carried || !room || !good || !t->carried) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < s->mover_count; m++) {
    if (!fx_row_is_tree(s, m)) continue;
    for (int32_t k = t->first[m] + 1; k < t->first[m + 1]; k++) t->free[2 * k] = t->free[2 * k + 1] = 0;
    good[m] = factor(s, m, factors + s->M_offset[m]);
    if (good[m]) carry(s, m, factors + s->M_offset[m], carried + s->dof[m]);
  }
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
      int32_t m = s->Ht.index[k], n = fx_block_cols(&s->Ht, k);
      const double *h = fx_block(&s->Ht, k), *L = factors + s->M_offset[m];
      if (!fx_row_is_tree(s, m)) continue;
      for (int32_t row = s->row[i]; row < s->row[i + 1]; row++, h += n) /* of no factor nothing can be said */
        t->carried[row] += good[m] ? brought(n, s->motion + s->dof[m], L, carried + s->dof[m], h, room) : INFINITY;
    }
  return FRIX_OK;
}
