/* Random contact problems. */
#ifndef ADVERSARY_PROBLEMS_H
#define ADVERSARY_PROBLEMS_H

#include "random_world.h"

extern const world_class problem_classes[];

#endif
