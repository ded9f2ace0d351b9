/* Wrong answers made on purpose, as far as frix_certify lets them pass. */
#ifndef ADVERSARY_ATTACK_H
#define ADVERSARY_ATTACK_H

#include "trials.h"

extern const world_class attack_classes[];

/* One step of the world, its answer moved in six directions; each counts as a step. */
void run_attack(world *w, tally *t, finding *f, FILE *log);

#endif
