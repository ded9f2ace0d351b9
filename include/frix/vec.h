/* frix: vectors, rotations and poses as plain data. */
#ifndef FRIX_VEC_H
#define FRIX_VEC_H

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

#ifdef __cplusplus
}
#endif
#endif
