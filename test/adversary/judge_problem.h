/* Judges impulses of a contact problem by its public view, row by row, in long double. */
#ifndef ADVERSARY_JUDGE_PROBLEM_H
#define ADVERSARY_JUDGE_PROBLEM_H

#include "judge.h"

/* What is known of the bodies of a problem. */
typedef struct problem_bodies {
  int dofs;           /* of each body, 0: not known */
  const double *size; /* by body; NULL: not known */
  double h;           /* the step the problem is of */
} problem_bodies;

/* lambda: joint_count, may be NULL without joints. */
void judge_answer(const frix_problem *problem, const problem_bodies *bodies, frix_law kind, const double *r,
                  const double *lambda, verdict *out);

#endif
