/* The system a solver sees: contacts, and the map from impulses to velocities in block form.
 *
 *   local      u = W r + R r + q
 *   velocity   v = v_free + Y r,  Y = M^-1 [H G];  u = [H G]' v + R r + w
 *
 * Joints of a global problem are bilateral contacts after the others, so lambda is the tail of r. If both forms are
 * built they describe the same map. q and w already hold -R r_c. */
#ifndef FX_PROBLEM_SYSTEM_H
#define FX_PROBLEM_SYSTEM_H

#include "base/threads.h"
#include "linalg/block_matrix.h"
#include "problem/problem_internal.h"

/* What is made when it is first asked for: Yt.x and M are NULL until then. */
typedef struct fx_response {
  fx_arena *arena;
  fx_block_matrix Yt;
  const double *M;
} fx_response;

typedef struct fx_system {
  int32_t contact_count, row_count;
  int32_t joint_first; /* contacts from here on come from G */
  const frix_contact *contact;
  const int32_t *row; /* contact_count + 1 */
  double *q;          /* row_count: free velocity */
  const double *R;    /* row_count, NULL when rigid */
  const double *D;    /* diagonal blocks of W + R, row-major, contact i at diagonal[i] */
  const size_t *diagonal;
  const double *W_diag; /* row_count: diagonal of W alone */
  bool has_W;
  fx_block_matrix W;
  bool has_velocity;
  int32_t mover_count, dof_count;
  const int32_t *dof; /* mover_count + 1 */
  fx_block_matrix Ht; /* contacts x movers */
  fx_response *response;
  const double *round; /* numbers of all contacts where they are those of spheres (round_rows.h), else NULL */
  const double *v_free;
  double *w;       /* row_count, with -R r_c */
  const double *M; /* mass blocks per mover, dense and row-major, mover m at M_offset[m]; NULL where M is diagonal */
  const size_t *M_offset;
  const double *mass, *inverse_mass; /* dof_count: M and 1 / M of movers where M is diagonal; the latter 0 for others */
  bool diagonal_mass;                /* of all movers */
  const double *limit;   /* row_count: largest speed that errors are measured by (row_errors.h); NULL: by the drive */
  const int32_t *motion; /* dof_count, as a problem has them: motions of trees (row_links.c); NULL: there are none */
  double carried;        /* root of the energy of the free motion, v_free' M v_free, of all movers; 0 without bodies */
  bool has_bounds;       /* some contact's normal impulse is given: fx_is_bound */
  fx_threads threads;    /* for loops over all contacts or movers; never change a bit */
  double rho, rho_joint; /* 1 / mean diagonal of W over contact and over bilateral rows; 1 where there are none */
} fx_system;

/* Whether the normal impulse of contact i is given: a bound of a motor, of dry or of drilling friction. Its normal row
 * moves no body and only says u_N = R (r_N - bound). */
static inline bool fx_is_bound(const fx_system *s, int32_t i) {
  int32_t row = s->row[i];
  return s->contact[i].dim > 1 && s->contact[i].cone != FRIX_CONE_BILATERAL && s->W_diag[row] == 0 && s->R &&
         s->R[row] > 0;
}

/* The normal impulse that such a contact is given: q = -R bound. */
static inline double fx_bound_of(const fx_system *s, int32_t i) {
  double bound = -s->q[s->row[i]] / s->R[s->row[i]];
  return bound > 0 ? bound : 0;
}

/* Blocks of the whole problem. form LOCAL or AUTO assembles W where a global problem has none; AUTO only where sweeps
 * over W are cheaper than over velocities. */
frix_status fx_system_build(fx_arena *arena, const frix_problem *problem, frix_form form, fx_system *out);

/* Other r_c of the same problem: q and w of its velocity form. */
void fx_system_shift(fx_system *system, const frix_problem *problem);

/* Y in the blocks of Ht; NULL without memory. */
const fx_block_matrix *fx_system_response(const fx_system *system);

/* M in any case; NULL without memory. */
const double *fx_system_mass(const fx_system *system);

/* Adds W to a system that has only the velocity form. */
frix_status fx_system_assemble(fx_arena *arena, fx_system *system);

/* Fills D, W_diag and the scales from W, or from H' Y. */
frix_status fx_system_diagonal(fx_arena *arena, fx_system *system);

/* Islands: connected sets of contacts, numbered by first contact, each listed in ascending order. `among` keeps
 * contacts with a 0 out, as if they were not there; NULL: all count. */
typedef struct fx_islands {
  int32_t count;
  int32_t *start;                             /* count + 1, into contact */
  int32_t *contact;                           /* contacts island by island */
  int32_t *place;                             /* of each contact within its island */
  int32_t *mover_start, *mover, *mover_place; /* the same for the movers they touch; has_velocity only */
} fx_islands;

frix_status fx_islands_find(fx_arena *arena, const fx_system *system, const uint8_t *among, fx_islands *out);
/* The contacts that `among` marks as one island, connected or not; velocity form. */
frix_status fx_islands_as_one(fx_arena *arena, const fx_system *system, const uint8_t *among, fx_islands *out);

/* Island k as a system of its own, judged with the scales of the whole. */
frix_status fx_system_extract(fx_arena *arena, const fx_system *system, const fx_islands *islands, int32_t k,
                              fx_system *out);

/* Copies the rows of island k from a vector of the whole to one of its own, and back. */
void fx_islands_gather(const fx_system *whole, const fx_islands *islands, int32_t k, const double *from, double *own);
void fx_islands_scatter(const fx_system *whole, const fx_islands *islands, int32_t k, const double *own, double *to);

/* rho and rho_joint from W_diag. */
void fx_system_scales(fx_system *system);
/* |v|_M of mover m, for v of that mover; without overflow. */
double fx_mover_norm(const fx_system *system, int32_t m, const double *v);

/* v = v_free + M^-1 H r; has_velocity only. */
void fx_system_motion(const fx_system *system, const double *r, double *v);
/* The same but for rounding, by the numbers of spheres where there are some: for methods. */
void fx_system_motion_fast(const fx_system *system, const double *r, double *v);
/* The same in parts, over movers, contacts and movers first .. end - 1: when the impulses of all of its contacts are
 * added, a mover has its velocity. */
void fx_motion_begin(const fx_system *system, int32_t first, int32_t end, double *v);
void fx_motion_add(const fx_system *system, int32_t first, int32_t end, const double *r, double *v);
void fx_motion_end(const fx_system *system, int32_t first, int32_t end, double *v);
/* u from r. v is workspace (dof_count) and holds the velocity afterwards where has_velocity, else unused. */
void fx_system_velocity(const fx_system *system, const double *r, double *u, double *v);

#endif
