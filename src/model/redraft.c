/* A builder from a model, and changes of the elements of a builder. */
#include "base/abi.h"
#include "model/builder.h"

#include <frix/edit.h>
#include <string.h>

#define FAIL(...) return fx_fail(context, FRIX_ERROR_INPUT, __VA_ARGS__)

static bool own_text(frix_context *context, const char **text) {
  return !*text || (*text = fx_copy_text(context, *text));
}

/* ---- a builder that holds a model */

static frix_status redraft_materials(const frix_model *m, frix_builder *b) {
  for (int32_t k = 1; k < m->material_count; k++) {
    frix_status status = frix_builder_add_material(b, &m->material[k].config, NULL);
    if (status) return status;
  }
  b->material[0] = m->material[0].config;
  if (!own_text(b->context, &b->material[0].name)) return FRIX_ERROR_MEMORY;
  b->geometry = FX_NEW(b->context, fx_geometry *, m->geometry_count);
  if (!b->geometry) return FRIX_ERROR_MEMORY;
  b->geometry_room = m->geometry_count;
  for (; b->geometry_count < m->geometry_count; b->geometry_count++) {
    b->geometry[b->geometry_count] = m->geometry[b->geometry_count];
    atomic_fetch_add(&b->geometry[b->geometry_count]->reference_count, 1);
  }
  return FRIX_OK;
}

static frix_status redraft_bodies(const frix_model *m, frix_builder *b) {
  for (int32_t k = 1; k < m->body_count; k++) {
    frix_body_config config;
    frix_status status = frix_model_body(m, (frix_body_id){(uint32_t)k, 1}, &config);
    if (!status) status = frix_builder_add_body(b, &config, NULL);
    if (status) return status;
  }
  b->shape = FX_NEW(b->context, fx_shape_draft, m->shape_id_count);
  if (!b->shape) return FRIX_ERROR_MEMORY;
  b->shape_room = m->shape_id_count;
  for (int32_t k = 0; k < m->shape_id_count; k++) {
    fx_shape_draft *draft = &b->shape[b->shape_count++];
    *draft = (fx_shape_draft){.config = frix_shape_default(), .removed = m->shape_of_id[k] < 0};
    frix_body_id body;
    if (draft->removed) continue;
    frix_status status = frix_model_shape(m, (frix_shape_id){(uint32_t)k + 1, 1}, &draft->config, &body);
    if (status) return status;
    draft->body = (int32_t)body.index;
    if (!own_text(b->context, &draft->config.name)) return FRIX_ERROR_MEMORY;
  }
  return FRIX_OK;
}

static frix_status redraft_joints(const frix_model *m, frix_builder *b) {
  b->joint = FX_NEW(b->context, frix_joint_config, m->joint_count);
  if (!b->joint) return FRIX_ERROR_MEMORY;
  b->joint_room = m->joint_count;
  for (int32_t k = 0; k < m->joint_count; k++) {
    frix_joint_config *draft = &b->joint[b->joint_count++];
    *draft = (frix_joint_config){.kind = FX_JOINT_REMOVED};
    if (m->joint[k].removed) continue;
    frix_status status = frix_model_joint(m, (frix_joint_id){(uint32_t)k + 1, 1}, draft);
    if (status) return status;
    if (!own_text(b->context, &draft->name)) return FRIX_ERROR_MEMORY;
  }
  return FRIX_OK;
}

static frix_status redraft_pairs(const frix_model *m, frix_builder *b) {
  for (int32_t k = 0; k < m->pair_count; k++) {
    const fx_pair_entry *e = &m->pair[k];
    const fx_surface *s = &e->surface;
    frix_material_config config = frix_material_default();
    config.mu = s->mu, config.mu2 = s->anisotropic ? s->mu2 : 0.0;
    if (s->anisotropic) config.axis = s->axis;
    config.rolling = s->rolling, config.spinning = s->spinning;
    config.restitution = s->restitution, config.stiffness = s->stiffness;
    uint32_t a = (uint32_t)e->material.a, c = (uint32_t)e->material.b;
    frix_material_id first = {a, a != 0}, second = {c, c != 0};
    frix_status status = s->axis_side ? frix_builder_set_pair(b, second, first, &config)
                                      : frix_builder_set_pair(b, first, second, &config);
    if (status) return status;
  }
  return FRIX_OK;
}

/* What is excluded beyond what joints exclude, however often. */
static frix_status redraft_excluded(const frix_model *m, frix_builder *b) {
  for (int32_t k = 0; k < m->excluded_count;) {
    fx_pair pair = m->excluded[k];
    int32_t left = 0;
    for (; k < m->excluded_count && m->excluded[k].a == pair.a && m->excluded[k].b == pair.b; k++) left++;
    for (int32_t j = 0; j < m->joint_count; j++) left -= fx_joint_excludes(&m->joint[j], pair);
    frix_body_id first = {(uint32_t)pair.a, pair.a != 0}, second = {(uint32_t)pair.b, pair.b != 0};
    frix_status status = left > 0 ? frix_builder_exclude(b, first, second) : FRIX_OK;
    if (status) return status;
  }
  return FRIX_OK;
}

