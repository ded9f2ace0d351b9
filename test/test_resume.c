/* Runs that go on: what came before counts, nothing that a file says about its command is trusted, damaged checkpoints
 * and frames cost themselves only, and a snapshot goes into no other model. */
#include "shell.h"
#include "sim_world.h"

#define EXPECT(t, result, expected)                                                                                  \
  do {                                                                                                               \
    if ((result).code != (expected))                                                                                 \
      fx_test_fail((t), __FILE__, __LINE__, "exit code %d, expected %d; stderr: %s", (result).code, (int)(expected), \
                   (result).err);                                                                                    \
  } while (0)

/* The number behind a key, NaN where there is none. */
static double number(const char *json, const char *key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  const char *at = strstr(json, quoted);
  return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

/* ---- what came before */

/* A run in three parts amounts to what the same run in one part amounts to, frames or not. */
static void counts_all_steps(fx_test *t) {
  static const char *const keys[] = {"steps",        "certified_steps", "unknown_steps",
                                     "residual_max", "residual_step",   "contacts_mean",
                                     "contacts_max", "iterations_mean", "max_penetration"};
  shell_result whole = shell(t, "$frix run balls --solver pgs --time 0.3 --every 7 --out a.frx --json");
  shell_result parts = shell(t,
                             "$frix run balls --solver pgs --time 0.1 --every 7 --out b.frx --quiet;"
                             "$frix run --resume b.frx --time 0.2 --quiet; $frix run --resume b.frx --time 0.3 --json");
  EXPECT(t, whole, 1);
  EXPECT(t, parts, 1);
  CHECK(t, number(whole.out, "certified_steps") < number(whole.out, "steps") && number(parts.out, "first_step") > 0);
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
    if (number(whole.out, keys[k]) != number(parts.out, keys[k]))
      fx_test_fail(t, __FILE__, __LINE__, "%s: %g in one part, %g in three", keys[k], number(whole.out, keys[k]),
                   number(parts.out, keys[k]));
  shell_free(&whole);
  shell_free(&parts);
  /* no step is made, and the exit code still tells of those that were */
  parts = shell(t, "$frix run --resume b.frx && exit 9; $frix run --resume b.frx --quiet");
  EXPECT(t, parts, 1);
  CHECK(t, strstr(parts.out, "resumed           at step") && !strstr(parts.out, "certified         0 of 0"));
  shell_free(&parts);
  parts = shell(t, "$frix info b.frx --json");
  CHECK(t, number(parts.out, "steps") > 3 * number(parts.out, "frames") && number(parts.out, "unknown_steps") == 0);
  CHECK(t, number(parts.out, "certified_steps") < number(parts.out, "steps"));
  shell_free(&parts);
}

/* A ball that rolls; frames of every second step, a checkpoint every 4 and at the end, tallies where asked for. */
static void record(world *w, const char *path, const char *meta, int steps, bool tallied) {
  frix_recorder *recorder = NULL;
  frix_tally tally = frix_tally_default();
  world_plane(w, turned(0, 0, 0, 1));
  frix_body_config ball = body_at(at(0, 0, 0.1));
  ball.velocity = vec(1, 0, 0);
  world_body(w, ball, sphere_shape(0.1));
  if (!world_start(w)) return;
  MUST(w, frix_recorder_create(w->context, path, w->model, meta, &recorder));
  if (!recorder) return;
  MUST(w, frix_recorder_add(recorder, w->sim, NULL));
  for (int k = 1; k <= steps; k++) {
    frix_step_report report = world_step(w, 0.01);
    frix_tally_add(&tally, &report, k, w->config.tolerance);
    if (k % 2 == 0) MUST(w, frix_recorder_add(recorder, w->sim, &report));
    if (k % 4 == 0 || k == steps) {
      if (tallied) MUST(w, frix_recorder_tally(recorder, &tally));
      MUST(w, frix_recorder_checkpoint(recorder, w->sim));
    }
  }
  MUST(w, frix_recorder_close(recorder));
}

/* Without a tally, steps that have no frame are not known, and nobody calls them certified. */
static void unknown_steps(fx_test *t) {
  for (int tallied = 0; tallied < 2; tallied++) {
    world w = world_new(t, 0.5, 0);
    const char *path = fx_test_scratch(t, tallied ? "told.frx" : "untold.frx");
    frix_trajectory *file = NULL;
    frix_tally tally;
    record(&w, path, NULL, 10, tallied);
    MUST(&w, frix_trajectory_open(w.context, path, &file));
    REQUIRE(t, file);
    MUST(&w, frix_trajectory_tally(file, -1, &tally));
    CHECK(t, tally.steps == 10 && tally.unknown == (tallied ? 0 : 5) && tally.certified == (tallied ? 10 : 5));
    MUST(&w, frix_trajectory_tally(file, 0, &tally));
    CHECK(t, tally.steps == 4 && tally.unknown == (tallied ? 0 : 2));
    CHECK(t, frix_trajectory_tally(file, 9, &tally) == FRIX_ERROR_INPUT);
    frix_trajectory_close(file);
    shell_result r = shell(t, "$frix run --resume %s --json", tallied ? "told.frx" : "untold.frx");
    EXPECT(t, r, tallied ? 0 : 1);
    CHECK(t, number(r.out, "steps") == 10 && number(r.out, "unknown_steps") == (tallied ? 0 : 5));
    shell_free(&r);
    world_end(&w);
  }
}

/* What is no number does not get lost in a maximum, whatever comes after it. */
static void tally_keeps_nan(fx_test *t) {
  frix_tally tally = frix_tally_default();
  const double residual[] = {1e-9, NAN, 1e-3, 1e9};
  for (int k = 0; k < 4; k++) {
    frix_step_report report = {.certified = k == 0, .penetration = residual[k]};
    report.certificate.residual = report.certificate.signorini = residual[k];
    frix_tally_add(&tally, &report, k + 1, 1e-8);
  }
  CHECK(t, isnan(tally.residual_max) && tally.residual_step == 2 && isnan(tally.signorini));
  CHECK(t, isnan(tally.penetration_max) && tally.penetration_step == 2 && tally.bilateral == 0);
  CHECK(t, tally.steps == 4 && tally.certified == 1);
}

/* ---- the words of a file */

static void hostile_words(fx_test *t) {
  static const struct {
    const char *meta;
    int code;
  } row[] = {
      {"{\"arguments\": []}", 0}, /* no words at all: goes on without a drive */
      {"{\"arguments\": [\"incline\", \"--time\", \"0.04\", \"--dt\", \"0.01\"]}", 0},
      {"{\"arguments\": [\"--time\", \"1\"]}", 2},
      {"{\"arguments\": [\"--set\", \"mu=1\", \"--seed\", \"3\"]}", 2},
      {"{\"arguments\": [\"--\"]}", 2},
      {"{\"arguments\": [\"\"]}", 2},
      {"{\"arguments\": [\"incline\", \"arch\"]}", 2},
      {"{\"arguments\": [\"incline\", \"--out\", \"stolen.frx\"]}", 2},
      {"{\"arguments\": [\"incline\", \"--resume\", \"x.frx\"]}", 2},
      {"{\"arguments\": [\"incline\", \"--export-problems\", \"stolen\"]}", 2},
      {"{\"arguments\": [\"incline\", \"--nonsense\"]}", 2},
      {"{\"arguments\": [\"incline\", \"--time\"]}", 2},
      {"{\"arguments\": [\"incline\", \"--time\", \"-1\"]}", 2},
      {"{\"arguments\": [\"nosuchscene\"]}", 2},
      {"{\"arguments\": [\"\\u0000\"]}", 2},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    world w = world_new(t, 0.5, 0);
    record(&w, fx_test_scratch(t, "words.frx"), row[k].meta, 4, true);
    world_end(&w);
    shell_result r = shell(t, "$frix run --resume words.frx --quiet; code=$?; ls -A | grep -c stolen; exit $code");
    if (r.code != row[k].code || strcmp(r.out, "0\n") || (r.code == 2) != (strstr(r.err, "frix: ") == r.err) ||
        strspn(r.err, "\n !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]_abcdefghijklmnopqrstuvwxyz|") !=
            strlen(r.err))
      fx_test_fail(t, __FILE__, __LINE__, "%s: exit code %d, stderr '%s'", row[k].meta, r.code, r.err);
    shell_free(&r);
  }
}

/* ---- damage */

/* Changes a byte `behind` the head of the n-th block of a kind (u16 at its fifth byte). */
static bool harm(const char *path, int kind, int n, long behind) {
  FILE *file = fopen(path, "r+b");
  unsigned char head[48];
  long at = 24;
  bool done = false;
  while (file && !done && fseek(file, at, SEEK_SET) == 0 && fread(head, 1, sizeof head, file) == sizeof head) {
    long stored = head[8] | (long)head[9] << 8 | (long)head[10] << 16;
    if (head[4] == kind && n-- == 0) {
      fseek(file, at + behind, SEEK_SET);
      int byte = fgetc(file);
      fseek(file, at + behind, SEEK_SET);
      fputc(byte ^ 0x5a, file);
      done = true;
    }
    at += 48 + stored;
  }
  if (file) fclose(file);
  return done;
}

enum { FRAME = 4, CHECKPOINT = 5, PAYLOAD = 60, HEAD = 20 };

/* Checkpoints from the last to the first are damaged: each time the run goes on from the one before, to the same end.
 */
static void damaged_checkpoints(fx_test *t) {
  char hash[64] = "", said[64];
  shell_result r = shell(t, "$frix run arch --time 0.4 --checkpoint 10 --out a.frx --json");
  const char *found = strstr(r.out, "\"final_hash\"");
  if (found) snprintf(hash, sizeof hash, "%.34s", found);
  EXPECT(t, r, 0);
  shell_free(&r);
  r = shell(t, "cp a.frx b.frx");
  shell_free(&r);
  for (int last = 4; last >= 0; last--) {
    /* payload and head in turn */
    CHECK(t, harm(fx_test_scratch(t, "b.frx"), CHECKPOINT, last, PAYLOAD));
    r = shell(t, "cp b.frx c.frx; $frix run --resume c.frx --json");
    if (last) {
      EXPECT(t, r, 0);
      snprintf(said, sizeof said, "%d of 5 checkpoints are lost; continuing at step %d,", 5 - last, 10 * (last - 1));
      CHECK(t, strstr(r.err, said) && strstr(r.out, hash) && number(r.out, "first_step") == 10 * (last - 1));
      CHECK(t, number(r.out, "certified_steps") == 40);
    } else {
      EXPECT(t, r, 2);
      CHECK(t, strstr(r.err, "no checkpoint to continue from"));
    }
    shell_free(&r);
  }
  CHECK(t, harm(fx_test_scratch(t, "a.frx"), CHECKPOINT, 4, HEAD));
  r = shell(t, "$frix run --resume a.frx --json");
  EXPECT(t, r, 0);
  CHECK(t, strstr(r.err, "is damaged at byte") && strstr(r.out, hash) && number(r.out, "first_step") == 30);
  shell_free(&r);
}

/* Damaged frames, in their bytes or in their heads, are left out and told; exit code 1. */
static void damaged_frames(fx_test *t) {
  static const struct {
    const char *command, *lines; /* what the table holds then: header and frames */
    int code;
  } row[] = {
      {"export d.frx --out d.csv; code=$?; wc -l <d_steps.csv; exit $code", "30\n", 1},
      {"export d.frx --out d.npz; code=$?; test -s d.npz && exit $code", "", 1},
      {"export d.frx --frames 10:12 --out d.csv; code=$?; wc -l <d_steps.csv; exit $code", "3\n", 1},
      {"export d.frx --frames 20:22 --out d.csv; code=$?; wc -l <d_steps.csv; exit $code", "4\n", 1},
      {"info d.frx --json | grep -o 'damaged_frames.: 1'; $frix info d.frx >/dev/null", "damaged_frames\": 1\n", 1},
      {"export d.frx --problem 12 --out p.json; code=$?; test -s p.json && exit $code", "", 1},
      {"render d.frx --frame 3 --size 32x32 --out d.png", "", 0},
      {"render d.frx --frame 11 --size 32x32 --out e.png; code=$?; test -e e.png || exit $code", "", 2},
  };
  shell_result r = shell(t, "$frix run arch --time 0.3 --out d.frx --quiet");
  EXPECT(t, r, 0);
  shell_free(&r);
  CHECK(t, harm(fx_test_scratch(t, "d.frx"), FRAME, 11, PAYLOAD));
  r = shell(t, "cp d.frx one.frx; $frix export one.frx --out one.csv; code=$?; wc -l <one_steps.csv; exit $code");
  EXPECT(t, r, 1);
  CHECK(t, !strcmp(r.out, "31\n") && strstr(r.err, "frame 11 at byte") && strstr(r.err, "left out"));
  shell_free(&r);
  CHECK(t, harm(fx_test_scratch(t, "d.frx"), FRAME, 17, HEAD)); /* the 18th of 31 frames is not found any more */
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    r = shell(t, "$frix %s", row[k].command);
    if (k == 0) CHECK(t, strstr(r.err, "is damaged at byte"));
    if (r.code != row[k].code || strcmp(r.out, row[k].lines))
      fx_test_fail(t, __FILE__, __LINE__, "%s: exit code %d, '%s' '%s'", row[k].command, r.code, r.out, r.err);
    shell_free(&r);
  }
  r = shell(t, "$frix view d.frx --no-open");
  if (!strstr(r.err, "no replay pages")) {
    EXPECT(t, r, 1);
    CHECK(t, strstr(r.err, "1 of 30 frames cannot be read"));
  }
  shell_free(&r);
}

