/* Recorder: blocks appended to a file, each by one write, so that a kill leaves at most one torn block at the end.
 *
 * A new file takes its name when its start (head, text, model) is on the disk; what stood there stays until then.
 * Checkpoints are brought to the disk (fsync) as they come, but not more often than SYNC_PAUSE and a tenth of the time
 * allow, so that a power cut costs seconds and a slow disk does not stop the run. */
#include "io/trajectory_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bed/bed_internal.h"
#include "io/output_internal.h"

static const double SYNC_PAUSE = 1.0, SYNC_SHARE = 0.1; /* s between two, and their share of the time at most */

struct frix_recorder {
  frix_context *context;
  char *path;
  int file;
  int64_t size;     /* of whole blocks */
  double next_sync; /* no earlier than this */
  bool configured;
  int32_t body_count, shape_count, joint_count; /* of the model */
  const frix_model *model;                      /* only compared; NULL: that of a file */
  char *failure;                                /* what went wrong; nothing is written after it */
  frix_tally tally;                             /* for the next checkpoint; size 0: none */
  fx_buffer raw, sealed;
};

/* ---- the file ---- */

static frix_status fail_errno(frix_recorder *r, const char *what) {
  int error = errno;
  frix_status status = fx_fail(r->context, FRIX_ERROR_FILE, "%s: %s: %s", r->path, what, strerror(error));
  if (!r->failure) r->failure = fx_copy_text(r->context, frix_error_text(r->context));
  return status;
}

/* What was added stands in the file as a whole or not at all. */
static frix_status append_bytes(frix_recorder *r, const char *bytes, size_t count) {
  if (fx_write_fully(r->file, bytes, count)) {
    r->size += (int64_t)count;
    return FRIX_OK;
  }
  int error = errno;
  if (ftruncate(r->file, (off_t)r->size) == 0) lseek(r->file, (off_t)r->size, SEEK_SET);
  errno = error;
  return fail_errno(r, "cannot write");
}

static frix_status append_block(frix_recorder *r, fx_piece_kind kind, int64_t step, double time) {
  fx_piece block = {.kind = (uint16_t)kind, .step = step, .time = time};
  r->sealed.count = 0;
  frix_status status = fx_piece_seal(&block, &r->raw, &r->sealed);
  if (status) return status;
  return append_bytes(r, r->sealed.bytes, r->sealed.count);
}

static frix_status busy(frix_recorder *r) {
  return fx_fail(r->context, FRIX_ERROR_FILE, "%s: is being written by another run", r->path);
}

/* Two runs that write one file would ruin it. */
static frix_status lock_file(frix_recorder *r, int file) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(file, F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN)) return FRIX_OK;
  return busy(r);
}

static frix_status recorder_new(frix_context *context, const char *path, frix_recorder **out) {
  frix_recorder *r = FX_NEW(context, frix_recorder, 1);
  if (!r) return FRIX_ERROR_MEMORY;
  r->context = context;
  r->file = -1;
  r->path = fx_copy_text(context, path);
  fx_buffer_init(&r->raw, context);
  fx_buffer_init(&r->sealed, context);
  *out = r;
  return r->path ? FRIX_OK : FRIX_ERROR_MEMORY;
}

static void release(frix_recorder *r) {
  if (r->file >= 0) close(r->file);
  fx_buffer_free(&r->raw);
  fx_buffer_free(&r->sealed);
  fx_free(r->context, r->failure);
  fx_free(r->context, r->path);
  fx_free(r->context, r);
}

/* ---- beginning ---- */

static void put_bytes(fx_buffer *buffer, const void *bytes, size_t size) {
  char *room = fx_buffer_reserve(buffer, size);
  if (room && size) memcpy(room, bytes, size);
  if (room) buffer->count += size;
}

static frix_status put_block(frix_recorder *r, frix_output *output, fx_piece_kind kind) {
  fx_piece block = {.kind = (uint16_t)kind};
  r->sealed.count = 0;
  frix_status status = fx_piece_seal(&block, &r->raw, &r->sealed);
  if (!status) status = frix_output_write(output, r->sealed.bytes, r->sealed.count);
  r->size += (int64_t)r->sealed.count;
  r->raw.count = 0;
  return status;
}

/* Head, text and model. */
static frix_status write_start(frix_recorder *r, frix_output *output, const frix_model *model, const char *meta) {
  unsigned char head[FX_FILE_HEAD], *bytes = NULL;
  size_t size = 0;
  fx_file_head(head);
  r->size = FX_FILE_HEAD;
  put_bytes(&r->raw, meta, strlen(meta));
  frix_status status = frix_output_write(output, head, sizeof head);
  if (!status) status = put_block(r, output, FX_BLOCK_META);
  if (!status) status = frix_model_encode(r->context, model, &bytes, &size);
  if (!status) {
    put_bytes(&r->raw, bytes, size);
    status = put_block(r, output, FX_BLOCK_MODEL);
  }
  frix_bytes_free(r->context, bytes);
  return status;
}

