/* The mechanism of a simulation: which trees of the robot move as one, the numbers of its state, and the way between
 * coordinates and slots.
 *
 * The state's list of numbers holds qpos, qvel, ctrl, act, mocap, applied forces, then the impulses of all rows of the
 * last step: snapshots, hashes and steps that are taken back see no more than a list. The robot's own state points
 * into it. */
#include "sim/softs.h"

#include <math.h>
#include <string.h>

/* ---- trees ---- */

/* Whether something but contacts and gravity acts along a joint. */
static bool is_plain(const fx_tree *t, const fx_tree_joint *j) {
  bool spring = j->stiffness[0] != 0.0 || j->stiffness[1] != 0.0 || j->stiffness[2] != 0.0;
  bool damper = j->damping[0] != 0.0 || j->damping[1] != 0.0 || j->damping[2] != 0.0;
  return !spring && !damper && j->friction == 0.0 && j->armature == 0.0 && !(t->density > 0.0 || t->viscosity > 0.0);
}

static bool in_span(const fx_tree *t, fx_tree_span span, int32_t first, int32_t count) {
  for (int32_t n = span.first; n < span.first + span.count; n++)
    if (t->list[n] >= first && t->list[n] < first + count) return true;
  return false;
}

static int32_t root_of_body(const fx_tree *t, int32_t body) { return body >= 0 ? t->body[body].root : 0; }

/* Whether actuators, tendons or equalities name it. */
static bool is_driven(const fx_tree *t, int32_t root, int32_t first, int32_t count) {
  for (int32_t k = 0; k < t->actuator_count; k++)
    if (in_span(t, t->actuator[k].dofs, first, count)) return true;
  for (int32_t k = 0; k < t->tendon_count; k++)
    if (in_span(t, t->tendon[k].dofs, first, count)) return true;
  for (int32_t k = 0; k < t->equality_count; k++) {
    const fx_tree_equality *e = &t->equality[k];
    bool bodies = e->kind == FX_EQUAL_CONNECT || e->kind == FX_EQUAL_WELD;
    if (bodies && (root_of_body(t, e->first) == root || root_of_body(t, e->second) == root)) return true;
  }
  return false;
}

/* A free body that only contacts act on. Bodies that are welded to it and have slots of their own go with a tree. */
static bool is_body(const fx_mechanism *x, int32_t root) {
  const fx_tree *t = &x->tree;
  const fx_tree_body *b = &t->body[root];
  if (b->joint_count != 1 || t->joint[b->joint_first].kind != FRIX_ROBOT_FREE) return false;
  for (int32_t k = root + 1; k < t->body_count; k++)
    if (t->body[k].root == root && (t->body[k].link != root || x->slot_of_body[k] >= 0)) return false;
  for (int32_t k = root; k < t->body_count; k++)
    if (t->body[k].root == root && t->body[k].gravcomp != b->gravcomp) return false;
  return is_plain(t, &t->joint[b->joint_first]) && !is_driven(t, root, b->dof_first, 6);
}

static frix_status add_part(frix_sim *sim, fx_mechanism *x, int32_t root) {
  const fx_tree *t = &x->tree;
  fx_part *p = &x->part[x->part_count];
  *p = (fx_part){.root = root, .first = t->body[root].dof_first, .slot = x->slot_of_body[root], .body_end = root + 1};
  for (int32_t b = root; b < t->body_count; b++) {
    if (t->body[b].root != root) continue;
    x->part_of_body[b] = x->part_count;
    p->body_end = b + 1;
    p->mass += t->body[b].mass.mass;
    for (int32_t i = t->body[b].dof_first; i < t->body[b].dof_first + t->body[b].dof_count; i++) {
      if (i != p->first + p->count)
        return fx_fail(sim->context, FRIX_ERROR_INPUT, "the coordinates of a tree of the robot do not stand together");
      x->part_of_dof[i] = x->part_count;
      p->count++;
    }
  }
  if (p->count > FX_TREE_MOST)
    return fx_fail(sim->context, FRIX_ERROR_UNSUPPORTED, "a tree of the robot has %d coordinates; at most %d",
                   (int)p->count, (int)FX_TREE_MOST);
  x->part_count++;
  return FRIX_OK;
}