/* ---- snapshots */

/* Two worlds of one ball each, which differ in a number: a snapshot of one is refused for the other. */
static void snapshot_of_another_model(fx_test *t) {
  world w = world_new(t, 0.5, 0), x = world_new(t, 0.5, 0), y = world_new(t, 0.5, 0);
  world *each[] = {&w, &x, &y};
  for (int k = 0; k < 3; k++) {
    world_plane(each[k], turned(0, 0, 0, 1));
    world_body(each[k], body_at(at(0, 0, 0.5)), sphere_shape(k == 1 ? 0.1000000000000001 : 0.1));
    REQUIRE(t, world_start(each[k]));
    world_step(each[k], 0.01);
  }
  frix_snapshot *snapshot = NULL, *again = NULL;
  unsigned char *bytes = NULL;
  size_t size = 0;
  MUST(&w, frix_sim_save(w.sim, &snapshot));
  MUST(&w, frix_snapshot_encode(w.context, snapshot, &bytes, &size));
  CHECK(t, frix_snapshot_decode(x.context, x.model, bytes, size, &again) == FRIX_ERROR_INPUT && !again);
  CHECK(t, strstr(frix_error_text(x.context), "another model"));
  MUST(&y, frix_snapshot_decode(y.context, y.model, bytes, size, &again));
  MUST(&y, frix_sim_restore(y.sim, again));
  uint64_t hash[2] = {0, 1};
  MUST(&w, frix_sim_hash(w.sim, &hash[0]));
  MUST(&y, frix_sim_hash(y.sim, &hash[1]));
  CHECK(t, hash[0] == hash[1]);
  for (size_t cut = 0; cut < size; cut++) {
    frix_snapshot *part = NULL;
    CHECK(t, frix_snapshot_decode(w.context, w.model, bytes, cut, &part) == FRIX_ERROR_FORMAT && !part);
  }
  frix_snapshot_destroy(snapshot);
  frix_snapshot_destroy(again);
  frix_bytes_free(w.context, bytes);
  for (int k = 0; k < 3; k++) world_end(each[k]);
}

const fx_test_row test_resume[] = {
    {"resume/counts_all_steps", counts_all_steps},
    {"resume/unknown_steps", unknown_steps},
    {"resume/tally_keeps_nan", tally_keeps_nan},
    {"resume/hostile_words", hostile_words},
    {"resume/damaged_checkpoints", damaged_checkpoints},
    {"resume/damaged_frames", damaged_frames},
    {"resume/snapshot_of_another_model", snapshot_of_another_model},
    {0},
};
