#include "sim/sim.h"
frix_status fx_joints_assemble(frix_sim *sim, fx_assembly *a) { (void)sim; a->joint_first = a->group_count; return FRIX_OK; }
void fx_joints_finish(frix_sim *sim) { (void)sim; }
void fx_joints_measure(frix_sim *sim, bool fresh) { (void)sim; (void)fresh; }
double fx_joints_potential(const frix_sim *sim) { (void)sim; return 0; }
void fx_joints_room(const frix_sim *sim, int32_t *groups, int32_t *rows, size_t *values) { (void)sim; *groups = 0; *rows = 0; *values = 0; }
frix_status fx_poisson(frix_sim *sim) { (void)sim; return FRIX_OK; }
frix_status fx_project(frix_sim *sim) { (void)sim; return FRIX_OK; }
