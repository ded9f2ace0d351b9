/* Sine and cosine from + - * / alone: libm's differ between machines, and with them would the bits of a problem.
 *
 * The angle is reduced in degrees, which is exact, to [-45, 45]; there the Taylor series to x^17 and x^18 has an error
 * below 1e-19. */
#include "trig.h"

/* x - x^3/3! + ... + x^17/17!, Horner from the inside. */
static double sine_series(double x) {
  double square = x * x, sum = 1.0;
  for (int k = 8; k >= 1; k--) sum = 1.0 - square / (double)((2 * k) * (2 * k + 1)) * sum;
  return x * sum;
}

/* 1 - x^2/2! + ... - x^18/18!. */
static double cosine_series(double x) {
  double square = x * x, sum = 1.0;
  for (int k = 9; k >= 1; k--) sum = 1.0 - square / (double)((2 * k - 1) * (2 * k)) * sum;
  return sum;
}

void ex_sincos(double degrees, double *sine, double *cosine) {
  double turns = degrees / 90.0;
  int64_t quarter = (int64_t)(turns < 0.0 ? turns - 0.5 : turns + 0.5);
  double rest = (degrees - 90.0 * (double)quarter) * (EX_PI / 180.0);
  double s = sine_series(rest), c = cosine_series(rest);
  switch (quarter & 3) {
    case 0: *sine = s, *cosine = c; break;
    case 1: *sine = c, *cosine = -s; break;
    case 2: *sine = -s, *cosine = -c; break;
    default: *sine = -c, *cosine = s; break;
  }
}

double ex_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-52 - 1.0;
}
