/* A robot of the joints of a model: trees of hinges, sliders, balls, universal and fixed joints.
 *
 * Bodies that such joints connect are numbered from the world, and from one body of every mechanism that floats, depth
 * first; a joint to a body that has a number already closes a loop and stays a row, as do distances, couplings, joints
 * of planar and kinematic bodies and those that are not closed where the trees are made. Coordinates are counted from
 * there. Limits, motors, friction and springs of all joints are rows between the links, as between bodies (joints.c).
 *
 * Trees are made when the simulation begins, and again after bodies or joints were changed by hand (mechanism_edit.c):
 * a tree that is as it was keeps its reference, and so all bits of what follows. */
#include "sim/joints.h"
#include "sim/mechanism.h"
#include "sim/softs.h"

#include <string.h>

/* ---- which ---- */

static bool is_fixed(const frix_sim *sim, int32_t body) {
  return body == 0 || sim->model->body[body].kind == FRIX_BODY_STATIC;
}

/* Whether a joint is of a kind that trees have. */
static bool may_fit(const frix_sim *sim, int32_t j) {
  const fx_joint *joint = &sim->model->joint[j];
  bool kind = joint->config.kind <= FRIX_JOINT_FIXED;
  if (!kind || joint->planar || !fx_joint_active(sim, j)) return false;
  if (is_fixed(sim, joint->a) && is_fixed(sim, joint->b)) return false;
  for (int side = 0; side < 2; side++) {
    int32_t body = side ? joint->b : joint->a;
    if (is_fixed(sim, body)) continue;
    const fx_body *b = &sim->model->body[body];
    if (b->dof != 6 || b->spawn_only || fx_soft_of(sim->model, body)) return false;
  }
  return true;
}

static bool fits(const frix_sim *sim, int32_t j) {
  return may_fit(sim, j) && sim->state.joint[j].error <= FX_JOINT_CLOSED;
}

/* ---- numbering ---- */

typedef struct growth {
  const frix_sim *sim;
  fx_layout *made;
  fx_tree *tree;
  int32_t *number;       /* by body of the model: of the tree, -1: none yet */
  int32_t *first, *next; /* joints by body: lists */
  int32_t *pending;      /* joints whose other body is to be numbered, last first */
  int32_t *from;         /* the body each was met from */
  int32_t pending_count;
} growth;

static frix_pose start_of(const growth *g, int32_t body) {
  const fx_body *b = &g->sim->model->body[body];
  return body ? fx_body_user_pose(b, g->sim->state.pose[body]) : fx_pose_one();
}

static frix_vec3 in_user(const fx_body *b, frix_vec3 p) { return fx_add(p, b->center); }

static void add_hinge(fx_tree_joint *to, frix_robot_joint_kind kind, frix_vec3 pos, frix_vec3 axis) {
  to->kind = kind, to->pos = pos, to->axis = axis;
  if (kind == FRIX_ROBOT_BALL) to->ref[0] = to->spring[0] = 1.0;
}

/* The joints of a link, in its own frame as it stands at the start. */
static void add_joints(growth *g, int32_t j, int32_t child, fx_tree_body *link) {
  const fx_joint *joint = &g->sim->model->joint[j];
  const fx_body *own = &g->sim->model->body[child];
  fx_joint_view v = fx_joint_look(g->sim, j);
  int side = joint->b == child;
  frix_quat turn = g->sim->state.pose[child].q;
  frix_vec3 pos = in_user(own, (side ? joint->config.frame_b : joint->config.frame_a).p);
  frix_vec3 z = fx_unrotate(turn, fx_mat3_col(v.axes[0], 2)), x = fx_unrotate(turn, fx_mat3_col(v.axes[1], 0));
  fx_tree_joint *to = &g->tree->joint[g->tree->joint_count];
  link->joint_first = g->tree->joint_count;
  link->joint_count = joint->config.kind == FRIX_JOINT_FIXED ? 0 : joint->config.kind == FRIX_JOINT_UNIVERSAL ? 2 : 1;
  g->tree->joint_count += link->joint_count;
  for (int32_t k = 0; k < link->joint_count; k++)
    to[k] = (fx_tree_joint){.name = joint->config.name, .body = (int32_t)(link - g->tree->body)};
  switch (joint->config.kind) {
    case FRIX_JOINT_BALL: add_hinge(to, FRIX_ROBOT_BALL, pos, fx_vec(0.0, 0.0, 1.0)); break;
    case FRIX_JOINT_HINGE: add_hinge(to, FRIX_ROBOT_HINGE, pos, z); break;
    case FRIX_JOINT_SLIDER: add_hinge(to, FRIX_ROBOT_SLIDE, pos, z); break;
    case FRIX_JOINT_UNIVERSAL: /* the axis that the parent holds first */
      add_hinge(&to[side ? 0 : 1], FRIX_ROBOT_HINGE, pos, z);
      add_hinge(&to[side ? 1 : 0], FRIX_ROBOT_HINGE, pos, x);
      break;
    default: break;
  }
}

