/* Sums of doubles that do not depend on the order: x is cut into whole multiples of 2^(24 k), k fixed, and these are
 * added bin by bin without rounding. Bins of several sums add up too, in any order, up to 2^28 numbers in all. */
#ifndef FX_LINALG_EXACT_SUM_H
#define FX_LINALG_EXACT_SUM_H

enum { FX_EXACT_BINS = 89 }; /* 88 cover all doubles; the last one counts what is infinite or no number */

typedef struct fx_exact_sum {
  double bin[FX_EXACT_BINS]; /* whole numbers; zeros at the start */
} fx_exact_sum;

void fx_exact_add(fx_exact_sum *to, double x);
/* Within one rounding of the exact sum; NaN where some number was not finite. */
double fx_exact_value(const fx_exact_sum *of);

#endif
