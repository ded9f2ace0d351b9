/* The builder: a growing list of checked configs. */
#include "model/builder.h"
#include "base/abi.h"

#include <string.h>

#define FAIL(...) return fx_fail(context, FRIX_ERROR_INPUT, __VA_ARGS__)

enum { MOST_ELEMENTS = 1 << 28 };

static frix_body_config default_body(void) {
  frix_body_config config = {0};
  config.size = sizeof config;
  config.pose = fx_pose_one();
  config.gravity_scale = 1.0;
  config.can_sleep = true;
  return config;
}

void frix_body_init(frix_body_config *out, size_t size) {
  frix_body_config all = default_body();
  fx_give_struct(out, size, &all, sizeof all);
}

static frix_shape_config default_shape(void) {
  frix_shape_config config = {0};
  config.size = sizeof config;
  config.pose = fx_pose_one();
  config.density = 1000.0;
  config.group = 1;
  config.mask = UINT32_MAX;
  return config;
}

void frix_shape_init(frix_shape_config *out, size_t size) {
  frix_shape_config all = default_shape();
  fx_give_struct(out, size, &all, sizeof all);
}

/* Room for one more element; NULL when memory runs out. */
static bool make_room(frix_context *context, void **list, int32_t count, int32_t *room, size_t size) {
  if (count < *room) return true;
  if (count >= MOST_ELEMENTS) {
    fx_fail(context, FRIX_ERROR_INPUT, "builder: more than %d elements of a kind", MOST_ELEMENTS);
    return false;
  }
  int32_t wanted = count < 8 ? 8 : 2 * count;
  void *grown = fx_realloc(context, *list, (size_t)count, (size_t)wanted, size);
  if (!grown) return false;
  *list = grown;
  *room = wanted;
  return true;
}

#define ROOM(builder, what)                                                                                  \
  make_room((builder)->context, (void **)&(builder)->what, (builder)->what##_count, &(builder)->what##_room, \
            sizeof *(builder)->what)

/* The copy's name becomes the builder's own. */
static bool own_name(frix_context *context, const char **name) {
  if (!*name) return true;
  *name = fx_copy_text(context, *name);
  return *name != NULL;
}

frix_status frix_builder_create(frix_context *context, frix_builder **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  frix_builder *b = FX_NEW(context, frix_builder, 1);
  if (!b) return FRIX_ERROR_MEMORY;
  b->context = context;
  b->gravity = fx_vec(0.0, 0.0, -9.81);
  if (!ROOM(b, body) || !ROOM(b, material)) {
    frix_builder_destroy(b);
    return FRIX_ERROR_MEMORY;
  }
  b->body[b->body_count] = frix_body_default();
  b->body[b->body_count++].kind = FRIX_BODY_STATIC;
  b->material[b->material_count++] = frix_material_default();
  *out = b;
  return FRIX_OK;
}

void frix_builder_destroy(frix_builder *b) {
  if (!b) return;
  frix_context *context = b->context;
  for (int32_t k = 0; k < b->body_count; k++) fx_free(context, (void *)b->body[k].name);
  for (int32_t k = 0; k < b->shape_count; k++) fx_free(context, (void *)b->shape[k].config.name);
  for (int32_t k = 0; k < b->material_count; k++) fx_free(context, (void *)b->material[k].name);
  for (int32_t k = 0; k < b->joint_count; k++) fx_free(context, (void *)b->joint[k].name);
  for (int32_t k = 0; k < b->geometry_count; k++) fx_geometry_release(context, b->geometry[k]);
  fx_free(context, b->body);
  fx_free(context, b->shape);
  fx_free(context, b->material);
  fx_free(context, b->geometry);
  fx_free(context, b->joint);
  fx_free(context, b->pair);
  fx_free(context, b->excluded);
  fx_free(context, b);
}

frix_status frix_builder_set_gravity(frix_builder *b, frix_vec3 gravity) {
  if (!b) return FRIX_ERROR_INPUT;
  frix_context *context = b->context;
  if (!fx_finite(gravity)) FAIL("gravity is not finite");
  b->gravity = gravity;
  return FRIX_OK;
}

/* An id of this builder's list; null allowed where the first entry stands for it. */
static bool known(uint32_t index, uint32_t generation, int32_t count, bool null_allowed) {
  if (index == 0 && generation == 0) return null_allowed;
  return generation == 1 && index >= 1 && index < (uint32_t)count;
}

frix_status frix_builder_add_material(frix_builder *b, const frix_material_config *config, frix_material_id *out) {
  if (!b || !config) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_material_config, config, frix_material_default());
  frix_status status = fx_check_material(b->context, config);
  if (status) return status;
  frix_material_config copy = *config;
  if (!ROOM(b, material) || !own_name(b->context, &copy.name)) return FRIX_ERROR_MEMORY;
  if (out) *out = (frix_material_id){(uint32_t)b->material_count, 1};
  b->material[b->material_count++] = copy;
  return FRIX_OK;
}

frix_status frix_builder_add_geometry(frix_builder *b, const frix_geometry_config *config, frix_geometry_id *out) {
  if (!b || !config) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_geometry_config, config, frix_geometry_default());
  return fx_builder_add_geometry(b, config, NULL, out);
}

