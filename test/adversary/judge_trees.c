/* Trees of coordinates: what the judge needs to see them as bodies.
 *
 * Joints that have no rows of their own are coordinates. A tree moves by its coordinates' rates x: link b by
 *
 *   V_b = sum over the joints between b and the root of S_k x_k,   S_k a turn about an axis or a way along one,
 *
 * and a step obeys, for each k, with rows taken at the start or at the half step,
 *
 *   sum over the links b beyond joint k of S_k . [M_b (V_b(x1) - V_b(x0)) + h (M_b A_b + w x J w) - h F_b - impulses] =
 * 0
 *
 * with A_b the acceleration of the link at x0 without any of x. At the half step the first and the last term are those
 * of momenta P that links carry to and from there,
 *
 *   sum of S_k . [M_b V_b(x) - P_b(x0)] = 0,   sum of S_k . [P_b(x1) - M_b V_b(x)] = 0,
 *
 * with P at the start and at the end, which give the velocities before and after the impulses. The state shows links at
 * their new poses; axes are fixed in the bodies that they connect, so that rates are read there and put on the poses of
 * the rows. A tree that floats is led by its first body, and its origin. With rows of the start the velocity products
 * are less where they would bring energy: judge_tree_brought.c. */
#include "judge_tree_parts.h"

#include <stdlib.h>
#include <string.h>

static const real STRAY = 1e-13L; /* of a place: its rounding */

judged_trees *trees_new(const judge *j) {
  judged_trees *t = calloc(1, sizeof *t);
  size_t n = (size_t)j->body_count;
  t->link = calloc(n, sizeof *t->link);
  t->order = calloc(n, sizeof *t->order);
  t->acceleration = calloc(n, sizeof *t->acceleration);
  t->turning = calloc(n, sizeof *t->turning);
  t->torque = calloc(n, sizeof *t->torque);
  t->spent = calloc(n, sizeof *t->spent);
  t->unsure = calloc(n, sizeof *t->unsure);
  t->shown = calloc(n, sizeof *t->shown);
  t->tension = calloc(n, sizeof *t->tension);
  t->pull = calloc((size_t)j->joint_count + 1, sizeof *t->pull);
  t->last = calloc(n, sizeof *t->last);
  t->next = calloc(n, sizeof *t->next);
  t->motion = calloc(ROOT_AXES * n, sizeof *t->motion);
  t->M = calloc(ROOT_AXES * n * ROOT_AXES * n, sizeof *t->M);
  t->bare = calloc(ROOT_AXES * n * ROOT_AXES * n, sizeof *t->bare);
  t->row = calloc(ROOT_AXES * n, sizeof *t->row);
  t->go = calloc(ROOT_AXES * n, sizeof *t->go);
  t->push = calloc(ROOT_AXES * n, sizeof *t->push);
  t->start = calloc(n, sizeof *t->start);
  t->before = calloc(n, sizeof *t->before);
  t->after = calloc(n, sizeof *t->after);
  t->strays = calloc(n, sizeof *t->strays);
  t->q = calloc(n, sizeof *t->q);
  t->c = calloc(n, sizeof *t->c);
  return t;
}

void trees_free(judged_trees *t) {
  if (!t) return;
  free(t->link), free(t->order), free(t->acceleration), free(t->turning), free(t->motion);
  free(t->torque), free(t->spent), free(t->unsure), free(t->shown), free(t->tension), free(t->pull), free(t->last),
      free(t->next);
  free(t->M), free(t->bare), free(t->row), free(t->go), free(t->push), free(t->q), free(t->c), free(t->start),
      free(t->before), free(t->after), free(t->strays);
  free(t);
}

/* ---- which joints ---- */

static bool has_rows(const frix_sim *sim, frix_joint_id id) {
  for (int k = 0; k < frix_sim_row_count(sim); k++) {
    frix_row_report r;
    if (frix_sim_row(sim, k, &r) == FRIX_OK && r.kind == FRIX_ROW_JOINT && r.joint.index == id.index) return true;
  }
  return false;
}

