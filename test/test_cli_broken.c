/* Broken inputs through the command: exit code 2, one line that names the file, nothing on stdout, under a second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

typedef struct broken {
  const char *file;  /* name in the scratch folder */
  const char *setup; /* shell line that makes it, in terms of $f; NULL: it is missing */
} broken;

/* A good one-contact problem in each format, which the rows below spoil. */
#define TEXT_HEAD "3 1 0 3 3 3 3 1 0 0 0 1 0 0 0 1 "
#define JSON_GOOD "{\"format\": \"frix-problem-1\", \"contacts\": [{\"cone\": \"circular\", \"mu\": 0.5}], "
#define JSON_W "\"W\": {\"rows\": 3, \"cols\": 3, \"entries\": [[0,0,1],[1,1,1],[2,2,1]]}, "

static const broken text_rows[] = {
    {"missing.dat", NULL},
    {"folder.dat", "mkdir $f"},
    {"empty.dat", ": > $f"},
    {"blank.dat", "echo > $f"},
    {"garbage.dat", "echo these are no numbers > $f"},
    {"binary.dat", "head -c 4096 /dev/urandom > $f"},
    {"zeros.dat", "head -c 4096 /dev/zero > $f"},
    {"short.dat", "echo '" TEXT_HEAD "-1 2' > $f"},
    {"nan.dat", "echo '" TEXT_HEAD "nan 2 0 0.5' > $f"},
    {"infinite.dat", "echo '" TEXT_HEAD "-1 inf 0 0.5' > $f"},
    {"negative_mu.dat", "echo '" TEXT_HEAD "-1 2 0 -0.5' > $f"},
    {"word.dat", "echo '" TEXT_HEAD "-1 two 0 0.5' > $f"},
    {"dimension.dat", "echo '7 1 0 3 3 3 3 1 0 0 0 1 0 0 0 1 -1 2 0 0.5' > $f"},
    {"no_contacts.dat", "echo '3 -4 0 3 3 3 3 1 0 0 0 1 0 0 0 1 -1 2 0 0.5' > $f"},
    {"sizes.dat", "echo '3 2 0 3 3 3 3 1 0 0 0 1 0 0 0 1 -1 2 0 0.5' > $f"},
    {"storage.dat", "echo '3 1 9 3 3 3 3 1 0 0 0 1 0 0 0 1 -1 2 0 0.5' > $f"},
    {"huge.dat", "echo '3 400000000 0 1200000000 1200000000 1200000000 1200000000 1 0 0' > $f"},
    {"overflow.dat", "echo '3 99999999999999999999 0 3 3 3 3 1' > $f"},
    {"index.dat",
     "printf '3 1 2 3 3\\n1\\nCSparse Version 3\\ntriplet: 3-by-3, nzmax: 1 nnz: 1\\n7 0 : 1\\n-1 2 0 0.5\\n' > $f"},
    {0},
};

static const broken json_rows[] = {
    {"open.json", "echo '{' > $f"},
    {"array.json", "echo '[]' > $f"},
    {"nothing.json", "echo '{}' > $f"},
    {"cut.json", "$frix example slope --out good.json; head -c 700 good.json > $f"},
    {"nan.json", "echo '" JSON_GOOD JSON_W "\"q\": [NaN, 2, 0]}' > $f"},
    {"large.json", "echo '" JSON_GOOD JSON_W "\"q\": [1e999, 2, 0]}' > $f"},
    {"length.json", "echo '" JSON_GOOD JSON_W "\"q\": [-1, 2]}' > $f"},
    {"index.json",
     "echo '" JSON_GOOD "\"W\": {\"rows\": 3, \"cols\": 3, \"entries\": [[5,0,1]]}, \"q\": [-1, 2, 0]}' > $f"},
    {"key.json", "echo '" JSON_GOOD JSON_W "\"Q\": [-1, 2, 0]}' > $f"},
    {"twice.json", "echo '" JSON_GOOD JSON_W "\"q\": [-1, 2, 0], \"q\": [-1, 2, 0]}' > $f"},
    {"cone.json", "echo '{\"format\": \"frix-problem-1\", \"contacts\": [{\"cone\": \"square\", \"mu\": 0.5}], " JSON_W
                  "\"q\": [-1, 2, 0]}' > $f"},
    {"mu.json", "echo '{\"format\": \"frix-problem-1\", \"contacts\": [{\"cone\": \"circular\", \"mu\": -1}], " JSON_W
                "\"q\": [-1, 2, 0]}' > $f"},
    {"count.json",
     "echo '{\"format\": \"frix-problem-1\", \"contacts\": [{\"cone\": \"circular\", \"mu\": 1, \"count\": "
     "400000000}], " JSON_W "\"q\": [-1, 2, 0]}' > $f"},
    {"deep.json", "head -c 100000 /dev/zero | tr '\\0' '[' > $f"},
    {0},
};

