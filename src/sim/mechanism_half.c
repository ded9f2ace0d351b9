/* Velocity products of trees in the schemes that see contacts at the half step.
 *
 * Links carry their momenta P, linear and angular in the world's axes, over each half of the step, as free bodies do.
 * Where they come to the place s of the contacts, the joints take of them what they do not allow; there forces and
 * rows act on the velocities v_p that are left; and the links leave s with the momenta that have the same left of them:
 *
 *   s = q0 + h/2 v0        M(s) v_p = J(s)' P(q0, v0)
 *                          M(s) (v - v_p) = h F + J(s)' r
 *   q1 = s + h/2 v1        J(s)' P(q1, v1) = M(s) v
 *
 * The last line is the first one read backwards: the whole is symmetric, hence of second order and without a drift of
 * energy, and the contacts see no velocity products at all. Coming takes energy (the projection is that of the norm of
 * M), leaving brings it back: of a point that goes round by an angle w per step, 1 / cos(w/2)^2 of its own.
 *
 * The last line is solved by iteration with M(s). Where it does not converge, or brings more than MOST_LIFT, links turn
 * too far in half a step for it: then the joints of q1 take what they do not allow, q1 = s + h/2 v,
 * M(q1) v1 = J(q1)' P(s, v), and energy is lost. Where that is so, or a link turns by more than RESOLVED in a step,
 * leaving brings no more energy than coming took: the velocities of the joints against the whole, which have no part in
 * its momentum, are then scaled. A tree that floats keeps its momentum even then as a rigid body does, whose energy
 * goes up and down while it turns. Only where the links' places ask for more than that is the spin scaled too, and the
 * step has the verdict `turn`.
 *
 * Loops within a tree and joints that dry friction holds keep their velocities of the half step: the impulses that they
 * need for it have no part in what leaves. M(s) has their slopes for the iteration, as M~ has.
 *
 * Rotors and spatial tendons with armature have a momentum along their coordinate and their length. Reference: E.
 * Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, ch. II.3 and V.1, on adjoint methods. */
#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

#define MOST_LIFT 0.5 /* of the kinetic energy at the half step: a turn of 1.3 rad per step */
#define RESOLVED 0.1  /* rad */
#define SAME 1e-14    /* of the fastest coordinate: the iteration has ended */
#define ENOUGH 1e-10  /* likewise: it has converged */
#define HELD 1e-6     /* likewise, with loops or stuck friction, which give way by their softness */
#define SLOWER 0.9    /* times what a round changed is the least that the next one does */

enum { MOST_ROUNDS = 60 };

static bool has_armature(const fx_tree *t) {
  for (int32_t k = 0; k < t->tendon_count; k++)
    if (t->tendon[k].armature != 0.0 && t->tendon[k].spatial) return true;
  return false;
}

frix_status fx_half_create(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  const fx_tree *t = &x->tree;
  if (!fx_sees_half(sim)) return FRIX_OK;
  x->before = FX_TAKE(&x->arena, fx_spatial, t->body_count), x->after = FX_TAKE(&x->arena, fx_spatial, t->body_count);
  x->drift = FX_TAKE(&x->arena, double, t->dof_count), x->end = FX_TAKE(&x->arena, double, t->dof_count);
  x->tendon_speed = FX_TAKE(&x->arena, double, t->tendon_count), x->lift = FX_TAKE(&x->arena, double, t->m_count);
  if (!x->before || !x->after || !x->drift || !x->end || !x->tendon_speed || !x->lift) return FRIX_ERROR_MEMORY;
  return fx_tree_state(sim->context, t, &x->ahead);
}

/* ---- momenta ---- */

/* Of a body with the velocities of a state. */
static fx_spatial momentum_of(const frix_robot_state *s, const fx_mass *mass, int32_t b) {
  frix_vec3 w = fx_tree_velocity_of(s, b).w, c = fx_pose_point(s->pose[b], mass->center);
  frix_vec3 turning = fx_rotate(s->pose[b].q, fx_sym3_mul(mass->inertia, fx_unrotate(s->pose[b].q, w)));
  return (fx_spatial){turning, fx_scale(mass->mass, fx_tree_point_velocity(s, b, c))};
}

static double tendon_speed(const frix_robot_state *s, int32_t k) {
  const fx_tree_tendon *x = &s->tree->tendon[k];
  double sum = 0.0;
  for (int32_t n = x->dofs.first; n < x->dofs.first + x->dofs.count; n++)
    sum += s->tendon_moment[n] * s->qvel[s->tree->list[n]];
  return sum;
}

