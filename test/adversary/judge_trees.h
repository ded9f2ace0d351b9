/* Bodies whose joints are coordinates (judge_trees.c). */
#ifndef ADVERSARY_JUDGE_TREES_H
#define ADVERSARY_JUDGE_TREES_H

#include "judge_parts.h"

judged_trees *trees_new(const judge *j);
void trees_free(judged_trees *t);
/* Which joints of the last step were coordinates, and the bodies they lead; poses are those of the start. */
void trees_find(judge *j, const frix_sim *sim);
/* Velocities of links after the step, at the poses of the start. */
void trees_put_after(judge *j, const frix_sim *sim);
/* Coordinates, mass matrix and accelerations at the start. */
void trees_take(judge *j);
/* J M^-1 J' of the part of a row that acts on trees. */
real trees_row_weight(const judge *j, const row *r);
/* Momentum along every coordinate; all impulses are summed up. */
void trees_judge_momentum(judge *j, real relative_error, real sum_error, verdict *out);

#endif
