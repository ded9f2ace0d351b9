/* frix: mixed complementarity problems.
 *
 *   find x with l <= x <= h:   F_i(x) >= 0 where x_i = l_i,   F_i(x) <= 0 where x_i = h_i,   F_i(x) = 0 between
 *
 * In the notation of the literature the bounded unknowns are u with rows f, the free ones v with rows g. Linear and
 * nonlinear complementarity problems, systems of equations, optimality conditions and contact problems all have this
 * form. As everywhere in frix, a certificate decides whether an answer is accepted. */
#ifndef FRIX_MCP_H
#define FRIX_MCP_H

#include <frix/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A problem as stated by the user. Arrays are copied. A callback returns false if it is not defined at x; methods then
 * avoid that point. All callbacks get x within the bounds. */
typedef struct frix_mcp_data {
  uint32_t size;       /* set by frix_mcp_data_default */
  const char *name;    /* optional */
  int32_t count;       /* unknowns, and rows */
  const double *lower; /* count, -INFINITY if unbounded; NULL: 0 */
  const double *upper; /* count, INFINITY if unbounded; NULL: INFINITY */
  bool linear;         /* F is affine */
  bool (*function)(const double *x, double *F, void *user);
  /* The Jacobian in compressed columns, its pattern fixed: rows of column j are row[column[j] .. column[j + 1]). */
  const int32_t *column; /* count + 1 */
  const int32_t *row;    /* ascending within a column */
  bool (*jacobian)(const double *x, double *value, void *user);
  /* Or, without a matrix: out = J d, or J' d. Methods that factorise need the matrix. */
  bool (*product)(const double *x, const double *d, bool transposed, double *out, void *user);
  void *user;
  void (*release)(void *user); /* optional: called when the problem is destroyed, or could not be created */
  int32_t start_count;         /* starting points; 0: the point of the box nearest to zero */
  const double *start;         /* start_count * count */
  int32_t solution_count;      /* known solutions, for comparison only */
  const double *solution;      /* solution_count * count, NAN where a component is not determined */
} frix_mcp_data;

FRIX_API void frix_mcp_data_init(frix_mcp_data *out, size_t size);
static inline frix_mcp_data frix_mcp_data_default(void) {
  frix_mcp_data out;
  frix_mcp_data_init(&out, sizeof out);
  return out;
}

typedef struct frix_mcp frix_mcp;

FRIX_API frix_status frix_mcp_create(frix_context *context, const frix_mcp_data *data, frix_mcp **out);
FRIX_API void frix_mcp_destroy(frix_mcp *mcp);
/* Pointers into the problem, valid until it is destroyed. */
FRIX_API void frix_mcp_view_sized(const frix_mcp *mcp, frix_mcp_data *out, size_t size);
static inline void frix_mcp_view(const frix_mcp *mcp, frix_mcp_data *out) {
  frix_mcp_view_sized(mcp, out, sizeof *out);
}
/* Starting point k into x (count); false past the last one. There is always a first one. */
FRIX_API bool frix_mcp_start(const frix_mcp *mcp, int32_t k, double *x);
/* Largest difference between x and the nearest known solution, over the components it determines; NAN when none is
 * known. *which is the solution's index, may be NULL. */
FRIX_API double frix_mcp_distance(const frix_mcp *mcp, const double *x, int32_t *which);

/* How exactly x solves the problem. */
typedef struct frix_mcp_certificate {
  double residual;        /* decides: largest |x_i - mid(l_i, h_i, x_i - F_i)|; infinite if F is undefined */
  int32_t worst;          /* the row where, -1 without unknowns */
  double objective;       /* 1/2 (|f - z|^2 + |g|^2 + (u'z)^2) with z = max(f, 0), u the distance from the bound */
  double infeasibility;   /* largest distance of x from its bounds */
  double complementarity; /* u'z */
} frix_mcp_certificate;

/* Certifies x; nothing else decides whether it is a solution. */
FRIX_API frix_status frix_mcp_certify(frix_context *context, const frix_mcp *mcp, const double *x,
                                      frix_mcp_certificate *out);

/* A row of the method table. */
typedef struct frix_mcp_method_info {
  const char *name;
  const char *summary;
  bool linear_only; /* supports affine F only */
  bool matrix_free; /* needs products only */
  const frix_option_info *option;
  int32_t option_count;
} frix_mcp_method_info;

