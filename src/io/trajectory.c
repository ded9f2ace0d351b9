/* Trajectories: an index of the blocks, made by walking from head to head; bytes are read when they are asked for. */
#include "io/trajectory_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct index_list {
  fx_piece *block;
  int32_t count, room;
} index_list;

struct frix_trajectory {
  frix_context *context;
  char *path;
  int file;
  int64_t size;
  index_list frames, checkpoints;
  fx_piece meta_block, model_block, config_block;
  char *meta;
  frix_model *model;
  bool configured, truncated;
  int32_t damage_count; /* places where the file holds no blocks */
  frix_sim_config config;
  char trouble[320];
  fx_frame_store store;
  frix_trajectory **part; /* of a run of several ranks: those of the others */
  int32_t part_count;
};

/* ---- bytes of the file ---- */

static frix_status fail_errno(frix_trajectory *t, const char *what) {
  return fx_fail(t->context, FRIX_ERROR_FILE, "%s: %s: %s", t->path, what, strerror(errno));
}

/* As many as there are; -1: errno. */
static int64_t read_at(int file, void *bytes, size_t count, int64_t at) {
  size_t done = 0;
  while (done < count) {
    ssize_t got = pread(file, (char *)bytes + done, count - done, (off_t)(at + (int64_t)done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (size_t)got;
  }
  return (int64_t)done;
}

/* Puts file and place before what went wrong inside a block. */
static frix_status name_place(frix_trajectory *t, frix_status status, const char *what, int64_t at) {
  if (status == FRIX_OK || status == FRIX_ERROR_MEMORY) return status;
  char *text = fx_copy_text(t->context, frix_error_text(t->context));
  status = fx_fail(t->context, status, "%s: %s at byte %lld: %s", t->path, what, (long long)at, text ? text : "");
  fx_free(t->context, text);
  return status;
}

static frix_status read_block(frix_trajectory *t, const fx_piece *b, const char *what, unsigned char **out) {
  *out = NULL;
  unsigned char *stored = fx_alloc_raw(t->context, (size_t)b->stored + 1, 1);
  if (!stored) return FRIX_ERROR_MEMORY;
  int64_t got = read_at(t->file, stored, (size_t)b->stored, b->at);
  frix_status status = FRIX_OK;
  if (got < 0) {
    status = fail_errno(t, "cannot read");
  } else if ((uint64_t)got < b->stored) {
    status = fx_fail(t->context, FRIX_ERROR_FORMAT, "%s: has become shorter", t->path);
  } else {
    status = name_place(t, fx_piece_open(t->context, b, stored, out), what, b->at);
  }
  fx_free(t->context, stored);
  return status;
}

/* ---- walking over the blocks ---- */

static bool keep(frix_context *context, index_list *list, const fx_piece *b) {
  if (list->count == list->room) {
    int32_t wanted = list->room ? 2 * list->room : 64;
    fx_piece *grown = fx_realloc(context, list->block, (size_t)list->count, (size_t)wanted, sizeof *grown);
    if (!grown) return false;
    list->block = grown;
    list->room = wanted;
  }
  list->block[list->count++] = *b;
  return true;
}

/* Everything from this byte on is lost. */
static void lose_rest(frix_trajectory *t, int64_t at, const char *why) {
  size_t used = strlen(t->trouble);
  t->truncated = true;
  snprintf(t->trouble + used, sizeof t->trouble - used,
           "%s%s at byte %lld of %lld; %d frames and %d checkpoints before it are whole", used ? "; " : "", why,
           (long long)at, (long long)t->size, t->frames.count, t->checkpoints.count);
}

/* Bytes between blocks are lost; the first such place is told. */
static void lose_between(frix_trajectory *t, int64_t from, int64_t to) {
  t->truncated = true;
  if (t->damage_count++ == 0)
    snprintf(t->trouble, sizeof t->trouble, "is damaged at byte %lld of %lld: %lld bytes are lost", (long long)from,
             (long long)t->size, (long long)(to - from));
}

static bool file_block(frix_trajectory *t, const fx_piece *b) {
  switch (b->kind) {
    case FX_BLOCK_META: t->meta_block = *b; return true;
    case FX_BLOCK_MODEL: t->model_block = *b; return true;
    case FX_BLOCK_CONFIG: t->config_block = *b; return true;
    case FX_BLOCK_FRAME: return keep(t->context, &t->frames, b);
    case FX_BLOCK_CHECKPOINT: return keep(t->context, &t->checkpoints, b);
    default: return true; /* of a later version: not needed to read the rest */
  }
}

/* Whether a whole block begins at a byte; its head. */
typedef enum found { BLOCK, CUT, NOTHING, UNREADABLE } found;

static found look_at(frix_trajectory *t, int64_t at, fx_piece *b) {
  unsigned char head[FX_BLOCK_HEAD];
  int64_t got = read_at(t->file, head, sizeof head, at);
  if (got < 0) return UNREADABLE;
  if (got < FX_BLOCK_HEAD) return CUT;
  if (!fx_piece_read(head, b)) return NOTHING;
  b->at = at + FX_BLOCK_HEAD;
  return b->stored > (uint64_t)(t->size - b->at) ? CUT : BLOCK;
}

/* The first byte from `at` on where a whole block begins, by its first four bytes and the checksum of its head. A file
 * that holds none for long is not worth the time it would take. */
static found find_block(frix_trajectory *t, int64_t at, int64_t *out) {
  enum { PIECE = 1 << 16, SYNC = 4, LONG = 1 << 28 };
  char bytes[PIECE];
  fx_piece b;
  for (int64_t end = at + LONG; at + FX_BLOCK_HEAD <= t->size && at < end; at += PIECE - SYNC + 1) {
    int64_t got = read_at(t->file, bytes, sizeof bytes, at);
    if (got < 0) return UNREADABLE;
    for (int64_t k = 0; k + SYNC <= got; k++) {
      if (bytes[k] != 'f' || memcmp(bytes + k, "frxb", SYNC) != 0 || look_at(t, at + k, &b) != BLOCK) continue;
      *out = at + k;
      return BLOCK;
    }
  }
  return NOTHING;
}

/* From block to block. Where a head is damaged, the next whole block is looked for. */
static frix_status walk(frix_trajectory *t) {
  int64_t at = FX_FILE_HEAD, next = 0;
  while (at < t->size) {
    fx_piece b;
    found here = look_at(t, at, &b);
    if (here == BLOCK) {
      if (t->frames.count == INT32_MAX / 2 || !file_block(t, &b)) return FRIX_ERROR_MEMORY;
      at = b.at + (int64_t)b.stored;
      continue;
    }
    found behind = here == NOTHING ? find_block(t, at + 1, &next) : here;
    if (behind == UNREADABLE) return fail_errno(t, "cannot read");
    if (behind != BLOCK) {
      t->damage_count += behind == NOTHING;
      lose_rest(t, at, here == CUT ? "ends inside a block" : "is damaged");
      return FRIX_OK;
    }
    lose_between(t, at, next);
    at = next;
  }
  return FRIX_OK;
}

/* ---- opening ---- */

static frix_status open_file(frix_trajectory *t) {
  struct stat info;
  unsigned char head[FX_FILE_HEAD];
  t->file = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (t->file < 0) return fail_errno(t, "cannot open");
  if (fstat(t->file, &info) != 0) return fail_errno(t, "cannot open");
  if (!S_ISREG(info.st_mode)) return fx_fail(t->context, FRIX_ERROR_FILE, "%s: is not a regular file", t->path);
  frix_status noted = fx_input_note(t->context, (fx_file_id){(uint64_t)info.st_dev, (uint64_t)info.st_ino});
  if (noted) return noted;
  t->size = (int64_t)info.st_size;
  int64_t got = read_at(t->file, head, sizeof head, 0);
  if (got < 0) return fail_errno(t, "cannot read");
  const char *trouble = fx_file_head_trouble(head, (size_t)got);
  return trouble ? fx_fail(t->context, FRIX_ERROR_FORMAT, "%s: %s", t->path, trouble) : FRIX_OK;
}

static frix_status read_start(frix_trajectory *t) {
  unsigned char *bytes = NULL;
  if (!t->model_block.at || !t->meta_block.at)
    return fx_fail(t->context, FRIX_ERROR_FORMAT, "%s: holds no model%s%s", t->path, t->truncated ? ": " : "",
                   t->trouble);
  frix_status status = read_block(t, &t->meta_block, "text", &bytes);
  if (status) return status;
  t->meta = (char *)bytes; /* read_block puts a zero behind */
  status = read_block(t, &t->model_block, "model", &bytes);
  if (status) return status;
  status = frix_model_decode(t->context, bytes, (size_t)t->model_block.raw, &t->model);
  status = name_place(t, status, "model", t->model_block.at);
  fx_free(t->context, bytes);
  if (status || !t->config_block.at) return status;
  status = read_block(t, &t->config_block, "config", &bytes);
  if (status) return status;
  status = fx_config_read(t->context, bytes, (size_t)t->config_block.raw, &t->config);
  t->configured = status == FRIX_OK;
  fx_free(t->context, bytes);
  return name_place(t, status, "config", t->config_block.at);
}

static frix_status open_one(frix_context *context, const char *path, frix_trajectory **out) {
  *out = NULL;
  frix_trajectory *t = FX_NEW(context, frix_trajectory, 1);
  if (!t) return FRIX_ERROR_MEMORY;
  t->context = context;
  t->file = -1;
  t->path = fx_copy_text(context, path);
  frix_status status = t->path ? open_file(t) : FRIX_ERROR_MEMORY;
  if (!status) status = walk(t);
  if (!status) status = read_start(t);
  if (status) {
    frix_trajectory_close(t);
    return status;
  }
  *out = t;
  return FRIX_OK;
}

/* Frames that all parts have. */
static int32_t common_frames(const frix_trajectory *t) {
  int32_t count = t->frames.count;
  for (int32_t k = 0; k < t->part_count; k++)
    if (t->part[k]->frames.count < count) count = t->part[k]->frames.count;
  return count;
}

/* The first part stands for the run, the others follow its frames. */
static frix_status open_parts(frix_context *context, char *const *path, int32_t count, frix_trajectory **out) {
  frix_status status = open_one(context, path[0], out);
  if (status) return status;
  frix_trajectory *t = *out;
  t->part = FX_NEW(context, frix_trajectory *, count);
  status = t->part ? FRIX_OK : FRIX_ERROR_MEMORY;
  for (int32_t k = 1; k < count && !status; k++)
    if (!(status = open_one(context, path[k], &t->part[k - 1]))) t->part_count++;
  if (!status) t->frames.count = common_frames(t);
  if (!status) return FRIX_OK;
  frix_trajectory_close(t);
  *out = NULL;
  return status;
}

frix_status frix_trajectory_open(frix_context *context, const char *path, frix_trajectory **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (!path) return fx_fail(context, FRIX_ERROR_INPUT, "frix_trajectory_open: path is NULL");
  char **part = NULL;
  int32_t count = 0;
  frix_status status = fx_parts_read(context, path, &part, &count);
  if (status) return status;
  status = count ? open_parts(context, part, count, out) : open_one(context, path, out);
  fx_parts_free(context, part, count);
  return status;
}

void frix_trajectory_close(frix_trajectory *t) {
  if (!t) return;
  for (int32_t k = 0; k < t->part_count; k++) frix_trajectory_close(t->part[k]);
  fx_free(t->context, t->part);
  frix_context *context = t->context;
  if (t->file >= 0) close(t->file);
  fx_frame_free(context, &t->store);
  if (t->configured) fx_config_free(context, &t->config);
  frix_model_destroy(t->model);
  void *owned[] = {t->frames.block, t->checkpoints.block, t->meta, t->path, t};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) fx_free(context, owned[k]);
}

/* ---- asking ---- */

const frix_model *frix_trajectory_model(const frix_trajectory *t) { return t ? t->model : NULL; }
const char *frix_trajectory_meta(const frix_trajectory *t) { return t ? t->meta : NULL; }
int32_t frix_trajectory_frame_count(const frix_trajectory *t) { return t ? t->frames.count : 0; }
int32_t frix_trajectory_checkpoint_count(const frix_trajectory *t) { return t ? t->checkpoints.count : 0; }
int32_t frix_trajectory_damage_count(const frix_trajectory *t) { return t ? t->damage_count : 0; }
bool frix_trajectory_truncated(const frix_trajectory *t) { return t && t->truncated; }
const char *frix_trajectory_trouble(const frix_trajectory *t) { return t && t->truncated ? t->trouble : NULL; }

frix_status frix_trajectory_config(const frix_trajectory *t, frix_sim_config *out) {
  if (!t || !out) return FRIX_ERROR_INPUT;
  if (!t->configured) return fx_fail(t->context, FRIX_ERROR_INPUT, "%s: holds no frame yet", t->path);
  *out = t->config;
  return FRIX_OK;
}

static const fx_piece *block_at(frix_trajectory *t, const index_list *list, int32_t k, const char *what) {
  if (k >= 0 && k < list->count) return &list->block[k];
  if (list->count == 0)
    fx_fail(t->context, FRIX_ERROR_INPUT, "%s: holds no %s", t->path, what);
  else
    fx_fail(t->context, FRIX_ERROR_INPUT, "%s: has no %s %d, only 0 to %d", t->path, what, k, list->count - 1);
  return NULL;
}

frix_status frix_trajectory_frame_time(frix_trajectory *t, int32_t k, int64_t *step, double *time) {
  if (!t) return FRIX_ERROR_INPUT;
  const fx_piece *b = block_at(t, &t->frames, k, "frame");
  if (!b) return FRIX_ERROR_INPUT;
  if (step) *step = b->step;
  if (time) *time = b->time;
  return FRIX_OK;
}

frix_status frix_trajectory_frame(frix_trajectory *t, int32_t k, frix_frame *out) {
  if (!t || !out) return FRIX_ERROR_INPUT;
  *out = (frix_frame){.size = sizeof *out};
  const fx_piece *b = block_at(t, &t->frames, k, "frame");
  if (!b) return FRIX_ERROR_INPUT;
  unsigned char *bytes = NULL;
  char what[32];
  snprintf(what, sizeof what, "frame %d", k);
  frix_status status = read_block(t, b, what, &bytes);
  if (status) return status;
  status = fx_frame_read(t->context, t->model, bytes, (size_t)b->raw, &t->store);
  fx_free(t->context, bytes);
  if (status) return name_place(t, status, what, b->at);
  for (int32_t p = 0; p < t->part_count && !status; p++) {
    frix_frame other;
    status = frix_trajectory_frame(t->part[p], k, &other);
    if (!status) status = fx_frame_append(t->context, &t->store, &other);
  }
  if (!status) *out = t->store.frame;
  return status;
}

/* ---- checkpoints ---- */

static const fx_piece *checkpoint_at(frix_trajectory *t, int32_t k) {
  return block_at(t, &t->checkpoints, k == -1 && t->checkpoints.count ? t->checkpoints.count - 1 : k, "checkpoint");
}

frix_status fx_trajectory_end_of(frix_trajectory *t, int32_t k, int64_t *end) {
  const fx_piece *b = checkpoint_at(t, k);
  if (!b) return FRIX_ERROR_INPUT;
  *end = b->at + (int64_t)b->stored;
  return FRIX_OK;
}

/* Equal models have equal bytes. */
static frix_status same_model(frix_trajectory *t, const frix_model *model) {
  unsigned char *mine = NULL, *other = NULL;
  size_t size = 0, other_size = 0;
  frix_status status = frix_model_encode(t->context, t->model, &mine, &size);
  if (!status) status = frix_model_encode(t->context, model, &other, &other_size);
  if (!status && (size != other_size || memcmp(mine, other, size) != 0))
    status = fx_fail(t->context, FRIX_ERROR_INPUT, "%s: was made with another model", t->path);
  frix_bytes_free(t->context, mine);
  frix_bytes_free(t->context, other);
  return status;
}

frix_status frix_trajectory_checkpoint(frix_trajectory *t, int32_t k, const frix_model *model, int64_t *step,
                                       frix_snapshot **out) {
  if (!t) return FRIX_ERROR_INPUT;
  if (out) *out = NULL;
  const fx_piece *b = checkpoint_at(t, k);
  if (!b) return FRIX_ERROR_INPUT;
  if (step) *step = b->step;
  if (!out) return FRIX_OK;
  unsigned char *bytes = NULL;
  frix_status status = model && model != t->model ? same_model(t, model) : FRIX_OK;
  if (!status) status = read_block(t, b, "checkpoint", &bytes);
  if (status) return status;
  frix_tally ignored;
  size_t state = 0;
  status = fx_checkpoint_read(t->context, bytes, (size_t)b->raw, &ignored, &state);
  if (!status)
    status = fx_state_decode(t->context, model ? model : t->model, bytes + state, (size_t)b->raw - state, out);
  fx_free(t->context, bytes);
  return name_place(t, status, "checkpoint", b->at);
}

/* ---- tallies ---- */

/* That of checkpoint k, or of the last one before it that has one and can be read, and its step; an empty one where
 * there is none. */
static frix_status last_tally(frix_trajectory *t, int32_t k, frix_tally *out, int64_t *step) {
  for (; k >= 0; k--) {
    const fx_piece *b = &t->checkpoints.block[k];
    unsigned char *bytes = NULL;
    size_t state = 0;
    frix_status status = read_block(t, b, "checkpoint", &bytes);
    if (!status) status = fx_checkpoint_read(t->context, bytes, (size_t)b->raw, out, &state);
    fx_free(t->context, bytes);
    *step = b->step;
    if (status != FRIX_ERROR_FORMAT && (status || out->size)) return status;
  }
  *out = frix_tally_default();
  *step = 0;
  return FRIX_OK;
}

/* Steps of frames after `from` up to `to`; damaged ones tell nothing. */
static frix_status add_frames(frix_trajectory *t, int64_t from, int64_t to, frix_tally *out) {
  for (int32_t k = 0; k < t->frames.count; k++) {
    frix_frame frame;
    int64_t step = t->frames.block[k].step;
    if (step <= from || step > to) continue;
    frix_status status = frix_trajectory_frame(t, k, &frame);
    if (status == FRIX_ERROR_FORMAT || (!status && frame.step != step)) continue;
    if (status) return status;
    frix_tally_add(out, &frame.report, step, t->configured ? t->config.tolerance : 0.0);
    from = step;
  }
  return FRIX_OK;
}

frix_status frix_trajectory_tally(frix_trajectory *t, int32_t k, frix_tally *out) {
  if (!t || !out) return FRIX_ERROR_INPUT;
  *out = frix_tally_default();
  int32_t frames = t->frames.count, checkpoints = t->checkpoints.count;
  int64_t from = 0, to = 0;
  if (k == -1) {
    if (frames) to = t->frames.block[frames - 1].step;
    if (checkpoints && t->checkpoints.block[checkpoints - 1].step > to) to = t->checkpoints.block[checkpoints - 1].step;
  } else {
    const fx_piece *b = block_at(t, &t->checkpoints, k, "checkpoint");
    if (!b) return FRIX_ERROR_INPUT;
    to = b->step;
  }
  frix_status status = last_tally(t, k == -1 ? checkpoints - 1 : k, out, &from);
  if (status) return status;
  int64_t told = out->steps;
  status = add_frames(t, from, to, out);
  int64_t missing = to > from ? to - from - (out->steps - told) : 0; /* steps without a frame */
  out->steps += missing, out->unknown += missing;
  return status;
}
