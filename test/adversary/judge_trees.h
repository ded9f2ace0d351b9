/* Bodies whose joints are coordinates (judge_trees.c). */
#ifndef ADVERSARY_JUDGE_TREES_H
#define ADVERSARY_JUDGE_TREES_H

#include "judge_parts.h"

judged_trees *trees_new(const judge *j);
void trees_free(judged_trees *t);
/* Before the step: the force of a joint in the last one. */
void trees_pull(judge *j, int joint, vec force);
/* Which joints of the last step were coordinates, and the bodies they lead; poses are those of the start. */
void trees_find(judge *j, const frix_sim *sim);
/* A body as it was created. */
void trees_begin(judge *j, int body, vec c, vec v, vec w);
/* Poses of links `time` after the start, and the velocities of before there. */
void trees_advance(judge *j, real time);
/* Velocities of links after the step, at the poses where rows are taken. */
void trees_put_after(judge *j, const frix_sim *sim);
/* Coordinates, mass matrix and accelerations where rows are taken. */
void trees_take(judge *j);
/* With the rows: trees whose velocities at the half step are not known. */
void trees_blur(judge *j);
/* J M^-1 J' of the part of a row that acts on trees. */
real trees_row_weight(const judge *j, const row *r);
/* Number of the tree that a body is a link of, 0: none. */
int trees_of(const judge *j, int body);
/* w . S w of a link, S what tension holds it against turning by. */
real trees_held(const judge *j, int body, vec w);
/* Speeds of a link before the step and before velocity products acted, if they are larger than these. */
void trees_shown(const judge *j, int body, real *speed, real *spin);
/* What impulses change velocities by: none, then rows and forces, then the end, then links are asked. */
void trees_push_none(const judge *j);
void trees_push_row(const judge *j, const row *r, real impulse);
/* Of the step, those of the motion itself included. */
void trees_push_forces(const judge *j);
void trees_push_end(const judge *j);
/* Adds what the links of body are changed by. */
void trees_pushed(const judge *j, int body, vec *v, vec *w);
/* Momentum along every coordinate; all impulses are summed up. */
void trees_judge_momentum(judge *j, real relative_error, real sum_error, verdict *out);

/* By how much rounding of the coordinates' rates may change the velocity of a row. */
real trees_row_noise(const judge *j, const row *r);
real trees_came_noise(const judge *j, const row *r);

#endif
