/* The kernel of the block factorisation: products of small dense blocks. */
#ifndef FX_LINALG_PRODUCT_H
#define FX_LINALG_PRODUCT_H

#include <stdint.h>

/* c -= a b, row-major, a m x k, b k x n. Every entry of c is updated in the order of k, so the bits do not depend on
 * how wide the machine's registers are. */
void fx_subtract_product(int32_t m, int32_t n, int32_t k, const double *a, const double *b, double *c);

#endif