/* The first and the last tree that something acts on. */
static void tie(const fx_mechanism *x, int32_t dof, int32_t *first, int32_t *last) {
  int32_t part = x->part_of_dof[dof];
  if (part < 0) return;
  if (*first < 0 || part < *first) *first = part;
  if (part > *last) *last = part;
}

static void tie_span(const fx_mechanism *x, fx_tree_span span, int32_t *first, int32_t *last) {
  for (int32_t n = span.first; n < span.first + span.count; n++) tie(x, x->tree.list[n], first, last);
}

static void tie_equality(const fx_mechanism *x, const fx_tree_equality *e, int32_t *first, int32_t *last) {
  const fx_tree *t = &x->tree;
  for (int side = 0; side < 2; side++) {
    int32_t k = side ? e->second : e->first;
    if (k < 0 || !e->active) continue;
    if (e->kind == FX_EQUAL_JOINT) tie(x, t->joint[k].v, first, last);
    if (e->kind == FX_EQUAL_TENDON) tie_span(x, t->tendon[k].dofs, first, last);
    if (e->kind <= FX_EQUAL_WELD && t->body[k].dof_last >= 0) tie(x, t->body[k].dof_last, first, last);
  }
}

/* end[k]: the last part that part k is tied to. */
static void set_end(const fx_mechanism *x, int32_t *end, int32_t first, int32_t last) {
  int32_t count = 0;
  for (int32_t k = first; k >= 0 && k <= last; k++) {
    count += x->part[k].count;
    if (k < last && x->part[k].first + x->part[k].count != x->part[k + 1].first) return; /* something stands between */
  }
  if (first >= 0 && count <= FX_DENSE_MOST && last > end[first]) end[first] = last;
}

/* The last of the parts that belong to part k by way of each other, and how many coordinates they have. */
static int32_t last_of(const fx_mechanism *x, const int32_t *end, int32_t k, int32_t *coordinates) {
  int32_t last = end[k];
  *coordinates = 0;
  for (int32_t e = k; e <= last; e++) {
    *coordinates += x->part[e].count;
    if (end[e] > last) last = end[e];
  }
  return last;
}

/* Fingers on a hand that does not move are trees of their own; a linkage or a tendon makes them one. Nets of more
 * bodies than one tree may have stay apart, with rows between them. */
static void merge_parts(fx_mechanism *x, int32_t *end) {
  const fx_tree *t = &x->tree;
  for (int32_t k = 0; k < x->part_count; k++) end[k] = k;
  for (int32_t k = 0; k < t->equality_count + t->actuator_count; k++) {
    int32_t first = -1, last = -1;
    if (k < t->equality_count)
      tie_equality(x, &t->equality[k], &first, &last);
    else
      tie_span(x, t->actuator[k - t->equality_count].dofs, &first, &last);
    set_end(x, end, first, last);
  }
  int32_t count = 0;
  for (int32_t k = 0; k < x->part_count;) {
    int32_t coordinates, last = last_of(x, end, k, &coordinates);
    if (coordinates > FX_TREE_MOST) {
      while (k <= last) x->part[count++] = x->part[k++];
      continue;
    }
    fx_part whole = x->part[k];
    for (k++; k <= last; k++)
      whole.count += x->part[k].count, whole.mass += x->part[k].mass, whole.body_end = x->part[k].body_end;
    x->part[count++] = whole;
  }
  x->part_count = count;
  for (int32_t k = 0; k < count; k++) {
    for (int32_t i = x->part[k].first; i < x->part[k].first + x->part[k].count; i++) x->part_of_dof[i] = k;
    for (int32_t b = x->part[k].root; b < x->part[k].body_end; b++)
      if (x->part_of_body[b] >= 0) x->part_of_body[b] = k;
  }
}

