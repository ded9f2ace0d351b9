/* How a step is made: its stages, what may send it back to an earlier one, and the way back where it fails.
 *
 *   contacts -> rows -> answer -> new state                      docs/architecture.md */
#ifndef FX_SIM_STEP_H
#define FX_SIM_STEP_H

#include "sim/sim_internal.h"

/* ---- contact_search.c: the contacts of a step ---- */
/* Poses where the integrator sees contacts, forces and free motion there, and the contacts with their laws. */
frix_status fx_contacts_find(frix_sim *sim);
/* Wakes what they reach, and finds them again with it. */
frix_status fx_contacts_wake(frix_sim *sim);

/* ---- retries.c: rows and answer, again as long as there is a reason to ---- */
/* The rows of the contacts and joints as they are. */
frix_status fx_step_rows(frix_sim *sim);
frix_status fx_step_answer(frix_sim *sim);

/* Where a step goes on after a look at its answer. */
typedef enum fx_redo {
  FX_REDO_NOTHING,
  FX_REDO_SOLVE,    /* the rows ask for something else */
  FX_REDO_ROWS,     /* rows are other ones */
  FX_REDO_CONTACTS, /* there are new contacts */
} fx_redo;

/* A look at the answer. round: how often it has sent the step back already; last: it may not do so again, and says by
 * *redo whether it would. */
typedef struct fx_round {
  int32_t count;
  bool last;
} fx_round;

/* ---- ball_friction.c ---- */
frix_status fx_retry_balls(frix_sim *sim, fx_round round, fx_redo *redo);
/* ---- middle.c: forces at the middle of an implicit step ---- */
frix_status fx_middle_begin(frix_sim *sim);
frix_status fx_retry_middle(frix_sim *sim, fx_round round, fx_redo *redo);
/* ---- mechanism_load.c ---- */
frix_status fx_retry_drives(frix_sim *sim, fx_round round, fx_redo *redo);
/* ---- thrown.c ---- */
frix_status fx_retry_thrown(frix_sim *sim, fx_round round, fx_redo *redo);
/* ---- rims.c ---- */
frix_status fx_retry_rims(frix_sim *sim, fx_round round, fx_redo *redo);
/* ---- soft_ahead.c ---- */
frix_status fx_retry_ahead(frix_sim *sim, fx_round round, fx_redo *redo);
/* ---- joint_path.c ---- */
frix_status fx_retry_joints(frix_sim *sim, fx_round round, fx_redo *redo);
/* ---- load_share.c ---- */
frix_status fx_retry_loads(frix_sim *sim, fx_round round, fx_redo *redo);
/* ---- restitution.c ---- */
frix_status fx_retry_bounces(frix_sim *sim, fx_round round, fx_redo *redo);

/* ---- undo.c ---- */
typedef struct fx_undo {
  fx_state state; /* its numbers; its arrays below */
  frix_vec3 *velocity, *spin, *momentum;
  uint8_t *asleep;
  double *quiet, *robot;
  fx_joint_memory *joint;
  int32_t *prototype; /* steps change neither these nor generations: for repeat.c */
  uint32_t *generation;
  fx_load *load;      /* NULL: no forces were applied */
  frix_energy ledger; /* what the step booked */
} fx_undo;

frix_status fx_undo_keep(frix_sim *sim, fx_undo *undo);
/* As if nothing had been asked. reported: the list of contacts is already that of the step. */
void fx_undo_take_back(frix_sim *sim, const fx_undo *undo, bool reported);

/* ---- repeat.c ---- */
/* Whether forces wait for the next step. */
bool fx_is_loaded(const fx_state *state);
/* After a step: where it left the state as it was, the next one may repeat it. */
void fx_repeat_note(frix_sim *sim, const fx_undo *undo);
/* The step h where it repeats the last one; false: it does not, and nothing has happened. */
bool fx_repeat_step(frix_sim *sim, double h);

#endif
