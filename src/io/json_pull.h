/* Strict JSON, pulled value by value: no tree, no memory, no recursion, a limit on depth, and line numbers. */
#ifndef FX_IO_JSON_PULL_H
#define FX_IO_JSON_PULL_H

#include "io/draft.h"

enum { FX_PULL_DEPTH = 64 };

typedef struct fx_pull {
  fx_draft *draft;
  const char *at, *end;
  int64_t line;
  int depth;
  char open[FX_PULL_DEPTH];  /* '{' or '[' of each level */
  bool begun[FX_PULL_DEPTH]; /* the level has a member already, so the next one needs a comma */
} fx_pull;

void fx_pull_init(fx_pull *json, fx_draft *draft, const char *bytes, size_t count);
/* Fails at the present line. */
frix_status fx_pull_fail(fx_pull *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* First character of the next value, without passing it; 0 at the end of the file. */
char fx_pull_peek(fx_pull *json);

/* Enters an object or an array: open is '{' or '['. */
frix_status fx_pull_enter(fx_pull *json, char open);
/* The next key of the object; *more is false when the object has ended. A key too long for the buffer is cut. */
frix_status fx_pull_member(fx_pull *json, char *key, size_t size, bool *more);
/* Whether another element of the array follows. */
frix_status fx_pull_element(fx_pull *json, bool *more);

/* A finite number; a whole number within [minimum, maximum]. what names it in the message. */
frix_status fx_pull_real(fx_pull *json, const char *what, double *out);
frix_status fx_pull_integer(fx_pull *json, const char *what, int64_t minimum, int64_t maximum, int64_t *out);
/* A string as UTF-8, cut to the buffer and closed with 0. */
frix_status fx_pull_string(fx_pull *json, char *out, size_t size);
/* Passes one value of any kind. */
frix_status fx_pull_skip(fx_pull *json);
/* Nothing but white space may follow the value. */
frix_status fx_pull_end(fx_pull *json);

/* At an array of numbers, nested or not: an upper bound of how many it holds, so that memory can be taken at once. */
int64_t fx_pull_bound(const fx_pull *json);

/* Length of the valid UTF-8 sequence at text, 0 when it is not one. */
size_t fx_utf8_length(const char *text, const char *end);

#endif