frix_status fx_builder_add_geometry(frix_builder *b, const frix_geometry_config *config, const fx_faces *faces,
                                    frix_geometry_id *out) {
  frix_context *context = b->context;
  if (config->size != sizeof *config) FAIL("geometry: start from frix_geometry_default()");
  if (!ROOM(b, geometry)) return FRIX_ERROR_MEMORY;
  frix_status status = fx_geometry_restore(context, config, faces, &b->geometry[b->geometry_count]);
  if (status) return status;
  b->geometry[b->geometry_count]->number = b->geometry_count + 1;
  b->geometry_count++;
  if (out) *out = (frix_geometry_id){(uint32_t)b->geometry_count, 1};
  return FRIX_OK;
}

frix_status frix_builder_add_body(frix_builder *b, const frix_body_config *config, frix_body_id *out) {
  if (!b || !config) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_body_config, config, frix_body_default());
  frix_body_config copy = *config;
  frix_status status = fx_check_body(b->context, &copy);
  if (status) return status;
  if (!ROOM(b, body) || !own_name(b->context, &copy.name)) return FRIX_ERROR_MEMORY;
  if (out) *out = (frix_body_id){(uint32_t)b->body_count, 1};
  b->body[b->body_count++] = copy;
  return FRIX_OK;
}

frix_status frix_builder_add_shape(frix_builder *b, frix_body_id body, const frix_shape_config *config,
                                   frix_shape_id *out) {
  if (!b || !config) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_shape_config, config, frix_shape_default());
  frix_context *context = b->context;
  const char *name = config->size == sizeof *config && config->name ? config->name : "";
  if (!known(body.index, body.generation, b->body_count, true))
    FAIL("shape '%s': its body is not of this builder", name);
  frix_shape_config copy = *config;
  if (!known(copy.material.index, copy.material.generation, b->material_count, true))
    FAIL("shape '%s': its material is not of this builder", name);
  bool has_geometry = copy.geometry.index != 0 || copy.geometry.generation != 0;
  if (!known(copy.geometry.index, copy.geometry.generation, b->geometry_count + 1, true))
    FAIL("shape '%s': its geometry is not of this builder", name);
  const fx_geometry *geometry = has_geometry ? b->geometry[copy.geometry.index - 1] : NULL;
  frix_status status = fx_check_shape(context, &copy, geometry, &b->body[body.index]);
  if (status) return status;
  if (!ROOM(b, shape) || !own_name(context, &copy.name)) return FRIX_ERROR_MEMORY;
  b->shape[b->shape_count++] = (fx_shape_draft){.config = copy, .body = (int32_t)body.index};
  if (out) *out = (frix_shape_id){(uint32_t)b->shape_count, 1};
  return FRIX_OK;
}

frix_status frix_builder_add_joint(frix_builder *b, const frix_joint_config *config, frix_joint_id *out) {
  if (!b || !config) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_joint_config, config, frix_joint_default(FRIX_JOINT_BALL));
  frix_joint_config copy = *config;
  frix_status status = fx_check_joint(b, &copy);
  if (status) return status;
  if (!ROOM(b, joint) || !own_name(b->context, &copy.name)) return FRIX_ERROR_MEMORY;
  b->joint[b->joint_count++] = copy;
  if (out) *out = (frix_joint_id){(uint32_t)b->joint_count, 1};
  return FRIX_OK;
}

frix_status frix_builder_set_pair(frix_builder *builder, frix_material_id a, frix_material_id b,
                                  const frix_material_config *config) {
  if (!builder || !config) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_material_config, config, frix_material_default());
  frix_context *context = builder->context;
  if (!known(a.index, a.generation, builder->material_count, true) ||
      !known(b.index, b.generation, builder->material_count, true))
    FAIL("material pair: a material is not of this builder");
  frix_status status = fx_check_material(context, config);
  if (status) return status;
  fx_pair_draft draft = {(int32_t)a.index, (int32_t)b.index, *config};
  draft.config.name = NULL;
  for (int32_t k = 0; k < builder->pair_count; k++) {
    bool same = builder->pair[k].a == draft.a && builder->pair[k].b == draft.b;
    bool turned = builder->pair[k].a == draft.b && builder->pair[k].b == draft.a;
    if (!same && !turned) continue;
    builder->pair[k] = draft; /* the last word counts */
    return FRIX_OK;
  }
  if (!ROOM(builder, pair)) return FRIX_ERROR_MEMORY;
  builder->pair[builder->pair_count++] = draft;
  return FRIX_OK;
}

frix_status frix_builder_exclude(frix_builder *builder, frix_body_id a, frix_body_id b) {
  if (!builder) return FRIX_ERROR_INPUT;
  frix_context *context = builder->context;
  if (!known(a.index, a.generation, builder->body_count, true) ||
      !known(b.index, b.generation, builder->body_count, true))
    FAIL("excluded pair: a body is not of this builder");
  if (!ROOM(builder, excluded)) return FRIX_ERROR_MEMORY;
  int32_t x = (int32_t)a.index, y = (int32_t)b.index;
  builder->excluded[builder->excluded_count++] = x < y ? (fx_pair){x, y} : (fx_pair){y, x};
  return FRIX_OK;
}
