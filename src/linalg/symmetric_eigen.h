/* All eigenvalues and eigenvectors of a small dense symmetric matrix. */
#ifndef FX_LINALG_SYMMETRIC_EIGEN_H
#define FX_LINALG_SYMMETRIC_EIGEN_H

#include <stdbool.h>
#include <stdint.h>

/* A (n by n, row-major; the lower triangle is read) becomes whatever; value: ascending; vector: row k is the unit
 * eigenvector of value k. work: 3 n numbers. False where numbers are not finite or 60 sweeps do not suffice. */
bool fx_symmetric_eigen(int32_t n, double *A, double *value, double *vector, double *work);

#endif
