/* The assembled rows as a system, without a problem in between. */
#ifndef FX_SIM_SYSTEM_H
#define FX_SIM_SYSTEM_H

#include "problem/system.h"
#include "sim/sim.h"

/* After the problem's degrees of freedom were numbered. Enough for velocities and the certificate. */
frix_status fx_sim_system(frix_sim *sim, const fx_assembly *a, fx_system *out);

#endif
