/* Momentum of trees that fly.
 *
 * A step changes the velocities v_p that the joints leave of v0 at the place s of its contacts by forces and rows
 * (mechanism_half.c). The rows of a floating tree's root are its momentum h(q, v), so that these leave of it
 *
 *   h1 = h(q0, v0) + h(s, v - v_p)
 *
 * At the new place q1 the velocities v1 have this momentum but for O(h^3). The root gets the velocity D of a rigid body
 * with the whole tree's inertia I at q1 that makes it good,
 *
 *   I(q1) D = h1 - h(q1, v1)                      (linear and angular, about one point; joints keep their velocities)
 *
 * and the whole moves so that its centre of mass goes as that of a free body does, with the momenta of the scheme. Then
 * linear and angular momentum are kept to rounding. Moreau's scheme
 * keeps its velocities v0 + h a, whose momentum is off by O(h) in all; this is for the two schemes of second order.
 * Trees that something holds (contacts, loops that end outside of them, tension) are left alone: their velocities were
 * found with what holds them. */
#include "sim/mechanism.h"

#include <float.h>

/* Whether all of a part hangs on one free joint, and nothing ties it to what is no part of it. */
static bool floats(const fx_mechanism *x, const fx_part *p) {
  const fx_tree *t = &x->tree;
  const fx_tree_body *root = &t->body[p->root];
  if (root->joint_count != 1 || t->joint[root->joint_first].kind != FRIX_ROBOT_FREE) return false;
  if (t->joint[root->joint_first].armature != 0.0) return false;
  for (int32_t i = p->first; i < p->first + p->count; i++)
    if (t->body[t->dof[i].body].root != p->root) return false;
  for (int32_t k = 0; k < t->equality_count; k++) {
    const fx_tree_equality *e = &t->equality[k];
    if (!e->active || e->kind > FX_EQUAL_WELD) continue;
    bool first = t->body[e->first].root == p->root, second = e->second >= 0 && t->body[e->second].root == p->root;
    if (first != second) return false;
  }
  return true;
}

void fx_flight_create(fx_mechanism *x) {
  for (int32_t k = 0; k < x->part_count; k++) x->part[k].floats = floats(x, &x->part[k]);
}

static int32_t part_at(const frix_sim *sim, int32_t slot) {
  const fx_mechanism *x = sim->mechanism;
  int32_t body = slot < x->slot_count ? x->body_of_slot[slot] : -1;
  return body < 0 ? -1 : x->part_of_body[body];
}

/* Two links of one tree that touch do nothing to the whole. */
static bool is_inner(const frix_sim *sim, const fx_group *g) {
  if (g->robot) return g->body_count <= 1;
  const fx_contact *c = g->kind == FX_GROUP_CONTACT ? &sim->contact[g->source] : NULL;
  return c && part_at(sim, c->body_a) >= 0 && part_at(sim, c->body_a) == part_at(sim, c->body_b);
}

/* Whether rows of this step end at the tree and elsewhere; acting: those with impulses. */
static bool is_held(const frix_sim *sim, int32_t mover, bool acting) {
  for (int32_t k = 0; k < sim->rows.group_count; k++) {
    const fx_group *g = &sim->rows.group[k];
    bool ends = false;
    if (acting && !fx_group_acts(&sim->rows, g)) continue;
    for (int32_t n = 0; n < g->body_count; n++) ends |= g->mover[n] == mover;
    if (ends && !is_inner(sim, g)) return true;
  }
  return false;
}

/* About the tree's point. */
static fx_spatial momentum_of(const fx_mechanism *x, const fx_part *p) {
  const frix_robot_state *s = x->state;
  fx_spatial sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int32_t b = p->root; b < p->body_end; b++)
    if (x->tree.body[b].link == b && x->tree.body[b].root == p->root)
      sum = fx_spatial_add(sum, fx_inertia_mul(&s->inertia[b], s->velocity[b]));
  return sum;
}

static fx_spatial moved(fx_spatial f, frix_vec3 from, frix_vec3 to) {
  return (fx_spatial){fx_add(f.w, fx_cross(fx_sub(from, to), f.v)), f.v};
}

static frix_vec3 center_of(const frix_robot_state *s, int32_t root) {
  return fx_mad(fx_tree_point_of(s, root), 1.0 / s->composite[root].mass, s->composite[root].first);
}

void fx_flight_start(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  for (int32_t k = 0; k < x->part_count; k++) {
    fx_part *p = &x->part[k];
    if (!p->floats) continue;
    p->momentum = momentum_of(x, p), p->point = fx_tree_point_of(x->state, p->root);
    p->center = center_of(x->state, p->root), p->start = p->momentum.v;
  }
}

void fx_flight_begin(frix_sim *sim, double part) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  bool any = false;
  for (int32_t k = 0; k < x->part_count; k++) {
    fx_part *p = &x->part[k];
    const fx_tree_mover *t = x->mover[k] >= 0 ? sim->mover[x->mover[k]].tree : NULL;
    bool may = (part < 1.0 || x->own) && !x->tense && p->floats && t && t->v0 && !t->stands;
    p->flies = may && !is_held(sim, x->mover[k], part == 1.0);
    for (int32_t i = 0; p->flies && part < 1.0 && i < t->count; i++) s->qvel[t->first + i] = t->v1[i] - t->came[i];
    any |= p->flies;
  }
  if (!any) return;
  fx_tree_velocities(s);
  for (int32_t k = 0; k < x->part_count && part == 1.0; k++)
    if (x->part[k].flies) x->part[k].momentum = momentum_of(x, &x->part[k]);
  if (part == 1.0) return;
  for (int32_t k = 0; k < x->part_count; k++) {
    fx_part *p = &x->part[k];
    if (!p->flies) continue;
    const fx_tree_mover *t = sim->mover[x->mover[k]].tree;
    p->momentum = fx_spatial_add(p->momentum, moved(momentum_of(x, p), fx_tree_point_of(s, p->root), p->point));
    for (int32_t i = t->first; i < t->first + t->count; i++) s->qvel[i] = x->end[i];
  }
}

