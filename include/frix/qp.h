/* frix: strictly convex quadratic programmes, by active sets.
 *
 *   min 1/2 x'Qx + c'x     subject to     A_eq x = b,   A x >= lower
 *   Q x + c = A_eq' nu + A' lambda,   lambda >= 0,   lambda _|_ A x - lower
 *
 * Q is symmetric positive definite, dense or in diagonal blocks. Rows may be linearly dependent; an infeasible
 * programme is an outcome, not an error. */
#ifndef FRIX_QP_H
#define FRIX_QP_H

#include <frix/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum frix_qp_method {
  FRIX_QP_DUAL,   /* Goldfarb and Idnani: from the active rows of a guess, or from none */
  FRIX_QP_PRIMAL, /* from any x, made feasible by a penalised slack in every row */
} frix_qp_method;

typedef enum frix_qp_outcome {
  FRIX_QP_SOLVED,
  FRIX_QP_INFEASIBLE,
  FRIX_QP_MAX_ITERATIONS,
  FRIX_QP_STALLED, /* rounding: the programme is too ill-conditioned */
} frix_qp_outcome;

FRIX_API const char *frix_qp_outcome_name(frix_qp_outcome outcome);

typedef struct frix_qp_data {
  uint32_t size; /* set by frix_qp_data_default */
  int32_t variable_count, equality_count, inequality_count;
  const double *Q;      /* row-major; with blocks: the blocks one after the other */
  int32_t block_count;  /* 0: Q is one dense block */
  const int32_t *block; /* first variable of each diagonal block, block_count + 1 */
  const double *c;
  frix_matrix A_eq; /* equality_count x variable_count; any storage */
  const double *b;
  frix_matrix A; /* inequality_count x variable_count */
  const double *lower;
} frix_qp_data;

FRIX_API void frix_qp_data_init(frix_qp_data *out, size_t size);
static inline frix_qp_data frix_qp_data_default(void) {
  frix_qp_data out;
  frix_qp_data_init(&out, sizeof out);
  return out;
}

typedef struct frix_qp_config {
  uint32_t size; /* set by frix_qp_default */
  frix_qp_method method;
  int64_t max_iterations; /* changes of the active set; 0: 100 per row */
  double tolerance; /* tolerance of a row, relative to the largest violation of the unconstrained minimiser; default
                       1e-12 */
  double price;     /* primal: initial penalty of the slack; 0: chosen */
  /* A guess: the dual method takes the rows with lambda > 0, the primal one x too. */
  const double *guess_x, *guess_lambda;
} frix_qp_config;

FRIX_API void frix_qp_init(frix_qp_config *out, size_t size);
static inline frix_qp_config frix_qp_default(void) {
  frix_qp_config out;
  frix_qp_init(&out, sizeof out);
  return out;
}

typedef struct frix_qp_result {
  uint32_t size;
  frix_qp_outcome outcome;
  int64_t iterations; /* changes of the active set */
  double objective;
  double residual; /* of the four conditions above, each relative to its terms; the largest */
  const double *x, *nu, *lambda;
  const bool *active; /* inequality_count: rows of the final working set */
  int32_t active_count;
} frix_qp_result;

typedef struct frix_qp_solution frix_qp_solution;

FRIX_API frix_status frix_qp_solve(frix_context *context, const frix_qp_data *data, const frix_qp_config *config,
                                   frix_qp_solution **out);
FRIX_API void frix_qp_solution_destroy(frix_qp_solution *solution);
FRIX_API void frix_qp_solution_view_sized(const frix_qp_solution *solution, frix_qp_result *out, size_t size);
static inline void frix_qp_solution_view(const frix_qp_solution *solution, frix_qp_result *out) {
  frix_qp_solution_view_sized(solution, out, sizeof *out);
}

#ifdef __cplusplus
}
#endif
#endif
