/* Forces on the trees, M~ and the free motion.
 *
 *   F = F0 - k h m.v1 - c m.(v1 - v0) along a moment m, F0 and the slopes k, c at the beginning:
 *   M~ = M + sum (h^2 k + h c) m m',   M~ (v_free - v0) = h smooth - sum h^2 k (m . v0) m
 *
 * Links under tension that swing faster than the step can follow have S (tension.c): M~ has J_w' S J_w besides, the
 * right side -J_w' S J_w v0.
 *
 * Springs and dampers of joints have one coordinate each, tendons and servos those of a chain: M~ keeps the pattern of
 * M. What acts across branches is a row instead (mechanism_rows.c), and so is a servo that reaches its bounds: where
 * the free motion or the answer takes one beyond them the step is made again with its row. */
#include "sim/mechanism.h"
#include "sim/step.h"

#include <math.h>
#include <string.h>

#define BOUND_SLACK 1e-9 /* of the range of a servo's force */

enum { FREE_ROUNDS = 3 };

/* ---- actuators ---- */

static void bound(fx_drive *d, double low, double high, double gear) {
  if (gear == 0.0) return;
  d->lowest = fx_max(d->lowest, (gear > 0.0 ? low : high) / gear);
  d->highest = fx_min(d->highest, (gear > 0.0 ? high : low) / gear);
}

static bool at_joint(const fx_tree_actuator *a) {
  return a->transmission == FRIX_ROBOT_AT_JOINT || a->transmission == FRIX_ROBOT_AT_JOINT_IN_PARENT;
}

static void bound_drive(const fx_mechanism *x, const fx_tree_actuator *a, double beside, fx_drive *d) {
  const fx_tree *t = &x->tree;
  d->lowest = -INFINITY, d->highest = INFINITY;
  if (a->force_limited && !a->turn) /* an orientation servo has its bound in its force */
    d->lowest = a->force_range[0] + beside, d->highest = a->force_range[1] + beside;
  if (a->transmission == FRIX_ROBOT_AT_TENDON && t->tendon[a->object].force_limited)
    bound(d, t->tendon[a->object].force_range[0], t->tendon[a->object].force_range[1], a->gear[0]);
  if (!at_joint(a)) return;
  const fx_tree_joint *j = &t->joint[a->object];
  if (!j->force_limited || x->joint_shared[a->object]) return;
  double held = j->carries_gravcomp ? x->state->gravcomp[j->v] : 0.0;
  bound(d, j->force_range[0] - held, j->force_range[1] - held, a->gear[0]);
}

/* Several actuators of a joint that has one bound act by their forces at the beginning of the step. */
static bool shares_bound(const fx_mechanism *x, const fx_tree_actuator *a) {
  return at_joint(a) && x->joint_shared[a->object] && x->tree.joint[a->object].force_limited;
}

static void push_along(const fx_mechanism *x, const fx_tree_actuator *a, double force) {
  for (int32_t n = a->dofs.first; n < a->dofs.first + a->dofs.count; n++)
    x->drive_force[x->tree.list[n]] += force * x->state->actuator_moment[n];
}

static void load_actuator(const frix_sim *sim, fx_mechanism *x, int32_t k) {
  const fx_tree_actuator *a = &x->tree.actuator[k];
  fx_drive *d = &x->drive[k];
  *d = (fx_drive){.as_row = d->as_row};
  if (x->tree.no_actuation || a->off || a->dofs.count == 0) return;
  fx_tree_drive f = fx_tree_drive_of(x->state, k);
  bound_drive(x, a, f.beside, d);
  d->force = f.force, d->stiffness = fx_max(0.0, -f.by_length), d->damping = fx_max(0.0, -f.by_velocity);
  bool soft = d->stiffness > 0.0 || d->damping > 0.0, bounded = isfinite(d->lowest) && isfinite(d->highest);
  bool row = (bounded && d->as_row) || !x->actuator_fits[k];
  d->mode = !soft || shares_bound(x, a) ? FX_DRIVE_FORCE : row ? FX_DRIVE_ROW : FX_DRIVE_SLOPE;
  if (d->mode == FX_DRIVE_ROW) { /* the row acts within bounds about the middle of its range */
    push_along(x, a, bounded ? 0.5 * (d->lowest + d->highest) : 0.0);
    return;
  }
  push_along(x, a, d->mode == FX_DRIVE_SLOPE ? d->force : fx_clamp(d->force, d->lowest, d->highest));
  if (d->mode != FX_DRIVE_SLOPE) return;
  x->slope[x->slope_count++] = (fx_slope){.span = a->dofs,
                                          .moment = x->state->actuator_moment + a->dofs.first,
                                          .stiffness = sim->h * sim->h * d->stiffness,
                                          .damping = sim->h * d->damping,
                                          .drives = true,
                                          .across = !x->actuator_chain[k]};
}