/* A body that leads b by a joint that is a coordinate, among those that are known; -1: none. */
static void lead(const judge *j, const bool *coordinate, int b, link *out) {
  for (int k = 0; k < j->joint_count; k++) {
    if (!coordinate[k]) continue;
    sight s = judge_look(j, frix_model_joint_at(j->model, k));
    int other = s.body[0] == b ? s.body[1] : s.body[1] == b ? s.body[0] : -1;
    if (other < 0) continue;
    const link *l = &j->trees->link[other];
    if (j->body[other].moves && l->tree == 0) continue;
    *out = (link){other, k, j->body[other].moves ? l->tree : b};
    return;
  }
}

static bool hangs(const judge *j, const bool *coordinate, int b) {
  for (int k = 0; k < j->joint_count; k++) {
    sight s = judge_look(j, frix_model_joint_at(j->model, k));
    if (coordinate[k] && (s.body[0] == b || s.body[1] == b)) return true;
  }
  return false;
}

static bool hangs_on_any(const judge *j, int b) {
  for (int k = 0; k < j->joint_count; k++) {
    sight s = judge_look(j, frix_model_joint_at(j->model, k));
    if (s.config.kind != FRIX_JOINT_COUPLING && (s.body[0] == b || s.body[1] == b)) return true;
  }
  return false;
}

/* Whether a joint that has rows ends at the tree of b: the sim counts it among what moves freely. */
static bool has_loop(const judge *j, const bool *coordinate, int b) {
  for (int k = 0; k < j->joint_count; k++) {
    sight s = judge_look(j, frix_model_joint_at(j->model, k));
    bool own = false;
    for (int side = 0; side < 2; side++) own |= j->trees->link[s.body[side]].tree == j->trees->link[b].tree;
    if (!coordinate[k] && (own || s.config.kind == FRIX_JOINT_COUPLING)) return true;
  }
  return false;
}

static void take(judged_trees *t, int b, link l) {
  t->link[b] = l;
  t->order[t->body_count++] = b;
}

/* All bodies that can be reached from those that are known. */
static void grow(const judge *j, const bool *coordinate) {
  for (bool any = true; any;) {
    any = false;
    for (int b = 1; b < j->body_count; b++) {
      link l = {-1, -1, 0};
      if (!j->body[b].moves || j->trees->link[b].tree) continue;
      lead(j, coordinate, b, &l);
      if (l.joint >= 0) take(j->trees, b, l), any = true;
    }
  }
}

void trees_find(judge *j, const frix_sim *sim) {
  judged_trees *t = j->trees;
  bool *coordinate = calloc((size_t)j->joint_count + 1, sizeof *coordinate);
  memset(t->link, 0, (size_t)j->body_count * sizeof *t->link);
  t->body_count = 0;
  for (int k = 0; k < j->joint_count; k++) {
    frix_joint_id id = frix_model_joint_at(j->model, k);
    sight s = judge_look(j, id);
    coordinate[k] = s.config.kind <= FRIX_JOINT_FIXED && !s.planar && !has_rows(sim, id);
  }
  grow(j, coordinate);
  for (int b = 1; b < j->body_count; b++) {
    if (!j->body[b].moves || t->link[b].tree || !hangs(j, coordinate, b)) continue;
    take(t, b, (link){-1, -1, b});
    grow(j, coordinate);
  }
  for (int b = 1; b < j->body_count; b++) {
    j->body[b].in_tree = t->link[b].tree != 0;
    j->body[b].jointed = j->body[b].moves && (!j->body[b].in_tree ? hangs_on_any(j, b) : has_loop(j, coordinate, b));
  }
  free(coordinate);
}

/* ---- rates ---- */

static vec velocity_at(const judged_body *b, moment when, vec p) {
  return v_add(b->v[when], v_cross(b->w[when], v_sub(p, b->c)));
}

/* +1 where the link is b of its joint. */
static real side_of(const sight *s, int b) { return s->body[1] == b ? 1 : -1; }

