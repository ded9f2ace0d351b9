/* The linear systems of newton, admm and the conic methods, in contact space or in velocity space.
 *
 *   contact    (A P + B) dx = -G                                A = S (W + R) S;  only over contacts with P != 0,
 *                                                               the others follow from B dx = -(G + A P dx)
 *   velocity   (M + H S D S H') dv = -H S D G                   C = B + S R S P,  D = P C^-1
 *              dx = -C^-1 (G + S H' dv)
 *
 * Velocity space stays small under many contacts per body and is definite under redundant ones. Where its factors would
 * cost too much, its systems are solved by iteration: conjugate gradients or BiCGStab on M + H S D S H' as it stands,
 * preconditioned by incomplete factors. */
#ifndef FX_SOLVER_NEWTON_LINEAR_H
#define FX_SOLVER_NEWTON_LINEAR_H

#include "linalg/block_ilu.h"
#include "linalg/block_lu.h"
#include "linalg/krylov.h"
#include "problem/system.h"

typedef enum fx_linear_choice { FX_LINEAR_AUTO, FX_LINEAR_DIRECT, FX_LINEAR_KRYLOV, FX_LINEAR_JACOBI } fx_linear_choice;

typedef struct fx_newton_linear {
  const fx_system *s;
  const double *S; /* scale of each row: fx_scaling */
  bool by_velocity;
  const fx_block_matrix *Y; /* by velocity: M^-1 H */
  const double *M;
  bool fixed_symmetric; /* M, or A, is symmetric */
  bool D_symmetric;     /* so is every D, or every active P is the identity, in the last factorisation */
  fx_block_lu lu;
  fx_block_matrix A, N; /* contact space: scaled operator, Newton matrix of the active contacts on its pattern */
  int32_t *active;      /* partition of N: contacts with P = 0 have no rows */
  fx_block_matrix K;    /* velocity space, movers x movers */
  int32_t *target;      /* block of K for each pair of movers of each contact */
  size_t *target_start;
  double *C_inverse, *D; /* per contact, at the offsets of s->diagonal */
  double sign;           /* of the determinants of all C */
  double *product;       /* D S H' of one contact and mover */
  double *v, *row, *moved, *rest, *active_move;
  /* Velocity space by iteration. */
  bool by_iteration, jacobi;
  fx_block_ilu ilu;
  fx_krylov krylov;
  double *right;
  int64_t krylov_iterations, krylov_solves; /* so far */
} fx_newton_linear;

/* Scales, analyses and takes all workspace, in the velocity form where the system has one; NULL when memory runs out or
 * the system is too large. */
fx_newton_linear *fx_newton_linear_create(fx_arena *arena, const fx_system *s, frix_status *status);

/* The same with a choice between factors and iteration (with incomplete factors, or with diagonal blocks alone);
 * contact space has factors only. */
fx_newton_linear *fx_newton_linear_create_as(fx_arena *arena, const fx_system *s, fx_linear_choice choice,
                                             frix_status *status);

/* out = A z, scaled, without q */
void fx_newton_apply(const fx_newton_linear *n, const double *z, double *out);

/* Factors the system for slopes P and B (per contact, at the offsets of s->diagonal; P NULL: all I); false when a pivot
 * vanished. */
bool fx_newton_factor(fx_newton_linear *n, const double *P, const double *B);

/* Velocity space with unscaled slopes: factors M + H D H'; false when a pivot vanished. */
bool fx_newton_factor_slopes(fx_newton_linear *n, const double *D);
/* v := (M + H D H')^-1 v */
void fx_newton_solve_motion(fx_newton_linear *n, double *v);

/* Sign of the determinant of A P + B, where M is definite; there are factors. */
double fx_newton_sign(const fx_newton_linear *n);

/* dx from G, once. P and B are those of the factorisation. */
void fx_newton_solve_once(fx_newton_linear *n, const double *P, const double *B, const double *G, double *dx);

/* The same with one step of refinement. */
void fx_newton_solve(fx_newton_linear *n, const double *P, const double *B, const double *G, double *dx);

#endif