static fx_spatial difference(fx_spatial a, fx_spatial b) { return (fx_spatial){fx_sub(a.w, b.w), fx_sub(a.v, b.v)}; }

/* A change of momentum of a body as a force about the tree's point. */
static fx_spatial about_point(const fx_mechanism *x, const frix_robot_state *s, int32_t b, fx_spatial p) {
  frix_vec3 arm = fx_sub(fx_pose_point(s->pose[b], fx_unit_of(x, b)->center), fx_tree_point_of(s, b));
  return (fx_spatial){fx_add(p.w, fx_cross(arm, p.v)), p.v};
}

/* out = J(at)' (P(from) - P), P: momenta by body, tendons: speeds. */
static void press(const fx_mechanism *x, frix_robot_state *at, const frix_robot_state *from, const fx_spatial *P,
                  const double *tendons, double *out) {
  const fx_tree *t = &x->tree;
  for (int32_t b = 1; b < t->body_count; b++) {
    int32_t link = t->body[b].link; /* before what is fixed to it */
    const fx_mass *mass = fx_unit_of(x, b);
    fx_spatial f = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (mass) f = about_point(x, at, b, difference(momentum_of(from, mass, b), P[b]));
    at->spatial[link] = link == b ? f : fx_spatial_add(at->spatial[link], f);
  }
  fx_tree_gather(at, at->spatial, out);
  for (int32_t k = 0; k < t->tendon_count; k++) {
    const fx_tree_tendon *c = &t->tendon[k];
    if (c->armature == 0.0 || !c->spatial) continue;
    double change = c->armature * (tendon_speed(from, k) - tendons[k]);
    for (int32_t n = c->dofs.first; n < c->dofs.first + c->dofs.count; n++)
      out[t->list[n]] += change * at->tendon_moment[n];
  }
}

/* ---- to the half step ---- */

static void keep_momenta(const fx_mechanism *x, fx_spatial *P) {
  for (int32_t b = 1; b < x->tree.body_count; b++)
    if (fx_unit_of(x, b)) P[b] = momentum_of(x->state, fx_unit_of(x, b), b);
  for (int32_t k = 0; k < x->tree.tendon_count; k++) x->tendon_speed[k] = tendon_speed(x->state, k);
}

/* Twice the kinetic energy of a tree; of one that floats, about its centre of mass. */
static double energy_of(const fx_mechanism *x, const frix_robot_state *s, const fx_part *p) {
  const fx_tree *t = &x->tree;
  double sum = 0.0;
  frix_vec3 all = {0.0, 0.0, 0.0};
  for (int32_t b = p->root; b < p->body_end; b++) {
    const fx_mass *mass = fx_unit_of(x, b);
    if (!mass) continue;
    fx_spatial own = momentum_of(s, mass, b);
    frix_vec3 velocity = fx_tree_point_velocity(s, b, fx_pose_point(s->pose[b], mass->center));
    sum += fx_dot(own.w, fx_tree_velocity_of(s, b).w) + fx_dot(own.v, velocity);
    all = fx_add(all, own.v);
  }
  for (int32_t i = p->first; i < p->first + p->count; i++)
    sum += t->joint[t->dof[i].joint].armature * s->qvel[i] * s->qvel[i];
  return p->floats ? sum - fx_norm2(all) / p->mass : sum;
}

void fx_half_leave(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  keep_momenta(x, x->before);
  for (int32_t k = 0; k < x->part_count; k++) x->part[k].took = energy_of(x, x->state, &x->part[k]);
}

void fx_half_lose(const frix_sim *sim, double *out) {
  const fx_mechanism *x = sim->mechanism;
  press(x, x->state, x->state, x->before, x->tendon_speed, out);
  for (int32_t i = 0; i < x->tree.dof_count; i++) out[i] /= sim->h;
}

/* ---- from there ---- */

/* A tree that goes on with velocities, and not at rest. */
static const fx_tree_mover *moving(const frix_sim *sim, int32_t part) {
  const fx_mechanism *x = sim->mechanism;
  const fx_tree_mover *t = x->mover[part] >= 0 ? sim->mover[x->mover[part]].tree : NULL;
  return t && !t->stands ? t : NULL;
}

/* The state ahead with the rates `end`, where `drift` takes it. */
static void look_ahead(const frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  const fx_tree *t = &x->tree;
  frix_robot_state *a = x->ahead;
  memcpy(a->qpos, x->state->qpos, (size_t)t->q_count * sizeof *a->qpos);
  memcpy(a->mocap, x->state->mocap, 7 * (size_t)t->mocap_count * sizeof *a->mocap);
  memcpy(a->qvel, x->end, (size_t)t->dof_count * sizeof *a->qvel);
  fx_tree_integrate(t, a->qpos, x->drift, 0.5 * sim->h);
  fx_tree_kinematics(a);
  if (has_armature(t)) fx_tree_tendons(a);
  fx_tree_velocities(a);
}

