/* A robot of the joints of a model: trees of hinges, sliders, balls, universal and fixed joints.
 *
 * Bodies that such joints connect are numbered from the world, and from one body of every mechanism that floats, depth
 * first; a joint to a body that has a number already closes a loop and stays a row, as do distances, couplings, joints
 * of planar and kinematic bodies and those that are not closed at the start. Coordinates are counted from the start.
 * Limits, motors, friction and springs of all joints are rows between the links, as between bodies (joints.c). */
#include "sim/joints.h"
#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

#define CLOSED 1e-9 /* m, rad */

/* ---- which ---- */

static bool is_fixed(const frix_sim *sim, int32_t body) {
  return body == 0 || sim->model->body[body].kind == FRIX_BODY_STATIC;
}

static bool fits(const frix_sim *sim, int32_t j) {
  const fx_joint *joint = &sim->model->joint[j];
  bool kind = joint->config.kind <= FRIX_JOINT_FIXED;
  if (!kind || joint->planar || !fx_joint_active(sim, j) || sim->state.joint[j].error > CLOSED) return false;
  if (is_fixed(sim, joint->a) && is_fixed(sim, joint->b)) return false;
  for (int side = 0; side < 2; side++) {
    int32_t body = side ? joint->b : joint->a;
    if (!is_fixed(sim, body) && (sim->model->body[body].dof != 6 || sim->model->body[body].spawn_only)) return false;
  }
  return true;
}

/* ---- numbering ---- */

typedef struct growth {
  frix_sim *sim;
  fx_tree *tree;
  fx_arena *arena;
  int32_t *number;       /* by body of the model: of the tree, -1: none yet */
  int32_t *body;         /* and back */
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
  g->number[child] = t->body_count, g->body[t->body_count] = child;
  g->sim->mechanism->joint_of_body[t->body_count] = j;
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
    g->sim->mechanism->tree_joint[j] = true;
    push_joints(g, other);
  }
}

/* Whether all joints of a body fix it to what stands. */
static bool held(const growth *g, int32_t body) {
  for (int32_t k = g->first[body]; k >= 0; k = g->next[k]) {
    const fx_joint *joint = &g->sim->model->joint[k / 2];
    if (!is_fixed(g->sim, joint->a == body ? joint->b : joint->a)) return false;
  }
  return true;
}

/* ---- all ---- */

static frix_status prepare(growth *g, frix_robot *robot) {
  const frix_model *m = g->sim->model;
  fx_arena *a = &g->sim->mechanism->arena;
  size_t bodies = (size_t)m->body_count, joints = (size_t)m->joint_count;
  g->number = FX_TAKE(a, int32_t, bodies), g->body = FX_TAKE(a, int32_t, bodies + 1);
  g->first = FX_TAKE(a, int32_t, bodies), g->next = FX_TAKE(a, int32_t, 2 * joints);
  g->pending = FX_TAKE(a, int32_t, 2 * joints + 1), g->from = FX_TAKE(a, int32_t, 2 * joints + 1);
  g->tree->body = FX_TAKE(&robot->arena, fx_tree_body, bodies + 1);
  g->tree->joint = FX_TAKE(&robot->arena, fx_tree_joint, 2 * joints + bodies);
  g->sim->mechanism->tree_joint = FX_TAKE(a, bool, joints);
  g->sim->mechanism->joint_of_body = FX_TAKE(a, int32_t, bodies + 1);
  g->sim->mechanism->push = (frix_vec3(*)[2])FX_TAKE(a, frix_vec3, 2 * bodies);
  if (!g->number || !g->body || !g->first || !g->next || !g->pending || !g->from || !g->tree->body || !g->tree->joint ||
      !g->sim->mechanism->tree_joint || !g->sim->mechanism->joint_of_body || !g->sim->mechanism->push)
    return FRIX_ERROR_MEMORY;
  for (size_t k = 0; k < bodies; k++) g->number[k] = g->first[k] = -1;
  for (int32_t j = m->joint_count - 1; j >= 0; j--) {
    if (!fits(g->sim, j)) continue;
    for (int side = 0; side < 2; side++) {
      int32_t body = side ? m->joint[j].b : m->joint[j].a, k = 2 * j + side;
      g->next[k] = g->first[body], g->first[body] = k;
    }
  }
  g->tree->body[0] = (fx_tree_body){.name = "world", .parent = -1, .mocap = -1, .place = fx_pose_one()};
  g->body[0] = -1;
  g->tree->body_count = 1;
  return FRIX_OK;
}

frix_status fx_mechanism_of_joints(frix_sim *sim, const int32_t **body) {
  fx_mechanism *x = sim->mechanism;
  frix_robot *robot = x->own = FX_NEW(sim->context, frix_robot, 1);
  if (!robot) return FRIX_ERROR_MEMORY;
  robot->context = sim->context;
  fx_arena_init(&robot->arena, sim->context);
  growth g = {.sim = sim, .tree = &robot->tree, .arena = &x->arena};
  frix_status status = prepare(&g, robot);
  if (status != FRIX_OK) return status;
  for (int32_t b = 0; b < sim->model->body_count; b++)
    if (is_fixed(sim, b)) {
      push_joints(&g, b);
      grow(&g);
    }
  for (int32_t b = 1; b < sim->model->body_count; b++) {
    if (is_fixed(sim, b) || g.number[b] >= 0 || g.first[b] < 0 || held(&g, b)) continue;
    add_link(&g, -1, -1, b);
    push_joints(&g, b);
    grow(&g);
  }
  if (robot->tree.body_count == 1) return FRIX_OK;
  robot->name = "";
  robot->tree.timestep = 1.0;
  x->robot = robot;
  *body = g.body;
  return fx_tree_finish(sim->context, &robot->arena, &robot->tree);
}

/* Velocities of the links give those of the coordinates: M qvel = sum J' (m v, J w), the nearest where they contradict
 * each other. */
void fx_mechanism_start(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  if (!x->own) return;
  fx_tree_evaluate_position(s);
  if (!fx_tree_factor(s)) return;
  memset(s->qvel, 0, (size_t)x->tree.dof_count * sizeof *s->qvel);
  for (int32_t b = 1; b < x->tree.body_count; b++) {
    int32_t k = x->slot_of_body[b];
    const fx_body *body = &sim->model->body[k];
    fx_tree_add_jacobian(s, b, s->center[b], fx_scale(body->mass, body->velocity), s->qvel);
    fx_tree_add_turn(s, b, fx_sym3_mul(fx_sym3_turn(s->pose[b].q, body->inertia), body->spin), s->qvel);
  }
  fx_tree_solve(s, s->qvel);
}
