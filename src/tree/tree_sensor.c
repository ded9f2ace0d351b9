/* Sensors, but for those that need contacts (mechanism_sense.c) or rays.
 *
 * Accelerations are spatial ones of bodies with the world accelerating against gravity, so that an accelerometer at
 * rest reads g upwards; a point x has  A.v + A.w x (x - o) + w x v_x.  Force and torque are what a body gets from its
 * parent: the sum of I A + V x* I V over all it carries, less what spatial tendons, contacts and loops pull there. */
#include <string.h>

#include "tree/tree.h"

typedef struct frame {
  frix_pose pose;
  int32_t body;
} frame;

static frame frame_of(const frix_robot_state *s, fx_tree_object kind, int32_t k) {
  const fx_tree *t = s->tree;
  frame f = {fx_pose_one(), 0};
  switch (kind) {
    case FX_OBJECT_NONE: break;
    case FX_OBJECT_XBODY: f = (frame){s->pose[k], k}; break;
    case FX_OBJECT_BODY: f = (frame){{s->center[k], fx_quat_mul(s->pose[k].q, t->body[k].axes)}, k}; break;
    case FX_OBJECT_GEOM: f = (frame){fx_tree_geom_pose(s, k), t->geom[k].body}; break;
    case FX_OBJECT_SITE: f = (frame){fx_tree_site_pose(s, k), t->site[k].body}; break;
    case FX_OBJECT_CAMERA:
      f = (frame){fx_pose_mul(s->pose[t->camera[k].body], t->camera[k].pose), t->camera[k].body};
      break;
  }
  return f;
}

static frix_vec3 point_acceleration(const frix_robot_state *s, int32_t body, frix_vec3 point) {
  if (!s->tree->body[body].link) return fx_vec(0.0, 0.0, 0.0); /* of what cannot move MuJoCo reads nothing */
  fx_spatial a = s->spatial[s->tree->body[body].link];
  frix_vec3 r = fx_sub(point, fx_tree_point_of(s, body));
  frix_vec3 turning = fx_cross(fx_tree_velocity_of(s, body).w, fx_tree_point_velocity(s, body, point));
  return fx_add(fx_add(a.v, fx_cross(a.w, r)), turning);
}

/* What a body gets from its parent, at a point. */
static fx_spatial joint_force(const frix_robot_state *s, int32_t body, frix_vec3 point) {
  const fx_tree *t = s->tree;
  fx_spatial sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int32_t b = body; b < t->body_count; b++) {
    int32_t up = b;
    while (up > body) up = t->body[up].parent;
    if (up != body) continue;
    frix_vec3 o = fx_tree_point_of(s, b);
    fx_inertia i = fx_inertia_of(&t->body[b].mass, s->pose[b], o);
    fx_spatial v = fx_tree_velocity_of(s, b), f = fx_inertia_mul(&i, s->spatial[t->body[b].link]);
    f = fx_spatial_add(f, fx_spatial_cross_force(v, fx_inertia_mul(&i, v)));
    if (b) f = fx_spatial_mad(f, -1.0, s->spatial2[b]); /* nothing is asked of what holds the world */
    f.w = fx_add(f.w, fx_cross(fx_sub(o, point), f.v));
    sum = fx_spatial_add(sum, f);
  }
  return sum;
}

typedef struct subtree {
  double mass;
  frix_vec3 center, velocity, momentum; /* momentum: angular, about the centre */
} subtree;

static subtree subtree_of(const frix_robot_state *s, int32_t body) {
  const fx_tree *t = s->tree;
  subtree x = {0};
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t b = body; b < t->body_count; b++) {
      int32_t up = b;
      while (up > body) up = t->body[up].parent;
      if (up != body || b == 0) continue;
      const fx_mass *m = &t->body[b].mass;
      frix_vec3 v = fx_tree_point_velocity(s, b, s->center[b]);
      if (pass == 0) {
        x.mass += m->mass;
        x.center = fx_mad(x.center, m->mass, s->center[b]);
        x.velocity = fx_mad(x.velocity, m->mass, v);
      } else {
        frix_vec3 w = fx_tree_velocity_of(s, b).w, arm = fx_sub(s->center[b], x.center);
        frix_vec3 own = fx_rotate(s->pose[b].q, fx_sym3_mul(m->inertia, fx_unrotate(s->pose[b].q, w)));
        x.momentum = fx_add(x.momentum, fx_mad(own, m->mass, fx_cross(arm, fx_sub(v, x.velocity))));
      }
    }
    if (pass == 0 && x.mass > 0.0)
      x.center = fx_scale(1.0 / x.mass, x.center), x.velocity = fx_scale(1.0 / x.mass, x.velocity);
  }
  if (!(x.mass > 1e-15)) x.center = s->pose[body].p;
  return x;
}

