/* The format table: one row per file format, each row in the format's own file. */
#ifndef FX_IO_FORMAT_H
#define FX_IO_FORMAT_H

#include "io/draft.h"
#include "io/file.h"

typedef struct fx_format {
  frix_format_info info;
  /* Whether the bytes are of this format beyond doubt. NULL: never, the extension decides. */
  bool (*matches)(const char *bytes, size_t count);
  /* Fills draft->data. */
  frix_status (*read)(fx_draft *draft, const char *bytes, size_t count, const frix_read_config *config);
  /* Fills out with the file; result is NULL for a problem alone. path is for messages. */
  frix_status (*write)(const char *path, const frix_problem_data *data, const frix_result *result, fx_buffer *out);
  /* Finds r (row_count values) in a file with a solution or a guess. NULL: the format has none. */
  frix_status (*read_guess)(fx_draft *draft, const char *bytes, size_t count, int32_t row_count, double *r);
} fx_format;

extern const fx_format fx_format_fclib, fx_format_json, fx_format_text;

#endif
