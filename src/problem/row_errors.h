/* The componentwise part of the certificate: the error of each contact, limit, motor and joint relative to the load of
 * its own bodies. Formulas in row_errors.c, row_speeds.c and docs/certificate.md. */
#ifndef FX_PROBLEM_ROW_ERRORS_H
#define FX_PROBLEM_ROW_ERRORS_H

#include "problem/system.h"

#include <frix/solve.h>
#include <math.h>

/* The contacts that are looked at: those of a list, or (NULL) all from 0 on. */
typedef struct fx_row_set {
  const int32_t *list;
  int32_t count;
} fx_row_set;

/* What the rows of contacts move. Each link of a tree counts as a body (row_links.c), with all of the weight in the
 * first of the two of a row. Blocks of contact i (start[i] <= k < start[i + 1]) belong to bodies index[k]; their J M^-1
 * J' stand block after block from weight[place[i]] on, fx_row_weights numbers each: those of every row, two a row
 * (translation and rotation), then for the two tangents and for rolling three a motion, row by row, both, and the other
 * row by itself. Of these the caller fills the middle one. */
typedef struct fx_row_bodies {
  const int32_t *start, *index, *place;
  double *weight;      /* roots take the place of single rows (fx_row_roots) */
  const int32_t *tree; /* by number: that of the tree whose link it is, -1: none; NULL: there are no trees */
  const double *free;  /* by row: what the free motion of trees brings (row_links.c); NULL: there are none */
} fx_row_bodies;

enum { FX_PAIR_WEIGHTS = 6 }; /* of two rows */

#define FX_ROW_SHARED 1e-3 /* of what a body's translation carries counts for its rotation, and back */

static inline int32_t fx_row_weights(int32_t dim) {
  return 2 * dim + (dim >= 3 ? FX_PAIR_WEIGHTS : 0) + (dim >= 5 ? FX_PAIR_WEIGHTS : 0);
}

/* Speeds that the rows are made of. Arrays of the caller, sizes from fx_row_scales_take. Sets of contacts that share no
 * body may be looked at by several threads with the same arrays. */
typedef struct fx_row_scales {
  int32_t *first, *index; /* by mover: the first that it counts as, mover_count + 1 numbers; by block: which it moves.
                           * NULL without trees: movers are numbered as they are */
  int32_t *tree;          /* as fx_row_bodies has it */
  double *carried;        /* by row: what the free motion of trees brings */
  double *energy; /* two by mover or link, translation and rotation (one by contact where there are no movers): root of
                   * the energy it carries, sqrt(J) */
  double *free;   /* the same without impulses, -1: not known yet */
  const double *ball; /* two by mover: roots of 3 / m and 3 / I where all contacts are those of spheres (row_round.c);
                       * NULL: they are not */
  int32_t *rotation;  /* by mover, where free is known: its first degree of freedom that turns it; their number: none */
  const fx_system *of;
  uint8_t *weighed; /* by contact: weight and free are those of this system */
  const int32_t *place;
  double *weight; /* as fx_row_bodies has them */
  double *speed;  /* by row: the sum of the magnitudes that u is computed from */
  double *limit;  /* by row: the largest scale an error may be measured with */
  int32_t worst;  /* contact with the largest error in the last judgement of all, -1: none is above its rounding */
} fx_row_scales;

/* What errors are measured by. */
typedef struct fx_row_measure {
  const double *speed, *limit; /* by row */
  fx_row_bodies bodies;        /* start NULL: bodies are unknown, or alike in all directions */
  const double *energy;        /* two a body, with what impulses add */
  const double *shift;         /* by row: w, with the offset of springs */
  bool unweighed;              /* weights are made for the contact that asks (fx_row_weigh) */
} fx_row_measure;

/* Contact c of those that are looked at. */
static inline int32_t fx_row_at(const fx_row_set *set, int32_t c) { return set->list ? set->list[c] : c; }

static inline double fx_row_sum(const double *x, int32_t first, int32_t end) {
  double sum = 0;
  for (int32_t k = first; k < end; k++) sum += x[k];
  return sum;
}

