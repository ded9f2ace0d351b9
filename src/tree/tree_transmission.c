/* Transmissions: the length of an actuator and its moment d length / d q.
 *
 *   joint          gear q; of a ball gear . log(quat), of a free joint no length and the gear itself as moment;
 *                  jointinparent: with gear in the parent's axes
 *   tendon         gear times its length
 *   slider-crank   along the slider's axis, s - sqrt(s^2 + r^2 - |crank - slider|^2), s the crank's place along it
 *   site           a wrench in the site's axes; with a reference site the relative pose along gear, and the wrench in
 *                  the axes of the reference
 *   body           contacts of the body: no moment without them
 *
 * Orientation servos have the turn of a ball, or of a site against another, along the axes of what moves. */
#include "tree/tree.h"

static void joint_moment(frix_robot_state *s, const fx_tree_actuator *a, double *length) {
  const fx_tree_joint *j = &s->tree->joint[a->object];
  const double *q = s->qpos + j->q;
  bool parent = a->transmission == FRIX_ROBOT_AT_JOINT_IN_PARENT;
  double *row = s->row + j->v;
  frix_vec3 gear = {a->gear[0], a->gear[1], a->gear[2]};
  if (j->kind == FRIX_ROBOT_HINGE || j->kind == FRIX_ROBOT_SLIDE) {
    *length = gear.x * q[0];
    row[0] = gear.x;
    return;
  }
  if (j->kind == FRIX_ROBOT_FREE) {
    for (int k = 0; k < 3; k++) row[k] = a->gear[k];
    gear = fx_vec(a->gear[3], a->gear[4], a->gear[5]);
    q += 3, row += 3;
  }
  if (parent) gear = fx_unrotate(fx_quat_at(q), gear);
  if (j->kind == FRIX_ROBOT_BALL) *length = fx_dot(gear, fx_quat_log(fx_quat_at(q)));
  row[0] = gear.x, row[1] = gear.y, row[2] = gear.z;
}

static void tendon_moment(frix_robot_state *s, const fx_tree_actuator *a, double *length) {
  const fx_tree_tendon *x = &s->tree->tendon[a->object];
  *length = a->gear[0] * s->tendon_length[a->object];
  for (int32_t n = x->dofs.first; n < x->dofs.first + x->dofs.count; n++)
    s->row[s->tree->list[n]] = a->gear[0] * s->tendon_moment[n];
}

static void crank_moment(frix_robot_state *s, const fx_tree_actuator *a, double *length) {
  const fx_tree *t = s->tree;
  frix_pose slider = fx_tree_site_pose(s, a->object2), crank = fx_tree_site_pose(s, a->object);
  int32_t at_slider = t->site[a->object2].body, at_crank = t->site[a->object].body;
  frix_vec3 axis = fx_rotate(slider.q, fx_vec(0.0, 0.0, 1.0)), way = fx_sub(crank.p, slider.p);
  double along = fx_dot(way, axis), det = along * along + a->crank_length * a->crank_length - fx_norm2(way);
  bool reached = det > 0.0;
  double root = sqrt(fx_max(0.0, det));
  *length = a->gear[0] * (reached ? along - root : along);
  /* dL = (1 - along / root) d along + way . d way / root */
  double by_along = reached ? 1.0 - along / root : 1.0, by_way = reached ? 1.0 / root : 0.0;
  frix_vec3 d = fx_scale(a->gear[0], fx_add(fx_scale(by_along, axis), fx_scale(by_way, way)));
  fx_tree_add_jacobian(s, at_crank, crank.p, d, s->row);
  fx_tree_add_jacobian(s, at_slider, slider.p, fx_neg(d), s->row);
  fx_tree_add_turn(s, at_slider, fx_scale(a->gear[0] * by_along, fx_cross(axis, way)), s->row);
}