static void add_free(growth *g, frix_pose pose, fx_tree_body *link) {
  fx_tree_joint *to = &g->tree->joint[g->tree->joint_count];
  const double ref[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z};
  *to = (fx_tree_joint){.kind = FRIX_ROBOT_FREE, .body = (int32_t)(link - g->tree->body), .axis = {0.0, 0.0, 1.0}};
  memcpy(to->ref, ref, sizeof ref), memcpy(to->spring, ref, sizeof ref);
  link->joint_first = g->tree->joint_count++, link->joint_count = 1;
}

static void push_joints(growth *g, int32_t body) {
  for (int32_t k = g->first[body]; k >= 0; k = g->next[k])
    g->pending[g->pending_count] = k, g->from[g->pending_count++] = body;
}

/* j < 0: a root that floats. */
static void add_link(growth *g, int32_t j, int32_t parent, int32_t child) {
  fx_tree *t = g->tree;
  const fx_body *own = &g->sim->model->body[child];
  fx_tree_body *link = &t->body[t->body_count];
  int32_t above = parent >= 0 && !is_fixed(g->sim, parent) ? g->number[parent] : 0;
  frix_pose pose = start_of(g, child), base = above ? start_of(g, parent) : fx_pose_one();
  *link = (fx_tree_body){.name = own->name, .parent = above, .mocap = -1, .gravcomp = 1.0 - own->gravity_scale};
  link->place = fx_pose_mul(fx_pose_inverse(base), pose);
  link->place.q = fx_quat_unit(link->place.q);
  link->mass = (fx_mass){own->mass, own->center, own->inertia};
  g->number[child] = t->body_count, g->made->body[t->body_count] = child;
  g->made->joint_of_body[t->body_count] = j;
  t->body_count++;
  if (j < 0)
    add_free(g, pose, link);
  else
    add_joints(g, j, child, link);
}

/* Everything that hangs on what is pending, depth first: a joint is looked at when all before it are done. */
static void grow(growth *g) {
  while (g->pending_count > 0) {
    int32_t at = --g->pending_count, k = g->pending[at], from = g->from[at], j = k / 2;
    const fx_joint *joint = &g->sim->model->joint[j];
    int32_t other = joint->a == from ? joint->b : joint->a;
    bool stands = joint->config.kind == FRIX_JOINT_FIXED && is_fixed(g->sim, from); /* has no coordinate to be one of */
    if (stands || is_fixed(g->sim, other) || g->number[other] >= 0) continue;
    add_link(g, j, from, other);
    g->made->tree_joint[j] = true;
    push_joints(g, other);
  }
}

/* Whether every joint of a body ends at a fixed body. */
static bool held(const growth *g, int32_t body) {
  for (int32_t k = g->first[body]; k >= 0; k = g->next[k]) {
    const fx_joint *joint = &g->sim->model->joint[k / 2];
    if (!is_fixed(g->sim, joint->a == body ? joint->b : joint->a)) return false;
  }
  return true;
}

/* ---- trees as they were ---- */

static bool same_frame(frix_pose a, frix_pose b) { return !memcmp(&a, &b, sizeof a); }

/* Whether body b hangs as body o of the trees before did, with the same mass. */
static bool hangs_as_before(const growth *g, int32_t b, int32_t o) {
  const fx_mechanism *x = g->sim->mechanism;
  const fx_layout *old = x->own;
  const fx_tree_body *now = &g->tree->body[b], *past = &old->robot.tree.body[o];
  int32_t slot = g->made->body[b], j = g->made->joint_of_body[b], above = now->parent, before = past->parent;
  if (old->body[o] != slot || old->joint_of_body[o] != j || now->joint_count != past->joint_count) return false;
  if ((above ? g->made->body[above] : -1) != (before ? old->body[before] : -1)) return false;
  if (now->gravcomp != past->gravcomp || memcmp(&now->mass, &past->mass, sizeof now->mass)) return false;
  if (j >= 0 && !same_frame(g->sim->model->joint[j].config.frame_a, old->frame[2 * j])) return false;
  if (j >= 0 && !same_frame(g->sim->model->joint[j].config.frame_b, old->frame[2 * j + 1])) return false;
  return true;
}

