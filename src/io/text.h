/* Text problems (.dat): what their files share. */
#ifndef FX_IO_TEXT_H
#define FX_IO_TEXT_H

#include <float.h>

#include "io/format.h"
#include "io/scan.h"

#define FX_TEXT_ANY (-DBL_MAX) /* no lower limit */

/* count numbers, each at least minimum, in memory of the draft. */
frix_status fx_text_reals(fx_scan *scan, const char *what, double minimum, int64_t count, const double **out);
/* A matrix of any storage. rows and cols are what the rest of the problem asks for; -1 leaves the number of rows open,
 * -1 columns means square. */
frix_status fx_text_matrix(fx_scan *scan, const char *what, int64_t rows, int64_t cols, frix_matrix *out);

/* A mixed linear complementarity problem (mlcp.c). */
frix_status fx_mlcp_read(fx_scan *scan);

frix_status fx_text_write(const char *path, const frix_problem_data *data, const frix_result *result, fx_buffer *out);

#endif
