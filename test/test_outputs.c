/* Outputs never destroy: they replace what stood there in one step or not at all, refuse what they must not replace,
 * and tell by name what could not be written. The library's routine first, then every verb that writes. */
#include <frix/mjcf.h>
#include <frix/output.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "io_tools.h"
#include "shell.h"

static void put_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  if (!file) return;
  fputs(text, file);
  fclose(file);
}

static bool holds(const char *path, const char *text) {
  char *found = shell_read(path);
  bool same = !strcmp(found, text);
  free(found);
  return same;
}

/* ---- the routine */

static frix_status write_whole(frix_context *context, const char *path, const char *text, bool keep) {
  frix_output *output = NULL;
  frix_status status = frix_output_open(context, path, &output);
  if (!status) status = frix_output_write(output, text, strlen(text));
  frix_status closed = frix_output_close(output, keep);
  return status ? status : closed;
}

static void whole_or_nothing(fx_test *t) {
  char log[512];
  frix_context *context = make_context(log);
  const char *path = fx_test_scratch(t, "a.txt"), *link_name = fx_test_scratch(t, "link"),
             *behind = fx_test_scratch(t, "behind");
  struct stat info;
  put_file(path, "old");
  chmod(path, 0640);
  frix_output *output = NULL;
  REQUIRE(t, frix_output_open(context, path, &output) == FRIX_OK);
  CHECK(t, frix_output_write(output, "new", 3) == FRIX_OK && holds(path, "old"));
  CHECK(t, strstr(frix_output_temporary(output), ".tmp.txt") && access(frix_output_temporary(output), F_OK) == 0);
  CHECK(t, frix_output_close(output, true) == FRIX_OK && holds(path, "new"));
  CHECK(t, stat(path, &info) == 0 && (info.st_mode & 0777) == 0640);
  CHECK(t, write_whole(context, path, "newer", false) == FRIX_OK && holds(path, "new"));
  /* a link gives way, what is behind it stays */
  put_file(behind, "behind");
  REQUIRE(t, symlink(behind, link_name) == 0);
  CHECK(t, write_whole(context, link_name, "here", true) == FRIX_OK);
  CHECK(t, holds(link_name, "here") && holds(behind, "behind"));
  CHECK(t, lstat(link_name, &info) == 0 && S_ISREG(info.st_mode));
  shell_result r = shell(t, "ls -A | grep tmp");
  CHECK(t, !r.out[0]);
  shell_free(&r);
  frix_context_destroy(context);
}

/* Names that the new file could have are taken by links: none is followed. */
static void temporary_is_new(fx_test *t) {
  char log[512], name[4200];
  frix_context *context = make_context(log);
  const char *path = fx_test_scratch(t, "b.txt"), *victim = fx_test_scratch(t, "victim");
  put_file(victim, "victim");
  for (int k = 0; k < 5; k++) {
    snprintf(name, sizeof name, "%.*s.%ld-%d.tmp.txt", (int)strlen(path) - 4, path, (long)getpid(), k);
    REQUIRE(t, symlink(victim, name) == 0);
  }
  frix_output *output = NULL;
  REQUIRE(t, frix_output_open(context, path, &output) == FRIX_OK);
  CHECK(t, strstr(frix_output_temporary(output), "-5.tmp.txt"));
  CHECK(t, frix_output_write(output, "text", 4) == FRIX_OK && frix_output_close(output, true) == FRIX_OK);
  CHECK(t, holds(path, "text") && holds(victim, "victim"));
  frix_context_destroy(context);
}

static void check_refused(fx_test *t, frix_context *context, const char *path, frix_status status, const char *part) {
  frix_output *output = NULL;
  const char *text = frix_error_text(context);
  if (frix_output_check(context, path) != status || !strstr(text, path) || !strstr(text, part))
    fx_test_fail(t, __FILE__, __LINE__, "%s: '%s' lacks '%s'", path, text, part);
  CHECK(t, frix_output_open(context, path, &output) == status && !output);
}

