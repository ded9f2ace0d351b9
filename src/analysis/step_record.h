/* A step of rigid contacts between free bodies, kept so that its derivative can be transposed in closed form. */
#ifndef FX_ANALYSIS_STEP_RECORD_H
#define FX_ANALYSIS_STEP_RECORD_H

#include "analysis/contact_slope.h"
#include "analysis/sensitivity_internal.h"

typedef struct fx_record_contact {
  int32_t group, row, dim;   /* of the step's rows */
  int32_t slot[2], body[2];  /* body: in the record, -1: fixed */
  frix_vec3 point, frame[3]; /* normal and tangents */
  double gap, r[FRIX_MAX_DIM];
  double bounce; /* the row asks for this part of the normal velocity before; 0: for the gap to close */
  fx_contact_slope slope;
} fx_record_contact;

typedef struct fx_record_body {
  int32_t slot, mover, first, dof; /* mover -1: kinematic; first -1: no row touches it */
  const fx_body *body;
  double mass;
  frix_sym3 J;
  frix_pose pose;
  frix_vec3 v0, w0, v1, w1; /* kinematic: both are what it is given */
  frix_vec3 torque;
} fx_record_body;

typedef struct fx_step_record {
  double h;
  int32_t slots, contact_count, body_count;
  fx_record_contact *contact;
  fx_record_body *body;
  bool known; /* everything in it has a closed form */
} fx_step_record;

/* Of the step that t has opened. */
frix_status fx_record_take(const fx_sensitivity_step *t, fx_arena *arena, fx_step_record *out);

/* What c does to the value of the rows, by the state of its two bodies before the step. */
void fx_record_contact_back(const fx_step_record *record, const fx_record_contact *c, const fx_worth *worth,
                            frix_sensitivity_motion out[2]);
/* The same of the inertia and free motion of a body. */
void fx_record_body_back(const fx_step_record *record, const fx_record_body *b, const fx_worth *worth,
                         frix_sensitivity_motion *out);
/* lambda behind the motion of a body becomes that of the velocities of the answer and that of the state before, both
 * of which it is added to; a kinematic body has the latter alone. */
void fx_record_motion_back(const fx_step_record *record, const fx_record_body *b, const frix_sensitivity_motion *lambda,
                           frix_sensitivity_motion *velocities, frix_sensitivity_motion *before);

/* Whether differences of the assembly along one direction of all states agree with the closed forms: so nothing is
 * missing in them, and no shape has an edge here. */
frix_status fx_record_check(fx_sensitivity_step *t, const fx_step_record *record, bool *agrees);

#endif
