/* frix batch: rows that depend on seed and run alone, shards that become one table, interrupted calls that go on. */
#include <stdlib.h>
#include <string.h>

#include "shell.h"

#define SWEEP "$frix batch stack --set n=3 --runs 20 --vary mu=0.1:1 --seed 5 --time 0.1 --quiet "

static void same_rows(fx_test *t) {
  shell_result r = shell(t, SWEEP "--out one.csv && " SWEEP
                                  "--threads 4 --out many.csv && cmp one.csv many.csv && "
                                  "for k in 1 2 3; do " SWEEP
                                  "--shard $k/3 --out part_$k.csv || exit 9; done && "
                                  "$frix batch --merge part_3.csv part_1.csv part_2.csv --out merged.csv && "
                                  "cmp one.csv merged.csv && wc -l <one.csv");
  CHECK(t, r.code == 0 && atoi(r.out) == 22);
  if (r.code) fx_test_fail(t, __FILE__, __LINE__, "%s%s", r.out, r.err);
  shell_free(&r);
}

/* A call that was killed left rows and half a line: the rest is done, nothing twice. */
static void resumes(fx_test *t) {
  shell_result r = shell(t, SWEEP
                         "--out whole.csv && head -9 whole.csv >cut.csv.part && printf '7,0.3,1' >>cut.csv.part "
                         "&& " SWEEP "--resume --out cut.csv && cmp whole.csv cut.csv && test ! -e cut.csv.part");
  CHECK(t, r.code == 0);
  if (r.code) fx_test_fail(t, __FILE__, __LINE__, "%s%s", r.out, r.err);
  shell_free(&r);
  r = shell(t, "head -5 whole.csv >other.csv.part; $frix batch stack --runs 3 --resume --out other.csv");
  CHECK(t, r.code == 2 && strstr(r.err, "another batch"));
  shell_free(&r);
}

static void columns(fx_test *t) {
  shell_result r = shell(t, SWEEP "--out runs.npz && unzip -l runs.npz 2>/dev/null || ls -l runs.npz");
  CHECK(t, r.code == 0);
  shell_free(&r);
#ifdef FRIX_PYTHON3
  r = shell(t, SWEEP
            "--out again.csv && " FRIX_PYTHON3
            " -c \""
            "import numpy as np; a = np.load('runs.npz'); b = np.genfromtxt('again.csv', delimiter=',', names=True, "
            "skip_header=1, deletechars=''); assert set(a.files) == set(b.dtype.names), (a.files, b.dtype.names); "
            "assert all(np.array_equal(a[k], b[k]) for k in a.files); assert (a['mu'] >= 0.1).all(); "
            "assert (a['certified'] == a['steps']).all()\"");
  CHECK(t, r.code == 0);
  if (r.code) fx_test_fail(t, __FILE__, __LINE__, "%s%s", r.out, r.err);
  shell_free(&r);
#endif
}

static void refuses(fx_test *t) {
  static const char *const wrong[] = {"batch stack --runs 2",
                                      "batch stack --vary nu=0:1 --out x.csv",
                                      "batch stack --vary mu=1:0 --out x.csv",
                                      "batch stack --vary mu=0:99 --out x.csv",
                                      "batch stack --shard 3/2 --out x.csv",
                                      "batch nothing --out x.csv",
                                      "batch --merge absent.csv --out x.csv"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    shell_result r = shell(t, "$frix %s", wrong[k]);
    CHECK(t, r.code == 2 && strlen(r.err) > 10);
    if (r.code != 2) fx_test_fail(t, __FILE__, __LINE__, "%s: exit code %d", wrong[k], r.code);
    shell_free(&r);
  }
}

const fx_test_row test_batch_command[] = {{"batch_command/same_rows", same_rows},
                                          {"batch_command/resumes", resumes},
                                          {"batch_command/columns", columns},
                                          {"batch_command/refuses", refuses},
                                          {0}};
