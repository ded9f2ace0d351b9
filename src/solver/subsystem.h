/* Some rows of some contacts as a system of their own: what one projection of staggered works on. */
#ifndef FX_SOLVER_SUBSYSTEM_H
#define FX_SOLVER_SUBSYSTEM_H

#include "problem/system.h"

/* Rows first..first+count-1 (counted within the contact) of one contact of the whole. */
typedef struct fx_slice {
  int32_t contact, first, count;
  frix_cone cone; /* what the slice is, as a contact */
} fx_slice;

/* A, R and the diagonal restricted to the slices; q, w and v_free are zero: the caller brings its own free velocity. */
frix_status fx_subsystem(fx_arena *arena, const fx_system *whole, int32_t slice_count, const fx_slice *slice,
                         fx_system *out);

/* Copies rows of the whole to the subsystem, and back. */
void fx_subsystem_gather(const fx_system *whole, const fx_system *part, const fx_slice *slice, const double *from,
                         double *to);
void fx_subsystem_scatter(const fx_system *whole, const fx_system *part, const fx_slice *slice, const double *from,
                          double *to);

#endif
