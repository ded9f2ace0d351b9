/* Checks of the configs that users pass to a builder. */
#include "model/builder.h"

#define FAIL(...) return fx_fail(context, FRIX_ERROR_INPUT, __VA_ARGS__)

static const char *shown(const char *name) { return name ? name : ""; }

static bool good_pose(frix_pose *pose) {
  double norm2 = fx_quat_norm2(pose->q);
  if (!fx_finite(pose->p) || !isfinite(norm2) || !(norm2 > 1e-12)) return false;
  if (fabs(norm2 - 1.0) > 1e-15) pose->q = fx_quat_unit(pose->q);
  return true;
}

bool fx_flatten_pose(frix_pose *pose) {
  if (fabs(pose->p.z) > 1e-9 || fabs(pose->q.x) > 1e-9 || fabs(pose->q.y) > 1e-9) return false;
  pose->p.z = pose->q.x = pose->q.y = 0.0;
  pose->q = fx_quat_unit(pose->q);
  return true;
}

/* ---- materials ---- */

frix_status fx_check_material(frix_context *context, const frix_material_config *c) {
  const char *name = shown(c->name);
  const struct {
    const char *what;
    double value;
  } row[] = {{"mu", c->mu},
             {"mu2", c->mu2},
             {"rolling", c->rolling},
             {"spinning", c->spinning},
             {"restitution", c->restitution}};
  if (c->size != sizeof *c) FAIL("material '%s': start from frix_material_default()", name);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++)
    if (!(row[k].value >= 0.0) || !isfinite(row[k].value))
      FAIL("material '%s': %s is %g, must be finite and not negative", name, row[k].what, row[k].value);
  if (!(c->stiffness >= 0.0))
    FAIL("material '%s': stiffness is %g, must not be negative; infinite is rigid", name, c->stiffness);
  if (c->restitution > 1.0) FAIL("material '%s': restitution is %g, must be at most 1", name, c->restitution);
  if (!fx_finite(c->axis)) FAIL("material '%s': axis is not finite", name);
  if (c->mu2 > 0.0 && fx_norm2(c->axis) == 0.0) FAIL("material '%s': mu2 needs an axis", name);
  return FRIX_OK;
}

/* ---- bodies ---- */

frix_status fx_check_mass(frix_context *context, const char *name, bool planar, double mass, frix_sym3 j) {
  if (!(mass > 0.0) || !isfinite(mass)) FAIL("body '%s': mass is %g, must be positive and finite", shown(name), mass);
  if (planar) {
    if (!(j.zz > 0.0) || !isfinite(j.zz))
      FAIL("body '%s': inertia.zz is %g, must be positive and finite", shown(name), j.zz);
    return FRIX_OK;
  }
  double p[3];
  fx_sym3_eigen(j, p, NULL);
  if (!isfinite(p[0] + p[1] + p[2])) FAIL("body '%s': inertia is not finite", shown(name));
  if (!(p[0] > 1e-14 * p[2]))
    FAIL("body '%s': inertia is not positive definite (principal moments %g, %g, %g)", shown(name), p[0], p[1], p[2]);
  if (p[2] > (p[0] + p[1]) * (1.0 + 1e-6))
    FAIL("body '%s': no body has principal moments %g, %g, %g: the largest exceeds the sum of the others", shown(name),
         p[0], p[1], p[2]);
  return FRIX_OK;
}

static bool zero_inertia(frix_sym3 j) {
  return j.xx == 0.0 && j.yy == 0.0 && j.zz == 0.0 && j.xy == 0.0 && j.xz == 0.0 && j.yz == 0.0;
}

frix_status fx_check_body(frix_context *context, frix_body_config *c) {
  const char *name = shown(c->name);
  if (c->size != sizeof *c) FAIL("body '%s': start from frix_body_default()", name);
  if (c->kind < FRIX_BODY_DYNAMIC || c->kind > FRIX_BODY_STATIC) FAIL("body '%s': unknown kind", name);
  if (!good_pose(&c->pose)) FAIL("body '%s': pose is not finite, or its quaternion is zero", name);
  if (!fx_finite(c->velocity) || !fx_finite(c->spin)) FAIL("body '%s': velocity is not finite", name);
  if (!isfinite(c->gravity_scale)) FAIL("body '%s': gravity_scale is not finite", name);
  if (!fx_finite(c->center)) FAIL("body '%s': center is not finite", name);
  if (!(c->mass >= 0.0) || !isfinite(c->mass))
    FAIL("body '%s': mass is %g, must be positive and finite", name, c->mass);
  if (c->kind == FRIX_BODY_STATIC && (fx_norm2(c->velocity) > 0.0 || fx_norm2(c->spin) > 0.0))
    FAIL("body '%s': a static body does not move; make it kinematic", name);
  if (c->planar) {
    if (!fx_flatten_pose(&c->pose)) FAIL("body '%s': a planar body stands in z = 0 and turns about z only", name);
    if (c->velocity.z != 0.0 || c->spin.x != 0.0 || c->spin.y != 0.0)
      FAIL("body '%s': a planar body moves in z = 0 and turns about z only", name);
    if (c->center.z != 0.0) FAIL("body '%s': center of a planar body has z = 0", name);
  }
  if (c->kind != FRIX_BODY_DYNAMIC || zero_inertia(c->inertia)) return FRIX_OK;
  if (c->mass == 0.0) FAIL("body '%s': inertia is given but mass is not", name);
  return fx_check_mass(context, name, c->planar, c->mass, c->inertia);
}

