/* Motion of a soft body without contact: the state, and a step that is linearly implicit in elastic and damping forces.
 *
 *   m v1 = m v0 + h m g
 *   [I  g'                  ] [w1]   [R0'L0                           ]
 *   [g  1 + h C + h^2 K(q0) ] [s1] = [p0 + h (dT/dq)(q0) - h V'(q0)   ],    q1 = q0 + h s1
 *
 * L, the spin momentum in the world, changes by impulses alone, so it is kept to round-off; the turn over a step uses
 * the spin that L gives at the middle of the step. The momenta p1 = s1 + g.w1 and L give the velocities at the new
 * configuration, which is where the quadratic velocity terms of the frame come from. K is made positive where it is
 * not. */
#include "soft/soft_internal.h"

#include <string.h>

#include "base/trig.h"
#include "linalg/dense.h"
#include "linalg/product.h"
#include "linalg/symmetric_eigen.h"

frix_quat fx_soft_turn(frix_quat q, frix_vec3 spin, double h) {
  /* the turn of the Cayley map, of angle 2 atan(h |spin| / 2) */
  double a = 0.5 * h;
  return fx_quat_unit(fx_quat_mul((frix_quat){1.0, a * spin.x, a * spin.y, a * spin.z}, q));
}

/* The turn by the angle h |spin| itself. */
static frix_quat whole_turn(frix_quat q, frix_vec3 spin, double h) {
  double speed = fx_norm(spin), sine, cosine;
  if (!(speed > 0.0)) return q;
  fx_sincos(0.5 * h * speed, &sine, &cosine);
  frix_vec3 axis = fx_scale(sine / speed, spin);
  return fx_quat_unit(fx_quat_mul((frix_quat){cosine, axis.x, axis.y, axis.z}, q));
}

/* ---- the state ---- */

frix_status frix_soft_state_create(const frix_soft *soft, frix_soft_state **out) {
  if (out) *out = NULL;
  if (!soft) return FRIX_ERROR_INPUT;
  frix_context *context = soft->context;
  if (!out) return fx_fail(context, FRIX_ERROR_INPUT, "frix_soft_state_create: no place for the state");
  size_t k = (size_t)soft->info.coordinates, n = 6 + k;
  size_t spread = 4 * k + sizeof *((frix_soft_state *)NULL)->inertia / sizeof(double);
  size_t room = 4 * k + 2 * k * k + n * n + (12 * n + n * n) + spread;
  frix_soft_state *x = FX_NEW(context, frix_soft_state, 1);
  double *numbers = x ? FX_NEW(context, double, room) : NULL;
  int32_t *pivot = numbers ? FX_NEW(context, int32_t, n) : NULL;
  if (!pivot) {
    fx_free(context, numbers);
    fx_free(context, x);
    return FRIX_ERROR_MEMORY;
  }
  *x = (frix_soft_state){.soft = soft, .pose = fx_pose_one(), .amplitude = numbers, .pivot = pivot};
  x->rate = x->amplitude + k, x->momentum = x->rate + k, x->force = x->momentum + k;
  x->tangent = x->force + k, x->spare = x->tangent + k * k;
  x->block = x->spare + k * k, x->work = x->block + n * n;
  x->seen = x->work + 12 * n + n * n, x->coupling = (frix_vec3 *)(x->seen + k);
  x->inertia = (frix_sym3 *)(x->coupling + k);
  fx_soft_spread_find(x);
  *out = x;
  return FRIX_OK;
}

void frix_soft_state_destroy(frix_soft_state *x) {
  if (!x) return;
  frix_context *context = x->soft->context;
  fx_free(context, x->amplitude);
  fx_free(context, x->pivot);
  fx_free(context, x);
}

frix_soft_frame frix_soft_get_frame(const frix_soft_state *x) {
  if (!x) return (frix_soft_frame){.pose = {.q = {1.0, 0.0, 0.0, 0.0}}};
  return (frix_soft_frame){x->pose, x->velocity, fx_rotate(x->pose.q, fx_soft_spin(x))};
}

