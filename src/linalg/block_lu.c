/* Right-looking block LU: pivot k scales its column of L and updates the pairs (i, j) it reaches.
 *
 *   L_ik = A_ik D_k^-1,   A_ij -= L_ik U_kj   for all i, j that step k reaches
 *
 * U row i and L column i share one list of later steps, so one scatter of that list serves both updates. */
#include "linalg/block_lu.h"

#include "base/sort.h"
#include "linalg/dense.h"
#include "linalg/product.h"

#include <string.h>

static int32_t size_of(const fx_block_lu *lu, int32_t step) { return lu->first[step + 1] - lu->first[step]; }

/* ---- groups of nodes with the same neighbours ---- */

/* The closed neighbourhoods of A + A', sorted, as one compressed list. */
typedef struct neighbourhoods {
  int32_t *start, *list;
} neighbourhoods;

static frix_status find_neighbourhoods(fx_arena *arena, const fx_block_matrix *a, neighbourhoods *out) {
  int32_t n = a->row_blocks, *first = NULL, *rows = NULL;
  frix_status status = fx_block_columns(arena, a, &first, &rows);
  if (status != FRIX_OK) return status;
  int32_t *seen = FX_TAKE(arena, int32_t, n);
  out->start = FX_TAKE(arena, int32_t, (size_t)n + 1);
  out->list = FX_TAKE(arena, int32_t, 2 * (size_t)a->start[n] + (size_t)n);
  if (!seen || !out->start || !out->list) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < n; i++) {
    int32_t *to = out->list + out->start[i], count = 0;
    seen[i] = i + 1;
    to[count++] = i;
    for (int side = 0; side < 2; side++) {
      const int32_t *from = side ? rows + first[i] : a->index + a->start[i];
      int32_t size = side ? first[i + 1] - first[i] : a->start[i + 1] - a->start[i];
      for (int32_t k = 0; k < size; k++)
        if (seen[from[k]] != i + 1) {
          seen[from[k]] = i + 1;
          to[count++] = from[k];
        }
    }
    fx_sort(to, (size_t)count);
    out->start[i + 1] = out->start[i] + count;
  }
  return FRIX_OK;
}

static bool same_list(const neighbourhoods *n, int32_t i, int32_t j) {
  int32_t size = n->start[i + 1] - n->start[i];
  return size == n->start[j + 1] - n->start[j] &&
         memcmp(n->list + n->start[i], n->list + n->start[j], (size_t)size * sizeof *n->list) == 0;
}

/* A node joins the group of its first neighbour with the same neighbourhood, while the group stays small enough. */
static frix_status find_groups(fx_arena *arena, const fx_block_matrix *a, const neighbourhoods *n, fx_block_lu *lu) {
  enum { LARGEST_GROUP = 24 }; /* rows: beyond it, blocks fall out of the nearest cache */
  int32_t count = a->row_blocks;
  int32_t *rows = FX_TAKE(arena, int32_t, count);
  lu->group_of = FX_TAKE(arena, int32_t, count);
  lu->member = FX_TAKE(arena, int32_t, count);
  lu->member_start = FX_TAKE(arena, int32_t, (size_t)count + 2);
  if (!rows || !lu->group_of || !lu->member || !lu->member_start) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < count; i++) {
    int32_t own = fx_block_rows(a, i), group = -1;
    for (int32_t k = n->start[i]; k < n->start[i + 1] && n->list[k] < i && group < 0; k++) {
      int32_t candidate = lu->group_of[n->list[k]];
      if (rows[candidate] + own <= LARGEST_GROUP && same_list(n, i, n->list[k])) group = candidate;
    }
    if (group < 0) group = lu->group_count++;
    lu->group_of[i] = group;
    rows[group] += own;
  }
  int32_t *next = lu->member_start + 1;
  for (int32_t i = 0; i < count; i++) next[lu->group_of[i] + 1]++;
  for (int32_t g = 0; g < lu->group_count; g++) next[g + 1] += next[g];
  for (int32_t i = 0; i < count; i++) lu->member[next[lu->group_of[i]]++] = i;
  return FRIX_OK;
}

/* The graph between groups: that of any member. */
static frix_status order_groups(fx_arena *arena, const neighbourhoods *n, fx_block_lu *lu) {
  int32_t *start = FX_TAKE(arena, int32_t, (size_t)lu->group_count + 1),
          *seen = FX_TAKE(arena, int32_t, lu->group_count);
  int32_t *index = FX_TAKE(arena, int32_t, n->start[lu->node_count]);
  if (!start || !seen || !index) return FRIX_ERROR_MEMORY;
  for (int32_t g = 0; g < lu->group_count; g++) {
    int32_t node = lu->member[lu->member_start[g]], count = start[g];
    for (int32_t k = n->start[node]; k < n->start[node + 1]; k++) {
      int32_t other = lu->group_of[n->list[k]];
      if (seen[other] == g + 1) continue;
      seen[other] = g + 1;
      index[count++] = other;
    }
    fx_sort(index + start[g], (size_t)(count - start[g]));
    start[g + 1] = count;
  }
  fx_block_matrix graph = {
      .row_blocks = lu->group_count, .col_blocks = lu->group_count, .start = start, .index = index};
  return fx_block_order(arena, &graph, &lu->order);
}

