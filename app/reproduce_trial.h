/* A scene that is simulated and watched, for reproductions.
 *
 *   fx_trial t;
 *   bool good = fx_trial_new(&t, frix_scene_find("cardhouse")) && fx_trial_set(&t, "levels", 6);
 *   t.config.solver = ..., t.h = ...;
 *   good = good && fx_trial_start(&t) && fx_trial_run(&t, 2.0);
 *   ... t.steps, t.certified, fx_trial_moved(&t) ...
 *   fx_trial_end(&t);
 *
 * Every call returns false after a message, and fx_trial_end is always due. */
#ifndef FX_APP_REPRODUCE_TRIAL_H
#define FX_APP_REPRODUCE_TRIAL_H

#include "app.h"
#include "examples/scene.h"

typedef struct fx_trial {
  const frix_scene *scene;
  double value[FRIX_SCENE_MAX_PARAMETERS];
  uint64_t seed;
  double h; /* the scene's */
  frix_context *context;
  frix_sim_config config;
  frix_model *model;
  frix_sim *sim;
  frix_vec3 *home; /* centres at the start, by model body */
  /* sums over the steps, and extremes */
  int64_t steps, certified, contacts, iterations;
  int64_t groups;          /* contacts of the problems, open ones too */
  double seconds, solving; /* processor time of the steps, and the part of it from contacts to certificate */
  double residual, penetration;
  frix_step_report last;
} fx_trial;

bool fx_trial_new(fx_trial *t, const frix_scene *scene);
/* A parameter; choices by index. */
bool fx_trial_set(fx_trial *t, const char *name, double value);
/* Builds the world and the sim with config as it stands. */
bool fx_trial_start(fx_trial *t);
/* One step, with what drives the scene; false after a message or an interrupt. */
bool fx_trial_step(fx_trial *t);
bool fx_trial_run(fx_trial *t, double time);
void fx_trial_end(fx_trial *t);

/* Forgets the sums and extremes, not the state. */
void fx_trial_reset(fx_trial *t);
/* The farthest a dynamic body of the model has come since the start, m. */
double fx_trial_moved(const fx_trial *t);
/* How many of them have come farther than this. */
int32_t fx_trial_moved_count(const fx_trial *t, double distance);
/* Largest speed of a dynamic body now. */
double fx_trial_speed(const fx_trial *t);
/* State of model body k (0 ..). */
frix_body_state fx_trial_body(const fx_trial *t, int32_t k);

#endif
