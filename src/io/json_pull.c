/* Strict JSON (RFC 8259), pulled value by value. */
#include "io/json_pull.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

void fx_pull_init(fx_pull *json, fx_draft *draft, const char *bytes, size_t count) {
  memset(json, 0, sizeof *json);
  json->draft = draft;
  json->at = bytes;
  json->end = bytes + count;
  json->line = 1;
  /* Some editors put a byte order mark in front. */
  if (count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) json->at += 3;
}

frix_status fx_pull_fail(fx_pull *json, const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return fx_fail(json->draft->context, FRIX_ERROR_FORMAT, "%s:%lld: %s", json->draft->name, (long long)json->line,
                 text);
}

/* The text at the current position, for a message. */
static fx_word found(const fx_pull *json) {
  const char *stop = json->at;
  while (stop < json->end && stop - json->at < 24 && !strchr(" \t\r\n,]}", *stop)) stop++;
  if (stop == json->at && stop < json->end) stop++;
  return json->at < json->end ? fx_word_of(json->at, (size_t)(stop - json->at)) : fx_word_of("end of file", 11);
}

static frix_status expected(fx_pull *json, const char *what) {
  return fx_pull_fail(json, "expected %s, found '%s'", what, found(json).text);
}

char fx_pull_peek(fx_pull *json) {
  while (json->at < json->end && (*json->at == ' ' || *json->at == '\t' || *json->at == '\r' || *json->at == '\n'))
    json->line += *json->at++ == '\n';
  return json->at < json->end ? *json->at : 0;
}

frix_status fx_pull_enter(fx_pull *json, char open) {
  if (fx_pull_peek(json) != open) return expected(json, open == '{' ? "an object '{'" : "an array '['");
  if (json->depth == FX_PULL_DEPTH) return fx_pull_fail(json, "nested deeper than %d levels", FX_PULL_DEPTH);
  json->open[json->depth] = open;
  json->begun[json->depth++] = false;
  json->at++;
  return FRIX_OK;
}

/* Passes the comma before the next member, or the bracket that ends the level. */
static frix_status next_member(fx_pull *json, bool *more) {
  char close = json->open[json->depth - 1] == '{' ? '}' : ']', c = fx_pull_peek(json);
  bool first = !json->begun[json->depth - 1];
  *more = c != close;
  if (c == close) {
    json->at++;
    json->depth--;
    return FRIX_OK;
  }
  json->begun[json->depth - 1] = true;
  if (first) return FRIX_OK;
  if (c != ',') return expected(json, close == '}' ? "',' or '}'" : "',' or ']'");
  json->at++;
  if (fx_pull_peek(json) == close) return fx_pull_fail(json, "a ',' before '%c'", close);
  return FRIX_OK;
}

frix_status fx_pull_element(fx_pull *json, bool *more) { return next_member(json, more); }

frix_status fx_pull_member(fx_pull *json, char *key, size_t size, bool *more) {
  frix_status status = next_member(json, more);
  if (status || !*more) return status;
  status = fx_pull_string(json, key, size);
  if (status) return status;
  if (fx_pull_peek(json) != ':') return expected(json, "':' after the key");
  json->at++;
  return FRIX_OK;
}

static const char *digits(const char *at, const char *end) {
  while (at < end && *at >= '0' && *at <= '9') at++;
  return at;
}

/* The end of the number at json->at, NULL where there is none by JSON's grammar; *whole: no fraction, no exponent. */
static const char *number_end(const fx_pull *json, bool *whole) {
  const char *at = json->at, *end = json->end, *start;
  if (at < end && *at == '-') at++;
  start = at;
  at = digits(at, end);
  if (at == start || (*start == '0' && at - start > 1)) return NULL;
  *whole = true;
  if (at < end && *at == '.') {
    *whole = false;
    start = ++at;
    at = digits(at, end);
    if (at == start) return NULL;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    *whole = false;
    at++;
    if (at < end && (*at == '+' || *at == '-')) at++;
    start = at;
    at = digits(at, end);
    if (at == start) return NULL;
  }
  return at;
}

frix_status fx_pull_real(fx_pull *json, const char *what, double *out) {
  fx_pull_peek(json);
  bool whole;
  const char *stop = number_end(json, &whole);
  if (!stop || !fx_parse_real(json->at, (size_t)(stop - json->at), out))
    return fx_pull_fail(json, "%s: expected a number, found '%s'", what, found(json).text);
  if (!isfinite(*out)) return fx_pull_fail(json, "%s: '%s' is not a finite number", what, found(json).text);
  json->at = stop;
  return FRIX_OK;
}

frix_status fx_pull_integer(fx_pull *json, const char *what, int64_t minimum, int64_t maximum, int64_t *out) {
  fx_pull_peek(json);
  bool whole = false;
  const char *stop = number_end(json, &whole), *at = json->at;
  bool negative = at < json->end && *at == '-';
  if (negative) at++;
  if (!stop || !whole || stop - at > 18)
    return fx_pull_fail(json, "%s: expected a whole number, found '%s'", what, found(json).text);
  int64_t value = 0;
  for (; at < stop; at++) value = 10 * value + (*at - '0');
  if (negative) value = -value;
  if (value < minimum || value > maximum)
    return fx_pull_fail(json, "%s is %lld, expected %lld to %lld", what, (long long)value, (long long)minimum,
                        (long long)maximum);
  json->at = stop;
  *out = value;
  return FRIX_OK;
}

