/* Trees in the scales of rows (row_speeds.c).
 *
 *   M = L'DL, from the last coordinate to the first:   v' M v = sum over coordinates k of D_k (L v)_k^2
 *   J_i M^-1 J_j' = sum over k of y_ik y_jk / D_k,     y_i = L'^-1 J_i'
 *
 * A coordinate moves with the joints beyond it free: D_k is its articulated inertia, (L v)_k what it moves beside what
 * the coordinates before it make of it. The sums have no terms between different k, so each is a motion of its own:
 * what a light link carries does not loosen the rows of a heavy one in the same tree. Coordinates of one joint are one
 * motion, whatever their axes. The last joint that a contact's rows move tells its link, and only impulses on that link
 * count in its scales: a load that passes through the root does not loosen what the hand touches. So a tree counts as
 * one body for each link and each motion that moves the link. */
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

/* What the blocks move. */
static void list_blocks(const fx_system *s, fx_row_scales *t) {
  for (int32_t i = 0, at = 0; i < s->contact_count; i++) {
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
      int32_t m = s->Ht.index[k], first = t->first[m];
      if (t->last[k] < 0)
        t->index[at++] = first;
      else
        first += fx_row_part(motions_of(s, m), t->last[k]);
      for (int32_t q = 0; q <= t->last[k]; q++) t->index[at++] = first + q;
    }
    t->start[i + 1] = at;
  }
}

frix_status fx_row_motions_take(fx_arena *arena, const fx_system *s, fx_row_scales *t) {
  size_t blocks = (size_t)s->Ht.start[s->contact_count], all = 0;
  t->first = FX_TAKE(arena, int32_t, (size_t)s->mover_count + 1);
  t->tree = FX_TAKE_RAW(arena, int32_t, 2 * (size_t)s->mover_count);
  t->start = FX_TAKE(arena, int32_t, (size_t)s->contact_count + 1);
  t->last = FX_TAKE_RAW(arena, int32_t, blocks);
  t->factor = FX_TAKE_RAW(arena, double, s->M_offset[s->mover_count]);
  t->half = FX_TAKE_RAW(arena, double, s->Ht.offset[blocks]);
  if (!t->first || !t->tree || !t->start || !t->last || !t->factor || !t->half) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < s->mover_count; m++) {
    t->first[m + 1] = t->first[m] + (fx_row_is_tree(s, m) ? fx_row_parts(motions_of(s, m)) : 1);
    if (t->first[m + 1] == t->first[m] + 1) continue;
    t->tree[2 * t->tree_count] = t->first[m];
    t->tree[2 * t->tree_count++ + 1] = t->first[m + 1];
  }
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
      t->last[k] = fx_row_is_tree(s, s->Ht.index[k]) ? last_motion(s, k, s->contact[i].dim) : -1;
      all += t->last[k] < 0 ? 1 : (size_t)t->last[k] + 1;
    }
  if (!(t->index = FX_TAKE_RAW(arena, int32_t, all))) return FRIX_ERROR_MEMORY;
  list_blocks(s, t);
  return FRIX_OK;
}

void fx_row_parts_fill(int32_t motions, const double *from, double *energy) {
  int32_t links = motions > FX_MOST_MOTIONS ? 1 : motions;
  for (int32_t link = 0; link < links; link++) {
    int32_t count = links == 1 ? motions : link + 1;
    for (int32_t k = 0; k < count; k++, energy += 2) energy[0] = from[k], energy[1] = 0;
  }
}

/* L and 1 / D of mover m; false where M is not symmetric or not positive. */
static bool factor(const fx_system *s, int32_t m, double *L) {
  int32_t n = s->dof[m + 1] - s->dof[m];
  if (s->M && s->inverse_mass[s->dof[m]] == 0) return fx_factor_symmetric(n, s->M + s->M_offset[m], L);
  memset(L, 0, (size_t)n * (size_t)n * sizeof *L);
  for (int32_t k = 0; k < n; k++) L[k * n + k] = s->inverse_mass[s->dof[m] + k];
  return true;
}

void fx_row_motions_free(const fx_system *s, int32_t m, fx_row_scales *t) {
  int32_t n = s->dof[m + 1] - s->dof[m], motions = motions_of(s, m);
  const int32_t *motion = s->motion + s->dof[m];
  double *L = t->factor + s->M_offset[m], *free = t->free + 2 * t->first[m], *energy = t->energy + 2 * t->first[m];
  const double *v = s->v_free + s->dof[m];
  bool good = factor(s, m, L);
  for (int32_t k = 0; k < motions; k++) energy[k] = good ? 0 : INFINITY; /* nothing can be said of its rows */
  for (int32_t i = 0; good && i < n; i++) {
    double x = v[i];
    for (int32_t j = 0; j < i; j++) x += L[i * n + j] * v[j];
    double *own = &energy[motion[i] - motion[0]], both[2] = {*own, x / sqrt(L[i * n + i])};
    *own = fx_safe_norm(2, both);
  }
  if (!good) memset(L, 0, (size_t)n * (size_t)n * sizeof *L);
  fx_row_parts_fill(motions, energy, free);
}

void fx_row_motions_weigh(const fx_system *s, const fx_row_scales *t, int32_t k, int32_t d, double *weight) {
  int32_t m = s->Ht.index[k], n = fx_block_cols(&s->Ht, k), width = fx_row_weights(d);
  const int32_t *motion = s->motion + s->dof[m];
  const double *L = t->factor + s->M_offset[m];
  double *y = t->half + s->Ht.offset[k];
  memset(weight, 0, (size_t)(t->last[k] + 1) * (size_t)width * sizeof *weight);
  memcpy(y, fx_block(&s->Ht, k), (size_t)d * (size_t)n * sizeof *y);
  for (int32_t a = 0; a < d; a++, y += n) {
    for (int32_t i = n - 1; i >= 0; i--)
      for (int32_t j = 0; y[i] != 0 && j < i; j++) y[j] -= L[i * n + j] * y[i];
    for (int32_t i = 0; i < n && motion[i] - motion[0] <= t->last[k]; i++)
      fx_row_motion_add(weight + (motion[i] - motion[0]) * width, d, a, y[i], y[i] * L[i * n + i],
                        a > 0 ? y[i - n] : 0);
  }
}
