/* Impulses on trees: what they make of the links' velocities, and whether momentum is kept.
 *
 *   M dx = sum over the links b beyond joint k of S_k . impulse_b        by the factor of judge_trees.c
 *
 * A tree that flies at the half step keeps its whole momentum: linear, and angular about the place where its root
 * began. */
#include "judge_tree_parts.h"

#include <stdio.h>

static const real ROUNDING = 0x1p-46L; /* of the sums that coordinates are solved from */

/* ---- what impulses make of the velocities ---- */

int trees_of(const judge *j, int body) { return j->trees->link[body].tree; }

void trees_push_none(const judge *j) {
  for (int k = 0; k < j->trees->motion_count; k++) j->trees->push[k] = 0;
}

void push_body(const judge *j, int body, vec linear, vec angular) {
  judged_trees *t = j->trees;
  for (int k = 0; k < t->motion_count; k++) {
    vec v, w;
    if (go_with(j, &t->motion[k], body, &v, &w)) t->push[k] += v_dot(v, linear) + v_dot(w, angular);
  }
}

void trees_push_row(const judge *j, const row *r, real impulse) {
  for (int i = 0; i < r->count; i++)
    if (j->body[r->term[i].body].in_tree)
      push_body(j, r->term[i].body, v_mul(impulse, r->term[i].lin), v_mul(impulse, r->term[i].ang));
}

void trees_push_forces(const judge *j) {
  judged_trees *t = j->trees;
  for (int i = 0; i < t->body_count; i++) {
    int b = t->order[i];
    const judged_body *own = &j->body[b];
    vec turns = t->torque[b];
    push_body(j, b, v_mul(j->h, v_mad(own->force, -own->mass, t->acceleration[b])),
              v_sub(v_mul(j->h, v_sub(own->torque, turns)), m_mul(t->tension[b], own->w[BEFORE])));
  }
}

void trees_push_end(const judge *j) {
  judged_trees *t = j->trees;
  int n = t->motion_count;
  for (int a = 0; a < n; a++) {
    for (int b = 0; b < a; b++) t->push[a] -= t->M[a * n + b] * t->push[b];
    t->push[a] = t->M[a * n + a] > 0 ? t->push[a] / t->M[a * n + a] : 0;
  }
  for (int a = n - 1; a >= 0; a--) {
    for (int b = a + 1; b < n; b++) t->push[a] -= t->M[b * n + a] * t->push[b];
    t->push[a] = t->M[a * n + a] > 0 ? t->push[a] / t->M[a * n + a] : 0;
  }
}

void trees_pushed(const judge *j, int body, vec *v, vec *w) {
  const judged_trees *t = j->trees;
  for (int k = 0; k < t->motion_count; k++) {
    vec linear, angular;
    if (!go_with(j, &t->motion[k], body, &linear, &angular)) continue;
    *v = v_mad(*v, t->push[k], linear);
    *w = v_mad(*w, t->push[k], angular);
  }
}

/* ---- momentum along the coordinates ---- */

typedef struct wrench {
  vec force, torque;
  real linear, angular; /* what the body carries */
  real linear_impulses, angular_impulses;
} wrench;

static wrench wrench_of(const judge *j, int b) {
  const judged_body *own = &j->body[b];
  const judged_trees *t = j->trees;
  vec dv = v_sub(own->v[AFTER], own->v[BEFORE]), dw = v_sub(own->w[AFTER], own->w[BEFORE]);
  vec turns = t->torque[b];
  wrench x;
  x.force = v_mul(own->mass, v_mad(dv, j->h, t->acceleration[b]));
  x.force = v_sub(v_mad(x.force, -j->h, own->force), own->linear);
  x.torque = v_mad(m_mul(own->J, dw), j->h, turns);
  vec held = m_mul(t->tension[b], own->w[AFTER]);
  x.torque = v_add(v_sub(v_mad(x.torque, -j->h, own->torque), own->angular), held);
  x.linear = own->mass * (v_norm(t->shown[b].v) + v_norm(own->v[AFTER]) + j->h * v_norm(t->acceleration[b])) +
             j->h * v_norm(own->force) + v_norm(t->spent[b].linear);
  x.angular = v_norm(m_mul(own->J, t->shown[b].w)) + v_norm(m_mul(own->J, own->w[AFTER])) + j->h * v_norm(turns) +
              j->h * v_norm(own->torque) + v_norm(held) + v_norm(t->spent[b].angular);
  x.linear_impulses = own->linear_size;
  x.angular_impulses = own->angular_size + own->angular_noise;
  return x;
}

