/* One contact problem with its answer: a file that is to be solved, or a step of a scene. What forces and gradient
 * look at. */
#ifndef FX_MOMENT_H
#define FX_MOMENT_H

#include "run.h"

typedef struct fx_moment {
  const char *word;
  frix_problem *problem;
  frix_problem_data data;
  double step;        /* what impulses are divided by: the step of a scene, 1 of a file */
  double *r, *lambda; /* of the step; NULL: a file */
  bool certified;     /* the step */
  frix_sim *sim;      /* NULL: a file */
  fx_subject subject;
  frix_options *options;
  fx_run_robot *robot; /* its controls; NULL: as they are */
} fx_moment;

/* The first word, and for a scene --at and how it is simulated; false after a message. */
bool fx_moment_read(frix_context *context, const fx_args *args, fx_moment *out);
/* A scene at the beginning of the step that ends at --at, forces and motions of the step applied: the sim alone. */
bool fx_moment_before(frix_context *context, const fx_args *args, fx_moment *out);
void fx_moment_free(fx_moment *moment);
/* "3 cup|table", or the number alone. */
void fx_moment_contact(const fx_moment *moment, int32_t i, char *out, size_t size);
/* "A.x", "A,B.n" into weights by row, forces of the world frame on A; false after a message. */
bool fx_moment_pair(const fx_moment *moment, const char *text, double *c);

#define FX_MOMENT_FLAGS                                                                                 \
  {"--at", "T", NULL, "scene: use the step that ends at time T; default: the first step"},              \
      {"--set", "k=v", NULL, "set a parameter of the scene or an option of a solver; may be repeated"}, \
      {"--dt", "H", NULL, "time step in s; default: the scene's"},                                      \
      {"--seed", "N", NULL, "seed of the random parts of the scene"},                                   \
      {"--ctrl", "NAME=X", NULL, "robots: control of an actuator from the start; may be repeated"},     \
      {"--ctrl-file", "FILE", NULL, "robots: controls over time, a table time,NAME,NAME..."}, FX_SIM_FLAGS

#endif
