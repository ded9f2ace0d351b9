/* Sine, cosine and arc tangent from + - * / sqrt alone.
 *
 * sin, cos: Cody-Waite reduction by pi/2 in three parts to |x| <= pi/4, then the Taylor series to x^17 and x^18 (error
 * below 1e-19). atan: quadrant and reciprocal to [0, 1], two half-angle steps atan x = 2 atan(x / (1 + sqrt(1 + x^2)))
 * to |x| <= 0.1990, then the series to x^23 (error below 1e-18). */
#include "base/trig.h"

#include <math.h>
#include <stdint.h>

static double sine_series(double x) {
  double square = x * x, sum = 1.0;
  for (int k = 8; k >= 1; k--) sum = 1.0 - square / (double)((2 * k) * (2 * k + 1)) * sum;
  return x * sum;
}

static double cosine_series(double x) {
  double square = x * x, sum = 1.0;
  for (int k = 9; k >= 1; k--) sum = 1.0 - square / (double)((2 * k - 1) * (2 * k)) * sum;
  return sum;
}

void fx_sincos(double angle, double *sine, double *cosine) {
  /* pi/2 as three numbers of 33 bits, so that quarter * part is exact up to 2^20 quarters and nearly so above */
  const double first = 1.57079632673412561417e+00, second = 6.07710050630396597660e-11,
               third = 2.02226624879595063154e-21;
  if (!(fabs(angle) < 1e15)) { /* no digits left, or not a number */
    *sine = angle - angle, *cosine = angle - angle + 1.0;
    return;
  }
  double turns = angle * 0.63661977236758134308;
  int64_t quarter = (int64_t)(turns < 0.0 ? turns - 0.5 : turns + 0.5);
  double q = (double)quarter;
  double rest = ((angle - q * first) - q * second) - q * third;
  double s = sine_series(rest), c = cosine_series(rest);
  switch (quarter & 3) {
    case 0: *sine = s, *cosine = c; break;
    case 1: *sine = c, *cosine = -s; break;
    case 2: *sine = -s, *cosine = -c; break;
    default: *sine = -c, *cosine = s; break;
  }
}

/* 0 <= x <= 1 */
static double arc_tangent(double x) {
  for (int k = 0; k < 2; k++) x = x / (1.0 + sqrt(1.0 + x * x));
  double square = x * x, sum = 0.0;
  for (int k = 11; k >= 0; k--) sum = 1.0 / (double)(2 * k + 1) - square * sum;
  return 4.0 * x * sum;
}

double fx_atan2(double y, double x) {
  double ax = fabs(x), ay = fabs(y);
  if (ax == 0.0 && ay == 0.0) return 0.0;
  double angle = ay <= ax ? arc_tangent(ay / ax) : FX_PI / 2.0 - arc_tangent(ax / ay);
  if (x < 0.0) angle = FX_PI - angle;
  return y < 0.0 ? -angle : angle;
}
