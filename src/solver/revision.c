/* Free velocities of a system whose problem has other r_c. */
#include "solver/revision.h"

#include "problem/equilibrate.h"

bool fx_revise(fx_revised *x, double residual, const double *r, const double *unit) {
  for (int32_t k = 0; unit && k < x->given->row_count; k++) x->r[k] = r[k] * unit[k];
  if (!x->owner->revise(x->owner, residual, unit ? x->r : r)) return false;
  fx_system_shift(x->given, x->problem);
  if (x->alike) fx_system_shift_alike(x->given, x->unit, x->alike);
  return true;
}
