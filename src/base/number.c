/* Numbers as text: strtod and snprintf with the decimal mark of the locale swapped for a point, so that a host program
 * that runs under a comma locale still reads our files. */
#include "base/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Single characters only, as in every locale that uses a comma. */
static char decimal_mark(void) {
  const struct lconv *conventions = localeconv();
  return conventions && conventions->decimal_point && conventions->decimal_point[0] ? conventions->decimal_point[0]
                                                                                    : '.';
}

bool fx_parse_real(const char *text, size_t length, double *out) {
  char buffer[128];
  if (length == 0 || length >= sizeof buffer) return false;
  if (text[0] == ' ' || text[0] == '\t' || text[0] == '\n') return false;
  memcpy(buffer, text, length);
  buffer[length] = 0;
  char mark = decimal_mark();
  for (size_t k = 0; k < length; k++) {
    char c = buffer[k];
    if (c == 'x' || c == 'X' || c == '(' || c == 0) return false; /* no hexadecimal, no nan(payload) */
    if (mark != '.' && c == mark) return false;
    if (c == '.') buffer[k] = mark;
  }
  char *end = NULL;
  *out = strtod(buffer, &end);
  return end == buffer + length;
}

int fx_print_real(char *buffer, double value) {
  int length = snprintf(buffer, 32, "%.17g", value);
  char mark = decimal_mark();
  if (mark != '.')
    for (int k = 0; k < length; k++)
      if (buffer[k] == mark) buffer[k] = '.';
  return length;
}