static void kinds_refused(fx_test *t) {
  char log[512];
  frix_context *context = make_context(log);
  const char *folder = fx_test_scratch(t, "folder"), *pipe_name = fx_test_scratch(t, "pipe"),
             *full = fx_test_scratch(t, "full");
  struct stat info;
  mkdir(folder, 0777);
  REQUIRE(t, mkfifo(pipe_name, 0666) == 0 && symlink("/dev/full", full) == 0);
  check_refused(t, context, folder, FRIX_ERROR_FILE, "it is a directory");
  check_refused(t, context, pipe_name, FRIX_ERROR_FILE, "it is a named pipe");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int end = socket(AF_UNIX, SOCK_STREAM, 0);
  const char *name = fx_test_scratch(t, "s");
  if (strlen(name) < sizeof address.sun_path) {
    strcpy(address.sun_path, name);
    if (bind(end, (struct sockaddr *)&address, sizeof address) == 0)
      check_refused(t, context, name, FRIX_ERROR_FILE, "it is a socket");
  }
  close(end);
  check_refused(t, context, fx_test_scratch(t, "nowhere/x"), FRIX_ERROR_FILE, "No such file");
  /* devices are written to, and stay */
  CHECK(t, write_whole(context, "/dev/null", "text", true) == FRIX_OK);
  CHECK(t, write_whole(context, full, "text", true) == FRIX_ERROR_FILE);
  CHECK(t, strstr(frix_error_text(context), full) && strstr(frix_error_text(context), "No space left on device"));
  CHECK(t, lstat(full, &info) == 0 && S_ISLNK(info.st_mode) && stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
  if (geteuid() != 0) {
    const char *kept = fx_test_scratch(t, "kept");
    put_file(kept, "kept");
    chmod(kept, 0444);
    check_refused(t, context, kept, FRIX_ERROR_FILE, "Permission denied");
  }
  frix_context_destroy(context);
}

/* What was read through a context that keeps its inputs is not replaced, whatever name it goes by. */
static void inputs_refused(fx_test *t) {
  frix_context_config config = frix_context_default();
  config.keep_inputs = true;
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(&config, &context) == FRIX_OK);
  const char *path = fx_test_scratch(t, "joined.json"), *hard = fx_test_scratch(t, "hard.json"),
             *soft = fx_test_scratch(t, "soft.json");
  put_file(path, joined);
  REQUIRE(t, link(path, hard) == 0 && symlink(path, soft) == 0);
  frix_problem *problem = NULL;
  REQUIRE(t, frix_problem_read(context, path, NULL, &problem) == FRIX_OK);
  const char *const name[] = {path, hard, soft};
  for (int k = 0; k < 3; k++) {
    check_refused(t, context, name[k], FRIX_ERROR_INPUT, "is an input too");
    CHECK(t, frix_problem_write(problem, name[k], NULL) == FRIX_ERROR_INPUT && holds(path, joined));
  }
  CHECK(t, frix_problem_write(problem, fx_test_scratch(t, "other.json"), NULL) == FRIX_OK);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

/* ---- verbs */

/* Files that verbs read: a problem with its answer, a world with a mesh in an included file, a run. */
static const char setup[] =
    "$frix example slope --out p.json && $frix solve p.json --out g.json --quiet 2>/dev/null >/dev/null;"
    "$frix solve p.json --out g.json >/dev/null && mkdir -p bench && cp p.json bench/p.json &&"
    "printf 'v 0 0 0\\nv .2 0 0\\nv 0 .2 0\\nv 0 0 .2\\nf 1 3 2\\nf 1 2 4\\nf 2 3 4\\nf 3 1 4\\n' >mesh.obj &&"
    "printf '<mujoco><asset><mesh name=\"m\" file=\"mesh.obj\"/></asset></mujoco>' >inc.xml &&"
    "printf '<mujoco><include file=\"inc.xml\"/><worldbody><geom type=\"plane\" size=\"1 1 1\"/>"
    "<body pos=\"0 0 .3\"><freejoint/><geom type=\"mesh\" mesh=\"m\"/></body></worldbody></mujoco>' >in.xml &&"
    "$frix run incline --time 0.1 --out r.frx --quiet && mkdir -p before && cp *.json *.xml *.obj *.frx before";

static bool pages(fx_test *t) {
  shell_result r = shell(t, "$frix view nothing.frx --no-open");
  bool on = !strstr(r.err, "no replay pages");
  shell_free(&r);
  return on;
}

/* Each ends with exit code 2 and one line that names the output; no input changes and nothing is left behind. */
static void inputs_survive(fx_test *t) {
  static const struct {
    const char *command, *output;
  } row[] = {
      {"run in.xml --time 0.01 --out", "in.xml"},
      {"run in.xml --time 0.01 --out", "inc.xml"},
      {"run in.xml --time 0.01 --out", "mesh.obj"},
      {"run in.xml --time 0.01 --html", "in.xml"},

      {"run --resume r.frx --html", "r.frx"},
      {"scene in.xml --out", "in.xml"},
      {"scene in.xml --out", "mesh.obj"},
      {"solve p.json --out", "p.json"},
      {"solve p.json --guess g.json --out", "g.json"},
      {"solve p.json --history", "p.json"},
      {"convert p.json", "p.json"},
      {"export r.frx --format npz --out", "r.frx"},
      {"export r.frx --problem 3 --out", "r.frx"},
      {"view r.frx --no-open --out", "r.frx"},
      {"render r.frx --video", "r.frx"},
      {"solve p.json --out x.json --history", "x.json"},
      {"run incline --time 0.1 --out x.frx --html", "./x.frx"},
      {"run incline --time 0.1 --out x_steps.csv --csv", "x"},
  };
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "this build reads no MJCF");
    return;
  }
  bool html = pages(t);
  shell_result r = shell(t, "%s", setup);
  CHECK(t, r.code == 0);
  shell_free(&r);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    if (!html && (strstr(row[k].command, "--html") || strstr(row[k].command, "view"))) continue;
    for (int way = 0; way < 3; way++) {
      /* by its name, by a hard link, by a symbolic link of the same ending */
      static const char *const link_way[] = {"true", "ln -f", "ln -sf"};
      char name[64];
      if (way && strchr("x.", row[k].output[0])) continue; /* two outputs, not there yet */
      snprintf(name, sizeof name, way ? "other%s" : "%s", way ? strrchr(row[k].output, '.') : row[k].output);
      r = shell(t, "%s %s %s; $frix %s %s", link_way[way], row[k].output, name, row[k].command, name);
      if (r.code != 2 || shell_lines(r.err) != 1 || !strstr(r.err, name))
        fx_test_fail(t, __FILE__, __LINE__, "%s %s: exit code %d, stderr '%s'", row[k].command, name, r.code, r.err);
      shell_free(&r);
      r = shell(t, "rm -f other.* x_steps.csv; for f in before/*; do cmp $f ${f#before/} || cp $f .; done; ls -A");
      if (r.err[0] || strstr(r.out, "tmp") || strstr(r.out, "x.") != strstr(r.out, "x.xml"))
        fx_test_fail(t, __FILE__, __LINE__, "%s %s: '%s', left: %s", row[k].command, name, r.err, r.out);
      shell_free(&r);
    }
  }
}

