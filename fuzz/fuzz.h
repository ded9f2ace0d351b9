/* What the fuzz targets share: read bytes as a problem; what can be read must survive writing and reading again. */
#ifndef FX_FUZZ_H
#define FX_FUZZ_H

#include <frix/frix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static inline void fuzz_demand(bool good, const char *what, frix_context *context) {
  if (good) return;
  fprintf(stderr, "%s: %s\n", what, frix_error_text(context));
  abort();
}

static inline bool fuzz_same_matrix(const frix_matrix *a, const frix_matrix *b) {
  if (a->format != b->format || a->nonzero_count != b->nonzero_count) return false;
  size_t count = (size_t)a->nonzero_count;
  return count == 0 || (memcmp(a->i, b->i, count * sizeof *a->i) == 0 && memcmp(a->x, b->x, count * sizeof *a->x) == 0);
}

/* Writes by the format and reads back; formats that have no place for the problem say so. */
static inline void fuzz_round_trip(frix_context *context, const frix_problem *problem, const fx_format *format) {
  frix_problem_data data, again_data;
  frix_problem_view(problem, &data);
  fx_buffer buffer;
  fx_buffer_init(&buffer, context);
  frix_status status = format->write("out", &data, NULL, &buffer);
  fuzz_demand(status == FRIX_OK || status == FRIX_ERROR_UNSUPPORTED, "cannot be written", context);
  if (status == FRIX_OK) {
    fuzz_demand(fx_buffer_status(&buffer) == FRIX_OK, "no memory to write", context);
    frix_read_config config = frix_read_default();
    config.format = format->info.name;
    frix_problem *again = NULL;
    status = frix_problem_read_memory(context, "again", buffer.bytes, buffer.count, &config, &again);
    fuzz_demand(status == FRIX_OK, "what was written cannot be read", context);
    frix_problem_view(again, &again_data);
    fuzz_demand(data.form == again_data.form && data.contact_count == again_data.contact_count &&
                    fuzz_same_matrix(&data.W, &again_data.W) && fuzz_same_matrix(&data.M, &again_data.M) &&
                    fuzz_same_matrix(&data.H, &again_data.H) && fuzz_same_matrix(&data.G, &again_data.G),
                "what was written reads as something else", context);
    frix_problem_destroy(again);
  }
  fx_buffer_free(&buffer);
}

/* Messages are one line that begins with the name. */
static inline void fuzz_read(const uint8_t *bytes, size_t count, const char *format, frix_text_kind kind) {
  frix_context *context = NULL;
  if (frix_context_create(NULL, &context)) abort();
  frix_read_config config = frix_read_default();
  config.format = format;
  config.kind = kind;
  config.max_bytes = 64 << 20;
  frix_problem *problem = NULL;
  frix_status status = frix_problem_read_memory(context, "input", bytes, count, &config, &problem);
  fuzz_demand((status == FRIX_OK) == (problem != NULL), "status and problem disagree", context);
  if (status && status != FRIX_ERROR_MEMORY)
    fuzz_demand(strncmp(frix_error_text(context), "input:", 6) == 0 && !strchr(frix_error_text(context), '\n'),
                "message without place", context);
  if (problem) {
    fuzz_round_trip(context, problem, &fx_format_text);
    fuzz_round_trip(context, problem, &fx_format_json);
  }
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

#endif
