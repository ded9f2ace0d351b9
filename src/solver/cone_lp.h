/* Linear programmes over second-order cones, with one free parameter t:
 *
 *   min slope t    A x + a t = b,   x_i in C_i       C_i: a second-order cone of dimension 1 to 3, or all of R^n
 *   max -b . y     A'y = z,  z_i in C_i (0 where x_i is free),  a . y + slope = 0
 *
 * A is held by units (the x_i) and nodes (rows that belong together: the degrees of freedom of a body). */
#ifndef FX_SOLVER_CONE_LP_H
#define FX_SOLVER_CONE_LP_H

#include "linalg/block_lu.h"
#include "linalg/block_matrix.h"
#include "linalg/sparse_lu.h"

typedef enum fx_cone_lp_end {
  FX_CONE_LP_SOLVED,
  FX_CONE_LP_INFEASIBLE, /* y shows it: A'y = z, a . y = 0, b . y < 0 */
  FX_CONE_LP_UNBOUNDED,  /* x and t show it: A x + a t = 0, slope t < 0 */
  FX_CONE_LP_LOST,       /* rounding ended it; x / tau and y / tau are the best there is of either */
} fx_cone_lp_end;

typedef struct fx_cone_lp_place {
  double *x, *z, *y, t, tau, kappa;
} fx_cone_lp_place;

typedef struct fx_cone_lp {
  /* The programme, set by the caller before fx_cone_lp_take; b, a and slope may change between solutions. */
  int32_t unit_count, variable_count, node_count, row_count;
  const int32_t *first; /* unit: its first variable; unit_count + 1 */
  const bool *free;     /* unit: no cone */
  const int32_t *row;   /* node: its first row; node_count + 1 */
  fx_block_matrix At;   /* units x nodes */
  const double *b, *a;  /* rows; a NULL: no parameter */
  double slope;
  /* The answer, times tau: see fx_cone_lp_solve. */
  double *x, *z, *y, t, tau, kappa;
  int32_t steps;
  /* Linear systems: N = sum A_i X_i A_i'. */
  fx_block_matrix N;
  fx_block_lu lu;
  int32_t *target; /* block of N for each pair of nodes of each unit */
  size_t *target_start;
  double *X;     /* unit i: dim x dim at square[i] */
  bool definite; /* X is given for units without a cone too */
  size_t *square;
  double *reach; /* N^-1 a */
  double reach_a;
  double *product, *sum, *e, *ex, *x_keep, *y_keep; /* workspace of a solution */
  /* The same by sparse LU, where N is lost to rounding (cone_lp_careful.c). */
  bool careful;
  fx_sparse_lu full;
  int32_t *full_p, *full_i, *node_start, *node_unit;
  double *full_x, *full_b, *B, threshold;
  /* The iteration. */
  double *w, *lambda, *eta;                                    /* Nesterov-Todd: variables, variables, units */
  double *rx, *ry, rt, rtau;                                   /* residuals */
  double *q, *x1, *y1, *x2, *y2, *px, *py, *dx, *dz, *sx, *sz; /* directions */
  fx_cone_lp_place best, tried;
} fx_cone_lp;

/* Workspace and analysis. Where a factorisation would cost more than most_cost multiplications *affordable is false. */
frix_status fx_cone_lp_take(fx_arena *arena, double most_cost, fx_cone_lp *lp, bool *affordable);

/* From a start of its own, until residuals and gap are below the goal or nothing is gained any more; and on from the
 * best iterate. */
fx_cone_lp_end fx_cone_lp_solve(fx_cone_lp *lp, double goal);
fx_cone_lp_end fx_cone_lp_go_on(fx_cone_lp *lp, double goal);

/* What is made of the best iterate, each from there.
 * A x + a t to b tau, to rounding, by the least change of x in the metric in which x and z are 1; x stays in the cones.
 */
void fx_cone_lp_balance(fx_cone_lp *lp);
/* A'y to z, by y, in the same metric. */
void fx_cone_lp_balance_dual(fx_cone_lp *lp);

/* Whether a part of b is out of reach of any x and t, in the cones or not; y is then minus that part, which shows it:
 * A'y = 0, a . y = 0, b . y < 0. */
bool fx_cone_lp_unreached(fx_cone_lp *lp);

/* The least of all x that balance, by weight . x^2 (all positive, or of variables that rows tie to such), from the x of
 * the programme, which is inside (cone_qp.c). The best iterate is then that of this; false where it is not exact. */
bool fx_cone_qp_least(fx_cone_lp *lp, const double *weight);
/* From there: x with exact zeros where neither x nor its dual is more than the iteration left, and A x = b by the
 * others (whether they are still inside, and balance, the caller judges). idle: room for a flag by unit. False: there
 * are none of these. */
bool fx_cone_qp_drop_idle(fx_cone_lp *lp, const double *weight, bool *idle);

/* ---- linear systems (cone_lp_linear.c) ---- */

frix_status fx_cone_lp_take_linear(fx_arena *arena, double most_cost, fx_cone_lp *lp, bool *affordable);
/* Factors N for the X at hand; false where it is lost to rounding. */
bool fx_cone_lp_factor(fx_cone_lp *lp);
/* X^-1 x + A'y = rx,  a . y = rt,  A x + a t = ry;  rx NULL: zero. */
void fx_cone_lp_kkt(fx_cone_lp *lp, const double *rx, double rt, const double *ry, double *x, double *t, double *y);
void fx_cone_lp_times(const fx_cone_lp *lp, const double *x, double t, double *out); /* A x + a t */
void fx_cone_lp_transposed(const fx_cone_lp *lp, const double *y, double *out);      /* A' y */

/* The linear systems from here on are those that lose less to rounding and cost more; fx_cone_lp_free lets them go. */
frix_status fx_cone_lp_be_careful(fx_arena *arena, fx_cone_lp *lp);
/* With larger pivots and more fill; false where they are as large as they come, or normal equations are used. */
bool fx_cone_lp_more_careful(fx_cone_lp *lp);
void fx_cone_lp_free(fx_cone_lp *lp);
bool fx_cone_lp_factor_careful(fx_cone_lp *lp);
/* dx, dt, dy once, from W rx, rt, ry in lp->full_b, which is lost. */
void fx_cone_lp_solve_careful(fx_cone_lp *lp, const double *rx, double rt, const double *ry, double *x, double *t,
                              double *y);

#endif
