/* Option rows: parsing and suggestions. */
#include "base/option.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

static frix_status parse_choice(frix_context *context, const frix_option_info *row, const char *full_name,
                                const char *text, double *out) {
  size_t length = strlen(text);
  int index = 0;
  for (const char *at = row->choices; at; index++) {
    const char *bar = strchr(at, '|');
    size_t size = bar ? (size_t)(bar - at) : strlen(at);
    if (size == length && strncmp(at, text, size) == 0) {
      *out = index;
      return FRIX_OK;
    }
    at = bar ? bar + 1 : NULL;
  }
  return fx_fail(context, FRIX_ERROR_INPUT, "option %s: '%s' is not one of %s", full_name, text, row->choices);
}

static frix_status parse_boolean(frix_context *context, const char *full_name, const char *text, double *out) {
  static const char *const yes[] = {"true", "yes", "on", "1"};
  static const char *const no[] = {"false", "no", "off", "0"};
  for (size_t k = 0; k < 4; k++) {
    if (strcmp(text, yes[k]) == 0 || strcmp(text, no[k]) == 0) {
      *out = strcmp(text, yes[k]) == 0;
      return FRIX_OK;
    }
  }
  return fx_fail(context, FRIX_ERROR_INPUT, "option %s: '%s' is not true or false", full_name, text);
}

frix_status fx_option_parse(frix_context *context, const frix_option_info *row, const char *full_name, const char *text,
                            double *out) {
  if (row->kind == FRIX_OPTION_CHOICE) return parse_choice(context, row, full_name, text, out);
  if (row->kind == FRIX_OPTION_BOOLEAN) return parse_boolean(context, full_name, text, out);
  double value = 0;
  if (!fx_parse_real(text, strlen(text), &value) || !isfinite(value))
    return fx_fail(context, FRIX_ERROR_INPUT, "option %s: '%s' is not a number", full_name, text);
  if (row->kind == FRIX_OPTION_INTEGER && value != floor(value))
    return fx_fail(context, FRIX_ERROR_INPUT, "option %s: '%s' is not a whole number", full_name, text);
  if (value < row->minimum || value > row->maximum)
    return fx_fail(context, FRIX_ERROR_INPUT, "option %s: %s is outside %g to %g", full_name, text, row->minimum,
                   row->maximum);
  *out = value;
  return FRIX_OK;
}

int fx_text_distance(const char *a, const char *b) {
  enum { LONGEST = 63 };
  int row[LONGEST + 1];
  size_t m = strlen(a), n = strlen(b);
  if (m > LONGEST || n > LONGEST) return m > n ? (int)m : (int)n;
  for (size_t j = 0; j <= n; j++) row[j] = (int)j;
  for (size_t i = 1; i <= m; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= n; j++) {
      int change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      int step = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
      row[j] = change < step ? change : step;
    }
  }
  return row[n];
}
