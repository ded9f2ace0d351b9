/* The house itself: what the shared library exports, and strangers' projects against an installed tree. */
#include <stdio.h>
#include <string.h>

#include "shell.h"

/* Every symbol nm lists begins with frix_. */
static void check_symbols(fx_test *t, const char *command, const char *library) {
  shell_result r = shell(t, "command -v nm >/dev/null || exit 77; %s '%s'", command, library);
  if (r.code == 77) {
    fx_test_skip(t, "nm is not installed");
  } else {
    CHECK(t, r.code == 0);
    int count = 0;
    for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n")) {
      const char *name = strrchr(line, ' ');
      if (!name) continue; /* the name of an archive member */
      bool ours = !strncmp(name + 1, "frix_", 5);
      if (!ours) fx_test_fail(t, __FILE__, __LINE__, "exported: %s", line);
      count += ours;
    }
    CHECK(t, count > 20);
    fx_test_note(t, "%d symbols", count);
  }
  shell_free(&r);
}

static void exports_shared(fx_test *t) { check_symbols(t, "nm -D --defined-only", FRIX_SHARED_LIBRARY); }

static void exports_static(fx_test *t) {
#ifdef FRIX_SANITIZED
  fx_test_skip(t, "a plain archive under sanitizers");
#else
  check_symbols(t, "command -v objcopy >/dev/null || exit 77; nm -g --defined-only", FRIX_STATIC_LIBRARY);
#endif
}

/* Functions of libm whose last bit differs from machine to machine are called nowhere: base/trig.h has its own. */
static void no_libm(fx_test *t) {
  shell_result r =
      shell(t,
            "cd '%s' && grep -rn --include='*.[ch]' '(' src | sed 's|/\\*.*||; /:[0-9]*: \\*/d' |"
            " grep -E '[^a-zA-Z0-9_.>](a?(sin|cos|tan)h?|atan2|exp(2|m1)?|log(2|10|1p)?|pow|cbrt|hypot|fma)"
            "f?l?\\('",
            FRIX_SOURCE_DIR);
  CHECK(t, r.code == 1); /* grep found nothing */
  if (r.code != 1) fx_test_fail(t, __FILE__, __LINE__, "%s%s", r.out, r.err);
  shell_free(&r);
}

/* What the library is linked with, directly and through others, is known and listed in NOTICE. */
static void dependencies(fx_test *t) {
  static const char *const known[] = {"libc.so",      "libm.so",     "libpthread.so", "libdl.so",    "ld-linux",
                                      "linux-vdso",   "libqhull_r",  "libexpat",      "libzstd",     "libnlopt",
                                      "libstdc++.so", "libgcc_s.so", "libasan.so",    "libubsan.so", "libtsan.so"};
  enum { ALWAYS = 9 }; /* the rest: with NLopt, and under sanitizers */
#if defined(FRIX_SANITIZED) || defined(FRIX_HAVE_NLOPT)
  int count = sizeof known / sizeof *known;
#else
  int count = ALWAYS;
#endif
  shell_result r = shell(t, "command -v ldd >/dev/null || exit 77; ldd '%s'", FRIX_SHARED_LIBRARY);
  if (r.code == 77) fx_test_skip(t, "ldd is not installed");
  for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n")) {
    bool found = false;
    for (int k = 0; k < count; k++) found = found || strstr(line, known[k]);
    if (!found) fx_test_fail(t, __FILE__, __LINE__, "linked with%s", line);
  }
  shell_free(&r);
}

#ifdef FRIX_HAVE_HDF5
/* HDF5 files: through the module where it is found, refused with its name where it is not or is not frix's. */
static void module(fx_test *t) {
  static const char *const text[] = {"frix-hdf5.so", "another version"};
  shell_result r = shell(t, "$frix example slope --out slope.hdf5 && $frix info slope.hdf5");
  CHECK(t, r.code == 0);
  shell_free(&r);
  for (int foreign = 0; foreign < 2; foreign++) {
    r = shell(t,
              "mkdir alone%d && cp \"$frix\" alone%d/frix && if test %d = 1; then echo 'int frix_other;' |"
              " ${CC:-cc} -shared -fPIC -x c - -o alone%d/frix-hdf5.so; fi; alone%d/frix info slope.hdf5",
              foreign, foreign, foreign, foreign, foreign);
    CHECK(t, r.code == 2 && strstr(r.err, text[foreign]));
    shell_free(&r);
  }
}
#endif

