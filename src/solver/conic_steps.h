/* Steps of the conic iterations: what conic_newton.c and conic_interior.c share. */
#ifndef FX_SOLVER_CONIC_STEPS_H
#define FX_SOLVER_CONIC_STEPS_H

#include "solver/conic.h"

/* Stiffness of held directions; z makes up for what it leaves. */
#define FX_HELD_WEIGHT 1e9

/* Runs over the parts of contacts that are on. */
#define FX_EACH_PART(c, i, part)                                     \
  for (int32_t i = 0; i < (c)->s->contact_count; i++)                \
    for (const fx_conic_part *part = (c)->part + (c)->part_start[i]; \
         !(c)->off[i] && part < (c)->part + (c)->part_start[i + 1]; part++)

void fx_conic_times_E(const fx_conic *conic, const double *a, double *out); /* out = E a */
/* out += factor E' a; contacts that are off keep 0 */
void fx_conic_add_Et(const fx_conic *conic, double factor, const double *a, double *out);
/* rd = A x + q + shift(E' z) - E' z, the shift under the exact law only, with its slopes */
void fx_conic_dual_residual(fx_conic *conic);
/* D = 0, large where contacts are off */
void fx_conic_clear_D(fx_conic *conic);
/* D_i += E' B E for the part's block B (dim x dim, symmetric) */
void fx_conic_add_block(fx_conic *conic, int32_t i, const fx_conic_part *part, const double *B);
/* Factors A + N D + delta, with N = I, or I less the slope of the shift in the normal row; false where singular. */
bool fx_conic_factor(fx_conic *conic, double delta);
/* dx := (A + N D + delta)^-1 (N E' a - rd) with a misfit of at most accuracy times the right side, or of `enough` */
void fx_conic_solve_for(fx_conic *conic, const double *a, double accuracy, double enough);
/* |q, g|: what merits are relative to */
double fx_conic_size(const fx_conic *conic);
/* | rd, s - P_C(s - z) | over |q, g| with s = E x + g; leaves rd with its slopes, s in ds and the natural map in p, and
 * keeps the best */
double fx_conic_measure(fx_conic *conic);

typedef struct fx_conic_verdict {
  bool done;
  fx_conic_end end;
} fx_conic_verdict;

/* Tells the caller and compares with the tolerance; the merit is fresh. */
fx_conic_verdict fx_conic_judge(fx_conic *conic, const fx_conic_run *run);

/* Semismooth Newton from x and z; delta = caution merit^(3/4). Goes on while the merit halves within three steps; true
 * with the verdict when that ends the run, else x and z are as they were. */
bool fx_conic_newton(fx_conic *conic, const fx_conic_run *run, double caution, fx_conic_verdict *out);

/* The interior point from a start of its own. */
fx_conic_end fx_conic_interior(fx_conic *conic, const fx_conic_run *run);

#endif
