/* Exact sums in bins of 24 bits [cf. J. Demmel, Y. Hida, SIAM J. Sci. Comput. 25 (2003) 1214; U. Kulisch].
 *
 *   x = sum of c_k 2^(24 (k - 45)),   c_k whole, |c_k| < 2^24, at most four of them nonzero */
#include "linalg/exact_sum.h"

#include <math.h>

enum { BITS = 24, ZERO = 45, TOP = FX_EXACT_BINS - 1, LOOK = 4 };
static const double UNIT = 16777216.0; /* 2^BITS */

void fx_exact_add(fx_exact_sum *to, double x) {
  int e;
  if (!isfinite(x)) {
    to->bin[TOP] += 1.0;
    return;
  }
  if (x == 0.0) return;
  frexp(x, &e);
  int k = (e - 1 + ZERO * BITS) / BITS; /* |x| >= 2^-1074: not below 0 */
  for (double rest = ldexp(x, -BITS * (k - ZERO)); rest != 0.0; k--) {
    double whole = trunc(rest);
    to->bin[k] += whole;
    rest = (rest - whole) * UNIT;
  }
}

double fx_exact_value(const fx_exact_sum *of) {
  fx_exact_sum s = *of;
  if (s.bin[TOP] != 0.0) return NAN;
  for (int k = 0; k + 1 < TOP; k++) {
    double carry = trunc(s.bin[k] / UNIT);
    s.bin[k] -= carry * UNIT;
    s.bin[k + 1] += carry;
  }
  int k = TOP - 1;
  while (k > 0 && s.bin[k] == 0.0) k--;
  double value = s.bin[k];
  for (int low = k - LOOK; k > 0 && k > low; k--) value = value * UNIT + s.bin[k - 1];
  return ldexp(value, BITS * (k - ZERO));
}
