/* The contact problem as data: the input, checked and in canonical form. */
#ifndef FX_PROBLEM_PROBLEM_H
#define FX_PROBLEM_PROBLEM_H

#include "base/threads.h"
#include "linalg/block_matrix.h"
#include "linalg/sparse.h"

#include <frix/problem.h>

struct frix_problem {
  frix_context *context;
  frix_form form;
  int32_t contact_count, row_count, dof_count, joint_count;
  frix_contact *contact;
  int32_t *row; /* first row of each contact, contact_count + 1 */
  fx_sparse W, M, H, G;
  double *q, *f, *w, *b, *R, *r_c, *guess; /* NULL where absent */
  double *limit;        /* of a step: row_count + joint_count, largest speeds that errors are measured by; NULL: none */
  int32_t *motion;      /* of a step with trees: by degree of freedom, the number of its motion (row_links.c), one after
                         * the other within a tree; -1: none of a tree; NULL: there are no trees */
  const double *v_free; /* of a step with trees: M^-1 f without the rounding of f; NULL: it is found from f */
  const fx_block_matrix *blocks; /* of a step: H' by contacts and movers; H is then empty. NULL: none */
  fx_threads threads;            /* of a step: for loops over all contacts */
  char *title;
};

/* H by columns, where it is given by blocks. */
frix_status fx_problem_columns(fx_arena *arena, const frix_problem *problem, fx_sparse *out);

/* Takes a copy of the limits and motions of `from`, a problem of the same rows. */
frix_status fx_problem_take_limit(frix_problem *problem, const frix_problem *from);

/* Checks a matrix as it was given, entry by entry, and copies it; name is what messages call it. */
frix_status fx_matrix_take(frix_context *context, const char *name, const frix_matrix *a, int32_t row_count,
                           int32_t col_count, fx_sparse *out);

#endif
