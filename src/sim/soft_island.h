/* Movers and contacts that soft bodies join, with the matrix A + J' D J of their velocities: for soft_newton.c. */
#ifndef FX_SIM_SOFT_ISLAND_H
#define FX_SIM_SOFT_ISLAND_H

#include "linalg/mosaic.h"
#include "sim/softs.h"
#include "sim/solving.h"

enum { FX_ISLAND_MOST = 512 }; /* coordinates */

/* A contact of the island. */
typedef struct fx_joined {
  int32_t group, dim;
  const double *J;
  const double *R;
  double mu, bound;         /* bound: of friction, below 0: it follows the normal force */
  double at[3], along[3];   /* a, and J dv */
  double r[3], D[9], in[9]; /* of now; in: what the matrix holds */
  double rho[3], dr[3];     /* soft_approach.c: steps of the projection, and r along a line */
} fx_joined;

typedef struct fx_island {
  const frix_sim *sim;
  fx_assembly *a;
  int32_t n, count, mover_count;
  int32_t all;            /* contacts: `count` of them are looked at, the first of `group` */
  int32_t *group, *mover; /* of the assembly */
  int32_t *first;         /* by mover of the step: its first coordinate here */
  int32_t *place;         /* and which one of the island's it is */
  fx_joined *contact;
  double *S, *K, *LU;    /* the matrix S + K, S symmetric and told below its diagonal; its factor */
  bool skewed;           /* K is not zero */
  double *rows, *slopes; /* of contacts that change together: J and -D J, by mover */
  double *v, *dv, *off, *Aoff, *Adv, *F, *scale;
  fx_mosaic mosaic;
  int32_t *pivot;
  bool exchanged; /* rows of LU: the factor is one of fx_lu_factor */
  double carried; /* A v_free, squared in the mass */
} fx_island;

/* Movers and groups by root: the first of each, and the next one of the same; -1: none. */
typedef struct fx_soft_islands {
  int32_t *root;                     /* by mover */
  int32_t *first_mover, *next_mover; /* by root, by mover */
  int32_t *first_group, *next_group; /* by root, by group */
} fx_soft_islands;

frix_status fx_soft_islands_find(const frix_sim *sim, const fx_assembly *a, fx_arena *arena, fx_soft_islands *out);
/* Movers and contacts of one root; false: it is none for this method. */
bool fx_island_gather(fx_island *t, const fx_soft_islands *all, int32_t root);
/* The contacts that are worth a look at first; and then those that the velocities found close: false: none does. */
bool fx_island_choose(fx_island *t, fx_arena *arena);
bool fx_island_add_closed(fx_island *t, fx_arena *arena);
/* Memory and contacts of what was chosen; false: there is none. */
bool fx_island_take(fx_island *t, fx_arena *arena);
/* The matrix without contacts, and v the velocities before the step. */
void fx_island_start(fx_island *t);
/* v := those that the impulses of the assembly make. */
void fx_island_follow(fx_island *t);
/* The velocities of a mover before the step, and its free ones. */
void fx_island_before(const fx_mover *m, double *out);
void fx_island_free_of(const fx_mover *m, double *out);
/* out := A x of all movers. */
void fx_island_multiply(const fx_island *t, const double *x, double *out);
/* out += J x of a contact, and F -= J' x. */
void fx_island_read(const fx_island *t, const fx_joined *c, const double *x, double *out);
void fx_island_push(const fx_island *t, const fx_joined *c, const double *x, double *F);
/* A factor of A + J' D J with slopes of now, as far as they changed by more than a part `still`. */
bool fx_island_factor(fx_island *t, double still);
void fx_island_solve(const fx_island *t, double *b);
/* Newton on velocities and impulses from v and the impulses of the assembly, to where what is left is below the goal:
 * v, A (v - v_free) and a of contacts (soft_approach.c). */
void fx_island_approach(fx_island *t, double goal, int64_t *iterations);

#endif