/* Without those coordinates that move both. */
static void clear_common(frix_robot_state *s, int32_t a, int32_t b) {
  const fx_tree *t = s->tree;
  int32_t i = t->body[a].dof_last, j = t->body[b].dof_last;
  while (i >= 0 && j >= 0 && i != j) {
    if (i > j)
      i = t->dof[i].parent;
    else
      j = t->dof[j].parent;
  }
  if (i == j)
    for (; i >= 0; i = t->dof[i].parent) s->row[i] = 0.0;
}

static void site_moment(frix_robot_state *s, const fx_tree_actuator *a, double *length) {
  const fx_tree *t = s->tree;
  frix_vec3 push = {a->gear[0], a->gear[1], a->gear[2]}, turn = {a->gear[3], a->gear[4], a->gear[5]};
  frix_pose site = fx_tree_site_pose(s, a->object), frame = site;
  int32_t body = t->site[a->object].body, other = -1;
  if (a->object2 >= 0) {
    frame = fx_tree_site_pose(s, a->object2);
    other = t->site[a->object2].body;
    frix_vec3 between = fx_quat_log(fx_quat_mul(fx_quat_conj(frame.q), site.q));
    *length = fx_dot(push, fx_pose_unpoint(frame, site.p)) + fx_dot(turn, between);
  }
  push = fx_rotate(frame.q, push), turn = fx_rotate(frame.q, turn);
  fx_tree_add_jacobian(s, body, site.p, push, s->row);
  fx_tree_add_turn(s, body, turn, s->row);
  if (other < 0) return;
  fx_tree_add_jacobian(s, other, frame.p, fx_neg(push), s->row);
  fx_tree_add_turn(s, other, fx_neg(turn), s->row);
  clear_common(s, body, other);
}

static frix_vec3 own_axis(const fx_tree_actuator *a) {
  return fx_vec(a->turn == 1 ? 1.0 : 0.0, a->turn == 2 ? 1.0 : 0.0, a->turn == 3 ? 1.0 : 0.0);
}

static void turn_moment(frix_robot_state *s, const fx_tree_actuator *a, double *length) {
  const fx_tree *t = s->tree;
  if (a->transmission != FRIX_ROBOT_AT_SITE) {
    const fx_tree_joint *j = &t->joint[a->object];
    *length = fx_at(fx_quat_log(fx_quat_at(s->qpos + j->q)), a->turn - 1);
    s->row[j->v + a->turn - 1] = 1.0;
    return;
  }
  frix_quat site = fx_tree_site_pose(s, a->object).q, other = fx_tree_site_pose(s, a->object2).q;
  int32_t body = t->site[a->object].body, reference = t->site[a->object2].body;
  frix_vec3 axis = fx_rotate(site, own_axis(a));
  *length = fx_at(fx_quat_log(fx_quat_mul(fx_quat_conj(other), site)), a->turn - 1);
  fx_tree_add_turn(s, body, axis, s->row);
  fx_tree_add_turn(s, reference, fx_neg(axis), s->row);
  clear_common(s, body, reference);
}

void fx_tree_transmissions(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  for (int32_t k = 0; k < t->actuator_count; k++) {
    const fx_tree_actuator *a = &t->actuator[k];
    double length = 0.0, rate = 0.0;
    switch (a->turn ? FRIX_ROBOT_AT_BODY : a->transmission) {
      case FRIX_ROBOT_AT_JOINT:
      case FRIX_ROBOT_AT_JOINT_IN_PARENT: joint_moment(s, a, &length); break;
      case FRIX_ROBOT_AT_TENDON: tendon_moment(s, a, &length); break;
      case FRIX_ROBOT_AT_CRANK: crank_moment(s, a, &length); break;
      case FRIX_ROBOT_AT_SITE: site_moment(s, a, &length); break;
      case FRIX_ROBOT_AT_BODY: break;
    }
    if (a->turn) turn_moment(s, a, &length);
    for (int32_t n = a->dofs.first; n < a->dofs.first + a->dofs.count; n++) {
      int32_t i = t->list[n];
      s->actuator_moment[n] = s->row[i];
      s->row[i] = 0.0;
      rate += s->actuator_moment[n] * s->qvel[i];
    }
    s->actuator_length[k] = length, s->actuator_velocity[k] = rate;
  }
}
