/* Bytes, little-endian, both ways: one description of a record writes it and reads it.
 *
 * Reading past the end, or a value out of its range, marks the pack as failed; from then on everything reads as zero,
 * and the caller asks once at the end. */
#ifndef FX_IO_PACK_H
#define FX_IO_PACK_H

#include "io/file.h"

#include <frix/vec.h>

typedef struct fx_pack {
  frix_context *context;
  fx_buffer *out; /* NULL: reads */
  const unsigned char *at, *end;
  bool failed;
  bool no_memory; /* the reason: an allocation failed, the bytes may be fine */
} fx_pack;

fx_pack fx_pack_writer(fx_buffer *out);
fx_pack fx_pack_reader(frix_context *context, const void *bytes, size_t size);

static inline bool fx_pack_reads(const fx_pack *p) { return !p->out; }
/* FRIX_ERROR_MEMORY, or FRIX_ERROR_FORMAT with the text, where the pack has failed or `good` is false. */
frix_status fx_pack_status(const fx_pack *p, bool good, const char *text);
/* Whether so many elements of a size can still follow; else the pack has failed. */
bool fx_pack_room(fx_pack *p, uint64_t count, size_t size);

void fx_pack_u8(fx_pack *p, uint8_t *x);
void fx_pack_u16(fx_pack *p, uint16_t *x);
void fx_pack_u32(fx_pack *p, uint32_t *x);
void fx_pack_u64(fx_pack *p, uint64_t *x);
void fx_pack_i32(fx_pack *p, int32_t *x);
void fx_pack_i64(fx_pack *p, int64_t *x);
void fx_pack_f64(fx_pack *p, double *x);
void fx_pack_single(fx_pack *p, double *x); /* as a 32-bit number, within its range */
void fx_pack_bool(fx_pack *p, bool *x);
/* 0 .. limit - 1, in one byte. */
void fx_pack_choice(fx_pack *p, int *x, int limit);
void fx_pack_reals(fx_pack *p, double *x, size_t count);
void fx_pack_vec(fx_pack *p, frix_vec3 *v);
void fx_pack_quat(fx_pack *p, frix_quat *q);
void fx_pack_pose(fx_pack *p, frix_pose *pose);
void fx_pack_sym(fx_pack *p, frix_sym3 *s);
/* Length and characters, no zero among them. NULL and "" are kept apart. Reading: *text is the caller's, by fx_free. */
void fx_pack_text(fx_pack *p, const char **text);

#endif