/* Row k of the table, NULL past its end. */
FRIX_API const frix_mcp_method_info *frix_mcp_method_table(int32_t k);

/* An option of a method, "semismooth.restarts" = "5". */
typedef struct frix_mcp_setting {
  const char *name, *value;
} frix_mcp_setting;

typedef struct frix_mcp_config {
  uint32_t size;          /* set by frix_mcp_default */
  const char *method;     /* name in the table; default "auto" */
  double tolerance;       /* of the certificate's residual; default 1e-8 */
  int64_t max_iterations; /* per method; 0: the method's own */
  double time_limit;      /* seconds of wall time; 0: none */
  const frix_mcp_setting *setting;
  int32_t setting_count;
  /* Called with every iterate; true ends the solve with the best answer so far. */
  bool (*cancel)(int64_t iteration, double residual, const double *x, void *user);
  void *user;
} frix_mcp_config;

FRIX_API void frix_mcp_init(frix_mcp_config *out, size_t size);
static inline frix_mcp_config frix_mcp_default(void) {
  frix_mcp_config out;
  frix_mcp_init(&out, sizeof out);
  return out;
}

typedef struct frix_mcp_result {
  frix_outcome outcome;
  frix_mcp_certificate certificate;
  int64_t iterations;       /* outer, over all methods tried */
  int64_t inner_iterations; /* of the quadratic solver, or pivots */
  int64_t evaluations;      /* of F */
  int64_t products;         /* with J or J' */
  int64_t factorizations;
  int32_t restarts;
  double seconds;
  const char *method;   /* the requested method */
  const char *finisher; /* the method that gave the answer */
} frix_mcp_result;

/* x (count) holds the start and receives the best answer found, for any outcome. config may be NULL. */
FRIX_API frix_status frix_mcp_solve(frix_context *context, const frix_mcp *mcp, const frix_mcp_config *config,
                                    double *x, frix_mcp_result *out);

/* ---- contact problems as complementarity problems */

/* Local unknowns: r_N, per friction disc r_T, u_T and the slip s (circular, elliptic, rolling cones), per polygon the
 * corner weights and the slip (pyramid, planar). docs/methods/box_trust_region.md has the rows. */
FRIX_API frix_status frix_mcp_create_contact(const frix_problem *problem, frix_law law, frix_mcp **out);
/* Impulses from the unknowns: r (row_count) and lambda (joint_count, may be NULL). */
FRIX_API void frix_mcp_contact_impulse(const frix_mcp *mcp, const double *x, double *r, double *lambda);

/* ---- the problem library */

typedef struct frix_mcp_entry {
  const char *name; /* where sized, the size follows: "control-20" */
  const char *family;
  const char *summary;
  bool sized; /* any "name-N" within minimum..maximum */
  int32_t size, minimum, maximum;
  int32_t count; /* unknowns, at `size` where sized */
  int32_t start_count;
  bool linear;
} frix_mcp_entry;

/* Row k of the library, NULL past its end. */
FRIX_API const frix_mcp_entry *frix_mcp_library(int32_t k);
/* A problem by name ("kojshin", "control-14000"; "control" alone takes its default size); for an unknown name the error
 * suggests the nearest one. */
FRIX_API frix_status frix_mcp_create_named(frix_context *context, const char *name, frix_mcp **out);

/* Two SCARA arms squeeze a cube; seed 0 is the undisturbed grasp, 1, 2, ... random wrenches and torques. */
typedef enum frix_scara_form {
  FRIX_SCARA_SLIDING,
  FRIX_SCARA_CONE,
  FRIX_SCARA_PYRAMID,
  FRIX_SCARA_COUNT
} frix_scara_form;

FRIX_API const char *frix_scara_form_name(frix_scara_form form);
FRIX_API frix_status frix_mcp_create_scara(frix_context *context, frix_scara_form form, uint64_t seed, frix_mcp **out);
/* What the two contacts do next: 'R' rolls (sticks), 'S' slides, 'D' detaches; two letters and 0. */
FRIX_API void frix_mcp_scara_class(const frix_mcp *mcp, const double *x, char out[3]);
/* Contact forces c = (n1 n2 t1 t2 o1 o2) at x. */
FRIX_API void frix_mcp_scara_force(const frix_mcp *mcp, const double *x, double c[6]);

#ifdef __cplusplus
}
#endif
#endif
