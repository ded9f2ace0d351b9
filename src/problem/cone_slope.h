/* Derivatives of the cone table's projection and shift, for Newton methods. At a kink one of the one-sided
 * derivatives is used. */
#ifndef FX_PROBLEM_CONE_SLOPE_H
#define FX_PROBLEM_CONE_SLOPE_H

#include <frix/problem.h>

/* J (dim x dim, row-major): derivative of the projection at x. */
void fx_cone_project_slope(const frix_contact *contact, const double *x, double *J);
/* g (dim): derivative of the shift at u; g[0] = 0, and 0 where u_T = 0. */
void fx_cone_shift_slope(const frix_contact *contact, const double *u, double *g);

#endif
