/* What a power cut leaves: outputs are on the disk before they take their name, checkpoints soon after they are made,
 * and a run goes on from the newest checkpoint that is whole, whatever became of the bytes behind it.
 *
 * fsync of this file takes the place of the system's in the whole test program: it counts, looks at the file, fails
 * when told, and spares the tests the waiting for the disk. */
#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shell.h"
#include "sim_world.h"

typedef struct sync_log {
  const char *watched; /* a path whose size is noted */
  int files, folders, fail;
  off_t file_size, seen_at_file,
      seen_at_folder; /* of the file synced last; of the watched path at that moment, -1: none */
} sync_log;

static sync_log synced;

static off_t size_of(const char *path) {
  struct stat info;
  return path && stat(path, &info) == 0 ? info.st_size : -1;
}

int fsync(int file) {
  struct stat info;
  if (fstat(file, &info) == 0 && S_ISDIR(info.st_mode)) {
    synced.folders++;
    synced.seen_at_folder = size_of(synced.watched);
  } else {
    synced.files++;
    synced.file_size = info.st_size;
    synced.seen_at_file = size_of(synced.watched);
  }
  if (!synced.fail) return 0;
  errno = synced.fail;
  return -1;
}

/* ---- outputs */

static void outputs(fx_test *t) {
  frix_context *context = NULL;
  frix_output *output = NULL;
  const char *path = fx_test_scratch(t, "a.txt");
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  synced = (sync_log){.watched = path};
  REQUIRE(t, frix_output_open(context, path, &output) == FRIX_OK);
  CHECK(t, frix_output_write(output, "1234567", 7) == FRIX_OK && frix_output_close(output, true) == FRIX_OK);
  CHECK(t, synced.files == 1 && synced.file_size == 7 && synced.seen_at_file == -1); /* whole, under no name yet */
  CHECK(t, synced.folders == 1 && synced.seen_at_folder == 7);                       /* then the name */
  /* what cannot be brought to the disk does not replace what is there */
  synced = (sync_log){.watched = path, .fail = EIO};
  REQUIRE(t, frix_output_open(context, path, &output) == FRIX_OK);
  CHECK(t, frix_output_write(output, "1", 1) == FRIX_OK && frix_output_close(output, true) == FRIX_ERROR_FILE);
  CHECK(t, strstr(frix_error_text(context), path) && strstr(frix_error_text(context), strerror(EIO)));
  CHECK(t, size_of(path) == 7 && synced.files == 1 && synced.folders == 0);
  synced = (sync_log){0};
  frix_context_destroy(context);
}

/* ---- recorders */

static world ball_world(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  world_plane(&w, turned(0, 0, 0, 1));
  world_body(&w, body_at(at(0, 0, 0.1)), sphere_shape(0.1));
  return w;
}

static void take_step(world *w, frix_recorder *recorder) {
  frix_step_report report = world_step(w, 0.01);
  MUST(w, frix_recorder_add(recorder, w->sim, &report));
}

/* Start, checkpoints and end of a file; many checkpoints in a moment do not make many syncs. */
static void checkpoints(fx_test *t) {
  world w = ball_world(t);
  frix_recorder *recorder = NULL;
  const char *path = fx_test_scratch(t, "run.frx");
  REQUIRE(t, world_start(&w));
  synced = (sync_log){.watched = path};
  MUST(&w, frix_recorder_create(w.context, path, w.model, NULL, &recorder));
  REQUIRE(t, recorder);
  CHECK(t, synced.files == 1 && synced.folders == 1 && synced.seen_at_file == -1 && synced.seen_at_folder > 0);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int k = 0; k < 200; k++) {
    take_step(&w, recorder);
    MUST(&w, frix_recorder_checkpoint(recorder, w.sim));
    if (k == 0) CHECK(t, synced.files == 2 && synced.file_size == size_of(path));
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  int seconds = (int)(end.tv_sec - begin.tv_sec);
  CHECK(t, synced.files <= 3 + seconds);
  int before = synced.files;
  nanosleep(&(struct timespec){1, 100000000}, NULL);
  take_step(&w, recorder);
  MUST(&w, frix_recorder_checkpoint(recorder, w.sim));
  CHECK(t, synced.files == before + 1 && synced.file_size == size_of(path));
  synced.fail = ENOSPC;
  nanosleep(&(struct timespec){1, 100000000}, NULL);
  CHECK(t, frix_recorder_checkpoint(recorder, w.sim) == FRIX_ERROR_FILE);
  CHECK(t, strstr(frix_error_text(w.context), "run.frx: cannot write: No space left on device"));
  synced.fail = 0;
  CHECK(t, frix_recorder_close(recorder) == FRIX_ERROR_FILE); /* what was told once is not forgotten */
  MUST(&w, frix_recorder_append(w.context, path, -1, &recorder));
  before = synced.files;
  MUST(&w, frix_recorder_close(recorder));
  CHECK(t, synced.files == before + 1);
  synced = (sync_log){0};
  world_end(&w);
}

/* ---- power cuts */

enum { PAGE = 512, CUTS = 150 };

