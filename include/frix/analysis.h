/* frix: analysis of certified answers: bounds of contact forces, uniqueness, gradients.
 *
 * Impulses of a contact problem need not be unique even if its motion is. At the velocity v of a certified answer all
 * impulses that satisfy Coulomb's law form a convex set,
 *
 *   H r + G lambda = H r0 + G lambda0,    r_i in F_i
 *     F_i = { 0 } if the contact opens,  n (1, t_i) if it slides, t_i against the slip,  K_i if it sticks
 *
 * and any linear measure c . r of them lies in an interval. Its ends are two conic programmes with exact cones; each
 * end is attained by known impulses and bounded by a dual solution. */
#ifndef FRIX_ANALYSIS_H
#define FRIX_ANALYSIS_H

#include <frix/sim.h>
#include <frix/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum frix_force_verdict {
  FRIX_FORCES_UNDECIDED, /* the programmes did not reach their tolerance */
  FRIX_FORCES_UNIQUE,
  FRIX_FORCES_SEVERAL, /* two certified answers with the same velocity are known */
} frix_force_verdict;

typedef enum frix_motion_verdict {
  FRIX_MOTION_ONE_FOUND, /* other methods and starts gave the same velocity; other velocities are not excluded */
  FRIX_MOTION_UNIQUE,    /* proved: W + R dominates friction, see docs/explain.md */
  FRIX_MOTION_SEVERAL,   /* a second certified answer with another velocity is known */
} frix_motion_verdict;

FRIX_API const char *frix_force_verdict_name(frix_force_verdict verdict);
FRIX_API const char *frix_motion_verdict_name(frix_motion_verdict verdict);

/* The impulses that a contact may have at the velocity of the answer. */
typedef enum frix_face {
  FRIX_FACE_NONE,  /* it opens */
  FRIX_FACE_GIVEN, /* compliant: its impulse follows from the velocity */
  FRIX_FACE_SLIP,  /* one direction, any size (rolling friction: sliding or rolling or both) */
  FRIX_FACE_STICK, /* its whole cone */
  FRIX_FACE_FREE,  /* a joint */
} frix_face;

FRIX_API const char *frix_face_name(frix_face face);

typedef struct frix_forces_config {
  uint32_t size;            /* set by frix_forces_default */
  double tolerance;         /* of the certificate; speeds below this share count as zero. Default 1e-8 */
  const double *r, *lambda; /* a certified answer to start from; NULL: the problem is solved */
} frix_forces_config;

FRIX_API void frix_forces_init(frix_forces_config *out, size_t size);
static inline frix_forces_config frix_forces_default(void) {
  frix_forces_config out;
  frix_forces_init(&out, sizeof out);
  return out;
}

typedef struct frix_forces frix_forces;

/* The admissible impulses of a problem, which must outlive them. FRIX_ERROR_CERTIFICATE if there is no
 * certified answer. */
FRIX_API frix_status frix_forces_create(frix_context *context, const frix_problem *problem,
                                        const frix_forces_config *config, frix_forces **out);
FRIX_API void frix_forces_destroy(frix_forces *forces);

typedef struct frix_forces_result {
  uint32_t size;
  frix_certificate certificate; /* of r */
  int32_t contact_count, row_count, joint_count;
  const double *r, *lambda, *u; /* the answer, in its faces to rounding */
  const frix_face *face;        /* contact_count, then joint_count */
  int32_t freedom;              /* number of independent directions in which impulses can change, ignoring cones */
} frix_forces_result;

FRIX_API void frix_forces_view_sized(const frix_forces *forces, frix_forces_result *out, size_t size);
static inline void frix_forces_view(const frix_forces *forces, frix_forces_result *out) {
  frix_forces_view_sized(forces, out, sizeof *out);
}

typedef struct frix_interval {
  double least, most;             /* attained; -INFINITY, INFINITY if unbounded: bodies jam */
  double least_bound, most_bound; /* bounds of all admissible impulses: least_bound <= least, most <= most_bound */
  double gap;                     /* largest distance of an end and its bound, over `scale` */
  double scale;    /* largest |c| times the largest impulse of its islands, or the larger end; 1 where both vanish */
  double residual; /* of the impulses at the ends, by the certificate */
  int64_t steps;   /* of the programmes */
} frix_interval;

/* The interval of c . r + c_lambda . lambda (row_count, joint_count; c_lambda may be NULL). r_least, r_most (row_count)
 * and the joint impulses get the impulses at the ends if these exist; may be NULL. */
FRIX_API frix_status frix_forces_interval_sized(frix_forces *forces, const double *c, const double *c_lambda,
                                                double *r_least, double *r_most, frix_interval *out, size_t size);
static inline frix_status frix_forces_interval(frix_forces *forces, const double *c, const double *c_lambda,
                                               double *r_least, double *r_most, frix_interval *out) {
  return frix_forces_interval_sized(forces, c, c_lambda, r_least, r_most, out, sizeof *out);
}

/* Whether r is the only admissible answer: the interval of a measure without symmetry. r_other (may be NULL) gets
 * another certified answer if there are several. */
FRIX_API frix_status frix_forces_unique(frix_forces *forces, frix_force_verdict *out, double *r_other);

/* The analytic centre, max of the sum of log det over the cones that are not forced to their boundary: it moves
 * smoothly with the problem. Islands that can jam have no centre and keep r; *all (may be NULL) is then false. */
FRIX_API frix_status frix_forces_centre(frix_forces *forces, double *r, double *lambda, bool *all);

/* Whether the velocity of r is the only one. r_other (may be NULL) gets a certified answer with another velocity where
 * one is found; *distance (may be NULL): |v - v_other| over the larger of both changes of v, in the norm of the kinetic
 * energy. */
