/* Strict JSON, pulled value by value: no tree, no memory, no recursion, a limit on depth, and line numbers. */
#ifndef FX_IO_JSON_PARSE_H
#define FX_IO_JSON_PARSE_H

#include "io/draft.h"

enum { FX_JSON_DEPTH = 64 };

typedef struct fx_json {
  fx_draft *draft;
  const char *at, *end;
  int64_t line;
  int depth;
  char open[FX_JSON_DEPTH];  /* '{' or '[' of each level */
  bool begun[FX_JSON_DEPTH]; /* the level has a member already, so the next one needs a comma */
} fx_json;

void fx_json_init(fx_json *json, fx_draft *draft, const char *bytes, size_t count);
/* Fails at the present line. */
frix_status fx_json_fail(fx_json *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* First character of the next value, without passing it; 0 at the end of the file. */
char fx_json_peek(fx_json *json);

/* Enters an object or an array: open is '{' or '['. */
frix_status fx_json_enter(fx_json *json, char open);
/* The next key of the object; *more is false when the object has ended. A key too long for the buffer is cut. */
frix_status fx_json_member(fx_json *json, char *key, size_t size, bool *more);
/* Whether another element of the array follows. */
frix_status fx_json_element(fx_json *json, bool *more);

/* A finite number; a whole number within [minimum, maximum]. what names it in the message. */
frix_status fx_json_real(fx_json *json, const char *what, double *out);
frix_status fx_json_integer(fx_json *json, const char *what, int64_t minimum, int64_t maximum, int64_t *out);
/* A string as UTF-8, cut to the buffer and closed with 0. */
frix_status fx_json_string(fx_json *json, char *out, size_t size);
/* Passes one value of any kind. */
frix_status fx_json_skip(fx_json *json);
/* Nothing but white space may follow the value. */
frix_status fx_json_end(fx_json *json);

/* At an array of numbers, nested or not: an upper bound of how many it holds, so that memory can be taken at once. */
int64_t fx_json_bound(const fx_json *json);

/* Length of the valid UTF-8 sequence at text, 0 when it is not one. */
size_t fx_utf8_length(const char *text, const char *end);

#endif
