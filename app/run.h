/* frix run, its parts: what is told of a step (run_columns.c), the account of a run (run_account.c), its tables
 * (run_csv.c), its file (run_file.c). */
#ifndef FX_RUN_H
#define FX_RUN_H

#include "subject.h"

#include <frix/trajectory.h>

/* ---- what is told of every step (run_columns.c) */

typedef struct fx_step_view {
  const frix_step_report *report;
  frix_sim *sim; /* NULL for a frame of a file */
  const frix_model *model;
} fx_step_view;

typedef struct fx_step_column {
  const char *name;
  const char *unit, *summary; /* NULL: the largest value over a run is not told */
  bool whole;
  double (*get)(const fx_step_view *view);
} fx_step_column;

/* Row k of the table, NULL past its end. */
const fx_step_column *fx_step_column_at(int k);

enum { FX_STEP_COLUMNS = 32 };

/* The largest value of a column, and the step that had it. */
typedef struct fx_worst {
  double value;
  int64_t step;
} fx_worst;

void fx_worst_add(fx_worst worst[FX_STEP_COLUMNS], const fx_step_view *view, int64_t step);
/* Lines whose names take up `width`. */
void fx_worst_print(const fx_worst worst[FX_STEP_COLUMNS], int width);
void fx_worst_put(fx_json *json, const fx_worst worst[FX_STEP_COLUMNS]);

/* ---- what a run amounts to (run_account.c) */

typedef struct fx_account {
  frix_tally tally;   /* of all steps of the run, also of those before it was resumed */
  int64_t first_step; /* where this run began: 0, or where it was resumed */
  int64_t made;       /* steps from there on, which the times belong to */
  int64_t reduced;    /* steps whose impacts kept less than their restitution */
  fx_worst worst[FX_STEP_COLUMNS];
  double collide, assemble, solve, integrate;
  double wall, cpu; /* at the start; seconds taken once the run is over */
  frix_body_id *body;
  frix_vec3 *start; /* centres of the dynamic bodies at the start */
  int32_t body_count;
} fx_account;

void fx_account_begin(fx_account *account, const frix_sim *sim, const frix_model *model);
/* A body that started elsewhere, for runs that are resumed. */
void fx_account_start(fx_account *account, frix_body_id id, frix_vec3 center);
void fx_account_add(fx_account *account, const fx_step_view *view, int64_t step, double tolerance);
void fx_account_end(fx_account *account);
void fx_account_free(fx_account *account);

/* What --accuracy came to (run_accuracy.c). */
typedef struct fx_accuracy {
  double wanted; /* m; 0: not asked for */
  double found;  /* largest distance of two runs of different tolerance */
  double until;  /* s: they agree to the accuracy up to here */
  bool reached;
  int passes;
  int64_t located; /* steps as short as allowed, at events */
} fx_accuracy;

typedef struct fx_run {
  frix_context *context;
  fx_subject subject;
  frix_sim_config config;
  frix_options *options;
  frix_sim *sim;
  double h;
  double *length; /* of each step, where --accuracy says; NULL: h */
  fx_accuracy accuracy;
  int64_t step_count, every, checkpoint; /* step_count: where the run ends */
  const char *out, *page, *csv, *problems;
  char *scratch;                                /* the file a page is made from where none was asked for */
  bool json, poses, quiet, interrupted, broken; /* broken: a strict run met a step that is not certified */
  fx_account account;
  struct fx_live *live; /* the page that shows the run while it goes on; NULL: none (live.h) */
} fx_run;

void fx_run_print(const fx_run *run);
void fx_run_json(const fx_run *run);
/* Scene, parameters and settings as keys of an object. */
void fx_put_settings(fx_json *json, const fx_run *run);

/* ---- steps as long as an accuracy in metres allows (run_accuracy.c) */

/* Plans the lengths of the steps and their number; false after a message. */
bool fx_run_plan(fx_run *run, double accuracy);
void fx_run_tell_accuracy(const fx_run *run);

/* ---- the file of a run, .frx (run_file.c) */

typedef struct fx_run_file fx_run_file;

/* A new file with the start of the run; NULL after a message. */
fx_run_file *fx_run_file_create(const fx_run *run, const fx_args *args);
/* A step: a frame and a checkpoint where they are due; false after a message. */
bool fx_run_file_add(fx_run_file *file, const fx_run *run, const frix_step_report *report);
/* Ends with a checkpoint, from which the run can be continued; false after a message. NULL is allowed. */
bool fx_run_file_close(fx_run_file *file, const fx_run *run);

/* Fills subject, config, sim, h and account of a run from its file, as its last readable checkpoint has them, and goes
 * on writing there; NULL after a message. args: of this command, time and threads of which go before those of the file.
 */
fx_run_file *fx_run_file_resume(fx_run *run, const char *path, const fx_args *args);
/* Fills subject, config and h of a run from its file, to be run again from its start: no sim is made and nothing is
 * written; NULL after a message. */
fx_run_file *fx_run_file_read(fx_run *run, const char *path, const fx_args *args);
/* The words that began the run of a file; without a verb where it does not say. */
const fx_args *fx_run_file_args(const fx_run_file *file);
/* Releases what a resumed run lives on; after the sim is gone. */
void fx_run_file_free(fx_run_file *file);

/* h, every, checkpoint, step count from the flags; false after a message. */
bool fx_run_times(fx_run *run, const fx_args *args);

/* ---- PREFIX_steps.csv and PREFIX_bodies.csv (run_csv.c) */

typedef struct fx_run_csv fx_run_csv;

fx_run_csv *fx_run_csv_open(frix_context *context, const char *prefix);
void fx_run_csv_add(fx_run_csv *csv, const fx_step_view *view);
/* The tables appear; false after a message when not all could be written; NULL is allowed. */
bool fx_run_csv_close(fx_run_csv *csv);

/* ---- the robot of a run: controls in, sensors out (run_robot.c) */

typedef struct fx_run_robot fx_run_robot;

/* NULL in *out where nothing of it is asked; false after a message, and *out is then to be closed too. */
bool fx_run_robot_open(const fx_run *run, const fx_args *begun, const fx_args *args, fx_run_robot **out);
/* Controls of the present time; NULL is allowed in all of these. */
void fx_run_robot_drive(fx_run_robot *robot, const frix_sim *sim);
bool fx_run_robot_sense(fx_run_robot *robot, const fx_run *run);
/* Controls alone, of any sim of the model, as a function of its time: for worlds that are run many times. NULL: none.
 */
bool fx_run_controls_open(const frix_model *model, const char *word, const fx_args *begun, fx_run_robot **out);
void fx_run_controls_drive(const fx_run_robot *robot, frix_sim *sim);
bool fx_run_robot_close(fx_run_robot *robot, bool keep);
/* A word that tells robots apart; false where it cannot be found. */
enum { FX_MARK_SIZE = 17 };
bool fx_robot_mark(const frix_robot *robot, char out[FX_MARK_SIZE]);

#endif
