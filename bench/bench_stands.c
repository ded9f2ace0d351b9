/* Worlds that must stand: drift, residual and cost over a long time.
 *
 *   bench_stands [--minutes M] [--only NAME] [--step H]
 *
 * Each world starts a little shaken and has one second to settle, then stands for M simulated minutes (default 10) at
 * h = 0.01 and 0.001. A line per run: how far the farthest body came, steps without certificate, worst residual, share
 * of steps that needed no solver, processor time per step. Exit code 1 where one moved more than 1e-6 m or a step was
 * not certified. */
#include "worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool stack_10(standing *w) { return standing_stack(w, NULL, 10, 1e-3, 1); }
static bool stack_30(standing *w) { return standing_stack(w, NULL, 30, 1e-3, 2); }
static bool cards(standing *w) { return standing_cards(w, NULL, 4, 1e-6, 3); }
static bool arch(standing *w) { return standing_arch(w, NULL, 25, 0.2, 0.6, 1e-6, 4); }

static const struct {
  const char *name;
  bool (*build)(standing *w);
} worlds[] = {{"stack_10", stack_10}, {"stack_30", stack_30}, {"cards", cards}, {"arch", arch}};

static bool run(const char *name, bool (*build)(standing *), double h, double minutes) {
  standing w;
  if (!build(&w)) return false;
  bool good = true;
  int64_t settle = (int64_t)(1 / h + 0.5), count = (int64_t)(60 * minutes / h + 0.5);
  for (int64_t k = 0; good && k < settle; k++) good = standing_step(&w, h, NULL);
  double settled = standing_moved(&w);
  int64_t missed = w.uncertified;
  standing_mark(&w);
  w.seconds = 0, w.steps = w.warm = 0;
  for (int64_t k = 0; good && k < count; k++) good = standing_step(&w, h, NULL);
  double drift = standing_moved(&w);
  printf("%-9s %6g %9.1e %9.1e %8.1e %6lld %8.4f %9.2f\n", name, h, settled, drift, w.worst, (long long)w.uncertified,
         (double)w.warm / (double)w.steps, 1e6 * w.seconds / (double)w.steps);
  fflush(stdout);
  good = good && missed == 0 && w.uncertified == 0 && drift < 1e-6;
  standing_end(&w);
  return good;
}

int main(int argc, char **argv) {
  double minutes = 10, only_step = 0;
  const char *only = NULL;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (!strcmp(argv[k], "--minutes"))
      minutes = atof(argv[k + 1]);
    else if (!strcmp(argv[k], "--only"))
      only = argv[k + 1];
    else if (!strcmp(argv[k], "--step"))
      only_step = atof(argv[k + 1]);
    else
      return fprintf(stderr, "stands: unknown option '%s'\n", argv[k]), 2;
  }
  printf("%-9s %6s %9s %9s %8s %6s %8s %9s\n", "world", "h", "settled_m", "drift_m", "residual", "missed", "warm",
         "us/step");
  bool good = true;
  static const double steps[] = {0.01, 0.001};
  for (size_t k = 0; k < sizeof worlds / sizeof *worlds; k++)
    for (int j = 0; j < 2; j++)
      if ((!only || !strcmp(only, worlds[k].name)) && (only_step == 0 || only_step == steps[j]))
        good &= run(worlds[k].name, worlds[k].build, steps[j], minutes);
  return good ? 0 : 1;
}
