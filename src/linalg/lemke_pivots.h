/* Lemke's complementary pivoting for mixed linear complementarity problems, on a dense tableau:
 *
 *   w = M z + q,    0 <= w _|_ z >= 0,    rows marked free: w = 0, z free
 *
 * M may be singular and nonsymmetric. All memory comes from the arena beforehand; a run allocates nothing. */
#ifndef FX_LINALG_LEMKE_H
#define FX_LINALG_LEMKE_H

#include "base/arena.h"
#include "linalg/sparse.h"

typedef enum fx_lemke_end {
  FX_LEMKE_SOLVED, /* z0 left the basis; how exact z is, the caller judges */
  FX_LEMKE_RAY,    /* the path ended in a secondary ray: no solution where M is copositive-plus, none found elsewhere */
  FX_LEMKE_LIMIT,  /* as many pivots as were allowed */
  FX_LEMKE_STOPPED,  /* the stop callback said so */
  FX_LEMKE_SINGULAR, /* the free rows contradict each other, or cannot be solved for the free variables alone */
  FX_LEMKE_CYCLE,    /* rounding made the path come back to a basis, whatever was done about it */
} fx_lemke_end;

typedef struct fx_lemke {
  /* The problem; set by the caller before a run. */
  int32_t n;
  const fx_sparse *M;
  const double *q;
  const bool *free_row; /* NULL: none */
  const bool *start;    /* z to be basic at the start, as far as possible; NULL: none, Lemke's own start */
  int64_t pivot_limit;
  bool (*stop)(int64_t pivots, const double *z, void *user); /* asked now and then with the z at hand; NULL: never */
  void *user;
  /* What came out. */
  double *z; /* n; refined where solved, else the point on the path where it ended */
  int64_t pivots;
  double artificial; /* z0: how far the end of the path is from a solution */
  double growth;     /* largest entry that served as a pivot, over the largest of M */
  int32_t rebuilds;  /* tableaus made anew from M because rounding had grown */
  /* The tableau: basic = (T + U V) nonbasic + rhs. Variables: w_i is i, z_i is n + i, z0 is 2 n. */
  size_t stride;
  double *T, *U, *V, *rhs;
  int32_t late;              /* columns of U, rows of V: pivots not yet carried into T */
  int32_t *basic, *nonbasic; /* variable of each row, of each column */
  int32_t *place;            /* of each variable: its row, or -1 - its column */
  int32_t *first;            /* variable of each row at the start: the lexicographic order */
  double *side, *d;          /* q, perturbed where rounding made the path cycle; the column of z0 */
  bool *end;                 /* the basic z of the last solved path */
  double *column, *w, *rest, *best;
  int32_t *list, *tied;
  uint64_t basis, *seen;   /* hash of the basis, and of bases met before */
  double scale, size, tie; /* largest |q| and |M|; values that differ by less are equal */
} fx_lemke;

/* Memory for problems with n rows: one dense n x n matrix and some vectors. */
frix_status fx_lemke_take(fx_arena *arena, int32_t n, fx_lemke *out);

fx_lemke_end fx_lemke_run(fx_lemke *lemke);

const char *fx_lemke_end_name(fx_lemke_end end);

#endif