/* Bytes behind `kept` become what a power cut may leave: whole pages, zeros, old bytes; the file ends anywhere. */
static void cut_power(fx_test *t, const char *from, const char *to, size_t kept) {
  char *bytes = NULL;
  FILE *file = fopen(from, "rb");
  struct stat info;
  if (!file || fstat(fileno(file), &info) != 0) return;
  size_t size = (size_t)info.st_size;
  bytes = malloc(size);
  size = fread(bytes, 1, size, file);
  fclose(file);
  size_t end = kept + (size_t)((0.5 + 0.5 * fx_test_random(t)) * (double)(size - kept) + 0.5);
  for (size_t page = kept; page < end; page += PAGE - page % PAGE) {
    size_t last = page + PAGE - page % PAGE < end ? page + PAGE - page % PAGE : end;
    double fate = fx_test_random(t);
    if (fate < 0) continue;
    for (size_t k = page; k < last; k++) bytes[k] = (char)(fate < 0.7 ? 0 : 255.0 * fx_test_random(t));
  }
  file = fopen(to, "wb");
  if (file) {
    fwrite(bytes, 1, end, file);
    fclose(file);
  }
  free(bytes);
}

/* The step of the newest checkpoint that can be read, -1: none. */
static int64_t newest(frix_context *context, const char *path) {
  frix_trajectory *file = NULL;
  int64_t step = -1, found = -1;
  if (frix_trajectory_open(context, path, &file)) return -1;
  for (int32_t k = frix_trajectory_checkpoint_count(file) - 1; k >= 0 && found < 0; k--) {
    frix_snapshot *snapshot = NULL;
    if (frix_trajectory_checkpoint(file, k, NULL, &step, &snapshot) == FRIX_OK) found = step;
    frix_snapshot_destroy(snapshot);
  }
  frix_trajectory_close(file);
  return found;
}

/* A run of which a part was on the disk: no checkpoint of that part is ever lost. */
static void power_cuts(fx_test *t) {
  world w = ball_world(t);
  frix_recorder *recorder = NULL;
  const char *path = fx_test_scratch(t, "run.frx"), *after = fx_test_scratch(t, "after.frx");
  REQUIRE(t, world_start(&w));
  MUST(&w, frix_recorder_create(w.context, path, w.model, NULL, &recorder));
  REQUIRE(t, recorder);
  size_t kept = 0;
  for (int k = 0; k < 40; k++) {
    take_step(&w, recorder);
    if (k % 4 == 3) MUST(&w, frix_recorder_checkpoint(recorder, w.sim));
    if (k == 19) MUST(&w, frix_recorder_flush(recorder));
    if (k == 19) kept = (size_t)size_of(path);
  }
  MUST(&w, frix_recorder_close(recorder));
  int later = 0;
  for (int k = 0; k < CUTS; k++) {
    cut_power(t, path, after, kept);
    int64_t step = newest(w.context, after);
    CHECK(t, step >= 20 && step <= 40);
    later += step > 20;
  }
  fx_test_note(t, "%d cuts, %d with a checkpoint after the last sync", CUTS, later);
  world_end(&w);
}

static double number(const char *json, const char *key) {
  const char *at = strstr(json, key);
  return at ? strtod(at + strlen(key) + 3, NULL) : NAN;
}

/* The same through the command: it goes on to the same end and says what was lost. */
static void cut_runs_go_on(fx_test *t) {
  static const char want[] = "\"final_hash\": \"";
  char hash[32] = "";
  shell_result r = shell(t, "$frix run arch --time 0.6 --checkpoint 10 --out whole.frx --json");
  const char *found = strstr(r.out, want);
  if (found) snprintf(hash, sizeof hash, "%.16s", found + strlen(want));
  CHECK(t, r.code == 0 && hash[0]);
  shell_free(&r);
  r = shell(t, "grep -abo frxb whole.frx | cut -d: -f1"); /* the blocks: after the 35th there are three checkpoints */
  size_t kept = 0;
  int line = 0;
  for (char *at = strtok(r.out, "\n"); at; at = strtok(NULL, "\n"))
    if (++line == 36) kept = strtoul(at, NULL, 10);
  shell_free(&r);
  REQUIRE(t, kept > 0);
  int lost = 0;
  for (int k = 0; k < 12; k++) {
    cut_power(t, fx_test_scratch(t, "whole.frx"), fx_test_scratch(t, "cut.frx"), kept);
    r = shell(t, "$frix run --resume cut.frx --json");
    if (r.code != 0 || !strstr(r.out, hash) || number(r.out, "\"first_step") < 20 ||
        number(r.out, "\"certified_steps") != 60)
      fx_test_fail(t, __FILE__, __LINE__, "cut %d: exit code %d, %s %s", k, r.code, r.err, r.out);
    lost += strstr(r.err, "lost") || strstr(r.err, "damaged") || strstr(r.err, "ends inside");
    shell_free(&r);
  }
  CHECK(t, lost >= 10);
}

const fx_test_row test_durability[] = {
    {"durability/outputs", outputs},
    {"durability/checkpoints", checkpoints},
    {"durability/power_cuts", power_cuts},
    {"durability/cut_runs_go_on", cut_runs_go_on},
    {0},
};
