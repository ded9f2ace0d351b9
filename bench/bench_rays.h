/* The world of bench_rays, as both engines build it. */
#ifndef BENCH_RAYS_H
#define BENCH_RAYS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ray_body {
  int box; /* or a sphere */
  double half[3], radius;
  double p[3], q[4]; /* quaternion, scalar first */
} ray_body;

/* Bullet: distances of the closest hits along so many segments (from, to: 3 numbers each), -1 where nothing is hit;
 * returns seconds of processor time. */
double bullet_rays(const ray_body *body, int body_count, const double *from, const double *to, int count,
                   double *distance);

#ifdef __cplusplus
}
#endif
#endif
