/* The scene of bench_softs, as both engines build it: soft cubes in columns of two on an inclined floor. */
#ifndef BENCH_SOFTS_H
#define BENCH_SOFTS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct soft_scene {
  int columns, settle, steps; /* steps before the measurement, and in it */
  double side, density, young, mu, slope, h;
} soft_scene;

typedef struct soft_result {
  double seconds;     /* of processor time of a step */
  double contacts;    /* in the last step, below 0: not told */
  int coordinates;    /* of all bodies */
  int certified;      /* steps */
  double residual;    /* worst */
  double drift;       /* farthest that a column moves downhill while it is measured, m; it should stand */
  double penetration; /* deepest of a point below the floor at the end, m */
} soft_result;

/* Where column k stands. */
static inline void soft_place(int k, double side, double *x, double *y) {
  *x = 2.0 * side * (k % 10), *y = 2.0 * side * (k / 10);
}

soft_result bullet_softs(const soft_scene *scene);

#ifdef __cplusplus
}
#endif
#endif
