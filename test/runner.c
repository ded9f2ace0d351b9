/* The test program: runs the tables of all test files, in order, with a name filter.
 *
 *   frix_test [--list] [--quiet] [--first] [--jobs N] [--without NAME]... [FILTER...]
 *
 * A test runs when its name contains one of the filters and none of the names it is to go without; with --jobs, N
 * processes share the work; --first ends at the first failure.
 *
 * Every test/test_NAME.c brings the table test_NAME; the build lists them in test_tables.inc. The last line is
 * `N passed, N failed`, with `, N skipped` where tests were skipped; the exit code is 1 when a test failed or none was
 * found, 77 when all were skipped. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "test.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TABLE(name) extern const fx_test_row name[];
#include "test_tables.inc"
#undef TABLE

static const struct {
  const char *name;
  const fx_test_row *row;
} tables[] = {
#define TABLE(name) {#name, name},
#include "test_tables.inc"
#undef TABLE
    {NULL, NULL},
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

enum { SHOWN_FAILURES = 10, KEPT_TEXTS = 4096, NOTE_SIZE = 512 };

/* The running test. Texts handed out by fx_test_shared and fx_test_scratch live until it ends. */
struct fx_test {
  const char *name;
  int number;
  int failures;
  bool skipped;
  char reason[NOTE_SIZE];
  char note[NOTE_SIZE];
  uint64_t random;
  char *text[KEPT_TEXTS];
  int text_count;
};

static const char *running = "none"; /* for the crash handler */
static char scratch_root[4096];      /* created on first use */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what tests call */

void fx_test_fail(fx_test *t, const char *file, int line, const char *format, ...) {
  t->failures++;
  if (t->failures > SHOWN_FAILURES) return;
  const char *slash = strrchr(file, '/');
  printf("      %s:%d: ", slash ? slash + 1 : file, line);
  va_list list;
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
  printf("\n");
}

void fx_test_skip(fx_test *t, const char *reason) {
  t->skipped = true;
  snprintf(t->reason, sizeof t->reason, "%s", reason);
}

void fx_test_note(fx_test *t, const char *format, ...) {
  size_t used = strlen(t->note);
  if (used && used + 2 < sizeof t->note) {
    memcpy(t->note + used, "; ", 3);
    used += 2;
  }
  va_list list;
  va_start(list, format);
  vsnprintf(t->note + used, sizeof t->note - used, format, list);
  va_end(list);
}

static const char *keep_path(fx_test *t, const char *folder, const char *name) {
  size_t size = strlen(folder) + strlen(name) + 2;
  char *path = t->text_count < KEPT_TEXTS ? malloc(size) : NULL;
  if (!path) {
    fprintf(stderr, "frix_test: %s asks for too many paths\n", t->name);
    exit(2);
  }
  snprintf(path, size, "%s/%s", folder, name);
  t->text[t->text_count++] = path;
  return path;
}

const char *fx_test_shared(fx_test *t, const char *relative) {
  const char *folder = getenv("FRIX_SHARED");
  const char *path = keep_path(t, folder && folder[0] ? folder : FRIX_SOURCE_DIR "/../shared", relative);
  struct stat status;
  if (stat(path, &status) == 0) return path;
  char reason[NOTE_SIZE];
  snprintf(reason, sizeof reason, "no ../shared/%s", relative);
  fx_test_skip(t, reason);
  return NULL;
}

const char *fx_test_scratch(fx_test *t, const char *name) {
  if (!scratch_root[0]) {
    const char *base = getenv("TMPDIR");
    snprintf(scratch_root, sizeof scratch_root, "%s/frix_test.XXXXXX", base && base[0] ? base : "/tmp");
    if (!mkdtemp(scratch_root)) {
      fprintf(stderr, "frix_test: cannot create the scratch folder %s\n", scratch_root);
      exit(2);
    }
  }
  char folder[32];
  snprintf(folder, sizeof folder, "t%d", t->number);
  const char *own = keep_path(t, scratch_root, folder);
  mkdir(own, 0777);
  return keep_path(t, own, name);
}

double fx_test_random(fx_test *t) {
  uint64_t z = (t->random += 0x9e3779b97f4a7c15u); /* splitmix64 */
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return ((double)(z >> 11) + 0.5) * 0x1p-52 - 1.0;
}

/* ---- running */

static void remove_tree(const char *path) {
  struct stat status;
  if (lstat(path, &status) != 0) return;
  if (S_ISDIR(status.st_mode)) {
    chmod(path, 0700);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
      if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
      char child[8192];
      if (snprintf(child, sizeof child, "%s/%s", path, entry->d_name) < (int)sizeof child) remove_tree(child);
    }
    if (folder) closedir(folder);
    rmdir(path);
  } else {
    unlink(path);
  }
}

#ifndef SANITIZED
static void crashed(int signal_number) {
  static const char head[] = "\nfrix_test: crashed in ";
  ssize_t ignored = write(STDERR_FILENO, head, sizeof head - 1);
  ignored += write(STDERR_FILENO, running, strlen(running));
  ignored += write(STDERR_FILENO, "\n", 1);
  (void)ignored;
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}
#endif

static bool contains_one(const char *name, int count, char **part) {
  for (int k = 0; k < count; k++)
    if (strstr(name, part[k])) return true;
  return false;
}

