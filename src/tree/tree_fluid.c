/* Air, or another fluid at rest or with a wind, as MJCF has it.
 *
 * Inertia box: a body is the box of its mass and moments, width_i = sqrt(6 (I_j + I_k - I_i) / m), and feels in the
 * axes of its moments, with velocity v and spin w against the fluid and d the mean width, viscosity   f = -3 pi d
 * viscosity v               torque = -pi d^3 viscosity w density     f_i = -1/2 density b_j b_k |v_i| v_i   torque_i =
 * -density b_i (b_j^4 + b_k^4) |w_i| w_i / 64
 *
 * Ellipsoid: a geom that asks for it is an ellipsoid with five coefficients (blunt drag, slender drag, angular drag,
 * Kutta lift, Magnus lift); a body with such geoms has no box. Added mass m_i = V k_i / (2 - k_i) with (Lamb,
 * "Hydrodynamics", 1932)
 *   k_i = a b c int_0^inf dx / ((s_i^2 + x) sqrt((a^2 + x)(b^2 + x)(c^2 + x)))
 * and drag and lift after Andersen, Pesavento, Wang, "Unsteady aerodynamics of fluttering and tumbling plates", J.
 * Fluid Mech. 541, 2005. */
#include "base/trig.h"
#include "tree/tree.h"

/* Velocity and spin of a frame against the fluid, in its axes. */
static void local_flow(const frix_robot_state *s, int32_t body, frix_pose frame, frix_vec3 *v, frix_vec3 *w) {
  *v = fx_unrotate(frame.q, fx_sub(fx_tree_point_velocity(s, body, frame.p), s->tree->wind));
  *w = fx_unrotate(frame.q, fx_tree_velocity_of(s, body).w);
}

static void apply(const frix_robot_state *s, int32_t body, frix_pose frame, frix_vec3 f, frix_vec3 n, double *out) {
  fx_tree_add_jacobian(s, body, frame.p, fx_rotate(frame.q, f), out);
  fx_tree_add_turn(s, body, fx_rotate(frame.q, n), out);
}

/* ---- box ---- */

static void box_of(const fx_tree_body *body, double width[3]) {
  const double m[3] = {body->moments.x, body->moments.y, body->moments.z};
  for (int k = 0; k < 3; k++)
    width[k] = sqrt(fx_max(1e-15, m[(k + 1) % 3] + m[(k + 2) % 3] - m[k]) / body->mass.mass * 6.0);
}

static void box_forces(const frix_robot_state *s, int32_t b, double *out) {
  const fx_tree *t = s->tree;
  const fx_tree_body *body = &t->body[b];
  frix_pose frame = {s->center[b], fx_quat_mul(s->pose[b].q, body->axes)};
  frix_vec3 flow, spin;
  double width[3], f[3], n[3];
  box_of(body, width);
  local_flow(s, b, frame, &flow, &spin);
  double mean = (width[0] + width[1] + width[2]) / 3.0;
  for (int k = 0; k < 3; k++) {
    double v = fx_at(flow, k), w = fx_at(spin, k), a = width[(k + 1) % 3], c = width[(k + 2) % 3];
    f[k] = -3.0 * FX_PI * mean * t->viscosity * v - 0.5 * t->density * a * c * fabs(v) * v;
    n[k] = -FX_PI * mean * mean * mean * t->viscosity * w -
           t->density * width[k] * (a * a * a * a + c * c * c * c) * fabs(w) * w / 64.0;
  }
  apply(s, b, frame, fx_vec(f[0], f[1], f[2]), fx_vec(n[0], n[1], n[2]), out);
}

/* ---- ellipsoid ---- */

/* k_i of the ellipsoid: after x = L u^3 / (1 - u)^2 with L a mean of the squared sizes, Kronrod's rule of 15 points
 * with nodes and weights of eight digits, which is what MuJoCo takes for the integral: of a thin plate it is 1 % off.
 */
static double added_share(const double h[3], int i) {
  static const double node[8] = {0.00427231, 0.02544604, 0.06756779, 0.12923441,
                                 0.20695638, 0.29707742, 0.39610752, 0.5};
  static const double weight[8] = {0.01146766, 0.03154605, 0.05239501, 0.07032663,
                                   0.08450236, 0.09517529, 0.10221647, 0.10474107};
  const double inverse[3] = {1.0 / (h[0] * h[0]), 1.0 / (h[1] * h[1]), 1.0 / (h[2] * h[2])};
  double scale = fx_pow(h[i] * h[i] * h[i] * h[(i + 1) % 3] * h[(i + 2) % 3], 0.4), sum = 0.0;
  for (int k = 0; k < 15; k++) {
    int n = k < 8 ? k : 14 - k;
    double u = k < 8 ? node[n] : 1.0 - node[n], rest = 1.0 - u;
    double x = scale * u * u * u / (rest * rest), slope = scale * u * u * (3.0 - u) / (rest * rest * rest);
    double root = sqrt((1.0 + x * inverse[0]) * (1.0 + x * inverse[1]) * (1.0 + x * inverse[2]));
    sum += weight[n] * slope / ((1.0 + x * inverse[i]) * root);
  }
  return sum * inverse[i];
}

