/* Blocks: the pieces a trajectory file is made of. A head of 48 bytes with its own checksum, then the bytes. */
#include "io/trajectory_internal.h"

#include <math.h>
#include <string.h>

enum { VERSION = 2 };
static const char magic[16] = "frix-trajectory\n"; /* exactly 16, without a closing zero */
static const uint32_t sync_word = 0x62787266;      /* "frxb" */
/* No block of numbers packs better than this; a file that claims more wants to fill the memory. */
static const uint64_t best_ratio = 1000;
/* The largest block: a checkpoint of millions of contacts fits. */
static const uint64_t largest = (uint64_t)2 << 30;
enum { WORTH_PACKING = 512 };

frix_status fx_bytes_give(fx_buffer *buffer, unsigned char **out, size_t *size) {
  *out = NULL;
  *size = 0;
  frix_status status = fx_buffer_status(buffer);
  if (status) {
    fx_buffer_free(buffer);
    return status;
  }
  *out = (unsigned char *)buffer->bytes;
  *size = buffer->count;
  return FRIX_OK;
}

void frix_bytes_free(frix_context *context, unsigned char *bytes) {
  if (context) fx_free(context, bytes);
}

static void put(unsigned char *at, uint64_t word, int size) {
  for (int k = 0; k < size; k++) at[k] = (unsigned char)(word >> 8 * k);
}

void fx_file_head(unsigned char head[FX_FILE_HEAD]) {
  memcpy(head, magic, sizeof magic);
  put(head + sizeof magic, VERSION, 8);
}

const char *fx_file_head_trouble(const unsigned char *head, size_t size) {
  size_t known = size < sizeof magic ? size : sizeof magic;
  if (memcmp(head, magic, known) != 0) return "is not a trajectory (.frx)";
  if (size < FX_FILE_HEAD) return "ends in the middle of its first bytes";
  unsigned char mine[FX_FILE_HEAD];
  fx_file_head(mine);
  return memcmp(head, mine, sizeof mine) == 0 ? NULL : "is a trajectory of another version";
}

void fx_piece_head(const fx_piece *b, unsigned char head[FX_BLOCK_HEAD]) {
  uint64_t time;
  memcpy(&time, &b->time, sizeof time);
  put(head, sync_word, 4);
  put(head + 4, b->kind, 2);
  put(head + 6, b->codec, 2);
  put(head + 8, b->stored, 8);
  put(head + 16, b->raw, 8);
  put(head + 24, (uint64_t)b->step, 8);
  put(head + 32, time, 8);
  put(head + 40, b->checksum, 4);
  put(head + 44, frix_crc32(0, head, 44), 4);
}

bool fx_piece_read(const unsigned char head[FX_BLOCK_HEAD], fx_piece *out) {
  fx_pack p = fx_pack_reader(NULL, head, FX_BLOCK_HEAD);
  uint32_t sync = 0, checksum = 0;
  *out = (fx_piece){0};
  fx_pack_u32(&p, &sync);
  fx_pack_u16(&p, &out->kind);
  fx_pack_u16(&p, &out->codec);
  fx_pack_u64(&p, &out->stored);
  fx_pack_u64(&p, &out->raw);
  fx_pack_i64(&p, &out->step);
  fx_pack_f64(&p, &out->time);
  fx_pack_u32(&p, &out->checksum);
  fx_pack_u32(&p, &checksum);
  if (sync != sync_word || checksum != frix_crc32(0, head, 44)) return false;
  if (out->codec == FX_CODEC_PLAIN && out->raw != out->stored) return false;
  if (out->raw > largest || out->stored > largest) return false;
  return out->codec <= FX_CODEC_ZSTD && out->raw / best_ratio <= out->stored && isfinite(out->time);
}

frix_status fx_piece_seal(fx_piece *b, const fx_buffer *raw, fx_buffer *out) {
  if (raw->count > largest)
    return fx_fail(raw->context, FRIX_ERROR_UNSUPPORTED, "a block of %zu bytes: more than a trajectory takes",
                   raw->count);
  b->raw = b->stored = raw->count;
  b->codec = FX_CODEC_PLAIN;
  char *room = fx_buffer_reserve(out, FX_BLOCK_HEAD + raw->count);
  if (raw->failed || !room) return FRIX_ERROR_MEMORY;
  char *bytes = room + FX_BLOCK_HEAD;
  size_t packed = 0;
  if (raw->count >= WORTH_PACKING) packed = fx_zstd_pack(raw->bytes, raw->count, bytes, raw->count - raw->count / 8);
  if (packed && raw->count / best_ratio <= packed) {
    b->codec = FX_CODEC_ZSTD;
    b->stored = packed;
  } else if (raw->count) {
    memcpy(bytes, raw->bytes, raw->count);
  }
  b->checksum = frix_crc32(0, bytes, (size_t)b->stored);
  fx_piece_head(b, (unsigned char *)room);
  out->count += FX_BLOCK_HEAD + (size_t)b->stored;
  return FRIX_OK;
}

frix_status fx_piece_open(frix_context *context, const fx_piece *b, const unsigned char *stored, unsigned char **out) {
  *out = NULL;
  if (frix_crc32(0, stored, (size_t)b->stored) != b->checksum)
    return fx_fail(context, FRIX_ERROR_FORMAT, "damaged: its checksum is wrong");
  if (b->codec == FX_CODEC_ZSTD && !fx_zstd_available())
    return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "packed with zstd, which this build of frix lacks (libzstd-dev)");
  unsigned char *bytes = fx_alloc_raw(context, (size_t)b->raw + 1, 1);
  if (!bytes) return FRIX_ERROR_MEMORY;
  if (b->codec == FX_CODEC_PLAIN) {
    memcpy(bytes, stored, (size_t)b->raw);
  } else if (!fx_zstd_unpack(stored, (size_t)b->stored, bytes, (size_t)b->raw)) {
    fx_free(context, bytes);
    return fx_fail(context, FRIX_ERROR_FORMAT, "damaged: cannot be unpacked");
  }
  bytes[b->raw] = 0;
  *out = bytes;
  return FRIX_OK;
}
