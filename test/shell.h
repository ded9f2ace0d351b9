/* Running commands from tests: exit code, both outputs, time. */
#ifndef FX_TEST_SHELL_H
#define FX_TEST_SHELL_H

#include "test.h"

typedef struct shell_result {
  int code;
  double seconds;
  char *out, *err; /* what was printed, never NULL */
} shell_result;

/* Runs a shell command in a scratch folder of the test; $frix is the command under test. */
shell_result shell(fx_test *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void shell_free(shell_result *result);
/* Whole file as text, "" where it cannot be read; free it. */
char *shell_read(const char *path);
/* Number of lines. */
int shell_lines(const char *text);
/* Whether the text is exactly one JSON value and white space. */
bool shell_json(const char *text);

#endif
