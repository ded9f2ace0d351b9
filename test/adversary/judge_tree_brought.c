/* Velocity products with rows of the start: no more energy than the links bring.
 *
 * A link comes from the poses of the last step with the velocity V that its coordinates had there, and flies on: the
 * centre's velocity stays, the spin turns with the link to
 *
 *   J (w' - w) = h J w x (w + w') / 2                              h that of the last step
 *
 * Accelerations A_e of judge_trees.c lead to x_e, accelerations A_p = (V(x0) - V') / h without gyroscopic torque to
 * x_p. Those of the step are theta A_e + (1 - theta) A_p, theta the largest up to 1 with which velocity products alone
 * leave no more kinetic energy than V' has; of a tree that floats, about its centre of mass. A tree that the last step
 * did not leave as it stands has theta = 1; one that was not moved since it was created comes with its velocities. Of a
 * tree that floats x_e has the linear momentum of x_p, by a translation of the whole. */
#include <stdlib.h>
#include <string.h>

#include "judge_tree_parts.h"

static const real SLACK = 1e-12L; /* of the energy */

/* (J - h/2 S) w' = (J + h/2 S) w with S x = J w x x, in axes of the body. */
static vec gyrated(const mat *J, vec w, real h) {
  vec L = v_mul(h / 2, m_mul(*J, w)), right = v_add(m_mul(*J, w), v_cross(L, w));
  mat left = *J;
  left.row[0] = v_add(left.row[0], (vec){0, L.z, -L.y});
  left.row[1] = v_add(left.row[1], (vec){-L.z, 0, L.x});
  left.row[2] = v_add(left.row[2], (vec){L.y, -L.x, 0});
  return m_mul(m_inverse(left), right);
}

/* V' of all links. */
static void find_brought(judge *j, moving *out) {
  judged_trees *t = j->trees;
  real h = t->last_h;
  rates *x = calloc((size_t)j->body_count, sizeof *x);
  judged_body *now = malloc((size_t)j->body_count * sizeof *now);
  memcpy(now, j->body, (size_t)j->body_count * sizeof *now);
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    if (t->link[b].joint < 0) continue;
    t->start[b] = judge_look(j, frix_model_joint_at(j->model, t->link[b].joint));
    x[b] = read_rates(j, b, BEFORE);
  }
  for (int k = 0; k < t->body_count; k++) { /* a step before */
    int b = t->order[k];
    if (t->link[b].joint < 0)
      go_on(&j->body[b], -h);
    else
      follow_leader(j, b, &x[b], -h);
  }
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    if (t->link[b].joint >= 0) put_rates(j, b, &x[b], BEFORE);
    const judged_body *own = &j->body[b];
    vec spin = gyrated(&own->inertia, q_turn(q_inverse(own->q), own->w[BEFORE]), h);
    out[b] = (moving){now[b].q, now[b].c, own->v[BEFORE], q_turn(now[b].q, spin)};
  }
  memcpy(j->body, now, (size_t)j->body_count * sizeof *now);
  free(now);
  free(x);
}

static bool same(vec a, vec b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* Whether the last step left the tree as it stands. */
static bool goes_on(const judge *j, int tree) {
  const judged_trees *t = j->trees;
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    const moving *l = &t->last[b];
    const judged_body *own = &j->body[b];
    if (t->link[b].tree == tree && (!same(l->c, own->c0) || !same(l->v, own->v[BEFORE]) || !same(l->w, own->spin)))
      return false;
  }
  return t->last_h > 0 || t->begins;
}

static real product(const judged_body *b, vec v, vec w, vec v2, vec w2) {
  return b->mass * v_dot(v, v2) + v_dot(w, m_mul(b->J, w2));
}

/* The motions that accelerations lead to in the step, of all links: those of p, and the way to those of e. turns: by
 * tree, the sum of sqrt(M_kk) times what it changes rates by. */
