/* Tokens separated by white space, with line numbers for messages. */
#ifndef FX_IO_SCAN_H
#define FX_IO_SCAN_H

#include "io/draft.h"

typedef struct fx_scan {
  fx_draft *draft;
  const char *at, *end;
  int64_t line;
} fx_scan;

/* The next token, false at the end of the file. Copy the struct to look ahead. */
bool fx_scan_token(fx_scan *scan, const char **token, size_t *length);
/* The rest of the present line, without the newline; the next line follows. */
void fx_scan_line(fx_scan *scan, const char **line, size_t *length);
/* Silent look: true when the next token is a whole number, which is then passed. */
bool fx_scan_try_integer(fx_scan *scan, int64_t *out);

/* A whole number within [minimum, maximum]; what names it in the message. */
frix_status fx_scan_integer(fx_scan *scan, const char *what, int64_t minimum, int64_t maximum, int64_t *out);
/* count finite numbers, each at least minimum. */
frix_status fx_scan_reals(fx_scan *scan, const char *what, double minimum, int64_t count, double *out);
/* Whether the rest of the file can hold count more tokens; asked before memory is taken for them. */
frix_status fx_scan_room(fx_scan *scan, const char *what, int64_t count);
/* Fails at the present line. */
frix_status fx_scan_fail(fx_scan *scan, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
