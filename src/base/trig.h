/* Elementary functions from + - * / sqrt alone, so that every machine and compiler gets the same bits. Errors are a few
 * units in the last place. */
#ifndef FX_BASE_TRIG_H
#define FX_BASE_TRIG_H

#define FX_PI 3.14159265358979323846

/* Radians; |angle| up to about 1e9 keeps full accuracy. */
void fx_sincos(double angle, double *sine, double *cosine);
/* In (-pi, pi]; 0 for (0, 0). */
double fx_atan2(double y, double x);
/* x^y for x >= 0, relative error below 1e-15 (1 + |y ln x|); not a number where x < 0. */
double fx_pow(double x, double y);

#endif
