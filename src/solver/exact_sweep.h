/* Exact sweeps: the visit of one contact, which nsgs makes of every contact in turn and small islands make where they
 * stand.
 *
 *   q_i = (W r + q)_i - W_ii r_i;   r_i := exact solution of u = (W_ii + R_i) r_i + q_i, Coulomb
 *
 * Reference: M. Jean, The non-smooth contact dynamics method, 1999. In the local form q_i is a row of W; in the
 * velocity form it is read off v, which every change of r_i updates. */
#ifndef FX_SOLVER_EXACT_SWEEP_H
#define FX_SOLVER_EXACT_SWEEP_H

#include "problem/system.h"
#include "solver/one_contact.h"

/* Options of nsgs. */
enum { FX_SWEEP_RELAXATION, FX_SWEEP_SYMMETRIC };

typedef struct fx_exact_sweep {
  const fx_system *s;
  double *r, *v;
  double relaxation;
  /* Off-diagonal blocks of W in sweep order, values contiguous and column-major: what many sweeps read. x is NULL where
   * few sweeps read the blocks of W themselves. */
  int32_t *start, *from, *width; /* blocks of contact i; first row and number of columns of each block */
  size_t *offset;
  double *x;
  double change, size; /* squares of |dr| and |r| over the last sweep */
} fx_exact_sweep;

/* Copies W without its diagonal; or takes the copy that another has, of the same system. */
frix_status fx_exact_sweep_pack(fx_arena *arena, fx_exact_sweep *t);
void fx_exact_sweep_share(const fx_exact_sweep *from, fx_exact_sweep *t);

/* One contact; `one` was prepared from its block of D. */
void fx_exact_sweep_visit(fx_exact_sweep *t, int32_t i, fx_one_contact *one);

#endif
