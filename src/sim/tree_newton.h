/* Rows over trees: what trees answer to all of them, and newton on them. */
#ifndef FX_SIM_TREE_NEWTON_H
#define FX_SIM_TREE_NEWTON_H

#include "sim/mechanism.h"

/* ---- tree_products.c ---- */
/* What a tree answers to the rows that move it; Y is NULL for bodies, soft bodies and where it would be too large. */
struct fx_tree_products {
  int32_t count, filled;
  int32_t *row;   /* of the assembly */
  double *Y, *Z;  /* dof x count: J M~^-1 J' = Y' Z */
  double *weight; /* its diagonal */
};
typedef struct fx_tree_products fx_tree_products;

/* Those of all movers, kept with the rows. */
frix_status fx_tree_products_find(const frix_sim *sim, fx_assembly *a);

/* ---- tree_newton.c ---- */
typedef struct fx_tree_island fx_tree_island;

/* Islands with their W; none where the rows do not fit: then they are the solver's. */
typedef struct fx_tree_newton {
  fx_tree_island *island;
  int32_t count;
} fx_tree_newton;

frix_status fx_tree_newton_begin(const frix_sim *sim, fx_assembly *a, fx_arena *arena, fx_tree_newton *out);
/* Impulses into a->r, from those that stand there; w, R and r_c may have changed since begin. fine: as near as rounding
 * lets them come, so that what nearly rests comes to rest. false: not found. */
bool fx_tree_newton_run(const frix_sim *sim, fx_assembly *a, const fx_tree_newton *newton, bool fine,
                        int64_t *iterations);

#endif
