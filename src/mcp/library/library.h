/* The problem library: one table per family, each in its own file. */
#ifndef FX_MCP_LIBRARY_LIBRARY_H
#define FX_MCP_LIBRARY_LIBRARY_H

#include "linalg/sparse.h"
#include "mcp/mcp_internal.h"

typedef struct fx_mcp_spec {
  frix_mcp_entry entry; /* a row without name ends a table */
  /* size is entry.size unless the name asked for another one. */
  frix_status (*create)(frix_context *context, const struct fx_mcp_spec *spec, int32_t size, frix_mcp **out);
  const void *detail; /* the family's own */
} fx_mcp_spec;

extern const fx_mcp_spec fx_library_harker[], fx_library_scarf[], fx_library_control[], fx_library_classic[],
    fx_library_nash[], fx_library_linear[], fx_library_sized[], fx_library_kehoe[], fx_library_colville[];

/* Creates a problem whose Jacobian is full: jacobian fills value[j * count + i] = dF_i / dx_j. */
frix_status fx_library_dense(frix_context *context, const frix_mcp_data *data, frix_mcp **out);

/* Creates F = M x + q with the entries of M as triplets; data brings name, count, bounds, starts, solutions. */
frix_status fx_library_affine(frix_context *context, const frix_mcp_data *data, fx_triplets entries, const double *q,
                              frix_mcp **out);

/* Most problems take these as they are. */
#define FX_LIBRARY_STARTS(data_, array_) \
  ((data_)->start = &(array_)[0][0], (data_)->start_count = (int32_t)(sizeof(array_) / sizeof((array_)[0])))
#define FX_LIBRARY_SOLUTIONS(data_, array_) \
  ((data_)->solution = &(array_)[0][0], (data_)->solution_count = (int32_t)(sizeof(array_) / sizeof((array_)[0])))

#endif
