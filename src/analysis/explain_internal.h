/* What the parts of an explanation share: another run of a world with one thing changed, and the history of its pairs.
 */
#ifndef FX_ANALYSIS_EXPLAIN_H
#define FX_ANALYSIS_EXPLAIN_H

#include "base/arena.h"
#include "sim/hooks_internal.h"

#include <frix/explain.h>
#include <frix/hooks.h>

/* ---- a run with one thing changed (explain_replay.c) ---- */

enum { FX_EXPLAIN_CTRL = 8 }; /* controls of one actuator */

typedef struct fx_change {
  frix_remedy_kind kind;
  bool active;
  double value;
  frix_material_id material[2]; /* friction: where these meet */
  frix_body_id a, b;            /* press: a against b, at points of both */
  frix_vec3 point_a, point_b;   /* in their frames */
  frix_vec3 normal;             /* from b to a, in the frame of b */
  frix_cause cause;             /* load: which, of which body */
  frix_body_id body;
  frix_joint_id joint; /* load, joint: its motors, or this actuator; null and -1: none */
  int32_t actuator;
  int64_t blow_step; /* load, impact: before this step its velocity is scaled */
} fx_change;

typedef struct fx_replay {
  frix_sim *sim;
  const frix_explain_config *config;
  fx_change change;
  frix_vec3 told_velocity, told_spin; /* load, motion: what the kinematic body was told */
  bool told;
  fx_belt *told_belt; /* load, belt: by shape, what the drive had set */
  double told_ctrl[FX_EXPLAIN_CTRL];
  frix_axis_config told_axis[FRIX_JOINT_AXES];
  frix_step_report report;
} fx_replay;

frix_status fx_replay_begin(fx_replay *replay, frix_context *context, const frix_model *model,
                            const frix_sim_config *sim, const frix_explain_config *config, const fx_change *change);
/* What comes before a step: the drive, and the change. */
frix_status fx_replay_drive(fx_replay *replay);
/* The step itself. */
frix_status fx_replay_step(fx_replay *replay);
void fx_replay_end(fx_replay *replay);

/* State of a body; of the world where it is null. */
frix_body_state fx_state_of(const frix_sim *sim, frix_body_id id);
frix_vec3 fx_velocity_at(const frix_body_state *state, frix_vec3 point);
static inline bool fx_same_body(frix_body_id a, frix_body_id b) {
  return a.index == b.index && a.generation == b.generation;
}

/* ---- pairs over time (explain_watch.c) ---- */

/* Velocity of the surface of a contact's side against its body, world frame. */
frix_vec3 fx_belt_of(const frix_sim *sim, frix_shape_id shape, frix_body_id body, frix_vec3 point);

typedef struct fx_sample {
  double mu;
  float normal, tangent, distance, speed, turning;
  int16_t points, sliding;
} fx_sample;

typedef struct fx_meeting {
  frix_body_id a, b;
  frix_material_id material[2];
  frix_vec3 point_a, point_b, normal; /* in the frames of a, b, b: where it began */
  frix_vec3 carried, belt;            /* by belts, of a in the frame of b: way before, velocity in this step */
  frix_quat turn;                     /* of a in the frame of b */
  double size;                        /* radius of the smaller body */
  double overlap;                     /* the deepest of its points in its first step */
  int32_t begin, removed;             /* steps; -1: not removed */
  fx_sample *sample;                  /* by step, from begin on */
  bool round;                         /* one of the surfaces: it may roll */
  bool relevant;                      /* of the body's island */
  frix_failure kind;
  int32_t onset, failed; /* steps, -1 */
} fx_meeting;

typedef struct fx_watch {
  fx_arena *arena;
  int32_t steps, done; /* to be made, made */
  double step;
  fx_meeting *touch;
  int32_t count, room;
  int64_t certified;
  double residual;
} fx_watch;

/* After a step. */
frix_status fx_watch_add(fx_watch *watch, const frix_sim *sim, const frix_step_report *report);
void fx_watch_free(fx_watch *watch, frix_context *context);
/* What became of each pair, up to now (explain_find.c). share: of its size, that counts as leaving. */
void fx_meeting_judge(fx_meeting *touch, int32_t done, double share);

/* ---- causes (explain_cause.c) ---- */

typedef struct fx_driver {
  frix_cause cause;
  frix_body_id body;
  frix_vec3 force;
  double power;
  frix_joint_id joint; /* or an actuator, -1: none */
  int32_t actuator;
  const char *name; /* of these */
} fx_driver;

enum { FX_DRIVERS = 4 };

/* The largest supplies of power while the pair leaves its place, the largest first, FRIX_CAUSE_NONE behind the last:
 * the replay stands before the step of its onset, and goes on. joined[slot]: the island. */
frix_status fx_find_drivers(fx_replay *replay, const uint8_t *joined, int32_t slots, const fx_meeting *touch,
                            fx_driver out[FX_DRIVERS]);

#endif
