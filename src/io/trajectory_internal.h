/* Pieces of trajectory files: blocks and their contents. */
#ifndef FX_IO_TRAJECTORY_H
#define FX_IO_TRAJECTORY_H

#include "io/pack.h"
#include "sim/sim_internal.h"

#include <frix/bed.h>
#include <frix/trajectory.h>

/* The buffer's bytes become the caller's. */
frix_status fx_bytes_give(fx_buffer *buffer, unsigned char **out, size_t *size);
void fx_pack_axis(fx_pack *p, frix_axis_config *axis);
void fx_pack_energy(fx_pack *p, frix_energy *energy);
/* A state as a checkpoint has it. */
frix_status fx_state_encode(const fx_state *state, fx_buffer *out);
frix_status fx_state_decode(frix_context *context, const frix_model *model, const unsigned char *bytes, size_t size,
                            frix_snapshot **out);

/* ---- blocks (io/trajectory_blocks.c) ---- */
typedef enum fx_piece_kind {
  FX_BLOCK_META = 1,
  FX_BLOCK_MODEL,
  FX_BLOCK_CONFIG,
  FX_BLOCK_FRAME,
  FX_BLOCK_CHECKPOINT,
} fx_piece_kind;

enum { FX_CODEC_PLAIN, FX_CODEC_ZSTD };

typedef struct fx_piece {
  uint16_t kind, codec;
  uint64_t stored, raw; /* bytes in the file, and unpacked */
  int64_t step;
  double time;
  uint32_t checksum; /* of the stored bytes */
  int64_t at;        /* where its bytes begin, behind its header */
} fx_piece;

enum { FX_FILE_HEAD = 24, FX_BLOCK_HEAD = 48 };

/* The first bytes of a file. */
void fx_file_head(unsigned char head[FX_FILE_HEAD]);
/* NULL where the bytes begin a trajectory, else what is wrong. */
const char *fx_file_head_trouble(const unsigned char *head, size_t size);
void fx_piece_head(const fx_piece *block, unsigned char head[FX_BLOCK_HEAD]);
/* False: these bytes are no head of a block. */
bool fx_piece_read(const unsigned char head[FX_BLOCK_HEAD], fx_piece *out);
/* Bytes of a block as they go into the file, head first; packed where it helps. */
frix_status fx_piece_seal(fx_piece *block, const fx_buffer *raw, fx_buffer *out);
/* Unpacks and checks; *out by fx_free. stored holds block->stored bytes. */
frix_status fx_piece_open(frix_context *context, const fx_piece *block, const unsigned char *stored,
                          unsigned char **out);

/* ---- zstd (io/zstd.c, the only file that knows it) ---- */
bool fx_zstd_available(void);
/* Bytes it took, 0: failed or no smaller than `room`. */
size_t fx_zstd_pack(const void *bytes, size_t size, void *out, size_t room);
/* Whether exactly `size` bytes came out. */
bool fx_zstd_unpack(const void *bytes, size_t stored, void *out, size_t size);

/* ---- what blocks hold (io/frame_bytes.c, io/config_bytes.c, io/tally.c) ---- */
void fx_frame_write(fx_buffer *out, const frix_sim *sim, const frix_step_report *report);
/* A frame by its lists, of a world that is no sim; counts stand in f. */
void fx_frame_put(fx_buffer *out, frix_frame *f, frix_frame_body *body, frix_contact_report *contact);

/* Of the grains of one rank; model: by frix_bed_model. */
frix_status fx_bed_frame(fx_buffer *out, const frix_bed *bed, const frix_model *model, const frix_bed_report *report,
                         bool contacts);

/* A frame with the room its lists stand in. */
typedef struct fx_frame_store {
  frix_frame frame;
  int32_t body_room, contact_room, gone_room, amplitude_room, robot_room;
  frix_frame_body *body;
  frix_contact_report *contact;
  frix_body_id *gone;
  double *amplitude, *robot;
  const char *finisher;
} fx_frame_store;

frix_status fx_frame_read(frix_context *context, const frix_model *model, const unsigned char *bytes, size_t size,
                          fx_frame_store *store);
void fx_frame_free(frix_context *context, fx_frame_store *store);

void fx_config_write(fx_buffer *out, const frix_sim_config *config);
/* Names and options become the caller's: fx_config_free. */
frix_status fx_config_read(frix_context *context, const unsigned char *bytes, size_t size, frix_sim_config *out);
void fx_config_free(frix_context *context, frix_sim_config *config);

/* A checkpoint: a tally (NULL: none), then the state. */
frix_status fx_checkpoint_write(fx_buffer *out, const frix_tally *tally, const fx_state *state);
/* Where the bytes of the state begin, *tally->size 0 where there is none. */
frix_status fx_checkpoint_read(frix_context *context, const unsigned char *bytes, size_t size, frix_tally *tally,
                               size_t *state);

/* ---- runs of several ranks (io/trajectory_parts.c) ---- */
/* The files that an index names, each by fx_free, as the list; *count 0 where the file is no index. */
frix_status fx_parts_read(frix_context *context, const char *path, char ***out, int32_t *count);
void fx_parts_free(frix_context *context, char **path, int32_t count);
/* Bodies and contacts of another frame follow those of the store. */
frix_status fx_frame_append(frix_context *context, fx_frame_store *store, const frix_frame *other);

/* Where the block of checkpoint k (-1: the last) ends. */
frix_status fx_trajectory_end_of(frix_trajectory *trajectory, int32_t k, int64_t *end);

#endif