rates read_rates(const judge *j, int b, moment when) {
  const link *l = &j->trees->link[b];
  sight s = judge_look(j, frix_model_joint_at(j->model, l->joint));
  const judged_body *own = &j->body[b], *leader = &j->body[l->leader];
  vec spin = v_mul(side_of(&s, b), v_sub(own->w[when], leader->w[when]));
  rates x = {0, 0, {0, 0, 0}};
  switch (s.config.kind) {
    case FRIX_JOINT_HINGE: x.first = v_dot(spin, s.axis[0][2]); break;
    case FRIX_JOINT_SLIDER: {
      vec slip = v_sub(velocity_at(own, when, s.point[1]), velocity_at(leader, when, s.point[1]));
      x.first = side_of(&s, b) * v_dot(slip, s.axis[0][2]);
      break;
    }
    case FRIX_JOINT_UNIVERSAL: {
      vec p = s.axis[0][2], q = s.axis[1][0];
      real c = v_dot(p, q), d = 1 - c * c;
      x.first = (v_dot(spin, p) - c * v_dot(spin, q)) / d;
      x.second = (v_dot(spin, q) - c * v_dot(spin, p)) / d;
      break;
    }
    case FRIX_JOINT_BALL: x.spin = q_turn(q_inverse(leader->q), v_sub(own->w[when], leader->w[when])); break;
    default: break;
  }
  return x;
}

/* Spin of a link against its leader, speed along a slider, and how the axes turn both. */
typedef struct relative {
  vec spin, way, spin_turns, way_turns;
  vec at; /* the point that turns move not */
} relative;

static relative relative_of(const judge *j, int b, const rates *x, moment when) {
  const link *l = &j->trees->link[b];
  sight s = judge_look(j, frix_model_joint_at(j->model, l->joint));
  real side = side_of(&s, b);
  const judged_body *leader = &j->body[l->leader];
  relative out = {.at = s.point[0]};
  if (s.config.kind == FRIX_JOINT_HINGE) out.spin = v_mul(side * x->first, s.axis[0][2]);
  if (s.config.kind == FRIX_JOINT_BALL) out.spin = q_turn(leader->q, x->spin);
  out.spin_turns = v_cross(leader->w[when], out.spin);
  if (s.config.kind == FRIX_JOINT_SLIDER) {
    out.way = v_mul(side * x->first, s.axis[0][2]);
    out.way_turns = v_cross(leader->w[when], out.way);
  }
  if (s.config.kind == FRIX_JOINT_UNIVERSAL) {
    vec p = v_mul(side * x->first, s.axis[0][2]), q = v_mul(side * x->second, s.axis[1][0]);
    out.spin = v_add(p, q);
    out.spin_turns = v_add(v_cross(j->body[s.body[0]].w[when], p), v_cross(j->body[s.body[1]].w[when], q));
  }
  return out;
}

/* Velocities of the links at these rates; the poses are those of the rows. */
void put_rates(judge *j, int b, const rates *x, moment when) {
  const link *l = &j->trees->link[b];
  judged_body *own = &j->body[b];
  const judged_body *leader = &j->body[l->leader];
  relative m = relative_of(j, b, x, when);
  own->w[when] = v_add(leader->w[when], m.spin);
  own->v[when] = v_add(velocity_at(leader, when, own->c), v_add(m.way, v_cross(m.spin, v_sub(own->c, m.at))));
}

/* The root's velocity is that of its frame's origin: the one of its centre, seen from the other pose. */
static void put_root(judge *j, int b, quat after) {
  judged_body *own = &j->body[b];
  vec arm = v_sub(q_turn(j->trees->q[b], own->center), q_turn(after, own->center));
  own->v[AFTER] = v_add(own->v[AFTER], v_cross(own->w[AFTER], arm));
}

/* ---- the half step ---- */