/* Whether it moves as its coordinates say. */
static bool moves_as_before(const growth *g, int32_t b, int32_t o) {
  const fx_mechanism *x = g->sim->mechanism;
  int32_t slot = g->made->body[b];
  const fx_body *body = &g->sim->model->body[slot];
  frix_pose pose = fx_body_central_pose(body, x->state->pose[o]);
  frix_vec3 v = fx_tree_point_velocity(x->state, o, pose.p), w = fx_tree_velocity_of(x->state, o).w;
  const fx_state *s = &g->sim->state;
  return !memcmp(&pose, &s->pose[slot], sizeof pose) && !memcmp(&v, &s->velocity[slot], sizeof v) &&
         !memcmp(&w, &s->spin[slot], sizeof w);
}

/* Bodies first .. end - 1 are one tree: where it is as before, its reference is the one it had. */
static void inherit(growth *g, int32_t first, int32_t end) {
  const fx_mechanism *x = g->sim->mechanism;
  int32_t slot = g->made->body[first], old = slot < x->own->slot_count ? x->body_of_slot[slot] : -1;
  const fx_tree *t = &x->own->robot.tree;
  if (old < 0 || old + end - first > t->body_count) return;
  if (old + end - first < t->body_count && t->body[old + end - first].root == t->body[old].root) return;
  for (int32_t b = first; b < end; b++)
    if (!hangs_as_before(g, b, old + b - first)) return;
  for (int32_t b = first; b < end; b++) g->made->was[b] = old + b - first;
  for (int32_t b = first; b < end; b++)
    if (!moves_as_before(g, b, old + b - first)) return;
  for (int32_t b = first; b < end; b++) {
    fx_tree_body *to = &g->tree->body[b];
    const fx_tree_body *from = &t->body[old + b - first];
    to->place = from->place;
    for (int32_t k = 0; k < to->joint_count; k++) {
      fx_tree_joint *joint = &g->tree->joint[to->joint_first + k];
      int32_t body = joint->body;
      const char *name = joint->name;
      *joint = t->joint[from->joint_first + k];
      joint->body = body, joint->name = name;
    }
    g->made->from[b] = old + b - first;
  }
}

static void inherit_trees(growth *g) {
  int32_t count = g->tree->body_count;
  for (int32_t b = 0; b < count; b++) g->made->from[b] = g->made->was[b] = -1;
  if (!g->sim->mechanism || !g->sim->mechanism->own) return;
  for (int32_t first = 1, end; first < count; first = end) {
    for (end = first + 1; end < count && g->tree->body[end].parent >= first;) end++;
    inherit(g, first, end);
  }
}

/* ---- all ---- */

