/* The test program: one function per test, registered by name in the table of its file, run with a name filter.
 *
 *   static void slides(fx_test *t) { CHECK(t, 1 + 1 == 2); CHECK_NEAR(t, x, 1.0, 1e-12); }
 *   const fx_test_row test_physics[] = {{"physics/slides", slides}, {0}};
 *
 * A file test/test_NAME.c brings the table test_NAME; the build finds it by that name. A failed check is counted and
 * the test goes on; REQUIRE leaves the function. */
#ifndef FX_TEST_H
#define FX_TEST_H

#include <stdbool.h>

typedef struct fx_test fx_test;

typedef struct fx_test_row {
  const char *name;
  void (*run)(fx_test *t);
} fx_test_row;

/* Reports a failed check with printf-like detail. */
void fx_test_fail(fx_test *t, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Marks the running test skipped, visibly, with the reason. */
void fx_test_skip(fx_test *t, const char *reason);
/* A measured figure, shown beside the test's name. */
void fx_test_note(fx_test *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Path of a file or folder under the shared data (../shared of the source tree), NULL with the test skipped where it is
 * absent. */
const char *fx_test_shared(fx_test *t, const char *relative);
/* Path of a file in a scratch folder removed when the program ends. */
const char *fx_test_scratch(fx_test *t, const char *name);
/* A reproducible random number in (-1, 1), seeded anew for every test. */
double fx_test_random(fx_test *t);

#define CHECK(t, condition) ((condition) ? (void)0 : fx_test_fail((t), __FILE__, __LINE__, "%s", #condition))
#define CHECK_NEAR(t, value, expected, tolerance)                                                               \
  do {                                                                                                          \
    double value_ = (value), expected_ = (expected), tolerance_ = (tolerance);                                  \
    if (!(value_ - expected_ <= tolerance_ && expected_ - value_ <= tolerance_))                                \
      fx_test_fail((t), __FILE__, __LINE__, "%s is %.17g, expected %.17g within %g", #value, value_, expected_, \
                   tolerance_);                                                                                 \
  } while (0)
#define REQUIRE(t, condition)                                  \
  do {                                                         \
    if (!(condition)) {                                        \
      fx_test_fail((t), __FILE__, __LINE__, "%s", #condition); \
      return;                                                  \
    }                                                          \
  } while (0)

#endif
