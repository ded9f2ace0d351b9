/* Balls of different radii in a cube, step by step: consecutive contact problems, with what each remembers of the last.
 *
 *   ex_balls *balls = ex_balls_in_cube(10, 0.5, 0.005, 1);
 *   repeat: ex_balls_problem(balls, context, &problem); solve it, from ex_balls_guess(balls) or not;
 *           ex_balls_advance(balls, &result);
 *
 * A contact is a pair (ball and ball, ball and wall) that touches or overlaps; it may not approach further (b = 0), so
 * positions drift by what a step of free motion overlaps. */
#ifndef EX_BALLS_H
#define EX_BALLS_H

#include "examples.h"

typedef struct ex_balls ex_balls;

/* Random positions and velocities in a cube of 1 m; NULL when memory runs out. */
ex_balls *ex_balls_in_cube(int32_t count, double mu, double step, uint64_t seed);
/* One on top of the other, touching, the lowest `height` above the floor, at rest; far from the walls. */
ex_balls *ex_balls_in_column(int32_t count, double mu, double step, double height);
void ex_balls_free(ex_balls *balls);

/* The contact problem of the next step. */
frix_status ex_balls_problem(ex_balls *balls, frix_context *context, frix_problem **out);
/* Impulses of the last step at the contacts of that problem, zero at new ones. */
const double *ex_balls_guess(const ex_balls *balls);
/* Takes the answer, moves the balls. */
void ex_balls_advance(ex_balls *balls, const frix_result *result);

/* Lowest and highest height of a centre, largest speed of a ball, deepest overlap. */
typedef struct ex_balls_state {
  double lowest, highest, speed, overlap;
} ex_balls_state;

ex_balls_state ex_balls_look(const ex_balls *balls);

#endif
