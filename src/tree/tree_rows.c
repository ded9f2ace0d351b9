/* Equalities as rows: violation g(q) and its Jacobian.
 *
 *   connect   x1 - x2, points of two bodies                                                  3 rows
 *   weld      the same of their frames, and scale Im(q2^-1 q1) of the turns                 6 rows
 *   joint     q1 - ref1 - p(q2 - ref2), p a polynomial of fourth order                       1 row
 *   tendon    L1 - L1(ref) - p(L2 - L2(ref))                                                 1 row
 *
 * Limits and dry friction need no file of their own: their rows are those of a coordinate or of a tendon's moment. */
#include <string.h>

#include "tree/tree.h"

static frix_vec3 unit_vector(int k) { return fx_vec(k == 0, k == 1, k == 2); }

static void point_rows(frix_robot_state *s, const fx_tree_equality *e, double *violation, double *jacobian) {
  int32_t n = s->tree->dof_count;
  frix_vec3 a = fx_pose_point(s->pose[e->first], e->at[0].p), b = fx_pose_point(s->pose[e->second], e->at[1].p);
  frix_vec3 gap = fx_sub(a, b);
  for (int k = 0; k < 3; k++) {
    violation[k] = fx_at(gap, k);
    if (!jacobian) continue;
    fx_tree_add_jacobian(s, e->first, a, unit_vector(k), jacobian + (size_t)k * (size_t)n);
    fx_tree_add_jacobian(s, e->second, b, fx_neg(unit_vector(k)), jacobian + (size_t)k * (size_t)n);
  }
}

/* d Im(q2^-1 q1) = 1/2 Im(q2^-1 (w1 - w2) q1), written as a product with each axis: direction k is what row k turns
 * about, times the scale. Returns the difference of the turns. */
static frix_quat turn_directions(const frix_robot_state *s, const fx_tree_equality *e, frix_vec3 direction[3]) {
  frix_quat a = fx_quat_mul(s->pose[e->first].q, e->at[0].q), b = fx_quat_mul(s->pose[e->second].q, e->at[1].q);
  frix_vec3 by[3]; /* Im(b^-1 unit_i a) / 2 */
  for (int i = 0; i < 3; i++) {
    frix_vec3 u = unit_vector(i);
    frix_quat d = fx_quat_mul(fx_quat_conj(b), fx_quat_mul((frix_quat){0.0, u.x, u.y, u.z}, a));
    by[i] = fx_vec(0.5 * d.x, 0.5 * d.y, 0.5 * d.z);
  }
  for (int k = 0; k < 3; k++)
    direction[k] = fx_scale(e->torque_scale, fx_vec(fx_at(by[0], k), fx_at(by[1], k), fx_at(by[2], k)));
  return fx_quat_mul(fx_quat_conj(b), a);
}

static void turn_rows(frix_robot_state *s, const fx_tree_equality *e, double *violation, double *jacobian) {
  int32_t n = s->tree->dof_count;
  frix_vec3 direction[3];
  frix_quat gap = turn_directions(s, e, direction);
  const double part[3] = {gap.x, gap.y, gap.z};
  for (int k = 0; k < 3; k++) {
    violation[k] = e->torque_scale * part[k];
    if (!jacobian) continue;
    fx_tree_add_turn(s, e->first, direction[k], jacobian + (size_t)k * (size_t)n);
    fx_tree_add_turn(s, e->second, fx_neg(direction[k]), jacobian + (size_t)k * (size_t)n);
  }
}

static double polynomial(const double c[5], double x, double *slope) {
  *slope = c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * 4.0 * c[4]));
  return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
}

static void joint_row(const frix_robot_state *s, const fx_tree_equality *e, double *violation, double *jacobian) {
  const fx_tree_joint *a = &s->tree->joint[e->first], *b = e->second >= 0 ? &s->tree->joint[e->second] : NULL;
  double slope, x = b ? s->qpos[b->q] - b->ref[0] : 0.0, wanted = polynomial(e->coef, x, &slope);
  violation[0] = s->qpos[a->q] - a->ref[0] - (b ? wanted : e->coef[0]);
  if (!jacobian) return;
  jacobian[a->v] = 1.0;
  if (b) jacobian[b->v] -= slope;
}

static void tendon_row(const frix_robot_state *s, const fx_tree_equality *e, double *violation, double *jacobian) {
  const fx_tree *t = s->tree;
  const fx_tree_tendon *a = &t->tendon[e->first], *b = e->second >= 0 ? &t->tendon[e->second] : NULL;
  double slope, x = b ? s->tendon_length[e->second] - b->length0 : 0.0, wanted = polynomial(e->coef, x, &slope);
  violation[0] = s->tendon_length[e->first] - a->length0 - (b ? wanted : e->coef[0]);
  if (!jacobian) return;
  for (int32_t n = a->dofs.first; n < a->dofs.first + a->dofs.count; n++) jacobian[t->list[n]] += s->tendon_moment[n];
  for (int32_t n = b ? b->dofs.first : 0; b && n < b->dofs.first + b->dofs.count; n++)
    jacobian[t->list[n]] -= slope * s->tendon_moment[n];
}

int32_t frix_robot_equality_rows(frix_robot_state *s, int32_t equality, int32_t most, double *violation,
                                 double *jacobian) {
  static const int32_t rows[] = {3, 6, 1, 1};
  if (!s || equality < 0 || equality >= s->tree->equality_count) return 0;
  const fx_tree_equality *e = &s->tree->equality[equality];
  if (!e->active || s->tree->no_equality) return 0;
  if (most < rows[e->kind] || !violation) return rows[e->kind];
  size_t n = (size_t)s->tree->dof_count;
  if (jacobian) memset(jacobian, 0, (size_t)rows[e->kind] * n * sizeof *jacobian);
  if (e->kind == FX_EQUAL_CONNECT || e->kind == FX_EQUAL_WELD) point_rows(s, e, violation, jacobian);
  if (e->kind == FX_EQUAL_WELD) turn_rows(s, e, violation + 3, jacobian ? jacobian + 3 * n : NULL);
  if (e->kind == FX_EQUAL_JOINT) joint_row(s, e, violation, jacobian);
  if (e->kind == FX_EQUAL_TENDON) tendon_row(s, e, violation, jacobian);
  return rows[e->kind];
}

static void pull_at(const frix_robot_state *s, int32_t body, frix_vec3 force, frix_vec3 at, frix_vec3 torque,
                    fx_spatial *pulls) {
  frix_vec3 arm = fx_sub(at, fx_tree_point_of(s, body));
  pulls[body].v = fx_add(pulls[body].v, force);
  pulls[body].w = fx_add(pulls[body].w, fx_add(torque, fx_cross(arm, force)));
}

void fx_tree_equality_pull(const frix_robot_state *s, const fx_tree_equality *e, const double *force,
                           fx_spatial *pulls) {
  if (e->kind != FX_EQUAL_CONNECT && e->kind != FX_EQUAL_WELD) return;
  frix_vec3 f = {force[0], force[1], force[2]}, torque = {0.0, 0.0, 0.0}, direction[3];
  if (e->kind == FX_EQUAL_WELD) {
    turn_directions(s, e, direction);
    for (int k = 0; k < 3; k++) torque = fx_mad(torque, force[3 + k], direction[k]);
  }
  pull_at(s, e->first, f, fx_pose_point(s->pose[e->first], e->at[0].p), torque, pulls);
  pull_at(s, e->second, fx_neg(f), fx_pose_point(s->pose[e->second], e->at[1].p), fx_neg(torque), pulls);
}
