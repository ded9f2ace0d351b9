/* frix: many sims at once, on the threads of one context.
 *
 *   frix_batch_config config = frix_batch_default();
 *   config.count = 1000;
 *   config.thread_count = 8;
 *   frix_batch_create(context, model, &config, &batch);
 *   frix_batch_step(batch, 0.01, 100, reports);           // each sim 100 steps; reports: the worst step of each
 *   frix_batch_destroy(batch);
 *
 * Every sim has the same bits as if stepped alone, for any number of threads. frix_batch_rollout applies control
 * sequences and writes watched values into arrays of the caller. */
#ifndef FRIX_BATCH_H
#define FRIX_BATCH_H

#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frix_batch frix_batch;

typedef struct frix_batch_config {
  uint32_t size;              /* set by frix_batch_default */
  int32_t count;              /* number of sims, default 1 */
  int32_t thread_count;       /* default 1; results have the same bits for any number */
  const frix_sim_config *sim; /* config of each sim; its thread count is ignored (one thread); NULL: frix_sim_default */
  const frix_model *const *each; /* count: their models; NULL: all use the given model */
  /* Called before every step of sim k, from any of the threads, each sim in one of them at a time; may be NULL. */
  frix_status (*before)(frix_sim *sim, int32_t k, double h, void *user);
  void *user;
} frix_batch_config;

FRIX_API void frix_batch_init(frix_batch_config *out, size_t size);
static inline frix_batch_config frix_batch_default(void) {
  frix_batch_config out;
  frix_batch_init(&out, sizeof out);
  return out;
}
/* Models must outlive the batch. */
FRIX_API frix_status frix_batch_create(frix_context *context, const frix_model *model, const frix_batch_config *config,
                                       frix_batch **out);
FRIX_API void frix_batch_destroy(frix_batch *batch);
FRIX_API int32_t frix_batch_count(const frix_batch *batch);
/* Sim k, to read and set between calls; it belongs to the batch. NULL past the end. */
FRIX_API frix_sim *frix_batch_sim(frix_batch *batch, int32_t k);

/* Every sim takes step_count steps of h. report (count, may be NULL): each sim's worst step, that is, one that is
 * not certified, else the one with the largest residual. A sim whose step fails stops, the others continue; the error
 * names the first. */
FRIX_API frix_status frix_batch_step_sized(frix_batch *batch, double h, int32_t step_count, frix_step_report *report,
                                           size_t size);
static inline frix_status frix_batch_step(frix_batch *batch, double h, int32_t step_count, frix_step_report *report) {
  return frix_batch_step_sized(batch, h, step_count, report, sizeof *report);
}

/* One number of a sim that is set before a step or watched after it. */
typedef enum frix_channel_kind {
  FRIX_CHANNEL_TARGET,      /* joint, axis: target of its motor; set */
  FRIX_CHANNEL_TARGET_RATE, /* joint, axis: target rate of its servo; set */
  FRIX_CHANNEL_FORCE,       /* body, axis 0..2: on its centre of mass in this step; set */
  FRIX_CHANNEL_TORQUE,      /* body, axis 0..2; set */
  FRIX_CHANNEL_COORDINATE,  /* joint, axis; watched, as the following */
  FRIX_CHANNEL_RATE,        /* joint, axis */
  FRIX_CHANNEL_CENTER,      /* body, axis 0..2 */
  FRIX_CHANNEL_ORIENTATION, /* body, axis 0..3: quaternion, scalar first */
  FRIX_CHANNEL_VELOCITY,    /* body, axis 0..2 */
  FRIX_CHANNEL_SPIN,        /* body, axis 0..2 */
  FRIX_CHANNEL_CTRL,        /* axis: number of a control of the robot in reduced coordinates; set */
  FRIX_CHANNEL_QPOS,        /* axis: place in qpos of the robot; watched, as the following */
  FRIX_CHANNEL_QVEL,        /* axis: place in qvel */
  FRIX_CHANNEL_SENSOR,      /* axis: place in the sensor data */
  FRIX_CHANNEL_COUNT
} frix_channel_kind;

typedef struct frix_channel {
  frix_channel_kind kind;
  frix_body_id body;
  frix_joint_id joint;
  int32_t axis;
} frix_channel;

typedef struct frix_rollout {
  uint32_t size; /* set by frix_rollout_default */
  double h;
  int32_t step_count;
  const frix_snapshot *const *start; /* count: start state of each sim; NULL: its present state */
  int32_t control_count, watch_count;
  const frix_channel *control;
  const double *value; /* count x step_count x control_count */
  const frix_channel *watch;
  double *out;        /* count x step_count x watch_count */
  double *residual;   /* count x step_count: of the certificates; may be NULL */
  uint8_t *certified; /* count x step_count: 1 if the step is certified; may be NULL */
} frix_rollout;

FRIX_API void frix_rollout_init(frix_rollout *out, size_t size);
static inline frix_rollout frix_rollout_default(void) {
  frix_rollout out;
  frix_rollout_init(&out, sizeof out);
  return out;
}
/* Like frix_batch_step. If a sim fails, its remaining numbers are NaN and its steps are not certified. */
FRIX_API frix_status frix_batch_rollout(frix_batch *batch, const frix_rollout *rollout);

#ifdef __cplusplus
}
#endif
#endif
