/* Judges impulses of a contact problem by its public view, row by row, in long double. */
#ifndef ADVERSARY_JUDGE_PROBLEM_H
#define ADVERSARY_JUDGE_PROBLEM_H

#include "judge.h"

/* lambda: joint_count, may be NULL without joints. body: degrees of freedom of each body, 0: not known. */
void judge_answer(const frix_problem *problem, int body, frix_law kind, const double *r, const double *lambda,
                  verdict *out);

#endif
