/* Gaussian elimination for the rank and a sparse basis of the row space.
 *
 * Each step takes, among the rows whose largest entry is at least NEAR of the largest of all, the one with the fewest
 * entries, and divides it by that entry: pivots are as good as those of complete pivoting up to 1 / NEAR, and rows stay
 * sparse. It ends where the largest entry left is rounding. */
#include "analysis/row_basis.h"

#include <math.h>
#include <string.h>

#define NEAR 0.05

typedef struct elimination {
  int32_t rows, cols;
  size_t width;
  double *a, *largest; /* by row */
  int32_t *pivot;      /* column of the largest entry by row */
  int32_t *filled;     /* entries by row */
  int32_t *owner, *list;
  int32_t *diagonal; /* by row: the column that is its pivot; NULL: any */
} elimination;

static void look_at(elimination *e, int32_t i) {
  const double *row = e->a + (size_t)i * e->width;
  e->largest[i] = 0;
  e->filled[i] = e->pivot[i] = 0;
  for (int32_t k = 0; k < e->cols; k++) {
    double size = fabs(row[k]);
    e->filled[i] += row[k] != 0;
    if (size > e->largest[i] && !e->diagonal) e->largest[i] = size, e->pivot[i] = k;
  }
  if (e->diagonal) e->pivot[i] = e->diagonal[i], e->largest[i] = row[e->diagonal[i]];
}

static void swap_rows(elimination *e, int32_t i, int32_t j) {
  if (i == j) return;
  double *x = e->a + (size_t)i * e->width, *y = e->a + (size_t)j * e->width;
  for (size_t k = 0; k < e->width; k++) {
    double keep = x[k];
    x[k] = y[k];
    y[k] = keep;
  }
  double largest = e->largest[i];
  int32_t pivot = e->pivot[i], filled = e->filled[i], owner = e->owner[i];
  e->largest[i] = e->largest[j], e->pivot[i] = e->pivot[j], e->filled[i] = e->filled[j], e->owner[i] = e->owner[j];
  e->largest[j] = largest, e->pivot[j] = pivot, e->filled[j] = filled, e->owner[j] = owner;
  if (e->diagonal) e->diagonal[i] = e->pivot[i], e->diagonal[j] = e->pivot[j];
}

/* The row to go on with, -1: what is left is below `least`. */
static int32_t choose(const elimination *e, int32_t first, double least) {
  double most = 0;
  int32_t best = -1;
  for (int32_t i = first; i < e->rows; i++) most = fmax(most, e->largest[i]);
  if (!(most > least)) return -1;
  for (int32_t i = first; i < e->rows; i++)
    if (e->largest[i] >= NEAR * most && (best < 0 || e->filled[i] < e->filled[best])) best = i;
  return best;
}

/* Takes the pivot of row `first` out of the rows below it. What cancels to rounding becomes zero. */
static void eliminate(elimination *e, int32_t first, double rounding) {
  double *row = e->a + (size_t)first * e->width, pivot = row[e->pivot[first]],
         scale = e->diagonal ? sqrt(pivot) : pivot;
  int32_t column = e->pivot[first], count = 0;
  for (size_t k = 0; k < e->width; k++) {
    row[k] /= scale;
    if (row[k] != 0) e->list[count++] = (int32_t)k;
  }
  for (int32_t i = first + 1; i < e->rows; i++) {
    double *other = e->a + (size_t)i * e->width, factor = other[column] / row[column];
    if (factor == 0) continue;
    for (int32_t k = 0; k < count; k++) {
      double *x = &other[e->list[k]];
      *x -= factor * row[e->list[k]];
      if (fabs(*x) <= rounding && e->list[k] < e->cols) *x = 0;
    }
    other[column] = 0;
    look_at(e, i);
  }
}

static frix_status run(fx_arena *arena, double tolerance, elimination *e, int32_t *rank) {
  e->largest = FX_TAKE(arena, double, e->rows);
  e->pivot = FX_TAKE(arena, int32_t, e->rows);
  e->filled = FX_TAKE(arena, int32_t, e->rows);
  e->list = FX_TAKE(arena, int32_t, e->width);
  if (!e->largest || !e->pivot || !e->filled || !e->list) return FRIX_ERROR_MEMORY;
  double most = 0;
  for (int32_t i = 0; i < e->rows; i++) {
    look_at(e, i);
    most = fmax(most, e->largest[i]);
  }
  int32_t done = 0;
  for (; done < e->rows; done++) {
    int32_t next = choose(e, done, tolerance * most);
    if (next < 0) break;
    swap_rows(e, done, next);
    eliminate(e, done, 1e-16 * most);
  }
  *rank = done;
  return FRIX_OK;
}

frix_status fx_row_basis(fx_arena *arena, int32_t rows, int32_t cols, double tolerance, double *a, int32_t *owner,
                         int32_t *rank) {
  elimination e = {.rows = rows, .cols = cols, .width = (size_t)cols + 1, .a = a, .owner = owner};
  return run(arena, tolerance, &e, rank);
}

frix_status fx_symmetric_basis(fx_arena *arena, int32_t n, double tolerance, double *a, int32_t *owner, int32_t *rank,
                               bool *definite) {
  elimination e = {.rows = n, .cols = n, .width = (size_t)n + 1, .a = a, .owner = owner};
  double most = 0, left = 0;
  e.diagonal = FX_TAKE(arena, int32_t, n);
  if (!e.diagonal) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < n; i++) {
    e.diagonal[i] = i;
    most = fmax(most, a[(size_t)i * e.width + (size_t)i]);
  }
  frix_status status = run(arena, tolerance, &e, rank);
  for (int32_t i = *rank; status == FRIX_OK && i < n; i++)
    for (int32_t k = 0; k < n; k++) left = fmax(left, fabs(a[(size_t)i * e.width + (size_t)k]));
  *definite = left <= 100 * tolerance * most; /* what is left of a semidefinite matrix is no larger than its diagonal */
  return status;
}