static double most_of(const double *v, int32_t count) {
  double most = 0.0;
  for (int32_t i = 0; i < count; i++) most = fmax(most, fabs(v[i]));
  return most;
}

/* One round for a tree; off: J(s)' (P(q1, end) - P(s, v)), without rotors. */
static void improve(const fx_mechanism *x, fx_part *p, const fx_tree_mover *m, double *off) {
  double *end = x->end + p->first, *drift = x->drift + p->first;
  for (int32_t i = 0; i < p->count; i++)
    off[i] += x->tree.joint[x->tree.dof[p->first + i].joint].armature * (end[i] - m->v1[i]);
  if (p->dense)
    fx_dense_solve(p, off);
  else
    fx_tree_solve_part(x->ahead, p->first, p->count, off);
  double change = most_of(off, p->count), size = most_of(end, p->count);
  for (int32_t i = 0; i < p->count; i++) drift[i] = end[i] -= off[i];
  p->lifts = change <= (p->held ? HELD : ENOUGH) * size;
  p->lifted = !(change > SAME * size && change < size) || (p->lifts && change >= SLOWER * p->lift_change);
  p->lift_change = change;
}

static bool lift_once(const frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  double *off = x->ahead->row2;
  bool any = false;
  look_ahead(sim);
  press(x, x->state, x->ahead, x->after, x->tendon_speed, off);
  for (int32_t k = 0; k < x->part_count; k++) {
    fx_part *p = &x->part[k];
    const fx_tree_mover *m = moving(sim, k);
    if (!m || p->lifted) continue;
    improve(x, p, m, off + p->first);
    any |= !p->lifted;
  }
  return any;
}

/* The joints of q1 take of the momenta of s what they do not allow. */
static void project(const frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_state *a = x->ahead;
  bool any = false;
  for (int32_t k = 0; k < x->part_count; k++) {
    const fx_part *p = &x->part[k];
    const fx_tree_mover *m = moving(sim, k);
    if (!m || p->lifts) continue;
    any = true;
    for (int32_t i = 0; i < p->count; i++) x->drift[p->first + i] = x->end[p->first + i] = m->v1[i];
  }
  if (!any) return;
  look_ahead(sim);
  fx_tree_evaluate_position(a);
  fx_tree_factor(a);
  double *off = a->row2;
  press(x, a, a, x->after, x->tendon_speed, off);
  for (int32_t k = 0; k < x->part_count; k++) {
    const fx_part *p = &x->part[k];
    if (!moving(sim, k) || p->lifts) continue;
    fx_tree_solve_part(a, p->first, p->count, off + p->first);
    for (int32_t i = p->first; i < p->first + p->count; i++) x->end[i] -= off[i];
  }
}

static double fastest_turn(const fx_mechanism *x, const frix_robot_state *s, const fx_part *p) {
  double most = 0.0;
  for (int32_t b = p->root; b < p->body_end; b++)
    if (x->tree.body[b].link == b) most = fmax(most, fx_norm2(s->velocity[b].w));
  return sqrt(most);
}

/* Begins with the answer, and what coming took of it: at the same velocities leaving brings that back. The energy of
 * each tree at the half step. */
static void start_lift(const frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  int32_t n = x->tree.dof_count;
  memset(x->end, 0, (size_t)n * sizeof *x->end), memset(x->drift, 0, (size_t)n * sizeof *x->drift);
  memcpy(s->row2, s->qvel, (size_t)n * sizeof *s->row2);
  for (int32_t k = 0; k < x->part_count; k++) {
    const fx_tree_mover *m = moving(sim, k);
    for (int32_t i = 0; i < x->part[k].count; i++) s->qvel[x->part[k].first + i] = m ? m->came[i] : 0.0;
  }
  fx_tree_velocities(s);
  for (int32_t k = 0; k < x->part_count; k++) {
    x->part[k].took -= energy_of(x, s, &x->part[k]);
    x->part[k].turn = sim->h * fastest_turn(x, s, &x->part[k]);
  }
  for (int32_t k = 0; k < x->part_count; k++) {
    fx_part *p = &x->part[k];
    const fx_tree_mover *m = moving(sim, k);
    for (int32_t i = 0; i < p->count; i++) s->qvel[p->first + i] = m ? m->v1[i] : 0.0;
    p->held = p->dense; /* and is so here too */
    for (int32_t i = 0; i < p->count; i++) p->held |= x->hold[p->first + i].mode == FX_HOLD_STUCK;
    for (int32_t i = 0; m && i < p->count; i++)
      x->drift[p->first + i] = x->end[p->first + i] = m->v1[i] + (p->held ? 0.0 : m->v0[i] - m->came[i]);
  }
  fx_tree_velocities(s);
  keep_momenta(x, x->after);
  for (int32_t k = 0; k < x->part_count; k++) {
    fx_part *p = &x->part[k];
    fx_flight_freeze(x, p);
    p->energy = energy_of(x, s, p), p->turn = fmax(p->turn, sim->h * fastest_turn(x, s, p));
    p->lifted = p->lifts = false, p->lift_change = INFINITY;
  }
  memcpy(s->qvel, s->row2, (size_t)n * sizeof *s->row2);
}

