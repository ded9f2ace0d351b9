/* Kinetic energy of a frame with amplitudes: spin w in the body's axes, rates s.
 *
 *   T = m v^2/2 + w.I(q) w/2 + w.sum_j g_j(q) s_j + s.s/2
 *   I = tr(S) 1 - S,  S(q) = integral of rho r r',  r = X + sum q_i U_i;   g_j = integral of rho r x U_j
 *
 * S = S0 + sum q_i (F_i + F_i') + sum q_i q_j C_ij, and g_j is the axial vector of F_j + sum q_i C_ij, where F_j gives
 * none because the basis is orthogonal to rigid turns. The centre of mass does not move in the body, so the velocity of
 * the frame is that of the centre and stands alone. */
#include "soft/soft.h"

#include <string.h>

static frix_vec3 axial(const double m[9]) { return fx_vec(m[5] - m[7], m[6] - m[2], m[1] - m[3]); }

frix_sym3 fx_soft_inertia(const frix_soft *s, const double *q) {
  int32_t k = s->info.coordinates;
  double S[9];
  memcpy(S, s->second, sizeof S);
  for (int32_t i = 0; i < k; i++) {
    const double *F = s->first + 9 * (size_t)i;
    for (int a = 0; a < 9; a++) S[a] += 2.0 * q[i] * F[a];
    for (int32_t j = 0; j < k; j++) {
      const double *C = s->cross + 9 * ((size_t)i * k + j);
      double both = q[i] * q[j];
      for (int a = 0; a < 9; a++) S[a] += both * C[a];
    }
  }
  return (frix_sym3){S[4] + S[8],          S[0] + S[8],          S[0] + S[4],
                     -0.5 * (S[1] + S[3]), -0.5 * (S[2] + S[6]), -0.5 * (S[5] + S[7])};
}

void fx_soft_coupling(const frix_soft *s, const double *q, frix_vec3 *g) {
  int32_t k = s->info.coordinates;
  for (int32_t j = 0; j < k; j++) {
    frix_vec3 sum = {0.0, 0.0, 0.0};
    for (int32_t i = 0; i < k; i++) sum = fx_mad(sum, q[i], axial(s->cross + 9 * ((size_t)i * k + j)));
    g[j] = sum;
  }
}

void fx_soft_centrifugal(const frix_soft *s, const double *q, frix_vec3 w, const double *rate, double *out) {
  int32_t k = s->info.coordinates;
  const double v[3] = {w.x, w.y, w.z}, square = fx_dot(w, w);
  for (int32_t i = 0; i < k; i++) {
    double B[9], along = 0.0;
    frix_vec3 turn = {0.0, 0.0, 0.0};
    memcpy(B, s->first + 9 * (size_t)i, sizeof B);
    for (int32_t j = 0; j < k; j++) {
      const double *C = s->cross + 9 * ((size_t)i * k + j);
      for (int a = 0; a < 9; a++) B[a] += q[j] * C[a];
      turn = fx_mad(turn, rate[j], axial(C));
    }
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) along += v[a] * B[3 * a + b] * v[b];
    out[i] = (B[0] + B[4] + B[8]) * square - along + fx_dot(w, turn);
  }
}

frix_sym3 fx_soft_inverse(frix_sym3 s) {
  double a = s.yy * s.zz - s.yz * s.yz, b = s.xz * s.yz - s.xy * s.zz, c = s.xy * s.yz - s.xz * s.yy;
  double d = 1.0 / (s.xx * a + s.xy * b + s.xz * c);
  return (frix_sym3){d * a, d * (s.xx * s.zz - s.xz * s.xz), d * (s.xx * s.yy - s.xy * s.xy), d * b,
                     d * c, d * (s.xy * s.xz - s.xx * s.yz)};
}

/* ---- momenta and velocities of a state ---- */

frix_vec3 fx_soft_spin(const frix_soft_state *x) {
  const frix_soft *s = x->soft;
  frix_vec3 *g = (frix_vec3 *)x->work, L = fx_unrotate(x->pose.q, x->spin_momentum);
  fx_soft_coupling(s, x->amplitude, g);
  for (int32_t j = 0; j < s->info.coordinates; j++) L = fx_mad(L, -x->rate[j], g[j]);
  return fx_sym3_mul(fx_soft_inverse(fx_soft_inertia(s, x->amplitude)), L);
}

