/* Joint geometry: coordinates, their rates, bilateral rows and their errors.
 *
 *   linear row  d . (v_b(p_b) - v_a(p))     angular row  d . (w_b - w_a)
 *
 * The error is what the row's velocity would have to take away per unit of time: row . v + gamma error / h = 0. */
#include "base/trig.h"
#include "sim/joints.h"
#include "sim/softs.h"

#include <math.h>

static bool present(const frix_sim *sim, int32_t body) {
  const fx_state *s = &sim->state;
  return body == 0 || (s->prototype[body] == body && s->generation[body] == 1);
}

bool fx_joint_active(const frix_sim *sim, int32_t j) {
  const fx_joint *joint = &sim->model->joint[j];
  if (joint->removed) return false;
  if (joint->config.kind == FRIX_JOINT_COUPLING)
    return fx_joint_active(sim, joint->first) && fx_joint_active(sim, joint->second);
  return present(sim, joint->a) && present(sim, joint->b);
}

fx_joint_view fx_joint_look(const frix_sim *sim, int32_t j) {
  const fx_joint *joint = &sim->model->joint[j];
  fx_joint_view v = {.slot = {joint->a, joint->b}};
  for (int side = 0; side < 2; side++) {
    frix_pose body = sim->state.pose[v.slot[side]];
    frix_pose frame = fx_pose_mul(body, side ? joint->config.frame_b : joint->config.frame_a);
    v.point[side] = frame.p;
    v.center[side] = body.p;
    v.axes[side] = fx_quat_matrix(frame.q);
    v.held[side] = fx_soft_held(sim, j, side);
    if (v.held[side] >= 0) v.point[side] = fx_soft_held_place(sim, v.slot[side], v.held[side]);
  }
  frix_vec3 d = fx_sub(v.point[1], v.point[0]);
  v.length = fx_norm(d);
  v.direction = fx_unit_or(d, fx_mat3_col(v.axes[0], 2));
  return v;
}

/* ---- coordinates ---- */

/* The angle that differs from `near` by less than half a turn. */
static double unwind(double angle, double near) {
  double turns = (near - angle) / (2.0 * FX_PI);
  return angle + 2.0 * FX_PI * floor(turns + 0.5);
}

double fx_joint_coordinate(const frix_sim *sim, int32_t j, const fx_joint_view *v, int32_t axis, double near) {
  fx_mat3 a = v->axes[0], b = v->axes[1];
  frix_vec3 xa = fx_mat3_col(a, 0), ya = fx_mat3_col(a, 1), za = fx_mat3_col(a, 2), xb = fx_mat3_col(b, 0);
  switch (sim->model->joint[j].config.kind) {
    case FRIX_JOINT_HINGE: return unwind(fx_atan2(fx_dot(xb, ya), fx_dot(xb, xa)), near);
    case FRIX_JOINT_SLIDER: return fx_dot(fx_sub(v->point[1], v->point[0]), za);
    case FRIX_JOINT_DISTANCE: return v->length;
    case FRIX_JOINT_UNIVERSAL:
      if (axis == 0) return unwind(fx_atan2(fx_dot(xb, ya), fx_dot(xb, xa)), near);
      return unwind(fx_atan2(fx_dot(fx_mat3_col(b, 1), za), fx_dot(fx_mat3_col(b, 2), za)), near);
    default: return 0.0;
  }
}

static void linear_row(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, const fx_joint_view *v, frix_vec3 at_a,
                       frix_vec3 d) {
  fx_group_term(sim, a, g, k, v->slot[1], d, fx_cross(fx_sub(v->point[1], v->center[1]), d));
  fx_group_term(sim, a, g, k, v->slot[0], fx_neg(d), fx_neg(fx_cross(fx_sub(at_a, v->center[0]), d)));
  fx_group_bend(sim, a, g, k, v->slot[1], v->held[1], d);
  fx_group_bend(sim, a, g, k, v->slot[0], v->held[0], fx_neg(d));
}

static void angular_row(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, const fx_joint_view *v, frix_vec3 d) {
  frix_vec3 zero = {0.0, 0.0, 0.0};
  fx_group_term(sim, a, g, k, v->slot[1], zero, d);
  fx_group_term(sim, a, g, k, v->slot[0], zero, fx_neg(d));
}

void fx_joint_bilateral_row(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, const fx_joint_view *v,
                            const fx_joint_row *row) {
  if (row->angular)
    angular_row(sim, a, g, k, v, row->direction);
  else
    linear_row(sim, a, g, k, v, row->point_a, row->direction);
}

