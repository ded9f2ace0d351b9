/* The motion at the end of a step, transposed.
 *
 *   x1 = x0 + h v1,   L = J(q0) w1,   q1 by the implicit midpoint with L kept (sim/sim_motion.c),   w = J(q1)^-1 L
 *
 * A turn of q0, L and w1 together turns q1 alike, so only the slope of q1 by L is needed. In one part of the turn,
 * w = J(q_m)^-1 L, q_m = exp(h w / 2) q, q' = exp(h w) q and with E(x) the left Jacobian of exp at x,
 *
 *   dw = J_m^-1 dL + t x w - J_m^-1 (t x L),   t = h/2 E(h w / 2) dw,        dq' = h E(h w) dw        (q at rest)
 *
 * and dq' = dq + (slope of q' by L) (dL - dq x L) where q turns too. */
#include "analysis/step_record.h"

#include "base/trig.h"

#define MOST_TURN 0.1 /* rad; as in sim/sim_motion.c */
enum { MOST_PARTS = 100 };

static fx_mat3 sum(fx_mat3 a, double s, fx_mat3 b) {
  return (fx_mat3){fx_mad(a.x, s, b.x), fx_mad(a.y, s, b.y), fx_mad(a.z, s, b.z)};
}

static fx_mat3 product(fx_mat3 a, fx_mat3 b) {
  return (fx_mat3){fx_mat3_tmul(b, a.x), fx_mat3_tmul(b, a.y), fx_mat3_tmul(b, a.z)};
}

static fx_mat3 cross_of(frix_vec3 a) { return (fx_mat3){{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}; }
static fx_mat3 one(void) { return (fx_mat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}; }
static fx_mat3 of_sym(frix_sym3 s) { return (fx_mat3){{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}}; }

static fx_mat3 inverse(fx_mat3 m) {
  frix_vec3 a = fx_cross(m.y, m.z), b = fx_cross(m.z, m.x), c = fx_cross(m.x, m.y);
  double d = 1 / fx_dot(m.x, a);
  return (fx_mat3){fx_scale(d, fx_vec(a.x, b.x, c.x)), fx_scale(d, fx_vec(a.y, b.y, c.y)),
                   fx_scale(d, fx_vec(a.z, b.z, c.z))};
}

/* E(x) = 1 + (1 - cos a) / a^2 [x] + (a - sin a) / a^3 [x]^2,  a = |x| */
static fx_mat3 left_jacobian(frix_vec3 x) {
  double square = fx_norm2(x), angle = sqrt(square), s, c, first = 0.5 - square / 24, second = 1.0 / 6 - square / 120;
  if (angle > 1e-2) {
    fx_sincos(angle, &s, &c);
    first = (1 - c) / square, second = (angle - s) / (square * angle);
  } else {
    first += square * square / 720, second += square * square / 5040;
  }
  fx_mat3 X = cross_of(x);
  return sum(sum(one(), first, X), second, product(X, X));
}

/* Slopes of the turn behind a step by the turn before and by L. */
typedef struct turning {
  fx_mat3 by_turn, by_L;
  frix_quat end;
} turning;

static turning advance(const fx_record_body *b, frix_vec3 L, double h) {
  double parts = floor(fx_norm(b->w1) * h / MOST_TURN);
  int n = parts < MOST_PARTS ? 1 + (int)parts : MOST_PARTS;
  frix_sym3 at_rest = fx_sym3_inverse(b->body->inertia);
  turning out = {one(), {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, b->pose.q};
  frix_vec3 w = b->w1;
  h /= n;
  for (int k = 0; k < n; k++) {
    fx_mat3 J = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int round = 0; round < 12; round++) {
      frix_sym3 there = fx_sym3_turn(fx_turn(out.end, w, 0.5 * h), at_rest);
      frix_vec3 next = fx_sym3_mul(there, L);
      double change = fx_norm2(fx_sub(next, w));
      w = next, J = of_sym(there);
      if (change <= 1e-32 * fx_norm2(w)) break;
    }
    /* t x w - J (t x L) = (J [L] - [w]) t */
    fx_mat3 bend = sum(product(J, cross_of(L)), -1, cross_of(w));
    fx_mat3 system = sum(one(), -0.5 * h, product(bend, left_jacobian(fx_scale(0.5 * h, w))));
    fx_mat3 D = product(left_jacobian(fx_scale(h, w)), product(inverse(system), J));
    D = (fx_mat3){fx_scale(h, D.x), fx_scale(h, D.y), fx_scale(h, D.z)};
    /* dq' = dq + D (dL + L x dq) */
    fx_mat3 through = sum(one(), 1, product(D, cross_of(L)));
    out.by_L = sum(product(through, out.by_L), 1, D);
    out.by_turn = product(through, out.by_turn);
    out.end = fx_turn(out.end, w, h);
  }
  return out;
}

/* A body whose inertia turns with it. */
static void back_by_momentum(const fx_record_body *b, double h, const frix_sensitivity_motion *lambda,
                             frix_vec3 *by_spin, frix_vec3 *by_turn) {
  frix_vec3 L = fx_sym3_mul(b->J, b->w1);
  turning t = advance(b, L, h);
  frix_sym3 there = fx_sym3_turn(t.end, fx_sym3_inverse(b->body->inertia));
  frix_vec3 w = fx_sym3_mul(there, L);
  /* w' = J^-1 dL + dq x w - J^-1 (dq x L) */
  frix_vec3 spun = fx_sym3_mul(there, lambda->spin);
  frix_vec3 turned = fx_add(lambda->turn, fx_sub(fx_cross(w, lambda->spin), fx_cross(L, spun)));
  frix_vec3 by_L = fx_add(spun, fx_mat3_tmul(t.by_L, turned));
  /* dL = J dw1 + dq0 x L - J (dq0 x w1) */
  frix_vec3 pulled = fx_sym3_mul(b->J, by_L);
  *by_spin = pulled;
  *by_turn = fx_add(fx_mat3_tmul(t.by_turn, turned), fx_sub(fx_cross(L, by_L), fx_cross(b->w1, pulled)));
}

void fx_record_motion_back(const fx_step_record *record, const fx_record_body *b, const frix_sensitivity_motion *lambda,
                           frix_sensitivity_motion *velocities, frix_sensitivity_motion *before) {
  double h = record->h;
  frix_vec3 by_spin, by_turn;
  if (b->mover < 0 || fx_isotropic(b->body)) {
    fx_mat3 R = fx_quat_matrix(fx_turn(fx_quat_one(), b->w1, h));
    by_turn = fx_mat3_tmul(R, lambda->turn);
    by_spin = fx_mad(lambda->spin, h, fx_mat3_tmul(left_jacobian(fx_scale(h, b->w1)), lambda->turn));
  } else {
    back_by_momentum(b, h, lambda, &by_spin, &by_turn);
  }
  frix_sensitivity_motion *to = b->mover < 0 ? before : velocities;
  before->place = fx_add(before->place, lambda->place);
  before->turn = fx_add(before->turn, by_turn);
  to->velocity = fx_add(to->velocity, fx_mad(lambda->velocity, h, lambda->place));
  to->spin = fx_add(to->spin, by_spin);
}