/* ---- groups of sensors: each fills what it knows and says whether it did ---- */

static void put(double *out, frix_vec3 v) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

static void sense_frame(const frix_robot_state *s, const fx_tree_sensor *x, double *out) {
  frame f = frame_of(s, x->kind1, x->object), ref = frame_of(s, x->kind2, x->object2 < 0 ? 0 : x->object2);
  bool relative = x->object2 >= 0;
  frix_quat q = fx_quat_mul(fx_quat_conj(ref.pose.q), f.pose.q);
  fx_mat3 r = fx_quat_matrix(q);
  frix_vec3 w = fx_tree_velocity_of(s, f.body).w, v = fx_tree_point_velocity(s, f.body, f.pose.p);
  if (relative) {
    frix_vec3 w2 = fx_tree_velocity_of(s, ref.body).w, v2 = fx_tree_point_velocity(s, ref.body, f.pose.p);
    w = fx_unrotate(ref.pose.q, fx_sub(w, w2)), v = fx_unrotate(ref.pose.q, fx_sub(v, v2));
  }
  switch (x->kind) {
    case FRIX_SENSOR_FRAME_POS: put(out, fx_pose_unpoint(ref.pose, f.pose.p)); break;
    case FRIX_SENSOR_FRAME_QUAT: fx_quat_put(fx_quat_unit(q), out); break;
    case FRIX_SENSOR_FRAME_X_AXIS: put(out, fx_mat3_col(r, 0)); break;
    case FRIX_SENSOR_FRAME_Y_AXIS: put(out, fx_mat3_col(r, 1)); break;
    case FRIX_SENSOR_FRAME_Z_AXIS: put(out, fx_mat3_col(r, 2)); break;
    case FRIX_SENSOR_FRAME_LINVEL: put(out, v); break;
    case FRIX_SENSOR_FRAME_ANGVEL: put(out, w); break;
    case FRIX_SENSOR_FRAME_LINACC: put(out, point_acceleration(s, f.body, f.pose.p)); break;
    default: put(out, s->spatial[s->tree->body[f.body].link].w); break; /* angular acceleration */
  }
}

static void sense_site(const frix_robot_state *s, const fx_tree_sensor *x, double *out) {
  frame f = frame_of(s, FX_OBJECT_SITE, x->object);
  frix_vec3 v = {0.0, 0.0, 0.0};
  switch (x->kind) {
    case FRIX_SENSOR_ACCELEROMETER: v = point_acceleration(s, f.body, f.pose.p); break;
    case FRIX_SENSOR_VELOCIMETER: v = fx_tree_point_velocity(s, f.body, f.pose.p); break;
    case FRIX_SENSOR_GYRO: v = fx_tree_velocity_of(s, f.body).w; break;
    case FRIX_SENSOR_FORCE: v = joint_force(s, f.body, f.pose.p).v; break;
    case FRIX_SENSOR_TORQUE: v = joint_force(s, f.body, f.pose.p).w; break;
    default: v = s->tree->magnetic; break;
  }
  put(out, fx_unrotate(f.pose.q, v));
}

/* Distance to the nearer limit and its rate, where it is within the margin. */
static void sense_limit(double value, double rate, const double range[2], double margin, bool limited, bool velocity,
                        double *out) {
  double low = value - range[0], high = range[1] - value;
  *out = 0.0;
  if (!limited) return;
  if (low < margin)
    *out = velocity ? rate : low - margin;
  else if (high < margin)
    *out = velocity ? -rate : high - margin;
}

static void sense_joint(const frix_robot_state *s, const fx_tree_sensor *x, double *out) {
  const fx_tree_joint *j = &s->tree->joint[x->object];
  const double *q = s->qpos + j->q, *v = s->qvel + j->v;
  bool limited = j->limited && !s->tree->no_limit;
  switch (x->kind) {
    case FRIX_SENSOR_JOINT_POS: out[0] = q[0]; break;
    case FRIX_SENSOR_JOINT_VEL: out[0] = v[0]; break;
    case FRIX_SENSOR_JOINT_ACTUATOR_FORCE: out[0] = s->actuator_torque[j->v]; break;
    case FRIX_SENSOR_BALL_QUAT: memcpy(out, q, 4 * sizeof *q); break;
    case FRIX_SENSOR_BALL_ANGVEL: memcpy(out, v, 3 * sizeof *v); break;
    case FRIX_SENSOR_JOINT_LIMIT_POS: sense_limit(q[0], v[0], j->range, j->margin, limited, false, out); break;
    case FRIX_SENSOR_JOINT_LIMIT_VEL: sense_limit(q[0], v[0], j->range, j->margin, limited, true, out); break;
    default: out[0] = 0.0; break;
  }
}

