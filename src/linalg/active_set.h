/* Strictly convex quadratic programmes by active sets:
 *
 *   min 1/2 (x - x0)' Q (x - x0)     a_k . x = lower_k (the first rows),  a_k . x >= lower_k (the others)
 *
 * Q enters only through y_k = Q^-1 a_k: rows a_k measure x, rows y_k move it, x = x0 + sum lambda_k y_k. Both are
 * sparse, each in its own pattern. Rows may be linearly dependent. With softness row k reads a_k . x + soft_k (lambda_k
 * - center_k) >= lower_k, which is one proximal step on lambda and always has a solution. Nothing is allocated after
 * fx_active_set_take. */
#ifndef FX_LINALG_ACTIVE_SET_H
#define FX_LINALG_ACTIVE_SET_H

#include "base/arena.h"

/* Row k: entries start[k] .. start[k + 1] - 1. */
typedef struct fx_rows {
  const int32_t *start, *index;
  const double *value;
} fx_rows;

typedef enum fx_qp_end {
  FX_QP_SOLVED,
  FX_QP_INFEASIBLE, /* rows contradict each other */
  FX_QP_LIMIT,      /* as many iterations as were allowed */
  FX_QP_STOPPED,    /* the stop callback said so */
  FX_QP_FULL,       /* more active rows than there is room for */
  FX_QP_STALLED,    /* rounding leaves nothing to do */
} fx_qp_end;

typedef struct fx_active_set {
  /* The problem and the limits; set by the caller before a run. */
  int32_t n, m, equality_count;
  fx_rows A, Y;
  const double *x0, *lower;
  const double *soft, *center; /* m, NULL: hard rows; center NULL: zero */
  double tolerance;            /* of a row, relative to the largest initial violation; default 1e-12 */
  int64_t limit;
  bool (*stop)(int64_t iteration, const double *lambda, void *user); /* asked now and then; NULL: never */
  void *user;
  /* The answer, and the start of the next run: lambda > 0 says which rows to begin with. */
  double *x, *lambda;
  int64_t iterations; /* rows that came and went */
  int32_t count, *active;
  /* Working set: B_AA = R'R by columns, column j packed at j (j + 1) / 2, zero above row top[j]. */
  int32_t capacity, *position; /* of a row in the working set, -1 outside */
  double *R, *norm, *diagonal, *slack;
  int32_t *top;
  double *r, *t, *e, *z, *y; /* directions and workspace */
  bool *ignored;             /* rows that contradict others by rounding only */
  double scale, reach;       /* largest initial violation; size of the terms of the last direction */
} fx_active_set;

/* Room for n unknowns, m rows, and at most `capacity` active ones (never more than n + 1 without softness). */
frix_status fx_active_set_take(fx_arena *arena, int32_t n, int32_t m, int32_t capacity, fx_active_set *out);

/* Row action on lambda (Hildreth, with over-relaxation): a cheap guess of the active rows. */
void fx_active_set_sweep(fx_active_set *set, int32_t sweeps, double relaxation);

/* Goldfarb and Idnani's dual method from the lambda at hand (all zero: a cold start). */
fx_qp_end fx_active_set_dual(fx_active_set *set);

/* Primal method from the feasible x at hand; rows with lambda > 0 that x holds with equality are active at first. */
fx_qp_end fx_active_set_primal(fx_active_set *set);

/* The same programme with a slack for each group of rows, at a price (M. Anitescu's hot start): whatever x is, it is a
 * feasible start for the primal method, and once the price exceeds what a group's rows carry the slack is zero. */
typedef struct fx_elastic {
  fx_active_set set;
  int32_t group_count;
  const int32_t *group;      /* of each row of the programme, equalities included (not read) */
  double *x0, *lower, *give; /* give: how far a slack moves for its price */
} fx_elastic;

frix_status fx_elastic_take(fx_arena *arena, const fx_active_set *base, int32_t group_count, const int32_t *group,
                            fx_elastic *out);
/* From base->x and base->lambda, both a guess, to the answer in the same places. The price grows where it is too low.
 */
fx_qp_end fx_elastic_run(fx_elastic *elastic, fx_active_set *base, double price);

const char *fx_qp_end_name(fx_qp_end end);

/* ---- parts, shared by the two methods ---- */

/* Lengths of the rows, the scale against which violations are judged, an empty working set. */
void fx_active_set_measure(fx_active_set *set);
/* Slack of row k at the present x. */
double fx_active_set_slack(const fx_active_set *set, int32_t k);
/* r = B_AA^-1 B_Ap and z = y_p - Y_A' r; returns the squared length of what p adds, a_p . z + soft_p. */
double fx_active_set_direction(fx_active_set *set, int32_t p);
/* A row that adds nothing but rounding to the active ones; fx_active_set_direction(p) came before. */
bool fx_active_set_dependent(const fx_active_set *set, int32_t p, double length);
/* Adds row p; fx_active_set_direction(p) came just before and returned `length`. */
void fx_active_set_add(fx_active_set *set, int32_t p, double length);
/* Removes the row at position c of the working set. */
void fx_active_set_drop(fx_active_set *set, int32_t c);
/* e := B_AA^-1 e over the working set. */
void fx_active_set_solve(const fx_active_set *set, double *e);
/* x += t sum e_j y_j over the working set. */
void fx_active_set_move(fx_active_set *set, double t, const double *e);

#endif
