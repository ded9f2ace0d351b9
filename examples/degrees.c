/* Angles in degrees are reduced exactly to [-45, 45] before the library's own sine and cosine take them. */
#include "degrees.h"

#include <frix/vec.h>

void ex_sincos(double degrees, double *sine, double *cosine) {
  double turns = degrees / 90.0;
  int64_t quarter = (int64_t)(turns < 0.0 ? turns - 0.5 : turns + 0.5);
  double rest = (degrees - 90.0 * (double)quarter) * (EX_PI / 180.0);
  double s, c;
  frix_sincos(rest, &s, &c);
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