/* ---- shapes ---- */

frix_status fx_check_shape(frix_context *context, frix_shape_config *c, const fx_geometry *geometry,
                           const frix_body_config *body) {
  const char *name = shown(c->name);
  if (c->size != sizeof *c) FAIL("shape '%s': start from frix_shape_default()", name);
  const frix_shape_info *info = frix_shape_table((int32_t)c->kind);
  if (!info) FAIL("shape '%s': unknown kind %d", name, (int)c->kind);
  if (!good_pose(&c->pose)) FAIL("shape '%s': pose is not finite, or its quaternion is zero", name);
  if (!(c->density >= 0.0) || !isfinite(c->density))
    FAIL("shape '%s': density is %g, must be finite and not negative", name, c->density);
  if (body->kind == FRIX_BODY_DYNAMIC) {
    if (!info->massive && !(geometry && geometry->soft))
      FAIL("shape '%s': a %s has no volume, so it stands on static and kinematic bodies%s", name, info->name,
           c->kind == FRIX_SHAPE_MESH ? "; use its hull" : "");
    if (info->flat != body->planar)
      FAIL(info->flat ? "shape '%s': a %s is flat, its body '%s' is not planar"
                      : "shape '%s': a %s is not flat, its body '%s' is planar",
           name, info->name, shown(body->name));
  }
  if (info->flat && !fx_flatten_pose(&c->pose))
    FAIL("shape '%s': a flat shape stands in z = 0 of its body and turns about z only", name);
  return fx_shape_row_of(c->kind)->check(context, c, geometry);
}

/* ---- joints ---- */

static frix_status check_axis(frix_context *context, const char *name, int k, const frix_axis_config *a) {
  if (a->limited && !(a->lower <= a->upper))
    FAIL("joint '%s': axis %d: lower limit %g is above upper limit %g", name, k, a->lower, a->upper);
  if (!(a->friction >= 0.0) || !(a->stiffness >= 0.0) || !(a->damping >= 0.0) || !isfinite(a->friction) ||
      !isfinite(a->stiffness) || !isfinite(a->damping))
    FAIL("joint '%s': axis %d: friction, stiffness and damping must be finite and not negative", name, k);
  if (!isfinite(a->rest)) FAIL("joint '%s': axis %d: rest is not finite", name, k);
  if (!(a->armature >= 0.0) || !isfinite(a->armature))
    FAIL("joint '%s': axis %d: armature must be finite and not negative", name, k);
  if (a->motor == FRIX_MOTOR_NONE) return FRIX_OK;
  if (a->motor < 0 || a->motor >= FRIX_MOTOR_COUNT) FAIL("joint '%s': axis %d: unknown motor", name, k);
  if (!isfinite(a->target)) FAIL("joint '%s': axis %d: the motor's target is not finite", name, k);
  if (a->motor != FRIX_MOTOR_FORCE && !(a->max_force > 0.0))
    FAIL("joint '%s': axis %d: the motor's max_force must be positive", name, k);
  if (a->motor == FRIX_MOTOR_POSITION && !(a->max_speed > 0.0))
    FAIL("joint '%s': axis %d: the motor's max_speed must be positive", name, k);
  if (a->motor == FRIX_MOTOR_SERVO &&
      !(a->gain >= 0.0 && a->rate_gain >= 0.0 && isfinite(a->gain + a->rate_gain) && isfinite(a->target_rate)))
    FAIL("joint '%s': axis %d: the servo's gains must be finite and not negative, its target rate finite", name, k);
  return FRIX_OK;
}

static bool axis_used(const frix_axis_config *a) {
  return a->limited || a->friction != 0.0 || a->stiffness != 0.0 || a->damping != 0.0 || a->armature != 0.0 ||
         a->motor != FRIX_MOTOR_NONE;
}

