/* Velocity products of trees: not more energy than the links bring.
 *
 * In Moreau's step the links came to q with the velocities V = J(q0) v of the last place q0. Each flies freely: its
 * centre keeps its velocity, its spin turns with it and changes by the gyroscopic torque, in axes of the link
 *
 *   J (w' - w) = h (J w) x (w + w') / 2          (hence w' . J w' = w . J w)
 *
 * V' is what it brings. Two ways to go on:
 *
 *   M v_e = M v - h c(q, v)      velocity products at the beginning: keeps the speed of what turns about one axis, but
 *                                overflows for long chains
 *   M v_p = J(q)' Mb V'          joints take what they do not allow, as between bodies in maximal coordinates: the
 *                                projection in the norm of kinetic energy, |v_p|_M <= |V'| for every h, which loses
 *                                (h w)^2 of what turns
 *
 * They agree to O(h^2), since J' Mb (J(q) - J(q0)) v = h J' Mb J. v + O(h^2). The step takes v_p + theta (v_e - v_p)
 * with the largest theta <= 1 that brings no kinetic energy, |.|_M <= |V'|: no energy comes from velocity products at
 * any step. The linear momentum of a tree that floats is that of V', as v_p has it: v_e gets it by a translation of the
 * whole, and the energy is that about the centre of mass. The kinetic energy of a tree is that of V' (ledger.c).
 *
 * Trees of the joints of a model begin with V' = V. After coordinates or velocities were set by hand a tree brings
 * nothing: theta = 1. Schemes of the half step carry momenta over each half (mechanism_half.c).
 *
 * Contacts see what is left of V' after that, v_p + theta (v_e - v_p), as the velocity before the step: restitution
 * turns it round, and its energy is what impacts must not raise. */
#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

#define SLACK 1e-12 /* of the energy: rounding of its sums */
#define BEGINS 2.0  /* V' is what the coordinates have */

static fx_spatial kept_at(const fx_mechanism *x, const double *list, int32_t body) {
  const double *k = list + x->at.flown + 6 * (size_t)body;
  return (fx_spatial){{k[0], k[1], k[2]}, {k[3], k[4], k[5]}};
}

static void keep_at(const fx_mechanism *x, double *list, int32_t body, fx_spatial v) {
  const double k[6] = {v.w.x, v.w.y, v.w.z, v.v.x, v.v.y, v.v.z};
  memcpy(list + x->at.flown + 6 * (size_t)body, k, sizeof k);
}

const fx_mass *fx_unit_of(const fx_mechanism *x, int32_t b) {
  const fx_tree_body *body = &x->tree.body[b];
  if (x->part_of_body[b] < 0) return NULL;
  return x->own ? &body->mass : body->link == b ? &body->carried : NULL;
}

static frix_vec3 unit_center(const fx_mechanism *x, int32_t b) {
  return fx_pose_point(x->state->pose[b], fx_unit_of(x, b)->center);
}

static bool transports(const frix_sim *sim) { return !fx_sees_half(sim); }

/* ---- flight ---- */

/* J (w' - w) = h (J w) x (w + w') / 2, as (J - h/2 S) d = h (J w) x w. */
static frix_vec3 gyrated(frix_sym3 J, frix_vec3 w, double h) {
  frix_vec3 L = fx_sym3_mul(J, w), torque = fx_cross(L, w);
  if (fx_is_zero(torque)) return w;
  frix_vec3 s = fx_scale(0.5 * h, L), b = fx_scale(h, torque);
  frix_vec3 r0 = {J.xx, J.xy + s.z, J.xz - s.y}, r1 = {J.xy - s.z, J.yy, J.yz + s.x},
            r2 = {J.xz + s.y, J.yz - s.x, J.zz};
  frix_vec3 c0 = fx_cross(r1, r2), c1 = fx_cross(r2, r0), c2 = fx_cross(r0, r1);
  double det = fx_dot(r0, c0);
  if (!(det > 0.0)) return w; /* a link without inertia */
  frix_vec3 d = fx_add(fx_add(fx_scale(b.x / det, c0), fx_scale(b.y / det, c1)), fx_scale(b.z / det, c2));
  return fx_add(w, d);
}

/* Spin in its axes and velocity of its centre. */
static fx_spatial leaving(const fx_mechanism *x, int32_t b) {
  const frix_robot_state *s = x->state;
  return (fx_spatial){fx_unrotate(s->pose[b].q, fx_tree_velocity_of(s, b).w),
                      fx_tree_point_velocity(s, b, unit_center(x, b))};
}