static frix_status find_parts(frix_sim *sim, fx_mechanism *x) {
  const fx_tree *t = &x->tree;
  for (int32_t b = 0; b < t->body_count; b++) x->part_of_body[b] = -1;
  for (int32_t i = 0; i < t->dof_count; i++) x->part_of_dof[i] = -1;
  for (int32_t b = 1; b < t->body_count; b++) {
    if (t->body[b].root != b || is_body(x, b)) continue;
    frix_status status = add_part(sim, x, b);
    if (status != FRIX_OK) return status;
  }
  merge_parts(x, x->mover);
  /* slots of bodies of their own and of what is fixed are none of the mechanism */
  for (int32_t k = 0; k < x->slot_count; k++) x->body_of_slot[k] = -1;
  for (int32_t b = 0; b < t->body_count; b++)
    if (x->slot_of_body[b] >= 0 && x->part_of_body[b] >= 0) x->body_of_slot[x->slot_of_body[b]] = b;
  return FRIX_OK;
}

/* ---- the numbers of the state ---- */

static int32_t take_place(int32_t *count, int32_t size) {
  int32_t at = *count;
  *count += size;
  return at;
}

static fx_robot_places places_of(const fx_tree *t) {
  fx_robot_places p = {0};
  int32_t n = t->dof_count, *c = &p.count;
  p.qpos = take_place(c, t->q_count), p.qvel = take_place(c, n), p.ctrl = take_place(c, t->ctrl_count);
  p.act = take_place(c, t->act_count), p.mocap = take_place(c, 7 * t->mocap_count), p.applied = take_place(c, n);
  p.history = take_place(c, t->history_count);
  p.flown = take_place(c, 6 * t->body_count), p.carried = take_place(c, t->body_count);
  p.row_left = take_place(c, n), p.row_wait = take_place(c, n);
  p.lower = take_place(c, n), p.upper = take_place(c, n), p.friction = take_place(c, n);
  p.tendon_lower = take_place(c, t->tendon_count), p.tendon_upper = take_place(c, t->tendon_count);
  p.tendon_friction = take_place(c, t->tendon_count), p.tendon_spring = take_place(c, t->tendon_count);
  p.drive = take_place(c, t->actuator_count), p.equality = take_place(c, FRIX_MAX_DIM * t->equality_count);
  return p;
}

int32_t fx_layout_numbers(const fx_layout *layout) {
  return layout && layout->robot.tree.body_count > 1 ? places_of(&layout->robot.tree).count : 0;
}

static void point_into(fx_mechanism *x, double *list) {
  frix_robot_state *s = x->state;
  s->qpos = list + x->at.qpos, s->qvel = list + x->at.qvel, s->ctrl = list + x->at.ctrl, s->act = list + x->at.act;
  s->mocap = list + x->at.mocap, s->applied = list + x->at.applied;
  s->history = list + x->at.history;
}

static bool take_lists(fx_mechanism *x) {
  const fx_tree *t = &x->tree;
  fx_arena *a = &x->arena;
  const struct {
    double **list;
    size_t count;
  } row[] = {{&x->contact_mass, (size_t)t->body_count},
             {&x->seen, (size_t)t->q_count + (size_t)t->dof_count},
             {&x->q0, (size_t)t->q_count},
             {&x->implicit, (size_t)t->m_count},
             {&x->spring_slope, (size_t)t->dof_count},
             {&x->damper_slope, (size_t)t->dof_count},
             {&x->drive_force, (size_t)t->dof_count},
             {&x->damper_force, (size_t)t->dof_count},
             {&x->load_force, (size_t)t->dof_count},
             {&x->smooth, (size_t)t->dof_count},
             {&x->acceleration, (size_t)t->dof_count},
             {&x->row, (size_t)t->dof_count},
             {&x->jacobian, FRIX_MAX_DIM * (size_t)t->dof_count}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++)
    if (!(*row[k].list = FX_TAKE(a, double, row[k].count))) return false;
  return (x->slope = FX_TAKE(a, fx_slope, (size_t)t->tendon_count + (size_t)t->actuator_count)) &&
         (x->drive = FX_TAKE(a, fx_drive, t->actuator_count)) && (x->hold = FX_TAKE(a, fx_hold, t->dof_count)) &&
         (x->mover = FX_TAKE(a, int32_t, t->body_count)) && (x->flown = FX_TAKE(a, fx_spatial, t->body_count)) &&
         (x->wrench = FX_TAKE(a, fx_spatial, t->body_count)) && (x->tension = FX_TAKE(a, frix_sym3, t->body_count)) &&
         (x->turn = FX_TAKE(a, frix_vec3, t->body_count));
}