static void sense_tendon(const frix_robot_state *s, const fx_tree_sensor *x, double *out) {
  const fx_tree *t = s->tree;
  const fx_tree_tendon *y = &t->tendon[x->object];
  double length = s->tendon_length[x->object], rate = s->tendon_velocity[x->object], sum = 0.0;
  bool limited = y->limited && !t->no_limit;
  switch (x->kind) {
    case FRIX_SENSOR_TENDON_POS: out[0] = length; break;
    case FRIX_SENSOR_TENDON_VEL: out[0] = rate; break;
    case FRIX_SENSOR_TENDON_LIMIT_POS: sense_limit(length, rate, y->range, y->margin, limited, false, out); break;
    case FRIX_SENSOR_TENDON_LIMIT_VEL: sense_limit(length, rate, y->range, y->margin, limited, true, out); break;
    case FRIX_SENSOR_TENDON_ACTUATOR_FORCE:
      for (int32_t k = 0; k < t->actuator_count; k++)
        if (t->actuator[k].transmission == FRIX_ROBOT_AT_TENDON && t->actuator[k].object == x->object)
          sum += s->actuator_force[k];
      out[0] = sum;
      break;
    default: out[0] = 0.0; break;
  }
}

static void sense_subtree(const frix_robot_state *s, const fx_tree_sensor *x, double *out) {
  subtree y = subtree_of(s, x->object);
  if (x->kind == FRIX_SENSOR_SUBTREE_COM) put(out, y.center);
  if (x->kind == FRIX_SENSOR_SUBTREE_LINVEL) put(out, y.velocity);
  if (x->kind == FRIX_SENSOR_SUBTREE_ANGMOM) put(out, y.momentum);
}

bool fx_tree_site_holds(const frix_robot_state *s, int32_t site, frix_vec3 point) {
  const fx_tree_site *x = &s->tree->site[site];
  frix_vec3 p = fx_pose_unpoint(fx_tree_site_pose(s, site), point);
  double a = x->size[0], b = x->size[1], c = x->size[2], flat = p.x * p.x + p.y * p.y;
  double beyond = fx_max(fabs(p.z) - b, 0.0); /* the middle part of a capsule */
  switch (x->kind) {
    case FX_SITE_SPHERE: return fx_norm2(p) <= a * a;
    case FX_SITE_CAPSULE: return flat + beyond * beyond <= a * a;
    case FX_SITE_CYLINDER: return flat <= a * a && fabs(p.z) <= b;
    case FX_SITE_BOX: return fabs(p.x) <= a && fabs(p.y) <= b && fabs(p.z) <= c;
    case FX_SITE_ELLIPSOID: break;
  }
  return fx_norm2(fx_vec(p.x / a, p.y / b, p.z / c)) <= 1.0;
}

/* Where a camera sees a site, in pixels from the upper left corner. */
static void project(const frix_robot_state *s, const fx_tree_sensor *x, double *out) {
  const fx_tree_camera *camera = &s->tree->camera[x->object2];
  frix_vec3 p = fx_pose_unpoint(frame_of(s, FX_OBJECT_CAMERA, x->object2).pose, fx_tree_site_pose(s, x->object).p);
  double depth = fabs(p.z) < 1e-15 ? copysign(1e-15, p.z) : p.z;
  out[0] = camera->center[0] - camera->focal[0] * p.x / depth;
  out[1] = camera->center[1] + camera->focal[1] * p.y / depth;
}

