/* Vectors, rotations and 3x3 matrices in long double, for a judge that shares nothing with src/. */
#ifndef ADVERSARY_REAL_H
#define ADVERSARY_REAL_H

#include <frix/vec.h>
#include <math.h>

typedef long double real;

typedef struct vec {
  real x, y, z;
} vec;

typedef struct quat {
  real w, x, y, z;
} quat;

typedef struct mat {
  vec row[3];
} mat;

static inline vec v_of(frix_vec3 a) { return (vec){a.x, a.y, a.z}; }
static inline vec v_add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec v_sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vec v_mul(real s, vec a) { return (vec){s * a.x, s * a.y, s * a.z}; }
static inline vec v_mad(vec a, real s, vec b) { return v_add(a, v_mul(s, b)); }
static inline real v_dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec v_cross(vec a, vec b) {
  return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline real v_norm(vec a) { return hypotl(hypotl(a.x, a.y), a.z); }
static inline real v_far(vec a) { return fmaxl(fabsl(a.x), fmaxl(fabsl(a.y), fabsl(a.z))); }

static inline quat q_unit(quat q) {
  real n = sqrtl(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  return (quat){q.w / n, q.x / n, q.y / n, q.z / n};
}
static inline quat q_of(frix_quat q) { return q_unit((quat){q.w, q.x, q.y, q.z}); }
static inline quat q_mul(quat a, quat b) {
  return (quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z, a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x};
}
static inline vec q_turn(quat q, vec v) {
  vec u = {q.x, q.y, q.z}, t = v_mul(2, v_cross(u, v));
  return v_add(v_mad(v, q.w, t), v_cross(u, t));
}
static inline quat q_inverse(quat q) { return (quat){q.w, -q.x, -q.y, -q.z}; }
static inline vec q_column(quat q, int k) { return q_turn(q, (vec){k == 0, k == 1, k == 2}); }
/* q after turning with a constant spin. */
static inline quat q_after(quat q, vec spin, real time) {
  real speed = v_norm(spin), half = speed * time / 2;
  if (!(speed > 0)) return q;
  vec axis = v_mul(sinl(half) / speed, spin);
  return q_unit(q_mul((quat){cosl(half), axis.x, axis.y, axis.z}, q));
}

static inline mat m_of(frix_sym3 s) { return (mat){{{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}}}; }
static inline vec m_mul(mat m, vec v) { return (vec){v_dot(m.row[0], v), v_dot(m.row[1], v), v_dot(m.row[2], v)}; }
static inline mat m_inverse(mat m) {
  vec a = v_cross(m.row[1], m.row[2]), b = v_cross(m.row[2], m.row[0]), c = v_cross(m.row[0], m.row[1]);
  real d = v_dot(m.row[0], a);
  return (mat){{{a.x / d, b.x / d, c.x / d}, {a.y / d, b.y / d, c.y / d}, {a.z / d, b.z / d, c.z / d}}};
}
/* R m R' */
static inline mat m_turned(quat q, mat m) {
  mat out;
  for (int k = 0; k < 3; k++) {
    vec e = {k == 0, k == 1, k == 2}, column = q_turn(q, m_mul(m, q_turn(q_inverse(q), e)));
    if (k == 0) out.row[0].x = column.x, out.row[1].x = column.y, out.row[2].x = column.z;
    if (k == 1) out.row[0].y = column.x, out.row[1].y = column.y, out.row[2].y = column.z;
    if (k == 2) out.row[0].z = column.x, out.row[1].z = column.y, out.row[2].z = column.z;
  }
  return out;
}

#endif
