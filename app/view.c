/* frix view: the replay page of a trajectory, written and opened in a browser. */
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "page.h"

extern char **environ;

/* run.frx -> run.html, in the same folder. */
static char *page_name(const char *trajectory) {
  char *stem = fx_join(trajectory, "");
  char *base = stem + (fx_base_name(stem) - stem), *dot = strrchr(base, '.');
  if (dot && dot != base) *dot = 0;
  char *name = fx_join(stem, ".html");
  free(stem);
  return name;
}

/* Hands the page to the desktop; false where there is none. */
static bool open_browser(const char *path) {
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

static int run_view(const fx_args *args) {
  const char *trajectory = args->word[0];
  fx_page_config config = fx_page_default();
  if (!fx_arg_integer(args, "--frames", 1, 1000000, &config.frames) ||
      !fx_arg_real(args, "--max-size", 0.1, 2000, &config.megabytes))
    return FX_EXIT_USAGE;
  char *html = fx_arg(args, "--out") ? fx_join(fx_arg(args, "--out"), "") : page_name(trajectory);
  frix_context *context = fx_context(false);
  int32_t damaged = 0;
  bool good = fx_page_write(context, trajectory, html, &config, &damaged);
  if (good) {
    struct stat status;
    double size = stat(html, &status) == 0 ? (double)status.st_size : 0;
    printf("%s, %.1f MB\n", html, size * 1e-6);
    fflush(stdout);
    if (!fx_arg(args, "--no-open") && !open_browser(html)) fx_remark("no desktop here: open %s in a browser", html);
  }
  frix_context_destroy(context);
  free(html);
  return !good ? FX_EXIT_USAGE : damaged ? FX_EXIT_UNSOLVED : FX_EXIT_SOLVED;
}

static const fx_flag flags[] = {
    {"--out", "PAGE.html", NULL, "the page; default: the name of the trajectory with .html"},
    {"--no-open", NULL, NULL, "write the page and open no browser"},
    {"--frames", "N", NULL, "show at most N frames, more where things move; default 2000"},
    {"--max-size", "MB", NULL, "size of the page, about; default 64. Larger runs: 16-bit positions, then fewer frames"},
    {0},
};

const fx_verb fx_verb_view = {
    .name = "view",
    .arguments = "RUN.frx",
    .summary = "look at a run in the browser",
    .detail =
        "Writes one HTML file that needs nothing else, not even a network: bodies, contacts with forces, states and\n"
        "friction cones, plots of residual, energy and contacts, all in step with time. Picking a body or a contact\n"
        "shows its numbers. Then opens it, where there is a desktop.",
    .example =
        "  frix view run.frx                                           # run.html, opened\n"
        "  frix view run.frx --out /tmp/page.html --no-open --frames 500",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_view,
};
