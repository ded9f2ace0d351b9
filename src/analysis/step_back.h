/* The way back through one step: what the whole way and its parts share. */
#ifndef FX_ANALYSIS_STEP_BACK_H
#define FX_ANALYSIS_STEP_BACK_H

#include "analysis/step_record.h"

typedef struct fx_back {
  frix_sensitivity *s;
  const frix_sensitivity_adjoint_config *config;
  fx_arena arena;
  frix_sensitivity_motion *lambda, *before; /* by slot, behind and before the step */
  frix_sensitivity_motion *velocities;      /* c by slot */
  double *scratch;                          /* 6 by slot */
  double worth;                             /* of the rows as they are: what rounding is measured by */
  int32_t *colour;                          /* by slot */
  int32_t colours;
  fx_place *nudged;
} fx_back;

/* A body during a step: what a multiplier of its momentum needs. */
typedef struct fx_pushed {
  int32_t first, dof; /* first -1: no row touches it */
  frix_sym3 A_inverse, B_inverse;
} fx_pushed;

/* dJ/d(force, torque) on a body during step `step`, h long. */
void fx_back_by_force(const fx_back *q, const fx_worth *worth, const fx_pushed *body, double h, int64_t step);
/* The multiplier of the velocities of a body, where a row touches it. */
void fx_back_set_velocity(fx_sensitivity_step *t, int32_t first, int32_t dof, const frix_sensitivity_motion *m);
/* Multipliers of the rows from those of the velocities. */
frix_status fx_back_through_answer(const fx_back *q, fx_sensitivity_step *t, fx_worth *worth);

/* One step back by differences of the assembly, for what has no closed form: lambda behind it becomes that before it.
 * The sim stands at the beginning of the step. */
frix_status fx_back_by_differences(fx_back *q, int64_t step);

#endif
