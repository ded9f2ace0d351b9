/* Forces of the joints that are coordinates, and the tension of the links.
 *
 * A body b of a tree needs the force F_b = I_b A_b + V_b x* I_b V_b for its motion against gravity; rows, loads and
 * motors bring E_b. The joint that carries it transmits what is missing, from the leaves on:
 *
 *   W_b = F_b - E_b + sum of W of the bodies that b carries
 *
 * Rows that act along the coordinates (springs, limits, motors) are among E, so that W has only what the joint itself
 * does: the impulses that its rows would have in maximal coordinates. Of the velocity products of the step the share
 * theta is that of the beginning, for the rest A_b is (V1 - V') / h without V x* I V (mechanism_transport.c); in
 * schemes of the half step F_b is the change of its momentum (mechanism_half.c). */
#include "sim/joints.h"
#include "sim/mechanism.h"

#include <string.h>

/* A force at a point and a torque, on the body of a slot. */
static void add_push(const frix_sim *sim, int32_t slot, frix_vec3 force, frix_vec3 torque, frix_vec3 point) {
  const fx_mechanism *x = sim->mechanism;
  if (!fx_is_link(sim, slot)) return;
  int32_t b = x->body_of_slot[slot];
  frix_vec3 arm = fx_sub(point, fx_tree_point_of(x->state, b));
  x->wrench[b] = fx_spatial_add(x->wrench[b], (fx_spatial){fx_add(torque, fx_cross(arm, force)), force});
}

/* ---- rows ---- */

static void add_contacts(const frix_sim *sim, double rate) {
  for (int32_t k = 0; k < sim->state.touching_count; k++) {
    const fx_touching *t = &sim->state.touching[k];
    frix_vec3 point = fx_scale(0.5, fx_add(t->contact.point_a, t->contact.point_b));
    for (int side = 0; side < 2; side++) {
      double sign = side ? -rate : rate;
      add_push(sim, side ? t->contact.body_b : t->contact.body_a, fx_scale(sign, t->impulse), fx_scale(sign, t->roll),
               point);
    }
  }
}

/* A force or torque d on b of a joint, and its reaction. */
static void add_pair(const frix_sim *sim, int32_t j, const fx_joint_view *v, frix_vec3 d, bool angular) {
  bool slides = sim->model->joint[j].config.kind == FRIX_JOINT_SLIDER;
  frix_vec3 zero = {0.0, 0.0, 0.0}, at_a = v->point[slides ? 1 : 0];
  add_push(sim, v->slot[1], angular ? zero : d, angular ? d : zero, v->point[1]);
  add_push(sim, v->slot[0], angular ? zero : fx_neg(d), angular ? fx_neg(d) : zero, at_a);
}

static void add_coupled(const frix_sim *sim, int32_t j, int32_t axis, double force) {
  fx_joint_view v = fx_joint_look(sim, j);
  frix_vec3 d, at_a;
  bool angular = fx_joint_direction(sim, j, &v, axis, &d, &at_a);
  add_pair(sim, j, &v, fx_scale(force, d), angular);
}

static void add_group(const frix_sim *sim, const fx_group *g) {
  const fx_assembly *a = &sim->rows;
  const fx_joint *joint = &sim->model->joint[g->source];
  if (joint->config.kind == FRIX_JOINT_COUPLING) {
    double r = a->r[g->row] / sim->h;
    add_coupled(sim, joint->first, joint->config.first_axis, r);
    add_coupled(sim, joint->second, joint->config.second_axis, -joint->config.ratio * r);
    return;
  }
  fx_joint_view v = fx_joint_look(sim, g->source);
  for (int32_t k = 0; k < g->dim; k++) {
    const fx_row_direction *d = &a->direction[g->row + k];
    add_pair(sim, g->source, &v, fx_scale(a->r[g->row + k] / sim->h, d->along), d->angular);
  }
}

/* ---- what acts beside rows ---- */

static void add_loads(const frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t b = 1; b < x->tree.body_count; b++) {
    int32_t slot = x->slot_of_body[b];
    frix_vec3 center = sim->state.pose[slot].p, up = fx_scale(-x->tree.body[b].gravcomp, sim->state.gravity);
    add_push(sim, slot, fx_mad(x->load[slot][0], x->tree.body[b].mass.mass, up), x->load[slot][1], center);
  }
}

