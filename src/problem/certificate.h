/* The certificate, which alone decides whether an answer is accepted. Formulas in docs/certificate.md. */
#ifndef FX_PROBLEM_CERTIFICATE_H
#define FX_PROBLEM_CERTIFICATE_H

#include "problem/lanes.h"
#include "problem/row_errors.h"
#include "problem/system.h"

#include <frix/solve.h>

/* Relative natural-map residual of (r, u) over a system: the verdict, cheap enough for every check of a solver. */
double fx_residual(const fx_system *system, frix_law law, const double *r, const double *u);

/* The same over some of the contacts, one after the other, with r and u of contact i: sums begin as zeros. */
void fx_residual_add(const fx_system *system, frix_law law, int32_t i, const double *r, const double *u,
                     fx_residual_sums *sums);
/* Sums of one part of the contacts to those of another. */
void fx_residual_join(const fx_residual_sums *from, fx_residual_sums *to);
double fx_residual_end(const fx_system *system, const fx_residual_sums *sums);

/* The same from r alone, for methods: u and v are found on the way, those of fx_system_velocity but for rounding where
 * contacts are those of spheres (round_rows.h). */
double fx_residual_of(const fx_system *system, frix_law law, const double *r, double *u, double *v);

/* The same, INFINITY as soon as it is certain to exceed `most`, which a poor start shows within its first
 * contacts. Velocity form. Short of INFINITY u and v belong to r afterwards; last holds mover_count numbers.
 */
double fx_residual_up_to(const fx_system *system, frix_law law, double most, const double *r, double *u, double *v,
                         int32_t *last);

/* Whether the residual of r = 0 is certain to exceed `most`, as the first contacts of a pile show. */
bool fx_nothing_is_far(const fx_system *system, frix_law law, double most);

/* Everything but the errors of single contacts, for a whole system; u and v must belong to r (fx_system_velocity).
 * problem gives the equation of motion (NULL: left to the caller); workspace holds 2 dof_count numbers. */
void fx_certificate_compute(const frix_problem *problem, const fx_system *system, frix_law law, const double *r,
                            const double *u, const double *v, double *workspace, frix_certificate *out);

/* The errors of single contacts (row_errors.h) become part of the verdict. */
void fx_certificate_add_rows(const fx_row_errors *errors, frix_certificate *certificate);

#endif
