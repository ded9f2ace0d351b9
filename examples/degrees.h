/* Sine and cosine with the same bits on every machine, and a small random sequence with the same property. */
#ifndef EX_TRIG_H
#define EX_TRIG_H

#include <stdint.h>

#define EX_PI 3.14159265358979323846

/* Angle in degrees, |degrees| <= 1e6; multiples of 90 are exact. */
void ex_sincos(double degrees, double *sine, double *cosine);

/* A number in [-1, 1); advances the state (splitmix64). */
double ex_random(uint64_t *state);

#endif
