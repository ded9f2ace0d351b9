/* Surfaces of a file: margins and adhesion of contacts. */
#ifndef FX_SIM_COATS_H
#define FX_SIM_COATS_H

#include "sim/sim_internal.h"

/* How far from surfaces contacts of the model may act or pull. */
double fx_coats_thickest(const frix_sim *sim);
/* Gaps of the contacts that were found, from margin to margin; those beyond reach go. */
frix_status fx_coats_measure(frix_sim *sim, double margin);
/* Whether a contact is closed, or within the gap of its surfaces. */
bool fx_coats_near(const frix_sim *sim, const fx_contact *c);
/* The attraction of a contact, N. */
double fx_coats_adhesion(const frix_sim *sim, const fx_contact *c);
/* Lists the attractions of the contacts of this step: sim->pull. */
frix_status fx_coats_stick(frix_sim *sim);
/* A pull on the two bodies, added to the forces on their movers. */
void fx_attract(frix_sim *sim, const fx_attraction *p);
void fx_coats_pull(frix_sim *sim);
/* The impulse of a contact on a with what adhesion took back, as two bodies feel it. */
frix_vec3 fx_coats_impulse(const frix_sim *sim, const fx_touching *t);

#endif