static fx_spatial arriving(const fx_mechanism *x, int32_t b, fx_spatial left, double h) {
  left.w = fx_rotate(x->state->pose[b].q, gyrated(fx_unit_of(x, b)->inertia, left.w, h));
  return left;
}

void fx_transport_leave(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  if (!transports(sim)) return;
  fx_tree_velocities(x->state);
  for (int32_t b = 1; b < x->tree.body_count; b++)
    if (fx_unit_of(x, b)) x->flown[b] = leaving(x, b);
}

void fx_transport_arrive(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  double *list = sim->state.robot;
  for (int32_t k = 0; k < x->part_count; k++) list[x->at.carried + k] = transports(sim);
  for (int32_t b = 1; b < x->tree.body_count && transports(sim); b++)
    if (fx_unit_of(x, b)) keep_at(x, list, b, arriving(x, b, x->flown[b], sim->h));
}

void fx_transport_start(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  fx_tree_velocities(x->state);
  for (int32_t k = 0; k < x->part_count; k++) sim->state.robot[x->at.carried + k] = transports(sim) ? BEGINS : 0.0;
  for (int32_t b = 1; b < x->tree.body_count && transports(sim); b++)
    if (fx_unit_of(x, b))
      keep_at(x, sim->state.robot, b,
              (fx_spatial){fx_tree_velocity_of(x->state, b).w, fx_tree_point_velocity(x->state, b, unit_center(x, b))});
}

/* ---- the next step ---- */

/* What rests has no velocity products. */
static bool moves(const fx_mechanism *x, int32_t part) {
  const double *v = x->state->qvel + x->part[part].first;
  bool any = false;
  for (int32_t i = 0; i < x->part[part].count && !any; i++) any = v[i] != 0.0;
  return any;
}

static bool brings(const frix_sim *sim, int32_t part) {
  const fx_mechanism *x = sim->mechanism;
  return moves(x, part) && transports(sim) && sim->state.robot[x->at.carried + part] != 0.0;
}