static void sense(const frix_robot_state *s, const fx_tree_sensor *x, double *out) {
  if (x->kind <= FRIX_SENSOR_MAGNETOMETER) {
    sense_site(s, x, out);
  } else if (x->kind >= FRIX_SENSOR_FRAME_POS && x->kind <= FRIX_SENSOR_FRAME_ANGACC) {
    sense_frame(s, x, out);
  } else if (x->kind >= FRIX_SENSOR_SUBTREE_COM && x->kind <= FRIX_SENSOR_SUBTREE_ANGMOM) {
    sense_subtree(s, x, out);
  } else {
    switch (x->kind) {
      case FRIX_SENSOR_ACTUATOR_POS: /* three numbers of an orientation servo */
        memcpy(out, s->actuator_length + x->object, (size_t)x->count * sizeof *out);
        break;
      case FRIX_SENSOR_ACTUATOR_VEL:
        for (int32_t n = 0; n < x->count; n++)
          out[n] = s->tree->no_actuation ? 0.0 : s->actuator_velocity[x->object + n];
        break;
      case FRIX_SENSOR_ACTUATOR_FORCE:
        memcpy(out, s->actuator_force + x->object, (size_t)x->count * sizeof *out);
        break;
      case FRIX_SENSOR_TENDON_POS:
      case FRIX_SENSOR_TENDON_VEL:
      case FRIX_SENSOR_TENDON_ACTUATOR_FORCE:
      case FRIX_SENSOR_TENDON_LIMIT_POS:
      case FRIX_SENSOR_TENDON_LIMIT_VEL:
      case FRIX_SENSOR_TENDON_LIMIT_FORCE: sense_tendon(s, x, out); break;
      case FRIX_SENSOR_POTENTIAL_ENERGY: out[0] = s->potential; break;
      case FRIX_SENSOR_KINETIC_ENERGY: out[0] = s->kinetic; break;
      case FRIX_SENSOR_CLOCK: out[0] = s->time; break;
      case FRIX_SENSOR_INSIDE_SITE:
        out[0] = fx_tree_site_holds(s, x->object2, frame_of(s, x->kind1, x->object).pose.p);
        break;
      case FRIX_SENSOR_CAM_PROJECTION: project(s, x, out); break;
      case FRIX_SENSOR_TOUCH: /* mechanism_sense.c; the others mechanism_look.c */
      case FRIX_SENSOR_CONTACT:
      case FRIX_SENSOR_RANGEFINDER:
      case FRIX_SENSOR_DISTANCE:
      case FRIX_SENSOR_NORMAL:
      case FRIX_SENSOR_FROMTO:
      case FRIX_SENSOR_TACTILE:
      case FRIX_SENSOR_OTHER: memset(out, 0, (size_t)x->count * sizeof *out); break;
      default: sense_joint(s, x, out); break;
    }
  }
}

/* Directions and quaternions have no cutoff. */
static bool has_cutoff(const fx_tree_sensor *x) {
  return x->cutoff > 0.0 && x->kind < FRIX_SENSOR_TOUCH && x->kind != FRIX_SENSOR_FRAME_QUAT &&
         x->kind != FRIX_SENSOR_BALL_QUAT &&
         !(x->kind >= FRIX_SENSOR_FRAME_X_AXIS && x->kind <= FRIX_SENSOR_FRAME_Z_AXIS);
}

/* What spatial tendons do to the bodies. */
static void pull_tendons(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  memset(s->spatial2, 0, (size_t)t->body_count * sizeof *s->spatial2);
  for (int32_t k = 0; k < t->tendon_count; k++) {
    const fx_tree_tendon *x = &t->tendon[k];
    double force = fx_tree_tendon_force(s, k);
    if (x->spatial && x->armature != 0.0) force -= x->armature * fx_tree_tendon_drift(s, k);
    for (int32_t n = 0; n < t->actuator_count; n++)
      if (t->actuator[n].transmission == FRIX_ROBOT_AT_TENDON && t->actuator[n].object == k)
        force += t->actuator[n].gear[0] * s->actuator_force[n];
    if (force != 0.0) fx_tree_tendon_pull(s, k, force, s->spatial2);
  }
}

void fx_tree_sensors(frix_robot_state *s, const double *acceleration, const fx_spatial *pulls) {
  const fx_tree *t = s->tree;
  if (!t->sensor_count) return;
  fx_tree_newton_euler(s, acceleration, s->row2); /* leaves the accelerations of bodies */
  pull_tendons(s);
  for (int32_t b = 0; pulls && b < t->body_count; b++) s->spatial2[b] = fx_spatial_add(s->spatial2[b], pulls[b]);
  for (int32_t k = 0; k < t->sensor_count; k++) {
    const fx_tree_sensor *x = &t->sensor[k];
    double *out = s->sensor + x->first;
    sense(s, x, out);
    for (int32_t n = 0; n < x->count && has_cutoff(x); n++) out[n] = fx_clamp(out[n], -x->cutoff, x->cutoff);
  }
}