/* ---- layout ---- */

/* Offsets of all blocks for the partition at hand. */
static void lay_out(fx_block_lu *lu) {
  const fx_elimination *o = &lu->order;
  lu->cost = lu->fill = 0;
  for (int32_t k = 0; k < o->count; k++) {
    int32_t g = o->node[k], rows = 0;
    for (int32_t e = lu->member_start[g]; e < lu->member_start[g + 1]; e++) {
      lu->place[lu->member[e]] = rows;
      rows += lu->row[lu->member[e] + 1] - lu->row[lu->member[e]];
    }
    lu->first[k + 1] = lu->first[k] + rows;
  }
  for (int32_t k = 0; k < o->count; k++) {
    size_t n = (size_t)size_of(lu, k), reached = 0;
    lu->diagonal[k + 1] = lu->diagonal[k] + n * n;
    for (size_t e = o->start[k]; e < o->start[k + 1]; e++) {
      size_t m = (size_t)size_of(lu, o->later[e]);
      lu->upper[e + 1] = lu->upper[e] + n * m;
      reached += m;
    }
    lu->fill += (double)(n * (n + reached));
    lu->cost += (double)n * (double)((reached + n) * (reached + n));
  }
}

frix_status fx_block_lu_analyze(fx_arena *arena, const fx_block_matrix *a, fx_block_lu *lu) {
  *lu = (fx_block_lu){.node_count = a->row_blocks, .row = a->row};
  neighbourhoods near = {0};
  frix_status status = find_neighbourhoods(arena, a, &near);
  if (status == FRIX_OK) status = find_groups(arena, a, &near, lu);
  if (status == FRIX_OK) status = order_groups(arena, &near, lu);
  if (status != FRIX_OK) return status;
  const fx_elimination *o = &lu->order;
  size_t largest = 0;
  lu->first = FX_TAKE(arena, int32_t, (size_t)o->count + 1);
  lu->place = FX_TAKE(arena, int32_t, lu->node_count);
  lu->diagonal = FX_TAKE(arena, size_t, (size_t)o->count + 1);
  lu->upper = FX_TAKE(arena, size_t, o->start[o->count] + 1);
  lu->position = FX_TAKE(arena, int32_t, o->count);
  lu->x = FX_TAKE(arena, double, a->row[a->row_blocks]);
  if (!lu->first || !lu->place || !lu->diagonal || !lu->upper || !lu->position || !lu->x) return FRIX_ERROR_MEMORY;
  lay_out(lu);
  for (int32_t k = 0; k < o->count; k++)
    if ((size_t)size_of(lu, k) > largest) largest = (size_t)size_of(lu, k);
  lu->work = FX_TAKE(arena, double, largest *largest + largest);
  lu->pivot = FX_TAKE(arena, int32_t, largest);
  lu->D = FX_TAKE(arena, double, lu->diagonal[o->count]);
  lu->U = FX_TAKE(arena, double, lu->upper[o->start[o->count]]);
  lu->L = FX_TAKE(arena, double, lu->upper[o->start[o->count]]);
  return lu->work && lu->pivot && lu->D && lu->U && lu->L ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* The block of D, U or L that holds entries (step i, step j). */
static double *block_of(const fx_block_lu *lu, int32_t i, int32_t j) {
  const fx_elimination *o = &lu->order;
  if (i == j) return lu->D + lu->diagonal[i];
  int32_t low = i < j ? i : j, high = i < j ? j : i;
  size_t first = o->start[low], last = o->start[low + 1];
  while (first < last) {
    size_t middle = first + (last - first) / 2;
    if (o->later[middle] < high)
      first = middle + 1;
    else
      last = middle;
  }
  return (i < j ? lu->U : lu->L) + lu->upper[first];
}

/* Copies A + shift I into D, U and L. */
static void load(fx_block_lu *lu, const fx_block_matrix *a, double shift) {
  const fx_elimination *o = &lu->order;
  memset(lu->D, 0, lu->diagonal[o->count] * sizeof *lu->D);
  memset(lu->U, 0, lu->upper[o->start[o->count]] * sizeof *lu->U);
  memset(lu->L, 0, lu->upper[o->start[o->count]] * sizeof *lu->L);
  for (int32_t i = 0; i < a->row_blocks; i++) {
    int32_t si = o->step[lu->group_of[i]], rows = fx_block_rows(a, i);
    for (int32_t k = a->start[i]; k < a->start[i + 1] && rows; k++) {
      int32_t j = a->index[k], sj = o->step[lu->group_of[j]], cols = fx_block_cols(a, k), stride = size_of(lu, sj);
      if (!cols) continue;
      double *to = block_of(lu, si, sj) + lu->place[i] * stride + lu->place[j];
      for (int32_t r = 0; r < rows; r++) memcpy(to + r * stride, fx_block(a, k) + r * cols, (size_t)cols * sizeof *to);
    }
  }
  for (int32_t k = 0; k < o->count; k++)
    for (int32_t e = 0, n = size_of(lu, k); e < n; e++) lu->D[lu->diagonal[k] + (size_t)(e * (n + 1))] += shift;
}

/* ---- factorisation ---- */

/* Inverse of a factored block, column by column. */
static void invert(int32_t n, const double *lu, const int32_t *pivot, double *column, double *inverse) {
  for (int32_t c = 0; c < n; c++) {
    for (int32_t r = 0; r < n; r++) column[r] = r == c;
    fx_lu_solve(n, lu, pivot, column);
    for (int32_t r = 0; r < n; r++) inverse[r * n + c] = column[r];
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
      for (int32_t c = 0; c < n; c++) row[c] = symmetric ? -mirror[c * m + i] : -block[i * n + c];
      memset(block + i * n, 0, (size_t)n * sizeof *block);
      fx_subtract_product(1, n, n, row, D, block + i * n);
    }
  }
}

