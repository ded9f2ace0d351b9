/* The joint table: the properties of each joint kind; the simulator assembles their rows. */
#include "base/abi.h"
#include "model/builder.h"

/* name, summary, rows in space, rows in the plane, coordinates */
static const frix_joint_info table[FRIX_JOINT_COUNT] = {
    {"ball", "two points together", 3, 2, 0},
    {"hinge", "two axes together: one angle", 5, 2, 1},
    {"slider", "one travel, no rotation", 5, 2, 1},
    {"universal", "two crossed axes: two angles", 4, -1, 2},
    {"fixed", "two frames together", 6, 3, 0},
    {"distance", "two points at a distance", 1, 1, 1},
    {"coupling", "a gear: two coordinates in a fixed ratio", 1, 1, 0},
};

const frix_joint_info *frix_joint_table(int32_t k) { return k >= 0 && k < FRIX_JOINT_COUNT ? &table[k] : NULL; }

static frix_joint_config default_joint(frix_joint_kind kind) {
  frix_joint_config config = {0};
  config.size = sizeof config;
  config.kind = kind;
  config.frame_a = config.frame_b = fx_pose_one();
  config.length = -1.0;
  config.ratio = 1.0;
  for (int k = 0; k < FRIX_JOINT_AXES; k++) config.axis[k].max_speed = config.axis[k].max_force = INFINITY;
  return config;
}

void frix_joint_init(frix_joint_config *out, size_t size, frix_joint_kind kind) {
  frix_joint_config all = default_joint(kind);
  fx_give_struct(out, size, &all, sizeof all);
}

frix_status frix_joint_place(const frix_builder *builder, frix_joint_config *config, frix_vec3 anchor, frix_vec3 axis,
                             frix_vec3 axis2, frix_vec3 anchor_b) {
  if (!builder || !config) return FRIX_ERROR_INPUT;
  frix_context *context = builder->context;
  if (config->size != sizeof *config)
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_joint_place: start from frix_joint_default()");
  if (config->a.index >= (uint32_t)builder->body_count || config->b.index >= (uint32_t)builder->body_count)
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_joint_place: a body is not of this builder");
  if (!fx_finite(anchor) || !fx_finite(axis) || !fx_finite(axis2) || !fx_finite(anchor_b))
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_joint_place: an argument is not finite");
  /* one frame in the world: z along axis, x as near to axis2 as it can be */
  frix_vec3 z = fx_unit_or(axis, fx_vec(0.0, 0.0, 1.0));
  frix_vec3 x = fx_unit_or(fx_mad(axis2, -fx_dot(axis2, z), z), fx_across(z));
  frix_pose world = {anchor, fx_quat_of_axes(x, fx_cross(z, x), z)};
  frix_pose at_b = world;
  if (config->kind == FRIX_JOINT_DISTANCE) at_b.p = anchor_b;
  config->frame_a = fx_pose_mul(fx_pose_inverse(builder->body[config->a.index].pose), world);
  config->frame_b = fx_pose_mul(fx_pose_inverse(builder->body[config->b.index].pose), at_b);
  return FRIX_OK;
}
