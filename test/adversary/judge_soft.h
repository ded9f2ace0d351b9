/* Soft bodies as the judge sees them: a frame, amplitudes, and the points of their surface. */
#ifndef ADVERSARY_JUDGE_SOFT_H
#define ADVERSARY_JUDGE_SOFT_H

#include "judge_parts.h"

judged_softs *softs_new(const judge *j);
void softs_free(judged_softs *s);
/* Whether a body is soft. */
bool soft_is(const judge *j, int body);
/* Amplitudes, rates and mass matrix before the step. */
void softs_before(judge *j, const frix_sim *sim);
/* Rates and spins after the step, at the places of before: those with the momenta of the new state. */
void softs_after(judge *j, const frix_sim *sim);
/* L after less L before, about the centre of mass. */
vec soft_turned(const judge *j, int body);
/* Where the contact acts on the surface of a soft body, kept in the term: at a point of the surface, or, where
 * something else meets it, at the weights of the middle of the gap in the triangle; on an edge or a corner it is one of
 * several. */
void soft_find_place(const judge *j, term *x, vec surface, vec middle);
/* The place that the report names, near `middle`, is one of them: that of a contact which the end of the step adds may
 * be far from where the surfaces are nearest before it. */
void soft_add_place(const judge *j, term *x, int place, vec middle);
/* What the rates of a soft body add to the velocity of a row. */
real soft_velocity(const judge *j, const term *x, moment when);
/* What its coordinates add to J M^-1 J' of a row: sum of the squares, since modes are scaled by the mass. */
real soft_weight(const judge *j, const term *x);
/* Sum of the squares of its rates. */
real soft_rates(const judge *j, int body, moment when);

#endif
