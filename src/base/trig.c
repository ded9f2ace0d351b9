/* Sine, cosine, arc tangent and powers from + - * / sqrt alone.
 *
 * sin, cos: Cody-Waite reduction by pi/2 in three parts to |x| <= pi/4, then the Taylor series to x^17 and x^18 (error
 * below 1e-19). atan: quadrant and reciprocal to [0, 1], two half-angle steps atan x = 2 atan(x / (1 + sqrt(1 + x^2)))
 * to |x| <= 0.1990, then the series to x^23 (error below 1e-18). Powers: x = m 2^e with m in [1/sqrt 2, sqrt 2), ln m =
 * 2 artanh((m - 1) / (m + 1)) to s^23 (error below 1e-19), and exp by the Taylor series to f^16, |f| <= ln 2 / 2. */
#include "base/trig.h"

#include <math.h>
#include <stdint.h>

typedef double pair __attribute__((vector_size(2 * sizeof(double))));

/* Sine and cosine side by side: a division takes as long for two numbers as for one. */
static void series(double x, double *sine, double *cosine) {
  double square = x * x;
  pair sum = {1.0, 1.0 - square / (17.0 * 18.0)};
  for (int k = 8; k >= 1; k--) {
    double even = 2.0 * (double)k;
    pair part = (pair){square, square} / (pair){even * (even + 1.0), (even - 1.0) * even};
    sum = 1.0 - part * sum;
  }
  *sine = x * sum[0];
  *cosine = sum[1];
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
  double s, c;
  series(rest, &s, &c);
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

/* ln 2 as a number of 33 bits, so that e * first is exact, and the rest. */
static const double ln2_first = 6.93147180369123816490e-01, ln2_second = 1.90821492927058770002e-10;

/* y ln x for x > 0 and finite. */
static double scaled_logarithm(double y, double x) {
  int e;
  double m = frexp(x, &e); /* exact, like ldexp */
  if (m < 0.70710678118654752440) m *= 2.0, e--;
  double s = (m - 1.0) / (m + 1.0), square = s * s, sum = 0.0;
  for (int k = 11; k >= 0; k--) sum = 1.0 / (double)(2 * k + 1) + square * sum;
  return y * ((double)e * ln2_first + (2.0 * s * sum + (double)e * ln2_second));
}

static double exponential(double t) {
  if (t > 710.0) return INFINITY;
  if (t < -746.0) return 0.0;
  double k = floor(t / (ln2_first + ln2_second) + 0.5), f = (t - k * ln2_first) - k * ln2_second, sum = 1.0;
  for (int n = 16; n >= 1; n--) sum = 1.0 + f / (double)n * sum;
  return ldexp(sum, (int)k);
}

double fx_pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x < 0.0 || isnan(x) || isnan(y)) return NAN;
  if (x == 0.0 || isinf(x)) return (x == 0.0) == (y > 0.0) ? 0.0 : INFINITY;
  return exponential(scaled_logarithm(y, x));
}
