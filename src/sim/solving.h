/* How the answer of given rows is found (step_solve.c), and the pieces that bring it or make it better. */
#ifndef FX_SIM_SOLVING_H
#define FX_SIM_SOLVING_H

#include "sim/sim_internal.h"

/* ---- answer.c ---- */
/* The last touch of an answer: worst row, verdict, rounding taken off or energy held, velocities of the rows. */
frix_status fx_finish_answer(frix_sim *sim, fx_assembly *a);

/* ---- attempt.c: rows and answer as they are, to come back to ---- */
typedef struct fx_attempt {
  double *w, *R, *r_c, *r; /* by row */
  double *expected;        /* NULL: nothing was */
  fx_group *group;
  fx_mover *mover;
  frix_step_report report;
} fx_attempt;

/* Copies rows, springs, velocities and verdict into the arena of the step. */
frix_status fx_attempt_begin(frix_sim *sim, const fx_assembly *a, fx_attempt *t);
/* The rows as they are become those before springs were set for rest, where none were yet: another solve of the same
 * rows, as the search for restitution makes them, may move what this one holds. */
frix_status fx_attempt_keep_unset(frix_sim *sim, fx_assembly *a);
/* The rows ask for what they asked then. */
void fx_attempt_restore_rows(fx_assembly *a, const fx_attempt *t);
/* Impulses, velocities and verdict are those of then; iterations made since stay counted. */
void fx_attempt_restore_answer(frix_sim *sim, fx_assembly *a, const fx_attempt *t);

/* ---- drilling.c ---- */
/* Bounds of drilling friction from the contacts' normal impulses; true where one moved. */
bool fx_drilling_update(fx_assembly *a);
/* Solves again until bounds and normal impulses agree, or the problem is not solved again and again. */
frix_status fx_drilling_agree(frix_sim *sim, fx_assembly *a);
/* Takes friction within its bounds and judges the whole once more. */
frix_status fx_drilling_judge(frix_sim *sim, fx_assembly *a);

/* ---- polish.c ---- */
bool fx_needs_polish(const frix_sim *sim, double residual);
bool fx_worth_polishing(const frix_sim *sim);
frix_status fx_polish(frix_sim *sim, fx_assembly *a);
/* The residual that a pile on springs is refined to; infinite for others. */
double fx_goal_of_springs(const frix_sim *sim, const fx_assembly *a);
frix_status fx_refine(frix_sim *sim, fx_assembly *a);

/* ---- push_out.c ---- */
/* The answer without push-out where it is certified, else the one there is. */
frix_status fx_solve_without_push_out(frix_sim *sim, fx_assembly *a);

/* ---- balance.c ---- */
/* Changes r, the impulses of counted rows, by as little as brings all movers to rest; *rests: it did, up to rounding.
 * Their velocities v1 are those of r. */
frix_status fx_balance(frix_sim *sim, const fx_assembly *a, double *r, bool *rests);

/* ---- sim_settle.c ---- */
/* Whether something stood still and moves by more than the rounding of its free velocity. */
bool fx_stirs(const frix_sim *sim);
/* After a certified solve with stiff contacts: what a rigid step would bring to rest is at rest. */
frix_status fx_settle(frix_sim *sim, fx_assembly *a);

/* ---- hurry.c ---- */
/* The answer under a deadline; begun: when the solve began. */
frix_status fx_solve_in_time(frix_sim *sim, fx_assembly *a, double begun);

/* ---- poisson.c ---- */
/* Whether a second phase may throw what the first brings to rest. */
bool fx_bounces_later(const frix_sim *sim, const fx_assembly *a);

/* ---- soft_newton.c ---- */
/* Impulses of islands with soft bodies into a->r, from the velocities before the step; those of others are the guess.
 * nearby: a->r is near the answer, and where it starts. */
typedef enum fx_found { FX_FOUND_NONE, FX_FOUND_SOME, FX_FOUND_ALL } fx_found;
frix_status fx_soft_newton(frix_sim *sim, fx_assembly *a, bool nearby, fx_found *found);

/* ---- rest.c ---- */
/* Whether the world stands still and is new to most of the contacts it will close. */
bool fx_may_rest(const frix_sim *sim, const fx_assembly *a);
/* Whether everything stood still to the bit, and the answer moves something. */
bool fx_leaves_rest(const frix_sim *sim, const fx_assembly *a);
/* The impulses that hold everything at rest become the guess, island by island, where they exist; relax: elsewhere
 * those of the relaxed law. */
frix_status fx_seek_rest(frix_sim *sim, fx_assembly *a, bool relax);
/* Springs that were set for rest, of bodies that the answer moves, are as they were before; true where there is one. */
bool fx_release_moving(const frix_sim *sim, fx_assembly *a);

#endif
