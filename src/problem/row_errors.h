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

/* What the rows of contacts move. A tree counts as one body for each link and motion that moves it (row_motions.c),
 * with all of the weight in the first of the two of a row. Blocks of contact i (start[i] <= k < start[i + 1]) belong to
 * bodies index[k]; their J M^-1 J' stand block after block from weight[place[i]] on, fx_row_weights numbers each: those
 * of every row, two a row (translation and rotation), then for the two tangents and for rolling three a motion, row by
 * row, both, and the other row by itself. Of these the caller fills the middle one. */
typedef struct fx_row_bodies {
  const int32_t *start, *index, *place;
  double *weight;      /* roots take the place of single rows (fx_row_roots) */
  const int32_t *tree; /* numbers first, end of what a tree counts as, one tree after the other */
  int32_t tree_count;
} fx_row_bodies;

enum { FX_PAIR_WEIGHTS = 6 }; /* of two rows */

static inline int32_t fx_row_weights(int32_t dim) {
  return 2 * dim + (dim >= 3 ? FX_PAIR_WEIGHTS : 0) + (dim >= 5 ? FX_PAIR_WEIGHTS : 0);
}

/* Speeds that the rows are made of. Arrays of the caller, sizes from fx_row_scales_take. Sets of contacts that share no
 * body may be looked at by several threads with the same arrays. */
typedef struct fx_row_scales {
  int32_t *first;         /* by mover: the first of what it counts as, mover_count + 1 numbers; NULL: each is one */
  int32_t *start, *index; /* by contact, as fx_row_bodies has them; those of Ht where first is NULL */
  int32_t *last;          /* by block: the last motion of a tree that its rows move, -1: no tree */
  int32_t *tree, tree_count;
  double *factor, *half; /* of trees: L'DL in the places of M; rows L'^-1 J' in those of Ht */
  double *energy;    /* two by motion, translation and rotation (one by contact where there are no movers): root of the
                      * energy it carries, sqrt(J) */
  double *free;      /* the same without impulses, -1: not known yet */
  int32_t *rotation; /* by mover, where free is known: its first degree of freedom that turns it; their number: none */
  const fx_system *of;
  uint8_t *weighed; /* by contact: weight and free are those of this system */
  const int32_t *place;
  double *weight; /* as fx_row_bodies has them */
  double *speed;  /* by row: the sum of the magnitudes that u is computed from */
  double *limit;  /* by row: the largest scale an error may be measured with */
  int32_t worst;  /* contact with the largest error in the last judgement of all, -1: none is above its rounding */
} fx_row_scales;

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

/* The largest scales of an island, by what drives it. */
void fx_row_limits(const fx_system *system, const fx_row_set *set, const double *r, double *limit);

/* ---- row_motions.c: trees ---- */

/* The lists of scales of a system that has motions. */
frix_status fx_row_motions_take(fx_arena *arena, const fx_system *system, fx_row_scales *scales);

enum { FX_MOST_MOTIONS = 128 }; /* links of larger trees share what impulses bring */

/* What a tree of so many motions counts as: motions 0 .. k of its link k, one link after the other; where those of a
 * link begin. */
static inline int32_t fx_row_parts(int32_t motions) {
  return motions > FX_MOST_MOTIONS ? motions : motions * (motions + 1) / 2;
}
static inline int32_t fx_row_part(int32_t motions, int32_t link) {
  return motions > FX_MOST_MOTIONS ? 0 : link * (link + 1) / 2;
}

/* Energies of the free motion, one after the other in `from`, for all that a tree counts as: two numbers each. */
void fx_row_parts_fill(int32_t motions, const double *from, double *energy);

/* Whether a mover is a tree. */
static inline bool fx_row_is_tree(const fx_system *s, int32_t mover) {
  return s->motion && s->motion[s->dof[mover]] >= 0;
}

/* The factor of mover m, and roots of the energies of its free motion. Once, before all else of the mover. */
void fx_row_motions_free(const fx_system *system, int32_t m, fx_row_scales *scales);

/* Weights of block k of Ht, d rows. */
void fx_row_motions_weigh(const fx_system *system, const fx_row_scales *scales, int32_t k, int32_t d, double *weight);

/* Adds y z to the weights of row a of d rows in one motion; before: y of the row before. */
static inline void fx_row_motion_add(double *weight, int32_t d, int32_t a, double y, double z, double before) {
  weight[2 * a] += y * z;
  if (a == 2 || a == 4) weight[2 * d + (a == 4 ? FX_PAIR_WEIGHTS : 0) + 1] += before * z;
}

/* sqrt(sum of squares) of n numbers without overflow. */
double fx_safe_norm(int32_t n, const double *x);

/* ---- row_errors.c ---- */

typedef struct fx_row_errors {
  double worst;  /* largest error of a contact that is above its rounding; NaN where one is */
  int32_t where; /* first row of the contact of `worst`, -1: none is above its rounding */
  double floor;  /* largest rounding by which a contact was accepted, 0: none */
  int32_t contact;
} fx_row_errors;

/* u must belong to r. speed and limit over rows. Goes on from what `out` holds. */
void fx_row_errors_find(const fx_system *system, const fx_row_set *set, frix_law law, const double *speed,
                        const double *limit, const double *r, const double *u, fx_row_errors *out);

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