/* Installs once per test; false with the test skipped or failed. */
static bool install(fx_test *t) {
#ifdef FRIX_SANITIZED
  fx_test_skip(t, "a sanitized library needs a sanitized consumer");
  return false;
#endif
  shell_result r = shell(t, "cmake --install '%s' --prefix \"$PWD/tree\"", FRIX_BINARY_DIR);
  bool good = r.code == 0;
  if (!good) fx_test_fail(t, __FILE__, __LINE__, "install: %s", r.err);
  shell_free(&r);
  return good;
}

static void installed_files(fx_test *t) {
  if (!install(t)) return;
  shell_result r = shell(
      t,
      "cd tree && test -x bin/frix && test -f include/frix/frix.h && test -f share/man/man1/frix.1 &&"
      " test -s share/bash-completion/completions/frix && test -s share/zsh/site-functions/_frix &&"
      " test -e lib*/libfrix.so && test -e lib*/libfrix.a && test -s share/doc/frix/NOTICE && bin/frix --version");
  CHECK(t, r.code == 0);
  CHECK(t, strstr(r.out, "frix ") == r.out);
  shell_free(&r);
#ifdef FRIX_HAVE_HDF5
  r = shell(t, "mv tree moved && moved/bin/frix example slope --out x.hdf5 && moved/bin/frix info x.hdf5");
  CHECK(t, r.code == 0);
  shell_free(&r);
#endif
}

static void consumer_cmake(fx_test *t) {
  if (!install(t)) return;
  shell_result r =
      shell(t,
            "cmake -S '%s/test/consumer' -B build -DCMAKE_PREFIX_PATH=\"$PWD/tree\" && cmake --build build &&"
            " build/consumer && if test -e build/consumer_static; then build/consumer_static; fi",
            FRIX_SOURCE_DIR);
  CHECK(t, r.code == 0);
  CHECK(t, strstr(r.out, "solved") != NULL);
  if (r.code) fx_test_fail(t, __FILE__, __LINE__, "%s%s", r.out, r.err);
  shell_free(&r);
}

static void consumer_pkg_config(fx_test *t) {
  if (!install(t)) return;
  shell_result r =
      shell(t,
            "command -v pkg-config >/dev/null || exit 77; mv tree moved;"
            " PKG_CONFIG_PATH=$(echo \"$PWD\"/moved/lib*/pkgconfig); export PKG_CONFIG_PATH;"
            " dir=$(pkg-config --variable=libdir frix) &&"
            " ${CC:-cc} -std=c17 '%s/test/consumer/consumer.c' $(pkg-config --cflags --libs frix) -o shared &&"
            " LD_LIBRARY_PATH=$dir ./shared &&"
            " ${CC:-cc} -std=c17 '%s/test/consumer/consumer.c' $(pkg-config --cflags frix) \"$dir/libfrix.a\""
            " $(pkg-config --libs --static frix) -o static && LD_LIBRARY_PATH=$dir ./static",
            FRIX_SOURCE_DIR, FRIX_SOURCE_DIR);
  if (r.code == 77) {
    fx_test_skip(t, "pkg-config is not installed");
  } else {
    CHECK(t, r.code == 0);
    if (r.code) fx_test_fail(t, __FILE__, __LINE__, "%s%s", r.out, r.err);
  }
  shell_free(&r);
}

static void layers(fx_test *t) {
  shell_result r = shell(t, "'%s/tools/check_layers'", FRIX_SOURCE_DIR);
  CHECK(t, r.code == 0);
  if (r.code) fx_test_fail(t, __FILE__, __LINE__, "%s%s", r.out, r.err);
  shell_free(&r);
}

const fx_test_row test_house[] = {{"house/exports_shared", exports_shared},
                                  {"house/no_libm", no_libm},
                                  {"house/exports_static", exports_static},
                                  {"house/dependencies", dependencies},
#ifdef FRIX_HAVE_HDF5
                                  {"house/module", module},
#endif
                                  {"house/installed_files", installed_files},
                                  {"house/consumer_cmake", consumer_cmake},
                                  {"house/consumer_pkg_config", consumer_pkg_config},
                                  {"house/layers", layers},
                                  {0}};
