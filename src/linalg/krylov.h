/* Iterative solution of A x = b, where A is given by its products with vectors: conjugate gradients if it is symmetric
 * and definite, else BiCGStab. Sums run in one fixed order, so the answer is the same on every machine. */
#ifndef FX_LINALG_KRYLOV_H
#define FX_LINALG_KRYLOV_H

#include "base/arena.h"

typedef struct fx_krylov {
  int32_t n;
  void (*apply)(void *user, const double *x, double *y);        /* y := A x */
  void (*precondition)(void *user, const double *x, double *y); /* y := about A^-1 x */
  void *user;
  double tolerance; /* of |b - A x| / |b| */
  int32_t limit;    /* iterations */
  double *work[8];  /* n each */
} fx_krylov;

typedef struct fx_krylov_end {
  int32_t iterations;
  double residual; /* |b - A x| / |b| of the answer, as the recurrence has it */
} fx_krylov_end;

/* Workspace for n unknowns; the caller sets the rest. */
frix_status fx_krylov_take(fx_arena *arena, int32_t n, fx_krylov *out);

/* x from zero; where an iteration breaks down, or the limit is reached, x is the best there was. */
fx_krylov_end fx_krylov_symmetric(const fx_krylov *k, const double *b, double *x);
fx_krylov_end fx_krylov_general(const fx_krylov *k, const double *b, double *x);

#endif
