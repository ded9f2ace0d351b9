/* Kinetic energy of a frame with amplitudes: spin w in the body's axes, rates s.
 *
 *   T = m v^2/2 + w.I(q) w/2 + w.sum_j g_j(q) s_j + s.s/2
 *   I = tr(S) 1 - S,  S(q) = integral of rho r r',  r = X + sum q_i U_i;   g_j = integral of rho r x U_j
 *
 * S = S0 + sum q_i (F_i + F_i') + sum q_i q_j C_ij, and g_j is the axial vector of F_j + sum q_i C_ij, where F_j gives
 * none because the basis is orthogonal to rigid turns. The centre of mass does not move in the body, so the velocity of
 * the frame is that of the centre and stands alone. */
#include "soft/soft_internal.h"

#include <string.h>

#include "linalg/product.h"

/* Parts of C_ij as matrices over i and j: xx, yy, zz, xy, xz, yz of its symmetric part, which are symmetric, and the
 * three numbers of its axial vector, which change sign with i and j exchanged. */
enum { PARTS = 6, PLANES = 9 };

static void split(const double m[9], double out[PLANES]) {
  const double parts[PLANES] = {
      m[0],        m[4],        m[8],       0.5 * (m[1] + m[3]), 0.5 * (m[2] + m[6]), 0.5 * (m[5] + m[7]),
      m[5] - m[7], m[6] - m[2], m[1] - m[3]};
  memcpy(out, parts, sizeof parts);
}

void fx_soft_split_inertia(frix_soft *s) {
  size_t k = (size_t)s->info.coordinates;
  double part[PLANES];
  for (size_t e = 0; e < k * k; e++) {
    split(s->cross + 9 * e, part);
    for (size_t p = 0; p < PLANES; p++) s->plane[p * k * k + e] = part[p];
  }
}

/* Planes from one on times x: count k numbers. */
static void multiply(const frix_soft *s, int first, int count, const double *x, double *out) {
  int32_t k = s->info.coordinates;
  memset(out, 0, (size_t)(count * k) * sizeof *out);
  fx_add_products(count * k, k, s->plane + (size_t)(first * k) * (size_t)k, x, out);
}

frix_sym3 fx_soft_inertia(const frix_soft *s, const double *q) {
  int32_t k = s->info.coordinates;
  double S[PLANES], F[PLANES], Cq[PARTS * FX_MOST_COORDINATES];
  split(s->second, S);
  multiply(s, 0, PARTS, q, Cq);
  for (int32_t i = 0; i < k; i++) {
    split(s->first + 9 * (size_t)i, F);
    for (int p = 0; p < PARTS; p++) S[p] += q[i] * (2.0 * F[p] + Cq[p * k + i]);
  }
  return (frix_sym3){S[1] + S[2], S[0] + S[2], S[0] + S[1], -S[3], -S[4], -S[5]};
}

void fx_soft_coupling(const frix_soft *s, const double *q, frix_vec3 *g) {
  int32_t k = s->info.coordinates;
  double Cq[3 * FX_MOST_COORDINATES];
  multiply(s, PARTS, 3, q, Cq);
  for (int32_t j = 0; j < k; j++) g[j] = fx_vec(-Cq[j], -Cq[k + j], -Cq[2 * k + j]);
}

void fx_soft_centrifugal(const frix_soft *s, const double *q, frix_vec3 w, const double *rate, double *out) {
  int32_t k = s->info.coordinates;
  double square = fx_dot(w, w), B[PLANES], Cq[PARTS * FX_MOST_COORDINATES], Cs[3 * FX_MOST_COORDINATES];
  multiply(s, 0, PARTS, q, Cq);
  multiply(s, PARTS, 3, rate, Cs);
  for (int32_t i = 0; i < k; i++) {
    split(s->first + 9 * (size_t)i, B);
    for (int p = 0; p < PARTS; p++) B[p] += Cq[p * k + i];
    frix_sym3 own = {B[0], B[1], B[2], B[3], B[4], B[5]};
    frix_vec3 turn = {Cs[i], Cs[k + i], Cs[2 * k + i]};
    out[i] = (B[0] + B[1] + B[2]) * square - fx_dot(w, fx_sym3_mul(own, w)) + fx_dot(w, turn);
  }
}

void fx_soft_spread_find(const frix_soft_state *x) {
  size_t k = (size_t)x->soft->info.coordinates;
  *x->inertia = fx_soft_inertia(x->soft, x->amplitude);
  fx_soft_coupling(x->soft, x->amplitude, x->coupling);
  if (k) memcpy(x->seen, x->amplitude, k * sizeof *x->seen);
}

