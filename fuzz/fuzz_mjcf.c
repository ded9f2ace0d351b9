/* Fuzzes the MJCF reader: what can be read can be written, and what was written reads as the same bodies. */
#include "fuzz.h"

#include <math.h>
#include <unistd.h>

static void demand_same(frix_context *context, const frix_model *a, const frix_model *b) {
  frix_model_counts x = frix_model_count(a), y = frix_model_count(b);
  fuzz_demand(x.body_count == y.body_count && x.shape_count == y.shape_count, "another number of bodies", context);
  for (int32_t k = 0; k < x.body_count; k++) {
    frix_body_config p, q;
    frix_model_body(a, frix_model_body_at(a, k), &p);
    frix_model_body(b, frix_model_body_at(b, k), &q);
    fuzz_demand(p.kind == q.kind && p.mass == q.mass, "another mass", context);
  }
}

static void round_trip(frix_context *context, const frix_model *model) {
  char path[64];
  snprintf(path, sizeof path, "/dev/shm/frix_fuzz_%ld.xml", (long)getpid());
  frix_status status = frix_mjcf_write(context, model, path, NULL);
  fuzz_demand(status == FRIX_OK || status == FRIX_ERROR_UNSUPPORTED, "cannot be written", context);
  if (status) return;
  frix_mjcf *again = NULL;
  status = frix_mjcf_read(context, path, NULL, &again);
  fuzz_demand(status == FRIX_OK, "what was written cannot be read", context);
  demand_same(context, model, frix_mjcf_view(again).model);
  frix_mjcf_destroy(again);
  unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  frix_context *context = NULL;
  if (frix_context_create(NULL, &context)) abort();
  frix_mjcf_config config = frix_mjcf_default();
  config.max_bytes = 1 << 20, config.max_count = 300;
  frix_mjcf *scene = NULL;
  frix_status status = frix_mjcf_read_memory(context, "input", bytes, count, &config, &scene);
  fuzz_demand((status == FRIX_OK) == (scene != NULL), "status and scene disagree", context);
  if (status && status != FRIX_ERROR_MEMORY)
    fuzz_demand(strncmp(frix_error_text(context), "input:", 6) == 0 && !strchr(frix_error_text(context), '\n'),
                "message without place", context);
  if (scene) round_trip(context, frix_mjcf_view(scene).model);
  frix_mjcf_destroy(scene);
  frix_context_destroy(context);
  return 0;
}