FRIX_API frix_status frix_forces_motion(frix_forces *forces, frix_motion_verdict *out, double *r_other,
                                        double *distance);

/* ---- gradients ----
 *
 * The answer of a problem as a function of its data, differentiated at a certified answer through the natural map
 * r = P_K(r - rho u~). It is smooth while contacts keep their modes (open, stick, slip). */

typedef enum frix_gradient_verdict {
  FRIX_GRADIENT_SMOOTH,
  FRIX_GRADIENT_KINK,       /* a contact is within 1e-7 of a change of mode: no derivative exists */
  FRIX_GRADIENT_NOT_UNIQUE, /* forces that the law leaves open change the motion: no derivative exists */
  FRIX_GRADIENT_SMOOTHED,   /* of an answer on the central path: approximate, by name (frix_gradient_smoothed) */
} frix_gradient_verdict;

FRIX_API const char *frix_gradient_verdict_name(frix_gradient_verdict verdict);

typedef struct frix_gradient frix_gradient;

/* Gradient of the answer of a problem, which must outlive it; config as for frix_forces_create. */
FRIX_API frix_status frix_gradient_create(frix_context *context, const frix_problem *problem,
                                          const frix_forces_config *config, frix_gradient **out);
/* Gradient of the last step of a sim, at its answer. The sim may continue or be destroyed. */
FRIX_API frix_status frix_gradient_of_step(const frix_sim *sim, const frix_forces_config *config, frix_gradient **out);
/* Approximate by intention: of the answer on the central path of the interior point instead,
 *
 *   (r_N, r_T / mu) o (u_N + s(u), mu u_T) = kappa^2 e        o: product of the second-order cone, e its unit
 *
 * where every contact carries something and every one slips a little. kappa: share of what the bodies carry, above 0
 * and at most 1; as it goes to 0 the answer becomes the certified one. Verdict FRIX_GRADIENT_SMOOTHED; there are no
 * kinks, and what is not touched yet pulls. Circular, planar and frictionless contacts, limits and joints. */
FRIX_API frix_status frix_gradient_smoothed(frix_context *context, const frix_problem *problem,
                                            const frix_forces_config *config, double kappa, frix_gradient **out);
FRIX_API frix_status frix_gradient_of_step_smoothed(const frix_sim *sim, const frix_forces_config *config, double kappa,
                                                    frix_gradient **out);
FRIX_API void frix_gradient_destroy(frix_gradient *gradient);

typedef struct frix_gradient_result {
  uint32_t size;
  frix_gradient_verdict verdict;
  double distance; /* to the nearest change of mode: the smallest slip, opening speed, normal force or distance to the
                    * boundary of a friction cone, relative to the load of the contact's island */
  int32_t contact; /* where; -1: nowhere */
  bool forces_unique; /* derivatives of r exist */
  frix_certificate certificate;
  int32_t contact_count, row_count, dof_count, joint_count;
  const double *r, *lambda, *u, *v; /* the answer; v is NULL in reduced form */
} frix_gradient_result;

FRIX_API void frix_gradient_view_sized(const frix_gradient *gradient, frix_gradient_result *out, size_t size);
static inline void frix_gradient_view(const frix_gradient *gradient, frix_gradient_result *out) {
  frix_gradient_view_sized(gradient, out, sizeof *out);
}

/* Changes of the data; NULL: none. Other data enter through f and w: dM as f - dM v, dH as f + dH r and w + dH'v. */
typedef struct frix_gradient_data {
  uint32_t size;         /* sizeof frix_gradient_data */
  const double *f;       /* dof_count; global form */
  const double *w;       /* row_count; reduced form: of q */
  const double *b;       /* joint_count */
  const double *mu;      /* contact_count; circular and planar cones */
  const double *R, *r_c; /* row_count; compliant rows */
} frix_gradient_data;

/* The same as results; NULL: not wanted. */
typedef struct frix_gradient_parts {
  uint32_t size; /* sizeof frix_gradient_parts */
  double *f, *w, *b, *mu, *R, *r_c;
} frix_gradient_parts;

/* The derivative along `data`: of v (dof_count), u and r (row_count), each may be NULL. FRIX_ERROR_UNSUPPORTED if
 * it is not smooth, if r is wanted and not unique, or if rigid contacts cannot follow the change of w without opening.
 */
FRIX_API frix_status frix_gradient_forward(const frix_gradient *gradient, const frix_gradient_data *data, double *v,
                                           double *u, double *r);
/* One-sided: the change of v, u and r per change of the data in this direction, also at kinks, where it differs from
 * minus that of the opposite direction. If smooth it equals frix_gradient_forward. FRIX_ERROR_UNSUPPORTED if no modes
 * of the contacts at the kink fit, for elliptic and rolling contacts there, and as above. */
FRIX_API frix_status frix_gradient_one_sided(const frix_gradient *gradient, const frix_gradient_data *data, double *v,
                                             double *u, double *r);
/* The gradient of c_v . v + c_u . u (either may be NULL) with respect to all data, for the cost of one linear solve. */
FRIX_API frix_status frix_gradient_adjoint(const frix_gradient *gradient, const double *c_v, const double *c_u,
                                           const frix_gradient_parts *out);
/* For the gradient of a step: the degrees of freedom of a body in v and f, velocity of its centre first. *count is 0 if
 * no contact or joint acts on the body in the step, or if it is part of a tree. */
FRIX_API frix_status frix_gradient_body(const frix_gradient *gradient, frix_body_id body, int32_t *first,
                                        int32_t *count);

#ifdef __cplusplus
}
#endif
#endif
