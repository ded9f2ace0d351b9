/* Engines behind one interface: a moving scene, stepped, timed and looked at. */
#ifndef FRIX_BENCH_MOTION_ENGINE_H
#define FRIX_BENCH_MOTION_ENGINE_H

#include "motion_scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum motion_contact { MOTION_CONTACT_DEFAULT, MOTION_CONTACT_RIGID, MOTION_CONTACT_STIFF } motion_contact;

typedef struct motion_options {
  motion_contact contact; /* frix */
  double stiffness;       /* frix: N/m, 0: none named */
  double tolerance;       /* frix: of the certificate, 0: its default */
  int32_t threads;        /* frix */
  int32_t iterations;     /* of other engines, 0: their default */
  double budget;          /* seconds of processor time for a scene */
  int64_t steps;          /* 0: the scene's own */
} motion_options;

/* One step. Only frix fills in more than the first. */
typedef struct motion_step {
  double seconds; /* of processor time, all threads */
  double wall;    /* seconds that passed */
  bool judged, certified;
  double residual;
  double penetration; /* deepest before the step; negative: unknown */
  int64_t iterations;
  int32_t contacts, touching;
  const char *finisher;
  double collide, assemble, solve, integrate; /* seconds that passed */
} motion_step;

typedef struct motion_result {
  char engine[40];
  char law[48];
  bool failed;                            /* the engine could not go on */
  int64_t steps, wanted_steps;            /* fewer: the budget was used up, or the run failed */
  double mean, p50, p95, p99, max, total; /* milliseconds of processor time per step; seconds */
  double wall;                            /* milliseconds per step that passed, mean */
  int64_t judged, certified;
  double residual; /* worst */
  double iterations, most_iterations;
  int32_t contacts; /* most in a step */
  double penetration;
  double moved;                               /* farthest from the start that a centre came, at the end */
  double late;                                /* the same within the last tenth of the steps */
  double kinetic;                             /* at the end, J */
  double created;                             /* frix: ledger of scheme, contacts and solver error, J */
  double preload;                             /* frix: stored in springs of contacts that were set at rest, J */
  double collide, assemble, solve, integrate; /* milliseconds per step that passed, mean */
  uint64_t hash;                              /* frix: of the last state */
} motion_result;

typedef struct motion_engine {
  const char *name;
  void *(*create)(const motion_scene *scene, const motion_options *options); /* NULL after a message */
  bool (*step)(void *world, motion_step *out);                               /* false after a message */
  /* k counts the dynamic bodies. */
  void (*put)(void *world, int32_t k, const motion_state *state);
  void (*push)(void *world, int32_t k, const double force[3]); /* during the next step */
  void (*look)(void *world, int32_t k, motion_state *out);
  void (*summary)(void *world, motion_result *out); /* may be NULL */
  void (*destroy)(void *world);
} motion_engine;

extern const motion_engine motion_frix;

/* Processor time of all threads of the process, and time that passed, in seconds. */
double motion_processor_seconds(void);
double motion_wall_seconds(void);

/* Runs a scene to its end, to the number of steps asked for or until the budget is used up. per_step: a CSV line for
 * each step, or NULL. False after a message. */
bool motion_run(const motion_engine *engine, const motion_scene *scene, const motion_options *options, FILE *per_step,
                motion_result *out);

/* The names of the columns of per_step. */
void motion_run_header(FILE *per_step);

/* The deepest penetration of bodies that stand like this, by frix's own collision. */
typedef struct motion_judge motion_judge;
motion_judge *motion_judge_new(const motion_scene *scene);
double motion_judge_depth(motion_judge *judge, const motion_state *state);
void motion_judge_end(motion_judge *judge);

#ifdef __cplusplus
}
#endif
#endif