static void load_actuators(const frix_sim *sim, fx_mechanism *x) {
  const fx_tree *t = &x->tree;
  memset(x->drive_force, 0, (size_t)t->dof_count * sizeof *x->drive_force);
  for (int32_t k = 0; k < t->actuator_count; k++) load_actuator(sim, x, k);
  for (int32_t i = 0; i < t->dof_count; i++) {
    const fx_tree_joint *j = &t->joint[t->dof[i].joint];
    if (j->carries_gravcomp) x->drive_force[i] += x->state->gravcomp[i];
    if (j->force_limited && x->joint_shared[t->dof[i].joint])
      x->drive_force[i] = fx_clamp(x->drive_force[i], j->force_range[0], j->force_range[1]);
  }
}

/* ---- slopes ---- */

static void load_slopes(const frix_sim *sim, fx_mechanism *x) {
  const fx_tree *t = &x->tree;
  double h = sim->h;
  fx_tree_slopes(x->state, x->spring_slope, x->damper_slope);
  for (int32_t i = 0; i < t->dof_count; i++) x->spring_slope[i] *= h * h, x->damper_slope[i] *= h;
  for (int32_t k = 0; k < t->tendon_count; k++) {
    double stiffness, damping;
    fx_tree_tendon_slopes(x->state, k, &stiffness, &damping);
    if (!x->tendon_fits[k] || !(stiffness > 0.0 || damping > 0.0)) continue;
    x->slope[x->slope_count++] = (fx_slope){.span = t->tendon[k].dofs,
                                            .moment = x->state->tendon_moment + t->tendon[k].dofs.first,
                                            .stiffness = h * h * stiffness,
                                            .damping = h * damping,
                                            .across = !x->tendon_chain[k]};
  }
}

static double along(const fx_mechanism *x, const fx_slope *s, const double *v) {
  double sum = 0.0;
  for (int32_t n = 0; n < s->span.count; n++) sum += s->moment[n] * v[x->tree.list[s->span.first + n]];
  return sum;
}

void fx_tension_push(const fx_mechanism *x, const double *v, double scale, double *out) {
  frix_robot_state *s = x->state;
  const fx_tree *t = &x->tree;
  frix_vec3 *spin = x->turn;
  spin[0] = fx_vec(0.0, 0.0, 0.0);
  for (int32_t b = 1; b < t->body_count; b++) {
    if (t->body[b].link != b) continue;
    spin[b] = spin[t->body[t->body[b].parent].link];
    for (int32_t i = t->body[b].dof_first; i < t->body[b].dof_first + t->body[b].dof_count; i++)
      spin[b] = fx_mad(spin[b], v[i], s->motion[i].w);
  }
  for (int32_t b = t->body_count - 1; b > 0; b--)
    if (t->body[b].link == b) fx_tree_add_turn(s, b, fx_scale(scale, fx_sym3_mul(x->tension[b], spin[b])), out);
}

/* M~, its factor, and what implicit springs ask of the change. */
static void make_implicit(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  const fx_tree *t = &x->tree;
  frix_robot_state *s = x->state;
  memcpy(x->implicit, s->m, (size_t)t->m_count * sizeof *x->implicit);
  for (int32_t i = 0; i < t->dof_count; i++) {
    x->implicit[t->dof[i].row] += x->spring_slope[i] + x->damper_slope[i];
    x->smooth[i] -= x->spring_slope[i] * s->qvel[i];
  }
  for (int32_t k = 0; k < x->slope_count; k++) {
    const fx_slope *e = &x->slope[k];
    if (!e->across) fx_tree_add_outer(s, x->implicit, e->span, e->moment, e->stiffness + e->damping);
    double pull = e->stiffness * along(x, e, s->qvel);
    for (int32_t n = 0; n < e->span.count; n++) x->smooth[t->list[e->span.first + n]] -= pull * e->moment[n];
  }
  if (x->tense) fx_tree_add_turning(s, x->tension, x->implicit), fx_tension_push(x, s->qvel, -1.0, x->smooth);
  fx_holds_load(sim, x->smooth);
  double *mass = s->m;
  s->m = x->implicit;
  x->singular = !fx_tree_factor(s);
  s->m = mass;
  fx_loops_load(sim);
  fx_loops_push(x, x->smooth);
  for (int32_t k = 0; k < x->part_count; k++)
    if (x->part[k].dense) fx_dense_build(x, &x->part[k]);
}

/* ---- loads by hand ---- */