fx_soft_spread fx_soft_spread_of(const frix_soft_state *x) {
  size_t k = (size_t)x->soft->info.coordinates;
  if (k && memcmp(x->seen, x->amplitude, k * sizeof *x->seen) != 0) fx_soft_spread_find(x);
  return (fx_soft_spread){*x->inertia, x->coupling};
}

frix_sym3 fx_soft_inverse(frix_sym3 s) {
  double a = s.yy * s.zz - s.yz * s.yz, b = s.xz * s.yz - s.xy * s.zz, c = s.xy * s.yz - s.xz * s.yy;
  double d = 1.0 / (s.xx * a + s.xy * b + s.xz * c);
  return (frix_sym3){d * a, d * (s.xx * s.zz - s.xz * s.xz), d * (s.xx * s.yy - s.xy * s.xy), d * b,
                     d * c, d * (s.xy * s.xz - s.xx * s.yz)};
}

/* ---- momenta and velocities of a state ---- */

fx_soft_spinner fx_soft_spinner_of(const frix_soft_state *x) {
  fx_soft_spread mass = fx_soft_spread_of(x);
  fx_soft_spinner out = {.inverse = fx_soft_inverse(mass.inertia)};
  for (int32_t j = 0; j < x->soft->info.coordinates; j++)
    out.carried = fx_mad(out.carried, x->rate[j], mass.coupling[j]);
  return out;
}

frix_vec3 fx_soft_spin_at(const fx_soft_spinner *s, frix_quat q, frix_vec3 momentum) {
  return fx_sym3_mul(s->inverse, fx_sub(fx_unrotate(q, momentum), s->carried));
}

frix_vec3 fx_soft_spin(const frix_soft_state *x) {
  fx_soft_spinner s = fx_soft_spinner_of(x);
  return fx_soft_spin_at(&s, x->pose.q, x->spin_momentum);
}

void fx_soft_set_momenta(frix_soft_state *x, frix_vec3 w) {
  fx_soft_spread mass = fx_soft_spread_of(x);
  const frix_vec3 *g = mass.coupling;
  frix_vec3 L = fx_sym3_mul(mass.inertia, w);
  for (int32_t j = 0; j < x->soft->info.coordinates; j++) {
    L = fx_mad(L, x->rate[j], g[j]);
    x->momentum[j] = x->rate[j] + fx_dot(g[j], w);
  }
  x->spin_momentum = fx_rotate(x->pose.q, L);
}

/* Rates from momenta: s = p - g'w with (I - g g') w = L - g p. */
void fx_soft_set_rates(frix_soft_state *x) {
  fx_soft_spread mass = fx_soft_spread_of(x);
  const frix_vec3 *g = mass.coupling;
  frix_vec3 L = fx_unrotate(x->pose.q, x->spin_momentum);
  frix_sym3 I = mass.inertia;
  for (int32_t j = 0; j < x->soft->info.coordinates; j++) {
    L = fx_mad(L, -x->momentum[j], g[j]);
    I.xx -= g[j].x * g[j].x, I.yy -= g[j].y * g[j].y, I.zz -= g[j].z * g[j].z;
    I.xy -= g[j].x * g[j].y, I.xz -= g[j].x * g[j].z, I.yz -= g[j].y * g[j].z;
  }
  frix_vec3 w = fx_sym3_mul(fx_soft_inverse(I), L);
  for (int32_t j = 0; j < x->soft->info.coordinates; j++) x->rate[j] = x->momentum[j] - fx_dot(g[j], w);
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
  fx_soft_spread mass = fx_soft_spread_of(x);
  memset(out, 0, (size_t)n * n * sizeof *out);
  frix_sym3 I = fx_sym3_turn(x->pose.q, mass.inertia);
  const double J[3][3] = {{I.xx, I.xy, I.xz}, {I.xy, I.yy, I.yz}, {I.xz, I.yz, I.zz}};
  for (int a = 0; a < 3; a++) {
    out[(size_t)a * n + a] = s->info.mass;
    for (int b = 0; b < 3; b++) out[(size_t)(3 + a) * n + 3 + b] = J[a][b];
  }
  for (int32_t j = 0; j < k; j++) {
    frix_vec3 c = fx_rotate(x->pose.q, mass.coupling[j]);
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
