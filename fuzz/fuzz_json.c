/* Fuzzes the JSON reader, and the reader of solutions on the same bytes. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  fuzz_read(bytes, count, "json", FRIX_TEXT_DETECT);
  frix_context *context = NULL;
  if (frix_context_create(NULL, &context)) abort();
  fx_draft draft;
  double r[3];
  fx_draft_init(&draft, context, "input", 64 << 20);
  fx_format_json.read_guess(&draft, (const char *)bytes, count, 3, r);
  fx_draft_free(&draft);
  frix_context_destroy(context);
  return 0;
}
