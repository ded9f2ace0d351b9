/* The linear system of a gradient, by island. In scaled unknowns z = r / S, u_z = S u, natural map z = P(z - u~_z):
 *
 *   K dz = -J G S dq + E dmu,    K = I - J + J G A,   A = S (W + R) S,   J = dP at z - u~_z,   G = I + e_N ds/du
 *
 * over the rows of contacts that do not open. K has a null space where forces are not unique. */
#ifndef FX_ANALYSIS_GRADIENT_H
#define FX_ANALYSIS_GRADIENT_H

#include "analysis/force_set.h"
#include "sim/sim_internal.h"

typedef struct fx_gradient_island {
  struct fx_gradient_sparse *sparse; /* factors over its bodies; NULL: the dense ones below */
  bool null;                         /* K sends something to nothing */
  int32_t n, rank;
  int32_t *row;       /* of the system, by unknown */
  int32_t *at, *from; /* LU: row k of the factors is row at[k] of K, column k its column from[k] */
  double *lu, *K;     /* n x n */
} fx_gradient_island;

struct frix_gradient {
  frix_context *context;
  frix_forces *forces; /* the answer, faces and scales */
  frix_problem *own;   /* the problem, where it is kept here */
  fx_arena arena;
  fx_system s; /* with W */
  frix_gradient_verdict verdict;
  double distance;
  int32_t contact;
  bool forces_unique;
  bool known;        /* to be smooth: its verdict is not looked for again */
  double noise;      /* error of the answer, over what the island carries */
  double rounded;    /* of a right-hand side: error of the differences that it comes from; 0: none */
  double *r, *u, *v; /* the centre where forces are not unique */
  uint8_t *among;    /* by contact: does not open */
  fx_islands islands;
  fx_gradient_island *island;
  size_t *block;      /* by contact: its blocks in JG, J and E */
  double *J, *JG;     /* dim x dim by contact */
  double *E;          /* by row: dF / dmu */
  double *inverse;    /* M^-1 by mover, as M_offset has it; NULL: reduced form */
  int32_t body_count; /* of a step: movers by body */
  frix_body_id *body;
  int32_t *body_first, *body_dofs;
};

#define FX_ROUNDED 1e-9 /* of right-hand sides that are differences of rows: redundant contacts see their rounding */
#define FX_KINK 1e-7    /* a contact nearer to another mode has no derivative */

/* Speeds and impulses of contact i that count as one. */
double fx_gradient_speed_unit(const frix_gradient *g, int32_t i);
double fx_gradient_impulse_unit(const frix_gradient *g, int32_t i);
/* Whether contact i presses without friction and without slip: friction of any size would hold it there, so that the
 * answer bends with mu and what pushes. */
bool fx_gradient_starts_friction(const frix_gradient *g, int32_t i);
/* Whether P is the point itself at contact i: its law is then u = 0. The shift s(u) of what rounding leaves of the slip
 * has a direction of its own in every answer, and is left out. */
bool fx_gradient_sticks(const frix_gradient *g, int32_t i);
/* E = dP/dmu - J e_N ds/dmu at a contact that slides (x, u scaled); zero where it does not. */
void fx_gradient_friction_slope(const frix_contact *c, const double *x, const double *u, const double *J, double *E);
/* The derivative along data through J, JG, E and the factors as they are (gradient.c). */
frix_status fx_gradient_along(const frix_gradient *g, fx_arena *arena, const frix_gradient_data *data, double *v,
                              double *u, double *r);
/* b, by row: b becomes K^-1 b or K'^-1 b, island by island; rows of no island become zero. */
frix_status fx_gradient_solve_all(const frix_gradient *g, fx_arena *arena, bool transposed, double *b);
/* The contacts that are `among`, as islands with their factors. */
frix_status fx_gradient_factor_all(frix_gradient *g);
/* g becomes that of the answer on the central path (gradient_smoothed.c). */
frix_status fx_gradient_smooth(frix_gradient *g, double kappa);

/* The answer, corrected to rounding, with its modes and factors (gradient_polish.c). */
frix_status fx_gradient_polish(frix_gradient *g);
/* Not unique where a pivot may be zero to the precision of the answer. */
void fx_gradient_doubt(frix_gradient *g);

/* frix_gradient_of_step at the forces of the answer wherever modes are clear there. known: it was found to be smooth in
 * another run, and is neither judged nor certified again. */
frix_status fx_gradient_of_step(const frix_sim *sim, bool known, frix_gradient **out);
/* Distances, J G, E and K of every island (gradient_modes.c). */
frix_status fx_gradient_modes(frix_gradient *g);
frix_status fx_gradient_factor(frix_gradient *g, int32_t k);
/* J and JG changed by at most that: factors that solve with what is left of b as well as new ones are kept. */
frix_status fx_gradient_renew(frix_gradient *g, double change);
/* b := K^-1 b, or K'^-1 b, one of the solutions; how far b is from having one, relative to it. workspace: 3 n. */
double fx_gradient_solve(const fx_gradient_island *is, bool transposed, double *b, double *workspace);

/* ---- large islands (gradient_sparse.c) ---- */
bool fx_gradient_sparse_open(frix_gradient *g, int32_t k, int32_t n, double compliance,
                             struct fx_gradient_sparse **out);
/* b := K^-1 b, or K'^-1 b; what is left of b, relative to it. */
double fx_gradient_sparse_solve(const frix_gradient *g, struct fx_gradient_sparse *x, bool transposed, double *b);
/* Whether K sends anything but 0 to less than its compliance; z then is such a vector, else a small one. */
bool fx_gradient_sparse_null(const frix_gradient *g, struct fx_gradient_sparse *x, double *z);
/* Whether rounds on what is left take so large a change of J G out of the factors. */
bool fx_gradient_sparse_keeps(const struct fx_gradient_sparse *x, double change);
/* Of a compliant island: how large K^-1 is, over a random start; 0 of others. */
double fx_gradient_sparse_gain(const frix_gradient *g, struct fx_gradient_sparse *x);
/* u = S (W + R) S z */
void fx_gradient_sparse_speeds(const frix_gradient *g, struct fx_gradient_sparse *x, const double *z, double *u);

#endif