/* What the body brings to the sums that the tree's coordinates are solved from, whatever the axis. */
static real carried_of(const judge *j, int b, const motion *m) {
  wrench x = wrench_of(j, b);
  real arm = v_norm(v_sub(j->body[b].c, m->point)) + j->body[b].size;
  return (m->way ? 1 : arm) * (x.linear + x.linear_impulses) + (m->way ? 0 : x.angular + x.angular_impulses);
}

/* ---- rounding of rates ----
 *
 * Rates x solve M dx = b. By Cholesky factors in doubles, n of them, the solution is that of a matrix M + E,
 *
 *   |E_kl| <= g sqrt(M_kk M_ll),   g = (3 n + 1) 2^-53     (Higham 2002, theorems 10.3 and 10.4)
 *
 * so that momentum along k misses g sqrt(M_kk) sum over l of sqrt(M_ll) |x_l|. A light link that turns while what it
 * carries stands still makes this larger than all momenta of the links. */

/* sqrt(M_kk) */
real trees_root_mass(const judge *j, const motion *m) {
  real sum = 0;
  for (int i = 0; i < j->trees->body_count; i++) {
    int b = j->trees->order[i];
    vec v, w;
    if (go_with(j, m, b, &v, &w)) sum += j->body[b].mass * v_dot(v, v) + v_dot(w, m_mul(j->body[b].J, w));
  }
  return sqrtl(fmaxl(sum, 0));
}

/* The rate of a coordinate, or what it is a part of. */
real trees_rate(const judge *j, const motion *m, moment when) {
  const link *l = &j->trees->link[m->body];
  const judged_body *own = &j->body[m->body];
  if (l->joint < 0) return v_norm(m->way ? own->v[when] : own->w[when]);
  const judged_body *leader = &j->body[l->leader];
  vec along = v_add(leader->v[when], v_cross(leader->w[when], v_sub(own->c, leader->c)));
  return v_norm(m->way ? v_sub(own->v[when], along) : v_sub(own->w[when], leader->w[when]));
}

/* g sum over l of sqrt(M_ll) |x_l|, of the rates before and after the step. */
static real solve_noise(const judge *j, int tree) {
  const judged_trees *t = j->trees;
  real sum = 0;
  int count = 0;
  for (int k = 0; k < t->motion_count; k++) {
    const motion *m = &t->motion[k];
    if (t->link[m->body].tree != tree) continue;
    sum += trees_root_mass(j, m) * (trees_rate(j, m, BEFORE) + trees_rate(j, m, AFTER));
    count++;
  }
  return (3 * count + 1) * 0x1p-53L * sum;
}

/* The same of a tree that stands after the step. Gaps and open joints are rounded like places, so that rows ask even of
 * an unloaded tree for 1e-15 of its place per step: a joint that is open by two last bits of x, up to 2^-51 |x|, asks
 * for that over h. A tree that comes with such rates or none, and would go with such, is stopped (docs/robots.md); the
 * impulses that made those it would go with stay: sqrt(M_kk) sum over l of sqrt(M_ll) 1e-15 place_l / h. */