/* Of body b, which is at c with axes q. */
static momentum momentum_of(const judge *j, int b, quat q, vec c, vec v, vec w) {
  const judged_body *own = &j->body[b];
  vec linear = v_mul(own->mass, v), about = j->body[j->trees->link[b].tree].c0;
  vec turns = m_mul(m_turned(q, own->inertia), w);
  return (momentum){linear, v_add(v_cross(v_sub(c, about), linear), turns)};
}

static quat q_about(vec axis, real angle) {
  quat one = {1, 0, 0, 0};
  return q_after(one, axis, angle);
}

/* The link's pose by its leader's, `time` after the start, at constant rates. now: the joint at the start. */
void follow_leader(judge *j, int b, const rates *x, real time) {
  const link *l = &j->trees->link[b];
  judged_body *own = &j->body[b];
  const judged_body *leader = &j->body[l->leader];
  sight s = j->trees->start[b];
  bool second = s.body[1] == b;
  quat base = leader->q0, back = q_inverse(base), turn = {1, 0, 0, 0}; /* in the leader's frame */
  vec p = q_turn(back, s.axis[0][2]), q = q_turn(back, s.axis[1][0]), way = {0, 0, 0};
  real sign = second ? 1 : -1;
  if (s.config.kind == FRIX_JOINT_HINGE) turn = q_about(p, sign * x->first * time);
  if (s.config.kind == FRIX_JOINT_BALL) turn = q_after(turn, x->spin, time);
  if (s.config.kind == FRIX_JOINT_SLIDER) way = v_mul(sign * x->first * time, p);
  if (s.config.kind == FRIX_JOINT_UNIVERSAL) { /* p stays in the first body, q in the second */
    quat first = q_about(p, sign * x->first * time), other = q_about(q, sign * x->second * time);
    turn = second ? q_mul(first, other) : q_mul(other, first);
  }
  quat turned = q_mul(turn, q_mul(back, own->q0));
  vec anchor = second ? s.point[0] : s.point[1], arm = q_turn(back, v_sub(own->c0, anchor));
  vec at_leader = q_turn(back, v_sub(anchor, leader->c0));
  own->q = q_unit(q_mul(leader->q, turned));
  own->c = v_add(leader->c, q_turn(leader->q, v_add(at_leader, v_add(way, q_turn(turn, arm)))));
}

/* The first body of a tree that floats: its origin goes straight on, its spin stays. */
void go_on(judged_body *b, real time) {
  vec arm = q_turn(b->q0, b->center), w = b->w[BEFORE];
  vec origin = v_sub(b->c0, arm), speed = v_sub(b->v[BEFORE], v_cross(w, arm));
  b->q = q_after(b->q0, w, time);
  arm = q_turn(b->q, b->center);
  b->c = v_add(v_mad(origin, time, speed), arm);
  b->v[BEFORE] = v_add(speed, v_cross(w, arm));
}

void trees_advance(judge *j, real time) {
  judged_trees *t = j->trees;
  rates *x = calloc((size_t)j->body_count, sizeof *x);
  for (int b = 1; b < j->body_count; b++) {
    judged_body *own = &j->body[b];
    t->q[b] = own->q, t->c[b] = own->c; /* of others: where they are then */
    own->q = own->q0, own->c = own->c0;
    if (!own->in_tree) continue;
    own->w[BEFORE] = own->spin;
    t->before[b] = momentum_of(j, b, own->q0, own->c0, own->v[BEFORE], own->spin);
  }
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    if (t->link[b].joint < 0) continue;
    t->start[b] = judge_look(j, frix_model_joint_at(j->model, t->link[b].joint));
    x[b] = read_rates(j, b, BEFORE);
  }
  for (int b = 1; b < j->body_count; b++)
    if (!j->body[b].in_tree) j->body[b].q = t->q[b], j->body[b].c = t->c[b];
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    judged_body *own = &j->body[b];
    if (t->link[b].joint < 0)
      go_on(own, time);
    else
      follow_leader(j, b, &x[b], time);
    own->sharp = true;
    own->J = m_turned(own->q, own->inertia);
    own->J_inverse = m_inverse(own->J);
  }
  for (int k = 0; k < t->body_count; k++)
    if (t->link[t->order[k]].joint >= 0) put_rates(j, t->order[k], &x[t->order[k]], BEFORE);
  free(x);
}