static bool take_maps(fx_mechanism *x, int32_t slots) {
  const fx_tree *t = &x->tree;
  fx_arena *a = &x->arena;
  return (x->part = FX_TAKE(a, fx_part, t->body_count)) && (x->part_of_body = FX_TAKE(a, int32_t, t->body_count)) &&
         (x->part_of_dof = FX_TAKE(a, int32_t, t->dof_count)) && (x->body_of_slot = FX_TAKE(a, int32_t, slots)) &&
         (x->slot_of_body = FX_TAKE(a, int32_t, t->body_count)) &&
         (x->tendon_chain = FX_TAKE(a, bool, t->tendon_count)) &&
         (x->actuator_chain = FX_TAKE(a, bool, t->actuator_count)) &&
         (x->joint_shared = FX_TAKE(a, bool, t->joint_count)) &&
         (x->load = (frix_vec3(*)[2])FX_TAKE(a, frix_vec3, 2 * (size_t)slots)) &&
         (x->push = (frix_vec3(*)[2])FX_TAKE(a, frix_vec3, 2 * (size_t)slots));
}

/* ---- between coordinates and slots ---- */

static void set_slot(frix_sim *sim, int32_t slot, frix_pose pose, frix_vec3 velocity, frix_vec3 spin) {
  fx_state *s = &sim->state;
  s->pose[slot] = pose, s->velocity[slot] = velocity, s->spin[slot] = spin;
  fx_set_momentum(sim, slot);
}

/* Poses of the links; with the velocities where those are known too. */
static void put_links(frix_sim *sim, bool moving) {
  const fx_mechanism *x = sim->mechanism;
  const frix_robot_state *s = x->state;
  for (int32_t k = 1; k < x->slot_count; k++) {
    int32_t b = x->body_of_slot[k];
    if (b < 0) continue;
    frix_pose pose = fx_body_central_pose(fx_slot_body(sim, k), s->pose[b]);
    if (moving)
      set_slot(sim, k, pose, fx_tree_point_velocity(s, b, pose.p), fx_tree_velocity_of(s, b).w);
    else
      sim->state.pose[k] = pose;
  }
}

