/* Principal axes as MuJoCo's compiler finds them.
 *
 * Jacobi rotations kept as one quaternion, q <- q r, each clearing the largest entry off the diagonal of
 * D = R(q)' J R(q), until none exceeds `stop` times the largest entry of J; then quarter turns bring the moments into
 * falling order. MuJoCo stops at 1e-7 for meshes, and what is left off the diagonal is lost to it: a tree takes the
 * same axes and moments, so that its masses are those of MuJoCo to rounding and not to 1e-7. */
#include <math.h>

#include "io/mjcf_internal.h"

static double largest_of(frix_sym3 j) {
  double diagonal = fx_max(fabs(j.xx), fx_max(fabs(j.yy), fabs(j.zz)));
  return fx_max(diagonal, fx_max(fabs(j.xy), fx_max(fabs(j.xz), fabs(j.yz))));
}

static frix_quat about(int axis, double cosine, double sine) {
  frix_vec3 v = {axis == 0 ? sine : 0.0, axis == 1 ? sine : 0.0, axis == 2 ? sine : 0.0};
  return (frix_quat){cosine, v.x, v.y, v.z};
}

/* Clears the largest entry off the diagonal of d; false: none is as large as `least`. */
static bool rotate_once(frix_sym3 d, double least, frix_quat *q) {
  const double diagonal[3] = {d.xx, d.yy, d.zz};
  double xy = fabs(d.xy), xz = fabs(d.xz), yz = fabs(d.yz);
  int axis = xy > xz && xy > yz ? 2 : xz > yz ? 1 : 0;
  double off = axis == 2 ? d.xy : axis == 1 ? d.xz : d.yz;
  if (!(fabs(off) > least)) return false;
  int row = axis == 0 ? 1 : 0, column = axis == 2 ? 1 : 2;
  double tau = (diagonal[column] - diagonal[row]) / (2.0 * off);
  double t = 1.0 / (fabs(tau) + sqrt(1.0 + tau * tau)), c = 1.0 / sqrt(1.0 + t * t);
  double sine = t * c / sqrt(2.0 + 2.0 * c); /* of half the angle: sqrt((1 - c) / 2) without its cancellation */
  if ((tau >= 0.0) != (axis == 1)) sine = -sine;
  *q = fx_quat_unit(fx_quat_mul(*q, about(axis, sqrt(1.0 - sine * sine), sine)));
  return true;
}

frix_quat fx_mjcf_principal(frix_sym3 j, double stop, double moment[3]) {
  frix_quat q = {1.0, 0.0, 0.0, 0.0};
  frix_sym3 d = j;
  double least = stop * largest_of(j);
  for (int k = 0; k < 500 && rotate_once(d, least, &q); k++) d = fx_sym3_turn(fx_quat_conj(q), j);
  moment[0] = d.xx, moment[1] = d.yy, moment[2] = d.zz;
  for (int k = 0; k < 3; k++) {
    int a = k % 2, b = a + 1;
    double swap = moment[a];
    if (!(moment[a] < moment[b] * (1.0 - 1e-12))) continue;
    moment[a] = moment[b], moment[b] = swap;
    q = fx_quat_unit(fx_quat_mul(q, about((a + 2) % 3, sqrt(0.5), sqrt(0.5))));
  }
  return q;
}