/* Trees whose links do not go to their new poses with the rates they have there: they turned too far in the step, and
 * what they left the half step with is not known. x: rates at the end; poses are those of the rows. */
static void find_strays(judge *j, const rates *x) {
  judged_trees *t = j->trees;
  memset(t->strays, 0, (size_t)j->body_count * sizeof *t->strays);
  judged_body *now = malloc((size_t)j->body_count * sizeof *now);
  memcpy(now, j->body, (size_t)j->body_count * sizeof *now);
  for (int k = 0; k < t->body_count; k++)
    if (t->link[t->order[k]].joint >= 0)
      t->start[t->order[k]] = judge_look(j, frix_model_joint_at(j->model, t->link[t->order[k]].joint));
  for (int b = 1; b < j->body_count; b++) {
    judged_body *own = &j->body[b];
    own->q0 = own->q, own->c0 = own->c, own->q = t->next[b].q, own->c = t->next[b].c;
  }
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    judged_body *own = &j->body[b];
    vec place = t->next[b].c;
    if (t->link[b].joint < 0)
      own->q = q_after(own->q0, t->next[b].w, j->h / 2), own->c = place; /* which may be moved in flight */
    else
      follow_leader(j, b, &x[b], j->h / 2);
    quat off = q_mul(own->q, q_inverse(t->next[b].q));
    real way = v_norm(v_sub(own->c, place)), turn = hypotl(off.x, hypotl(off.y, off.z));
    t->strays[b] = way + turn > STRAY * (1 + v_norm(place));
    own->q = t->next[b].q, own->c = place;
  }
  memcpy(j->body, now, (size_t)j->body_count * sizeof *now);
  free(now);
}

void trees_put_after(judge *j, const frix_sim *sim) {
  judged_trees *t = j->trees;
  rates *x = calloc((size_t)j->body_count, sizeof *x);
  for (int b = 1; b < j->body_count; b++) { /* at the new poses */
    judged_body *own = &j->body[b];
    frix_body_state s;
    t->q[b] = own->q, t->c[b] = own->c;
    frix_sim_body(sim, own->id, &s);
    own->q = q_of(s.pose.q), own->c = v_of(s.center);
    own->v[AFTER] = own->in_tree || !own->moves ? v_of(s.velocity) : own->v[AFTER];
    t->next[b] = (moving){own->q, own->c, v_of(s.velocity), v_of(s.spin)};
    if (!own->in_tree) continue;
    own->w[AFTER] = v_of(s.spin);
    t->after[b] = momentum_of(j, b, own->q, own->c, own->v[AFTER], own->w[AFTER]);
  }
  for (int k = 0; k < t->body_count; k++)
    if (t->link[t->order[k]].joint >= 0) x[t->order[k]] = read_rates(j, t->order[k], AFTER);
  for (int b = 1; b < j->body_count; b++) {
    if (j->body[b].in_tree && t->link[b].joint < 0) put_root(j, b, j->body[b].q);
    j->body[b].q = t->q[b], j->body[b].c = t->c[b];
  }
  if (j->half) find_strays(j, x);
  for (int k = 0; k < t->body_count; k++)
    if (t->link[t->order[k]].joint >= 0) put_rates(j, t->order[k], &x[t->order[k]], AFTER);
  free(x);
}

/* ---- momenta that are carried ---- */

/* M V of the velocities of before less P(x0), by time. */
static void find_carried(judge *j) {
  judged_trees *t = j->trees;
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    const judged_body *own = &j->body[b];
    vec turns = m_mul(m_turned(own->q0, own->inertia), own->spin);
    t->acceleration[b] = v_mul(1 / j->h, v_sub(own->v[BEFORE], v_mul(1 / own->mass, t->before[b].linear)));
    t->torque[b] = v_mul(1 / j->h, v_sub(m_mul(own->J, own->w[BEFORE]), turns));
  }
}

