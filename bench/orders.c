/* Orders of SuiteSparse's AMD and of METIS. The library never uses them: a result must not depend on what a machine has
 * installed. */
#include "bench/orders.h"

#include <string.h>

#ifdef FRIX_HAVE_AMD
#include <amd.h>
static frix_status order_amd(fx_arena *arena, const fx_graph *graph, int32_t *order) {
  if (amd_order(graph->count, graph->start, graph->near, order, NULL, NULL) < AMD_OK)
    return fx_fail(arena->context, FRIX_ERROR_MEMORY, "AMD: out of memory");
  return FRIX_OK;
}
#endif

#ifdef FRIX_HAVE_METIS
#include <metis.h>
static frix_status order_metis(fx_arena *arena, const fx_graph *graph, int32_t *order) {
  /* METIS takes graphs it may write to, with edges; its integers have 32 bits in the packages. */
  _Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS with 32-bit integers");
  int32_t n = graph->count, edges = graph->start[n];
  idx_t *start = FX_TAKE_RAW(arena, idx_t, (size_t)n + 1), *near = FX_TAKE_RAW(arena, idx_t, edges);
  idx_t *step = FX_TAKE_RAW(arena, idx_t, n);
  if (!start || !near || !step) return FRIX_ERROR_MEMORY;
  memcpy(start, graph->start, ((size_t)n + 1) * sizeof *start);
  memcpy(near, graph->near, (size_t)edges * sizeof *near);
  for (int32_t k = 0; k < n; k++) order[k] = k;
  if (edges == 0) return FRIX_OK;
  idx_t count = n;
  if (METIS_NodeND(&count, start, near, NULL, NULL, order, step) != METIS_OK)
    return fx_fail(arena->context, FRIX_ERROR_MEMORY, "METIS failed");
  return FRIX_OK;
}
#endif

frix_status package_graph_order(fx_arena *arena, const fx_graph *graph, package_order package, int32_t *order) {
  (void)graph, (void)order;
#ifdef FRIX_HAVE_AMD
  if (package == PACKAGE_AMD) return order_amd(arena, graph, order);
#endif
#ifdef FRIX_HAVE_METIS
  if (package == PACKAGE_METIS) return order_metis(arena, graph, order);
#endif
  return fx_fail(arena->context, FRIX_ERROR_UNSUPPORTED, "this build is without %s",
                 package == PACKAGE_AMD ? "SuiteSparse's AMD" : "METIS");
}
