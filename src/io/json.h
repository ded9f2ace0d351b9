/* JSON problems: what the reader's file takes from the writer's. */
#ifndef FX_IO_JSON_H
#define FX_IO_JSON_H

#include "io/format.h"

#define FX_JSON_FORMAT "frix-problem-1"

/* Fields of a contact, as bits; which cone has which is in fx_json_fields. */
enum {
  FX_FIELD_DIM = 1,
  FX_FIELD_MU = 2,
  FX_FIELD_MU2 = 4,
  FX_FIELD_MU_R = 8,
  FX_FIELD_AXIS = 16,
  FX_FIELD_FACETS = 32,
};
extern const uint32_t fx_json_fields[FRIX_CONE_COUNT];

frix_status fx_json_write(const char *path, const frix_problem_data *data, const frix_result *result, fx_buffer *out);

#endif