/* Velocities after the impulses, by P(x1). */
static void find_left(judge *j) {
  judged_trees *t = j->trees;
  trees_push_none(j);
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    const moving *next = &t->next[b];
    push_body(j, b, v_mul(j->body[b].mass, next->v), m_mul(m_turned(next->q, j->body[b].inertia), next->w));
  }
  trees_push_end(j);
  for (int k = 0; k < t->body_count; k++) {
    judged_body *own = &j->body[t->order[k]];
    own->v[AFTER] = own->w[AFTER] = (vec){0, 0, 0};
    trees_pushed(j, t->order[k], &own->v[AFTER], &own->w[AFTER]);
  }
}

/* ---- accelerations ---- */

static void find_accelerations(judge *j) {
  judged_trees *t = j->trees;
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    const link *l = &t->link[b];
    t->acceleration[b] = t->turning[b] = (vec){0, 0, 0};
    const judged_body *own = &j->body[b], *leader = &j->body[l->joint < 0 ? 0 : l->leader];
    vec gyroscopic = v_cross(own->w[BEFORE], m_mul(own->J, own->w[BEFORE]));
    t->torque[b] = gyroscopic;
    if (l->joint < 0) { /* the origin goes straight on */
      vec w = own->w[BEFORE];
      t->acceleration[b] = v_cross(w, v_cross(w, q_turn(own->q, own->center)));
      continue;
    }
    vec base = leader->moves ? t->acceleration[l->leader] : (vec){0, 0, 0};
    vec turning = leader->moves ? t->turning[l->leader] : (vec){0, 0, 0};
    rates x = read_rates(j, b, BEFORE);
    relative m = relative_of(j, b, &x, BEFORE);
    vec arm = v_sub(own->c, m.at), own_way = v_sub(own->v[BEFORE], leader->v[BEFORE]);
    t->turning[b] = v_add(turning, m.spin_turns);
    t->torque[b] = v_add(gyroscopic, m_mul(own->J, t->turning[b]));
    vec a = v_add(base, v_cross(turning, v_sub(own->c, leader->c)));
    a = v_add(a, v_cross(leader->w[BEFORE], own_way));
    a = v_add(a, v_add(m.way_turns, v_cross(m.spin_turns, arm)));
    t->acceleration[b] = v_add(a, v_cross(m.spin, v_sub(own->v[BEFORE], velocity_at(leader, BEFORE, m.at))));
  }
}

/* ---- coordinates ---- */

static void add_motion(judged_trees *t, int b, bool way, vec axis, vec point) {
  t->motion[t->motion_count++] = (motion){b, way, axis, point};
}

static void find_motions(judge *j) {
  judged_trees *t = j->trees;
  static const vec world[AXES] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  t->motion_count = 0;
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    if (t->link[b].joint < 0) {
      for (int i = 0; i < ROOT_AXES; i++) add_motion(t, b, i < AXES, world[i % AXES], j->body[b].c);
      continue;
    }
    sight s = judge_look(j, frix_model_joint_at(j->model, t->link[b].joint));
    if (s.config.kind == FRIX_JOINT_HINGE || s.config.kind == FRIX_JOINT_UNIVERSAL)
      add_motion(t, b, false, s.axis[0][2], s.point[0]);
    if (s.config.kind == FRIX_JOINT_UNIVERSAL) add_motion(t, b, false, s.axis[1][0], s.point[0]);
    if (s.config.kind == FRIX_JOINT_SLIDER) add_motion(t, b, true, s.axis[0][2], s.point[0]);
    for (int i = 0; i < AXES && s.config.kind == FRIX_JOINT_BALL; i++) add_motion(t, b, false, world[i], s.point[0]);
  }
}

static bool moves_with(const judged_trees *t, int b, int first) {
  for (; b > 0 && t->link[b].tree; b = t->link[b].leader)
    if (b == first) return true;
  return false;
}