static void find_ways(judge *j, const moving *brought, moving *first, moving *way, real *turns) {
  judged_trees *t = j->trees;
  for (int pass = 0; pass < 2; pass++) {
    moving *out = pass ? way : first;
    trees_push_none(j);
    for (int k = 0; k < t->body_count; k++) {
      int b = t->order[k];
      const judged_body *own = &j->body[b];
      vec v = v_mul(own->mass, v_sub(brought[b].v, own->v[BEFORE]));
      vec w = m_mul(own->J, v_sub(brought[b].w, own->w[BEFORE]));
      if (pass) /* h (A_p - A_e) */
        v = v_mul(-1, v_mad(v, j->h * own->mass, t->acceleration[b])), w = v_mul(-1, v_mad(w, j->h, t->torque[b]));
      push_body(j, b, v, w);
    }
    trees_push_end(j);
    for (int k = 0; pass && k < t->motion_count; k++)
      turns[t->link[t->motion[k].body].tree] += trees_root_mass(j, &t->motion[k]) * fabsl(t->push[k]);
    for (int k = 0; k < t->body_count; k++) {
      int b = t->order[k];
      out[b].v = pass ? (vec){0, 0, 0} : j->body[b].v[BEFORE], out[b].w = pass ? (vec){0, 0, 0} : j->body[b].w[BEFORE];
      trees_pushed(j, b, &out[b].v, &out[b].w);
    }
  }
}

/* Of a tree that floats: the way does not move the centre of mass, and accelerations A_e are less by as much. */
static void keep_momentum(judge *j, int tree, moving *way) {
  judged_trees *t = j->trees;
  vec linear = {0, 0, 0};
  real mass = 0;
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    if (t->link[b].tree == tree) mass += j->body[b].mass, linear = v_mad(linear, j->body[b].mass, way[b].v);
  }
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    if (t->link[b].tree != tree) continue;
    way[b].v = v_mad(way[b].v, -1 / mass, linear);
    t->acceleration[b] = v_mad(t->acceleration[b], 1 / (mass * j->h), linear);
  }
}

static real theta_by(real slope, real square, real room) {
  if (2 * slope + square <= room) return 1;
  if (room < 0 || !(square > 0)) return 0;
  real root = sqrtl(slope * slope + square * room);
  return slope <= 0 ? fminl(1, (root - slope) / square) : room / (slope + root);
}

/* h |G_k|, what weight asks of a coordinate: the root of what floats turns about the origin of its frame. */
static real weight_on(const judge *j, const motion *m) {
  const judged_trees *t = j->trees;
  const judged_body *root = &j->body[m->body];
  motion own = *m;
  real sum = 0;
  if (t->link[m->body].joint < 0) own.point = v_sub(root->c, q_turn(root->q, root->center));
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    vec v, w;
    if (go_with(j, &own, b, &v, &w)) sum += v_norm(v) * j->body[b].mass * fabsl(j->body[b].gravity_scale) * j->gravity;
  }
  return j->h * sum;
}

/* unsure: by how much rounding of the energies changes theta. Sums over coordinates, x' M y = sum x_k M_kl y_l, are
 * rounded by g (sum of sqrt(M_kk) |x_k|) (sum of sqrt(M_ll) |y_l|), g as of the rates (judge_tree_motion.c). Where a
 * heavy link stands on a light one that turns, that is more than its energy. Velocity products are what sums of them
 * and of the weight are more than the weight, y = M^-1 h (c + G - G): c_k is rounded by g |G_k|, and x' M y by
 * sum |x_k| g h |G_k|, which for a heavy link that turns slowly beside the origin of its frame is more than c . x.
 * Whatever theta follows keeps the energy to rounding. */
