/* The test program tests itself: scratch files, random numbers, exit codes. */
#include "shell.h"

#include <stdio.h>
#include <string.h>

static void scratch_files(fx_test *t) {
  const char *path = fx_test_scratch(t, "file.txt");
  FILE *file = fopen(path, "w");
  REQUIRE(t, file != NULL);
  CHECK(t, fputs("text", file) >= 0 && fclose(file) == 0);
  CHECK(t, strcmp(path, fx_test_scratch(t, "file.txt")) == 0);
}

static void random_numbers(fx_test *t) {
  double sum = 0, low = 1, high = -1;
  for (int k = 0; k < 10000; k++) {
    double x = fx_test_random(t);
    sum += x;
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  CHECK(t, low > -1 && high < 1 && low < -0.99 && high > 0.99);
  CHECK_NEAR(t, sum / 10000, 0, 0.03);
}

/* Skipped is not passed, and neither is nothing. */
static void exit_codes(fx_test *t) {
  static const struct {
    const char *filter;
    int code;
  } row[] = {
      {"harness/random_numbers", 0}, {"io/shared_files", 77}, {"harness/random io/shared_files", 0}, {"nosuch", 1}};
  for (int k = 0; k < 4; k++) {
    shell_result r = shell(t, "FRIX_SHARED=/nowhere '%s/frix_test' %s", FRIX_BINARY_DIR, row[k].filter);
    if (r.code != row[k].code)
      fx_test_fail(t, __FILE__, __LINE__, "%s: exit code %d, not %d", row[k].filter, r.code, row[k].code);
    shell_free(&r);
  }
}

const fx_test_row test_harness[] = {{"harness/scratch_files", scratch_files},
                                    {"harness/random_numbers", random_numbers},
                                    {"harness/exit_codes", exit_codes},
                                    {0}};