void fx_joint_rate_row(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, int32_t j, const fx_joint_view *v,
                       int32_t axis, double scale) {
  frix_vec3 za = fx_mat3_col(v->axes[0], 2), xb = fx_mat3_col(v->axes[1], 0);
  switch (sim->model->joint[j].config.kind) {
    case FRIX_JOINT_HINGE: angular_row(sim, a, g, k, v, fx_scale(scale, za)); break;
    case FRIX_JOINT_SLIDER: linear_row(sim, a, g, k, v, v->point[1], fx_scale(scale, za)); break;
    case FRIX_JOINT_DISTANCE: linear_row(sim, a, g, k, v, v->point[0], fx_scale(scale, v->direction)); break;
    case FRIX_JOINT_UNIVERSAL: angular_row(sim, a, g, k, v, fx_scale(scale, axis == 0 ? za : xb)); break;
    default: break;
  }
}

/* ---- bilateral rows ---- */

/* The rotation from a's frame to b's as a small vector in the world. */
static frix_vec3 rotation_error(const fx_joint_view *v) {
  frix_vec3 sum = {0.0, 0.0, 0.0};
  double cosine = -1.0;
  for (int k = 0; k < 3; k++) {
    frix_vec3 p = fx_mat3_col(v->axes[0], k), q = fx_mat3_col(v->axes[1], k);
    sum = fx_add(sum, fx_cross(p, q));
    cosine += fx_dot(p, q);
  }
  /* sum = 2 sin(angle) axis, cosine = 2 cos(angle); the half-angle tangent keeps it growing up to half a turn */
  double scale = 2.0 + cosine > 1e-6 ? 2.0 / (2.0 + cosine) : 2e6;
  return fx_scale(scale, sum);
}

int32_t fx_joint_rows(const frix_sim *sim, int32_t j, const fx_joint_view *v, fx_joint_row row[FRIX_MAX_DIM]) {
  const fx_joint *joint = &sim->model->joint[j];
  frix_joint_kind kind = joint->config.kind;
  frix_vec3 gap = fx_sub(v->point[1], v->point[0]);
  frix_vec3 axis[3] = {fx_mat3_col(v->axes[0], 0), fx_mat3_col(v->axes[0], 1), fx_mat3_col(v->axes[0], 2)};
  frix_vec3 world[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  frix_vec3 turn = rotation_error(v);
  int32_t n = 0;
#define LINEAR(d, at, e) \
  row[n++] = (fx_joint_row) { .direction = (d), .point_a = (at), .error = (e) }
#define ANGULAR(d, e) \
  row[n++] = (fx_joint_row) { .angular = true, .direction = (d), .error = (e) }
  if (kind == FRIX_JOINT_DISTANCE) {
    if (!sim->state.joint[j].axis[0].limited) LINEAR(v->direction, v->point[0], v->length - joint->config.length);
    return n;
  }
  if (kind == FRIX_JOINT_SLIDER) {
    if (joint->planar) { /* the travel lies in the plane; its normal there is z x travel */
      frix_vec3 across = fx_unit(fx_cross(world[2], axis[2]));
      LINEAR(across, v->point[1], fx_dot(gap, across));
      ANGULAR(world[2], turn.z);
      return n;
    }
    for (int k = 0; k < 2; k++) LINEAR(axis[k], v->point[1], fx_dot(gap, axis[k]));
    for (int k = 0; k < 3; k++) ANGULAR(axis[k], fx_dot(turn, axis[k]));
    return n;
  }
  for (int k = 0; k < (joint->planar ? 2 : 3); k++) LINEAR(world[k], v->point[0], fx_at(gap, k));
  if (kind == FRIX_JOINT_FIXED) {
    if (joint->planar)
      ANGULAR(world[2], turn.z);
    else
      for (int k = 0; k < 3; k++) ANGULAR(axis[k], fx_dot(turn, axis[k]));
  } else if (kind == FRIX_JOINT_HINGE && !joint->planar) {
    frix_vec3 tilt = fx_cross(axis[2], fx_mat3_col(v->axes[1], 2));
    for (int k = 0; k < 2; k++) ANGULAR(axis[k], fx_dot(tilt, axis[k]));
  } else if (kind == FRIX_JOINT_UNIVERSAL) {
    frix_vec3 xb = fx_mat3_col(v->axes[1], 0);
    ANGULAR(fx_cross(xb, axis[2]), fx_dot(axis[2], xb));
  }
#undef LINEAR
#undef ANGULAR
  return n;
}
