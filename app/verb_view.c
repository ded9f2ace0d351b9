/* frix view: the replay page of a trajectory, written and opened in a browser. A scene is run first. */
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/scene.h"
#include "page.h"
#include "scene_file.h"

extern char **environ;
extern const fx_verb fx_verb_run;

/* run.frx -> run.html, in the same folder. */
static char *page_name(const char *trajectory) {
  char *stem = fx_join(trajectory, "");
  char *base = stem + (fx_base_name(stem) - stem), *dot = strrchr(base, '.');
  if (dot && dot != base) *dot = 0;
  char *name = fx_join(stem, ".html");
  free(stem);
  return name;
}

bool fx_open_browser(const char *path) {
  const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
  bool desktop = (display && display[0]) || (wayland && wayland[0]);
#ifdef __APPLE__
  const char *opener = "open";
  desktop = true;
#else
  const char *opener = "xdg-open";
#endif
  if (!desktop) return false;
  char *argv[] = {(char *)opener, (char *)path, NULL};
  pid_t child;
  return posix_spawnp(&child, opener, NULL, NULL, argv, environ) == 0;
}

/* Whether the word is something to run: a scene of the table or a scene file. */
static bool is_scene(const char *word) {
  return fx_is_scene_file(word) || (frix_scene_find(word) && access(word, F_OK) != 0);
}

/* Runs it with the flags that say how, into a new file beside the page; NULL after a message. */
static char *run_first(const fx_args *args, const char *html) {
  static const char *const passed[] = {"--set", "--time", "--dt", "--seed", "--solver", "--law", "--every"};
  char *file = fx_new_file(html, ".frx");
  if (!file) return NULL;
  char **word = fx_grow(NULL, 2 * (size_t)args->flag_count + 4, sizeof *word);
  int count = 0;
  word[count++] = (char *)args->word[0];
  word[count++] = "--out";
  word[count++] = file;
  for (int k = 0; k < args->flag_count; k++)
    for (size_t p = 0; p < sizeof passed / sizeof passed[0]; p++)
      if (!strcmp(args->flag[k]->name, passed[p]))
        word[count++] = (char *)passed[p], word[count++] = (char *)args->value[k];
  fx_args inner;
  bool good = fx_args_parse(&fx_verb_run, count, word, &inner);
  if (good) good = fx_verb_run.run(&inner) != FX_EXIT_USAGE, fx_args_free(&inner);
  free(word);
  if (good) return file;
  unlink(file);
  free(file);
  return NULL;
}

static int run_view(const fx_args *args) {
  const char *trajectory = args->word[0];
  char *scratch = NULL;
  fx_page_config config = fx_page_default();
  if (!fx_arg_integer(args, "--frames", 1, 1000000, &config.frames) ||
      !fx_arg_real(args, "--max-size", 0.1, 2000, &config.megabytes))
    return FX_EXIT_USAGE;
  config.plain = fx_arg(args, "--plain") != NULL;
  config.prove = fx_arg(args, "--prove") != NULL;
  char *html = fx_arg(args, "--out") ? fx_join(fx_arg(args, "--out"), "") : page_name(trajectory);
  if (is_scene(trajectory)) {
    trajectory = scratch = run_first(args, html);
    if (!scratch) {
      free(html);
      return FX_EXIT_USAGE;
    }
  }
  frix_context *context = fx_context(false);
  int32_t damaged = 0;
  bool good = fx_page_write(context, trajectory, html, &config, &damaged);
  if (good) {
    struct stat status;
    double size = stat(html, &status) == 0 ? (double)status.st_size : 0;
    printf("%s, %.1f MB\n", html, size * 1e-6);
    fflush(stdout);
    if (!fx_arg(args, "--no-open") && !fx_open_browser(html)) fx_remark("no desktop here: open %s in a browser", html);
  }
  frix_context_destroy(context);
  if (scratch) unlink(scratch);
  free(scratch);
  free(html);
  return !good ? FX_EXIT_USAGE : damaged ? FX_EXIT_UNSOLVED : FX_EXIT_SOLVED;
}

static const fx_flag flags[] = {
    {"--out", "PAGE.html", NULL, "page to write; default: the name of the trajectory with .html"},
    {"--prove", NULL, NULL,
     "include frix itself in the page (1.3 MB): a button repeats the run and compares every frame"},
    {"--no-open", NULL, NULL, "write the page and open no browser"},
    {"--plain", NULL, NULL, "write numbers in single precision and without compression, for other programs"},
    {"--set", "k=v", NULL, "scene: set a parameter, as in frix run; may be repeated"},
    {"--time", "T", NULL, "scene: simulated time in s"},
    {"--dt", "H", NULL, "scene: time step in s"},
    {"--seed", "N", NULL, "scene: seed of its random parts"},
    {"--solver", "NAME", "@solvers", "scene: solver"},
    {"--law", "LAW", "coulomb|associated", "scene: coulomb (exact) or associated (convex relaxation)"},
    {"--every", "K", NULL, "scene: keep frames of every K-th step only"},
    {"--frames", "N", NULL, "largest number of frames, denser where things move; default 2000"},
    {"--max-size", "MB", NULL,
     "approximate largest size of the page, default 64; larger runs get 16-bit positions, then fewer frames"},
    {0},
};

const fx_verb fx_verb_view = {
    .name = "view",
    .arguments = "RUN.frx|SCENE|FILE",
    .summary = "show a run in a browser; a scene is run first",
    .detail =
        "Writes one self-contained HTML file that needs no network and opens it in a browser if there is a desktop. "
        "The page\n"
        "shows bodies, contacts with forces, states and friction cones, and plots of residual, energy and contacts "
        "over time.\n"
        "Click a body or a contact to see its numbers.",
    .example =
        "  frix view arch --set mu=0.3                                 # runs it, arch.html, opened\n"
        "  frix view run.frx                                           # run.html, opened\n"
        "  frix view run.frx --out /tmp/page.html --no-open --frames 500",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_view,
};
