/* Whether a structure stands, for check and limit: it is stepped for a while from rest, under its own weight, tilted or
 * pushed.
 *
 *   stands   no body has come farther than ACCELERATION g T^2/2 in the time T, and none is faster than ACCELERATION g
 * T: what falls or slides, however close to its limit, is accelerated by more than ACCELERATION g */
#ifndef FX_STAND_H
#define FX_STAND_H

#include "subject.h"

typedef struct fx_stand_case {
  frix_context *context;
  fx_subject *subject;
  const frix_sim_config *config;
  double h, time;
  int direction;     /* of tilt and load: FX_DIRECTIONS */
  double tilt;       /* of gravity towards the direction, radians */
  frix_body_id body; /* what the load acts on */
  double load;       /* N along the direction */
} fx_stand_case;

#define FX_DIRECTIONS "x|-x|y|-y|down"
enum { FX_DOWN = 4 };

typedef struct fx_verdict {
  bool stands, certified;
  double drift, speed; /* largest of all bodies: m from the start, m/s at the end */
  frix_body_id body;   /* the one that came farthest */
  double residual, time;
  int64_t steps;
} fx_verdict;

/* Steps the subject's model; *sim (may be NULL) gets the world as it was left. False after a message. */
bool fx_stand(const fx_stand_case *c, fx_verdict *out, frix_sim **sim);
/* Flags that describe the case, into c; false after a message. */
bool fx_stand_settings(const fx_args *args, fx_stand_case *c, frix_sim_config *config, frix_options **options);
#define FX_STAND_FLAGS                                                                                                 \
  {"--set", "k=v", NULL, "a parameter of the scene, or an option of a method (nsgs.relaxation=1.1); repeats"},         \
      {"--time", "T", NULL, "how long it must stand, default 1 s"}, {"--dt", "H", NULL, "step; default: the scene's"}, \
      {"--seed", "N", NULL, "of what is random in the scene"}, FX_SIM_FLAGS

/* The middle of low and high that keeps one side standing, until they are within tolerance of each other; *low stands
 * as low_stands says, *high the other way. set changes the case. False after a message or Ctrl-C. */
bool fx_bisect(fx_stand_case *c, bool (*set)(fx_stand_case *c, double value, void *user), void *user, double *low,
               double *high, bool low_stands, double tolerance, int *runs, bool *certified);

#endif