/* About the centre of mass. */
static frix_sym3 central_of(const fx_inertia *i) {
  frix_vec3 c = fx_scale(1.0 / i->mass, i->first);
  double m = i->mass, cc = fx_norm2(c);
  return (frix_sym3){i->second.xx - m * (cc - c.x * c.x), i->second.yy - m * (cc - c.y * c.y),
                     i->second.zz - m * (cc - c.z * c.z), i->second.xy + m * c.x * c.y,
                     i->second.xz + m * c.x * c.z,        i->second.yz + m * c.y * c.z};
}

/* The velocity of a rigid body of this inertia that has this momentum. */
static fx_spatial velocity_for(const fx_inertia *i, fx_spatial momentum) {
  frix_vec3 c = fx_scale(1.0 / i->mass, i->first), turning = fx_sub(momentum.w, fx_cross(c, momentum.v));
  frix_vec3 w = fx_sym3_mul(fx_sym3_inverse(central_of(i)), turning);
  return (fx_spatial){w, fx_sub(fx_scale(1.0 / i->mass, momentum.v), fx_cross(w, c))};
}

/* Where the centre of mass belongs. */
static void move_center(frix_sim *sim, const fx_part *p, double part) {
  frix_robot_state *s = sim->mechanism->state;
  double rate = sim->h / s->composite[p->root].mass;
  frix_vec3 to = fx_mad(fx_mad(p->center, (1.0 - part) * rate, p->start), part * rate, p->momentum.v);
  frix_vec3 way = fx_sub(to, center_of(s, p->root));
  double *q = s->qpos + sim->mechanism->tree.joint[sim->mechanism->tree.body[p->root].joint_first].q;
  for (int n = 0; n < 3; n++) q[n] += fx_at(way, n);
}

bool fx_flight_move(frix_sim *sim, double part) {
  fx_mechanism *x = sim->mechanism;
  bool any = false;
  for (int32_t k = 0; k < x->part_count; k++) {
    if (!x->part[k].flies) continue;
    move_center(sim, &x->part[k], part);
    any = true;
  }
  return any;
}

/* Links that turn by more than their angles resolve end the step at no known pose: no velocity there has the momentum.
 */
void fx_flight_judge(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t k = 0; x && sim->integrator->position_time < 1.0 && k < x->part_count; k++) {
    const fx_mover *m = x->part[k].floats && x->mover[k] >= 0 ? &sim->mover[x->mover[k]] : NULL;
    if (!m || !m->tree || !m->tree->v0) continue;
    if (!(DBL_EPSILON * sim->h * fx_tree_turn_rate(m) <= fx_max(sim->config.tolerance, 1e-12)))
      fx_fail_phase(sim, "turn", FRIX_OUTCOME_STALLED);
  }
}

/* A motion of the whole, about the tree's point, as the velocity of its root. */
static void put_root(const frix_robot_state *s, const fx_part *p, fx_spatial d, double out[6]) {
  const frix_pose *pose = &s->pose[p->root];
  frix_vec3 v = fx_add(d.v, fx_cross(d.w, fx_sub(pose->p, fx_tree_point_of(s, p->root)))),
            w = fx_unrotate(pose->q, d.w);
  for (int n = 0; n < 3; n++) out[n] = fx_at(v, n), out[3 + n] = fx_at(w, n);
}

double fx_flight_rigid(const fx_mechanism *x, const fx_part *p, double spin, double whole[6]) {
  const frix_robot_state *s = x->state;
  const fx_inertia *all = &s->composite[p->root];
  frix_vec3 c = fx_scale(1.0 / all->mass, all->first);
  fx_spatial momentum = momentum_of(x, p);
  momentum.w = fx_mad(fx_cross(c, momentum.v), spin, fx_sub(momentum.w, fx_cross(c, momentum.v)));
  fx_spatial d = velocity_for(all, momentum);
  put_root(s, p, d, whole);
  return fx_spatial_dot(d, momentum) - fx_norm2(momentum.v) / all->mass;
}

void fx_flight_freeze(const fx_mechanism *x, fx_part *p) {
  const frix_robot_state *s = x->state;
  if (p->floats) p->frozen = fx_sym3_turn(fx_quat_conj(s->pose[p->root].q), central_of(&s->composite[p->root]));
}

double fx_flight_frozen(const fx_mechanism *x, const fx_part *p) {
  const frix_robot_state *s = x->state;
  const fx_inertia *all = &s->composite[p->root];
  fx_spatial momentum = momentum_of(x, p);
  frix_vec3 turning = fx_sub(momentum.w, fx_cross(fx_scale(1.0 / all->mass, all->first), momentum.v));
  frix_vec3 own = fx_unrotate(s->pose[p->root].q, turning);
  return fx_dot(own, fx_sym3_mul(fx_sym3_inverse(p->frozen), own));
}

void fx_flight_end(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  for (int32_t k = 0; k < x->part_count; k++) {
    const fx_part *p = &x->part[k];
    if (!p->flies) continue;
    frix_vec3 o = fx_tree_point_of(s, p->root);
    fx_spatial missing = fx_spatial_mad(moved(p->momentum, p->point, o), -1.0, momentum_of(x, p));
    fx_spatial d = velocity_for(&s->composite[p->root], missing);
    double root[6];
    put_root(s, p, d, root);
    for (int n = 0; n < 6; n++) s->qvel[p->first + n] += root[n];
  }
}
