/* Numbers that the next step of a sim depends on, by name, and numbers of the state behind it. */
#ifndef FX_ANALYSIS_STEP_INPUTS_H
#define FX_ANALYSIS_STEP_INPUTS_H

#include "sim/sim_internal.h"

typedef enum fx_input_kind {
  FX_INPUT_STEP,
  FX_INPUT_FRICTION, /* of the contacts of a body, of two bodies, or of all */
  FX_INPUT_FORCE,    /* and torque, during the step */
  FX_INPUT_PLACE,    /* of a body, its turn, velocity and spin */
  FX_INPUT_TURN,
  FX_INPUT_VELOCITY,
  FX_INPUT_SPIN,
  FX_INPUT_ROBOT,      /* an entry of a robot's arrays */
  FX_INPUT_COORDINATE, /* of a robot, along one of its velocities */
  FX_INPUT_GRAVITY,
  FX_INPUT_MODEL, /* a number of the model (frix/edit.h) */
} fx_input_kind;

#define FX_INPUT_RELATIVE 4e-5 /* width of differences of what has a scale, over it */
#define FX_INPUT_NARROW 1e-5   /* the same of what has no scale, in its unit */

typedef struct fx_step_input {
  fx_input_kind kind;
  const char *name; /* the caller's; of the model: that of frix_model_quantity */
  char quantity[128];
  frix_body_id body, other; /* 0: any */
  int axis;                 /* force: 3 and more for torques */
  int32_t array, index;     /* of a robot */
  double width;             /* of differences */
} fx_step_input;

typedef enum fx_output_kind {
  FX_OUTPUT_PLACE,
  FX_OUTPUT_TURN,
  FX_OUTPUT_VELOCITY,
  FX_OUTPUT_SPIN,
  FX_OUTPUT_QPOS,
  FX_OUTPUT_QVEL,
  FX_OUTPUT_PRESS, /* normal force between two bodies */
} fx_output_kind;

typedef struct fx_step_output {
  fx_output_kind kind;
  frix_body_id body, other;
  int axis;
  int32_t index;
} fx_step_output;

/* By the names of <frix/sensitivity.h>; an error that names them where there is no such number. */
frix_status fx_step_input_read(frix_sim *sim, const char *name, fx_step_input *out);
frix_status fx_step_output_read(frix_sim *sim, const char *name, fx_step_output *out);
/* The sim stands at the beginning of the step: its input grows by `amount`. Friction of contacts and the step are not
 * of the sim: nothing happens then. */
frix_status fx_step_input_change(frix_sim *sim, const fx_step_input *input, double amount);
/* Whether the contact between these bodies is meant. */
bool fx_pair_meant(frix_body_id a, frix_body_id b, uint32_t slot_a, uint32_t slot_b);
/* What an output is in this state; turns and coordinates of robots count from `from`, a sim of the same bodies. */
double fx_step_output_value(frix_sim *sim, frix_sim *from, const fx_step_output *output, double *scratch);

/* A step whose answer is corrected to rounding; *exact: it was, else it is that of the solver. */
frix_status fx_step_exactly(frix_sim *sim, double h, frix_step_report *report, bool *exact);

#endif
