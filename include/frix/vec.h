/* frix: vectors, rotations and poses as plain data. */
#ifndef FRIX_VEC_H
#define FRIX_VEC_H

#include <frix/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frix_vec3 {
  double x, y, z;
} frix_vec3;

/* A unit quaternion, scalar first; it turns local directions into outer ones. */
typedef struct frix_quat {
  double w, x, y, z;
} frix_quat;

/* Where a frame stands: outer = p + q * local. */
typedef struct frix_pose {
  frix_vec3 p;
  frix_quat q;
} frix_pose;

/* A symmetric 3x3 matrix, an inertia tensor say. */
typedef struct frix_sym3 {
  double xx, yy, zz, xy, xz, yz;
} frix_sym3;

/* Sine and cosine of an angle in radians, with the same bits on every machine (libm's differ). */
FRIX_API void frix_sincos(double angle, double *sine, double *cosine);
/* A turn by an angle in radians about an axis of any length; no turn about the zero axis. */
FRIX_API frix_quat frix_quat_turn(frix_vec3 axis, double angle);

#ifdef __cplusplus
}
#endif
#endif
