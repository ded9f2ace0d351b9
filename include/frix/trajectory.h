/* frix: runs in files (.frx), to display, to certify again, and to continue bit for bit.
 *
 *   frix_recorder_create(context, "run.frx", model, meta, &recorder);
 *   for (...) { frix_sim_step(sim, h, &report); frix_recorder_add(recorder, sim, &report); }
 *   frix_recorder_close(recorder);
 *
 * and to continue it later:
 *
 *   frix_trajectory_open(context, "run.frx", &trajectory);
 *   frix_trajectory_config(trajectory, &config);
 *   frix_sim_create(context, frix_trajectory_model(trajectory), &config, &sim);
 *   frix_trajectory_checkpoint(trajectory, -1, NULL, NULL, &snapshot);
 *   frix_sim_restore(sim, snapshot);
 *   frix_recorder_append(context, "run.frx", -1, &recorder);
 *
 * The file only grows, block by block, each with a checksum: if the process is killed it is readable up to the last
 * complete block. It holds the model, a text about the run (JSON), the settings, frames for viewers, and checkpoints
 * (snapshots from which a run continues with the same bits). docs/formats.md describes every byte. */
#ifndef FRIX_TRAJECTORY_H
#define FRIX_TRAJECTORY_H

#include <frix/bed.h>
#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models and snapshots as bytes; *out is released with frix_bytes_free ---- */
FRIX_API frix_status frix_model_encode(frix_context *context, const frix_model *model, unsigned char **out,
                                       size_t *size);
/* The same model: a sim of it takes the same steps, bit for bit. (User pointers are not kept.) */
FRIX_API frix_status frix_model_decode(frix_context *context, const unsigned char *bytes, size_t size,
                                       frix_model **out);
/* Contains a hash of its model: the model must still exist. */
FRIX_API frix_status frix_snapshot_encode(frix_context *context, const frix_snapshot *snapshot, unsigned char **out,
                                          size_t *size);
/* For sims of this model; fails unless it equals the model of the snapshot. */
FRIX_API frix_status frix_snapshot_decode(frix_context *context, const frix_model *model, const unsigned char *bytes,
                                          size_t size, frix_snapshot **out);
FRIX_API void frix_bytes_free(frix_context *context, unsigned char *bytes);
/* CRC-32 as in zip and PNG, also used for the blocks of a file: continues from `crc`, 0 at first. */
FRIX_API uint32_t frix_crc32(uint32_t crc, const void *bytes, size_t size);

/* ---- sums over the steps of a run, including those without a frame ---- */
typedef struct frix_tally {
  uint32_t size;                                        /* set by frix_tally_default */
  int64_t steps, certified, approximate, overlaps_left; /* numbers of steps */
  int64_t unknown;                                      /* steps of which a file has no readable record */
  int64_t contacts, iterations;                         /* touching contacts and iterations, summed over the steps */
  int32_t contacts_max;
  double residual_max, penetration_max; /* residual: of steps whose errors are not all below rounding */
  int64_t residual_step, penetration_step;
  double worst_velocity, signorini, bilateral; /* largest of the certificates, m/s */
} frix_tally;

FRIX_API void frix_tally_init(frix_tally *out, size_t size);
static inline frix_tally frix_tally_default(void) {
  frix_tally out;
  frix_tally_init(&out, sizeof out);
  return out;
}
/* Adds step number `step`; tolerance: that of the certificate. */
FRIX_API void frix_tally_add(frix_tally *tally, const frix_step_report *report, int64_t step, double tolerance);

/* ---- writing ----
 *
 * Every block is passed to the system immediately and survives the end of the process. Checkpoints are also flushed to
 * disk, at most once a second; a power cut loses only later data. If a write fails (disk full), the file is truncated
 * to its last complete block, and every later call returns the same error. */
typedef struct frix_recorder frix_recorder;

/* meta: a JSON object about the run (scene, parameters, ...), kept as it is. An existing file is replaced once the
 * beginning of the new one is on the disk, see frix/output.h. */
FRIX_API frix_status frix_recorder_create(frix_context *context, const char *path, const frix_model *model,
                                          const char *meta, frix_recorder **out);
/* Continues an existing file after checkpoint `checkpoint` (-1: the last one); later blocks are removed. */
FRIX_API frix_status frix_recorder_append(frix_context *context, const char *path, int32_t checkpoint,
                                          frix_recorder **out);
/* A frame: poses and velocities of all bodies, contacts, report, energy. report may be NULL (the start). */
FRIX_API frix_status frix_recorder_add(frix_recorder *recorder, const frix_sim *sim, const frix_step_report *report);
FRIX_API frix_status frix_recorder_checkpoint(frix_recorder *recorder, const frix_sim *sim);
/* A frame of a bed, into a file that was created with its frix_bed_model; on several ranks a file for each, and an
 * index that names them (docs/formats.md). contacts: whether to include contacts. */