static void add_loads(const frix_sim *sim, fx_mechanism *x) {
  const fx_state *s = &sim->state;
  memset(x->load_force, 0, (size_t)x->tree.dof_count * sizeof *x->load_force);
  for (int32_t k = 1; k < x->slot_count; k++) {
    int32_t b = x->body_of_slot[k];
    if (b < 0) continue;
    frix_vec3 force = s->load[k].force, torque = s->load[k].torque;
    if (x->push) force = fx_add(force, x->push[k][0]), torque = fx_add(torque, x->push[k][1]);
    x->load[k][0] = force, x->load[k][1] = torque;
    if (fx_is_zero(force) && fx_is_zero(torque)) continue;
    fx_tree_add_jacobian(x->state, b, s->pose[k].p, force, x->load_force);
    fx_tree_add_turn(x->state, b, torque, x->load_force);
  }
}

/* ---- all ---- */

static void move_freely(const frix_sim *sim, const fx_mechanism *x, fx_mover *m) {
  fx_tree_mover *t = m->tree;
  double change[FX_TREE_MOST];
  memcpy(change, x->smooth + t->first, (size_t)t->count * sizeof *change);
  if (t->part->dense)
    fx_dense_solve(t->part, change);
  else
    fx_tree_solve_part(x->state, t->first, t->count, change);
  for (int32_t i = 0; i < t->count; i++) t->v1[i] = t->v_free[i] = t->v0[i] + change[i];
  m->v0 = fx_vec(fx_tree_speed(sim, m, FX_BEFORE), 0.0, 0.0);
  m->v1 = m->v_free = fx_vec(fx_tree_speed(sim, m, FX_FREE), 0.0, 0.0);
}

/* again: with other bounds, in the same state: what the velocity brings is known. */
static void load_once(frix_sim *sim, bool again) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  int32_t n = x->tree.dof_count;
  x->tree.timestep = sim->h;
  x->slope_count = 0;
  if (!again) {
    fx_tree_velocities(s);
    fx_tree_newton_euler(s, NULL, s->bias);
    fx_transport_load(sim);
  }
  fx_tree_passive(s);
  fx_tree_dampers(s, x->damper_force);
  fx_tree_actuators(s); /* rates of activations */
  load_actuators(sim, x);
  load_slopes(sim, x);
  add_loads(sim, x);
  for (int32_t i = 0; i < n; i++)
    x->smooth[i] = sim->h * (s->passive[i] + x->drive_force[i] + s->applied[i] + x->load_force[i] - s->bias[i]);
  make_implicit(sim);
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].tree) move_freely(sim, x, &sim->mover[k]);
}

/* ---- bounds ---- */

/* The servos whose force is beyond its bounds with these velocities become rows; true where there is one. */
static bool find_beyond(const frix_sim *sim, fx_mechanism *x, fx_when when) {
  bool any = false;
  for (int32_t k = 0; k < x->tree.actuator_count; k++) {
    fx_drive *d = &x->drive[k];
    if (d->mode != FX_DRIVE_SLOPE || !isfinite(d->lowest) || !isfinite(d->highest)) continue;
    const fx_tree_actuator *a = &x->tree.actuator[k];
    double rate = 0.0, before = x->state->actuator_velocity[k];
    for (int32_t n = a->dofs.first; n < a->dofs.first + a->dofs.count; n++) {
      int32_t i = x->tree.list[n], part = x->part_of_dof[i];
      const fx_tree_mover *t = part >= 0 && x->mover[part] >= 0 ? sim->mover[x->mover[part]].tree : NULL;
      if (t) rate += x->state->actuator_moment[n] * (when == FX_FREE ? t->v_free : t->v1)[i - t->first];
    }
    double force = d->force - sim->h * d->stiffness * rate - d->damping * (rate - before);
    double slack = BOUND_SLACK * (d->highest - d->lowest);
    if (force >= d->lowest - slack && force <= d->highest + slack) continue;
    d->as_row = any = true;
  }
  return any;
}

static bool is_beyond(frix_sim *sim, bool rows) {
  bool drives = find_beyond(sim, sim->mechanism, FX_AFTER), holds = fx_holds_check(sim, rows);
  return drives || holds;
}

void fx_mechanism_load(frix_sim *sim) {
  load_once(sim, false);
  for (int round = 0; round < FREE_ROUNDS && find_beyond(sim, sim->mechanism, FX_FREE); round++) load_once(sim, true);
}

frix_status fx_retry_drives(frix_sim *sim, fx_round round, fx_redo *redo) {
  if (!sim->mechanism || !is_beyond(sim, round.count > 0)) return FRIX_OK;
  *redo = FX_REDO_ROWS;
  for (int32_t k = 0; round.count > 1 && k < sim->mechanism->tree.actuator_count; k++)
    sim->mechanism->drive[k].as_row = true; /* all of them, at last */
  for (int32_t i = 0; round.count > 2 && i < sim->mechanism->tree.dof_count; i++)
    if (sim->mechanism->hold[i].mode != FX_HOLD_NONE) sim->mechanism->hold[i].mode = FX_HOLD_ROW;
  if (!round.last) load_once(sim, true);
  return FRIX_OK;
}
