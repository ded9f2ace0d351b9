/* frix: how a run depends on its parameters.
 *
 *   frix_sensitivity_create(context, NULL, &config, &s);       a world for every value of some parameters
 *   for (...) frix_sensitivity_step(s, &result);               the step, and the derivatives of the state behind it
 *   frix_sensitivity_body(s, cup, 0, &motion);                 d(pose, velocities) / d(parameter 0)
 *   frix_sensitivity_adjoint(s, &wanted);                      or d(one number) / d(all parameters), backward
 *
 * The caller decides where parameters enter: masses, inertias, friction, restitution, sizes, initial poses and
 * velocities, springs and motors through `build`; forces, motions and controls through `drive`; or the step itself.
 * Each step is differentiated at its certified answer: the answer through the factors of the natural map
 * (frix/analysis.h), the assembly before it and the motion after it by central differences, backward in closed form
 * where bodies touch by planes, spheres, capsules, ellipsoids, boxes and hulls and hang on no joint.
 * Rigid contacts, integrator moreau, bodies in maximal coordinates. */
#ifndef FRIX_SENSITIVITY_H
#define FRIX_SENSITIVITY_H

#include <frix/analysis.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frix_sensitivity_config {
  uint32_t size; /* set by frix_sensitivity_default */
  int32_t parameter_count;
  const double *parameter;
  double step;             /* s, default 0.01 */
  int32_t step_parameter;  /* which parameter is the step; -1 (default): none */
  const double *increment; /* of the central differences, by parameter; NULL: 1e-6 of the value, at least 1e-7 */
  /* The world for these values: the same bodies, shapes and joints in the same order. */
  frix_status (*build)(frix_context *context, const double *parameter, frix_model **out, void *user);
  /* Applies forces and motions for the next step, as a function of state, time and parameters only; NULL: none. */
  frix_status (*drive)(frix_sim *sim, double h, const double *parameter, void *user);
  void *user;
  bool backward; /* steps keep what frix_sensitivity_adjoint needs, and make no derivatives by themselves */
  int32_t apart; /* backward: steps from one kept state to the next, default 16; those between are made again */
} frix_sensitivity_config;

FRIX_API void frix_sensitivity_init(frix_sensitivity_config *out, size_t size);
static inline frix_sensitivity_config frix_sensitivity_default(void) {
  frix_sensitivity_config out;
  frix_sensitivity_init(&out, sizeof out);
  return out;
}

typedef struct frix_sensitivity frix_sensitivity;

/* sim: config of the simulation; may be NULL. In any case contacts are rigid and have no memory, overlaps are corrected
 * completely in one step (so that the law is smooth when bodies just touch), and the tolerance is at most 1e-10. With
 * restitution use FRIX_RESTITUTION_NEWTON: `bounded` contains a search and is rejected. */
FRIX_API frix_status frix_sensitivity_create(frix_context *context, const frix_sim_config *sim,
                                             const frix_sensitivity_config *config, frix_sensitivity **out);
FRIX_API void frix_sensitivity_destroy(frix_sensitivity *sensitivity);

typedef struct frix_sensitivity_result {
  uint32_t size;
  frix_gradient_verdict verdict; /* of the step, and of the whole run so far: the worst */
  frix_gradient_verdict run_verdict;
  double distance, run_distance; /* to the nearest change of mode: of the step, the least of the run */
  int64_t step, kinks;           /* steps made; those that were not smooth */
  int64_t first_kink;            /* number of the first of these, from 1; 0: none */
  bool certified;                /* every step */
  int64_t closed; /* backward: steps whose way back has a closed form; others take differences of the assembly */
} frix_sensitivity_result;

/* One step. At a step that is not smooth the derivatives continue as if its answer were constant; the verdict of the
 * run says so from then on. FRIX_ERROR_UNSUPPORTED if the rows of the step depend on more than state and parameters.
 * result may be NULL. */
FRIX_API frix_status frix_sensitivity_step_sized(frix_sensitivity *sensitivity, frix_sensitivity_result *result,
                                                 size_t size);
static inline frix_status frix_sensitivity_step(frix_sensitivity *sensitivity, frix_sensitivity_result *result) {
  return frix_sensitivity_step_sized(sensitivity, result, sizeof *result);
}
/* The present world; it belongs to the sensitivity. */
FRIX_API const frix_sim *frix_sensitivity_sim(const frix_sensitivity *sensitivity);

/* Derivatives of a body's state: centre of mass, rotation (as a rotation vector, world frame), velocity and spin. */
typedef struct frix_sensitivity_motion {
  frix_vec3 place, turn, velocity, spin;
} frix_sensitivity_motion;

