/* Minimisation of a quadratic, convex or not, over a box, with products only. */
#ifndef FX_MCP_BOX_QUADRATIC_H
#define FX_MCP_BOX_QUADRATIC_H

#include "base/arena.h"

typedef struct fx_box_quadratic {
  int32_t n;
  const double *gradient;   /* at s = 0 */
  const double *low, *high; /* low <= 0 <= high */
  const double *diagonal;   /* of the Hessian or close to it, positive: scales the search directions */
  bool (*product)(const double *d, double *out, void *user); /* Hessian times d; false: give up */
  void *user;
  double *s, *g, *d, *Bd, *trial; /* workspace; s is the answer, g the gradient there */
} fx_box_quadratic;

frix_status fx_box_quadratic_take(fx_arena *arena, int32_t n, fx_box_quadratic *q);

/* Lowers g's + s'Bs/2 from s = 0 until the scaled projected gradient has shrunk by `factor` or after so many steps.
 * Returns the change of the quadratic, at most 0; NAN when a product failed. */
double fx_box_quadratic_solve(fx_box_quadratic *q, double factor, int64_t step_limit, int64_t *steps);

#endif
