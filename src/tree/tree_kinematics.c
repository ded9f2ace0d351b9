/* Where bodies are, and how coordinates move them.
 *
 * A body stands in its parent at its place; its joints move it from there in turn: a slide along its axis by q - ref, a
 * hinge about its axis by q - ref, a ball about its point by a quaternion; a free joint has the place in the world. The
 * motion axis of a coordinate, at the tree's point o:
 *   slide (0, u)      hinge (u, u x (o - p))      ball: three hinges along the body's axes      free: three slides
 * along the world's axes, then a ball. A point x of a body moves by v + w x (x - o), so a row of a Jacobian costs one
 * step for each coordinate between body and root. */
#include "base/trig.h"
#include "tree/tree.h"

frix_quat fx_quat_at(const double *q) { return (frix_quat){q[0], q[1], q[2], q[3]}; }

void fx_quat_put(frix_quat q, double *out) { out[0] = q.w, out[1] = q.x, out[2] = q.y, out[3] = q.z; }

static frix_vec3 vec_at(const double *v) { return fx_vec(v[0], v[1], v[2]); }

static frix_quat turn_about(frix_vec3 axis, double angle) {
  double s, c;
  fx_sincos(0.5 * angle, &s, &c);
  return (frix_quat){c, s * axis.x, s * axis.y, s * axis.z};
}

/* ---- poses ---- */

/* A quaternion without length is no turn, as in MJCF. One of length 1 but for rounding keeps its bits, so that a
 * configuration which is evaluated again stays the same. */
static frix_quat unit_at(double *q) {
  frix_quat turn = fx_quat_at(q);
  double norm = fx_quat_norm2(turn);
  if (fabs(norm - 1.0) <= 4e-15) return turn;
  turn = norm > 1e-30 && isfinite(norm) ? fx_quat_unit(turn) : fx_quat_one();
  fx_quat_put(turn, q);
  return turn;
}

static void turn_pose(frix_pose *pose, frix_vec3 pos, frix_quat by) {
  frix_vec3 anchor = fx_pose_point(*pose, pos);
  pose->q = fx_quat_mul(pose->q, by);
  pose->p = fx_sub(anchor, fx_rotate(pose->q, pos));
}

static void move_joint(frix_robot_state *s, int32_t k, frix_pose *pose) {
  const fx_tree_joint *j = &s->tree->joint[k];
  double *q = s->qpos + j->q;
  if (j->kind == FRIX_ROBOT_FREE) *pose = (frix_pose){vec_at(q), unit_at(q + 3)};
  s->axis[k] = fx_rotate(pose->q, j->axis);
  s->anchor[k] = fx_pose_point(*pose, j->pos);
  switch (j->kind) {
    case FRIX_ROBOT_FREE: break;
    case FRIX_ROBOT_BALL: turn_pose(pose, j->pos, unit_at(q)); break;
    case FRIX_ROBOT_HINGE: turn_pose(pose, j->pos, turn_about(j->axis, q[0] - j->ref[0])); break;
    case FRIX_ROBOT_SLIDE: pose->p = fx_mad(pose->p, q[0] - j->ref[0], s->axis[k]); break;
  }
}

static void place_body(frix_robot_state *s, int32_t b) {
  const fx_tree_body *body = &s->tree->body[b];
  frix_pose place = body->place;
  if (body->mocap >= 0) {
    double *m = s->mocap + 7 * (size_t)body->mocap;
    place = (frix_pose){vec_at(m), unit_at(m + 3)};
  }
  frix_pose pose = fx_pose_mul(s->pose[body->parent], place);
  for (int32_t k = 0; k < body->joint_count; k++) move_joint(s, body->joint_first + k, &pose);
  pose.q = fx_quat_unit(pose.q);
  s->pose[b] = pose;
  s->center[b] = fx_pose_point(pose, body->mass.center);
}

/* ---- motion axes ---- */

frix_vec3 fx_tree_point_of(const frix_robot_state *s, int32_t body) { return s->center[s->tree->body[body].root]; }

static fx_spatial hinge_axis(frix_vec3 axis, frix_vec3 anchor, frix_vec3 o) {
  return (fx_spatial){axis, fx_cross(axis, fx_sub(o, anchor))};
}

static void joint_axes(frix_robot_state *s, int32_t k) {
  const fx_tree_joint *j = &s->tree->joint[k];
  fx_spatial *m = s->motion + j->v;
  frix_vec3 o = fx_tree_point_of(s, j->body), none = {0.0, 0.0, 0.0};
  if (j->kind == FRIX_ROBOT_SLIDE) m[0] = (fx_spatial){none, s->axis[k]};
  if (j->kind == FRIX_ROBOT_HINGE) m[0] = hinge_axis(s->axis[k], s->anchor[k], o);
  if (j->kind == FRIX_ROBOT_FREE)
    for (int i = 0; i < 3; i++) *m++ = (fx_spatial){none, fx_vec(i == 0, i == 1, i == 2)};
  if (j->kind == FRIX_ROBOT_FREE || j->kind == FRIX_ROBOT_BALL) {
    fx_mat3 r = fx_quat_matrix(s->pose[j->body].q);
    for (int i = 0; i < 3; i++) m[i] = hinge_axis(fx_mat3_col(r, i), s->anchor[k], o);
  }
}

void fx_tree_kinematics(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  s->is_turned = false;
  s->pose[0] = fx_pose_one();
  s->center[0] = fx_vec(0.0, 0.0, 0.0);
  for (int32_t b = 1; b < t->body_count; b++) place_body(s, b);
  for (int32_t k = 0; k < t->joint_count; k++) joint_axes(s, k);
}

frix_pose fx_tree_site_pose(const frix_robot_state *s, int32_t site) {
  const fx_tree_site *x = &s->tree->site[site];
  return fx_pose_mul(s->pose[x->body], x->pose);
}

frix_pose fx_tree_geom_pose(const frix_robot_state *s, int32_t geom) {
  const fx_tree_geom *x = &s->tree->geom[geom];
  return fx_pose_mul(s->pose[x->body], x->pose);
}

/* ---- Jacobians ---- */

void fx_tree_add_jacobian(const frix_robot_state *s, int32_t body, frix_vec3 point, frix_vec3 d, double *out) {
  const fx_tree *t = s->tree;
  frix_vec3 turn = fx_cross(fx_sub(point, fx_tree_point_of(s, body)), d); /* d . (w x r) = w . (r x d) */
  for (int32_t i = t->body[body].dof_last; i >= 0; i = t->dof[i].parent)
    out[i] += fx_dot(s->motion[i].v, d) + fx_dot(s->motion[i].w, turn);
}

void fx_tree_add_turn(const frix_robot_state *s, int32_t body, frix_vec3 d, double *out) {
  const fx_tree *t = s->tree;
  for (int32_t i = t->body[body].dof_last; i >= 0; i = t->dof[i].parent) out[i] += fx_dot(s->motion[i].w, d);
}

fx_spatial fx_tree_velocity_of(const frix_robot_state *s, int32_t body) {
  return s->velocity[s->tree->body[body].link];
}

frix_vec3 fx_tree_point_velocity(const frix_robot_state *s, int32_t body, frix_vec3 point) {
  fx_spatial v = fx_tree_velocity_of(s, body);
  return fx_add(v.v, fx_cross(v.w, fx_sub(point, fx_tree_point_of(s, body))));
}
