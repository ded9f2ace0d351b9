/* Feeds bytes to the fclib reader as they are. Most of this exercises the HDF5 library itself: see docs/formats.md on
 * what is known of it. fuzz_fclib.c is the target that reaches our own code. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_read(bytes, count, "fclib", FRIX_TEXT_DETECT);
  return 0;
}
