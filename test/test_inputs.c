/* What is no regular file: pipes that nobody writes to do not hang, endless devices and huge files take no memory, and
 * what the process itself was given (/dev/stdin) is still read. */
#include <fcntl.h>
#include <frix/mjcf.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "io/trajectory_internal.h"
#include "io_tools.h"
#include "shell.h"

/* ---- the command */

static const char setup[] =
    "$frix example slope --out p.json && mkfifo in f.json f.xml f.stl f.frx && ln -s /dev/zero z.json &&"
    "ln -s /dev/zero z.xml && ln -s /dev/zero z.stl && ln -s /dev/zero z.frx && mkdir d.json &&"
    "for f in f.stl z.stl; do printf '<mujoco><asset><mesh name=\"m\" file=\"%s\"/></asset><worldbody><body>"
    "<freejoint/><geom type=\"mesh\" mesh=\"m\"/></body></worldbody></mujoco>' $f >mesh_$f.xml; done;"
    "for f in f.xml z.xml; do printf '<mujoco><include file=\"%s\"/></mujoco>' $f >include_$f; done;"
    "printf '<mujoco><include file=\"/dev/stdin\"/></mujoco>' >include_stdin.xml";

/* Each is refused at once, with a line that names the file. */
static void special_files(fx_test *t) {
  static const struct {
    const char *command, *file;
  } row[] = {
      {"solve", "f.json"},
      {"solve", "z.json"},
      {"solve p.json --guess", "f.json"},
      {"certify p.json --solution", "z.json"},
      {"convert f.json x.json", "f.json"},
      {"info", "f.json"},
      {"info", "f.frx"},
      {"info", "z.frx"},
      {"info", "f.xml"},
      {"run", "f.xml"},
      {"run", "z.xml"},
      {"run mesh_f.stl.xml", "f.stl"},
      {"run mesh_z.stl.xml --allow-outside", "z.stl"},
      {"run include_f.xml", "f.xml"},
      {"run include_z.xml --allow-outside", "z.xml"},
      {"run include_stdin.xml --allow-outside", "/dev/stdin"},
      {"check mesh_f.stl.xml", "f.stl"},
      {"scene mesh_f.stl.xml --out x.xml", "f.stl"},
      {"run --resume", "f.frx"},
      {"export --out x.npz", "f.frx"},
      {"view --no-open --out x.html", "f.frx"},
      {"render --out x.png", "z.frx"},
  };
  shell_result r = shell(t, "%s", setup);
  CHECK(t, r.code == 0);
  shell_free(&r);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    bool named = strstr(row[k].command, ".xml") && strncmp(row[k].command, "scene", 5); /* the file stands in a file */
    if (!frix_mjcf_available() && strstr(row[k].file, "xml")) continue;
    bool last = !named && !strstr(row[k].command, row[k].file) && strncmp(row[k].command, "scene", 5);
    /* standard input is a pipe that stays open */
    r = shell(t, "timeout 10 $frix %s %s 0<>in; echo $?", row[k].command, last ? row[k].file : "");
    bool off = strstr(r.err, "no replay pages") != NULL;
    if (strcmp(r.out, "2\n") || (!off && (!strstr(r.err, row[k].file) || !strstr(r.err, "is not a regular file"))))
      fx_test_fail(t, __FILE__, __LINE__, "%s %s: exit code %s, stderr '%s'", row[k].command, row[k].file, r.out,
                   r.err);
    if (r.seconds > 8) fx_test_fail(t, __FILE__, __LINE__, "%s %s: %.1f s", row[k].command, row[k].file, r.seconds);
    shell_free(&r);
  }
}

static void own_descriptors(fx_test *t) {
  shell_result r = shell(t,
                         "$frix example slope --out p.json && cat p.json | $frix solve /dev/stdin --json >a &&"
                         "$frix solve /dev/stdin --json <p.json >b && $frix solve /dev/fd/5 --json 5<p.json >c &&"
                         "grep -l '\"outcome\": \"solved\"' a b c | wc -l");
  CHECK(t, r.code == 0 && atoi(r.out) == 3);
  shell_free(&r);
  r = shell(t, "$frix solve /dev/stdin </dev/zero");
  CHECK(t, r.code == 2 && strstr(r.err, "/dev/stdin: is not a regular file"));
  shell_free(&r);
}

/* ---- limits of size */

typedef struct meter {
  size_t bytes, peak;
} meter;

