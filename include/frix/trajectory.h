/* frix: a run kept in a file (.frx), to look at, to judge again, to continue bit for bit.
 *
 *   frix_recorder_create(context, "run.frx", model, meta, &recorder);
 *   for (...) { frix_sim_step(sim, h, &report); frix_recorder_add(recorder, sim, &report); }
 *   frix_recorder_close(recorder);
 *
 * The file only ever grows, block by block, each with its checksum: after a kill at any moment it is readable up to the
 * last whole block. It holds the model, a text about the run (JSON), frames (what a viewer shows) and checkpoints
 * (snapshots, from which a run goes on with the same bits). docs/formats.md describes every byte. */
#ifndef FRIX_TRAJECTORY_H
#define FRIX_TRAJECTORY_H

#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models and snapshots as bytes; *out is released with frix_bytes_free ---- */
FRIX_API frix_status frix_model_encode(frix_context *context, const frix_model *model, unsigned char **out,
                                       size_t *size);
/* The same model: a sim of it takes the same steps, bit for bit. */
FRIX_API frix_status frix_model_decode(frix_context *context, const unsigned char *bytes, size_t size,
                                       frix_model **out);
FRIX_API frix_status frix_snapshot_encode(frix_context *context, const frix_snapshot *snapshot, unsigned char **out,
                                          size_t *size);
FRIX_API frix_status frix_snapshot_decode(frix_context *context, const unsigned char *bytes, size_t size,
                                          frix_snapshot **out);
FRIX_API void frix_bytes_free(frix_context *context, unsigned char *bytes);

/* ---- writing ---- */
typedef struct frix_recorder frix_recorder;

/* meta: a JSON object about the run (scene, parameters, h, solver, ...), kept as it is. A file of that name is
 * replaced. */
FRIX_API frix_status frix_recorder_create(frix_context *context, const char *path, const frix_model *model,
                                          const char *meta, frix_recorder **out);
/* Goes on behind the last whole block of an existing file after dropping what follows checkpoint `checkpoint` (-1: the
 * last one). */
FRIX_API frix_status frix_recorder_append(frix_context *context, const char *path, int32_t checkpoint,
                                          frix_recorder **out);
/* A frame: poses and velocities of all bodies, contacts, report, energy. report may be NULL (the start). */
FRIX_API frix_status frix_recorder_add(frix_recorder *recorder, const frix_sim *sim, const frix_step_report *report);
FRIX_API frix_status frix_recorder_checkpoint(frix_recorder *recorder, const frix_sim *sim);
/* All that was added is in the file when this returns OK. */
FRIX_API frix_status frix_recorder_flush(frix_recorder *recorder);
FRIX_API frix_status frix_recorder_close(frix_recorder *recorder);

/* ---- reading ---- */
typedef struct frix_trajectory frix_trajectory;

typedef struct frix_frame_body {
  frix_body_id id, pattern; /* pattern: the body of the model it is an instance of; itself unless spawned */
  frix_body_state state;
} frix_frame_body;

typedef struct frix_frame {
  uint32_t size;
  int64_t step;
  double time;
  frix_step_report report; /* zero for the start */
  frix_energy energy;
  uint64_t hash; /* of the sim's state */
  int32_t body_count, contact_count;
  const frix_frame_body *body; /* dynamic and kinematic ones; live until the next frame is read */
  const frix_contact_report *contact;
} frix_frame;

FRIX_API frix_status frix_trajectory_open(frix_context *context, const char *path, frix_trajectory **out);
FRIX_API void frix_trajectory_close(frix_trajectory *trajectory);
FRIX_API const frix_model *frix_trajectory_model(const frix_trajectory *trajectory);
FRIX_API const char *frix_trajectory_meta(const frix_trajectory *trajectory);
FRIX_API int32_t frix_trajectory_frame_count(const frix_trajectory *trajectory);
FRIX_API int32_t frix_trajectory_checkpoint_count(const frix_trajectory *trajectory);
/* Whether the file ended in the middle of a block (a run that was killed, or is still going). */
FRIX_API bool frix_trajectory_truncated(const frix_trajectory *trajectory);
FRIX_API frix_status frix_trajectory_frame(frix_trajectory *trajectory, int32_t k, frix_frame *out);
/* The snapshot of checkpoint k (-1: the last), and the step it was taken at. */
FRIX_API frix_status frix_trajectory_checkpoint(frix_trajectory *trajectory, int32_t k, int64_t *step,
                                                frix_snapshot **out);

#ifdef __cplusplus
}
#endif
#endif
