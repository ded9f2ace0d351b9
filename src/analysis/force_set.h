/* Admissible impulses of a certified answer: faces, their generators, and one linear system by island.
 *
 *   r_i = r0_i where it is given,  else  sum over the units of contact i of  x_0 head + x_1 side_1 + x_2 side_2
 *   x_0 >= |x_1, x_2| (free: any x_0),    A x = b        the velocity is that of r0 */
#ifndef FX_ANALYSIS_FORCE_SET_H
#define FX_ANALYSIS_FORCE_SET_H

#include "base/arena.h"
#include "problem/system.h"

#include <frix/analysis.h>

typedef struct fx_face_unit {
  int32_t contact, dim;
  bool free;
  bool tied;                         /* x_0 is that of the unit before it */
  bool known;                        /* x_0 is `normal` */
  double normal;                     /* in units of the island's impulses times the contact's scale */
  double generator[3][FRIX_MAX_DIM]; /* head and sides, times the contact's scale */
} fx_face_unit;

typedef struct fx_force_island {
  bool built, bounded, affordable;
  int32_t first_unit, unit_count; /* in the list of the set */
  int32_t variable_count, row_count, node_count;
  int32_t rank;        /* of the rows, some of which may depend on others */
  int32_t *first;      /* by unit: its first variable */
  int32_t *node;       /* node_count + 1, into the rows */
  double *basis;       /* row_count x (variable_count + 1); last column b */
  int32_t *start, *at; /* by unit: nodes it has entries in */
  double impulse;      /* x = 1 stands for this impulse */
  double total;        /* no sum of x_0 exceeds this */
} fx_force_island;

struct frix_forces {
  frix_context *context;
  const frix_problem *problem;
  fx_arena arena;
  fx_system s;
  double tolerance;
  frix_certificate certificate;
  double *r, *u, *v; /* rows, joints last; degrees of freedom */
  frix_face *face;   /* contacts of the system */
  double *scale;     /* by contact: (tr W_ii / dim)^(-1/2) */
  double *still;     /* by contact: speeds below count as zero */
  double *mass;      /* by degree of freedom: diagonal of M; global form */
  uint8_t *among;    /* by contact: has units */
  fx_islands islands;
  fx_force_island *island;
  int32_t *unit_start; /* by contact, into unit, contacts in the order of the islands */
  fx_face_unit *unit;
  int32_t unit_count;
  int32_t freedom;
};

/* frix_forces_create; without systems the faces and their units alone, not judged: without a certificate of config.r.
 */
frix_status fx_forces_open(frix_context *context, const frix_problem *problem, const frix_forces_config *config,
                           bool systems, bool judged, frix_forces **out);
/* Faces, scales and r in its faces, from r and u (force_faces.c). */
frix_status fx_force_faces(frix_forces *f);
/* Units of contact i, at most FRIX_MAX_FACETS, from face and u. */
int32_t fx_face_units(const frix_forces *f, int32_t i, fx_face_unit *out);

/* The system of island k (force_system.c). */
frix_status fx_force_system(frix_forces *f, int32_t k);

/* min c . x over island k, c by variable: the best value that was found, with its x where that is not NULL, and the
 * best bound (force_programme.c). */
typedef struct fx_force_end {
  double value, bound;
  bool unbounded, found;
  int64_t steps;
} fx_force_end;

/* Fills bounded and total of island k. */
frix_status fx_force_total(frix_forces *f, int32_t k);
frix_status fx_force_minimum(frix_forces *f, int32_t k, const double *c, double *x, fx_force_end *out);

/* r of the contacts of island k from x. */
void fx_force_impulses(const frix_forces *f, int32_t k, const double *x, double *r);
/* The measure by variable of island k, from one by row. */
void fx_force_measure(const frix_forces *f, int32_t k, const double *row, double *c);

#endif