static void show_time(double seconds, char *out, size_t size) {
  if (seconds < 1e-3) {
    snprintf(out, size, "%.0f us", seconds * 1e6);
  } else if (seconds < 1) {
    snprintf(out, size, "%.1f ms", seconds * 1e3);
  } else {
    snprintf(out, size, "%.2f s", seconds);
  }
}

/* Runs one test; 1 passed, 0 failed, -1 skipped. A check that failed before a skip counts as failed. */
static int run_test(const fx_test_row *row, int number, bool quiet) {
  static fx_test t;
  memset(&t, 0, sizeof t);
  t.name = running = row->name;
  t.number = number;
  t.random = 0x243f6a8885a308d3u;
  double start = now();
  row->run(&t);
  char time_text[32];
  show_time(now() - start, time_text, sizeof time_text);
  int verdict = t.failures ? 0 : t.skipped ? -1 : 1;
  if (t.failures > SHOWN_FAILURES) printf("      and %d more\n", t.failures - SHOWN_FAILURES);
  if (!quiet || verdict != 1)
    printf("%-4s  %-48s %9s  %s\n",
           verdict == 0  ? "FAIL"
           : verdict < 0 ? "skip"
                         : "ok",
           row->name, time_text, verdict < 0 ? t.reason : t.note);
  fflush(stdout);
  for (int k = 0; k < t.text_count; k++) free(t.text[k]);
  running = "none";
  return verdict;
}

/* ---- the command */

enum { MOST_JOBS = 64, MOST_WITHOUT = 64 };

enum { EXIT_SKIPPED = 77 };

static struct {
  bool list, quiet, first;
  int jobs;
  int without_count, filter_count;
  char *without[MOST_WITHOUT], **filter;
} asked = {.jobs = 1};

/* What the workers share. */
typedef struct tally {
  atomic_int next, passed, failed, skipped;
} tally;

static bool parse(int argc, char **argv) {
  int k = 1;
  for (; k < argc && argv[k][0] == '-'; k++) {
    if (!strcmp(argv[k], "--list")) {
      asked.list = true;
    } else if (!strcmp(argv[k], "--quiet")) {
      asked.quiet = true;
    } else if (!strcmp(argv[k], "--first")) {
      asked.first = true;
    } else if (!strcmp(argv[k], "--jobs") && k + 1 < argc) {
      asked.jobs = atoi(argv[++k]);
      if (asked.jobs < 1 || asked.jobs > MOST_JOBS) return false;
    } else if (!strcmp(argv[k], "--without") && k + 1 < argc && asked.without_count < MOST_WITHOUT) {
      asked.without[asked.without_count++] = argv[++k];
    } else {
      return false;
    }
  }
  asked.filter_count = argc - k;
  asked.filter = argv + k;
  return true;
}

static bool is_wanted(const char *name) {
  return (!asked.filter_count || contains_one(name, asked.filter_count, asked.filter)) &&
         !contains_one(name, asked.without_count, asked.without);
}

/* Takes the next wanted test that is not taken yet, until there is none. */
static void work(tally *all) {
  int number = 0, mine = atomic_fetch_add(&all->next, 1);
  for (int k = 0; tables[k].row; k++) {
    for (const fx_test_row *row = tables[k].row; row->name; row++) {
      if (!is_wanted(row->name) || number++ != mine) continue;
      int verdict = run_test(row, number, asked.quiet);
      atomic_fetch_add(verdict == 1 ? &all->passed : verdict == 0 ? &all->failed : &all->skipped, 1);
      if (asked.first && all->failed) return;
      mine = atomic_fetch_add(&all->next, 1);
    }
  }
}

static void work_in_processes(tally *all) {
  for (int k = 0; k < asked.jobs; k++) {
    fflush(stdout);
    if (fork() == 0) {
      work(all);
      if (scratch_root[0]) remove_tree(scratch_root);
      exit(0);
    }
  }
  for (int status; wait(&status) > 0;)
    if (status) {
      printf("FAIL  a worker ended %s %d\n", WIFSIGNALED(status) ? "by signal" : "with exit code",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
      atomic_fetch_add(&all->failed, 1);
    }
}

int main(int argc, char **argv) {
  if (!parse(argc, argv)) {
    fprintf(stderr, "usage: frix_test [--list] [--quiet] [--first] [--jobs N] [--without NAME]... [FILTER...]\n");
    return 2;
  }
  if (asked.list) {
    for (int k = 0; tables[k].row; k++)
      for (const fx_test_row *row = tables[k].row; row->name; row++)
        if (is_wanted(row->name)) printf("%s\n", row->name);
    return 0;
  }
#ifndef SANITIZED
  signal(SIGSEGV, crashed);
  signal(SIGABRT, crashed);
  signal(SIGFPE, crashed);
#endif
  tally *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return 2;
  if (asked.jobs > 1) {
    setvbuf(stdout, NULL, _IOFBF, 1 << 16); /* the lines of a test stay together */
    work_in_processes(all);
  } else {
    work(all);
    if (scratch_root[0]) remove_tree(scratch_root);
  }
  printf("%d passed, %d failed", all->passed, all->failed);
  if (all->skipped) printf(", %d skipped", all->skipped);
  printf("\n");
  if (all->failed || all->passed + all->skipped == 0) return 1;
  return all->passed ? 0 : EXIT_SKIPPED;
}
