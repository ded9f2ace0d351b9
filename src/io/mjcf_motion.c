/* Where bodies are, and how fast, from the numbers of a keyframe.
 *
 * A body stands in its parent at its place; its joints move it from there in turn, each about the frame the one before
 * left:  a slide along its axis by q - ref,  a hinge about its axis through its point by q - ref,  a ball about its
 * point by a quaternion. A free joint has the place in the world itself. Rates: along and about the same axes; of a
 * ball and of a free joint the spin is in the body's own axes, the velocity of a free joint in the world's. */
#include "io/mjcf_internal.h"

static frix_vec3 vec_at(const double *v) { return fx_vec(v[0], v[1], v[2]); }

/* One without length is no turn: so MuJoCo has it, and keyframes are written with it. */
static frix_quat quat_at(const double *v) {
  frix_quat q = {v[0], v[1], v[2], v[3]};
  double norm = fx_quat_norm2(q);
  return norm > 1e-30 && isfinite(norm) ? fx_quat_unit(q) : fx_quat_one();
}

/* A frame that moves against another. */
typedef struct frame {
  frix_pose pose;
  frix_vec3 velocity, spin; /* of its origin */
} frame;

static void slide(frame *f, const fx_mjcf_joint *j, double way, double rate) {
  frix_vec3 axis = fx_rotate(f->pose.q, j->axis), step = fx_scale(way, axis);
  f->velocity = fx_mad(fx_add(f->velocity, fx_cross(f->spin, step)), rate, axis);
  f->pose.p = fx_add(f->pose.p, step);
}

/* About the joint's point; spin in the axes of the frame afterwards. */
static void turn(frame *f, const fx_mjcf_joint *j, frix_quat by, frix_vec3 spin) {
  frix_vec3 point = fx_pose_point(f->pose, j->pos);
  frix_vec3 velocity = fx_add(f->velocity, fx_cross(f->spin, fx_sub(point, f->pose.p)));
  f->pose.q = fx_quat_mul(f->pose.q, by);
  f->pose.p = fx_sub(point, fx_rotate(f->pose.q, j->pos));
  f->spin = fx_add(f->spin, fx_rotate(f->pose.q, spin));
  f->velocity = fx_add(velocity, fx_cross(f->spin, fx_sub(f->pose.p, point)));
}

static void move_joint(frame *f, const fx_mjcf_joint *j, const fx_mjcf_numbers *n) {
  const double *q = n->qpos ? n->qpos + j->qpos : NULL, *v = n->qvel ? n->qvel + j->qvel : NULL;
  double way = q ? q[0] - j->ref : 0.0, rate = v ? v[0] : 0.0;
  switch (j->type) {
    case FX_JOINT_SLIDE: slide(f, j, way, rate); break;
    case FX_JOINT_HINGE: turn(f, j, fx_mjcf_turn(j->axis, way), fx_scale(rate, j->axis)); break;
    case FX_JOINT_BALL: turn(f, j, q ? quat_at(q) : fx_quat_one(), v ? vec_at(v) : fx_vec(0.0, 0.0, 0.0)); break;
    case FX_JOINT_FREE:
      if (q) f->pose = (frix_pose){vec_at(q), quat_at(q + 3)};
      if (v) f->velocity = vec_at(v), f->spin = fx_rotate(f->pose.q, vec_at(v + 3));
      break;
  }
}

void fx_mjcf_move(const fx_mjcf_reader *r, const fx_mjcf_numbers *n, fx_mjcf_motion *out) {
  out[0] = (fx_mjcf_motion){.local = fx_pose_one(), .world = fx_pose_one()};
  for (int32_t k = 1; k < r->body_count; k++) {
    const fx_mjcf_body *body = &r->body[k];
    const fx_mjcf_motion *parent = &out[body->parent];
    frame f = {.pose = body->place};
    if (body->mocap && n->mpos) f.pose.p = vec_at(n->mpos + 3 * body->mocap_place);
    if (body->mocap && n->mquat) f.pose.q = quat_at(n->mquat + 4 * body->mocap_place);
    for (int32_t i = 0; i < body->joint_count; i++) move_joint(&f, &r->joint[body->joint_first + i], n);
    if (body->joint_count) f.pose.q = fx_quat_unit(f.pose.q);
    frix_vec3 arm = fx_rotate(parent->world.q, f.pose.p);
    out[k].local = f.pose;
    out[k].world = fx_pose_mul(parent->world, f.pose);
    out[k].spin = fx_add(parent->spin, fx_rotate(parent->world.q, f.spin));
    out[k].velocity =
        fx_add(fx_add(parent->velocity, fx_cross(parent->spin, arm)), fx_rotate(parent->world.q, f.velocity));
  }
}
