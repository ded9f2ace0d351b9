/* zstd, for the blocks of trajectories. */
#include "io/trajectory_internal.h"

#ifdef FRIX_HAVE_ZSTD
#include <zstd.h>

/* Fast, and hardly worse than higher levels on columns of numbers. */
enum { LEVEL = 1 };

bool fx_zstd_available(void) { return true; }

size_t fx_zstd_pack(const void *bytes, size_t size, void *out, size_t room) {
  size_t took = ZSTD_compress(out, room, bytes, size, LEVEL);
  return ZSTD_isError(took) ? 0 : took;
}

bool fx_zstd_unpack(const void *bytes, size_t stored, void *out, size_t size) {
  return ZSTD_decompress(out, size, bytes, stored) == size;
}

#else

bool fx_zstd_available(void) { return false; }

size_t fx_zstd_pack(const void *bytes, size_t size, void *out, size_t room) {
  (void)bytes, (void)size, (void)out, (void)room;
  return 0;
}

bool fx_zstd_unpack(const void *bytes, size_t stored, void *out, size_t size) {
  (void)bytes, (void)stored, (void)out, (void)size;
  return false;
}

#endif