/* A free body that is a slot of its own: the numbers of its joint. */
static void pull_body(const frix_sim *sim, int32_t b) {
  const fx_mechanism *x = sim->mechanism;
  const fx_tree_joint *j = &x->tree.joint[x->tree.body[b].joint_first];
  const fx_state *s = &sim->state;
  int32_t slot = x->slot_of_body[b];
  if (s->prototype[slot] < 0) return;
  const fx_body *body = fx_slot_body(sim, slot);
  frix_pose pose = fx_body_user_pose(body, s->pose[slot]);
  frix_vec3 arm = fx_sub(pose.p, s->pose[slot].p), w = fx_unrotate(pose.q, s->spin[slot]);
  frix_vec3 v = fx_add(s->velocity[slot], fx_cross(s->spin[slot], arm));
  const double q[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z};
  const double u[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
  memcpy(x->state->qpos + j->q, q, sizeof q);
  memcpy(x->state->qvel + j->v, u, sizeof u);
}

static void push_body(frix_sim *sim, int32_t b) {
  const fx_mechanism *x = sim->mechanism;
  const fx_tree_joint *j = &x->tree.joint[x->tree.body[b].joint_first];
  const double *q = x->state->qpos + j->q, *v = x->state->qvel + j->v;
  int32_t slot = x->slot_of_body[b];
  if (sim->state.prototype[slot] < 0) return;
  frix_pose user = {fx_vec(q[0], q[1], q[2]), fx_quat_unit(fx_quat_at(q + 3))};
  frix_pose pose = fx_body_central_pose(fx_slot_body(sim, slot), user);
  frix_vec3 w = fx_rotate(user.q, fx_vec(v[3], v[4], v[5]));
  frix_vec3 velocity = fx_add(fx_vec(v[0], v[1], v[2]), fx_cross(w, fx_sub(pose.p, user.p)));
  set_slot(sim, slot, pose, velocity, w);
  fx_wake(sim, slot);
}

/* Bodies of their own follow numbers that were set by hand; otherwise the numbers follow them. */
static void match_bodies(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t b = 1; b < x->tree.body_count; b++) {
    if (x->tree.body[b].root != b || x->part_of_body[b] >= 0) continue;
    const fx_tree_joint *j = &x->tree.joint[x->tree.body[b].joint_first];
    const double *q = x->state->qpos + j->q, *v = x->state->qvel + j->v;
    bool set = memcmp(q, x->seen + j->q, 7 * sizeof *q) || memcmp(v, x->seen + x->tree.q_count + j->v, 6 * sizeof *v);
    if (set)
      push_body(sim, b);
    else
      pull_body(sim, b);
  }
}

/* Mocap bodies are kinematic slots. */
static void match_mocap(const frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t b = 1; b < x->tree.body_count && x->tree.mocap_count; b++) {
    int32_t slot = x->slot_of_body[b], n = x->tree.body[b].mocap;
    if (n < 0 || slot < 0 || sim->state.prototype[slot] < 0) continue;
    frix_pose p = fx_body_user_pose(fx_slot_body(sim, slot), sim->state.pose[slot]);
    const double place[7] = {p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z};
    memcpy(x->state->mocap + 7 * (size_t)n, place, sizeof place);
  }
}

void fx_mechanism_remember(fx_mechanism *x) {
  memcpy(x->seen, x->state->qpos, (size_t)x->tree.q_count * sizeof *x->seen);
  memcpy(x->seen + x->tree.q_count, x->state->qvel, (size_t)x->tree.dof_count * sizeof *x->seen);
}

static void evaluate(fx_mechanism *x) {
  fx_tree_evaluate_position(x->state);
  fx_tree_velocities(x->state);
  fx_mechanism_remember(x);
}

void fx_mechanism_evaluate(frix_sim *sim) { evaluate(sim->mechanism); }

void fx_mechanism_place(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  x->tree.gravity = sim->state.gravity;
  x->state->time = sim->state.time;
  match_bodies(sim);
  match_mocap(sim);
  fx_transport_forget(sim);
  if (sim->config.sleep) fx_mechanism_wake(sim);
  evaluate(x);
  put_links(sim, true);
}

bool fx_mechanism_finite(const frix_sim *sim) {
  for (int32_t k = 0; k < sim->mechanism->at.lower; k++)
    if (!isfinite(sim->state.robot[k])) return false;
  return true;
}

void fx_mechanism_collect(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  memcpy(x->q0, x->state->qpos, (size_t)x->tree.q_count * sizeof *x->q0);
  for (int32_t k = 0; k < x->tree.actuator_count; k++) x->drive[k].as_row = sim->state.robot[x->at.drive + k] != 0.0;
  fx_holds_begin(sim);
  fx_flight_start(sim);
}