/* A page is made through a file of its own: names a user may have given to other files are left alone. */
static void page_beside_files(fx_test *t) {
  if (!pages(t)) {
    fx_test_skip(t, "this build has no replay pages");
    return;
  }
  shell_result r = shell(t,
                         "echo mine >page.html.frx; echo mine >victim; ln -s victim page.html.part; ls >before;"
                         "$frix run incline --time 0.1 --html page.html --quiet && cat page.html.frx victim &&"
                         " grep -q frix-index page.html; $frix run incline --time 0.1 --out r.frx --quiet;"
                         "$frix view r.frx --no-open --out page.html >/dev/null && cat victim; ls | wc -l");
  if (r.code || strcmp(r.out, "mine\nmine\nmine\n6\n"))
    fx_test_fail(t, __FILE__, __LINE__, "'%.200s' '%s'", r.out, r.err);
  shell_free(&r);
}

/* Every way to write, into NAME. */
static const struct {
  const char *command, *name; /* of the file that cannot be written */
  bool html, hdf5;
} writers[] = {
    {"run incline --time 0.1 --out $d/o.frx", "o.frx", false, false},
    {"run incline --time 0.1 --html $d/o.html", "o.html", true, false},
    {"run incline --time 2 --csv $d/o", "o_", false, false},
    {"run incline --time 0.1 --export-problems $d", "step_", false, true},
    {"scene cardhouse --out $d/o.xml", "o.xml", false, false},
    {"solve p.json --out $d/o.json", "o.json", false, false},
    {"solve p.json --out $d/o.hdf5", "o.hdf5", false, true},
    {"solve p.json --history $d/o.csv", "o.csv", false, false},
    {"convert p.json $d/o.dat", "o.dat", false, false},
    {"example wall --out $d/o.json", "o.json", false, false},
    {"export r.frx --out $d/o.csv", "o_", false, false},
    {"export r.frx --out $d/o.npz", "o.npz", false, false},
    {"export r.frx --out $d/o.h5", "o.h5", false, true},
    {"view r.frx --no-open --out $d/o.html", "o.html", true, false},
    {"render r.frx --size 200x200 --out $d/o.png", "o.png", false, false},
    {"bench problems bench --solvers nsgs --out $d", "results.csv", false, false},
    {"reproduce ball-drop --quick --out $d", "ball-drop", false, false},
};
enum { WRITERS = sizeof writers / sizeof *writers };