static real theta_of(const judge *j, int tree, const moving *brought, const moving *first, const moving *way,
                     real turns, real *unsure) {
  const judged_trees *t = j->trees;
  vec u = {0, 0, 0};
  real mass = 0, most = 0, least = 0, slope = 0, square = 0;
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    if (t->link[b].tree != tree) continue;
    mass += j->body[b].mass;
    u = v_mad(u, j->body[b].mass, brought[b].v);
  }
  u = t->link[tree].joint < 0 ? v_mul(1 / mass, u) : (vec){0, 0, 0};
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    const judged_body *own = &j->body[b];
    if (t->link[b].tree != tree) continue;
    vec v0 = v_sub(brought[b].v, u), v = v_sub(first[b].v, u);
    most += (1 + SLACK) * product(own, v0, brought[b].w, v0, brought[b].w);
    least += product(own, v, first[b].w, v, first[b].w);
    slope += product(own, v, first[b].w, way[b].v, way[b].w);
    square += product(own, way[b].v, way[b].w, way[b].v, way[b].w);
  }
  real room = t->begins ? 0 : most - least, theta = theta_by(slope, square, room), count = 0, moves = 0, asked = 0;
  for (int k = 0; k < t->motion_count; k++) {
    const motion *m = &t->motion[k];
    if (t->link[m->body].tree != tree) continue;
    real rate =
        m->way && t->link[m->body].joint < 0 ? v_norm(v_sub(j->body[tree].v[BEFORE], u)) : trees_rate(j, m, BEFORE);
    moves += trees_root_mass(j, m) * rate;
    asked += rate * weight_on(j, m);
    count++;
  }
  real g = (3 * count + 1) * 0x1p-53L, product = g * (moves * turns + asked), sum = t->begins ? 0 : g * moves * moves;
  for (int k = 0; k < 4; k++) {
    real other = theta_by(slope + (k & 1 ? product : -product), square, room + (k & 2 ? sum : -sum));
    *unsure = fmaxl(*unsure, fabsl(other - theta));
  }
  return theta;
}

void trees_bound_energy(judge *j) {
  judged_trees *t = j->trees;
  size_t n = (size_t)j->body_count;
  memset(t->unsure, 0, n * sizeof *t->unsure);
  if (!(t->last_h > 0) && !t->begins) return;
  moving *brought = calloc(n, sizeof *brought), *first = calloc(n, sizeof *first), *way = calloc(n, sizeof *way);
  real *turns = calloc(n, sizeof *turns);
  find_brought(j, brought);
  find_ways(j, brought, first, way, turns);
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k];
    if (t->link[b].tree == b && t->link[b].joint < 0 && goes_on(j, b)) keep_momentum(j, b, way);
  }
  for (int k = 0; k < t->body_count; k++) {
    int b = t->order[k], tree = t->link[b].tree;
    if (!goes_on(j, tree)) continue;
    const judged_body *own = &j->body[b];
    real unsure = 0, theta = theta_of(j, tree, brought, first, way, turns[tree], &unsure);
    vec slower = v_mul(1 / j->h, v_sub(own->v[BEFORE], brought[b].v));
    vec torque = m_mul(own->J, v_mul(1 / j->h, v_sub(own->w[BEFORE], brought[b].w)));
    t->unsure[b] = (momentum){v_mul(unsure * j->h * own->mass, v_sub(t->acceleration[b], slower)),
                              v_mul(unsure * j->h, v_sub(t->torque[b], torque))};
    t->acceleration[b] = v_mad(v_mul(theta, t->acceleration[b]), 1 - theta, slower);
    t->torque[b] = v_mad(v_mul(theta, t->torque[b]), 1 - theta, torque);
  }
  free(brought), free(first), free(way), free(turns);
}

void trees_begin(judge *j, int body, vec c, vec v, vec w) {
  j->trees->last[body] = (moving){{1, 0, 0, 0}, c, v, w};
  j->trees->begins = true;
}

void trees_remember(judge *j) {
  j->trees->begins = false;
  memcpy(j->trees->last, j->trees->next, (size_t)j->body_count * sizeof *j->trees->last);
  j->trees->last_h = j->half ? 0 : j->h;
}
