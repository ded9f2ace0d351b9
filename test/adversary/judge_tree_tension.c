/* Trees whose joints are under tension: bodies that swing faster than the step can follow are held against turning.
 *
 *   K = sum over the joints of a body of (f . r) 1 - (f r' + r f') / 2,   f the force of the last step, r its arm
 *   S = (h^2 K - J)^+,   its trace at most 1e6 times that of J; the step loses S w1 of its angular momentum */
#include "judge_tree_parts.h"

#include <string.h>

static const real MOST = 1e6L; /* times the moments of inertia */

void trees_pull(judge *j, int joint, vec force) { j->trees->pull[joint] = force; }

real trees_held(const judge *j, int body, vec w) { return v_dot(w, m_mul(j->trees->tension[body], w)); }

static void add_arm(mat *K, vec f, vec r) {
  real along = v_dot(f, r), a[3] = {f.x, f.y, f.z}, b[3] = {r.x, r.y, r.z};
  for (int i = 0; i < 3; i++) {
    real e[3];
    for (int k = 0; k < 3; k++) e[k] = (i == k ? along : 0) - (a[i] * b[k] + b[i] * a[k]) / 2;
    K->row[i] = v_add(K->row[i], (vec){e[0], e[1], e[2]});
  }
}

/* The positive part of a symmetric matrix, by Jacobi's rotations. */
static mat positive_part(mat m) {
  real a[3][3], v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < 3; i++) a[i][0] = m.row[i].x, a[i][1] = m.row[i].y, a[i][2] = m.row[i].z;
  for (int round = 0; round < 60; round++) {
    int p = round % 3 == 2 ? 1 : 0, q = round % 3 == 0 ? 1 : 2;
    if (a[p][q] == 0) continue;
    real angle = atan2l(2 * a[p][q], a[q][q] - a[p][p]) / 2, c = cosl(angle), s = sinl(angle);
    for (int k = 0; k < 3; k++) {
      real x = a[k][p], y = a[k][q], z = v[k][p], w = v[k][q];
      a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
      v[k][p] = c * z - s * w, v[k][q] = s * z + c * w;
    }
    for (int k = 0; k < 3; k++) {
      real x = a[p][k], y = a[q][k];
      a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
    }
  }
  mat out = {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
  for (int k = 0; k < 3; k++) {
    vec e = {v[0][k], v[1][k], v[2][k]};
    real value = fmaxl(0, a[k][k]);
    for (int i = 0; i < 3; i++) out.row[i] = v_mad(out.row[i], value * v[i][k], e);
  }
  return out;
}

bool trees_find_tension(judge *j) {
  judged_trees *t = j->trees;
  bool any = false;
  for (int k = 0; k < j->joint_count; k++) {
    sight s = judge_look(j, frix_model_joint_at(j->model, k));
    if (s.config.kind == FRIX_JOINT_COUPLING || v_norm(t->pull[k]) == 0) continue;
    for (int side = 0; side < 2; side++) {
      int b = s.body[side];
      vec at = s.point[s.config.kind == FRIX_JOINT_SLIDER ? 1 : side];
      if (j->body[b].in_tree) add_arm(&t->tension[b], v_mul(side ? 1 : -1, t->pull[k]), v_sub(at, j->body[b].c));
    }
  }
  for (int k = 0; k < t->body_count; k++) {
    mat *S = &t->tension[t->order[k]];
    const mat *J = &j->body[t->order[k]].J;
    bool pulled = false;
    for (int i = 0; i < 3; i++) pulled |= v_norm(S->row[i]) > 0;
    for (int i = 0; i < 3; i++) S->row[i] = v_sub(v_mul(j->h * j->h, S->row[i]), J->row[i]);
    *S = positive_part(*S);
    if (!pulled) memset(S, 0, sizeof *S);
    real trace = S->row[0].x + S->row[1].y + S->row[2].z, most = MOST * (J->row[0].x + J->row[1].y + J->row[2].z);
    for (int i = 0; i < 3 && trace > most; i++) S->row[i] = v_mul(most / trace, S->row[i]);
    for (int i = 0; i < 3; i++) any |= v_norm(S->row[i]) > 0;
  }
  return any;
}
