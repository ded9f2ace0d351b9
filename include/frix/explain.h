/* frix: why did it move, and what would have held it?
 *
 * The world is run to a given time. Among all pairs of touching bodies frix finds those that move relative to each
 * other: contacts that slip, lift, tip or roll, in the order in which they start to. The cause of the first failure is
 * the force that does the most work in its first step. Remedies are found by running the world again from its start
 * with one change; both ends of each bracket are runs in which every step is certified. */
#ifndef FRIX_EXPLAIN_H
#define FRIX_EXPLAIN_H

#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Failure of a contact between two bodies. */
typedef enum frix_failure {
  FRIX_FAILURE_NONE,    /* it held */
  FRIX_FAILURE_SLIP,    /* its points slide */
  FRIX_FAILURE_TIP,     /* some of its points lift, about those that stay */
  FRIX_FAILURE_LIFT,    /* all of its points lift */
  FRIX_FAILURE_ROLL,    /* the bodies roll on each other without slip */
  FRIX_FAILURE_REMOVED, /* one of its bodies was removed */
  FRIX_FAILURE_APPEAR,  /* not a failure: a contact that did not exist at the start */
} frix_failure;

FRIX_API const char *frix_failure_name(frix_failure failure);

/* Cause of the first failure. */
typedef enum frix_cause {
  FRIX_CAUSE_NONE,
  FRIX_CAUSE_WEIGHT,  /* of a body */
  FRIX_CAUSE_FORCE,   /* that was applied to a body */
  FRIX_CAUSE_MOTION,  /* of a kinematic body, or of the body that carries the contact */
  FRIX_CAUSE_IMPACT,  /* momentum of a body */
  FRIX_CAUSE_REMOVAL, /* of a body */
  FRIX_CAUSE_JOINT,   /* motors and springs of joints, actuators */
  FRIX_CAUSE_BELT,    /* the moving surface of a body */
} frix_cause;

FRIX_API const char *frix_cause_name(frix_cause cause);

/* Change made in another run. */
typedef enum frix_remedy_kind {
  FRIX_REMEDY_FRICTION, /* mu between the two materials of the contact: the least that holds */
  FRIX_REMEDY_PRESS,    /* a force that presses the two bodies together at the contact, N: the least that holds */
  FRIX_REMEDY_LOAD,     /* the cause, times a factor: the largest below 1 that holds */
  FRIX_REMEDY_KEEP,     /* the body that was removed stays */
  FRIX_REMEDY_COUNT
} frix_remedy_kind;

FRIX_API const char *frix_remedy_kind_name(frix_remedy_kind kind);

typedef struct frix_remedy {
  bool tried, found;
  bool certified;      /* every step of the runs at both ends */
  double holds, fails; /* ends of the bracket; fails: NaN if nothing failed */
  int32_t runs;
} frix_remedy;

typedef struct frix_event {
  frix_failure kind;
  int64_t step;
  double time;         /* beginning of the step in which it starts */
  frix_body_id a, b;   /* a: the one that moves; null: the world */
  frix_vec3 point;     /* the middle of the points at that time, world frame */
  frix_vec3 normal;    /* from b to a */
  double normal_force; /* N, sums over the points, in the last step before it starts */
  double tangent_force;
  double mu;
  double margin;   /* tangent_force / (mu normal_force) */
  double distance; /* m: relative displacement of the bodies at the end */
} frix_event;

typedef struct frix_margin {
  double time, margin, normal_force, tangent_force;
  int32_t points, sliding; /* that touch; of these: that slide */
  double distance;
} frix_margin;

/* Joules, of one body over the run: change of its kinetic energy = weight + applied + contacts + other. */
typedef struct frix_body_energy {
  double kinetic_start, kinetic_end;
  double weight, applied, contacts;
  double other; /* joints, forces of callbacks, finite rotations */
} frix_body_energy;

typedef struct frix_explain_config {
  uint32_t size; /* set by frix_explain_default */
  frix_body_id body;
  double time, step; /* the moment, s, and the length of the steps, s */
  double distance;   /* a contact failed if its bodies moved relative to each other by this share of the smaller one's
                      * radius, default 1e-3 */
  double within;     /* relative width of the brackets, default 1e-3 */
  bool remedies;     /* default; false: only what happened */
  /* Applies forces, motions and removals for the next step, as a function of state and time only; NULL: none. */
  frix_status (*drive)(frix_sim *sim, double h, void *user);
  void *user;
} frix_explain_config;

FRIX_API void frix_explain_init(frix_explain_config *out, size_t size);
static inline frix_explain_config frix_explain_default(void) {
  frix_explain_config out;
  frix_explain_init(&out, sizeof out);
  return out;
}

typedef struct frix_explanation frix_explanation;

/* Runs the model with the config `sim` (may be NULL) and explains the motion of the body. */
FRIX_API frix_status frix_explain(frix_context *context, const frix_model *model, const frix_sim_config *sim,
                                  const frix_explain_config *config, frix_explanation **out);
FRIX_API void frix_explanation_destroy(frix_explanation *explanation);

typedef struct frix_explanation_result {
  uint32_t size;
  frix_event first;    /* kind NONE if nothing failed: the contact of the body nearest to slipping */
  int32_t event_count; /* all failures, and contacts that appeared before the first, in order of time */
  const frix_event *event;
  int32_t history_count; /* of the first contact, by step up to the end */
  const frix_margin *history;
  frix_cause cause;
  frix_body_id cause_body;
  frix_vec3 cause_force; /* N, in the first step of the failure */
  double cause_power;    /* W, relative to the body that carries the contact */
  frix_remedy remedy[FRIX_REMEDY_COUNT];
  frix_body_energy energy;
  int64_t steps, certified_steps;
  double residual;        /* the worst */
  const char *cause_name; /* of the joint or actuator that does the most work, as the model has it; else NULL */
  double overlap;         /* m: how deep the bodies of the first contact overlapped as the run began, and were pushed
                             apart; 0 below what a failure counts from */
} frix_explanation_result;

FRIX_API void frix_explanation_view_sized(const frix_explanation *explanation, frix_explanation_result *out,
                                          size_t size);
static inline void frix_explanation_view(const frix_explanation *explanation, frix_explanation_result *out) {
  frix_explanation_view_sized(explanation, out, sizeof *out);
}

#ifdef __cplusplus
}
#endif
#endif
