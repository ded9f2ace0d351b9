/* frix: solvers and the certificate that judges them. */
#ifndef FRIX_SOLVE_H
#define FRIX_SOLVE_H

#include <frix/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum frix_law {
  FRIX_LAW_COULOMB,    /* the exact law */
  FRIX_LAW_ASSOCIATED, /* its convex relaxation, an approximation: sliding bodies lift off */
} frix_law;

typedef enum frix_outcome {
  FRIX_OUTCOME_SOLVED, /* the residual is at most the tolerance */
  FRIX_OUTCOME_MAX_ITERATIONS,
  FRIX_OUTCOME_STALLED, /* the method makes no further progress */
  FRIX_OUTCOME_TIME_LIMIT,
  FRIX_OUTCOME_CANCELLED, /* the cancel callback returned true */
  FRIX_OUTCOME_LOOSE,     /* auto: a large rigid pile, solved only to the option auto.pile_tolerance; the certificate
                             contains the actual residual */
} frix_outcome;

FRIX_API const char *frix_law_name(frix_law law);
FRIX_API const char *frix_outcome_name(frix_outcome outcome);

/* How exactly the law holds. docs/certificate.md has the formulas. Velocities in m/s (of the rows' own units), impulses
 * in N s, energies in J. */
typedef struct frix_certificate {
  double residual;         /* decides: max(contact_residual, joint_residual, row_residual), relative */
  double contact_residual; /* | r - P_K(r - rho u~) | / min(|r|, 1000 rho |q|) over all contacts */
  double joint_residual;   /* | rho_b (G' v + b) | / |lambda|-scale over bilateral rows, 0 without joints */
  double row_residual;     /* largest error of a single contact, limit, motor or joint, relative to the load of its own
                            * bodies; errors cannot be hidden by other contacts */
  int32_t worst_row;       /* its first row; joints are numbered from the problem's row_count on; -1: all errors are
                            * rounding */
  double floor;            /* relative rounding level below which errors were accepted, because double precision
                            * allows no more; 0: not needed; at most 1e-6 */
  double rho;              /* 1 / mean diagonal of W over contact rows */
  double worst_velocity;   /* largest per-contact natural map, rho_i = dim / tr W_ii, in velocity units */
  int32_t worst_contact;   /* where; -1 when there is no contact */
  double signorini;        /* largest |min(u_N, r_N / rho_i)|: penetration speed, tension, or force across a gap */
  double cone;             /* largest distance of r_i from K_i, divided by rho_i */
  double dissipation;      /* largest gap in maximum dissipation r_N s(u) + r_T . u_T, J */
  double bilateral;        /* largest |G' v + b| */
  double motion;           /* | M v - H r - G lambda - f | / (|f| + |H r| + |G lambda|), global form; else 0 */
  double power;            /* sum of r . u: work of the contacts in the step, J; <= 0 when nothing drives them */
} frix_certificate;

/* A row of the solver table. */
typedef struct frix_solver_info {
  const char *name;
  const char *summary;
  bool approximate; /* does not converge to the exact law; every output is marked */
  bool coulomb;     /* solves law coulomb */
  bool associated;  /* solves law associated */
  uint32_t cones;   /* bit c: cone c is supported */
  const frix_option_info *option;
  int32_t option_count;
} frix_solver_info;

/* Row k of the table, NULL past its end. */
FRIX_API const frix_solver_info *frix_solver_table(int32_t k);

/* A set of option values, "method.option" = value, checked when set; for an unknown name the error suggests the nearest
 * one. */
typedef struct frix_options frix_options;

FRIX_API frix_status frix_options_create(frix_context *context, frix_options **out);
FRIX_API void frix_options_destroy(frix_options *options);
FRIX_API frix_status frix_options_set(frix_options *options, const char *name, const char *value);

typedef struct frix_solve_config {
  uint32_t size;          /* set by frix_solve_default */
  const char *solver;     /* name in the table; default "auto" */
  double tolerance;       /* default 1e-8 */
  int64_t max_iterations; /* per island and method; 0: the method's own */
  double time_limit;      /* seconds of wall time; 0: none */
  frix_law law;
  frix_form form;
  int32_t thread_count; /* default 1; the answer has the same bits for any number */
  const frix_options *options;
  const double *guess_r;      /* warm start, row_count; NULL: the problem's own guess, or zero */
  const double *guess_lambda; /* joint_count, NULL: zero */
  const uint8_t *guess_hint;  /* contact_count: hint of an earlier result, for auto; NULL: none */
  bool history;               /* keep the residual history */
  bool (*cancel)(void *user); /* polled by worker threads; true ends the solve with the best answer so far */
  void (*progress)(int64_t iteration, double residual, double seconds, void *user); /* called from any thread */
  void *user;
} frix_solve_config;

FRIX_API void frix_solve_init(frix_solve_config *out, size_t size);
static inline frix_solve_config frix_solve_default(void) {
  frix_solve_config out;
  frix_solve_init(&out, sizeof out);
  return out;
}

typedef struct frix_history_row {
  int32_t island;
  int64_t iteration;
  double seconds;
  double residual; /* of the island's iterate, problem-wide rho */
} frix_history_row;

typedef struct frix_result {
  uint32_t size;
  frix_outcome outcome;
  frix_certificate certificate;
  int64_t iterations; /* maximum over the islands */
  int32_t island_count;
  double seconds;        /* wall time of the solve, reduction included */
  const char *solver;    /* the requested method */
  const char *finisher;  /* the method that solved the slowest island (for example "nsgs" inside "auto") */
  bool approximate;      /* the method, the law or a cone is an approximation */
  double velocity_error; /* estimate of |v - v*| / |v - v without impulses| in the norm of the kinetic energy, the
                            largest of the islands whose method makes one (sweeps); 0: no estimate */
  int32_t contact_count, row_count, dof_count, joint_count;
  const double *r, *u;      /* row_count */
  const double *v, *lambda; /* dof_count and joint_count; NULL for a reduced problem without M */
  const uint8_t *hint;      /* contact_count: what auto had to do for the contact's island. Kept with the impulses and
                               given back with the next step it saves attempts that failed before; nothing else in frix
                               remembers a solve */
  const frix_history_row *history;
  int64_t history_count;
} frix_result;

typedef struct frix_solution frix_solution;

FRIX_API frix_status frix_solve(frix_context *context, const frix_problem *problem, const frix_solve_config *config,
                                frix_solution **out);
FRIX_API void frix_solution_destroy(frix_solution *solution);
FRIX_API void frix_solution_view_sized(const frix_solution *solution, frix_result *out, size_t size);
static inline void frix_solution_view(const frix_solution *solution, frix_result *out) {
  frix_solution_view_sized(solution, out, sizeof *out);
}

/* Certifies any r (row_count) and lambda (joint_count, may be NULL); u and v may be NULL. */
FRIX_API frix_status frix_certify(frix_context *context, const frix_problem *problem, frix_law law, const double *r,
                                  const double *lambda, frix_certificate *out, double *u, double *v);

#ifdef __cplusplus
}
#endif
#endif