void fx_mechanism_begin(frix_sim *sim, double part) {
  fx_mechanism *x = sim->mechanism;
  memcpy(x->state->qpos, x->q0, (size_t)x->tree.q_count * sizeof *x->q0);
  if (part == 0.0) return; /* evaluated there */
  fx_half_leave(sim);
  fx_tree_integrate(&x->tree, x->state->qpos, x->state->qvel, part * sim->h);
  match_mocap(sim);
  fx_tree_evaluate_position(x->state);
  put_links(sim, false);
}

void fx_mechanism_finish(frix_sim *sim, double part) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_tree_mover *t = sim->mover[k].tree;
    for (int32_t i = 0; t && t->mechanism && i < t->count; i++) {
      s->qvel[t->first + i] = t->stands ? 0.0 : part < 1.0 ? x->end[t->first + i] : t->v1[i];
      x->acceleration[t->first + i] = (s->qvel[t->first + i] - t->v0[i]) / sim->h;
    }
  }
  fx_tree_activate(s);
  fx_tree_remember(s);
  fx_flight_begin(sim, part);
  fx_transport_leave(sim);
  fx_tree_integrate(&x->tree, s->qpos, part < 1.0 ? x->drift : s->qvel, part * sim->h);
  for (int32_t b = 1; b < x->tree.body_count; b++)
    if (x->tree.body[b].root == b && x->part_of_body[b] < 0) pull_body(sim, b);
  match_mocap(sim);
  s->time = sim->state.time + sim->h;
  evaluate(x);
  if (fx_flight_move(sim, part)) {
    evaluate(x);
    if (part < 1.0) fx_flight_end(sim);
    fx_tree_velocities(s);
    fx_mechanism_remember(x);
  }
  if (part < 1.0) fx_half_end(sim);
  fx_transport_arrive(sim);
  put_links(sim, true);
}

/* ---- life ---- */

/* What the stiff law takes for the mass of a link: its apparent mass at the reference, 3 / tr(J M^-1 J') with J of its
 * centre of mass, and no less than its own. A finger that a rotor of large inertia drives is as stiff as that asks. */
static void find_masses(fx_mechanism *x) {
  frix_robot_state *s = x->state;
  size_t n = (size_t)x->tree.dof_count;
  fx_tree_factor(s);
  for (int32_t b = 1; b < x->tree.body_count; b++) {
    double sum = 0.0, own = x->tree.body[b].link == b ? x->tree.body[b].carried.mass : 0.0;
    x->contact_mass[b] = own;
    if (x->part_of_body[b] >= 0 && x->tree.body[b].link != b)
      x->contact_mass[b] = x->contact_mass[x->tree.body[b].link];
    if (x->part_of_body[b] < 0 || x->tree.body[b].link != b) continue;
    for (int k = 0; k < 3; k++) {
      memset(x->row, 0, n * sizeof *x->row), memset(x->smooth, 0, n * sizeof *x->smooth);
      frix_vec3 c = fx_pose_point(s->pose[b], x->tree.body[b].carried.center);
      fx_tree_add_jacobian(s, b, c, fx_vec(k == 0, k == 1, k == 2), x->row);
      memcpy(x->smooth, x->row, n * sizeof *x->row);
      fx_tree_solve(s, x->smooth);
      for (size_t i = 0; i < n; i++) sum += x->row[i] * x->smooth[i];
    }
    if (sum > 0.0 && isfinite(3.0 / sum)) x->contact_mass[b] = fx_max(own, 3.0 / sum);
  }
  memset(x->row, 0, n * sizeof *x->row);
}

/* Joints with a bound on what several actuators do together. */
static void find_shared(fx_mechanism *x) {
  const fx_tree *t = &x->tree;
  for (int32_t k = 0; k < t->actuator_count; k++)
    for (int32_t n = 0; n < k; n++) {
      bool joints = t->actuator[k].transmission == t->actuator[n].transmission &&
                    t->actuator[k].transmission <= FRIX_ROBOT_AT_JOINT_IN_PARENT;
      if (joints && t->actuator[k].object == t->actuator[n].object) x->joint_shared[t->actuator[k].object] = true;
    }
  for (int32_t k = 0; k < t->tendon_count; k++) x->tendon_chain[k] = fx_tree_is_chain(t, t->tendon[k].dofs);
  for (int32_t k = 0; k < t->actuator_count; k++) x->actuator_chain[k] = fx_tree_is_chain(t, t->actuator[k].dofs);
}