/* (V - V') / h: of its spin and of its centre. */
static fx_spatial lost_by(const frix_sim *sim, int32_t b) {
  const fx_mechanism *x = sim->mechanism;
  const frix_robot_state *s = x->state;
  if (!brings(sim, x->part_of_body[b])) return (fx_spatial){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  fx_spatial flown = kept_at(x, sim->state.robot, b);
  frix_vec3 velocity = fx_tree_point_velocity(s, b, unit_center(x, b));
  return (fx_spatial){fx_scale(1.0 / sim->h, fx_sub(fx_tree_velocity_of(s, b).w, flown.w)),
                      fx_scale(1.0 / sim->h, fx_sub(velocity, flown.v))};
}

fx_spatial fx_transport_force(const frix_sim *sim, int32_t b, fx_spatial a) {
  const fx_mechanism *x = sim->mechanism;
  const fx_mass *mass = fx_unit_of(x, b);
  frix_quat q = x->state->pose[b].q;
  frix_vec3 arm = fx_sub(unit_center(x, b), fx_tree_point_of(x->state, b));
  fx_spatial lost = lost_by(sim, b);
  frix_vec3 spin = fx_add(lost.w, a.w), speed = fx_add(lost.v, fx_add(a.v, fx_cross(a.w, arm)));
  frix_vec3 torque = fx_rotate(q, fx_sym3_mul(mass->inertia, fx_unrotate(q, spin))),
            force = fx_scale(mass->mass, speed);
  return (fx_spatial){fx_add(torque, fx_cross(arm, force)), force};
}

/* Twice the kinetic energy that the links bring, against a velocity u of all; rotors go on as they are. */
static double brought(const frix_sim *sim, const fx_part *p, frix_vec3 u) {
  const fx_mechanism *x = sim->mechanism;
  double sum = 0.0;
  for (int32_t b = p->root; b < p->body_end; b++) {
    if (!fx_unit_of(x, b)) continue;
    fx_spatial flown = kept_at(x, sim->state.robot, b);
    const fx_mass *mass = fx_unit_of(x, b);
    frix_vec3 w = fx_unrotate(x->state->pose[b].q, flown.w);
    sum += mass->mass * fx_norm2(fx_sub(flown.v, u)) + fx_dot(w, fx_sym3_mul(mass->inertia, w));
  }
  for (int32_t i = p->first; i < p->first + p->count; i++) {
    double v = x->state->qvel[i];
    sum += x->tree.joint[x->tree.dof[i].joint].armature * v * v;
  }
  return sum;
}

static frix_vec3 center_velocity(const frix_sim *sim, const fx_part *p) {
  const fx_mechanism *x = sim->mechanism;
  frix_vec3 sum = {0.0, 0.0, 0.0};
  for (int32_t b = p->root; b < p->body_end; b++)
    if (fx_unit_of(x, b)) sum = fx_mad(sum, fx_unit_of(x, b)->mass, kept_at(x, sim->state.robot, b).v);
  return fx_scale(1.0 / p->mass, sum);
}

/* Of a tree that floats: takes from v_e - v_p what moves its centre of mass, a translation, and puts that into c_e. The
 * translations are its first three coordinates, the last three of each row of M. */
static void keep_momentum(const frix_sim *sim, const fx_part *p, const double *c_p, double *b, double *c_e) {
  const fx_tree *t = &sim->mechanism->tree;
  const double *m = sim->mechanism->state->m;
  double D[3];
  for (int n = 0; n < 3; n++) D[n] = sim->h * (c_p[n] - c_e[n]) / p->mass, b[n] -= D[n];
  double root[3];
  fx_tree_mul_part(t, m, p->first, 3, D, root);
  for (int n = 0; n < 3; n++) c_e[n] += root[n] / sim->h;
  for (int32_t i = 3; i < p->count; i++) {
    int32_t next = p->first + i + 1;
    const double *row = m + (next < t->dof_count ? t->dof[next].row : t->m_count) - 3;
    c_e[i] += (0.0 + row[0] * D[2] + row[1] * D[1] + row[2] * D[0]) / sim->h;
  }
}

/* The largest theta from v_p = a and v_e - v_p = b, which are found here; c_p: the velocity products that lead to v_p,
 * c_e: those at the beginning. */
static double largest(const frix_sim *sim, const fx_part *p, const double *c_p, double *c_e, double *a, double *b) {
  const fx_mechanism *x = sim->mechanism;
  const frix_robot_state *s = x->state;
  fx_twin both[FX_TREE_MOST], product[FX_TREE_MOST];
  int32_t n = p->count;
  frix_vec3 u = p->floats ? center_velocity(sim, p) : fx_vec(0.0, 0.0, 0.0);
  for (int32_t i = 0; i < n; i++) both[i] = (fx_twin){-sim->h * c_p[i], sim->h * (c_p[i] - c_e[i])};
  fx_tree_solve_pair(s, p->first, n, both);
  bool begins = sim->state.robot[x->at.carried + (p - x->part)] == BEGINS;
  for (int32_t i = 0; i < n; i++) {
    double v = s->qvel[p->first + i];
    a[i] = begins ? v : both[i][0] + v, b[i] = both[i][1];
  }
  if (p->floats) keep_momentum(sim, p, c_p, b, c_e);
  for (int32_t i = 0; i < n; i++) both[i] = (fx_twin){a[i] - (p->floats && i < 3 ? fx_at(u, i) : 0.0), b[i]};
  fx_tree_mul_pair(&x->tree, s->m, p->first, n, both, product);
  double least = 0.0, slope = 0.0, square = 0.0;
  for (int32_t i = 0; i < n; i++) {
    least += both[i][0] * product[i][0];
    slope += b[i] * product[i][0], square += b[i] * product[i][1];
  }
  double room = begins ? 0.0 : (1.0 + SLACK) * brought(sim, p, u) - least;
  if (2.0 * slope + square <= room) return 1.0;
  if (room < 0.0 || !(square > 0.0)) return 0.0; /* by rounding */
  double root = sqrt(slope * slope + square * room);
  return slope <= 0.0 ? fx_min(1.0, (root - slope) / square) : room / (slope + root);
}

/* The velocity products of links that bring V', by coordinate. */
static void lose(const frix_sim *sim, double *out) {
  const fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  fx_spatial none = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int32_t b = 1; b < x->tree.body_count; b++) {
    int32_t link = x->tree.body[b].link; /* before what is fixed to it */
    fx_spatial force = fx_unit_of(x, b) ? fx_transport_force(sim, b, none) : none;
    s->spatial[link] = link == b ? force : fx_spatial_add(s->spatial[link], force);
  }
  fx_tree_gather(s, s->spatial, out);
}

