/* Piles that come to rest: spheres poured into a box, rigid and compliant.
 *
 *   bench_settle [--spheres N] [--stiffness K] [--time T] [--seed S]
 *
 * A line every tenth of the time: kinetic energy over m g r of all spheres together, fastest held centre, loose
 * spheres, steps without certificate, milliseconds per step. In the middle of the fall and at the end: how far ten
 * steps under tolerance 1e-6 and 1e-8 come apart. */
#include "settling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  double time = 5, stiffness = 1e6;
  int32_t spheres = 1000;
  uint64_t seed = 1;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (!strcmp(argv[k], "--time"))
      time = atof(argv[k + 1]);
    else if (!strcmp(argv[k], "--spheres"))
      spheres = atoi(argv[k + 1]);
    else if (!strcmp(argv[k], "--stiffness"))
      stiffness = atof(argv[k + 1]);
    else if (!strcmp(argv[k], "--seed"))
      seed = (uint64_t)atoll(argv[k + 1]);
    else
      return fprintf(stderr, "bench_settle: unknown option '%s'\n", argv[k]), 2;
  }
  settling s;
  bool good = settling_new(&s, spheres, stiffness, seed);
  printf("%d spheres, %g N/m\n%6s %12s %12s %6s %7s %9s %9s\n", spheres, stiffness, "time", "kinetic", "speed_m/s",
         "loose", "missed", "ms/step", "apart_m");
  for (int k = 1; good && k <= 10; k++) {
    int64_t missed = s.uncertified;
    s.seconds = 0, s.steps = 0;
    good = settling_run(&s, time / 10);
    frix_energy e = frix_sim_energy(s.sim);
    double mass = 2500 * 4.18879 * 0.05 * 0.05 * 0.05 * spheres;
    int32_t loose;
    double speed = settling_speed(&s, &loose);
    printf("%6.2f %12.3e %12.3e %6d %7lld %9.2f", frix_sim_time(s.sim), e.kinetic / (mass * 9.81 * 0.05), speed, loose,
           (long long)(s.uncertified - missed), 1e3 * s.seconds / (double)s.steps);
    if (stiffness > 0 && (k == 2 || k == 10)) printf(" %9.1e", settling_apart(&s, 1e-6, 1e-8, 10));
    printf("\n");
    fflush(stdout);
  }
  if (!good) fprintf(stderr, "bench_settle: %s\n", frix_error_text(s.context));
  settling_end(&s);
  return good ? 0 : 1;
}
