/* Small fixed-size maths: vectors, quaternions, poses, 3x3 matrices. + - * / sqrt only, so that every machine gets the
 * same bits. */
#ifndef FX_LINALG_VEC_H
#define FX_LINALG_VEC_H

#include <frix/vec.h>
#include <math.h>
#include <stdbool.h>

/* Compilers do not inline fmax, which has opinions about NaN. */
static inline double fx_max(double a, double b) { return a > b ? a : b; }
static inline double fx_min(double a, double b) { return a < b ? a : b; }

/* Rows. */
typedef struct fx_mat3 {
  frix_vec3 x, y, z;
} fx_mat3;

static inline frix_vec3 fx_vec(double x, double y, double z) { return (frix_vec3){x, y, z}; }
static inline frix_vec3 fx_add(frix_vec3 a, frix_vec3 b) { return (frix_vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline frix_vec3 fx_sub(frix_vec3 a, frix_vec3 b) { return (frix_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline frix_vec3 fx_scale(double s, frix_vec3 a) { return (frix_vec3){s * a.x, s * a.y, s * a.z}; }
static inline frix_vec3 fx_neg(frix_vec3 a) { return (frix_vec3){-a.x, -a.y, -a.z}; }
/* a + s b */
static inline frix_vec3 fx_mad(frix_vec3 a, double s, frix_vec3 b) {
  return (frix_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double fx_dot(frix_vec3 a, frix_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline frix_vec3 fx_cross(frix_vec3 a, frix_vec3 b) {
  return (frix_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double fx_norm2(frix_vec3 a) { return fx_dot(a, a); }
static inline double fx_norm(frix_vec3 a) { return sqrt(fx_dot(a, a)); }
/* The norm of vectors too whose squares underflow: below 1e-162 fx_norm and fx_norm2 are 0 without the vector being. */
static inline double fx_norm_careful(frix_vec3 a) {
  double n = fx_norm(a);
  return n > 0x1p-500 ? n : 0x1p-540 * fx_norm(fx_scale(0x1p540, a));
}
static inline bool fx_is_zero(frix_vec3 a) { return a.x == 0.0 && a.y == 0.0 && a.z == 0.0; }
/* Unit vector along a; `otherwise` where a is too short to have a direction. */
static inline frix_vec3 fx_unit_or(frix_vec3 a, frix_vec3 otherwise) {
  double big = fx_max(fx_max(fabs(a.x), fabs(a.y)), fabs(a.z));
  if (!(big > 1e-300)) return otherwise;
  a = fx_scale(1.0 / big, a);
  return fx_scale(1.0 / fx_norm(a), a);
}
static inline frix_vec3 fx_unit(frix_vec3 a) { return fx_unit_or(a, (frix_vec3){0.0, 0.0, 1.0}); }
static inline bool fx_finite(frix_vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
static inline double fx_at(frix_vec3 a, int k) { return k == 0 ? a.x : k == 1 ? a.y : a.z; }
static inline double fx_clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/* ---- rotations ---- */
static inline frix_quat fx_quat_one(void) { return (frix_quat){1.0, 0.0, 0.0, 0.0}; }
static inline frix_quat fx_quat_conj(frix_quat q) { return (frix_quat){q.w, -q.x, -q.y, -q.z}; }
static inline frix_quat fx_quat_mul(frix_quat a, frix_quat b) {
  return (frix_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline double fx_quat_norm2(frix_quat q) { return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z; }
static inline frix_quat fx_quat_unit(frix_quat q) {
  double s = 1.0 / sqrt(fx_quat_norm2(q));
  return (frix_quat){s * q.w, s * q.x, s * q.y, s * q.z};
}
/* Local to outer. */
static inline frix_vec3 fx_rotate(frix_quat q, frix_vec3 v) {
  frix_vec3 u = {q.x, q.y, q.z};
  frix_vec3 t = fx_scale(2.0, fx_cross(u, v));
  return fx_add(fx_mad(v, q.w, t), fx_cross(u, t));
}
/* Outer to local. */
static inline frix_vec3 fx_unrotate(frix_quat q, frix_vec3 v) { return fx_rotate(fx_quat_conj(q), v); }
static inline fx_mat3 fx_quat_matrix(frix_quat q) {
  double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z, xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  return (fx_mat3){{1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)},
                   {2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx)},
                   {2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)}};
}
static inline frix_vec3 fx_mat3_mul(fx_mat3 m, frix_vec3 v) {
  return (frix_vec3){fx_dot(m.x, v), fx_dot(m.y, v), fx_dot(m.z, v)};
}
static inline frix_vec3 fx_mat3_tmul(fx_mat3 m, frix_vec3 v) {
  return fx_mad(fx_mad(fx_scale(v.x, m.x), v.y, m.y), v.z, m.z);
}
/* Column k of m: the k-th local axis, where m turns local into outer. */
static inline frix_vec3 fx_mat3_col(fx_mat3 m, int k) {
  return (frix_vec3){fx_at(m.x, k), fx_at(m.y, k), fx_at(m.z, k)};
}
/* The rotation whose columns are x, y, z (orthonormal, right-handed). */
frix_quat fx_quat_of_axes(frix_vec3 x, frix_vec3 y, frix_vec3 z);

/* ---- poses ---- */
static inline frix_pose fx_pose_one(void) { return (frix_pose){{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}; }
static inline frix_vec3 fx_pose_point(frix_pose a, frix_vec3 v) { return fx_add(a.p, fx_rotate(a.q, v)); }
static inline frix_vec3 fx_pose_unpoint(frix_pose a, frix_vec3 v) { return fx_unrotate(a.q, fx_sub(v, a.p)); }
/* First b, then a: a * b. */
static inline frix_pose fx_pose_mul(frix_pose a, frix_pose b) {
  return (frix_pose){fx_pose_point(a, b.p), fx_quat_mul(a.q, b.q)};
}
static inline frix_pose fx_pose_inverse(frix_pose a) {
  return (frix_pose){fx_neg(fx_unrotate(a.q, a.p)), fx_quat_conj(a.q)};
}

/* ---- symmetric matrices ---- */
static inline frix_sym3 fx_sym3_add(frix_sym3 a, frix_sym3 b) {
  return (frix_sym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
static inline frix_vec3 fx_sym3_mul(frix_sym3 s, frix_vec3 v) {
  return (frix_vec3){s.xx * v.x + s.xy * v.y + s.xz * v.z, s.xy * v.x + s.yy * v.y + s.yz * v.z,
                     s.xz * v.x + s.yz * v.y + s.zz * v.z};
}
/* R s R' */
frix_sym3 fx_sym3_turn(frix_quat q, frix_sym3 s);
/* Eigenvalues, ascending (Jacobi); axes (may be NULL) gets the matching unit columns. */
void fx_sym3_eigen(frix_sym3 s, double value[3], frix_vec3 axis[3]);

/* A unit vector across n (unit), chosen from n alone: x made orthogonal to n, or y where n is within 26 degrees of x.
 * It jumps only on that circle, where contact normals seldom lie. The second one is cross(n, first). */
frix_vec3 fx_across(frix_vec3 n);

#endif
