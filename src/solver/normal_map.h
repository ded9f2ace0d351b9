/* The normal map of a contact problem, in scaled unknowns, and its derivative.
 *
 *   z = P_K(x),   y = z - x,   G(x) = u(z) + s(y) e_N - y          zero iff z obeys the law, and then y = u~
 *   dz = P dx,    B = (I - P) - e_N s'(y) (I - P) + delta I,       P = dP_K(x)
 *   (A P + B) dx = -G                                              A = W + R, scaled; see newton_linear.h
 */
#ifndef FX_SOLVER_NORMAL_MAP_H
#define FX_SOLVER_NORMAL_MAP_H

#include "problem/certificate.h"
#include "solver/newton_linear.h"

typedef struct fx_normal_map {
  const fx_system *s;
  frix_law law;
  const double *S; /* scale of each row */
  fx_newton_linear *linear;
  double *q;
  double *P, *B; /* per contact, at the offsets of s->diagonal */
} fx_normal_map;

/* Takes everything but s and law, which are set. shared: linear systems analysed already, or NULL. */
frix_status fx_normal_map_take(fx_normal_map *map, fx_arena *arena, fx_newton_linear *shared, fx_linear_choice choice);

/* z and G at x; returns |G|. */
double fx_normal_map_evaluate(const fx_normal_map *map, const double *x, double *z, double *G);

/* x = z - u~ at impulses r, with z and G; returns |G|. */
double fx_normal_map_start(const fx_normal_map *map, const double *r, double *x, double *z, double *G);

/* P and B at x, where z belongs to it. */
void fx_normal_map_differentiate(fx_normal_map *map, const double *x, const double *z, double delta);

/* delta as it counts for contact i: equations are held little. */
double fx_normal_map_delta(const fx_normal_map *map, int32_t i, double delta);

#endif
