/* Tokens separated by white space, with line numbers for messages. */
#include "io/scan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool fx_scan_token(fx_scan *scan, const char **token, size_t *length) {
  const char *at = scan->at, *end = scan->end;
  while (at < end && is_space(*at)) scan->line += *at++ == '\n';
  const char *start = at;
  while (at < end && !is_space(*at)) at++;
  scan->at = at;
  *token = start;
  *length = (size_t)(at - start);
  return at > start;
}

void fx_scan_line(fx_scan *scan, const char **line, size_t *length) {
  const char *stop = scan->at < scan->end ? memchr(scan->at, '\n', (size_t)(scan->end - scan->at)) : NULL;
  const char *last = stop ? stop : scan->end;
  *line = scan->at;
  *length = (size_t)(last - scan->at);
  if (*length && (*line)[*length - 1] == '\r') --*length;
  scan->at = stop ? stop + 1 : scan->end;
  scan->line += stop != NULL;
}

/* An optional sign and up to 18 digits, which cannot overflow. */
static bool parse_integer(const char *text, size_t length, int64_t *out) {
  bool negative = length && text[0] == '-';
  size_t k = length && (text[0] == '-' || text[0] == '+');
  if (k == length || length - k > 18) return false;
  int64_t value = 0;
  for (; k < length; k++) {
    if (text[k] < '0' || text[k] > '9') return false;
    value = 10 * value + (text[k] - '0');
  }
  *out = negative ? -value : value;
  return true;
}

bool fx_scan_try_integer(fx_scan *scan, int64_t *out) {
  fx_scan ahead = *scan;
  const char *token;
  size_t length;
  if (!fx_scan_token(&ahead, &token, &length) || !parse_integer(token, length, out)) return false;
  *scan = ahead;
  return true;
}

frix_status fx_scan_fail(fx_scan *scan, const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return fx_fail(scan->draft->context, FRIX_ERROR_FORMAT, "%s:%lld: %s", scan->draft->name, (long long)scan->line,
                 text);
}

frix_status fx_scan_integer(fx_scan *scan, const char *what, int64_t minimum, int64_t maximum, int64_t *out) {
  const char *token;
  size_t length;
  if (!fx_scan_token(scan, &token, &length)) return fx_scan_fail(scan, "the file ends where %s should be", what);
  if (!parse_integer(token, length, out))
    return fx_scan_fail(scan, "%s: expected a whole number, found '%s'", what, fx_word_of(token, length).text);
  if (*out < minimum || *out > maximum)
    return fx_scan_fail(scan, "%s is %lld, expected %lld to %lld", what, (long long)*out, (long long)minimum,
                        (long long)maximum);
  return FRIX_OK;
}

frix_status fx_scan_reals(fx_scan *scan, const char *what, double minimum, int64_t count, double *out) {
  for (int64_t k = 0; k < count; k++) {
    const char *token;
    size_t length;
    if (!fx_scan_token(scan, &token, &length))
      return fx_scan_fail(scan, "the file ends after %lld of %lld values of %s", (long long)k, (long long)count, what);
    if (!fx_parse_real(token, length, &out[k]))
      return fx_scan_fail(scan, "%s, value %lld: expected a number, found '%s'", what, (long long)k,
                          fx_word_of(token, length).text);
    if (!isfinite(out[k]))
      return fx_scan_fail(scan, "%s, value %lld: '%s' is not a finite number", what, (long long)k,
                          fx_word_of(token, length).text);
    if (out[k] < minimum)
      return fx_scan_fail(scan, "%s, value %lld: %g is less than %g", what, (long long)k, out[k], minimum);
  }
  return FRIX_OK;
}

frix_status fx_scan_room(fx_scan *scan, const char *what, int64_t count) {
  /* A token takes a character and, but for the last, a space. */
  int64_t possible = (scan->end - scan->at) / 2 + 1;
  if (count <= possible) return FRIX_OK;
  return fx_scan_fail(scan, "%s needs %lld values, the rest of the file holds at most %lld", what, (long long)count,
                      (long long)possible);
}
