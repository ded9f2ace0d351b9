/* How many digits the mass matrix of a problem loses.
 *
 *   M = L'DL,   D_i = M_ii - sum over k > i of L_ki^2 D_k
 *
 * Where D_i is small against M_ii it is the rest of a difference: its rounding is M_ii / D_i times that of M, and so is
 * that of responses along i (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 10.1). The ratio
 * does not depend on units. Links of a tree under tension reach 1e12. */
#include "problem/mass_loss.h"

#include "problem/mass.h"

double fx_mass_loss(fx_arena *arena, const fx_system *s) {
  double most = 1.0;
  size_t widest = 0;
  for (int32_t m = 0; m < s->mover_count && s->M; m++) {
    size_t n = (size_t)(s->dof[m + 1] - s->dof[m]);
    if (n > widest) widest = n;
  }
  double *factor = FX_TAKE_RAW(arena, double, widest *widest + 1);
  if (!factor) return 0.0;
  for (int32_t m = 0; m < s->mover_count && s->M; m++) {
    int32_t n = s->dof[m + 1] - s->dof[m];
    const double *M = s->M + s->M_offset[m];
    bool diagonal = n == 0 || s->inverse_mass[s->dof[m]] != 0.0;
    if (diagonal || !fx_factor_symmetric(n, M, factor)) continue;
    for (size_t i = 0; i < (size_t)n; i++) {
      double ratio = M[i * (size_t)n + i] * factor[i * (size_t)n + i];
      if (ratio > most) most = ratio;
    }
  }
  return most;
}
