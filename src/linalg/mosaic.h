/* LU without pivoting of a matrix whose blocks are partly zero, row-major and dense in memory. */
#ifndef FX_LINALG_MOSAIC_H
#define FX_LINALG_MOSAIC_H

#include <stdbool.h>
#include <stdint.h>

/* Blocks in the order of their rows; start has block_count + 1 entries. filled: by row and column of blocks, what may
 * be other than zero; fx_mosaic_fill adds what a factor fills. */
typedef struct fx_mosaic {
  int32_t n, block_count;
  const int32_t *start;
  bool *filled;
} fx_mosaic;

void fx_mosaic_fill(const fx_mosaic *m);
/* A = LU in place; false: a pivot is no number, or lost so much of its entry that rows would have to be exchanged. */
bool fx_mosaic_factor(const fx_mosaic *m, double *a);
/* b := A^-1 b */
void fx_mosaic_solve(const fx_mosaic *m, const double *lu, double *b);

#endif
