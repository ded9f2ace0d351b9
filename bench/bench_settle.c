/* Piles that come to rest: spheres poured into a box, rigid and compliant.
 *
 *   bench_settle [--spheres N] [--stiffness K] [--rolling M] [--spinning M] [--rough 1] [--tolerance E] [--time T]
 *                [--seed S]
 *
 * A line every tenth of the time: kinetic energy over m g r of all spheres together, fastest held centre, loose
 * spheres, spheres faster than 1e-9 m/s, steps without certificate, milliseconds per step. In the middle of the fall
 * and at the end: how far ten steps under tolerance 1e-6 and 1e-8 come apart. Where something still moves: whether it
 * does so when loose spheres are held. */
#include "settling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_options(int argc, char **argv, settling_config *pile, double *time) {
  for (int k = 1; k < argc; k += 2) {
    struct {
      const char *name;
      double *value;
    } row[] = {{"--time", time},
               {"--stiffness", &pile->stiffness},
               {"--rolling", &pile->rolling},
               {"--spinning", &pile->spinning},
               {"--tolerance", &pile->tolerance}};
    bool known = k + 1 < argc;
    if (known && !strcmp(argv[k], "--spheres"))
      pile->spheres = atoi(argv[k + 1]);
    else if (known && !strcmp(argv[k], "--rough"))
      pile->rough = atoi(argv[k + 1]) != 0;
    else if (known && !strcmp(argv[k], "--seed"))
      pile->seed = (uint64_t)atoll(argv[k + 1]);
    else {
      size_t at = 0, rows = sizeof row / sizeof *row;
      while (at < rows && strcmp(argv[k], row[at].name) != 0) at++;
      if (!known || at == rows) {
        fprintf(stderr, "bench_settle: '%s' is no option with a value\n", argv[k]);
        return false;
      }
      *row[at].value = atof(argv[k + 1]);
    }
  }
  return true;
}

int main(int argc, char **argv) {
  double time = 5;
  settling_config pile = {.spheres = 1000, .stiffness = 1e6, .seed = 1};
  if (!read_options(argc, argv, &pile, &time)) return 2;
  settling s;
  bool good = settling_new(&s, pile);
  printf("%d spheres, %g N/m, rolling friction %g m, drilling friction %g m, %s floor\n", pile.spheres, pile.stiffness,
         pile.rolling, pile.spinning, pile.rough ? "rough" : "flat");
  printf("%6s %12s %12s %6s %6s %7s %9s %9s\n", "time", "kinetic", "speed_m/s", "loose", "moving", "missed", "ms/step",
         "apart_m");
  for (int k = 1; good && k <= 10; k++) {
    int64_t missed = s.uncertified;
    s.seconds = 0, s.steps = 0;
    good = settling_run(&s, time / 10);
    frix_energy e = frix_sim_energy(s.sim);
    double mass = 2500 * 4.18879 * 0.05 * 0.05 * 0.05 * pile.spheres;
    int32_t loose;
    double speed = settling_speed(&s, &loose);
    printf("%6.2f %12.3e %12.3e %6d %6d %7lld %9.2f", frix_sim_time(s.sim), e.kinetic / (mass * 9.81 * 0.05), speed,
           loose, settling_moving(&s, 1e-9), (long long)(s.uncertified - missed), 1e3 * s.seconds / (double)s.steps);
    if (pile.stiffness > 0 && (k == 2 || k == 10)) printf(" %9.1e", settling_apart(&s, 1e-6, 1e-8, 10));
    printf("\n");
    fflush(stdout);
  }
  if (good && pile.stiffness > 0 && settling_moving(&s, 1e-9) > 0) {
    int32_t loose;
    good = settling_hold_loose(&s, 2.0);
    double speed = settling_speed(&s, &loose);
    printf("after 2 s with the loose ones held: %d faster than 1e-9 m/s, %.1e m/s at most\n", settling_moving(&s, 1e-9),
           speed);
  }
  if (!good) fprintf(stderr, "bench_settle: %s\n", frix_error_text(s.context));
  settling_end(&s);
  return good ? 0 : 1;
}
