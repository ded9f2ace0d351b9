/* Running commands from tests, and a strict JSON checker that shares no code with the readers. */
#include "shell.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

char *shell_read(const char *path) {
  FILE *file = fopen(path, "rb");
  size_t count = 0, room = 1 << 16;
  char *text = malloc(room);
  while (file && text) {
    size_t read = fread(text + count, 1, room - count - 1, file);
    count += read;
    if (read == 0) break;
    if (room - count < 2) text = realloc(text, room *= 2);
  }
  if (file) fclose(file);
  if (!text) abort();
  text[count] = 0;
  return text;
}

int shell_lines(const char *text) {
  int count = 0;
  for (; *text; text++) count += *text == '\n';
  return count;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

shell_result shell(fx_test *t, const char *format, ...) {
  shell_result result = {0};
  char command[8192], folder[4096];
  const char *out = fx_test_scratch(t, ".stdout"), *err = fx_test_scratch(t, ".stderr");
  snprintf(folder, sizeof folder, "%s", out);
  *strrchr(folder, '/') = 0;
  int used =
      snprintf(command, sizeof command, "cd '%s' && frix=\"${FRIX_COMMAND:-%s/frix}\" && { ", folder, FRIX_BINARY_DIR);
  va_list list;
  va_start(list, format);
  used += vsnprintf(command + used, sizeof command - (size_t)used, format, list);
  va_end(list);
  snprintf(command + used, sizeof command - (size_t)used, "\n} >.stdout 2>.stderr </dev/null");
  double start = now();
  int status = system(command);
  result.seconds = now() - start;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  result.out = shell_read(out);
  result.err = shell_read(err);
  return result;
}

void shell_free(shell_result *result) {
  free(result->out);
  free(result->err);
  memset(result, 0, sizeof *result);
}

/* ---- JSON (RFC 8259) */

static const char *skip_blank(const char *c) { return c + strspn(c, " \t\r\n"); }

static const char *json_string(const char *c) {
  if (*c++ != '"') return NULL;
  for (; *c != '"'; c++) {
    if ((unsigned char)*c < 32) return NULL;
    if (*c != '\\') continue;
    c++;
    if (*c == 'u') {
      if (strspn(c + 1, "0123456789abcdefABCDEF") < 4) return NULL;
      c += 4;
    } else if (!*c || !strchr("\"\\/bfnrt", *c)) {
      return NULL;
    }
  }
  return c + 1;
}

static const char *json_number(const char *c) {
  static const char digits[] = "0123456789";
  c += *c == '-';
  size_t n = strspn(c, digits);
  if (n == 0 || (n > 1 && *c == '0')) return NULL;
  c += n;
  if (*c == '.') {
    n = strspn(++c, digits);
    if (n == 0) return NULL;
    c += n;
  }
  if (*c == 'e' || *c == 'E') {
    c++;
    c += *c == '+' || *c == '-';
    n = strspn(c, digits);
    if (n == 0) return NULL;
    c += n;
  }
  return c;
}

static const char *json_value(const char *c, int depth);

/* Members of an object or an array, after its bracket. */
static const char *json_members(const char *c, char close, int depth) {
  c = skip_blank(c);
  if (*c == close) return c + 1;
  for (;;) {
    if (close == '}') {
      c = json_string(skip_blank(c));
      if (!c) return NULL;
      c = skip_blank(c);
      if (*c++ != ':') return NULL;
    }
    c = json_value(c, depth + 1);
    if (!c) return NULL;
    c = skip_blank(c);
    if (*c == close) return c + 1;
    if (*c++ != ',') return NULL;
  }
}

static const char *json_value(const char *c, int depth) {
  c = skip_blank(c);
  if (depth > 100) return NULL;
  if (*c == '{') return json_members(c + 1, '}', depth);
  if (*c == '[') return json_members(c + 1, ']', depth);
  if (*c == '"') return json_string(c);
  if (!strncmp(c, "true", 4) || !strncmp(c, "null", 4)) return c + 4;
  if (!strncmp(c, "false", 5)) return c + 5;
  return json_number(c);
}

bool shell_json(const char *text) {
  const char *end = json_value(text, 0);
  return end && !*skip_blank(end);
}
