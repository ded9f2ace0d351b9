/* What the parts of a sensitivity share: worlds that are assembled and never solved. */
#ifndef FX_ANALYSIS_SENSITIVITY_H
#define FX_ANALYSIS_SENSITIVITY_H

#include "sim/sim.h"

#include <frix/sensitivity.h>

/* State of one body, and a tangent to it. */
typedef struct fx_place {
  frix_pose pose; /* of the central frame */
  frix_vec3 velocity, spin;
} fx_place;

/* What the data of a step leave of its law at a given answer (r, v):
 *
 *   f = M (v_free - v) + J'r by slot,   w = w + J v, mu, R, r_c by row of the answer's problem */
typedef struct fx_leftover {
  double *f; /* 6 by slot */
  double *w, *R, *r_c;
  double *mu; /* by contact */
} fx_leftover;

/* The answer: rows and impulses of a sim that stepped, and the velocities behind it by slot. */
typedef struct fx_answer_at {
  const frix_sim *sim;
  const double *r;
  const fx_place *after; /* velocity, spin */
  int32_t slots;
} fx_answer_at;

/* Of the rows of `looked`, as fx_sim_look left them; false where a row that carries something is not there. */
bool fx_leftover_find(const fx_answer_at *answer, const frix_sim *looked, fx_leftover *out);
bool fx_leftover_take(fx_arena *arena, const fx_answer_at *answer, fx_leftover *out);

/* Poses and velocities of all bodies that are not static. */
void fx_places_get(const frix_sim *sim, fx_place *out);
frix_status fx_places_set(frix_sim *sim, const fx_place *place);
/* place + scale tangent, and (a - b) / scale. */
void fx_places_move(const fx_place *place, const frix_sensitivity_motion *tangent, double scale, int32_t slots,
                    fx_place *out);
void fx_places_differ(const fx_place *a, const fx_place *b, double scale, int32_t slots, frix_sensitivity_motion *out);
/* The end of the step that `sim` was looked at for, with these velocities. */
void fx_places_finish(frix_sim *sim, const fx_place *after, fx_place *out);

#endif