/* A process that replaces a file holds its lock until the new one, locked as well, stands in its place. *held is -1
 * where no regular file stands there. */
static frix_status hold_present(frix_recorder *r, int *held) {
  struct stat info, named;
  *held = open(r->path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
  if (*held < 0) return FRIX_OK;
  if (fstat(*held, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(*held);
    *held = -1;
    return FRIX_OK;
  }
  frix_status status = lock_file(r, *held);
  bool same = lstat(r->path, &named) == 0 && named.st_dev == info.st_dev && named.st_ino == info.st_ino;
  return status || same ? status : busy(r); /* another run has replaced it just now */
}

/* The file is known as one that no other output of this context may replace. */
static frix_status note_file(frix_recorder *r) {
  struct stat info;
  /* emscripten knows an open file by the name it had before it got its own */
  if (fstat(r->file, &info) != 0 && lstat(r->path, &info) != 0) return fail_errno(r, "cannot write");
  return S_ISREG(info.st_mode) ? fx_input_note(r->context, (fx_file_id){(uint64_t)info.st_dev, (uint64_t)info.st_ino})
                               : FRIX_OK;
}

static frix_status create(frix_recorder *r, const frix_model *model, const char *meta) {
  frix_output *output = NULL;
  int held = -1;
  frix_status status = hold_present(r, &held);
  struct stat info;
  bool fresh = held < 0 && lstat(r->path, &info) != 0;
  if (!status) status = frix_output_open(r->context, r->path, &output);
  if (!status && frix_output_temporary(output)) status = lock_file(r, fx_output_descriptor(output));
  if (!status) status = write_start(r, output, model, meta);
  if (!status)
    status = fx_output_settle(output, fresh, &r->file);
  else
    frix_output_close(output, false);
  if (held >= 0) close(held);
  return status ? status : note_file(r);
}

frix_status frix_recorder_create(frix_context *context, const char *path, const frix_model *model, const char *meta,
                                 frix_recorder **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (!path || !model) return fx_fail(context, FRIX_ERROR_INPUT, "frix_recorder_create: path or model is NULL");
  frix_recorder *r = NULL;
  frix_status status = recorder_new(context, path, &r);
  if (!status) status = create(r, model, meta ? meta : "{}");
  if (status) {
    if (r) release(r);
    return status;
  }
  r->model = model;
  r->body_count = model->body_count, r->shape_count = model->shape_count, r->joint_count = model->joint_count;
  *out = r;
  return FRIX_OK;
}

/* ---- taking up an old file ---- */

/* What appending needs to know of a file. The reader is closed before the file is opened for writing: closing any of
 * its descriptors drops the lock. */
typedef struct past {
  int64_t end;
  bool configured;
  int32_t body_count, shape_count, joint_count;
} past;

static frix_status look_back(frix_context *context, const char *path, int32_t checkpoint, past *out) {
  frix_trajectory *trajectory = NULL;
  frix_status status = frix_trajectory_open(context, path, &trajectory);
  if (!status) status = fx_trajectory_end_of(trajectory, checkpoint, &out->end);
  if (!status) {
    const frix_model *m = frix_trajectory_model(trajectory);
    frix_sim_config ignored;
    out->configured = frix_trajectory_config(trajectory, &ignored) == FRIX_OK;
    out->body_count = m->body_count, out->shape_count = m->shape_count, out->joint_count = m->joint_count;
  }
  frix_trajectory_close(trajectory);
  return status;
}

frix_status frix_recorder_append(frix_context *context, const char *path, int32_t checkpoint, frix_recorder **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (!path) return fx_fail(context, FRIX_ERROR_INPUT, "frix_recorder_append: path is NULL");
  frix_recorder *r = NULL;
  past back = {0};
  frix_status status = look_back(context, path, checkpoint, &back);
  if (!status) status = recorder_new(context, path, &r);
  if (!status && (r->file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) < 0)
    status = fail_errno(r, "cannot open for writing");
  if (!status) status = lock_file(r, r->file);
  if (!status) status = note_file(r);
  if (!status && (ftruncate(r->file, (off_t)back.end) != 0 || lseek(r->file, (off_t)back.end, SEEK_SET) < 0))
    status = fail_errno(r, "cannot cut to its checkpoint");
  if (status) {
    if (r) release(r);
    return status;
  }
  r->size = back.end, r->configured = back.configured;
  r->body_count = back.body_count, r->shape_count = back.shape_count, r->joint_count = back.joint_count;
  *out = r;
  return FRIX_OK;
}

/* ---- going on ---- */

/* Empty buffers; how the run is simulated stands before the first frame. */
static frix_status configure(frix_recorder *r, const frix_sim_config *config) {
  if (r->raw.failed || r->sealed.failed) { /* memory was short once; what was not written is not there */
    fx_buffer_free(&r->raw);
    fx_buffer_free(&r->sealed);
  }
  r->raw.count = 0;
  if (r->configured) return FRIX_OK;
  fx_config_write(&r->raw, config);
  frix_status status = append_block(r, FX_BLOCK_CONFIG, 0, 0.0);
  r->raw.count = 0;
  r->configured = status == FRIX_OK;
  return status;
}

/* Ready to take blocks of this sim. */
static frix_status ready(frix_recorder *r, const frix_sim *sim, const char *call) {
  if (r->failure) return fx_fail(r->context, FRIX_ERROR_FILE, "%s", r->failure);
  const frix_model *m = sim->model;
  if (m->body_count != r->body_count || m->shape_count != r->shape_count || m->joint_count != r->joint_count)
    return fx_fail(r->context, FRIX_ERROR_INPUT, "%s: the sim is of another model than the file", call);
  if (sim->model != sim->root && sim->model != r->model)
    return fx_fail(r->context, FRIX_ERROR_UNSUPPORTED,
                   "%s: the sim was changed while it ran, and a file holds one model: begin a new file with "
                   "frix_sim_model",
                   call);
  if (sim->in_force) return fx_fail(r->context, FRIX_ERROR_INPUT, "%s: called from the force callback", call);
  return configure(r, &sim->config);
}

frix_status frix_recorder_add(frix_recorder *r, const frix_sim *sim, const frix_step_report *report) {
  if (!r || !sim) return FRIX_ERROR_INPUT;
  frix_status status = ready(r, sim, "frix_recorder_add");
  if (status) return status;
  fx_frame_write(&r->raw, sim, report);
  return append_block(r, FX_BLOCK_FRAME, sim->state.step_count, sim->state.time);
}

frix_status frix_recorder_add_bed(frix_recorder *r, const frix_bed *bed, const frix_bed_report *report, bool contacts) {
  if (!r || !bed) return FRIX_ERROR_INPUT;
  if (r->failure) return fx_fail(r->context, FRIX_ERROR_FILE, "%s", r->failure);
  if (!r->model) return fx_fail(r->context, FRIX_ERROR_UNSUPPORTED, "frix_recorder_add_bed: a bed begins a new file");
  frix_sim_config config = frix_sim_default();
  config.tolerance = bed->config.tolerance, config.thread_count = bed->config.thread_count;
  frix_status status = configure(r, &config);
  if (!status) status = fx_bed_frame(&r->raw, bed, r->model, report, contacts);
  return status ? status : append_block(r, FX_BLOCK_FRAME, frix_bed_step_count(bed), frix_bed_time(bed));
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* To the disk, unless that was done a moment ago. */
static frix_status sync_when_due(frix_recorder *r) {
  double begin = now();
  if (begin < r->next_sync) return FRIX_OK;
  frix_status status = frix_recorder_flush(r);
  double end = now(), pause = (end - begin) / SYNC_SHARE;
  r->next_sync = end + (pause > SYNC_PAUSE ? pause : SYNC_PAUSE);
  return status;
}

frix_status frix_recorder_checkpoint(frix_recorder *r, const frix_sim *sim) {
  if (!r || !sim) return FRIX_ERROR_INPUT;
  frix_status status = ready(r, sim, "frix_recorder_checkpoint");
  if (!status) status = fx_checkpoint_write(&r->raw, r->tally.size ? &r->tally : NULL, &sim->state);
  if (!status) status = append_block(r, FX_BLOCK_CHECKPOINT, sim->state.step_count, sim->state.time);
  if (status) return status;
  r->tally.size = 0; /* the next step makes it an old one */
  return sync_when_due(r);
}

frix_status frix_recorder_tally(frix_recorder *r, const frix_tally *tally) {
  if (!r || !tally) return FRIX_ERROR_INPUT;
  if (tally->size != sizeof *tally)
    return fx_fail(r->context, FRIX_ERROR_INPUT, "frix_recorder_tally: start from frix_tally_default()");
  r->tally = *tally;
  return FRIX_OK;
}

frix_status frix_recorder_flush(frix_recorder *r) {
  if (!r) return FRIX_ERROR_INPUT;
  if (r->failure) return fx_fail(r->context, FRIX_ERROR_FILE, "%s", r->failure);
  if (fsync(r->file) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP)
    return FRIX_OK; /* pipes and devices know no fsync */
  return fail_errno(r, "cannot write");
}

frix_status frix_recorder_close(frix_recorder *r) {
  if (!r) return FRIX_OK;
  frix_status status = frix_recorder_flush(r);
  if (close(r->file) != 0 && !status) status = fail_errno(r, "cannot write");
  r->file = -1;
  release(r);
  return status;
}