static frix_status check_coupling(const frix_builder *builder, const frix_joint_config *c, const char *name) {
  frix_context *context = builder->context;
  frix_joint_id id[2] = {c->first, c->second};
  int32_t axis[2] = {c->first_axis, c->second_axis};
  for (int k = 0; k < 2; k++) {
    if (id[k].generation != 1 || id[k].index < 1 || id[k].index > (uint32_t)builder->joint_count)
      FAIL("joint '%s': a coupling needs two joints that were added before", name);
    const frix_joint_config *joint = &builder->joint[id[k].index - 1];
    if (axis[k] < 0 || axis[k] >= frix_joint_table((int32_t)joint->kind)->coordinate_count)
      FAIL("joint '%s': joint '%s' has no coordinate %d", name, shown(joint->name), axis[k]);
  }
  if (id[0].index == id[1].index && axis[0] == axis[1]) FAIL("joint '%s': couples a coordinate with itself", name);
  if (!isfinite(c->ratio) || c->ratio == 0.0 || !isfinite(c->offset))
    FAIL("joint '%s': ratio %g must be finite and not zero, offset %g finite", name, c->ratio, c->offset);
  return FRIX_OK;
}

/* Between planar bodies the hinge's axis is the plane's normal, the slider's lies in the plane. */
static frix_status check_planar_frames(frix_context *context, const frix_joint_config *c, const char *name) {
  frix_vec3 z = fx_rotate(c->frame_a.q, fx_vec(0.0, 0.0, 1.0));
  if (c->kind == FRIX_JOINT_HINGE && fabs(fabs(z.z) - 1.0) > 1e-9)
    FAIL("joint '%s': the axis of a hinge between planar bodies is z", name);
  if (c->kind == FRIX_JOINT_SLIDER && fabs(z.z) > 1e-9)
    FAIL("joint '%s': the axis of a slider between planar bodies lies in their plane", name);
  return FRIX_OK;
}

static frix_status check_bodies(const frix_builder *builder, const frix_joint_config *c, const char *name) {
  frix_context *context = builder->context;
  frix_body_id id[2] = {c->a, c->b};
  const frix_body_config *body[2];
  for (int k = 0; k < 2; k++) {
    bool world = id[k].index == 0 && id[k].generation == 0;
    if (!world && (id[k].generation != 1 || id[k].index < 1 || id[k].index >= (uint32_t)builder->body_count))
      FAIL("joint '%s': body %c is not of this builder", name, k ? 'b' : 'a');
    body[k] = &builder->body[id[k].index];
    if (body[k]->spawn_only) FAIL("joint '%s': body '%s' is a pattern", name, shown(body[k]->name));
  }
  if (id[0].index == id[1].index) FAIL("joint '%s': joins a body with itself", name);
  bool moves[2] = {body[0]->kind == FRIX_BODY_DYNAMIC, body[1]->kind == FRIX_BODY_DYNAMIC};
  if (!moves[0] && !moves[1]) FAIL("joint '%s': neither of its bodies is dynamic", name);
  if (moves[0] && moves[1] && body[0]->planar != body[1]->planar)
    FAIL("joint '%s': joins a planar body with one that is not", name);
  bool planar = (moves[0] && body[0]->planar) || (moves[1] && body[1]->planar);
  if (planar && frix_joint_table((int32_t)c->kind)->planar_row_count < 0)
    FAIL("joint '%s': a %s joint is not for planar bodies", name, frix_joint_table((int32_t)c->kind)->name);
  return planar ? check_planar_frames(context, c, name) : FRIX_OK;
}

frix_status fx_check_joint(const frix_builder *builder, frix_joint_config *c) {
  frix_context *context = builder->context;
  const char *name = shown(c->name);
  if (c->size != sizeof *c) FAIL("joint '%s': start from frix_joint_default()", name);
  const frix_joint_info *info = frix_joint_table((int32_t)c->kind);
  if (!info) FAIL("joint '%s': unknown kind %d", name, (int)c->kind);
  if (c->kind == FRIX_JOINT_COUPLING) return check_coupling(builder, c, name);
  if (!good_pose(&c->frame_a) || !good_pose(&c->frame_b))
    FAIL("joint '%s': a frame is not finite, or its quaternion is zero", name);
  if (c->kind == FRIX_JOINT_DISTANCE && !isfinite(c->length)) FAIL("joint '%s': length is not finite", name);
  int used = c->kind == FRIX_JOINT_BALL ? 1 : info->coordinate_count;
  for (int k = 0; k < FRIX_JOINT_AXES; k++) {
    frix_status status = check_axis(context, name, k, &c->axis[k]);
    if (status) return status;
    if (k >= used && axis_used(&c->axis[k]))
      FAIL("joint '%s': a %s joint has no axis %d to limit, drive or brake", name, info->name, k);
  }
  const frix_axis_config *spin = &c->axis[0];
  if (c->kind == FRIX_JOINT_BALL && (spin->limited || spin->stiffness > 0.0 || spin->motor != FRIX_MOTOR_NONE))
    FAIL("joint '%s': a ball joint takes friction, damping and armature only", name);
  return check_bodies(builder, c, name);
}
