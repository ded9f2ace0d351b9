/* What run, check and limit work on: a scene of the table with its parameters, or a world from a file, together with
 * how it is simulated. */
#ifndef FX_SUBJECT_H
#define FX_SUBJECT_H

#include "app.h"
#include "examples/scene.h"
#include "missing.h"

typedef struct fx_subject {
  const char *word;        /* as given */
  const fx_args *args;     /* --strict, --key, --allow-outside, --quiet of readers */
  const frix_scene *scene; /* NULL: a file */
  double value[FRIX_SCENE_MAX_PARAMETERS];
  uint64_t seed;
  double step, time;  /* defaults; the step of a file is known once it is read */
  double friction;    /* factor on every friction of a file */
  bool told;          /* what a file asks for and frix does not do was printed */
  fx_missing missing; /* the same, for summaries and the exit code */
  const frix_model *model;
  frix_model *own; /* the same where it was built here */
} fx_subject;

/* Words and flags (--set name=value, --seed) into a subject without a model; false after a message. */
bool fx_subject_read(const fx_args *args, const char *word, fx_subject *out);
/* Makes the model, dropping one made before; false after a message. */
bool fx_subject_build(fx_subject *subject, frix_context *context);
/* Message: the model has no body of this name; names one that is spelt alike, or the first few. */
void fx_no_body(const fx_subject *subject, const char *name);
/* What happens to the world in the coming step; false after a message. */
bool fx_subject_drive(const fx_subject *subject, frix_context *context, frix_sim *sim, double h);
void fx_subject_free(fx_subject *subject);
/* A parameter's value as text. */
void fx_subject_value(const frix_option_info *parameter, double value, char *out, size_t size);

/* How it is simulated: --solver, --tol, --integrator, --restitution, --law, --threads, --strict and --set
 * method.option=value. */
bool fx_sim_settings(frix_context *context, const fx_args *args, frix_sim_config *config, frix_options **options);
#define FX_SIM_FLAGS                                                                                              \
  {"--solver", "NAME", "@solvers", "solver"}, {"--tol", "X", NULL, "tolerance of the certificate, default 1e-8"}, \
      {"--integrator", "NAME", "@integrators", "time integrator"},                                                \
      {"--contact", "LAW", "@contacts",                                                                           \
       "law of contacts whose materials give no stiffness; default stiff (check, limit: rigid)"},                 \
      {"--restitution", "LAW", "@restitutions", "law of impacts; default bounded, which never creates energy"},   \
      {"--law", "LAW", "coulomb|associated",                                                                      \
       "coulomb (exact, default) or associated (convex relaxation, an approximation)"},                           \
      {"--threads", "N", NULL, "number of threads; results have the same bits for any N"},                        \
      {"--plain", NULL, NULL, "solve each step once to the tolerance: no refinement, no search for rest"},        \
      {"--key", "NAME", NULL, "start a scene file at this keyframe"},                                             \
      {"--coordinates", "KIND", "reduced|maximal",                                                                \
       "joints: reduced (coordinates of trees, default) or maximal (constraint rows between bodies)"},            \
      {"--soft-modes", "K", NULL, "read flexcomp of dimension 3 in scene files as soft bodies with K modes"},     \
      {"--allow-outside", NULL, NULL, "allow scene files to read files outside their folder"}, FX_MISSING_FLAG

/* The name a body has in outputs: its own, or body_K; of spawned ones the pattern's name and a number. */
void fx_body_name(const frix_sim *sim, const frix_model *model, frix_body_id id, char *out, size_t size);

#endif
