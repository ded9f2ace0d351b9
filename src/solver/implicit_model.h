/* The implicit method's equation and its linear model, in unknowns where every disc is round and every row weighs
 * alike.
 *
 *   res(x) = (A - I) f(x) - x + q,   A = T' (W + R) T,  r = T f,  v = T' u
 *   l(x)   = 1/2 sum_i w_i^2 |res_i|^2,   J = -((A - I) P + I),  P = -df/dx
 *
 * T scales each contact by (tr D_ii / dim)^-1/2, rolling rows apart from the others, and turns an ellipse into a disc.
 */
#ifndef FX_SOLVER_IMPLICIT_MODEL_H
#define FX_SOLVER_IMPLICIT_MODEL_H

#include "linalg/block_lu.h"
#include "problem/system.h"
#include "solver/implicit_cone.h"

typedef struct fx_implicit {
  int32_t contact_count, row_count;
  const int32_t *row;
  fx_implicit_contact *contact;
  const size_t *diagonal; /* where the dim x dim block of a contact begins in T, P and B */
  double *T, *P, *B;      /* B: projector on the tangent space of the active edges, I where there is none */
  fx_block_matrix A, J;   /* J holds w J B */
  double *q;
  double size;    /* largest of abs(q): impulses are of that order */
  double *weight; /* w, per contact */
  /* The damped least-squares step as one sparse system of twice the size. */
  int32_t *double_row;
  fx_block_matrix K;
  fx_block_lu lu;
  double *f, *z, *both, *right, *step; /* workspace */
} fx_implicit;

/* W must be assembled. */
frix_status fx_implicit_build(fx_arena *arena, const fx_system *system, fx_implicit *out);

/* res(x); returns l(x). */
double fx_implicit_residual(fx_implicit *m, const double *x, double *res);

/* z = A' w^2 res - w^2 res, and rho = w^2 res: what slopes of l need. */
void fx_implicit_weigh(fx_implicit *m, const double *res, double *rho, double *z);

/* J from P and B. */
void fx_implicit_jacobian(fx_implicit *m);

/* dx = -(J'J + lambda I)^-1 J' w res; false when the factorisation broke down. */
bool fx_implicit_step(fx_implicit *m, double lambda, const double *res, double *dx);

/* From x to impulses, contacts with f_N <= least * size left without any. */
void fx_implicit_impulse(const fx_implicit *m, const double *x, double least, double *r);
/* From impulses r with velocities u to x = T'u - T^-1 r. */
void fx_implicit_warm(const fx_implicit *m, const double *r, const double *u, double *x);

#endif
