/* What must not change a verdict. */
#ifndef ADVERSARY_PROPERTIES_H
#define ADVERSARY_PROPERTIES_H

#include "random_world.h"

typedef struct comparison {
  int steps;          /* compared */
  int step;           /* the first with another verdict, -1: none */
  double residual[2]; /* of that step */
} comparison;

/* The world in units 1, 1, 1 and in others, powers of two. */
void compare_units(const world_class *class, uint64_t seed, uint64_t index, units other, comparison *out);

#endif
