/* Contact problems as mixed complementarity problems. */
#ifndef FX_SOLVER_MCP_BRIDGE_H
#define FX_SOLVER_MCP_BRIDGE_H

#include "problem/system.h"

#include <frix/mcp.h>

/* Unknowns of the complementarity problem. */
int64_t fx_bridge_count(const fx_system *system);
/* The system must have W and outlives nothing: all is copied. */
frix_status fx_bridge_create(frix_context *context, const fx_system *system, frix_law law, frix_mcp **out);
/* Unknowns that fit impulses r and velocities u: a start. */
void fx_bridge_start(const frix_mcp *mcp, const double *r, const double *u, double *x);

#endif
