/* Whether a structure stays where it is, for check and limit: it is stepped for a while from rest, under its own
 * weight, tilted or pushed. Whether it could, whatever the steps do, is asked by exists.h.
 *
 *   stays   no body has come farther than ACCELERATION g T^2/2 in the time T, and none is faster than ACCELERATION g
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

/* Unit vector of the case's direction, and gravity as it is tilted. */
frix_vec3 fx_stand_direction(const fx_stand_case *c);
frix_vec3 fx_stand_gravity(const fx_stand_case *c);

typedef struct fx_verdict {
  bool stays, certified;
  double drift, speed; /* largest of all bodies: m from the start, m/s at the end */
  frix_body_id body;   /* the one that came farthest */
  double residual, time;
  int64_t steps;
} fx_verdict;

/* Steps the subject's model; *sim (may be NULL) gets the world as it was left. False after a message. */
bool fx_stand(const fx_stand_case *c, fx_verdict *out, frix_sim **sim);
/* Flags that describe the case, into c; false after a message. */
bool fx_stand_settings(const fx_args *args, fx_stand_case *c, frix_sim_config *config, frix_options **options);
#define FX_STAND_FLAGS                                                                              \
  {"--set", "k=v", NULL,                                                                            \
   "set a parameter of the scene or an option of a solver (nsgs.relaxation=1.1); may be repeated"}, \
      {"--time", "T", NULL, "simulated time in s, default 1"},                                      \
      {"--dt", "H", NULL, "time step in s; default: the scene's"},                                  \
      {"--seed", "N", NULL, "seed of the random parts of the scene"}, FX_SIM_FLAGS

/* ---- searching */

/* Changes the case; false after a message. */
typedef bool (*fx_set)(fx_stand_case *c, double value, void *user);

typedef struct fx_trials {
  int asked, runs; /* equilibria, simulations */
  bool certified;  /* every step of every simulation */
} fx_trials;

/* A verdict on the case as it is; false after a message. */
typedef bool (*fx_judge)(fx_stand_case *c, fx_trials *trials, frix_standing *out);
bool fx_judge_stays(fx_stand_case *c, fx_trials *trials, frix_standing *out);

/* Two values, one of either verdict, that are near each other. */
typedef struct fx_bracket {
  bool found;
  double stands, falls;
} fx_bracket;

/* Whether both ends lie in the range; rounding beyond it is taken off. */
bool fx_clamp_bracket(fx_bracket *bracket, double least, double most);

/* Brings both ends of the bracket within a relative distance, or as near as what is undecided between them lets them
 * come. False after a message or Ctrl-C. */
bool fx_bisect(fx_stand_case *c, fx_set set, void *user, fx_judge judge, double within, fx_trials *trials,
               fx_bracket *bracket);

/* From a value of known verdict to `end` in equal steps: the first change of the verdict, brought within a relative
 * distance. changes (may be NULL) counts all of them. */
bool fx_first_change(fx_stand_case *c, fx_set set, void *user, fx_judge judge, double from, frix_standing verdict,
                     double end, int steps, double within, fx_trials *trials, fx_bracket *bracket, int *changes);

/* The bracket of the simulation beside that of the equilibria: first a ten thousandth to both sides of it; where that
 * does not hold, farther off, no farther than `inner` on the standing and `outer` on the falling side. */
bool fx_find_stays(fx_stand_case *c, fx_set set, void *user, const fx_bracket *exists, double inner, double outer,
                   fx_trials *trials, fx_bracket *out);

#endif