/* The factor of M(s) with the slopes of loops and of stuck friction. */
static bool factor_lift(fx_mechanism *x) {
  frix_robot_state *a = x->ahead;
  const fx_tree *t = &x->tree;
  double *own = a->m, *implicit = x->implicit;
  int32_t slopes = x->slope_count;
  memcpy(x->lift, x->state->m, (size_t)t->m_count * sizeof *x->lift);
  for (int32_t i = 0; i < t->dof_count; i++)
    if (x->hold[i].mode == FX_HOLD_STUCK) x->lift[t->dof[i].row] += x->hold[i].slope;
  a->m = x->implicit = x->lift, x->slope_count = 0;
  bool regular = fx_tree_factor(a);
  for (int32_t k = 0; k < x->part_count; k++)
    if (x->part[k].dense) fx_dense_build(x, &x->part[k]);
  a->m = own, x->implicit = implicit, x->slope_count = slopes;
  return regular;
}

void fx_half_go_on(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  if (!fx_sees_half(sim)) return;
  start_lift(sim);
  frix_robot_state *a = x->ahead;
  bool regular = factor_lift(x);
  for (int round = 0; regular && round < MOST_ROUNDS; round++)
    if (!lift_once(sim)) break;
  look_ahead(sim);
  for (int32_t k = 0; k < x->part_count; k++) {
    fx_part *p = &x->part[k];
    if (p->lifts && !(energy_of(x, a, p) <= (1.0 + MOST_LIFT) * p->energy)) p->lifts = false;
  }
  project(sim);
  look_ahead(sim);
  for (int32_t b = 1; b < x->tree.body_count; b++)
    if (fx_unit_of(x, b)) x->after[b] = momentum_of(a, fx_unit_of(x, b), b);
  fx_tree_velocities(x->state);
}

/* ---- at the end ---- */

/* Scales the velocities of a tree against those of a rigid body with its momentum; where that body alone has too much
 * energy, more than its turn brings by itself, its spin too: momentum is lost, which has a verdict. */
static void hold_back(frix_sim *sim, const fx_part *p, double energy, double most) {
  const fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  double whole[6] = {0.0}, rigid = p->floats ? fx_flight_rigid(x, p, 1.0, whole) : 0.0;
  double spins = rigid > most ? fx_max(most, fx_flight_frozen(x, p)) : rigid;
  if (rigid > spins) {
    double kept = sqrt(spins / rigid);
    fx_flight_rigid(x, p, kept, whole);
    if (!(1.0 - kept <= sim->config.tolerance)) fx_fail_phase(sim, "turn", FRIX_OUTCOME_STALLED);
  }
  double scale = most > rigid ? sqrt((most - rigid) / (energy - rigid)) : 0.0;
  for (int32_t i = 0; i < p->count; i++) {
    double kept = p->floats && i < 6 ? whole[i] : 0.0, *v = &s->qvel[p->first + i];
    *v = kept + scale * (*v - kept);
  }
}

void fx_half_end(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  bool any = false;
  for (int32_t k = 0; k < x->part_count; k++) {
    const fx_part *p = &x->part[k];
    if (!moving(sim, k)) continue;
    if (p->lifts && p->turn <= RESOLVED) continue;
    double energy = energy_of(x, x->state, p), most = fmax(0.0, p->energy + p->took);
    if (energy <= most) continue;
    hold_back(sim, p, energy, most);
    any = true;
  }
  if (any) fx_tree_velocities(x->state), fx_mechanism_remember(x);
}

fx_spatial fx_half_force(const frix_sim *sim, int32_t body) {
  const fx_mechanism *x = sim->mechanism;
  fx_spatial none = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, change = difference(x->after[body], x->before[body]);
  return about_point(x, x->state, body, fx_spatial_mad(none, 1.0 / sim->h, change));
}
