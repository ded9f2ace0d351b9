/* Rows of contacts of spheres in few numbers: H = (a Q, c Q~) for each body, Q = [n t1 t2], Q~ = [0 t2 -t1].
 *
 * A sphere touches along its radius, so that its lever arm is parallel to the normal, and 13 numbers tell what 36 do.
 * Loops over all contacts of a pile wait for memory: methods, which evaluate rows many times, read these. The
 * certificate reads H. */
#ifndef FX_PROBLEM_ROUND_ROWS_H
#define FX_PROBLEM_ROUND_ROWS_H

#include "problem/system.h"

/* Numbers of a contact: Q row by row, a and c of both bodies; those of the first are 0 where a contact has one. */
enum { FX_ROUND_Q = 0, FX_ROUND_LINEAR = 9, FX_ROUND_ANGULAR = 11, FX_ROUND_NUMBERS = 13 };

/* Whether a sample of the contacts are those of spheres. */
bool fx_round_sample(const fx_system *system);

/* Numbers of the contacts of a list (NULL: of the first `count`), each in the place of its contact; false where one of
 * them is of another kind. */
bool fx_round_find(const fx_system *system, const int32_t *list, int32_t count, double *out);

/* Movers first .. end - 1. */
typedef struct fx_mover_range {
  int32_t first, end;
} fx_mover_range;

/* What contacts first .. end - 1 of a system with such numbers add to H r, for some of the movers. */
void fx_round_motion(const fx_system *system, int32_t first, int32_t end, fx_mover_range movers, const double *r,
                     double *v);

/* u += H' v for contact i of such a system; the bits of fx_lanes_judge. */
void fx_round_add_velocity(const fx_system *system, int32_t i, const double *v, double *u);

#endif