static const broken fclib_rows[] = {
    {"head.hdf5", "head -c 8 good.hdf5 > $f"},
    {"quarter.hdf5", "head -c $(($(wc -c < good.hdf5) / 4)) good.hdf5 > $f"},
    {"half.hdf5", "head -c $(($(wc -c < good.hdf5) / 2)) good.hdf5 > $f"},
    {"most.hdf5", "head -c $(($(wc -c < good.hdf5) - 100)) good.hdf5 > $f"},
    {"noise.hdf5", "{ head -c 600 good.hdf5; head -c 3000 /dev/urandom; } > $f"},
    {"text.hdf5", "echo no HDF5 here > $f"},
    {0},
};

static void check_rows(fx_test *t, const broken *rows) {
  double slowest = 0;
  int count = 0;
  for (; rows->file; rows++, count++) {
    shell_result made = shell(t, "f=%s; %s", rows->file, rows->setup ? rows->setup : ":");
    CHECK(t, made.code == 0);
    shell_free(&made);
    shell_result r = shell(t, "$frix solve %s --out out.json --json", rows->file);
    if (r.code != 2 || r.out[0] || shell_lines(r.err) != 1 || !strstr(r.err, rows->file))
      fx_test_fail(t, __FILE__, __LINE__, "%s: exit code %d, stdout '%s', stderr '%s'", rows->file, r.code, r.out,
                   r.err);
    if (r.seconds > 1) fx_test_fail(t, __FILE__, __LINE__, "%s took %.2f s", rows->file, r.seconds);
    slowest = r.seconds > slowest ? r.seconds : slowest;
    shell_free(&r);
    shell_result left = shell(t, "test ! -e out.json");
    CHECK(t, left.code == 0);
    shell_free(&left);
  }
  fx_test_note(t, "%d inputs, slowest %.0f ms", count, slowest * 1e3);
}

static void text(fx_test *t) { check_rows(t, text_rows); }
static void json(fx_test *t) { check_rows(t, json_rows); }

static void fclib(fx_test *t) {
#ifdef FRIX_HAVE_HDF5
  shell_result r = shell(t, "$frix example wall --out good.hdf5");
  CHECK(t, r.code == 0);
  shell_free(&r);
  check_rows(t, fclib_rows);
#else
  (void)fclib_rows;
  fx_test_skip(t, "built without HDF5");
#endif
}

/* The other verbs that read refuse in the same way. */
static void other_verbs(fx_test *t) {
  static const char *const commands[] = {"info bad.json", "convert bad.json out.json",
                                         "certify good.json --solution bad.json", "solve good.json --guess bad.json"};
  shell_result r = shell(t, "$frix example slope --out good.json; echo '{\"r\": [1, ' > bad.json");
  CHECK(t, r.code == 0);
  shell_free(&r);
  for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
    r = shell(t, "$frix %s && exit 9 || code=$?; test ! -e out.json && exit $code", commands[k]);
    if (r.code != 2 || r.out[0] || shell_lines(r.err) != 1 || !strstr(r.err, "bad.json"))
      fx_test_fail(t, __FILE__, __LINE__, "%s: exit code %d, stdout '%s', stderr '%s'", commands[k], r.code, r.out,
                   r.err);
    shell_free(&r);
  }
}

const fx_test_row test_cli_broken[] = {{"cli/broken_text", text},
                                       {"cli/broken_json", json},
                                       {"cli/broken_fclib", fclib},
                                       {"cli/broken_other_verbs", other_verbs},
                                       {0}};
