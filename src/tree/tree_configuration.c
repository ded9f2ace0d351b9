/* Configurations as points of a manifold: quaternions move by exponentials of rotation vectors in the body's axes.
 *
 *   q (+) h v = q exp(h v)          to (-) from = log(from^-1 to) / h,  within half a turn */
#include "base/trig.h"
#include "tree/tree.h"

frix_quat fx_quat_exp(frix_vec3 v) {
  double angle = fx_norm(v), s, c;
  if (!(angle > 0.0)) return fx_quat_one();
  fx_sincos(0.5 * angle, &s, &c);
  s /= angle;
  return (frix_quat){c, s * v.x, s * v.y, s * v.z};
}

frix_vec3 fx_quat_log(frix_quat q) {
  frix_vec3 v = {q.x, q.y, q.z};
  double s = fx_norm(v);
  if (!(s > 1e-300)) return fx_vec(0.0, 0.0, 0.0);
  double angle = 2.0 * fx_atan2(s, q.w);
  if (angle > FX_PI) angle -= 2.0 * FX_PI;
  return fx_scale(angle / s, v);
}

/* What does not turn keeps its bits: to give a quaternion unit length again may change the last of them for ever. */
static void turn(double *q, const double *v, double h) {
  if (v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0) return;
  frix_quat moved = fx_quat_mul(fx_quat_at(q), fx_quat_exp(fx_vec(h * v[0], h * v[1], h * v[2])));
  fx_quat_put(fx_quat_unit(moved), q);
}

void fx_tree_integrate(const fx_tree *t, double *qpos, const double *velocity, double h) {
  for (int32_t k = 0; k < t->joint_count; k++) {
    const fx_tree_joint *j = &t->joint[k];
    double *q = qpos + j->q;
    const double *v = velocity + j->v;
    if (j->kind == FRIX_ROBOT_FREE)
      for (int i = 0; i < 3; i++) *q++ += h * *v++;
    if (j->kind == FRIX_ROBOT_FREE || j->kind == FRIX_ROBOT_BALL)
      turn(q, v, h);
    else
      q[0] += h * v[0];
  }
}

void fx_tree_differentiate(const fx_tree *t, const double *from, const double *to, double h, double *velocity) {
  for (int32_t k = 0; k < t->joint_count; k++) {
    const fx_tree_joint *j = &t->joint[k];
    const double *a = from + j->q, *b = to + j->q;
    double *v = velocity + j->v;
    if (j->kind == FRIX_ROBOT_FREE)
      for (int i = 0; i < 3; i++) *v++ = (*b++ - *a++) / h;
    if (j->kind == FRIX_ROBOT_FREE || j->kind == FRIX_ROBOT_BALL) {
      frix_vec3 d = fx_quat_log(fx_quat_mul(fx_quat_conj(fx_quat_at(a)), fx_quat_at(b)));
      v[0] = d.x / h, v[1] = d.y / h, v[2] = d.z / h;
    } else {
      v[0] = (b[0] - a[0]) / h;
    }
  }
}