FRIX_API frix_status frix_sensitivity_body(const frix_sensitivity *sensitivity, frix_body_id body, int32_t parameter,
                                           frix_sensitivity_motion *out);

/* ---- backward ----
 *
 * One scalar of the run, J = sum over some steps k and bodies of weight . (place, turn, velocity, spin) behind step k,
 * by all parameters and by the force and torque on a body in every step, at a cost that hardly grows with their number:
 * lambda_k = (dF/dx)' lambda_k+1 through the transposed factors of each step, from kept states back to the start. */
typedef struct frix_sensitivity_weight {
  frix_body_id body;
  int64_t step; /* behind which it counts, from 1; 0: behind the last */
  frix_sensitivity_motion weight;
} frix_sensitivity_weight;

typedef struct frix_sensitivity_adjoint_config {
  uint32_t size; /* sizeof frix_sensitivity_adjoint_config */
  int32_t weight_count;
  const frix_sensitivity_weight *weight;
  double *parameter;   /* gets dJ/dparameter, parameter_count; may be NULL */
  frix_body_id pushed; /* a body, for the two below */
  frix_vec3 *force,
      *torque; /* get dJ/d(force, torque at its centre during step k), by step from the first; may be NULL */
} frix_sensitivity_adjoint_config;

/* Of the steps made so far; config.backward must be set. The run can go on afterwards. FRIX_ERROR_UNSUPPORTED where a
 * step was not smooth: there is no gradient then. */
FRIX_API frix_status frix_sensitivity_adjoint(frix_sensitivity *sensitivity,
                                              const frix_sensitivity_adjoint_config *config);

/* ---- one step, by numbers with names ----
 *
 *   const char *wrt[] = {"mu", "cup.mass", "ctrl:elbow", "qvel:wrist"}, *of[] = {"cup.x", "cup.vx", "qvel:elbow"};
 *   config.wrt_count = 4, config.wrt = wrt, config.of_count = 3, config.of = of;
 *   frix_sim_step_gradient(sim, &config, value, NULL, &result);             value[4 k + e] = d of[k] / d wrt[e]
 *
 * Inputs, before the step:
 *   h                                          the step
 *   mu, mu:A, mu:A|B                           friction of all contacts, of those of A, of those between A and B
 *   force:A.x, torque:A.x                      N, N m during the step
 *   A.x, A.turn.x, A.velocity.x, A.spin.x      state of a body
 *   ctrl:ACTUATOR, act:ACTUATOR, applied:JOINT state of a robot;
 *   qpos:JOINT, qvel:JOINT                     JOINT.k: velocity k of a joint with several
 *   gravity.z, A.mass, A.inertia.x, A.mu       numbers of the world (frix/edit.h), also restitution, stiffness,
 *                                              rolling, size.x, radius, length; not of robot files with reduced
 *                                              coordinates
 *
 * Outputs, behind it:
 *   A.x, A.turn.x, A.vx, A.wx, qpos:JOINT, qvel:JOINT
 *   A|B.n                                      normal force between A and B, where forces are unique
 *
 * Places are those of centres of mass. "world" is a body for mu and forces.
 *
 * The sim does not move. The step is made in a copy of it, with overlaps corrected completely and the tolerance at most
 * 1e-10. Integrator moreau, no soft bodies, no contact hooks. */
typedef struct frix_step_gradient_config {
  uint32_t size; /* set by frix_step_gradient_default */
  double step;   /* s, default 0.01 */
  int32_t wrt_count, of_count;
  const char *const *wrt, *const *of;
  bool one_sided; /* derivatives as inputs grow, and in `below` as they shrink: also at kinks */
  double kappa;   /* above 0: smoothed (frix_gradient_smoothed), approximate */
} frix_step_gradient_config;

FRIX_API void frix_step_gradient_init(frix_step_gradient_config *out, size_t size);
static inline frix_step_gradient_config frix_step_gradient_default(void) {
  frix_step_gradient_config out;
  frix_step_gradient_init(&out, sizeof out);
  return out;
}

/* value, below (NULL: not wanted): of_count x wrt_count, NAN unless the verdict allows derivatives. result (may be
 * NULL) has no pointers to arrays. FRIX_ERROR_CERTIFICATE: the step is not certified. */
FRIX_API frix_status frix_sim_step_gradient_sized(frix_sim *sim, const frix_step_gradient_config *config, double *value,
                                                  double *below, frix_gradient_result *result, size_t size);
static inline frix_status frix_sim_step_gradient(frix_sim *sim, const frix_step_gradient_config *config, double *value,
                                                 double *below, frix_gradient_result *result) {
  return frix_sim_step_gradient_sized(sim, config, value, below, result, sizeof *result);
}

#ifdef __cplusplus
}
#endif
#endif
