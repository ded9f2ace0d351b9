/* One contact of the implicit method: f(x) and v(x) = f(x) + x that satisfy the law for every x.
 *
 *   f_N = max(0, -x_N),   f_T = -min(1, mu f_N / |x_T|) x_T   for each disc of the contact
 *
 * x-space is cut by the plane x_N = 0 (break | touch) and by one cone |x_T| = -mu x_N per disc (stick | slip): the
 * edges, where f is not differentiable. A bilateral contact has no edge: f = -x. */
#ifndef FX_SOLVER_IMPLICIT_CONE_H
#define FX_SOLVER_IMPLICIT_CONE_H

#include <frix/problem.h>

enum { FX_IMPLICIT_DISCS = 2, FX_IMPLICIT_CROSSINGS = 1 + 2 * FX_IMPLICIT_DISCS };

typedef struct fx_implicit_disc {
  int32_t first, size; /* rows within the contact */
  double mu;
} fx_implicit_disc;

typedef struct fx_implicit_contact {
  int32_t dim;
  bool unilateral;
  int32_t disc_count;
  fx_implicit_disc disc[FX_IMPLICIT_DISCS];
} fx_implicit_contact;

/* Edges of a contact as bits: the plane, then the cone of each disc. */
#define FX_EDGE_PLANE 1u
#define FX_EDGE_CONE(k) (2u << (k))

/* The smooth piece that x lies in; on an edge the caller says on which side to stand. */
typedef struct fx_implicit_region {
  bool touch;
  bool stick[FX_IMPLICIT_DISCS];
} fx_implicit_region;

fx_implicit_region fx_implicit_region_at(const fx_implicit_contact *contact, const double *x);

void fx_implicit_force(const fx_implicit_contact *contact, const double *x, double *f);

/* P = -df/dx in a region, dim x dim, row-major. */
void fx_implicit_slope(const fx_implicit_contact *contact, fx_implicit_region region, const double *x, double *P);

/* Unit normal of an edge at x, pointing to break or to slip. */
void fx_implicit_normal(const fx_implicit_contact *contact, unsigned edge, const double *x, double *d);

/* Moves x to the nearest point of an edge. */
void fx_implicit_snap(const fx_implicit_contact *contact, unsigned edge, double *x);

/* Where the segment from a to b meets the edges not in `skip`: parameters in (0, 1) and edges; returns their number. */
int32_t fx_implicit_crossings(const fx_implicit_contact *contact, unsigned skip, const double *a, const double *b,
                              double *at, unsigned *edge);

#endif
