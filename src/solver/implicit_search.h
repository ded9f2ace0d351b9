/* Line search of the implicit method: a segment is cut where it crosses edges, each smooth piece gets a cubic. */
#ifndef FX_SOLVER_IMPLICIT_SEARCH_H
#define FX_SOLVER_IMPLICIT_SEARCH_H

#include "solver/implicit_model.h"

typedef struct fx_crossing {
  double at;
  int32_t contact;
  unsigned edge;
} fx_crossing;

typedef struct fx_implicit_search {
  bool found;
  double value;        /* l at the best point, at first the value to beat */
  double *best;        /* the point */
  unsigned *best_edge; /* the edges it lies on */
  const unsigned *active;
  fx_crossing *crossing; /* workspace */
  double *point, *res;
} fx_implicit_search;

frix_status fx_implicit_search_take(fx_arena *arena, const fx_implicit *m, fx_implicit_search *out);

/* Moves the contacts with active edges back on them. */
void fx_implicit_keep_edges(const fx_implicit *m, const unsigned *active, double *x);

void fx_implicit_search_begin(fx_implicit_search *search, double value, const unsigned *active);

/* Looks for a better point between a and b, b included. */
void fx_implicit_search_segment(fx_implicit_search *search, fx_implicit *m, const double *a, const double *b);

/* Moves x along a direction just past the first `wanted` edges; returns how many there were. */
int32_t fx_implicit_search_ray(fx_implicit_search *search, const fx_implicit *m, int32_t wanted,
                               const double *direction, double *x);

#endif
