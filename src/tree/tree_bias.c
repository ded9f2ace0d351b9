/* Velocities, and the recursive Newton-Euler algorithm (Luh, Walker, Paul 1980; Featherstone 2008, table 5.1).
 *
 *   V_b = V_parent + sum s_i v_i                 A_b = A_parent + sum (s_i' v_i + s_i a_i),  A_world = -gravity
 *   F_b = I_b A_b + V_b x* I_b V_b + sum of the children's,     tau_i = s_i . F_b
 *
 * and armature L'' dL/dq of spatial tendons, L'' as in tree_tendon.c. s_i' = V x s_i, V the velocity of the frame the
 * axis is fixed to: what is before the joint for hinges and slides, and for the axes of a ball, which turn with it, the
 * same does, since the terms among themselves cancel. */
#include <string.h>

#include "tree/tree.h"

static void joint_velocity(frix_robot_state *s, const fx_tree_joint *j, fx_spatial *v) {
  int32_t size = fx_joint_v_size(j->kind), done = 0;
  if (j->kind == FRIX_ROBOT_FREE) /* the world's axes do not move */
    for (; done < 3; done++) {
      s->motion_rate[j->v + done] = (fx_spatial){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
      *v = fx_spatial_mad(*v, s->qvel[j->v + done], s->motion[j->v + done]);
    }
  fx_spatial before = *v;
  for (; done < size; done++) {
    s->motion_rate[j->v + done] = fx_spatial_cross(before, s->motion[j->v + done]);
    *v = fx_spatial_mad(*v, s->qvel[j->v + done], s->motion[j->v + done]);
  }
}

void fx_tree_velocities(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  size_t bytes = (size_t)t->dof_count * sizeof *s->turned;
  if (s->is_turned && !memcmp(s->turned, s->qvel, bytes)) return;
  memcpy(s->turned, s->qvel, bytes), s->is_turned = true;
  s->velocity[0] = (fx_spatial){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int32_t b = 1; b < t->body_count; b++) {
    const fx_tree_body *body = &t->body[b];
    if (body->link != b) continue;
    fx_spatial v = s->velocity[t->body[body->parent].link];
    for (int32_t k = 0; k < body->joint_count; k++) joint_velocity(s, &t->joint[body->joint_first + k], &v);
    s->velocity[b] = v;
  }
}

void fx_tree_gather(const frix_robot_state *s, fx_spatial *force, double *tau) {
  const fx_tree *t = s->tree;
  for (int32_t b = t->body_count - 1; b > 0; b--) {
    const fx_tree_body *body = &t->body[b];
    if (body->link != b) continue;
    for (int32_t i = body->dof_first; i < body->dof_first + body->dof_count; i++)
      tau[i] = fx_spatial_dot(s->motion[i], force[b]);
    int32_t above = t->body[body->parent].link;
    if (above) force[above] = fx_spatial_add(force[above], force[b]);
  }
}

void fx_tree_newton_euler(frix_robot_state *s, const double *a, double *tau) {
  const fx_tree *t = s->tree;
  fx_spatial *accel = s->spatial, *force = s->spatial2;
  accel[0] = (fx_spatial){{0.0, 0.0, 0.0}, t->no_gravity ? fx_vec(0.0, 0.0, 0.0) : fx_neg(t->gravity)};
  for (int32_t b = 1; b < t->body_count; b++) {
    const fx_tree_body *body = &t->body[b];
    if (body->link != b) continue;
    fx_spatial x = accel[t->body[body->parent].link];
    for (int32_t i = body->dof_first; i < body->dof_first + body->dof_count; i++) {
      x = fx_spatial_mad(x, s->qvel[i], s->motion_rate[i]);
      if (a) x = fx_spatial_mad(x, a[i], s->motion[i]);
    }
    accel[b] = x;
    fx_spatial momentum = fx_inertia_mul(&s->inertia[b], s->velocity[b]);
    force[b] = fx_spatial_add(fx_inertia_mul(&s->inertia[b], x), fx_spatial_cross_force(s->velocity[b], momentum));
  }
  fx_tree_gather(s, force, tau);
  for (int32_t k = 0; k < t->tendon_count && !a; k++) {
    const fx_tree_tendon *x = &t->tendon[k];
    if (x->armature == 0.0 || !x->spatial) continue;
    double pull = x->armature * fx_tree_tendon_drift(s, k);
    for (int32_t n = x->dofs.first; n < x->dofs.first + x->dofs.count; n++)
      tau[t->list[n]] += pull * s->tendon_moment[n];
  }
}

void fx_tree_gravity(const frix_robot_state *s, double *tau) {
  const fx_tree *t = s->tree;
  fx_spatial up = {{0.0, 0.0, 0.0}, t->no_gravity ? fx_vec(0.0, 0.0, 0.0) : fx_neg(t->gravity)};
  for (int32_t i = 0; i < t->dof_count; i++)
    tau[i] = fx_spatial_dot(s->motion[i], fx_inertia_mul(&s->composite[t->dof[i].body], up));
}

/* ---- energy ---- */

/* Of a spring stretched by x. */
static double stretched(const double k[FX_TREE_POLYNOMIAL], double x) {
  return x * x * (k[0] / 2.0 + x * (k[1] / 3.0 + x * k[2] / 4.0));
}

static double turned(const fx_tree_joint *j, const double *rest, const double *q) {
  return stretched(j->stiffness, fx_norm(fx_quat_log(fx_quat_mul(fx_quat_conj(fx_quat_at(rest)), fx_quat_at(q)))));
}

static double spring_energy(const fx_tree_joint *j, const double *q) {
  frix_vec3 d = {q[0] - j->spring[0], 0.0, 0.0};
  switch (j->kind) {
    case FRIX_ROBOT_FREE:
      d.y = q[1] - j->spring[1], d.z = q[2] - j->spring[2];
      return stretched(j->stiffness, fx_norm(d)) + turned(j, j->spring + 3, q + 3);
    case FRIX_ROBOT_BALL: return turned(j, j->spring, q);
    default: return stretched(j->stiffness, d.x);
  }
}

double fx_tree_spring_energy(const frix_robot_state *s) {
  const fx_tree *t = s->tree;
  double sum = 0.0;
  for (int32_t n = 0; n < t->joint_count && !t->no_spring; n++)
    sum += spring_energy(&t->joint[n], s->qpos + t->joint[n].q);
  for (int32_t n = 0; n < t->tendon_count && !t->no_spring; n++) {
    const fx_tree_tendon *x = &t->tendon[n];
    double length = s->tendon_length[n], d = length - fx_clamp(length, x->spring[0], x->spring[1]);
    sum += stretched(x->stiffness, d);
  }
  return sum;
}

double fx_tree_rotor_energy(const frix_robot_state *s) {
  const fx_tree *t = s->tree;
  double sum = 0.0;
  for (int32_t i = 0; i < t->dof_count; i++) sum += 0.5 * t->joint[t->dof[i].joint].armature * s->qvel[i] * s->qvel[i];
  for (int32_t n = 0; n < t->tendon_count; n++)
    sum += 0.5 * t->tendon[n].armature * s->tendon_velocity[n] * s->tendon_velocity[n];
  return sum;
}

/* Of gravity and of springs; of all that moves. */
void fx_tree_energy(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  double p = 0.0, k = 0.0;
  for (int32_t b = 1; b < t->body_count && !t->no_gravity; b++)
    p -= t->body[b].mass.mass * fx_dot(t->gravity, s->center[b]);
  p += fx_tree_spring_energy(s);
  fx_tree_mass_mul(s, s->qvel, s->row2);
  for (int32_t i = 0; i < t->dof_count; i++) k += 0.5 * s->qvel[i] * s->row2[i];
  s->potential = p, s->kinetic = k;
}
