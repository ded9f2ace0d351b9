/* Spheres poured into a box, stepped until they rest: how fast they still are, how much energy they have, and whether a
 * tighter tolerance takes them elsewhere. */
#ifndef FRIX_BENCH_SETTLING_H
#define FRIX_BENCH_SETTLING_H

#include <frix/frix.h>

/* stiffness of a contact in N/m, 0: rigid; rolling and spinning friction in metres; tolerance 0: the default; rough:
 * half spheres on the floor. */
typedef struct settling_config {
  int32_t spheres;
  double stiffness, rolling, spinning, tolerance;
  bool rough;
  uint64_t seed;
} settling_config;

typedef struct settling {
  frix_context *context;
  frix_model *model;
  frix_sim *sim;
  frix_sim_config config;
  double h;
  int64_t steps, uncertified;
  double seconds; /* in steps */
} settling;

/* False after a message in the context. */
bool settling_new(settling *s, settling_config wanted);
void settling_end(settling *s);
bool settling_run(settling *s, double time);
/* Of the fastest centre among spheres that others hold, with at least three loaded contacts, m/s. Without rolling
 * friction nothing brakes a loose one that rolls on the floor or on two neighbours; *loose counts these. */
double settling_speed(const settling *s, int32_t *loose);
/* Goes on while spheres that are loose, or were since the call, are held where they are: what still moves does so by
 * itself. */
bool settling_hold_loose(settling *s, double time);
/* Spheres faster than this, held or loose. */
int32_t settling_moving(const settling *s, double speed);
/* The largest distance between where a sphere comes after `steps` steps under the two tolerances, m; NAN on failure. */
double settling_apart(const settling *s, double tolerance, double other, int32_t steps);

#endif
