/* Passive forces: springs, dampers, gravity compensation, air.
 *
 *   hinge, slide   -k (q - rest) - d v            ball, free   -k log(rest^-1 q) - d v, translation likewise
 *   tendon         along its moment, without a spring's force between its two rest lengths
 *   polynomial     k x -> x (k0 + k1 x + k2 x^2), d v -> v (d0 + d1 |v| + d2 v^2)
 *   gravity        -g m c at the centre of mass of a body that asks for a share c; of joints that say so it counts as
 * an actuator's force, and is none where the model has no actuator, as in MuJoCo */
#include <string.h>

#include "tree/tree.h"

static double spring_law(const double k[FX_TREE_POLYNOMIAL], double x) { return x * (k[0] + k[1] * x + k[2] * x * x); }

static double damper_law(const double d[FX_TREE_POLYNOMIAL], double v) {
  return v * (d[0] + d[1] * fabs(v) + d[2] * v * v);
}

static void spring_turn(const fx_tree_joint *j, const double *rest, const double *q, double *out) {
  frix_vec3 d = fx_quat_log(fx_quat_mul(fx_quat_conj(fx_quat_at(rest)), fx_quat_at(q)));
  double angle = fx_norm(d), k = j->stiffness[0] + j->stiffness[1] * angle + j->stiffness[2] * angle * angle;
  out[0] -= k * d.x, out[1] -= k * d.y, out[2] -= k * d.z;
}

static void spring(const fx_tree_joint *j, const double *q, double *out) {
  if (j->stiffness[0] == 0.0 && j->stiffness[1] == 0.0 && j->stiffness[2] == 0.0) return;
  switch (j->kind) {
    case FRIX_ROBOT_FREE: {
      frix_vec3 d = fx_vec(q[0] - j->spring[0], q[1] - j->spring[1], q[2] - j->spring[2]);
      double way = fx_norm(d), k = j->stiffness[0] + j->stiffness[1] * way + j->stiffness[2] * way * way;
      out[0] -= k * d.x, out[1] -= k * d.y, out[2] -= k * d.z;
      spring_turn(j, j->spring + 3, q + 3, out + 3);
      break;
    }
    case FRIX_ROBOT_BALL: spring_turn(j, j->spring, q, out); break;
    default: out[0] -= spring_law(j->stiffness, q[0] - j->spring[0]);
  }
}

static void joint_dampers(const frix_robot_state *s, double *out) {
  const fx_tree *t = s->tree;
  for (int32_t i = 0; i < t->dof_count && !t->no_damper; i++)
    out[i] -= damper_law(t->joint[t->dof[i].joint].damping, s->qvel[i]);
}

static void joint_springs(const frix_robot_state *s, double *out) {
  const fx_tree *t = s->tree;
  for (int32_t k = 0; k < t->joint_count && !t->no_spring; k++) {
    const fx_tree_joint *j = &t->joint[k];
    spring(j, s->qpos + j->q, out + j->v);
  }
}

static double damper_slope(const double d[FX_TREE_POLYNOMIAL], double v) {
  return fx_max(0.0, d[0] + 2.0 * d[1] * fabs(v) + 3.0 * d[2] * v * v);
}

static double spring_slope(const double k[FX_TREE_POLYNOMIAL], double x) {
  return fx_max(0.0, k[0] + 2.0 * k[1] * x + 3.0 * k[2] * x * x);
}

void fx_tree_slopes(const frix_robot_state *s, double *stiffness, double *damping) {
  const fx_tree *t = s->tree;
  for (int32_t i = 0; i < t->dof_count; i++) {
    const fx_tree_joint *j = &t->joint[t->dof[i].joint];
    bool line = fx_joint_v_size(j->kind) == 1; /* others: the slope at rest */
    stiffness[i] = t->no_spring ? 0.0 : spring_slope(j->stiffness, line ? s->qpos[j->q] - j->spring[0] : 0.0);
    damping[i] = t->no_damper ? 0.0 : damper_slope(j->damping, s->qvel[i]);
  }
}

void fx_tree_tendon_slopes(const frix_robot_state *s, int32_t k, double *stiffness, double *damping) {
  const fx_tree *t = s->tree;
  const fx_tree_tendon *x = &t->tendon[k];
  double stretch = s->tendon_length[k] - fx_clamp(s->tendon_length[k], x->spring[0], x->spring[1]);
  bool slack = stretch == 0.0 && x->spring[0] < x->spring[1];
  *stiffness = t->no_spring || slack ? 0.0 : spring_slope(x->stiffness, stretch);
  *damping = t->no_damper ? 0.0 : damper_slope(x->damping, s->tendon_velocity[k]);
}

static double tendon_damper(const frix_robot_state *s, int32_t k) {
  return s->tree->no_damper ? 0.0 : -damper_law(s->tree->tendon[k].damping, s->tendon_velocity[k]);
}

double fx_tree_tendon_force(const frix_robot_state *s, int32_t k) {
  const fx_tree *t = s->tree;
  const fx_tree_tendon *x = &t->tendon[k];
  double length = s->tendon_length[k], force = 0.0;
  if (!t->no_spring) force -= spring_law(x->stiffness, length - fx_clamp(length, x->spring[0], x->spring[1]));
  return force + tendon_damper(s, k);
}

static void tendon_forces(const frix_robot_state *s, bool dampers, double *out) {
  const fx_tree *t = s->tree;
  for (int32_t k = 0; k < t->tendon_count; k++) {
    const fx_tree_tendon *x = &t->tendon[k];
    double force = dampers ? tendon_damper(s, k) : fx_tree_tendon_force(s, k);
    for (int32_t n = 0; n < x->dofs.count && force != 0.0; n++)
      out[t->list[x->dofs.first + n]] += force * s->tendon_moment[x->dofs.first + n];
  }
}

static void compensate_gravity(frix_robot_state *s, double *out) {
  const fx_tree *t = s->tree;
  memset(s->gravcomp, 0, (size_t)t->dof_count * sizeof *s->gravcomp);
  for (int32_t b = 1; b < t->body_count && !t->no_gravity; b++) {
    const fx_tree_body *body = &t->body[b];
    if (body->gravcomp != 0.0)
      fx_tree_add_jacobian(s, b, s->center[b], fx_scale(-body->mass.mass * body->gravcomp, t->gravity), s->gravcomp);
  }
  bool actuated = t->actuator_count || t->left_out;
  for (int32_t i = 0; i < t->dof_count; i++) {
    if (!t->joint[t->dof[i].joint].carries_gravcomp)
      out[i] += s->gravcomp[i];
    else if (!actuated)
      s->gravcomp[i] = 0.0;
  }
}

void fx_tree_passive(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  memset(s->passive, 0, (size_t)t->dof_count * sizeof *s->passive);
  joint_springs(s, s->passive);
  joint_dampers(s, s->passive);
  tendon_forces(s, false, s->passive);
  compensate_gravity(s, s->passive);
  if (t->density > 0.0 || t->viscosity > 0.0) fx_tree_fluid(s, s->passive);
}

void fx_tree_dampers(frix_robot_state *s, double *out) {
  const fx_tree *t = s->tree;
  memset(out, 0, (size_t)t->dof_count * sizeof *out);
  joint_dampers(s, out);
  tendon_forces(s, true, out);
  if (t->density > 0.0 || t->viscosity > 0.0) fx_tree_fluid(s, out);
}
