/* Small fixed-size maths: functions too long for inlining. */
#include "linalg/vector.h"

#include "base/trig.h"

void frix_sincos(double angle, double *sine, double *cosine) {
  double s, c;
  fx_sincos(angle, &s, &c);
  if (sine) *sine = s;
  if (cosine) *cosine = c;
}

frix_quat frix_quat_turn(frix_vec3 axis, double angle) {
  double length = fx_norm(axis), s, c;
  if (!(length > 0.0)) return (frix_quat){1.0, 0.0, 0.0, 0.0};
  fx_sincos(0.5 * angle, &s, &c);
  s /= length;
  return fx_quat_unit((frix_quat){c, s * axis.x, s * axis.y, s * axis.z});
}

frix_quat fx_quat_of_axes(frix_vec3 x, frix_vec3 y, frix_vec3 z) {
  /* Shepperd: divide by the largest of the four, so that nothing cancels. */
  double trace = x.x + y.y + z.z;
  frix_quat q;
  if (trace >= x.x && trace >= y.y && trace >= z.z) {
    q = (frix_quat){1.0 + trace, y.z - z.y, z.x - x.z, x.y - y.x};
  } else if (x.x >= y.y && x.x >= z.z) {
    q = (frix_quat){y.z - z.y, 1.0 + x.x - y.y - z.z, y.x + x.y, z.x + x.z};
  } else if (y.y >= z.z) {
    q = (frix_quat){z.x - x.z, y.x + x.y, 1.0 + y.y - x.x - z.z, z.y + y.z};
  } else {
    q = (frix_quat){x.y - y.x, z.x + x.z, z.y + y.z, 1.0 + z.z - x.x - y.y};
  }
  return fx_quat_unit(q);
}

frix_sym3 fx_sym3_turn(frix_quat q, frix_sym3 s) {
  fx_mat3 r = fx_quat_matrix(q);
  /* rows of r, seen from the local frame: entry (i, j) is r_i . s r_j */
  frix_vec3 sx = fx_sym3_mul(s, r.x), sy = fx_sym3_mul(s, r.y), sz = fx_sym3_mul(s, r.z);
  return (frix_sym3){fx_dot(r.x, sx), fx_dot(r.y, sy), fx_dot(r.z, sz),
                     fx_dot(r.x, sy), fx_dot(r.x, sz), fx_dot(r.y, sz)};
}

/* One Jacobi rotation in the plane (p, q). */
static void jacobi(double a[3][3], double v[3][3], int p, int q) {
  if (a[p][q] == 0.0) return;
  double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
  double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
  double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
  for (int k = 0; k < 3; k++) {
    double kp = a[k][p], kq = a[k][q];
    a[k][p] = c * kp - s * kq, a[k][q] = s * kp + c * kq;
  }
  for (int k = 0; k < 3; k++) {
    double pk = a[p][k], qk = a[q][k];
    a[p][k] = c * pk - s * qk, a[q][k] = s * pk + c * qk;
  }
  for (int k = 0; k < 3; k++) {
    double kp = v[k][p], kq = v[k][q];
    v[k][p] = c * kp - s * kq, v[k][q] = s * kp + c * kq;
  }
}

void fx_sym3_eigen(frix_sym3 s, double value[3], frix_vec3 axis[3]) {
  double a[3][3] = {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
  double v[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  for (int sweep = 0; sweep < 12; sweep++) {
    jacobi(a, v, 0, 1);
    jacobi(a, v, 0, 2);
    jacobi(a, v, 1, 2);
  }
  int order[3] = {0, 1, 2};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2 - i; j++)
      if (a[order[j]][order[j]] > a[order[j + 1]][order[j + 1]]) {
        int swap = order[j];
        order[j] = order[j + 1], order[j + 1] = swap;
      }
  for (int k = 0; k < 3; k++) {
    value[k] = a[order[k]][order[k]];
    if (axis) axis[k] = (frix_vec3){v[0][order[k]], v[1][order[k]], v[2][order[k]]};
  }
}

frix_vec3 fx_across(frix_vec3 n) {
  bool by_x = fabs(n.x) < 0.9;
  double along = by_x ? n.x : n.y, scale = 1.0 / sqrt(1.0 - along * along);
  frix_vec3 t = fx_scale(-along * scale, n);
  if (by_x) {
    t.x += scale;
  } else {
    t.y += scale;
  }
  return t;
}