frix_status fx_builder_redraft(frix_context *context, const frix_model *m, frix_builder **out) {
  frix_builder *b = NULL;
  frix_status status = frix_builder_create(context, &b);
  if (status) return status;
  b->gravity = m->gravity;
  if ((status = redraft_materials(m, b)) || (status = redraft_bodies(m, b)) || (status = redraft_joints(m, b)) ||
      (status = redraft_pairs(m, b)) || (status = redraft_excluded(m, b))) {
    frix_builder_destroy(b);
    return status;
  }
  *out = b;
  return FRIX_OK;
}

/* ---- changes */

/* The new name instead of the old one, which may be the same. */
static frix_status take_name(frix_context *context, const char **now, const char *old) {
  if (!own_text(context, now)) return FRIX_ERROR_MEMORY;
  fx_free(context, (void *)old);
  return FRIX_OK;
}

frix_status frix_builder_set_body(frix_builder *b, frix_body_id id, const frix_body_config *config) {
  if (!b || !config) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_body_config, config, frix_body_default());
  frix_context *context = b->context;
  if (id.generation != 1 || id.index == 0 || id.index >= (uint32_t)b->body_count) FAIL("set body: no such body");
  frix_body_config copy = *config, *to = &b->body[id.index];
  frix_status status = fx_check_body(context, &copy);
  if (status) return status;
  if (copy.planar != to->planar) FAIL("body '%s': planar cannot be changed", copy.name ? copy.name : "");
  for (int32_t k = 0; k < b->shape_count; k++) {
    fx_shape_draft *s = &b->shape[k];
    if (s->removed || s->body != (int32_t)id.index) continue;
    const fx_geometry *geometry = s->config.geometry.index ? b->geometry[s->config.geometry.index - 1] : NULL;
    if ((status = fx_check_shape(context, &s->config, geometry, &copy))) return status;
  }
  if ((status = take_name(context, &copy.name, to->name))) return status;
  *to = copy;
  return FRIX_OK;
}

frix_status frix_builder_set_shape(frix_builder *b, frix_shape_id id, const frix_shape_config *config) {
  if (!b || !config) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_shape_config, config, frix_shape_default());
  frix_context *context = b->context;
  if (id.generation != 1 || id.index == 0 || id.index > (uint32_t)b->shape_count || b->shape[id.index - 1].removed)
    FAIL("set shape: no such shape");
  fx_shape_draft *to = &b->shape[id.index - 1];
  /* added and checked like another one, then put in its place */
  frix_body_id body = {(uint32_t)to->body, to->body != 0};
  frix_status status = frix_builder_add_shape(b, body, config, NULL);
  if (status) return status;
  to = &b->shape[id.index - 1];
  fx_free(context, (void *)to->config.name);
  *to = b->shape[--b->shape_count];
  return FRIX_OK;
}

frix_status frix_builder_set_material(frix_builder *b, frix_material_id id, const frix_material_config *config) {
  if (!b || !config) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_material_config, config, frix_material_default());
  frix_context *context = b->context;
  bool initial = id.index == 0 && id.generation == 0;
  if (!initial && (id.generation != 1 || id.index == 0 || id.index >= (uint32_t)b->material_count))
    FAIL("set material: no such material");
  frix_status status = fx_check_material(context, config);
  frix_material_config copy = *config;
  if (!status) status = take_name(context, &copy.name, b->material[id.index].name);
  if (!status) b->material[id.index] = copy;
  return status;
}

frix_status frix_builder_remove_shape(frix_builder *b, frix_shape_id id) {
  if (!b) return FRIX_ERROR_INPUT;
  frix_context *context = b->context;
  if (id.generation != 1 || id.index == 0 || id.index > (uint32_t)b->shape_count || b->shape[id.index - 1].removed)
    FAIL("remove shape: no such shape");
  b->shape[id.index - 1].removed = true;
  return FRIX_OK;
}

frix_status frix_builder_remove_joint(frix_builder *b, frix_joint_id id) {
  if (!b) return FRIX_ERROR_INPUT;
  frix_context *context = b->context;
  if (id.generation != 1 || id.index == 0 || id.index > (uint32_t)b->joint_count ||
      b->joint[id.index - 1].kind == FX_JOINT_REMOVED)
    FAIL("remove joint: no such joint");
  for (int32_t k = 0; k < b->joint_count; k++) {
    const frix_joint_config *j = &b->joint[k];
    if (j->kind == FRIX_JOINT_COUPLING && (j->first.index == id.index || j->second.index == id.index))
      FAIL("remove joint: coupling '%s' needs it: remove that first", j->name ? j->name : "");
  }
  fx_free(context, (void *)b->joint[id.index - 1].name);
  b->joint[id.index - 1] = (frix_joint_config){.kind = FX_JOINT_REMOVED};
  return FRIX_OK;
}
