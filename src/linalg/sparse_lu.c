/* Sparse LU, column by column: the pattern of L^-1 a_j by depth-first search in the graph of L, then the numbers, then
 * the pivot. Time is proportional to arithmetic.
 *
 * Reference: J. Gilbert, T. Peierls, Sparse partial pivoting in time proportional to arithmetic operations, 1988. */
#include "linalg/sparse_lu.h"

#include "linalg/block_order.h"

#include <math.h>
#include <string.h>

/* ---- order and memory */

/* The graph of A + A' is that of its transpose, so columns may stand for rows. */
static frix_status order_columns(fx_arena *arena, int32_t n, const int32_t *p, const int32_t *i, int32_t *order,
                                 int64_t *fill) {
  fx_graph graph;
  fx_effort effort = {0};
  frix_status status = fx_graph_from_pattern(arena, n, p, i, false, &graph);
  if (status == FRIX_OK) status = fx_order_degree(arena, &graph, NULL, order);
  if (status == FRIX_OK) status = fx_symbolic_effort(arena, &graph, order, &effort);
  *fill = (int64_t)effort.fill;
  return status;
}

frix_status fx_sparse_lu_analyze(fx_arena *arena, int32_t n, const int32_t *p, const int32_t *i, fx_sparse_lu *out) {
  *out = (fx_sparse_lu){.context = arena->context, .n = n, .p = p, .i = i};
  int64_t fill = 0;
  out->order = FX_TAKE(arena, int32_t, n);
  out->step_of_row = FX_TAKE(arena, int32_t, n);
  out->L_start = FX_TAKE(arena, int64_t, (int64_t)n + 1);
  out->U_start = FX_TAKE(arena, int64_t, (int64_t)n + 1);
  out->work = FX_TAKE(arena, double, n);
  out->stack = FX_TAKE(arena, int32_t, n);
  out->pattern = FX_TAKE(arena, int32_t, n);
  out->mark = FX_TAKE(arena, int32_t, n);
  out->cursor = FX_TAKE(arena, int64_t, n);
  if (!out->order || !out->step_of_row || !out->L_start || !out->U_start || !out->work || !out->stack ||
      !out->pattern || !out->mark || !out->cursor)
    return FRIX_ERROR_MEMORY;
  fx_arena scratch; /* the quotient graph is needed only here */
  fx_arena_init(&scratch, arena->context);
  frix_status status = order_columns(&scratch, n, p, i, out->order, &fill);
  fx_arena_free(&scratch);
  if (status != FRIX_OK) return status;
  /* what diagonal pivots would fill, and room for others; more is taken where it is not enough */
  out->L_capacity = out->U_capacity = 2 * (fill + n) + n + 1;
  out->L_row = FX_NEW(out->context, int32_t, out->L_capacity);
  out->U_row = FX_NEW(out->context, int32_t, out->U_capacity);
  out->L_x = FX_NEW(out->context, double, out->L_capacity);
  out->U_x = FX_NEW(out->context, double, out->U_capacity);
  if (out->L_row && out->U_row && out->L_x && out->U_x) return FRIX_OK;
  fx_sparse_lu_free(out);
  return FRIX_ERROR_MEMORY;
}

void fx_sparse_lu_free(fx_sparse_lu *lu) {
  if (!lu->context) return;
  fx_free(lu->context, lu->L_row);
  fx_free(lu->context, lu->U_row);
  fx_free(lu->context, lu->L_x);
  fx_free(lu->context, lu->U_x);
  *lu = (fx_sparse_lu){0};
}

/* Room for a whole column more. */
static frix_status grow(fx_sparse_lu *lu, int32_t **row, double **x, int64_t used, int64_t *capacity) {
  if (used + lu->n < *capacity) return FRIX_OK;
  int64_t wanted = 2 * *capacity + lu->n;
  int32_t *new_row = fx_realloc(lu->context, *row, (size_t)used, (size_t)wanted, sizeof **row);
  if (!new_row) return FRIX_ERROR_MEMORY;
  *row = new_row;
  double *new_x = fx_realloc(lu->context, *x, (size_t)used, (size_t)wanted, sizeof **x);
  if (!new_x) return FRIX_ERROR_MEMORY;
  *x = new_x;
  *capacity = wanted;
  return FRIX_OK;
}

/* ---- factorisation */

/* Rows reachable from `row` through finished columns of L, in topological order at the end of pattern. */
static int32_t search(fx_sparse_lu *lu, int32_t row, int32_t top) {
  int32_t depth = 0;
  lu->stack[0] = row;
  while (depth >= 0) {
    int32_t at = lu->stack[depth], step = lu->step_of_row[at];
    if (lu->mark[at] != lu->stamp) {
      lu->mark[at] = lu->stamp;
      lu->cursor[depth] = step < 0 ? 0 : lu->L_start[step];
    }
    int64_t end = step < 0 ? 0 : lu->L_start[step + 1];
    bool deeper = false;
    while (lu->cursor[depth] < end && !deeper) {
      int32_t next = lu->L_row[lu->cursor[depth]++];
      if (lu->mark[next] == lu->stamp) continue;
      lu->stack[++depth] = next;
      deeper = true;
    }
    if (deeper) continue;
    depth--;
    lu->pattern[--top] = at;
  }
  return top;
}

