/* The Python package: docstrings, examples, views, answers, environments, pages, and calls that make no sense. */
#include "shell.h"

#include <stdio.h>
#include <string.h>

/* Runs a program with the package of this build; its last line is shown beside the test's name. */
static void python(fx_test *t, const char *program, const char *arguments) {
#if !defined(FRIX_PYTHON3)
  (void)program, (void)arguments;
  fx_test_skip(t, "the Python package is off: ./dev setup --python");
#elif defined(FRIX_SANITIZED)
  (void)program, (void)arguments;
  fx_test_skip(t, "Python itself is not sanitized: tools/check_python_memory");
#else
  shell_result r = shell(t, "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='%s/python' '%s' '%s/%s' %s", FRIX_BINARY_DIR,
                         FRIX_PYTHON3, FRIX_SOURCE_DIR, program, arguments);
  CHECK(t, r.code == 0);
  if (r.code != 0) fx_test_fail(t, __FILE__, __LINE__, "%s: %s%s", program, r.out, r.err);
  size_t length = strlen(r.out);
  if (length && r.out[length - 1] == '\n') r.out[length - 1] = 0;
  const char *last = strrchr(r.out, '\n');
  if (r.code == 0) fx_test_note(t, "%s", last ? last + 1 : r.out);
  shell_free(&r);
#endif
}

static void doctests(fx_test *t) { python(t, "test/python/doctests.py", ""); }
static void views(fx_test *t) { python(t, "test/python/views.py", ""); }
static void environment(fx_test *t) { python(t, "test/python/environment.py", ""); }
static void page(fx_test *t) { python(t, "test/python/page.py", "."); }
static void fuzz(fx_test *t) { python(t, "test/python/fuzz.py", "2"); }
static void stubs(fx_test *t) { python(t, "test/python/stubs.py", ""); }
static void extension(fx_test *t) { python(t, "test/python/extension.py", ""); }
static void cart_pole(fx_test *t) { python(t, "python/examples/cart_pole.py", ""); }
static void push(fx_test *t) { python(t, "python/examples/push.py", ""); }
static void grasp(fx_test *t) { python(t, "python/examples/grasp.py", ""); }
static void identify(fx_test *t) { python(t, "python/examples/identify.py", ""); }

static void solve(fx_test *t) {
  const char *folder = fx_test_shared(t, "problems/contact");
  if (!folder) return;
  char arguments[1024];
  snprintf(arguments, sizeof arguments, "'%s/frix' '%s' .", FRIX_BINARY_DIR, folder);
  python(t, "test/python/solve.py", arguments);
}

const fx_test_row test_python[] = {{"python/doctests", doctests},
                                   {"python/views", views},
                                   {"python/environment", environment},
                                   {"python/page", page},
                                   {"python/fuzz", fuzz},
                                   {"python/extension", extension},
                                   {"python/stubs", stubs},
                                   {"python/cart_pole", cart_pole},
                                   {"python/push", push},
                                   {"python/grasp", grasp},
                                   {"python/identify", identify},
                                   {"python/solve_files", solve},
                                   {0}};
