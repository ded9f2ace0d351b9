/* Outputs: what the library's own writers need beside <frix/output.h>. */
#ifndef FX_IO_OUTPUT_H
#define FX_IO_OUTPUT_H

#include <frix/output.h>

#include "base/context.h"

/* Whether bytes can be written in places; refused with a text where they are written directly. */
frix_status fx_output_has_places(const frix_output *output);
/* Bytes at a place that was written before. */
frix_status fx_output_patch(frix_output *output, int64_t at, const void *bytes, size_t count);

/* For files that go on growing under their name: what was written so far takes its place, and the descriptor is the
 * caller's, positioned at the end. fresh: nothing stood at the path, and what may stand there now is another's and not
 * replaced. The output is freed, whatever is returned. */
frix_status fx_output_settle(frix_output *output, bool fresh, int *file);

/* The descriptor, for locks. */
int fx_output_descriptor(const frix_output *output);

#endif
