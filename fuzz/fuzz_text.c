/* Fuzzes the text reader: as it detects, and as the three kinds it can be told. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_read(bytes, count, "text", FRIX_TEXT_DETECT);
  fuzz_read(bytes, count, "text", (frix_text_kind)(FRIX_TEXT_LOCAL + count % 3));
  return 0;
}
