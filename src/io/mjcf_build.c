/* Lists to a model: bodies with the masses of all their parts, shapes, joints. */
#include "io/mjcf_internal.h"

#define LEAST_MASS 1e-9 /* kg, kg m^2: of links that have none, below what the ledger shows */
#define LEAST_INERTIA 1e-15

/* Masses of the parts, in the frame of the body they make up. */
static void gather(fx_mjcf_reader *r) {
  for (int32_t k = 1; k < r->body_count; k++) {
    fx_mjcf_body *part = &r->body[k], *root = &r->body[part->root];
    if (part == root) continue;
    fx_mass_add(&root->mass, &part->mass, 1.0, part->in_root, false);
    root->lost |= part->lost;
  }
}

/* Parts that hang in gravity by different shares would turn the body, which a scale of its weight cannot. */
static frix_status check_gravcomp(fx_mjcf_reader *r) {
  for (int32_t k = 1; k < r->body_count; k++) {
    const fx_mjcf_body *body = &r->body[k], *root = &r->body[body->root];
    if (!fx_mjcf_moves(root) || body->gravcomp == root->gravcomp || body->mass.mass == 0.0) continue;
    frix_status status = fx_mjcf_missing(r, body->element, "body gravcomp of a part",
                                         "not supported: the value of the whole body counts");
    if (status) return status;
  }
  return FRIX_OK;
}

static frix_status add_body(fx_mjcf_reader *r, fx_mjcf_body *body, const fx_mjcf_motion *motion) {
  frix_body_config config = frix_body_default();
  bool moves = fx_mjcf_moves(body);
  config.name = body->name;
  config.kind = moves ? FRIX_BODY_DYNAMIC : body->mocap ? FRIX_BODY_KINEMATIC : FRIX_BODY_STATIC;
  config.pose = motion->world;
  config.gravity_scale = 1.0 - body->gravcomp;
  if (body->link == FX_LINK_TREE) { /* one without mass of its own moves what hangs on it */
    config.can_sleep = false;
    if (!(body->mass.mass > 0.0)) body->mass.mass = LEAST_MASS;
    frix_sym3 *j = &body->mass.inertia;
    if (!(j->xx + j->yy + j->zz > 0.0)) j->xx = j->yy = j->zz = LEAST_INERTIA;
  }
  if (moves) {
    if (!(body->mass.mass > 0.0))
      return fx_mjcf_fail(r, body->element,
                          body->lost ? "body '%s' moves but has no mass: the geoms it had are left out, see 'frix info'"
                                     : "body '%s' moves but has no mass; give a geom mass or density, or an <inertial>",
                          body->name ? body->name : "");
    config.mass = body->mass.mass, config.center = body->mass.center, config.inertia = body->mass.inertia;
    frix_mjcf_state start = fx_mjcf_state_of(body, motion);
    config.velocity = start.velocity, config.spin = start.spin;
  }
  frix_status status = frix_builder_add_body(r->builder, &config, &body->id);
  return status ? fx_mjcf_place(r, body->element, status) : FRIX_OK;
}

/* A geom that meets nothing is there for its mass or for the eye; it stays only where its body has nothing else. */
static frix_status add_shape(fx_mjcf_reader *r, const fx_mjcf_geom *g, const bool *solid) {
  const fx_mjcf_body *body = &r->body[g->body], *root = &r->body[body->root];
  uint32_t meets = r->meets[g->kind] | fx_mjcf_flex_bit(r, g);
  if (g->type == FX_GEOM_LEFT_OUT || (!meets && (solid[body->root] || body->root == 0))) return FRIX_OK;
  frix_shape_config config;
  frix_status status = fx_mjcf_shape(r, g, fx_mjcf_moves(root), &config);
  if (status) return status;
  config.pose = fx_pose_mul(body->in_root, g->pose);
  config.material = r->material[g->material].id;
  config.group = meets ? 1u << g->kind : 0;
  config.mask = meets;
  status = frix_builder_add_shape(r->builder, root->id, &config, NULL);
  r->shape_geom[r->shape_count++] = (int32_t)(g - r->geom);
  return status ? fx_mjcf_place(r, g->item.element, status) : FRIX_OK;
}

static frix_status add_shapes(fx_mjcf_reader *r) {
  bool *solid = FX_TAKE(&r->arena, bool, r->body_count);
  r->shape_geom = FX_TAKE(&r->arena, int32_t, r->geom_count);
  if (!solid || !r->shape_geom) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < r->geom_count; k++)
    if ((r->meets[r->geom[k].kind] | fx_mjcf_flex_bit(r, &r->geom[k])) && r->geom[k].type != FX_GEOM_LEFT_OUT)
      solid[r->body[r->geom[k].body].root] = true;
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < r->geom_count && !status; k++) status = add_shape(r, &r->geom[k], solid);
  return status;
}

/* Which joint of the model each joint of the file is. */
static frix_status list_joints(fx_mjcf_reader *r) {
  frix_mjcf_joint *list = FX_TAKE(&r->out->arena, frix_mjcf_joint, r->joint_count);
  if (!list) return FRIX_ERROR_MEMORY;
  frix_mjcf_info *info = &r->out->info;
  for (int32_t k = 0; k < r->joint_count; k++) {
    const fx_mjcf_joint *j = &r->joint[k];
    frix_mjcf_joint row = {NULL, j->id, j->coordinate, j->qpos, j->shift};
    if (j->name && !(row.name = fx_mjcf_keep(r, j->name))) return FRIX_ERROR_MEMORY;
    list[info->joint_count++] = row;
  }
  info->joint = list;
  return FRIX_OK;
}

frix_status fx_mjcf_build(fx_mjcf_reader *r) {
  frix_status status = r->reduced ? FRIX_OK : check_gravcomp(r);
  gather(r);
  for (int32_t k = 1; k < r->body_count && !status; k++) {
    if (r->body[k].own)
      status = add_body(r, &r->body[k], &r->motion[k]);
    else
      r->out->info.fused_count++;
  }
  if (status || (status = fx_mjcf_contacts(r)) || (status = add_shapes(r)) || (status = fx_mjcf_flexes(r)) ||
      (status = fx_mjcf_link_build(r)) || (!r->reduced && (status = fx_mjcf_equalities(r))) ||
      (status = list_joints(r)) || (status = frix_builder_set_gravity(r->builder, r->out->info.gravity)))
    return status;
  status = frix_builder_compile(r->builder, &r->out->model);
  return status ? fx_mjcf_place(r, r->source->root, status) : FRIX_OK;
}