static real stand_noise(const judge *j, int tree) {
  const judged_trees *t = j->trees;
  real place = 0, sum = 0;
  for (int i = 0; i < t->body_count; i++) {
    const judged_body *own = &j->body[t->order[i]];
    if (t->link[t->order[i]].tree != tree) continue;
    if (v_norm(own->v[AFTER]) + v_norm(own->w[AFTER]) > 0) return 0;
    place = fmaxl(place, v_norm(own->c) + own->size);
  }
  for (int k = 0; k < t->motion_count; k++) {
    const motion *m = &t->motion[k];
    if (t->link[m->body].tree != tree) continue;
    real most = 1e-15L * (m->way ? place : 1) / j->h;
    if (trees_rate(j, m, BEFORE) > most) return 0;
    sum += trees_root_mass(j, m) * most;
  }
  return sum;
}

/* The same of J x: by rates of M~^-1 J'. */
real trees_row_noise(const judge *j, const row *r) {
  judged_trees *t = j->trees;
  real sum = 0;
  trees_push_none(j);
  trees_push_row(j, r, 1);
  trees_push_end(j);
  for (int k = 0; k < t->motion_count; k++) {
    const motion *m = &t->motion[k];
    if (t->push[k] != 0) sum += fabsl(t->push[k]) * trees_root_mass(j, m) * solve_noise(j, t->link[m->body].tree);
  }
  return sum;
}

/* The same of velocities before the step, which the mass matrix without tension gives. */
real trees_came_noise(const judge *j, const row *r) {
  judged_trees *t = j->trees;
  real *damped = t->M;
  t->M = t->bare;
  real noise = trees_row_noise(j, r);
  t->M = damped;
  return noise;
}

/* Whether b is the first of the list that belongs to its tree. */
static bool leads(const judge *j, int b) {
  for (int k = 1; k < b; k++)
    if (j->trees->link[k].tree == j->trees->link[b].tree) return false;
  return true;
}

/* Whether a tree that floats has rows with nothing outside of it. At the half step the whole tree then keeps its
 * momentum to rounding, by a rigid motion at the end that no coordinate shows. Where inner rows are joints the sim
 * leaves it, and coordinates obey their law: one of the two must hold. */
static bool may_fly(const judge *j, int tree) {
  if (!j->half || j->trees->link[tree].joint >= 0) return false;
  for (int k = 0; k < j->group_count; k++) {
    const group *g = &j->group[k];
    bool own = false, other = false;
    for (int i = 0; i < g->dim; i++)
      for (int t = 0; t < g->row[i].count; t++) {
        bool inside = j->trees->link[g->row[i].term[t].body].tree == tree;
        own |= inside, other |= !inside;
      }
    if (own && other) return false;
  }
  return true;
}

/* The spin of a tree that flies may change at the end: by how much is not known, its momentum is. */
void trees_blur(judge *j) {
  const judged_trees *t = j->trees;
  for (int k = 0; k < t->body_count && j->half; k++) {
    int b = t->order[k], tree = t->link[b].tree;
    if (!t->strays[b]) continue;
    bool flies = t->link[b].joint < 0 && may_fly(j, tree);
    for (int i = 1; i < j->body_count; i++)
      if (t->link[i].tree == tree) j->body[i].sharp = false, j->body[i].blurred |= !flies;
  }
}

/* A miss of momentum, over what is granted. */
typedef struct missed {
  real excess;
  char text[200];
} missed;

static void miss_more(missed *out, real excess, const char *what, int tree, int at, real miss, real of) {
  if (!(excess > out->excess)) return;
  out->excess = excess;
  snprintf(out->text, sizeof out->text, "tree of body %d, %s %d: misses %.3Lg of %.3Lg N s", tree, what, at, miss, of);
}