/* What tension holds the link with, -S w1 / h. */
static void add_tension(const frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  const fx_tree *t = &x->tree;
  for (int32_t b = 1; b < t->body_count && x->tense; b++) {
    if (t->body[b].link != b || x->part_of_body[b] < 0 || x->mover[x->part_of_body[b]] < 0) continue;
    const fx_tree_mover *m = sim->mover[x->mover[x->part_of_body[b]]].tree;
    frix_vec3 spin = {0.0, 0.0, 0.0};
    for (int32_t i = t->body[b].dof_last; i >= 0; i = t->dof[i].parent)
      spin = fx_mad(spin, m->v1[i - m->first], x->state->motion[i].w);
    x->wrench[b].w = fx_mad(x->wrench[b].w, -1.0 / sim->h, fx_sym3_mul(x->tension[b], spin));
  }
}

/* ---- motion ---- */

/* By link: accelerations of the answer against gravity, A with the velocity products of the beginning and B without
 * any. */
static void find_accelerations(frix_sim *sim, fx_spatial *A, fx_spatial *B) {
  fx_mechanism *x = sim->mechanism;
  const fx_tree *t = &x->tree;
  frix_robot_state *s = x->state;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_tree_mover *m = sim->mover[k].tree;
    for (int32_t i = 0; m && m->mechanism && i < m->count; i++)
      x->row[m->first + i] = ((m->stands ? 0.0 : m->v1[i]) - m->v0[i]) / sim->h;
  }
  fx_tree_velocities(s); /* with those of the beginning */
  fx_tree_newton_euler(s, x->row, s->row2);
  memcpy(A, s->spatial, (size_t)t->body_count * sizeof *A);
  B[0] = A[0];
  for (int32_t b = 1; b < t->body_count; b++) {
    if (t->body[b].link != b) continue;
    B[b] = B[t->body[t->body[b].parent].link];
    for (int32_t i = t->body[b].dof_first; i < t->body[b].dof_first + t->body[b].dof_count; i++)
      B[b] = fx_spatial_mad(B[b], x->row[i], s->motion[i]);
  }
  for (int32_t i = 0; i < t->dof_count; i++) x->row[i] = 0.0;
}

static fx_spatial needed(const frix_sim *sim, int32_t b, const fx_spatial *A, const fx_spatial *B) {
  const fx_mechanism *x = sim->mechanism;
  const frix_robot_state *s = x->state;
  fx_inertia own = fx_inertia_of(&x->tree.body[b].mass, s->pose[b], fx_tree_point_of(s, b));
  if (fx_sees_half(sim)) return fx_spatial_add(fx_half_force(sim, b), fx_inertia_mul(&own, A[0]));
  int32_t link = x->tree.body[b].link;
  double theta = x->part_of_body[b] >= 0 ? x->part[x->part_of_body[b]].theta : 1.0;
  fx_spatial turns = fx_spatial_cross_force(s->velocity[link], fx_inertia_mul(&own, s->velocity[link]));
  fx_spatial f = fx_spatial_add(fx_inertia_mul(&own, A[link]), turns), none = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  if (theta == 1.0) return f;
  return fx_spatial_mad(fx_spatial_mad(none, theta, f), 1.0 - theta, fx_transport_force(sim, b, B[link]));
}

/* ---- all ---- */

/* What joint j does to b, which may be the one that carries. */
static void report(const frix_sim *sim, int32_t j, int32_t body, fx_spatial w) {
  fx_joint_memory *m = &sim->state.joint[j];
  fx_joint_view v = fx_joint_look(sim, j);
  double sign = v.slot[1] == sim->mechanism->slot_of_body[body] ? 1.0 : -1.0;
  frix_vec3 arm = fx_sub(fx_tree_point_of(sim->mechanism->state, body), v.point[1]);
  m->force = fx_scale(sign, w.v);
  m->torque = fx_scale(sign, fx_add(w.w, fx_cross(arm, w.v)));
}

void fx_mechanism_forces(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  const fx_assembly *a = &sim->rows;
  if (!x->own) return;
  for (int32_t b = 0; b < x->tree.body_count; b++) x->wrench[b] = (fx_spatial){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  add_contacts(sim, 1.0 / sim->h);
  for (int32_t k = 0; k < a->group_count; k++)
    if (fx_group_of_joint(&a->group[k])) add_group(sim, &a->group[k]);
  add_loads(sim);
  add_tension(sim);
  find_accelerations(sim, x->flown, x->state->spatial2);
  for (int32_t b = x->tree.body_count - 1; b > 0; b--) {
    fx_spatial w = fx_spatial_mad(needed(sim, b, x->flown, x->state->spatial2), -1.0, x->wrench[b]);
    int32_t parent = x->tree.body[b].parent;
    if (parent) x->wrench[parent] = fx_spatial_mad(x->wrench[parent], -1.0, w);
    bool moves = x->part_of_body[b] >= 0 && x->mover[x->part_of_body[b]] >= 0;
    if (x->own->joint_of_body[b] >= 0 && moves) report(sim, x->own->joint_of_body[b], b, w);
  }
}