bool go_with(const judge *j, const motion *m, int b, vec *v, vec *w) {
  if (!moves_with(j->trees, b, m->body)) return false;
  *v = m->way ? m->axis : v_cross(m->axis, v_sub(j->body[b].c, m->point));
  *w = m->way ? (vec){0, 0, 0} : m->axis;
  return true;
}

static real inertia_between(const judge *j, const motion *p, const motion *q) {
  real sum = 0;
  vec v[2], w[2];
  for (int k = 0; k < j->trees->body_count; k++) {
    int b = j->trees->order[k];
    if (go_with(j, p, b, &v[0], &w[0]) && go_with(j, q, b, &v[1], &w[1]))
      sum += j->body[b].mass * v_dot(v[0], v[1]) +
             v_dot(w[0], v_add(m_mul(j->body[b].J, w[1]), m_mul(j->trees->tension[b], w[1])));
  }
  return sum;
}

/* Cholesky factor of the mass matrix. */
static void factor(const judge *j) {
  judged_trees *t = j->trees;
  int n = t->motion_count;
  for (int a = 0; a < n; a++)
    for (int b = 0; b <= a; b++) {
      real sum = inertia_between(j, &t->motion[a], &t->motion[b]);
      for (int c = 0; c < b; c++) sum -= t->M[a * n + c] * t->M[b * n + c];
      t->M[a * n + b] = a == b ? sqrtl(fmaxl(sum, 0)) : t->M[b * n + b] > 0 ? sum / t->M[b * n + b] : 0;
    }
}

/* Contacts see links with the velocities that these products leave: x0 becomes x0 - M^-1 h (products), which then are
 * none. */
static void come(judge *j) {
  judged_trees *t = j->trees;
  memcpy(t->bare, t->M, (size_t)t->motion_count * (size_t)t->motion_count * sizeof *t->M);
  trees_push_none(j);
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    push_body(j, b, v_mul(-j->h * j->body[b].mass, t->acceleration[b]), v_mul(-j->h, t->torque[b]));
  }
  trees_push_end(j);
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    t->spent[b] = (momentum){v_mul(j->h * j->body[b].mass, t->acceleration[b]), v_mul(j->h, t->torque[b])};
    t->shown[b] = (moving){.v = j->body[b].v[BEFORE], .w = j->body[b].w[BEFORE]};
    trees_pushed(j, b, &j->body[b].v[BEFORE], &j->body[b].w[BEFORE]);
    t->acceleration[b] = t->torque[b] = (vec){0, 0, 0};
  }
}

void trees_shown(const judge *j, int body, real *speed, real *spin) {
  if (!trees_of(j, body)) return;
  *speed = fmaxl(*speed, v_norm(j->trees->shown[body].v));
  *spin = fmaxl(*spin, v_norm(j->trees->shown[body].w));
}

void trees_take(judge *j) {
  judged_trees *t = j->trees;
  memset(t->tension, 0, (size_t)j->body_count * sizeof *t->tension);
  find_motions(j);
  factor(j);
  if (j->half)
    find_left(j), find_carried(j);
  else
    find_accelerations(j), trees_bound_energy(j);
  trees_remember(j);
  come(j);
  if (trees_find_tension(j)) factor(j);
}

real trees_row_weight(const judge *j, const row *r) {
  judged_trees *t = j->trees;
  int n = t->motion_count;
  real sum = 0;
  for (int k = 0; k < n; k++) {
    t->row[k] = 0;
    for (int i = 0; i < r->count; i++) {
      vec v, w;
      if (go_with(j, &t->motion[k], r->term[i].body, &v, &w))
        t->row[k] += v_dot(r->term[i].lin, v) + v_dot(r->term[i].ang, w);
    }
  }
  for (int a = 0; a < n; a++) {
    real x = t->row[a];
    for (int b = 0; b < a; b++) x -= t->M[a * n + b] * t->go[b];
    t->go[a] = t->M[a * n + a] > 0 ? x / t->M[a * n + a] : 0;
    sum += t->go[a] * t->go[a];
  }
  return sum;
}
