/* What the parts of the derivative of one step share. */
#ifndef FX_ANALYSIS_STEP_STUDY_H
#define FX_ANALYSIS_STEP_STUDY_H

#include "analysis/gradient.h"
#include "analysis/sensitivity_internal.h"
#include "analysis/step_inputs.h"

/* What the rows leave of the law: dofs, rows and joints; by contact its coefficients. */
typedef struct fx_law_left {
  double *f, *w, *R, *r_c, *mu, *other;
} fx_law_left;

typedef struct fx_study {
  const frix_step_gradient_config *config;
  frix_context *context;
  fx_arena arena;
  frix_snapshot *start;
  frix_sim *base, *beside; /* the step; what is looked at */
  frix_gradient *gradient; /* NULL: nothing is touched */
  frix_gradient_result view;
  fx_step_input *input;
  fx_step_output *output;
  double *r, *dv, *dr, *moved, *scratch, *behind[4];
  fx_law_left now, at[4], change;   /* at: -1, 1, -1/2, 1/2 of the width */
  double momentum, speed, farthest; /* body, from the origin */
  bool edge;                        /* an input bends what follows from it */
} fx_study;

/* ---- step_worlds.c ---- */
frix_status fx_study_open(fx_study *s, const frix_sim *sim, frix_sim **out);
frix_status fx_study_begin(fx_study *s, frix_sim *sim);
frix_status fx_study_look(fx_study *s, const fx_step_input *in, double amount);
bool fx_study_take(fx_study *s, fx_law_left *l);
/* Of the rows that fx_study_look left; groups that are not there must carry nothing. */
frix_status fx_study_find(fx_study *s, fx_law_left *out);
bool fx_study_carries(const fx_study *s, const fx_group *g);
/* Adds |J'| |r| to size, by degree of freedom. */
void fx_study_impulses(const fx_study *s, double *size);
/* Rows of the state alone are those of the step, and its answer fits them. */
frix_status fx_study_check(fx_study *s);

#endif
