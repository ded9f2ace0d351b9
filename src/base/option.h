/* Option rows: parse a value against its row, and suggest the nearest of a list of names. */
#ifndef FX_BASE_OPTION_H
#define FX_BASE_OPTION_H

#include "base/context.h"

/* Text to value, checked against kind and range; the error text names the option by full_name. */
frix_status fx_option_parse(frix_context *context, const frix_option_info *row, const char *full_name, const char *text,
                            double *out);

/* Edit distance, for "did you mean". */
int fx_text_distance(const char *a, const char *b);

#endif
