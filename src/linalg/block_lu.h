/* Sparse factors of a square block matrix with (made) symmetric pattern: Cholesky where the matrix is symmetric and
 * definite, LU on the same panels where it is not, with row pivots within panels but not between them. Meant for
 * matrices that are positive on the diagonal, such as W + kappa I or M + H D H'.
 *
 * Nodes with the same neighbours (for example contacts between the same two bodies) are eliminated together as one
 * group.
 */
#ifndef FX_LINALG_BLOCK_LU_H
#define FX_LINALG_BLOCK_LU_H

#include "base/threads.h"
#include "linalg/block_matrix.h"
#include "linalg/block_order.h"

typedef struct fx_strip fx_strip;
typedef struct fx_debt fx_debt;

/* Workspace of a thread that updates a panel. */
typedef struct fx_lu_bench {
  int32_t *column; /* in the panel at hand of the rows of an update that are its own */
  size_t *to;
  fx_strip *strip;
  double *packed, *tile;
} fx_lu_bench;

enum { FX_LU_BENCHES = 4 };

typedef struct fx_block_lu {
  int32_t node_count, group_count;
  int32_t *member_start, *member; /* nodes of each group */
  int32_t *group_of;              /* group of each node */
  int32_t *above_start, *above;   /* blocks of each column of the pattern, by number, and their rows */
  int32_t *above_row;
  fx_symbolic order;  /* of the groups */
  fx_threads threads; /* that a factorisation may use, set by the owner after the analysis; the bits are the same */
  const int32_t *row; /* partition of the matrix factored last, by node */
  int32_t *first;     /* first row of each step in elimination order, group_count + 1 */
  int32_t *place;     /* row of each node within its group */
  int32_t *list_row;  /* row of each entry of order.list within its panel */
  int32_t *rows;      /* of each panel */
  size_t *lower;      /* where a panel begins in L: its own rows, then those it reaches, row-major */
  size_t *upper;      /* and in U: the columns it reaches as rows */
  int32_t *pivot;     /* row that changed places with each row of the elimination, counted within its panel */
  double *L, *U;
  bool symmetric; /* the factors at hand are those of Cholesky, in L alone */
  double cost;    /* multiplications of one nonsymmetric factorisation */
  double fill;    /* entries of L */
  double effort;  /* multiplications of Cholesky without stored zeros, to compare orders by */
  /* Workspace of a factorisation and of a solution. */
  int32_t *waiting, *next; /* panels that have to update a panel; */
  size_t *cursor;          /* and where in their lists they stand */
  int32_t *position;       /* of a step's rows in the panel at hand */
  fx_debt *debt;           /* of earlier panels to the panel at hand */
  fx_lu_bench bench[FX_LU_BENCHES];
  size_t *even, *flat;
  double *chunk, *x;
} fx_block_lu;

frix_status fx_block_lu_analyze(fx_arena *arena, const fx_block_matrix *a, fx_block_lu *out);

/* The same in an order of the caller's choice, and with room for the factors only where a factorisation costs at most
 * this many multiplications: elsewhere L is NULL, and only cost and fill are of use. */
frix_status fx_block_lu_analyze_within(fx_arena *arena, const fx_block_matrix *a, fx_ordering ordering,
                                       double most_cost, fx_block_lu *out);

/* For a matrix whose nodes are those of an earlier one, perhaps with others after them: keeps the earlier order, which
 * is most of the work of an analysis, as long as it does not make the factors much dearer. kept (may be NULL) tells. */
frix_status fx_block_lu_analyze_again(fx_arena *arena, const fx_block_matrix *a, const fx_block_lu *before,
                                      double most_cost, fx_block_lu *out, bool *kept);

/* Factors A + shift I; false when a pivot block is singular. A has the block pattern that was analysed; its blocks may
 * be smaller than they were then, or empty. Where the caller knows A to be symmetric the work is halved. */
bool fx_block_lu_factor(fx_block_lu *lu, const fx_block_matrix *a, double shift, bool symmetric);

/* Sign of the determinant of A + shift I: 1 or -1. */
double fx_block_lu_sign(const fx_block_lu *lu);

/* x := (A + shift I)^-1 x */
void fx_block_lu_solve(const fx_block_lu *lu, double *x);
/* x := (A + shift I)'^-1 x */
void fx_block_lu_solve_transposed(const fx_block_lu *lu, double *x);

#endif
