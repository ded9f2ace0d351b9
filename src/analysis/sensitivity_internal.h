/* What the parts of a sensitivity share: worlds that are assembled and never solved. */
#ifndef FX_ANALYSIS_SENSITIVITY_H
#define FX_ANALYSIS_SENSITIVITY_H

#include "sim/sim_internal.h"

#include <frix/sensitivity.h>

/* State of one body, and a tangent to it. */
typedef struct fx_place {
  frix_pose pose; /* of the central frame */
  frix_vec3 velocity, spin;
} fx_place;

/* What the data of a step leave of its law at a given answer (r, v):
 *
 *   f = M (v_free - v) + J'r by slot,   w = w + J v, mu, R, r_c by row of the answer's problem */
typedef struct fx_leftover {
  double *f; /* 6 by slot */
  double *w, *R, *r_c;
  double *mu; /* by contact */
} fx_leftover;

/* The answer: rows and impulses of a sim that stepped, and the velocities behind it by slot. */
typedef struct fx_answer_at {
  const frix_sim *sim;
  const double *r;
  const fx_place *after; /* velocity, spin */
  int32_t slots;
} fx_answer_at;

/* Of the rows of `looked`, as fx_sim_look left them; false where a row that carries something is not there. */
bool fx_leftover_find(const fx_answer_at *answer, const frix_sim *looked, fx_leftover *out);
/* The group of `looked` that stands for g of sim, NULL: none; *hint: where it may be. */
const fx_group *fx_group_like(const frix_sim *sim, const fx_group *g, const frix_sim *looked, int32_t *hint);
/* Whether a group of the answer carries anything. */
bool fx_carries(const fx_answer_at *answer, const fx_group *group);
bool fx_leftover_take(fx_arena *arena, const fx_answer_at *answer, fx_leftover *out);

/* frix_gradient_forward of a step; the bounds of its drilling friction (in r_c, which data->r_c points to) follow the
 * normal impulses. dr: room for all rows; it is set where there is such friction, or asked for. */
frix_status fx_drilling_forward(const frix_sim *sim, frix_gradient *g, const frix_gradient_data *data, double *r_c,
                                double *dv, double *dr, bool forces);

/* Poses and velocities of all bodies that are not static. */
void fx_places_get(const frix_sim *sim, fx_place *out);
frix_status fx_places_set(frix_sim *sim, const fx_place *place);
/* place + scale tangent, and (a - b) / scale. */
void fx_places_move(const fx_place *place, const frix_sensitivity_motion *tangent, double scale, int32_t slots,
                    fx_place *out);
void fx_places_differ(const fx_place *a, const fx_place *b, double scale, int32_t slots, frix_sensitivity_motion *out);
/* The end of the step that `sim` was looked at for, with these velocities. */
void fx_places_finish(frix_sim *sim, const fx_place *after, fx_place *out);

static inline double fx_tangent_product(const frix_sensitivity_motion *a, const frix_sensitivity_motion *b) {
  return fx_dot(a->place, b->place) + fx_dot(a->turn, b->turn) + fx_dot(a->velocity, b->velocity) +
         fx_dot(a->spin, b->spin);
}

static inline void fx_tangent_add(frix_sensitivity_motion *to, const frix_sensitivity_motion *by) {
  to->place = fx_add(to->place, by->place), to->turn = fx_add(to->turn, by->turn);
  to->velocity = fx_add(to->velocity, by->velocity), to->spin = fx_add(to->spin, by->spin);
}

#define FX_NUDGE 1e-6 /* of a state, in m, rad, m/s, rad/s */

struct frix_sensitivity {
  frix_context *context;
  frix_sensitivity_config config;
  frix_sim_config sim_config;
  frix_model *model;
  frix_model **lower, **upper; /* by parameter */
  frix_sim *sim;
  frix_sim *side[2];    /* the same world, for states beside */
  frix_sim **beside[2]; /* by parameter: worlds beside */
  double *parameter, *increment, *shifted;
  int32_t slots;
  fx_arena arena;
  frix_sensitivity_motion **tangent; /* by parameter, by slot */
  fx_place *before, *after, *moved, *end[2];
  frix_sensitivity_motion *part, *change;
  frix_sensitivity_result result;
  /* for the way back: the world every `apart` steps, tangents are then those of the start */
  frix_snapshot **kept;
  int64_t kept_count, kept_room;
  uint8_t *closed; /* by step: it has closed forms (step_record.h) */
  int64_t closed_room;
};

/* A step that was made, and its gradient. */
typedef struct fx_sensitivity_step {
  frix_sensitivity *s;
  fx_arena arena;
  frix_gradient *gradient; /* NULL: no rows, or not smooth */
  fx_answer_at answer;
  fx_leftover now, lower, upper, half_lower, half_upper;
  double *f, *w, *b, *mu, *R, *r_c, *dv, *dr; /* changes of the problem's data */
  int32_t dofs, rows, contacts, joints;
  bool opened, again;     /* again: its verdict was counted before */
  double end;             /* time */
  double momentum, speed; /* what is large in this step */
} fx_sensitivity_step;

/* Rows of a world with the bodies there, driven with these parameters, the k-th (-1: none) shifted. */
frix_status fx_sensitivity_look(frix_sensitivity *s, frix_sim *sim, const fx_place *place, int32_t k, double shift);
/* Makes the step that the sim is at the beginning of, and opens its gradient, in t, which is to be closed whatever
 * comes of it; the clock of the sim stands at the beginning of the step until then. */
frix_status fx_sensitivity_open(frix_sensitivity *s, fx_sensitivity_step *t);
void fx_sensitivity_close(fx_sensitivity_step *t);
/* Rows of state and parameters alone are those of the step, and its answer fits them: into t->now. Done when a step is
 * opened, but not when it is opened again. */
frix_status fx_sensitivity_check_rows(fx_sensitivity_step *t);
/* The step alone. */
frix_status fx_sensitivity_replay(frix_sensitivity *s);
/* Keeps the world at the beginning of a step for the way back. */
frix_status fx_sensitivity_keep(frix_sensitivity *s);
/* Notes whether the step that t has opened has closed forms. */
frix_status fx_sensitivity_note_closed(fx_sensitivity_step *t);
/* Changes of the rows by parameter k, in t, and of the end of the step, in s->part. */
frix_status fx_sensitivity_by_parameter(fx_sensitivity_step *t, int32_t k);

/* Values at a change to both sides, here, and (NULL: not known) at half the change. */
typedef struct fx_beside {
  const double *lower, *now, *upper, *half_lower, *half_upper;
} fx_beside;

/* Whether they are not those of a smooth function, whose bend is a quarter and whose change half at half the way. */
bool fx_is_edge(int32_t count, const fx_beside *at, double rounding);

/* What a change of the rows is worth: multipliers of the leftover by degree of freedom and row, and of the velocities
 * of bodies that no row touches. */
typedef struct fx_worth {
  const frix_sensitivity_motion *free;    /* by slot: velocity, spin */
  const double *f, *w, *b, *mu, *R, *r_c; /* of frix_gradient_adjoint; NULL: no gradient */
  int32_t rows;                           /* of w; b has those behind */
} fx_worth;

/* By group of the answer's rows and by mover; false where a row that carries something is not there. */
bool fx_worth_find(const fx_answer_at *answer, const frix_sim *looked, const fx_worth *worth, double *scratch,
                   double *group, double *mover);

#endif
