/* The scenes of bench_softs, as both engines build them: soft cubes in columns of two on an inclined floor, which stand
 * or slide. */
#ifndef BENCH_SOFTS_H
#define BENCH_SOFTS_H

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct soft_scene {
  const char *name;
  int columns, settle, steps; /* steps before the measurement, and in it */
  double side, density, young, mu, slope, h;
} soft_scene;

typedef struct soft_result {
  double seconds;     /* of processor time of a step */
  double contacts;    /* in the last step, below 0: not told */
  int coordinates;    /* of all bodies */
  int certified;      /* steps */
  double residual;    /* worst */
  double drift;       /* farthest that a column is from where it should be, from the beginning of the measurement, m */
  double penetration; /* deepest of a point below the floor at the end, m */
} soft_result;

/* Where column k stands. */
static inline void soft_place(int k, double side, double *x, double *y) {
  *x = 2.0 * side * (k % 10), *y = 2.0 * side * (k / 10);
}

/* How far downhill the columns should go while they are measured: v += h a, x += h v with a = g (sin - mu cos). */
static inline double soft_way(const soft_scene *s) {
  double fall = 9.81 * s->h * s->h / sqrt(1.0 + s->slope * s->slope), n = s->steps;
  return s->slope > s->mu ? (s->slope - s->mu) * fall * 0.5 * n * (n + 1.0) : 0.0;
}

soft_result bullet_softs(const soft_scene *scene);

#ifdef __cplusplus
}
#endif
#endif