void fx_soft_set_momenta(frix_soft_state *x, frix_vec3 w) {
  const frix_soft *s = x->soft;
  frix_vec3 *g = (frix_vec3 *)x->work, L = fx_sym3_mul(fx_soft_inertia(s, x->amplitude), w);
  fx_soft_coupling(s, x->amplitude, g);
  for (int32_t j = 0; j < s->info.coordinates; j++) {
    L = fx_mad(L, x->rate[j], g[j]);
    x->momentum[j] = x->rate[j] + fx_dot(g[j], w);
  }
  x->spin_momentum = fx_rotate(x->pose.q, L);
}

/* Rates from momenta: s = p - g'w with (I - g g') w = L - g p. */
void fx_soft_set_rates(frix_soft_state *x) {
  const frix_soft *s = x->soft;
  frix_vec3 *g = (frix_vec3 *)x->work, L = fx_unrotate(x->pose.q, x->spin_momentum);
  frix_sym3 I = fx_soft_inertia(s, x->amplitude);
  fx_soft_coupling(s, x->amplitude, g);
  for (int32_t j = 0; j < s->info.coordinates; j++) {
    L = fx_mad(L, -x->momentum[j], g[j]);
    I.xx -= g[j].x * g[j].x, I.yy -= g[j].y * g[j].y, I.zz -= g[j].z * g[j].z;
    I.xy -= g[j].x * g[j].y, I.xz -= g[j].x * g[j].z, I.yz -= g[j].y * g[j].z;
  }
  frix_vec3 w = fx_sym3_mul(fx_soft_inverse(I), L);
  for (int32_t j = 0; j < s->info.coordinates; j++) x->rate[j] = x->momentum[j] - fx_dot(g[j], w);
}

/* ---- what a problem needs of the body ---- */

void fx_soft_rows(const frix_soft_state *x, int32_t point, double *out) {
  const frix_soft_info *info = &x->soft->info;
  int32_t k = info->coordinates, n = 6 + k;
  frix_vec3 place = info->point[point];
  const double *U = info->shape + 3 * (size_t)point * k;
  for (int32_t j = 0; j < k; j++) place = fx_mad(place, x->amplitude[j], fx_vec(U[j], U[k + j], U[2 * (size_t)k + j]));
  frix_vec3 arm = fx_rotate(x->pose.q, place);
  memset(out, 0, 3 * (size_t)n * sizeof *out);
  for (int a = 0; a < 3; a++) out[(size_t)a * n + a] = 1.0;
  /* w x arm */
  out[4] = arm.z, out[5] = -arm.y;
  out[n + 3] = -arm.z, out[n + 5] = arm.x;
  out[2 * n + 3] = arm.y, out[2 * n + 4] = -arm.x;
  for (int32_t j = 0; j < k; j++) {
    frix_vec3 u = fx_rotate(x->pose.q, fx_vec(U[j], U[k + j], U[2 * (size_t)k + j]));
    out[6 + j] = u.x, out[n + 6 + j] = u.y, out[2 * n + 6 + j] = u.z;
  }
}

void fx_soft_block(const frix_soft_state *x, double h, double t, double *out) {
  const frix_soft *s = x->soft;
  int32_t k = s->info.coordinates, n = 6 + k;
  frix_vec3 *g = (frix_vec3 *)x->work;
  memset(out, 0, (size_t)n * n * sizeof *out);
  frix_sym3 I = fx_sym3_turn(x->pose.q, fx_soft_inertia(s, x->amplitude));
  const double J[3][3] = {{I.xx, I.xy, I.xz}, {I.xy, I.yy, I.yz}, {I.xz, I.yz, I.zz}};
  for (int a = 0; a < 3; a++) {
    out[(size_t)a * n + a] = s->info.mass;
    for (int b = 0; b < 3; b++) out[(size_t)(3 + a) * n + 3 + b] = J[a][b];
  }
  fx_soft_coupling(s, x->amplitude, g);
  for (int32_t j = 0; j < k; j++) {
    frix_vec3 c = fx_rotate(x->pose.q, g[j]);
    for (int a = 0; a < 3; a++) out[(size_t)(3 + a) * n + 6 + j] = out[(size_t)(6 + j) * n + 3 + a] = fx_at(c, a);
    out[(size_t)(6 + j) * n + 6 + j] = 1.0;
  }
  if (!(h > 0.0)) return;
  fx_soft_stiffness(x);
  for (int32_t i = 0; i < k; i++) {
    for (int32_t j = 0; j < k; j++) out[(size_t)(6 + i) * n + 6 + j] += h * t * x->tangent[(size_t)i * k + j];
    out[(size_t)(6 + i) * n + 6 + i] += h * s->info.damping[i];
  }
}