void fx_tree_fluid_prepare(fx_tree_geom *g) {
  const double *h = g->half;
  double volume = 4.0 / 3.0 * FX_PI * h[0] * h[1] * h[2], share[3];
  for (int i = 0; i < 3; i++) share[i] = added_share(h, i);
  for (int i = 0; i < 3; i++) {
    double b = h[(i + 1) % 3] * h[(i + 1) % 3], c = h[(i + 2) % 3] * h[(i + 2) % 3];
    double kb = share[(i + 1) % 3], kc = share[(i + 2) % 3];
    g->added_mass[i] = volume * share[i] / fx_max(1e-15, 2.0 - share[i]);
    g->added_inertia[i] =
        volume * (b - c) * (b - c) * fabs(kc - kb) / fx_max(1e-15, fabs(2.0 * (b - c) + (b + c) * (kb - kc))) / 5.0;
  }
}

static double power4(double x) { return x * x * x * x; }

/* Lift and drag of an ellipsoid: force and torque in its axes. */
static void viscous(const fx_tree *t, const fx_tree_geom *g, frix_vec3 v, frix_vec3 w, frix_vec3 *f, frix_vec3 *n) {
  const double *h = g->half, blunt = g->fluid[0], slender = g->fluid[1], angular = g->fluid[2];
  double volume = 4.0 / 3.0 * FX_PI * h[0] * h[1] * h[2], speed = fx_norm(v);
  double most = fx_max(fx_max(h[0], h[1]), h[2]), least = fx_min(fx_min(h[0], h[1]), h[2]);
  double middle = h[0] + h[1] + h[2] - most - least, widest = FX_PI * most * middle;
  double a = h[1] * h[2], b = h[2] * h[0], c = h[0] * h[1];
  double squares = power4(a) * v.x * v.x + power4(b) * v.y * v.y + power4(c) * v.z * v.z;
  double number = a * a * v.x * v.x + b * b * v.y * v.y + c * c * v.z * v.z;
  double area = number > 0.0 ? FX_PI * sqrt(squares / number) : 0.0;
  frix_vec3 normal = fx_vec(a * a * v.x, b * b * v.y, c * c * v.z);
  double cosine = speed * squares > 0.0 ? number / (speed * squares) : 0.0;
  frix_vec3 circulation = fx_scale(g->fluid[3] * t->density * cosine * area, fx_cross(normal, v));
  frix_vec3 lift = fx_add(fx_cross(circulation, v), fx_scale(g->fluid[4] * t->density * volume, fx_cross(w, v)));
  double size = 2.0 / 3.0 * (h[0] + h[1] + h[2]), largest = 8.0 / 15.0 * FX_PI * middle * power4(most), moment[3];
  for (int k = 0; k < 3; k++) {
    double own = 8.0 / 15.0 * FX_PI * h[k] * power4(fx_max(h[(k + 1) % 3], h[(k + 2) % 3]));
    moment[k] = fx_at(w, k) * (angular * own + slender * (largest - own));
  }
  double drag = t->viscosity * 3.0 * FX_PI * size + t->density * speed * (area * blunt + slender * (widest - area));
  double turning =
      t->viscosity * FX_PI * size * size * size + t->density * fx_norm(fx_vec(moment[0], moment[1], moment[2]));
  *f = fx_add(*f, fx_mad(lift, -drag, v));
  *n = fx_mad(*n, -turning, w);
}

static void ellipsoid_forces(const frix_robot_state *s, int32_t k, double *out) {
  const fx_tree *t = s->tree;
  const fx_tree_geom *g = &t->geom[k];
  frix_pose frame = fx_tree_geom_pose(s, k);
  frix_vec3 v, w;
  local_flow(s, g->body, frame, &v, &w);
  const double *m = g->added_mass, *j = g->added_inertia;
  frix_vec3 momentum = fx_scale(t->density, fx_vec(m[0] * v.x, m[1] * v.y, m[2] * v.z));
  frix_vec3 turning = fx_scale(t->density, fx_vec(j[0] * w.x, j[1] * w.y, j[2] * w.z));
  frix_vec3 f = fx_cross(momentum, w), n = fx_add(fx_cross(momentum, v), fx_cross(turning, w));
  viscous(t, g, v, w, &f, &n);
  apply(s, g->body, frame, f, n, out);
}

void fx_tree_fluid(frix_robot_state *s, double *out) {
  const fx_tree *t = s->tree;
  for (int32_t b = 1; b < t->body_count; b++)
    if (t->body[b].link && t->body[b].mass.mass > 1e-15 && !t->body[b].ellipsoids) box_forces(s, b, out);
  for (int32_t k = 0; k < t->geom_count; k++)
    if (t->geom[k].ellipsoid && t->body[t->geom[k].body].link) ellipsoid_forces(s, k, out);
}
