/* Text problems (.dat): what the reader's file takes from the writer's. */
#ifndef FX_IO_TEXT_H
#define FX_IO_TEXT_H

#include "io/format.h"

frix_status fx_text_write(const char *path, const frix_problem_data *data, const frix_result *result, fx_buffer *out);

#endif