frix_status frix_soft_set_frame(frix_soft_state *x, const frix_soft_frame *frame) {
  if (!x || !frame) return FRIX_ERROR_INPUT;
  frix_quat q = frame->pose.q;
  double norm = fx_quat_norm2(q);
  if (!fx_finite(frame->pose.p) || !fx_finite(frame->velocity) || !fx_finite(frame->spin) || !(norm > 1e-12) ||
      !(norm < 1e12))
    return fx_fail(x->soft->context, FRIX_ERROR_INPUT, "the frame of a soft body is not finite, or has no direction");
  x->pose = (frix_pose){frame->pose.p, fx_quat_unit(q)};
  x->velocity = frame->velocity;
  fx_soft_set_momenta(x, fx_unrotate(x->pose.q, frame->spin));
  return FRIX_OK;
}

const double *frix_soft_amplitude(const frix_soft_state *x) { return x ? x->amplitude : NULL; }
const double *frix_soft_rate(const frix_soft_state *x) { return x ? x->rate : NULL; }

frix_status frix_soft_set(frix_soft_state *x, const double *amplitude, const double *rate) {
  if (!x) return FRIX_ERROR_INPUT;
  int32_t k = x->soft->info.coordinates;
  for (int32_t i = 0; i < k; i++)
    if ((amplitude && !isfinite(amplitude[i])) || (rate && !isfinite(rate[i])))
      return fx_fail(x->soft->context, FRIX_ERROR_INPUT, "amplitude or rate %d of a soft body is not finite", (int)i);
  frix_vec3 spin = fx_soft_spin(x);
  if (amplitude) memmove(x->amplitude, amplitude, (size_t)k * sizeof *amplitude);
  if (rate) memmove(x->rate, rate, (size_t)k * sizeof *rate);
  fx_soft_set_momenta(x, spin);
  return FRIX_OK;
}

/* ---- the implicit step ---- */

/* Whether a symmetric matrix is positive definite: Cholesky into scratch. */
static bool positive(int32_t n, const double *A, double *L) {
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j <= i; j++) {
      double x = A[(size_t)i * n + j] - fx_dot_quad(j, L + (size_t)i * n, L + (size_t)j * n);
      if (i == j && !(x > 0.0)) return false;
      L[(size_t)i * n + j] = i == j ? sqrt(x) : x / L[(size_t)j * n + j];
    }
  }
  return true;
}

/* The nearest positive semidefinite matrix. */
static void make_positive(int32_t k, double *A, double *value, double *vector, double *work) {
  if (!fx_symmetric_eigen(k, A, value, vector, work)) return;
  memset(A, 0, (size_t)k * k * sizeof *A);
  for (int32_t m = 0; m < k; m++) {
    const double *v = vector + (size_t)m * k;
    if (!(value[m] > 0.0)) continue;
    for (int32_t i = 0; i < k; i++)
      for (int32_t j = 0; j < k; j++) A[(size_t)i * k + j] += value[m] * v[i] * v[j];
  }
}

/* Force and tangent at the amplitudes; the tangent is made positive where it is not. */
void fx_soft_stiffness(const frix_soft_state *x) {
  int32_t k = x->soft->info.coordinates;
  fx_soft_elastic(x->soft, x->amplitude, x->force, x->tangent);
  if (!x->soft->cubic || positive(k, x->tangent, x->spare)) return;
  make_positive(k, x->tangent, x->work, x->spare, x->work + k);
}

/* The turn over a step, with the spin that L gives at its middle, where the amplitudes stand. */
static frix_quat turn_of(const frix_soft_state *x, frix_quat from, double h) {
  fx_soft_spinner s = fx_soft_spinner_of(x);
  frix_vec3 w = fx_rotate(from, fx_soft_spin_at(&s, from, x->spin_momentum));
  for (int again = 0; again < 8; again++) {
    frix_quat middle = whole_turn(from, w, 0.5 * h);
    w = fx_rotate(middle, fx_soft_spin_at(&s, middle, x->spin_momentum));
  }
  return whole_turn(from, w, h);
}