static void *meter_allocate(size_t bytes, void *user) {
  meter *m = user;
  m->bytes += bytes;
  if (m->bytes > m->peak) m->peak = m->bytes;
  return malloc(bytes);
}

static void meter_release(void *pointer, size_t bytes, void *user) {
  ((meter *)user)->bytes -= bytes;
  free(pointer);
}

static void huge_inputs(fx_test *t) {
  meter m = {0};
  frix_context_config config = frix_context_default();
  config.allocate = meter_allocate, config.release = meter_release, config.user = &m;
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(&config, &context) == FRIX_OK);
  const char *path = fx_test_scratch(t, "huge.json");
  int file = open(path, O_WRONLY | O_CREAT, 0666);
  frix_problem *problem = NULL;
  REQUIRE(t, file >= 0);
  if (ftruncate(file, (off_t)3 << 30) == 0) { /* nothing but a hole */
    CHECK(t, frix_problem_read(context, path, NULL, &problem) == FRIX_ERROR_FILE && !problem);
    CHECK(t, strstr(frix_error_text(context), "huge.json: 3221225472 bytes, more than the limit of 1073741824"));
    double r[3];
    REQUIRE(t, frix_problem_read_memory(context, "joined.json", joined, strlen(joined), NULL, &problem) == FRIX_OK);
    CHECK(t, frix_guess_read(context, problem, path, r) == FRIX_ERROR_FILE);
    frix_problem_destroy(problem);
    frix_mjcf *scene = NULL;
    CHECK(t, frix_mjcf_read(context, path, NULL, &scene) == FRIX_ERROR_FILE && !scene);
    CHECK(t, strstr(frix_error_text(context), "more than the limit of 268435456"));
    CHECK(t, m.peak < 1 << 20);
  }
  close(file);
  frix_context_destroy(context);
}

/* A trajectory whose first block claims three gigabytes, and has them, as a hole. */
static void huge_blocks(fx_test *t) {
  meter m = {0};
  frix_context_config config = frix_context_default();
  config.allocate = meter_allocate, config.release = meter_release, config.user = &m;
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(&config, &context) == FRIX_OK);
  unsigned char head[FX_FILE_HEAD + FX_BLOCK_HEAD];
  const char *path = fx_test_scratch(t, "huge.frx");
  uint64_t size = (uint64_t)3 << 30;
  fx_piece block = {.kind = FX_BLOCK_META, .stored = size, .raw = size};
  fx_file_head(head);
  fx_piece_head(&block, head + FX_FILE_HEAD);
  FILE *file = fopen(path, "wb");
  REQUIRE(t, file && fwrite(head, 1, sizeof head, file) == sizeof head && fclose(file) == 0);
  frix_trajectory *trajectory = NULL;
  if (truncate(path, (off_t)(size + sizeof head)) == 0) {
    CHECK(t, frix_trajectory_open(context, path, &trajectory) == FRIX_ERROR_FORMAT && !trajectory);
    CHECK(t, strstr(frix_error_text(context), "huge.frx: holds no model: is damaged at byte 24 of"));
    CHECK(t, m.peak < 1 << 20);
  }
  frix_context_destroy(context);
}

/* A pipe that does not end. */
static void endless_pipe(fx_test *t) {
  int ends[2];
  meter m = {0};
  frix_context_config config = frix_context_default();
  config.allocate = meter_allocate, config.release = meter_release, config.user = &m;
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(&config, &context) == FRIX_OK && pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    char blank[4096];
    memset(blank, ' ', sizeof blank);
    close(ends[0]);
    while (write(ends[1], blank, sizeof blank) > 0) continue;
    _exit(0);
  }
  close(ends[1]);
  char path[32];
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  frix_problem *problem = NULL;
  frix_read_config read = frix_read_default();
  read.max_file_bytes = 1 << 22;
  CHECK(t, frix_problem_read(context, path, &read, &problem) == FRIX_ERROR_FILE && !problem);
  CHECK(t, strstr(frix_error_text(context), "more than the limit of 4194304 bytes"));
  CHECK(t, m.peak < 4 << 22);
  close(ends[0]);
  waitpid(child, NULL, 0);
  frix_context_destroy(context);
}

const fx_test_row test_inputs[] = {
    {"inputs/special_files", special_files}, {"inputs/own_descriptors", own_descriptors},
    {"inputs/huge_inputs", huge_inputs},     {"inputs/huge_blocks", huge_blocks},
    {"inputs/endless_pipe", endless_pipe},   {0},
};