static frix_status build(frix_sim *sim, fx_mechanism *x, const int32_t *body) {
  x->tree = x->robot->tree;
  x->tree.gravity = sim->state.gravity;
  x->at = places_of(&x->tree);
  sim->state.robot_count = x->at.count + fx_softs_room(sim->model);
  sim->state.robot = FX_NEW(sim->context, double, sim->state.robot_count);
  if (!sim->state.robot || !take_lists(x) || !take_maps(x, x->slot_count)) return FRIX_ERROR_MEMORY;
  for (int32_t b = 0; b < x->tree.body_count; b++) x->slot_of_body[b] = body[b];
  frix_status status = find_parts(sim, x);
  if (status == FRIX_OK) status = fx_tree_state(sim->context, &x->tree, &x->state);
  if (status != FRIX_OK) return status;
  point_into(x, sim->state.robot);
  frix_robot_reset(x->state, -1);
  evaluate(x);
  if (x->own && x->own->contact_mass)
    memcpy(x->contact_mass, x->own->contact_mass, (size_t)x->tree.body_count * sizeof *x->contact_mass);
  else
    find_masses(x);
  find_shared(x);
  fx_flight_create(x);
  fx_mechanism_tie(x);
  if ((status = fx_half_create(sim)) != FRIX_OK) return status;
  return fx_loops_create(sim);
}

frix_status fx_mechanism_build(frix_sim *sim, fx_layout *layout) {
  fx_mechanism *x = FX_NEW(sim->context, fx_mechanism, 1);
  if (!x) return FRIX_ERROR_MEMORY;
  sim->mechanism = x;
  fx_arena_init(&x->arena, sim->context);
  x->own = fx_layout_hold(layout);
  x->robot = layout ? &layout->robot : sim->model->robot.robot;
  x->slot_count = layout ? layout->slot_count : sim->model->body_count;
  return build(sim, x, layout ? layout->body : sim->model->robot.body);
}

static void start(frix_sim *sim, int32_t key) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_reset(x->state, key);
  x->state->time = sim->state.time;
  fx_tree_forget(x->state);
}

/* Trees of the model's joints as they stand at the start. */
static frix_status create_trees(frix_sim *sim) {
  frix_status status = fx_layout_make(sim, &sim->state.trees);
  if (status != FRIX_OK) return status;
  sim->first_trees = fx_layout_hold(sim->state.trees);
  sim->first_trees->first = true;
  if (sim->state.trees->robot.tree.body_count == 1) return status;
  if ((status = fx_mechanism_build(sim, sim->state.trees)) != FRIX_OK) return status;
  start(sim, -1);
  fx_mechanism_start(sim);
  fx_transport_start(sim);
  return FRIX_OK;
}

frix_status fx_mechanism_create(frix_sim *sim) {
  const fx_robot_link *link = &sim->model->robot;
  frix_status status = FRIX_OK;
  if (link->robot)
    status = fx_mechanism_build(sim, NULL);
  else if (sim->config.coordinates == FRIX_COORDINATES_REDUCED)
    status = create_trees(sim);
  if (status != FRIX_OK || !sim->mechanism) return status;
  if (link->robot) start(sim, link->key);
  fx_mechanism_remember(sim->mechanism);
  fx_mechanism_place(sim);
  return FRIX_OK;
}

void fx_mechanism_destroy(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  if (!x) return;
  frix_robot_state_destroy(x->state);
  frix_robot_state_destroy(x->ahead);
  fx_layout_release(x->own);
  fx_arena_free(&x->arena);
  fx_free(sim->context, x);
  sim->mechanism = NULL;
}