void fx_soft_load(frix_soft_state *x, double h, fx_soft_when when, frix_vec3 gravity, double *A, double *b) {
  const frix_soft *s = x->soft;
  int32_t k = s->info.coordinates;
  frix_vec3 p = fx_scale(s->info.mass, fx_mad(x->velocity, h, gravity)), L = x->spin_momentum;
  fx_soft_block(x, h, when.ahead, A);
  fx_soft_centrifugal(s, x->amplitude, fx_soft_spin(x), x->rate, b + 6);
  b[0] = p.x, b[1] = p.y, b[2] = p.z, b[3] = L.x, b[4] = L.y, b[5] = L.z;
  for (int32_t i = 0; i < k; i++) {
    double past = when.back > 0.0 ? when.back * fx_dot_quad(k, x->tangent + (size_t)i * k, x->rate) : 0.0;
    b[6 + i] = x->momentum[i] + h * (b[6 + i] - x->force[i] + past);
  }
}

void fx_soft_take_velocities(frix_soft_state *x, const double *v, const double *frame) {
  const frix_soft *s = x->soft;
  int32_t k = s->info.coordinates;
  const frix_vec3 *g = fx_soft_spread_of(x).coupling, w = fx_unrotate(x->pose.q, fx_vec(v[3], v[4], v[5]));
  for (int32_t j = 0; j < k; j++) {
    x->rate[j] = v[6 + j];
    x->momentum[j] = v[6 + j] + fx_dot(g[j], w);
  }
  x->velocity = fx_scale(1.0 / s->info.mass, fx_vec(frame[0], frame[1], frame[2]));
  x->spin_momentum = fx_vec(frame[3], frame[4], frame[5]);
}

/* The middle of the time, then its end, with the rates there are. */
void fx_soft_drift(frix_soft_state *x, double h) {
  int32_t k = x->soft->info.coordinates;
  for (int32_t j = 0; j < k; j++) x->amplitude[j] += 0.5 * h * x->rate[j];
  frix_quat end = turn_of(x, x->pose.q, h);
  for (int32_t j = 0; j < k; j++) x->amplitude[j] += 0.5 * h * x->rate[j];
  x->pose.q = end;
  x->pose.p = fx_mad(x->pose.p, h, x->velocity);
  fx_soft_set_rates(x);
}

void fx_soft_drift_to(frix_soft_state *x, double h) {
  size_t bytes = (size_t)x->soft->info.coordinates * sizeof *x->amplitude;
  frix_pose pose = x->pose;
  if (!bytes) {
    fx_soft_drift(x, h);
    return;
  }
  memcpy(x->spare, x->amplitude, bytes);
  for (int again = 0; again < 8; again++) { /* x->rate: those of the end, better every time */
    memcpy(x->amplitude, x->spare, bytes);
    x->pose = pose;
    fx_soft_drift(x, h);
  }
}

void fx_soft_finish(frix_soft_state *x, double h, const double *v, const double *frame) {
  fx_soft_take_velocities(x, v, frame);
  fx_soft_drift(x, h);
}

frix_status fx_soft_step_implicit(frix_soft_state *x, double h, frix_vec3 gravity) {
  int32_t n = 6 + x->soft->info.coordinates;
  double *v = x->work + 6 * (size_t)n, frame[6];
  fx_soft_load(x, h, (fx_soft_when){h, 0.0}, gravity, x->block, v);
  memcpy(frame, v, sizeof frame);
  if (!fx_lu_factor(n, x->block, x->pivot))
    return fx_fail(x->soft->context, FRIX_ERROR_INPUT, "the mass of a soft body is singular");
  fx_lu_solve(n, x->block, x->pivot, v);
  fx_soft_finish(x, h, v, frame);
  return FRIX_OK;
}