/* Momentum of a whole tree that flies: forces act where rows are taken. */
static missed missed_in_flight(const judge *j, int tree, real relative_error) {
  const judged_trees *t = j->trees;
  vec linear = {0, 0, 0}, angular = {0, 0, 0}, about = j->body[tree].c0;
  real moved = 0, turned = 0;
  missed out = {0, ""};
  for (int i = 0; i < t->body_count; i++) {
    int b = t->order[i];
    const judged_body *own = &j->body[b];
    if (t->link[b].tree != tree) continue;
    const momentum *p = &t->before[b], *q = &t->after[b];
    vec push = v_mul(j->h, own->force), arm = v_sub(own->c, about);
    vec turn = v_add(v_mul(j->h, own->torque), v_cross(arm, push));
    turn = v_sub(turn, m_mul(t->tension[b], own->w[AFTER]));
    linear = v_add(linear, v_sub(v_sub(q->linear, p->linear), push));
    angular = v_add(angular, v_sub(v_sub(q->angular, p->angular), turn));
    moved += v_norm(p->linear) + v_norm(q->linear) + v_norm(push);
    turned += v_norm(p->angular) + v_norm(q->angular) + v_norm(turn) +
              (v_norm(arm) + own->size) * (v_norm(p->linear) + v_norm(q->linear));
  }
  if (moved > 0)
    miss_more(&out, v_norm(linear) / (relative_error * moved), "flying, axis", tree, 0, v_norm(linear), moved);
  if (turned > 0)
    miss_more(&out, v_norm(angular) / (relative_error * turned), "flying, axis", tree, 3, v_norm(angular), turned);
  return out;
}

/* Whether rows whose directions are not known act beyond the joint: on bodies, too, momentum is not judged then. */
static bool moves_blurred(const judge *j, const motion *m) {
  for (int b = 1; b < j->body_count; b++) {
    vec v, w;
    if (j->body[b].blurred && go_with(j, m, b, &v, &w)) return true;
  }
  return false;
}

static missed missed_by_coordinates(const judge *j, int tree, real relative_error, real sum_error) {
  const judged_trees *t = j->trees;
  missed out = {0, ""};
  real noise = fmaxl(solve_noise(j, tree), stand_noise(j, tree));
  for (int k = 0; k < t->motion_count; k++) {
    const motion *m = &t->motion[k];
    real miss = 0, own = 0, impulses = 0, all = 0, unsure = 0;
    if (t->link[m->body].tree != tree || moves_blurred(j, m)) continue;
    for (int i = 0; i < t->body_count; i++) {
      vec v, w;
      int b = t->order[i];
      if (t->link[b].tree == tree) all += carried_of(j, b, m);
      if (!go_with(j, m, b, &v, &w)) continue;
      wrench x = wrench_of(j, b);
      miss += v_dot(v, x.force) + v_dot(w, x.torque);
      unsure += v_dot(v, t->unsure[b].linear) + v_dot(w, t->unsure[b].angular);
      own += v_norm(v) * x.linear + v_norm(w) * x.angular;
      impulses += v_norm(v) * x.linear_impulses + v_norm(w) * x.angular_impulses;
    }
    real rounding = fmaxl(ROUNDING * all, noise * trees_root_mass(j, m));
    real grant = relative_error * own + sum_error * impulses + rounding + fabsl(unsure);
    if (fabsl(miss) > 0) miss_more(&out, fabsl(miss) / grant, "coordinate", tree, k, miss, own + impulses);
  }
  return out;
}

void trees_judge_momentum(judge *j, real relative_error, real sum_error, verdict *out) {
  for (int b = 1; b < j->body_count; b++) {
    if (!j->body[b].in_tree || !leads(j, b)) continue;
    int tree = j->trees->link[b].tree;
    missed m = missed_by_coordinates(j, tree, relative_error, sum_error);
    if (may_fly(j, tree)) {
      missed other = missed_in_flight(j, tree, relative_error);
      if (other.excess < m.excess) m = other;
    }
    if (m.excess > 0) note(out, LAW_MOMENTUM, m.excess, "%s", m.text);
  }
}
