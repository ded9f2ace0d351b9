/* Small dense systems: LU with partial pivoting, row-major, in place. */
#ifndef FX_LINALG_DENSE_H
#define FX_LINALG_DENSE_H

#include <stdbool.h>
#include <stdint.h>

/* PA = LU; false when a pivot is zero or not finite. */
bool fx_lu_factor(int32_t n, double *a, int32_t *pivot);
/* b := A^-1 b */
void fx_lu_solve(int32_t n, const double *lu, const int32_t *pivot, double *b);

#endif
