/* Feeds bytes to the fclib reader as they are. Most of this exercises the HDF5 library itself, which leaks on damaged
 * files (docs/formats.md), so ./dev fuzz leaves it out; fuzz_fclib.c is the target that reaches our own code. Run it by
 *
 *   ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 raw_fclib -detect_leaks=0 -malloc_limit_mb=0 \
 *     -max_len=20000 -fork=1 -ignore_crashes=1 fuzz/corpus/raw_fclib */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_read(bytes, count, "fclib", FRIX_TEXT_DETECT);
  return 0;
}
