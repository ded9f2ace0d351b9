/* The conic programme of an island of admissible impulses. */
#ifndef FX_ANALYSIS_FORCE_PROGRAMME_H
#define FX_ANALYSIS_FORCE_PROGRAMME_H

#include "analysis/force_set.h"
#include "solver/cone_lp.h"
#include "solver/conic.h"

/* With the measure c by variable as t = c . x in the last row, min t; NULL: no measure. */
frix_status fx_force_programme(fx_arena *arena, const frix_forces *f, int32_t k, const double *c, fx_cone_lp *lp);

#endif
