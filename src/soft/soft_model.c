/* Soft bodies as parts of a model: a body whose one shape is the surface of a soft body as it was made.
 *
 * The surface is a mesh geometry that holds the soft body, so bodies that are alike share it, and code that draws or
 * writes meshes knows it already. Its mass, inertia and centre are those of the undeformed body. */
#include "model/builder.h"
#include "soft/soft_internal.h"

#define FAIL(...) return fx_fail(b->context, FRIX_ERROR_INPUT, __VA_ARGS__)

frix_soft *fx_soft_hold(const frix_soft *soft) {
  frix_soft *held = (frix_soft *)soft;
  atomic_fetch_add(&held->holders, 1);
  return held;
}

static void let_go(void *soft) { frix_soft_destroy(soft); }

const frix_soft *fx_soft_of(const frix_model *model, int32_t body) {
  const fx_body *b = &model->body[body];
  if (b->dof != 6 || b->shape_count != 1) return NULL;
  const fx_geometry *g = model->shape[b->shape_start].geometry;
  return g ? g->soft : NULL;
}

frix_status fx_geometry_soften(fx_geometry *g, const frix_soft *soft) {
  if (g->soft || g->kind != FRIX_GEOMETRY_MESH || g->vertex_count != soft->info.point_count ||
      g->triangle_count != soft->info.triangle_count)
    return FRIX_ERROR_FORMAT;
  g->soft = fx_soft_hold(soft);
  g->soft_release = let_go;
  return FRIX_OK;
}

/* The geometry of a soft body, made where the builder has none yet. */
static frix_status find_geometry(frix_builder *b, const frix_soft *soft, frix_geometry_id *out) {
  for (int32_t k = 0; k < b->geometry_count; k++)
    if (b->geometry[k]->soft == soft) {
      *out = (frix_geometry_id){(uint32_t)k + 1, 1};
      return FRIX_OK;
    }
  const frix_soft_info *info = &soft->info;
  frix_geometry_config c = frix_geometry_default();
  c.kind = FRIX_GEOMETRY_MESH;
  c.point_count = info->point_count, c.point = info->point;
  c.triangle_count = info->triangle_count, c.triangle = info->triangle;
  frix_status status = frix_builder_add_geometry(b, &c, out);
  return status ? status : fx_geometry_soften(b->geometry[out->index - 1], soft);
}

frix_status frix_builder_add_soft(frix_builder *b, const frix_soft *soft, const frix_body_config *body,
                                  const frix_shape_config *shape, frix_body_id *out) {
  if (out) *out = (frix_body_id){0, 0};
  if (!b) return FRIX_ERROR_INPUT;
  if (!soft) FAIL("frix_builder_add_soft: no soft body");
  frix_body_config own = body ? *body : frix_body_default();
  frix_shape_config skin = shape ? *shape : frix_shape_default();
  const frix_soft_info *info = &soft->info;
  if (own.kind != FRIX_BODY_DYNAMIC || own.planar || own.spawn_only)
    FAIL("body '%s': a soft body is dynamic, not planar, and there from the start", own.name ? own.name : "");
  own.mass = info->mass, own.inertia = info->inertia, own.center = info->center;
  own.can_sleep = false;
  frix_body_id id;
  frix_status status = find_geometry(b, soft, &skin.geometry);
  if (!status) status = frix_builder_add_body(b, &own, &id);
  if (status) return status;
  skin.kind = FRIX_SHAPE_MESH;
  skin.pose = (frix_pose){info->center, {1.0, 0.0, 0.0, 0.0}};
  status = frix_builder_add_shape(b, id, &skin, NULL);
  if (status) { /* nothing was added */
    b->body_count--;
    return status;
  }
  if (out) *out = id;
  return FRIX_OK;
}

const frix_soft *frix_model_soft(const frix_model *model, frix_body_id id) {
  if (!model || id.generation != 1 || id.index == 0 || id.index >= (uint32_t)model->body_count) return NULL;
  return fx_soft_of(model, (int32_t)id.index);
}

frix_context *frix_builder_context(const frix_builder *b) { return b ? b->context : NULL; }
