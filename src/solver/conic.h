/* The conic problem under interior_point, fixed_point and staggered, in scaled unknowns x = r / S:
 *
 *   A x + q = E' z,   s = E x + g,   s in C,  z in C*,  s . z = 0        A = S (W + R) S, symmetric or not
 *
 * and, under the exact law, the same with A x + q + shift(E' z) e_N = E' z, which is no longer convex.
 *
 * C is a product of parts, each a second-order cone s_0 >= |s_1..| of dimension 1 to 3 (dimension 1: s_0 >= 0) or a
 * direction held at zero. Every cone of the cone table is such a product, and so is every friction set at given normal
 * impulses: E without its normal column, g that column times the impulse. For symmetric A this is the optimality
 * condition of min 1/2 x'Ax + q'x; for other A it is a variational inequality, and the same iterations solve it. */
#ifndef FX_SOLVER_CONIC_H
#define FX_SOLVER_CONIC_H

#include "problem/system.h"
#include "solver/newton_linear.h"

/* ---- the linear systems: (A + D) x = b, D block diagonal over contacts ---- */

typedef struct fx_kkt {
  fx_system system; /* as given, or with W where contact space is smaller */
  fx_newton_linear *linear;
  double *D;             /* blocks at system.diagonal, set by the caller before fx_kkt_factor */
  double *B, *e, *y, *p; /* workspace */
} fx_kkt;

/* `shared` may hold an analysis of the system, or be NULL. */
frix_status fx_kkt_setup(fx_arena *arena, const fx_system *system, fx_newton_linear *shared, fx_kkt *out);
bool fx_kkt_factor(fx_kkt *kkt);
/* x := (A + D)^-1 b, refined until the misfit is at most largest or stands still. x and b differ. */
void fx_kkt_solve(fx_kkt *kkt, const double *b, double largest, double *x);
/* y = A x */
void fx_kkt_multiply(fx_kkt *kkt, const double *x, double *y);

/* ---- the parts ---- */

typedef struct fx_conic_part {
  int32_t first, dim; /* entries of s and z */
  bool held;          /* s = 0, z free */
} fx_conic_part;

/* What a cone is made of: at most FRIX_MAX_FACETS lines. */
enum { FX_CONIC_ENTRIES = FRIX_MAX_FACETS };

/* Parts of a contact (first counted from 0) and E, entries x contact->dim, row-major; returns the number of parts. */
int32_t fx_conic_parts(const frix_contact *contact, fx_conic_part part[FX_CONIC_ENTRIES],
                       double E[FX_CONIC_ENTRIES * FRIX_MAX_DIM], int32_t *entry_count);

/* ---- the problem ---- */

typedef struct fx_conic {
  const fx_system *s;
  int32_t row_count, entry_count, part_count;
  const double *S;
  bool exact;     /* Coulomb's law; set after fx_conic_setup */
  double *q, *g;  /* scaled; fx_conic_solve reads them */
  double *x, *z;  /* start where warm, and answer */
  bool *off;      /* per contact: held at zero altogether */
  double *column; /* entries: the normal column of E, for friction sets */
  /* structure */
  fx_conic_part *part;
  int32_t *part_start; /* per contact */
  int32_t *entry;      /* per contact, first entry */
  size_t *E_offset;
  double *E;
  fx_kkt kkt;
  /* workspace: rows, then entries, then per part */
  double *rd, *dx, *b, *y, *slope, *x_keep, *x_best; /* y = E' z, slope that of its shift */
  double *sl, *ds, *dz, *p, *t, *z_keep, *z_best, *w, *lambda;
  double *eta;
  /* results */
  int64_t steps; /* factorisations of the run */
  double merit;  /* | A x + q - E' z, s - P_C(s - z) | / |q, g| of x and z */
  double best;   /* least merit of the run: where x and z end, unless stop ended it */
} fx_conic;

/* With tangential, the system holds only the tangential rows of `full` contacts (one for each contact of the system),
 * and the sets are friction sets at normal impulses given by fx_conic_impulse; else full is NULL. */
frix_status fx_conic_setup(fx_arena *arena, const fx_system *system, const frix_contact *full, fx_newton_linear *shared,
                           fx_conic *out);
/* Normal impulse of contact i of a tangential problem; not positive switches the contact off. */
void fx_conic_impulse(fx_conic *conic, int32_t i, double impulse);

typedef struct fx_conic_run {
  bool careful;     /* exact law: stay nearer to the centre */
  bool warm;        /* x and z hold a start worth trying */
  double tolerance; /* on merit; 0: only stop says when */
  double accept;    /* a warm start that stalls below this merit is taken as it is */
  int64_t max_steps;
  bool (*stop)(fx_conic *conic, void *user); /* called with each iterate, may be NULL; true ends the run */
  void *user;
} fx_conic_run;

typedef enum fx_conic_end { FX_CONIC_SOLVED, FX_CONIC_STOPPED, FX_CONIC_LIMIT, FX_CONIC_STALLED } fx_conic_end;

fx_conic_end fx_conic_solve(fx_conic *conic, const fx_conic_run *run);

/* z from the velocity A x + q: per contact the point of C* whose image under E' is nearest. */
void fx_conic_warm(fx_conic *conic);

/* ---- cone algebra shared by the two iterations (conic_parts.c); d is 1 to 3 ---- */

double fx_soc_det(int32_t d, const double *a); /* a_0^2 - |a_1|^2 */
void fx_soc_project(int32_t d, const double *a, double *out);
/* Nesterov-Todd point: w with det 1, eta, and lambda = W z = W^-1 s. False where s or z is not interior. */
bool fx_soc_scale(int32_t d, const double *s, const double *z, double *w, double *eta, double *lambda);
void fx_soc_apply(int32_t d, const double *w, double eta, const double *a, double *out);   /* W a */
void fx_soc_unapply(int32_t d, const double *w, double eta, const double *a, double *out); /* W^-1 a */
void fx_soc_product(int32_t d, const double *a, const double *b, double *out);             /* Jordan */
void fx_soc_divide(int32_t d, const double *a, const double *b, double *out);              /* x: a o x = b */
/* Largest step t with lambda + t a in the cone; INFINITY where unbounded. */
double fx_soc_step(int32_t d, const double *lambda, const double *a);

#endif