static bool wanted(fx_test *t, int k) {
#ifdef FRIX_HAVE_HDF5
  return !writers[k].html || pages(t);
#else
  return !writers[k].hdf5 && (!writers[k].html || pages(t));
#endif
}

/* A full disk, as a tmpfs in a namespace of its own where that is allowed: the message names the file and the
 * reason, the old file of that name stays, nothing else is left. */
static void full_disk(fx_test *t) {
  shell_result r = shell(t,
                         "mkdir -p full; for how in 'unshare -m' 'unshare -rm'; do "
                         "$how mount -t tmpfs -o size=64k none full 2>/dev/null && echo $how && break; done");
  char how[32];
  snprintf(how, sizeof how, "%.*s", (int)strcspn(r.out, "\n"), r.out);
  shell_free(&r);
  if (!how[0]) {
    fx_test_skip(t, "mounting a small tmpfs is not allowed here");
    return;
  }
  r = shell(t, "%s", setup);
  shell_free(&r);
  for (int k = 0; k < WRITERS; k++) {
    if (!wanted(t, k)) continue;
    r = shell(t,
              "export frix d=full; %s sh -c 'mount -t tmpfs -o size=64k none full; cat /dev/zero >full/big 2>/dev/null;"
              "$frix %s >/dev/null 2>err; code=$?; cat err >&2; rm -f full/big; ls -A full; exit $code'",
              how, writers[k].command);
    if (r.code != 2 || !strstr(r.err, writers[k].name) || !strstr(r.err, "No space left on device") ||
        strstr(r.out, "tmp") || shell_lines(r.err) > 2)
      fx_test_fail(t, __FILE__, __LINE__, "%s: exit code %d, stderr '%s', left '%s'", writers[k].command, r.code, r.err,
                   r.out);
    shell_free(&r);
  }
}

/* Pipes, folders and devices in place of the file. A pipe does not hang, a device stays one. */
static void special_files(fx_test *t) {
  static const char *const row[][2] = {
      {"run incline --time 0.1 --out", "frx"},
      {"run incline --time 0.1 --html", "html"},
      {"scene cardhouse --out", "xml"},
      {"solve p.json --out", "json"},
      {"solve p.json --history", "csv"},
      {"convert p.json", "json"},
      {"example wall --out", "json"},
      {"export r.frx --out", "npz"},
      {"export r.frx --out", "h5"},
      {"view r.frx --no-open --out", "html"},
      {"render r.frx --size 64x64 --out", "png"},
      {"render r.frx --size 64x64 --video", "mp4"},
  };
  bool html = pages(t);
  shell_result r = shell(t, "%s", setup);
  shell_free(&r);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    if (!html && !strcmp(row[k][1], "html")) continue;
    r = shell(t,
              "rm -rf o.*; mkfifo o.%2$s; timeout 10 $frix %1$s o.%2$s; echo $?; test -p o.%2$s; echo $?; rm o.%2$s;"
              "mkdir o.%2$s; $frix %1$s o.%2$s; echo $?; rmdir o.%2$s && ln -s /dev/full o.%2$s;"
              "$frix %1$s o.%2$s >/dev/null; echo $?; test -c o.%2$s && test -L o.%2$s; echo $?; ls -A | grep -c tmp",
              row[k][0], row[k][1]);
    bool places = !strcmp(row[k][1], "npz") || !strcmp(row[k][1], "h5") || !strcmp(row[k][1], "mp4");
    if (strcmp(r.out, "2\n0\n2\n2\n0\n0\n") || !strstr(r.err, "it is a named pipe") ||
        !strstr(r.err, "it is a directory") ||
        !strstr(r.err, places ? "regular file" : "cannot write: No space left on device"))
      fx_test_fail(t, __FILE__, __LINE__, "%s: codes '%s', stderr '%s'", row[k][0], r.out, r.err);
    shell_free(&r);
  }
  /* what goes to the process's own output arrives there */
  r = shell(t,
            "$frix convert p.json /dev/stdout --format json | cmp - p.json && $frix convert p.json /dev/stdout"
            " --format json >copy && cmp copy p.json");
  CHECK(t, r.code == 0);
  shell_free(&r);
}

const fx_test_row test_outputs[] = {
    {"outputs/whole_or_nothing", whole_or_nothing},
    {"outputs/temporary_is_new", temporary_is_new},
    {"outputs/kinds_refused", kinds_refused},
    {"outputs/inputs_refused", inputs_refused},
    {"outputs/inputs_survive", inputs_survive},
    {"outputs/page_beside_files", page_beside_files},
    {"outputs/full_disk", full_disk},
    {"outputs/special_files", special_files},
    {0},
};