/* work = L^-1 a_j on its pattern; returns where the pattern begins. */
static int32_t solve_column(fx_sparse_lu *lu, int32_t j, const double *x) {
  int32_t top = lu->n;
  lu->stamp++;
  for (int32_t k = lu->p[j]; k < lu->p[j + 1]; k++)
    if (lu->mark[lu->i[k]] != lu->stamp) top = search(lu, lu->i[k], top);
  for (int32_t k = top; k < lu->n; k++) lu->work[lu->pattern[k]] = 0;
  for (int32_t k = lu->p[j]; k < lu->p[j + 1]; k++) lu->work[lu->i[k]] = x[k];
  for (int32_t k = top; k < lu->n; k++) {
    int32_t row = lu->pattern[k], step = lu->step_of_row[row];
    double factor = lu->work[row];
    if (step < 0 || factor == 0) continue;
    for (int64_t e = lu->L_start[step]; e < lu->L_start[step + 1]; e++) lu->work[lu->L_row[e]] -= lu->L_x[e] * factor;
  }
  return top;
}

/* The pivot row among those not used yet: the diagonal where it is large enough; -1 when all vanish. */
static int32_t choose_pivot(const fx_sparse_lu *lu, int32_t top, int32_t diagonal, double threshold) {
  int32_t best = -1;
  double largest = 0;
  bool diagonal_there = false;
  for (int32_t k = top; k < lu->n; k++) {
    int32_t row = lu->pattern[k];
    if (lu->step_of_row[row] >= 0) continue;
    double size = fabs(lu->work[row]);
    if (!(size <= largest)) {
      largest = size;
      best = row;
    }
    diagonal_there |= row == diagonal;
  }
  if (best < 0 || !isfinite(largest)) return -1;
  return diagonal_there && fabs(lu->work[diagonal]) >= threshold * largest ? diagonal : best;
}

static frix_status eliminate(fx_sparse_lu *lu, int32_t step, const double *x, double threshold, bool *singular) {
  int64_t L_used = lu->L_start[step], U_used = lu->U_start[step];
  frix_status status = grow(lu, &lu->L_row, &lu->L_x, L_used, &lu->L_capacity);
  if (status == FRIX_OK) status = grow(lu, &lu->U_row, &lu->U_x, U_used, &lu->U_capacity);
  if (status != FRIX_OK) return status;
  int32_t top = solve_column(lu, lu->order[step], x);
  int32_t pivot = choose_pivot(lu, top, lu->order[step], threshold);
  *singular = pivot < 0;
  if (*singular) return FRIX_OK;
  double inverse = 1 / lu->work[pivot];
  for (int32_t k = top; k < lu->n; k++) {
    int32_t row = lu->pattern[k];
    double value = lu->work[row];
    if (row == pivot) continue;
    if (lu->step_of_row[row] >= 0) {
      lu->U_row[U_used] = lu->step_of_row[row];
      lu->U_x[U_used++] = value;
    } else if (value != 0) {
      lu->L_row[L_used] = row;
      lu->L_x[L_used++] = value * inverse;
    }
  }
  lu->U_row[U_used] = step;
  lu->U_x[U_used++] = lu->work[pivot];
  lu->step_of_row[pivot] = step;
  lu->L_start[step + 1] = L_used;
  lu->U_start[step + 1] = U_used;
  return FRIX_OK;
}

frix_status fx_sparse_lu_factor(fx_sparse_lu *lu, const double *x, double threshold, bool *singular) {
  *singular = false;
  for (int32_t k = 0; k < lu->n; k++) lu->step_of_row[k] = -1;
  if (lu->stamp > INT32_MAX - lu->n - 1) {
    memset(lu->mark, 0, (size_t)lu->n * sizeof *lu->mark);
    lu->stamp = 0;
  }
  lu->L_start[0] = lu->U_start[0] = 0;
  for (int32_t k = 0; k < lu->n; k++) {
    frix_status status = eliminate(lu, k, x, threshold, singular);
    if (status != FRIX_OK || *singular) return status;
  }
  return FRIX_OK;
}

void fx_sparse_lu_solve(fx_sparse_lu *lu, double *b) {
  int32_t n = lu->n;
  double *y = lu->work;
  for (int32_t row = 0; row < n; row++) y[lu->step_of_row[row]] = b[row];
  for (int32_t k = 0; k < n; k++)
    if (y[k] != 0)
      for (int64_t e = lu->L_start[k]; e < lu->L_start[k + 1]; e++)
        y[lu->step_of_row[lu->L_row[e]]] -= lu->L_x[e] * y[k];
  for (int32_t k = n - 1; k >= 0; k--) {
    int64_t last = lu->U_start[k + 1] - 1;
    y[k] /= lu->U_x[last];
    for (int64_t e = lu->U_start[k]; e < last; e++) y[lu->U_row[e]] -= lu->U_x[e] * y[k];
  }
  for (int32_t k = 0; k < n; k++) b[lu->order[k]] = y[k];
}