/* The larger, or the first where that is no number. */
static inline double fx_larger(double a, double b) { return a > b || isnan(a) ? a : b; }

/* ---- row_speeds.c ---- */

frix_status fx_row_scales_take(fx_arena *arena, const fx_system *system, fx_row_scales *out);

/* Weights become the roots that speeds are made of. */
void fx_row_roots(const fx_system *system, const fx_row_bodies *bodies, const fx_row_set *set);

/* The speeds of rows whose bodies are given, with roots of weights. energy holds |v_free|_M of each motion, two a body,
 * and gets what the impulses add; shift is w, with the offset of springs. */
void fx_row_speeds(const fx_system *system, const fx_row_bodies *bodies, const fx_row_set *set, const double *shift,
                   const double *r, double *energy, double *speed);

/* The speeds of a set with impulses r. */
void fx_row_scales_find(const fx_system *system, const fx_row_set *set, const double *r, fx_row_scales *scales);

/* Weights of contact i, whose bodies are rigid and have diagonal masses. */
void fx_row_weigh(const fx_system *system, const fx_row_bodies *bodies, int32_t i);

/* ---- row_round.c: spheres ---- */

/* What the bodies are weighed by; left out where they are no spheres. Speeds, from the energies without impulses. */
frix_status fx_row_balls_take(fx_arena *arena, const fx_system *system, fx_row_scales *scales);
void fx_row_ball_speeds(const fx_system *system, const fx_row_set *set, const double *r, fx_row_scales *scales);

/* ---- row_speeds.c ---- */

/* The largest scales of an island, by what drives it. */
void fx_row_limits(const fx_system *system, const fx_row_set *set, const double *r, double *limit);

/* What a set was measured by in its last judgement. */
fx_row_measure fx_row_measure_of(const fx_system *system, const fx_row_scales *scales);

/* ---- row_links.c: trees ---- */

/* Numbers of a system that has motions, and what their free motion brings; energies of trees in `free`, which is there
 * already. */
frix_status fx_row_links_take(fx_arena *arena, const fx_system *system, fx_row_scales *scales);
frix_status fx_row_links_free(fx_arena *arena, const fx_system *system, fx_row_scales *scales);

/* Whether a mover is a tree. */
static inline bool fx_row_is_tree(const fx_system *s, int32_t mover) {
  return s->motion && s->motion[s->dof[mover]] >= 0;
}

/* sqrt(sum of squares) of n numbers without overflow. */
double fx_safe_norm(int32_t n, const double *x);

/* ---- row_stray.c ---- */

/* The error of impulses r of the two rows of contact i from row k on, where none may act: the velocity they bring along
 * any direction of their plane, over what the bodies carry along it. */
double fx_row_stray(const fx_system *system, const fx_row_measure *by, int32_t i, int32_t k, const double *r);

/* ---- row_errors.c ---- */

typedef struct fx_row_errors {
  double worst;  /* largest error of a contact that is above its rounding; NaN where one is */
  int32_t where; /* first row of the contact of `worst`, -1: none is above its rounding */
  double floor;  /* largest rounding by which a contact was accepted, 0: none */
  int32_t contact;
} fx_row_errors;

/* u must belong to r. Goes on from what `out` holds. */
void fx_row_errors_find(const fx_system *system, const fx_row_set *set, frix_law law, const fx_row_measure *by,
                        const double *r, const double *u, fx_row_errors *out);

/* Of a system, or of a set that shares no body with others: the error as one number, 0 where all are within rounding.
 */
double fx_row_error(const fx_system *system, const fx_row_set *set, frix_law law, fx_row_scales *scales,
                    const double *r, const double *u);

/* The error of the contact that was worst in the last judgement, measured by the speeds of then; 0: none was. Where it
 * is large, that of all is at least about that. */
double fx_row_error_of_worst(const fx_system *system, frix_law law, const fx_row_scales *scales, const double *r,
                             const double *u);

/* Of a system whose islands are known. */
void fx_row_errors_of_islands(const fx_system *system, const fx_islands *islands, frix_law law, fx_row_scales *scales,
                              const double *r, const double *u, fx_row_errors *out);

#endif