size_t fx_utf8_length(const char *text, const char *end) {
  const unsigned char *s = (const unsigned char *)text;
  size_t length = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
  if (length == 0 || (size_t)(end - text) < length) return 0;
  for (size_t k = 1; k < length; k++)
    if ((s[k] & 0xC0) != 0x80) return 0;
  /* Overlong forms, surrogates, beyond U+10FFFF. */
  if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)) return 0;
  if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
  return length;
}

/* Four hexadecimal digits at json->at, passed; -1 where they are missing. */
static int32_t hex4(fx_pull *json) {
  if (json->end - json->at < 4) return -1;
  int32_t value = 0;
  for (int k = 0; k < 4; k++) {
    char c = *json->at++;
    int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
    if (digit < 0) return -1;
    value = 16 * value + digit;
  }
  return value;
}

static size_t encode_utf8(int32_t code, char out[4]) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  if (code < 0x800) {
    out[0] = (char)(0xC0 | code >> 6);
    out[1] = (char)(0x80 | (code & 0x3F));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = (char)(0xE0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3F));
    out[2] = (char)(0x80 | (code & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 | code >> 18);
  out[1] = (char)(0x80 | (code >> 12 & 0x3F));
  out[2] = (char)(0x80 | (code >> 6 & 0x3F));
  out[3] = (char)(0x80 | (code & 0x3F));
  return 4;
}

/* The character after a backslash, passed; its UTF-8 goes to out, 0 when it is no escape of JSON's. */
static size_t escape(fx_pull *json, char out[4]) {
  if (json->at == json->end) return 0;
  char c = *json->at++;
  const char *from = "\"\\/bfnrt", *to = "\"\\/\b\f\n\r\t", *place = c ? strchr(from, c) : NULL;
  if (place) {
    out[0] = to[place - from];
    return 1;
  }
  if (c != 'u') return 0;
  int32_t code = hex4(json);
  if (code >= 0xD800 && code < 0xDC00) {
    if (json->end - json->at < 2 || json->at[0] != '\\' || json->at[1] != 'u') return 0;
    json->at += 2;
    int32_t low = hex4(json);
    if (low < 0xDC00 || low > 0xDFFF) return 0;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code <= 0 || (code >= 0xDC00 && code <= 0xDFFF)) {
    return 0; /* a zero would cut the text short in C */
  }
  return encode_utf8(code, out);
}

frix_status fx_pull_string(fx_pull *json, char *out, size_t size) {
  if (fx_pull_peek(json) != '"') return expected(json, "a string");
  json->at++;
  size_t used = 0;
  bool room = true;
  while (json->at < json->end && *json->at != '"') {
    char bytes[4];
    const char *piece = json->at;
    size_t length;
    if (*json->at == '\\') {
      json->at++;
      length = escape(json, bytes);
      piece = bytes;
      if (length == 0) return fx_pull_fail(json, "bad escape in a string");
    } else if ((unsigned char)*json->at < 0x20) {
      return fx_pull_fail(json, "control character in a string");
    } else {
      length = fx_utf8_length(json->at, json->end);
      if (length == 0) return fx_pull_fail(json, "a string is not UTF-8");
      json->at += length;
    }
    room = room && used + length < size;
    if (room) {
      memcpy(out + used, piece, length);
      used += length;
    }
  }
  if (size) out[used] = 0;
  if (json->at == json->end) return fx_pull_fail(json, "a string does not end");
  json->at++;
  return FRIX_OK;
}

static frix_status skip_word(fx_pull *json, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0) return expected(json, "a value");
  json->at += length;
  return FRIX_OK;
}

/* One value that is no array and no object. */
static frix_status skip_scalar(fx_pull *json, char c) {
  char none[1];
  bool whole;
  if (c == '"') return fx_pull_string(json, none, sizeof none);
  if (c == 't') return skip_word(json, "true");
  if (c == 'f') return skip_word(json, "false");
  if (c == 'n') return skip_word(json, "null");
  const char *stop = number_end(json, &whole);
  if (!stop) return expected(json, "a value");
  json->at = stop;
  return FRIX_OK;
}

frix_status fx_pull_skip(fx_pull *json) {
  int outside = json->depth;
  frix_status status = FRIX_OK;
  do {
    char c = fx_pull_peek(json);
    status = c == '{' || c == '[' ? fx_pull_enter(json, c) : skip_scalar(json, c);
    /* After a value: leave the levels that end here; stop before the next value. */
    bool more = false;
    while (!status && !more && json->depth > outside) {
      char key[1];
      status = json->open[json->depth - 1] == '{' ? fx_pull_member(json, key, sizeof key, &more)
                                                  : fx_pull_element(json, &more);
    }
  } while (!status && json->depth > outside);
  return status;
}

frix_status fx_pull_end(fx_pull *json) {
  return fx_pull_peek(json) == 0 && json->at == json->end ? FRIX_OK : expected(json, "nothing more");
}

int64_t fx_pull_bound(const fx_pull *json) {
  int64_t commas = 0;
  int depth = 0;
  for (const char *at = json->at; at < json->end && *at != '"'; at++) {
    commas += *at == ',';
    depth += (*at == '[') - (*at == ']');
    if (depth == 0 && *at == ']') break;
  }
  return commas + 1;
}