/* What a tree comes with. */
static void come(const frix_sim *sim, int32_t part, const double *c_p, double *c_e) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  fx_part *p = &x->part[part];
  double a[FX_TREE_MOST], b[FX_TREE_MOST], *came = sim->mover[x->mover[part]].tree->came;
  if (fx_sees_half(sim)) {
    for (int32_t i = 0; i < p->count; i++) a[i] = -sim->h * c_p[p->first + i];
    fx_tree_solve_part(s, p->first, p->count, a);
    for (int32_t i = 0; i < p->count; i++) came[i] = s->qvel[p->first + i] + a[i];
    for (int32_t i = p->first; i < p->first + p->count; i++) s->bias[i] += c_p[i] - c_e[i];
    return;
  }
  if (!brings(sim, part)) {
    for (int32_t i = 0; i < p->count; i++) b[i] = -sim->h * c_e[p->first + i];
    fx_tree_solve_part(s, p->first, p->count, b);
    for (int32_t i = 0; i < p->count; i++) came[i] = s->qvel[p->first + i] + b[i];
    return;
  }
  double *bias = s->bias + p->first, first[FX_TREE_MOST];
  c_p += p->first, c_e += p->first;
  memcpy(first, c_e, (size_t)p->count * sizeof *first);
  p->theta = largest(sim, p, c_p, c_e, a, b);
  for (int32_t i = 0; i < p->count; i++) came[i] = a[i] + p->theta * b[i];
  for (int32_t i = 0; i < p->count && (p->floats || p->theta < 1.0); i++)
    bias[i] += c_e[i] - first[i] + (1.0 - p->theta) * (c_p[i] - c_e[i]);
}

void fx_transport_load(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  bool any = false, some = false;
  for (int32_t k = 0; k < x->part_count; k++) {
    x->part[k].theta = 1.0;
    any |= x->mover[k] >= 0 && moves(x, k), some |= x->mover[k] >= 0 && brings(sim, k);
  }
  if (!any) return;
  double *c_p = x->row, *c_e = s->row2;
  if (fx_sees_half(sim))
    fx_half_lose(sim, c_p);
  else if (some)
    lose(sim, c_p);
  fx_tree_factor(s); /* of M: theta does not depend on what forces are implicit */
  fx_tree_gravity(s, c_e);
  for (int32_t i = 0; i < x->tree.dof_count; i++) c_e[i] = s->bias[i] - c_e[i];
  for (int32_t k = 0; k < x->part_count; k++)
    if (x->mover[k] >= 0 && moves(x, k)) come(sim, k, c_p, c_e);
  for (int32_t i = 0; i < x->tree.dof_count; i++) x->row[i] = 0.0;
}

/* ---- after changes by hand ---- */

void fx_transport_drop(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t k = 0; k < x->part_count; k++) sim->state.robot[x->at.carried + k] = 0.0;
}

void fx_transport_forget(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  const fx_tree *t = &x->tree;
  for (int32_t k = 0; k < x->part_count; k++) {
    const fx_part *p = &x->part[k];
    bool set = memcmp(x->state->qvel + p->first, x->seen + t->q_count + p->first, (size_t)p->count * sizeof(double));
    for (int32_t i = p->first; i < p->first + p->count && !set; i++) {
      const fx_tree_joint *j = &t->joint[t->dof[i].joint];
      set = memcmp(x->state->qpos + j->q, x->seen + j->q, (size_t)fx_joint_q_size(j->kind) * sizeof(double));
    }
    if (!set) continue;
    sim->state.robot[x->at.carried + k] = 0.0;
    if (fx_part_sleeps(sim, k)) fx_wake(sim, p->slot);
  }
}

bool fx_transport_motion(const frix_sim *sim, int32_t slot, frix_vec3 *velocity, frix_vec3 *spin) {
  const fx_mechanism *x = sim->mechanism;
  if (!fx_is_link(sim, slot)) return false;
  int32_t b = x->own ? x->body_of_slot[slot] : x->tree.body[x->body_of_slot[slot]].link;
  if (sim->state.robot[x->at.carried + x->part_of_body[b]] == 0.0) return false;
  fx_spatial v = kept_at(x, sim->state.robot, b);
  *spin = v.w, *velocity = v.v;
  if (x->own) return true; /* its centre is that of the slot */
  *velocity = fx_add(v.v, fx_cross(v.w, fx_sub(sim->state.pose[slot].p, unit_center(x, b))));
  return true;
}
