/* Scaling of rows to comparable units. */
#ifndef FX_PROBLEM_EQUILIBRATE_H
#define FX_PROBLEM_EQUILIBRATE_H

#include "problem/system.h"

/* A copy of the system whose joint and rolling rows are scaled so that their diagonals of W resemble those of the other
 * rows: u' = s u, r' = r / s. *scale: s by row, powers of two; NULL where all rows are alike, and then `to` is not set.
 */
frix_status fx_system_equilibrate(fx_arena *arena, const fx_system *from, fx_system *to, const double **scale);

/* q and w of that copy where those of the system have changed. */
void fx_system_shift_alike(const fx_system *from, const double *scale, fx_system *to);

#endif