FRIX_API frix_status frix_recorder_add_bed(frix_recorder *recorder, const frix_bed *bed, const frix_bed_report *report,
                                           bool contacts);
/* Stores the tally of all steps so far in the next checkpoint, for runs that continue from there. */
FRIX_API frix_status frix_recorder_tally(frix_recorder *recorder, const frix_tally *tally);
/* When this returns OK, everything added so far is on the disk. */
FRIX_API frix_status frix_recorder_flush(frix_recorder *recorder);
/* Flushes and always frees. NULL is allowed. */
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
  double h;                /* length of the last step, 0 at the start */
  frix_step_report report; /* zero for the start */
  frix_energy energy;
  uint64_t hash; /* of the sim's state */
  int32_t body_count, contact_count, gone_count;
  const frix_frame_body *body; /* all bodies except static ones at their model pose */
  const frix_contact_report *contact;
  const frix_body_id *gone; /* static bodies of the model that were removed */
  int32_t amplitude_count;
  const double *amplitude; /* of the soft bodies of the model, one after the other */
  int32_t robot_count; /* of a run with a robot: position, velocity and actuators' force along each hinge and slide, */
  const double *robot; /* in the order of its joints; then the force of each actuator. Single precision */
  /* these lists and report.finisher are valid until the next frame is read */
} frix_frame;

FRIX_API frix_status frix_trajectory_open(frix_context *context, const char *path, frix_trajectory **out);
FRIX_API void frix_trajectory_close(frix_trajectory *trajectory);
/* Lives as long as the trajectory. */
FRIX_API const frix_model *frix_trajectory_model(const frix_trajectory *trajectory);
FRIX_API const char *frix_trajectory_meta(const frix_trajectory *trajectory);
/* Config of the run; names and options are valid as long as the trajectory, force is NULL. FRIX_ERROR_INPUT if the file
 * holds no frame yet. */
FRIX_API frix_status frix_trajectory_config(const frix_trajectory *trajectory, frix_sim_config *out);
FRIX_API int32_t frix_trajectory_frame_count(const frix_trajectory *trajectory);
FRIX_API int32_t frix_trajectory_checkpoint_count(const frix_trajectory *trajectory);
/* Whether the file ends in the middle of a block (a run that was killed or is still running) or is damaged; the text
 * says what is lost, NULL: nothing. damage_count: number of damaged places, 0 if the file is only truncated. Blocks
 * after a damaged place are found again. */
FRIX_API bool frix_trajectory_truncated(const frix_trajectory *trajectory);
FRIX_API const char *frix_trajectory_trouble(const frix_trajectory *trajectory);
FRIX_API int32_t frix_trajectory_damage_count(const frix_trajectory *trajectory);
/* frame->size is set here. */
FRIX_API frix_status frix_trajectory_frame(frix_trajectory *trajectory, int32_t k, frix_frame *out);
/* Step and time of frame k, without reading its bodies. */
FRIX_API frix_status frix_trajectory_frame_time(frix_trajectory *trajectory, int32_t k, int64_t *step, double *time);
/* The snapshot of checkpoint k (-1: the last), and the step it was taken at (step may be NULL). model: for sims
 * of this model, which must equal the file's; NULL: frix_trajectory_model. Without out: only the step. */
FRIX_API frix_status frix_trajectory_checkpoint(frix_trajectory *trajectory, int32_t k, const frix_model *model,
                                                int64_t *step, frix_snapshot **out);

/* The tally of the steps up to checkpoint k, or up to the last frame or checkpoint (-1): the recorded tally, and
 * after it the sum over the frames. */
FRIX_API frix_status frix_trajectory_tally(frix_trajectory *trajectory, int32_t k, frix_tally *out);

/* ---- tables for other programs ---- */
typedef struct frix_export_config {
  uint32_t size;       /* set by frix_export_default */
  const char *format;  /* name in the table, NULL: by extension */
  int32_t first, last; /* frames; -1: the last one */
  int32_t every;       /* every n-th of them; default 1 */
  int32_t *skipped;    /* damaged frames are skipped with a warning and counted here; NULL: they end the export */
} frix_export_config;

FRIX_API void frix_export_init(frix_export_config *out, size_t size);
static inline frix_export_config frix_export_default(void) {
  frix_export_config out;
  frix_export_init(&out, sizeof out);
  return out;
}

typedef struct frix_export_info {
  const char *name; /* "csv", "npz", "hdf5" */
  const char *summary;
  const char *extension;
  bool available; /* false when this build lacks its library */
} frix_export_info;

/* Row k of the table, NULL past its end. */
FRIX_API const frix_export_info *frix_export_table(int32_t k);
/* Frames as arrays (docs/formats.md lists them); csv writes three files. Files are written
 * completely or not at all.
 * config may be NULL. */
FRIX_API frix_status frix_trajectory_export(frix_trajectory *trajectory, const char *path,
                                            const frix_export_config *config);

#ifdef __cplusplus
}
#endif
#endif
