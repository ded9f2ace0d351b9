/* The symplectic step: the discrete action h [T(q', w, s) - V(q')] with q' = (q0 + q1)/2, s = (q1 - q0)/h and the turn
 * R1 = R0 cay(h w) is stationary (Marsden and West, 2001; Bou-Rabee and Marsden, 2009, for turns). With m = dT/dw:
 *
 *   R0'L = m + h/2 w x m + h^2/4 (w.m) w
 *   p0   = dT/ds - h/2 (dT/dq - V' - C s)(q'),      p1 = 2 dT/ds - p0
 *
 * L, the spin momentum in the world, is the same before and after by construction. Solved to rounding by Newton's
 * method with the matrix of small turns; h |w| and the change of K over a step must be small for that. */
#include "soft/soft_internal.h"

#include <string.h>

#include "linalg/dense.h"

enum { MOST = 60 };

typedef struct step {
  frix_soft_state *x;
  double h;
  int32_t k, n;
  frix_vec3 L, w; /* body's axes at the start; the spin */
  double *rate, *middle, *F;
  frix_vec3 *g;
} step;

/* F of the present w and rate; returns its size relative to what it is made of. */
static double residual(step *s, double *push) {
  const frix_soft *soft = s->x->soft;
  double h = s->h, wrong = 0.0, all = 0.0;
  for (int32_t j = 0; j < s->k; j++) s->middle[j] = s->x->amplitude[j] + 0.5 * h * s->rate[j];
  fx_soft_coupling(soft, s->middle, s->g);
  frix_vec3 m = fx_sym3_mul(fx_soft_inertia(soft, s->middle), s->w);
  for (int32_t j = 0; j < s->k; j++) m = fx_mad(m, s->rate[j], s->g[j]);
  frix_vec3 f = fx_mad(fx_mad(m, 0.5 * h, fx_cross(s->w, m)), 0.25 * h * h * fx_dot(s->w, m), s->w);
  f = fx_sub(f, s->L);
  s->F[0] = f.x, s->F[1] = f.y, s->F[2] = f.z;
  wrong += fx_norm2(f), all += fx_norm2(s->L);
  fx_soft_centrifugal(soft, s->middle, s->w, s->rate, push);
  fx_soft_elastic(soft, s->middle, s->x->force, NULL);
  double wrong_rate = 0.0, all_rate = 0.0;
  for (int32_t j = 0; j < s->k; j++) {
    double p = s->rate[j] + fx_dot(s->g[j], s->w);
    double forces = push[j] - s->x->force[j] - soft->info.damping[j] * s->rate[j];
    double x = p - 0.5 * h * forces - s->x->momentum[j];
    s->F[3 + j] = x;
    wrong_rate += x * x;
    double scale = fabs(p) + 0.5 * h * (fabs(push[j]) + fabs(s->x->force[j])) + fabs(s->x->momentum[j]);
    all_rate += scale * scale;
  }
  double spin = all > 0.0 ? sqrt(wrong / all) : sqrt(wrong), rates = all_rate > 0.0 ? sqrt(wrong_rate / all_rate) : 0.0;
  return fx_max(spin, rates);
}

/* The matrix of Newton's method, without turns of the frame. */
static bool factor(step *s) {
  const frix_soft *soft = s->x->soft;
  int32_t n = s->n, k = s->k;
  double *A = s->x->block, h = s->h;
  frix_sym3 I = fx_soft_inertia(soft, s->middle);
  const double J[3][3] = {{I.xx, I.xy, I.xz}, {I.xy, I.yy, I.yz}, {I.xz, I.yz, I.zz}};
  fx_soft_elastic(soft, s->middle, s->x->force, s->x->tangent);
  for (int a = 0; a < 3; a++) {
    for (int c = 0; c < 3; c++) A[(size_t)a * n + c] = J[a][c];
    for (int32_t j = 0; j < k; j++) A[(size_t)a * n + 3 + j] = A[(size_t)(3 + j) * n + a] = fx_at(s->g[j], a);
  }
  for (int32_t i = 0; i < k; i++) {
    for (int32_t j = 0; j < k; j++) A[(size_t)(3 + i) * n + 3 + j] = 0.25 * h * h * s->x->tangent[(size_t)i * k + j];
    A[(size_t)(3 + i) * n + 3 + i] += 1.0 + 0.5 * h * soft->info.damping[i];
  }
  return fx_lu_factor(n, A, s->x->pivot);
}

static frix_status solve(step *s, double *push) {
  frix_context *context = s->x->soft->context;
  double last = INFINITY;
  int grew = 0;
  for (int again = 0; again < MOST; again++) {
    double size = residual(s, push);
    if (!isfinite(size)) break;
    if (size <= 4e-16 || (size < 1e-12 && size >= 0.5 * last)) return FRIX_OK;
    grew += size > last;
    last = size;
    if (grew > 8) break;
    if (again % 8 == 0 && !factor(s)) break;
    fx_lu_solve(s->n, s->x->block, s->x->pivot, s->F);
    s->w = fx_sub(s->w, fx_vec(s->F[0], s->F[1], s->F[2]));
    for (int32_t j = 0; j < s->k; j++) s->rate[j] -= s->F[3 + j];
  }
  return fx_fail(context, FRIX_ERROR_INPUT,
                 "the variational step of a soft body does not converge at h = %g s: a shorter step", s->h);
}

frix_status fx_soft_step_variational(frix_soft_state *x, double h, frix_vec3 gravity) {
  int32_t k = x->soft->info.coordinates;
  step s = {.x = x, .h = h, .k = k, .n = 3 + k, .L = fx_unrotate(x->pose.q, x->spin_momentum), .w = fx_soft_spin(x)};
  s.g = (frix_vec3 *)x->work;
  s.rate = x->work + 3 * (size_t)s.n, s.middle = s.rate + s.n, s.F = s.middle + s.n;
  double *push = s.F + s.n;
  memcpy(s.rate, x->rate, (size_t)k * sizeof *s.rate);
  frix_status status = solve(&s, push);
  if (status) return status;
  for (int32_t j = 0; j < k; j++) {
    x->momentum[j] = 2.0 * (s.rate[j] + fx_dot(s.g[j], s.w)) - x->momentum[j];
    x->amplitude[j] += h * s.rate[j];
  }
  x->pose.q = fx_soft_turn(x->pose.q, fx_rotate(x->pose.q, s.w), h);
  x->pose.p = fx_mad(fx_mad(x->pose.p, h, x->velocity), 0.5 * h * h, gravity);
  x->velocity = fx_mad(x->velocity, h, gravity);
  fx_soft_set_rates(x);
  return FRIX_OK;
}
