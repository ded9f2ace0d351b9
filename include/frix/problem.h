/* frix: the contact problem as data.
 *
 *   global   M v = H r + G lambda + f     G' v + b = 0     u = H' v + w
 *   reduced  u = W r + q
 *   both     u += R (r - r_c)             compliance, rigid (R = 0) by default
 *   contact  r_i in K_i,  u_i + s(u_i) e_N in K_i*,  orthogonal,   s(u) = largest slip power per unit normal impulse
 *
 * Rows of a contact are consecutive, normal first. Names and signs are those of fclib. */
#ifndef FRIX_PROBLEM_H
#define FRIX_PROBLEM_H

#include <frix/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Cones. `dim` is the number of rows a contact owns. */
typedef enum frix_cone {
  FRIX_CONE_FRICTIONLESS, /* dim 1..3: r_N >= 0, r_T = 0 */
  FRIX_CONE_CIRCULAR,     /* dim 3: |r_T| <= mu r_N */
  FRIX_CONE_ELLIPTIC,     /* dim 3: half axes mu r_N along axis, mu2 r_N across it */
  FRIX_CONE_PYRAMID,      /* dim 3: r_T / r_N in the regular polygon with `facets` corners on the circle of radius mu */
  FRIX_CONE_PLANAR,       /* dim 2: |r_T| <= mu r_N */
  FRIX_CONE_ROLLING,      /* dim 5: |r_T| <= mu r_N and |r_R| <= mu_r r_N */
  FRIX_CONE_LIMIT,        /* dim 1: r >= 0 (joint limit) */
  FRIX_CONE_BILATERAL,    /* dim 1..6: r free, u = 0 (joint) */
  FRIX_CONE_COUNT
} frix_cone;

#define FRIX_MAX_DIM 6     /* rows of the largest contact */
#define FRIX_MAX_FACETS 64 /* corners of the finest pyramid */

typedef struct frix_contact {
  frix_cone cone;
  int32_t dim;
  int32_t facets; /* pyramid: 3 .. FRIX_MAX_FACETS, first corner on the first tangent */
  double mu;      /* sliding friction (along axis, if elliptic) */
  double mu2;     /* elliptic: friction across axis */
  double mu_r;    /* rolling friction, in metres */
  double axis[2]; /* elliptic: direction of mu in the tangent plane; need not have unit length */
} frix_contact;

/* A row of the cone table, for lists and help. */
typedef struct frix_cone_info {
  const char *name;
  const char *summary;
  int32_t min_dim, max_dim;
} frix_cone_info;

/* Row k of the cone table, NULL past its end; k is the frix_cone. */
FRIX_API const frix_cone_info *frix_cone_table(int32_t k);

typedef enum frix_matrix_format {
  FRIX_MATRIX_NONE,    /* the matrix is absent */
  FRIX_MATRIX_DENSE,   /* x[row_count * col_count], column-major */
  FRIX_MATRIX_CSC,     /* p[col_count + 1], i[p[col_count]] rows, x */
  FRIX_MATRIX_CSR,     /* p[row_count + 1], i[p[row_count]] columns, x */
  FRIX_MATRIX_TRIPLET, /* i[nonzero_count] rows, p[nonzero_count] columns, x; duplicates add */
} frix_matrix_format;

typedef struct frix_matrix {
  frix_matrix_format format;
  int32_t row_count, col_count;
  int64_t nonzero_count; /* stored entries; ignored when dense */
  const int32_t *p, *i;
  const double *x;
} frix_matrix;

typedef enum frix_form {
  FRIX_FORM_AUTO,   /* as a request: whichever is cheaper */
  FRIX_FORM_LOCAL,  /* W, q */
  FRIX_FORM_GLOBAL, /* M, H, G, f, w, b */
} frix_form;

/* Input of frix_problem_create and output of frix_problem_view. The library copies its input. */
typedef struct frix_problem_data {
  uint32_t size; /* set by frix_problem_data_default */
  frix_form form;
  int32_t contact_count;
  const frix_contact *contact;
  int32_t row_count;   /* filled by frix_problem_view: sum of dim */
  int32_t dof_count;   /* global: size of v; local: row_count */
  int32_t joint_count; /* global: rows of lambda, columns of G */
  frix_matrix W;       /* local: row_count x row_count */
  const double *q;     /* local: row_count */
  frix_matrix M;       /* global: dof_count x dof_count */
  frix_matrix H;       /* global: dof_count x row_count */
  frix_matrix G;       /* global, optional: dof_count x joint_count */
  const double *f;     /* global: dof_count */
  const double *w;     /* global: row_count */
  const double *b;     /* with G: joint_count */
  const double *R;     /* optional compliance, row_count, >= 0 */
  const double *r_c;   /* optional with R: remembered impulse, row_count */
  const double *guess; /* optional start for r, row_count */
  const char *title;   /* optional */
} frix_problem_data;

FRIX_API void frix_problem_data_init(frix_problem_data *out, size_t size);
static inline frix_problem_data frix_problem_data_default(void) {
  frix_problem_data out;
  frix_problem_data_init(&out, sizeof out);
  return out;
}

/* A contact with an exact circular cone (dim 3), a planar one (dim 2) or a rolling one (dim 5), as in problem files. */
FRIX_API frix_contact frix_contact_of_dim(int32_t dim, double mu, double mu_r);

typedef struct frix_problem frix_problem;

/* Checks the data (sizes, indices, finite numbers, mu >= 0, R >= 0) and copies them. */
FRIX_API frix_status frix_problem_create(frix_context *context, const frix_problem_data *data, frix_problem **out);
FRIX_API void frix_problem_destroy(frix_problem *problem);

/* Pointers into the problem, valid until it is destroyed; matrices in CSC with sorted rows, without duplicates. */
FRIX_API void frix_problem_view_sized(const frix_problem *problem, frix_problem_data *out, size_t size);
static inline void frix_problem_view(const frix_problem *problem, frix_problem_data *out) {
  frix_problem_view_sized(problem, out, sizeof *out);
}

/* The problem in reduced form (joints of a global problem become bilateral contacts after the others). */
FRIX_API frix_status frix_problem_reduce(const frix_problem *problem, frix_problem **out);

/* The same problem with every circular cone replaced by a pyramid, which is an approximation. */
FRIX_API frix_status frix_problem_with_pyramids(const frix_problem *problem, int32_t facets, frix_problem **out);

/* Number of independent islands: sets of contacts that share no moving body. */
FRIX_API frix_status frix_problem_island_count(const frix_problem *problem, int32_t *out);

#ifdef __cplusplus
}
#endif
#endif
