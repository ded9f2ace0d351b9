/* The tree behind the questions of a sim, kept while its poses stay. */
#ifndef FX_SIM_QUERY_H
#define FX_SIM_QUERY_H

#include "collision/gap.h"
#include "collision/query_tree.h"
#include "sim/sim_internal.h"

typedef struct fx_query {
  fx_query_tree tree;
  bool valid;
  uint64_t stamp; /* of what it was built from: sim->stamp and state.step_count */
  int64_t step_count;
} fx_query;

/* The tree at the present poses; NULL with the error text set. */
const fx_query_tree *fx_query_now(frix_sim *sim);
void fx_query_free(frix_sim *sim);
/* Between two shapes of different bodies of the model, places in frix_model.shape; false: not known, or beyond the
 * limit. */
bool fx_query_gap(const frix_sim *sim, int32_t shape_a, int32_t shape_b, double limit, fx_gap *out);

#endif
