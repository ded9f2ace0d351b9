/* JSON on one line: keys in the order written, strings escaped and valid UTF-8, numbers that read back to the same
 * double, null where a number is not finite. The command never sets a locale, so printf writes a point. */
#include "app.h"

#include <inttypes.h>
#include <math.h>

/* Length of the valid UTF-8 sequence at s, 0 when there is none. */
static int sequence_length(const unsigned char *s) {
  if (s[0] < 0x80) return 1;
  int length = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
  for (int k = 1; k < length; k++)
    if ((s[k] & 0xc0) != 0x80) return 0;
  if (s[0] == 0xe0 && s[1] < 0xa0) return 0; /* overlong */
  if (s[0] == 0xed && s[1] > 0x9f) return 0; /* surrogate */
  if (s[0] == 0xf0 && s[1] < 0x90) return 0; /* overlong */
  if (s[0] == 0xf4 && s[1] > 0x8f) return 0; /* beyond the last code point */
  return length;
}

static void put_text(FILE *file, const char *text) {
  putc('"', file);
  for (const unsigned char *c = (const unsigned char *)text; *c;) {
    int length = sequence_length(c);
    if (length == 0) {
      fputs("\\ufffd", file);
      c++;
    } else if (*c == '"' || *c == '\\') {
      fprintf(file, "\\%c", *c++);
    } else if (*c < 32 || *c == 127) {
      fprintf(file, "\\u%04x", *c++);
    } else {
      while (length-- > 0) putc(*c++, file);
    }
  }
  putc('"', file);
}

static void put_key(fx_json *json, const char *key) {
  if (json->comma) fputs(", ", json->file);
  json->comma = true;
  if (!key) return;
  put_text(json->file, key);
  fputs(": ", json->file);
}

void fx_put_open(fx_json *json, const char *key, char bracket) {
  put_key(json, key);
  putc(bracket, json->file);
  json->comma = false;
}

void fx_put_close(fx_json *json, char bracket) {
  putc(bracket, json->file);
  json->comma = true;
}

void fx_put_text(fx_json *json, const char *key, const char *text) {
  put_key(json, key);
  if (text) {
    put_text(json->file, text);
  } else {
    fputs("null", json->file);
  }
}

void fx_put_real(fx_json *json, const char *key, double value) {
  put_key(json, key);
  if (isfinite(value)) {
    fprintf(json->file, "%.17g", value);
  } else {
    fputs("null", json->file);
  }
}

void fx_put_integer(fx_json *json, const char *key, int64_t value) {
  put_key(json, key);
  fprintf(json->file, "%" PRId64, value);
}

void fx_put_boolean(fx_json *json, const char *key, bool value) {
  put_key(json, key);
  fputs(value ? "true" : "false", json->file);
}

void fx_put_end_line(fx_json *json) {
  putc('\n', json->file);
  json->comma = false;
}