static frix_status prepare(growth *g, fx_arena *scratch) {
  const frix_model *m = g->sim->model;
  fx_layout *made = g->made;
  fx_arena *a = &made->robot.arena;
  size_t bodies = (size_t)m->body_count, joints = (size_t)m->joint_count;
  g->number = FX_TAKE(scratch, int32_t, bodies), g->first = FX_TAKE(scratch, int32_t, bodies);
  g->next = FX_TAKE(scratch, int32_t, 2 * joints);
  g->pending = FX_TAKE(scratch, int32_t, 2 * joints + 1), g->from = FX_TAKE(scratch, int32_t, 2 * joints + 1);
  g->tree->body = FX_TAKE(a, fx_tree_body, bodies + 1), g->tree->joint = FX_TAKE(a, fx_tree_joint, 2 * joints + bodies);
  made->body = FX_TAKE(a, int32_t, bodies + 1), made->joint_of_body = FX_TAKE(a, int32_t, bodies + 1);
  made->from = FX_TAKE(a, int32_t, bodies + 1), made->was = FX_TAKE(a, int32_t, bodies + 1);
  made->frame = FX_TAKE(a, frix_pose, 2 * joints);
  made->tree_joint = FX_TAKE(a, bool, joints), made->waits = FX_TAKE(a, bool, joints);
  if (!g->number || !g->first || !g->next || !g->pending || !g->from || !g->tree->body || !g->tree->joint ||
      !made->body || !made->joint_of_body || !made->from || !made->was || !made->frame || !made->tree_joint ||
      !made->waits)
    return FRIX_ERROR_MEMORY;
  made->model = m, made->slot_count = m->body_count, made->joint_count = m->joint_count;
  for (size_t k = 0; k < bodies; k++) g->number[k] = g->first[k] = -1;
  for (int32_t j = m->joint_count - 1; j >= 0; j--) {
    made->frame[2 * j] = m->joint[j].config.frame_a, made->frame[2 * j + 1] = m->joint[j].config.frame_b;
    made->waits[j] = g->sim->state.trees && may_fit(g->sim, j) && !fits(g->sim, j); /* not those that start open */
    made->any_waits |= made->waits[j];
    if (!fits(g->sim, j)) continue;
    for (int side = 0; side < 2; side++) {
      int32_t body = side ? m->joint[j].b : m->joint[j].a, k = 2 * j + side;
      g->next[k] = g->first[body], g->first[body] = k;
    }
  }
  g->tree->body[0] = (fx_tree_body){.name = "world", .parent = -1, .mocap = -1, .place = fx_pose_one()};
  made->body[0] = -1;
  g->tree->body_count = 1;
  return FRIX_OK;
}

static frix_status make(growth *g, fx_arena *scratch) {
  const frix_sim *sim = g->sim;
  frix_status status = prepare(g, scratch);
  if (status != FRIX_OK) return status;
  for (int32_t b = 0; b < sim->model->body_count; b++)
    if (is_fixed(sim, b)) {
      push_joints(g, b);
      grow(g);
    }
  for (int32_t b = 1; b < sim->model->body_count; b++) {
    if (is_fixed(sim, b) || g->number[b] >= 0 || g->first[b] < 0 || held(g, b)) continue;
    add_link(g, -1, -1, b);
    push_joints(g, b);
    grow(g);
  }
  if (g->tree->body_count == 1) return FRIX_OK;
  inherit_trees(g);
  g->made->robot.name = "";
  g->tree->timestep = 1.0;
  return fx_tree_finish(sim->context, &g->made->robot.arena, g->tree);
}

frix_status fx_layout_make(const frix_sim *sim, fx_layout **out) {
  fx_layout *made = *out = FX_NEW(sim->context, fx_layout, 1);
  if (!made) return FRIX_ERROR_MEMORY;
  atomic_init(&made->holders, 1);
  made->robot.context = sim->context;
  fx_arena_init(&made->robot.arena, sim->context);
  fx_arena scratch;
  fx_arena_init(&scratch, sim->inner);
  growth g = {.sim = sim, .made = made, .tree = &made->robot.tree};
  frix_status status = make(&g, &scratch);
  fx_arena_free(&scratch);
  if (status == FRIX_OK) return FRIX_OK;
  fx_layout_release(made);
  *out = NULL;
  return status;
}

fx_layout *fx_layout_hold(fx_layout *layout) {
  if (layout) atomic_fetch_add(&layout->holders, 1);
  return layout;
}

void fx_layout_release(fx_layout *layout) {
  if (!layout || atomic_fetch_sub(&layout->holders, 1) > 1) return;
  frix_context *context = layout->robot.context;
  fx_arena_free(&layout->robot.arena);
  fx_free(context, layout);
}

/* Velocities of the links give those of the coordinates: M qvel = sum J' (m v, J w), the nearest where they contradict
 * each other. */
void fx_mechanism_start(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  fx_tree_evaluate_position(s);
  if (!fx_tree_factor(s)) return;
  memset(s->qvel, 0, (size_t)x->tree.dof_count * sizeof *s->qvel);
  for (int32_t b = 1; b < x->tree.body_count; b++) {
    int32_t k = x->slot_of_body[b];
    const fx_body *body = &sim->model->body[k];
    fx_tree_add_jacobian(s, b, s->center[b], fx_scale(body->mass, sim->state.velocity[k]), s->qvel);
    fx_tree_add_turn(s, b, fx_sym3_mul(fx_sym3_turn(s->pose[b].q, body->inertia), sim->state.spin[k]), s->qvel);
  }
  fx_tree_solve(s, s->qvel);
}