static void update_from(fx_block_lu *lu, int32_t k, bool symmetric) {
  const fx_elimination *o = &lu->order;
  int32_t n = size_of(lu, k);
  for (size_t e = o->start[k]; e < o->start[k + 1]; e++) {
    int32_t i = o->later[e], m = size_of(lu, i);
    if (m == 0) continue;
    const double *L_ik = lu->L + lu->upper[e], *U_ki = lu->U + lu->upper[e];
    fx_subtract_product(m, m, n, L_ik, U_ki, lu->D + lu->diagonal[i]);
    for (size_t f = o->start[i]; f < o->start[i + 1]; f++) lu->position[o->later[f]] = (int32_t)(f - o->start[i]);
    for (size_t f = e + 1; f < o->start[k + 1]; f++) {
      int32_t j = o->later[f], p = size_of(lu, j);
      size_t target = lu->upper[o->start[i] + (size_t)lu->position[j]];
      fx_subtract_product(m, p, n, L_ik, lu->U + lu->upper[f], lu->U + target);
      if (!symmetric) fx_subtract_product(p, m, n, lu->L + lu->upper[f], U_ki, lu->L + target);
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

/* ---- solution ---- */

/* Copies x to elimination order, or back. */
static void permute(const fx_block_lu *lu, double *x, bool back) {
  for (int32_t i = 0; i < lu->node_count; i++) {
    double *own = lu->x + lu->first[lu->order.step[lu->group_of[i]]] + lu->place[i];
    size_t bytes = (size_t)(lu->row[i + 1] - lu->row[i]) * sizeof *x;
    if (back)
      memcpy(x + lu->row[i], own, bytes);
    else
      memcpy(own, x + lu->row[i], bytes);
  }
}

void fx_block_lu_solve(const fx_block_lu *lu, double *x) {
  const fx_elimination *o = &lu->order;
  permute(lu, x, false);
  /* Forward: L y = x, by columns. */
  for (int32_t k = 0; k < o->count; k++) {
    const double *y = lu->x + lu->first[k];
    int32_t n = size_of(lu, k);
    for (size_t e = o->start[k]; e < o->start[k + 1]; e++) {
      double *to = lu->x + lu->first[o->later[e]];
      const double *block = lu->L + lu->upper[e];
      for (int32_t i = 0; i < size_of(lu, o->later[e]); i++) {
        double sum = 0;
        for (int32_t j = 0; j < n; j++) sum += block[i * n + j] * y[j];
        to[i] -= sum;
      }
    }
  }
  /* Backward: D U x = y, by rows. */
  for (int32_t k = o->count - 1; k >= 0; k--) {
    double *y = lu->x + lu->first[k], *rest = lu->work;
    int32_t n = size_of(lu, k);
    memcpy(rest, y, (size_t)n * sizeof *rest);
    for (size_t e = o->start[k]; e < o->start[k + 1]; e++) {
      const double *from = lu->x + lu->first[o->later[e]], *block = lu->U + lu->upper[e];
      int32_t m = size_of(lu, o->later[e]);
      for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t j = 0; j < m; j++) sum += block[i * m + j] * from[j];
        rest[i] -= sum;
      }
    }
    for (int32_t i = 0; i < n; i++) {
      y[i] = 0;
      for (int32_t j = 0; j < n; j++) y[i] += lu->D[lu->diagonal[k] + (size_t)(i * n + j)] * rest[j];
    }
  }
  permute(lu, x, true);
}