/* ---- what a user asks ---- */

frix_status frix_soft_step(frix_soft_state *x, frix_soft_integrator integrator, double h, frix_vec3 gravity) {
  if (!x) return FRIX_ERROR_INPUT;
  if (!(h > 0.0) || !isfinite(h) || !fx_finite(gravity))
    return fx_fail(x->soft->context, FRIX_ERROR_INPUT, "the step must be a positive number of seconds, not %g", h);
  if (integrator == FRIX_SOFT_IMPLICIT) return fx_soft_step_implicit(x, h, gravity);
  if (integrator == FRIX_SOFT_VARIATIONAL) return fx_soft_step_variational(x, h, gravity);
  return fx_fail(x->soft->context, FRIX_ERROR_INPUT, "no such integrator");
}

frix_soft_energy frix_soft_energy_of(const frix_soft_state *x, frix_vec3 gravity) {
  if (!x) return (frix_soft_energy){0};
  const frix_soft *s = x->soft;
  double mass = s->info.mass;
  frix_vec3 w = fx_soft_spin(x), L = fx_unrotate(x->pose.q, x->spin_momentum);
  frix_soft_energy e = {.kinetic = 0.5 * mass * fx_norm2(x->velocity) + 0.5 * fx_dot(w, L),
                        .elastic = fx_soft_elastic(s, x->amplitude, NULL, NULL),
                        .gravity = -mass * fx_dot(gravity, x->pose.p),
                        .momentum = fx_scale(mass, x->velocity)};
  for (int32_t j = 0; j < s->info.coordinates; j++) e.kinetic += 0.5 * x->rate[j] * x->momentum[j];
  e.spin_momentum = fx_add(x->spin_momentum, fx_cross(x->pose.p, e.momentum));
  return e;
}

frix_vec3 fx_soft_place(const frix_soft_state *x, int32_t point, frix_vec3 spin, frix_vec3 *velocity) {
  const frix_soft_info *info = &x->soft->info;
  int32_t k = info->coordinates;
  const double *U = info->shape + 3 * (size_t)point * k;
  double moved[3] = {0.0, 0.0, 0.0}, s[3] = {0.0, 0.0, 0.0};
  fx_add_products(3, k, U, x->amplitude, moved);
  frix_vec3 r = fx_add(info->point[point], fx_vec(moved[0], moved[1], moved[2]));
  if (velocity) {
    fx_add_products(3, k, U, x->rate, s);
    *velocity = fx_add(x->velocity, fx_rotate(x->pose.q, fx_add(fx_vec(s[0], s[1], s[2]), fx_cross(spin, r))));
  }
  return fx_pose_point(x->pose, r);
}

frix_vec3 frix_soft_point(const frix_soft_state *x, int32_t point, frix_vec3 *velocity) {
  frix_vec3 none = {0.0, 0.0, 0.0};
  if (velocity) *velocity = none;
  if (!x || point < 0 || point >= x->soft->info.point_count) return none;
  return fx_soft_place(x, point, velocity ? fx_soft_spin(x) : none, velocity);
}

frix_status frix_soft_jacobian(const frix_soft_state *x, int32_t point, double *out) {
  if (!x) return FRIX_ERROR_INPUT;
  if (!out || point < 0 || point >= x->soft->info.point_count)
    return fx_fail(x->soft->context, FRIX_ERROR_INPUT, "the surface has no point %d", (int)point);
  fx_soft_rows(x, point, out);
  return FRIX_OK;
}

frix_status frix_soft_mass_matrix(const frix_soft_state *x, double h, double *out) {
  if (!x) return FRIX_ERROR_INPUT;
  if (!out || !(h >= 0.0) || !isfinite(h))
    return fx_fail(x->soft->context, FRIX_ERROR_INPUT, "frix_soft_mass_matrix: a step of %g s", h);
  fx_soft_block(x, h, h, out);
  return FRIX_OK;
}
